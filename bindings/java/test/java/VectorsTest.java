import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import petal.BloomFilter;
import petal.Builder;
import petal.KeyType;
import petal.Mode;
import petal.OpenOptions;
import petal.ParquetFilter;
import petal.PetalException;
import petal.PetalIOException;
import petal.Scheme;

/**
 * Tests every vector. Filters from other libraries' files must return the original library's
 * answers, be rebuilt byte for byte, and survive a round trip through a petal file. Petal's own
 * files must be rewritten byte for byte. Broken files must be rejected with the right error.
 */
final class VectorsTest {
    static final Path VECTORS = Path.of("vectors");
    static final byte[] SECRET = new byte[16];

    static {
        for (int i = 0; i < 16; i++) SECRET[i] = (byte) i;
    }

    /** Returns the words of each line that is not a comment. */
    static List<String[]> rows(Path path) throws IOException {
        try (Stream<String> lines = Files.lines(path, UTF_8)) {
            return lines.filter(line -> !line.isEmpty() && !line.startsWith("#"))
                    .map(line -> line.trim().split(" +")).collect(Collectors.toList());
        }
    }

    static byte[] hex(String digits) {
        if (digits.equals("-")) return new byte[0];
        byte[] bytes = new byte[digits.length() / 2];
        for (int i = 0; i < bytes.length; i++)
            bytes[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
        return bytes;
    }

    /** Returns the core's name for the call's failure, or "" if the call succeeds. */
    static String statusOf(Throwable failure) {
        if (failure instanceof PetalException) return ((PetalException) failure).status();
        if (failure instanceof PetalIOException) return ((PetalIOException) failure).status();
        return failure.getCause() == null ? "" : statusOf(failure.getCause());
    }

    static OpenOptions format(String name) {
        return new OpenOptions().format(name);
    }

    // ---- files of other libraries (the language is that of tests/formats/vectors.c) ----

    private static final class Script {
        int files;
        int answers;
        int rebuilt;
        private String format;
        private Path path;
        private byte[] bytes;
        private BloomFilter read;
        private BloomFilter made;
        private boolean packed;
        private boolean wasRebuilt;
        private final List<byte[]> asked = new ArrayList<>();
        private final List<Boolean> expected = new ArrayList<>();
        final Map<String, Integer> typed = new TreeMap<>();
        int bytesOnly;

        void run(Path script) throws IOException {
            for (String[] words : rows(script)) line(script, words);
            end();
        }

        private void line(Path script, String[] words) throws IOException {
            switch (words[0]) {
                case "format":
                    end();
                    format = words[1];
                    break;
                case "file":
                    end();
                    begin(script.resolveSibling(words[1]));
                    break;
                case "plan":
                    made = BloomFilter.builder().capacity(Long.parseLong(words[1]))
                            .rate(Double.parseDouble(words[2])).format(format).build();
                    break;
                case "size":
                    made = BloomFilter.builder().bits(Long.parseLong(words[1]))
                            .hashes(Integer.parseInt(words[2]))
                            .seed(words.length > 3 ? Long.parseUnsignedLong(words[3]) : 0)
                            .format(format).build();
                    break;
                case "rebuild":
                    expectSame(made);
                    wasRebuilt = true;
                    break;
                case "packed":
                    packed = true;
                    break;
                case "add":
                case "in":
                case "out":
                    key(words[0], hex(words[1]));
                    break;
                case "adds":
                case "ins":
                case "outs":
                    String verb = words[0].substring(0, words[0].length() - 1);
                    String text = words[1].equals("-") ? "" : words[1];
                    for (int i = Integer.parseInt(words[2]); i <= Integer.parseInt(words[3]); i++)
                        key(verb, (text + i).getBytes(UTF_8));
                    break;
                default:
                    Tap.same(words[0], "loose", script);
            }
        }

        private void begin(Path file) throws IOException {
            path = file;
            bytes = Files.readAllBytes(file);
            ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
            read = BloomFilter.view(direct, VectorsTest.format(format));
        }

        private void key(String verb, byte[] key) {
            if (verb.equals("add")) {
                if (made != null) made.add(key);
                return;
            }
            Tap.check(read.contains(key) == verb.equals("in"), path + " " + verb);
            asked.add(key);
            expected.add(verb.equals("in"));
        }

        private void expectSame(BloomFilter filter) throws IOException {
            byte[] written = filter.toBytes(format);
            if (!packed) {
                Tap.check(Arrays.equals(written, bytes), path + ": other bytes");
                return;
            }
            try (BloomFilter again = BloomFilter.fromBytes(written, VectorsTest.format(format))) {
                Tap.check(Arrays.equals(again.toBytes(), read.toBytes()), path + ": other bits");
            }
        }

        private void end() throws IOException {
            if (path == null) return;
            Tap.check(wasRebuilt || !asked.isEmpty(), path + ": it proves nothing");
            boolean[] answers = read.containsEach(asked);
            for (int i = 0; i < answers.length; i++)
                Tap.check(answers[i] == expected.get(i), path + ": batch");
            askTyped();
            expectSame(read);
            try (BloomFilter carried =
                    BloomFilter.fromBytes(read.toBytes(), VectorsTest.format("petal"))) {
                expectSame(carried);
            }
            for (int size = 0; size < bytes.length; size += bytes.length / 50 + 1) cut(size);
            files++;
            this.answers += asked.size();
            if (wasRebuilt) rebuilt++;
            read.close();
            if (made != null) made.close();
            path = null;
            made = null;
            packed = wasRebuilt = false;
            asked.clear();
            expected.clear();
        }

        /** Queries each key as every type that can produce the key's bytes. */
        private void askTyped() throws IOException {
            Kinds kinds = new Kinds();
            for (int i = 0; i < asked.size(); i++) kinds.sort(asked.get(i), expected.get(i));
            bytesOnly += kinds.bytesOnly;
            for (Map.Entry<KeyType, List<Object>> one : kinds.keys.entrySet()) {
                OpenOptions options = VectorsTest.format(format).keyType(one.getKey());
                try (BloomFilter filter = BloomFilter.open(path, Mode.READ, options)) {
                    List<Object> keys = one.getValue();
                    boolean[] answers = filter.containsEach(keys);
                    for (int i = 0; i < answers.length; i++) {
                        boolean in = kinds.in.get(one.getKey()).get(i);
                        Tap.check(filter.contains(keys.get(i)) == in && answers[i] == in,
                                path + ": " + keys.get(i) + " as " + one.getKey());
                    }
                }
            }
            expectOfItsName(kinds);
            kinds.keys.forEach((type, keys) -> typed.merge(type.name(), keys.size(), Integer::sum));
        }

        /** Every key of a Guava funnel can be passed as the Java type that corresponds to the
         * funnel. */
        private void expectOfItsName(Kinds kinds) {
            String funnel = path.getFileName().toString().replaceAll("_n?[0-9].*", "");
            KeyType type = FUNNELS.get(funnel);
            if (!format.startsWith("guava") || type == null || asked.isEmpty()) return;
            Tap.same(kinds.keys.getOrDefault(type, List.of()).size(), asked.size(), path);
        }

        /**
         * A truncated file must be rejected. In formats that can't detect truncation, it must
         * contain a different filter.
         */
        private void cut(int size) {
            byte[] start = Arrays.copyOf(bytes, size);
            try (BloomFilter part = BloomFilter.fromBytes(start, VectorsTest.format(format))) {
                part.contains("a");
            } catch (IOException | PetalException failure) {
                Tap.check(!statusOf(failure).isEmpty() && failure.getMessage() != null, path);
            }
        }
    }

    private static final Map<String, KeyType> FUNNELS = Map.of("utf8", KeyType.TEXT, "unencoded",
            KeyType.UTF16LE, "int", KeyType.I32, "long", KeyType.I64);

    /** Returns the types whose keys can have these bytes. */
    private static final class Kinds {
        final Map<KeyType, List<Object>> keys = new TreeMap<>();
        final Map<KeyType, List<Boolean>> in = new TreeMap<>();
        int bytesOnly;

        void sort(byte[] key, boolean isIn) {
            String text = new String(key, UTF_8);
            boolean isKind = false;
            if (Arrays.equals(text.getBytes(UTF_8), key)) isKind |= put(KeyType.TEXT, text, isIn);
            ByteBuffer little = ByteBuffer.wrap(key).order(java.nio.ByteOrder.LITTLE_ENDIAN);
            if (key.length % 2 == 0)
                isKind |= put(KeyType.UTF16LE, little.asCharBuffer().toString(), isIn);
            if (key.length == 4) isKind |= put(KeyType.I32, little.getInt(0), isIn);
            if (key.length == 8) isKind |= put(KeyType.I64, little.getLong(0), isIn);
            if (key.length == 8 && isCanonical(little.getDouble(0), little.getLong(0)))
                isKind |= put(KeyType.F64, little.getDouble(0), isIn);
            if (!isKind) bytesOnly++;
        }

        private boolean put(KeyType type, Object key, boolean isIn) {
            keys.computeIfAbsent(type, unused -> new ArrayList<>()).add(key);
            in.computeIfAbsent(type, unused -> new ArrayList<>()).add(isIn);
            return true;
        }

        private static boolean isCanonical(double number, long bits) {
            return bits == Double.doubleToLongBits(number) && bits != Long.MIN_VALUE;
        }
    }

    static void testFilesOfOtherLibrariesAnswerAreRebuiltAndCarried() throws IOException {
        Script all = new Script();
        try (Stream<Path> found = Files.list(VECTORS)) {
            List<Path> scripts = found.map(folder -> folder.resolve("vectors.txt"))
                    .filter(Files::exists).sorted().collect(Collectors.toList());
            for (Path script : scripts) all.run(script);
        }
        Tap.check(BloomFilter.formats().stream().anyMatch(one -> one.name().equals("dcso-gzip")),
                "this jar is without zlib");
        System.out.println("# counted: Java: " + all.answers + " keys of " + all.files
                + " files asked as byte[], and each as the types with its bytes: " + all.typed
                + "; " + all.bytesOnly + " have none");
        Tap.same(all.typed.size(), 5, "types");
        for (int count : all.typed.values()) Tap.check(count >= 300, all.typed);
        Tap.check(all.files >= 190 && all.answers >= 20000 && all.rebuilt >= 140,
                all.files + " files, " + all.answers + " answers, " + all.rebuilt + " rebuilt");
    }

    static void testFiltersInsideParquetFilesAreFoundAndAnswer() throws IOException {
        List<ParquetFilter> listed = List.of();
        ByteBuffer data = null;
        BloomFilter filter = null;
        int expected = 0;
        int answers = 0;
        for (String[] words : rows(VECTORS.resolve("parquet/files.txt"))) {
            if (words[0].equals("file")) {
                Tap.same(listed.size(), expected, "filters in a file");
                byte[] bytes = Files.readAllBytes(VECTORS.resolve("parquet/" + words[1]));
                data = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
                listed = ParquetFilter.list(data);
                expected = 0;
            } else if (words[0].equals("filter")) {
                ParquetFilter one = listed.get(expected++);
                String place = one.rowGroup() + " " + one.columnNumber() + " " + one.column() + " "
                        + one.physicalType() + " " + one.offset();
                Tap.same(place, String.join(" ", Arrays.copyOfRange(words, 1, 6)), "place");
                ByteBuffer piece = data.duplicate();
                piece.position((int) one.offset()).limit((int) (one.offset() + one.bytes()));
                filter = BloomFilter.view(piece.slice(), format("parquet"));
            } else {
                Tap.check(filter.contains(hex(words[1])) == words[0].equals("in"), words[1]);
                answers++;
            }
        }
        Tap.check(listed.size() == expected && answers > 500, answers);
        ByteBuffer wrong = ByteBuffer.wrap("PAR1".getBytes(UTF_8));
        Tap.raises(IOException.class, () -> ParquetFilter.list(wrong), "no Parquet file");
    }

    // ---- petal's own ----

    private static final long DAY = 86400;
    private static final List<String> TEXTS =
            IntStream.range(0, 100).mapToObj(i -> "key-" + i).collect(Collectors.toList());

    private static final class Recipe {
        final Builder builder;
        final Consumer<BloomFilter> fill;
        final boolean keyed;

        Recipe(Builder builder, Consumer<BloomFilter> fill, boolean keyed) {
            this.builder = builder;
            this.fill = fill;
            this.keyed = keyed;
        }
    }

    private static final Map<String, Recipe> RECIPES = new TreeMap<>();

    private static void recipe(String name, Builder builder, Consumer<BloomFilter> fill) {
        boolean keyed = name.endsWith("-keyed") || name.equals("rotating-time");
        RECIPES.put(name, new Recipe(keyed ? builder.secret(SECRET) : builder, fill, keyed));
    }

    private static Builder sized(long bits, int hashes) {
        return BloomFilter.builder().bits(bits).hashes(hashes);
    }

    private static Builder planned(long capacity, double rate) {
        return BloomFilter.builder().capacity(capacity).rate(rate);
    }

    private static void days(BloomFilter filter) {
        for (int i = 0; i < 100; i++) {
            filter.advance(Instant.ofEpochSecond((19723 + i) * DAY + DAY / 2));
            filter.add(TEXTS.get(i));
        }
    }

    private static void counting(BloomFilter filter) {
        filter.addAll(TEXTS);
        filter.addAll(TEXTS.subList(0, 10));
        for (int i = 0; i < 20; i++) filter.add("key-95");
        for (boolean removed : filter.removeEach(TEXTS.subList(0, 50))) Tap.check(removed, "in");
        Tap.check(filter.remove("key-95"), "key-95");
    }

    private static void typed(BloomFilter filter) {
        filter.addAll(Arrays.asList("", new byte[1], "café", hex("fffe"), -1, 1L, -0.0, 1.5f,
                Double.NaN));
    }

    /** vectors/README.md describes the files that this test reads. */
    private static void recipes() {
        Consumer<BloomFilter> texts = f -> f.addAll(TEXTS);
        Consumer<BloomFilter> two = f -> f.addAll(new String[] {"a", "b"});
        Consumer<BloomFilter> none = f -> f.addAll(List.of());
        Consumer<BloomFilter> integers = f -> f.addAll(IntStream.range(0, 100).boxed()
                .collect(Collectors.toList()));
        Consumer<BloomFilter> thousand = f -> f.addAll(longs(1000));
        Consumer<BloomFilter> twoThousand = f -> f.addAll(longs(2000));
        Scheme classic = Scheme.CLASSIC;
        Scheme counts = Scheme.COUNTING;
        recipe("textbook", sized(11, 2).scheme(classic).seed(197072), two);
        recipe("one-bit", sized(1, 1).scheme(classic), two);
        recipe("empty-blocked", sized(512, 7).linesPerKey(1), none);
        recipe("empty-classic", sized(513, 64).scheme(classic), none);
        recipe("blocked", sized(1536, 8).linesPerKey(1), texts);
        recipe("blocked-two-lines", sized(2048, 9).linesPerKey(2), texts);
        recipe("blocked-k16", sized(5120, 16).linesPerKey(1).seed(-1), integers);
        recipe("blocked-k32", sized(5120, 32).linesPerKey(2), integers);
        recipe("blocked-planned", planned(100, 0.01), texts);
        recipe("blocked-planned-low", planned(100, 1e-6), texts);
        recipe("classic", sized(1009, 5).scheme(classic).seed(42), texts);
        recipe("classic-planned", planned(100, 0.01).scheme(classic), texts);
        recipe("classic-keyed", sized(1009, 7).scheme(classic), texts);
        recipe("blocked-keyed", sized(1024, 6).linesPerKey(1), texts);
        recipe("typed-keys", sized(1024, 5).linesPerKey(1), VectorsTest::typed);
        byte[] metadata = "{\"made\": \"for a test\"}\0\u00ff\0".getBytes(
                java.nio.charset.StandardCharsets.ISO_8859_1);
        recipe("metadata", sized(100, 3).scheme(classic).capacity(10).rate(0.5).seed(7)
                .metadata(metadata), two);
        recipe("saturated", sized(100, 4).scheme(classic), thousand);
        recipe("two-blocks", sized(524387, 3).scheme(classic), twoThousand);
        recipe("growing", planned(10, 0.01).grow(), texts);
        recipe("growing-by-3", planned(5, 0.1).scheme(classic).seed(7)
                .metadata("three".getBytes(UTF_8)).grow().growthStep(3).growthRatio(0.5), texts);
        recipe("growing-empty", planned(10, 0.01).grow(), none);
        recipe("rotating-keys", BloomFilter.builder().rate(0.01).window(60), texts);
        recipe("rotating-time", BloomFilter.builder().scheme(classic).rate(0.01).window(70)
                .windowTime(Duration.ofDays(7)).generations(8), VectorsTest::days);
        recipe("rotating-burst", BloomFilter.builder().rate(0.01).window(60)
                .windowTime(Duration.ofDays(1)).generations(4), f -> {
                    f.advance(Instant.ofEpochSecond(19723 * DAY));
                    f.addAll(TEXTS);
                });
        recipe("empty-counting", sized(129, 64).scheme(counts), none);
        recipe("textbook-counting", sized(11, 2).scheme(counts).seed(197072), two);
        recipe("counting", sized(1009, 5).scheme(counts).seed(42), VectorsTest::counting);
        recipe("counting-planned", planned(100, 0.01).scheme(counts), texts);
        recipe("counting-keyed", sized(1009, 7).scheme(counts), texts);
        recipe("counting-two-blocks", sized(131171, 3).scheme(counts), twoThousand);
    }

    static long[] longs(int count) {
        return IntStream.range(0, count).mapToLong(i -> i).toArray();
    }

    static void testGoldenFilesAreMadeByteForByteAndReadInEachMode() throws IOException {
        recipes();
        TreeSet<String> names = new TreeSet<>();
        try (Stream<Path> files = Files.list(VECTORS.resolve("petal"))) {
            files.map(file -> file.getFileName().toString()).filter(file -> file.endsWith(".petal"))
                    .forEach(file -> names.add(file.substring(0, file.length() - 6)));
        }
        Tap.same(names, RECIPES.keySet(), "the recipes are of these files");
        for (Map.Entry<String, Recipe> one : RECIPES.entrySet())
            golden(VECTORS.resolve("petal/" + one.getKey() + ".petal"), one.getValue());
    }

    private static void golden(Path file, Recipe recipe) throws IOException {
        try (BloomFilter made = recipe.builder.build()) {
            recipe.fill.accept(made);
            Tap.same(made.toBytes(), Files.readAllBytes(file), file);
            OpenOptions options = new OpenOptions().verify();
            if (recipe.keyed) options.secret(SECRET);
            for (Mode mode : new Mode[] {Mode.READ, Mode.LOAD}) {
                try (BloomFilter read = BloomFilter.open(file, mode, options)) {
                    Tap.same(read.toBytes(), made.toBytes(), file);
                    Tap.same(read.contentId(), made.contentId(), file);
                    Tap.same(read.info().items(), made.info().items(), file);
                }
            }
        }
    }

    static void testAGoldenFileAnswersAsEver() throws IOException {
        try (BloomFilter filter = BloomFilter.open(VECTORS.resolve("petal/blocked.petal"))) {
            for (int i = 0; i < 1000; i++)
                Tap.check(filter.contains("key-" + i) == (i < 100 || i == 980), i);
            Tap.same(filter.stats().bitsSet(), 629L, "bits");
            Tap.same(filter.contentId(), 0x14F5876858484957L, "content id");
        }
    }

    static void testRejectedFilesAreRefusedByTheNameOfTheError() throws IOException {
        int count = 0;
        for (String[] words : rows(VECTORS.resolve("reject/expected.txt"))) {
            Path path = VECTORS.resolve("reject/" + words[0] + ".petal");
            String status = String.join(" ", Arrays.copyOfRange(words, 1, words.length));
            Throwable error = Tap.raises(Exception.class,
                    () -> BloomFilter.open(path, Mode.READ, format("petal").verify()), path);
            Tap.same(statusOf(error), status, path);
            Tap.check(!error.getMessage().isEmpty(), path);
            String named = error instanceof PetalIOException ? ((PetalIOException) error).path()
                    : ((PetalException) error).path();
            Tap.same(named, path.toString(), "path");
            byte[] bytes = Files.readAllBytes(path);
            Throwable same = Tap.raises(Exception.class,
                    () -> BloomFilter.fromBytes(bytes, format("petal")), path);
            Tap.check(!statusOf(same).isEmpty(), path);
            count++;
        }
        Tap.check(count >= 50, count);
    }

    // ---- hashes and keys ----

    static void testHashesAreThoseOfTheVectors() throws IOException {
        byte[] buffer = new byte[4096];
        long x = 2654435761L;
        for (int i = 0; i < buffer.length; i++) {
            buffer[i] = (byte) (x >>> 56);
            x *= Long.parseUnsignedLong("11400714785074694797");
        }
        int count = 0;
        for (String[] words : rows(VECTORS.resolve("hashes/xxh3.txt"))) {
            try (BloomFilter filter = BloomFilter.builder().capacity(10)
                    .seed(Long.parseUnsignedLong(words[1], 16)).build()) {
                byte[] key = Arrays.copyOf(buffer, Integer.parseInt(words[0]));
                Tap.same(filter.hashKey(key), Long.parseUnsignedLong(words[2], 16), words[0]);
                count++;
            }
        }
        try (BloomFilter filter = BloomFilter.builder().capacity(10).secret(SECRET).build()) {
            for (String[] words : rows(VECTORS.resolve("hashes/siphash-2-4.txt"))) {
                byte[] key = new byte[Integer.parseInt(words[0])];
                for (int i = 0; i < key.length; i++) key[i] = (byte) i;
                long hash = ByteBuffer.wrap(hex(words[1])).order(java.nio.ByteOrder.LITTLE_ENDIAN)
                        .getLong();
                Tap.same(filter.hashKey(key), hash, words[0]);
                count++;
            }
        }
        Tap.check(count >= 90, count);
    }

    static void testOneKeyIsHashedAsInABatch() {
        java.util.Random random = new java.util.Random(17);
        byte[] data = new byte[201 * 100];
        int[] offsets = new int[202];
        random.nextBytes(data);
        for (int i = 0; i <= 200; i++) offsets[i + 1] = offsets[i] + i;
        for (long seed : new long[] {0, 1, -1, 1L << 31, random.nextLong()}) {
            Builder builder = BloomFilter.builder().capacity(1000).rate(1e-6).seed(seed);
            try (BloomFilter one = builder.build(); BloomFilter batch = builder.build()) {
                batch.addAll(data, offsets);
                for (int size = 0; size <= 200; size++) {
                    byte[] key = Arrays.copyOfRange(data, offsets[size], offsets[size + 1]);
                    Tap.check(batch.contains(key), size);
                    one.add(key);
                    Tap.check(one.contains(key), size);
                }
                Tap.same(one.contentId(), batch.contentId(), seed);
            }
        }
    }

    static void testASurrogateThatStandsAloneIsFoundInTextOfAnyLength() {
        try (BloomFilter filter = BloomFilter.create(10, 0.01)) {
            for (int size = 1; size <= 80; size++) {
                String marks = "?".repeat(size);
                filter.add(marks);
                Tap.check(filter.contains(marks), size);
                for (int at = 0; at < size; at++) {
                    String text = "x".repeat(at) + '\ud800' + "x".repeat(size - at - 1);
                    Tap.raises(IllegalArgumentException.class, () -> filter.add(text), size);
                    Tap.raises(IllegalArgumentException.class, () -> filter.contains(text), size);
                }
            }
        }
    }

    static void testNumbersHaveTheKeyBytesOfTheVectors() throws IOException {
        int count = 0;
        try (BloomFilter filter = BloomFilter.create(10, 0.01)) {
            for (String[] words : rows(VECTORS.resolve("hashes/typed-keys.txt"))) {
                Object number = Double.longBitsToDouble(words[0].equals("i64") ? 0
                        : Long.parseUnsignedLong(words[1], 16));
                if (words[0].equals("i64")) number = Long.parseLong(words[1]);
                Tap.same(filter.hashKey(number), filter.hashKey(hex(words[2])), words[1]);
                count++;
            }
        }
        Tap.check(count >= 30, count);
    }

    static void testShardsAreThoseOfTheVectors() throws IOException {
        int count = 0;
        for (String[] words : rows(VECTORS.resolve("shards/shards.txt"))) {
            long shard = BloomFilter.shardOf(hex(words[0]), Long.parseLong(words[2]));
            Tap.same(shard, Long.parseLong(words[3]), words[0]);
            count++;
        }
        Tap.check(count >= 50, count);
    }
}
