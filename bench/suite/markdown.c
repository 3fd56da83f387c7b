/* markdown.c - prints a run's results as the generated part of RESULTS.md. */
#include "report.h"

#include <math.h>

static void write_machine(const struct run *run, FILE *out)
{
    const struct machine *machine = &run->machine;
    fprintf(out, "| | |\n| --- | --- |\n| command | `%s` |\n| date | %s |\n", machine->command,
            machine->date);
    fprintf(out, "| machine | %s, %ld CPUs, %.1f GB; L1 %zu KiB, L2 %zu KiB, L3 %zu KiB |\n",
            machine->cpu, machine->cpus, (double)machine->memory_bytes / 1e9,
            machine->cache_bytes[0] / 1024, machine->cache_bytes[1] / 1024,
            machine->cache_bytes[2] / 1024);
    fprintf(
        out,
        "| system | %s; pages of %ld bytes, transparent huge ones: `%s`; load at the start %s |\n",
        machine->system, machine->page_bytes, machine->pages, machine->load);
    fprintf(out, "| compiler | `%s`; what is inlined by each, `-O3 -march=native` |\n",
            machine->compiler);
    for (const struct missing *missing = run->missing; missing->name; missing++)
        fprintf(out, "| without %s | %s |\n", missing->name, missing->why);
}

static void write_rates(const struct run *run, FILE *out)
{
    if (run->rate_count == 0) return;
    fprintf(
        out,
        "\n### Rate at equal bits per key\n\n%% of %zu absent keys (bits per key as made)\n\n| |",
        run->rates[0]->setting.absent);
    for (size_t i = 0; i < run->rate_count; i++)
        fprintf(out, " %g |", run->rates[i]->setting.bits_per_key);
    fprintf(out, "\n| --- |");
    for (size_t i = 0; i < run->rate_count; i++) fprintf(out, " --: |");
    for (size_t at = 0; at < run->rates[0]->count; at++) {
        if (run->rates[0]->results[at].contender->flags & FLOOR) continue;
        fprintf(out, "\n| %s |", run->rates[0]->results[at].contender->name);
        for (size_t i = 0; i < run->rate_count; i++)
            fprintf(out, " %.4f (%.2f) |", 100 * run->rates[i]->results[at].rate,
                    run->rates[i]->results[at].bits_per_key);
    }
    fprintf(out, "\n");
}

static void write_cell(const struct result *result, const struct result *base, enum phase phase,
                       FILE *out)
{
    if (result->rounds[phase] == 0) {
        fprintf(out, " |");
        return;
    }
    struct spread ns = spread_of(result, phase), ratio = {NAN, NAN, NAN};
    if (base) ratio = ratio_of(base, result, phase);
    fprintf(out, " %.2f", ns.median);
    if (!isnan(ratio.median))
        fprintf(out, "; **%.2fx** (%.2f..%.2f)", ratio.median, ratio.min, ratio.max);
    fprintf(out, " |");
}

static void write_outcome(const struct outcome *outcome, const char *base, FILE *out)
{
    const struct setting *setting = &outcome->setting;
    char keys[32];
    fprintf(
        out,
        "\n<details><summary>%s keys of %s, %g bits per key, %u rounds</summary>\n\n| | bits per key | rate %% |",
        power_text(setting->keys, keys), setting->addresses ? "28 bytes" : "8 bytes",
        setting->bits_per_key, setting->rounds);
    for (enum phase phase = ADD; phase < PHASES; phase++) fprintf(out, " %s |", phase_names[phase]);
    fprintf(out, "\n| --- | --: | --: | --: | --: | --: | --: | --: |\n");
    for (size_t i = 0; i < outcome->count; i++) {
        const struct result *result = &outcome->results[i];
        if (!result->present) continue;
        fprintf(out, "| %s | %.2f |", result->contender->name, result->bits_per_key);
        if (result->contender->flags & FLOOR)
            fprintf(out, " |");
        else
            fprintf(out, " %.4f |", 100 * result->rate);
        for (enum phase phase = ADD; phase < PHASES; phase++)
            write_cell(result, result_named(outcome, base), phase, out);
        fprintf(out, "\n");
    }
    fprintf(out, "\n</details>\n");
}

void write_markdown(const struct run *run, FILE *out)
{
    write_machine(run, out);
    fprintf(out, "\n");
    write_goals(run, out);
    write_rates(run, out);
    fprintf(
        out,
        "\n### Times\n\nns a key (median); **times as fast as %s** in the same round: median (least..most).\n",
        run->base);
    for (size_t i = 0; i < run->outcome_count; i++) write_outcome(run->outcomes[i], run->base, out);
}
