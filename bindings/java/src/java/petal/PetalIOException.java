package petal;

import java.io.IOException;

/**
 * Thrown when a file or stream can't be read or written, is in use by another process, or doesn't
 * contain an intact filter. The message is the core's.
 */
public final class PetalIOException extends IOException {
    private static final long serialVersionUID = 1;

    private final String status;
    private final long offset;
    private final String path;
    private final int errno;

    PetalIOException(String message, String status, long offset, String path, int errno) {
        super(message);
        this.status = status;
        this.offset = offset;
        this.path = path;
        this.errno = errno;
    }

    /** The core's name for the failure, such as "damaged". */
    public String status() {
        return status;
    }

    /** The offset in the input at which the failure was detected, or -1. */
    public long offset() {
        return offset;
    }

    /** The path of the file, or null. */
    public String path() {
        return path;
    }

    /** The failed system call's errno, or 0. */
    public int errno() {
        return errno;
    }
}
