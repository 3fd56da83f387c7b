// driver.go - drives OldPanda's Go module bloomfilter. See ../lib/interop.sh.
package main

import (
	"os"

	"github.com/OldPanda/bloomfilter"
)

type oldPanda struct {
	mitz32 bool
	filter *bloomfilter.BloomFilter
}

func (d *oldPanda) create(n uint, p float64) {
	var strategy bloomfilter.Strategy = &bloomfilter.Murur128Mitz64{}
	if d.mitz32 {
		strategy = &bloomfilter.Murur128Mitz32{}
	}
	var err error
	d.filter, err = bloomfilter.NewBloomFilterWithStrategy(int(n), p, strategy)
	check(err)
}

func (d *oldPanda) read(data []byte) {
	var err error
	d.filter, err = bloomfilter.FromBytes(data)
	check(err)
}

func (d *oldPanda) write() []byte    { return d.filter.ToBytes() }
func (d *oldPanda) add(key any)      { d.filter.Put(key) }
func (d *oldPanda) has(key any) bool { return d.filter.MightContain(key) }

func main() { run(&oldPanda{mitz32: os.Args[2] == "oldpanda-go32"}) }
