//! Errors, with the library's status, message and offset, and the two errors that this crate itself
//! detects.
use crate::key::KeyType;
use petal_bloom_sys as sys;
use std::ffi::CStr;
use std::fmt;
use std::path::{Path, PathBuf};

macro_rules! statuses {
    ($($(#[doc = $doc:literal])* $name:ident = $value:ident,)*) => {
        /// The reason why a call failed. `petal.h` documents the library's names for these values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Status {
            $($(#[doc = $doc])* $name,)*
            /// The filter has keys of another type.
            KeyType,
            /// The integer does not fit in the filter's keys, which are signed and have at most 64
            /// bits.
            KeyRange,
            /// A status that only newer versions of the library return.
            Other,
        }

        impl Status {
            fn of(status: sys::petal_status) -> Status {
                match status {
                    $(sys::$value => Status::$name,)*
                    _ => Status::Other,
                }
            }

            fn number(self) -> sys::petal_status {
                match self {
                    $(Status::$name => sys::$value,)*
                    Status::KeyType | Status::KeyRange => sys::PETAL_ERR_ARGUMENT,
                    Status::Other => i32::MIN,
                }
            }
        }
    };
}

statuses! {
    /// An argument has an invalid value.
    Argument = PETAL_ERR_ARGUMENT,
    /// No filter with this scheme reaches the rate.
    Unreachable = PETAL_ERR_UNREACHABLE,
    /// A size overflows or exceeds a documented limit.
    Limit = PETAL_ERR_LIMIT,
    /// There is not enough memory.
    Memory = PETAL_ERR_MEMORY,
    /// Two filters have different parameters; the message names the field.
    Mismatch = PETAL_ERR_MISMATCH,
    /// The filter was opened for reading, or is frozen.
    ReadOnly = PETAL_ERR_READ_ONLY,
    /// The scheme, the format or this build does not support the call.
    Unsupported = PETAL_ERR_UNSUPPORTED,
    /// A system call failed. See [`Error::errno`].
    Io = PETAL_ERR_IO,
    /// The file exists and must not be replaced.
    Exists = PETAL_ERR_EXISTS,
    /// Another process is changing the file; try again later.
    Busy = PETAL_ERR_BUSY,
    /// The bytes are not a filter in this format.
    NotAFilter = PETAL_ERR_NOT_A_FILTER,
    /// The petal file uses features that this version does not support.
    Newer = PETAL_ERR_NEWER,
    /// The file is shorter than its header says.
    Truncated = PETAL_ERR_TRUNCATED,
    /// A checksum does not match, or a field is impossible.
    Damaged = PETAL_ERR_DAMAGED,
    /// A writer died before it had finished; see
    /// [`OpenOptions::recover`](crate::OpenOptions::recover).
    Dirty = PETAL_ERR_DIRTY,
    /// The filter is keyed, and no secret was given.
    SecretMissing = PETAL_ERR_SECRET_MISSING,
    /// The secret belongs to another filter, or the filter is not keyed.
    SecretWrong = PETAL_ERR_SECRET_WRONG,
    /// The filter accepts no more keys.
    Full = PETAL_ERR_FULL,
    /// The file at the path was replaced.
    Replaced = PETAL_ERR_REPLACED,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::KeyType => f.write_str("wrong key type"),
            Status::KeyRange => f.write_str("key out of range"),
            // SAFETY: the library's names are static ASCII strings.
            _ => f.write_str(unsafe { text(sys::petal_status_name(self.number())) }),
        }
    }
}

/// The reason why a call failed: a [`Status`] to match on, and the library's message, which
/// suggests a remedy.
///
/// ```
/// use petal_bloom::{Filter, Status};
///
/// let error = Filter::open("no such file").unwrap_err();
/// assert_eq!(error.status(), Status::Io);
/// assert_eq!(error.errno(), Some(2));
/// ```
pub struct Error(Box<Details>); // boxed to keep each Result small

struct Details {
    status: Status,
    message: String,
    offset: Option<u64>,
    index: Option<usize>,
    errno: Option<i32>,
    path: Option<PathBuf>,
}

impl Error {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Error {
        let message = message.into();
        Error(Box::new(Details {
            status,
            message,
            offset: None,
            index: None,
            errno: None,
            path: None,
        }))
    }

    #[cold]
    pub(crate) fn of(error: &sys::petal_error) -> Error {
        let bytes: Vec<u8> =
            error.message.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0).collect();
        let mut made = Error::new(Status::of(error.status), String::from_utf8_lossy(&bytes));
        made.0.offset = (error.offset != sys::PETAL_NO_OFFSET).then_some(error.offset);
        made.0.errno = (error.system_errno != 0).then_some(error.system_errno);
        made
    }

    #[cold]
    pub(crate) fn key_type(filter: KeyType, given: &str) -> Error {
        let message = format!("the filter has keys of type {filter:?}, and this is {given}");
        Error::new(Status::KeyType, message)
    }

    #[cold]
    pub(crate) fn key_range(key: i128, bits: u32) -> Error {
        Error::new(Status::KeyRange, format!("{key} is not a signed integer of {bits} bits"))
    }

    pub(crate) fn at_path(mut self, path: &Path) -> Error {
        self.0.path = Some(path.to_owned());
        self
    }

    pub(crate) fn at_index(mut self, index: usize) -> Error {
        (self.0.index, self.0.offset) = (Some(index), None);
        self
    }

    /// Removes the index, which is always 0 in a batch of one key.
    pub(crate) fn without_index(mut self) -> Error {
        self.0.index = None;
        self
    }

    /// Returns the kind of failure, to match on.
    pub fn status(&self) -> Status {
        self.0.status
    }

    /// Returns a line from the library, which names the failure and suggests a remedy.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the offset in the input at which the failure was detected.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// Returns the index of the first key that failed in a batch. Only the keys before this index
    /// have been processed.
    pub fn index(&self) -> Option<usize> {
        self.0.index
    }

    /// Returns the failed system call's `errno`.
    pub fn errno(&self) -> Option<i32> {
        self.0.errno
    }

    /// The file.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = self.path() {
            write!(f, "{}: ", path.display())?;
        }
        write!(f, "{}: {}", self.status(), self.message())?;
        if let Some(index) = self.index() {
            write!(f, " (key {index})")?;
        }
        match self.offset() {
            Some(offset) => write!(f, " (at byte {offset})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl std::error::Error for Error {}

/// A buffer for an error from the library.
pub(crate) fn no_error() -> sys::petal_error {
    sys::petal_error { status: 0, system_errno: 0, offset: sys::PETAL_NO_OFFSET, message: [0; 240] }
}

/// Runs a call that may fail. A negative status is a failure.
pub(crate) fn check(
    call: impl FnOnce(*mut sys::petal_error) -> sys::petal_status,
) -> Result<sys::petal_status, Error> {
    let mut error = no_error();
    match call(&mut error) {
        status if status < 0 => Err(Error::of(&error)),
        status => Ok(status),
    }
}

/// Converts a name from the library.
///
/// # Safety
/// `name` must be NULL or a string that is valid as long as the program runs.
pub(crate) unsafe fn text(name: *const std::ffi::c_char) -> &'static str {
    if name.is_null() {
        return "";
    }
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("")
}
