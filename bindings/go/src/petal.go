// Package petal provides fast Bloom filters, whose files can also be used from C, the shell and
// other languages. It opens filters written by Guava, Spark, Redis, bits-and-blooms and other
// libraries without conversion.
//
// A Bloom filter answers "is this key in the set?" with "certainly not" or "probably", using a few
// bits per key. It never misses a key that was added. For other keys, it wrongly says "probably" at
// a planned rate, the false-positive rate.
//
// Keys are strings and []byte, which are used unchanged, and int64 and float64, which are converted
// to 8 little-endian bytes (all zeros are one key, and so are all NaNs), as in every other
// language. Any number of goroutines may use one Filter: queries run concurrently; a change waits
// for running calls, and later calls wait for the change. No call panics: a call that fails returns
// an error, which errors.Is matches with a Status such as ErrReadOnly.
//
// With cgo, the C library is compiled in. With CGO_ENABLED=0, or with the build tag petal_wasm, the
// library runs as WebAssembly, in wazero. The API is then the same, but files can't be mapped or
// locked, all filters share 4 GiB of memory, and only one call runs at a time. Backend names the
// variant in use.
package petal

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Filter is a set of keys. The zero value is a closed filter, which ReadFrom and UnmarshalBinary
// can fill. Do not copy it.
type Filter struct {
	mu      sync.RWMutex
	ended   sync.Cond // uses mu; signaled when a stream ends
	streams int32     // see lock.go
	handle  uint64    // the library's filter, or 0 if the filter is closed
	id      uint64    // two filters are locked in order of id
	keyType uint32    // a KeyType; read without the lock
	noEmpty bool      // the scheme rejects the empty key
	hashes  bool      // Go may hash keys itself, with xxh3 and this seed
	seed    uint64
	shared  uint32 // 1 if adding needs no exclusive lock, otherwise 0
	lines   lines  // for single keys that Go processes itself
	origin

	guarded   bool   // some blocks must be verified before use
	asked     uint32 // number of queries, for checking `guarded` again from time to time
	held      uint64 // filter's size outside Go's heap, in bytes; see memory.go
	grows     bool   // adding may allocate
	unweighed int    // number of keys added since `held` was last updated
}

// origin contains the properties that the library's filter does not record.
type origin struct {
	path    string
	mapped  bool    // the bits belong to a file
	refuses bool    // adding to an overfull filter fails
	keys    KeyType // key type from OfKeys, if the file records none
}

var lastID uint64

// adopt creates a Filter for a handle from the library.
func adopt(handle uint64, from origin) (*Filter, error) {
	f := new(Filter)
	return f, f.fill(handle, from)
}

// fill stores a handle from the library in a closed filter.
func (f *Filter) fill(handle uint64, from origin) error {
	info, err := infoOfHandle(handle, allLayers)
	if err == nil {
		from.keys, err = chosenKeys(info.KeyType, from.keys)
	}
	if err != nil {
		coreCall(opFree, handle, 0, new(words), nil, nil)
		return err
	}
	f.handle, f.origin = handle, from
	f.noEmpty = info.Abilities&CanEmptyKey == 0
	f.hashes, f.seed = info.Abilities&CanHashes != 0 && info.Hash == "xxh3", info.Seed
	atomic.StoreUint32(&f.keyType, uint32(from.keys))
	atomic.StoreUint32(&f.shared, 0)
	f.ended.L = &f.mu
	if f.id == 0 {
		f.id = atomic.AddUint64(&lastID, 1)
	}
	f.look(&info)
	runtime.SetFinalizer(f, (*Filter).Close)
	return nil
}

// look updates the fields that a change may have invalidated.
func (f *Filter) look(info *Info) {
	f.find(info)
	f.grows = info.Policy != OneLayer || info.Abilities&CanGrow != 0
	f.hold(info.MemoryBytes)
}

// New creates an empty filter for capacity distinct keys with the given false-positive rate. Either
// may be 0 if an option makes it unnecessary.
func New(capacity uint64, rate float64, list ...Option) (*Filter, error) {
	o, data, err := optionsOf(capacity, rate, list)
	if err != nil {
		return nil, err
	}
	if err := run(opCreate, 0, 0, &o.words, data, nil); err != nil {
		return nil, err
	}
	return adopt(o.words[0], origin{refuses: o.refuses})
}

// Plan describes the filter that New would create.
func Plan(capacity uint64, rate float64, list ...Option) (Info, error) {
	o, data, err := optionsOf(capacity, rate, list)
	if err != nil {
		return Info{}, err
	}
	var names [256]byte
	if err := run(opPlan, 0, 0, &o.words, data, names[:]); err != nil {
		return Info{}, err
	}
	return infoOf(&o.words, names[:]), nil
}

// Close releases the filter, its map and its lock. Without Close, the garbage collector releases
// them later. Close waits for running calls. Afterwards, every call except Close returns ErrClosed.
// For a Writable file, Close calls Sync first and returns its result.
func (f *Filter) Close() error {
	f.own()
	defer f.mu.Unlock()
	return f.close()
}

func (f *Filter) close() error {
	if f.handle == 0 {
		return nil
	}
	var w words
	err := f.pathed(run(opSync, f.handle, 0, &w, nil, nil))
	coreCall(opFree, f.handle, 0, &w, nil, nil)
	f.handle, f.lines = 0, lines{}
	f.hold(0)
	runtime.SetFinalizer(f, nil)
	return err
}

// pathed adds the filter's path to an error.
func (f *Filter) pathed(err error) error {
	if failed, ok := err.(*Error); ok && failed.Path == "" {
		failed.Path = f.path
	}
	return err
}

// ask makes a call that changes nothing.
func (f *Filter) ask(op uint32, w *words, data, out []byte) error {
	defer f.unlock(f.share())
	return f.call(op, 0, w, data, out)
}

// change makes a call that needs exclusive access to the filter.
func (f *Filter) change(op uint32, w *words, data []byte) error {
	f.own()
	defer f.mu.Unlock()
	return f.changed(f.call(op, 0, w, data, nil))
}

// changed updates the filter's fields after a change.
func (f *Filter) changed(err error) error {
	if f.handle == 0 {
		return err
	}
	if info, failed := infoOfHandle(f.handle, allLayers); failed == nil {
		f.look(&info)
	}
	return err
}

func (f *Filter) call(op uint32, other uint64, w *words, data, out []byte) error {
	if f.handle == 0 {
		return ErrClosed
	}
	f.settle()
	return f.pathed(run(op, f.handle, other, w, data, out))
}

// make makes a call that creates another filter.
func (f *Filter) make(op uint32, w words) (*Filter, error) {
	if err := f.ask(op, &w, nil, nil); err != nil {
		return nil, err
	}
	return adopt(w[0], origin{refuses: f.refuses, keys: f.KeyType()})
}

// Clone returns a copy in memory. The copy is writable even if f is not.
func (f *Filter) Clone() (*Filter, error) { return f.make(opClone, words{}) }

// EmptyLike returns an empty filter with the same parameters, which can be merged with f.
func (f *Filter) EmptyLike() (*Filter, error) { return f.make(opLike, words{}) }

// DropCounts returns a Classic filter with the keys of a Counting filter, at a quarter of its size.
func (f *Filter) DropCounts() (*Filter, error) { return f.make(opDropCounts, words{}) }

// Fold returns a smaller filter with f's keys. The result is bit for bit the filter that would have
// been created at that size. Its size is the smallest that keeps the rate for the keys present, or
// for capacity keys if that is more. A rate of 0 means f's own rate. Create f WithFoldable. Fold
// returns ErrUnreachable if f already contains more keys than the rate allows. Fold reads every bit
// twice.
func (f *Filter) Fold(rate float64, capacity uint64) (*Filter, error) {
	return f.make(opFold, words{math.Float64bits(rate), capacity})
}

// FoldToBits is like Fold, but the result has exactly this number of bits, which must be a divisor
// of f's number of bits.
func (f *Filter) FoldToBits(bits uint64) (*Filter, error) {
	return f.make(opFold, words{2: bits})
}

// two makes a call that uses both f and other.
func (f *Filter) two(op uint32, other *Filter, changes bool, w *words) error {
	if other == nil || f.id == 0 || other.id == 0 {
		return ErrClosed
	}
	defer f.both(other, changes)()
	if f.handle == 0 || other.handle == 0 {
		return ErrClosed
	}
	err := f.call(op, other.handle, w, nil, nil)
	if changes {
		return f.changed(err)
	}
	return err
}

// Merge adds other's keys to f. The bits are then the same as if all keys had been added to f.
// Merge returns ErrMismatch unless the two filters have the same parameters.
func (f *Filter) Merge(other *Filter) error { return f.two(opMerge, other, true, new(words)) }

// Intersect keeps only the bits that are set in both filters. Every key that is in both filters
// stays present.
func (f *Filter) Intersect(other *Filter) error {
	return f.two(opIntersect, other, true, new(words))
}

// Compare estimates how the keys of two filters with the same parameters overlap.
func (f *Filter) Compare(other *Filter) (Comparison, error) {
	var w words
	if err := f.two(opCompare, other, false, &w); err != nil {
		return Comparison{}, err
	}
	return comparisonOf(&w), nil
}

// Clear removes every key.
func (f *Filter) Clear() error { return f.change(opClear, new(words), nil) }

// Freeze makes the filter permanently read-only: later changes return ErrReadOnly. For a Static
// filter, Freeze builds the filter from its keys. Before Freeze, a Static filter stores 8 bytes per
// key, answers "probably" for every key, and can't be saved.
func (f *Filter) Freeze() error { return f.change(opFreeze, new(words), nil) }

// Share lets goroutines add keys concurrently, without waiting for each other. Each add then costs
// an additional atomic operation. With or without Share, no key is lost. Share returns
// ErrUnsupported for filters with several layers, counting filters, and most foreign schemes.
func (f *Filter) Share() error {
	f.own()
	defer f.mu.Unlock()
	err := f.call(opShare, 0, new(words), nil, nil)
	if err == nil {
		atomic.StoreUint32(&f.shared, 1)
	}
	return f.changed(err)
}

// Advance sets a time window's clock. A time window forgets old keys only when Advance is called.
func (f *Filter) Advance(now time.Time) error {
	ms := now.UnixMilli()
	if ms < 0 {
		return refuse(ErrArgument, "the clock starts in 1970, not at %v", now)
	}
	return f.change(opAdvance, &words{uint64(ms)}, nil)
}

// Sync makes the changes of a Writable file durable. For other filters it does nothing.
func (f *Filter) Sync() error { return f.change(opSync, new(words), nil) }

// Verify checks every block of a mapped file against its checksum. Verify returns false and no
// error if the filter has no checksums.
func (f *Filter) Verify() (checked bool, err error) {
	defer f.unlock(f.share())
	if f.handle == 0 {
		return false, ErrClosed
	}
	var w words
	status, message := coreCall(opVerify, f.handle, 0, &w, nil, nil)
	return status == 0, failure(status, message, &w, f.path)
}

// Metadata returns a copy of the filter's metadata, or nil if it has none.
func (f *Filter) Metadata() ([]byte, error) {
	defer f.unlock(f.share())
	var w words
	if err := f.call(opMetadata, 0, &w, nil, nil); err != nil || w[0] == 0 {
		return nil, err
	}
	metadata := make([]byte, w[0])
	return metadata, f.call(opMetadata, 0, &w, nil, metadata)
}

// SetMetadata replaces the metadata.
func (f *Filter) SetMetadata(metadata []byte) error {
	return f.change(opSetMetadata, new(words), metadata)
}

// Path returns the path of the file that the filter was opened from, or "" if there is none.
func (f *Filter) Path() string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.path
}

// KeyType returns the key type recorded in the filter's file, or the one set with OfKeys.
func (f *Filter) KeyType() KeyType { return KeyType(atomic.LoadUint32(&f.keyType)) }

// String describes the filter in one line.
func (f *Filter) String() string {
	info, err := f.Info()
	if err != nil {
		return "petal.Filter(" + err.Error() + ")"
	}
	planned := ""
	if info.Capacity > 0 && !math.IsNaN(info.TargetRate) {
		planned = fmt.Sprintf(", capacity %d, rate %g", info.Capacity, info.TargetRate)
	}
	return fmt.Sprintf("petal.Filter(%s%s, %d items, %d bytes)", info.Scheme, planned, info.Items,
		info.Bytes)
}

// Version returns the library's version, such as "0.1.0".
func Version() string {
	var out [64]byte
	coreCall(opVersion, 0, 0, new(words), nil, out[:])
	return texts(out[:], 1)[0]
}
