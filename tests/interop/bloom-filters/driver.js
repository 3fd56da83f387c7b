// driver.js - drives the BloomFilter class of npm's bloom-filters. PETAL_SEED overrides the default
// seed.
'use strict'
const { BloomFilter } = require('bloom-filters')

let filter
require('interop').run({
    create(n, p) {
        filter = BloomFilter.create(n, p)
        if (process.env.PETAL_SEED) filter.seed = Number(process.env.PETAL_SEED)
    },
    read: (text) => (filter = BloomFilter.fromJSON(JSON.parse(text))),
    write: () => JSON.stringify(filter.saveAsJSON()),
    add: (key) => filter.add(key),
    has: (key) => filter.has(key),
})
