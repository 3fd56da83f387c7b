/* Driver.java - drives Hadoop's BloomFilter. N is the number of bits, and P the number of hashes.
 * HADOOP_HASH=0 selects the Jenkins hash. See ../lib/interop.sh. */
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.util.bloom.BloomFilter;
import org.apache.hadoop.util.bloom.Key;
import org.apache.hadoop.util.hash.Hash;

class Driver implements Interop {
    private BloomFilter filter = new BloomFilter();

    public void create(long bits, double hashes) {
        boolean jenkins = "0".equals(System.getenv("HADOOP_HASH"));
        filter = new BloomFilter((int) bits, (int) hashes, jenkins ? Hash.JENKINS_HASH : Hash.MURMUR_HASH);
    }

    public void read(InputStream in) throws Exception {
        filter.readFields(new DataInputStream(in));
    }

    public void write(OutputStream out) throws Exception {
        filter.write(new DataOutputStream(out));
    }

    private static Key bytes(Object key) {
        return new Key(key instanceof String ? ((String) key).getBytes(StandardCharsets.UTF_8) : (byte[]) key);
    }

    public void add(Object key) {
        filter.add(bytes(key));
    }

    public boolean has(Object key) {
        return filter.membershipTest(bytes(key));
    }

    public static void main(String[] args) throws Exception {
        new Driver().run(args);
    }
}
