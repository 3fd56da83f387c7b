/* Driver.java - creates the Bloom filter of a RocksDB table: it writes an SST file with the keys,
 * and extracts the filter. P is the number of bits per key. The driver only implements `make`,
 * since RocksDB has no function to query a filter. See ../lib/interop.sh.
 *
 *     SST:    blocks, each followed by a 5-byte trailer | footer of 53 bytes
 *     footer: checksum type | handle of the metaindex block | ... | format version (4) | magic (8)
 *     block:  entries: shared, unshared, value sizes (varints), unshared key bytes, value | restarts (4 each) | their number (4)
 *     handle: offset, size (varints) */
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.TreeSet;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompressionType;
import org.rocksdb.EnvOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.SstFileWriter;

class Driver implements Interop {
    private static final int FOOTER_BYTES = 53;

    private final TreeSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
    private double bitsPerKey;

    public void create(long n, double bitsPerKey) {
        this.bitsPerKey = bitsPerKey;
    }

    public void add(Object key) {
        keys.add(key instanceof String ? ((String) key).getBytes(StandardCharsets.UTF_8) : (byte[]) key);
    }

    private void writeTable(Path path) throws Exception {
        BlockBasedTableConfig table = new BlockBasedTableConfig().setFilterPolicy(new BloomFilter(bitsPerKey, false)).setFormatVersion(5);
        Options options = new Options().setTableFormatConfig(table).setCompressionType(CompressionType.NO_COMPRESSION);
        try (SstFileWriter writer = new SstFileWriter(new EnvOptions(), options)) {
            writer.open(path.toString());
            for (byte[] key : keys) writer.put(key, new byte[0]);
            writer.finish();
        }
    }

    private static int varint(ByteBuffer from) {
        int value = 0;
        for (int shift = 0;; shift += 7) {
            byte next = from.get();
            value |= (next & 0x7f) << shift;
            if (next >= 0) return value;
        }
    }

    private static ByteBuffer block(ByteBuffer file, ByteBuffer handle) {
        int offset = varint(handle), size = varint(handle);
        return file.slice(offset, size).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static byte[] filterOf(ByteBuffer file) {
        ByteBuffer meta = block(file, file.slice(file.limit() - FOOTER_BYTES + 1, FOOTER_BYTES - 1));
        int entries = meta.limit() - 4 - 4 * meta.getInt(meta.limit() - 4);
        byte[] name = new byte[256];
        while (meta.position() < entries) {
            int shared = varint(meta), unshared = varint(meta), value = varint(meta);
            meta.get(name, shared, unshared);
            if (new String(name, 0, shared + unshared, StandardCharsets.US_ASCII).startsWith("fullfilter.")) {
                ByteBuffer filter = block(file, meta);
                byte[] bytes = new byte[filter.limit()];
                filter.get(bytes);
                return bytes;
            }
            meta.position(meta.position() + value);
        }
        throw new IllegalStateException("the table has no filter");
    }

    public void write(OutputStream out) throws Exception {
        Path path = Files.createTempFile("interop", ".sst");
        writeTable(path);
        out.write(filterOf(ByteBuffer.wrap(Files.readAllBytes(path))));
        Files.delete(path);
    }

    public void read(InputStream in) {
        throw new UnsupportedOperationException();
    }

    public boolean has(Object key) {
        throw new UnsupportedOperationException();
    }

    public static void main(String[] args) throws Exception {
        RocksDB.loadLibrary();
        new Driver().run(args);
    }
}
