//! Tests that Arrow arrays return the same answers as single keys, and null for nulls.
#![cfg(feature = "arrow")]
mod common;
use arrow_array::types::Int8Type;
use arrow_array::*;
use common::repository;
use petal_bloom::{AnyKey, Filter, KeyType, OpenOptions, Options, Status};
use std::sync::Arc;

/// Tests that an array, without nulls and with every fifth key null, returns the same answers as
/// single keys.
fn agrees<'a>(array: ArrayRef, with_nulls: ArrayRef, key: impl Fn(usize) -> AnyKey<'a>) {
    let what = array.data_type().to_string();
    assert_eq!(with_nulls.data_type(), array.data_type());
    let rows = array.len();
    let mut filter = Filter::new(rows as u64 / 4, 0.01).unwrap();
    let mut single = filter.empty_like().unwrap();
    let new = filter.insert_array(&array.slice(3, rows / 4)).unwrap();
    let counted = (3..3 + rows / 4).filter(|row| single.insert(&key(*row)).unwrap()).count();
    assert_eq!(new, counted as u64, "{what}");
    assert!(counted * 100 >= rows / 4 * 60, "{what}: {counted} are new");
    assert_eq!(filter.content_id().unwrap(), single.content_id().unwrap(), "{what}");
    let expected: Vec<bool> = (0..rows).map(|row| single.contains(&key(row)).unwrap()).collect();
    let answers = filter.contains_array(&array).unwrap();
    assert_eq!(answers, BooleanArray::from(expected.clone()), "{what}");
    let answers = filter.contains_array(&with_nulls).unwrap();
    let is_null = |row: &usize| with_nulls.logical_nulls().is_some_and(|nulls| nulls.is_null(*row));
    assert_eq!((0..rows).filter(is_null).count(), rows / 5, "{what}");
    let expected: BooleanArray =
        (0..rows).map(|row| (!is_null(&row)).then(|| expected[row])).collect();
    assert_eq!(answers, expected, "{what}");
    let part = filter.contains_array(&with_nulls.slice(7, 1000)).unwrap();
    assert_eq!(part, expected.slice(7, 1000), "{what}: a slice");
    let mut counting = Options::new().capacity(rows as u64).rate(1e-6);
    counting = counting.scheme(petal_bloom::Scheme::Counting);
    let mut counting = counting.create().unwrap();
    counting.insert_array(&with_nulls).unwrap();
    assert_eq!(counting.remove_array(&with_nulls).unwrap(), rows as u64 / 5 * 4, "{what}");
    assert_eq!(counting.stats().unwrap().bits_set, 0, "{what}");
}

const ROWS: usize = 4000;

fn is_null(row: usize) -> bool {
    row % 5 == 2
}

macro_rules! numbers {
    ($($array:ident, $kind:ty => $key:ident;)*) => {
        $({
            let value = |row: usize| (row as i64 - 50) as $kind;
            let all: $array = (0..ROWS).map(value).map(Some).collect();
            let some: $array = (0..ROWS).map(|row| (!is_null(row)).then(|| value(row))).collect();
            agrees(Arc::new(all), Arc::new(some), |row| AnyKey::$key(value(row).into()));
        })*
    };
}

#[test]
fn numbers_agree() {
    numbers! {
        Int16Array, i16 => Integer;
        Int32Array, i32 => Integer;
        Int64Array, i64 => Integer;
        UInt16Array, u16 => Integer;
        UInt32Array, u32 => Integer;
        Float32Array, f32 => Real;
        Float64Array, f64 => Real;
    }
    let mut filter = Filter::new(1000, 1e-6).unwrap();
    filter.insert_array(&Int8Array::from(vec![-128, 0, 127])).unwrap();
    filter.insert_array(&UInt8Array::from(vec![255])).unwrap();
    filter.insert_array(&UInt64Array::from(vec![1 << 62])).unwrap();
    filter.insert_array(&Float64Array::from(vec![-0.0, f64::NAN])).unwrap();
    assert!(filter.contains_many(&[-128_i64, 0, 127, 255, 1 << 62]).unwrap().iter().all(|x| *x));
    assert!(filter.contains_many(&[0.0, -f64::NAN]).unwrap().iter().all(|x| *x));
}

#[test]
fn text_and_bytes_agree() {
    let texts: Vec<String> =
        (0..ROWS).map(|row| format!("ключ-{row:0>width$}", width = row % 40)).collect();
    let some = || (0..ROWS).map(|row| (!is_null(row)).then(|| texts[row].as_str()));
    let all = || texts.iter().map(|text| Some(text.as_str()));
    let text = |row: usize| AnyKey::Text(&texts[row]);
    agrees(Arc::new(StringArray::from_iter(all())), Arc::new(StringArray::from_iter(some())), text);
    let large = LargeStringArray::from_iter(some());
    agrees(Arc::new(LargeStringArray::from_iter(all())), Arc::new(large), text);
    let views = StringViewArray::from_iter(some());
    agrees(Arc::new(StringViewArray::from_iter(all())), Arc::new(views), text);
    let bytes = |row: usize| AnyKey::Bytes(texts[row].as_bytes());
    let (all, some) =
        (|| all().map(|x| x.map(str::as_bytes)), || some().map(|x| x.map(str::as_bytes)));
    agrees(
        Arc::new(BinaryArray::from_iter(all())),
        Arc::new(BinaryArray::from_iter(some())),
        bytes,
    );
    let large = LargeBinaryArray::from_iter(some());
    agrees(Arc::new(LargeBinaryArray::from_iter(all())), Arc::new(large), bytes);
    let views = BinaryViewArray::from_iter(some());
    agrees(Arc::new(BinaryViewArray::from_iter(all())), Arc::new(views), bytes);
    let four = |row: usize| &texts[row].as_bytes()[texts[row].len() - 4..];
    let fixed = |nulls: bool| {
        let rows = (0..ROWS).map(|row| (!(nulls && is_null(row))).then(|| four(row)));
        Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(rows, 4).unwrap())
    };
    agrees(fixed(false), fixed(true), |row| AnyKey::Bytes(four(row)));
}

#[test]
fn dictionaries_agree() {
    let words: Vec<String> = (0..100).map(|i| format!("word-{i}")).collect();
    let word = |row: usize| words[row * row % 100].as_str();
    let mut filter = Filter::new(100, 0.01).unwrap();
    filter.insert_many(&words[..50]).unwrap();
    let rows = (0..ROWS).map(|row| (!is_null(row)).then(|| word(row)));
    let array: DictionaryArray<Int8Type> = rows.collect();
    let expected: BooleanArray =
        (0..ROWS).map(|row| (!is_null(row)).then(|| filter.contains(word(row)).unwrap())).collect();
    assert_eq!(filter.contains_array(&array).unwrap(), expected);
    // The dictionary's values may also be null or empty.
    let values = StringArray::from(vec![Some("word-1"), None]);
    let array =
        DictionaryArray::new(Int8Array::from(vec![Some(1), Some(0), None]), Arc::new(values));
    let answers = filter.contains_array(&array).unwrap();
    assert_eq!(answers, BooleanArray::from(vec![None, Some(true), None]));
    let array: DictionaryArray<Int8Type> = [None::<&str>, None].into_iter().collect();
    assert_eq!(filter.contains_array(&array).unwrap().null_count(), 2);
}

#[test]
fn what_is_no_key_is_refused_with_its_row() {
    let mut filter = Filter::new(10_000, 1e-6).unwrap();
    let keys: UInt64Array =
        (0..3000).map(|i| (i % 2 == 0).then_some(if i == 2000 { u64::MAX } else { i })).collect();
    let error = filter.insert_array(&keys).unwrap_err();
    assert_eq!((error.status(), error.index()), (Status::KeyRange, Some(2000)));
    assert_eq!(filter.info().unwrap().items, 1000);
    for array in [
        &BooleanArray::from(vec![true]) as &dyn Array,
        &TimestampSecondArray::from(vec![1]),
        &Date32Array::from(vec![1]),
        &Decimal128Array::from(vec![1]),
        &ListArray::new_null(Arc::new(field()), 1),
    ] {
        let error = filter.contains_array(array).unwrap_err();
        assert_eq!(error.status(), Status::KeyType, "{error}");
        assert!(error.message().contains(&array.data_type().to_string()), "{error}");
    }
    let text = Options::new().capacity(10).rate(0.01).key_type(KeyType::Text).create().unwrap();
    let error = text.contains_array(&Int64Array::from(vec![None, Some(1)])).unwrap_err();
    assert_eq!((error.status(), error.index()), (Status::KeyType, Some(1)));
    assert!(text.contains_array(&Int64Array::from(vec![None::<i64>])).unwrap().is_null(0));
    assert!(text.contains_array(&NullArray::new(2)).unwrap().is_null(1));
    assert!(text.contains_array(&StringArray::from(vec!["a"; 0])).unwrap().is_empty());
    assert!(text.contains_array(&BinaryArray::from(vec![&b"a"[..]])).is_ok());
    let path = repository("vectors/petal/blocked.petal");
    let mut map = OpenOptions::new().open(path).unwrap();
    let keys = StringArray::from(vec!["key-1", "key-99", "key-101"]);
    assert_eq!(map.contains_array(&keys).unwrap(), BooleanArray::from(vec![true, true, false]));
    assert_eq!(map.insert_array(&keys).unwrap_err().status(), Status::ReadOnly);
}

fn field() -> arrow_schema::Field {
    arrow_schema::Field::new("item", arrow_schema::DataType::Int64, true)
}

#[test]
fn empty_keys_are_skipped_and_all_are_counted_where_the_scheme_rejects_them() {
    let mut tried = 0;
    for format in petal_bloom::formats() {
        let Ok(mut filter) = Options::new().capacity(9000).rate(0.01).format(format).create()
        else {
            continue;
        };
        let texts: Vec<String> =
            (0..3000).map(|i| if i % 1000 == 7 { String::new() } else { i.to_string() }).collect();
        let array = StringArray::from(texts);
        let Err(error) = filter.insert_array(&array) else { continue };
        assert_eq!(error.status(), Status::Unsupported, "{format}: {error}");
        assert!(error.message().starts_with("3 empty keys "), "{format}: {error}");
        let answers = filter.contains_array(&array).unwrap();
        assert!((0..3000).all(|i| answers.value(i) == (i % 1000 != 7)), "{format}");
        tried += 1;
    }
    assert!(tried > 0);
}
