//! Information about a filter, and estimates from its bits.
use crate::error::text;
use crate::key::KeyType;
use petal_bloom_sys as sys;

/// Information about a filter that is available without reading its bits. Unknown rates are NaN.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Info {
    /// `"blocked"`, `"classic"`, ...
    pub scheme: &'static str,
    /// `"xxh3"`, `"siphash"`, ...
    pub hash: &'static str,
    /// The format that the filter was read from or created for; `"petal"` if it is new.
    pub format: &'static str,
    /// The kernel used on this CPU, such as `"avx2"` or `"generic"`.
    pub kernel: &'static str,
    /// The number of bits or counters in all layers.
    pub bits: u64,
    /// The size of all layers' bits, in bytes.
    pub bytes: u64,
    /// The memory allocated for the filter in bytes, excluding maps.
    pub memory_bytes: u64,
    /// The number of bits per key, in the newest layer.
    pub hashes: u32,
    /// The number of 64-byte lines per key in a blocked filter, otherwise 0.
    pub lines_per_key: u32,
    /// The number of layers, which is 1 unless the filter grows or is a window.
    pub layers: u32,
    /// The number of distinct keys planned for, or 0 if it is not recorded.
    pub capacity: u64,
    /// The planned false-positive rate.
    pub target_rate: f64,
    /// The false-positive rate with `capacity` keys, according to the scheme's model.
    pub predicted_rate: f64,
    /// The approximate number of keys added, including repeats.
    pub items: u64,
    /// The hash function's seed.
    pub seed: u64,
    /// True if the filter is keyed with a secret.
    pub keyed: bool,
    /// The recorded key type.
    pub key_type: KeyType,
    pub(crate) abilities: u32,
}

impl Info {
    pub(crate) fn of(info: &sys::petal_info) -> Info {
        // SAFETY: the names are static strings in the library.
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

/// Estimates from a filter's bits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stats {
    /// The number of set bits, or of counters that are not zero.
    pub bits_set: u64,
    /// `bits_set` / bits.
    pub fill: f64,
    /// Distinct keys.
    pub estimated_items: Estimate,
    /// The false-positive rate with the current bits, or NaN if it is unknown.
    pub estimated_rate: f64,
    /// True if the filter certainly contains more keys than its capacity.
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

/// The overlap of two filters' keys.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// The number of distinct keys in the first filter.
    pub items_a: Estimate,
    /// The number of distinct keys in the second filter.
    pub items_b: Estimate,
    /// The number of distinct keys in either filter.
    pub union_items: Estimate,
    /// The number of distinct keys in both filters.
    pub intersection: Estimate,
    /// The size of the intersection divided by the size of the union.
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

/// Returns the names of the formats in this build, including `"petal"`.
///
/// ```
/// assert!(petal_bloom::formats().any(|name| name == "guava"));
/// ```
pub fn formats() -> impl Iterator<Item = &'static str> {
    (0..).map_while(|place| {
        let mut info: sys::petal_format_info = sized!(sys::petal_format_info);
        // SAFETY: the names are static strings in the library.
        unsafe { sys::petal_format_at(place, &mut info).then(|| text(info.name)) }
    })
}
