import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import petal.BloomFilter;
import petal.OpenOptions;

/**
 * Tests, with Java 22 and later, that using the memory of a closed Arena or of another thread's
 * Arena throws an exception and does not crash the process. Uses reflection, since the tests are
 * compiled for Java 11.
 */
final class ArenaTest {
    private static Object arena(String kind) throws Exception {
        return Class.forName("java.lang.foreign.Arena").getMethod(kind).invoke(null);
    }

    private static ByteBuffer allocate(Object arena, byte[] bytes) throws Exception {
        Method allocate = Class.forName("java.lang.foreign.SegmentAllocator")
                .getMethod("allocate", long.class);
        Object segment = allocate.invoke(arena, (long) Math.max(1, bytes.length));
        Method buffer = Class.forName("java.lang.foreign.MemorySegment").getMethod("asByteBuffer");
        return ((ByteBuffer) buffer.invoke(segment)).put(bytes).flip();
    }

    private static void close(Object arena) throws Exception {
        Class.forName("java.lang.foreign.Arena").getMethod("close").invoke(arena);
    }

    private static byte[] file() {
        try (BloomFilter filter = BloomFilter.create(1_000_000, 0.01)) {
            filter.add("a");
            return filter.toBytes();
        }
    }

    static void testAViewOfAClosedArenaIsAnIllegalState() throws Exception {
        for (String kind : new String[] {"ofConfined", "ofShared"}) {
            Object arena = arena(kind);
            BloomFilter view = BloomFilter.view(allocate(arena, file()), new OpenOptions());
            Tap.check(view.contains("a") && !view.contains("b"), kind);
            close(arena);
            List<Tap.Call> calls = new ArrayList<>(List.of(() -> view.contains("a"),
                    () -> view.contains(5), () -> view.containsEach(List.of("a", "b")),
                    () -> view.containsAll(new long[100]), view::stats, view::toBytes, view::copy,
                    view::contentId, view::verify, view::info, () -> view.compare(view),
                    () -> view.write(new java.io.ByteArrayOutputStream()), view::freeze));
            for (int i = 0; i < calls.size(); i++)
                Tap.raises(IllegalStateException.class, calls.get(i), kind + " " + i);
            view.close();
            Tap.check(view.isClosed(), kind);
        }
    }

    static void testAViewOfAnotherThreadsMemoryIsRefused() throws Exception {
        Object arena = arena("ofConfined");
        try (BloomFilter view = BloomFilter.view(allocate(arena, file()), new OpenOptions())) {
            Throwable[] thrown = new Throwable[1];
            Thread other = new Thread(() -> {
                try {
                    view.contains("a");
                } catch (Throwable failure) {
                    thrown[0] = failure;
                }
            });
            other.start();
            other.join();
            Tap.same(thrown[0].getClass().getName(), "java.lang.WrongThreadException", "thread");
        }
        close(arena);
    }

    static void testKeysInAClosedArenaAreAnIllegalState() throws Exception {
        Object arena = arena("ofShared");
        ByteBuffer keys = allocate(arena, new byte[1 << 20]);
        close(arena);
        int[] offsets = {0, 100, 1 << 20};
        try (BloomFilter filter = BloomFilter.create(10, 0.01)) {
            List<Tap.Call> calls = List.of(() -> filter.contains(keys), () -> filter.add(keys),
                    () -> filter.addAll(keys, offsets), () -> filter.containsEach(keys, offsets),
                    () -> BloomFilter.view(keys, new OpenOptions()),
                    () -> petal.ParquetFilter.list(keys));
            for (int i = 0; i < calls.size(); i++)
                Tap.raises(IllegalStateException.class, calls.get(i), i);
        }
    }
}
