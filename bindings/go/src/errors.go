package petal

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"
)

// Status is why a call failed. Each is an error, for errors.Is.
type Status int32

// What errors.Is finds in the errors of this package.
const (
	ErrArgument      Status = -1  // an argument is outside what the call takes
	ErrUnreachable   Status = -2  // no filter of this scheme reaches the rate
	ErrLimit         Status = -3  // a size overflows or is above a limit
	ErrMemory        Status = -4  // out of memory
	ErrMismatch      Status = -5  // two filters differ; the message names the field
	ErrReadOnly      Status = -6  // the filter was opened for reading, or frozen
	ErrUnsupported   Status = -7  // the scheme, the format or this build cannot do it
	ErrIO            Status = -8  // a system call failed; see Error.Errno
	ErrExists        Status = -9  // the file exists and was not to be replaced
	ErrBusy          Status = -10 // another process is changing the file; try again later
	ErrNotAFilter    Status = -11 // the bytes are not a filter of the format
	ErrNewer         Status = -12 // a petal file with features this version does not know
	ErrTruncated     Status = -13 // fewer bytes than the header promises
	ErrDamaged       Status = -14 // a checksum does not match, or a field is impossible
	ErrDirty         Status = -15 // a writer died halfway; see Recover
	ErrSecretMissing Status = -16 // a keyed filter, and no secret was given
	ErrSecretWrong   Status = -17 // not the filter's secret, or one for a filter without
	ErrFull          Status = -18 // the filter takes no more keys
	ErrReplaced      Status = -19 // the file was replaced meanwhile; see Sync
)

// What has no status of the library.
var (
	// ErrClosed: the filter is closed, or was never made.
	ErrClosed = errors.New("the filter is closed")
	// ErrKeyType: the filter has keys of another type, so the answer would mean nothing.
	ErrKeyType = errors.New("wrong key type")
	// ErrKeyRange: an integer that keys of this filter cannot be.
	ErrKeyRange = errors.New("integer key out of range")
	// ErrEmptyKey: empty keys were skipped, since the filter's scheme takes none. All others of
	// the batch are done.
	ErrEmptyKey = errors.New("empty keys were skipped")
)

// Error returns the library's short name of the status, such as "damaged".
func (s Status) Error() string {
	var w words
	var out [64]byte
	w[0] = uint64(s)
	coreCall(opStatusName, 0, 0, &w, nil, out[:])
	return texts(out[:], 1)[0]
}

// Error is a failure of the library. errors.Is finds its Status in it, and its Errno, so that
// errors.Is(err, fs.ErrNotExist) holds for a missing file.
type Error struct {
	Status  Status
	Message string        // the library's, one line: what, and what to do
	Offset  int64         // byte of the input, or index of the key in a batch; -1: none
	Errno   syscall.Errno // of the system call that failed, or 0
	Path    string        // of the file, or ""
	cause   error         // ErrKeyRange, or nil
}

func (e *Error) Error() string {
	if e.Path != "" {
		return "petal: " + e.Path + ": " + e.Message
	}
	return "petal: " + e.Message
}

// Unwrap returns the Status.
func (e *Error) Unwrap() error { return e.Status }

// Is compares with the Errno, and finds ErrKeyRange.
func (e *Error) Is(target error) bool {
	return e.cause != nil && target == e.cause ||
		e.Errno != 0 && (target == error(e.Errno) || e.Errno.Is(target))
}

// failure makes an error of a status below 0.
func failure(status int32, message string, w *words, path string) error {
	if status >= 0 {
		return nil
	}
	failed := &Error{Status: Status(status), Message: message, Offset: -1, Path: path}
	if offset := w[wordOffset]; offset <= 1<<63-1 {
		failed.Offset = int64(offset)
	}
	failed.Errno = syscall.Errno(w[wordErrno])
	if message == "" {
		failed.Message = failed.Status.Error()
	}
	return failed
}

func refuse(status Status, format string, values ...any) error {
	return &Error{Status: status, Message: fmt.Sprintf(format, values...), Offset: -1}
}

func emptyKeys(count int) error {
	if count == 0 {
		return nil
	}
	return fmt.Errorf("petal: %w: %s of them; this scheme takes none", ErrEmptyKey,
		strconv.Itoa(count))
}
