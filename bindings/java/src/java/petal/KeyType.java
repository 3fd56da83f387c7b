package petal;

/** The type that keys had before they became bytes. */
public enum KeyType {
    /** Not recorded: any type. */
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
    /** Bytes; the command petal reads them as hexadecimal digits. */
    HEX(6),
    /** Bytes; the command petal reads them as base64. */
    BASE64(7);

    final int code;

    KeyType(int code) {
        this.code = code;
    }
}
