// driver.go - drives bits-and-blooms/bloom, with binary and JSON files. See ../lib/interop.sh.
package main

import (
	"encoding/json"
	"os"

	"github.com/bits-and-blooms/bloom/v3"
)

type bitsAndBlooms struct {
	json   bool
	filter *bloom.BloomFilter
}

func bytesOf(key any) []byte {
	if text, ok := key.(string); ok {
		return []byte(text)
	}
	return key.([]byte)
}

func (d *bitsAndBlooms) create(n uint, p float64) { d.filter = bloom.NewWithEstimates(n, p) }
func (d *bitsAndBlooms) add(key any)              { d.filter.Add(bytesOf(key)) }
func (d *bitsAndBlooms) has(key any) bool         { return d.filter.Test(bytesOf(key)) }

func (d *bitsAndBlooms) read(data []byte) {
	d.filter = &bloom.BloomFilter{}
	if d.json {
		check(json.Unmarshal(data, d.filter))
	} else {
		check(d.filter.UnmarshalBinary(data))
	}
}

func (d *bitsAndBlooms) write() []byte {
	data, err := d.filter.MarshalBinary()
	if d.json {
		data, err = json.Marshal(d.filter)
	}
	check(err)
	return data
}

func main() { run(&bitsAndBlooms{json: os.Args[2] == "bits-and-blooms-json"}) }
