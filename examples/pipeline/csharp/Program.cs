// Program.cs - a pipeline's program in C#; examples/pipeline/README.md describes the protocol.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Text;
using Petal;

static class Program
{
    static IEnumerable<string> Lines()
    {
        var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
        for (string line; (line = input.ReadLine()) != null;)
            yield return line;
    }

    static void Ask(string format, string path)
    {
        var keys = new List<string>(Lines()).ToArray();
        var output = new StringBuilder();
        using (var filter = BloomFilter<string>.Open(
                   path, new OpenOptions { Format = format })) foreach (bool answer in filter
                                                                            .ContainsBatch(keys))
            output.Append(answer ? "1\n" : "0\n");
        Console.Write(output);
    }

    static object Key(string type, string value)
    {
        if (type == "i64")
            return long.Parse(value, CultureInfo.InvariantCulture);
        if (type == "f64")
            return double.Parse(value, CultureInfo.InvariantCulture);
        return value;
    }

    static void Build(string path)
    {
        using (var filter = new BloomFilter<object>(100000, 0.01))
        {
            foreach (string line in Lines())
            {
                int tab = line.IndexOf('\t');
                filter.Add(Key(line.Substring(0, tab), line.Substring(tab + 1)));
            }
            filter.Save(path);
        }
    }

    static int Main(string[] args)
    {
        if (args.Length == 3 && args[0] == "ask")
            Ask(args[1], args[2]);
        else if (args.Length == 2 && args[0] == "build")
            Build(args[1]);
        else
        {
            Console.Error.WriteLine("usage: program ask FORMAT FILE | build OUT");
            return 2;
        }
        return 0;
    }
}
