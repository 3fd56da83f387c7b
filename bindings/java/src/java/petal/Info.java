package petal;

import java.util.ArrayList;
import java.util.List;

/**
 * What is known of a filter, or of one of its layers, without looking at its bits. Unknown doubles
 * are NaN; of a plan the counts of keys and the times are 0.
 */
public final class Info {
    private static final String[] ABILITIES = {"add", "remove", "hashes", "merge", "intersect",
        "compare", "like", "share", "grow", "window", "map", "save", "stats", "drop-counts",
        "empty-key", "clear", "fold"};
    private static final String[] POLICIES = {"none", "growing", "keys", "time"};

    private final long[] numbers;
    private final double[] reals;
    private final String[] names = new String[4];

    Info(long[] numbers, double[] reals, byte[][] names) {
        this.numbers = numbers;
        this.reals = reals;
        for (int i = 0; i < names.length; i++) this.names[i] = Texts.string(names[i]);
    }

    /** What the filter can do: "add", "remove", "merge", ... */
    public List<String> abilities() {
        List<String> found = new ArrayList<>();
        for (String ability : ABILITIES) if (can(ability)) found.add(ability);
        return found;
    }

    /** Whether {@link #abilities} has this. */
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

    /** The format it came in, or was made for. */
    public String format() {
        return names[2];
    }

    /** What runs on this CPU: "avx2", "neon", "generic", ... */
    public String kernel() {
        return names[3];
    }

    /** k; of several layers, that of the newest. */
    public int hashes() {
        return (int) numbers[3];
    }

    /** Of blocked: 1 or 2; otherwise 0. */
    public int linesPerKey() {
        return (int) numbers[4];
    }

    /** Arrays of bits. */
    public int layers() {
        return (int) numbers[5];
    }

    /** Of counting: 4; otherwise 0. */
    public int counterBits() {
        return (int) numbers[6];
    }

    /** m, or the number of counters; summed over layers. */
    public long bits() {
        return numbers[7];
    }

    /** Of the bits, in whole lines of 64 bytes; summed over layers. */
    public long bytes() {
        return numbers[8];
    }

    /** Allocated, all included; maps and views do not count. */
    public long memoryBytes() {
        return numbers[9];
    }

    /** Distinct keys it is planned for; 0: not recorded. */
    public long capacity() {
        return numbers[10];
    }

    /** The rate that was asked for; NaN: not recorded. */
    public double targetRate() {
        return reals[0];
    }

    /** The rate of the exact model at {@link #capacity} keys. */
    public double predictedRate() {
        return reals[1];
    }

    /** Keys given to add, repeats included, minus those removed. */
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

    /** Tells secrets apart; 0 if not keyed. */
    public int secretId() {
        return (int) numbers[14];
    }

    /** As the file records it. */
    public KeyType keyType() {
        return KeyType.values()[(int) numbers[15]];
    }

    /** Why there are layers: "none", "growing", "keys" or "time". */
    public String policy() {
        return POLICIES[(int) numbers[16]];
    }

    /** Of a filter that grows. */
    public int growthStep() {
        return (int) numbers[17];
    }

    /** Of a filter that grows. */
    public double growthRatio() {
        return reals[2];
    }

    /** Of a window. */
    public long windowKeys() {
        return numbers[18];
    }

    /** Of a window of time. */
    public long windowMillis() {
        return numbers[19];
    }

    /** Of a window of time: the latest advance(); 0: none yet. */
    public long clockMillis() {
        return numbers[20];
    }

    /** Of a window, as planned. */
    public int generations() {
        return (int) numbers[21];
    }

    /** Made with a secret. */
    public boolean isKeyed() {
        return numbers[22] != 0;
    }

    /** Opened while another process was changing the file. */
    public boolean isLive() {
        return numbers[23] != 0;
    }

    /** One layer of a window of time: when its first keys came, at the widest. */
    public long fromMillis() {
        return numbers[24];
    }

    /** One layer of a window of time: when its last keys came, at the widest. */
    public long toMillis() {
        return numbers[25];
    }

    /** Opened with recover(): blocks that differ from their last checksums. */
    public long recoveredBlocks() {
        return numbers[26];
    }

    /** Opened with recover(): all blocks. */
    public long blocks() {
        return numbers[27];
    }

    /** A map of a petal file: BloomFilter.verify() compares its blocks with their checksums. */
    public boolean isVerifiable() {
        return numbers[28] != 0;
    }

    /** A map, each block of which is compared with its checksum before its first use. */
    public boolean isVerifiedOnUse() {
        return numbers[29] != 0;
    }

    /** Of a map: blocks that were not compared yet, or found damaged. */
    public long uncheckedBlocks() {
        return numbers[30];
    }

    /** {@link #bits} for each key of the capacity; NaN without one. */
    public double bitsPerKey() {
        return capacity() == 0 ? Double.NaN : (double) bits() / capacity();
    }

    /** The model's rate with this many distinct keys; NaN for several layers, or without a model. */
    public double rateAt(long keys) {
        return Core.rateAt(numbers, keys);
    }

    @Override
    public String toString() {
        return "Info(" + scheme() + ", " + bits() + " bits, " + hashes() + " hashes, capacity "
                + capacity() + ", rate " + targetRate() + ")";
    }
}
