package petal

import "math"

// These bits of Info.Abilities name a filter's abilities. Calls that need a missing ability return
// ErrUnsupported or ErrReadOnly.
const (
	CanAdd        uint32 = 0x1
	CanRemove     uint32 = 0x2
	CanHashes     uint32 = 0x4
	CanMerge      uint32 = 0x8
	CanIntersect  uint32 = 0x10
	CanCompare    uint32 = 0x20
	CanLike       uint32 = 0x40
	CanShare      uint32 = 0x80
	CanGrow       uint32 = 0x100
	CanWindow     uint32 = 0x200
	CanMap        uint32 = 0x400
	CanSave       uint32 = 0x800
	CanStats      uint32 = 0x1000
	CanDropCounts uint32 = 0x2000
	CanEmptyKey   uint32 = 0x4000
	CanClear      uint32 = 0x8000
	CanFold       uint32 = 0x10000
)

// Policy is the reason why a filter has several layers of bits.
type Policy uint32

// Policies.
const (
	OneLayer   Policy = 0
	Growing    Policy = 1
	KeyWindow  Policy = 2
	TimeWindow Policy = 3
)

// Info describes a filter, or one of its layers, without reading its bits. Unknown rates are NaN.
type Info struct {
	Abilities     uint32
	Hashes        uint32 // bits per key, in the newest layer
	LinesPerKey   uint32 // 1 or 2 for a Blocked filter
	Layers        uint32
	CounterBits   uint32 // 4 for a Counting filter
	Bits          uint64 // number of bits or counters in all layers
	Bytes         uint64 // size of the bits, in bytes
	MemoryBytes   uint64 // allocated memory, without mapped files
	Capacity      uint64 // 0 if it is not recorded
	TargetRate    float64
	PredictedRate float64 // exact model's rate with Capacity keys
	Items         uint64  // a hint: keys added, repeats included, minus keys removed
	Seed          uint64
	MetadataBytes uint64
	SecretID      uint32 // differs between secrets; 0 if the filter is not keyed
	KeyType       KeyType
	Policy        Policy
	GrowthStep    uint32
	GrowthRatio   float64
	WindowKeys    uint64
	WindowMs      uint64
	ClockMs       uint64 // time of the latest Advance, or 0
	Generations   uint32
	Keyed         bool
	Live          bool // the file was opened with Live while it had a writer
	FromMs, ToMs  uint64
	// If the file was opened with Recover: the number of blocks that differ from their checksums, and
	// the number of blocks checked.
	RecoveredBlocks, Blocks uint64
	// Verifiable means that the filter has checksums, which Verify checks. Verifies means that each
	// block is checked before the first answer from it. UncheckedBlocks is the number of blocks not
	// yet checked.
	Verifiable, Verifies         bool
	UncheckedBlocks              uint64
	Scheme, Hash, Format, Kernel string
	// FileFormat is the format of the file or stream that the filter was read from, or "" if it was
	// created in memory. If a petal file contains a filter of another format, FileFormat is "petal"
	// and Format is the other format.
	FileFormat string

	scheme uint32
}

func infoOf(w *words, names []byte) Info {
	list := texts(names, infoCount-infoSchemeName)
	name := func(slot int) string { return list[slot-infoSchemeName] }
	return Info{
		Abilities: uint32(w[infoAbilities]), scheme: uint32(w[infoScheme]),
		Hashes: uint32(w[infoHashes]), LinesPerKey: uint32(w[infoLinesPerKey]),
		Layers: uint32(w[infoLayers]), CounterBits: uint32(w[infoCounterBits]),
		Bits: w[infoBits], Bytes: w[infoBytes], MemoryBytes: w[infoMemoryBytes],
		Capacity: w[infoCapacity], TargetRate: realOf(w[infoTargetRate]),
		PredictedRate: realOf(w[infoPredictedRate]), Items: w[infoItems], Seed: w[infoSeed],
		MetadataBytes: w[infoMetadataBytes], SecretID: uint32(w[infoSecretId]),
		KeyType: KeyType(w[infoKeyType]), Policy: Policy(w[infoPolicy]),
		GrowthStep: uint32(w[infoGrowthStep]), GrowthRatio: realOf(w[infoGrowthRatio]),
		WindowKeys: w[infoWindowKeys], WindowMs: w[infoWindowMs], ClockMs: w[infoClockMs],
		Generations: uint32(w[infoGenerations]), Keyed: w[infoKeyed] != 0,
		Live: w[infoFileLive] != 0, FromMs: w[infoEarliestMs], ToMs: w[infoLatestMs],
		RecoveredBlocks: w[infoFileRecoveredBlocks], Blocks: w[infoFileComparedBlocks],
		Verifiable: w[infoFileVerifiable] != 0, Verifies: w[infoFileVerifiesOnUse] != 0,
		UncheckedBlocks: w[infoFileUncheckedBlocks],
		Scheme:          name(infoSchemeName), Hash: name(infoHashName),
		Format: name(infoFormatName), Kernel: name(infoKernelName),
		FileFormat: name(infoFileFormatName),
	}
}

// BitsPerKey is Bits divided by Capacity, or NaN if Capacity is 0.
func (i Info) BitsPerKey() float64 {
	if i.Capacity == 0 {
		return math.NaN()
	}
	return float64(i.Bits) / float64(i.Capacity)
}

// RateAt returns the exact model's false-positive rate for this number of distinct keys, or NaN if
// the filter has several layers.
func (i Info) RateAt(keys uint64) float64 {
	w := words{infoScheme: uint64(i.scheme), infoHashes: uint64(i.Hashes),
		infoLinesPerKey: uint64(i.LinesPerKey), infoLayers: uint64(i.Layers), infoBits: i.Bits,
		infoPolicy: uint64(i.Policy), infoCount: keys}
	coreCall(opPredict, 0, 0, &w, nil, nil)
	return realOf(w[0])
}

// Info describes the whole filter. The call takes negligible time.
func (f *Filter) Info() (Info, error) { return f.infoOf(allLayers) }

// LayerInfo describes one layer. Layer 0 is the oldest.
func (f *Filter) LayerInfo(layer uint32) (Info, error) { return f.infoOf(uint64(layer)) }

func (f *Filter) infoOf(layer uint64) (Info, error) {
	defer f.unlock(f.share())
	if f.handle == 0 {
		return Info{}, ErrClosed
	}
	info, err := infoOfHandle(f.handle, layer)
	return info, f.pathed(err)
}

func infoOfHandle(handle, layer uint64) (Info, error) {
	w := words{layer}
	var names [256]byte
	if err := run(opInfo, handle, 0, &w, nil, names[:]); err != nil {
		return Info{}, err
	}
	return infoOf(&w, names[:]), nil
}

// Estimate is a number with its 95 % interval.
type Estimate struct{ Value, Low, High float64 }

func realOf(word uint64) float64 { return math.Float64frombits(word) }

func estimateOf(w []uint64) Estimate { return Estimate{realOf(w[0]), realOf(w[1]), realOf(w[2])} }

// Stats contains statistics computed from a filter's bits.
type Stats struct {
	Saturated         bool // every bit is set
	Overfull          bool // see IsOverfull
	BitsSet           uint64
	SaturatedCounters uint64 // number of a Counting filter's counters that are stuck at 15
	Fill              float64
	EstimatedItems    Estimate // distinct keys
	EstimatedRate     float64  // false-positive rate with the current bits; NaN if unknown
}

// Stats reads every bit once, which takes about a second for 5 GB in memory.
func (f *Filter) Stats() (Stats, error) { return f.statsOf(allLayers) }

// LayerStats returns the statistics of one layer. Layer 0 is the oldest.
func (f *Filter) LayerStats(layer uint32) (Stats, error) { return f.statsOf(uint64(layer)) }

func (f *Filter) statsOf(layer uint64) (Stats, error) {
	w := words{layer}
	if err := f.ask(opStats, &w, nil, nil); err != nil {
		return Stats{}, err
	}
	return Stats{
		Saturated: w[statsSaturated] != 0, Overfull: w[statsOverfull] != 0,
		BitsSet: w[statsBitsSet], SaturatedCounters: w[statsSaturatedCounters],
		Fill: realOf(w[statsFill]), EstimatedItems: estimateOf(w[statsEstimatedItems:]),
		EstimatedRate: realOf(w[statsEstimatedRate]),
	}, nil
}

// Comparison estimates, from the bits of two filters A and B, how many distinct keys they share.
// Shares are between 0 and 1.
type Comparison struct {
	Saturated                                 bool // only bounds are known; values are NaN
	ItemsA, ItemsB, Union, Intersection       Estimate
	Jaccard, ContainmentAInB, ContainmentBInA Estimate
}

func comparisonOf(w *words) Comparison {
	return Comparison{
		Saturated: w[comparisonSaturated] != 0, ItemsA: estimateOf(w[comparisonItemsA:]),
		ItemsB: estimateOf(w[comparisonItemsB:]), Union: estimateOf(w[comparisonUnionItems:]),
		Intersection:    estimateOf(w[comparisonIntersection:]),
		Jaccard:         estimateOf(w[comparisonJaccard:]),
		ContainmentAInB: estimateOf(w[comparisonContainmentAInB:]),
		ContainmentBInA: estimateOf(w[comparisonContainmentBInA:]),
	}
}

// ContentID returns a number that is equal for filters with equal parameters and bits. It does not
// depend on the order in which keys were added.
func (f *Filter) ContentID() (uint64, error) {
	var w words
	err := f.ask(opContentID, &w, nil, nil)
	return w[0], err
}

// IsOverfull reports whether the filter is known to contain more distinct keys than its capacity.
func (f *Filter) IsOverfull() (bool, error) {
	var w words
	err := f.ask(opOverfull, &w, nil, nil)
	return w[0] != 0, err
}

// Format describes a file format.
type Format struct {
	Name         string
	Keys         string // short description of how the format's library turns keys into bytes
	CanRead      bool
	CanWrite     bool
	CanCreate    bool // WithFormat
	CanRecognize bool // Recognize can return this format
	CanMap       bool // files can be opened without a copy
	HasChecksum  bool
}

// Formats lists the formats that this build supports.
func Formats() []Format {
	var list []Format
	for i := uint64(0); ; i++ {
		w := words{i}
		var out [1024]byte
		if coreCall(opFormatAt, 0, 0, &w, nil, out[:]); w[0] == 0 {
			return list
		}
		text, can := texts(out[:], 2), w[1]
		list = append(list, Format{text[0], text[1], can&1 != 0, can&2 != 0, can&4 != 0,
			can&8 != 0, can&16 != 0, can&32 != 0})
	}
}

// Recognize returns the names of the formats that match the header and the length of these bytes.
func Recognize(data []byte) []string {
	var w words
	var out [4096]byte
	coreCall(opRecognize, 0, 0, &w, data, out[:])
	return texts(out[:], int(w[0]))
}

// ParquetFilter is a Bloom filter inside a Parquet file: data[Offset:Offset+Bytes], for FromBytes
// with FromFormat("parquet").
type ParquetFilter struct {
	Column       string // the column's path in the schema, such as "a.b.c"
	PhysicalType string // "INT64", "BYTE_ARRAY", ...; keys are in this type's plain encoding
	RowGroup     uint32
	ColumnNumber uint32
	Offset       uint64
	Bytes        uint64
	Blocks       uint64
	Encrypted    bool
}

// KeyType returns the key type to pass to OfKeys, so that numbers become keys of this column. For a
// BYTE_ARRAY column, strings and []byte are used as keys unchanged; for other types, such as FLOAT,
// a []byte must be in the plain encoding.
func (p ParquetFilter) KeyType() KeyType {
	switch p.PhysicalType {
	case "INT32":
		return Int32Keys
	case "INT64":
		return Int64Keys
	case "DOUBLE":
		return Float64Keys
	}
	return AnyKeys
}

// ParquetFilters finds the Bloom filters in the bytes of a complete Parquet file.
func ParquetFilters(data []byte) ([]ParquetFilter, error) {
	list := []ParquetFilter{}
	for i := uint64(0); ; i++ {
		w := words{i}
		var out [512]byte
		if err := run(opParquet, 0, 0, &w, data, out[:]); err != nil {
			return nil, err
		}
		if i >= w[0] {
			return list, nil
		}
		text := texts(out[:], 2)
		list = append(list, ParquetFilter{text[0], text[1], uint32(w[1]), uint32(w[2]), w[3], w[4],
			w[5], w[6] != 0})
	}
}
