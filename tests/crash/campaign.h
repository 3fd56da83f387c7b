/* campaign.h - helpers that the campaigns share: amounts, counters, filters, keys, a temporary
 * folder and child processes.
 *
 * A campaign is a program with one optional argument. The argument is `full` or an amount, such as
 * a number of rounds (see the first comment of each program). Without the argument, a campaign runs
 * in its short form, as in `./dev test`. A campaign prints TAP, one case per promise. At the end, a
 * campaign prints a line "# counts: ...", from which scripts/soak generates a row in
 * docs/reliability.md. A broken expectation is counted, and the campaign continues. */
#ifndef PETAL_TESTS_CAMPAIGN_H
#define PETAL_TESTS_CAMPAIGN_H

#include "../save_as.h"
#include "petal/petal_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- cases ----------------------------------------------------------------------------------- */

static struct {
    unsigned cases, bad_cases;
    uint64_t broken, told; /* expectations broken and printed in this case */
} campaign;

/* The maximum number of broken expectations printed per case, since the same one may occur a
 * million times. */
#define TOLD_PER_CASE 12

__attribute__((format(printf, 2, 3))) static inline bool expect(bool held, const char *format, ...)
{
    va_list arguments;
    if (held) return true;
    if (++campaign.broken > TOLD_PER_CASE) return false;
    va_start(arguments, format);
    printf("# ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    fflush(stdout);
    return false;
}

/* Ends a case and reports whether `promise` held. A case passes if no expectation was broken since
 * the previous case. */
static inline void end_case(const char *promise)
{
    campaign.cases++;
    campaign.bad_cases += campaign.broken > 0;
    printf("%sok %u - %s\n", campaign.broken ? "not " : "", campaign.cases, promise);
    if (campaign.broken) printf("# broken %" PRIu64 " times\n", campaign.broken);
    campaign.broken = 0;
    fflush(stdout);
}

static inline void skip_case(const char *promise, const char *why)
{
    printf("ok %u - %s # skip %s\n", ++campaign.cases, promise, why);
}

/* Returns the amount given on the command line. */
static inline uint64_t amount_of(int argc, char **argv, uint64_t brief, uint64_t full)
{
    if (argc < 2) return brief;
    return strcmp(argv[1], "full") == 0 ? full : (uint64_t)strtod(argv[1], NULL);
}

/* Prints the last lines of the TAP output. Returns the exit status. */
__attribute__((format(printf, 1, 2))) static inline int end_campaign(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("1..%u\n# counts: ", campaign.cases);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    return campaign.bad_cases > 0;
}

/* Ends a campaign that cannot continue. */
__attribute__((format(printf, 1, 2), noreturn)) static inline void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("Bail out! ");
    vprintf(format, arguments);
    printf(" (%s)\n", strerror(errno));
    va_end(arguments);
    exit(99);
}

/* ---- random numbers -------------------------------------------------------------------------- */

static uint64_t random_state = 1;

/* SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t random_number(void)
{
    uint64_t x = random_state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint64_t random_below(uint64_t bound)
{
    return random_number() % bound;
}

static inline double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- a folder -------------------------------------------------------------------------------- */

static char folder[256]; /* temporary folder of this campaign */
static pid_t folder_owner;

/* Deletes everything in the folder and closes the descriptor. */
static inline void empty_folder(int descriptor)
{
    DIR *dir = descriptor < 0 ? NULL : fdopendir(descriptor);
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(dirfd(dir), name, 0) == 0)
            continue;
        empty_folder(openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        unlinkat(dirfd(dir), name, AT_REMOVEDIR);
    }
    closedir(dir);
}

static inline void remove_folder(void)
{
    if (getpid() != folder_owner) return; /* a child process called give_up() */
    empty_folder(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    rmdir(folder);
}

/* Creates the folder on a tmpfs if possible. Calls that sync to disk return faster on a tmpfs, so
 * more rounds run per second. Even powercuts.c needs no real disk, since it models the disk's
 * losses. */
static inline void make_folder(void)
{
    const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/petal-crash-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(folder)) give_up("cannot make %s", folder);
    folder_owner = getpid();
    atexit(remove_folder);
}

/* Returns the path of a file in the folder. The path stays valid for the next seven calls. */
static inline const char *in_folder(const char *name)
{
    static char paths[8][sizeof folder + 64];
    static unsigned next;
    char *path = paths[next++ % COUNT(paths)];
    snprintf(path, sizeof paths[0], "%s/%.60s", folder, name);
    return path;
}

/* ---- files ----------------------------------------------------------------------------------- */

struct bytes {
    uint8_t *data;
    size_t size;
};

/* Returns the contents of the file. If the file doesn't exist, `data` is NULL. */
static inline struct bytes read_file(const char *path)
{
    struct bytes bytes = {NULL, 0};
    struct stat about;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return bytes;
    if (fstat(descriptor, &about) != 0) give_up("cannot look at %s", path);
    bytes.data = malloc((size_t)about.st_size + 1);
    for (ssize_t got = 1; bytes.data && got > 0 && bytes.size < (size_t)about.st_size;) {
        got = read(descriptor, bytes.data + bytes.size, (size_t)about.st_size - bytes.size);
        if (got > 0) bytes.size += (size_t)got;
    }
    close(descriptor);
    return bytes;
}

static inline void write_file(const char *path, const void *data, size_t size)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    size_t done = 0;
    while (descriptor >= 0 && done < size) {
        ssize_t written = write(descriptor, (const uint8_t *)data + done, size - done);
        if (written < 0) break;
        done += (size_t)written;
    }
    if (descriptor < 0 || done < size || close(descriptor) != 0) give_up("cannot write %s", path);
}

static inline bool same_bytes(struct bytes a, struct bytes b)
{
    if (!a.data || !b.data) return a.data == b.data;
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static inline struct bytes copy_of(struct bytes of)
{
    struct bytes copy = {malloc(of.size + 1), of.size};
    if (!copy.data) give_up("out of memory");
    memcpy(copy.data, of.data, of.size);
    return copy;
}

/* Copies a path, and gives up if it is too long. */
static inline void copy_text(char to[PATH_MAX], const char *text)
{
    if (snprintf(to, PATH_MAX, "%s", text) >= PATH_MAX) give_up("%s is too long", text);
}

/* ---- filters and keys ------------------------------------------------------------------------ */

/* The number of bytes for a key's text. Keys are text, so that the tool can read them from lines.
 * For example, key 7 is "k7". */
#define KEY_TEXT 24

static inline size_t key_text(uint64_t number, char text[KEY_TEXT])
{
    return (size_t)snprintf(text, KEY_TEXT, "k%" PRIu64, number);
}

static inline petal_status add_key(petal_filter *filter, uint64_t number)
{
    char text[KEY_TEXT];
    return petal_add(filter, text, key_text(number, text));
}

static inline bool has_key(const petal_filter *filter, uint64_t number)
{
    char text[KEY_TEXT];
    return petal_contains(filter, text, key_text(number, text));
}

/* Adds keys `from` to `to` - 1. If adding a key fails, stops and returns the status. */
static inline petal_status add_keys(petal_filter *filter, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        petal_status status = add_key(filter, i);
        if (status < 0) return status;
    }
    return PETAL_OK;
}

static inline uint64_t missing_keys(const petal_filter *filter, uint64_t from, uint64_t to)
{
    uint64_t missing = 0;
    for (uint64_t i = from; i < to; i++) missing += !has_key(filter, i);
    return missing;
}

/* Adds the filter to the index in the file. If `is_new` is true, saves a new index that contains
 * only this filter. */
static inline void put_in_index(const char *path, bool is_new, const char *name,
                                const petal_filter *filter)
{
    petal_index_options options = PETAL_INDEX_OPTIONS_INIT;
    petal_index *index, *old = NULL;
    petal_error error;
    options.locked_path = is_new ? NULL : path;
    petal_status status = petal_index_create(&options, &index, &error);
    if (status == PETAL_OK && !is_new) status = petal_index_open(path, NULL, &old, &error);
    if (old) status = petal_index_add_index(index, old, NULL, 0, &error);
    petal_index_free(old);
    if (status == PETAL_OK) status = petal_index_add(index, name, filter, &error);
    if (status == PETAL_OK) status = petal_index_save(index, path, NULL, &error);
    if (status != PETAL_OK) give_up("index: %s: %s", petal_status_name(status), error.message);
    petal_index_free(index);
}

/* Saves a new index with one filter to the path. */
static inline void save_index(const petal_filter *filter, const char *path)
{
    unlink(path);
    put_in_index(path, true, "old", filter);
}

/* Opens an index and verifies it completely. If it can't be opened, *index is NULL. */
static inline petal_status open_index(const char *path, petal_index **index, petal_error *error)
{
    *error = (petal_error){.message = ""};
    petal_status status = petal_index_open(path, NULL, index, error);
    return status == PETAL_OK ? petal_index_verify(*index, error) : status;
}

/* Returns the number of keys that no filter in the index contains. The index may contain at most 64
 * filters. */
static inline uint64_t missing_in_index(const petal_index *index, uint64_t from, uint64_t to)
{
    uint64_t missing = 0, row = 0;
    char text[KEY_TEXT];
    for (uint64_t i = from; i < to; i++) {
        petal_key key = {text, key_text(i, text)};
        petal_batch batch = PETAL_BATCH_INIT;
        batch.data = &key;
        batch.count = 1;
        if (petal_index_query(index, &batch, &row, 1, NULL) != PETAL_OK) row = 0;
        missing += row == 0;
    }
    return missing;
}

static inline petal_filter *new_filter(uint32_t scheme, uint64_t capacity, double rate)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    options.scheme = scheme;
    options.capacity = capacity;
    options.rate = rate;
    if (petal_create(&options, &filter, &error) != PETAL_OK)
        give_up("petal_create: %s", error.message);
    return filter;
}

static inline void save_or_give_up(const petal_filter *filter, const char *path)
{
    petal_error error;
    if (petal_save(filter, path, NULL, &error) != PETAL_OK)
        give_up("petal_save: %s", error.message);
}

static inline petal_status open_flags(const char *path, unsigned flags, petal_filter **filter,
                                      petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    *error = (petal_error){.message = ""};
    return petal_open(path, &options, filter, error);
}

/* ---- other processes ------------------------------------------------------------------------- */

/* Returns the path of the petal tool in the build folder. */
static inline const char *tool_path(void)
{
    static char path[PATH_MAX];
    const char *build = getenv("PETAL_BUILD_DIR");
    char raw[PATH_MAX];
    if (path[0]) return path;
    snprintf(raw, sizeof raw, "%.4000s/bin/petal", build ? build : "build/release");
    if (!realpath(raw, path) || access(path, X_OK) != 0) give_up("no petal at %s", raw);
    return path;
}

/* Returns the path of a built file, such as the shim, from lib/ in the build folder. */
static inline const char *part_path(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % COUNT(paths)];
    const char *build = getenv("PETAL_BUILD_DIR");
    char raw[PATH_MAX];
    snprintf(raw, sizeof raw, "%.4000s/tests/crash/lib/%.60s", build ? build : "build/release",
             name);
    if (!realpath(raw, path)) give_up("no %s", raw);
    return path;
}

/* A running or finished command. */
struct command {
    const char *const *arguments; /* terminated by NULL; the first argument is the program's path */
    const char *input;            /* path of the input file; NULL for empty input */
    const char *output;           /* path of the output file; NULL to discard the output */
    const char *environment[4];   /* NAME=VALUE strings to add to the environment */
    pid_t pid;
    int status;      /* from waitpid() */
    bool hung;       /* the command exceeded the time limit and was killed */
    int messages;    /* file that receives the command's stderr */
    char said[4096]; /* what the command printed to stderr */
};

static inline void start_command(struct command *command)
{
    int messages = memfd_create("messages", MFD_CLOEXEC);
    if (messages < 0) give_up("memfd_create");
    command->messages = messages;
    command->pid = fork();
    if (command->pid < 0) give_up("fork");
    if (command->pid > 0) return;
    int in = open(command->input ? command->input : "/dev/null", O_RDONLY);
    int out =
        open(command->output ? command->output : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (in < 0 || out < 0) _exit(98);
    dup2(in, 0);
    dup2(out, 1);
    dup2(messages, 2);
    if (in > 2) close(in);
    if (out > 2) close(out);
    for (size_t i = 0; i < COUNT(command->environment) && command->environment[i]; i++)
        putenv((char *)(uintptr_t)command->environment[i]);
    execv(command->arguments[0], (char *const *)(uintptr_t)command->arguments);
    _exit(97);
}

/* The time limit of a command. A command that runs longer counts as hung and is killed. The limit
 * is long enough that a slow machine doesn't reach it. */
#define HANGS_AFTER_SECONDS 60

static inline void end_command(struct command *command)
{
    double deadline = seconds_now() + HANGS_AFTER_SECONDS;
    useconds_t pause = 50;
    while (waitpid(command->pid, &command->status, WNOHANG) == 0) {
        usleep(pause);
        if (pause < 5000) pause += pause / 2;
        if (command->hung || seconds_now() < deadline) continue;
        command->hung = true;
        kill(command->pid, SIGKILL);
    }
    ssize_t got = pread(command->messages, command->said, sizeof command->said - 1, 0);
    command->said[got > 0 ? got : 0] = '\0';
    close(command->messages);
}

static inline bool has_succeeded(const struct command *command)
{
    return WIFEXITED(command->status) && WEXITSTATUS(command->status) == 0;
}

/* Returns a string such as "exit status 2" or "signal 11", which is valid until the next call. */
static inline const char *ending_of(const struct command *command)
{
    static char text[64];
    if (command->hung) return "it hung";
    if (WIFSIGNALED(command->status))
        snprintf(text, sizeof text, "signal %d", WTERMSIG(command->status));
    else
        snprintf(text, sizeof text, "exit status %d", WEXITSTATUS(command->status));
    return text;
}

static inline unsigned lines_in(const char *text)
{
    unsigned lines = 0;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

/* Runs the tool with these arguments and without input. */
static inline void run_tool(struct command *command, const char *const *arguments)
{
    *command = (struct command){.arguments = arguments};
    start_command(command);
    end_command(command);
}

#endif
