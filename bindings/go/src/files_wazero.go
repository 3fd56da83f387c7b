//go:build !cgo || petal_wasm

package petal

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// WebAssembly has no files: Go reads and writes them here, without maps or locks.

func fileFailure(err error, path string) error {
	if err == nil {
		return nil
	}
	failed := &Error{Status: ErrIO, Message: err.Error(), Offset: -1, Path: path}
	if errors.Is(err, fs.ErrExist) {
		failed.Status = ErrExists
	}
	if errors.As(err, &failed.Errno) {
		failed.Message = failed.Errno.Error()
	}
	return failed
}

func noMaps(path, what string) error {
	return &Error{Status: ErrUnsupported, Message: what + " needs cgo; this is WebAssembly, " +
		"which has no maps and locks", Offset: -1, Path: path}
}

const flagRecover = 32

func openFile(path string, o *openOptions, data []byte) (uint64, origin, error) {
	handle, err := loadFile(path, o, data)
	return handle, o.origin(path), err
}

func loadFile(path string, given *openOptions, data []byte) (uint64, error) {
	own := *given
	o := &own
	mode := Mode(o.words[0] & 3)
	if mode == Writable {
		return 0, noMaps(path, "changing a file in place")
	}
	if o.words[0]&flagLocked != 0 {
		return 0, noMaps(path, "keeping a file locked")
	}
	if mode == ReadOnly && o.words[0]&flagRecover != 0 {
		return 0, &Error{Status: ErrArgument, Message: "recovering needs Writable or Load",
			Offset: -1, Path: path}
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, fileFailure(err, path)
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return 0, fileFailure(err, path)
	}
	if about.IsDir() {
		return 0, fileFailure(&fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}, path)
	}
	o.size = uint64(about.Size())
	o.words[0] = uint64(Load) | o.words[0]&flagRecover
	o.words[6] = o.size
	handle, _, err := readAs(file, o, data)
	if failed, ok := err.(*Error); ok {
		failed.Path = path
	} else if err != nil {
		return 0, fileFailure(err, path)
	}
	if err == nil && mode == ReadOnly {
		err = run(opFreeze, handle, 0, new(words), nil, nil)
	}
	return handle, err
}

func (f *Filter) saveFile(path string, o *saveOptions, _ *words, _ []byte) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode, exists := fs.FileMode(0o666), false
	if about, err := os.Stat(path); err == nil {
		if o.flags&1 != 0 {
			return fileFailure(syscall.EEXIST, path)
		}
		if !about.Mode().IsRegular() {
			return &Error{Status: ErrUnsupported, Message: "not a regular file", Offset: -1,
				Path: path}
		}
		mode, exists = about.Mode().Perm(), true
	}
	file, err := temporary(path, mode)
	if err != nil {
		return fileFailure(err, path)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	buffered := bufio.NewWriterSize(file, 1<<18)
	if _, err = f.writeLocked(buffered, o.format, 0); err != nil {
		return err
	}
	if err = buffered.Flush(); err == nil {
		err = file.Sync()
	}
	if err == nil && exists { // ignores the umask
		err = file.Chmod(mode)
	}
	if err == nil && o.flags&1 != 0 {
		err = os.Link(file.Name(), path)
	} else if err == nil {
		err = os.Rename(file.Name(), path)
	}
	return fileFailure(err, path)
}

// temporary creates a new file in path's folder.
func temporary(path string, mode fs.FileMode) (*os.File, error) {
	for {
		var random [8]byte
		if _, err := rand.Read(random[:]); err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s.%x", path, random)
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}
