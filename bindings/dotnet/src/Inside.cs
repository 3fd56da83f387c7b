// Inside.cs - calls on whole filters: information about one, and combinations of two.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Petal
{
    /// <summary>An estimate and its 95 % interval.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Estimate
    {
        private readonly double value, low, high;

        /// <summary>The estimate.</summary>
        public double Value => value;
        /// <summary>The lower end of the interval.</summary>
        public double Low => low;
        /// <summary>The upper end of the interval.</summary>
        public double High => high;
    }

    /// <summary>Describes a filter without reading its bits. Unknown rates are NaN.</summary>
    public sealed unsafe class FilterInfo
    {
        private NativeInfo native;
        private readonly NativeLayersInfo layers;
        private readonly NativeFileInfo file;

        internal FilterInfo(NativeInside inside)
        {
            NativeInfo info = native = inside.Info;
            layers = inside.Layers;
            file = inside.File;
            SchemeName = Native.Text(info.SchemeName);
            HashName = Native.Text(info.HashName);
            FormatName = Native.Text(info.FormatName);
            KernelName = Native.Text(info.KernelName);
            FileFormatName = Native.Text(file.FormatName);
        }

        /// <summary>The total number of bits or counters in all layers.</summary>
        public long Bits => (long)native.Bits;
        /// <summary>The size of the bits in bytes, in whole 64-byte lines.</summary>
        public long Bytes => (long)native.Bytes;
        /// <summary>The total number of bytes allocated, not counting maps.</summary>
        public long MemoryBytes => (long)native.MemoryBytes;
        /// <summary>Bits per key; if there are several layers, that of the newest.</summary>
        public int Hashes => (int)native.Hashes;
        /// <summary>1 or 2 for a blocked filter, otherwise 0.</summary>
        public int LinesPerKey => (int)native.LinesPerKey;
        /// <summary>Bit arrays.</summary>
        public int Layers => (int)native.Layers;
        /// <summary>4 for a counting filter, otherwise 0.</summary>
        public int CounterBits => (int)native.CounterBits;
        /// <summary>Distinct keys planned for, or 0 if not recorded.</summary>
        public long Capacity => (long)native.Capacity;
        /// <summary>The requested rate.</summary>
        public double TargetRate => native.TargetRate;
        /// <summary>The rate with Capacity keys, according to the exact model.</summary>
        public double PredictedRate => native.PredictedRate;
        /// <summary>The approximate number of keys added, including repeats, minus those
        /// removed.</summary>
        public long Items => (long)native.Items;
        /// <summary>The seed of the hash.</summary>
        public ulong Seed => native.Seed;
        /// <summary>Bytes of metadata.</summary>
        public int MetadataBytes => (int)native.MetadataBytes;
        /// <summary>True if the filter has a secret.</summary>
        public bool Keyed => native.Keyed != 0;
        /// <summary>The key type that the file records.</summary>
        public KeyType KeyType => (KeyType)native.KeyType;
        /// <summary>True if the filter adds layers as keys are added.</summary>
        public bool Grows => native.Policy == 1;
        /// <summary>For a window, the number of keys it remembers, otherwise 0.</summary>
        public long Window => (long)layers.WindowKeys;
        /// <summary>For a time window, how long it remembers keys, otherwise 0.</summary>
        public TimeSpan WindowTime =>
            TimeSpan.FromTicks((long)layers.WindowMs * TimeSpan.TicksPerMillisecond);
        /// <summary>For a window, the planned number of generations.</summary>
        public int Generations => (int)layers.Generations;
        /// <summary>True if the file was opened while another process was changing it.</summary>
        public bool Live => file.Live != 0;
        /// <summary>True if the filter is a memory-mapped petal file, so Verify() can check its
        /// blocks against their checksums.</summary>
        public bool Verifiable => file.Verifiable != 0;
        /// <summary>True if the filter is a memory-mapped file whose blocks are checked against
        /// their checksums before first use.</summary>
        public bool VerifiesOnUse => file.VerifiesOnUse != 0;
        /// <summary>For a mapped file: the number of blocks that have not been checked yet or were
        /// found to be damaged.</summary>
        public long UncheckedBlocks => (long)file.UncheckedBlocks;
        /// <summary>"blocked", ...</summary>
        public string SchemeName { get; private set; }
        /// <summary>"xxh3", ...</summary>
        public string HashName { get; private set; }
        /// <summary>The format that the filter was read from or created for.</summary>
        public string FormatName { get; private set; }
        /// <summary>The format of the file or stream that the filter was read from; null if it was
        /// created in memory. A petal file may contain a filter of another format. In that case
        /// this is "petal", and FormatName is the other format.</summary>
        public string FileFormatName { get; private set; }
        /// <summary>The kernel used on this CPU, such as "avx2".</summary>
        public string KernelName { get; private set; }
        /// <summary>The number of bits per key when the filter has Capacity keys.</summary>
        public double BitsPerKey => 8.0 * Bytes / Capacity;

        /// <summary>The rate with this number of distinct keys, according to the exact
        /// model.</summary>
        public double RateAt(long keys)
        {
            NativeInfo copy = native;
            return Native.petal_predict_rate(&copy, FilterOptions.Unsigned(keys, "keys"));
        }
    }

    /// <summary>Statistics computed from a filter's bits.</summary>
    public sealed class FilterStats
    {
        internal FilterStats(NativeStats native)
        {
            BitsSet = (long)native.BitsSet;
            SaturatedCounters = (long)native.SaturatedCounters;
            Fill = native.Fill;
            EstimatedItems = native.EstimatedItems;
            EstimatedRate = native.EstimatedRate;
            Saturated = native.Saturated != 0;
            Overfull = native.Overfull != 0;
        }

        /// <summary>Set bits, or counters that are not zero.</summary>
        public long BitsSet { get; private set; }
        /// <summary>The number of counters that are stuck at 15.</summary>
        public long SaturatedCounters { get; private set; }
        /// <summary>The share of set bits.</summary>
        public double Fill { get; private set; }
        /// <summary>Distinct keys.</summary>
        public Estimate EstimatedItems { get; private set; }
        /// <summary>The share of absent keys that pass now; NaN if it is unknown.</summary>
        public double EstimatedRate { get; private set; }
        /// <summary>True if every bit is set.</summary>
        public bool Saturated { get; private set; }
        /// <summary>True if the filter is known to contain more keys than planned.</summary>
        public bool Overfull { get; private set; }
    }

    /// <summary>The overlap of two filters' keys: numbers of keys, and shares from 0 to
    /// 1.</summary>
    public sealed class Comparison
    {
        internal Comparison(NativeComparison native)
        {
            First = native.ItemsA;
            Second = native.ItemsB;
            Union = native.UnionItems;
            Intersection = native.Intersection;
            Jaccard = native.Jaccard;
            FirstInSecond = native.AInB;
            SecondInFirst = native.BInA;
        }

        /// <summary>The number of keys in this filter.</summary>
        public Estimate First { get; private set; }
        /// <summary>The number of keys in the other filter.</summary>
        public Estimate Second { get; private set; }
        /// <summary>The number of keys in either filter.</summary>
        public Estimate Union { get; private set; }
        /// <summary>The number of keys in both filters.</summary>
        public Estimate Intersection { get; private set; }
        /// <summary>Intersection divided by union.</summary>
        public Estimate Jaccard { get; private set; }
        /// <summary>The share of this filter's keys that are also in the other.</summary>
        public Estimate FirstInSecond { get; private set; }
        /// <summary>The share of the other filter's keys that are also in this one.</summary>
        public Estimate SecondInFirst { get; private set; }
    }

    public sealed unsafe partial class BloomFilter<T>
    {
        // ---- looking inside ----

        /// <summary>Bits, or counters.</summary>
        public long BitSize => Info().Bits;

        /// <summary>Distinct keys planned for, or 0 if not recorded.</summary>
        public long SetSize => Info().Capacity;

        /// <summary>Bits per key.</summary>
        public int NumberOfHashes => Info().Hashes;

        /// <summary>The share of other keys that pass when the filter contains SetSize keys,
        /// according to the exact model; NaN if SetSize is not recorded.</summary>
        public double FalsePositiveProbability() => Info().PredictedRate;

        /// <summary>The key type that the filter's file records.</summary>
        public KeyType KeyType => Info().KeyType;

        /// <summary>Describes the filter without reading its bits.</summary>
        public FilterInfo Info()
        {
            bool asChange = core.EnterRead();
            try
            {
                return new FilterInfo(Describe(core.Filter, Native.AllLayers, Path));
            }
            finally
            {
                core.Leave(asChange);
            }
        }

        /// <summary>Describes one layer. Layers are numbered from 0.</summary>
        public FilterInfo Info(int layer)
        {
            uint place = (uint)FilterOptions.Unsigned(layer, "layer");
            bool asChange = core.EnterRead();
            try
            {
                return new FilterInfo(Describe(core.Filter, place, Path));
            }
            finally
            {
                core.Leave(asChange);
            }
        }

        private static NativeInside Describe(IntPtr filter, uint layer, string path)
        {
            NativeInside inside = NativeInside.Init();
            NativeError error;
            Check(Native.petal_get_info(filter, layer, &inside.Info, &error), &error, path);
            Check(Native.petal_get_layers_info(filter, layer, &inside.Layers, &error), &error,
                  path);
            Check(Native.petal_get_file_info(filter, &inside.File, &error), &error, path);
            return inside;
        }

        /// <summary>Computes statistics from the bits, all of which it reads.</summary>
        public FilterStats Stats()
        {
            NativeStats stats = new NativeStats();
            stats.Size = (uint)sizeof(NativeStats);
            NativeError error;
            bool asChange = core.EnterRead();
            int status = Native.petal_get_stats(core.Filter, Native.AllLayers, &stats, &error);
            core.Leave(asChange);
            Check(status, &error, Path);
            return new FilterStats(stats);
        }

        /// <summary>A number that is equal for filters with equal parameters and bits.</summary>
        public ulong ContentId()
        {
            ulong id = 0;
            NativeError error;
            bool asChange = core.EnterRead();
            int status = Native.petal_content_id(core.Filter, &id, &error);
            core.Leave(asChange);
            Check(status, &error, Path);
            return id;
        }

        /// <summary>True if the filter is known to contain more distinct keys than
        /// planned.</summary>
        public bool IsOverfull
        {
            get {
                bool asChange = core.EnterRead();
                bool overfull = Native.petal_is_overfull(core.Filter) != 0;
                core.Leave(asChange);
                return overfull;
            }
        }

        /// <summary>A copy of the bytes stored in the file, or null; setting copies them.</summary>
        public byte[] Metadata
        {
            get {
                bool asChange = core.EnterRead();
                try
                {
                    ulong size = 0;
                    byte* at = Native.petal_metadata(core.Filter, &size);
                    if (at == null)
                        return null;
                    byte[] copy = new byte[(int)size];
                    Marshal.Copy((IntPtr)at, copy, 0, copy.Length);
                    return copy;
                }
                finally
                {
                    core.Leave(asChange);
                }
            }
            set {
                byte[] metadata = value ?? new byte[0];
                NativeError error;
                int status;
                fixed(byte* at = metadata)
                {
                    core.EnterChange();
                    status =
                        Native.petal_set_metadata(core.Filter, at, (ulong)metadata.Length, &error);
                    core.LeaveChange();
                }
                Check(status, &error, Path);
            }
        }

        // ---- changes ----

        /// <summary>Removes every key.</summary>
        public void Clear()
        {
            NativeError error;
            core.EnterChange();
            int status = Native.petal_clear(core.Filter, &error);
            core.LeaveChange();
            Check(status, &error, Path);
        }

        /// <summary>Lets threads add concurrently, without waiting for each other or for queries.
        /// All other calls wait until no thread is adding.</summary>
        /// <exception cref="NotSupportedException">The filter's kind doesn't support
        /// it.</exception>
        public void Share()
        {
            NativeError error;
            core.EnterChange();
            int status = Native.petal_allow_threads(core.Filter, &error);
            if (status >= 0)
                core.SetShared();
            core.LeaveChange();
            Check(status, &error, Path);
        }

        /// <summary>Makes the filter permanently read-only; a Scheme.Static filter is built
        /// now.</summary>
        public void Freeze()
        {
            NativeError error;
            core.EnterChange();
            int status = Native.petal_freeze(core.Filter, &error);
            core.LeaveChange();
            Check(status, &error, Path);
        }

        /// <summary>Sets the clock of a time window, and drops expired keys.</summary>
        public void Advance(DateTimeOffset now)
        {
            Advance(now.ToUnixTimeMilliseconds());
        }

        /// <summary>Sets the clock in milliseconds since 1970 or any other epoch.</summary>
        public void Advance(long nowMilliseconds)
        {
            ulong now = FilterOptions.Unsigned(nowMilliseconds, "nowMilliseconds");
            NativeError error;
            core.EnterChange();
            int status = Native.petal_set_clock(core.Filter, now, &error);
            core.LeaveChange();
            Check(status, &error, Path);
        }

        /// <summary>Adds the keys of another filter with equal parameters.</summary>
        /// <exception cref="ArgumentException">The parameters differ; the message says
        /// which.</exception>
        public void Merge(BloomFilter<T> other)
        {
            if (other == null)
                throw new ArgumentNullException("other");
            NativeError error;
            Core.EnterTwo(core, other.core, true);
            int status = Native.petal_merge(core.Filter, other.core.Filter, &error);
            Core.LeaveTwo(core, other.core, true);
            Check(status, &error, Path);
        }

        /// <summary>Keeps only the bits that are set in both filters, so keys in both stay
        /// present.</summary>
        /// <exception cref="ArgumentException">The parameters differ; the message says
        /// which.</exception>
        public void Intersect(BloomFilter<T> other)
        {
            if (other == null)
                throw new ArgumentNullException("other");
            NativeError error;
            Core.EnterTwo(core, other.core, true);
            int status = Native.petal_intersect(core.Filter, other.core.Filter, &error);
            Core.LeaveTwo(core, other.core, true);
            Check(status, &error, Path);
        }

        /// <summary>Estimates how the keys of two filters with equal parameters overlap.</summary>
        public Comparison Compare(BloomFilter<T> other)
        {
            if (other == null)
                throw new ArgumentNullException("other");
            NativeComparison comparison = new NativeComparison();
            comparison.Size = (uint)sizeof(NativeComparison);
            NativeError error;
            bool asChange = Core.EnterTwo(core, other.core, false);
            int status = Native.petal_compare(core.Filter, other.core.Filter, &comparison, &error);
            Core.LeaveTwo(core, other.core, asChange);
            Check(status, &error, Path);
            return new Comparison(comparison);
        }

        // ---- new filters ----

        /// <summary>Returns a copy in memory, which is writable even if this filter is
        /// not.</summary>
        public BloomFilter<T> Copy()
        {
            IntPtr made = IntPtr.Zero;
            NativeError error;
            bool asChange = core.EnterRead();
            int status = Native.petal_clone(core.Filter, &made, &error);
            core.Leave(asChange);
            Check(status, &error, Path);
            return new BloomFilter<T>(made, null, keyType);
        }

        /// <summary>Returns an empty filter with the same parameters, which can be merged with this
        /// one.</summary>
        public BloomFilter<T> EmptyLike()
        {
            IntPtr made = IntPtr.Zero;
            NativeError error;
            bool asChange = core.EnterRead();
            int status = Native.petal_create_like(core.Filter, &made, &error);
            core.Leave(asChange);
            Check(status, &error, Path);
            return new BloomFilter<T>(made, null, keyType);
        }

        /// <summary>Creates a classic filter with the keys of this counting filter, in a quarter of
        /// the bytes.</summary>
        public BloomFilter<T> DropCounts()
        {
            IntPtr made = IntPtr.Zero;
            NativeError error;
            bool asChange = core.EnterRead();
            int status = Native.petal_drop_counts(core.Filter, &made, &error);
            core.Leave(asChange);
            Check(status, &error, Path);
            return new BloomFilter<T>(made, null, keyType);
        }

        /// <summary>Creates a smaller filter with the same keys, bit-for-bit identical to one
        /// created at that size. Create this one with FilterOptions.Foldable.</summary>
        /// <param name="rate">The rate to keep; 0 means this filter's.</param>
        /// <param name="capacity">The number of distinct keys to make room for. If it is 0 or below
        /// the number of keys present, that number is used.</param>
        /// <returns>The smallest filter that keeps the rate.</returns>
        public BloomFilter<T> Fold(double rate = 0, long capacity = 0)
        {
            NativeFoldOptions options = new NativeFoldOptions();
            options.Rate = FilterOptions.Canonical(rate);
            options.Capacity = FilterOptions.Unsigned(capacity, "capacity");
            return Folded(options, false);
        }

        /// <summary>Like Fold(), but to exactly the given number of bits, which must divide this
        /// filter's number of bits.</summary>
        public BloomFilter<T> FoldToBits(long bits)
        {
            NativeFoldOptions options = new NativeFoldOptions();
            options.Bits = FilterOptions.Unsigned(bits, "bits");
            return Folded(options, false);
        }

        // If `orThis` is set, returns this filter if it has too many keys to be folded.
        private BloomFilter<T> Folded(NativeFoldOptions options, bool orThis)
        {
            IntPtr made = IntPtr.Zero;
            NativeError error;
            options.Size = (uint)sizeof(NativeFoldOptions);
            bool asChange = core.EnterRead();
            int status = Native.petal_fold(core.Filter, &options, &made, &error);
            core.Leave(asChange);
            if (orThis && status == Native.Unreachable)
                return this;
            Check(status, &error, Path);
            return new BloomFilter<T>(made, null, keyType);
        }

        private BloomFilter<T> Frozen()
        {
            Freeze();
            return this;
        }

        /// <summary>Like FromKeys(keys, options), with this rate.</summary>
        public static BloomFilter<T> FromKeys(IEnumerable<T> keys, double rate)
        {
            return FromKeys(keys, new FilterOptions { Rate = rate });
        }

        /// <summary>Creates a filter from an unknown number of keys. They are read once, into a
        /// filter of options.Memory (default 64 MiB), which is then folded to the smallest size
        /// that keeps the rate.</summary>
        /// <remarks>If the result needs at most an eighth of that memory, it is at most 1/8 larger
        /// than a filter planned for the number of keys. If the memory is too small for the keys at
        /// that rate, the filter keeps its size and is IsOverfull; with RefuseOverfull it throws
        /// InvalidOperationException instead. The scheme is Blocked or Classic. Static needs no
        /// memory in advance: building takes 16 bytes per key.</remarks>
        public static BloomFilter<T> FromKeys(IEnumerable<T> keys, FilterOptions options)
        {
            if (keys == null)
                throw new ArgumentNullException("keys");
            if (options == null)
                throw new ArgumentNullException("options");
            BloomFilter<T> large = new BloomFilter<T>(options.Large()), folded = null;
            try
            {
                large.AddRange(keys);
                if (options.Scheme == Scheme.Static)
                    folded = large.Frozen();
                else
                    folded = large.Folded(new NativeFoldOptions(), true);
                return folded;
            }
            finally
            {
                if (folded != large)
                    large.Dispose();
            }
        }
    }
}
