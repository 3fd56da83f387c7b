/* memory.c - proves that all memory is allocated and released by the caller's allocator. If any
 * allocation fails, the call returns an error and leaks nothing; the filter stays usable and the
 * file unchanged. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#endif

#include "image.h"

#include "petal/petal_host.h"

#include <sys/mman.h>

static const uint8_t secret[PETAL_SECRET_BYTES] = {3, 1, 4, 1, 5};

static petal_options counted_options(const petal_allocator *allocator)
{
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 1 << 20, 9, 2); /* two 64 KiB blocks */
    options.secret = secret;
    options.metadata = "metadata";
    options.metadata_bytes = 8;
    options.allocator = allocator;
    return options;
}

static void adding_and_asking_allocate_nothing(void **state)
{
    (void)state;
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_options options = counted_options(&allocator);
    petal_filter *filter = create(&options), *other = create(&options);
    uint64_t calls = count.calls, hashes[3] = {1, 2, 3};
    petal_key keys[2] = {{"a", 1}, {"b", 1}};
    petal_add(filter, "key", 3);
    add_key_batch(filter, keys, 2, NULL, NULL);
    add_hash_batch(filter, hashes, 3, NULL, NULL);
    petal_contains(filter, "key", 3);
    contains_keys(filter, keys, 2, NULL);
    contains_any(filter, keys, 2);
    assert_int_equal(petal_merge(filter, other, NULL), PETAL_OK);
    assert_int_equal(petal_intersect(filter, other, NULL), PETAL_OK);
    assert_int_equal(petal_clear(filter, NULL), PETAL_OK);
    info_of(filter);
    assert_int_equal(count.calls, calls);
    petal_free(filter);
    petal_free(other);
    require_that(count.live_blocks, ==, 0);
    require_that(count.live_bytes, ==, 0);
    require_that(count.bad_releases, ==, 0);
}

static void a_filter_takes_little_more_memory_than_its_bits(void **state)
{
    (void)state;
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_options options = options_of(PETAL_SCHEME_CLASSIC, 8 * 100000, 7, 0);
    options.allocator = &allocator;
    petal_filter *filter = create(&options);
    require_that(count.live_bytes, >=, 100000);
    require_that(count.live_bytes, <, 100000 + 2048);
    petal_free(filter);
    assert_int_equal(count.live_bytes, 0);
}

static void the_allocator_is_copied(void **state)
{
    (void)state;
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_options options = counted_options(&allocator);
    petal_filter *filter = create(&options);
    memset(&allocator, 0, sizeof allocator);
    petal_filter *copy = clone_of(filter); /* a clone uses the original's allocator */
    require_that(count.live_blocks, >, 4);
    petal_free(filter);
    petal_free(copy);
    require_that(count.live_blocks, ==, 0);
    require_that(count.bad_releases, ==, 0);
}

/* An allocator guarantees only the alignment of malloc(), but the bits must start on a cache
 * line. */
static void *odd_alloc(void *context, size_t size_bytes)
{
    uint8_t *block = calloc(1, size_bytes + 64);
    (void)context;
    return block ? block + 16 : NULL;
}

static void odd_release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    (void)size_bytes;
    free((uint8_t *)memory - 16);
}

static void memory_of_any_alignment_will_do(void **state)
{
    (void)state;
    petal_allocator allocator = {odd_alloc, odd_release, NULL};
    petal_options options = counted_options(&allocator), plain = counted_options(NULL);
    petal_filter *filter = create(&options), *twin = create(&plain);
    add_numbers(filter, 0, 1000);
    add_numbers(twin, 0, 1000);
    require_numbers(filter, 0, 1000);
    assert_true(same_image(filter, twin));
    petal_free(filter);
    petal_free(twin);
}

/* ---- the Nth allocation fails ---------------------------------------------------------------- */

/* The objects that the tested calls use. They are created while allocations succeed, so that only
 * the tested call runs out of memory. */
struct world {
    const petal_allocator *allocator;
    petal_filter *filter;      /* allocated by the counting allocator */
    petal_filter *later;       /* a copy with additional keys */
    struct bytes image, patch; /* image of `filter`; patch from `filter` to `later` */
    const char *path;
};

/* A tested call. Returns its status, and frees whatever the call created. */
typedef petal_status (*trial)(struct world *world);

static petal_status freed(petal_status status, petal_filter *filter)
{
    require((status == PETAL_OK) == (filter != NULL), "%s, but the filter is %p",
            petal_status_name(status), (void *)filter);
    petal_free(filter);
    return status;
}

static petal_status try_create(struct world *world)
{
    petal_filter *made = (petal_filter *)world;
    petal_options options = counted_options(world->allocator);
    petal_status status = petal_create(&options, &made, NULL);
    return freed(status, made);
}

static petal_status try_clone(struct world *world)
{
    petal_filter *made = (petal_filter *)world;
    petal_status status = petal_clone(world->filter, &made, NULL);
    return freed(status, made);
}

static petal_status try_metadata(struct world *world)
{
    static const char *const texts[] = {"metadata", "METADATA"}; /* equal lengths */
    size_t size;
    bool lower = memcmp(petal_metadata(world->filter, &size), texts[0], 8) == 0;
    petal_status status = petal_set_metadata(world->filter, texts[lower], 8, NULL);
    const char *wanted = texts[(status == PETAL_OK) == lower];
    require(memcmp(petal_metadata(world->filter, &size), wanted, 8) == 0 && size == 8,
            "the metadata are not \"%s\"", wanted);
    return status;
}

static petal_status try_serialize(struct world *world)
{
    struct bytes image = new_bytes(world->image.size);
    petal_status status = petal_serialize(world->filter, NULL, image.data, image.size, NULL);
    free(image.data);
    return status;
}

static petal_status try_save(struct world *world)
{
    return petal_save(world->filter, world->path, NULL, NULL);
}

static petal_status try_open(struct world *world, unsigned flags)
{
    petal_filter *made = (petal_filter *)world;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    options.secret = secret;
    options.allocator = world->allocator;
    petal_status status = petal_open(world->path, &options, &made, NULL);
    return freed(status, made);
}

static petal_status try_map(struct world *world)
{
    return try_open(world, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
}

static petal_status try_map_writable(struct world *world)
{
    return try_open(world, PETAL_OPEN_WRITABLE);
}

static petal_status try_load(struct world *world)
{
    return try_open(world, PETAL_OPEN_LOAD | PETAL_OPEN_VERIFY);
}

static petal_status try_load_from_memory(struct world *world)
{
    petal_filter *made = (petal_filter *)world;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.secret = secret;
    options.allocator = world->allocator;
    petal_status status = petal_load(world->image.data, world->image.size, &options, &made, NULL);
    return freed(status, made);
}

static petal_status try_view(struct world *world)
{
    petal_filter *made = (petal_filter *)world;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.secret = secret;
    options.allocator = world->allocator;
    petal_status status = petal_view(world->image.data, world->image.size, &options, &made, NULL);
    return freed(status, made);
}

/* Opens a writable map, changes it, syncs it, and changes it again. */
static petal_status try_writing(struct world *world)
{
    petal_filter *map = NULL;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = PETAL_OPEN_WRITABLE;
    options.secret = secret;
    options.allocator = world->allocator;
    petal_status status = petal_open(world->path, &options, &map, NULL);
    if (status != PETAL_OK) return freed(status, map);
    require_that(petal_add(map, "more", 4), >=, 0);
    status = petal_sync(map, NULL);
    require_that(petal_add(map, "and more", 8), >=, 0);
    return freed(status, map);
}

static int32_t swallow(void *context, const void *bytes, size_t size_bytes)
{
    (void)context, (void)bytes, (void)size_bytes;
    return 0;
}

static petal_status try_diff(struct world *world)
{
    return petal_diff(world->filter, world->later, swallow, NULL, NULL);
}

/* Applies the patch to a copy, because a patch applies only once. If patching fails, the copy must
 * contain none of the new keys. */
static petal_status try_patch(struct world *world)
{
    petal_filter *copy = NULL;
    uint64_t id, wanted;
    petal_status status = petal_clone(world->filter, &copy, NULL);
    if (status != PETAL_OK) return freed(status, copy);
    status = petal_apply_patch(copy, world->patch.data, world->patch.size, 0, NULL);
    assert_int_equal(petal_content_id(copy, &id, NULL), PETAL_OK);
    petal_content_id(status == PETAL_OK ? world->later : world->filter, &wanted, NULL);
    require(id == wanted, "%s, and the content is another", petal_status_name(status));
    petal_free(copy);
    return status;
}

static petal_open_options options_with(const struct world *world, unsigned flags)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    options.secret = secret;
    options.allocator = world->allocator;
    return options;
}

static petal_status try_reader(struct world *world)
{
    petal_open_options options = options_with(world, 0);
    petal_reader *reader = NULL;
    petal_filter *made = NULL;
    petal_status status = petal_reader_create(&options, 0, &reader, NULL);
    size_t half = world->image.size / 2;
    if (status != PETAL_OK) return freed(status, made);
    status = petal_reader_feed(reader, world->image.data, half, NULL);
    if (status == PETAL_OK)
        status =
            petal_reader_feed(reader, world->image.data + half, world->image.size - half, NULL);
    if (status == PETAL_OK) status = petal_reader_finish(reader, &made, NULL);
    petal_reader_free(reader);
    return freed(status, made);
}

/* Loads a header, and then the bits. */
static petal_status try_write_bits(struct world *world)
{
    petal_open_options options = options_with(world, PETAL_OPEN_HEADER_ONLY);
    petal_filter *made = NULL;
    const void *bits;
    uint64_t size_bytes;
    petal_status status = petal_load(world->image.data, world->image.size, &options, &made, NULL);
    if (status != PETAL_OK) return freed(status, made);
    assert_int_equal(petal_bits(world->filter, 0, &bits, &size_bytes, NULL), PETAL_OK);
    status = petal_write_bits(made, 0, 0, bits, size_bytes, NULL);
    if (status == PETAL_OK) require_numbers(made, 0, 100);
    petal_free(made);
    return status;
}

static petal_status try_share(struct world *world)
{
    petal_filter *copy = NULL;
    petal_status status = petal_clone(world->filter, &copy, NULL);
    if (status == PETAL_OK) status = petal_allow_threads(copy, NULL);
    if (copy) add_numbers(copy, 100, 10);
    petal_free(copy);
    return status;
}

/* The filter grows during the batch. The outcome records how many keys were added. */
static petal_status try_batch(struct world *world)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_filter *made = NULL;
    int64_t keys[300];
    for (int64_t i = 0; i < 300; i++) keys[i] = i;
    petal_batch batch = batch_of_numbers(keys, 300);
    options.capacity = 20;
    options.rate = 0.01;
    options.growth = true;
    options.allocator = world->allocator;
    petal_status status = petal_create(&options, &made, NULL);
    if (status != PETAL_OK) return freed(status, made);
    status = petal_add_batch(made, &batch, NULL, &outcome, NULL);
    require_numbers(made, 0, outcome.done);
    petal_free(made);
    return status;
}

/* Repeats the call. In the nth run, the nth allocation fails, and if `for_ever` is set, all later
 * allocations fail too. Stops when a run makes fewer than n allocations. Returns the number of
 * failures. */
static uint64_t sweep(struct world *world, struct counting *count, trial call, const char *name,
                      bool for_ever)
{
    uint64_t failures = 0;
    for (uint64_t n = 1;; n++) {
        uint64_t blocks = count->live_blocks, bytes = count->live_bytes;
        count->calls = 0;
        count->fail_at = n;
        count->fail_for_ever = for_ever;
        petal_status status = call(world);
        bool reached = count->calls >= n;
        count->fail_at = 0;
        require(count->live_blocks == blocks && count->live_bytes == bytes &&
                    count->bad_releases == 0,
                "%s, allocation %llu: a leak of %lld bytes, %llu wrong releases", name,
                (unsigned long long)n, (long long)(count->live_bytes - bytes),
                (unsigned long long)count->bad_releases);
        require_numbers(world->filter, 0, 100);
        if (!reached) {
            require(status == PETAL_OK, "%s with all its memory: %s", name,
                    petal_status_name(status));
            return failures;
        }
        require(status == PETAL_ERR_MEMORY, "%s, allocation %llu: %s", name, (unsigned long long)n,
                petal_status_name(status));
        failures++;
    }
}

static int32_t gather(void *context, const void *bytes, size_t size_bytes)
{
    struct bytes *to = context;
    require(to->size + size_bytes <= 1 << 16, "%zu bytes of patch", to->size + size_bytes);
    memcpy(to->data + to->size, bytes, size_bytes);
    to->size += size_bytes;
    return 0;
}

static struct world new_world(struct counting *count, petal_allocator *allocator)
{
    *allocator = counting_allocator(count);
    petal_options options = counted_options(allocator);
    struct world world = {
        .allocator = allocator, .filter = create(&options), .path = temporary("memory.petal")};
    petal_error error;
    add_numbers(world.filter, 0, 100);
    world.later = clone_of(world.filter);
    add_numbers(world.later, 100, 100);
    world.patch = new_bytes(1 << 16);
    world.patch.size = 0;
    require_status(PETAL_OK, petal_diff(world.filter, world.later, gather, &world.patch, &error),
                   error);
    world.image = serialized(world.filter);
    require_status(PETAL_OK, petal_save(world.filter, world.path, NULL, &error), error);
    return world;
}

static void end_world(struct world *world, const struct counting *count)
{
    petal_free(world->filter);
    petal_free(world->later);
    free(world->patch.data);
    free(world->image.data);
    unlink(world->path);
    require_that(count->live_blocks, ==, 0);
    require_that(count->live_bytes, ==, 0);
    require_that(count->bad_releases, ==, 0);
}

static void any_allocation_of_any_call_may_fail(void **state)
{
    (void)state;
    static const struct {
        trial call;
        const char *name;
    } trials[] = {{try_create, "create"},
                  {try_clone, "clone"},
                  {try_metadata, "set_metadata"},
                  {try_serialize, "serialize"},
                  {try_save, "save"},
                  {try_map, "open to read"},
                  {try_load, "open to load"},
                  {try_map_writable, "open to write"},
                  {try_view, "view"},
                  {try_load_from_memory, "load_from_memory"},
                  {try_writing, "open, add and sync"},
                  {try_diff, "diff"},
                  {try_patch, "clone and patch"},
                  {try_reader, "a reader"},
                  {try_write_bits, "header and write_bits"},
                  {try_share, "clone and share"},
                  {try_batch, "create and add_batch"}};
    struct counting count = {0};
    petal_allocator allocator;
    struct world world = new_world(&count, &allocator);
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        uint64_t once = sweep(&world, &count, trials[i].call, trials[i].name, false);
        uint64_t for_ever = sweep(&world, &count, trials[i].call, trials[i].name, true);
        printf("# %s: %llu allocations, each failed once and for ever\n", trials[i].name,
               (unsigned long long)once);
        assert_int_equal(once, for_ever);
    }
    end_world(&world, &count);
}

static void a_save_takes_no_memory(void **state)
{
    (void)state;
    struct counting count = {0};
    petal_allocator allocator;
    petal_error error;
    struct world world = new_world(&count, &allocator);
    add_numbers(world.filter, 100, 100);
    count.calls = 0;
    count.fail_at = 1;
    require_status(PETAL_OK, petal_save(world.filter, world.path, NULL, &error), error);
    assert_int_equal(count.calls, 0);
    count.fail_at = 0;
    end_world(&world, &count);
}

/* The format compresses, so saving allocates memory. */
static void a_save_without_memory_leaves_the_old_file(void **state)
{
    (void)state;
    const char *path = temporary("compressed"), *format = "redisbloom-dump";
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_options options = PETAL_OPTIONS_INIT;
    petal_error error;
    options.allocator = &allocator;
    options.format = format;
    options.capacity = 1000;
    options.rate = 0.01;
    petal_filter *filter = create(&options);
    require_status(PETAL_OK, petal_save(filter, path, SAVE_AS(format), &error), error);
    struct bytes before = read_file(path);
    add_numbers(filter, 100, 100);
    count.calls = 0;
    count.fail_at = 1;
    assert_int_equal(petal_save(filter, path, SAVE_AS(format), NULL), PETAL_ERR_MEMORY);
    count.fail_at = 0;
    struct bytes after = read_file(path);
    assert_true(same_bytes(before, after));
    free(before.data);
    free(after.data);
    unlink(path);
    petal_free(filter);
    assert_int_equal(count.live_blocks, 0);
}

static void a_size_that_no_memory_has_is_a_clean_error(void **state)
{
    (void)state;
    petal_filter *filter;
    petal_error error;
    petal_options options = options_of(PETAL_SCHEME_CLASSIC, (uint64_t)1 << 48, 4, 0); /* 32 TiB */
    struct counting count = {0};
    count.fail_at = 2;
    count.fail_for_ever = true;
    petal_allocator allocator = counting_allocator(&count);
    options.allocator = &allocator;
    require_status(PETAL_ERR_MEMORY, petal_create(&options, &filter, &error), error);
    require_that(filter, ==, NULL);
    require_that(count.live_blocks, ==, 0);
}

/* An allocator that maps large blocks as separate pages, so that the test can make them read-only
 * or inaccessible. */
#define BIG_BYTES ((size_t)8 << 20)
struct pages {
    void *last; /* the last large block */
    int protection;
};

static void *pages_alloc(void *context, size_t size_bytes)
{
    struct pages *pages = context;
    if (size_bytes < BIG_BYTES) return calloc(1, size_bytes);
    pages->last = mmap(NULL, size_bytes, pages->protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages->last == MAP_FAILED ? NULL : pages->last;
}

static void pages_release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    if (size_bytes < BIG_BYTES)
        free(memory);
    else
        munmap(memory, size_bytes);
}

/* The pages are protected, so that writing to an empty page, or reading one unnecessarily, crashes
 * the test. */
static void untouched_pages_stay_untouched(void **state)
{
    (void)state;
    petal_error error;
    struct pages pages = {NULL, PROT_READ | PROT_WRITE};
    petal_allocator allocator = {pages_alloc, pages_release, &pages};
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_options options =
            options_of(scheme, BIG_BYTES * (scheme == PETAL_SCHEME_COUNTING ? 2 : 8), 6, 0);
        petal_filter *copy = NULL;
        options.allocator = &allocator;
        petal_filter *filter = create(&options);
        void *bits = pages.last;
        assert_int_equal(mprotect(bits, BIG_BYTES, PROT_READ), 0);
        require_status(PETAL_OK, petal_clear(filter, &error), error);
        pages.protection = PROT_READ; /* protects the copy's pages */
        require_status(PETAL_OK, petal_clone(filter, &copy, &error), error);
        pages.protection = PROT_READ | PROT_WRITE;
        assert_int_equal(mprotect(bits, BIG_BYTES, PROT_NONE), 0);
        uint64_t size = petal_serialized_bytes(filter, NULL);
        require_that(size, >, BIG_BYTES);
        require_that(size, <, BIG_BYTES + 65536);
        assert_int_equal(mprotect(bits, BIG_BYTES, PROT_READ | PROT_WRITE), 0);
        struct bytes image = new_bytes((size_t)size);
        require_status(PETAL_OK, petal_serialize(filter, NULL, image.data, image.size, &error),
                       error);
        free(image.data);
        add_numbers(filter, 0, 1000); /* keys whose bits are in all pages */
        require_status(PETAL_OK, petal_clear(filter, &error), error);
        require_that(stats_of(filter).bits_set, ==, 0);
        petal_free(copy);
        petal_free(filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adding_and_asking_allocate_nothing),
        cmocka_unit_test(a_filter_takes_little_more_memory_than_its_bits),
        cmocka_unit_test(the_allocator_is_copied),
        cmocka_unit_test(memory_of_any_alignment_will_do),
        cmocka_unit_test(any_allocation_of_any_call_may_fail),
        cmocka_unit_test(a_save_takes_no_memory),
        cmocka_unit_test(a_save_without_memory_leaves_the_old_file),
        cmocka_unit_test(a_size_that_no_memory_has_is_a_clean_error),
        cmocka_unit_test(untouched_pages_stay_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
