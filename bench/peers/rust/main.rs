// main.rs - runs fastbloom, with its own SipHash or with foldhash, as a contender for ../driver.c,
// which describes the protocol.
use fastbloom::{BloomFilter, BuilderWithBits};
use std::hash::{BuildHasher, Hash};
use std::io::{BufRead, Write};
use std::time::Instant;

fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d049bb133111eb);
    x ^ x >> 31
}

fn numbers(count: usize, from: u64) -> Vec<u64> {
    (0..count as u64).map(|i| mix(from + i)).collect()
}

fn texts(count: usize, from: u64) -> Vec<String> {
    (0..count as u64).map(|i| format!("http://a.io/{:016x}", mix(from + i))).collect()
}

fn round<K: Hash, S: BuildHasher>(keys: &[K], absent: &[K], repeats: usize, make: impl Fn() -> BloomFilter<S>) -> String {
    let (mut add, mut hit, mut miss, mut found, mut bits) = (f64::MAX, f64::MAX, f64::MAX, 0, 0);
    for _ in 0..repeats {
        let start = Instant::now();
        let mut filter = make();
        for key in keys {
            filter.insert(key);
        }
        add = add.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let members = keys.iter().filter(|key| filter.contains(*key)).count();
        hit = hit.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        found = absent.iter().filter(|key| filter.contains(*key)).count();
        miss = miss.min(start.elapsed().as_secs_f64());
        assert_eq!(members, keys.len());
        bits = filter.num_bits();
    }
    let each = 1e9 / keys.len() as f64;
    format!("ok {:.4} {:.4} {:.4} {} {}", add * each, hit * each, miss * each, found, bits)
}

fn bits(count: usize, bits_per_key: f64) -> BuilderWithBits {
    BloomFilter::with_num_bits((count as f64 * bits_per_key) as usize)
}

fn run<K: Hash>(keys: &[K], absent: &[K], bits_per_key: f64, repeats: usize, foldhash: bool) -> String {
    let count = keys.len();
    if foldhash {
        let hasher = foldhash::fast::RandomState::default;
        round(keys, absent, repeats, || bits(count, bits_per_key).hasher(hasher()).expected_items(count))
    } else {
        round(keys, absent, repeats, || bits(count, bits_per_key).expected_items(count))
    }
}

fn main() {
    const ABSENT: u64 = 1 << 40;
    let foldhash = std::env::args().nth(1).as_deref() == Some("foldhash");
    let (mut as_numbers, mut as_texts) = ((vec![], vec![]), (vec![], vec![]));
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let word: Vec<&str> = line.split(' ').collect();
        let (count, bits_per_key, repeats) = (word[1].parse().unwrap(), word[2].parse().unwrap(), word[5].parse().unwrap());
        let (said, last) = if word[4] == "text" {
            if as_texts.0.len() != count {
                as_texts = (texts(count, 0), texts(count, ABSENT));
            }
            (run(&as_texts.0, &as_texts.1, bits_per_key, repeats, foldhash), as_texts.1[count - 1].clone())
        } else {
            if as_numbers.0.len() != count {
                as_numbers = (numbers(count, 0), numbers(count, ABSENT));
            }
            (run(&as_numbers.0, &as_numbers.1, bits_per_key, repeats, foldhash), format!("{:016x}", as_numbers.1[count - 1]))
        };
        println!("{} {}", said, last);
        std::io::stdout().flush().unwrap();
    }
}
