/* abilities.c - proves that the table in docs/api.md is correct: the test creates every kind of
 * filter in every state, makes each call on the filter, and compares the result with the table. An
 * ability must be set if and only if the corresponding calls succeed. */
#include "support.h"

#include "petal/petal_build.h"
#include "petal/petal_host.h"
#include "petal/petal_inline.h"

/* ---- the subjects ---------------------------------------------------------------------------- */

enum kind { PLAIN, COUNTS, GROWS, WINDOW_KEYS, WINDOW_TIME, FOREIGN, CHAIN, STATIC_SET, KINDS };
enum state { MEMORY, SHARED, WRITABLE_MAP, READ_ONLY_MAP, LIVE, FROZEN, HEADER, STATES };

/* The table has one column for each kind of filter in memory, followed by one column for each other
 * state of a plain filter. */
enum { COLUMNS = KINDS + STATES - 1 };

/* Describes the kind and the state of a filter. */
struct recipe {
    const char *name;
    enum kind kind;
    petal_options options;
    uint64_t keys;
    enum state state;
    unsigned turn; /* selects one of several ways to reach this state */
};

static const uint8_t secret[PETAL_SECRET_BYTES] = "0123456789abcde";

struct subject {
    const struct recipe *recipe;
    petal_filter *filter;
    petal_filter *writer; /* in the LIVE state, the second handle, which changes the file */
    struct bytes viewed;
};

static void *allocate(void *context, size_t size_bytes)
{
    (void)context;
    return calloc(1, size_bytes);
}

static void release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    (void)size_bytes;
    free(memory);
}

static const petal_allocator allocator = {allocate, release, NULL};

/* Builds a static filter that contains the empty key and numbers. */
static petal_filter *make_static(const struct recipe *recipe)
{
    petal_static_builder *builder;
    petal_filter *filter;
    petal_error error;
    petal_key none = {NULL, 0};
    petal_batch batch = batch_of_keys(&none, 1);
    require_status(PETAL_OK, petal_static_create(&recipe->options, 1, &builder, &error), error);
    require_status(PETAL_OK, petal_static_add(builder, 0, &batch, &error), error);
    for (int64_t i = 0; i < (int64_t)recipe->keys; i++) {
        batch = batch_of_numbers(&i, 1);
        require_status(PETAL_OK, petal_static_add(builder, 0, &batch, &error), error);
    }
    require_status(PETAL_OK, petal_static_finish(builder, NULL, NULL, &filter, &error), error);
    return filter;
}

static petal_filter *make_kind(const struct recipe *recipe)
{
    if (recipe->kind == STATIC_SET) return make_static(recipe);
    petal_filter *filter = create(&recipe->options);
    if (recipe->kind == WINDOW_TIME) petal_set_clock(filter, 1000, NULL);
    add_numbers(filter, 0, recipe->keys);
    return filter;
}

static petal_filter *open_as(const struct recipe *recipe, const char *path, uint32_t flags)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    options.flags = flags;
    options.secret = recipe->options.secret;
    options.allocator = &allocator;
    petal_status status = petal_open(path, &options, &filter, &error);
    require(status == PETAL_OK || status == PETAL_ERR_UNSUPPORTED, "%s: %s", recipe->name,
            error.message);
    return filter;
}

static petal_filter *view_as(const struct recipe *recipe, struct bytes bytes)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    options.secret = recipe->options.secret;
    options.allocator = &allocator;
    require_status(PETAL_OK, petal_view(bytes.data, bytes.size, &options, &filter, &error), error);
    return filter;
}

static petal_filter *save_and_open(const struct recipe *recipe, petal_filter *made,
                                   const char *path, uint32_t flags)
{
    petal_error error;
    require_status(PETAL_OK, petal_save(made, path, NULL, &error), error);
    petal_free(made);
    return open_as(recipe, path, flags);
}

/* Creates the subject. Returns false if this kind of filter can't be in this state. */
static bool make_subject(const struct recipe *recipe, const char *path, struct subject *subject)
{
    petal_filter *made = make_kind(recipe);
    petal_error error;
    *subject = (struct subject){recipe, made, NULL, {NULL, 0}};
    switch (recipe->state) {
    case SHARED:
        if (petal_allow_threads(made, NULL) != PETAL_OK) {
            petal_free(made);
            subject->filter = NULL;
        }
        break;
    case WRITABLE_MAP:
        subject->filter = save_and_open(recipe, made, path, PETAL_OPEN_WRITABLE);
        break;
    case READ_ONLY_MAP:
        if (recipe->turn == 0) {
            subject->viewed = serialized(made);
            petal_free(made);
            subject->filter = view_as(recipe, subject->viewed);
        } else {
            subject->filter = save_and_open(recipe, made, path, PETAL_OPEN_MAP);
        }
        break;
    case LIVE:
        subject->writer = save_and_open(recipe, made, path, PETAL_OPEN_WRITABLE);
        subject->filter = NULL;
        if (!subject->writer) break;
        add_numbers(subject->writer, 7, 1);
        petal_add_i64(subject->writer, 1000000);
        subject->filter = open_as(recipe, path, PETAL_OPEN_LIVE);
        assert_true(file_info_of(subject->filter).live);
        break;
    case FROZEN:
        if (recipe->turn == 1)
            subject->filter = save_and_open(recipe, made, path, PETAL_OPEN_WRITABLE);
        if (recipe->turn == 2) (void)!petal_allow_threads(made, NULL); /* some kinds refuse */
        if (subject->filter) require_status(PETAL_OK, petal_freeze(subject->filter, &error), error);
        break;
    case HEADER: subject->filter = save_and_open(recipe, made, path, PETAL_OPEN_HEADER_ONLY); break;
    default: break;
    }
    return subject->filter != NULL;
}

static void free_subject(struct subject *subject)
{
    petal_free(subject->filter);
    petal_free(subject->writer);
    free(subject->viewed.data);
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* Results for calls that return no status: every key is reported as present, or the size is 0. */
enum { ANSWERS_TRUE = 100, ANSWERS_NOTHING = 101 };

#define ABSENT_KEY 123456789

typedef petal_status (*attempt)(struct subject *subject, struct subject *twin, petal_error *error);

/* NOLINTBEGIN(bugprone-macro-parentheses): the name of a function */
#define ATTEMPT(name) \
    static petal_status try_##name(struct subject *subject, struct subject *twin, \
                                   petal_error *error)
#define UNUSED_TWIN (void)twin, (void)error
/* NOLINTEND(bugprone-macro-parentheses) */

static petal_status answer(bool is_in)
{
    return is_in ? ANSWERS_TRUE : PETAL_OK;
}

ATTEMPT(create_like)
{
    petal_filter *made;
    (void)twin;
    petal_status status = petal_create_like(subject->filter, &made, error);
    petal_free(made);
    return status;
}

ATTEMPT(clone)
{
    petal_filter *made;
    (void)twin;
    petal_status status = petal_clone(subject->filter, &made, error);
    petal_free(made);
    return status;
}

ATTEMPT(free)
{
    UNUSED_TWIN;
    petal_free(subject->filter);
    subject->filter = NULL;
    return PETAL_OK;
}

ATTEMPT(add)
{
    UNUSED_TWIN;
    return petal_add(subject->filter, "8 bytes.", 8);
}

ATTEMPT(add_i64)
{
    UNUSED_TWIN;
    return petal_add_i64(subject->filter, ABSENT_KEY);
}

ATTEMPT(add_hash)
{
    UNUSED_TWIN;
    return petal_add_hash(subject->filter, mix(ABSENT_KEY));
}

ATTEMPT(contains)
{
    UNUSED_TWIN;
    return answer(petal_contains(subject->filter, "8 bytes.", 8));
}

ATTEMPT(contains_i64)
{
    UNUSED_TWIN;
    return answer(petal_contains_i64(subject->filter, ABSENT_KEY));
}

ATTEMPT(contains_hash)
{
    UNUSED_TWIN;
    return answer(petal_contains_hash(subject->filter, mix(ABSENT_KEY)));
}

ATTEMPT(remove)
{
    UNUSED_TWIN;
    uint8_t key[8];
    petal_encode_i64(1, key);
    return petal_remove(subject->filter, key, 8);
}

ATTEMPT(remove_i64)
{
    UNUSED_TWIN;
    return petal_remove_i64(subject->filter, 1);
}

ATTEMPT(remove_hash)
{
    UNUSED_TWIN;
    return petal_remove_hash(subject->filter, mix(ABSENT_KEY));
}

ATTEMPT(hash_key)
{
    UNUSED_TWIN;
    (void)petal_hash_key(subject->filter, "8 bytes.", 8);
    return PETAL_OK;
}

static petal_batch numbers(void)
{
    static const int64_t some[2] = {1, ABSENT_KEY};
    return batch_of_numbers(some, 2);
}

ATTEMPT(add_batch)
{
    (void)twin;
    petal_batch batch = numbers();
    return petal_add_batch(subject->filter, &batch, NULL, NULL, error);
}

ATTEMPT(contains_batch)
{
    petal_batch batch = numbers();
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    (void)twin;
    petal_status status = petal_contains_batch(subject->filter, &batch, NULL, &outcome, error);
    return status == PETAL_OK ? answer(outcome.positive == 2) : status;
}

ATTEMPT(remove_batch)
{
    (void)twin;
    petal_batch batch = numbers();
    return petal_remove_batch(subject->filter, &batch, NULL, NULL, error);
}

ATTEMPT(hash_batch)
{
    (void)twin;
    uint64_t hashes[2];
    petal_batch batch = numbers();
    return petal_hash_batch(subject->filter, &batch, hashes, error);
}

ATTEMPT(contains_any)
{
    bool is_in = false;
    petal_batch batch = numbers();
    (void)twin;
    return petal_contains_any(subject->filter, &batch, &is_in, error);
}

ATTEMPT(contains_all)
{
    bool is_in = false;
    petal_batch batch = numbers();
    (void)twin;
    petal_status status = petal_contains_all(subject->filter, &batch, &is_in, error);
    return status == PETAL_OK ? answer(is_in) : status;
}

ATTEMPT(save)
{
    (void)twin;
    return petal_save(subject->filter, temporary("saved"), NULL, error);
}

ATTEMPT(sync)
{
    (void)twin;
    return petal_sync(subject->filter, error);
}

ATTEMPT(verify)
{
    (void)twin;
    return petal_verify(subject->filter, error);
}

ATTEMPT(get_info)
{
    petal_info info = PETAL_INFO_INIT;
    (void)twin;
    return petal_get_info(subject->filter, PETAL_ALL_LAYERS, &info, error);
}

ATTEMPT(get_layers_info)
{
    petal_layers_info info = PETAL_LAYERS_INFO_INIT;
    (void)twin;
    return petal_get_layers_info(subject->filter, PETAL_ALL_LAYERS, &info, error);
}

ATTEMPT(get_file_info)
{
    petal_file_info info = PETAL_FILE_INFO_INIT;
    (void)twin;
    return petal_get_file_info(subject->filter, &info, error);
}

ATTEMPT(get_stats)
{
    petal_stats stats = PETAL_STATS_INIT;
    (void)twin;
    return petal_get_stats(subject->filter, PETAL_ALL_LAYERS, &stats, error);
}

ATTEMPT(content_id)
{
    uint64_t id;
    (void)twin;
    return petal_content_id(subject->filter, &id, error);
}

ATTEMPT(is_overfull)
{
    UNUSED_TWIN;
    return answer(petal_is_overfull(subject->filter));
}

ATTEMPT(last_error)
{
    UNUSED_TWIN;
    (void)petal_last_error(subject->filter, NULL);
    return PETAL_OK;
}

ATTEMPT(metadata)
{
    UNUSED_TWIN;
    return petal_metadata(subject->filter, NULL) ? PETAL_OK : ANSWERS_NOTHING;
}

ATTEMPT(set_metadata)
{
    (void)twin;
    return petal_set_metadata(subject->filter, "other", 5, error);
}

ATTEMPT(clear)
{
    (void)twin;
    return petal_clear(subject->filter, error);
}

ATTEMPT(share)
{
    (void)twin;
    return petal_allow_threads(subject->filter, error);
}

ATTEMPT(freeze)
{
    (void)twin;
    return petal_freeze(subject->filter, error);
}

ATTEMPT(merge)
{
    return petal_merge(subject->filter, twin->filter, error);
}

ATTEMPT(intersect)
{
    return petal_intersect(subject->filter, twin->filter, error);
}

ATTEMPT(compare)
{
    petal_comparison comparison = PETAL_COMPARISON_INIT;
    return petal_compare(subject->filter, twin->filter, &comparison, error);
}

ATTEMPT(drop_counts)
{
    petal_filter *made;
    (void)twin;
    petal_status status = petal_drop_counts(subject->filter, &made, error);
    petal_free(made);
    return status;
}

/* Folds the filter to its current size, so the call doesn't require a rate. */
ATTEMPT(fold)
{
    petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
    petal_filter *made;
    (void)twin;
    options.bits = info_of(subject->filter).bits;
    petal_status status = petal_fold(subject->filter, &options, &made, error);
    petal_free(made);
    return status;
}

ATTEMPT(advance)
{
    (void)twin;
    return petal_set_clock(subject->filter, 2000, error);
}

ATTEMPT(set_query_clock)
{
    (void)twin;
    return petal_set_query_clock(subject->filter, 2000, error);
}

static petal_status build(struct subject *subject, bool adds, bool flushes, petal_error *error)
{
    petal_builder *builder;
    petal_batch batch = numbers();
    uint32_t workers = 2;
    petal_status status = petal_builder_create(subject->filter, &workers, &builder, error);
    if (status != PETAL_OK) return status;
    if (adds) status = petal_builder_add(builder, 0, &batch, error);
    if (status == PETAL_OK && flushes) status = petal_builder_flush(builder, 0, error);
    petal_status finished = petal_builder_finish(builder, error);
    return status == PETAL_OK ? finished : status;
}

ATTEMPT(builder_create)
{
    (void)twin;
    return build(subject, false, false, error);
}

ATTEMPT(builder_add)
{
    (void)twin;
    return build(subject, true, false, error);
}

ATTEMPT(builder_flush)
{
    (void)twin;
    return build(subject, true, true, error);
}

ATTEMPT(serialized_bytes)
{
    UNUSED_TWIN;
    return petal_serialized_bytes(subject->filter, NULL) ? PETAL_OK : ANSWERS_NOTHING;
}

ATTEMPT(serialize)
{
    struct bytes bytes = new_bytes((size_t)petal_serialized_bytes(subject->filter, NULL));
    (void)twin;
    petal_status status = petal_serialize(subject->filter, NULL, bytes.data, bytes.size, error);
    free(bytes.data);
    return status;
}

static int swallow(void *context, const void *bytes, size_t size_bytes)
{
    (void)context;
    (void)bytes;
    (void)size_bytes;
    return 0;
}

ATTEMPT(write)
{
    (void)twin;
    return petal_write(subject->filter, NULL, swallow, NULL, error);
}

ATTEMPT(bits)
{
    const void *bytes;
    uint64_t size;
    (void)twin;
    petal_status status = petal_bits(subject->filter, 0, &bytes, &size, error);
    return status == PETAL_OK && !bytes ? ANSWERS_NOTHING : status;
}

ATTEMPT(write_bits)
{
    static const uint8_t zeros[8];
    const void *bytes = NULL;
    uint64_t size;
    (void)twin;
    petal_bits(subject->filter, 0, &bytes, &size, NULL);
    return petal_write_bits(subject->filter, 0, 0, bytes ? bytes : zeros, 1, error);
}

ATTEMPT(adopt)
{
    uint64_t size = layer_of(subject->filter, 0).bytes;
    void *bytes = calloc(1, (size_t)size);
    (void)twin;
    petal_status status = petal_adopt_bits(subject->filter, 0, bytes, size, error);
    if (status != PETAL_OK) free(bytes);
    return status;
}

static void *leave(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    (void)memory;
    (void)size_bytes;
    return NULL;
}

ATTEMPT(relocate)
{
    (void)twin;
    return petal_relocate(&subject->filter, leave, NULL, error);
}

/* Sets `items` to its current value. */
ATTEMPT(set_items)
{
    (void)twin;
    return petal_set_items(subject->filter, info_of(subject->filter).items, error);
}

/* Lends the twin's layers to the subject. This is safe because the twin lives as long as the
 * subject. */
ATTEMPT(lend)
{
    petal_lent_layer layers[16] = {{.bytes = NULL}};
    uint32_t count = info_of(twin->filter).layers;
    require(count <= 16, "%u layers", count);
    for (uint32_t i = 0; i < count; i++) {
        petal_info info = PETAL_INFO_INIT;
        const void *bytes = NULL;
        uint64_t size_bytes;
        require(petal_get_info(twin->filter, i, &info, error) == PETAL_OK &&
                    petal_bits(twin->filter, i, &bytes, &size_bytes, error) == PETAL_OK,
                "%s", error->message);
        layers[i] = (petal_lent_layer){
            (void *)(uintptr_t)bytes, info.bits, info.hashes, info.lines_per_key, info.capacity,
            info.target_rate,         info.items};
    }
    return petal_lend(subject->filter, layers, count, error);
}

ATTEMPT(key_ranges)
{
    uint64_t count;
    (void)twin;
    return petal_key_ranges(subject->filter, "8 bytes.", 8, NULL, 0, &count, error);
}

ATTEMPT(contains_in_ranges)
{
    static const uint8_t zeros[4096];
    petal_range ranges[64];
    uint64_t count = 0;
    uint64_t size = 0;
    bool is_in;
    (void)twin;
    petal_key_ranges(subject->filter, "8 bytes.", 8, ranges, 64, &count, NULL);
    for (uint32_t i = 0; i < count; i++) size += ranges[i].size_bytes;
    return petal_contains_in_ranges(subject->filter, "8 bytes.", 8, zeros, size, &is_in, error);
}

/* Finds the first block of bits. In a file, the bits follow the slots, metadata and sums, aligned
 * to a cache line. */
static uint64_t first_block(const petal_filter *filter, petal_range *block, petal_range *sum)
{
    uint64_t offset = 0;
    while (offset < 1 << 20 && petal_block_ranges(filter, offset, block, sum, NULL) != PETAL_OK)
        offset += 64;
    return offset;
}

ATTEMPT(block_ranges)
{
    petal_range block, sum;
    (void)twin;
    return petal_block_ranges(subject->filter, first_block(subject->filter, &block, &sum), &block,
                              &sum, error);
}

/* The checksum of a block of zeros is never 0, so if the call reports a mismatch, it works. */
ATTEMPT(verify_block)
{
    static const uint8_t zeros[65536];
    petal_range block = {0, 0}, sum = {0, 0};
    (void)twin;
    uint64_t offset = first_block(subject->filter, &block, &sum);
    petal_status status = petal_verify_block(subject->filter, offset, zeros, block.size_bytes,
                                             zeros, sum.size_bytes, error);
    require(status != PETAL_OK, "zeros match at %llu", (unsigned long long)offset);
    return status == PETAL_ERR_DAMAGED ? PETAL_OK : status;
}

ATTEMPT(inline_begin)
{
    petal_inline hot = PETAL_INLINE_INIT;
    (void)twin;
    return petal_inline_begin(subject->filter, &hot, error);
}

ATTEMPT(inline_begin_adding)
{
    petal_inline hot = PETAL_INLINE_INIT;
    (void)twin;
    petal_status status = petal_inline_begin_adding(subject->filter, &hot, error);
    if (status == PETAL_OK) petal_inline_end(subject->filter, &hot);
    return status;
}

static int32_t keep_bytes(void *context, const void *bytes, size_t size_bytes)
{
    struct bytes *kept = context;
    uint8_t *longer = realloc(kept->data, kept->size + size_bytes);
    require(longer != NULL, "no memory");
    memcpy(longer + kept->size, bytes, size_bytes);
    kept->data = longer;
    kept->size += size_bytes;
    return 0;
}

ATTEMPT(diff)
{
    struct bytes patch = {NULL, 0};
    petal_status status = petal_diff(twin->filter, subject->filter, keep_bytes, &patch, error);
    free(patch.data);
    return status;
}

/* Applies a patch that adds one key to the filter. */
ATTEMPT(apply_patch)
{
    struct bytes patch = {NULL, 0};
    (void)twin;
    if (subject->recipe->kind == STATIC_SET)
        return petal_apply_patch(subject->filter, NULL, 0, 0, error);
    petal_filter *base = make_kind(subject->recipe), *more = clone_of(base);
    require_that(petal_add_i64(more, ABSENT_KEY), >=, 0);
    require_status(PETAL_OK, petal_diff(base, more, keep_bytes, &patch, error), *error);
    petal_status status = petal_apply_patch(subject->filter, patch.data, patch.size, 0, error);
    petal_free(base);
    petal_free(more);
    free(patch.data);
    return status;
}

/* ---- abilities that no single call stands for ------------------------------------------------ */

ATTEMPT(hashes)
{
    static const uint64_t some[1] = {42};
    petal_batch batch = batch_of_hashes(some, 1);
    (void)twin;
    return petal_contains_batch(subject->filter, &batch, NULL, NULL, error);
}

ATTEMPT(empty_key)
{
    UNUSED_TWIN;
    petal_filter *other = make_kind(subject->recipe);
    petal_status status = subject->recipe->kind == STATIC_SET
                              ? (petal_contains(other, NULL, 0) ? PETAL_OK : PETAL_ERR_UNSUPPORTED)
                              : petal_add(other, NULL, 0);
    petal_free(other);
    return status;
}

ATTEMPT(map)
{
    petal_filter *map = save_and_open(subject->recipe, make_kind(subject->recipe), temporary("map"),
                                      PETAL_OPEN_WRITABLE);
    UNUSED_TWIN;
    bool is_made = map != NULL;
    petal_free(map);
    return is_made ? PETAL_OK : PETAL_ERR_UNSUPPORTED;
}

ATTEMPT(grow)
{
    petal_info info = info_of(subject->filter);
    uint32_t layers = info.layers;
    petal_status status = PETAL_OK;
    UNUSED_TWIN;
    if (info.policy == PETAL_POLICY_WINDOW_KEYS || info.policy == PETAL_POLICY_WINDOW_TIME)
        return PETAL_ERR_UNSUPPORTED;
    for (int64_t i = 0; status >= 0 && i < 5000; i++) {
        status = petal_add_i64(subject->filter, i);
        if (info_of(subject->filter).layers > layers) return PETAL_OK;
    }
    return status < 0 ? status : PETAL_ERR_UNSUPPORTED;
}

ATTEMPT(window)
{
    petal_filter *other = make_kind(subject->recipe);
    UNUSED_TWIN;
    for (int64_t i = 0; i < 1500; i++) {
        petal_set_clock(other, 1000 + 100 * (uint64_t)i, NULL); /* only time windows have a clock */
        if (petal_add_i64(other, ABSENT_KEY + i) < 0) break;
    }
    bool forgets = !petal_contains_i64(other, 1) || !petal_contains_i64(other, 2);
    petal_free(other);
    return forgets ? PETAL_OK : PETAL_ERR_UNSUPPORTED;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* `name` is the name of the row in docs/api.md. The last five rows are abilities that have no call
 * of their own and are tested by the functions above. */
static const struct row {
    const char *name;
    attempt attempt;
    bool changes; /* if the call succeeds, the next row needs a new subject */
    uint32_t ability;
} rows[] = {
    {"petal_create_like", try_create_like, false, PETAL_CAN_CREATE_LIKE},
    {"petal_clone", try_clone, false, 0},
    {"petal_free", try_free, true, 0},
    {"petal_add", try_add, true, PETAL_CAN_ADD},
    {"petal_add_i64", try_add_i64, true, PETAL_CAN_ADD},
    {"petal_add_hash", try_add_hash, true, 0},
    {"petal_add_batch", try_add_batch, true, PETAL_CAN_ADD},
    {"petal_contains", try_contains, false, 0},
    {"petal_contains_i64", try_contains_i64, false, 0},
    {"petal_contains_hash", try_contains_hash, false, 0},
    {"petal_contains_batch", try_contains_batch, false, 0},
    {"petal_contains_any", try_contains_any, false, 0},
    {"petal_contains_all", try_contains_all, false, 0},
    {"petal_remove", try_remove, true, PETAL_CAN_REMOVE},
    {"petal_remove_i64", try_remove_i64, true, PETAL_CAN_REMOVE},
    {"petal_remove_hash", try_remove_hash, true, PETAL_CAN_REMOVE},
    {"petal_remove_batch", try_remove_batch, true, PETAL_CAN_REMOVE},
    {"petal_hash_key", try_hash_key, false, 0},
    {"petal_hash_batch", try_hash_batch, false, 0},
    {"petal_save", try_save, false, PETAL_CAN_SAVE},
    {"petal_serialized_bytes", try_serialized_bytes, false, 0},
    {"petal_serialize", try_serialize, false, PETAL_CAN_SAVE},
    {"petal_write", try_write, false, PETAL_CAN_SAVE},
    {"petal_sync", try_sync, false, 0},
    {"petal_verify", try_verify, false, 0},
    {"petal_get_info", try_get_info, false, 0},
    {"petal_get_layers_info", try_get_layers_info, false, 0},
    {"petal_get_file_info", try_get_file_info, false, 0},
    {"petal_get_stats", try_get_stats, false, PETAL_CAN_STATS},
    {"petal_content_id", try_content_id, false, 0},
    {"petal_is_overfull", try_is_overfull, false, 0},
    {"petal_last_error", try_last_error, false, 0},
    {"petal_metadata", try_metadata, false, 0},
    {"petal_set_metadata", try_set_metadata, true, 0},
    {"petal_clear", try_clear, true, PETAL_CAN_CLEAR},
    {"petal_allow_threads", try_share, true, PETAL_CAN_ALLOW_THREADS},
    {"petal_freeze", try_freeze, true, 0},
    {"petal_merge", try_merge, true, PETAL_CAN_MERGE},
    {"petal_intersect", try_intersect, true, PETAL_CAN_INTERSECT},
    {"petal_compare", try_compare, false, PETAL_CAN_COMPARE},
    {"petal_drop_counts", try_drop_counts, false, PETAL_CAN_DROP_COUNTS},
    {"petal_fold", try_fold, false, PETAL_CAN_FOLD},
    {"petal_set_clock", try_advance, true, 0},
    {"petal_set_query_clock", try_set_query_clock, false, 0},
    {"petal_builder_create", try_builder_create, true, 0},
    {"petal_builder_add", try_builder_add, true, 0},
    {"petal_builder_flush", try_builder_flush, true, 0},
    {"petal_builder_finish", try_builder_add, true, 0},
    {"petal_diff", try_diff, false, 0},
    {"petal_apply_patch", try_apply_patch, true, 0},
    {"petal_bits", try_bits, false, 0},
    {"petal_write_bits", try_write_bits, true, 0},
    {"petal_adopt_bits", try_adopt, true, 0},
    {"petal_relocate", try_relocate, true, 0},
    {"petal_set_items", try_set_items, true, 0},
    {"petal_lend", try_lend, true, 0},
    {"petal_key_ranges", try_key_ranges, false, 0},
    {"petal_contains_in_ranges", try_contains_in_ranges, false, 0},
    {"petal_block_ranges", try_block_ranges, false, 0},
    {"petal_verify_block", try_verify_block, false, 0},
    {"petal_inline_begin", try_inline_begin, false, 0},
    {"petal_inline_begin_adding", try_inline_begin_adding, true, 0},
    {"hashes", try_hashes, false, PETAL_CAN_HASHES},
    {"empty key", try_empty_key, false, PETAL_CAN_EMPTY_KEY},
    {"growing", try_grow, true, PETAL_CAN_GROW},
    {"window", try_window, false, PETAL_CAN_WINDOW},
    {"writable map", try_map, false, PETAL_CAN_MAP},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Returns the word that the table uses for this result. */
static const char *cell_of(petal_status status)
{
    switch (status) {
    case PETAL_ERR_UNSUPPORTED: return "no";
    case PETAL_ERR_READ_ONLY: return "r/o";
    case PETAL_ERR_BUSY: return "busy";
    case PETAL_ERR_ARGUMENT: return "arg";
    case ANSWERS_TRUE: return "true";
    case ANSWERS_NOTHING: return "none";
    default: return status >= 0 ? "yes" : petal_status_name(status);
    }
}

#define CELL 8

static char table[ROWS][COLUMNS][CELL];

/* Splits a table row such as "| `petal_add` | yes | = | ..." into its cells. */
static void read_row(char *line)
{
    char name[64] = "", cells[COLUMNS][CELL];
    size_t column = 0;
    char *rest = line, *cell = strtok_r(line, "|", &rest);
    while (*cell == ' ' || *cell == '`') cell++;
    snprintf(name, sizeof name, "%s", cell);
    name[strcspn(name, "`")] = '\0';
    while (strlen(name) > 0 && name[strlen(name) - 1] == ' ') name[strlen(name) - 1] = '\0';
    while ((cell = strtok_r(NULL, "|\n", &rest)) && column < COLUMNS) {
        while (*cell == ' ') cell++;
        cell[strcspn(cell, " ")] = '\0';
        snprintf(cells[column++], CELL, "%s", cell);
    }
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].name, name) != 0) continue;
        require(column == COLUMNS, "docs/api.md: %s has %zu cells", name, column);
        memcpy(table[i], cells, sizeof cells);
    }
}

static int read_table(void **state)
{
    char line[512];
    FILE *file = fopen("docs/api.md", "r");
    (void)state;
    require(file != NULL, "cannot read docs/api.md (tests run from the top of the tree)");
    while (fgets(line, sizeof line, file))
        if (line[0] == '|') read_row(line + 1);
    fclose(file);
    for (size_t i = 0; i < ROWS; i++)
        require(table[i][0][0], "docs/api.md has no row of %s", rows[i].name);
    return 0;
}

static bool is(const char *cell, const char *other)
{
    return strcmp(cell, other) == 0;
}

/* Returns true if the result agrees with the table. A state's cell overrides the kind's cell unless
 * it is "=". However, if the kind doesn't support a call, the call may fail in any state. */
static bool is_as_told(size_t row, const struct recipe *recipe, const char *got)
{
    const char *kind = table[row][recipe->kind];
    const char *state = recipe->state == MEMORY ? "=" : table[row][KINDS + recipe->state - 1];
    if (is(state, got)) return true;
    if (is(kind, "some"))
        return is(got, "no") || (is(state, "=") && (is(got, "yes") || is(got, "true")));
    return is(kind, got) && (is(state, "=") || is(got, "no"));
}

/* ---- the recipes ----------------------------------------------------------------------------- */

static struct recipe recipe_of(const char *name, enum kind kind)
{
    struct recipe recipe = {name, kind, PETAL_OPTIONS_INIT, 60, MEMORY, 0};
    recipe.options.rate = 0.001;
    recipe.options.metadata = "of the user";
    recipe.options.metadata_bytes = 11;
    recipe.options.allocator = &allocator;
    if (kind == WINDOW_KEYS || kind == WINDOW_TIME)
        recipe.options.window_keys = 500;
    else if (kind != STATIC_SET)
        recipe.options.capacity = 500;
    if (kind == WINDOW_TIME) recipe.options.window_ms = 5000;
    recipe.options.growth = kind == GROWS;
    if (kind == COUNTS) recipe.options.scheme = PETAL_SCHEME_COUNTING;
    return recipe;
}

static struct recipe native(const char *name, enum kind kind, uint32_t scheme, uint32_t lines,
                            const void *key, uint64_t keys)
{
    struct recipe recipe = recipe_of(name, kind);
    if (scheme) recipe.options.scheme = scheme;
    recipe.options.lines_per_key = lines;
    recipe.options.secret = key;
    recipe.keys = keys;
    return recipe;
}

static bool is_chain(const char *format)
{
    return strncmp(format, "redisbloom", 10) == 0 || strcmp(format, "pybloom-scalable") == 0 ||
           strcmp(format, "valkey-bloom") == 0;
}

/* Returns true if the recipe is also tested in files. Three kinds of foreign formats are enough:
 * those whose filters threads can share, those whose filters threads can't share, and those that
 * reject the empty key. */
static bool is_tried_in_files(const struct recipe *recipe)
{
    const char *format = recipe->options.format;
    return !format || strcmp(format, "guava") == 0 || strcmp(format, "parquet") == 0 ||
           strcmp(format, "datasketches") == 0 || strcmp(format, "redisbloom") == 0;
}

enum { MAX_RECIPES = 96 };

static size_t make_recipes(struct recipe *recipes)
{
    size_t count = 0;
    petal_format_info format = PETAL_FORMAT_INFO_INIT;
    recipes[count++] = native("blocked", PLAIN, PETAL_SCHEME_BLOCKED, 1, NULL, 60);
    recipes[count++] = native("blocked, two lines", PLAIN, PETAL_SCHEME_BLOCKED, 2, NULL, 60);
    recipes[count++] = native("classic", PLAIN, PETAL_SCHEME_CLASSIC, 0, NULL, 60);
    recipes[count++] = native("keyed", PLAIN, PETAL_SCHEME_BLOCKED, 0, secret, 60);
    recipes[count++] = native("counting", COUNTS, 0, 0, NULL, 60);
    recipes[count++] = native("keyed counting", COUNTS, 0, 0, secret, 60);
    recipes[count++] = native("growing, one layer", GROWS, 0, 0, NULL, 60);
    recipes[count++] = native("growing, two layers", GROWS, 0, 0, NULL, 1000);
    recipes[count++] = native("window of keys", WINDOW_KEYS, 0, 0, NULL, 60);
    recipes[count++] = native("window of time", WINDOW_TIME, 0, 0, NULL, 60);
    recipes[count++] = native("static", STATIC_SET, 0, 0, NULL, 60);
    recipes[count++] = native("static, several layers", STATIC_SET, 0, 0, NULL, 5000);
    recipes[count++] = native("keyed static", STATIC_SET, 0, 0, secret, 60);
    for (uint32_t i = 0; petal_format_at(i, &format); i++) {
        if (!(format.abilities & PETAL_FORMAT_CAN_CREATE) || strcmp(format.name, "petal") == 0)
            continue;
        recipes[count] = recipe_of(format.name, is_chain(format.name) ? CHAIN : FOREIGN);
        recipes[count].options.format = format.name;
        if (is_chain(format.name)) {
            recipes[count + 1] = recipes[count];
            recipes[++count].keys = 1000;
        }
        require_that(++count, <, MAX_RECIPES);
    }
    return count;
}

/* ---- the test -------------------------------------------------------------------------------- */

struct mark {
    uint64_t items, layers, content_id, metadata_bytes;
};

static struct mark mark_of(const struct subject *subject)
{
    struct mark mark = {0};
    petal_info info = info_of(subject->filter);
    mark.items = info.items;
    mark.layers = info.layers;
    mark.metadata_bytes = info.metadata_bytes;
    mark.content_id = content_of(subject->filter);
    return mark;
}

static void name_file(char *path, const char *name)
{
    snprintf(path, PATH_SIZE, "%s", temporary(name));
    remove(path);
}

static bool make_both(const struct recipe *recipe, struct subject *subject, struct subject *twin)
{
    char path[PATH_SIZE];
    name_file(path, "subject");
    bool made = make_subject(recipe, path, subject);
    name_file(path, "twin");
    return make_subject(recipe, path, twin) && made;
}

/* Makes one call on the subject. Returns true if the call changed the subject. */
static bool try_row(size_t row, const struct recipe *recipe, struct subject *subject,
                    struct subject *twin)
{
    petal_error error = {PETAL_OK, 0, PETAL_NO_OFFSET, ""};
    struct mark before = mark_of(subject);
    uint32_t ability = rows[row].ability, can = info_of(subject->filter).abilities;
    petal_status status = rows[row].attempt(subject, twin, &error);
    const char *got = cell_of(status);
    require(is_as_told(row, recipe, got), "%s, state %d.%u: %s is \"%s\" (%s), docs/api.md differs",
            recipe->name, recipe->state, recipe->turn, rows[row].name, got, error.message);
    bool worked = is(got, "yes");
    require(!ability || worked == ((can & ability) != 0), "%s, state %d.%u: %s is \"%s\"",
            recipe->name, recipe->state, recipe->turn, rows[row].name, got);
    if (worked || rows[row].attempt == try_grow) return rows[row].changes;
    struct mark after = mark_of(subject);
    require(memcmp(&before, &after, sizeof before) == 0,
            "%s, state %d.%u: %s failed and changed it", recipe->name, recipe->state, recipe->turn,
            rows[row].name);
    return false;
}

static void try_all(const struct recipe *recipe)
{
    struct subject subject, twin;
    bool made = make_both(recipe, &subject, &twin);
    for (size_t row = 0; made && row < ROWS; row++) {
        if (!try_row(row, recipe, &subject, &twin)) continue;
        free_subject(&subject);
        free_subject(&twin);
        made = make_both(recipe, &subject, &twin);
    }
    free_subject(&subject);
    free_subject(&twin);
}

static void try_kinds(enum state state, unsigned turn)
{
    struct recipe recipes[MAX_RECIPES];
    size_t count = make_recipes(recipes);
    for (size_t i = 0; i < count; i++) {
        recipes[i].state = state;
        recipes[i].turn = turn;
        if (state == MEMORY || is_tried_in_files(&recipes[i])) try_all(&recipes[i]);
    }
}

static void filters_in_memory_do_what_the_table_says(void **state)
{
    (void)state;
    try_kinds(MEMORY, 0);
}

static void so_do_shared_ones(void **state)
{
    (void)state;
    try_kinds(SHARED, 0);
}

static void so_do_writable_maps(void **state)
{
    (void)state;
    try_kinds(WRITABLE_MAP, 0);
}

static void so_do_views_and_maps_for_reading(void **state)
{
    (void)state;
    try_kinds(READ_ONLY_MAP, 0);
    try_kinds(READ_ONLY_MAP, 1);
}

static void so_do_filters_that_another_process_changes(void **state)
{
    (void)state;
    try_kinds(LIVE, 0);
}

static void so_do_frozen_ones(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 3; turn++) try_kinds(FROZEN, turn);
}

static void so_do_headers_alone(void **state)
{
    (void)state;
    try_kinds(HEADER, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_in_memory_do_what_the_table_says),
        cmocka_unit_test(so_do_shared_ones),
        cmocka_unit_test(so_do_writable_maps),
        cmocka_unit_test(so_do_views_and_maps_for_reading),
        cmocka_unit_test(so_do_filters_that_another_process_changes),
        cmocka_unit_test(so_do_frozen_ones),
        cmocka_unit_test(so_do_headers_alone),
    };
    return cmocka_run_group_tests(tests, read_table, NULL);
}
