package petal;

/** How a key's hash determines bit positions. */
public enum Scheme {
    /** Stores all bits of a key in one or two 64-byte lines. This is the fastest scheme, and the
     * default. */
    BLOCKED(1),
    /** Stores the bits of a key anywhere in the filter. Needs fewer bits per key than BLOCKED. */
    CLASSIC(2),
    /** Like CLASSIC, but with 4-bit counters, so that keys can be removed. Takes 4 times as much
     * memory. */
    COUNTING(3),
    /**
     * The smallest scheme, for sets that never change. It requires a rate but no capacity. Until
     * {@link BloomFilter#freeze} builds the filter, it stores 8 bytes per key, answers "probably"
     * for every key, and can't be saved.
     */
    STATIC(4);

    final int code;

    Scheme(int code) {
        this.code = code;
    }
}
