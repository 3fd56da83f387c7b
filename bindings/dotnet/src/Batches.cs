// Batches.cs - many keys in one call, answered as one key at a time.
//
// long[], and raw bytes with their offsets, are read where they are. Other arrays are converted in
// pieces of up to 4096 keys, each of which is one call of the library.
using System;
using System.Collections.Generic;

namespace Petal
{
    // What a thread converts keys in.
    internal sealed class Scratch
    {
        internal const int Keys = 4096;
        internal const int Bytes = 1 << 17;

        [ThreadStatic]
        private static Scratch mine;

        internal byte[] Data = new byte[Bytes];
        internal readonly uint[] Offsets = new uint[Keys + 1];
        internal readonly long[] Numbers = new long[Keys];

        // None is shared by two calls at once: a stream or an enumerator that calls back gets one
        // of its own.
        internal static Scratch Take()
        {
            Scratch taken = mine ?? new Scratch();
            mine = null;
            return taken;
        }

        internal void Return()
        {
            if (Data.Length > 8 * Bytes)
                Data = new byte[Bytes];
            mine = this;
        }

        internal void Reserve(int used, long more)
        {
            if (used + more <= Data.Length)
                return;
            Array.Resize(ref Data, checked((int)Math.Max(used + more, 2L * Data.Length)));
        }
    }

    public sealed unsafe partial class BloomFilter<T>
    {
        // ---- arrays of keys ----

        /// <summary>Adds keys in order.</summary>
        /// <returns>How many were certainly new.</returns>
        public long AddRange(IEnumerable<T> keys)
        {
            T[] array = keys as T[];
            if (array != null)
                return RunAll(Verb.Add, array, null);
            if (keys == null)
                throw new ArgumentNullException("keys");
            long added = 0;
            List<T> piece = new List<T>(Scratch.Keys);
            foreach (T key in keys)
            {
                piece.Add(key);
                if (piece.Count < Scratch.Keys)
                    continue;
                added += RunAll(Verb.Add, piece.ToArray(), null);
                piece.Clear();
            }
            return added + RunAll(Verb.Add, piece.ToArray(), null);
        }

        /// <summary>Adds keys in order.</summary>
        /// <returns>For each key, true: it was certainly new.</returns>
        public bool[] AddBatch(T[] keys) => Answers(Verb.Add, keys);

        /// <summary>Whether each key is in.</summary>
        /// <returns>For each key, false: it was certainly never added.</returns>
        public bool[] ContainsBatch(T[] keys) => Answers(Verb.Contains, keys);

        /// <summary>Like ContainsBatch(keys), into an array of the caller's.</summary>
        /// <returns>How many are true.</returns>
        public long ContainsBatch(T[] keys, bool[] answers)
        {
            if (keys == null)
                throw new ArgumentNullException("keys");
            if (answers == null)
                throw new ArgumentNullException("answers");
            if (answers.Length < keys.Length)
                throw new ArgumentException("fewer answers than keys", "answers");
            return RunAll(Verb.Contains, keys, answers);
        }

        /// <summary>Takes keys out of a counting filter, in order.</summary>
        /// <returns>For each key, false: it was certainly not in.</returns>
        public bool[] RemoveBatch(T[] keys) => Answers(Verb.Remove, keys);

        /// <summary>Whether any of the keys is in; ends as soon as it knows.</summary>
        public bool ContainsAny(IEnumerable<T> keys)
        {
            if (keys == null)
                throw new ArgumentNullException("keys");
            core.CheckOpen();
            foreach (T key in keys)
                if (Contains(key))
                    return true;
            return false;
        }

        /// <summary>Whether all of the keys are in; ends as soon as it knows.</summary>
        public bool ContainsAll(IEnumerable<T> keys)
        {
            if (keys == null)
                throw new ArgumentNullException("keys");
            core.CheckOpen();
            foreach (T key in keys)
                if (!Contains(key))
                    return false;
            return true;
        }

        // ---- bytes ----

        /// <summary>Adds keys that lie one after the other: key i is data[offsets[i]] up to, and
        /// without, data[offsets[i + 1]].</summary>
        /// <returns>For each key, true: it was certainly new.</returns>
        public bool[] AddBatch(byte[] data, int[] offsets)
        {
            return RunOffsets(Verb.Add, data, offsets);
        }

        /// <summary>Whether each key is in, of keys that lie one after the other: see
        /// AddBatch.</summary>
        public bool[] ContainsBatch(byte[] data, int[] offsets)
        {
            return RunOffsets(Verb.Contains, data, offsets);
        }

        /// <summary>Takes keys out that lie one after the other: see AddBatch.</summary>
        public bool[] RemoveBatch(byte[] data, int[] offsets)
        {
            return RunOffsets(Verb.Remove, data, offsets);
        }

        private bool[] RunOffsets(Verb verb, byte[] data, int[] offsets)
        {
            if (data == null)
                throw new ArgumentNullException("data");
            if (offsets == null)
                throw new ArgumentNullException("offsets");
            if (offsets.Length == 0)
                throw new ArgumentException("there is one offset more than keys", "offsets");
            // The core would take an empty array for one whose size is not known.
            for (int i = 0; data.Length == 0 && i < offsets.Length; i++)
                if (offsets[i] != 0)
                    throw new ArgumentException("offsets past the data", "offsets");
            bool[] answers = new bool[offsets.Length - 1];
            fixed(byte* at = data) fixed(int* first = offsets) fixed(bool* into = answers)
            {
                NativeBatch batch = Batch(Native.Offsets32, at, answers.Length);
                batch.Offsets = first;
                batch.DataBytes = (ulong)data.Length;
                RunBatch(verb, &batch, (byte*)into, 0);
            }
            return answers;
        }

        // ---- conversion ----

        private bool[] Answers(Verb verb, T[] keys)
        {
            if (keys == null)
                throw new ArgumentNullException("keys");
            bool[] answers = new bool[keys.Length];
            RunAll(verb, keys, answers);
            return answers;
        }

        private long RunAll(Verb verb, T[] keys, bool[] answers)
        {
            if (default(T) == null)
                for (int i = 0; i < keys.Length; i++)
                    if (keys[i] == null)
                        throw new ArgumentNullException("keys", "key " + i + " is null");
            fixed(bool* into = answers)
            {
                long[] numbers = (object)keys as long[];
                if (typeof(T) == typeof(long) && numbers != null && keyType != KeyType.I32)
                    fixed(long* at = numbers)
                    {
                        NativeBatch batch = Batch(Native.Integers, at, numbers.Length);
                        return RunBatch(verb, &batch, (byte*)into, 0);
                    }
                Scratch scratch = Scratch.Take();
                long positive = 0;
                int from = 0;
                do
                {
                    byte* part = into == null ? null : (byte*)into + from;
                    positive += RunPiece(verb, keys, ref from, scratch, part);
                } while (from < keys.Length);
                scratch.Return();
                return positive;
            }
        }

        private long RunPiece(Verb verb, T[] keys, ref int from, Scratch scratch, byte* answers)
        {
            int first = from, count;
            bool numbers =
                (kind == Kind.Integer || kind == Kind.Fraction) && keyType != KeyType.I32;
            if (numbers)
                count = ConvertNumbers(keys, first, scratch);
            else
                count = JoinKeys(keys, first, scratch);
            from += count;
            fixed(byte* data = scratch.Data) fixed(long* at = scratch.Numbers)
                fixed(uint* offsets = scratch.Offsets)
            {
                NativeBatch batch = numbers ? Batch(Native.Integers, at, count)
                                            : Batch(Native.Offsets32, data, count);
                if (!numbers)
                    batch.Offsets = offsets;
                return RunBatch(verb, &batch, answers, first);
            }
        }

        // Doubles are the integers of their bits.
        private static int ConvertNumbers(T[] keys, int from, Scratch scratch)
        {
            int count = Math.Min(keys.Length - from, Scratch.Keys);
            long[] into = scratch.Numbers;
            for (int i = 0; i < count; i++)
            {
                T key = keys[from + i];
                if (typeof(T) == typeof(long))
                    into[i] = (long)(object)key;
                else if (typeof(T) == typeof(int))
                    into[i] = (int)(object)key;
                else if (typeof(T) == typeof(double))
                    into[i] = Keys.ToBits((double)(object)key);
                else if (typeof(T) == typeof(float))
                    into[i] = Keys.ToBits((float)(object)key);
                else
                    into[i] = Keys.ToInteger(key);
            }
            return count;
        }

        private int JoinKeys(T[] keys, int from, Scratch scratch)
        {
            int count = 0, used = 0;
            int end = Math.Min(keys.Length - from, Scratch.Keys);
            scratch.Offsets[0] = 0;
            while (count < end && (count == 0 || used < Scratch.Bytes))
            {
                object key = keys[from + count];
                string text = key as string;
                if (text != null && (keyType == KeyType.None || keyType == KeyType.Text))
                {
                    scratch.Reserve(used, 3L * text.Length);
                    used += Native.Utf8.GetBytes(text, 0, text.Length, scratch.Data, used);
                }
                else
                    used += JoinOther(key, text, scratch, used);
                scratch.Offsets[++count] = (uint)used;
            }
            return count;
        }

        private int JoinOther(object key, string text, Scratch scratch, int used)
        {
            Kind of = text != null ? Kind.Text : Keys.KindOf(key);
            if (!Keys.Fits(of, keyType))
                throw Keys.Unfit(keyType, key.GetType());
            byte[] bytes = key as byte[];
            int size = bytes != null ? bytes.Length : text != null ? 2 * text.Length : 8;
            scratch.Reserve(used, size);
            if (bytes != null)
                Buffer.BlockCopy(bytes, 0, scratch.Data, used, size);
            else if (text != null)
                for (int i = 0; i < text.Length; i++)
                {
                    scratch.Data[used + 2 * i] = (byte)text[i];
                    scratch.Data[used + 2 * i + 1] = (byte)(text[i] >> 8);
                }
            else
                fixed(byte* at = &scratch.Data[used])
                {
                    if (of == Kind.Fraction)
                        return Keys.PutLittle(at, Keys.ToBits(Convert.ToDouble(key)), 8);
                    long value = Keys.ToInteger(key);
                    if (keyType == KeyType.I32)
                        return Keys.PutLittle(at, checked((int)value), 4);
                    return Keys.PutLittle(at, value, 8);
                }
            return size;
        }

        // ---- calls ----

        private static NativeBatch Batch(uint layout, void* data, int count)
        {
            NativeBatch batch = new NativeBatch();
            batch.Size = (uint)sizeof(NativeBatch);
            batch.Layout = layout;
            batch.Data = data;
            batch.Count = (ulong)count;
            return batch;
        }

        // first: the number of its first key among all that the caller gave.
        private long RunBatch(Verb verb, NativeBatch* batch, byte* answers, int first)
        {
            if (verb == Verb.Add && !takesEmptyKey && batch->Layout == Native.Offsets32 &&
                batch->Count > 0)
                return RunWithoutEmpty(batch, answers, first);
            return RunPlain(verb, batch, answers, first);
        }

        private long RunPlain(Verb verb, NativeBatch* batch, byte* answers, long first)
        {
            NativeOutcome outcome = new NativeOutcome();
            outcome.Size = (uint)sizeof(NativeOutcome);
            NativeError error;
            int status;
            if (verb == Verb.Contains)
            {
                core.EnterQuery();
                status = Native.petal_contains_batch(core.Filter, batch, answers, &outcome, &error);
                core.LeaveQuery();
            }
            else
            {
                bool adds = verb == Verb.Add;
                bool asChange = adds ? core.EnterAdd() : EnterChange();
                status =
                    adds ? Native.petal_add_batch(core.Filter, batch, answers, &outcome, &error)
                         : Native.petal_remove_batch(core.Filter, batch, answers, &outcome, &error);
                core.Leave(asChange);
            }
            if (status < 0 && error.Offset < batch->Count)
                error.Offset += (ulong)first;
            Check(status, &error, Path);
            return (long)outcome.Positive;
        }

        // Some libraries ignore the empty key, and so do their filters here: left out, and counted.
        private long RunWithoutEmpty(NativeBatch* batch, byte* answers, long first)
        {
            uint* offsets = (uint*)batch->Offsets;
            NativeBatch some = *batch;
            ulong count = batch->Count, from = 0;
            long positive = 0, skipped = 0;
            while (from < count)
            {
                ulong to = from;
                while (to < count && offsets[to] != offsets[to + 1])
                    to++;
                some.Offsets = offsets + from;
                some.Count = to - from;
                byte* part = answers == null ? null : answers + from;
                if (to > from)
                    positive += RunPlain(Verb.Add, &some, part, first + (long)from);
                if (to < count)
                    skipped++;
                from = to + 1;
            }
            CountSkipped(skipped);
            return positive;
        }
    }
}
