package petal;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;

/** Concatenates the keys in a batch, piece by piece, into one array of bytes and one of offsets. */
final class Joiner {
    private static final int PIECE_BYTES = 1 << 18;
    private static final int MOST_BYTES = Integer.MAX_VALUE - 8; // maximum array length

    private final Keys keys;
    byte[] data = new byte[256];
    int[] offsets = new int[17];
    int count;
    /** The number of keys in earlier pieces. */
    long before;

    private String[] texts = new String[16];
    private int[] places = new int[16]; // the indexes of the keys that are strings
    private int textCount;
    private int otherMarks;

    Joiner(Keys keys) {
        this.keys = keys;
    }

    boolean isFull() {
        return count == Core.PIECE_KEYS || offsets[count] >= PIECE_BYTES;
    }

    /**
     * Appends keys until the piece is full. Returns the first failure of a key or of the iterator,
     * or null.
     */
    RuntimeException fill(Iterator<?> rest) {
        try {
            while (!isFull() && rest.hasNext()) add(rest.next());
            return null;
        } catch (RuntimeException refused) {
            return refused;
        }
    }

    private void add(Object key) {
        if (key instanceof String && keys.plainText) {
            addText((String) key);
            return;
        }
        byte[] bytes = bytesOf(keys, key, before + count);
        for (byte one : bytes) if (one == '?') otherMarks++;
        append(bytes);
    }

    /** Returns the bytes of a key in a batch. If this fails, the exception contains the key's
     * index. */
    static byte[] bytesOf(Keys keys, Object key, long index) {
        if (key == null) throw new NullPointerException("key " + index + " is null");
        try {
            return keys.of(key);
        } catch (IllegalArgumentException wrong) {
            throw refused(wrong.getMessage(), index);
        }
    }

    private static PetalException refused(String message, long index) {
        return new PetalException("key " + index + ": " + message, "bad argument", index, null);
    }

    private void addText(String key) {
        if (textCount == texts.length) {
            texts = Arrays.copyOf(texts, textCount * 2);
            places = Arrays.copyOf(places, textCount * 2);
        }
        places[textCount] = count;
        texts[textCount++] = key;
        append(key.getBytes(StandardCharsets.UTF_8));
    }

    private void append(byte[] key) {
        int from = offsets[count];
        if (key.length > MOST_BYTES - from)
            throw refused("too long for a batch; give it alone", before + count);
        int end = from + key.length;
        if (end > data.length) data = Arrays.copyOf(data, Math.max(end, roomAfter(data.length)));
        System.arraycopy(key, 0, data, from, key.length);
        if (++count == offsets.length) offsets = Arrays.copyOf(offsets, count * 2);
        offsets[count] = end;
    }

    private static int roomAfter(int room) {
        return (int) Math.min(MOST_BYTES, room * 2L);
    }

    int unsure() {
        return textCount > 0 ? Core.UNSURE : 0;
    }

    /** Returns the number of keys before the first invalid string. */
    int texts() {
        for (int i = 0; i < textCount; i++) if (!Texts.isText(texts[i])) return places[i];
        return count;
    }

    /**
     * Like texts(), for a piece that contains {@code marks} '?' characters. If the original strings
     * contain fewer, one of them is invalid.
     */
    int texts(int marks) {
        int expected = otherMarks;
        for (int i = 0; i < textCount; i++) expected += Texts.marks(texts[i]);
        return marks == expected ? count : texts();
    }

    /** Returns the exception for a key in this piece that is not valid text. */
    PetalException notText(int place) {
        return refused(Texts.NOT_TEXT, before + place);
    }

    void clear() {
        before += count;
        count = 0;
        textCount = 0;
        otherMarks = 0;
    }
}
