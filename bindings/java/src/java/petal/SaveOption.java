package petal;

/** Options for save(). */
public enum SaveOption {
    /** Makes saving fail with FileAlreadyExistsException if the file exists. */
    NO_REPLACE(1),
    /**
     * Saves without a lock, for file systems that lack locks. Make sure that no other process
     * changes the file.
     */
    NO_LOCK(2),
    /** Saves even if the old file's owner can't be preserved. */
    NEW_OWNER(4);

    final int code;

    SaveOption(int code) {
        this.code = code;
    }
}
