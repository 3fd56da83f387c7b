// bundle.mjs - `node bundle.mjs MODULES DIST`: joins the files of src/ into one file, in each form
// that users load: ESM for Node, ESM for browsers, CommonJS, and ESM and classic scripts that
// contain the module, so that they need no other file. The script needs no bundler: it just removes
// the imports and the word "export".
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const [modules, dist] = process.argv.slice(2);
const source = new URL('src/', import.meta.url);
const order = ['errors', 'slots', 'keys', 'engine', 'load', 'filter', 'range', 'hosting'];
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

// The message of the error thrown if a module is missing.
const inBundle = `
const IN_A_BUNDLE = 'if a bundler left the .wasm files out, import from petal-bloom/inline';
`;

// Reads a file in pieces, for load(). The file is opened when the first piece is requested.
const node = `${inBundle}
const missing = (error) => {
    throw new PetalError('i/o error', \`\${error.message}; \${IN_A_BUNDLE}\`, null, { cause: error });
};
const fileOfNode = async (path) => {
    const about = await stat(path);
    const pieces = async function* () {
        const file = await open_(path);
        try {
            for (;;) {
                const { bytesRead, buffer } = await file.read(new Uint8Array(1 << 18), 0, 1 << 18);
                if (bytesRead === 0) return;
                yield buffer.subarray(0, bytesRead);
            }
        } finally {
            await file.close();
        }
    };
    return about.isFile()
        ? { pieces: pieces(), total: about.size, expected: about.size }
        : { pieces: pieces() };
};
`;

// The module that each entry point uses as `native`: either native or ask.
for (const [entry, natives] of [
    ['petal', 'native'],
    ['ask', 'ask'],
]) {
    const begin = (read, more = '') => `setHost(${read}, { native: '${natives}'${more} });\n`;
    write(
        `${entry}.mjs`,
        `import { open as open_, readFile, stat } from 'node:fs/promises';\n${body}\n${node}` +
            begin(
                '(name) => readFile(new URL(`./${name}.wasm`, import.meta.url)).catch(missing)',
                ', file: fileOfNode',
            ) +
            `export { ${names} };\n`,
    );
    write(
        `${entry}.cjs`,
        `'use strict';\nconst { open: open_, readFile, stat } = require('node:fs/promises');\n` +
            `${body}\n${node}` +
            begin(
                "(name) => readFile(require('node:path').join(__dirname, `${name}.wasm`)).catch(missing)",
                ', file: fileOfNode',
            ) +
            `module.exports = { ${names} };\n`,
    );
    // The paths are literals, so that bundlers find the files.
    const urls = [natives, 'full']
        .flatMap((name) => [name, `${name}-simd`])
        .map((name) => `    '${name}': () => new URL('./${name}.wasm', import.meta.url),\n`);
    write(
        `${entry}.browser.mjs`,
        `${body}\n${inBundle}\nconst urls = {\n${urls.join('')}};\n` +
            begin(`async (name) => {
    const url = urls[name]();
    const response = await fetch(url);
    if (!response.ok)
        throw new PetalError(
            'i/o error',
            \`\${url}: \${response.status}; \${IN_A_BUNDLE}\`,
        );
    return response.arrayBuffer();
}`) +
            `export { ${names} };\n`,
    );
}

// These forms contain one module without SIMD, which every engine accepts. They are classic scripts
// that define the global `petal`, and ESM for bundlers that don't emit .wasm files.
for (const name of ['full', 'native', 'ask']) {
    const packed = gzipSync(readFileSync(`${modules}/${name}.wasm`), { level: 9 }).toString(
        'base64',
    );
    const whole = `${body}
const packed = '${packed}';
setHost(async (name) => {
    if (name !== '${name}') throw new PetalError('not supported', 'only ${name} is in this build');
    const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}, { native: '${name}', simd: false });
`;
    write(
        `petal-${name}.js`,
        `(() => {\n'use strict';\n${whole}globalThis.petal = { ${names} };\n})();\n`,
    );
    if (name !== 'native') write(`inline-${name}.mjs`, `${whole}export { ${names} };\n`);
}
