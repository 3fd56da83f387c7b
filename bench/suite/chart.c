/* chart.c - draws ns per key against the size of the filter, on logarithmic axes:
 *
 *     100 |                        __--  libbloom
 *         |    ______-------------'  __  petal batch
 *      10 |   |L1   |L2  ___---'--'' ..  floor: a random line
 *       1 |...|....:|.'''''|L3
 *         +------------------------  10 KB ... 1 GB */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 760,
    HEIGHT = 440,
    LEFT = 64,
    RIGHT = 190,
    TOP = 64,
    BOTTOM = 60,
    LABEL_HEIGHT = 16
};

/* The contenders to draw, in the order of their colors. With all contenders, the chart would be
 * unreadable. */
static const char *const drawn[] = {
    "libbloom",         "petal classic batch", "rocksdb inline batch", "boost fm32 bulk 2M",
    "split-block in C", "petal one",           "petal inline",         "petal batch"};
#define CURVES (sizeof drawn / sizeof *drawn)
#define FLOOR_NAME "floor touch 2M"

struct axes {
    double min_bytes, max_bytes, min_ns, max_ns;
};

struct label {
    const char *text;
    size_t colour;
    double y;
};

/* A chart shows the outcomes for one key type and one number of bits per key, by size. */
struct chart {
    const struct outcome *outcomes[32];
    size_t count;
    enum phase phase;
    struct axes axes;
};

static double x_of(const struct axes *axes, double bytes)
{
    return LEFT + log(bytes / axes->min_bytes) / log(axes->max_bytes / axes->min_bytes) *
                      (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct axes *axes, double ns)
{
    return HEIGHT - BOTTOM -
           log(ns / axes->min_ns) / log(axes->max_ns / axes->min_ns) * (HEIGHT - TOP - BOTTOM);
}

static double bytes_of(const struct outcome *outcome)
{
    return (double)outcome->setting.keys * outcome->setting.bits_per_key / 8;
}

/* The style uses plain classes, because many programs that show SVG files don't support CSS
 * variables. */
static void draw_style(FILE *out)
{
    static const char *const light[CURVES] = {"#6e7781", "#9a6700", "#1a7f37", "#b35900",
                                              "#0e7490", "#8250df", "#cf222e", "#0860ca"};
    static const char *const dark[CURVES] = {"#9aa4ae", "#d9a72b", "#4cc26a", "#f0883e",
                                             "#39c5da", "#c29bff", "#ff7b72", "#58a6ff"};
    fputs(
        "<style>text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-size:15px;font-weight:600}\n"
        ".paper{fill:#fff}.grid{stroke:#d5d9de;fill:none}.step{stroke:#8c959f;stroke-dasharray:2 4;fill:none}\n"
        ".floor{fill:none;stroke:#afb8c1;stroke-width:5;stroke-linejoin:round}.muted{fill:#59636e}\n"
        ".curve{fill:none;stroke-width:2}",
        out);
    for (size_t i = 0; i < CURVES; i++)
        fprintf(out, ".c%zu{stroke:%s}.f%zu{fill:%s}", i, light[i], i, light[i]);
    fputs(
        "\n@media (prefers-color-scheme:dark){text{fill:#e6edf3}.paper{fill:#0d1117}.grid{stroke:#30363d}\n"
        ".step{stroke:#6e7681}.floor{stroke:#484f58}.muted{fill:#9aa4ae}",
        out);
    for (size_t i = 0; i < CURVES; i++)
        fprintf(out, ".c%zu{stroke:%s}.f%zu{fill:%s}", i, dark[i], i, dark[i]);
    fputs("}</style>\n", out);
}

static void size_text(double bytes, char text[32])
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    int unit = 0;
    for (; bytes >= 1000 && unit < 4; bytes /= 1000) unit++;
    snprintf(text, 32, "%.3g %s", bytes, units[unit]);
}

static void draw_grid(const struct chart *chart, FILE *out)
{
    const struct axes *axes = &chart->axes;
    for (double decade = 0.1; decade <= axes->max_ns * 1.001; decade *= 10)
        for (int step = 1; step <= 5; step += step == 1 ? 1 : 3) {
            double ns = decade * step, y = y_of(axes, ns);
            if (ns < axes->min_ns * 0.999 || ns > axes->max_ns * 1.001) continue;
            fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, y, WIDTH - RIGHT);
            fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 8,
                    y + 4, ns);
        }
    for (size_t i = 0; i < chart->count; i++) {
        double x = x_of(axes, bytes_of(chart->outcomes[i]));
        char size[32], keys[32];
        size_text(bytes_of(chart->outcomes[i]), size);
        fprintf(
            out,
            "<path class=\"grid\" d=\"M%.1f %dv6\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
            x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 20, size);
        fprintf(out,
                "<text class=\"muted\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s keys</text>\n",
                x, HEIGHT - BOTTOM + 36, power_text(chart->outcomes[i]->setting.keys, keys));
    }
    fprintf(out, "<text class=\"muted\" x=\"%d\" y=\"%d\">ns per key</text>\n", LEFT, TOP - 8);
}

static void draw_caches(const struct chart *chart, const struct machine *machine, FILE *out)
{
    for (int level = 0; level < 3; level++) {
        double bytes = (double)machine->cache_bytes[level];
        if (bytes < chart->axes.min_bytes || bytes > chart->axes.max_bytes) continue;
        double x = x_of(&chart->axes, bytes);
        fprintf(
            out,
            "<path class=\"step\" d=\"M%.1f %dV%d\"/><text class=\"muted\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">L%d</text>\n",
            x, TOP, HEIGHT - BOTTOM, x, TOP - 8, level + 1);
    }
}

static double median_of(const struct outcome *outcome, const char *name, enum phase phase)
{
    const struct result *result = faster_build(outcome, name, phase);
    return result ? spread_of(result, phase).median : NAN;
}

/* Draws a line. Returns the y coordinate of its right end, or NAN if there is nothing to draw. */
static double draw_curve(const struct chart *chart, const char *name, const char *class, FILE *out)
{
    double last = NAN;
    for (size_t i = 0; i < chart->count; i++) {
        double ns = median_of(chart->outcomes[i], name, chart->phase);
        if (isnan(ns)) continue;
        double y = y_of(&chart->axes, ns);
        if (isnan(last)) fprintf(out, "<path class=\"%s\" d=\"", class);
        fprintf(out, "%c%.1f %.1f", isnan(last) ? 'M' : 'L',
                x_of(&chart->axes, bytes_of(chart->outcomes[i])), y);
        last = y;
    }
    if (!isnan(last)) fprintf(out, "\"/>\n");
    return last;
}

static void draw_points(const struct chart *chart, size_t curve, FILE *out)
{
    for (size_t i = 0; i < chart->count; i++) {
        double ns = median_of(chart->outcomes[i], drawn[curve], chart->phase);
        if (isnan(ns)) continue;
        fprintf(out, "<circle class=\"f%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", curve,
                x_of(&chart->axes, bytes_of(chart->outcomes[i])), y_of(&chart->axes, ns));
    }
}

static int by_height(const void *a, const void *b)
{
    double x = ((const struct label *)a)->y, y = ((const struct label *)b)->y;
    return (x > y) - (x < y);
}

/* Draws labels at the right ends of the lines, moved apart where they would overlap, each in its
 * line's colour. */
static void draw_labels(struct label *labels, size_t count, FILE *out)
{
    qsort(labels, count, sizeof *labels, by_height);
    double limit = HEIGHT - BOTTOM - (double)LABEL_HEIGHT * ((double)count - 1), min = TOP;
    for (size_t i = 0; i < count; i++) {
        double y = fmax(fmin(labels[i].y, limit + LABEL_HEIGHT * (double)i), min);
        min = y + LABEL_HEIGHT;
        if (labels[i].colour < CURVES)
            fprintf(out, "<text class=\"f%zu\" ", labels[i].colour);
        else
            fprintf(out, "<text class=\"muted\" ");
        fprintf(out, "x=\"%d\" y=\"%.1f\">%s</text>\n", WIDTH - RIGHT + 12, y + 4, labels[i].text);
    }
}

static void draw_lines(const struct chart *chart, FILE *out)
{
    struct label labels[CURVES + 1];
    size_t count = 0;
    double y = draw_curve(chart, FLOOR_NAME, "floor", out);
    if (!isnan(y)) labels[count++] = (struct label){"floor: a random line", CURVES, y};
    for (size_t i = 0; i < CURVES; i++) {
        char class[16];
        snprintf(class, sizeof class, "curve c%zu", i);
        y = draw_curve(chart, drawn[i], class, out);
        draw_points(chart, i, out);
        if (!isnan(y)) labels[count++] = (struct label){drawn[i], i, y};
    }
    draw_labels(labels, count, out);
}

/* Rounds an end of the range of all drawn values, up or down, to 1, 2 or 5 times a power of ten. */
static double rounded(double ns, bool up)
{
    static const double steps[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(ns)));
    for (int i = 0; i < 4; i++) {
        int at = up ? i : 3 - i;
        if (up ? steps[at] * power >= ns * 0.999 : steps[at] * power <= ns * 1.001)
            return steps[at] * power;
    }
    return ns;
}

static void set_axes(struct chart *chart)
{
    double min = INFINITY, max = 0;
    for (size_t i = 0; i < chart->count; i++)
        for (size_t curve = 0; curve <= CURVES; curve++) {
            double ns = median_of(chart->outcomes[i], curve < CURVES ? drawn[curve] : FLOOR_NAME,
                                  chart->phase);
            if (isnan(ns)) continue;
            min = fmin(min, ns);
            max = fmax(max, ns);
        }
    chart->axes = (struct axes){bytes_of(chart->outcomes[0]) / 1.3,
                                bytes_of(chart->outcomes[chart->count - 1]) * 1.3,
                                rounded(min, false), rounded(max, true)};
}

static void draw(const struct chart *chart, const struct machine *machine, FILE *out)
{
    const struct setting *setting = &chart->outcomes[0]->setting;
    char title[160];
    snprintf(title, sizeof title, "%s keys of %s, %g bits per key",
             chart->phase == ADD ? "Adding" : "Asking for",
             setting->addresses ? "28 bytes" : "8 bytes", setting->bits_per_key);
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n"
        "<title>%s</title>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT, title);
    draw_style(out);
    fprintf(
        out,
        "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n<text class=\"title\" x=\"%d\" y=\"24\">%s</text>\n",
        WIDTH, HEIGHT, LEFT, title);
    if (chart->phase != ADD)
        fprintf(
            out,
            "<text class=\"muted\" x=\"%d\" y=\"41\">half of them are in, half are not</text>\n",
            LEFT);
    draw_grid(chart, out);
    draw_caches(chart, machine, out);
    draw_lines(chart, out);
    fprintf(out, "<text class=\"muted\" x=\"%d\" y=\"%d\">%.100s, %.32s</text>\n</svg>\n", LEFT,
            HEIGHT - 6, machine->cpu, machine->date);
}

static bool write_chart(struct chart *chart, const struct machine *machine, const char *folder)
{
    const struct setting *setting = &chart->outcomes[0]->setting;
    char path[4096];
    set_axes(chart);
    snprintf(path, sizeof path, "%s/bench-%s-%g-%s.svg", folder,
             setting->addresses ? "addresses" : "numbers", setting->bits_per_key,
             chart->phase == ADD ? "add" : "ask");
    FILE *out = fopen(path, "w");
    if (out) draw(chart, machine, out);
    if (out && fclose(out) == 0) return true;
    fprintf(stderr, "bench: cannot write %s\n", path);
    return false;
}

static bool alike(const struct setting *a, const struct setting *b)
{
    return a->addresses == b->addresses && a->bits_per_key == b->bits_per_key;
}

/* Collects this outcome and all others with the same key type and bits per key. Collects nothing if
 * their chart has already been drawn for an earlier outcome. */
static void gather(struct chart *chart, const struct run *run, size_t from)
{
    chart->count = 0;
    for (size_t i = 0; i < run->outcome_count; i++) {
        if (!alike(&run->outcomes[i]->setting, &run->outcomes[from]->setting)) continue;
        if (i < from) return;
        if (chart->count < 32) chart->outcomes[chart->count++] = run->outcomes[i];
    }
}

bool write_charts(const struct run *run, const char *folder)
{
    bool good = true;
    for (size_t i = 0; i < run->outcome_count; i++) {
        struct chart chart;
        gather(&chart, run, i);
        if (chart.count < 2) continue;
        chart.phase = ADD;
        good = write_chart(&chart, &run->machine, folder) && good;
        chart.phase = MIX;
        good = write_chart(&chart, &run->machine, folder) && good;
    }
    return good;
}
