package project

// A batch of each slice type returns the same answers as single keys and as the petal command.

import (
	"bytes"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"
	"unicode/utf16"

	"petal.example/petal"
)

const batchCount = 10_000 // processed in more than one piece

// A filter this small returns many false positives. If even the false positives agree, the filters
// are equal.
func small(list ...petal.Option) *petal.Filter {
	return must(petal.New(0, 0, append(list, petal.WithBits(1<<15), petal.WithHashes(3))...))
}

type kind struct {
	name, tool string
	options    []petal.Option
	keys       petal.Keys
	slice      func(from, to int) petal.Keys
	line       func(i int) string
	one        func(f *petal.Filter, do string, i int) (bool, error)
}

func choose(do string, add, contains, remove func() (bool, error)) (bool, error) {
	switch do {
	case "add":
		return add()
	case "contains":
		return contains()
	}
	return remove()
}

func stringsKind(name, tool string, keys petal.Strings, list ...petal.Option) kind {
	return kind{name, tool, list, keys,
		func(from, to int) petal.Keys { return keys[from:to] },
		func(i int) string { return keys[i] },
		func(f *petal.Filter, do string, i int) (bool, error) {
			return choose(do, func() (bool, error) { return f.AddString(keys[i]) },
				func() (bool, error) { return f.ContainsString(keys[i]) },
				func() (bool, error) { return f.RemoveString(keys[i]) })
		}}
}

func int64sKind(name, tool string, keys petal.Int64s, list ...petal.Option) kind {
	return kind{name, tool, list, keys,
		func(from, to int) petal.Keys { return keys[from:to] },
		func(i int) string { return fmt.Sprint(keys[i]) },
		func(f *petal.Filter, do string, i int) (bool, error) {
			return choose(do, func() (bool, error) { return f.AddInt64(keys[i]) },
				func() (bool, error) { return f.ContainsInt64(keys[i]) },
				func() (bool, error) { return f.RemoveInt64(keys[i]) })
		}}
}

func kinds() []kind {
	random := rand.New(rand.NewSource(1))
	shapes := []string{"", "a", "%d", "https://example.com/%d", "ключ-%d", "鍵%d", "😀%d",
		strings.Repeat("é", 20) + "%d"}
	text := make(petal.Strings, batchCount)
	data := make(petal.Bytes, batchCount)
	numbers := petal.Int64s{0, 1, -1, math.MaxInt64, math.MinInt64}
	narrow := petal.Int64s{0, -1, math.MaxInt32, math.MinInt32}
	floats := petal.Float64s{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 5e-324,
		math.Float64frombits(0xfff8000000000001)}
	for i := range text {
		text[i] = shapes[i%8]
		if strings.Contains(text[i], "%") {
			text[i] = fmt.Sprintf(text[i], i)
		}
		data[i] = make([]byte, random.Intn(30))
		random.Read(data[i])
	}
	for len(numbers) < batchCount {
		numbers = append(numbers, int64(random.Uint64()))
	}
	for len(narrow) < batchCount {
		narrow = append(narrow, int64(int32(random.Uint32())))
	}
	for len(floats) < batchCount {
		floats = append(floats, random.NormFloat64()*1e4)
	}
	return []kind{
		stringsKind("strings", "text", text),
		stringsKind("strings of a text filter", "text", text, petal.WithKeyType(petal.TextKeys)),
		stringsKind("strings, utf16le", "utf16le", text, petal.WithKeyType(petal.UTF16Keys)),
		int64sKind("int64", "i64", numbers),
		int64sKind("int64 of an i32 filter", "i32", narrow, petal.WithKeyType(petal.Int32Keys)),
		{"float64", "f64", nil, floats,
			func(from, to int) petal.Keys { return floats[from:to] },
			func(i int) string { return strings.ToLower(fmt.Sprint(floats[i])) },
			func(f *petal.Filter, do string, i int) (bool, error) {
				return choose(do, func() (bool, error) { return f.AddFloat64(floats[i]) },
					func() (bool, error) { return f.ContainsFloat64(floats[i]) },
					func() (bool, error) { return f.RemoveFloat64(floats[i]) })
			}},
		{"[]byte", "hex", nil, data,
			func(from, to int) petal.Keys { return data[from:to] },
			func(i int) string { return fmt.Sprintf("%x", data[i]) },
			func(f *petal.Filter, do string, i int) (bool, error) {
				return choose(do, func() (bool, error) { return f.Add(data[i]) },
					func() (bool, error) { return f.Contains(data[i]) },
					func() (bool, error) { return f.Remove(data[i]) })
			}},
	}
}

func TestABatchIsOneByOneIsTheTool(t *testing.T) {
	for _, kind := range kinds() {
		t.Run(kind.name, func(t *testing.T) {
			half := batchCount / 2
			one, each, counted := small(kind.options...), small(kind.options...), small(kind.options...)
			added := make([]bool, half)
			for i := range added {
				added[i] = must(kind.one(one, "add", i))
			}
			answers := make([]bool, half)
			fine(each.AddInto(answers, kind.slice(0, half)))
			expect(t, same(answers, added), "adding differs")
			expect(t, must(counted.AddMany(kind.slice(0, half))) == count(added), "the count differs")
			expect(t, bytes.Equal(image(one), image(each)), "other bits")
			expect(t, bytes.Equal(image(one), image(counted)), "other bits, counted")

			found, lines := make([]bool, batchCount), make([]string, batchCount)
			for i := range found {
				found[i], lines[i] = must(kind.one(one, "contains", i)), kind.line(i)
			}
			expect(t, count(found[:half]) == half && count(found[half:]) > 0 &&
				count(found) < batchCount, "%d found: it proves little", count(found))
			expect(t, same(must(each.ContainsMany(kind.keys)), found), "a batch differs")
			expect(t, same(tool(t, one, lines, kind.tool), found), "the tool differs")
			expect(t, must(each.ContainsAny(kind.keys)) && !must(each.ContainsAll(kind.keys)), "any")
			expect(t, must(each.ContainsAll(kind.slice(0, half))), "all")
			expect(t, !must(each.ContainsAny(kind.slice(0, 0))), "any of none")
			expect(t, must(each.ContainsAll(kind.slice(0, 0))), "all of none")
			absent := 0
			for absent = half; found[absent]; absent++ {
			}
			expect(t, !must(each.ContainsAny(kind.slice(absent, absent+1))), "any of an absent one")

			hashes := must(each.HashMany(kind.keys))
			expect(t, same(must(each.ContainsMany(petal.Hashes(hashes))), found), "hashes differ")
			expect(t, must(each.ContainsHash(hashes[3])) == found[3], "one hash differs")
		})
	}
}

func TestACountingFilterTakesBatchesOutAgain(t *testing.T) {
	for _, kind := range kinds() {
		t.Run(kind.name, func(t *testing.T) {
			list := append([]petal.Option{petal.WithScheme(petal.Counting), petal.WithBits(1 << 18),
				petal.WithHashes(4)}, kind.options...)
			f, one := must(petal.New(0, 0, list...)), must(petal.New(0, 0, list...))
			must(f.AddMany(kind.slice(0, 2000)))
			must(one.AddMany(kind.slice(0, 2000)))
			removed := make([]bool, 3000)
			for i := range removed {
				removed[i] = must(kind.one(one, "remove", i))
			}
			answers := make([]bool, 3000)
			fine(f.RemoveInto(answers, kind.slice(0, 3000)))
			expect(t, same(answers, removed) && count(removed) >= 2000, "removing differs")
			expect(t, bytes.Equal(image(f), image(one)), "other counters")
			must(f.AddMany(kind.slice(0, 2000)))
			must(f.RemoveMany(kind.slice(0, 2000)))
			expect(t, bytes.Equal(image(f), image(one)), "other counters after counting")
		})
	}
}

func TestLongKeysAndManyGoThroughPieces(t *testing.T) {
	keys := petal.Strings{strings.Repeat("x", 3<<20), "", strings.Repeat("y", 200<<10)}
	for i := 0; i < 5000; i++ {
		keys = append(keys, strings.Repeat("z", i%700)+fmt.Sprint(i))
	}
	f, one := small(), small()
	added := must(f.AddMany(keys))
	for _, key := range keys {
		if must(one.AddString(key)) {
			added--
		}
	}
	expect(t, added == 0 && bytes.Equal(image(f), image(one)), "pieces differ")
	million := integers(0, 1<<20)
	f = must(petal.New(1<<20, 0.01))
	added = must(f.AddMany(million))
	expect(t, added > 1<<20-6000 && must(f.ContainsAll(million)), "%d of a million added", added)
}

func TestKeysHaveTheBytesOfTheirType(t *testing.T) {
	f := must(petal.New(100, 1e-9, petal.WithKeyType(petal.UTF16Keys)))
	must(f.AddString("é😀"))
	var wide []byte
	for _, unit := range utf16.Encode([]rune("é😀")) {
		wide = append(wide, byte(unit), byte(unit>>8))
	}
	expect(t, must(f.Contains(wide)), "not UTF-16LE")
	f = must(petal.New(100, 1e-9, petal.WithKeyType(petal.Int32Keys)))
	must(f.AddMany(petal.Int64s{1, -1}))
	expect(t, must(f.ContainsAll(petal.Bytes{{1, 0, 0, 0}, {255, 255, 255, 255}})), "not 4 bytes")
	f = must(petal.New(100, 1e-9))
	must(f.AddFloat64(math.Copysign(0, -1)))
	expect(t, must(f.ContainsInt64(0)) && must(f.ContainsFloat64(0)), "two zeros")
	must(f.AddFloat64(math.Float64frombits(0xfff8000000000001)))
	expect(t, must(f.ContainsFloat64(math.NaN())), "two NaNs")
}

func TestAnotherTypeOfKeyIsAnErrorAndNoAnswer(t *testing.T) {
	type try struct {
		keys petal.Keys
		one  func(*petal.Filter) (bool, error)
		fits map[petal.KeyType]bool
	}
	tries := []try{
		{petal.Strings{"5"}, func(f *petal.Filter) (bool, error) { return f.ContainsString("5") },
			map[petal.KeyType]bool{petal.AnyKeys: true, petal.TextKeys: true, petal.UTF16Keys: true}},
		{petal.Int64s{5}, func(f *petal.Filter) (bool, error) { return f.ContainsInt64(5) },
			map[petal.KeyType]bool{petal.AnyKeys: true, petal.Int64Keys: true, petal.Int32Keys: true}},
		{petal.Float64s{5}, func(f *petal.Filter) (bool, error) { return f.ContainsFloat64(5) },
			map[petal.KeyType]bool{petal.AnyKeys: true, petal.Float64Keys: true}},
	}
	for keyType := petal.AnyKeys; keyType <= petal.Base64Keys; keyType++ {
		f := must(petal.New(100, 0.01, petal.WithKeyType(keyType)))
		must(f.Add([]byte("bytes always fit")))
		for _, try := range tries {
			_, err := try.one(f)
			_, err2 := f.AddMany(try.keys)
			if try.fits[keyType] {
				expect(t, err == nil && err2 == nil, "%v: %v, %v", keyType, err, err2)
				continue
			}
			isFailure(t, err, petal.ErrKeyType, keyType.String())
			isFailure(t, err2, petal.ErrKeyType, keyType.String())
		}
	}
	f := must(petal.New(100, 0.01, petal.WithKeyType(petal.Int32Keys)))
	_, err := f.AddInt64(1 << 31)
	isFailure(t, err, petal.ErrKeyRange, "2^31")
	_, err = f.AddMany(petal.Int64s{1, -1<<31 - 1})
	isFailure(t, err, petal.ErrKeyRange, "-2^31 - 1")
}

func TestEmptyKeysAreSkippedAndCountedWhereTheSchemeTakesNone(t *testing.T) {
	keys := petal.Strings{"", "a", "", "", "b", ""}
	data := make(petal.Bytes, len(keys))
	for i, key := range keys {
		data[i] = []byte(key)
	}
	for _, list := range []petal.Keys{keys, data} {
		f := must(petal.New(100, 0.01, petal.WithFormat("datasketches")))
		answers := []bool{true, true, true, true, true, true}
		err := f.AddInto(answers, list)
		isFailure(t, err, petal.ErrEmptyKey, "AddInto")
		expect(t, strings.Contains(err.Error(), "4 of them"), "%v", err)
		expect(t, same(answers, []bool{false, true, false, false, true, false}), "%v", answers)
		added, err := f.AddMany(list)
		isFailure(t, err, petal.ErrEmptyKey, "AddMany")
		expect(t, added == 0, "%d added twice", added)
		_, err = f.AddMany(list.(interface{ Len() int }).(petal.Keys))
		isFailure(t, err, petal.ErrEmptyKey, "AddMany")
		expect(t, same(must(f.ContainsMany(list)), []bool{false, true, false, false, true, false}),
			"the empty key is in")
		_, err = f.AddString("")
		isFailure(t, err, petal.ErrEmptyKey, "AddString")
		must(f.AddString("c"))
		must(f.AddMany(petal.Strings{"d"}))
		_, err = f.AddMany(petal.Strings{"", ""})
		isFailure(t, err, petal.ErrEmptyKey, "nothing else")
	}
}

func TestAFullFilterSaysHowFarItCame(t *testing.T) {
	f := must(petal.New(100, 0.01, petal.WithRefuseOverfull()))
	_, err := f.AddMany(texts("key-%d", 0, 100_000))
	failed := isFailure(t, err, petal.ErrFull, "AddMany")
	expect(t, failed.Offset >= 100 && failed.Offset < 1000, "at %d", failed.Offset)
	expect(t, must(f.ContainsAll(texts("key-%d", 0, int(failed.Offset)))), "some are missing")
	_, err = f.AddString("certainly not in")
	failed = isFailure(t, err, petal.ErrFull, "AddString")
	expect(t, failed.Message != "" && failed.Offset == -1, "%#v", failed)
}

// If a key is invalid, only the keys before it are added, and the error contains its index.
func TestAWrongKeyHasAnIndexAndThoseBeforeItAreIn(t *testing.T) {
	for _, at := range []int{0, 1, 6, 7, 8, 100, 4095, 4096, 4097, 9000} {
		for _, more := range []int{0, 1, 5000} {
			f := must(petal.New(20_000, 1e-6, petal.WithKeyType(petal.Int32Keys)))
			keys := append(append(integers(0, at), 1<<40), integers(at, at+more)...)
			for name, call := range map[string]func() error{
				"AddMany":      func() error { return only(f.AddMany(keys)) },
				"AddInto":      func() error { return f.AddInto(make([]bool, len(keys)), keys) },
				"ContainsMany": func() error { return only(f.ContainsMany(keys)) },
				"ContainsAll":  func() error { return only(f.ContainsAll(keys)) },
			} {
				if name != "AddMany" {
					must(f.AddMany(integers(0, at)))
				}
				err := call()
				failed := isFailure(t, err, petal.ErrKeyRange, name)
				expect(t, failed.Offset == int64(at), "%s: at %d, not %d", name, failed.Offset, at)
				expect(t, must(f.ContainsAll(integers(0, at))), "%s: keys before %d are missing", name, at)
				expect(t, count(must(f.ContainsMany(integers(at, at+more)))) < 5, "%s: keys after %d", name, at)
			}
		}
	}
}
