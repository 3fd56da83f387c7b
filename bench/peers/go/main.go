// main.go - runs bits-and-blooms/bloom as a contender for ../driver.c, which describes the
// protocol.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"github.com/bits-and-blooms/bloom/v3"
)

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func numbers(count int, from uint64) []uint64 {
	keys := make([]uint64, count)
	for i := range keys {
		keys[i] = mix(from + uint64(i))
	}
	return keys
}

func texts(count int, from uint64) []string {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("http://a.io/%016x", mix(from+uint64(i)))
	}
	return keys
}

// The library accepts bytes, so each call formats the number, as its README shows.
func addNumbers(filter *bloom.BloomFilter, keys []uint64) {
	key := make([]byte, 8)
	for _, number := range keys {
		binary.LittleEndian.PutUint64(key, number)
		filter.Add(key)
	}
}

func countNumbers(filter *bloom.BloomFilter, keys []uint64) int {
	found, key := 0, make([]byte, 8)
	for _, number := range keys {
		binary.LittleEndian.PutUint64(key, number)
		if filter.Test(key) {
			found++
		}
	}
	return found
}

func addTexts(filter *bloom.BloomFilter, keys []string) {
	for _, key := range keys {
		filter.AddString(key)
	}
}

func countTexts(filter *bloom.BloomFilter, keys []string) int {
	found := 0
	for _, key := range keys {
		if filter.TestString(key) {
			found++
		}
	}
	return found
}

func round[K any](keys, absent []K, rate float64, repeats int, add func(*bloom.BloomFilter, []K),
	count func(*bloom.BloomFilter, []K) int) {
	var least [3]time.Duration
	found, bits := 0, uint(0)
	for i := 0; i < repeats; i++ {
		start := time.Now()
		filter := bloom.NewWithEstimates(uint(len(keys)), rate)
		add(filter, keys)
		added := time.Now()
		members := count(filter, keys)
		hit := time.Now()
		found = count(filter, absent)
		missed := time.Now()
		if members != len(keys) {
			panic("keys were lost")
		}
		for phase, took := range []time.Duration{added.Sub(start), hit.Sub(added), missed.Sub(hit)} {
			if i == 0 || took < least[phase] {
				least[phase] = took
			}
		}
		bits = filter.Cap()
	}
	asked := float64(len(keys))
	fmt.Printf("ok %.4f %.4f %.4f %d %d", float64(least[0])/asked, float64(least[1])/asked, float64(least[2])/asked, found, bits)
}

func main() {
	const absentFrom = 1 << 40
	var numbersIn, numbersOut []uint64
	var textsIn, textsOut []string
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var count, repeats int
		var bitsPerKey, rate float64
		var kind string
		if _, err := fmt.Sscanf(lines.Text(), "run %d %g %g %s %d", &count, &bitsPerKey, &rate, &kind, &repeats); err != nil {
			panic(err)
		}
		if kind == "text" {
			if len(textsIn) != count {
				textsIn, textsOut = texts(count, 0), texts(count, absentFrom)
			}
			round(textsIn, textsOut, rate, repeats, addTexts, countTexts)
			fmt.Printf(" %s\n", textsOut[count-1])
		} else {
			if len(numbersIn) != count {
				numbersIn, numbersOut = numbers(count, 0), numbers(count, absentFrom)
			}
			round(numbersIn, numbersOut, rate, repeats, addNumbers, countNumbers)
			fmt.Printf(" %016x\n", numbersOut[count-1])
		}
	}
}
