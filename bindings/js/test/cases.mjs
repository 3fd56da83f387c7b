// cases.mjs - runs the cases in vectors/bindings/cases.txt, which every binding must pass.
import { readFileSync } from 'node:fs';
import { check, fails, read, same, test, unhex, vectors, petal } from './tap.mjs';

const { f64, Filter, PetalError } = petal;

const names = {
    capacity: BigInt,
    rate: Number,
    memory: BigInt,
    bits: BigInt,
    hashes: Number,
    lines_per_key: Number,
    seed: BigInt,
    grow: (value) => value === '1',
    growth_step: Number,
    growth_ratio: Number,
    window: BigInt,
    window_ms: BigInt,
    generations: Number,
    scheme: String,
    format: String,
    key_type: String,
    secret: unhex,
};
const ours = {
    memory: 'memoryBytes',
    lines_per_key: 'linesPerKey',
    growth_step: 'growthStep',
    growth_ratio: 'growthRatio',
    window: 'windowKeys',
    window_ms: 'windowMs',
    key_type: 'keyType',
};
const optionsOf = (words) =>
    Object.fromEntries(
        words.map((word) => {
            const [name, value] = word.split('=');
            check(name in names, name);
            return [ours[name] ?? name, names[name](value)];
        }),
    );

const lines = readFileSync(new URL('bindings/cases.txt', vectors), 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => {
        const at = line.indexOf(' = ');
        return [...line.slice(0, at).split(' ').filter(Boolean), line.slice(at + 3)];
    });
const each = (verb, run) => async () => {
    const of = lines.filter(([first]) => first === verb);
    check(of.length > 5, `${of.length} cases`);
    for (const [, ...words] of of) await run(words.slice(0, -1), words.at(-1), words.join(' '));
};

const keyOf = (type, i) => (type === 'text' ? `key-${i}` : type === 'i64' ? BigInt(i) : f64(i / 2));
const arrayOf = (type, from, to) => {
    const places = Array.from({ length: to - from }, (_, i) => from + i);
    if (type === 'text') return places.map((i) => `key-${i}`);
    return type === 'i64'
        ? BigInt64Array.from(places, BigInt)
        : Float64Array.from(places, (i) => i / 2);
};
const typed = (type, value) => {
    if (type === 'text') return new TextDecoder('utf-8', { ignoreBOM: true }).decode(unhex(value));
    if (type === 'i64') return BigInt(value);
    return f64(Buffer.from(value, 'hex').readDoubleBE());
};

test(
    'cases: plans',
    each('plan', async (words, wanted) => {
        const plan = await Filter.plan(optionsOf(words));
        same(`${plan.bits} ${plan.hashes} ${plan.bytes}`, wanted, words.join(' '));
    }),
);

test(
    'cases: refusals',
    each('refuse', async (words, wanted) => {
        const error = await fails(() => Filter.create(optionsOf(words)), PetalError);
        same(`${error.code}: ${error.message}`, wanted, words.join(' '));
    }),
);

test(
    'cases: hashes of keys',
    each('hash', async ([type, value], wanted) => {
        const f = await Filter.create({ capacity: 10, rate: 0.01 });
        same(
            f
                .hashKey(typed(type, value ?? '-'))
                .toString(16)
                .padStart(16, '0'),
            wanted.replace(/^0x/, ''),
            value,
        );
    }),
);

test(
    'cases: filters that are filled, by batches and one by one',
    each('fill', async (words, wanted) => {
        const [type, count, asked, ...options] = words,
            [n, m] = [Number(count), Number(asked)];
        const wholes = optionsOf(options),
            batch = await Filter.create(wholes),
            single = await Filter.create(wholes);
        const added = batch.addMany(arrayOf(type, 0, n)),
            answers = batch.hasMany(arrayOf(type, n, n + m));
        const passed = answers.reduce((sum, one) => sum + one, 0);
        same(
            `${added} ${passed} ${batch.contentId().toString(16).padStart(16, '0')}`,
            wanted.replace('0x', ''),
            words.join(' '),
        );
        let fresh = 0;
        for (let i = 0; i < n; i++) fresh += single.add(keyOf(type, i)) ? 1 : 0;
        same(fresh, added);
        for (let i = 0; i < m; i++)
            same(single.has(keyOf(type, n + i)) ? 1 : 0, answers[i], words.join(' '));
        same(single.contentId(), batch.contentId());
    }),
);

test(
    'cases: broken files, in the words of the core',
    each('open', async (words, wanted) => {
        const file = words.at(-1),
            status = words.slice(0, -1).join(' ');
        const error = await fails(() => Filter.load(read(file)), PetalError);
        const [message, offset] = wanted.split(' @ ');
        same(error.message, message, file);
        same(error.code, status.replaceAll('_', ' '), file);
        same(String(error.offset ?? '-'), offset, file);
    }),
);
