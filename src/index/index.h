/* index.h - the handle of an index, and the parts that its files share.
 *
 * An index that is being built (collect.c) has filters; one that was opened (stored.c) has rows.
 * Both have sorted groups, and the numbers of their filters, one group after the other.
 *
 *     collect.c      filters -> members, groups
 *     slices.c       filters <-> rows
 *     index_image.c  groups, members <-> the tables before the rows
 *     query.c        hashes -> rows -> bits for each filter
 *     stored.c       files */
#ifndef PETAL_INDEX_INDEX_H
#define PETAL_INDEX_INDEX_H

#include "filter/filter.h"
#include "format/format.h"
#include "os/os.h"
#include "petal/petal_index.h"

/* What the filters of a group have in common. */
struct kind {
    uint32_t hash;
    uint64_t seed, secret_check;
    struct shape shape;
};

static inline bool has_same_hash(const struct kind *a, const struct kind *b)
{
    return a->hash == b->hash && a->seed == b->seed && a->secret_check == b->secret_check;
}

struct group {
    struct kind kind;
    uint64_t columns;     /* filters */
    uint64_t first;       /* index of their first number */
    uint64_t stride_bits; /* of a row */
    uint64_t offset;      /* of the group's rows, from those of the first group */
    uint64_t bytes;
    /* in an opened index: a filter without bits that hashes keys; and the bits, if the group has
     * one filter, whose rows are its bits */
    const petal_filter *hasher;
    struct bit_array only;
};

/* A filter of an index. */
struct member {
    char *name; /* allocated */
    uint64_t name_bytes;
    petal_filter *filter;
};

/* Where everything is in a file: see docs/index-format.md. */
struct index_image {
    const uint8_t *bytes; /* for an opened index, the whole file */
    uint64_t filters, names_bytes;
    uint64_t group_count, blocks, bits_bytes;
    uint64_t filters_offset, names_offset, sums_offset, bits_offset, file_bytes;
    uint32_t key_type, secret_id;
};

struct petal_index {
    petal_allocator allocator;
    struct group *groups;
    uint64_t group_count, group_room;
    uint64_t filters;
    uint32_t key_type, secret_id;

    /* an index that is being made */
    uint32_t scheme;
    bool fold;
    struct member *members;
    uint64_t member_room;
    uint32_t *names; /* a hash table of the members' names: number + 1, or 0 */
    uint64_t name_room, names_bytes;

    /* one that was opened */
    bool is_open;
    struct index_image image;
    const char **opened_names;
    uint32_t *numbers;
    petal_filter **hashers; /* for each hash of a group that differs from the one before */
    uint64_t hasher_count;
    uint8_t *blocks; /* for VERIFY_ON_USE, an enum block_state per block; otherwise NULL */
    struct mapping map;
    struct file file;
    void (*release)(void *context, const void *bytes, uint64_t size_bytes);
    void *release_context;
    const void *view;
    uint64_t view_bytes;
};

/* collect.c */

/* Makes an empty handle. */
petal_status petal_index_new(const petal_allocator *allocator, petal_index **index,
                             petal_error *error);

/* What a filter has in common with the others in its group. */
struct kind petal_index_kind(const petal_filter *filter);

/* The order of groups, in memory and in files: below 0 if `a` comes first, 0 if they are equal. */
int petal_index_compare_kinds(const struct kind *a, const struct kind *b);

/* Finds a filter's group: *place is its index in index->groups, or where it would have to be
 * inserted. */
bool petal_index_find_group(const petal_index *index, const struct kind *kind, uint64_t *place);

/* Adds a filter. The index owns it from then on, even if this fails. */
petal_status petal_index_insert(petal_index *index, const char *name, petal_filter *filter,
                                petal_error *error);

/* PETAL_ERR_READ_ONLY if the index was opened, PETAL_ERR_ARGUMENT for an impossible name, ... */
petal_status petal_index_check_name(const petal_index *index, const char *name, petal_error *error);

/* Makes one of an opened index's filters, without its bits. */
petal_status petal_index_make_frame(const petal_index *other, uint64_t number, petal_filter **made,
                                    petal_error *error);

/* slices.c */

/* The bits from one row of a group to the next if it has `columns` filters, and the bytes of all
 * its rows. */
uint64_t petal_index_stride(uint64_t columns);
bool petal_index_group_bytes(const struct group *group, uint64_t *bytes);

/* Writes a group's rows. `numbers` are its filters' numbers; `room` has petal_index_room()
 * bytes. */
uint64_t petal_index_room(const struct group *group);
petal_status petal_index_put_rows(const petal_index *index, const struct group *group,
                                  const uint32_t *numbers, uint8_t *room, const struct sink *sink,
                                  petal_error *error);

/* The reverse: sets the bits, zeroed before, of up to 64 filters, starting with the one at
 * `column`. */
#define PETAL_SLICE 64u
void petal_index_take_columns(const uint8_t *rows, const struct group *group, uint64_t column,
                              petal_filter *const *filters, uint32_t count);

/* The 64 bits of the rows that start at `bit`. Reads up to 9 bytes. */
static inline uint64_t row_word(const uint8_t *rows, uint64_t bit)
{
    const uint8_t *at = rows + bit / 8;
    unsigned shift = bit % 8;
    uint64_t word = load64le(at) >> shift;
    return shift ? word | (uint64_t)at[8] << (64 - shift) : word;
}

/* index_image.c */

/* Computes the other fields of image and groups from image->filters, image->names_bytes, and the
 * groups' kinds and columns. PETAL_ERR_LIMIT if a size overflows. */
petal_status petal_index_measure(struct index_image *image, struct group *groups,
                                 petal_error *error);

/* Writes everything before the rows into `tables`, which has bits_offset bytes. `sums` has one sum
 * per block. */
void petal_index_write_tables(const petal_index *index, const struct index_image *image,
                              const uint64_t *sums, uint8_t *tables);

/* Reads them: fills in image, groups, names and numbers of an index that is being opened. Safe for
 * hostile bytes. */
petal_status petal_index_read_tables(petal_index *index, const uint8_t *bytes, uint64_t size_bytes,
                                     petal_error *error);

/* What the tables record about a filter besides its kind. */
struct index_record {
    uint64_t group, items, capacity;
    double rate;
};
struct index_record petal_index_record(const struct index_image *image, uint64_t number);

/* The checksum of a block, and the recorded one. */
uint64_t petal_index_block_sum(const uint8_t *block, uint64_t size_bytes, uint64_t number);
uint64_t petal_index_recorded_sum(const struct index_image *image, uint64_t number);

/* stored.c */

/* Compares a block with its checksum. */
petal_status petal_index_check_block(const petal_index *index, uint64_t number, petal_error *error);

#endif
