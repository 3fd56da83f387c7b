/* older.c - a program that is compiled with an older petal.h (in old/), whose structs are shorter.
 * If NEWER is defined, the program is compiled as if with a later petal.h, whose structs are
 * longer. Both programs must work with the current library. */
#include "expect.h"

#include <petal/petal.h>
#include <string.h>

#ifdef NEWER
/* A struct followed by fields that the current library doesn't know. */
#define GROWN(type) \
    struct { \
        type known; \
        uint64_t later[3]; \
    }
#else
/* A struct followed by bytes that belong to the program and must not change. */
#define GROWN(type) \
    struct { \
        type known; \
        uint64_t guard[3]; \
    }
#endif

#define BEGIN(grown, type) \
    memset(&(grown), 0x5a, sizeof(grown)); \
    memset(&(grown), 0, IS_NEWER ? sizeof(grown) : sizeof(type)); \
    (grown).known.struct_size = (uint32_t)(IS_NEWER ? sizeof(grown) : sizeof(type))

#ifdef NEWER
#define IS_NEWER 1
#else
#define IS_NEWER 0
#endif

/* Checks that the bytes after the struct are unchanged. */
#define expect_kept(grown, type) \
    do { \
        const unsigned char *at = (const unsigned char *)&(grown) + sizeof(type); \
        for (size_t i = 0; i < sizeof(grown) - sizeof(type); i++) \
            expect(at[i] == (IS_NEWER ? 0 : 0x5a)); \
    } while (0)

int main(int argc, char **argv)
{
    GROWN(petal_options) options;
    GROWN(petal_save_options) saving;
    GROWN(petal_open_options) opening;
    GROWN(petal_info) info, plan;
    GROWN(petal_layers_info) layers;
    GROWN(petal_file_info) file;
    GROWN(petal_comparison) comparison;
    GROWN(petal_format_info) format;
    GROWN(petal_stats) stats;
    GROWN(petal_batch) batch;
    GROWN(petal_batch_outcome) outcome;
    petal_filter *filter = NULL, *again = NULL;
    petal_error error;
    int64_t numbers[100];
    expect(argc == 2);
    for (int i = 0; i < 100; i++) numbers[i] = i;

    BEGIN(options, petal_options);
    options.known.capacity = 1000;
    options.known.rate = 0.01;
    expect(petal_create((const petal_options *)&options, &filter, &error) == PETAL_OK);
    expect_kept(options, petal_options);

    BEGIN(batch, petal_batch);
    BEGIN(outcome, petal_batch_outcome);
    batch.known.layout = PETAL_LAYOUT_I64;
    batch.known.data = numbers;
    batch.known.count = 100;
    expect(petal_add_batch(filter, (const petal_batch *)&batch, NULL,
                           (petal_batch_outcome *)&outcome, &error) == PETAL_OK);
    expect(outcome.known.done == 100);
    expect_kept(outcome, petal_batch_outcome);

    BEGIN(saving, petal_save_options);
    expect(petal_save(filter, argv[1], (const petal_save_options *)&saving, &error) == PETAL_OK);
    expect_kept(saving, petal_save_options);
    saving.known.flags = PETAL_SAVE_NO_REPLACE;
    expect(petal_save(filter, argv[1], (const petal_save_options *)&saving, &error) ==
           PETAL_ERR_EXISTS);
#ifdef NEWER
    saving.later[0] = 1; /* an option unknown to this library */
    expect(petal_save(filter, argv[1], (const petal_save_options *)&saving, &error) ==
           PETAL_ERR_ARGUMENT);
#endif

    BEGIN(opening, petal_open_options);
    opening.known.flags = PETAL_OPEN_LOAD;
    expect(petal_open(argv[1], (const petal_open_options *)&opening, &again, &error) == PETAL_OK);

    BEGIN(info, petal_info);
    expect(petal_get_info(again, PETAL_ALL_LAYERS, (petal_info *)&info, &error) == PETAL_OK);
    expect(info.known.capacity == 1000 && info.known.items == 100);
    expect(info.known.struct_size == (IS_NEWER ? sizeof info : sizeof(petal_info)));
    expect_kept(info, petal_info);
    expect(petal_predict_rate((const petal_info *)&info, 1000) == info.known.predicted_rate);

    BEGIN(plan, petal_info);
    BEGIN(layers, petal_layers_info);
    expect(petal_plan((const petal_options *)&options, (petal_info *)&plan,
                      (petal_layers_info *)&layers, &error) == PETAL_OK);
    expect(plan.known.bits == info.known.bits && layers.known.growth_step == 0);
    expect_kept(plan, petal_info);
    expect_kept(layers, petal_layers_info);

    BEGIN(file, petal_file_info);
    expect(petal_get_file_info(again, (petal_file_info *)&file, &error) == PETAL_OK);
    expect(!file.known.live && file.known.unchecked_blocks == 0);
    expect_kept(file, petal_file_info);

    BEGIN(comparison, petal_comparison);
    expect(petal_compare(again, filter, (petal_comparison *)&comparison, &error) == PETAL_OK);
    expect(comparison.known.jaccard.value == 1);
    expect_kept(comparison, petal_comparison);

    BEGIN(format, petal_format_info);
    expect(petal_format_at(0, (petal_format_info *)&format));
    expect(format.known.name != NULL);
    expect_kept(format, petal_format_info);

    BEGIN(stats, petal_stats);
    expect(petal_get_stats(again, PETAL_ALL_LAYERS, (petal_stats *)&stats, &error) == PETAL_OK);
    expect(stats.known.bits_set > 0 && stats.known.fill > 0);
    expect_kept(stats, petal_stats);
    petal_free(again);
    petal_free(filter);

#ifdef NEWER
    options.later[2] = 1; /* an option unknown to this library */
    expect(petal_create((const petal_options *)&options, &filter, &error) == PETAL_ERR_ARGUMENT);
#endif
    return 0;
}
