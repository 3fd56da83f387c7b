// Compare.cs - compares the package with a filter in plain C#, in one process. Prints the CPU time
// in ns per key (the minimum of all rounds) and the ratios: the median and the range of the ratios
// within a round.
//
//     Compare.exe [KEYS [ROUNDS]]
//
// The plain filter works like the widely copied BloomFilter<T> in C#, whose interface the package
// offers. It uses a BitArray, and combines GetHashCode() with a second hash from a delegate
// (Jenkins' one-at-a-time for text, Wang's for integers). All filters are created for these keys at
// 1 %.
using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using Petal;

sealed class Plain<T>
{
    private readonly BitArray bits;
    private readonly int hashes;
    private readonly Func<T, int> second;

    public Plain(int keys, double rate, Func<T, int> second)
    {
        double perKey = -Math.Log(rate) / (Math.Log(2) * Math.Log(2));
        bits = new BitArray((int)Math.Ceiling(keys * perKey));
        hashes = (int)Math.Round(perKey * Math.Log(2));
        this.second = second;
    }

    private int Place(int first, int step, int i)
    {
        return Math.Abs((first + i * step) % bits.Count);
    }

    public void Add(T key)
    {
        int first = key.GetHashCode(), step = second(key);
        for (int i = 0; i < hashes; i++)
            bits[Place(first, step, i)] = true;
    }

    public bool Contains(T key)
    {
        int first = key.GetHashCode(), step = second(key);
        for (int i = 0; i < hashes; i++)
            if (!bits[Place(first, step, i)])
                return false;
        return true;
    }
}

static class Hashes
{
    public static int OneAtATime(string text)
    {
        uint hash = 0;
        foreach (char c in text)
        {
            hash += c;
            hash += hash << 10;
            hash ^= hash >> 6;
        }
        hash += hash << 3;
        hash ^= hash >> 11;
        return (int)(hash + (hash << 15));
    }

    public static int Wang(long key)
    {
        ulong hash = (ulong)key;
        hash = ~hash + (hash << 18);
        hash ^= hash >> 31;
        hash *= 21;
        hash ^= hash >> 11;
        hash += hash << 6;
        return (int)(hash ^ (hash >> 22));
    }
}

static class Compare
{
    [StructLayout(LayoutKind.Sequential)]
    private struct Timespec
    {
        internal long Seconds, Nanoseconds;
    }

    [DllImport("libc")]
    private static extern int clock_gettime(int clock, out Timespec time);

    private static double ProcessorSeconds()
    {
        Timespec time;
        clock_gettime(2, out time); // CLOCK_PROCESS_CPUTIME_ID
        return time.Seconds + time.Nanoseconds * 1e-9;
    }

    private sealed class Row
    {
        public string What, Way;
        public Action Work;
        public readonly List<double> Times = new List<double>();
    }

    private static readonly List<Row> rows = new List<Row>();
    private static long found; // keeps the compiler from removing the loops

    private static void Time(string what, string way, Action work)
    {
        rows.Add(new Row { What = what, Way = way, Work = work });
    }

    // ---- keys of one type ----

    private static void Measure<T>(string type, int count, Func<int, T> key,
                                   Func<T[], Action[]> plain)
    {
        T[] keys = Enumerable.Range(0, count).Select(key).ToArray();
        T[] absent = Enumerable.Range(count, count).Select(key).ToArray();
        BloomFilter<T> filter = new BloomFilter<T>(count, 0.01), batch = filter.EmptyLike();
        bool[] answers = new bool[count];
        Action[] theirs = plain(absent);
        Time(type + ", add", "plain", theirs[0]);
        Time(type + ", add", "one",
             () =>
             {
                 foreach (T each in keys)
                     filter.Add(each);
             });
        Time(type + ", add", "batch", () => batch.AddRange(keys));
        Time(type + ", there", "plain", theirs[1]);
        Time(type + ", there", "one",
             () =>
             {
                 foreach (T each in keys)
                     if (filter.Contains(each))
                         found++;
             });
        Time(type + ", there", "batch", () => found += filter.ContainsBatch(keys, answers));
        Time(type + ", absent", "plain", theirs[2]);
        Time(type + ", absent", "one",
             () =>
             {
                 foreach (T each in absent)
                     if (filter.Contains(each))
                         found++;
             });
        Time(type + ", absent", "batch", () => found += filter.ContainsBatch(absent, answers));
    }

    private static string Address(int i)
    {
        return "https://example.com/page/" + i.ToString("D8");
    }

    private static long Number(int i)
    {
        return i * 7919L - 123456789;
    }

    private static void MeasureAll(int count)
    {
        Measure("addresses", count, Address,
                absent =>
                {
                    Plain<string> filter = new Plain<string>(count, 0.01, Hashes.OneAtATime);
                    string[] keys = Enumerable.Range(0, count).Select(Address).ToArray();
                    return new Action[] { () =>
                                          {
                                              foreach (string each in keys)
                                                  filter.Add(each);
                                          },
                                          () =>
                                          {
                                              foreach (string each in keys)
                                                  if (filter.Contains(each))
                                                      found++;
                                          },
                                          () =>
                                          {
                                              foreach (string each in absent)
                                                  if (filter.Contains(each))
                                                      found++;
                                          } };
                });
        Measure("int64", count, Number,
                absent =>
                {
                    Plain<long> filter = new Plain<long>(count, 0.01, Hashes.Wang);
                    long[] keys = Enumerable.Range(0, count).Select(Number).ToArray();
                    return new Action[] { () =>
                                          {
                                              foreach (long each in keys)
                                                  filter.Add(each);
                                          },
                                          () =>
                                          {
                                              foreach (long each in keys)
                                                  if (filter.Contains(each))
                                                      found++;
                                          },
                                          () =>
                                          {
                                              foreach (long each in absent)
                                                  if (filter.Contains(each))
                                                      found++;
                                          } };
                });
    }

    // ---- the table ----

    private static string Ratio(Row plain, Row ours)
    {
        double[] ratios =
            plain.Times.Zip(ours.Times, (a, b) => a / b).OrderBy(ratio => ratio).ToArray();
        return string.Format("{0:F1}x ({1:F1}-{2:F1})", ratios[ratios.Length / 2], ratios[0],
                             ratios[ratios.Length - 1]);
    }

    private static string Processor()
    {
        string line =
            File.ReadLines("/proc/cpuinfo").FirstOrDefault(text => text.StartsWith("model name"));
        return line == null ? "unknown" : line.Substring(line.IndexOf(':') + 2);
    }

    static void Main(string[] args)
    {
        int count = args.Length > 0 ? int.Parse(args[0]) : 1000000;
        int rounds = args.Length > 1 ? int.Parse(args[1]) : 7;
        MeasureAll(count);
        for (int round = -2; round < rounds; round++) // includes two warm-up rounds
            foreach (Row row in rows)
            {
                double before = ProcessorSeconds();
                row.Work();
                if (round >= 0)
                    row.Times.Add((ProcessorSeconds() - before) * 1e9 / count);
            }
        Console.WriteLine("{0}; {1}; {2} keys, {3} rounds", RuntimeInformation.FrameworkDescription,
                          Processor(), count, rounds);
        Console.WriteLine();
        Console.WriteLine("| | plain | one call | | batch | |");
        Console.WriteLine("| --- | ---: | ---: | ---: | ---: | ---: |");
        for (int i = 0; i < rows.Count; i += 3)
            Console.WriteLine("| {0} | {1:F0} | {2:F0} | {3} | {4:F1} | {5} |", rows[i].What,
                              rows[i].Times.Min(), rows[i + 1].Times.Min(),
                              Ratio(rows[i], rows[i + 1]), rows[i + 2].Times.Min(),
                              Ratio(rows[i], rows[i + 2]));
    }
}
