// Cases.cs - the table of cases that every binding runs (vectors/bindings/cases.txt): sizes, hashes
// of keys, false positives, and failures with the core's messages.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using Petal;

static class CasesTests
{
    // A number above 2^63 - 1 doesn't fit into a .NET long: the caller's own conversion throws
    // OverflowException. The table has two such numbers.
    static FilterOptions OptionsOf(IEnumerable<string> words)
    {
        FilterOptions options = new FilterOptions();
        foreach (string word in words)
        {
            string name = word.Split('=')[0], value = word.Substring(name.Length + 1);
            switch (name)
            {
            case "capacity":
                options.Capacity = Long(value);
                break;
            case "rate":
                options.Rate = Double(value);
                break;
            case "memory":
                options.Memory = Long(value);
                break;
            case "bits":
                options.Bits = Long(value);
                break;
            case "hashes":
                options.Hashes = int.Parse(value);
                break;
            case "lines_per_key":
                options.LinesPerKey = int.Parse(value);
                break;
            case "scheme":
                options.Scheme = (Scheme)Enum.Parse(typeof(Scheme), value, true);
                break;
            case "format":
                options.Format = value;
                break;
            case "seed":
                options.Seed = ulong.Parse(value);
                break;
            case "secret":
                options.Secret = Given.Hex(value);
                break;
            case "grow":
                options.Grow = value == "1";
                break;
            case "growth_step":
                options.GrowthStep = int.Parse(value);
                break;
            case "growth_ratio":
                options.GrowthRatio = Double(value);
                break;
            case "window":
                options.Window = Long(value);
                break;
            case "window_ms":
                options.WindowTime = TimeSpan.FromMilliseconds(Long(value));
                break;
            case "generations":
                options.Generations = int.Parse(value);
                break;
            default:
                throw new Exception("unknown option " + name);
            }
        }
        return options;
    }

    static long Long(string value)
    {
        return checked((long)ulong.Parse(value));
    }

    static double Double(string value)
    {
        return value == "nan" ? double.NaN : double.Parse(value, CultureInfo.InvariantCulture);
    }

    // The words before the = and the text after it.
    static IEnumerable<KeyValuePair<string[], string>> Cases(string verb)
    {
        int count = 0;
        foreach (string line in File.ReadLines("vectors/bindings/cases.txt"))
        {
            if (line.Split(' ')[0] != verb)
                continue;
            int at = line.IndexOf(" = ");
            string[] words =
                line.Substring(0, at).Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries);
            count++;
            yield return new KeyValuePair<string[], string>(words.Skip(1).ToArray(),
                                                            line.Substring(at + 3));
        }
        Check.That(count >= 5, verb);
    }

    public static void plans_have_the_sizes_of_the_core()
    {
        foreach (var one in Cases("plan"))
        {
            FilterInfo plan = Library.Plan(OptionsOf(one.Key));
            Check.Equal(one.Value, plan.Bits + " " + plan.Hashes + " " + plan.Bytes,
                        string.Join(" ", one.Key));
        }
    }

    public static void what_no_filter_can_be_is_refused_in_the_words_of_the_core()
    {
        int overflows = 0;
        foreach (var one in Cases("refuse"))
        {
            string words = string.Join(" ", one.Key);
            FilterOptions options;
            try
            {
                options = OptionsOf(one.Key);
            }
            catch (OverflowException)
            {
                overflows++;
                continue;
            }
            // The binding refuses -1 before the core sees it.
            foreach (Action make in new Action[] { () => new BloomFilter<string>(options),
                                                   () => Library.Plan(options) })
            {
                Exception thrown = Check.Throws<ArgumentException>(make, words);
                Check.Equal(one.Value, Failure.Of(thrown).Status + ": " + thrown.Message, words);
            }
        }
        Check.Equal(2, overflows, "numbers above 2^63 - 1");
    }

    public static void keys_have_the_hashes_of_the_core()
    {
        BloomFilter<object> filter = new BloomFilter<object>(10, 0.01);
        foreach (var one in Cases("hash"))
        {
            string type = one.Key[0], value = one.Key[1];
            object key;
            if (type == "text")
                key = Encoding.UTF8.GetString(Given.Hex(value));
            else if (type == "i64")
                key = long.Parse(value);
            else
                key = BitConverter.Int64BitsToDouble(Convert.ToInt64(value, 16));
            Check.Equal(one.Value, filter.HashKey(key).ToString("x16"), value);
        }
    }

    static string Fill<T>(string[] words, Func<int, T> kind)
    {
        int count = int.Parse(words[1]), asked = int.Parse(words[2]);
        using (BloomFilter<T> filter = new BloomFilter<T>(OptionsOf(words.Skip(3))))
        {
            int added = Enumerable.Range(0, count).Count(i => filter.Add(kind(i)));
            int passed = Enumerable.Range(count, asked).Count(i => filter.Contains(kind(i)));
            return added + " " + passed + " " + filter.ContentId().ToString("x16");
        }
    }

    public static void filters_err_as_the_core_does()
    {
        foreach (var one in Cases("fill"))
        {
            string got;
            switch (one.Key[0])
            {
            case "text":
                got = Fill(one.Key, i => "key-" + i);
                break;
            case "i64":
                got = Fill(one.Key, i => (long)i);
                break;
            default:
                got = Fill(one.Key, i => i / 2.0);
                break;
            }
            Check.Equal(one.Value, got, string.Join(" ", one.Key));
        }
    }

    public static void broken_files_are_refused_in_the_words_of_the_core()
    {
        foreach (var one in Cases("open"))
        {
            string status = string.Join(" ", one.Key.Take(one.Key.Length - 1));
            string file = "vectors/" + one.Key.Last();
            Exception thrown = Check.Throws<Exception>(
                () => BloomFilter<byte[]>.Open(file,
                                               new OpenOptions { Format = "petal", Verify = true }),
                file);
            Failure failure = Failure.Of(thrown);
            Check.Equal(status, failure.Status, file);
            Check.Equal(one.Value,
                        thrown.Message + " @ " +
                            (failure.Offset.HasValue ? failure.Offset.ToString() : "-"),
                        file);
        }
    }
}
