//! Prints each line of standard input the first time it appears, using a few bytes per distinct
//! line: `cargo run --example dedupe <urls.txt`. One in 10,000 new lines is wrongly dropped.
use petal_bloom::Options;
use std::error::Error;
use std::io::{stdin, stdout, BufRead, BufWriter, Write};

fn main() -> Result<(), Box<dyn Error>> {
    let mut seen = Options::new().capacity(100_000).rate(0.0001).growth().create()?;
    let mut out = BufWriter::new(stdout().lock());
    for line in stdin().lock().split(b'\n') {
        let line = line?;
        if seen.insert(&line)? {
            out.write_all(&line)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(out.flush()?)
}
