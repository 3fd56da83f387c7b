// Hosts.cs - queries one key at a time in C#. Usage: Hosts KEYS FOLDER.
using System;
using System.Globalization;
using System.IO;
using System.Text;
using Petal;

static class Hosts
{
    static byte[] Unhex(string value)
    {
        if (value == "-")
            return new byte[0];
        var bytes = new byte[value.Length / 2];
        for (int i = 0; i < bytes.Length; i++)
            bytes[i] = byte.Parse(value.Substring(2 * i, 2), NumberStyles.HexNumber);
        return bytes;
    }

    static object Key(string type, string value)
    {
        if (type == "i64")
            return long.Parse(value, CultureInfo.InvariantCulture);
        if (type == "f64")
            return BitConverter.Int64BitsToDouble(
                unchecked((long)ulong.Parse(value, NumberStyles.HexNumber)));
        if (type == "text")
            return Encoding.UTF8.GetString(Unhex(value));
        return Unhex(value);
    }

    static void Main(string[] args)
    {
        foreach (string type in new[] { "text", "i64", "f64", "bytes" })
        {
            var answers = new StringBuilder();
            string name = "";
            using (var filter = BloomFilter<object>.Open(Path.Combine(args[1], type + ".petal")))
            {
                foreach (string line in File.ReadAllLines(args[0]))
                {
                    if (!line.StartsWith(type + " ", StringComparison.Ordinal))
                        continue;
                    object key = Key(type, line.Substring(type.Length + 1));
                    name = key.GetType().Name;
                    answers.Append(filter.Contains(key) ? '1' : '0');
                }
            }
            Console.WriteLine(type + "\t`" + name + "`\t" + answers);
        }
    }
}
