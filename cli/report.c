/* report.c - see report.h. */
#define _POSIX_C_SOURCE 200809L

#include "report.h"

#include "progress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- stderr ---------------------------------------------------------------------------------------------------------- */

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

bool is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}

bool may_colour(FILE *stream)
{
    return is_terminal(stream) && *environment("NO_COLOR") == '\0' && strcmp(environment("TERM"), "dumb") != 0;
}

const char *bold(FILE *stream)
{
    return may_colour(stream) ? "\033[1m" : "";
}

const char *plain(FILE *stream)
{
    return may_colour(stream) ? "\033[0m" : "";
}

/* Control characters could forge a second line or move the cursor. Other bytes may be UTF-8 and pass. */
static void make_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = '?';
}

/* The whole line in one write, so that lines of several processes do not mix. */
static void say(const char *subject, const char *format, va_list arguments)
{
    char message[1024], line[2048];
    int mark = snprintf(line, sizeof line, "%spetal:%s ", bold(stderr), plain(stderr));
    vsnprintf(message, sizeof message, format, arguments);
    int length = snprintf(line + mark, sizeof line - 2 - (size_t)mark, subject ? "%.768s: %s" : "%s%s",
                          subject ? subject : "", message);
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

/* ---- stdout ---------------------------------------------------------------------------------------------------------- */

void guard_standard_files(void)
{
    /* The wrong way round on purpose: writing to a read-only descriptor fails with EBADF, as to a closed one. */
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int descriptor = 0; descriptor <= 2; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[descriptor]) < 0) abort();
}

/* errno of the first write to stdout that failed. */
static int output_failure;

bool flush_output(void)
{
    if (output_failure == 0 && (fflush(stdout) != 0 || ferror(stdout))) output_failure = errno ? errno : EIO;
    return output_failure == 0;
}

void output_is_gone(void)
{
    if (output_failure == 0) output_failure = EPIPE;
}

static void die_of_sigpipe(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
    _exit(STATUS_SIGNAL + SIGPIPE); /* where the signal is blocked */
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
