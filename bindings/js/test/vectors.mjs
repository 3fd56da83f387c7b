// vectors.mjs - tests every vector. Filters from other libraries' files must return the original
// library's answers, be rebuilt byte for byte, and survive a round trip through a petal file.
// Petal's own files must be rewritten byte for byte. Broken files must be rejected with the right
// error.
import { readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import {
    check,
    fails,
    read,
    rows,
    same,
    sameBytes,
    secret,
    test,
    unhex,
    vectors,
    petal,
} from './tap.mjs';

const { f64, Filter, formats, i64, PetalError, shardOf } = petal;

// ---- files of other libraries (the language is that of tests/formats/vectors.c) ----

class File {
    static async open(format, path) {
        const file = new File();
        const gzip = format === 'dcso-gzip';
        Object.assign(file, { format, path, made: null, packed: false, asked: [], rebuilt: 0 });
        file.source = read(path);
        file.bytes = gzip ? new Uint8Array(gunzipSync(file.source)) : file.source;
        file.own = gzip ? 'dcso' : format; // the format to write, since the modules lack gzip
        file.read = await Filter.load(file.source, { format });
        return file;
    }

    async make(verb, [a, b, seed]) {
        const size =
            verb === 'plan'
                ? { capacity: BigInt(a), rate: Number(b) }
                : { bits: BigInt(a), hashes: Number(b), seed: BigInt(seed ?? 0) };
        this.made = await Filter.create({ ...size, format: this.own });
    }

    key(verb, key) {
        if (verb === 'add') return this.made?.add(key);
        const name = `${this.path}: ${verb} ${Buffer.from(key).toString('hex')}`;
        same(this.read.has(key), verb === 'in', name);
        this.asked.push([key, verb === 'in' ? 1 : 0]);
    }

    async expectSame(filter) {
        if (!this.packed) return sameBytes(filter.toBytes(this.own), this.bytes, this.path);
        const again = await Filter.load(filter.toBytes(this.own), { format: this.own });
        sameBytes(again.toBytes(), this.read.toBytes(), this.path);
        again.dispose();
    }

    async rebuild() {
        await this.expectSame(this.made);
        this.rebuilt = 1;
    }

    async end() {
        check(this.asked.length > 0 || this.rebuilt, `${this.path}: it proves nothing`);
        const answers = this.read.hasMany(this.asked.map(([key]) => key));
        sameBytes(
            answers,
            Uint8Array.from(this.asked, ([, answer]) => answer),
            this.path,
        );
        await this.expectSame(this.read);
        const carried = await Filter.load(this.read.toBytes());
        await this.expectSame(carried);
        carried.dispose();
        for (
            let size = 0;
            size < this.bytes.length;
            size += Math.floor(this.bytes.length / 50) + 1
        ) {
            try {
                (await Filter.load(this.bytes.subarray(0, size), { format: this.own })).dispose();
            } catch (error) {
                check(
                    error instanceof PetalError && error.message && error.code,
                    `${this.path}: ${error}`,
                );
            }
        }
        this.read.dispose();
        this.made?.dispose();
    }
}

const runScript = async (folder, totals) => {
    let format = null,
        file = null;
    const end = async () => {
        if (!file) return;
        await file.end();
        totals.files++;
        totals.answers += file.asked.length;
        totals.rebuilt += file.rebuilt;
    };
    for (const [verb, ...words] of rows(`${folder}/vectors.txt`)) {
        if (verb === 'format') {
            await end();
            [format, file] = [words[0], null];
        } else if (verb === 'file') {
            await end();
            file = await File.open(format, `${folder}/${words[0]}`);
        } else if (verb === 'plan' || verb === 'size') await file.make(verb, words);
        else if (verb === 'rebuild') await file.rebuild();
        else if (verb === 'packed') file.packed = true;
        else if (['add', 'in', 'out'].includes(verb)) file.key(verb, unhex(words[0]));
        else if (['adds', 'ins', 'outs'].includes(verb)) {
            const text = words[0] === '-' ? '' : words[0];
            for (let i = Number(words[1]); i <= Number(words[2]); i++)
                file.key(verb.slice(0, -1), new TextEncoder().encode(`${text}${i}`));
        } else same(verb, 'loose', folder);
    }
    await end();
};

test('the files of other libraries answer, are rebuilt and carried', async () => {
    const totals = { files: 0, answers: 0, rebuilt: 0 };
    for (const folder of readdirSync(vectors).sort())
        if (
            readdirSync(new URL(folder, vectors).pathname.replace(/README.md$/, '')).includes(
                'vectors.txt',
            )
        )
            await runScript(folder, totals);
    console.log(`# ${totals.files} files, ${totals.answers} answers, ${totals.rebuilt} rebuilt`);
    check(
        totals.files >= 190 && totals.answers >= 20000 && totals.rebuilt >= 140,
        JSON.stringify(totals),
    );
});

// ---- petal's own ----

const DAY = 86400000;
const texts = Array.from({ length: 100 }, (_, i) => `key-${i}`);
const integers = (count) => (f) =>
    f.addMany(BigInt64Array.from({ length: count }, (_, i) => BigInt(i)));
const addTexts = (f) => f.addMany(texts),
    two = (f) => f.addMany(['a', 'b']),
    nothing = () => {};
const days = (f) =>
    texts.forEach((key, i) => {
        f.advance((19723 + i) * DAY + DAY / 2);
        f.add(key);
    });
const burst = (f) => {
    f.advance(new Date(19723 * DAY));
    f.addMany(texts);
};
const counting = (f) => {
    f.addMany([...texts, ...texts.slice(0, 10), ...Array(20).fill('key-95')]);
    check(f.removeMany([...texts.slice(0, 50), 'key-95']).every((one) => one === 1));
};
const typed = (f) => {
    const keys = [
        '',
        Uint8Array.of(0),
        'café',
        Uint8Array.of(255, 254),
        -1n,
        i64(1),
        f64(-0),
        f64(1.5),
        f64(NaN),
    ];
    for (const key of keys) f.add(key);
};
const metadata = new Uint8Array(Buffer.from('{"made": "for a test"}\0\xff\0', 'latin1'));
// vectors/README.md describes the files that this test reads.
const recipes = {
    textbook: [two, { scheme: 'classic', bits: 11, hashes: 2, seed: 197072 }],
    'one-bit': [two, { scheme: 'classic', bits: 1, hashes: 1 }],
    'empty-blocked': [nothing, { bits: 512, hashes: 7, linesPerKey: 1 }],
    'empty-classic': [nothing, { scheme: 'classic', bits: 513, hashes: 64 }],
    blocked: [addTexts, { bits: 1536, hashes: 8, linesPerKey: 1 }],
    'blocked-two-lines': [addTexts, { bits: 2048, hashes: 9, linesPerKey: 2 }],
    'blocked-k16': [
        integers(100),
        { bits: 5120, hashes: 16, linesPerKey: 1, seed: 2n ** 64n - 1n },
    ],
    'blocked-k32': [integers(100), { bits: 5120, hashes: 32, linesPerKey: 2 }],
    'blocked-planned': [addTexts, { capacity: 100, rate: 0.01 }],
    'blocked-planned-low': [addTexts, { capacity: 100, rate: 1e-6 }],
    classic: [addTexts, { scheme: 'classic', bits: 1009, hashes: 5, seed: 42 }],
    'classic-planned': [addTexts, { scheme: 'classic', capacity: 100, rate: 0.01 }],
    'classic-keyed': [addTexts, { scheme: 'classic', bits: 1009, hashes: 7, secret }],
    'blocked-keyed': [addTexts, { bits: 1024, hashes: 6, linesPerKey: 1, secret }],
    'typed-keys': [typed, { bits: 1024, hashes: 5, linesPerKey: 1 }],
    metadata: [
        two,
        { scheme: 'classic', bits: 100, hashes: 3, capacity: 10, rate: 0.5, seed: 7, metadata },
    ],
    saturated: [integers(1000), { scheme: 'classic', bits: 100, hashes: 4 }],
    'two-blocks': [integers(2000), { scheme: 'classic', bits: 524387, hashes: 3 }],
    growing: [addTexts, { capacity: 10, rate: 0.01, grow: true }],
    'growing-by-3': [
        addTexts,
        {
            scheme: 'classic',
            capacity: 5,
            rate: 0.1,
            seed: 7,
            metadata: new TextEncoder().encode('three'),
            grow: true,
            growthStep: 3,
            growthRatio: 0.5,
        },
    ],
    'growing-empty': [nothing, { capacity: 10, rate: 0.01, grow: true }],
    'rotating-keys': [addTexts, { rate: 0.01, windowKeys: 60 }],
    'rotating-time': [
        days,
        {
            scheme: 'classic',
            rate: 0.01,
            secret,
            windowKeys: 70,
            windowMs: 7 * DAY,
            generations: 8,
        },
    ],
    'rotating-burst': [burst, { rate: 0.01, windowKeys: 60, windowMs: DAY, generations: 4 }],
    'empty-counting': [nothing, { scheme: 'counting', bits: 129, hashes: 64 }],
    'textbook-counting': [two, { scheme: 'counting', bits: 11, hashes: 2, seed: 197072 }],
    counting: [counting, { scheme: 'counting', bits: 1009, hashes: 5, seed: 42 }],
    'counting-planned': [addTexts, { scheme: 'counting', capacity: 100, rate: 0.01 }],
    'counting-keyed': [addTexts, { scheme: 'counting', bits: 1009, hashes: 7, secret }],
    'counting-two-blocks': [integers(2000), { scheme: 'counting', bits: 131171, hashes: 3 }],
};

test('the golden files are made byte for byte, and read', async () => {
    const names = readdirSync(new URL('petal/', vectors)).filter((name) => name.endsWith('.petal'));
    same(
        names
            .map((name) => name.slice(0, -6))
            .sort()
            .join(),
        Object.keys(recipes).sort().join(),
    );
    for (const [name, [fill, options]] of Object.entries(recipes)) {
        const made = await Filter.create(options),
            file = read(`petal/${name}.petal`);
        fill(made);
        sameBytes(made.toBytes(), file, name);
        const again = await Filter.load(file, { secret: options.secret });
        sameBytes(again.toBytes(), file, name);
        same(again.contentId(), made.contentId(), name);
        same(again.info.items, made.info.items, name);
    }
});

test('a golden file answers as ever', async () => {
    const f = await Filter.load(read('petal/blocked.petal'));
    const passed = Array.from({ length: 900 }, (_, i) => i + 100).filter((i) => f.has(`key-${i}`));
    same(passed.join(), '980');
    check(texts.every((key) => f.has(key)));
    same(f.stats().bitsSet, 629);
    same(f.contentId(), 0x14f5876858484957n);
});

test('rejected files are refused by the name of the error', async () => {
    const expected = rows('reject/expected.txt').map(([name, ...words]) => [name, words.join(' ')]);
    check(expected.length >= 50);
    for (const [name, status] of expected) {
        const error = await fails(() => Filter.load(read(`reject/${name}.petal`)), PetalError);
        same(error.code, status, name);
        check(error.message.length > 10, name);
    }
});

// ---- hashes and keys ----

test('hashes are those of the vectors', async () => {
    let x = 2654435761n,
        count = 0;
    const buffer = new Uint8Array(4096);
    for (let i = 0; i < 4096; i++) {
        buffer[i] = Number(x >> 56n);
        x = BigInt.asUintN(64, x * 11400714785074694797n);
    }
    for (const [length, seed, hash] of rows('hashes/xxh3.txt')) {
        const f = await Filter.create({ capacity: 10, rate: 0.01, seed: BigInt(`0x${seed}`) });
        same(f.hashKey(buffer.subarray(0, Number(length))), BigInt(`0x${hash}`), length);
        f.dispose();
        count++;
    }
    const f = await Filter.create({ capacity: 10, rate: 0.01, secret });
    for (const [length, hash] of rows('hashes/siphash-2-4.txt')) {
        const expected = Buffer.from(hash, 'hex').readBigUInt64LE();
        same(f.hashKey(Uint8Array.from({ length: Number(length) }, (_, i) => i)), expected, length);
        count++;
    }
    check(count >= 90);
});

test('numbers have the key bytes of the vectors', async () => {
    const f = await Filter.create({ capacity: 10, rate: 0.01 }),
        words = rows('hashes/typed-keys.txt');
    for (const [type, value, key] of words) {
        const number =
            type === 'i64' ? BigInt(value) : f64(Buffer.from(value, 'hex').readDoubleBE());
        same(f.hashKey(number), f.hashKey(unhex(key)), value);
    }
    check(words.length >= 30);
});

test('shards are those of the vectors', async () => {
    const words = rows('shards/shards.txt');
    for (const [key, , shards, shard] of words)
        same(await shardOf(unhex(key), Number(shards)), Number(shard), key);
    check(words.length >= 50);
});

test('all formats are there', async () => {
    const names = (await formats()).map((format) => format.name);
    same(names.length, 29);
    check(
        ['guava', 'bloom-filters', 'bloomfilter', 'js-tutorial', 'parquet'].every((name) =>
            names.includes(name),
        ),
    );
});
