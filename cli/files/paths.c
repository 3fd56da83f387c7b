/* paths.c - see paths.h. */
#define _GNU_SOURCE /* realpath(), getentropy() */

#include "files/paths.h"

#include "output/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- may a file be written? ------------------------------------------------------------------ */

static bool exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

/* Reports an unwritable folder before the input is read rather than after, since reading may take
 * hours. */
static bool check_folder(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path + 1) : 1;
    if (length >= sizeof folder)
        return complain(path, "cannot write it: %s", strerror(ENAMETOOLONG));
    memcpy(folder, slash ? path : ".", length);
    folder[length] = '\0';
    return access(folder, W_OK) == 0 ||
           complain(path, "cannot write a file in its folder: %s", strerror(errno));
}

bool may_write(const char *path, bool force)
{
    struct stat about;
    if (strcmp(path, "-") == 0) return complain(path, "is not standard output here; name a file");
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return complain(path, "is a directory; name a file in it");
    if (!force && exists(path))
        return complain(path, "exists; --force replaces it once the new one is complete");
    return check_folder(path);
}

struct identity identify(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) return (struct identity){0};
    return (struct identity){about.st_dev, about.st_ino};
}

bool is_same_file(const char *a, const char *b)
{
    struct identity one = identify(a);
    if (!one.inode || strcmp(a, b) == 0)
        return one.inode != 0; /* so the file exists, even if it is being replaced at this moment */
    struct identity other = identify(b);
    return one.inode == other.inode && one.device == other.device;
}

bool differs_from_inputs(const char *path, char **files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_same_file(path, files[i]))
            return complain(path, "is read from as well; write to another file");
    return true;
}

/* ---- small files ----------------------------------------------------------------------------- */

bool read_beginning(const char *path, uint8_t *bytes, size_t size_bytes)
{
    struct stat about;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return false;
    bool is_read = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
                   read(descriptor, bytes, size_bytes) == (ssize_t)size_bytes;
    close(descriptor);
    return is_read;
}

uint8_t *read_small_file(const char *path, size_t max_bytes, size_t *size_bytes)
{
    FILE *in = fopen(path, "rb");
    uint8_t *bytes = malloc(max_bytes + 1);
    bool good = in && bytes;
    if (!in) complain(path, "cannot open it: %s", strerror(errno));
    if (in && !bytes) complain(path, "out of memory");
    if (good) {
        *size_bytes = fread(bytes, 1, max_bytes + 1, in);
        if (ferror(in))
            good = complain(path, "cannot read it: %s", strerror(errno));
        else if (*size_bytes > max_bytes)
            good = complain(path, "has more than %zu bytes", max_bytes);
    }
    if (in) fclose(in);
    if (good) return bytes;
    free(bytes);
    return NULL;
}

/* The buffer is doubled as needed, since the size of standard input is unknown. */
static bool make_room(uint8_t **bytes, size_t *room)
{
    size_t more = *room ? 2 * *room : 1 << 16;
    uint8_t *longer = realloc(*bytes, more);
    if (!longer) return false;
    *bytes = longer;
    *room = more;
    return true;
}

uint8_t *read_whole_file(const char *path, uint64_t max_bytes, size_t *size_bytes)
{
    bool is_input = strcmp(path, "-") == 0;
    FILE *in = is_input ? stdin : fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t room = 0, used = 0, got = 0;
    bool good = in || complain(path, "cannot open it: %s", strerror(errno));
    while (good) {
        if (used == room && !make_room(&bytes, &room)) good = complain(path, "out of memory");
        if (!good) break;
        got = fread(bytes + used, 1, room - used, in);
        used += got;
        if (used > max_bytes)
            good = complain(path, "has more than the limit of %" PRIu64 " bytes (--memory-limit)",
                            max_bytes);
        else if (ferror(in))
            good = complain(path, "cannot read it: %s", strerror(errno));
        else if (got == 0 || feof(in))
            break;
    }
    if (in && !is_input) fclose(in);
    *size_bytes = used;
    if (good) return bytes;
    free(bytes);
    return NULL;
}

/* ---- drafts ---------------------------------------------------------------------------------- */

bool random_bits(uint64_t *bits)
{
    return getentropy(bits, sizeof *bits) == 0 ||
           complain(NULL, "cannot get random bits from the system: %s", strerror(errno));
}

enum { PATH_BYTES = 4096 };

/* Follows symbolic links, since it is their target that is replaced. */
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
    return name_target(path, target) && name_draft(target, token, draft) &&
           rename(draft, target) == 0;
}

void remove_draft(const char *path, uint64_t token)
{
    char target[PATH_BYTES], draft[PATH_BYTES];
    if (name_target(path, target) && name_draft(target, token, draft)) unlink(draft);
}

bool begin_file(struct new_file *file, const char *path, bool force)
{
    *file = (struct new_file){.path = path, .descriptor = -1};
    if (!may_write(path, force) || !random_bits(&file->token)) return false;
    file->descriptor = open_draft(path, file->token);
    return file->descriptor >= 0 || complain(path, "cannot write it: %s", strerror(errno));
}

bool write_to_file(struct new_file *file, const void *bytes, size_t size_bytes)
{
    const char *from = bytes;
    while (size_bytes > 0 && file->failure == 0) {
        ssize_t written = write(file->descriptor, from, size_bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            file->failure = errno;
        } else {
            from += written;
            size_bytes -= (size_t)written;
        }
    }
    return file->failure == 0;
}

bool end_file(struct new_file *file, bool keep)
{
    int failure = file->failure;
    if (keep && failure == 0 && fsync(file->descriptor) != 0 && errno != EINVAL) failure = errno;
    if (close(file->descriptor) != 0 && failure == 0) failure = errno;
    if (keep && failure == 0 && publish_draft(file->path, file->token)) return true;
    if (keep && failure == 0) failure = errno;
    remove_draft(file->path, file->token);
    return failure == 0 || complain(file->path, "cannot write it: %s", strerror(failure));
}

bool save_text(const char *path, const char *text, size_t size_bytes, bool force)
{
    struct new_file file;
    if (!begin_file(&file, path, force)) return false;
    write_to_file(&file, text, size_bytes);
    return end_file(&file, true);
}
