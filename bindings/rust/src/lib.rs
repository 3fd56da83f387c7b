//! Bloom filters that outlive the program that made them. A filter answers "is this key in the
//! set?" with "certainly not" or "probably", and takes about ten bits per key. C, the shell,
//! Python, Go, Java, C# and JavaScript can read a filter's file, and this crate can read filters
//! from Guava, Spark, Redis, Cassandra and others.
//!
//! ```
//! use petal_bloom::Filter;
//!
//! let mut seen = Filter::new(1_000_000, 0.01)?; // keys it is planned for, false-positive rate
//! assert!(seen.insert("https://example.com/")?); // certainly new
//! assert!(seen.contains("https://example.com/")?); // probably in
//! assert!(!seen.contains("https://example.org/")?); // certainly not in
//! # let folder = std::env::temp_dir().join(format!("petal-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! # std::env::set_current_dir(&folder).unwrap();
//! seen.save("seen.petal")?;
//! let again = Filter::open("seen.petal")?; // mapped: in milliseconds, whatever its size
//! assert!(again.contains("https://example.com/")?);
//! # Ok::<(), petal_bloom::Error>(())
//! ```
//!
//! - [`Options`] creates a filter, with a scheme, a seed or secret, growth, or a window.
//! - [`OpenOptions`] opens a filter: mapped for reading, changed in place, copied to memory, or
//!   from another format.
//! - [`Key`] lists the types of keys and defines their bytes.
//! - [`SharedFilter`] accepts keys from several threads concurrently.
//! - [`Error`] contains a [`Status`], the library's message, and the offset in the file.
//!
//! A [`Filter`] is [`Send`] and [`Sync`]: the library lets any number of threads query a filter
//! while it is not being changed, and all calls that change a filter take `&mut self`.
//!
//! # Features
//!
//! - `serde`: a [`Filter`] is serialized as the bytes of its file.
//! - `arrow`: keys can come from arrays from the `arrow-array` crate, which requires a newer Rust
//!   version than this crate.
#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(rust_2018_idioms)]

/// Returns one of the library's structs with its size set, and 0 in every other field.
macro_rules! sized {
    ($name:ty) => {{
        // SAFETY: these structs consist of numbers and pointers, whose default is 0.
        let mut made: $name = unsafe { std::mem::zeroed() };
        made.struct_size = std::mem::size_of::<$name>() as u32;
        made
    }};
}

#[cfg(feature = "arrow")]
mod arrow;
mod batch;
mod error;
mod filter;
mod info;
mod key;
mod open;
mod options;
#[cfg(feature = "serde")]
mod serialize;
mod shared;

pub use error::{Error, Status};
pub use filter::Filter;
pub use info::{formats, Comparison, Estimate, Info, Stats};
pub use key::{AnyKey, Hash, Key, KeyType};
pub use open::{Mode, OpenOptions, SaveOptions};
pub use options::{Options, Scheme};
pub use shared::SharedFilter;

/// Returns a key's shard, a number below `shards`. A key has the same shard in every language and
/// for every filter. If `shards` is 0, the result is 0.
///
/// ```
/// assert!(petal_bloom::shard_of(b"user-1", 16) < 16);
/// ```
pub fn shard_of(key: &[u8], shards: u32) -> u32 {
    // SAFETY: the key's bytes are borrowed for the call.
    unsafe { petal_bloom_sys::petal_shard_of(key.as_ptr().cast(), key.len(), shards) }
}
