/* machine.h - the machine and compiler used for a run, as text for the report. */
#ifndef PETAL_BENCH_MACHINE_H
#define PETAL_BENCH_MACHINE_H

#include <stddef.h>

struct machine {
    char command[512], date[32], cpu[128], system[128], compiler[256], pages[128], load[32];
    long cpus, page_bytes;
    size_t memory_bytes,
        cache_bytes[3]; /* one core's caches: first level (data), second, third; 0 if unknown */
};

void look_at_machine(struct machine *machine, int count, char **arguments);

#endif
