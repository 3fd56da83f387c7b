// Ten.cs - creates, saves, opens and queries a filter.
using System;
using Petal;

static class Ten
{
    static void Main()
    {
        var seen = new BloomFilter<string>(1000000, 0.01);
        seen.Add("https://example.com/");
        Console.WriteLine(seen.Contains("https://example.org/"));
        seen.Save("seen.petal");
        using (var again = BloomFilter<string>.Open("seen.petal"))
            Console.WriteLine(again.Contains("https://example.com/"));
    }
}
