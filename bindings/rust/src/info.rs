//! What the library knows about a filter, and what it estimates.
use crate::error::text;
use crate::key::KeyType;
use petal_bloom_sys as sys;

/// What the library knows about a filter without reading its bits. Unknown rates are NaN.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Info {
    /// `"blocked"`, `"classic"`, ...
    pub scheme: &'static str,
    /// `"xxh3"`, `"siphash"`, ...
    pub hash: &'static str,
    /// The format that it was read from or made for; `"petal"` if new.
    pub format: &'static str,
    /// The code that answers on this CPU: `"avx2"`, `"generic"`, ...
    pub kernel: &'static str,
    /// Bits or counters of all layers.
    pub bits: u64,
    /// Bytes of all layers.
    pub bytes: u64,
    /// Memory that is allocated for it; maps do not count.
    pub memory_bytes: u64,
    /// Hashes per key, of the newest layer.
    pub hashes: u32,
    /// Lines of 64 bytes per key if blocked, otherwise 0.
    pub lines_per_key: u32,
    /// Bit arrays: 1, unless the filter grows or is a window.
    pub layers: u32,
    /// Distinct keys planned for; 0 if not recorded.
    pub capacity: u64,
    /// The false-positive rate that was planned.
    pub target_rate: f64,
    /// The rate at `capacity` keys by the scheme's model.
    pub predicted_rate: f64,
    /// Keys added, repeats included; a hint.
    pub items: u64,
    /// The seed of its hash.
    pub seed: u64,
    /// Is it keyed with a secret?
    pub keyed: bool,
    /// The recorded type of its keys.
    pub key_type: KeyType,
    pub(crate) abilities: u32,
}

impl Info {
    pub(crate) fn of(info: &sys::petal_info) -> Info {
        // SAFETY: the names are static strings of the library.
        let [scheme, hash, format, kernel] =
            [info.scheme_name, info.hash_name, info.format_name, info.kernel_name]
                .map(|name| unsafe { text(name) });
        Info {
            scheme,
            hash,
            format,
            kernel,
            bits: info.bits,
            bytes: info.bytes,
            memory_bytes: info.memory_bytes,
            hashes: info.hashes,
            lines_per_key: info.lines_per_key,
            layers: info.layers,
            capacity: info.capacity,
            target_rate: info.target_rate,
            predicted_rate: info.predicted_rate,
            items: info.items,
            seed: info.seed,
            keyed: info.keyed != 0,
            key_type: KeyType::of(info.key_type),
            abilities: info.abilities,
        }
    }
}

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Estimate {
    fn of(estimate: sys::petal_estimate) -> Estimate {
        Estimate { value: estimate.value, low: estimate.low, high: estimate.high }
    }
}

/// What can be estimated from a filter's bits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stats {
    /// Bits that are set, or counters that are not zero.
    pub bits_set: u64,
    /// `bits_set` / bits.
    pub fill: f64,
    /// Distinct keys.
    pub estimated_items: Estimate,
    /// The share of absent keys that would be found; NaN if unknown.
    pub estimated_rate: f64,
    /// Does it certainly hold more keys than its capacity?
    pub overfull: bool,
}

impl Stats {
    pub(crate) fn of(stats: &sys::petal_stats) -> Stats {
        Stats {
            bits_set: stats.bits_set,
            fill: stats.fill,
            estimated_items: Estimate::of(stats.estimated_items),
            estimated_rate: stats.estimated_rate,
            overfull: stats.overfull != 0,
        }
    }
}

/// How the keys of two filters overlap.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// Distinct keys of the first filter.
    pub items_a: Estimate,
    /// Distinct keys of the second filter.
    pub items_b: Estimate,
    /// Distinct keys of both together.
    pub union_items: Estimate,
    /// Distinct keys that both have.
    pub intersection: Estimate,
    /// The intersection's share of the union.
    pub jaccard: Estimate,
}

impl Comparison {
    pub(crate) fn of(comparison: &sys::petal_comparison) -> Comparison {
        Comparison {
            items_a: Estimate::of(comparison.items_a),
            items_b: Estimate::of(comparison.items_b),
            union_items: Estimate::of(comparison.union_items),
            intersection: Estimate::of(comparison.intersection),
            jaccard: Estimate::of(comparison.jaccard),
        }
    }
}

/// The names of the formats in this build, `"petal"` among them.
///
/// ```
/// assert!(petal_bloom::formats().any(|name| name == "guava"));
/// ```
pub fn formats() -> impl Iterator<Item = &'static str> {
    (0..).map_while(|place| {
        let mut info: sys::petal_format_info = sized!(sys::petal_format_info);
        // SAFETY: the names are static strings of the library.
        unsafe { sys::petal_format_at(place, &mut info).then(|| text(info.name)) }
    })
}
