// Threads.cs - tests that when many threads query, change, save and close one filter concurrently,
// the answers are right, no key is lost and nothing crashes.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using Petal;

static class ThreadsTests
{
    // Runs each call in its own thread, concurrently. Returns the exceptions that they threw.
    static List<Exception> RunAll(params Action[] calls)
    {
        List<Exception> thrown = new List<Exception>();
        Barrier ready = new Barrier(calls.Length);
        Thread[] threads =
            calls
                .Select(call => new Thread(() =>
                                           {
                                               ready.SignalAndWait();
                                               try
                                               {
                                                   call();
                                               }
                                               catch (Exception exception)
                                               {
                                                   lock (thrown) thrown.Add(exception);
                                               }
                                           }))
                .ToArray();
        foreach (Thread thread in threads)
        {
            thread.IsBackground = true;
            thread.Start();
        }
        foreach (Thread thread in threads)
            Check.That(thread.Join(300000), "it ends");
        return thrown;
    }

    static void Repeat(int times, Action call)
    {
        for (int i = 0; i < times; i++)
            call();
    }

    public static void many_threads_query_one_filter()
    {
        BloomFilter<long> filter = new BloomFilter<long>(100000, 0.01);
        long[] keys = Given.Integers(100000), absent = keys.Select(key => -1 - key).ToArray();
        filter.AddRange(keys);
        bool[] expected = filter.ContainsBatch(absent);
        Action ask = () => Repeat(
            5, () =>
               {
                   Check.That(filter.ContainsBatch(keys).All(yes => yes), "members");
                   Check.That(filter.ContainsBatch(absent).SequenceEqual(expected), "others");
                   for (int i = 0; i < 20000; i++)
                       Check.Equal(expected[i], filter.Contains(absent[i]), i);
                   filter.Stats();
                   filter.Copy().Dispose();
                   filter.ToBytes();
               });
        Check.Equal("", string.Join("; ", RunAll(ask, ask, ask, ask)), "thrown");
    }

    static void AddByMany(bool shared)
    {
        const int Each = 100000;
        BloomFilter<long> filter = new BloomFilter<long>(4 * Each, 0.01),
                          alone = filter.EmptyLike();
        long[] keys = Given.Integers(4 * Each);
        if (shared)
            filter.Share();
        Action[] adds =
            Enumerable.Range(0, 4)
                .Select(i => (Action)(() =>
                                      {
                                          long[] part = keys.Skip(i * Each).Take(Each).ToArray();
                                          if (i % 2 == 0)
                                              filter.AddRange(part);
                                          else
                                              foreach (long key in part)
                                              {
                                                  filter.Add(key);
                                                  if (key % 16 == 0)
                                                      Check.That(filter.Contains(key), key);
                                              }
                                      }))
                .ToArray();
        Action look = () => Repeat(50, () =>
                                       {
                                           filter.ToBytes();
                                           filter.Info();
                                       });
        Check.Equal("", string.Join("; ", RunAll(adds.Concat(new[] { look }).ToArray())), "thrown");
        alone.AddRange(keys);
        Check.Equal(alone.ContentId(), filter.ContentId(), "content");
        Check.Equal(4L * Each, filter.Info().Items, "items");
    }

    public static void adding_from_many_threads_loses_no_key()
    {
        AddByMany(false);
    }

    public static void adding_to_a_shared_filter_loses_no_key()
    {
        AddByMany(true);
    }

    public static void changes_and_questions_wait_for_each_other()
    {
        BloomFilter<long> filter = new BloomFilter<long>(200000, 0.01), other = filter.EmptyLike();
        long[] keys = Given.Integers(50000), some = Given.Integers(1000);
        filter.AddRange(some);
        Check.Equal(
            "",
            string.Join(
                "; ",
                RunAll(() => Repeat(20,
                                    () =>
                                    {
                                        filter.Merge(other);
                                        filter.Compare(other);
                                    }),
                       () => Repeat(20,
                                    () =>
                                    {
                                        other.Merge(filter);
                                        other.Compare(filter);
                                    }),
                       () => Repeat(20, () => Check.That(filter.ContainsAll(some), "some")),
                       () => Repeat(20,
                                    () =>
                                    {
                                        BloomFilter<long>.FromBytes(filter.ToBytes()).Dispose();
                                        filter.Write(new MemoryStream());
                                    }),
                       () => filter.AddRange(keys),
                       () =>
                       {
                           foreach (long key in keys)
                               other.Add(key);
                       })),
            "thrown");
        Check.That(other.ContainsAll(keys) && filter.ContainsAll(keys), "all keys");
    }

    public static void closing_while_others_ask_and_add_is_refused_to_them()
    {
        long[] keys = Given.Integers(200000);
        string path = Given.TempFile("closed");
        foreach (string mode in new[] { "memory", "shared", "map", "writable" })
            for (int round = 0; round < 5; round++)
            {
                BloomFilter<long> filter = new BloomFilter<long>(200000, 0.01);
                filter.AddRange(keys);
                if (mode == "shared")
                    filter.Share();
                if (mode == "map" || mode == "writable")
                {
                    filter.Save(path);
                    filter.Dispose();
                    filter = BloomFilter<long>.Open(path, mode == "map" ? OpenMode.Map
                                                                        : OpenMode.Writable);
                }
                int asked = 0;
                Action ask = () =>
                {
                    for (;;)
                    {
                        Check.That(filter.Contains(5), "5");
                        Interlocked.Increment(ref asked);
                    }
                };
                Action askMany = () =>
                {
                    for (;;)
                        Check.That(filter.ContainsBatch(keys).All(yes => yes), "all");
                };
                Action add = () =>
                {
                    for (;;)
                        filter.Add(5);
                };
                Action close = () =>
                {
                    while (Volatile.Read(ref asked) < 1000)
                        Thread.Yield();
                    filter.Dispose();
                };
                List<Exception> thrown =
                    RunAll(mode == "map" ? ask : add, ask, askMany, close, close);
                Check.Equal(3, thrown.Count(exception => exception is ObjectDisposedException),
                            mode + ": " + string.Join("; ", thrown));
                Check.Equal(3, thrown.Count, mode);
            }
    }
}
