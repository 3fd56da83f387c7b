/* control.h - controls the shim in a command through an environment variable and a page of memory
 * that the campaign and the command map from the same file. */
#ifndef PETAL_TESTS_CONTROL_H
#define PETAL_TESTS_CONTROL_H

#include "../campaign.h"
#include "shim.h"

static struct shim_control *control;
static char shim_environment[2][PATH_MAX + 16];

static const char *const shim_names[SHIM_CALLS] = {
    "none",  "open",   "read", "write",  "fsync", "msync", "mmap", "ftruncate", "fallocate",
    "close", "rename", "link", "unlink", "lock",  "chmod", "stat", "random",    "malloc"};

static inline void make_control(void)
{
    struct shim_control none = {.call = SHIM_NONE};
    const char *path = in_folder("control");
    write_file(path, &none, sizeof none);
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (control == MAP_FAILED) give_up("cannot map %s", path);
    close(descriptor);
    snprintf(shim_environment[0], sizeof shim_environment[0], "LD_PRELOAD=%s",
             part_path("shim.so"));
    snprintf(shim_environment[1], sizeof shim_environment[1], "PETAL_SHIM=%s", path);
}

/* Sets the shim's next action and resets its counters. */
static inline void arm(enum shim_call call, enum shim_action action, uint32_t nth, int error)
{
    for (int i = 0; i < SHIM_CALLS; i++) atomic_store(&control->seen[i], 0);
    atomic_store(&control->published, 0);
    atomic_store(&control->hit, 0);
    atomic_store(&control->paused, 0);
    atomic_store(&control->resume, 0);
    control->action = action;
    control->nth = nth;
    control->error = error;
    control->call = call;
}

/* Sets up a command so that the shim is preloaded. */
static inline struct command watched_command(const char *const *arguments)
{
    return (struct command){.arguments = arguments,
                            .environment = {shim_environment[0], shim_environment[1]}};
}

#endif
