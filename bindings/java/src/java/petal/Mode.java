package petal;

/** How a file is opened. */
public enum Mode {
    /** Mapped for queries: opening takes milliseconds at any size. */
    READ(0),
    /** Mapped and changed in place: one writer at a time. */
    WRITE(1),
    /** A verified copy in memory, which can be changed; the file is not changed. */
    LOAD(2);

    final int code;

    Mode(int code) {
        this.code = code;
    }
}
