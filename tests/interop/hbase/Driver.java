/* Driver.java - drives HBase's BloomFilterChunk, one chunk of a Bloom filter. HBASE_HASH selects
 * the hash: 0 for Jenkins, 1 for Murmur, 2 for Murmur3. An HFile stores the parameters of a chunk
 * apart from its bits, but this driver writes the parameters in front of the bits. It calls
 * package-private members of HBase by reflection. See ../lib/interop.sh. */
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.hbase.nio.SingleByteBuff;
import org.apache.hadoop.hbase.util.BloomFilterChunk;
import org.apache.hadoop.hbase.util.BloomFilterUtil;
import org.apache.hadoop.hbase.util.Hash;

class Driver implements Interop {
    private final Method add = BloomFilterChunk.class.getDeclaredMethod("add", byte[].class, int.class, int.class);
    private final Field bits = BloomFilterChunk.class.getDeclaredField("bloom");
    private BloomFilterChunk chunk;

    Driver() throws Exception {
        add.setAccessible(true);
        bits.setAccessible(true);
    }

    private static int hash() {
        String hash = System.getenv("HBASE_HASH");
        return hash == null ? Hash.MURMUR_HASH : Integer.parseInt(hash);
    }

    public void create(long n, double p) {
        chunk = new BloomFilterChunk((int) n, p, hash(), 0);
        chunk.allocBloom();
    }

    public void read(InputStream in) throws Exception {
        chunk = new BloomFilterChunk(new DataInputStream(in));
        bits.set(chunk, ByteBuffer.wrap(in.readAllBytes()));
    }

    public void write(OutputStream out) throws Exception {
        DataOutputStream data = new DataOutputStream(out);
        data.writeInt((int) chunk.getByteSize());
        data.writeInt(chunk.getHashCount());
        data.writeInt(chunk.getHashType());
        data.writeInt((int) chunk.getKeyCount());
        chunk.writeBloom(data);
    }

    private static byte[] bytes(Object key) {
        return key instanceof String ? ((String) key).getBytes(StandardCharsets.UTF_8) : (byte[]) key;
    }

    public void add(Object key) throws Exception {
        byte[] row = bytes(key);
        add.invoke(chunk, row, 0, row.length);
    }

    public boolean has(Object key) throws Exception {
        byte[] row = bytes(key);
        SingleByteBuff all = new SingleByteBuff((ByteBuffer) bits.get(chunk));
        return BloomFilterUtil.contains(row, 0, row.length, all, 0, (int) chunk.getByteSize(),
            Hash.getInstance(chunk.getHashType()), chunk.getHashCount());
    }

    public static void main(String[] args) throws Exception {
        new Driver().run(args);
    }
}
