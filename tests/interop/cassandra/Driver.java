/* Driver.java - drives Cassandra's Bloom filter, as stored in Filter.db. The serializer changed
 * between versions, so it is called by reflection. Versions up to 3.11 write cassandra-2 and
 * cassandra-be. Later versions, up to 5.0, write cassandra, and can also read cassandra-be. See
 * ../lib/interop.sh. */
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import org.apache.cassandra.io.util.BufferedDataOutputStreamPlus;
import org.apache.cassandra.io.util.DataInputBuffer;
import org.apache.cassandra.utils.BloomFilter;
import org.apache.cassandra.utils.FilterFactory;
import org.apache.cassandra.utils.IFilter;
import org.apache.cassandra.utils.MurmurHash;

class Driver implements Interop {
    private static final Class<?> SERIALIZER = serializer();
    private final String format;
    private IFilter filter;

    Driver(String format) {
        this.format = format;
    }

    private static Class<?> serializer() {
        try {
            return Class.forName("org.apache.cassandra.utils.BloomFilterSerializer");
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Method method(Class<?> of, String name, int parameters) {
        for (Method each : of.getDeclaredMethods()) {
            if (!each.getName().equals(name) || each.getParameterCount() != parameters || each.isBridge()) continue;
            each.setAccessible(true);
            return each;
        }
        return null;
    }

    /* Returns the serializer of Cassandra 5 for the format, or null if there is none. */
    private Object version5() throws Exception {
        Method choose = method(SERIALIZER, "forVersion", 1);
        return choose == null ? null : choose.invoke(null, format.equals("cassandra-be"));
    }

    public void create(long n, double p) throws Exception {
        if (version5() != null) filter = (IFilter) FilterFactory.class.getMethod("getFilter", long.class, double.class).invoke(null, n, p);
        else filter = (IFilter) FilterFactory.class.getMethod("getFilter", long.class, double.class, boolean.class, boolean.class)
            .invoke(null, n, p, false, format.equals("cassandra-2"));
    }

    public void read(InputStream in) throws Exception {
        DataInputBuffer data = new DataInputBuffer(in.readAllBytes());
        boolean is5 = version5() != null;
        Method read = method(SERIALIZER, "deserialize", is5 ? 1 : 3);
        filter = (IFilter) (is5 ? read.invoke(version5(), data) : read.invoke(null, data, false, format.equals("cassandra-2")));
    }

    public void write(OutputStream out) throws Exception {
        BufferedDataOutputStreamPlus stream = new BufferedDataOutputStreamPlus(Channels.newChannel(out));
        method(SERIALIZER, "serialize", 2).invoke(version5(), (BloomFilter) filter, stream);
        stream.flush();
    }

    private static IFilter.FilterKey hashed(Object key) {
        ByteBuffer bytes = ByteBuffer.wrap(key instanceof String ? ((String) key).getBytes(StandardCharsets.UTF_8) : (byte[]) key);
        return to -> MurmurHash.hash3_x64_128(bytes, 0, bytes.remaining(), 0, to);
    }

    public void add(Object key) {
        filter.add(hashed(key));
    }

    public boolean has(Object key) {
        return filter.isPresent(hashed(key));
    }

    public static void main(String[] args) throws Exception {
        new Driver(args[1]).run(args);
        System.exit(0);
    }
}
