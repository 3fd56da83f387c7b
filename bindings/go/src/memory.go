package petal

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// Filters lie outside Go's heap, and to the collector each is a few hundred bytes: left to itself,
// it might wait until gigabytes were held by filters that nobody has any more. So their bytes are
// counted, and it is called when they have grown by as much as there was, in filters or in Go's
// heap: what GOGC=100 means by itself.

// leastOutside is growth that is not worth a collection.
const leastOutside = 64 << 20

var outside struct {
	bytes      int64 // of all filters
	floor      int64 // the least since the last collection for them
	collecting int32
}

// hold counts the filter as having so many bytes.
func (f *Filter) hold(bytes uint64) {
	grown := int64(bytes) - int64(f.held)
	f.held = bytes
	now := atomic.AddInt64(&outside.bytes, grown)
	for floor := atomic.LoadInt64(&outside.floor); now < floor; {
		if atomic.CompareAndSwapInt64(&outside.floor, floor, now) {
			return
		}
		floor = atomic.LoadInt64(&outside.floor)
	}
	if grown > 0 && isTooMuch(now) {
		collect()
	}
}

func isTooMuch(now int64) bool {
	floor := atomic.LoadInt64(&outside.floor)
	return now-floor > leastOutside && now-floor > floor && now-floor > heapBytes()
}

// heapBytes is Go's heap. WebAssembly's memory is in it, and grew when there was no room: so there
// the filters alone count.
func heapBytes() int64 {
	if Backend == "wasm" {
		return 0
	}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}

// collect also gives the finalizers, which close filters, time to begin; while they go on, the
// floor falls.
func collect() {
	if !atomic.CompareAndSwapInt32(&outside.collecting, 0, 1) {
		return
	}
	begun := make(chan bool, 1)
	runtime.SetFinalizer(&struct{ begun chan bool }{begun}, func(first *struct{ begun chan bool }) {
		first.begun <- true
	})
	runtime.GC()
	select {
	case <-begun:
	case <-time.After(100 * time.Millisecond):
	}
	atomic.StoreInt64(&outside.floor, atomic.LoadInt64(&outside.bytes))
	atomic.StoreInt32(&outside.collecting, 0)
}

// weigh counts the layers that adding so many keys may have brought.
func (f *Filter) weigh(keys int) {
	const often = 4096
	if !f.grows {
		return
	}
	if f.unweighed += keys; f.unweighed < often {
		return
	}
	f.unweighed = 0
	if info, err := infoOfHandle(f.handle, allLayers); err == nil {
		f.hold(info.MemoryBytes)
	}
}
