package petal;

import java.util.Objects;

/** How files, streams and bytes are opened. */
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

    /** "petal", "guava", ...; "auto", the default: the only one that fits. */
    public OpenOptions format(String name) {
        format = Objects.requireNonNull(name);
        return this;
    }

    /** The 16 bytes of a keyed filter. */
    public OpenOptions secret(byte[] secret) {
        this.secret = Builder.checked(secret);
        return this;
    }

    /** How keys become bytes, if the file does not record it. */
    public OpenOptions keyType(KeyType type) {
        keyType = Objects.requireNonNull(type);
        return this;
    }

    /** How much memory opening may take; -1: any. 1 GiB, or 64 times the bytes, if not given. */
    public OpenOptions memoryLimit(long bytes) {
        memoryLimit = bytes;
        return this;
    }

    /** Of a stream: its size. A header that promises more is refused at once. */
    public OpenOptions expectedBytes(long bytes) {
        expectedBytes = bytes;
        return this;
    }

    /** Checks all of a map now, not each block before its first use. */
    public OpenOptions verify() {
        return flag(16);
    }

    /** Trusts the bits of a map: if they are damaged, members may be "certainly not" in. */
    public OpenOptions noVerify() {
        flags &= ~VERIFY_ON_USE;
        return this;
    }

    /** Accepts a file that a writer left halfway. */
    public OpenOptions recover() {
        return flag(32);
    }

    /** Reads a file that another process is changing. */
    public OpenOptions live() {
        return flag(64);
    }

    /** Of Mode.LOAD: keeps others from changing the file until close(). */
    public OpenOptions locked() {
        return flag(128);
    }

    /** For file systems without locks; nobody else may change the file. */
    public OpenOptions noLock() {
        return flag(256);
    }
}
