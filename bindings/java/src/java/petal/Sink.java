package petal;

import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/** Collects the bytes of one key, like Guava's PrimitiveSink: numbers are little-endian. */
public final class Sink {
    private byte[] bytes = new byte[64];
    private int size;

    Sink() {}

    byte[] toBytes() {
        return Arrays.copyOf(bytes, size);
    }

    private Sink put(long value, int count) {
        reserve(count);
        for (int i = 0; i < count; i++) bytes[size++] = (byte) (value >>> 8 * i);
        return this;
    }

    private void reserve(int more) {
        int needed = Math.addExact(size, more);
        if (needed > bytes.length)
            bytes = Arrays.copyOf(bytes, (int) Math.min(Integer.MAX_VALUE - 8L, needed * 2L));
    }

    public Sink putByte(byte value) {
        return put(value, 1);
    }

    public Sink putShort(short value) {
        return put(value, 2);
    }

    public Sink putChar(char value) {
        return put(value, 2);
    }

    public Sink putInt(int value) {
        return put(value, 4);
    }

    public Sink putLong(long value) {
        return put(value, 8);
    }

    /** Puts the value's bits. As in Guava, -0.0 and 0.0 are different keys, and so are NaNs
     * with different bits. */
    public Sink putFloat(float value) {
        return put(Float.floatToRawIntBits(value), 4);
    }

    /** Puts the value's bits, like {@link #putFloat}. */
    public Sink putDouble(double value) {
        return put(Double.doubleToRawLongBits(value), 8);
    }

    public Sink putBoolean(boolean value) {
        return put(value ? 1 : 0, 1);
    }

    public Sink putBytes(byte[] value) {
        return putBytes(value, 0, value.length);
    }

    public Sink putBytes(byte[] value, int from, int count) {
        Objects.checkFromIndexSize(from, count, value.length);
        reserve(count);
        System.arraycopy(value, from, bytes, size, count);
        size += count;
        return this;
    }

    /** Puts the buffer's remaining bytes. Unlike Guava, this does not move the buffer's
     * position. */
    public Sink putBytes(ByteBuffer value) {
        return putBytes(Keys.ofBuffer(value));
    }

    /** As UTF-8. */
    public Sink putString(CharSequence value) {
        return putString(value, StandardCharsets.UTF_8);
    }

    public Sink putString(CharSequence value, Charset charset) {
        return putBytes(value.toString().getBytes(charset));
    }

    /** Puts each char as two bytes. */
    public Sink putUnencodedChars(CharSequence value) {
        return putBytes(Texts.utf16le(value.toString()));
    }
}
