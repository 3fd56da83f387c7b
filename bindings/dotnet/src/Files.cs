// Files.cs - reading filters from files, bytes and streams, and writing them.
using System;
using System.IO;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace Petal
{
    public sealed unsafe partial class BloomFilter<T>
    {
        private const int PieceBytes = 1 << 18;
        private const int TooManyFiles = 24;      // EMFILE
        private const int MostBytes = 0x7fffffc7; // maximum array length

        // ---- files ----

        /// <summary>The file that the filter was opened from; null if there is none.</summary>
        public string Path { get; private set; }

        /// <summary>Maps a file for reading, in any format.</summary>
        /// <exception cref="FormatException">The file is not a filter, or is damaged.</exception>
        /// <exception cref="IOException">The file can't be read, or another process is changing
        /// it.</exception>
        /// <exception cref="ArgumentException">The keys are not of type T, the filter is keyed but
        /// no secret was given, or several formats match.</exception>
        public static BloomFilter<T> Open(string path) => Open(path, new OpenOptions());

        /// <summary>Opens a file in the given mode.</summary>
        public static BloomFilter<T> Open(string path, OpenMode mode)
        {
            return Open(path, new OpenOptions { Mode = mode });
        }

        /// <summary>Opens a file.</summary>
        public static BloomFilter<T> Open(string path, OpenOptions options)
        {
            if (path == null)
                throw new ArgumentNullException("path");
            if (options == null)
                throw new ArgumentNullException("options");
            Keys.KindOf(typeof(T));
            IntPtr filter = IntPtr.Zero;
            NativeError error;
            int status;
            fixed(byte* at = Native.Path(path, "path"))
            {
                status = options.Call(at, null, 0, &filter, &error);
                if (status < 0 && error.Errno == TooManyFiles)
                {
                    // Unreachable filters may hold some of the descriptors.
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                    status = options.Call(at, null, 0, &filter, &error);
                }
            }
            Check(status, &error, path);
            return new BloomFilter<T>(filter, path, options.KeyType);
        }

        /// <summary>Writes a petal file. At all times the path names either the old file or the
        /// complete new one.</summary>
        public void Save(string path)
        {
            Save(path, null, true);
        }

        /// <summary>Writes a file in this format.</summary>
        /// <param name="path">The file.</param>
        /// <param name="format">A format such as "guava", or null for a petal file.</param>
        /// <param name="replace">Whether to replace an existing file, or throw IOException.</param>
        public void Save(string path, string format, bool replace = true)
        {
            if (path == null)
                throw new ArgumentNullException("path");
            NativeError error;
            int status;
            fixed(byte* at = Native.Path(path, "path"), name = Native.Path(format, "format"))
            {
                NativeSaveOptions options = new NativeSaveOptions(name, replace ? 0u : 1u);
                core.EnterChange(); // saving to its own file is a sync
                status = Native.petal_save(core.Filter, at, &options, &error);
                core.LeaveChange();
            }
            Check(status, &error, path);
        }

        /// <summary>Makes all changes to a writable file durable.</summary>
        public void Sync()
        {
            NativeError error;
            core.EnterChange();
            int status = Native.petal_sync(core.Filter, &error);
            core.LeaveChange();
            Check(status, &error, Path);
        }

        /// <summary>Checks every block of a mapped petal file against its checksum.</summary>
        /// <returns>False if there are no checksums to compare with.</returns>
        /// <exception cref="FormatException">A block is damaged.</exception>
        public bool Verify()
        {
            NativeError error;
            bool asChange = core.EnterRead();
            int status = Native.petal_verify(core.Filter, &error);
            core.Leave(asChange);
            Check(status, &error, Path);
            return status != Native.Unchecked;
        }

        // ---- bytes ----

        /// <summary>The bytes of the file that Save() would write.</summary>
        public byte[] ToBytes(string format = null)
        {
            NativeError error;
            int status = Native.Ok;
            byte[] bytes;
            fixed(byte* name = Native.Path(format, "format"))
            {
                NativeSaveOptions options = new NativeSaveOptions(name, 0);
                bool asChange = core.EnterRead();
                try
                {
                    ulong size = Native.petal_serialized_bytes(core.Filter, &options);
                    if (size > MostBytes)
                        throw Failure.TooLarge(size);
                    bytes = new byte[Math.Max(1, (int)size)];
                    // If the format can't represent the filter, the size is 0, and the call below
                    // gives the reason.
                    fixed(byte* at = bytes) status =
                        Native.petal_serialize(core.Filter, &options, at, size, &error);
                }
                finally
                {
                    core.Leave(asChange);
                }
            }
            Check(status, &error, Path);
            return bytes;
        }

        /// <summary>Loads a filter from the bytes of a file, in any format, as a copy in
        /// memory.</summary>
        public static BloomFilter<T> FromBytes(byte[] bytes)
        {
            return FromBytes(bytes, new OpenOptions());
        }

        /// <summary>Loads a filter from the bytes of a file, as a copy in memory. Ignores Mode,
        /// Live, Locked and NoLock.</summary>
        public static BloomFilter<T> FromBytes(byte[] bytes, OpenOptions options)
        {
            if (bytes == null)
                throw new ArgumentNullException("bytes");
            return FromBytes(bytes, 0, bytes.Length, options);
        }

        /// <summary>Loads a filter from part of an array.</summary>
        public static BloomFilter<T> FromBytes(byte[] bytes, int offset, int count,
                                               OpenOptions options)
        {
            if (bytes == null)
                throw new ArgumentNullException("bytes");
            if (options == null)
                throw new ArgumentNullException("options");
            if (offset < 0 || count < 0 || offset > bytes.Length - count)
                throw new ArgumentOutOfRangeException("count", count, "past the array");
            Keys.KindOf(typeof(T));
            IntPtr filter = IntPtr.Zero;
            NativeError error;
            int status;
            byte none;
            fixed(byte* at = bytes) status =
                options.Call(null, at == null ? &none : at + offset, (ulong)count, &filter, &error);
            Check(status, &error, null);
            return new BloomFilter<T>(filter, null, options.KeyType);
        }

        // ---- views ----

        /// <summary>Creates a read-only filter that uses these bytes in place, without a
        /// copy.</summary>
        public static BloomFilter<T> View(byte[] bytes) => View(bytes, new OpenOptions());

        /// <summary>Creates a read-only filter that uses these bytes in place, without a copy. The
        /// array is pinned and must not change until Dispose(). Ignores Mode, Recover, Live, Locked
        /// and NoLock.</summary>
        public static BloomFilter<T> View(byte[] bytes, OpenOptions options)
        {
            if (bytes == null)
                throw new ArgumentNullException("bytes");
            GCHandle pinned = GCHandle.Alloc(bytes, GCHandleType.Pinned);
            try
            {
                return View(pinned.AddrOfPinnedObject(), bytes.Length, options, pinned);
            }
            catch
            {
                pinned.Free();
                throw;
            }
        }

        /// <summary>Creates a read-only filter over memory that must not change until Dispose(),
        /// such as a mapped file.</summary>
        public static BloomFilter<T> View(IntPtr bytes, long size, OpenOptions options)
        {
            if (bytes == IntPtr.Zero)
                throw new ArgumentNullException("bytes");
            return View(bytes, size, options, default(GCHandle));
        }

        private static BloomFilter<T> View(IntPtr bytes, long size, OpenOptions options,
                                           GCHandle viewed)
        {
            if (options == null)
                throw new ArgumentNullException("options");
            ulong count = FilterOptions.Unsigned(size, "size");
            Keys.KindOf(typeof(T));
            IntPtr filter = IntPtr.Zero;
            NativeError error;
            Check(options.Call(null, (byte*)bytes, count, &filter, &error, true), &error, null);
            return new BloomFilter<T>(filter, null, options.KeyType, viewed);
        }

        // ---- patches ----

        /// <summary>Computes the patch from this filter to another, for copies that follow a filter
        /// as it changes.</summary>
        /// <exception cref="ArgumentException">The filters differ in more than their
        /// keys.</exception>
        public byte[] Diff(BloomFilter<T> to)
        {
            if (to == null)
                throw new ArgumentNullException("to");
            MemoryStream patch = new MemoryStream();
            NativeError error;
            ExceptionDispatchInfo thrown = null;
            Native.Sink sink = SinkOf(patch, exception => thrown = exception);
            bool asChange = Core.EnterTwo(core, to.core, false);
            int status = Native.petal_diff(core.Filter, to.core.Filter, sink, IntPtr.Zero, &error);
            Core.LeaveTwo(core, to.core, asChange);
            GC.KeepAlive(sink);
            if (thrown != null)
                thrown.Throw();
            Check(status, &error, Path);
            return patch.ToArray();
        }

        /// <summary>Applies a patch to this filter. If this fails, the filter is left
        /// unchanged.</summary>
        /// <param name="patch">A patch from Diff(), or made by another language's binding.</param>
        /// <param name="memoryLimit">The number of bytes that new layers may allocate.
        /// 0 means the limit given when the filter was opened; -1 means no limit.</param>
        /// <exception cref="ArgumentException">The patch is for another filter, or has already been
        /// applied.</exception>
        /// <exception cref="FormatException">The bytes are not a patch, or are damaged.</exception>
        public void ApplyPatch(byte[] patch, long memoryLimit = 0)
        {
            if (patch == null)
                throw new ArgumentNullException("patch");
            ulong limit = OpenOptions.Limit(memoryLimit, "memoryLimit");
            NativeError error;
            int status;
            byte none;
            fixed(byte* at = patch)
            {
                core.EnterChange();
                status = Native.petal_apply_patch(core.Filter, at == null ? &none : at,
                                                  (ulong)patch.Length, limit, &error);
                core.LeaveChange();
            }
            Check(status, &error, Path);
        }

        // ---- streams ----

        // A sink that writes to the stream. Exceptions must not pass through the library, so
        // `caught` receives them.
        private static Native.Sink SinkOf(Stream stream, Action<ExceptionDispatchInfo> caught)
        {
            byte[] piece = new byte[PieceBytes];
            return (context, bytes, size) =>
            {
                try
                {
                    for (ulong from = 0; from < (ulong)size; from += PieceBytes)
                    {
                        int count = (int)Math.Min((ulong)size - from, PieceBytes);
                        Marshal.Copy((IntPtr)((byte*)bytes + from), piece, 0, count);
                        stream.Write(piece, 0, count);
                    }
                    return 0;
                }
                catch (Exception exception)
                {
                    caught(ExceptionDispatchInfo.Capture(exception));
                    return 1;
                }
            };
        }

        /// <summary>Writes the bytes of ToBytes() to a stream, in pieces. While this runs, the
        /// stream may query the filter, but not change it.</summary>
        public void Write(Stream stream, string format = null)
        {
            if (stream == null)
                throw new ArgumentNullException("stream");
            ExceptionDispatchInfo thrown = null;
            Native.Sink sink = SinkOf(stream, exception => thrown = exception);
            int status;
            NativeError error;
            fixed(byte* name = Native.Path(format, "format"))
            {
                NativeSaveOptions options = new NativeSaveOptions(name, 0);
                bool asChange = core.EnterRead();
                core.BeginWriting();
                status = Native.petal_write(core.Filter, &options, sink, IntPtr.Zero, &error);
                core.EndWriting();
                core.Leave(asChange);
            }
            GC.KeepAlive(sink);
            if (thrown != null)
                thrown.Throw();
            Check(status, &error, Path);
        }

        /// <summary>Loads a filter from a stream, read to its end.</summary>
        public static BloomFilter<T> Read(Stream stream) => Read(stream, new OpenOptions());

        /// <summary>Loads a filter from a stream, read to its end. Ignores Mode, Live, Locked and
        /// NoLock.</summary>
        public static BloomFilter<T> Read(Stream stream, OpenOptions options)
        {
            if (stream == null)
                throw new ArgumentNullException("stream");
            if (options == null)
                throw new ArgumentNullException("options");
            Keys.KindOf(typeof(T));
            IntPtr reader = IntPtr.Zero, filter = IntPtr.Zero;
            NativeError error;
            Check(options.Call(null, null, 0, &reader, &error), &error, null);
            try
            {
                byte[] piece = new byte[PieceBytes];
                int got;
                while ((got = stream.Read(piece, 0, piece.Length)) != 0)
                {
                    if (got < 0 || got > piece.Length)
                        throw new IOException("the stream says it has read " + got + " of " +
                                              piece.Length + " bytes");
                    fixed(byte* at = piece)
                        Check(Native.petal_reader_feed(reader, at, (UIntPtr)(uint)got, &error),
                              &error, null);
                }
                Check(Native.petal_reader_finish(reader, &filter, &error), &error, null);
            }
            finally
            {
                Native.petal_reader_free(reader);
            }
            return new BloomFilter<T>(filter, null, options.KeyType);
        }
    }
}
