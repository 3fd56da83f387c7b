/* reader.c - proves that reading a filter from a stream gives the same bits, or the same error, as
 * loading it from memory, no matter how the stream is split, and that the reader stays within the
 * memory limit. This file tests every file in vectors and in the corpora of fuzz/, and damaged,
 * truncated and extended copies of these files. */
#include "kinds.h"

#include "petal/petal_host.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- comparing ------------------------------------------------------------------------------- */

struct outcome {
    petal_status status;
    petal_error error;
    petal_filter *filter;
};

/* Feeds the reader pieces of `piece` bytes, or of random sizes if `piece` is 0. After a failure, no
 * memory may stay allocated. */
static struct outcome read_pieces(const struct bytes bytes, const petal_open_options *options,
                                  size_t piece, uint64_t expected_bytes)
{
    static struct counting count; /* shared by all readers, because a filter outlives its reader */
    static petal_allocator allocator;
    allocator = counting_allocator(&count);
    struct outcome out = {PETAL_OK, {0}, NULL};
    petal_open_options counted = PETAL_OPEN_OPTIONS_INIT;
    petal_reader *reader = NULL;
    uint64_t seed = bytes.size, before = count.live_bytes;
    if (options) counted = *options;
    if (!counted.allocator) counted.allocator = &allocator;
    out.status = petal_reader_create(&counted, expected_bytes, &reader, &out.error);
    for (size_t at = 0, part; out.status == PETAL_OK && at < bytes.size; at += part) {
        part = piece ? piece : (size_t)random_below(&seed, 5000);
        if (part > bytes.size - at) part = bytes.size - at;
        struct bytes copy = copy_bytes(bytes.data + at, part);
        out.status = petal_reader_feed(reader, copy.data, part, &out.error);
        free(copy.data);
    }
    if (out.status == PETAL_OK) out.status = petal_reader_finish(reader, &out.filter, &out.error);
    require((out.status == PETAL_OK) == (out.filter != NULL), "a status without its filter");
    petal_reader_free(reader);
    if (out.status != PETAL_OK) require_that(count.live_bytes, ==, before);
    return out;
}

static void require_same_outcome(const struct bytes bytes, const petal_open_options *options,
                                 const struct outcome *loaded, size_t piece,
                                 uint64_t expected_bytes, const char *what)
{
    struct outcome got = read_pieces(bytes, options, piece, expected_bytes);
    require(got.status == loaded->status, "%s, in pieces of %zu: %s (%s), loaded: %s (%s)", what,
            piece, petal_status_name(got.status), got.status < 0 ? got.error.message : "",
            petal_status_name(loaded->status), loaded->status < 0 ? loaded->error.message : "");
    if (got.status == PETAL_OK) {
        petal_info a = info_of(got.filter), b = info_of(loaded->filter);
        require(same_image(got.filter, loaded->filter), "%s: another filter", what);
        require(strcmp(a.format_name, b.format_name) == 0, "%s: another format", what);
        petal_file_info one = file_info_of(got.filter), other = file_info_of(loaded->filter);
        require(one.recovered_blocks == other.recovered_blocks &&
                    one.compared_blocks == other.compared_blocks,
                "%s: other blocks recovered", what);
        require(strcmp(one.format_name, other.format_name) == 0, "%s: of another format", what);
    } else {
        require(got.error.status == loaded->error.status &&
                    got.error.offset == loaded->error.offset &&
                    got.error.system_errno == loaded->error.system_errno &&
                    strcmp(got.error.message, loaded->error.message) == 0,
                "%s, in pieces of %zu: \"%s\" at %llu, loaded: \"%s\" at %llu", what, piece,
                got.error.message, (unsigned long long)got.error.offset, loaded->error.message,
                (unsigned long long)loaded->error.offset);
    }
    petal_free(got.filter);
}

static struct outcome load(const struct bytes bytes, const petal_open_options *options)
{
    struct outcome out = {PETAL_OK, {0}, NULL};
    out.status = petal_load(bytes.data, bytes.size, options, &out.filter, &out.error);
    return out;
}

/* Feeds the reader pieces of one size. */
static void require_same_as_loaded(const struct bytes bytes, const petal_open_options *options,
                                   size_t piece, const char *what)
{
    struct outcome loaded = load(bytes, options);
    require_same_outcome(bytes, options, &loaded, piece, 0, what);
    petal_free(loaded.filter);
}

/* Feeds the reader pieces of all sizes, both with and without the total size known in advance. */
static petal_status require_same_in_all_pieces(const struct bytes bytes,
                                               const petal_open_options *options, const char *what)
{
    static const size_t pieces[] = {0, 1, 7, 64, 4096, SIZE_MAX};
    struct outcome loaded = load(bytes, options);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        require_same_outcome(bytes, options, &loaded, pieces[i], 0, what);
        if (pieces[i] != 1) /* single bytes are slow; one test of them is enough */
            require_same_outcome(bytes, options, &loaded, pieces[i], bytes.size, what);
    }
    petal_free(loaded.filter);
    return loaded.status;
}

/* ---- all files ------------------------------------------------------------------------------- */

struct tally {
    uint64_t files, opened, refused;
};

static void try_bytes(const struct bytes bytes, const char *path, struct tally *tally)
{
    petal_format_info about = PETAL_FORMAT_INFO_INIT;
    for (uint32_t i = 0; petal_format_at(i, &about); i++) {
        const char *format = about.name;
        char what[1024];
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        options.format = format;
        snprintf(what, sizeof what, "%s as %s", path, format);
        struct outcome loaded = load(bytes, &options);
        petal_free(loaded.filter);
        if (loaded.status == PETAL_ERR_NOT_A_FILTER) {
            require_same_as_loaded(bytes, &options, 4096, what);
            tally->refused++;
        } else {
            (void)require_same_in_all_pieces(bytes, &options, what);
            *(loaded.status == PETAL_OK ? &tally->opened : &tally->refused) += 1;
        }
    }
}

static void try_file(const char *path, struct tally *tally)
{
    struct bytes file = read_file(path);
    tally->files++;
    try_bytes(file, path, tally);
    if (file.size && strncmp(path, "fuzz/", 5) == 0) { /* the first byte selects how to open it */
        struct bytes rest = {file.data + 1, file.size - 1};
        try_bytes(rest, path, tally);
    }
    free(file.data);
}

static void try_folder(const char *folder, struct tally *tally)
{
    DIR *list = opendir(folder);
    require(list != NULL, "no folder %s (tests run from the top of the tree)", folder);
    const struct dirent *entry;
    while ((entry = readdir(list)) != NULL) { /* NOLINT(concurrency-mt-unsafe) */
        char path[1024];
        struct stat about;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        require(stat(path, &about) == 0, "cannot look at %s", path);
        if (S_ISDIR(about.st_mode))
            try_folder(path, tally);
        else if (!strstr(path, ".txt") && !strstr(path, ".md") && about.st_size <= 100000)
            try_file(path, tally);
    }
    closedir(list);
}

/* Reads an empty stream in every format. The build with UndefinedBehaviorSanitizer checks the
 * pointers. */
static void no_bytes_at_all_are_refused_as_in_memory(void **state)
{
    (void)state;
    struct bytes nothing = {NULL, 0};
    struct tally tally = {0};
    try_bytes(nothing, "nothing", &tally);
    assert_int_equal(tally.opened, 0);
    require_that(tally.refused, >, 0);
}

static void every_vector_is_read_as_it_is_loaded(void **state)
{
    (void)state;
    struct tally tally = {0, 0, 0};
    try_folder("vectors", &tally);
    printf("# %llu files, each as every format: %llu opened, %llu refused\n",
           (unsigned long long)tally.files, (unsigned long long)tally.opened,
           (unsigned long long)tally.refused);
    require_that(tally.files, >, 200);
    require_that(tally.opened, >, 200);
    require_that(tally.refused, >, 200);
}

static void every_input_of_the_fuzzers_is_read_as_it_is_loaded(void **state)
{
    (void)state;
    static const char *const folders[] = {
        "bits_and_blooms", "cassandra",  "datasketches", "dcso",  "guava",       "hadoop",
        "hbase",           "javascript", "leveldb",      "orc",   "parquet",     "petal_file",
        "pybloom",         "redisbloom", "rocksdb",      "spark", "valkey_bloom"};
    struct tally tally = {0, 0, 0};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[256];
        snprintf(path, sizeof path, "fuzz/corpus/%s", folders[i]);
        try_folder(path, &tally);
    }
    printf("# %llu files, with and without their first byte, each as every format: %llu opened, "
           "%llu refused\n",
           (unsigned long long)tally.files, (unsigned long long)tally.opened,
           (unsigned long long)tally.refused);
    require_that(tally.files, >, 100);
    require_that(tally.opened, >, 50);
}

/* ---- petal files whose bits are stored as they arrive ---------------------------------------- */

/* Returns a filter larger than the header's buffer, so that the reader allocates bits as they
 * arrive. */
static petal_filter *large_filter(enum kind kind)
{
    petal_options options = kind_options(kind);
    petal_error error;
    options.capacity *= 10;
    options.window_keys *= 10;
    petal_filter *filter = create(&options);
    for (uint64_t minute = 0; minute < 6; minute++) {
        if (kind == KIND_WINDOW_TIME)
            require_status(PETAL_OK, petal_set_clock(filter, 1 + minute * 20000, &error), error);
        add_numbers(filter, minute * 15000, 15000);
    }
    return filter;
}

static petal_open_options options_for(enum kind kind)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.secret = kind_secret(kind);
    return options;
}

static void every_kind_is_streamed(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        petal_filter *filter = large_filter(kind);
        struct bytes image = serialized(filter);
        petal_open_options options = options_for(kind);
        assert_int_equal(require_same_in_all_pieces(image, &options, kind_names[kind]), PETAL_OK);
        petal_free(filter);
        free(image.data);
    }
}

/* Another library's array may end within a line, and its padding may contain bits that no key
 * sets. */
static struct bytes carried(const char *format, uint64_t capacity)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.format = format;
    options.capacity = capacity;
    options.rate = 0.013;
    petal_filter *filter = create(&options);
    add_numbers(filter, 0, 3 * capacity);
    struct bytes image = serialized(filter);
    petal_free(filter);
    return image;
}

/* Damages the image at one place after another, as a faulty connection would. */
static void damage(const struct bytes image, const petal_open_options *options, uint64_t count,
                   const char *what)
{
    uint64_t seed = image.size;
    if (image.size == 0) return; /* nothing to damage */
    for (uint64_t i = 0; i < count; i++) {
        char text[256];
        size_t at = (size_t)random_below(&seed, i % 2 ? image.size : 2048), cut = 0;
        if (i % 8 == 2) at = image.size - 1 - (size_t)random_below(&seed, 70);
        if (at >= image.size) continue;
        uint8_t flip = (uint8_t)(1u << random_below(&seed, 8));
        if (i % 5 == 0) cut = (size_t)random_below(&seed, image.size);
        struct bytes changed = copy_bytes(image.data, image.size - cut);
        if (at < changed.size) changed.data[at] ^= flip;
        snprintf(text, sizeof text, "%s, byte %zu ^ %u, %zu cut off", what, at, flip, cut);
        require_same_as_loaded(changed, options, i % 3 ? 0 : 509, text);
        free(changed.data);
    }
    struct bytes longer = new_bytes(image.size + 20);
    memcpy(longer.data, image.data, image.size);
    for (size_t size = image.size - 2; size < longer.size; size += 3) {
        struct bytes part = {longer.data, size};
        require_same_as_loaded(part, options, 64, what);
        require_same_as_loaded(part, options, SIZE_MAX, what);
    }
    free(longer.data);
}

static void damage_is_found_as_in_memory(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        petal_filter *filter = large_filter(kind);
        struct bytes image = serialized(filter);
        petal_open_options options = options_for(kind);
        damage(image, &options, 150, kind_names[kind]);
        options.secret = kind == KIND_KEYED ? NULL : kinds_secret;
        damage(image, &options, 50, "no secret, or one too many");
        petal_free(filter);
        free(image.data);
    }
    static const char *const formats[] = {"guava", "leveldb", "redisbloom", "dcso", "orc"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct bytes image = carried(formats[i], 20011);
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        assert_int_equal(require_same_in_all_pieces(image, &options, formats[i]), PETAL_OK);
        damage(image, &options, 400, formats[i]);
        free(image.data);
    }
}

static void a_dirty_file_is_refused_or_recovered_as_in_memory(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("dirty");
    petal_filter *filter = large_filter(KIND_CLASSIC), *map = NULL;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    options.flags = PETAL_OPEN_WRITABLE;
    require_status(PETAL_OK, petal_open(path, &options, &map, &error), error);
    add_numbers(map, 1000000, 10);
    struct bytes file = read_file(path);
    petal_free(map);
    options.flags = PETAL_OPEN_LOAD;
    assert_int_equal(require_same_in_all_pieces(file, &options, "dirty"), PETAL_ERR_DIRTY);
    damage(file, &options, 100, "dirty");
    options.flags = PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER;
    assert_int_equal(require_same_in_all_pieces(file, &options, "recovered"), PETAL_OK);
    damage(file, &options, 100, "recovered");
    free(file.data);
    petal_free(filter);
    unlink(path);
}

static void a_header_alone_comes_in_pieces_too(void **state)
{
    (void)state;
    petal_filter *filter = large_filter(KIND_GROWING);
    struct bytes image = serialized(filter);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = PETAL_OPEN_HEADER_ONLY;
    struct outcome got = read_pieces((struct bytes){image.data, 3000}, &options, 7, 0);
    require_status(PETAL_OK, got.status, got.error);
    assert_true(petal_contains_i64(got.filter, -1));
    petal_free(got.filter);
    petal_free(filter);
    free(image.data);
}

/* If the header claims an impossible slot size, the right error depends on the number of bytes that
 * follow. */
static void a_slot_of_impossible_size_is_refused_as_in_memory(void **state)
{
    (void)state;
    petal_filter *filter = large_filter(KIND_CLASSIC);
    struct bytes image = serialized(filter);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    memset(image.data + 512, 0, 512);
    for (uint32_t size = 9000; size != 0; size *= 4) { /* up to 2^32 bytes */
        memcpy(image.data + 16, &size, sizeof size);
        petal_status status = require_same_in_all_pieces(image, &options, "a slot");
        assert_true(status == PETAL_ERR_TRUNCATED || status == PETAL_ERR_DAMAGED);
        if (size > UINT32_MAX / 4) break;
    }
    petal_free(filter);
    free(image.data);
}

static void options_are_refused_as_in_memory(void **state)
{
    (void)state;
    petal_error error, other;
    petal_reader *reader = NULL;
    petal_filter *filter = NULL;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    const unsigned wrong[] = {PETAL_OPEN_WRITABLE, PETAL_OPEN_LIVE, PETAL_OPEN_LOAD | 1u << 30,
                              PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options.flags = wrong[i];
        require_status(PETAL_ERR_ARGUMENT, petal_reader_create(&options, 0, &reader, &error),
                       error);
        require_status(PETAL_ERR_ARGUMENT, petal_load("", 0, &options, &filter, &other), other);
        assert_string_equal(error.message, other.message);
        assert_null(reader);
    }
    options.flags = 0;
    options.format = "no such";
    require_status(PETAL_ERR_ARGUMENT, petal_reader_create(&options, 0, &reader, &error), error);
    petal_reader_free(NULL);
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct peak {
    uint64_t live, peak;
};

static void *peak_alloc(void *context, size_t size_bytes)
{
    struct peak *peak = context;
    peak->live += size_bytes;
    if (peak->live > peak->peak) peak->peak = peak->live;
    return calloc(1, size_bytes);
}

static void peak_release(void *context, void *memory, size_t size_bytes)
{
    struct peak *peak = context;
    peak->live -= size_bytes;
    free(memory);
}

static void bits_go_straight_into_the_filter(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        struct peak peak = {0, 0};
        petal_allocator allocator = {peak_alloc, peak_release, &peak};
        petal_filter *filter = large_filter(kind);
        struct bytes image = serialized(filter);
        petal_open_options options = options_for(kind);
        options.allocator = &allocator;
        struct outcome got = read_pieces(image, &options, 4096, 0);
        require_status(PETAL_OK, got.status, got.error);
        /* memory for the filter, the stream's first bytes and the reader itself */
        require(peak.peak < image.size + 65536, "%s: %llu bytes for a file of %zu",
                kind_names[kind], (unsigned long long)peak.peak, image.size);
        petal_free(got.filter);
        assert_int_equal(peak.live, 0);
        petal_free(filter);
        free(image.data);
    }
}

static void what_is_expected_bounds_the_buffer(void **state)
{
    (void)state;
    struct peak peak = {0, 0};
    petal_allocator allocator = {peak_alloc, peak_release, &peak};
    petal_error error;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_reader *reader = NULL;
    struct bytes bytes = new_bytes(100000);
    options.allocator = &allocator;
    options.format = "guava";
    require_status(PETAL_OK, petal_reader_create(&options, 70000, &reader, &error), error);
    uint64_t before = peak.live;
    require_status(PETAL_OK, petal_reader_feed(reader, bytes.data, 70000, &error), error);
    assert_int_equal(peak.live, before + 70000);
    require_status(PETAL_ERR_ARGUMENT, petal_reader_feed(reader, bytes.data, 1, &error), error);
    assert_int_equal(peak.live, before);
    petal_reader_free(reader);
    assert_int_equal(peak.live, 0);
    /* memory_limit limits the buffer, and max_bytes limits the stream. */
    options.memory_limit = 50000;
    require_status(PETAL_OK, petal_reader_create(&options, 0, &reader, &error), error);
    require_status(PETAL_OK, petal_reader_feed(reader, bytes.data, 50000, &error), error);
    assert_int_equal(peak.live, before + 50000);
    require_status(PETAL_ERR_LIMIT, petal_reader_feed(reader, bytes.data, 1, &error), error);
    petal_reader_free(reader);
    options.max_bytes = 10;
    require_status(PETAL_OK, petal_reader_create(&options, 0, &reader, &error), error);
    require_status(PETAL_ERR_LIMIT, petal_reader_feed(reader, bytes.data, 11, &error), error);
    require_status(PETAL_ERR_LIMIT, petal_reader_feed(reader, bytes.data, 1, &error), error);
    petal_filter *filter = NULL;
    require_status(PETAL_ERR_LIMIT, petal_reader_finish(reader, &filter, &error), error);
    petal_reader_free(reader);
    assert_int_equal(peak.live, 0);
    free(bytes.data);
}

/* A sink that keeps the first bytes that petal_write() writes. */
struct front {
    uint8_t bytes[400000];
    size_t used;
};

static int32_t take_front(void *context, const void *bytes, size_t size_bytes)
{
    struct front *front = context;
    size_t part = sizeof front->bytes - front->used;
    if (part > size_bytes) part = size_bytes;
    memcpy(front->bytes + front->used, bytes, part);
    front->used += part;
    return front->used == sizeof front->bytes;
}

/* If the filter that the header promises exceeds memory_limit, the reader drops the bits instead of
 * storing them. */
static void a_promise_takes_no_memory(void **state)
{
    (void)state;
    static struct front front;
    struct peak peak = {0, 0};
    petal_allocator allocator = {peak_alloc, peak_release, &peak};
    petal_error error;
    petal_reader *reader = NULL;
    petal_filter *promise = NULL, *filter = NULL;
    petal_options made = options_of(PETAL_SCHEME_BLOCKED, (uint64_t)1 << 30, 8, 1);
    promise = create(&made);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.allocator = &allocator;
    require_status(PETAL_ERR_IO, petal_write(promise, NULL, take_front, &front, &error), error);
    petal_free(promise);
    /* The reader drops the bits, and reports an error only at the end of the stream. */
    options.memory_limit = (uint64_t)1 << 20;
    require_status(PETAL_OK, petal_reader_create(&options, 0, &reader, &error), error);
    require_status(PETAL_OK, petal_reader_feed(reader, front.bytes, front.used, &error), error);
    require_status(PETAL_ERR_TRUNCATED, petal_reader_finish(reader, &filter, &error), error);
    petal_reader_free(reader);
    require(peak.peak < 1000000, "%llu bytes", (unsigned long long)peak.peak);
    /* If the size is known in advance, the stream is refused immediately. */
    uint64_t file_bytes = 0;
    memcpy(&file_bytes, front.bytes + 32, 8);
    require_that(file_bytes, >, (uint64_t)1 << 27);
    require_status(PETAL_OK, petal_reader_create(&options, file_bytes, &reader, &error), error);
    require_status(PETAL_ERR_LIMIT, petal_reader_feed(reader, front.bytes, front.used, &error),
                   error);
    petal_reader_free(reader);
    /* If the size differs from the expected one, the stream is refused. */
    options.memory_limit = 0;
    require_status(PETAL_OK, petal_reader_create(&options, file_bytes - 1, &reader, &error), error);
    require_status(PETAL_ERR_TRUNCATED, petal_reader_feed(reader, front.bytes, 9000, &error),
                   error);
    petal_reader_free(reader);
    assert_int_equal(peak.live, 0);
}

/* Without a limit, 400 KB of input must not make the reader allocate 2 GiB, whatever size the
 * header or the caller declares. */
static void a_promise_is_believed_in_proportion(void **state)
{
    (void)state;
    static struct front front;
    struct peak peak = {0, 0};
    petal_allocator allocator = {peak_alloc, peak_release, &peak};
    petal_error error;
    petal_reader *reader = NULL;
    petal_filter *promise = make(PETAL_SCHEME_BLOCKED, (uint64_t)1 << 34, 8, 1), *filter = NULL;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.allocator = &allocator;
    require_status(PETAL_ERR_IO, petal_write(promise, NULL, take_front, &front, &error), error);
    petal_free(promise);
    uint64_t file_bytes = 0;
    memcpy(&file_bytes, front.bytes + 32, 8);
    require_that(file_bytes, >, (uint64_t)1 << 31);
    for (int knows = 0; knows <= 1; knows++) {
        uint64_t expected = knows ? file_bytes : 0;
        require_status(PETAL_OK, petal_reader_create(&options, expected, &reader, &error), error);
        require_status(PETAL_OK, petal_reader_feed(reader, front.bytes, front.used, &error), error);
        require_status(PETAL_ERR_TRUNCATED, petal_reader_finish(reader, &filter, &error), error);
        petal_reader_free(reader);
        require(peak.peak < 2000000, "%llu bytes", (unsigned long long)peak.peak);
        assert_int_equal(peak.live, 0);
    }
}

static int32_t feed_piece(void *context, const void *bytes, size_t size_bytes)
{
    return petal_reader_feed(context, bytes, size_bytes, NULL);
}

/* The filter exceeds the default limit, but is less than 64 times the bytes received. Nearly all of
 * the stream is zeros, which take no memory. */
static void a_large_promise_is_kept_in_the_end(void **state)
{
    (void)state;
    petal_error error;
    petal_reader *reader = NULL;
    petal_filter *large = make(PETAL_SCHEME_BLOCKED, (uint64_t)9 << 30, 8, 1), *filter = NULL;
    uint64_t id = 0, other = 0;
    add_numbers(large, 0, 20);
    require_status(PETAL_OK, petal_reader_create(NULL, 0, &reader, &error), error);
    require_status(PETAL_OK, petal_write(large, NULL, feed_piece, reader, &error), error);
    require_status(PETAL_OK, petal_reader_finish(reader, &filter, &error), error);
    petal_reader_free(reader);
    assert_int_equal(petal_content_id(large, &id, &error), PETAL_OK);
    assert_int_equal(petal_content_id(filter, &other, &error), PETAL_OK);
    assert_int_equal(id, other);
    petal_free(filter);
    petal_free(large);
}

static void memory_that_is_wanting_is_told(void **state)
{
    (void)state;
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_filter *filter = large_filter(KIND_GROWING);
    struct bytes image = serialized(filter);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.allocator = &allocator;
    struct outcome got = {PETAL_ERR_MEMORY, {0}, NULL};
    for (uint64_t i = 1; got.status != PETAL_OK; i++) {
        count.calls = 0;
        count.fail_at = i;
        got = read_pieces(image, &options, 4096, 0);
        require(got.status == PETAL_OK || got.status == PETAL_ERR_MEMORY, "allocation %llu: %s",
                (unsigned long long)i, got.error.message);
        if (got.status != PETAL_OK) assert_int_equal(count.live_blocks, 0);
    }
    assert_true(same_image(got.filter, filter));
    petal_free(got.filter);
    assert_int_equal(count.live_blocks, 0);
    assert_int_equal(count.bad_releases, 0);
    petal_free(filter);
    free(image.data);
}

/* The reader refuses the first piece past the end, without waiting for more. */
static void bytes_after_the_end_are_refused_at_once(void **state)
{
    petal_reader *reader = NULL;
    petal_error error;
    (void)state;
    petal_filter *filter = make(PETAL_SCHEME_CLASSIC, 80000, 3, 0);
    struct bytes image = serialized(filter), longer = new_bytes(image.size + 20);
    memcpy(longer.data, image.data, image.size);
    require_status(PETAL_OK, petal_reader_create(NULL, 0, &reader, &error), error);
    require_status(PETAL_ERR_DAMAGED, petal_reader_feed(reader, longer.data, longer.size, &error),
                   error);
    require_that(error.offset, ==, image.size);
    petal_reader_free(reader);
    petal_free(filter);
    free(image.data);
    free(longer.data);
}

/* For another library's format, the reader keeps the whole stream until its end, and then frees
 * it. */
static void what_was_kept_is_released_when_the_stream_has_ended(void **state)
{
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_options options = PETAL_OPTIONS_INIT;
    petal_open_options opening = PETAL_OPEN_OPTIONS_INIT;
    petal_reader *reader = NULL;
    petal_error error;
    (void)state;
    options.format = "guava";
    options.capacity = 1000000;
    options.rate = 0.01;
    opening.format = "guava";
    opening.allocator = &allocator;
    petal_filter *filter = create(&options), *got = NULL;
    struct bytes file = new_bytes((size_t)petal_serialized_bytes(filter, SAVE_AS("guava")));
    require_status(PETAL_OK,
                   petal_serialize(filter, SAVE_AS("guava"), file.data, file.size, &error), error);
    require_status(PETAL_OK, petal_reader_create(&opening, 0, &reader, &error), error);
    require_status(PETAL_OK, petal_reader_feed(reader, file.data, file.size, &error), error);
    require_that(count.live_bytes, >=, file.size);
    require_status(PETAL_OK, petal_reader_finish(reader, &got, &error), error);
    petal_free(got);
    require_that(count.live_bytes, <, file.size / 2);
    petal_reader_free(reader);
    require_that(count.live_blocks, ==, 0);
    petal_free(filter);
    free(file.data);
}

/* ---- a socket -------------------------------------------------------------------------------- */

static int32_t send_piece(void *context, const void *bytes, size_t size_bytes)
{
    const uint8_t *at = bytes;
    while (size_bytes) {
        ssize_t sent = write(*(const int *)context, at, size_bytes);
        if (sent < 0) return 5;
        at += sent;
        size_bytes -= (size_t)sent;
    }
    return 0;
}

static petal_filter *receive(int socket, const petal_open_options *options)
{
    uint8_t piece[1500];
    petal_error error;
    petal_reader *reader = NULL;
    petal_filter *filter = NULL;
    ssize_t got;
    require_status(PETAL_OK, petal_reader_create(options, 0, &reader, &error), error);
    while ((got = read(socket, piece, sizeof piece)) > 0)
        require_status(PETAL_OK, petal_reader_feed(reader, piece, (size_t)got, &error), error);
    require_status(PETAL_OK, petal_reader_finish(reader, &filter, &error), error);
    petal_reader_free(reader);
    return filter;
}

static bool same_image_as(const char *format, const petal_filter *a, const petal_filter *b)
{
    struct bytes of_a = new_bytes((size_t)petal_serialized_bytes(a, SAVE_AS(format))),
                 of_b = new_bytes((size_t)petal_serialized_bytes(b, SAVE_AS(format)));
    petal_error error;
    require_status(PETAL_OK, petal_serialize(a, SAVE_AS(format), of_a.data, of_a.size, &error),
                   error);
    require_status(PETAL_OK, petal_serialize(b, SAVE_AS(format), of_b.data, of_b.size, &error),
                   error);
    bool same = same_bytes(of_a, of_b);
    free(of_a.data);
    free(of_b.data);
    return same;
}

/* One process reads the filter from a socket, and sends it back through another socket. */
static void a_socket_carries_filters_both_ways(void **state)
{
    (void)state;
    static const char *const formats[] = {"petal", "petal", "petal", "petal", "petal",
                                          "petal", "petal", "petal", "guava", "bloomfilter"};
    for (size_t i = 0; i < KIND_COUNT + 2; i++) {
        int there[2], back[2], status = 0;
        petal_error error;
        petal_options made = PETAL_OPTIONS_INIT;
        made.format = formats[i];
        made.capacity = 50000;
        made.rate = 0.01;
        enum kind kind = i < KIND_COUNT ? (enum kind)i : KIND_CLASSIC;
        petal_open_options options = options_for(kind);
        options.format = formats[i];
        petal_filter *filter = i < KIND_COUNT ? large_filter(kind) : create(&made);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, there), 0);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, back), 0);
        pid_t child = fork();
        if (child == 0) {
            close(there[0]);
            close(back[0]);
            petal_filter *received = receive(there[1], &options);
            petal_status sent =
                petal_write(received, SAVE_AS(formats[i]), send_piece, &back[1], NULL);
            petal_free(received);
            _exit(sent == PETAL_OK ? 0 : 1);
        }
        close(there[1]);
        close(back[1]);
        require_status(PETAL_OK,
                       petal_write(filter, SAVE_AS(formats[i]), send_piece, &there[0], &error),
                       error);
        close(there[0]);
        petal_filter *again = receive(back[0], &options);
        close(back[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        require(same_image_as(formats[i], filter, again), "%s, kind %zu", formats[i], i);
        petal_free(again);
        petal_free(filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vector_is_read_as_it_is_loaded),
        cmocka_unit_test(every_input_of_the_fuzzers_is_read_as_it_is_loaded),
        cmocka_unit_test(no_bytes_at_all_are_refused_as_in_memory),
        cmocka_unit_test(every_kind_is_streamed),
        cmocka_unit_test(damage_is_found_as_in_memory),
        cmocka_unit_test(a_dirty_file_is_refused_or_recovered_as_in_memory),
        cmocka_unit_test(a_header_alone_comes_in_pieces_too),
        cmocka_unit_test(a_slot_of_impossible_size_is_refused_as_in_memory),
        cmocka_unit_test(options_are_refused_as_in_memory),
        cmocka_unit_test(bits_go_straight_into_the_filter),
        cmocka_unit_test(what_is_expected_bounds_the_buffer),
        cmocka_unit_test(a_promise_takes_no_memory),
        cmocka_unit_test(a_promise_is_believed_in_proportion),
        cmocka_unit_test(a_large_promise_is_kept_in_the_end),
        cmocka_unit_test(memory_that_is_wanting_is_told),
        cmocka_unit_test(bytes_after_the_end_are_refused_at_once),
        cmocka_unit_test(what_was_kept_is_released_when_the_stream_has_ended),
        cmocka_unit_test(a_socket_carries_filters_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
