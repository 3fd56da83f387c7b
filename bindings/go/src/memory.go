package petal

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// Filters lie outside Go's heap, and each looks like a few hundred bytes to the garbage collector,
// which might not run until unreachable filters hold gigabytes. So this file counts the filters'
// bytes. It runs the collector when they have grown by more than their size at the last forced
// collection and by more than the size of Go's heap, much like GOGC=100.

// leastOutside is the smallest growth, in bytes, that is worth a collection.
const leastOutside = 64 << 20

var outside struct {
	bytes      int64 // total size of all filters, in bytes
	floor      int64 // lowest total since this package last forced a collection
	collecting int32
}

// hold records the filter's new size in bytes.
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

// heapBytes returns the size of Go's heap. It returns 0 for WebAssembly, because the heap then
// contains the filters themselves.
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

// collect runs the collector, and waits briefly for the first finalizer. Finalizers close
// unreachable filters, which lowers the floor.
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

// weigh updates the filter's size after keys were added, since adding may create layers.
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
