//! Bloom filters that outlive the program that made them. A filter answers "is this key in the
//! set?" with "certainly not" or "probably", in about ten bits per key. Its file is read by C, the
//! shell, Python, Go, Java, C# and JavaScript, and this crate reads the files of Guava, Spark,
//! Redis, Cassandra and others.
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
//! - [`Options`] make a filter: its scheme, its seed or secret, growth, windows.
//! - [`OpenOptions`] open one: mapped, in place, in memory, or in another format.
//! - [`Key`] lists the types of keys and says what their bytes are.
//! - [`SharedFilter`] takes keys from several threads at once.
//! - [`Error`] has a [`Status`], the library's message, and the offset in the file.
//!
//! A [`Filter`] is [`Send`] and [`Sync`]: the library lets any number of threads query a filter
//! that nobody changes, and all calls that change it take `&mut self`.
//!
//! # Features
//!
//! `serde`: a [`Filter`] is serialized as the bytes of its file.
#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(rust_2018_idioms)]

/// A struct of the library with its size, and 0 in every other field.
macro_rules! sized {
    ($name:ty) => {{
        // SAFETY: these structs have numbers and pointers, and 0 is the default of each.
        let mut made: $name = unsafe { std::mem::zeroed() };
        made.struct_size = std::mem::size_of::<$name>() as u32;
        made
    }};
}

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

/// The shard of a key, a number below `shards`: the same in every language and for every filter.
/// 0 shards count as 1.
///
/// ```
/// assert!(petal_bloom::shard_of(b"user-1", 16) < 16);
/// ```
pub fn shard_of(key: &[u8], shards: u32) -> u32 {
    // SAFETY: the key's bytes are borrowed for the call.
    unsafe { petal_bloom_sys::petal_shard_of(key.as_ptr().cast(), key.len(), shards) }
}
