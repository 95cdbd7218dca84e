/* Any struct of the table as JSON. */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flat/fields.h"

/* A text that grows; `failed` once memory ran out. */
typedef struct text {
    char *at;
    size_t used, room;
    int failed;
} text;

static void put(text *t, const char *bytes, size_t n)
{
    if (t->failed) return;
    if (t->used + n + 1 > t->room) {
        size_t room = 2 * (t->used + n) + 256;
        char *grown = realloc(t->at, room);
        t->failed = grown == NULL;
        if (t->failed) return;
        t->at = grown;
        t->room = room;
    }
    memcpy(t->at + t->used, bytes, n);
    t->used += n;
    t->at[t->used] = '\0';
}

static void print(text *t, const char *format, ...)
{
    char buffer[64];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(buffer, sizeof buffer, format, list);
    va_end(list);
    if (n > 0) put(t, buffer, (size_t)n < sizeof buffer ? (size_t)n : sizeof buffer - 1);
}

static void put_string(text *t, const char *s, size_t most)
{
    put(t, "\"", 1);
    for (size_t i = 0; i < most && s[i]; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            print(t, "\\%c", c);
        else if (c < 0x20)
            print(t, "\\u%04x", c);
        else
            put(t, s + i, 1);
    }
    put(t, "\"", 1);
}

static void put_struct(text *t, const char *name, const char *object);

/* One element; numbers in the C locale whatever the process has set. */
static void put_element(text *t, const rb_field *f, const char *at)
{
    if (f->type == RB_FIELD_STRUCT) {
        put_struct(t, f->type_name, at);
    } else if (f->type == RB_FIELD_DOUBLE) {
        double x;
        char buffer[40];
        memcpy(&x, at, sizeof x);
        snprintf(buffer, sizeof buffer, "%.17g", x);
        for (char *c = buffer; *c; c++)
            if (*c == ',') *c = '.';
        print(t, "%s", isfinite(x) ? buffer : "null");
    } else if (f->type == RB_FIELD_TEXT) {
        const char *s;
        memcpy(&s, at, sizeof s);
        put_string(t, s ? s : "", SIZE_MAX);
    } else if (f->type == RB_FIELD_UCHAR) {
        print(t, "%d", *(const unsigned char *)at);
    } else if (f->type == RB_FIELD_SCHAR) {
        print(t, "%d", *(const signed char *)at);
    } else if (f->size == 8) {
        uint64_t x;
        memcpy(&x, at, sizeof x);
        if (f->type == RB_FIELD_LONG)
            print(t, "%lld", (long long)x);
        else
            print(t, "%llu", (unsigned long long)x);
    } else {
        int x;
        memcpy(&x, at, sizeof x);
        if (f->type == RB_FIELD_UINT)
            print(t, "%u", (unsigned)x);
        else
            print(t, "%d", x);
    }
}

static void put_list(text *t, const rb_field *f, const char *at, size_t n)
{
    put(t, "[", 1);
    for (size_t i = 0; i < n; i++) {
        if (i) put(t, ",", 1);
        put_element(t, f, at + i * f->size);
    }
    put(t, "]", 1);
}

static void put_array(text *t, const rb_field *f, const char *at, const size_t length[2])
{
    if (f->ndim < 2) {
        put_list(t, f, at, length[0]);
        return;
    }
    put(t, "[", 1);
    for (size_t i = 0; i < length[0]; i++) {
        if (i) put(t, ",", 1);
        put_list(t, f, at + i * length[1] * f->size, length[1]);
    }
    put(t, "]", 1);
}

static void put_field(text *t, const rb_field *f, const char *object)
{
    size_t length[2];
    const char *at = object + f->offset;
    rb_flat_shape(f, object, length);
    if (f->pointer) memcpy(&at, object + f->offset, sizeof at);
    if (f->type == RB_FIELD_CHAR)
        put_string(t, at ? at : "", f->pointer ? SIZE_MAX : length[0]);
    else if (f->pointer && !at)
        put(t, "null", 4);
    else if (f->ndim > 0)
        put_array(t, f, at, length);
    else
        put_element(t, f, at);
}

static void put_struct(text *t, const char *name, const char *object)
{
    int first = 1;
    put(t, "{", 1);
    for (int k = 0; k < rb_flat_nfield; k++) {
        const rb_field *f = &rb_flat_fields[k];
        if (strcmp(f->owner, name) != 0) continue;
        if (!first) put(t, ",", 1);
        first = 0;
        put_string(t, f->name, SIZE_MAX);
        put(t, ":", 1);
        put_field(t, f, object);
    }
    put(t, "}", 1);
}

char *rb_flat_json(const char *struct_name, const void *object)
{
    text t = { 0 };
    if (rb_flat_size(struct_name) == 0) return NULL;
    put_struct(&t, struct_name, object);
    if (!t.failed) return t.at;
    free(t.at);
    return NULL;
}

void rb_flat_free(void *block)
{
    free(block);
}
