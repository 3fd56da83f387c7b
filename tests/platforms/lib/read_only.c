/* read_only.c - proves that a read-only library can open and query a filter. A call that would
 * create or change a filter must report that the build leaves it out. Results that require the rate
 * model must be NAN. */
#include <petal/petal_build.h>
#include <petal/petal_inline.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static int accepted;

static void refused(const char *what, petal_status status, const petal_error *error)
{
    bool is_refused =
        status == PETAL_ERR_UNSUPPORTED && strstr(error->message, "not in this build");
    printf("%s: %s: %s\n", what, petal_status_name(status), error->message);
    accepted += !is_refused;
}

int main(int count, char **arguments)
{
    petal_filter *filter = NULL, *made = NULL;
    petal_builder *builder = NULL;
    petal_static_builder *sets = NULL;
    petal_error error = {0};
    petal_options options = PETAL_OPTIONS_INIT;
    petal_info info = PETAL_INFO_INIT;
    petal_batch batch = PETAL_BATCH_INIT;
    petal_inline hot = PETAL_INLINE_INIT;
    uint32_t workers = 1;
    int64_t number = 1;
    options.capacity = 1000;
    options.rate = 0.01;
    batch.layout = PETAL_LAYOUT_I64;
    batch.data = &number;
    batch.count = 1;
    if (count < 2 || petal_open(arguments[1], NULL, &filter, &error) != PETAL_OK) return 1;
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    printf("rates %g %g\n", info.predicted_rate, petal_predict_rate(&info, 1000));
    if (!isnan(info.predicted_rate) || !isnan(petal_predict_rate(&info, 1000))) return 1;
    refused("plan", petal_plan(&options, &info, NULL, &error), &error);
    refused("create", petal_create(&options, &made, &error), &error);
    refused("create like", petal_create_like(filter, &made, &error), &error);
    refused("add batch", petal_add_batch(filter, &batch, NULL, NULL, &error), &error);
    refused("merge", petal_merge(filter, filter, &error), &error);
    refused("share", petal_allow_threads(filter, &error), &error);
    refused("builder", petal_builder_create(filter, &workers, &builder, &error), &error);
    refused("static", petal_static_create(&options, 1, &sets, &error), &error);
    refused("spill", petal_static_spill(sets, ".", 1 << 20, &error), &error);
    refused("inline", petal_inline_begin_adding(filter, &hot, &error), &error);
    petal_status one = petal_add(filter, "b", 1), i64 = petal_add_i64(filter, 1);
    petal_free(filter);
    return accepted || made || builder || sets || one != PETAL_ERR_UNSUPPORTED || i64 != one;
}
