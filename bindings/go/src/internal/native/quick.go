//go:build cgo && !petal_wasm && go1.24

package native

// These C functions return quickly, keep no pointer and never call Go. The directives declare this,
// so that Go 1.24 and later make the calls faster.

// #cgo noescape petal_go_key
// #cgo nocallback petal_go_key
// #cgo noescape petal_go_i64
// #cgo nocallback petal_go_i64
// #cgo noescape petal_go_hash
// #cgo nocallback petal_go_hash
// #cgo noescape petal_go_batch
// #cgo nocallback petal_go_batch
import "C"
