//! Tests key types, threads, damage and misuse. Misuse and damage must cause an error, and never a
//! panic or a wrong answer.
mod common;
use common::{repository, SECRET};
use petal_bloom::{AnyKey, Filter, Hash, Key, KeyType, Mode, OpenOptions, Options, SaveOptions};
use petal_bloom::{Scheme, SharedFilter, Status};
use std::borrow::Cow;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("petal-rust-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn typed(key_type: KeyType) -> Filter {
    Options::new().capacity(2000).rate(0.01).key_type(key_type).create().unwrap()
}

/// Tests that single calls, a batch and the petal command return the same answers, including false
/// positives.
fn agree<K: Key + Clone>(
    key_type: KeyType,
    name: &str,
    key: impl Fn(i64) -> K,
    text: impl Fn(&K) -> String,
) {
    let keys: Vec<K> = (0..40_000).map(key).collect();
    let mut filter = typed(key_type);
    let added = filter.insert_many(&keys[..2000]).unwrap();
    let mut one_by_one = typed(key_type);
    let new = keys[..2000].iter().filter(|key| one_by_one.insert(*key).unwrap()).count();
    assert_eq!(added, new as u64);
    assert_eq!(filter.content_id().unwrap(), one_by_one.content_id().unwrap());
    let mut extended = typed(key_type);
    extended.extend(keys[..2000].iter().cloned()).unwrap();
    assert_eq!(filter.content_id().unwrap(), extended.content_id().unwrap());
    let answers = filter.contains_many(&keys).unwrap();
    let single: Vec<bool> = keys.iter().map(|key| filter.contains(key).unwrap()).collect();
    assert_eq!(answers, single);
    let passed = answers.iter().filter(|answer| **answer).count();
    assert!(passed > 2050 && passed < 3000, "{passed}");
    let (path, list) = (scratch(&format!("{name}.petal")), scratch(&format!("{name}.txt")));
    filter.save(&path).unwrap();
    let lines: Vec<String> = keys.iter().map(text).collect();
    std::fs::write(&list, lines.join("\n") + "\n").unwrap();
    let tool = Command::new("petal").arg("check").arg(&path).arg(&list).output().unwrap();
    let found: Vec<String> =
        String::from_utf8(tool.stdout).unwrap().lines().map(str::to_owned).collect();
    let expected: Vec<String> = lines
        .into_iter()
        .zip(&answers)
        .filter(|(_, answer)| **answer)
        .map(|(line, _)| line)
        .collect();
    assert!(found == expected, "{name}: the tool finds {}, not {passed}", found.len());
}

#[test]
fn single_calls_batches_and_the_tool_agree_for_text() {
    agree(KeyType::Text, "text", |i| format!("key-{i} é"), |key| key.clone());
}

#[test]
fn single_calls_batches_and_the_tool_agree_for_i64() {
    agree(KeyType::I64, "i64", |i| i * 1_234_567_890_123 - 7, |key| key.to_string());
}

#[test]
fn single_calls_batches_and_the_tool_agree_for_u32() {
    agree(KeyType::I64, "u32", |i| i as u32 * 100_003, |key| key.to_string());
}

#[test]
fn single_calls_batches_and_the_tool_agree_for_i32_keys() {
    agree(KeyType::I32, "i32", |i| i as i32 - 20_000, |key| key.to_string());
}

#[test]
fn single_calls_batches_and_the_tool_agree_for_f64() {
    agree(KeyType::F64, "f64", |i| i as f64 / 8.0 - 2000.0, |key| format!("{key}"));
}

#[test]
fn single_calls_batches_and_the_tool_agree_for_utf16() {
    agree(KeyType::Utf16, "utf16", |i| format!("k{i}-🙂"), |key| key.clone());
}

#[test]
fn single_calls_batches_and_the_tool_agree_for_bytes() {
    let hex = |key: &Vec<u8>| key.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    agree(KeyType::Hex, "hex", |i| (i * 7919).to_be_bytes()[3..].to_vec(), hex);
}

#[test]
fn every_type_of_text_and_number_is_the_same_key() {
    let mut filter = Filter::new(100, 1e-9).unwrap();
    filter.insert("café").unwrap();
    filter.insert(&5_i64).unwrap();
    filter.insert(&1.5_f64).unwrap();
    for found in [
        filter.contains(&String::from("café")),
        filter.contains(&Cow::Borrowed("café")),
        filter.contains("café".as_bytes()),
        filter.contains(&"café".as_bytes().to_vec()),
        filter.contains(&&"café"),
        filter.contains(&AnyKey::Text("café")),
        filter.contains(&5_i8),
        filter.contains(&5_i16),
        filter.contains(&5_i32),
        filter.contains(&5_isize),
        filter.contains(&5_u8),
        filter.contains(&5_u16),
        filter.contains(&5_u32),
        filter.contains(&5_u64),
        filter.contains(&5_usize),
        filter.contains(&[5, 0, 0, 0, 0, 0, 0, 0_u8]),
        filter.contains(&1.5_f32),
        filter.contains(&filter.hash("café").unwrap()),
        filter.contains(&filter.hash(&5).unwrap()),
    ] {
        assert!(found.unwrap());
    }
    assert!(!filter.contains(&5.0).unwrap());
    assert!(!filter.contains("5").unwrap());
    let mixed = [AnyKey::Text("café"), AnyKey::Integer(5), AnyKey::Real(1.5), AnyKey::Integer(6)];
    assert_eq!(filter.contains_many(&mixed).unwrap(), [true, true, true, false]);
}

#[test]
fn batches_whose_keys_change_their_type_answer_as_single_calls_do() {
    let texts: Vec<String> = (0..6000).map(|i| format!("text-{i}")).collect();
    let key = |i: usize| match if i % 2000 < 1200 { i / 2000 } else { i * i % 5 } {
        0 => AnyKey::Text(&texts[i]),
        1 => AnyKey::Integer(i as i128),
        2 => AnyKey::Hash((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        3 => AnyKey::Bytes(&texts[i].as_bytes()[..i % 5]),
        _ => AnyKey::Real(i as f64),
    };
    let keys: Vec<AnyKey<'_>> = (0..6000).map(key).collect();
    let mut filter = Filter::new(3000, 0.05).unwrap();
    let mut one_by_one = filter.empty_like().unwrap();
    let new = filter.insert_many(&keys[..3000]).unwrap();
    let counted = keys[..3000].iter().filter(|key| one_by_one.insert(*key).unwrap()).count();
    assert_eq!(new, counted as u64);
    assert_eq!(filter.content_id().unwrap(), one_by_one.content_id().unwrap());
    let single: Vec<bool> = keys.iter().map(|key| filter.contains(key).unwrap()).collect();
    assert_eq!(filter.contains_many(&keys).unwrap(), single);
    assert!(single[..3000].iter().all(|answer| *answer) && single.contains(&false));
}

#[test]
fn batches_of_long_keys_whose_bytes_are_made_answer_as_single_calls_do() {
    let keys: Vec<String> =
        (0..1500).map(|i| format!("{i}-{}", "🙂é".repeat(i % 97 * i % 89))).collect();
    let mut filter = typed(KeyType::Utf16);
    assert!(filter.insert_many(&keys[..700]).unwrap() > 690);
    let single: Vec<bool> = keys.iter().map(|key| filter.contains(key).unwrap()).collect();
    assert_eq!(filter.contains_many(&keys).unwrap(), single);
    let utf16 = |key: &String| key.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let bytes: Vec<Vec<u8>> = keys.iter().map(utf16).collect();
    assert_eq!(filter.contains_many(&bytes).unwrap(), single);
}

#[test]
fn a_key_of_another_type_is_an_error() {
    for (key_type, text, integer, real) in [
        (KeyType::Text, true, false, false),
        (KeyType::Utf16, true, false, false),
        (KeyType::I32, false, true, false),
        (KeyType::I64, false, true, false),
        (KeyType::F64, false, false, true),
        (KeyType::Hex, false, false, false),
        (KeyType::Any, true, true, true),
    ] {
        let mut filter = typed(key_type);
        assert_eq!(filter.insert("a").is_ok(), text, "{key_type:?}");
        assert_eq!(filter.contains(&1).is_ok(), integer, "{key_type:?}");
        assert_eq!(filter.contains_many(&[1.0]).is_ok(), real, "{key_type:?}");
        assert!(filter.contains(b"a").is_ok());
        if !text {
            assert_eq!(filter.insert("a").unwrap_err().status(), Status::KeyType);
        }
    }
    assert!(Options::new().capacity(9).rate(0.1).key_type(KeyType::Other).create().is_err());
}

#[test]
fn a_refused_key_in_a_batch_has_its_index_and_the_keys_before_it_are_in() {
    let mut filter = Filter::new(10_000, 1e-9).unwrap();
    let mut keys: Vec<u64> = (0..5000).collect();
    keys[3000] = 1 << 63;
    let error = filter.insert_many(&keys).unwrap_err();
    assert_eq!((error.status(), error.index()), (Status::KeyRange, Some(3000)));
    let error = filter.extend(keys.iter().skip(1)).unwrap_err();
    assert_eq!(error.index(), Some(2999));
    keys[3000] = 3000;
    let answers = filter.contains_many(&keys).unwrap();
    assert!(answers[..3000].iter().all(|answer| *answer) && !answers[3000..].contains(&true));
    let narrow = typed(KeyType::I32);
    assert_eq!(narrow.contains(&(1_i64 << 31)).unwrap_err().status(), Status::KeyRange);
    assert_eq!(narrow.contains(&i128_key()).unwrap_err().status(), Status::KeyRange);
    let mut narrow = typed(KeyType::I32);
    let mut keys: Vec<i64> = (0..1000).collect();
    keys[700] = 1 << 40;
    let error = narrow.insert_many(&keys).unwrap_err();
    assert_eq!((error.status(), error.index()), (Status::KeyRange, Some(700)));
    assert!(narrow.contains_many(&keys[..700]).unwrap().iter().all(|answer| *answer));
    assert_eq!(narrow.info().unwrap().items, 700);
    let full = Options::new().capacity(10).rate(0.01).refuse_overfull();
    let error = full.create().unwrap().insert_many(&(0..10_000).collect::<Vec<i64>>()).unwrap_err();
    assert_eq!(error.status(), Status::Full);
    assert!(error.index().is_some_and(|index| index > 10));
}

fn i128_key() -> AnyKey<'static> {
    AnyKey::Integer(i128::MAX)
}

#[test]
fn answers_of_another_length_are_refused() {
    let filter = Filter::new(10, 0.01).unwrap();
    let mut answers = [false; 2];
    let error = filter.contains_into(&["a"], &mut answers).unwrap_err();
    assert_eq!(error.status(), Status::Argument);
    assert!(filter.contains_many::<&str>(&[]).unwrap().is_empty());
}

#[test]
fn the_empty_key_is_skipped_counted_and_reported_where_the_scheme_rejects_it() {
    let (mut rejecting, mut taking) = (0, 0);
    for format in petal_bloom::formats() {
        let Ok(mut filter) = Options::new().capacity(100).rate(0.01).format(format).create() else {
            continue;
        };
        let done = filter.insert_many(&["a", "", "b"]);
        assert!(filter.contains("a").unwrap() && filter.contains("b").unwrap(), "{format}");
        match done {
            Ok(new) => {
                taking += 1;
                assert!(new == 3 && filter.contains("").unwrap(), "{format}");
            }
            Err(error) => {
                rejecting += 1;
                assert_eq!(error.status(), Status::Unsupported, "{format}: {error}");
                assert_eq!(filter.contains_many(&["", "b"]).unwrap(), [false, true], "{format}");
                assert_eq!(
                    filter.insert("").unwrap_err().status(),
                    Status::Unsupported,
                    "{format}"
                );
                assert!(!filter.contains("").unwrap(), "{format}");
                let keys = (0..5000).map(|i| if i % 2000 == 3 { "".into() } else { i.to_string() });
                let error = filter.extend(keys).unwrap_err();
                assert!(error.message().starts_with("3 empty keys "), "{format}: {error}");
                assert!(filter.contains("4999").unwrap(), "{format}");
            }
        }
    }
    println!("counted: Rust: {taking} formats take the empty key, {rejecting} do not");
    assert!(taking > 5 && rejecting > 0);
}

#[test]
fn a_damaged_block_is_an_error_and_never_a_wrong_answer() {
    let mut filter = Options::new().capacity(200_000).rate(0.01).create().unwrap();
    let keys: Vec<i64> = (0..200_000).collect();
    filter.insert_many(&keys).unwrap();
    let path = scratch("damaged.petal");
    let mut bytes = filter.to_bytes().unwrap();
    let at = bytes.len() - 100;
    bytes[at..].fill(0);
    std::fs::write(&path, &bytes).unwrap();
    let map = Filter::open(&path).unwrap();
    let view = OpenOptions::new().view(bytes.clone()).unwrap();
    for filter in [&map, &view] {
        let error = filter.contains_many(&keys).unwrap_err();
        assert_eq!(error.status(), Status::Damaged);
        let first = error.index().unwrap();
        assert!(keys[..first].iter().all(|key| filter.contains(key).unwrap()));
        let error = filter.contains(&keys[first]).unwrap_err();
        assert_eq!((error.status(), error.index()), (Status::Damaged, None));
        assert_eq!(filter.verify().unwrap_err().status(), Status::Damaged);
    }
    let trusting = OpenOptions::new().no_verify().open(&path).unwrap();
    assert!(trusting.contains_many(&keys).unwrap().contains(&false));
    assert_eq!(Filter::from_bytes(&bytes).unwrap_err().status(), Status::Damaged);
}

#[test]
fn hostile_bytes_are_refused() {
    let whole = std::fs::read(repository("vectors/petal/blocked.petal")).unwrap();
    for size in 0..whole.len() {
        assert!(OpenOptions::new().format("petal").from_bytes(&whole[..size]).is_err(), "{size}");
    }
    let mut refused = 0;
    for bit in 0..8 * whole.len() {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        refused += usize::from(OpenOptions::new().format("petal").from_bytes(&flipped).is_err());
    }
    assert_eq!(refused, 8 * whole.len());
    assert!(Filter::from_bytes(b"").is_err());
    assert!(OpenOptions::new().format("nothing").from_bytes(&whole).is_err());
    assert!(OpenOptions::new().format("a\0b").from_bytes(&whole).is_err());
    let path = repository("vectors/petal/blocked.petal");
    assert_eq!(OpenOptions::new().max_bytes(9).open(path).unwrap_err().status(), Status::Limit);
}

#[test]
fn files_say_what_is_wrong() {
    let path = scratch("saved.petal");
    let mut filter = Filter::new(1000, 0.01).unwrap();
    filter.insert("a").unwrap();
    filter.save(&path).unwrap();
    let again = filter.save_with(&path, &SaveOptions::new().no_replace()).unwrap_err();
    assert_eq!((again.status(), again.path()), (Status::Exists, Some(path.as_path())));
    assert_eq!(filter.save("a\0b").unwrap_err().status(), Status::Argument);
    assert_eq!(Filter::open("a\0b").unwrap_err().status(), Status::Argument);
    assert_eq!(filter.save("/no/such/folder/a").unwrap_err().errno(), Some(2));
    assert!(filter.save_with(&path, &SaveOptions::new().format("guava")).is_err());
    let mut map = Filter::open(&path).unwrap();
    assert_eq!(map.insert("b").unwrap_err().status(), Status::ReadOnly);
    drop(map);
    let mut writable = OpenOptions::new().mode(Mode::Writable).open(&path).unwrap();
    assert!(writable.insert("b").unwrap());
    let busy = OpenOptions::new().mode(Mode::Writable).open(&path).unwrap_err();
    assert_eq!(busy.status(), Status::Busy);
    writable.sync().unwrap();
    drop(writable);
    assert!(Filter::open(&path).unwrap().contains("b").unwrap());
}

#[test]
fn secrets_are_checked_and_never_shown() {
    let options = Options::new().capacity(100).rate(0.01).secret(SECRET);
    let mut filter = options.create().unwrap();
    filter.insert("a").unwrap();
    let bytes = filter.to_bytes().unwrap();
    let status = |options: OpenOptions| options.from_bytes(&bytes).unwrap_err().status();
    assert_eq!(status(OpenOptions::new()), Status::SecretMissing);
    assert_eq!(status(OpenOptions::new().secret([7; 16])), Status::SecretWrong);
    assert!(OpenOptions::new().secret(SECRET).from_bytes(&bytes).unwrap().contains("a").unwrap());
    assert!(!format!("{options:?}").contains("15"));
    assert!(!format!("{:?}", OpenOptions::new().secret(SECRET)).contains("15"));
}

#[test]
fn filters_that_differ_are_not_merged() {
    let mut a = Filter::new(100, 0.01).unwrap();
    let b = Filter::new(100_000, 0.01).unwrap();
    assert_eq!(a.merge(&b).unwrap_err().status(), Status::Mismatch);
    assert_eq!(a.intersect(&b).unwrap_err().status(), Status::Mismatch);
    assert_eq!(a.compare(&b).unwrap_err().status(), Status::Mismatch);
    assert_eq!(a.remove("a").unwrap_err().status(), Status::Unsupported);
    let mut c = a.empty_like().unwrap();
    a.insert_many(&["x", "y"]).unwrap();
    c.insert_many(&["y", "z"]).unwrap();
    let both = a.compare(&c).unwrap();
    assert!(
        (both.intersection.value - 1.0).abs() < 0.5 && (both.union_items.value - 3.0).abs() < 0.5
    );
    let mut union = a.try_clone().unwrap();
    union.merge(&c).unwrap();
    a.intersect(&c).unwrap();
    assert_eq!(union.contains_many(&["x", "y", "z"]).unwrap(), [true; 3]);
    assert!(a.contains("y").unwrap());
    a.clear().unwrap();
    assert!(!a.contains("y").unwrap());
    a.set_metadata(b"mine").unwrap();
    assert_eq!(a.metadata(), b"mine");
    assert_eq!(a.set_metadata(&[0; 70_000]).unwrap_err().status(), Status::Limit);
}

#[test]
fn static_filters_are_filled_and_frozen() {
    let mut filter = Options::new().rate(0.01).scheme(Scheme::Static).create().unwrap();
    filter.extend(0..10_000).unwrap();
    assert!(filter.to_bytes().is_err());
    filter.freeze().unwrap();
    let again = Filter::from_bytes(&filter.to_bytes().unwrap()).unwrap();
    let passed = again.contains_many(&(0..110_000).collect::<Vec<i64>>()).unwrap();
    assert!(passed[..10_000].iter().all(|answer| *answer));
    let wrong = passed[10_000..].iter().filter(|answer| **answer).count();
    // 1,000 are expected, and the limits are 9 standard deviations away.
    assert!(wrong > 700 && wrong < 1300, "{wrong} of 100,000");
}

#[test]
fn a_filter_is_send_and_sync_and_threads_may_query_it() {
    fn both<T: Send + Sync>() {}
    both::<Filter>();
    both::<SharedFilter>();
    both::<Options>();
    both::<petal_bloom::Error>();
    let mut filter = Filter::new(10_000, 0.01).unwrap();
    filter.extend(0..10_000).unwrap();
    let filter = Arc::new(filter);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let filter = filter.clone();
            std::thread::spawn(move || (0..10_000).all(|key| filter.contains(&key).unwrap()))
        })
        .collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
}

#[test]
fn threads_that_add_make_the_filter_of_one_thread() {
    let mut alone = Filter::new(40_000, 0.01).unwrap();
    alone.extend(0..40_000).unwrap();
    let shared = alone.empty_like().unwrap().share().unwrap();
    std::thread::scope(|scope| {
        for begin in (0..40_000_i64).step_by(10_000) {
            let shared = &shared;
            scope.spawn(move || {
                let keys: Vec<i64> = (begin..begin + 10_000).collect();
                shared.insert_many(&keys[..5000]).unwrap();
                for key in &keys[5000..] {
                    shared.insert(key).unwrap();
                    assert!(shared.contains(key).unwrap());
                }
            });
        }
    });
    assert_eq!(shared.into_inner().content_id().unwrap(), alone.content_id().unwrap());
    let growing = Options::new().capacity(10).rate(0.01).growth().create().unwrap();
    assert_eq!(growing.share().unwrap_err().status(), Status::Unsupported);
}

#[test]
fn a_view_keeps_its_owner_until_it_is_dropped() {
    let bytes: Arc<[u8]> = std::fs::read(repository("vectors/petal/blocked.petal")).unwrap().into();
    let view = OpenOptions::new().view(bytes.clone()).unwrap();
    assert_eq!(Arc::strong_count(&bytes), 2);
    assert!(view.contains("key-1").unwrap());
    drop(view);
    assert_eq!(Arc::strong_count(&bytes), 1);
    let broken: Arc<[u8]> = bytes[..100].into();
    assert!(OpenOptions::new().format("petal").view(broken.clone()).is_err());
    assert_eq!(Arc::strong_count(&broken), 1);
}

#[test]
fn hashes_stand_for_keys() {
    let mut filter = Filter::new(100, 0.01).unwrap();
    let hash = filter.hash("a").unwrap();
    assert!(filter.insert(&hash).unwrap());
    assert!(filter.contains("a").unwrap());
    assert_eq!(filter.contains_many(&[hash, Hash(!hash.0)]).unwrap(), [true, false]);
}

#[cfg(feature = "serde")]
#[test]
fn serde_carries_a_filter_and_never_a_secret() {
    let mut filter = Filter::new(100, 0.01).unwrap();
    filter.insert("a").unwrap();
    let text = serde_json::to_string(&filter).unwrap();
    let again: Filter = serde_json::from_str(&text).unwrap();
    assert_eq!(again.to_bytes().unwrap(), filter.to_bytes().unwrap());
    let keyed = Options::new().capacity(100).rate(0.01).secret(SECRET).create().unwrap();
    assert!(serde_json::to_string(&keyed).unwrap_err().to_string().contains("secret"));
    for broken in ["[1, 2]", "\"a\"", "[300]", "{}"] {
        assert!(serde_json::from_str::<Filter>(broken).is_err(), "{broken}");
    }
}
