package petal;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.AbstractCollection;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Contains a filter's handle in the C library, the gate that every call passes through, and the
 * native functions.
 *
 * <p>The gate admits any number of queries, or one call that changes or frees the filter. A query
 * marks its thread's slot (or, if that slot is taken, increments the shared slot), and then checks
 * for a changer. A changer announces itself, and then waits until all slots are 0. Since both write
 * before they read, at least one of them sees the other. A query that arrives during a change waits
 * for the changer's lock. A query leaves its slot with a plain store, so it may fail to wake a
 * changer that is about to sleep. Therefore changers also wake up on their own after a short time.
 *
 * <p>The native functions take the handle and {@code this}. {@code this} keeps the object
 * reachable, so that the cleaner can't free the filter during a call.
 */
final class Core extends AbstractCollection<byte[]> {
    // Verbs.
    static final int ADD = 0;
    static final int CONTAINS = 1;
    static final int REMOVE = 2;
    static final int ANY = 3;
    static final int ALL = 4;

    /**
     * This flag is added to an operation if the bytes come from a string, in which a '?' may have
     * been an unpaired surrogate. If the bytes contain any '?', the call does nothing and returns
     * the negated number of '?'.
     */
    static final int UNSURE = 8;

    /** The number of keys in a piece of a batch. */
    static final int PIECE_KEYS = 1024;

    /** Native code copies keys longer than this from their array. */
    static final int PACKED_BYTES = 64;

    /** The number of keys after which a growing filter's memory is measured. */
    private static final int LAYER_KEYS = 1024;

    private static final AtomicLong FILTERS = new AtomicLong();
    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(int[].class);
    /** The distance between two slots: one cache line. */
    private static final int GAP = 16;
    private static final int SLOTS =
            Math.min(16, 2 * Integer.highestOneBit(Runtime.getRuntime().availableProcessors()));
    private static final int SHARED = SLOTS * GAP;
    private static final long NAP_NANOS = 50_000;

    static {
        NativeLibrary.load();
    }

    /** The native memory, which is freed when the filter becomes unreachable. */
    private static final class Memory implements Runnable {
        private final long handle;
        /** Keeps a view's memory reachable. */
        private final Object borrowed;
        private long bytes;
        private boolean isFreed;

        Memory(long handle, Object borrowed) {
            this.handle = handle;
            this.borrowed = borrowed;
        }

        void count(long now) {
            NativeBytes.add(more(now));
        }

        private synchronized long more(long now) {
            long more = isFreed ? 0 : now - bytes;
            if (!isFreed) bytes = now;
            return more;
        }

        @Override
        public void run() {
            free(handle);
            NativeBytes.add(freed());
        }

        private synchronized long freed() {
            long fewer = more(0);
            isFreed = true;
            return fewer;
        }
    }

    private final long number = FILTERS.incrementAndGet();
    private final int[] users = new int[SHARED + GAP];
    private final ReentrantLock turn = new ReentrantLock();
    private volatile Thread changer;
    /** The threads that are writing this filter to a stream. The stream's methods may call this
     * filter. */
    private final Set<Thread> writing = ConcurrentHashMap.newKeySet(1);
    /** The bytes of a view, or null if the filter is not a view. */
    private final ByteBuffer borrowed;
    private Memory memory;
    private Cleaner.Cleanable cleanable;
    private long handle; // 0 if closed
    /** The key type, which determines how keys become bytes. */
    Keys keys;
    /** True if the scheme accepts the empty key. */
    boolean emptyKey;
    /** True if keys are hashed with XXH3 and the seed below. */
    private boolean isHashed;
    private long seed;
    /** True if the filter grows, so adding keys may allocate memory. */
    private boolean grows;
    private int uncounted;

    /** `asked` is the key type that the caller gave. If anything fails, the filter is freed. */
    Core(long handle, ByteBuffer borrowed, KeyType asked) {
        this.borrowed = borrowed == null ? null : borrowed.slice();
        adopt(handle, asked);
    }

    private void adopt(long handle, KeyType asked) {
        this.handle = handle;
        memory = new Memory(handle, borrowed);
        cleanable = NativeBytes.CLEANER.register(this, memory);
        Info info = describe(-1);
        try {
            keys = new Keys(chosen(info.keyType(), asked));
        } catch (IllegalArgumentException wrong) {
            close(false, null);
            throw wrong;
        }
        emptyKey = info.can("empty-key");
        isHashed = info.hash().equals("xxh3") && info.can("hashes");
        seed = info.seed();
        grows = !info.policy().equals("none");
        memory.count(info.memoryBytes());
    }

    private static KeyType chosen(KeyType recorded, KeyType asked) {
        if (recorded == KeyType.NONE) return asked;
        boolean bytes = recorded.compareTo(KeyType.HEX) >= 0 && asked.compareTo(KeyType.HEX) >= 0;
        if (asked == KeyType.NONE || asked == recorded || bytes) return recorded;
        throw new IllegalArgumentException("the filter has " + recorded + " keys, not " + asked);
    }

    /** `layer` is counted from 0; -1 means the whole filter. */
    Info describe(int layer) {
        long[] slots = new long[Slots.INFO_COUNT];
        byte[][] names = new byte[Info.NAMES][];
        int slot = enter();
        try {
            info(handle, layer, slots, names);
        } finally {
            leave(slot);
        }
        return new Info(slots, names);
    }

    // ---- the gate ----

    /**
     * Throws Java's own exception if a view's memory can't be read because its Arena is closed or
     * belongs to another thread. Native code would crash the process.
     */
    private void touch() {
        if (borrowed != null && borrowed.limit() > 0) borrowed.get(0);
    }

    /** Returns the slot to pass to {@link #leave}. */
    int enter() {
        touch();
        int slot = ((int) Thread.currentThread().getId() & (SLOTS - 1)) * GAP;
        if (!SLOT.compareAndSet(users, slot, 0, 1)) {
            slot = SHARED;
            SLOT.getAndAdd(users, SHARED, 1);
        }
        if (changer == null && handle != 0) return slot;
        leave(slot);
        return enterSlowly();
    }

    private int enterSlowly() {
        // If this thread is writing the filter to a stream, it is already inside the gate, and
        // changers are waiting for it.
        boolean inside = writing.contains(Thread.currentThread());
        if (!inside) turn.lock();
        try {
            if (handle == 0) throw closed();
            SLOT.getAndAdd(users, SHARED, 1);
            return SHARED;
        } finally {
            if (!inside) turn.unlock();
        }
    }

    void leave(int slot) {
        if (slot == SHARED) SLOT.getAndAdd(users, SHARED, -1);
        else SLOT.setRelease(users, slot, 0);
        Thread waiting = changer;
        if (waiting != null) LockSupport.unpark(waiting);
    }

    void enterToChange() {
        touch();
        lockToChange();
        if (handle != 0) return;
        leaveChanged();
        throw closed();
    }

    private void lockToChange() {
        Thread self = Thread.currentThread();
        if (writing.contains(self))
            throw new IllegalStateException(
                    "the filter cannot be changed by the stream that it is written to");
        turn.lock();
        changer = self;
        boolean interrupted = false;
        while (!isIdle()) {
            LockSupport.parkNanos(this, NAP_NANOS);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) self.interrupt();
    }

    void leaveChanged() {
        changer = null;
        turn.unlock();
    }

    /** Like leave(), but called after adding keys. Also counts the memory that a growing filter has
     * allocated. */
    void leaveAdded(int keys) {
        boolean isDue = grows && (uncounted += Math.min(keys, LAYER_KEYS)) >= LAYER_KEYS;
        long bytes = -1;
        if (isDue && handle != 0) bytes = memoryBytes(handle);
        if (isDue) uncounted = 0;
        leaveChanged();
        if (bytes >= 0) memory.count(bytes);
    }

    private boolean isIdle() {
        for (int slot = 0; slot < users.length; slot += GAP)
            if ((int) SLOT.getVolatile(users, slot) != 0) return false;
        return true;
    }

    /** Locks two filters in order of creation, so that two threads can't deadlock. */
    static void enterTwo(Core changed, Core queried, Action action) {
        if (changed == queried) {
            changed.enterToChange();
            try {
                action.run();
            } finally {
                changed.leaveChanged();
            }
        } else if (changed.number < queried.number) {
            changed.enterToChange();
            try {
                query(queried, action);
            } finally {
                changed.leaveChanged();
            }
        } else {
            query(queried, () -> {
                changed.enterToChange();
                try {
                    action.run();
                } finally {
                    changed.leaveChanged();
                }
            });
        }
    }

    static void queryTwo(Core a, Core b, Action action) {
        Core first = a.number < b.number ? a : b;
        query(first, () -> {
            if (a == b) action.run();
            else query(first == a ? b : a, action);
        });
    }

    static void query(Core core, Action action) {
        int slot = core.enter();
        try {
            action.run();
        } finally {
            core.leave(slot);
        }
    }

    interface Action {
        void run();
    }

    /** Processes one key, inside the gate. If the call fails, it is repeated as a batch to obtain
     * the message. */
    int one(int verb, byte[] key) {
        if (isHashed && verb != REMOVE && key.length >= Xxh3.LEAST && key.length <= Xxh3.MOST) {
            int answer = oneHash(handle, verb, Xxh3.hash(key, seed));
            if (answer >= 0) return answer;
        }
        return packed(verb, key);
    }

    private static final VarHandle WORD =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static long word(byte[] key, int from) {
        return (long) WORD.get(key, from);
    }

    /** Passes a short key as numbers, because JNI calls on an array are slower. */
    private int packed(int verb, byte[] key) {
        int size = key.length;
        if (size > PACKED_BYTES) return oneBytes(handle, verb, key, 0, size);
        if (size >= 8) {
            return onePacked(handle, verb, size, word(key, 0), size > 16 ? word(key, 8) : 0,
                    size > 24 ? word(key, 16) : 0, size > 32 ? word(key, 24) : 0,
                    size > 40 ? word(key, 32) : 0, size > 48 ? word(key, 40) : 0,
                    size > 56 ? word(key, 48) : 0, word(key, size - 8));
        }
        boolean little = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
        long word = 0;
        for (int i = 0; i < size; i++)
            word |= (key[i] & 0xffL) << 8 * (little ? i : 7 - i);
        return onePacked(handle, verb, size, word, 0, 0, 0, 0, 0, 0, 0);
    }

    /** Returns the handle. Call it inside the gate. */
    long handle() {
        return handle;
    }

    boolean isClosed() {
        return changer == null && handle == 0;
    }

    /** Syncs the file if requested, and then frees the filter even if syncing failed. */
    void close(boolean sync, byte[] path) {
        lockToChange();
        try {
            if (handle == 0) return;
            try {
                if (sync) sync(handle, path);
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            } finally {
                handle = 0;
                cleanable.clean();
            }
        } finally {
            leaveChanged();
        }
    }

    void writeTo(OutputStream stream, byte[] format) throws IOException {
        int slot = enter();
        boolean first = writing.add(Thread.currentThread());
        try {
            write(handle, format, stream, new byte[1 << 16]);
        } finally {
            if (first) writing.remove(Thread.currentThread());
            leave(slot);
        }
    }

    private static IllegalStateException closed() {
        return new IllegalStateException("the filter is closed");
    }

    // ---- for serializers that write fields ----
    //
    // Kryo ignores writeReplace() and writes a filter's fields, one of which is this object. Kryo
    // writes this object as a collection of byte[]. The only element contains a byte for the key
    // type, followed by the bytes of the file.

    /** For Kryo only. The filter is closed until Kryo calls {@link #add}. */
    Core() {
        borrowed = null;
    }

    @Override
    public int size() {
        return 1;
    }

    @Override
    public Iterator<byte[]> iterator() {
        if (describe(-1).isKeyed())
            throw new UnsupportedOperationException("petal.BloomFilter: a keyed filter");
        int slot = enter();
        try {
            byte[] file = toBytes(handle, Texts.name("petal"));
            byte[] element = new byte[Math.addExact(file.length, 1)];
            element[0] = (byte) keys.type.code;
            System.arraycopy(file, 0, element, 1, file.length);
            return Collections.singleton(element).iterator();
        } finally {
            leave(slot);
        }
    }

    @Override
    public boolean add(byte[] element) {
        if (handle != 0) throw new IllegalStateException("the filter has its keys already");
        byte[] file = Arrays.copyOfRange(element, 1, element.length);
        try {
            adopt(load(file, 0, null, Texts.name("petal"), 0), KeyType.values()[element[0]]);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return true;
    }

    // ---- one.c ----

    native int oneBytes(long handle, int verb, byte[] key, int from, int size);

    /** The first words of a key of at most PACKED_BYTES, and its last word, which may overlap the
     * others. */
    native int onePacked(long handle, int verb, int size, long a, long b, long c, long d, long e,
            long f, long g, long last);

    /** The result of a native call that failed without an exception. */
    native int oneHash(long handle, int verb, long hash);

    native int oneDirect(long handle, int verb, ByteBuffer key, int from, int size);

    native int oneLong(long handle, int verb, long key);

    native long hashKey(long handle, byte[] key);

    static native long shardOf(byte[] key, long shards);

    // ---- batch.c ----

    native long longs(long handle, int verb, long[] keys, int count, boolean[] answers);

    native long bytes(long handle, int verb, byte[] data, int[] offsets, int first, int count,
            long base, boolean[] answers);

    native long direct(long handle, int verb, ByteBuffer data, int from, int size, int[] offsets,
            int first, int count, boolean[] answers);

    // ---- filter.c ----

    static native long create(long[] options, byte[] secret, byte[] metadata, byte[] format);

    static native void plan(long[] options, byte[] secret, byte[] metadata, byte[] format,
            long[] info, byte[][] names);

    static native double rateAt(long[] info, long keys);

    static native long open(byte[] path, int flags, byte[] secret, byte[] format, long memoryLimit)
            throws IOException;

    static native long load(byte[] data, int flags, byte[] secret, byte[] format, long memoryLimit)
            throws IOException;

    static native long view(ByteBuffer data, int from, int size, int flags, byte[] secret,
            byte[] format, long memoryLimit) throws IOException;

    static native long readerCreate(int flags, byte[] secret, byte[] format, long memoryLimit,
            long expected) throws IOException;

    static native void readerFeed(long reader, byte[] bytes, int size) throws IOException;

    static native long readerFinish(long reader) throws IOException;

    static native void readerFree(long reader);

    static native void free(long handle);

    native long derive(long handle, int what);

    native long fold(long handle, double rate, long capacity, long bits);

    native void info(long handle, int layer, long[] info, byte[][] names);

    native long memoryBytes(long handle);

    native void stats(long handle, int layer, long[] stats);

    native void compare(long handle, long other, long[] comparison);

    native boolean isOverfull(long handle);

    native long contentId(long handle);

    native byte[] metadata(long handle);

    native void setMetadata(long handle, byte[] metadata);

    native void combine(long handle, long other, boolean unite);

    native void clear(long handle);

    native void freeze(long handle);

    native void advance(long handle, long nowMs);

    native void write(long handle, byte[] format, OutputStream stream, byte[] buffer)
            throws IOException;

    native void save(long handle, byte[] path, byte[] format, int flags) throws IOException;

    native void sync(long handle, byte[] path) throws IOException;

    native boolean verify(long handle, byte[] path) throws IOException;

    native byte[] toBytes(long handle, byte[] format);

    static native byte[] version();

    static native int format(int place, byte[][] texts);

    static native byte[] recognize(byte[] data);

    static native byte[] parquetFilters(ByteBuffer data, int from, int size) throws IOException;
}
