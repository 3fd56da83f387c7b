// BloomFilter.cs - a filter: creating it, single keys, and disposing of it.
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;

namespace Petal
{
    /// <summary>A Bloom filter: it answers "certainly not" or "probably", and needs only a few bits
    /// per key.</summary>
    /// <typeparam name="T">string, byte[], an integer type, float or double; object for keys of
    /// several of these types in one filter.</typeparam>
    /// <remarks>
    /// Any number of threads may use a filter. Queries run concurrently; a change waits for calls
    /// in progress, and other calls wait for it. Dispose() also waits for calls in progress; later
    /// calls throw ObjectDisposedException.
    /// </remarks>
    public sealed unsafe partial class BloomFilter<T> : IDisposable
    {
        private enum Verb
        {
            Add,
            Contains,
            Remove,
            Hash
        }

        private readonly Core core;
        private readonly Kind kind;
        private readonly KeyType keyType;
        private readonly bool takesEmptyKey, verifies;
        private long skippedKeys;

        // ---- making ----

        /// <summary>Creates a filter with the given number of bits for the given number of keys,
        /// with the best number of hashes.</summary>
        /// <param name="bits">Bits, rounded up to a multiple of 512.</param>
        /// <param name="setSize">Distinct keys.</param>
        public BloomFilter(long bits, long setSize)
            : this(new FilterOptions { Bits = bits, Capacity = setSize })
        {
        }

        /// <summary>Creates a filter with the given numbers of bits and hashes for the given number
        /// of keys.</summary>
        public BloomFilter(long bits, long setSize, int hashes)
            : this(new FilterOptions { Bits = bits, Capacity = setSize, Hashes = hashes })
        {
        }

        /// <summary>Creates the smallest filter for the given number of keys whose false-positive
        /// rate is at most `rate`.</summary>
        /// <param name="items">Distinct keys.</param>
        /// <param name="rate">Above 0 and below 1: 0.01 is 1 %.</param>
        public BloomFilter(long items, double rate)
            : this(new FilterOptions { Capacity = items, Rate = rate })
        {
        }

        /// <summary>Creates the filter that the options describe.</summary>
        /// <exception cref="ArgumentException">No filter can have these parameters.</exception>
        /// <exception cref="InsufficientMemoryException">Not enough memory.</exception>
        public BloomFilter(FilterOptions options) : this(Create(options), null, KeyType.None)
        {
        }

        private BloomFilter(IntPtr filter, string path, KeyType asked,
                            GCHandle viewed = default(GCHandle))
        {
            try
            {
                NativeInside inside = Describe(filter, Native.AllLayers, path);
                NativeInfo info = inside.Info;
                kind = Keys.KindOf(typeof(T));
                keyType = Keys.Choose((KeyType)info.KeyType, asked);
                if (kind != Kind.Any && !Keys.Fits(kind, keyType))
                    throw Keys.Unfit(keyType, typeof(T));
                verifies = inside.File.VerifiesOnUse != 0;
                takesEmptyKey = (info.Abilities & Native.CanHoldEmptyKey) != 0;
                core = new Core(filter, info.MemoryBytes, info.Policy != 0, viewed);
            }
            catch
            {
                Native.petal_free(filter);
                throw;
            }
            Path = path;
        }

        private static IntPtr Create(FilterOptions options)
        {
            if (options == null)
                throw new ArgumentNullException("options");
            Keys.KindOf(typeof(T));
            NativeError error;
            IntPtr filter = IntPtr.Zero;
            Check(options.Call(null, &filter, &error), &error, null);
            return filter;
        }

        private static void Check(int status, NativeError* error, string path)
        {
            if (status < 0)
                throw Failure.Of(error, path);
        }

        // ---- one key ----

        /// <summary>Adds a key.</summary>
        /// <returns>True if it was certainly new, false if it was probably present.</returns>
        public bool Add(T key) => Run(Verb.Add, key) != 0;

        /// <summary>Determines whether a key is present.</summary>
        /// <returns>False if it was certainly never added, true if it probably was.</returns>
        /// <exception cref="FormatException">The mapped file is damaged at the key's bits; see
        /// OpenOptions.NoVerify.</exception>
        public bool Contains(T key) => Run(Verb.Contains, key) != 0;

        /// <summary>Removes a key from a counting filter. Remove only keys that were
        /// added.</summary>
        /// <returns>False if it was certainly absent and nothing changed.</returns>
        public bool Remove(T key) => Run(Verb.Remove, key) != 0;

        /// <summary>The 64-bit hash of a key under this filter's hash and seed or
        /// secret.</summary>
        public ulong HashKey(T key) => Run(Verb.Hash, key);

        // Testing T costs nothing, because the compiler resolves the tests for number types.
        private ulong Run(Verb verb, T key)
        {
            if (typeof(T) == typeof(long))
                return RunInteger(verb, (long)(object)key);
            if (typeof(T) == typeof(int))
                return RunInteger(verb, (int)(object)key);
            if (typeof(T) == typeof(double))
                return RunFraction(verb, (double)(object)key);
            object boxed = key;
            string text = boxed as string;
            if (text != null)
                return RunText(verb, text);
            return RunOther(verb, boxed);
        }

        private ulong RunOther(Verb verb, object key)
        {
            Kind of = Keys.KindOf(key);
            if (kind == Kind.Any && !Keys.Fits(of, keyType))
                throw Keys.Unfit(keyType, key.GetType());
            if (of == Kind.Integer)
                return RunInteger(verb, Keys.ToInteger(key));
            if (of == Kind.Fraction)
                return RunFraction(verb, Convert.ToDouble(key));
            byte[] bytes = (byte[])key;
            fixed(byte* at = bytes) return RunBytes(verb, at, bytes.Length);
        }

        private ulong RunText(Verb verb, string text)
        {
            const int OnStack = 256;
            fixed(char* chars = text)
            {
                if (keyType == KeyType.Utf16LE)
                    return RunBytes(verb, (byte*)chars, text.Length * sizeof(char));
                if (keyType != KeyType.None && keyType != KeyType.Text)
                    throw Keys.Unfit(keyType, typeof(string));
                if (text.Length <= OnStack)
                {
                    int room = 3 * text.Length;
                    byte* at = stackalloc byte[room + 1];
                    return RunBytes(verb, at, Native.Utf8.GetBytes(chars, text.Length, at, room));
                }
            }
            byte[] bytes = Native.Utf8.GetBytes(text);
            fixed(byte* at = bytes) return RunBytes(verb, at, bytes.Length);
        }

        private ulong RunInteger(Verb verb, long value)
        {
            byte* at = stackalloc byte[8];
            if (keyType == KeyType.I32)
                return RunBytes(verb, at, Keys.PutLittle(at, checked((int)value), 4));
            if (verb != Verb.Contains)
                return RunBytes(verb, at, Keys.PutLittle(at, value, 8));
            if (verifies)
                return RunBytes(verb, at, Keys.PutLittle(at, value, 8));
            core.EnterQuery();
            byte found = Native.petal_contains_i64(core.Filter, value);
            core.LeaveQuery();
            return found;
        }

        private ulong RunFraction(Verb verb, double value)
        {
            byte* at = stackalloc byte[8];
            return RunBytes(verb, at, Keys.PutLittle(at, Keys.ToBits(value), 8));
        }

        // No statement between entering and leaving can throw.
        private ulong RunBytes(Verb verb, byte* key, int size)
        {
            ulong answer;
            switch (verb)
            {
            case Verb.Contains:
                core.EnterQuery();
                answer = Native.petal_contains(core.Filter, key, (UIntPtr)(uint)size);
                bool doubtful = verifies && answer != 0 && IsDamaged();
                core.LeaveQuery();
                return doubtful ? ContainsChecked(key, size) : answer;
            case Verb.Hash:
                core.EnterQuery();
                answer = Native.petal_hash_key(core.Filter, key, (UIntPtr)(uint)size);
                core.LeaveQuery();
                return answer;
            default:
                return ChangeKey(verb, key, size);
            }
        }

        // A block of the map is damaged, perhaps only one with the bits of other keys. So "true"
        // may not be a valid answer.
        private bool IsDamaged()
        {
            return Native.petal_last_error(core.Filter, null) == Native.Damaged;
        }

        // Queries a batch that contains only this key. That reports whether its bits are damaged.
        private ulong ContainsChecked(byte* key, int size)
        {
            byte answer = 0;
            uint* offsets = stackalloc uint[2];
            NativeBatch one = Single(key, size, offsets);
            NativeError error;
            core.EnterQuery();
            int status = Native.petal_contains_batch(core.Filter, &one, &answer, null, &error);
            core.LeaveQuery();
            error.Offset = Native.NoOffset;
            Check(status, &error, Path);
            return answer;
        }

        private static NativeBatch Single(byte* key, int size, uint* offsets)
        {
            offsets[0] = 0;
            offsets[1] = (uint)size;
            NativeBatch one = Batch(Native.Offsets32, key, 1);
            one.Offsets = offsets;
            return one;
        }

        private ulong ChangeKey(Verb verb, byte* key, int size)
        {
            bool adds = verb == Verb.Add;
            bool ignored = adds && size == 0 && !takesEmptyKey; // as in its own library
            bool asChange = adds ? core.EnterAdd() : EnterChange();
            int status = Native.Seen;
            if (!ignored)
                status = adds ? Native.petal_add(core.Filter, key, (UIntPtr)(uint)size)
                              : Native.petal_remove(core.Filter, key, (UIntPtr)(uint)size);
            NativeError error;
            if (status < 0)
                status = Why(adds, key, size, &error);
            core.LeaveAdded(asChange, 1);
            Check(status, &error, Path);
            if (ignored)
                CountSkipped(1);
            return status == Native.Ok ? 1u : 0u;
        }

        // The call for one key reports only that it failed. A batch with this key fails in the same
        // way, and gives the reason.
        private int Why(bool adds, byte* key, int size, NativeError* error)
        {
            byte answer = 0;
            uint* offsets = stackalloc uint[2];
            NativeBatch one = Single(key, size, offsets);
            int status = adds ? Native.petal_add_batch(core.Filter, &one, &answer, null, error)
                              : Native.petal_remove_batch(core.Filter, &one, &answer, null, error);
            return status < 0 ? status : answer != 0 ? Native.Ok : Native.Seen;
        }

        private bool EnterChange()
        {
            core.EnterChange();
            return true;
        }

        /// <summary>The number of empty keys that were skipped, because this library's filters
        /// reject them (DataSketches). The first one causes a warning in
        /// System.Diagnostics.Trace.</summary>
        public long SkippedKeys => Interlocked.Read(ref skippedKeys);

        private void CountSkipped(long count)
        {
            if (count > 0 && Interlocked.Add(ref skippedKeys, count) == count)
                Trace.TraceWarning(
                    "Petal: empty keys are skipped: filters of this scheme take none");
        }

        // ---- the end ----

        /// <summary>Releases the memory, the map and the lock, once the calls in progress have
        /// finished.</summary>
        /// <remarks>A writable map is synced first, which can fail just as Sync() can.</remarks>
        public void Dispose()
        {
            core.Close(Path);
        }

        /// <summary>True if the filter has been disposed of.</summary>
        public bool IsClosed => core.Closed;

        /// <summary>The filter's scheme, size and number of keys, in a few words.</summary>
        public override string ToString()
        {
            if (IsClosed)
                return "closed Bloom filter";
            FilterInfo info = Info();
            string text = info.SchemeName + " Bloom filter";
            if (info.Capacity > 0)
                text += ", capacity " + info.Capacity;
            return text + ", " + info.Items + " items, " + info.Bytes + " bytes";
        }
    }
}
