// bundlers.mjs - builds a program that uses the packed package with each bundler, and runs it in
// Chromium. vite and webpack emit the modules. esbuild, rollup and bun don't, so their programs
// must use petal-bloom/inline, or the modules must be copied next to the bundle; otherwise the
// error message says what to do. bun also runs the program. The arguments of `bundlers.mjs BUNDLERS
// PLAYWRIGHT` are the packages' folders. The current folder must contain node_modules.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { serve } from './server.mjs';
import { check, same, test } from './tap.mjs';

const [bundlers, playwright] = process.argv.slice(2);
const tools = createRequire(join(bundlers, 'index.js'));
const esm = (name) => import(pathToFileURL(tools.resolve(name)));
const { chromium } = createRequire(join(playwright, 'index.js'))('playwright-core');

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'petal-bundlers-')));
const modules = fileURLToPath(new URL('../node_modules', import.meta.url));
cpSync(modules, join(folder, 'node_modules'), { recursive: true });
writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');

const program = (entry) => `
import { Filter, i32 } from '${entry}';
export const run = async () => {
    const f = await Filter.create({ capacity: 1000, rate: 0.01 });
    f.addMany(['key', i32(5)]);
    const guava = await Filter.create({ capacity: 10, rate: 0.01, format: 'guava' });
    guava.add('a');
    return [f.has('key'), f.has('other'), f.has(i32(5)), guava.has('a')].join();
};
globalThis.answer = run().catch((error) => error.message);
`;
const ANSWER = 'true,false,true,true';
const FRONT = '<!doctype html><title>petal</title><script type="module" src="./app.js"></script>';
const entries = { plain: 'petal-bloom', inline: 'petal-bloom/inline' };
for (const [name, entry] of Object.entries(entries)) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'app.js'), program(entry));
    writeFileSync(join(folder, name, 'index.html'), FRONT);
}
const out = (name) => join(folder, 'out', name);
const page = (name) => writeFileSync(join(out(name), 'index.html'), FRONT);
const wasm = (name) => readdirSync(out(name), { recursive: true }).filter((f) => /\.wasm$/.test(f));

const server = await serve(folder);
const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
const answerOf = async (url) => {
    const opened = await browser.newPage();
    await opened.goto(url);
    await opened.waitForFunction(() => globalThis.answer);
    const answer = await opened.evaluate(() => globalThis.answer);
    await opened.close();
    return answer;
};
const built = (name) => answerOf(`${server.url}out/${name}/index.html`);

// ---- bundlers that emit the modules -------------------------------------------------------------

// Don't load vite with require(): in Node 18, the CommonJS form of vite 6 has no named exports.
const { build, createServer } = await import(
    pathToFileURL(join(bundlers, 'node_modules/vite/dist/node/index.js'))
);
const vite = (name, more = {}) => ({
    root: join(folder, name),
    configFile: false,
    logLevel: 'error',
    cacheDir: join(folder, `.vite-${name}`),
    base: './',
    build: { outDir: out(`vite-${name}`), emptyOutDir: true, target: 'esnext' },
    ...more,
});

test('vite build', async () => {
    for (const name of Object.keys(entries)) {
        await build(vite(name));
        same(await built(`vite-${name}`), ANSWER, name);
        same(wasm(`vite-${name}`).length, name === 'plain' ? 4 : 0);
    }
});

test('vite in development, without its copy of the package', async () => {
    const dev = async (name, more) => {
        const running = await createServer(
            vite(name, { server: { port: 0, host: '127.0.0.1', hmr: false, ws: false }, ...more }),
        );
        await running.listen();
        const { port } = running.httpServer.address();
        const answer = await answerOf(`http://127.0.0.1:${port}/`);
        await running.close();
        return answer;
    };
    same(await dev('plain', { optimizeDeps: { exclude: ['petal-bloom'] } }), ANSWER);
    same(await dev('inline', {}), ANSWER);
});

test('webpack', async () => {
    const webpack = tools('webpack');
    for (const name of Object.keys(entries)) {
        const stats = await new Promise((resolve, reject) => {
            webpack(
                {
                    mode: 'production',
                    context: folder,
                    entry: join(folder, name, 'app.js'),
                    output: { path: out(`webpack-${name}`), filename: 'app.js' },
                },
                (error, done) => (error ? reject(error) : resolve(done)),
            );
        });
        check(!stats.hasErrors(), stats.toString());
        page(`webpack-${name}`);
        same(await built(`webpack-${name}`), ANSWER, name);
        same(wasm(`webpack-${name}`).length, name === 'plain' ? 4 : 0);
    }
});

test('rollup with its plugin for assets', async () => {
    const { rollup } = await esm('rollup');
    const resolve = tools('@rollup/plugin-node-resolve');
    const { importMetaAssets } = await esm('@web/rollup-plugin-import-meta-assets');
    const bundle = await rollup({
        input: join(folder, 'plain/app.js'),
        plugins: [resolve.nodeResolve({ browser: true }), importMetaAssets()],
        logLevel: 'silent',
    });
    await bundle.write({ dir: out('rollup-assets') });
    page('rollup-assets');
    same(await built('rollup-assets'), ANSWER);
    same(wasm('rollup-assets').length, 4);
});

// ---- bundlers that don't ------------------------------------------------------------------------

const bundle = {
    esbuild: async (name, to) => {
        await tools('esbuild').build({
            entryPoints: [join(folder, name, 'app.js')],
            bundle: true,
            format: 'esm',
            outfile: join(to, 'app.js'),
            logLevel: 'error',
        });
    },
    rollup: async (name, to) => {
        const { rollup } = await esm('rollup');
        const { nodeResolve } = tools('@rollup/plugin-node-resolve');
        const made = await rollup({
            input: join(folder, name, 'app.js'),
            plugins: [nodeResolve({ browser: true })],
            logLevel: 'silent',
        });
        await made.write({ dir: to });
    },
    bun: async (name, to) => {
        const { status, stderr } = bun('build', join(folder, name, 'app.js'), '--outdir', to);
        same(status, 0, stderr);
    },
};
const bun = (...words) =>
    spawnSync(join(bundlers, 'node_modules/.bin/bun'), words, { cwd: folder, encoding: 'utf8' });

for (const [tool, make] of Object.entries(bundle))
    test(`${tool}: inline; or the modules beside the bundle; or an error that says so`, async () => {
        await make('inline', out(`${tool}-inline`));
        page(`${tool}-inline`);
        same(await built(`${tool}-inline`), ANSWER);
        await make('plain', out(`${tool}-plain`));
        page(`${tool}-plain`);
        const message = await built(`${tool}-plain`);
        check(/404.*petal-bloom\/inline/.test(message), message);
        for (const file of readdirSync(join(modules, 'petal-bloom/dist')))
            if (/\.wasm$/.test(file))
                cpSync(join(modules, 'petal-bloom/dist', file), join(out(`${tool}-plain`), file));
        same(await built(`${tool}-plain`), ANSWER);
    });

// ---- servers -------------------------------------------------------------------------------------

test('Node and bun run it; a bundle for Node without its modules says what to do', async () => {
    for (const name of Object.keys(entries)) {
        const code = `import('./${name}/app.js').then(({ run }) => run()).then(console.log)`;
        const there = bun('-e', code);
        same(there.stdout.trim(), ANSWER, there.stderr);
        const here = spawnSync(process.execPath, ['-e', code], { cwd: folder, encoding: 'utf8' });
        same(here.stdout.trim(), ANSWER, here.stderr);
    }
    for (const [name, wanted] of [
        ['inline', ANSWER],
        ['plain', 'petal-bloom/inline'],
    ]) {
        const outfile = join(out('node'), `${name}.mjs`);
        await tools('esbuild').build({
            entryPoints: [join(folder, name, 'app.js')],
            bundle: true,
            platform: 'node',
            format: 'esm',
            outfile,
        });
        const { answer } = (await import(pathToFileURL(outfile)), globalThis);
        check((await answer).includes(wanted), await answer);
    }
    await browser.close();
    await server.close();
});
