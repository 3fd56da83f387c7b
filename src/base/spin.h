/* spin.h - waiting for another thread that holds something for a moment.
 *
 * Most waits end within nanoseconds, and then a pause is all it takes. But the other thread may
 * have been preempted, and with more threads than cores it runs again only when somebody makes
 * room: so a wait that goes on gives the core away. */
#ifndef PETAL_BASE_SPIN_H
#define PETAL_BASE_SPIN_H

/* Pauses until a wait is handed to the system: a few microseconds, what a change of
 * threads costs. */
#define SPIN_PAUSES 64u

/* Lets other threads run; does nothing on systems where that is unknown. */
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
