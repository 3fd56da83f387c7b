/* info.c - implements petal_info(filter [, format]), which returns a JSON object. */
#include "glue.h"

void sql_info(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct source source;
    petal_error error;
    char text[DESCRIPTION_ROOM];
    for (int i = 0; i < count; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL) return;
    if (!source_open(context, values[0], count > 1 ? values[1] : NULL, &source)) return;
    if (describe(source.filter, text, &error))
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    else
        fail_with(context, source.path, &error);
    source_close(&source);
}
