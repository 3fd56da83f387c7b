//! Compares Petal's crate with fastbloom and bloomfilter by CPU time in ns per key (the minimum of
//! all rounds) and by false-positive rate. Each filter is sized for its number of keys at 1 %. Half
//! of the queried keys are present.
//!
//!     bench/rust/run [KEYS [ROUNDS]]
use std::ffi::c_long;
use std::hint::black_box;

const RATE: f64 = 0.01;

fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d049bb133111eb);
    x ^ x >> 31
}

extern "C" {
    fn clock() -> c_long;
}

/// Returns the CPU time of this process, in ns. POSIX counts microseconds.
fn cpu() -> f64 {
    // SAFETY: the call takes no arguments.
    1e3 * unsafe { clock() } as f64
}

/// Returns the ns per key for adding and for querying, and the false-positive rate.
type Figures = [f64; 3];

fn timed<F>(
    keys: usize,
    make: impl Fn() -> F,
    add: impl Fn(&mut F),
    query: impl Fn(&F) -> usize,
) -> Figures {
    let mut filter = make();
    let start = cpu();
    add(&mut filter);
    let added = cpu();
    let found = black_box(query(&filter));
    let queried = cpu();
    let (present, each) = (keys - keys / 2, keys as f64);
    assert!(found >= present, "keys are missed");
    let rate = (found - present) as f64 / (keys / 2) as f64;
    [(added - start) / each, (queried - added) / each, rate]
}

fn petal_filter(keys: usize) -> petal_bloom::Filter {
    petal_bloom::Filter::new(keys as u64, RATE).unwrap()
}

fn contenders<K>(keys: &[K], asked: &[K]) -> [(&'static str, Figures); 4]
where
    K: petal_bloom::Key + std::hash::Hash,
{
    let n = keys.len();
    let batch = timed(
        n,
        || petal_filter(n),
        |filter| _ = filter.insert_many(keys).unwrap(),
        |filter| filter.contains_many(asked).unwrap().iter().filter(|answer| **answer).count(),
    );
    let single = timed(
        n,
        || petal_filter(n),
        |filter| keys.iter().for_each(|key| _ = filter.insert(key).unwrap()),
        |filter| asked.iter().filter(|key| filter.contains(*key).unwrap()).count(),
    );
    let fast = timed(
        n,
        || fastbloom::BloomFilter::with_false_pos(RATE).expected_items(n),
        |filter| keys.iter().for_each(|key| _ = filter.insert(key)),
        |filter| asked.iter().filter(|key| filter.contains(*key)).count(),
    );
    let plain = timed(
        n,
        || bloomfilter::Bloom::new_for_fp_rate(n, RATE).unwrap(),
        |filter| keys.iter().for_each(|key| filter.set(key)),
        |filter| asked.iter().filter(|key| filter.check(key)).count(),
    );
    [
        ("petal, batches", batch),
        ("petal, one by one", single),
        ("fastbloom", fast),
        ("bloomfilter", plain),
    ]
}

fn compare<K>(what: &str, keys: usize, rounds: usize, key: impl Fn(u64) -> K)
where
    K: petal_bloom::Key + std::hash::Hash,
{
    let make = |begin: u64| (begin..begin + keys as u64).map(|i| key(mix(i))).collect::<Vec<K>>();
    let (added, asked) = (make(0), make(keys as u64 / 2));
    // All contenders take turns, so that other load on the machine slows all of them.
    let runs: Vec<_> = (0..rounds).map(|_| contenders(&added, &asked)).collect();
    for (i, (name, _)) in runs[0].iter().enumerate() {
        let [add, query, rate] = [0, 1, 2]
            .map(|figure| runs.iter().map(|run| run[i].1[figure]).fold(f64::MAX, f64::min));
        println!("| {what} | {name} | {:.2} % | {add:.1} | {query:.1} |", 100.0 * rate);
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse().expect("a number"));
    let keys = arguments.next().unwrap_or(1_000_000);
    let rounds = arguments.next().unwrap_or(5);
    println!("fastbloom 0.17.0, bloomfilter 3.0.2; {keys} keys, {rounds} rounds.\n");
    println!("| CPU ns per key | library | rate | add | query |\n| --- | --- | --- | --- | --- |");
    compare("i64", keys, rounds, |x| x as i64);
    compare("String", keys, rounds, |x| format!("http://a.io/{x:016x}"));
}
