// tap.mjs - test(name, run) runs tests in sequence and prints TAP. Also provides assertions.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The package under test, loaded as CommonJS if PETAL_CJS is set, otherwise as ESM.
export const petal = process.env.PETAL_CJS
    ? createRequire(import.meta.url)('petal-bloom')
    : await import('petal-bloom');

let count = 0,
    failed = 0,
    waiting = 0,
    queue = Promise.resolve();

const report = (name, error) => {
    failed++;
    console.log(`not ok ${count} - ${name}`);
    for (const line of String(error?.stack ?? error)
        .split('\n')
        .slice(0, 12))
        console.log(`# ${line}`);
};

export const test = (name, run) => {
    waiting++;
    queue = queue.then(async () => {
        count++;
        try {
            await run();
            console.log(`ok ${count} - ${name}`);
        } catch (error) {
            report(name, error);
        }
        if (--waiting > 0) return;
        console.log(`1..${count}`);
        process.exit(failed ? 1 : 0); // don't wait for what a failed test left open
    });
};

export const check = (condition, message = 'no') => {
    if (!condition) throw new Error(message);
};

export const same = (a, b, message = '') => {
    if (!Object.is(a, b)) throw new Error(`${message} ${String(a)} is not ${String(b)}`);
};

export const sameBytes = (a, b, message = '') => {
    if (Buffer.compare(a, b) !== 0)
        throw new Error(`${message} bytes differ (${a.length} and ${b.length})`);
};

// Returns the error that `run` throws or rejects with.
export const fails = async (run, kind = Error) => {
    try {
        await run();
    } catch (error) {
        if (error instanceof kind || error?.name === kind.name) return error;
        throw new Error(`${error?.name}: ${error?.message}, not ${kind.name}`);
    }
    throw new Error(`no ${kind.name}`);
};

// The tests run next to the packed package, but read their files from the repository.
export const top = pathToFileURL(`${process.env.PETAL_TOP ?? process.cwd()}/`);
export const vectors = new URL('vectors/', top);
export const read = (path) => new Uint8Array(readFileSync(new URL(path, vectors)));
export const rows = (path) =>
    readFileSync(new URL(path, vectors), 'utf8')
        .split('\n')
        .filter((line) => line && !line.startsWith('#'))
        .map((line) => line.split(/\s+/));
export const unhex = (text) =>
    text === '-' ? new Uint8Array(0) : new Uint8Array(Buffer.from(text, 'hex'));
export const secret = Uint8Array.from({ length: 16 }, (_, i) => i);
