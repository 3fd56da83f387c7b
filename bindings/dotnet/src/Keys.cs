// Keys.cs - converts .NET keys to bytes, which are the same in every language (petal_encode_*):
//
//   string               UTF-8 (in a filter of UTF-16LE keys: its chars)
//   byte[]               these bytes
//   sbyte to ulong       8 bytes, little-endian (in a filter of i32 keys: 4); out of range:
//                        OverflowException
//   float, double        the 8 bytes of a double, -0.0 as 0.0, one NaN
//
// A BloomFilter<object> accepts all of these. bool, char, decimal, Guid and all other types are not
// keys; the caller must convert them to bytes. A filter whose file records a key type accepts only
// that type and byte[]: a key of another type was certainly never added.
using System;

namespace Petal
{
    internal enum Kind
    {
        Any,
        Text,
        Bytes,
        Integer,
        Fraction
    }

    internal static class Keys
    {
        private const string What =
            "a key is string, byte[], a whole number, float or double, not ";

        private static readonly string[] names = { "",    "text", "utf16le", "i32",
                                                   "i64", "f64",  "hex",     "base64" };

        internal static Kind KindOf(Type type)
        {
            if (type == typeof(object))
                return Kind.Any;
            if (type == typeof(string))
                return Kind.Text;
            if (type == typeof(byte[]))
                return Kind.Bytes;
            if (type.IsEnum)
                throw new NotSupportedException(What + type);
            switch (Type.GetTypeCode(type))
            {
            case TypeCode.SByte:
            case TypeCode.Byte:
            case TypeCode.Int16:
            case TypeCode.UInt16:
            case TypeCode.Int32:
            case TypeCode.UInt32:
            case TypeCode.Int64:
            case TypeCode.UInt64:
                return Kind.Integer;
            case TypeCode.Single:
            case TypeCode.Double:
                return Kind.Fraction;
            default:
                throw new NotSupportedException(What + type);
            }
        }

        // The kind of one key in a BloomFilter<object>.
        internal static Kind KindOf(object key)
        {
            if (key == null)
                throw new ArgumentNullException("key");
            try
            {
                Kind kind = KindOf(key.GetType());
                if (kind != Kind.Any)
                    return kind;
            }
            catch (NotSupportedException)
            {
            }
            throw new ArgumentException(What + key.GetType());
        }

        internal static bool Fits(Kind kind, KeyType type)
        {
            switch (type)
            {
            case KeyType.None:
                return true;
            case KeyType.Text:
            case KeyType.Utf16LE:
                return kind == Kind.Text || kind == Kind.Bytes;
            case KeyType.I32:
            case KeyType.I64:
                return kind == Kind.Integer || kind == Kind.Bytes;
            case KeyType.F64:
                return kind == Kind.Fraction || kind == Kind.Bytes;
            default:
                return kind == Kind.Bytes;
            }
        }

        internal static Exception Unfit(KeyType type, Type keys)
        {
            return new ArgumentException("the filter has " + names[(int)type] + " keys, not " +
                                         keys);
        }

        // The file's key type, or the caller's if the file records none.
        internal static KeyType Choose(KeyType recorded, KeyType asked)
        {
            bool bytes = recorded >= KeyType.Hex && asked >= KeyType.Hex;
            if (recorded == KeyType.None || asked == KeyType.None || recorded == asked || bytes)
                return recorded == KeyType.None ? asked : recorded;
            throw new ArgumentException("the filter has " + names[(int)recorded] + " keys, not " +
                                        names[(int)asked]);
        }

        // Throws OverflowException for integers out of range.
        internal static long ToInteger(object key)
        {
            if (key is ulong)
                return checked((long)(ulong)key);
            return Convert.ToInt64(key);
        }

        // The bits of the canonical double, as an integer; its bytes are the key.
        internal static long ToBits(double value)
        {
            if (value == 0)
                return 0;
            return double.IsNaN(value) ? 0x7ff8000000000000 : BitConverter.DoubleToInt64Bits(value);
        }

        internal static unsafe int PutLittle(byte* at, long value, int size)
        {
            for (int i = 0; i < size; i++)
                at[i] = (byte)(value >> (8 * i));
            return size;
        }
    }
}
