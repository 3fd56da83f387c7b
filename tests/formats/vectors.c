/* vectors.c - tests real files from other libraries, which are listed in
 * vectors/<format>/vectors.txt. Each file must open, answer every listed query as the original
 * library does, be rebuilt byte for byte from its keys, and survive a round trip through a petal
 * file. Every damaged version of the file must be refused without doing harm.
 *
 *     vectors [FORMAT...]      FORMAT: a format that this build lacks; its files must be refused
 *
 * To test a read-only library, this file is compiled with PETAL_READ_ONLY. A read-only library
 * can't create filters, so no file is rebuilt.
 *
 * Syntax of vectors.txt: one command per line, with words separated by single spaces.
 *     format NAME                                 sets the format of the files that follow
 *     file NAME                                   starts a file in the same folder
 *     plan KEYS RATE | size BITS HASHES [SEED]    creates an equal empty filter
 *     add HEX | adds TEXT FROM TO                 adds keys in this order; "-" is the empty key or
 *                                                 the empty text
 *     rebuild                                     the created filter with the added keys must be
 *                                                 written as exactly the file's bytes
 *     in HEX | out HEX | ins TEXT FROM TO | outs TEXT FROM TO
 *                                                 the original library's answers for these keys
 *     loose SIZE                                  truncated to SIZE bytes or more, or extended, the
 *                                                 file is another valid file of the format
 *     packed                                      the file was compressed by another program, so
 *                                                 only its uncompressed bytes are compared */
#include "../keys.h"
#include "../require.h"
#include "../save_as.h"

#include <petal/petal.h>

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER "vectors"

/* The file under test. */
static struct {
    char format[64], path[512], where[640]; /* where: "vectors.txt:12", used in messages */
    uint8_t *bytes;
    size_t size;
    petal_filter *read, *made; /* the file's filter, and the filter created by `plan` or `size` */
    int answers, rebuilt;
    size_t loose; /* 0 if the file has no `loose` line */
    bool packed;
} now;

static int files_done, answers_done, rebuilt_done, refused;
static char **left_out; /* formats that this build lacks, terminated by NULL */

static void check(bool holds, const char *what)
{
    if (!holds) fail_msg("%s: %s: %s", now.where, now.path, what);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static size_t key_of_hex(const char *hex, uint8_t *key)
{
    size_t size = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) sscanf(hex + 2 * i, "%2hhx", &key[i]);
    return size;
}

static void take_key(const char *verb, const void *key, size_t size)
{
    char text[128];
    if (strncmp(verb, "add", 3) == 0) {
        if (now.made) check(petal_add(now.made, key, size) >= 0, "a key could not be added");
        return;
    }
    bool expected = verb[0] == 'i';
    snprintf(text, sizeof text, "key %.*s must be %s", (int)(size < 80 ? size : 80),
             (const char *)key, expected ? "in" : "out");
    check(petal_contains(now.read, key, size) == expected, text);
    petal_key one = {key, size};
    check(contains_keys(now.read, &one, 1, NULL) == expected, text);
    now.answers++;
}

static void take_keys(const char *verb, const char *text, long from, long to)
{
    char key[256];
    for (long i = from; i <= to; i++) {
        int size = snprintf(key, sizeof key, "%s%ld", strcmp(text, "-") == 0 ? "" : text, i);
        take_key(verb, key, (size_t)size);
    }
}

/* ---- one file -------------------------------------------------------------------------------- */

static uint8_t *load_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s: cannot open %s", now.where, path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 1);
    check(fread(bytes, 1, *size, file) == *size, "cannot be read");
    fclose(file);
    return bytes;
}

static petal_status view(const uint8_t *bytes, size_t size, const char *format,
                         petal_filter **filter, petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.format = format;
    return petal_view(bytes, size, &options, filter, error);
}

static bool is_left_out(const char *format)
{
    for (char **one = left_out; *one; one++)
        if (strcmp(*one, format) == 0) return true;
    return false;
}

static void refuse_file(void)
{
    petal_error error = {0};
    petal_status status = view(now.bytes, now.size, now.format, &now.read, &error);
    check(status < 0 && !now.read && error.message[0], "is left out, and not refused");
    refused++;
    free(now.bytes);
    now.bytes = NULL;
}

static void begin_file(const char *folder, const char *name)
{
    petal_error error = {0};
    snprintf(now.path, sizeof now.path, FOLDER "/%s/%s", folder, name);
    now.bytes = load_file(now.path, &now.size);
    if (is_left_out(now.format)) {
        refuse_file();
        return;
    }
    petal_status status = view(now.bytes, now.size, now.format, &now.read, &error);
    check(status == PETAL_OK, error.message);
}

/* Checks that two filters are equal by comparing their petal files. */
static void check_alike(const petal_filter *a, const petal_filter *b, const char *what)
{
    size_t size = petal_serialized_bytes(a, NULL);
    uint8_t *one = malloc(size), *other = malloc(size);
    check(petal_serialized_bytes(b, NULL) == size, what);
    check(petal_serialize(a, NULL, one, size, NULL) == PETAL_OK &&
              petal_serialize(b, NULL, other, size, NULL) == PETAL_OK,
          what);
    check(memcmp(one, other, size) == 0, what);
    free(one);
    free(other);
}

static void check_packs_the_same(const petal_filter *filter, const char *what)
{
    petal_error error = {0};
    petal_filter *again;
    size_t size = petal_serialized_bytes(filter, SAVE_AS(now.format));
    uint8_t *bytes = malloc(size + 1);
    check(petal_serialize(filter, SAVE_AS(now.format), bytes, size, &error) == PETAL_OK,
          error.message);
    check(view(bytes, size, now.format, &again, &error) == PETAL_OK, error.message);
    check_alike(again, now.read, what);
    petal_free(again);
    free(bytes);
}

static void check_serializes_to_file(const petal_filter *filter, const char *what)
{
    if (now.packed) {
        check_packs_the_same(filter, what);
        return;
    }
    petal_error error = {0};
    size_t size = petal_serialized_bytes(filter, SAVE_AS(now.format));
    uint8_t *bytes = malloc(size + 1);
    check(size == now.size, what);
    check(petal_serialize(filter, SAVE_AS(now.format), bytes, size, &error) == PETAL_OK,
          error.message);
    check(memcmp(bytes, now.bytes, size) == 0, what);
    free(bytes);
}

/* Converts the foreign file to a petal file and back, and compares the bytes. */
static void check_round_trip(void)
{
    petal_error error = {0};
    petal_filter *back;
    size_t size = petal_serialized_bytes(now.read, NULL);
    uint8_t *bytes = malloc(size);
    check(petal_serialize(now.read, NULL, bytes, size, &error) == PETAL_OK, error.message);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = PETAL_OPEN_VERIFY;
    check(petal_view(bytes, size, &options, &back, &error) == PETAL_OK, error.message);
    check_serializes_to_file(back, "comes back from a petal file with other bytes");
    petal_free(back);
    free(bytes);
}

/* The file must be recognized (unless its format is never recognized), and must open in one of the
 * recognized formats. */
static void check_recognized(void)
{
    const char *names[64];
    uint64_t count = petal_recognize(now.bytes, now.size, names, 64);
    check(count > 0 || strcmp(now.format, "leveldb") == 0, "is not recognized");
    bool opens = count == 0;
    for (uint64_t i = 0; i < count && i < 64; i++) {
        petal_error error = {0};
        petal_filter *filter = NULL;
        opens |= view(now.bytes, now.size, names[i], &filter, &error) == PETAL_OK;
        petal_free(filter);
    }
    check(opens, "opens as none of the formats that it is recognized as");
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Opens a copy of the bytes in a memory block of exactly their size, so that a sanitizer detects
 * reads past the end. If opening succeeds, the filter must accept queries. */
static bool opens(const uint8_t *bytes, size_t size)
{
    petal_error error = {0};
    petal_filter *filter = NULL;
    uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    petal_status status = view(exact, size, now.format, &filter, &error);
    if (status == PETAL_OK) {
        petal_contains(filter, "a", 1);
        check(petal_serialized_bytes(filter, SAVE_AS(now.format)) != 0,
              "opens, but cannot be written back");
    } else {
        check(status < 0 && error.message[0] != '\0' && !strchr(error.message, '\n'),
              "refused without one clear line");
    }
    petal_free(filter);
    free(exact);
    return status == PETAL_OK;
}

static bool is_loose(size_t size)
{
    return now.loose && size >= now.loose;
}

static bool is_text(void)
{
    return now.size > 0 && (now.bytes[0] == '{' || now.bytes[0] == '[');
}

static void check_damage(void)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    size_t every = now.size / 2000 + 1, header = now.size < 160 ? now.size : 160;
    for (size_t size = 0; size < now.size;
         size += size < header || now.size - size < 64 ? 1 : every)
        if (!is_text() || size + 2 < now.size)
            check(!opens(now.bytes, size) || is_loose(size), "opens though truncated");
    uint8_t *longer = calloc(1, now.size + 9);
    memcpy(longer, now.bytes, now.size);
    for (size_t more = 1; more <= 9; more += 4)
        check(!opens(longer, now.size + more) || now.loose, "opens with bytes after the end");
    for (size_t at = 0; at < header; at++) {
        for (size_t i = 0; i < sizeof values; i++) {
            longer[at] = values[i];
            opens(longer, now.size);
        }
        longer[at] = now.bytes[at];
    }
    free(longer);
}

static void end_file(void)
{
    if (!now.bytes) return;
    check(now.answers > 0 || now.rebuilt, "no question and no rebuild: it proves nothing");
    check_serializes_to_file(now.read, "is written back with other bytes");
    check_round_trip();
    check_recognized();
    check_damage();
    answers_done += now.answers;
    rebuilt_done += now.rebuilt;
    files_done++;
    petal_free(now.read);
    petal_free(now.made);
    free(now.bytes);
    now.read = now.made = NULL;
    now.bytes = NULL;
    now.answers = now.rebuilt = 0;
    now.loose = 0;
    now.packed = false;
}

/* ---- the script ------------------------------------------------------------------------------ */

static void make(const char *verb, const char *words)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_error error = {0};
    unsigned long long first = 0, seed = 0;
    unsigned hashes = 0;
    options.format = now.format;
    if (strcmp(verb, "plan") == 0)
        sscanf(words, "%llu %lf", &first, &options.rate);
    else
        sscanf(words, "%llu %u %llu", &first, &hashes, &seed);
    *(hashes ? &options.bits : &options.capacity) = first;
    options.hashes = hashes;
    options.seed = seed;
#ifdef PETAL_READ_ONLY
    check(petal_create(&options, &now.made, &error) == PETAL_ERR_UNSUPPORTED, "can be made");
    check(strstr(error.message, "not in this build") && !now.made, error.message);
    check(petal_add(now.read, "a", 1) == PETAL_ERR_UNSUPPORTED, "can be added to");
#else
    check(petal_create(&options, &now.made, &error) == PETAL_OK, error.message);
#endif
}

static void take_line(const char *folder, char *line)
{
    static char text[4096];
    static uint8_t key[2048];
    char verb[16] = "", *words;
    long from, to;
    sscanf(line, "%15s", verb);
    words = strchr(line, ' ') ? strchr(line, ' ') + 1 : line + strlen(line);
    if (verb[0] == '\0' || verb[0] == '#') return;
    if (strcmp(verb, "format") == 0) {
        end_file();
        snprintf(now.format, sizeof now.format, "%s", words);
    } else if (strcmp(verb, "file") == 0) {
        end_file();
        begin_file(folder, words);
    } else if (is_left_out(now.format)) {
        return;
    } else if (strcmp(verb, "plan") == 0 || strcmp(verb, "size") == 0) {
        make(verb, words);
#ifdef PETAL_READ_ONLY
    } else if (strcmp(verb, "rebuild") == 0) {
        now.rebuilt = 1;
#endif
    } else if (strcmp(verb, "rebuild") == 0) {
        check(now.made != NULL, "rebuild without plan or size");
        check_serializes_to_file(now.made, "rebuilt from its keys has other bytes");
        now.rebuilt = 1;
    } else if (strcmp(verb, "loose") == 0) {
        now.loose = strtoul(words, NULL, 10);
    } else if (strcmp(verb, "packed") == 0) {
        now.packed = true;
    } else if (strcmp(verb, "add") == 0 || strcmp(verb, "in") == 0 || strcmp(verb, "out") == 0) {
        take_key(verb, key, key_of_hex(words, key));
    } else if (sscanf(words, "%4095s %ld %ld", text, &from, &to) == 3) {
        take_keys(verb, text, from, to);
    } else {
        check(false, "a line that is not understood");
    }
}

static void run_folder(const char *folder)
{
    char path[512], line[8192];
    snprintf(path, sizeof path, FOLDER "/%s/vectors.txt", folder);
    FILE *script = fopen(path, "r");
    if (!script) return;
    for (int number = 1; fgets(line, sizeof line, script); number++) {
        line[strcspn(line, "\r\n")] = '\0';
        snprintf(now.where, sizeof now.where, "%s:%d", path, number);
        take_line(folder, line);
    }
    end_file();
    fclose(script);
}

static void real_files_are_read_asked_rebuilt_and_carried_and_damaged_ones_are_refused(void **state)
{
    (void)state;
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.') run_folder(entry->d_name);
    closedir(folder);
    print_message("# %d files, %d answers, %d rebuilt byte for byte\n", files_done, answers_done,
                  rebuilt_done);
    require_that(files_done, >, 0);
    assert_int_equal(refused > 0, *left_out != NULL);
}

int main(int count, char **words)
{
    left_out = words + (count > 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            real_files_are_read_asked_rebuilt_and_carried_and_damaged_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
