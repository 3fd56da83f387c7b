/* options.h - the options of a command line as one struct, and for each command a table of the
 * options that it accepts. */
#ifndef PETAL_CLI_OPTIONS_H
#define PETAL_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Zero and NULL mean "not given": no option accepts a count, size or rate of zero. */
struct args {
    const char *output, *file;                                    /* -o, -f */
    uint64_t capacity, memory_bytes, bits, hashes, lines_per_key; /* size */
    double rate;
    const char *scheme, *seed, *secret_file, *metadata; /* kind */
    const char *template_file;                          /* both size and kind */
    uint64_t shards;
    const char *shard;    /* the requested one */
    const char *key_type; /* keys */
    bool nul, crlf;
    const char *fields, *csv, *jsonl, *delimiter; /* rows */
    bool header, strict, decompress;
    bool no_lock, no_verify; /* files */
    uint64_t memory_limit, row_limit;
    uint64_t threads;
    uint64_t seconds; /* bench */
    char **literals;  /* -e, each */
    size_t literal_count;
    bool invert, count, quiet, line_numbers, explain, repeated; /* check and seen */
    bool list;                                                  /* which */
    bool of_keys, folds;                                        /* index */
    bool words, canonical, ignore_case;                         /* several keys per row */
    uint64_t ngrams, kmers;
    double share;                 /* --min */
    const char *present, *absent; /* verify */
    bool recover, show_metadata;
    const char *chart, *progress;
    const char *from, *to; /* other libraries' formats */
    bool grow;             /* layers */
    bool foldable;
    const char *window;
    uint64_t now;           /* ms */
    const char *time_field; /* where in a row the time is */
    const char *to_scheme;
    bool json, force, verbose, help;
    char **operands;
    size_t operand_count;
    size_t before_dashes; /* operands before --, or all of them if there is no -- */
};

enum option_kind {
    FLAG,   /* bool */
    TEXT,   /* const char *; if `value` reads NAME=a|b|c, it must be one of these, ignoring case */
    NAME,   /* const char *, a format's name, upper or lower case */
    COUNT,  /* uint64_t, parse_count() */
    SIZE,   /* uint64_t, parse_size() */
    LIMIT,  /* the same, or "none", which gives UINT64_MAX */
    RATE,   /* double, parse_rate() */
    SHARE,  /* double, parse_share() */
    TIME,   /* uint64_t, parse_time() */
    LITERAL /* appended to args.literals */
};

struct option {
    char letter;      /* or 0 */
    const char *name; /* NULL ends a table */
    enum option_kind kind;
    size_t at; /* offset in struct args */
    const char *value;
    const char *help;
};

struct command {
    const char *name;
    const char *summary; /* for `petal help` */
    const char *usage;   /* the text after the name; a newline continues it on a second line */
    const char *about;   /* one to three lines */
    const struct option *options;
    const char *example;
    int (*run)(const struct args *args); /* returns the exit status */
};

/* Rows that several commands share. */
#define AT(field) offsetof(struct args, field)
/* clang-format off */
#define OPTION_OUTPUT {'o', "output", TEXT, AT(output), "FILE", "the filter to write"}
#define OPTION_CAPACITY {'n', "capacity", COUNT, AT(capacity), "KEYS", "distinct keys to plan for: 58240, 10M, 1e9"}
#define OPTION_RATE {'p', "rate", RATE, AT(rate), "RATE", "false positives at -n keys: 0.01, 1%, 1:1000 [1%]"}
#define OPTION_MEMORY {0, "memory", SIZE, AT(memory_bytes), "SIZE", "at most this much memory: 64KiB, 2GiB"}
#define OPTION_GROW {0, "grow", FLAG, AT(grow), NULL, "grow beyond -n keys, and keep the rate"}
#define OPTION_FOLDABLE {0, "foldable", FLAG, AT(foldable), NULL, "choose a size that petal fold can reduce"}
#define OPTION_WINDOW {0, "window", TEXT, AT(window), "WINDOW", "remember the last 10M keys, or those of 7d, 12h"}
#define OPTION_NOW {0, "now", TIME, AT(now), "TIME", "clock of a window of time: 2024-01-31T12:00:00Z"}
#define OPTION_TIME {0, "time-field", TEXT, AT(time_field), "FIELD", "take the time from this field, not from the clock"}
#define OPTION_BITS {0, "bits", COUNT, AT(bits), "M", "exactly M bits, with --hashes"}
#define OPTION_HASHES {0, "hashes", COUNT, AT(hashes), "K", "bits set per key"}
#define OPTION_LINES {0, "lines-per-key", COUNT, AT(lines_per_key), "1|2", "cache lines per key, in blocked"}
#define OPTION_SCHEME {0, "scheme", TEXT, AT(scheme), "SCHEME=blocked|classic|counting|static", \
                       "blocked, classic, counting or static [blocked]"}
#define OPTION_SCHEME_OF_BITS {0, "scheme", TEXT, AT(scheme), "SCHEME=blocked|classic", "blocked or classic [blocked]"}
#define OPTION_SEED {0, "seed", TEXT, AT(seed), "N|random", "seed of the hash [0]"}
#define OPTION_SECRET_FILE {0, "secret-file", TEXT, AT(secret_file), "FILE", "secret of a keyed filter: 16 bytes or 32 hex digits"}
#define OPTION_METADATA {0, "metadata", TEXT, AT(metadata), "TEXT|@FILE", "store TEXT, or the contents of FILE, in the filter"}
#define OPTION_TEMPLATE {0, "template", TEXT, AT(template_file), "FILE", "make one like FILE, so that they can be merged"}
#define OPTION_FROM {0, "from", NAME, AT(from), "FORMAT", "what FILE is: guava, ... (see petal formats)"}
#define OPTION_TO {0, "to", NAME, AT(to), "FORMAT", "the kind of file to write"}
#define OPTION_TO_SIZE {0, "to", NAME, AT(to), "FORMAT", "make the filter that guava, spark, ... would make"}
#define OPTION_FORCE {0, "force", FLAG, AT(force), NULL, "replace an existing file, even another user's"}
#define OPTION_NO_LOCK {0, "no-lock", FLAG, AT(no_lock), NULL, "take no lock, for file systems that have none"}
#define OPTION_NO_VERIFY {0, "no-verify", FLAG, AT(no_verify), NULL, "do not compare FILE with its checksums"}
#define OPTION_MEMORY_LIMIT {0, "memory-limit", LIMIT, AT(memory_limit), "SIZE", \
                             "memory that opening FILE may take, or none"}
#define OPTION_ROW_LIMIT {0, "row-limit", LIMIT, AT(row_limit), "SIZE", "longer rows have no key; none: no limit [16MiB]"}
#define OPTION_JSON {0, "json", FLAG, AT(json), NULL, "one JSON object per line"}
#define OPTION_VERBOSE {0, "verbose", FLAG, AT(verbose), NULL, "say what was done, on stderr"}
#define OPTION_NULL {'0', "null", FLAG, AT(nul), NULL, "keys end with a NUL byte, not with a newline"}
#define OPTION_CRLF {0, "crlf", FLAG, AT(crlf), NULL, "lines end with CR LF"}
#define OPTION_KEY_TYPE {0, "key-type", TEXT, AT(key_type), "TYPE=text|utf16le|i32|i64|f64|hex|base64", \
                         "text, utf16le, i32, i64, f64, hex or base64 [text]"}
#define OPTION_KEY_TYPE_OR_ANY {0, "key-type", TEXT, AT(key_type), "TYPE=text|utf16le|i32|i64|f64|hex|base64|any", \
                                "text, utf16le, i32, i64, f64, hex, base64 or any [text]"}
#define OPTION_FIELDS {'k', "fields", TEXT, AT(fields), "N[,N...]", "the key is field N of a line"}
#define OPTION_DELIMITER {'t', "delimiter", TEXT, AT(delimiter), "C", "between fields: one character, \\t or TAB [blanks]"}
#define OPTION_CSV {0, "csv", TEXT, AT(csv), "COLUMN[,...]", "the key is a column of CSV, by name or number"}
#define OPTION_HEADER {0, "header", FLAG, AT(header), NULL, "CSV begins with a header; if a name is given it does"}
#define OPTION_JSONL {0, "jsonl", TEXT, AT(jsonl), "PATH[,...]", "the key is a value of a JSON line: .user.mail, .a[0]"}
#define OPTION_STRICT {0, "strict", FLAG, AT(strict), NULL, "stop at the first row that has no key"}
#define OPTION_DECOMPRESS {'z', "decompress", FLAG, AT(decompress), NULL, "unpack files of gzip and zstd"}
#define OPTION_PROGRESS {0, "progress", TEXT, AT(progress), "WHEN=auto|always|lines|never", \
                         "auto, always, lines or never [auto]"}
#define OPTION_THREADS {0, "threads", COUNT, AT(threads), "N", "work on N threads [one per CPU, up to 8]"}
#define OPTIONS_OF_SIZE OPTION_CAPACITY, OPTION_RATE, OPTION_MEMORY, OPTION_BITS, OPTION_HASHES, \
    OPTION_LINES, OPTION_SCHEME
#define OPTIONS_OF_HASH OPTION_SEED, OPTION_SECRET_FILE
#define OPTION_KEY {'e', "key", LITERAL, 0, "KEY", "take KEY; may be repeated"}
#define OPTIONS_OF_KEYS OPTION_FIELDS, OPTION_DELIMITER, OPTION_CSV, OPTION_HEADER, OPTION_JSONL, \
    OPTION_STRICT, OPTION_NULL, OPTION_CRLF, OPTION_ROW_LIMIT, OPTION_DECOMPRESS, OPTION_KEY_TYPE, \
    OPTION_PROGRESS
#define OPTION_WORDS {0, "words", FLAG, AT(words), NULL, "each word of a row is a key"}
#define OPTION_NGRAMS {0, "ngrams", COUNT, AT(ngrams), "N", "each N words in a row are a key, joined by a space"}
#define OPTION_KMERS {0, "kmers", COUNT, AT(kmers), "K", "each K characters in a row are a key"}
#define OPTION_CANONICAL {0, "canonical", FLAG, AT(canonical), NULL, "DNA: the first of a k-mer and its other strand"}
#define OPTION_IGNORE_CASE {'i', "ignore-case", FLAG, AT(ignore_case), NULL, "make A to Z lower case in keys"}
#define OPTION_MIN {0, "min", SHARE, AT(share), "SHARE", "the share of a row's keys that must be found [100%]"}
#define OPTIONS_OF_RULE OPTION_WORDS, OPTION_NGRAMS, OPTION_KMERS, OPTION_CANONICAL, \
    OPTION_IGNORE_CASE
/* Every table ends with these two rows: -h and the terminator. */
#define END_OF_OPTIONS {'h', "help", FLAG, AT(help), NULL, "this text"}, {0, NULL, FLAG, 0, NULL, NULL}
/* clang-format on */

/* Fills in *args from the words after the command's name. Options may be anywhere; "--" ends them.
 * Returns false after reporting an error. Reorders argv, into which *args points, except for
 * args->literals, which the caller must always free. */
bool parse_options(const struct command *command, int argc, char **argv, struct args *args);

/* Prints the command's help, at most 24 lines of 80 columns. The options for keys are only named,
 * not described. */
void print_help(const struct command *command, FILE *out);

/* Explains what keys are, and prints the options of all commands that read keys. */
void print_help_of_keys(FILE *out);

/* Explains several keys per row, and prints their options. */
void print_help_of_words(FILE *out);

/* Returns the word that `text` was probably meant to be, among word(0) to word(count - 1), or
 * NULL. */
const char *nearest(const char *text, const char *(*word)(const void *context, size_t i),
                    const void *context, size_t count);

/* Reports a usage error for `command`, and points to its help. Returns STATUS_ERROR. */
int misused(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
