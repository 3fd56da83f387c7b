package petal

import (
	"errors"
	"sync"
	"unsafe"
)

// Keys is a slice of keys to process in one batch: Strings, Bytes, Int64s, Float64s or Hashes.
type Keys interface {
	Len() int
	// work processes a piece, keys[from:to], or as much of it as fits. It returns where it stopped.
	work(b *batch, from int) (to int, err error)
	// one processes only keys[i].
	one(f *Filter, do uint32, i int) (bool, error)
}

// Slices of keys. A conversion such as petal.Strings(list) makes no copy.
type (
	Strings  []string
	Bytes    [][]byte
	Int64s   []int64
	Float64s []float64
	// Hashes are well-mixed 64-bit hashes in place of keys, for example from HashMany.
	Hashes []uint64
)

// Len returns the number of keys.
func (k Strings) Len() int { return len(k) }

// Len returns the number of keys.
func (k Bytes) Len() int { return len(k) }

// Len returns the number of keys.
func (k Int64s) Len() int { return len(k) }

// Len returns the number of keys.
func (k Float64s) Len() int { return len(k) }

// Len returns the number of hashes.
func (k Hashes) Len() int { return len(k) }

// AddMany adds keys and returns how many were certainly new. It is equivalent to adding them one by
// one, and much faster. If it fails, the keys before index Error.Offset have been added.
func (f *Filter) AddMany(keys Keys) (added int, err error) { return f.batch(doAdd, keys, nil) }

// ContainsMany returns one answer per key. If it fails at key number Error.Offset, the answers for
// that key and all later keys are true, because nothing is known about them.
func (f *Filter) ContainsMany(keys Keys) ([]bool, error) {
	if keys == nil {
		return nil, nilKeys()
	}
	answers := make([]bool, keys.Len())
	return answers, f.ContainsInto(answers, keys)
}

// RemoveMany removes keys from a Counting filter and returns how many were present. See Remove.
func (f *Filter) RemoveMany(keys Keys) (removed int, err error) {
	return f.batch(doRemove, keys, nil)
}

// AddInto is AddMany with one answer per key: true if it was certainly new. len(answers) must be
// keys.Len().
func (f *Filter) AddInto(answers []bool, keys Keys) error { return f.into(doAdd, answers, keys) }

// ContainsInto is ContainsMany, but writes to the caller's memory. len(answers) must be keys.Len().
func (f *Filter) ContainsInto(answers []bool, keys Keys) error {
	return f.into(doContains, answers, keys)
}

// RemoveInto is RemoveMany with one answer per key: true if it was present. len(answers) must be
// keys.Len().
func (f *Filter) RemoveInto(answers []bool, keys Keys) error {
	return f.into(doRemove, answers, keys)
}

func (f *Filter) into(do uint32, answers []bool, keys Keys) error {
	if keys != nil && len(answers) != keys.Len() {
		return refuse(ErrArgument, "%d answers for %d keys", len(answers), keys.Len())
	}
	_, err := f.batch(do, keys, *(*[]byte)(unsafe.Pointer(&answers)))
	if err != nil && do == doContains {
		unknown(answers, err)
	}
	return err
}

// unknown sets the answers for the failed key and all later keys to true, because nothing is known
// about them.
func unknown(answers []bool, err error) {
	from := 0
	if failed, ok := err.(*Error); ok && failed.Offset > 0 {
		from = int(failed.Offset)
	}
	for ; from < len(answers); from++ {
		answers[from] = true
	}
}

// ContainsAny reports whether any key is probably present. It stops as soon as that is known. On
// error, it returns true.
func (f *Filter) ContainsAny(keys Keys) (bool, error) {
	any, err := f.batch(doAny, keys, nil)
	return any != 0 || err != nil, err
}

// ContainsAll reports whether every key is probably present. It stops as soon as that is known.
// On error, it returns true.
func (f *Filter) ContainsAll(keys Keys) (bool, error) {
	outside, err := f.batch(doAll, keys, nil)
	return outside == 0 || err != nil, err
}

// HashMany returns HashKey of each key.
func (f *Filter) HashMany(keys Keys) ([]uint64, error) {
	if keys == nil {
		return nil, nilKeys()
	}
	hashes := make([]uint64, keys.Len())
	_, err := f.batch(doHash, keys, bytesOf(hashes))
	return hashes, err
}

func nilKeys() error { return refuse(ErrArgument, "no keys: nil") }

// ---- pieces ----

// Go hashes the strings of a piece itself if it can (xxh3.go). Otherwise it copies them into one
// buffer: a pointer to each string would have to be pinned, which costs microseconds per key. A
// piece is small enough to stay in the cache until the library reads it.
const (
	pieceKeys  = 4096
	pieceBytes = 128 << 10
	keptBytes  = 1 << 20
)

// batch is the state of one call for a batch of keys.
type batch struct {
	filter  *Filter
	do      uint32
	results []byte // one byte per key, eight for hashes; or nil
	width   int    // bytes per result
	count   int    // positive ones
	empty   int    // skipped
	ended   bool   // the answer is known, so stop

	joined  []byte                // length 0 between pieces
	offsets [pieceKeys + 1]uint64 // or hashes
	eights  []uint64
	places  []int // index of each key of a piece, if some keys were skipped
	answers [pieceKeys]byte
}

var batches = sync.Pool{New: func() any {
	return &batch{joined: make([]byte, pieceBytes)}
}}

// Fewer than fewKeys keys are processed one by one: preparing a batch would take longer.
const fewKeys = 8

func (f *Filter) batch(do uint32, keys Keys, results []byte) (int, error) {
	if keys == nil {
		return 0, nilKeys()
	}
	if n := keys.Len(); 0 < n && n < fewKeys && do != doHash {
		return f.few(do, keys, results)
	}
	exclusive := f.lockBatch(do)
	defer f.unlock(exclusive)
	if f.handle == 0 {
		return 0, ErrClosed
	}
	if do == doAdd {
		defer f.weigh(keys.Len())
	}
	b := batches.Get().(*batch)
	b.filter, b.do, b.results, b.width = f, do, results, 1
	b.count, b.empty, b.ended = 0, 0, false
	if do == doHash {
		b.width = 8
	}
	count, err := b.run(keys)
	b.filter, b.results = nil, nil
	if len(b.joined) <= keptBytes {
		batches.Put(b)
	}
	return count, err
}

// lockBatch is like lock, but for calls into the library: keys that Go added itself must be
// reported to the library first.
func (f *Filter) lockBatch(do uint32) (exclusive bool) {
	if do != doAdd && do != doRemove {
		return f.share()
	}
	if exclusive = f.lock(do); exclusive {
		f.settle()
	}
	return exclusive
}

func (f *Filter) few(do uint32, keys Keys, results []byte) (count int, err error) {
	asked, ends := do, -1
	switch do {
	case doAny:
		asked, ends = doContains, 1
	case doAll:
		asked, ends = doContains, 0
	}
	defer f.unlock(f.lock(asked))
	empty := 0
	for i, n := 0, keys.Len(); i < n; i++ {
		answer, err := keys.one(f, asked, i)
		if errors.Is(err, ErrEmptyKey) {
			empty++
		} else if err != nil {
			return count, atKey(err, i)
		}
		number := 0
		if answer {
			number = 1
		}
		if results != nil {
			results[i] = byte(number)
		}
		if number == ends {
			return 1, nil
		}
		if ends < 0 {
			count += number
		}
	}
	return count, emptyKeys(empty)
}

// atKey adds the key's index in the batch to a failure for that key.
func atKey(err error, index int) error {
	if failed, ok := err.(*Error); ok {
		failed.Offset = int64(index)
	}
	return err
}

func (k Strings) one(f *Filter, do uint32, i int) (bool, error) { return f.text(do, k[i]) }

func (k Bytes) one(f *Filter, do uint32, i int) (bool, error) { return f.keyed(do, asString(k[i])) }

func (k Int64s) one(f *Filter, do uint32, i int) (bool, error) { return f.int64(do, k[i]) }

func (k Float64s) one(f *Filter, do uint32, i int) (bool, error) { return f.float64(do, k[i]) }

func (k Hashes) one(f *Filter, do uint32, i int) (bool, error) { return f.hash(do, k[i]) }

func (b *batch) run(keys Keys) (int, error) {
	n := keys.Len()
	if n == 0 { // without keys, still check that the call is possible
		return 0, b.call(layoutInt64, nil, nil, 0, 0, nil, 0)
	}
	for from := 0; from < n && !b.ended; {
		to, err := keys.work(b, from)
		if err != nil {
			return b.count, err
		}
		from = to
	}
	return b.count, emptyKeys(b.empty)
}

// call processes count keys, starting at keys[from]. If places is not nil, it holds each key's
// index.
func (b *batch) call(layout uint32, data []byte, offsets []uint64, count, keyBytes int,
	places []int, from int) error {
	var results []byte
	if b.results != nil {
		results = b.results[from*b.width : (from+count)*b.width]
	}
	if places != nil {
		results = b.answers[:count]
	}
	var w words
	status, message := coreBatch(b.do, b.filter.handle, layout, data, offsets, count, keyBytes,
		results, &w)
	switch b.do {
	case doAny:
		b.count += int(w[1])
		b.ended = w[1] != 0
	case doAll: // counts a key that is absent
		if status >= 0 && w[1] == 0 {
			b.count, b.ended = 1, true
		}
	default:
		b.count += int(w[1])
	}
	if places != nil && b.results != nil {
		for i, place := range places {
			b.results[place] = results[i]
		}
	}
	if status >= 0 {
		return nil
	}
	if index := w[wordOffset]; index < uint64(count) && places != nil {
		w[wordOffset] = uint64(places[index])
	} else if index != noOffset {
		w[wordOffset] = index + uint64(from)
	}
	return failure(status, message, &w, b.filter.path)
}

// skips notes that the key at this index is empty and has been skipped.
func (b *batch) skips(place int) {
	if b.results != nil {
		b.results[place] = 0
	}
	b.empty++
}

// each processes as many of keys[from:] as fit into a piece. The index of keys[0] in the batch is
// base. It returns the index of the first key that was not processed.
func each[K string | []byte](b *batch, keys []K, from, base int) (int, error) {
	if b.filter.hashes && b.do != doRemove && b.do != doHash && isHashed(keys[from]) {
		return hash(b, keys, from, base)
	}
	return join(b, keys, from, base)
}

// hash hashes keys up to the first one that is too long for it. A joined piece starts at that key.
func hash[K string | []byte](b *batch, keys []K, from, base int) (int, error) {
	n, seed, list := 0, b.filter.seed, keys[from:]
	for n < len(list) && n < pieceKeys && isHashed(list[n]) {
		b.offsets[n] = xxh3(firstOf(&list[n]), len(list[n]), seed)
		n++
	}
	return base + from + n, b.call(layoutHashes, bytesOf(b.offsets[:n]), nil, n, 0, nil, base+from)
}

// join copies as many of keys[from:] into the piece as fit, and processes them.
func join[K string | []byte](b *batch, keys []K, from, base int) (int, error) {
	skip := b.filter.noEmpty && (b.do == doAdd || b.do == doRemove)
	end := len(keys)
	if end-from > pieceKeys {
		end = from + pieceKeys
	}
	joined, places := b.joined, b.places[:0]
	used, n, at := 0, 0, base+from
	b.offsets[0] = 0
	for _, key := range keys[from:end] {
		if skip && len(key) == 0 {
			b.skips(at)
			at++
			continue
		}
		if len(key) > len(joined)-used {
			if n > 0 {
				break
			}
			joined = make([]byte, len(key)) // a long key, alone
		}
		used += copy(joined[used:], key)
		if skip {
			places = append(places, at)
		}
		at++
		n++
		b.offsets[n] = uint64(used)
	}
	b.joined, b.places = joined, places
	if !skip {
		places = nil
	} else if n == 0 {
		return at, nil
	}
	return at, b.call(layoutOffsets64, joined[:used], b.offsets[:n+1], n, 0, places, base+from)
}

func (k Strings) work(b *batch, from int) (int, error) {
	switch b.filter.KeyType() {
	case AnyKeys, TextKeys:
		return each(b, []string(k), from, 0)
	case UTF16Keys:
		return k.wide(b, from)
	}
	return from, b.filter.wrongType("string")
}

// wide processes a piece as UTF-16LE.
func (k Strings) wide(b *batch, from int) (int, error) {
	list := make([][]byte, 0, pieceKeys)
	for at := from; at < len(k) && len(list) < pieceKeys; at++ {
		list = append(list, appendUTF16(nil, k[at]))
	}
	return each(b, list, 0, from)
}

func (k Bytes) work(b *batch, from int) (int, error) { return each(b, [][]byte(k), from, 0) }

func (k Int64s) work(b *batch, from int) (int, error) {
	switch b.filter.KeyType() {
	case AnyKeys, Int64Keys:
		data := *(*[]uint64)(unsafe.Pointer(&k))
		return len(k), b.call(layoutInt64, bytesOf(data[from:]), nil, len(k)-from, 0, nil, from)
	case Int32Keys:
	default:
		return from, b.filter.wrongType("int64")
	}
	joined, at := b.joined[:0], from // pieceBytes has room for pieceKeys
	var wrong error
	for ; at < len(k) && at-from < pieceKeys; at++ {
		narrow, err := narrowed(k[at])
		if err != nil {
			wrong = atKey(err, at)
			break
		}
		joined = append(joined, narrow[:]...)
	}
	if at > from { // the keys before the invalid one
		if err := b.call(layoutFixed, joined, nil, at-from, 4, nil, from); err != nil || b.ended {
			return at, err
		}
	}
	return at, wrong
}

func (k Float64s) work(b *batch, from int) (int, error) {
	if t := b.filter.KeyType(); t != AnyKeys && t != Float64Keys {
		return from, b.filter.wrongType("float64")
	}
	eights, at := b.eights[:0], from
	for ; at < len(k) && at-from < pieceKeys; at++ {
		eights = append(eights, uint64(floatBits(k[at])))
	}
	b.eights = eights
	return at, b.call(layoutInt64, bytesOf(eights), nil, at-from, 0, nil, from)
}

func (k Hashes) work(b *batch, from int) (int, error) {
	if b.do == doHash {
		return from, refuse(ErrArgument, "hashes of hashes")
	}
	return len(k), b.call(layoutHashes, bytesOf(k[from:]), nil, len(k)-from, 0, nil, from)
}

// bytesOf returns the memory of the words.
func bytesOf(words []uint64) []byte {
	if len(words) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
}
