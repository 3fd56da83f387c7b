// Package petal uses cgo to build the folder that scripts/bundle created next to this file.
package petal

/*
#cgo CFLAGS: -std=c11
#cgo LDFLAGS: -lm
#include "petal.h"
#include <stdlib.h>

static petal_filter *create(uint64_t capacity)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.capacity = capacity;
    options.rate = 0.01;
    petal_create(&options, &filter, NULL);
    return filter;
}
*/
import "C"

// Ask adds one key to a new filter and queries another key.
func Ask(added, asked string) bool {
	filter := C.create(1000)
	defer C.petal_free(filter)
	one, other := C.CBytes([]byte(added)), C.CBytes([]byte(asked))
	defer C.free(one)
	defer C.free(other)
	C.petal_add(filter, one, C.size_t(len(added)))
	return bool(C.petal_contains(filter, other, C.size_t(len(asked))))
}
