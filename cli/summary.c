/* summary.c - see summary.h. */
#include "summary.h"

#include "numbers.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>

bool wants_talk(const struct args *args)
{
    return args->verbose || is_terminal(stderr);
}

petal_info info_of(const petal_filter *filter)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(filter, &info, NULL);
    return info;
}

/* By the bits, since `items` counts repeats. Past the interval and past the rate: neither is chance. */
void warn_if_overfilled(const char *path, const petal_info *info)
{
    double asked = isnan(info->target_rate) ? info->predicted_rate : info->target_rate;
    if (info->capacity == 0 || info->estimated_items_low <= (double)info->capacity || info->estimated_rate <= asked)
        return;
    if (info->saturated)
        remark(path, "every bit is set, so it says probably to everything; plan a larger one");
    else
        remark(path, "holds %s keys, planned for %s: rate now %s, asked %s; plan a larger one",
               rounded(info->estimated_items).s, rounded((double)info->capacity).s,
               rate_text(info->estimated_rate, 2).s, asked_rate(asked).s);
}

void say_what_is(const char *path, const petal_info *info, const struct args *args)
{
    if (!wants_talk(args)) return;
    remark(path, "%s key%s added, %s bytes, %s, k %" PRIu32 ", %s false positives now", grouped(info->items).s,
           plural(info->items), grouped(info->bytes).s, info->scheme_name, info->hashes,
           rate_text(info->estimated_rate, 3).s);
}

bool add_keys(struct key_reader *reader, petal_filter *filter, const char *path)
{
    struct key_batch batch;
    while (keys_next(reader, &batch)) {
        petal_status status = petal_add_many(filter, batch.keys, batch.count, NULL, NULL);
        if (status < 0) return complain(path, "cannot be written: %s", petal_status_name(status));
    }
    return !reader->failed;
}
