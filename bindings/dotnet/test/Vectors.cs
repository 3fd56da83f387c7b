// Vectors.cs - tests every vector. Other libraries' files give the same answers as the original
// library, are rebuilt byte for byte, and survive a round trip through a petal file. Petal's own
// files are rewritten byte for byte. Broken files are refused with the right error.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using Petal;

// Another library's file; tests/formats/vectors.c describes the language.
class Foreign
{
    readonly string format, path;
    readonly byte[] bytes;
    readonly BloomFilter<byte[]> read;
    readonly List<byte[]> keys = new List<byte[]>();
    readonly List<bool> answers = new List<bool>();
    BloomFilter<byte[]> made;
    public bool Packed;
    public int Rebuilt;

    // Queries each key as every type that can have its bytes. Counts the keys per type, and those
    // without any type.
    public readonly Dictionary<string, int> Typed = new Dictionary<string, int>();

    void AskAs<T>(string name, KeyType type, Func<byte[], bool> fits, Func<byte[], T> typed)
    {
        int[] places = Enumerable.Range(0, keys.Count).Where(i => fits(keys[i])).ToArray();
        Typed[name] = places.Length;
        if (places.Length == 0)
            return;
        T[] asked = places.Select(i => typed(keys[i])).ToArray();
        OpenOptions options = new OpenOptions { Format = format, KeyType = type };
        using (BloomFilter<T> filter = BloomFilter<T>.Open(path, options))
        {
            bool[] batch = filter.ContainsBatch(asked);
            for (int i = 0; i < asked.Length; i++)
            {
                bool expected = answers[places[i]];
                Check.That(batch[i] == expected && filter.Contains(asked[i]) == expected,
                           path + ": " + asked[i] + " as " + name);
            }
        }
    }

    static string Decoded(Encoding encoding, byte[] key)
    {
        return encoding.GetString(key);
    }

    static bool IsText(byte[] key)
    {
        return Given.Utf8(Decoded(Encoding.UTF8, key)).SequenceEqual(key);
    }

    static bool IsDouble(byte[] key)
    {
        if (key.Length != 8)
            return false;
        long bits = BitConverter.ToInt64(key, 0);
        return !double.IsNaN(BitConverter.Int64BitsToDouble(bits)) && bits != long.MinValue;
    }

    static string Chars(byte[] key)
    {
        return new string(Enumerable.Range(0, key.Length / 2)
                              .Select(i => (char)(key[2 * i] | key[2 * i + 1] << 8))
                              .ToArray());
    }

    void AskTyped()
    {
        AskAs("string", KeyType.Text, IsText, key => Decoded(Encoding.UTF8, key));
        AskAs("UTF-16", KeyType.Utf16LE, key => key.Length % 2 == 0, Chars);
        AskAs("int", KeyType.I32, key => key.Length == 4, key => BitConverter.ToInt32(key, 0));
        AskAs("long", KeyType.I64, key => key.Length == 8, key => BitConverter.ToInt64(key, 0));
        AskAs("double", KeyType.F64, IsDouble, key => BitConverter.ToDouble(key, 0));
        Typed["none"] = keys.Count(key => !IsText(key) && key.Length % 2 != 0);
        ExpectOfItsName();
    }

    // Every key of a Guava funnel can be passed as the C# type that corresponds to the funnel.
    void ExpectOfItsName()
    {
        string funnel = Path.GetFileName(path).Split('_')[0];
        string type = funnel == "utf8" ? "string" : funnel == "unencoded" ? "UTF-16" : funnel;
        if (format.StartsWith("guava") && Typed.ContainsKey(type) && !path.Contains("surrogates"))
            Check.Equal(keys.Count, Typed[type], path);
    }

    public int Answers
    {
        get {
            return answers.Count;
        }
    }

    public Foreign(string format, string path)
    {
        this.format = format;
        this.path = path;
        bytes = File.ReadAllBytes(path);
        read = BloomFilter<byte[]>.Open(path, new OpenOptions { Format = format });
    }

    public void Make(string[] words)
    {
        FilterOptions options = new FilterOptions { Format = format };
        if (words[0] == "plan")
        {
            options.Capacity = long.Parse(words[1]);
            options.Rate = double.Parse(words[2]);
        }
        else
        {
            options.Bits = long.Parse(words[1]);
            options.Hashes = int.Parse(words[2]);
            options.Seed = words.Length > 3 ? ulong.Parse(words[3]) : 0;
        }
        made = new BloomFilter<byte[]>(options);
    }

    public void Key(string verb, byte[] key)
    {
        if (verb == "add")
        {
            if (made != null)
                made.Add(key);
            return;
        }
        Check.Equal(verb == "in", read.Contains(key), path);
        keys.Add(key);
        answers.Add(verb == "in");
    }

    void ExpectSame(BloomFilter<byte[]> filter)
    {
        byte[] again = filter.ToBytes(format);
        if (!Packed)
            Check.Same(bytes, again, path);
        else // bytes differ, but decompress to the same data
            Check.Same(read.ToBytes(), Load(again, format).ToBytes(), path);
    }

    static BloomFilter<byte[]> Load(byte[] bytes, string format)
    {
        return BloomFilter<byte[]>.FromBytes(bytes, new OpenOptions { Format = format });
    }

    public void Rebuild()
    {
        ExpectSame(made);
        Rebuilt = 1;
    }

    public void End()
    {
        Check.That(Answers > 0 || Rebuilt > 0, path + " proves something");
        Check.That(read.ContainsBatch(keys.ToArray()).SequenceEqual(answers), path);
        AskTyped();
        ExpectSame(read);
        ExpectSame(Load(read.ToBytes(), "petal"));
        for (int size = 0; size < bytes.Length; size += bytes.Length / 50 + 1)
        {
            try // in some formats a truncated file is a valid file
            {
                Load(bytes.Take(size).ToArray(), format).Contains(new byte[] { 97 });
            }
            catch (Exception error)
            {
                Check.That(Failure.Of(error) != null, path + ": " + error);
            }
        }
        read.Dispose();
        if (made != null)
            made.Dispose();
    }
}

static class VectorsTests
{
    static readonly int[] totals = new int[3];
    static readonly Dictionary<string, int> typed = new Dictionary<string, int>();

    static void RunScript(string path)
    {
        string format = null;
        Foreign file = null;
        foreach (string[] words in Given.Rows(path.Substring("vectors/".Length)))
        {
            switch (words[0])
            {
            case "format":
                End(ref file);
                format = words[1];
                break;
            case "file":
                End(ref file);
                file = new Foreign(format, Path.Combine(Path.GetDirectoryName(path), words[1]));
                break;
            case "plan":
            case "size":
                file.Make(words);
                break;
            case "rebuild":
                file.Rebuild();
                break;
            case "packed":
                file.Packed = true;
                break;
            case "add":
            case "in":
            case "out":
                file.Key(words[0], Given.Hex(words[1]));
                break;
            case "adds":
            case "ins":
            case "outs":
                string text = words[1] == "-" ? "" : words[1];
                for (int i = int.Parse(words[2]); i <= int.Parse(words[3]); i++)
                    file.Key(words[0].Substring(0, words[0].Length - 1), Given.Utf8(text + i));
                break;
            default:
                Check.Equal("loose", words[0], path);
                break;
            }
        }
        End(ref file);
    }

    static void End(ref Foreign file)
    {
        if (file == null)
            return;
        file.End();
        totals[0]++;
        totals[1] += file.Answers;
        totals[2] += file.Rebuilt;
        foreach (var one in file.Typed)
            typed[one.Key] = (typed.ContainsKey(one.Key) ? typed[one.Key] : 0) + one.Value;
        file = null;
    }

    public static void files_of_other_libraries_answer_are_rebuilt_and_carried()
    {
        Check.That(Library.Formats().Any(format => format.Name == "dcso-gzip"),
                   "this package has zlib");
        foreach (string folder in Directory.GetDirectories("vectors"))
            if (File.Exists(folder + "/vectors.txt"))
                RunScript(folder + "/vectors.txt");
        Console.WriteLine("# counted: C#: " + totals[1] + " keys of " + totals[0] +
                          " files asked as byte[], and each as the types with its bytes: " +
                          string.Join(", ", typed.Select(one => one.Key + " " + one.Value)));
        Check.That(typed.Count == 6 && typed.Values.All(count => count >= 300), "types");
        Check.That(totals[0] >= 190 && totals[1] >= 20000 && totals[2] >= 140,
                   string.Join(" ", totals));
    }

    public static void filters_inside_parquet_files_are_found_and_answer()
    {
        byte[] data = null;
        IList<ParquetFilter> listed = null;
        BloomFilter<byte[]> filter = null;
        int answers = 0, place = 0;
        foreach (string[] words in Given.Rows("parquet/files.txt"))
        {
            if (words[0] == "file")
            {
                Check.That(listed == null || listed.Count == place, "all of the file before");
                data = File.ReadAllBytes("vectors/parquet/" + words[1]);
                listed = Library.ParquetFilters(data);
                place = 0;
            }
            else if (words[0] == "filter")
            {
                ParquetFilter one = listed[place++];
                string found = one.RowGroup + " " + one.ColumnNumber + " " + one.Column + " " +
                               one.PhysicalType + " " + one.Offset;
                Check.Equal(string.Join(" ", words.Skip(1).Take(5)), found, "place");
                filter = BloomFilter<byte[]>.FromBytes(data, (int)one.Offset, (int)one.Size,
                                                       new OpenOptions { Format = "parquet" });
            }
            else
            {
                Check.Equal(words[0] == "in", filter.Contains(Given.Hex(words[1])), words[1]);
                answers++;
            }
        }
        Check.That(listed.Count == place && answers > 500, answers);
        Check.Fails(() => Library.ParquetFilters(Given.Utf8("PAR1")), "no parquet");
    }

    // ---- petal's own files, which vectors/README.md describes ----

    class Recipe
    {
        public FilterOptions Options;
        public Action<BloomFilter<object>> Fill;
    }

    static readonly object[] texts = Given.Texts(0, 100), integers = Numbers(100);
    static readonly object[] two = { "a", "b" }, none = {};

    static object[] Numbers(int count)
    {
        return Given.Integers(count).Cast<object>().ToArray();
    }

    static Recipe Of(object[] keys, FilterOptions options)
    {
        return new Recipe { Options = options, Fill = filter => filter.AddRange(keys) };
    }

    static Recipe Of(Action<BloomFilter<object>> fill, FilterOptions options)
    {
        return new Recipe { Options = options, Fill = fill };
    }

    const long Day = 86400000;

    static void Days(BloomFilter<object> filter)
    {
        for (int i = 0; i < 100; i++)
        {
            filter.Advance((19723 + i) * Day + Day / 2);
            filter.Add("key-" + i);
        }
    }

    static void Burst(BloomFilter<object> filter)
    {
        filter.Advance(new DateTimeOffset(2024, 1, 1, 0, 0, 0, TimeSpan.Zero));
        filter.AddRange(texts);
    }

    static void Counting(BloomFilter<object> filter)
    {
        filter.AddRange(
            texts.Concat(texts.Take(10)).Concat(Enumerable.Repeat<object>("key-95", 20)));
        Check.That(filter.RemoveBatch(texts.Take(50).ToArray()).All(removed => removed), "removed");
        Check.That(filter.Remove("key-95"), "removed");
    }

    static void Typed(BloomFilter<object> filter)
    {
        foreach (object key in new object[] { "", new byte[1], "caf\u00e9", new byte[] { 255, 254 },
                                              -1, 1L, -0.0, 1.5f, double.NaN })
            filter.Add(key);
    }

    static Dictionary<string, Recipe> Recipes()
    {
        const Scheme classic = Scheme.Classic, counting = Scheme.Counting;
        byte[] secret = Given.Secret;
        byte[] metadata =
            Given.Utf8("{\"made\": \"for a test\"}\0").Concat(new byte[] { 255, 0 }).ToArray();
        FilterOptions growing = new FilterOptions { Capacity = 10, Rate = 0.01, Grow = true };
        return new Dictionary<string, Recipe> {
            { "textbook", Of(two, new FilterOptions { Scheme = classic, Bits = 11, Hashes = 2,
                                                      Seed = 197072 }) },
            { "one-bit", Of(two, new FilterOptions { Scheme = classic, Bits = 1, Hashes = 1 }) },
            { "empty-blocked",
              Of(none, new FilterOptions { Bits = 512, Hashes = 7, LinesPerKey = 1 }) },
            { "empty-classic",
              Of(none, new FilterOptions { Scheme = classic, Bits = 513, Hashes = 64 }) },
            { "blocked",
              Of(texts, new FilterOptions { Bits = 1536, Hashes = 8, LinesPerKey = 1 }) },
            { "blocked-two-lines",
              Of(texts, new FilterOptions { Bits = 2048, Hashes = 9, LinesPerKey = 2 }) },
            { "blocked-k16",
              Of(integers, new FilterOptions { Bits = 5120, Hashes = 16, LinesPerKey = 1,
                                               Seed = ulong.MaxValue }) },
            { "blocked-k32",
              Of(integers, new FilterOptions { Bits = 5120, Hashes = 32, LinesPerKey = 2 }) },
            { "blocked-planned", Of(texts, new FilterOptions { Capacity = 100, Rate = 0.01 }) },
            { "blocked-planned-low", Of(texts, new FilterOptions { Capacity = 100, Rate = 1e-6 }) },
            { "classic", Of(texts, new FilterOptions { Scheme = classic, Bits = 1009, Hashes = 5,
                                                       Seed = 42 }) },
            { "classic-planned",
              Of(texts, new FilterOptions { Scheme = classic, Capacity = 100, Rate = 0.01 }) },
            { "classic-keyed", Of(texts, new FilterOptions { Scheme = classic, Bits = 1009,
                                                             Hashes = 7, Secret = secret }) },
            { "blocked-keyed", Of(texts, new FilterOptions { Bits = 1024, Hashes = 6,
                                                             LinesPerKey = 1, Secret = secret }) },
            { "typed-keys",
              Of(Typed, new FilterOptions { Bits = 1024, Hashes = 5, LinesPerKey = 1 }) },
            { "metadata",
              Of(two, new FilterOptions { Scheme = classic, Bits = 100, Hashes = 3, Capacity = 10,
                                          Rate = 0.5, Seed = 7, Metadata = metadata }) },
            { "saturated",
              Of(Numbers(1000), new FilterOptions { Scheme = classic, Bits = 100, Hashes = 4 }) },
            { "two-blocks", Of(Numbers(2000),
                               new FilterOptions { Scheme = classic, Bits = 524387, Hashes = 3 }) },
            { "growing", Of(texts, growing) },
            { "growing-by-3",
              Of(texts, new FilterOptions { Scheme = classic, Capacity = 5, Rate = 0.1, Seed = 7,
                                            Metadata = Given.Utf8("three"), Grow = true,
                                            GrowthStep = 3, GrowthRatio = 0.5 }) },
            { "growing-empty", Of(none, growing) },
            { "rotating-keys", Of(texts, new FilterOptions { Rate = 0.01, Window = 60 }) },
            { "rotating-time",
              Of(Days,
                 new FilterOptions { Scheme = classic, Rate = 0.01, Secret = secret, Window = 70,
                                     WindowTime = TimeSpan.FromDays(7), Generations = 8 }) },
            { "rotating-burst",
              Of(Burst, new FilterOptions { Rate = 0.01, Window = 60,
                                            WindowTime = TimeSpan.FromDays(1), Generations = 4 }) },
            { "empty-counting",
              Of(none, new FilterOptions { Scheme = counting, Bits = 129, Hashes = 64 }) },
            { "textbook-counting", Of(two, new FilterOptions { Scheme = counting, Bits = 11,
                                                               Hashes = 2, Seed = 197072 }) },
            { "counting", Of(Counting, new FilterOptions { Scheme = counting, Bits = 1009,
                                                           Hashes = 5, Seed = 42 }) },
            { "counting-planned",
              Of(texts, new FilterOptions { Scheme = counting, Capacity = 100, Rate = 0.01 }) },
            { "counting-keyed", Of(texts, new FilterOptions { Scheme = counting, Bits = 1009,
                                                              Hashes = 7, Secret = secret }) },
            { "counting-two-blocks",
              Of(Numbers(2000),
                 new FilterOptions { Scheme = counting, Bits = 131171, Hashes = 3 }) },
        };
    }

    public static void golden_files_are_made_byte_for_byte_and_read_in_each_mode()
    {
        Dictionary<string, Recipe> recipes = Recipes();
        string[] files = Directory.GetFiles("vectors/petal", "*.petal")
                             .Select(Path.GetFileNameWithoutExtension)
                             .ToArray();
        Check.That(files.OrderBy(name => name).SequenceEqual(recipes.Keys.OrderBy(name => name)),
                   "each has a recipe");
        foreach (string name in files)
        {
            Recipe recipe = recipes[name];
            string path = "vectors/petal/" + name + ".petal";
            using (BloomFilter<object> made = new BloomFilter<object>(recipe.Options))
            {
                recipe.Fill(made);
                Check.Same(File.ReadAllBytes(path), made.ToBytes(), name);
                foreach (OpenMode mode in new[] { OpenMode.Map, OpenMode.Load })
                    using (BloomFilter<object> read = BloomFilter<object>.Open(
                               path, new OpenOptions { Mode = mode, Verify = true,
                                                       Secret = recipe.Options.Secret }))
                    {
                        Check.Same(made.ToBytes(), read.ToBytes(), name);
                        Check.Equal(made.ContentId(), read.ContentId(), name);
                        Check.Equal(made.Info().Items, read.Info().Items, name);
                    }
            }
        }
    }

    public static void golden_patches_are_applied_and_made_byte_for_byte()
    {
        Dictionary<string, Recipe> recipes = Recipes();
        string[] patches = Directory.GetFiles("vectors/petal", "*.patch");
        Check.That(patches.Length >= 10, patches.Length);
        foreach (string path in patches)
        {
            byte[] patch = File.ReadAllBytes(path);
            OpenOptions options = new OpenOptions {
                Mode = OpenMode.Load,
                Secret = recipes[Path.GetFileNameWithoutExtension(path)].Options.Secret
            };
            string file = Path.ChangeExtension(path, "petal");
            using (BloomFilter<object> older = BloomFilter<object>.Open(file, options),
                   newer = BloomFilter<object>.Open(file, options))
            {
                newer.ApplyPatch(patch);
                Check.Same(patch, older.Diff(newer), path);
                if (!path.Contains("metadata")) // not covered by the content id
                    Check.Throws<ArgumentException>(() => newer.ApplyPatch(patch), path);
                byte[] before = older.ToBytes();
                Check.Throws<FormatException>(() => older.ApplyPatch(new byte[0]), path);
                Check.Throws<FormatException>(() => older.ApplyPatch(before), path);
                Check.Throws<FormatException>(
                    () => older.ApplyPatch(patch.Take(patch.Length - 1).ToArray()), path);
                Check.Same(before, older.ToBytes(), path);
            }
        }
        using (BloomFilter<string> small = new BloomFilter<string>(10, 0.1),
               large = new BloomFilter<string>(2000, 0.01))
            Check.Throws<ArgumentException>(() => small.Diff(large), "other sizes");
    }

    public static void a_golden_file_answers_as_ever()
    {
        using (BloomFilter<string> filter = BloomFilter<string>.Open("vectors/petal/blocked.petal"))
        {
            int[] wrong =
                Enumerable.Range(100, 900).Where(i => filter.Contains("key-" + i)).ToArray();
            Check.Equal("980", string.Join(" ", wrong), "false positives");
            Check.That(filter.ContainsAll(Given.Texts(0, 100)), "none is missed");
            Check.Equal(629L, filter.Stats().BitsSet, "bits set");
            Check.Equal(0x14F5876858484957UL, filter.ContentId(), "content id");
        }
    }

    public static void rejected_files_are_refused_by_the_name_of_the_error()
    {
        int count = 0;
        foreach (string[] words in Given.Rows("reject/expected.txt"))
        {
            string path = "vectors/reject/" + words[0] + ".petal";
            OpenOptions options = new OpenOptions { Format = "petal", Verify = true };
            Failure failure = Check.Fails(() => BloomFilter<byte[]>.Open(path, options), path);
            Check.Equal(string.Join(" ", words.Skip(1)), failure.Status, path);
            Check.Equal(path, failure.Path, path);
            Check.Fails(() => BloomFilter<byte[]>.FromBytes(File.ReadAllBytes(path), options),
                        path);
            using (Stream stream = File.OpenRead(path))
                Check.Fails(() => BloomFilter<byte[]>.Read(stream, options), path);
            count++;
        }
        Check.That(count >= 50, count);
    }

    // ---- hashes and keys ----

    public static void hashes_are_those_of_the_vectors()
    {
        byte[] buffer = new byte[4096];
        ulong x = 2654435761;
        for (int i = 0; i < buffer.Length; i++)
        {
            buffer[i] = (byte)(x >> 56);
            x = unchecked(x * 11400714785074694797UL);
        }
        int count = 0;
        foreach (string[] words in Given.Rows("hashes/xxh3.txt"))
            using (BloomFilter<byte[]> filter = new BloomFilter<byte[]>(
                       new FilterOptions { Capacity = 10, Rate = 0.01,
                                           Seed = Convert.ToUInt64(words[1], 16) }))
            {
                Check.Equal(Convert.ToUInt64(words[2], 16),
                            filter.HashKey(buffer.Take(int.Parse(words[0])).ToArray()), words[0]);
                count++;
            }
        BloomFilter<byte[]> keyed = new BloomFilter<byte[]>(
            new FilterOptions { Capacity = 10, Rate = 0.01, Secret = Given.Secret });
        foreach (string[] words in Given.Rows("hashes/siphash-2-4.txt"))
        {
            byte[] key = Enumerable.Range(0, int.Parse(words[0])).Select(i => (byte)i).ToArray();
            Check.Equal(BitConverter.ToUInt64(Given.Hex(words[1]), 0), keyed.HashKey(key),
                        words[0]);
            count++;
        }
        Check.That(count >= 90, count);
    }

    public static void numbers_have_the_key_bytes_of_the_vectors()
    {
        BloomFilter<object> filter = new BloomFilter<object>(10, 0.01);
        int count = 0;
        foreach (string[] words in Given.Rows("hashes/typed-keys.txt"))
        {
            object number = words[0] == "i64"
                                ? (object) long.Parse(words[1])
                                : BitConverter.Int64BitsToDouble(Convert.ToInt64(words[1], 16));
            Check.Equal(filter.HashKey(Given.Hex(words[2])), filter.HashKey(number), words[1]);
            count++;
        }
        Check.That(count >= 30, count);
    }

    public static void shards_are_those_of_the_vectors()
    {
        int count = 0;
        foreach (string[] words in Given.Rows("shards/shards.txt"))
        {
            Check.Equal(long.Parse(words[3]),
                        Library.ShardOf(Given.Hex(words[0]), long.Parse(words[2])), words[0]);
            count++;
        }
        Check.That(count >= 50, count);
    }
}
