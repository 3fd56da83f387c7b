// program.mjs - a pipeline's program in JavaScript; examples/pipeline/README.md describes the
// protocol.
import { readFileSync, writeFileSync } from 'node:fs';
import { Filter, f64 } from 'petal-bloom';

const lines = () => readFileSync(0, 'utf8').split('\n').slice(0, -1);

async function ask(format, path) {
    const filter = await Filter.load(readFileSync(path), { format });
    writeFileSync(1, [...filter.hasMany(lines())].join('\n') + '\n');
}

async function build(path) {
    const read = { text: (value) => value, i64: BigInt, f64: (value) => f64(Number(value)) };
    const filter = await Filter.create({ capacity: 100_000, rate: 0.01 });
    for (const line of lines()) {
        const tab = line.indexOf('\t');
        filter.add(read[line.slice(0, tab)](line.slice(tab + 1)));
    }
    writeFileSync(path, filter.toBytes());
}

const [verb, ...rest] = process.argv.slice(2);
if (verb === 'ask' && rest.length === 2) await ask(...rest);
else if (verb === 'build' && rest.length === 1) await build(...rest);
else {
    console.error('usage: program ask FORMAT FILE | build OUT');
    process.exitCode = 2;
}
