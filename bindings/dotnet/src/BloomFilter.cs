// BloomFilter.cs - a filter: making it, one key, and the end.
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;

namespace Petal
{
    /// <summary>A Bloom filter: "certainly not" or "probably", in a few bits per key.</summary>
    /// <typeparam name="T">string, byte[], a whole number, float or double; object for keys of
    /// several of these types in one filter.</typeparam>
    /// <remarks>
    /// Any number of threads may use a filter. Calls that query it run side by side; one that
    /// changes it waits for those at work, and others wait for it. Dispose() waits for the calls
    /// at work, too; later ones are an ObjectDisposedException.
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

        /// <summary>A filter of so many bits for so many keys, with the best number of
        /// hashes.</summary>
        /// <param name="bits">Bits, rounded up to a multiple of 512.</param>
        /// <param name="setSize">Distinct keys.</param>
        public BloomFilter(long bits, long setSize)
            : this(new FilterOptions { Bits = bits, Capacity = setSize })
        {
        }

        /// <summary>A filter of so many bits for so many keys, with this number of
        /// hashes.</summary>
        public BloomFilter(long bits, long setSize, int hashes)
            : this(new FilterOptions { Bits = bits, Capacity = setSize, Hashes = hashes })
        {
        }

        /// <summary>The smallest filter for so many keys that lets at most this share of others
        /// pass.</summary>
        /// <param name="items">Distinct keys.</param>
        /// <param name="rate">Above 0 and below 1: 0.01 is 1 %.</param>
        public BloomFilter(long items, double rate)
            : this(new FilterOptions { Capacity = items, Rate = rate })
        {
        }

        /// <summary>The filter that the options describe.</summary>
        /// <exception cref="ArgumentException">No filter can be so.</exception>
        /// <exception cref="InsufficientMemoryException">There is no memory for it.</exception>
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
        /// <returns>True: it was certainly new. False: it was probably there.</returns>
        public bool Add(T key) => Run(Verb.Add, key) != 0;

        /// <summary>Whether a key is in.</summary>
        /// <returns>False: it was certainly never added. True: it probably was.</returns>
        /// <exception cref="FormatException">The mapped file is damaged where the key would be; see
        /// OpenOptions.NoVerify.</exception>
        public bool Contains(T key) => Run(Verb.Contains, key) != 0;

        /// <summary>Takes a key out of a counting filter. Remove only keys that were
        /// added.</summary>
        /// <returns>False: it was certainly not in, and nothing changed.</returns>
        public bool Remove(T key) => Run(Verb.Remove, key) != 0;

        /// <summary>The 64-bit hash of a key under this filter's hash and seed or
        /// secret.</summary>
        public ulong HashKey(T key) => Run(Verb.Hash, key);

        // The tests of T cost nothing: the compiler of a number's code knows them.
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

        // Nothing between entering and leaving can throw.
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

        // A block of the map was damaged, maybe that of another key: true may be no answer.
        private bool IsDamaged()
        {
            return Native.petal_last_error(core.Filter, null) == Native.Damaged;
        }

        // By the batch of this key, which says so if it lies in damaged bits.
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
            bool ignored = adds && size == 0 && !takesEmptyKey; // as its own library does
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

        // The call for one key says only that it failed: the batch of this key fails again, and
        // says why.
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

        /// <summary>Empty keys that were not added, because filters of this library take none
        /// (DataSketches). The first one is said in a warning of
        /// System.Diagnostics.Trace.</summary>
        public long SkippedKeys => Interlocked.Read(ref skippedKeys);

        private void CountSkipped(long count)
        {
            if (count > 0 && Interlocked.Add(ref skippedKeys, count) == count)
                Trace.TraceWarning(
                    "Petal: empty keys are skipped: filters of this scheme take none");
        }

        // ---- the end ----

        /// <summary>Frees the memory, the map and the lock, after the calls that are at
        /// work.</summary>
        /// <remarks>A writable map is synced first; that may fail as Sync() does.</remarks>
        public void Dispose()
        {
            core.Close(Path);
        }

        /// <summary>Whether it was disposed of.</summary>
        public bool IsClosed => core.Closed;

        /// <summary>Its scheme, size and number of keys, in a few words.</summary>
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
