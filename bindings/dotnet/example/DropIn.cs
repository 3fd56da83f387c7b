// DropIn.cs - code written for the widely copied BloomFilter<T> in C# runs unchanged. It can then
// do more than that class, such as use a filter that another process wrote.
using System;
using System.Collections.Generic;
using System.IO;
using Petal;

static class DropIn
{
    static int Main()
    {
        // The old constructor: bits, keys, hashes.
        BloomFilter<string> filter = new BloomFilter<string>(20000, 1000, 4);
        filter.Add("testing");
        filter.Add("nottesting");
        filter.Add("testingagain");
        bool good = filter.Contains("testing") && !filter.Contains("badstring");
        List<string> some = new List<string> { "badstring", "testing", "test" };
        good &= filter.ContainsAny(some) && !filter.ContainsAll(some);
        good &= filter.NumberOfHashes == 4 && filter.SetSize == 1000 && filter.BitSize >= 20000;
        good &= filter.FalsePositiveProbability() < 0.01;

        // New: saving to a file that any language can open, opening one, and merging two filters.
        string path = Path.GetTempFileName();
        filter.Save(path);
        using (BloomFilter<string> other = BloomFilter<string>.Open(path, OpenMode.Load))
        {
            other.Add("of another process");
            filter.Merge(other);
        }
        File.Delete(path);
        good &= filter.Contains("of another process");
        Console.WriteLine(good ? "as it should be" : "WRONG");
        return good ? 0 : 1;
    }
}
