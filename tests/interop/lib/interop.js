// interop.js - implements the command language of interop.sh for the drivers in JavaScript. Each
// driver connects it to a library.
'use strict'
const fs = require('fs')

// text: String; wtf8: String, which may contain lone surrogates
function key(text, type) {
    if (type !== 'wtf8') return text
    return (text.match(/..../g) || []).map((unit) => String.fromCharCode(parseInt(unit, 16))).join('')
}

function keys(path, type) {
    return fs.readFileSync(path, 'utf8').split('\n').slice(0, -1).map((line) => key(line, type))
}

function answer(driver, queries) {
    fs.writeSync(1, queries.map((query) => (driver.has(query) ? '1\n' : '0\n')).join(''))
}

// The driver must provide create(n, p), read(text), write() -> text, add(key) and has(key).
exports.run = (driver) => {
    const [verb, , type, ...rest] = process.argv.slice(2)
    if (verb === 'make') driver.create(Number(rest[1]), Number(rest[2]))
    else driver.read(fs.readFileSync(rest[0], 'utf8'))
    if (verb === 'ask') return answer(driver, keys(rest[1], type))
    for (const each of keys(rest[verb === 'make' ? 0 : 1], type)) driver.add(each)
    fs.writeFileSync(rest[rest.length - 1], driver.write())
}
