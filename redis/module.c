/* module.c - the entry point that the server calls to load the module: registers everything, or
 * logs one line that gives the reason. */
#include "common.h"
#include "config.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* RedisBloom's version: this module has the same commands and stores the same bytes, and clients
 * check the version. INFO shows Petal's own version; a module that serves only PETAL.* reports that
 * version too. */
#define BLOOM_VERSION 20802
#define OWN_VERSION (10000 * PETAL_VERSION_MAJOR + 100 * PETAL_VERSION_MINOR + PETAL_VERSION_PATCH)

static void show(RedisModuleInfoCtx *ctx, const char *name, const _Atomic uint64_t *number)
{
    server.InfoAddFieldULongLong(ctx, name, atomic_load(number));
}

/* Shows the totals under valkey-bloom's names. Layers, items and capacity count only BF.*
 * filters. */
static void show_bloom_info(RedisModuleInfoCtx *ctx)
{
    if (server.InfoAddSection(ctx, "bloom_core_metrics") == MODULE_OK) {
        show(ctx, "bloom_total_memory_bytes", &totals.bytes);
        show(ctx, "bloom_num_objects", &totals.filters);
        show(ctx, "bloom_num_filters_across_objects", &totals.layers);
        show(ctx, "bloom_num_items_across_objects", &totals.items);
        show(ctx, "bloom_capacity_across_objects", &totals.capacity);
    }
    if (server.InfoAddSection(ctx, "bloom_defrag_metrics") == MODULE_OK) {
        show(ctx, "bloom_defrag_hits", &totals.moved);
        show(ctx, "bloom_defrag_misses", &totals.stayed);
    }
}

static void show_info(RedisModuleInfoCtx *ctx, int for_crash_report)
{
    (void)for_crash_report;
    if (server.InfoAddSection(ctx, "") != MODULE_OK) return;
    server.InfoAddFieldCString(ctx, "petal_version", petal_version());
    server.InfoAddFieldULongLong(ctx, "num_objects", atomic_load(&totals.filters));
    server.InfoAddFieldULongLong(ctx, "total_memory_bytes", atomic_load(&totals.bytes));
    server.InfoAddFieldULongLong(ctx, "defrag_hits", atomic_load(&totals.moved));
    server.InfoAddFieldULongLong(ctx, "defrag_misses", atomic_load(&totals.stayed));
    if (!config.petal_only) show_bloom_info(ctx);
}

/* If a server loads a file twice, both instances share the same variables. */
static int is_loaded;

/* Checks that no other module with these commands is loaded. The server itself would only report
 * that a command already exists. */
static int is_alone(RedisModuleCtx *ctx)
{
    const char *refusal =
        server.IsModuleNameBusy("petal")
            ? "a module named petal is loaded already: this one; load it once"
        : server.IsModuleNameBusy(config.module)
            ? "a module named bf is loaded already (RedisBloom, valkey-bloom, or this one); load "
              "one of them, or this one with COMMANDS petal, for PETAL.* alone"
            : NULL;
    if (refusal) server.Log(ctx, "warning", "%s", refusal);
    return !refusal;
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *ctx,
                                                              RedisModuleString **argv, int argc);

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const char *missing = server_find_calls(ctx);
    if (missing) {
        if (server.Log)
            server.Log(ctx, "warning", "this server has no %s; Redis 7.0 or Valkey 7.2 have",
                       missing);
        return MODULE_ERR;
    }
    if ((!is_loaded && config_read_arguments(ctx, argv, argc) != MODULE_OK) || !is_alone(ctx))
        return MODULE_ERR;
    server.SetModuleAttribs(ctx, config.module, config.petal_only ? OWN_VERSION : BLOOM_VERSION,
                            MODULE_API_VERSION);
    server.SetModuleOptions(ctx, OPTION_HANDLE_IO_ERRORS | OPTION_NO_IMPLICIT_SIGNAL_MODIFIED |
                                     OPTION_HANDLE_REPL_ASYNC_LOAD |
                                     (server_moves_slots() ? OPTION_HANDLE_SLOT_MIGRATION : 0));
    if (server.AddACLCategory) {
        if (!config.petal_only) server.AddACLCategory(ctx, "bloom"); /* may be the server's own */
        server.AddACLCategory(ctx, "petal");
    }
    if (config_register(ctx) != MODULE_OK || types_register(ctx) != MODULE_OK ||
        (!config.petal_only && bf_register(ctx) != MODULE_OK) || petal_register(ctx) != MODULE_OK ||
        server.RegisterInfoFunc(ctx, show_info) != MODULE_OK)
        return MODULE_ERR;
    is_loaded = 1;
    server.Log(ctx, "notice", "petal %s serves %s", petal_version(),
               config.petal_only ? "PETAL, beside other modules" : "BF and PETAL");
    return MODULE_OK;
}
