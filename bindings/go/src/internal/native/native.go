//go:build cgo && !petal_wasm

// Package native contains the library, which cgo compiles from the C files in this folder. The
// option -O3 makes batches of numbers a tenth faster than cgo's default, -O2.
package native

/*
#cgo CFLAGS: -std=c11 -O3
#cgo LDFLAGS: -lm
#include <stdint.h>

int32_t petal_go_call(uint32_t op, uint64_t handle, uint64_t other, uint64_t *words,
                      const uint8_t *data, uint64_t data_bytes, uint8_t *out, uint64_t out_bytes,
                      char *message);
int32_t petal_go_key(uint32_t op, uint64_t handle, const uint8_t *key, uint64_t key_bytes);
int32_t petal_go_i64(uint32_t op, uint64_t handle, int64_t value);
int32_t petal_go_hash(uint32_t op, uint64_t handle, uint64_t hash);
int32_t petal_go_batch(uint32_t op, uint64_t handle, uint32_t layout, const uint8_t *data,
                       uint64_t data_bytes, const uint64_t *offsets, uint64_t count,
                       uint64_t key_bytes, uint8_t *results, uint64_t *words, char *message);
int32_t petal_go_write(uint64_t handle, uint64_t other, uint64_t context, const uint8_t *format,
                       uint64_t *words, char *message);
*/
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// Words contains a call's arguments and results. See glue.c.
type Words [64]uint64

// Returns the address of the first byte of a string or slice, which is stored in its first word. Go
// 1.19 lacks unsafe.StringData.
func ofString(s *string) *C.uint8_t { return *(**C.uint8_t)(unsafe.Pointer(s)) }
func ofBytes(b *[]byte) *C.uint8_t  { return *(**C.uint8_t)(unsafe.Pointer(b)) }

type message [240]byte

func (m *message) at() *C.char { return (*C.char)(unsafe.Pointer(m)) }
func (m *message) text() string {
	for i, b := range m {
		if b == 0 {
			return string(m[:i])
		}
	}
	return ""
}

// Call is petal_go_call.
func Call(op uint32, handle, other uint64, words *Words, data, out []byte) (int32, string) {
	var text message
	status := C.petal_go_call(C.uint32_t(op), C.uint64_t(handle), C.uint64_t(other),
		(*C.uint64_t)(unsafe.Pointer(words)), ofBytes(&data), C.uint64_t(len(data)),
		ofBytes(&out), C.uint64_t(len(out)), text.at())
	if status >= 0 {
		return int32(status), ""
	}
	return int32(status), text.text()
}

// Key is petal_go_key.
func Key(op uint32, handle uint64, key string) int32 {
	return int32(C.petal_go_key(C.uint32_t(op), C.uint64_t(handle), ofString(&key),
		C.uint64_t(len(key))))
}

// Int64 is petal_go_i64.
func Int64(op uint32, handle uint64, value int64) int32 {
	return int32(C.petal_go_i64(C.uint32_t(op), C.uint64_t(handle), C.int64_t(value)))
}

// Hash is petal_go_hash.
func Hash(op uint32, handle uint64, hash uint64) int32 {
	return int32(C.petal_go_hash(C.uint32_t(op), C.uint64_t(handle), C.uint64_t(hash)))
}

// Batch is petal_go_batch.
func Batch(op uint32, handle uint64, layout uint32, data []byte, offsets []uint64, count,
	keyBytes int, results []byte, words *Words) (int32, string) {
	var text message
	status := C.petal_go_batch(C.uint32_t(op), C.uint64_t(handle), C.uint32_t(layout),
		ofBytes(&data), C.uint64_t(len(data)), *(**C.uint64_t)(unsafe.Pointer(&offsets)),
		C.uint64_t(count), C.uint64_t(keyBytes), ofBytes(&results),
		(*C.uint64_t)(unsafe.Pointer(words)), text.at())
	if status >= 0 {
		return int32(status), ""
	}
	return int32(status), text.text()
}

// Write calls petal_go_write. It passes the bytes to sink piece by piece, until sink returns false.
func Write(handle, other uint64, format string, sink func(piece []byte) bool,
	words *Words) (int32, string) {
	var text message
	name := append([]byte(format), 0)
	context := cgo.NewHandle(sink)
	defer context.Delete()
	status := C.petal_go_write(C.uint64_t(handle), C.uint64_t(other), C.uint64_t(context), ofBytes(&name),
		(*C.uint64_t)(unsafe.Pointer(words)), text.at())
	if status >= 0 {
		return int32(status), ""
	}
	return int32(status), text.text()
}
