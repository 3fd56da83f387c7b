//! Opens filters from files or bytes, and writes filters.
use crate::error::{Error, Status};
use crate::filter::Filter;
use crate::key::KeyType;
use crate::options::c_string;
use petal_bloom_sys as sys;
use std::ffi::{c_void, CString};
use std::fmt;
use std::path::Path;

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Maps the file for reading. Opening takes milliseconds, whatever the file's size, and
    /// processes share the pages.
    #[default]
    ReadOnly,
    /// Maps the file for changes in place, by one writer at a time. See [`Filter::sync`].
    Writable,
    /// Loads a verified copy into memory. Changes do not affect the file.
    Load,
}

/// Options for opening a filter.
///
/// A file must not be truncated while it is mapped, because that kills the process. [`Mode::Load`]
/// maps it only while it is copied. If even that is a risk, read the file yourself and use
/// [`Filter::from_bytes`].
///
/// ```
/// use petal_bloom::{Filter, OpenOptions};
///
/// let mut filter = Filter::new(100, 0.01)?;
/// filter.insert("a")?;
/// let bytes = filter.to_bytes()?;
/// let again = OpenOptions::new().format("petal").from_bytes(&bytes)?;
/// assert!(again.contains("a")?);
/// # Ok::<(), petal_bloom::Error>(())
/// ```
#[derive(Clone)]
pub struct OpenOptions {
    flags: u32,
    secret: Option<[u8; 16]>,
    format: String,
    key_type: Option<KeyType>,
    max_bytes: u64,
    memory_limit: u64,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions::new()
    }
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenOptions").finish_non_exhaustive() // the secret is never shown
    }
}

macro_rules! flags {
    ($($(#[doc = $doc:literal])* $name:ident = $flag:ident;)*) => {
        $($(#[doc = $doc])* pub fn $name(mut self) -> OpenOptions {
            self.flags |= sys::$flag;
            self
        })*
    };
}

impl OpenOptions {
    /// Returns the default options: map the file for reading, verify each block before its first
    /// use, and detect the format.
    pub fn new() -> OpenOptions {
        OpenOptions {
            flags: sys::PETAL_OPEN_VERIFY_ON_USE,
            secret: None,
            format: "auto".to_owned(),
            key_type: None,
            max_bytes: 0,
            memory_limit: 0,
        }
    }

    flags! {
        /// Verifies every block immediately, which reads the whole file.
        verify = PETAL_OPEN_VERIFY;
        /// Accepts a file whose writer died. Keys added before the last sync are present.
        recover = PETAL_OPEN_RECOVER;
        /// Allows opening a file that another process is changing in place.
        live = PETAL_OPEN_LIVE;
        /// With [`Mode::Load`], keeps the file locked until the filter is dropped.
        locked = PETAL_OPEN_LOCKED;
        /// Opens the file without a lock, for file systems that lack locks.
        no_lock = PETAL_OPEN_NO_LOCK;
    }

    /// Trusts a mapped file's bits, and verifies none of them.
    pub fn no_verify(mut self) -> OpenOptions {
        self.flags &= !sys::PETAL_OPEN_VERIFY_ON_USE;
        self
    }

    /// Sets how the file is opened.
    pub fn mode(mut self, mode: Mode) -> OpenOptions {
        self.flags &= !(sys::PETAL_OPEN_WRITABLE | sys::PETAL_OPEN_LOAD);
        self.flags |= match mode {
            Mode::ReadOnly => sys::PETAL_OPEN_MAP,
            Mode::Writable => sys::PETAL_OPEN_WRITABLE,
            Mode::Load => sys::PETAL_OPEN_LOAD,
        };
        self
    }

    /// Sets the secret of a keyed filter.
    pub fn secret(mut self, secret: [u8; 16]) -> OpenOptions {
        self.secret = Some(secret);
        self
    }

    /// Sets the format of the input, in case several formats match it.
    pub fn format(mut self, name: &str) -> OpenOptions {
        self.format = name.to_owned();
        self
    }

    /// Sets the key type, for files that do not record it.
    pub fn key_type(mut self, key_type: KeyType) -> OpenOptions {
        self.key_type = Some(key_type);
        self
    }

    /// Rejects files larger than this number of bytes. 0 means no limit.
    pub fn max_bytes(mut self, bytes: u64) -> OpenOptions {
        self.max_bytes = bytes;
        self
    }

    /// Sets the maximum number of bytes that opening and, later, each new layer may allocate. 0
    /// means 1 GiB, or 64 times the input's size if that is larger.
    pub fn memory_limit(mut self, bytes: u64) -> OpenOptions {
        self.memory_limit = bytes;
        self
    }

    /// Opens a file.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Filter, Error> {
        let path = path.as_ref();
        let opened = c_path(path).and_then(|name| {
            // SAFETY: path and options are borrowed for the call.
            self.opened(|raw, filter, error| unsafe {
                sys::petal_open(name.as_ptr(), raw, filter, error)
            })
        });
        opened.map_err(|error| error.at_path(path))
    }

    /// Creates a filter from the bytes of a file, as a private, verified copy.
    #[allow(clippy::wrong_self_convention)] // like std::fs::OpenOptions, without a separate builder
    pub fn from_bytes(&self, bytes: &[u8]) -> Result<Filter, Error> {
        // SAFETY: the bytes are borrowed for the call.
        self.opened(|raw, filter, error| unsafe {
            sys::petal_load(bytes.as_ptr().cast(), bytes.len() as u64, raw, filter, error)
        })
    }

    /// Like [`from_bytes`](OpenOptions::from_bytes), but without copying. The filter is read-only,
    /// and owns the object that contains the bytes.
    ///
    /// ```
    /// use petal_bloom::{Filter, OpenOptions};
    /// use std::sync::Arc;
    ///
    /// let mut filter = Filter::new(100, 0.01)?;
    /// filter.insert("a")?;
    /// let bytes: Arc<[u8]> = filter.to_bytes()?.into();
    /// assert!(OpenOptions::new().view(bytes.clone())?.contains("a")?);
    /// # Ok::<(), petal_bloom::Error>(())
    /// ```
    pub fn view<B: AsRef<[u8]> + Send + Sync + 'static>(&self, bytes: B) -> Result<Filter, Error> {
        unsafe extern "C" fn release<B>(owner: *mut c_void, _bytes: *const c_void, _size: u64) {
            // SAFETY: `view` passed the address of this box to the library, which releases it only
            // once.
            drop(unsafe { Box::from_raw(owner.cast::<B>()) });
        }
        let owner = Box::into_raw(Box::new(bytes));
        // SAFETY: the box does not move, and only this reference uses it.
        let bytes = unsafe { (*owner).as_ref() };
        let mut taken = false;
        let viewed = self.opened(|raw, filter, error| {
            let mut raw = *raw;
            raw.release = Some(release::<B>);
            raw.release_context = owner.cast();
            let (start, size) = (bytes.as_ptr().cast(), bytes.len() as u64);
            // SAFETY: the bytes stay in place until the library calls `release`.
            let status = unsafe { sys::petal_view(start, size, &raw, filter, error) };
            taken = status >= 0;
            status
        });
        if !taken {
            // SAFETY: the library releases only bytes that were passed to it.
            drop(unsafe { Box::from_raw(owner) });
        }
        viewed
    }

    fn opened(
        &self,
        call: impl FnOnce(
            &sys::petal_open_options,
            *mut *mut sys::petal_filter,
            *mut sys::petal_error,
        ) -> sys::petal_status,
    ) -> Result<Filter, Error> {
        let format = c_string(&self.format)?;
        let mut raw: sys::petal_open_options = sized!(sys::petal_open_options);
        raw.flags = self.flags;
        raw.format = format.as_ptr();
        raw.secret = self.secret.as_ref().map_or(std::ptr::null(), |secret| secret.as_ptr().cast());
        (raw.max_bytes, raw.memory_limit) = (self.max_bytes, self.memory_limit);
        let mut filter = Filter::made(|filter, error| call(&raw, filter, error))?;
        filter.key_type = self.key_type.unwrap_or(filter.key_type);
        Ok(filter)
    }
}

/// Options for writing a filter.
#[derive(Clone, Debug, Default)]
pub struct SaveOptions {
    flags: u32,
    format: Option<String>,
}

impl SaveOptions {
    /// Returns the default options: write a petal file, and replace an existing file.
    pub fn new() -> SaveOptions {
        SaveOptions::default()
    }

    /// Fails with [`Status::Exists`] if the file exists.
    pub fn no_replace(mut self) -> SaveOptions {
        self.flags |= sys::PETAL_SAVE_NO_REPLACE;
        self
    }

    /// Writes without a lock. Make sure that no other process changes the file.
    pub fn no_lock(mut self) -> SaveOptions {
        self.flags |= sys::PETAL_SAVE_NO_LOCK;
        self
    }

    /// Sets the file's format. If the format cannot represent the filter, writing fails.
    pub fn format(mut self, name: &str) -> SaveOptions {
        self.format = Some(name.to_owned());
        self
    }

    pub(crate) fn borrowed<T>(
        &self,
        call: impl FnOnce(&sys::petal_save_options) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let format = self.format.as_deref().map(c_string).transpose()?;
        let mut raw: sys::petal_save_options = sized!(sys::petal_save_options);
        raw.flags = self.flags;
        raw.format = format.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
        call(&raw)
    }
}

/// Returns the path in the form that the library expects, which is the path's bytes on Unix and
/// UTF-8 elsewhere.
pub(crate) fn c_path(path: &Path) -> Result<CString, Error> {
    #[cfg(unix)]
    let bytes = Some(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()));
    #[cfg(not(unix))]
    let bytes = path.to_str().map(str::as_bytes);
    bytes
        .and_then(|bytes| CString::new(bytes).ok())
        .ok_or_else(|| Error::new(Status::Argument, "a path with a NUL byte, or not in Unicode"))
}
