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
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * A Bloom filter: is this key in the set? Certainly not, or probably.
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
 * <p>Keys are text (as UTF-8), byte[], the remaining bytes of a ByteBuffer, integers (as 64 bits)
 * and floating-point numbers (as doubles). An int and a long of the same value are the same key; 1,
 * 1.0 and "1" are different ones. Text with a surrogate that stands alone is refused.
 *
 * <p>Batches are an Iterable (of keys of any kinds), String[], long[], double[], or bytes with
 * offsets: key i is the bytes from offsets[i] up to offsets[i + 1], so there is one offset more
 * than keys. Those of a ByteBuffer count from its position; of a direct one nothing is copied.
 *
 * <p>Any number of threads may use a filter: queries run side by side, a change waits for those at
 * work and has the filter for itself. {@link #close} does so too, and every call after it throws
 * IllegalStateException.
 *
 * <p>Serialization writes what {@link #toBytes()} gives. A keyed filter is not serializable: its
 * secret is never written.
 */
public final class BloomFilter implements AutoCloseable, Predicate<Object>, Serializable {
    private static final long serialVersionUID = 1;
    private static final System.Logger LOG = System.getLogger("petal");

    private final transient Core core;
    private final transient Keys keys;
    /** The scheme takes the empty key. */
    private final transient boolean emptyKey;
    private final transient Path path;
    private final transient boolean writable;

    private BloomFilter(long handle, Object borrowed, KeyType type, Path path, boolean writable) {
        this.core = new Core(handle, borrowed);
        this.path = path;
        this.writable = writable;
        Info info = info();
        core.learn(info);
        this.keys = new Keys(chosen(info.keyType(), type));
        this.emptyKey = info.can("empty-key");
    }

    private KeyType chosen(KeyType recorded, KeyType asked) {
        if (recorded == KeyType.NONE) return asked;
        boolean bytes = recorded.compareTo(KeyType.HEX) >= 0 && asked.compareTo(KeyType.HEX) >= 0;
        if (asked == KeyType.NONE || asked == recorded || bytes) return recorded;
        core.close(false, null);
        throw new IllegalArgumentException("the filter has " + recorded + " keys, not " + asked);
    }

    // ---- making ----

    /** A filter for so many distinct keys, of which others pass at this rate. */
    public static BloomFilter create(long capacity, double rate) {
        return builder().capacity(capacity).rate(rate).build();
    }

    /** What a filter can be made of. */
    public static Builder builder() {
        return new Builder();
    }

    static BloomFilter made(long handle) {
        return new BloomFilter(handle, null, KeyType.NONE, null, false);
    }

    /** Opens a file of Petal or of another library, to be queried. */
    public static BloomFilter open(Path path) throws IOException {
        return open(path, Mode.READ, new OpenOptions());
    }

    /** As {@link #open(Path, Mode, OpenOptions)}. */
    public static BloomFilter open(Path path, Mode mode) throws IOException {
        return open(path, mode, new OpenOptions());
    }

    /**
     * Opens a file of Petal or of another library. For Mode.WRITE, {@link #sync} or {@link #close}
     * make changes durable.
     */
    public static BloomFilter open(Path path, Mode mode, OpenOptions options) throws IOException {
        int flags = mode.code | options.flags;
        long handle = Core.open(Texts.path(path), flags, options.secret, options.formatName(),
                options.memoryLimit);
        return new BloomFilter(handle, null, options.keyType, path, mode == Mode.WRITE);
    }

    /** As {@link #fromBytes(byte[], OpenOptions)}. */
    public static BloomFilter fromBytes(byte[] data) throws IOException {
        return fromBytes(data, new OpenOptions());
    }

    /** A filter from the bytes of a file: a copy, which can be changed. */
    public static BloomFilter fromBytes(byte[] data, OpenOptions options) throws IOException {
        Objects.requireNonNull(data, "data");
        long handle = Core.load(data, options.flags, options.secret, options.formatName(),
                options.memoryLimit);
        return new BloomFilter(handle, null, options.keyType, null, false);
    }

    /**
     * Like {@link #fromBytes}, but read-only and without a copy: of a direct buffer, such as a
     * mapped file. Its bytes must not change until {@link #close}.
     */
    public static BloomFilter view(ByteBuffer data, OpenOptions options) throws IOException {
        if (!data.isDirect()) throw new IllegalArgumentException("the buffer must be direct");
        long handle = Core.view(data, data.position(), data.remaining(), options.flags,
                options.secret, options.formatName(), options.memoryLimit);
        return new BloomFilter(handle, data, options.keyType, null, false);
    }

    /** As {@link #read(InputStream, OpenOptions)}. */
    public static BloomFilter read(InputStream in) throws IOException {
        return read(in, new OpenOptions());
    }

    /** A filter from a stream, read to its end: bits of petal files go straight into the filter. */
    public static BloomFilter read(InputStream in, OpenOptions options) throws IOException {
        long reader = Core.readerCreate(options.flags, options.secret, options.formatName(),
                options.memoryLimit, options.expectedBytes);
        try {
            byte[] piece = new byte[1 << 16];
            for (int size = in.read(piece); size >= 0; size = in.read(piece))
                Core.readerFeed(reader, piece, size);
            long handle = Core.readerFinish(reader);
            return new BloomFilter(handle, null, options.keyType, null, false);
        } finally {
            Core.readerFree(reader);
        }
    }

    // ---- one key ----

    /** Bytes of a text are checked inside: the lock has then waited until they are in the cache. */
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
            core.leaveChanged();
        }
    }

    private boolean isEmptySkipped() {
        if (!emptyKey && !core.isClosed()) warnOfEmpty(1);
        return !emptyKey && !core.isClosed();
    }

    private static void warnOfEmpty(long count) {
        LOG.log(System.Logger.Level.WARNING,
                "empty keys skipped, since the scheme of the filter takes none: " + count);
    }

    /** Adds a key. True: it was certainly new. False: it was probably there already. */
    public boolean add(String key) {
        if (!keys.plainText) return add(keys.ofText(key));
        return change(Core.ADD, key.getBytes(UTF_8), key) != 0;
    }

    /** As {@link #add(String)}. */
    public boolean add(byte[] key) {
        return change(Core.ADD, key, null) != 0;
    }

    /** As {@link #add(String)}: the bytes that remain; the position stays. */
    public boolean add(ByteBuffer key) {
        if (!key.isDirect() || !key.hasRemaining()) return add(Keys.ofBuffer(key));
        core.enterToChange();
        try {
            return core.oneDirect(core.handle(), Core.ADD, key, key.position(), key.remaining())
                    != 0;
        } finally {
            core.leaveChanged();
        }
    }

    /** As {@link #add(String)}. */
    public boolean add(long key) {
        if (!keys.plainLong) return add(keys.ofLong(key));
        return addLong(key);
    }

    private boolean addLong(long key) {
        core.enterToChange();
        try {
            return core.oneLong(core.handle(), Core.ADD, key) != 0;
        } finally {
            core.leaveChanged();
        }
    }

    /** As {@link #add(String)}. */
    public boolean add(double key) {
        if (!keys.plainDouble) throw keys.wrong("doubles");
        return addLong(Keys.bits(key));
    }

    /** As {@link #add(String)}: a key of any kind, told apart when the program runs. */
    public boolean add(Object key) {
        return key instanceof String ? add((String) key) : add(keys.of(key));
    }

    /** False: the key was certainly never added. True: it probably was. */
    public boolean contains(String key) {
        if (!keys.plainText) return contains(keys.ofText(key));
        return query(Core.CONTAINS, key.getBytes(UTF_8), key) != 0;
    }

    /** As {@link #contains(String)}. */
    public boolean contains(byte[] key) {
        return query(Core.CONTAINS, key, null) != 0;
    }

    /** As {@link #contains(String)}: the bytes that remain; the position stays. */
    public boolean contains(ByteBuffer key) {
        if (!key.isDirect()) return contains(Keys.ofBuffer(key));
        int slot = core.enter();
        try {
            return core.oneDirect(core.handle(), Core.CONTAINS, key, key.position(),
                    key.remaining()) != 0;
        } finally {
            core.leave(slot);
        }
    }

    /** As {@link #contains(String)}. */
    public boolean contains(long key) {
        return keys.plainLong ? containsLong(key) : contains(keys.ofLong(key));
    }

    private boolean containsLong(long key) {
        int slot = core.enter();
        try {
            return core.oneLong(core.handle(), Core.CONTAINS, key) != 0;
        } finally {
            core.leave(slot);
        }
    }

    /** As {@link #contains(String)}. */
    public boolean contains(double key) {
        if (!keys.plainDouble) throw keys.wrong("doubles");
        return containsLong(Keys.bits(key));
    }

    /** As {@link #contains(String)}: a key of any kind, told apart when the program runs. */
    public boolean contains(Object key) {
        return key instanceof String ? contains((String) key) : contains(keys.of(key));
    }

    /** {@link #contains(Object)}: {@code addresses.filter(seen)} keeps what is probably in. */
    @Override
    public boolean test(Object key) {
        return contains(key);
    }

    /**
     * Takes a key out of a counting filter. False: it was certainly not in. Remove only what was
     * added: other keys share its counters, and may then be missed.
     */
    public boolean remove(Object key) {
        return change(Core.REMOVE, keys.of(key), null) != 0;
    }

    /** The 64-bit hash of a key under this filter's hash and seed or secret. */
    public long hashKey(Object key) {
        byte[] bytes = keys.of(key);
        int slot = core.enter();
        try {
            return core.hashKey(core.handle(), bytes);
        } finally {
            core.leave(slot);
        }
    }

    /** Which of so many shards, below 2^32, a key is in, from 0: the same in every language. */
    public static long shardOf(Object key, long shards) {
        if (shards < 1 || shards >= 1L << 32)
            throw new IllegalArgumentException("there are 1 to 2^32 - 1 shards, not " + shards);
        return Core.shardOf(new Keys(KeyType.NONE).of(key), shards);
    }

    // ---- batches ----

    /** Adds all keys, and returns how many were new. */
    public long addAll(Iterable<?> keys) {
        return batch(Core.ADD, keys, null);
    }

    /** As {@link #addAll(Iterable)}. */
    public long addAll(String[] keys) {
        return batch(Core.ADD, Arrays.asList(keys), null);
    }

    /** As {@link #addAll(Iterable)}. */
    public long addAll(long[] keys) {
        return batch(Core.ADD, keys, null);
    }

    /** As {@link #addAll(Iterable)}. */
    public long addAll(double[] keys) {
        return batch(Core.ADD, keys, null);
    }

    /** As {@link #addAll(Iterable)}. */
    public long addAll(byte[] data, int[] offsets) {
        return batch(Core.ADD, data, offsets, null);
    }

    /** As {@link #addAll(Iterable)}. */
    public long addAll(ByteBuffer data, int[] offsets) {
        return batch(Core.ADD, data, offsets, null);
    }

    /** Adds all keys; for each, whether it was certainly new. */
    public boolean[] addEach(Iterable<?> keys) {
        return each(Core.ADD, keys);
    }

    /** As {@link #addEach(Iterable)}. */
    public boolean[] addEach(String[] keys) {
        return each(Core.ADD, Arrays.asList(keys));
    }

    /** As {@link #addEach(Iterable)}. */
    public boolean[] addEach(long[] keys) {
        return each(Core.ADD, keys);
    }

    /** As {@link #addEach(Iterable)}. */
    public boolean[] addEach(double[] keys) {
        return each(Core.ADD, keys);
    }

    /** As {@link #addEach(Iterable)}. */
    public boolean[] addEach(byte[] data, int[] offsets) {
        return each(Core.ADD, data, offsets);
    }

    /** As {@link #addEach(Iterable)}. */
    public boolean[] addEach(ByteBuffer data, int[] offsets) {
        return each(Core.ADD, data, offsets);
    }

    /** For each key, whether it is probably in. */
    public boolean[] containsEach(Iterable<?> keys) {
        return each(Core.CONTAINS, keys);
    }

    /** As {@link #containsEach(Iterable)}. */
    public boolean[] containsEach(String[] keys) {
        return each(Core.CONTAINS, Arrays.asList(keys));
    }

    /** As {@link #containsEach(Iterable)}. */
    public boolean[] containsEach(long[] keys) {
        return each(Core.CONTAINS, keys);
    }

    /** As {@link #containsEach(Iterable)}. */
    public boolean[] containsEach(double[] keys) {
        return each(Core.CONTAINS, keys);
    }

    /** As {@link #containsEach(Iterable)}. */
    public boolean[] containsEach(byte[] data, int[] offsets) {
        return each(Core.CONTAINS, data, offsets);
    }

    /** As {@link #containsEach(Iterable)}. */
    public boolean[] containsEach(ByteBuffer data, int[] offsets) {
        return each(Core.CONTAINS, data, offsets);
    }

    /** Whether any of the keys is probably in; ends as soon as it knows. */
    public boolean containsAny(Iterable<?> keys) {
        return batch(Core.ANY, keys, null) != 0;
    }

    /** As {@link #containsAny(Iterable)}. */
    public boolean containsAny(String[] keys) {
        return batch(Core.ANY, Arrays.asList(keys), null) != 0;
    }

    /** As {@link #containsAny(Iterable)}. */
    public boolean containsAny(long[] keys) {
        return batch(Core.ANY, keys, null) != 0;
    }

    /** As {@link #containsAny(Iterable)}. */
    public boolean containsAny(double[] keys) {
        return batch(Core.ANY, keys, null) != 0;
    }

    /** As {@link #containsAny(Iterable)}. */
    public boolean containsAny(byte[] data, int[] offsets) {
        return batch(Core.ANY, data, offsets, null) != 0;
    }

    /** As {@link #containsAny(Iterable)}. */
    public boolean containsAny(ByteBuffer data, int[] offsets) {
        return batch(Core.ANY, data, offsets, null) != 0;
    }

    /** Whether each of the keys is probably in; ends as soon as it knows. */
    public boolean containsAll(Iterable<?> keys) {
        return batch(Core.ALL, keys, null) != 0;
    }

    /** As {@link #containsAll(Iterable)}. */
    public boolean containsAll(String[] keys) {
        return batch(Core.ALL, Arrays.asList(keys), null) != 0;
    }

    /** As {@link #containsAll(Iterable)}. */
    public boolean containsAll(long[] keys) {
        return batch(Core.ALL, keys, null) != 0;
    }

    /** As {@link #containsAll(Iterable)}. */
    public boolean containsAll(double[] keys) {
        return batch(Core.ALL, keys, null) != 0;
    }

    /** As {@link #containsAll(Iterable)}. */
    public boolean containsAll(byte[] data, int[] offsets) {
        return batch(Core.ALL, data, offsets, null) != 0;
    }

    /** As {@link #containsAll(Iterable)}. */
    public boolean containsAll(ByteBuffer data, int[] offsets) {
        return batch(Core.ALL, data, offsets, null) != 0;
    }

    /** Takes all keys out, as {@link #remove}; for each, whether it was in. */
    public boolean[] removeEach(Iterable<?> keys) {
        return each(Core.REMOVE, keys);
    }

    /** As {@link #removeEach(Iterable)}. */
    public boolean[] removeEach(String[] keys) {
        return each(Core.REMOVE, Arrays.asList(keys));
    }

    /** As {@link #removeEach(Iterable)}. */
    public boolean[] removeEach(long[] keys) {
        return each(Core.REMOVE, keys);
    }

    /** As {@link #removeEach(Iterable)}. */
    public boolean[] removeEach(double[] keys) {
        return each(Core.REMOVE, keys);
    }

    /** As {@link #removeEach(Iterable)}. */
    public boolean[] removeEach(byte[] data, int[] offsets) {
        return each(Core.REMOVE, data, offsets);
    }

    /** As {@link #removeEach(Iterable)}. */
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

    private long inside(int verb, Work work) {
        if (isChange(verb)) {
            core.enterToChange();
            try {
                return work.run(core.handle());
            } finally {
                core.leaveChanged();
            }
        }
        int slot = core.enter();
        try {
            return work.run(core.handle());
        } finally {
            core.leave(slot);
        }
    }

    private boolean[] each(int verb, long[] batch) {
        boolean[] answers = new boolean[batch.length];
        batch(verb, batch, answers);
        return answers;
    }

    private long batch(int verb, long[] batch, boolean[] answers) {
        if (!keys.plainLong) return joined(verb, boxed(batch), answers);
        return inside(verb, handle -> core.longs(handle, verb, batch, batch.length, answers));
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
        if (!keys.plainDouble) throw keys.wrong("doubles");
        long[] bits = new long[batch.length];
        for (int i = 0; i < bits.length; i++) bits[i] = Keys.bits(batch[i]);
        return inside(verb, handle -> core.longs(handle, verb, bits, bits.length, answers));
    }

    private boolean[] each(int verb, byte[] data, int[] offsets) {
        boolean[] answers = new boolean[keysOf(data.length, offsets)];
        batch(verb, data, offsets, answers);
        return answers;
    }

    private long batch(int verb, byte[] data, int[] offsets, boolean[] answers) {
        int count = keysOf(data.length, offsets);
        return inside(verb, handle -> bytes(handle, verb, data, offsets, count, 0, answers));
    }

    private boolean[] each(int verb, ByteBuffer data, int[] offsets) {
        boolean[] answers = new boolean[keysOf(data.remaining(), offsets)];
        batch(verb, data, offsets, answers);
        return answers;
    }

    private long batch(int verb, ByteBuffer data, int[] offsets, boolean[] answers) {
        if (!data.isDirect() || verb == Core.ADD && !emptyKey)
            return batch(verb, Keys.ofBuffer(data), offsets, answers);
        int count = keysOf(data.remaining(), offsets);
        int from = data.position();
        return inside(verb,
                handle -> core.direct(handle, verb, data, from, offsets, 0, count, answers));
    }

    /** How many keys there are; the offsets ascend, and end in the data. */
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

    /** Empty keys that the scheme does not take are left out, and their answers are false. */
    private long bytes(long handle, int verb, byte[] data, int[] offsets, int count, long base,
            boolean[] answers) {
        if (verb != Core.ADD || emptyKey)
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
        int size = batch instanceof Collection ? ((Collection<?>) batch).size() : 16;
        boolean[][] answers = {new boolean[size]};
        long count = joined(verb, batch, answers);
        return count == answers[0].length ? answers[0] : Arrays.copyOf(answers[0], (int) count);
    }

    private long batch(int verb, Iterable<?> batch, boolean[] none) {
        return joined(verb, batch, none);
    }

    /** The answers of keys of which there is an array. */
    private long joined(int verb, Iterable<?> batch, boolean[] answers) {
        long[] positive = {verb == Core.ALL ? 1 : 0};
        pieces(verb, batch, positive, answers == null ? null : new boolean[][] {answers});
        return positive[0];
    }

    /** Answers grow with the keys, whose number comes back. */
    private long joined(int verb, Iterable<?> batch, boolean[][] answers) {
        return pieces(verb, batch, new long[1], answers);
    }

    private long pieces(int verb, Iterable<?> batch, long[] positive, boolean[][] answers) {
        Joiner joiner = new Joiner(keys);
        for (Object key : batch) {
            joiner.add(key);
            if (joiner.isFull() && piece(verb, joiner, positive, answers)) return joiner.before;
        }
        if (joiner.count > 0 || joiner.before == 0) piece(verb, joiner, positive, answers);
        return joiner.before;
    }

    private long piece(int verb, Joiner joiner, boolean[] answers) {
        return inside(verb, handle -> bytes(handle, verb, joiner.data, joiner.offsets,
                joiner.count, joiner.before, answers));
    }

    /** True: ANY or ALL is decided. */
    private boolean piece(int verb, Joiner joiner, long[] positive, boolean[][] answers) {
        int count = joiner.count;
        boolean[] some = answers == null ? null : new boolean[count];
        if (!emptyKey) joiner.check();
        long found = piece(emptyKey ? verb | joiner.unsure() : verb, joiner, some);
        if (found < 0) {
            joiner.check((int) -found);
            found = piece(verb, joiner, some);
        }
        if (answers != null) {
            int before = Math.toIntExact(joiner.before);
            int end = Math.addExact(before, count);
            if (end > answers[0].length)
                answers[0] = Arrays.copyOf(answers[0], (int) Math.min(1L << 30, end * 2L));
            System.arraycopy(some, 0, answers[0], before, count);
        }
        joiner.clear();
        if (!isChange(verb) && verb != Core.CONTAINS) {
            positive[0] = found;
            return verb == Core.ANY == (found != 0);
        }
        positive[0] += found;
        return false;
    }

    // ---- whole filters ----

    private BloomFilter derived(int what) {
        int slot = core.enter();
        try {
            long handle = core.derive(core.handle(), what);
            return new BloomFilter(handle, null, keys.type, null, false);
        } finally {
            core.leave(slot);
        }
    }

    /** A copy in memory, which can be changed even if this one cannot. */
    public BloomFilter copy() {
        return derived(0);
    }

    /** An empty filter with the same parameters, which can be merged with this one. */
    public BloomFilter emptyLike() {
        return derived(1);
    }

    /** A classic filter with the keys of this counting one, at a quarter of the size. */
    public BloomFilter dropCounts() {
        return derived(2);
    }

    /** Adds the keys of another filter of the same parameters. */
    public void merge(BloomFilter other) {
        combine(other, true);
    }

    /** Keeps the keys that are in both, of the same parameters. */
    public void intersect(BloomFilter other) {
        combine(other, false);
    }

    private void combine(BloomFilter other, boolean unite) {
        Core.enterTwo(core, other.core,
                () -> core.combine(core.handle(), other.core.handle(), unite));
    }

    /** How the keys of two filters overlap, estimated. */
    public Comparison compare(BloomFilter other) {
        double[] reals = new double[21];
        boolean[] saturated = new boolean[1];
        Core.queryTwo(core, other.core, () -> saturated[0] =
                core.compare(core.handle(), other.core.handle(), reals));
        return new Comparison(saturated[0], reals);
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

    /** No more changes, for good. */
    public void freeze() {
        core.enterToChange();
        try {
            core.freeze(core.handle());
        } finally {
            core.leaveChanged();
        }
    }

    /** {@link #advance(Instant)} to the time now. */
    public void advance() {
        advance(Instant.now());
    }

    /** Sets the clock of a window of time. Keys are forgotten here and nowhere else. */
    public void advance(Instant now) {
        core.enterToChange();
        try {
            core.advance(core.handle(), now.toEpochMilli());
        } finally {
            core.leaveChanged();
        }
    }

    // ---- looking inside ----

    /** What is known without looking at the bits. */
    public Info info() {
        return infoOf(-1);
    }

    /** The same of one layer, from 0. */
    public Info info(int layer) {
        return infoOf(Objects.checkIndex(layer, info().layers()));
    }

    private Info infoOf(int layer) {
        long[] numbers = new long[Core.INFO_NUMBERS];
        double[] reals = new double[3];
        byte[][] names = new byte[4][];
        int slot = core.enter();
        try {
            core.info(core.handle(), layer, numbers, reals, names);
        } finally {
            core.leave(slot);
        }
        return new Info(numbers, reals, names);
    }

    /** What the bits say. Reads all of them: a second for 5 GB. */
    public Stats stats() {
        long[] numbers = new long[4];
        double[] reals = new double[5];
        int slot = core.enter();
        try {
            core.stats(core.handle(), -1, numbers, reals);
        } finally {
            core.leave(slot);
        }
        return new Stats(numbers, reals);
    }

    /** Whether there are certainly more keys than the capacity: time for a larger filter. */
    public boolean isOverfull() {
        int slot = core.enter();
        try {
            return core.isOverfull(core.handle());
        } finally {
            core.leave(slot);
        }
    }

    /** Equal for equal parameters and bits. */
    public long contentId() {
        int slot = core.enter();
        try {
            return core.contentId(core.handle());
        } finally {
            core.leave(slot);
        }
    }

    /** Anything of yours that is kept in the file, or null. */
    public byte[] metadata() {
        int slot = core.enter();
        try {
            return core.metadata(core.handle());
        } finally {
            core.leave(slot);
        }
    }

    /** Replaces the metadata; null: there is none. */
    public void setMetadata(byte[] metadata) {
        core.enterToChange();
        try {
            core.setMetadata(core.handle(), metadata);
        } finally {
            core.leaveChanged();
        }
    }

    /** How keys become bytes: as the file records it, or as it was opened. */
    public KeyType keyType() {
        return keys.type;
    }

    /** The file that it was opened from, or null. */
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

    /** Writes a petal file: at every moment there is the old one or the whole new one. */
    public void save(Path file, SaveOption... options) throws IOException {
        save(file, "petal", options);
    }

    /** The same in another format, such as "guava", if that can hold this filter. */
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

    /** Compares a mapped file with its checksums. False: it has none. */
    public boolean verify() throws IOException {
        int slot = core.enter();
        try {
            return core.verify(core.handle(), pathBytes());
        } finally {
            core.leave(slot);
        }
    }

    /** The bytes that {@link #save} would write. */
    public byte[] toBytes() {
        return toBytes("petal");
    }

    /** The same in another format: "guava" and "spark" are what their writeTo() writes. */
    public byte[] toBytes(String format) {
        int slot = core.enter();
        try {
            return core.toBytes(core.handle(), Texts.name(format));
        } finally {
            core.leave(slot);
        }
    }

    /** Writes the bytes of {@link #toBytes()}, in pieces. */
    public void write(OutputStream out) throws IOException {
        write(out, "petal");
    }

    /** The same in another format. The stream may query this filter, but not change it. */
    public void write(OutputStream out, String format) throws IOException {
        core.writeTo(Objects.requireNonNull(out, "out"), Texts.name(format));
    }

    /**
     * Gives up the memory or the file; waits for the calls of other threads. Changes of a filter
     * opened with Mode.WRITE are made durable; UncheckedIOException if that fails.
     */
    @Override
    public void close() {
        core.close(writable, pathBytes());
    }

    // ---- formats ----

    /** The version of the library. */
    public static String version() {
        return Texts.string(Core.version());
    }

    /** The formats there are. */
    public static List<Format> formats() {
        List<Format> formats = new ArrayList<>();
        byte[][] texts = new byte[2][];
        for (int place = 0;; place++) {
            int abilities = Core.format(place, texts);
            if (abilities < 0) return formats;
            formats.add(new Format(Texts.string(texts[0]), Texts.string(texts[1]), abilities));
        }
    }

    /** The names of the formats that these bytes can be, by header and length alone. */
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
        return new Serialized(toBytes(), keys.type);
    }

    private void readObject(ObjectInputStream in) throws ObjectStreamException {
        throw new InvalidObjectException("a filter is read as its bytes");
    }
}
