// keys.js - what a key is: a string, the bytes of a Uint8Array, a BigInt as an integer of 64 bits,
// and what i64(), i32() and f64() make of a number.

export const KEY_TYPES = ['none', 'text', 'utf16le', 'i32', 'i64', 'f64', 'hex', 'base64'];
export const [NONE, TEXT, UTF16LE, I32, I64, F64, HEX, BASE64] = KEY_TYPES.keys();

const MIN_I64 = -(2n ** 63n),
    MAX_I64 = 2n ** 63n - 1n;

/** A number with the type it has as a key; made by f64(). */
export class Float {
    constructor(value) {
        this.value = value;
        Object.freeze(this);
    }
}

const integer = (value, bits, low, high) => {
    if (typeof value === 'number' && !Number.isInteger(value))
        throw new TypeError(`i${bits}() takes a whole number, not ${value}`);
    const whole = BigInt(value);
    if (whole < low || whole > high)
        throw new RangeError(`${value} is outside ${bits} bits, signed`);
    return whole;
};

/** An integer key of 64 bits, of a whole number or a BigInt. */
export const i64 = (value) => integer(value, 64, MIN_I64, MAX_I64);

/** An integer of 32 bits, for filters of such keys (Guava's Integer); elsewhere it is an i64. */
export const i32 = (value) => integer(value, 32, -(2n ** 31n), 2n ** 31n - 1n);

/** A key that is a double. */
export const f64 = (value) => {
    if (typeof value !== 'number') throw new TypeError(`f64() takes a number, not ${typeof value}`);
    return new Float(value);
};

export const isI64 = (value) => value >= MIN_I64 && value <= MAX_I64;

export const bytesOfF64 = (value) => {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value === 0 ? 0 : value, true);
    if (value !== value) bytes.set([0, 0, 0, 0, 0, 0, 0xf8, 0x7f]);
    return bytes;
};

export const bytesOfI32 = (value) => {
    if (value < -(2n ** 31n) || value >= 2n ** 31n)
        throw new RangeError(`${value} is outside 32 bits, signed, which this filter's keys have`);
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setInt32(0, Number(value), true);
    return bytes;
};

export const bytesOfUtf16 = (text) => {
    const bytes = new Uint8Array(2 * text.length);
    for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        bytes[2 * i] = unit & 255;
        bytes[2 * i + 1] = unit >> 8;
    }
    return bytes;
};

const name = (key) => {
    if (key === null) return 'null';
    if (typeof key !== 'object') return typeof key;
    return key.constructor?.name ?? 'object';
};

export const refuseKey = (key, place) => {
    const where = place === undefined ? '' : `, at index ${place}`;
    if (typeof key === 'number')
        throw new TypeError(
            `a number is a key only with a type: i64(${key}) or a BigInt for an integer, ` +
                `f64(${key}) for a double, String(${key}) for text${where}`,
        );
    throw new TypeError(
        `a key is a string, a Uint8Array, a BigInt or f64(...), not ${name(key)}${where}`,
    );
};

export const isBytes = (key) => key instanceof Uint8Array;

// The types that a filter whose file records one takes beside bytes.
const fits = {
    text: [NONE, TEXT, UTF16LE],
    i64: [NONE, I32, I64],
    f64: [NONE, F64],
};

export const checkType = (kind, type) => {
    if (!fits[kind].includes(type))
        throw new TypeError(`the filter has ${KEY_TYPES[type]} keys, not ${kind}`);
};
