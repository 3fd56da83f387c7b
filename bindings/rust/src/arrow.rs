//! Keys from Arrow: arrays from the `arrow-array` crate.
use crate::batch::{array, Tally, Verb, CHUNK};
use crate::error::{Error, Status};
use crate::filter::Filter;
use crate::key::{AnyKey, KeyType};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, Int8Type};
use arrow_array::types::{UInt16Type, UInt32Type, UInt64Type, UInt8Type};
use arrow_array::{Array, BooleanArray, NullArray};
use petal_bloom_sys as sys;

/// Keys from Arrow arrays (feature `arrow`): integers, `Float32`, `Float64`, strings, binary, their
/// views, and dictionaries of these. `Int64`, string and binary arrays without nulls are read in
/// place.
impl Filter {
    /// Adds the keys in an array, and returns the number of new keys. Nulls are not added.
    ///
    /// ```
    /// use arrow_array::StringArray;
    ///
    /// let mut filter = petal_bloom::Filter::new(1000, 0.0001)?;
    /// let keys = StringArray::from(vec![Some("one"), None, Some("two")]);
    /// assert_eq!(filter.insert_array(&keys)?, 2);
    /// # Ok::<(), petal_bloom::Error>(())
    /// ```
    pub fn insert_array(&mut self, keys: &dyn Array) -> Result<u64, Error> {
        // SAFETY: &mut self is exclusive.
        unsafe { column(Verb::Add, self, keys, None) }
    }

    /// Returns, for each key in an array, whether it is probably present. The answer for a null is
    /// null.
    ///
    /// ```
    /// use arrow_array::{BooleanArray, Int32Array};
    ///
    /// let mut filter = petal_bloom::Filter::new(1000, 0.0001)?;
    /// filter.insert(&7)?;
    /// let answers = filter.contains_array(&Int32Array::from(vec![Some(7), None, Some(8)]))?;
    /// assert_eq!(answers, BooleanArray::from(vec![Some(true), None, Some(false)]));
    /// # Ok::<(), petal_bloom::Error>(())
    /// ```
    pub fn contains_array(&self, keys: &dyn Array) -> Result<BooleanArray, Error> {
        let mut answers = vec![false; keys.len()];
        // SAFETY: the function takes a const filter.
        unsafe { column(Verb::Contains, self, keys, Some(&mut answers))? };
        let (values, _) = BooleanArray::from(answers).into_parts();
        Ok(BooleanArray::new(values, keys.logical_nulls()))
    }

    /// Removes the keys in an array, and returns the number of keys that were present; see
    /// [`remove`](Filter::remove). Nulls are skipped.
    pub fn remove_array(&mut self, keys: &dyn Array) -> Result<u64, Error> {
        // SAFETY: &mut self is exclusive.
        unsafe { column(Verb::Remove, self, keys, None) }
    }
}

/// # Safety
/// As for `Verb::one`.
unsafe fn column(
    verb: Verb,
    filter: &Filter,
    rows: &dyn Array,
    mut answers: Option<&mut [bool]>,
) -> Result<u64, Error> {
    let Some(key) = keys(rows) else {
        let message = format!("an Arrow array of type {} holds no keys", rows.data_type());
        return Err(Error::new(Status::KeyType, message));
    };
    let nulls = rows.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    let mut tally = Tally::default();
    if let (None, Some(batch)) = (&nulls, in_place(filter, rows)) {
        unsafe { verb.send(filter, &batch, 0, answers, &mut tally)? };
        return tally.end(verb);
    }
    let is_valid = |row: &usize| nulls.as_ref().map_or(true, |nulls| nulls.is_valid(*row));
    let mut valid = (0..rows.len()).filter(is_valid);
    let (mut places, mut part, mut found) = (vec![], vec![], [false; CHUNK]);
    loop {
        places.clear();
        places.extend(valid.by_ref().take(CHUNK));
        if places.is_empty() {
            return tally.end(verb);
        }
        part.clear();
        part.extend(places.iter().map(|row| key(*row)));
        let found = &mut found[..part.len()];
        unsafe { verb.many(filter, &part, Some(&mut *found), &mut tally) }.map_err(|error| {
            match error.index() {
                Some(index) => error.at_index(places[index]),
                None => error,
            }
        })?;
        if let Some(answers) = answers.as_deref_mut() {
            places.iter().zip(found).for_each(|(row, found)| answers[*row] = *found);
        }
    }
}

/// Returns the key of each row that is not null.
type Keys<'a> = Box<dyn Fn(usize) -> AnyKey<'a> + 'a>;

fn keys(rows: &dyn Array) -> Option<Keys<'_>> {
    macro_rules! numbers {
        ($($kind:ident => $key:ident,)*) => {
            $(if let Some(rows) = rows.as_primitive_opt::<$kind>() {
                let values = rows.values();
                return Some(Box::new(move |row| AnyKey::$key(values[row].into())));
            })*
        };
    }
    macro_rules! bytes {
        ($($rows:expr => $key:ident,)*) => {
            $(if let Some(rows) = $rows {
                return Some(Box::new(move |row| AnyKey::$key(rows.value(row))));
            })*
        };
    }
    numbers! {
        Int64Type => Integer,
        Int32Type => Integer,
        Int16Type => Integer,
        Int8Type => Integer,
        UInt64Type => Integer,
        UInt32Type => Integer,
        UInt16Type => Integer,
        UInt8Type => Integer,
        Float64Type => Real,
        Float32Type => Real,
    }
    bytes! {
        rows.as_string_opt::<i32>() => Text,
        rows.as_string_opt::<i64>() => Text,
        rows.as_string_view_opt() => Text,
        rows.as_binary_opt::<i32>() => Bytes,
        rows.as_binary_opt::<i64>() => Bytes,
        rows.as_binary_view_opt() => Bytes,
        rows.as_fixed_size_binary_opt() => Bytes,
    }
    let no_rows = || -> Option<Keys<'_>> { Some(Box::new(|_| AnyKey::Bytes(&[]))) };
    if rows.as_any().is::<NullArray>() {
        return no_rows();
    }
    let dictionary = rows.as_any_dictionary_opt()?;
    let values = dictionary.values().as_ref();
    if values.as_any_dictionary_opt().is_some() {
        return None;
    }
    let key = keys(values)?;
    if values.is_empty() {
        return no_rows();
    }
    let places = dictionary.normalized_keys();
    Some(Box::new(move |row| key(places[row])))
}

/// Returns the array as a batch if the library can read it in place. The array has no nulls.
fn in_place(filter: &Filter, rows: &dyn Array) -> Option<sys::petal_batch> {
    if let (Some(rows), KeyType::Any | KeyType::I64) =
        (rows.as_primitive_opt::<Int64Type>(), filter.key_type)
    {
        return Some(array(sys::PETAL_LAYOUT_I64, rows.values()));
    }
    if filter.rejects_empty {
        return None;
    }
    macro_rules! offsets {
        ($($rows:expr => $layout:ident,)*) => {
            $(if let Some(rows) = $rows {
                let mut batch = array(sys::$layout, rows.value_data());
                batch.offsets = rows.value_offsets().as_ptr().cast();
                batch.data_bytes = rows.value_data().len() as u64;
                batch.count = rows.len() as u64;
                return Some(batch);
            })*
        };
    }
    if let KeyType::Any | KeyType::Text = filter.key_type {
        offsets! {
            rows.as_string_opt::<i32>() => PETAL_LAYOUT_OFFSETS32,
            rows.as_string_opt::<i64>() => PETAL_LAYOUT_OFFSETS64,
        }
    }
    offsets! {
        rows.as_binary_opt::<i32>() => PETAL_LAYOUT_OFFSETS32,
        rows.as_binary_opt::<i64>() => PETAL_LAYOUT_OFFSETS64,
    }
    None
}
