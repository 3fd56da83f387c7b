import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import petal.BloomFilter;
import petal.Builder;
import petal.KeyType;
import petal.PetalException;
import petal.Scheme;

/**
 * Tests that every kind of batch returns the same answers as single keys and as the petal command,
 * and that invalid batches are rejected.
 */
final class BatchTest {
    private static final int COUNT = 10_000; // processed in more than one piece

    /** A filter this small returns many false positives. If even the false positives agree, the
     * filters are equal. */
    private static Builder small() {
        return BloomFilter.builder().bits(1 << 15).hashes(3);
    }

    private static List<Object> texts() {
        String[] shapes = {"", "a", "#", "https://example.com/#?q", "ключ-#", "鍵#", "😀#",
            "é".repeat(20) + "#", "é?#", "x".repeat(300) + "#"};
        List<Object> texts = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) texts.add(shapes[i % 10].replace("#", "" + i));
        return texts;
    }

    private static List<Object> binaries() {
        Random random = new Random(2);
        List<Object> keys = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            byte[] key = new byte[random.nextInt(30)];
            random.nextBytes(key);
            keys.add(key);
        }
        return keys;
    }

    private static List<Object> longs() {
        Random random = new Random(1);
        List<Object> keys = new ArrayList<>(List.of(0L, 1L, -1L, Long.MAX_VALUE, Long.MIN_VALUE));
        while (keys.size() < COUNT) keys.add(random.nextLong());
        return keys;
    }

    private static List<Object> doubles() {
        Random random = new Random(3);
        List<Object> keys = new ArrayList<>(List.of(0.0, -0.0, Double.NaN,
                Double.longBitsToDouble(0xfff8000000000001L), Double.POSITIVE_INFINITY,
                Double.NEGATIVE_INFINITY, Double.MIN_VALUE, 1.5));
        while (keys.size() < COUNT) keys.add(random.nextDouble() * 2e4 - 1e4);
        return keys;
    }

    private static List<Object> mixed() {
        List<Object> keys = new ArrayList<>();
        List<Object> texts = texts();
        for (int i = 0; i < COUNT; i++) {
            Object text = texts.get(i);
            keys.add(i % 4 == 0 ? text : i % 4 == 1 ? (Object) i : i % 4 == 2 ? (Object) (i / 2.0)
                    : ByteBuffer.wrap(text.toString().getBytes(UTF_8)));
        }
        return keys;
    }

    /** The calls for one kind of batch. */
    private interface Kind {
        long addAll(BloomFilter filter, List<Object> keys);

        boolean[] addEach(BloomFilter filter, List<Object> keys);

        boolean[] containsEach(BloomFilter filter, List<Object> keys);

        boolean[] removeEach(BloomFilter filter, List<Object> keys);

        boolean any(BloomFilter filter, List<Object> keys);

        boolean all(BloomFilter filter, List<Object> keys);
    }

    private static final Kind ITERABLE = new Kind() {
        @Override
        public long addAll(BloomFilter filter, List<Object> keys) {
            return filter.addAll(keys);
        }

        @Override
        public boolean[] addEach(BloomFilter filter, List<Object> keys) {
            return filter.addEach(keys);
        }

        @Override
        public boolean[] containsEach(BloomFilter filter, List<Object> keys) {
            return filter.containsEach(keys);
        }

        @Override
        public boolean[] removeEach(BloomFilter filter, List<Object> keys) {
            return filter.removeEach(keys);
        }

        @Override
        public boolean any(BloomFilter filter, List<Object> keys) {
            return filter.containsAny(keys);
        }

        @Override
        public boolean all(BloomFilter filter, List<Object> keys) {
            return filter.containsAll(keys);
        }
    };

    private static final Kind PLAIN = new Kind() {
        @Override
        public long addAll(BloomFilter filter, List<Object> keys) {
            return filter.addAll((Iterable<Object>) keys::iterator);
        }

        @Override
        public boolean[] addEach(BloomFilter filter, List<Object> keys) {
            return filter.addEach((Iterable<Object>) keys::iterator);
        }

        @Override
        public boolean[] containsEach(BloomFilter filter, List<Object> keys) {
            return filter.containsEach((Iterable<Object>) keys::iterator);
        }

        @Override
        public boolean[] removeEach(BloomFilter filter, List<Object> keys) {
            return filter.removeEach((Iterable<Object>) keys::iterator);
        }

        @Override
        public boolean any(BloomFilter filter, List<Object> keys) {
            return filter.containsAny((Iterable<Object>) keys::iterator);
        }

        @Override
        public boolean all(BloomFilter filter, List<Object> keys) {
            return filter.containsAll((Iterable<Object>) keys::iterator);
        }
    };

    private static final Kind STRINGS = new Kind() {
        @Override
        public long addAll(BloomFilter filter, List<Object> keys) {
            return filter.addAll(keys.toArray(new String[0]));
        }

        @Override
        public boolean[] addEach(BloomFilter filter, List<Object> keys) {
            return filter.addEach(keys.toArray(new String[0]));
        }

        @Override
        public boolean[] containsEach(BloomFilter filter, List<Object> keys) {
            return filter.containsEach(keys.toArray(new String[0]));
        }

        @Override
        public boolean[] removeEach(BloomFilter filter, List<Object> keys) {
            return filter.removeEach(keys.toArray(new String[0]));
        }

        @Override
        public boolean any(BloomFilter filter, List<Object> keys) {
            return filter.containsAny(keys.toArray(new String[0]));
        }

        @Override
        public boolean all(BloomFilter filter, List<Object> keys) {
            return filter.containsAll(keys.toArray(new String[0]));
        }
    };

    private static final Kind LONGS = new Kind() {
        @Override
        public long addAll(BloomFilter filter, List<Object> keys) {
            return filter.addAll(keys.stream().mapToLong(key -> (Long) key).toArray());
        }

        @Override
        public boolean[] addEach(BloomFilter filter, List<Object> keys) {
            return filter.addEach(keys.stream().mapToLong(key -> (Long) key).toArray());
        }

        @Override
        public boolean[] containsEach(BloomFilter filter, List<Object> keys) {
            return filter.containsEach(keys.stream().mapToLong(key -> (Long) key).toArray());
        }

        @Override
        public boolean[] removeEach(BloomFilter filter, List<Object> keys) {
            return filter.removeEach(keys.stream().mapToLong(key -> (Long) key).toArray());
        }

        @Override
        public boolean any(BloomFilter filter, List<Object> keys) {
            return filter.containsAny(keys.stream().mapToLong(key -> (Long) key).toArray());
        }

        @Override
        public boolean all(BloomFilter filter, List<Object> keys) {
            return filter.containsAll(keys.stream().mapToLong(key -> (Long) key).toArray());
        }
    };

    private static final Kind DOUBLES = new Kind() {
        @Override
        public long addAll(BloomFilter filter, List<Object> keys) {
            return filter.addAll(keys.stream().mapToDouble(key -> (Double) key).toArray());
        }

        @Override
        public boolean[] addEach(BloomFilter filter, List<Object> keys) {
            return filter.addEach(keys.stream().mapToDouble(key -> (Double) key).toArray());
        }

        @Override
        public boolean[] containsEach(BloomFilter filter, List<Object> keys) {
            return filter.containsEach(keys.stream().mapToDouble(key -> (Double) key).toArray());
        }

        @Override
        public boolean[] removeEach(BloomFilter filter, List<Object> keys) {
            return filter.removeEach(keys.stream().mapToDouble(key -> (Double) key).toArray());
        }

        @Override
        public boolean any(BloomFilter filter, List<Object> keys) {
            return filter.containsAny(keys.stream().mapToDouble(key -> (Double) key).toArray());
        }

        @Override
        public boolean all(BloomFilter filter, List<Object> keys) {
            return filter.containsAll(keys.stream().mapToDouble(key -> (Double) key).toArray());
        }
    };

    private static final Kind BYTES = new Kind() {
        @Override
        public long addAll(BloomFilter filter, List<Object> keys) {
            return filter.addAll(joined(keys), offsets(keys));
        }

        @Override
        public boolean[] addEach(BloomFilter filter, List<Object> keys) {
            return filter.addEach(joined(keys), offsets(keys));
        }

        @Override
        public boolean[] containsEach(BloomFilter filter, List<Object> keys) {
            return filter.containsEach(joined(keys), offsets(keys));
        }

        @Override
        public boolean[] removeEach(BloomFilter filter, List<Object> keys) {
            return filter.removeEach(joined(keys), offsets(keys));
        }

        @Override
        public boolean any(BloomFilter filter, List<Object> keys) {
            return filter.containsAny(joined(keys), offsets(keys));
        }

        @Override
        public boolean all(BloomFilter filter, List<Object> keys) {
            return filter.containsAll(joined(keys), offsets(keys));
        }
    };

    private static final Kind BUFFER = new Kind() {
        @Override
        public long addAll(BloomFilter filter, List<Object> keys) {
            return filter.addAll(ByteBuffer.wrap(joined(keys)), offsets(keys));
        }

        @Override
        public boolean[] addEach(BloomFilter filter, List<Object> keys) {
            return filter.addEach(ByteBuffer.wrap(joined(keys)), offsets(keys));
        }

        @Override
        public boolean[] containsEach(BloomFilter filter, List<Object> keys) {
            return filter.containsEach(ByteBuffer.wrap(joined(keys)), offsets(keys));
        }

        @Override
        public boolean[] removeEach(BloomFilter filter, List<Object> keys) {
            return filter.removeEach(ByteBuffer.wrap(joined(keys)), offsets(keys));
        }

        @Override
        public boolean any(BloomFilter filter, List<Object> keys) {
            return filter.containsAny(ByteBuffer.wrap(joined(keys)), offsets(keys));
        }

        @Override
        public boolean all(BloomFilter filter, List<Object> keys) {
            return filter.containsAll(ByteBuffer.wrap(joined(keys)), offsets(keys));
        }
    };

    private static final Kind DIRECT = new Kind() {
        @Override
        public long addAll(BloomFilter filter, List<Object> keys) {
            return filter.addAll(direct(keys), offsets(keys));
        }

        @Override
        public boolean[] addEach(BloomFilter filter, List<Object> keys) {
            return filter.addEach(direct(keys), offsets(keys));
        }

        @Override
        public boolean[] containsEach(BloomFilter filter, List<Object> keys) {
            return filter.containsEach(direct(keys), offsets(keys));
        }

        @Override
        public boolean[] removeEach(BloomFilter filter, List<Object> keys) {
            return filter.removeEach(direct(keys), offsets(keys));
        }

        @Override
        public boolean any(BloomFilter filter, List<Object> keys) {
            return filter.containsAny(direct(keys), offsets(keys));
        }

        @Override
        public boolean all(BloomFilter filter, List<Object> keys) {
            return filter.containsAll(direct(keys), offsets(keys));
        }
    };

    private static byte[] joined(List<Object> keys) {
        java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
        for (Object key : keys) out.writeBytes((byte[]) key);
        return out.toByteArray();
    }

    private static int[] offsets(List<Object> keys) {
        int[] offsets = new int[keys.size() + 1];
        for (int i = 0; i < keys.size(); i++)
            offsets[i + 1] = offsets[i] + ((byte[]) keys.get(i)).length;
        return offsets;
    }

    private static ByteBuffer direct(List<Object> keys) {
        byte[] bytes = joined(keys);
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length + 3);
        buffer.position(3);
        buffer.put(bytes);
        return buffer.position(3);
    }

    private static final class Case {
        final Kind kind;
        final List<Object> keys;
        final String type;

        Case(Kind kind, List<Object> keys, String type) {
            this.kind = kind;
            this.keys = keys;
            this.type = type;
        }
    }

    private static Map<String, Case> cases() {
        Map<String, Case> cases = new LinkedHashMap<>();
        cases.put("list of String", new Case(ITERABLE, texts(), "text"));
        cases.put("list of byte[]", new Case(ITERABLE, binaries(), "hex"));
        cases.put("list of Long", new Case(ITERABLE, longs(), "i64"));
        cases.put("list of Double", new Case(ITERABLE, doubles(), "f64"));
        cases.put("list of all kinds", new Case(ITERABLE, mixed(), null));
        cases.put("no collection", new Case(PLAIN, texts(), "text"));
        cases.put("String[]", new Case(STRINGS, texts(), "text"));
        cases.put("long[]", new Case(LONGS, longs(), "i64"));
        cases.put("double[]", new Case(DOUBLES, doubles(), "f64"));
        cases.put("byte[] with offsets", new Case(BYTES, binaries(), "hex"));
        cases.put("ByteBuffer with offsets", new Case(BUFFER, binaries(), "hex"));
        cases.put("direct ByteBuffer with offsets", new Case(DIRECT, binaries(), "hex"));
        return cases;
    }

    static void testABatchIsOneByOneIsTheTool() throws Exception {
        for (Map.Entry<String, Case> one : cases().entrySet()) alike(one.getKey(), one.getValue());
    }

    private static void alike(String name, Case one) throws Exception {
        List<Object> keys = one.keys;
        List<Object> half = keys.subList(0, COUNT / 2);
        try (BloomFilter single = small().build(); BloomFilter many = small().build();
                BloomFilter counted = small().build()) {
            boolean[] added = new boolean[half.size()];
            long sum = 0;
            for (int i = 0; i < added.length; i++) {
                added[i] = single.add(half.get(i));
                if (added[i]) sum++;
            }
            Tap.same(one.kind.addEach(many, half), added, name);
            Tap.same(one.kind.addAll(counted, half), sum, name);
            Tap.same(many.toBytes(), single.toBytes(), name);
            Tap.same(counted.toBytes(), single.toBytes(), name);

            boolean[] found = new boolean[COUNT];
            int passed = 0;
            for (int i = 0; i < COUNT; i++) {
                found[i] = single.contains(keys.get(i));
                Tap.check(i >= half.size() || found[i], name);
                if (i >= half.size() && found[i]) passed++;
            }
            Tap.check(passed > 0 && passed < COUNT / 2, name + ": it proves little");
            Tap.same(one.kind.containsEach(single, keys), found, name);
            if (one.type != null) Tap.same(tool(single, keys, one.type), found, name);
            Tap.check(one.kind.any(single, keys) && !one.kind.all(single, keys), name);
            Tap.check(one.kind.all(single, half), name);
            List<Object> absent = new ArrayList<>();
            for (int i = 0; i < COUNT; i++) if (!found[i]) absent.add(keys.get(i));
            Tap.check(!one.kind.any(single, absent), name);
            Tap.check(!one.kind.any(single, List.of()) && one.kind.all(single, List.of()), name);
        }
        try (BloomFilter counting = small().scheme(Scheme.COUNTING).build()) {
            one.kind.addAll(counting, keys.subList(0, 50));
            byte[] before = counting.toBytes();
            one.kind.addAll(counting, keys.subList(50, 100));
            for (boolean in : one.kind.removeEach(counting, keys.subList(50, 100)))
                Tap.check(in, name);
            Tap.same(counting.toBytes(), before, name);
        }
    }

    /** Returns, for each key, whether the petal command finds it. */
    private static boolean[] tool(BloomFilter filter, List<Object> keys, String type)
            throws Exception {
        Path folder = Files.createTempDirectory("batch");
        filter.save(folder.resolve("asked.petal"));
        Path lines = folder.resolve("keys");
        try (OutputStream out = new java.io.BufferedOutputStream(Files.newOutputStream(lines))) {
            for (Object key : keys) out.write((line(key, type) + "\n").getBytes(UTF_8));
        }
        Process process = new ProcessBuilder("petal", "check", "-n", "--key-type", type,
                folder.resolve("asked.petal").toString()).redirectInput(lines.toFile())
                .redirectError(new File("/dev/null")).start();
        boolean[] found = new boolean[keys.size()];
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        said.lines().forEach(line ->
                found[Integer.parseInt(line.substring(0, line.indexOf(':'))) - 1] = true);
        Tap.check(process.waitFor() <= 1, "petal check: " + process.exitValue());
        return found;
    }

    private static String line(Object key, String type) {
        if (!type.equals("hex")) return key.toString();
        StringBuilder digits = new StringBuilder();
        for (byte one : (byte[]) key) digits.append(String.format("%02x", one));
        return digits.toString();
    }

    static void testTextThatIsNoneIsRefusedOneByOneAndInBatches() {
        for (String wrong : new String[] {"\ud800", "a\udc00?", "é\ud83d", "?\ude00\ud83d",
            "x".repeat(500) + "\ud800"}) {
            try (BloomFilter filter = BloomFilter.create(10_000, 0.01)) {
                byte[] empty = filter.toBytes();
                Tap.raises(IllegalArgumentException.class, () -> filter.add(wrong), wrong);
                Tap.raises(IllegalArgumentException.class, () -> filter.contains(wrong), wrong);
                for (List<String> batch : List.of(List.of(wrong), List.of(wrong, "?a", "b?"))) {
                    Tap.raises(IllegalArgumentException.class, () -> filter.addAll(batch), wrong);
                    Tap.raises(IllegalArgumentException.class, () -> filter.containsEach(batch),
                            wrong);
                }
                Tap.same(filter.toBytes(), empty, "nothing was added");
                filter.addAll(List.of("?", "??", "a?é", new byte[] {'?'}));
                Tap.check(filter.contains("??"), "question marks are text");
            }
        }
    }

    /**
     * If a key is rejected, the exception contains its index, and all keys before it have been
     * added.
     */
    static void testAllKeysBeforeOneThatIsRefusedAreIn() {
        for (int at : new int[] {0, 1, 3, 500, 1024, 8999}) {
            for (Object wrong : new Object[] {null, new java.util.Date(0), "a\ud800?"}) {
                List<Object> keys = new ArrayList<>(texts());
                keys.removeIf(""::equals); // one of the schemes rejects an empty key
                keys.subList(at < 4 ? 4 : 9000, keys.size()).clear();
                keys.set(at, wrong);
                refusedAt(at, keys, keys);
                refusedAt(at, keys, () -> keys.iterator());
            }
        }
        try (BloomFilter filter = small().build()) {
            for (Object wrong : new Object[] {'c', true, new int[1], new Object()})
                Tap.raises(IllegalArgumentException.class, () -> filter.contains(wrong), wrong);
        }
        try (BloomFilter narrow = small().keyType(KeyType.I32).build()) {
            long[] keys = VectorsTest.longs(5000);
            keys[4500] = 1L << 31;
            PetalException error =
                    Tap.raises(PetalException.class, () -> narrow.addAll(keys), "wide");
            Tap.same(error.offset(), 4500L, "index");
            Tap.check(narrow.containsAll(Arrays.copyOf(keys, 4500)), "the keys before");
        }
    }

    private static void refusedAt(int at, List<Object> keys, Iterable<Object> batch) {
        for (String scheme : new String[] {"petal", "datasketches"}) {
            Builder builder = scheme.equals("petal") ? small()
                    : BloomFilter.builder().capacity(COUNT).rate(0.001).format(scheme);
            try (BloomFilter filter = builder.build(); BloomFilter same = filter.emptyLike()) {
                Object wrong = keys.get(at);
                RuntimeException error = Tap.raises(RuntimeException.class,
                        () -> filter.addAll(batch), wrong);
                if (wrong == null) {
                    Tap.same(error.getMessage(), "key " + at + " is null", "message");
                    Tap.same(error.getClass(), NullPointerException.class, "class");
                } else {
                    Tap.same(((PetalException) error).offset(), (long) at, "index");
                    Tap.check(error.getMessage().startsWith("key " + at + ": "), error);
                }
                for (Object key : keys.subList(0, at)) same.add(key);
                Tap.same(filter.toBytes(), same.toBytes(), "the keys before " + at);
                Tap.same(Tap.raises(RuntimeException.class, () -> filter.containsEach(batch),
                        wrong).getMessage(), error.getMessage(), "containsEach");
            }
        }
    }

    static void testAllKeysBeforeAnIteratorThrowsAreIn() {
        List<Object> keys = texts().subList(0, 3000);
        Iterable<Object> breaking = () -> keys.stream().map(key -> {
            if (key.equals(keys.get(2505))) throw new IllegalStateException("broken");
            return key;
        }).iterator();
        try (BloomFilter filter = small().build(); BloomFilter same = small().build()) {
            Tap.raises(IllegalStateException.class, () -> filter.addAll(breaking), "broken");
            Tap.check(filter.containsAll(keys.subList(0, 2505)), "the keys before");
            for (Object key : keys.subList(0, 2505)) same.add(key);
            Tap.same(filter.toBytes(), same.toBytes(), "and no other");
        }
    }

    static void testBatchesOfEverySmallSizeAreOneByOne() {
        List<Object> keys = mixed();
        for (int size = 0; size <= 12; size++) {
            List<Object> few = keys.subList(100, 100 + size);
            long[] numbers = Arrays.copyOf(VectorsTest.longs(12), size);
            for (Scheme scheme : new Scheme[] {Scheme.BLOCKED, Scheme.COUNTING}) {
                try (BloomFilter one = small().scheme(scheme).build();
                        BloomFilter batch = small().scheme(scheme).build()) {
                    boolean[] added = new boolean[size];
                    for (int i = 0; i < size; i++) added[i] = one.add(few.get(i));
                    Tap.same(batch.addEach(few), added, size);
                    for (int i = 0; i < size; i++) added[i] = one.add(numbers[i]);
                    Tap.same(batch.addEach(numbers), added, size);
                    Tap.same(batch.toBytes(), one.toBytes(), size);
                    Tap.check(batch.containsAll(few) && batch.containsAll(numbers), size);
                    Tap.same(batch.containsAny(few) && batch.containsAny(numbers), size > 0, size);
                    long[] more = Arrays.copyOf(numbers, size + 1);
                    more[size] = -5;
                    Tap.check(!batch.containsAll(more), size);
                    if (scheme == Scheme.COUNTING) {
                        batch.removeEach(few);
                        for (boolean removed : batch.removeEach(numbers)) Tap.check(removed, size);
                        Tap.same(batch.stats().bitsSet(), 0L, size);
                    }
                }
            }
        }
    }

    static void testCollectionsThatLieAboutTheirSizeAreRead() {
        for (int size : new int[] {-1, 0, 1, 1000, Integer.MAX_VALUE}) {
            List<Object> keys = texts().subList(10, 40);
            java.util.AbstractCollection<Object> lying = new java.util.AbstractCollection<>() {
                @Override
                public java.util.Iterator<Object> iterator() {
                    return keys.iterator();
                }

                @Override
                public int size() {
                    return size;
                }
            };
            try (BloomFilter filter = BloomFilter.create(1000, 1e-6)) {
                if (size == 1) {
                    Tap.raises(java.util.ConcurrentModificationException.class,
                            () -> filter.addEach(lying), "one and more");
                } else {
                    Tap.same(filter.addEach(lying).length, 30, "answers");
                    Tap.check(filter.containsAll(keys), "all");
                }
            }
        }
    }

    static void testOffsetsThatAreWrongAreRefused() {
        try (BloomFilter filter = small().build()) {
            byte[] data = new byte[10];
            for (int[] wrong : new int[][] {{5, 3}, {0, 11}, {-1, 3}, {11, 12}}) {
                Tap.raises(IndexOutOfBoundsException.class, () -> filter.addAll(data, wrong),
                        Arrays.toString(wrong));
                Tap.raises(IndexOutOfBoundsException.class,
                        () -> filter.containsEach(ByteBuffer.allocateDirect(10), wrong), "direct");
            }
            Tap.raises(IllegalArgumentException.class, () -> filter.addAll(data, new int[0]), "");
            Tap.same(filter.addAll(data, new int[] {3}), 0L, "no key");
            Tap.same(filter.addAll(new byte[0], new int[] {0, 0, 0}), 1L, "two empty keys");
            Tap.check(filter.contains(""), "the empty key");
        }
    }

    static void testAFullFilterSaysHowFarItCame() {
        for (boolean asLongs : new boolean[] {true, false}) {
            try (BloomFilter filter =
                    BloomFilter.builder().capacity(5000).refuseOverfull().build()) {
                long[] keys = VectorsTest.longs(100_000);
                PetalException error = Tap.raises(PetalException.class, () -> {
                    if (asLongs) filter.addAll(keys);
                    else filter.addAll(Arrays.stream(keys).boxed().collect(Collectors.toList()));
                }, "full");
                Tap.same(error.status(), "full", "status");
                int at = (int) error.offset();
                Tap.check(at >= 5000 && at < 10_000, at);
                Tap.check(filter.containsAll(Arrays.copyOf(keys, at)), "the keys before");
                error = Tap.raises(PetalException.class, () -> {
                    for (int i = 0; i < 100; i++) filter.add("certainly not in " + i);
                }, "full");
                Tap.same(error.status(), "full", "status");
            }
        }
    }

    static void testAFullFilterNamesTheIndexInABatchOfFew() {
        for (boolean asLongs : new boolean[] {true, false}) {
            try (BloomFilter filter =
                    BloomFilter.builder().capacity(100).refuseOverfull().build()) {
                PetalException error = Tap.raises(PetalException.class, () -> {
                    for (long key = 0;; key += 7) {
                        long[] few = {key, key + 1, key + 2, key + 3, key + 4, key + 5, key + 6};
                        if (asLongs) filter.addAll(few);
                        else filter.addAll(Arrays.stream(few).boxed().collect(Collectors.toList()));
                    }
                }, "full");
                Tap.same(error.status(), "full", "status");
                Tap.same(error.offset(), filter.info().items() % 7, "the keys before are in");
                Tap.check(error.offset() > 0, "it proves nothing");
            }
        }
    }

    static void testKeyTypesOfTheFileDecideWhatAKeyIs() throws IOException {
        try (BloomFilter text = BloomFilter.builder().capacity(10).keyType(KeyType.TEXT).build()) {
            for (Tap.Call wrong : new Tap.Call[] {() -> text.add(1), () -> text.contains(0.5),
                () -> text.addAll(new long[] {1}), () -> text.containsEach(new double[] {1}),
                () -> text.addAll(List.of(1)), () -> text.test(5L)}) {
                Throwable error = Tap.raises(IllegalArgumentException.class, wrong, "text");
                Tap.check(error.getMessage().contains("the filter has text keys"), error);
            }
            text.addAll(List.of("a", "b".getBytes(UTF_8)));
            Tap.check(text.contains("b") && text.contains("a".getBytes(UTF_8)), "text");
        }
        try (BloomFilter narrow =
                BloomFilter.builder().capacity(10).keyType(KeyType.I32).build()) {
            narrow.addAll(new long[] {1, -1});
            narrow.add((short) 7);
            Tap.check(narrow.contains(VectorsTest.hex("01000000")) && narrow.contains(-1L)
                    && narrow.contains(VectorsTest.hex("07000000")), "4 bytes");
            Tap.raises(IllegalArgumentException.class, () -> narrow.add(1L << 31), "wide");
            Tap.raises(IllegalArgumentException.class,
                    () -> narrow.containsAny(new long[] {1L << 31}), "wide");
            try (BloomFilter again = BloomFilter.fromBytes(narrow.toBytes())) {
                Tap.same(again.keyType(), KeyType.I32, "recorded");
            }
            Tap.raises(IllegalArgumentException.class, () -> BloomFilter.fromBytes(
                    narrow.toBytes(), new petal.OpenOptions().keyType(KeyType.TEXT)), "other");
        }
        try (BloomFilter wide =
                BloomFilter.builder().capacity(10).keyType(KeyType.UTF16LE).build()) {
            wide.add("é😀");
            wide.addAll(List.of("\ud800"));
            byte[] units = "é😀".getBytes(java.nio.charset.StandardCharsets.UTF_16LE);
            Tap.check(wide.contains(units) && wide.containsAll(List.of("é😀", "\ud800")), "wide");
        }
    }

    static void testEmptyKeysAreSkippedAndSaidWhereTheSchemeTakesNone() {
        List<String> said = new ArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                said.add(record.getLevel() + " " + record.getMessage().replaceAll(".*: ", ""));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("petal");
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
        addEmptyKeys();
        logger.setUseParentHandlers(true);
        logger.removeHandler(handler);
        String four = "WARNING 4";
        Tap.same(said, List.of(four, four, four, four, "WARNING 1", "WARNING 1"), "warnings");
    }

    private static void addEmptyKeys() {
        List<Object> keys = List.of("", "a", "", "", "b", "");
        boolean[] expected = {false, true, false, false, true, false};
        try (BloomFilter filter =
                BloomFilter.builder().capacity(100).rate(0.01).format("datasketches").build()) {
            Tap.check(!filter.info().can("empty-key"), "it takes them");
            Tap.same(filter.addEach(keys), expected, "list");
            filter.clear();
            Tap.same(filter.addEach("ab".getBytes(UTF_8), new int[] {0, 0, 1, 1, 1, 2, 2}),
                    expected, "bytes");
            filter.clear();
            ByteBuffer direct = ByteBuffer.allocateDirect(2).put("ab".getBytes(UTF_8)).flip();
            Tap.same(filter.addEach(direct, new int[] {0, 0, 1, 1, 1, 2, 2}), expected, "direct");
            Tap.same(filter.addAll(keys), 0L, "again");
            Tap.check(!filter.add("") && !filter.add(new byte[0]), "one");
            Tap.check(filter.containsAll(List.of("a", "b")), "the others");
        }
    }

    static void testLargeKeysAreKeys() {
        byte[] large = new byte[3_000_000];
        new Random(5).nextBytes(large);
        byte[] other = large.clone();
        other[2_999_999]++;
        try (BloomFilter filter = BloomFilter.create(1000, 1e-6)) {
            Tap.check(filter.addAll(List.of("a", large, "b")) == 3, "new");
            Tap.check(filter.contains(large) && !filter.contains(other), "one by one");
            Tap.same(filter.containsEach(List.of(other, large)), new boolean[] {false, true}, "");
            ByteBuffer direct = ByteBuffer.allocateDirect(large.length).put(large).flip();
            Tap.check(filter.contains(direct) && direct.remaining() == large.length, "direct");
            Tap.check(filter.contains(ByteBuffer.wrap(large)), "heap");
            Tap.check(filter.containsAll(large, new int[] {0, large.length}), "offsets");
        }
    }
}
