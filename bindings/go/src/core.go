package petal

// core_native.go and core_wasm.go provide the calls of glue.c.

// The operations of glue.c, in the same order.
const (
	opCreate = uint32(iota)
	opPlan
	opOpen
	opReader
	opFeed
	opFinish
	opReaderFree
	opFree
	opClone
	opLike
	opDropCounts
	opFold
	opSave
	opSync
	opVerify
	opSize
	opClear
	opShare
	opFreeze
	opAdvance
	opMerge
	opIntersect
	opCompare
	opInfo
	opStats
	opContentID
	opOverfull
	opMetadata
	opSetMetadata
	opPredict
	opHash
	opFormatAt
	opRecognize
	opParquet
	opShard
	opVersion
	opStatusName
	opApplyPatch
	opBits
	opBegin
	opEnd
)

// The operations on keys, alone or in a batch.
const (
	doAdd = uint32(iota)
	doContains
	doRemove
	doAny
	doAll
	doHash
)

// Batch layouts, numbered as in petal.h.
const (
	layoutOffsets64 = 2
	layoutFixed     = 3
	layoutInt64     = 4
	layoutHashes    = 5
)

const (
	wordAdded  = 61
	wordErrno  = 62
	wordOffset = 63
	allLayers  = 1<<32 - 1
	noOffset   = 1<<64 - 1
)

// run is like coreCall, but returns a failure as an error.
func run(op uint32, handle, other uint64, w *words, data, out []byte) error {
	status, message := coreCall(op, handle, other, w, data, out)
	return failure(status, message, w, "")
}

// texts splits a call's output into n strings, each terminated by 0.
func texts(out []byte, n int) []string {
	found := make([]string, n)
	for i := range found {
		end := 0
		for end < len(out) && out[end] != 0 {
			end++
		}
		found[i] = string(out[:end])
		if end < len(out) {
			out = out[end+1:]
		}
	}
	return found
}
