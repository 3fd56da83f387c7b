//! The filter.
use crate::batch::Verb;
use crate::error::{check, Error};
use crate::info::{Comparison, Info, Stats};
use crate::key::{raw, Hash, Key, KeyType, Raw};
use crate::open::{c_path, OpenOptions, SaveOptions};
use crate::options::Options;
use crate::shared::SharedFilter;
use petal_bloom_sys as sys;
use std::ffi::c_void;
use std::fmt;
use std::path::Path;
use std::ptr::NonNull;

/// A Bloom filter: a set of keys that never forgets one, but mistakes absent keys for present ones
/// at a planned rate.
///
/// Any number of threads may query it through `&self`. Calls that change it take `&mut self`; to
/// add from several threads at once, see [`Filter::share`].
pub struct Filter {
    pub(crate) handle: NonNull<sys::petal_filter>,
    pub(crate) key_type: KeyType,
    /// A query may find a damaged block.
    pub(crate) verifies: bool,
    /// Another library's scheme does not accept the empty key.
    pub(crate) rejects_empty: bool,
}

// SAFETY: the library has no global state and no thread-local state: any thread may use a filter.
unsafe impl Send for Filter {}
// SAFETY: "While no thread changes a filter, any number of threads may pass it to calls that take a
// `const petal_filter`" (petal.h). Through &Filter only those are called.
unsafe impl Sync for Filter {}

impl Drop for Filter {
    fn drop(&mut self) {
        // SAFETY: the handle is this filter's own.
        unsafe { sys::petal_free(self.handle.as_ptr()) }
    }
}

impl Filter {
    /// An empty filter, planned for `capacity` distinct keys and a false-positive rate. For more
    /// options see [`Options`].
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

    /// Opens a filter file, mapped for reading; its blocks are verified before they are used. For
    /// more options see [`OpenOptions`].
    pub fn open(path: impl AsRef<Path>) -> Result<Filter, Error> {
        OpenOptions::new().open(path)
    }

    /// Makes a filter from the bytes of a file.
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
        // SAFETY: the struct is initialised.
        check(|error| unsafe { sys::petal_get_file_info(handle.as_ptr(), &mut file, error) })?;
        filter.key_type = info.key_type;
        filter.verifies = file.verifies_on_use != 0;
        filter.rejects_empty = info.abilities & sys::PETAL_CAN_EMPTY_KEY == 0;
        Ok(filter)
    }

    // ---- keys ----

    /// Adds a key. Returns true if it was certainly new.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Error> {
        // SAFETY: &mut self is exclusive.
        unsafe { Verb::Add.one(self, key) }
    }

    /// Is the key present? Returns false if it certainly isn't, and true if it probably is.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> Result<bool, Error> {
        // SAFETY: it takes a const filter.
        unsafe { Verb::Contains.one(self, key) }
    }

    /// Removes a key from a [counting](crate::Scheme::Counting) filter. Returns false if it was
    /// certainly absent. Remove only keys that were added: removing a false positive damages keys
    /// that are present.
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Error> {
        // SAFETY: &mut self is exclusive.
        unsafe { Verb::Remove.one(self, key) }
    }

    /// Adds the keys, and returns how many were new. For integers, this is faster than adding them
    /// one by one.
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
        unsafe { Verb::Add.many(self, keys, None) }
    }

    /// Adds the keys, and writes which were new; `answers` must be as long as `keys`.
    pub fn insert_into<K: Key>(&mut self, keys: &[K], answers: &mut [bool]) -> Result<u64, Error> {
        // SAFETY: &mut self is exclusive.
        unsafe { Verb::Add.many(self, keys, Some(answers)) }
    }

    /// Which of the keys are present?
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, Error> {
        let mut answers = vec![false; keys.len()];
        self.contains_into(keys, &mut answers)?;
        Ok(answers)
    }

    /// Writes which of the keys are present, and returns how many; `answers` must be as long as
    /// `keys`.
    pub fn contains_into<K: Key>(&self, keys: &[K], answers: &mut [bool]) -> Result<u64, Error> {
        // SAFETY: it takes a const filter.
        unsafe { Verb::Contains.many(self, keys, Some(answers)) }
    }

    /// Removes the keys, and returns how many were present; see [`remove`](Filter::remove).
    pub fn remove_many<K: Key>(&mut self, keys: &[K]) -> Result<u64, Error> {
        // SAFETY: &mut self is exclusive.
        unsafe { Verb::Remove.many(self, keys, None) }
    }

    /// Adds the keys of an iterator, in batches, and returns how many were new. ([`Extend`] could
    /// not report errors.)
    ///
    /// ```
    /// let mut filter = petal_bloom::Filter::new(1000, 0.01)?;
    /// assert!(filter.extend(0..100)? > 90);
    /// assert!(filter.contains(&99)?);
    /// # Ok::<(), petal_bloom::Error>(())
    /// ```
    pub fn extend<K: Key>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<u64, Error> {
        let (mut keys, mut added, mut begin) = (keys.into_iter(), 0, 0);
        let mut chunk = Vec::new();
        loop {
            chunk.extend(keys.by_ref().take(1024));
            if chunk.is_empty() {
                return Ok(added);
            }
            added += self.insert_many(&chunk).map_err(|error| match error.index() {
                Some(index) => error.at_index(begin + index),
                None => error,
            })?;
            begin += chunk.len();
            chunk.clear();
        }
    }

    /// The 64-bit hash of a key under this filter's hash and seed or secret.
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> Result<Hash, Error> {
        let hash = |bytes: &[u8]| {
            // SAFETY: the bytes are borrowed for the call.
            unsafe { sys::petal_hash_key(self.handle.as_ptr(), bytes.as_ptr().cast(), bytes.len()) }
        };
        Ok(Hash(match raw(key.key(), self.key_type)? {
            Raw::Bytes(bytes) => hash(&bytes),
            Raw::Integer(value) => hash(&value.to_le_bytes()),
            Raw::Hash(hash) => hash,
        }))
    }

    // ---- files ----

    /// Writes the filter to a petal file, and replaces an old one atomically.
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

    /// The bytes of the petal file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.to_bytes_with(&SaveOptions::new())
    }

    /// The bytes of the file in another format.
    pub fn to_bytes_with(&self, options: &SaveOptions) -> Result<Vec<u8>, Error> {
        options.borrowed(|raw| {
            // SAFETY: `collect` gets the vector, and the options are borrowed for the call.
            collected(|bytes, error| unsafe {
                sys::petal_write(self.handle.as_ptr(), raw, Some(collect), bytes, error)
            })
        })
    }

    /// Makes the changes of a [writable map](crate::Mode::Writable) durable, and marks its file
    /// clean. Dropping the filter does so too, but cannot report a failure.
    pub fn sync(&mut self) -> Result<(), Error> {
        // SAFETY: &mut self is exclusive.
        check(|error| unsafe { sys::petal_sync(self.handle.as_ptr(), error) }).map(drop)
    }

    /// Compares every block of a mapped file with its checksum. Returns false if there is nothing
    /// to compare.
    pub fn verify(&self) -> Result<bool, Error> {
        // SAFETY: it takes a const filter.
        check(|error| unsafe { sys::petal_verify(self.handle.as_ptr(), error) })
            .map(|status| status == sys::PETAL_OK)
    }

    // ---- looking inside ----

    /// Parameters, sizes and names, in constant time.
    pub fn info(&self) -> Result<Info, Error> {
        let mut info: sys::petal_info = sized!(sys::petal_info);
        let all = sys::PETAL_ALL_LAYERS;
        // SAFETY: the struct is initialised.
        check(|error| unsafe { sys::petal_get_info(self.handle.as_ptr(), all, &mut info, error) })?;
        Ok(Info::of(&info))
    }

    /// Statistics estimated from all bits.
    pub fn stats(&self) -> Result<Stats, Error> {
        let mut stats: sys::petal_stats = sized!(sys::petal_stats);
        let all = sys::PETAL_ALL_LAYERS;
        // SAFETY: the struct is initialised.
        check(|error| unsafe {
            sys::petal_get_stats(self.handle.as_ptr(), all, &mut stats, error)
        })?;
        Ok(Stats::of(&stats))
    }

    /// Does it certainly hold more distinct keys than its capacity?
    pub fn is_overfull(&self) -> bool {
        // SAFETY: it takes a const filter.
        unsafe { sys::petal_is_overfull(self.handle.as_ptr()) }
    }

    /// A number that is equal for filters with equal parameters and bits.
    pub fn content_id(&self) -> Result<u64, Error> {
        let mut id = 0;
        // SAFETY: it takes a const filter.
        check(|error| unsafe { sys::petal_content_id(self.handle.as_ptr(), &mut id, error) })?;
        Ok(id)
    }

    /// The type of its keys, as given by the file or the options.
    pub fn key_type(&self) -> KeyType {
        self.key_type
    }

    /// Your own bytes in the file.
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

    /// Replaces the metadata, which is at most 64 KiB.
    pub fn set_metadata(&mut self, metadata: &[u8]) -> Result<(), Error> {
        let (bytes, size) = (metadata.as_ptr().cast(), metadata.len() as u64);
        // SAFETY: &mut self is exclusive, and the bytes are copied.
        check(|error| unsafe { sys::petal_set_metadata(self.handle.as_ptr(), bytes, size, error) })
            .map(drop)
    }

    // ---- whole filters ----

    /// Turns it into the union of both, exactly as if the keys of both had been added to it.
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
        // SAFETY: &mut self is exclusive, so they are two filters.
        check(|error| unsafe { sys::petal_merge(this, other, error) }).map(drop)
    }

    /// Keeps only the bits that both have: every key that is in both is still present.
    pub fn intersect(&mut self, other: &Filter) -> Result<(), Error> {
        let (this, other) = (self.handle.as_ptr(), other.handle.as_ptr());
        // SAFETY: as for merge.
        check(|error| unsafe { sys::petal_intersect(this, other, error) }).map(drop)
    }

    /// Estimates how the keys of two filters overlap.
    pub fn compare(&self, other: &Filter) -> Result<Comparison, Error> {
        let mut comparison: sys::petal_comparison = sized!(sys::petal_comparison);
        let (this, other) = (self.handle.as_ptr(), other.handle.as_ptr());
        // SAFETY: it takes const filters.
        check(|error| unsafe { sys::petal_compare(this, other, &mut comparison, error) })?;
        Ok(Comparison::of(&comparison))
    }

    /// A private copy in memory, which may change even if this one may not.
    pub fn try_clone(&self) -> Result<Filter, Error> {
        self.derived(sys::petal_clone)
    }

    /// An empty filter with the same parameters, which can be merged with this one.
    pub fn empty_like(&self) -> Result<Filter, Error> {
        self.derived(sys::petal_create_like)
    }

    /// A classic filter with the keys of this counting one, a quarter of its size.
    pub fn drop_counts(&self) -> Result<Filter, Error> {
        self.derived(sys::petal_drop_counts)
    }

    /// A smaller filter with the same keys, as if it had been created for `capacity` keys at this
    /// rate. 0 means the filter's own rate, and the keys that are present.
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
        // SAFETY: each of them takes a const filter and returns a new one.
        self.like_this(Filter::made(|filter, error| unsafe {
            call(self.handle.as_ptr(), filter, error)
        }))
    }

    /// The new filter's keys have the type that this one was opened with.
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

    /// Makes it permanently read-only. A [static](crate::Scheme::Static) filter is built from the
    /// keys that were added.
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

    /// Sets the clock of a time window, in milliseconds since 1970, and drops keys that have
    /// expired.
    pub fn set_clock(&mut self, now_ms: u64) -> Result<(), Error> {
        // SAFETY: &mut self is exclusive.
        check(|error| unsafe { sys::petal_set_clock(self.handle.as_ptr(), now_ms, error) })
            .map(drop)
    }

    /// The patch that turns `older` into this filter, a few percent of the file.
    pub fn patch(&self, older: &Filter) -> Result<Vec<u8>, Error> {
        let (this, older) = (self.handle.as_ptr(), older.handle.as_ptr());
        // SAFETY: it takes const filters, and `collect` gets the vector.
        collected(|bytes, error| unsafe {
            sys::petal_diff(older, this, Some(collect), bytes, error)
        })
    }

    /// Applies a patch. After a failure the filter is unchanged.
    pub fn apply_patch(&mut self, patch: &[u8]) -> Result<(), Error> {
        let (bytes, size) = (patch.as_ptr().cast(), patch.len() as u64);
        // SAFETY: &mut self is exclusive, and the patch is borrowed for the call.
        check(|error| unsafe {
            sys::petal_apply_patch(self.handle.as_ptr(), bytes, size, 0, error)
        })
        .map(drop)
    }

    /// From now on several threads may add to it at once; see [`SharedFilter`].
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

/// Receives the bytes that the library writes, in the vector `context`.
unsafe extern "C" fn collect(context: *mut c_void, bytes: *const c_void, size: usize) -> i32 {
    if size == 0 {
        return 0; // `bytes` may be NULL
    }
    // SAFETY: `collected` passed the vector, and the library passes bytes of that size.
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
