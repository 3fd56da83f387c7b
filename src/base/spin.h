/* spin.h - waits for another thread that holds a lock for a short time.
 *
 * Most waits end within nanoseconds, so a pause instruction is enough. But the other thread may
 * have been preempted. If there are more threads than cores, that thread runs again only when
 * another thread yields. So a long wait yields the core. */
#ifndef PETAL_BASE_SPIN_H
#define PETAL_BASE_SPIN_H

/* Number of pauses before the first yield. They take a few microseconds, the cost of a context
 * switch. */
#define SPIN_PAUSES 64u

/* Lets other threads run. Does nothing on systems other than Unix and macOS. */
void petal_spin_yield(void);

static inline void spin_pause(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
    __asm__ volatile("isb"); /* on most cores, the yield instruction does nothing */
#endif
}

/* Performs one round of a wait. *rounds must be 0 before the first round. */
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
