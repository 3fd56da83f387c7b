"""The hash functions of petal files, for the reader in docs/format.md: XXH3 from its author's
library, and SipHash-2-4 implemented from the paper."""
import ctypes
import ctypes.util

library = ctypes.CDLL(ctypes.util.find_library("xxhash"))
library.XXH3_64bits_withSeed.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
library.XXH3_64bits_withSeed.restype = ctypes.c_uint64
M64 = 2**64 - 1


def xxh3(data, seed):
    return library.XXH3_64bits_withSeed(data, len(data), seed)


def rotate(x, by):
    return (x << by | x >> (64 - by)) & M64


def siphash(data, secret):
    k0, k1 = int.from_bytes(secret[:8], "little"), int.from_bytes(secret[8:], "little")
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def rounds(count):
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0, v2 = (v0 + v1) & M64, (v2 + v3) & M64
            v1, v3 = rotate(v1, 13) ^ v0, rotate(v3, 16) ^ v2
            v0, v2 = (rotate(v0, 32) + v3) & M64, (v2 + v1) & M64
            v1, v3 = rotate(v1, 17) ^ v2, rotate(v3, 21) ^ v0
            v2 = rotate(v2, 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v3 ^= word
        rounds(2)
        v0 ^= word
    v2 ^= 0xFF
    rounds(4)
    return v0 ^ v1 ^ v2 ^ v3
