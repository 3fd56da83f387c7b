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

    /** "petal", "guava", ...; "auto", the default, means the only format that fits. */
    public OpenOptions format(String name) {
        format = Objects.requireNonNull(name);
        return this;
    }

    /** The 16-byte secret of a keyed filter. */
    public OpenOptions secret(byte[] secret) {
        this.secret = Builder.checked(secret);
        return this;
    }

    /** The type of the keys, if the file does not record it. */
    public OpenOptions keyType(KeyType type) {
        keyType = Objects.requireNonNull(type);
        return this;
    }

    /**
     * The maximum number of bytes that opening may allocate; -1 for no limit. The default is 1 GiB
     * or 64 times the bytes given.
     */
    public OpenOptions memoryLimit(long bytes) {
        memoryLimit = bytes;
        return this;
    }

    /** The size of a stream. If the header promises more, opening fails immediately. */
    public OpenOptions expectedBytes(long bytes) {
        expectedBytes = bytes;
        return this;
    }

    /** Checks a mapped file completely now, instead of each block before its first use. */
    public OpenOptions verify() {
        return flag(16);
    }

    /** Trusts a mapped file's bits: if they are damaged, the answer for a key that was added can be
     * "certainly not". */
    public OpenOptions noVerify() {
        flags &= ~VERIFY_ON_USE;
        return this;
    }

    /** Accepts a file whose writer died halfway. */
    public OpenOptions recover() {
        return flag(32);
    }

    /** Reads a file that another process is changing. */
    public OpenOptions live() {
        return flag(64);
    }

    /** With Mode.LOAD: prevents others from changing the file until close(). */
    public OpenOptions locked() {
        return flag(128);
    }

    /** Takes no lock, for file systems without locks; make sure that nobody else changes the
     * file. */
    public OpenOptions noLock() {
        return flag(256);
    }
}
