/* table.c - prints the outcome as text: the median ns per key, the ratio to the base contender's
 * time in the same round, and the spread of the rounds. Bits per key and the rate are on the same
 * line, since being faster at a higher rate is not a win. */
#include "report.h"

#include <math.h>
#include <string.h>

static void print_cache(const struct machine *machine, FILE *out)
{
    fprintf(out, "caches:    L1 %zu KiB, L2 %zu KiB, L3 %zu KiB; memory %.1f GB\n",
            machine->cache_bytes[0] / 1024, machine->cache_bytes[1] / 1024,
            machine->cache_bytes[2] / 1024, (double)machine->memory_bytes / 1e9);
}

void print_head(const struct run *run, FILE *out)
{
    const struct machine *machine = &run->machine;
    fprintf(out, "command:   %s\ndate:      %s\n", machine->command, machine->date);
    fprintf(out, "machine:   %s, %ld CPUs, %s, load %s\n", machine->cpu, machine->cpus,
            machine->system, machine->load);
    print_cache(machine, out);
    fprintf(out, "pages:     %ld bytes; transparent huge ones: %s\n", machine->page_bytes,
            machine->pages);
    fprintf(out, "compiler:  %s\n", machine->compiler);
    for (const struct missing *missing = run->missing; missing->name; missing++)
        fprintf(out, "without:   %s: %s\n", missing->name, missing->why);
    fprintf(
        out,
        "\nns: the median of the rounds. x: how many times as fast as %s in the same round: the median (least..most).\n",
        run->base);
    fflush(out);
}

static void print_cell(const struct result *result, const struct result *base, enum phase phase,
                       FILE *out)
{
    if (result->rounds[phase] == 0) {
        fprintf(out, "  %8s %20s", "-", "");
        return;
    }
    struct spread ns = spread_of(result, phase), ratio = {NAN, NAN, NAN};
    char text[64] = "";
    if (base) ratio = ratio_of(base, result, phase);
    if (!isnan(ratio.median))
        snprintf(text, sizeof text, "%.2fx (%.2f..%.2f)", ratio.median, ratio.min, ratio.max);
    fprintf(out, "  %8.2f %20s", ns.median, text);
}

static void print_row(const struct result *result, const struct result *base, FILE *out)
{
    fprintf(out, "  %-21s %6.2f ", result->contender->name, result->bits_per_key);
    if (result->contender->flags & FLOOR)
        fprintf(out, "%9s", "");
    else
        fprintf(out, "%8.4f%%", 100 * result->rate);
    for (enum phase phase = ADD; phase < PHASES; phase++) print_cell(result, base, phase, out);
    fprintf(out, "\n");
}

void print_outcome(const struct outcome *outcome, const char *base, FILE *out)
{
    const struct setting *setting = &outcome->setting;
    char keys[32];
    fprintf(out, "\n%s keys of %s, %g bits per key, %u rounds\n  %-21s %6s %9s",
            power_text(setting->keys, keys), setting->addresses ? "28 bytes" : "8 bytes",
            setting->bits_per_key, setting->rounds, "", "bits/k", "rate");
    for (enum phase phase = ADD; phase < PHASES; phase++)
        fprintf(out, "  %5s ns %20s", phase_names[phase], "x");
    fprintf(out, "\n");
    for (size_t i = 0; i < outcome->count; i++) {
        const struct result *result = &outcome->results[i];
        if (result->present)
            print_row(result, result_named(outcome, base), out);
        else
            fprintf(out, "  %-21s not for this size or these keys\n", result->contender->name);
    }
    fflush(out);
}

void print_rates(const struct run *run, FILE *out)
{
    if (run->rate_count == 0) return;
    char keys[32];
    const struct setting *setting = &run->rates[0]->setting;
    fprintf(out,
            "\nrate in %% (bits per key) of %s keys of 8 bytes, asked for %zu absent ones\n  %-21s",
            power_text(setting->keys, keys), setting->absent, "");
    for (size_t i = 0; i < run->rate_count; i++)
        fprintf(out, "  %11g bits", run->rates[i]->setting.bits_per_key);
    fprintf(out, "\n");
    for (size_t at = 0; at < run->rates[0]->count; at++) {
        if (run->rates[0]->results[at].contender->flags & FLOOR) continue;
        fprintf(out, "  %-21s", run->rates[0]->results[at].contender->name);
        for (size_t i = 0; i < run->rate_count; i++)
            fprintf(out, "  %8.4f (%5.2f)", 100 * run->rates[i]->results[at].rate,
                    run->rates[i]->results[at].bits_per_key);
        fprintf(out, "\n");
    }
    fflush(out);
}
