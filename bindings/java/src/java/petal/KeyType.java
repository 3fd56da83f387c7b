package petal;

/** What keys were before they became bytes. */
public enum KeyType {
    /** Not recorded: any. */
    NONE(0),
    /** Text, as UTF-8. */
    TEXT(1),
    /** Text, as UTF-16 with the low byte first: what Guava's unencodedCharsFunnel hashes. */
    UTF16LE(2),
    /** Integers of 32 bits. */
    I32(3),
    /** Integers of 64 bits. */
    I64(4),
    /** Doubles. */
    F64(5),
    /** Bytes, which the command petal reads as hexadecimal digits. */
    HEX(6),
    /** Bytes, which the command petal reads as base64. */
    BASE64(7);

    final int code;

    KeyType(int code) {
        this.code = code;
    }
}
