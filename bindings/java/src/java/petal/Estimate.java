package petal;

/** An estimate with its 95 % interval. */
public final class Estimate {
    private final double value;
    private final double low;
    private final double high;

    Estimate(long[] slots, int from) {
        value = Double.longBitsToDouble(slots[from]);
        low = Double.longBitsToDouble(slots[from + 1]);
        high = Double.longBitsToDouble(slots[from + 2]);
    }

    public double value() {
        return value;
    }

    public double low() {
        return low;
    }

    public double high() {
        return high;
    }

    @Override
    public String toString() {
        return value + " (" + low + " to " + high + ")";
    }
}
