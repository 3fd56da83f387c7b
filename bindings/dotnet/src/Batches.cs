// Batches.cs - many keys in one call, with the same answers as adding or querying them one by one.
//
// long[] and raw bytes are read in place; their offsets are copied in pieces. Other arrays are
// converted in pieces of up to 4096 keys, with one library call per piece. If a key is refused, all
// keys before it have been processed, and the exception contains its index.
using System;
using System.Collections.Generic;
using System.Runtime.ExceptionServices;

namespace Petal
{
    // A thread's buffers for converting keys.
    internal sealed class Scratch
    {
        internal const int Keys = 4096;
        internal const int Bytes = 1 << 17;

        [ThreadStatic]
        private static Scratch mine;

        internal byte[] Data = new byte[Bytes];
        internal readonly uint[] Offsets = new uint[Keys + 1];
        internal readonly long[] Numbers = new long[Keys];

        // No two calls share buffers: a stream or an enumerator that calls back gets its own.
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
            const long Most = 0x7fffffc7; // maximum array length
            if (used + more > Most)
                throw new ArgumentException("too long for a batch; give it alone");
            Array.Resize(ref Data, (int)Math.Min(Most, Math.Max(used + more, 2L * Data.Length)));
        }
    }

    public sealed unsafe partial class BloomFilter<T>
    {
        // ---- arrays of keys ----

        /// <summary>Adds keys in order.</summary>
        /// <returns>The number of keys that were certainly new.</returns>
        public long AddRange(IEnumerable<T> keys)
        {
            T[] array = keys as T[];
            if (array != null)
                return RunAll(Verb.Add, array, array.Length, null, 0);
            if (keys == null)
                throw new ArgumentNullException("keys");
            long added = 0, before = 0;
            T[] piece = new T[Scratch.Keys];
            using (IEnumerator<T> rest = keys.GetEnumerator()) for (;;)
            {
                ExceptionDispatchInfo broken;
                int count = Fill(rest, piece, out broken);
                added += RunAll(Verb.Add, piece, count, null, before);
                if (broken != null) // the keys before it are added
                    broken.Throw();
                if (count < piece.Length)
                    return added;
                before += count;
            }
        }

        private static int Fill(IEnumerator<T> rest, T[] piece, out ExceptionDispatchInfo broken)
        {
            int count = 0;
            broken = null;
            try
            {
                while (count < piece.Length && rest.MoveNext())
                    piece[count++] = rest.Current;
            }
            catch (Exception exception)
            {
                broken = ExceptionDispatchInfo.Capture(exception);
            }
            return count;
        }

        /// <summary>Adds keys in order.</summary>
        /// <returns>For each key, true if it was certainly new.</returns>
        public bool[] AddBatch(T[] keys) => Answers(Verb.Add, keys);

        /// <summary>Determines whether each key is present.</summary>
        /// <returns>For each key, false if it was certainly never added.</returns>
        public bool[] ContainsBatch(T[] keys) => Answers(Verb.Contains, keys);

        /// <summary>Like ContainsBatch(keys), but writes into the caller's array.</summary>
        /// <returns>The number of true answers.</returns>
        public long ContainsBatch(T[] keys, bool[] answers)
        {
            if (keys == null)
                throw new ArgumentNullException("keys");
            if (answers == null)
                throw new ArgumentNullException("answers");
            if (answers.Length < keys.Length)
                throw new ArgumentException("fewer answers than keys", "answers");
            return RunAll(Verb.Contains, keys, keys.Length, answers, 0);
        }

        /// <summary>Removes keys from a counting filter, in order.</summary>
        /// <returns>For each key, false if it was certainly absent.</returns>
        public bool[] RemoveBatch(T[] keys) => Answers(Verb.Remove, keys);

        /// <summary>Determines whether any key is present, and stops as soon as that is
        /// known.</summary>
        public bool ContainsAny(IEnumerable<T> keys)
        {
            if (keys == null)
                throw new ArgumentNullException("keys");
            core.CheckOpen();
            long index = 0;
            foreach (T key in keys)
                if (ContainsAt(index++, key))
                    return true;
            return false;
        }

        /// <summary>Determines whether all keys are present, and stops as soon as that is
        /// known.</summary>
        public bool ContainsAll(IEnumerable<T> keys)
        {
            if (keys == null)
                throw new ArgumentNullException("keys");
            core.CheckOpen();
            long index = 0;
            foreach (T key in keys)
                if (!ContainsAt(index++, key))
                    return false;
            return true;
        }

        private bool ContainsAt(long index, T key)
        {
            try
            {
                return Contains(key);
            }
            catch (Exception wrong) when (IsOfKey(wrong))
            {
                throw Failure.At(index, wrong);
            }
            catch (FormatException damaged) when (Failure.Of(damaged) != null)
            {
                Failure.Move(damaged, index);
                throw;
            }
        }

        private static bool IsOfKey(Exception wrong)
        {
            return wrong is ArgumentException || wrong is OverflowException;
        }

        // ---- bytes ----

        /// <summary>Adds consecutive keys: key i is data[offsets[i]] up to, but not including,
        /// data[offsets[i + 1]].</summary>
        /// <returns>For each key, true if it was certainly new.</returns>
        public bool[] AddBatch(byte[] data, int[] offsets)
        {
            return RunOffsets(Verb.Add, data, offsets);
        }

        /// <summary>Determines whether each key is present. The keys are consecutive, as in
        /// AddBatch.</summary>
        public bool[] ContainsBatch(byte[] data, int[] offsets)
        {
            return RunOffsets(Verb.Contains, data, offsets);
        }

        /// <summary>Removes keys. They are consecutive, as in AddBatch.</summary>
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
            CheckOffsets(data.Length, offsets);
            bool[] answers = new bool[offsets.Length - 1];
            Scratch scratch = Scratch.Take();
            fixed(byte* at = data) fixed(bool* into = answers) fixed(uint* copy = scratch.Offsets)
            {
                int from = 0;
                do
                {
                    int count = Math.Min(answers.Length - from, Scratch.Keys);
                    // The core checks this copy, since another thread may change the array. The
                    // core treats data of unknown size as empty.
                    for (int i = 0; i <= count; i++)
                        copy[i] = data.Length == 0 ? 0 : (uint)offsets[from + i];
                    NativeBatch batch = Batch(Native.Offsets32, at, count);
                    batch.Offsets = copy;
                    batch.DataBytes = (ulong)data.Length;
                    RunBatch(verb, &batch, (byte*)into + from, from);
                    from += count;
                } while (from < answers.Length);
            }
            scratch.Return();
            return answers;
        }

        private static void CheckOffsets(int size, int[] offsets)
        {
            if (offsets.Length == 0)
                throw new ArgumentException("there is one offset more than keys", "offsets");
            int last = 0;
            for (int i = 0; i < offsets.Length; last = offsets[i++])
                if (offsets[i] < last || offsets[i] > size)
                    throw Failure.At(Math.Max(0, i - 1),
                                     new ArgumentException("its offset is " + offsets[i] +
                                                           ", after " + last + ", in " + size +
                                                           " bytes"));
        }

        // ---- conversion ----

        private bool[] Answers(Verb verb, T[] keys)
        {
            if (keys == null)
                throw new ArgumentNullException("keys");
            bool[] answers = new bool[keys.Length];
            RunAll(verb, keys, keys.Length, answers, 0);
            return answers;
        }

        // `before` is the number of keys that the caller passed before these.
        private long RunAll(Verb verb, T[] keys, int count, bool[] answers, long before)
        {
            fixed(bool* into = answers)
            {
                long[] numbers = (object)keys as long[];
                if (typeof(T) == typeof(long) && numbers != null && keyType != KeyType.I32)
                    fixed(long* at = numbers)
                    {
                        NativeBatch batch = Batch(Native.Integers, at, count);
                        return RunBatch(verb, &batch, (byte*)into, before);
                    }
                Scratch scratch = Scratch.Take();
                long positive = 0;
                int from = 0;
                do
                {
                    byte* part = into == null ? null : (byte*)into + from;
                    positive += RunPiece(verb, keys, ref from, count, scratch, part, before);
                } while (from < count);
                scratch.Return();
                return positive;
            }
        }

        // If a key is refused, the keys before it have been processed.
        private long RunPiece(Verb verb, T[] keys, ref int from, int end, Scratch scratch,
                              byte* answers, long before)
        {
            long first = before + from, positive = 0;
            int count;
            Exception refused;
            bool numbers =
                (kind == Kind.Integer || kind == Kind.Fraction) && keyType != KeyType.I32;
            if (numbers)
                count = ConvertNumbers(keys, from, end, scratch, out refused);
            else
                count = JoinKeys(keys, from, end, scratch, out refused);
            from += count;
            fixed(byte* data = scratch.Data) fixed(long* at = scratch.Numbers)
                fixed(uint* offsets = scratch.Offsets)
            {
                NativeBatch batch = numbers ? Batch(Native.Integers, at, count)
                                            : Batch(Native.Offsets32, data, count);
                if (!numbers)
                    batch.Offsets = offsets;
                positive = RunBatch(verb, &batch, answers, first);
            }
            if (refused != null)
                throw Failure.At(first + count, refused);
            return positive;
        }

        // Doubles are passed as integers with the same bits.
        private static int ConvertNumbers(T[] keys, int from, int end, Scratch scratch,
                                          out Exception refused)
        {
            int room = Math.Min(end - from, Scratch.Keys), count = 0;
            long[] into = scratch.Numbers;
            refused = null;
            try
            {
                for (; count < room; count++)
                    into[count] = ToNumber(keys[from + count]);
            }
            catch (Exception wrong) when (IsOfKey(wrong))
            {
                refused = wrong;
            }
            return count;
        }

        private static long ToNumber(T key)
        {
            if (typeof(T) == typeof(long))
                return (long)(object)key;
            if (typeof(T) == typeof(int))
                return (int)(object)key;
            if (typeof(T) == typeof(double))
                return Keys.ToBits((double)(object)key);
            if (typeof(T) == typeof(float))
                return Keys.ToBits((float)(object)key);
            return Keys.ToInteger(key);
        }

        private int JoinKeys(T[] keys, int from, int end, Scratch scratch, out Exception refused)
        {
            int count = 0, used = 0;
            int room = Math.Min(end - from, Scratch.Keys);
            scratch.Offsets[0] = 0;
            refused = null;
            try
            {
                while (count < room && (count == 0 || used < Scratch.Bytes))
                {
                    used += Join(keys[from + count], scratch, used);
                    scratch.Offsets[++count] = (uint)used;
                }
            }
            catch (Exception wrong) when (IsOfKey(wrong))
            {
                refused = wrong;
            }
            return count;
        }

        private int Join(object key, Scratch scratch, int used)
        {
            if (key == null)
                throw new ArgumentNullException("keys");
            string text = key as string;
            if (text == null || keyType != KeyType.None && keyType != KeyType.Text)
                return JoinOther(key, text, scratch, used);
            const int Short = 1 << 16; // for longer strings, first compute the total length
            scratch.Reserve(used,
                            text.Length < Short ? 3 * text.Length : Native.Utf8.GetByteCount(text));
            return Native.Utf8.GetBytes(text, 0, text.Length, scratch.Data, used);
        }

        private int JoinOther(object key, string text, Scratch scratch, int used)
        {
            Kind of = text != null ? Kind.Text : Keys.KindOf(key);
            if (!Keys.Fits(of, keyType))
                throw Keys.Unfit(keyType, key.GetType());
            byte[] bytes = key as byte[];
            long needed = bytes != null ? bytes.Length : text != null ? 2L * text.Length : 8;
            scratch.Reserve(used, needed);
            int size = (int)needed;
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

        // `first` is the index of the batch's first key among all keys that the caller passed.
        private long RunBatch(Verb verb, NativeBatch* batch, byte* answers, long first)
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
                core.LeaveAdded(asChange, (long)batch->Count);
            }
            if (status < 0 && error.Offset < batch->Count)
                error.Offset += (ulong)first;
            Check(status, &error, Path);
            return (long)outcome.Positive;
        }

        // Some libraries ignore the empty key, so their filters do so here too: it is skipped and
        // counted.
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
