package petal;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;

/** Converts the core's failures to Java's exceptions, with the message unchanged. */
final class Failure {
    private static final int MEMORY = -4;
    private static final int IO = -8;
    private static final int EXISTS = -9;
    private static final int DIRTY = -15;
    private static final int REPLACED = -19;

    private static final int ENOENT = 2;
    private static final int EACCES = 13;

    private Failure() {}

    /** Called by load.c. `checked` means that the failed call declares IOException. */
    static Throwable of(int status, byte[] name, byte[] message, int errno, long offset,
            byte[] path, boolean checked) {
        String said = new String(message, StandardCharsets.UTF_8);
        String named = new String(name, StandardCharsets.UTF_8);
        String file = path == null ? null : new String(path, Texts.PATHS);
        if (status == MEMORY) return new OutOfMemoryError(said);
        // True for I/O and lock failures, and for bytes that are damaged or not a filter.
        boolean isIo = status <= IO && status >= DIRTY || status == REPLACED;
        if (!isIo) return new PetalException(said, named, offset, file);
        PetalIOException failure = new PetalIOException(said, named, offset, file, errno);
        if (!checked) return new UncheckedIOException(said, failure);
        return file == null ? failure : known(status, errno, file, said, failure);
    }

    /** Adds a key's index in the batch to the core's failure for that key. */
    static RuntimeException at(long index, RuntimeException failure) {
        if (failure instanceof PetalException) {
            PetalException said = (PetalException) failure;
            return new PetalException(said.getMessage(), said.status(), index, said.path());
        }
        if (!(failure.getCause() instanceof PetalIOException)) return failure;
        PetalIOException said = (PetalIOException) failure.getCause();
        return new UncheckedIOException(said.getMessage(), new PetalIOException(
                said.getMessage(), said.status(), index, said.path(), said.errno()));
    }

    /** Returns java.nio.file's own exception for the failure, with the details as its cause, or
     * the failure itself if there is none. */
    private static Throwable known(int status, int errno, String file, String said,
            PetalIOException failure) {
        if (status == EXISTS) return new FileAlreadyExistsException(file, null, said)
                .initCause(failure);
        if (status != IO) return failure;
        if (errno == ENOENT) return new NoSuchFileException(file, null, said).initCause(failure);
        if (errno == EACCES) return new AccessDeniedException(file, null, said).initCause(failure);
        return failure;
    }
}
