//! One key or many: adding, querying and removing, through the library's calls for one key and its
//! batches.
use crate::error::{check, Error, Status};
use crate::filter::Filter;
use crate::key::{raw, Key, KeyType, Raw};
use petal_bloom_sys as sys;
use std::borrow::Cow;

/// How many keys are passed to the library at a time; their addresses stay in the first-level
/// cache.
const CHUNK: usize = 1024;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Verb {
    Add,
    Contains,
    Remove,
}

impl Verb {
    /// Was the key new, is it probably present, or was it removed?
    ///
    /// # Safety
    /// No other thread may use the filter, unless the header allows it for this call.
    #[inline]
    pub(crate) unsafe fn one<K: Key + ?Sized>(
        self,
        filter: &Filter,
        key: &K,
    ) -> Result<bool, Error> {
        let key = raw(key.key(), filter.key_type)?;
        let handle = filter.handle.as_ptr();
        let answer = unsafe {
            match (self, &key) {
                (Verb::Contains, Raw::Bytes(key)) => {
                    sys::petal_contains(handle, key.as_ptr().cast(), key.len())
                }
                (Verb::Contains, Raw::Integer(key)) => sys::petal_contains_i64(handle, *key),
                (Verb::Contains, Raw::Hash(hash)) => sys::petal_contains_hash(handle, *hash),
                _ => {
                    let status = match (self, &key) {
                        (Verb::Add, Raw::Bytes(key)) => {
                            sys::petal_add(handle, key.as_ptr().cast(), key.len())
                        }
                        (Verb::Add, Raw::Integer(key)) => sys::petal_add_i64(handle, *key),
                        (Verb::Add, Raw::Hash(hash)) => sys::petal_add_hash(handle, *hash),
                        (_, Raw::Bytes(key)) => {
                            sys::petal_remove(handle, key.as_ptr().cast(), key.len())
                        }
                        (_, Raw::Integer(key)) => sys::petal_remove_i64(handle, *key),
                        (_, Raw::Hash(hash)) => sys::petal_remove_hash(handle, *hash),
                    };
                    if status >= 0 {
                        return Ok(status == sys::PETAL_OK);
                    }
                    true
                }
            }
        };
        // A batch of one fails in the same way, and gives the message.
        if answer && (self != Verb::Contains || filter.verifies) {
            return unsafe { self.again(filter, key) };
        }
        Ok(answer)
    }

    #[cold]
    unsafe fn again(self, filter: &Filter, key: Raw<'_>) -> Result<bool, Error> {
        let mut run = Run::default();
        run.push(key);
        let mut positive = 0;
        unsafe { run.send(self, filter, None, &mut positive) }.map_err(Error::without_index)?;
        Ok(positive == 1)
    }

    /// The same for each key, and how many answers are true. After a failure, the keys before the
    /// one at the error's index were processed. If the scheme does not accept the empty key, it is
    /// skipped, counted and reported at the end.
    ///
    /// # Safety
    /// As for `one`.
    pub(crate) unsafe fn many<K: Key>(
        self,
        filter: &Filter,
        keys: &[K],
        mut answers: Option<&mut [bool]>,
    ) -> Result<u64, Error> {
        if answers.as_ref().is_some_and(|answers| answers.len() != keys.len()) {
            let message = format!("as many answers as keys are needed: {}", keys.len());
            return Err(Error::new(Status::Argument, message));
        }
        let mut positive = 0;
        if let (Some(keys), KeyType::Any | KeyType::I64) = (K::integers(keys), filter.key_type) {
            let layout = sys::PETAL_LAYOUT_I64;
            unsafe { send(self, filter, layout, keys, 0, answers, &mut positive)? };
            return Ok(positive);
        }
        let (mut run, mut skipped) = (Run::default(), 0_u64);
        for (index, key) in keys.iter().enumerate() {
            let next = raw(key.key(), filter.key_type);
            let rejected =
                filter.rejects_empty && matches!(&next, Ok(Raw::Bytes(key)) if key.is_empty());
            if rejected || !next.as_ref().is_ok_and(|key| run.takes(key)) {
                unsafe { run.send(self, filter, answers.as_deref_mut(), &mut positive)? };
                run.begin(index);
            }
            if rejected {
                skipped += 1;
                if let Some(answers) = answers.as_deref_mut() {
                    answers[index] = false;
                }
                run.begin(index + 1);
                continue;
            }
            run.push(next.map_err(|error| error.at_index(index))?);
        }
        unsafe { run.send(self, filter, answers, &mut positive)? };
        if skipped > 0 && self != Verb::Contains {
            let message =
                format!("{skipped} empty keys were skipped: the scheme does not accept them");
            return Err(Error::new(Status::Unsupported, message));
        }
        Ok(positive)
    }
}

/// Consecutive keys of a batch that the library accepts as one array.
#[derive(Default)]
struct Run<'a> {
    begin: usize,
    layout: u32,
    bytes: Vec<sys::petal_key>,
    words: Vec<u64>,
    owned: Vec<Cow<'a, [u8]>>, // what `bytes` points to
}

impl<'a> Run<'a> {
    fn len(&self) -> usize {
        self.bytes.len() + self.words.len()
    }

    fn begin(&mut self, index: usize) {
        self.begin = index;
        self.bytes.clear();
        self.words.clear();
        self.owned.clear();
    }

    #[inline]
    fn takes(&self, key: &Raw<'_>) -> bool {
        self.len() == 0 || self.len() < CHUNK && self.layout == layout_of(key)
    }

    #[inline]
    fn push(&mut self, key: Raw<'a>) {
        self.layout = layout_of(&key);
        match key {
            Raw::Bytes(key) => {
                self.bytes
                    .push(sys::petal_key { data: key.as_ptr().cast(), size_bytes: key.len() });
                if let Cow::Owned(_) = key {
                    self.owned.push(key); // moving it leaves its bytes where they are
                }
            }
            Raw::Integer(value) => self.words.push(value as u64),
            Raw::Hash(hash) => self.words.push(hash),
        }
    }

    unsafe fn send(
        &self,
        verb: Verb,
        filter: &Filter,
        answers: Option<&mut [bool]>,
        positive: &mut u64,
    ) -> Result<(), Error> {
        let (layout, begin) = (self.layout, self.begin);
        let answers = answers.map(|answers| &mut answers[begin..begin + self.len()]);
        match self.len() {
            0 => Ok(()),
            _ if layout == sys::PETAL_LAYOUT_POINTERS => unsafe {
                send(verb, filter, layout, &self.bytes, begin, answers, positive)
            },
            _ => unsafe { send(verb, filter, layout, &self.words, begin, answers, positive) },
        }
    }
}

fn layout_of(key: &Raw<'_>) -> u32 {
    match key {
        Raw::Bytes(_) => sys::PETAL_LAYOUT_POINTERS,
        Raw::Integer(_) => sys::PETAL_LAYOUT_I64,
        Raw::Hash(_) => sys::PETAL_LAYOUT_HASHES,
    }
}

/// Passes the keys, which begin at index `begin` of the caller's, to the library.
unsafe fn send<T>(
    verb: Verb,
    filter: &Filter,
    layout: u32,
    keys: &[T],
    begin: usize,
    answers: Option<&mut [bool]>,
    positive: &mut u64,
) -> Result<(), Error> {
    let mut batch: sys::petal_batch = sized!(sys::petal_batch);
    batch.layout = layout;
    batch.data = keys.as_ptr().cast();
    batch.count = keys.len() as u64;
    let mut outcome: sys::petal_batch_outcome = sized!(sys::petal_batch_outcome);
    let handle = filter.handle.as_ptr();
    // The library writes 0 or 1 per key, which are the bytes of a bool.
    let answers = answers.map_or(std::ptr::null_mut(), |answers| answers.as_mut_ptr().cast());
    let done = check(|error| unsafe {
        match verb {
            Verb::Add => sys::petal_add_batch(handle, &batch, answers, &mut outcome, error),
            Verb::Contains => {
                sys::petal_contains_batch(handle, &batch, answers, &mut outcome, error)
            }
            Verb::Remove => sys::petal_remove_batch(handle, &batch, answers, &mut outcome, error),
        }
    });
    *positive += outcome.positive;
    match done {
        Ok(_) => Ok(()),
        Err(error) => Err(match error.offset() {
            Some(index) => error.at_index(begin + index as usize),
            None => error,
        }),
    }
}
