/* progress.c - see progress.h. */
#define _DEFAULT_SOURCE /* struct winsize */

#include "output/progress.h"

#include "output/numbers.h"
#include "output/terminal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#define FIRST_AFTER_SECONDS 1.0
#define REDRAW_SECONDS 0.1
#define LINE_SECONDS 1.0
#define BAR_WIDTH 12

static struct {
    bool on, lines, shown;
    double started, next;
} state;

/* If the work can't report its progress, a thread shows the elapsed time. Meanwhile no other thread
 * draws. */
static struct {
    pthread_mutex_t mutex; /* also guards `state` */
    pthread_cond_t ended;
    pthread_t thread;
    bool works;
    const char *what, *name;
    double since;
} ticker = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_start(const char *mode, bool streaming)
{
    bool automatic = !mode || strcmp(mode, "auto") == 0;
    state.lines = mode && strcmp(mode, "lines") == 0;
    state.on = automatic ? is_terminal(stderr) && !(streaming && is_terminal(stdout))
                         : strcmp(mode, "never") != 0;
    state.started = now();
    state.next = state.started + (automatic ? FIRST_AFTER_SECONDS : 0);
}

static size_t terminal_width(void)
{
    struct winsize size;
    if (ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col;
    return 80;
}

/* "1.24 of 2.00 GB": both in the unit of the larger. */
static struct text amount(uint64_t done, uint64_t total)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    uint64_t larger = total > done ? total : done;
    struct text out;
    double divisor = 1;
    int unit = 0;
    for (; (double)larger / divisor >= 999.5; divisor *= 1000) unit++;
    int decimals = unit == 0 ? 0 : 2;
    if (total)
        snprintf(out.s, sizeof out.s, "%.*f of %.*f %s", decimals, (double)done / divisor, decimals,
                 (double)total / divisor, units[unit]);
    else
        snprintf(out.s, sizeof out.s, "%.*f %s", decimals, (double)done / divisor, units[unit]);
    return out;
}

static struct text bar(double part)
{
    struct text out;
    int full = (int)(part * BAR_WIDTH);
    out.s[0] = '[';
    for (int i = 0; i < BAR_WIDTH; i++) out.s[1 + i] = i < full ? '=' : i == full ? '>' : ' ';
    snprintf(out.s + 1 + BAR_WIDTH, sizeof out.s - 1 - BAR_WIDTH, "]  %2d %%  ", (int)(part * 100));
    return out;
}

static struct text time_left(double seconds)
{
    struct text out;
    unsigned long whole = seconds < 1e7 ? (unsigned long)(seconds + 0.5) : 10000000;
    snprintf(out.s, sizeof out.s, "  %lu:%02lu left", whole / 60, whole % 60);
    return out;
}

static void draw(const char *line)
{
    size_t length = strlen(line), width = terminal_width() - 1;
    if (state.lines)
        fprintf(stderr, "%s\n", line);
    else
        fprintf(stderr, "\r%.*s%*s", (int)width, line, length < width ? (int)(width - length) : 0,
                "");
    state.shown = !state.lines;
}

static void show(const char *name, uint64_t done_bytes, uint64_t total_bytes, uint64_t keys)
{
    char line[320];
    double at = state.on ? now() : 0;
    if (!state.on || at < state.next) return;
    state.next = at + (state.lines ? LINE_SECONDS : REDRAW_SECONDS);
    double passed = at - state.started, speed = passed > 0 ? (double)keys / passed : 0;
    double part = total_bytes == 0           ? 0
                  : done_bytes < total_bytes ? (double)done_bytes / (double)total_bytes
                                             : 1;
    struct text left = {""};
    if (part > 0) left = time_left(passed * (1 - part) / part);
    snprintf(line, sizeof line, "%.40s %s%s  %s keys  %s/s%s", name, total_bytes ? bar(part).s : "",
             amount(done_bytes, total_bytes).s, rounded((double)keys).s, rounded(speed).s, left.s);
    draw(line);
}

void progress_show(const char *name, uint64_t done_bytes, uint64_t total_bytes, uint64_t keys)
{
    if (!state.on) return;
    pthread_mutex_lock(&ticker.mutex);
    show(name, done_bytes, total_bytes, keys);
    pthread_mutex_unlock(&ticker.mutex);
}

void progress_hide(void)
{
    if (!state.on) return;
    pthread_mutex_lock(&ticker.mutex);
    if (state.shown) fprintf(stderr, "\r%*s\r", (int)terminal_width() - 1, "");
    state.shown = false;
    pthread_mutex_unlock(&ticker.mutex);
}

/* ---- work that can't report its progress ----------------------------------------------------- */

static void wait_until(double at)
{
    struct timespec t;
    double wait = at - now();
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t ns = (uint64_t)t.tv_nsec + (wait > 0 ? (uint64_t)(wait * 1e9) : 0);
    t.tv_sec += (time_t)(ns / 1000000000);
    t.tv_nsec = (long)(ns % 1000000000);
    pthread_cond_timedwait(&ticker.ended, &ticker.mutex, &t);
}

static void *tick(void *unused)
{
    char line[320];
    pthread_mutex_lock(&ticker.mutex);
    while (ticker.works) {
        wait_until(state.next);
        if (!ticker.works || now() < state.next) continue;
        snprintf(line, sizeof line, "%s %.200s  %.0f s", ticker.what, ticker.name,
                 now() - ticker.since);
        draw(line);
        state.next = now() + LINE_SECONDS;
    }
    pthread_mutex_unlock(&ticker.mutex);
    return unused;
}

void progress_begin(const char *what, const char *name)
{
    if (!state.on || ticker.works) return;
    ticker.what = what;
    ticker.name = name;
    ticker.since = now();
    state.next = ticker.since + FIRST_AFTER_SECONDS;
    ticker.works = true;
    if (pthread_create(&ticker.thread, NULL, tick, NULL) != 0) ticker.works = false;
}

void progress_end(void)
{
    if (!ticker.works) return;
    pthread_mutex_lock(&ticker.mutex);
    ticker.works = false;
    pthread_cond_signal(&ticker.ended);
    pthread_mutex_unlock(&ticker.mutex);
    pthread_join(ticker.thread, NULL);
    progress_hide();
}
