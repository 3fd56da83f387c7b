package petal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Turns keys into bytes, the same in every language: strings as UTF-8, integers as 64 bits, doubles
 * as their bits. A filter that records its key type accepts only that type and bytes: a key of
 * another type was certainly never added.
 */
final class Keys {
    final KeyType type;
    /** Strings are UTF-8, integers have 64 bits, and doubles are doubles: no conversion is
     * needed. */
    final boolean plainText;
    final boolean plainLong;
    final boolean plainDouble;

    Keys(KeyType type) {
        this.type = type;
        boolean any = type == KeyType.NONE;
        this.plainText = any || type == KeyType.TEXT;
        this.plainLong = any || type == KeyType.I64;
        this.plainDouble = any || type == KeyType.F64;
    }

    byte[] of(Object key) {
        Objects.requireNonNull(key, "key");
        if (key instanceof CharSequence) return ofText((CharSequence) key);
        if (key instanceof byte[]) return (byte[]) key;
        if (key instanceof Long || key instanceof Integer || key instanceof Short
                || key instanceof Byte)
            return ofLong(((Number) key).longValue());
        if (key instanceof Double || key instanceof Float)
            return ofDouble(((Number) key).doubleValue());
        if (key instanceof ByteBuffer) return ofBuffer((ByteBuffer) key);
        throw new IllegalArgumentException(
                "a key is text, byte[], ByteBuffer, integer or floating-point, not "
                        + key.getClass().getName());
    }

    byte[] ofText(CharSequence key) {
        if (plainText) return Texts.utf8(key);
        if (type == KeyType.UTF16LE) return Texts.utf16le(key);
        throw wrong("text");
    }

    byte[] ofLong(long key) {
        if (type != KeyType.I32) {
            if (!plainLong) throw wrong("integers");
            return little(8).putLong(key).array();
        }
        if (key != (int) key) throw new IllegalArgumentException("key outside 32 bits, signed");
        return little(4).putInt((int) key).array();
    }

    byte[] ofDouble(double key) {
        if (!plainDouble) throw wrong("doubles");
        return little(8).putLong(bits(key)).array();
    }

    /** Returns the remaining bytes; the position doesn't move. */
    static byte[] ofBuffer(ByteBuffer key) {
        byte[] bytes = new byte[key.remaining()];
        key.duplicate().get(bytes);
        return bytes;
    }

    /** -0.0 becomes 0.0, and every NaN becomes the same one. */
    static long bits(double key) {
        return Double.doubleToLongBits(key == 0 ? 0.0 : key);
    }

    IllegalArgumentException wrong(String kind) {
        String name = type.name().toLowerCase(java.util.Locale.ROOT);
        return new IllegalArgumentException("the filter has " + name + " keys, not " + kind);
    }

    private static ByteBuffer little(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }
}
