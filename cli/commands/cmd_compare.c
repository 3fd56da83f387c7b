/* cmd_compare.c - petal compare: estimates how many keys two filters share. */
#include "commands/commands.h"
#include "files/files.h"
#include "files/formats.h"
#include "output/json.h"
#include "output/numbers.h"
#include "output/progress.h"
#include "output/report.h"

#include <math.h>

enum { LABEL_WIDTH = 18, VALUE_WIDTH = 16 };

/* ---- for people ------------------------------------------------------------------------------ */

static struct text keys_text(double keys)
{
    return keys < 1e15 ? grouped((uint64_t)(keys + 0.5)) : (struct text){"any number"};
}

static struct text index_text(double index)
{
    return significant(index, 3);
}

static struct text share_text(double share)
{
    return rate_text(share, 3);
}

static void print_row(const char *label, petal_estimate estimate, struct text (*text)(double))
{
    struct text value = isnan(estimate.value) ? (struct text){"unknown"} : text(estimate.value);
    if (isnan(estimate.low))
        printf("%-*s%s\n", LABEL_WIDTH, label, value.s);
    else
        printf("%-*s%-*s%s to %s\n", LABEL_WIDTH, label, VALUE_WIDTH, value.s, text(estimate.low).s,
               text(estimate.high).s);
}

/* Prints the conclusion. */
static void print_sentence(const char *a, const char *b, const petal_comparison *c)
{
    if (c->saturated)
        printf("Together they have every bit set, so what they share is unknown.\n");
    else if (isnan(c->containment_a_in_b.value) || isnan(c->containment_b_in_a.value))
        printf("An empty filter shares no keys.\n");
    else if (c->jaccard.value == 1)
        printf("The bits are equal, so the keys of %s and %s are probably the same.\n", a, b);
    else if (c->intersection.low <= 0)
        printf("%s and %s may have no key in common; at most about %s.\n", a, b,
               keys_text(c->intersection.high).s);
    else if (c->containment_a_in_b.value == 1)
        printf("Probably all keys of %s are in %s.\n", a, b);
    else if (c->containment_b_in_a.value == 1)
        printf("Probably all keys of %s are in %s.\n", b, a);
    else
        printf("About %s of the keys of %s are in %s, and %s the other way round.\n",
               rate_text(c->containment_a_in_b.value, 2).s, a, b,
               rate_text(c->containment_b_in_a.value, 2).s);
}

static void print_table(const char *a, const char *b, const petal_comparison *c)
{
    printf("%-*s%-*s%s\n", LABEL_WIDTH, "", VALUE_WIDTH, "estimate", "95 % interval");
    print_row("keys in A", c->items_a, keys_text);
    print_row("keys in B", c->items_b, keys_text);
    print_row("in A or B", c->union_items, keys_text);
    print_row("in A and B", c->intersection, keys_text);
    print_row("Jaccard index", c->jaccard, index_text);
    print_row("of A also in B", c->containment_a_in_b, share_text);
    print_row("of B also in A", c->containment_b_in_a, share_text);
    print_sentence(a, b, c);
}

/* ---- for machines ---------------------------------------------------------------------------- */

static void json_estimate(struct json *json, const char *name, petal_estimate estimate)
{
    char low[40], high[40];
    snprintf(low, sizeof low, "%s_low", name);
    snprintf(high, sizeof high, "%s_high", name);
    json_number(json, name, estimate.value);
    json_number(json, low, estimate.low);
    json_number(json, high, estimate.high);
}

static void print_json(const char *a, const char *b, const petal_comparison *c)
{
    struct json json;
    json_begin(&json, stdout);
    json_text(&json, "file_a", a);
    json_text(&json, "file_b", b);
    json_bool(&json, "saturated", c->saturated);
    json_estimate(&json, "items_a", c->items_a);
    json_estimate(&json, "items_b", c->items_b);
    json_estimate(&json, "union", c->union_items);
    json_estimate(&json, "intersection", c->intersection);
    json_estimate(&json, "jaccard", c->jaccard);
    json_estimate(&json, "containment", c->containment_a_in_b);
    json_estimate(&json, "containment_of_b", c->containment_b_in_a);
    json_end(&json);
}

/* ---- command --------------------------------------------------------------------------------- */

static int compare(const struct args *args, const petal_filter *a, const petal_filter *b)
{
    const char *name_a = args->operands[0], *name_b = args->operands[1];
    petal_comparison comparison = PETAL_COMPARISON_INIT;
    petal_error error;
    progress_begin("comparing with", args->operands[1]);
    petal_status status = petal_compare(a, b, &comparison, &error);
    progress_end();
    if (status == PETAL_ERR_MISMATCH)
        complain(name_b,
                 "cannot compare with %s (%s); make both with the same options, or with --template",
                 name_a, error.message);
    else if (status == PETAL_ERR_DAMAGED)
        complain_of(petal_last_error(a, NULL) == status ? name_a : name_b, &error);
    else if (status != PETAL_OK)
        complain(name_b, "cannot compare with %s: %s", name_a, error.message);
    else if (args->json)
        print_json(name_a, name_b, &comparison);
    else
        print_table(name_a, name_b, &comparison);
    return status == PETAL_OK ? STATUS_OK : STATUS_ERROR;
}

static int run(const struct args *args)
{
    int status = STATUS_ERROR;
    if (args->operand_count != 2) return misused("compare", "needs two filters, A and B");
    petal_filter *a = open_filter(args->operands[0], PETAL_OPEN_MAP, args);
    petal_filter *b = a ? open_filter(args->operands[1], PETAL_OPEN_MAP, args) : NULL;
    if (b) status = compare(args, a, b);
    petal_free(a);
    petal_free(b);
    return status;
}

static const struct option options[] = {OPTION_JSON, OPTION_NO_VERIFY,    OPTION_SECRET_FILE,
                                        OPTION_FROM, OPTION_MEMORY_LIMIT, END_OF_OPTIONS};

const struct command compare_command = {
    .name = "compare",
    .summary = "estimate how many keys two filters share",
    .usage = "A B [--json]",
    .about = "Estimates from the bits how many keys are in A, in B, in either and in both, and\n"
             "what shares these are, each with its 95 % interval. Only filters that were made\n"
             "with the same options can be compared.",
    .options = options,
    .example = "example: petal compare monday.petal tuesday.petal",
    .run = run,
};
