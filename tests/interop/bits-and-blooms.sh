#!/bin/sh
# bits-and-blooms.sh - version 3 of the Go module bits-and-blooms/bloom, with binary and JSON files,
# and Petal agree in both directions.
set -u
. tests/interop/lib/interop.sh
needs go || finish
theirs() { "$program" "$@"; }

go_program bits-and-blooms-3.7.1 github.com/bits-and-blooms/bloom/v3@v3.7.1 \
    tests/interop/lib/interop.go tests/interop/bits-and-blooms/driver.go || finish
ran bits-and-blooms/bloom v3.7.1 'Go module github.com/bits-and-blooms/bloom/v3' 'bits-and-blooms, bits-and-blooms-json'
for type in text hex; do alike 'bits-and-blooms 3.7.1' bits-and-blooms $type 2000 0.01; done
alike 'bits-and-blooms 3.7.1' bits-and-blooms text 3001 0.03
alike 'bits-and-blooms 3.7.1' bits-and-blooms-json text 2000 0.01
finish
