package petal;

/** A format of files. */
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

    /** How its library makes bytes of keys, in a few words. */
    public String keys() {
        return keys;
    }

    /** It can be read. */
    public boolean isReadable() {
        return readable;
    }

    /** It can be written. */
    public boolean isWritable() {
        return writable;
    }

    /** Filters can be made as its library makes them. */
    public boolean isCreatable() {
        return creatable;
    }

    /** Files may be recognized. */
    public boolean isRecognizable() {
        return recognizable;
    }

    /** Read without a copy. */
    public boolean isMappable() {
        return mappable;
    }
}
