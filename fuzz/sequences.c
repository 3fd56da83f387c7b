/* sequences.c - fuzz target: runs arbitrary sequences of calls, and compares the results with an
 * exact model of the keys that must be found.
 *
 * Up to SLOTS filters and FILES files exist at the same time. Each input byte selects a call, its
 * filters and its keys, from a set so small that keys repeat. After each call, the next filter in
 * turn is checked for missing keys. At the end, all filters are checked. Each status must be one
 * that petal.h documents, a refused call must change nothing, and the filters must not need much
 * more memory than their bits. Allocations fail when the input says so. */
#define _POSIX_C_SOURCE 200809L

#include "../tests/keys.h"
#include "../tests/save_as.h"
#include "input.h"

#include <petal/petal_build.h>
#include <petal/petal_inline.h>

#include <math.h>
#include <unistd.h>

#define SLOTS 4
#define FILES 2
#define UNIVERSE 64
#define NUMBERS_FROM 8 /* lower keys are strings of various lengths, the others numbers */
#define MAX_BATCH 48
#define MAX_CALLS 120
#define MAX_COUNT 200
#define MEMORY_LIMIT ((uint64_t)12 << 20)
#define OVERHEAD ((uint64_t)32 << 10)

/* ---- the model ------------------------------------------------------------------------------- */

/* The keys that must be found. In a window, a key must be found until a certain number of adds have
 * followed it, or a certain time has passed. */
struct model {
    /* The number of times the key was added, minus the number of times it was removed. Without
     * counters: 1 if the key was added. */
    uint8_t count[UNIVERSE];
    uint64_t call[UNIVERSE], time[UNIVERSE];
    uint64_t calls, clock;
    bool is_exact;      /* the filter has only these keys' bits */
    uint64_t window_ms; /* length of a time window, in ms */
};

enum mode { OWN, VIEW, MAP, LIVE, WRITABLE, LOCKED };

struct slot {
    petal_filter *filter; /* NULL if the slot is empty */
    /* Properties that never change. They are read only once, because reading them takes time. */
    petal_info kind;
    struct model model;
    enum mode mode;
    int file;            /* index in `files`, for MAP to LOCKED */
    uint64_t generation; /* the file's generation when opened */
    uint8_t *bytes;      /* only for VIEW */
    bool has_secret, is_shared, refuses_overfull;
    /* For MAP and LIVE: the file may contain more keys than the model, added by a writer that has
     * since closed the file. */
    bool is_behind;
};

struct file {
    char path[512];
    bool exists, has_secret;
    struct model model;  /* state at the last save or sync */
    uint64_t generation; /* number of times the file was replaced */
    int owner;           /* slot that holds the file's lock, or -1 */
};

static struct world {
    struct input in;
    struct slot slots[SLOTS];
    struct file files[FILES];
    struct budget budget;
    uint64_t fail_in; /* the nth allocation from now fails; 0: none */
    bool has_failed;
    petal_allocator allocator;
} world;

static const uint8_t secret[PETAL_SECRET_BYTES] = {15, 14, 13, 12, 11, 10, 9, 8,
                                                   7,  6,  5,  4,  3,  2,  1, 0};

static void *alloc_or_fail(void *context, size_t size_bytes)
{
    if (world.fail_in > 0 && --world.fail_in == 0) {
        world.has_failed = true;
        return NULL;
    }
    void *memory = budget_alloc(context, size_bytes);
    if (!memory) world.has_failed = true;
    return memory;
}

static bool is_read_only(const struct slot *slot)
{
    return slot->mode == VIEW || slot->mode == MAP || slot->mode == LIVE;
}

static bool counts(const petal_info *info)
{
    return info->counter_bits != 0;
}

/* Returns true if the key must be found after another `more` adds. */
static bool must_have_after(const struct model *model, const petal_info *info, unsigned key,
                            uint64_t more)
{
    if (model->count[key] == 0) return false;
    if (info->policy == PETAL_POLICY_WINDOW_KEYS)
        return model->calls + more - model->call[key] <= info->capacity;
    if (info->policy == PETAL_POLICY_WINDOW_TIME)
        return model->clock - model->time[key] < model->window_ms;
    return true;
}

static bool must_have(const struct model *model, const petal_info *info, unsigned key)
{
    return must_have_after(model, info, key, 0);
}

/* Returns true if adding the key now must report it as seen. In a window measured in keys, this add
 * counts too. */
static bool must_be_seen(const struct model *model, const petal_info *info, unsigned key)
{
    return must_have_after(model, info, key, 1);
}

static void note_add(struct model *model, bool is_counting, unsigned key)
{
    if (model->count[key] == 0 || (is_counting && model->count[key] < MAX_COUNT))
        model->count[key]++;
    model->call[key] = ++model->calls;
    model->time[key] = model->clock;
}

/* Returns true if a writer is changing the file that this slot reads. */
static bool is_beside_a_writer(const struct slot *slot)
{
    if (slot->mode != MAP && slot->mode != LIVE) return false;
    if (slot->is_behind) return true;
    for (int i = 0; i < SLOTS; i++) {
        const struct slot *other = &world.slots[i];
        if (other->filter && other->mode == WRITABLE && other->file == slot->file &&
            other->generation == slot->generation)
            return true;
    }
    return false;
}

/* Returns true if any call that reads all bits or allocates memory may return this status. */
static bool is_excused(const struct slot *slot, petal_status status)
{
    if (status == PETAL_ERR_MEMORY) return world.has_failed;
    return status == PETAL_ERR_BUSY && (slot->mode == LIVE || slot->mode == MAP);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static uint8_t key_bytes[UNIVERSE][512];
static size_t key_sizes[UNIVERSE];

static void make_keys(void)
{
    static const size_t sizes[NUMBERS_FROM] = {0, 1, 3, 16, 17, 128, 240, 400};
    for (unsigned i = 0; i < UNIVERSE; i++) {
        key_sizes[i] = i < NUMBERS_FROM ? sizes[i] : 8;
        memset(key_bytes[i], 'a' + (int)i % 26, sizeof key_bytes[i]);
        if (i >= NUMBERS_FROM) petal_encode_i64((int64_t)i, key_bytes[i]);
    }
}

/* Returns a key for this filter. If `number` is set, the key is a number. The empty key is returned
 * only if the filter accepts it, or if `info` is NULL. */
static unsigned take_key(const petal_info *info, bool number)
{
    unsigned key = take_below(&world.in, UNIVERSE);
    if (number && key < NUMBERS_FROM) return key + NUMBERS_FROM;
    return key == 0 && info && !(info->abilities & PETAL_CAN_EMPTY_KEY) ? 1 : key;
}

static bool has(const petal_filter *filter, unsigned key, unsigned way)
{
    uint8_t found = 2;
    petal_key one = {key_bytes[key], key_sizes[key]};
    uint64_t hash = petal_hash_key(filter, one.data, one.size_bytes);
    int64_t number = (int64_t)key;
    bool is_number = key >= NUMBERS_FROM, hashes = takes_hashes(filter);
    switch (way % 6) {
    case 1: return is_number ? petal_contains_i64(filter, number) : contains_all(filter, &one, 1);
    case 2: return hashes ? petal_contains_hash(filter, hash) : contains_any(filter, &one, 1);
    case 3: return contains_keys(filter, &one, 1, &found) == 1 && found == 1;
    case 4: return !is_number || (contains_numbers(filter, &number, 1, &found) == 1 && found == 1);
    case 5: return !hashes || (contains_hashes(filter, &hash, 1, &found) == 1 && found == 1);
    default: return petal_contains(filter, one.data, one.size_bytes);
    }
}

/* Requires that no key is missing, whether keys are queried one by one or in batches. */
static void check_keys(const struct slot *slot, unsigned way)
{
    petal_key keys[UNIVERSE];
    size_t count = 0;
    for (unsigned key = 0; key < UNIVERSE; key++) {
        if (!must_have(&slot->model, &slot->kind, key)) continue;
        must(has(slot->filter, key, way));
        keys[count++] = (petal_key){key_bytes[key], key_sizes[key]};
    }
    must(contains_keys(slot->filter, keys, count, NULL) == count);
    must(contains_all(slot->filter, keys, count));
}

/* ---- a filter's properties, to see that a refused call has not changed it -------------------- */

struct image {
    uint8_t *bytes;
    size_t size;
};

static struct image image_of(const struct slot *slot)
{
    struct image image = {NULL, 0};
    petal_error error;
    uint64_t failing = world.fail_in;
    world.fail_in = 0;
    image.size = petal_serialized_bytes(slot->filter, NULL);
    image.bytes = malloc(image.size + 1);
    must(image.size > 0 && image.bytes);
    petal_status status = petal_serialize(slot->filter, NULL, image.bytes, image.size, &error);
    if (status != PETAL_OK) {
        if (!is_excused(slot, status)) fprintf(stderr, "serialize: %s\n", error.message);
        must(is_excused(slot, status));
        image.size = 0;
    }
    world.fail_in = failing;
    return image;
}

static void must_be_unchanged(const struct slot *slot, struct image before)
{
    struct image now = image_of(slot);
    if (before.size && now.size)
        must(now.size == before.size && memcmp(now.bytes, before.bytes, now.size) == 0);
    free(now.bytes);
}

/* ---- slots ----------------------------------------------------------------------------------- */

static struct slot *take_slot(void)
{
    return &world.slots[take_below(&world.in, SLOTS)];
}

static int number_of(const struct slot *slot)
{
    return (int)(slot - world.slots);
}

/* After a writer has closed the file, other maps still have the bits that it set. */
static void note_end_of_writer(const struct slot *writer)
{
    for (int i = 0; i < SLOTS; i++) {
        struct slot *other = &world.slots[i];
        if (other->filter && (other->mode == MAP || other->mode == LIVE) &&
            other->file == writer->file && other->generation == writer->generation)
            other->is_behind = true;
    }
}

static void empty_slot(struct slot *slot)
{
    if (slot->filter && (slot->mode == WRITABLE || slot->mode == LOCKED)) {
        struct file *file = &world.files[slot->file];
        if (slot->mode == WRITABLE) {
            must(petal_sync(slot->filter, NULL) == PETAL_OK);
            file->model = slot->model;
            note_end_of_writer(slot);
        }
        if (file->owner == number_of(slot)) file->owner = -1;
    }
    petal_free(slot->filter);
    free(slot->bytes);
    memset(slot, 0, sizeof *slot);
}

static void fill_slot(struct slot *slot, petal_filter *filter, const struct model *model,
                      bool has_secret)
{
    empty_slot(slot);
    slot->filter = filter;
    slot->kind = info_of(slot->filter);
    slot->has_secret = has_secret;
    if (model)
        slot->model = *model;
    else
        slot->model.is_exact = true;
    slot->model.window_ms = layers_info_of(filter, PETAL_ALL_LAYERS).window_ms;
}

static void must_match(const struct slot *a, const struct slot *b)
{
    petal_info one = info_of(a->filter), other = info_of(b->filter);
    petal_stats one_stats = stats_of(a->filter);
    uint64_t one_id = content_of(a->filter);
    petal_stats other_stats = stats_of(b->filter);
    uint64_t other_id = content_of(b->filter);
    must(one_id == other_id);
    must(one_stats.bits_set == other_stats.bits_set && one.bits == other.bits &&
         one.items == other.items);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static petal_options take_kind(void)
{
    petal_options options = PETAL_OPTIONS_INIT;
    uint32_t kind = take_below(&world.in, 12), size = take_below(&world.in, 256), formats = 0;
    options.capacity = 1 + size % 16;
    options.rate = size & 64 ? 0.3 : 0.05;
    switch (kind) {
    case 0:
    case 1:
    case 2: /* sets `bits`: planning is slow */
        options.scheme = kind == 0 ? PETAL_SCHEME_CLASSIC : PETAL_SCHEME_COUNTING;
        options.bits = 6 * options.capacity;
        options.hashes = 4;
        break;
    case 3:
    case 4:
        options.growth = true;
        options.growth_step = kind == 4 ? 3 : 0;
        options.scheme = kind == 4 && size >= 224 ? PETAL_SCHEME_CLASSIC : PETAL_SCHEME_BLOCKED;
        break;
    case 5:
    case 6:
        options.window_keys = options.capacity;
        options.capacity = 0;
        options.generations = 2 + size % 4;
        if (kind == 6) options.window_ms = 1 + size;
        break;
    case 7:
    case 8:
        while (format_name(formats)) formats++;
        options.format = format_name(take_below(&world.in, formats));
        break;
    case 9: options.lines_per_key = 2; break;
    case 10:
        options.rate = 0;
        options.memory_bytes = 64 + (uint64_t)size * 16;
        break;
    default: break;
    }
    return options;
}

static void call_create(struct slot *slot)
{
    petal_options options = take_kind();
    petal_error error;
    petal_filter *filter = NULL;
    uint32_t more = take_below(&world.in, 256);
    options.allocator = &world.allocator;
    if (!options.format && (more & 3) == 1) options.secret = secret;
    if (!options.format && (more & 3) == 2) options.seed = 7;
    if (more & 4) options.metadata = "meta";
    if (more & 4) options.metadata_bytes = 4;
    options.refuse_overfull = (more & 24) == 24;
    petal_status status = petal_create(&options, &filter, &error);
    must((status == PETAL_OK) == (filter != NULL));
    if (status != PETAL_OK) {
        must_be_told(&error, status);
        must(status != PETAL_ERR_MEMORY || world.has_failed);
        must(options.format || options.memory_bytes || status == PETAL_ERR_MEMORY ||
             status == PETAL_ERR_UNREACHABLE);
        return;
    }
    fill_slot(slot, filter, NULL, options.secret != NULL);
    slot->refuses_overfull = options.refuse_overfull;
}

static void must_refuse_rightly(const struct slot *slot, petal_status status)
{
    bool grows =
        slot->kind.policy == PETAL_POLICY_GROWING || strcmp(slot->kind.format_name, "petal") != 0;
    bool right = status == PETAL_ERR_MEMORY ? world.has_failed
                 : is_read_only(slot) ? status == PETAL_ERR_READ_ONLY || is_excused(slot, status)
                 : status == PETAL_ERR_FULL        ? grows || slot->refuses_overfull
                 : status == PETAL_ERR_LIMIT       ? grows
                 : status == PETAL_ERR_UNSUPPORTED ? grows && slot->mode == WRITABLE
                                                   : false;
    if (!right)
        fprintf(stderr, "%s (%s): %s\n", slot->kind.format_name, slot->kind.scheme_name,
                petal_status_name(status));
    must(right);
}

static void call_add(struct slot *slot)
{
    const petal_info info = slot->kind;
    uint32_t way = take_below(&world.in, 3);
    unsigned key = take_key(&info, way == 1);
    struct image before = {NULL, 0};
    petal_status status;
    if (is_read_only(slot)) before = image_of(slot);
    if (way == 1)
        status = petal_add_i64(slot->filter, (int64_t)key);
    else if (way == 2 && takes_hashes(slot->filter))
        status = petal_add_hash(slot->filter,
                                petal_hash_key(slot->filter, key_bytes[key], key_sizes[key]));
    else
        status = petal_add(slot->filter, key_bytes[key], key_sizes[key]);
    if (status < 0)
        must_refuse_rightly(slot, status);
    else
        must(status == PETAL_OK || status == PETAL_SEEN);
    if (status == PETAL_OK) must(!must_be_seen(&slot->model, &info, key));
    if (status >= 0) note_add(&slot->model, counts(&info), key);
    if (is_read_only(slot)) must_be_unchanged(slot, before);
    free(before.bytes);
}

/* The keys in a batch in every layout. */
struct batch {
    size_t count;
    unsigned keys[MAX_BATCH];
    petal_key texts[MAX_BATCH];
    int64_t numbers[MAX_BATCH];
    uint64_t hashes[MAX_BATCH];
};

static struct batch take_batch(const struct slot *slot, bool numbers)
{
    const petal_info info = slot->kind;
    struct batch batch = {.count = take_below(&world.in, MAX_BATCH + 1)};
    unsigned from = take_key(&info, numbers), step = take_below(&world.in, 8);
    for (size_t i = 0; i < batch.count; i++) {
        unsigned key = (from + (unsigned)i * step) % UNIVERSE;
        if (numbers && key < NUMBERS_FROM) key += NUMBERS_FROM;
        if (key == 0 && !(info.abilities & PETAL_CAN_EMPTY_KEY)) key = 1;
        batch.keys[i] = key;
        batch.texts[i] = (petal_key){key_bytes[key], key_sizes[key]};
        batch.numbers[i] = (int64_t)key;
        batch.hashes[i] = petal_hash_key(slot->filter, key_bytes[key], key_sizes[key]);
    }
    return batch;
}

static petal_status build(struct slot *slot, const struct batch *batch, uint32_t way)
{
    petal_builder *builder = NULL;
    petal_error error;
    uint32_t workers = 1 + way % 3;
    petal_status status = petal_builder_create(slot->filter, &workers, &builder, &error);
    must((status == PETAL_OK) == (builder != NULL));
    if (status != PETAL_OK) return status;
    for (size_t i = 0; i < batch->count && status == PETAL_OK; i++)
        status = build_batch(builder, (uint32_t)i % workers, batch_of_keys(&batch->texts[i], 1));
    petal_status finished = petal_builder_finish(builder, &error);
    return status == PETAL_OK ? finished : status;
}

static void call_add_batch(struct slot *slot)
{
    const petal_info info = slot->kind;
    uint32_t way = take_below(&world.in, 5);
    struct batch batch = take_batch(slot, way == 1);
    uint8_t was_new[MAX_BATCH];
    size_t sum = 0, news = 0;
    petal_status status;
    memset(was_new, 2, sizeof was_new);
    if (way == 1)
        status = add_number_batch(slot->filter, batch.numbers, batch.count, was_new, &sum);
    else if (way == 2 && takes_hashes(slot->filter))
        status = add_hash_batch(slot->filter, batch.hashes, batch.count, was_new, &sum);
    else if (way >= 3)
        status = build(slot, &batch, way);
    else
        status = add_key_batch(slot->filter, batch.texts, batch.count, was_new, &sum);
    if (status < 0) {
        must_refuse_rightly(slot, status);
        slot->model.is_exact = false; /* only some were added */
        return;
    }
    must(status == PETAL_OK);
    for (size_t i = 0; i < batch.count; i++) {
        if (way < 3) {
            must(was_new[i] <= 1);
            must(!was_new[i] || !must_be_seen(&slot->model, &info, batch.keys[i]));
            news += was_new[i];
        }
        note_add(&slot->model, counts(&info), batch.keys[i]);
    }
    if (way < 3) must(news == sum);
}

/* Other slots may have this file open, and their keys may now disappear. */
static void forget_readers(const struct slot *slot)
{
    if (slot->mode != WRITABLE) return;
    for (int i = 0; i < SLOTS; i++)
        if (world.slots[i].filter && world.slots[i].file == slot->file &&
            is_beside_a_writer(&world.slots[i]))
            empty_slot(&world.slots[i]);
}

static void call_remove(struct slot *slot)
{
    const petal_info info = slot->kind;
    uint32_t way = take_below(&world.in, 4);
    unsigned key = take_key(&info, way == 1);
    petal_key one = {key_bytes[key], key_sizes[key]};
    uint64_t hash = petal_hash_key(slot->filter, one.data, one.size_bytes);
    size_t sum = 0;
    uint8_t removed = 2;
    petal_status status;
    if (counts(&info) && slot->model.count[key] == 0) return; /* never remove an absent key */
    forget_readers(slot);
    if (way == 1)
        status = petal_remove_i64(slot->filter, (int64_t)key);
    else if (way == 2)
        status = petal_remove_hash(slot->filter, hash);
    else if (way == 3)
        status = remove_keys(slot->filter, &one, 1, &removed, &sum);
    else
        status = petal_remove(slot->filter, one.data, one.size_bytes);
    if (status < 0) {
        must(status == (counts(&info) ? PETAL_ERR_READ_ONLY : PETAL_ERR_UNSUPPORTED) ||
             is_read_only(slot));
        return;
    }
    must(counts(&info) && !is_read_only(slot) && status == PETAL_OK);
    if (way == 3) must(removed == 1 && sum == 1);
    if (slot->model.count[key] == MAX_COUNT)
        slot->model.is_exact = false; /* may have been added more often */
    if (slot->model.count[key] < MAX_COUNT) slot->model.count[key]--;
}

static void call_combine(struct slot *slot, bool merges)
{
    struct slot *other = take_slot();
    petal_error error;
    if (!other->filter) return;
    petal_info info = info_of(slot->filter), same = info_of(other->filter);
    forget_readers(slot);
    if (!other->filter) return;
    struct image before = image_of(slot);
    petal_status status = merges ? petal_merge(slot->filter, other->filter, &error)
                                 : petal_intersect(slot->filter, other->filter, &error);
    if (status != PETAL_OK) {
        must_be_told(&error, status);
        must(status == PETAL_ERR_MISMATCH || status == PETAL_ERR_UNSUPPORTED ||
             status == PETAL_ERR_READ_ONLY || is_excused(slot, status) ||
             is_excused(other, status));
        must(status != PETAL_ERR_READ_ONLY || is_read_only(slot));
        must_be_unchanged(slot, before);
    }
    free(before.bytes);
    if (status != PETAL_OK) return;
    must(info.policy == PETAL_POLICY_NONE && same.policy == PETAL_POLICY_NONE &&
         !is_read_only(slot));
    struct model *model = &slot->model;
    for (unsigned key = 0; key < UNIVERSE; key++) {
        unsigned a = model->count[key], b = other->model.count[key];
        unsigned both = !merges ? (a < b ? a : b) : counts(&info) ? a + b : a | b;
        model->count[key] = (uint8_t)(both < MAX_COUNT ? both : MAX_COUNT);
    }
    model->is_exact &= other->model.is_exact && merges;
}

static void call_clear(struct slot *slot)
{
    petal_error error;
    forget_readers(slot);
    struct image before = image_of(slot);
    petal_status status = petal_clear(slot->filter, &error);
    if (status == PETAL_OK) {
        uint64_t clock = slot->model.clock;
        petal_info info = info_of(slot->filter);
        petal_stats info_stats = stats_of(slot->filter);
        must(!is_read_only(slot) && info_stats.bits_set == 0 && info.items == 0);
        memset(&slot->model, 0, sizeof slot->model);
        slot->model.clock = clock;
        slot->model.is_exact = true;
    } else {
        must_be_told(&error, status);
        must(is_read_only(slot) ? status == PETAL_ERR_READ_ONLY : is_excused(slot, status));
        must_be_unchanged(slot, before);
    }
    free(before.bytes);
}

static void call_clone(struct slot *slot)
{
    struct slot *to = take_slot();
    petal_error error;
    petal_filter *copy = NULL;
    petal_status status = petal_clone(slot->filter, &copy, &error);
    must((status == PETAL_OK) == (copy != NULL));
    if (status != PETAL_OK) {
        must_be_told(&error, status);
        must(is_excused(slot, status));
        return;
    }
    struct slot made = {.filter = copy};
    if (!file_info_of(slot->filter).live && !is_beside_a_writer(slot)) must_match(slot, &made);
    struct model model = slot->model;
    bool refuses = slot->refuses_overfull;
    fill_slot(to, copy, &model, slot->has_secret);
    to->refuses_overfull = refuses;
}

/* Creates an empty filter with the same parameters, and adds the model's keys. The result must
 * equal the original. */
static void call_like(struct slot *slot)
{
    struct slot *to = take_slot();
    petal_error error;
    petal_filter *like = NULL;
    petal_info info = info_of(slot->filter);
    petal_stats info_stats = stats_of(slot->filter);
    uint64_t info_id = content_of(slot->filter);
    petal_status status = petal_create_like(slot->filter, &like, &error);
    must((status == PETAL_OK) == (like != NULL));
    if (status != PETAL_OK) {
        must_be_told(&error, status);
        must((status == PETAL_ERR_UNSUPPORTED &&
              (info.layers > 1 || info.policy != PETAL_POLICY_NONE)) ||
             is_excused(slot, status));
        return;
    }
    struct slot made = {.filter = like};
    struct model model = slot->model;
    bool fails = false, has_secret = slot->has_secret;
    for (unsigned key = 0; key < UNIVERSE && !fails; key++)
        for (unsigned i = 0; i < model.count[key] && !fails; i++)
            fails = petal_add(like, key_bytes[key], key_sizes[key]) < 0;
    petal_info filled = info_of(made.filter);
    petal_stats filled_stats = stats_of(made.filter);
    uint64_t filled_id = content_of(made.filter);
    bool is_whole = filled.layers == info.layers && filled_stats.saturated_counters == 0 &&
                    info_stats.saturated_counters == 0;
    if (!fails && is_whole && model.is_exact && !file_info_of(slot->filter).live &&
        !is_beside_a_writer(slot))
        must(filled_id == info_id && filled_stats.bits_set == info_stats.bits_set);
    if (fails) memset(&model.count, 0, sizeof model.count);
    if (fails) model.is_exact = false;
    fill_slot(to, like, &model, has_secret);
    to->refuses_overfull = true; /* whatever the other filter does */
}

static void call_convert(struct slot *slot)
{
    struct slot *to = take_slot();
    petal_error error;
    petal_filter *bits = NULL;
    petal_info info = info_of(slot->filter);
    petal_stats info_stats = stats_of(slot->filter);
    petal_status status = petal_drop_counts(slot->filter, &bits, &error);
    must((status == PETAL_OK) == (bits != NULL));
    if (status != PETAL_OK) {
        must_be_told(&error, status);
        must((status == PETAL_ERR_UNSUPPORTED && !counts(&info)) || is_excused(slot, status));
        return;
    }
    struct model model = slot->model;
    for (unsigned key = 0; key < UNIVERSE; key++) model.count[key] = model.count[key] > 0;
    model.is_exact &= info_stats.saturated_counters == 0;
    struct slot made = {.filter = bits};
    must(stats_of(made.filter).bits_set == info_stats.bits_set && !counts(&info) == false);
    fill_slot(to, bits, &model, slot->has_secret);
    to->refuses_overfull = true;
}

static void call_metadata(struct slot *slot)
{
    uint32_t size = take_below(&world.in, 300);
    petal_error error;
    size_t bytes = 0;
    struct image before = image_of(slot);
    petal_status status = petal_set_metadata(slot->filter, key_bytes[3], size, &error);
    if (status == PETAL_OK) {
        const void *kept = petal_metadata(slot->filter, &bytes);
        must(bytes == size && (size == 0 || memcmp(kept, key_bytes[3], size) == 0));
    } else {
        must_be_told(&error, status);
        must(status == PETAL_ERR_UNSUPPORTED || status == PETAL_ERR_READ_ONLY ||
             is_excused(slot, status));
        must(slot->mode != OWN || status == PETAL_ERR_MEMORY);
        must_be_unchanged(slot, before);
    }
    free(before.bytes);
}

static petal_open_options opening(unsigned flags, bool has_secret, const char *format)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    options.secret = has_secret ? secret : NULL;
    options.allocator = &world.allocator;
    options.format = format;
    return options;
}

/* Serializes the filter, and then loads or views the image. */
static void call_reload(struct slot *slot)
{
    uint32_t way = take_below(&world.in, 4);
    struct slot *to = take_slot();
    struct image image = image_of(slot);
    petal_error error;
    petal_open_options options =
        opening(PETAL_OPEN_LOAD | (way & 2 ? PETAL_OPEN_VERIFY : 0), slot->has_secret, NULL);
    petal_filter *back = NULL;
    if (image.size == 0) {
        free(image.bytes);
        return;
    }
    options.flags = way & 1 ? way & 2 ? PETAL_OPEN_VERIFY : 0 : options.flags;
    petal_status status = way & 1 ? petal_view(image.bytes, image.size, &options, &back, &error)
                                  : petal_load(image.bytes, image.size, &options, &back, &error);
    must((status == PETAL_OK) == (back != NULL));
    if (status != PETAL_OK) {
        must_be_told(&error, status);
        must(status == PETAL_ERR_MEMORY && world.has_failed);
        free(image.bytes);
        return;
    }
    struct slot made = {.filter = back};
    if (!file_info_of(slot->filter).live && !is_beside_a_writer(slot)) must_match(slot, &made);
    struct model model = slot->model;
    fill_slot(to, back, &model, slot->has_secret);
    if (way & 1) {
        to->mode = VIEW;
        to->bytes = image.bytes;
    } else {
        free(image.bytes);
    }
}

/* Writes the filter in the format for which it was created, and reads it back. The bits must be the
 * same. */
static void call_own_format(struct slot *slot)
{
    const petal_info info = slot->kind;
    petal_open_options options = opening(PETAL_OPEN_LOAD, false, info.format_name);
    petal_filter *back = NULL;
    petal_error error;
    if (strcmp(info.format_name, "petal") == 0) return;
    size_t size = petal_serialized_bytes(slot->filter, SAVE_AS(info.format_name));
    if (size == 0) fprintf(stderr, "%s cannot be written\n", info.format_name);
    must(size > 0 || world.has_failed);
    if (size == 0) return;
    uint8_t *bytes = malloc(size);
    must(bytes != NULL);
    petal_status status =
        petal_serialize(slot->filter, SAVE_AS(info.format_name), bytes, size, &error);
    if (status == PETAL_OK) status = petal_load(bytes, size, &options, &back, &error);
    if (status != PETAL_OK && !is_excused(slot, status))
        fprintf(stderr, "%s: %s\n", info.format_name, error.message);
    must(status == PETAL_OK || is_excused(slot, status));
    if (status == PETAL_OK) {
        struct slot made = {.filter = back, .kind = info, .model = slot->model};
        check_keys(&made, 0);
        if (!is_beside_a_writer(slot))
            must(stats_of(made.filter).bits_set == stats_of(slot->filter).bits_set);
    }
    petal_free(back);
    free(bytes);
}

static void call_save(struct slot *slot)
{
    uint32_t way = take_below(&world.in, 8);
    struct file *file = &world.files[way & 1];
    unsigned flags = (way & 6) == 6 ? PETAL_SAVE_NO_REPLACE : 0;
    bool is_own = file->owner == number_of(slot), is_free = file->owner < 0;
    petal_error error;
    petal_status status = petal_save(slot->filter, file->path, SAVE_WITH(flags), &error);
    if (status == PETAL_OK) {
        must((is_free || is_own) && !(flags && file->exists));
        bool is_in_place = is_own && slot->mode == WRITABLE;
        file->exists = true;
        file->has_secret = slot->has_secret;
        file->model = slot->model;
        if (!is_in_place) file->generation++;
        return;
    }
    must_be_told(&error, status);
    if (status == PETAL_ERR_EXISTS)
        must(flags && file->exists);
    else if (status == PETAL_ERR_BUSY)
        must((!is_free && !is_own) || is_excused(slot, status));
    else
        must(is_excused(slot, status));
}

/* If a slot has the file open for writing, the file contains the state of that slot's last sync. */
static void call_open(struct slot *slot)
{
    static const unsigned modes[8] = {PETAL_OPEN_MAP,
                                      PETAL_OPEN_WRITABLE,
                                      PETAL_OPEN_LOAD,
                                      PETAL_OPEN_MAP | PETAL_OPEN_LIVE,
                                      PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED,
                                      PETAL_OPEN_MAP | PETAL_OPEN_VERIFY,
                                      PETAL_OPEN_WRITABLE | PETAL_OPEN_VERIFY,
                                      PETAL_OPEN_WRITABLE};
    static const enum mode becomes[8] = {MAP, WRITABLE, OWN, LIVE, LOCKED, MAP, WRITABLE, WRITABLE};
    uint32_t way = take_below(&world.in, 16), choice = way >> 1;
    struct file *file = &world.files[way & 1];
    enum mode mode = becomes[choice];
    petal_open_options options = opening(modes[choice], file->has_secret, NULL);
    petal_filter *filter = NULL;
    petal_error error;
    empty_slot(slot);
    bool is_locked = file->owner >= 0,
         is_changing = is_locked && world.slots[file->owner].mode == WRITABLE;
    petal_status status = petal_open(file->path, &options, &filter, &error);
    must((status == PETAL_OK) == (filter != NULL));
    if (status != PETAL_OK) {
        must_be_told(&error, status);
        if (status == PETAL_ERR_IO)
            must(!file->exists);
        else if (status == PETAL_ERR_BUSY)
            must(mode == WRITABLE || mode == LOCKED ? is_locked : is_changing);
        else if (status == PETAL_ERR_UNSUPPORTED)
            must(mode == WRITABLE); /* a window's map is not writable */
        else
            must(status == PETAL_ERR_MEMORY && world.has_failed);
        return;
    }
    must(file->exists && !(is_locked && (mode == WRITABLE || mode == LOCKED)));
    fill_slot(slot, filter, &file->model, file->has_secret);
    slot->mode = mode;
    slot->file = (int)(file - world.files);
    slot->generation = file->generation;
    if (mode == WRITABLE || mode == LOCKED) file->owner = number_of(slot);
    if (is_changing) slot->model.is_exact = false;
}

static void call_sync(struct slot *slot)
{
    petal_error error;
    petal_status status = petal_sync(slot->filter, &error);
    if (status != PETAL_OK) fprintf(stderr, "sync: %s\n", error.message);
    must(status == PETAL_OK);
    if (slot->mode == WRITABLE) world.files[slot->file].model = slot->model;
}

static void call_verify(struct slot *slot)
{
    petal_error error;
    petal_status status = petal_verify(slot->filter, &error);
    if (status < 0 && !is_excused(slot, status)) fprintf(stderr, "verify: %s\n", error.message);
    must(status == PETAL_OK || status == PETAL_UNCHECKED || is_excused(slot, status));
}

static void call_share(struct slot *slot)
{
    petal_error error;
    const petal_info info = slot->kind;
    petal_status status = petal_allow_threads(slot->filter, &error);
    if (status == PETAL_OK) {
        slot->is_shared = true;
        return;
    }
    must_be_told(&error, status);
    bool is_foreign = info.scheme > PETAL_SCHEME_COUNTING;
    if (status == PETAL_ERR_UNSUPPORTED)
        must(info.policy != PETAL_POLICY_NONE || counts(&info) || is_foreign || is_read_only(slot));
    else
        must(status == PETAL_ERR_READ_ONLY ? is_read_only(slot) : is_excused(slot, status));
}

static void call_inline(struct slot *slot)
{
    const petal_info info = slot->kind;
    uint32_t way = take_below(&world.in, 2);
    petal_inline hot = PETAL_INLINE_INIT;
    petal_error error;
    petal_status status = way == 1 ? petal_inline_begin_adding(slot->filter, &hot, &error)
                                   : petal_inline_begin(slot->filter, &hot, &error);
    if (status != PETAL_OK) {
        must_be_told(&error, status);
        must(status == PETAL_ERR_UNSUPPORTED ||
             (status == PETAL_ERR_READ_ONLY && is_read_only(slot)) || is_excused(slot, status));
        return;
    }
    for (unsigned i = take_below(&world.in, 8); i > 0 && way == 1; i--) {
        unsigned key = take_key(&info, true);
        bool is_new = petal_inline_add_i64(&hot, (int64_t)key);
        must(!is_new || !must_have(&slot->model, &info, key));
        note_add(&slot->model, false, key);
    }
    for (unsigned key = NUMBERS_FROM; key < UNIVERSE; key++)
        must(!must_have(&slot->model, &info, key) || petal_inline_contains_i64(&hot, (int64_t)key));
    petal_inline_end(slot->filter, &hot);
}

static void must_be_sound(petal_estimate of, double low, double high)
{
    must(isnan(of.value) ||
         (of.low >= low && of.low <= of.value && of.value <= of.high && of.high <= high));
}

static void call_compare(struct slot *slot)
{
    struct slot *other = take_slot();
    petal_comparison of = PETAL_COMPARISON_INIT;
    petal_error error;
    if (!other->filter) return;
    petal_status status = petal_compare(slot->filter, other->filter, &of, &error);
    if (status != PETAL_OK) {
        must_be_told(&error, status);
        must(status == PETAL_ERR_MISMATCH || status == PETAL_ERR_UNSUPPORTED ||
             is_excused(slot, status) || is_excused(other, status));
        return;
    }
    must_be_sound(of.jaccard, 0, 1);
    must_be_sound(of.containment_a_in_b, 0, 1);
    must_be_sound(of.containment_b_in_a, 0, 1);
    if (slot == other && !of.saturated && of.items_a.value > 0) must(of.jaccard.high == 1);
}

static void call_advance(struct slot *slot)
{
    const petal_info info = slot->kind;
    uint64_t now = slot->model.clock + take(&world.in, 1);
    petal_error error;
    if (take_below(&world.in, 16) == 0) now = take_number(&world.in);
    struct image before = image_of(slot);
    petal_status status = petal_set_clock(slot->filter, now, &error);
    if (status != PETAL_OK) {
        must_be_told(&error, status);
        if (info.policy != PETAL_POLICY_WINDOW_TIME)
            must(status == PETAL_ERR_UNSUPPORTED);
        else
            must((status == PETAL_ERR_ARGUMENT && now > INT64_MAX) ||
                 (status == PETAL_ERR_READ_ONLY && is_read_only(slot)) || is_excused(slot, status));
        must_be_unchanged(slot, before);
    } else if (now > slot->model.clock) {
        must(info.policy == PETAL_POLICY_WINDOW_TIME);
        for (unsigned key = 0; key < UNIVERSE && slot->model.clock == 0; key++)
            slot->model.time[key] = now;
        slot->model.clock = now;
    }
    free(before.bytes);
}

/* Checks the estimates that the filter derives from its bits. */
static void call_look(const struct slot *slot)
{
    petal_info info = info_of(slot->filter);
    petal_stats info_stats = stats_of(slot->filter);
    must(info.items == 0 || info_stats.bits_set > 0 || info.policy != PETAL_POLICY_NONE ||
         !slot->model.is_exact);
    must(!petal_is_overfull(slot->filter) || info.items > info.capacity);
    /* The rate is NAN for filters of other libraries whose rate can't be modeled well. */
    must(info_stats.bits_set <= info.bits && !(info_stats.estimated_rate < 0) &&
         !(info_stats.estimated_rate > 1));
    must(info_stats.saturated == (info_stats.bits_set == info.bits));
}

static void call(void)
{
    uint32_t what = take_below(&world.in, 32);
    struct slot *slot = take_slot();
    world.has_failed = false;
    if (what >= 24) what = what < 26 ? 1 : what < 29 ? 2 : what == 29 ? 14 : 0;
    if (what == 14 || what == 0 || !slot->filter) {
        if (what == 14)
            call_open(slot);
        else
            call_create(slot);
        return;
    }
    switch (what) {
    case 1: call_add(slot); break;
    case 2: call_add_batch(slot); break;
    case 3:
        check_keys(slot, take_below(&world.in, 6));
        call_look(slot);
        break;
    case 4: call_remove(slot); break;
    case 5: call_combine(slot, true); break;
    case 6: call_combine(slot, false); break;
    case 7: call_clear(slot); break;
    case 8: call_clone(slot); break;
    case 9: call_like(slot); break;
    case 10: call_convert(slot); break;
    case 11: call_metadata(slot); break;
    case 12: call_reload(slot); break;
    case 13: call_save(slot); break;
    case 15: call_sync(slot); break;
    case 16: call_verify(slot); break;
    case 17: call_share(slot); break;
    case 18: call_inline(slot); break;
    case 19: call_compare(slot); break;
    case 20: call_advance(slot); break;
    case 21: empty_slot(slot); break;
    case 22: call_own_format(slot); break;
    default: world.fail_in = 1 + take_below(&world.in, 6); break;
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Checks the keys of one slot (in turn) after each call, and those of all slots at the end. These
 * checks take most of the time. */
static void check_all(int turn)
{
    uint64_t bytes = 0;
    for (int i = 0; i < SLOTS; i++) {
        const struct slot *slot = &world.slots[i];
        bool has_own = slot->mode == OWN || slot->mode == LOCKED,
             grows = slot->kind.policy != PETAL_POLICY_NONE;
        if (!slot->filter) continue;
        if (turn < 0 || turn % SLOTS == i) check_keys(slot, (unsigned)i);
        grows = grows || slot->kind.scheme > PETAL_SCHEME_COUNTING;
        bytes += OVERHEAD + (!has_own ? 0 : grows ? info_of(slot->filter).bytes : slot->kind.bytes);
    }
    must(world.budget.used <= bytes);
}

/* Files are in this process's own folder, in TMPDIR if that is set, otherwise in memory if
 * possible. */
static char folder[256];

static void remove_folder(void)
{
    rmdir(folder);
}

static void make_folder(void)
{
    const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    if (folder[0]) return;
    if (getenv("TMPDIR")) parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/petal-fuzz-XXXXXX", parent);
    must(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    for (int i = 0; i < FILES; i++)
        snprintf(world.files[i].path, sizeof world.files[i].path, "%s/%d.petal", folder, i);
    make_keys();
}

static void begin(const uint8_t *data, size_t size_bytes)
{
    make_folder();
    world.in = (struct input){data, size_bytes};
    world.budget = (struct budget){MEMORY_LIMIT, 0, 0};
    world.allocator = allocator_of(&world.budget);
    world.allocator.alloc_zeroed = alloc_or_fail;
    world.fail_in = 0;
    for (int i = 0; i < FILES; i++) {
        struct file *file = &world.files[i];
        file->exists = false;
        file->owner = -1;
        file->generation = 0;
        unlink(file->path);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    begin(data, size_bytes);
    for (int calls = 0; world.in.left > 0 && calls < MAX_CALLS; calls++) {
        call();
        check_all(calls);
    }
    check_all(-1);
    world.fail_in = 0;
    for (int i = 0; i < SLOTS; i++) empty_slot(&world.slots[i]);
    must(world.budget.used == 0);
    for (int i = 0; i < FILES; i++) unlink(world.files[i].path);
    return 0;
}
