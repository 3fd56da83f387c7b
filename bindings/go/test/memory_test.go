//go:build !race

package project

// Tests that 100,000 filters and calls of every kind leak no memory. The test is skipped under the
// race detector, which allocates memory of its own.

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"petal.example/petal"
)

// resident returns this process's private memory in KiB, after releasing as much as possible.
func resident() int {
	runtime.GC()
	debug.FreeOSMemory()
	return held()
}

func held() int {
	for _, line := range strings.Split(string(must(os.ReadFile("/proc/self/status"))), "\n") {
		if strings.HasPrefix(line, "RssAnon") {
			return integer(strings.Fields(line)[1])
		}
	}
	panic("no RssAnon")
}

func TestAHundredThousandFiltersLeaveNothing(t *testing.T) {
	make100 := func() {
		for i := 0; i < 100; i++ {
			f := must(petal.New(1000, 0.01))
			must(f.AddString("a"))
			fine(f.Close())
		}
	}
	for i := 0; i < 50; i++ {
		make100()
	}
	before := resident()
	for i := 0; i < 1000; i++ {
		make100()
	}
	grown := resident() - before
	expect(t, grown < 2048, "%d KiB more", grown)
}

func TestFiltersThatNobodyClosesAreCollected(t *testing.T) {
	keys := integers(0, 50_000)
	before := resident()
	for i := 0; i < 500; i++ { // 1 MiB each
		must(must(petal.New(0, 0, petal.WithBits(1<<23), petal.WithHashes(1))).AddMany(keys))
		if i%20 == 0 {
			runtime.GC()
		}
	}
	grown := resident() - before
	expect(t, grown < 200<<10, "%d KiB are held", grown)
}

func TestNoCallLeaks(t *testing.T) {
	data := must(filled().Bytes(""))
	everything := func() {
		f := must(petal.New(100, 0.01, petal.WithMetadata(make([]byte, 100))))
		must(f.AddMany(petal.Strings{"a", "b"}))
		must(f.ContainsMany(petal.Int64s{1, 2}))
		clone := must(f.Clone())
		fine(f.Merge(clone))
		must(f.Compare(clone))
		must(f.Info())
		must(f.Stats())
		must(f.Metadata())
		must(f.Bytes(""))
		petal.Formats()
		read := must(petal.FromBytes(data))
		for _, err := range []error{only(petal.FromBytes([]byte("x"))), only(f.Bytes("guava")),
			only(petal.Open("/nowhere")), only(petal.New(10, 2)),
			only(petal.FromBytes(data[:len(data)-1]))} {
			expect(t, err != nil, "no error")
		}
		for _, one := range []*petal.Filter{f, clone, read} {
			fine(one.Close())
		}
	}
	for i := 0; i < 500; i++ {
		everything()
	}
	before := resident()
	for i := 0; i < 6000; i++ {
		everything()
	}
	grown := resident() - before
	expect(t, grown < 5<<10, "%d KiB more", grown) // growth of less than 1 KiB per round
}

// The filters are never closed, and the test never runs the garbage collector, which sees only a
// few hundred bytes per filter.
func TestFiltersThatNobodyClosesAreCollectedUnasked(t *testing.T) {
	keys := integers(0, 5000) // touches every page
	isCollected(t, 5000, func() {
		must(must(petal.New(1_000_000, 0.01)).AddMany(keys)) // 1.2 MB
	})
}

// Adding keys creates a fourth layer of one megabyte in each filter.
func TestFiltersThatGrewAreCollectedUnasked(t *testing.T) {
	keys := integers(0, 10_000)
	isCollected(t, 3000, func() {
		f := must(petal.New(2, 0.01, petal.WithGrowth(), petal.WithGrowthStep(64, 0)))
		must(f.AddMany(keys))
	})
}

func isCollected(t *testing.T, filters int, one func()) {
	before, most := resident(), 0
	for i := 0; i < filters; i++ {
		one()
		if now := held() - before; i%100 == 99 && now > most {
			most = now
		}
	}
	expect(t, most < 512<<10, "%d KiB are held", most)
}
