package petal

import (
	"fmt"
	"math"
	"unicode/utf16"
	"unsafe"
)

// asString returns the bytes as a string without a copy, for the duration of a call.
func asString(key []byte) string { return *(*string)(unsafe.Pointer(&key)) }

// Add adds a key. It returns true if the key was certainly new.
func (f *Filter) Add(key []byte) (added bool, err error) { return f.oneBytes(doAdd, key) }

// AddString is Add for the string's bytes.
func (f *Filter) AddString(key string) (added bool, err error) { return f.oneText(doAdd, key) }

// AddInt64 is Add for an integer's 8 bytes.
func (f *Filter) AddInt64(key int64) (added bool, err error) { return f.oneInt64(doAdd, key) }

// AddFloat64 is Add for a number's 8 bytes.
func (f *Filter) AddFloat64(key float64) (added bool, err error) { return f.oneFloat64(doAdd, key) }

// AddHash is Add for a key's 64-bit hash, from HashKey or another good hash function.
func (f *Filter) AddHash(hash uint64) (added bool, err error) { return f.oneHash(doAdd, hash) }

// Contains returns false if the key was certainly never added, true if it probably was. If it
// returns an error, it also returns true, because the key may be present.
func (f *Filter) Contains(key []byte) (bool, error) { return f.oneBytes(doContains, key) }

// ContainsString is Contains for the string's bytes.
func (f *Filter) ContainsString(key string) (bool, error) { return f.oneText(doContains, key) }

// ContainsInt64 is Contains for an integer's 8 bytes.
func (f *Filter) ContainsInt64(key int64) (bool, error) { return f.oneInt64(doContains, key) }

// ContainsFloat64 is Contains for a number's 8 bytes.
func (f *Filter) ContainsFloat64(key float64) (bool, error) { return f.oneFloat64(doContains, key) }

// ContainsHash is Contains for a key's hash.
func (f *Filter) ContainsHash(hash uint64) (bool, error) { return f.oneHash(doContains, hash) }

// Remove removes a key from a Counting filter. It returns false if the key was certainly absent.
// Each Remove undoes one Add. Remove only keys that were added: removing a false positive damages
// keys that are present.
func (f *Filter) Remove(key []byte) (removed bool, err error) {
	return f.oneBytes(doRemove, key)
}

// RemoveString is Remove for the string's bytes.
func (f *Filter) RemoveString(key string) (removed bool, err error) { return f.oneText(doRemove, key) }

// RemoveInt64 is Remove for an integer's 8 bytes.
func (f *Filter) RemoveInt64(key int64) (removed bool, err error) { return f.oneInt64(doRemove, key) }

// RemoveFloat64 is Remove for a number's 8 bytes.
func (f *Filter) RemoveFloat64(key float64) (removed bool, err error) {
	return f.oneFloat64(doRemove, key)
}

// RemoveHash is Remove for a key's hash.
func (f *Filter) RemoveHash(hash uint64) (removed bool, err error) { return f.oneHash(doRemove, hash) }

// HashKey returns the 64-bit hash of a key under the filter's hash and seed or secret.
func (f *Filter) HashKey(key []byte) (uint64, error) {
	var w words
	err := f.ask(opHash, &w, key, nil)
	return w[0], err
}

// HashString is HashKey for the string's bytes.
func (f *Filter) HashString(key string) (uint64, error) {
	hashes, err := f.HashMany(Strings{key})
	if err != nil {
		return 0, err
	}
	return hashes[0], nil
}

// ShardOf returns a key's shard, a number below shards. A key has the same shard in every language
// and for every filter. If shards is 0, ShardOf returns 0.
func ShardOf(key []byte, shards uint32) uint32 {
	w := words{uint64(shards)}
	coreCall(opShard, 0, 0, &w, key, nil)
	return uint32(w[0])
}

// ---- one key ----

func (f *Filter) oneBytes(do uint32, key []byte) (bool, error) {
	exclusive := f.lock(do)
	answer, err := f.keyed(do, asString(key))
	f.unlock(exclusive)
	return answer, err
}

func (f *Filter) oneText(do uint32, key string) (bool, error) {
	exclusive := f.lock(do)
	answer, err := f.text(do, key)
	f.unlock(exclusive)
	return answer, err
}

func (f *Filter) oneInt64(do uint32, key int64) (bool, error) {
	exclusive := f.lock(do)
	answer, err := f.int64(do, key)
	f.unlock(exclusive)
	return answer, err
}

func (f *Filter) oneFloat64(do uint32, key float64) (bool, error) {
	exclusive := f.lock(do)
	answer, err := f.float64(do, key)
	f.unlock(exclusive)
	return answer, err
}

func (f *Filter) oneHash(do uint32, hash uint64) (bool, error) {
	exclusive := f.lock(do)
	answer, err := f.hash(do, hash)
	f.unlock(exclusive)
	return answer, err
}

// keyed processes the bytes of one key. The caller of this function and of those below holds
// lock(do).
func (f *Filter) keyed(do uint32, key string) (bool, error) {
	if f.handle == 0 {
		return do == doContains, ErrClosed
	}
	if len(key) == 0 && f.noEmpty {
		return false, emptyKeyOf(do)
	}
	if f.takes(do) {
		return f.lines.hashDone(do, f.hashOf(key)), nil
	}
	f.settle()
	status := coreKey(do, f.handle, key)
	if status >= 0 {
		if do == doAdd {
			f.weigh(1)
		}
		return answer(do, status), nil
	}
	// A batch of this one key fails in the same way, and also returns a message.
	var w words
	status, message := coreBatch(do, f.handle, layoutFixed, []byte(key), nil, 1, len(key), nil, &w)
	err := failureOfOne(status, message, &w, f.path)
	return err == nil && w[1] == 1 || err != nil && do == doContains, err
}

// hashOf returns the hash of a key, computed in Go, for filters that allow this.
func (f *Filter) hashOf(key string) uint64 {
	if isHashed(key) {
		return xxh3(firstOf(&key), len(key), f.seed)
	}
	var w words
	coreCall(opHash, f.handle, 0, &w, []byte(key), nil)
	return w[0]
}

// answer converts a status to the call's answer. The status is 1 or 0 for contains; it is 0 if add
// added a new key or remove removed a key.
func answer(do uint32, status int32) bool { return (status == 0) != (do == doContains) }

func emptyKeyOf(do uint32) error {
	if do == doContains {
		return nil
	}
	return emptyKeys(1)
}

// For a batch of one key, the offset is always 0, so it is dropped.
func failureOfOne(status int32, message string, w *words, path string) error {
	w[wordOffset] = noOffset
	return failure(status, message, w, path)
}

func (f *Filter) text(do uint32, key string) (bool, error) {
	switch f.KeyType() {
	case AnyKeys, TextKeys:
		return f.keyed(do, key)
	case UTF16Keys:
		return f.keyed(do, asString(appendUTF16(nil, key)))
	}
	return do == doContains, f.wrongType("string")
}

func (f *Filter) wrongType(given string) error {
	return fmt.Errorf("petal: %w: the filter has %v keys, not %s", ErrKeyType, f.KeyType(), given)
}

func (f *Filter) int64(do uint32, key int64) (bool, error) {
	switch f.KeyType() {
	case AnyKeys, Int64Keys:
		return f.number(do, key)
	case Int32Keys:
		narrow, err := narrowed(key)
		if err != nil {
			return do == doContains, err
		}
		return f.keyed(do, asString(narrow[:]))
	}
	return do == doContains, f.wrongType("int64")
}

func narrowed(key int64) ([4]byte, error) {
	if key != int64(int32(key)) {
		return [4]byte{}, &Error{Status: ErrArgument, Offset: -1, cause: ErrKeyRange,
			Message: fmt.Sprintf("%v: %d has more than 32 bits", ErrKeyRange, key)}
	}
	return [4]byte{byte(key), byte(key >> 8), byte(key >> 16), byte(key >> 24)}, nil
}

func (f *Filter) float64(do uint32, key float64) (bool, error) {
	switch f.KeyType() {
	case AnyKeys, Float64Keys:
		return f.number(do, floatBits(key))
	}
	return do == doContains, f.wrongType("float64")
}

// floatBits returns a number's key bytes as an integer. Both zeros have the same key bytes, and so
// do all NaNs.
func floatBits(key float64) int64 {
	if key == 0 {
		return 0
	}
	if key != key {
		return 0x7ff8000000000000
	}
	return int64(math.Float64bits(key))
}

func (f *Filter) number(do uint32, key int64) (bool, error) {
	if f.takes(do) {
		return f.lines.hashDone(do, xxh3Eight(uint64(key), f.seed)), nil
	}
	return f.eight(do, layoutInt64, uint64(key))
}

func (f *Filter) hash(do uint32, hash uint64) (bool, error) {
	if f.takes(do) {
		return f.lines.hashDone(do, hash), nil
	}
	return f.eight(do, layoutHashes, hash)
}

// eight passes an 8-byte integer or hash to the library.
func (f *Filter) eight(do, layout uint32, value uint64) (bool, error) {
	if f.handle == 0 {
		return do == doContains, ErrClosed
	}
	f.settle()
	var status int32
	if layout == layoutInt64 {
		status = coreInt64(do, f.handle, int64(value))
	} else {
		status = coreHash(do, f.handle, value)
	}
	if status >= 0 {
		if do == doAdd {
			f.weigh(1)
		}
		return answer(do, status), nil
	}
	var w words
	status, message := coreBatch(do, f.handle, layout, bytesOf([]uint64{value}), nil, 1, 0, nil, &w)
	err := failureOfOne(status, message, &w, f.path)
	return err == nil && w[1] == 1 || err != nil && do == doContains, err
}

// appendUTF16 appends the string in UTF-16LE. It replaces invalid UTF-8 with U+FFFD, as Go does.
func appendUTF16(to []byte, key string) []byte {
	for _, r := range key {
		if r < 0x10000 {
			to = append(to, byte(r), byte(r>>8))
			continue
		}
		high, low := utf16.EncodeRune(r)
		to = append(to, byte(high), byte(high>>8), byte(low), byte(low>>8))
	}
	return to
}
