// Dedupe.cs - prints each line of standard input once, and remembers all lines in a file for the
// next run: Dedupe.exe seen.petal < stream > fresh
using System;
using System.IO;
using Petal;

static class Dedupe
{
    static int Main(string[] args)
    {
        if (args.Length != 1)
        {
            Console.Error.WriteLine("usage: Dedupe.exe FILE");
            return 2;
        }
        if (!File.Exists(args[0]))
            using (var empty = new BloomFilter<string>(1000000, 0.001)) empty.Save(args[0]);
        // The file is changed in place; disposing of the filter makes the changes durable.
        using (var seen = BloomFilter<string>.Open(args[0], OpenMode.Writable))
        {
            string line;
            while ((line = Console.In.ReadLine()) != null)
                if (seen.Add(line))
                    Console.WriteLine(line);
        }
        return 0;
    }
}
