package petal

import (
	"fmt"
	"math"
	"time"
)

// Scheme is the way a key is turned into bits.
type Scheme uint32

// Schemes of Petal's own filters.
const (
	Blocked  Scheme = 1 // k bits in one or two 64-byte lines, so one or two cache misses per key
	Classic  Scheme = 2 // k bits anywhere in the filter: fewest bits per key, but up to k cache misses
	Counting Scheme = 3 // Classic with 4-bit counters: allows removing keys, at 4 times the size
	Static   Scheme = 4 // smallest scheme, for sets that never change; requires a rate and no
	// capacity; see Freeze
)

// KeyType is the type of the keys before they are converted to bytes. Files record it.
type KeyType uint32

// Key types. A filter with a key type accepts only keys of that type and []byte.
const (
	AnyKeys      KeyType = 0
	TextKeys     KeyType = 1
	UTF16Keys    KeyType = 2 // strings, converted to UTF-16LE
	Int32Keys    KeyType = 3 // integers, converted to 4 bytes
	Int64Keys    KeyType = 4
	Float64Keys  KeyType = 5
	HexKeys      KeyType = 6 // bytes, which the petal command reads as hexadecimal digits
	Base64Keys   KeyType = 7 // bytes, which the petal command reads as base64
	keyTypeCount         = 8
)

func (t KeyType) String() string {
	names := [keyTypeCount]string{"any", "text", "utf16le", "i32", "i64", "f64", "hex", "base64"}
	if t < keyTypeCount {
		return names[t]
	}
	return "unknown"
}

// SecretBytes is the size of a secret, in bytes.
const SecretBytes = 16

type options struct {
	words    words
	format   string
	metadata []byte
	secret   []byte
	refuses  bool
	failed   error
}

// Option is an option for New and Plan.
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

// WithKeyType sets the key type, which the file will record.
func WithKeyType(t KeyType) Option { return slotOption(optionKeyType, uint64(t)) }

// WithMemory limits the size of the bits, in bytes. If the rate passed to New is 0, New uses the
// lowest rate that fits. If the capacity is 0, New uses the largest capacity that the rate allows.
func WithMemory(bytes uint64) Option { return slotOption(optionMemoryBytes, bytes) }

// WithBits sets the size in bits. With both WithBits and WithHashes, the capacity and the rate may
// be 0.
func WithBits(bits uint64) Option { return slotOption(optionBits, bits) }

// WithHashes sets the number of bits per key.
func WithHashes(hashes uint32) Option { return slotOption(optionHashes, uint64(hashes)) }

// WithLinesPerKey sets the number of 64-byte lines that contain a key's bits in a Blocked filter: 1
// or 2.
func WithLinesPerKey(lines uint32) Option { return slotOption(optionLinesPerKey, uint64(lines)) }

// WithSeed sets the hash function's seed. Filters with different seeds set different bits for the
// same keys. Only filters with equal seeds can be merged.
func WithSeed(seed uint64) Option { return slotOption(optionSeed, seed) }

// WithSecret creates a keyed filter with a secret of SecretBytes bytes, for keys that attackers may
// choose. New copies the secret. It is never written to a file.
func WithSecret(secret []byte) Option {
	return func(o *options) { o.secret, o.failed = secretOf(secret, o.failed) }
}

func secretOf(secret []byte, failed error) ([]byte, error) {
	if len(secret) != SecretBytes {
		return nil, refuse(ErrArgument, "a secret has %d bytes, not %d", SecretBytes, len(secret))
	}
	return append([]byte(nil), secret...), failed
}

// WithGrowth adds a layer whenever the filter is full, so that the rate holds for any number of
// keys. The capacity passed to New is that of the first layer.
func WithGrowth() Option { return slotOption(optionGrowth, 1) }

// WithGrowthStep sets how layers grow: each layer has step times the capacity (2 to 64) and ratio
// times the rate of the previous layer. 0 selects the defaults, 2 and 0.85.
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

// WithFoldable chooses a size that Fold can reduce. It requires a rate, and either a capacity or
// WithMemory.
func WithFoldable() Option { return slotOption(optionFoldable, 1) }

// WithWindow creates a filter that remembers at least the given number of the latest keys, and
// forgets older keys. The capacity passed to New must be 0.
func WithWindow(keys uint64) Option { return slotOption(optionWindowKeys, keys) }

// WithWindowTime makes the filter remember keys for at least the duration d. It requires
// WithWindow, with the maximum number of keys added in that time. Call Advance before adding or
// querying keys.
func WithWindowTime(d time.Duration) Option {
	return func(o *options) {
		if d < time.Millisecond {
			o.failed = refuse(ErrArgument, "a window has at least a millisecond, not %v", d)
		}
		o.words[optionWindowMs] = uint64(d / time.Millisecond)
	}
}

// WithGenerations divides a window into 2 to 32 generations. The default is chosen to need little
// memory.
func WithGenerations(n uint32) Option { return slotOption(optionGenerations, uint64(n)) }

// WithFormat creates a filter as the library that defines this format would, such as "guava" or
// "bits-and-blooms". See Formats.
func WithFormat(name string) Option { return func(o *options) { o.format = name } }

// WithMetadata stores up to 65,536 bytes of your own in the file.
func WithMetadata(metadata []byte) Option {
	return func(o *options) { o.metadata = append([]byte(nil), metadata...) }
}

// optionsOf encodes the options for glue.c.
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

// cString returns the string's bytes with a terminating 0.
func cString(what, text string) ([]byte, error) {
	for i := 0; i < len(text); i++ {
		if text[i] == 0 {
			return nil, refuse(ErrArgument, "the %s has a zero byte", what)
		}
	}
	return append([]byte(text), 0), nil
}

// Mode is the way Open opens a file.
type Mode uint32

// Modes of Open.
const (
	// ReadOnly maps the file for reading. It allocates no memory for the bits, and all processes that
	// map the file share its pages.
	ReadOnly Mode = 0
	// Writable maps the file for changes in place, by one process at a time. See Sync.
	Writable Mode = 1
	// Load copies the file to memory and verifies the copy. Changes do not affect the file.
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

// OpenOption is an option for Open, Read and FromBytes.
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

// Verify makes Open check every block of a mapped file against its checksum before Open returns.
// Copies in memory are always verified.
func Verify() OpenOption { return openFlag(16) }

// Recover accepts a file whose writer died, in Writable and Load modes. Keys added since the last
// Sync may be missing.
func Recover() OpenOption { return openFlag(32) }

// Live lets ReadOnly mode open a file that another process is changing.
func Live() OpenOption { return openFlag(64) }

// Locked, in Load mode, locks the file against writers until Close, so that Save replaces exactly
// the version that was loaded.
func Locked() OpenOption { return openFlag(flagLocked) }

const flagLocked = 128

// NoLock opens the file without a lock, for file systems that lack locks. Make sure that no other
// process writes to the file.
func NoLock() OpenOption { return openFlag(256) }

// WithMaxBytes refuses longer files and streams with ErrLimit.
func WithMaxBytes(bytes uint64) OpenOption { return func(o *openOptions) { o.words[1] = bytes } }

// WithMemoryLimit limits the memory that opening may allocate, in bytes. If opening needs more, it
// fails with ErrLimit. The default is 1 GiB, or 64 times the input's size if that is larger.
// math.MaxUint64 means no limit.
func WithMemoryLimit(bytes uint64) OpenOption {
	return func(o *openOptions) { o.words[2] = bytes }
}

// RefuseOverfull is WithRefuseOverfull for a filter opened from a file, a stream or bytes.
func RefuseOverfull() OpenOption { return func(o *openOptions) { o.words[3] = 1 } }

// FromFormat names the format of the input. The default, "auto", selects the only format that
// matches the input.
func FromFormat(name string) OpenOption { return func(o *openOptions) { o.format = name } }

// OfKeys sets the key type of a file that records none, such as another library's file. For
// example, with Int32Keys an integer is looked up as the 4 bytes that Guava's integerFunnel
// produces. If the file records another type, opening it fails with ErrKeyType.
func OfKeys(t KeyType) OpenOption {
	return func(o *openOptions) {
		if t >= keyTypeCount {
			o.failed = refuse(ErrArgument, "there is no key type %d", t)
		}
		o.keys = t
	}
}

// chosenKeys returns the file's key type, or the caller's if the file records none.
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

// NoVerify trusts a mapped file's bits. Without NoVerify, each 64 KiB block is checked against its
// checksum before the first answer from it, so that damage causes ErrDamaged and never a wrong
// "certainly not".
func NoVerify() OpenOption { return func(o *openOptions) { o.words[0] &^= flagVerifyOnUse } }

const flagVerifyOnUse = 2048

// Secret sets the secret that opens a keyed filter.
func Secret(secret []byte) OpenOption {
	return func(o *openOptions) { o.secret, o.failed = secretOf(secret, o.failed) }
}

// ExpectBytes states the size of the stream that Read reads. If the stream's header does not match
// this size, Read fails before it allocates memory.
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

// SaveOption is an option for Save.
type SaveOption func(*saveOptions)

type saveOptions struct {
	flags  uint64
	format string
}

// NoReplace makes Save fail with ErrExists if the file exists.
func NoReplace() SaveOption { return func(o *saveOptions) { o.flags |= 1 } }

// SaveUnlocked makes Save write without a lock. Make sure that no other process changes the file.
func SaveUnlocked() SaveOption { return func(o *saveOptions) { o.flags |= 2 } }

// NewOwner makes Save succeed even if it can't preserve the old file's owner.
func NewOwner() SaveOption { return func(o *saveOptions) { o.flags |= 4 } }

// AsFormat makes Save write another library's format, if that format can represent the filter.
func AsFormat(name string) SaveOption { return func(o *saveOptions) { o.format = name } }
