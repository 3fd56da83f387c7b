package petal;

/** A file format. */
public final class Format {
    private final String name;
    private final String keys;
    private final boolean readable;
    private final boolean writable;
    private final boolean creatable;
    private final boolean recognizable;
    private final boolean mappable;

    Format(String name, String keys, int abilities) {
        this.name = name;
        this.keys = keys;
        this.readable = (abilities & 1) != 0;
        this.writable = (abilities & 2) != 0;
        this.creatable = (abilities & 4) != 0;
        this.recognizable = (abilities & 8) != 0;
        this.mappable = (abilities & 16) != 0;
    }

    /** "petal", "guava", ... */
    public String name() {
        return name;
    }

    /** A short description of how the format's library turns keys into bytes. */
    public String keys() {
        return keys;
    }

    /** True if the format can be read. */
    public boolean isReadable() {
        return readable;
    }

    /** True if the format can be written. */
    public boolean isWritable() {
        return writable;
    }

    /** True if Petal can create new filters in this format. */
    public boolean isCreatable() {
        return creatable;
    }

    /** True if Petal can recognize files in this format. */
    public boolean isRecognizable() {
        return recognizable;
    }

    /** True if files in this format can be opened without a copy. */
    public boolean isMappable() {
        return mappable;
    }
}
