package petal;

import java.util.Objects;

/** Options for opening files, streams and bytes. */
public final class OpenOptions {
    private static final int VERIFY_ON_USE = 2048;

    int flags = VERIFY_ON_USE;
    byte[] secret;
    private String format = "auto";
    KeyType keyType = KeyType.NONE;
    long memoryLimit;
    long expectedBytes;

    byte[] formatName() {
        return Texts.name(format);
    }

    private OpenOptions flag(int flag) {
        flags |= flag;
        return this;
    }

    /** The format's name, such as "petal" or "guava". The default, "auto", selects the only format
     * that matches the input. */
    public OpenOptions format(String name) {
        format = Objects.requireNonNull(name);
        return this;
    }

    /** The 16-byte secret of a keyed filter. */
    public OpenOptions secret(byte[] secret) {
        this.secret = Builder.checked(secret);
        return this;
    }

    /** The key type, for a file that does not record it. */
    public OpenOptions keyType(KeyType type) {
        keyType = Objects.requireNonNull(type);
        return this;
    }

    /**
     * The maximum number of bytes that opening may allocate; -1 means no limit. The default is 1
     * GiB, or 64 times the input's size if that is larger.
     */
    public OpenOptions memoryLimit(long bytes) {
        memoryLimit = bytes;
        return this;
    }

    /** The size of a stream, in bytes. If the header requires a larger size, opening fails
     * immediately. */
    public OpenOptions expectedBytes(long bytes) {
        expectedBytes = bytes;
        return this;
    }

    /** Checks all of a mapped file when it is opened, instead of each block before its first
     * use. */
    public OpenOptions verify() {
        return flag(16);
    }

    /** Trusts a mapped file's bits: if they are damaged, the answer for a key that was added can be
     * "certainly not". */
    public OpenOptions noVerify() {
        flags &= ~VERIFY_ON_USE;
        return this;
    }

    /** Accepts a file whose writer died before it finished. */
    public OpenOptions recover() {
        return flag(32);
    }

    /** Allows opening a file that another process is changing. */
    public OpenOptions live() {
        return flag(64);
    }

    /** With Mode.LOAD, prevents other processes from changing the file until close(). */
    public OpenOptions locked() {
        return flag(128);
    }

    /** Opens the file without a lock, for file systems that lack locks. Make sure that no other
     * process changes the file. */
    public OpenOptions noLock() {
        return flag(256);
    }
}
