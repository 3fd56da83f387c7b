// peer.js - runs bloom-filters or bloomfilter from npm, chosen by the argument, as a contender for
// ../driver.c, which describes the protocol.
'use strict'
const mask = (1n << 64n) - 1n

function mix(x) {
    x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & mask
    x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & mask
    return x ^ (x >> 31n)
}

// Writing each text to a buffer and reading it back makes it a flat string. Otherwise V8 would
// flatten concatenated strings after the clock has started.
function text(i) {
    return Buffer.from('http://a.io/' + mix(i).toString(16).padStart(16, '0')).toString('latin1')
}

function keys(count, from) {
    return Array.from({ length: count }, (_, i) => text(from + BigInt(i)))
}

const libraries = {
    'bloom-filters': (module) => ({
        create: (n, p) => module.BloomFilter.create(n, p),
        add(filter, keys) {
            for (const key of keys) filter.add(key)
        },
        count(filter, keys) {
            let found = 0
            for (const key of keys) if (filter.has(key)) found++
            return found
        },
        bits: (filter) => filter.size,
    }),
    bloomfilter: (module) => ({
        create: (n, p) => module.BloomFilter.withTargetError(n, p),
        add(filter, keys) {
            for (const key of keys) filter.add(key)
        },
        count(filter, keys) {
            let found = 0
            for (const key of keys) if (filter.test(key)) found++
            return found
        },
        bits: (filter) => filter.m,
    }),
}

function round(library, keys, absent, rate, repeats) {
    let least = [Infinity, Infinity, Infinity],
        found,
        bits
    for (let i = 0; i < repeats; i++) {
        const start = process.hrtime.bigint()
        const filter = library.create(keys.length, rate)
        library.add(filter, keys)
        const added = process.hrtime.bigint()
        const members = library.count(filter, keys)
        const hit = process.hrtime.bigint()
        found = library.count(filter, absent)
        const missed = process.hrtime.bigint()
        if (members !== keys.length) throw new Error('keys were lost')
        const took = [added - start, hit - added, missed - hit]
        least = least.map((value, phase) => Math.min(value, Number(took[phase])))
        bits = library.bits(filter)
    }
    const each = least.map((took) => (took / keys.length).toFixed(4))
    return `ok ${each.join(' ')} ${found} ${bits}`
}

async function main(name) {
    const module = await import(require.resolve(name))
    const library = libraries[name](module.BloomFilter ? module : module.default)
    let members = [],
        absent = []
    for await (const line of require('readline').createInterface({ input: process.stdin })) {
        const [, count, , rate, kind, repeats] = line.split(' ')
        if (kind !== 'text') {
            console.log('none its keys are texts')
            continue
        }
        if (members.length !== Number(count)) {
            members = keys(Number(count), 0n)
            absent = keys(Number(count), 1n << 40n)
        }
        console.log(round(library, members, absent, Number(rate), Number(repeats)), absent[absent.length - 1])
    }
}

main(process.argv[2])
