// million.mjs FILES - tests that this package and the command petal return the same answers from a
// filter of 10^6 addresses, one by one and in batches, for all members and for 10^6 absent keys,
// and that both build it byte for byte alike. Also tests that loading 1 GiB takes 1.05 GiB of
// memory, and that created and freed filters leak none.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Filter, PetalError } from 'petal-bloom';
import { check, fails, read, same, sameBytes, test } from './tap.mjs';

const folder = process.argv[2];
const COUNT = 1e6;
const address = (i) => `https://example.${i < COUNT ? 'com' : 'org'}/page/${i % COUNT}`;

test('10^6 members and 10^6 absent addresses: the answers of C, one by one and in batches', async () => {
    const f = await Filter.load(readFileSync(join(folder, 'million.petal')));
    const wanted = readFileSync(join(folder, 'answers')).map((digit) => digit - 48);
    same(wanted.length, 2 * COUNT);
    const keys = Array.from({ length: 2 * COUNT }, (_, i) => address(i));
    for (let i = 0; i < 2 * COUNT; i++)
        if (f.has(keys[i]) !== (wanted[i] === 1))
            throw new Error(`${keys[i]} is ${wanted[i]} in C`);
    sameBytes(f.hasMany(keys), wanted);
    const passed = wanted.subarray(COUNT).reduce((sum, one) => sum + one, 0);
    console.log(`# ${passed} of 10^6 absent keys pass`);
    check(wanted.subarray(0, COUNT).every((one) => one === 1) && passed > 8000 && passed < 12000);
});

test('the filter made here is that of the command petal, byte for byte', async () => {
    const f = await Filter.create({ capacity: COUNT, rate: 0.01, keyType: 'text' });
    f.addMany(Array.from({ length: COUNT }, (_, i) => address(i)));
    sameBytes(f.toBytes(), readFileSync(join(folder, 'million.petal')));
});

const memory = () => process.memoryUsage();

test('10^5 filters that are made, loaded and disposed of take no memory', async () => {
    const bytes = read('petal/blocked.petal'),
        broken = bytes.slice(0, 500);
    const round = async (count) => {
        for (let i = 0; i < count; i++) {
            const f = await Filter.load(bytes);
            f.add('a');
            f.dispose();
            await Filter.load(broken).catch(() => {});
        }
        globalThis.gc?.();
        return memory();
    };
    const before = await round(5000),
        after = await round(95000);
    const module = after.arrayBuffers - before.arrayBuffers + after.external - before.external;
    console.log(
        `# outside the heap ${module} bytes more, heap ${after.heapUsed - before.heapUsed}`,
    );
    check(module < 1 << 20, `${module} bytes`);
    check(after.heapUsed - before.heapUsed < 20 << 20, 'heap');
});

test('filters that are forgotten give their memory back', async () => {
    if (!globalThis.gc) throw new Error('run with --expose-gc');
    const make = async () => {
        for (let i = 0; i < 50; i++) await Filter.create({ bits: 2 ** 26, hashes: 4 }); // 8 MiB
        globalThis.gc();
        await new Promise((resolve) => setTimeout(resolve, 20));
    };
    for (let i = 0; i < 4; i++) await make();
    const before = memory().arrayBuffers + memory().external;
    for (let i = 0; i < 8; i++) await make();
    const grown = memory().arrayBuffers + memory().external - before;
    check(grown < 64 << 20, `${grown} bytes`);
});

// Loads a file of 1 GiB in a worker, which reports the size of its module's memory.
test('1 GiB loads with its length in at most 1.05 GiB of memory, and does not fit twice', async () => {
    const bits = 2 ** 33;
    const f = await Filter.create({ bits, hashes: 4 });
    f.add('a');
    const bytes = f.toBytes();
    f.dispose();
    check(bytes.length >= 2 ** 30);
    const { Worker } = await import('node:worker_threads');
    const shared = new SharedArrayBuffer(bytes.length);
    new Uint8Array(shared).set(bytes);
    const worker = new Worker(new URL('large.mjs', import.meta.url), { workerData: shared });
    const told = await new Promise((resolve, reject) => {
        worker.on('message', resolve);
        worker.on('error', reject);
    });
    console.log(
        `# ${bytes.length} bytes in ${(told.memory / 2 ** 30).toFixed(4)} GiB of the module`,
    );
    same(told.answers, 'true,false');
    check(told.memory <= 1.05 * 2 ** 30, `${told.memory}`);
});

test('a filter that fits into no module is refused', async () => {
    const error = await fails(() => Filter.create({ bits: 2 ** 36, hashes: 4 }), PetalError);
    same(error.code, 'out of memory');
});
