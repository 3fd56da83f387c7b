package petal;

/**
 * The core refused a call: invalid arguments or sizes, filters that don't match, or abilities that
 * a filter lacks. The message is the core's.
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

    /** The offset in the input or the index of the key at which the failure was noticed; -1 if
     * there is none. */
    public long offset() {
        return offset;
    }

    /** The file, or null. */
    public String path() {
        return path;
    }
}
