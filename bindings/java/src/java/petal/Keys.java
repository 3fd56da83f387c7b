package petal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Converts keys to bytes, which are the same in every language: strings to UTF-8, integers to 64
 * bits, doubles to their bits. A filter that records its key type accepts only that type and bytes,
 * because keys of other types were certainly never added.
 */
final class Keys {
    final KeyType type;
    /** These are true if keys of this kind need no conversion: strings become UTF-8, integers
     *  become 64 bits, and doubles stay doubles. */
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

    /** Returns the buffer's remaining bytes, without moving its position. */
    static byte[] ofBuffer(ByteBuffer key) {
        byte[] bytes = new byte[key.remaining()];
        key.duplicate().get(bytes);
        return bytes;
    }

    /** Returns a double's bits. -0.0 is converted to 0.0, and every NaN to the same NaN. */
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
