/* open.c - files and memory to filters: mapped, viewed or loaded, in any container. */
#include "base/error.h"
#include "base/memory.h"
#include "store/backing.h"

#include <string.h>

/* What is being opened, on its way to a filter. */
struct source {
    const uint8_t *bytes;
    uint64_t size_bytes;
    const struct mapping *map;         /* of nothing for memory of the caller */
    const petal_open_options *options; /* checked */
    unsigned mode;                     /* PETAL_OPEN_MAP, _WRITABLE or _LOAD */
    const struct format_def *format;
};

static const petal_open_options default_options = PETAL_OPEN_OPTIONS_INIT;
static const struct mapping no_map = {NULL, 0, -1};

static const petal_allocator *allocator_of(const struct source *from)
{
    return from->options->allocator ? from->options->allocator : &petal_io_allocator;
}

/* ---- what is in it --------------------------------------------------------------------------------------------------- */

static petal_status check_secret(const struct image *image, const void *secret, petal_error *error)
{
    if (!petal_hash_find(image->about.hash)->keyed)
        return secret ? petal_fail(error, PETAL_ERR_SECRET_WRONG, "is not keyed, but a secret was given; leave it out")
                      : PETAL_OK;
    if (!secret)
        return petal_fail(error, PETAL_ERR_SECRET_MISSING, "needs the secret with id %08x, none given; nothing was checked",
                          image->secret_id);
    if (petal_secret_check(secret) != image->secret_check)
        return petal_fail(error, PETAL_ERR_SECRET_WRONG, "needs the secret with id %08x, the one given is %08x",
                          image->secret_id, petal_secret_id(secret));
    return PETAL_OK;
}

/* A filter without bits, with its metadata. */
static petal_status make_frame(const struct source *from, const struct description *about, petal_filter **made,
                               petal_error *error)
{
    petal_status status = petal_filter_of(about, from->options->secret, allocator_of(from), made, error);
    if (status != PETAL_OK) return status;
    return petal_filter_set_metadata(*made, from->bytes + about->metadata_offset, (size_t)about->metadata_bytes, error);
}

static petal_status copy_bits(petal_filter *filter, const struct description *about, const uint8_t *bytes,
                              petal_error *error)
{
    petal_status status = petal_filter_alloc_bits(filter, error);
    for (uint32_t i = 0; status == PETAL_OK && i < about->layer_count; i++)
        memcpy(filter->layers[i].array.bytes, bytes + about->layers[i].offset, (size_t)about->layers[i].size_bytes);
    return status;
}

/* Gives the frame its bits, copied or where they are. */
static petal_status give_bits(const struct source *from, const struct description *about, const struct image *image,
                              petal_filter *made, petal_error *error)
{
    if (from->mode == PETAL_OPEN_LOAD) return copy_bits(made, about, from->bytes, error);
    return petal_backing_attach(made, about, image, from->bytes, from->map, from->mode == PETAL_OPEN_WRITABLE, error);
}

/* Checked while bits and sums are still beside each other. Those of a recovered file may be old. */
static petal_status verify(const struct source *from, const struct image *image, const petal_filter *made,
                           petal_error *error)
{
    if (!(from->options->flags & PETAL_OPEN_VERIFY) || image->recovered) return PETAL_OK;
    return petal_image_verify(made, image, from->bytes, error);
}

/* Of a file that is changed in place a crash leaves bits that were there or have come; a generation that is dropped takes bits
 * away, and then nobody could say what is left. */
static petal_status check_writable(const struct source *from, const struct image *image, petal_error *error)
{
    enum policy_kind kind = image->about.policy.kind;
    if (from->mode != PETAL_OPEN_WRITABLE || kind == POLICY_NONE || kind == POLICY_GROWING) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_UNSUPPORTED, "a rotating filter is not changed in place; load it, and save it");
}

static petal_status open_petal(const struct source *from, petal_filter **made, petal_error *error)
{
    struct image image;
    petal_status status =
        petal_image_parse(from->bytes, from->size_bytes, from->options->flags & PETAL_OPEN_RECOVER, &image, error);
    if (status == PETAL_OK) status = check_secret(&image, from->options->secret, error);
    if (status == PETAL_OK) status = check_writable(from, &image, error);
    if (status == PETAL_OK) status = make_frame(from, &image.about, made, error);
    if (status == PETAL_OK) status = give_bits(from, &image.about, &image, *made, error);
    if (status == PETAL_OK) status = verify(from, &image, *made, error);
    return status;
}

/* Gives a frame whose file leaves out its bits zeroed ones: memory that the file promises but does not fill, so it is held to
 * the limit of the file. */
static petal_status give_zeros(const struct source *from, petal_filter *made, petal_error *error)
{
    for (uint32_t i = 0; i < made->layer_count && from->options->max_bytes; i++)
        if (made->layers[i].array.size_bytes > from->options->max_bytes)
            return petal_fail(error, PETAL_ERR_LIMIT, "an empty filter of %llu bytes; the limit is %llu",
                              (unsigned long long)made->layers[i].array.size_bytes,
                              (unsigned long long)from->options->max_bytes);
    if (from->mode == PETAL_OPEN_MAP) made->before_write = petal_refuse_write;
    return petal_filter_alloc_bits(made, error);
}

/* Reads a plain image of another library's file. */
static petal_status open_image(const struct source *from, petal_filter **made, petal_error *error)
{
    struct description about = {0};
    about.origin.format = from->format->id;
    petal_status status = from->format->read(from->bytes, from->size_bytes, &about, error);
    if (status == PETAL_OK) status = make_frame(from, &about, made, error);
    if (status != PETAL_OK) return status;
    return about.bits_left_out ? give_zeros(from, *made, error) : give_bits(from, &about, NULL, *made, error);
}

/* Unpacks the file first, if it is packed. The bits are then the filter's own, and read-only where it was to be mapped. */
static petal_status open_packed(const struct source *from, petal_filter **made, petal_error *error)
{
    const petal_allocator *allocator = allocator_of(from);
    struct source plain = *from;
    uint8_t *decoded = NULL;
    petal_status status =
        from->format->decode(from->bytes, from->size_bytes, allocator, &decoded, &plain.size_bytes, error);
    if (status != PETAL_OK) return status;
    if (!decoded) return open_image(from, made, error);
    uint64_t decoded_bytes = plain.size_bytes;
    plain.bytes = decoded;
    plain.mode = PETAL_OPEN_LOAD;
    status = open_image(&plain, made, error);
    petal_release(allocator, decoded, decoded_bytes);
    if (status == PETAL_OK && from->mode == PETAL_OPEN_MAP) (*made)->before_write = petal_refuse_write;
    return status;
}

static petal_status open_foreign(const struct source *from, petal_filter **made, petal_error *error)
{
    if (from->mode == PETAL_OPEN_WRITABLE || (from->options->flags & PETAL_OPEN_RECOVER))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "a %s file cannot be changed in place; load it and save it, or convert it to petal",
                          from->format->name);
    if (from->options->secret)
        return petal_fail(error, PETAL_ERR_SECRET_WRONG, "is not keyed, but a secret was given; leave it out");
    return from->format->decode ? open_packed(from, made, error) : open_image(from, made, error);
}

/* Whatever made half of a filter and failed is released here, in one place. */
static petal_status open_source(const struct source *from, petal_filter **filter, petal_error *error)
{
    petal_filter *made = NULL;
    bool is_petal = from->format == &petal_format_petal;
    petal_status status = is_petal ? open_petal(from, &made, error) : open_foreign(from, &made, error);
    if (status == PETAL_OK) {
        *filter = made;
        return PETAL_OK;
    }
    if (made && made->backing) ((struct backing *)made->backing)->map = no_map; /* still the caller's */
    if (made && made->backing) ((struct backing *)made->backing)->changed = false;
    petal_free(made);
    return status;
}

/* ---- doors ----------------------------------------------------------------------------------------------------------- */

/* Checks the options and takes them apart. */
static petal_status begin(const petal_open_options *options, struct source *from, petal_error *error)
{
    from->options = options ? options : &default_options;
    options = from->options;
    from->mode = options->flags & 15u;
    if (options->struct_size != sizeof *options)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "options are not set up with PETAL_OPEN_OPTIONS_INIT");
    if (from->mode > PETAL_OPEN_LOAD || (options->flags & ~(15u | PETAL_OPEN_VERIFY | PETAL_OPEN_RECOVER)))
        return petal_fail(error, PETAL_ERR_ARGUMENT, "unknown flags %#x", options->flags);
    if ((options->flags & PETAL_OPEN_RECOVER) && from->mode == PETAL_OPEN_MAP)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "recovering needs WRITABLE or LOAD");
    from->format = options->format ? petal_format_find(options->format) : &petal_format_petal;
    if (!from->format) return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no format %s", options->format);
    return PETAL_OK;
}

petal_status petal_open(const char *path, const petal_open_options *options, petal_filter **filter, petal_error *error)
{
    struct mapping map;
    struct source from = {0};
    *filter = NULL;
    petal_status status = begin(options, &from, error);
    if (status != PETAL_OK) return status;
    bool writable = from.mode == PETAL_OPEN_WRITABLE && from.format == &petal_format_petal;
    status = petal_io_map(path, writable, from.options->max_bytes, &map, error);
    if (status != PETAL_OK) return status;
    from.bytes = map.bytes;
    from.size_bytes = map.size_bytes;
    from.map = &map;
    status = open_source(&from, filter, error);
    if (status != PETAL_OK || !(*filter)->backing) petal_io_unmap(&map);
    return status;
}

petal_status petal_load_from_memory(const void *bytes, size_t size_bytes, const petal_open_options *options,
                                    petal_filter **filter, petal_error *error)
{
    struct source from = {.bytes = bytes, .size_bytes = size_bytes, .map = &no_map};
    petal_open_options loading = options ? *options : default_options;
    *filter = NULL;
    if ((loading.flags & 15u) == PETAL_OPEN_MAP) loading.flags |= PETAL_OPEN_LOAD;
    petal_status status = begin(&loading, &from, error);
    if (status == PETAL_OK && from.mode != PETAL_OPEN_LOAD)
        status = petal_fail(error, PETAL_ERR_ARGUMENT, "memory is loaded, not written to");
    return status == PETAL_OK ? open_source(&from, filter, error) : status;
}

petal_status petal_view(const void *bytes, size_t size_bytes, const petal_open_options *options, petal_filter **filter,
                        petal_error *error)
{
    struct source from = {.bytes = bytes, .size_bytes = size_bytes, .map = &no_map};
    *filter = NULL;
    petal_status status = begin(options, &from, error);
    if (status == PETAL_OK && from.mode != PETAL_OPEN_MAP)
        status = petal_fail(error, PETAL_ERR_ARGUMENT, "a view is for reading only");
    return status == PETAL_OK ? open_source(&from, filter, error) : status;
}
