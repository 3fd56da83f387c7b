package petal;

/** What save() does besides. */
public enum SaveOption {
    /** Fails with FileAlreadyExistsException if the file exists. */
    NO_REPLACE(1),
    /** Takes no lock, for file systems without; nobody else may change the file. */
    NO_LOCK(2),
    /** Goes on if the new file cannot have the owner of the old one. */
    NEW_OWNER(4);

    final int code;

    SaveOption(int code) {
        this.code = code;
    }
}
