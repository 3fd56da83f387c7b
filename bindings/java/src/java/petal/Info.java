package petal;

import java.util.ArrayList;
import java.util.List;

/**
 * Describes a filter, or one of its layers, without reading its bits. Unknown values of type double
 * are NaN. In a plan, key counts and times are 0.
 */
public final class Info {
    private static final String[] ABILITIES = {"add", "remove", "hashes", "merge", "intersect",
        "compare", "like", "share", "grow", "window", "map", "save", "stats", "drop-counts",
        "empty-key", "clear", "fold"};
    private static final String[] POLICIES = {"none", "growing", "keys", "time"};

    /** The number of names. They occupy the last slots. */
    static final int NAMES = Slots.INFO_COUNT - Slots.INFO_SCHEME_NAME;

    private final long[] slots;
    private final String[] names = new String[NAMES];

    Info(long[] slots, byte[][] names) {
        this.slots = slots;
        for (int i = 0; i < NAMES; i++) this.names[i] = Texts.string(names[i]);
    }

    private String name(int slot) {
        return names[slot - Slots.INFO_SCHEME_NAME];
    }

    private double real(int slot) {
        return Double.longBitsToDouble(slots[slot]);
    }

    /** The filter's abilities: "add", "remove", "merge", ... */
    public List<String> abilities() {
        List<String> found = new ArrayList<>();
        for (String ability : ABILITIES) if (can(ability)) found.add(ability);
        return found;
    }

    /** True if {@link #abilities} contains this ability. */
    public boolean can(String ability) {
        for (int i = 0; i < ABILITIES.length; i++)
            if (ABILITIES[i].equals(ability)) return (slots[Slots.INFO_ABILITIES] >> i & 1) != 0;
        return false;
    }

    /** "blocked", "classic", ... */
    public String scheme() {
        return name(Slots.INFO_SCHEME_NAME);
    }

    /** "xxh3", ... */
    public String hash() {
        return name(Slots.INFO_HASH_NAME);
    }

    /** The format that the filter was read from or created for. */
    public String format() {
        return name(Slots.INFO_FORMAT_NAME);
    }

    /**
     * The format of the file or stream that the filter was read from; null if it was created in
     * memory. A petal file may contain a filter of another format. In that case this field is
     * "petal", and {@link #format} is the other format.
     */
    public String fileFormat() {
        return name(Slots.INFO_FILE_FORMAT_NAME);
    }

    /** The kernel used on this CPU: "avx2", "neon", "generic", ... */
    public String kernel() {
        return name(Slots.INFO_KERNEL_NAME);
    }

    /** The number of bits per key (k), in the newest layer. */
    public int hashes() {
        return (int) slots[Slots.INFO_HASHES];
    }

    /** 1 or 2 for a blocked filter, otherwise 0. */
    public int linesPerKey() {
        return (int) slots[Slots.INFO_LINES_PER_KEY];
    }

    /** The number of layers, which are bit arrays. */
    public int layers() {
        return (int) slots[Slots.INFO_LAYERS];
    }

    /** 4 for a counting filter, otherwise 0. */
    public int counterBits() {
        return (int) slots[Slots.INFO_COUNTER_BITS];
    }

    /** The number of bits (m) or counters in all layers. */
    public long bits() {
        return slots[Slots.INFO_BITS];
    }

    /** The size of all layers' bits in bytes, including padding to 64-byte lines. */
    public long bytes() {
        return slots[Slots.INFO_BYTES];
    }

    /** The allocated memory in bytes, excluding maps and views. */
    public long memoryBytes() {
        return slots[Slots.INFO_MEMORY_BYTES];
    }

    /** The number of distinct keys planned for, or 0 if it is not recorded. */
    public long capacity() {
        return slots[Slots.INFO_CAPACITY];
    }

    /** The requested rate, or NaN if it is not recorded. */
    public double targetRate() {
        return real(Slots.INFO_TARGET_RATE);
    }

    /** The exact model's rate with {@link #capacity} keys. */
    public double predictedRate() {
        return real(Slots.INFO_PREDICTED_RATE);
    }

    /** The number of keys added, including repeats, minus the number of keys removed. */
    public long items() {
        return slots[Slots.INFO_ITEMS];
    }

    /** An unsigned number. */
    public long seed() {
        return slots[Slots.INFO_SEED];
    }

    /** The size of the metadata. */
    public long metadataBytes() {
        return slots[Slots.INFO_METADATA_BYTES];
    }

    /** A number that differs between secrets; 0 if the filter is not keyed. */
    public int secretId() {
        return (int) slots[Slots.INFO_SECRET_ID];
    }

    /** The key type that the file records. */
    public KeyType keyType() {
        return KeyType.values()[(int) slots[Slots.INFO_KEY_TYPE]];
    }

    /** Why there are several layers: "none", "growing", "keys" or "time". */
    public String policy() {
        return POLICIES[(int) slots[Slots.INFO_POLICY]];
    }

    /** For a growing filter, the ratio of each layer's capacity to the previous layer's. */
    public int growthStep() {
        return (int) slots[Slots.INFO_GROWTH_STEP];
    }

    /** For a growing filter, the ratio of each layer's rate to the previous layer's. */
    public double growthRatio() {
        return real(Slots.INFO_GROWTH_RATIO);
    }

    /** For a window, how many of the latest keys it remembers. */
    public long windowKeys() {
        return slots[Slots.INFO_WINDOW_KEYS];
    }

    /** For a time window, how long it remembers keys, in milliseconds. */
    public long windowMillis() {
        return slots[Slots.INFO_WINDOW_MS];
    }

    /** The time of a time window's latest advance(), or 0 if advance() was never called. */
    public long clockMillis() {
        return slots[Slots.INFO_CLOCK_MS];
    }

    /** A window's planned number of generations. */
    public int generations() {
        return (int) slots[Slots.INFO_GENERATIONS];
    }

    /** True if the filter has a secret. */
    public boolean isKeyed() {
        return slots[Slots.INFO_KEYED] != 0;
    }

    /** True if the file was opened while another process was changing it. */
    public boolean isLive() {
        return slots[Slots.INFO_FILE_LIVE] != 0;
    }

    /** For one layer of a time window, a lower bound on the time of its first keys. */
    public long fromMillis() {
        return slots[Slots.INFO_EARLIEST_MS];
    }

    /** For one layer of a time window, an upper bound on the time of its last keys. */
    public long toMillis() {
        return slots[Slots.INFO_LATEST_MS];
    }

    /** The number of blocks that differ from their last checksums, if the file was opened with
     * recover(). */
    public long recoveredBlocks() {
        return slots[Slots.INFO_FILE_RECOVERED_BLOCKS];
    }

    /** The number of blocks that were compared, if the file was opened with recover(). */
    public long blocks() {
        return slots[Slots.INFO_FILE_COMPARED_BLOCKS];
    }

    /**
     * True if the filter is a memory-mapped petal file, so BloomFilter.verify() can check its
     * blocks against their checksums.
     */
    public boolean isVerifiable() {
        return slots[Slots.INFO_FILE_VERIFIABLE] != 0;
    }

    /** True if the filter is a memory-mapped file whose blocks are checked against their checksums
     * before first use. */
    public boolean isVerifiedOnUse() {
        return slots[Slots.INFO_FILE_VERIFIES_ON_USE] != 0;
    }

    /** For a mapped file, the number of blocks that are damaged or not yet checked. */
    public long uncheckedBlocks() {
        return slots[Slots.INFO_FILE_UNCHECKED_BLOCKS];
    }

    /** Returns {@link #bits} divided by the capacity, or NaN if the capacity is 0. */
    public double bitsPerKey() {
        return capacity() == 0 ? Double.NaN : (double) bits() / capacity();
    }

    /** Returns the model's rate for this number of distinct keys, or NaN if the filter has several
     * layers or no model. */
    public double rateAt(long keys) {
        return Core.rateAt(slots, keys);
    }

    @Override
    public String toString() {
        return "Info(" + scheme() + ", " + bits() + " bits, " + hashes() + " hashes, capacity "
                + capacity() + ", rate " + targetRate() + ")";
    }
}
