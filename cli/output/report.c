/* report.c - see report.h. */
#define _DEFAULT_SOURCE /* FIONREAD */

#include "output/report.h"

#include "output/progress.h"
#include "output/signals.h"
#include "output/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- stderr ---------------------------------------------------------------------------------- */

/* Control characters could fake a second line or move the cursor. Other bytes may be UTF-8, so they
 * stay. */
static void make_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = '?';
}

/* Writes the whole line in one call, so that lines from several processes don't mix. */
static void say(const char *subject, const char *format, va_list arguments)
{
    char message[1024], line[2048];
    int mark = snprintf(line, sizeof line, "%spetal:%s ", bold(stderr), plain(stderr));
    vsnprintf(message, sizeof message, format, arguments);
    int length = snprintf(line + mark, sizeof line - 2 - (size_t)mark,
                          subject ? "%.768s: %s" : "%s%s", subject ? subject : "", message);
    make_one_line(line + mark);
    progress_hide();
    line[mark + length] = '\n';
    fwrite(line, 1, (size_t)(mark + length) + 1, stderr);
}

bool complain(const char *subject, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(subject, format, arguments);
    va_end(arguments);
    return false;
}

void remark(const char *subject, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(subject, format, arguments);
    va_end(arguments);
}

/* ---- stdout ---------------------------------------------------------------------------------- */

void guard_standard_files(void)
{
    /* Deliberately opens it in the wrong mode: writing to a read-only descriptor fails with EBADF,
     * just as if it were closed. */
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int descriptor = 0; descriptor <= 2; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", modes[descriptor]) < 0)
            abort();
}

/* errno of the first failed write to stdout. */
static int output_failure;

bool flush_output(void)
{
    if (output_failure == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        output_failure = errno ? errno : EIO;
    return output_failure == 0;
}

/* For a non-blocking stdout. */
static bool wait_for_room(void)
{
    struct pollfd output = {STDOUT_FILENO, POLLOUT, 0};
    return poll(&output, 1, -1) > 0 || errno == EINTR;
}

bool write_output(const void *bytes, size_t size_bytes, uint64_t *written)
{
    const char *at = bytes;
    flush_output();
    while (output_failure == 0 && size_bytes > 0) {
        ssize_t taken = write(STDOUT_FILENO, at, size_bytes);
        if (taken < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_room()))) continue;
        if (taken <= 0) {
            output_failure = taken < 0 ? errno : EIO;
            break;
        }
        *written += (uint64_t)taken;
        at += taken;
        size_bytes -= (size_t)taken;
    }
    return output_failure == 0;
}

/* On Linux, FIONREAD also works at the writing end, even after the readers are gone. */
static uint64_t unread_in_pipe(void)
{
#ifdef __linux__
    int unread;
    if (ioctl(STDOUT_FILENO, FIONREAD, &unread) == 0 && unread >= 0) return (uint64_t)unread;
#endif
    return UINT64_MAX;
}

uint64_t unread_output(void)
{
    struct stat about;
    if (fstat(STDOUT_FILENO, &about) != 0) return UINT64_MAX;
    if (S_ISFIFO(about.st_mode)) return unread_in_pipe();
    return S_ISREG(about.st_mode) || S_ISCHR(about.st_mode) || S_ISBLK(about.st_mode) ? 0
                                                                                      : UINT64_MAX;
}

bool output_has_no_reader(void)
{
    struct pollfd output = {STDOUT_FILENO, 0, 0};
    return poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP));
}

void wait_for_reader(void)
{
    for (uint64_t unread; (unread = unread_output()) > 0 && unread != UINT64_MAX;) {
        if (output_failure != 0 || stop_signal() || output_has_no_reader()) return;
        poll(NULL, 0, 1);
    }
}

bool sync_output(void)
{
    struct stat about;
    if (fstat(STDOUT_FILENO, &about) != 0 || !S_ISREG(about.st_mode)) return true;
    if (fsync(STDOUT_FILENO) == 0 || errno == EINVAL) return true;
    if (output_failure == 0) output_failure = errno;
    return false;
}

void cut_output(uint64_t bytes)
{
    struct stat about;
    off_t end = lseek(STDOUT_FILENO, 0, SEEK_CUR);
    if (bytes == 0 || fstat(STDOUT_FILENO, &about) != 0 || !S_ISREG(about.st_mode) ||
        end != about.st_size || (uint64_t)end < bytes ||
        ftruncate(STDOUT_FILENO, end - (off_t)bytes) != 0)
        return;
    lseek(STDOUT_FILENO, end - (off_t)bytes, SEEK_SET);
}

void output_is_gone(void)
{
    if (output_failure == 0) output_failure = EPIPE;
}

static void die_of_sigpipe(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
    _exit(STATUS_SIGNAL + SIGPIPE); /* if the signal is blocked */
}

int finish_output(int status)
{
    bool whole = flush_output();
    if (whole && fclose(stdout) != 0) output_failure = errno ? errno : EIO;
    if (output_failure == 0) return status;
    if (output_failure == EPIPE && status < STATUS_ERROR) die_of_sigpipe();
    if (output_failure == EPIPE) return status;
    complain("standard output", "%s", strerror(output_failure));
    return STATUS_ERROR;
}
