package petal;

/** The type of keys before they are converted to bytes. */
public enum KeyType {
    /** The file records no key type, so keys may have any type. */
    NONE(0),
    /** Strings, as UTF-8. */
    TEXT(1),
    /** Strings as UTF-16, low byte first, as Guava's unencodedCharsFunnel hashes them. */
    UTF16LE(2),
    /** 32-bit integers. */
    I32(3),
    /** 64-bit integers. */
    I64(4),
    /** Doubles. */
    F64(5),
    /** Bytes, which the petal command reads as hexadecimal digits. */
    HEX(6),
    /** Bytes, which the petal command reads as base64. */
    BASE64(7);

    final int code;

    KeyType(int code) {
        this.code = code;
    }
}
