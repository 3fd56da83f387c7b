package petal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Open opens a filter file. Unless WithMode says otherwise, it opens it ReadOnly, which maps a file
// of any size in milliseconds. It detects the format if only one fits.
func Open(path string, list ...OpenOption) (*Filter, error) {
	o, data, err := openOptionsOf(path, list)
	if err != nil {
		return nil, err
	}
	handle, from, err := openFile(path, o, data)
	if err != nil {
		handle, from, err = openPacked(path, o, list, err)
	}
	if err != nil {
		return nil, err
	}
	return adopt(handle, from)
}

// Save writes the filter to path, in Petal's format unless AsFormat says otherwise. At all times
// path names either the old file or the complete new one.
func (f *Filter) Save(path string, list ...SaveOption) error {
	var o saveOptions
	for _, set := range list {
		if set != nil {
			set(&o)
		}
	}
	data, err := cString("format", o.format)
	if err != nil {
		return err
	}
	name, err := cString("path", path)
	if err != nil {
		return err
	}
	defer f.unlock(f.share())
	if f.handle == 0 {
		return ErrClosed
	}
	w := words{o.flags, uint64(len(data))}
	return f.saveFile(path, &o, &w, append(data, name...))
}

// WriteTo writes the filter to w in Petal's format, piece by piece; it implements io.WriterTo. w
// may query the filter but not change it: changes wait until everything is written.
func (f *Filter) WriteTo(w io.Writer) (int64, error) { return f.WriteFormat(w, "") }

// WriteFormat is WriteTo in another library's format.
func (f *Filter) WriteFormat(w io.Writer, format string) (int64, error) {
	if w == nil {
		return 0, refuse(ErrArgument, "no writer: nil")
	}
	if _, err := cString("format", format); err != nil {
		return 0, err
	}
	if !f.stream() {
		return 0, ErrClosed
	}
	defer f.endStream()
	return f.write(w, format, 0)
}

// write is called between stream and endStream, so `to` may query the filter. If `to` panics, the
// panic continues after the library has returned.
func (f *Filter) write(to io.Writer, format string, from uint64) (int64, error) {
	if !holdsWriters {
		return f.writeLocked(to, format, from)
	}
	var image bytes.Buffer
	if _, err := f.writeLocked(&image, format, from); err != nil {
		return 0, err
	}
	n, err := image.WriteTo(to)
	if err != nil {
		err = fmt.Errorf("petal: writing: %w", err)
	}
	return n, err
}

// writeLocked is like write, for writers that do not use a filter.
func (f *Filter) writeLocked(to io.Writer, format string, from uint64) (int64, error) {
	var written int64
	var failed error
	var panicked any
	sink := func(piece []byte) (goOn bool) {
		defer func() { panicked = recover() }()
		n, err := to.Write(piece)
		written += int64(n)
		if err == nil && n < len(piece) {
			err = io.ErrShortWrite
		}
		failed = err
		return err == nil
	}
	var w words
	status, message := coreWrite(f.handle, from, format, sink, &w)
	if panicked != nil {
		panic(panicked)
	}
	if failed != nil {
		return written, fmt.Errorf("petal: writing: %w", failed)
	}
	return written, failure(status, message, &w, f.path)
}

// Bytes returns the filter's file in this format, as bytes; "" is Petal's format.
func (f *Filter) Bytes(format string) ([]byte, error) {
	name, err := cString("format", format)
	if err != nil {
		return nil, err
	}
	defer f.unlock(f.share())
	var w words
	if err := f.call(opSize, 0, &w, name, nil); err != nil {
		return nil, err
	}
	image := bytes.NewBuffer(make([]byte, 0, w[0]))
	_, err = f.writeLocked(image, format, 0)
	if err != nil {
		return nil, err
	}
	return image.Bytes(), nil
}

// MarshalBinary is Bytes in Petal's format; it implements encoding.BinaryMarshaler. It refuses a
// keyed filter, whose secret is never written: use Bytes, and FromBytes with Secret.
func (f *Filter) MarshalBinary() ([]byte, error) {
	info, err := f.Info()
	if err != nil {
		return nil, err
	}
	if info.Keyed {
		return nil, refuse(ErrUnsupported, "the secret of a keyed filter is never written; use Bytes")
	}
	return f.Bytes("")
}

// UnmarshalBinary loads a petal file's bytes into f; it implements encoding.BinaryUnmarshaler. On
// success, the filter that f held is closed; on failure, f keeps it.
func (f *Filter) UnmarshalBinary(data []byte) error {
	_, err := f.readFrom(bytes.NewReader(data), FromFormat("petal"), ExpectBytes(uint64(len(data))))
	return err
}

// ReadFrom loads a stream in any format into f; it implements io.ReaderFrom. It reads to the end.
// On success, the filter that f held is closed; on failure, f keeps it.
func (f *Filter) ReadFrom(r io.Reader) (int64, error) { return f.readFrom(r) }

func (f *Filter) readFrom(r io.Reader, list ...OpenOption) (int64, error) {
	handle, from, n, err := read(r, list)
	if err != nil {
		return n, err
	}
	f.own()
	defer f.mu.Unlock()
	err = f.close()
	if failed := f.fill(handle, from); failed != nil {
		return n, failed
	}
	return n, err
}

// Read loads a filter from a stream into memory and verifies it. It reads to the end.
func Read(r io.Reader, list ...OpenOption) (*Filter, error) {
	handle, from, _, err := read(r, list)
	if err != nil {
		return nil, err
	}
	return adopt(handle, from)
}

// FromBytes loads a filter from a file's bytes, as a verified copy. Hostile bytes are safe.
func FromBytes(data []byte, list ...OpenOption) (*Filter, error) {
	list = append([]OpenOption{ExpectBytes(uint64(len(data)))}, list...)
	return Read(bytes.NewReader(data), list...)
}

// WritePatch writes to w the patch from older to f, a few percent of the file if few keys are new;
// see ApplyPatch. It returns ErrMismatch if the change can't be expressed as a patch, in which case
// the whole file is needed.
func (f *Filter) WritePatch(w io.Writer, older *Filter) (n int64, err error) {
	if w == nil {
		return 0, refuse(ErrArgument, "no writer: nil")
	}
	if older == nil || !f.stream() {
		return 0, ErrClosed
	}
	defer f.endStream()
	if !older.stream() {
		return 0, ErrClosed
	}
	defer older.endStream()
	return f.write(w, "", older.handle)
}

// Patch returns what WritePatch writes.
func (f *Filter) Patch(older *Filter) ([]byte, error) {
	var patch bytes.Buffer
	_, err := f.WritePatch(&patch, older)
	if err != nil {
		return nil, err
	}
	return patch.Bytes(), nil
}

// ApplyPatch turns f, which must be the patch's base, into its result, byte for byte. The bytes may
// be hostile. After a failure, f is unchanged. memoryLimit is the number of bytes that new layers
// may allocate; 0 means the same limit as when f was opened.
func (f *Filter) ApplyPatch(patch []byte, memoryLimit uint64) error {
	return f.change(opApplyPatch, &words{memoryLimit}, patch)
}

// pieceOfStream is how many bytes Read requests per call.
const pieceOfStream = 256 << 10

func read(r io.Reader, list []OpenOption) (handle uint64, from origin, n int64, err error) {
	if r == nil {
		return 0, from, 0, refuse(ErrArgument, "no reader: nil")
	}
	o, _, err := openOptionsOf("", list)
	if err != nil {
		return 0, from, 0, err
	}
	if o.mayBePacked() {
		handle, n, err = readUnpacked(r, list)
	} else {
		handle, n, err = readPlain(r, list)
	}
	return handle, o.origin(""), n, err
}

func readPlain(r io.Reader, list []OpenOption) (handle uint64, n int64, err error) {
	o, data, err := openOptionsOf("", list)
	if err != nil {
		return 0, 0, err
	}
	o.words[0] = o.words[0]&^3 | uint64(Load)
	return readAs(r, o, data)
}

// readAs is like read, with parsed options.
func readAs(r io.Reader, o *openOptions, data []byte) (handle uint64, n int64, err error) {
	w := o.words
	if err = run(opReader, 0, 0, &w, data, nil); err != nil {
		return 0, 0, err
	}
	reader := w[0]
	defer coreCall(opReaderFree, reader, 0, &w, nil, nil)
	size := uint64(pieceOfStream)
	if o.size > 0 && o.size < size {
		size = o.size
	}
	piece := make([]byte, size)
	for {
		count, failed := r.Read(piece)
		n += int64(count)
		if count > 0 {
			if err = run(opFeed, reader, 0, &w, piece[:count], nil); err != nil {
				return 0, n, err
			}
		}
		if errors.Is(failed, io.EOF) {
			break
		}
		if own, ok := failed.(*Error); ok {
			return 0, n, own
		}
		if failed != nil {
			return 0, n, fmt.Errorf("petal: reading: %w", failed)
		}
	}
	err = run(opFinish, reader, 0, &w, nil, nil)
	return w[0], n, err
}
