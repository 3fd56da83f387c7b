/* kills.c - proves that no acknowledged key is lost if a process is killed at any moment.
 *
 * A child process adds keys to a file in one of several ways, acknowledges the safe keys through a
 * pipe, and is killed with kill -9 at a random moment. Sometimes the process that recovers the file
 * is killed too. Afterward, the file must be clean or recoverable, and must contain every
 * acknowledged key. If the tool was replacing a file, the file must be either the old or the new
 * version. Each line of a stream must be printed either by the killed `petal seen -f` or by a
 * second run. Even if a forked process frees a file's filter or tries to change it, the file must
 * still belong to the process that opened it. The amount is the number of rounds, each with 1.25
 * kills on average. */
#define _GNU_SOURCE
#include "campaign.h"

#include <poll.h>
#include <sys/prctl.h>

#define CAPACITY 20000u

/* ---- the file -------------------------------------------------------------------------------- */

static const char *path;
/* The number of acknowledged keys. Keys 0 .. acknowledged - 1 are in the file, except for removed
 * keys. */
static uint64_t acknowledged;
static bool counting; /* keys whose number is a multiple of 3 are removed after they are added */

static uint64_t kills, dirty_files, recoveries, killed_recoveries, keys_acknowledged,
    lines_streamed;

static void start_anew(uint64_t number)
{
    static const uint32_t schemes[] = {PETAL_SCHEME_BLOCKED, PETAL_SCHEME_CLASSIC,
                                       PETAL_SCHEME_COUNTING};
    petal_filter *filter = new_filter(schemes[number % 3], CAPACITY, 0.0001);
    counting = schemes[number % 3] == PETAL_SCHEME_COUNTING;
    unlink(path);
    save_or_give_up(filter, path);
    petal_free(filter);
    acknowledged = 0;
}

/* ---- the children ---------------------------------------------------------------------------- */

static void acknowledge(int pipe, uint64_t keys)
{
    if (write(pipe, &keys, sizeof keys) != sizeof keys) _exit(3);
}

/* Prints why a child process stopped. The child's stdout is part of the report. */
static void stop_at(const char *what, petal_status status, const petal_error *error)
{
    printf("# %s: %s: %s\n", what, petal_status_name(status), error->message);
    fflush(stdout);
    _exit(2);
}

/* Removes every third of these keys. The remaining keys share counters with the removed ones, so
 * they must not be lost. */
static petal_status remove_some(petal_filter *filter, uint64_t from, uint64_t to)
{
    char text[KEY_TEXT];
    for (uint64_t i = from; i < to; i++) {
        petal_status status = i % 3 == 0 ? petal_remove(filter, text, key_text(i, text)) : PETAL_OK;
        if (status < 0) return status;
    }
    return PETAL_OK;
}

/* Opens the file as a map, adds keys and syncs. */
static void add_in_place(int pipe, uint64_t from)
{
    petal_filter *filter;
    petal_error error;
    petal_status status = open_flags(path, PETAL_OPEN_WRITABLE, &filter, &error);
    if (status != PETAL_OK) stop_at("WRITABLE", status, &error);
    acknowledge(pipe, from);
    for (uint64_t to; from < CAPACITY; from = to) {
        to = from + 1 + from % 7;
        status = add_keys(filter, from, to);
        if (status == PETAL_OK) status = petal_sync(filter, &error);
        if (status != PETAL_OK) stop_at("sync", status, &error);
        acknowledge(pipe, to);
        if (counting) status = remove_some(filter, from, to);
        if (status != PETAL_OK) stop_at("remove", status, &error);
    }
    _exit(0);
}

/* Forks a child process that waits, tries to change its parent's file, and exits with or without
 * freeing the filter. */
static void be_forked(petal_filter *filter, uint64_t number)
{
    char text[KEY_TEXT];
    if (fork() != 0) return;
    usleep((useconds_t)(number * 7919 % 400));
    (void)petal_add(filter, text, key_text(CAPACITY, text));
    if (number % 3) petal_free(filter);
    _exit(0);
}

/* Adds keys to a map and syncs, while forked child processes start and exit. */
static void add_beside_forks(int pipe, uint64_t from)
{
    petal_filter *filter;
    petal_error error;
    petal_status status = open_flags(path, PETAL_OPEN_WRITABLE, &filter, &error);
    if (status != PETAL_OK) stop_at("WRITABLE", status, &error);
    acknowledge(pipe, from);
    for (uint64_t to; from < CAPACITY; from = to) {
        to = from + 1 + from % 7;
        status = add_keys(filter, from, from + 1);
        if (status == PETAL_OK && from % 2) be_forked(filter, from);
        if (status == PETAL_OK) status = add_keys(filter, from + 1, to);
        if (status == PETAL_OK && from % 3 == 0) status = petal_sync(filter, &error);
        if (status != PETAL_OK) stop_at("beside forks", status, &error);
        if (from % 3 == 0) acknowledge(pipe, to);
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
    }
    petal_free(filter);
    acknowledge(pipe, CAPACITY);
    _exit(0);
}

/* Loads the file, adds keys and saves, and holds the lock the whole time. */
static void add_by_saving(int pipe, uint64_t from)
{
    petal_filter *filter;
    petal_error error;
    petal_status status = open_flags(path, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED, &filter, &error);
    if (status != PETAL_OK) stop_at("LOAD | LOCKED", status, &error);
    acknowledge(pipe, from);
    for (uint64_t to; from < CAPACITY; from = to) {
        to = from + 1 + from % 7;
        status = add_keys(filter, from, to);
        if (status == PETAL_OK) status = petal_save(filter, path, NULL, &error);
        if (status != PETAL_OK) stop_at("save", status, &error);
        acknowledge(pipe, to);
    }
    _exit(0);
}

static void recover_it(int pipe, uint64_t from)
{
    petal_filter *filter;
    petal_error error;
    (void)pipe, (void)from;
    petal_status status =
        open_flags(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_RECOVER, &filter, &error);
    if (status == PETAL_OK) status = petal_sync(filter, &error);
    if (status != PETAL_OK) stop_at("recovering", status, &error);
    petal_free(filter);
    _exit(0);
}

/* Waits until the lock is free. If a process is killed, its forked children hold the lock and the
 * pipe until they exit. The system may close the pipe before it releases the lock. */
static void wait_for_lock(void)
{
    petal_filter *filter;
    petal_error error;
    unsigned flags =
        PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED | PETAL_OPEN_HEADER_ONLY | PETAL_OPEN_RECOVER;
    while (open_flags(path, flags, &filter, &error) == PETAL_ERR_BUSY) usleep(100);
    petal_free(filter);
}

/* Runs the child, and kills it after at most `within` microseconds. In half of the runs, the delay
 * starts only after the child has opened the file, so that the kill interrupts the child's work
 * even on a slow machine. Records the keys that the child acknowledged. */
static void run_and_kill(void (*child)(int, uint64_t), useconds_t within)
{
    int ends[2], status;
    uint64_t keys;
    if (pipe(ends) != 0) give_up("pipe");
    pid_t pid = fork();
    if (pid < 0) give_up("fork");
    if (pid == 0) {
        close(ends[0]);
        child(ends[1], acknowledged);
    }
    close(ends[1]);
    if (random_below(2)) poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 10000);
    usleep((useconds_t)random_below(within));
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    expect(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0,
           "a child ended by itself: %#x", (unsigned)status);
    kills += WIFSIGNALED(status);
    while (read(ends[0], &keys, sizeof keys) == sizeof keys) {
        keys_acknowledged += keys - acknowledged;
        acknowledged = keys;
    }
    close(ends[0]);
    if (child == add_beside_forks) wait_for_lock();
}

/* ---- after the kill -------------------------------------------------------------------------- */

static void recover(uint64_t round)
{
    petal_filter *filter;
    petal_error error;
    recoveries++;
    if (round % 16 == 0) {
        struct command command;
        const char *arguments[] = {tool_path(), "verify", "--recover", path, NULL};
        run_tool(&command, arguments);
        expect(has_succeeded(&command), "petal verify --recover: %s, %s", ending_of(&command),
               command.said);
        return;
    }
    petal_status status =
        open_flags(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_RECOVER, &filter, &error);
    if (status == PETAL_OK) status = petal_sync(filter, &error);
    expect(status == PETAL_OK, "recovering: %s: %s", petal_status_name(status), error.message);
    petal_free(filter);
}

static uint64_t missing(const petal_filter *filter)
{
    uint64_t missing = 0;
    for (uint64_t i = 0; i < acknowledged; i++)
        missing += !(counting && i % 3 == 0) && !has_key(filter, i);
    return missing;
}

/* Checks the file, recovers it if necessary, and leaves it clean. */
static void judge(uint64_t round)
{
    petal_filter *filter;
    petal_error error;
    petal_status status = open_flags(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, &filter, &error);
    petal_free(filter);
    expect(status == PETAL_OK || status == PETAL_ERR_DIRTY, "after the kill: %s: %s",
           petal_status_name(status), error.message);
    if (status != PETAL_OK) {
        dirty_files++;
        for (int i = 0; i < 3 && random_below(4) == 0; i++, killed_recoveries++)
            run_and_kill(recover_it, 300);
        recover(round);
        status = open_flags(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, &filter, &error);
        expect(status == PETAL_OK, "recovered: %s: %s", petal_status_name(status), error.message);
        petal_free(filter);
    }
    if (open_flags(path, PETAL_OPEN_MAP, &filter, &error) != PETAL_OK) {
        start_anew(round);
        return;
    }
    uint64_t gone = missing(filter);
    expect(gone == 0, "round %" PRIu64 ": %" PRIu64 " of %" PRIu64 " acknowledged keys are gone",
           round, gone, acknowledged);
    petal_free(filter);
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *dir = opendir(folder);
    while (dir && readdir(dir)) count++;
    if (dir) closedir(dir);
    return count - 2;
}

static void judge_folder(void)
{
    expect(files_in_folder() == 1, "%d files are in the folder after the next save, wanted 1",
           files_in_folder());
}

/* A process that is killed while saving leaves a temporary file behind, which the next save must
 * remove. */
static void judge_temporaries(void)
{
    petal_filter *filter;
    petal_error error;
    petal_status status = open_flags(path, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED, &filter, &error);
    if (status == PETAL_OK) status = petal_save(filter, path, NULL, &error);
    expect(status == PETAL_OK, "saving after the kill: %s: %s", petal_status_name(status),
           error.message);
    petal_free(filter);
    judge_folder();
}

/* ---- through the tool ------------------------------------------------------------------------ */

static void write_lines(const char *name, uint64_t from, uint64_t to)
{
    FILE *out = fopen(in_folder(name), "w");
    if (!out) give_up("cannot write keys");
    for (uint64_t i = from; i < to; i++) fprintf(out, "k%" PRIu64 "\n", i);
    if (fclose(out) != 0) give_up("cannot write keys");
}

static void kill_command(struct command *command, useconds_t within)
{
    start_command(command);
    usleep((useconds_t)random_below(within));
    kill(command->pid, SIGKILL);
    end_command(command);
    kills += WIFSIGNALED(command->status);
    expect(has_succeeded(command) ||
               (WIFSIGNALED(command->status) && WTERMSIG(command->status) == SIGKILL),
           "petal %s ended by itself: %s, %s", command->arguments[1], ending_of(command),
           command->said);
}

/* The exit status of `petal add` acknowledges all its keys at the same time. */
static void add_through_tool(uint64_t round)
{
    uint64_t to = acknowledged + 1000 > CAPACITY ? CAPACITY : acknowledged + 1000;
    const char *arguments[] = {tool_path(), "add", "--threads", "1", path, NULL};
    write_lines("keys", acknowledged, to);
    struct command command = {.arguments = arguments, .input = in_folder("keys")};
    kill_command(&command, 6000);
    unlink(in_folder("keys"));
    if (has_succeeded(&command)) acknowledged = to;
    judge(round);
}

/* Sets came[i] if the line "k" followed by i is in the file. An incomplete last line doesn't count
 * as delivered. */
static void note_lines(const char *name, bool *came, uint64_t lines)
{
    struct bytes all = read_file(in_folder(name));
    for (size_t at = 0; at < all.size;) {
        const uint8_t *end = memchr(all.data + at, '\n', all.size - at);
        if (!end) break;
        uint64_t number = strtoull((const char *)all.data + at + 1, NULL, 10);
        if (number < lines) came[number] = true;
        at = (size_t)(end - all.data) + 1;
    }
    free(all.data);
}

static void run_seen(const char *output, useconds_t within)
{
    const char *arguments[] = {
        tool_path(), "seen", "-n", "20000", "-p", "1e-9", "-f", in_folder("seen.petal"), NULL};
    struct command command = {
        .arguments = arguments, .input = in_folder("lines"), .output = in_folder(output)};
    if (within) {
        kill_command(&command, within);
        return;
    }
    start_command(&command);
    end_command(&command);
    expect(has_succeeded(&command), "petal seen after the kill: %s, %s", ending_of(&command),
           command.said);
}

static void recover_seen(void)
{
    struct command command;
    const char *arguments[] = {tool_path(), "verify", "--recover", in_folder("seen.petal"), NULL};
    if (access(in_folder("seen.petal"), F_OK) == 0) run_tool(&command, arguments);
}

/* Every line must be delivered at least once, either by the killed run or by the next one. */
static void stream_through_tool(void)
{
    enum { LINES = 5000 };
    bool came[LINES] = {false};
    uint64_t lost = 0;
    write_lines("lines", 0, LINES);
    run_seen("first", 12000);
    recover_seen();
    run_seen("second", 0);
    note_lines("first", came, LINES);
    note_lines("second", came, LINES);
    for (int i = 0; i < LINES; i++) lost += !came[i];
    expect(lost == 0, "petal seen -f: %" PRIu64 " of %d lines never came out", lost, LINES);
    lines_streamed += LINES;
    const char *names[] = {"lines", "first", "second", "seen.petal"};
    for (size_t i = 0; i < COUNT(names); i++) unlink(in_folder(names[i]));
    expect(files_in_folder() == 1, "petal seen -f left %d files", files_in_folder() - 1);
}

/* ---- commands that change a whole file ------------------------------------------------------- */

#define OLD_KEYS 4000u
#define MORE_KEYS 8000u

enum way { REMOVE, MERGE, PATCH, BUILD, BUILD_STATIC, FOLD, INDEX, WAYS };

static const char *const ways[WAYS][10] = {
    [REMOVE] = {"remove", "--threads", "1", "FILE", "INPUT"},
    [MERGE] = {"merge", "--force", "-o", "FILE", "FILE", "INPUT"},
    [PATCH] = {"patch", "FILE", "INPUT"},
    [FOLD] = {"fold", "--force", "-n", "40000", "-o", "FILE", "INPUT"},
    [INDEX] = {"index", "--force", "-o", "FILE", "FILE", "INPUT"},
    [BUILD] = {"build", "--threads", "1", "--force", "-n", "8000", "-o", "FILE", "INPUT"},
    [BUILD_STATIC] = {"build", "--force", "--scheme", "static", "-o", "FILE", "INPUT"},
};

static bool builds(enum way way)
{
    return way == BUILD || way == BUILD_STATIC;
}

static petal_filter *filter_of(enum way way, uint64_t from, uint64_t to)
{
    petal_filter *filter =
        new_filter(way == REMOVE ? PETAL_SCHEME_COUNTING : PETAL_SCHEME_BLOCKED, CAPACITY, 0.0001);
    if (add_keys(filter, from, to) < 0) give_up("petal_add");
    return filter;
}

static int32_t write_patch(void *out, const void *bytes, size_t size_bytes)
{
    return fwrite(bytes, 1, size_bytes, out) == size_bytes ? 0 : EIO;
}

static petal_filter *foldable_filter(uint64_t from, uint64_t to)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    options.rate = 0.0001;
    options.capacity = 10 * CAPACITY;
    options.foldable = 1;
    if (petal_create(&options, &filter, &error) != PETAL_OK)
        give_up("petal_create: %s", error.message);
    if (add_keys(filter, from, to) < 0) give_up("petal_add");
    return filter;
}

/* Creates the file with the old keys, and the command's input: keys, a filter or a patch. */
static void prepare(enum way way)
{
    petal_error error;
    petal_filter *old = filter_of(way, 0, OLD_KEYS),
                 *more = way == FOLD ? foldable_filter(OLD_KEYS, MORE_KEYS)
                                     : filter_of(way, way == PATCH ? 0 : OLD_KEYS, MORE_KEYS);
    unlink(path);
    if (way == INDEX)
        save_index(old, path);
    else
        save_or_give_up(old, path);
    if (way == MERGE || way == FOLD || way == INDEX) save_or_give_up(more, in_folder("input"));
    if (way == REMOVE) write_lines("input", 0, OLD_KEYS / 2);
    if (builds(way)) write_lines("input", OLD_KEYS, MORE_KEYS);
    if (way == PATCH) {
        FILE *out = fopen(in_folder("input"), "wb");
        if (!out || petal_diff(old, more, write_patch, out, &error) != PETAL_OK || fclose(out) != 0)
            give_up("petal_diff");
    }
    petal_free(old);
    petal_free(more);
}

static void judge_index(bool succeeded)
{
    petal_index *index;
    petal_error error;
    petal_status status = open_index(path, &index, &error);
    if (!expect(status == PETAL_OK, "petal index: the file is \"%s\": %s",
                petal_status_name(status), error.message))
        return;
    uint64_t old = missing_in_index(index, 0, OLD_KEYS),
             more = missing_in_index(index, OLD_KEYS, MORE_KEYS);
    expect(old == 0 && (more == 0 || !succeeded),
           "petal index%s: %" PRIu64 " old keys are missing, %" PRIu64 " new ones",
           succeeded ? "" : " (killed)", old, more);
    keys_acknowledged += succeeded ? MORE_KEYS - OLD_KEYS : 0;
    petal_index_free(index);
    petal_filter *filter = filter_of(INDEX, 0, OLD_KEYS);
    save_index(filter, path);
    petal_free(filter);
    judge_folder();
    unlink(path);
}

/* Checks that the file is either the old or the new version. If a removal was killed, only some of
 * the counters may have been decremented. */
static void judge_whole_file(enum way way, bool succeeded, uint64_t round)
{
    petal_filter *filter;
    petal_error error;
    unsigned flags = PETAL_OPEN_MAP | PETAL_OPEN_VERIFY;
    petal_status status = open_flags(path, flags, &filter, &error);
    if (status == PETAL_ERR_DIRTY && way == REMOVE && !succeeded) {
        dirty_files++;
        recover(round);
        status = open_flags(path, flags, &filter, &error);
    }
    if (!expect(status == PETAL_OK, "petal %s: the file is \"%s\": %s", ways[way][0],
                petal_status_name(status), error.message))
        return;
    uint64_t old = missing_keys(filter, way == REMOVE ? OLD_KEYS / 2 : 0, OLD_KEYS),
             more = way == REMOVE ? 0 : missing_keys(filter, OLD_KEYS, MORE_KEYS);
    bool replaces = builds(way) || way == FOLD;
    bool holds =
        replaces ? more == 0 || (old == 0 && !succeeded) : old == 0 && (more == 0 || !succeeded);
    expect(holds, "petal %s%s: %" PRIu64 " old keys are missing, %" PRIu64 " new ones",
           ways[way][0], succeeded ? "" : " (killed)", old, more);
    keys_acknowledged += succeeded ? MORE_KEYS - OLD_KEYS : 0;
    petal_free(filter);
}

static void change_whole_file(uint64_t round)
{
    enum way way = (enum way)(round % WAYS);
    const char *arguments[COUNT(ways[0]) + 2] = {tool_path()};
    prepare(way);
    char *input = strdup(in_folder("input"));
    for (size_t i = 0; ways[way][i]; i++)
        arguments[i + 1] = strcmp(ways[way][i], "FILE") == 0    ? path
                           : strcmp(ways[way][i], "INPUT") == 0 ? input
                                                                : ways[way][i];
    struct command command = {.arguments = arguments};
    kill_command(&command, 8000);
    unlink(input);
    free(input);
    if (way == INDEX) {
        judge_index(has_succeeded(&command));
        return;
    }
    judge_whole_file(way, has_succeeded(&command), round);
    judge_temporaries();
}

/* ---- the campaign ---------------------------------------------------------------------------- */

static void run_rounds(uint64_t rounds, int way, const char *promise)
{
    start_anew(0);
    for (uint64_t round = 1, files = 0; round <= rounds; round++) {
        if (acknowledged >= CAPACITY) start_anew(++files);
        switch (way) {
        case 0: run_and_kill(add_in_place, 600); break;
        case 1: run_and_kill(add_by_saving, 600); break;
        case 2: add_through_tool(round); break;
        case 3: change_whole_file(round); break;
        case 5: run_and_kill(add_beside_forks, 3000); break;
        default: stream_through_tool();
        }
        if (way < 2 || way == 5) judge(round);
        if (way == 1) judge_temporaries();
    }
    end_case(promise);
}

int main(int argc, char **argv)
{
    uint64_t rounds = amount_of(argc, argv, 200, 20000);
    /* Sets the timer slack to 1 ns instead of the default of 50,000 ns, so that a kill can follow
     * after a very short delay. */
    prctl(PR_SET_TIMERSLACK, 1L);
    make_folder();
    path = strdup(in_folder("f.petal"));
    run_rounds(rounds / 8 * 3, 0,
               "kill -9 while keys are added in place: every synced key is there");
    run_rounds(
        rounds / 4, 1,
        "kill -9 while files are saved: every saved key is there, and no temporary file stays");
    run_rounds(rounds / 8, 2, "kill -9 of petal add: every key of an exit status 0 is there");
    run_rounds(
        rounds / 8, 3,
        "kill -9 of petal remove, merge, patch, fold, index and build: the old file or the new one");
    run_rounds(rounds / 8, 4,
               "kill -9 of petal seen -f: every line comes out, now or of the next run");
    run_rounds(rounds / 4, 5,
               "kill -9 of a process whose forks free its map: every synced key is there");
    return end_campaign(
        "%" PRIu64 " kills, %" PRIu64 " dirty files, %" PRIu64 " recoveries and %" PRIu64
        " that were killed, %" PRIu64 " keys acknowledged, %" PRIu64 " lines streamed",
        kills, dirty_files, recoveries, killed_recoveries, keys_acknowledged, lines_streamed);
}
