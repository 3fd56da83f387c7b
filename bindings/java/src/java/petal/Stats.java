package petal;

/** Statistics computed from a filter's bits. */
public final class Stats {
    private final boolean saturated;
    private final boolean overfull;
    private final long bitsSet;
    private final long saturatedCounters;
    private final double fill;
    private final double estimatedRate;
    private final Estimate estimatedItems;

    Stats(long[] numbers, double[] reals) {
        this.saturated = numbers[0] != 0;
        this.overfull = numbers[1] != 0;
        this.bitsSet = numbers[2];
        this.saturatedCounters = numbers[3];
        this.fill = reals[0];
        this.estimatedRate = reals[1];
        this.estimatedItems = new Estimate(reals, 2);
    }

    /** Every bit is set. */
    public boolean isSaturated() {
        return saturated;
    }

    /** The filter certainly holds more keys than its capacity. */
    public boolean isOverfull() {
        return overfull;
    }

    /** Set bits; for counting filters, counters that are not zero. */
    public long bitsSet() {
        return bitsSet;
    }

    /** For counting filters: counters that stick at 15. */
    public long saturatedCounters() {
        return saturatedCounters;
    }

    /** bitsSet / bits. */
    public double fill() {
        return fill;
    }

    /** The rate at which absent keys pass, given the bits; NaN if it is unknown. */
    public double estimatedRate() {
        return estimatedRate;
    }

    /** Distinct keys. */
    public Estimate estimatedItems() {
        return estimatedItems;
    }
}
