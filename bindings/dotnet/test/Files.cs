// Files.cs - tests files in each mode, streams, the tool's files, calls on two filters, windows,
// and the classic interface.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using Petal;

static class FilesTests
{
    static string Saved(int count)
    {
        string path = Given.TempFile("saved");
        using (BloomFilter<long> filter = new BloomFilter<long>(1000, 0.01))
        {
            filter.AddRange(Given.Integers(count));
            filter.Save(path);
        }
        return path;
    }

    public static void the_classic_surface()
    {
        BloomFilter<string> exact = new BloomFilter<string>(8388608, 1000000);
        Check.That(exact.BitSize == 8388608 && exact.SetSize == 1000000 &&
                       exact.NumberOfHashes == 5,
                   exact);
        BloomFilter<string> given = new BloomFilter<string>(8388608, 1000000, 3);
        Check.That(given.BitSize == 8388608 && given.SetSize == 1000000 &&
                       given.NumberOfHashes == 3,
                   given);
        Check.That(given.FalsePositiveProbability() > exact.FalsePositiveProbability(),
                   "fewer hashes than the best");
        BloomFilter<string> planned = new BloomFilter<string>(1000000, 0.01);
        Check.That(planned.BitSize == 9931776 && planned.SetSize == 1000000 &&
                       planned.NumberOfHashes == 6,
                   planned);
        Check.That(planned.FalsePositiveProbability() <= 0.01 &&
                       planned.FalsePositiveProbability() > 0.0099,
                   "rate");
        Check.That(planned.Add("a") && !planned.Add("a") && planned.Contains("a") &&
                       !planned.Contains("b"),
                   "keys");
        Check.That(planned.ContainsAny(new[] { "b", "a" }) &&
                       !planned.ContainsAll(new[] { "b", "a" }),
                   "keys");
        Check.Equal("blocked Bloom filter, capacity 1000000, 2 items, 1241472 bytes",
                    planned.ToString(), "text");
    }

    public static void read_only_maps_answer_and_refuse()
    {
        string path = Saved(500);
        BloomFilter<long> copy;
        using (BloomFilter<long> filter = BloomFilter<long>.Open(path))
        {
            Check.That(filter.ContainsAll(Given.Integers(500)) && filter.Verify() &&
                           filter.Path == path,
                       path);
            NotSupportedException thrown =
                Check.Throws<NotSupportedException>(() => filter.Add(1), "add");
            Check.Equal("read-only", Failure.Of(thrown).Status, "status");
            Check.Equal(path, Failure.Of(thrown).Path, "path");
            Check.Throws<NotSupportedException>(() => filter.Clear(), "clear");
            copy = filter.Copy();
        }
        Check.That(copy.Add(1000) && copy.Contains(1000), "the copy is writable");
    }

    public static void views_answer_where_the_bytes_are()
    {
        byte[] bytes = File.ReadAllBytes(Saved(500));
        BloomFilter<long> view = BloomFilter<long>.View(bytes);
        GC.Collect();
        Check.That(view.ContainsAll(Given.Integers(500)) && !view.Contains(1000), "keys");
        Check.That(view.Info().MemoryBytes < bytes.Length, "no copy");
        Check.Throws<NotSupportedException>(() => view.Add(1000), "add");
        Check.Throws<NotSupportedException>(() => view.ApplyPatch(bytes), "a patch");
        Check.Same(bytes, view.ToBytes(), "the same file");
        view.Dispose();
        Check.Throws<ObjectDisposedException>(() => view.Contains(1), "closed");

        OpenOptions options = new OpenOptions { Format = "petal", Verify = true };
        IntPtr memory = Marshal.AllocHGlobal(bytes.Length);
        Marshal.Copy(bytes, 0, memory, bytes.Length);
        using (BloomFilter<long> filter = BloomFilter<long>.View(memory, bytes.Length, options))
            Check.That(filter.ContainsAll(Given.Integers(500)) && filter.Verify(), "memory");
        Marshal.FreeHGlobal(memory);

        bytes[bytes.Length - 200] ^= 1;
        Check.Throws<FormatException>(() => BloomFilter<long>.View(bytes, options), "damaged");
        Check.Throws<FormatException>(() => BloomFilter<long>.View(new byte[0]), "none");
        Check.Throws<ArgumentNullException>(() => BloomFilter<long>.View(null), "null");
        Check.Throws<ArgumentNullException>(() => BloomFilter<long>.View(IntPtr.Zero, 8, options),
                                            "null");
        Check.Throws<ArgumentOutOfRangeException>(
            () => BloomFilter<long>.View((IntPtr)8, -1, options), "size");
    }

    static long? DamagedAt(Action call)
    {
        Failure failure = Failure.Of(Check.Throws<FormatException>(call, "damaged"));
        Check.Equal("damaged", failure.Status, "status");
        return failure.Offset;
    }

    static BloomFilter<object> Opened(string how, string path, bool trusting)
    {
        OpenOptions options = new OpenOptions { NoVerify = trusting };
        if (how == "view")
            return BloomFilter<object>.View(File.ReadAllBytes(path), options);
        options.Mode = (OpenMode)Enum.Parse(typeof(OpenMode), how);
        return BloomFilter<object>.Open(path, options);
    }

    public static void a_damaged_block_is_an_exception_and_never_certainly_not()
    {
        object[] keys =
            Given.Integers(100000).Select(i => i % 2 == 0 ? (object)i : "key-" + i).ToArray();
        string path = Given.TempFile("damaged");
        BloomFilter<object> filter = new BloomFilter<object>(200000, 0.01);
        filter.AddRange(keys);
        foreach (int size in new[] { 1, 8192 })
        {
            byte[] bytes = filter.ToBytes();
            int at = bytes.Length * 2 / 3;
            while (size == 1 && bytes[at] == 0)
                at++;
            Array.Clear(bytes, at, size);
            File.WriteAllBytes(path, bytes);
            foreach (string how in new[] { "Map", "Writable", "view" })
            {
                using (BloomFilter<object> map = Opened(how, path, false))
                    DamagedAnswers(map, keys);
                using (BloomFilter<object> trusting = Opened(how, path, true))
                    Check.That(trusting.ContainsBatch(keys).Any(yes => !yes), "it proves nothing");
            }
        }
    }

    static void DamagedAnswers(BloomFilter<object> map, object[] keys)
    {
        long first = DamagedAt(() => map.ContainsBatch(keys)).Value;
        Check.Equal(null, DamagedAt(() => map.Contains(keys[first])), "alone");
        Check.That(map.ContainsAll(keys.Take((int)first)), "the keys before");
        Check.Equal(first, DamagedAt(() => map.ContainsAll(keys)), "all");
        int thrown = 0;
        foreach (object key in keys)
            try
            {
                Check.That(map.Contains(key), "a member is certainly not in: " + key);
            }
            catch (FormatException)
            {
                thrown++;
            }
        Check.That(thrown > 0 && thrown < keys.Length, thrown);
        Check.Throws<FormatException>(() => map.Stats(), "stats");
        Check.That(map.Info().VerifiesOnUse && map.Info().UncheckedBlocks > 0, "info");
    }

    // A stream that claims to have read a given number of bytes, and then to have reached the end.
    sealed class Lying : MemoryStream
    {
        int said;

        public Lying(int said)
        {
            this.said = said;
        }

        public override int Read(byte[] into, int from, int count)
        {
            int now = said;
            said = 0;
            return now;
        }
    }

    public static void a_stream_that_lies_about_what_it_read_is_refused()
    {
        foreach (int said in new[] { (1 << 18) + 1, int.MaxValue, -1, int.MinValue })
        {
            IOException thrown =
                Check.Throws<IOException>(() => BloomFilter<long>.Read(new Lying(said)), said);
            Check.That(thrown.Message.Contains("says it has read " + said), thrown.Message);
        }
    }

    public static void a_file_that_no_array_holds_is_said()
    {
        // 4 GiB, never touched.
        using (BloomFilter<long> filter =
                   new BloomFilter<long>(new FilterOptions { Bits = 1L << 35, Hashes = 2 }))
        {
            NotSupportedException thrown =
                Check.Throws<NotSupportedException>(() => filter.ToBytes(), "4 GiB");
            Check.That(thrown.Message.Contains("more than an array holds; use Save() or Write()"),
                       thrown.Message);
            Check.Equal("over a limit", Failure.Of(thrown).Status, "status");
        }
    }

    public static void writable_maps_are_changed_in_place()
    {
        string path = Saved(500);
        using (BloomFilter<long> filter = BloomFilter<long>.Open(path, OpenMode.Writable))
        {
            filter.Add(1000);
            filter.Sync();
            filter.Add(1001);
            IOException busy = Check.Throws<IOException>(
                () => BloomFilter<long>.Open(path, OpenMode.Writable), "two writers");
            Check.Equal("busy", Failure.Of(busy).Status, "status");
            using (BloomFilter<long> live =
                       BloomFilter<long>.Open(path, new OpenOptions { Live = true }))
                Check.That(live.Info().Live && live.Contains(1000), "live");
        }
        using (BloomFilter<long> filter =
                   BloomFilter<long>.Open(path, new OpenOptions { Verify = true }))
            Check.That(filter.Contains(1000) && filter.Contains(1001), "both");
    }

    public static void loaded_filters_leave_the_file_alone()
    {
        string path = Saved(500);
        byte[] before = File.ReadAllBytes(path);
        using (BloomFilter<long> filter = BloomFilter<long>.Open(path, OpenMode.Load))
            filter.Add(1000);
        Check.Same(before, File.ReadAllBytes(path), path);
    }

    public static void files_that_cannot_be_had_are_dotnets_own_exceptions()
    {
        Check.Throws<FileNotFoundException>(() => BloomFilter<long>.Open("/nowhere/at/all"),
                                            "none");
        Check.Equal("/nowhere/at/all",
                    Check
                        .Throws<FileNotFoundException>(
                            () => BloomFilter<long>.Open("/nowhere/at/all"), "none")
                        .FileName,
                    "name");
        Check.Throws<DirectoryNotFoundException>(() => BloomFilter<long>.Open(Saved(1) + "/x"),
                                                 "not a folder");
        string path = Saved(1);
        IOException exists = Check.Throws<IOException>(
            () => BloomFilter<long>.Open(path).Save(path, null, false), "exists");
        Check.Equal("exists", Failure.Of(exists).Status, "status");
        Check.Throws<FormatException>(() => BloomFilter<long>.Open("README.md"), "no filter");
        byte[] bytes = File.ReadAllBytes(path);
        bytes[bytes.Length - 20] ^= 1;
        File.WriteAllBytes(path, bytes);
        FormatException damaged = Check.Throws<FormatException>(
            () => BloomFilter<long>.Open(path, OpenMode.Load), "damaged");
        Check.Equal("damaged", Failure.Of(damaged).Status, "status");
        Check.That(Failure.Of(damaged).Offset.HasValue, "offset");
        Check.Throws<FormatException>(() => BloomFilter<long>.FromBytes(new byte[0]), "no bytes");
        Check.That(Failure.Of(new Exception()) == null, "not of the core");
    }

    public static void what_the_tool_builds_is_read()
    {
        string path = Given.TempFile("tool");
        Given.Run("petal", "build -n 100 -o " + path, "a\nb\nc\n");
        using (BloomFilter<string> filter = BloomFilter<string>.Open(path))
        {
            Check.That(filter.ContainsAll(new[] { "a", "b", "c" }) &&
                           filter.KeyType == KeyType.Text,
                       path);
            Check.Throws<ArgumentException>(() => BloomFilter<long>.Open(path), "other keys");
            Check.Throws<ArgumentException>(
                () => BloomFilter<byte[]>.Open(path, new OpenOptions { KeyType = KeyType.I64 }),
                "other keys");
        }
    }

    public static void other_formats_by_path_and_by_what_fits()
    {
        foreach (string format in new[] { "guava", "redisbloom", "cassandra", "pybloom" })
        {
            string path = Given.TempFile(format);
            BloomFilter<string> made = new BloomFilter<string>(
                new FilterOptions { Capacity = 100, Rate = 0.01, Format = format });
            made.AddRange(new[] { "a", "b" });
            made.Save(path, format);
            using (BloomFilter<string> read =
                       BloomFilter<string>.Open(path, new OpenOptions { Format = format }))
                Check.That(read.ContainsAll(new[] { "a", "b" }) && read.Info().FormatName == format,
                           format);
            Check.That(Library.Recognize(File.ReadAllBytes(path)).Contains(format), format);
            Check.That(made.Info().FileFormatName == null, "made in memory");
            using (BloomFilter<string> read =
                       BloomFilter<string>.Open(path, new OpenOptions { Format = format }))
                Check.That(read.Info().FileFormatName == format, format);
            using (BloomFilter<string> within = BloomFilter<string>.FromBytes(made.ToBytes()))
                Check.That(within.Info().FileFormatName == "petal" &&
                               within.Info().FormatName == format,
                           format);
        }
        Check.Throws<NotSupportedException>(
            () => new BloomFilter<string>(100, 0.01).ToBytes("guava"), "bits are never translated");
        Check.Throws<ArgumentException>(() => new BloomFilter<string>(100, 0.01).ToBytes("no such"),
                                        "no format");
    }

    public static void keyed_filters_need_their_secret()
    {
        BloomFilter<string> keyed = new BloomFilter<string>(
            new FilterOptions { Capacity = 100, Rate = 0.01, Secret = Given.Secret });
        keyed.Add("a");
        byte[] bytes = keyed.ToBytes();
        Check.That(keyed.Info().Keyed, "keyed");
        Check.That(
            BloomFilter<string>.FromBytes(bytes, new OpenOptions { Secret = Given.Secret }).Contains("a"),
            "right");
        Check.Equal("secret needed",
                    Check.Fails(() => BloomFilter<string>.FromBytes(bytes), "none").Status, "none");
        Check.Equal("wrong secret",
                    Check
                        .Fails(() => BloomFilter<string>.FromBytes(
                                   bytes, new OpenOptions { Secret = new byte[16] }),
                               "wrong")
                        .Status,
                    "wrong");
        Check.Throws<ArgumentException>(
            () => BloomFilter<string>.FromBytes(bytes, new OpenOptions { Secret = new byte[5] }),
            "short");
    }

    // ---- streams ----

    class Trickle : MemoryStream
    {
        public Trickle(byte[] bytes) : base(bytes)
        {
        }
        public override int Read(byte[] buffer, int offset, int count)
        {
            return base.Read(buffer, offset, Math.Min(count, 777));
        }
    }

    public static void streams_in_pieces_are_the_bytes()
    {
        using (BloomFilter<long> filter = new BloomFilter<long>(300000, 0.01))
        {
            filter.AddRange(Given.Integers(1000));
            MemoryStream stream = new MemoryStream();
            filter.Write(stream);
            Check.Same(filter.ToBytes(), stream.ToArray(), "written");
            using (BloomFilter<long> read = BloomFilter<long>.Read(new Trickle(stream.ToArray())))
                Check.Same(filter.ToBytes(), read.ToBytes(), "read");
            byte[] part = stream.ToArray().Take(10000).ToArray();
            Check.Equal("truncated",
                        Failure
                            .Of(Check.Throws<FormatException>(
                                () => BloomFilter<long>.Read(new MemoryStream(part)), "part"))
                            .Status,
                        "status");
        }
    }

    class CallsBack : MemoryStream
    {
        public Action Back;
        public override void Write(byte[] buffer, int offset, int count)
        {
            Back();
        }
    }

    public static void a_stream_may_query_the_filter_and_its_exceptions_arrive()
    {
        BloomFilter<long> filter = new BloomFilter<long>(1000, 0.01);
        filter.Add(5);
        CallsBack stream = new CallsBack {
            Back = () => Check.That(filter.Contains(5) && filter.ToBytes().Length > 0, "a query")
        };
        filter.Write(stream);
        stream.Back = () => filter.Add(6);
        Check.Throws<InvalidOperationException>(() => filter.Write(stream), "a change");
        stream.Back = () => filter.Dispose();
        Check.Throws<InvalidOperationException>(() => filter.Write(stream), "the end");
        stream.Back = () =>
        { throw new DivideByZeroException("of the stream"); };
        Check.Equal(
            "of the stream",
            Check.Throws<DivideByZeroException>(() => filter.Write(stream), "thrown").Message,
            "message");
        Check.That(filter.Add(7) && filter.Contains(7), "still of use");
        filter.Share();
        stream.Back = () => filter.Contains(5);
        Check.Throws<InvalidOperationException>(() => filter.Write(stream),
                                                "a query of a shared filter");
        Check.That(filter.Add(8), "still of use");
    }

    // ---- whole filters ----

    public static void merged_parts_are_the_whole()
    {
        BloomFilter<string> a = new BloomFilter<string>(2000, 0.01), b = a.EmptyLike(),
                            whole = a.EmptyLike();
        a.AddRange(Given.Texts(0, 1000));
        b.AddRange(Given.Texts(500, 1500));
        whole.AddRange(Given.Texts(0, 1500));
        Comparison compared = a.Compare(b);
        Check.That(compared.Intersection.Low <= 500 && compared.Intersection.High >= 500 &&
                       compared.Jaccard.Value > 0.2,
                   "overlap");
        Check.That(a.Compare(a).Jaccard.Value > 0.99, "itself");
        BloomFilter<string> both = a.Copy();
        both.Intersect(b);
        Check.That(both.ContainsAll(Given.Texts(500, 1000)), "common keys");
        a.Merge(b);
        Check.Equal(whole.ContentId(), a.ContentId(), "merged");
        a.Merge(a);
        Check.Equal(whole.ContentId(), a.ContentId(), "with itself");
        Check.Equal("filters differ",
                    Failure
                        .Of(Check.Throws<ArgumentException>(
                            () => a.Merge(new BloomFilter<string>(10, 0.01)), "other"))
                        .Status,
                    "status");
        a.Clear();
        Check.That(a.Stats().BitsSet == 0 && a.Info().Items == 0, "cleared");
    }

    public static void counting_filters_remove_and_drop_their_counts()
    {
        FilterOptions options =
            new FilterOptions { Capacity = 1000, Rate = 0.01, Scheme = Scheme.Counting };
        BloomFilter<string> filter = new BloomFilter<string>(options);
        filter.AddRange(Given.Texts(0, 100));
        Check.That(filter.Remove("key-5") && !filter.Contains("key-5") && !filter.Remove("key-5"),
                   "removed");
        BloomFilter<string> dropped = filter.DropCounts();
        Check.That(dropped.Info().SchemeName == "classic" && dropped.Contains("key-6") &&
                       !dropped.Contains("key-5"),
                   "dropped");
        Check.Throws<NotSupportedException>(() => dropped.Remove("key-6"), "no counts");
    }

    public static void a_folded_filter_is_the_one_made_small()
    {
        foreach (Scheme scheme in new[] { Scheme.Blocked, Scheme.Classic })
        {
            BloomFilter<long> large = new BloomFilter<long>(
                new FilterOptions { Rate = 0.01, Memory = 4000000, Foldable = true, Scheme = scheme,
                                    Metadata = Given.Secret });
            large.AddRange(Given.Integers(1000)); // far fewer than planned for
            BloomFilter<long> folded = large.Fold();
            FilterInfo info = folded.Info();
            Check.That(info.Bytes < 2000 && info.Items == 1000 && info.Capacity >= 1000, "smaller");
            Check.That(info.TargetRate == 0.01 && folded.Metadata.Length == 16, "kept");
            BloomFilter<long> small = new BloomFilter<long>(
                new FilterOptions { Bits = info.Bits, Hashes = info.Hashes, Scheme = scheme });
            small.AddRange(Given.Integers(1000));
            Check.Equal(small.ContentId(), folded.ContentId(), "the one made small");
            Check.Equal(large.FoldToBits(info.Bits).ContentId(), folded.ContentId(), "by bits");
            Check.That(large.Fold(0.001, 100000).Info().Bytes > 50 * info.Bytes, "room");
            Check.Throws<ArgumentException>(() => large.Fold(1e-300), "no rate");
            Check.Throws<ArgumentException>(() => large.Fold(double.NaN), "no number");
            Check.Throws<ArgumentException>(() => large.Fold(0, -1), "negative");
            Check.Throws<ArgumentException>(() => large.FoldToBits(7777), "no divisor");
        }
        Check.Throws<ArgumentException>(
            () => new BloomFilter<long>(
                new FilterOptions { Bits = 512, Hashes = 1, Foldable = true }),
            "no rate");
    }

    public static void a_static_filter_is_built_from_its_keys()
    {
        byte[] golden = File.ReadAllBytes("vectors/static/two-pages.petal");
        FilterOptions options = new FilterOptions { Scheme = Scheme.Static, Rate = 0.01 };
        BloomFilter<long> made = BloomFilter<long>.FromKeys(Uncounted(100000), options);
        Check.That(made.ToBytes().SequenceEqual(golden), "other bytes than the golden file's");
        Check.That(made.ContainsAll(Given.Integers(100000)), "keys");
        Check.Throws<NotSupportedException>(() => made.Add(5), "add");
        BloomFilter<long> own = new BloomFilter<long>(options);
        Check.That(own.Add(99999) && own.Contains(-5), "not built");
        Check.Throws<NotSupportedException>(() => own.ToBytes(), "not built");
        own.AddRange(Uncounted(100000));
        own.Freeze();
        Check.That(own.ToBytes().SequenceEqual(golden), "frozen");
        options.Capacity = 10;
        Check.Throws<ArgumentException>(() => new BloomFilter<long>(options), "a capacity");
    }

    public static void a_filter_of_keys_that_nobody_counted()
    {
        foreach (int count in new[] { 0, 1, 1000, 100000 })
        {
            BloomFilter<long> filter = BloomFilter<long>.FromKeys(Uncounted(count), 0.01);
            long planned = Library.Plan(Math.Max(count, 1), 0.01).Bits;
            Check.That(filter.Info().Bits <= planned / 8 * 9 + 512, "size");
            Check.Equal((long)count, filter.Info().Items, "items");
            Check.That(filter.ContainsAll(Given.Integers(count)) && !filter.IsOverfull, "keys");
        }
        FilterOptions tight = new FilterOptions { Memory = 1 << 14 };
        BloomFilter<long> full = BloomFilter<long>.FromKeys(Uncounted(100000), tight);
        Check.That(full.IsOverfull && full.ContainsAll(Given.Integers(100000)), "full");
        Check.That(!tight.Foldable && tight.Rate == 0, "options are left alone");
        tight.RefuseOverfull = true;
        Check.Throws<InvalidOperationException>(
            () => BloomFilter<long>.FromKeys(Uncounted(int.MaxValue), tight), "refused");
        FilterOptions counting = new FilterOptions { Scheme = Scheme.Counting };
        Check.Throws<ArgumentException>(() => BloomFilter<long>.FromKeys(Uncounted(5), counting),
                                        "counters");
        Check.Throws<ArgumentNullException>(() => BloomFilter<long>.FromKeys(null, 0.01), "null");
        Check.Throws<ArgumentNullException>(() => BloomFilter<long>.FromKeys(Uncounted(5), null),
                                            "no options");
    }

    private static IEnumerable<long> Uncounted(int count)
    {
        for (int i = 0; i < count; i++)
            yield return i;
    }

    public static void growing_and_forgetting()
    {
        BloomFilter<long> grows =
            new BloomFilter<long>(new FilterOptions { Capacity = 100, Rate = 0.01, Grow = true });
        grows.AddRange(Given.Integers(10000));
        Check.That(grows.Info().Layers > 3 && grows.Info().Grows &&
                       grows.ContainsAll(Given.Integers(10000)),
                   "grows");
        Check.That(grows.Info(0).Capacity == 100, "the first layer");
        Check.Throws<ArgumentException>(() => grows.Info(99), "no layer");
        BloomFilter<long> window =
            new BloomFilter<long>(new FilterOptions { Window = 100, Rate = 0.001 });
        window.AddRange(Given.Integers(10000));
        Check.That(window.Contains(9950) && !window.Contains(5), "window");
        BloomFilter<long> time = new BloomFilter<long>(
            new FilterOptions { Window = 100, WindowTime = TimeSpan.FromHours(1), Rate = 0.001 });
        DateTimeOffset now = new DateTimeOffset(2024, 5, 1, 0, 0, 0, TimeSpan.Zero);
        time.Advance(now);
        time.Add(1);
        time.Advance(now.AddMinutes(59));
        Check.That(time.Contains(1), "in time");
        time.Advance(now.AddHours(3));
        Check.That(!time.Contains(1) && time.Info().WindowTime == TimeSpan.FromHours(1),
                   "forgotten");
    }

    public static void full_filters_say_so()
    {
        FilterOptions options =
            new FilterOptions { Capacity = 1000, Rate = 0.01, RefuseOverfull = true };
        BloomFilter<long> filter = new BloomFilter<long>(options);
        Check.That(!filter.IsOverfull, "empty");
        Check.Throws<InvalidOperationException>(() => filter.AddRange(Given.Integers(3000)),
                                                "full");
        Check.That(filter.IsOverfull && filter.Stats().Overfull &&
                       filter.Stats().EstimatedItems.Value > 1000,
                   "full");
        InvalidOperationException thrown =
            Check.Throws<InvalidOperationException>(() => filter.Add(99999), "full");
        Check.Equal("full", Failure.Of(thrown).Status, "status");
        Check.That(thrown.Message.Length > 10, thrown.Message);
    }

    public static void metadata_and_freezing()
    {
        BloomFilter<string> filter = new BloomFilter<string>(
            new FilterOptions { Capacity = 10, Rate = 0.01, Metadata = new byte[] { 1, 2 } });
        Check.Same(new byte[] { 1, 2 }, filter.Metadata, "metadata");
        filter.Metadata = new byte[] { 3 };
        Check.Same(new byte[] { 3 }, BloomFilter<string>.FromBytes(filter.ToBytes()).Metadata,
                   "metadata");
        filter.Metadata = null;
        Check.That(filter.Metadata == null, "none");
        filter.Freeze();
        Check.Throws<NotSupportedException>(() => filter.Add("a"), "frozen");
    }

    public static void plans_and_formats()
    {
        FilterInfo plan = Library.Plan(1000000, 0.01);
        Check.That(plan.Bytes == 1241472 && plan.RateAt(2000000) > 0.1 && plan.BitsPerKey > 9.9,
                   "plan");
        Check.That(Library.Formats().Count >= 28 && Library.Formats().All(format => format.CanRead),
                   "formats");
        Check.Equal(3, Library.Version.Split('.').Length, Library.Version);
    }
}
