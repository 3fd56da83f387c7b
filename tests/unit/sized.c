/* sized.c - proves that struct_size works as promised: programs built against an older or a newer
 * header keep working, and the library never writes past the end of their structs. */
#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define OLD_OPTIONS offsetof(petal_options, growth) /* a header from before growing filters */
#define OLD_INFO offsetof(petal_info, seed)

/* A struct from a later header: today's struct, followed by fields that this library doesn't
 * know. */
struct longer_options {
    petal_options known;
    uint64_t later[4];
};
struct longer_info {
    petal_info known;
    uint64_t later[4];
};

static petal_options sample(void)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.capacity = 1000;
    options.rate = 0.01;
    options.seed = 5;
    return options;
}

static void fields_that_an_older_header_lacks_are_not_read(void **state)
{
    (void)state;
    petal_options options = sample();
    petal_error error;
    petal_filter *older = NULL, *ours = create(&options);
    memset((uint8_t *)&options + OLD_OPTIONS, 0xee, sizeof options - OLD_OPTIONS);
    options.struct_size = OLD_OPTIONS;
    require_status(PETAL_OK, petal_create(&options, &older, &error), error);
    assert_int_equal(content_of(older), content_of(ours));
    petal_free(older);
    petal_free(ours);
}

static void a_longer_struct_is_refused_only_if_unknown_fields_are_set(void **state)
{
    (void)state;
    struct longer_options options = {sample(), {0, 0, 0, 0}};
    petal_error error;
    petal_filter *filter = NULL;
    options.known.struct_size = sizeof options;
    require_status(PETAL_OK, petal_create(&options.known, &filter, &error), error);
    petal_free(filter);
    options.later[2] = 1;
    require_status(PETAL_ERR_ARGUMENT, petal_create(&options.known, &filter, &error), error);
    require(filter == NULL && strstr(error.message, "newer library"), "%s", error.message);
}

static void results_are_written_as_far_as_there_is_room(void **state)
{
    (void)state;
    petal_options options = sample();
    petal_filter *filter = create(&options);
    petal_info all = info_of(filter), part = PETAL_INFO_INIT;
    struct longer_info more = {PETAL_INFO_INIT, {1, 2, 3, 4}};
    petal_error error;
    memset((uint8_t *)&part + OLD_INFO, 0xee, sizeof part - OLD_INFO);
    part.struct_size = OLD_INFO;
    require_status(PETAL_OK, petal_get_info(filter, 0, &part, &error), error);
    require_that(part.struct_size, ==, OLD_INFO);
    require_that(part.bits, ==, all.bits);
    require_that(part.capacity, ==, all.capacity);
    for (size_t i = OLD_INFO; i < sizeof part; i++) assert_int_equal(((uint8_t *)&part)[i], 0xee);

    more.known.struct_size = sizeof more;
    require_status(PETAL_OK, petal_get_info(filter, PETAL_ALL_LAYERS, &more.known, &error), error);
    require_that(more.known.struct_size, ==, sizeof more);
    require_that(more.known.seed, ==, 5);
    for (size_t i = 0; i < COUNT(more.later); i++) assert_int_equal(more.later[i], 0);
    petal_free(filter);
}

static void memory_that_nobody_initialised_is_refused_by_every_call(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 7, 5000, UINT32_MAX};
    petal_options good = sample();
    petal_info sound = PETAL_INFO_INIT;
    petal_filter *filter = create(&good), *other = NULL;
    struct bytes image = serialized(filter);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        petal_options options = sample();
        petal_open_options opening = PETAL_OPEN_OPTIONS_INIT;
        petal_info info = PETAL_INFO_INIT;
        petal_layers_info layers = PETAL_LAYERS_INFO_INIT;
        petal_file_info file = PETAL_FILE_INFO_INIT;
        petal_stats stats = PETAL_STATS_INIT;
        petal_comparison comparison = PETAL_COMPARISON_INIT;
        petal_format_info format = PETAL_FORMAT_INFO_INIT;
        petal_error error;
        options.struct_size = opening.struct_size = info.struct_size = sizes[i];
        stats.struct_size = comparison.struct_size = format.struct_size = sizes[i];
        layers.struct_size = file.struct_size = sizes[i];
        require_status(PETAL_ERR_ARGUMENT, petal_create(&options, &other, &error), error);
        require_status(PETAL_ERR_ARGUMENT, petal_get_layers_info(filter, 0, &layers, &error),
                       error);
        require_status(PETAL_ERR_ARGUMENT, petal_get_file_info(filter, &file, &error), error);
        require_status(PETAL_ERR_ARGUMENT, petal_plan(&good, &sound, &layers, &error), error);
        require_status(PETAL_ERR_ARGUMENT, petal_plan(&options, &info, NULL, &error), error);
        require_status(PETAL_ERR_ARGUMENT,
                       petal_load(image.data, image.size, &opening, &other, &error), error);
        require_status(PETAL_ERR_ARGUMENT, petal_get_info(filter, 0, &info, &error), error);
        require_status(PETAL_ERR_ARGUMENT, petal_get_stats(filter, 0, &stats, &error), error);
        require_status(PETAL_ERR_ARGUMENT, petal_compare(filter, filter, &comparison, &error),
                       error);
        assert_false(petal_format_at(0, &format));
        assert_true(isnan(petal_predict_rate(&info, 1)));
    }
    free(image.data);
    petal_free(filter);
}

/* A later version would read padding at the end as a field. */
#define ENDS_WITH(type, field) \
    assert_int_equal(offsetof(type, field) + sizeof(((type *)NULL)->field), sizeof(type))

static void structs_end_with_their_last_field(void **state)
{
    (void)state;
    ENDS_WITH(petal_options, reserved2);
    ENDS_WITH(petal_open_options, reserved);
    ENDS_WITH(petal_save_options, format);
    ENDS_WITH(petal_info, kernel_name);
    ENDS_WITH(petal_layers_info, latest_ms);
    ENDS_WITH(petal_file_info, format_name);
    ENDS_WITH(petal_stats, estimated_rate);
    ENDS_WITH(petal_comparison, containment_b_in_a);
    ENDS_WITH(petal_format_info, keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_that_an_older_header_lacks_are_not_read),
        cmocka_unit_test(a_longer_struct_is_refused_only_if_unknown_fields_are_set),
        cmocka_unit_test(results_are_written_as_far_as_there_is_room),
        cmocka_unit_test(memory_that_nobody_initialised_is_refused_by_every_call),
        cmocka_unit_test(structs_end_with_their_last_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
