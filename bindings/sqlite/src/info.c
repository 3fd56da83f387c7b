/* info.c - petal_info(filter [, format]): a JSON object with the same names as in `petal info
 * --json`. Unknown values are null. */
#include "glue.h"

#include <math.h>
#include <string.h>

/* Values are numbers and the library's own short names: nothing needs to be escaped. */
struct object {
    sqlite3_str *text;
    bool begun;
};

static void put_name(struct object *object, const char *name)
{
    sqlite3_str_appendf(object->text, "%s\"%s\":", object->begun ? "," : "{", name);
    object->begun = true;
}

static void put_text(struct object *object, const char *name, const char *value)
{
    put_name(object, name);
    sqlite3_str_appendf(object->text, value ? "\"%s\"" : "null", value);
}

static void put_count(struct object *object, const char *name, uint64_t value, bool known)
{
    put_name(object, name);
    if (known)
        sqlite3_str_appendf(object->text, "%llu", (unsigned long long)value);
    else
        sqlite3_str_appendall(object->text, "null");
}

/* Writes 17 digits, so that every double is read back exactly. */
static void put_number(struct object *object, const char *name, double value)
{
    put_name(object, name);
    if (isfinite(value))
        sqlite3_str_appendf(object->text, "%!.17g", value);
    else
        sqlite3_str_appendall(object->text, "null");
}

static void put_bool(struct object *object, const char *name, bool value)
{
    put_name(object, name);
    sqlite3_str_appendall(object->text, value ? "true" : "false");
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

static void put_content_id(struct object *object, uint64_t content_id)
{
    put_name(object, "content_id");
    sqlite3_str_appendf(object->text, "\"%016llx\"", (unsigned long long)content_id);
}

static void result_info(sqlite3_context *context, const struct source *source,
                        const petal_stats *stats, uint64_t content_id)
{
    petal_info info = PETAL_INFO_INIT;
    petal_file_info file = PETAL_FILE_INFO_INIT;
    petal_get_info(source->filter, PETAL_ALL_LAYERS, &info, NULL);
    petal_get_file_info(source->filter, &file, NULL);
    struct object object = {sqlite3_str_new(sqlite3_context_db_handle(context)), false};
    put_info(&object, &info, file.format_name ? file.format_name : "petal");
    put_stats(&object, &info, stats);
    put_count(&object, "seed", info.seed, true);
    put_content_id(&object, content_id);
    sqlite3_str_appendchar(object.text, 1, '}');
    int status = sqlite3_str_errcode(object.text);
    char *text = sqlite3_str_finish(object.text);
    if (status == SQLITE_OK)
        sqlite3_result_text(context, text, -1, sqlite3_free);
    else
        sqlite3_result_error_code(context, status);
}

void sql_info(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct source source;
    petal_error error;
    petal_stats stats = PETAL_STATS_INIT;
    uint64_t content_id = 0;
    for (int i = 0; i < count; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL) return;
    if (!source_open(context, values[0], count > 1 ? values[1] : NULL, &source)) return;
    if (petal_get_stats(source.filter, PETAL_ALL_LAYERS, &stats, &error) == PETAL_OK &&
        petal_content_id(source.filter, &content_id, &error) == PETAL_OK)
        result_info(context, &source, &stats, content_id);
    else
        fail_with(context, source.path, &error);
    source_close(&source);
}
