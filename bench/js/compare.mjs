// compare.mjs - compares the package's batches and single calls, with SIMD128 and without, with the
// npm packages bloomfilter and bloom-filters, in one process. Prints the CPU time in ns per key,
// which is the minimum of the rounds, the ratio of the minima, and the median and the spread of the
// rounds' ratios. Each round runs all contenders in turn.
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const option = (name, value) => {
    const at = process.argv.indexOf(`--${name}`);
    return at < 0 ? value : Number(process.argv[at + 1]);
};
const COUNT = option('keys', 1e6),
    ROUNDS = option('rounds', 7),
    SLOW_COUNT = Math.min(COUNT, 20000); // fewer keys for bloom-filters, which needs 30 us per key

const { PACKAGE, PEERS } = process.env;
const folder = mkdtempSync(join(tmpdir(), 'petal-bench-'));
const variant = async (name, simd) => {
    cpSync(join(PACKAGE, 'dist'), join(folder, name), { recursive: true });
    if (!simd) cpSync(join(PACKAGE, 'dist/native.wasm'), join(folder, name, 'native-simd.wasm'));
    return import(pathToFileURL(join(folder, name, 'petal.mjs')).href);
};
const petals = {
    petal: await variant('simd', true),
    'petal, scalar': await variant('scalar', false),
};
const peer = (name, version) => {
    const at = join(PEERS, `bench-js-${name}@${version}`, 'index.js');
    return existsSync(join(PEERS, `bench-js-${name}@${version}`)) ? createRequire(at)(name) : null;
};

const members = Array.from(
    { length: COUNT },
    (_, i) => `https://example.com/page/${String(i).padStart(8, '0')}`,
);
const absent = members.map((key) => key.replace('.com', '.org'));
const joined = (keys) => {
    const ends = new Uint32Array(keys.length);
    let end = 0;
    keys.forEach((key, i) => (ends[i] = end += key.length));
    return { bytes: new Uint8Array(Buffer.from(keys.join(''))), ends };
};
const numbers = BigInt64Array.from(members, (_, i) => BigInt(i) * 7919n);
const absentNumbers = numbers.map((one) => -1n - one);

let sink = 0;
const loop = (keys, has) => () => {
    for (let i = 0; i < keys.length; i++) sink += has(keys[i]) ? 1 : 0;
};

// Rows of [measurement, contender, number of keys, function].
const work = [];
for (const [name, { Filter }] of Object.entries(petals)) {
    const texts = await Filter.create({ capacity: COUNT, rate: 0.01 });
    texts.addMany(members);
    const ints = await Filter.create({ capacity: COUNT, rate: 0.01 });
    ints.addMany(numbers);
    for (const [which, keys] of [
        ['present', members],
        ['absent', absent],
    ]) {
        const parts = joined(keys);
        work.push([`joined bytes, ${which}`, name, COUNT, () => texts.hasMany(parts)]);
        work.push([`strings, ${which}`, name, COUNT, () => texts.hasMany(keys)]);
        work.push([`one string, ${which}`, name, COUNT, loop(keys, (key) => texts.has(key))]);
    }
    work.push(['int64, present', name, COUNT, () => ints.hasMany(numbers)]);
    work.push(['int64, absent', name, COUNT, () => ints.hasMany(absentNumbers)]);
}
const bloomfilter = peer('bloomfilter', '1.1.0'),
    bloomFilters = peer('bloom-filters', '3.0.4');
if (bloomfilter) {
    const { bits } = await petals.petal.Filter.plan({
        capacity: COUNT,
        rate: 0.01,
        scheme: 'classic',
    });
    const f = new bloomfilter.BloomFilter(bits, 7);
    for (const key of members) f.add(key);
    work.push(['one string, present', 'bloomfilter', COUNT, loop(members, (key) => f.test(key))]);
    work.push(['one string, absent', 'bloomfilter', COUNT, loop(absent, (key) => f.test(key))]);
} else console.error('bloomfilter is not there');
if (bloomFilters) {
    const f = bloomFilters.BloomFilter.create(COUNT, 0.01);
    const some = members.slice(0, SLOW_COUNT),
        others = absent.slice(0, SLOW_COUNT);
    for (const key of some) f.add(key);
    work.push([
        'one string, present',
        'bloom-filters',
        SLOW_COUNT,
        loop(some, (key) => f.has(key)),
    ]);
    work.push([
        'one string, absent',
        'bloom-filters',
        SLOW_COUNT,
        loop(others, (key) => f.has(key)),
    ]);
} else console.error('bloom-filters is not there');

const rounds = new Map();
for (let round = 0; round <= ROUNDS; round++)
    for (const [what, who, count, run] of work) {
        const begin = process.cpuUsage();
        run();
        const { user, system } = process.cpuUsage(begin),
            name = `${what} | ${who}`;
        if (round === 0)
            rounds.set(name, []); // the first round warms up
        else rounds.get(name).push(((user + system) * 1000) / count);
    }
rmSync(folder, { recursive: true });

const least = (name) => Math.min(...rounds.get(name));
const { version, arch } = process;
console.log(
    `${cpus()[0].model}, Node ${version} ${arch}, ${COUNT} keys of 33 bytes, ${ROUNDS} rounds\n`,
);
console.log('| what | who | ns per key |\n|---|---|---|');
for (const name of [...rounds.keys()].sort())
    console.log(`| ${name} | ${least(name).toFixed(1)} |`);

const ratios = (a, b) => {
    const [x, y] = [rounds.get(a), rounds.get(b)];
    if (!x || !y) return null;
    const all = x.map((one, i) => y[i] / one).sort((p, q) => p - q);
    return [least(b) / least(a), all[all.length >> 1], all[0], all.at(-1)];
};
console.log(
    '\n| goal | times as fast | in rounds, median (min to max) | wanted | |\n|---|---|---|---|---|',
);
const goal = (what, a, b, wanted) => {
    const found = ratios(a, b);
    if (!found) return console.log(`| ${what} | not measured | | ${wanted} | |`);
    const [times, middle, low, high] = found.map((one) => one.toFixed(2));
    const met = found[0] >= wanted ? 'met' : 'NOT MET';
    console.log(`| ${what} | ${times} | ${middle} (${low} to ${high}) | ${wanted} | ${met} |`);
};
for (const which of ['present', 'absent']) {
    const other = `one string, ${which} | bloomfilter`;
    goal(`joined bytes against bloomfilter, ${which}`, `joined bytes, ${which} | petal`, other, 3);
    goal(
        `strings against bloomfilter, ${which}`,
        `strings, ${which} | petal`,
        other,
        which === 'present' ? 1.5 : 3,
    );
    goal(
        `strings against bloom-filters, ${which}`,
        `strings, ${which} | petal`,
        `one string, ${which} | bloom-filters`,
        50,
    );
}
goal(
    'has() against bloomfilter, absent',
    'one string, absent | petal',
    'one string, absent | bloomfilter',
    1,
);
for (const which of ['present', 'absent']) {
    goal(
        `SIMD128 against scalar, joined bytes, ${which}`,
        `joined bytes, ${which} | petal`,
        `joined bytes, ${which} | petal, scalar`,
        1.2,
    );
    goal(
        `SIMD128 against scalar, int64, ${which}`,
        `int64, ${which} | petal`,
        `int64, ${which} | petal, scalar`,
        1.35,
    );
}
if (sink < 0) console.log(sink);
