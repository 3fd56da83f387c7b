/* powercuts.c - proves that after a power cut at any moment, the file contains every synced key or
 * is marked dirty.
 *
 * This test redefines the C library functions that write. Each redefined function calls the
 * original and records the data that is certainly on the disk (synced data) and the data that might
 * be on the disk (each 512-byte sector of any later state, and any rename whose folder was not
 * synced afterward). For each point in time, the test creates the files that a power cut could
 * leave behind: all possible files if at most 12 sectors are unsynced, otherwise a random
 * selection. The test opens each of these files. If a file is dirty, the test recovers it, and
 * interrupts the recovery in the same way. The amount is the number of files checked. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "lib/next.h"

#include "campaign.h"

#define SECTOR 512u

/* ---- what a disk might have ---------------------------------------------------------------- */

#define MIDDLES 6u
#define FILES 4u

/* A file, identified by its inode rather than its name. */
struct content {
    struct bytes surely, now;
    /* The most recent states of the file between `surely` and `now`. */
    struct bytes middles[MIDDLES];
    unsigned middle_count;
};

struct moment {
    struct content files[FILES];
    unsigned file_count;
    int surely_named, now_named; /* index of the file at the path, on disk and now; -1 if none */
    uint64_t synced;             /* number of keys that have been synced */
};

#define MOMENTS 96u

struct trail {
    struct moment *moments[MOMENTS];
    unsigned count;
};

static struct bytes nothing_if_null(struct bytes bytes)
{
    if (!bytes.data) bytes.data = calloc(1, 1);
    return bytes;
}

static struct content copy_content(const struct content *of)
{
    struct content copy = {
        .surely = copy_of(of->surely), .now = copy_of(of->now), .middle_count = of->middle_count};
    for (unsigned i = 0; i < of->middle_count; i++) copy.middles[i] = copy_of(of->middles[i]);
    return copy;
}

static void free_content(struct content *content)
{
    free(content->surely.data);
    free(content->now.data);
    for (unsigned i = 0; i < content->middle_count; i++) free(content->middles[i].data);
}

static void free_trail(struct trail *trail)
{
    for (unsigned i = 0; i < trail->count; i++) {
        for (unsigned j = 0; j < trail->moments[i]->file_count; j++)
            free_content(&trail->moments[i]->files[j]);
        free(trail->moments[i]);
    }
    trail->count = 0;
}

/* ---- watching a writer ----------------------------------------------------------------------- */

static const char *path;
static struct trail *watching; /* NULL if not recording */
static struct moment model;    /* the present state */
static struct {
    ino_t number;
    int descriptor; /* a descriptor that the test opened itself */
} known[FILES];

static void note_moment(void)
{
    struct moment *copy = malloc(sizeof *copy);
    if (!copy || watching->count == MOMENTS) give_up("too many moments");
    *copy = model;
    for (unsigned i = 0; i < model.file_count; i++) copy->files[i] = copy_content(&model.files[i]);
    watching->moments[watching->count++] = copy;
}

static struct bytes read_descriptor(int descriptor)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    return nothing_if_null(read_file(link));
}

/* Returns the number of the file behind this descriptor, or -1 if the file is not in the folder.
 * When a file is first seen, it is assigned a number. */
static int file_of(int descriptor)
{
    struct stat about;
    char link[64];
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return -1;
    for (unsigned i = 0; i < model.file_count; i++)
        if (known[i].number == about.st_ino) return (int)i;
    if (model.file_count == FILES) give_up("too many files");
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    known[model.file_count].number = about.st_ino;
    known[model.file_count].descriptor = open(link, O_RDONLY | O_CLOEXEC);
    model.files[model.file_count] = (struct content){.now = read_descriptor(descriptor)};
    model.files[model.file_count].surely = copy_of(model.files[model.file_count].now);
    return (int)model.file_count++;
}

/* Records all changes since the last call, including changes made through maps. */
static void look(void)
{
    for (unsigned i = 0; i < model.file_count; i++) {
        struct content *content = &model.files[i];
        struct bytes now = read_descriptor(known[i].descriptor);
        if (same_bytes(now, content->now)) {
            free(now.data);
            continue;
        }
        if (content->middle_count == MIDDLES) {
            free(content->middles[0].data);
            memmove(content->middles, content->middles + 1,
                    (MIDDLES - 1) * sizeof content->middles[0]);
            content->middle_count--;
        }
        content->middles[content->middle_count++] = content->now;
        content->now = now;
    }
}

static void look_and_note(void)
{
    if (!watching) return;
    look();
    note_moment();
}

/* Records that the bytes from `from` to `to` - 1 of this file are durable. */
static void settle(struct content *content, size_t from, size_t to)
{
    if (to > content->now.size) to = content->now.size;
    /* Only new files change size, and a new file is always synced as a whole. */
    if (content->surely.size != content->now.size) {
        free(content->surely.data);
        content->surely = copy_of(content->now);
    }
    if (from < to) memcpy(content->surely.data + from, content->now.data + from, to - from);
    for (unsigned i = 0; i < content->middle_count; i++)
        if (from < to && content->middles[i].size == content->now.size)
            memcpy(content->middles[i].data + from, content->now.data + from, to - from);
}

static void settle_all(struct content *content)
{
    settle(content, 0, content->now.size);
    for (unsigned i = 0; i < content->middle_count; i++) free(content->middles[i].data);
    content->middle_count = 0;
}

static void watch(struct trail *trail)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    uint64_t synced = model.synced;
    model = (struct moment){.surely_named = -1, .now_named = -1, .synced = synced};
    if (descriptor >= 0) model.surely_named = model.now_named = file_of(descriptor);
    if (descriptor >= 0) close(descriptor);
    watching = trail;
    note_moment();
}

static void stop_watching(void)
{
    look_and_note();
    watching = NULL;
    for (unsigned i = 0; i < model.file_count; i++) {
        free_content(&model.files[i]);
        close(known[i].descriptor);
    }
    model.file_count = 0;
}

/* ---- the calls ------------------------------------------------------------------------------- */

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    ssize_t (*next)(int, const void *, size_t, off_t);
    FIND(next, "pwrite");
    if (watching) (void)file_of(descriptor);
    look_and_note();
    ssize_t written = next(descriptor, bytes, size, offset);
    look_and_note();
    return written;
}

int ftruncate(int descriptor, off_t size)
{
    int (*next)(int, off_t);
    FIND(next, "ftruncate");
    if (watching) (void)file_of(descriptor);
    int result = next(descriptor, size);
    look_and_note();
    return result;
}

static int sync_by(int (*next)(int), int descriptor)
{
    struct stat about;
    look_and_note();
    int result = next(descriptor);
    if (!watching || result != 0) return result;
    if (fstat(descriptor, &about) == 0 && S_ISDIR(about.st_mode)) {
        model.surely_named = model.now_named;
    } else {
        int file = file_of(descriptor);
        if (file >= 0) settle_all(&model.files[file]);
    }
    note_moment();
    return result;
}

int fsync(int descriptor)
{
    int (*next)(int);
    FIND(next, "fsync");
    return sync_by(next, descriptor);
}

int fdatasync(int descriptor)
{
    int (*next)(int);
    FIND(next, "fdatasync");
    return sync_by(next, descriptor);
}

/* The writer's only shared map. */
static struct {
    uint8_t *bytes;
    size_t size;
    int file;
} map;

void *mmap(void *at, size_t size, int protection, int flags, int descriptor, off_t offset)
{
    void *(*next)(void *, size_t, int, int, int, off_t);
    FIND(next, "mmap");
    uint8_t *bytes = next(at, size, protection, flags, descriptor, offset);
    if (watching && bytes != MAP_FAILED && descriptor >= 0 && (flags & MAP_SHARED) &&
        (protection & PROT_WRITE)) {
        map.bytes = bytes;
        map.size = size;
        map.file = file_of(descriptor);
    }
    return bytes;
}

int msync(void *from, size_t size, int flags)
{
    int (*next)(void *, size_t, int);
    FIND(next, "msync");
    look_and_note();
    int result = next(from, size, flags);
    if (!watching || result != 0 || (flags & MS_SYNC) == 0) return result;
    if ((uint8_t *)from < map.bytes || (uint8_t *)from >= map.bytes + map.size)
        give_up("an msync of no known map");
    size_t at = (size_t)((uint8_t *)from - map.bytes);
    settle(&model.files[map.file], at, at + size);
    note_moment();
    return result;
}

int munmap(void *from, size_t size)
{
    int (*next)(void *, size_t);
    FIND(next, "munmap");
    if (watching && from == map.bytes) look_and_note();
    return next(from, size);
}

/* Records which file is now at the path. */
static int named(int result)
{
    struct stat about;
    if (!watching || result != 0 || stat(path, &about) != 0) return result;
    for (unsigned i = 0; i < model.file_count; i++)
        if (known[i].number == about.st_ino) model.now_named = (int)i;
    look_and_note();
    return result;
}

int rename(const char *from, const char *to)
{
    int (*next)(const char *, const char *);
    FIND(next, "rename");
    look_and_note();
    return named(next(from, to));
}

int renameat2(int in, const char *from, int at, const char *to, unsigned flags)
{
    int (*next)(int, const char *, int, const char *, unsigned);
    FIND(next, "renameat2");
    look_and_note();
    return named(next(in, from, at, to, flags));
}

int link(const char *from, const char *to)
{
    int (*next)(const char *, const char *);
    FIND(next, "link");
    look_and_note();
    return named(next(from, to));
}

/* ---- judging --------------------------------------------------------------------------------- */

static uint64_t judged, dirty_files, absent_files, recoveries,
    wanted; /* `wanted` is the number of files to judge up to the end of this subject */
static char origin[160];
static bool counting; /* keys whose number is a multiple of 5 are removed */
static bool indexing; /* the file is an index, which is never dirty */

/* Expects the keys to be in the filter. If there are many keys, checks only the last 300 and 300
 * random ones. */
static void expect_keys(const petal_filter *filter, uint64_t keys, const char *how)
{
    uint64_t missing = 0, all = keys < 1000 ? keys : 300;
    for (uint64_t i = keys - all; i < keys; i++)
        missing += !(counting && i % 5 == 0) && !has_key(filter, i);
    for (uint64_t i = 0; keys > all && i < 300; i++)
        missing += !has_key(filter, random_below(keys));
    expect(missing == 0, "%s: %s: %" PRIu64 " of %" PRIu64 " synced keys missing", origin, how,
           missing, keys);
}

/* Recovers the file and records the writes in *trail. */
static void recover(uint64_t keys, struct trail *trail)
{
    petal_filter *filter;
    petal_error error;
    recoveries++;
    model.synced = keys;
    watch(trail);
    petal_status status =
        open_flags(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_RECOVER, &filter, &error);
    if (status == PETAL_OK) status = petal_sync(filter, &error);
    petal_free(filter);
    stop_watching();
    if (!expect(status == PETAL_OK, "%s: recovering: %s: %s", origin, petal_status_name(status),
                error.message))
        return;
    status = open_flags(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, &filter, &error);
    if (expect(status == PETAL_OK, "%s: recovered: %s: %s", origin, petal_status_name(status),
               error.message))
        expect_keys(filter, keys, "recovered");
    petal_free(filter);
}

static void judge_index(uint64_t keys)
{
    petal_index *index;
    petal_error error;
    petal_status status = open_index(path, &index, &error);
    if (expect(status == PETAL_OK, "%s: %s: %s", origin, petal_status_name(status), error.message))
        expect(missing_in_index(index, 0, keys) == 0, "%s: saved keys missing", origin);
    petal_index_free(index);
}

/* Judges a file that a power cut could leave behind. If the file has to be recovered, records the
 * recovery in *trail. */
static void judge(struct bytes left, uint64_t keys, struct trail *trail)
{
    petal_filter *filter;
    petal_error error;
    judged++;
    unlink(path); /* gives the file a new inode, as after a restart */
    write_file(path, left.data, left.size);
    if (indexing) {
        judge_index(keys);
        return;
    }
    petal_status status = open_flags(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, &filter, &error);
    if (status == PETAL_OK) expect_keys(filter, keys, "clean");
    petal_free(filter);
    if (status == PETAL_OK) return;
    if (!expect(status == PETAL_ERR_DIRTY, "%s: %s: %s", origin, petal_status_name(status),
                error.message))
        return;
    expect(strstr(error.message, "recover"), "%s: it does not say the way out: %s", origin,
           error.message);
    dirty_files++;
    status = open_flags(path, PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER, &filter, &error);
    if (expect(status == PETAL_OK, "%s: LOAD | RECOVER: %s", origin, error.message))
        expect_keys(filter, keys, "loaded");
    petal_free(filter);
    recover(keys, trail);
}

/* ---- cutting --------------------------------------------------------------------------------- */

static void cut_trail(const struct trail *trail, const char *what, unsigned depth,
                      unsigned per_moment);

/* Finds the sectors for which any of several versions may be on the disk, and returns how many
 * there are. */
static unsigned open_sectors(const struct content *content, size_t *sectors, unsigned room)
{
    unsigned count = 0;
    for (size_t at = 0; at < content->now.size; at += SECTOR) {
        size_t size = content->now.size - at < SECTOR ? content->now.size - at : SECTOR;
        bool differs = at + size > content->surely.size ||
                       memcmp(content->surely.data + at, content->now.data + at, size) != 0;
        for (unsigned i = 0; i < content->middle_count && !differs; i++)
            differs = at + size > content->middles[i].size ||
                      memcmp(content->middles[i].data + at, content->now.data + at, size) != 0;
        if (differs && count < room) sectors[count] = at;
        count += differs;
    }
    return count;
}

static void take_sector(struct bytes to, struct bytes from, size_t at)
{
    size_t size = to.size - at < SECTOR ? to.size - at : SECTOR;
    memset(to.data + at, 0, size); /* bytes beyond the file's old size read as zeros */
    if (at < from.size)
        memcpy(to.data + at, from.data + at, from.size - at < size ? from.size - at : size);
}

/* Creates one of the files that a power cut could leave behind. Each bit of `choice` selects the
 * new or the old version of a sector. If `choice` is NULL, each sector is chosen at random from all
 * states. */
static struct bytes make_cut(const struct content *content, const size_t *sectors, unsigned count,
                             const uint64_t *choice)
{
    struct bytes left = {calloc(1, content->now.size + 1), content->now.size};
    memcpy(left.data, content->now.data, left.size);
    for (unsigned i = 0; i < count; i++) {
        uint64_t from = choice ? (*choice >> i & 1) * (content->middle_count + 1)
                               : random_below(content->middle_count + 2);
        struct bytes source = from == 0                           ? content->surely
                              : from == content->middle_count + 1 ? content->now
                                                                  : content->middles[from - 1];
        take_sector(left, source, sectors[i]);
    }
    if (left.size != content->surely.size && content->surely.size == 0 && random_below(8) == 0)
        left.size = 0;
    return left;
}

static void cut_once(const struct content *content, const size_t *sectors, unsigned count,
                     const uint64_t *choice, const struct moment *moment, const char *what,
                     unsigned depth)
{
    struct bytes left = make_cut(content, sectors, count, choice);
    struct trail recovery = {.count = 0};
    snprintf(origin, sizeof origin, "%s, %u open sectors", what, count);
    judge(left, moment->synced, &recovery);
    free(left.data);
    if (depth > 0 && random_below(16) == 0) {
        char deeper[120];
        snprintf(deeper, sizeof deeper, "%.80s > recovery", what);
        cut_trail(&recovery, deeper, depth - 1, 2);
    }
    free_trail(&recovery);
}

#define ALL_OF 12u
#define SECTORS 4096u

static void cut_content(const struct content *content, const struct moment *moment,
                        const char *what, unsigned depth, unsigned per_moment)
{
    /* The function calls itself for recoveries, so each depth needs its own array. */
    static size_t space[3][SECTORS];
    size_t *sectors = space[depth];
    unsigned count = open_sectors(content, sectors, SECTORS);
    bool all = count <= ALL_OF && (1u << count) <= 8 * per_moment;
    if (count > SECTORS) give_up("too many sectors");
    for (uint64_t choice = 0; all && choice < 1u << count && judged < wanted; choice++)
        cut_once(content, sectors, count, &choice, moment, what, depth);
    for (unsigned i = 0;
         i < per_moment && count > 0 && judged < wanted && (!all || content->middle_count > 0); i++)
        cut_once(content, sectors, count, NULL, moment, what, depth);
}

static void cut_moment(const struct moment *moment, const char *what, unsigned depth,
                       unsigned per_moment)
{
    int names[2] = {moment->surely_named, moment->now_named};
    for (int i = 0; i < 2 && judged < wanted; i++) {
        if (i == 1 && names[1] == names[0]) continue;
        if (names[i] >= 0) {
            cut_content(&moment->files[names[i]], moment, what, depth, per_moment);
        } else {
            absent_files++;
            expect(moment->synced == 0, "%s: the file is gone, with %" PRIu64 " keys", what,
                   moment->synced);
        }
    }
}

static void cut_trail(const struct trail *trail, const char *what, unsigned depth,
                      unsigned per_moment)
{
    for (unsigned i = 0; i < trail->count && judged < wanted; i++) {
        char text[120];
        snprintf(text, sizeof text, "%.90s, moment %u", what, i);
        cut_moment(trail->moments[i], text, depth, per_moment);
    }
}

/* ---- the writers ----------------------------------------------------------------------------- */

struct subject {
    const char *name;
    uint32_t scheme;
    uint64_t capacity;
    bool grows, saves, is_new, is_index;
};

static petal_filter *make_subject(const struct subject *subject)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    options.scheme = subject->scheme;
    options.capacity = subject->capacity;
    options.rate = 0.001;
    options.growth = subject->grows;
    if (petal_create(&options, &filter, &error) != PETAL_OK)
        give_up("petal_create: %s", error.message);
    return filter;
}

static void remove_some(petal_filter *filter, uint64_t from, uint64_t to)
{
    char text[KEY_TEXT];
    for (uint64_t i = from; counting && i < to; i++)
        if (i % 5 == 0 && petal_remove(filter, text, key_text(i, text)) < 0)
            give_up("petal_remove");
}

/* Adds two filters of 20 keys each to the index in the file. */
static void work_on_index(const struct subject *subject, uint64_t from)
{
    for (int round = 0; round < 2; round++, from += 20) {
        petal_filter *filter = make_subject(subject);
        add_keys(filter, from, from + 20);
        put_in_index(path, from == 0, round ? "second" : "first", filter);
        model.synced = from + 20;
        if (watching) note_moment();
        petal_free(filter);
    }
}

/* Adds keys and syncs or saves them at least twice. */
static void work(const struct subject *subject, uint64_t from)
{
    unsigned flags = subject->saves ? PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED : PETAL_OPEN_WRITABLE;
    petal_filter *filter = NULL;
    petal_error error;
    petal_status status = PETAL_OK;
    if (subject->is_new)
        filter = make_subject(subject);
    else
        status = open_flags(path, flags, &filter, &error);
    for (int round = 0; round < 2 && status == PETAL_OK; round++, from += 20) {
        status = add_keys(filter, from, from + 20);
        if (round > 0) remove_some(filter, from - 20, from);
        if (status == PETAL_OK && subject->saves) status = petal_save(filter, path, NULL, &error);
        if (status == PETAL_OK && !subject->saves) status = petal_sync(filter, &error);
        if (status == PETAL_OK) model.synced = from + 20;
        if (watching) note_moment();
    }
    if (status != PETAL_OK) give_up("the writer: %s: %s", petal_status_name(status), error.message);
    petal_free(filter);
}

static void record(const struct subject *subject, struct trail *trail)
{
    uint64_t first = subject->is_new  ? 0
                     : subject->grows ? 40 * subject->capacity
                                      : subject->capacity / 2;
    counting = subject->scheme == PETAL_SCHEME_COUNTING;
    indexing = subject->is_index;
    unlink(path);
    if (!subject->is_new) {
        petal_filter *filter = make_subject(subject);
        if (add_keys(filter, 0, first) < 0) give_up("petal_add");
        if (indexing)
            save_index(filter, path);
        else
            save_or_give_up(filter, path);
        petal_free(filter);
    }
    model.synced = first;
    watch(trail);
    if (indexing)
        work_on_index(subject, first);
    else
        work(subject, first);
    stop_watching();
    expect(trail->count >= 12, "only %u moments were seen: the writer is not watched",
           trail->count);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"saving over a file", PETAL_SCHEME_BLOCKED, 1000, false, true, false, false},
        {"saving a new file", PETAL_SCHEME_BLOCKED, 1000, false, true, true, false},
        {"adding in place, blocked", PETAL_SCHEME_BLOCKED, 1000, false, false, false, false},
        {"adding in place, large", PETAL_SCHEME_CLASSIC, 60000, false, false, false, false},
        {"adding and removing in place", PETAL_SCHEME_COUNTING, 200, false, false, false, false},
        {"adding in place, six layers", PETAL_SCHEME_BLOCKED, 16, true, false, false, false},
        {"adding to an index", PETAL_SCHEME_BLOCKED, 1000, false, true, false, true},
        {"saving a new index", PETAL_SCHEME_BLOCKED, 1000, false, true, true, true},
    };
    uint64_t amount = amount_of(argc, argv, 6000, 1000000);
    make_folder();
    mkdir(in_folder("w"), 0755);
    path = strdup(in_folder("w/f.petal"));
    for (size_t i = 0; i < COUNT(subjects); i++) {
        char promise[160];
        struct trail trail = {.count = 0};
        record(&subjects[i], &trail);
        wanted = judged +
                 (amount - judged) / (COUNT(subjects) - i); /* saving may produce too few files */
        for (unsigned per_moment = 16; judged < wanted; per_moment *= 2) {
            uint64_t at = judged;
            cut_trail(&trail, subjects[i].name, 2, per_moment);
            if (judged == at) break; /* no sector was ever unsynced */
        }
        free_trail(&trail);
        snprintf(promise, sizeof promise,
                 "%s: a power cut loses no synced key, and leaves no file that only seems good",
                 subjects[i].name);
        end_case(promise);
    }
    return end_campaign("%" PRIu64 " files after a power cut, %" PRIu64 " of them dirty, %" PRIu64
                        " recoveries, %" PRIu64 " times no file yet",
                        judged, dirty_files, recoveries, absent_files);
}
