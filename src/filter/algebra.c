/* algebra.c - union and intersection, and the check that two filters speak of the same bits. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "filter/filter.h"

#include <string.h>

static petal_status differ(petal_error *error, const char *field, uint64_t a, uint64_t b)
{
    return petal_fail(error, PETAL_ERR_MISMATCH, "they differ in %s (%llu against %llu)", field, (unsigned long long)a,
                      (unsigned long long)b);
}

static petal_status check_alike(const petal_filter *a, const petal_filter *b, petal_error *error)
{
    const struct shape *s = &a->array.shape, *t = &b->array.shape;
    if (s->scheme != t->scheme)
        return petal_fail(error, PETAL_ERR_MISMATCH, "they differ in scheme (%s against %s)", a->scheme->name, b->scheme->name);
    if (a->hash != b->hash)
        return petal_fail(error, PETAL_ERR_MISMATCH, "they differ in hash (%s against %s)", a->hash->name, b->hash->name);
    if (a->hash_key.seed != b->hash_key.seed) return differ(error, "seed", a->hash_key.seed, b->hash_key.seed);
    if (s->bits != t->bits) return differ(error, "bits", s->bits, t->bits);
    if (s->hashes != t->hashes) return differ(error, "hashes", s->hashes, t->hashes);
    if (s->lines_per_key != t->lines_per_key) return differ(error, "lines a key", s->lines_per_key, t->lines_per_key);
    if (memcmp(a->hash_key.secret, b->hash_key.secret, PETAL_SECRET_BYTES))
        return petal_fail(error, PETAL_ERR_MISMATCH, "they differ in secret (id %08x against %08x)",
                          petal_secret_id(a->hash_key.secret), petal_secret_id(b->hash_key.secret));
    return PETAL_OK;
}

/* What both calls need before they touch a bit. */
static petal_status prepare(petal_filter *filter, const petal_filter *other, petal_error *error)
{
    petal_status status = check_alike(filter, other, error);
    if (status == PETAL_OK) status = petal_filter_prepare_write(filter, error);
    if (status == PETAL_OK) petal_filter_touch_all(filter);
    return status;
}

/* Bit arrays are whole lines, so whole words; bitwise operations do not mind the byte order. */
static inline uint64_t load(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

petal_status petal_merge(petal_filter *filter, const petal_filter *other, petal_error *error)
{
    petal_status status = prepare(filter, other, error);
    if (status != PETAL_OK) return status;
    uint8_t *to = filter->array.bytes;
    const uint8_t *from = other->array.bytes;
    for (uint64_t i = 0; i < filter->array.size_bytes; i += 8) {
        uint64_t old = load(to + i), word = old | load(from + i);
        if (word != old) memcpy(to + i, &word, sizeof word); /* leaves untouched pages untouched */
    }
    filter->items = saturating_add(filter->items, other->items);
    return PETAL_OK;
}

petal_status petal_intersect(petal_filter *filter, const petal_filter *other, petal_error *error)
{
    petal_status status = prepare(filter, other, error);
    if (status != PETAL_OK) return status;
    uint8_t *to = filter->array.bytes;
    const uint8_t *from = other->array.bytes;
    for (uint64_t i = 0; i < filter->array.size_bytes; i += 8) {
        uint64_t old = load(to + i), word = old & load(from + i);
        if (word != old) memcpy(to + i, &word, sizeof word);
    }
    if (other->items < filter->items) filter->items = other->items;
    return PETAL_OK;
}
