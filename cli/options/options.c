/* options.c - see options.h. */
#include "options/options.h"

#include "options/times.h"
#include "output/numbers.h"
#include "output/report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int misused(const char *command, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    complain(command, "%s; see petal help %s", message, command);
    return STATUS_ERROR;
}

/* ---- did you mean ---------------------------------------------------------------------------- */

enum { LONGEST_WORD = 32, FARTHEST = 2 };

static unsigned min_of(unsigned a, unsigned b, unsigned c)
{
    unsigned min = a < b ? a : b;
    return min < c ? min : c;
}

/* Returns the Levenshtein distance between two short words. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[LONGEST_WORD + 1];
    size_t width = strlen(b);
    if (strlen(a) > LONGEST_WORD || width > LONGEST_WORD) return FARTHEST + 1;
    for (unsigned j = 0; j <= width; j++) row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < width; j++) {
            unsigned above = row[j + 1];
            row[j + 1] = min_of(above + 1, row[j] + 1, diagonal + (a[i] != b[j]));
            diagonal = above;
        }
    }
    return row[width];
}

const char *nearest(const char *text, const char *(*word)(const void *context, size_t i),
                    const void *context, size_t count)
{
    const char *best = NULL;
    unsigned shortest = FARTHEST + 1;
    for (size_t i = 0; i < count; i++) {
        unsigned far = distance(text, word(context, i));
        bool nearer = far < shortest ||
                      (best && far == shortest && *best != *text && *word(context, i) == *text);
        if (nearer && far < strlen(word(context, i))) {
            shortest = far;
            best = word(context, i);
        }
    }
    return best;
}

/* ---- parsing --------------------------------------------------------------------------------- */

/* The parser's position. */
struct walk {
    const struct command *command;
    char **argv;
    int argc, next;
    struct args *args;
};

static const char *option_name(const void *context, size_t i)
{
    return ((const struct option *)context)[i].name;
}

static size_t option_count(const struct option *options)
{
    size_t count = 0;
    while (options[count].name) count++;
    return count;
}

static const struct option *by_letter(const struct command *command, char letter)
{
    for (const struct option *o = command->options; o->name; o++)
        if (o->letter == letter) return o;
    return NULL;
}

static const struct option *by_name(const struct command *command, const char *name, size_t length)
{
    for (const struct option *o = command->options; o->name; o++)
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0) return o;
    return NULL;
}

/* True if `value` is one of the words in "a|b|c". */
static bool is_choice(const char *choices, const char *value)
{
    size_t length = strlen(value);
    for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, value, length) == 0 && (at[length] == '|' || at[length] == '\0'))
            return true;
    return false;
}

/* The "a|b|c" in "NAME=a|b|c", or NULL. */
static const char *choices_of(const struct option *option)
{
    const char *equals = strchr(option->value, '=');
    return equals ? equals + 1 : NULL;
}

/* The length of its "NAME". */
static int value_width(const struct option *option)
{
    return (int)strcspn(option->value, "=");
}

/* In "parquet:COLUMN" only the part before the colon is our name. */
static void to_lower_case(char *name)
{
    for (; *name && *name != ':'; name++)
        if (*name >= 'A' && *name <= 'Z') *name += 'a' - 'A';
}

static bool set_text(const struct option *option, const char *shown, char *value,
                     const char **field)
{
    const char *choices = choices_of(option);
    if (choices || option->kind == NAME) to_lower_case(value);
    if (choices && !is_choice(choices, value))
        return complain(shown, "unknown value '%s'; choose one of %s", value, choices);
    *field = value;
    return true;
}

/* `shown` is the option as typed, for messages. */
static bool set_option(const struct option *option, const char *shown, char *value,
                       struct args *args)
{
    void *field = (char *)args + option->at;
    struct why why;
    bool good = true;
    switch (option->kind) {
    case FLAG: *(bool *)field = true; return true;
    case TEXT:
    case NAME: return set_text(option, shown, value, field);
    case LITERAL: args->literals[args->literal_count++] = value; return true;
    case COUNT: good = parse_count(value, field, &why); break;
    case SIZE: good = parse_size(value, field, &why); break;
    case LIMIT:
        if (strcmp(value, "none") == 0)
            *(uint64_t *)field = UINT64_MAX;
        else
            good = parse_size(value, field, &why);
        break;
    case TIME: good = parse_time(value, field, &why); break;
    case RATE: good = parse_rate(value, field, &why); break;
    case SHARE: good = parse_share(value, field, &why); break;
    }
    char what[128];
    snprintf(what, sizeof what, "%s %.80s", shown, value);
    return good || complain(what, "%s", why.text);
}

/* `attached` is the value joined to the option, or NULL. */
static bool take_option(struct walk *walk, const struct option *option, const char *shown,
                        char *attached)
{
    if (option->kind == FLAG) {
        if (attached) return misused(walk->command->name, "%s takes no value", shown) == STATUS_OK;
        return set_option(option, shown, NULL, walk->args);
    }
    if (!attached && walk->next == walk->argc)
        return misused(walk->command->name, "%s needs %.*s", shown, value_width(option),
                       option->value) == STATUS_OK;
    return set_option(option, shown, attached ? attached : walk->argv[walk->next++], walk->args);
}

/* Commands that print keys have no JSON output; --json may have been meant for keys from JSON. */
static bool refuse_json(const struct command *command)
{
    const char *what = by_name(command, "jsonl", 5)
                           ? "if keys are in lines of JSON, pass --jsonl PATH"
                           : "petal info --json describes a filter";
    return misused(command->name, "no option --json; %s", what) == STATUS_OK;
}

/* --name, --name=value or --name value */
static bool take_long(struct walk *walk, char *word)
{
    char shown[64];
    char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    snprintf(shown, sizeof shown, "%.*s",
             length < sizeof shown ? (int)length : (int)sizeof shown - 1, word);
    const struct option *option = by_name(walk->command, word + 2, length - 2);
    if (option) return take_option(walk, option, shown, equals ? equals + 1 : NULL);
    const char *command = walk->command->name;
    const struct option *options = walk->command->options;
    if (strcmp(shown, "--json") == 0) return refuse_json(walk->command);
    const char *guess = nearest(shown + 2, option_name, options, option_count(options));
    if (guess)
        return complain(command, "no option %s, did you mean --%s? See petal help %s", shown, guess,
                        command);
    return misused(walk->command->name, "no option %s", shown) == STATUS_OK;
}

/* -v, -vc, -n10M or -n 10M */
static bool take_short(struct walk *walk, char *letters)
{
    for (; *letters; letters++) {
        char shown[] = {'-', *letters, '\0'};
        const struct option *option = by_letter(walk->command, *letters);
        if (!option) return misused(walk->command->name, "no option %s", shown) == STATUS_OK;
        bool takes_value = option->kind != FLAG;
        char *attached = takes_value && letters[1] ? letters + 1 : NULL;
        if (!take_option(walk, option, shown, attached)) return false;
        if (takes_value) break;
    }
    return true;
}

bool parse_options(const struct command *command, int argc, char **argv, struct args *args)
{
    struct walk walk = {command, argv, argc, 0, args};
    bool ended = false;
    *args = (struct args){.operands = argv};
    args->literals = calloc((size_t)argc + 1, sizeof *args->literals);
    if (!args->literals) return complain(NULL, "out of memory");
    while (walk.next < argc) {
        char *word = argv[walk.next++];
        if (ended || word[0] != '-' || word[1] == '\0')
            args->operands[args->operand_count++] =
                word; /* never beyond the words that are still to be read */
        else if (strcmp(word, "--") == 0) {
            ended = true;
            args->before_dashes = args->operand_count;
        } else if (!(word[1] == '-' ? take_long(&walk, word) : take_short(&walk, word + 1)))
            return false;
    }
    if (!ended) args->before_dashes = args->operand_count;
    return true;
}

/* ---- help ------------------------------------------------------------------------------------ */

enum { HELP_COLUMN = 28 };

static void print_option(const struct option *option, FILE *out)
{
    char left[80], letter[8] = "    ";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "  %s--%s %.*s", letter, option->name,
             option->value ? value_width(option) : 0, option->value ? option->value : "");
    fprintf(out, "%-*s%s\n", HELP_COLUMN, left, option->help);
}

/* These are too many to list in each command's help. */
static const struct option key_options[] = {OPTION_KEY, OPTIONS_OF_KEYS, OPTION_THREADS,
                                            END_OF_OPTIONS},
                           rule_options[] = {OPTIONS_OF_RULE, OPTION_MIN, END_OF_OPTIONS};

/* `petal which` has a different --min. */
static bool is_one_of(const struct option *option, const struct option *group)
{
    while (group->at != AT(help) && (strcmp(group->name, option->name) != 0 ||
                                     (group->at == AT(share) && group->help != option->help)))
        group++;
    return group->at != AT(help);
}

static bool is_only_named(const struct option *option)
{
    return is_one_of(option, key_options) || is_one_of(option, rule_options);
}

/* In one or two lines. */
static void name_options(const struct option *options, const struct option *group,
                         const char *topic, FILE *out)
{
    size_t column = 0;
    for (const struct option *o = options; o->name; o++) {
        if (!is_one_of(o, group)) continue;
        size_t width = strlen(o->name) + 3;
        bool begins = column == 0 || column + width > 76;
        fprintf(out, "%s%s--%s", begins && column ? "\n" : "", begins ? "  " : " ", o->name);
        column = begins ? width : column + width;
    }
    if (column) fprintf(out, ": see petal help %s\n", topic);
}

void print_help_of_keys(FILE *out)
{
    fputs("Keys are the lines of KEYS (files; - or none: standard input), and each -e KEY.\n"
          "With -k, --csv or --jsonl, the key is part of a row, and whole rows are printed.\n"
          "Several fields are joined by the byte 0x1F. Rows without a key are counted on\n"
          "stderr. Keys are text unless --key-type or the filter file says otherwise: in\n"
          "JSON, 1 and \"1\" are one key, and 1.0 and 1e0 are two others. If a row has\n"
          "several keys, see petal help words.\n\n",
          out);
    for (const struct option *o = key_options; o->at != AT(help); o++) print_option(o, out);
    fputs("example: petal check users.petal --csv email -z new.csv.gz > known.csv\n", out);
}

void print_help_of_words(FILE *out)
{
    fputs("With one of these, a row (or its field) has several keys. build and add use all.\n"
          "check prints, and seen drops, a row if --min of its keys are found; each counts\n"
          "as often as it occurs. seen remembers the keys of the rows that it prints. which\n"
          "prints a row and the filters with all of its keys; -c and --min count keys.\n\n"
          "A word is a longest run of A-Z, a-z, 0-9, _ and bytes from 0x80 on. Characters\n"
          "are UTF-8; a byte that is not part of a valid one also counts as a character.\n"
          "With --canonical, only k-mers of A, C, G and T in either case are keys, in upper\n"
          "case. A row without keys is passed on by seen, and is not found by check.\n\n",
          out);
    for (const struct option *o = rule_options; o->at != AT(help); o++) print_option(o, out);
    fputs("\nexample: petal build --words -i -o app.petal app.log\n"
          "         petal check --words -i --min 80% app.petal -e 'Timeout of req-9f3c'\n",
          out);
}

static unsigned count_lines(const char *text)
{
    unsigned lines = 1;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

void print_help(const struct command *command, FILE *out)
{
    enum { SCREEN = 24 };
    unsigned rows = 0;
    const struct option *end = command->options;
    bool has_keys = false, has_rule = false;
    for (; end->at != AT(help); end++) {
        rows += !is_only_named(end);
        has_keys = has_keys || is_one_of(end, key_options);
        has_rule = has_rule || is_one_of(end, rule_options);
    }
    unsigned lines = count_lines(command->usage) + count_lines(command->about) + rows +
                     2 * has_keys + has_rule + count_lines(command->example);
    fprintf(out, "usage: petal %s %s\n%s\n%s", command->name, command->usage, command->about,
            lines < SCREEN ? "\n" : "");
    for (const struct option *o = command->options; o < end; o++)
        if (!is_only_named(o)) print_option(o, out);
    name_options(command->options, key_options, "keys", out);
    name_options(command->options, rule_options, "words", out);
    fprintf(out, "%s%s\n", lines + 1 < SCREEN ? "\n" : "", command->example);
}
