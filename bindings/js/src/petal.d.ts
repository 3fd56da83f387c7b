// petal.d.ts - the types of petal-bloom. docs/javascript.md in the repository explains each call.
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
 * A string is UTF-8 (UTF-16 if that is the filter's key type); a BigInt has 64 bits (32 if the
 * filter's key type is i32). TypeError if the filter has another key type.
 */
export type Key = string | Uint8Array | bigint | TypedKey;
/** Consecutive keys: key i ends before ends[i], and begins where the one before ends. */
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

/** A signed 64-bit integer key. RangeError if out of range, TypeError for a fraction. */
export function i64(value: number | bigint): TypedKey;
/** A signed 32-bit integer key: Guava's Integer, Parquet's INT32. */
export function i32(value: number | bigint): TypedKey;
/** A double; -0 becomes 0, and every NaN becomes the same one. */
export function f64(value: number): TypedKey;
/** A 32-bit float, unchanged: Parquet's FLOAT. */
export function f32(value: number): TypedKey;
/** The UTF-16 code units of a string: Guava's unencodedCharsFunnel(). */
export function utf16(value: string): TypedKey;

/** Thrown if the core refuses a call. */
export class PetalError extends Error {
    /** The name of the core's status, such as "damaged", "truncated", "bad argument"; or "disposed". */
    readonly code: string;
    /** The offset in the input or the index of the key at which the failure was noticed. A
     * TypeError or RangeError for a key in a batch has it too. */
    readonly offset: number | null;
    constructor(
        code: string,
        message: string,
        offset?: number | null,
        options?: { cause?: unknown },
    );
}

export type KeyType = 'none' | 'text' | 'utf16le' | 'i32' | 'i64' | 'f64' | 'hex' | 'base64';

/** capacity and rate; capacity and memoryBytes; rate and memoryBytes; or bits and hashes. */
export interface CreateOptions {
    /** The number of distinct keys to plan for. */
    capacity?: number | bigint;
    /** False-positive rate at capacity, above 0 and below 1. */
    rate?: number;
    /** The maximum size of the bits, in bytes. */
    memoryBytes?: number | bigint;
    bits?: number | bigint;
    hashes?: number;
    linesPerKey?: number;
    /** 'static': the smallest, for sets that never change; takes a rate and no capacity. See freeze(). */
    scheme?: 'blocked' | 'classic' | 'counting' | 'static';
    seed?: number | bigint;
    /** 16 bytes: creates a keyed filter, for keys that attackers may choose. */
    secret?: Uint8Array;
    metadata?: Uint8Array;
    /** Creates the filter that another library would create: a name from formats(). */
    format?: string;
    keyType?: KeyType;
    /** Adds layers as keys are added. */
    grow?: boolean;
    growthStep?: number;
    growthRatio?: number;
    /** Forgets a key once at least this many keys have been added after it. */
    windowKeys?: number | bigint;
    /** Forgets keys after this time, when advance() is called; give windowKeys as well. */
    windowMs?: number | bigint;
    generations?: number;
    /** Chooses a size that fold() can make smaller once all keys are added. Needs a rate. */
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
    /** A name from formats(), or "auto"; default "petal". */
    format?: string;
    secret?: Uint8Array;
    onProgress?: (progress: Progress) => void;
    signal?: AbortSignal;
    /** The number of bytes that loading may allocate; default 1 GiB, or 64 times the file's size if
     * that is more. */
    memoryLimit?: number | bigint;
    /** The size of the stream, if known. */
    expectedBytes?: number;
    /** The key type, for a file that records none. TypeError if it records another type. */
    keyType?: KeyType;
}

export type Source =
    /** A URL; in Node also a path. */
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
     * memory. A petal file may hold a filter of another format: then this is "petal", and `format`
     * is the other format.
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
     * The model's rate for this many distinct keys; NaN for a growing filter or a window, or if no
     * model is good enough.
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
    /** The rate at which absent keys pass; NaN if it is unknown. */
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
     * Creates a filter from keys whose number is unknown. They are read once, into a filter of
     * memoryBytes (default 64 MiB), which is folded to the smallest size that keeps the rate
     * (0.01). If the result needs at most an eighth of memoryBytes, it is at most 1/8 larger than a
     * filter from create(). If memoryBytes is too small for the keys, the filter keeps its size and
     * isOverfull is true; with refuseOverfull, that is an error. The scheme is 'blocked' or
     * 'classic'. 'static' needs no memory in advance: building takes 16 bytes per key.
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
    /** Describes what create() would create. */
    static plan(options: CreateOptions): Promise<Plan>;
    static load(source: Source, options?: LoadOptions): Promise<Filter>;
    /** Opens a filter that stays on its host and is queried with HTTP range requests. */
    static range(url: string | URL, options?: RangeOptions): Promise<RangeFilter>;
    /** Accepts the result of serialize(), or an npm class's JSON, as an object or a string. */
    static deserialize(value: object | string, options?: LoadOptions): Promise<Filter>;

    /** true: the key was certainly new. */
    add(key: Key): boolean;
    /** false: certainly not; true: probably. */
    has(key: Key): boolean;
    /** true: one occurrence of the key was removed. */
    remove(key: Key): boolean;
    /** Returns how many keys were new. */
    addMany(keys: Keys): number;
    /** 1 or 0 per key. */
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
     * Makes the filter permanently read-only. A 'static' filter is built by this call: until then,
     * it keeps 8 bytes per key, has() is true for every key, and it can't be saved.
     */
    freeze(): void;
    advance(now: number | bigint | Date): void;
    clone(): Filter;
    emptyLike(): Filter;
    dropCounts(): Filter;
    /**
     * Returns a smaller filter with the same keys, bit for bit equal to one created at that size. It
     * has the smallest size that keeps the rate (by default this filter's) for the keys present, or
     * for `capacity` keys if that is more; or it has exactly `bits` bits.
     */
    fold(options?: { rate?: number; capacity?: number | bigint; bits?: number | bigint }): Filter;

    /** The patch from this filter to `to`. */
    diff(to: Filter): Uint8Array;
    /** Turns the filter into the patch's result; after a failure it is unchanged. */
    applyPatch(patch: Uint8Array, options?: { memoryLimit?: number | bigint }): void;

    /** The bytes of the filter's file in this format. */
    toBytes(format?: string): Uint8Array;
    /** Returns an object for JSON.stringify(). */
    serialize(): object;
    toJSON(): object;

    /** Frees the filter's memory; every later call fails. */
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
/** The formats that these bytes may be in. */
export function recognize(bytes: Uint8Array): Promise<string[]>;
/** From 0 to shards - 1, the same in every language. */
export function shardOf(key: Key, shards: number): Promise<number>;

export interface RangeOptions {
    secret?: Uint8Array;
    signal?: AbortSignal;
    /** Sent with every request. */
    headers?: Record<string, string>;
    /** As in Filter.load(). */
    keyType?: KeyType;
    /**
     * Default true: whole 64 KiB blocks are fetched, and no answer comes from a block that doesn't
     * match its checksum. false: 64 bytes per key are fetched, and trusted.
     */
    verify?: boolean;
}

/** A filter on a static host: only the blocks that contain keys' bits are fetched. */
export class RangeFilter {
    private constructor();
    static open(url: string | URL, options?: RangeOptions): Promise<RangeFilter>;
    readonly info: Info;
    /**
     * Calls made in the same turn of the event loop share requests. If a block is damaged, throws a
     * PetalError with the code 'damaged' and the block's offset in the file.
     */
    has(key: Key): Promise<boolean>;
    /** If a block is damaged, throws a PetalError whose offset is the index of the first key in
     * it. */
    hasMany(keys: Iterable<Key>, options?: { signal?: AbortSignal }): Promise<Uint8Array>;
    dispose(): void;
    [Symbol.dispose](): void;
}

export interface Update {
    how: 'current' | 'patched' | 'loaded';
    /** Bytes fetched in addition to the manifest. */
    bytes: number;
}

export interface HostedOptions {
    /** A filter that is already loaded, for example from an earlier visit. */
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
    /** The newest filter; it can be queried even during an update. */
    readonly filter: Filter | null;
    readonly id: string | null;
    update(): Promise<Update>;
    dispose(): void;
    [Symbol.dispose](): void;
}
