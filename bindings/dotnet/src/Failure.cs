// Failure.cs - converts the core's failures to .NET's own exceptions, with the message unchanged.
using System;
using System.IO;

namespace Petal
{
    /// <summary>The details that the core reported in addition to the message. They are stored in
    /// the exception.</summary>
    /// <remarks> Invalid arguments, filters of other kinds, wrong secrets: ArgumentException.
    /// Operations that a filter's kind doesn't support, and changes to a filter opened for reading:
    /// NotSupportedException. A full filter: InvalidOperationException. Bytes that are not a
    /// complete filter, are damaged, or were left by a writer that died: FormatException. Files:
    /// IOException, FileNotFoundException, DirectoryNotFoundException, UnauthorizedAccessException.
    /// Not enough memory: InsufficientMemoryException. A closed filter: ObjectDisposedException.
    /// </remarks>
    public sealed class Failure
    {
        private const string Key = "petal";

        private Failure(string status, long? offset, int errno, string path)
        {
            Status = status;
            Offset = offset;
            Errno = errno;
            Path = path;
        }

        /// <summary>The core's name for the failure, such as "damaged".</summary>
        public string Status { get; private set; }

        /// <summary>The offset in the input, or the index of the key; null if there is
        /// none.</summary>
        public long? Offset { get; private set; }

        /// <summary>The operating system's error number, or 0.</summary>
        public int Errno { get; private set; }

        /// <summary>The file; null if there is none.</summary>
        public string Path { get; private set; }

        /// <summary>The core's failure; null if the exception doesn't come from the core.</summary>
        public static Failure Of(Exception exception)
        {
            if (exception == null)
                throw new ArgumentNullException("exception");
            return exception.Data[Key] as Failure;
        }

        // ---- creating exceptions ----

        internal static unsafe Exception Of(NativeError* error, string path)
        {
            string message = Native.Text(error->Message);
            Exception made = Make(error->Status, error->Errno, message, path);
            long? offset = null;
            if (error->Offset != Native.NoOffset)
                offset = (long)error->Offset;
            string status = Native.Text(Native.petal_status_name(error->Status));
            made.Data[Key] = new Failure(status, offset, error->Errno, path);
            return made;
        }

        // The exception for a key in a batch, with the key's index.
        internal static Exception At(long index, Exception wrong)
        {
            string message = "key " + index + ": " + wrong.Message;
            Exception made = wrong is OverflowException
                                 ? new OverflowException(message, wrong)
                                 : (Exception) new ArgumentException(message, wrong);
            if (wrong is ArgumentNullException)
                made = new ArgumentNullException("keys", "key " + index + " is null");
            made.Data[Key] = new Failure("bad argument", index, 0, null);
            return made;
        }

        // Adds a key's index in the batch to a failure that the core reported for that key alone.
        internal static void Move(Exception said, long index)
        {
            Failure of = Of(said);
            said.Data[Key] = new Failure(of.Status, index, of.Errno, of.Path);
        }

        internal static Exception TooLarge(ulong size)
        {
            Exception made = new NotSupportedException(
                "the file has " + size + " bytes, more than an array holds; use Save() or Write()");
            made.Data[Key] = new Failure("over a limit", null, 0, null);
            return made;
        }

        private static Exception Make(int status, int errno, string message, string path)
        {
            switch (status)
            {
            case -4:
                return new InsufficientMemoryException(message);
            case -6: // read-only
            case -7: // unsupported
                return new NotSupportedException(message);
            case -8:
                return MakeIO(errno, message, path);
            case -9:  // exists
            case -10: // busy
            case -19: // replaced
                return new IOException(message);
            case -11: // not a filter
            case -12: // newer
            case -13: // truncated
            case -14: // damaged
            case -15: // dirty
                return new FormatException(message);
            case -18:
                return new InvalidOperationException(message); // full
            default:
                return new ArgumentException(message);
            }
        }

        private static Exception MakeIO(int errno, string message, string path)
        {
            const int NotPermitted = 1, NoEntry = 2, NoAccess = 13, NotADirectory = 20;
            switch (errno)
            {
            case NotPermitted:
            case NoAccess:
                return new UnauthorizedAccessException(message);
            case NoEntry:
                return new FileNotFoundException(message, path);
            case NotADirectory:
                return new DirectoryNotFoundException(message);
            default:
                return new IOException(message);
            }
        }

        internal static Exception Closed()
        {
            return new ObjectDisposedException(null, "the filter is closed");
        }

        internal static Exception InUse()
        {
            return new InvalidOperationException(
                "the filter cannot be changed or closed by the stream that it is written to");
        }
    }
}
