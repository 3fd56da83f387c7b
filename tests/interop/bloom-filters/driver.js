// driver.js - npm's bloom-filters: its BloomFilter. PETAL_SEED sets its seed if it is not the
// default.
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
