/* replay_main.c - runs a fuzz target on its corpus without a fuzzer, so that `./dev test` checks
 * every past finding.
 *
 * This file is linked into each target in fuzz/ in place of libFuzzer. Usage: TARGET [FILE...].
 * Without a FILE, it runs the empty input and all of fuzz/corpus/TARGET, and must be started from
 * the top of the tree. The program prints TAP, with one test per input. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* Passes the bytes to the target in memory of exactly their size, so that a sanitizer finds reads
 * past the end. */
static bool replay(const char *path)
{
    uint8_t *data = NULL;
    long size_bytes;
    bool ok = false;
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    if (fseek(file, 0, SEEK_END) == 0 && (size_bytes = ftell(file)) >= 0 &&
        fseek(file, 0, SEEK_SET) == 0 &&
        (data = malloc(size_bytes > 0 ? (size_t)size_bytes : 1)) != NULL) {
        ok = fread(data, 1, (size_t)size_bytes, file) == (size_t)size_bytes;
        if (ok) LLVMFuzzerTestOneInput(data, (size_t)size_bytes);
    }
    free(data);
    fclose(file);
    return ok;
}

static int report(int number, bool ok, const char *what)
{
    printf("%sok %d - replays %s\n", ok ? "" : "not ", number, what);
    fflush(stdout); /* the next input may crash */
    return ok ? 0 : 1;
}

static int replay_folder(const char *folder)
{
    char path[8192];
    const struct dirent *entry;
    int count = 1, failed = 0;
    DIR *dir = opendir(folder);
    LLVMFuzzerTestOneInput(NULL, 0);
    report(count, true, "the empty input");
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        failed += report(++count, replay(path), path);
    }
    if (dir != NULL) closedir(dir);
    if (count == 1) failed += report(++count, false, "a corpus: there is none");
    printf("1..%d\n", count);
    return failed;
}

int main(int argc, char **argv)
{
    char folder[4096];
    const char *name = strrchr(argv[0], '/');
    int failed = 0;
    snprintf(folder, sizeof folder, "fuzz/corpus/%s", name != NULL ? name + 1 : argv[0]);
    if (argc < 2) return replay_folder(folder) != 0;
    for (int i = 1; i < argc; i++) failed += report(i, replay(argv[i]), argv[i]);
    printf("1..%d\n", argc - 1);
    return failed != 0;
}
