// Hosts.java - Java, one key at a time: Hosts KEYS FOLDER.
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import petal.BloomFilter;

final class Hosts {
    private static byte[] unhex(String value) {
        if (value.equals("-"))
            return new byte[0];
        byte[] bytes = new byte[value.length() / 2];
        for (int i = 0; i < bytes.length; i++)
            bytes[i] = (byte) Integer.parseInt(value.substring(2 * i, 2 * i + 2), 16);
        return bytes;
    }

    private static Object key(String type, String value) {
        switch (type) {
        case "i64":
            return Long.valueOf(value);
        case "f64":
            return Double.longBitsToDouble(Long.parseUnsignedLong(value, 16));
        case "text":
            return new String(unhex(value), StandardCharsets.UTF_8);
        default:
            return unhex(value);
        }
    }

    public static void main(String[] args) throws Exception {
        for (String type : new String[] {"text", "i64", "f64", "bytes"}) {
            StringBuilder answers = new StringBuilder();
            String name = "";
            try (BloomFilter filter = BloomFilter.open(Path.of(args[1], type + ".petal"))) {
                for (String line : Files.readAllLines(Path.of(args[0]))) {
                    if (!line.startsWith(type + " "))
                        continue;
                    Object key = key(type, line.substring(type.length() + 1));
                    name = key.getClass().getSimpleName();
                    answers.append(filter.contains(key) ? '1' : '0');
                }
            }
            System.out.println(type + "\t`" + name + "`\t" + answers);
        }
    }
}
