/* Driver.java - drives Guava's BloomFilter with the funnel for the key type. See
 * ../lib/interop.sh. */
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

class Driver implements Interop {
    private final boolean mitz32;
    private final Funnel<Object> funnel;
    private BloomFilter<Object> filter;

    @SuppressWarnings("unchecked")
    Driver(String format, String type) {
        mitz32 = format.equals("guava32");
        funnel = (Funnel<Object>) (Funnel<?>) funnel(type);
    }

    static Funnel<?> funnel(String type) {
        switch (type) {
            case "text":
                return Funnels.stringFunnel(StandardCharsets.UTF_8);
            case "i32":
                return Funnels.integerFunnel();
            case "i64":
                return Funnels.longFunnel();
            case "hex":
                return Funnels.byteArrayFunnel();
            default:
                return Funnels.unencodedCharsFunnel();
        }
    }

    /* Only code in Guava's package can choose the strategy. Other programs can only obtain MITZ_32
     * by reading an old file. */
    @SuppressWarnings("unchecked")
    public void create(long n, double p) throws Exception {
        Class<?> strategy = Class.forName("com.google.common.hash.BloomFilter$Strategy");
        Class<?> strategies = Class.forName("com.google.common.hash.BloomFilterStrategies");
        Method create = BloomFilter.class.getDeclaredMethod("create", Funnel.class, long.class, double.class, strategy);
        create.setAccessible(true);
        filter = mitz32 ? (BloomFilter<Object>) create.invoke(null, funnel, n, p, strategies.getEnumConstants()[0])
                        : BloomFilter.create(funnel, n, p);
    }

    public void read(InputStream in) throws Exception {
        filter = BloomFilter.readFrom(in, funnel);
    }

    public void write(OutputStream out) throws Exception {
        filter.writeTo(out);
    }

    public void add(Object key) {
        filter.put(key);
    }

    public boolean has(Object key) {
        return filter.mightContain(key);
    }

    public static void main(String[] args) throws Exception {
        new Driver(args[1], args[2]).run(args);
    }
}
