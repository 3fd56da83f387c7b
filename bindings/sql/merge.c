/* merge.c - computes the union of filters for the aggregate petal_merge(), and checks that filters
 * to be merged have keys of the same type. */
#include "sql.h"

#include <stdio.h>

static uint32_t key_type_in(const petal_filter *filter)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    return info.key_type;
}

bool key_types_agree(const petal_filter *filter, const petal_filter *other, petal_error *error)
{
    uint32_t a = key_type_in(filter), b = key_type_in(other);
    if (!a || !b || a == b) return true;
    error->status = PETAL_ERR_MISMATCH;
    error->offset = PETAL_NO_OFFSET;
    snprintf(error->message, sizeof error->message,
             "filters of %s keys and of %s keys can't be merged", key_type_name(a),
             key_type_name(b));
    return false;
}

/* Copies the first filter. All later filters are merged into this copy. */
static bool copy_first(struct merged *merged, const petal_filter *filter, petal_error *error)
{
    petal_file_info file = PETAL_FILE_INFO_INIT;
    petal_get_file_info(filter, &file, NULL);
    if (petal_clone(filter, &merged->filter, error) != PETAL_OK) return false;
    merged->format = file.format_name;
    return true;
}

bool merged_add(struct merged *merged, const petal_filter *filter, petal_error *error)
{
    if (!merged->filter) return copy_first(merged, filter, error);
    return key_types_agree(merged->filter, filter, error) &&
           petal_merge(merged->filter, filter, error) == PETAL_OK;
}
