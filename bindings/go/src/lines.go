package petal

import (
	"math/bits"
	"unsafe"
)

// lines processes single keys in Go for the simplest kind of filter (the blocked scheme, xxh3
// hashes, one layer), as docs/format.md specifies, because a call into C would take longer than
// processing the key. Go reads the lines in the library's memory. Go also writes to them if adding
// changes only the bits and the number of keys (petal_inline.h specifies when). Answers and bits
// are the same as if the library processed the keys.
type lines struct {
	at       uint64 // address of the first line, or 0 if the library processes the keys
	count    uint64
	words    uint32 // bits per key in its first line, each in its own word: 1 to 16
	others   uint32 // bits per key in its second line, or 0 if each key has one line
	writable bool   // by begin
	adding   bool   // added keys are not yet reported to the library
	added    uint64
	inside   words // petal_inline struct from begin, which settle passes back to the library
}

// find looks up the address of the lines, which any change except adding may move.
func (f *Filter) find(info *Info) {
	f.lines = lines{}
	f.guarded = info.Verifies && info.UncheckedBlocks > 0
	if !f.hashes || info.Scheme != "blocked" || info.Layers != 1 || info.Policy != OneLayer ||
		f.guarded {
		return
	}
	var w words
	if run(opBits, f.handle, 0, &w, nil, nil) != nil || w[1] < lineBytes {
		return
	}
	l := &f.lines
	l.at, l.count = w[0], info.Bits/(8*lineBytes)
	l.words = info.Hashes
	if info.LinesPerKey == 2 {
		l.words, l.others = (info.Hashes+1)/2, info.Hashes/2
	}
	l.writable = info.Abilities&CanAdd != 0 && l.others == 0 && f.shared == 0 && !f.mapped && !f.refuses
}

// begin is called before Go adds its first key. The caller has locked the filter for a change.
func (f *Filter) begin() bool {
	l := &f.lines
	if l.adding || !l.writable {
		return l.adding
	}
	l.adding = run(opBegin, f.handle, 0, &l.inside, nil, nil) == nil
	l.writable = l.adding
	return l.adding
}

// settle reports the keys added in Go to the library. It must be called before the library uses the
// filter. The caller has locked the filter for a change.
func (f *Filter) settle() {
	l := &f.lines
	if !l.adding {
		return
	}
	l.inside[wordAdded] = l.added
	coreCall(opEnd, f.handle, 0, &l.inside, nil, nil)
	l.adding, l.added = false, 0
}

// takes reports whether Go can do this operation without the library.
func (f *Filter) takes(do uint32) bool {
	return f.lines.at != 0 && (do == doContains || do == doAdd && f.begin())
}

// hashDone adds a key or looks it up, with the same answers as Add and Contains.
func (l *lines) hashDone(do uint32, hash uint64) bool {
	first := coreEnter(l.at)
	var answer bool
	if do == doContains {
		answer = l.has(first, hash)
	} else {
		l.added++
		answer = lineOf(first, hash, l.count).add(uint32(hash), l.words)
	}
	coreLeave()
	return answer
}

func (l *lines) has(first unsafe.Pointer, hash uint64) bool {
	if !lineOf(first, hash, l.count).has(uint32(hash), l.words) {
		return false
	}
	if l.others == 0 {
		return true
	}
	hash = fmix64(hash)
	return lineOf(first, hash, l.count).has(uint32(hash), l.others)
}

// ---- one line ----

const lineBytes = 64

type line [lineBytes]byte

var salts = [16]uint32{
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
	0xd1b54a33, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1, 0xd6e8feb9, 0xff51afd7, 0xc4ceb9ff,
}

func lineOf(first unsafe.Pointer, hash, count uint64) *line {
	number, _ := bits.Mul64(hash, count)
	return (*line)(unsafe.Add(first, number*lineBytes))
}

// walk returns the index of the first bit's word, and the stride from each word to the next.
func walk(x uint32) (word, stride uint32) {
	y := x * 0x9e3779b1
	return y >> 28, 2*(y>>25&7) + 1
}

// bitOf returns the mask of the key's bit in a word, and the index of its byte in the line.
func bitOf(x, word uint32) (at uint32, bit byte) {
	place := word&15<<5 | x*salts[word&15]>>27
	return place >> 3 & (lineBytes - 1), 1 << (place & 7)
}

func (l *line) has(x, words uint32) bool {
	word, stride := walk(x)
	for ; words > 0; words-- {
		at, bit := bitOf(x, word)
		if l[at]&bit == 0 {
			return false
		}
		word += stride
	}
	return true
}

// add sets the key's bits. It returns true if any of them was clear.
func (l *line) add(x, words uint32) bool {
	word, stride := walk(x)
	missing := byte(0)
	for ; words > 0; words-- {
		at, bit := bitOf(x, word)
		missing |= bit &^ l[at]
		l[at] |= bit
		word += stride
	}
	return missing != 0
}

func fmix64(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
