/* json.c - prints all measurements as JSON, including each round, for scripts. */
#include "report.h"

static void write_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', out);
        if ((unsigned char)*text >= ' ') fputc(*text, out);
    }
    fputc('"', out);
}

static void write_member(const char *name, const char *text, FILE *out)
{
    fprintf(out, "    \"%s\": ", name);
    write_text(text, out);
    fprintf(out, ",\n");
}

static void write_machine(const struct machine *machine, FILE *out)
{
    fprintf(out, "  \"machine\": {\n");
    write_member("command", machine->command, out);
    write_member("date", machine->date, out);
    write_member("cpu", machine->cpu, out);
    write_member("system", machine->system, out);
    write_member("compiler", machine->compiler, out);
    write_member("transparent_huge_pages", machine->pages, out);
    write_member("load", machine->load, out);
    fprintf(
        out,
        "    \"cpus\": %ld, \"page_bytes\": %ld, \"memory_bytes\": %zu, \"cache_bytes\": [%zu, %zu, %zu]\n  },\n",
        machine->cpus, machine->page_bytes, machine->memory_bytes, machine->cache_bytes[0],
        machine->cache_bytes[1], machine->cache_bytes[2]);
}

static void write_missing(const struct missing *missing, FILE *out)
{
    fprintf(out, "  \"missing\": {");
    for (const char *comma = ""; missing->name; missing++, comma = ", ") {
        fprintf(out, "%s\"%s\": ", comma, missing->name);
        write_text(missing->why, out);
    }
    fprintf(out, "},\n");
}

static void write_phase(const struct result *result, enum phase phase, FILE *out)
{
    struct spread ns = spread_of(result, phase);
    fprintf(
        out,
        ",\n          \"%s\": {\"least\": %.3f, \"median\": %.3f, \"most\": %.3f, \"rounds\": [",
        phase_names[phase], ns.min, ns.median, ns.max);
    for (unsigned i = 0; i < result->rounds[phase]; i++)
        fprintf(out, "%s%.3f", i ? ", " : "", result->ns[phase][i]);
    fprintf(out, "]}");
}

static void write_result(const struct result *result, FILE *out)
{
    fprintf(out, "        {\"name\": \"%s\", \"bits_per_key\": %.4f", result->contender->name,
            result->bits_per_key);
    if (result->absent > 0)
        fprintf(out, ", \"rate\": %.8f, \"absent_keys\": %zu", result->rate, result->absent);
    for (enum phase phase = ADD; phase < PHASES; phase++)
        if (result->rounds[phase] > 0) write_phase(result, phase, out);
    fprintf(out, "}");
}

static void write_outcomes(const char *name, struct outcome *const *outcomes, size_t count,
                           FILE *out)
{
    fprintf(out, "  \"%s\": [", name);
    for (size_t i = 0; i < count; i++) {
        const struct setting *setting = &outcomes[i]->setting;
        const char *comma = "";
        fprintf(
            out,
            "%s\n    {\"keys\": %zu, \"key_bytes\": %d, \"bits_per_key\": %g, \"ns_per_key\": [\n",
            i ? "," : "", setting->keys, setting->addresses ? 28 : 8, setting->bits_per_key);
        for (size_t at = 0; at < outcomes[i]->count; at++) {
            if (!outcomes[i]->results[at].present) continue;
            fprintf(out, "%s", comma);
            write_result(&outcomes[i]->results[at], out);
            comma = ",\n";
        }
        fprintf(out, "\n      ]}");
    }
    fprintf(out, "\n  ]");
}

void write_json(const struct run *run, FILE *out)
{
    fprintf(out, "{\n");
    write_machine(&run->machine, out);
    write_missing(run->missing, out);
    write_outcomes("outcomes", run->outcomes, run->outcome_count, out);
    fprintf(out, ",\n");
    write_outcomes("rates", run->rates, run->rate_count, out);
    fprintf(out, "\n}\n");
}
