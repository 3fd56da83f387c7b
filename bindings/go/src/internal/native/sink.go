//go:build cgo && !petal_wasm

package native

// #include <stdint.h>
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// The bytes are valid until the sink returns.
//
//export petalGoSink
func petalGoSink(context C.uint64_t, bytes unsafe.Pointer, sizeBytes C.uint64_t) C.int32_t {
	sink := cgo.Handle(context).Value().(func([]byte) bool)
	if sink(unsafe.Slice((*byte)(bytes), int(sizeBytes))) {
		return 0
	}
	return 1
}
