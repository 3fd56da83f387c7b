/* figures.c - draws the documents' figures with the library itself, so that they show its actual
 * behaviour.
 *
 *     figures NAME light|dark|auto SETS-FILE < distinct-keys > NAME.svg
 *
 * NAME is overview, memory, cells, line or curve. `auto` follows the reader's light or dark
 * setting. SETS-FILE lists the measured memory of other data structures with the same keys.
 * scripts/gen-figures calls this program for each figure.
 *
 * The public API doesn't show individual bits. For the two figures that do (cells, line), this file
 * repeats the rules of docs/format.md and compares the outcome with the library's; if they differ,
 * nothing is drawn.
 *
 * The signs are the same in every figure. An outlined cell is 0, and a filled one is 1. A probed 1
 * has an orange ring, and a probed 0 has a blue cross. "Certainly not" is blue with a bar, and
 * "probably" is orange with a wave, so that nothing depends on colour alone. */
#include <math.h>
#include <petal/petal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------- drawing */

typedef struct palette {
    const char *page, *ink, *muted, *rule, *zero, *one, *blue, *orange;
} palette;

static const palette LIGHT = {"#ffffff", "#1f2328", "#59636e", "#c4ccd4",
                              "#8c959f", "#6e7781", "#0860ca", "#b64700"};
static const palette DARK = {"#0d1117", "#e6edf3", "#9aa4ae", "#444c56",
                             "#6e7681", "#9aa4ae", "#58a6ff", "#f0883e"};

static void rules(const palette *p)
{
    printf(".page{fill:%s;stroke:%s}.ink{fill:%s}.muted{fill:%s}.rule{stroke:%s;fill:none}\n",
           p->page, p->rule, p->ink, p->muted, p->rule);
    printf(".zero{stroke:%s;fill:none}.one{fill:%s;stroke:%s}.blue{fill:%s}.orange{fill:%s}\n",
           p->zero, p->one, p->one, p->blue, p->orange);
    printf(".b{stroke:%s;fill:none}.o{stroke:%s;fill:none}.k{stroke:%s;fill:none}\n", p->blue,
           p->orange, p->ink);
}

static void begin(const char *mode, int width, int height, const char *title,
                  const char *description)
{
    printf(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
        "aria-labelledby=\"t d\">\n",
        width, height, width, height);
    printf("<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n<style>\n", title, description);
    printf(
        "text{font:14px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;"
        "font-variant-ligatures:none}\n.code{font-family:ui-monospace,\"DejaVu Sans Mono\",monospace}"
        ".small{font-size:12px}.strong{font-weight:600}.end{text-anchor:end}.mid{text-anchor:middle}\n");
    rules(strcmp(mode, "dark") == 0 ? &DARK : &LIGHT);
    if (strcmp(mode, "auto") == 0) {
        printf("@media (prefers-color-scheme:dark){\n");
        rules(&DARK);
        printf("}\n");
    }
    printf(
        "</style>\n<rect class=\"page\" x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n",
        width - 1, height - 1);
}

static void end(void)
{
    printf("</svg>\n");
}

__attribute__((format(printf, 4, 5))) static void text(double x, double y, const char *class,
                                                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    vprintf(format, args);
    printf("</text>\n");
    va_end(args);
}

static void box(double x, double y, double width, double height, const char *class,
                const char *more)
{
    printf("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\" %s/>\n", x, y,
           width, height, class, more);
}

static void line(double x1, double y1, double x2, double y2, const char *class, const char *more)
{
    printf("<path d=\"M%.1f %.1fL%.1f %.1f\" class=\"%s\" %s/>\n", x1, y1, x2, y2, class, more);
}

/* Draws the signs for the two verdicts: a bar for "certainly not", a wave for "probably". */
static void verdict(double x, double y, bool probably, const char *words)
{
    if (probably)
        printf(
            "<path d=\"M%.1f %.1fq4 -8 8 0t8 0\" class=\"o\" stroke-width=\"3\" stroke-linecap=\"round\"/>\n",
            x, y - 4);
    else
        line(x, y - 4, x + 16, y - 4, "b", "stroke-width=\"4\"");
    text(x + 24, y, probably ? "orange strong" : "blue strong", "%s", words);
}

static void mark_cell(double x, double y, double size, bool is_set)
{
    char more[64];
    if (is_set) {
        snprintf(more, sizeof more, "stroke-width=\"2.5\" rx=\"%.1f\"", size / 4);
        box(x - 3, y - 3, size + 6, size + 6, "o", more);
        return;
    }
    line(x + 5, y + 5, x + size - 5, y + size - 5, "b", "stroke-width=\"3\"");
    line(x + size - 5, y + 5, x + 5, y + size - 5, "b", "stroke-width=\"3\"");
}

/* 29619 -> 29,619 */
static const char *grouped(uint64_t number, char out[32])
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number), used = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0) out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}

/* Formats a size, such as 1168399 as "1.17 MB". */
static const char *sized(double bytes, char out[32])
{
    snprintf(out, 32, bytes < 1e6 ? "%.3g kB" : "%.3g MB", bytes / (bytes < 1e6 ? 1e3 : 1e6));
    return out;
}

/* ------------------------------------------------------------------------ keys and their filter */

/* The keys from stdin, and a blocked filter with a rate of 1 % that contains these keys. */
typedef struct key_list {
    char **lines;
    size_t count;
    uint64_t text_bytes;
    petal_filter *filter;
    petal_info info;
    petal_stats stats;
} key_list;

static void stop(const char *why)
{
    fprintf(stderr, "figures: %s\n", why);
    exit(1);
}

static void *need(void *memory)
{
    if (!memory) stop("out of memory");
    return memory;
}

static void read_lines(key_list *k)
{
    char line_read[4096];
    size_t room = 0;
    while (fgets(line_read, sizeof line_read, stdin)) {
        size_t size = strcspn(line_read, "\n");
        if (k->count == room) {
            room = room ? 2 * room : 1024;
            k->lines = need(realloc(k->lines, room * sizeof *k->lines));
        }
        line_read[size] = '\0';
        k->lines[k->count++] = memcpy(need(malloc(size + 1)), line_read, size + 1);
        k->text_bytes += size + 1;
    }
    if (k->count == 0) stop("no keys on stdin");
}

static void read_keys(key_list *k)
{
    petal_options options = PETAL_OPTIONS_INIT;
    read_lines(k);
    options.capacity = k->count;
    options.rate = 0.01;
    if (petal_create(&options, &k->filter, NULL) != PETAL_OK) stop("cannot create the filter");
    for (size_t i = 0; i < k->count; i++) petal_add(k->filter, k->lines[i], strlen(k->lines[i]));
    k->info = PETAL_INFO_INIT;
    k->stats = PETAL_STATS_INIT;
    if (petal_get_info(k->filter, PETAL_ALL_LAYERS, &k->info, NULL) != PETAL_OK ||
        petal_get_stats(k->filter, PETAL_ALL_LAYERS, &k->stats, NULL) != PETAL_OK)
        stop("no info");
}

static void free_keys(key_list *k)
{
    for (size_t i = 0; i < k->count; i++) free(k->lines[i]);
    free(k->lines);
    petal_free(k->filter);
}

/* --------------------------------------------------------- the published rules (docs/format.md) */

/* Returns floor(a * m / 2^64) for m below 2^32. */
static uint64_t mulhi_small(uint64_t a, uint32_t m)
{
    uint64_t low = (a & 0xFFFFFFFFu) * m;
    return ((a >> 32) * m + (low >> 32)) >> 32;
}

static const uint32_t SALT[16] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
    0xd1b54a33, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1, 0xd6e8feb9, 0xff51afd7, 0xc4ceb9ff};

/* The bits of one key: in line `line`, bit[w] of word w, or -1 if the key doesn't touch the
 * word. */
typedef struct probe {
    uint64_t line;
    int bit[16];
} probe;

static probe blocked_probe(uint64_t hash, const petal_info *info)
{
    probe p = {mulhi_small(hash, (uint32_t)(info->bits / 512)), {0}};
    uint32_t x = (uint32_t)hash, y = x * 0x9E3779B1u, stride = 2 * ((y >> 25) & 7) + 1;
    memset(p.bit, -1, sizeof p.bit);
    for (uint32_t i = 0; i < info->hashes; i++) {
        uint32_t word = ((y >> 28) + i * stride) % 16;
        p.bit[word] = (int)((x * SALT[word]) >> 27);
    }
    return p;
}

static probe probe_of(const key_list *k, size_t i)
{
    return blocked_probe(petal_hash_key(k->filter, k->lines[i], strlen(k->lines[i])), &k->info);
}

static unsigned ones(uint32_t word)
{
    unsigned count = 0;
    for (; word; word &= word - 1) count++;
    return count;
}

/* Returns all lines of the filter, 16 words each, computed from the rule of the blocked scheme. The
 * number of set bits must equal the library's. */
static uint32_t *all_words(const key_list *k)
{
    uint32_t *words = need(calloc(k->info.bits / 32, sizeof *words));
    uint64_t set = 0;
    if (k->info.scheme != PETAL_SCHEME_BLOCKED || k->info.lines_per_key != 1)
        stop("not a blocked filter of one line");
    for (size_t i = 0; i < k->count; i++) {
        probe p = probe_of(k, i);
        for (int w = 0; w < 16; w++)
            if (p.bit[w] >= 0) words[p.line * 16 + (uint64_t)w] |= 1u << p.bit[w];
    }
    for (uint64_t i = 0; i < k->info.bits / 32; i++) set += ones(words[i]);
    if (set != k->stats.bits_set) stop("the blocked rule here and in the library differ");
    return words;
}

/* ---------------------------------------------------------------------------------- memory bars */

typedef struct bar {
    char name[64];
    double bytes;
    bool ours;
} bar;

enum { BARS_MAX = 8, BAR_HEIGHT = 26 };

/* The bars, largest first: the bars from the sets file ("BYTES NAME" lines, # comments), and then
 * the bars computed from the keys. */
static int read_bars(const key_list *k, const char *sets_file, bar bars[BARS_MAX])
{
    FILE *file = fopen(sets_file, "r");
    char row[256];
    int count = 0;
    if (!file) stop("cannot read the sets file");
    while (count < BARS_MAX - 3 && fgets(row, sizeof row, file)) {
        bars[count] = (bar){0};
        if (row[0] != '#' && sscanf(row, "%lf %63[^\n]", &bars[count].bytes, bars[count].name) == 2)
            count++;
    }
    fclose(file);
    bars[count++] = (bar){"the text itself", (double)k->text_bytes, false};
    bars[count++] = (bar){"set of 64-bit hashes, 7/8 full", (double)k->count * 8 * 8 / 7, false};
    bars[count++] = (bar){"Petal at 1 %", (double)k->info.bytes, true};
    return count;
}

static void draw_bars(const bar *bars, int count, double x, double y, double width)
{
    char room[32];
    double scale = (width - 320) / bars[0].bytes;
    for (int i = 0; i < count; i++, y += BAR_HEIGHT) {
        double size = bars[i].bytes * scale;
        text(x + 220, y + 14, bars[i].ours ? "ink strong end" : "ink end", "%s", bars[i].name);
        box(x + 230, y, size, 18, bars[i].ours ? "orange" : "one", "");
        text(x + 238 + size, y + 14, bars[i].ours ? "ink strong" : "ink", "%s",
             sized(bars[i].bytes, room));
    }
}

static void bars_in_words(const bar *bars, int count, char *out, size_t room)
{
    char size[32];
    size_t used = 0;
    for (int i = 0; i < count && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s %s", i ? ", " : "", bars[i].name,
                                 sized(bars[i].bytes, size));
}

static void draw_memory(const char *mode, const char *sets_file)
{
    key_list k = {0};
    bar bars[BARS_MAX];
    char words[512], description[768], n[32];
    read_keys(&k);
    int count = read_bars(&k, sets_file, bars);
    bars_in_words(bars, count, words, sizeof words);
    grouped(k.count, n);
    snprintf(description, sizeof description, "Memory for the same %s web addresses: %s.", n,
             words);
    begin(mode, 720, 60 + count * BAR_HEIGHT, "Memory of a set", description);
    text(20, 30, "ink strong",
         "Memory to answer &#8220;is it in?&#8221; for the same %s web addresses", n);
    draw_bars(bars, count, 10, 48, 700);
    end();
    free_keys(&k);
}

/* ------------------------------------------------------------------------------------- overview */

/* Draws a column of boxes, with arrows to or from x_arrow. */
static void draw_column(const char *const *names, int count, double x, double y, double x_arrow,
                        double y_arrow)
{
    double step = 200.0 / count;
    for (int i = 0; i < count; i++) {
        double top = y + step * i, middle = top + (step - 4) / 2;
        double edge = x_arrow > x ? x + 130 : x;
        box(x, top, 130, step - 4, "k", "");
        text(x + 65, middle + 5, "ink mid strong", "%s", names[i]);
        line(edge, middle, x_arrow, y_arrow + (middle - y - 100) * 0.7, "k", "");
    }
}

/* Draws the first lines of the real filter. The more ones a word contains, the darker it is. */
static void draw_sheet(const key_list *k, double x, double y, double cell, int rows)
{
    uint32_t *words = all_words(k);
    for (int row = 0; row < rows; row++)
        for (int w = 0; w < 16; w++) {
            char more[32];
            snprintf(more, sizeof more, "opacity=\"%.2f\"", ones(words[row * 16 + w]) / 24.0);
            box(x + w * cell, y + row * cell, cell - 1, cell - 1, "orange", more);
        }
    free(words);
}

static void draw_overview(const char *mode, const char *sets_file)
{
    static const char *const SOURCES[] = {"lists of keys", "Guava", "Spark", "Parquet",
                                          "Redis",         "Go",    "DCSO"};
    static const char *const READERS[] = {"C",  "shell",      "Python", "Go",   "Java",
                                          "C#", "JavaScript", "Rust",   "Redis"};
    key_list k = {0};
    bar bars[BARS_MAX];
    char words[512], description[1280], n[32];
    read_keys(&k);
    int count = read_bars(&k, sets_file, bars);
    bars_in_words(bars, count, words, sizeof words);
    grouped(k.count, n);
    snprintf(
        description, sizeof description,
        "Lists of keys, and the filters of Guava, Spark, Parquet, Redis, Go and DCSO, become one petal file of "
        "64-byte lines. C, the shell, Python, Go, Java, C#, JavaScript, Rust and Redis query it. "
        "Memory for the same %s web addresses: %s.",
        n, words);
    begin(mode, 760, 330 + count * BAR_HEIGHT, "One Bloom filter file for every language",
          description);
    draw_column(SOURCES, 7, 30, 40, 290, 140);
    draw_column(READERS, 9, 600, 40, 470, 140);
    text(380, 30, "ink strong mid", "urls.petal");
    box(290, 40, 180, 200, "page", "stroke-width=\"2\" rx=\"6\"");
    draw_sheet(&k, 300, 51, 10, 18);
    text(380, 258, "muted small mid", "one file of 64-byte lines");
    text(95, 258, "muted small mid", "goes in");
    text(665, 258, "muted small mid", "queries it");
    text(30, 304, "ink strong", "Memory for the same %s web addresses", n);
    draw_bars(bars, count, 10, 318, 740);
    end();
    free_keys(&k);
}

/* ---------------------------------------------------------------------------- the 11-bit filter */

enum {
    TOY_BITS = 11,
    TOY_HASHES = 2,
    TOY_SEED = 197072,
    TOY_CELL = 28,
    TOY_STEP = 36,
    TOY_X = 150
};

typedef struct toy {
    petal_filter *filter;
    bool set[TOY_BITS];
} toy;

static void toy_positions(const toy *t, const char *key, unsigned position[TOY_HASHES])
{
    uint64_t a = petal_hash_key(t->filter, key, strlen(key));
    for (int i = 0; i < TOY_HASHES; i++) {
        position[i] = (unsigned)mulhi_small(a, TOY_BITS);
        a *= 0xDA942042E4DD58B5u;
    }
}

static void toy_label(const char *verb, const char *key, const unsigned position[TOY_HASHES],
                      double y)
{
    text(20, y + 19, "ink", "%s <tspan class=\"code strong\">%s</tspan> &#8594; %u, %u", verb, key,
         position[0], position[1]);
}

static void toy_cells(const toy *t, double y)
{
    for (int i = 0; i < TOY_BITS; i++)
        box(TOY_X + i * TOY_STEP, y, TOY_CELL, TOY_CELL, t->set[i] ? "one" : "zero", "rx=\"3\"");
}

static void toy_add(toy *t, const char *key, double y, const char *remark)
{
    unsigned position[TOY_HASHES];
    toy_positions(t, key, position);
    for (int i = 0; i < TOY_HASHES; i++) t->set[position[i]] = true;
    petal_add(t->filter, key, strlen(key));
    toy_label("add", key, position, y);
    toy_cells(t, y);
    text(TOY_X + TOY_BITS * TOY_STEP + 10, y + 19, "muted", "%s", remark);
}

static void toy_check(const toy *t, const char *key, double y, const char *words)
{
    unsigned position[TOY_HASHES];
    bool found = true;
    toy_positions(t, key, position);
    toy_label("check", key, position, y);
    toy_cells(t, y);
    for (int i = 0; i < TOY_HASHES; i++) {
        mark_cell(TOY_X + position[i] * TOY_STEP, y, TOY_CELL, t->set[position[i]]);
        found = found && t->set[position[i]];
    }
    if (found != petal_contains(t->filter, key, strlen(key)))
        stop("the classic rule here and in the library differ");
    verdict(TOY_X + TOY_BITS * TOY_STEP + 10, y + 19, found, words);
}

static void draw_cells(const char *mode)
{
    petal_options options = PETAL_OPTIONS_INIT;
    toy t = {0};
    options.scheme = PETAL_SCHEME_CLASSIC;
    options.bits = TOY_BITS;
    options.hashes = TOY_HASHES;
    options.seed = TOY_SEED;
    if (petal_create(&options, &t.filter, NULL) != PETAL_OK) stop("cannot create the filter");
    begin(
        mode, 800, 300, "The 11-bit filter",
        "Eleven cells, five steps. Adding a sets bits 3 and 5. Adding b sets bits 5 and 8; 5 was set already. Checking c "
        "probes 8 and 3: both set, so probably, which is wrong. Checking g probes 5, set, and 1, clear: certainly not. "
        "Checking d probes 4 and 0, both clear: certainly not.");
    text(20, 34, "muted", "bit");
    for (int i = 0; i < TOY_BITS; i++)
        text(TOY_X + i * TOY_STEP + TOY_CELL / 2.0, 34, "muted mid", "%d", i);
    toy_add(&t, "a", 50, "");
    toy_add(&t, "b", 94, "5 was set already");
    toy_check(&t, "c", 144, "probably (wrong!)");
    toy_check(&t, "g", 192, "certainly not");
    toy_check(&t, "d", 240, "certainly not");
    text(TOY_X, 288, "muted small",
         "filled: 1 &#160; outline: 0 &#160; ring: asked, and set &#160; cross: asked, and "
         "clear");
    end();
    petal_free(t.filter);
}

/* ----------------------------------------------------------------------------- one 512-bit line */

static const char LINE_KEY[] = "https://www.kernel.org/";

static void draw_line_cells(const uint32_t words[16], const probe *p, double x, double y,
                            double step)
{
    for (int w = 0; w < 16; w++)
        for (int bit = 0; bit < 32; bit++)
            box(x + bit * step, y + w * step, step - 3, step - 3,
                words[w] >> bit & 1 ? "one" : "zero", "rx=\"2\"");
    for (int w = 0; w < 16; w++)
        if (p->bit[w] >= 0) mark_cell(x + p->bit[w] * step, y + w * step, step - 3, true);
}

static void draw_line(const char *mode)
{
    key_list k = {0};
    char description[512], n[32];
    unsigned sharing = 0, set = 0;
    read_keys(&k);
    uint32_t *words = all_words(&k);
    probe p = blocked_probe(petal_hash_key(k.filter, LINE_KEY, strlen(LINE_KEY)), &k.info);
    uint32_t *own = words + p.line * 16;
    if (!petal_contains(k.filter, LINE_KEY, strlen(LINE_KEY)))
        stop("the key of the line figure is not in the list");
    for (size_t i = 0; i < k.count; i++) sharing += probe_of(&k, i).line == p.line;
    for (int w = 0; w < 16; w++) set += ones(own[w]);
    snprintf(
        description, sizeof description,
        "Line %llu of %llu, drawn as 16 rows of 32 cells. %u addresses share it and have set %u of its 512 bits. "
        "%s set %u of them, each in another row.",
        (unsigned long long)p.line, (unsigned long long)(k.info.bits / 512), sharing, set, LINE_KEY,
        k.info.hashes);
    begin(mode, 720, 400, "One line of a blocked filter", description);
    text(90, 30, "ink strong", "One line: 512 bits = 16 words of 32 bits = 64 bytes");
    for (int w = 0; w < 16; w++) text(80, 60 + w * 18, "muted small end", "word %d", w);
    draw_line_cells(own, &p, 90, 47, 18);
    text(90, 360, "ink", "<tspan class=\"code\">%s</tspan>: %u bits in %u different words (ringed)",
         LINE_KEY, k.info.hashes, k.info.hashes);
    text(90, 382, "muted",
         "line %llu of the %s of this filter; %u addresses share it; %u of 512 bits are set",
         (unsigned long long)p.line, grouped(k.info.bits / 512, n), sharing, set);
    end();
    free(words);
    free_keys(&k);
}

/* ------------------------------------------------------------------------------------ the curve */

enum { CURVE_KEYS = 100000, CURVE_QUERIES = 100000 };

static const double CURVE_X = 80, CURVE_Y = 40, CURVE_WIDTH = 560, CURVE_HEIGHT = 300;

static double at_keys(double keys)
{
    return CURVE_X + CURVE_WIDTH * keys / (3.0 * CURVE_KEYS);
}

/* Returns the y coordinate of a rate. The axis covers four decades, from 1 in 10,000 at the bottom
 * to every key at the top. */
static double at_rate(double rate)
{
    return CURVE_Y + CURVE_HEIGHT * -log10(rate) / 4;
}

static void draw_prediction(const petal_info *plan, const char *class, const char *more)
{
    char verb = 'M';
    printf("<path class=\"%s\" %s d=\"", class, more);
    for (uint64_t keys = CURVE_KEYS / 100; keys <= 3 * CURVE_KEYS; keys += CURVE_KEYS / 100) {
        double rate = petal_predict_rate(plan, keys);
        if (rate < 1e-4) continue;
        printf("%c%.1f %.1f", verb, at_keys((double)keys), at_rate(rate));
        verb = 'L';
    }
    printf("\"/>\n");
}

/* Draws a measured point with its 95 % interval (normal approximation; each point has at least
 * about 50 hits). */
static void draw_measured(const petal_filter *filter, int64_t keys, const petal_info *plan)
{
    unsigned hits = 0;
    for (int64_t i = 0; i < CURVE_QUERIES; i++) hits += petal_contains_i64(filter, -1 - i);
    double rate = (double)hits / CURVE_QUERIES, sd = sqrt(rate * (1 - rate) / CURVE_QUERIES);
    double predicted = petal_predict_rate(plan, (uint64_t)keys), x = at_keys((double)keys);
    if (fabs(rate - predicted) > 5 * sd + 0.05 * predicted)
        stop("measured and predicted rate differ");
    line(x, at_rate(rate - 1.96 * sd), x, at_rate(rate + 1.96 * sd), "o", "stroke-width=\"2\"");
    printf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" class=\"orange\"/>\n", x, at_rate(rate));
}

static void draw_points(const petal_options *options, const petal_info *plan)
{
    petal_filter *filter = NULL;
    if (petal_create(options, &filter, NULL) != PETAL_OK) stop("cannot create the filter");
    for (int64_t key = 0; key < 3 * CURVE_KEYS;) {
        petal_add_i64(filter, key++);
        if (key % (CURVE_KEYS / 2) == 0) draw_measured(filter, key, plan);
    }
    petal_free(filter);
}

static void draw_axes(void)
{
    static const char *const RATES[] = {"every key", "1 in 10", "1 in 100", "1 in 1,000",
                                        "1 in 10,000"};
    for (int i = 0; i <= 4; i++) {
        double y = CURVE_Y + CURVE_HEIGHT * i / 4;
        line(CURVE_X, y, CURVE_X + CURVE_WIDTH, y, "rule", "");
        text(CURVE_X + CURVE_WIDTH + 8, y + 4, "muted small", "%s", RATES[i]);
    }
    for (int i = 0; i <= 6; i++)
        text(at_keys(CURVE_KEYS * i / 2.0), CURVE_Y + CURVE_HEIGHT + 20, "muted small mid", "%.3gx",
             i / 2.0);
    text(CURVE_X + CURVE_WIDTH / 2, CURVE_Y + CURVE_HEIGHT + 42, "ink mid",
         "keys, as a multiple of those planned");
    text(CURVE_X, 26, "ink", "How often an absent key gets &#8220;probably&#8221;");
}

static void draw_curve(const char *mode)
{
    petal_options blocked = PETAL_OPTIONS_INIT, classic = PETAL_OPTIONS_INIT;
    petal_info plan = PETAL_INFO_INIT, other = PETAL_INFO_INIT;
    char description[512];
    blocked.capacity = classic.capacity = CURVE_KEYS;
    blocked.rate = 0.01;
    if (petal_plan(&blocked, &plan, NULL, NULL) != PETAL_OK) stop("no plan");
    classic.scheme = PETAL_SCHEME_CLASSIC;
    classic.memory_bytes = plan.bytes;
    if (petal_plan(&classic, &other, NULL, NULL) != PETAL_OK) stop("no plan");
    snprintf(
        description, sizeof description,
        "False-positive rate against keys, for a filter planned for 1 %%. With the planned number of keys 1 %%; with 1.5 "
        "times as many %.2g %%, with twice as many %.2g %%, with three times as many %.2g %%. Measured points lie on "
        "the line.",
        100 * petal_predict_rate(&plan, 3 * CURVE_KEYS / 2),
        100 * petal_predict_rate(&plan, 2 * CURVE_KEYS),
        100 * petal_predict_rate(&plan, 3 * CURVE_KEYS));
    begin(mode, 740, 440, "Rate against keys", description);
    draw_axes();
    draw_prediction(&other, "k", "stroke-width=\"1\" stroke-dasharray=\"5 4\"");
    draw_prediction(&plan, "o", "stroke-width=\"2.5\"");
    draw_points(&blocked, &plan);
    double x = at_keys(CURVE_KEYS), y = at_rate(0.01);
    printf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"9\" class=\"k\" stroke-width=\"2\"/>\n", x, y);
    text(x + 14, y + 18, "ink strong", "as planned: 1 %%");
    line(90, 415, 120, 415, "o", "stroke-width=\"2.5\"");
    text(128, 419, "ink small", "blocked, predicted");
    printf("<circle cx=\"270\" cy=\"415\" r=\"4\" class=\"orange\"/>\n");
    text(282, 419, "ink small", "blocked, measured, with 95 %% interval");
    line(535, 415, 565, 415, "k", "stroke-dasharray=\"5 4\"");
    text(573, 419, "ink small", "classic, same memory");
    end();
}

/* ----------------------------------------------------------------------------------------- main */

int main(int argc, char **argv)
{
    if (argc != 4)
        stop("usage: figures overview|memory|cells|line|curve light|dark|auto SETS-FILE < keys");
    const char *name = argv[1], *mode = argv[2], *sets_file = argv[3];
    if (strcmp(name, "overview") == 0)
        draw_overview(mode, sets_file);
    else if (strcmp(name, "memory") == 0)
        draw_memory(mode, sets_file);
    else if (strcmp(name, "cells") == 0)
        draw_cells(mode);
    else if (strcmp(name, "line") == 0)
        draw_line(mode);
    else if (strcmp(name, "curve") == 0)
        draw_curve(mode);
    else
        stop("no such figure");
    return ferror(stdout) || fflush(stdout) != 0;
}
