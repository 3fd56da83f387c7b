// Misuse.cs - misuse throws .NET's own exceptions, and nothing leaks or breaks: closed filters,
// absurd sizes, wrong arguments, 100,000 filters.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Petal;

static class MisuseTests
{
    static readonly Dictionary<string, Action<BloomFilter<string>>> calls =
        new Dictionary<string, Action<BloomFilter<string>>> {
            { "Add", f => f.Add("a") },
            { "Contains", f => f.Contains("a") },
            { "Remove", f => f.Remove("a") },
            { "HashKey", f => f.HashKey("a") },
            { "AddRange", f => f.AddRange(new[] { "a" }) },
            { "AddRange of none", f => f.AddRange(new string[0]) },
            { "AddRange of a list", f => f.AddRange(new List<string>()) },
            { "AddBatch", f => f.AddBatch(new[] { "a" }) },
            { "AddBatch of bytes", f => f.AddBatch(new byte[1], new[] { 0, 1 }) },
            { "ContainsBatch", f => f.ContainsBatch(new[] { "a" }) },
            { "ContainsBatch of bytes", f => f.ContainsBatch(new byte[1], new[] { 0, 1 }) },
            { "RemoveBatch", f => f.RemoveBatch(new[] { "a" }) },
            { "ContainsAny", f => f.ContainsAny(new string[0]) },
            { "ContainsAll", f => f.ContainsAll(new string[0]) },
            { "Merge", f => f.Merge(new BloomFilter<string>(10, 0.01)) },
            { "Merge of it", f => new BloomFilter<string>(10, 0.01).Merge(f) },
            { "Merge with itself", f => f.Merge(f) },
            { "Intersect", f => f.Intersect(f) },
            { "Compare", f => f.Compare(f) },
            { "Compare with it", f => new BloomFilter<string>(10, 0.01).Compare(f) },
            { "Copy", f => f.Copy() },
            { "EmptyLike", f => f.EmptyLike() },
            { "DropCounts", f => f.DropCounts() },
            { "Fold", f => f.Fold() },
            { "FoldToBits", f => f.FoldToBits(512) },
            { "Info", f => f.Info() },
            { "Info of a layer", f => f.Info(0) },
            { "BitSize", f => f.BitSize.ToString() },
            { "FalsePositiveProbability", f => f.FalsePositiveProbability() },
            { "Stats", f => f.Stats() },
            { "ContentId", f => f.ContentId() },
            { "IsOverfull", f => f.IsOverfull.ToString() },
            { "Metadata", f => f.Metadata = new byte[1] },
            { "reading Metadata", f => f.Metadata.ToString() },
            { "KeyType", f => f.KeyType.ToString() },
            { "Save", f => f.Save("/nowhere/at/all") },
            { "Sync", f => f.Sync() },
            { "Verify", f => f.Verify() },
            { "ToBytes", f => f.ToBytes() },
            { "Write", f => f.Write(new MemoryStream()) },
            { "Diff", f => f.Diff(f) },
            { "Diff to it", f => new BloomFilter<string>(10, 0.01).Diff(f) },
            { "ApplyPatch", f => f.ApplyPatch(new byte[1]) },
            { "Clear", f => f.Clear() },
            { "Share", f => f.Share() },
            { "Freeze", f => f.Freeze() },
            { "Advance", f => f.Advance(1) },
        };

    public static void each_call_of_a_closed_filter_is_refused()
    {
        BloomFilter<string> filter = new BloomFilter<string>(10, 0.01);
        filter.Dispose();
        filter.Dispose();
        foreach (var call in calls)
            Check.Equal(
                "the filter is closed",
                Check.Throws<ObjectDisposedException>(() => call.Value(filter), call.Key).Message,
                call.Key);
        BloomFilter<long> integers = new BloomFilter<long>(10, 0.01);
        integers.Dispose();
        Check.Throws<ObjectDisposedException>(() => integers.Contains(1), "Contains(long)");
        Check.Throws<ObjectDisposedException>(() => integers.ContainsBatch(new long[5]),
                                              "ContainsBatch(long[])");
        Check.That(filter.IsClosed && filter.ToString().Contains("closed"), "it says so");
    }

    public static void other_types_are_no_keys()
    {
        Check.Throws<NotSupportedException>(() => new BloomFilter<bool>(10, 0.01), "bool");
        Check.Throws<NotSupportedException>(() => new BloomFilter<char>(10, 0.01), "char");
        Check.Throws<NotSupportedException>(() => new BloomFilter<decimal>(10, 0.01), "decimal");
        Check.Throws<NotSupportedException>(() => new BloomFilter<Guid>(10, 0.01), "Guid");
        Check.Throws<NotSupportedException>(() => new BloomFilter<DayOfWeek>(10, 0.01), "an enum");
        Check.Throws<NotSupportedException>(() => new BloomFilter<int[]>(10, 0.01), "int[]");
        Check.Throws<NotSupportedException>(
            () => BloomFilter<DateTime>.Open("vectors/petal/blocked.petal"), "DateTime");
        BloomFilter<object> any = new BloomFilter<object>(10, 0.01);
        foreach (object wrong in new object[] { true, 'a', 1m, Guid.Empty, DayOfWeek.Friday,
                                                new object(), new[] { 1 } })
        {
            ArgumentException thrown = Check.Throws<ArgumentException>(() => any.Add(wrong), wrong);
            Check.That(thrown.Message.StartsWith(
                           "a key is string, byte[], a whole number, float or double, not "),
                       thrown.Message);
            Check.Throws<ArgumentException>(() => any.ContainsBatch(new[] { wrong }), wrong);
        }
        Check.Throws<ArgumentNullException>(() => any.Add(null), "null");
        Check.Throws<ArgumentNullException>(() => new BloomFilter<string>(10, 0.01).Contains(null),
                                            "null");
        Check.Throws<ArgumentNullException>(() => new BloomFilter<byte[]>(10, 0.01).Contains(null),
                                            "null");
        Check.Equal(0L, any.Info().Items, "nothing was added");
    }

    public static void wrong_options_are_argument_exceptions()
    {
        foreach (FilterOptions options in new[] {
                     new FilterOptions { Capacity = -1, Rate = 0.01 },
                     new FilterOptions { Bits = -1, Hashes = 3 },
                     new FilterOptions { Capacity = 10, Rate = 0.01, Hashes = -1 },
                     new FilterOptions { Capacity = 10, Rate = 0.01, Scheme = (Scheme)77 },
                     new FilterOptions { Capacity = 10, Rate = 0.01, Secret = new byte[3] },
                     new FilterOptions { Capacity = 10, Rate = 0.01, Format = "no such" },
                     new FilterOptions { Capacity = 10, Rate = 0.01, Format = "a\0b" },
                     new FilterOptions { Capacity = 10, Rate = 0.01, Metadata = new byte[65537] },
                     new FilterOptions { Window = 10, Rate = 0.01,
                                         WindowTime = TimeSpan.FromDays(-1) },
                     new FilterOptions { Capacity = 10, Rate = 2 },
                     new FilterOptions { Capacity = 10, Rate = 0.01, KeyType = (KeyType)99 }
                 })
        {
            Check.Throws<ArgumentException>(() => new BloomFilter<string>(options), "a filter");
            Check.Throws<ArgumentException>(() => Library.Plan(options), "a plan");
        }
        Check.Throws<ArgumentException>(() => new BloomFilter<string>(0, 0.01), "no keys");
        Check.Throws<ArgumentException>(() => new BloomFilter<string>(-1, 0.01), "fewer keys");
        Check.Throws<ArgumentException>(() => new BloomFilter<string>(0, 0), "no bits");
        Check.Throws<ArgumentNullException>(() => new BloomFilter<string>(null), "null");
        Check.Throws<ArgumentNullException>(() => Library.Plan(null), "null");
    }

    public static void other_misuse()
    {
        BloomFilter<string> filter = new BloomFilter<string>(10, 0.01);
        foreach (Action wrong in new Action[] {
                     () => filter.AddRange(null), () => filter.AddBatch(null),
                     () => filter.ContainsBatch(null), () => filter.ContainsAny(null),
                     () => filter.ContainsAll(null), () => filter.Merge(null),
                     () => filter.Compare(null), () => filter.Save(null), () => filter.Write(null),
                     () => BloomFilter<string>.Open(null),
                     () => BloomFilter<string>.FromBytes(null),
                     () => BloomFilter<string>.Read(null), () => filter.AddBatch(null, null),
                     () => Library.Recognize(null), () => Library.ShardOf((string)null, 1),
                     () => Library.ParquetFilters(null), () => Failure.Of(null),
                     () => BloomFilter<string>.Open("x", (OpenOptions)null),
                     () => filter.ContainsBatch(new string[1], null)
                 })
            Check.Throws<ArgumentNullException>(wrong, "null");
        Check.Throws<ArgumentException>(() => filter.ContainsBatch(new string[2], new bool[1]),
                                        "fewer answers");
        Check.Throws<ArgumentException>(() => Library.ShardOf("a", 0), "no shards");
        Check.Throws<ArgumentException>(() => Library.ShardOf("a", 1L << 32), "too many shards");
        Check.Throws<ArgumentException>(() => BloomFilter<string>.Open("a\0b"), "a NUL");
        Check.Throws<ArgumentException>(
            () => BloomFilter<string>.FromBytes(new byte[5], 3, 3, new OpenOptions()),
            "past the array");
        Check.Throws<ArgumentException>(() => filter.Info(-1), "no layer");
        Check.Throws<NotSupportedException>(() => filter.Remove("a"), "no counts");
        Check.Throws<NotSupportedException>(() => filter.Advance(5), "no window");
        Check.Throws<ArgumentException>(() => filter.Advance(-5), "before 1970");
        Check.Throws<NotSupportedException>(() => filter.DropCounts(), "no counts");
    }

    public static void too_much_memory_is_said()
    {
        // Several times 32 TiB, which is more than any machine's free address space.
        List<BloomFilter<string>> held = new List<BloomFilter<string>>();
        OutOfMemoryException thrown = Check.Throws<OutOfMemoryException>(
            () =>
            {
                for (int i = 0; i < 8; i++)
                    held.Add(
                        new BloomFilter<string>(new FilterOptions { Bits = 1L << 48, Hashes = 2 }));
            },
            "32 TiB");
        Check.Equal("out of memory", Failure.Of(thrown).Status, "status");
        foreach (BloomFilter<string> filter in held)
            filter.Dispose();
    }

    // Private memory of this process in KiB.
    static long Resident()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        return long.Parse(File.ReadLines("/proc/self/status")
                              .First(line => line.StartsWith("RssAnon"))
                              .Split((char[])null, StringSplitOptions.RemoveEmptyEntries)[1]);
    }

    static void MakeAndClose(int count, bool closes)
    {
        for (int i = 0; i < count; i++)
        {
            BloomFilter<string> filter = new BloomFilter<string>(1000, 0.01);
            filter.Add("a");
            if (closes)
                filter.Dispose();
        }
    }

    // 100,000 leaked filters would be 250 MiB. Filters that are not closed hold memory until the
    // collector runs.
    public static void a_hundred_thousand_filters_leave_nothing()
    {
        foreach (bool closes in new[] { true, false })
        {
            MakeAndClose(20000, closes);
            long before = Resident();
            MakeAndClose(100000, closes);
            long more = Resident() - before;
            Check.That(more < (closes ? 8192 : 65536),
                       "closed " + closes + ": " + more + " KiB more");
        }
    }

    // The peak memory of this process in MiB.
    static long Peak()
    {
        return long.Parse(File.ReadLines("/proc/self/status")
                              .First(line => line.StartsWith("VmHWM"))
                              .Split((char[])null, StringSplitOptions.RemoveEmptyEntries)[1]) /
               1024;
    }

    // These filters are never closed, and the heap is so large that the collector has no reason to
    // run.
    public static void a_thousand_filters_of_a_megabyte_stay_below_512()
    {
        long[] few = Given.Integers(3000), keys = Given.Integers(100000);
        for (int i = 0; i < 1000; i++)
            new BloomFilter<long>(1000000, 0.01).AddRange(few); // 1.2 MB, all its pages
        Check.That(Peak() < 512, "made: " + Peak() + " MiB");
        for (int i = 0; i < 1000; i++)
            new BloomFilter<long>(new FilterOptions { Capacity = 100, Rate = 1e-9, Grow = true })
                .AddRange(keys); // at least 0.7 MB
        Check.That(Peak() < 512, "grown: " + Peak() + " MiB");
    }

    // A map holds a file descriptor, and a process may have only 1024.
    public static void maps_that_nobody_closes_do_not_exhaust_the_file_descriptors()
    {
        string path = Given.TempFile("maps");
        new BloomFilter<string>(1000, 0.01).Save(path);
        for (int i = 0; i < 5000; i++)
            BloomFilter<string>.Open(path).Contains("a");
    }

    static void Fails(Action call)
    {
        try
        {
            call();
        }
        catch (Exception)
        {
            return;
        }
        throw new Exception("it should fail");
    }

    static void Everything(byte[] image, string[] texts)
    {
        using (BloomFilter<string> f = new BloomFilter<string>(new FilterOptions {
                   Capacity = 100, Rate = 0.01, Metadata = new byte[100]
               })) using (BloomFilter<string> copy = f.Copy(),
                          read = BloomFilter<string>.FromBytes(image))
        {
            f.Add("a");
            f.AddRange(texts);
            f.ContainsBatch(texts);
            f.Merge(copy);
            f.Compare(copy);
            f.Info();
            f.Stats();
            f.Metadata = f.Metadata;
            f.Write(new MemoryStream());
            BloomFilter<string>.Read(new MemoryStream(image)).Dispose();
            Library.Formats();
            Library.Recognize(image);
            Fails(() => f.Add(null));
            Fails(() => f.AddRange(new[] { "\ud800" }));
            Fails(() => f.AddBatch(new byte[1], new[] { 0, 2 }));
            Fails(() => BloomFilter<string>.Open("/nowhere"));
            Fails(() => BloomFilter<string>.FromBytes(new byte[1]));
            Fails(() => BloomFilter<string>.Read(new MemoryStream(new byte[1])));
            Fails(() => f.ToBytes("guava"));
            Fails(() => f.Merge(read));
        }
    }

    public static void no_call_leaks()
    {
        byte[] image = new BloomFilter<string>(50, 0.01).ToBytes();
        string[] texts = Given.Texts(0, 100);
        for (int i = 0; i < 300; i++)
            Everything(image, texts);
        // A leak would show in every round; the collector's heap grows only in one or two.
        long more = long.MaxValue;
        for (int round = 0; round < 4; round++)
        {
            long before = Resident();
            for (int i = 0; i < 500; i++)
                Everything(image, texts);
            more = Math.Min(more, Resident() - before);
        }
        Check.That(more < 2048, more + " KiB more");
    }
}
