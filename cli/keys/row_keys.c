/* row_keys.c - see row_keys.h. */
#include "keys/row_keys.h"

#include "output/numbers.h"
#include "output/report.h"
#include "output/utf8.h"

#include <stdlib.h>
#include <string.h>

/* ---- the rule -------------------------------------------------------------------------------- */

static bool read_length(struct key_rule *rule, const char *option, uint64_t length)
{
    rule->length = (size_t)length;
    return length <= MAX_RULE_LENGTH || complain(option, "%s is too long; at most %s",
                                                 grouped(length).s, grouped(MAX_RULE_LENGTH).s);
}

bool rule_read(struct key_rule *rule, const struct args *args)
{
    *rule = (struct key_rule){.unit = UNIT_ROW, .length = 1, .lower = args->ignore_case};
    int given = args->words + (args->ngrams > 0) + (args->kmers > 0);
    if (given > 1) return complain(NULL, "give one of --words, --ngrams and --kmers");
    if (args->canonical && !args->kmers) return complain("--canonical", "goes with --kmers");
    if (args->ignore_case && !given)
        return complain("-i", "goes with --words, --ngrams or --kmers");
    if (args->ignore_case && args->canonical)
        return complain("-i", "is not for --canonical, which makes upper case");
    if (!given) return true;
    rule->unit = !args->kmers ? UNIT_WORD : args->canonical ? UNIT_BASE : UNIT_CHARACTER;
    if (args->ngrams) return read_length(rule, "--ngrams", args->ngrams);
    return args->words || read_length(rule, "--kmers", args->kmers);
}

bool lacks_rule(const char *command, const struct args *args)
{
    bool given = args->words || args->ngrams || args->kmers;
    if (given || !(args->share > 0)) return false;
    misused(command, "--min goes with --words, --ngrams or --kmers");
    return true;
}

bool is_enough(uint64_t found, uint64_t all, double share)
{
    /* The tolerance keeps rounding from rejecting an exact share. */
    return share > 0 ? (double)found >= share * (double)all * (1 - 1e-14) : found == all;
}

/* ---- words ----------------------------------------------------------------------------------- */

static bool is_of_word(char c)
{
    unsigned char byte = (unsigned char)c, letter = byte | 0x20;
    return (letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9') || byte == '_' ||
           byte >= 0x80;
}

static const char *word_begin(const char *at, const char *end)
{
    while (at < end && !is_of_word(*at)) at++;
    return at;
}

static const char *word_end(const char *at, const char *end)
{
    while (at < end && is_of_word(*at)) at++;
    return at;
}

static uint8_t lower_case(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + 'a' - 'A') : byte;
}

static void copy(struct key_run *run, const char *from, size_t size)
{
    uint8_t *to = run->copies + run->copied_bytes;
    run->copied_bytes += size;
    if (!run->rule->lower)
        memcpy(to, from, size);
    else
        for (size_t i = 0; i < size; i++) to[i] = lower_case((uint8_t)from[i]);
}

/* A run accepts another key as long as no more bytes of `copies` than this are in use. */
#define COPIED_BYTES ((size_t)1 << 16)

static bool has_room(const struct key_run *run)
{
    return run->count < RUN_KEYS && run->copied_bytes <= COPIED_BYTES;
}

static void put_key(struct key_run *run, const void *data, size_t size_bytes)
{
    run->keys[run->count] = (petal_key){data, size_bytes};
    run->rows[run->count++] = run->row;
}

/* Makes the key that consists of the words starting at `at`, joined by spaces. *next becomes the
 * start of the second word. Returns false if there are too few words. */
static bool put_ngram(struct key_run *run, const char *at, const char *end, const char **next)
{
    size_t from = run->copied_bytes;
    for (size_t i = 0; i < run->rule->length; i++) {
        if (at == end) {
            run->copied_bytes = from;
            return false;
        }
        const char *stop = word_end(at, end);
        if (i > 0) run->copies[run->copied_bytes++] = ' ';
        copy(run, at, (size_t)(stop - at));
        at = word_begin(stop, end);
        if (i == 0) *next = at;
    }
    put_key(run, run->copies + from, run->copied_bytes - from);
    return true;
}

/* These add the keys of the row, starting at run->at. They return true if the row has no more
 * keys. */
static bool take_words(struct key_run *run, const char *begin, const char *end)
{
    bool copies = run->rule->lower || run->rule->length > 1;
    const char *at = run->at ? run->at : word_begin(begin, end);
    for (bool more = true; more && has_room(run);) {
        if (copies) {
            more = put_ngram(run, at, end, &at);
        } else if ((more = at < end)) {
            const char *stop = word_end(at, end);
            put_key(run, at, (size_t)(stop - at));
            at = word_begin(stop, end);
        }
        if (!more) return true;
    }
    run->at = at;
    return false;
}

/* ---- characters ------------------------------------------------------------------------------ */

static const char *character_end(const char *at, const char *end)
{
    size_t length;
    if (!((unsigned char)*at & 0x80)) return at + 1;
    utf8_next((const uint8_t *)at, (size_t)(end - at), &length);
    return at + length;
}

/* Returns the end of the first `count` characters, or NULL if there are fewer. */
static const char *skip_characters(const char *at, const char *end, size_t count)
{
    for (; count > 0 && at < end; count--) at = character_end(at, end);
    return count == 0 ? at : NULL;
}

static bool take_characters(struct key_run *run, const char *begin, const char *end)
{
    const char *at = run->at ? run->at : begin, *stop = run->stop;
    if (!run->at) stop = skip_characters(begin, end, run->rule->length);
    while (has_room(run)) {
        size_t from = run->copied_bytes, size = (size_t)(stop - at);
        if (run->rule->lower) copy(run, at, size);
        put_key(run, run->rule->lower ? (const void *)(run->copies + from) : at, size);
        if (stop == end) return true;
        at = character_end(at, end);
        stop = character_end(stop, end);
    }
    run->at = at;
    run->stop = stop;
    return false;
}

/* ---- bases of DNA ---------------------------------------------------------------------------- */

/* Returns a base (A, C, G or T) in upper case, or 0 for any other character. */
static uint8_t base_of(char c)
{
    uint8_t upper = (uint8_t)c & (uint8_t)~0x20;
    return upper == 'A' || upper == 'C' || upper == 'G' || upper == 'T' ? upper : 0;
}

static uint8_t complement_of(char c)
{
    uint8_t base = base_of(c);
    return base == 'A' ? 'T' : base == 'C' ? 'G' : base == 'G' ? 'C' : 'A';
}

static bool is_first_forward(const char *kmer, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        uint8_t forward = base_of(kmer[i]), backward = complement_of(kmer[length - 1 - i]);
        if (forward != backward) return forward < backward;
    }
    return true;
}

static void put_canonical(struct key_run *run, const char *kmer)
{
    size_t length = run->rule->length;
    uint8_t *to = run->copies + run->copied_bytes;
    bool forward = is_first_forward(kmer, length);
    for (size_t i = 0; i < length; i++)
        to[i] = forward ? base_of(kmer[i]) : complement_of(kmer[length - 1 - i]);
    run->copied_bytes += length;
    put_key(run, to, length);
}

static bool take_bases(struct key_run *run, const char *begin, const char *end)
{
    size_t length = run->rule->length, valid = run->at ? run->valid : 0;
    const char *at = run->at ? run->at : begin;
    while (at < end && has_room(run)) {
        valid = base_of(*at++) ? valid + 1 : 0;
        if (valid >= length) put_canonical(run, at - length);
    }
    run->at = at;
    run->valid = valid;
    return at == end;
}

/* ---- rows without a key ---------------------------------------------------------------------- */

static bool has_words(const struct key_rule *rule, const char *at, const char *end)
{
    size_t count = 0;
    while (count < rule->length && (at = word_begin(at, end)) < end) {
        at = word_end(at, end);
        count++;
    }
    return count == rule->length;
}

static bool has_bases(const struct key_rule *rule, const char *at, const char *end)
{
    size_t valid = 0;
    while (valid < rule->length && at < end) valid = base_of(*at++) ? valid + 1 : 0;
    return valid == rule->length;
}

const char *rule_refuses(const struct key_rule *rule, const petal_key *text)
{
    const char *at = text->data, *end = at + text->size_bytes;
    if (rule->unit == UNIT_WORD)
        return has_words(rule, at, end) ? NULL
               : rule->length == 1      ? "has no word"
                                        : "has fewer words than --ngrams";
    if (rule->unit == UNIT_BASE)
        return has_bases(rule, at, end) ? NULL : "has no k-mer of A, C, G and T";
    return skip_characters(at, end, rule->length) ? NULL : "has fewer characters than --kmers";
}

/* ---- runs ------------------------------------------------------------------------------------ */

void run_free(struct key_run *run)
{
    if (!run) return;
    free(run->copies);
    free(run);
}

/* A key is no longer than its row, since two words have at least one byte between them. */
bool run_make(struct key_run **run, const struct key_rule *rule, const petal_key *texts,
              size_t longest_bytes)
{
    if (!*run && !(*run = calloc(1, sizeof **run))) return false;
    bool copies =
        rule->lower || rule->unit == UNIT_BASE || (rule->unit == UNIT_WORD && rule->length > 1);
    size_t needed = copies ? COPIED_BYTES + longest_bytes : 0;
    (*run)->rule = rule;
    (*run)->texts = texts;
    if (needed <= (*run)->room_bytes) return true;
    free((*run)->copies);
    (*run)->copies = malloc(needed);
    (*run)->room_bytes = (*run)->copies ? needed : 0;
    return (*run)->copies != NULL;
}

void run_begin(struct key_run *run, size_t first, size_t count)
{
    run->row = first;
    run->end = first + count;
    run->at = NULL;
}

bool run_next(struct key_run *run)
{
    bool (*take)(struct key_run *, const char *, const char *) =
        run->rule->unit == UNIT_WORD   ? take_words
        : run->rule->unit == UNIT_BASE ? take_bases
                                       : take_characters;
    run->count = run->copied_bytes = 0;
    while (run->row < run->end && has_room(run)) {
        const petal_key *text = &run->texts[run->row];
        const char *begin = text->data;
        if (!take(run, begin, begin + text->size_bytes)) break;
        run->row++;
        run->at = NULL;
    }
    return run->count > 0;
}
