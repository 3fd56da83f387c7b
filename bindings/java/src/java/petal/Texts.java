package petal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Converts strings to bytes. JNI's strings are in modified UTF-8, so native code receives bytes
 * instead. */
final class Texts {
    /** The charset that the JVM uses for file names. */
    static final Charset PATHS =
            Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

    private Texts() {}

    /** An unpaired surrogate has no UTF-8 encoding; String.getBytes turns it into a '?'. */
    static byte[] utf8(CharSequence text) {
        String string = text.toString();
        byte[] bytes = string.getBytes(StandardCharsets.UTF_8);
        check(string, bytes);
        return bytes;
    }

    /** Throws an exception unless these bytes represent the whole text. */
    static void check(String string, byte[] bytes) {
        if (hasMark(bytes) && !isText(string)) throw notText();
    }

    private static boolean hasMark(byte[] bytes) {
        int size = bytes.length;
        if (size < 8) {
            for (byte one : bytes) if (one == '?') return true;
            return false;
        }
        long found = marks(Xxh3.word(bytes, 0)) | marks(Xxh3.word(bytes, size - 8));
        if (size > 16) found |= marks(Xxh3.word(bytes, 8)) | marks(Xxh3.word(bytes, size - 16));
        if (size > 32) found |= marks(Xxh3.word(bytes, 16)) | marks(Xxh3.word(bytes, size - 24));
        for (int at = 24; at < size - 24; at += 8) found |= marks(Xxh3.word(bytes, at));
        return (found & 0x8080808080808080L) != 0;
    }

    /** If one of the 8 bytes is a '?', a borrow sets the highest bit of that byte or of one above
     * it. */
    private static long marks(long word) {
        long differs = word ^ 0x3f3f3f3f3f3f3f3fL;
        return differs - 0x0101010101010101L & ~differs;
    }

    /** Returns the number of '?' in a string. */
    static int marks(String text) {
        int marks = 0;
        for (int at = text.indexOf('?'); at >= 0; at = text.indexOf('?', at + 1)) marks++;
        return marks;
    }

    static boolean isText(String string) {
        for (int i = 0; i < string.length(); i++) {
            char unit = string.charAt(i);
            if (!Character.isSurrogate(unit)) continue;
            boolean isPair = Character.isHighSurrogate(unit) && i + 1 < string.length()
                    && Character.isLowSurrogate(string.charAt(i + 1));
            if (!isPair) return false;
            i++;
        }
        return true;
    }

    static final String NOT_TEXT = "the key is no text: a surrogate stands alone";

    static IllegalArgumentException notText() {
        return new IllegalArgumentException(NOT_TEXT);
    }

    static byte[] utf16le(CharSequence text) {
        ByteBuffer bytes = ByteBuffer.allocate(text.length() * 2).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < text.length(); i++) bytes.putChar(text.charAt(i));
        return bytes.array();
    }

    /** Returns a name's bytes for the core, or null. Rejects a NUL, at which C would truncate the
     * name. */
    static byte[] name(String name) {
        if (name != null && name.indexOf('\0') >= 0)
            throw new IllegalArgumentException("a name with a NUL character");
        return name == null ? null : name.getBytes(StandardCharsets.UTF_8);
    }

    static String string(byte[] utf8) {
        return utf8 == null ? null : new String(utf8, StandardCharsets.UTF_8);
    }

    /** Only files of the default file system have a path that C can open. */
    static byte[] path(Path path) {
        return path.toFile().getPath().getBytes(PATHS);
    }
}
