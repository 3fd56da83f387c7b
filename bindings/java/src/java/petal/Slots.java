package petal;

/** Made by scripts/gen-slots from bindings/slots.h: change that, not this. */
final class Slots {
    static final int OPTION_SCHEME = 0;
    static final int OPTION_KEY_TYPE = 1;
    static final int OPTION_CAPACITY = 2;
    static final int OPTION_RATE = 3;
    static final int OPTION_MEMORY_BYTES = 4;
    static final int OPTION_BITS = 5;
    static final int OPTION_HASHES = 6;
    static final int OPTION_LINES_PER_KEY = 7;
    static final int OPTION_SEED = 8;
    static final int OPTION_METADATA_BYTES = 9;
    static final int OPTION_GROWTH = 10;
    static final int OPTION_REFUSE_OVERFULL = 11;
    static final int OPTION_FOLDABLE = 12;
    static final int OPTION_GROWTH_STEP = 13;
    static final int OPTION_GROWTH_RATIO = 14;
    static final int OPTION_WINDOW_KEYS = 15;
    static final int OPTION_WINDOW_MS = 16;
    static final int OPTION_GENERATIONS = 17;
    static final int OPTION_COUNT = 18;

    static final int INFO_ABILITIES = 0;
    static final int INFO_SCHEME = 1;
    static final int INFO_HASH = 2;
    static final int INFO_HASHES = 3;
    static final int INFO_LINES_PER_KEY = 4;
    static final int INFO_LAYERS = 5;
    static final int INFO_COUNTER_BITS = 6;
    static final int INFO_BITS = 7;
    static final int INFO_BYTES = 8;
    static final int INFO_MEMORY_BYTES = 9;
    static final int INFO_CAPACITY = 10;
    static final int INFO_TARGET_RATE = 11;
    static final int INFO_PREDICTED_RATE = 12;
    static final int INFO_ITEMS = 13;
    static final int INFO_SEED = 14;
    static final int INFO_METADATA_BYTES = 15;
    static final int INFO_SECRET_ID = 16;
    static final int INFO_KEY_TYPE = 17;
    static final int INFO_POLICY = 18;
    static final int INFO_KEYED = 19;
    static final int INFO_GROWTH_STEP = 20;
    static final int INFO_GROWTH_RATIO = 21;
    static final int INFO_WINDOW_KEYS = 22;
    static final int INFO_WINDOW_MS = 23;
    static final int INFO_GENERATIONS = 24;
    static final int INFO_CLOCK_MS = 25;
    static final int INFO_EARLIEST_MS = 26;
    static final int INFO_LATEST_MS = 27;
    static final int INFO_FILE_LIVE = 28;
    static final int INFO_FILE_VERIFIABLE = 29;
    static final int INFO_FILE_VERIFIES_ON_USE = 30;
    static final int INFO_FILE_UNCHECKED_BLOCKS = 31;
    static final int INFO_FILE_COMPARED_BLOCKS = 32;
    static final int INFO_FILE_RECOVERED_BLOCKS = 33;
    static final int INFO_SCHEME_NAME = 34;
    static final int INFO_HASH_NAME = 35;
    static final int INFO_FORMAT_NAME = 36;
    static final int INFO_KERNEL_NAME = 37;
    static final int INFO_FILE_FORMAT_NAME = 38;
    static final int INFO_COUNT = 39;

    static final int STATS_SATURATED = 0;
    static final int STATS_OVERFULL = 1;
    static final int STATS_BITS_SET = 2;
    static final int STATS_SATURATED_COUNTERS = 3;
    static final int STATS_FILL = 4;
    static final int STATS_ESTIMATED_RATE = 5;
    static final int STATS_ESTIMATED_ITEMS = 6;
    static final int STATS_COUNT = 9;

    static final int COMPARISON_SATURATED = 0;
    static final int COMPARISON_ITEMS_A = 1;
    static final int COMPARISON_ITEMS_B = 4;
    static final int COMPARISON_UNION_ITEMS = 7;
    static final int COMPARISON_INTERSECTION = 10;
    static final int COMPARISON_JACCARD = 13;
    static final int COMPARISON_CONTAINMENT_A_IN_B = 16;
    static final int COMPARISON_CONTAINMENT_B_IN_A = 19;
    static final int COMPARISON_COUNT = 22;

    private Slots() {}
}
