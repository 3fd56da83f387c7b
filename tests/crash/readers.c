/* readers.c - proves that a process that opens a file while another process changes it gets either
 * a correct filter or an error saying that the file is dirty or busy.
 *
 * One process repeatedly opens the file, adds keys, syncs and closes the file, and sometimes saves
 * a new file over it. Eight other processes open the file in every mode as fast as they can. An
 * open may fail with PETAL_ERR_BUSY or PETAL_ERR_DIRTY. If it returns PETAL_OK, the filter must
 * contain every key in the last sync that completed before the open. With PETAL_OPEN_LIVE, an open
 * must return PETAL_OK while the writer has the file open. Verifying or copying an open map that is
 * being changed may fail with PETAL_ERR_BUSY, but must never report damage. An index file is never
 * changed, only replaced. So while a process adds filters to an index, every open must return
 * PETAL_OK, and the index must have valid bits and contain every filter saved earlier. The amount
 * is the number of opens. */
#define _GNU_SOURCE
#include "campaign.h"

#include <sched.h>
#include <stdatomic.h>

#define CAPACITY 4000u
#define READERS 8
#define FILTERS 60u /* maximum number of filters before a new index is started */
#define KEYS_OF_EACH 20u

enum { MAPPED, LOADED, VERIFIED, LIVE, USED, INDEX, MODES };
static const char *const mode_names[MODES] = {
    "MAP", "LOAD", "VERIFY", "LIVE", "MAP, to be verified and copied,", "petal_index_open"};
static const unsigned mode_flags[MODES] = {PETAL_OPEN_MAP, PETAL_OPEN_LOAD,
                                           PETAL_OPEN_MAP | PETAL_OPEN_VERIFY,
                                           PETAL_OPEN_MAP | PETAL_OPEN_LIVE, PETAL_OPEN_MAP};

/* The data that the processes share in memory. */
static struct shared {
    /* Keys 0 .. synced - 1 are in the file. The upper 32 bits are the file number, because each new
     * file starts without keys. */
    _Atomic uint64_t synced;
    /* Filters 0 .. indexed - 1 are in the index, with KEYS_OF_EACH keys each. The upper 32 bits are
     * the index number. */
    _Atomic uint64_t indexed;
    _Atomic uint64_t held; /* odd while the writer certainly holds the lock */
    _Atomic uint64_t opens[MODES], statuses[MODES][32], missing[MODES];
    _Atomic uint64_t updates, replacements, indexes;
    _Atomic bool stop;
    _Atomic uint64_t left; /* number of remaining opens */
} * shared;

/* ---- the writer ------------------------------------------------------------------------------ */

static uint64_t file_number;

static void start_anew(const char *path)
{
    petal_filter *filter = new_filter(PETAL_SCHEME_BLOCKED, CAPACITY, 0.001);
    /* Store the file number before saving, since a reader may see either file during the save. */
    atomic_store(&shared->synced, ++file_number << 32);
    save_or_give_up(filter, path);
    petal_free(filter);
    atomic_fetch_add(&shared->replacements, 1);
}

/* Opens the file, and adds keys and syncs several times. Returns false if the file is full. */
static bool change(const char *path, uint64_t *next)
{
    petal_filter *filter;
    petal_error error;
    if (open_flags(path, PETAL_OPEN_WRITABLE, &filter, &error) != PETAL_OK)
        give_up("the writer: %s", error.message);
    atomic_fetch_add(&shared->held, 1);
    for (unsigned i = 0; i < 8 && *next < CAPACITY; i++) {
        uint64_t to = *next + 1 + *next % 5;
        petal_status status = add_keys(filter, *next, to);
        if (status == PETAL_OK) status = petal_sync(filter, &error);
        if (status != PETAL_OK) give_up("the writer: %s", petal_status_name(status));
        *next = to;
        atomic_store(&shared->synced, file_number << 32 | to);
        atomic_fetch_add(&shared->updates, 1);
    }
    atomic_fetch_add(&shared->held, 1);
    petal_free(filter);
    return *next < CAPACITY;
}

static void write_on(const char *path)
{
    uint64_t next = 0;
    while (!atomic_load(&shared->stop)) {
        if (change(path, &next)) continue;
        start_anew(path);
        next = 0;
    }
}

static const char *index_path;

/* Adds a filter to the index in the file. If `number` is 0, starts a new index. */
static void save_one_more(uint64_t number)
{
    petal_filter *filter = new_filter(PETAL_SCHEME_BLOCKED, KEYS_OF_EACH, 0.001);
    char name[KEY_TEXT];
    key_text(number, name);
    add_keys(filter, number * KEYS_OF_EACH, (number + 1) * KEYS_OF_EACH);
    put_in_index(index_path, number == 0, name, filter);
    petal_free(filter);
    atomic_fetch_add(&shared->indexes, 1);
}

static void write_index_on(void)
{
    for (uint64_t round = 1; !atomic_load(&shared->stop); round++) {
        atomic_store(&shared->indexed, round << 32);
        for (uint64_t i = 0; i < FILTERS && !atomic_load(&shared->stop); i++) {
            save_one_more(i);
            atomic_store(&shared->indexed, round << 32 | (i + 1));
        }
    }
}

/* ---- the readers ----------------------------------------------------------------------------- */

/* Returns the number of missing keys in a sample of those that were synced before the file was
 * opened. If the file has been replaced since then, returns 0, because the new file never contained
 * those keys. */
static uint64_t count_missing(const petal_filter *filter, uint64_t before)
{
    uint64_t keys = before & UINT32_MAX, missing = 0;
    if (atomic_load(&shared->synced) >> 32 != before >> 32) return 0;
    for (uint64_t i = 0; i < 4 && keys > 0; i++)
        missing += !has_key(filter, i ? random_below(keys) : keys - 1);
    return atomic_load(&shared->synced) >> 32 == before >> 32 ? missing : 0;
}

/* Verifies and copies the map, which another process may be changing at the same time. */
static petal_status use(const petal_filter *filter, uint64_t before, petal_error *error)
{
    petal_filter *copy = NULL;
    petal_status status = petal_verify(filter, error);
    if (status == PETAL_OK) status = petal_clone(filter, &copy, error);
    if (copy) atomic_fetch_add(&shared->missing[USED], count_missing(copy, before));
    petal_free(copy);
    return status;
}

/* Like count_missing(), but for the keys of the filters that were in the index before it was
 * opened. */
static uint64_t count_missing_in_index(const petal_index *index, uint64_t before)
{
    uint64_t keys = (before & UINT32_MAX) * KEYS_OF_EACH, missing = 0;
    for (uint64_t i = 0; i < 4 && keys > 0; i++) {
        uint64_t key = i ? random_below(keys) : keys - 1;
        missing += missing_in_index(index, key, key + 1);
    }
    return atomic_load(&shared->indexed) >> 32 == before >> 32 ? missing : 0;
}

static void note_status(int mode, petal_status status, const petal_error *error)
{
    if (atomic_fetch_add(&shared->statuses[mode][(unsigned)-status % 32], 1) > 0) return;
    printf("# %s: %s: %s\n", mode_names[mode], petal_status_name(status), error->message);
    fflush(stdout);
}

static void open_index_once(void)
{
    petal_index *index;
    petal_error error;
    uint64_t before = atomic_load(&shared->indexed);
    petal_status status = open_index(index_path, &index, &error);
    atomic_fetch_add(&shared->opens[INDEX], 1);
    if (status == PETAL_OK)
        atomic_fetch_add(&shared->missing[INDEX], count_missing_in_index(index, before));
    else
        note_status(INDEX, status, &error);
    petal_index_free(index);
}

static void open_once(const char *path, int mode)
{
    if (mode == INDEX) {
        open_index_once();
        return;
    }
    petal_filter *filter;
    petal_error error;
    uint64_t before = atomic_load(&shared->synced), held = atomic_load(&shared->held);
    petal_status status = open_flags(path, mode_flags[mode], &filter, &error);
    if (status == PETAL_OK && mode == USED) status = use(filter, before, &error);
    /* If the writer held the lock the whole time, opening with LIVE must not report a dirty
     * file. */
    bool was_held = held % 2 == 1 && atomic_load(&shared->held) == held;
    bool is_honest =
        (status == PETAL_ERR_DIRTY || status == PETAL_ERR_BUSY) && (mode != LIVE || !was_held);
    atomic_fetch_add(&shared->opens[mode], 1);
    if (status == PETAL_OK) atomic_fetch_add(&shared->missing[mode], count_missing(filter, before));
    if (status != PETAL_OK && !is_honest) note_status(mode, status, &error);
    petal_free(filter);
}

static void read_on(const char *path, uint64_t seed)
{
    random_state = seed;
    while (!atomic_load(&shared->stop)) {
        static const int modes[16] = {VERIFIED, LOADED, LIVE, MAPPED, MAPPED, LOADED, LIVE, MAPPED,
                                      USED,     LOADED, LIVE, MAPPED, MAPPED, LOADED, LIVE, INDEX};
        for (int i = 0; i < 256; i++) open_once(path, modes[i % 16]);
        if (atomic_fetch_sub(&shared->left, 256) <= 256) atomic_store(&shared->stop, true);
    }
}

/* Starts a reader process, or a writer process if `seed` is 0. If `path` is NULL, the writer
 * changes the index. */
static pid_t in_child(const char *path, uint64_t seed)
{
    pid_t pid = fork();
    if (pid < 0) give_up("fork");
    if (pid > 0) return pid;
    if (seed)
        read_on(path, seed);
    else if (!path)
        write_index_on();
    else
        write_on(path);
    _exit(0);
}

/* ---- the campaign ---------------------------------------------------------------------------- */

static void report(void)
{
    for (int mode = 0; mode < MODES; mode++) {
        uint64_t opens = atomic_load(&shared->opens[mode]),
                 missing = atomic_load(&shared->missing[mode]);
        char promise[160];
        for (int i = 0; i < 32; i++) {
            uint64_t times = atomic_load(&shared->statuses[mode][i]);
            expect(times == 0, "%s: %s: %" PRIu64 " of %" PRIu64 " opens of a healthy file",
                   mode_names[mode], petal_status_name((petal_status)-i), times, opens);
        }
        expect(missing == 0, "%s: %" PRIu64 " keys of ended syncs missing", mode_names[mode],
               missing);
        snprintf(promise, sizeof promise,
                 "a file is opened with %s beside a writer: good, or honestly not",
                 mode_names[mode]);
        end_case(promise);
    }
    expect(atomic_load(&shared->updates) > 0 && atomic_load(&shared->replacements) > 0 &&
               atomic_load(&shared->indexes) > 1,
           "a writer did not write");
}

int main(int argc, char **argv)
{
    uint64_t amount = amount_of(argc, argv, 100000, 100000000), opens = 0, crashes = 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) give_up("mmap");
    make_folder();
    const char *path = strdup(in_folder("f.petal"));
    index_path = strdup(in_folder("i.petals"));
    atomic_store(&shared->left, amount);
    start_anew(path);
    save_one_more(0);
    double start = seconds_now();
    pid_t writers[2] = {in_child(path, 0), in_child(NULL, 0)}, readers[READERS];
    for (uint64_t i = 0; i < READERS; i++) readers[i] = in_child(path, i + 1);
    for (int ended = 0, status; ended < READERS;) {
        pid_t pid = wait(&status);
        if (pid == writers[0] || pid == writers[1]) {
            expect(status == 0 && atomic_load(&shared->stop), "a writer ended: status %#x",
                   (unsigned)status);
            atomic_store(&shared->stop, true);
            writers[pid == writers[1]] = 0;
            continue;
        }
        ended++;
        if (status == 0) continue;
        crashes++;
        expect(false, "a reader crashed: signal %d", WTERMSIG(status));
        if (atomic_load(&shared->stop)) continue;
        for (int i = 0; i < READERS; i++)
            if (readers[i] == pid && crashes < 20) {
                readers[i] = in_child(path, crashes + READERS);
                ended--;
            }
    }
    atomic_store(&shared->stop, true);
    for (int i = 0; i < 2; i++)
        if (writers[i]) waitpid(writers[i], NULL, 0);
    double seconds = seconds_now() - start;
    end_case("no reader crashes, and the writers go on");
    report();
    for (int mode = 0; mode < MODES; mode++) opens += atomic_load(&shared->opens[mode]);
    return end_campaign("%" PRIu64 " opens beside %" PRIu64 " updates, %" PRIu64
                        " replacements and %" PRIu64 " new indexes, %" PRIu64
                        " crashes; %.0f opens per second",
                        opens, atomic_load(&shared->updates), atomic_load(&shared->replacements),
                        atomic_load(&shared->indexes), crashes, (double)opens / seconds);
}
