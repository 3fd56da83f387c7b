//! The filter.
use crate::batch::{Tally, Verb};
use crate::error::{check, Error};
use crate::info::{Comparison, Info, Stats};
use crate::key::{convert, raw, Hash, Key, KeyType, Raw};
use crate::open::{c_path, OpenOptions, SaveOptions};
use crate::options::Options;
use crate::shared::SharedFilter;
use petal_bloom_sys as sys;
use std::ffi::c_void;
use std::fmt;
use std::path::Path;
use std::ptr::NonNull;

/// A Bloom filter: a set that never forgets a key, but mistakes absent keys for present ones at a
/// planned rate.
///
/// Any number of threads may query a filter through `&self`. Calls that change the filter take
/// `&mut self`. To add keys from several threads concurrently, see [`Filter::share`].
pub struct Filter {
    pub(crate) handle: NonNull<sys::petal_filter>,
    pub(crate) key_type: KeyType,
    /// True if a query may find a damaged block.
    pub(crate) verifies: bool,
    /// True if the scheme is another library's and rejects the empty key.
    pub(crate) rejects_empty: bool,
}

// SAFETY: any thread may use a filter, because the library has no global and no thread-local state.
unsafe impl Send for Filter {}
// SAFETY: "While no thread changes a filter, any number of threads may pass it to calls that take a
// `const petal_filter`" (petal.h). Through &Filter, only such calls are made.
unsafe impl Sync for Filter {}

impl Drop for Filter {
    fn drop(&mut self) {
        // SAFETY: this filter owns the handle.
        unsafe { sys::petal_free(self.handle.as_ptr()) }
    }
}

impl Filter {
    /// Creates an empty filter for `capacity` distinct keys with this false-positive rate. For more
    /// options, see [`Options`].
    ///
    /// ```
    /// let mut filter = petal_bloom::Filter::new(1000, 0.01)?;
    /// assert!(filter.insert("a")?);
    /// assert!(petal_bloom::Filter::new(1000, 2.0).is_err());
    /// # Ok::<(), petal_bloom::Error>(())
    /// ```
    pub fn new(capacity: u64, rate: f64) -> Result<Filter, Error> {
        Options::new().capacity(capacity).rate(rate).create()
    }

    /// Maps a filter file for reading. Each block is verified before its first use. For more
    /// options, see [`OpenOptions`].
    pub fn open(path: impl AsRef<Path>) -> Result<Filter, Error> {
        OpenOptions::new().open(path)
    }

    /// Creates a filter from the bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Filter, Error> {
        OpenOptions::new().from_bytes(bytes)
    }

    pub(crate) fn made(
        call: impl FnOnce(*mut *mut sys::petal_filter, *mut sys::petal_error) -> sys::petal_status,
    ) -> Result<Filter, Error> {
        let mut handle = std::ptr::null_mut();
        check(|error| call(&mut handle, error))?;
        let handle = NonNull::new(handle).expect("a call that succeeds returns a filter");
        let (key_type, verifies, rejects_empty) = (KeyType::Any, false, false);
        let mut filter = Filter { handle, key_type, verifies, rejects_empty };
        let info = filter.info()?;
        let mut file: sys::petal_file_info = sized!(sys::petal_file_info);
        // SAFETY: the struct is initialized.
        check(|error| unsafe { sys::petal_get_file_info(handle.as_ptr(), &mut file, error) })?;
        filter.key_type = info.key_type;
        filter.verifies = file.verifies_on_use != 0;
        filter.rejects_empty = info.abilities & sys::PETAL_CAN_EMPTY_KEY == 0;
        Ok(filter)
    }

    // ---- keys ----

    /// Adds a key. Returns true if the key was certainly new.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Error> {
        // SAFETY: &mut self is exclusive.
        unsafe { Verb::Add.one(self, key) }
    }

    /// Returns false if the key is certainly absent, and true if it is probably present.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> Result<bool, Error> {
        // SAFETY: the handle is valid, and the function only reads the filter.
        unsafe { Verb::Contains.one(self, key) }
    }

    /// Removes a key from a [counting](crate::Scheme::Counting) filter. Returns false if the key
    /// was certainly absent. Remove only keys that were added: removing a false positive damages
    /// keys that are present.
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Error> {
        // SAFETY: &mut self is exclusive.
        unsafe { Verb::Remove.one(self, key) }
    }

    /// Adds the keys, and returns the number of new keys. This is faster than adding the keys one
    /// by one.
    ///
    /// ```
    /// let mut filter = petal_bloom::Filter::new(1000, 0.0001)?;
    /// assert_eq!(filter.insert_many(&["one", "two", "one"])?, 2);
    /// assert_eq!(filter.contains_many(&["two", "three"])?, [true, false]);
    /// # Ok::<(), petal_bloom::Error>(())
    /// ```
    ///
    /// After a failure, the keys before the error's index have been added.
    pub fn insert_many<K: Key>(&mut self, keys: &[K]) -> Result<u64, Error> {
        // SAFETY: &mut self is exclusive.
        unsafe { Verb::Add.all(self, keys, None) }
    }

    /// Adds the keys, and stores in `answers` whether each key was new. `answers` must be as long
    /// as `keys`.
    pub fn insert_into<K: Key>(&mut self, keys: &[K], answers: &mut [bool]) -> Result<u64, Error> {
        // SAFETY: &mut self is exclusive.
        unsafe { Verb::Add.all(self, keys, Some(answers)) }
    }

    /// Returns, for each key, whether it is probably present.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, Error> {
        let mut answers = vec![false; keys.len()];
        self.contains_into(keys, &mut answers)?;
        Ok(answers)
    }

    /// Stores in `answers`, which must be as long as `keys`, whether each key is probably present.
    /// Returns the number of present keys.
    pub fn contains_into<K: Key>(&self, keys: &[K], answers: &mut [bool]) -> Result<u64, Error> {
        // SAFETY: it takes a const filter.
        unsafe { Verb::Contains.all(self, keys, Some(answers)) }
    }

    /// Removes the keys, and returns the number of keys that were present; see
    /// [`remove`](Filter::remove).
    pub fn remove_many<K: Key>(&mut self, keys: &[K]) -> Result<u64, Error> {
        // SAFETY: &mut self is exclusive.
        unsafe { Verb::Remove.all(self, keys, None) }
    }

    /// Adds an iterator's keys in batches, and returns the number of new keys. ([`Extend`] could
    /// not report errors.)
    ///
    /// ```
    /// let mut filter = petal_bloom::Filter::new(1000, 0.01)?;
    /// assert!(filter.extend(0..100)? > 90);
    /// assert!(filter.contains(&99)?);
    /// # Ok::<(), petal_bloom::Error>(())
    /// ```
    pub fn extend<K: Key>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<u64, Error> {
        let (mut keys, mut begin, mut tally) = (keys.into_iter(), 0, Tally::default());
        let mut chunk = Vec::new();
        loop {
            chunk.extend(keys.by_ref().take(1024));
            if chunk.is_empty() {
                return tally.end(Verb::Add);
            }
            // SAFETY: &mut self is exclusive.
            unsafe { Verb::Add.many(self, &chunk, None, &mut tally) }.map_err(
                |error| match error.index() {
                    Some(index) => error.at_index(begin + index),
                    None => error,
                },
            )?;
            begin += chunk.len();
            chunk.clear();
        }
    }

    /// Returns a key's 64-bit hash, computed with this filter's hash function and its seed or
    /// secret.
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> Result<Hash, Error> {
        let hash = |bytes: &[u8]| {
            // SAFETY: the bytes are borrowed for the call.
            unsafe { sys::petal_hash_key(self.handle.as_ptr(), bytes.as_ptr().cast(), bytes.len()) }
        };
        Ok(Hash(match raw(key.key(), self.key_type) {
            Some(Raw::Bytes(bytes)) => hash(bytes),
            Some(Raw::Integer(value)) => hash(&value.to_le_bytes()),
            Some(Raw::Hash(hash)) => hash,
            None => {
                let mut bytes = Vec::new();
                convert(key.key(), self.key_type, &mut bytes)?;
                hash(&bytes)
            }
        }))
    }

    // ---- files ----

    /// Writes the filter to a petal file. An existing file is replaced atomically.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.save_with(path, &SaveOptions::new())
    }

    /// Writes the filter to a file.
    pub fn save_with(&self, path: impl AsRef<Path>, options: &SaveOptions) -> Result<(), Error> {
        let path = path.as_ref();
        let saved = c_path(path).and_then(|name| {
            options.borrowed(|raw| {
                // SAFETY: path and options are borrowed for the call.
                check(|error| unsafe {
                    sys::petal_save(self.handle.as_ptr(), name.as_ptr(), raw, error)
                })
            })
        });
        saved.map(drop).map_err(|error| error.at_path(path))
    }

    /// Returns the bytes of the filter's petal file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.to_bytes_with(&SaveOptions::new())
    }

    /// Returns the bytes of the filter's file in another format.
    pub fn to_bytes_with(&self, options: &SaveOptions) -> Result<Vec<u8>, Error> {
        options.borrowed(|raw| {
            // SAFETY: `collect` receives the vector, and the options are borrowed for the call.
            collected(|bytes, error| unsafe {
                sys::petal_write(self.handle.as_ptr(), raw, Some(collect), bytes, error)
            })
        })
    }

    /// Makes changes to a [writable map](crate::Mode::Writable) durable, and marks the file as
    /// clean. Dropping the filter does the same, but cannot report a failure.
    pub fn sync(&mut self) -> Result<(), Error> {
        // SAFETY: &mut self is exclusive.
        check(|error| unsafe { sys::petal_sync(self.handle.as_ptr(), error) }).map(drop)
    }

    /// Compares every block of a mapped file with its checksum. Returns false if the filter has no
    /// checksums.
    pub fn verify(&self) -> Result<bool, Error> {
        // SAFETY: it takes a const filter.
        check(|error| unsafe { sys::petal_verify(self.handle.as_ptr(), error) })
            .map(|status| status == sys::PETAL_OK)
    }

    // ---- looking inside ----

    /// Returns the filter's parameters, sizes and names, in constant time.
    pub fn info(&self) -> Result<Info, Error> {
        let mut info: sys::petal_info = sized!(sys::petal_info);
        let all = sys::PETAL_ALL_LAYERS;
        // SAFETY: the struct is initialized.
        check(|error| unsafe { sys::petal_get_info(self.handle.as_ptr(), all, &mut info, error) })?;
        Ok(Info::of(&info))
    }

    /// Returns statistics estimated from all the bits.
    pub fn stats(&self) -> Result<Stats, Error> {
        let mut stats: sys::petal_stats = sized!(sys::petal_stats);
        let all = sys::PETAL_ALL_LAYERS;
        // SAFETY: the struct is initialized.
        check(|error| unsafe {
            sys::petal_get_stats(self.handle.as_ptr(), all, &mut stats, error)
        })?;
        Ok(Stats::of(&stats))
    }

    /// Returns true if the filter certainly contains more distinct keys than its capacity.
    pub fn is_overfull(&self) -> bool {
        // SAFETY: it takes a const filter.
        unsafe { sys::petal_is_overfull(self.handle.as_ptr()) }
    }

    /// Returns a number that is equal for filters with equal parameters and bits.
    pub fn content_id(&self) -> Result<u64, Error> {
        let mut id = 0;
        // SAFETY: it takes a const filter.
        check(|error| unsafe { sys::petal_content_id(self.handle.as_ptr(), &mut id, error) })?;
        Ok(id)
    }

    /// Returns the filter's key type, which comes from the file or the options.
    pub fn key_type(&self) -> KeyType {
        self.key_type
    }

    /// Returns your own bytes stored in the file.
    pub fn metadata(&self) -> &[u8] {
        let mut size = 0;
        // SAFETY: the bytes do not change while the filter is borrowed.
        unsafe {
            let bytes = sys::petal_metadata(self.handle.as_ptr(), &mut size);
            if bytes.is_null() {
                return &[];
            }
            std::slice::from_raw_parts(bytes.cast(), size as usize)
        }
    }

    /// Replaces the metadata. The maximum is 64 KiB.
    pub fn set_metadata(&mut self, metadata: &[u8]) -> Result<(), Error> {
        let (bytes, size) = (metadata.as_ptr().cast(), metadata.len() as u64);
        // SAFETY: &mut self is exclusive, and the bytes are copied.
        check(|error| unsafe { sys::petal_set_metadata(self.handle.as_ptr(), bytes, size, error) })
            .map(drop)
    }

    // ---- whole filters ----

    /// Adds the other filter's keys. The result is exactly the same as if all keys had been added
    /// to this filter.
    ///
    /// ```
    /// let mut a = petal_bloom::Filter::new(100, 0.01)?;
    /// let mut b = a.empty_like()?;
    /// a.insert("a")?;
    /// b.insert("b")?;
    /// a.merge(&b)?;
    /// assert!(a.contains("b")?);
    /// # Ok::<(), petal_bloom::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Filter) -> Result<(), Error> {
        let (this, other) = (self.handle.as_ptr(), other.handle.as_ptr());
        // SAFETY: &mut self is exclusive, so the two filters are different.
        check(|error| unsafe { sys::petal_merge(this, other, error) }).map(drop)
    }

    /// Keeps only the bits that are set in both filters. Every key that is in both filters stays
    /// present.
    pub fn intersect(&mut self, other: &Filter) -> Result<(), Error> {
        let (this, other) = (self.handle.as_ptr(), other.handle.as_ptr());
        // SAFETY: &mut self is exclusive, as in merge.
        check(|error| unsafe { sys::petal_intersect(this, other, error) }).map(drop)
    }

    /// Estimates how the keys of two filters overlap.
    pub fn compare(&self, other: &Filter) -> Result<Comparison, Error> {
        let mut comparison: sys::petal_comparison = sized!(sys::petal_comparison);
        let (this, other) = (self.handle.as_ptr(), other.handle.as_ptr());
        // SAFETY: the function takes const filters.
        check(|error| unsafe { sys::petal_compare(this, other, &mut comparison, error) })?;
        Ok(Comparison::of(&comparison))
    }

    /// Returns a private copy in memory. The copy is writable even if this filter is not.
    pub fn try_clone(&self) -> Result<Filter, Error> {
        self.derived(sys::petal_clone)
    }

    /// Returns an empty filter with the same parameters, which can be merged with this one.
    pub fn empty_like(&self) -> Result<Filter, Error> {
        self.derived(sys::petal_create_like)
    }

    /// Returns a classic filter with the keys of this counting filter, at a quarter of its size.
    pub fn drop_counts(&self) -> Result<Filter, Error> {
        self.derived(sys::petal_drop_counts)
    }

    /// Returns a smaller filter with the same keys, for `capacity` keys and this rate. A rate of 0
    /// means the filter's own rate, and a capacity of 0 means the keys present.
    pub fn fold(&self, rate: f64, capacity: u64) -> Result<Filter, Error> {
        let mut options: sys::petal_fold_options = sized!(sys::petal_fold_options);
        (options.rate, options.capacity) = (rate, capacity);
        // SAFETY: it takes a const filter.
        self.like_this(Filter::made(|filter, error| unsafe {
            sys::petal_fold(self.handle.as_ptr(), &options, filter, error)
        }))
    }

    fn derived(
        &self,
        call: unsafe extern "C" fn(
            *const sys::petal_filter,
            *mut *mut sys::petal_filter,
            *mut sys::petal_error,
        ) -> sys::petal_status,
    ) -> Result<Filter, Error> {
        // SAFETY: each of these functions takes a const filter and returns a new filter.
        self.like_this(Filter::made(|filter, error| unsafe {
            call(self.handle.as_ptr(), filter, error)
        }))
    }

    /// The new filter has the key type with which this filter was opened.
    fn like_this(&self, made: Result<Filter, Error>) -> Result<Filter, Error> {
        made.map(|mut filter| {
            filter.key_type = self.key_type;
            filter
        })
    }

    /// Removes every key.
    pub fn clear(&mut self) -> Result<(), Error> {
        // SAFETY: &mut self is exclusive.
        check(|error| unsafe { sys::petal_clear(self.handle.as_ptr(), error) }).map(drop)
    }

    /// Makes the filter permanently read-only. For a [static](crate::Scheme::Static) filter, this
    /// call builds the filter from the added keys.
    ///
    /// ```
    /// use petal_bloom::{Options, Scheme};
    ///
    /// let mut filter = Options::new().rate(0.01).scheme(Scheme::Static).create()?;
    /// filter.extend(0..1000)?;
    /// filter.freeze()?;
    /// assert!(filter.contains(&999)?);
    /// assert!(filter.insert(&1000).is_err());
    /// # Ok::<(), petal_bloom::Error>(())
    /// ```
    pub fn freeze(&mut self) -> Result<(), Error> {
        // SAFETY: &mut self is exclusive.
        check(|error| unsafe { sys::petal_freeze(self.handle.as_ptr(), error) }).map(drop)
    }

    /// Sets a time window's clock, in milliseconds since 1970, and drops expired keys.
    pub fn set_clock(&mut self, now_ms: u64) -> Result<(), Error> {
        // SAFETY: &mut self is exclusive.
        check(|error| unsafe { sys::petal_set_clock(self.handle.as_ptr(), now_ms, error) })
            .map(drop)
    }

    /// Returns the patch from `older` to this filter. A patch typically takes a few percent of the
    /// file's size.
    pub fn patch(&self, older: &Filter) -> Result<Vec<u8>, Error> {
        let (this, older) = (self.handle.as_ptr(), older.handle.as_ptr());
        // SAFETY: the function takes const filters, and `collect` receives the vector.
        collected(|bytes, error| unsafe {
            sys::petal_diff(older, this, Some(collect), bytes, error)
        })
    }

    /// Applies a patch. If this fails, the filter is unchanged.
    pub fn apply_patch(&mut self, patch: &[u8]) -> Result<(), Error> {
        let (bytes, size) = (patch.as_ptr().cast(), patch.len() as u64);
        // SAFETY: &mut self is exclusive, and the patch is borrowed for the call.
        check(|error| unsafe {
            sys::petal_apply_patch(self.handle.as_ptr(), bytes, size, 0, error)
        })
        .map(drop)
    }

    /// Lets several threads add keys to the filter concurrently. See [`SharedFilter`].
    pub fn share(self) -> Result<SharedFilter, Error> {
        SharedFilter::new(self)
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.info() {
            Ok(info) => {
                write!(f, "Filter({}, {} items, {} bytes)", info.scheme, info.items, info.bytes)
            }
            Err(error) => write!(f, "Filter({error})"),
        }
    }
}

/// Appends the library's output to the vector `context`.
unsafe extern "C" fn collect(context: *mut c_void, bytes: *const c_void, size: usize) -> i32 {
    if size == 0 {
        return 0; // `bytes` may be NULL
    }
    // SAFETY: `collected` passed the vector, and the library passes `size` valid bytes.
    let (all, bytes) = unsafe {
        (&mut *context.cast::<Vec<u8>>(), std::slice::from_raw_parts(bytes.cast(), size))
    };
    if all.try_reserve(size).is_err() {
        return 12; // ENOMEM
    }
    all.extend_from_slice(bytes);
    0
}

fn collected(
    call: impl FnOnce(*mut c_void, *mut sys::petal_error) -> sys::petal_status,
) -> Result<Vec<u8>, Error> {
    let mut bytes: Vec<u8> = Vec::new();
    let context: *mut Vec<u8> = &mut bytes;
    check(|error| call(context.cast(), error))?;
    Ok(bytes)
}
