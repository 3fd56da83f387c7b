// bundle.mjs - `node bundle.mjs MODULES DIST`: the files of src/ as one, in each way that it is
// taken: ESM for Node and for browsers, CommonJS, and classic scripts with the module inside, which
// work from file: too. No tool is needed for it: an import is left out, an export loses that word.
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const [modules, dist] = process.argv.slice(2);
const source = new URL('src/', import.meta.url);
const order = ['errors', 'keys', 'engine', 'load', 'filter', 'range', 'hosting'];
const exported = [
    ...readFileSync(new URL('index.js', source), 'utf8').matchAll(/^export \{([^}]*)\}/gm),
].flatMap((match) =>
    match[1]
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean),
);

const body = order
    .map((name) => readFileSync(new URL(`${name}.js`, source), 'utf8'))
    .join('\n')
    .replace(/^import [^;]*;\n/gm, '')
    .replace(/^export /gm, '');

const banner =
    '// petal-bloom, MIT. Made by bindings/js/build of Petal: change bindings/js/src, not this.\n';
const names = `${exported.join(', ')}`;
const write = (name, text) => writeFileSync(`${dist}/${name}`, banner + text);

// What stands for `native` in each entry: its own module, or `ask`.
for (const [entry, natives] of [
    ['petal', 'native'],
    ['ask', 'ask'],
]) {
    const begin = (read) => `setHost(${read}, { native: '${natives}' });\n`;
    write(
        `${entry}.mjs`,
        `import { readFile } from 'node:fs/promises';\n${body}\n` +
            begin('(name) => readFile(new URL(`./${name}.wasm`, import.meta.url))') +
            `export { ${names} };\n`,
    );
    write(
        `${entry}.cjs`,
        `'use strict';\nconst { readFile } = require('node:fs/promises');\n${body}\n` +
            begin("(name) => readFile(require('node:path').join(__dirname, `${name}.wasm`))") +
            `module.exports = { ${names} };\n`,
    );
    // Written out, so that bundlers find the files.
    const urls = [natives, 'full']
        .flatMap((name) => [name, `${name}-simd`])
        .map((name) => `    '${name}': () => new URL('./${name}.wasm', import.meta.url),\n`);
    write(
        `${entry}.browser.mjs`,
        `${body}\nconst urls = {\n${urls.join('')}};\n` +
            begin(`async (name) => {
    const response = await fetch(urls[name]());
    if (!response.ok) throw new PetalError('i/o error', \`\${response.url}: \${response.status}\`);
    return response.arrayBuffer();
}`) +
            `export { ${names} };\n`,
    );
}

// Classic scripts: the global `petal`, and one scalar module, which every engine takes.
for (const name of ['full', 'native', 'ask']) {
    const packed = gzipSync(readFileSync(`${modules}/${name}.wasm`), { level: 9 }).toString(
        'base64',
    );
    write(
        `petal-${name}.js`,
        `(() => {\n'use strict';\n${body}
const packed = '${packed}';
setHost(async (name) => {
    if (name !== '${name}') throw new PetalError('not supported', 'not in this build; use petal-full.js');
    const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}, { native: '${name}', simd: false });
globalThis.petal = { ${names} };
})();\n`,
    );
}
