/* explain.c - see explain.h.
 *
 * This is a second implementation, from docs/format.md, of the schemes' rules and of the layout of
 * the bits in the last `bytes` bytes of a petal file. So its output doesn't depend on the code that
 * it explains. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64

#include "output/explain.h"

#include "output/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define LINE_BITS 512u
#define WORD_BITS 32u
#define WORDS 16u

bool explain_open(struct explainer *explainer, const petal_filter *filter, const char *path)
{
    *explainer = (struct explainer){.filter = filter, .info = PETAL_INFO_INIT, .descriptor = -1};
    petal_get_info(filter, PETAL_ALL_LAYERS, &explainer->info, NULL);
    uint32_t scheme = explainer->info.scheme;
    bool native = scheme >= PETAL_SCHEME_BLOCKED && scheme <= PETAL_SCHEME_COUNTING;
    if (!native || explainer->info.layers > 1)
        return complain(
            path,
            "--explain shows blocked, classic and counting filters of one layer; leave it out");
    explainer->bits_offset = petal_serialized_bytes(filter, NULL) - explainer->info.bytes;
    explainer->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    return explainer->descriptor >= 0 || complain(path, "cannot open it: %s", strerror(errno));
}

void explain_close(struct explainer *explainer)
{
    if (explainer->descriptor >= 0) close(explainer->descriptor);
    explainer->descriptor = -1;
}

static const char *state_of(const struct explainer *explainer, uint64_t bit)
{
    uint8_t byte;
    if (pread(explainer->descriptor, &byte, 1, (off_t)(explainer->bits_offset + bit / 8)) != 1)
        return "unreadable";
    return byte >> (bit % 8) & 1 ? "set" : "clear";
}

/* The high half of the product. */
static uint64_t mulhi64(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
}

/* MurmurHash3's 64-bit finaliser. */
static uint64_t fmix64(uint64_t h)
{
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

static void explain_classic(const struct explainer *explainer, uint64_t hash, FILE *out)
{
    for (uint32_t i = 0; i < explainer->info.hashes; i++, hash *= 0xDA942042E4DD58B5u) {
        uint64_t bit = mulhi64(hash, explainer->info.bits);
        fprintf(out, "%sbit %" PRIu64 " %s", i ? ", " : "", bit, state_of(explainer, bit));
    }
}

/* The positions of `classic`, and 4-bit counters, the first of which is in the lower half of a
 * byte. */
static void explain_counting(const struct explainer *explainer, uint64_t hash, FILE *out)
{
    for (uint32_t i = 0; i < explainer->info.hashes; i++, hash *= 0xDA942042E4DD58B5u) {
        uint64_t counter = mulhi64(hash, explainer->info.bits);
        uint8_t byte;
        fprintf(out, "%scounter %" PRIu64, i ? ", " : "", counter);
        if (pread(explainer->descriptor, &byte, 1, (off_t)(explainer->bits_offset + counter / 2)) ==
            1)
            fprintf(out, " at %d", byte >> 4 * (counter % 2) & 15);
        else
            fputs(" unreadable", out);
    }
}

static void explain_line(const struct explainer *explainer, uint64_t hash, uint32_t hashes,
                         FILE *out)
{
    static const uint32_t salts[WORDS] = {
        0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b,
        0x9efc4947, 0x5c6bfb31, 0xd1b54a33, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f,
        0x165667b1, 0xd6e8feb9, 0xff51afd7, 0xc4ceb9ff,
    };
    uint64_t line = mulhi64(hash, explainer->info.bits / LINE_BITS);
    uint32_t x = (uint32_t)hash, y = x * 0x9E3779B1u, stride = 2 * (y >> 25 & 7) + 1;
    fprintf(out, "line %" PRIu64 ":", line);
    for (uint32_t i = 0; i < hashes; i++) {
        uint32_t word = ((y >> 28) + i * stride) % WORDS, bit = x * salts[word] >> 27;
        const char *state =
            state_of(explainer, line * LINE_BITS + (uint64_t)word * WORD_BITS + bit);
        fprintf(out, "%s word %" PRIu32 " bit %" PRIu32 " %s", i ? "," : "", word, bit, state);
    }
}

static void explain_blocked(const struct explainer *explainer, uint64_t hash, FILE *out)
{
    uint32_t hashes = explainer->info.hashes;
    bool two = explainer->info.lines_per_key == 2;
    explain_line(explainer, hash, two ? (hashes + 1) / 2 : hashes, out);
    if (!two) return;
    fputs("; ", out);
    explain_line(explainer, fmix64(hash), hashes / 2, out);
}

void explain_key(const struct explainer *explainer, const petal_key *key, FILE *out)
{
    uint64_t hash = petal_hash_key(explainer->filter, key->data, key->size_bytes);
    if (explainer->info.scheme == PETAL_SCHEME_CLASSIC)
        explain_classic(explainer, hash, out);
    else if (explainer->info.scheme == PETAL_SCHEME_COUNTING)
        explain_counting(explainer, hash, out);
    else
        explain_blocked(explainer, hash, out);
}
