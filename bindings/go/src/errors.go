package petal

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"
)

// Status is the reason why a call failed. Each status is an error, for use with errors.Is.
type Status int32

// The statuses that errors.Is finds in this package's errors.
const (
	ErrArgument      Status = -1  // an argument is outside the documented range
	ErrUnreachable   Status = -2  // no filter of this scheme reaches the rate
	ErrLimit         Status = -3  // a size overflows or is above a limit
	ErrMemory        Status = -4  // an allocation failed
	ErrMismatch      Status = -5  // two filters differ; the message names the field
	ErrReadOnly      Status = -6  // the filter was opened for reading, or frozen
	ErrUnsupported   Status = -7  // the scheme, the format or this build does not support it
	ErrIO            Status = -8  // a system call failed; see Error.Errno
	ErrExists        Status = -9  // the file exists and must not be replaced
	ErrBusy          Status = -10 // another process is changing the file; try again later
	ErrNotAFilter    Status = -11 // the bytes are not a filter in this format
	ErrNewer         Status = -12 // a petal file with features that this version does not know
	ErrTruncated     Status = -13 // fewer bytes than the header promises
	ErrDamaged       Status = -14 // a checksum does not match, or a field is impossible
	ErrDirty         Status = -15 // a writer died halfway; see Recover
	ErrSecretMissing Status = -16 // the filter is keyed, and no secret was given
	ErrSecretWrong   Status = -17 // not the filter's secret, or the filter is not keyed
	ErrFull          Status = -18 // the filter accepts no more keys
	ErrReplaced      Status = -19 // another file has replaced the filter's; see Sync
)

// Errors that don't correspond to a library status.
var (
	// ErrClosed: the filter was closed or never created.
	ErrClosed = errors.New("the filter is closed")
	// ErrKeyType: the filter has keys of another type, so the answer would be meaningless.
	ErrKeyType = errors.New("wrong key type")
	// ErrKeyRange: the filter's key type cannot represent this integer.
	ErrKeyRange = errors.New("integer key out of range")
	// ErrEmptyKey: empty keys were skipped, because the filter's scheme rejects them. All other keys
	// in the batch have been processed.
	ErrEmptyKey = errors.New("empty keys were skipped")
)

// Error returns the library's short name for the status, such as "damaged".
func (s Status) Error() string {
	var w words
	var out [64]byte
	w[0] = uint64(s)
	coreCall(opStatusName, 0, 0, &w, nil, out[:])
	return texts(out[:], 1)[0]
}

// Error is a failure that the library reported. errors.Is matches its Status, and its Errno, so
// errors.Is(err, fs.ErrNotExist) holds for a missing file.
type Error struct {
	Status  Status
	Message string        // one line from the library: what happened, and what to do
	Offset  int64         // offset in the input, or index of the key in a batch; -1 if none
	Errno   syscall.Errno // the failed system call's, or 0
	Path    string        // the file's, or ""
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

// Is matches the Errno and ErrKeyRange.
func (e *Error) Is(target error) bool {
	return e.cause != nil && target == e.cause ||
		e.Errno != 0 && (target == error(e.Errno) || e.Errno.Is(target))
}

// failure converts a negative status to an error.
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
