/* Driver.java - drives the BloomFilter in Spark's sketch library. The format, such as "spark-v1",
 * selects the version of its file format. See ../lib/interop.sh. */
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Method;
import org.apache.spark.util.sketch.BloomFilter;

class Driver implements Interop {
    private final boolean version1;
    private BloomFilter filter;

    Driver(String format) {
        version1 = format.equals("spark-v1");
    }

    /* Since Spark 4.1, the format version can be chosen; earlier versions of Spark have only one.
     * SPARK_SEED is the seed for version 2. */
    public void create(long n, double p) throws Exception {
        String seed = System.getenv("SPARK_SEED");
        filter = BloomFilter.create(n, p);
        for (Method create : BloomFilter.class.getMethods()) {
            if (!create.getName().equals("create") || create.getParameterCount() != 4) continue;
            Object version = create.getParameterTypes()[0].getEnumConstants()[version1 ? 0 : 1];
            if (version1 || seed != null)
                filter = (BloomFilter) create.invoke(null, version, n, filter.bitSize(), seed == null ? 0 : Integer.parseInt(seed));
        }
    }

    public void read(InputStream in) throws Exception {
        filter = BloomFilter.readFrom(in);
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
        new Driver(args[1]).run(args);
    }
}
