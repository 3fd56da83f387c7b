/* cmd_formats.c - petal formats: lists the formats of other libraries that this build reads and
 * writes. */
#include "commands/commands.h"
#include "output/json.h"
#include "output/report.h"
#include "output/terminal.h"

#include <petal/petal.h>
#include <stdio.h>
#include <string.h>

static const char *const abilities[] = {PETAL_FORMAT_ABILITY_NAMES};

enum { ABILITIES = sizeof abilities / sizeof abilities[0] };

static void print_row(const petal_format_info *format)
{
    printf("%-21s", format->name);
    for (size_t i = 0; i < ABILITIES; i++)
        printf("%-*s ", (int)strlen(abilities[i]), format->abilities >> i & 1 ? "yes" : "-");
    printf("%s\n", format->keys);
}

static void print_table(void)
{
    petal_format_info format = PETAL_FORMAT_INFO_INIT;
    printf("%s%-22s", bold(stdout), "format");
    for (size_t i = 0; i < ABILITIES; i++) printf("%s ", abilities[i]);
    printf("keys%s\n", plain(stdout));
    for (uint32_t i = 0; petal_format_at(i, &format); i++) print_row(&format);
}

static void print_json(void)
{
    petal_format_info format = PETAL_FORMAT_INFO_INIT;
    for (uint32_t i = 0; petal_format_at(i, &format); i++) {
        struct json json;
        json_begin(&json, stdout);
        json_text(&json, "format", format.name);
        for (size_t j = 0; j < ABILITIES; j++)
            json_bool(&json, abilities[j], format.abilities >> j & 1);
        json_text(&json, "keys", format.keys);
        json_end(&json);
    }
}

static int run(const struct args *args)
{
    if (args->operand_count > 0) return misused("formats", "it takes no file; try petal info FILE");
    if (args->json)
        print_json();
    else
        print_table();
    return STATUS_OK;
}

static const struct option options[] = {OPTION_JSON, END_OF_OPTIONS};

const struct command formats_command = {
    .name = "formats",
    .summary = "list the kinds of files that can be read and written",
    .usage = "[--json]",
    .about = "Lists the formats of --from and --to, with what can be done with them\n"
             "(create: a new filter as its library sizes it; map: read in place; packed:\n"
             "unpacked into memory), and how their libraries turn keys into bytes.",
    .options = options,
    .example = "example: petal formats",
    .run = run,
};
