/* fulldisks.c - proves that a full disk causes an error message, but never a signal or a partial
 * file.
 *
 * Every command that writes a file runs on file systems (tmpfs) of 64 KiB to 1 MiB. If the command
 * succeeds, the keys must be in the file. If it fails, it must print one line, the file must be
 * unchanged or marked dirty, and no other file may be left behind. Then a sparse filter file on a
 * full file system is opened in every mode, queried, and changed, which must not cause a SIGBUS.
 * The test needs permission to mount file systems, either as root or in namespaces. Without this
 * permission, every case is skipped. The amount is the step between file system sizes in KiB. */
#define _GNU_SOURCE
#include "campaign.h"

#include <sched.h>
#include <sys/mount.h>

#define OLD_KEYS 100u
#define ALL_KEYS 200u
#define MANY_KEYS 80000u /* the hashes of these keys occupy 640 KB */

/* ---- a small disk ---------------------------------------------------------------------------- */

static const char *disk, *path, *filler; /* `path` and `filler` are files on the small disk */
static bool is_mounted;

static void unmount(void)
{
    if (is_mounted && getpid() == folder_owner) umount2(disk, MNT_DETACH);
    is_mounted = false;
}

static bool mount_disk(unsigned kib)
{
    char size[32];
    unmount();
    snprintf(size, sizeof size, "size=%uk", kib);
    is_mounted = mount("petal-crash", disk, "tmpfs", 0, size) == 0;
    return is_mounted;
}

/* Enters private namespaces, in which most systems allow even ordinary users to mount file
 * systems. */
static bool enter_name_spaces(void)
{
    char text[64];
    uid_t user = getuid();
    gid_t group = getgid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    write_file("/proc/self/setgroups", "deny", 4);
    snprintf(text, sizeof text, "0 %u 1", user);
    write_file("/proc/self/uid_map", text, strlen(text));
    snprintf(text, sizeof text, "0 %u 1", group);
    write_file("/proc/self/gid_map", text, strlen(text));
    return true;
}

/* Writes to the filler file until no page is free. */
static void fill_disk(void)
{
    static const char page[4096] = {1};
    int descriptor = open(filler, O_WRONLY | O_CREAT | O_APPEND, 0600);
    while (descriptor >= 0 && write(descriptor, page, sizeof page) > 0) continue;
    if (descriptor < 0 || errno != ENOSPC) give_up("cannot fill the disk");
    close(descriptor);
}

static int files_on_disk(void)
{
    int count = 0;
    DIR *dir = opendir(disk);
    while (dir && readdir(dir)) count++;
    if (dir) closedir(dir);
    return count - 2;
}

/* ---- commands -------------------------------------------------------------------------------- */

enum start { NOTHING, CLEAN, GROWING, GUAVA, DIRTY, INDEX, STARTS };

struct job {
    const char *name;
    const char *arguments[12]; /* FILE, IN and TWIN are replaced with paths */
    enum start start;
    uint64_t from, to;  /* range of keys that must be in the file if the exit status is 0 */
    const char *format; /* FILE's format, or "index"; NULL means petal */
};

static const struct job jobs[] = {
    {"create", {"create", "-n", "300000", "-o", "FILE"}, NOTHING, 0, 0, NULL},
    {"create --force", {"create", "--force", "-n", "300000", "-o", "FILE"}, CLEAN, 0, 0, NULL},
    {"build", {"build", "-n", "300000", "-o", "FILE", "KEYS"}, NOTHING, OLD_KEYS, ALL_KEYS, NULL},
    {"build --force",
     {"build", "--force", "-n", "300000", "-o", "FILE", "KEYS"},
     CLEAN,
     OLD_KEYS,
     ALL_KEYS,
     NULL},
    {"build --scheme static",
     {"build", "--force", "--scheme", "static", "-p", "1e-6", "-o", "FILE", "KEYS"},
     CLEAN,
     OLD_KEYS,
     ALL_KEYS,
     NULL},
    {"build --scheme static --memory",
     {"build", "--force", "--scheme", "static", "--memory", "64KiB", "--threads", "1", "-o", "FILE",
      "MANY"},
     CLEAN,
     OLD_KEYS,
     MANY_KEYS,
     NULL},
    {"build --to",
     {"build", "--to", "guava", "-n", "300000", "-o", "FILE", "KEYS"},
     NOTHING,
     OLD_KEYS,
     ALL_KEYS,
     "guava"},
    {"add", {"add", "FILE", "KEYS"}, CLEAN, 0, ALL_KEYS, NULL},
    {"add, growing", {"add", "FILE", "KEYS"}, GROWING, 0, ALL_KEYS, NULL},
    {"add, guava", {"add", "--from", "guava", "FILE", "KEYS"}, GUAVA, 0, ALL_KEYS, "guava"},
    {"seen -f", {"seen", "-f", "FILE", "KEYS"}, CLEAN, 0, ALL_KEYS, NULL},
    {"seen -f, new",
     {"seen", "-n", "300000", "-f", "FILE", "KEYS"},
     NOTHING,
     OLD_KEYS,
     ALL_KEYS,
     NULL},
    {"merge", {"merge", "--force", "-o", "FILE", "FILE", "IN"}, CLEAN, 0, ALL_KEYS, NULL},
    {"merge, new", {"merge", "-o", "FILE", "IN", "TWIN"}, NOTHING, OLD_KEYS, ALL_KEYS, NULL},
    {"intersect", {"intersect", "-o", "FILE", "IN", "TWIN"}, NOTHING, OLD_KEYS, ALL_KEYS, NULL},
    {"fold", {"fold", "-n", "300000", "-o", "FILE", "IN"}, NOTHING, OLD_KEYS, ALL_KEYS, NULL},
    {"fold --force",
     {"fold", "--force", "-n", "150000", "-o", "FILE", "IN"},
     CLEAN,
     OLD_KEYS,
     ALL_KEYS,
     NULL},
    {"index", {"index", "-o", "FILE", "IN"}, NOTHING, OLD_KEYS, ALL_KEYS, "index"},
    {"index --force",
     {"index", "--force", "-o", "FILE", "FILE", "IN"},
     INDEX,
     0,
     ALL_KEYS,
     "index"},
    {"convert", {"convert", "IN", "FILE", "--to", "petal"}, NOTHING, OLD_KEYS, ALL_KEYS, NULL},
    {"verify --recover", {"verify", "--recover", "FILE"}, DIRTY, 0, OLD_KEYS, NULL},
};

static struct bytes images[STARTS];
static const char *in, *twin, *keys, *many;
static uint64_t runs, failures, opens;

static petal_filter *filter_of(enum start start, uint64_t from, uint64_t to)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    options.rate = 0.01;
    options.capacity = start == GROWING ? 100 : 300000;
    options.growth = start == GROWING;
    if (start == GUAVA) options.format = "guava";
    if (petal_create(&options, &filter, &error) != PETAL_OK)
        give_up("petal_create: %s", error.message);
    if (add_keys(filter, from, to) < 0) give_up("petal_add");
    return filter;
}

static const char *save_image(const char *name, enum start start, uint64_t from, uint64_t to)
{
    const char *saved = strdup(in_folder(name));
    petal_filter *filter = filter_of(start, from, to);
    petal_error error;
    if (petal_save(filter, saved, SAVE_AS(start == GUAVA ? "guava" : "petal"), &error) != PETAL_OK)
        give_up("petal_save_as: %s", error.message);
    petal_free(filter);
    return saved;
}

static struct bytes dirty_image(const char *file)
{
    pid_t pid = fork();
    if (pid == 0) {
        petal_filter *filter;
        petal_error error;
        bool good = open_flags(file, PETAL_OPEN_WRITABLE, &filter, &error) == PETAL_OK &&
                    add_key(filter, 0) >= 0;
        _exit(good ? 0 : 1);
    }
    waitpid(pid, NULL, 0);
    return read_file(file);
}

static const char *save_keys(const char *name, unsigned to)
{
    const char *saved = strdup(in_folder(name));
    FILE *file = fopen(saved, "w");
    for (unsigned i = OLD_KEYS; file && i < to; i++) fprintf(file, "k%u\n", i);
    if (!file || fclose(file) != 0) give_up("cannot write keys");
    return saved;
}

static void make_files(void)
{
    images[CLEAN] = read_file(save_image("clean", CLEAN, 0, OLD_KEYS));
    images[GROWING] = read_file(save_image("growing", GROWING, 0, OLD_KEYS));
    images[GUAVA] = read_file(save_image("guava", GUAVA, 0, OLD_KEYS));
    images[DIRTY] = dirty_image(save_image("dirty", CLEAN, 0, OLD_KEYS));
    petal_filter *filter = filter_of(CLEAN, 0, OLD_KEYS);
    save_index(filter, in_folder("index"));
    petal_free(filter);
    images[INDEX] = read_file(in_folder("index"));
    in = save_image("in", CLEAN, OLD_KEYS, ALL_KEYS);
    twin = save_image("twin", CLEAN, OLD_KEYS, ALL_KEYS);
    keys = save_keys("keys", ALL_KEYS);
    many = save_keys("many", MANY_KEYS);
}

/* Copies the image to the disk, with holes instead of pages of zeros. Returns false if the image
 * doesn't fit. */
static bool put_image(struct bytes image)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    bool good = descriptor >= 0 && ftruncate(descriptor, (off_t)image.size) == 0;
    for (size_t at = 0; good && at < image.size; at += 4096) {
        size_t size = image.size - at < 4096 ? image.size - at : 4096, zeros = 0;
        while (zeros < size && image.data[at + zeros] == 0) zeros++;
        if (zeros < size)
            good = pwrite(descriptor, image.data + at, size, (off_t)at) == (ssize_t)size;
    }
    close(descriptor);
    return good;
}

static petal_status open_as(const char *format, unsigned flags, petal_filter **filter,
                            petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    options.format = format;
    *error = (petal_error){.message = ""};
    return petal_open(path, &options, filter, error);
}

static void expect_index_keys(const struct job *job, unsigned kib, uint64_t from, uint64_t to,
                              const char *said)
{
    petal_index *index;
    petal_error error;
    petal_status status = open_index(path, &index, &error);
    if (expect(status == PETAL_OK, "petal %s, %u KiB: the file is \"%s\"; it said: %s", job->name,
               kib, petal_status_name(status), said))
        expect(missing_in_index(index, from, to) == 0,
               "petal %s, %u KiB: keys missing; it said: %s", job->name, kib, said);
    petal_index_free(index);
}

static void expect_keys(const struct job *job, unsigned kib, unsigned flags, uint64_t from,
                        uint64_t to, const char *said)
{
    petal_filter *filter;
    petal_error error;
    if (job->format && strcmp(job->format, "index") == 0) {
        expect_index_keys(job, kib, from, to, said);
        return;
    }
    petal_status status = open_as(job->format, flags, &filter, &error);
    if (expect(status == PETAL_OK, "petal %s, %u KiB: the file is \"%s\"; it said: %s", job->name,
               kib, petal_status_name(status), said))
        expect(missing_keys(filter, from, to) == 0, "petal %s, %u KiB: keys missing; it said: %s",
               job->name, kib, said);
    petal_free(filter);
}

/* Expects that the file is unchanged, or is dirty and contains all the old keys, or is an empty
 * filter if `petal seen` created it. */
static void expect_unharmed(const struct job *job, unsigned kib, const char *said)
{
    struct bytes now = read_file(path);
    bool is_same = job->start == NOTHING ? now.data == NULL : same_bytes(now, images[job->start]);
    petal_filter *filter;
    petal_error error;
    free(now.data);
    if (is_same) return;
    petal_status status = open_as(job->format, 0, &filter, &error);
    petal_free(filter);
    if (job->start == NOTHING)
        expect(status == PETAL_OK && strncmp(job->name, "seen", 4) == 0,
               "petal %s, %u KiB: it left something: %s", job->name, kib, said);
    else
        expect_keys(job, kib, status == PETAL_ERR_DIRTY ? PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER : 0,
                    0, OLD_KEYS, said);
}

static void run_job(const struct job *job, unsigned kib)
{
    const char *arguments[16] = {tool_path()};
    for (size_t i = 0; i < COUNT(job->arguments) && job->arguments[i]; i++) {
        const char *text = job->arguments[i];
        arguments[i + 1] = strcmp(text, "FILE") == 0   ? path
                           : strcmp(text, "IN") == 0   ? in
                           : strcmp(text, "TWIN") == 0 ? twin
                           : strcmp(text, "KEYS") == 0 ? keys
                           : strcmp(text, "MANY") == 0 ? many
                                                       : text;
    }
    if (!mount_disk(kib)) give_up("cannot mount");
    if (job->start != NOTHING && !put_image(images[job->start])) return;
    struct command command;
    run_tool(&command, arguments);
    runs++;
    if (!expect(!command.hung && WIFEXITED(command.status), "petal %s, %u KiB: %s", job->name, kib,
                ending_of(&command)))
        return;
    if (has_succeeded(&command)) {
        expect_keys(job, kib, job->format ? 0 : PETAL_OPEN_VERIFY, job->from, job->to,
                    command.said);
    } else {
        failures++;
        expect(WEXITSTATUS(command.status) == 2 && lines_in(command.said) == 1 &&
                   strstr(command.said, strerror(ENOSPC)),
               "petal %s, %u KiB: %s, %s", job->name, kib, ending_of(&command), command.said);
        expect_unharmed(job, kib, command.said);
    }
    expect(files_on_disk() == (access(path, F_OK) == 0), "petal %s, %u KiB: %d files; it said: %s",
           job->name, kib, files_on_disk(), command.said);
}

/* ---- holes without a page after them -------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned flags;
} modes[] = {{"MAP", PETAL_OPEN_MAP},
             {"VERIFY", PETAL_OPEN_MAP | PETAL_OPEN_VERIFY},
             {"LIVE", PETAL_OPEN_MAP | PETAL_OPEN_LIVE},
             {"LOAD", PETAL_OPEN_LOAD},
             {"WRITABLE", PETAL_OPEN_WRITABLE}};

/* Opens, queries and changes the filter. Runs in a child process, since a signal may kill it. Exits
 * with status 0 on success, 1 if opening failed because the disk is full, 2 if keys are missing,
 * and 3 after any other error. */
static int use(unsigned flags)
{
    petal_filter *filter;
    petal_error error;
    petal_info info = PETAL_INFO_INIT;
    petal_status status = open_flags(path, flags, &filter, &error);
    if (status != PETAL_OK) _exit(error.system_errno == ENOSPC ? 1 : 3);
    if (missing_keys(filter, 0, OLD_KEYS)) _exit(2);
    for (uint64_t i = OLD_KEYS; i < 20000; i++) (void)has_key(filter, i);
    (void)petal_get_info(filter, PETAL_ALL_LAYERS, &info, &error);
    if (petal_verify(filter, &error) < 0) _exit(3);
    if (flags & (PETAL_OPEN_WRITABLE | PETAL_OPEN_LOAD)) {
        if (add_keys(filter, OLD_KEYS, 20000) < 0 || petal_sync(filter, &error) < 0) _exit(3);
        if (missing_keys(filter, 0, 20000)) _exit(2);
    }
    petal_free(filter);
    _exit(0);
}

static void try_holes(unsigned kib)
{
    static const char *const readers[] = {"info", "check", "verify", "compare"};
    for (size_t i = 0; i < COUNT(modes); i++) {
        int status;
        if (!mount_disk(kib)) give_up("cannot mount");
        if (!put_image(images[CLEAN])) return;
        fill_disk();
        pid_t pid = fork();
        if (pid == 0) use(modes[i].flags);
        waitpid(pid, &status, 0);
        opens++;
        bool may_fail = modes[i].flags == PETAL_OPEN_WRITABLE;
        expect(WIFEXITED(status) &&
                   (WEXITSTATUS(status) == 0 || (may_fail && WEXITSTATUS(status) == 1)),
               "%s, %u KiB: %s %d", modes[i].name, kib,
               WIFSIGNALED(status) ? "signal" : "exit status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    for (size_t i = 0; i < COUNT(readers); i++) {
        const char *arguments[] = {tool_path(), readers[i], path,
                                   strcmp(readers[i], "compare") == 0 ? path : NULL, NULL};
        const char *check[] = {tool_path(), "check", "-e", "k1", path, NULL};
        struct command command;
        run_tool(&command, strcmp(readers[i], "check") == 0 ? check : arguments);
        opens++;
        expect(has_succeeded(&command), "petal %s of holes, %u KiB: %s, %s", readers[i], kib,
               ending_of(&command), command.said);
    }
}

/* ---- the campaign ---------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    unsigned step = (unsigned)amount_of(argc, argv, 64, 4);
    char promise[160];
    make_folder();
    atexit(unmount);
    mkdir(in_folder("disk"), 0755);
    disk = strdup(in_folder("disk"));
    path = strdup(in_folder("disk/f.petal"));
    filler = strdup(in_folder("disk/filler"));
    if (step == 0) step = 4;
    setenv("TMPDIR", disk, 1); /* makes the tool write its temporary files to the small disk */
    bool may_mount = mount_disk(64) || (enter_name_spaces() && mount_disk(64));
    if (may_mount) make_files();
    for (size_t i = 0; i < COUNT(jobs); i++) {
        snprintf(promise, sizeof promise,
                 "petal %s on a small disk: done, or reported and nothing lost", jobs[i].name);
        for (unsigned kib = 64; may_mount && kib <= 1024; kib += step) run_job(&jobs[i], kib);
        if (may_mount)
            end_case(promise);
        else
            skip_case(promise, "this machine gives no right to mount a tmpfs");
    }
    for (unsigned kib = 64; may_mount && kib <= 1024; kib += step) try_holes(kib);
    snprintf(promise, sizeof promise,
             "holes on a full disk: no reader and no writer gets a signal");
    if (may_mount)
        end_case(promise);
    else
        skip_case(promise, "this machine gives no right to mount a tmpfs");
    return end_campaign("%" PRIu64 " commands on small disks, %" PRIu64 " of them failed; %" PRIu64
                        " uses of holes",
                        runs, failures, opens);
}
