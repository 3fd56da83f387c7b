//! Types of keys. The same key has the same bytes in every language.
use crate::error::Error;
use petal_bloom_sys as sys;
use std::borrow::Cow;

/// A borrowed key of any type.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyKey<'a> {
    /// The key's bytes are UTF-8 (UTF-16LE for filters with [`KeyType::Utf16`]).
    Text(&'a str),
    /// The bytes themselves. Filters with any key type accept bytes.
    Bytes(&'a [u8]),
    /// The value as `i64`, in 8 little-endian bytes. A value that does not fit is an error.
    Integer(i128),
    /// The IEEE 754 value in 8 little-endian bytes. -0.0 becomes 0.0, and all NaNs are the same
    /// key.
    Real(f64),
    /// A key's hash, in place of the key.
    Hash(u64),
}

/// A value that can be a key: text, bytes, integers and floating-point numbers. `1`, `1.0` and
/// `"1"` are different keys; `1_u8` and `1_i64` are the same.
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

    /// Returns these keys if they are already an array of `i64`.
    #[doc(hidden)]
    fn integers(_keys: &[Self]) -> Option<&[i64]>
    where
        Self: Sized,
    {
        None
    }
}

/// A key's 64-bit hash, from [`Filter::hash`](crate::Filter::hash) or another good hash function,
/// in place of the key.
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

/// The type of a filter's keys before they are converted to bytes. If a file records the type, keys
/// of other types cause an error instead of a wrong "certainly not". Bytes are always accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyType {
    /// No key type is recorded, so keys of all types are accepted.
    Any,
    /// Text as UTF-8.
    Text,
    /// Text as UTF-16LE.
    Utf16,
    /// Integers of 32 bits.
    I32,
    /// Integers of 64 bits.
    I64,
    /// Floating-point numbers of 64 bits.
    F64,
    /// Bytes, which the petal command writes in hexadecimal.
    Hex,
    /// Bytes, which the petal command writes in base64.
    Base64,
    /// A type unknown to this version, so only bytes are accepted.
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

    /// The type's number; for `Other`, one that the library rejects.
    pub(crate) fn number(self) -> u32 {
        NUMBERS.iter().find(|row| row.0 == self).map_or(u32::MAX, |row| row.1)
    }
}

/// A key in the form that the library accepts.
#[derive(Clone, Copy)]
pub(crate) enum Raw<'a> {
    Bytes(&'a [u8]),
    Integer(i64),
    Hash(u64),
}

/// Returns the key in the library's form for a filter with this key type. Returns `None` if
/// `convert` must convert or reject the key.
#[inline]
pub(crate) fn raw(key: AnyKey<'_>, filter: KeyType) -> Option<Raw<'_>> {
    use KeyType::{Any, Text, Utf16, F64, I64};
    match (key, filter) {
        (AnyKey::Bytes(bytes), _) => Some(Raw::Bytes(bytes)),
        (AnyKey::Text(text), Any | Text) => Some(Raw::Bytes(text.as_bytes())),
        (AnyKey::Text(""), Utf16) => Some(Raw::Bytes(&[])),
        (AnyKey::Integer(value), Any | I64) => i64::try_from(value).ok().map(Raw::Integer),
        (AnyKey::Real(value), Any | F64) => Some(Raw::Integer(bits_of(value))),
        (AnyKey::Hash(hash), _) => Some(Raw::Hash(hash)),
        _ => None,
    }
}

/// Appends the bytes of a key for which `raw` returned `None`. Fails if the key is not valid for
/// the filter's key type.
pub(crate) fn convert(key: AnyKey<'_>, filter: KeyType, bytes: &mut Vec<u8>) -> Result<(), Error> {
    use KeyType::{Any, Utf16, I32, I64};
    match (key, filter) {
        (AnyKey::Text(text), Utf16) => {
            bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
            Ok(())
        }
        (AnyKey::Integer(value), I32) => match i32::try_from(value) {
            Ok(value) => {
                bytes.extend(value.to_le_bytes());
                Ok(())
            }
            Err(_) => Err(Error::key_range(value, 32)),
        },
        (AnyKey::Integer(value), Any | I64) => Err(Error::key_range(value, 64)),
        (AnyKey::Text(_), _) => Err(Error::key_type(filter, "text")),
        (AnyKey::Integer(_), _) => Err(Error::key_type(filter, "an integer")),
        (AnyKey::Real(_), _) => Err(Error::key_type(filter, "a floating-point number")),
        (AnyKey::Bytes(_) | AnyKey::Hash(_), _) => Err(Error::key_type(filter, "bytes")),
    }
}

/// Returns the integer with the same 8 bytes as this number.
#[inline]
fn bits_of(value: f64) -> i64 {
    if value == 0.0 {
        0
    } else if value.is_nan() {
        0x7ff8_0000_0000_0000
    } else {
        value.to_bits() as i64
    }
}
