/* overlap.c - proves that if two commands change the same file at the same time, neither undoes a
 * change that the other has reported as done.
 *
 * The first command is stopped before one of its system calls (each call in turn), and continues
 * after the second command has exited. If a command exits with status 0, its keys must be in the
 * file. If not, it must report the reason: the file is being changed, was replaced, already exists,
 * or is dirty. The amount is the number of stops tried per pair of commands; `full` tries all of
 * them. */
#define _GNU_SOURCE
#include "lib/control.h"

/* ---- what the commands do -------------------------------------------------------------------- */

/* The number of keys per group. The keys in a group are added and removed together. */
#define GROUP 40u
enum {
    BASE = 1,
    FIRSTS = 2,
    SECONDS = 4,
    REMOVED_BY_FIRST = 8,
    REMOVED_BY_SECOND = 16,
    OTHER = 32,
    GROUPS = 6
};
#define AT_START (BASE | REMOVED_BY_FIRST | REMOVED_BY_SECOND)

enum kind {
    ADD,
    REMOVE,
    SEEN,
    MERGE_INTO,
    MERGE,
    INTERSECT,
    BUILD,
    CONVERT,
    CREATE,
    RECOVER,
    INDEX_ADD,
    INDEX_DROP,
    INDEX_NEW,
    VERIFY, /* this command and all following ones only read the file */
    CHECK,
    WHICH,
    KINDS
};

struct job {
    const char *name;
    /* FILE, OTHER, TWIN, WHOLE (a filter of all keys) and OWN (a filter of the command's own keys)
     * are replaced with paths. DROPPED is replaced with the name of the filter that the command
     * drops. */
    const char *arguments[10];
    bool reads_keys;
    bool counts; /* the command works on a counting filter */
};

static const struct job jobs[KINDS] = {
    [ADD] = {"add", {"add", "--threads", "1", "FILE"}, true, true},
    [REMOVE] = {"remove", {"remove", "--threads", "1", "FILE"}, true, true},
    [SEEN] = {"seen -f", {"seen", "--threads", "1", "-f", "FILE"}, true, false},
    [MERGE_INTO] = {"merge F F", {"merge", "--force", "-o", "FILE", "FILE", "OTHER"}, false, true},
    [MERGE] = {"merge", {"merge", "--force", "-o", "FILE", "OTHER", "TWIN"}, false, true},
    [INTERSECT] = {"intersect F F",
                   {"intersect", "--force", "-o", "FILE", "FILE", "WHOLE"},
                   false,
                   true},
    [BUILD] = {"build",
               {"build", "--threads", "1", "--force", "-n", "1000", "-p", "1e-6", "-o", "FILE"},
               true,
               true},
    [CONVERT] = {"convert", {"convert", "--force", "OTHER", "FILE", "--to", "petal"}, false, true},
    [CREATE] = {"create",
                {"create", "--force", "-n", "1000", "-p", "1e-6", "-o", "FILE"},
                false,
                true},
    [RECOVER] = {"verify --recover", {"verify", "--recover", "FILE"}, false, true},
    [INDEX_ADD] = {"index F F", {"index", "--force", "-o", "FILE", "FILE", "OWN"}, false, false},
    [INDEX_DROP] = {"index --drop",
                    {"index", "--force", "-o", "FILE", "FILE", "--drop", "DROPPED"},
                    false,
                    false},
    [INDEX_NEW] = {"index", {"index", "--force", "-o", "FILE", "OWN"}, false, false},
    [VERIFY] = {"verify", {"verify", "FILE"}, false, true},
    [CHECK] = {"check", {"check", "--threads", "1", "FILE", "-e", "k0"}, false, true},
    [WHICH] = {"which", {"which", "--threads", "1", "FILE", "-e", "k0"}, false, false},
};

/* Returns the groups of keys in the file after this command has succeeded. */
static unsigned after(enum kind kind, bool is_first, unsigned groups)
{
    unsigned own = is_first ? FIRSTS : SECONDS;
    switch (kind) {
    case ADD:
    case INDEX_ADD:
    case SEEN: return groups | own;
    case INDEX_DROP:
    case REMOVE: return groups & ~(unsigned)(is_first ? REMOVED_BY_FIRST : REMOVED_BY_SECOND);
    case MERGE_INTO: return groups | OTHER;
    case MERGE:
    case CONVERT: return OTHER;
    case INDEX_NEW:
    case BUILD: return own;
    case CREATE: return 0;
    default: return groups;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The sets of files for the pairs of commands. HOLES is used if the first command only reads,
 * because the library reads a file with holes on a tmpfs differently. INDEXES contains an index of
 * three filters, so that each command can drop one of them. */
enum set { BITS, COUNTERS, HOLES, INDEXES, SETS };
static struct images {
    struct bytes clean, dirty;
    char other[PATH_MAX], twin[PATH_MAX], whole[PATH_MAX];
} images[SETS];

static const char *path;             /* the only file in its folder */
static char keys_of[2][2][PATH_MAX]; /* the keys that each command adds and removes */
static char filters_of[2][PATH_MAX]; /* filters that contain each command's keys */
static const char *const dropped_by[2] = {"one", "two"};

static petal_filter *filter_of(enum set set, unsigned groups)
{
    uint32_t scheme = set == COUNTERS ? PETAL_SCHEME_COUNTING : PETAL_SCHEME_BLOCKED;
    petal_filter *filter = new_filter(scheme, set == HOLES ? 300000 : 1000, 1e-6);
    for (unsigned group = 0; group < GROUPS; group++)
        if (groups >> group & 1) add_keys(filter, group * GROUP, (group + 1) * GROUP);
    return filter;
}

static void save_groups(enum set set, unsigned groups, const char *name, char *saved)
{
    petal_filter *filter = filter_of(set, groups);
    copy_text(saved, in_folder(name));
    save_or_give_up(filter, saved);
    petal_free(filter);
}

/* Returns the contents of a file whose writer died while changing it. */
static struct bytes dirty_image(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        petal_filter *filter;
        petal_error error;
        bool good = open_flags(path, PETAL_OPEN_WRITABLE, &filter, &error) == PETAL_OK &&
                    add_key(filter, 0) >= 0;
        _exit(good ? 0 : 1);
    }
    waitpid(pid, NULL, 0);
    return read_file(path);
}

static struct bytes index_image(void)
{
    static const unsigned groups[] = {BASE, REMOVED_BY_FIRST, REMOVED_BY_SECOND};
    const char *const names[] = {"base", dropped_by[0], dropped_by[1]};
    unlink(path);
    for (size_t i = 0; i < COUNT(groups); i++) {
        petal_filter *filter = filter_of(INDEXES, groups[i]);
        put_in_index(path, i == 0, names[i], filter);
        petal_free(filter);
    }
    return read_file(path);
}

static void make_files(void)
{
    static const char *const others[SETS] = {"other", "other-c", "other-h"},
                             *const twins[SETS] = {"twin", "twin-c", "twin-h"},
                             *const wholes[SETS] = {"whole", "whole-c", "whole-h"};
    images[INDEXES].clean = index_image();
    save_groups(INDEXES, FIRSTS, "first.petal", filters_of[0]);
    save_groups(INDEXES, SECONDS, "second.petal", filters_of[1]);
    for (enum set set = 0; set < INDEXES; set++) {
        char saved[PATH_MAX];
        save_groups(set, AT_START, "w/f.petal", saved);
        images[set].clean = read_file(saved);
        images[set].dirty = dirty_image();
        save_groups(set, OTHER, others[set], images[set].other);
        save_groups(set, OTHER, twins[set], images[set].twin);
        save_groups(set, (1u << GROUPS) - 1, wholes[set], images[set].whole);
    }
    static const unsigned wanted[2][2] = {{FIRSTS, REMOVED_BY_FIRST}, {SECONDS, REMOVED_BY_SECOND}};
    static const char *const names[2][2] = {{"first", "first-removed"},
                                            {"second", "second-removed"}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            copy_text(keys_of[i][j], in_folder(names[i][j]));
            FILE *out = fopen(keys_of[i][j], "w");
            for (unsigned group = 0; out && group < GROUPS; group++)
                for (unsigned k = 0; wanted[i][j] >> group & 1 && k < GROUP; k++)
                    fprintf(out, "k%u\n", group * GROUP + k);
            if (!out || fclose(out) != 0) give_up("cannot write keys");
        }
}

static unsigned groups_in_index(petal_status *status)
{
    unsigned groups = 0;
    petal_index *index;
    petal_error error;
    *status = open_index(path, &index, &error);
    for (unsigned group = 0; index && group < GROUPS; group++)
        if (missing_in_index(index, group * GROUP, (group + 1) * GROUP) == 0) groups |= 1u << group;
    petal_index_free(index);
    return groups;
}

/* Returns the groups whose keys are all in the file. *status is the result of opening the file. */
static unsigned groups_in_file(enum set set, petal_status *status)
{
    if (set == INDEXES) return groups_in_index(status);
    unsigned groups = 0;
    petal_filter *filter;
    petal_error error;
    *status = open_flags(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, &filter, &error);
    for (unsigned group = 0; filter && group < GROUPS; group++)
        if (missing_keys(filter, group * GROUP, (group + 1) * GROUP) == 0) groups |= 1u << group;
    petal_free(filter);
    return groups;
}

static int files_beside(void)
{
    int count = 0;
    DIR *dir = opendir(in_folder("w"));
    while (dir && readdir(dir)) count++;
    if (dir) closedir(dir);
    return count - 3; /* excludes ., .. and the file itself */
}

/* ---- two commands ---------------------------------------------------------------------------- */

struct pair {
    enum kind kinds[2];
    bool is_absent; /* the file doesn't exist yet, and the commands run without --force */
};

static const char *name_of(const struct pair *pair)
{
    static char text[80];
    snprintf(text, sizeof text, "%s, then %s%s", jobs[pair->kinds[0]].name,
             jobs[pair->kinds[1]].name, pair->is_absent ? ", of a new file" : "");
    return text;
}

/* Returns 1 if the command requires an index, 0 if it requires a filter, and -1 if it accepts
 * either. */
static int wants_index(enum kind kind)
{
    if (kind == VERIFY) return -1;
    return kind == INDEX_ADD || kind == INDEX_DROP || kind == INDEX_NEW || kind == WHICH;
}

/* Returns true if the two commands can work on the same file. For example, `seen` can't use the
 * counting filter that `remove` requires. */
static bool is_possible(const struct pair *pair)
{
    enum kind a = pair->kinds[0], b = pair->kinds[1];
    if (wants_index(a) + wants_index(b) == 1) return false; /* only one accepts an index */
    if (a == INDEX_NEW && b == INDEX_NEW) return true;
    if ((a == SEEN && b == REMOVE) || (a == REMOVE && b == SEEN)) return false;
    if (!pair->is_absent) return true;
    return (a == SEEN || a == MERGE || a == BUILD || a == CONVERT || a == CREATE) &&
           (b == SEEN || b == MERGE || b == BUILD || b == CONVERT || b == CREATE);
}

static enum set set_of(const struct pair *pair)
{
    if (wants_index(pair->kinds[0]) == 1 || wants_index(pair->kinds[1]) == 1) return INDEXES;
    if (pair->kinds[0] == REMOVE || pair->kinds[1] == REMOVE) return COUNTERS;
    return pair->kinds[0] >= VERIFY ? HOLES : BITS;
}

/* Returns one of the pair's two commands with its arguments and input. */
static struct command command_of(const struct pair *pair, int which, const char **arguments)
{
    const struct job *job = &jobs[pair->kinds[which]];
    const struct images *files = &images[set_of(pair)];
    size_t count = 0;
    arguments[count++] = tool_path();
    for (size_t i = 0; i < COUNT(job->arguments) && job->arguments[i]; i++) {
        const char *text = job->arguments[i];
        if (pair->is_absent && strcmp(text, "--force") == 0) continue;
        arguments[count++] = strcmp(text, "FILE") == 0      ? path
                             : strcmp(text, "OTHER") == 0   ? files->other
                             : strcmp(text, "TWIN") == 0    ? files->twin
                             : strcmp(text, "WHOLE") == 0   ? files->whole
                             : strcmp(text, "OWN") == 0     ? filters_of[which]
                             : strcmp(text, "DROPPED") == 0 ? dropped_by[which]
                                                            : text;
    }
    if (set_of(pair) == COUNTERS && (pair->kinds[which] == BUILD || pair->kinds[which] == CREATE)) {
        arguments[count++] = "--scheme";
        arguments[count++] = "counting";
    }
    arguments[count] = NULL;
    struct command command =
        which == 0 ? watched_command(arguments) : (struct command){.arguments = arguments};
    if (job->reads_keys) command.input = keys_of[which][pair->kinds[which] == REMOVE];
    return command;
}

#define MAX_ARGUMENTS 20

/* Writes the image to the file, but leaves holes for pages of zeros. */
static void write_pages(struct bytes image)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool good = descriptor >= 0 && ftruncate(descriptor, (off_t)image.size) == 0;
    for (size_t at = 0; good && at < image.size; at += 4096) {
        size_t size = image.size - at < 4096 ? image.size - at : 4096, zeros = 0;
        while (zeros < size && image.data[at + zeros] == 0) zeros++;
        if (zeros < size)
            good = pwrite(descriptor, image.data + at, size, (off_t)at) == (ssize_t)size;
    }
    if (!good || close(descriptor) != 0) give_up("cannot write %s", path);
}

static unsigned prepare(const struct pair *pair)
{
    const struct images *files = &images[set_of(pair)];
    struct bytes start = pair->kinds[0] == RECOVER ? files->dirty : files->clean;
    empty_folder(open(in_folder("w"), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (pair->is_absent) return 0;
    write_pages(start);
    return AT_START;
}

static uint64_t overlaps, refusals;

/* Returns true if the command succeeded. If keys were absent, `remove`, `check` and `which` exit
 * with status 1, which is not a failure. */
static bool has_done(const struct command *command, enum kind kind)
{
    bool may_miss = kind == REMOVE || kind == CHECK || kind == WHICH;
    return has_succeeded(command) ||
           (may_miss && WIFEXITED(command->status) && WEXITSTATUS(command->status) == 1);
}

static bool is_good_reason(const char *said)
{
    static const char *const reasons[] = {"another process", "replaced", "exists", "dirty",
                                          "being changed",
                                          /* printed by --drop if `index` has just replaced the
                                           * filter */
                                          "no index has a filter of that name"};
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (strstr(said, reasons[i])) return true;
    return false;
}

static void expect_reason(const struct command *command, const char *moment)
{
    refusals++;
    expect(!command->hung && WIFEXITED(command->status), "%s: petal %s: %s", moment,
           command->arguments[1], ending_of(command));
    expect(is_good_reason(command->said), "%s: petal %s fails for no reason that it should: %s",
           moment, command->arguments[1], command->said);
}

/* Runs the pair with the first command stopped before its nth call of this kind. Returns false if
 * the first command makes no such call. */
static bool try_moment(const struct pair *pair, enum shim_call call, uint32_t nth)
{
    const char *arguments[2][MAX_ARGUMENTS];
    struct command first = command_of(pair, 0, arguments[0]),
                   second = command_of(pair, 1, arguments[1]);
    enum kind a = pair->kinds[0], b = pair->kinds[1];
    unsigned start = prepare(pair), wanted;
    petal_status status;
    char moment[160];
    siginfo_t ended = {.si_pid = 0};
    arm(call, SHIM_PAUSE, nth, 0);
    start_command(&first);
    while (!atomic_load(&control->paused)) {
        if (waitid(P_PID, (id_t)first.pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            ended.si_pid)
            break;
        usleep(50);
    }
    bool was_paused = atomic_load(&control->paused);
    /* The first command is done if the file is clean and contains the command's changes. Anything
     * that happens later is not its responsibility. */
    unsigned groups = groups_in_file(set_of(pair), &status);
    bool is_done = status == PETAL_OK && groups == after(a, true, start);
    if (was_paused) {
        start_command(&second);
        end_command(&second);
    }
    atomic_store(&control->resume, 1);
    end_command(&first);
    if (!was_paused) return false;
    overlaps++;
    snprintf(moment, sizeof moment, "%s: the first stopped before %s %u", name_of(pair),
             shim_names[call], nth);
    bool first_done = has_done(&first, a), second_done = has_done(&second, b);
    if (!first_done) expect_reason(&first, moment);
    if (!second_done) expect_reason(&second, moment);
    expect(first_done || second_done || a >= VERIFY || b >= VERIFY, "%s: both fail: %s / %s",
           moment, first.said, second.said);
    wanted = start;
    if (second_done && !is_done) wanted = after(b, false, wanted);
    if (first_done) wanted = after(a, true, wanted);
    if (second_done && is_done) wanted = after(b, false, wanted);
    groups = groups_in_file(set_of(pair), &status);
    expect(status == PETAL_OK, "%s: afterwards the file is \"%s\" (%s / %s)", moment,
           petal_status_name(status), first.said, second.said);
    expect(status != PETAL_OK || (groups & wanted) == wanted,
           "%s: keys lost: groups %#x wanted, %#x there (exits %s%s; %s/ %s)", moment, wanted,
           groups, first_done ? "0 " : "!", second_done ? "0" : "!", first.said, second.said);
    unsigned back = groups & ~wanted & (REMOVED_BY_FIRST | REMOVED_BY_SECOND);
    expect(status != PETAL_OK || back == 0,
           "%s: removed keys are back: groups %#x wanted, %#x there (%s/ %s)", moment, wanted,
           groups, first.said, second.said);
    expect(files_beside() == 0, "%s: %d files left in the folder", moment, files_beside());
    return true;
}

/* ---- the campaign ---------------------------------------------------------------------------- */

/* The kinds of calls before which the first command is stopped, because what the second command
 * does in between may affect them. */
static const enum shim_call moments[] = {SHIM_RENAME, SHIM_LINK,     SHIM_FSYNC,   SHIM_LOCK,
                                         SHIM_MSYNC,  SHIM_READ,     SHIM_OPEN,    SHIM_WRITE,
                                         SHIM_MMAP,   SHIM_ALLOCATE, SHIM_CLOSE,   SHIM_STAT,
                                         SHIM_UNLINK, SHIM_MODE,     SHIM_TRUNCATE};

/* Counts the first command's calls of each kind when it runs alone. */
static uint32_t count_calls(const struct pair *pair, uint32_t calls[SHIM_CALLS])
{
    const char *arguments[MAX_ARGUMENTS];
    struct command first = command_of(pair, 0, arguments);
    uint32_t all = 0;
    prepare(pair);
    arm(SHIM_NONE, SHIM_COUNT, 0, 0);
    start_command(&first);
    end_command(&first);
    expect(has_done(&first, pair->kinds[0]), "petal %s alone: %s, %s", arguments[1],
           ending_of(&first), first.said);
    for (size_t i = 0; i < COUNT(moments); i++)
        all += calls[moments[i]] = atomic_load(&control->seen[moments[i]]);
    return all;
}

static void try_all(const struct pair *pair, const uint32_t calls[SHIM_CALLS])
{
    for (size_t i = 0; i < COUNT(moments); i++)
        for (uint32_t nth = 1; nth <= calls[moments[i]]; nth++)
            (void)try_moment(pair, moments[i], nth);
}

/* Tries the last rename, link, msync and read of the first command, and other calls chosen at
 * random. */
static void try_some(const struct pair *pair, const uint32_t calls[SHIM_CALLS], uint64_t amount)
{
    static const enum shim_call best[] = {SHIM_RENAME, SHIM_LINK, SHIM_MSYNC, SHIM_READ};
    for (size_t i = 0; i < COUNT(best) && amount > 0; i++)
        if (calls[best[i]] && try_moment(pair, best[i], calls[best[i]])) amount--;
    while (amount-- > 0) {
        enum shim_call call = moments[random_below(COUNT(moments))];
        if (calls[call]) (void)try_moment(pair, call, 1 + (uint32_t)random_below(calls[call]));
    }
}

static void try_pair(const struct pair *pair, uint64_t amount)
{
    uint32_t calls[SHIM_CALLS] = {0};
    if (amount >= count_calls(pair, calls))
        try_all(pair, calls);
    else
        try_some(pair, calls, amount);
}

int main(int argc, char **argv)
{
    uint64_t amount = amount_of(argc, argv, 4, 1000);
    unsigned pairs = 0;
    make_folder();
    mkdir(in_folder("w"), 0755);
    path = strdup(in_folder("w/f.petal"));
    make_control();
    make_files();
    for (int absent = 0; absent < 2; absent++)
        for (enum kind a = 0; a < KINDS; a++) {
            char promise[120];
            unsigned tried = 0;
            for (enum kind b = 0; b < KINDS; b++) {
                struct pair pair = {{a, b}, absent};
                if (!is_possible(&pair)) continue;
                try_pair(&pair, amount);
                tried++;
            }
            if (!tried) continue;
            pairs += tried;
            snprintf(promise, sizeof promise,
                     "%s%s, and another command in the middle: no promise is broken", jobs[a].name,
                     absent ? " of a new file" : "");
            end_case(promise);
        }
    return end_campaign("%u pairs of commands, %" PRIu64 " overlaps, %" PRIu64 " refused", pairs,
                        overlaps, refusals);
}
