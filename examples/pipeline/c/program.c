/* program.c - a pipeline's program in C; examples/pipeline/README.md describes the protocol. */
#include <petal/petal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const char *what, const petal_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->message);
    return 1;
}

/* Returns the next line without its newline, or NULL at the end. */
static char *next_line(char **line, size_t *room, size_t *size_bytes)
{
    ssize_t got = getline(line, room, stdin);
    if (got < 0) return NULL;
    if (got > 0 && (*line)[got - 1] == '\n') (*line)[--got] = '\0';
    *size_bytes = (size_t)got;
    return *line;
}

static int ask(const char *format, const char *path)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    char *line = NULL;
    size_t room = 0, size_bytes = 0;
    options.format = format;
    if (petal_open(path, &options, &filter, &error) != PETAL_OK) return complain(path, &error);
    while (next_line(&line, &room, &size_bytes))
        puts(petal_contains(filter, line, size_bytes) ? "1" : "0");
    free(line);
    petal_free(filter);
    return 0;
}

static petal_status add(petal_filter *filter, const char *type, const char *value, size_t size)
{
    uint8_t key[8];
    if (strcmp(type, "text") == 0) return petal_add(filter, value, size);
    if (strcmp(type, "i64") == 0) return petal_add_i64(filter, strtoll(value, NULL, 10));
    petal_encode_f64(strtod(value, NULL), key);
    return petal_add(filter, key, sizeof key);
}

static int build(const char *path)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    char *line = NULL;
    size_t room = 0, size_bytes = 0;
    options.capacity = 100000;
    options.rate = 0.01;
    if (petal_create(&options, &filter, &error) != PETAL_OK) return complain(path, &error);
    while (next_line(&line, &room, &size_bytes)) {
        char *tab = strchr(line, '\t');
        if (!tab) return fprintf(stderr, "no key: %s\n", line), 1;
        *tab = '\0';
        size_t type_bytes = (size_t)(tab + 1 - line);
        if (add(filter, line, tab + 1, size_bytes - type_bytes) < 0) {
            petal_last_error(filter, &error);
            return complain(path, &error);
        }
    }
    free(line);
    petal_status saved = petal_save(filter, path, NULL, &error);
    petal_free(filter);
    return saved == PETAL_OK ? 0 : complain(path, &error);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "ask") == 0) return ask(argv[2], argv[3]);
    if (argc == 3 && strcmp(argv[1], "build") == 0) return build(argv[2]);
    fputs("usage: program ask FORMAT FILE | build OUT\n", stderr);
    return 2;
}
