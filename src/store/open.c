/* open.c - opens filters of any format from files and memory: mapped, viewed or loaded. */
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "filter/guard.h"
#include "filter/missing_bits.h"
#include "store/budget.h"
#include "store/source.h"

#include <string.h>

static const struct file no_file = {NULL, NULL, -1, false, 0, NULL}; /* PETAL_NO_FILE */
static const struct mapping no_map = {NULL, 0, false};

/* ---- the header of a file that another process may change ---------------------------------------
 *
 * Reads the header into a copy, and uses the copy if it is clean. Otherwise, a writer may have been
 * in the middle of an update, so the header is read again, until two reads agree and nobody holds
 * the lock. If a writer is active, the file counts as busy instead of damaged. */

#define MAX_READS 1000

struct head {
    uint8_t bytes[PETAL_HEAD_BYTES];
    uint64_t size_bytes;
};

static petal_status read_head(const struct source *source, struct head *head, petal_error *error)
{
    const struct opening *from = &source->from;
    uint64_t size = from->size_bytes < sizeof head->bytes ? from->size_bytes : sizeof head->bytes;
    head->size_bytes = size;
    if (from->file->path && !from->is_copy) {
        petal_status status =
            petal_os_read(from->file, 0, head->bytes, size, &head->size_bytes, error);
        if (status != PETAL_OK || head->size_bytes == size) return status;
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, head->size_bytes,
                             "truncated while it was read");
    }
    if (size) memcpy(head->bytes, from->bytes, (size_t)size);
    return PETAL_OK;
}

/* Checks that a file in this state can be opened with these options. */
static petal_status judge(const struct source *source, const struct image *image,
                          petal_error *error)
{
    if (source->options.flags & PETAL_OPEN_RECOVER)
        return petal_image_check_recoverable(image, error);
    return petal_image_check_clean(image, error);
}

static petal_status parse(const struct source *source, struct head *head, struct image *image,
                          petal_error *error)
{
    petal_status status = read_head(source, head, error);
    if (status == PETAL_OK)
        status = (source->header_only ? petal_image_parse_header : petal_image_parse)(
            head->bytes, source->from.bytes, source->from.size_bytes, image, error);
    return status == PETAL_OK ? judge(source, image, error) : status;
}

/* While keys are only added, bits are only set. So a reader finds every synced key even while a
 * writer is active. */
static bool is_live(const struct source *source, petal_status status, const struct image *image)
{
    return (source->options.flags & PETAL_OPEN_LIVE) && status == PETAL_ERR_DIRTY && !image->torn &&
           image->state == IMAGE_RISING;
}

static petal_status read_image(struct source *source, struct image *image, petal_error *error)
{
    struct head head, before = {.size_bytes = UINT64_MAX};
    bool is_shared = source->from.file->path && !source->from.file->is_locked;
    petal_status status = parse(source, &head, image, error);
    /* PETAL_OPEN_RECOVER accepts a dirty file, unless a writer is active. */
    if (is_shared && status == PETAL_OK && !petal_image_is_clean(image) &&
        petal_os_is_locked_elsewhere(source->from.file))
        return petal_fail(error, PETAL_ERR_BUSY,
                          "another process is changing it; try again when it has finished");
    /* No writer turns a file of another kind into a petal file, so PETAL_ERR_NOT_A_FILTER is
     * final. */
    for (int reads = 1; is_shared && status != PETAL_OK && status != PETAL_ERR_NOT_A_FILTER;
         reads++) {
        bool is_busy = petal_os_is_locked_elsewhere(source->from.file);
        source->from.live = is_busy && is_live(source, status, image);
        if (source->from.live) return PETAL_OK;
        /* While a writer is active, a slot is torn only while the writer is updating it. LIVE waits
         * until the update is finished. */
        bool may_settle = image->torn && (source->options.flags & PETAL_OPEN_LIVE);
        if (is_busy && ((status == PETAL_ERR_DIRTY && !may_settle) || reads == MAX_READS))
            return petal_fail(error, PETAL_ERR_BUSY,
                              "another process is changing it; try again when it has finished");
        bool is_settled = head.size_bytes == before.size_bytes &&
                          memcmp(head.bytes, before.bytes, (size_t)head.size_bytes) == 0;
        /* No writer is active, and two reads agree, so the failure is final. */
        if (!is_busy && (is_settled || reads == MAX_READS)) return status;
        if (is_busy) petal_os_pause();
        before = head;
        status = parse(source, &head, image, error);
    }
    return status;
}

/* Returns true if the file has changed since its header was read. If so, the header and later reads
 * may belong to different states. */
static bool has_changed(const struct source *source, const struct image *image)
{
    struct head head;
    struct image now;
    if (!source->from.file->path || source->from.file->is_locked || source->from.live ||
        source->from.is_copy)
        return false;
    return parse(source, &head, &now, NULL) != PETAL_OK || now.sequence != image->sequence;
}

/* ---- the filter in a source ------------------------------------------------------------------ */

static petal_status check_secret(const struct image *image, const void *secret, petal_error *error)
{
    if (!petal_hash_find(image->about.hash)->keyed)
        return secret ? petal_fail(error, PETAL_ERR_SECRET_WRONG,
                                   "is not keyed, but a secret was given; leave it out")
                      : PETAL_OK;
    if (!secret)
        return petal_fail(error, PETAL_ERR_SECRET_MISSING,
                          "needs the secret with id %08x, and none was given", image->secret_id);
    if (petal_secret_check(secret) != image->secret_check)
        return petal_fail(error, PETAL_ERR_SECRET_WRONG,
                          "needs the secret with id %08x, the one given is %08x", image->secret_id,
                          petal_secret_id(secret));
    return PETAL_OK;
}

petal_status petal_source_check(const struct source *source, const struct image *image,
                                petal_error *error)
{
    petal_status status = judge(source, image, error);
    return status == PETAL_OK ? check_secret(image, source->options.secret, error) : status;
}

petal_status petal_source_make_frame(const struct source *source, const struct description *about,
                                     petal_filter **made, petal_error *error)
{
    static const uint8_t none[PETAL_SECRET_BYTES];
    const void *secret = source->options.secret;
    /* If the hash needs a secret and none is given, zeros replace the secret, and the filter
     * refuses keys. */
    bool lacks_secret = !secret && petal_hash_find(about->hash)->keyed;
    petal_status status =
        petal_filter_of(about, lacks_secret ? none : secret, source->allocator, made, error);
    if (status != PETAL_OK) return status;
    (*made)->lacks_secret = lacks_secret;
    /* Some format names cover several forms (such as dcso: plain and packed). The form is only
     * known after the file has been read. */
    (*made)->file_format =
        source->format == &petal_format_petal ? source->format->id : about->origin.format;
    (*made)->memory_limit = source->options.memory_limit;
    (*made)->refuse_overfull = source->options.refuse_overfull;
    petal_filter_choose_strategy(*made);
    return petal_filter_set_metadata(*made, source->from.bytes + about->metadata_offset,
                                     (size_t)about->metadata_bytes, error);
}

static petal_status copy_bits(petal_filter *filter, const struct description *about,
                              const uint8_t *bytes, petal_error *error)
{
    petal_status status = petal_filter_alloc_bits(filter, error);
    for (uint32_t i = 0; status == PETAL_OK && i < about->layer_count; i++)
        petal_copy_to_zeroed(filter->layers[i].array.bytes, bytes + about->layers[i].offset,
                             about->layers[i].size_bytes);
    return status;
}

/* Adds the bits to the frame, by copying them or using them in place. */
static petal_status give_bits(const struct source *source, const struct description *about,
                              const struct image *image, petal_filter *made, petal_error *error)
{
    const struct opening *from = &source->from;
    if (source->mode != PETAL_OPEN_LOAD)
        return petal_backing_attach(made, about, image, from, error);
    return copy_bits(made, about, from->bytes, error);
}

/* Completes a filter without bits. The content id in the header stays valid until the first bits
 * are stored. */
static void give_none(const struct image *image, petal_filter *made)
{
    made->content_recorded = image && petal_image_is_clean(image);
    made->content_id = made->content_recorded ? image->content_id : 0;
    petal_filter_note_bits(made);
}

petal_status petal_source_verify(const struct source *source, const struct image *image,
                                 const uint8_t *bytes, petal_filter *made, petal_error *error)
{
    /* The sums of a dirty file are stale. PETAL_OPEN_RESEAL replaces the sums of a clean file. */
    bool loads = source->mode == PETAL_OPEN_LOAD,
         has_sums = petal_image_is_clean(image) && !source->from.reseal;
    if (loads && !has_sums) petal_backing_count_changed(made, image, bytes);
    if (!has_sums || !(loads || (source->options.flags & PETAL_OPEN_VERIFY))) return PETAL_OK;
    petal_status status = petal_image_verify(made, image, bytes, error);
    if (status == PETAL_OK) petal_guard_pass_all(made, BLOCK_CHECKED);
    return status;
}

/* If a crash interrupts changes in place, the file contains its old bits and some of the new bits.
 * A window also clears bits when it drops a generation. After a crash, it would be unknown which
 * bits remain, so windows can't be mapped for writing. */
static petal_status check_writable(const struct source *source, const struct image *image,
                                   petal_error *error)
{
    enum policy_kind kind = image->about.policy.kind;
    if (source->mode != PETAL_OPEN_WRITABLE) return PETAL_OK;
    if (petal_scheme_find(image->about.layers->shape.scheme)->is_in_turn)
        return petal_fail(
            error, PETAL_ERR_UNSUPPORTED,
            "a static filter never changes; open it for reading, or build it again from all "
            "keys");
    if (kind == POLICY_NONE || kind == POLICY_GROWING) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                      "a window cannot be changed in place; load it and save it");
}

static petal_status open_image_of(struct source *source, struct image *image, petal_filter **made,
                                  petal_error *error)
{
    petal_status status = read_image(source, image, error);
    bool needs_secret = source->options.secret || !(source->options.flags & PETAL_OPEN_NO_SECRET);
    if (status == PETAL_OK && needs_secret)
        status = check_secret(image, source->options.secret, error);
    if (status == PETAL_OK) status = check_writable(source, image, error);
    if (status == PETAL_OK) status = petal_source_make_frame(source, &image->about, made, error);
    if (status == PETAL_OK && source->header_only) {
        (*made)->secret_id = image->secret_id;
        give_none(image, *made);
        return PETAL_OK;
    }
    if (status == PETAL_OK) status = give_bits(source, &image->about, image, *made, error);
    if (status == PETAL_OK)
        status = petal_source_verify(source, image, source->from.bytes, *made, error);
    return status;
}

#define MAX_LOADS 10

static petal_status fail_for_changes(petal_error *error)
{
    return petal_fail(error, PETAL_ERR_BUSY,
                      "other processes keep changing it; try again when they have finished");
}

/* Loading and verifying take time. If a writer became active during that time, the result is
 * discarded. */
static petal_status open_petal(struct source *source, petal_filter **made, petal_error *error)
{
    struct image image = {0};
    bool reads_bits = !source->header_only && (source->mode == PETAL_OPEN_LOAD ||
                                               (source->options.flags & PETAL_OPEN_VERIFY));
    for (int loads = 0; loads < MAX_LOADS; loads++) {
        petal_status status = open_image_of(source, &image, made, error);
        /* If a block was changed after its sum was read, the block looks damaged. So damage is
         * reported only if the header is still the same. */
        bool is_read = status == PETAL_OK || (status == PETAL_ERR_DAMAGED && *made);
        if (!reads_bits || !is_read || !has_changed(source, &image)) return status;
        petal_free(*made);
        *made = NULL;
        petal_os_pause();
    }
    return fail_for_changes(error);
}

/* Allocates zeroed bits for a filter whose file omits them. */
static petal_status give_zeros(const struct source *source, petal_filter *made, petal_error *error)
{
    if (source->mode == PETAL_OPEN_MAP) petal_filter_refuse_changes(made);
    return petal_filter_alloc_bits(made, error);
}

/* Reads a plain image of another library's file. */
static petal_status open_image(const struct source *source, petal_filter **made, petal_error *error)
{
    struct description about = {0};
    about.origin.format = source->format->id;
    about.hash = source->format->hash;
    petal_status status = source->format->read(source->format, source->from.bytes,
                                               source->from.size_bytes, &about, error);
    if (status == PETAL_OK) status = petal_source_make_frame(source, &about, made, error);
    if (status != PETAL_OK) return status;
    return about.bits_left_out ? give_zeros(source, *made, error)
                               : give_bits(source, &about, NULL, *made, error);
}

/* Opens another library's file. If the file is packed, unpacks it first, and the filter then owns
 * its bits. If a map was requested, the filter is read-only. */
static petal_status open_packed(const struct source *source, petal_filter **made,
                                petal_error *error)
{
    const petal_allocator *allocator = source->allocator;
    struct source plain = *source;
    uint8_t *decoded = NULL;
    petal_status status =
        source->format->decode(source->from.bytes, source->from.size_bytes, allocator, &decoded,
                               &plain.from.size_bytes, error);
    if (status == PETAL_OK && !decoded) return open_image(source, made, error);
    uint64_t decoded_bytes = plain.from.size_bytes;
    plain.from.bytes = decoded;
    plain.mode = PETAL_OPEN_LOAD;
    if (status == PETAL_OK) status = open_image(&plain, made, error);
    petal_release(allocator, decoded, decoded_bytes);
    if (status == PETAL_OK && source->mode == PETAL_OPEN_MAP) petal_filter_refuse_changes(*made);
    return status;
}

static petal_status open_foreign_header(const struct source *source, petal_filter **made,
                                        petal_error *error)
{
    struct description about = {0};
    const struct format_def *format = source->format;
    about.origin.format = format->id;
    about.hash = format->hash;
    if (!format->read_header)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "%s files cannot be opened by their header alone; load all of it",
                          format->name);
    petal_status status =
        format->read_header(format, source->from.bytes, source->from.size_bytes, &about, error);
    if (status == PETAL_OK) status = petal_source_make_frame(source, &about, made, error);
    if (status == PETAL_OK) give_none(NULL, *made);
    return status;
}

static petal_status open_foreign(const struct source *source, petal_filter **made,
                                 petal_error *error)
{
    if (source->mode == PETAL_OPEN_WRITABLE || (source->options.flags & PETAL_OPEN_RECOVER))
        return petal_fail(
            error, PETAL_ERR_UNSUPPORTED,
            "a %s file cannot be changed in place; load it and save it, or convert it to petal",
            source->format->name);
    if (source->options.secret)
        return petal_fail(error, PETAL_ERR_SECRET_WRONG,
                          "is not keyed, but a secret was given; leave it out");
    if (source->header_only) return open_foreign_header(source, made, error);
    return source->format->decode ? open_packed(source, made, error)
                                  : open_image(source, made, error);
}

/* ---- format "auto" --------------------------------------------------------------------------- */

#define MAX_NAMES 32u

static petal_status fail_with_names(const char *const *names, uint32_t count, petal_error *error)
{
    char list[160] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)petal_text(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                                   names[i]);
    return petal_fail(error, PETAL_ERR_ARGUMENT, "could be any of %s; say which", list);
}

/* Determines the format of the bytes if the caller did not name it. */
static petal_status recognize(struct source *source, petal_error *error)
{
    const char *names[MAX_NAMES];
    if (!source->is_auto) return PETAL_OK;
    uint64_t count = petal_recognize(source->from.bytes, source->from.size_bytes, names, MAX_NAMES);
    if (count == 0)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "not a filter of a known format");
    if (count > 1)
        return fail_with_names(names, (uint32_t)(count < MAX_NAMES ? count : MAX_NAMES), error);
    source->format = petal_format_find(names[0]);
    return PETAL_OK;
}

/* ---- opening from start to end --------------------------------------------------------------- */

const petal_allocator *petal_source_allocator(const struct source *source)
{
    return source->options.allocator ? source->options.allocator : &petal_os_allocator;
}

/* If opening fails, only this function releases the resources. */
petal_status petal_source_open(struct source *source, petal_filter **filter, petal_error *error)
{
    const petal_allocator *inner = petal_source_allocator(source);
    petal_filter *made = NULL;
    struct budget budget;
    if (!source->from.bytes) source->from.bytes = (const uint8_t *)""; /* never read */
    petal_budget_begin(&budget, inner, source->options.memory_limit, source->from.size_bytes);
    source->allocator = &budget.bounded;
    petal_status status = recognize(source, error);
    if (status == PETAL_OK)
        status = source->format == &petal_format_petal ? open_petal(source, &made, error)
                                                       : open_foreign(source, &made, error);
    source->allocator = inner; /* the budget applies until this line */
    if (status != PETAL_OK) {
        petal_free(made);
        return petal_budget_end(&budget, status, error);
    }
    /* The budget is on the stack, and the filter outlives it, so the filter uses the caller's
     * allocator. */
    made->allocator = *inner;
    *filter = made;
    return PETAL_OK;
}

/* ---- public calls ---------------------------------------------------------------------------- */

#define MODES 15u
#define FLAGS \
    (PETAL_OPEN_VERIFY | PETAL_OPEN_RECOVER | PETAL_OPEN_LIVE | PETAL_OPEN_LOCKED | \
     PETAL_OPEN_NO_LOCK | PETAL_OPEN_HEADER_ONLY | PETAL_OPEN_NO_SECRET | \
     PETAL_OPEN_VERIFY_ON_USE | PETAL_OPEN_RESEAL)

static petal_status check_flags(unsigned flags, petal_error *error)
{
    unsigned mode = flags & MODES;
    if (mode > PETAL_OPEN_LOAD || (flags & ~(MODES | FLAGS)))
        return petal_fail(error, PETAL_ERR_ARGUMENT, "unknown flags %#x", flags);
    if ((flags & PETAL_OPEN_RECOVER) && mode == PETAL_OPEN_MAP)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "recovering needs WRITABLE or LOAD");
    if ((flags & PETAL_OPEN_RESEAL) && !(flags & PETAL_OPEN_RECOVER))
        return petal_fail(error, PETAL_ERR_ARGUMENT, "RESEAL needs RECOVER");
    if ((flags & PETAL_OPEN_LIVE) && mode != PETAL_OPEN_MAP)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "LIVE needs MAP");
    if ((flags & PETAL_OPEN_LOCKED) && mode != PETAL_OPEN_LOAD)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "LOCKED needs LOAD; a writable map is always locked");
    if ((flags & PETAL_OPEN_HEADER_ONLY) &&
        (mode == PETAL_OPEN_WRITABLE || (flags & (PETAL_OPEN_VERIFY | PETAL_OPEN_LIVE))))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "HEADER_ONLY reads no bits: leave WRITABLE, VERIFY and LIVE out");
    if ((flags & PETAL_OPEN_NO_SECRET) && !(flags & PETAL_OPEN_HEADER_ONLY))
        return petal_fail(error, PETAL_ERR_ARGUMENT, "NO_SECRET needs HEADER_ONLY");
    return PETAL_OK;
}

/* Checks the options, and copies them to `source`. */
static petal_status begin(const petal_open_options *theirs, struct source *source,
                          petal_error *error)
{
    petal_open_options *options = &source->options;
    petal_status status = PETAL_OK;
    *options = PETAL_OPEN_OPTIONS_INIT;
    if (theirs)
        status =
            petal_sized_take(theirs, options, sizeof *options, "PETAL_OPEN_OPTIONS_INIT", error);
    if (status == PETAL_OK) status = check_flags(options->flags, error);
    if (status != PETAL_OK) return status;
    source->mode = options->flags & MODES;
    source->header_only = options->flags & PETAL_OPEN_HEADER_ONLY;
    /* A header without bits needs no map. */
    if (source->header_only) source->mode = PETAL_OPEN_LOAD;
    source->from.writable = source->mode == PETAL_OPEN_WRITABLE;
    source->from.recover = options->flags & PETAL_OPEN_RECOVER;
    source->from.reseal = options->flags & PETAL_OPEN_RESEAL;
    source->from.guard = options->flags & PETAL_OPEN_VERIFY_ON_USE;
    source->is_auto = options->format && strcmp(options->format, "auto") == 0;
    return petal_format_named(source->is_auto ? NULL : options->format, &source->format, error);
}

/* ---- files ----------------------------------------------------------------------------------- */

static enum access access_of(const struct source *source)
{
    bool is_petal = source->format == &petal_format_petal;
    bool writes = (source->mode == PETAL_OPEN_WRITABLE && is_petal) ||
                  (source->options.flags & PETAL_OPEN_LOCKED);
    if (!writes) return ACCESS_READ;
    return source->options.flags & PETAL_OPEN_NO_LOCK ? ACCESS_WRITE_ALONE : ACCESS_WRITE;
}

static petal_status open_mapped(struct source *source, struct mapping *map, const struct file *file,
                                petal_filter **filter, petal_error *error)
{
    bool writable = source->mode == PETAL_OPEN_WRITABLE && source->format == &petal_format_petal;
    petal_status status = petal_os_map(file, writable, source->options.max_bytes, map, error);
    if (status != PETAL_OK) return status;
    if (!writable && (source->options.flags & PETAL_OPEN_VERIFY)) petal_os_will_read(map);
    source->from.bytes = map->bytes;
    source->from.size_bytes = map->size_bytes;
    source->from.is_copy = map->is_copy;
    source->from.file = file;
    return petal_source_open(source, filter, error);
}

/* Reads the first `size_bytes` of the file, and opens the header in them. */
static petal_status open_first_bytes(struct source *source, uint64_t size_bytes,
                                     const struct file *file, petal_filter **filter,
                                     petal_error *error)
{
    struct budget budget;
    petal_budget_begin(&budget, petal_source_allocator(source), source->options.memory_limit, 0);
    uint8_t *bytes = petal_alloc(&budget.bounded, size_bytes);
    if (!bytes && size_bytes)
        return petal_budget_end(&budget, petal_fail(error, PETAL_ERR_MEMORY, "out of memory"),
                                error);
    source->from.bytes = bytes;
    source->from.file = file;
    petal_status status =
        petal_os_read(file, 0, bytes, size_bytes, &source->from.size_bytes, error);
    if (status == PETAL_OK) status = petal_source_open(source, filter, error);
    petal_release(&budget.bounded, bytes, size_bytes);
    return status;
}

/* Opens only the header, and reads no more bytes than necessary. */
static petal_status open_header(struct source *source, const struct file *file,
                                petal_filter **filter, petal_error *error)
{
    uint64_t size, needed = PETAL_HEAD_BYTES;
    petal_status status = petal_os_size(file, source->options.max_bytes, &size, error);
    if (status != PETAL_OK) return status;
    for (;;) {
        uint64_t read = needed < size ? needed : size;
        status = open_first_bytes(source, read, file, filter, error);
        if (status != PETAL_ERR_TRUNCATED || read == size || error->offset <= read) return status;
        needed = error->offset;
    }
}

/* Returns true if the header in the file has changed since the file was copied. The header was
 * copied before the rest of the file. */
static bool is_outdated(const struct mapping *map, const struct file *file)
{
    uint8_t head[PETAL_HEAD_BYTES];
    uint64_t size = map->size_bytes < sizeof head ? map->size_bytes : sizeof head, got;
    return petal_os_read(file, 0, head, size, &got, NULL) != PETAL_OK || got != size ||
           memcmp(head, map->bytes, (size_t)size) != 0;
}

/* Opens a mapped file, and transfers the map and the file to the filter if it needs them. */
static petal_status open_map(struct source *source, struct mapping *map, struct file *file,
                             petal_filter **filter, petal_error *error)
{
    /* Format detection may need all bytes of the file. */
    bool reads_header = source->header_only && !source->is_auto;
    petal_status status = reads_header ? open_header(source, file, filter, error)
                                       : open_mapped(source, map, file, filter, error);
    /* If the file changed while it was copied, the copy mixes two states permanently, unlike a map.
     * So the file is copied again. */
    for (int loads = 1; map->is_copy && is_outdated(map, file); loads++) {
        petal_free(*filter);
        *filter = NULL;
        petal_os_unmap(map);
        if (loads == MAX_LOADS) return fail_for_changes(error);
        petal_os_pause();
        status = open_mapped(source, map, file, filter, error);
    }
    bool is_mapped = *filter && petal_filter_has_foreign_bits(*filter);
    if (status != PETAL_OK || !(is_mapped || (source->options.flags & PETAL_OPEN_LOCKED)))
        return status;
    status = petal_backing_hold(
        *filter, &(struct holdings){.map = is_mapped ? *map : no_map, .file = *file}, error);
    if (status != PETAL_OK) return status;
    if (is_mapped) *map = no_map;
    *file = no_file;
    return PETAL_OK;
}

petal_status petal_open(const char *path, const petal_open_options *options, petal_filter **filter,
                        petal_error *error)
{
    struct mapping map = no_map;
    struct file file = no_file;
    struct source source = {.from = {.file = &no_file}};
    petal_error own; /* the error of one attempt; a later attempt may succeed */
    *filter = NULL;
    petal_status status = begin(options, &source, &own);
    if (status == PETAL_OK) status = petal_os_open(path, access_of(&source), &file, &own);
    if (status == PETAL_OK) status = open_map(&source, &map, &file, filter, &own);
    petal_os_unmap(&map);
    petal_os_close(&file);
    if (status == PETAL_OK) return PETAL_OK;
    if (error) *error = own;
    petal_free(*filter);
    *filter = NULL;
    return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static petal_status begin_in_memory(const petal_open_options *options, unsigned mode,
                                    struct source *source, petal_error *error)
{
    *source = (struct source){.from = {.file = &no_file}};
    petal_status status = begin(options, source, error);
    if (status != PETAL_OK) return status;
    if (source->options.flags & (PETAL_OPEN_LIVE | PETAL_OPEN_LOCKED | PETAL_OPEN_NO_LOCK))
        return petal_fail(error, PETAL_ERR_ARGUMENT, "LIVE, LOCKED and NO_LOCK are for files");
    /* PETAL_OPEN_MAP is the default, so this value means that the caller chose no mode. */
    if (source->mode != PETAL_OPEN_MAP && source->mode != mode)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          mode == PETAL_OPEN_MAP ? "a view is read-only; load a copy"
                                                 : "PETAL_OPEN_WRITABLE needs a file");
    source->mode = mode;
    return PETAL_OK;
}

petal_status petal_source_to_load(const petal_open_options *options, struct source *source,
                                  petal_error *error)
{
    return begin_in_memory(options, PETAL_OPEN_LOAD, source, error);
}

static petal_status open_bytes(const void *bytes, uint64_t size_bytes,
                               const petal_open_options *options, unsigned mode,
                               petal_filter **filter, petal_error *error)
{
    struct source source;
    *filter = NULL;
    petal_status status = begin_in_memory(options, mode, &source, error);
    if (status != PETAL_OK) return status;
    source.from.bytes = bytes;
    source.from.size_bytes = size_bytes;
    status = petal_source_open(&source, filter, error);
    if (status != PETAL_OK || !*filter || mode != PETAL_OPEN_MAP || !source.options.release)
        return status;
    status = petal_backing_hold(*filter,
                                &(struct holdings){.file = no_file,
                                                   .release = source.options.release,
                                                   .context = source.options.release_context,
                                                   .bytes = bytes,
                                                   .size_bytes = size_bytes},
                                error);
    if (status == PETAL_OK) return PETAL_OK;
    petal_free(*filter);
    *filter = NULL;
    return status;
}

petal_status petal_load(const void *bytes, uint64_t size_bytes, const petal_open_options *options,
                        petal_filter **filter, petal_error *error)
{
    return open_bytes(bytes, size_bytes, options, PETAL_OPEN_LOAD, filter, error);
}

petal_status petal_view(const void *bytes, uint64_t size_bytes, const petal_open_options *options,
                        petal_filter **filter, petal_error *error)
{
    return open_bytes(bytes, size_bytes, options, PETAL_OPEN_MAP, filter, error);
}
