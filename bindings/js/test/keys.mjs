// keys.mjs - makes every query in vectors/*/vectors.txt as a program would, with the string, the
// BigInt or the key function that produces the bytes hashed by the other library. Keys are queried
// one by one, in batches, and with a key type passed to load(). The script lists the queries that
// only bytes can express, and the folders without queries.
import { readdirSync } from 'node:fs';
import { check, fails, petal, read, rows, same, sameBytes, test, unhex, vectors } from './tap.mjs';

const { f32, f64, Filter, i32, i64, PetalError, utf16 } = petal;

// ---- the keys of a file
// --------------------------------------------------------------------------

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const isHalf = (a, b) => a === 0xed && b >= 0xa0;

// Decodes text in which the bytes eda080 to edbfbf encode unpaired surrogates.
const textOf = (bytes) => {
    let text = '';
    for (let at = 0, to; at < bytes.length; at = to) {
        to = at;
        while (to < bytes.length && !isHalf(bytes[to], bytes[to + 1])) to++;
        text += utf8.decode(bytes.subarray(at, to));
        if (to < bytes.length) {
            text += String.fromCharCode(
                0xd000 | ((bytes[to + 1] & 63) << 6) | (bytes[to + 2] & 63),
            );
            to += 3;
        }
    }
    return text;
};

const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
const unitsOf = (bytes) => {
    const units = Array.from({ length: bytes.length / 2 }, (_, i) =>
        viewOf(bytes).getUint16(2 * i, true),
    );
    return String.fromCharCode(...units);
};

// For each kind of key: its number of bytes, or null for any; the typed key; the key type for
// load(); and the plain key and the batch that this key type allows. f32 is not a key type.
const kinds = {
    text: [null, textOf, 'text', (bytes) => textOf(bytes), (keys) => keys],
    utf16: [null, (b) => utf16(unitsOf(b)), 'utf16le', unitsOf, (keys) => keys],
    i32: [
        4,
        (b) => i32(viewOf(b).getInt32(0, true)),
        'i32',
        (b) => BigInt(viewOf(b).getInt32(0, true)),
        (keys) => Int32Array.from(keys, Number),
    ],
    i64: [
        8,
        (b) => i64(viewOf(b).getBigInt64(0, true)),
        'i64',
        (b) => viewOf(b).getBigInt64(0, true),
        (keys) => BigInt64Array.from(keys),
    ],
    f32: [4, (b) => f32(viewOf(b).getFloat32(0, true))],
    f64: [
        8,
        (b) => f64(viewOf(b).getFloat64(0, true)),
        'f64',
        (b) => f64(viewOf(b).getFloat64(0, true)),
        (keys) => Float64Array.from(keys, ({ value }) => value),
    ],
    bytes: [null, (b) => b, 'hex', (b) => b, (keys) => keys],
};

// The kind of keys in a file, by the beginning of the file's name. In all other files, keys are
// text if possible.
const files = [
    [/^guava\/unencoded/, 'utf16'],
    [/^guava\/int/, 'i32'],
    [/^guava\/long/, 'i64'],
    [/^guava\/bytes/, 'bytes'],
    [/^oldpanda\/py_int/, 'i32'],
    [/^orc\/(cpp_i64|cpp_ts|newer_long|older_long)/, 'i64'],
    [/^orc\/cpp_f64/, 'f64'],
    [/^parquet\/duckdb_i64/, 'i64'],
    [/^parquet\/duckdb_f32/, 'f32'],
    [/^parquet\/duckdb_b/, 'bytes'],
    [/^datasketches\/[iu]64/, 'i64'],
    [/^static\/(half|integers|two-pages|whole-columns)/, 'i64'],
];
const numbers = /^parquet\/arrow_rs_n40/; // files with keys of 4 and of 8 bytes
const units = /^(bloomfilter|js-tutorial)\//; // files whose keys may contain unpaired surrogates
const kindOf = (name, bytes) => {
    if (numbers.test(name)) return bytes.length === 4 ? 'i32' : 'i64';
    const kind = files.find(([pattern]) => pattern.test(name))?.[1] ?? 'text';
    const [size, key] = kinds[kind];
    if (size !== null && size !== bytes.length) return 'bytes';
    try {
        if (kind === 'text' && !units.test(name)) utf8.decode(bytes);
        key(bytes);
        return kind;
    } catch {
        return 'bytes';
    }
};

// Folders in which some keys can be queried only as bytes, with the reason why no key function
// produces them.
const asBytes = {
    'bits-and-blooms': 'Add() takes any bytes',
    cassandra: 'serialized partition keys: big-endian numbers, blobs, several columns',
    dcso: 'Add() takes any bytes',
    guava: 'byteArrayFunnel()',
    hadoop: 'Key has any bytes',
    hbase: 'rows are any bytes',
    leveldb: 'user keys are any bytes',
    orc: 'binary columns',
    redisbloom: 'arguments of commands are any bytes',
    'redisbloom-dump': 'arguments of commands are any bytes',
    parquet: 'BYTE_ARRAY columns that are no text',
    rocksdb: 'user keys are any bytes',
    'valkey-bloom': 'arguments of commands are any bytes',
};
// Folders without queries.
const without = {
    bindings: 'cases.mjs',
    hashes: 'vectors.mjs: hashKey()',
    index: 'tests/docs/index.sh: indexes are not opened here',
    keys: 'tests/interop/hosts.sh',
    petal: 'vectors.mjs: by recipe',
    reject: 'vectors.mjs: refused',
    schemes: 'positions of hashes, which no binding is given',
    shards: 'vectors.mjs: shardOf()',
};

// ---- the queries
// ---------------------------------------------------------------------------------

const questionsOf = (folder) => {
    const found = [];
    let format = null;
    for (const [verb, ...words] of rows(`${folder}/vectors.txt`)) {
        if (verb === 'format') [format] = words;
        if (verb === 'file') found.push({ format, name: `${folder}/${words[0]}`, asked: [] });
        const match = /^(in|out)(s?)$/.exec(verb);
        if (!match) continue;
        const { asked } = found.at(-1),
            answer = match[1] === 'in' ? 1 : 0;
        if (!match[2]) asked.push([unhex(words[0]), answer]);
        else
            for (let i = Number(words[1]); i <= Number(words[2]); i++)
                asked.push([Buffer.from(`${words[0] === '-' ? '' : words[0]}${i}`), answer]);
    }
    return found;
};

const askAll = (filter, keys, batch, answers, name) => {
    keys.forEach((key, i) => same(filter.has(key) ? 1 : 0, answers[i], `${name}: key ${i}:`));
    sameBytes(filter.hasMany(batch), answers, name);
};

const askFile = async ({ format, name, asked }, counts) => {
    const byKind = Map.groupBy
        ? Map.groupBy(asked, ([bytes]) => kindOf(name, bytes))
        : asked.reduce((all, one) => {
              const kind = kindOf(name, one[0]);
              return all.set(kind, [...(all.get(kind) ?? []), one]);
          }, new Map());
    for (const [kind, questions] of byKind) {
        const [, typed, keyType, usual, batch] = kinds[kind];
        const answers = Uint8Array.from(questions, ([, answer]) => answer);
        const plain = await Filter.load(read(name), { format });
        const keys = questions.map(([bytes]) => typed(bytes));
        askAll(plain, keys, keys, answers, `${name}, ${kind}`);
        plain.dispose();
        counts[kind] = (counts[kind] ?? 0) + questions.length;
        if (!keyType) continue;
        const told = await Filter.load(read(name), { format, keyType });
        const natural = questions.map(([bytes]) => usual(bytes));
        askAll(told, natural, batch(natural), answers, `${name}, loaded as ${keyType}`);
        askAll(told, keys, keys, answers, `${name}, typed, loaded as ${keyType}`);
        told.dispose();
    }
};

test('every question of every folder of vectors, by the public key functions', async () => {
    const all = {};
    for (const { name: folder } of readdirSync(vectors, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .sort((a, b) => (a.name < b.name ? -1 : 1))) {
        if (folder in without) {
            console.log(`# ${folder}: no questions; ${without[folder]}`);
            continue;
        }
        const counts = {};
        for (const file of questionsOf(folder)) await askFile(file, counts);
        check(Object.keys(counts).length > 0, `${folder}: no question; cover it, or say why not`);
        const why = counts.bytes ? `; as bytes: ${asBytes[folder]}` : '';
        console.log(`# ${folder}: ${JSON.stringify(counts).replace(/["{}]/g, '')}${why}`);
        check(!counts.bytes || folder in asBytes, `${folder}: ${counts.bytes} keys only as bytes`);
        for (const [kind, count] of Object.entries(counts)) all[kind] = (all[kind] ?? 0) + count;
    }
    const total = Object.values(all).reduce((sum, count) => sum + count, 0);
    console.log(`# counted: JavaScript: ${total} questions: ${JSON.stringify(all).replace(/["{}]/g, '')}`);
    check(total > 20000 && Object.keys(kinds).every((kind) => all[kind] > 60), 'too few');
});

// ---- the rules of keys ---------------------------------------------------------------------------

test('a key with a type has the same bytes in every filter that takes it', async () => {
    const bytes = [
        [i32(-2), 'feffffff'],
        [i32(2n ** 31n - 1n), 'ffffff7f'],
        [i64(-2), 'feffffffffffffff'],
        [f32(0.25), '0000803e'],
        [f32(-0), '00000080'],
        [f64(-0), '0000000000000000'],
        [utf16('aż🙂'), '61007c013dd842de'],
    ];
    for (const format of [undefined, 'guava', 'parquet']) {
        const f = await Filter.create({ capacity: 10, rate: 0.01, format });
        for (const [key, hex] of bytes) same(f.hashKey(key), f.hashKey(unhex(hex)), hex);
        same(f.hashKey(5n), f.hashKey(i64(5)));
    }
    const narrow = await Filter.create({ capacity: 10, rate: 0.01, keyType: 'i32' });
    same(narrow.hashKey(5n), narrow.hashKey(i32(5)));
    for (const key of [i64(5), f32(5), f64(5), 'text', utf16('text')])
        check(/i32 keys/.test((await fails(() => narrow.has(key), TypeError)).message));
    await fails(() => utf16(5), TypeError);
    await fails(() => f32('5'), TypeError);
    same(Object.isFrozen(i32(5)), true);
});

test('the key type of load(), for files that record none; another than theirs is refused', async () => {
    const guava = read('guava/int_n100_p0.01_mitz64.bin');
    for (const keyType of ['i32', 'hex']) {
        const f = await Filter.load(guava, { format: 'guava', keyType });
        same(f.info.keyType, keyType);
        for (const other of [f.clone(), f.emptyLike()]) same(other.info.keyType, keyType);
        same((await Filter.deserialize(JSON.stringify(f))).info.keyType, keyType);
    }
    const text = await Filter.create({ capacity: 10, rate: 0.01, keyType: 'text' });
    await fails(() => Filter.load(text.toBytes(), { keyType: 'i64' }), TypeError);
    same((await Filter.load(text.toBytes(), { keyType: 'text' })).info.keyType, 'text');
    await fails(() => Filter.load(guava, { format: 'guava', keyType: 'int' }), RangeError);
});

// Java's getBytes() and the npm packages encode an unpaired surrogate as these bytes.
test('half of a surrogate pair is what the library of the format makes of it', async () => {
    const text = 'x\ud800y';
    for (const [format, hex] of [
        ['guava', '783f79'],
        ['spark', '783f79'],
        ['cassandra', '783f79'],
        ['bloomfilter', '78eda08079'],
        ['js-tutorial', '78eda08079'],
        ['bloom-filters', '78f09081b9'],
        [undefined, '78efbfbd79'],
        ['parquet', '78efbfbd79'],
    ]) {
        const f = await Filter.create({ capacity: 10, rate: 0.01, format });
        same(f.hashKey(text), f.hashKey(unhex(hex)), `${format}:`);
        const one = f.clone();
        f.addMany(['before', text, 'after']);
        for (const key of ['before', unhex(hex), 'after']) one.add(key);
        same(f.contentId(), one.contentId(), `${format}, in a batch:`);
        check(f.has(text) && f.hasMany([text])[0] === 1);
    }
    const lone = await Filter.load(read('guava/utf8_lone_surrogates_n10_p0.01_mitz64.bin'), {
        format: 'guava',
    });
    same(['\ud800', '\udfff', text].map((key) => lone.has(key)).join(), 'true,true,true');
});

// ---- one rule for batches ------------------------------------------------------------------------

const places = [0, 1, 700, 4095, 4096, 9000];

test('of a batch with a bad key, all before it are in, and the error has its index', async () => {
    const good = Array.from({ length: 9001 }, (_, i) => i);
    const swap = (keys, place, bad) => Object.assign(keys.slice(), { [place]: bad });
    const joined = (place) => {
        const ends = Float64Array.from(good, (i) => 4 * (i + 1));
        ends[place] = -1;
        return { bytes: new Uint8Array(ends.length * 4).map((_, i) => i >> 2), ends };
    };
    const batches = {
        number: ['text', (place) => swap(good.map(String), place, 5)],
        null: ['none', (place) => swap(good.map(String), place, null)],
        'another type': ['text', (place) => swap(good.map(String), place, 5n)],
        'too large': ['i64', (place) => swap(good.map(BigInt), place, 2n ** 63n)],
        'too large for i32': ['i32', (place) => swap(good.map(BigInt), place, 2n ** 31n)],
        BigUint64Array: ['i64', (at) => swap(BigUint64Array.from(good, BigInt), at, 2n ** 63n)],
        'Uint32Array of i32': ['i32', (at) => swap(Uint32Array.from(good), at, 2 ** 31)],
        'BigInt64Array of i32': [
            'i32',
            (at) => swap(BigInt64Array.from(good, BigInt), at, 2n ** 40n),
        ],
        'bytes and ends': ['none', joined],
    };
    for (const [name, [keyType, make]] of Object.entries(batches))
        for (const place of places) {
            const f = await Filter.create({ capacity: 20000, rate: 1e-9, keyType });
            const keys = make(place);
            const error = await fails(() => f.addMany(keys));
            same(error.offset, place, `${name}, ${error.message}:`);
            check(error instanceof PetalError || error.message.includes(`index ${place}`), name);
            same(f.info.items, place, name);
            same((await fails(() => f.hasMany(keys))).offset, place, name);
        }
    const f = await Filter.create({ capacity: 10, rate: 0.01, keyType: 'text' });
    same((await fails(() => f.addMany(Int32Array.of(1)), TypeError)).offset, 0);
    const full = await Filter.create({ capacity: 10, rate: 0.01, refuseOverfull: true });
    const { offset } = await fails(() => full.addMany(good.map(String)), PetalError);
    same(full.info.items, offset);
});

const counted = (count) => BigInt64Array.from({ length: count }, (_, i) => BigInt(i));

test('a folded filter is the one made small', async () => {
    for (const scheme of ['blocked', 'classic']) {
        const metadata = Uint8Array.of(7);
        const options = { rate: 0.01, memoryBytes: 4e6, foldable: true, scheme, metadata };
        const large = await Filter.create(options);
        large.addMany(counted(1000)); // far fewer keys than planned
        const folded = large.fold(),
            { bits, bytes, hashes, items, capacity, targetRate, abilities } = folded.info;
        check(abilities.includes('fold') && bytes < 2000 && items === 1000 && capacity >= 1000);
        same(targetRate, 0.01);
        sameBytes(folded.metadata, metadata);
        const small = await Filter.create({ bits, hashes, scheme });
        small.addMany(counted(1000));
        same(small.contentId(), folded.contentId());
        same(large.fold({ bits }).contentId(), folded.contentId());
        check(large.fold({ rate: 0.001, capacity: 100_000n }).info.bytes > 50 * bytes);
        same((await fails(() => large.fold({ rate: 1e-300 }), PetalError)).code, 'rate out of reach');
        same((await fails(() => large.fold({ bits: 7777 }), PetalError)).code, 'bad argument');
        await fails(() => large.fold({ rate: '1%' }), TypeError);
        await fails(() => large.fold({ capacity: -1 }), RangeError);
        await fails(() => large.fold({ size: 5 }), TypeError);
        large.dispose();
    }
    await fails(() => Filter.create({ bits: 512, hashes: 1, foldable: true }), PetalError);
});

function* uncounted(count) {
    for (let i = 0n; i < count; i++) yield i;
}

test('a filter of keys that nobody counted, read once', async () => {
    async function* later(count) {
        const bytes = new Uint8Array(2); // one buffer, reused for every key
        for (let i = 0; i < count; i++) {
            bytes[0] = i & 255;
            bytes[1] = i >> 8;
            yield bytes;
        }
    }
    for (const count of [0, 1, 1000, 100_000]) {
        const f = await Filter.fromKeys(uncounted(count)),
            planned = (await Filter.plan({ capacity: Math.max(count, 1), rate: 0.01 })).bits;
        check(f.info.bits <= (planned / 8) * 9 + 512, `${f.info.bits} bits, not ${planned}`);
        same(f.info.items, count);
        check(!f.isOverfull && f.hasMany(counted(count)).every((answer) => answer === 1));
        f.dispose();
    }
    const pairs = await Filter.fromKeys(later(9999), { rate: 0.001, scheme: 'classic' });
    for (let i = 0; i < 9999; i++) check(pairs.has(Uint8Array.of(i & 255, i >> 8)), i);
    check(pairs.info.bytes < 23_000);
    const tight = { memoryBytes: 2 ** 14 };
    const full = await Filter.fromKeys(uncounted(100_000), tight);
    check(full.isOverfull && full.hasMany(counted(100_000)).every((answer) => answer === 1));
    const refused = await fails(
        () => Filter.fromKeys(uncounted(1e9), { ...tight, refuseOverfull: true }),
        PetalError,
    );
    check(refused.offset > 4096 && refused.offset < 1e6, refused.offset);
    for (const options of [{ scheme: 'counting' }, { bits: 512 }, { capacity: 5 }])
        await fails(() => Filter.fromKeys(['a'], options), PetalError);
    for (const keys of [undefined, null, 5, 'text', {}])
        await fails(() => Filter.fromKeys(keys), TypeError);
    await fails(() => Filter.fromKeys(['a', 5]), TypeError);
});

test('a static filter is built from its keys', async () => {
    const golden = read('static/two-pages.petal'),
        keys = counted(100_000);
    const fixed = await Filter.fromKeys(uncounted(100_000), { scheme: 'static' });
    sameBytes(fixed.toBytes(), golden);
    check(fixed.hasMany(keys).every((answer) => answer === 1));
    await fails(() => fixed.add(5n), PetalError);
    fixed.dispose();
    const own = await Filter.create({ rate: 0.01, scheme: 'static' });
    check(own.add(99_999n) && own.has('anything'));
    await fails(() => own.toBytes(), PetalError);
    own.addMany(keys);
    own.freeze();
    sameBytes(own.toBytes(), golden);
    own.dispose();
    for (const options of [{ capacity: 5 }, { memoryBytes: 1000 }, { bits: 512 }])
        await fails(
            () => Filter.create({ rate: 0.01, scheme: 'static', ...options }),
            PetalError,
        );
});
