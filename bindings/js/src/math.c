/* math.c - implements log, log2, exp and pow without the C library's tables, which would take up a
 * tenth of a module. The functions evaluate short series with pairs of doubles (T. J. Dekker 1971),
 * accurate to 100 bits. All but about one in 10^9 results are correctly rounded. The functions are
 * used only to plan filters, so a millisecond doesn't matter. */
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct pair {
    double high, low;
} pair;

static const pair ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

static pair sum_of(double a, double b)
{
    double sum = a + b, part = sum - a;
    return (pair){sum, (a - (sum - part)) + (b - part)};
}

static pair product_of(double a, double b)
{
    double c = 134217729 * a, d = 134217729 * b; /* 2^27 + 1 splits 53 bits into halves */
    double a1 = c - (c - a), b1 = d - (d - b), a2 = a - a1, b2 = b - b1, product = a * b;
    return (pair){product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

static pair add(pair a, pair b)
{
    pair sum = sum_of(a.high, b.high), rest = sum_of(a.low, b.low);
    sum = sum_of(sum.high, sum.low + rest.high);
    return sum_of(sum.high, sum.low + rest.low);
}

static pair multiply(pair a, pair b)
{
    pair product = product_of(a.high, b.high);
    return sum_of(product.high, product.low + (a.high * b.low + a.low * b.high));
}

static pair divide(pair a, pair b)
{
    double first = a.high / b.high;
    pair rest = multiply(b, (pair){-first, 0});
    rest = add(a, rest);
    double second = rest.high / b.high;
    rest = add(rest, multiply(b, (pair){-second, 0}));
    return add(sum_of(first, second), (pair){rest.high / b.high, 0});
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

static double power_of_2(int exponent) /* -1022 to 1023 */
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

/* For a positive number: x = m 2^e with m near 1, and ln m = 2 atanh((m - 1) / (m + 1)). */
static pair log_pair(double x)
{
    int exponent = 0;
    if (x < 0x1p-1022) x *= 0x1p54, exponent = -54;
    int power = (int)(bits_of(x) >> 52) - 1023;
    x *= power_of_2(power > 1022 ? -1022 : -power);
    if (power > 1022) x *= 0.5;
    if (x > 1.4142135623730951) x *= 0.5, power++;
    exponent += power;
    pair s = divide(sum_of(x, -1), sum_of(x, 1)), square = multiply(s, s), sum = {0, 0};
    for (int n = 45; n >= 1; n -= 2)
        sum = add(multiply(sum, square), divide((pair){2, 0}, (pair){n, 0}));
    return add(multiply(sum, s), multiply(ln2, (pair){exponent, 0}));
}

/* e^x = 2^k e^r, where e^r comes from the Taylor series for r / 16. */
static double exp_pair(pair x)
{
    if (x.high > 710) return INFINITY;
    if (x.high < -746) return 0;
    int power = (int)(x.high / ln2.high + (x.high < 0 ? -0.5 : 0.5));
    pair r = add(x, multiply(ln2, (pair){-power, 0})), sum = {1, 0};
    r.high /= 16, r.low /= 16;
    for (int n = 16; n >= 1; n--) sum = add(divide(multiply(sum, r), (pair){n, 0}), (pair){1, 0});
    for (int i = 0; i < 4; i++) sum = multiply(sum, sum);
    int half = power / 2;
    return sum.high * power_of_2(half) * power_of_2(power - half);
}

static double unusual_log(double x)
{
    return x == 0 ? -INFINITY : x < 0 ? NAN : x; /* inf and nan */
}

double log(double x)
{
    if (!(x > 0) || x - x != 0) return unusual_log(x);
    return x == 1 ? 0 : log_pair(x).high;
}

double log2(double x)
{
    if (!(x > 0) || x - x != 0) return unusual_log(x);
    return divide(log_pair(x), ln2).high;
}

double exp(double x)
{
    if (x != x) return x;
    return exp_pair((pair){x, 0});
}

double pow(double x, double y)
{
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return x + y;
    double size = x < 0 ? -x : x, sign = 1;
    if (x < 0) {
        if (floor(y) != y) return size - size != 0 ? (y < 0 ? 0 : INFINITY) : NAN;
        sign = floor(y / 2) * 2 == y ? 1 : -1;
    }
    if (size == 1) return sign;
    if (size == 0 || size - size != 0 || y > 0x1p70 || y < -0x1p70)
        return sign * (((size > 1) == (y > 0)) ? INFINITY : 0);
    return sign * exp_pair(multiply(log_pair(size), (pair){y, 0}));
}
