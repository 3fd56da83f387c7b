// Library.cs - calls that don't need a filter.
using System;
using System.Collections.Generic;

namespace Petal
{
    /// <summary>A format that this build supports.</summary>
    public sealed class Format
    {
        internal Format(string name, string keys, uint abilities)
        {
            Name = name;
            Keys = keys;
            CanRead = (abilities & 1) != 0;
            CanWrite = (abilities & 2) != 0;
            CanCreate = (abilities & 4) != 0;
        }

        /// <summary>"guava", ...</summary>
        public string Name { get; private set; }
        /// <summary>How the format's library turns keys into bytes.</summary>
        public string Keys { get; private set; }
        /// <summary>True if files in this format can be opened.</summary>
        public bool CanRead { get; private set; }
        /// <summary>True if files in this format can be written.</summary>
        public bool CanWrite { get; private set; }
        /// <summary>True if FilterOptions.Format accepts this format.</summary>
        public bool CanCreate { get; private set; }
    }

    /// <summary>The Bloom filter of one column in one row group of a Parquet file.</summary>
    public sealed class ParquetFilter
    {
        internal unsafe ParquetFilter(NativeParquetFilter native)
        {
            Column = Native.Text(native.Column);
            ColumnNumber = (int)native.ColumnNumber;
            RowGroup = (int)native.RowGroup;
            PhysicalType = Native.Text(native.PhysicalType);
            Offset = (long)native.Offset;
            Size = (long)native.SizeBytes;
            Encrypted = native.Encrypted != 0;
        }

        /// <summary>The column's path in the schema.</summary>
        public string Column { get; private set; }
        /// <summary>The number of the leaf column, from 0.</summary>
        public int ColumnNumber { get; private set; }
        /// <summary>From 0.</summary>
        public int RowGroup { get; private set; }
        /// <summary>"INT64", "BYTE_ARRAY", ...: keys are in its plain encoding.</summary>
        public string PhysicalType { get; private set; }
        /// <summary>The offset of the filter in the file.</summary>
        public long Offset { get; private set; }
        /// <summary>The size of the filter in bytes.</summary>
        public long Size { get; private set; }
        /// <summary>True if the column is encrypted, so its filter can't be read.</summary>
        public bool Encrypted { get; private set; }
    }

    /// <summary>Calls that don't need a filter.</summary>
    public static unsafe class Library
    {
        /// <summary>The version of the C library, such as "0.1.0".</summary>
        public static string Version => Native.Text(Native.petal_version());

        /// <summary>Describes the filter that these options would create, without creating
        /// it.</summary>
        /// <exception cref="ArgumentException">No filter can have these parameters.</exception>
        public static FilterInfo Plan(FilterOptions options)
        {
            if (options == null)
                throw new ArgumentNullException("options");
            NativeInside plan = NativeInside.Init();
            NativeError error;
            int status = options.Call(&plan, null, &error);
            Check(status, &error);
            return new FilterInfo(plan);
        }

        /// <summary>Describes the filter for this number of keys and this rate, without creating
        /// it.</summary>
        public static FilterInfo Plan(long items, double rate)
        {
            return Plan(new FilterOptions { Capacity = items, Rate = rate });
        }

        /// <summary>The formats that this build supports.</summary>
        public static IList<Format> Formats()
        {
            List<Format> formats = new List<Format>();
            NativeFormat native = new NativeFormat();
            native.Size = (uint)sizeof(NativeFormat);
            for (uint i = 0; Native.petal_format_at(i, &native) != 0; i++)
                formats.Add(new Format(Native.Text(native.Name), Native.Text(native.Keys),
                                       native.Abilities));
            return formats;
        }

        /// <summary>The formats that these bytes could be in: a hint, since most formats have no
        /// magic number.</summary>
        public static string[] Recognize(byte[] bytes)
        {
            const uint Room = 64;
            if (bytes == null)
                throw new ArgumentNullException("bytes");
            byte** names = stackalloc byte*[(int)Room];
            ulong count;
            fixed(byte* at = bytes) count =
                Native.petal_recognize(at, (ulong)bytes.Length, names, Room);
            string[] found = new string[Math.Min(count, Room)];
            for (int i = 0; i < found.Length; i++)
                found[i] = Native.Text(names[i]);
            return found;
        }

        /// <summary>The Bloom filters in the bytes of a complete Parquet file. Open one with
        /// FromBytes(bytes, offset, size, options) and the format "parquet".</summary>
        public static IList<ParquetFilter> ParquetFilters(byte[] bytes)
        {
            if (bytes == null)
                throw new ArgumentNullException("bytes");
            NativeError error;
            ulong count = 0;
            NativeParquetFilter[] list;
            fixed(byte* at = bytes)
            {
                Check(Native.petal_parquet_list(at, (ulong)bytes.Length, null, 0, &count, &error),
                      &error);
                list = new NativeParquetFilter[(int)count];
                fixed(NativeParquetFilter* into = list) Check(
                    Native.petal_parquet_list(at, (ulong)bytes.Length, into, count, &count, &error),
                    &error);
            }
            List<ParquetFilter> found = new List<ParquetFilter>();
            foreach (NativeParquetFilter one in list)
                found.Add(new ParquetFilter(one));
            return found;
        }

        private static void Check(int status, NativeError* error)
        {
            if (status < 0)
                throw Failure.Of(error, null);
        }

        /// <summary>The shard of a key, from 0 to shards - 1. It is the same in every
        /// language.</summary>
        /// <param name="key">Any bytes.</param>
        /// <param name="shards">From 1 to 2^32 - 1.</param>
        public static long ShardOf(byte[] key, long shards)
        {
            if (key == null)
                throw new ArgumentNullException("key");
            if (shards < 1 || shards > uint.MaxValue)
                throw new ArgumentOutOfRangeException("shards", shards, "not from 1 to 2^32 - 1");
            fixed(byte* at = key) return Native.petal_shard_of(at, (UIntPtr)(uint)key.Length,
                                                               (uint)shards);
        }

        /// <summary>The shard of a string, as UTF-8.</summary>
        public static long ShardOf(string key, long shards)
        {
            if (key == null)
                throw new ArgumentNullException("key");
            return ShardOf(Native.Utf8.GetBytes(key), shards);
        }
    }
}
