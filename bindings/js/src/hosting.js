// hosting.js - keeps a filter up to date with its copy on a static host. docs/hosting.md describes
// the manifest.
import { PetalError } from './errors.js';
import { checkOptions, Filter } from './filter.js';

const FORMAT = 1;

const damaged = (url, what) => new PetalError('damaged', `${url}: ${what}`);

const isName = (name) => typeof name === 'string' && /^[^./:\\][^/:\\]*$/.test(name);

const isId = (id) => typeof id === 'string' && /^[0-9a-f]{16}$/.test(id);

const isSize = (bytes) => Number.isSafeInteger(bytes) && bytes >= 0;

const checkManifest = (url, manifest) => {
    if (manifest === null || typeof manifest !== 'object')
        throw damaged(url, 'this is no manifest');
    if (manifest.version !== FORMAT)
        throw new PetalError(
            'newer version',
            `${url}: a manifest of version ${manifest.version}; this knows 1`,
        );
    const { id, file, bytes, patches } = manifest;
    const good =
        isId(id) &&
        isName(file) &&
        isSize(bytes) &&
        Array.isArray(patches) &&
        patches.every(
            (patch) =>
                isId(patch?.from) && isId(patch.to) && isName(patch.file) && isSize(patch.bytes),
        );
    if (!good) throw damaged(url, 'a member of the manifest is missing or impossible');
    patches.forEach((patch, i) => {
        if (patch.to !== (patches[i + 1]?.from ?? id))
            throw damaged(url, 'the patches are no chain');
    });
    return manifest;
};

const idOf = (filter) => filter.contentId().toString(16).padStart(16, '0');

class Missing extends Error {}

/** A filter that follows a manifest. The property `filter` can be queried at any time. */
export class HostedFilter {
    #url;
    #options;
    #filter = null;
    #updating = null;

    constructor(url, options) {
        this.#url = new URL(url, globalThis.location?.href);
        this.#options = options;
    }

    /** options.filter is a filter that has already been loaded, for example during an earlier
     * visit. */
    static async open(url, options = {}) {
        checkOptions(options, { filter: 0, onProgress: 0, signal: 0, secret: 0, keyType: 0 });
        const hosted = new HostedFilter(url, options);
        hosted.#filter = options.filter ?? null;
        await hosted.update();
        return hosted;
    }

    get filter() {
        return this.#filter;
    }

    get id() {
        return this.#filter && idOf(this.#filter);
    }

    /** -> { how: 'current', 'patched' or 'loaded', bytes: fetched in addition to the manifest } */
    update() {
        this.#updating ??= this.#twice().finally(() => {
            this.#updating = null;
        });
        return this.#updating;
    }

    async #fetch(name, cache) {
        const url = name === null ? this.#url : new URL(name, this.#url);
        const response = await fetch(url, { cache, signal: this.#options.signal });
        if (response.ok) return response;
        await response.body?.cancel();
        if (response.status === 404 && name !== null) throw new Missing(`${url}: 404`);
        throw new PetalError(
            'i/o error',
            `${url}: ${response.status} ${response.statusText}`.trim(),
        );
    }

    // If a file was deleted after the manifest was fetched, this tries once more.
    async #twice() {
        try {
            return await this.#once();
        } catch (error) {
            if (!(error instanceof Missing)) throw error;
        }
        try {
            return await this.#once();
        } catch (error) {
            throw error instanceof Missing ? new PetalError('i/o error', error.message) : error;
        }
    }

    async #once() {
        let manifest;
        const response = await this.#fetch(null, 'no-cache');
        try {
            manifest = await response.json();
        } catch (error) {
            if (error?.name === 'AbortError') throw error;
            throw damaged(this.#url, 'this is no manifest');
        }
        checkManifest(this.#url, manifest);
        const mine = this.id;
        if (mine === manifest.id) return { how: 'current', bytes: 0 };
        const first = manifest.patches.findLastIndex((patch) => patch.from === mine);
        const chain = first < 0 ? [] : manifest.patches.slice(first);
        const bytes = chain.reduce((sum, patch) => sum + patch.bytes, 0);
        if (chain.length > 0 && bytes < manifest.bytes) {
            const patched = await this.#patch(chain);
            if (patched !== null && this.id === manifest.id)
                return { how: 'patched', bytes: patched };
        }
        return { how: 'loaded', bytes: await this.#load(manifest) };
    }

    // -> the number of bytes fetched, or null if the whole file must be fetched.
    async #patch(chain) {
        let bytes = 0;
        try {
            for (const { file } of chain) {
                const response = await this.#fetch(file, 'default');
                const patch = new Uint8Array(await response.arrayBuffer());
                this.#filter.applyPatch(patch);
                bytes += patch.length;
            }
        } catch (error) {
            if (error instanceof Missing || error instanceof PetalError) return null;
            throw error;
        }
        return bytes;
    }

    async #load({ id, file, bytes }) {
        const { onProgress, signal, secret, keyType } = this.#options;
        const filter = await Filter.load(await this.#fetch(file, 'default'), {
            onProgress,
            signal,
            secret,
            keyType,
        });
        if (idOf(filter) !== id) {
            filter.dispose();
            throw damaged(new URL(file, this.#url), `not the filter ${id} that the manifest names`);
        }
        this.#filter?.dispose();
        this.#filter = filter;
        return bytes;
    }

    dispose() {
        this.#filter?.dispose();
        this.#filter = null;
    }
}

if (Symbol.dispose) HostedFilter.prototype[Symbol.dispose] = HostedFilter.prototype.dispose;
