/* describe.c - implements petal_info(filter [, format]), which returns a JSON object with the same
 * member names as `petal info --json`. Unknown values are null. */
#include "sql.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* All values are numbers or short names from the library, so none of them needs escaping, and the
 * whole object fits in DESCRIPTION_ROOM bytes. */
struct object {
    char *text;
    size_t used;
};

static void put(struct object *object, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int size =
        vsnprintf(object->text + object->used, DESCRIPTION_ROOM - object->used, format, values);
    va_end(values);
    object->used += (size_t)size;
    if (object->used >= DESCRIPTION_ROOM) object->used = DESCRIPTION_ROOM - 1;
}

static void put_name(struct object *object, const char *name)
{
    put(object, "%s\"%s\":", object->used > 0 ? "," : "{", name);
}

static void put_text(struct object *object, const char *name, const char *value)
{
    put_name(object, name);
    if (value)
        put(object, "\"%s\"", value);
    else
        put(object, "null");
}

static void put_count(struct object *object, const char *name, uint64_t value, bool known)
{
    put_name(object, name);
    if (known)
        put(object, "%llu", (unsigned long long)value);
    else
        put(object, "null");
}

/* The host may have set a locale whose decimal separator is not a point and may be several bytes
 * long. */
static void put_digits(struct object *object, const char *digits)
{
    static const char others[] = "0123456789+-e";
    size_t before = strspn(digits, others), point = strcspn(digits + before, others);
    put(object, "%.*s%s%s", (int)before, digits, point > 0 ? "." : "", digits + before + point);
}

/* Writes 17 significant digits, which is enough to read every double back exactly. */
static void put_number(struct object *object, const char *name, double value)
{
    char digits[48];
    put_name(object, name);
    snprintf(digits, sizeof digits, "%.17g", value);
    if (isfinite(value))
        put_digits(object, digits);
    else
        put(object, "null");
}

static void put_bool(struct object *object, const char *name, bool value)
{
    put_name(object, name);
    put(object, value ? "true" : "false");
}

static void put_info(struct object *object, const petal_info *info, const char *format)
{
    put_text(object, "format", format);
    put_text(object, "origin", info->format_name);
    put_text(object, "scheme", info->scheme_name);
    put_text(object, "hash", info->hash_name);
    put_count(object, "bits", info->bits, true);
    put_count(object, "hashes", info->hashes, true);
    put_count(object, "lines_per_key", info->lines_per_key, info->lines_per_key != 0);
    put_count(object, "layers", info->layers, true);
    put_count(object, "counter_bits", info->counter_bits, info->counter_bits != 0);
    put_count(object, "bytes", info->bytes, true);
    put_text(object, "key_type", key_type_name(info->key_type));
    put_count(object, "capacity", info->capacity, info->capacity != 0);
    put_number(object, "target_rate", info->target_rate);
    put_count(object, "items", info->items, info->items != 0 || strcmp(format, "petal") == 0);
}

static void put_stats(struct object *object, const petal_info *info, const petal_stats *stats)
{
    put_count(object, "bits_set", stats->bits_set, true);
    put_number(object, "fill", stats->fill);
    put_bool(object, "saturated", stats->saturated);
    put_count(object, "saturated_counters", stats->saturated_counters, info->counter_bits != 0);
    put_bool(object, "overfull", stats->overfull);
    put_number(object, "estimated_items", stats->estimated_items.value);
    put_number(object, "estimated_items_low", stats->estimated_items.low);
    put_number(object, "estimated_items_high", stats->estimated_items.high);
    put_number(object, "estimated_rate", stats->estimated_rate);
    put_number(object, "predicted_rate", info->predicted_rate);
}

bool describe(const petal_filter *filter, char text[DESCRIPTION_ROOM], petal_error *error)
{
    struct object object = {NULL, 0};
    petal_info info = PETAL_INFO_INIT;
    petal_file_info file = PETAL_FILE_INFO_INIT;
    petal_stats stats = PETAL_STATS_INIT;
    uint64_t content_id;
    if (petal_get_stats(filter, PETAL_ALL_LAYERS, &stats, error) != PETAL_OK ||
        petal_content_id(filter, &content_id, error) != PETAL_OK)
        return false;
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    petal_get_file_info(filter, &file, NULL);
    object.text = text;
    put_info(&object, &info, file.format_name ? file.format_name : "petal");
    put_stats(&object, &info, &stats);
    put_count(&object, "seed", info.seed, true);
    put_name(&object, "content_id");
    put(&object, "\"%016llx\"}", (unsigned long long)content_id);
    return true;
}
