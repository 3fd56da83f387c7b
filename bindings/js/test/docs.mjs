// docs.mjs - runs the examples in docs/javascript.md and the package's README, which must print the
// results shown in the documents.
import { readFileSync } from 'node:fs';
import * as petal from 'petal-bloom';
import { check, same, test, top } from './tap.mjs';

const AsyncFunction = (async () => {}).constructor;
const shown = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

const examplesOf = (path) =>
    [...readFileSync(new URL(path, top), 'utf8').matchAll(/^```js\n([^]*?)^```/gm)].map(
        ([, text]) => text,
    );

test('docs/javascript.md: its examples', async () => {
    const code = examplesOf('docs/javascript.md').join('\n'),
        printed = [];
    const print = (...values) => printed.push(values.map(shown).join(' '));
    const body = code.replace(/^import .*$/gm, '');
    await new AsyncFunction('print', ...Object.keys(petal), body)(print, ...Object.values(petal));
    const wanted = [...code.matchAll(/print\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
    check(wanted.length > 7);
    same(printed.join('\n'), wanted.join('\n'));
});

test("README.md: its example's answers", async () => {
    const [code] = examplesOf('bindings/js/README.md');
    const lines = code
        .replace(/^import .*$/gm, '')
        .replace(/^(seen\..*?); \/\/ .*$/gm, 'answers.push($1);');
    const answers = [];
    await new AsyncFunction('answers', ...Object.keys(petal), lines)(
        answers,
        ...Object.values(petal),
    );
    same(
        answers.map((one) => (one instanceof Uint8Array ? one.join() : String(one))).join(' '),
        'true true false 3 1,0',
    );
});
