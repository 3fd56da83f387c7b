// large.mjs - a worker that loads bytes as a stream of known length, and reports the resulting size
// of its module's memory.
import { parentPort, workerData } from 'node:worker_threads';

// The package hides its module's memory, so this records every WebAssembly memory when it is
// created. Node creates modules of its own, but the filter's memory is the largest.
const memories = [];
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (...words) => {
    const instance = await instantiate(...words);
    memories.push(instance.exports.memory);
    return instance;
};

const { Filter } = await import('petal-bloom');
const bytes = new Uint8Array(workerData);
const stream = new ReadableStream({
    at: 0,
    pull(controller) {
        if (this.at >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(this.at, this.at + (1 << 20)));
        this.at += 1 << 20;
    },
});
const response = new Response(stream, { headers: { 'Content-Length': String(bytes.length) } });
const f = await Filter.load(response);
parentPort.postMessage({
    answers: [f.has('a'), f.has('b')].join(),
    memory: Math.max(...memories.map((memory) => memory?.buffer.byteLength ?? 0)),
});
