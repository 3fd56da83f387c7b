/* parquet_file.c - finds the Bloom filters in a whole .parquet file, by column and row group:
 * petal_parquet_list().
 *
 *     PAR1 | pages, filters, indexes | FileMetaData (Thrift) [28 bytes of signature]
 *          | its size, 4 bytes LE | PAR1
 *
 *     FileMetaData  4: row_groups -> 1: columns -> ColumnChunk
 *     ColumnChunk   1: file_path (another file)   3: meta_data   8: crypto_metadata
 *                   9: encrypted_column_metadata
 *     meta_data     1: type   3: path_in_schema   14: bloom_filter_offset
 *                   15: bloom_filter_length (since Parquet 2.10)
 *
 * Only these fields are read, and all other fields are skipped. Each byte of the footer is read
 * once. If bloom_filter_length is missing, the length is computed from the filter's own header. A
 * file with an encrypted footer (PARE at the end) is refused. In a readable footer, encrypted
 * columns are listed as encrypted. docs/formats/parquet.md. */
#include "petal/petal_parquet.h"

#include "base/bytes.h"
#include "base/error.h"
#include "format/foreign/parquet.h"
#include "format/foreign/thrift.h"

#define MAGIC_BYTES 4u
#define TRAILER_BYTES 8u /* footer size and magic number */
/* The size of AES-GCM's nonce and tag, which follow a signed plaintext footer. */
#define SIGNATURE_BYTES 28u

/* The list built so far, and the column chunk being read. */
struct listing {
    const uint8_t *file;
    uint64_t footer_at; /* file offset of the footer; every filter must end before it */
    petal_parquet_filter *list;
    uint64_t list_count, count;
    bool has_row_groups, is_signed;
    petal_status status; /* the error if the Thrift is well-formed but contains impossible values */
    petal_error *error;

    petal_parquet_filter now;
    size_t column_size; /* length of the text in now.column */
    int64_t offset, length;
    bool has_offset, has_length, has_meta_data;
};

static bool refuse(struct listing *listing, petal_status status)
{
    listing->status = status;
    return false;
}

/* ---- a column -------------------------------------------------------------------------------- */

/* Appends a component of the column's path. Programs display the path, so any byte that could
 * confuse a terminal or break a line is replaced with '?'. */
static bool take_path_part(struct thrift *in, const struct thrift_field *field, void *context)
{
    struct listing *listing = context;
    char *column = listing->now.column;
    const uint8_t *data;
    uint64_t size_bytes;
    if (!petal_thrift_binary(in, field, &data, &size_bytes)) return false;
    if (field->id > 0 && listing->column_size < PETAL_PARQUET_COLUMN_BYTES - 1)
        column[listing->column_size++] = '.';
    for (uint64_t i = 0; i < size_bytes && listing->column_size < PETAL_PARQUET_COLUMN_BYTES - 1;
         i++)
        column[listing->column_size++] = (char)(data[i] < 0x20 || data[i] == 0x7f ? '?' : data[i]);
    column[listing->column_size] = '\0';
    return true;
}

static bool take_path(struct thrift *in, const struct thrift_field *field, struct listing *listing)
{
    listing->column_size = 0;
    return petal_thrift_is(field, THRIFT_LIST) && petal_thrift_list(in, take_path_part, listing);
}

static const char *type_name(int64_t type)
{
    static const char *const names[] = {"BOOLEAN", "INT32",  "INT64",      "INT96",
                                        "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};
    return type >= 0 && type < (int64_t)(sizeof names / sizeof *names) ? names[type] : "unknown";
}

static bool take_meta_data(struct thrift *in, const struct thrift_field *field, void *context)
{
    struct listing *listing = context;
    int64_t type;
    switch (field->id) {
    case 1:
        if (!petal_thrift_integer(in, field, THRIFT_I32, &type)) return false;
        listing->now.physical_type = type_name(type);
        return true;
    case 3: return take_path(in, field, listing);
    case 14:
        return listing->has_offset = petal_thrift_integer(in, field, THRIFT_I64, &listing->offset);
    case 15:
        return listing->has_length = petal_thrift_integer(in, field, THRIFT_I32, &listing->length);
    default: return petal_thrift_skip(in, field);
    }
}

/* EncryptionWithColumnKey repeats the column's path, because the metadata may be encrypted. */
static bool take_column_key(struct thrift *in, const struct thrift_field *field, void *context)
{
    return field->id == 1 ? take_path(in, field, context) : petal_thrift_skip(in, field);
}

static bool take_crypto(struct thrift *in, const struct thrift_field *field, void *context)
{
    if (field->id != 2) return petal_thrift_skip(in, field);
    return petal_thrift_is(field, THRIFT_STRUCT) &&
           petal_thrift_struct(in, take_column_key, context);
}

/* Refuses a column chunk stored in another file, because its offsets refer to the other file. */
static bool take_file_path(struct thrift *in, const struct thrift_field *field,
                           struct listing *listing)
{
    const uint8_t *path;
    uint64_t size_bytes;
    if (!petal_thrift_binary(in, field, &path, &size_bytes)) return false;
    if (size_bytes == 0) return true;
    return refuse(
        listing, petal_fail_at(listing->error, PETAL_ERR_UNSUPPORTED, listing->footer_at + in->at,
                               "its columns are in other files (a _metadata summary); list those"));
}

static bool take_chunk_field(struct thrift *in, const struct thrift_field *field, void *context)
{
    struct listing *listing = context;
    switch (field->id) {
    case 1: return take_file_path(in, field, listing);
    case 3:
        listing->has_meta_data = true;
        return petal_thrift_is(field, THRIFT_STRUCT) &&
               petal_thrift_struct(in, take_meta_data, listing);
    case 8:
        listing->now.encrypted = true;
        return petal_thrift_is(field, THRIFT_STRUCT) &&
               petal_thrift_struct(in, take_crypto, listing);
    default: return petal_thrift_skip(in, field);
    }
}

/* ---- its filter ------------------------------------------------------------------------------ */

static petal_status lies_outside(const struct listing *listing)
{
    return petal_fail(
        listing->error, PETAL_ERR_DAMAGED,
        "damaged: the filter of column %.100s in row group %u lies outside the file's data; restore a copy",
        listing->now.column, listing->now.row_group);
}

/* Checks the filter's offset and size against the file and the filter's own header. */
static petal_status find_region(struct listing *listing)
{
    petal_parquet_filter *now = &listing->now;
    struct parquet_header header;
    if (listing->offset < MAGIC_BYTES || (uint64_t)listing->offset >= listing->footer_at)
        return lies_outside(listing);
    now->offset = (uint64_t)listing->offset;
    uint64_t room = listing->footer_at - now->offset;
    petal_status status = petal_parquet_read_header(listing->file + now->offset, room, now->offset,
                                                    &header, listing->error);
    if (status != PETAL_OK) return status;
    now->size_bytes = (uint64_t)header.header_bytes + header.bitset_bytes;
    now->blocks = header.bitset_bytes / 32;
    if (now->size_bytes > room) return lies_outside(listing);
    if (!listing->has_length || (uint64_t)listing->length == now->size_bytes) return PETAL_OK;
    return petal_fail_at(
        listing->error, PETAL_ERR_DAMAGED, now->offset,
        "damaged at byte %llu (the filter has %llu bytes, its footer says %lld); restore a copy",
        (unsigned long long)now->offset, (unsigned long long)now->size_bytes,
        (long long)listing->length);
}

/* Ends a column chunk. A chunk with encrypted metadata is listed too, because it may have a
 * filter. */
static bool end_chunk(struct listing *listing)
{
    bool hidden = listing->now.encrypted && !listing->has_meta_data;
    if (!listing->has_offset && !hidden) return true;
    if (!listing->now.encrypted) {
        petal_status status = find_region(listing);
        if (status != PETAL_OK) return refuse(listing, status);
    }
    if (listing->count < listing->list_count) listing->list[listing->count] = listing->now;
    listing->count++;
    return true;
}

/* ---- the footer ------------------------------------------------------------------------------ */

static bool take_chunk(struct thrift *in, const struct thrift_field *field, void *context)
{
    struct listing *listing = context;
    listing->now = (petal_parquet_filter){.row_group = listing->now.row_group,
                                          .column_number = (uint32_t)field->id,
                                          .physical_type = type_name(-1)};
    listing->column_size = 0;
    listing->has_offset = listing->has_length = listing->has_meta_data = false;
    return petal_thrift_is(field, THRIFT_STRUCT) &&
           petal_thrift_struct(in, take_chunk_field, listing) && end_chunk(listing);
}

static bool take_row_group_field(struct thrift *in, const struct thrift_field *field, void *context)
{
    if (field->id != 1) return petal_thrift_skip(in, field);
    return petal_thrift_is(field, THRIFT_LIST) && petal_thrift_list(in, take_chunk, context);
}

static bool take_row_group(struct thrift *in, const struct thrift_field *field, void *context)
{
    struct listing *listing = context;
    listing->now.row_group = (uint32_t)field->id;
    return petal_thrift_is(field, THRIFT_STRUCT) &&
           petal_thrift_struct(in, take_row_group_field, listing);
}

static bool take_file_field(struct thrift *in, const struct thrift_field *field, void *context)
{
    struct listing *listing = context;
    /* If a readable footer contains the field encryption_algorithm, the footer is signed. */
    if (field->id == 8) listing->is_signed = true;
    if (field->id != 4) return petal_thrift_skip(in, field);
    listing->has_row_groups = true;
    return petal_thrift_is(field, THRIFT_LIST) && petal_thrift_list(in, take_row_group, listing);
}

static petal_status read_footer(struct listing *listing, uint64_t footer_bytes)
{
    struct thrift in = {listing->file + listing->footer_at, 0, footer_bytes, false};
    bool well_formed = petal_thrift_struct(&in, take_file_field, listing);
    if (listing->status != PETAL_OK) return listing->status;
    if (!well_formed || !listing->has_row_groups)
        return petal_format_damaged(listing->error, listing->footer_at + in.at,
                                    "not a Parquet footer");
    if (in.at == in.end || (listing->is_signed && in.end - in.at == SIGNATURE_BYTES))
        return PETAL_OK;
    return petal_format_damaged(listing->error, listing->footer_at + in.at,
                                "bytes after the end of the footer");
}

static bool has_text(const uint8_t *at, const char *text)
{
    return memcmp(at, text, MAGIC_BYTES) == 0;
}

/* Checks the magic numbers at both ends of the file, and stores the size of the footer in
 * *footer_bytes. */
static petal_status find_footer(const uint8_t *file, uint64_t size_bytes, uint64_t *footer_bytes,
                                petal_error *error)
{
    bool whole = size_bytes >= MAGIC_BYTES + TRAILER_BYTES;
    const uint8_t *trailer = whole ? file + size_bytes - TRAILER_BYTES : file;
    if (size_bytes < MAGIC_BYTES || !(has_text(file, "PAR1") || has_text(file, "PARE")))
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0,
                             "not a Parquet file (PAR1 is not at its start)");
    if (whole && has_text(trailer + 4, "PARE"))
        return petal_fail_at(error, PETAL_ERR_UNSUPPORTED, size_bytes - MAGIC_BYTES,
                             "a Parquet file with an encrypted footer; decrypt it first");
    if (!whole || !has_text(trailer + 4, "PAR1"))
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (PAR1 is not at its end); copy it again");
    *footer_bytes = load32le(trailer);
    if (*footer_bytes <= size_bytes - MAGIC_BYTES - TRAILER_BYTES) return PETAL_OK;
    return petal_format_damaged(error, size_bytes - TRAILER_BYTES,
                                "the footer is larger than the file");
}

petal_status petal_parquet_list(const void *bytes, uint64_t size_bytes, petal_parquet_filter *list,
                                uint64_t room, uint64_t *count, petal_error *error)
{
    struct listing listing = {.file = bytes, .list = list, .list_count = room, .error = error};
    uint64_t footer_bytes;
    *count = 0;
    petal_status status = find_footer(bytes, size_bytes, &footer_bytes, error);
    if (status != PETAL_OK) return status;
    listing.footer_at = size_bytes - TRAILER_BYTES - footer_bytes;
    status = read_footer(&listing, footer_bytes);
    if (status == PETAL_OK) *count = listing.count;
    return status;
}
