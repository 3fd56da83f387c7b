// keys.js - the types of keys: a string, the bytes of a Uint8Array, a BigInt, or the result of
// i32(), i64(), f32(), f64() or utf16(). Such a typed key has the same bytes in every filter.

export const KEY_TYPES = ['none', 'text', 'utf16le', 'i32', 'i64', 'f64', 'hex', 'base64'];
export const [NONE, TEXT, UTF16LE, I32, I64, , HEX] = KEY_TYPES.keys();

// ---- bytes ---------------------------------------------------------------------------------------

const bytesOf = (size, put) => {
    const bytes = new Uint8Array(size);
    put(new DataView(bytes.buffer));
    return bytes;
};

const bytesOfF64 = (value) => {
    const bits = value === value ? value : NaN;
    const bytes = bytesOf(8, (view) => view.setFloat64(0, bits === 0 ? 0 : bits, true));
    if (value !== value) bytes.set([0, 0, 0, 0, 0, 0, 0xf8, 0x7f]);
    return bytes;
};

export const bytesOfUtf16 = (text) =>
    bytesOf(2 * text.length, (view) => {
        for (let i = 0; i < text.length; i++) view.setUint16(2 * i, text.charCodeAt(i), true);
    });

// Returns a signed integer's bytes, or null if it doesn't fit in `bits` bits.
export const bytesOfInteger = (value, bits) =>
    BigInt.asIntN(bits, value) === value
        ? bytesOf(bits / 8, (view) =>
              bits === 32
                  ? view.setInt32(0, Number(value), true)
                  : view.setBigInt64(0, value, true),
          )
        : null;

// ---- text with unpaired surrogates
// ---------------------------------------------------------------

// A string may contain an unpaired surrogate, which has no UTF-8 form. Like TextEncoder, this file
// replaces it with U+FFFD, except in filters from libraries with a rule of their own. The filter's
// hash function determines the rule.
const HALF = /\p{Surrogate}/u;
const HALVES = /\p{Surrogate}/gu;
export const encoder = new TextEncoder();

const asJava = (text) => encoder.encode(text.replace(HALVES, '?')); // String.getBytes()

// Converts text to UTF-8, except that each surrogate that `pair` doesn't combine becomes three
// bytes.
const unitsOf = (text, pair) => {
    const bytes = [];
    for (let i = 0; i < text.length; i++) {
        let point = text.charCodeAt(i);
        if (pair(point, text.charCodeAt(i + 1)))
            point = 0x10000 + ((point & 0x3ff) << 10) + (text.charCodeAt(++i) & 0x3ff);
        if (point < 0x80) bytes.push(point);
        else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
        else if (point < 0x10000)
            bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
        else
            bytes.push(
                0xf0 | (point >> 18),
                0x80 | ((point >> 12) & 63),
                0x80 | ((point >> 6) & 63),
                0x80 | (point & 63),
            );
    }
    return Uint8Array.from(bytes);
};

// Implements the rule for unpaired surrogates in docs/formats/bloomfilter.md.
const asUnits = (text) =>
    unitsOf(text, (a, b) => (a & 0xfc00) === 0xd800 && (b & 0xfc00) === 0xdc00);

// The xxhashjs library, which bloom-filters uses, combines a surrogate with whatever unit follows
// it.
const asXxhashjs = (text) => unitsOf(text, (a) => (a & 0xf800) === 0xd800);

const RULES = new Map([
    ...[16, 17, 30, 31, 32, 33, 34, 36, 37].map((hash) => [hash, asJava]),
    [26, asXxhashjs],
    [27, asUnits],
    [28, asUnits],
]);

// -> the function that converts text with unpaired surrogates for filters with this hash function,
// or undefined to use TextEncoder
export const ruleOf = (hash) => RULES.get(hash);
export const hasHalf = (text) => HALF.test(text);

// ---- keys with a type ----------------------------------------------------------------------------

// This is a registered symbol, so that all entry points of the package accept each other's keys.
const KEY = Symbol.for('petal-bloom.key');

class TypedKey {
    #bytes;

    constructor(type, value, bytes) {
        this.#bytes = bytes;
        Object.assign(this, { type, value });
        Object.freeze(this);
    }

    get [KEY]() {
        return this.#bytes;
    }
}

// -> the key's bytes, or undefined if this is not a typed key
export const bytesOfTyped = (key) =>
    typeof key === 'object' && key !== null ? key[KEY] : undefined;

const integer = (value, bits) => {
    if (typeof value === 'number' && !Number.isInteger(value))
        throw new TypeError(`i${bits}() takes a whole number, not ${value}`);
    const bytes = bytesOfInteger(BigInt(value), bits);
    if (bytes === null) throw new RangeError(`${value} is outside ${bits} bits, signed`);
    return new TypedKey(`i${bits}`, BigInt(value), bytes);
};

const number = (value, name) => {
    if (typeof value !== 'number')
        throw new TypeError(`${name}() takes a number, not ${typeof value}`);
    return value;
};

/** Returns a 64-bit integer key for a whole number or a BigInt. */
export const i64 = (value) => integer(value, 64);

/** Returns a 32-bit integer key, like Guava's Integer and Parquet's INT32. */
export const i32 = (value) => integer(value, 32);

/** Returns a double key. -0 becomes 0, and every NaN becomes the same NaN. */
export const f64 = (value) => new TypedKey('f64', number(value, 'f64'), bytesOfF64(value));

/** Returns a 32-bit float key with unchanged bits, like Parquet's FLOAT. */
export const f32 = (value) =>
    new TypedKey(
        'f32',
        number(value, 'f32'),
        bytesOf(4, (view) => view.setFloat32(0, value, true)),
    );

/** Returns a key with a string's UTF-16 code units, like Guava's unencodedCharsFunnel(). */
export const utf16 = (value) => {
    if (typeof value !== 'string')
        throw new TypeError(`utf16() takes a string, not ${typeof value}`);
    return new TypedKey('utf16le', value, bytesOfUtf16(value));
};

// ---- which filter accepts which
// ------------------------------------------------------------------

const name = (key) => {
    if (key === null) return 'null';
    if (typeof key !== 'object') return typeof key;
    return key.constructor?.name ?? 'object';
};

export const refuseKey = (key) => {
    if (typeof key === 'number')
        throw new TypeError(
            `a number is a key only with a type: i64(${key}) or a BigInt for an integer, ` +
                `f64(${key}) for a double, String(${key}) for text`,
        );
    throw new TypeError(
        `a key is a string, a Uint8Array, a BigInt or what i32(), f64() and others make, ` +
            `not ${name(key)}`,
    );
};

export const isBytes = (key) => key instanceof Uint8Array;

export const outside = (value, bits) =>
    new RangeError(
        bits === 32
            ? `${value} is outside 32 bits, signed, which this filter's keys have`
            : `${value} is outside 64 bits, signed`,
    );

// A filter with a known key type accepts only that type and bytes.
export const checkType = (type, kind) => {
    if (type !== NONE && KEY_TYPES[type] !== kind)
        throw new TypeError(`the filter has ${KEY_TYPES[type]} keys, not ${kind}`);
};

/** Returns a filter's key type, which its file records or, if the file records none, the user
 * chose. */
export const chooseType = (recorded, asked) => {
    if (recorded === NONE || asked === NONE || recorded === asked) return recorded || asked;
    if (recorded >= HEX && asked >= HEX) return recorded;
    throw new TypeError(`the filter has ${KEY_TYPES[recorded]} keys, not ${KEY_TYPES[asked]}`);
};

/** Returns the bytes of a key that belongs to no filter. */
export const bytesOfKey = (key) => {
    if (typeof key === 'string') return encoder.encode(key);
    if (isBytes(key)) return key;
    const typed = bytesOfTyped(key);
    if (typed) return typed;
    if (typeof key !== 'bigint') return refuseKey(key);
    const bytes = bytesOfInteger(key, 64);
    if (bytes === null) throw outside(key, 64);
    return bytes;
};
