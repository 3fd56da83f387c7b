package project

// Tests keys that Go adds and looks up itself, without calling the library. For all parameters,
// bits and answers must equal the library's, and the rest of the filter's state must stay correct.
// A filter with a capacity and WithRefuseOverfull always calls the library, so it serves for
// comparison.

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"testing"
	"time"

	"petal.example/petal"
)

func TestKeysOneByOneHaveTheBitsOfTheLibrary(t *testing.T) {
	random := rand.New(rand.NewSource(23))
	asked := 0
	for round := 0; round < 200; round++ {
		lines := uint32(1 + round%2)
		hashes := lines + uint32(random.Intn(15*int(lines)+1))
		list := []petal.Option{petal.WithBits(512 * uint64(1+random.Intn(300))),
			petal.WithHashes(hashes), petal.WithLinesPerKey(lines), petal.WithSeed(random.Uint64())}
		one := must(petal.New(1<<40, 0, list...))
		library := must(petal.New(1<<40, 0, append(list, petal.WithRefuseOverfull())...))
		for i := 0; i < 150; i++ {
			do := func(f *petal.Filter, seed int64, adds bool) (answer bool) {
				random := rand.New(rand.NewSource(seed))
				key := make([]byte, random.Intn(300))
				random.Read(key)
				calls := []func() (bool, error){
					func() (bool, error) { return choose2(adds, f.Add, f.Contains)(key) },
					func() (bool, error) { return choose2(adds, f.AddString, f.ContainsString)(string(key)) },
					func() (bool, error) {
						return choose2(adds, f.AddInt64, f.ContainsInt64)(random.Int63n(200) - 100)
					},
					func() (bool, error) { return choose2(adds, f.AddFloat64, f.ContainsFloat64)(random.NormFloat64()) },
					func() (bool, error) { return choose2(adds, f.AddHash, f.ContainsHash)(random.Uint64()) },
				}
				return must(calls[random.Intn(len(calls))]())
			}
			seed := random.Int63n(100)
			expect(t, do(one, seed, true) == do(library, seed, true), "adding %d differs", seed)
			expect(t, do(one, seed, false), "key %d is missed", seed)
			other := random.Int63()
			expect(t, do(one, other, false) == do(library, other, false), "key %d differs", other)
			asked += 2
		}
		expect(t, bytes.Equal(image(one), image(library)), "round %d: other bytes", round)
	}
	fmt.Println(asked, "keys asked in Go and in the library")
}

func choose2[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// Each of these calls makes C use the filter while it has unreported keys, or moves the filter's
// bits.
func TestWhateverHappensBetweenKeysTheFilterIsTheLibrarys(t *testing.T) {
	between := map[string]func(f *petal.Filter){
		"nothing":    func(f *petal.Filter) {},
		"info":       func(f *petal.Filter) { must(f.Info()) },
		"content id": func(f *petal.Filter) { must(f.ContentID()) },
		"stats":      func(f *petal.Filter) { must(f.Stats()) },
		"save":       func(f *petal.Filter) { fine(f.Save(t.TempDir() + "/a.petal")) },
		"clear":      func(f *petal.Filter) { fine(f.Clear()) },
		"share":      func(f *petal.Filter) { fine(f.Share()) },
		"metadata":   func(f *petal.Filter) { fine(f.SetMetadata([]byte("x"))) },
		"merge":      func(f *petal.Filter) { fine(f.Merge(must(f.Clone()))) },
		"intersect":  func(f *petal.Filter) { fine(f.Intersect(must(f.Clone()))) },
		"batch":      func(f *petal.Filter) { must(f.AddMany(integers(0, 100))) },
		"query":      func(f *petal.Filter) { must(f.ContainsMany(integers(0, 100))) },
		"few":        func(f *petal.Filter) { must(f.AddMany(petal.Strings{"", "a", "key 5"})) },
		"patch": func(f *petal.Filter) {
			newer := must(f.Clone())
			must(newer.AddMany(integers(1000, 2000)))
			fine(f.ApplyPatch(must(newer.Patch(f)), 0))
		},
		"read": func(f *petal.Filter) {
			must(f.ReadFrom(bytes.NewReader(image(must(petal.New(500, 0.01))))))
		},
	}
	for name, do := range between {
		one, many := must(petal.New(1000, 0.01)), must(petal.New(1000, 0.01))
		for round := 0; round < 5; round++ {
			keys := texts(fmt.Sprint(round, "-%d"), 0, 100)
			for _, key := range keys {
				must(one.AddString(key))
			}
			must(many.AddMany(keys))
			do(one)
			do(many)
			expect(t, must(one.Info()).Items == must(many.Info()).Items, "%s: other items", name)
			expect(t, bytes.Equal(image(one), image(many)), "%s: other bytes", name)
		}
	}
	frozen := filled()
	must(frozen.AddString("a"))
	fine(frozen.Freeze())
	_, err := frozen.AddString("b")
	isFailure(t, err, petal.ErrReadOnly, "frozen")
	expect(t, must(frozen.ContainsString("a")), "a is missed")
	full := must(petal.New(100, 0.01, petal.WithRefuseOverfull()))
	for i := int64(0); err == nil || i < 100; i++ {
		_, err = full.AddInt64(i)
		expect(t, i < 1000, "never full")
	}
	isFailure(t, err, petal.ErrFull, "full")
}

func TestFilesThatAreMappedAnswerOneByOne(t *testing.T) {
	path := t.TempDir() + "/a.petal"
	keys := texts("key-%d", 0, 1000)
	f := must(petal.New(1000, 0.01))
	must(f.AddMany(keys))
	fine(f.Save(path))
	for _, mode := range []petal.Mode{petal.ReadOnly, petal.Writable, petal.Load} {
		if isWasm && mode == petal.Writable {
			continue
		}
		f := must(petal.Open(path, petal.WithMode(mode)))
		found := must(f.ContainsMany(texts("%d", 0, 3000)))
		for i, key := range texts("%d", 0, 3000) {
			expect(t, must(f.ContainsString(key)) == found[i], "%s differs", key)
		}
		for _, key := range keys {
			expect(t, must(f.ContainsString(key)), "%s is missed", key)
		}
		_, err := f.AddString("new")
		expect(t, (err == nil) == (mode != petal.ReadOnly), "mode %d: %v", mode, err)
		fine(f.Close())
	}
	f = must(petal.Open(path, petal.Verify()))
	expect(t, must(f.ContainsString("new")) != isWasm, "a change in place is lost")
}

// ---- writers that use the filter ----

type writer func(piece []byte) (int, error)

func (w writer) Write(piece []byte) (int, error) { return w(piece) }

// While an Add waits for WriteTo to end, the writer queries the filter. This query must not wait
// for the Add.
func TestAWriterMayQueryItsFilterWhileAChangeWaits(t *testing.T) {
	f, older := filled(), must(petal.New(1000, 0.01))
	for name, write := range map[string]func(io.Writer) (int64, error){
		"WriteTo":    f.WriteTo,
		"WritePatch": func(w io.Writer) (int64, error) { return f.WritePatch(w, older) },
	} {
		ended, added := make(chan bool), make(chan bool)
		go func() {
			pieces := 0
			must(write(writer(func(piece []byte) (int, error) {
				if pieces++; pieces == 1 {
					go func() {
						must(f.AddString("new"))
						must(older.AddString("new"))
						added <- true
					}()
					time.Sleep(50 * time.Millisecond) // so that the Add is waiting by now
				}
				must(f.ContainsInt64(5))
				must(older.ContainsMany(integers(0, 100)))
				must(f.Info())
				must(f.Clone())
				must(f.Compare(older))
				must(f.WriteTo(io.Discard))
				return len(piece), nil
			})))
			ended <- true
		}()
		for _, done := range []chan bool{ended, added} {
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatalf("%s: they wait for each other", name)
			}
		}
		expect(t, must(f.ContainsString("new")), "the change is lost")
	}
}

func TestAWriterThatGivesUpEndsItsStream(t *testing.T) {
	f := filled()
	_, err := f.WriteTo(writer(func([]byte) (int, error) { return 0, io.ErrClosedPipe }))
	expect(t, err != nil, "no error")
	func() {
		defer func() { expect(t, recover() == "mine", "another panic") }()
		f.WriteTo(writer(func([]byte) (int, error) { panic("mine") }))
	}()
	must(f.AddString("new"))
	fine(f.Close())
}
