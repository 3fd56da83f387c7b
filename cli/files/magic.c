/* magic.c - see magic.h. Each row is taken from the format's specification. A word list could start
 * with a magic number that consists only of letters. Such a number counts only if a control
 * character follows within a few bytes, as in every file of such a format. */
#include "files/magic.h"

#include <string.h>

#define BYTES(text) (text), sizeof(text) - 1

static const struct magic magics[] = {
    {MAGIC_GZIP, "gzip", "gzip -dc", BYTES("\x1f\x8b"), 0, false},
    {MAGIC_ZSTD, "zstd", "zstd -dc", BYTES("\x28\xb5\x2f\xfd"), 0, false},
    {MAGIC_ZSTD, "zstd", "zstd -dc", BYTES("\x50\x2a\x4d\x18"), 0, false}, /* by pzstd */
    {MAGIC_PACKED, "xz", "xz -dc",
     BYTES("\xfd"
           "7zXZ\0"),
     0, false},
    {MAGIC_PACKED, "bzip2", "bzip2 -dc", BYTES("BZh?\x31\x41\x59\x26\x53\x59"), 0, false},
    {MAGIC_PACKED, "bzip2", "bzip2 -dc", BYTES("BZh?\x17\x72\x45\x38\x50\x90"), 0,
     false}, /* empty */
    {MAGIC_PACKED, "lz4", "lz4 -dc", BYTES("\x04\x22\x4d\x18"), 0, false},
    {MAGIC_PACKED, "lz4", "lz4 -dc", BYTES("\x02\x21\x4c\x18"), 0, false},
    {MAGIC_PACKED, "lzip", "lzip -dc", BYTES("LZIP\x01"), 0, false},
    {MAGIC_PACKED, "lzma", "xz -dc", BYTES("\x5d\0\0"), 0, false},
    {MAGIC_PACKED, "lzop", "lzop -dc", BYTES("\x89LZO\0"), 0, false},
    {MAGIC_PACKED, "compress", "gzip -dc", BYTES("\x1f\x9d"), 0, false},
    {MAGIC_PACKED, "snappy", "python3 -m snappy -d -i", BYTES("\xff\x06\0\0sNaPpY"), 0, false},
    {MAGIC_PACKED, "zip", "unzip -p", BYTES("PK\x03\x04"), 0, false},
    {MAGIC_PACKED, "zip", "unzip -p", BYTES("PK\x05\x06"), 0, false}, /* empty */
    {MAGIC_PACKED, "7-Zip", "7z x -so", BYTES("7z\xbc\xaf\x27\x1c"), 0, false},
    {MAGIC_PACKED, "RAR", "unrar p -inul", BYTES("Rar!\x1a\x07"), 0, false},
    {MAGIC_DATA, "a Parquet file", NULL, BYTES("PAR1"), 0, true},
    {MAGIC_DATA, "a Parquet file", NULL, BYTES("PARE"), 0, true}, /* encrypted */
    {MAGIC_DATA, "an ORC file", NULL, BYTES("ORC"), 0, true},
    {MAGIC_DATA, "an SQLite database", NULL, BYTES("SQLite format 3\0"), 0, false},
    {MAGIC_DATA, "an Arrow file", NULL, BYTES("ARROW1\0\0"), 0, false},
    {MAGIC_DATA, "an Arrow stream", NULL, BYTES("\xff\xff\xff\xff??\0\0\x10\0\0\0"), 0, false},
    {MAGIC_DATA, "a Feather file", NULL, BYTES("FEA1"), 0, true},
    {MAGIC_DATA, "an Avro file", NULL, BYTES("Obj\x01"), 0, false},
    {MAGIC_DATA, "an HDF5 file", NULL, BYTES("\x89HDF\r\n\x1a\n"), 0, false},
    {MAGIC_DATA, "a numpy array", NULL, BYTES("\x93NUMPY"), 0, false},
    {MAGIC_DATA, "a Python pickle", NULL, BYTES("\x80\x04\x95"), 0, false},
    {MAGIC_DATA, "a Python pickle", NULL, BYTES("\x80\x05\x95"), 0, false},
    {MAGIC_DATA, "an Excel file", NULL, BYTES("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), 0, false},
    {MAGIC_DATA, "a tar archive", NULL, BYTES("ustar"), 257, true},
    {MAGIC_UTF16, "UTF-16 text", NULL, BYTES("\xff\xfe"), 0, false},
    {MAGIC_UTF16, "UTF-16 text", NULL, BYTES("\xfe\xff"), 0, false},
};

enum { MAGICS = sizeof magics / sizeof magics[0], NEARBY = 64 };

static bool has_control(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((bytes[i] < 0x20 && (bytes[i] < '\t' || bytes[i] > '\r')) || bytes[i] == 0x7f)
            return true;
    return false;
}

/* Compares a magic number with the file, up to the end of the shorter one. */
static bool agrees(const struct magic *magic, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < magic->size_bytes && i < size; i++)
        if (magic->bytes[i] != '?' && (unsigned char)magic->bytes[i] != bytes[i]) return false;
    return true;
}

const struct magic *magic_of(const void *bytes, size_t size_bytes)
{
    const unsigned char *begin = bytes;
    for (const struct magic *magic = magics; magic < magics + MAGICS; magic++) {
        if (size_bytes < magic->at + magic->size_bytes) continue;
        const unsigned char *at = begin + magic->at;
        size_t left = size_bytes - magic->at;
        if (!agrees(magic, at, left)) continue;
        if (!magic->letters || has_control(at, left < NEARBY ? left : NEARBY)) return magic;
    }
    return NULL;
}

bool magic_may_follow(const void *bytes, size_t size_bytes)
{
    for (const struct magic *magic = magics; magic < magics + MAGICS; magic++)
        if (magic->kind <= MAGIC_ZSTD && size_bytes < magic->size_bytes &&
            agrees(magic, bytes, size_bytes))
            return true;
    return false;
}
