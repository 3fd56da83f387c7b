// filter.js - the class Filter: one filter in a module's memory.
import { engineOf, MAX_KEYS } from './engine.js';
import { PetalError } from './errors.js';
import {
    bytesOfInteger,
    bytesOfKey,
    bytesOfTyped,
    bytesOfUtf16,
    checkType,
    chooseType,
    hasHalf,
    I32,
    isBytes,
    KEY_TYPES,
    NONE,
    outside,
    refuseKey,
    ruleOf,
    TEXT,
    UTF16LE,
} from './keys.js';
import { readFilter } from './load.js';
import { COMPARISON, INFO, OPTION, STATS } from './slots.js';

const ABILITIES = [
    'add',
    'remove',
    'hashes',
    'merge',
    'intersect',
    'compare',
    'like',
    'share',
    'grow',
    'window',
    'map',
    'save',
    'stats',
    'dropCounts',
    'emptyKey',
    'clear',
    'fold',
];
const EMPTY_KEY = 1 << ABILITIES.indexOf('emptyKey');
const POLICIES = ['none', 'growing', 'keys', 'time'];
const ALL_LAYERS = -1;
const FROM_KEYS_BYTES = 2 ** 26;
const FROM_KEYS_PIECE = 4096;
const MAX_BASE64 = 2 ** 28; // the maximum in bytes, since engines limit strings to about 2^29 units
const [OFFSETS32, FIXED, I64_KEYS] = [1, 3, 4]; // PETAL_LAYOUT_

// structuredClone() and postMessage() reject objects that contain a function, and quote its source
// in the message. Without this function, they would turn a filter into an empty object.
const NOT_CLONED = () => 'a filter: post its toBytes(), and Filter.load() them there';

// Frees filters that became unreachable without dispose().
const forgotten = new FinalizationRegistry(({ engine, at }) => engine.calls.free_filter(at));

// ---- options -------------------------------------------------------------------------------------

const u64 = (value, name) => {
    if (typeof value !== 'bigint' && typeof value !== 'number')
        throw new TypeError(
            `${name} must be a whole number, not ${value === null ? 'null' : typeof value}`,
        );
    if (typeof value === 'number' && !Number.isInteger(value))
        throw new RangeError(`${name} must be a whole number, not ${value}`);
    const whole = BigInt(value);
    if (whole < 0n || whole >= 2n ** 64n)
        throw new RangeError(`${name} must be from 0 to 2^64 - 1, not ${value}`);
    return whole;
};

const u32 = (value, name) => {
    const whole = u64(value, name);
    if (whole >= 2n ** 32n) throw new RangeError(`${name} must be below 2^32, not ${value}`);
    return whole;
};

const real = (value, name) => {
    if (typeof value !== 'number')
        throw new TypeError(`${name} must be a number, not ${typeof value}`);
    return value;
};

const flag = (value, name) => {
    if (typeof value !== 'boolean') throw new TypeError(`${name} must be true or false`);
    return value ? 1n : 0n;
};

const oneOf = (names, first) => (value, name) => {
    const place = names.indexOf(value);
    if (place < 0) throw new RangeError(`${name} must be one of ${names.join(', ')}, not ${value}`);
    return BigInt(place + first);
};

// Each option's slot, and the function that reads the option's value.
const OPTIONS = {
    scheme: [OPTION.scheme, oneOf(['blocked', 'classic', 'counting', 'static'], 1)],
    keyType: [OPTION.keyType, oneOf(KEY_TYPES, 0)],
    capacity: [OPTION.capacity, u64],
    rate: [OPTION.rate, real],
    memoryBytes: [OPTION.memoryBytes, u64],
    bits: [OPTION.bits, u64],
    hashes: [OPTION.hashes, u32],
    linesPerKey: [OPTION.linesPerKey, u32],
    seed: [OPTION.seed, u64],
    secret: [],
    metadata: [],
    format: [],
    grow: [OPTION.growth, flag],
    refuseOverfull: [OPTION.refuseOverfull, flag],
    growthStep: [OPTION.growthStep, u32],
    growthRatio: [OPTION.growthRatio, real],
    windowKeys: [OPTION.windowKeys, u64],
    windowMs: [OPTION.windowMs, u64],
    generations: [OPTION.generations, u32],
    foldable: [OPTION.foldable, flag],
};

const bytesOption = (value, name) => {
    if (value === undefined || value === null) return null;
    if (!isBytes(value)) throw new TypeError(`${name} must be a Uint8Array`);
    return value;
};

export const secretOption = (value) => {
    const secret = bytesOption(value, 'secret');
    if (secret && secret.length !== 16)
        throw new RangeError(`secret must be 16 bytes, not ${secret.length}`);
    return secret;
};

export const keyTypeOption = (value) =>
    value === undefined ? NONE : Number(oneOf(KEY_TYPES, 0)(value, 'keyType'));

export const formatOption = (value) => {
    if (value === undefined || value === null) return null;
    if (typeof value !== 'string') throw new TypeError('format must be a string');
    return value;
};

export const checkOptions = (options, known) => {
    if (options === null || typeof options !== 'object')
        throw new TypeError('options must be an object');
    for (const name of Object.keys(options))
        if (!(name in known)) throw new TypeError(`there is no option ${name}`);
};

// Calls create() or plan() with these options.
const withOptions = (engine, options, call) => {
    const secret = secretOption(options.secret),
        metadata = bytesOption(options.metadata, 'metadata');
    const values = [];
    for (const [name, [slot, read]] of Object.entries(OPTIONS))
        if (read && options[name] !== undefined) values.push([slot, read(options[name], name)]);
    return engine.with(secret, (secretAt) =>
        engine.with(metadata, (metadataAt, metadataBytes) =>
            engine.withText(formatOption(options.format), (formatAt) => {
                engine.view();
                engine.integers.fill(0n, 0, OPTION.count);
                for (const [slot, value] of values)
                    (typeof value === 'bigint' ? engine.integers : engine.reals)[slot] = value;
                engine.integers[OPTION.metadataBytes] = BigInt(metadataBytes);
                return engine.calls[call](engine.tableAt, secretAt, metadataAt, formatAt);
            }),
        ),
    );
};

const readInfo = (engine) => {
    engine.view();
    const { integers, reals } = engine;
    const count = (i) => Number(integers[i]);
    const known = (i) => (Number.isNaN(reals[i]) ? null : reals[i]);
    const text = (i) => engine.textAt(count(i));
    const mask = count(INFO.abilities);
    return {
        abilities: ABILITIES.filter((_, i) => mask & (1 << i)),
        hashes: count(INFO.hashes),
        linesPerKey: count(INFO.linesPerKey),
        layers: count(INFO.layers),
        counterBits: count(INFO.counterBits),
        bits: count(INFO.bits),
        bytes: count(INFO.bytes),
        memoryBytes: count(INFO.memoryBytes),
        capacity: count(INFO.capacity),
        targetRate: known(INFO.targetRate),
        predictedRate: known(INFO.predictedRate),
        items: count(INFO.items),
        seed: integers[INFO.seed],
        metadataBytes: count(INFO.metadataBytes),
        secretId: count(INFO.secretId),
        keyType: KEY_TYPES[count(INFO.keyType)],
        policy: POLICIES[count(INFO.policy)],
        growthStep: count(INFO.growthStep),
        growthRatio: reals[INFO.growthRatio],
        windowKeys: count(INFO.windowKeys),
        windowMs: count(INFO.windowMs),
        clockMs: count(INFO.clockMs),
        generations: count(INFO.generations),
        keyed: count(INFO.keyed) === 1,
        fromMs: count(INFO.earliestMs),
        toMs: count(INFO.latestMs),
        scheme: text(INFO.schemeName),
        hash: text(INFO.hashName),
        format: text(INFO.formatName),
        kernel: text(INFO.kernelName),
        fileFormat: text(INFO.fileFormatName),
    };
};

const estimate = (reals, i) => ({ value: reals[i], low: reals[i + 1], high: reals[i + 2] });

// ---- the module that a filter lives in -----------------------------------------------------------

// `native` supports only Petal's own formats; `full` supports all formats.
export const engineFor = (format) =>
    engineOf(format === null || format === 'petal' ? 'native' : 'full');

// ---- batches -------------------------------------------------------------------------------------

const widened = (array, from, to, engine) => {
    const values = new Int32Array(engine.text.buffer, engine.stage, 2 * (to - from));
    const signed = !(array instanceof Uint32Array);
    for (let i = from, j = 0; i < to; i++, j += 2) {
        values[j] = array[i];
        values[j + 1] = signed && array[i] < 0 ? -1 : 0;
    }
};

// Throws an error if the module lacks this call, since `ask` has only the calls for reading.
const needs = (engine, call) => {
    if (!engine.calls[call])
        throw new PetalError(
            'not supported',
            `not in petal-bloom/ask, which is for reading: ${call}`,
        );
};

// Returns the error for the key at this index in a batch. The keys before it have been processed.
export const atIndex = (place, error) => {
    if (!(error instanceof PetalError)) error.message += `, at index ${place}`;
    error.offset = place;
    return error;
};

const isEnd = (end, start, bytes) => Number.isInteger(end) && end >= start && end <= bytes.length;

const INTEGERS = [Int8Array, Int16Array, Uint16Array, Int32Array, Uint32Array];

export class Filter {
    #engine;
    #at;
    #type; // the key type that the file records or, if it records none, the user's
    #rule; // converts text with unpaired surrogates; if undefined, the surrogates become U+FFFD
    #takesEmpty;
    #warned = false;

    // Internal. Users call Filter.create() and similar functions.
    constructor(engine, at, asked = NONE) {
        if (!engine?.calls || !at)
            throw new TypeError('make filters with Filter.create() or Filter.load()');
        this.notCloned = NOT_CLONED;
        this.#engine = engine;
        this.#at = at;
        forgotten.register(this, { engine, at }, this);
        try {
            this.#look(asked);
        } catch (error) {
            this.dispose();
            throw error;
        }
    }

    #look(asked) {
        this.#engine.check(this.#engine.calls.info(this.#at, ALL_LAYERS, this.#engine.tableAt));
        this.#engine.view();
        const { integers } = this.#engine;
        this.#takesEmpty = (Number(integers[INFO.abilities]) & EMPTY_KEY) !== 0;
        this.#rule = ruleOf(Number(integers[INFO.hash]));
        this.#type = chooseType(Number(integers[INFO.keyType]), asked);
    }

    // ---- making

    static async create(options) {
        checkOptions(options, OPTIONS);
        const engine = await engineFor(formatOption(options.format));
        needs(engine, 'create');
        const at = withOptions(engine, options, 'create') >>> 0;
        if (!at) throw engine.error();
        return new Filter(engine, at);
    }

    /**
     * Creates a filter from an unknown number of keys. They are read once, into a filter of
     * memoryBytes, which is folded to the smallest size that keeps the rate.
     */
    static async fromKeys(keys, options = {}) {
        if (typeof keys === 'string' || !(keys?.[Symbol.asyncIterator] ?? keys?.[Symbol.iterator]))
            throw new TypeError('keys must be an iterable of keys');
        checkOptions(options, OPTIONS);
        const isStatic = options.scheme === 'static',
            size = isStatic ? {} : { memoryBytes: FROM_KEYS_BYTES },
            fold = isStatic ? {} : { foldable: true };
        const large = await Filter.create({ rate: 0.01, ...size, ...options, ...fold });
        let folded;
        try {
            await large.#addAll(keys);
            folded = isStatic ? large.#frozen() : large.#foldIfPossible();
        } finally {
            if (folded !== large) large.dispose();
        }
        return folded;
    }

    // Adds keys piece by piece. The index in an error counts from the first piece.
    async #addAll(keys) {
        let piece = [],
            before = 0;
        const take = (key) => {
            if (piece.push(isBytes(key) ? key.slice() : key) === FROM_KEYS_PIECE) flush();
        };
        const flush = () => {
            try {
                this.addMany(piece);
            } catch (error) {
                if (Number.isInteger(error.offset)) error.offset += before;
                throw error;
            }
            before += piece.length;
            piece = [];
        };
        if (keys[Symbol.asyncIterator]) for await (const key of keys) take(key);
        else for (const key of keys) take(key);
        flush();
    }

    #frozen() {
        this.freeze();
        return this;
    }

    // Folds the filter. If it contains too many keys, returns it unchanged.
    #foldIfPossible() {
        try {
            return this.fold();
        } catch (error) {
            if (error.code === 'rate out of reach') return this;
            throw error;
        }
    }

    static async plan(options) {
        checkOptions(options, OPTIONS);
        const engine = await engineFor(formatOption(options.format));
        needs(engine, 'plan');
        engine.check(withOptions(engine, options, 'plan'));
        engine.view();
        const slots = engine.integers.slice(0, INFO.count);
        return {
            ...readInfo(engine),
            rateAt: (keys) => {
                const count = u64(keys, 'keys');
                engine.view();
                engine.integers.set(slots);
                return engine.calls.predict_rate(engine.tableAt, count);
            },
        };
    }

    static async load(source, options = {}) {
        checkOptions(options, {
            format: 0,
            secret: 0,
            onProgress: 0,
            signal: 0,
            memoryLimit: 0,
            expectedBytes: 0,
            keyType: 0,
        });
        const keyType = keyTypeOption(options.keyType);
        const [engine, at] = await readFilter(source, {
            ...options,
            format: formatOption(options.format),
            secret: secretOption(options.secret),
            memoryLimit:
                options.memoryLimit === undefined ? 0n : u64(options.memoryLimit, 'memoryLimit'),
        });
        return new Filter(engine, at, keyType);
    }

    // Accepts the result of serialize(), or the result of JSON.parse() for JSON written by an npm
    // class.
    static async deserialize(value, options = {}) {
        const object = typeof value === 'string' ? JSON.parse(value) : value;
        if (object === null || typeof object !== 'object')
            throw new TypeError('deserialize() takes an object or JSON');
        if (typeof object.petal === 'string')
            return Filter.load(
                Uint8Array.from(atob(object.petal), (c) => c.charCodeAt(0)),
                { keyType: object.keyType, ...options },
            );
        const format =
            options.format ??
            ('hashCount' in object
                ? 'js-tutorial'
                : '_nbHashes' in object
                  ? 'bloom-filters'
                  : 'bloomfilter');
        return Filter.load(new TextEncoder().encode(JSON.stringify(object)), {
            ...options,
            format,
        });
    }

    // ---- the handle

    // -> the engine, after checking that it supports this call
    #open(call = undefined) {
        if (this.#at === 0) throw new PetalError('disposed', 'this filter was disposed of');
        if (call) needs(this.#engine, call);
        return this.#engine;
    }

    #new(call, ...words) {
        const engine = this.#open(call),
            made = engine.calls[call](this.#at, ...words) >>> 0;
        if (!made) throw engine.error();
        return new Filter(engine, made, this.#type);
    }

    dispose() {
        if (this.#at === 0) return;
        forgotten.unregister(this);
        this.#engine.calls.free_filter(this.#at);
        this.#at = 0;
    }

    // ---- one key

    // Writes a key that is not an i64 to memory. -> its size
    #put(engine, key) {
        if (typeof key === 'string') return this.#putText(engine, key);
        if (isBytes(key)) return engine.put(key);
        const bytes = bytesOfTyped(key);
        if (bytes) {
            checkType(this.#type, key.type);
            return engine.put(bytes);
        }
        if (typeof key !== 'bigint') refuseKey(key);
        const narrow = bytesOfInteger(key, 32);
        if (!narrow) throw outside(key, 32);
        return engine.put(narrow);
    }

    #putText(engine, key) {
        if (this.#type === UTF16LE) return engine.put(bytesOfUtf16(key));
        if (this.#type !== NONE) checkType(this.#type, 'text');
        return this.#rule && hasHalf(key) ? engine.put(this.#rule(key)) : engine.putText(key);
    }

    #isI64(key) {
        if (typeof key !== 'bigint' || this.#type === I32) return false;
        checkType(this.#type, 'i64');
        if (BigInt.asIntN(64, key) !== key) throw outside(key, 64);
        return true;
    }

    has(key) {
        const engine = this.#open(),
            { calls } = engine;
        if (typeof key === 'string' && this.#type <= TEXT && !this.#rule) {
            const size = engine.putText(key),
                answer = calls.contains(this.#at, engine.keyAt, size) !== 0;
            if (engine.keyAt !== engine.stage) engine.releaseKey();
            return answer;
        }
        if (this.#isI64(key)) return calls.contains_i64(this.#at, key) !== 0;
        const size = this.#put(engine, key),
            answer = calls.contains(this.#at, engine.keyAt, size) !== 0;
        engine.releaseKey();
        return answer;
    }

    add(key) {
        const engine = this.#open('add');
        return (
            this.#change(
                engine,
                key,
                engine.calls.add,
                engine.calls.add_i64,
                engine.calls.add_batch,
            ) === 0
        );
    }

    remove(key) {
        const engine = this.#open('remove');
        return (
            this.#change(
                engine,
                key,
                engine.calls.remove,
                engine.calls.remove_i64,
                engine.calls.remove_batch,
            ) === 0
        );
    }

    #change(engine, key, call, callI64, batch) {
        let status;
        if (this.#isI64(key)) {
            status = callI64(this.#at, key);
            if (status < 0) {
                engine.view();
                new DataView(engine.text.buffer).setBigInt64(engine.stage, key, true);
                this.#explain(engine, batch, 8);
            }
            return status;
        }
        const size = this.#put(engine, key);
        try {
            if (size === 0 && !this.#takesEmpty) return 1;
            status = call(this.#at, engine.keyAt, size);
            if (status < 0) this.#explain(engine, batch, size);
        } finally {
            engine.releaseKey();
        }
        return status;
    }

    // Returns the failure of a single key. Only a batch reports the reason.
    #explain(engine, batch, size) {
        engine.view();
        engine.ends[0] = 0;
        engine.ends[1] = size;
        engine.check(batch(this.#at, OFFSETS32, engine.keyAt, size, engine.endsAt, 0, 1, 0));
    }

    // Writes any key to memory. -> its size
    #putAny(engine, key) {
        if (!this.#isI64(key)) return this.#put(engine, key);
        const bytes = new Uint8Array(8);
        new DataView(bytes.buffer).setBigInt64(0, key, true);
        return engine.put(bytes);
    }

    // Calls `run` with the engine, the filter's address, and the key's address and size.
    static withKey(filter, key, run) {
        const engine = filter.#open(),
            size = key === undefined ? 0 : filter.#putAny(engine, key);
        try {
            return run(engine, filter.#at, engine.keyAt, size);
        } finally {
            engine.releaseKey();
        }
    }

    hashKey(key) {
        return Filter.withKey(this, key, (engine, filter, at, size) =>
            BigInt.asUintN(64, engine.calls.hash_key(filter, at, size)),
        );
    }

    // ---- many keys

    /** Returns the number of keys that were new. */
    addMany(keys) {
        const engine = this.#open('add_batch');
        return this.#many(engine, keys, engine.calls.add_batch, null, true, (key) => this.add(key));
    }

    /** Returns a Uint8Array with 1 (probably) or 0 (certainly not) per key. */
    hasMany(keys) {
        const engine = this.#open(),
            answers = { bytes: null };
        this.#many(engine, keys, engine.calls.contains_batch, answers, false, (key) =>
            this.has(key),
        );
        return answers.bytes;
    }

    /** Returns a Uint8Array with 1 (removed) or 0 (certainly absent) per key. */
    removeMany(keys) {
        const engine = this.#open('remove_batch'),
            answers = { bytes: null };
        this.#many(engine, keys, engine.calls.remove_batch, answers, false, (key) =>
            this.remove(key),
        );
        return answers.bytes;
    }

    #many(engine, keys, call, answers, adds, one) {
        if (Array.isArray(keys)) return this.#list(engine, keys, call, answers, adds, one);
        if (ArrayBuffer.isView(keys)) return this.#numbers(engine, keys, call, answers);
        if (
            keys !== null &&
            typeof keys === 'object' &&
            isBytes(keys.bytes) &&
            keys.ends !== undefined
        )
            return this.#joined(engine, keys, call, answers, adds, one);
        if (
            keys === null ||
            typeof keys !== 'object' ||
            typeof keys[Symbol.iterator] !== 'function'
        )
            throw new TypeError(
                'keys are an array, a typed array of numbers, {bytes, ends}, or an iterable',
            );
        return this.#list(engine, [...keys], call, answers, adds, one);
    }

    #makeAnswers(answers, count) {
        if (answers) answers.bytes = new Uint8Array(count);
    }

    // Runs the batch in memory. The index of its first key is `first`. -> the number of answers
    // that are 1
    #run(engine, call, answers, first, layout, size, keyBytes, count) {
        const results = answers ? engine.resultsAt : 0,
            ends = layout === OFFSETS32 ? engine.endsAt : 0;
        const positive = call(this.#at, layout, engine.stage, size, ends, keyBytes, count, results);
        engine.check(positive, first);
        if (!answers) return positive;
        engine.view();
        answers.bytes.set(engine.results.subarray(0, count), first);
        return positive;
    }

    #list(engine, keys, call, answers, adds, one) {
        const isPlain = this.#type === NONE || this.#type === TEXT,
            skips = adds && !this.#takesEmpty;
        const room = engine.textBytes / 3;
        this.#makeAnswers(answers, keys.length);
        let sum = 0,
            skipped = 0;
        for (let from = 0; from < keys.length;) {
            engine.view();
            const last = Math.min(keys.length, from + MAX_KEYS),
                ends = engine.ends;
            let to = from,
                units = 0;
            ends[0] = 0;
            for (let place = 1; isPlain && to < last; to++, place++) {
                const key = keys[to];
                if (typeof key !== 'string' || (this.#rule && hasHalf(key))) break;
                const size = key.length;
                if (units + size > room || (size === 0 && skips)) break;
                ends[place] = units += size;
            }
            if (to > from) {
                const size = engine.putTexts(keys, from, to, units);
                sum += this.#run(engine, call, answers, from, OFFSETS32, size, 0, to - from);
                from = to;
                continue;
            }
            if (skips && (keys[from] === '' || (isBytes(keys[from]) && keys[from].length === 0)))
                skipped++;
            else sum += this.#one(one, keys[from], from, answers);
            from++;
        }
        this.#warn(skipped);
        return sum;
    }

    #one(one, key, place, answers) {
        let answer;
        try {
            answer = one(key) ? 1 : 0;
        } catch (error) {
            throw atIndex(place, error);
        }
        if (answers) answers.bytes[place] = answer;
        return answer;
    }

    // If the format's library rejects empty keys, this skips them, as that library does.
    #warn(skipped) {
        if (skipped === 0 || this.#warned) return;
        this.#warned = true;
        console.warn(
            `petal-bloom: ${skipped} empty keys skipped: filters of this scheme take none`,
        );
    }

    #joined(engine, { bytes, ends }, call, answers, adds, one) {
        if (!Array.isArray(ends) && !ArrayBuffer.isView(ends))
            throw new TypeError('ends must be an array');
        const skips = adds && !this.#takesEmpty;
        this.#makeAnswers(answers, ends.length);
        let sum = 0,
            start = 0,
            skipped = 0;
        for (let from = 0; from < ends.length;) {
            engine.view();
            const begin = start,
                table = engine.ends,
                last = Math.min(ends.length, from + MAX_KEYS);
            let to = from;
            table[0] = 0;
            for (; to < last; to++) {
                const end = Number(ends[to]);
                if (!isEnd(end, start, bytes)) break;
                if (end - begin > engine.textBytes || (skips && end === start)) break;
                table[to - from + 1] = (start = end) - begin;
            }
            if (to > from) {
                engine.text.set(bytes.subarray(begin, start));
                sum += this.#run(
                    engine,
                    call,
                    answers,
                    from,
                    OFFSETS32,
                    start - begin,
                    0,
                    to - from,
                );
                from = to;
                continue;
            }
            const end = Number(ends[from]);
            if (!isEnd(end, start, bytes))
                throw new PetalError(
                    'bad argument',
                    `the end of key ${from} is before its start, or past the bytes`,
                    from,
                );
            if (skips && end === start) skipped++;
            else sum += this.#one(one, bytes.subarray(start, end), from, answers);
            start = end;
            from++;
        }
        this.#warn(skipped);
        return sum;
    }

    #numbers(engine, keys, call, answers) {
        const isFloat = keys instanceof Float64Array || keys instanceof Float32Array;
        const isLong = keys instanceof BigInt64Array || keys instanceof BigUint64Array;
        if (!isFloat && !isLong && !INTEGERS.some((kind) => keys instanceof kind))
            throw new TypeError(
                'a Uint8Array is one key; of many, give {bytes, ends}, or an array of them',
            );
        const isNarrow = !isFloat && this.#type === I32,
            bits = isNarrow ? 32 : 64;
        this.#checkNumbers(isFloat ? 'f64' : isNarrow ? 'i32' : 'i64');
        this.#makeAnswers(answers, keys.length);
        let sum = 0;
        for (let from = 0, to; from < keys.length; from = to) {
            to = Math.min(keys.length, from + MAX_KEYS);
            if (!isFloat) to = endOfFitting(keys, from, to, bits);
            if (to === from) throw atIndex(from, outside(keys[from], bits));
            const count = to - from;
            engine.view();
            if (isFloat) this.#putFloats(engine, keys, from, to);
            else if (isNarrow) putNarrow(engine, keys, from, to);
            else if (isLong) putLong(engine, keys, from, to);
            else widened(keys, from, to, engine);
            if (isFloat) sum += this.#run(engine, call, answers, from, FIXED, 0, 8, count);
            else if (isNarrow) sum += this.#run(engine, call, answers, from, FIXED, 0, 4, count);
            else sum += this.#run(engine, call, answers, from, I64_KEYS, 0, 0, count);
        }
        return sum;
    }

    #checkNumbers(kind) {
        try {
            checkType(this.#type, kind);
        } catch (error) {
            throw atIndex(0, error);
        }
    }

    #putFloats(engine, keys, from, to) {
        new Float64Array(engine.text.buffer, engine.stage, to - from).set(keys.subarray(from, to));
        engine.calls.canonical_f64(engine.stage, to - from);
    }

    // ---- inside

    #info(layer) {
        const engine = this.#open();
        engine.check(engine.calls.info(this.#at, layer, engine.tableAt));
        return { ...readInfo(engine), keyType: KEY_TYPES[this.#type] };
    }

    get info() {
        return this.#info(ALL_LAYERS);
    }

    /** Describes one layer. Layer 0 is the oldest. */
    layerInfo(layer) {
        return this.#info(Number(u32(layer, 'layer')));
    }

    stats(layer = undefined) {
        const engine = this.#open('stats');
        const place = layer === undefined ? ALL_LAYERS : Number(u32(layer, 'layer'));
        engine.check(engine.calls.stats(this.#at, place, engine.tableAt));
        engine.view();
        const { integers, reals } = engine;
        return {
            saturated: integers[STATS.saturated] === 1n,
            overfull: integers[STATS.overfull] === 1n,
            bitsSet: Number(integers[STATS.bitsSet]),
            saturatedCounters: Number(integers[STATS.saturatedCounters]),
            fill: reals[STATS.fill],
            estimatedItems: estimate(reals, STATS.estimatedItems),
            estimatedRate: reals[STATS.estimatedRate],
        };
    }

    get isOverfull() {
        const engine = this.#open('is_overfull');
        return engine.calls.is_overfull(this.#at) !== 0;
    }

    contentId() {
        const engine = this.#open();
        engine.check(engine.calls.content_id(this.#at, engine.tableAt));
        engine.view();
        return engine.integers[0];
    }

    /** Returns a copy of a layer's bits, in the layout of its scheme. */
    bits(layer = 0) {
        const engine = this.#open();
        engine.check(engine.calls.bits(this.#at, Number(u32(layer, 'layer')), engine.tableAt));
        const bytes = engine.view(),
            at = Number(engine.integers[0]);
        return bytes.slice(at, at + Number(engine.integers[1]));
    }

    get metadata() {
        const size = this.info.metadataBytes,
            engine = this.#engine;
        const at = engine.calls.metadata(this.#at) >>> 0;
        return at ? engine.view().slice(at, at + size) : null;
    }

    set metadata(bytes) {
        const engine = this.#open('set_metadata');
        engine.with(bytesOption(bytes, 'metadata'), (at, size) =>
            engine.check(engine.calls.set_metadata(this.#at, at, size)),
        );
    }

    // ---- whole filters

    // Calls `run` with the other filter's address. The other filter may be in another module's
    // memory.
    #beside(other, call, run) {
        const engine = this.#open(call);
        if (!(other instanceof Filter)) throw new TypeError('the other one is no Filter');
        const theirs = other.#open();
        if (theirs === engine) return run(engine, other.#at);
        const secret = null;
        const copy = engine.with(
            other.toBytes(),
            (at, size) => engine.calls.load(at, size, 0, secret, 2, 0n) >>> 0,
        );
        if (!copy) throw engine.error();
        try {
            return run(engine, copy);
        } finally {
            engine.calls.free_filter(copy);
        }
    }

    merge(other) {
        this.#beside(other, 'merge', (engine, at) =>
            engine.check(engine.calls.merge(this.#at, at)),
        );
        return this;
    }

    intersect(other) {
        this.#beside(other, 'intersect', (engine, at) =>
            engine.check(engine.calls.intersect(this.#at, at)),
        );
        return this;
    }

    compare(other) {
        return this.#beside(other, 'compare', (engine, at) => {
            engine.check(engine.calls.compare(this.#at, at, engine.tableAt));
            engine.view();
            const { integers, reals } = engine;
            return {
                saturated: integers[COMPARISON.saturated] === 1n,
                itemsA: estimate(reals, COMPARISON.itemsA),
                itemsB: estimate(reals, COMPARISON.itemsB),
                union: estimate(reals, COMPARISON.unionItems),
                intersection: estimate(reals, COMPARISON.intersection),
                jaccard: estimate(reals, COMPARISON.jaccard),
                containmentAInB: estimate(reals, COMPARISON.containmentAInB),
                containmentBInA: estimate(reals, COMPARISON.containmentBInA),
            };
        });
    }

    clear() {
        const engine = this.#open('clear');
        engine.check(engine.calls.clear(this.#at));
    }

    freeze() {
        const engine = this.#open('freeze');
        engine.check(engine.calls.freeze(this.#at));
    }

    /** Sets a time window's clock to a Date or a number of milliseconds. */
    advance(now) {
        const engine = this.#open('advance');
        engine.check(
            engine.calls.advance(this.#at, u64(now instanceof Date ? now.getTime() : now, 'now')),
        );
    }

    clone() {
        return this.#new('clone');
    }

    /** Returns an empty filter with the same parameters, which can be merged with this one. */
    emptyLike() {
        return this.#new('create_like');
    }

    dropCounts() {
        return this.#new('drop_counts');
    }

    /**
     * Returns a smaller filter with the same keys. Its size is either the smallest that keeps the
     * rate for the keys present or for `capacity` keys, or exactly `bits` bits.
     */
    fold(options = {}) {
        this.#open('fold');
        checkOptions(options, { rate: 0, capacity: 0, bits: 0 });
        const { rate = 0, capacity = 0, bits = 0 } = options;
        return this.#new('fold', real(rate, 'rate'), u64(capacity, 'capacity'), u64(bits, 'bits'));
    }

    toBytes(format = undefined) {
        const engine = this.#open('serialize');
        return engine.withText(formatOption(format), (formatAt) => {
            const size = Number(
                BigInt.asUintN(64, engine.calls.serialized_bytes(this.#at, formatAt)),
            );
            const at = engine.allocate(size);
            try {
                engine.check(engine.calls.serialize(this.#at, formatAt, at, size));
                return engine.view().slice(at, at + size);
            } finally {
                engine.calls.release(at);
            }
        });
    }

    /** Returns the patch from this filter to `to`. */
    diff(to) {
        const engine = this.#open('diff');
        return this.#beside(to, 'diff', (_, at) => {
            engine.check(engine.calls.diff(this.#at, at, engine.tableAt));
            const bytes = engine.view(),
                from = Number(engine.integers[0]);
            const patch = bytes.slice(from, from + Number(engine.integers[1]));
            engine.calls.release(from);
            return patch;
        });
    }

    /** Applies the patch to the filter. If this fails, the filter is unchanged. */
    applyPatch(patch, { memoryLimit = 0 } = {}) {
        const engine = this.#open('apply_patch'),
            limit = u64(memoryLimit, 'memoryLimit');
        if (!isBytes(patch)) throw new TypeError('a patch is a Uint8Array');
        engine.with(patch, (at, size) =>
            engine.check(engine.calls.apply_patch(this.#at, at, size, limit)),
        );
        this.#look(this.#type);
    }

    /**
     * Returns an object for JSON.stringify(). If the filter has an npm class's format, it is that
     * class's object, otherwise {petal: base64}.
     */
    serialize() {
        const { format, keyed } = this.info;
        if (keyed)
            throw new PetalError(
                'not supported',
                'a keyed filter is not serialized: its file is toBytes()',
            );
        if (['js-tutorial', 'bloom-filters', 'bloomfilter'].includes(format))
            return JSON.parse(new TextDecoder().decode(this.toBytes(format)));
        const bytes = this.toBytes();
        if (bytes.length > MAX_BASE64)
            throw new PetalError(
                'over a limit',
                `${bytes.length} bytes do not fit into a string: take toBytes()`,
            );
        let text = '';
        for (let i = 0; i < bytes.length; i += 4096)
            text += String.fromCharCode(...bytes.subarray(i, i + 4096));
        const { keyType } = this.info;
        return keyType === 'none' ? { petal: btoa(text) } : { petal: btoa(text), keyType };
    }

    toJSON() {
        return this.serialize();
    }
}

if (Symbol.dispose) Filter.prototype[Symbol.dispose] = Filter.prototype.dispose;

// Returns the index of the first integer that doesn't fit in `bits` bits, or `to` if all fit.
const endOfFitting = (keys, from, to, bits) => {
    const narrow = bits === 32;
    if (!narrow && !(keys instanceof BigUint64Array)) return to;
    const isBig = typeof keys[from] === 'bigint';
    for (let i = from; i < to; i++) {
        const key = keys[i];
        if (isBig ? BigInt.asIntN(bits, key) !== key : (key | 0) !== key) return i;
    }
    return to;
};

const putLong = (engine, keys, from, to) =>
    new keys.constructor(engine.text.buffer, engine.stage, to - from).set(keys.subarray(from, to));

const putNarrow = (engine, keys, from, to) => {
    const values = new Int32Array(engine.text.buffer, engine.stage, to - from);
    for (let i = from, j = 0; i < to; i++, j++) values[j] = Number(keys[i]);
};

// ---- formats -------------------------------------------------------------------------------------

/** Returns the formats that the `full` module supports. */
export const formats = async () => {
    const engine = await engineOf('full'),
        all = [];
    for (let i = 0; engine.calls.format_at(i, engine.tableAt); i++) {
        engine.view();
        const mask = Number(engine.integers[0]);
        all.push({
            name: engine.textAt(Number(engine.integers[1])),
            keys: engine.textAt(Number(engine.integers[2])),
            canRead: (mask & 1) !== 0,
            canWrite: (mask & 2) !== 0,
            canCreate: (mask & 4) !== 0,
            canRecognize: (mask & 8) !== 0,
            hasChecksum: (mask & 32) !== 0,
            isPacked: (mask & 64) !== 0,
        });
    }
    return all;
};

/** Returns the names of the formats that match the header and the length of these bytes. */
export const recognize = async (bytes) => {
    if (!isBytes(bytes)) throw new TypeError('recognize() takes a Uint8Array');
    const engine = await engineOf('full');
    return engine.with(bytes, (at, size) => {
        const count = Math.min(engine.calls.recognize(at, size, engine.tableAt, 64), 64);
        const names = new Uint32Array(engine.view().buffer, engine.tableAt, count);
        return [...names].map((name) => engine.textAt(name));
    });
};

/** Returns a key's shard, from 0 to shards - 1. A key has the same shard in every language. */
export const shardOf = async (key, shards) => {
    const engine = await engineOf('native');
    const bytes = bytesOfKey(key);
    return engine.with(
        bytes,
        (at, size) => engine.calls.shard_of(at, size, Number(u32(shards, 'shards'))) >>> 0,
    );
};
