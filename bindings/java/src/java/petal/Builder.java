package petal;

import java.time.Duration;
import java.util.Objects;

/** The parameters of a filter; {@link BloomFilter#builder} creates one. */
public final class Builder {
    private static final long FROM_KEYS_BYTES = 64L << 20;

    private final long[] slots = new long[Slots.OPTION_COUNT];
    private boolean hasRate;
    private byte[] secret;
    private byte[] metadata;
    private String format;

    Builder() {}

    private Builder set(int slot, long value, String name) {
        if (value < 0) throw new IllegalArgumentException(name + " is negative");
        slots[slot] = value;
        return this;
    }

    /** BLOCKED by default. */
    public Builder scheme(Scheme scheme) {
        return set(Slots.OPTION_SCHEME, scheme.code, "scheme");
    }

    /** Sets the key type, which is recorded in the file. The filter then rejects keys of other
     *  types. */
    public Builder keyType(KeyType type) {
        return set(Slots.OPTION_KEY_TYPE, type.code, "keyType");
    }

    /** The number of distinct keys to plan for. */
    public Builder capacity(long keys) {
        return set(Slots.OPTION_CAPACITY, keys, "capacity");
    }

    /** Sets the false-positive rate. The default is 0.01, unless other parameters determine the
     * rate. */
    public Builder rate(double rate) {
        hasRate = true;
        slots[Slots.OPTION_RATE] = Double.doubleToRawLongBits(rate);
        return this;
    }

    /** Sets the maximum size of the bits, in bytes. It replaces either the rate (the lowest rate
     * that fits is used) or the capacity. */
    public Builder memory(long bytes) {
        return set(Slots.OPTION_MEMORY_BYTES, bytes, "memory");
    }

    /** The exact number of bits. */
    public Builder bits(long bits) {
        return set(Slots.OPTION_BITS, bits, "bits");
    }

    /** The exact number of hashes. */
    public Builder hashes(int hashes) {
        return set(Slots.OPTION_HASHES, hashes, "hashes");
    }

    /** For blocked filters, the number of 64-byte lines that contain a key's bits: 1 or 2. */
    public Builder linesPerKey(int lines) {
        return set(Slots.OPTION_LINES_PER_KEY, lines, "linesPerKey");
    }

    /** Sets the hash function's seed, an unsigned number. Only filters with equal seeds and sizes
     * can be merged. */
    public Builder seed(long seed) {
        slots[Slots.OPTION_SEED] = seed;
        return this;
    }

    /** Creates a keyed filter with a secret of 16 bytes, for keys that attackers may choose. */
    public Builder secret(byte[] secret) {
        this.secret = checked(secret);
        return this;
    }

    /** Your own bytes, stored in the file. */
    public Builder metadata(byte[] metadata) {
        this.metadata = metadata.clone();
        return this;
    }

    /** Creates the filter as the library that defines this format (such as "guava", "spark" or
     *  "redisbloom") would create it. */
    public Builder format(String name) {
        format = Objects.requireNonNull(name);
        return this;
    }

    /** Lets the filter add layers as keys are added, so that the rate holds for any number of
     * keys. */
    public Builder grow() {
        return set(Slots.OPTION_GROWTH, 1, "grow");
    }

    /** With grow(), the ratio of each layer's capacity to the previous layer's, from 2 to 64. */
    public Builder growthStep(int step) {
        return set(Slots.OPTION_GROWTH_STEP, step, "growthStep");
    }

    /** With grow(), the ratio of each layer's rate to the previous layer's. */
    public Builder growthRatio(double ratio) {
        slots[Slots.OPTION_GROWTH_RATIO] = Double.doubleToRawLongBits(ratio);
        return this;
    }

    /** Chooses a size that {@link BloomFilter#fold} can reduce once all keys have been added. */
    public Builder foldable() {
        return set(Slots.OPTION_FOLDABLE, 1, "foldable");
    }

    /** Makes the filter remember at least this many of the latest keys, and forget older keys. */
    public Builder window(long keys) {
        return set(Slots.OPTION_WINDOW_KEYS, keys, "window");
    }

    /**
     * Makes the filter remember keys for at least this long. window() then sets the maximum number
     * of keys added in that time.
     */
    public Builder windowTime(Duration time) {
        return set(Slots.OPTION_WINDOW_MS, time.toMillis(), "windowTime");
    }

    /** Sets a window's number of generations, from 2 to 32. */
    public Builder generations(int generations) {
        return set(Slots.OPTION_GENERATIONS, generations, "generations");
    }

    /** Makes it an error to add keys to an overfull filter. */
    public Builder refuseOverfull() {
        return set(Slots.OPTION_REFUSE_OVERFULL, 1, "refuseOverfull");
    }

    static byte[] checked(byte[] secret) {
        if (secret.length != 16)
            throw new IllegalArgumentException("secret must be 16 bytes, not " + secret.length);
        return secret.clone();
    }

    private long[] slotsWithRate(boolean isSized) {
        long[] all = slots.clone();
        if (!hasRate && !isSized) all[Slots.OPTION_RATE] = Double.doubleToRawLongBits(0.01);
        return all;
    }

    private boolean isSized() {
        return slots[Slots.OPTION_MEMORY_BYTES] != 0 || slots[Slots.OPTION_BITS] != 0;
    }

    private BloomFilter create(long[] slots) {
        return BloomFilter.made(Core.create(slots, secret, metadata, Texts.name(format)));
    }

    /** The filter. */
    public BloomFilter build() {
        return create(slotsWithRate(isSized()));
    }

    /**
     * Creates a filter from an unknown number of keys, such as {@code stream::iterator}. The keys
     * are read once and added to a filter of memory() bytes (default 64 MiB). This filter is then
     * folded to the smallest size that keeps the rate. If the result needs at most an eighth of
     * that memory, it is at most 1/8 larger than a filter created with capacity(). If the memory is
     * too small for the keys at this rate, the filter keeps its size and {@link
     * BloomFilter#isOverfull} is true, or, with refuseOverfull(), the call fails. The scheme must
     * be BLOCKED, CLASSIC or STATIC. STATIC needs no memory() in advance: building the filter takes
     * 16 bytes per key.
     */
    public <T> BloomFilter buildFrom(Iterable<T> keys) {
        Objects.requireNonNull(keys, "keys");
        long[] large = slotsWithRate(false);
        boolean isStatic = large[Slots.OPTION_SCHEME] == Scheme.STATIC.code;
        if (large[Slots.OPTION_MEMORY_BYTES] == 0 && !isStatic)
            large[Slots.OPTION_MEMORY_BYTES] = FROM_KEYS_BYTES;
        if (!isStatic) large[Slots.OPTION_FOLDABLE] = 1;
        BloomFilter filter = create(large);
        BloomFilter built = null;
        try {
            filter.addAll(keys);
            built = isStatic ? frozen(filter) : foldedIfPossible(filter);
        } finally {
            if (built != filter) filter.close();
        }
        return built;
    }

    private static BloomFilter frozen(BloomFilter filter) {
        filter.freeze();
        return filter;
    }

    /** Folds the filter. If it contains too many keys, returns it unchanged. */
    private static BloomFilter foldedIfPossible(BloomFilter large) {
        try {
            return large.fold();
        } catch (PetalException failure) {
            if (failure.status().equals("rate out of reach")) return large;
            throw failure;
        }
    }

    /** Describes the filter that {@link #build} would create, without creating it. */
    public Info plan() {
        long[] info = new long[Slots.INFO_COUNT];
        byte[][] names = new byte[Info.NAMES][];
        Core.plan(slotsWithRate(isSized()), secret, metadata, Texts.name(format), info, names);
        return new Info(info, names);
    }
}
