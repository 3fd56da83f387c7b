/* Driver.java - drives Apache ORC's Bloom filter, stored as the protobuf message in ORC files. See
 * ../lib/interop.sh. */
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.orc.OrcFile;
import org.apache.orc.OrcProto;
import org.apache.orc.TypeDescription;
import org.apache.orc.util.BloomFilter;
import org.apache.orc.util.BloomFilterIO;
import org.apache.orc.util.BloomFilterUtf8;

class Driver implements Interop {
    private BloomFilter filter;

    public void create(long n, double p) {
        filter = new BloomFilterUtf8(n, p);
    }

    public void read(InputStream in) throws Exception {
        filter = BloomFilterIO.deserialize(OrcProto.Stream.Kind.BLOOM_FILTER_UTF8, OrcProto.ColumnEncoding.getDefaultInstance(),
            OrcFile.CURRENT_WRITER, TypeDescription.Category.STRING, OrcProto.BloomFilter.parseFrom(in));
    }

    public void write(OutputStream out) throws Exception {
        OrcProto.BloomFilter.Builder message = OrcProto.BloomFilter.newBuilder();
        BloomFilterIO.serialize(message, filter);
        message.build().writeTo(out);
    }

    public void add(Object key) {
        if (key instanceof String) filter.addString((String) key);
        else if (key instanceof byte[]) filter.add((byte[]) key);
        else filter.addLong(((Number) key).longValue());
    }

    public boolean has(Object key) {
        if (key instanceof String) return filter.testString((String) key);
        if (key instanceof byte[]) return filter.test((byte[]) key);
        return filter.testLong(((Number) key).longValue());
    }

    public static void main(String[] args) throws Exception {
        new Driver().run(args);
    }
}
