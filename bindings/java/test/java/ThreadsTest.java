import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import petal.BloomFilter;
import petal.Mode;
import petal.OpenOptions;

/**
 * Tests that many threads can query, change, save and close one filter concurrently, with correct
 * answers, no lost keys and no crashes.
 */
final class ThreadsTest {
    /** Runs all calls concurrently, each in its own thread. Returns the exceptions that they
     * threw. */
    private static List<Throwable> runAll(Tap.Call... calls) throws Exception {
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        CyclicBarrier ready = new CyclicBarrier(calls.length);
        List<Thread> threads = new ArrayList<>();
        for (Tap.Call call : calls) {
            Thread thread = new Thread(() -> {
                try {
                    ready.await();
                    call.run();
                } catch (Throwable failure) {
                    failures.add(failure);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join(300_000);
            Tap.check(!thread.isAlive(), "it hangs");
        }
        return failures;
    }

    static void testManyThreadsQueryOneFilter() throws Exception {
        BloomFilter f = BloomFilter.create(100_000, 0.01);
        long[] keys = VectorsTest.longs(100_000);
        f.addAll(keys);
        List<String> absent = Arrays.stream(keys).limit(20_000).mapToObj(i -> "absent " + i)
                .collect(Collectors.toList());
        boolean[] expected = f.containsEach(absent);
        Tap.Call ask = () -> {
            for (int round = 0; round < 5; round++) {
                Tap.check(f.containsAll(keys), "keys");
                Tap.same(f.containsEach(absent), expected, "absent");
                for (int i = 0; i < 100_000; i += 1000) Tap.check(f.contains(i), i);
                f.stats();
                f.copy().close();
                f.toBytes();
            }
        };
        Tap.same(runAll(ask, ask, ask, ask), List.of(), "failures");
    }

    static void testAddingFromManyThreadsLosesNoKey() throws Exception {
        int each = 50_000;
        try (BloomFilter f = BloomFilter.create(8 * each, 0.01);
                BloomFilter same = BloomFilter.create(8 * each, 0.01)) {
            Tap.Call[] calls = new Tap.Call[8];
            for (int i = 0; i < 8; i++) {
                int number = i;
                long[] part = Arrays.stream(VectorsTest.longs(each)).map(k -> k + number * each)
                        .toArray();
                calls[i] = () -> {
                    if (number % 3 == 0) f.addAll(part);
                    else if (number % 3 == 1)
                        f.addAll(Arrays.stream(part).boxed().collect(Collectors.toList()));
                    else for (long key : part) f.add(key);
                };
            }
            Tap.same(runAll(calls), List.of(), "failures");
            same.addAll(VectorsTest.longs(8 * each));
            Tap.same(f.contentId(), same.contentId(), "the same bits");
            Tap.same(f.info().items(), 8L * each, "items");
        }
    }

    static void testChangesAndQueriesWaitForEachOther() throws Exception {
        try (BloomFilter f = BloomFilter.create(200_000, 0.01);
                BloomFilter other = BloomFilter.create(200_000, 0.01)) {
            f.addAll(VectorsTest.longs(1000));
            long[] keys = VectorsTest.longs(50_000);
            Tap.Call ask = () -> {
                for (int i = 0; i < 50; i++) {
                    Tap.check(f.containsAll(Arrays.copyOf(keys, 1000)), "keys");
                    for (long key = 0; key < 1000; key++) Tap.check(f.contains(key), key);
                }
            };
            Tap.Call combine = () -> {
                for (int i = 0; i < 50; i++) f.merge(other);
            };
            Tap.Call back = () -> {
                for (int i = 0; i < 50; i++) other.merge(f);
            };
            Tap.Call compare = () -> {
                for (int i = 0; i < 20; i++) {
                    other.compare(f);
                    f.compare(other);
                }
            };
            Tap.Call save = () -> {
                for (int i = 0; i < 20; i++) {
                    BloomFilter.fromBytes(f.toBytes()).close();
                    f.write(new ByteArrayOutputStream());
                }
            };
            Tap.Call add = () -> f.addAll(keys);
            Tap.same(runAll(ask, combine, back, compare, save, add, add), List.of(), "failures");
            other.merge(f);
            Tap.check(other.containsAll(keys), "keys");
        }
    }

    static void testEightThreadsAndOneThatClosesEndInIllegalStates() throws Exception {
        long[] keys = VectorsTest.longs(50_000);
        List<String> texts = Arrays.stream(keys).limit(5000).mapToObj(i -> "key-" + i)
                .collect(Collectors.toList());
        Path path = Files.createTempDirectory("threads").resolve("a");
        for (int round = 0; round < 12; round++) {
            BloomFilter made = BloomFilter.create(100_000, 0.01);
            made.addAll(keys);
            made.addAll(texts);
            BloomFilter f = made;
            if (round % 3 == 1) {
                made.save(path);
                f = BloomFilter.open(path, Mode.WRITE);
            } else if (round % 3 == 2) {
                byte[] bytes = made.toBytes();
                ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
                f = BloomFilter.view(direct, new OpenOptions());
            }
            boolean canChange = round % 3 != 2;
            List<Throwable> failures = closing(f, keys, texts, canChange);
            Tap.same(failures.size(), 8, failures);
            for (Throwable failure : failures) {
                Tap.check(failure.getClass() == IllegalStateException.class, failure);
                Tap.same(failure.getMessage(), "the filter is closed", "message");
            }
        }
    }

    private static List<Throwable> closing(BloomFilter f, long[] keys, List<String> texts,
            boolean canChange) throws Exception {
        CountDownLatch working = new CountDownLatch(8);
        Tap.Call[] uses = {
            () -> Tap.check(f.containsAll(keys), "keys"),
            () -> Tap.check(f.containsAll(texts), "texts"),
            () -> Tap.check(f.contains(5), "one"),
            () -> Tap.check(f.contains("key-7"), "one text"),
            f::info,
            () -> f.copy().close(),
            canChange ? () -> f.add("key-7") : () -> f.contains(new byte[8]),
            canChange ? () -> f.addAll(keys) : f::stats,
        };
        Tap.Call[] calls = new Tap.Call[9];
        for (int i = 0; i < 8; i++) {
            Tap.Call use = uses[i];
            calls[i] = () -> {
                use.run();
                working.countDown();
                while (true) use.run();
            };
        }
        calls[8] = () -> {
            working.await();
            f.close();
        };
        return runAll(calls);
    }

    /** Native code must check its own copy of the offsets, since the array that Java checked may
     * have changed. */
    static void testOffsetsThatAnotherThreadChangesBreakNothing() throws Exception {
        int count = 8000;
        byte[] data = new byte[count];
        int[] offsets = new int[count + 1];
        for (int i = 0; i <= count; i++) offsets[i] = i;
        ByteBuffer direct = ByteBuffer.allocateDirect(count);
        try (BloomFilter f = BloomFilter.create(1000, 0.01)) {
            AtomicBoolean done = new AtomicBoolean();
            Tap.Call change = () -> {
                for (int i = 0; !done.get(); i++) {
                    offsets[5000] = i % 2 == 0 ? 5000 : i % 4 == 1 ? 1 << 30 : -(1 << 30);
                    java.lang.invoke.VarHandle.fullFence();
                }
            };
            Tap.Call use = () -> {
                try {
                    for (int i = 0; i < 3000; i++)
                        use(f, i % 2 == 0 ? direct : null, data, offsets);
                } finally {
                    done.set(true);
                }
            };
            Tap.same(runAll(change, use), List.of(), "failures");
        }
    }

    private static void use(BloomFilter f, ByteBuffer direct, byte[] data, int[] offsets) {
        try {
            if (direct != null) f.containsEach(direct, offsets);
            else f.addAll(data, offsets);
        } catch (IndexOutOfBoundsException | ConcurrentModificationException seen) {
            Tap.check(!(seen instanceof ArrayIndexOutOfBoundsException), seen);
        }
    }

    /** Whatever the buffer's position, the key ends at the limit, and no byte after the limit is
     * read. */
    static void testABufferThatAnotherThreadMovesEndsAtItsLimit() throws Exception {
        ByteBuffer direct = ByteBuffer.allocateDirect(64);
        for (int i = 0; i < 64; i++) direct.put(i, (byte) i);
        direct.limit(16);
        try (BloomFilter f = BloomFilter.create(1000, 1e-9)) {
            for (int from : new int[] {0, 8}) f.add(direct.position(from));
            AtomicBoolean done = new AtomicBoolean();
            Tap.Call move = () -> {
                for (int i = 0; !done.get(); i++) direct.position((i & 1) * 8);
            };
            Tap.Call use = () -> {
                try {
                    for (int i = 0; i < 2_000_000; i++) Tap.check(f.contains(direct), i);
                } finally {
                    done.set(true);
                }
            };
            Tap.same(runAll(move, use), List.of(), "failures");
        }
    }

    static void testAnInterruptIsKeptAndBreaksNothing() throws Exception {
        try (BloomFilter f = BloomFilter.create(1_000_000, 0.01)) {
            long[] keys = VectorsTest.longs(200_000);
            AtomicBoolean done = new AtomicBoolean();
            boolean[] kept = new boolean[1];
            Tap.Call ask = () -> {
                while (!done.get()) f.containsEach(keys);
            };
            Tap.Call change = () -> {
                Thread.currentThread().interrupt();
                for (int i = 0; i < 20; i++) f.addAll(keys);
                kept[0] = Thread.interrupted();
                done.set(true);
            };
            Tap.same(runAll(ask, change), List.of(), "failures");
            Tap.check(kept[0] && f.containsAll(keys), "interrupted");
        }
    }
}
