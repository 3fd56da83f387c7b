package project

// Tests whole filters: plans, layers, windows, merging and comparing, copies, and formats.

import (
	"bytes"
	"encoding"
	"encoding/gob"
	"fmt"
	"io"
	"math"
	"os"
	"testing"
	"time"

	"petal.example/petal"
)

var (
	_ io.WriterTo                = (*petal.Filter)(nil)
	_ io.ReaderFrom              = (*petal.Filter)(nil)
	_ io.Closer                  = (*petal.Filter)(nil)
	_ encoding.BinaryMarshaler   = (*petal.Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*petal.Filter)(nil)
	_ fmt.Stringer               = (*petal.Filter)(nil)
	_ error                      = petal.ErrDamaged
)

func filled(list ...petal.Option) *petal.Filter {
	f := must(petal.New(1000, 0.01, list...))
	must(f.AddMany(integers(0, 1000)))
	return f
}

func TestItSaysWhatItIs(t *testing.T) {
	said := filled().String()
	wanted := "petal.Filter(blocked, capacity 1000, rate 0.01, 1000 items, 1280 bytes)"
	expect(t, said == wanted, "%s", said)
	expect(t, petal.Version() == "0.1.0" && (petal.Backend == "cgo" || petal.Backend == "wasm"),
		"%s %s", petal.Version(), petal.Backend)
	expect(t, petal.ErrDamaged.Error() == "damaged", "%v", petal.ErrDamaged)
}

func TestAPlanIsWhatIsMade(t *testing.T) {
	plan, made := must(petal.Plan(1_000_000, 1e-5)), must(must(petal.New(1_000_000, 1e-5)).Info())
	expect(t, plan.Bits == made.Bits && plan.Hashes == made.Hashes && plan.Scheme == made.Scheme &&
		plan.PredictedRate == made.PredictedRate, "%v\n%v", plan, made)
	expect(t, plan.RateAt(1_000_000) == plan.PredictedRate && plan.RateAt(0) == 0 &&
		plan.RateAt(2_000_000) > 1e-5, "rates")
	growing := must(petal.Plan(10, 0.01, petal.WithGrowth()))
	expect(t, math.IsNaN(growing.RateAt(5)) && growing.Policy == petal.Growing, "%v", growing)
	perKey := must(petal.Plan(1000, 0.01)).BitsPerKey()
	expect(t, perKey == 10.24, "%v bits per key", perKey)
}

func TestFiltersGrow(t *testing.T) {
	f := must(petal.New(10, 0.01, petal.WithGrowth()))
	expect(t, must(f.AddMany(integers(0, 1000))) > 980, "too few are new")
	info := must(f.Info())
	expect(t, info.Policy == petal.Growing && info.Layers > 5 && info.GrowthStep == 2, "%v", info)
	expect(t, must(f.LayerInfo(0)).Capacity == 10 && must(f.LayerStats(0)).BitsSet > 0, "layer 0")
	_, err := f.LayerInfo(info.Layers)
	isFailure(t, err, petal.ErrArgument, "a layer that is not there")
	expect(t, must(f.ContainsAll(integers(0, 1000))), "some are missing")
}

func TestWindowsForget(t *testing.T) {
	f := must(petal.New(0, 0.01, petal.WithWindow(1000)))
	must(f.AddMany(integers(0, 100_000)))
	expect(t, must(f.ContainsAll(integers(99_000, 100_000))), "the last are missing")
	expect(t, count(must(f.ContainsMany(integers(0, 90_000)))) < 2000, "the first are still in")

	day := 24 * time.Hour
	now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	f = must(petal.New(0, 0.01, petal.WithWindow(1000), petal.WithWindowTime(7*day)))
	fine(f.Advance(now))
	must(f.AddString("a"))
	fine(f.Advance(now.Add(7 * day)))
	expect(t, must(f.ContainsString("a")), "forgotten too early")
	fine(f.Advance(now.Add(30 * day)))
	expect(t, !must(f.ContainsString("a")), "not forgotten")
	info := must(f.Info())
	expect(t, info.WindowMs == 7*86_400_000 && info.Policy == petal.TimeWindow &&
		info.ClockMs == uint64(now.Add(30*day).UnixMilli()), "%v", info)
	isFailure(t, f.Advance(time.Unix(-5, 0)), petal.ErrArgument, "before 1970")
	isFailure(t, filled().Advance(now), petal.ErrUnsupported, "no window")
}

func TestUnionAndIntersection(t *testing.T) {
	a, b, whole := must(petal.New(1000, 0.01)), must(petal.New(1000, 0.01)), filled()
	must(a.AddMany(integers(0, 600)))
	must(b.AddMany(integers(400, 1000)))
	both := must(a.Clone())
	fine(a.Merge(b))
	expect(t, must(a.ContentID()) == must(whole.ContentID()), "a union is not the whole")
	fine(both.Intersect(b))
	expect(t, must(both.ContainsAll(integers(400, 600))), "common keys are missing")
	expect(t, count(must(both.ContainsMany(integers(0, 400)))) < 100, "others are in")
	before := must(a.ContentID())
	fine(a.Merge(a))
	expect(t, must(a.ContentID()) == before, "a union with itself is another")
	failed := isFailure(t, a.Merge(must(petal.New(2000, 0.01))), petal.ErrMismatch, "Merge")
	expect(t, bytes.Contains([]byte(failed.Message), []byte("bits")), "%v", failed)
	isFailure(t, a.Intersect(must(petal.New(1000, 0.01, petal.WithSeed(1)))), petal.ErrMismatch, "")
}

func TestComparingEstimatesTheOverlap(t *testing.T) {
	a, b := must(petal.New(1000, 0.001)), must(petal.New(1000, 0.001))
	must(a.AddMany(integers(0, 1000)))
	must(b.AddMany(integers(500, 1500)))
	c := must(a.Compare(b))
	expect(t, c.Intersection.Low < 500 && 500 < c.Intersection.High && !c.Saturated, "%v", c)
	expect(t, 0.3 < c.Jaccard.Value && c.Jaccard.Value < 0.37, "%v", c)
	expect(t, 0.45 < c.ContainmentAInB.Value && c.ContainmentBInA.Value < 0.55, "%v", c)
	expect(t, c.ItemsA.Value > 980 && c.ItemsB.Value < 1020 && c.Union.Value > 1450, "%v", c)
}

func TestCopiesAreTheirOwn(t *testing.T) {
	f := filled(petal.WithMetadata([]byte("mine")))
	clone, like := must(f.Clone()), must(f.EmptyLike())
	expect(t, bytes.Equal(image(clone), image(f)), "a clone differs")
	must(clone.AddString("more"))
	expect(t, !bytes.Equal(image(clone), image(f)), "a clone is the same filter")
	expect(t, must(like.Stats()).BitsSet == 0, "not empty")
	fine(like.Merge(f))
	expect(t, must(like.ContentID()) == must(f.ContentID()), "not alike")
	counting := filled(petal.WithScheme(petal.Counting))
	dropped := must(counting.DropCounts())
	info := must(dropped.Info())
	expect(t, info.Scheme == "classic" && must(dropped.ContainsAll(integers(0, 1000))), "%v", info)
	fine(f.Clear())
	expect(t, must(f.Stats()).BitsSet == 0, "not cleared")
	fine(f.Freeze())
	_, err := f.AddString("a")
	failed := isFailure(t, err, petal.ErrReadOnly, "frozen")
	expect(t, failed.Message != "", "%v", failed)
}

func TestAFoldedFilterIsTheOneMadeSmall(t *testing.T) {
	for _, scheme := range []petal.Scheme{petal.Blocked, petal.Classic} {
		large := must(petal.New(0, 0.01, petal.WithMemory(4_000_000), petal.WithFoldable(),
			petal.WithScheme(scheme), petal.WithMetadata([]byte("kept"))))
		must(large.AddMany(integers(0, 1000))) // far fewer keys than planned
		folded := must(large.Fold(0, 0))
		info := must(folded.Info())
		expect(t, info.Abilities&petal.CanFold != 0 && info.Bytes < 2000, "%v", info)
		expect(t, info.TargetRate == 0.01 && info.Capacity >= 1000 && info.Items == 1000, "%v", info)
		expect(t, string(must(folded.Metadata())) == "kept", "lost")
		small := must(petal.New(1000, 0, petal.WithBits(info.Bits), petal.WithHashes(info.Hashes),
			petal.WithScheme(scheme)))
		must(small.AddMany(integers(0, 1000)))
		expect(t, must(small.ContentID()) == must(folded.ContentID()), "not the one made small")
		exactly := must(large.FoldToBits(info.Bits))
		expect(t, must(exactly.ContentID()) == must(folded.ContentID()), "not the same bits")
		room := must(must(large.Fold(0.001, 100_000)).Info())
		expect(t, room.Bytes > 50*info.Bytes && room.Capacity >= 100_000, "%v", room)
		isFailure(t, only(large.Fold(1e-300, 0)), petal.ErrUnreachable, "no rate")
		isFailure(t, only(large.Fold(2, 0)), petal.ErrArgument, "a rate of 2")
		isFailure(t, only(large.FoldToBits(7777)), petal.ErrArgument, "no divisor")
		fine(large.Close())
	}
	isFailure(t, only(petal.New(10, 0, petal.WithFoldable(), petal.WithBits(512))),
		petal.ErrArgument, "without a rate")
}

func TestAFilterOfKeysThatNobodyCounted(t *testing.T) {
	numbers := func(n int64) func(func(int64) bool) {
		return func(yield func(int64) bool) {
			for i := int64(0); i < n && yield(i); i++ {
			}
		}
	}
	for _, n := range []int64{0, 1, 1000, 100_000} {
		f := must(petal.FromKeys(numbers(n), 0.01))
		info := must(f.Info())
		capacity := uint64(n)
		if n == 0 {
			capacity = 1
		}
		planned := must(petal.Plan(capacity, 0.01))
		expect(t, info.Bits <= planned.Bits/8*9+512 && info.Items == uint64(n), "%v", info)
		expect(t, must(f.ContainsAll(integers(0, int(n)))) && !must(f.IsOverfull()), "%d are lost", n)
		fine(f.Close())
	}
	line := make([]byte, 4) // one buffer, reused for every key
	words := must(petal.FromKeys(func(yield func([]byte) bool) {
		for i := 0; i < 9999 && yield(line[:copy(line, fmt.Sprint(i))]); i++ {
		}
	}, 0.001, petal.WithScheme(petal.Classic), petal.WithMemory(1<<20)))
	for i := 0; i < 9999; i++ {
		expect(t, must(words.ContainsString(fmt.Sprint(i))), "%d is lost", i)
	}
	expect(t, must(words.Info()).Bytes < 23_000, "%v", must(words.Info()))
	fine(words.Close())
	full := must(petal.FromKeys(numbers(100_000), 0.01, petal.WithMemory(1<<14)))
	expect(t, must(full.IsOverfull()) && must(full.ContainsAll(integers(0, 100_000))), "lost")
	asked := int64(0)
	_, err := petal.FromKeys(func(yield func(int64) bool) {
		for ; asked < 100_000 && yield(asked); asked++ {
		}
	}, 0.01, petal.WithMemory(1<<14), petal.WithRefuseOverfull())
	isFailure(t, err, petal.ErrFull, "overfull")
	expect(t, asked < 100_000, "it went on")
	texts := func(yield func(string) bool) { yield("a") }
	isFailure(t, only(petal.FromKeys(texts, 0)), petal.ErrArgument, "no rate")
	isFailure(t, only(petal.FromKeys(texts, 0.01, petal.WithScheme(petal.Counting))),
		petal.ErrArgument, "counters")
	isFailure(t, only(petal.FromKeys[string](nil, 0.01)), petal.ErrArgument, "nil")
}

func TestAStaticFilterIsBuiltFromItsKeys(t *testing.T) {
	numbers := func(yield func(int64) bool) {
		for i := int64(0); i < 100_000 && yield(i); i++ {
		}
	}
	golden := must(os.ReadFile("vectors/static/two-pages.petal"))
	f := must(petal.FromKeys(numbers, 0.01, petal.WithScheme(petal.Static)))
	expect(t, bytes.Equal(must(f.MarshalBinary()), golden), "other bytes than the golden file's")
	expect(t, must(f.ContainsAll(integers(0, 100_000))), "a key is lost")
	isFailure(t, only(f.AddInt64(5)), petal.ErrUnsupported, "add")
	fine(f.Close())
	own := must(petal.New(0, 0.01, petal.WithScheme(petal.Static)))
	expect(t, must(own.AddInt64(99_999)) && must(own.ContainsString("anything")), "not built")
	isFailure(t, only(own.MarshalBinary()), petal.ErrUnsupported, "not built")
	must(own.AddMany(integers(0, 100_000)))
	fine(own.Freeze())
	expect(t, bytes.Equal(must(own.MarshalBinary()), golden), "frozen")
	fine(own.Close())
	isFailure(t, only(petal.New(10, 0.01, petal.WithScheme(petal.Static))), petal.ErrArgument,
		"a capacity")
	isFailure(t, only(petal.FromKeys(numbers, 0.01, petal.WithScheme(petal.Static),
		petal.WithMemory(1000))), petal.ErrArgument, "a size")
}

func TestMetadataIsBytes(t *testing.T) {
	f := must(petal.New(10, 0.01))
	expect(t, must(f.Metadata()) == nil, "metadata from nowhere")
	fine(f.SetMetadata([]byte("\x00x")))
	expect(t, string(must(f.Metadata())) == "\x00x" && must(f.Info()).MetadataBytes == 2, "lost")
	fine(f.SetMetadata(nil))
	expect(t, must(f.Metadata()) == nil, "still there")
	isFailure(t, f.SetMetadata(make([]byte, 65537)), petal.ErrLimit, "too much")
}

func TestStatsAndOverfullTell(t *testing.T) {
	f := must(petal.New(100, 0.01))
	must(f.AddMany(integers(0, 1000)))
	stats := must(f.Stats())
	expect(t, must(f.IsOverfull()) && stats.Overfull && stats.EstimatedRate > 0.1, "%v", stats)
	expect(t, stats.Fill == float64(stats.BitsSet)/float64(must(f.Info()).Bits), "%v", stats)
	estimate := must(filled().Stats()).EstimatedItems
	expect(t, estimate.Low < 1000 && 1000 < estimate.High, "%v", estimate)
}

func TestEachFormatThatCanBeCreatedIs(t *testing.T) {
	made := 0
	keys := texts("key %d", 0, 100)
	for _, format := range petal.Formats() {
		if !format.CanCreate || format.Name == "petal" {
			continue
		}
		f, err := petal.New(100, 0.01, petal.WithFormat(format.Name))
		expect(t, err == nil, "%s: %v", format.Name, err)
		must(f.AddMany(keys))
		data := must(f.Bytes(format.Name))
		again := must(petal.FromBytes(data, petal.FromFormat(format.Name)))
		expect(t, must(again.ContainsAll(keys)), "%s: keys are missing", format.Name)
		expect(t, bytes.Equal(must(again.Bytes(format.Name)), data), "%s: other bytes", format.Name)
		if format.CanRecognize {
			named := false
			for _, name := range petal.Recognize(data) {
				named = named || name == format.Name
			}
			expect(t, named, "%s is not recognized: %v", format.Name, petal.Recognize(data))
		}
		made++
	}
	expect(t, made >= 15, "only %d", made)
}

func TestGobCarriesAFilter(t *testing.T) {
	for _, list := range [][]petal.Option{nil, {petal.WithScheme(petal.Counting)},
		{petal.WithGrowth()}, {petal.WithFormat("guava")}, {petal.WithKeyType(petal.Int64Keys)}} {
		f := filled(list...)
		var buffer bytes.Buffer
		fine(gob.NewEncoder(&buffer).Encode(f))
		var again petal.Filter
		fine(gob.NewDecoder(&buffer).Decode(&again))
		expect(t, bytes.Equal(image(&again), image(f)) && again.KeyType() == f.KeyType(), "%v", list)
		must(again.AddInt64(12345))
	}
	_, err := filled(petal.WithSecret(secret)).MarshalBinary()
	isFailure(t, err, petal.ErrUnsupported, "a keyed filter is marshalled")
}
