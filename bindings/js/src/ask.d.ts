// ask.d.ts - the types of petal-bloom/ask, which can only load and query filters.
import type {
    Filter as Whole,
    HostedFilter as WholeHosted,
    HostedOptions,
    LoadOptions,
    RangeFilter,
    RangeOptions,
    Source,
} from './petal.mjs';

export { f32, f64, i32, i64, PetalError, RangeFilter, shardOf, utf16 } from './petal.mjs';
export type {
    HostedOptions,
    Info,
    JoinedKeys,
    Key,
    Keys,
    KeyType,
    LoadOptions,
    NumberKeys,
    Progress,
    RangeOptions,
    Source,
    TypedKey,
    Update,
} from './petal.mjs';

/** A read-only filter. It lacks petal-bloom's calls that create or change filters. */
export interface Filter extends Pick<
    Whole,
    | 'has'
    | 'hasMany'
    | 'hashKey'
    | 'info'
    | 'layerInfo'
    | 'contentId'
    | 'bits'
    | 'dispose'
    | typeof Symbol.dispose
> {
    readonly metadata: Uint8Array | null;
}
export const Filter: {
    load(source: Source, options?: LoadOptions): Promise<Filter>;
    /** Opens a filter that stays on its host and is queried by HTTP range requests. */
    range(url: string | URL, options?: RangeOptions): Promise<RangeFilter>;
    deserialize(value: object | string, options?: LoadOptions): Promise<Filter>;
};

/** A filter that follows a manifest. When the manifest changes, the whole file is fetched. */
export interface HostedFilter extends Omit<WholeHosted, 'filter'> {
    readonly filter: Filter | null;
}
export const HostedFilter: {
    open(
        url: string | URL,
        options?: Omit<HostedOptions, 'filter'> & { filter?: Filter },
    ): Promise<HostedFilter>;
};
