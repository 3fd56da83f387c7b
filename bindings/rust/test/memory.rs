//! Tests that filters are freed. This is a separate program, because it measures its process's
//! memory.
use petal_bloom::{Filter, OpenOptions};

#[test]
fn a_hundred_thousand_filters_are_made_and_freed_in_flat_memory() {
    let pages = || {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0)
    };
    let run = |count| {
        for i in 0..count {
            let mut filter = Filter::new(100, 0.01).unwrap();
            filter.insert(&i).unwrap();
            assert!(Filter::new(100, 2.0).is_err());
            assert!(OpenOptions::new()
                .view(filter.to_bytes().unwrap())
                .unwrap()
                .contains(&i)
                .unwrap());
        }
    };
    run(10_000);
    let before = pages();
    run(100_000);
    // A leak of 100,000 filters would take 40 MB.
    assert!(before > 0 && pages() < before + 1024, "from {before} to {} pages", pages());
}
