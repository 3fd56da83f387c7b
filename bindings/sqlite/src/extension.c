/* extension.c - the entry point, which SQLite finds by the file name, petal.so.
 *
 * Flags. petal_contains(), petal_info() and petal_merge() open files that SQL names:
 *   - they are not SQLITE_INNOCUOUS: in a database whose schema is not trusted (PRAGMA
 *     trusted_schema=OFF), SQLite refuses them in views and triggers;
 *   - they are not SQLITE_DETERMINISTIC: a file may change, so they must not be in an index, a
 *     generated column or a partial index;
 *   - they are not SQLITE_DIRECTONLY: a trigger or a view may use a filter that is stored in the
 *     database.
 * petal_build() depends only on its arguments, so it is both innocuous and deterministic. */
#define PETAL_SQLITE_ENTRY
#include "glue.h"

SQLITE_EXTENSION_INIT1

struct function {
    const char *name;
    int arguments, flags;
    void (*call)(sqlite3_context *, int, sqlite3_value **);
    void (*step)(sqlite3_context *, int, sqlite3_value **);
    void (*final)(sqlite3_context *);
};

enum { OLDEST = 3024000 }; /* sqlite3_str_new() */

#define OPENS_FILES SQLITE_UTF8
#define PURE (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

static const struct function functions[] = {
    {"petal_contains", 2, OPENS_FILES, sql_contains, NULL, NULL},
    {"petal_contains", 3, OPENS_FILES, sql_contains, NULL, NULL},
    {"petal_info", 1, OPENS_FILES, sql_info, NULL, NULL},
    {"petal_info", 2, OPENS_FILES, sql_info, NULL, NULL},
    {"petal_merge", 1, OPENS_FILES, NULL, sql_merge_step, sql_merge_final},
    {"petal_merge", 2, OPENS_FILES, NULL, sql_merge_step, sql_merge_final},
    {"petal_build", 1, PURE, NULL, sql_build_step, sql_build_final},
    {"petal_build", 2, PURE, NULL, sql_build_step, sql_build_final},
    {"petal_build", 3, PURE, NULL, sql_build_step, sql_build_final},
};

#ifdef _WIN32
__declspec(dllexport)
#elif defined(__GNUC__)
__attribute__((visibility("default")))
#endif
    int sqlite3_petal_init(sqlite3 *base, char **message, const sqlite3_api_routines *api);

int sqlite3_petal_init(sqlite3 *base, char **message, const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api);
    if (sqlite3_libversion_number() < OLDEST) { /* older versions lack some routines */
        *message =
            sqlite3_mprintf("petal needs SQLite 3.24 or later, not %s", sqlite3_libversion());
        return SQLITE_ERROR;
    }
    struct connection *connection = connection_create();
    int status = connection ? SQLITE_OK : SQLITE_NOMEM;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0] && status == SQLITE_OK; i++) {
        const struct function *f = &functions[i];
        /* If registering the function fails, SQLite calls connection_release() immediately. */
        status = sqlite3_create_function_v2(base, f->name, f->arguments, f->flags,
                                            connection_share(connection), f->call, f->step,
                                            f->final, connection_release);
    }
    if (connection) connection_release(connection);
    return status;
}
