package project

// Tests that misuse returns errors that errors.Is recognizes, and never panics.

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"petal.example/petal"
)

func only[T any](_ T, err error) error { return err }

func TestAClosedFilterIsAnError(t *testing.T) {
	list, numbers := petal.Strings{"a"}, integers(0, 100)
	calls := map[string]func(f *petal.Filter) error{
		"Add":             func(f *petal.Filter) error { return only(f.Add([]byte("a"))) },
		"AddString":       func(f *petal.Filter) error { return only(f.AddString("a")) },
		"AddInt64":        func(f *petal.Filter) error { return only(f.AddInt64(1)) },
		"AddFloat64":      func(f *petal.Filter) error { return only(f.AddFloat64(1)) },
		"AddHash":         func(f *petal.Filter) error { return only(f.AddHash(1)) },
		"Contains":        func(f *petal.Filter) error { return only(f.Contains([]byte("a"))) },
		"ContainsString":  func(f *petal.Filter) error { return only(f.ContainsString("a")) },
		"ContainsInt64":   func(f *petal.Filter) error { return only(f.ContainsInt64(1)) },
		"ContainsFloat64": func(f *petal.Filter) error { return only(f.ContainsFloat64(1)) },
		"ContainsHash":    func(f *petal.Filter) error { return only(f.ContainsHash(1)) },
		"Remove":          func(f *petal.Filter) error { return only(f.Remove([]byte("a"))) },
		"RemoveString":    func(f *petal.Filter) error { return only(f.RemoveString("a")) },
		"RemoveInt64":     func(f *petal.Filter) error { return only(f.RemoveInt64(1)) },
		"RemoveFloat64":   func(f *petal.Filter) error { return only(f.RemoveFloat64(1)) },
		"RemoveHash":      func(f *petal.Filter) error { return only(f.RemoveHash(1)) },
		"HashKey":         func(f *petal.Filter) error { return only(f.HashKey(nil)) },
		"HashString":      func(f *petal.Filter) error { return only(f.HashString("")) },
		"HashMany":        func(f *petal.Filter) error { return only(f.HashMany(list)) },
		"AddMany":         func(f *petal.Filter) error { return only(f.AddMany(list)) },
		"AddMany int64":   func(f *petal.Filter) error { return only(f.AddMany(numbers)) },
		"AddMany nothing": func(f *petal.Filter) error { return only(f.AddMany(petal.Strings{})) },
		"AddInto":         func(f *petal.Filter) error { return f.AddInto(make([]bool, 1), list) },
		"ContainsMany":    func(f *petal.Filter) error { return only(f.ContainsMany(list)) },
		"ContainsInto":    func(f *petal.Filter) error { return f.ContainsInto(make([]bool, 1), list) },
		"ContainsAny":     func(f *petal.Filter) error { return only(f.ContainsAny(list)) },
		"ContainsAll":     func(f *petal.Filter) error { return only(f.ContainsAll(list)) },
		"RemoveMany":      func(f *petal.Filter) error { return only(f.RemoveMany(list)) },
		"RemoveInto":      func(f *petal.Filter) error { return f.RemoveInto(make([]bool, 1), list) },
		"Clone":           func(f *petal.Filter) error { return only(f.Clone()) },
		"EmptyLike":       func(f *petal.Filter) error { return only(f.EmptyLike()) },
		"DropCounts":      func(f *petal.Filter) error { return only(f.DropCounts()) },
		"Fold":            func(f *petal.Filter) error { return only(f.Fold(0, 0)) },
		"FoldToBits":      func(f *petal.Filter) error { return only(f.FoldToBits(512)) },
		"Merge":           func(f *petal.Filter) error { return f.Merge(filled()) },
		"Merge of it":     func(f *petal.Filter) error { return filled().Merge(f) },
		"Merge itself":    func(f *petal.Filter) error { return f.Merge(f) },
		"Merge of nil":    func(*petal.Filter) error { return filled().Merge(nil) },
		"Intersect":       func(f *petal.Filter) error { return f.Intersect(filled()) },
		"Compare":         func(f *petal.Filter) error { return only(f.Compare(filled())) },
		"Compare with it": func(f *petal.Filter) error { return only(filled().Compare(f)) },
		"Patch":           func(f *petal.Filter) error { return only(f.Patch(filled())) },
		"Patch from it":   func(f *petal.Filter) error { return only(filled().Patch(f)) },
		"ApplyPatch":      func(f *petal.Filter) error { return f.ApplyPatch([]byte("x"), 0) },
		"Clear":           func(f *petal.Filter) error { return f.Clear() },
		"Share":           func(f *petal.Filter) error { return f.Share() },
		"Freeze":          func(f *petal.Filter) error { return f.Freeze() },
		"Advance":         func(f *petal.Filter) error { return f.Advance(time.Now()) },
		"Sync":            func(f *petal.Filter) error { return f.Sync() },
		"Verify":          func(f *petal.Filter) error { return only(f.Verify()) },
		"Info":            func(f *petal.Filter) error { return only(f.Info()) },
		"LayerInfo":       func(f *petal.Filter) error { return only(f.LayerInfo(0)) },
		"Stats":           func(f *petal.Filter) error { return only(f.Stats()) },
		"LayerStats":      func(f *petal.Filter) error { return only(f.LayerStats(0)) },
		"ContentID":       func(f *petal.Filter) error { return only(f.ContentID()) },
		"IsOverfull":      func(f *petal.Filter) error { return only(f.IsOverfull()) },
		"Metadata":        func(f *petal.Filter) error { return only(f.Metadata()) },
		"SetMetadata":     func(f *petal.Filter) error { return f.SetMetadata(nil) },
		"Save":            func(f *petal.Filter) error { return f.Save("/nowhere/at/all") },
		"Bytes":           func(f *petal.Filter) error { return only(f.Bytes("")) },
		"WriteTo":         func(f *petal.Filter) error { return only(f.WriteTo(new(bytes.Buffer))) },
		"WriteFormat":     func(f *petal.Filter) error { return only(f.WriteFormat(io.Discard, "")) },
		"MarshalBinary":   func(f *petal.Filter) error { return only(f.MarshalBinary()) },
	}
	for name, call := range calls {
		closed := filled()
		fine(closed.Close())
		for _, f := range []*petal.Filter{closed, new(petal.Filter)} {
			isFailure(t, call(f), petal.ErrClosed, name)
			fine(f.Close())
			expect(t, strings.Contains(f.String(), "closed"), "%v", f)
		}
	}
	found, err := new(petal.Filter).ContainsString("a")
	expect(t, found && err != nil, "certainly not in a closed filter")
}

func TestWrongOptionsAreErrors(t *testing.T) {
	type list = []petal.Option
	wrong := []struct {
		status   petal.Status
		capacity uint64
		rate     float64
		options  list
	}{
		{petal.ErrArgument, 10, math.NaN(), nil},
		{petal.ErrArgument, 10, 2, nil},
		{petal.ErrArgument, 10, -0.1, nil},
		{petal.ErrArgument, 0, 0, nil},
		{petal.ErrUnreachable, math.MaxUint64, 0.01, nil},
		{petal.ErrArgument, 10, 0.01, list{petal.WithScheme(99)}},
		{petal.ErrArgument, 10, 0.01, list{petal.WithKeyType(99)}},
		{petal.ErrArgument, 10, 0.01, list{petal.WithSecret([]byte("short"))}},
		{petal.ErrArgument, 10, 0.01, list{petal.WithSecret(nil)}},
		{petal.ErrArgument, 10, 0.01, list{petal.WithFormat("no such")}},
		{petal.ErrArgument, 10, 0.01, list{petal.WithFormat("a\x00b")}},
		{petal.ErrLimit, 10, 0.01, list{petal.WithMetadata(make([]byte, 65537))}},
		{petal.ErrArgument, 0, 0.01, list{petal.WithWindow(10), petal.WithWindowTime(-1)}},
		{petal.ErrArgument, 10, 0.01, list{petal.WithSecret(secret), petal.WithSeed(1)}},
		{petal.ErrLimit, 0, 0, list{petal.WithBits(math.MaxUint64), petal.WithHashes(5)}},
		{petal.ErrArgument, 0, 0, list{petal.WithBits(512), petal.WithHashes(math.MaxUint32)}},
	}
	for i, one := range wrong {
		_, err := petal.New(one.capacity, one.rate, one.options...)
		isFailure(t, err, one.status, "New "+string(rune('A'+i)))
		_, err = petal.Plan(one.capacity, one.rate, one.options...)
		isFailure(t, err, one.status, "Plan "+string(rune('A'+i)))
	}
	fine(must(petal.New(10, 0.01, nil, petal.WithSeed(3))).Close())
}

func TestTooMuchMemoryIsAnError(t *testing.T) {
	// Several allocations of 32 TiB exceed any machine's free address space.
	var held []*petal.Filter
	var err error
	for i := 0; i < 8 && err == nil; i++ {
		var f *petal.Filter
		f, err = petal.New(0, 0, petal.WithBits(1<<48), petal.WithHashes(2))
		held = append(held, f)
	}
	isFailure(t, err, petal.ErrMemory, "32 TiB eight times")
	for _, f := range held {
		if f != nil {
			fine(f.Close())
		}
	}
	fine(filled().Close())
}

func TestOtherMisuse(t *testing.T) {
	f := filled()
	for name, err := range map[string]error{
		"no format of that name": only(f.Bytes("no such")),
		"zero in a format":       only(f.Bytes("a\x00")),
		"nil keys":               only(f.AddMany(nil)),
		"nil keys, answers":      only(f.ContainsMany(nil)),
		"nil keys, into":         f.ContainsInto(nil, nil),
		"nil keys, hashes":       only(f.HashMany(nil)),
		"too few answers":        f.ContainsInto(make([]bool, 1), petal.Strings{"a", "b"}),
		"hashes of hashes":       only(f.HashMany(petal.Hashes{1})),
		"no mode of that number": only(petal.Open("dev", petal.WithMode(7))),
		"layer 5":                only(f.LayerStats(5)),
		"nil writer":             only(f.WriteTo(nil)),
		"nil reader":             only(petal.Read(nil)),
		"zero in a path":         f.Save("a\x00b"),
	} {
		isFailure(t, err, petal.ErrArgument, name)
	}
	for name, err := range map[string]error{
		"guava of blocked":   only(f.Bytes("guava")),
		"remove":             only(f.Remove([]byte("a"))),
		"remove an integer":  only(f.RemoveInt64(1)),
		"remove many":        only(f.RemoveMany(petal.Strings{"a"})),
		"drop counts":        only(f.DropCounts()),
		"fold counters":      only(filled(petal.WithScheme(petal.Counting)).Fold(0, 0)),
		"hashes in guava":    only(must(petal.New(10, 0.01, petal.WithFormat("guava"))).AddHash(1)),
		"share what counts":  filled(petal.WithScheme(petal.Counting)).Share(),
		"like of what grows": only(filled(petal.WithGrowth()).EmptyLike()),
		"compare what grows": only(filled(petal.WithGrowth()).Compare(filled(petal.WithGrowth()))),
	} {
		isFailure(t, err, petal.ErrUnsupported, name)
	}
	for name, data := range map[string][]byte{"nothing": {}, "nil": nil, "text": []byte("text")} {
		isFailure(t, only(petal.FromBytes(data, petal.FromFormat("petal"))), petal.ErrNotAFilter, name)
	}
	expect(t, petal.ShardOf([]byte("a"), 0) == 0 && petal.ShardOf(nil, 1) == 0, "0 shards")
	expect(t, len(petal.Recognize(nil)) == 0, "nothing is recognized")
}
