package petal;

import java.time.Duration;
import java.util.Objects;

/** The parameters of a filter; {@link BloomFilter#builder} creates one. */
public final class Builder {
    private static final long FROM_KEYS_BYTES = 64L << 20;

    private final long[] numbers = new long[Core.NUMBERS];
    private double rate;
    private boolean hasRate;
    private double ratio;
    private byte[] secret;
    private byte[] metadata;
    private String format;

    Builder() {}

    private Builder set(int place, long value, String name) {
        if (value < 0) throw new IllegalArgumentException(name + " is negative");
        numbers[place] = value;
        return this;
    }

    /** BLOCKED by default. */
    public Builder scheme(Scheme scheme) {
        return set(0, scheme.code, "scheme");
    }

    /** Recorded in the file; keys of other types are then refused. */
    public Builder keyType(KeyType type) {
        return set(1, type.code, "keyType");
    }

    /** The number of distinct keys to plan for. */
    public Builder capacity(long keys) {
        return set(2, keys, "capacity");
    }

    /** The share of other keys that pass; 0.01 if neither given nor implied. */
    public Builder rate(double rate) {
        this.rate = rate;
        hasRate = true;
        return this;
    }

    /** At most this many bytes, in place of the rate (the best that fits) or of the capacity. */
    public Builder memory(long bytes) {
        return set(3, bytes, "memory");
    }

    /** The exact number of bits. */
    public Builder bits(long bits) {
        return set(4, bits, "bits");
    }

    /** The exact number of hashes. */
    public Builder hashes(int hashes) {
        return set(5, hashes, "hashes");
    }

    /** For blocked filters: 1 or 2. */
    public Builder linesPerKey(int lines) {
        return set(6, lines, "linesPerKey");
    }

    /** Only filters with equal seeds and sizes can be merged. An unsigned number. */
    public Builder seed(long seed) {
        numbers[7] = seed;
        return this;
    }

    /** 16 bytes: creates a keyed filter, for keys that strangers choose. */
    public Builder secret(byte[] secret) {
        this.secret = checked(secret);
        return this;
    }

    /** Your own bytes, stored in the file. */
    public Builder metadata(byte[] metadata) {
        this.metadata = metadata.clone();
        return this;
    }

    /** "guava", "spark", "redisbloom", ...: creates the filter that this library would. */
    public Builder format(String name) {
        format = Objects.requireNonNull(name);
        return this;
    }

    /** Adds layers as keys come; the rate holds for any number of keys. */
    public Builder grow() {
        return set(8, 1, "grow");
    }

    /** With grow(): the capacity of each layer relative to the one before, 2 to 64. */
    public Builder growthStep(int step) {
        return set(10, step, "growthStep");
    }

    /** With grow(): the rate of each layer relative to the one before. */
    public Builder growthRatio(double ratio) {
        this.ratio = ratio;
        return this;
    }

    /** Chooses a size that {@link BloomFilter#fold} can make smaller once all keys are added. */
    public Builder foldable() {
        return set(14, 1, "foldable");
    }

    /** Remembers at least the last this many keys, and forgets older ones. */
    public Builder window(long keys) {
        return set(11, keys, "window");
    }

    /**
     * With window(), the maximum of keys in this time: remembers the keys of the last this long.
     */
    public Builder windowTime(Duration time) {
        return set(12, time.toMillis(), "windowTime");
    }

    /** The number of generations of a window, 2 to 32. */
    public Builder generations(int generations) {
        return set(13, generations, "generations");
    }

    /** Makes adding to an overfull filter fail. */
    public Builder refuseOverfull() {
        return set(9, 1, "refuseOverfull");
    }

    static byte[] checked(byte[] secret) {
        if (secret.length != 16)
            throw new IllegalArgumentException("secret must be 16 bytes, not " + secret.length);
        return secret.clone();
    }

    private double rateOrDefault() {
        boolean isSized = numbers[3] != 0 || numbers[4] != 0;
        return hasRate || isSized ? rate : 0.01;
    }

    /** The filter. */
    public BloomFilter build() {
        return BloomFilter.made(Core.create(numbers, rateOrDefault(), ratio, secret, metadata,
                Texts.name(format)));
    }

    /**
     * Creates a filter of keys whose number is unknown, such as {@code stream::iterator}. They are
     * read once, into a filter of memory() (default 64 MiB), which is then folded to the smallest
     * size that keeps the rate. Up to an eighth of the memory, the result takes at most 1/8 more
     * than with capacity(). If the memory is too small for the keys at that rate, the filter keeps
     * its size and {@link BloomFilter#isOverfull} is true; with refuseOverfull() it fails instead.
     * BLOCKED or CLASSIC. STATIC needs no memory in advance: building takes 16 bytes per key.
     */
    public <T> BloomFilter buildFrom(Iterable<T> keys) {
        Objects.requireNonNull(keys, "keys");
        long[] large = numbers.clone();
        boolean isStatic = large[0] == Scheme.STATIC.code;
        if (large[3] == 0 && !isStatic) large[3] = FROM_KEYS_BYTES;
        if (!isStatic) large[14] = 1;
        BloomFilter filter = BloomFilter.made(Core.create(large, hasRate ? rate : 0.01, ratio,
                secret, metadata, Texts.name(format)));
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

    /** If it holds too many keys to be folded, returns it unchanged. */
    private static BloomFilter foldedIfPossible(BloomFilter large) {
        try {
            return large.fold();
        } catch (PetalException failure) {
            if (failure.status().equals("rate out of reach")) return large;
            throw failure;
        }
    }

    /** What {@link #build} would create, without creating it. */
    public Info plan() {
        long[] info = new long[Core.INFO_NUMBERS];
        double[] reals = new double[3];
        byte[][] names = new byte[Core.INFO_NAMES][];
        Core.plan(numbers, rateOrDefault(), ratio, secret, metadata, Texts.name(format), info,
                reals, names);
        return new Info(info, reals, names);
    }
}
