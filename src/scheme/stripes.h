/* stripes.h - lets threads add to one filter concurrently without losing any bits.
 *
 * The lines of a filter are distributed over 2048 stripes. A thread that changes a line holds the
 * line's stripe. The thread locks the stripe with one atomic operation, changes the line with
 * vector operations, and releases the stripe with one store. Atomic ORs of the words would need k
 * atomic operations per key, and would be 3 to 5 times slower (./dev bench shared). Readers lock no
 * stripe, because bits are never cleared, and each bit is meaningful on its own.
 *
 * A thread holds a stripe for a few nanoseconds, or for one cache miss. A stripe is a spin lock: if
 * a thread is preempted while holding it, other threads that need one of its lines (1 line in 2048)
 * yield their cores until it runs again. */
#ifndef PETAL_SCHEME_STRIPES_H
#define PETAL_SCHEME_STRIPES_H

#include "base/error.h"
#include "base/spin.h"

#include <stdatomic.h>
#include <stdint.h>

/* 1 if several threads can add concurrently. WebAssembly has threads only if it is built with
 * thread support. Without threads, nothing is added concurrently, and code in IF_THREADS() is
 * compiled but not linked. A host with threads that take turns, such as Go with its goroutines,
 * defines this macro as 1, so that its programs can use such a build. */
#ifndef PETAL_HAS_THREADS
#if defined(__wasm__) && !defined(__wasm_atomics__)
#define PETAL_HAS_THREADS 0
#else
#define PETAL_HAS_THREADS 1
#endif
#endif
#define IF_THREADS(function) (PETAL_HAS_THREADS ? UNLESS_READ_ONLY(function) : NULL)

#define PETAL_STRIPES 2048u

/* Bit 0 of a stripe is set while the stripe is held. The other bits count added keys. The holder's
 * cache already contains the word, while a single counter for the whole filter would bounce between
 * the caches of all threads. */
struct stripes {
    _Atomic uint64_t words[PETAL_STRIPES];
};

#define STRIPE_HELD 1u
#define STRIPE_KEY 2u

static inline _Atomic uint64_t *stripe_of(struct stripes *stripes, uint64_t number)
{
    return &stripes->words[number % PETAL_STRIPES];
}

/* Locks the stripe, and returns its word. */
static inline uint64_t stripe_take(_Atomic uint64_t *stripe)
{
    unsigned rounds = 0;
    uint64_t word = atomic_load_explicit(stripe, memory_order_relaxed) & ~(uint64_t)STRIPE_HELD;
    while (!atomic_compare_exchange_weak_explicit(stripe, &word, word | STRIPE_HELD,
                                                  memory_order_acquire, memory_order_relaxed)) {
        if (word & STRIPE_HELD) spin_wait(&rounds);
        word &= ~(uint64_t)STRIPE_HELD;
    }
    return word;
}

static inline void stripe_give_back(_Atomic uint64_t *stripe, uint64_t word)
{
    atomic_store_explicit(stripe, word, memory_order_release);
}

/* Counts a key, for schemes that never lock a stripe. (A holder of the stripe would overwrite the
 * count.) */
static inline void stripe_count(_Atomic uint64_t *stripe)
{
    atomic_fetch_add_explicit(stripe, STRIPE_KEY, memory_order_relaxed);
}

/* Returns the number of keys counted in all stripes. */
static inline uint64_t stripes_keys(struct stripes *stripes)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < PETAL_STRIPES; i++)
        sum += atomic_load_explicit(&stripes->words[i], memory_order_relaxed) / STRIPE_KEY;
    return sum;
}

#endif
