// Batches.cs - tests that for each array type a batch gives the same answers as single keys and as
// the tool, including false positives.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Threading;
using Petal;

static class BatchesTests
{
    const int Members = 5000, Asked = 15000;

    // Adds the first 5000 keys at a rate high enough to cause false positives, and queries all
    // keys.
    static void Alike<T>(Func<int, T> key, Func<T, string> line, string type)
    {
        T[] keys = Enumerable.Range(0, Asked).Select(key).ToArray(),
            members = keys.Take(Members).ToArray();
        FilterOptions options = new FilterOptions { Capacity = Members, Rate = 0.03 };
        using (BloomFilter<T> one = new BloomFilter<T>(options),
               batch = new BloomFilter<T>(options), range = new BloomFilter<T>(options))
        {
            bool[] added = members.Select(one.Add).ToArray();
            Check.That(added.SequenceEqual(batch.AddBatch(members)), type + " new keys");
            Check.Equal(added.Count(isNew => isNew), range.AddRange(members.Select(each => each)),
                        type);
            Check.Same(one.ToBytes(), batch.ToBytes(), type);
            Check.Same(one.ToBytes(), range.ToBytes(), type);
            bool[] answers = keys.Select(one.Contains).ToArray(), into = new bool[Asked];
            Check.That(answers.SequenceEqual(batch.ContainsBatch(keys)), type + " answers");
            Check.Equal(answers.Count(yes => yes), batch.ContainsBatch(keys, into), type);
            Check.That(answers.SequenceEqual(into), type + " answers into an array");
            Check.That(answers.Take(Members).All(yes => yes), type + " members");
            int passed = answers.Skip(Members).Count(yes => yes);
            Check.That(passed > 50 && passed < 1000, type + " false positives: " + passed);
            Check.That(batch.ContainsAll(members) && !batch.ContainsAll(keys) &&
                           batch.ContainsAny(keys),
                       type);
            Check.That(!batch.ContainsAny(keys.Where((each, i) => !answers[i])), type);
            string path = Given.TempFile("batch");
            one.Save(path);
            string found = Given.Run("petal", "check -n --key-type " + type + " " + path,
                                     string.Join("", keys.Select(each => line(each) + "\n")));
            HashSet<int> lines =
                new HashSet<int>(found.Split('\n')
                                     .Where(text => text.Length > 0)
                                     .Select(text => int.Parse(text.Split(':')[0])));
            Check.That(Enumerable.Range(0, Asked).All(i => lines.Contains(i + 1) == answers[i]),
                       type + " the tool");
        }
    }

    static string Round(double value)
    {
        return value.ToString("R", CultureInfo.InvariantCulture);
    }

    public static void strings()
    {
        Alike(i => "k\u00e9y-" + i, key => key, "text");
    }
    public static void long_strings()
    {
        Alike(i => new string('x', i % 700) + i, key => key, "text");
    }
    public static void byte_arrays()
    {
        Alike(i => BitConverter.GetBytes(i * 7919),
              key => BitConverter.ToString(key).Replace("-", ""), "hex");
    }
    public static void longs()
    {
        Alike(i => i * 1234567890123L - 77, key => key.ToString(), "i64");
    }
    public static void ulongs()
    {
        Alike(i => (ulong)i << 40, key => key.ToString(), "i64");
    }
    public static void ints()
    {
        Alike(i => 3 - i * 99991, key => key.ToString(), "i64");
    }
    public static void uints()
    {
        Alike(i => (uint)i * 99991, key => key.ToString(), "i64");
    }
    public static void shorts()
    {
        Alike(i => (short)(i * 3 - 20000), key => key.ToString(), "i64");
    }
    public static void ushorts()
    {
        Alike(i => (ushort)(i * 3), key => key.ToString(), "i64");
    }
    public static void doubles()
    {
        Alike(i => i / 7.0 - 3, Round, "f64");
    }
    public static void floats()
    {
        Alike(i => i / 8f, key => Round(key), "f64");
    }

    public static void bytes_with_offsets_are_the_keys_between_them()
    {
        byte[][] keys =
            Given.Texts(0, 3000).Select(Given.Utf8).Concat(new[] { new byte[0] }).ToArray();
        List<byte> data = new List<byte> { 1, 2, 3 };
        List<int> offsets = new List<int> { 3 };
        foreach (byte[] key in keys)
        {
            data.AddRange(key);
            offsets.Add(data.Count);
        }
        FilterOptions counting =
            new FilterOptions { Capacity = 2000, Rate = 0.05, Scheme = Scheme.Counting };
        using (BloomFilter<string> one = new BloomFilter<string>(counting),
               joined = new BloomFilter<string>(
                   counting)) using (BloomFilter<byte[]> bytes = new BloomFilter<byte[]>(counting))
        {
            bool[] added = Given.Texts(0, 3000).Concat(new[] { "" }).Select(one.Add).ToArray();
            Check.That(added.SequenceEqual(joined.AddBatch(data.ToArray(), offsets.ToArray())),
                       "added");
            Check.That(added.SequenceEqual(bytes.AddBatch(keys)), "added");
            Check.Same(one.ToBytes(), joined.ToBytes(), "offsets");
            Check.Same(one.ToBytes(), bytes.ToBytes(), "byte[][]");
            Check.That(joined.ContainsBatch(data.ToArray(), offsets.ToArray()).All(yes => yes),
                       "contained");
            Check.That(joined.RemoveBatch(data.ToArray(), offsets.ToArray()).All(yes => yes),
                       "removed");
            Check.Equal(0L, joined.Stats().BitsSet, "bits set");
        }
    }

    public static void offsets_that_are_wrong_are_refused_with_their_place()
    {
        BloomFilter<byte[]> filter = new BloomFilter<byte[]>(100, 0.01);
        byte[] data = new byte[10];
        Failure backwards =
            Check.Fails(() => filter.AddBatch(data, new[] { 0, 5, 4 }), "backwards");
        Check.Equal(1L, backwards.Offset, "its key");
        Check.Fails(() => filter.AddBatch(data, new[] { 0, 11 }), "past the data");
        Check.Fails(() => filter.AddBatch(data, new[] { -1, 3 }), "negative");
        Check.Throws<ArgumentException>(() => filter.AddBatch(new byte[0], new[] { 0, 1 }),
                                        "past no data");
        Check.Throws<ArgumentException>(() => filter.AddBatch(data, new int[0]), "no offset");
        Check.Equal(0, filter.AddBatch(data, new[] { 3 }).Length, "no key");
        Check.Equal(0L, filter.Info().Items, "nothing was added");
    }

    // If a key at any index is refused, the failure names the index, and all keys before it were
    // added.
    static void RefusedAt<T>(int at, T wrong, Func<int, T> key)
    {
        T[] keys = Enumerable.Range(0, 9000).Select(key).ToArray();
        keys[at] = wrong;
        foreach (string format in new[] { null, "datasketches" })
            foreach (IEnumerable<T> batch in new[] { keys, keys.Select(each => each) })
                using (BloomFilter<T> filter = new BloomFilter<T>(
                           new FilterOptions { Capacity = 9000, Rate = 0.01, Format = format }),
                       before = filter.EmptyLike())
                {
                    Exception thrown =
                        Check.Throws<Exception>(() => filter.AddRange(batch), at + " " + wrong);
                    Check.Equal(at, Failure.Of(thrown).Offset, "index");
                    Check.That(thrown.Message.StartsWith("key " + at), thrown.Message);
                    Check.That(thrown is ArgumentException || thrown is OverflowException, thrown);
                    before.AddRange(keys.Take(at));
                    Check.Same(before.ToBytes(), filter.ToBytes(), "the keys before " + at);
                    thrown = Check.Throws<Exception>(() => filter.ContainsBatch(keys), at);
                    Check.Equal(at, Failure.Of(thrown).Offset, "index");
                    thrown = Check.Throws<Exception>(() => filter.ContainsAll(batch), at);
                    Check.Equal(at, Failure.Of(thrown).Offset, "index");
                }
    }

    public static void all_keys_before_one_that_is_refused_are_in()
    {
        foreach (int at in new[] { 0, 1, 500, 4096, 8500 })
        {
            RefusedAt(at, null, i => "key-" + i);
            RefusedAt(at, "a\ud800", i => "key-" + i);
            RefusedAt(at, null, i => BitConverter.GetBytes(i));
            RefusedAt(at, 1UL << 63, i => (ulong)i);
            RefusedAt(at, DateTime.MinValue, i => i % 2 == 0 ? (object)i : "key-" + i);
            RefusedAt(at, null, i => i % 2 == 0 ? (object)i : "key-" + i);
        }
    }

    static IEnumerable<string> Breaking(int at)
    {
        for (int i = 0; i < at; i++)
            yield return "key-" + i;
        throw new InvalidOperationException("broken");
    }

    public static void all_keys_before_an_enumerator_throws_are_in()
    {
        BloomFilter<string> filter = new BloomFilter<string>(10000, 0.01),
                            same = filter.EmptyLike();
        InvalidOperationException thrown = Check.Throws<InvalidOperationException>(
            () => filter.AddRange(Breaking(5000)), "broken");
        Check.Equal("broken", thrown.Message, "its own");
        same.AddRange(Given.Texts(0, 5000));
        Check.Same(same.ToBytes(), filter.ToBytes(), "the keys before");
    }

    public static void a_full_filter_names_the_index_wherever_the_keys_come_from()
    {
        foreach (bool array in new[] { true, false })
            using (BloomFilter<string> filter = new BloomFilter<string>(
                       new FilterOptions { Capacity = 6000, Rate = 0.01, RefuseOverfull = true }))
            {
                string[] keys = Given.Texts(0, 20000);
                Exception thrown = Check.Throws<InvalidOperationException>(
                    () => filter.AddRange(array ? keys : keys.Select(each => each)), "full");
                Check.Equal(filter.Info().Items, Failure.Of(thrown).Offset, "the keys before");
            }
    }

    // The core must check its own copy of the offsets, not trust an earlier check.
    public static void offsets_that_another_thread_changes_break_nothing()
    {
        const int Count = 8000;
        int[] offsets = Enumerable.Range(0, Count + 1).ToArray();
        byte[] data = new byte[Count];
        BloomFilter<byte[]> filter = new BloomFilter<byte[]>(1000, 0.01);
        bool done = false;
        Thread changing = new Thread(() =>
                                     {
                                         for (int i = 0; !Volatile.Read(ref done); i++)
                                             Volatile.Write(ref offsets[5000],
                                                            i % 2 == 0   ? 5000
                                                            : i % 4 == 1 ? 1 << 30
                                                                         : -(1 << 30));
    });
    changing.Start();
    for (int i = 0; i < 3000; i++)
        try
        {
            filter.ContainsBatch(i % 100 == 0 ? new byte[0] : data, offsets);
        }
        catch (ArgumentException)
        {
        }
    Volatile.Write(ref done, true);
    changing.Join();
}

public static void mixed_keys_are_those_of_their_types()
{
    object[] keys = { "7", 7L, 7.0, new byte[] { 55, 55 }, (byte)7, 7.0f };
    using (BloomFilter<object> mixed = new BloomFilter<object>(100, 0.001))
    {
        Check.That(
            mixed.AddBatch(keys).SequenceEqual(new[] { true, true, true, true, false, false }),
            "added");
        Check.That(keys.All(mixed.Contains), "contained");
        byte[] bytes = mixed.ToBytes();
        Check.That(BloomFilter<string>.FromBytes(bytes).Contains("7"), "text");
        Check.That(BloomFilter<int>.FromBytes(bytes).Contains(7), "int");
        Check.That(BloomFilter<double>.FromBytes(bytes).Contains(7), "double");
    }
}

public static void filters_of_recorded_types_take_those()
{
    FilterOptions options =
        new FilterOptions { Capacity = 100, Rate = 0.001, KeyType = KeyType.I32 };
    BloomFilter<int> ints = new BloomFilter<int>(options);
    Check.Equal(2L, ints.AddRange(new[] { 1, -1 }), "new");
    BloomFilter<byte[]> bytes = BloomFilter<byte[]>.FromBytes(ints.ToBytes());
    Check.That(bytes.Contains(new byte[] { 1, 0, 0, 0 }) && ints.Contains(-1) &&
                   !bytes.Contains(new byte[] { 1, 0, 0, 0, 0, 0, 0, 0 }),
               "4 bytes");
    BloomFilter<long> longs = BloomFilter<long>.FromBytes(ints.ToBytes());
    Check.That(
        longs.ContainsBatch(new long[] { 1, -1, 2 }).SequenceEqual(new[] { true, true, false }),
        "4 bytes");
    Check.Throws<OverflowException>(() => longs.Contains(1L << 40), "outside");
    Check.Throws<OverflowException>(() => longs.ContainsBatch(new[] { 1L << 40 }), "outside");
    Check.Throws<ArgumentException>(() => BloomFilter<string>.FromBytes(ints.ToBytes()),
                                    "other keys");
    BloomFilter<object> any = BloomFilter<object>.FromBytes(ints.ToBytes());
    Check.Throws<ArgumentException>(() => any.Contains("1"), "other keys");
    Check.Throws<ArgumentException>(() => any.ContainsBatch(new object[] { 1, 1.0 }), "other keys");
    options.KeyType = KeyType.Utf16LE;
    BloomFilter<string> chars = new BloomFilter<string>(options);
    Check.That(chars.Add("\ud800") && !chars.AddBatch(new[] { "\ud800" })[0], "any chars");
    bytes = BloomFilter<byte[]>.FromBytes(chars.ToBytes());
    Check.That(bytes.Contains(new byte[] { 0, 0xd8 }), "UTF-16LE");
}

public static void ulongs_outside_overflow()
{
    BloomFilter<ulong> filter = new BloomFilter<ulong>(10, 0.01);
    Check.Throws<OverflowException>(() => filter.Add(1UL << 63), "2^63");
    Check.Throws<OverflowException>(() => filter.AddBatch(new[] { 1UL << 63 }), "2^63");
}

public static void empty_keys_that_a_library_ignores_are_skipped_and_counted()
{
    FilterOptions options =
        new FilterOptions { Capacity = 100, Rate = 0.01, Format = "datasketches" };
    BloomFilter<string> filter = new BloomFilter<string>(options),
                        plain = new BloomFilter<string>(options);
    Check.That(filter.AddBatch(new[] { "", "a", "", "", "b" })
                   .SequenceEqual(new[] { false, true, false, false, true }),
               "added");
    Check.That(!filter.Add(""), "alone");
    Check.Equal(4L, filter.SkippedKeys, "skipped");
    plain.AddRange(new[] { "a", "b" });
    Check.Same(plain.ToBytes(), filter.ToBytes(), "bytes");
}

public static void a_lone_surrogate_is_no_text()
{
    BloomFilter<string> filter = new BloomFilter<string>(10, 0.01);
    Check.Throws<ArgumentException>(() => filter.Contains("\ud800"), "a lone surrogate");
    Check.Throws<ArgumentException>(() => filter.AddBatch(new[] { "a\udc00" }), "a lone surrogate");
}
}
