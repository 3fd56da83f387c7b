/* faults.c - proves that if a system call or an allocation fails in a command, the command reports
 * the failure and loses nothing.
 *
 * For each n, a preloaded library makes the nth call of a given kind fail: either only this call,
 * or this call and all later ones. If the command exits with status 0, the result must be the same
 * as without the fault. For any other exit status, the file must be either the old or the new
 * version, complete or marked dirty. No temporary file may be left behind, and one line must report
 * the failure. A command must never crash or hang. The amount is the number of faults tried per
 * command, chosen at random; `full` tries all of them. */
#define _GNU_SOURCE
#include "lib/control.h"

/* ---- the commands ---------------------------------------------------------------------------- */

/* The three groups of keys: OLD keys are in the file at the start, NEW keys are given to the
 * command, and OTHER keys are in other filters. */
#define GROUP 60u
enum { OLD = 1, NEW = 2, OTHER = 4, GROUPS = 3 };

enum start { NOTHING, CLEAN, DIRTY, COUNTING, GROWING, WINDOW, GUAVA, INDEX, STARTS };

struct job {
    const char *name;
    /* FILE, IN and TWIN are replaced with paths. OUT is replaced with the path of another file in
     * FILE's folder. */
    const char *arguments[12];
    enum start start;
    bool reads_keys;
    bool removes;       /* the command removes the old keys */
    const char *format; /* FILE's format after the command, or "index"; NULL means petal */
};

#define ONE_THREAD "--threads", "1"
static const struct job jobs[] = {
    {"create", {"create", "-n", "1000", "-o", "FILE"}, NOTHING, false, false, NULL},
    {"create --force",
     {"create", "--force", "-n", "1000", "-o", "FILE"},
     CLEAN,
     false,
     false,
     NULL},
    {"build", {"build", ONE_THREAD, "-o", "FILE"}, NOTHING, true, false, NULL},
    {"build --force -n",
     {"build", ONE_THREAD, "--force", "-n", "1000", "-o", "FILE"},
     CLEAN,
     true,
     false,
     NULL},
    {"build --scheme static",
     {"build", ONE_THREAD, "--force", "--scheme", "static", "-o", "FILE"},
     CLEAN,
     true,
     false,
     NULL},
    {"build --scheme static --memory",
     {"build", ONE_THREAD, "--force", "--scheme", "static", "--memory", "64KiB", "-o", "FILE"},
     CLEAN,
     true,
     false,
     NULL},
    {"build --to",
     {"build", ONE_THREAD, "-n", "1000", "--to", "guava", "-o", "FILE"},
     NOTHING,
     true,
     false,
     "guava"},
    {"add", {"add", ONE_THREAD, "FILE"}, CLEAN, true, false, NULL},
    {"add, threads", {"add", "--threads", "4", "FILE"}, CLEAN, true, false, NULL},
    {"add, growing", {"add", ONE_THREAD, "FILE"}, GROWING, true, false, NULL},
    {"add, guava", {"add", ONE_THREAD, "--from", "guava", "FILE"}, GUAVA, true, false, "guava"},
    {"remove", {"remove", ONE_THREAD, "FILE", "REMOVED"}, COUNTING, false, true, NULL},
    {"seen -f", {"seen", ONE_THREAD, "-f", "FILE"}, CLEAN, true, false, NULL},
    {"seen -f, new",
     {"seen", ONE_THREAD, "-n", "1000", "-p", "1e-6", "-f", "FILE"},
     NOTHING,
     true,
     false,
     NULL},
    {"seen -f, window", {"seen", ONE_THREAD, "-f", "FILE"}, WINDOW, true, false, NULL},
    {"check", {"check", ONE_THREAD, "FILE", "REMOVED"}, CLEAN, false, false, NULL},
    {"check -c", {"check", ONE_THREAD, "-c", "FILE", "REMOVED"}, CLEAN, false, false, NULL},
    {"info", {"info", "FILE"}, CLEAN, false, false, NULL},
    {"info --json", {"info", "--json", "FILE"}, GROWING, false, false, NULL},
    {"verify", {"verify", "FILE"}, CLEAN, false, false, NULL},
    {"verify --recover", {"verify", "--recover", "FILE"}, DIRTY, false, false, NULL},
    {"merge", {"merge", "-o", "FILE", "IN", "TWIN"}, NOTHING, false, false, NULL},
    {"merge --force", {"merge", "--force", "-o", "FILE", "FILE", "IN"}, CLEAN, false, false, NULL},
    {"intersect", {"intersect", "--force", "-o", "FILE", "IN", "TWIN"}, CLEAN, false, false, NULL},
    {"compare", {"compare", "FILE", "IN"}, CLEAN, false, false, NULL},
    {"shard", {"shard", ONE_THREAD, "-n", "3", "-o", "OUT%d"}, NOTHING, true, false, NULL},
    {"convert", {"convert", "IN", "FILE", "--to", "petal"}, NOTHING, false, false, NULL},
    {"convert --from",
     {"convert", "--force", "--from", "guava", "--to", "petal", "GUAVA", "FILE"},
     CLEAN,
     false,
     false,
     NULL},
    {"index", {"index", "-o", "FILE", "IN", "TWIN"}, NOTHING, false, false, "index"},
    {"index --keys",
     {"index", ONE_THREAD, "--keys", "-o", "FILE", "REMOVED", "KEYS"},
     NOTHING,
     false,
     false,
     "index"},
    {"index --force, one more",
     {"index", "--force", "-o", "FILE", "FILE", "IN"},
     INDEX,
     false,
     false,
     "index"},
    {"index --force --drop",
     {"index", "--force", "--drop", "other", "-o", "FILE", "FILE"},
     INDEX,
     false,
     false,
     "index"},
    {"which", {"which", "FILE", "-e", "k1"}, INDEX, false, false, "index"},
    {"verify an index", {"verify", "FILE"}, INDEX, false, false, "index"},
    {"plan", {"plan", "-n", "1M", "-p", "1%"}, NOTHING, false, false, NULL},
    {"plan --chart", {"plan", "-n", "1M", "--chart", "OUT.svg"}, NOTHING, false, false, NULL},
};

/* ---- files ----------------------------------------------------------------------------------- */

static struct bytes images[STARTS];
static const char *path; /* FILE, the only file in its folder before the command runs */
static char keys[PATH_MAX], removed[PATH_MAX], in[PATH_MAX], twin[PATH_MAX], guava[PATH_MAX],
    out[PATH_MAX];
static char output[PATH_MAX], second_output[PATH_MAX];

static petal_status open_format(const char *format, unsigned flags, petal_filter **filter,
                                petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    options.format = format;
    *error = (petal_error){.message = ""};
    return petal_open(path, &options, filter, error);
}

static petal_filter *filter_of(enum start start)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    options.rate = 1e-6;
    if (start != WINDOW) options.capacity = start == GROWING ? 40 : 1000;
    if (start == COUNTING) options.scheme = PETAL_SCHEME_COUNTING;
    if (start == GROWING) options.growth = true;
    if (start == WINDOW) options.window_keys = 1000;
    if (start == GUAVA) options.format = "guava";
    if (petal_create(&options, &filter, &error) != PETAL_OK)
        give_up("petal_create: %s", error.message);
    return filter;
}

static bool is_index(const char *format)
{
    return format && strcmp(format, "index") == 0;
}

static void add_groups(petal_filter *filter, unsigned groups)
{
    for (unsigned group = 0; group < GROUPS; group++)
        if (groups >> group & 1 && add_keys(filter, group * GROUP, (group + 1) * GROUP) < 0)
            give_up("petal_add");
}

static struct bytes image_of(enum start start, unsigned groups)
{
    petal_filter *filter = filter_of(start);
    petal_error error;
    add_groups(filter, groups);
    petal_status status =
        petal_save(filter, path, SAVE_AS(start == GUAVA ? "guava" : "petal"), &error);
    if (status != PETAL_OK) give_up("petal_save_as: %s", error.message);
    petal_free(filter);
    return read_file(path);
}

/* Returns an index of two filters, one of which contains the old keys. */
static struct bytes index_image(void)
{
    petal_index *index;
    petal_error error;
    petal_filter *old = filter_of(CLEAN), *other = filter_of(CLEAN);
    add_groups(old, OLD);
    add_groups(other, OTHER);
    if (petal_index_create(NULL, &index, &error) != PETAL_OK ||
        petal_index_add(index, "old", old, &error) != PETAL_OK ||
        petal_index_add(index, "other", other, &error) != PETAL_OK ||
        petal_index_save(index, path, NULL, &error) != PETAL_OK)
        give_up("index: %s", error.message);
    petal_index_free(index);
    petal_free(old);
    petal_free(other);
    return read_file(path);
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

static void write_image(char *to, const char *name, struct bytes image)
{
    copy_text(to, in_folder(name));
    write_file(to, image.data, image.size);
}

static void write_keys(char *to, const char *name, unsigned groups)
{
    copy_text(to, in_folder(name));
    FILE *file = fopen(to, "w");
    for (unsigned group = 0; file && group < GROUPS; group++)
        for (unsigned k = 0; groups >> group & 1 && k < GROUP; k++)
            fprintf(file, "k%u\n", group * GROUP + k);
    if (!file || fclose(file) != 0) give_up("cannot write %s", to);
}

static void make_files(void)
{
    for (enum start start = CLEAN; start < STARTS; start++)
        if (start != DIRTY && start != INDEX) images[start] = image_of(start, OLD);
    images[INDEX] = index_image();
    unlink(path); /* a petal file can't overwrite an index */
    images[CLEAN] = image_of(CLEAN, OLD);
    images[DIRTY] = dirty_image();
    write_image(in, "in.petal", image_of(CLEAN, OTHER));
    write_image(twin, "twin.petal", image_of(CLEAN, OTHER));
    write_image(guava, "in.guava", image_of(GUAVA, OTHER));
    write_keys(keys, "keys", NEW);
    write_keys(removed, "removed", OLD);
    copy_text(out, in_folder("w/out"));
    copy_text(output, in_folder("output"));
    copy_text(second_output, in_folder("output-2"));
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

/* Returns the groups whose keys are all in FILE. *status is the result of opening FILE. */
static unsigned groups_in_file(const char *format, unsigned flags, petal_status *status)
{
    if (is_index(format)) return groups_in_index(status);
    unsigned groups = 0;
    petal_filter *filter;
    petal_error error;
    *status = open_format(format, flags, &filter, &error);
    for (unsigned group = 0; filter && group < GROUPS; group++)
        if (missing_keys(filter, group * GROUP, (group + 1) * GROUP) == 0) groups |= 1u << group;
    petal_free(filter);
    return groups;
}

/* ---- the folder ------------------------------------------------------------------------------ */

static char expected_names[512]; /* a list such as " a b " */

/* Lists the names of the files in the folder. The order may vary, so each name is surrounded by
 * blanks, which makes it possible to search for a whole name. */
static void list_names(char *names, size_t size)
{
    DIR *dir = opendir(in_folder("w"));
    size_t used = (size_t)snprintf(names, size, " ");
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL && used < size;)
        if (entry->d_name[0] != '.')
            used += (size_t)snprintf(names + used, size - used, "%s ", entry->d_name);
    if (dir) closedir(dir);
}

static bool is_expected(const char *names)
{
    char one[300];
    for (const char *at = names + 1; *at; at = strchr(at, ' ') + 1) {
        snprintf(one, sizeof one, " %.*s ", (int)strcspn(at, " "), at);
        if (!strstr(expected_names, one) && strcmp(one, " f.petal ") != 0) return false;
    }
    return true;
}

/* Returns true if the folder contains a name that starts with a dot, other than . and .., because
 * temporary files may have such names. */
static bool has_hidden_names(void)
{
    bool has = false;
    DIR *dir = opendir(in_folder("w"));
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        has = has || (entry->d_name[0] == '.' && strcmp(entry->d_name, ".") != 0 &&
                      strcmp(entry->d_name, "..") != 0);
    if (dir) closedir(dir);
    return has;
}

/* ---- one run --------------------------------------------------------------------------------- */

#define MAX_ARGUMENTS 16

static struct command command_of(const struct job *job, const char **arguments)
{
    static char outs[2][PATH_MAX + 8];
    size_t count = 0, made = 0;
    arguments[count++] = tool_path();
    for (size_t i = 0; i < COUNT(job->arguments) && job->arguments[i]; i++) {
        const char *text = job->arguments[i];
        if (strncmp(text, "OUT", 3) == 0) {
            snprintf(outs[made], sizeof outs[made], "%s%s", out, text + 3);
            text = outs[made++];
        }
        arguments[count++] = strcmp(text, "FILE") == 0      ? path
                             : strcmp(text, "IN") == 0      ? in
                             : strcmp(text, "TWIN") == 0    ? twin
                             : strcmp(text, "GUAVA") == 0   ? guava
                             : strcmp(text, "REMOVED") == 0 ? removed
                             : strcmp(text, "KEYS") == 0    ? keys
                                                            : text;
    }
    arguments[count] = NULL;
    struct command command = watched_command(arguments);
    command.input = job->reads_keys ? keys : NULL;
    command.output = output;
    return command;
}

static void prepare(const struct job *job)
{
    empty_folder(open(in_folder("w"), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (job->start != NOTHING) write_file(path, images[job->start].data, images[job->start].size);
}

/* The results of running the command without a fault. */
static struct clean_run {
    int status;
    struct bytes printed;
    unsigned groups;
    petal_status opens;
    uint32_t calls[SHIM_CALLS];
} clean;

static bool run_clean(const struct job *job)
{
    const char *arguments[MAX_ARGUMENTS];
    struct command command = command_of(job, arguments);
    prepare(job);
    arm(SHIM_NONE, SHIM_COUNT, 0, 0);
    start_command(&command);
    end_command(&command);
    free(clean.printed.data);
    clean.status = command.status;
    clean.printed = read_file(output);
    clean.groups = groups_in_file(job->format, job->format ? 0 : PETAL_OPEN_VERIFY, &clean.opens);
    for (int i = 0; i < SHIM_CALLS; i++) clean.calls[i] = atomic_load(&control->seen[i]);
    list_names(expected_names, sizeof expected_names);
    return expect(has_succeeded(&command), "%s without a fault: %s, %s", job->name,
                  ending_of(&command), command.said);
}

static char fault_text[200]; /* describes the fault in reports */
static uint64_t runs, hits, failures;

/* Expects a successful command to have the same output and leave the same keys in the file as
 * without the fault. */
static void expect_success(const struct job *job, const struct command *command)
{
    petal_status status;
    struct bytes printed = read_file(output);
    unsigned groups = groups_in_file(job->format, job->format ? 0 : PETAL_OPEN_VERIFY, &status);
    expect(same_bytes(printed, clean.printed),
           "%s: exit status 0, but it printed something else: %s", fault_text, command->said);
    expect(status == clean.opens && groups == clean.groups,
           "%s: exit status 0, but the file is \"%s\" with groups %#x, wanted %#x; it said: %s",
           fault_text, petal_status_name(status), groups, clean.groups, command->said);
    free(printed.data);
}

/* Expects that after a failure, FILE is unchanged, or new and complete, or is marked dirty and
 * contains all the old keys. */
static void expect_old_or_new(const struct job *job, const struct command *command)
{
    petal_status status;
    struct bytes now = read_file(path);
    bool is_same = job->start == NOTHING ? now.data == NULL : same_bytes(now, images[job->start]);
    unsigned old = job->start == NOTHING ? 0 : job->removes ? 0 : OLD, groups;
    free(now.data);
    groups =
        is_same ? 0 : groups_in_file(job->format, job->format ? 0 : PETAL_OPEN_VERIFY, &status);
    /* If there is no file, `seen` creates one immediately, and its message may then call this new
     * file "unchanged". */
    bool is_empty =
        strncmp(job->name, "seen", 4) == 0 && job->start == NOTHING && !is_same && groups == 0;
    if (strstr(command->said, "unchanged"))
        expect(is_empty || (is_same && job->start != NOTHING), "%s: it is not unchanged: %s",
               fault_text, command->said);
    if (strstr(command->said, "nothing was written"))
        expect(is_same || is_empty, "%s: something was written: %s", fault_text, command->said);
    if (is_same) return;
    if (status == PETAL_OK) {
        expect(groups == clean.groups || (groups & old) == old,
               "%s: the file has groups %#x; it said: %s", fault_text, groups, command->said);
        return;
    }
    if (!expect(status == PETAL_ERR_DIRTY, "%s: the file is \"%s\"; it said: %s", fault_text,
                petal_status_name(status), command->said))
        return;
    expect(strstr(command->said, "recover") || strstr(command->said, "dirty") ||
               job->start == DIRTY,
           "%s: the file is dirty, which it does not say: %s", fault_text, command->said);
    groups = groups_in_file(job->format, PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER, &status);
    expect(status == PETAL_OK && (groups & old) == old,
           "%s: recovered it is \"%s\" and has groups %#x", fault_text, petal_status_name(status),
           groups);
}

/* Sets came[i] if new key number i is a complete line of the file. */
static void note_lines(const char *name, bool *came)
{
    struct bytes all = read_file(name);
    for (size_t at = 0; at < all.size;) {
        const uint8_t *end = memchr(all.data + at, '\n', all.size - at);
        if (!end) break;
        uint64_t number = strtoull((const char *)all.data + at + 1, NULL, 10);
        if (number >= GROUP && number < 2 * GROUP) came[number - GROUP] = true;
        at = (size_t)(end - all.data) + 1;
    }
    free(all.data);
}

/* Expects that another run prints all lines that this run didn't deliver. */
static void expect_delivery(const struct job *job, const struct command *command)
{
    bool came[GROUP] = {false};
    unsigned lost = 0;
    const char *arguments[MAX_ARGUMENTS];
    struct command again = command_of(job, arguments), recovery;
    const char *recover[] = {tool_path(), "verify", "--recover", path, NULL};
    note_lines(output, came);
    if (access(path, F_OK) == 0) run_tool(&recovery, recover);
    again.environment[0] = again.environment[1] = NULL;
    again.output = second_output;
    start_command(&again);
    end_command(&again);
    note_lines(second_output, came);
    for (unsigned i = 0; i < GROUP; i++) lost += !came[i];
    expect(has_succeeded(&again), "%s: the next run fails: %s", fault_text, again.said);
    expect(lost == 0, "%s: %u of %u lines come out of neither run; it said: %s", fault_text, lost,
           GROUP, command->said);
}

/* Counts the lines that report a failure, ignoring lines that report what was done. If the fault is
 * permanent, a second call may fail and be reported on its own line, which does not count. */
static unsigned complaints_in(const char *said, bool lasts)
{
    const char *second = strchr(said, '\n');
    static const char *const remarks[] = {"before that are in\n", "before that were removed\n",
                                          "recovered;", "differ from their last checksums"};
    unsigned lines = lines_in(said);
    for (size_t i = 0; i < COUNT(remarks); i++) lines -= strstr(said, remarks[i]) != NULL;
    bool differ = second && strncmp(said, second + 1, (size_t)(second - said) + 1) != 0;
    return lines == 2 && lasts && differ ? 1 : lines;
}

static void judge(const struct job *job, struct command *command, enum shim_call call, bool lasts)
{
    char names[1024];
    bool is_as_ever = WIFEXITED(command->status) && command->status == clean.status;
    if (!expect(!command->hung && WIFEXITED(command->status), "%s: %s", fault_text,
                ending_of(command)))
        return;
    if (is_as_ever) {
        expect_success(job, command);
    } else {
        failures++;
        expect(WEXITSTATUS(command->status) == 2, "%s: %s", fault_text, ending_of(command));
        expect(strncmp(command->said, "petal: ", 7) == 0 &&
                   complaints_in(command->said, lasts) == 1,
               "%s: not one message: %s", fault_text, command->said[0] ? command->said : "(none)");
        if (!strstr(job->name, "plan") && !strstr(job->name, "shard"))
            expect_old_or_new(job, command);
    }
    list_names(names, sizeof names);
    expect(call == SHIM_UNLINK || (is_expected(names) && !has_hidden_names()),
           "%s: left in the folder:%s; it said: %s", fault_text, names, command->said);
    if (strncmp(job->name, "seen", 4) == 0) expect_delivery(job, command);
}

static void run_fault(const struct job *job, enum shim_call call, enum shim_action action,
                      uint32_t nth, int error)
{
    const char *arguments[MAX_ARGUMENTS];
    struct command command = command_of(job, arguments);
    static const char *const actions[] = {"count", "fails", "fails from there on", "is short",
                                          "waits"};
    snprintf(fault_text, sizeof fault_text, "petal %s, %s %u %s (%s)", job->name, shim_names[call],
             nth, actions[action], action == SHIM_SHORT ? "half" : strerror(error));
    prepare(job);
    arm(call, action, nth, error);
    start_command(&command);
    end_command(&command);
    runs++;
    if (atomic_load(&control->hit) == 0) return;
    hits++;
    judge(job, &command, call, action == SHIM_FAIL_ON);
}

/* ---- all faults ------------------------------------------------------------------------------ */

struct fault {
    enum shim_call call;
    int errors[5];
};

static const struct fault faults[] = {
    {SHIM_OPEN, {EMFILE, EACCES, EINTR}},
    {SHIM_READ, {EIO, EINTR}},
    {SHIM_WRITE, {EIO, ENOSPC, EDQUOT, EINTR, 0}},
    {SHIM_FSYNC, {EIO, ENOSPC, EDQUOT}},
    {SHIM_MSYNC, {EIO, ENOMEM}},
    {SHIM_MMAP, {ENOMEM}},
    {SHIM_TRUNCATE, {EIO, EFBIG}},
    {SHIM_ALLOCATE, {ENOSPC, EIO, EINTR, EOPNOTSUPP}},
    {SHIM_CLOSE, {EIO, EINTR}},
    {SHIM_RENAME, {EIO, ENOSPC, EACCES}},
    {SHIM_LINK, {EIO, EPERM, ENOSPC}},
    {SHIM_UNLINK, {EIO}},
    {SHIM_LOCK, {EIO, ENOLCK, EINTR}},
    {SHIM_MODE, {EPERM, EIO}},
    {SHIM_STAT, {EIO, EACCES}},
    {SHIM_RANDOM, {EIO, EINTR}},
    {SHIM_MALLOC, {ENOMEM}},
};

/* For each fault of each call, runs the command with this probability. Returns the number of
 * possible faults. */
static uint64_t for_all_faults(const struct job *job, double probability)
{
    uint64_t number = 0;
    for (size_t i = 0; i < COUNT(faults); i++)
        for (size_t j = 0; j < COUNT(faults[i].errors); j++)
            for (uint32_t nth = 1;
                 nth <= clean.calls[faults[i].call] && (j == 0 || faults[i].errors[j]); nth++) {
                int error = faults[i].errors[j];
                bool lasts = error != EINTR; /* calls can't be interrupted forever */
                number += 1 + lasts;
                if (probability == 0) continue;
                if ((double)random_below(1u << 30) < probability * (1u << 30))
                    run_fault(job, faults[i].call, SHIM_FAIL, nth, error);
                if (lasts && (double)random_below(1u << 30) < probability * (1u << 30))
                    run_fault(job, faults[i].call, SHIM_FAIL_ON, nth, error);
            }
    for (uint32_t nth = 1; nth <= clean.calls[SHIM_WRITE]; nth++, number++)
        if (probability > 0 && (double)random_below(1u << 30) < probability * (1u << 30))
            run_fault(job, SHIM_WRITE, SHIM_SHORT, nth, 0);
    return number;
}

/* Fails each of the first ten allocations in turn, because what a command does depends on the files
 * that it opens first. */
static void run_first_allocations(const struct job *job)
{
    for (uint32_t nth = 1; nth <= 10 && nth <= clean.calls[SHIM_MALLOC]; nth++)
        run_fault(job, SHIM_MALLOC, SHIM_FAIL, nth, ENOMEM);
}

/* Runs the command with stdout on a full disk. The write error occurs when the C library flushes
 * its buffers. */
static void run_full_output(const struct job *job)
{
    const char *arguments[MAX_ARGUMENTS];
    struct command command = command_of(job, arguments);
    if (clean.printed.size == 0) return;
    snprintf(fault_text, sizeof fault_text, "petal %s, stdout is full", job->name);
    prepare(job);
    arm(SHIM_NONE, SHIM_COUNT, 0, 0);
    command.output = "/dev/full";
    write_file(output, "", 0);
    start_command(&command);
    end_command(&command);
    runs++, hits++;
    expect(command.status != clean.status, "%s: it does not notice", fault_text);
    judge(job, &command, SHIM_WRITE, false);
}

int main(int argc, char **argv)
{
    uint64_t amount = amount_of(argc, argv, 40, 1000000), all = 0;
    const char *only = argc > 2 ? argv[2] : NULL;
    make_folder();
    mkdir(in_folder("w"), 0755);
    path = strdup(in_folder("w/f.petal"));
    make_control();
    make_files();
    for (size_t i = 0; i < COUNT(jobs); i++) {
        char promise[160];
        uint64_t number = 0;
        if (only && strcmp(only, jobs[i].name) != 0) continue;
        if (run_clean(&jobs[i])) {
            number = for_all_faults(&jobs[i], 0);
            run_full_output(&jobs[i]);
            run_first_allocations(&jobs[i]);
            for_all_faults(&jobs[i], (double)amount / (double)number);
        }
        all += number;
        snprintf(promise, sizeof promise, "petal %s: a fault is reported, and loses nothing",
                 jobs[i].name);
        end_case(promise);
    }
    return end_campaign("%zu commands, %" PRIu64 " faults in all, %" PRIu64 " runs, %" PRIu64
                        " with a fault, %" PRIu64 " of them failed",
                        COUNT(jobs), all, runs, hits, failures);
}
