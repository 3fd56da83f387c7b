// worker.mjs - a worker with its own module and filter; all workers read the file's bytes from one
// SharedArrayBuffer. The worker answers each message {id, keys} with {id, answers}.
import { Filter } from './petal/petal.browser.mjs';

let filter;

self.onmessage = async ({ data }) => {
    if (data.file) {
        filter = await Filter.load(new Uint8Array(data.file));
        return self.postMessage({ ready: true });
    }
    const answers = filter.hasMany(data.keys);
    self.postMessage({ id: data.id, answers }, [answers.buffer]);
};
