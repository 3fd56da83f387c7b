/* sizes.c - prints the planned sizes for a grid of keys and rates in every format and scheme, one
 * per line, so that platforms can be compared. */
#include <petal/petal.h>

#include <stdio.h>

static void print(const char *what, petal_options *options, uint64_t keys, double rate)
{
    petal_info info = PETAL_INFO_INIT;
    options->capacity = keys;
    options->rate = rate;
    petal_status status = petal_plan(options, &info, NULL, NULL);
    if (status != PETAL_OK)
        printf("%s %llu %g: %s\n", what, (unsigned long long)keys, rate, petal_status_name(status));
    else
        printf("%s %llu %g: %llu %u %u\n", what, (unsigned long long)keys, rate,
               (unsigned long long)info.bits, info.hashes, info.lines_per_key);
}

static void print_grid(const char *what, petal_options *options)
{
    static const double rates[] = {0.3, 0.01, 0.0003, 1e-9};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (uint64_t keys = 1; keys < (uint64_t)1 << 36; keys += keys * 15 + 2)
            print(what, options, keys, rates[i]);
}

int main(void)
{
    for (int scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_COUNTING; scheme++) {
        char what[16];
        petal_options options = PETAL_OPTIONS_INIT;
        options.scheme = (uint32_t)scheme;
        snprintf(what, sizeof what, "scheme %d", scheme);
        print_grid(what, &options);
    }
    petal_format_info format = PETAL_FORMAT_INFO_INIT;
    for (uint32_t i = 1; petal_format_at(i, &format); i++) {
        petal_options options = PETAL_OPTIONS_INIT;
        options.format = format.name;
        print_grid(format.name, &options);
    }
    return 0;
}
