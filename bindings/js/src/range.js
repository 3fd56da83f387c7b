// range.js - a filter that stays on its host: the header is fetched once, and for each key the one
// line of 64 bytes that it lies in (of some filters, several). The core says which bytes those are.
import { engineOf, HEADER_ONLY } from './engine.js';
import { PetalError } from './errors.js';
import { atIndex, checkOptions, Filter, keyTypeOption, secretOption } from './filter.js';

const FIRST_BYTES = 1024;
const MAX_RANGES = 64; // of one key: classic filters have up to 64 positions
const MAX_CACHED = 65536; // ranges; of lines, 4 MiB
const MAX_GAP = 256; // bytes between two lines that one request brings
const MAX_REQUESTS = 8; // at the same time
const MAX_RELOADS = 3;

class Changed extends Error {}

const refuse = (url, why) => new PetalError('not supported', `${url}: ${why}`);

const fetchRange = async (url, from, to, { signal, etag, headers }) => {
    const response = await fetch(url, {
        signal,
        cache: 'no-store', // the cache of lines is ours, and a stale ETag would look like a new one
        headers: { ...headers, Range: `bytes=${from}-${to - 1}` },
    });
    const { status } = response;
    if (status !== 206) await response.body?.cancel();
    if (status === 200)
        throw refuse(url, 'the server ignores Range; load the file with Filter.load()');
    if (status === 416 && etag !== undefined) throw new Changed();
    if (status !== 206)
        throw new PetalError('i/o error', `${url}: ${status} ${response.statusText}`.trim());
    const tag = response.headers.get('etag');
    const wrong =
        tag === null
            ? 'no ETag, so a changed file would go unnoticed (of another origin, it must be exposed)'
            : response.headers.has('content-encoding')
              ? 'the server packs ranges'
              : null;
    if (wrong !== null) {
        await response.body?.cancel();
        throw refuse(url, wrong);
    }
    if (etag !== undefined && tag !== etag) {
        await response.body?.cancel();
        throw new Changed();
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes.length > to - from) throw refuse(url, 'the server sent more than the range');
    return { bytes, tag };
};

/** A filter on a static host, asked by HTTP ranges. Answers are those of the whole file. */
export class RangeFilter {
    #url;
    #options;
    #filter = null;
    #etag;
    #cache = new Map();
    #waiting = [];
    #disposed = false;

    constructor(url, options) {
        this.#url = url;
        this.#options = options;
    }

    static async open(url, options = {}) {
        checkOptions(options, { secret: 0, signal: 0, headers: 0, keyType: 0 });
        secretOption(options.secret);
        keyTypeOption(options.keyType);
        const opened = new RangeFilter(url, options);
        await opened.#readHeader();
        return opened;
    }

    async #readHeader() {
        const engine = await engineOf('native'),
            { secret, signal, headers, keyType } = this.#options;
        let size = FIRST_BYTES,
            etag;
        for (;;) {
            const { bytes, tag } = await fetchRange(this.#url, 0, size, { signal, etag, headers });
            etag = tag;
            const at = engine.with(secretOption(secret), (secretAt) =>
                engine.with(
                    bytes,
                    (from, length) =>
                        engine.calls.load(from, length, 0, secretAt, HEADER_ONLY, 0n) >>> 0,
                ),
            );
            if (at) {
                this.#filter?.dispose();
                this.#filter = new Filter(engine, at, keyTypeOption(keyType));
                break;
            }
            const error = engine.error();
            if (
                error.code !== 'truncated' ||
                error.offset === null ||
                error.offset <= size ||
                bytes.length < size
            )
                throw error;
            size = error.offset;
        }
        this.#etag = etag;
        this.#cache.clear();
    }

    #open() {
        if (this.#disposed) throw new PetalError('disposed', 'this filter was disposed of');
        return this.#filter;
    }

    get info() {
        return this.#open().info;
    }

    /** false: certainly not; true: probably. Calls of the same turn are sent together. */
    has(key) {
        this.#open();
        return new Promise((resolve, reject) => {
            this.#rangesOf(key); // a bad key is an error of its own call only
            this.#waiting.push({ key, resolve, reject });
            if (this.#waiting.length > 1) return;
            queueMicrotask(async () => {
                const waiting = this.#waiting;
                this.#waiting = [];
                try {
                    const answers = await this.hasMany(waiting.map((one) => one.key));
                    waiting.forEach((one, i) => one.resolve(answers[i] === 1));
                } catch (error) {
                    for (const one of waiting) one.reject(error);
                }
            });
        });
    }

    /** A Uint8Array with 1 (probably) or 0 (certainly not) per key of an array. */
    async hasMany(keys, { signal = this.#options.signal } = {}) {
        const all = [...keys];
        for (let reloads = 0; ; reloads++) {
            try {
                return await this.#query(all, signal);
            } catch (error) {
                if (!(error instanceof Changed)) throw error;
                if (reloads === MAX_RELOADS)
                    throw new PetalError('busy', `${this.#url}: the file keeps changing`);
                this.#open();
                await this.#readHeader();
            }
        }
    }

    async #query(keys, signal) {
        const ranges = keys.map((key, i) => this.#rangesOf(key, i)),
            needed = new Map();
        for (const range of ranges.flat()) needed.set(range.from, range);
        const lines = new Map(),
            missing = [];
        for (const range of needed.values()) {
            const cached = this.#cache.get(range.from);
            if (cached) lines.set(range.from, cached);
            else missing.push(range);
        }
        await this.#fetchAll(missing, lines, signal);
        this.#open();
        return Uint8Array.from(keys, (key, i) => this.#answer(key, ranges[i], lines));
    }

    // `place`: of the key in a batch.
    #rangesOf(key, place) {
        try {
            return this.#find(key);
        } catch (error) {
            throw place === undefined ? error : atIndex(place, error);
        }
    }

    #find(key) {
        if (key === undefined) throw new TypeError('a key is missing');
        return Filter.withKey(this.#open(), key, (engine, filter, at, size) => {
            const count = engine.check(
                engine.calls.key_ranges(filter, at, size, engine.tableAt, MAX_RANGES),
            );
            engine.view();
            return Array.from({ length: count }, (_, i) => {
                const from = Number(engine.integers[2 * i]);
                return { from, to: from + Number(engine.integers[2 * i + 1]) };
            });
        });
    }

    #answer(key, ranges, lines) {
        const total = ranges.reduce((sum, { from, to }) => sum + to - from, 0),
            bytes = new Uint8Array(total);
        let place = 0;
        for (const { from } of ranges) {
            bytes.set(lines.get(from), place);
            place += lines.get(from).length;
        }
        return Filter.withKey(this.#filter, key, (engine, filter, at, size) =>
            engine.with(bytes, (from, length) =>
                engine.check(engine.calls.contains_in_ranges(filter, at, size, from, length)),
            ),
        );
    }

    // Neighbours come together; a few requests are on their way at a time.
    async #fetchAll(ranges, lines, signal) {
        const sorted = ranges.sort((a, b) => a.from - b.from),
            requests = [];
        for (const range of sorted) {
            const last = requests.at(-1);
            if (last && range.from - last.to <= MAX_GAP) {
                last.ranges.push(range);
                last.to = Math.max(last.to, range.to);
            } else requests.push({ from: range.from, to: range.to, ranges: [range] });
        }
        const options = { signal, etag: this.#etag, headers: this.#options.headers };
        const work = async () => {
            for (let request; (request = requests.pop());) {
                const { bytes } = await fetchRange(this.#url, request.from, request.to, options);
                if (bytes.length !== request.to - request.from)
                    throw new PetalError(
                        'truncated',
                        `${this.#url} ends within the filter`,
                        request.from,
                    );
                for (const { from, to } of request.ranges)
                    this.#keep(lines, from, bytes.slice(from - request.from, to - request.from));
            }
        };
        try {
            await Promise.all(
                Array.from({ length: Math.min(MAX_REQUESTS, requests.length) }, work),
            );
        } catch (error) {
            requests.length = 0;
            throw error;
        }
    }

    #keep(lines, from, bytes) {
        lines.set(from, bytes);
        if (this.#cache.size >= MAX_CACHED) this.#cache.delete(this.#cache.keys().next().value);
        this.#cache.set(from, bytes);
    }

    dispose() {
        this.#disposed = true;
        this.#cache.clear();
        this.#filter?.dispose();
    }
}

if (Symbol.dispose) RangeFilter.prototype[Symbol.dispose] = RangeFilter.prototype.dispose;

Filter.range = (url, options) => RangeFilter.open(url, options);
