/* contains.c - implements petal_contains(filter, key [, format]), which returns 1 for "probably"
 * and 0 for "certainly not". */
#include "glue.h"

/* If the key's block is damaged, the filter answers "probably" and records the failure. */
static bool is_damaged(const struct source *source, petal_error *error)
{
    return source->view && petal_last_error(source->filter, error) == PETAL_ERR_DAMAGED;
}

void sql_contains(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct source source;
    struct key key;
    petal_error error;
    for (int i = 0; i < count; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL) return; /* NULL */
    if (!source_open(context, values[0], count > 2 ? values[2] : NULL, &source)) return;
    if (key_read(context, values[1], source.key_type, &key)) {
        bool found = petal_contains(source.filter, key.data, key.size);
        key_free(&key);
        if (found && is_damaged(&source, &error))
            fail_with(context, NULL, &error);
        else
            sqlite3_result_int(context, found);
    }
    source_close(&source);
}
