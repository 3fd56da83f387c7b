/* spin.h - waits for another thread that holds something for a short time.
 *
 * Most waits end within nanoseconds, so pausing is enough. But the other thread may have been
 * preempted; if there are more threads than cores, it runs again only when another thread yields.
 * So a long wait yields the core. */
#ifndef PETAL_BASE_SPIN_H
#define PETAL_BASE_SPIN_H

/* Pauses before the first yield: a few microseconds, the cost of a context switch. */
#define SPIN_PAUSES 64u

/* Lets other threads run. Does nothing on systems where we know no way to do that. */
void petal_spin_yield(void);

static inline void spin_pause(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
    __asm__ volatile("isb"); /* a yield does nothing on most cores */
#endif
}

/* One round of a wait. *rounds is 0 before the first. */
static inline void spin_wait(unsigned *rounds)
{
    if (*rounds < SPIN_PAUSES) {
        ++*rounds;
        spin_pause();
    } else {
        petal_spin_yield();
    }
}

#endif
