//! What filter to make.
use crate::error::{check, Error, Status};
use crate::filter::Filter;
use crate::info::Info;
use crate::key::KeyType;
use petal_bloom_sys as sys;
use std::ffi::CString;
use std::fmt;

/// How a key becomes bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// One or two cache lines per key: the fastest.
    #[default]
    Blocked,
    /// The textbook's filter, with the fewest bits among those that can change.
    Classic,
    /// Keys can be removed; 4 times the size of `Classic`.
    Counting,
    /// For sets that never change; add the keys, then [`Filter::freeze`]. The smallest.
    Static,
}

/// Options of a new filter. Two of `capacity`, `rate` and `memory` determine its size, or `bits` and
/// `hashes`.
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
    raw: sys::petal_options, // its pointers are NULL
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
        /// Distinct keys to plan for.
        capacity(capacity: u64);
        /// The false-positive rate at capacity, above 0 and below 1.
        rate(rate: f64);
        /// An upper limit for the bits, in bytes.
        memory(memory_bytes: u64);
        /// Exactly this many bits; blocked filters round up to lines of 512.
        bits(bits: u64);
        /// Bits per key.
        hashes(hashes: u32);
        /// 1 or 2 cache lines per key, in blocked filters.
        lines_per_key(lines_per_key: u32);
        /// The seed of the hash. Only filters with equal seeds can be merged.
        seed(seed: u64);
        /// With growth, each layer has `growth_step` times the capacity of the previous one, and
        /// `growth_ratio` times its rate.
        growth_step(growth_step: u32, growth_ratio: f64);
        /// Remembers at least the last `window_keys` keys, and forgets older ones. Replaces the
        /// capacity.
        window(window_keys: u64);
        /// With a window, remembers the keys of this many milliseconds, and at most `window` of
        /// them. See [`Filter::set_clock`].
        window_ms(window_ms: u64);
        /// Parts of a window, 2 to 32.
        generations(generations: u32);
    }

    /// How a key becomes bits.
    pub fn scheme(mut self, scheme: Scheme) -> Options {
        self.raw.scheme = match scheme {
            Scheme::Blocked => sys::PETAL_SCHEME_BLOCKED,
            Scheme::Classic => sys::PETAL_SCHEME_CLASSIC,
            Scheme::Counting => sys::PETAL_SCHEME_COUNTING,
            Scheme::Static => sys::PETAL_SCHEME_STATIC,
        };
        self
    }

    /// A keyed filter, for keys that strangers choose. The secret is never written to a file.
    pub fn secret(mut self, secret: [u8; 16]) -> Options {
        self.secret = Some(secret);
        self
    }

    /// Adds layers as keys arrive: the rate holds for any number of keys.
    pub fn growth(mut self) -> Options {
        self.raw.growth = 1;
        self
    }

    /// A size that [`Filter::fold`] can make smaller, once all keys have been added.
    pub fn foldable(mut self) -> Options {
        self.raw.foldable = 1;
        self
    }

    /// Adding to a filter with more keys than its capacity fails with [`Status::Full`].
    pub fn refuse_overfull(mut self) -> Options {
        self.raw.refuse_overfull = 1;
        self
    }

    /// The type of the keys, recorded in the file.
    pub fn key_type(mut self, key_type: KeyType) -> Options {
        self.raw.key_type = key_type.number();
        self
    }

    /// Your own bytes, kept in the file: at most 64 KiB.
    pub fn metadata(mut self, metadata: &[u8]) -> Options {
        self.metadata = metadata.to_vec();
        self
    }

    /// The filter that another library would make: `"guava"`, `"redisbloom"`, ... See
    /// [`formats`](crate::formats).
    pub fn format(mut self, name: &str) -> Options {
        self.format = Some(name.to_owned());
        self
    }

    /// Makes an empty filter.
    pub fn create(&self) -> Result<Filter, Error> {
        // SAFETY: what the options point to is borrowed for the call.
        self.borrowed(|raw| {
            Filter::made(|filter, error| unsafe { sys::petal_create(raw, filter, error) })
        })
    }

    /// Describes the filter that [`Options::create`] would make.
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
            // SAFETY: as above; the layers' description may be NULL.
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
