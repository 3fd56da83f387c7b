//go:build !cgo || petal_wasm

// Package wasm runs the library as WebAssembly, with wazero. There is only one instance of the
// module, so all filters share its memory and any two can be merged. The instance runs one call at
// a time.
package wasm

import (
	"context"
	_ "embed" // petal.wasm
	"encoding/binary"
	"fmt"
	"sync"
	"unsafe"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

//go:embed petal.wasm
var code []byte

// Words contains a call's arguments and results. See glue.c.
type Words [64]uint64

const (
	wordsBytes   = 64 * 8
	messageBytes = 240
	errMemory    = -4
	errOther     = -7 // PETAL_ERR_UNSUPPORTED, if the module traps or the machine can't run it
)

// The only instance of the module, with its memory blocks for arguments and results.
var one struct {
	sync.Mutex
	once   sync.Once
	failed error

	memory                               api.Memory
	call, key, int64, hash, batch, write api.Function
	alloc, release                       api.Function

	words, message uint32
	in, out        block
	stack          []uint64
	sink           func([]byte) bool
}

// block is a piece of the module's memory that grows as needed.
type block struct{ at, size uint32 }

var background = context.Background()

func start() error {
	one.once.Do(func() { one.failed = instantiate() })
	return one.failed
}

func instantiate() (err error) {
	runtime := wazero.NewRuntime(background)
	if _, err = wasi_snapshot_preview1.Instantiate(background, runtime); err != nil {
		return err
	}
	_, err = runtime.NewHostModuleBuilder("petal").NewFunctionBuilder().WithFunc(sink).
		Export("sink").Instantiate(background)
	if err != nil {
		return err
	}
	config := wazero.NewModuleConfig().WithName("petal-library").WithStartFunctions("_initialize")
	module, err := runtime.InstantiateWithConfig(background, code, config)
	if err != nil {
		return err
	}
	one.memory = module.Memory()
	for name, function := range map[string]*api.Function{
		"call": &one.call, "key": &one.key, "i64": &one.int64, "hash": &one.hash,
		"batch": &one.batch, "write": &one.write, "alloc": &one.alloc, "release": &one.release,
	} {
		*function = module.ExportedFunction("petal_go_" + name)
	}
	memory, err := alloc(wordsBytes + messageBytes)
	one.words, one.message = memory, memory+wordsBytes
	return err
}

// sink is called by petal_go_write.
func sink(_ context.Context, m api.Module, _ uint64, at uint32, size uint64) int32 {
	piece, ok := m.Memory().Read(at, uint32(size))
	if ok && one.sink(piece) {
		return 0
	}
	return 1
}

func alloc(size uint64) (uint32, error) {
	results, err := one.alloc.Call(background, size)
	if err != nil {
		return 0, err
	}
	if uint32(results[0]) == 0 {
		return 0, fmt.Errorf("out of memory: WebAssembly has 4 GiB for all filters")
	}
	return uint32(results[0]), nil
}

// room grows the block to at least this size. trim frees the block if it is large.
func (b *block) room(size uint64) error {
	if uint64(b.size) >= size && b.size > 0 {
		return nil
	}
	if err := b.drop(); err != nil {
		return err
	}
	if size < 4096 {
		size = 4096
	}
	at, err := alloc(size)
	if err == nil {
		b.at, b.size = at, uint32(size)
	}
	return err
}

func (b *block) drop() error {
	if b.size == 0 {
		return nil
	}
	_, err := one.release.Call(background, uint64(b.at))
	*b = block{}
	return err
}

func (b *block) trim() {
	if b.size > 1<<20 {
		b.drop()
	}
}

// puts copies data to the given offset of the block.
func (b *block) puts(at uint32, data string) {
	one.memory.WriteString(b.at+at, data)
}

func asString(data []byte) string { return *(*string)(unsafe.Pointer(&data)) }

func putWords(words *Words) {
	var data [wordsBytes]byte
	for i, word := range words {
		binary.LittleEndian.PutUint64(data[8*i:], word)
	}
	one.memory.Write(one.words, data[:])
}

func getWords(words *Words) {
	data, _ := one.memory.Read(one.words, wordsBytes)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
}

// message returns the failed call's message.
func message() string {
	data, _ := one.memory.Read(one.message, messageBytes)
	for i, b := range data {
		if b == 0 {
			return string(data[:i])
		}
	}
	return ""
}

// outcome converts a call's results, and copies its words.
func outcome(results []uint64, err error, words *Words) (int32, string) {
	if err != nil {
		return broken(err, words)
	}
	getWords(words)
	status := int32(uint32(results[0]))
	if status >= 0 {
		return status, ""
	}
	return status, message()
}

func broken(err error, words *Words) (int32, string) {
	words[62], words[63] = 0, 1<<64-1
	return errOther, "WebAssembly: " + err.Error()
}

// Call is petal_go_call.
func Call(op uint32, handle, other uint64, words *Words, data, out []byte) (int32, string) {
	one.Lock()
	defer one.Unlock()
	if err := start(); err != nil {
		return broken(err, words)
	}
	err := one.in.room(uint64(len(data)))
	if err == nil {
		err = one.out.room(uint64(len(out)))
	}
	if err != nil {
		status, text := broken(err, words)
		_ = status
		return errMemory, text
	}
	defer one.in.trim()
	defer one.out.trim()
	one.in.puts(0, asString(data))
	putWords(words)
	results, err := one.call.Call(background, uint64(op), handle, other, uint64(one.words),
		uint64(one.in.at), uint64(len(data)), uint64(one.out.at), uint64(len(out)),
		uint64(one.message))
	status, text := outcome(results, err, words)
	if len(out) > 0 && status >= 0 {
		made, _ := one.memory.Read(one.out.at, uint32(len(out)))
		copy(out, made)
	}
	return status, text
}

// Enter returns a pointer to the module's memory at this address. The pointer is valid until Leave,
// because later calls may move the memory.
func Enter(at uint32) unsafe.Pointer {
	one.Lock()
	memory, _ := one.memory.Read(at, 1)
	return unsafe.Pointer(&memory[0])
}

// Leave ends Enter.
func Leave() { one.Unlock() }

// Key is petal_go_key.
func Key(op uint32, handle uint64, key string) int32 {
	one.Lock()
	defer one.Unlock()
	if err := one.in.room(uint64(len(key))); err != nil {
		return errMemory
	}
	defer one.in.trim()
	one.in.puts(0, key)
	return result(one.key.Call(background, uint64(op), handle, uint64(one.in.at),
		uint64(len(key))))
}

func result(results []uint64, err error) int32 {
	if err != nil {
		return errOther
	}
	return int32(uint32(results[0]))
}

// Int64 is petal_go_i64.
func Int64(op uint32, handle uint64, value int64) int32 {
	one.Lock()
	defer one.Unlock()
	return result(one.int64.Call(background, uint64(op), handle, uint64(value)))
}

// Hash is petal_go_hash.
func Hash(op uint32, handle uint64, hash uint64) int32 {
	one.Lock()
	defer one.Unlock()
	return result(one.hash.Call(background, uint64(op), handle, hash))
}

// pieceKeys is the number of 8-byte keys copied at a time.
const pieceKeys = 8192

// Batch calls petal_go_batch. It processes keys without offsets piece by piece.
func Batch(op uint32, handle uint64, layout uint32, data []byte, offsets []uint64, count,
	keyBytes int, results []byte, words *Words) (int32, string) {
	one.Lock()
	defer one.Unlock()
	width := 8
	if layout == 3 {
		width = keyBytes
	}
	if offsets != nil || count <= pieceKeys || width*pieceKeys > 1<<20 {
		return batch(op, handle, layout, data, offsets, count, keyBytes, results, words)
	}
	var done, positive uint64
	for from := 0; from < count; from += pieceKeys {
		n, answers := count-from, results
		if n > pieceKeys {
			n = pieceKeys
		}
		if results != nil {
			each := len(results) / count
			answers = results[from*each : (from+n)*each]
		}
		status, text := batch(op, handle, layout, data[from*width:(from+n)*width], nil, n, keyBytes,
			answers, words)
		words[0], words[1] = words[0]+done, together(op, positive, words[1], from)
		done, positive = words[0], words[1]
		if status < 0 {
			if words[63] < uint64(n) {
				words[63] += uint64(from)
			}
			return status, text
		}
		if op == 3 && positive == 1 || op == 4 && positive == 0 {
			break
		}
	}
	return 0, ""
}

// together adds up the positive answers of all pieces. The operations any and all have a single
// answer.
func together(op uint32, before, now uint64, from int) uint64 {
	if op >= 3 {
		return now
	}
	return before + now
}

func batch(op uint32, handle uint64, layout uint32, data []byte, offsets []uint64, count,
	keyBytes int, results []byte, words *Words) (int32, string) {
	ends := (len(data) + 7) &^ 7
	err := one.in.room(uint64(ends + 8*len(offsets)))
	if err == nil {
		err = one.out.room(uint64(len(results)))
	}
	if err != nil {
		_, text := broken(err, words)
		return errMemory, text
	}
	defer one.in.trim()
	defer one.out.trim()
	one.in.puts(0, asString(littleEndian(data, layout)))
	offsetsAt, resultsAt := uint32(0), uint32(0)
	if offsets != nil {
		offsetsAt = one.in.at + uint32(ends)
		memory, _ := one.memory.Read(offsetsAt, uint32(8*len(offsets)))
		for i, offset := range offsets {
			binary.LittleEndian.PutUint64(memory[8*i:], offset)
		}
	}
	if results != nil {
		resultsAt = one.out.at
	}
	made, err := one.batch.Call(background, uint64(op), handle, uint64(layout), uint64(one.in.at),
		uint64(len(data)), uint64(offsetsAt), uint64(count), uint64(keyBytes), uint64(resultsAt),
		uint64(one.words), uint64(one.message))
	status, text := outcome(made, err, words)
	if resultsAt != 0 && err == nil {
		answers, _ := one.memory.Read(resultsAt, uint32(len(results)))
		copy(results, answers)
		if op == 5 {
			littleEndian(results, 4)
		}
	}
	return status, text
}

var nativeIsLittle = func() bool {
	word := uint16(1)
	return *(*byte)(unsafe.Pointer(&word)) == 1
}()

// littleEndian converts between the machine's byte order and WebAssembly's. It converts numbers in
// a copy of the input, and hashes in place.
func littleEndian(data []byte, layout uint32) []byte {
	if nativeIsLittle || layout < 4 {
		return data
	}
	swapped := make([]byte, len(data))
	for i := range data {
		swapped[i] = data[i&^7+7-i&7]
	}
	return swapped
}

// Write calls petal_go_write. It passes the bytes to sink piece by piece, until sink returns false.
// The sink must not use any filter.
func Write(handle, other uint64, format string, sink func(piece []byte) bool,
	words *Words) (int32, string) {
	one.Lock()
	defer one.Unlock()
	if err := one.in.room(uint64(len(format) + 1)); err != nil {
		_, text := broken(err, words)
		return errMemory, text
	}
	one.in.puts(0, format+"\x00")
	one.sink = sink
	results, err := one.write.Call(background, handle, other, 0, uint64(one.in.at), uint64(one.words),
		uint64(one.message))
	one.sink = nil
	return outcome(results, err, words)
}
