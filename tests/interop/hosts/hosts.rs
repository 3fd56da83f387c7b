//! Queries one key at a time in Rust. Usage: hosts KEYS FOLDER.
use petal_bloom::{Filter, Key};
use std::error::Error;

fn unhex(value: &str) -> Result<Vec<u8>, std::num::ParseIntError> {
    let value = value.trim_matches('-');
    (0..value.len()).step_by(2).map(|i| u8::from_str_radix(&value[i..i + 2], 16)).collect()
}

fn has<K: Key>(filter: &Filter, key: K) -> Result<(bool, &'static str), petal_bloom::Error> {
    Ok((filter.contains(&key)?, std::any::type_name::<K>()))
}

fn ask(filter: &Filter, kind: &str, value: &str) -> Result<(bool, &'static str), Box<dyn Error>> {
    Ok(match kind {
        "i64" => has(filter, value.parse::<i64>()?)?,
        "f64" => has(filter, f64::from_bits(u64::from_str_radix(value, 16)?))?,
        "text" => has(filter, std::str::from_utf8(&unhex(value)?)?)?,
        _ => has(filter, unhex(value)?.as_slice())?,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let keys = std::fs::read_to_string(&arguments[0])?;
    for kind in ["text", "i64", "f64", "bytes"] {
        let filter = Filter::open(format!("{}/{kind}.petal", arguments[1]))?;
        let (mut answers, mut native) = (String::new(), "");
        for (_, value) in keys.lines().filter_map(|l| l.split_once(' ')).filter(|l| l.0 == kind) {
            let (answer, name) = ask(&filter, kind, value)?;
            answers.push(if answer { '1' } else { '0' });
            native = name;
        }
        println!("{kind}\t`{native}`\t{answers}");
    }
    Ok(())
}
