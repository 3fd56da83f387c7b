package petal

import "errors"

const fromKeysMemory = 64 << 20

// FromKeys creates a filter from an unknown number of keys, such as an iter.Seq or the lines of a
// pipe. It reads the keys once, into a 64 MiB filter (or one of WithMemory's size), and then folds
// this filter to the smallest size that keeps the rate. If the result needs at most an eighth of
// that memory, it is at most 1/8 larger than the filter that New would create for the same number
// of keys. If the memory is too small for the keys at that rate, the filter keeps its size and
// IsOverfull is true; if WithRefuseOverfull is given, FromKeys returns ErrFull instead. The filter
// is Blocked or Classic. WithScheme(Static) needs no memory in advance: building takes 16 bytes per
// key.
//
// Each key is copied before the next one is requested, so a []byte may be reused.
func FromKeys[K string | []byte | int64 | float64](keys func(yield func(K) bool), rate float64,
	list ...Option) (*Filter, error) {
	if keys == nil {
		return nil, nilKeys()
	}
	defaults := []Option{WithMemory(fromKeysMemory), WithFoldable()}
	isStatic := schemeOf(list) == Static
	if isStatic {
		defaults = nil
	}
	large, err := New(0, rate, append(defaults, list...)...)
	if err != nil {
		return nil, err
	}
	keys(func(key K) bool {
		err = addKey(large, key)
		return err == nil
	})
	var folded *Filter
	if err == nil && isStatic {
		if err = large.Freeze(); err == nil {
			return large, nil
		}
	} else if err == nil {
		folded, err = large.Fold(0, 0)
	}
	if errors.Is(err, ErrUnreachable) {
		return large, nil
	}
	_ = large.Close()
	return folded, err
}

func addKey[K string | []byte | int64 | float64](f *Filter, key K) (err error) {
	switch key := any(key).(type) {
	case string:
		_, err = f.AddString(key)
	case []byte:
		_, err = f.Add(key)
	case int64:
		_, err = f.AddInt64(key)
	case float64:
		_, err = f.AddFloat64(key)
	}
	return err
}
