/* files.c - see files.h. */
#define _POSIX_C_SOURCE 200809L

#include "files.h"

#include "parquet.h"
#include "report.h"
#include "request.h"

#include <errno.h>
#include <fcntl.h>
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
    bool no_secret = error->status == PETAL_ERR_SECRET_MISSING;
    if (error->status == PETAL_ERR_NOT_A_FILTER) return complain_of_stranger(path, error);
    if (error->status == PETAL_ERR_EXISTS)
        return complain(path, "exists; --force replaces it once the new one is complete");
    if (no_secret) return complain(path, "%s; pass --key-file", error->message);
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

/* Filters that grow or forget are not changed in place: they are loaded, and saved as a whole. */
static bool wants_loading(unsigned flags, petal_status status, const petal_filter *filter)
{
    if (flags != PETAL_OPEN_WRITABLE) return false;
    return status == PETAL_ERR_UNSUPPORTED || (status == PETAL_OK && petal_policy_of(filter) != PETAL_POLICY_NONE);
}

static petal_status open_as(const char *path, unsigned flags, const char *format, const void *secret,
                            petal_filter **filter, petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    options.secret = secret;
    options.format = format;
    if (!is_petal(format) && (flags & 15u) == PETAL_OPEN_WRITABLE)
        options.flags ^= PETAL_OPEN_WRITABLE ^ PETAL_OPEN_LOAD;
    petal_status status = petal_open(path, &options, filter, error);
    if (!wants_loading(options.flags, status, *filter)) return status;
    petal_free(*filter);
    options.flags = PETAL_OPEN_LOAD;
    return petal_open(path, &options, filter, error);
}

petal_filter *open_container(const char *path, unsigned flags, const struct args *args, const char **format)
{
    petal_filter *filter = NULL;
    petal_error error;
    uint8_t secret[PETAL_SECRET_BYTES] = {0};
    const void *given = args->secret_file ? secret : NULL;
    const char *place = parquet_place(args->from);
    if (place) {
        *format = "parquet";
        return open_parquet_place(path, place);
    }
    if (!check_format(args->from) || (given && !read_secret(args->secret_file, secret))) return NULL;
    *format = args->from;
    petal_status status = open_as(path, flags, *format, given, &filter, &error);
    if (status == PETAL_ERR_NOT_A_FILTER && !args->from) {
        *format = guess_format(path, &error);
        if (!*format) return NULL;
        status = open_as(path, flags, *format, given, &filter, &error);
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

bool is_no_input(const char *path, char **files, size_t count)
{
    struct stat output, input;
    if (stat(path, &output) != 0) return true;
    for (size_t i = 0; i < count; i++)
        if (stat(files[i], &input) == 0 && input.st_dev == output.st_dev && input.st_ino == output.st_ino)
            return complain(path, "is read from as well; write to another file");
    return true;
}

bool save_filter(const petal_filter *filter, const char *path, const char *format, bool force)
{
    petal_error error;
    bool there = exists(path);
    unsigned flags = force ? 0 : PETAL_SAVE_NO_REPLACE;
    if (petal_save_as(filter, path, is_petal(format) ? "petal" : format, flags, &error) == PETAL_OK) return true;
    if (error.status == PETAL_ERR_EXISTS) return complain_of(path, &error);
    return complain(path, "%s; %s", error.message, there ? "the old file is unchanged" : "nothing was written");
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

bool save_text(const char *path, const char *text, size_t size_bytes, bool force)
{
    char temporary[4096];
    if (!may_write(path, force)) return false;
    if (snprintf(temporary, sizeof temporary, "%s.tmp-%ld", path, (long)getpid()) >= (int)sizeof temporary)
        return complain(path, "cannot write it: %s", strerror(ENAMETOOLONG));
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool good = descriptor >= 0 && write_all(descriptor, text, size_bytes);
    if (descriptor >= 0 && close(descriptor) != 0) good = false;
    if (good && rename(temporary, path) == 0) return true;
    int failure = errno;
    if (descriptor >= 0) unlink(temporary);
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
