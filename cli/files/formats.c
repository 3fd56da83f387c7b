/* formats.c - see formats.h. */
#define _POSIX_C_SOURCE 200809L

#include "files/formats.h"

#include "files/magic.h"
#include "options/options.h"
#include "output/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which format is this file in? ----------------------------------------------------------- */

static size_t first_bytes(const char *path, uint8_t *bytes, size_t max)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = descriptor < 0 ? -1 : read(descriptor, bytes, max);
    if (descriptor >= 0) close(descriptor);
    return got > 0 ? (size_t)got : 0;
}

static bool looks_like_text(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((bytes[i] < 0x20 && (bytes[i] < '\t' || bytes[i] > '\r')) || bytes[i] == 0x7f)
            return false;
    return size > 0;
}

/* "notes.txt" -> "notes.petal", in the current folder or in the folder of the file. */
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
    const struct magic *magic = magic_of(start, size);
    if (magic && magic->unpack)
        return complain(path, "not a filter (compressed by %s, from byte 0); unpack it with %s",
                        magic->name, magic->unpack);
    if (magic) return complain(path, "not a filter (%s, from byte 0)", magic->name);
    if (!looks_like_text(start, size)) return complain(path, "%s", error->message);
    filter_name(path, name, sizeof name);
    return complain(path, "not a filter (text, from byte 0); to make one: petal build -o %s %s",
                    name, path);
}

static petal_status last;

petal_status last_failure(void)
{
    return last;
}

void forget_failure(void)
{
    last = PETAL_OK;
}

bool is_broken(petal_status status)
{
    return status == PETAL_ERR_DAMAGED || status == PETAL_ERR_TRUNCATED ||
           status == PETAL_ERR_DIRTY;
}

bool complain_of(const char *path, const petal_error *error)
{
    last = error->status;
    switch (error->status) {
    case PETAL_ERR_NOT_A_FILTER: return complain_of_stranger(path, error);
    case PETAL_ERR_EXISTS:
        return complain(path, "exists; --force replaces it once the new one is complete");
    case PETAL_ERR_SECRET_MISSING: return complain(path, "%s; pass --secret-file", error->message);
    case PETAL_ERR_BUSY:
        return complain(path,
                        "busy: another process is changing it; try again when it has finished");
    case PETAL_ERR_REPLACED:
        return complain(
            path, "was replaced or deleted meanwhile; your changes are lost, apply them again");
    default: break;
    }
    if (error->system_errno == ENOENT)
        return complain(path, "%s; petal create or petal build makes one", error->message);
    return complain(path, "%s", error->message);
}

bool is_petal_file(const char *path)
{
    struct stat about;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    options.flags = PETAL_OPEN_HEADER_ONLY;
    petal_status status = petal_open(path, &options, &filter, NULL);
    petal_free(filter);
    return status == PETAL_OK || status == PETAL_ERR_BUSY || status == PETAL_ERR_DIRTY ||
           status == PETAL_ERR_SECRET_MISSING;
}

/* ---- names --------------------------------------------------------------------------------- */

bool is_petal(const char *format)
{
    return !format || strcmp(format, "petal") == 0;
}

/* Returns the library's message about the name, since only the library knows which formats this
 * build omits. The library rejects a bad name before it reads any bytes, so no bytes are needed. */
static const char *why_not(const char *format, petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.format = format;
    petal_status status = petal_load("", 0, &options, &filter, error);
    petal_free(filter);
    return status == PETAL_OK ? "" : error->message;
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

/* Returns Petal's name for a format that users call by another name. */
static const char *our_word(const char *name)
{
    static const char *const words[][2] = {
        {"redis", "redisbloom"},
        {"rebloom", "redisbloom"},
        {"go", "bits-and-blooms"},
        {"golang", "bits-and-blooms"},
        {"willf", "bits-and-blooms"},
        {"python", "pybloom"},
        {"java", "guava"},
        {"google", "guava"},
        {"pyspark", "spark"},
        {"npm", "bloomfilter"},
        {"javascript", "bloomfilter"},
        {"js", "bloomfilter"},
        {"native", "petal"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], name) == 0) return words[i][1];
    return NULL;
}

static const char *name_at(const void *names, size_t i)
{
    return ((const char *const *)names)[i];
}

enum { MAX_FORMATS = 64 };

bool check_format(const char *format)
{
    petal_format_info info = PETAL_FORMAT_INFO_INIT;
    const char *names[MAX_FORMATS];
    char list[1024];
    petal_error error;
    uint32_t count = 0;
    if (is_petal(format)) return true;
    for (; count < MAX_FORMATS && petal_format_at(count, &info); count++) {
        names[count] = info.name;
        if (strcmp(info.name, format) == 0) return true;
    }
    const char *guess = our_word(format);
    if (!guess) guess = nearest(format, name_at, names, count);
    if (guess)
        return complain(NULL, "%s, did you mean %s? See petal formats", why_not(format, &error),
                        guess);
    list_names(names, count, list, sizeof list);
    return complain(NULL, "%s; there are %s", why_not(format, &error), list);
}
