// driver.js - drives npm's bloomfilter. Before version 1.0, the package did not write JSON, so the
// driver assembles the JSON from its parts, as the package's README shows.
'use strict'
const path = require.resolve('bloomfilter')

// Since version 1.0, the package is an ES module.
import(path).then((module) => {
    const { BloomFilter } = module.default || module
    let filter
    require('interop').run({
        create: (n, p) => (filter = BloomFilter.withTargetError(n, p)),
        read(text) {
            const { buckets, k } = JSON.parse(text)
            filter = BloomFilter.fromJSON ? BloomFilter.fromJSON(text) : new BloomFilter(buckets, k)
        },
        write() {
            if (filter.toJSON) return JSON.stringify(filter)
            const { m, k, buckets } = filter
            return JSON.stringify({ m, k, buckets: [].slice.call(buckets) })
        },
        add: (key) => filter.add(key),
        has: (key) => filter.test(key),
    })
})
