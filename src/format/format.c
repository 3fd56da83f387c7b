/* format.c - contains the table of formats, and functions that the codecs share. */
#include "format/format.h"

#include "base/error.h"
#include "filter/growing.h"

#include <math.h> /* NAN, a macro */
#include <string.h>

#define FORMAT_ENTRY(LIBRARY, NAME, name, number) PETAL_IF(LIBRARY, &petal_format_##name, )
static const struct format_def *const table[] = {PETAL_FORMATS_HERE(FORMAT_ENTRY)};

#define FORMAT_NAME(LIBRARY, NAME, name, number) #name,

#define FORMAT_CASE(LIBRARY, NAME, name, number) \
    PETAL_IF(LIBRARY, case PETAL_FORMAT_##NAME : return &petal_format_##name;)

const struct format_def *petal_format_of_id(uint32_t id)
{
    switch (id) {
        PETAL_FORMATS_HERE(FORMAT_CASE)
    default: return NULL;
    }
}

const struct format_def *petal_format_row(uint32_t place)
{
    return place < sizeof table / sizeof *table ? table[place] : NULL;
}

const struct format_def *petal_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i]->name, name) == 0) return table[i];
    return NULL;
}

/* Returns true if the list contains the name. In the list, '_' replaces '-'. */
static bool is_left_out(const char *name)
{
    static const char *const names[] = {PETAL_FORMATS(FORMAT_NAME, FORMAT_NAME)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t at = 0;
        while (name[at] && (name[at] == '-' ? '_' : name[at]) == names[i][at]) at++;
        if (!name[at] && !names[i][at]) return true;
    }
    return false;
}

petal_status petal_format_named(const char *name, const struct format_def **format,
                                petal_error *error)
{
    *format = name ? petal_format_find(name) : &petal_format_petal;
    if (*format) return PETAL_OK;
    if (is_left_out(name))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "the format %s is not in this build", name);
    return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no format %s", name);
}

const struct format_def *petal_format_origin(const petal_filter *filter)
{
    const struct format_def *format = petal_format_of_id(filter->origin.format);
    return format ? format : &petal_format_petal;
}

uint64_t petal_recognize(const void *bytes, uint64_t size_bytes, const char **names, uint64_t room)
{
    uint64_t count = 0;
    const struct format_def *format;
    for (uint32_t place = 0; (format = petal_format_row(place)) != NULL; place++) {
        enum fit fit = petal_format_fits(format, bytes, size_bytes);
        if (fit == FIT_CERTAIN) count = 0;
        if (fit == FIT_NO) continue;
        if (count < room) names[count] = format->name;
        count++;
        if (fit == FIT_CERTAIN) return count;
    }
    return count;
}

petal_status petal_filter_of(const struct description *about, const void *secret,
                             const petal_allocator *allocator, petal_filter **filter,
                             petal_error *error)
{
    struct shape shapes[PETAL_MAX_LAYERS];
    for (uint32_t i = 0; i < about->layer_count; i++) shapes[i] = about->layers[i].shape;
    petal_status status = petal_filter_new(shapes, about->layer_count, about->hash, about->seed,
                                           secret, allocator, filter, error);
    if (status != PETAL_OK) return status;
    const struct format_def *format = petal_format_of_id(about->origin.format);
    status = petal_filter_set_origin(*filter, &about->origin, error);
    if (status != PETAL_OK) {
        petal_free(*filter);
        *filter = NULL;
        return status;
    }
    (*filter)->key_type = about->key_type;
    if (format && format->grow && format->grows(*filter)) (*filter)->grow = format->grow;
    (*filter)->is_fixed = (*filter)->grow && format->is_fixed && format->is_fixed(*filter);
    (*filter)->policy = about->policy;
    if (about->policy.kind == POLICY_GROWING) (*filter)->grow = petal_growing_grow;
    petal_filter_choose_strategy(*filter);
    for (uint32_t i = 0; i < about->layer_count; i++) {
        (*filter)->layers[i].capacity = about->layers[i].capacity;
        (*filter)->layers[i].target_rate = about->layers[i].target_rate;
        (*filter)->layers[i].items = about->layers[i].items;
        (*filter)->layers[i].until_ms = about->layers[i].until_ms;
    }
    return PETAL_OK;
}

enum fit petal_format_fits(const struct format_def *format, const uint8_t *bytes,
                           uint64_t size_bytes)
{
    struct description about = {0};
    if (format->fits) return format->fits(bytes, size_bytes);
    if (format->fit == FIT_NO) return FIT_NO;
    return format->read(format, bytes, size_bytes, &about, NULL) == PETAL_OK ? format->fit : FIT_NO;
}

petal_status petal_format_write(const struct format_def *format, const petal_filter *filter,
                                const struct sink *sink, petal_error *error)
{
    if (!format->write)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "%s files can be read, not written; use petal", format->name);
    petal_status status = format->expect ? format->expect(format, filter, error)
                                         : petal_format_expect_single(format, filter, error);
    return status == PETAL_OK ? format->write(format, filter, sink, error) : status;
}

petal_status petal_put_both(const struct sink *sink, const void *header, uint64_t header_bytes,
                            const struct bit_array *array, petal_error *error)
{
    petal_status status = petal_put(sink, header, header_bytes, error);
    return status == PETAL_OK ? petal_put(sink, array->bytes, array->size_bytes, error) : status;
}

petal_status petal_format_expect(const struct format_def *format, const petal_filter *filter,
                                 petal_error *error)
{
    if (filter->scheme->id == format->scheme) return PETAL_OK;
    return petal_fail(
        error, PETAL_ERR_UNSUPPORTED,
        "%s cannot hold a %s filter with %s; use petal, or build one with --format %s from the keys",
        format->name, filter->scheme->name, filter->hash->name, format->name);
}

petal_status petal_format_expect_single(const struct format_def *format, const petal_filter *filter,
                                        petal_error *error)
{
    petal_status status = petal_format_expect(format, filter, error);
    if (status != PETAL_OK || filter->layer_count == 1) return status;
    return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                      "%s holds one layer, the filter has %u; use petal", format->name,
                      filter->layer_count);
}

petal_status petal_format_expect_hashed(const struct format_def *format, const petal_filter *filter,
                                        petal_error *error)
{
    petal_status status = petal_format_expect_single(format, filter, error);
    if (status != PETAL_OK || (filter->hash->id == format->hash && filter->hash_key.seed == 0))
        return status;
    return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                      "%s holds keys hashed by %s, the filter's are hashed by %s; use petal",
                      format->name, petal_hash_find(format->hash)->name, filter->hash->name);
}

petal_status petal_format_damaged(petal_error *error, uint64_t offset, const char *what)
{
    return petal_fail_at(error, PETAL_ERR_DAMAGED, offset,
                         "damaged at byte %llu (%s); restore a copy or rebuild from the keys",
                         (unsigned long long)offset, what);
}

petal_status petal_format_check_size(uint64_t promised_bytes, uint64_t size_bytes,
                                     petal_error *error)
{
    if (size_bytes < promised_bytes)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (header promises %llu bytes, file has %llu); copy it again",
                             (unsigned long long)promised_bytes, (unsigned long long)size_bytes);
    if (size_bytes > promised_bytes)
        return petal_format_damaged(error, promised_bytes, "bytes after the end");
    return PETAL_OK;
}

petal_status petal_format_header_short(petal_error *error, uint64_t needed_bytes,
                                       uint64_t size_bytes)
{
    return petal_fail_at(error, PETAL_ERR_TRUNCATED, needed_bytes,
                         "the header has at least %llu bytes, and %llu are here; read more",
                         (unsigned long long)needed_bytes, (unsigned long long)size_bytes);
}

petal_status petal_format_check_tail(const struct description *about, const uint8_t *bytes,
                                     petal_error *error)
{
    const struct layer_description *layer = about->layers;
    if (petal_tail_is_clear(&layer->shape, bytes + layer->offset, layer->size_bytes))
        return PETAL_OK;
    return petal_format_damaged(error, layer->offset + layer->size_bytes - 1,
                                "bits set beyond the last");
}

void petal_format_keep(struct description *about, const uint8_t *bytes, uint32_t size_bytes)
{
    struct origin *origin = &about->origin;
    bool is_near = size_bytes <= PETAL_ORIGIN_NEAR_BYTES;
    origin->size_bytes = size_bytes;
    origin->far = is_near ? NULL : bytes;
    if (is_near) memcpy(origin->near, bytes, size_bytes);
}

void petal_format_single(struct description *about, const struct shape *shape, uint64_t offset)
{
    about->layer_count = 1;
    about->layers[0] = (struct layer_description){.shape = *shape,
                                                  .target_rate = NAN,
                                                  .size_bytes = petal_shape_bytes(shape),
                                                  .offset = offset};
}
