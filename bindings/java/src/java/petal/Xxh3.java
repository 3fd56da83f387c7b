package petal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * XXH3 (64 bits, with seed) for keys of {@link #LEAST} to {@link #MOST} bytes, as in xxhash.h of
 * libxxhash 0.8. The library hashes all other keys, and all keys in a batch. A single key would
 * have to be copied for the library, which would read the copy before it has reached the cache, and
 * that stall would take longer than the hash itself.
 */
final class Xxh3 {
    static final int LEAST = 4;
    static final int MOST = 128;

    private static final VarHandle WORD =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle HALF =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /** The first words of XXH3's constant kSecret. */
    private static final long S0 = 0xbe4ba423396cfeb8L;
    private static final long S1 = 0x1cad21f72c81017cL;
    private static final long S2 = 0xdb979083e96dd4deL;
    private static final long S3 = 0x1f67b3b7a4a44072L;
    private static final long S4 = 0x78e5c0cc4ee679cbL;
    private static final long S5 = 0x2172ffcc7dd05a82L;
    private static final long S6 = 0x8e2443f7744608b8L;
    private static final long S7 = 0x4c263a81e69035e0L;
    private static final long S8 = 0xcb00c391bb52283cL;
    private static final long S9 = 0xa32e531b8b65d088L;
    private static final long S10 = 0x4ef90da297486471L;
    private static final long S11 = 0xd8acdea946ef1938L;
    private static final long S12 = 0x3f349ce33f76faa8L;
    private static final long S13 = 0x1d4f0bc7c7bbdcf9L;
    private static final long S14 = 0x3159b4cd4be0518aL;
    private static final long S15 = 0x647378d9c97e9fc8L;

    private Xxh3() {}

    static long hash(byte[] key, long seed) {
        int size = key.length;
        if (size <= 8) return ofHalves(key, size, seed);
        return size <= 16 ? ofWords(key, size, seed) : ofPairs(key, size, seed);
    }

    private static long ofHalves(byte[] key, int size, long seed) {
        long first = (int) HALF.get(key, 0);
        long last = (int) HALF.get(key, size - 4) & 0xffffffffL;
        long flip = (S1 ^ S2) - (seed ^ (long) Integer.reverseBytes((int) seed) << 32);
        long hash = last + (first << 32) ^ flip;
        hash ^= Long.rotateLeft(hash, 49) ^ Long.rotateLeft(hash, 24);
        hash *= 0x9fb21c651e98df25L;
        hash ^= (hash >>> 35) + size;
        hash *= 0x9fb21c651e98df25L;
        return hash ^ hash >>> 28;
    }

    private static long ofWords(byte[] key, int size, long seed) {
        long first = word(key, 0) ^ (S3 ^ S4) + seed;
        long last = word(key, size - 8) ^ (S5 ^ S6) - seed;
        return mixed(size + Long.reverseBytes(first) + last + folded(first, last));
    }

    private static long ofPairs(byte[] key, int size, long seed) {
        long sum = size * 0x9e3779b185ebca87L;
        sum += pair(key, 0, S0 + seed, S1 - seed) + pair(key, size - 16, S2 + seed, S3 - seed);
        if (size > 32)
            sum += pair(key, 16, S4 + seed, S5 - seed) + pair(key, size - 32, S6 + seed, S7 - seed);
        if (size > 64)
            sum += pair(key, 32, S8 + seed, S9 - seed)
                    + pair(key, size - 48, S10 + seed, S11 - seed);
        if (size > 96)
            sum += pair(key, 48, S12 + seed, S13 - seed)
                    + pair(key, size - 64, S14 + seed, S15 - seed);
        return mixed(sum);
    }

    private static long pair(byte[] key, int at, long secret, long next) {
        return folded(word(key, at) ^ secret, word(key, at + 8) ^ next);
    }

    static long word(byte[] key, int at) {
        return (long) WORD.get(key, at);
    }

    /** Returns the low half of the unsigned product, XORed with its high half. */
    private static long folded(long a, long b) {
        long high = Math.multiplyHigh(a, b) + (a >> 63 & b) + (b >> 63 & a);
        return a * b ^ high;
    }

    private static long mixed(long hash) {
        hash = (hash ^ hash >>> 37) * 0x165667919e3779f9L;
        return hash ^ hash >>> 32;
    }
}
