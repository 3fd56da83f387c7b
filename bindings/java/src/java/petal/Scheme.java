package petal;

/** How a hash becomes positions of bits. */
public enum Scheme {
    /** One line of 64 bytes per key, or two: the fastest. The default. */
    BLOCKED(1),
    /** Bits anywhere: the fewest per key. */
    CLASSIC(2),
    /** Counters: keys can be removed, at 4 times the size. */
    COUNTING(3);

    final int code;

    Scheme(int code) {
        this.code = code;
    }
}
