package petal;

/** How a file is opened. */
public enum Mode {
    /** Maps the file for queries. Opening takes milliseconds, whatever the file's size. */
    READ(0),
    /** Maps the file for changes in place, by one writer at a time. */
    WRITE(1),
    /** Loads a verified copy into memory. Changes do not affect the file. */
    LOAD(2);

    final int code;

    Mode(int code) {
        this.code = code;
    }
}
