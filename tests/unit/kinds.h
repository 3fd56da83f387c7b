/* kinds.h - makes filters that contain keys, one of each kind, for tests that must hold for all
 * kinds: native schemes, keyed filters, growing filters, and windows by keys or by time. */
#ifndef PETAL_TESTS_KINDS_H
#define PETAL_TESTS_KINDS_H

#include "support.h"

static const uint8_t kinds_secret[PETAL_SECRET_BYTES] = "0123456789abcde";

enum kind {
    KIND_BLOCKED_1,
    KIND_BLOCKED_2,
    KIND_CLASSIC,
    KIND_COUNTING,
    KIND_KEYED,
    KIND_GROWING,
    KIND_WINDOW_KEYS,
    KIND_WINDOW_TIME,
    KIND_COUNT
};

static const char *const kind_names[KIND_COUNT] = {
    "blocked, 1 line", "blocked, 2 lines", "classic",        "counting",
    "keyed",           "growing",          "window of keys", "window of time"};

/* Returns the secret for this kind of filter, or NULL if the kind isn't keyed. */
static inline const void *kind_secret(enum kind kind)
{
    return kind == KIND_KEYED ? kinds_secret : NULL;
}

static inline petal_options kind_options(enum kind kind)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.rate = 0.01;
    if (kind == KIND_WINDOW_KEYS || kind == KIND_WINDOW_TIME)
        options.window_keys = 4000;
    else
        options.capacity = 4000;
    if (kind == KIND_WINDOW_TIME) options.window_ms = 60000;
    if (kind == KIND_BLOCKED_1) options.lines_per_key = 1;
    if (kind == KIND_BLOCKED_2) options.lines_per_key = 2;
    if (kind == KIND_CLASSIC) options.scheme = PETAL_SCHEME_CLASSIC;
    if (kind == KIND_COUNTING) options.scheme = PETAL_SCHEME_COUNTING;
    options.secret = kind_secret(kind);
    options.growth = kind == KIND_GROWING;
    options.metadata = "of the user";
    options.metadata_bytes = 11;
    return options;
}

/* Adds the numbers 0 .. 5999. A window keeps only the newest of them. */
static inline petal_filter *kind_filter(enum kind kind, const petal_allocator *allocator)
{
    petal_options options = kind_options(kind);
    petal_error error;
    options.allocator = allocator;
    petal_filter *filter = create(&options);
    for (uint64_t minute = 0; minute < 6; minute++) {
        if (kind == KIND_WINDOW_TIME)
            require_status(PETAL_OK, petal_set_clock(filter, 1 + minute * 20000, &error), error);
        add_numbers(filter, minute * 1000, 1000);
    }
    return filter;
}

#endif
