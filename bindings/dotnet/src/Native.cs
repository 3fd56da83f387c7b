// Native.cs - the functions of petal.h that this binding uses, and the structs, field by field.
//
// They use only types that need no marshalling (numbers and pointers); C's bool is returned as a
// byte. The filter is a plain pointer here: Core (Core.cs) is the SafeHandle that owns it, and its
// gate keeps it alive during each call.
using System;
using System.Runtime.InteropServices;
using System.Text;

namespace Petal
{
    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeError
    {
        internal int Status, Errno;
        internal ulong Offset;
        internal fixed byte Message[240];
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeOptions
    {
        internal uint Size, Scheme, Hash, KeyType;
        internal ulong Capacity;
        internal double Rate;
        internal ulong MemoryBytes, Bits;
        internal uint Hashes, LinesPerKey;
        internal ulong Seed;
        internal void* Secret;
        internal void* Metadata;
        internal ulong MetadataBytes;
        internal void* Allocator;
        internal byte* Format;
        internal byte Growth, RefuseOverfull, Foldable, Reserved1;
        internal uint GrowthStep;
        internal double GrowthRatio;
        internal ulong WindowKeys, WindowMs;
        internal uint Generations, Reserved2;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeFoldOptions
    {
        internal uint Size, Reserved; // by_bits and three reserved bytes
        internal double Rate;
        internal ulong Capacity, Bits;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeOpenOptions
    {
        internal uint Size, Flags;
        internal void* Secret;
        internal ulong MaxBytes;
        internal void* Allocator;
        internal byte* Format;
        internal ulong MemoryLimit;
        internal IntPtr Release;
        internal void* ReleaseContext;
        internal ulong RefuseOverfull; // a one-byte flag, then seven reserved bytes
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeSaveOptions
    {
        internal uint Size, Flags;
        internal byte* Format;

        internal NativeSaveOptions(byte* format, uint flags)
        {
            Size = (uint)sizeof(NativeSaveOptions);
            Flags = flags;
            Format = format;
        }
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeBatch
    {
        internal uint Size, Layout;
        internal void* Data;
        internal void* Offsets;
        internal ulong DataBytes, KeyBytes, Stride, Count;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeOutcome
    {
        internal uint Size, Reserved;
        internal ulong Done, Positive;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeInfo
    {
        internal uint Size, Abilities, Scheme, Hash, Hashes, LinesPerKey, Layers, CounterBits;
        internal ulong Bits, Bytes, MemoryBytes, Capacity;
        internal double TargetRate, PredictedRate;
        internal ulong Items, Seed, MetadataBytes;
        internal uint SecretId, KeyType, Policy;
        internal byte Keyed, Reserved0, Reserved1, Reserved2;
        internal byte* SchemeName;
        internal byte* HashName;
        internal byte* FormatName;
        internal byte* KernelName;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeLayersInfo
    {
        internal uint Size, GrowthStep;
        internal double GrowthRatio;
        internal ulong WindowKeys, WindowMs;
        internal uint Generations, Reserved;
        internal ulong ClockMs, EarliestMs, LatestMs;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeFileInfo
    {
        internal uint Size;
        internal byte Live, Verifiable, VerifiesOnUse, Reserved;
        internal ulong UncheckedBlocks, ComparedBlocks, RecoveredBlocks;
        internal byte* FormatName;
    }

    // The information that petal.h reports about a filter without reading its bits.
    internal unsafe struct NativeInside
    {
        internal NativeInfo Info;
        internal NativeLayersInfo Layers;
        internal NativeFileInfo File;

        internal static NativeInside Init()
        {
            NativeInside made = new NativeInside();
            made.Info.Size = (uint)sizeof(NativeInfo);
            made.Layers.Size = (uint)sizeof(NativeLayersInfo);
            made.File.Size = (uint)sizeof(NativeFileInfo);
            return made;
        }
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeStats
    {
        internal uint Size;
        internal byte Saturated, Overfull, Reserved0, Reserved1;
        internal ulong BitsSet, SaturatedCounters;
        internal double Fill;
        internal Estimate EstimatedItems;
        internal double EstimatedRate;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeComparison
    {
        internal uint Size;
        internal byte Saturated, Reserved0, Reserved1, Reserved2;
        internal Estimate ItemsA, ItemsB, UnionItems, Intersection, Jaccard, AInB, BInA;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeFormat
    {
        internal uint Size, Abilities;
        internal byte* Name;
        internal byte* Keys;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeParquetFilter
    {
        internal fixed byte Column[256];
        internal uint RowGroup, ColumnNumber;
        internal byte* PhysicalType;
        internal ulong Offset, SizeBytes, Blocks;
        internal ulong Encrypted; // a one-byte flag, then seven reserved bytes
    }

    internal static unsafe class Native
    {
        private const string Library = "libpetal"; // on Windows, petal.dll and Petal.dll would be
                                                   // the same file
        internal const ulong NoOffset = ulong.MaxValue;
        internal const uint Offsets32 = 1, Offsets64 = 2, Fixed = 3, Integers = 4;
        internal const uint CanHoldEmptyKey = 0x4000;
        internal const uint AllLayers = uint.MaxValue;
        internal const int Unreachable = -2;

        // On success, the status is 0 or positive; on failure, it is negative.
        internal const int Damaged = -14;
        internal const int Ok = 0, Seen = 1, Absent = 2, Unchecked = 3;

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        internal delegate int Sink(IntPtr context, IntPtr bytes, UIntPtr size);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern byte* petal_status_name(int status);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern byte* petal_version();

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_create(NativeOptions* options, IntPtr* filter,
                                                NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_create_like(IntPtr pattern, IntPtr* filter,
                                                     NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_clone(IntPtr filter, IntPtr* copy, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern void petal_free(IntPtr filter);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_add(IntPtr filter, byte* key, UIntPtr size);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern byte petal_contains(IntPtr filter, byte* key, UIntPtr size);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_remove(IntPtr filter, byte* key, UIntPtr size);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_add_i64(IntPtr filter, long value);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern byte petal_contains_i64(IntPtr filter, long value);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern ulong petal_hash_key(IntPtr filter, byte* key, UIntPtr size);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern void petal_encode_i32(int value, byte* key);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern void petal_encode_i64(long value, byte* key);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern void petal_encode_f64(double value, byte* key);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_last_error(IntPtr filter, NativeError* error);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_save(IntPtr filter, byte* path, NativeSaveOptions* options,
                                              NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_open(byte* path, NativeOpenOptions* options,
                                              IntPtr* filter, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_sync(IntPtr filter, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_verify(IntPtr filter, NativeError* error);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_add_batch(IntPtr filter, NativeBatch* batch, byte* results,
                                                   NativeOutcome* outcome, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_contains_batch(IntPtr filter, NativeBatch* batch,
                                                        byte* results, NativeOutcome* outcome,
                                                        NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_remove_batch(IntPtr filter, NativeBatch* batch,
                                                      byte* results, NativeOutcome* outcome,
                                                      NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_contains_any(IntPtr filter, NativeBatch* batch,
                                                      byte* answer, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_contains_all(IntPtr filter, NativeBatch* batch,
                                                      byte* answer, NativeError* error);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_plan(NativeOptions* options, NativeInfo* plan,
                                              NativeLayersInfo* layers, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern double petal_predict_rate(NativeInfo* info, ulong keys);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_get_info(IntPtr filter, uint layer, NativeInfo* info,
                                                  NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_get_layers_info(IntPtr filter, uint layer,
                                                         NativeLayersInfo* info,
                                                         NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_get_file_info(IntPtr filter, NativeFileInfo* info,
                                                       NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_get_stats(IntPtr filter, uint layer, NativeStats* stats,
                                                   NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_content_id(IntPtr filter, ulong* id, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern byte petal_is_overfull(IntPtr filter);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern byte* petal_metadata(IntPtr filter, ulong* size);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_set_metadata(IntPtr filter, byte* metadata, ulong size,
                                                      NativeError* error);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_clear(IntPtr filter, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_allow_threads(IntPtr filter, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_freeze(IntPtr filter, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_merge(IntPtr filter, IntPtr other, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_intersect(IntPtr filter, IntPtr other, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_compare(IntPtr a, IntPtr b, NativeComparison* comparison,
                                                 NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_drop_counts(IntPtr filter, IntPtr* dropped,
                                                     NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_fold(IntPtr filter, NativeFoldOptions* options,
                                              IntPtr* folded, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_set_clock(IntPtr filter, ulong nowMs, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern uint petal_shard_of(byte* key, UIntPtr size, uint shards);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern byte petal_format_at(uint place, NativeFormat* format);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern ulong petal_recognize(byte* bytes, ulong size, byte** names,
                                                     ulong room);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern ulong petal_serialized_bytes(IntPtr filter,
                                                            NativeSaveOptions* options);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_serialize(IntPtr filter, NativeSaveOptions* options,
                                                   byte* bytes, ulong size, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_write(IntPtr filter, NativeSaveOptions* options, Sink sink,
                                               IntPtr context, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_load(byte* bytes, ulong size, NativeOpenOptions* options,
                                              IntPtr* filter, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_view(byte* bytes, ulong size, NativeOpenOptions* options,
                                              IntPtr* filter, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_diff(IntPtr from, IntPtr to, Sink sink, IntPtr context,
                                              NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_apply_patch(IntPtr filter, byte* patch, ulong size,
                                                     ulong memoryLimit, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_reader_create(NativeOpenOptions* options, ulong expected,
                                                       IntPtr* reader, NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_reader_feed(IntPtr reader, byte* bytes, UIntPtr size,
                                                     NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_reader_finish(IntPtr reader, IntPtr* filter,
                                                       NativeError* error);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern void petal_reader_free(IntPtr reader);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern int petal_parquet_list(byte* bytes, ulong size,
                                                      NativeParquetFilter* list, ulong room,
                                                      ulong* count, NativeError* error);

        // ---- text ----

        internal static readonly Encoding Utf8 = new UTF8Encoding(false, true);

        // Converts a C string; null for NULL.
        internal static string Text(byte* text)
        {
            if (text == null)
                return null;
            int size = 0;
            while (text[size] != 0)
                size++;
            return size == 0 ? "" : Encoding.UTF8.GetString(text, size);
        }

        // UTF-8 with a terminating 0; null for null.
        internal static byte[] Path(string text, string parameter)
        {
            if (text == null)
                return null;
            if (text.IndexOf('\0') >= 0)
                throw new ArgumentException("a NUL character", parameter);
            byte[] bytes = new byte[Utf8.GetByteCount(text) + 1];
            Utf8.GetBytes(text, 0, text.Length, bytes, 0);
            return bytes;
        }
    }
}
