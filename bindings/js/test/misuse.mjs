// misuse.mjs - tests that a batch of each key type returns the same answers as single keys, and
// that misuse throws an error and never returns a wrong answer.
import { constants } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { f64, Filter, i32, i64, PetalError, recognize } from 'petal-bloom';
import { check, fails, read, same, sameBytes, secret, test } from './tap.mjs';

const make = (options) => Filter.create({ capacity: 3000, rate: 0.05, ...options });
const COUNT = 3000;
const range = Array.from({ length: 2 * COUNT }, (_, i) => i);

const joined = (keys) => {
    const parts = keys.map((key) => Buffer.from(key)),
        ends = [];
    let end = 0;
    for (const part of parts) ends.push((end += part.length));
    return { bytes: new Uint8Array(Buffer.concat(parts)), ends: Uint32Array.from(ends) };
};

// For each key type, a batch in two halves, and a function that returns its key i for a single
// call.
const texts = range.map((i) => `key-${i}`);
const wide = range.map((i) => ['ż', '日本', '🙂', 'a', ''][i % 5] + i + ['', 'é', '🙂'][i % 3]);
const split = range.map((i) => (i % 2 ? `\udc00low${i}` : `high${i}\ud800`));
const long = range.map((i) => `${i}`.repeat(i % 700 === 0 ? 60000 : 1));
const kinds = {
    'ASCII strings': [texts, (i) => texts[i]],
    'other strings': [wide, (i) => wide[i]],
    'halves of surrogate pairs': [split, (i) => split[i]],
    'long strings': [long, (i) => long[i]],
    'a set': [texts, (i) => texts[i], (keys) => new Set(keys)],
    'bytes and ends': [texts, (i) => texts[i], joined],
    'ends as a list': [
        wide,
        (i) => wide[i],
        (keys) => ({ ...joined(keys), ends: [...joined(keys).ends] }),
    ],
    'long joined': [long, (i) => long[i], joined],
    mixed: [
        range.map((i) => [`m${i}`, BigInt(i), f64(i / 2), Uint8Array.of(i & 255, i >> 8)][i % 4]),
        (i) => [`m${i}`, BigInt(i), f64(i / 2), Uint8Array.of(i & 255, i >> 8)][i % 4],
    ],
    BigInt64Array: [
        BigInt64Array.from(range, (i) => BigInt(i - 50) * 10n ** 12n),
        (i) => BigInt(i - 50) * 10n ** 12n,
    ],
    BigUint64Array: [BigUint64Array.from(range, BigInt), (i) => BigInt(i)],
    Int32Array: [Int32Array.from(range, (i) => i - 2000), (i) => i64(i - 2000)],
    Uint32Array: [Uint32Array.from(range, (i) => i + 4294960000), (i) => i64(i + 4294960000)],
    Int16Array: [Int16Array.from(range, (i) => i - 2000), (i) => i64(i - 2000)],
    Float64Array: [
        Float64Array.from(range, (i) => (i === 7 ? NaN : i === 9 ? -0 : i / 3)),
        (i) => f64(i === 7 ? NaN : i === 9 ? 0 : i / 3),
    ],
    Float32Array: [Float32Array.from(range, (i) => i / 4), (i) => f64(i / 4)],
};

for (const [name, [keys, one, wrap = (part) => part]] of Object.entries(kinds))
    test(`a batch is one by one: ${name}`, async () => {
        const batch = await make(),
            single = await make(),
            added = batch.addMany(wrap(keys.slice(0, COUNT))),
            all = Array.isArray(keys) ? wrap(keys) : keys;
        let fresh = 0;
        for (let i = 0; i < COUNT; i++) fresh += single.add(one(i)) ? 1 : 0;
        same(added, fresh);
        same(batch.contentId(), single.contentId());
        const answers = batch.hasMany(all);
        same(answers.length, 2 * COUNT);
        for (let i = 0; i < 2 * COUNT; i++) same(answers[i] === 1, single.has(one(i)), `key ${i}:`);
        const passed = answers.subarray(COUNT).reduce((sum, answer) => sum + answer, 0);
        check(passed > 5 && passed < 500, `${passed} false positives`);
    });

test('removing in batches is removing one by one', async () => {
    const batch = await make({ scheme: 'counting' }),
        single = await make({ scheme: 'counting' });
    for (const f of [batch, single]) f.addMany(texts.slice(0, COUNT));
    const removed = batch.removeMany(texts.slice(0, 100));
    same(removed.length, 100);
    for (let i = 0; i < 100; i++) same(single.remove(texts[i]), removed[i] === 1);
    same(batch.contentId(), single.contentId());
    same(single.remove('never'), false);
});

test('keys of 32 bits, for filters that have them', async () => {
    const f = await make({ format: 'guava', keyType: 'i32' }),
        g = await make({ format: 'guava', keyType: 'i32' });
    f.addMany(Int32Array.of(1, -2, 3));
    for (const key of [1, -2, 3]) g.add(i32(key));
    same(f.contentId(), g.contentId());
    same(g.has(Uint8Array.of(1, 0, 0, 0)), true);
    await fails(() => g.has(2n ** 31n), RangeError);
    await fails(() => f.addMany(BigInt64Array.of(2n ** 40n)), RangeError);
});

test('a number alone is refused, and the message says how to name its type', async () => {
    const f = await make();
    for (const call of [
        () => f.add(5),
        () => f.has(5),
        () => f.addMany([5]),
        () => f.hasMany(['a', 5]),
    ]) {
        const error = await fails(call, TypeError);
        check(/i64\(5\).*f64\(5\).*String\(5\)/.test(error.message), error.message);
    }
    for (const key of [true, null, undefined, {}, [], Symbol('a'), () => 1, new Date()])
        await fails(() => f.has(key), TypeError);
    check((await fails(() => f.hasMany(['a', null]), TypeError)).message.endsWith('at index 1'));
    await fails(() => i64(1.5), TypeError);
    await fails(() => i64(2n ** 63n), RangeError);
    await fails(() => i32(2 ** 31), RangeError);
    await fails(() => f64('1'), TypeError);
    await fails(() => f.has(2n ** 63n), RangeError);
    for (const keys of [5, null, 'text', Uint8Array.of(1), {}])
        await fails(() => f.hasMany(keys), TypeError);
});

test('a filter that records the type of its keys takes that type and bytes', async () => {
    const text = await make({ keyType: 'text' }),
        numbers = await make({ keyType: 'i64' });
    await fails(() => text.has(5n), TypeError);
    await fails(() => text.hasMany(BigInt64Array.of(5n)), TypeError);
    await fails(() => numbers.has('5'), TypeError);
    await fails(() => numbers.addMany(['5']), TypeError);
    await fails(() => numbers.has(f64(5)), TypeError);
    text.add('a');
    same(text.has(Uint8Array.of(97)), true);
    const utf16 = await make({ keyType: 'utf16le' });
    utf16.addMany(['aż']);
    same(utf16.has(Uint8Array.of(97, 0, 0x7c, 1)), true);
});

test('ends that go backwards, or past the bytes, are refused with the place', async () => {
    const f = await make(),
        bytes = new Uint8Array(10);
    for (const ends of [
        [3, 2],
        [3, 11],
        [3, -1],
        [3, 4.5],
        [3, NaN],
    ]) {
        const error = await fails(() => f.hasMany({ bytes, ends }), PetalError);
        same(error.offset, 1);
        same(error.code, 'bad argument');
    }
    await fails(() => f.hasMany({ bytes, ends: 5 }), TypeError);
});

test('every call of a filter that was disposed of is an error', async () => {
    const f = await make(),
        other = await make();
    f.dispose();
    f.dispose();
    const calls = {
        add: ['a'],
        has: ['a'],
        remove: ['a'],
        addMany: [['a']],
        hasMany: [['a']],
        removeMany: [['a']],
        hashKey: ['a'],
        layerInfo: [0],
        stats: [],
        contentId: [],
        bits: [],
        merge: [other],
        intersect: [other],
        compare: [other],
        clear: [],
        freeze: [],
        advance: [5],
        clone: [],
        emptyLike: [],
        dropCounts: [],
        fold: [],
        toBytes: [],
        serialize: [],
        toJSON: [],
        diff: [other],
        applyPatch: [new Uint8Array(9)],
    };
    for (const [name, words] of Object.entries(calls))
        same((await fails(() => f[name](...words), PetalError)).code, 'disposed', name);
    for (const name of ['info', 'isOverfull', 'metadata'])
        same((await fails(() => f[name], PetalError)).code, 'disposed', name);
    same((await fails(() => other.merge(f), PetalError)).code, 'disposed');
    const tested = new Set([...Object.keys(calls), 'constructor', 'dispose']);
    for (const name of Object.getOwnPropertyNames(Filter.prototype)) {
        const { value } = Object.getOwnPropertyDescriptor(Filter.prototype, name);
        check(typeof value !== 'function' || tested.has(name), `${name} is not tested`);
    }
    if (Symbol.dispose) {
        other[Symbol.dispose]();
        same((await fails(() => other.has('a'), PetalError)).code, 'disposed');
    }
});

test('a filter is not cloned: the error says how it is posted', async () => {
    const f = await make();
    for (const call of [
        () => structuredClone(f),
        () => new MessageChannel().port1.postMessage([f]),
    ])
        check(/toBytes\(\).*Filter\.load/.test((await fails(call, DOMException)).message));
    f.add('a');
    const { port1, port2 } = new MessageChannel(),
        bytes = f.toBytes();
    const there = new Promise((resolve) => {
        port2.onmessage = ({ data }) => resolve(Filter.load(data));
    });
    port1.postMessage(bytes, [bytes.buffer]);
    same((await there).contentId(), f.contentId());
    port1.close();
});

// Zeroed pages take no memory until a program writes to them.
test('arrays beyond what a module takes are an error that says so', async () => {
    const f = await make(),
        large = new Uint8Array(2 ** 31 + 64),
        larger = new Uint8Array(Math.min(constants.MAX_LENGTH, 2 ** 32 + 64));
    for (const call of [
        () => f.has(large),
        () => f.has(larger),
        () => f.addMany([larger]),
        () => recognize(larger),
        () => f.applyPatch(larger),
        () => Filter.load(larger, { format: 'leveldb' }),
    ]) {
        const error = await fails(call, PetalError);
        check(['out of memory', 'over a limit'].includes(error.code), `${call}: ${error.code}`);
        check(/[0-9]{10} bytes/.test(error.message), `${call}: ${error.message}`);
    }
    f.add('a');
    same(f.has('a'), true);
});

test('petal-bloom/ask reads; what it lacks is an error, and not among its types', async () => {
    const ask = await import('petal-bloom/ask');
    const f = await make({ scheme: 'counting' });
    f.addMany(texts.slice(0, COUNT));
    const asking = await ask.Filter.load(f.toBytes(), { keyType: 'text' });
    sameBytes(asking.hasMany(texts), f.hasMany(texts));
    same(asking.hashKey('a'), f.hashKey('a'));
    await fails(() => asking.has(i64(5)), TypeError); // another entry's key
    same(asking.contentId(), f.contentId());
    const types = readFileSync(
        new URL('../node_modules/petal-bloom/dist/ask.d.mts', import.meta.url),
        'utf8',
    );
    const reads = new Set([...types.matchAll(/\| '(\w+)'/g)].map(([, name]) => name));
    const words = {
        remove: ['a'],
        addMany: [['a']],
        removeMany: [['a']],
        applyPatch: [Uint8Array.of(1)],
    };
    let lacks = 0;
    for (const name of Object.getOwnPropertyNames(Filter.prototype)) {
        if (['constructor', 'metadata', 'serialize', 'toJSON'].includes(name)) continue;
        const call = () => {
            const it = asking[name];
            return typeof it === 'function' ? it.apply(asking, words[name] ?? [asking]) : it;
        };
        if (reads.has(name)) continue;
        same((await fails(call, PetalError)).code, 'not supported', name);
        lacks++;
    }
    check(lacks > 15 && reads.size > 6, `${lacks}, ${reads.size}`);
    for (const call of [
        () => asking.serialize(),
        () => (asking.metadata = null),
        () => ask.Filter.create({ capacity: 1, rate: 0.1 }),
        () => ask.Filter.plan({ capacity: 1, rate: 0.1 }),
    ])
        same((await fails(call, PetalError)).code, 'not supported');
});

test('options of a wrong kind, name or size', async () => {
    const wrong = [
        [{ capacity: '5', rate: 0.1 }, TypeError],
        [{ capacity: -1, rate: 0.1 }, RangeError],
        [{ capacity: 1.5, rate: 0.1 }, RangeError],
        [{ capacity: 2n ** 64n, rate: 0.1 }, RangeError],
        [{ capacity: 5, rate: '0.1' }, TypeError],
        [{ capacity: 5, rate: 0.1, secrett: 1 }, TypeError],
        [{ capacity: 5, rate: 0.1, secret: 'x' }, TypeError],
        [{ capacity: 5, rate: 0.1, secret: new Uint8Array(15) }, RangeError],
        [{ capacity: 5, rate: 0.1, scheme: 'cuckoo' }, RangeError],
        [{ capacity: 5, rate: 0.1, grow: 1 }, TypeError],
        [{ capacity: 5, rate: 0.1, hashes: 2 ** 32 }, RangeError],
        [{ capacity: 5, rate: 0.1, format: 5 }, TypeError],
        [null, TypeError],
        [undefined, TypeError],
        [{ capacity: 5, rate: 0.1, metadata: new Uint8Array(65537) }, PetalError],
        [{ capacity: 1e14, rate: 0.1 }, PetalError],
    ];
    for (const [options, kind] of wrong) await fails(() => Filter.create(options), kind);
    await fails(() => Filter.load(read('petal/blocked.petal'), { formt: 'petal' }), TypeError);
    await fails(() => new Filter(), TypeError);
    const keyed = (await make({ secret })).toBytes();
    same((await fails(() => Filter.load(keyed), PetalError)).code, 'secret needed');
    const other = secret.map((byte) => byte + 1);
    same(
        (await fails(() => Filter.load(keyed, { secret: other }), PetalError)).code,
        'wrong secret',
    );
    await fails(async () => (await make({ secret })).serialize(), PetalError);
});

test('filters of two modules are merged, and those that differ are not', async () => {
    const a = await make(),
        b = await Filter.load((await make()).toBytes(), { format: 'auto' });
    b.add('b');
    a.merge(b);
    same(a.has('b'), true);
    const other = await make({ capacity: 9000 });
    same((await fails(() => a.merge(other), PetalError)).code, 'filters differ');
    await fails(() => a.merge({}), TypeError);
    const comparison = a.compare(b);
    check(Math.abs(comparison.jaccard.value - 1) < 0.01);
});

test('a full filter, a frozen one, an empty key that is not taken', async () => {
    const full = await make({ capacity: 10, refuseOverfull: true });
    const error = await fails(() => texts.forEach((key) => full.add(key)), PetalError);
    same(error.code, 'full');
    check(error.message.length > 10, error.message);
    same((await fails(() => full.addMany(texts), PetalError)).code, 'full');
    const frozen = await make();
    frozen.freeze();
    same((await fails(() => frozen.add('a'), PetalError)).code, 'read-only');
    same((await fails(() => frozen.add(5n), PetalError)).code, 'read-only');
    same((await fails(() => frozen.remove('a'), PetalError)).code, 'not supported');
    const sketch = await make({ format: 'datasketches' }),
        warnings = [],
        { warn } = console;
    console.warn = (text) => warnings.push(text);
    sketch.addMany(['a', '', 'b', '']);
    sketch.addMany(['']);
    sketch.addMany(joined(['c', '', 'd']));
    same(sketch.add(''), false);
    console.warn = warn;
    same(warnings.length, 1);
    check(warnings[0].includes('2 empty keys'), warnings[0]);
    same(sketch.hasMany(['a', 'b', 'c', 'd']).join(), '1,1,1,1');
});

test('what JSON.stringify makes of a filter is a filter again, of npm classes too', async () => {
    for (const format of [undefined, 'js-tutorial', 'bloom-filters', 'bloomfilter']) {
        const f = await make({ format }),
            { kernel } = f.info;
        f.addMany(texts.slice(0, COUNT));
        const again = await Filter.deserialize(JSON.stringify(f)),
            object = await Filter.deserialize(f.serialize());
        for (const other of [again, object]) {
            sameBytes(other.toBytes(format), f.toBytes(format), `${format} ${kernel}`);
            sameBytes(other.hasMany(texts), f.hasMany(texts), format);
        }
    }
    await fails(() => Filter.deserialize(5), TypeError);
    await fails(() => Filter.deserialize('{'), SyntaxError);
    await fails(() => Filter.deserialize({ hashCount: 1 }), PetalError);
});

test('looking inside', async () => {
    const f = await make({ metadata: Uint8Array.of(1, 2, 3) });
    f.addMany(texts.slice(0, COUNT));
    const { info } = f,
        stats = f.stats();
    same(info.capacity, 3000);
    same(info.scheme, 'blocked');
    same(info.kernel, import.meta.url.includes('/scalar/') ? 'generic' : 'simd128');
    check(info.abilities.includes('merge') && !info.abilities.includes('remove'));
    check(stats.estimatedItems.low < COUNT && stats.estimatedItems.high > COUNT);
    same(f.isOverfull, false);
    sameBytes(f.metadata, Uint8Array.of(1, 2, 3));
    f.metadata = null;
    same(f.metadata, null);
    same(f.bits().length, info.bytes);
    same((await Filter.load(f.toBytes())).info.fileFormat, 'petal');
    const plan = await Filter.plan({ capacity: 1e6, rate: 0.01 });
    same(plan.bytes, 1241472);
    same(plan.fileFormat, null);
    check(plan.rateAt(1e6) <= 0.01 && plan.rateAt(2e6) > 0.05 && plan.rateAt(0) === 0);
    const growing = await Filter.plan({ capacity: 1000, rate: 0.01, grow: true });
    check(Number.isNaN(growing.rateAt(1000)) && growing.growthStep === 2);
    f.clear();
    same(f.has('key-1'), false);
    same((await recognize(read('guava/long_n10000_p0.01_mitz64.bin'))).includes('guava'), true);
});
