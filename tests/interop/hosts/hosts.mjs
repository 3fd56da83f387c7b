// hosts.mjs - queries one key at a time in JavaScript. Usage: hosts.mjs KEYS FOLDER.
import { readFileSync } from 'node:fs';
import { Filter, f64 } from 'petal-bloom';

const unhex = (value) => Buffer.from(value === '-' ? '' : value, 'hex');
const real = (value) => f64(unhex(value).readDoubleBE());
// How to parse a key of each type, and what a program writes to query it.
const types = {
    text: [(value) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(unhex(value)), 'string'],
    i64: [BigInt, 'bigint'],
    f64: [real, 'f64(number)'],
    bytes: [(value) => new Uint8Array(unhex(value)), 'Uint8Array'],
};

const [path, folder] = process.argv.slice(2);
const lines = readFileSync(path, 'ascii').split('\n');
for (const [type, [read, native]] of Object.entries(types)) {
    const filter = await Filter.load(readFileSync(`${folder}/${type}.petal`));
    const mine = lines.filter((line) => line.startsWith(`${type} `));
    const answers = mine.map((line) => Number(filter.has(read(line.slice(type.length + 1)))));
    console.log([type, `\`${native}\``, answers.join('')].join('\t'));
}
