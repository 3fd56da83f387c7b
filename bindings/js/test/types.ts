// types.ts - a program that uses every call. It is compiled with `tsc --strict`, but never run.
import { Filter, HostedFilter, PetalError, RangeFilter, f32, f64, formats, i32, i64, recognize, shardOf, utf16 } from 'petal-bloom';
import type { Comparison, CreateOptions, Info, Plan, Stats } from 'petal-bloom';
import { Filter as Asking, HostedFilter as AskingHosted, i32 as askingI32 } from 'petal-bloom/ask';
import { Filter as Inline } from 'petal-bloom/inline';
import { Filter as AskingInline } from 'petal-bloom/ask/inline';

const options: CreateOptions = { capacity: 1e6, rate: 0.01, scheme: 'counting', keyType: 'text' };

export const use = async (file: Blob, controller: AbortController): Promise<void> => {
    const f: Filter = await Filter.create(options);
    const isNew: boolean = f.add('a');
    const keys: (string | Uint8Array | bigint)[] = ['a', Uint8Array.of(1), 5n];
    const answers: Uint8Array = f.hasMany(keys);
    const added: number = f.addMany({ bytes: new Uint8Array(3), ends: [1, 2, 3] });
    f.addMany(BigInt64Array.of(1n));
    f.addMany(Float64Array.of(1));
    f.addMany(new Set(['a', 'b']));
    f.has(i64(5));
    f.has(i32(5));
    f.has(f64(5));
    f.has(f32(5));
    f.hasMany([utf16('a'), 'b', askingI32(5)]);
    // @ts-expect-error a typed key must come from its function
    f.has({ type: 'i32', value: 5n });
    // @ts-expect-error a number has no type
    f.has(5);
    // @ts-expect-error there is no such option
    await Filter.create({ capacty: 5 });
    const plan: Plan = await Filter.plan({ capacity: 10n, rate: 0.1 });
    const info: Info = f.info, stats: Stats = f.stats(), rate: number = plan.rateAt(5);
    const other = await Filter.load(file, {
        format: 'guava',
        onProgress: ({ loaded, total }) => console.log(loaded, total ?? 'unknown'),
        signal: controller.signal,
        keyType: 'i32',
    });
    const comparison: Comparison = f.compare(other.merge(f).intersect(f));
    const patch: Uint8Array = f.diff(other);
    f.applyPatch(patch);
    const folded: Filter = f.fold({ rate: 0.02, capacity: 5n });
    const counted: Filter = await Filter.fromKeys(new Set(['a', 'b']), { rate: 0.01 });
    // @ts-expect-error fromKeys() finds out how many
    await Filter.fromKeys(['a'], { capacity: 5 });
    console.log(folded.fold({ bits: 512 }).info.bits, counted.fold().isOverfull);
    f.metadata = new Uint8Array(1);
    const id: bigint = f.contentId();
    const again: Filter = await Filter.deserialize(f.serialize());
    const range: RangeFilter = await Filter.range('https://example.com/a.petal', { verify: false });
    const probably: boolean = await range.has('a');
    const hosted = await HostedFilter.open('https://example.com/manifest.json', { filter: again });
    const { how, bytes } = await hosted.update();
    console.log(isNew, answers, added, info.bits, stats.fill, rate, comparison.jaccard.low, id);
    console.log(probably, how, bytes, hosted.filter?.has('a'), (await formats())[0]?.name);
    console.log(await recognize(patch), await shardOf('a', 5), (await Asking.load(patch)).has('a'));
    const asking: Asking = await Asking.load(patch);
    console.log((await AskingInline.load(patch)).has(f32(5).value === 5 ? 'a' : 'b'));
    // @ts-expect-error this filter is read-only
    asking.add('a');
    // @ts-expect-error this entry creates no filters
    await Asking.create(options);
    const askingHosted = await AskingHosted.open('https://example.com/manifest.json', { filter: asking });
    console.log(asking.hasMany(keys), asking.info.keyType, askingHosted.filter?.has('a'));
    (await Inline.create(options)).add('a');
    {
        using scoped = f.clone();
        scoped.clear();
    }
    try {
        f.dispose();
    } catch (error) {
        if (error instanceof PetalError) console.log(error.code, error.offset);
    }
};
