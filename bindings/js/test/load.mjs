// load.mjs - tests loading from every source, with progress and abort, and tests that a broken file
// leaves no memory allocated. Also tests filters on a host, which are queried by ranges or kept up
// to date.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Filter, formats, HostedFilter, PetalError } from 'petal-bloom';
import { serve } from './server.mjs';
import { check, fails, read, same, sameBytes, secret, test, vectors } from './tap.mjs';

const COUNT = 100000;
const members = Array.from({ length: COUNT }, (_, i) => `https://example.com/${i}`);
const others = Array.from({ length: 5000 }, (_, i) => `https://example.org/${i}`);
const made = async (options = {}) => {
    const f = await Filter.create({ capacity: COUNT, rate: 0.01, ...options });
    f.addMany(members);
    return f;
};

const streamOf = (bytes, size) =>
    new ReadableStream({
        start(controller) {
            for (let at = 0; at < bytes.length; at += size)
                controller.enqueue(bytes.slice(at, at + size));
            controller.close();
        },
    });

test('a filter knows the format of its file', async () => {
    const f = await Filter.create({ capacity: 100, rate: 0.01, format: 'guava' });
    same(f.info.fileFormat, null, 'made in memory');
    for (const format of ['guava', 'petal']) {
        const { info } = await Filter.load(f.toBytes(format), { format });
        same(`${info.fileFormat} ${info.format}`, `${format} guava`);
    }
});

test('a filter is loaded from every source', async () => {
    const bytes = (await made()).toBytes(),
        server = await serve();
    server.files.set('/a.petal', bytes);
    const url = `${server.url}a.petal`,
        folder = mkdtempSync(join(tmpdir(), 'petal load ')),
        path = join(folder, 'a b.petal');
    writeFileSync(path, bytes);
    const sources = {
        bytes,
        buffer: bytes.slice().buffer,
        blob: new Blob([bytes]),
        url,
        'URL object': new URL(url),
        response: await fetch(url),
        'own response': new Response(bytes),
        stream: streamOf(bytes, 1000),
        'stream of single bytes': streamOf(bytes.subarray(0, 3000), 1),
        'node stream': Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]),
        gzip: gzipSync(bytes),
        'gzip stream': streamOf(new Uint8Array(gzipSync(bytes)), 999),
        path,
        'relative path': relative(process.cwd(), path),
        'file: URL': pathToFileURL(path),
        'file: URL as a string': pathToFileURL(path).href,
    };
    for (const [name, source] of Object.entries(sources)) {
        if (name === 'stream of single bytes') {
            const error = await fails(() => Filter.load(source), PetalError);
            same(error.code, 'truncated', name);
            continue;
        }
        const f = await Filter.load(source);
        sameBytes(f.toBytes(), bytes, name);
        f.dispose();
    }
    const progress = [];
    await Filter.load(path, { onProgress: (one) => progress.push(one) });
    same(progress.at(-1).total, bytes.length);
    same((await fails(() => Filter.load(join(folder, 'none')))).code, 'ENOENT');
    rmSync(folder, { recursive: true });
    await server.close();
});

test('gzip is unpacked, whatever the format is called', async () => {
    const server = await serve();
    for (const [file, format] of [
        ['dcso/n100_p0.01.bloom.gz', 'dcso'],
        ['dcso/n100_p0.01.bloom.gz', 'dcso-gzip'],
        ['dcso/n100_p0.01.bloom.gz', 'auto'],
        ['guava/utf8_n100_p0.01_mitz64.bin', 'guava'],
        ['js-tutorial/size1000_k3.json', 'js-tutorial'],
        ['leveldb/bpk10_n100.bin', 'leveldb'],
    ]) {
        const bytes = read(file),
            packed = file.endsWith('.gz') ? bytes : new Uint8Array(gzipSync(bytes));
        server.files.set('/packed', packed);
        for (const source of [packed, new Blob([packed]), `${server.url}packed`]) {
            const f = await Filter.load(source, { format });
            same(f.has('key-5'), true, `${file} as ${format}:`);
            f.dispose();
        }
    }
    await server.close();
});

test('progress is told, and ends with all', async () => {
    const bytes = (await made({ capacity: 5e6 })).toBytes(),
        seen = [];
    await Filter.load(new Blob([bytes]), { onProgress: (progress) => seen.push(progress) });
    check(seen.length > 1 && seen.every((one, i) => i === 0 || one.loaded >= seen[i - 1].loaded));
    same(seen.at(-1).loaded, bytes.length);
    same(seen.at(-1).total, bytes.length);
});

test('an abort rejects with AbortError: before, while fetching, and while reading', async () => {
    const bytes = (await made({ capacity: 5e6 })).toBytes(),
        server = await serve();
    server.files.set('/a.petal', bytes);
    server.slow = 16384;
    same(
        (await fails(() => Filter.load(bytes, { signal: AbortSignal.abort() }))).name,
        'AbortError',
    );
    const controller = new AbortController();
    const stopped = Filter.load(`${server.url}a.petal`, {
        signal: controller.signal,
        onProgress: ({ loaded }) => loaded > 100000 && controller.abort(),
    });
    same((await fails(() => stopped)).name, 'AbortError');
    const second = new AbortController();
    const endless = new ReadableStream({ pull: () => new Promise(() => {}) });
    setTimeout(() => second.abort(), 20);
    const waiting = fails(() => Filter.load(endless, { signal: second.signal }));
    same((await waiting).name, 'AbortError');
    await server.close();
});

test('what is no filter, missing, or cut short is an error of its own', async () => {
    const server = await serve(),
        bytes = read('petal/blocked.petal');
    same((await fails(() => Filter.load(`${server.url}none`), PetalError)).code, 'i/o error');
    const text = new TextEncoder().encode('just some text');
    same((await fails(() => Filter.load(text), PetalError)).code, 'not a filter');
    same(
        (await fails(() => Filter.load(text, { format: 'auto' }), PetalError)).code,
        'not a filter',
    );
    const cut = gzipSync(bytes).subarray(0, 60);
    same((await fails(() => Filter.load(cut), PetalError)).code, 'damaged');
    const odd = new ReadableStream({
        start(controller) {
            controller.enqueue('text');
            controller.close();
        },
    });
    await fails(() => Filter.load(odd), TypeError);
    for (const source of [5, null, {}, undefined])
        await fails(() => Filter.load(source), TypeError);
    const broken = new ReadableStream({
        start(controller) {
            controller.enqueue(bytes.slice(0, 100));
            controller.error(new Error('the wire broke'));
        },
    });
    same((await fails(() => Filter.load(broken))).message, 'the wire broke');
    await server.close();
});

test('above 4 GiB the error names Range mode', async () => {
    const error = await fails(
        () =>
            Filter.load(streamOf(read('petal/blocked.petal'), 100), { expectedBytes: 5 * 2 ** 30 }),
        PetalError,
    );
    same(error.code, 'over a limit');
    check(error.message.includes('Filter.range('), error.message);
});

test('every broken file of the fuzzers is refused or read, by every format', async () => {
    const corpus = new URL('../fuzz/corpus/', vectors);
    const known = new Set((await formats()).map((format) => format.name));
    let count = 0,
        refused = 0;
    for (const format of readdirSync(corpus))
        for (const name of readdirSync(new URL(`${format}/`, corpus))) {
            const bytes = read(`../fuzz/corpus/${format}/${name}`);
            const own = known.has(format.replaceAll('_', '-'))
                ? format.replaceAll('_', '-')
                : 'petal';
            for (const options of [{ format: 'auto' }, { format: own }, {}]) {
                count++;
                try {
                    const f = await Filter.load(bytes, options);
                    f.has('a');
                    f.dispose();
                } catch (error) {
                    if (!(error instanceof PetalError)) throw error;
                    refused++;
                }
            }
        }
    console.log(`# ${count} files, ${refused} refused`);
    check(count > 2000 && refused > 1000 && refused < count);
});

test('every byte of a file flipped: refused, or the same filter', async () => {
    const bytes = read('petal/blocked.petal');
    for (let at = 0; at < bytes.length; at++) {
        const flipped = bytes.slice();
        flipped[at] ^= 1 << (at % 8);
        try {
            const f = await Filter.load(flipped);
            for (let i = 0; i < 100; i++) check(f.has(`key-${i}`), `byte ${at}`);
            f.dispose();
        } catch (error) {
            check(error instanceof PetalError && error.message.length > 5, `byte ${at}: ${error}`);
        }
    }
});

// ---- by ranges -----------------------------------------------------------------------------------

const filters = {
    blocked: {},
    'two lines': { rate: 1e-6 },
    classic: { scheme: 'classic' },
    counting: { scheme: 'counting' },
    growing: { capacity: 1000, grow: true },
    'many layers': { scheme: 'classic', rate: 1e-4, capacity: 100, grow: true },
    window: { capacity: undefined, windowKeys: 2 * COUNT },
    keyed: { secret },
};

test('ranges answer as the whole file does, for each kind', async () => {
    const server = await serve();
    for (const [name, options] of Object.entries(filters)) {
        const f = await made(options);
        server.files.set('/a.petal', f.toBytes());
        const keys = [...members.slice(0, 50), ...others.slice(0, 300)];
        for (const verify of [undefined, true, false]) {
            const { secret } = options;
            const range = await Filter.range(`${server.url}a.petal`, { secret, verify });
            sameBytes(await range.hasMany(keys), f.hasMany(keys), name);
            same(range.info.items, f.info.items, name);
            range.dispose();
        }
        f.dispose();
    }
    await server.close();
});

test('unverified, a key takes one range of 64 bytes, once; keys of one turn go together', async () => {
    const server = await serve(),
        f = await made();
    server.files.set('/a.petal', f.toBytes());
    const range = await Filter.range(`${server.url}a.petal`, { verify: false });
    server.log.length = 0;
    same(await range.has(members[0]), true);
    same(server.log.length, 1);
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(server.log[0].range);
    same(Number(to) - Number(from) + 1, 64);
    same(from % 64, 0);
    same(await range.has(members[0]), true);
    same(server.log.length, 1, 'from the cache');
    const answers = await Promise.all([
        range.has(members[1]),
        range.has(members[2]),
        range.has(members[1]),
    ]);
    check(answers.every(Boolean));
    same(server.log.length, 3);
    await fails(() => range.has(5), TypeError);
    range.dispose();
    same((await fails(() => range.has('a'), PetalError)).code, 'disposed');
    await server.close();
});

// Returns the offset at which each key's bits begin, by recording the requests of a filter that
// doesn't verify blocks.
const BLOCK = 65536;
const LARGE = 3000000; // number of keys, for a filter of 3.6 MB with 55 blocks
const sizesOf = (log) =>
    log.map(({ range }) => {
        const [, from, to] = /bytes=(\d+)-(\d+)/.exec(range);
        return { from: Number(from), size: Number(to) - from + 1 };
    });
const placeOf = async (server, key) => {
    const range = await Filter.range(`${server.url}a.petal`, { verify: false });
    server.log.length = 0;
    await range.has(key);
    range.dispose();
    return sizesOf(server.log)[0].from;
};
// The bits end where the file ends.
const payloadOf = (bytes, f) => bytes.length - f.info.bytes;

test('of a static filter a key takes the page that answers, or 113 bytes of it', async () => {
    const server = await serve(),
        bytes = read('static/two-pages.petal'),
        f = await Filter.load(bytes),
        keys = Array.from({ length: 1500 }, (_, i) => BigInt(i * 97));
    server.files.set('/a.petal', bytes);
    for (const [verify, most, rounds] of [
        [true, BLOCK + 8 + 256, 2], // ranges with a gap of up to 256 bytes are fetched together
        [false, 113, 2],
    ]) {
        let once = 0;
        for (const key of keys.slice(0, 200)) {
            const range = await Filter.range(`${server.url}a.petal`, { verify });
            server.log.length = 0;
            same(await range.has(key), f.has(key));
            const sent = sizesOf(server.log).reduce((sum, { size }) => sum + size, 0);
            if (sent <= most && server.log.length <= rounds) once++;
            range.dispose();
        }
        check(once >= 170, `${once} of 200 keys`); // the average is 95.5 %
        const range = await Filter.range(`${server.url}a.petal`, { verify });
        sameBytes(await range.hasMany(keys), f.hasMany(keys));
        range.dispose();
    }
    await server.close();
});

test('a block and its checksum are fetched once, and answer for all keys in them', async () => {
    const server = await serve(),
        f = await made({ capacity: LARGE }),
        bytes = f.toBytes();
    server.files.set('/a.petal', bytes);
    const payload = payloadOf(bytes, f),
        block = Math.floor(((await placeOf(server, members[0])) - payload) / BLOCK),
        range = await Filter.range(`${server.url}a.petal`);
    server.log.length = 0;
    same(await range.has(members[0]), true);
    same(server.log.length, 2);
    const [sum, bits] = sizesOf(server.log).sort((a, b) => a.from - b.from);
    same(sum.size, 8);
    same(bits.from, payload + block * BLOCK);
    same(bits.size, Math.min(BLOCK, bytes.length - bits.from));
    same(await range.has(members[0]), true);
    same(server.log.length, 2, 'from the cache');
    const keys = [...members.slice(0, 2000), ...others];
    const answers = await Promise.all(keys.map((key) => range.has(key)));
    sameBytes(Uint8Array.from(answers, Number), f.hasMany(keys));
    const fetched = sizesOf(server.log).reduce((total, { size }) => total + size, 0);
    check(fetched < bytes.length, `${fetched} of ${bytes.length}`);
    const requests = server.log.length;
    sameBytes(await range.hasMany(keys), f.hasMany(keys));
    same(server.log.length, requests, 'all blocks are there');
    range.dispose();
    await server.close();
});

test('no answer rests on a damaged block: has() rejects with its offset', async () => {
    const server = await serve(),
        f = await made({ capacity: LARGE }),
        sound = f.toBytes(),
        payload = payloadOf(sound, f);
    server.files.set('/a.petal', sound);
    const line = await placeOf(server, members[0]),
        offset = line - ((line - payload) % BLOCK);
    let far;
    for (const key of members.slice(1, 20))
        if (Math.abs((await placeOf(server, key)) - line) > 2 * BLOCK) far = key;
    const spoilt = sound.slice();
    spoilt.fill(0, line, line + 64);
    server.files.set('/a.petal', spoilt);
    const trusting = await Filter.range(`${server.url}a.petal`, { verify: false });
    same(await trusting.has(members[0]), false, 'what is to be prevented');
    const inBlock = offset + Math.min(BLOCK, sound.length - offset) - 1;
    for (const at of [line + 3, inBlock]) {
        const flipped = sound.slice();
        flipped[at] ^= 1;
        server.files.set('/a.petal', flipped);
        const range = await Filter.range(`${server.url}a.petal`);
        const [one, two] = await Promise.allSettled([range.has(members[0]), range.has(far)]);
        check(one.reason instanceof PetalError, one.status);
        same(one.reason.code, 'damaged');
        same(one.reason.offset, offset);
        same(two.value, true, 'keys of other blocks are answered');
        same((await fails(() => range.has(members[0]), PetalError)).offset, offset, 'again');
        const error = await fails(() => range.hasMany([far, members[0], far]), PetalError);
        same(error.code, 'damaged');
        same(error.offset, 1, 'the index');
        range.dispose();
    }
    await fails(() => Filter.range(`${server.url}a.petal`, { verify: 1 }), TypeError);
    await server.close();
});

test('a file of one block comes in one request, and is verified', async () => {
    const server = await serve(),
        f = await Filter.create({ capacity: 1000, rate: 0.01 });
    f.addMany(members.slice(0, 1000));
    const bytes = f.toBytes();
    server.files.set('/a.petal', bytes);
    const range = await Filter.range(`${server.url}a.petal`);
    server.log.length = 0;
    sameBytes(await range.hasMany(members.slice(0, 1000)), new Uint8Array(1000).fill(1));
    sameBytes(await range.hasMany(others), f.hasMany(others));
    same(server.log.length, 1);
    const payload = payloadOf(bytes, f);
    for (const at of [1024, payload, bytes.length - 1]) {
        const flipped = bytes.slice();
        flipped[at] ^= 128;
        server.files.set('/b.petal', flipped);
        const damaged = await Filter.range(`${server.url}b.petal`);
        const error = await fails(() => damaged.has(members[0]), PetalError);
        same([error.code, error.offset].join(), `damaged,${payload}`);
    }
    await server.close();
});

// 20 MiB are 320 blocks, which is 64 more than the cache holds.
test('no more than 256 blocks are kept, and no request is for more than 1 MiB', async () => {
    const server = await serve(),
        f = await Filter.create({ bits: 20 * 2 ** 23, hashes: 4 });
    f.addMany(members);
    server.files.set('/a.petal', f.toBytes());
    const range = await Filter.range(`${server.url}a.petal`);
    server.log.length = 0;
    const keys = [...members.slice(0, 5000), ...others];
    sameBytes(await range.hasMany(keys), f.hasMany(keys));
    const fetched = () => sizesOf(server.log).reduce((total, { size }) => total + size, 0);
    check(fetched() >= 20 * 2 ** 20 && fetched() < 21 * 2 ** 20, `${fetched()} bytes`);
    check(sizesOf(server.log).every(({ size }) => size <= 2 ** 20));
    server.log.length = 0;
    sameBytes(await range.hasMany(keys), f.hasMany(keys));
    const again = fetched();
    check(again > 63 * BLOCK && again < 65 * BLOCK + 4096, `${again} bytes again`);
    range.dispose();
    await server.close();
});

// One query is running when another query notices the change.
test('what came of an older file answers nothing', async () => {
    const server = await serve(),
        first = await made(),
        second = first.emptyLike(),
        real = globalThis.fetch;
    second.addMany(others);
    for (const verify of [true, false]) {
        server.files.set('/a.petal', first.toBytes());
        const range = await Filter.range(`${server.url}a.petal`, { verify });
        let release, held;
        const holding = new Promise((resolve) => (held = resolve)),
            released = new Promise((resolve) => (release = resolve));
        globalThis.fetch = async (...request) => {
            globalThis.fetch = real;
            const response = await real(...request);
            held();
            await released;
            return response;
        };
        const late = range.hasMany(others.slice(0, 1));
        await holding;
        server.files.set('/a.petal', second.toBytes());
        sameBytes(await range.hasMany(members.slice(0, 99)), second.hasMany(members.slice(0, 99)));
        release();
        sameBytes(await late, Uint8Array.of(1));
        sameBytes(await range.hasMany(others), new Uint8Array(others.length).fill(1));
        range.dispose();
    }
    await server.close();
});

test('a file that changes is read anew; a server without Range or ETag is refused', async () => {
    const server = await serve(),
        first = await made({ capacity: LARGE }),
        second = await Filter.create({ capacity: 2 * LARGE, rate: 0.001 });
    second.addMany(others);
    server.files.set('/a.petal', first.toBytes());
    const range = await Filter.range(`${server.url}a.petal`);
    sameBytes(await range.hasMany(members.slice(0, 20)), new Uint8Array(20).fill(1));
    server.files.set('/a.petal', second.toBytes());
    const keys = [...members.slice(20, 120), ...others.slice(0, 100)];
    sameBytes(await range.hasMany(keys), second.hasMany(keys));
    same(range.info.capacity, 2 * LARGE);
    server.etags = false;
    const error = await fails(() => range.hasMany(others.slice(1000, 1010)), PetalError);
    check(error.message.includes('ETag'), error.message);
    await fails(() => Filter.range(`${server.url}a.petal`), PetalError);
    Object.assign(server, { etags: true, ranges: false });
    const ignored = await fails(() => Filter.range(`${server.url}a.petal`), PetalError);
    check(ignored.message.includes('Filter.load('), ignored.message);
    server.ranges = true;
    await fails(() => Filter.range(`${server.url}none`), PetalError);
    server.files.set('/text', new TextEncoder().encode('just some text'));
    same((await fails(() => Filter.range(`${server.url}text`), PetalError)).code, 'not a filter');
    await server.close();
});

// ---- following a host
// ----------------------------------------------------------------------------

test('a patch makes the new filter; a wrong base, and damage, change nothing', async () => {
    const old = await made({ capacity: 2 * COUNT }),
        fresh = old.clone();
    fresh.addMany(others);
    const patch = old.diff(fresh),
        copy = old.clone(),
        before = copy.toBytes();
    check(patch.length < 0.12 * before.length, `${patch.length} of ${before.length}`);
    const wrong = await Filter.create({ capacity: 2 * COUNT, rate: 0.01 });
    same((await fails(() => wrong.applyPatch(patch), PetalError)).code, 'filters differ');
    for (let size = 0; size < patch.length; size += 97)
        await fails(() => copy.applyPatch(patch.subarray(0, size)), PetalError);
    for (let at = 0; at < patch.length; at += 61) {
        const flipped = patch.slice();
        flipped[at] ^= 4;
        await fails(() => copy.applyPatch(flipped), PetalError);
    }
    sameBytes(copy.toBytes(), before);
    copy.applyPatch(patch);
    sameBytes(copy.toBytes(), fresh.toBytes());
    await fails(() => copy.applyPatch('patch'), TypeError);
});

const idOf = (filter) => filter.contentId().toString(16).padStart(16, '0');

const publish = (server, versions) => {
    const last = versions.at(-1),
        patches = [];
    versions.slice(1).forEach((to, i) => {
        const patch = versions[i].diff(to),
            file = `${idOf(versions[i])}-${idOf(to)}.patch`;
        server.files.set(`/${file}`, patch);
        patches.push({ from: idOf(versions[i]), to: idOf(to), file, bytes: patch.length });
    });
    const whole = last.toBytes(),
        file = `${idOf(last)}.petal`;
    server.files.set(`/${file}`, whole);
    const manifest = { version: 1, id: idOf(last), file, bytes: whole.length, patches };
    server.files.set('/manifest.json', Buffer.from(JSON.stringify(manifest)));
    return manifest;
};

test('a filter follows its manifest: loaded, current, patched, and the file where a patch is gone', async () => {
    const server = await serve(),
        versions = [await made({ capacity: 2 * COUNT })];
    publish(server, versions);
    const hosted = await HostedFilter.open(`${server.url}manifest.json`);
    same(hosted.id, idOf(versions[0]));
    same((await hosted.update()).how, 'current');
    for (let i = 0; i < 2; i++) {
        const next = versions.at(-1).clone();
        next.addMany(others.slice(1000 * i, 1000 * (i + 1)));
        versions.push(next);
    }
    publish(server, versions);
    const update = await hosted.update();
    same(update.how, 'patched');
    sameBytes(hosted.filter.toBytes(), versions[2].toBytes());
    const next = versions.at(-1).clone();
    next.addMany(others.slice(3000));
    versions.push(next);
    const manifest = publish(server, versions);
    server.files.delete(`/${manifest.patches.at(-1).file}`);
    same((await hosted.update()).how, 'loaded');
    sameBytes(hosted.filter.toBytes(), next.toBytes());
    const later = await HostedFilter.open(`${server.url}manifest.json`, { filter: versions[1] });
    same(later.id, idOf(next));
    for (const broken of [
        { ...manifest, version: 2 },
        { ...manifest, file: '../x' },
        { ...manifest, id: 'x' },
        { ...manifest, patches: [{}] },
        { ...manifest, patches: manifest.patches.slice(0, 1) },
        5,
    ]) {
        server.files.set('/manifest.json', Buffer.from(JSON.stringify(broken)));
        await fails(() => hosted.update(), PetalError);
        same(hosted.filter.has(members[0]), true);
    }
    await server.close();
});
