/* spin.c - see spin.h. */
#define _POSIX_C_SOURCE 200112L /* sched_yield */

#include "base/spin.h"

#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#endif

void petal_spin_yield(void)
{
#if defined(__unix__) || defined(__APPLE__)
    sched_yield();
#endif
}
