//! Runs the test vectors that every binding must pass: other libraries' files, Petal's golden files
//! and patches, files that must be rejected, hashes, shards, and the table of cases.
mod common;
use common::{number, repository, rows, unhex, SECRET};
use petal_bloom::{Filter, Hash, Key, KeyType, Mode, OpenOptions, Options, SaveOptions, Scheme};
use std::fs;
use std::path::{Path, PathBuf};

fn image(filter: &Filter) -> Vec<u8> {
    filter.to_bytes().unwrap()
}

// ---- files of other libraries (the language is that of tests/formats/vectors.c) ----

struct Vector {
    format: String,
    path: PathBuf,
    bytes: Vec<u8>,
    read: Filter,
    made: Option<Filter>,
    packed: bool,
    keys: Vec<Vec<u8>>,
    expected: Vec<bool>,
}

#[derive(Default)]
struct Counts {
    files: usize,
    answers: usize,
    rebuilt: usize,
    typed: usize,
}

impl Vector {
    fn open(format: &str, path: PathBuf) -> Vector {
        let bytes = fs::read(&path).unwrap();
        let read = OpenOptions::new().format(format).from_bytes(&bytes);
        let read = read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (made, packed, keys, expected) = (None, false, vec![], vec![]);
        Vector { format: format.to_owned(), path, bytes, read, made, packed, keys, expected }
    }

    fn key(&mut self, verb: &str, key: Vec<u8>, counts: &mut Counts) {
        if verb == "add" {
            if let Some(made) = &mut self.made {
                made.insert(&key).unwrap();
            }
            return;
        }
        let expected = verb == "in";
        assert_eq!(self.read.contains(&key).unwrap(), expected, "{:?}: {key:x?}", self.path);
        self.typed(&key, expected, counts);
        self.keys.push(key);
        self.expected.push(expected);
    }

    /// Queries the same bytes as a key of every type that can represent them.
    fn typed(&self, key: &[u8], expected: bool, counts: &mut Counts) {
        fn ask<K: Key>(filter: &Filter, key: &K) -> [bool; 2] {
            let many = filter.contains_many(std::slice::from_ref(key)).unwrap();
            [filter.contains(key).unwrap(), many[0]]
        }
        let of = |keys| {
            let options = OpenOptions::new().format(&self.format).key_type(keys);
            options.from_bytes(&self.bytes).unwrap()
        };
        let mut answers = vec![];
        if self.bytes.len() > 20_000 {
            return; // The file is opened once per key and type.
        }
        if let Ok(text) = std::str::from_utf8(key) {
            answers.push(ask(&of(KeyType::Text), &text));
        }
        let units: Vec<u16> =
            key.chunks(2).map(|b| u16::from_le_bytes([b[0], *b.get(1).unwrap_or(&0)])).collect();
        if let (0, Ok(text)) = (key.len() % 2, String::from_utf16(&units)) {
            answers.push(ask(&of(KeyType::Utf16), &text));
        }
        if let Ok(four) = <[u8; 4]>::try_from(key) {
            answers.push(ask(&of(KeyType::I32), &i32::from_le_bytes(four)));
        }
        if let Ok(eight) = <[u8; 8]>::try_from(key) {
            answers.push(ask(&of(KeyType::I64), &i64::from_le_bytes(eight)));
            let real = f64::from_le_bytes(eight);
            if !real.is_nan() && real.to_bits() != 1 << 63 {
                answers.push(ask(&of(KeyType::F64), &real));
            }
        }
        for answer in answers {
            assert_eq!(answer, [expected; 2], "{:?}: {key:x?}", self.path);
            counts.typed += 2;
        }
    }

    fn expect_same(&self, filter: &Filter) {
        let made = filter.to_bytes_with(&SaveOptions::new().format(&self.format)).unwrap();
        if self.packed {
            let again = OpenOptions::new().format(&self.format).from_bytes(&made).unwrap();
            assert_eq!(image(&again), image(&self.read), "{:?}: other bits", self.path);
        } else {
            assert!(made == self.bytes, "{:?}: other bytes", self.path);
        }
    }

    fn end(self, counts: &mut Counts) {
        assert_eq!(self.read.contains_many(&self.keys).unwrap(), self.expected, "{:?}", self.path);
        self.expect_same(&self.read);
        let carried = OpenOptions::new().format("petal").from_bytes(&image(&self.read)).unwrap();
        self.expect_same(&carried);
        for size in (0..self.bytes.len()).step_by(self.bytes.len() / 50 + 1) {
            match OpenOptions::new().format(&self.format).from_bytes(&self.bytes[..size]) {
                Ok(cut) => drop(cut.contains(b"a").unwrap()),
                Err(error) => assert!(!error.message().is_empty()),
            }
        }
        counts.files += 1;
        counts.answers += self.keys.len();
    }
}

fn run_script(script: &Path, known: &[&str], counts: &mut Counts) {
    let (mut format, mut at) = (String::new(), None::<Vector>);
    for words in rows(script) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match (words[0], &mut at) {
            ("format", _) => format = words[1].to_owned(),
            ("file", last) => {
                if let Some(last) = last.take() {
                    last.end(counts);
                }
                if known.contains(&format.as_str()) {
                    at = Some(Vector::open(&format, script.with_file_name(words[1])));
                }
            }
            ("loose", _) | (_, None) => {}
            ("plan", Some(at)) => {
                let made =
                    Options::new().capacity(number(words[1])).rate(words[2].parse().unwrap());
                at.made = Some(made.format(&at.format).create().unwrap());
            }
            ("size", Some(at)) => {
                let mut made =
                    Options::new().bits(number(words[1])).hashes(number(words[2]) as u32);
                if words.len() > 3 {
                    made = made.seed(number(words[3]));
                }
                at.made = Some(made.format(&at.format).create().unwrap());
            }
            ("rebuild", Some(at)) => {
                at.expect_same(at.made.as_ref().unwrap());
                counts.rebuilt += 1;
            }
            ("packed", Some(at)) => at.packed = true,
            (verb @ ("add" | "in" | "out"), Some(at)) => at.key(verb, unhex(words[1]), counts),
            (verb @ ("adds" | "ins" | "outs"), Some(at)) => {
                let text = if words[1] == "-" { "" } else { words[1] };
                for i in number(words[2])..=number(words[3]) {
                    let verb = verb.trim_end_matches('s');
                    at.key(verb, format!("{text}{i}").into_bytes(), counts);
                }
            }
            (verb, _) => panic!("{}: {verb}", script.display()),
        }
    }
    if let Some(last) = at {
        last.end(counts);
    }
}

#[test]
fn files_of_other_libraries_answer_and_are_rebuilt_and_carried() {
    let known: Vec<&str> = petal_bloom::formats().collect();
    assert!(!known.contains(&"dcso-gzip"), "docs/rust.md says that this build has no gzip");
    let mut counts = Counts::default();
    for folder in fs::read_dir(repository("vectors")).unwrap() {
        let script = folder.unwrap().path().join("vectors.txt");
        if script.exists() {
            run_script(&script, &known, &mut counts);
        }
    }
    let Counts { files, answers, rebuilt, typed } = counts;
    println!("counted: Rust: {answers} keys of {files} files asked as bytes, {typed} as text and numbers too");
    assert!(files >= 190 && answers >= 20_000 && rebuilt >= 140, "{files} {answers} {rebuilt}");
    assert!(typed >= 30_000, "{typed}");
}

// ---- petal's own ----

fn texts(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|i| format!("key-{i}")).collect()
}

fn integers(filter: &mut Filter, count: i64) {
    filter.insert_many(&(0..count).collect::<Vec<i64>>()).unwrap();
}

fn day(i: u64) -> u64 {
    ((19723 + i) * 86400 + 43200) * 1000
}

/// Returns the filter that vectors/README.md describes under this name.
fn recipe(name: &str) -> Filter {
    let classic = || Options::new().scheme(Scheme::Classic);
    let counting = || Options::new().scheme(Scheme::Counting);
    let planned = |options: Options| options.capacity(100).rate(0.01);
    let exactly = |options: Options, bits, hashes| options.bits(bits).hashes(hashes);
    let one = || Options::new().lines_per_key(1);
    let two = || Options::new().lines_per_key(2);
    let growing = || Options::new().capacity(10).rate(0.01).growth();
    let options = match name {
        "textbook" => exactly(classic().seed(197072), 11, 2),
        "one-bit" => exactly(classic(), 1, 1),
        "empty-blocked" => exactly(one(), 512, 7),
        "empty-classic" => exactly(classic(), 513, 64),
        "blocked" => exactly(one(), 1536, 8),
        "blocked-two-lines" => exactly(two(), 2048, 9),
        "blocked-k16" => exactly(one().seed(u64::MAX), 5120, 16),
        "blocked-k32" => exactly(two(), 5120, 32),
        "blocked-planned" => planned(Options::new()),
        "blocked-planned-low" => Options::new().capacity(100).rate(1e-6),
        "classic" => exactly(classic().seed(42), 1009, 5),
        "classic-planned" => planned(classic()),
        "classic-keyed" => exactly(classic().secret(SECRET), 1009, 7),
        "blocked-keyed" => exactly(one().secret(SECRET), 1024, 6),
        "typed-keys" => exactly(one(), 1024, 5),
        "metadata" => exactly(classic().seed(7).capacity(10).rate(0.5), 100, 3)
            .metadata(b"{\"made\": \"for a test\"}\x00\xff\x00"),
        "saturated" => exactly(classic(), 100, 4),
        "two-blocks" => exactly(classic(), 524387, 3),
        "growing" | "growing-empty" => growing(),
        "growing-by-3" => {
            classic().capacity(5).rate(0.1).seed(7).growth().growth_step(3, 0.5).metadata(b"three")
        }
        "rotating-keys" => Options::new().rate(0.01).window(60),
        "rotating-time" => {
            let week = 7 * 86_400_000;
            classic().secret(SECRET).rate(0.01).window(70).window_ms(week).generations(8)
        }
        "rotating-burst" => {
            Options::new().rate(0.01).window(60).window_ms(86_400_000).generations(4)
        }
        "empty-counting" => exactly(counting(), 129, 64),
        "textbook-counting" => exactly(counting().seed(197072), 11, 2),
        "counting" => exactly(counting().seed(42), 1009, 5),
        "counting-planned" => planned(counting()),
        "counting-keyed" => exactly(counting().secret(SECRET), 1009, 7),
        "counting-two-blocks" => exactly(counting(), 131171, 3),
        _ => panic!("no recipe for {name}"),
    };
    let mut filter = options.create().unwrap();
    match name {
        "textbook" | "one-bit" | "metadata" | "textbook-counting" => {
            filter.insert_many(&["a", "b"]).unwrap();
        }
        "blocked-k16" | "blocked-k32" => integers(&mut filter, 100),
        "saturated" => integers(&mut filter, 1000),
        "two-blocks" | "counting-two-blocks" => integers(&mut filter, 2000),
        "typed-keys" => {
            let bytes: [&[u8]; 4] = [b"", b"\0", "café".as_bytes(), b"\xff\xfe"];
            filter.insert_many(&bytes).unwrap();
            filter.insert_many(&[-1, 1]).unwrap();
            filter.insert_many(&[-0.0, 1.5, f64::NAN]).unwrap();
        }
        "rotating-time" => {
            for i in 0..100 {
                filter.set_clock(day(i)).unwrap();
                filter.insert(&format!("key-{i}")).unwrap();
            }
        }
        "counting" => {
            filter.insert_many(&texts(0..100)).unwrap();
            filter.insert_many(&texts(0..10)).unwrap();
            filter.extend(vec!["key-95"; 20]).unwrap();
            assert_eq!(filter.remove_many(&texts(0..50)).unwrap(), 50);
            assert!(filter.remove("key-95").unwrap());
        }
        _ if name.contains("empty") => {}
        _ => {
            if name == "rotating-burst" {
                filter.set_clock(19723 * 86_400_000).unwrap();
            }
            filter.insert_many(&texts(0..100)).unwrap();
        }
    }
    filter
}

fn golden(extension: &str) -> Vec<(String, PathBuf)> {
    let files = fs::read_dir(repository("vectors/petal")).unwrap().map(|file| file.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .collect()
}

fn options_for(name: &str) -> OpenOptions {
    if name.contains("keyed") || name == "rotating-time" {
        return OpenOptions::new().secret(SECRET);
    }
    OpenOptions::new()
}

#[test]
fn golden_files_are_made_byte_for_byte_and_read_in_each_mode() {
    let files = golden("petal");
    assert!(files.len() >= 30, "{}", files.len());
    for (name, path) in files {
        let made = recipe(&name);
        let bytes = fs::read(&path).unwrap();
        assert!(image(&made) == bytes, "{name}: other bytes");
        let options = options_for(&name).verify();
        let mapped = options.open(&path).unwrap();
        let loaded = options.clone().mode(Mode::Load).open(&path).unwrap();
        let viewed = options_for(&name).view(bytes.clone()).unwrap();
        for read in [mapped, loaded, viewed] {
            assert!(image(&read) == bytes, "{name}: reads otherwise");
            assert_eq!(read.content_id().unwrap(), made.content_id().unwrap(), "{name}");
            assert_eq!(read.info().unwrap().items, made.info().unwrap().items, "{name}");
            assert_eq!(read.metadata(), made.metadata(), "{name}");
        }
    }
}

#[test]
fn golden_patches_are_applied_and_made_byte_for_byte() {
    let patches = golden("patch");
    assert!(patches.len() >= 10, "{}", patches.len());
    for (name, path) in patches {
        let patch = fs::read(&path).unwrap();
        let options = options_for(&name).mode(Mode::Load);
        let mut older = options.open(path.with_extension("petal")).unwrap();
        let mut newer = older.try_clone().unwrap();
        newer.apply_patch(&patch).unwrap();
        assert!(newer.patch(&older).unwrap() == patch, "{name}: another patch");
        let before = image(&older);
        for broken in [&b""[..], &patch[..patch.len() - 1], &before] {
            assert!(older.apply_patch(broken).is_err(), "{name}: a broken patch is taken");
        }
        assert!(image(&older) == before, "{name}: a failure changed the filter");
    }
}

#[test]
fn a_golden_file_answers_as_ever() {
    let filter = Filter::open(repository("vectors/petal/blocked.petal")).unwrap();
    for i in 0..1000 {
        let found = filter.contains(&format!("key-{i}")).unwrap();
        assert_eq!(found, i < 100 || i == 980, "key-{i}");
    }
    assert_eq!(filter.stats().unwrap().bits_set, 629);
    assert_eq!(filter.content_id().unwrap(), 0x14F5876858484957);
}

#[test]
fn rejected_files_are_refused_by_the_name_of_the_error() {
    let refused = rows(&repository("vectors/reject/expected.txt"));
    assert!(refused.len() >= 50, "{}", refused.len());
    for words in refused {
        let path = repository("vectors/reject").join(format!("{}.petal", words[0]));
        let options = OpenOptions::new().format("petal").verify();
        let error = options.open(&path).unwrap_err();
        assert_eq!(error.status().to_string(), words[1..].join(" "), "{}", path.display());
        assert_eq!(error.path(), Some(path.as_path()));
        assert!(!error.message().is_empty() && !error.to_string().contains('\n'));
        let bytes = fs::read(&path).unwrap();
        assert!(options.from_bytes(&bytes).is_err(), "{} is read from memory", path.display());
        assert!(options.view(bytes).is_err(), "{} is viewed", path.display());
    }
}

#[test]
fn hashes_are_those_of_the_vectors() {
    let mut x = 2654435761_u64;
    let data: Vec<u8> = (0..4096)
        .map(|_| {
            let byte = (x >> 56) as u8;
            x = x.wrapping_mul(11400714785074694797);
            byte
        })
        .collect();
    let mut checked = 0;
    for words in rows(&repository("vectors/hashes/xxh3.txt")) {
        let seed = u64::from_str_radix(&words[1], 16).unwrap();
        let filter = Options::new().capacity(10).rate(0.01).seed(seed).create().unwrap();
        let hash = filter.hash(&data[..number(&words[0]) as usize]).unwrap();
        assert_eq!(hash, Hash(u64::from_str_radix(&words[2], 16).unwrap()), "{words:?}");
        checked += 1;
    }
    let keyed = Options::new().capacity(10).rate(0.01).secret(SECRET).create().unwrap();
    let data: Vec<u8> = (0..=255).collect();
    for words in rows(&repository("vectors/hashes/siphash-2-4.txt")) {
        let hash = keyed.hash(&data[..number(&words[0]) as usize]).unwrap();
        let expected = u64::from_le_bytes(unhex(&words[1]).try_into().unwrap());
        assert_eq!(hash, Hash(expected), "{words:?}");
        checked += 1;
    }
    assert!(checked >= 90, "{checked}");
}

#[test]
fn numbers_have_the_key_bytes_of_the_vectors() {
    let checked = rows(&repository("vectors/hashes/typed-keys.txt"));
    assert!(checked.len() >= 30, "{}", checked.len());
    for words in checked {
        let mut typed = Filter::new(100, 1e-9).unwrap();
        if words[0] == "i64" {
            typed.insert(&words[1].parse::<i64>().unwrap()).unwrap();
        } else {
            let bits = u64::from_str_radix(&words[1], 16).unwrap();
            typed.insert(&f64::from_bits(bits)).unwrap();
        }
        let mut same = typed.empty_like().unwrap();
        same.insert(&unhex(&words[2])).unwrap();
        assert!(image(&typed) == image(&same), "{words:?}");
    }
}

#[test]
fn shards_are_those_of_the_vectors() {
    let checked = rows(&repository("vectors/shards/shards.txt"));
    assert!(checked.len() >= 50, "{}", checked.len());
    for words in checked {
        let shard = petal_bloom::shard_of(&unhex(&words[0]), number(&words[2]) as u32);
        assert_eq!(u64::from(shard), number(&words[3]), "{words:?}");
    }
}

// ---- the table of cases ----

fn chosen(words: &[&str]) -> Options {
    let (mut options, mut step, mut ratio) = (Options::new(), 0, 0.0);
    for word in words {
        let (name, value) = word.split_once('=').unwrap();
        let real = || value.parse::<f64>().unwrap();
        let whole = || number(value);
        options = match name {
            "capacity" => options.capacity(whole()),
            "rate" => options.rate(real()),
            "scheme" => options.scheme(match value {
                "blocked" => Scheme::Blocked,
                "classic" => Scheme::Classic,
                "counting" => Scheme::Counting,
                _ => panic!("{value}"),
            }),
            "format" => options.format(value),
            "memory" => options.memory(whole()),
            "bits" => options.bits(whole()),
            "hashes" => options.hashes(whole() as u32),
            "lines_per_key" => options.lines_per_key(whole() as u32),
            "seed" => options.seed(whole()),
            "secret" => options.secret(unhex(value).try_into().unwrap()),
            "grow" => options.growth(),
            "growth_step" => {
                step = whole() as u32;
                options
            }
            "growth_ratio" => {
                ratio = real();
                options
            }
            "window" => options.window(whole()),
            "window_ms" => options.window_ms(whole()),
            "generations" => options.generations(whole() as u32),
            _ => panic!("{word}"),
        }
    }
    options.growth_step(step, ratio)
}

fn cases(verb: &str, each: impl Fn(&[&str], &str)) {
    let table = fs::read_to_string(repository("vectors/bindings/cases.txt")).unwrap();
    let mut found = 0;
    for line in table.lines().filter_map(|line| line.strip_prefix(verb)?.strip_prefix(' ')) {
        // If the filter has no options, the line starts with the `=`.
        let at = line.find(" = ").map_or(0, |at| at + 1);
        let (words, outcome) = (&line[..at], &line[at + 2..]);
        each(&words.split_whitespace().collect::<Vec<_>>(), outcome);
        found += 1;
    }
    assert!(found >= 5, "{found} cases of {verb}");
}

#[test]
fn plans_have_the_sizes_of_the_core() {
    cases("plan", |words, outcome| {
        let plan = chosen(words).plan().unwrap();
        assert_eq!(format!("{} {} {}", plan.bits, plan.hashes, plan.bytes), outcome, "{words:?}");
    });
}

#[test]
fn what_no_filter_can_be_is_refused_in_the_words_of_the_core() {
    cases("refuse", |words, outcome| {
        for error in [chosen(words).create().unwrap_err(), chosen(words).plan().unwrap_err()] {
            assert_eq!(format!("{}: {}", error.status(), error.message()), outcome, "{words:?}");
        }
    });
}

#[test]
fn keys_have_the_hashes_of_the_core() {
    let filter = Filter::new(10, 0.01).unwrap();
    cases("hash", |words, outcome| {
        let Hash(hash) = match words[0] {
            "text" => filter.hash(std::str::from_utf8(&unhex(words[1])).unwrap()),
            "i64" => filter.hash(&words[1].parse::<i64>().unwrap()),
            _ => filter.hash(&f64::from_bits(u64::from_str_radix(words[1], 16).unwrap())),
        }
        .unwrap();
        assert_eq!(format!("{hash:016x}"), outcome, "{words:?}");
    });
}

#[test]
fn filters_err_as_the_core_does() {
    fn fill<K: Key>(filter: &mut Filter, count: u64, asked: u64, key: impl Fn(u64) -> K) -> String {
        let new = (0..count).filter(|i| filter.insert(&key(*i)).unwrap()).count();
        let passed = (count..count + asked).filter(|i| filter.contains(&key(*i)).unwrap()).count();
        let batch: Vec<K> = (count..count + asked).map(key).collect();
        let answers = filter.contains_many(&batch).unwrap();
        assert_eq!(answers.iter().filter(|answer| **answer).count(), passed);
        format!("{new} {passed} {:016x}", filter.content_id().unwrap())
    }
    cases("fill", |words, outcome| {
        let mut filter = chosen(&words[3..]).create().unwrap();
        let (count, asked) = (number(words[1]), number(words[2]));
        let found = match words[0] {
            "text" => fill(&mut filter, count, asked, |i| format!("key-{i}")),
            "i64" => fill(&mut filter, count, asked, |i| i),
            _ => fill(&mut filter, count, asked, |i| i as f64 / 2.0),
        };
        assert_eq!(found, outcome, "{words:?}");
    });
}

#[test]
fn broken_files_are_refused_in_the_words_of_the_core() {
    cases("open", |words, outcome| {
        let (file, status) = words.split_last().unwrap();
        let options = OpenOptions::new().format("petal").verify();
        let error = options.open(repository("vectors").join(file)).unwrap_err();
        let offset = error.offset().map_or("-".to_owned(), |offset| offset.to_string());
        assert_eq!(error.status().to_string(), status.join(" "), "{file}");
        assert_eq!(format!("{} @ {offset}", error.message()), outcome, "{file}");
    });
}
