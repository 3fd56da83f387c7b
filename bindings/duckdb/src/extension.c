/* extension.c - the entry point, which DuckDB finds by the name of the file,
 * petal.duckdb_extension: registers the functions, one overload per combination of types.
 *
 * DuckDB casts smaller integers to BIGINT, FLOAT and DECIMAL to DOUBLE, and enums to VARCHAR. It
 * refuses other types when it binds the statement. */
#include "glue.h"

#include <stdio.h>
#include <stdlib.h>

static const duckdb_type filters[] = {DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_BLOB};
static const duckdb_type keys[] = {
    DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_UBIGINT, DUCKDB_TYPE_HUGEINT, DUCKDB_TYPE_UHUGEINT,
    DUCKDB_TYPE_DOUBLE, DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_BLOB,
};
enum {
    FILTERS = sizeof filters / sizeof filters[0],
    KEYS = sizeof keys / sizeof keys[0],
    MOST_ARGUMENTS = 3
};

/* A list of argument types, and what a function with them needs to know. */
struct signature {
    const char *name;
    duckdb_type types[MOST_ARGUMENTS];
    struct overload overload;
};

typedef bool add_overload(void *set, const struct signature *signature, const void *calls);

static void drop_overload(void *memory)
{
    struct overload *overload = memory;
    library_release(overload->library);
    free(overload);
}

/* What DuckDB keeps for the overload, and passes to drop_overload(). */
static struct overload *keep(const struct signature *signature)
{
    struct overload *overload = malloc(sizeof *overload);
    if (!overload) return NULL;
    *overload = signature->overload;
    library_share(overload->library);
    return overload;
}

/* ---- scalar functions ------------------------------------------------------------------------ */

static bool add_scalar(void *set, const struct signature *signature, const void *calls)
{
    const duckdb_scalar_function_t *call = calls;
    duckdb_scalar_function function = duckdb_create_scalar_function();
    struct overload *overload = keep(signature);
    bool is_contains = *call == sql_contains;
    if (overload) {
        duckdb_scalar_function_set_name(function, signature->name);
        for (unsigned i = 0; i < signature->overload.arguments; i++) {
            duckdb_logical_type type = duckdb_create_logical_type(signature->types[i]);
            duckdb_scalar_function_add_parameter(function, type);
            duckdb_destroy_logical_type(&type);
        }
        duckdb_logical_type result =
            duckdb_create_logical_type(is_contains ? DUCKDB_TYPE_BOOLEAN : DUCKDB_TYPE_VARCHAR);
        duckdb_scalar_function_set_return_type(function, result);
        duckdb_destroy_logical_type(&result);
        duckdb_scalar_function_set_special_handling(function); /* of NULL */
        duckdb_scalar_function_set_extra_info(function, overload, drop_overload);
        duckdb_scalar_function_set_function(function, *call);
    }
    bool done = overload && duckdb_add_scalar_function_to_set(set, function) == DuckDBSuccess;
    duckdb_destroy_scalar_function(&function);
    return done;
}

/* ---- aggregates ------------------------------------------------------------------------------ */

static bool add_aggregate(void *set, const struct signature *signature, const void *calls)
{
    const struct aggregate *call = calls;
    duckdb_aggregate_function function = duckdb_create_aggregate_function();
    struct overload *overload = keep(signature);
    if (overload) {
        duckdb_aggregate_function_set_name(function, signature->name);
        for (unsigned i = 0; i < signature->overload.arguments; i++) {
            duckdb_logical_type type = duckdb_create_logical_type(signature->types[i]);
            duckdb_aggregate_function_add_parameter(function, type);
            duckdb_destroy_logical_type(&type);
        }
        duckdb_logical_type result = duckdb_create_logical_type(DUCKDB_TYPE_BLOB);
        duckdb_aggregate_function_set_return_type(function, result);
        duckdb_destroy_logical_type(&result);
        duckdb_aggregate_function_set_special_handling(function); /* of NULL */
        duckdb_aggregate_function_set_extra_info(function, overload, drop_overload);
        duckdb_aggregate_function_set_functions(function, call->size, call->init, call->update,
                                                call->combine, call->finalize);
        duckdb_aggregate_function_set_destructor(function, call->destroy);
    }
    bool done = overload && duckdb_add_aggregate_function_to_set(set, function) == DuckDBSuccess;
    duckdb_destroy_aggregate_function(&function);
    return done;
}

/* ---- overloads ------------------------------------------------------------------------------- */

/* (filter, key), and (filter, key, format) */
static bool add_contains(struct library *library, const char *name, add_overload *add, void *set,
                         const void *calls)
{
    bool done = true;
    for (size_t i = 0; i < FILTERS * KEYS * 2 && done; i++) {
        duckdb_type filter = filters[i % FILTERS], key = keys[i / FILTERS % KEYS];
        struct signature signature = {name,
                                      {filter, key, DUCKDB_TYPE_VARCHAR},
                                      {library, filter, key, i < FILTERS * KEYS ? 2 : 3}};
        done = add(set, &signature, calls);
    }
    return done;
}

/* (filter), and (filter, format) */
static bool add_filter(struct library *library, const char *name, add_overload *add, void *set,
                       const void *calls)
{
    bool done = true;
    for (size_t i = 0; i < FILTERS * 2 && done; i++) {
        duckdb_type filter = filters[i % FILTERS];
        struct signature signature = {
            name, {filter, DUCKDB_TYPE_VARCHAR}, {library, filter, filter, i < FILTERS ? 1 : 2}};
        done = add(set, &signature, calls);
    }
    return done;
}

/* (key), (key, rate), and (key, rate, capacity) */
static bool add_key(struct library *library, const char *name, add_overload *add, void *set,
                    const void *calls)
{
    bool done = true;
    for (size_t i = 0; i < KEYS * MOST_ARGUMENTS && done; i++) {
        duckdb_type key = keys[i % KEYS];
        struct signature signature = {name,
                                      {key, DUCKDB_TYPE_DOUBLE, DUCKDB_TYPE_BIGINT},
                                      {library, key, key, (unsigned)(i / KEYS) + 1}};
        done = add(set, &signature, calls);
    }
    return done;
}

typedef bool add_overloads(struct library *library, const char *name, add_overload *add, void *set,
                           const void *calls);

static const duckdb_scalar_function_t contains_call = sql_contains, info_call = sql_info;

static const struct scalar {
    const char *name;
    add_overloads *add;
    const duckdb_scalar_function_t *call;
} scalars[] = {
    {"petal_contains", add_contains, &contains_call},
    {"petal_info", add_filter, &info_call},
};

static const struct grouped {
    const char *name;
    add_overloads *add;
    const struct aggregate *calls;
} aggregates[] = {
    {"petal_build", add_key, &sql_build},
    {"petal_merge", add_filter, &sql_merge},
};

static bool register_scalar(duckdb_connection connection, struct library *library,
                            const struct scalar *scalar)
{
    duckdb_scalar_function_set set = duckdb_create_scalar_function_set(scalar->name);
    bool done = scalar->add(library, scalar->name, add_scalar, set, scalar->call) &&
                duckdb_register_scalar_function_set(connection, set) == DuckDBSuccess;
    duckdb_destroy_scalar_function_set(&set);
    return done;
}

static bool register_aggregate(duckdb_connection connection, struct library *library,
                               const struct grouped *aggregate)
{
    duckdb_aggregate_function_set set = duckdb_create_aggregate_function_set(aggregate->name);
    bool done = aggregate->add(library, aggregate->name, add_aggregate, set, aggregate->calls) &&
                duckdb_register_aggregate_function_set(connection, set) == DuckDBSuccess;
    duckdb_destroy_aggregate_function_set(&set);
    return done;
}

static bool register_formats(duckdb_connection connection)
{
    duckdb_table_function function = duckdb_create_table_function();
    duckdb_table_function_set_name(function, "petal_formats");
    duckdb_table_function_set_bind(function, formats_bind);
    duckdb_table_function_set_init(function, formats_init);
    duckdb_table_function_set_function(function, formats_rows);
    bool done = duckdb_register_table_function(connection, function) == DuckDBSuccess;
    duckdb_destroy_table_function(&function);
    return done;
}

static bool register_all(duckdb_connection connection, struct library *library)
{
    bool done = register_formats(connection);
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
        done = done && register_scalar(connection, library, &scalars[i]);
    for (size_t i = 0; i < sizeof aggregates / sizeof aggregates[0]; i++)
        done = done && register_aggregate(connection, library, &aggregates[i]);
    return done;
}

/* The prototype of the function that the macro defines. */
DUCKDB_CAPI_ENTRY_VISIBILITY bool petal_init_c_api(duckdb_extension_info info,
                                                   struct duckdb_extension_access *access);

/* In a window without an order, DuckDB 1.2 and 1.3 pass the chunk's first row to an aggregate in
 * place of every later row. The filter would lack those keys. */
static bool passes_wrong_rows(const char *version)
{
    unsigned major, minor;
    return sscanf(version, "v%u.%u", &major, &minor) == 2 && major == 1 && minor < 4;
}

DUCKDB_EXTENSION_ENTRYPOINT(duckdb_connection connection, duckdb_extension_info info,
                            struct duckdb_extension_access *access)
{
    if (passes_wrong_rows(duckdb_library_version())) {
        access->set_error(info, "petal: DuckDB 1.4 or later is needed, since earlier versions pass "
                                "wrong rows to windows");
        return false;
    }
    struct library *library = library_create();
    bool done = library && register_all(connection, library);
    if (library) library_release(library);
    if (!done) access->set_error(info, "petal: the functions could not be registered");
    return done;
}
