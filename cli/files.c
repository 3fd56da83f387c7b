/* files.c - see files.h. */
#define _XOPEN_SOURCE 700 /* realpath() */

#include "files.h"

#include "parquet.h"
#include "report.h"
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what is this file? ---------------------------------------------------------------------------------------------- */

static size_t first_bytes(const char *path, uint8_t *bytes, size_t most)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = descriptor < 0 ? -1 : read(descriptor, bytes, most);
    if (descriptor >= 0) close(descriptor);
    return got > 0 ? (size_t)got : 0;
}

static bool looks_like_text(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((bytes[i] < 0x20 && (bytes[i] < '\t' || bytes[i] > '\r')) || bytes[i] == 0x7f) return false;
    return size > 0;
}

/* "notes.txt" -> "notes.petal", in the current folder's or its own. */
static void filter_name(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    bool has_extension = dot && dot > path && (!slash || dot > slash + 1);
    int stem = has_extension ? (int)(dot - path) : (int)strlen(path);
    snprintf(name, size, "%.*s.petal", stem, path);
}

static bool complain_of_stranger(const char *path, const petal_error *error)
{
    uint8_t start[4096];
    char name[512];
    size_t size = first_bytes(path, start, sizeof start);
    if (size >= 2 && start[0] == 0x1f && start[1] == 0x8b)
        return complain(path, "not a filter (compressed, from byte 0); unpack it with gzip -d first");
    if (!looks_like_text(start, size)) return complain(path, "%s", error->message);
    filter_name(path, name, sizeof name);
    return complain(path, "not a filter (text, from byte 0); to make one: petal build -o %s %s", name, path);
}

bool complain_of(const char *path, const petal_error *error)
{
    switch (error->status) {
    case PETAL_ERR_NOT_A_FILTER: return complain_of_stranger(path, error);
    case PETAL_ERR_EXISTS: return complain(path, "exists; --force replaces it once the new one is complete");
    case PETAL_ERR_SECRET_MISSING: return complain(path, "%s; pass --key-file", error->message);
    case PETAL_ERR_BUSY: return complain(path, "busy: another process is changing it; try again when it has finished");
    case PETAL_ERR_REPLACED:
        return complain(path, "was replaced or removed meanwhile, and the changes went with it; make them again");
    default: break;
    }
    if (error->system_errno == ENOENT)
        return complain(path, "%s; petal create or petal build makes one", error->message);
    return complain(path, "%s", error->message);
}

/* ---- formats --------------------------------------------------------------------------------------------------------- */

bool is_petal(const char *format)
{
    return !format || strcmp(format, "petal") == 0;
}

/* "a, b and c" */
static void list_names(const char *const *names, size_t count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0           ? ""
                                 : i + 1 == count ? " and "
                                                  : ", ",
                                 names[i]);
}

enum { MOST_FORMATS = 64 };

bool check_format(const char *format)
{
    const char *names[MOST_FORMATS];
    char list[1024];
    size_t count = 0;
    if (is_petal(format)) return true;
    for (; count < MOST_FORMATS && (names[count] = petal_format_name(count)) != NULL; count++)
        if (strcmp(names[count], format) == 0) return true;
    list_names(names, count, list, sizeof list);
    return complain(NULL, "there is no format %s; there are %s", format, list);
}

/* The one format that a stranger's file can be. NULL: reported. */
static const char *guess_format(const char *path, const petal_error *why)
{
    const char *names[MOST_FORMATS];
    char list[512];
    size_t count = 0;
    petal_recognize_file(path, names, MOST_FORMATS, &count, NULL);
    if (count == 1) {
        remark(path, "read as %s, which is all it can be by its form; --from %s says so for sure", names[0], names[0]);
        return names[0];
    }
    if (is_parquet_file(path)) {
        complain(path, "is a Parquet file; petal info %s lists its filters, --from parquet:COLUMN takes one", path);
        return NULL;
    }
    if (count == 0) {
        complain_of(path, why);
        return NULL;
    }
    list_names(names, count < MOST_FORMATS ? count : MOST_FORMATS, list, sizeof list);
    complain(path, "fits %s; say which with --from", list);
    return NULL;
}

#define MODE 15u

static unsigned loading(unsigned flags)
{
    return (flags & ~MODE) | PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED;
}

/* Filters that grow or forget are not changed in place: they are loaded, and saved as a whole. */
static bool wants_loading(unsigned flags, petal_status status, const petal_filter *filter)
{
    bool recovers = flags & PETAL_OPEN_RECOVER;
    if ((flags & MODE) != PETAL_OPEN_WRITABLE) return false;
    if (recovers) return status == PETAL_ERR_UNSUPPORTED;
    return status == PETAL_ERR_UNSUPPORTED || (status == PETAL_OK && petal_policy_of(filter) != PETAL_POLICY_NONE);
}

/* A live file is opened as such only if it has to be, which is worth a remark. */
static petal_status open_quietest(const char *path, petal_open_options *options, petal_filter **filter,
                                  petal_error *error)
{
    bool live = options->flags & PETAL_OPEN_LIVE;
    options->flags &= ~PETAL_OPEN_LIVE;
    petal_status status = petal_open(path, options, filter, error);
    if (status != PETAL_ERR_BUSY || !live) return status;
    options->flags |= PETAL_OPEN_LIVE;
    status = petal_open(path, options, filter, error);
    if (status == PETAL_OK)
        remark(path, "being changed by another process; keys of the last sync are found, later ones may be");
    return status;
}

static petal_status open_as(const char *path, petal_open_options options, petal_filter **filter, petal_error *error)
{
    if (!is_petal(options.format) && (options.flags & MODE) == PETAL_OPEN_WRITABLE)
        options.flags = loading(options.flags);
    petal_status status = open_quietest(path, &options, filter, error);
    if (!wants_loading(options.flags, status, *filter)) return status;
    petal_error why = *error;
    petal_free(*filter);
    options.flags = loading(options.flags);
    petal_status loaded = petal_open(path, &options, filter, error);
    /* It was not for its kind that it could not be mapped, and write_back() would only sync it. */
    if (loaded != PETAL_OK || status == PETAL_OK || petal_policy_of(*filter) != PETAL_POLICY_NONE) return loaded;
    petal_free(*filter);
    *filter = NULL;
    *error = why;
    return status;
}

static petal_open_options options_of(unsigned flags, const struct args *args, const void *secret)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = args->no_lock ? flags | PETAL_OPEN_NO_LOCK : flags;
    options.secret = secret;
    options.format = args->from;
    options.memory_limit = args->memory_limit;
    return options;
}

petal_filter *open_container(const char *path, unsigned flags, const struct args *args, const char **format)
{
    petal_filter *filter = NULL;
    petal_error error;
    uint8_t secret[PETAL_SECRET_BYTES] = {0};
    const void *given = args->secret_file ? secret : NULL;
    petal_open_options options = options_of(flags, args, given);
    const char *place = parquet_place(args->from);
    if (place) {
        *format = "parquet";
        return open_parquet_place(path, place);
    }
    if (!check_format(args->from) || (given && !read_secret(args->secret_file, secret))) return NULL;
    *format = args->from;
    petal_status status = open_as(path, options, &filter, &error);
    if (status == PETAL_ERR_NOT_A_FILTER && !args->from) {
        *format = options.format = guess_format(path, &error);
        if (!*format) return NULL;
        status = open_as(path, options, &filter, &error);
    }
    if (status != PETAL_OK) complain_of(path, &error);
    wipe(secret, sizeof secret);
    return filter;
}

petal_filter *open_filter(const char *path, unsigned flags, const struct args *args)
{
    const char *format;
    return open_container(path, flags, args, &format);
}

petal_filter *open_live(const char *path, const struct args *args, const char **format)
{
    return open_container(path, PETAL_OPEN_MAP | PETAL_OPEN_LIVE, args, format);
}

/* ---- writing --------------------------------------------------------------------------------------------------------- */

static bool exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

/* A folder that cannot be written is better said before hours of reading than after. */
static bool check_folder(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path + 1) : 1;
    if (length >= sizeof folder) return complain(path, "cannot write it: %s", strerror(ENAMETOOLONG));
    memcpy(folder, slash ? path : ".", length);
    folder[length] = '\0';
    return access(folder, W_OK) == 0 || complain(path, "cannot write a file in its folder: %s", strerror(errno));
}

bool may_write(const char *path, bool force)
{
    struct stat about;
    if (strcmp(path, "-") == 0) return complain(path, "is not standard output here; name a file");
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) return complain(path, "is a directory; name a file in it");
    if (!force && exists(path)) return complain(path, "exists; --force replaces it once the new one is complete");
    return check_folder(path);
}

/* Which file a path leads to; none is {0}. */
struct identity {
    dev_t device;
    ino_t inode;
};

static struct identity identify(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) return (struct identity){0};
    return (struct identity){about.st_dev, about.st_ino};
}

bool is_same_file(const char *a, const char *b)
{
    struct identity one = identify(a);
    if (!one.inode || strcmp(a, b) == 0) return one.inode != 0; /* even if it is replaced just now */
    struct identity other = identify(b);
    return one.inode == other.inode && one.device == other.device;
}

bool is_no_input(const char *path, char **files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_same_file(path, files[i])) return complain(path, "is read from as well; write to another file");
    return true;
}

/* What became of the file is looked up: a save can fail after the new file got its name. */
static bool complain_of_save(const char *path, struct identity before, const petal_error *error)
{
    struct identity now = identify(path);
    bool same = now.device == before.device && now.inode == before.inode;
    if (error->status == PETAL_ERR_EXISTS || error->status == PETAL_ERR_BUSY || error->status == PETAL_ERR_REPLACED)
        return complain_of(path, error);
    if (!same) return complain(path, "%s", error->message);
    return complain(path, "%s; %s", error->message, before.inode ? "the old file is unchanged" : "nothing was written");
}

static unsigned save_flags(const struct args *args, bool replace)
{
    unsigned flags = replace ? 0 : PETAL_SAVE_NO_REPLACE;
    if (args->force) flags |= PETAL_SAVE_NEW_OWNER;
    if (args->no_lock) flags |= PETAL_SAVE_NO_LOCK;
    return flags;
}

static bool save(const petal_filter *filter, const char *path, const char *format, unsigned flags)
{
    petal_error error;
    struct identity before = identify(path);
    petal_status status = petal_save_as(filter, path, is_petal(format) ? "petal" : format, flags, &error);
    return status == PETAL_OK || complain_of_save(path, before, &error);
}

bool save_filter(const petal_filter *filter, const char *path, const char *format, const struct args *args)
{
    return save(filter, path, format, save_flags(args, args->force));
}

bool publish_filter(const petal_filter *filter, const char *path, const struct args *args)
{
    petal_error error;
    struct identity before = identify(path);
    petal_status status = petal_save(filter, path, save_flags(args, false), &error);
    return status == PETAL_OK || status == PETAL_ERR_EXISTS || complain_of_save(path, before, &error);
}

bool replace_file(const petal_filter *filter, const char *path, const char *format, const struct args *args)
{
    return save(filter, path, format_to_keep(filter, format), save_flags(args, true));
}

bool write_back(petal_filter *filter, const char *path, const char *format, const struct args *args,
                const char *way_out)
{
    petal_error error;
    if (!is_petal(format) || petal_policy_of(filter) != PETAL_POLICY_NONE)
        return replace_file(filter, path, format, args);
    if (petal_sync(filter, &error) == PETAL_OK) return true;
    if (error.status == PETAL_ERR_REPLACED) return complain_of(path, &error);
    return complain(path, "%s; %s", error.message, way_out);
}

const char *format_to_keep(const petal_filter *filter, const char *format)
{
    petal_info info = PETAL_INFO_INIT;
    if (is_petal(format) || petal_get_info(filter, &info, NULL) != PETAL_OK) return format;
    return info.format_name;
}

bool may_change(const char *path, const struct args *args)
{
    return !parquet_place(args->from) ||
           complain(path, "a filter inside a Parquet file cannot be changed; convert it to a file of its own first");
}

static bool write_all(int descriptor, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, text, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        text += written;
        size -= (size_t)written;
    }
    return fsync(descriptor) == 0 || errno == EINVAL;
}

bool random_bits(uint64_t *bits)
{
    FILE *in = fopen("/dev/urandom", "rb");
    bool good = in && fread(bits, sizeof *bits, 1, in) == 1;
    if (in) fclose(in);
    return good || complain("/dev/urandom", "cannot read it");
}

enum { PATH_BYTES = 4096 };

/* The file that a path leads to, through symbolic links: its target is what is replaced. */
static bool name_target(const char *path, char target[PATH_BYTES])
{
    char *real = realpath(path, NULL);
    bool fits = snprintf(target, PATH_BYTES, "%s", real ? real : path) < PATH_BYTES;
    free(real);
    if (!fits) errno = ENAMETOOLONG;
    return fits;
}

static bool name_draft(const char *target, uint64_t token, char draft[PATH_BYTES])
{
    bool fits = snprintf(draft, PATH_BYTES, "%s.tmp-%016" PRIx64, target, token) < PATH_BYTES;
    if (!fits) errno = ENAMETOOLONG;
    return fits;
}

int open_draft(const char *path, uint64_t token)
{
    char target[PATH_BYTES], draft[PATH_BYTES];
    struct stat old;
    if (!name_target(path, target) || !name_draft(target, token, draft)) return -1;
    bool there = stat(target, &old) == 0;
    int descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, there ? 0600 : 0666);
    if (descriptor < 0 || !there || fchmod(descriptor, old.st_mode & 07777) == 0) return descriptor;
    int failure = errno;
    close(descriptor);
    unlink(draft);
    errno = failure;
    return -1;
}

bool publish_draft(const char *path, uint64_t token)
{
    char target[PATH_BYTES], draft[PATH_BYTES];
    return name_target(path, target) && name_draft(target, token, draft) && rename(draft, target) == 0;
}

void remove_draft(const char *path, uint64_t token)
{
    char target[PATH_BYTES], draft[PATH_BYTES];
    if (name_target(path, target) && name_draft(target, token, draft)) unlink(draft);
}

bool save_text(const char *path, const char *text, size_t size_bytes, bool force)
{
    uint64_t token = 0;
    if (!may_write(path, force) || !random_bits(&token)) return false;
    int descriptor = open_draft(path, token);
    bool good = descriptor >= 0 && write_all(descriptor, text, size_bytes);
    if (descriptor >= 0 && close(descriptor) != 0) good = false;
    if (good && publish_draft(path, token)) return true;
    int failure = errno;
    if (descriptor >= 0) remove_draft(path, token);
    return complain(path, "cannot write it: %s", strerror(failure));
}

uint8_t *read_small_file(const char *path, size_t most_bytes, size_t *size_bytes)
{
    FILE *in = fopen(path, "rb");
    uint8_t *bytes = malloc(most_bytes + 1);
    bool good = in && bytes;
    if (!in) complain(path, "cannot open it: %s", strerror(errno));
    if (in && !bytes) complain(path, "out of memory");
    if (good) {
        *size_bytes = fread(bytes, 1, most_bytes + 1, in);
        if (ferror(in))
            good = complain(path, "cannot read it: %s", strerror(errno));
        else if (*size_bytes > most_bytes)
            good = complain(path, "has more than %zu bytes", most_bytes);
    }
    if (in) fclose(in);
    if (good) return bytes;
    free(bytes);
    return NULL;
}
