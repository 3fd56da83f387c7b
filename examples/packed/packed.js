// packed.js HOST:PORT - batches with PETAL.MADDB and PETAL.MEXISTSB, using ioredis (docs/redis.md).
//
// A packed batch is one argument: a count, that many lengths (32 bits each, little-endian), and the
// items' bytes. The reply is a bitmap, with item i in bit i mod 8 of byte i / 8.
const Redis = require('ioredis');

function pack(items) {
    const data = items.map((item) => Buffer.from(item));
    const head = Buffer.alloc(4 + 4 * data.length);
    head.writeUInt32LE(data.length, 0);
    data.forEach((item, i) => head.writeUInt32LE(item.length, 4 + 4 * i));
    return Buffer.concat([head, ...data]);
}

function answer(bitmap, i) {
    return ((bitmap[i >> 3] >> (i & 7)) & 1) === 1;
}

async function main() {
    const [host, port] = process.argv[2].split(':');
    const client = new Redis(Number(port), host);
    // callBuffer() returns the bitmap as bytes, not as text.
    const count = async (command, items) => {
        const bitmap = await client.callBuffer(command, 'crawled', pack(items));
        return items.filter((_, i) => answer(bitmap, i)).length;
    };
    await client.call('PETAL.RESERVE', 'crawled', '0.01', '1000');
    const numbers = [...Array(3000).keys()];
    const urls = numbers.map((i) => `https://a.example/${i}`);
    const others = numbers.map((i) => `https://b.example/${i}`);
    const added = await count('PETAL.MADDB', urls);
    const found = await count('PETAL.MEXISTSB', urls);
    const wrong = await count('PETAL.MEXISTSB', others);
    console.log(`${added} of ${urls.length} were new; found ${found}, and ${wrong} others`);
    client.disconnect();
}

main();
