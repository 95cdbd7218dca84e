#include "show/put.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---------------------------------------------------------------------------------------
 */

void rb_put_text(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7F || c == '<' || c == '>' || c == '&')
            fprintf(out, "\\u%04x", c);
        else
            putc(c, out);
    }
    putc('"', out);
}

void rb_show_put_key(put *p, const char *key)
{
    if (p->some) putc(',', p->out);
    p->some = 1;
    if (!key) return;
    rb_put_text(p->out, key);
    putc(':', p->out);
}

/* A locale may have set the decimal point. */
static void put_format(FILE *out, const char *format, double x)
{
    char digits[40];
    if (!isfinite(x)) {
        fputs("null", out);
        return;
    }
    snprintf(digits, sizeof digits, format, x == 0.0 ? 0.0 : x);
    char *comma = strchr(digits, ',');
    if (comma) *comma = '.';
    fputs(digits, out);
}

void rb_show_put_number(put *p, const char *key, double x)
{
    rb_show_put_key(p, key);
    put_format(p->out, "%.7g", x);
}

void rb_show_put_digits(put *p, const char *key, double x)
{
    rb_show_put_key(p, key);
    put_format(p->out, "%.17g", x);
}

void rb_show_put_int(put *p, const char *key, long x)
{
    rb_show_put_key(p, key);
    fprintf(p->out, "%ld", x);
}

void rb_show_put_text(put *p, const char *key, const char *text)
{
    rb_show_put_key(p, key);
    rb_put_text(p->out, text);
}

void rb_show_put_vector(put *p, const char *key, const double *x, int n)
{
    rb_show_put_begin(p, key, '[');
    for (int i = 0; i < n; i++) rb_show_put_number(p, NULL, x[i]);
    rb_show_put_end(p, ']');
}

void rb_show_put_bounds(put *p, const char *key, const double x[3])
{
    rb_show_put_begin(p, key, '[');
    for (int i = 0; i < 3; i++) {
        rb_show_put_key(p, NULL);
        put_format(p->out, "%.10g", x[i]);
    }
    rb_show_put_end(p, ']');
}

void rb_show_put_begin(put *p, const char *key, char bracket)
{
    rb_show_put_key(p, key);
    putc(bracket, p->out);
    p->some = 0;
}

void rb_show_put_end(put *p, char bracket)
{
    putc(bracket, p->out);
    p->some = 1;
}

/* ---- base64 -------------------------------------------------------------------------------------
 */

typedef struct base64 {
    FILE *out;
    unsigned held; /* bytes that are not written yet */
    int n;
    size_t written;
} base64;

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_four(base64 *b, int characters)
{
    for (int k = 0; k < 4; k++)
        putc(k < characters ? alphabet[b->held >> (18 - 6 * k) & 63U] : '=', b->out);
    b->written += 4;
    b->held = 0;
    b->n = 0;
}

static void put_byte(base64 *b, unsigned byte)
{
    b->held |= (byte & 255U) << (16 - 8 * b->n);
    if (++b->n == 3) put_four(b, 4);
}

static void finish(base64 *b)
{
    if (b->n > 0) put_four(b, b->n + 1);
}

void rb_put_base64(FILE *out, const void *bytes, size_t size)
{
    base64 b = { .out = out };
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) put_byte(&b, at[i]);
    finish(&b);
}

/* Numbers of `size` bytes, the lowest byte first on any machine. */
static void put_word(base64 *b, uint64_t word, int size)
{
    for (int k = 0; k < size; k++) put_byte(b, (unsigned)(word >> (8 * k)));
}

static base64 begin(put *p, const char *key)
{
    rb_show_put_key(p, key);
    putc('"', p->out);
    return (base64){ .out = p->out };
}

static size_t end(put *p, base64 *b)
{
    finish(b);
    putc('"', p->out);
    return b->written + 2;
}

size_t rb_show_put_u8(put *p, const char *key, const uint8_t *x, size_t n)
{
    base64 b = begin(p, key);
    for (size_t i = 0; i < n; i++) put_byte(&b, x[i]);
    return end(p, &b);
}

size_t rb_show_put_u16(put *p, const char *key, const uint16_t *x, size_t n)
{
    base64 b = begin(p, key);
    for (size_t i = 0; i < n; i++) put_word(&b, x[i], 2);
    return end(p, &b);
}

size_t rb_show_put_u32(put *p, const char *key, const uint32_t *x, size_t n)
{
    base64 b = begin(p, key);
    for (size_t i = 0; i < n; i++) put_word(&b, x[i], 4);
    return end(p, &b);
}

size_t rb_show_put_f32(put *p, const char *key, const float *x, size_t n)
{
    base64 b = begin(p, key);
    for (size_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, &x[i], sizeof word);
        put_word(&b, word, 4);
    }
    return end(p, &b);
}

size_t rb_show_put_f64(put *p, const char *key, const double *x, size_t n)
{
    base64 b = begin(p, key);
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        memcpy(&word, &x[i], sizeof word);
        put_word(&b, word, 8);
    }
    return end(p, &b);
}
