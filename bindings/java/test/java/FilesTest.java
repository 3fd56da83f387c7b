import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import petal.BloomFilter;
import petal.Builder;
import petal.Comparison;
import petal.Funnel;
import petal.Funnelled;
import petal.Info;
import petal.Mode;
import petal.OpenOptions;
import petal.PetalException;
import petal.PetalIOException;
import petal.SaveOption;
import petal.Scheme;
import petal.Stats;

/** Tests files, streams, bytes, whole filters and information. Each call must work as
 * documented. */
final class FilesTest {
    private static Path folder() throws IOException {
        return Files.createTempDirectory("files");
    }

    private static BloomFilter filter(String... keys) {
        BloomFilter filter = BloomFilter.create(1000, 0.01);
        filter.addAll(keys);
        return filter;
    }

    static void testEachModeOpensAFile() throws IOException {
        Path path = folder().resolve("ключ.petal");
        filter("a").save(path);
        try (BloomFilter read = BloomFilter.open(path)) {
            Tap.check(read.contains("a") && !read.contains("b") && read.verify(), "READ");
            PetalException error = Tap.raises(PetalException.class, () -> read.add("b"), "READ");
            Tap.same(error.status(), "read-only", "status");
            Tap.same(read.path(), path, "path");
        }
        try (BloomFilter write = BloomFilter.open(path, Mode.WRITE)) {
            Tap.check(write.add("b"), "new");
            PetalIOException busy = Tap.raises(PetalIOException.class,
                    () -> BloomFilter.open(path, Mode.WRITE), "two writers");
            Tap.same(busy.status(), "busy", "status");
            Tap.same(busy.path(), path.toString(), "path");
            write.sync();
            write.add("c");
        }
        try (BloomFilter load = BloomFilter.open(path, Mode.LOAD)) {
            Tap.check(load.containsAll(List.of("a", "b", "c")), "close() has synced");
            load.add("d");
        }
        try (BloomFilter read = BloomFilter.open(path, Mode.READ, new OpenOptions().verify())) {
            Tap.check(!read.contains("d"), "LOAD is a copy");
        }
    }

    static void testFailuresOfFilesAreIOExceptions() throws IOException {
        Path folder = folder();
        Path none = folder.resolve("none");
        NoSuchFileException missing = Tap.raises(NoSuchFileException.class,
                () -> BloomFilter.open(none), "missing");
        Tap.same(missing.getFile(), none.toString(), "file");
        Tap.same(VectorsTest.statusOf(missing), "i/o error", "status");
        Path path = folder.resolve("a");
        filter("a").save(path);
        FileAlreadyExistsException exists = Tap.raises(FileAlreadyExistsException.class,
                () -> filter("b").save(path, SaveOption.NO_REPLACE), "exists");
        Tap.same(VectorsTest.statusOf(exists), "exists", "status");
        Tap.raises(NoSuchFileException.class, () -> filter("b").save(folder.resolve("x/y")), "y");
        Tap.raises(PetalException.class, () -> filter("b").save(path, "guava"), "guava");
        Tap.raises(PetalException.class, () -> filter("b").save(path, "no such"), "no format");
        byte[] bytes = Files.readAllBytes(path);
        bytes[bytes.length - 100] ^= 1;
        Files.write(path, bytes);
        PetalIOException damaged = Tap.raises(PetalIOException.class,
                () -> BloomFilter.open(path, Mode.LOAD), "damaged");
        Tap.same(damaged.status(), "damaged", "status");
        Tap.check(damaged.offset() > 0, damaged.offset());
        try (BloomFilter map = BloomFilter.open(path)) {
            Tap.raises(PetalIOException.class, map::verify, "verify");
        }
        // A method that doesn't declare IOException.
        try (BloomFilter map = BloomFilter.open(path, Mode.WRITE);
                BloomFilter other = map.emptyLike()) {
            Tap.raises(UncheckedIOException.class, () -> other.merge(map), "merge");
        }
        try (Stream<Path> left = Files.list(folder)) {
            Tap.same(left.collect(Collectors.toList()), List.of(path), "nothing is left");
        }
    }

    /** Writes this filter to a file, with one byte or 8 KiB of its bits zeroed. */
    private static byte[] damaged(BloomFilter filter, int size) {
        byte[] bytes = filter.toBytes();
        int at = bytes.length * 2 / 3;
        while (size == 1 && bytes[at] == 0) at++;
        Arrays.fill(bytes, at, at + size, (byte) 0);
        return bytes;
    }

    private static BloomFilter opened(String how, Path path, OpenOptions options)
            throws IOException {
        if (!how.equals("view"))
            return BloomFilter.open(path, Mode.valueOf(how), options);
        byte[] bytes = Files.readAllBytes(path);
        ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
        return BloomFilter.view(direct, options);
    }

    static void testADamagedBlockIsAnExceptionAndNeverCertainlyNot() throws IOException {
        long[] keys = VectorsTest.longs(100_000);
        String[] texts = Arrays.stream(keys).mapToObj(key -> "key-" + key).toArray(String[]::new);
        Path path = folder().resolve("damaged");
        try (BloomFilter filter = BloomFilter.create(400_000, 0.01)) {
            filter.addAll(keys);
            filter.addAll(texts);
            for (int size : new int[] {1, 8192}) {
                Files.write(path, damaged(filter, size));
                for (String how : new String[] {"READ", "WRITE", "view"}) {
                    try (BloomFilter map = opened(how, path, new OpenOptions())) {
                        damagedAnswers(map, keys, texts);
                    }
                    try (BloomFilter trusting =
                            opened(how, path, new OpenOptions().noVerify())) {
                        int missed = 0;
                        for (boolean in : trusting.containsEach(keys)) if (!in) missed++;
                        for (boolean in : trusting.containsEach(texts)) if (!in) missed++;
                        Tap.check(missed > 0, how + ": the test proves nothing");
                    }
                }
            }
        }
    }

    private static long damagedAt(Tap.Call call) {
        UncheckedIOException error = Tap.raises(UncheckedIOException.class, call, "damaged");
        Tap.same(VectorsTest.statusOf(error), "damaged", "status");
        return ((PetalIOException) error.getCause()).offset();
    }

    private static void damagedAnswers(BloomFilter map, long[] keys, String[] texts) {
        int first = (int) damagedAt(() -> map.containsEach(keys));
        Tap.same(damagedAt(() -> map.contains(keys[first])), -1L, "alone");
        Tap.check(map.containsAll(Arrays.copyOf(keys, first)), "the keys before");
        String intact = Arrays.stream(texts).filter(text -> isDamaged(map, text, text) == 0)
                .findFirst().get();
        Tap.same(damagedAt(() -> map.containsEach(List.of(intact, keys[first]))), 1L, "few");
        Tap.same(damagedAt(() -> map.containsEach(new long[] {keys[first], 1})), 0L, "few");
        int text = (int) damagedAt(() -> map.containsEach(texts));
        Tap.same(damagedAt(() -> map.containsAll(Arrays.asList(texts))), (long) text, "all");
        int thrown = 0;
        for (int i = 0; i < keys.length; i += 3) {
            thrown += isDamaged(map, texts[i], texts[i].getBytes(UTF_8));
            thrown += isDamaged(map, keys[i], keys[i]);
        }
        Tap.check(thrown > 0 && thrown < 2 * keys.length / 3, thrown);
        Tap.raises(UncheckedIOException.class, map::stats, "stats");
        Tap.check(map.info().isVerifiedOnUse() && map.info().uncheckedBlocks() > 0, map);
    }

    /** Queries a key with two calls. Both must find it, or both must report damage. */
    private static int isDamaged(BloomFilter map, Object key, Object same) {
        int thrown = 0;
        for (Object one : new Object[] {key, same}) {
            try {
                Tap.check(map.contains(one), "a member is certainly not in: " + key);
            } catch (UncheckedIOException error) {
                thrown++;
            }
        }
        Tap.check(thrown != 1, key);
        return thrown / 2;
    }

    static void testBytesStreamsAndViewsAreTheFile() throws IOException {
        Path path = folder().resolve("a");
        BloomFilter filter = filter("a", "b");
        filter.save(path);
        byte[] bytes = Files.readAllBytes(path);
        Tap.same(filter.toBytes(), bytes, "toBytes");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        filter.write(out);
        Tap.same(out.toByteArray(), bytes, "write");
        Tap.same(BloomFilter.fromBytes(bytes).toBytes(), bytes, "fromBytes");
        for (OpenOptions options : new OpenOptions[] {new OpenOptions(),
            new OpenOptions().format("petal").expectedBytes(bytes.length)})
            Tap.same(BloomFilter.read(dripping(bytes), options).toBytes(), bytes, "read");
        Tap.raises(PetalIOException.class,
                () -> BloomFilter.read(new ByteArrayInputStream(bytes, 0, 500)), "cut off");
        try (FileChannel channel = FileChannel.open(path)) {
            ByteBuffer map = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
            try (BloomFilter view = BloomFilter.view(map, new OpenOptions())) {
                Tap.check(view.contains("b") && !view.contains("c"), "view");
                Tap.raises(PetalException.class, () -> view.add("c"), "read-only");
            }
        }
        Tap.raises(IllegalArgumentException.class,
                () -> BloomFilter.view(ByteBuffer.wrap(bytes), new OpenOptions()), "heap");
        Tap.same(BloomFilter.recognize(bytes), List.of("petal"), "recognize");
        Tap.same(BloomFilter.recognize("text".getBytes(UTF_8)).contains("petal"), false, "text");
    }

    /** A stream that returns a few bytes at a time. */
    private static InputStream dripping(byte[] bytes) {
        return new ByteArrayInputStream(bytes) {
            @Override
            public int read(byte[] into, int from, int size) {
                return super.read(into, from, Math.min(size, 7));
            }
        };
    }

    static void testWhatAStreamThrowsComesOut() {
        IOException thrown = new IOException("disk full");
        OutputStream failing = new OutputStream() {
            private int left = 3;

            @Override
            public void write(int one) {}

            @Override
            public void write(byte[] from, int at, int size) throws IOException {
                if (--left == 0) throw thrown;
            }
        };
        try (BloomFilter filter = BloomFilter.create(1_000_000, 0.01)) {
            Tap.check(Tap.raises(IOException.class, () -> filter.write(failing), "") == thrown,
                    "the very exception");
            filter.add("and it goes on");
        }
        InputStream broken = new InputStream() {
            @Override
            public int read() throws IOException {
                throw thrown;
            }
        };
        Tap.check(Tap.raises(IOException.class, () -> BloomFilter.read(broken), "") == thrown, "");
    }

    static void testAStreamThatLiesAboutWhatItReadIsRefused() throws IOException {
        byte[] bytes = filter("a").toBytes();
        for (int said : new int[] {1 << 16 | 1, Integer.MAX_VALUE, -2, Integer.MIN_VALUE}) {
            InputStream lying = new ByteArrayInputStream(bytes) {
                @Override
                public int read(byte[] into, int from, int size) {
                    super.read(into, from, size);
                    return said;
                }
            };
            IOException error =
                    Tap.raises(IOException.class, () -> BloomFilter.read(lying), said);
            Tap.check(error.getMessage().contains("says it has read " + said), error);
        }
    }

    static void testAStreamMayQueryTheFilterAndNotChangeIt() throws IOException {
        try (BloomFilter filter = filter("a")) {
            OutputStream nosy = new ByteArrayOutputStream() {
                @Override
                public void write(byte[] from, int at, int size) {
                    Tap.check(filter.contains("a"), "a query");
                    Tap.raises(IllegalStateException.class, () -> filter.add("b"), "a change");
                    Tap.raises(IllegalStateException.class, filter::close, "close");
                    Tap.raises(IllegalStateException.class, () -> filter.merge(filter), "merge");
                }
            };
            filter.write(nosy);
            Tap.check(filter.add("b"), "afterwards");
        }
    }

    static void testWholeFiltersAreCombined() {
        try (BloomFilter a = filter("a", "b"); BloomFilter b = filter("b", "c");
                BloomFilter both = a.copy(); BloomFilter empty = a.emptyLike()) {
            both.merge(b);
            Tap.check(both.containsAll(List.of("a", "b", "c")) && !a.contains("c"), "merge");
            both.intersect(b);
            Tap.check(both.contains("b") && !both.contains("a"), "intersect");
            both.merge(both);
            Tap.same(empty.info().items(), 0L, "empty");
            Comparison overlap = a.compare(b);
            Tap.check(overlap.intersection().value() > 0.5 && overlap.union().value() > 2.5, "");
            Tap.check(a.compare(a).jaccard().value() > 0.99, "itself");
            a.clear();
            Tap.same(a.contentId(), empty.contentId(), "clear");
            b.freeze();
            Tap.raises(PetalException.class, () -> b.add("d"), "frozen");
            try (BloomFilter other = BloomFilter.create(500, 0.01)) {
                PetalException error =
                        Tap.raises(PetalException.class, () -> a.merge(other), "sizes");
                Tap.same(error.status(), "filters differ", "status");
            }
        }
        try (BloomFilter counting =
                BloomFilter.builder().capacity(10).scheme(Scheme.COUNTING).build()) {
            counting.add("a");
            Tap.check(counting.remove("a") && !counting.remove("a"), "remove");
            counting.add("b");
            try (BloomFilter dropped = counting.dropCounts()) {
                Tap.check(dropped.contains("b") && dropped.info().scheme().equals("classic"), "");
            }
        }
    }

    static void testAFoldedFilterIsTheOneMadeSmall() {
        for (Scheme scheme : List.of(Scheme.BLOCKED, Scheme.CLASSIC)) {
            try (BloomFilter large = BloomFilter.builder().rate(0.01).memory(4_000_000).foldable()
                    .scheme(scheme).metadata("kept".getBytes(UTF_8)).build()) {
                large.addAll(VectorsTest.longs(1000)); // far fewer keys than planned
                try (BloomFilter folded = large.fold();
                        BloomFilter small = BloomFilter.builder().bits(folded.info().bits())
                                .hashes(folded.info().hashes()).scheme(scheme).build();
                        BloomFilter exactly = large.foldToBits(folded.info().bits());
                        BloomFilter room = large.fold(0.001, 100_000);
                        BloomFilter coarse = large.fold(0.1)) {
                    Info info = folded.info();
                    Tap.check(info.can("fold") && info.bytes() < 2000 && info.items() == 1000, "");
                    Tap.check(info.targetRate() == 0.01 && info.capacity() >= 1000, "rate");
                    Tap.same(new String(folded.metadata(), UTF_8), "kept", "metadata");
                    small.addAll(VectorsTest.longs(1000));
                    Tap.same(small.contentId(), folded.contentId(), "the one made small");
                    Tap.same(exactly.contentId(), folded.contentId(), "by bits");
                    Tap.check(room.info().bytes() > 50 * info.bytes(), "room");
                    Tap.check(coarse.info().bytes() < info.bytes(), "a higher rate");
                }
                Tap.raises(PetalException.class, () -> large.fold(1e-300), "no rate");
                Tap.raises(PetalException.class, () -> large.foldToBits(7777), "no divisor");
                Tap.raises(IllegalArgumentException.class, () -> large.fold(0, -1), "negative");
                Tap.raises(IllegalArgumentException.class, () -> large.foldToBits(-1), "negative");
            }
        }
        Tap.raises(PetalException.class,
                () -> BloomFilter.builder().bits(512).hashes(1).foldable().build(), "no rate");
    }

    static void testAFilterOfKeysThatNobodyCounted() {
        for (int count : new int[] {0, 1, 1000, 100_000}) {
            long planned = BloomFilter.builder().capacity(Math.max(count, 1)).plan().bits();
            try (BloomFilter filter = BloomFilter.builder()
                    .buildFrom(LongStream.range(0, count).boxed()::iterator)) {
                Info info = filter.info();
                Tap.check(info.bits() <= planned / 8 * 9 + 512, info.bits() + " of " + planned);
                Tap.same(info.items(), (long) count, "items");
                Tap.check(filter.containsAll(VectorsTest.longs(count)), "lost");
                Tap.check(!filter.isOverfull(), "overfull");
            }
        }
        Builder tight = BloomFilter.builder().memory(1 << 14);
        try (BloomFilter full = tight.buildFrom(LongStream.range(0, 100_000).boxed()::iterator)) {
            Tap.check(full.isOverfull() && full.containsAll(VectorsTest.longs(100_000)), "full");
        }
        Iterator<Long> asked = LongStream.range(0, 10_000_000).boxed().iterator();
        Tap.raises(PetalException.class,
                () -> tight.refuseOverfull().buildFrom(() -> asked), "refused");
        Tap.check(asked.next() < 1_000_000, "it went on");
        Builder counting = BloomFilter.builder().scheme(Scheme.COUNTING);
        Tap.raises(PetalException.class, () -> counting.buildFrom(List.of("a")), "counters");
        Tap.raises(NullPointerException.class, () -> BloomFilter.builder().buildFrom(null), "null");
    }

    static void testAStaticFilterIsBuiltFromItsKeys() throws IOException {
        byte[] golden = Files.readAllBytes(Path.of("vectors/static/two-pages.petal"));
        Builder builder = BloomFilter.builder().scheme(Scheme.STATIC).rate(0.01);
        try (BloomFilter fixed = builder.buildFrom(LongStream.range(0, 100_000).boxed()::iterator)) {
            Tap.check(Arrays.equals(fixed.toBytes(), golden), "other bytes than the golden file's");
            Tap.check(fixed.containsAll(VectorsTest.longs(100_000)), "lost");
            Tap.raises(PetalException.class, () -> fixed.add(5L), "add");
        }
        try (BloomFilter own = builder.build()) {
            Tap.check(own.add(99_999L) && own.contains("anything"), "not built");
            Tap.raises(PetalException.class, own::toBytes, "not built");
            own.addAll(VectorsTest.longs(100_000));
            own.freeze();
            Tap.check(Arrays.equals(own.toBytes(), golden), "frozen");
        }
        Tap.raises(PetalException.class, () -> builder.capacity(10).build(), "a capacity");
    }

    static void testWhatIsInsideIsSaid() {
        try (BloomFilter filter = BloomFilter.builder().capacity(1000).rate(0.01).seed(-1)
                .metadata("mine".getBytes(UTF_8)).build()) {
            Info info = filter.info();
            Tap.same(info.scheme() + info.hashes() + " " + info.bytes() + " " + info.capacity(),
                    "blocked7 1280 1000", "info");
            Tap.same(Long.toUnsignedString(info.seed()), "18446744073709551615", "seed");
            Tap.check(info.predictedRate() <= 0.01 && info.targetRate() == 0.01, "rates");
            Tap.check(info.abilities().contains("add") && !info.can("remove"), info.abilities());
            Tap.same(info.rateAt(1000), info.predictedRate(), "the model");
            Tap.check(info.rateAt(2000) > 0.05 && Math.abs(info.bitsPerKey() - 10.24) < 1e-9, "");
            Tap.same(new String(filter.metadata(), UTF_8), "mine", "metadata");
            filter.setMetadata(null);
            Tap.same(filter.metadata(), null, "metadata");
            filter.addAll(VectorsTest.longs(500));
            Stats stats = filter.stats();
            Tap.check(stats.estimatedItems().low() < 500 && stats.estimatedItems().high() > 500
                    && !stats.isOverfull() && !filter.isOverfull(), stats.estimatedItems());
            Tap.same(filter.info(0).bits(), info.bits(), "a layer");
            Tap.raises(IndexOutOfBoundsException.class, () -> filter.info(1), "a layer");
            filter.addAll(VectorsTest.longs(3000));
            Tap.check(filter.isOverfull() && filter.info().items() == 3500, "overfull");
            Tap.check(filter.toString().contains("capacity 1000"), filter);
        }
        Tap.check(BloomFilter.version().matches("[0-9]+\\.[0-9]+\\.[0-9]+"), "version");
    }

    static void testAFilterIsAPredicate() {
        try (BloomFilter seen = filter("a", "b")) {
            Tap.same(Stream.of("a", "c", "b").filter(seen).collect(Collectors.toList()),
                    List.of("a", "b"), "stream");
            Predicate<Object> absent = seen.negate();
            Tap.check(absent.test("c") && !absent.test("a"), "negate");
        }
    }

    static void testAStreamIsCollected() {
        long[] keys = VectorsTest.longs(20_000);
        BloomFilter same = BloomFilter.create(20_000, 0.01);
        same.addAll(keys);
        for (boolean parallel : new boolean[] {false, true}) {
            Stream<Long> stream = Arrays.stream(keys).boxed();
            BloomFilter made = (parallel ? stream.parallel() : stream)
                    .collect(BloomFilter.toFilter(20_000, 0.01));
            Tap.same(made.contentId(), same.contentId(), "one by one");
            Tap.same(made.info().items(), 20_000L, "items");
        }
        Tap.check(Stream.of("a").collect(BloomFilter.toFilter(BloomFilter.builder().capacity(10)
                .format("guava"))).info().format().equals("guava"), "a builder's");
    }

    static void testAFilterKnowsTheFormatOfItsFile() throws IOException {
        BloomFilter made = BloomFilter.builder().capacity(100).rate(0.01).format("guava").build();
        Tap.same(made.info().fileFormat(), null, "made in memory");
        for (String format : new String[] {"guava", "petal"}) {
            OpenOptions options = new OpenOptions().format(format);
            Info read = BloomFilter.fromBytes(made.toBytes(format), options).info();
            Tap.same(read.fileFormat(), format, "the file");
            Tap.same(read.format(), "guava", "the filter");
        }
    }

    static void testAFunnelPutsTheBytesOfAKey() {
        Funnel<Object[]> funnel = (from, into) -> into.putInt((Integer) from[0])
                .putString((String) from[1]).putBytes(new byte[] {1, 2, 3}, 1, 1)
                .putLong(-2).putShort((short) 258).putChar('é').putByte((byte) 9).putBoolean(true)
                .putFloat(-0.0f).putDouble(1.5).putUnencodedChars("a")
                .putBytes(ByteBuffer.wrap(new byte[] {7})).putString("é", UTF_8);
        byte[] bytes = VectorsTest.hex("04030201" + "6b6579" + "02" + "feffffffffffffff" + "0201"
                + "e900" + "09" + "01" + "00000080" + "000000000000f83f" + "6100" + "07" + "c3a9");
        Object[] key = {0x01020304, "key"};
        try (BloomFilter filter = BloomFilter.create(100, 1e-6)) {
            Funnelled<Object[]> by = filter.by(funnel);
            Tap.check(by.add(key) && by.contains(key) && by.test(key), "key");
            Tap.check(filter.contains(bytes) && by.filter() == filter, "bytes");
            Object[] other = {5, "x".repeat(100)};
            Tap.same(by.addAll(List.of(key, other)), 1L, "new");
            Tap.same(by.containsEach(List.of(other, new Object[] {6, "y"})),
                    new boolean[] {true, false}, "each");
            Tap.raises(NullPointerException.class, () -> by.add(null), "null");
            Tap.raises(ClassCastException.class, () -> by.add(new Object[] {"a", "b"}), "its own");
        }
    }

    static void testAFilterIsSerializableUnlessKeyed() throws Exception {
        try (BloomFilter filter = filter("a")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            new ObjectOutputStream(out).writeObject(filter);
            byte[] bytes = out.toByteArray();
            Object read = new ObjectInputStream(new ByteArrayInputStream(bytes)).readObject();
            Tap.same(((BloomFilter) read).toBytes(), filter.toBytes(), "the same");
            bytes[bytes.length - 1000] ^= 1;
            Tap.raises(IOException.class,
                    () -> new ObjectInputStream(new ByteArrayInputStream(bytes)).readObject(), "");
        }
        try (BloomFilter keyed =
                BloomFilter.builder().capacity(10).secret(VectorsTest.SECRET).build()) {
            Tap.raises(NotSerializableException.class, () ->
                    new ObjectOutputStream(new ByteArrayOutputStream()).writeObject(keyed), "");
            byte[] bytes = keyed.toBytes();
            PetalException missing = Tap.raises(PetalException.class,
                    () -> BloomFilter.fromBytes(bytes), "no secret");
            Tap.same(missing.status(), "secret needed", "status");
            byte[] other = Arrays.copyOf(new byte[] {1}, 16);
            PetalException wrong = Tap.raises(PetalException.class,
                    () -> BloomFilter.fromBytes(bytes, new OpenOptions().secret(other)), "wrong");
            Tap.same(wrong.status(), "wrong secret", "status");
        }
    }

    static void testANameWithANulIsRefused() throws IOException {
        String name = "petal\0guava";
        try (BloomFilter filter = filter("a")) {
            byte[] bytes = filter.toBytes();
            Path path = folder().resolve("a");
            for (Tap.Call call : new Tap.Call[] {() -> filter.toBytes(name),
                () -> filter.save(path, name),
                () -> filter.write(new ByteArrayOutputStream(), name),
                () -> BloomFilter.builder().capacity(10).format(name).build(),
                () -> BloomFilter.fromBytes(bytes, new OpenOptions().format(name))})
                Tap.raises(IllegalArgumentException.class, call, "a NUL");
            Tap.check(!Files.exists(path), "no file");
        }
    }

    static void testATemporaryLibraryIsGone() throws IOException {
        BloomFilter.version();
        Path folder = Path.of(System.getProperty("java.io.tmpdir"));
        try (Stream<Path> files = Files.list(folder)) {
            Tap.check(files.noneMatch(file -> file.toString().endsWith(".so")), folder);
        }
    }
}
