package petal

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// This file implements XXH3 (64 bits, with seed) for keys of leastHashed to mostHashed bytes, as in
// libxxhash 0.8, so that strings need not be copied for C or WebAssembly. The library hashes all
// other keys.
const (
	leastHashed = 4
	mostHashed  = 128
)

// The first words of XXH3's constant kSecret.
const (
	s0  uint64 = 0xbe4ba423396cfeb8
	s1  uint64 = 0x1cad21f72c81017c
	s2  uint64 = 0xdb979083e96dd4de
	s3  uint64 = 0x1f67b3b7a4a44072
	s4  uint64 = 0x78e5c0cc4ee679cb
	s5  uint64 = 0x2172ffcc7dd05a82
	s6  uint64 = 0x8e2443f7744608b8
	s7  uint64 = 0x4c263a81e69035e0
	s8  uint64 = 0xcb00c391bb52283c
	s9  uint64 = 0xa32e531b8b65d088
	s10 uint64 = 0x4ef90da297486471
	s11 uint64 = 0xd8acdea946ef1938
	s12 uint64 = 0x3f349ce33f76faa8
	s13 uint64 = 0x1d4f0bc7c7bbdcf9
	s14 uint64 = 0x3159b4cd4be0518a
	s15 uint64 = 0x647378d9c97e9fc8
)

func isHashed[K string | []byte](key K) bool {
	return uint(len(key))-leastHashed <= mostHashed-leastHashed
}

// firstOf returns the address of a key's bytes. Go 1.19 lacks unsafe.StringData.
func firstOf[K string | []byte](key *K) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(key))
}

// xxh3 hashes the n bytes at first.
func xxh3(first unsafe.Pointer, n int, seed uint64) uint64 {
	if n <= 16 {
		return xxh3Short(first, n, seed)
	}
	sum := uint64(n) * 0x9e3779b185ebca87
	sum += pair(first, 0, s0+seed, s1-seed) + pair(first, n-16, s2+seed, s3-seed)
	if n > 32 {
		sum += pair(first, 16, s4+seed, s5-seed) + pair(first, n-32, s6+seed, s7-seed)
	}
	if n > 64 {
		sum += pair(first, 32, s8+seed, s9-seed) + pair(first, n-48, s10+seed, s11-seed)
	}
	if n > 96 {
		sum += pair(first, 48, s12+seed, s13-seed) + pair(first, n-64, s14+seed, s15-seed)
	}
	return xxh3Mixed(sum)
}

func xxh3Short(first unsafe.Pointer, n int, seed uint64) uint64 {
	if n <= 8 {
		return xxh3Halves(first, n, seed)
	}
	low := word(first, 0) ^ ((s3 ^ s4) + seed)
	high := word(first, n-8) ^ ((s5 ^ s6) - seed)
	return xxh3Mixed(uint64(n) + bits.ReverseBytes64(low) + high + folded(low, high))
}

func xxh3Halves(first unsafe.Pointer, n int, seed uint64) uint64 {
	return xxh3Joined(half(first, n-4)+half(first, 0)<<32, n, seed)
}

// xxh3Eight hashes the 8 little-endian bytes of a number.
func xxh3Eight(key, seed uint64) uint64 { return xxh3Joined(bits.RotateLeft64(key, 32), 8, seed) }

func xxh3Joined(hash uint64, n int, seed uint64) uint64 {
	seed ^= uint64(bits.ReverseBytes32(uint32(seed))) << 32
	hash ^= (s1 ^ s2) - seed
	hash ^= bits.RotateLeft64(hash, 49) ^ bits.RotateLeft64(hash, 24)
	hash *= 0x9fb21c651e98df25
	hash ^= hash>>35 + uint64(n)
	hash *= 0x9fb21c651e98df25
	return hash ^ hash>>28
}

func pair(first unsafe.Pointer, at int, secret, next uint64) uint64 {
	return folded(word(first, at)^secret, word(first, at+8)^next)
}

// word reads a word without bounds checks, which would take up a third of the hashing time.
func word(first unsafe.Pointer, at int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(first, at))[:])
}

func half(first unsafe.Pointer, at int) uint64 {
	return uint64(binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(first, at))[:]))
}

func folded(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

func xxh3Mixed(hash uint64) uint64 {
	hash = (hash ^ hash>>37) * 0x165667919e3779f9
	return hash ^ hash>>32
}
