// engine.js - one instance of a module, and the conversion of values to and from its memory. flat.c
// documents the calls.
import { PetalError } from './errors.js';
import { encoder } from './keys.js';

export const HEADER_ONLY = 512 | 2; // PETAL_OPEN_

// A call's arguments are stored in one area of the module's memory, which is allocated once. It
// contains the text, the end of each key, one answer per key, and a table.
const TEXT_BYTES = 384 * 1024;
export const MAX_KEYS = 4096;
const TABLE_BYTES = 128 * 16;
const ENDS = TEXT_BYTES;
const RESULTS = ENDS + 4 * (MAX_KEYS + 1) + 4;
const TABLE = RESULTS + MAX_KEYS;
const STAGE_BYTES = TABLE + TABLE_BYTES;
const MAX_BLOCK = 2 ** 31 - 1; // the largest possible allocation in a 32-bit memory

// Strings of up to this many units are copied unit by unit. For longer strings encodeInto() is
// faster, although the call takes 50 ns in Node and at least 200 ns in a browser.
const SHORT = globalThis.process?.versions?.node ? 24 : 96;
const decoder = new TextDecoder();

// Typed arrays use the machine's byte order, but a module's memory is always little-endian.
const IS_LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

export class Engine {
    constructor(instance, name) {
        if (!IS_LITTLE_ENDIAN)
            throw new PetalError('unsupported', 'petal-bloom needs a little-endian machine');
        this.name = name;
        this.calls = instance.exports;
        this.calls._initialize();
        this.stage = this.calls.allocate(STAGE_BYTES) >>> 0;
        if (!this.stage) throw new PetalError('out of memory', 'no memory for a module of Petal');
        this.keyAt = this.stage;
        this.look();
    }

    // Views of the memory become invalid when it grows.
    look() {
        const buffer = this.calls.memory.buffer;
        this.bytes = new Uint8Array(buffer);
        this.text = new Uint8Array(buffer, this.stage, TEXT_BYTES);
        this.words = new Uint32Array(buffer, this.stage, SHORT / 4);
        this.ends = new Uint32Array(buffer, this.stage + ENDS, MAX_KEYS + 1);
        this.results = new Uint8Array(buffer, this.stage + RESULTS, MAX_KEYS);
        this.integers = new BigUint64Array(buffer, this.stage + TABLE, TABLE_BYTES / 8);
        this.reals = new Float64Array(buffer, this.stage + TABLE, TABLE_BYTES / 8);
        return this.bytes;
    }

    view() {
        return this.bytes.length === 0 ? this.look() : this.bytes;
    }

    get endsAt() {
        return this.stage + ENDS;
    }

    get resultsAt() {
        return this.stage + RESULTS;
    }

    get tableAt() {
        return this.stage + TABLE;
    }

    get textBytes() {
        return TEXT_BYTES;
    }

    allocate(size) {
        const at = size <= MAX_BLOCK ? this.calls.allocate(size) >>> 0 : 0;
        if (!at) throw new PetalError('out of memory', `no memory for ${size} bytes in the module`);
        return at;
    }

    // Reads the array of petal_range at this address.
    rangesAt(at, count) {
        const table = new DataView(this.view().buffer, at, 16 * count);
        return Array.from({ length: count }, (_, i) => {
            const from = Number(table.getBigUint64(16 * i, true));
            return { from, to: from + Number(table.getBigUint64(16 * i + 8, true)) };
        });
    }

    // Copies these bytes into the module's memory, and calls `run` with the copy's address.
    with(bytes, run) {
        if (!bytes) return run(0, 0);
        const at = this.allocate(bytes.length);
        try {
            this.view().set(bytes, at);
            return run(at, bytes.length);
        } finally {
            this.calls.release(at);
        }
    }

    withText(text, run) {
        return this.with(text == null ? null : encoder.encode(`${text}\0`), run);
    }

    textAt(at) {
        const bytes = this.view();
        return at ? decoder.decode(bytes.subarray(at, bytes.indexOf(0, at))) : null;
    }

    // Returns the last call's failure. If the failure has a key's index, `from` is added to the
    // index.
    error(from = 0) {
        const at = this.calls.error() >>> 0,
            bytes = this.view();
        const view = new DataView(bytes.buffer, at);
        const offset = view.getBigUint64(8, true);
        const code = this.textAt(this.calls.status_name(view.getInt32(0, true)) >>> 0);
        const place = offset === 0xffffffffffffffffn ? null : Number(offset) + from;
        return new PetalError(code, this.textAt(at + 16), place);
    }

    check(status, from) {
        if (status < 0) throw this.error(from);
        return status;
    }

    // ---- a key: its size, at keyAt until released

    put(bytes) {
        if (bytes.length > TEXT_BYTES) return this.putLong(bytes);
        if (this.text.length === 0) this.look();
        this.text.set(bytes);
        return bytes.length;
    }

    putLong(bytes) {
        this.keyAt = this.allocate(bytes.length);
        this.view().set(bytes, this.keyAt);
        return bytes.length;
    }

    putText(string) {
        const units = string.length;
        if (this.text.length === 0) this.look();
        if (units <= SHORT && this.putAscii(string, units)) return units;
        if (units * 3 > TEXT_BYTES) return this.putLong(encoder.encode(string));
        return encoder.encodeInto(string, this.text).written;
    }

    // Stores four units at a time. -> true if the whole string was ASCII
    putAscii(string, units) {
        const { text, words } = this;
        let i = 0,
            all = 0;
        for (; i + 4 <= units; i += 4) {
            const a = string.charCodeAt(i),
                b = string.charCodeAt(i + 1),
                c = string.charCodeAt(i + 2),
                d = string.charCodeAt(i + 3);
            all |= a | b | c | d;
            words[i >> 2] = a | (b << 8) | (c << 16) | (d << 24);
        }
        for (; i < units; i++) {
            const unit = string.charCodeAt(i);
            all |= unit;
            text[i] = unit;
        }
        return all <= 127;
    }

    releaseKey() {
        if (this.keyAt === this.stage) return;
        this.calls.release(this.keyAt);
        this.keyAt = this.stage;
    }

    // Writes the strings [from, to), which have fewer than TEXT_BYTES / 3 units in total, one after
    // the other. The memory must already contain their ends in units, which are replaced by the
    // ends in bytes. -> the total number of bytes
    putTexts(strings, from, to, units) {
        const all = to - from === strings.length ? strings : strings.slice(from, to);
        const { written } = encoder.encodeInto(all.join(''), this.text);
        return written === units ? written : this.putWideTexts(strings, from, to, written);
    }

    // For strings that are not all ASCII. If joining them would form a surrogate pair across a
    // boundary, the strings are written one by one.
    putWideTexts(strings, from, to, written) {
        const ends = this.ends;
        let shared = false;
        for (let i = from, j = 1; i < to; i++, j++) {
            ends[j] = strings[i].length;
            shared ||= (strings[i].charCodeAt(0) & 0xfc00) === 0xdc00;
        }
        if (!shared) {
            this.calls.text_ends(this.stage, written, this.endsAt + 4, to - from);
            return written;
        }
        let end = 0;
        for (let i = from, j = 1; i < to; i++, j++)
            ends[j] = end += encoder.encodeInto(strings[i], this.text.subarray(end)).written;
        return end;
    }
}

// ---- which module, and from where ----------------------------------------------------------------

// A module with a function that returns v128, which engines without SIMD reject.
const SIMD = [
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15,
    11,
];

const host = { read: null, native: 'native', simd: null, file: null };
const engines = new Map();

// read(name) returns the bytes of NAME.wasm, or a WebAssembly.Module. Each form of the package has
// its own read(). `native` names the module to use in place of native, `simd: false` means that the
// package has no SIMD modules, and file(path) opens files.
export const setHost = (read, options) => {
    Object.assign(host, { read }, options);
};

export const hostFile = () => host.file;

const fileOf = (name) => {
    host.simd ??= WebAssembly.validate(new Uint8Array(SIMD));
    return host.simd ? `${name}-simd` : name;
};

const refusal = (error) => {
    const text = String(error?.message ?? error);
    if (!/unsafe-eval|Content Security Policy|code generation|disallowed by embedder/i.test(text))
        return error;
    return new PetalError(
        'not supported',
        "this page's Content-Security-Policy forbids WebAssembly; add 'wasm-unsafe-eval' to its script-src",
        null,
        { cause: error },
    );
};

const start = async (name) => {
    if (typeof WebAssembly === 'undefined')
        throw new PetalError('not supported', 'there is no WebAssembly here');
    try {
        const source = await host.read(fileOf(name));
        const module =
            source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
        return new Engine(await WebAssembly.instantiate(module, {}), name);
    } catch (error) {
        throw refusal(error);
    }
};

// Returns the engine with this name. The first call starts the engine.
export const engineOf = (wanted) => {
    const name = wanted === 'native' ? host.native : wanted;
    if (!engines.has(name)) {
        const started = start(name);
        engines.set(name, started);
        started.catch(() => engines.delete(name));
    }
    return engines.get(name);
};
