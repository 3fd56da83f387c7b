package petal

import (
	"fmt"
	"math"
	"time"
)

// Scheme says how a key is turned into bits.
type Scheme uint32

// Schemes of Petal's own filters.
const (
	Blocked  Scheme = 1 // k bits in one or two 64-byte lines: one or two cache misses per key
	Classic  Scheme = 2 // k bits anywhere: the fewest bits per key, up to k cache misses
	Counting Scheme = 3 // Classic with 4-bit counters: keys can be removed, at 4 times the size
	Static   Scheme = 4 // the smallest, for sets that never change; rate, no capacity; see Freeze
)

// KeyType is the type that keys had before they became bytes. The file records it.
type KeyType uint32

// Key types. A filter with a type accepts only keys of that type and []byte.
const (
	AnyKeys      KeyType = 0
	TextKeys     KeyType = 1
	UTF16Keys    KeyType = 2 // strings, as UTF-16LE, like a JVM's
	Int32Keys    KeyType = 3 // integers, as 4 bytes
	Int64Keys    KeyType = 4
	Float64Keys  KeyType = 5
	HexKeys      KeyType = 6 // bytes; the command petal reads them as hex digits
	Base64Keys   KeyType = 7 // bytes; the command petal reads them as base64
	keyTypeCount         = 8
)

func (t KeyType) String() string {
	names := [keyTypeCount]string{"any", "text", "utf16le", "i32", "i64", "f64", "hex", "base64"}
	if t < keyTypeCount {
		return names[t]
	}
	return "unknown"
}

// SecretBytes is the size of a secret.
const SecretBytes = 16

type options struct {
	words    words
	format   string
	metadata []byte
	secret   []byte
	refuses  bool
	failed   error
}

// Option is an option of New and Plan.
type Option func(*options)

func slotOption(slot int, value uint64) Option {
	return func(o *options) { o.words[slot] = value }
}

// WithScheme sets the scheme; the default is Blocked.
func WithScheme(scheme Scheme) Option { return slotOption(optionScheme, uint64(scheme)) }

func schemeOf(list []Option) Scheme {
	var o options
	for _, option := range list {
		option(&o)
	}
	return Scheme(o.words[optionScheme])
}

// WithKeyType records the type of the keys in the file.
func WithKeyType(t KeyType) Option { return slotOption(optionKeyType, uint64(t)) }

// WithMemory limits the bits to this many bytes. If no rate is given (0 passed to New), New uses
// the best rate that fits. If no capacity is given, New uses the largest capacity that the rate
// allows.
func WithMemory(bytes uint64) Option { return slotOption(optionMemoryBytes, bytes) }

// WithBits sets the size in bits; capacity and rate may be 0 if WithHashes is also given.
func WithBits(bits uint64) Option { return slotOption(optionBits, bits) }

// WithHashes sets the number of bits per key.
func WithHashes(hashes uint32) Option { return slotOption(optionHashes, uint64(hashes)) }

// WithLinesPerKey spreads a key's bits over one or two 64-byte lines (Blocked).
func WithLinesPerKey(lines uint32) Option { return slotOption(optionLinesPerKey, uint64(lines)) }

// WithSeed sets the seed of the hash, so that the same keys set different bits. Only filters with
// equal seeds can be merged.
func WithSeed(seed uint64) Option { return slotOption(optionSeed, seed) }

// WithSecret creates a keyed filter with a secret of SecretBytes bytes, for keys that attackers may
// choose. The secret is copied, and is never written to a file.
func WithSecret(secret []byte) Option {
	return func(o *options) { o.secret, o.failed = secretOf(secret, o.failed) }
}

func secretOf(secret []byte, failed error) ([]byte, error) {
	if len(secret) != SecretBytes {
		return nil, refuse(ErrArgument, "a secret has %d bytes, not %d", SecretBytes, len(secret))
	}
	return append([]byte(nil), secret...), failed
}

// WithGrowth is for sets of unknown size: when the filter is full, it adds a layer, so the rate
// holds for any number of keys. New's capacity applies to the first layer.
func WithGrowth() Option { return slotOption(optionGrowth, 1) }

// WithGrowthStep gives each layer step times the capacity of the one before (2 to 64), and ratio
// times its rate. 0 selects the defaults, 2 and 0.85.
func WithGrowthStep(step uint32, ratio float64) Option {
	return func(o *options) {
		o.words[optionGrowthStep] = uint64(step)
		o.words[optionGrowthRatio] = math.Float64bits(ratio)
	}
}

// WithRefuseOverfull makes adding to an overfull filter fail with ErrFull.
func WithRefuseOverfull() Option {
	return func(o *options) { o.words[optionRefuseOverfull], o.refuses = 1, true }
}

// WithFoldable chooses a size that Fold can make smaller. It needs a rate, and a capacity or
// WithMemory.
func WithFoldable() Option { return slotOption(optionFoldable, 1) }

// WithWindow creates a filter that remembers at least this many of the latest keys, and forgets
// older ones. Pass 0 to New as the capacity.
func WithWindow(keys uint64) Option { return slotOption(optionWindowKeys, keys) }

// WithWindowTime, together with WithWindow, makes the filter remember keys for at least d; call
// Advance before adding and querying. WithWindow's number is then the maximum number of keys in
// that time.
func WithWindowTime(d time.Duration) Option {
	return func(o *options) {
		if d < time.Millisecond {
			o.failed = refuse(ErrArgument, "a window has at least a millisecond, not %v", d)
		}
		o.words[optionWindowMs] = uint64(d / time.Millisecond)
	}
}

// WithGenerations divides a window into 2 to 32 generations; the default needs little memory.
func WithGenerations(n uint32) Option { return slotOption(optionGenerations, uint64(n)) }

// WithFormat creates the filter that another library would create: "guava", "bits-and-blooms", ...;
// see Formats.
func WithFormat(name string) Option { return func(o *options) { o.format = name } }

// WithMetadata stores your bytes in the file, at most 65,536.
func WithMetadata(metadata []byte) Option {
	return func(o *options) { o.metadata = append([]byte(nil), metadata...) }
}

// optionsOf packs options for glue.c.
func optionsOf(capacity uint64, rate float64, list []Option) (*options, []byte, error) {
	o := new(options)
	o.words[optionCapacity], o.words[optionRate] = capacity, math.Float64bits(rate)
	for _, set := range list {
		if set != nil {
			set(o)
		}
	}
	if o.failed != nil {
		return nil, nil, o.failed
	}
	name, err := cString("format", o.format)
	if err != nil {
		return nil, nil, err
	}
	o.words[optionMetadataBytes] = uint64(len(o.metadata))
	data := append(append(name, o.metadata...), o.secret...)
	return o, data, nil
}

// cString returns the string with a terminating 0.
func cString(what, text string) ([]byte, error) {
	for i := 0; i < len(text); i++ {
		if text[i] == 0 {
			return nil, refuse(ErrArgument, "the %s has a zero byte", what)
		}
	}
	return append([]byte(text), 0), nil
}

// Mode says how Open opens a file.
type Mode uint32

// Modes of Open.
const (
	// ReadOnly maps the file for reading: it allocates nothing, and all processes that map the file
	// share the memory.
	ReadOnly Mode = 0
	// Writable maps it for changes in place, by one process at a time; see Sync.
	Writable Mode = 1
	// Load makes a verified copy in memory; the file is not changed.
	Load Mode = 2
)

type openOptions struct {
	words  words
	format string
	secret []byte
	failed error
	size   uint64
	keys   KeyType
}

func (o *openOptions) origin(path string) origin {
	return origin{path: path, refuses: o.words[3] != 0, keys: o.keys}
}

// OpenOption is an option of Open, Read and FromBytes.
type OpenOption func(*openOptions)

func openFlag(flag uint64) OpenOption {
	return func(o *openOptions) { o.words[0] |= flag }
}

// WithMode sets the mode; the default is ReadOnly.
func WithMode(mode Mode) OpenOption {
	return func(o *openOptions) {
		if mode > Load {
			o.failed = refuse(ErrArgument, "there is no mode %d", mode)
		}
		o.words[0] = o.words[0]&^3 | uint64(mode)
	}
}

// Verify makes Open check every block of a mapped file against its checksum before it returns.
// (Copies are always verified.)
func Verify() OpenOption { return openFlag(16) }

// Recover accepts a file whose writer died (with Writable or Load): keys added since the last Sync
// may be missing.
func Recover() OpenOption { return openFlag(32) }

// Live allows reading a file that another process is changing (with ReadOnly).
func Live() OpenOption { return openFlag(64) }

// Locked keeps the file locked against writers until Close (with Load), so that Save replaces
// exactly what was loaded.
func Locked() OpenOption { return openFlag(flagLocked) }

const flagLocked = 128

// NoLock takes no lock, for file systems without locks; make sure that nobody else writes the file.
func NoLock() OpenOption { return openFlag(256) }

// WithMaxBytes refuses longer files and streams with ErrLimit.
func WithMaxBytes(bytes uint64) OpenOption { return func(o *openOptions) { o.words[1] = bytes } }

// WithMemoryLimit limits the bytes that opening may allocate; if more are needed, it fails with
// ErrLimit. The default is 1 GiB or 64 times the bytes given; math.MaxUint64 means no limit.
func WithMemoryLimit(bytes uint64) OpenOption {
	return func(o *openOptions) { o.words[2] = bytes }
}

// RefuseOverfull is WithRefuseOverfull for a filter that is opened.
func RefuseOverfull() OpenOption { return func(o *openOptions) { o.words[3] = 1 } }

// FromFormat names the format of the bytes; the default, "auto", means the only format that fits.
func FromFormat(name string) OpenOption { return func(o *openOptions) { o.format = name } }

// OfKeys gives the key type of a file that records none, such as one from another library. For
// example, Int32Keys looks integers up as the 4 bytes of Guava's integerFunnel. A file that records
// another type is refused with ErrKeyType.
func OfKeys(t KeyType) OpenOption {
	return func(o *openOptions) {
		if t >= keyTypeCount {
			o.failed = refuse(ErrArgument, "there is no key type %d", t)
		}
		o.keys = t
	}
}

// chosenKeys combines the key type that a file records with the one given.
func chosenKeys(recorded, said KeyType) (KeyType, error) {
	areBytes := func(t KeyType) bool { return t == HexKeys || t == Base64Keys }
	if recorded == AnyKeys {
		return said, nil
	}
	if said == AnyKeys || said == recorded || areBytes(said) && areBytes(recorded) {
		return recorded, nil
	}
	return recorded, fmt.Errorf("petal: %w: the filter has %v keys, not %v", ErrKeyType, recorded,
		said)
}

// NoVerify trusts the bits of a mapped file. Without it, each 64 KiB block is checked against its
// checksum before the first answer from it, so that damage gives ErrDamaged and never a wrong
// "certainly not".
func NoVerify() OpenOption { return func(o *openOptions) { o.words[0] &^= flagVerifyOnUse } }

const flagVerifyOnUse = 2048

// Secret opens a keyed filter.
func Secret(secret []byte) OpenOption {
	return func(o *openOptions) { o.secret, o.failed = secretOf(secret, o.failed) }
}

// ExpectBytes gives the size of the stream that Read reads, if it is known: if the stream's header
// does not match that size, Read fails early and allocates nothing.
func ExpectBytes(size uint64) OpenOption { return func(o *openOptions) { o.size = size } }

func openOptionsOf(path string, list []OpenOption) (*openOptions, []byte, error) {
	o := &openOptions{format: "auto"}
	o.words[0] = flagVerifyOnUse
	for _, set := range list {
		if set != nil {
			set(o)
		}
	}
	if o.failed != nil {
		return nil, nil, o.failed
	}
	data, err := cString("format", o.format)
	if err != nil {
		return nil, nil, err
	}
	file, err := cString("path", path)
	if err != nil {
		return nil, nil, err
	}
	data = append(data, file...)
	o.words[4], o.words[5] = uint64(len(data)), uint64(len(o.secret))
	o.words[6] = o.size
	return o, append(data, o.secret...), nil
}

// SaveOption is an option of Save.
type SaveOption func(*saveOptions)

type saveOptions struct {
	flags  uint64
	format string
}

// NoReplace makes Save fail with ErrExists if the file exists.
func NoReplace() SaveOption { return func(o *saveOptions) { o.flags |= 1 } }

// SaveUnlocked makes Save take no lock: make sure that nobody else changes the file.
func SaveUnlocked() SaveOption { return func(o *saveOptions) { o.flags |= 2 } }

// NewOwner lets Save continue if the old file's owner can't be preserved.
func NewOwner() SaveOption { return func(o *saveOptions) { o.flags |= 4 } }

// AsFormat makes Save write another library's format, if that format can hold the filter.
func AsFormat(name string) SaveOption { return func(o *saveOptions) { o.format = name } }
