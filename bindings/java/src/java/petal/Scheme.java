package petal;

/** How a hash becomes bit positions. */
public enum Scheme {
    /** One or two 64-byte lines per key: the fastest. The default. */
    BLOCKED(1),
    /** A key's bits lie anywhere: the fewest bits per key. */
    CLASSIC(2),
    /** Counters: keys can be removed, at 4 times the size. */
    COUNTING(3),
    /**
     * The smallest, for sets that never change; takes a rate and no capacity. Until {@link
     * BloomFilter#freeze} builds the filter, it keeps 8 bytes per key, answers "probably" for every
     * key, and can't be saved.
     */
    STATIC(4);

    final int code;

    Scheme(int code) {
        this.code = code;
    }
}
