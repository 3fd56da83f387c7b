package project

// Tests that many goroutines can query, change, save and close one filter concurrently, with
// correct answers, no lost keys and no crashes. run.sh also runs this test under the race detector.

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"petal.example/petal"
)

func together(calls ...func()) {
	var group sync.WaitGroup
	start := make(chan struct{})
	for _, call := range calls {
		group.Add(1)
		go func(call func()) {
			defer group.Done()
			<-start
			call()
		}(call)
	}
	close(start)
	group.Wait()
}

const shareCount = 200_000

func TestAddingFromGoroutinesLosesNoKey(t *testing.T) {
	whole := must(petal.New(shareCount, 0.01))
	must(whole.AddMany(integers(0, shareCount)))
	for _, shared := range []bool{false, true} {
		f := must(petal.New(shareCount, 0.01))
		if shared {
			fine(f.Share())
		}
		var added int64
		add := func(part int) func() {
			return func() {
				from, to := part*shareCount/4, (part+1)*shareCount/4
				if part%2 == 0 {
					atomic.AddInt64(&added, int64(must(f.AddMany(integers(from, to)))))
					return
				}
				for i := from; i < to; i++ {
					if must(f.AddInt64(int64(i))) {
						atomic.AddInt64(&added, 1)
					}
				}
			}
		}
		ask := func() {
			for i := 0; i < 20_000; i++ {
				must(f.ContainsInt64(int64(i)))
			}
		}
		together(add(0), add(1), add(2), add(3), ask)
		expect(t, must(f.ContentID()) == must(whole.ContentID()), "keys are lost (%v)", shared)
		expect(t, must(f.Info()).Items == shareCount, "%d items", must(f.Info()).Items)
		expect(t, added > shareCount*98/100 && added <= shareCount, "%d new", added)
	}
}

func TestTwoGoroutinesOneByOneIntoASharedFilter(t *testing.T) {
	f, whole := must(petal.New(shareCount, 0.01)), must(petal.New(shareCount, 0.01))
	fine(f.Share())
	keys := texts("key-%d", 0, shareCount/2)
	must(whole.AddMany(keys))
	add := func(from int) func() {
		return func() {
			for i := from; i < len(keys); i += 2 {
				must(f.AddString(keys[i]))
			}
		}
	}
	together(add(0), add(1))
	expect(t, bytes.Equal(image(f), image(whole)), "keys are lost")
}

func TestManyGoroutinesQueryOneFilter(t *testing.T) {
	f := must(petal.New(50_000, 0.01))
	keys, absent := integers(0, 50_000), texts("absent %d", 0, 10_000)
	must(f.AddMany(keys))
	expected := must(f.ContainsMany(absent))
	ask := func() {
		for i := 0; i < 5; i++ {
			expect(t, must(f.ContainsAll(keys)), "missing")
			expect(t, same(must(f.ContainsMany(absent)), expected), "other answers")
			for key := int64(0); key < 50_000; key += 1000 {
				expect(t, must(f.ContainsInt64(key)), "missing %d", key)
			}
			must(f.Stats())
			must(f.Clone())
			must(f.Bytes(""))
		}
	}
	together(ask, ask, ask, ask)
}

func TestChangesAndQuestionsWaitForEachOther(t *testing.T) {
	f, other := must(petal.New(100_000, 0.01)), must(petal.New(100_000, 0.01))
	first, keys := integers(0, 1000), integers(0, 50_000)
	must(f.AddMany(first))
	combine := func(a, b *petal.Filter) func() {
		return func() {
			for i := 0; i < 20; i++ {
				fine(a.Merge(b))
				must(a.Compare(b))
			}
		}
	}
	together(combine(f, other), combine(other, f), func() {
		for i := 0; i < 20; i++ {
			expect(t, must(f.ContainsAll(first)), "missing")
			must(petal.FromBytes(image(f)))
		}
	}, func() { must(f.AddMany(keys)) }, func() {
		var again petal.Filter
		for i := 0; i < 20; i++ {
			must(again.ReadFrom(bytes.NewReader(image(other))))
		}
		fine(again.Close())
	})
	fine(other.Merge(f))
	expect(t, must(other.ContainsAll(keys)), "missing")
}

func TestClosingWhileOthersAskEndsInErrClosed(t *testing.T) {
	keys, path := integers(0, 100_000), t.TempDir()+"/a.petal"
	for _, mode := range []petal.Mode{petal.ReadOnly, petal.Writable, petal.Load} {
		for round := 0; round < 5; round++ {
			f := must(petal.New(100_000, 0.01))
			must(f.AddMany(keys))
			fine(f.Save(path))
			fine(f.Close())
			f, err := petal.Open(path, petal.WithMode(mode))
			if isWasm && mode == petal.Writable {
				break
			}
			fine(err)
			answered := make(chan bool, 1000)
			var failures [3]error
			many := func(i int) func() {
				return func() {
					for failures[i] == nil {
						var all bool
						all, failures[i] = f.ContainsAll(keys)
						expect(t, all || failures[i] != nil, "missing")
						select {
						case answered <- true:
						default:
						}
					}
				}
			}
			together(many(0), many(1), func() {
				for failures[2] == nil {
					_, failures[2] = f.ContainsInt64(5)
				}
			}, func() {
				<-answered // while they run
				fine(f.Close())
			})
			for _, err := range failures {
				expect(t, errors.Is(err, petal.ErrClosed), "%v", err)
			}
		}
	}
}
