// range.js - a filter that stays on its host. The header is fetched once. For each key, the 64 KiB
// block that contains its bits (for some filters, several blocks) is fetched and checked against
// its checksum. With verify: false, only the key's 64-byte line is fetched, or about 100 bytes of a
// static filter. The core computes the byte ranges.
import { engineOf, HEADER_ONLY } from './engine.js';
import { PetalError } from './errors.js';
import { atIndex, checkOptions, Filter, keyTypeOption, secretOption } from './filter.js';

const FIRST_BYTES = 1024;
const MAX_RANGES = 128; // maximum per key, because the engine's table has no room for more
const MAX_CACHED_LINES = 65536; // 4 MiB
const MAX_CACHED_BLOCKS = 256; // 16 MiB
const MAX_GAP = 256; // largest gap, in bytes, between two ranges that one request fetches together
const MAX_REQUEST_BYTES = 2 ** 20;
const MAX_REQUESTS = 8; // concurrently
const MAX_RELOADS = 3;

class Changed extends Error {}

// Copies part of a run of bytes that begins at file offset whole.from.
const cut = (bytes, whole, part) => bytes.slice(part.from - whole.from, part.to - whole.from);

// Returns the first ranges, up to this number of bytes in total.
const firstOf = (ranges, bytes) => {
    let count = 0;
    for (let sum = 0; sum < bytes; count++) sum += ranges[count].to - ranges[count].from;
    return ranges.slice(0, count);
};

const refuse = (url, why) => new PetalError('not supported', `${url}: ${why}`);

const fetchRange = async (url, from, to, { signal, etag, headers }) => {
    const response = await fetch(url, {
        signal,
        cache: 'no-store', // not from the HTTP cache, since a stale ETag would look like a change
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

/** A filter on a static host, queried by HTTP range requests. The answers are the same as for the
 * whole file. */
export class RangeFilter {
    #url;
    #options;
    #verify;
    #filter = null;
    #etag;
    #inTurn;
    #cache = new Map();
    #waiting = [];
    #disposed = false;

    constructor(url, options) {
        this.#url = url;
        this.#options = options;
        this.#verify = options.verify ?? true;
    }

    static async open(url, options = {}) {
        checkOptions(options, { secret: 0, signal: 0, headers: 0, keyType: 0, verify: 0 });
        secretOption(options.secret);
        keyTypeOption(options.keyType);
        if (typeof (options.verify ?? true) !== 'boolean')
            throw new TypeError('verify must be true or false');
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
        this.#inTurn = this.#filter.info.scheme === 'static';
        this.#cache = new Map(); // a running query keeps using the old cache
    }

    #open() {
        if (this.#disposed) throw new PetalError('disposed', 'this filter was disposed of');
        return this.#filter;
    }

    get info() {
        return this.#open().info;
    }

    /** Returns false for "certainly not", true for "probably". Calls made in the same turn of the
     * event loop share requests. */
    has(key) {
        this.#open();
        return new Promise((resolve, reject) => {
            this.#rangesOf(key); // an invalid key fails only its own call
            this.#waiting.push({ key, resolve, reject });
            if (this.#waiting.length > 1) return;
            queueMicrotask(async () => {
                const waiting = this.#waiting;
                this.#waiting = [];
                try {
                    const answers = await this.#answers(
                        waiting.map((one) => one.key),
                        this.#options.signal,
                    );
                    waiting.forEach((one, i) => {
                        if (answers[i] instanceof PetalError) one.reject(answers[i]);
                        else one.resolve(answers[i] === 1);
                    });
                } catch (error) {
                    for (const one of waiting) one.reject(error);
                }
            });
        });
    }

    /** Returns a Uint8Array with 1 (probably) or 0 (certainly not) per key in an array. */
    async hasMany(keys, { signal = this.#options.signal } = {}) {
        const answers = await this.#answers([...keys], signal);
        const damaged = answers.findIndex((answer) => answer instanceof PetalError);
        if (damaged >= 0) throw atIndex(damaged, answers[damaged]);
        return Uint8Array.from(answers);
    }

    // For each key, returns 1, 0, or the error if the key's block is damaged.
    async #answers(keys, signal) {
        for (let reloads = 0; ; reloads++) {
            const etag = this.#etag;
            try {
                return await this.#query(keys, signal);
            } catch (error) {
                if (!(error instanceof Changed)) throw error;
                if (reloads === MAX_RELOADS)
                    throw new PetalError('busy', `${this.#url}: the file keeps changing`);
                this.#open();
                if (this.#etag === etag) await this.#readHeader();
            }
        }
    }

    // A static filter is queried layer by layer, since its first layer answers nearly all keys. For
    // all other filters, the ranges of all layers are fetched together.
    async #query(keys, signal) {
        const etag = this.#etag,
            cache = this.#cache,
            ranges = keys.map((key, i) => this.#rangesOf(key, i)),
            lines = new Map(), // by offset; for uncached blocks, only the keys' lines
            answers = keys.map((key) => (this.#inTurn ? this.#answer(key, [], lines) : null));
        let left = keys.map((_, i) => i);
        const asked = (i) => (this.#inTurn ? firstOf(ranges[i], answers[i].needed) : ranges[i]);
        while (left.length > 0) {
            await this.#bring(left.flatMap(asked), lines, cache, signal);
            this.#open();
            if (this.#etag !== etag) throw new Changed(); // another query noticed the change
            for (const i of left) answers[i] = this.#answer(keys[i], asked(i), lines);
            left = left.filter((i) => answers[i].needed !== undefined);
        }
        return answers;
    }

    // Fetches all ranges that are neither in `lines` nor in the cache.
    async #bring(ranges, lines, cache, signal) {
        const missing = new Map();
        for (const line of new Map(ranges.map((range) => [range.from, range])).values()) {
            if (lines.has(line.from)) continue;
            const unit = this.#verify ? this.#blockOf(line) : line,
                cached = cache.get(unit.from);
            if (cached) lines.set(line.from, cut(cached, unit, line));
            else if (missing.has(unit.from)) missing.get(unit.from).lines.push(line);
            else missing.set(unit.from, { ...unit, lines: [line] });
        }
        const arrived = (unit, bytes) => {
            for (const line of unit.lines) lines.set(line.from, cut(bytes, unit, line));
            this.#keep(cache, unit.from, bytes);
        };
        const damaged = (unit, error) => {
            for (const line of unit.lines) lines.set(line.from, error);
        };
        await this.#fetchAll(this.#wanted([...missing.values()], arrived, damaged), signal);
    }

    // The ranges to fetch, and the functions that receive them. A block waits for its
    // checksum, which precedes all blocks in the file and so is requested first.
    #wanted(units, arrived, damaged) {
        if (!this.#verify)
            return units.map((unit) => ({ ...unit, take: (bytes) => arrived(unit, bytes) }));
        return units.flatMap((unit) => {
            let known;
            const sum = new Promise((resolve) => (known = resolve));
            const take = async (bytes) => {
                const error = this.#compare(unit, bytes, await sum);
                if (error) damaged(unit, error);
                else arrived(unit, bytes);
            };
            return [
                { ...unit.sum, take: known },
                { ...unit, take },
            ];
        });
    }

    #blockOf(line) {
        return Filter.withKey(this.#open(), undefined, (engine, filter) => {
            engine.check(engine.calls.block_ranges(filter, BigInt(line.from), engine.tableAt));
            const [block, sum] = engine.rangesAt(engine.tableAt, 2);
            return { ...block, sum };
        });
    }

    // Checks a block against its checksum. -> an error, or null.
    #compare(block, bytes, sum) {
        return Filter.withKey(this.#open(), undefined, (engine, filter) =>
            engine.with(bytes, (at, size) =>
                engine.with(sum, (sumAt, sumSize) => {
                    const { calls } = engine,
                        from = BigInt(block.from);
                    const status = calls.verify_block(filter, from, at, size, sumAt, sumSize);
                    return status < 0 ? engine.error() : null;
                }),
            ),
        );
    }

    // `place` is the key's index in a batch.
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
            const find = (table, room) =>
                engine.check(engine.calls.key_ranges(filter, at, size, table, room));
            const count = find(engine.tableAt, MAX_RANGES);
            if (count <= MAX_RANGES) return engine.rangesAt(engine.tableAt, count);
            return engine.with(new Uint8Array(16 * count), (table) => {
                find(table, count);
                return engine.rangesAt(table, count);
            });
        });
    }

    // -> 0, 1, the error for a damaged block, or how many bytes of the key's ranges are needed.
    #answer(key, ranges, lines) {
        const damaged = ranges.find(({ from }) => lines.get(from) instanceof PetalError);
        if (damaged) return lines.get(damaged.from);
        const total = ranges.reduce((sum, { from, to }) => sum + to - from, 0),
            bytes = new Uint8Array(total);
        let place = 0;
        for (const { from } of ranges) {
            bytes.set(lines.get(from), place);
            place += lines.get(from).length;
        }
        return Filter.withKey(this.#filter, key, (engine, filter, at, size) =>
            engine.with(bytes, (from, length) => {
                const answer = engine.calls.contains_in_ranges(filter, at, size, from, length);
                if (answer >= 0) return answer;
                const error = engine.error();
                if (error.code !== 'truncated') throw error;
                return { needed: error.offset };
            }),
        );
    }

    // Joins neighboring ranges. A few requests run concurrently, in file order.
    async #fetchAll(ranges, signal) {
        const sorted = ranges.sort((a, b) => a.from - b.from),
            requests = [];
        for (const range of sorted) {
            const last = requests.at(-1);
            if (
                last &&
                range.from - last.to <= MAX_GAP &&
                range.to - last.from <= MAX_REQUEST_BYTES
            ) {
                last.ranges.push(range);
                last.to = Math.max(last.to, range.to);
            } else requests.push({ from: range.from, to: range.to, ranges: [range] });
        }
        const options = { signal, etag: this.#etag, headers: this.#options.headers },
            left = requests.values();
        const work = async () => {
            for (const request of left) {
                const { bytes } = await fetchRange(this.#url, request.from, request.to, options);
                if (bytes.length !== request.to - request.from)
                    throw new PetalError(
                        'truncated',
                        `${this.#url} ends within the filter`,
                        request.from,
                    );
                for (const range of request.ranges) await range.take(cut(bytes, request, range));
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

    #keep(cache, from, bytes) {
        const room = this.#verify ? MAX_CACHED_BLOCKS : MAX_CACHED_LINES;
        if (cache.size >= room) cache.delete(cache.keys().next().value);
        cache.set(from, bytes);
    }

    dispose() {
        this.#disposed = true;
        this.#cache.clear();
        this.#filter?.dispose();
    }
}

if (Symbol.dispose) RangeFilter.prototype[Symbol.dispose] = RangeFilter.prototype.dispose;

Filter.range = (url, options) => RangeFilter.open(url, options);
