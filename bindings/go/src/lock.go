package petal

import "sync/atomic"

// Who may work on a filter: any number of calls that query it, or one that changes it. A writer
// that WriteTo gives the bytes to runs without the lock, so that it, and whoever it waits for, may
// query the filter: a change comes when all streams have ended.

// own takes the filter for a change.
func (f *Filter) own() {
	f.mu.Lock()
	for f.streams > 0 {
		f.ended.Wait()
	}
}

// share is for calls of the library that query: side by side. If keys were added here that the
// library does not know of (lines.go), it takes the filter for itself to tell it.
func (f *Filter) share() (exclusive bool) {
	f.mu.RLock()
	if !f.lines.adding {
		return false
	}
	f.mu.RUnlock()
	f.mu.Lock() // streams do not mind: they began with everything told
	f.settle()
	return true
}

// both locks f, to be changed or not, and another that is queried; in one order by all, so that
// nobody waits for ever, and without a lock while it waits for streams.
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

// lock is for doing this with keys.
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

// stream begins a time in which the filter is not changed, though nobody has the lock. False: it is
// closed.
func (f *Filter) stream() bool {
	exclusive := f.share()
	defer f.unlock(exclusive)
	if f.handle == 0 {
		return false
	}
	atomic.AddInt32(&f.streams, 1)
	return true
}

// endStream has the lock while it counts, so that no change that begins to wait can miss it.
func (f *Filter) endStream() {
	f.mu.RLock()
	atomic.AddInt32(&f.streams, -1)
	f.mu.RUnlock()
	f.ended.Broadcast()
}

// askedOften is how many queries come between two looks at whether all blocks were verified.
const askedOften = 4096

// relieve lets keys be looked up here once the library has verified every block of a file.
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
