/* hosts.c - proves that a program which keeps a filter's bytes itself can store it layer by layer,
 * send it through a socket, load it in chunks, move all its arrays, query a file by ranges, and
 * lend bytes and take them back. Each test runs on every kind of filter. */
#include "kinds.h"

#include "petal/petal_host.h"

#include <sys/resource.h>

#define KEYS 12000 /* the filter contains half of these keys */

static petal_open_options header_options(enum kind kind, const petal_allocator *allocator)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = PETAL_OPEN_HEADER_ONLY;
    options.secret = kind_secret(kind);
    options.allocator = allocator;
    return options;
}

/* Opens the header as a program that doesn't know the petal format would. It reads as many bytes as
 * the call requests, and repeats this until the call succeeds. */
static petal_filter *open_header(const struct bytes image, const petal_open_options *options,
                                 size_t *header_bytes)
{
    petal_filter *filter = NULL;
    petal_error error = {0};
    petal_status status = PETAL_ERR_TRUNCATED;
    *header_bytes = 1;
    for (int tries = 0; status == PETAL_ERR_TRUNCATED; tries++) {
        require(tries < 5, "still too few: %s", error.message);
        struct bytes header = copy_bytes(image.data, *header_bytes);
        status = petal_load(header.data, header.size, options, &filter, &error);
        free(header.data);
        if (status != PETAL_ERR_TRUNCATED) break;
        require(error.offset > *header_bytes && error.offset <= image.size, "needs %llu of %zu",
                (unsigned long long)error.offset, image.size);
        *header_bytes = (size_t)error.offset;
    }
    require_status(PETAL_OK, status, error);
    return filter;
}

static uint64_t layer_bytes(const petal_filter *filter, uint32_t layer)
{
    petal_info about = PETAL_INFO_INIT;
    petal_error error;
    require_status(PETAL_OK, petal_get_info(filter, layer, &about, &error), error);
    return about.bytes;
}

static uint64_t content_id(const petal_filter *filter)
{
    uint64_t id = 0;
    petal_error error;
    require_status(PETAL_OK, petal_content_id(filter, &id, &error), error);
    return id;
}

static void require_same_answers(const petal_filter *a, const petal_filter *b, const char *what)
{
    for (int64_t i = 0; i < KEYS; i++)
        require(petal_contains_i64(a, i) == petal_contains_i64(b, i), "%s: key %lld", what,
                (long long)i);
}

#define require_refused(call) \
    do { \
        require_status(PETAL_ERR_UNSUPPORTED, call, error); \
        require(strstr(error.message, "layer 0 has no bits yet"), "%s", error.message); \
    } while (0)

/* ---- the header alone ------------------------------------------------------------------------ */

static void a_header_knows_everything_but_the_bits(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        petal_filter *filter = kind_filter(kind, NULL);
        struct bytes image = serialized(filter);
        petal_open_options options = header_options(kind, NULL);
        size_t header_bytes;
        petal_filter *header = open_header(image, &options, &header_bytes);
        petal_info has = info_of(header), wanted = info_of(filter);
        assert_int_equal(has.layers, wanted.layers);
        assert_int_equal(has.bits, wanted.bits);
        assert_int_equal(has.bytes, wanted.bytes);
        assert_int_equal(has.items, wanted.items);
        assert_int_equal(has.capacity, wanted.capacity);
        assert_int_equal(layers_info_of(header, PETAL_ALL_LAYERS).clock_ms,
                         layers_info_of(filter, PETAL_ALL_LAYERS).clock_ms);
        assert_int_equal(content_id(header), content_id(filter));
        assert_int_equal(has.abilities & (PETAL_CAN_ADD | PETAL_CAN_SAVE | PETAL_CAN_STATS), 0);
        uint64_t metadata_bytes = 0;
        assert_memory_equal(petal_metadata(header, &metadata_bytes), "of the user", 11);
        assert_int_equal(metadata_bytes, 11);
        require(header_bytes < image.size / 4, "%s: a header of %zu bytes", kind_names[kind],
                header_bytes);
        petal_free(header);
        petal_free(filter);
        free(image.data);
    }
}

static int32_t ignore(void *context, const void *bytes, size_t size_bytes)
{
    (void)context;
    (void)bytes;
    (void)size_bytes;
    return 0;
}

static void without_bits_everything_may_be_in_and_nothing_is_changed(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        petal_error error;
        petal_filter *filter = kind_filter(kind, NULL), *copy = NULL;
        struct bytes image = serialized(filter);
        petal_open_options options = header_options(kind, NULL);
        size_t header_bytes;
        petal_filter *header = open_header(image, &options, &header_bytes);
        uint8_t found[3];
        const petal_key keys[3] = {{"a", 1}, {NULL, 0}, {"bcd", 3}};
        const petal_batch batch = batch_of_keys(keys, 3);
        assert_true(petal_contains(header, "absent", 6));
        assert_true(petal_contains_i64(header, -1));
        assert_true(petal_contains_hash(header, 7));
        require_status(PETAL_OK, petal_contains_batch(header, &batch, found, NULL, &error), error);
        assert_true(found[0]);
        assert_true(found[1]);
        assert_true(found[2]);
        assert_int_equal(petal_add(header, "a", 1), PETAL_ERR_UNSUPPORTED);
        assert_int_equal(petal_add_i64(header, 1), PETAL_ERR_UNSUPPORTED);
        require_refused(petal_add_batch(header, &batch, NULL, NULL, &error));
        assert_int_equal(petal_remove(header, "a", 1), PETAL_ERR_UNSUPPORTED);
        assert_int_equal(petal_last_error(header, &error), PETAL_ERR_UNSUPPORTED);
        assert_non_null(strstr(error.message, "layer 0 has no bits yet"));
        require_refused(petal_clone(header, &copy, &error));
        require_refused(petal_clear(header, &error));
        require_refused(petal_write(header, NULL, ignore, NULL, &error));
        require_refused(petal_save(header, temporary("never"), NULL, &error));
        require_refused(petal_serialize(header, NULL, image.data, image.size, &error));
        if (kind == KIND_COUNTING) require_refused(petal_drop_counts(header, &copy, &error));
        petal_stats stats = PETAL_STATS_INIT;
        require_refused(petal_get_stats(header, PETAL_ALL_LAYERS, &stats, &error));
        assert_int_equal(petal_serialized_bytes(header, NULL), 0);
        if (info_of(header).layers == 1 && kind != KIND_GROWING) {
            petal_comparison comparison = PETAL_COMPARISON_INIT;
            require_refused(petal_compare(header, filter, &comparison, &error));
            require_refused(petal_compare(filter, header, &comparison, &error));
            require_refused(petal_merge(header, filter, &error));
            require_refused(petal_merge(filter, header, &error));
            require_refused(petal_intersect(filter, header, &error));
        }
        (void)petal_is_overfull(header);
        assert_int_equal(petal_verify(header, &error), PETAL_UNCHECKED);
        petal_free(header);
        petal_free(filter);
        free(image.data);
    }
}

static void a_header_that_is_no_header_is_refused(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = kind_filter(KIND_KEYED, NULL), *header = NULL;
    struct bytes image = serialized(filter);
    petal_open_options options = header_options(KIND_KEYED, NULL);
    options.secret = NULL;
    require_status(PETAL_ERR_SECRET_MISSING,
                   petal_load(image.data, image.size, &options, &header, &error), error);
    options = header_options(KIND_KEYED, NULL);
    require_status(PETAL_ERR_NOT_A_FILTER,
                   petal_load("no filter at all", 16, &options, &header, &error), error);
    image.data[1024 + 3] ^= 1; /* damages the metadata */
    require_status(PETAL_ERR_DAMAGED, petal_load(image.data, image.size, &options, &header, &error),
                   error);
    assert_int_equal(error.offset, 1024);
    memset(image.data + 16, 0xff, 4); /* now slot_bytes is 4 GiB */
    memset(image.data + 512, 0, 512);
    require_status(PETAL_ERR_TRUNCATED, petal_load(image.data, 1024, &options, &header, &error),
                   error);
    assert_int_equal(error.offset, 8192);
    struct bytes longer = new_bytes(8192);
    memcpy(longer.data, image.data, 512);
    require_status(PETAL_ERR_DAMAGED,
                   petal_load(longer.data, longer.size, &options, &header, &error), error);
    free(longer.data);
    options = header_options(KIND_CLASSIC, NULL);
    options.format = "guava";
    require_status(PETAL_ERR_UNSUPPORTED,
                   petal_load(image.data, image.size, &options, &header, &error), error);
    options = header_options(KIND_CLASSIC, NULL);
    options.flags |= PETAL_OPEN_VERIFY;
    require_status(PETAL_ERR_ARGUMENT,
                   petal_load(image.data, image.size, &options, &header, &error), error);
    options = header_options(KIND_CLASSIC, NULL);
    require_status(PETAL_ERR_ARGUMENT,
                   petal_view(image.data, image.size, &options, &header, &error), error);
    petal_free(filter);
    free(image.data);
}

/* Returns the size of this process's address space, in bytes. */
static rlim_t address_space(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_true(file);
    require_that(fscanf(file, "%llu", &pages), ==, 1);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Opening a header doesn't map the rest of the file, so it works even if the file is larger than
 * the address space. */
static void the_header_of_a_file_is_opened_too(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("header");
    petal_filter *filter = kind_filter(KIND_BLOCKED_1, NULL), *header = NULL;
    petal_open_options options = header_options(KIND_BLOCKED_1, NULL);
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    require_status(PETAL_OK, petal_open(path, &options, &header, &error), error);
    assert_int_equal(content_id(header), content_id(filter));
    assert_true(petal_contains_i64(header, -1));
    petal_free(header);
    static char metadata[60000] = "longer than the first read";
    require_status(PETAL_OK, petal_set_metadata(filter, metadata, sizeof metadata, &error), error);
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    assert_int_equal(truncate(path, (off_t)1 << 43), 0);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    struct rlimit tight = {address_space() + ((rlim_t)1 << 30), before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    petal_status opened = petal_open(path, &options, &header, &error);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    require_status(PETAL_OK, opened, error);
    assert_memory_equal(petal_metadata(header, NULL), metadata, sizeof metadata);
    petal_free(header);
    options.memory_limit = sizeof metadata;
    require_status(PETAL_ERR_LIMIT, petal_open(path, &options, &header, &error), error);
    options.memory_limit = 0;
    options.max_bytes = (uint64_t)1 << 40;
    require_status(PETAL_ERR_LIMIT, petal_open(path, &options, &header, &error), error);
    assert_int_equal(truncate(path, 50000), 0);
    require_status(PETAL_ERR_TRUNCATED, petal_open(path, &options, &header, &error), error);
    require_that(error.offset, >, sizeof metadata);
    petal_free(filter);
    unlink(path);
}

/* ---- layer by layer, as in an RDB file ------------------------------------------------------- */

/* Writes a string preceded by its length, as RedisModule_SaveStringBuffer() does. */
static void put_string(FILE *file, const void *bytes, uint64_t size_bytes)
{
    require(fwrite(&size_bytes, sizeof size_bytes, 1, file) == 1, "cannot write");
    require(size_bytes == 0 || fwrite(bytes, (size_t)size_bytes, 1, file) == 1, "cannot write");
}

/* Reads a string into memory from the filter's allocator, as RedisModule_LoadStringBuffer()
 * does. */
static void *get_string(FILE *file, const petal_allocator *allocator, uint64_t *size_bytes)
{
    require(fread(size_bytes, sizeof *size_bytes, 1, file) == 1, "cannot read");
    void *bytes = allocator->alloc_zeroed(allocator->context, (size_t)*size_bytes);
    require(bytes && fread(bytes, (size_t)*size_bytes, 1, file) == 1, "cannot read");
    return bytes;
}

/* A sink that stops after the header. */
struct heading {
    uint8_t bytes[131072];
    size_t used, wanted;
};

static int32_t take_heading(void *context, const void *bytes, size_t size_bytes)
{
    struct heading *heading = context;
    size_t part = heading->wanted - heading->used;
    if (part > size_bytes) part = size_bytes;
    memcpy(heading->bytes + heading->used, bytes, part);
    heading->used += part;
    return heading->used == heading->wanted;
}

static void save_by_layers(const petal_filter *filter, enum kind kind, FILE *file)
{
    static struct heading heading;
    petal_error error;
    petal_filter *header = NULL;
    petal_open_options options = header_options(kind, NULL);
    petal_status status = PETAL_ERR_TRUNCATED;
    for (heading.wanted = 1; status == PETAL_ERR_TRUNCATED; heading.wanted = (size_t)error.offset) {
        heading.used = 0;
        require_status(PETAL_ERR_IO, petal_write(filter, NULL, take_heading, &heading, &error),
                       error);
        status = petal_load(heading.bytes, heading.used, &options, &header, &error);
        if (status == PETAL_OK) break;
    }
    require_status(PETAL_OK, status, error);
    uint32_t layers = info_of(header).layers;
    petal_free(header);
    put_string(file, heading.bytes, heading.used);
    for (uint32_t i = 0; i < layers; i++) {
        const void *bits;
        uint64_t size_bytes;
        require_status(PETAL_OK, petal_bits(filter, i, &bits, &size_bytes, &error), error);
        assert_int_equal(size_bytes, layer_bytes(filter, i));
        put_string(file, bits, size_bytes);
    }
}

static petal_filter *load_by_layers(enum kind kind, const petal_allocator *allocator, FILE *file)
{
    petal_error error;
    petal_filter *filter = NULL;
    petal_open_options options = header_options(kind, allocator);
    uint64_t size_bytes;
    void *header = get_string(file, allocator, &size_bytes);
    require_status(PETAL_OK, petal_load(header, (size_t)size_bytes, &options, &filter, &error),
                   error);
    allocator->release(allocator->context, header, (size_t)size_bytes);
    for (uint32_t i = 0; i < info_of(filter).layers; i++) {
        const void *bits = filter;
        assert_true(petal_contains_i64(filter, -1)); /* until the bits are complete: "maybe" */
        require_status(PETAL_OK, petal_bits(filter, i, &bits, &size_bytes, &error), error);
        require_that(bits, ==, NULL);
        require_that(size_bytes, ==, 0);
        void *string = get_string(file, allocator, &size_bytes);
        require_status(PETAL_ERR_ARGUMENT,
                       petal_adopt_bits(filter, i, string, size_bytes - 1, &error), error);
        require_status(PETAL_OK, petal_adopt_bits(filter, i, string, size_bytes, &error), error);
        require_status(PETAL_ERR_ARGUMENT, petal_adopt_bits(filter, i, string, size_bytes, &error),
                       error);
    }
    return filter;
}

static void an_rdb_file_keeps_filters_layer_by_layer(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        struct counting count = {0};
        petal_allocator allocator = counting_allocator(&count);
        petal_filter *filter = kind_filter(kind, NULL);
        FILE *file = tmpfile();
        require(file != NULL, "no temporary file");
        save_by_layers(filter, kind, file);
        rewind(file);
        petal_filter *loaded = load_by_layers(kind, &allocator, file);
        fclose(file);
        require(same_image(filter, loaded), "%s: another image", kind_names[kind]);
        require_same_answers(filter, loaded, kind_names[kind]);
        /* From now on, the loaded filter must behave like the original: it must grow, rotate and
         * count in the same way. */
        add_numbers(filter, 20000, 9000);
        add_numbers(loaded, 20000, 9000);
        require(same_image(filter, loaded), "%s: another image later", kind_names[kind]);
        petal_free(loaded);
        petal_free(filter);
        assert_int_equal(count.live_blocks, 0);
        assert_int_equal(count.bad_releases, 0);
    }
}

static void a_buffer_with_impossible_bits_is_not_adopted(void **state)
{
    (void)state;
    petal_error error;
    petal_allocator allocator;
    struct counting count = {0};
    allocator = counting_allocator(&count);
    petal_filter *filter = make(PETAL_SCHEME_CLASSIC, 1000, 3, 0);
    struct bytes image = serialized(filter);
    petal_open_options options = header_options(KIND_CLASSIC, &allocator);
    size_t header_bytes;
    petal_filter *header = open_header(image, &options, &header_bytes);
    uint8_t *bits = allocator.alloc_zeroed(allocator.context, 128);
    bits[125] = 1; /* bit 1000 */
    require_status(PETAL_ERR_DAMAGED, petal_adopt_bits(header, 0, bits, 128, &error), error);
    bits[125] = 0;
    require_status(PETAL_ERR_ARGUMENT, petal_adopt_bits(header, 1, bits, 128, &error), error);
    require_status(PETAL_OK, petal_adopt_bits(header, 0, bits, 128, &error), error);
    petal_free(header);
    petal_free(filter);
    free(image.data);
    assert_int_equal(count.live_blocks, 0);
    assert_int_equal(count.bad_releases, 0);
}

/* ---- chunks, as in BF.LOADCHUNK -------------------------------------------------------------- */

#define CHUNK 700

static void write_chunks(petal_filter *filter, const petal_filter *from)
{
    petal_error error;
    for (uint32_t i = 0; i < info_of(from).layers; i++) {
        const void *bits;
        uint64_t size_bytes;
        require_status(PETAL_OK, petal_bits(from, i, &bits, &size_bytes, &error), error);
        for (uint64_t at = 0; at < size_bytes; at += CHUNK) {
            uint64_t part = size_bytes - at < CHUNK ? size_bytes - at : CHUNK;
            struct bytes chunk = copy_bytes((const uint8_t *)bits + at, (size_t)part);
            require_status(PETAL_OK, petal_write_bits(filter, i, at, chunk.data, part, &error),
                           error);
            free(chunk.data);
        }
        require_status(PETAL_ERR_ARGUMENT, petal_write_bits(filter, i, size_bytes, "x", 1, &error),
                       error);
        require_status(PETAL_ERR_ARGUMENT, petal_write_bits(filter, i, UINT64_MAX, "x", 1, &error),
                       error);
        require_status(PETAL_ERR_ARGUMENT, petal_write_bits(filter, i, 1, "x", UINT64_MAX, &error),
                       error);
    }
}

static void a_filter_is_loaded_in_chunks(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        petal_filter *filter = kind_filter(kind, NULL);
        struct bytes image = serialized(filter);
        petal_open_options options = header_options(kind, NULL);
        size_t header_bytes;
        petal_filter *loaded = open_header(image, &options, &header_bytes);
        write_chunks(loaded, filter);
        require(same_image(filter, loaded), "%s: another image", kind_names[kind]);
        add_numbers(filter, 20000, 9000);
        add_numbers(loaded, 20000, 9000);
        require(same_image(filter, loaded), "%s: another image later", kind_names[kind]);
        petal_free(loaded);
        petal_free(filter);
        free(image.data);
    }
}

/* The chunks equal those of BF.SCANDUMP: first the header, then the bits of all links. */
static void a_redisbloom_filter_is_loaded_in_chunks(void **state)
{
    (void)state;
    petal_options made = PETAL_OPTIONS_INIT;
    petal_error error;
    made.format = "redisbloom";
    made.capacity = 1000;
    made.rate = 0.01;
    petal_filter *filter = create(&made);
    add_numbers(filter, 0, 6000);
    struct bytes dump = new_bytes((size_t)petal_serialized_bytes(filter, SAVE_AS("redisbloom")));
    require_status(PETAL_OK,
                   petal_serialize(filter, SAVE_AS("redisbloom"), dump.data, dump.size, &error),
                   error);
    petal_open_options options = header_options(KIND_BLOCKED_1, NULL);
    options.format = "redisbloom";
    size_t header_bytes;
    petal_filter *loaded = open_header(dump, &options, &header_bytes);
    uint32_t layers = info_of(loaded).layers;
    assert_int_equal(layers, 3);
    assert_int_equal(header_bytes, 20 + 53 * layers);
    uint64_t id;
    require_refused(petal_content_id(loaded, &id, &error));
    assert_true(petal_contains_i64(loaded, -1));
    assert_int_equal(petal_add_i64(loaded, 1), PETAL_ERR_UNSUPPORTED);
    size_t at = header_bytes;
    for (uint32_t i = 0; i < layers; i++) {
        uint64_t size_bytes = layer_bytes(loaded, i);
        require_status(PETAL_OK, petal_write_bits(loaded, i, 0, dump.data + at, size_bytes, &error),
                       error);
        at += (size_t)size_bytes;
    }
    assert_int_equal(at, dump.size);
    assert_true(same_image(filter, loaded));
    require_same_answers(filter, loaded, "redisbloom");
    petal_range range;
    uint64_t count;
    require_status(PETAL_ERR_UNSUPPORTED,
                   petal_key_ranges(loaded, "a", 1, &range, 1, &count, &error), error);
    petal_free(loaded);
    petal_free(filter);
    free(dump.data);
}

static void a_header_that_promises_too_much_takes_no_memory(void **state)
{
    (void)state;
    petal_error error;
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, (uint64_t)1 << 34, 8, 1); /* 2 GiB */
    struct bytes header = new_bytes(1024);
    static struct heading heading;
    heading.used = 0;
    heading.wanted = 1024;
    require_status(PETAL_ERR_IO, petal_write(filter, NULL, take_heading, &heading, &error), error);
    memcpy(header.data, heading.bytes, 1024);
    petal_open_options options = header_options(KIND_BLOCKED_1, &allocator);
    petal_filter *loaded = NULL;
    require_status(PETAL_OK, petal_load(header.data, 1024, &options, &loaded, &error), error);
    uint64_t calls = count.calls;
    require_status(PETAL_ERR_LIMIT, petal_write_bits(loaded, 0, 0, "x", 1, &error), error);
    assert_int_equal(count.calls, calls);
    petal_free(loaded);
    options.memory_limit = 4096; /* enough for the handle, but not for bits */
    require_status(PETAL_OK, petal_load(header.data, 1024, &options, &loaded, &error), error);
    petal_free(loaded);
    petal_free(filter);
    free(header.data);
}

static void bits_of_maps_and_views_are_read_only(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = kind_filter(KIND_CLASSIC, NULL), *view = NULL;
    struct bytes image = serialized(filter);
    const void *bits;
    uint64_t size_bytes;
    require_status(PETAL_OK, petal_view(image.data, image.size, NULL, &view, &error), error);
    require_status(PETAL_OK, petal_bits(view, 0, &bits, &size_bytes, &error), error);
    require_that((const uint8_t *)bits, >, image.data);
    require_that((const uint8_t *)bits + size_bytes, <=, image.data + image.size);
    require_status(PETAL_ERR_READ_ONLY, petal_write_bits(view, 0, 0, "x", 1, &error), error);
    require_status(PETAL_ERR_READ_ONLY, petal_adopt_bits(view, 0, image.data, size_bytes, &error),
                   error);
    require_status(PETAL_ERR_ARGUMENT, petal_bits(view, 1, &bits, &size_bytes, &error), error);
    petal_free(view);
    petal_free(filter);
    free(image.data);
}

/* ---- queries by ranges ----------------------------------------------------------------------- */

/* Room for the ranges of 64 layers with 64 lines each. */
#define MAX_RANGES 4096

static void ranges_answer_as_the_whole_filter_does(void **state)
{
    (void)state;
    static petal_range ranges[MAX_RANGES];
    static uint8_t bytes[MAX_RANGES * 64];
    petal_error error;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        const char *path = temporary("ranges");
        petal_filter *filter = kind_filter(kind, NULL);
        require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
        struct bytes image = read_file(path);
        petal_open_options options = header_options(kind, NULL);
        size_t header_bytes;
        petal_filter *header = open_header(image, &options, &header_bytes);
        petal_info info = info_of(header);
        uint32_t max_lines = info.lines_per_key ? info.lines_per_key : info.hashes + 8;
        uint64_t false_positives = 0, found = 0;
        for (int64_t i = 0; i < KEYS; i++) {
            uint8_t key[8];
            uint64_t count, again;
            bool answer = false, wanted = petal_contains_i64(filter, i);
            petal_encode_i64(i, key);
            require_status(PETAL_OK,
                           petal_key_ranges(header, key, 8, ranges, MAX_RANGES, &count, &error),
                           error);
            require_status(PETAL_OK, petal_key_ranges(header, key, 8, NULL, 0, &again, &error),
                           error);
            assert_int_equal(count, again);
            require(count <= info.layers * max_lines && count >= info.layers, "%s: %llu ranges",
                    kind_names[kind], (unsigned long long)count);
            if (kind == KIND_BLOCKED_1) assert_int_equal(count, 1);
            for (uint32_t j = 0; j < count; j++) {
                require(ranges[j].size_bytes == 64 && ranges[j].offset <= image.size - 64,
                        "%s: a range at %llu", kind_names[kind],
                        (unsigned long long)ranges[j].offset);
                memcpy(bytes + 64 * (size_t)j, image.data + ranges[j].offset, 64);
            }
            uint64_t size_bytes = 64 * (uint64_t)count;
            require_status(
                PETAL_OK,
                petal_contains_in_ranges(header, key, 8, bytes, size_bytes, &answer, &error),
                error);
            require(answer == wanted, "%s: key %lld", kind_names[kind], (long long)i);
            require_status(
                PETAL_ERR_TRUNCATED,
                petal_contains_in_ranges(header, key, 8, bytes, size_bytes - 1, &answer, &error),
                error);
            require_that(error.offset, <=, size_bytes);
            require_status(
                PETAL_ERR_ARGUMENT,
                petal_contains_in_ranges(header, key, 8, bytes, size_bytes + 64, &answer, &error),
                error);
            found += answer;
            false_positives += answer && i >= 6000;
        }
        require(found >= 4000 && false_positives > 0, "%s: %llu found, %llu falsely",
                kind_names[kind], (unsigned long long)found, (unsigned long long)false_positives);
        petal_free(header);
        petal_free(filter);
        free(image.data);
        unlink(path);
    }
}

/* Checks that the block at this offset matches its checksum, and that changed bytes don't. The
 * block is copied to an allocation of exactly its size, so a sanitizer finds reads past the end. */
static void require_compared(const petal_filter *header, const struct bytes image,
                             petal_range block, petal_range sum)
{
    petal_error error;
    uint64_t last = block.offset + block.size_bytes - 1;
    struct bytes bits = copy_bytes(image.data + block.offset, (size_t)block.size_bytes);
    struct bytes recorded = copy_bytes(image.data + sum.offset, 8);
#define REQUIRE(status, offset, block_bytes, sum_bytes) \
    require_status(status, \
                   petal_verify_block(header, offset, bits.data, block_bytes, recorded.data, \
                                      sum_bytes, &error), \
                   error)
    REQUIRE(PETAL_OK, block.offset, bits.size, 8);
    for (size_t i = 0; i < 8 * bits.size; i += 8 * bits.size / 61 + 1) {
        bits.data[i / 8] ^= (uint8_t)(1u << i % 8);
        REQUIRE(PETAL_ERR_DAMAGED, last, bits.size, 8);
        assert_int_equal(error.offset, block.offset);
        bits.data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t i = 0; i < 64; i++) {
        recorded.data[i / 8] ^= (uint8_t)(1u << i % 8);
        REQUIRE(PETAL_ERR_DAMAGED, block.offset, bits.size, 8);
        recorded.data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    const uint64_t sizes[] = {0, bits.size - 1, bits.size - 64, bits.size + 64, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        REQUIRE(PETAL_ERR_ARGUMENT, last, sizes[i], 8);
        REQUIRE(PETAL_ERR_ARGUMENT, last, bits.size, sizes[i]);
    }
    const uint64_t elsewhere[] = {0, sum.offset, image.size, UINT64_MAX};
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        REQUIRE(PETAL_ERR_ARGUMENT, elsewhere[i], bits.size, 8);
    REQUIRE(PETAL_OK, last, bits.size, 8);
#undef REQUIRE
    free(bits.data);
    free(recorded.data);
}

/* Checks that the blocks directly follow one another, and so do their checksums. Returns the number
 * of blocks. */
static uint64_t require_blocks(const petal_filter *header, const struct bytes image,
                               const char *what)
{
    petal_error error;
    uint64_t offset = 0, blocks = 0;
    petal_range block, sum, again, same_sum;
    while (petal_block_ranges(header, offset, &block, &sum, &error) != PETAL_OK) offset++;
    const uint64_t sums = sum.offset;
    for (; offset < image.size; offset = block.offset + block.size_bytes, blocks++) {
        require_status(PETAL_OK, petal_block_ranges(header, offset, &block, &sum, &error), error);
        require(block.offset == offset && block.size_bytes % 64 == 0 && block.size_bytes <= 65536 &&
                    block.size_bytes <= image.size - offset,
                "%s: a block of %llu at %llu", what, (unsigned long long)block.size_bytes,
                (unsigned long long)block.offset);
        require_that(sum.size_bytes, ==, 8);
        require_that(sum.offset, ==, sums + 8 * blocks);
        require_status(PETAL_OK,
                       petal_block_ranges(header, block.offset + block.size_bytes - 1, &again,
                                          &same_sum, &error),
                       error);
        assert_memory_equal(&again, &block, sizeof block);
        assert_memory_equal(&same_sum, &sum, sizeof sum);
        require_compared(header, image, block, sum);
    }
    require_status(PETAL_ERR_ARGUMENT, petal_block_ranges(header, offset, &block, &sum, &error),
                   error);
    return blocks;
}

/* Tests every kind of filter with several blocks: either one per layer, or several in one large
 * layer whose last block is short. */
static void every_block_is_compared_with_its_checksum(void **state)
{
    (void)state;
    petal_error error;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        for (int size = 0; size < 2; size++) {
            petal_options made = kind_options(kind);
            if (size && made.window_keys) made.window_keys = 400000;
            if (size && made.capacity && kind != KIND_GROWING) made.capacity = 200000;
            petal_filter *filter = create(&made), *header = NULL;
            add_numbers(filter, 0, kind == KIND_GROWING && size ? 200000 : 3000);
            struct bytes image = serialized(filter);
            petal_open_options options = header_options(kind, NULL);
            options.secret = NULL;
            options.flags |= PETAL_OPEN_NO_SECRET;
            require_status(PETAL_OK, petal_load(image.data, image.size, &options, &header, &error),
                           error);
            uint64_t blocks = require_blocks(header, image, kind_names[kind]);
            petal_info info = info_of(filter);
            require(blocks >= info.layers && (!size || blocks > info.layers),
                    "%s: %llu blocks of %u layers", kind_names[kind], (unsigned long long)blocks,
                    info.layers);
            assert_int_equal(require_blocks(filter, image, kind_names[kind]), blocks);
            petal_free(header);
            petal_free(filter);
            free(image.data);
        }
}

/* If two valid blocks are swapped, both must be reported as damaged. */
static void a_block_in_the_place_of_another_is_damaged(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 4 * 65536 * 8, 8, 1); /* all zeros */
    struct bytes image = serialized(filter);
    petal_range blocks[4], sums[4];
    for (uint64_t i = 0; i < 4; i++)
        require_status(
            PETAL_OK,
            petal_block_ranges(filter, image.size - 65536 * (4 - i), &blocks[i], &sums[i], &error),
            error);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            require_status(i == j ? PETAL_OK : PETAL_ERR_DAMAGED,
                           petal_verify_block(filter, blocks[i].offset,
                                              image.data + blocks[i].offset, 65536,
                                              image.data + sums[j].offset, 8, &error),
                           error);
    petal_free(filter);
    free(image.data);
}

/* ---- memory that moves ----------------------------------------------------------------------- */

/* A mover that copies each block to a new address with a different alignment, and overwrites the
 * old block. */
struct moving {
    struct counting *count;
    uint64_t moves, leave_every;
};

static void *move_block(void *context, void *memory, size_t size_bytes)
{
    struct moving *moving = context;
    moving->moves++;
    if (moving->leave_every && moving->moves % moving->leave_every == 0) return NULL;
    void *to = counting_alloc(moving->count, size_bytes);
    require(to != NULL && size_bytes > 0, "moving %zu bytes", size_bytes);
    memcpy(to, memory, size_bytes);
    memset(memory, 0xa5, size_bytes);
    counting_release(moving->count, memory, size_bytes);
    return to;
}

static void require_moves(petal_filter *filter, struct counting *count, const char *what)
{
    petal_error error;
    petal_filter *same = clone_of(filter);
    for (uint64_t leave_every = 0; leave_every < 4; leave_every++) {
        struct moving moving = {count, 0, leave_every};
        uint64_t blocks = count->live_blocks;
        petal_filter *before = filter;
        void *gap = malloc(16 + 16 * leave_every); /* varies the distance between blocks */
        require_status(PETAL_OK, petal_relocate(&filter, move_block, &moving, &error), error);
        free(gap);
        assert_int_equal(count->live_blocks, blocks);
        require(leave_every == 1 || filter != before, "%s: the handle stays", what);
        require(same_image(filter, same), "%s: another image", what);
        add_numbers(filter, 30000 + leave_every * 1000, 1000);
        add_numbers(same, 30000 + leave_every * 1000, 1000);
        require(same_image(filter, same), "%s: another image later", what);
        require_same_answers(filter, same, what);
    }
    petal_free(same);
    petal_free(filter);
    require(count->live_blocks == 0 && count->bad_releases == 0, "%s: %llu blocks left", what,
            (unsigned long long)count->live_blocks);
}

/* Copies the block, then overwrites the old one as free() might. */
static void *move_and_look(void *context, void *memory, size_t size_bytes)
{
    const uint8_t *bytes = memory;
    for (size_t i = 0; i + sizeof kinds_secret <= size_bytes; i++)
        require(memcmp(bytes + i, kinds_secret, sizeof kinds_secret) != 0,
                "the mover sees the secret");
    void *to = malloc(size_bytes);
    require(to != NULL, "no memory");
    memcpy(to, memory, size_bytes);
    free(memory);
    ++*(int *)context;
    return to;
}

static void *plain_alloc(void *context, size_t size_bytes)
{
    (void)context;
    return calloc(1, size_bytes);
}

static void plain_release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    (void)size_bytes;
    free(memory);
}

static void a_block_that_is_given_up_holds_no_secret(void **state)
{
    (void)state;
    petal_error error;
    petal_allocator allocator = {plain_alloc, plain_release, NULL};
    petal_filter *filter = kind_filter(KIND_KEYED, &allocator), *same = clone_of(filter);
    int moves = 0;
    require_status(PETAL_OK, petal_relocate(&filter, move_and_look, &moves, &error), error);
    require_that(moves, >=, 3);
    require_same_answers(filter, same, "keyed");
    petal_free(filter);
    petal_free(same);
}

static void every_block_can_move(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        struct counting count = {0};
        petal_allocator allocator = counting_allocator(&count);
        require_moves(kind_filter(kind, &allocator), &count, kind_names[kind]);
    }
}

static void shared_and_foreign_filters_move_too(void **state)
{
    (void)state;
    petal_error error;
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_filter *filter = kind_filter(KIND_BLOCKED_1, &allocator);
    require_status(PETAL_OK, petal_allow_threads(filter, &error), error);
    require_moves(filter, &count, "shared");
    const char *formats[] = {"redisbloom", "guava", "pybloom-scalable"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        petal_options options = PETAL_OPTIONS_INIT;
        options.format = formats[i];
        options.capacity = 1000;
        options.rate = 0.01;
        options.allocator = &allocator;
        filter = create(&options);
        add_numbers(filter, 0, 3000);
        require_moves(filter, &count, formats[i]);
    }
}

static void what_stands_on_a_file_moves_and_is_written_back(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("moving");
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    struct moving moving = {&count, 0, 0};
    petal_filter *filter = kind_filter(KIND_BLOCKED_1, NULL), *map = NULL;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.allocator = &allocator;
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    const unsigned ways[] = {PETAL_OPEN_MAP, PETAL_OPEN_WRITABLE,
                             PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED};
    for (size_t i = 0; i < 3; i++) {
        options.flags = ways[i];
        require_status(PETAL_OK, petal_open(path, &options, &map, &error), error);
        require_status(PETAL_OK, petal_relocate(&map, move_block, &moving, &error), error);
        assert_true(same_image(map, filter));
        if (ways[i] != PETAL_OPEN_MAP) {
            add_numbers(map, 40000 + i * 1000, 500);
            add_numbers(filter, 40000 + i * 1000, 500);
            require_status(PETAL_OK, petal_relocate(&map, move_block, &moving, &error), error);
            require_status(PETAL_OK, petal_save(map, path, NULL, &error), error);
        }
        petal_free(map);
        assert_int_equal(count.live_blocks, 0);
        assert_int_equal(count.bad_releases, 0);
    }
    struct bytes file = read_file(path), wanted = serialized(filter);
    assert_int_equal(file.size, wanted.size);
    require_status(PETAL_OK, petal_open(path, NULL, &map, &error), error);
    assert_true(same_image(map, filter));
    petal_free(map);
    free(file.data);
    free(wanted.data);
    petal_free(filter);
    unlink(path);
}

/* ---- a count of the host's own --------------------------------------------------------------- */

#define MAX_LAYERS 8u
#define FILTERS 3

static void a_host_that_counts_by_its_own_rule_sets_the_number_of_keys(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        petal_error error;
        petal_filter *filter = kind_filter(kind, NULL);
        petal_info before = info_of(filter);
        bool fits = before.layers == 1 && before.policy == PETAL_POLICY_NONE;
        petal_status status = petal_set_items(filter, 12345, &error);
        require(status == (fits ? PETAL_OK : PETAL_ERR_UNSUPPORTED), "%s: %s", kind_names[kind],
                petal_status_name(status));
        require_that(info_of(filter).items, ==, fits ? 12345 : before.items);
        petal_filter *copy = clone_of(filter);
        require_that(info_of(copy).items, ==, info_of(filter).items);
        petal_free(copy);
        require_status(PETAL_OK, petal_freeze(filter, &error), error);
        require_status(PETAL_ERR_READ_ONLY, petal_set_items(filter, 1, &error), error);
        petal_free(filter);
    }
}

/* ---- one handle for many filters ------------------------------------------------------------- */

/* Fills in descriptions of the filter's layers, as a host would keep them. The filter still owns
 * the bits. */
static uint32_t layers_of(const petal_filter *filter, petal_lent_layer *layers)
{
    uint32_t count = info_of(filter).layers;
    require(count <= MAX_LAYERS, "%u layers", count);
    for (uint32_t i = 0; i < count; i++) {
        petal_error error;
        petal_info info = PETAL_INFO_INIT;
        const void *bytes;
        uint64_t size_bytes;
        require_status(PETAL_OK, petal_get_info(filter, i, &info, &error), error);
        require_status(PETAL_OK, petal_bits(filter, i, &bytes, &size_bytes, &error), error);
        layers[i] = (petal_lent_layer){.bytes = (void *)(uintptr_t)bytes,
                                       .bits = info.bits,
                                       .hashes = info.hashes,
                                       .lines_per_key = info.lines_per_key,
                                       .capacity = info.capacity,
                                       .rate = info.target_rate,
                                       .items = info.items};
    }
    return count;
}

/* Serves several of a host's filters with one handle, and compares its answers with those of one
 * handle per filter. */
static void require_one_handle_serves(petal_filter *handle, petal_filter **kept,
                                      petal_filter **alone, const char *what)
{
    petal_error error;
    petal_lent_layer layers[FILTERS][MAX_LAYERS];
    uint32_t counts[FILTERS];
    for (int i = 0; i < FILTERS; i++) counts[i] = layers_of(kept[i], layers[i]);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < FILTERS; i++) {
            uint64_t first = 30000 + (uint64_t)(round * FILTERS + i) * 100;
            require_status(PETAL_OK, petal_lend(handle, layers[i], counts[i], &error), error);
            require(same_image(handle, alone[i]), "%s: filter %d, round %d", what, i, round);
            add_numbers(handle, first, 20);
            add_numbers(alone[i], first, 20);
            require_same_answers(handle, alone[i], what);
            require(same_image(handle, alone[i]), "%s: filter %d, round %d", what, i, round);
            require(layers_of(handle, layers[i]) == counts[i], "%s: filter %d grew", what, i);
        }
    /* Without bits, the handle answers like a filter opened from the header alone. */
    for (uint32_t j = 0; j < counts[0]; j++) layers[0][j].bytes = NULL;
    require_status(PETAL_OK, petal_lend(handle, layers[0], counts[0], &error), error);
    require(petal_contains_i64(handle, 1) && petal_contains_i64(handle, -1), "%s", what);
    assert_int_equal(petal_add_i64(handle, 1), PETAL_ERR_UNSUPPORTED);
}

static void require_handle_of(const petal_filter *pattern, const char *what)
{
    petal_filter *alone[FILTERS], *kept[FILTERS], *handle = clone_of(pattern);
    for (int i = 0; i < FILTERS; i++) {
        alone[i] = clone_of(pattern);
        add_numbers(alone[i], 20000 + (uint64_t)i * 1000, 200);
        kept[i] = clone_of(alone[i]);
    }
    require_one_handle_serves(handle, kept, alone, what);
    petal_free(handle); /* freeing the handle doesn't free lent bits */
    for (int i = 0; i < FILTERS; i++) {
        petal_free(alone[i]);
        petal_free(kept[i]);
    }
}

static void one_handle_serves_many_filters(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        petal_error error;
        struct counting count = {0};
        petal_allocator allocator = counting_allocator(&count);
        petal_filter *pattern = kind_filter(kind, &allocator);
        if (kind == KIND_WINDOW_KEYS || kind == KIND_WINDOW_TIME) {
            petal_lent_layer layer = {.bits = 512, .hashes = 1, .lines_per_key = 1};
            require_status(PETAL_ERR_UNSUPPORTED, petal_lend(pattern, &layer, 1, &error), error);
        } else {
            require_handle_of(pattern, kind_names[kind]);
        }
        petal_free(pattern);
        require(count.live_blocks == 0 && count.bad_releases == 0, "%s: %llu blocks left",
                kind_names[kind], (unsigned long long)count.live_blocks);
    }
}

static void one_handle_serves_filters_of_other_formats(void **state)
{
    (void)state;
    const char *formats[] = {"redisbloom", "guava", "parquet", "pybloom-scalable"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct counting count = {0};
        petal_allocator allocator = counting_allocator(&count);
        petal_options options = PETAL_OPTIONS_INIT;
        options.format = formats[i];
        options.capacity = 3000;
        options.rate = 0.01;
        options.allocator = &allocator;
        petal_filter *pattern = create(&options);
        add_numbers(pattern, 0, 2000);
        require_handle_of(pattern, formats[i]);
        petal_free(pattern);
        require(count.live_blocks == 0 && count.bad_releases == 0, "%s: %llu blocks left",
                formats[i], (unsigned long long)count.live_blocks);
    }
}

static petal_filter *grown_of(const char *format, uint64_t capacity, double rate)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.format = format;
    options.growth = !format;
    options.capacity = capacity;
    options.rate = rate;
    return create(&options);
}

/* The filters have different sizes and numbers of layers. */
static void one_handle_serves_filters_of_other_sizes(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        static const uint64_t bits[FILTERS] = {4096, 512, 1 << 20};
        petal_filter *alone[FILTERS], *kept[FILTERS], *handle = make(scheme, 2048, 7, 0);
        for (int i = 0; i < FILTERS; i++) {
            alone[i] = make(scheme, bits[i], 3 + (uint32_t)i, 0);
            add_numbers(alone[i], 20000 + (uint64_t)i * 1000, 50);
            kept[i] = clone_of(alone[i]);
        }
        require_one_handle_serves(handle, kept, alone, "sizes");
        petal_free(handle);
        for (int i = 0; i < FILTERS; i++) {
            petal_free(alone[i]);
            petal_free(kept[i]);
        }
    }
    petal_filter *handle = grown_of("redisbloom", 10, 0.1);
    for (uint64_t keys = 50; keys <= 3200; keys *= 4) {
        petal_filter *alone = grown_of("redisbloom", keys / 3, 0.001);
        petal_lent_layer layers[MAX_LAYERS];
        petal_error error;
        add_numbers(alone, 0, keys);
        uint32_t count = layers_of(alone, layers);
        require(count > 1, "%u layers", count);
        require_status(PETAL_OK, petal_lend(handle, layers, count, &error), error);
        require(same_image(handle, alone), "%llu keys", (unsigned long long)keys);
        require_same_answers(handle, alone, "layers");
        require_status(PETAL_OK, petal_lend(handle, layers, 1, &error), error);
        petal_free(alone); /* the handle doesn't read its lent layer again */
    }
    petal_free(handle);
}

/* A handle must not add layers to bits that it was lent; only the host may do so. */
static void a_handle_that_is_lent_layers_does_not_grow(void **state)
{
    (void)state;
    const char *formats[] = {NULL, "redisbloom"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        petal_filter *handle = grown_of(formats[i], 100, 0.01), *full = clone_of(handle),
                     *grown = clone_of(handle);
        petal_lent_layer layers[MAX_LAYERS];
        petal_error error;
        add_numbers(full, 0, 100);
        add_numbers(grown, 0, 150);
        while (info_of(full).items < 100) /* false positives didn't count as new */
            add_numbers(full, 1000 + info_of(full).items, 1);
        require_status(PETAL_OK, petal_lend(handle, layers, layers_of(full, layers), &error),
                       error);
        assert_int_equal(petal_add_i64(handle, 123456), PETAL_ERR_FULL);
        require_numbers(handle, 0, 100);
        assert_int_equal(info_of(handle).layers, 1);
        uint32_t count = layers_of(grown, layers);
        require(count == 2, "%u layers", count);
        require_status(PETAL_OK, petal_lend(handle, layers, count, &error), error);
        require_numbers(handle, 0, 150);
        assert_int_equal(petal_add_i64(handle, 123456), PETAL_OK);
        petal_free(handle);
        petal_free(full);
        petal_free(grown);
    }
}

/* If the handle accepted such layers, it would compute bit positions that are wrong or past the
 * end. */
static void layers_that_no_filter_has_are_not_taken(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_filter *filter = make(scheme, 4096, 4, 0), *same = clone_of(filter);
        petal_lent_layer sound, wrong;
        petal_error error;
        layers_of(same, &sound);
        require_status(PETAL_ERR_ARGUMENT, petal_lend(filter, &sound, 0, &error), error);
        for (int i = 0; i < 4; i++) {
            wrong = sound;
            if (i == 0) wrong.bits = 0;
            if (i == 1) wrong.bits = (uint64_t)1 << 60;
            if (i == 2) wrong.hashes = 0;
            if (i == 3) wrong.hashes = 5000;
            petal_lent_layer two[] = {sound, wrong};
            require_status(i == 1 ? PETAL_ERR_LIMIT : PETAL_ERR_ARGUMENT,
                           petal_lend(filter, two, 2, &error), error);
        }
        wrong = sound;
        wrong.lines_per_key = 3;
        require_status(PETAL_ERR_ARGUMENT, petal_lend(filter, &wrong, 1, &error), error);
        require(same_image(filter, same), "scheme %u: another filter", scheme);
        petal_free(filter);
        petal_free(same);
    }
}

/* ---- views ----------------------------------------------------------------------------------- */

struct lent {
    int times;
    const void *bytes;
    uint64_t size_bytes;
};

static void take_back(void *context, const void *bytes, uint64_t size_bytes)
{
    struct lent *lent = context;
    lent->times++;
    lent->bytes = bytes;
    lent->size_bytes = size_bytes;
    free((void *)(uintptr_t)bytes);
}

static void a_view_gives_its_bytes_back_once(void **state)
{
    (void)state;
    petal_error error;
    const char *formats[] = {"petal", "guava", "bloomfilter", "redisbloom-dump"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        petal_options made = PETAL_OPTIONS_INIT;
        if (i) made.format = formats[i];
        made.capacity = 1000;
        made.rate = 0.01;
        petal_filter *filter = create(&made), *view = NULL;
        add_numbers(filter, 0, 500);
        struct bytes image = new_bytes((size_t)petal_serialized_bytes(filter, SAVE_AS(formats[i])));
        require_status(PETAL_OK,
                       petal_serialize(filter, SAVE_AS(formats[i]), image.data, image.size, &error),
                       error);
        struct lent lent = {0, NULL, 0};
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        options.format = formats[i];
        options.release = take_back;
        options.release_context = &lent;
        /* If the call fails, the caller still owns the bytes. */
        require(petal_view(image.data, image.size - 1, &options, &view, &error) < 0, "%s: cut",
                formats[i]);
        assert_int_equal(lent.times, 0);
        require_status(PETAL_OK, petal_view(image.data, image.size, &options, &view, &error),
                       error);
        require_numbers(view, 0, 500);
        petal_filter *copy = clone_of(view);
        assert_int_equal(lent.times, 0);
        petal_free(view);
        assert_int_equal(lent.times, 1);
        require_that(lent.bytes, ==, image.data);
        require_that(lent.size_bytes, ==, image.size);
        require_numbers(copy, 0, 500);
        petal_free(copy);
        assert_int_equal(lent.times, 1);
        petal_free(filter);
    }
}

static void a_view_that_finds_no_memory_does_not_give_back(void **state)
{
    (void)state;
    petal_error error;
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_filter *filter = kind_filter(KIND_CLASSIC, NULL), *view = NULL;
    struct bytes image = serialized(filter);
    struct lent lent = {0, NULL, 0};
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.allocator = &allocator;
    options.release = take_back;
    options.release_context = &lent;
    petal_status status = PETAL_ERR_MEMORY;
    for (count.fail_at = 1; status != PETAL_OK; count.fail_at++) {
        count.calls = 0;
        status = petal_view(image.data, image.size, &options, &view, &error);
        require(status == PETAL_OK || status == PETAL_ERR_MEMORY, "%s", error.message);
        assert_int_equal(lent.times, 0);
        if (status != PETAL_OK) assert_int_equal(count.live_blocks, 0);
    }
    petal_free(view);
    assert_int_equal(lent.times, 1);
    assert_int_equal(count.live_blocks, 0);
    petal_free(filter);
}

/* 1,000 bits or counters end in the middle of a byte or a line. If the bits after the end were set,
 * the file would be refused as damaged. */
static void bits_that_no_key_can_set_are_not_written(void **state)
{
    (void)state;
    uint8_t ones[512];
    memset(ones, 0xff, sizeof ones);
    for (uint32_t scheme = PETAL_SCHEME_CLASSIC; scheme <= PETAL_SCHEME_COUNTING; scheme++) {
        petal_filter *filter = make(scheme, 1000, 3, 0);
        petal_error error;
        add_numbers(filter, 0, 50);
        struct bytes before = serialized(filter);
        uint64_t size = info_of(filter).bytes, used = scheme == PETAL_SCHEME_CLASSIC ? 125 : 500;
        for (uint64_t from = 0; from <= used; from++)
            require_status(PETAL_ERR_DAMAGED,
                           petal_write_bits(filter, 0, from, ones, size - from, &error), error);
        struct bytes after = serialized(filter);
        assert_true(same_bytes(before, after));
        require_status(PETAL_OK, petal_write_bits(filter, 0, 0, ones, used, &error), error);
        struct bytes full = serialized(filter);
        petal_filter *loaded = NULL;
        require_status(PETAL_OK, petal_load(full.data, full.size, NULL, &loaded, &error), error);
        petal_free(loaded);
        free(before.data);
        free(after.data);
        free(full.data);
        petal_free(filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_knows_everything_but_the_bits),
        cmocka_unit_test(without_bits_everything_may_be_in_and_nothing_is_changed),
        cmocka_unit_test(a_header_that_is_no_header_is_refused),
        cmocka_unit_test(the_header_of_a_file_is_opened_too),
        cmocka_unit_test(an_rdb_file_keeps_filters_layer_by_layer),
        cmocka_unit_test(a_buffer_with_impossible_bits_is_not_adopted),
        cmocka_unit_test(a_host_that_counts_by_its_own_rule_sets_the_number_of_keys),
        cmocka_unit_test(one_handle_serves_many_filters),
        cmocka_unit_test(one_handle_serves_filters_of_other_sizes),
        cmocka_unit_test(a_handle_that_is_lent_layers_does_not_grow),
        cmocka_unit_test(layers_that_no_filter_has_are_not_taken),
        cmocka_unit_test(one_handle_serves_filters_of_other_formats),
        cmocka_unit_test(a_filter_is_loaded_in_chunks),
        cmocka_unit_test(bits_that_no_key_can_set_are_not_written),
        cmocka_unit_test(a_redisbloom_filter_is_loaded_in_chunks),
        cmocka_unit_test(a_header_that_promises_too_much_takes_no_memory),
        cmocka_unit_test(bits_of_maps_and_views_are_read_only),
        cmocka_unit_test(ranges_answer_as_the_whole_filter_does),
        cmocka_unit_test(every_block_is_compared_with_its_checksum),
        cmocka_unit_test(a_block_in_the_place_of_another_is_damaged),
        cmocka_unit_test(every_block_can_move),
        cmocka_unit_test(a_block_that_is_given_up_holds_no_secret),
        cmocka_unit_test(shared_and_foreign_filters_move_too),
        cmocka_unit_test(what_stands_on_a_file_moves_and_is_written_back),
        cmocka_unit_test(a_view_gives_its_bytes_back_once),
        cmocka_unit_test(a_view_that_finds_no_memory_does_not_give_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
