package petal;

/** How two sets of keys overlap, estimated from the bits of their filters. */
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

    /** Every bit of the union is set: only bounds of the overlap are known. */
    public boolean isSaturated() {
        return saturated;
    }

    /** Distinct keys of the first. */
    public Estimate itemsA() {
        return itemsA;
    }

    /** Distinct keys of the second. */
    public Estimate itemsB() {
        return itemsB;
    }

    /** Distinct keys of both together. */
    public Estimate union() {
        return union;
    }

    /** Distinct keys in both. */
    public Estimate intersection() {
        return intersection;
    }

    /** intersection / union. */
    public Estimate jaccard() {
        return jaccard;
    }

    /** The share of the first's keys that are in the second. */
    public Estimate containmentAInB() {
        return containmentAInB;
    }

    /** The share of the second's keys that are in the first. */
    public Estimate containmentBInA() {
        return containmentBInA;
    }
}
