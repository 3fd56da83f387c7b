// petal.d.ts - the types of petal-bloom. docs/javascript.md in the repository explains every call.
/// <reference lib="esnext.disposable" />

declare const key: unique symbol;
/** A typed key from i32(), i64(), f32(), f64() or utf16(), which has the same bytes in every
 * filter. */
export interface TypedKey {
    readonly [key]: never;
    readonly type: 'i32' | 'i64' | 'f32' | 'f64' | 'utf16le';
    readonly value: bigint | number | string;
}
/**
 * A string is converted to UTF-8 (to UTF-16 if this is the filter's key type), and a BigInt to 64
 * bits (32 bits if the filter's key type is i32). A key of another type than the filter's throws a
 * TypeError.
 */
export type Key = string | Uint8Array | bigint | TypedKey;
/** Consecutive keys: key i ends before ends[i], and begins where the previous key ends. */
export interface JoinedKeys {
    bytes: Uint8Array;
    ends: ArrayLike<number> &
        (readonly number[] | Uint32Array | Float64Array | BigUint64Array | Int32Array);
}
export type NumberKeys =
    | BigInt64Array
    | BigUint64Array
    | Int8Array
    | Int16Array
    | Int32Array
    | Uint16Array
    | Uint32Array
    | Float64Array
    | Float32Array;
export type Keys = Iterable<Key> | JoinedKeys | NumberKeys;

/** Returns a signed 64-bit integer key. Throws a RangeError if the value is out of range, and a
 * TypeError for a fraction. */
export function i64(value: number | bigint): TypedKey;
/** Returns a signed 32-bit integer key, like Guava's Integer and Parquet's INT32. */
export function i32(value: number | bigint): TypedKey;
/** Returns a double key. -0 becomes 0, and every NaN becomes the same NaN. */
export function f64(value: number): TypedKey;
/** Returns a 32-bit float key with unchanged bits, like Parquet's FLOAT. */
export function f32(value: number): TypedKey;
/** Returns a key with a string's UTF-16 code units, like Guava's unencodedCharsFunnel(). */
export function utf16(value: string): TypedKey;

/** Thrown if the core rejects a call. */
export class PetalError extends Error {
    /** The name of the core's status, such as "damaged", "truncated", "bad argument"; or "disposed". */
    readonly code: string;
    /** The offset in the input or the index of the key at which the failure was detected. A
     * TypeError or RangeError for a key in a batch also has this property. */
    readonly offset: number | null;
    constructor(
        code: string,
        message: string,
        offset?: number | null,
        options?: { cause?: unknown },
    );
}

export type KeyType = 'none' | 'text' | 'utf16le' | 'i32' | 'i64' | 'f64' | 'hex' | 'base64';

/** Requires capacity and rate, capacity and memoryBytes, rate and memoryBytes, or bits and
 * hashes. */
export interface CreateOptions {
    /** The number of distinct keys to plan for. */
    capacity?: number | bigint;
    /** The false-positive rate with `capacity` keys, above 0 and below 1. */
    rate?: number;
    /** The maximum size of the bits, in bytes. */
    memoryBytes?: number | bigint;
    bits?: number | bigint;
    hashes?: number;
    linesPerKey?: number;
    /** 'static' is the smallest scheme, for sets that never change. It requires a rate and no
     * capacity. See freeze(). */
    scheme?: 'blocked' | 'classic' | 'counting' | 'static';
    seed?: number | bigint;
    /** A secret of 16 bytes, which creates a keyed filter, for keys that attackers may choose. */
    secret?: Uint8Array;
    metadata?: Uint8Array;
    /** Creates a filter like the library that defines this format. formats() lists the names. */
    format?: string;
    keyType?: KeyType;
    /** Lets the filter add layers as keys are added. */
    grow?: boolean;
    growthStep?: number;
    growthRatio?: number;
    /** Forgets a key once at least this number of keys have been added after it. */
    windowKeys?: number | bigint;
    /** Forgets keys older than this, when advance() is called. Requires windowKeys. */
    windowMs?: number | bigint;
    generations?: number;
    /** Chooses a size that fold() can reduce once all keys have been added. Requires a rate. */
    foldable?: boolean;
    /** Makes adding to an overfull filter fail. */
    refuseOverfull?: boolean;
}

export interface Progress {
    loaded: number;
    /** null: unknown. */
    total: number | null;
}

export interface LoadOptions {
    /** A name from formats(), or "auto". The default is "petal". */
    format?: string;
    secret?: Uint8Array;
    onProgress?: (progress: Progress) => void;
    signal?: AbortSignal;
    /** The maximum number of bytes that loading may allocate. The default is 1 GiB, or 64 times the
     * file's size if that is larger. */
    memoryLimit?: number | bigint;
    /** The stream's size in bytes, if it is known. */
    expectedBytes?: number;
    /** The key type of a file that records none. If the file records another type, loading throws a
     * TypeError. */
    keyType?: KeyType;
}

export type Source =
    /** A URL or, in Node, a path. */
    | string
    | URL
    | Response
    | ReadableStream<Uint8Array>
    | Blob
    | Uint8Array
    | ArrayBuffer
    | AsyncIterable<Uint8Array>;

export interface Info {
    abilities: string[];
    scheme: string;
    hash: string;
    format: string;
    /**
     * The format of the file or stream that the filter was read from; null if it was created in
     * memory. A petal file may contain a filter of another format. In that case this property is
     * "petal", and `format` is the other format.
     */
    fileFormat: string | null;
    kernel: string;
    hashes: number;
    linesPerKey: number;
    layers: number;
    counterBits: number;
    bits: number;
    bytes: number;
    memoryBytes: number;
    capacity: number;
    targetRate: number | null;
    predictedRate: number | null;
    items: number;
    seed: bigint;
    metadataBytes: number;
    secretId: number;
    keyType: KeyType;
    policy: 'none' | 'growing' | 'keys' | 'time';
    growthStep: number;
    growthRatio: number;
    windowKeys: number;
    windowMs: number;
    clockMs: number;
    generations: number;
    keyed: boolean;
    fromMs: number;
    toMs: number;
}

export interface Plan extends Info {
    /**
     * Returns the model's rate for this number of distinct keys. The result is NaN for a growing
     * filter or a window, or if no model is accurate enough.
     */
    rateAt(keys: number | bigint): number;
}

/** A value with its 95 % interval. */
export interface Estimate {
    value: number;
    low: number;
    high: number;
}

export interface Stats {
    saturated: boolean;
    overfull: boolean;
    bitsSet: number;
    saturatedCounters: number;
    fill: number;
    estimatedItems: Estimate;
    /** The false-positive rate with the current bits; NaN if it is unknown. */
    estimatedRate: number;
}

export interface Comparison {
    saturated: boolean;
    itemsA: Estimate;
    itemsB: Estimate;
    union: Estimate;
    intersection: Estimate;
    jaccard: Estimate;
    containmentAInB: Estimate;
    containmentBInA: Estimate;
}

export class Filter {
    private constructor();
    static create(options: CreateOptions): Promise<Filter>;
    /**
     * Creates a filter from keys whose number is unknown. The keys are read once and added to a
     * filter of memoryBytes (default 64 MiB), which is then folded to the smallest size that keeps
     * the rate (default 0.01). If the result needs at most an eighth of memoryBytes, it is at most
     * 1/8 larger than a filter from create(). If memoryBytes is too small for the keys, the filter
     * keeps its size and isOverfull is true, or with refuseOverfull the call fails. The scheme must
     * be 'blocked', 'classic' or 'static'. 'static' needs no memoryBytes in advance: building the
     * filter takes 16 bytes per key.
     */
    static fromKeys(
        keys: Iterable<Key> | AsyncIterable<Key>,
        options?: Omit<
            CreateOptions,
            | 'capacity'
            | 'bits'
            | 'format'
            | 'grow'
            | 'growthStep'
            | 'growthRatio'
            | 'windowKeys'
            | 'windowMs'
            | 'generations'
            | 'foldable'
        >,
    ): Promise<Filter>;
    /** Describes the filter that create() would create. */
    static plan(options: CreateOptions): Promise<Plan>;
    static load(source: Source, options?: LoadOptions): Promise<Filter>;
    /** Opens a filter that stays on its host and is queried by HTTP range requests. */
    static range(url: string | URL, options?: RangeOptions): Promise<RangeFilter>;
    /** Accepts the result of serialize(), or an npm class's JSON as an object or a string. */
    static deserialize(value: object | string, options?: LoadOptions): Promise<Filter>;

    /** Returns true if the key was certainly new. */
    add(key: Key): boolean;
    /** false: certainly not; true: probably. */
    has(key: Key): boolean;
    /** Returns true if one occurrence of the key was removed. */
    remove(key: Key): boolean;
    /** Returns the number of keys that were new. */
    addMany(keys: Keys): number;
    /** Returns 1 or 0 per key. */
    hasMany(keys: Keys): Uint8Array;
    removeMany(keys: Keys): Uint8Array;
    hashKey(key: Key): bigint;

    readonly info: Info;
    layerInfo(layer: number): Info;
    stats(layer?: number): Stats;
    readonly isOverfull: boolean;
    contentId(): bigint;
    bits(layer?: number): Uint8Array;
    get metadata(): Uint8Array | null;
    set metadata(bytes: Uint8Array | null);

    merge(other: Filter): this;
    intersect(other: Filter): this;
    compare(other: Filter): Comparison;
    clear(): void;
    /**
     * Makes the filter permanently read-only. For a 'static' filter, this call builds the filter.
     * Until then, the filter stores 8 bytes per key, has() returns true for every key, and the
     * filter can't be saved.
     */
    freeze(): void;
    advance(now: number | bigint | Date): void;
    clone(): Filter;
    emptyLike(): Filter;
    dropCounts(): Filter;
    /**
     * Returns a smaller filter with the same keys. The result is bit for bit the filter that would
     * have been created at that size. Its size is either the smallest that keeps the rate (by
     * default this filter's) for the keys present, or for `capacity` keys if that is more, or
     * exactly `bits` bits.
     */
    fold(options?: { rate?: number; capacity?: number | bigint; bits?: number | bigint }): Filter;

    /** Returns the patch from this filter to `to`. */
    diff(to: Filter): Uint8Array;
    /** Applies the patch to the filter. If this fails, the filter is unchanged. */
    applyPatch(patch: Uint8Array, options?: { memoryLimit?: number | bigint }): void;

    /** Returns the bytes of the filter's file in this format. */
    toBytes(format?: string): Uint8Array;
    /** Returns an object for JSON.stringify(). */
    serialize(): object;
    toJSON(): object;

    /** Frees the filter's memory. Every later call fails. */
    dispose(): void;
    [Symbol.dispose](): void;
}

export interface Format {
    name: string;
    keys: string;
    canRead: boolean;
    canWrite: boolean;
    canCreate: boolean;
    canRecognize: boolean;
    hasChecksum: boolean;
    isPacked: boolean;
}
export function formats(): Promise<Format[]>;
/** Returns the names of the formats that match these bytes. */
export function recognize(bytes: Uint8Array): Promise<string[]>;
/** Returns a key's shard, from 0 to shards - 1. A key has the same shard in every language. */
export function shardOf(key: Key, shards: number): Promise<number>;

export interface RangeOptions {
    secret?: Uint8Array;
    signal?: AbortSignal;
    /** Headers sent with every request. */
    headers?: Record<string, string>;
    /** As in Filter.load(). */
    keyType?: KeyType;
    /**
     * If true, which is the default, whole 64 KiB blocks are fetched and checked against their
     * checksums before they are used. If false, only 64 bytes per key are fetched, and used
     * unchecked.
     */
    verify?: boolean;
}

/** A filter on a static host. Only the blocks that contain the bits of queried keys are fetched. */
export class RangeFilter {
    private constructor();
    static open(url: string | URL, options?: RangeOptions): Promise<RangeFilter>;
    readonly info: Info;
    /**
     * Calls made in the same turn of the event loop share requests. If a block with the key's bits
     * is damaged, throws a PetalError with the code 'damaged' and the block's offset in the file.
     */
    has(key: Key): Promise<boolean>;
    /** If a block is damaged, throws a PetalError whose offset is the index of the first key that
     * needs the block. */
    hasMany(keys: Iterable<Key>, options?: { signal?: AbortSignal }): Promise<Uint8Array>;
    dispose(): void;
    [Symbol.dispose](): void;
}

export interface Update {
    how: 'current' | 'patched' | 'loaded';
    /** The number of bytes fetched in addition to the manifest. */
    bytes: number;
}

export interface HostedOptions {
    /** A filter that has already been loaded, for example during an earlier visit. */
    filter?: Filter;
    secret?: Uint8Array;
    signal?: AbortSignal;
    onProgress?: (progress: Progress) => void;
    keyType?: KeyType;
}

/** A filter that follows a manifest (docs/hosting.md). */
export class HostedFilter {
    private constructor();
    static open(url: string | URL, options?: HostedOptions): Promise<HostedFilter>;
    /** The newest filter. It can be queried even during an update. */
    readonly filter: Filter | null;
    readonly id: string | null;
    update(): Promise<Update>;
    dispose(): void;
    [Symbol.dispose](): void;
}
