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

    Comparison(boolean saturated, double[] reals) {
        this.saturated = saturated;
        this.itemsA = new Estimate(reals, 0);
        this.itemsB = new Estimate(reals, 3);
        this.union = new Estimate(reals, 6);
        this.intersection = new Estimate(reals, 9);
        this.jaccard = new Estimate(reals, 12);
        this.containmentAInB = new Estimate(reals, 15);
        this.containmentBInA = new Estimate(reals, 18);
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
