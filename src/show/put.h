/* Pieces of JSON, as short as they may be: what is drawn needs seven digits. */
#ifndef RB_SHOW_PUT_H
#define RB_SHOW_PUT_H

#include <stdint.h>
#include <stdio.h>

#include "rattleback/show.h"

/* One object or list that is being written: commas come by themselves. */
typedef struct put {
    FILE *out;
    int some; /* 1: a comma comes before the next member    */
} put;

void rb_show_put_key(put *p, const char *key); /* NULL: an entry of a list */
void rb_show_put_number(put *p, const char *key, double x);
void rb_show_put_digits(put *p, const char *key, double x); /* all 17 of them */
void rb_show_put_int(put *p, const char *key, long x);
void rb_show_put_text(put *p, const char *key, const char *text);
void rb_show_put_vector(put *p, const char *key, const double *x, int n);
void rb_show_put_bounds(put *p, const char *key, const double x[3]); /* 10 digits */
void rb_show_put_begin(put *p, const char *key, char bracket);
void rb_show_put_end(put *p, char bracket);

/* key with base64 of little-endian numbers; the bytes that it took. */
size_t rb_show_put_u8(put *p, const char *key, const uint8_t *x, size_t n);
size_t rb_show_put_u16(put *p, const char *key, const uint16_t *x, size_t n);
size_t rb_show_put_u32(put *p, const char *key, const uint32_t *x, size_t n);
size_t rb_show_put_f32(put *p, const char *key, const float *x, size_t n);
size_t rb_show_put_f64(put *p, const char *key, const double *x, size_t n);

#endif
