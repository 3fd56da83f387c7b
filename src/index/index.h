/* index.h - defines the handle of an index, and the functions that the files in src/index share.
 *
 * An index that is being built (collect.c) contains filters, and an opened index (stored.c)
 * contains rows. Both contain sorted groups, and the numbers of the filters, one group after
 * another.
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

/* The properties that all filters in a group have in common. */
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
    uint64_t first;       /* index of the group's first filter number in `numbers` */
    uint64_t stride_bits; /* of a row */
    uint64_t offset;      /* offset of the group's rows from the first group's rows, in bytes */
    uint64_t bytes;
    /* Only in an opened index: a filter without bits that hashes keys, and the filter bits of a
     * group with a single filter, which are the same as its rows. */
    const petal_filter *hasher;
    struct bit_array only;
};

/* A filter in an index that is being built. */
struct member {
    char *name; /* allocated */
    uint64_t name_bytes;
    petal_filter *filter;
};

/* The layout of an index file. See docs/index-format.md. */
struct index_image {
    const uint8_t *bytes; /* the whole file, if the index was opened */
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

    /* Only in an index that is being built: */
    uint32_t scheme;
    bool fold;
    struct member *members;
    uint64_t member_room;
    uint32_t *names; /* a hash table of the members' names; contains number + 1, or 0 if free */
    uint64_t name_room, names_bytes;

    /* Only in an opened index: */
    bool is_open;
    struct index_image image;
    const char **opened_names;
    uint32_t *numbers;
    petal_filter **hashers; /* one filter for each group whose hash differs from the previous
                             * group's */
    uint64_t hasher_count;
    uint8_t *blocks; /* one enum block_state per block if blocks are verified on use; otherwise
                      * NULL */
    struct mapping map;
    struct file file;
    void (*release)(void *context, const void *bytes, uint64_t size_bytes);
    void *release_context;
    const void *view;
    uint64_t view_bytes;
};

/* collect.c */

/* Creates the handle of an empty index. */
petal_status petal_index_new(const petal_allocator *allocator, petal_index **index,
                             petal_error *error);

/* Returns the properties that a filter shares with the other filters in its group. */
struct kind petal_index_kind(const petal_filter *filter);

/* Compares two groups by their order in memory and in files. The result is negative if `a` comes
 * first, 0 if the groups are equal, and positive otherwise. */
int petal_index_compare_kinds(const struct kind *a, const struct kind *b);

/* Finds the group of this kind. Sets *place to the group's position in index->groups, or to the
 * position at which it would have to be inserted. */
bool petal_index_find_group(const petal_index *index, const struct kind *kind, uint64_t *place);

/* Adds a filter. The index then owns the filter, even if the call fails. */
petal_status petal_index_insert(petal_index *index, const char *name, petal_filter *filter,
                                petal_error *error);

/* Checks that a filter with this name can be added. Returns PETAL_ERR_READ_ONLY if the index was
 * opened, PETAL_ERR_ARGUMENT if the name is invalid, or another error. */
petal_status petal_index_check_name(const petal_index *index, const char *name, petal_error *error);

/* Creates one filter of an opened index, without its bits. */
petal_status petal_index_make_frame(const petal_index *other, uint64_t number, petal_filter **made,
                                    petal_error *error);

/* slices.c */

/* The first function returns the distance in bits between two rows of a group with `columns`
 * filters. The second function computes the size of all rows of a group in bytes. */
uint64_t petal_index_stride(uint64_t columns);
bool petal_index_group_bytes(const struct group *group, uint64_t *bytes);

/* Writes a group's rows. `numbers` contains the numbers of the group's filters, and `room` is a
 * buffer of petal_index_room() bytes. */
uint64_t petal_index_room(const struct group *group);
petal_status petal_index_put_rows(const petal_index *index, const struct group *group,
                                  const uint32_t *numbers, uint8_t *room, const struct sink *sink,
                                  petal_error *error);

/* The reverse of petal_index_put_rows(): sets the bits of up to 64 filters, starting with the
 * filter at `column`. All bits must be clear before the call. */
#define PETAL_SLICE 64u
void petal_index_take_columns(const uint8_t *rows, const struct group *group, uint64_t column,
                              petal_filter *const *filters, uint32_t count);

/* Returns 64 bits of the rows, starting at `bit`. Reads 8 or 9 bytes. */
static inline uint64_t row_word(const uint8_t *rows, uint64_t bit)
{
    const uint8_t *at = rows + bit / 8;
    unsigned shift = bit % 8;
    uint64_t word = load64le(at) >> shift;
    return shift ? word | (uint64_t)at[8] << (64 - shift) : word;
}

/* index_image.c */

/* Computes the remaining fields of image and groups from image->filters, image->names_bytes, and
 * the groups' kinds and columns. Returns PETAL_ERR_LIMIT if a size overflows. */
petal_status petal_index_measure(struct index_image *image, struct group *groups,
                                 petal_error *error);

/* Writes everything before the rows into `tables`, which has room for bits_offset bytes. `sums`
 * contains one checksum per block. */
void petal_index_write_tables(const petal_index *index, const struct index_image *image,
                              const uint64_t *sums, uint8_t *tables);

/* Reads the tables of an index that is being opened, and sets its image, groups, names and numbers.
 * The bytes may be hostile. */
petal_status petal_index_read_tables(petal_index *index, const uint8_t *bytes, uint64_t size_bytes,
                                     petal_error *error);

/* The properties of a filter, besides its kind, that the tables record. */
struct index_record {
    uint64_t group, items, capacity;
    double rate;
};
struct index_record petal_index_record(const struct index_image *image, uint64_t number);

/* The first function computes the checksum of a block, and the second returns the recorded
 * checksum. */
uint64_t petal_index_block_sum(const uint8_t *block, uint64_t size_bytes, uint64_t number);
uint64_t petal_index_recorded_sum(const struct index_image *image, uint64_t number);

/* stored.c */

/* Compares a block with its checksum. */
petal_status petal_index_check_block(const petal_index *index, uint64_t number, petal_error *error);

#endif
