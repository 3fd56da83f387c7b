//! The parameters of a new filter.
use crate::error::{check, Error, Status};
use crate::filter::Filter;
use crate::info::Info;
use crate::key::KeyType;
use petal_bloom_sys as sys;
use std::ffi::CString;
use std::fmt;

/// How a key is mapped to bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// Stores a key's bits in one or two cache lines. This is the fastest scheme.
    #[default]
    Blocked,
    /// The textbook Bloom filter, which needs the fewest bits of all schemes that allow changes.
    Classic,
    /// Like `Classic`, but keys can be removed, at 4 times the size.
    Counting,
    /// The smallest scheme, for sets that never change: add the keys, then call [`Filter::freeze`].
    Static,
}

/// Options for a new filter. Any two of `capacity`, `rate` and `memory`, or `bits` with `hashes` or
/// `capacity`, determine the filter's size.
///
/// ```
/// use petal_bloom::{Options, Scheme};
///
/// let mut filter = Options::new().capacity(1000).rate(0.001).scheme(Scheme::Counting).create()?;
/// filter.insert("a")?;
/// assert!(filter.remove("a")?);
/// assert!(!filter.contains("a")?);
/// # Ok::<(), petal_bloom::Error>(())
/// ```
#[derive(Clone)]
pub struct Options {
    raw: sys::petal_options, // the struct's pointers are NULL
    secret: Option<[u8; 16]>,
    metadata: Vec<u8>,
    format: Option<String>,
}

// SAFETY: the pointers in `raw` are NULL.
unsafe impl Send for Options {}
unsafe impl Sync for Options {}

impl Default for Options {
    fn default() -> Options {
        Options::new()
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").finish_non_exhaustive() // the secret is never shown
    }
}

macro_rules! setters {
    ($($(#[doc = $doc:literal])* $name:ident($($field:ident: $kind:ty),*);)*) => {
        $($(#[doc = $doc])* pub fn $name(mut self, $($field: $kind),*) -> Options {
            $(self.raw.$field = $field;)*
            self
        })*
    };
}

impl Options {
    /// No option set.
    pub fn new() -> Options {
        let raw = sized!(sys::petal_options);
        Options { raw, secret: None, metadata: Vec::new(), format: None }
    }

    setters! {
        /// Sets the number of distinct keys to plan for.
        capacity(capacity: u64);
        /// Sets the false-positive rate at capacity, above 0 and below 1.
        rate(rate: f64);
        /// Sets the maximum size of the bits, in bytes.
        memory(memory_bytes: u64);
        /// Sets the number of bits. Blocked filters round it up to a multiple of 512.
        bits(bits: u64);
        /// Bits per key.
        hashes(hashes: u32);
        /// Sets the number of cache lines per key in blocked filters, 1 or 2.
        lines_per_key(lines_per_key: u32);
        /// Sets the hash function's seed. Only filters with equal seeds can be merged.
        seed(seed: u64);
        /// With growth, each layer has `growth_step` times the capacity and `growth_ratio` times
        /// the rate of the previous layer.
        growth_step(growth_step: u32, growth_ratio: f64);
        /// Makes the filter remember at least the latest `window_keys` keys, and forget older keys.
        /// Replaces the capacity.
        window(window_keys: u64);
        /// With a window, makes the filter remember the keys added in the last `window_ms`
        /// milliseconds. The window is then the maximum number of these keys. See
        /// [`Filter::set_clock`].
        window_ms(window_ms: u64);
        /// Sets the number of generations in a window, from 2 to 32.
        generations(generations: u32);
    }

    /// Sets the scheme, which maps a key to bits.
    pub fn scheme(mut self, scheme: Scheme) -> Options {
        self.raw.scheme = match scheme {
            Scheme::Blocked => sys::PETAL_SCHEME_BLOCKED,
            Scheme::Classic => sys::PETAL_SCHEME_CLASSIC,
            Scheme::Counting => sys::PETAL_SCHEME_COUNTING,
            Scheme::Static => sys::PETAL_SCHEME_STATIC,
        };
        self
    }

    /// Creates a keyed filter, for keys that attackers may choose. The secret is never written to a
    /// file.
    pub fn secret(mut self, secret: [u8; 16]) -> Options {
        self.secret = Some(secret);
        self
    }

    /// Lets the filter add layers as keys are added, so that the rate holds for any number of keys.
    pub fn growth(mut self) -> Options {
        self.raw.growth = 1;
        self
    }

    /// Chooses a size that [`Filter::fold`] can reduce once all keys have been added.
    pub fn foldable(mut self) -> Options {
        self.raw.foldable = 1;
        self
    }

    /// Makes adding keys fail with [`Status::Full`] if the filter contains more keys than its
    /// capacity.
    pub fn refuse_overfull(mut self) -> Options {
        self.raw.refuse_overfull = 1;
        self
    }

    /// Sets the key type, which is recorded in the file.
    pub fn key_type(mut self, key_type: KeyType) -> Options {
        self.raw.key_type = key_type.number();
        self
    }

    /// Sets your own bytes to store in the file, at most 64 KiB.
    pub fn metadata(mut self, metadata: &[u8]) -> Options {
        self.metadata = metadata.to_vec();
        self
    }

    /// Creates the filter as the library that defines this format (such as `"guava"` or
    /// `"redisbloom"`) would create it. See [`formats`](crate::formats).
    pub fn format(mut self, name: &str) -> Options {
        self.format = Some(name.to_owned());
        self
    }

    /// Creates an empty filter.
    pub fn create(&self) -> Result<Filter, Error> {
        // SAFETY: all data to which the options point is borrowed for the call.
        self.borrowed(|raw| {
            Filter::made(|filter, error| unsafe { sys::petal_create(raw, filter, error) })
        })
    }

    /// Describes the filter that [`Options::create`] would create.
    ///
    /// ```
    /// use petal_bloom::Options;
    ///
    /// let plan = Options::new().capacity(1_000_000).rate(0.01).plan()?;
    /// assert_eq!(plan.bytes, 1_241_472);
    /// # Ok::<(), petal_bloom::Error>(())
    /// ```
    pub fn plan(&self) -> Result<Info, Error> {
        self.borrowed(|raw| {
            let mut plan: sys::petal_info = sized!(sys::petal_info);
            // SAFETY: all data to which the options point is borrowed for the call; the layers'
            // description may be NULL.
            check(|error| unsafe { sys::petal_plan(raw, &mut plan, std::ptr::null_mut(), error) })?;
            Ok(Info::of(&plan))
        })
    }

    fn borrowed<T>(
        &self,
        call: impl FnOnce(&sys::petal_options) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let format = self.format.as_deref().map(c_string).transpose()?;
        let mut raw = self.raw;
        raw.secret = self.secret.as_ref().map_or(std::ptr::null(), |secret| secret.as_ptr().cast());
        if !self.metadata.is_empty() {
            raw.metadata = self.metadata.as_ptr().cast();
            raw.metadata_bytes = self.metadata.len() as u64;
        }
        raw.format = format.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
        call(&raw)
    }
}

pub(crate) fn c_string(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::new(Status::Argument, "a name with a NUL byte"))
}
