//! Adds, queries and removes one or many keys, with the library's calls for single keys and for
//! batches.
use crate::error::{check, Error, Status};
use crate::filter::Filter;
use crate::key::{convert, raw, AnyKey, Key, KeyType, Raw};
use petal_bloom_sys as sys;

/// The number of keys passed to the library at a time. Their addresses and first bytes fit in the
/// first-level cache.
pub(crate) const CHUNK: usize = 512;

/// The limit, in bytes, for converted keys passed at one time, since keys may be long.
const MADE_BYTES: usize = 1 << 16;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Verb {
    Add,
    Contains,
    Remove,
}

impl Verb {
    /// Returns whether the key was new, is probably present, or was removed, depending on the
    /// operation.
    ///
    /// # Safety
    /// No other thread may use the filter, unless the C header allows this for the call.
    #[inline]
    pub(crate) unsafe fn one<K: Key + ?Sized>(
        self,
        filter: &Filter,
        key: &K,
    ) -> Result<bool, Error> {
        match raw(key.key(), filter.key_type) {
            Some(key) => unsafe { self.ask(filter, key) },
            None => unsafe { self.ask_converted(filter, key.key()) },
        }
    }

    #[inline(never)]
    unsafe fn ask_converted(self, filter: &Filter, key: AnyKey<'_>) -> Result<bool, Error> {
        let mut bytes = Vec::new();
        convert(key, filter.key_type, &mut bytes)?;
        unsafe { self.ask(filter, Raw::Bytes(&bytes)) }
    }

    #[inline]
    unsafe fn ask(self, filter: &Filter, key: Raw<'_>) -> Result<bool, Error> {
        let handle = filter.handle.as_ptr();
        let status = unsafe {
            match (self, key) {
                (Verb::Add, Raw::Bytes(key)) => {
                    sys::petal_add(handle, key.as_ptr().cast(), key.len())
                }
                (Verb::Add, Raw::Integer(key)) => sys::petal_add_i64(handle, key),
                (Verb::Add, Raw::Hash(hash)) => sys::petal_add_hash(handle, hash),
                (Verb::Contains, Raw::Bytes(key)) => {
                    status_of(sys::petal_contains(handle, key.as_ptr().cast(), key.len()))
                }
                (Verb::Contains, Raw::Integer(key)) => {
                    status_of(sys::petal_contains_i64(handle, key))
                }
                (Verb::Contains, Raw::Hash(hash)) => {
                    status_of(sys::petal_contains_hash(handle, hash))
                }
                (Verb::Remove, Raw::Bytes(key)) => {
                    sys::petal_remove(handle, key.as_ptr().cast(), key.len())
                }
                (Verb::Remove, Raw::Integer(key)) => sys::petal_remove_i64(handle, key),
                (Verb::Remove, Raw::Hash(hash)) => sys::petal_remove_hash(handle, hash),
            }
        };
        // Once a damaged block has been found, "probably" may be wrong for keys that need this
        // block.
        let is_doubtful = match self {
            Verb::Contains => status == sys::PETAL_OK && filter.verifies && filter.is_damaged(),
            Verb::Add | Verb::Remove => status < 0,
        };
        if is_doubtful {
            return unsafe { self.ask_again(filter, key) };
        }
        Ok(status == sys::PETAL_OK)
    }

    /// Repeats the call as a batch of one key, which fails in the same way, but also returns a
    /// message.
    #[cold]
    unsafe fn ask_again(self, filter: &Filter, key: Raw<'_>) -> Result<bool, Error> {
        let (address, word);
        let batch = match key {
            Raw::Bytes(bytes) => {
                address = [address_of(bytes)];
                array(sys::PETAL_LAYOUT_POINTERS, &address)
            }
            Raw::Integer(value) => {
                word = [value as u64];
                array(sys::PETAL_LAYOUT_I64, &word)
            }
            Raw::Hash(hash) => {
                word = [hash];
                array(sys::PETAL_LAYOUT_HASHES, &word)
            }
        };
        let mut tally = Tally::default();
        unsafe { self.send(filter, &batch, 0, None, &mut tally) }.map_err(Error::without_index)?;
        Ok(tally.positive == 1)
    }

    /// Processes all keys in a batch, and stores the answers if requested.
    ///
    /// # Safety
    /// As for `one`.
    pub(crate) unsafe fn all<K: Key>(
        self,
        filter: &Filter,
        keys: &[K],
        answers: Option<&mut [bool]>,
    ) -> Result<u64, Error> {
        if answers.as_ref().is_some_and(|answers| answers.len() != keys.len()) {
            let message = format!("as many answers as keys are needed: {}", keys.len());
            return Err(Error::new(Status::Argument, message));
        }
        let mut tally = Tally::default();
        unsafe { self.many(filter, keys, answers, &mut tally)? };
        tally.end(self)
    }

    /// Processes a part of a batch. After a failure, the keys before the error's index have been
    /// processed. If the scheme does not accept the empty key, it is skipped and counted.
    ///
    /// # Safety
    /// As for `one`.
    pub(crate) unsafe fn many<K: Key>(
        self,
        filter: &Filter,
        keys: &[K],
        mut answers: Option<&mut [bool]>,
        tally: &mut Tally,
    ) -> Result<(), Error> {
        if let (Some(keys), KeyType::Any | KeyType::I64) = (K::integers(keys), filter.key_type) {
            let batch = array(sys::PETAL_LAYOUT_I64, keys);
            return unsafe { self.send(filter, &batch, 0, answers, tally) };
        }
        let (mut run, mut begin) = (Run::default(), 0);
        while begin < keys.len() {
            if filter.rejects(&keys[begin]) {
                tally.skipped += 1;
                if let Some(answers) = answers.as_deref_mut() {
                    answers[begin] = false;
                }
                begin += 1;
                continue;
            }
            let count =
                run.collect(filter, &keys[begin..]).map_err(|error| error.at_index(begin))?;
            let answers = answers.as_deref_mut().map(|answers| &mut answers[begin..begin + count]);
            unsafe { self.send(filter, &run.batch(), begin, answers, tally)? };
            begin += count;
        }
        Ok(())
    }

    /// Passes keys to the library. The first of them has the index `begin` among the caller's keys.
    pub(crate) unsafe fn send(
        self,
        filter: &Filter,
        batch: &sys::petal_batch,
        begin: usize,
        answers: Option<&mut [bool]>,
        tally: &mut Tally,
    ) -> Result<(), Error> {
        let mut outcome: sys::petal_batch_outcome = sized!(sys::petal_batch_outcome);
        let handle = filter.handle.as_ptr();
        // The library writes 0 or 1 per key, which are the bytes of a bool.
        let answers = answers.map_or(std::ptr::null_mut(), |answers| answers.as_mut_ptr().cast());
        let done = check(|error| unsafe {
            match self {
                Verb::Add => sys::petal_add_batch(handle, batch, answers, &mut outcome, error),
                Verb::Contains => {
                    sys::petal_contains_batch(handle, batch, answers, &mut outcome, error)
                }
                Verb::Remove => {
                    sys::petal_remove_batch(handle, batch, answers, &mut outcome, error)
                }
            }
        });
        tally.positive += outcome.positive;
        match done {
            Ok(_) => Ok(()),
            Err(error) => Err(match error.offset() {
                Some(index) => error.at_index(begin + index as usize),
                None => error,
            }),
        }
    }
}

/// The totals over all parts of a batch.
#[derive(Default)]
pub(crate) struct Tally {
    positive: u64,
    skipped: u64,
}

impl Tally {
    /// Returns the number of true answers, or an error if empty keys were skipped.
    pub(crate) fn end(&self, verb: Verb) -> Result<u64, Error> {
        if self.skipped > 0 && verb != Verb::Contains {
            let skipped = self.skipped;
            let message =
                format!("{skipped} empty keys were skipped: the scheme does not accept them");
            return Err(Error::new(Status::Unsupported, message));
        }
        Ok(self.positive)
    }
}

fn status_of(found: bool) -> sys::petal_status {
    if found {
        sys::PETAL_OK
    } else {
        sys::PETAL_ABSENT
    }
}

pub(crate) fn array<T>(layout: u32, keys: &[T]) -> sys::petal_batch {
    let mut batch: sys::petal_batch = sized!(sys::petal_batch);
    batch.layout = layout;
    batch.data = keys.as_ptr().cast();
    batch.count = keys.len() as u64;
    batch
}

fn address_of(bytes: &[u8]) -> sys::petal_key {
    sys::petal_key { data: bytes.as_ptr().cast(), size_bytes: bytes.len() }
}

/// Starts loading the key's bytes, while other keys' bytes are also being loaded.
#[inline]
fn touch(bytes: &[u8]) {
    if let Some(first) = bytes.first() {
        // SAFETY: the pointer comes from a reference. The read is volatile, because the compiler
        // would remove a read whose value is unused.
        unsafe { std::ptr::read_volatile(first) };
    }
}

impl Filter {
    fn rejects<K: Key>(&self, key: &K) -> bool {
        self.rejects_empty
            && matches!(raw(key.key(), self.key_type), Some(Raw::Bytes(bytes)) if bytes.is_empty())
    }

    fn is_damaged(&self) -> bool {
        // SAFETY: the function takes a const filter.
        let status = unsafe { sys::petal_last_error(self.handle.as_ptr(), std::ptr::null_mut()) };
        status == sys::PETAL_ERR_DAMAGED
    }
}

/// Consecutive keys that are passed to the library as one array.
#[derive(Default)]
struct Run {
    layout: u32,
    addresses: Vec<sys::petal_key>,
    words: Vec<u64>, // integers, hashes, or the offset at which each key's bytes end
    made: Vec<u8>,
}

impl Run {
    /// Collects the first of these keys, as many as one array can represent. Returns their number,
    /// or an error if the first key is not valid for the filter.
    fn collect<K: Key>(&mut self, filter: &Filter, keys: &[K]) -> Result<usize, Error> {
        let keys = &keys[..keys.len().min(CHUNK)];
        let plain = keys.iter().map_while(|key| raw(key.key(), filter.key_type));
        self.addresses.clear();
        self.words.clear();
        match raw(keys[0].key(), filter.key_type) {
            Some(Raw::Bytes(_)) => {
                self.layout = sys::PETAL_LAYOUT_POINTERS;
                self.addresses.extend(plain.map_while(|key| match key {
                    Raw::Bytes(bytes) if !(bytes.is_empty() && filter.rejects_empty) => {
                        touch(bytes);
                        Some(address_of(bytes))
                    }
                    _ => None,
                }));
                return Ok(self.addresses.len());
            }
            Some(Raw::Integer(_)) => {
                self.layout = sys::PETAL_LAYOUT_I64;
                self.words.extend(plain.map_while(|key| match key {
                    Raw::Integer(value) => Some(value as u64),
                    _ => None,
                }));
            }
            Some(Raw::Hash(_)) => {
                self.layout = sys::PETAL_LAYOUT_HASHES;
                self.words.extend(plain.map_while(|key| match key {
                    Raw::Hash(hash) => Some(hash),
                    _ => None,
                }));
            }
            None => return self.make(filter, keys),
        }
        Ok(self.words.len())
    }

    /// Collects keys whose bytes must be converted.
    fn make<K: Key>(&mut self, filter: &Filter, keys: &[K]) -> Result<usize, Error> {
        self.layout = sys::PETAL_LAYOUT_OFFSETS64;
        self.made.clear();
        self.words.push(0);
        for (index, key) in keys.iter().enumerate() {
            let key = key.key();
            if raw(key, filter.key_type).is_some() || self.made.len() > MADE_BYTES {
                break;
            }
            match convert(key, filter.key_type, &mut self.made) {
                Ok(()) => self.words.push(self.made.len() as u64),
                Err(error) if index == 0 => return Err(error),
                Err(_) => break, // the error is returned later, when this key is the first
            }
        }
        Ok(self.words.len() - 1)
    }

    fn batch(&self) -> sys::petal_batch {
        match self.layout {
            sys::PETAL_LAYOUT_POINTERS => array(self.layout, &self.addresses),
            sys::PETAL_LAYOUT_OFFSETS64 => {
                let mut batch = array(self.layout, &self.made);
                batch.offsets = self.words.as_ptr().cast();
                batch.data_bytes = self.made.len() as u64;
                batch.count = self.words.len() as u64 - 1;
                batch
            }
            _ => array(self.layout, &self.words),
        }
    }
}
