/* info.c - describes filters, lists formats, and detects the format of given bytes. */
#include "api/info.h"
#include "base/error.h"
#include "base/sized.h"
#include "filter/content.h"
#include "filter/guard.h"
#include "filter/permission.h"
#include "filter/rotating.h"
#include "filter/static_builder.h"
#include "format/format.h"
#include "store/backing.h"

#include <string.h>

/* ---- abilities ------------------------------------------------------------------------------- */

/* If layers hold keys from different periods, the layers' bits can be neither combined nor
 * compared. */
static uint32_t abilities_of_single(const petal_filter *filter)
{
    uint32_t can = PETAL_CAN_MERGE | PETAL_CAN_INTERSECT | PETAL_CAN_COMPARE;
    if (filter->scheme->counters) can |= PETAL_CAN_REMOVE | PETAL_CAN_DROP_COUNTS;
    if (petal_filter_can_share(filter)) can |= PETAL_CAN_ALLOW_THREADS;
    return can;
}

static uint32_t abilities_of(const petal_filter *filter)
{
    const uint32_t changes = PETAL_CAN_ADD | PETAL_CAN_REMOVE | PETAL_CAN_MERGE |
                             PETAL_CAN_INTERSECT | PETAL_CAN_ALLOW_THREADS | PETAL_CAN_GROW |
                             PETAL_CAN_CLEAR;
    uint32_t can = PETAL_CAN_ADD | PETAL_CAN_CLEAR | PETAL_CAN_SAVE | PETAL_CAN_STATS;
    bool rotates = petal_filter_rotates(filter);
    if (petal_filter_is_single(filter)) can |= abilities_of_single(filter);
    if (petal_filter_can_fold(filter)) can |= PETAL_CAN_FOLD;
    if (petal_filter_is_pattern(filter)) can |= PETAL_CAN_CREATE_LIKE;
    if (filter->hash->words == 1 && !filter->scheme->no_empty_key) can |= PETAL_CAN_HASHES;
    if (!filter->scheme->no_empty_key) can |= PETAL_CAN_EMPTY_KEY;
    if (filter->grow && !filter->is_fixed && !petal_filter_has_foreign_bits(filter))
        can |= PETAL_CAN_GROW;
    can |= rotates ? PETAL_CAN_WINDOW : PETAL_CAN_MAP;
    if (petal_filter_check_present(filter, NULL) != PETAL_OK)
        can &= PETAL_CAN_HASHES | PETAL_CAN_CREATE_LIKE | PETAL_CAN_WINDOW | PETAL_CAN_EMPTY_KEY |
               PETAL_CAN_MAP;
    if (filter->lacks_secret) can &= ~(PETAL_CAN_HASHES | PETAL_CAN_CREATE_LIKE);
    if (filter->live) can &= ~(PETAL_CAN_SAVE | PETAL_CAN_DROP_COUNTS | PETAL_CAN_FOLD);
    if (filter->scheme->is_in_turn) can &= ~PETAL_CAN_MAP;
    if (filter->builder) return (can & ~changes) | PETAL_CAN_ADD;
    return filter->read_only || filter->scheme->is_in_turn ? can & ~changes : can;
}

/* ---- info ------------------------------------------------------------------------------------ */

static uint64_t memory_of(const petal_filter *filter)
{
    uint64_t sum = sizeof *filter + filter->layer_room * sizeof *filter->layers;
    for (uint32_t i = 0; i < filter->layer_count; i++)
        if (filter->layers[i].own_lines) sum += filter->layers[i].array.size_bytes;
    if (filter->origin.far) sum += filter->origin.size_bytes;
    if (filter->sharing) sum += sizeof *filter->sharing;
    if (!PETAL_IS_READ_ONLY) sum += petal_static_builder_bytes(filter);
    return sum + filter->metadata_bytes;
}

/* For a time window: the period in which a generation's keys were added. The oldest generation
 * covers at most one span (petal_rotating_span()), unless it was kept open longer because the
 * maximum number of generations already existed. */
static void describe_span(const petal_filter *filter, uint32_t layer, petal_layers_info *info)
{
    const struct policy *policy = &filter->policy;
    if (policy->kind != POLICY_TIME || policy->clock_ms == 0) return;
    uint64_t until = filter->layers[layer].until_ms, span = petal_rotating_span(policy);
    info->latest_ms = until;
    info->earliest_ms = until >= span ? until - span + 1 : 0;
    if (layer > 0 && filter->layers[layer - 1].until_ms > info->earliest_ms)
        info->earliest_ms = filter->layers[layer - 1].until_ms;
}

/* Returns the number of bits, which is m except in the static scheme, where m has a different
 * meaning. */
static uint64_t bits_of(const petal_filter *filter, const struct layer *layer)
{
    return filter->scheme->is_in_turn ? layer->array.size_bytes * 8 : layer->array.shape.bits;
}

static void describe_layer(const petal_filter *filter, uint32_t number, petal_info *info)
{
    const struct layer *layer = &filter->layers[number];
    info->layers = 1;
    info->hashes = layer->array.shape.hashes;
    info->bits = bits_of(filter, layer);
    info->bytes = layer->array.size_bytes;
    info->memory_bytes = layer->own_lines ? layer->array.size_bytes : 0;
    info->capacity = layer->capacity;
    info->target_rate = layer->target_rate;
    info->items = petal_layer_items(filter, number);
}

/* The layer that accepts new keys, or the largest one. */
static const struct shape *parameters_of(const petal_filter *filter)
{
    const struct layer *layer =
        filter->scheme->is_in_turn ? filter->layers : petal_filter_last(filter);
    return &layer->array.shape;
}

/* The parameters of the whole filter. If there are several layers, these are the parameters of the
 * last one, which receives new keys, and the sizes are totals over all layers. */
static void describe_all(const petal_filter *filter, petal_info *info)
{
    bool rotates = petal_filter_rotates(filter);
    info->layers = filter->layer_count;
    info->hashes = parameters_of(filter)->hashes;
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        info->bits += bits_of(filter, &filter->layers[i]);
        info->bytes += filter->layers[i].array.size_bytes;
    }
    info->memory_bytes = memory_of(filter);
    info->capacity = rotates ? filter->policy.window_keys : petal_filter_capacity(filter);
    info->target_rate =
        filter->policy.kind != POLICY_NONE ? filter->policy.rate : filter->layers->target_rate;
    info->items = petal_filter_items(filter);
}

void petal_filter_describe(const petal_filter *filter, uint32_t layer, petal_info *info)
{
    *info = PETAL_INFO_INIT;
    info->abilities = abilities_of(filter);
    info->scheme = filter->scheme->id;
    info->hash = filter->hash->id;
    info->lines_per_key = filter->scheme->is_in_turn ? 0 : parameters_of(filter)->lines_per_key;
    info->counter_bits = filter->scheme->counters ? filter->scheme->counters->bits : 0;
    info->seed = filter->hash_key.seed;
    info->metadata_bytes = filter->metadata_bytes;
    info->keyed = filter->hash->keyed;
    info->secret_id = filter->lacks_secret ? filter->secret_id
                      : info->keyed        ? petal_secret_id(filter->hash_key.secret)
                                           : 0;
    info->key_type = filter->key_type;
    info->policy = filter->policy.kind;
    info->scheme_name = filter->scheme->name;
    info->hash_name = filter->hash->name;
    info->format_name = petal_format_origin(filter)->name;
    info->kernel_name = filter->kernel->name;
    if (layer == PETAL_ALL_LAYERS)
        describe_all(filter, info);
    else
        describe_layer(filter, layer, info);
    info->predicted_rate = petal_filter_predicted_rate(filter, layer);
}

void petal_filter_describe_layers(const petal_filter *filter, uint32_t layer,
                                  petal_layers_info *info)
{
    const struct policy *policy = &filter->policy;
    *info = PETAL_LAYERS_INFO_INIT;
    info->growth_step = policy->step;
    info->growth_ratio = policy->ratio;
    info->window_keys = policy->window_keys;
    info->window_ms = policy->window_ms;
    info->generations = policy->generations;
    info->clock_ms = policy->clock_ms;
    if (layer != PETAL_ALL_LAYERS) describe_span(filter, layer, info);
}

static petal_status check_layer(const petal_filter *filter, uint32_t layer, petal_error *error)
{
    if (layer < filter->layer_count || layer == PETAL_ALL_LAYERS) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no layer %u; the filter has %u", layer,
                      filter->layer_count);
}

petal_status petal_get_info(const petal_filter *filter, uint32_t layer, petal_info *info,
                            petal_error *error)
{
    petal_info own;
    petal_status status = petal_sized_check(info, "PETAL_INFO_INIT", error);
    if (status == PETAL_OK) status = check_layer(filter, layer, error);
    if (status != PETAL_OK) return status;
    petal_filter_describe(filter, layer, &own);
    petal_sized_give(&own, sizeof own, info);
    return PETAL_OK;
}

petal_status petal_get_layers_info(const petal_filter *filter, uint32_t layer,
                                   petal_layers_info *info, petal_error *error)
{
    petal_layers_info own;
    petal_status status = petal_sized_check(info, "PETAL_LAYERS_INFO_INIT", error);
    if (status == PETAL_OK) status = check_layer(filter, layer, error);
    if (status != PETAL_OK) return status;
    petal_filter_describe_layers(filter, layer, &own);
    petal_sized_give(&own, sizeof own, info);
    return PETAL_OK;
}

petal_status petal_get_file_info(const petal_filter *filter, petal_file_info *info,
                                 petal_error *error)
{
    petal_file_info own = PETAL_FILE_INFO_INIT;
    petal_status status = petal_sized_check(info, "PETAL_FILE_INFO_INIT", error);
    if (status != PETAL_OK) return status;
    own.live = filter->live;
    own.verifiable = petal_backing_is_verifiable(filter);
    own.verifies_on_use = filter->is_guarded;
    own.unchecked_blocks = filter->unchecked;
    own.compared_blocks = filter->blocks_compared;
    own.recovered_blocks = filter->recovered_blocks;
    if (filter->file_format) own.format_name = petal_format_of_id(filter->file_format)->name;
    petal_sized_give(&own, sizeof own, info);
    return PETAL_OK;
}

petal_status petal_get_stats(const petal_filter *filter, uint32_t layer, petal_stats *stats,
                             petal_error *error)
{
    petal_stats own;
    petal_status status = petal_sized_check(stats, "PETAL_STATS_INIT", error);
    if (status == PETAL_OK) status = check_layer(filter, layer, error);
    if (status == PETAL_OK) status = petal_filter_check_present(filter, error);
    if (status == PETAL_OK) status = petal_guard_check_all(filter, error);
    if (status != PETAL_OK) return status;
    petal_filter_take_stats(filter, layer, &own);
    own.overfull = layer == PETAL_ALL_LAYERS
                       ? petal_filter_judge_overfull(filter, &own.estimated_items)
                       : petal_filter_was_overfull(filter);
    petal_sized_give(&own, sizeof own, stats);
    return PETAL_OK;
}

petal_status petal_content_id(const petal_filter *filter, uint64_t *content_id, petal_error *error)
{
    if (filter->live)
        return petal_fail(error, PETAL_ERR_BUSY,
                          "another process is changing the file; try again when it has finished");
    petal_status status =
        filter->content_recorded ? PETAL_OK : petal_filter_check_present(filter, error);
    if (status == PETAL_OK && !filter->content_recorded)
        status = petal_guard_check_all(filter, error);
    if (status != PETAL_OK) return status;
    *content_id = filter->content_recorded ? filter->content_id : petal_content_of_bits(filter);
    return PETAL_OK;
}

/* ---- metadata -------------------------------------------------------------------------------- */

const void *petal_metadata(const petal_filter *filter, uint64_t *metadata_bytes)
{
    if (metadata_bytes) *metadata_bytes = filter->metadata_bytes;
    return filter->metadata;
}

static petal_status set_metadata(petal_filter *filter, const void *metadata,
                                 uint64_t metadata_bytes, petal_error *error)
{
    petal_status status = petal_filter_may_write(filter, error);
    if (status == PETAL_OK && petal_filter_has_foreign_bits(filter))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "a map has no room for other metadata; load a copy");
    return status == PETAL_OK ? petal_filter_set_metadata(filter, metadata, metadata_bytes, error)
                              : status;
}

petal_status petal_set_metadata(petal_filter *filter, const void *metadata, uint64_t metadata_bytes,
                                petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, set_metadata(filter, metadata, metadata_bytes, error),
                                   error);
}

/* ---- formats --------------------------------------------------------------------------------- */

bool petal_format_at(uint32_t place, petal_format_info *info)
{
    petal_format_info own = PETAL_FORMAT_INFO_INIT;
    const struct format_def *format = petal_format_row(place);
    if (!format || petal_sized_check(info, "PETAL_FORMAT_INFO_INIT", NULL) != PETAL_OK)
        return false;
    own.abilities = PETAL_FORMAT_CAN_READ;
    if (format->write) own.abilities |= PETAL_FORMAT_CAN_WRITE;
    if (format->plan || format->size || format == &petal_format_petal)
        own.abilities |= PETAL_FORMAT_CAN_CREATE;
    if (format->fits || format->fit != FIT_NO) own.abilities |= PETAL_FORMAT_CAN_RECOGNIZE;
    if (format->has_checksum) own.abilities |= PETAL_FORMAT_HAS_CHECKSUM;
    own.abilities |= format->decode ? PETAL_FORMAT_IS_PACKED : PETAL_FORMAT_CAN_MAP;
    own.name = format->name;
    own.keys = format->keys ? format->keys : "bytes";
    petal_sized_give(&own, sizeof own, info);
    return true;
}
