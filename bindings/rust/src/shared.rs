//! A filter that several threads add to.
use crate::batch::Verb;
use crate::error::{check, Error};
use crate::filter::Filter;
use crate::key::Key;
use petal_bloom_sys as sys;
use std::fmt;

/// A filter that any number of threads may add to and query at the same time, without a lock. No
/// key is lost. Everything else must wait until [`into_inner`](SharedFilter::into_inner).
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
        // SAFETY: the filter was moved here, so no other thread uses it.
        check(|error| unsafe { sys::petal_allow_threads(filter.handle.as_ptr(), error) })?;
        Ok(SharedFilter(filter))
    }

    /// Adds a key. Returns true if it was certainly new.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Result<bool, Error> {
        // SAFETY: after petal_allow_threads(), petal_add*() may run beside each other and queries.
        unsafe { Verb::Add.one(&self.0, key) }
    }

    /// Is the key present? Returns false if it certainly isn't, and true if it probably is.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> Result<bool, Error> {
        self.0.contains(key)
    }

    /// Adds the keys, and returns how many were new.
    pub fn insert_many<K: Key>(&self, keys: &[K]) -> Result<u64, Error> {
        // SAFETY: as for insert.
        unsafe { Verb::Add.many(&self.0, keys, None) }
    }

    /// Which of the keys are present?
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, Error> {
        self.0.contains_many(keys)
    }

    /// The filter, once no thread uses it any more.
    pub fn into_inner(self) -> Filter {
        self.0
    }
}

impl fmt::Debug for SharedFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedFilter(..)") // other threads may be adding, so nothing else may be read
    }
}
