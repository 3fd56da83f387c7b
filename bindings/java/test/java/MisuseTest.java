import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import petal.BloomFilter;
import petal.Builder;
import petal.OpenOptions;
import petal.PetalException;

/** Tests that misuse throws Java's own exceptions, and that nothing leaks or breaks. */
final class MisuseTest {
    private interface Use {
        void of(BloomFilter filter) throws Exception;
    }

    private static Map<String, Use> calls() {
        Map<String, Use> calls = new LinkedHashMap<>();
        ByteBuffer direct = ByteBuffer.allocateDirect(3);
        calls.put("add", f -> f.add("a"));
        calls.put("add nothing", f -> f.add(""));
        calls.put("add byte[]", f -> f.add(new byte[2000]));
        calls.put("add long", f -> f.add(5));
        calls.put("add double", f -> f.add(0.5));
        calls.put("add direct", f -> f.add(direct));
        calls.put("add Object", f -> f.add((Object) 5));
        calls.put("contains", f -> f.contains("a"));
        calls.put("contains long text", f -> f.contains("a".repeat(1000)));
        calls.put("contains byte[]", f -> f.contains(new byte[1]));
        calls.put("contains long", f -> f.contains(5));
        calls.put("contains double", f -> f.contains(0.5));
        calls.put("contains direct", f -> f.contains(direct));
        calls.put("test", f -> f.test("a"));
        calls.put("remove", f -> f.remove("a"));
        calls.put("hashKey", f -> f.hashKey("a"));
        calls.put("addAll", f -> f.addAll(List.of("a")));
        calls.put("addAll of nothing", f -> f.addAll(List.of()));
        calls.put("addEach", f -> f.addEach(new long[100]));
        calls.put("containsEach", f -> f.containsEach(new double[5]));
        calls.put("containsAny", f -> f.containsAny(new byte[3], new int[] {0, 3}));
        calls.put("containsAll", f -> f.containsAll(direct, new int[] {0, 3}));
        calls.put("removeEach", f -> f.removeEach(new String[] {"a"}));
        calls.put("copy", BloomFilter::copy);
        calls.put("emptyLike", BloomFilter::emptyLike);
        calls.put("dropCounts", BloomFilter::dropCounts);
        calls.put("fold", BloomFilter::fold);
        calls.put("foldToBits", f -> f.foldToBits(512));
        calls.put("merge", f -> f.merge(BloomFilter.create(10, 0.01)));
        calls.put("merge of it", f -> BloomFilter.create(10, 0.01).merge(f));
        calls.put("intersect", f -> f.intersect(f));
        calls.put("compare", f -> f.compare(f));
        calls.put("compare with it", f -> BloomFilter.create(10, 0.01).compare(f));
        calls.put("info", BloomFilter::info);
        calls.put("stats", BloomFilter::stats);
        calls.put("contentId", BloomFilter::contentId);
        calls.put("isOverfull", BloomFilter::isOverfull);
        calls.put("metadata", BloomFilter::metadata);
        calls.put("setMetadata", f -> f.setMetadata(null));
        calls.put("save", f -> f.save(Path.of("/nowhere/at/all")));
        calls.put("sync", BloomFilter::sync);
        calls.put("verify", BloomFilter::verify);
        calls.put("toBytes", BloomFilter::toBytes);
        calls.put("write", f -> f.write(new ByteArrayOutputStream()));
        calls.put("clear", BloomFilter::clear);
        calls.put("freeze", BloomFilter::freeze);
        calls.put("advance", BloomFilter::advance);
        return calls;
    }

    static void testAClosedFilterIsAnIllegalState() {
        for (boolean emptyKey : new boolean[] {true, false}) {
            BloomFilter filter = emptyKey ? BloomFilter.create(10, 0.01)
                    : BloomFilter.builder().capacity(10).format("datasketches").build();
            filter.close();
            calls().forEach((name, use) -> {
                Throwable error = Tap.raises(IllegalStateException.class, () -> use.of(filter),
                        name);
                Tap.same(error.getMessage(), "the filter is closed", name);
            });
            Tap.check(filter.isClosed() && filter.toString().contains("closed"), filter);
            filter.close();
        }
    }

    static void testWrongOptionsAreIllegalArguments() {
        List<Consumer<Builder>> wrong = List.of(
                b -> b.capacity(-1), b -> b.capacity(10).rate(2), b -> b.capacity(10).rate(-0.5),
                b -> b.capacity(10).rate(Double.NaN), b -> b.capacity(10).secret(new byte[15]),
                b -> b.capacity(10).format("no such"), b -> b.capacity(10).hashes(-1),
                b -> b.capacity(10).metadata(new byte[65537]),
                b -> b.bits(Long.MAX_VALUE).hashes(3),
                b -> b.window(10).windowTime(Duration.ofMillis(-1)), b -> b.capacity(0),
                b -> b.window(-1), b -> b.memory(-1).capacity(10), b -> { });
        for (Consumer<Builder> one : wrong) {
            for (boolean plan : new boolean[] {true, false}) {
                Tap.raises(IllegalArgumentException.class, () -> {
                    Builder builder = BloomFilter.builder();
                    one.accept(builder);
                    if (plan) builder.plan();
                    else builder.build();
                }, wrong.indexOf(one));
            }
        }
        Tap.raises(ArithmeticException.class, () -> BloomFilter.builder()
                .windowTime(Duration.ofSeconds(Long.MAX_VALUE)), "too long");
    }

    static void testNullIsANullPointer() {
        try (BloomFilter f = BloomFilter.create(10, 0.01)) {
            List<Use> uses = List.of(
                    x -> x.add((String) null), x -> x.contains((byte[]) null),
                    x -> x.test(null), x -> x.remove(null), x -> x.add((ByteBuffer) null),
                    x -> x.addAll((Iterable<?>) null), x -> x.addAll((long[]) null),
                    x -> x.addAll(Arrays.asList("a", null)), x -> x.merge(null),
                    x -> x.addAll((byte[]) null, new int[1]),
                    x -> x.containsEach(new byte[1], null),
                    x -> x.addEach((ByteBuffer) null, new int[1]), x -> x.compare(null),
                    x -> x.save(null), x -> x.write(null), x -> BloomFilter.open(null),
                    x -> BloomFilter.fromBytes(null), x -> BloomFilter.read(null),
                    x -> BloomFilter.view(null, new OpenOptions()), x -> x.hashKey(null),
                    x -> BloomFilter.recognize(null), x -> BloomFilter.shardOf(null, 5),
                    x -> BloomFilter.builder().format(null), x -> x.advance(null));
            for (int i = 0; i < uses.size(); i++) {
                Use use = uses.get(i);
                Tap.raises(NullPointerException.class, () -> use.of(f), i);
            }
        }
    }

    static void testAFileThatNoArrayHoldsIsSaid() {
        // A mapping of 4 GiB, which is never touched.
        try (BloomFilter filter = BloomFilter.builder().bits(1L << 35).hashes(2).build()) {
            PetalException error = Tap.raises(PetalException.class, filter::toBytes, "4 GiB");
            Tap.same(error.status(), "over a limit", "status");
            Tap.check(error.getMessage().contains("more than an array holds; use save()"), error);
        }
    }

    static void testOtherMisuse() {
        try (BloomFilter f = BloomFilter.create(10, 0.01)) {
            List<Use> uses = List.of(
                    x -> x.remove("a"), x -> x.removeEach(new long[0]), x -> x.dropCounts(),
                    x -> x.fold(2),
                    x -> x.advance(), x -> x.toBytes("guava"), x -> x.toBytes("no such"),
                    x -> BloomFilter.fromBytes(new byte[0], new OpenOptions().format("no such")));
            for (int i = 0; i < uses.size(); i++) {
                Use use = uses.get(i);
                Tap.raises(PetalException.class, () -> use.of(f), i);
            }
            Tap.raises(IllegalArgumentException.class, () -> BloomFilter.shardOf("a", 0), "");
            Tap.raises(IOException.class, () -> BloomFilter.fromBytes(new byte[0]), "no bytes");
            Tap.raises(IOException.class, () -> BloomFilter.fromBytes(new byte[100]), "no filter");
        }
    }

    static void testTooMuchMemoryIsAnOutOfMemoryError() {
        List<BloomFilter> held = new ArrayList<>();
        // Several allocations of 32 TiB exceed any machine's free address space.
        Tap.raises(OutOfMemoryError.class, () -> {
            for (int i = 0; i < 8; i++)
                held.add(BloomFilter.builder().bits(1L << 48).hashes(2).build());
        }, "memory");
        held.forEach(BloomFilter::close);
    }

    // ---- memory ----

    /** Returns this process's private memory in KiB. */
    static long resident() throws IOException {
        System.gc();
        for (String line : Files.readAllLines(Path.of("/proc/self/status")))
            if (line.startsWith("RssAnon"))
                return Long.parseLong(line.replaceAll("[^0-9]", ""));
        throw new AssertionError("no RssAnon");
    }

    private static void create(int count) {
        for (int i = 0; i < count; i++) {
            try (BloomFilter filter = BloomFilter.create(1000, 0.01)) {
                filter.add("a");
            }
        }
    }

    static void testAHundredThousandFiltersLeaveNothing() throws IOException {
        create(20_000);
        long before = resident();
        create(100_000);
        long grown = resident() - before;
        // A leak of 100,000 filters would take 200 MB. The heap, whose size is limited, may still
        // be growing.
        Tap.check(grown < 8192, grown + " KiB more");
    }

    static void testFiltersThatNobodyClosesAreFreedToo() throws Exception {
        long before = resident();
        for (int i = 0; i < 100_000; i++) {
            BloomFilter.create(1000, 0.01).add("a");
            if (i % 5000 == 4999) { // wait for the cleaner, which is a separate thread
                System.gc();
                System.runFinalization();
                Thread.sleep(20);
            }
        }
        Thread.sleep(100);
        long grown = resident() - before;
        Tap.check(grown < 65536, grown + " KiB more");
    }

    private static void everything() throws Exception {
        try (BloomFilter f = BloomFilter.builder().capacity(100).metadata(new byte[100]).build();
                BloomFilter copy = f.copy()) {
            f.add("a");
            f.add("ключ".repeat(200));
            f.add(new byte[3000]);
            f.add(1.5);
            f.addAll(List.of("text", "ключ", 5, new byte[1]));
            f.containsEach(new long[5000]);
            f.addAll(new byte[300_000], new int[] {0, 1, 290_000, 300_000});
            f.merge(copy);
            f.compare(copy);
            f.info();
            f.stats();
            f.metadata();
            BloomFilter.fromBytes(f.toBytes()).close();
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            f.write(out);
            BloomFilter.read(new ByteArrayInputStream(out.toByteArray())).close();
            BloomFilter.recognize(out.toByteArray());
            BloomFilter.formats();
            fails(() -> BloomFilter.read(new ByteArrayInputStream(new byte[100])));
            fails(() -> f.add("\ud800"));
            fails(() -> f.toBytes("guava"));
            fails(() -> BloomFilter.open(Path.of("/nowhere")));
            fails(() -> BloomFilter.builder().capacity(10).rate(7).secret(new byte[16]).build());
        }
    }

    private static void fails(Tap.Call call) {
        Tap.raises(Exception.class, call, "it should fail");
    }

    static void testNoCallLeaks() throws Exception {
        for (int i = 0; i < 500; i++) everything();
        long before = resident();
        for (int i = 0; i < 2000; i++) everything();
        long grown = resident() - before;
        Tap.check(grown < 8192, grown + " KiB more");
    }
}
