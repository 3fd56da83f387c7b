package petal;

/** The overlap of two sets of keys, estimated from the bits of their filters. */
public final class Comparison {
    private final boolean saturated;
    private final Estimate itemsA;
    private final Estimate itemsB;
    private final Estimate union;
    private final Estimate intersection;
    private final Estimate jaccard;
    private final Estimate containmentAInB;
    private final Estimate containmentBInA;

    Comparison(long[] slots) {
        this.saturated = slots[Slots.COMPARISON_SATURATED] != 0;
        this.itemsA = new Estimate(slots, Slots.COMPARISON_ITEMS_A);
        this.itemsB = new Estimate(slots, Slots.COMPARISON_ITEMS_B);
        this.union = new Estimate(slots, Slots.COMPARISON_UNION_ITEMS);
        this.intersection = new Estimate(slots, Slots.COMPARISON_INTERSECTION);
        this.jaccard = new Estimate(slots, Slots.COMPARISON_JACCARD);
        this.containmentAInB = new Estimate(slots, Slots.COMPARISON_CONTAINMENT_A_IN_B);
        this.containmentBInA = new Estimate(slots, Slots.COMPARISON_CONTAINMENT_B_IN_A);
    }

    /** True if every bit of the union is set, so only bounds on the overlap are known. */
    public boolean isSaturated() {
        return saturated;
    }

    /** The number of distinct keys in the first filter. */
    public Estimate itemsA() {
        return itemsA;
    }

    /** The number of distinct keys in the second filter. */
    public Estimate itemsB() {
        return itemsB;
    }

    /** The number of distinct keys in either filter. */
    public Estimate union() {
        return union;
    }

    /** The number of distinct keys in both filters. */
    public Estimate intersection() {
        return intersection;
    }

    /** intersection / union. */
    public Estimate jaccard() {
        return jaccard;
    }

    /** The share of the first filter's keys that are also in the second. */
    public Estimate containmentAInB() {
        return containmentAInB;
    }

    /** The share of the second filter's keys that are also in the first. */
    public Estimate containmentBInA() {
        return containmentBInA;
    }
}
