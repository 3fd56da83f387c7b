/* cmd_plan.c - petal plan: computes the size and the false-positive rate of a filter without
 * creating it. */
#include "commands/chart.h"
#include "commands/commands.h"
#include "files/formats.h"
#include "files/paths.h"
#include "files/request.h"
#include "output/json.h"
#include "output/numbers.h"
#include "output/report.h"
#include "output/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Schemes in the order of the printed table; the first one is the default. Counting filters are
 * listed only on request. Static filters need a false-positive rate, so they are listed only if a
 * rate is given. */
static const char *const scheme_names[] = {"blocked", "classic", "static", "counting"};

enum { SCHEMES = sizeof scheme_names / sizeof scheme_names[0], ALIKE = 2, STATIC = 2 };

struct plans {
    const struct args *args;
    size_t count;
    petal_info made[SCHEMES]; /* only schemes that can satisfy the request */
    bool same_capacity;       /* otherwise they have equal sizes and different capacities */
};

/* ---- planning -------------------------------------------------------------------------------- */

static bool plan_scheme(const char *scheme, const struct args *args, petal_info *plan,
                        petal_error *error)
{
    struct args one = *args;
    struct request request;
    one.scheme = scheme;
    error->message[0] = '\0';
    *plan = PETAL_INFO_INIT;
    bool good = request_read(&request, "plan", &one, 0, false) &&
                petal_plan(&request.options, plan, NULL, error) == PETAL_OK;
    request_free(&request);
    return good;
}

/* True if the failure is specific to the scheme. Such a scheme is omitted with a remark; the
 * command fails only if no scheme remains. */
static bool is_of_the_scheme(petal_status status)
{
    return status == PETAL_ERR_UNREACHABLE || status == PETAL_ERR_ARGUMENT;
}

static bool is_shown(const struct args *args, size_t scheme)
{
    bool is_for_rate = args->capacity && !args->memory_bytes && !args->bits && !args->hashes &&
                       !args->lines_per_key && is_petal(args->to);
    if (args->scheme) return strcmp(args->scheme, scheme_names[scheme]) == 0;
    return scheme < ALIKE || (scheme == STATIC && is_for_rate && !args->chart);
}

/* Reports one reason for all schemes: the default scheme's reason if the options contradict each
 * other. */
static bool refuse_all(const petal_error *errors, size_t count)
{
    const petal_error *why = &errors[0];
    for (size_t i = 1; i < count && why->status == PETAL_ERR_UNREACHABLE; i++) why = &errors[i];
    return complain(NULL, "%s", why->message);
}

static bool plan_all(struct plans *plans)
{
    const struct args *args = plans->args;
    petal_error errors[SCHEMES];
    size_t failed = 0;
    for (size_t i = 0; i < SCHEMES; i++) {
        petal_error *error = &errors[failed];
        if (!is_shown(args, i)) continue;
        if (plan_scheme(scheme_names[i], args, &plans->made[plans->count], error)) {
            plans->count++;
            continue;
        }
        if (!error->message[0]) return false; /* a usage error has already been reported */
        if (i == STATIC && !args->scheme && is_of_the_scheme(error->status))
            continue; /* not requested */
        if (!is_of_the_scheme(error->status)) return complain(NULL, "%s", error->message);
        failed++;
    }
    if (plans->count == 0) return refuse_all(errors, failed);
    for (size_t i = 0; i < failed; i++) remark(NULL, "%s", errors[i].message);
    return true;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_header(const char *last)
{
    printf("%sscheme        memory   bits/key    k%*s   cache lines per lookup%s\n", bold(stdout),
           (int)strlen(last) + 3, last, plain(stdout));
}

/* The maximum number of cache lines that a query reads: one for the key's code, and those of two
 * neighbouring blocks with 8 bytes per column. */
static uint32_t static_lines(uint32_t columns)
{
    return 1 + (64 - 8 + 16 * columns + 63) / 64;
}

static void print_row(const struct plans *plans, const petal_info *plan, int width)
{
    char lines[24];
    if (plan->scheme == PETAL_SCHEME_STATIC)
        snprintf(lines, sizeof lines, "up to %" PRIu32, static_lines(plan->hashes));
    else if (plan->lines_per_key)
        snprintf(lines, sizeof lines, "%" PRIu32, plan->lines_per_key);
    else
        snprintf(lines, sizeof lines, "up to %" PRIu32, plan->hashes);
    double bits = (double)plan->bits * (plan->counter_bits ? plan->counter_bits : 1);
    struct text last =
        plans->same_capacity ? rate_text(plan->predicted_rate, 2) : rounded((double)plan->capacity);
    bool is_default = strcmp(plan->scheme_name, scheme_names[0]) == 0;
    printf("%-8s%12s %10s%5" PRIu32 "%*s   %-*s%s\n", plan->scheme_name,
           size_text(plan->bytes, 4).s, significant(bits / (double)plan->capacity, 3).s,
           plan->hashes, width, last.s, is_default ? 11 : 0, lines, is_default ? "default" : "");
}

static void print_table(const struct plans *plans)
{
    char last[64];
    const petal_info *first = &plans->made[0];
    if (plans->same_capacity)
        snprintf(last, sizeof last, "rate at %s", compact(first->capacity).s);
    else
        snprintf(last, sizeof last, "keys at %s", asked_rate(first->target_rate).s);
    print_header(last);
    for (size_t i = 0; i < plans->count; i++)
        print_row(plans, &plans->made[i], (int)strlen(last) + 3);
    double set_bytes = (double)first->capacity * 8 / 0.875;
    printf("for comparison, a set of 64-bit hashes, 7/8 full: %s\n",
           size_text(set_bytes < 1.8e19 ? (uint64_t)set_bytes : UINT64_MAX, 3).s);
}

static void print_overfilled(const petal_info *plan)
{
    static const double times[] = {1.25, 1.5, 2, 3};
    if (plan->capacity > UINT64_MAX / 4 || plan->scheme == PETAL_SCHEME_STATIC) return;
    printf("%s with more keys than planned:", plan->scheme_name);
    uint64_t shown = plan->capacity;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        uint64_t keys = (uint64_t)ceil(times[i] * (double)plan->capacity);
        if (keys == shown) continue; /* rounded up, so with few keys two multiples can be equal */
        shown = keys;
        printf("   %s %s", rounded((double)keys).s, rate_text(petal_predict_rate(plan, keys), 2).s);
    }
    putchar('\n');
}

/* Formats a rate exactly, so that users can pass it back as an option. */
static struct text typed_rate(double rate)
{
    struct text out;
    double percent = rate * 100;
    snprintf(out.s, sizeof out.s, rate < 1e-4 ? "%.15g" : "%.10g%%", rate < 1e-4 ? rate : percent);
    return out;
}

static void print_next(const struct args *args, const petal_info *plan)
{
    bool is_static = plan->scheme == PETAL_SCHEME_STATIC;
    if (is_static)
        printf("next: petal build -o FILE");
    else
        printf("next: petal build -o FILE -n %s", compact(plan->capacity).s);
    if (args->bits)
        printf(" --bits %" PRIu64 " --hashes %" PRIu32, plan->bits, plan->hashes);
    else if (args->memory_bytes && args->capacity)
        printf(" --memory %" PRIu64, args->memory_bytes);
    else
        printf(" -p %s", typed_rate(plan->target_rate).s);
    printf("%s%s KEYS\n", args->scheme ? " --scheme " : "", args->scheme ? args->scheme : "");
}

/* ---- for machines ---------------------------------------------------------------------------- */

static void print_json(const petal_info *plan)
{
    struct json json;
    json_begin(&json, stdout);
    json_text(&json, "format", plan->format_name);
    json_text(&json, "scheme", plan->scheme_name);
    json_text(&json, "hash", plan->hash_name);
    json_count(&json, "capacity", plan->capacity);
    json_number(&json, "target_rate", plan->target_rate);
    json_count(&json, "bits", plan->bits);
    json_count(&json, "hashes", plan->hashes);
    if (plan->lines_per_key)
        json_count(&json, "lines_per_key", plan->lines_per_key);
    else
        json_null(&json, "lines_per_key");
    if (plan->counter_bits)
        json_count(&json, "counter_bits", plan->counter_bits);
    else
        json_null(&json, "counter_bits");
    json_count(&json, "bytes", plan->bytes);
    json_number(&json, "predicted_rate", plan->predicted_rate);
    json_end(&json);
}

/* ---- command --------------------------------------------------------------------------------- */

static void print_plans(const struct plans *plans)
{
    for (size_t i = 0; i < plans->count && plans->args->json; i++) print_json(&plans->made[i]);
    if (plans->args->json) return;
    print_table(plans);
    print_overfilled(&plans->made[0]);
    if (is_terminal(stdout)) print_next(plans->args, &plans->made[0]);
}

static int run(const struct args *args)
{
    struct plans plans = {.args = args};
    if (args->operand_count)
        return misused("plan", "takes no keys (%s); petal build counts and plans at once",
                       args->operands[0]);
    if (args->bits && !args->capacity)
        return misused("plan", "how many keys? give -n KEYS too: the rate depends on it");
    if (args->chart && args->scheme && strcmp(args->scheme, scheme_names[STATIC]) == 0)
        return misused("plan",
                       "a static filter never has more keys than planned; leave out --chart");
    if (args->chart && !may_write(args->chart, args->force)) return STATUS_ERROR;
    if (!plan_all(&plans)) return STATUS_ERROR;
    plans.same_capacity = args->capacity != 0;
    print_plans(&plans);
    if (args->chart && !save_chart(args->chart, plans.made, plans.count, args->force))
        return STATUS_ERROR;
    return STATUS_OK;
}

static const struct option options[] = {
    OPTIONS_OF_SIZE,
    OPTION_JSON,
    {0, "chart", TEXT, AT(chart), "OUT.svg", "draw rate against keys, one line per scheme"},
    {0, "force", FLAG, AT(force), NULL, "replace OUT.svg"},
    END_OF_OPTIONS,
};

const struct command plan_command = {
    .name = "plan",
    .summary = "size a filter: memory, bits per key, rate",
    .usage = "-n KEYS [-p RATE | --memory SIZE] [--json] [--chart OUT.svg]",
    .about = "Shows what a filter for KEYS keys needs in each scheme. Two of -n, -p and\n"
             "--memory give the third; -p alone is 1 %.",
    .options = options,
    .example = "example: petal plan -n 100M -p 1%",
    .run = run,
};
