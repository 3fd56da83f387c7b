package petal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.InvalidObjectException;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectStreamException;
import java.io.OutputStream;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collector;

/**
 * A Bloom filter, which answers "is this key in the set?" with "certainly not" or "probably".
 *
 * <pre>{@code
 * try (BloomFilter seen = BloomFilter.create(1_000_000, 0.01)) {
 *     seen.add("https://example.com/");                  // true: it was certainly new
 *     seen.contains("https://example.com/");             // true: probably
 *     seen.contains("https://example.org/");             // false: certainly not
 *     seen.save(Path.of("seen.petal"));
 * }
 * }</pre>
 *
 * <p>Keys are strings (as UTF-8), byte[], the remaining bytes of a ByteBuffer, integers (as 64
 * bits) and floating-point numbers (as doubles). An int and a long of equal value are the same key;
 * 1, 1.0 and "1" are three different keys. Strings with unpaired surrogates are rejected.
 *
 * <p>Batches are an Iterable (of keys of any kind), String[], long[], double[], or bytes with
 * offsets: key i consists of the bytes from offsets[i] up to offsets[i + 1], so a batch has one
 * more offset than keys. In a ByteBuffer, offsets are relative to its position; a direct buffer is
 * not copied.
 *
 * <p>Any number of threads may use a filter: queries run concurrently, and a change waits for
 * exclusive access. {@link #close} waits for running calls; every later call throws
 * IllegalStateException.
 *
 * <p>Serialization writes the bytes that {@link #toBytes()} returns. A keyed filter is not
 * serializable: its secret is never written.
 */
public final class BloomFilter implements AutoCloseable, Predicate<Object>, Serializable {
    private static final long serialVersionUID = 1;
    private static final int EMFILE = 24;
    /** The maximum number of keys for which one call per key is faster than a batch. */
    private static final int FEW = 7;
    /** The maximum length of a Java array. */
    private static final int MOST_ANSWERS = Integer.MAX_VALUE - 8;
    private static final System.Logger LOG = System.getLogger("petal");

    /** Contains all state except the fields below, which a copy in another JVM lacks. The field is
     * not transient, for Kryo: see Core. */
    @SuppressWarnings("serial")
    private final Core core;

    private final transient Path path;
    private final transient boolean writable;

    private BloomFilter(Core core, Path path, boolean writable) {
        this.core = core;
        this.path = path;
        this.writable = writable;
    }

    private BloomFilter(long handle, KeyType type) {
        this(new Core(handle, null, type), null, false);
    }

    /** Creates an object without state, for serializers that set the fields later. */
    private BloomFilter() {
        this(null, null, false);
    }

    // ---- making ----

    /** Creates a filter for {@code capacity} distinct keys with this false-positive rate. */
    public static BloomFilter create(long capacity, double rate) {
        return builder().capacity(capacity).rate(rate).build();
    }

    /** Returns a builder, for setting any of a filter's parameters. */
    public static Builder builder() {
        return new Builder();
    }

    /** Like {@link #toFilter(Builder)}. */
    public static Collector<Object, ?, BloomFilter> toFilter(long capacity, double rate) {
        return toFilter(builder().capacity(capacity).rate(rate));
    }

    /**
     * Collects a stream into a filter: {@code stream.collect(BloomFilter.toFilter(1000, 0.01))}. A
     * parallel stream adds its keys to the same filter, in no particular order.
     */
    public static Collector<Object, ?, BloomFilter> toFilter(Builder builder) {
        return Collector.of(builder::build, BloomFilter::add, (one, other) -> {
            one.merge(other);
            other.close();
            return one;
        }, Collector.Characteristics.CONCURRENT, Collector.Characteristics.UNORDERED,
                Collector.Characteristics.IDENTITY_FINISH);
    }

    static BloomFilter made(long handle) {
        return new BloomFilter(handle, KeyType.NONE);
    }

    /** Opens a file written by Petal or another library, for queries. */
    public static BloomFilter open(Path path) throws IOException {
        return open(path, Mode.READ, new OpenOptions());
    }

    /** Like {@link #open(Path, Mode, OpenOptions)}. */
    public static BloomFilter open(Path path, Mode mode) throws IOException {
        return open(path, mode, new OpenOptions());
    }

    /**
     * Opens a file written by Petal or another library. With Mode.WRITE, {@link #sync} and {@link
     * #close} make changes durable.
     */
    public static BloomFilter open(Path path, Mode mode, OpenOptions options) throws IOException {
        int flags = mode.code | options.flags;
        long handle = opened(Texts.path(path), flags, options);
        Core core = new Core(handle, null, options.keyType);
        return new BloomFilter(core, path, mode == Mode.WRITE);
    }

    /** If the process has run out of file descriptors, unreachable filters may be holding some. */
    private static long opened(byte[] path, int flags, OpenOptions options) throws IOException {
        try {
            return Core.open(path, flags, options.secret, options.formatName(),
                    options.memoryLimit);
        } catch (PetalIOException failure) {
            if (failure.errno() != EMFILE) throw failure;
            NativeBytes.collect();
            return Core.open(path, flags, options.secret, options.formatName(),
                    options.memoryLimit);
        }
    }

    /** Like {@link #fromBytes(byte[], OpenOptions)}. */
    public static BloomFilter fromBytes(byte[] data) throws IOException {
        return fromBytes(data, new OpenOptions());
    }

    /** Loads a filter from the bytes of a file. The filter is a writable copy in memory. */
    public static BloomFilter fromBytes(byte[] data, OpenOptions options) throws IOException {
        Objects.requireNonNull(data, "data");
        long handle = Core.load(data, options.flags, options.secret, options.formatName(),
                options.memoryLimit);
        return new BloomFilter(handle, options.keyType);
    }

    /**
     * Like {@link #fromBytes}, but the filter is read-only and uses the buffer without copying it.
     * The buffer must be direct, such as a mapped file. Its bytes must not change or be freed until
     * {@link #close}. After the buffer's Arena is closed, calls throw the same exception as reading
     * the buffer. If another thread closes the Arena during a call, or if a mapped file is
     * truncated, the process crashes.
     */
    public static BloomFilter view(ByteBuffer data, OpenOptions options) throws IOException {
        if (!data.isDirect()) throw new IllegalArgumentException("the buffer must be direct");
        ByteBuffer bytes = data.slice(); // other threads can't move the slice's position
        touch(bytes, 0, bytes.limit());
        long handle = Core.view(bytes, 0, bytes.limit(), options.flags, options.secret,
                options.formatName(), options.memoryLimit);
        return new BloomFilter(new Core(handle, bytes, options.keyType), null, false);
    }

    /** Like {@link #read(InputStream, OpenOptions)}. */
    public static BloomFilter read(InputStream in) throws IOException {
        return read(in, new OpenOptions());
    }

    /**
     * Loads a filter from a stream, which is read to its end. A petal file's bits are read directly
     * into the filter, without an intermediate copy.
     */
    public static BloomFilter read(InputStream in, OpenOptions options) throws IOException {
        long reader = Core.readerCreate(options.flags, options.secret, options.formatName(),
                options.memoryLimit, options.expectedBytes);
        try {
            byte[] piece = new byte[1 << 16];
            for (int size = in.read(piece); size != -1; size = in.read(piece)) {
                if (size < 0 || size > piece.length)
                    throw new IOException("the stream says it has read " + size + " of "
                            + piece.length + " bytes");
                Core.readerFeed(reader, piece, size);
            }
            long handle = Core.readerFinish(reader);
            return new BloomFilter(handle, options.keyType);
        } finally {
            Core.readerFree(reader);
        }
    }

    // ---- one key ----

    /**
     * The text is checked inside the gate, because its bytes are in the cache by then.
     */
    private int query(int verb, byte[] key, String text) {
        int slot = core.enter();
        try {
            if (text != null) Texts.check(text, key);
            return core.one(verb, key);
        } finally {
            core.leave(slot);
        }
    }

    private int change(int verb, byte[] key, String text) {
        if (key.length == 0 && verb == Core.ADD && isEmptySkipped()) return 0;
        core.enterToChange();
        try {
            if (text != null) Texts.check(text, key);
            return core.one(verb, key);
        } finally {
            core.leaveAdded(1);
        }
    }

    private boolean isEmptySkipped() {
        boolean isSkipped = !core.emptyKey && !core.isClosed();
        if (isSkipped) warnOfEmpty(1);
        return isSkipped;
    }

    /** If a direct buffer's memory has been freed, this throws Java's own exception; native code
     * would crash. */
    private static void touch(ByteBuffer direct, int from, int end) {
        if (from < end) direct.get(from);
    }

    private static void warnOfEmpty(long count) {
        LOG.log(System.Logger.Level.WARNING,
                "empty keys skipped, since the scheme of the filter takes none: " + count);
    }

    /** Adds a key. Returns true if the key was certainly new, false if it was probably present. */
    public boolean add(String key) {
        if (!core.keys.plainText) return add(core.keys.ofText(key));
        return change(Core.ADD, key.getBytes(UTF_8), key) != 0;
    }

    /** Like {@link #add(String)}. */
    public boolean add(byte[] key) {
        return change(Core.ADD, key, null) != 0;
    }

    /** Like {@link #add(String)}. The key is the buffer's remaining bytes; its position doesn't
     * move. */
    public boolean add(ByteBuffer key) {
        int from = key.position(); // read only once, because another thread may move the position
        int end = key.limit();
        if (!key.isDirect() || from >= end) return add(Keys.ofBuffer(key));
        touch(key, from, end);
        core.enterToChange();
        try {
            return core.oneDirect(core.handle(), Core.ADD, key, from, end - from) != 0;
        } finally {
            core.leaveAdded(1);
        }
    }

    /** Like {@link #add(String)}. */
    public boolean add(long key) {
        if (!core.keys.plainLong) return add(core.keys.ofLong(key));
        return addLong(key);
    }

    private boolean addLong(long key) {
        core.enterToChange();
        try {
            return core.oneLong(core.handle(), Core.ADD, key) != 0;
        } finally {
            core.leaveAdded(1);
        }
    }

    /** Like {@link #add(String)}. */
    public boolean add(double key) {
        if (!core.keys.plainDouble) throw core.keys.wrong("doubles");
        return addLong(Keys.bits(key));
    }

    /** Like {@link #add(String)}, for a key whose type is determined at run time. */
    public boolean add(Object key) {
        return key instanceof String ? add((String) key) : add(core.keys.of(key));
    }

    /**
     * Returns false if the key was certainly never added, true if it probably was. Throws
     * UncheckedIOException if the file is mapped and a block with the key's bits is
     * damaged; see {@link OpenOptions#noVerify}.
     */
    public boolean contains(String key) {
        if (!core.keys.plainText) return contains(core.keys.ofText(key));
        return query(Core.CONTAINS, key.getBytes(UTF_8), key) != 0;
    }

    /** Like {@link #contains(String)}. */
    public boolean contains(byte[] key) {
        return query(Core.CONTAINS, key, null) != 0;
    }

    /** Like {@link #contains(String)}. The key is the buffer's remaining bytes; its position
     * doesn't move. */
    public boolean contains(ByteBuffer key) {
        int from = key.position();
        int end = key.limit();
        if (!key.isDirect() || from >= end) return contains(Keys.ofBuffer(key));
        touch(key, from, end);
        int slot = core.enter();
        try {
            return core.oneDirect(core.handle(), Core.CONTAINS, key, from, end - from) != 0;
        } finally {
            core.leave(slot);
        }
    }

    /** Like {@link #contains(String)}. */
    public boolean contains(long key) {
        return core.keys.plainLong ? containsLong(key) : contains(core.keys.ofLong(key));
    }

    private boolean containsLong(long key) {
        int slot = core.enter();
        try {
            return core.oneLong(core.handle(), Core.CONTAINS, key) != 0;
        } finally {
            core.leave(slot);
        }
    }

    /** Like {@link #contains(String)}. */
    public boolean contains(double key) {
        if (!core.keys.plainDouble) throw core.keys.wrong("doubles");
        return containsLong(Keys.bits(key));
    }

    /** Like {@link #contains(String)}, for a key whose type is determined at run time. */
    public boolean contains(Object key) {
        return key instanceof String ? contains((String) key) : contains(core.keys.of(key));
    }

    /** Like {@link #contains(Object)}. For example, {@code addresses.filter(seen)} keeps the
     * addresses that are probably present. */
    @Override
    public boolean test(Object key) {
        return contains(key);
    }

    /**
     * Removes a key from a counting filter. Returns false if the key was certainly absent. Remove
     * only keys that were added: removing any other key decrements counters that belong to keys in
     * the filter, so that these keys may be missed.
     */
    public boolean remove(Object key) {
        return change(Core.REMOVE, core.keys.of(key), null) != 0;
    }

    /** Returns a key's 64-bit hash, computed with this filter's hash function and its seed or
     * secret. */
    public long hashKey(Object key) {
        byte[] bytes = core.keys.of(key);
        int slot = core.enter();
        try {
            return core.hashKey(core.handle(), bytes);
        } finally {
            core.leave(slot);
        }
    }

    /** Returns the key's shard, from 0 to shards - 1. The number of shards must be below 2^32. A
     *  key has
     * the same shard in every language. */
    public static long shardOf(Object key, long shards) {
        if (shards < 1 || shards >= 1L << 32)
            throw new IllegalArgumentException("there are 1 to 2^32 - 1 shards, not " + shards);
        return Core.shardOf(new Keys(KeyType.NONE).of(key), shards);
    }

    /** Returns a view of this filter for keys that the funnel turns into bytes. */
    public <T> Funnelled<T> by(Funnel<? super T> funnel) {
        return new Funnelled<>(this, funnel);
    }

    // ---- batches ----

    /** Adds all keys, and returns the number of new keys. */
    public long addAll(Iterable<?> keys) {
        return batch(Core.ADD, keys, null);
    }

    /** Like {@link #addAll(Iterable)}. */
    public long addAll(String[] keys) {
        return batch(Core.ADD, Arrays.asList(keys), null);
    }

    /** Like {@link #addAll(Iterable)}. */
    public long addAll(long[] keys) {
        return batch(Core.ADD, keys, null);
    }

    /** Like {@link #addAll(Iterable)}. */
    public long addAll(double[] keys) {
        return batch(Core.ADD, keys, null);
    }

    /** Like {@link #addAll(Iterable)}. */
    public long addAll(byte[] data, int[] offsets) {
        return batch(Core.ADD, data, offsets, null);
    }

    /** Like {@link #addAll(Iterable)}. */
    public long addAll(ByteBuffer data, int[] offsets) {
        return batch(Core.ADD, data, offsets, null);
    }

    /** Adds all keys. Returns, for each key, whether it was certainly new. */
    public boolean[] addEach(Iterable<?> keys) {
        return each(Core.ADD, keys);
    }

    /** Like {@link #addEach(Iterable)}. */
    public boolean[] addEach(String[] keys) {
        return each(Core.ADD, Arrays.asList(keys));
    }

    /** Like {@link #addEach(Iterable)}. */
    public boolean[] addEach(long[] keys) {
        return each(Core.ADD, keys);
    }

    /** Like {@link #addEach(Iterable)}. */
    public boolean[] addEach(double[] keys) {
        return each(Core.ADD, keys);
    }

    /** Like {@link #addEach(Iterable)}. */
    public boolean[] addEach(byte[] data, int[] offsets) {
        return each(Core.ADD, data, offsets);
    }

    /** Like {@link #addEach(Iterable)}. */
    public boolean[] addEach(ByteBuffer data, int[] offsets) {
        return each(Core.ADD, data, offsets);
    }

    /** Returns, for each key, whether it is probably present. */
    public boolean[] containsEach(Iterable<?> keys) {
        return each(Core.CONTAINS, keys);
    }

    /** Like {@link #containsEach(Iterable)}. */
    public boolean[] containsEach(String[] keys) {
        return each(Core.CONTAINS, Arrays.asList(keys));
    }

    /** Like {@link #containsEach(Iterable)}. */
    public boolean[] containsEach(long[] keys) {
        return each(Core.CONTAINS, keys);
    }

    /** Like {@link #containsEach(Iterable)}. */
    public boolean[] containsEach(double[] keys) {
        return each(Core.CONTAINS, keys);
    }

    /** Like {@link #containsEach(Iterable)}. */
    public boolean[] containsEach(byte[] data, int[] offsets) {
        return each(Core.CONTAINS, data, offsets);
    }

    /** Like {@link #containsEach(Iterable)}. */
    public boolean[] containsEach(ByteBuffer data, int[] offsets) {
        return each(Core.CONTAINS, data, offsets);
    }

    /** Returns true if any key is probably present. Stops at the first such key. */
    public boolean containsAny(Iterable<?> keys) {
        return batch(Core.ANY, keys, null) != 0;
    }

    /** Like {@link #containsAny(Iterable)}. */
    public boolean containsAny(String[] keys) {
        return batch(Core.ANY, Arrays.asList(keys), null) != 0;
    }

    /** Like {@link #containsAny(Iterable)}. */
    public boolean containsAny(long[] keys) {
        return batch(Core.ANY, keys, null) != 0;
    }

    /** Like {@link #containsAny(Iterable)}. */
    public boolean containsAny(double[] keys) {
        return batch(Core.ANY, keys, null) != 0;
    }

    /** Like {@link #containsAny(Iterable)}. */
    public boolean containsAny(byte[] data, int[] offsets) {
        return batch(Core.ANY, data, offsets, null) != 0;
    }

    /** Like {@link #containsAny(Iterable)}. */
    public boolean containsAny(ByteBuffer data, int[] offsets) {
        return batch(Core.ANY, data, offsets, null) != 0;
    }

    /** Returns true if every key is probably present. Stops at the first key that is certainly
     * absent. */
    public boolean containsAll(Iterable<?> keys) {
        return batch(Core.ALL, keys, null) != 0;
    }

    /** Like {@link #containsAll(Iterable)}. */
    public boolean containsAll(String[] keys) {
        return batch(Core.ALL, Arrays.asList(keys), null) != 0;
    }

    /** Like {@link #containsAll(Iterable)}. */
    public boolean containsAll(long[] keys) {
        return batch(Core.ALL, keys, null) != 0;
    }

    /** Like {@link #containsAll(Iterable)}. */
    public boolean containsAll(double[] keys) {
        return batch(Core.ALL, keys, null) != 0;
    }

    /** Like {@link #containsAll(Iterable)}. */
    public boolean containsAll(byte[] data, int[] offsets) {
        return batch(Core.ALL, data, offsets, null) != 0;
    }

    /** Like {@link #containsAll(Iterable)}. */
    public boolean containsAll(ByteBuffer data, int[] offsets) {
        return batch(Core.ALL, data, offsets, null) != 0;
    }

    /** Removes all keys like {@link #remove}. Returns, for each key, whether it was present. */
    public boolean[] removeEach(Iterable<?> keys) {
        return each(Core.REMOVE, keys);
    }

    /** Like {@link #removeEach(Iterable)}. */
    public boolean[] removeEach(String[] keys) {
        return each(Core.REMOVE, Arrays.asList(keys));
    }

    /** Like {@link #removeEach(Iterable)}. */
    public boolean[] removeEach(long[] keys) {
        return each(Core.REMOVE, keys);
    }

    /** Like {@link #removeEach(Iterable)}. */
    public boolean[] removeEach(double[] keys) {
        return each(Core.REMOVE, keys);
    }

    /** Like {@link #removeEach(Iterable)}. */
    public boolean[] removeEach(byte[] data, int[] offsets) {
        return each(Core.REMOVE, data, offsets);
    }

    /** Like {@link #removeEach(Iterable)}. */
    public boolean[] removeEach(ByteBuffer data, int[] offsets) {
        return each(Core.REMOVE, data, offsets);
    }

    private static boolean isChange(int verb) {
        int what = verb & ~Core.UNSURE;
        return what == Core.ADD || what == Core.REMOVE;
    }

    private interface Work {
        long run(long handle);
    }

    private long inside(int verb, int count, Work work) {
        if (isChange(verb)) {
            core.enterToChange();
            try {
                return work.run(core.handle());
            } finally {
                core.leaveAdded(count);
            }
        }
        int slot = core.enter();
        try {
            return work.run(core.handle());
        } finally {
            core.leave(slot);
        }
    }

    private interface One {
        int run(long handle, int verb, int i);
    }

    /** Processes a small batch with one call per key. */
    private long few(int verb, int count, boolean[] answers, One one) {
        boolean isWhole = verb == Core.ANY || verb == Core.ALL;
        return inside(verb, count, handle -> {
            long positive = 0;
            for (int i = 0; i < count; i++) {
                boolean is = ofMany(handle, isWhole ? Core.CONTAINS : verb, i, one);
                if (isWhole && is == (verb == Core.ANY)) return is ? 1 : 0;
                if (answers != null) answers[i] = is;
                if (is) positive++;
            }
            // If the loop ends, ANY found no key, or ALL found every key.
            return isWhole ? verb - Core.ANY : positive;
        });
    }

    private static boolean ofMany(long handle, int verb, int i, One one) {
        try {
            return one.run(handle, verb, i) != 0;
        } catch (RuntimeException failure) {
            throw Failure.at(i, failure);
        }
    }

    private boolean[] each(int verb, long[] batch) {
        boolean[] answers = new boolean[batch.length];
        batch(verb, batch, answers);
        return answers;
    }

    private long batch(int verb, long[] batch, boolean[] answers) {
        if (!core.keys.plainLong) return joined(verb, boxed(batch), answers);
        return longs(verb, batch, answers);
    }

    private long longs(int verb, long[] batch, boolean[] answers) {
        int count = batch.length;
        if (count > 0 && count <= FEW)
            return few(verb, count, answers,
                    (handle, what, i) -> core.oneLong(handle, what, batch[i]));
        return inside(verb, count, handle -> core.longs(handle, verb, batch, count, answers));
    }

    private static Iterable<Long> boxed(long[] batch) {
        return () -> Arrays.stream(batch).iterator();
    }

    private boolean[] each(int verb, double[] batch) {
        boolean[] answers = new boolean[batch.length];
        batch(verb, batch, answers);
        return answers;
    }

    private long batch(int verb, double[] batch, boolean[] answers) {
        if (!core.keys.plainDouble) throw core.keys.wrong("doubles");
        long[] bits = new long[batch.length];
        for (int i = 0; i < bits.length; i++) bits[i] = Keys.bits(batch[i]);
        return longs(verb, bits, answers);
    }

    private boolean[] each(int verb, byte[] data, int[] offsets) {
        boolean[] answers = new boolean[keysOf(data.length, offsets)];
        batch(verb, data, offsets, answers);
        return answers;
    }

    private long batch(int verb, byte[] data, int[] offsets, boolean[] answers) {
        int count = keysOf(data.length, offsets);
        return inside(verb, count,
                handle -> bytes(handle, verb, data, offsets, count, 0, answers));
    }

    private boolean[] each(int verb, ByteBuffer data, int[] offsets) {
        ByteBuffer bytes = data.slice();
        boolean[] answers = new boolean[keysOf(bytes.limit(), offsets)];
        batch(verb, bytes, offsets, answers);
        return answers;
    }

    private long batch(int verb, ByteBuffer data, int[] offsets, boolean[] answers) {
        if (!data.isDirect() || verb == Core.ADD && !core.emptyKey)
            return batch(verb, Keys.ofBuffer(data), offsets, answers);
        ByteBuffer bytes = data.slice(); // other threads can't move the slice's position
        int size = bytes.limit();
        int count = keysOf(size, offsets);
        touch(bytes, 0, size);
        return inside(verb, count,
                handle -> core.direct(handle, verb, bytes, 0, size, offsets, 0, count, answers));
    }

    /**
     * Returns the number of keys. The offsets must not decrease, and must not exceed the size of
     * the data. Native code checks its own copy of the offsets again, since another thread may
     * change the array.
     */
    private static int keysOf(int size, int[] offsets) {
        if (offsets.length == 0)
            throw new IllegalArgumentException("there is one offset more than keys");
        int last = 0;
        for (int i = 0; i < offsets.length; i++) {
            if (offsets[i] < last || offsets[i] > size)
                throw new IndexOutOfBoundsException("offset " + i + " is " + offsets[i]
                        + ", after " + last + ", in " + size + " bytes");
            last = offsets[i];
        }
        return offsets.length - 1;
    }

    /** If the scheme rejects empty keys, this skips them, and their answers are false. */
    private long bytes(long handle, int verb, byte[] data, int[] offsets, int count, long base,
            boolean[] answers) {
        if (verb != Core.ADD || core.emptyKey)
            return core.bytes(handle, verb, data, offsets, 0, count, base, answers);
        long added = 0;
        long skipped = 0;
        int first = 0;
        for (int i = 0; i <= count; i++) {
            boolean isEmpty = i < count && offsets[i] == offsets[i + 1];
            if (i < count && !isEmpty) continue;
            if (i > first || count == 0)
                added += core.bytes(handle, verb, data, offsets, first, i - first, base, answers);
            if (isEmpty) skipped++;
            first = i + 1;
        }
        if (skipped > 0) warnOfEmpty(skipped);
        return added;
    }

    private boolean[] each(int verb, Iterable<?> batch) {
        boolean[][] answers = {new boolean[Math.min(sizeOf(batch), 1 << 20)]};
        long count = pieces(verb, batch, new long[1], answers);
        return count == answers[0].length ? answers[0] : Arrays.copyOf(answers[0], (int) count);
    }

    /** Returns the collection's size, as a hint, if it is known. */
    private static int sizeOf(Iterable<?> batch) {
        return batch instanceof Collection ? Math.max(0, ((Collection<?>) batch).size()) : 16;
    }

    private long batch(int verb, Iterable<?> batch, boolean[] none) {
        return joined(verb, batch, none);
    }

    /** Processes a batch; {@code answers} is null or has one element per key. */
    private long joined(int verb, Iterable<?> batch, boolean[] answers) {
        long[] positive = {verb == Core.ALL ? 1 : 0};
        pieces(verb, batch, positive, answers == null ? null : new boolean[][] {answers});
        return positive[0];
    }

    /** Returns the number of keys. If answers is not null, it grows as needed. */
    private long pieces(int verb, Iterable<?> batch, long[] positive, boolean[][] answers) {
        Iterator<?> rest = batch.iterator();
        int size = sizeOf(batch);
        if (size > 0 && size <= FEW && batch instanceof Collection) {
            int taken = few(verb, rest, size, positive, answers);
            if (!rest.hasNext() || isDecided(verb, positive[0])) return taken;
            throw new ConcurrentModificationException("the collection grew during the call");
        }
        Joiner joiner = new Joiner(core.keys);
        RuntimeException refused;
        do { // all keys before the rejected key have been processed
            refused = joiner.fill(rest);
            boolean isAny = joiner.count > 0 || joiner.before == 0;
            if (isAny && piece(verb, joiner, positive, answers)) return joiner.before;
            if (refused != null) throw refused;
        } while (rest.hasNext());
        return joiner.before;
    }

    private static boolean isDecided(int verb, long positive) {
        return verb == Core.ANY && positive != 0 || verb == Core.ALL && positive == 0;
    }

    private int few(int verb, Iterator<?> batch, int most, long[] positive, boolean[][] answers) {
        byte[][] bytes = new byte[most][];
        int count = 0;
        RuntimeException refused = null;
        try {
            for (; count < most && batch.hasNext(); count++)
                bytes[count] = Joiner.bytesOf(core.keys, batch.next(), count);
        } catch (RuntimeException failure) {
            refused = failure;
        }
        int skipped = 0;
        if (verb == Core.ADD && !core.emptyKey)
            for (int i = 0; i < count; i++) if (bytes[i].length == 0) skipped++;
        boolean skips = skipped > 0;
        positive[0] = few(verb, count, answers == null ? null : answers[0], (handle, what, i) ->
                skips && bytes[i].length == 0 ? 0 : core.one(what, bytes[i]));
        if (skips) warnOfEmpty(skipped);
        if (refused != null) throw refused;
        return count;
    }

    private long piece(int verb, Joiner joiner, int count, boolean[] answers) {
        return inside(verb, count, handle -> bytes(handle, verb, joiner.data, joiner.offsets,
                count, joiner.before, answers));
    }

    /** Returns true once the answer of ANY or ALL is known. */
    private boolean piece(int verb, Joiner joiner, long[] positive, boolean[][] answers) {
        boolean[] some = answers == null ? null : new boolean[joiner.count];
        int count = core.emptyKey ? joiner.count : joiner.texts();
        long found = piece(core.emptyKey ? verb | joiner.unsure() : verb, joiner, count, some);
        if (found < 0) {
            count = joiner.texts((int) -found);
            found = piece(verb, joiner, count, some);
        }
        if (count < joiner.count) throw joiner.notText(count);
        if (answers != null) answers[0] = appended(answers[0], joiner.before, some);
        joiner.clear();
        positive[0] = isChange(verb) || verb == Core.CONTAINS ? positive[0] + found : found;
        return isDecided(verb, found);
    }

    private static boolean[] appended(boolean[] answers, long before, boolean[] some) {
        long end = before + some.length;
        if (end > MOST_ANSWERS)
            throw new IllegalArgumentException("more keys than an array has answers: " + end
                    + " and more; use addAll(), or several batches");
        boolean[] room = end <= answers.length ? answers
                : Arrays.copyOf(answers, (int) Math.min(MOST_ANSWERS, 2 * end));
        System.arraycopy(some, 0, room, (int) before, some.length);
        return room;
    }

    // ---- whole filters ----

    private BloomFilter derived(int what) {
        int slot = core.enter();
        try {
            long handle = core.derive(core.handle(), what);
            return new BloomFilter(handle, core.keys.type);
        } finally {
            core.leave(slot);
        }
    }

    /** Returns a copy in memory. The copy is writable even if this filter is not. */
    public BloomFilter copy() {
        return derived(0);
    }

    /** Returns an empty filter with the same parameters, which can be merged with this one. */
    public BloomFilter emptyLike() {
        return derived(1);
    }

    /** Returns a classic filter with the keys of this counting filter, at a quarter of its size. */
    public BloomFilter dropCounts() {
        return derived(2);
    }

    /** Like {@link #fold(double, long)}, with this filter's rate and for the keys present. */
    public BloomFilter fold() {
        return folded(0, 0, 0);
    }

    /** Like {@link #fold(double, long)}, but for the keys that are present. */
    public BloomFilter fold(double rate) {
        return folded(rate, 0, 0);
    }

    /**
     * Creates a smaller filter with the same keys. The result is bit for bit the filter that would
     * have been created at that size. Its size is the smallest that keeps the rate for {@code
     * capacity} keys, or for the keys present if that is more. A rate of 0 means this filter's own
     * rate. Create this filter with {@link Builder#foldable}.
     */
    public BloomFilter fold(double rate, long capacity) {
        return folded(rate, capacity, 0);
    }

    /**
     * Like {@link #fold(double, long)}, but the result has exactly {@code bits} bits, which must be
     * a divisor of this filter's number of bits.
     */
    public BloomFilter foldToBits(long bits) {
        return folded(0, 0, bits);
    }

    private BloomFilter folded(double rate, long capacity, long bits) {
        if (capacity < 0) throw new IllegalArgumentException("capacity is negative");
        if (bits < 0) throw new IllegalArgumentException("bits is negative");
        int slot = core.enter();
        try {
            long handle = core.fold(core.handle(), rate, capacity, bits);
            return new BloomFilter(handle, core.keys.type);
        } finally {
            core.leave(slot);
        }
    }

    /** Adds the keys of another filter with the same parameters. */
    public void merge(BloomFilter other) {
        combine(other, true);
    }

    /** Keeps only the keys that are also in another filter with the same parameters. */
    public void intersect(BloomFilter other) {
        combine(other, false);
    }

    private void combine(BloomFilter other, boolean unite) {
        Core.enterTwo(core, other.core,
                () -> core.combine(core.handle(), other.core.handle(), unite));
    }

    /** Estimates how the keys of two filters overlap. */
    public Comparison compare(BloomFilter other) {
        long[] slots = new long[Slots.COMPARISON_COUNT];
        Core.queryTwo(core, other.core,
                () -> core.compare(core.handle(), other.core.handle(), slots));
        return new Comparison(slots);
    }

    /** Removes every key. */
    public void clear() {
        core.enterToChange();
        try {
            core.clear(core.handle());
        } finally {
            core.leaveChanged();
        }
    }

    /** Makes the filter permanently read-only. For a {@link Scheme#STATIC} filter, this call builds
     * the filter. */
    public void freeze() {
        core.enterToChange();
        try {
            core.freeze(core.handle());
        } finally {
            core.leaveChanged();
        }
    }

    /** Like {@link #advance(Instant)}, with the current time. */
    public void advance() {
        advance(Instant.now());
    }

    /** Sets a time window's clock. A time window forgets keys only when this is called. */
    public void advance(Instant now) {
        core.enterToChange();
        try {
            core.advance(core.handle(), now.toEpochMilli());
        } finally {
            core.leaveChanged();
        }
    }

    // ---- looking inside ----

    /** Describes the filter without reading its bits. */
    public Info info() {
        return core.describe(-1);
    }

    /** Describes one layer. Layers are numbered from 0. */
    public Info info(int layer) {
        return core.describe(Objects.checkIndex(layer, info().layers()));
    }

    /** Computes statistics from the bits. This reads every bit, which takes about a second for 5
     * GB. */
    public Stats stats() {
        long[] slots = new long[Slots.STATS_COUNT];
        int slot = core.enter();
        try {
            core.stats(core.handle(), -1, slots);
        } finally {
            core.leave(slot);
        }
        return new Stats(slots);
    }

    /** Returns true if the filter is known to contain more keys than its capacity. It should then
     * be replaced. */
    public boolean isOverfull() {
        int slot = core.enter();
        try {
            return core.isOverfull(core.handle());
        } finally {
            core.leave(slot);
        }
    }

    /** Returns a number that is equal for filters with equal parameters and bits. */
    public long contentId() {
        int slot = core.enter();
        try {
            return core.contentId(core.handle());
        } finally {
            core.leave(slot);
        }
    }

    /** Returns your own bytes stored in the file, or null if there are none. */
    public byte[] metadata() {
        int slot = core.enter();
        try {
            return core.metadata(core.handle());
        } finally {
            core.leave(slot);
        }
    }

    /** Replaces the metadata; null removes it. */
    public void setMetadata(byte[] metadata) {
        core.enterToChange();
        try {
            core.setMetadata(core.handle(), metadata);
        } finally {
            core.leaveChanged();
        }
    }

    /** Returns the key type recorded in the file or set when it was opened. */
    public KeyType keyType() {
        return core.keys.type;
    }

    /** Returns the path of the file that the filter was opened from, or null if there is none. */
    public Path path() {
        return path;
    }

    public boolean isClosed() {
        return core.isClosed();
    }

    @Override
    public String toString() {
        try {
            Info info = info();
            return "BloomFilter(" + info.scheme() + ", capacity " + info.capacity() + ", rate "
                    + info.targetRate() + ", " + info.items() + " items, " + info.bytes()
                    + " bytes)";
        } catch (IllegalStateException closed) {
            return "BloomFilter(closed)";
        }
    }

    // ---- files, streams, bytes ----

    private byte[] pathBytes() {
        return path == null ? null : Texts.path(path);
    }

    /** Writes a petal file. At any time, the path refers to either the old file or the complete new
     * file. */
    public void save(Path file, SaveOption... options) throws IOException {
        save(file, "petal", options);
    }

    /** Saves in another format, such as "guava", if that format can represent this filter. */
    public void save(Path file, String format, SaveOption... options) throws IOException {
        int flags = 0;
        for (SaveOption option : options) flags |= option.code;
        int slot = core.enter();
        try {
            core.save(core.handle(), Texts.path(file), Texts.name(format), flags);
        } finally {
            core.leave(slot);
        }
    }

    /** Makes the changes of a filter opened with Mode.WRITE durable. */
    public void sync() throws IOException {
        core.enterToChange();
        try {
            core.sync(core.handle(), pathBytes());
        } finally {
            core.leaveChanged();
        }
    }

    /** Checks a mapped file against its checksums. Returns false if it has none. */
    public boolean verify() throws IOException {
        int slot = core.enter();
        try {
            return core.verify(core.handle(), pathBytes());
        } finally {
            core.leave(slot);
        }
    }

    /** Returns the bytes that {@link #save} would write. */
    public byte[] toBytes() {
        return toBytes("petal");
    }

    /** Returns the filter's bytes in another format. For "guava" and "spark", these are the bytes
     * that the library's writeTo() would write. */
    public byte[] toBytes(String format) {
        int slot = core.enter();
        try {
            return core.toBytes(core.handle(), Texts.name(format));
        } finally {
            core.leave(slot);
        }
    }

    /** Writes the bytes of {@link #toBytes()} in pieces. */
    public void write(OutputStream out) throws IOException {
        write(out, "petal");
    }

    /** Writes the filter's bytes in another format. The stream's methods may query this filter, but
     * not change it. */
    public void write(OutputStream out, String format) throws IOException {
        core.writeTo(Objects.requireNonNull(out, "out"), Texts.name(format));
    }

    /**
     * Waits for other threads' calls, then releases the memory or the file. If the filter was
     * opened with Mode.WRITE, close() first makes its changes durable, and throws
     * UncheckedIOException if that fails.
     */
    @Override
    public void close() {
        core.close(writable, pathBytes());
    }

    // ---- formats ----

    /** Returns the library's version. */
    public static String version() {
        return Texts.string(Core.version());
    }

    /** Returns the formats that this build supports. */
    public static List<Format> formats() {
        List<Format> formats = new ArrayList<>();
        byte[][] texts = new byte[2][];
        for (int place = 0;; place++) {
            int abilities = Core.format(place, texts);
            if (abilities < 0) return formats;
            formats.add(new Format(Texts.string(texts[0]), Texts.string(texts[1]), abilities));
        }
    }

    /** Returns the names of the formats that match the header and the length of these bytes. */
    public static List<String> recognize(byte[] data) {
        String names = Texts.string(Core.recognize(Objects.requireNonNull(data, "data")));
        return names.isEmpty() ? List.of() : List.of(names.split(" "));
    }

    // ---- serialization ----

    private static final class Serialized implements Serializable {
        private static final long serialVersionUID = 1;
        private final byte[] bytes;
        private final KeyType keyType;

        Serialized(byte[] bytes, KeyType keyType) {
            this.bytes = bytes;
            this.keyType = keyType;
        }

        private Object readResolve() throws ObjectStreamException {
            try {
                return fromBytes(bytes, new OpenOptions().format("petal").keyType(keyType));
            } catch (IOException | IllegalArgumentException failure) {
                InvalidObjectException thrown = new InvalidObjectException(failure.getMessage());
                thrown.initCause(failure);
                throw thrown;
            }
        }
    }

    private Object writeReplace() throws ObjectStreamException {
        if (info().isKeyed())
            throw new NotSerializableException("petal.BloomFilter: a keyed filter");
        return new Serialized(toBytes(), core.keys.type);
    }

    private void readObject(ObjectInputStream in) throws ObjectStreamException {
        throw new InvalidObjectException("a filter is read as its bytes");
    }
}
