//! serde: a filter is serialized as the bytes of its petal file. Serializing a keyed filter fails,
//! because its secret is never written.
use crate::filter::Filter;
use crate::open::OpenOptions;
use serde::{de, ser, Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

impl Serialize for Filter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.info().map_err(ser::Error::custom)?.keyed {
            return Err(ser::Error::custom(
                "a keyed filter: its secret is never written; use save()",
            ));
        }
        serializer.serialize_bytes(&self.to_bytes().map_err(ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Filter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Filter, D::Error> {
        deserializer.deserialize_bytes(Bytes)
    }
}

struct Bytes;

impl<'de> de::Visitor<'de> for Bytes {
    type Value = Filter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a petal file")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Filter, E> {
        OpenOptions::new().format("petal").from_bytes(bytes).map_err(E::custom)
    }

    /// In formats that lack a type for bytes, such as JSON, the bytes are a list of numbers.
    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Filter, A::Error> {
        let mut bytes = Vec::new(); // grows with the data: the input's length is not trusted
        while let Some(byte) = list.next_element::<u8>()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
