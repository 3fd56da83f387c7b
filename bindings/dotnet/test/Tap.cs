// Tap.cs - runs every public static method of the classes named *Tests, and prints TAP. It also
// provides their assertions. `Tests.exe [NAME...]` runs only the tests whose name contains a NAME.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;
using Petal;

static class Tap
{
    static int Main(string[] names)
    {
        int count = 0, failed = 0;
        foreach (MethodInfo test in Found(names))
        {
            count++;
            string name =
                test.DeclaringType.Name.Replace("Tests", "") + ": " + test.Name.Replace('_', ' ');
            try
            {
                test.Invoke(null, null);
                Console.WriteLine("ok " + count + " - " + name);
            }
            catch (TargetInvocationException wrapped)
            {
                failed++;
                Console.WriteLine("not ok " + count + " - " + name);
                Console.WriteLine("# " + wrapped.InnerException.ToString().Replace("\n", "\n# "));
            }
        }
        Console.WriteLine("1.." + count);
        return failed > 0 || count == 0 ? 1 : 0;
    }

    static IEnumerable<MethodInfo> Found(string[] names)
    {
        return from type in Assembly.GetExecutingAssembly()
            .GetTypes()
                where type.Name.EndsWith("Tests") orderby type.Name from method in type.GetMethods(
  BindingFlags.Static | BindingFlags.Public | BindingFlags.DeclaredOnly) let name =
  type.Name + "." +
  method.Name
                where names.Length == 0 || names.Any(part => name.Contains(part)) select method;
    }
}

static class Check
{
    public static void That(bool condition, object what)
    {
        if (!condition)
            throw new Exception("does not hold: " + what);
    }

    public static void Equal<T>(T expected, T got, object what)
    {
        if (!EqualityComparer<T>.Default.Equals(expected, got))
            throw new Exception(what + ": expected " + expected + ", got " + got);
    }

    public static void Same(byte[] expected, byte[] got, object what)
    {
        if (!expected.SequenceEqual(got))
            throw new Exception(what + ": other bytes: " + expected.Length + ", " + got.Length);
    }

    // Returns the exception, which must be an instance of this class or of a subclass.
    public static T Throws<T>(Action call, object what)
        where T : Exception
    {
        try
        {
            call();
        }
        catch (T expected)
        {
            return expected;
        }
        catch (Exception other)
        {
            throw new Exception(what + ": expected " + typeof(T).Name + ", got " + other);
        }
        throw new Exception(what + ": expected " + typeof(T).Name + ", nothing was thrown");
    }

    // The core must refuse the call, and give a reason.
    public static Failure Fails(Action call, object what)
    {
        Exception thrown = Throws<Exception>(call, what);
        Failure failure = Failure.Of(thrown);
        if (failure == null)
            throw new Exception(what + ": not of the core: " + thrown);
        That(thrown.Message.Length > 0 && failure.Status.Length > 0, what);
        return failure;
    }
}

static class Given
{
    public static readonly byte[] Secret = Enumerable.Range(0, 16).Select(i => (byte)i).ToArray();

    public static string[] Texts(int from, int to)
    {
        return Enumerable.Range(from, to - from).Select(i => "key-" + i).ToArray();
    }

    public static long[] Integers(int count)
    {
        return Enumerable.Range(0, count).Select(i => (long)i).ToArray();
    }

    // Returns the words of each line that is not a comment.
    public static IEnumerable<string[]> Rows(string path)
    {
        return from line in
                   File.ReadLines("vectors/" + path)
                       where line.Length> 0 &&
            line[0] != '#' select line.Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries);
    }

    public static byte[] Hex(string digits)
    {
        if (digits == "-")
            return new byte[0];
        byte[] bytes = new byte[digits.Length / 2];
        for (int i = 0; i < bytes.Length; i++)
            bytes[i] = Convert.ToByte(digits.Substring(2 * i, 2), 16);
        return bytes;
    }

    public static byte[] Utf8(string text)
    {
        return Encoding.UTF8.GetBytes(text);
    }

    // Returns a path that a test may write to.
    public static string TempFile(string name)
    {
        return Path.Combine(Environment.GetEnvironmentVariable("TMPDIR") ?? "/tmp",
                            name + "-" + Guid.NewGuid().ToString("N"));
    }

    // Returns a program's output for this input.
    public static string Run(string program, string arguments, string input)
    {
        ProcessStartInfo start = new ProcessStartInfo(program, arguments) {
            RedirectStandardInput = true, RedirectStandardOutput = true, UseShellExecute = false
        };
        using (Process process = Process.Start(start))
        {
            System.Threading.Tasks.Task<string> reading = process.StandardOutput.ReadToEndAsync();
            byte[] bytes = Utf8(input);
            process.StandardInput.BaseStream.Write(bytes, 0, bytes.Length);
            process.StandardInput.Close();
            string output = reading.Result;
            process.WaitForExit();
            Check.That(process.ExitCode == 0 || process.ExitCode == 1, program + " " + arguments);
            return output;
        }
    }
}
