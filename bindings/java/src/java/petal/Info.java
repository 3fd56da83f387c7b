package petal;

import java.util.ArrayList;
import java.util.List;

/**
 * Describes a filter, or one of its layers, without reading its bits. Unknown doubles are NaN; for
 * a plan the key counts and times are 0.
 */
public final class Info {
    private static final String[] ABILITIES = {"add", "remove", "hashes", "merge", "intersect",
        "compare", "like", "share", "grow", "window", "map", "save", "stats", "drop-counts",
        "empty-key", "clear", "fold"};
    private static final String[] POLICIES = {"none", "growing", "keys", "time"};

    private final long[] numbers;
    private final double[] reals;
    private final String[] names = new String[Core.INFO_NAMES];

    Info(long[] numbers, double[] reals, byte[][] names) {
        this.numbers = numbers;
        this.reals = reals;
        for (int i = 0; i < names.length; i++) this.names[i] = Texts.string(names[i]);
    }

    /** The filter's abilities: "add", "remove", "merge", ... */
    public List<String> abilities() {
        List<String> found = new ArrayList<>();
        for (String ability : ABILITIES) if (can(ability)) found.add(ability);
        return found;
    }

    /** Whether {@link #abilities} contains this one. */
    public boolean can(String ability) {
        for (int i = 0; i < ABILITIES.length; i++)
            if (ABILITIES[i].equals(ability)) return (numbers[0] >> i & 1) != 0;
        return false;
    }

    /** "blocked", "classic", ... */
    public String scheme() {
        return names[0];
    }

    /** "xxh3", ... */
    public String hash() {
        return names[1];
    }

    /** The format that it was read from or created for. */
    public String format() {
        return names[2];
    }

    /**
     * The format of the file or stream that it was read from; null if it was made in memory. A petal
     * file may hold a filter of another format: then this is "petal", and {@link #format} the other.
     */
    public String fileFormat() {
        return names[4];
    }

    /** The kernel used on this CPU: "avx2", "neon", "generic", ... */
    public String kernel() {
        return names[3];
    }

    /** k; if there are several layers, the newest layer's. */
    public int hashes() {
        return (int) numbers[3];
    }

    /** For blocked: 1 or 2; otherwise 0. */
    public int linesPerKey() {
        return (int) numbers[4];
    }

    /** The number of bit arrays. */
    public int layers() {
        return (int) numbers[5];
    }

    /** For counting: 4; otherwise 0. */
    public int counterBits() {
        return (int) numbers[6];
    }

    /** m, or the number of counters; the sum over layers. */
    public long bits() {
        return numbers[7];
    }

    /** The size of the bits, in whole lines of 64 bytes; the sum over layers. */
    public long bytes() {
        return numbers[8];
    }

    /** All memory allocated; maps and views don't count. */
    public long memoryBytes() {
        return numbers[9];
    }

    /** Distinct keys planned for; 0: not recorded. */
    public long capacity() {
        return numbers[10];
    }

    /** The requested rate; NaN: not recorded. */
    public double targetRate() {
        return reals[0];
    }

    /** The exact model's rate at {@link #capacity} keys. */
    public double predictedRate() {
        return reals[1];
    }

    /** Keys passed to add, with repeats, minus those removed. */
    public long items() {
        return numbers[11];
    }

    /** An unsigned number. */
    public long seed() {
        return numbers[12];
    }

    /** The size of the metadata. */
    public long metadataBytes() {
        return numbers[13];
    }

    /** Distinguishes secrets; 0 if not keyed. */
    public int secretId() {
        return (int) numbers[14];
    }

    /** The key type that the file records. */
    public KeyType keyType() {
        return KeyType.values()[(int) numbers[15]];
    }

    /** Why there are layers: "none", "growing", "keys" or "time". */
    public String policy() {
        return POLICIES[(int) numbers[16]];
    }

    /** For a growing filter. */
    public int growthStep() {
        return (int) numbers[17];
    }

    /** For a growing filter. */
    public double growthRatio() {
        return reals[2];
    }

    /** For a window. */
    public long windowKeys() {
        return numbers[18];
    }

    /** For a time window. */
    public long windowMillis() {
        return numbers[19];
    }

    /** For a time window: the latest advance(); 0: none yet. */
    public long clockMillis() {
        return numbers[20];
    }

    /** For a window, as planned. */
    public int generations() {
        return (int) numbers[21];
    }

    /** Whether it has a secret. */
    public boolean isKeyed() {
        return numbers[22] != 0;
    }

    /** Opened while another process was changing the file. */
    public boolean isLive() {
        return numbers[23] != 0;
    }

    /** For one layer of a time window: a lower bound for the time of its first keys. */
    public long fromMillis() {
        return numbers[24];
    }

    /** For one layer of a time window: an upper bound for the time of its last keys. */
    public long toMillis() {
        return numbers[25];
    }

    /** Opened with recover(): blocks that differ from their last checksums. */
    public long recoveredBlocks() {
        return numbers[26];
    }

    /** Opened with recover(): the number of blocks. */
    public long blocks() {
        return numbers[27];
    }

    /**
     * Whether it is a map of a petal file, whose blocks BloomFilter.verify() can compare with their
     * checksums.
     */
    public boolean isVerifiable() {
        return numbers[28] != 0;
    }

    /** Whether it is a map whose blocks are compared with their checksums before first use. */
    public boolean isVerifiedOnUse() {
        return numbers[29] != 0;
    }

    /** For a map: blocks not yet compared, or found damaged. */
    public long uncheckedBlocks() {
        return numbers[30];
    }

    /** {@link #bits} divided by the capacity; NaN without a capacity. */
    public double bitsPerKey() {
        return capacity() == 0 ? Double.NaN : (double) bits() / capacity();
    }

    /** The model's rate for this many distinct keys; NaN for several layers, or without a model. */
    public double rateAt(long keys) {
        return Core.rateAt(numbers, keys);
    }

    @Override
    public String toString() {
        return "Info(" + scheme() + ", " + bits() + " bits, " + hashes() + " hashes, capacity "
                + capacity() + ", rate " + targetRate() + ")";
    }
}
