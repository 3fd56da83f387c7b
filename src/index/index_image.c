/* index_image.c - reads and writes the tables of an index file, which precede its rows.
 * docs/index-format.md specifies the layout:
 *
 *     header | groups | filters | names | sums of the blocks | zeros | rows of group 0, 1, ...
 *
 * Values that can be computed from other fields are not stored: offsets, row lengths, and the order
 * of the filters in a group, which is the order of their numbers. */
#include "base/checked.h"
#include "base/memory.h"
#include "format/image.h"
#include "index/index.h"
#include "scheme/scheme.h"

static const uint8_t magic[8] = {0x89, 'P', 'T', 'X', '\r', '\n', 0x1a, '\n'};

enum {
    VERSION = 1,
    HEADER_BYTES = 128,
    AT_VERSION = 8,
    AT_FEATURES = 12,
    AT_FILE_BYTES = 16,
    AT_FILTERS = 24,
    AT_GROUPS = 32,
    AT_NAMES_BYTES = 40,
    AT_KEY_TYPE = 48,
    AT_SECRET_ID = 52,
    AT_ZEROS = 56,
    AT_TABLES_SUM = 112,
    AT_HEADER_SUM = 120,

    GROUP_BYTES = 64,
    AT_SCHEME = 0,
    AT_HASH = 4,
    AT_HASHES = 8,
    AT_LINES_PER_KEY = 12,
    AT_BITS = 16,
    AT_SEED = 24,
    AT_SECRET_CHECK = 32,
    AT_COLUMNS = 40,
    AT_GROUP_ZEROS = 48,

    FILTER_BYTES = 32,
    AT_GROUP = 0,
    AT_NAME_BYTES = 4,
    AT_ITEMS = 8,
    AT_CAPACITY = 16,
    AT_RATE = 24,

    ROWS_UNIT = 4096
};

/* ---- sizes ----------------------------------------------------------------------------------- */

static petal_status refuse_size(petal_error *error)
{
    return petal_fail(error, PETAL_ERR_LIMIT, "the index exceeds 2^63 bytes; make several");
}

static bool measure_groups(struct index_image *image, struct group *groups)
{
    uint64_t offset = 0, first = 0;
    for (uint64_t i = 0; i < image->group_count; i++) {
        struct group *group = &groups[i];
        group->stride_bits = petal_index_stride(group->columns);
        group->offset = offset;
        group->first = first;
        first += group->columns;
        if (!petal_index_group_bytes(group, &group->bytes) ||
            !checked_add(offset, group->bytes, &offset))
            return false;
    }
    image->bits_bytes = offset;
    return true;
}

petal_status petal_index_measure(struct index_image *image, struct group *groups,
                                 petal_error *error)
{
    uint64_t end;
    if (!measure_groups(image, groups)) return refuse_size(error);
    image->blocks =
        image->bits_bytes / PETAL_BLOCK_BYTES + (image->bits_bytes % PETAL_BLOCK_BYTES ? 1 : 0);
    image->filters_offset = HEADER_BYTES + image->group_count * GROUP_BYTES;
    image->names_offset = image->filters_offset + image->filters * FILTER_BYTES;
    image->sums_offset = (image->names_offset + image->names_bytes + 7) / 8 * 8;
    end = image->sums_offset + image->blocks * sizeof(uint64_t);
    image->bits_offset = (end + ROWS_UNIT - 1) / ROWS_UNIT * ROWS_UNIT;
    if (!checked_add(image->bits_offset, image->bits_bytes, &image->file_bytes) ||
        image->file_bytes > INT64_MAX)
        return refuse_size(error);
    return PETAL_OK;
}

/* ---- checksums ------------------------------------------------------------------------------- */

uint64_t petal_index_block_sum(const uint8_t *block, uint64_t size_bytes, uint64_t number)
{
    return petal_xxh3(block, (size_t)size_bytes, number);
}

uint64_t petal_index_recorded_sum(const struct index_image *image, uint64_t number)
{
    return load64le(image->bytes + image->sums_offset + number * sizeof(uint64_t));
}

static uint64_t header_sum(const uint8_t *header)
{
    return petal_xxh3(header, AT_HEADER_SUM, 0);
}

static uint64_t tables_sum(const uint8_t *bytes, uint64_t bits_offset)
{
    return petal_xxh3(bytes + HEADER_BYTES, (size_t)(bits_offset - HEADER_BYTES), 1);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_header(const struct index_image *image, uint8_t *header)
{
    memcpy(header, magic, sizeof magic);
    store32le(header + AT_VERSION, VERSION);
    store64le(header + AT_FILE_BYTES, image->file_bytes);
    store64le(header + AT_FILTERS, image->filters);
    store64le(header + AT_GROUPS, image->group_count);
    store64le(header + AT_NAMES_BYTES, image->names_bytes);
    store32le(header + AT_KEY_TYPE, image->key_type);
    store32le(header + AT_SECRET_ID, image->secret_id);
    store64le(header + AT_TABLES_SUM, tables_sum(header, image->bits_offset));
    store64le(header + AT_HEADER_SUM, header_sum(header));
}

static void write_group(const struct group *group, uint8_t *record)
{
    const struct shape *shape = &group->kind.shape;
    store32le(record + AT_SCHEME, shape->scheme);
    store32le(record + AT_HASH, group->kind.hash);
    store32le(record + AT_HASHES, shape->hashes);
    store32le(record + AT_LINES_PER_KEY, shape->lines_per_key);
    store64le(record + AT_BITS, shape->bits);
    store64le(record + AT_SEED, group->kind.seed);
    store64le(record + AT_SECRET_CHECK, group->kind.secret_check);
    store64le(record + AT_COLUMNS, group->columns);
}

static void write_filter(const petal_index *index, const struct member *member, uint8_t *record)
{
    struct kind kind = petal_index_kind(member->filter);
    const struct layer *layer = member->filter->layers;
    uint64_t group;
    petal_index_find_group(index, &kind, &group);
    store32le(record + AT_GROUP, (uint32_t)group);
    store32le(record + AT_NAME_BYTES, (uint32_t)member->name_bytes);
    store64le(record + AT_ITEMS, layer->items);
    store64le(record + AT_CAPACITY, layer->capacity);
    store64le(record + AT_RATE, layer->target_rate > 0 ? bits_from_double(layer->target_rate) : 0);
}

void petal_index_write_tables(const petal_index *index, const struct index_image *image,
                              const uint64_t *sums, uint8_t *tables)
{
    uint8_t *name = tables + image->names_offset;
    for (uint64_t i = 0; i < image->group_count; i++)
        write_group(&index->groups[i], tables + HEADER_BYTES + i * GROUP_BYTES);
    for (uint64_t i = 0; i < image->filters; i++) {
        const struct member *member = &index->members[i];
        write_filter(index, member, tables + image->filters_offset + i * FILTER_BYTES);
        memcpy(name, member->name, (size_t)member->name_bytes);
        name += member->name_bytes;
    }
    for (uint64_t i = 0; i < image->blocks; i++)
        store64le(tables + image->sums_offset + i * sizeof *sums, sums[i]);
    write_header(image, tables);
}

/* ---- reading: the header --------------------------------------------------------------------- */

static bool is_zero(const uint8_t *bytes, uint64_t count)
{
    uint8_t any = 0;
    for (uint64_t i = 0; i < count; i++) any |= bytes[i];
    return any == 0;
}

static petal_status damaged(petal_error *error, uint64_t offset, const char *what)
{
    return petal_fail_at(error, PETAL_ERR_DAMAGED, offset, "damaged: %s; copy it again", what);
}

static petal_status truncated(petal_error *error, uint64_t size_bytes)
{
    return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                         "truncated at %llu bytes; copy it again", (unsigned long long)size_bytes);
}

static petal_status check_header(const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    size_t compare = at_most(size_bytes, sizeof magic);
    if (compare == 0 || memcmp(bytes, magic, compare) != 0)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "not an index file");
    if (size_bytes < HEADER_BYTES) return truncated(error, size_bytes);
    if (load32le(bytes + AT_VERSION) > VERSION || load32le(bytes + AT_FEATURES) != 0)
        return petal_fail_at(error, PETAL_ERR_NEWER, AT_VERSION,
                             "a later version of Petal wrote it (index version %u, features %#x); "
                             "update Petal",
                             load32le(bytes + AT_VERSION), load32le(bytes + AT_FEATURES));
    if (load64le(bytes + AT_HEADER_SUM) != header_sum(bytes))
        return damaged(error, AT_HEADER_SUM, "the header does not match its checksum");
    if (load32le(bytes + AT_VERSION) != VERSION ||
        !is_zero(bytes + AT_ZEROS, AT_TABLES_SUM - AT_ZEROS))
        return damaged(error, AT_VERSION, "an impossible header");
    return PETAL_OK;
}

/* For each item count in the header, checks that the file is large enough to contain the items. So
 * nothing overflows, and nothing is allocated for items that don't exist. */
static petal_status read_header(const uint8_t *bytes, uint64_t size_bytes,
                                struct index_image *image, petal_error *error)
{
    petal_status status = check_header(bytes, size_bytes, error);
    if (status != PETAL_OK) return status;
    image->bytes = bytes;
    image->filters = load64le(bytes + AT_FILTERS);
    image->group_count = load64le(bytes + AT_GROUPS);
    image->names_bytes = load64le(bytes + AT_NAMES_BYTES);
    image->key_type = load32le(bytes + AT_KEY_TYPE);
    image->secret_id = load32le(bytes + AT_SECRET_ID);
    if (image->filters == 0 || image->filters > PETAL_INDEX_MAX_FILTERS ||
        image->group_count == 0 || image->group_count > image->filters ||
        image->names_bytes < 2 * image->filters ||
        image->names_bytes > image->filters * (PETAL_INDEX_MAX_NAME_BYTES + 1u) ||
        image->key_type == PETAL_KEY_TYPE_NONE || image->key_type > PETAL_KEY_TYPE_BASE64)
        return damaged(error, AT_FILTERS, "an impossible header");
    uint64_t end = HEADER_BYTES + image->group_count * GROUP_BYTES + image->filters * FILTER_BYTES +
                   image->names_bytes;
    return end <= size_bytes ? PETAL_OK : truncated(error, size_bytes);
}

/* ---- reading: groups and filters ------------------------------------------------------------- */

static bool read_group(const uint8_t *record, struct group *group)
{
    struct shape shape = {load32le(record + AT_SCHEME), load32le(record + AT_HASHES),
                          load32le(record + AT_LINES_PER_KEY), load64le(record + AT_BITS)};
    struct shape normal = shape;
    uint32_t hash = load32le(record + AT_HASH);
    const struct scheme_def *scheme = petal_scheme_find(shape.scheme);
    if ((hash != PETAL_HASH_XXH3 && hash != PETAL_HASH_SIPHASH) || !scheme || !scheme->positions ||
        scheme->counters || shape.hashes > PETAL_MAX_POSITIONS ||
        petal_normalize(&normal, NULL) != PETAL_OK || normal.bits != shape.bits ||
        normal.hashes != shape.hashes || normal.lines_per_key != shape.lines_per_key ||
        !is_zero(record + AT_GROUP_ZEROS, GROUP_BYTES - AT_GROUP_ZEROS))
        return false;
    group->kind =
        (struct kind){hash, load64le(record + AT_SEED), load64le(record + AT_SECRET_CHECK), shape};
    bool keyed = hash == PETAL_HASH_SIPHASH;
    group->columns = load64le(record + AT_COLUMNS);
    return group->columns > 0 && (keyed ? group->kind.seed : group->kind.secret_check) == 0;
}

static petal_status read_groups(petal_index *index, petal_error *error)
{
    const struct index_image *image = &index->image;
    uint64_t columns = 0;
    index->groups = petal_alloc(&index->allocator, image->group_count * sizeof *index->groups);
    if (!index->groups) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    index->group_count = index->group_room = image->group_count;
    for (uint64_t i = 0; i < image->group_count; i++) {
        struct group *group = &index->groups[i];
        uint64_t at = HEADER_BYTES + i * GROUP_BYTES;
        if (!read_group(image->bytes + at, group) ||
            (i > 0 && petal_index_compare_kinds(&group[-1].kind, &group->kind) >= 0) ||
            group->columns > image->filters - columns)
            return damaged(error, at, "an impossible group");
        columns += group->columns;
    }
    return columns == image->filters ? PETAL_OK : damaged(error, HEADER_BYTES, "filters are left");
}

struct index_record petal_index_record(const struct index_image *image, uint64_t number)
{
    const uint8_t *record = image->bytes + image->filters_offset + number * FILTER_BYTES;
    uint64_t rate = load64le(record + AT_RATE);
    return (struct index_record){load32le(record + AT_GROUP), load64le(record + AT_ITEMS),
                                 load64le(record + AT_CAPACITY),
                                 double_from_bits(rate ? rate : 0x7ff8000000000000u)};
}

static bool is_name(const uint8_t *name, uint64_t bytes)
{
    return bytes >= 2 && name[bytes - 1] == 0 && !memchr(name, 0, (size_t)(bytes - 1));
}

/* `next` contains, for each group, the next free position in the array of numbers. */
static petal_status read_filters(petal_index *index, uint64_t *next, petal_error *error)
{
    const struct index_image *image = &index->image;
    uint64_t name = image->names_offset, end = name + image->names_bytes;
    for (uint64_t i = 0; i < index->group_count; i++) next[i] = index->groups[i].first;
    for (uint64_t i = 0; i < image->filters; i++) {
        uint64_t at = image->filters_offset + i * FILTER_BYTES;
        uint64_t name_bytes = load32le(image->bytes + at + AT_NAME_BYTES);
        struct index_record record = petal_index_record(image, i);
        if (record.group >= index->group_count ||
            next[record.group] ==
                index->groups[record.group].first + index->groups[record.group].columns ||
            (load64le(image->bytes + at + AT_RATE) != 0 && !(record.rate > 0 && record.rate < 1)))
            return damaged(error, at, "an impossible filter");
        if (name_bytes > end - name || name_bytes > PETAL_INDEX_MAX_NAME_BYTES + 1u ||
            !is_name(image->bytes + name, name_bytes))
            return damaged(error, at, "an impossible name");
        index->opened_names[i] = (const char *)image->bytes + name;
        index->numbers[next[record.group]++] = (uint32_t)i;
        name += name_bytes;
    }
    return name == end ? PETAL_OK : damaged(error, name, "names are left");
}

static petal_status read_names(petal_index *index, petal_error *error)
{
    uint64_t bytes = index->group_count * sizeof(uint64_t);
    index->filters = index->image.filters;
    index->numbers = petal_alloc(&index->allocator, index->filters * sizeof *index->numbers);
    index->opened_names =
        petal_alloc(&index->allocator, index->filters * sizeof *index->opened_names);
    uint64_t *next = petal_alloc(&index->allocator, bytes);
    petal_status status = next && index->numbers && index->opened_names
                              ? read_filters(index, next, error)
                              : petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    petal_release(&index->allocator, next, bytes);
    return status;
}

petal_status petal_index_read_tables(petal_index *index, const uint8_t *bytes, uint64_t size_bytes,
                                     petal_error *error)
{
    struct index_image *image = &index->image;
    petal_status status = read_header(bytes, size_bytes, image, error);
    if (status == PETAL_OK) status = read_groups(index, error);
    if (status != PETAL_OK) return status;
    if (petal_index_measure(image, index->groups, NULL) != PETAL_OK ||
        load64le(bytes + AT_FILE_BYTES) != image->file_bytes)
        return damaged(error, AT_FILE_BYTES, "sizes contradict each other");
    if (size_bytes < image->file_bytes) return truncated(error, size_bytes);
    if (size_bytes > image->file_bytes)
        return damaged(error, image->file_bytes, "bytes follow its end");
    if (load64le(bytes + AT_TABLES_SUM) != tables_sum(bytes, image->bits_offset))
        return damaged(error, AT_TABLES_SUM, "the tables do not match their checksum");
    index->key_type = image->key_type;
    index->secret_id = image->secret_id;
    return read_names(index, error);
}
