package petal;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/** Joins the keys of a batch, a piece at a time: bytes, and the offsets of the keys in them. */
final class Joiner {
    private static final int PIECE_BYTES = 1 << 18;

    private final Keys keys;
    byte[] data = new byte[256];
    int[] offsets = new int[17];
    int count;
    /** Keys of the pieces before. */
    long before;

    private String[] texts = new String[16];
    private int textCount;
    private int otherMarks;

    Joiner(Keys keys) {
        this.keys = keys;
    }

    boolean isFull() {
        return count == Core.PIECE_KEYS || offsets[count] >= PIECE_BYTES;
    }

    void add(Object key) {
        if (key instanceof String && keys.plainText) {
            addText((String) key);
            return;
        }
        byte[] bytes = keys.of(Objects.requireNonNull(key, this::nullMessage));
        for (byte one : bytes) if (one == '?') otherMarks++;
        append(bytes);
    }

    private String nullMessage() {
        return "key " + (before + count) + " is null";
    }

    private void addText(String key) {
        if (textCount == texts.length) texts = Arrays.copyOf(texts, textCount * 2);
        texts[textCount++] = key;
        append(key.getBytes(StandardCharsets.UTF_8));
    }

    private void append(byte[] key) {
        int from = offsets[count];
        int end = Math.addExact(from, key.length);
        if (end > data.length) data = Arrays.copyOf(data, Math.max(end, roomAfter(data.length)));
        System.arraycopy(key, 0, data, from, key.length);
        if (++count == offsets.length) offsets = Arrays.copyOf(offsets, count * 2);
        offsets[count] = end;
    }

    private static int roomAfter(int room) {
        return (int) Math.min(Integer.MAX_VALUE - 8L, room * 2L);
    }

    int unsure() {
        return textCount > 0 ? Core.UNSURE : 0;
    }

    /** The bytes of the piece have so many '?': more than the keys if a surrogate stood alone. */
    void check(int marks) {
        int expected = otherMarks;
        for (int i = 0; i < textCount; i++) expected += Texts.marks(texts[i]);
        if (marks != expected) throw Texts.notText();
    }

    void check() {
        for (int i = 0; i < textCount; i++) if (!Texts.isText(texts[i])) throw Texts.notText();
    }

    void clear() {
        before += count;
        count = 0;
        textCount = 0;
        otherMarks = 0;
    }
}
