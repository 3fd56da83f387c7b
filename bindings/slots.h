/* slots.h - represents the library's structs as tables of 64-bit slots for Go, Java and JavaScript,
 * which can't read C structs.
 *
 * The lists in this file are the only definition of the slot order. scripts/gen-slots generates
 * each host's constants from them (slots.go, Slots.java, slots.js); `./dev check slots` checks that
 * the generated constants match. To add a field, add a line to a list. */
#ifndef PETAL_BINDINGS_SLOTS_H
#define PETAL_BINDINGS_SLOTS_H

#include <petal/petal_host.h>

typedef union slot {
    uint64_t integer;
    double real;
    const char *text;
} slot;

/* All the information that petal.h reports about a filter without reading its bits. */
struct inside {
    petal_info info;
    petal_layers_info layers;
    petal_file_info file;
};

/* Each line of a list names the type of the slot's value and the field. An estimate occupies three
 * slots: value, low and high. */

/* The host passes the secret, the metadata and the format as separate arguments, since they are
 * pointers. */
#define OPTION_SLOTS(SLOT) \
    SLOT(integer, scheme) \
    SLOT(integer, key_type) \
    SLOT(integer, capacity) \
    SLOT(real, rate) \
    SLOT(integer, memory_bytes) \
    SLOT(integer, bits) \
    SLOT(integer, hashes) \
    SLOT(integer, lines_per_key) \
    SLOT(integer, seed) \
    SLOT(integer, metadata_bytes) \
    SLOT(integer, growth) \
    SLOT(integer, refuse_overfull) \
    SLOT(integer, foldable) \
    SLOT(integer, growth_step) \
    SLOT(real, growth_ratio) \
    SLOT(integer, window_keys) \
    SLOT(integer, window_ms) \
    SLOT(integer, generations)

/* Names last. */
#define INFO_SLOTS(SLOT) \
    SLOT(integer, info.abilities) \
    SLOT(integer, info.scheme) \
    SLOT(integer, info.hash) \
    SLOT(integer, info.hashes) \
    SLOT(integer, info.lines_per_key) \
    SLOT(integer, info.layers) \
    SLOT(integer, info.counter_bits) \
    SLOT(integer, info.bits) \
    SLOT(integer, info.bytes) \
    SLOT(integer, info.memory_bytes) \
    SLOT(integer, info.capacity) \
    SLOT(real, info.target_rate) \
    SLOT(real, info.predicted_rate) \
    SLOT(integer, info.items) \
    SLOT(integer, info.seed) \
    SLOT(integer, info.metadata_bytes) \
    SLOT(integer, info.secret_id) \
    SLOT(integer, info.key_type) \
    SLOT(integer, info.policy) \
    SLOT(integer, info.keyed) \
    SLOT(integer, layers.growth_step) \
    SLOT(real, layers.growth_ratio) \
    SLOT(integer, layers.window_keys) \
    SLOT(integer, layers.window_ms) \
    SLOT(integer, layers.generations) \
    SLOT(integer, layers.clock_ms) \
    SLOT(integer, layers.earliest_ms) \
    SLOT(integer, layers.latest_ms) \
    SLOT(integer, file.live) \
    SLOT(integer, file.verifiable) \
    SLOT(integer, file.verifies_on_use) \
    SLOT(integer, file.unchecked_blocks) \
    SLOT(integer, file.compared_blocks) \
    SLOT(integer, file.recovered_blocks) \
    SLOT(text, info.scheme_name) \
    SLOT(text, info.hash_name) \
    SLOT(text, info.format_name) \
    SLOT(text, info.kernel_name) \
    SLOT(text, file.format_name)

#define STATS_SLOTS(SLOT) \
    SLOT(integer, saturated) \
    SLOT(integer, overfull) \
    SLOT(integer, bits_set) \
    SLOT(integer, saturated_counters) \
    SLOT(real, fill) \
    SLOT(real, estimated_rate) \
    SLOT(estimate, estimated_items)

#define COMPARISON_SLOTS(SLOT) \
    SLOT(integer, saturated) \
    SLOT(estimate, items_a) \
    SLOT(estimate, items_b) \
    SLOT(estimate, union_items) \
    SLOT(estimate, intersection) \
    SLOT(estimate, jaccard) \
    SLOT(estimate, containment_a_in_b) \
    SLOT(estimate, containment_b_in_a)

/* ---- one function per list ------------------------------------------------------------------- */

enum { SLOTS_integer = 1, SLOTS_real = 1, SLOTS_text = 1, SLOTS_estimate = 3 };
enum { NAMES_integer = 0, NAMES_real = 0, NAMES_text = 1 };

#define COUNT_SLOT(kind, field) +SLOTS_##kind
#define COUNT_NAME(kind, field) +NAMES_##kind
#define PUT_SLOT(kind, field) to = put_##kind(to, from->field);
#define GET_SLOT(kind, field) to.field = (__typeof__(to.field))(from++)->kind;

enum {
    OPTION_COUNT = OPTION_SLOTS(COUNT_SLOT),
    INFO_COUNT = INFO_SLOTS(COUNT_SLOT),
    INFO_NAMES = INFO_SLOTS(COUNT_NAME),
    INFO_FIRST_NAME = INFO_COUNT - INFO_NAMES,
    STATS_COUNT = STATS_SLOTS(COUNT_SLOT),
    COMPARISON_COUNT = COMPARISON_SLOTS(COUNT_SLOT)
};

static inline slot *put_integer(slot *to, uint64_t value)
{
    to->integer = value;
    return to + 1;
}

static inline slot *put_real(slot *to, double value)
{
    to->real = value;
    return to + 1;
}

static inline slot *put_text(slot *to, const char *value)
{
    to->integer = 0; /* pointers may be only 32 bits wide */
    to->text = value;
    return to + 1;
}

static inline slot *put_estimate(slot *to, petal_estimate value)
{
    return put_real(put_real(put_real(to, value.value), value.low), value.high);
}

static inline petal_options options_of(const slot *from, const void *secret, const void *metadata,
                                       const char *format)
{
    petal_options to = PETAL_OPTIONS_INIT;
    OPTION_SLOTS(GET_SLOT)
    to.secret = secret;
    to.metadata = metadata;
    to.format = format;
    return to;
}

static inline void put_inside(slot *to, const struct inside *from)
{
    INFO_SLOTS(PUT_SLOT)
}

static inline petal_status plan_slots(const petal_options *options, slot *to, petal_error *error)
{
    struct inside inside = {PETAL_INFO_INIT, PETAL_LAYERS_INFO_INIT, PETAL_FILE_INFO_INIT};
    petal_status status = petal_plan(options, &inside.info, &inside.layers, error);
    if (status >= 0) put_inside(to, &inside);
    return status;
}

static inline petal_status info_slots(const petal_filter *filter, uint32_t layer, slot *to,
                                      petal_error *error)
{
    struct inside inside = {PETAL_INFO_INIT, PETAL_LAYERS_INFO_INIT, PETAL_FILE_INFO_INIT};
    petal_status status = petal_get_info(filter, layer, &inside.info, error);
    if (status >= 0) status = petal_get_layers_info(filter, layer, &inside.layers, error);
    if (status >= 0) status = petal_get_file_info(filter, &inside.file, error);
    if (status >= 0) put_inside(to, &inside);
    return status;
}

/* Calls petal_predict_rate() for slots that plan_slots() or info_slots() wrote. */
static inline double slots_rate(const slot *from, uint64_t keys)
{
    struct inside to = {PETAL_INFO_INIT, PETAL_LAYERS_INFO_INIT, PETAL_FILE_INFO_INIT};
    INFO_SLOTS(GET_SLOT)
    return petal_predict_rate(&to.info, keys);
}

static inline petal_status stats_slots(const petal_filter *filter, uint32_t layer, slot *to,
                                       petal_error *error)
{
    petal_stats stats = PETAL_STATS_INIT, *from = &stats;
    petal_status status = petal_get_stats(filter, layer, &stats, error);
    if (status < 0) return status;
    STATS_SLOTS(PUT_SLOT)
    return status;
}

static inline petal_status comparison_slots(const petal_filter *a, const petal_filter *b, slot *to,
                                            petal_error *error)
{
    petal_comparison found = PETAL_COMPARISON_INIT, *from = &found;
    petal_status status = petal_compare(a, b, &found, error);
    if (status < 0) return status;
    COMPARISON_SLOTS(PUT_SLOT)
    return status;
}

#endif
