/* machine.c - see machine.h. Fields that the system doesn't report stay empty or zero. */
#define _DEFAULT_SOURCE

#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Returns the text after the first `:` in the file's line that starts with `beginning`, or the
 * whole first line if `beginning` is empty. */
static void read_line(const char *path, const char *beginning, char *out, size_t size)
{
    char line[512];
    FILE *in = fopen(path, "r");
    if (!in) return;
    while (fgets(line, sizeof line, in)) {
        if (strncmp(line, beginning, strlen(beginning)) != 0) continue;
        line[strcspn(line, "\n")] = 0;
        const char *value = *beginning ? strchr(line, ':') : line;
        if (value)
            snprintf(out, size, "%.*s", (int)size - 1,
                     *beginning ? value + 1 + strspn(value + 1, " ") : value);
        break;
    }
    fclose(in);
}

/* Linux reports the caches that one core uses. Index 0 is the first-level data cache; 2 and 3 are
 * the second and third level. */
static size_t cache_bytes(int index)
{
    char path[80], size[32] = "";
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    read_line(path, "", size, sizeof size);
    char *unit;
    size_t number = strtoul(size, &unit, 10);
    return *unit == 'K' ? number << 10 : *unit == 'M' ? number << 20 : number;
}

static void write_command(struct machine *machine, int count, char **arguments)
{
    size_t at = (size_t)snprintf(machine->command, sizeof machine->command, "./dev bench");
    for (int i = 1; i < count && at < sizeof machine->command; i++)
        at += (size_t)snprintf(machine->command + at, sizeof machine->command - at, " %s",
                               arguments[i]);
}

void look_at_machine(struct machine *machine, int count, char **arguments)
{
    struct utsname name;
    time_t now = time(NULL);
    struct tm utc;
    double load = 0;
    *machine = (struct machine){.cpu = "unknown", .pages = "unknown"};
    write_command(machine, count, arguments);
    if (gmtime_r(&now, &utc))
        strftime(machine->date, sizeof machine->date, "%Y-%m-%d %H:%M UTC", &utc);
    read_line("/proc/cpuinfo", "model name", machine->cpu, sizeof machine->cpu);
    read_line("/sys/kernel/mm/transparent_hugepage/enabled", "", machine->pages,
              sizeof machine->pages);
    if (uname(&name) == 0)
        snprintf(machine->system, sizeof machine->system, "%.40s %.60s %.20s", name.sysname,
                 name.release, name.machine);
#if defined(__clang__)
    snprintf(machine->compiler, sizeof machine->compiler, "%s,%s", __VERSION__, BENCH_FLAGS);
#else
    snprintf(machine->compiler, sizeof machine->compiler, "GCC %s,%s", __VERSION__, BENCH_FLAGS);
#endif
#ifdef BENCH_CLANG_VERSION
    strncat(machine->compiler, ", and " BENCH_CLANG_VERSION,
            sizeof machine->compiler - strlen(machine->compiler) - 1);
#endif
    if (getloadavg(&load, 1) == 1) snprintf(machine->load, sizeof machine->load, "%.1f", load);
    machine->cpus = sysconf(_SC_NPROCESSORS_ONLN);
    machine->page_bytes = sysconf(_SC_PAGESIZE);
    machine->memory_bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)machine->page_bytes;
    for (int level = 0; level < 3; level++)
        machine->cache_bytes[level] = cache_bytes(level == 0 ? 0 : level + 1);
}
