//! Types of keys. The same key has the same bytes in every language.
use crate::error::Error;
use petal_bloom_sys as sys;
use std::borrow::Cow;

/// A key of any type, borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyKey<'a> {
    /// The key's bytes are UTF-8 (UTF-16LE for filters of [`KeyType::Utf16`]).
    Text(&'a str),
    /// The bytes themselves. Filters of every type accept them.
    Bytes(&'a [u8]),
    /// 8 bytes, little-endian, of the value as `i64`; a value that does not fit is an error.
    Integer(i128),
    /// 8 bytes, little-endian, of the IEEE 754 value; -0.0 becomes 0.0, and all NaNs are the same
    /// key.
    Real(f64),
    /// A hash in place of a key.
    Hash(u64),
}

/// What can be a key: text, bytes, integers and floating-point numbers. `1`, `1.0` and `"1"` are
/// different keys; `1_u8` and `1_i64` are the same.
///
/// | Rust | key bytes |
/// |---|---|
/// | `str`, `String` | UTF-8 |
/// | `[u8]`, `[u8; N]`, `Vec<u8>` | as they are |
/// | `i8` to `i64`, `u8` to `u64`, `isize`, `usize` | 8 bytes, little-endian, as `i64` |
/// | `f32`, `f64` | 8 bytes, little-endian, as `f64` |
///
/// ```
/// use petal_bloom::{Filter, Status};
///
/// let mut filter = Filter::new(100, 0.01)?;
/// filter.insert(&7_u8)?;
/// assert!(filter.contains(&7_i64)?);
/// assert!(filter.contains(&7_i64.to_le_bytes())?);
/// assert_eq!(filter.insert(&u64::MAX).unwrap_err().status(), Status::KeyRange);
/// # Ok::<(), petal_bloom::Error>(())
/// ```
pub trait Key {
    /// The key.
    fn key(&self) -> AnyKey<'_>;

    /// These keys, if they are an array of `i64` already.
    #[doc(hidden)]
    fn integers(_keys: &[Self]) -> Option<&[i64]>
    where
        Self: Sized,
    {
        None
    }
}

/// A well-mixed 64-bit hash in place of a key, such as [`Filter::hash`](crate::Filter::hash)
/// returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(pub u64);

macro_rules! keys {
    ($($kind:ty, $self:ident => $key:expr;)*) => {
        $(impl Key for $kind {
            #[inline]
            fn key(&$self) -> AnyKey<'_> {
                $key
            }
        })*
    };
}

keys! {
    str, self => AnyKey::Text(self);
    String, self => AnyKey::Text(self);
    Cow<'_, str>, self => AnyKey::Text(self);
    [u8], self => AnyKey::Bytes(self);
    Vec<u8>, self => AnyKey::Bytes(self);
    i8, self => AnyKey::Integer((*self).into());
    i16, self => AnyKey::Integer((*self).into());
    i32, self => AnyKey::Integer((*self).into());
    isize, self => AnyKey::Integer(*self as i128);
    u8, self => AnyKey::Integer((*self).into());
    u16, self => AnyKey::Integer((*self).into());
    u32, self => AnyKey::Integer((*self).into());
    u64, self => AnyKey::Integer((*self).into());
    usize, self => AnyKey::Integer(*self as i128);
    f32, self => AnyKey::Real((*self).into());
    f64, self => AnyKey::Real(*self);
    Hash, self => AnyKey::Hash(self.0);
    AnyKey<'_>, self => *self;
}

impl Key for i64 {
    #[inline]
    fn key(&self) -> AnyKey<'_> {
        AnyKey::Integer((*self).into())
    }

    fn integers(keys: &[i64]) -> Option<&[i64]> {
        Some(keys)
    }
}

impl<const N: usize> Key for [u8; N] {
    #[inline]
    fn key(&self) -> AnyKey<'_> {
        AnyKey::Bytes(self)
    }
}

impl<K: Key + ?Sized> Key for &K {
    #[inline]
    fn key(&self) -> AnyKey<'_> {
        (**self).key()
    }
}

/// What a filter's keys were before they became bytes. If a file records it, keys of other types
/// are an error instead of a wrong "certainly not". Bytes are always accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyType {
    /// Not recorded: keys of all types are accepted.
    Any,
    /// Text as UTF-8.
    Text,
    /// Text as UTF-16LE, as a JVM stores it.
    Utf16,
    /// Integers of 32 bits.
    I32,
    /// Integers of 64 bits.
    I64,
    /// Floating-point numbers of 64 bits.
    F64,
    /// Bytes, which the tool writes in hexadecimal.
    Hex,
    /// Bytes, which the tool writes in base64.
    Base64,
    /// A type that this version does not know: only bytes are accepted.
    Other,
}

const NUMBERS: [(KeyType, u32); 8] = [
    (KeyType::Any, sys::PETAL_KEY_TYPE_NONE),
    (KeyType::Text, sys::PETAL_KEY_TYPE_TEXT),
    (KeyType::Utf16, sys::PETAL_KEY_TYPE_UTF16LE),
    (KeyType::I32, sys::PETAL_KEY_TYPE_I32),
    (KeyType::I64, sys::PETAL_KEY_TYPE_I64),
    (KeyType::F64, sys::PETAL_KEY_TYPE_F64),
    (KeyType::Hex, sys::PETAL_KEY_TYPE_HEX),
    (KeyType::Base64, sys::PETAL_KEY_TYPE_BASE64),
];

impl KeyType {
    pub(crate) fn of(number: u32) -> KeyType {
        NUMBERS.iter().find(|row| row.1 == number).map_or(KeyType::Other, |row| row.0)
    }

    /// A number that the library refuses, for `Other`.
    pub(crate) fn number(self) -> u32 {
        NUMBERS.iter().find(|row| row.0 == self).map_or(u32::MAX, |row| row.1)
    }
}

/// A key as the library takes it.
pub(crate) enum Raw<'a> {
    Bytes(Cow<'a, [u8]>),
    Integer(i64),
    Hash(u64),
}

/// Converts the key to the canonical form for a filter of that type, or says why it can't be one of
/// its keys.
#[inline]
pub(crate) fn raw(key: AnyKey<'_>, filter: KeyType) -> Result<Raw<'_>, Error> {
    use KeyType::{Any, Text, Utf16, F64, I32, I64};
    match (key, filter) {
        (AnyKey::Bytes(bytes), _) => Ok(Raw::Bytes(Cow::Borrowed(bytes))),
        (AnyKey::Text(text), Any | Text) => Ok(Raw::Bytes(Cow::Borrowed(text.as_bytes()))),
        (AnyKey::Integer(value), Any | I64) => match i64::try_from(value) {
            Ok(value) => Ok(Raw::Integer(value)),
            Err(_) => Err(Error::key_range(value, 64)),
        },
        (AnyKey::Real(value), Any | F64) => Ok(Raw::Integer(bits_of(value))),
        (AnyKey::Hash(hash), _) => Ok(Raw::Hash(hash)),
        (AnyKey::Text(text), Utf16) => {
            Ok(Raw::Bytes(text.encode_utf16().flat_map(u16::to_le_bytes).collect()))
        }
        (AnyKey::Integer(value), I32) => match i32::try_from(value) {
            Ok(value) => Ok(Raw::Bytes(value.to_le_bytes().to_vec().into())),
            Err(_) => Err(Error::key_range(value, 32)),
        },
        (AnyKey::Text(_), _) => Err(Error::key_type(filter, "text")),
        (AnyKey::Integer(_), _) => Err(Error::key_type(filter, "an integer")),
        (AnyKey::Real(_), _) => Err(Error::key_type(filter, "a floating-point number")),
    }
}

/// The integer whose 8 bytes are those of this number.
fn bits_of(value: f64) -> i64 {
    if value == 0.0 {
        0
    } else if value.is_nan() {
        0x7ff8_0000_0000_0000
    } else {
        value.to_bits() as i64
    }
}
