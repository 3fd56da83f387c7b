// Options.cs - options for creating and opening filters: the members of petal_options and
// petal_open_options.
using System;

namespace Petal
{
    /// <summary>How a hash becomes bit positions.</summary>
    public enum Scheme
    {
        /// <summary>The default scheme, which is Blocked.</summary>
        Default = 0,
        /// <summary>All bits of a key are in one or two 64-byte lines. This is the fastest
        /// scheme.</summary>
        Blocked = 1,
        /// <summary>The bits of a key may be anywhere. This scheme needs the fewest bits per
        /// key.</summary>
        Classic = 2,
        /// <summary>Like Classic, but with 4-bit counters, so that keys can be removed. It takes 4
        /// times as much memory.</summary>
        Counting = 3,
        /// <summary>The smallest scheme, for sets that never change. Set a rate, but no
        /// capacity. Until Freeze() builds the filter, it keeps 8 bytes per key, answers "probably"
        /// for every key, and can't be saved.</summary>
        Static = 4
    }

    /// <summary>The type of a filter's keys, recorded in its file.</summary>
    public enum KeyType
    {
        /// <summary>Not recorded: any type.</summary>
        None = 0,
        /// <summary>Text in UTF-8.</summary>
        Text = 1,
        /// <summary>Text in UTF-16, like the chars of .NET and the JVM.</summary>
        Utf16LE = 2,
        /// <summary>4-byte integers.</summary>
        I32 = 3,
        /// <summary>8-byte integers.</summary>
        I64 = 4,
        /// <summary>Doubles.</summary>
        F64 = 5,
        /// <summary>Bytes; the tool reads them as hexadecimal digits.</summary>
        Hex = 6,
        /// <summary>Bytes; the tool reads them as base64.</summary>
        Base64 = 7
    }

    /// <summary>The filter to create. Members that are not set, or 0, take their default
    /// values.</summary>
    /// <remarks>
    /// The size is determined by any two of Capacity, Rate and Memory, by Bits and Hashes, or by
    /// Capacity and Bits.
    /// </remarks>
    public sealed class FilterOptions
    {
        /// <summary>The number of distinct keys to plan for.</summary>
        public long Capacity { get; set; }
        /// <summary>The share of other keys that pass when the filter is at capacity.</summary>
        public double Rate { get; set; }
        /// <summary>The maximum number of bytes for the bits.</summary>
        public long Memory { get; set; }
        /// <summary>The exact number of bits; blocked rounds up to whole lines of 512.</summary>
        public long Bits { get; set; }
        /// <summary>Bits per key.</summary>
        public int Hashes { get; set; }
        /// <summary>1 or 2, for a blocked filter.</summary>
        public int LinesPerKey { get; set; }
        /// <summary>How a hash becomes bit positions.</summary>
        public Scheme Scheme { get; set; }
        /// <summary>The seed of the hash. Only filters with equal seeds can be merged.</summary>
        public ulong Seed { get; set; }
        /// <summary>16 bytes: creates a keyed filter, for keys that attackers can choose.</summary>
        public byte[] Secret { get; set; }
        /// <summary>Up to 65,536 bytes of your own data, stored in the file.</summary>
        public byte[] Metadata { get; set; }
        /// <summary>Creates the filter that another library would create: "guava", "spark",
        /// ...</summary>
        public string Format { get; set; }
        /// <summary>The key type to record in the file. Keys of other types are then
        /// refused.</summary>
        public KeyType KeyType { get; set; }
        /// <summary>Adds layers as keys are added, so that Rate holds for any number of
        /// keys.</summary>
        public bool Grow { get; set; }
        /// <summary>The capacity of each layer relative to the previous one, from 2 to
        /// 64.</summary>
        public int GrowthStep { get; set; }
        /// <summary>The rate of each layer relative to the previous one, between 0 and 1.</summary>
        public double GrowthRatio { get; set; }
        /// <summary>Chooses a size that Fold() can make smaller once all keys are added.</summary>
        public bool Foldable { get; set; }
        /// <summary>Remembers at least the given number of the latest keys, and forgets older
        /// ones.</summary>
        public long Window { get; set; }
        /// <summary>Remembers keys for at least this long, by a clock that you set with
        /// Advance().</summary>
        public TimeSpan WindowTime { get; set; }
        /// <summary>The number of generations of a window: 2 to 32.</summary>
        public int Generations { get; set; }
        /// <summary>Adding to an overfull filter throws InvalidOperationException.</summary>
        public bool RefuseOverfull { get; set; }

        // The options for FromKeys()'s first filter, which is as large as Memory allows if it will
        // be folded.
        internal FilterOptions Large()
        {
            FilterOptions large = (FilterOptions)MemberwiseClone();
            if (large.Rate == 0)
                large.Rate = 0.01;
            if (large.Scheme == Scheme.Static)
                return large;
            large.Foldable = true;
            if (large.Memory == 0)
                large.Memory = 64L << 20;
            return large;
        }

        // Fills in *plan if it is given, otherwise creates *filter.
        internal unsafe int Call(NativeInside* plan, IntPtr* filter, NativeError* error)
        {
            byte[] secret = CheckedSecret(Secret), metadata = Metadata ?? new byte[0];
            byte[] format = Native.Path(Format, "Format");
            NativeOptions native = new NativeOptions();
            native.Size = (uint)sizeof(NativeOptions);
            native.Scheme = (uint)Scheme;
            native.KeyType = (uint)KeyType;
            native.Capacity = Unsigned(Capacity, "Capacity");
            native.Rate = Canonical(Rate);
            native.MemoryBytes = Unsigned(Memory, "Memory");
            native.Bits = Unsigned(Bits, "Bits");
            native.Hashes = (uint)Unsigned(Hashes, "Hashes");
            native.LinesPerKey = (uint)Unsigned(LinesPerKey, "LinesPerKey");
            native.Seed = Seed;
            native.MetadataBytes = (ulong)metadata.Length;
            native.Growth = (byte)(Grow ? 1 : 0);
            native.RefuseOverfull = (byte)(RefuseOverfull ? 1 : 0);
            native.Foldable = (byte)(Foldable ? 1 : 0);
            native.GrowthStep = (uint)Unsigned(GrowthStep, "GrowthStep");
            native.GrowthRatio = Canonical(GrowthRatio);
            native.WindowKeys = Unsigned(Window, "Window");
            native.WindowMs = Milliseconds(WindowTime, "WindowTime");
            native.Generations = (uint)Unsigned(Generations, "Generations");
            fixed(byte* secretAt = secret, metadataAt = metadata, formatAt = format)
            {
                native.Secret = secretAt;
                native.Metadata = metadataAt;
                native.Format = formatAt;
                return plan != null ? Native.petal_plan(&native, &plan->Info, &plan->Layers, error)
                                    : Native.petal_create(&native, filter, error);
            }
        }

        // .NET's NaN is negative, and messages would show its sign.
        internal static double Canonical(double value)
        {
            return double.IsNaN(value) ? BitConverter.Int64BitsToDouble(Keys.ToBits(value)) : value;
        }

        internal static byte[] CheckedSecret(byte[] secret)
        {
            if (secret != null && secret.Length != 16)
                throw new ArgumentException("a secret is 16 bytes, not " + secret.Length, "Secret");
            return secret;
        }

        internal static ulong Unsigned(long value, string name)
        {
            if (value < 0)
                throw new ArgumentOutOfRangeException(name, value, "below 0");
            return (ulong)value;
        }

        internal static ulong Milliseconds(TimeSpan time, string name)
        {
            if (time < TimeSpan.Zero)
                throw new ArgumentOutOfRangeException(name, time, "below 0");
            return (ulong)(time.Ticks / TimeSpan.TicksPerMillisecond);
        }
    }

    /// <summary>How a file is opened.</summary>
    public enum OpenMode
    {
        /// <summary>Mapped for reading. It uses no private memory, since all processes that map the
        /// file share it.</summary>
        Map = 0,
        /// <summary>Mapped and changed in place, by one writer at a time.</summary>
        Writable = 1,
        /// <summary>Loaded into memory as a verified copy. The file is not changed.</summary>
        Load = 2
    }

    /// <summary>How to open a file, bytes or a stream.</summary>
    public sealed class OpenOptions
    {
        private const uint VerifyOnUse = 2048;

        /// <summary>How a file is opened.</summary>
        public OpenMode Mode { get; set; }
        /// <summary>A format such as "petal" or "guava"; null means the only format that
        /// fits.</summary>
        public string Format { get; set; }
        /// <summary>A keyed filter's secret: 16 bytes.</summary>
        public byte[] Secret { get; set; }
        /// <summary>The type of the keys, if the file records none.</summary>
        public KeyType KeyType { get; set; }
        /// <summary>Check every block of a mapped file now, instead of each block before its first
        /// use.</summary>
        public bool Verify { get; set; }
        /// <summary>Trust the bits of a mapped file: if they are damaged, the answer for a member
        /// may be "certainly not".</summary>
        public bool NoVerify { get; set; }
        /// <summary>Writable or Load: accept a file whose writer died.</summary>
        public bool Recover { get; set; }
        /// <summary>Map: read a file that another process is changing.</summary>
        public bool Live { get; set; }
        /// <summary>Load: keep the file locked until the filter is closed.</summary>
        public bool Locked { get; set; }
        /// <summary>Take no lock, for file systems without locks.</summary>
        public bool NoLock { get; set; }
        /// <summary>Refuse larger files; 0 means no limit.</summary>
        public long MaxBytes { get; set; }
        /// <summary>Bytes that opening may allocate. 0 means 1 GiB, or 64 times the bytes
        /// given; -1 means no limit.</summary>
        public long MemoryLimit { get; set; }
        /// <summary>Adding to an overfull filter throws InvalidOperationException.</summary>
        public bool RefuseOverfull { get; set; }

        // Opens the file if there is a path; otherwise loads or views the bytes, if there are any;
        // otherwise opens a reader for a stream of `size` bytes.
        internal unsafe int Call(byte* path, byte* bytes, ulong size, IntPtr* made,
                                 NativeError* error, bool view = false)
        {
            byte[] secret = FilterOptions.CheckedSecret(Secret);
            byte[] format = Native.Path(Format ?? "auto", "Format");
            NativeOpenOptions native = new NativeOpenOptions();
            native.Size = (uint)sizeof(NativeOpenOptions);
            native.Flags = path != null ? Flags
                           : view       ? Checks
                           : Recover    ? 32u | (uint)OpenMode.Load
                                        : (uint)OpenMode.Load;
            native.MaxBytes = FilterOptions.Unsigned(MaxBytes, "MaxBytes");
            native.MemoryLimit = Limit(MemoryLimit, "MemoryLimit");
            native.RefuseOverfull = RefuseOverfull ? 1u : 0u;
            fixed(byte* secretAt = secret, formatAt = format)
            {
                native.Secret = secretAt;
                native.Format = formatAt;
                if (path != null)
                    return Native.petal_open(path, &native, made, error);
                if (view)
                    return Native.petal_view(bytes, size, &native, made, error);
                if (bytes != null)
                    return Native.petal_load(bytes, size, &native, made, error);
                return Native.petal_reader_create(&native, size, made, error);
            }
        }

        // -1: no limit.
        internal static ulong Limit(long bytes, string name)
        {
            return bytes == -1 ? ulong.MaxValue : FilterOptions.Unsigned(bytes, name);
        }

        private uint Checks => (Verify ? 16u : 0u) | (NoVerify ? 0u : VerifyOnUse);

        private uint Flags
        {
            get {
                uint flags = (uint)Mode | Checks;
                if (Recover)
                    flags |= 32;
                if (Live)
                    flags |= 64;
                if (Locked)
                    flags |= 128;
                if (NoLock)
                    flags |= 256;
                return flags;
            }
        }
    }
}
