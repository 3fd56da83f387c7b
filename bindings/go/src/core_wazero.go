//go:build !cgo || petal_wasm

package petal

import (
	"unsafe"

	core "petal.example/petal/internal/wasm"
)

type words = core.Words

// Backend is the way the library runs: "cgo" or "wasm".
const Backend = "wasm"

func coreCall(op uint32, handle, other uint64, w *words, data, out []byte) (int32, string) {
	return core.Call(op, handle, other, w, data, out)
}
func coreKey(op uint32, handle uint64, key string) int32    { return core.Key(op, handle, key) }
func coreInt64(op uint32, handle uint64, value int64) int32 { return core.Int64(op, handle, value) }
func coreHash(op uint32, handle, hash uint64) int32         { return core.Hash(op, handle, hash) }
func coreBatch(op uint32, handle uint64, layout uint32, data []byte, offsets []uint64, count,
	keyBytes int, results []byte, w *words) (int32, string) {
	return core.Batch(op, handle, layout, data, offsets, count, keyBytes, results, w)
}
func coreWrite(handle, other uint64, format string, sink func([]byte) bool,
	w *words) (int32, string) {
	return core.Write(handle, other, format, sink, w)
}

// coreEnter returns a pointer to WebAssembly's memory at this address, valid until coreLeave; don't
// call the library in between.
func coreEnter(at uint64) unsafe.Pointer { return core.Enter(uint32(at)) }
func coreLeave()                         { core.Leave() }

// A writer would run inside the library, which is locked. So it receives the bytes afterwards.
const holdsWriters = true
