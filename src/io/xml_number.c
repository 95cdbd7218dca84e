/* Decimal text -> double, in any locale.
 *
 * Most numbers of a model file have at most 15 digits and a small power of ten: both are exact
 * doubles then, and one multiplication or division rounds correctly [Clinger 1990]. The rest goes
 * through strtod, which rounds correctly too, with the decimal point that the locale wants. */
#include "io/xml.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* 15 digits and 10^22 are exact in a double. Longer tokens than the buffer are no honest number. */
enum { EXACT_DIGITS = 15, EXACT_POWER = 22, TOKEN_MAX = 400, POWER_MAX = 100000 };

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* sign digits [. digits] [e sign digits], taken apart */
typedef struct decimal {
    int negative;
    uint64_t digits; /* the leading ones, without leading zeros                           */
    int ndigit;      /* how many digits there are, without leading zeros                  */
    int power;       /* of ten, to be applied to `digits`                                 */
} decimal;

static void push_digit(decimal *d, char c, int behind_point)
{
    if (d->ndigit < EXACT_DIGITS + 3) {
        d->digits = 10 * d->digits + (uint64_t)(c - '0');
        d->ndigit += d->ndigit > 0 || c != '0';
        d->power -= behind_point;
    } else {
        d->ndigit++;
        d->power += !behind_point;
    }
}

/* End of the token where it is a number by this grammar, else NULL. */
static const char *scan_decimal(const char *at, const char *end, decimal *d)
{
    *d = (decimal){ 0 };
    int any = 0;
    if (at < end && (*at == '-' || *at == '+')) d->negative = *at++ == '-';
    for (; at < end && is_digit(*at); at++, any = 1) push_digit(d, *at, 0);
    if (at < end && *at == '.') at++;
    for (; at < end && is_digit(*at); at++, any = 1) push_digit(d, *at, 1);
    if (!any) return NULL;

    if (at < end && (*at == 'e' || *at == 'E')) {
        int exponent = 0, negative = 0;
        at++;
        if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
        if (at == end || !is_digit(*at)) return NULL;
        for (; at < end && is_digit(*at); at++)
            if (exponent < POWER_MAX) exponent = 10 * exponent + (*at - '0');
        d->power += negative ? -exponent : exponent;
    }
    return at == end || is_blank(*at) ? at : NULL;
}

static double power_of_ten(int power)
{
    static const double table[EXACT_POWER + 1] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    return table[power];
}

/* strtod on a copy whose point is the locale's. */
static int slow_number(const char *at, size_t length, double *out)
{
    const char *point = localeconv()->decimal_point;
    size_t point_length = strlen(point);
    char token[TOKEN_MAX + 16];
    size_t used = 0;
    if (length > TOKEN_MAX || point_length > 8) return 0;
    for (size_t k = 0; k < length; k++) {
        if (at[k] == '.') {
            memcpy(token + used, point, point_length);
            used += point_length;
        } else {
            token[used++] = at[k];
        }
    }
    token[used] = '\0';
    char *stop = NULL;
    *out = strtod(token, &stop);
    return stop == token + used && *out - *out == 0.0;
}

int rb_xml_scan_number(const char **text, const char *end, double *out)
{
    decimal d;
    const char *behind = scan_decimal(*text, end, &d);
    if (!behind) return 0;

    int exact = d.ndigit <= EXACT_DIGITS && d.power >= -EXACT_POWER && d.power <= EXACT_POWER;
    if (exact) {
        double x = (double)d.digits;
        x = d.power < 0 ? x / power_of_ten(-d.power) : x * power_of_ten(d.power);
        *out = d.negative ? -x : x;
    } else if (!slow_number(*text, (size_t)(behind - *text), out)) {
        return 0;
    }
    *text = behind;
    return 1;
}
