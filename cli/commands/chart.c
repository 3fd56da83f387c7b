/* chart.c - see chart.h.
 *
 *     rate, log      1 in 1  |                  ____----
 *                   1 in 10  |          ___-----
 *                  1 in 100  |- - - -(o)                      ring: the design point
 *                            |    /  :
 *                            +-------+-------+-------+  keys: 0, 1x, 2x, 3x */

#include "commands/chart.h"

#include "files/paths.h"
#include "output/numbers.h"
#include "output/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 640,
    HEIGHT = 400,
    LEFT = 96,
    RIGHT = 24,
    TOP = 56,
    BOTTOM = 56,
    POINTS = 180,
    TIMES = 3
};

/* The ranges of the axes. */
struct axes {
    double keys; /* number of keys at the right end */
    int decades; /* number of decades below a rate of 1, which is at the top */
};

static double x_of(const struct axes *axes, double keys)
{
    return LEFT + keys / axes->keys * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct axes *axes, double rate)
{
    double below = -log10(rate) / axes->decades;
    return TOP + (below > 1 ? 1 : below) * (HEIGHT - TOP - BOTTOM);
}

/* Writes a style sheet with plain classes, because many SVG viewers don't support CSS variables. */
static void draw_style(FILE *out)
{
    fputs(
        "<style>\n"
        "text{font:13px system-ui,sans-serif;fill:#1a1a1a}.title{font-size:15px;font-weight:600}\n"
        ".paper{fill:#fff}.grid{stroke:#d5d5d5;fill:none}.curve{fill:none;stroke-width:2}\n"
        ".ring{fill:#fff;stroke:#1a1a1a;stroke-width:2}\n"
        ".line0{stroke:#0b62c4}.line1{stroke:#b45309;stroke-dasharray:7 4}\n"
        ".line2{stroke:#6b21a8;stroke-dasharray:2 3}.line3{stroke:#047857;stroke-dasharray:9 3 2 3}\n"
        "@media (prefers-color-scheme:dark){\n"
        "text{fill:#e8e8e8}.paper{fill:#161616}.grid{stroke:#444}.ring{fill:#161616;stroke:#e8e8e8}\n"
        ".line0{stroke:#6cb2ff}.line1{stroke:#ffb45c}.line2{stroke:#d0a2ff}.line3{stroke:#5fe0b0}}\n"
        "</style>\n",
        out);
}

static struct text axis_label(int decade)
{
    double odds = pow(10, decade);
    struct text out;
    snprintf(out.s, sizeof out.s, "1 in %.32s",
             decade < 6 ? grouped((uint64_t)odds).s : rounded(odds).s);
    return out;
}

static void draw_frame(const struct axes *axes, const petal_info *design, FILE *out)
{
    for (int i = 0; i <= axes->decades; i++) {
        double y = y_of(axes, pow(10, -i));
        fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, y, WIDTH - RIGHT);
        fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 8, y + 4,
                axis_label(i).s);
    }
    for (int i = 0; i <= TIMES; i++) {
        double x = x_of(axes, i * (double)design->capacity);
        fprintf(out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>", x, TOP, HEIGHT - BOTTOM);
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x,
                HEIGHT - BOTTOM + 20, rounded(i * (double)design->capacity).s);
    }
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">distinct keys in the filter</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12);
    fprintf(
        out,
        "<text x=\"16\" y=\"%d\" text-anchor=\"middle\" transform=\"rotate(-90 16 %d)\">false positives</text>\n",
        (TOP + HEIGHT - BOTTOM) / 2, (TOP + HEIGHT - BOTTOM) / 2);
}

/* Draws a curve, except where the rate is below the bottom of the chart. */
static void draw_curve(const struct axes *axes, const petal_info *plan, size_t number, FILE *out)
{
    double lowest = pow(10, -axes->decades);
    bool drawn = false;
    fprintf(out, "<path class=\"curve line%zu\" d=\"", number);
    for (int i = 1; i <= POINTS; i++) {
        double keys = axes->keys * i / POINTS, rate = petal_predict_rate(plan, (uint64_t)keys);
        if (!(rate >= lowest)) continue;
        fprintf(out, "%c%.1f %.1f", drawn ? 'L' : 'M', x_of(axes, keys), y_of(axes, rate));
        drawn = true;
    }
    fputs("\"/>\n", out);
}

static void draw_legend(const petal_info *plans, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        int x = LEFT + (int)i * 250;
        fprintf(out, "<path class=\"curve line%zu\" d=\"M%d 40h28\"/>", i, x);
        fprintf(out, "<text x=\"%d\" y=\"44\">%s, %s</text>\n", x + 36, plans[i].scheme_name,
                size_text(plans[i].bytes, 4).s);
    }
}

static void draw_design_point(const struct axes *axes, const petal_info *design, FILE *out)
{
    double x = x_of(axes, (double)design->capacity), y = y_of(axes, design->predicted_rate);
    fprintf(out, "<circle class=\"ring\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/>\n", x, y);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s at %s keys</text>\n", x + 12, y + 18,
            rate_text(design->predicted_rate, 2).s, rounded((double)design->capacity).s);
}

/* Three decades below the design point are enough to show how the curve rises to the design
 * point. */
static struct axes axes_of(const petal_info *design)
{
    int decades = (int)ceil(-log10(design->predicted_rate) - 1e-9) + 2;
    return (struct axes){TIMES * (double)design->capacity, decades < 3    ? 3
                                                           : decades > 40 ? 40
                                                                          : decades};
}

static void draw(const petal_info *plans, size_t count, FILE *out)
{
    struct axes axes = axes_of(&plans[0]);
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    fprintf(out, "<title>False positives against keys: planned for %s at %s</title>\n",
            grouped(plans[0].capacity).s, rate_text(plans[0].predicted_rate, 2).s);
    draw_style(out);
    fprintf(out, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", WIDTH, HEIGHT);
    fprintf(out,
            "<text class=\"title\" x=\"%d\" y=\"22\">False positives as keys are added</text>\n",
            LEFT);
    draw_legend(plans, count, out);
    draw_frame(&axes, &plans[0], out);
    for (size_t i = 0; i < count; i++) draw_curve(&axes, &plans[i], i, out);
    draw_design_point(&axes, &plans[0], out);
    fputs("</svg>\n", out);
}

bool save_chart(const char *path, const petal_info *plans, size_t count, bool force)
{
    FILE *out = tmpfile(); /* standard C, unlike open_memstream(), which is only in POSIX */
    if (!out) return complain(path, "cannot make a temporary file: %s", strerror(errno));
    draw(plans, count, out);
    long size = ftell(out);
    char *text = size > 0 ? malloc((size_t)size) : NULL;
    rewind(out);
    bool good = text && fread(text, 1, (size_t)size, out) == (size_t)size;
    good = good ? save_text(path, text, (size_t)size, force)
                : complain(path, "cannot write it: %s", strerror(errno));
    fclose(out);
    free(text);
    return good;
}
