/* Driver.java - drives Petal's jar in place of the C driver. See ../lib/interop.sh. */
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import petal.BloomFilter;
import petal.Builder;
import petal.KeyType;
import petal.OpenOptions;

class Driver implements Interop {
    private final String format;
    private final KeyType type;
    private BloomFilter filter;

    Driver(String format, String type) {
        this.format = format;
        this.type = keyType(type);
    }

    private static KeyType keyType(String type) {
        switch (type) {
            case "utf16le":
            case "units":
                return KeyType.UTF16LE;
            case "i32":
                return KeyType.I32;
            default:
                return KeyType.NONE;
        }
    }

    public void create(long n, double p) {
        Builder builder = BloomFilter.builder().capacity(n).rate(p).format(format).keyType(type);
        String seed = System.getenv("PETAL_SEED");
        filter = (seed == null ? builder : builder.seed(Long.parseLong(seed))).build();
    }

    public void read(InputStream in) throws Exception {
        filter = BloomFilter.read(in, new OpenOptions().format(format).keyType(type));
    }

    public void write(OutputStream out) throws Exception {
        filter.write(out, format);
    }

    public void add(Object key) {
        filter.add(key);
    }

    public boolean has(Object key) {
        return filter.contains(key);
    }

    /* convert FORMAT FILE FORMAT OUT */
    private static void convert(String[] args) throws Exception {
        byte[] bytes = Files.readAllBytes(Path.of(args[2]));
        BloomFilter read = BloomFilter.fromBytes(bytes, new OpenOptions().format(args[1]));
        read.save(Path.of(args[4]), args[3]);
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("convert")) convert(args);
        else new Driver(args[1], args[2]).run(args);
    }
}
