// browser.mjs - tests the package in Debian's Chromium, with playwright-core and a server that
// supports Range: building, download, upload, queries, progress, abort, damage, ranges, patches,
// workers, offline use, pages without a network (file:), and a policy that forbids WebAssembly. Run
// as `browser.mjs PACKAGE PLAYWRIGHT FILES`. The folder FILES contains million.petal, written by
// the command petal, and its answers.
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serve } from './server.mjs';
import { check, read, same, sameBytes, test, top } from './tap.mjs';

const [packaged, playwright, files] = process.argv.slice(2);
const { chromium } = createRequire(join(playwright, 'index.js'))('playwright-core');
const folder = mkdtempSync(join(tmpdir(), 'petal-browser-'));
const examples = new URL('bindings/js/example/', top);
cpSync(examples, folder, { recursive: true });
for (const place of ['', 'workers/', 'offline/'])
    cpSync(join(packaged, 'dist'), join(folder, place, 'petal'), { recursive: true });
writeFileSync(join(folder, 'index.html'), '<!doctype html><title>petal</title><input type="file">');
writeFileSync(
    join(folder, 'file.html'),
    '<!doctype html><title>file</title><script src="petal/petal-full.js"></script>',
);
for (const name of ['million.petal', 'answers']) cpSync(join(files, name), join(folder, name));
writeFileSync(join(folder, 'offline/words.petal'), read('petal/blocked.petal'));

const server = await serve(folder);
const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
    ],
});
const open = async (path = 'index.html', context = browser) => {
    const page = await context.newPage();
    page.on('pageerror', (error) => console.log(`# page: ${error.message}`));
    await page.goto(`${server.url}${path}`);
    return page;
};

console.log(`# Chromium ${browser.version()}`);

test('builds, downloads, takes the file back and answers; the bytes are those of Node', async () => {
    const page = await open();
    const saving = page.waitForEvent('download');
    await page.evaluate(async () => {
        const { Filter } = await import('./petal/petal.browser.mjs');
        const f = await Filter.create({ bits: 1536, hashes: 8, linesPerKey: 1 });
        f.addMany(Array.from({ length: 100 }, (_, i) => `key-${i}`));
        const link = document.createElement('a');
        link.href = URL.createObjectURL(new Blob([f.toBytes()]));
        link.download = 'mine.petal';
        link.click();
    });
    const path = await (await saving).path();
    sameBytes(readFileSync(path), read('petal/blocked.petal'));
    await page.setInputFiles('input', {
        name: 'a.petal',
        mimeType: '',
        buffer: readFileSync(path),
    });
    const passed = await page.evaluate(async () => {
        const { Filter } = await import('./petal/petal.browser.mjs');
        const f = await Filter.load(document.querySelector('input').files[0]);
        return Array.from({ length: 1000 }, (_, i) => i).filter((i) => f.has(`key-${i}`));
    });
    same(passed.join(), [...Array(100).keys(), 980].join());
    await page.close();
});

test('a million addresses from the command petal: each answer is that of C', async () => {
    const page = await open();
    const wrong = await page.evaluate(async () => {
        const { Filter } = await import('./petal/petal.browser.mjs');
        const f = await Filter.load('million.petal');
        const answers = new Uint8Array(await (await fetch('answers')).arrayBuffer());
        let bad = 0;
        for (let i = 0; i < 2e6; i++) {
            const key = `https://example.${i < 1e6 ? 'com' : 'org'}/page/${i % 1e6}`;
            if (f.has(key) !== (answers[i] === 49)) bad++;
        }
        return bad;
    });
    same(wrong, 0);
    await page.close();
});

test('progress, abort and damage', async () => {
    const page = await open();
    server.slow = 65536;
    const seen = await page.evaluate(async () => {
        const { Filter, PetalError } = await import('./petal/petal.browser.mjs');
        const told = [],
            controller = new AbortController();
        const f = await Filter.load('million.petal', { onProgress: (one) => told.push(one) });
        const stopped = await Filter.load('million.petal', {
            signal: controller.signal,
            onProgress: ({ loaded }) => loaded > 200000 && controller.abort(),
        }).catch((error) => error.name);
        const bytes = f.toBytes();
        bytes[500000] ^= 1;
        const damaged = await Filter.load(bytes).catch((error) => error);
        return {
            told: told.length,
            last: told.at(-1),
            size: bytes.length,
            stopped,
            damaged: [damaged instanceof PetalError, damaged.code, damaged.offset],
        };
    });
    server.slow = 0;
    check(seen.told > 3, `${seen.told} calls`);
    same(seen.last.loaded, seen.size);
    same(seen.last.total, seen.size);
    same(seen.stopped, 'AbortError');
    same(seen.damaged.slice(0, 2).join(), 'true,damaged');
    check(seen.damaged[2] <= 500000 && seen.damaged[2] > 400000, String(seen.damaged[2]));
    await page.close();
});

test('by ranges: a block and its checksum per key, or 64 bytes', async () => {
    const page = await open();
    for (const verify of [true, false]) {
        server.log.length = 0;
        const answers = await page.evaluate(async (verify) => {
            const { Filter } = await import('./petal/petal.browser.mjs');
            const f = await Filter.range('million.petal', { verify });
            return [
                ...(await f.hasMany(['https://example.com/page/5', 'https://example.org/page/6'])),
            ];
        }, verify);
        const asked = server.log.filter(({ path }) => path === '/million.petal');
        same(asked.length, verify ? 4 : 3); // a single request fetches both checksums
        check(asked.every(({ range }) => range !== null));
        same(answers[0], 1);
    }
    await page.close();
});

test('a patch, and a manifest that is followed', async () => {
    const page = await open();
    const update = await page.evaluate(async () => {
        const { Filter } = await import('./petal/petal.browser.mjs');
        const old = await Filter.load('million.petal'),
            next = old.clone();
        next.addMany(['one', 'two']);
        const copy = old.clone(),
            patch = old.diff(next);
        copy.applyPatch(patch);
        return [patch.length < 1000, copy.contentId() === next.contentId(), copy.has('two')];
    });
    same(update.join(), 'true,true,true');
    await page.close();
});

test('workers share the bytes of a file', async () => {
    server.headers = {
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Embedder-Policy': 'require-corp',
    };
    const page = await open();
    const sums = await page.evaluate(async () => {
        const { pool } = await import('./workers/pool.mjs');
        const workers = await pool('million.petal', 2);
        const keys = Array.from({ length: 1000 }, (_, i) => `https://example.com/page/${i}`);
        const answers = await workers.hasMany(keys);
        workers.close();
        return answers.map((part) => part.reduce((sum, one) => sum + one, 0));
    });
    server.headers = {};
    same(sums.join(), '500,500');
    await page.close();
});

test('a service worker answers offline', async () => {
    const context = await browser.newContext();
    const page = await open('offline/index.html', context);
    await page.waitForFunction(() => document.querySelector('output').value === 'ready');
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await context.setOffline(true);
    await page.reload();
    for (const [key, answer] of [
        ['key-5', 'probably'],
        ['key-500', 'certainly not'],
    ]) {
        await page.fill('input', key);
        await page.press('input', 'Enter');
        await page.waitForFunction(
            (wanted) => document.querySelector('output').value === wanted,
            answer,
        );
    }
    await context.close();
});

test('from file:, with a classic script alone', async () => {
    const page = await browser.newPage();
    await page.goto(pathToFileURL(join(folder, 'file.html')).href);
    const bytes = [...read('guava/long_n10000_p0.01_mitz64.bin')];
    const seen = await page.evaluate(async (list) => {
        const f = await petal.Filter.create({ capacity: 10, rate: 0.01 });
        f.add('a');
        const guava = await petal.Filter.load(Uint8Array.from(list), { format: 'guava' });
        return [f.has('a'), f.has('b'), f.info.kernel, guava.info.format];
    }, bytes);
    same(seen.join(), 'true,false,generic,guava');
    await page.close();
});

test('a policy without wasm-unsafe-eval is an error that says so', async () => {
    server.headers = { 'Content-Security-Policy': "script-src 'self'" };
    const page = await open();
    server.headers = {};
    const error = await page.evaluate(async () => {
        const { Filter } = await import('./petal/petal.browser.mjs');
        return Filter.create({ capacity: 1, rate: 0.1 }).catch(({ name, code, message }) => ({
            name,
            code,
            message,
        }));
    });
    same(`${error.name}, ${error.code}`, 'PetalError, not supported');
    check(error.message.includes("'wasm-unsafe-eval'"), error.message);
    server.headers = { 'Content-Security-Policy': "script-src 'self' 'wasm-unsafe-eval'" };
    const allowed = await open();
    server.headers = {};
    same(
        await allowed.evaluate(async () => {
            const { Filter } = await import('./petal/petal.browser.mjs');
            return (await Filter.create({ capacity: 1, rate: 0.1 })).add('a');
        }),
        true,
    );
    await page.close();
    await allowed.close();
});

test('the first answer from cold', async () => {
    const times = [];
    for (let i = 0; i < 5; i++) {
        const context = await browser.newContext();
        const page = await open('index.html', context);
        times.push(
            await page.evaluate(async () => {
                const start = performance.now();
                const { Filter } = await import('./petal/petal.browser.mjs');
                const f = await Filter.load('million.petal');
                if (!f.has('https://example.com/page/7')) throw new Error('missed');
                return performance.now() - start;
            }),
        );
        await context.close();
    }
    console.log(
        `# script, module, 1.2 MB and an answer: ${times.map((ms) => ms.toFixed(0)).join(' ')} ms`,
    );
    await browser.close();
    await server.close();
});
