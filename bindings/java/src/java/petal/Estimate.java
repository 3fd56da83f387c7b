package petal;

/** An estimate with its 95 % interval. */
public final class Estimate {
    private final double value;
    private final double low;
    private final double high;

    Estimate(double[] reals, int from) {
        value = reals[from];
        low = reals[from + 1];
        high = reals[from + 2];
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
