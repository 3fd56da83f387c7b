/* Driver.java - drives the BloomFilter of Apache DataSketches. PETAL_SEED sets the seed. See
 * ../lib/interop.sh. */
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.datasketches.filters.bloomfilter.BloomFilter;
import org.apache.datasketches.filters.bloomfilter.BloomFilterBuilder;
import org.apache.datasketches.memory.Memory;

class Driver implements Interop {
    private BloomFilter filter;

    public void create(long n, double p) {
        String seed = System.getenv("PETAL_SEED");
        filter = BloomFilterBuilder.createByAccuracy(n, p, seed == null ? 0 : Long.parseUnsignedLong(seed));
    }

    public void read(InputStream in) throws Exception {
        filter = BloomFilter.heapify(Memory.wrap(in.readAllBytes()));
    }

    public void write(OutputStream out) throws Exception {
        out.write(filter.toByteArray());
    }

    public void add(Object key) {
        if (key instanceof String) filter.update((String) key);
        else if (key instanceof byte[]) filter.update((byte[]) key);
        else filter.update(((Number) key).longValue());
    }

    public boolean has(Object key) {
        if (key instanceof String) return filter.query((String) key);
        if (key instanceof byte[]) return filter.query((byte[]) key);
        return filter.query(((Number) key).longValue());
    }

    public static void main(String[] args) throws Exception {
        new Driver().run(args);
    }
}
