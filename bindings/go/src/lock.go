package petal

import "sync/atomic"

// Any number of calls may query a filter concurrently; a change needs exclusive access. WriteTo
// calls its writer without holding the lock, so that the writer, and whatever it waits for, may
// query the filter. A change waits until all WriteTo calls have returned.

// own locks the filter for a change.
func (f *Filter) own() {
	f.mu.Lock()
	for f.streams > 0 {
		f.ended.Wait()
	}
}

// share locks the filter for a query by the library; queries run concurrently. If Go has added keys
// that have not yet been reported to the library (lines.go), share locks the filter exclusively and
// reports them.
func (f *Filter) share() (exclusive bool) {
	f.mu.RLock()
	if !f.lines.adding {
		return false
	}
	f.mu.RUnlock()
	f.mu.Lock() // no need to wait for streams: stream() reported all keys first
	f.settle()
	return true
}

// both locks f for a change or a query, and the other filter for a query. To prevent deadlocks, it
// locks filters in the order of their ids, and holds no lock while it waits for streams.
func (f *Filter) both(other *Filter, changes bool) (unlock func()) {
	first, second := f, other
	if other.id < f.id {
		first, second = other, f
	}
	lock := func(one *Filter) (exclusive bool) {
		if one == f && changes {
			one.mu.Lock()
			return true
		}
		return one.share()
	}
	for {
		a, b := lock(first), false
		if second != first {
			b = lock(second)
		}
		unlock = func() {
			if second != first {
				second.unlock(b)
			}
			first.unlock(a)
		}
		if !changes || f.streams == 0 {
			return unlock
		}
		unlock()
		f.own()
		f.mu.Unlock()
	}
}

// lock locks the filter for this operation on keys.
func (f *Filter) lock(do uint32) (exclusive bool) {
	if do != doRemove && (do != doAdd || atomic.LoadUint32(&f.shared) != 0) {
		f.mu.RLock()
		if f.guarded && atomic.AddUint32(&f.asked, 1)%askedOften == 0 {
			f.mu.RUnlock()
			f.relieve()
			f.mu.RLock()
		}
		if do != doAdd || f.shared != 0 { // still
			return false
		}
		f.mu.RUnlock()
	}
	f.own()
	return true
}

func (f *Filter) unlock(exclusive bool) {
	if exclusive {
		f.mu.Unlock()
	} else {
		f.mu.RUnlock()
	}
}

// stream keeps the filter from changing, without holding the lock, until endStream is called. It
// returns false if the filter is closed.
func (f *Filter) stream() bool {
	exclusive := f.share()
	defer f.unlock(exclusive)
	if f.handle == 0 {
		return false
	}
	atomic.AddInt32(&f.streams, 1)
	return true
}

// endStream updates the count while holding the lock, so that a change that starts waiting can't
// miss the signal.
func (f *Filter) endStream() {
	f.mu.RLock()
	atomic.AddInt32(&f.streams, -1)
	f.mu.RUnlock()
	f.ended.Broadcast()
}

// askedOften is the number of queries between two checks of whether all blocks are verified.
const askedOften = 4096

// relieve lets Go look up keys itself once the library has verified every block of the file.
func (f *Filter) relieve() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.handle == 0 {
		return
	}
	if info, err := infoOfHandle(f.handle, allLayers); err == nil && info.UncheckedBlocks == 0 {
		f.find(&info)
	}
}
