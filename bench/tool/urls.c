/* urls.c - urls LINES [ADDRESSES [SEED]]: generates web addresses, one per line, for
 * bench/tool/run.
 *
 * Each line is drawn, with repeats, from ADDRESSES different addresses [LINES / 2]. By default, 43
 * % of the lines are the first occurrence of their address. The same arguments give the same bytes
 * on every machine. Another SEED gives entirely different addresses. The addresses are 30 to 100
 * bytes long, 58 on average, as in the log of a crawler or a proxy. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* SplitMix64's output function: a bijection. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static char *put(char *to, const char *text)
{
    while (*text) *to++ = *text++;
    return to;
}

static char *put_digits(char *to, uint64_t number, unsigned base)
{
    char digits[64];
    unsigned count = 0;
    do digits[count++] = "0123456789abcdef"[number % base];
    while (number /= base);
    while (count > 0) *to++ = digits[--count];
    return to;
}

/* The address contains the whole number, so different numbers give different addresses. */
static char *put_address(char *to, uint64_t number, uint64_t seed)
{
    static const char *const sites[] = {
        "www.example.com",        "en.wiki.example", "shop.example.net", "news.example",
        "cdn.static.example.org", "blog.example.io", "forum.example",    "m.example.co"};
    static const char *const folders[] = {"articles", "item", "images/large", "u", "archive/2024",
                                          "tags",     "p",    "search"};
    uint64_t bits = mix(number ^ seed << 48);
    to = put(put(to, "https://"), sites[bits & 7]);
    *to++ = '/';
    to = put(to, folders[bits >> 3 & 7]);
    *to++ = '/';
    to = put_digits(to, bits >> 6 & 0xffff, 10);
    *to++ = '/';
    to = put_digits(to, bits, 16);
    if (bits >> 22 & 1) to = put(to, ".html");
    if ((bits >> 23 & 3) == 0) to = put_digits(put(to, "?page="), bits >> 25 & 63, 10);
    if ((bits >> 31 & 7) == 0) to = put(to, "&utm_source=newsletter&ref=front");
    return to;
}

int main(int count, char **arguments)
{
    static char block[1 << 16];
    char *to = block;
    uint64_t lines = count > 1 ? strtoull(arguments[1], NULL, 10) : 0;
    uint64_t addresses = count > 2 ? strtoull(arguments[2], NULL, 10) : lines / 2;
    uint64_t seed = count > 3 ? strtoull(arguments[3], NULL, 10) : 1;
    if (lines == 0 || addresses == 0 || addresses >> 48 || seed >> 16) {
        fprintf(stderr, "usage: urls LINES [ADDRESSES [SEED]]\n");
        return 2;
    }
    for (uint64_t i = 0; i < lines; i++) {
        to = put_address(to, mix(i + 1) % addresses, seed);
        *to++ = '\n';
        if (to > block + sizeof block - 256 || i + 1 == lines) {
            if (fwrite(block, 1, (size_t)(to - block), stdout) != (size_t)(to - block)) return 1;
            to = block;
        }
    }
    return fflush(stdout) != 0;
}
