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

    Stats(long[] slots) {
        this.saturated = slots[Slots.STATS_SATURATED] != 0;
        this.overfull = slots[Slots.STATS_OVERFULL] != 0;
        this.bitsSet = slots[Slots.STATS_BITS_SET];
        this.saturatedCounters = slots[Slots.STATS_SATURATED_COUNTERS];
        this.fill = Double.longBitsToDouble(slots[Slots.STATS_FILL]);
        this.estimatedRate = Double.longBitsToDouble(slots[Slots.STATS_ESTIMATED_RATE]);
        this.estimatedItems = new Estimate(slots, Slots.STATS_ESTIMATED_ITEMS);
    }

    /** True if every bit is set. */
    public boolean isSaturated() {
        return saturated;
    }

    /** True if the filter is known to contain more keys than its capacity. */
    public boolean isOverfull() {
        return overfull;
    }

    /** The number of set bits or, in a counting filter, of nonzero counters. */
    public long bitsSet() {
        return bitsSet;
    }

    /** The number of counters stuck at 15 in a counting filter. */
    public long saturatedCounters() {
        return saturatedCounters;
    }

    /** bitsSet / bits. */
    public double fill() {
        return fill;
    }

    /** The false-positive rate with the current bits; NaN if it is unknown. */
    public double estimatedRate() {
        return estimatedRate;
    }

    /** Distinct keys. */
    public Estimate estimatedItems() {
        return estimatedItems;
    }
}
