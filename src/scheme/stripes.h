/* stripes.h - how threads add to one filter concurrently without losing a bit.
 *
 * A filter's lines are distributed over 2048 stripes. A thread that changes a line holds its
 * stripe: one atomic operation to take it, one store to release it, and whole-vector operations in
 * between. Atomic ORs of the words would need k atomic operations per key and are 3 to 5 times
 * slower (./dev bench shared). Readers take no stripe: bits are only ever set, and each bit is
 * meaningful on its own.
 *
 * A stripe is held for a few nanoseconds, or for one cache miss. It is a spin lock: if a thread is
 * preempted while holding a stripe, others that need one of its lines, 1 in 2048, wait until it
 * runs again, and yield their cores. */
#ifndef PETAL_SCHEME_STRIPES_H
#define PETAL_SCHEME_STRIPES_H

#include "base/error.h"
#include "base/spin.h"

#include <stdatomic.h>
#include <stdint.h>

/* WebAssembly has threads only if built with them. Without threads nothing is added concurrently,
 * and code in IF_THREADS() is compiled but not linked. A host whose threads take turns, such as Go
 * with its goroutines, defines this as 1 so that its programs can use this build. */
#ifndef PETAL_HAS_THREADS
#if defined(__wasm__) && !defined(__wasm_atomics__)
#define PETAL_HAS_THREADS 0
#else
#define PETAL_HAS_THREADS 1
#endif
#endif
#define IF_THREADS(function) (PETAL_HAS_THREADS ? UNLESS_READ_ONLY(function) : NULL)

#define PETAL_STRIPES 2048u

/* Bit 0: held. The rest counts added keys: the holder already has the word in its cache, whereas a
 * single counter for the whole filter would bounce between all threads. */
struct stripes {
    _Atomic uint64_t words[PETAL_STRIPES];
};

#define STRIPE_HELD 1u
#define STRIPE_KEY 2u

static inline _Atomic uint64_t *stripe_of(struct stripes *stripes, uint64_t number)
{
    return &stripes->words[number % PETAL_STRIPES];
}

/* Takes the stripe and returns its word. */
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

/* Counts a key of a scheme that never takes a stripe; a holder would overwrite the count. */
static inline void stripe_count(_Atomic uint64_t *stripe)
{
    atomic_fetch_add_explicit(stripe, STRIPE_KEY, memory_order_relaxed);
}

/* The number of keys counted in all stripes. */
static inline uint64_t stripes_keys(struct stripes *stripes)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < PETAL_STRIPES; i++)
        sum += atomic_load_explicit(&stripes->words[i], memory_order_relaxed) / STRIPE_KEY;
    return sum;
}

#endif
