/* lzf.c - see lzf.h. */
#include "base/lzf.h"

#include <string.h>

#define MAX_LITERALS 32u
#define MAX_COPIED 264u
#define MAX_BACK 8192u

/* ---- expanding ------------------------------------------------------------------------------- */

struct expansion {
    const uint8_t *in, *in_end;
    uint8_t *out;
    uint64_t used, size;
};

static bool take_literals(struct expansion *x, uint64_t count)
{
    if (count > (uint64_t)(x->in_end - x->in) || count > x->size - x->used) return false;
    memcpy(x->out + x->used, x->in, (size_t)count);
    x->in += count;
    x->used += count;
    return true;
}

/* Copies byte by byte, since a copy may overlap the bytes it has just written. */
static bool take_copy(struct expansion *x, unsigned control)
{
    uint64_t count = control >> 5, back = (control & 31u) << 8;
    if (count == 7 && x->in < x->in_end) count += *x->in++;
    if (x->in == x->in_end) return false;
    back += *x->in++ + 1u;
    count += 2;
    if (back > x->used || count > x->size - x->used) return false;
    for (; count > 0; count--, x->used++) x->out[x->used] = x->out[x->used - back];
    return true;
}

bool petal_lzf_expand(const uint8_t *packed, uint64_t packed_bytes, uint8_t *bytes,
                      uint64_t size_bytes)
{
    struct expansion x = {.in = packed, .in_end = packed + packed_bytes, .size = size_bytes};
    x.out = bytes;
    while (x.in < x.in_end) {
        unsigned control = *x.in++;
        if (!(control < 32 ? take_literals(&x, control + 1) : take_copy(&x, control))) return false;
    }
    return x.used == size_bytes;
}

/* ---- compressing ----------------------------------------------------------------------------- */

/* The output, which ends with an open run of literals. A run's control byte is reserved when the
 * run starts, and written when the run ends. */
struct output {
    uint8_t *bytes;
    uint64_t used, room;
    uint32_t run;
};

static void end_run(struct output *out)
{
    if (out->run == 0)
        out->used--; /* an empty run needs no control byte */
    else
        out->bytes[out->used - out->run - 1] = (uint8_t)(out->run - 1);
}

static void begin_run(struct output *out)
{
    out->run = 0;
    out->used++;
}

static void put_literal(struct output *out, uint8_t byte)
{
    out->bytes[out->used++] = byte;
    if (++out->run < MAX_LITERALS) return;
    end_run(out);
    begin_run(out);
}

static void put_copy(struct output *out, uint32_t count, uint32_t back)
{
    uint32_t n = count - 2, d = back - 1;
    end_run(out);
    out->bytes[out->used++] = (uint8_t)((n < 7 ? n : 7) << 5 | d >> 8);
    if (n >= 7) out->bytes[out->used++] = (uint8_t)(n - 7);
    out->bytes[out->used++] = (uint8_t)d;
    begin_run(out);
}

/* Returns the slot that holds the last position with the same three bytes. */
static uint32_t *slot_of(uint32_t *slots, const uint8_t *at)
{
    uint32_t high = (uint32_t)at[0] << 8 | at[1], low = (uint32_t)at[1] << 8 | at[2];
    return &slots[(high - low * 5) % PETAL_LZF_SLOTS];
}

/* Returns the number of bytes at `at` that equal the bytes at `from`, at least 3. liblzf compares
 * up to 16 more bytes before it checks the limit, and so exceeds a limit of 17 or 18. This function
 * returns the same numbers. Such a limit is 2 bytes before the end of the input, so nothing is
 * overrun. */
static uint32_t common_bytes(const uint8_t *from, const uint8_t *at, uint32_t left)
{
    uint32_t limit = left - 2 < MAX_COPIED ? left - 2 : MAX_COPIED, count = 3;
    if (limit == 17 || limit == 18) limit = 19;
    while (count < limit && from[count] == at[count]) count++;
    return count;
}

uint64_t petal_lzf_compress(const uint8_t *bytes, uint32_t size_bytes, uint8_t *packed,
                            uint64_t room_bytes, uint32_t *slots)
{
    struct output out = {.room = room_bytes};
    uint32_t at = 0, copied = 0;
    out.bytes = packed;
    begin_run(&out);
    while (size_bytes - at > 2) {
        uint32_t *slot = slot_of(slots, bytes + at), from = *slot;
        *slot = at;
        if (from > 0 && from < at && at - from <= MAX_BACK &&
            memcmp(bytes + from, bytes + at, 3) == 0) {
            if (out.used - (out.run == 0) + 4 >= out.room) return 0;
            copied = common_bytes(bytes + from, bytes + at, size_bytes - at);
            put_copy(&out, copied, at - from);
            at += copied;
            if (size_bytes - at <= 2) break;
            *slot_of(slots, bytes + at - 2) =
                at - 2; /* records the last two of the skipped positions */
            *slot_of(slots, bytes + at - 1) = at - 1;
        } else {
            if (out.used >= out.room) return 0;
            put_literal(&out, bytes[at++]);
        }
    }
    if (out.used + 3 > out.room) return 0;
    while (at < size_bytes) put_literal(&out, bytes[at++]);
    end_run(&out);
    return out.used;
}
