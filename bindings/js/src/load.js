// load.js - loads a filter's bytes from any source straight into the module's memory.
import { PetalError, throwIfAborted } from './errors.js';
import { engineOf, HEADER_ONLY, hostFile } from './engine.js';
import { isBytes } from './keys.js';

const PIECE = 64 * 1024;
const TURN_MS = 10; // how long the loader works before it yields to the event loop
const MAX_MEMORY = 4 * 1024 ** 3;

const nextTurn = () =>
    new Promise((resolve) => {
        if (typeof MessageChannel === 'undefined') return setTimeout(resolve, 0);
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => {
            port1.close();
            resolve();
        };
        port2.postMessage(0);
    });

const notBytes = () => new TypeError('the stream gave something that is no Uint8Array');

const tooLarge = (bytes) =>
    new PetalError(
        'over a limit',
        `${bytes} bytes do not fit into a module, whose memory ends at 4 GiB; ` +
            'query the file where it is with Filter.range(url)',
    );

// ---- sources -------------------------------------------------------------------------------------

const LARGE_PIECE = 1 << 20; // bytes between two calls to onProgress

async function* piecesOf(bytes) {
    yield bytes;
}

async function* piecesOfStream(stream, signal) {
    const reader = stream.getReader();
    const stop = () => reader.cancel(signal.reason).catch(() => {});
    signal?.addEventListener('abort', stop, { once: true });
    try {
        for (;;) {
            const { done, value } = await reader.read();
            throwIfAborted(signal);
            if (done) return;
            yield value;
        }
    } finally {
        signal?.removeEventListener('abort', stop);
        reader.cancel().catch(() => {});
        reader.releaseLock();
    }
}

// The length of a body is known unless the body was compressed. For a body from another origin, the
// header that says so can't be read.
const lengthOf = (response) => {
    const length = response.headers.get('content-length');
    const encoding = response.headers.get('content-encoding');
    if (length === null || (encoding !== null && encoding !== 'identity')) return {};
    const total = Number(length);
    return response.type === 'cors' ? { total } : { total, expected: total };
};

// In Node, strings without a URL scheme are paths, and file: URLs name paths. The drive in C:\
// looks like a scheme of one letter.
const pathOf = (source) => {
    if (source instanceof URL) return source.protocol === 'file:' ? source : null;
    if (typeof source !== 'string') return null;
    const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(source)?.[1].toLowerCase();
    return scheme === undefined ? source : scheme === 'file' ? new URL(source) : null;
};

const open = async (source, signal) => {
    if (isBytes(source))
        return { pieces: piecesOf(source), total: source.length, expected: source.length };
    if (source instanceof ArrayBuffer) return open(new Uint8Array(source), signal);
    const path = hostFile() && pathOf(source);
    if (path) return hostFile()(path);
    if (typeof source === 'string' || source instanceof URL) {
        const response = await fetch(source, { signal });
        return open(response, signal);
    }
    if (typeof Blob !== 'undefined' && source instanceof Blob)
        return {
            pieces: piecesOfStream(source.stream(), signal),
            total: source.size,
            expected: source.size,
        };
    if (typeof Response !== 'undefined' && source instanceof Response) {
        if (!source.ok) {
            await source.body?.cancel();
            throw new PetalError(
                'i/o error',
                `${source.url}: ${source.status} ${source.statusText}`.trim(),
            );
        }
        const { total, expected } = lengthOf(source);
        if (!source.body) return { pieces: piecesOf(new Uint8Array(0)), total: 0 };
        return { pieces: piecesOfStream(source.body, signal), total, expected };
    }
    if (source && typeof source.getReader === 'function')
        return { pieces: piecesOfStream(source, signal) };
    if (source && typeof source[Symbol.asyncIterator] === 'function') return { pieces: source };
    throw new TypeError(
        'a filter is loaded from a path, URL, Response, ReadableStream, Blob or Uint8Array',
    );
};

// ---- the beginning -------------------------------------------------------------------------------

const joined = (a, b) => {
    if (a.length === 0) return b;
    const both = new Uint8Array(a.length + b.length);
    both.set(a);
    both.set(b, a.length);
    return both;
};

// A sequence of pieces whose first bytes can be inspected before they are consumed.
class Pieces {
    #iterator;
    #head = new Uint8Array(0);
    #ended = false;

    constructor(pieces) {
        this.#iterator = pieces[Symbol.asyncIterator]();
    }

    async #next() {
        const { done, value } = await this.#iterator.next();
        if (!done && !isBytes(value)) throw notBytes();
        this.#ended = Boolean(done);
        return value;
    }

    // Returns the first `size` bytes or more, or all bytes if the source has fewer.
    async head(size) {
        while (this.#head.length < size && !this.#ended) {
            const piece = await this.#next();
            if (!this.#ended) this.#head = joined(this.#head, piece);
        }
        return this.#head;
    }

    async *[Symbol.asyncIterator]() {
        yield this.#head;
        this.#head = null;
        while (!this.#ended) {
            const piece = await this.#next();
            if (!this.#ended) yield piece;
        }
    }

    async return() {
        await this.#iterator.return?.();
    }
}

const isGzip = (head) => head[0] === 0x1f && head[1] === 0x8b && head[2] === 8;

const unpack = async function* (pieces) {
    const iterator = pieces[Symbol.asyncIterator]();
    let failure = null;
    const packed = new ReadableStream({
        async pull(controller) {
            try {
                const { done, value } = await iterator.next();
                if (done) controller.close();
                else controller.enqueue(value);
            } catch (error) {
                failure = error;
                controller.error(error);
            }
        },
        async cancel() {
            await pieces.return();
        },
    });
    try {
        yield* piecesOfStream(packed.pipeThrough(new DecompressionStream('gzip')));
    } catch (error) {
        throw failure ?? new PetalError('damaged', `gzip: ${error.message}`);
    }
};

// A petal file's header may name another library's scheme. If `native` lacks this scheme, `full` is
// used.
const engineOfPetal = async (pieces) => {
    const engine = await engineOf('native');
    for (let size = 1024; ;) {
        const head = await pieces.head(size);
        const at = engine.with(
            head,
            (from, bytes) => engine.calls.load(from, bytes, 0, 0, HEADER_ONLY, 0n) >>> 0,
        );
        if (at) {
            engine.calls.free_filter(at);
            return engine;
        }
        const { code, offset } = engine.error();
        if (code === 'not supported') return engineOf('full');
        if (code !== 'truncated' || offset === null || offset <= head.length || head.length < size)
            return engine;
        size = offset;
    }
};

// ---- reading -------------------------------------------------------------------------------------

/** -> [engine, address of the filter]. The caller must have checked the options. */
export const readFilter = async (
    source,
    { format, secret, onProgress, signal, memoryLimit, expectedBytes },
) => {
    throwIfAborted(signal);
    const opened = await open(source, signal);
    const total = opened.total ?? expectedBytes ?? null;
    let expected = opened.expected ?? expectedBytes ?? 0,
        loaded = 0;
    const counted = async function* (pieces) {
        for await (const piece of pieces) {
            if (!isBytes(piece)) throw notBytes();
            for (let from = 0; from < piece.length; from += LARGE_PIECE) {
                const part = piece.subarray(from, from + LARGE_PIECE);
                yield part;
                loaded += part.length;
                onProgress?.({ loaded, total });
            }
        }
    };
    let pieces = new Pieces(counted(opened.pieces));
    try {
        if (isGzip(await pieces.head(3))) {
            expected = 0;
            pieces = new Pieces(unpack(pieces));
            if (format === 'dcso-gzip') format = 'dcso';
        }
        if (expected >= MAX_MEMORY) throw tooLarge(expected);
        const isPetal = format === null || format === 'petal';
        const engine = isPetal ? await engineOfPetal(pieces) : await engineOf('full');
        return [
            engine,
            await feed(engine, pieces, { format, secret, signal, memoryLimit, expected }),
        ];
    } finally {
        await pieces.return();
    }
};

// The limit is the one that petal_load() would apply to the complete file. If the source's length
// is known, all memory is allocated at once, since untouched pages cost nothing.
const limitOf = (expected) =>
    expected === 0 ? 0n : BigInt(Math.max(2 ** 30, 64 * Number(expected)));

const feed = async (engine, pieces, { format, secret, signal, memoryLimit, expected }) => {
    const { calls } = engine;
    const limit = memoryLimit || limitOf(expected);
    const reader =
        engine.with(secret, (secretAt) =>
            engine.withText(format, (formatAt) =>
                calls.reader_create(formatAt, secretAt, BigInt(expected), limit),
            ),
        ) >>> 0;
    if (!reader) throw engine.error();
    try {
        let turn = performance.now();
        for await (const piece of pieces) {
            for (let from = 0; from < piece.length; from += PIECE) {
                const part = piece.subarray(from, from + PIECE);
                engine.view();
                engine.text.set(part);
                if (calls.reader_feed(reader, engine.stage, part.length) < 0)
                    throw largeError(engine);
                if (performance.now() - turn < TURN_MS) continue;
                await nextTurn();
                throwIfAborted(signal);
                turn = performance.now();
            }
        }
        throwIfAborted(signal);
        const at = calls.reader_finish(reader) >>> 0;
        if (!at) throw largeError(engine);
        return at;
    } finally {
        calls.reader_free(reader);
    }
};

// If the filter is too large for memory, the error suggests Filter.range().
const largeError = (engine) => {
    const error = engine.error();
    if (error.code === 'out of memory' && !error.message.includes('Filter.range'))
        error.message +=
            '; a filter that is too large here can be queried where it is, with Filter.range(url)';
    return error;
};
