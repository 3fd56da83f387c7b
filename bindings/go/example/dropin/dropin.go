// Package dropin provides the calls of github.com/bits-and-blooms/bloom/v3 with Petal's filters: a
// program works unchanged if its import is changed. The files it writes are identical, byte for
// byte, and so are all answers. Petal adds batches, memory maps, and checksums with WriteFormat(w,
// "petal").
//
// These calls return no errors. If memory runs out or the filter was closed, they panic where the
// original cannot fail.
package dropin

import (
	"io"

	"petal.example/petal"
)

const format = "bits-and-blooms"

// BloomFilter is a Petal filter with both Petal's own methods and bits-and-blooms'.
type BloomFilter struct{ *petal.Filter }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// New creates a filter with m bits and k hashes.
func New(m, k uint) *BloomFilter {
	return &BloomFilter{must(petal.New(0, 0, petal.WithFormat(format), petal.WithBits(uint64(m)),
		petal.WithHashes(uint32(k))))}
}

// NewWithEstimates creates a filter for n keys at the rate fp.
func NewWithEstimates(n uint, fp float64) *BloomFilter {
	return &BloomFilter{must(petal.New(uint64(n), fp, petal.WithFormat(format)))}
}

// Add adds data and returns the filter.
func (f *BloomFilter) Add(data []byte) *BloomFilter {
	must(f.Filter.Add(data))
	return f
}

// AddString is Add for a string.
func (f *BloomFilter) AddString(data string) *BloomFilter {
	must(f.Filter.AddString(data))
	return f
}

// Test reports whether data is probably present.
func (f *BloomFilter) Test(data []byte) bool { return must(f.Contains(data)) }

// TestString is Test for a string.
func (f *BloomFilter) TestString(data string) bool { return must(f.ContainsString(data)) }

// TestAndAdd reports whether data was probably present, and adds it.
func (f *BloomFilter) TestAndAdd(data []byte) bool { return !must(f.Filter.Add(data)) }

// TestAndAddString is TestAndAdd for a string.
func (f *BloomFilter) TestAndAddString(data string) bool { return !must(f.Filter.AddString(data)) }

// TestOrAdd is TestAndAdd: adding a key that is present changes nothing.
func (f *BloomFilter) TestOrAdd(data []byte) bool { return f.TestAndAdd(data) }

// Cap is the number of bits.
func (f *BloomFilter) Cap() uint { return uint(must(f.Info()).Bits) }

// K is the number of hashes.
func (f *BloomFilter) K() uint { return uint(must(f.Info()).Hashes) }

// ApproximatedSize estimates the number of keys.
func (f *BloomFilter) ApproximatedSize() uint32 {
	return uint32(must(f.Stats()).EstimatedItems.Value + 0.5)
}

// ClearAll removes all keys.
func (f *BloomFilter) ClearAll() *BloomFilter {
	if err := f.Clear(); err != nil {
		panic(err)
	}
	return f
}

// Copy returns a new filter with the same keys.
func (f *BloomFilter) Copy() *BloomFilter { return &BloomFilter{must(f.Clone())} }

// Merge adds the keys of g.
func (f *BloomFilter) Merge(g *BloomFilter) error { return f.Filter.Merge(g.Filter) }

// Equal reports whether both filters have the same bits.
func (f *BloomFilter) Equal(g *BloomFilter) bool {
	return must(f.ContentID()) == must(g.ContentID())
}

// WriteTo writes the format that bits-and-blooms reads.
func (f *BloomFilter) WriteTo(w io.Writer) (int64, error) { return f.WriteFormat(w, format) }

// ReadFrom reads a filter that bits-and-blooms wrote.
func (f *BloomFilter) ReadFrom(r io.Reader) (int64, error) {
	counted := &counter{r, 0}
	read, err := petal.Read(counted, petal.FromFormat(format))
	if err == nil {
		f.Filter = read
	}
	return counted.n, err
}

type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// MarshalBinary returns bytes that bits-and-blooms unmarshals.
func (f *BloomFilter) MarshalBinary() ([]byte, error) { return f.Bytes(format) }

// UnmarshalBinary loads bytes that bits-and-blooms marshalled.
func (f *BloomFilter) UnmarshalBinary(data []byte) error {
	read, err := petal.FromBytes(data, petal.FromFormat(format))
	if err == nil {
		f.Filter = read
	}
	return err
}

// MarshalJSON returns JSON as bits-and-blooms writes it.
func (f *BloomFilter) MarshalJSON() ([]byte, error) { return f.Bytes("bits-and-blooms-json") }

// UnmarshalJSON loads JSON that bits-and-blooms wrote.
func (f *BloomFilter) UnmarshalJSON(data []byte) error {
	read, err := petal.FromBytes(data, petal.FromFormat("bits-and-blooms-json"))
	if err == nil {
		f.Filter = read
	}
	return err
}
