// petal.d.ts - the types of petal-bloom. docs/javascript.md of the repository explains each call.
/// <reference lib="esnext.disposable" />

declare const key: unique symbol;
/** A key with its type, of i32(), i64(), f32(), f64() or utf16(): the same bytes in every filter. */
export interface TypedKey {
    readonly [key]: never;
    readonly type: 'i32' | 'i64' | 'f32' | 'f64' | 'utf16le';
    readonly value: bigint | number | string;
}
/**
 * A string is UTF-8, or UTF-16 in a filter of such keys; a BigInt has 64 bits, or 32 in a filter of
 * such keys. Where the filter has another type of keys: TypeError.
 */
export type Key = string | Uint8Array | bigint | TypedKey;
/** Keys that lie one after the other: key i ends before ends[i], and begins where the one before ends. */
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

/** An integer key of 64 bits, signed. RangeError outside, TypeError for a fraction. */
export function i64(value: number | bigint): TypedKey;
/** An integer key of 32 bits, signed: Guava's Integer, Parquet's INT32. */
export function i32(value: number | bigint): TypedKey;
/** A double; -0 is 0, and there is one NaN. */
export function f64(value: number): TypedKey;
/** A float of 32 bits, as it is: Parquet's FLOAT. */
export function f32(value: number): TypedKey;
/** The UTF-16 code units of a string: Guava's unencodedCharsFunnel(). */
export function utf16(value: string): TypedKey;

/** A refusal. */
export class PetalError extends Error {
    /** The name of the core's status, such as "damaged", "truncated", "bad argument"; or "disposed". */
    readonly code: string;
    /** The byte of the input, or the index of the key, at which it was noticed. A TypeError or
     * RangeError of a key in a batch has it too. */
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
    /** Distinct keys the filter is planned for. */
    capacity?: number | bigint;
    /** False-positive rate at capacity, above 0 and below 1. */
    rate?: number;
    /** Upper limit of the bits, in bytes. */
    memoryBytes?: number | bigint;
    bits?: number | bigint;
    hashes?: number;
    linesPerKey?: number;
    scheme?: 'blocked' | 'classic' | 'counting';
    seed?: number | bigint;
    /** 16 bytes: a keyed filter, for keys that strangers choose. */
    secret?: Uint8Array;
    metadata?: Uint8Array;
    /** The filter that another library would make: a name of formats(). */
    format?: string;
    keyType?: KeyType;
    /** Further layers as keys come. */
    grow?: boolean;
    growthStep?: number;
    growthRatio?: number;
    /** Forgets keys after this many later ones. */
    windowKeys?: number | bigint;
    /** Forgets keys after this long, by advance(); with windowKeys. */
    windowMs?: number | bigint;
    generations?: number;
    /** A size that fold() can make smaller, once all keys are in. With a rate. */
    foldable?: boolean;
    /** Adding to an overfull filter is an error. */
    refuseOverfull?: boolean;
}

export interface Progress {
    loaded: number;
    /** null: not known. */
    total: number | null;
}

export interface LoadOptions {
    /** A name of formats(), or "auto"; default "petal". */
    format?: string;
    secret?: Uint8Array;
    onProgress?: (progress: Progress) => void;
    signal?: AbortSignal;
    /** Bytes that loading may allocate; default 1 GiB, or 64 times the file if that is more. */
    memoryLimit?: number | bigint;
    /** The size of the stream, if it is known. */
    expectedBytes?: number;
    /** What the keys are, of a file that does not record it. TypeError if it records another type. */
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
    /** The model's rate with this many distinct keys; NaN where none is good enough. */
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
    /** Of an absent key; NaN where it cannot be told. */
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
     * Of keys whose number nobody knows. They are read once, into a filter of memoryBytes (64 MiB if
     * not given), which is folded to the smallest size that keeps the rate (0.01). Up to an eighth of
     * memoryBytes that is at most 1/8 more than create() takes for their number. If there are more
     * keys than memoryBytes has room for, the filter stays as large as it is, and isOverfull;
     * refuseOverfull makes that an error. 'blocked' or 'classic'.
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
    /** What create() would make. */
    static plan(options: CreateOptions): Promise<Plan>;
    static load(source: Source, options?: LoadOptions): Promise<Filter>;
    /** A filter that stays on its host, asked by HTTP ranges. */
    static range(url: string | URL, options?: RangeOptions): Promise<RangeFilter>;
    /** Of what serialize() gave, or of the JSON of an npm class, as an object or as text. */
    static deserialize(value: object | string, options?: LoadOptions): Promise<Filter>;

    /** true: it was certainly new. */
    add(key: Key): boolean;
    /** false: certainly not; true: probably. */
    has(key: Key): boolean;
    /** true: it was counted down once. */
    remove(key: Key): boolean;
    /** How many were new. */
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
    freeze(): void;
    advance(now: number | bigint | Date): void;
    clone(): Filter;
    emptyLike(): Filter;
    dropCounts(): Filter;
    /**
     * A smaller filter with the same keys: bit for bit the one that was made small. It has the
     * smallest size that keeps the rate (by default that of this filter) for the keys that are in,
     * or for `capacity` keys if those are more; or exactly `bits`.
     */
    fold(options?: { rate?: number; capacity?: number | bigint; bits?: number | bigint }): Filter;

    /** The patch that turns this filter into `to`. */
    diff(to: Filter): Uint8Array;
    /** Turns the filter into the patch's result; on a failure it stays as it was. */
    applyPatch(patch: Uint8Array, options?: { memoryLimit?: number | bigint }): void;

    /** The file. */
    toBytes(format?: string): Uint8Array;
    /** What JSON.stringify() takes. */
    serialize(): object;
    toJSON(): object;

    /** Frees its memory; every later call is an error. */
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
/** Which formats these bytes can be. */
export function recognize(bytes: Uint8Array): Promise<string[]>;
/** From 0 to shards - 1, the same in every language. */
export function shardOf(key: Key, shards: number): Promise<number>;

export interface RangeOptions {
    secret?: Uint8Array;
    signal?: AbortSignal;
    /** Sent with each request. */
    headers?: Record<string, string>;
    /** As that of Filter.load(). */
    keyType?: KeyType;
    /**
     * Default true: no answer rests on a block of 64 KiB that does not match its checksum; blocks
     * are fetched whole. false: 64 bytes per key are fetched, and trusted.
     */
    verify?: boolean;
}

/** A filter on a static host: only the blocks that keys lie in are fetched. */
export class RangeFilter {
    private constructor();
    static open(url: string | URL, options?: RangeOptions): Promise<RangeFilter>;
    readonly info: Info;
    /**
     * Calls of the same turn are sent together. Of a damaged block: a PetalError with the code
     * 'damaged', and the block's place in the file as offset.
     */
    has(key: Key): Promise<boolean>;
    /** A damaged block is a PetalError with the index of the first key in it as offset. */
    hasMany(keys: Iterable<Key>, options?: { signal?: AbortSignal }): Promise<Uint8Array>;
    dispose(): void;
    [Symbol.dispose](): void;
}

export interface Update {
    how: 'current' | 'patched' | 'loaded';
    /** Fetched beside the manifest. */
    bytes: number;
}

export interface HostedOptions {
    /** One that is here already, such as from an earlier visit. */
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
    /** The newest one; answers while an update is on its way. */
    readonly filter: Filter | null;
    readonly id: string | null;
    update(): Promise<Update>;
    dispose(): void;
    [Symbol.dispose](): void;
}
