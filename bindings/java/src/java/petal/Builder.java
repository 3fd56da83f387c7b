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

    /** Recorded in the file; keys of other types are then refused. */
    public Builder keyType(KeyType type) {
        return set(Slots.OPTION_KEY_TYPE, type.code, "keyType");
    }

    /** The number of distinct keys to plan for. */
    public Builder capacity(long keys) {
        return set(Slots.OPTION_CAPACITY, keys, "capacity");
    }

    /** The share of other keys that pass; 0.01 if it is neither given nor implied by other
     * parameters. */
    public Builder rate(double rate) {
        hasRate = true;
        slots[Slots.OPTION_RATE] = Double.doubleToRawLongBits(rate);
        return this;
    }

    /** The maximum number of bytes for the bits. Use this instead of the rate, to get the lowest
     * rate that fits, or instead of the capacity. */
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

    /** For blocked filters: 1 or 2. */
    public Builder linesPerKey(int lines) {
        return set(Slots.OPTION_LINES_PER_KEY, lines, "linesPerKey");
    }

    /** The seed of the hash, an unsigned number. Only filters with equal seeds and sizes can be
     * merged. */
    public Builder seed(long seed) {
        slots[Slots.OPTION_SEED] = seed;
        return this;
    }

    /** 16 bytes: creates a keyed filter, for keys that attackers can choose. */
    public Builder secret(byte[] secret) {
        this.secret = checked(secret);
        return this;
    }

    /** Your own bytes, stored in the file. */
    public Builder metadata(byte[] metadata) {
        this.metadata = metadata.clone();
        return this;
    }

    /** "guava", "spark", "redisbloom", ...: creates the filter that this library would create. */
    public Builder format(String name) {
        format = Objects.requireNonNull(name);
        return this;
    }

    /** Adds layers as keys are added; the rate holds for any number of keys. */
    public Builder grow() {
        return set(Slots.OPTION_GROWTH, 1, "grow");
    }

    /** With grow(), the capacity of each layer relative to the one before, 2 to 64. */
    public Builder growthStep(int step) {
        return set(Slots.OPTION_GROWTH_STEP, step, "growthStep");
    }

    /** With grow(), the rate of each layer relative to the one before. */
    public Builder growthRatio(double ratio) {
        slots[Slots.OPTION_GROWTH_RATIO] = Double.doubleToRawLongBits(ratio);
        return this;
    }

    /** Chooses a size that {@link BloomFilter#fold} can make smaller once all keys are added. */
    public Builder foldable() {
        return set(Slots.OPTION_FOLDABLE, 1, "foldable");
    }

    /** Remembers at least this many of the latest keys, and forgets older ones. */
    public Builder window(long keys) {
        return set(Slots.OPTION_WINDOW_KEYS, keys, "window");
    }

    /**
     * Remembers keys for at least this long; window() is then the maximum number of keys in that
     * time.
     */
    public Builder windowTime(Duration time) {
        return set(Slots.OPTION_WINDOW_MS, time.toMillis(), "windowTime");
    }

    /** The number of generations of a window, 2 to 32. */
    public Builder generations(int generations) {
        return set(Slots.OPTION_GENERATIONS, generations, "generations");
    }

    /** Makes adding to an overfull filter fail. */
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
     * Creates a filter from keys whose number is unknown, such as {@code stream::iterator}. The
     * keys are read once, into a filter of memory() bytes (default 64 MiB), which is then folded to
     * the smallest size that keeps the rate. If the result needs at most an eighth of that memory,
     * it is at most 1/8 larger than a filter created with capacity(). If the memory is too small
     * for the keys at that rate, the filter keeps its size and {@link BloomFilter#isOverfull} is
     * true; with refuseOverfull() it fails instead. The scheme is BLOCKED or CLASSIC. STATIC needs
     * no memory in advance: building takes 16 bytes per key.
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

    /** If the filter holds too many keys to be folded, returns it unchanged. */
    private static BloomFilter foldedIfPossible(BloomFilter large) {
        try {
            return large.fold();
        } catch (PetalException failure) {
            if (failure.status().equals("rate out of reach")) return large;
            throw failure;
        }
    }

    /** Describes what {@link #build} would create, without creating it. */
    public Info plan() {
        long[] info = new long[Slots.INFO_COUNT];
        byte[][] names = new byte[Info.NAMES][];
        Core.plan(slotsWithRate(isSized()), secret, metadata, Texts.name(format), info, names);
        return new Info(info, names);
    }
}
