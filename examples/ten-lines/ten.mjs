// ten.mjs - creates, saves, opens and queries a filter.
import { readFileSync, writeFileSync } from 'node:fs';
import { Filter } from 'petal-bloom';

const seen = await Filter.create({ capacity: 1_000_000, rate: 0.01 });
seen.add('https://example.com/');
console.log(seen.has('https://example.org/'));
writeFileSync('seen.petal', seen.toBytes());
const again = await Filter.load(readFileSync('seen.petal'));
console.log(again.has('https://example.com/'));
