package petal

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"os"
)

// DCSO's filters may be compressed with gzip. The Go binding builds the library without zlib, so
// Go's gzip package decompresses such a filter, and the library reads the result in the dcso
// format.

// Without WithMemoryLimit, the decompressed size is limited to packedLimit or to packedTimes times
// the compressed size, whichever is larger. These are the library's own limits.
const (
	packedLimit = 1 << 30
	packedTimes = 64
)

func (o *openOptions) mayBePacked() bool {
	return o.format == "auto" || o.format == "dcso" || o.format == "dcso-gzip"
}

func isGzip(head []byte) bool { return len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b }

// packed counts the bytes read from a stream.
type packed struct {
	r io.Reader
	n int64
}

func (p *packed) Read(piece []byte) (int, error) {
	n, err := p.r.Read(piece)
	p.n += int64(n)
	return n, err
}

// unpacking reads decompressed bytes, and converts gzip's errors to this package's errors.
type unpacking struct {
	from    *packed
	r       io.Reader
	n       int64
	limited bool
}

func (u *unpacking) Read(piece []byte) (int, error) {
	n, err := u.r.Read(piece)
	u.n += int64(n)
	if u.limited && u.n > packedLimit && u.n/packedTimes > u.from.n {
		return 0, refuse(ErrLimit, "unpacked, it is larger than 1 GiB; see WithMemoryLimit")
	}
	return n, gzipFailure(err)
}

func gzipFailure(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return refuse(ErrTruncated, "truncated: the packed stream ends too early; copy it again")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return refuse(ErrDamaged, "damaged: it cannot be unpacked (%v)", err)
	}
	return err
}

// readUnpacked reads a filter from a stream that may be compressed.
func readUnpacked(r io.Reader, list []OpenOption) (handle uint64, n int64, err error) {
	counted := &packed{r: r}
	stream := bufio.NewReaderSize(counted, pieceOfStream)
	if head, _ := stream.Peek(2); !isGzip(head) {
		handle, _, err = readPlain(stream, list)
		return handle, counted.n, err
	}
	unpacker, err := gzip.NewReader(stream)
	if err != nil {
		return 0, counted.n, gzipFailure(err)
	}
	list = append(append([]OpenOption(nil), list...), FromFormat("dcso"), ExpectBytes(0))
	o, _, err := openOptionsOf("", list)
	if err != nil {
		return 0, counted.n, err
	}
	handle, _, err = readPlain(&unpacking{counted, unpacker, 0, o.words[2] == 0}, list)
	return handle, counted.n, err
}

// openPacked opens a file that the library has refused. If the file is not compressed, openPacked
// returns the library's error.
func openPacked(path string, o *openOptions, list []OpenOption, why error) (uint64, origin, error) {
	mode := Mode(o.words[0] & 3)
	refused := errors.Is(why, ErrNotAFilter) || errors.Is(why, ErrUnsupported)
	if !refused || !o.mayBePacked() || mode == Writable || o.words[0]&flagLocked != 0 {
		return 0, origin{}, why
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, origin{}, why
	}
	defer file.Close()
	var head [2]byte
	if _, err := file.ReadAt(head[:], 0); err != nil || !isGzip(head[:]) {
		return 0, origin{}, why
	}
	handle, _, err := readUnpacked(file, list)
	if failed, ok := err.(*Error); ok {
		failed.Path = path
	}
	if err == nil && mode == ReadOnly {
		err = run(opFreeze, handle, 0, new(words), nil, nil)
	}
	return handle, o.origin(path), err
}
