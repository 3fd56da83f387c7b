// pool.mjs - pool(url, count) starts workers that query one filter concurrently. The file is
// fetched only once. SharedArrayBuffer requires a page with Cross-Origin-Opener-Policy: same-origin
// and Cross-Origin-Embedder-Policy: require-corp.
export const pool = async (url, count = navigator.hardwareConcurrency) => {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const file = new SharedArrayBuffer(bytes.length);
    new Uint8Array(file).set(bytes);

    const waiting = new Map();
    let next = 0;
    const start = () =>
        new Promise((resolve, reject) => {
            const worker = new Worker(new URL('worker.mjs', import.meta.url), { type: 'module' });
            worker.onerror = reject;
            worker.onmessage = ({ data }) => {
                if (data.ready) return resolve(worker);
                waiting.get(data.id)(data.answers);
                waiting.delete(data.id);
            };
            worker.postMessage({ file });
        });
    const workers = await Promise.all(Array.from({ length: count }, start));

    const ask = (worker, keys) =>
        new Promise((resolve) => {
            const id = next++;
            waiting.set(id, resolve);
            worker.postMessage({ id, keys });
        });
    // Returns an array with one Uint8Array per worker, which contains the answers for the worker's
    // share of the keys, in order.
    const hasMany = (keys) => {
        const share = Math.ceil(keys.length / workers.length);
        return Promise.all(
            workers.map((worker, i) => ask(worker, keys.slice(i * share, (i + 1) * share))),
        );
    };
    return { hasMany, close: () => workers.forEach((worker) => worker.terminate()) };
};
