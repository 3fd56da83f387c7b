//! A filter to which several threads can add keys.
use crate::batch::Verb;
use crate::error::{check, Error};
use crate::filter::Filter;
use crate::key::Key;
use petal_bloom_sys as sys;
use std::fmt;

/// A filter that any number of threads may query and add keys to at the same time, without a lock.
/// No key is lost. For all other calls, convert it back with
/// [`into_inner`](SharedFilter::into_inner).
///
/// ```
/// let filter = petal_bloom::Filter::new(1000, 0.01)?.share()?;
/// std::thread::scope(|scope| {
///     for thread in 0..4 {
///         let filter = &filter;
///         scope.spawn(move || (0..100).try_for_each(|i| filter.insert(&(100 * thread + i)).map(drop)));
///     }
/// });
/// assert!(filter.contains(&399)?);
/// assert_eq!(filter.into_inner().info()?.scheme, "blocked");
/// # Ok::<(), petal_bloom::Error>(())
/// ```
pub struct SharedFilter(Filter);

impl SharedFilter {
    pub(crate) fn new(filter: Filter) -> Result<SharedFilter, Error> {
        // SAFETY: the filter was moved into this function, so no other thread uses it.
        check(|error| unsafe { sys::petal_allow_threads(filter.handle.as_ptr(), error) })?;
        Ok(SharedFilter(filter))
    }

    /// Adds a key. Returns true if the key was certainly new.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Result<bool, Error> {
        // SAFETY: after petal_allow_threads(), calls to petal_add*() and queries may run
        // concurrently.
        unsafe { Verb::Add.one(&self.0, key) }
    }

    /// Returns false if the key is certainly absent, and true if it is probably present.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> Result<bool, Error> {
        self.0.contains(key)
    }

    /// Adds the keys, and returns the number of new keys.
    pub fn insert_many<K: Key>(&self, keys: &[K]) -> Result<u64, Error> {
        // SAFETY: after petal_allow_threads(), additions and queries may run concurrently.
        unsafe { Verb::Add.all(&self.0, keys, None) }
    }

    /// Returns, for each key, whether it is probably present.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, Error> {
        self.0.contains_many(keys)
    }

    /// Returns the filter. Ownership of `self` proves that no other thread is using it.
    pub fn into_inner(self) -> Filter {
        self.0
    }
}

impl fmt::Debug for SharedFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedFilter(..)") // other threads may be adding, so don't read any field
    }
}
