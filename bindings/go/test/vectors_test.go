package project

// Tests every vector. Filters from other libraries' files must return the original library's
// answers, be rebuilt byte for byte, and survive a round trip through a petal file. Petal's own
// files must be rewritten byte for byte. Broken files must be rejected with the right error.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"petal.example/petal"
)

// ---- files of other libraries (the language is that of tests/formats/vectors.c) ----

type file struct {
	t            *testing.T
	format, path string // the format to write
	readAs       string
	data         []byte
	read, made   *petal.Filter
	packed       bool
	rebuilt      int
	typed        int
	ofType       map[petal.KeyType]*petal.Filter
	asked        petal.Bytes
	expected     []bool
}

func openVector(t *testing.T, format, path string) *file {
	data := must(os.ReadFile(path))
	read, err := petal.FromBytes(data, petal.FromFormat(format))
	expect(t, err == nil, "%s: %v", path, err)
	made := &file{t: t, format: format, readAs: format, path: path, data: data, read: read}
	if format == gzipped { // Petal reads this format, but always writes it uncompressed
		made.format, made.packed = "dcso", true
	}
	return made
}

const gzipped = "dcso-gzip"

func (f *file) make(verb string, words []string) {
	if verb == "plan" {
		f.made = must(petal.New(number(words[0]), rate(words[1]), petal.WithFormat(f.format)))
		return
	}
	list := []petal.Option{petal.WithBits(number(words[0])),
		petal.WithHashes(uint32(number(words[1]))), petal.WithFormat(f.format)}
	if len(words) > 2 {
		list = append(list, petal.WithSeed(number(words[2])))
	}
	f.made = must(petal.New(0, 0, list...))
}

func (f *file) key(verb string, key []byte) {
	if verb == "add" {
		if f.made != nil {
			must(f.made.Add(key))
		}
		return
	}
	expected := verb == "in"
	expect(f.t, must(f.read.Contains(key)) == expected, "%s: %s %q", f.path, verb, key)
	f.typed += f.askTyped(key, expected)
	f.asked, f.expected = append(f.asked, key), append(f.expected, expected)
}

// askTyped opens the file with OfKeys, and queries the same key bytes with every call that can
// produce them.
func (f *file) askTyped(key []byte, expected bool) (asked int) {
	if f.ofType == nil {
		f.ofType = map[petal.KeyType]*petal.Filter{}
	}
	of := func(keys petal.KeyType) *petal.Filter {
		if f.ofType[keys] == nil {
			format := petal.FromFormat(f.readAs)
			f.ofType[keys] = must(petal.FromBytes(f.data, format, petal.OfKeys(keys)))
		}
		return f.ofType[keys]
	}
	check := func(what string, answers ...bool) {
		for _, answer := range answers {
			expect(f.t, answer == expected, "%s: %x as %s: %v", f.path, key, what, answer)
			asked++
		}
	}
	both := func(answers []bool, one bool) []bool { return append(answers, one) }
	if utf8.Valid(key) {
		f := of(petal.TextKeys)
		check("text", both(must(f.ContainsMany(petal.Strings{string(key)})),
			must(f.ContainsString(string(key))))...)
	}
	if wide, ok := wideText(key); ok {
		f := of(petal.UTF16Keys)
		check("UTF-16", both(must(f.ContainsMany(petal.Strings{wide})), must(f.ContainsString(wide)))...)
	}
	if len(key) == 4 {
		f, number := of(petal.Int32Keys), int64(int32(binary.LittleEndian.Uint32(key)))
		check("int32", both(must(f.ContainsMany(petal.Int64s{number})), must(f.ContainsInt64(number)))...)
	}
	if len(key) == 8 {
		word := binary.LittleEndian.Uint64(key)
		f, number := of(petal.Int64Keys), int64(word)
		check("int64", both(must(f.ContainsMany(petal.Int64s{number})), must(f.ContainsInt64(number)))...)
		if float := math.Float64frombits(word); float == float && word != 1<<63 {
			f := of(petal.Float64Keys)
			check("float64", both(must(f.ContainsMany(petal.Float64s{float})),
				must(f.ContainsFloat64(float)))...)
		}
	}
	check("bytes", must(of(petal.HexKeys).Contains(key)))
	return asked
}

// wideText returns the string whose UTF-16LE form is these bytes.
func wideText(key []byte) (string, bool) {
	units := make([]uint16, len(key)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(key[2*i:])
	}
	text := string(utf16.Decode(units))
	again := []byte{}
	for _, unit := range utf16.Encode([]rune(text)) {
		again = append(again, byte(unit), byte(unit>>8))
	}
	return text, len(key) > 0 && bytes.Equal(again, key)
}

func (f *file) expectSame(filter *petal.Filter) {
	made := must(filter.Bytes(f.format))
	if f.packed { // the compressed bytes differ, but the decompressed data is the same
		again := must(petal.FromBytes(made, petal.FromFormat(f.format)))
		expect(f.t, bytes.Equal(image(again), image(f.read)), "%s: other bits", f.path)
		return
	}
	expect(f.t, bytes.Equal(made, f.data), "%s: other bytes", f.path)
}

func (f *file) end() {
	expect(f.t, len(f.asked) > 0 || f.rebuilt > 0, "%s: it proves nothing", f.path)
	answers := must(f.read.ContainsMany(f.asked))
	expect(f.t, len(answers) == 0 || same(answers, f.expected), "%s: a batch differs", f.path)
	f.expectSame(f.read)
	f.expectSame(must(petal.FromBytes(image(f.read), petal.FromFormat("petal"))))
	for size := 0; size < len(f.data); size += len(f.data)/50 + 1 {
		cut, err := petal.FromBytes(f.data[:size], petal.FromFormat(f.format))
		expect(f.t, err != nil || !f.packed || f.format != "dcso", "%s: cut, it is read", f.path)
		if err != nil {
			expect(f.t, err.Error() != "", "%s: an error without words", f.path)
			continue
		}
		must(cut.Contains([]byte("a")))
		fine(cut.Close())
	}
}

func runScript(t *testing.T, path string, known map[string]bool) (files, answers, rebuilt, typed int) {
	var format string
	var at *file
	end := func() {
		if at != nil {
			at.end()
			files, answers, rebuilt = files+1, answers+len(at.asked), rebuilt+at.rebuilt
			typed += at.typed
		}
		at = nil
	}
	for _, words := range rows(strings.TrimPrefix(path, "vectors/")) {
		verb, words := words[0], words[1:]
		switch verb {
		case "format":
			end()
			format = words[0]
		case "file":
			end()
			if known[format] {
				at = openVector(t, format, filepath.Join(filepath.Dir(path), words[0]))
			}
		case "loose":
		default:
			if at == nil {
				continue
			}
			switch verb {
			case "plan", "size":
				at.make(verb, words)
			case "rebuild":
				at.expectSame(at.made)
				at.rebuilt = 1
			case "packed":
				at.packed = true
			case "add", "in", "out":
				at.key(verb, unhex(words[0]))
			case "adds", "ins", "outs":
				text := words[0]
				if text == "-" {
					text = ""
				}
				for i := integer(words[1]); i <= integer(words[2]); i++ {
					at.key(verb[:len(verb)-1], []byte(text+strconv.Itoa(i)))
				}
			default:
				t.Fatalf("%s: %s", path, verb)
			}
		}
	}
	end()
	return
}

func TestFilesOfOtherLibrariesAnswerAreRebuiltAndCarried(t *testing.T) {
	known := map[string]bool{}
	for _, format := range petal.Formats() {
		known[format.Name] = true
	}
	expect(t, !known[gzipped], "this build writes gzip, and the documents say that it does not")
	known[gzipped] = true
	var files, answers, rebuilt, typed int
	for _, path := range must(filepath.Glob("vectors/*/vectors.txt")) {
		a, b, c, d := runScript(t, path, known)
		files, answers, rebuilt, typed = files+a, answers+b, rebuilt+c, typed+d
	}
	fmt.Printf("counted: Go: %d keys of %d files asked as bytes, %d as text and numbers too\n",
		answers, files, typed)
	expect(t, files >= 190 && answers >= 20000 && rebuilt >= 140 && typed >= 40000,
		"only %d %d %d %d", files, answers, rebuilt, typed)
}

func TestFiltersInsideParquetFilesAreFoundAndAnswer(t *testing.T) {
	var data []byte
	var list []petal.ParquetFilter
	var f *petal.Filter
	expected, answers, numbers := 0, 0, 0
	for _, words := range rows("parquet/files.txt") {
		switch words[0] {
		case "file":
			expect(t, len(list) == expected, "%d filters, not %d", len(list), expected)
			data = must(os.ReadFile("vectors/parquet/" + words[1]))
			list, expected = must(petal.ParquetFilters(data)), 0
		case "filter":
			one := list[expected]
			place := fmt.Sprint(one.RowGroup, one.ColumnNumber, one.Column, one.PhysicalType, one.Offset)
			place = fmt.Sprintf("%d %d %s %s %d", one.RowGroup, one.ColumnNumber, one.Column,
				one.PhysicalType, one.Offset)
			expect(t, place == strings.Join(words[1:6], " "), "%s, not %v", place, words)
			f = must(petal.FromBytes(data[one.Offset:one.Offset+one.Bytes], petal.FromFormat("parquet"),
				petal.OfKeys(one.KeyType())))
			expected++
		default:
			key, in := unhex(words[1]), words[0] == "in"
			expect(t, must(f.Contains(key)) == in, "%v", words)
			switch f.KeyType() {
			case petal.Int32Keys:
				number := int32(binary.LittleEndian.Uint32(key))
				expect(t, must(f.ContainsInt64(int64(number))) == in, "%v as a number", words)
				numbers++
			case petal.Int64Keys:
				number := binary.LittleEndian.Uint64(key)
				expect(t, must(f.ContainsInt64(int64(number))) == in, "%v as a number", words)
				numbers++
			case petal.Float64Keys:
				number := math.Float64frombits(binary.LittleEndian.Uint64(key))
				expect(t, must(f.ContainsFloat64(number)) == in, "%v as a number", words)
				numbers++
			}
			answers++
		}
	}
	expect(t, len(list) == expected && answers > 500 && numbers > 100, "only %d answers, %d numbers",
		answers, numbers)
	_, err := petal.ParquetFilters([]byte("PAR1"))
	isFailure(t, err, petal.ErrTruncated, "PAR1")
}

// ---- petal's own ----

type recipe struct {
	fill     func(*petal.Filter)
	capacity uint64
	rate     float64
	options  []petal.Option
}

func many(keys petal.Keys) func(*petal.Filter) {
	return func(f *petal.Filter) { must(f.AddMany(keys)) }
}

func days(f *petal.Filter) {
	for i := int64(0); i < 100; i++ {
		fine(f.Advance(time.Unix((19723+i)*86400+43200, 0)))
		must(f.AddString(fmt.Sprintf("key-%d", i)))
	}
}

func counts(f *petal.Filter) {
	must(f.AddMany(texts("key-%d", 0, 100)))
	must(f.AddMany(texts("key-%d", 0, 10)))
	for i := 0; i < 20; i++ {
		must(f.AddString("key-95"))
	}
	removed := must(f.RemoveMany(append(texts("key-%d", 0, 50), "key-95")))
	if removed != 51 {
		panic("not all were removed")
	}
}

func typed(f *petal.Filter) {
	must(f.AddMany(petal.Bytes{{}, {0}, []byte("café"), {0xff, 0xfe}}))
	must(f.AddMany(petal.Int64s{-1, 1}))
	must(f.AddMany(petal.Float64s{math.Copysign(0, -1), 1.5, math.NaN()}))
}

// vectors/README.md describes the files that this test reads.
func recipes() map[string]recipe {
	type list = []petal.Option
	bits := func(bits uint64, hashes uint32, more ...petal.Option) list {
		return append(list{petal.WithBits(bits), petal.WithHashes(hashes)}, more...)
	}
	text, two := many(texts("key-%d", 0, 100)), many(petal.Strings{"a", "b"})
	nothing, hundred := many(petal.Strings{}), many(integers(0, 100))
	classic, counting := petal.WithScheme(petal.Classic), petal.WithScheme(petal.Counting)
	keyed, one, lines := petal.WithSecret(secret), petal.WithLinesPerKey(1), petal.WithLinesPerKey(2)
	burst := func(f *petal.Filter) {
		fine(f.Advance(time.Unix(19723*86400, 0)))
		text(f)
	}
	day := 24 * time.Hour
	metadata := petal.WithMetadata([]byte("{\"made\": \"for a test\"}\x00\xff\x00"))
	return map[string]recipe{
		"textbook":            {two, 0, 0, bits(11, 2, classic, petal.WithSeed(197072))},
		"one-bit":             {two, 0, 0, bits(1, 1, classic)},
		"empty-blocked":       {nothing, 0, 0, bits(512, 7, one)},
		"empty-classic":       {nothing, 0, 0, bits(513, 64, classic)},
		"blocked":             {text, 0, 0, bits(1536, 8, one)},
		"blocked-two-lines":   {text, 0, 0, bits(2048, 9, lines)},
		"blocked-k16":         {hundred, 0, 0, bits(5120, 16, one, petal.WithSeed(math.MaxUint64))},
		"blocked-k32":         {hundred, 0, 0, bits(5120, 32, lines)},
		"blocked-planned":     {text, 100, 0.01, nil},
		"blocked-planned-low": {text, 100, 1e-6, nil},
		"classic":             {text, 0, 0, bits(1009, 5, classic, petal.WithSeed(42))},
		"classic-planned":     {text, 100, 0.01, list{classic}},
		"classic-keyed":       {text, 0, 0, bits(1009, 7, classic, keyed)},
		"blocked-keyed":       {text, 0, 0, bits(1024, 6, one, keyed)},
		"typed-keys":          {typed, 0, 0, bits(1024, 5, one)},
		"metadata":            {two, 10, 0.5, bits(100, 3, classic, petal.WithSeed(7), metadata)},
		"saturated":           {many(integers(0, 1000)), 0, 0, bits(100, 4, classic)},
		"two-blocks":          {many(integers(0, 2000)), 0, 0, bits(524387, 3, classic)},
		"growing":             {text, 10, 0.01, list{petal.WithGrowth()}},
		"growing-by-3": {text, 5, 0.1, list{classic, petal.WithSeed(7), petal.WithGrowth(),
			petal.WithGrowthStep(3, 0.5), petal.WithMetadata([]byte("three"))}},
		"growing-empty": {nothing, 10, 0.01, list{petal.WithGrowth()}},
		"rotating-keys": {text, 0, 0.01, list{petal.WithWindow(60)}},
		"rotating-time": {days, 0, 0.01, list{classic, keyed, petal.WithWindow(70),
			petal.WithWindowTime(7 * day), petal.WithGenerations(8)}},
		"rotating-burst": {burst, 0, 0.01, list{petal.WithWindow(60), petal.WithWindowTime(day),
			petal.WithGenerations(4)}},
		"empty-counting":      {nothing, 0, 0, bits(129, 64, counting)},
		"textbook-counting":   {two, 0, 0, bits(11, 2, counting, petal.WithSeed(197072))},
		"counting":            {counts, 0, 0, bits(1009, 5, counting, petal.WithSeed(42))},
		"counting-planned":    {text, 100, 0.01, list{counting}},
		"counting-keyed":      {text, 0, 0, bits(1009, 7, counting, keyed)},
		"counting-two-blocks": {many(integers(0, 2000)), 0, 0, bits(131171, 3, counting)},
	}
}

func TestGoldenFilesAreMadeByteForByteAndReadInEachMode(t *testing.T) {
	files := must(filepath.Glob("vectors/petal/*.petal"))
	list := recipes()
	expect(t, len(files) == len(list), "%d files, %d recipes", len(files), len(list))
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".petal")
		recipe := list[name]
		made := must(petal.New(recipe.capacity, recipe.rate, recipe.options...))
		recipe.fill(made)
		expect(t, bytes.Equal(image(made), must(os.ReadFile(path))), "%s: other bytes", name)
		for _, mode := range []petal.Mode{petal.ReadOnly, petal.Load} {
			options := []petal.OpenOption{petal.WithMode(mode), petal.Verify()}
			if strings.Contains(name, "keyed") || name == "rotating-time" {
				options = append(options, petal.Secret(secret))
			}
			read := must(petal.Open(path, options...))
			expect(t, bytes.Equal(image(read), image(made)), "%s: reads otherwise", name)
			expect(t, must(read.ContentID()) == must(made.ContentID()), "%s: content id", name)
			expect(t, must(read.Info()).Items == must(made.Info()).Items, "%s: items", name)
			fine(read.Close())
		}
	}
}

func TestGoldenPatchesAreAppliedAndMadeByteForByte(t *testing.T) {
	patches := must(filepath.Glob("vectors/petal/*.patch"))
	expect(t, len(patches) >= 10, "only %d patches", len(patches))
	for _, path := range patches {
		patch := must(os.ReadFile(path))
		open := func() *petal.Filter {
			options := []petal.OpenOption{petal.WithMode(petal.Load)}
			if strings.Contains(path, "keyed") || strings.Contains(path, "rotating-time") {
				options = append(options, petal.Secret(secret))
			}
			return must(petal.Open(strings.TrimSuffix(path, "patch")+"petal", options...))
		}
		older, newer := open(), open()
		fine(newer.ApplyPatch(patch, 0))
		expect(t, bytes.Equal(must(newer.Patch(older)), patch), "%s: another patch", path)
		if !strings.Contains(path, "metadata") { // the content id doesn't cover the metadata
			isFailure(t, newer.ApplyPatch(patch, 0), petal.ErrMismatch, path+" twice")
		}
		before := image(older)
		for _, broken := range [][]byte{nil, patch[:len(patch)-1], before} {
			expect(t, older.ApplyPatch(broken, 0) != nil, "%s: a broken patch is taken", path)
		}
		expect(t, bytes.Equal(image(older), before), "%s: a failure changed the filter", path)
	}
	_, err := must(petal.New(10, 0.1)).Patch(must(petal.New(2000, 0.01)))
	isFailure(t, err, petal.ErrMismatch, "other sizes")
}

func TestAGoldenFileAnswersAsEver(t *testing.T) {
	f := must(petal.Open("vectors/petal/blocked.petal"))
	for i := 0; i < 1000; i++ {
		found := must(f.ContainsString(fmt.Sprintf("key-%d", i)))
		expect(t, found == (i < 100 || i == 980), "key-%d: %v", i, found)
	}
	expect(t, must(f.Stats()).BitsSet == 629, "bits")
	expect(t, must(f.ContentID()) == 0x14F5876858484957, "content id")
}

func TestRejectedFilesAreRefusedByTheNameOfTheError(t *testing.T) {
	refused := 0
	for _, words := range rows("reject/expected.txt") {
		path := "vectors/reject/" + words[0] + ".petal"
		_, err := petal.Open(path, petal.Verify(), petal.FromFormat("petal"))
		failed, ok := err.(*petal.Error)
		expect(t, ok && failed.Status.Error() == strings.Join(words[1:], " "), "%s: %v", path, err)
		expect(t, failed.Path == path && failed.Message != "", "%s: %#v", path, failed)
		_, err = petal.FromBytes(must(os.ReadFile(path)), petal.FromFormat("petal"))
		expect(t, err != nil, "%s is read from memory", path)
		refused++
	}
	expect(t, refused >= 50, "only %d", refused)
}

// ---- hashes and keys ----

func TestHashesAreThoseOfTheVectors(t *testing.T) {
	x, data := uint64(2654435761), make([]byte, 4096)
	for i := range data {
		data[i] = byte(x >> 56)
		x *= 11400714785074694797
	}
	checked := 0
	for _, words := range rows("hashes/xxh3.txt") {
		f := must(petal.New(10, 0.01, petal.WithSeed(must(strconv.ParseUint(words[1], 16, 64)))))
		hash := must(f.HashKey(data[:integer(words[0])]))
		expect(t, hash == must(strconv.ParseUint(words[2], 16, 64)), "%v", words)
		checked++
	}
	f := must(petal.New(10, 0.01, petal.WithSecret(secret)))
	for i := range data {
		data[i] = byte(i)
	}
	for _, words := range rows("hashes/siphash-2-4.txt") {
		hash := must(f.HashKey(data[:integer(words[0])]))
		expect(t, hash == binary.LittleEndian.Uint64(unhex(words[1])), "%v", words)
		checked++
	}
	expect(t, checked >= 90, "only %d", checked)
}

// Go itself hashes most strings in a batch. The filter must equal a filter to which the same keys
// were added one by one.
func TestABatchIsHashedAsOneKey(t *testing.T) {
	random := rand.New(rand.NewSource(17))
	for _, seed := range []uint64{0, 1, 1<<64 - 1, 1 << 31, random.Uint64()} {
		var long, short petal.Strings
		var list petal.Bytes
		one := must(petal.New(1000, 1e-6, petal.WithSeed(seed)))
		for n := 0; n <= 200; n++ {
			key := make([]byte, n)
			random.Read(key)
			must(one.Add(key))
			list = append(list, key)
			if n >= 100 {
				long = append(long, string(key))
			} else {
				short = append(short, string(key))
			}
		}
		batch := must(petal.New(1000, 1e-6, petal.WithSeed(seed)))
		texts := must(petal.New(1000, 1e-6, petal.WithSeed(seed)))
		must(batch.AddMany(list))
		must(texts.AddMany(short))
		must(texts.AddMany(long))
		for _, filter := range []*petal.Filter{batch, texts} {
			if must(filter.ContentID()) != must(one.ContentID()) {
				t.Errorf("seed %x: other bits", seed)
			}
		}
		if !must(one.ContainsAll(list)) {
			t.Errorf("seed %x: keys are missed", seed)
		}
	}
}

func TestNumbersHaveTheKeyBytesOfTheVectors(t *testing.T) {
	checked := 0
	for _, words := range rows("hashes/typed-keys.txt") {
		f := must(petal.New(100, 1e-9))
		if words[0] == "i64" {
			must(f.AddInt64(must(strconv.ParseInt(words[1], 10, 64))))
		} else {
			must(f.AddFloat64(math.Float64frombits(binary.BigEndian.Uint64(unhex(words[1])))))
		}
		same := must(petal.New(100, 1e-9))
		must(same.Add(unhex(words[2])))
		expect(t, bytes.Equal(image(f), image(same)), "%v", words)
		checked++
	}
	expect(t, checked >= 30, "only %d", checked)
}

func TestShardsAreThoseOfTheVectors(t *testing.T) {
	checked := 0
	for _, words := range rows("shards/shards.txt") {
		shard := petal.ShardOf(unhex(words[0]), uint32(number(words[2])))
		expect(t, uint64(shard) == number(words[3]), "%v: %d", words, shard)
		checked++
	}
	expect(t, checked >= 50, "only %d", checked)
}
