/* image.c - proves that a petal file matches docs/format.md byte for byte: fields, checksums,
 * content id, the worked example, and files of several layers. This file computes the expected
 * bytes from the specification without calling the library. */
#include "image.h"

static const uint8_t magic[8] = {0x89, 'P', 'T', 'L', '\r', '\n', 0x1a, '\n'};
static const uint8_t secret[PETAL_SECRET_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                   8, 9, 10, 11, 12, 13, 14, 15};

/* ---- the specification, for one filter ------------------------------------------------------- */

static uint64_t xxh3_of_numbers(const uint64_t *numbers, const size_t *sizes, size_t count,
                                uint64_t seed)
{
    uint8_t bytes[64];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        put_number(bytes + used, sizes[i], numbers[i]);
        used += sizes[i];
    }
    return XXH3_64bits_withSeed(bytes, used, seed);
}

/* Computes the content id of a one-layer filter with these bits. */
static uint64_t content_id(const petal_info *info, uint64_t secret_check, const uint8_t *payload)
{
    uint64_t id = xxh3_of_numbers(
        (uint64_t[]){(uint64_t)info->scheme, (uint64_t)info->hash, info->seed, secret_check},
        (size_t[]){4, 4, 8, 8}, 4, 0);
    id = xxh3_of_numbers((uint64_t[]){info->hashes, info->lines_per_key, info->bits},
                         (size_t[]){4, 4, 8}, 3, id);
    for (uint64_t block = 0; block * BLOCK < info->bytes; block++) {
        uint64_t size = info->bytes - block * BLOCK < BLOCK ? info->bytes - block * BLOCK : BLOCK;
        uint64_t sum = XXH3_64bits_withSeed(payload + block * BLOCK, size, block);
        id = xxh3_of_numbers(&sum, (size_t[]){8}, 1, id);
    }
    return id;
}

struct field {
    const char *name;
    size_t at, size;
    uint64_t wanted;
};

static void require_fields(struct bytes image, unsigned slot, const struct field *fields,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t got = get_number(slot_of(image, slot) + fields[i].at, fields[i].size);
        require(got == fields[i].wanted, "slot %u, %s at %zu: got %llx, wanted %llx", slot,
                fields[i].name, fields[i].at, (unsigned long long)got,
                (unsigned long long)fields[i].wanted);
    }
}

static uint64_t round_up(uint64_t x, uint64_t unit)
{
    return (x + unit - 1) / unit * unit;
}

/* Compares every byte before the bits in a new image of this filter with the specification. */
static void require_image(const petal_filter *filter)
{
    struct bytes image = serialized(filter);
    petal_info info = info_of(filter);
    uint64_t info_id = content_of(filter);
    size_t metadata_bytes;
    const void *metadata = petal_metadata(filter, &metadata_bytes);
    uint64_t blocks = (info.bytes + BLOCK - 1) / BLOCK,
             sums_at = round_up(AT_METADATA + metadata_bytes, 8);
    uint64_t payload_at = round_up(sums_at + 8 * blocks, 64), check = 0, id = 0;
    const uint8_t *payload = image.data + payload_at;
    if (info.keyed) {
        id = petal_hash_key(filter, "petal secret id", 15) & 0xffffffff;
        check = petal_hash_key(filter, "petal secret check", 18);
    }
    assert_int_equal(image.size, payload_at + info.bytes);
    for (unsigned slot = 0; slot < 2; slot++) {
        const struct field fields[] = {
            {"magic", AT_MAGIC, 8, get64(magic)},
            {"version", AT_VERSION, 4, 1},
            {"features", AT_FEATURES, 4, 0},
            {"S", AT_SLOT_BYTES, 4, SLOT},
            {"state", AT_STATE, 4, CLEAN},
            {"sequence", AT_SEQUENCE, 8, slot + 1},
            {"file_bytes", AT_FILE_BYTES, 8, image.size},
            {"scheme", AT_SCHEME, 4, (uint64_t)info.scheme},
            {"hash", AT_HASH, 4, (uint64_t)info.hash},
            {"seed", AT_SEED, 8, info.seed},
            {"check value of the secret", AT_SECRET_CHECK, 8, check},
            {"id of the secret", AT_SECRET_ID, 4, id},
            {"layers", AT_LAYERS, 4, 1},
            {"content id", AT_CONTENT_ID, 8, content_id(&info, check, payload)},
            {"bytes of metadata", AT_METADATA_BYTES, 8, metadata_bytes},
            {"sum of the metadata", AT_METADATA_SUM, 8, XXH3_64bits(metadata, metadata_bytes)},
            {"key type", AT_KEY_TYPE, 4, (uint64_t)info.key_type},
            {"zeros", AT_ZEROS_1, 4, 0},
            {"zeros", AT_ZEROS_1 + 4, 8, 0},
            {"offset of the sums", AT_SUMS_OFFSET, 8, sums_at},
            {"payload_offset", AT_PAYLOAD_OFFSET, 8, payload_at},
            {"origin", AT_ORIGIN, 4, 0},
            {"bytes of origin", AT_ORIGIN_BYTES, 4, 0},
            {"sum of the origin", AT_ORIGIN_SUM, 8, XXH3_64bits(NULL, 0)},
            {"k", AT_HASHES, 4, info.hashes},
            {"lines per key", AT_LINES_PER_KEY, 4, info.lines_per_key},
            {"m", AT_BITS, 8, info.bits},
            {"capacity", AT_CAPACITY, 8, info.capacity},
            {"rate", AT_RATE, 8,
             isnan(info.target_rate) ? NO_RATE : bits_of_double(info.target_rate)},
            {"items", AT_ITEMS, 8, info.items},
            {"bytes of the layer", AT_LAYER_BYTES, 8, info.bytes},
            {"time of the layer", AT_UNTIL_MS, 8, 0},
            {"sum of the slot", AT_SUM, 8, slot_sum(slot_of(image, slot), slot)},
        };
        require_fields(image, slot, fields, sizeof fields / sizeof *fields);
        for (size_t i = AT_ZEROS_4; i < AT_LAYER; i++)
            require(slot_of(image, slot)[i] == 0, "byte %zu", i);
        for (size_t i = AT_ZEROS_3; i < AT_SUM; i++)
            require(slot_of(image, slot)[i] == 0, "byte %zu", i);
    }
    if (metadata_bytes) assert_memory_equal(image.data + AT_METADATA, metadata, metadata_bytes);
    for (uint64_t i = AT_METADATA + metadata_bytes; i < sums_at; i++)
        require(image.data[i] == 0, "byte %llu", (unsigned long long)i);
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t size = info.bytes - i * BLOCK < BLOCK ? info.bytes - i * BLOCK : BLOCK;
        require(get64(image.data + sums_at + 8 * i) ==
                    XXH3_64bits_withSeed(payload + i * BLOCK, size, i),
                "sum of block %llu", (unsigned long long)i);
    }
    for (uint64_t i = sums_at + 8 * blocks; i < payload_at; i++)
        require(image.data[i] == 0, "byte %llu", (unsigned long long)i);
    require_that(info_id, ==, content_id(&info, check, payload));
    free(image.data);
}

static void every_field_is_where_the_specification_has_it(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_options options = options_of(scheme, 5000, 7, 0);
        petal_filter *filter = create(&options);
        require_image(filter); /* without metadata, capacity or rate */
        add_numbers(filter, 0, 321);
        require_image(filter);
        petal_free(filter);
        options = PETAL_OPTIONS_INIT;
        options.scheme = scheme;
        options.capacity = 100000;
        options.rate = 1e-5; /* two lines per key in blocked; several blocks */
        options.seed = 0x0123456789abcdefu;
        options.metadata = "of 13 bytes..";
        options.metadata_bytes = 13;
        filter = create(&options);
        add_numbers(filter, 0, 1000);
        require_image(filter);
        petal_free(filter);
    }
}

static void a_keyed_filter_has_id_and_check_value_of_its_secret(void **state)
{
    (void)state;
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 5000, 7, 1);
    options.secret = secret;
    petal_filter *filter = create(&options);
    require_that(info_of(filter).secret_id, ==,
                 (uint32_t)petal_hash_key(filter, "petal secret id", 15));
    require_image(filter);
    petal_free(filter);
}

static void metadata_of_every_length_leave_sums_and_payload_aligned(void **state)
{
    (void)state;
    uint8_t metadata[200];
    memset(metadata, 0xfe, sizeof metadata);
    for (size_t size = 0; size <= sizeof metadata; size++) {
        petal_options options = options_of(PETAL_SCHEME_CLASSIC, 777, 3, 0);
        options.metadata = metadata;
        options.metadata_bytes = size;
        petal_filter *filter = create(&options);
        petal_add(filter, "k", 1);
        require_image(filter);
        petal_free(filter);
    }
}

/* ---- the worked example ---------------------------------------------------------------------- */

/* Parses a line "    010  0002 0000 ...  words" into an offset and bytes. Returns false for other
 * lines. */
static bool read_dump_line(const char *line, size_t *offset, uint8_t bytes[16])
{
    char digits[33] = "", *end;
    size_t count = 0;
    if (strncmp(line, "    ", 4) != 0) return false;
    *offset = strtoul(line + 4, &end, 16);
    if (end != line + 7 || strncmp(end, "  ", 2) != 0) return false;
    for (const char *at = end + 2; count < 32; at += 5, count += 4) {
        if (strspn(at, "0123456789abcdef") != 4) return false;
        memcpy(digits + count, at, 4);
        if (at[4] != ' ' && at[4] != '\n') return false;
    }
    for (size_t i = 0; i < 16; i++) {
        char pair[3] = {digits[2 * i], digits[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return true;
}

static petal_filter *worked_example(void)
{
    petal_options options = options_of(PETAL_SCHEME_CLASSIC, 11, 2, 0);
    options.seed = 197072;
    petal_filter *filter = create(&options);
    petal_add(filter, "a", 1);
    petal_add(filter, "b", 1);
    return filter;
}

/* If the line contains the name of a golden file, such as "(`growing.petal`)" or
 * "`textbook.patch`,", reads that file into *image. */
static void take_named_file(const char *line, struct bytes *image)
{
    char path[PATH_SIZE];
    const char *end = strstr(line, ".petal`)"), *name = end;
    if (!end) name = end = strstr(line, ".patch`,");
    if (!end) return;
    while (name > line && name[-1] != '`') name--;
    free(image->data);
    snprintf(path, sizeof path, "vectors/petal/%.*s", (int)(end - name) + 6, name);
    *image = read_file(path);
}

static void the_further_examples_of_the_specification_are_golden_files(void **state)
{
    (void)state;
    char line[256];
    uint8_t wanted[16];
    size_t offset, lines = 0;
    struct bytes image = {NULL, 0};
    FILE *file = fopen("docs/format.md", "r");
    require(file != NULL, "cannot read docs/format.md; tests run from the top of the tree");
    while (fgets(line, sizeof line, file)) {
        take_named_file(line, &image);
        if (!image.data || !read_dump_line(line, &offset, wanted)) continue;
        require(offset + 16 <= image.size && memcmp(image.data + offset, wanted, 16) == 0, "%s",
                line);
        lines++;
    }
    fclose(file);
    free(image.data);
    require_that(lines, >=, 20);
}

static void the_worked_example_of_the_specification_is_what_the_library_writes(void **state)
{
    (void)state;
    char line[256];
    uint8_t wanted[16];
    size_t offset, lines = 0;
    petal_filter *filter = worked_example();
    struct bytes image = serialized(filter), covered = new_bytes(image.size);
    FILE *file = fopen("docs/format.md", "r");
    require(file != NULL, "cannot read docs/format.md; tests run from the top of the tree");
    while (fgets(line, sizeof line, file) && !strstr(line, ".petal`)")) {
        if (!read_dump_line(line, &offset, wanted)) continue;
        require(offset + 16 <= image.size && memcmp(image.data + offset, wanted, 16) == 0,
                "line %03zx differs", offset);
        memset(covered.data + offset, 1, 16);
        lines++;
    }
    fclose(file);
    assert_int_equal(image.size, 1152);
    require_that(lines, >=, 11);
    for (size_t i = 0; i < image.size;
         i++) /* the dump omits all-zero lines, and shows slot 1 on a single line */
        require(covered.data[i] || image.data[i] == 0 || (i >= SLOT && i < 2 * SLOT),
                "byte %03zx is not in the example", i);
    free(image.data);
    free(covered.data);
    petal_free(filter);
}

/* ---- files, images and filters are equivalent ------------------------------------------------ */

static void a_saved_file_is_the_serialized_image(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_error error;
        const char *path = temporary("image.petal");
        petal_options options = options_of(scheme, 3 * 8 * BLOCK + 4096, 5, 0);
        options.metadata = "m";
        options.metadata_bytes = 1;
        petal_filter *filter = create(&options);
        add_numbers(filter, 0, 5); /* most bytes are zero, so the file has holes */
        require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
        struct bytes image = serialized(filter), file = read_file(path);
        assert_true(same_bytes(image, file));
        unlink(path);
        free(image.data);
        free(file.data);
        petal_free(filter);
    }
}

static void a_loaded_image_is_the_same_filter_and_gives_the_same_image(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_options options = PETAL_OPTIONS_INIT;
        options.scheme = scheme;
        options.capacity = 3000;
        options.rate = 1e-4;
        options.seed = 5;
        options.metadata = "kept\0too";
        options.metadata_bytes = 8;
        petal_filter *filter = create(&options);
        add_numbers(filter, 0, 2000);
        struct bytes image = serialized(filter);
        petal_filter *loaded = load(image);
        petal_info a = info_of(filter), b = info_of(loaded);
        uint64_t a_id = content_of(filter);
        uint64_t b_id = content_of(loaded);
        assert_true(same_image(filter, loaded));
        require_that(a.capacity, ==, b.capacity);
        require_that(a.target_rate, ==, b.target_rate);
        require_that(a.items, ==, b.items);
        require_that(a.predicted_rate, ==, b.predicted_rate);
        require_that(a_id, ==, b_id);
        require_that(a.seed, ==, b.seed);
        require_numbers(loaded, 0, 2000);
        add_numbers(loaded, 2000, 10);
        assert_int_equal(info_of(loaded).items, 2010);
        petal_free(loaded);
        petal_free(filter);
        free(image.data);
    }
}

static void a_buffer_that_is_too_small_is_refused_and_not_overrun(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = worked_example();
    size_t size = (size_t)petal_serialized_bytes(filter, NULL);
    for (size_t room = 0; room < size; room += room < 16 ? 1 : 101) {
        struct bytes small =
            new_bytes(room); /* exact size: a sanitizer finds writes past the end */
        require_status(PETAL_ERR_ARGUMENT, petal_serialize(filter, NULL, small.data, room, &error),
                       error);
        free(small.data);
    }
    struct bytes larger = new_bytes(size + 100);
    memset(larger.data, 0xee, larger.size);
    require_status(PETAL_OK, petal_serialize(filter, NULL, larger.data, larger.size, &error),
                   error);
    for (size_t i = size; i < larger.size; i++) assert_int_equal(larger.data[i], 0xee);
    free(larger.data);
    petal_free(filter);
}

static void an_image_may_lie_anywhere_in_memory(void **state)
{
    (void)state;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 4096, 5, 1);
    add_numbers(filter, 0, 50);
    struct bytes image = serialized(filter), room = new_bytes(image.size + 64);
    for (size_t shift = 0; shift < 64; shift++) {
        petal_filter *view = NULL;
        petal_error error;
        memcpy(room.data + shift, image.data, image.size);
        require_status(PETAL_OK, petal_view(room.data + shift, image.size, NULL, &view, &error),
                       error);
        require_numbers(view, 0, 50);
        assert_true(same_image(filter, view));
        petal_free(view);
    }
    free(room.data);
    free(image.data);
    petal_free(filter);
}

/* ---- several layers -------------------------------------------------------------------------- */

/* Follows the specification to build the image of a layered filter from one-layer filters. */
static struct bytes image_of_layers(petal_filter *const *filters, uint32_t count)
{
    struct bytes parts[64];
    uint64_t slot_bytes = 512, blocks = 0, number = 0, end;
    while (slot_bytes < AT_LAYER + LAYER_ENTRY * (uint64_t)count + 8) slot_bytes *= 2;
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = serialized(filters[i]);
        blocks += (get64(parts[i].data + AT_LAYER_BYTES) + BLOCK - 1) / BLOCK;
    }
    uint64_t sums_at = 2 * slot_bytes, payload_at = round_up(sums_at + 8 * blocks, 64);
    end = payload_at;
    for (uint32_t i = 0; i < count; i++)
        end = round_up(end + get64(parts[i].data + AT_LAYER_BYTES), 64);
    struct bytes image = new_bytes((size_t)end);
    const uint8_t *first = parts[0].data;
    uint8_t start[24];
    memcpy(start, first + AT_SCHEME, 16); /* scheme, hash, seed */
    memcpy(start + 16, first + AT_SECRET_CHECK, 8);
    uint64_t id = XXH3_64bits(start, 24);
    for (uint32_t i = 0; i < count; i++)
        id = XXH3_64bits_withSeed(parts[i].data + AT_LAYER, 16, id); /* k, lines, m */
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = get64(parts[i].data + AT_LAYER_BYTES), at = payload_at;
        for (uint32_t j = 0; j < i; j++)
            at = round_up(at + get64(parts[j].data + AT_LAYER_BYTES), 64);
        memcpy(image.data + at, payload_of(parts[i]), size);
        for (uint64_t from = 0; from < size; from += BLOCK, number++) {
            uint64_t block = size - from < BLOCK ? size - from : BLOCK;
            put64(image.data + sums_at + 8 * number,
                  XXH3_64bits_withSeed(image.data + at + from, block, number));
            id = XXH3_64bits_withSeed(image.data + sums_at + 8 * number, 8, id);
        }
    }
    for (unsigned slot = 0; slot < 2; slot++) {
        uint8_t *to = image.data + slot * slot_bytes;
        memcpy(to, slot_of(parts[0], slot), AT_LAYER);
        put32(to + AT_SLOT_BYTES, (uint32_t)slot_bytes);
        put64(to + AT_FILE_BYTES, end);
        put32(to + AT_LAYERS, count);
        put64(to + AT_CONTENT_ID, id);
        put64(to + AT_SUMS_OFFSET, sums_at);
        put64(to + AT_PAYLOAD_OFFSET, payload_at);
        for (uint32_t i = 0; i < count; i++)
            memcpy(to + AT_LAYER + i * LAYER_ENTRY, parts[i].data + AT_LAYER, LAYER_ENTRY);
        put64(to + slot_bytes - 8, XXH3_64bits_withSeed(to, slot_bytes - 8, slot));
    }
    for (uint32_t i = 0; i < count; i++) free(parts[i].data);
    return image;
}

static void a_file_of_several_layers_has_the_keys_of_all(void **state)
{
    (void)state;
    static const uint32_t counts[] = {2,  4,  5,
                                      13, 14, 64}; /* slots of 512, 512, 1024, .. 4096 bytes */
    FOR_NATIVE_SCHEMES(scheme)
    {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            petal_filter *filters[64], *loaded = NULL;
            petal_error error;
            petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
            options.flags = PETAL_OPEN_VERIFY;
            for (uint32_t i = 0; i < counts[c]; i++) {
                filters[i] = make(scheme, 4096 + 512 * i, 4 + i % 5, 0);
                add_numbers(filters[i], 100 * (uint64_t)i, 100);
            }
            struct bytes image = image_of_layers(filters, counts[c]);
            require_status(PETAL_OK, petal_load(image.data, image.size, &options, &loaded, &error),
                           error);
            petal_info info = info_of(loaded);
            require_numbers(loaded, 0, 100 * (uint64_t)counts[c]);
            require_that(info.layers, ==, counts[c]);
            require_that(info.items, ==, 100 * counts[c]);
            assert_true(isnan(petal_predict_rate(&info, 100)));
            struct bytes again = serialized(loaded);
            require(same_bytes(image, again), "%u layers: not the same image again", counts[c]);
            petal_free(loaded);
            for (uint32_t i = 0; i < counts[c]; i++) petal_free(filters[i]);
            free(image.data);
            free(again.data);
        }
    }
}

static void a_filter_of_layers_counts_and_estimates_over_all_of_them(void **state)
{
    (void)state;
    petal_filter *filters[2] = {make(PETAL_SCHEME_BLOCKED, 51200, 5, 1),
                                make(PETAL_SCHEME_BLOCKED, 102400, 6, 1)};
    add_numbers(filters[0], 0, 4000);
    add_numbers(filters[1], 4000, 8000);
    petal_info a = info_of(filters[0]), b = info_of(filters[1]);
    petal_stats a_stats = stats_of(filters[0]);
    petal_stats b_stats = stats_of(filters[1]);
    struct bytes image = image_of_layers(filters, 2);
    petal_filter *both = load(image);
    petal_info info = info_of(both);
    petal_stats info_stats = stats_of(both);
    require_that(info.bits, ==, a.bits + b.bits);
    require_that(info.bytes, ==, a.bytes + b.bytes);
    require_that(info_stats.bits_set, ==, a_stats.bits_set + b_stats.bits_set);
    require_that(info.hashes, ==, 6);
    double items = a_stats.estimated_items.value + b_stats.estimated_items.value;
    require_that(fabs(info_stats.estimated_items.value - items), <, 1e-6 * items);
    double rate = 1 - (1 - a_stats.estimated_rate) * (1 - b_stats.estimated_rate);
    require_that(fabs(info_stats.estimated_rate - rate), <, 1e-9);
    require_that(info_stats.estimated_items.low, <, 12000);
    require_that(info_stats.estimated_items.high, >, 12000);
    petal_free(both);
    petal_free(filters[0]);
    petal_free(filters[1]);
    free(image.data);
}

static void new_keys_go_into_the_last_layer_and_old_ones_are_seen(void **state)
{
    (void)state;
    petal_filter *filters[2] = {make(PETAL_SCHEME_CLASSIC, 1 << 16, 7, 0),
                                make(PETAL_SCHEME_CLASSIC, 1 << 17, 8, 0)};
    add_numbers(filters[0], 0, 500);
    struct bytes image = image_of_layers(filters, 2);
    petal_filter *both = load(image);
    for (int64_t i = 0; i < 500; i++)
        require(petal_add_i64(both, i) == PETAL_SEEN, "key %lld", (long long)i);
    for (int64_t i = 500; i < 900; i++)
        require(petal_add_i64(both, i) == PETAL_OK, "key %lld", (long long)i);
    uint8_t bytes[8], was_new[2];
    petal_key keys[2] = {{bytes, 8}, {"x", 1}};
    size_t count;
    petal_encode_i64(3, bytes);
    assert_int_equal(add_key_batch(both, keys, 2, was_new, &count), PETAL_OK);
    require_that(was_new[0], ==, 0);
    require_that(was_new[1], ==, 1);
    require_that(count, ==, 1);
    assert_int_equal(contains_keys(both, keys, 2, was_new), 2);
    add_numbers(filters[1], 500, 400);
    petal_add(filters[1], "x", 1);
    struct bytes wanted = image_of_layers(filters, 2);
    petal_filter *same = load(wanted);
    require_that(content_of(both), ==, content_of(same));
    petal_free(both);
    petal_free(same);
    petal_free(filters[0]);
    petal_free(filters[1]);
    free(image.data);
    free(wanted.data);
}

static void layers_are_neither_merged_nor_intersected(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filters[2] = {make(PETAL_SCHEME_BLOCKED, 8192, 5, 1),
                                make(PETAL_SCHEME_BLOCKED, 16384, 6, 1)};
    struct bytes empty = image_of_layers(filters, 2);
    add_numbers(filters[0], 0, 50);
    add_numbers(filters[1], 50, 50);
    struct bytes filled = image_of_layers(filters, 2);
    petal_filter *a = load(empty), *b = load(filled), *copy = clone_of(b);
    assert_true(same_image(b, copy));
    require_status(PETAL_ERR_UNSUPPORTED, petal_merge(a, b, &error), error);
    require_that(info_of(a).items, ==, 0);
    require_that(stats_of(a).bits_set, ==, 0);
    require_status(PETAL_ERR_MISMATCH, petal_merge(a, filters[1], &error), error);
    require(strstr(error.message, "layers (2 against 1)"), "%s", error.message);
    require_status(PETAL_ERR_UNSUPPORTED, petal_intersect(a, b, &error), error);
    require_status(PETAL_OK, petal_clear(copy, &error), error);
    require_that(stats_of(copy).bits_set, ==, 0);
    require_that(info_of(copy).layers, ==, 2);
    petal_free(a);
    petal_free(b);
    petal_free(copy);
    petal_free(filters[0]);
    petal_free(filters[1]);
    free(empty.data);
    free(filled.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_where_the_specification_has_it),
        cmocka_unit_test(a_keyed_filter_has_id_and_check_value_of_its_secret),
        cmocka_unit_test(metadata_of_every_length_leave_sums_and_payload_aligned),
        cmocka_unit_test(the_worked_example_of_the_specification_is_what_the_library_writes),
        cmocka_unit_test(the_further_examples_of_the_specification_are_golden_files),
        cmocka_unit_test(a_saved_file_is_the_serialized_image),
        cmocka_unit_test(a_loaded_image_is_the_same_filter_and_gives_the_same_image),
        cmocka_unit_test(a_buffer_that_is_too_small_is_refused_and_not_overrun),
        cmocka_unit_test(an_image_may_lie_anywhere_in_memory),
        cmocka_unit_test(a_file_of_several_layers_has_the_keys_of_all),
        cmocka_unit_test(a_filter_of_layers_counts_and_estimates_over_all_of_them),
        cmocka_unit_test(new_keys_go_into_the_last_layer_and_old_ones_are_seen),
        cmocka_unit_test(layers_are_neither_merged_nor_intersected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
