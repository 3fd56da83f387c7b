/* slots.c - proves that if a header slot was only partly written, the filter is still readable and
 * no synced key is lost.
 *
 * This test redefines the C library functions that write to the file. Each redefined function calls
 * the original, and records the file's contents before and after the call. A writer may die in the
 * middle of a store, between two of these states. So the test finds the 8-byte words in which the
 * two versions of a header slot differ (and also the single bytes, although no machine tears a
 * store that finely). The test applies every prefix of these changes, and random subsets. It takes
 * the rest of the file from the state before the store, from the state after it, or from a mixture
 * of the two. Each resulting file must equal one of the two states, or be reported as dirty with
 * advice. PETAL_OPEN_RECOVER must find every key in the last completed sync. Recoveries are torn in
 * the same way, to a depth of two. The amount is the number of files checked. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "lib/next.h"

#include "campaign.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- what the file held, and when ------------------------------------------------------------ */

struct state {
    struct bytes bytes;
    uint64_t synced; /* number of keys in all completed syncs */
};

#define STATES_PER_TRAIL 64

struct trail {
    struct state states[STATES_PER_TRAIL];
    size_t count;
};

static struct trail *watching; /* NULL if not recording */
static char watched[PATH_MAX];
static uint64_t synced;

static void note_state(void)
{
    if (!watching || watching->count == STATES_PER_TRAIL) return;
    struct state now = {read_file(watched), synced};
    struct state *last = watching->count ? &watching->states[watching->count - 1] : NULL;
    if (last && same_bytes(last->bytes, now.bytes)) {
        free(now.bytes.data);
        last->synced = synced;
    } else {
        watching->states[watching->count++] = now;
    }
}

static void free_trail(struct trail *trail)
{
    for (size_t i = 0; i < trail->count; i++) free(trail->states[i].bytes.data);
    trail->count = 0;
}

/* ---- the calls ------------------------------------------------------------------------------- */

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    ssize_t (*next)(int, const void *, size_t, off_t);
    FIND(next, "pwrite");
    note_state();
    ssize_t written = next(descriptor, bytes, size, offset);
    note_state();
    return written;
}

int msync(void *from, size_t size, int flags)
{
    int (*next)(void *, size_t, int);
    FIND(next, "msync");
    note_state();
    return next(from, size, flags);
}

int fsync(int descriptor)
{
    int (*next)(int);
    FIND(next, "fsync");
    note_state();
    return next(descriptor);
}

int fdatasync(int descriptor)
{
    int (*next)(int);
    FIND(next, "fdatasync");
    note_state();
    return next(descriptor);
}

int munmap(void *from, size_t size)
{
    int (*next)(void *, size_t);
    FIND(next, "munmap");
    note_state();
    return next(from, size);
}

/* ---- torn files ------------------------------------------------------------------------------ */

enum { WORDS_IN_ORDER, RANDOM_WORDS, RANDOM_BYTES, TEARINGS };
enum { REST_BEFORE, REST_AFTER, REST_MIXED, RESTS };

/* Copies some of the units that differ between `from` and `to` from `after` to `torn`: random units
 * if `at_random` is true, otherwise the first `in_order` units. A unit is a byte or an 8-byte
 * word. */
static void mix(struct bytes torn, struct bytes after, size_t from, size_t to, size_t unit,
                size_t in_order, bool at_random)
{
    for (size_t at = from, number = 0; at + unit <= to; at += unit) {
        if (memcmp(torn.data + at, after.data + at, unit) == 0) continue;
        if (at_random ? random_below(2) : number < in_order)
            memcpy(torn.data + at, after.data + at, unit);
        number++;
    }
}

static size_t units_that_differ(struct bytes a, struct bytes b, size_t from, size_t to, size_t unit)
{
    size_t count = 0;
    for (size_t at = from; at + unit <= to; at += unit)
        count += memcmp(a.data + at, b.data + at, unit) != 0;
    return count;
}

/* Returns the total length of the two slots. Each slot stores its own length at offset 16. */
static size_t header_bytes(struct bytes file)
{
    uint32_t size;
    memcpy(&size, file.data + 16, sizeof size);
    return 2 * (size_t)(size == 1024 || size == 2048 || size == 4096 ? size : 512);
}

/* Returns true if both slots have the right checksum (see docs/format.md). Even a torn slot may
 * have it, since it may equal the slot's old contents. */
static bool is_sealed(struct bytes file)
{
    size_t size = header_bytes(file) / 2;
    for (size_t i = 0; i < 2; i++) {
        uint64_t recorded, sum = XXH3_64bits_withSeed(file.data + i * size, size - 8, i);
        memcpy(&recorded, file.data + (i + 1) * size - 8, sizeof recorded);
        if (recorded != sum) return false;
    }
    return true;
}

/* ---- judging --------------------------------------------------------------------------------- */

static const char *path;
static uint64_t judged, torn_headers, recoveries, tool_runs;

/* A description, for reports, of how the file being judged was created. */
static char origin[160];

/* Expects the keys to be in the filter. If there are many keys, checks only the last 500 and 500
 * random ones. */
static void expect_keys(const petal_filter *filter, uint64_t keys, const char *how)
{
    uint64_t all = keys < 1000 ? keys : 500, missing = missing_keys(filter, keys - all, keys);
    for (uint64_t i = 0; keys > all && i < 500; i++)
        missing += !has_key(filter, random_below(keys));
    expect(missing == 0, "%s: %s: %" PRIu64 " of %" PRIu64 " synced keys missing", origin, how,
           missing, keys);
}

/* Expects that a reader reports a torn header as dirty. A complete header may be dirty or clean. */
static petal_status judge_reading(unsigned flags, const char *mode, bool is_torn, uint64_t keys)
{
    petal_filter *filter;
    petal_error error;
    petal_status status = open_flags(path, flags, &filter, &error);
    expect(status == PETAL_ERR_DIRTY || (status == PETAL_OK && !is_torn), "%s: %s gives \"%s\": %s",
           origin, mode, petal_status_name(status), error.message);
    expect(status != PETAL_ERR_DIRTY || strstr(error.message, "recover"),
           "%s: %s does not say the way out: %s", origin, mode, error.message);
    if (status == PETAL_OK) expect_keys(filter, keys, mode);
    petal_free(filter);
    return status;
}

static void judge_recovery_by_loading(uint64_t keys)
{
    petal_filter *filter;
    petal_error error;
    petal_status status = open_flags(path, PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER, &filter, &error);
    if (expect(status == PETAL_OK, "%s: LOAD | RECOVER gives \"%s\": %s", origin,
               petal_status_name(status), error.message))
        expect_keys(filter, keys, "LOAD | RECOVER");
    petal_free(filter);
}

/* Recovers the file in place and records the file's states in *trail. */
static void judge_recovery_in_place(uint64_t keys, struct trail *trail)
{
    petal_filter *filter;
    petal_error error;
    synced = keys;
    watching = trail;
    note_state();
    petal_status status =
        open_flags(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_RECOVER, &filter, &error);
    recoveries++;
    if (expect(status == PETAL_OK, "%s: WRITABLE | RECOVER gives \"%s\": %s", origin,
               petal_status_name(status), error.message)) {
        expect_keys(filter, keys, "WRITABLE | RECOVER");
        status = petal_sync(filter, &error);
        expect(status == PETAL_OK, "%s: sync after recovering: %s", origin, error.message);
        note_state();
    }
    petal_free(filter);
    watching = NULL;
    if (status != PETAL_OK) return;
    status = open_flags(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, &filter, &error);
    if (expect(status == PETAL_OK, "%s: recovered, and then \"%s\": %s", origin,
               petal_status_name(status), error.message))
        expect_keys(filter, keys, "recovered");
    petal_free(filter);
}

static void judge_tool(bool is_torn, struct bytes torn)
{
    struct command command;
    const char *recover[] = {tool_path(), "verify", "--recover", path, NULL};
    const char *verify[] = {tool_path(), "verify", path, NULL};
    write_file(path, torn.data, torn.size);
    run_tool(&command, verify);
    expect(!has_succeeded(&command) || !is_torn, "%s: petal verify calls it intact", origin);
    expect(!strstr(command.said, "damaged"), "%s: petal verify says %s", origin, command.said);
    run_tool(&command, recover);
    expect(has_succeeded(&command), "%s: petal verify --recover: %s, %s", origin,
           ending_of(&command), command.said);
    run_tool(&command, verify);
    expect(has_succeeded(&command), "%s: petal verify then: %s, %s", origin, ending_of(&command),
           command.said);
    tool_runs += 3;
}

/* Judges a file that a crash could have left behind. If `trail` is not NULL, records the states of
 * the file during its recovery. */
static void judge(struct bytes torn, bool is_torn, uint64_t keys, bool through_tool,
                  struct trail *trail)
{
    struct trail unused = {.count = 0};
    judged++;
    torn_headers += is_torn;
    write_file(path, torn.data, torn.size);
    judge_reading(PETAL_OPEN_MAP, "MAP", is_torn, keys);
    judge_reading(PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, "VERIFY", is_torn, keys);
    judge_reading(PETAL_OPEN_MAP | PETAL_OPEN_LIVE, "LIVE", is_torn, keys);
    judge_recovery_by_loading(keys);
    judge_recovery_in_place(keys, trail ? trail : &unused);
    free_trail(&unused);
    if (through_tool) judge_tool(is_torn, torn);
}

/* ---- tearing --------------------------------------------------------------------------------- */

static void tear_trail(const struct trail *trail, const char *what, unsigned depth, uint64_t until);

/* A quarter of the files that are torn at this depth are also judged with the tool. */
#define TOOL_DEPTH 1

/* Tears one step of a writer in one way and judges the resulting file. If `depth` is above 0, also
 * tears the steps of the recovery. */
static void tear_step(const struct trail *trail, size_t step, const char *what, int tearing,
                      size_t in_order, int rest, unsigned depth, uint64_t until)
{
    const struct state *before = &trail->states[step], *after = &trail->states[step + 1];
    size_t header = header_bytes(before->bytes), unit = tearing == RANDOM_BYTES ? 1 : 8;
    struct bytes torn = copy_of(before->bytes);
    struct trail recovery = {.count = 0};
    mix(torn, after->bytes, 0, header, unit, in_order, tearing != WORDS_IN_ORDER);
    mix(torn, after->bytes, header, torn.size, 8, rest == REST_AFTER ? SIZE_MAX : 0,
        rest == REST_MIXED);
    bool is_torn = !is_sealed(torn);
    snprintf(origin, sizeof origin, "%.100s step %zu, tearing %d/%zu, rest %d", what, step, tearing,
             in_order, rest);
    judge(torn, is_torn, before->synced, depth == TOOL_DEPTH && random_below(4) == 0, &recovery);
    free(torn.data);
    if (depth > 0) {
        char deeper[120];
        snprintf(deeper, sizeof deeper, "%.90s > recovery", origin);
        tear_trail(&recovery, deeper, depth - 1, until);
    }
    free_trail(&recovery);
}

/* Tries every prefix of every step. At depth 0 there would be too many, so tear_trail() only tries
 * random changes there. */
static void tear_in_order(const struct trail *trail, const char *what, unsigned depth,
                          uint64_t until)
{
    for (size_t i = 0; i + 1 < trail->count && judged < until; i++) {
        struct bytes before = trail->states[i].bytes, after = trail->states[i + 1].bytes;
        size_t words = units_that_differ(before, after, 0, header_bytes(before), 8);
        for (size_t prefix = 0; prefix <= words && judged < until; prefix++)
            for (int rest = REST_BEFORE; rest < RESTS; rest++)
                tear_step(trail, i, what, WORDS_IN_ORDER, prefix, rest, depth, until);
    }
}

static void tear_at_random(const struct trail *trail, const char *what, unsigned depth,
                           uint64_t until)
{
    size_t step = (size_t)random_below(trail->count - 1);
    int tearing = RANDOM_WORDS + (int)random_below(2), rest = (int)random_below(RESTS);
    if (judged < until) tear_step(trail, step, what, tearing, 0, rest, depth, until);
}

/* At depth 0, a few files per trail are enough, because there are many trails. */
static void tear_trail(const struct trail *trail, const char *what, unsigned depth, uint64_t until)
{
    if (trail->count < 2) return;
    if (depth > 0) {
        tear_in_order(trail, what, depth - 1, until);
        for (int i = 0; i < 16; i++) tear_at_random(trail, what, depth - 1, until);
    } else {
        for (int i = 0; i < 3; i++) tear_at_random(trail, what, 0, until);
    }
}

/* ---- the campaign ---------------------------------------------------------------------------- */

struct subject {
    const char *name;
    uint32_t scheme;
    uint64_t capacity;
    bool grows;
};

static petal_filter *make_subject(const struct subject *subject)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    options.scheme = subject->scheme;
    options.capacity = subject->capacity;
    options.rate = 0.01;
    options.growth = subject->grows;
    if (petal_create(&options, &filter, &error) != PETAL_OK)
        give_up("petal_create: %s", error.message);
    return filter;
}

/* Opens the file, adds keys and syncs twice, and records every state of the file. */
static void record(const struct subject *subject, struct trail *trail)
{
    uint64_t first = subject->capacity / 2 + (subject->grows ? 40 * subject->capacity : 0),
             step = subject->capacity / 8;
    petal_filter *filter = make_subject(subject);
    petal_error error;
    if (add_keys(filter, 0, first) != PETAL_OK) give_up("petal_add");
    save_or_give_up(filter, path);
    petal_free(filter);
    synced = first;
    watching = trail;
    note_state();
    if (open_flags(path, PETAL_OPEN_WRITABLE, &filter, &error) != PETAL_OK)
        give_up("petal_open: %s", error.message);
    for (uint64_t keys = first + step; keys <= first + 2 * step; keys += step) {
        petal_status status = add_keys(filter, keys - step, keys);
        if (status == PETAL_OK) status = petal_sync(filter, &error);
        if (status != PETAL_OK) give_up("petal_sync: %s", petal_status_name(status));
        synced = keys;
        note_state();
    }
    petal_free(filter);
    watching = NULL;
    expect(trail->count >= 7, "only %zu states were seen: the writer is not watched", trail->count);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {{"blocked", PETAL_SCHEME_BLOCKED, 2000, false},
                                              {"classic", PETAL_SCHEME_CLASSIC, 500, false},
                                              {"counting", PETAL_SCHEME_COUNTING, 500, false},
                                              {"two blocks", PETAL_SCHEME_BLOCKED, 80000, false},
                                              {"six layers", PETAL_SCHEME_BLOCKED, 16, true}};
    uint64_t amount = amount_of(argc, argv, 8000, 1000000);
    make_folder();
    path = in_folder("f.petal");
    snprintf(watched, sizeof watched, "%s", path);
    for (size_t i = 0; i < COUNT(subjects); i++) {
        char promise[160];
        struct trail trail = {.count = 0};
        record(&subjects[i], &trail);
        uint64_t until = judged + amount / COUNT(subjects);
        tear_in_order(&trail, subjects[i].name, 1, until);
        while (judged < until && trail.count > 1) tear_trail(&trail, subjects[i].name, 3, until);
        free_trail(&trail);
        snprintf(promise, sizeof promise,
                 "%s: a header slot torn at any word is dirty, and recovers every synced key",
                 subjects[i].name);
        end_case(promise);
    }
    return end_campaign("%" PRIu64 " torn files, of %" PRIu64 " the header, %" PRIu64
                        " recoveries, %" PRIu64 " runs of the tool",
                        judged, torn_headers, recoveries, tool_runs);
}
