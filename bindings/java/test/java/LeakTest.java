import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import petal.BloomFilter;
import petal.Mode;

/**
 * Tests that unclosed filters are freed even if the heap is so large that it would never need a
 * garbage collection.
 */
final class LeakTest {
    private static final long[] KEYS = VectorsTest.longs(1_000_000),
            TENTH = Arrays.copyOf(KEYS, 100_000), FEW = Arrays.copyOf(KEYS, 3000);

    /** Returns this process's peak memory in MiB. */
    private static long peak() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status")))
            if (line.startsWith("VmHWM"))
                return Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024;
        throw new AssertionError("no VmHWM");
    }

    private static void staysBelow512(String what) throws IOException {
        long peak = peak();
        Tap.check(peak < 512, what + ": " + peak + " MiB");
    }

    static void testAThousandFiltersOfAMegabyteStayBelow512() throws IOException {
        // An early peak, caused by pages that were never touched, must not raise the limit forever.
        BloomFilter.builder().bits(1L << 36).hashes(2).build().close();
        for (int i = 0; i < 200; i++) BloomFilter.create(10, 0.01).close();
        for (int i = 0; i < 1000; i++) {
            BloomFilter filter = BloomFilter.create(1_000_000, 0.01); // 1.2 MB
            if (i % 100 == 0) filter.addAll(KEYS);
            else filter.addAll(FEW); // all its pages
        }
        staysBelow512("made");
    }

    static void testGrowingFiltersAreCountedAsTheyGrow() throws IOException {
        for (int i = 0; i < 1000; i++) {
            BloomFilter filter = BloomFilter.builder().capacity(100).rate(1e-9).grow().build();
            if (i % 100 == 0) for (int key = 0; key < 100_000; key++) filter.add(KEYS[key]);
            else filter.addAll(TENTH); // needs at least 0.7 MB
        }
        staysBelow512("grown");
    }

    static void testCopiesAndFiltersReadAreCounted() throws IOException {
        try (BloomFilter filter = BloomFilter.create(1_000_000, 0.01)) {
            filter.addAll(KEYS);
            byte[] bytes = filter.toBytes();
            ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
            for (int i = 0; i < 300; i++) { // 1.1 GB
                filter.copy();
                BloomFilter.fromBytes(bytes);
                BloomFilter.read(new java.io.ByteArrayInputStream(bytes));
                BloomFilter.view(direct, new petal.OpenOptions());
            }
        }
        staysBelow512("read");
    }

    /** Each map holds a file descriptor, and a process may have only 1024. */
    static void testMapsDoNotExhaustTheFileDescriptors() throws IOException {
        Path path = Files.createTempDirectory("leak").resolve("a");
        BloomFilter.create(1000, 0.01).save(path);
        for (int i = 0; i < 5000; i++) BloomFilter.open(path, Mode.READ).contains("a");
        staysBelow512("mapped");
    }
}
