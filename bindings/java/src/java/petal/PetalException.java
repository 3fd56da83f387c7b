package petal;

/**
 * Thrown when the core refuses a call: because of invalid arguments or sizes, filters that don't
 * match, or an operation that the filter doesn't support. The message is the core's.
 */
public final class PetalException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    private final String status;
    private final long offset;
    private final String path;

    PetalException(String message, String status, long offset, String path) {
        super(message);
        this.status = status;
        this.offset = offset;
        this.path = path;
    }

    /** The core's name for the failure, such as "bad argument". */
    public String status() {
        return status;
    }

    /** The offset in the input or the index of the key at which the failure was detected, or -1. */
    public long offset() {
        return offset;
    }

    /** The path of the file, or null. */
    public String path() {
        return path;
    }
}
