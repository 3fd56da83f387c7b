package petal;

/** Options for save(). */
public enum SaveOption {
    /** Fails with FileAlreadyExistsException if the file exists. */
    NO_REPLACE(1),
    /**
     * Takes no lock, for file systems without locks; make sure that nobody else changes the file.
     */
    NO_LOCK(2),
    /** Saves even if the old file's owner can't be preserved. */
    NEW_OWNER(4);

    final int code;

    SaveOption(int code) {
        this.code = code;
    }
}
