// server.mjs - serve(folder, options) starts a small static server on a free port, with ETag and
// Range. `files` maps paths to contents, and takes precedence over the folder. `log` records every
// request.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const types = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript',
    '.mjs': 'text/javascript',
    '.wasm': 'application/wasm',
    '.json': 'application/json',
};

const rangeOf = (header, size) => {
    const match = /^bytes=(\d+)-(\d*)$/.exec(header ?? '');
    if (!match) return null;
    const from = Number(match[1]);
    const to = match[2] === '' ? size : Math.min(size, Number(match[2]) + 1);
    return { from, to };
};

export const serve = async (folder = null) => {
    const state = { files: new Map(), log: [], ranges: true, etags: true, headers: {}, slow: 0 };
    const bytesOf = async (path) =>
        state.files.get(path) ??
        (folder === null ? null : await readFile(join(folder, normalize(path))).catch(() => null));
    const answer = async (request, response) => {
        const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
        const bytes = await bytesOf(path);
        state.log.push({ path, range: request.headers.range ?? null });
        if (bytes === null) return response.writeHead(404).end();
        const headers = {
            'Content-Type': types[extname(path)] ?? 'application/octet-stream',
            'Cache-Control': 'no-cache',
            ...(state.etags && { ETag: `"${createHash('sha1').update(bytes).digest('hex')}"` }),
            ...state.headers,
        };
        const range = state.ranges ? rangeOf(request.headers.range, bytes.length) : null;
        if (range && range.from >= bytes.length)
            return response.writeHead(416, { 'Content-Range': `bytes */${bytes.length}` }).end();
        if (range) {
            headers['Content-Range'] = `bytes ${range.from}-${range.to - 1}/${bytes.length}`;
            headers['Content-Length'] = range.to - range.from;
            return response.writeHead(206, headers).end(bytes.subarray(range.from, range.to));
        }
        response.writeHead(200, { ...headers, 'Content-Length': bytes.length });
        if (state.slow === 0) return response.end(bytes);
        for (let at = 0; at < bytes.length && !response.destroyed; at += state.slow) {
            response.write(bytes.subarray(at, at + state.slow));
            await new Promise((resolve) => setTimeout(resolve, 5));
        }
        response.end();
    };
    const server = createServer((request, response) => {
        answer(request, response).catch((error) => response.destroy(error));
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    server.unref();
    const url = `http://127.0.0.1:${server.address().port}/`;
    const close = () =>
        new Promise((resolve) => {
            server.closeAllConnections?.();
            server.close(resolve);
        });
    return Object.assign(state, { url, close });
};
