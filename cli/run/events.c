#include "run/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/blocks.h"
#include "rattleback/impact.h"
#include "rattleback/io.h"

struct events {
    blocks file;
    const rb_model *m;
    int json;
    int lost; /* 1: out of memory */

    /* of the step that is on its way */
    rb_event *event;
    size_t n, room;
};

static void take(void *ctx, const rb_event *event)
{
    events *e = ctx;
    if (e->n == e->room) {
        size_t room = 2 * e->room + 256;
        rb_event *more = realloc(e->event, room * sizeof *more);
        if (!more) {
            e->lost = 1;
            return;
        }
        e->event = more;
        e->room = room;
    }
    e->event[e->n++] = *event;
}

/* ---- one event ---------------------------------------------------------------------------------
 */

/* The name of a geom, or # and its number. */
static const char *geom_name(const events *e, int geom, char *buffer, size_t size)
{
    if (geom < 0) return "";
    const char *name = rb_model_name(e->m, RB_KIND_GEOM, geom, buffer, size);
    if (name[0] != '\0') return name;
    snprintf(buffer, size, "#%d", geom);
    return buffer;
}

static void put_csv_text(FILE *out, const char *text)
{
    int quote = strpbrk(text, ",\"\n") != NULL;
    if (quote) putc('"', out);
    for (; *text; text++) {
        if (*text == '"') putc('"', out);
        putc(*text, out);
    }
    if (quote) putc('"', out);
}

static void put_numbers(FILE *out, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (i > 0) putc(',', out);
        rb_json_put_number(out, x[i]);
    }
}

static void put_csv(const events *e, const rb_event *event)
{
    char buffer[256];
    FILE *out = e->file.text;
    rb_json_put_number(out, event->time);
    fprintf(out, ",%s,", rb_event_kind_name(event->kind));
    put_csv_text(out, geom_name(e, event->geom1, buffer, sizeof buffer));
    putc(',', out);
    put_csv_text(out, geom_name(e, event->geom2, buffer, sizeof buffer));
    const double *vectors[3] = { event->pos, event->normal, event->impulse };
    for (int k = 0; k < 3; k++) {
        putc(',', out);
        put_numbers(out, vectors[k], 3);
    }
    putc(',', out);
    rb_json_put_number(out, event->speed);
    putc(',', out);
    rb_json_put_number(out, event->energy);
    fprintf(out, ",%d,", event->count);
    for (int i = 0; i < event->nphase; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", rb_impact_phase_name(event->phase[i]));
    putc(',', out);
    put_csv_text(out, event->text ? event->text : "");
    putc('\n', out);
}

static void put_json_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, ",\"%s\":", key);
    rb_json_put_string(out, text);
}

static void put_json_vector(FILE *out, const char *key, const double *x)
{
    fprintf(out, ",\"%s\":[", key);
    put_numbers(out, x, 3);
    putc(']', out);
}

static void put_json(const events *e, const rb_event *event)
{
    char buffer[256];
    FILE *out = e->file.text;
    fputs("{\"time\":", out);
    rb_json_put_number(out, event->time);
    put_json_text(out, "kind", rb_event_kind_name(event->kind));
    if (event->geom1 >= 0) {
        put_json_text(out, "geom1", geom_name(e, event->geom1, buffer, sizeof buffer));
        put_json_text(out, "geom2", geom_name(e, event->geom2, buffer, sizeof buffer));
        put_json_vector(out, "pos", event->pos);
        put_json_vector(out, "normal", event->normal);
        put_json_vector(out, "impulse", event->impulse);
        fputs(",\"speed\":", out);
        rb_json_put_number(out, event->speed);
    }
    fputs(",\"energy\":", out);
    rb_json_put_number(out, event->energy);
    fprintf(out, ",\"count\":%d", event->count);
    if (event->nphase > 0) {
        fputs(",\"phases\":[", out);
        for (int i = 0; i < event->nphase; i++)
            fprintf(out, "%s\"%s\"", i > 0 ? "," : "", rb_impact_phase_name(event->phase[i]));
        putc(']', out);
    }
    if (event->text) put_json_text(out, "text", event->text);
    fputs("}\n", out);
}

/* ---- the file ----------------------------------------------------------------------------------
 */

static int ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

events *events_open(const char *path, const rb_model *m)
{
    events *e = calloc(1, sizeof *e);
    if (!e) {
        fprintf(stderr, "%s: out of memory\n", path);
        return NULL;
    }
    *e = (events){ .m = m, .json = ends_with(path, ".jsonl") };
    if (!blocks_open(&e->file, path)) {
        free(e);
        return NULL;
    }
    if (!e->json)
        fputs("time,kind,geom1,geom2,x,y,z,nx,ny,nz,px,py,pz,speed,energy,count,phases,text\n",
              e->file.text);
    return e;
}

rb_event_sink events_sink(events *e)
{
    return (rb_event_sink){ take, e };
}

void events_step(events *e, int done)
{
    for (size_t i = 0; i < e->n && done; i++) {
        if (e->json)
            put_json(e, &e->event[i]);
        else
            put_csv(e, &e->event[i]);
        blocks_line(&e->file);
    }
    e->n = 0;
}

int events_close(events *e)
{
    if (!e) return 1;
    int good = blocks_close(&e->file) && !e->lost;
    if (e->lost) fprintf(stderr, "%s: events are missing: out of memory\n", e->file.path);
    free(e->event);
    free(e);
    return good;
}
