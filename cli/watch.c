#include "watch.h"

#include <stdio.h>
#include <stdlib.h>

static const char *mode_word(int mode)
{
    static const char *const words[] = { "unknown", "open", "stick", "slide", "upper" };
    return mode >= 0 && mode < 5 ? words[mode] : "?";
}

static void name_touch(const rb_model *m, const rb_touch_id *id, char *text, size_t size)
{
    char a[128], b[128];
    if (id->kind == 0) {
        const char *first = rb_model_name(m, RB_KIND_GEOM, id->a, a, sizeof a);
        const char *second = rb_model_name(m, RB_KIND_GEOM, id->b, b, sizeof b);
        snprintf(text, size, "contact %s#%d %s#%d.%u", first, id->a, second, id->b,
                 (unsigned)id->c);
    } else {
        static const char *const kinds[] = { "contact", "limit", "dry friction", "equality" };
        snprintf(text, size, "%s %d", kinds[id->kind], id->a);
    }
}

/* The order of a state's touches. */
static int compare(const rb_touch_id *x, const rb_touch_id *y)
{
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    if (x->b != y->b) return x->b < y->b ? -1 : 1;
    return (x->c > y->c) - (x->c < y->c);
}

static void tell(const rb_model *m, double time, const rb_touch_id *id, int was, int is)
{
    char name[320];
    if (was == is) return;
    name_touch(m, id, name, sizeof name);
    fprintf(stderr, "t = %.6f  %s: %s -> %s\n", time, name, mode_word(was), mode_word(is));
}

static void keep(watch *w, const rb_data *d)
{
    size_t n = (size_t)d->ntouch + 1;
    unsigned char *mode = realloc(w->mode, n);
    if (mode) w->mode = mode;
    rb_touch_id *id = realloc(w->id, n * sizeof *id);
    if (id) w->id = id;
    w->n = mode && id ? d->ntouch : 0;
    for (int i = 0; i < w->n; i++) {
        w->mode[i] = (unsigned char)d->touch[i].mode;
        w->id[i] = d->touch[i].id;
    }
}

void watch_step(watch *w, const rb_model *m, const rb_data *d)
{
    int was = 0;
    for (int i = 0; i < d->ntouch; i++) {
        const rb_touch *t = &d->touch[i];
        for (; was < w->n && compare(&w->id[was], &t->id) < 0; was++)
            tell(m, d->time, &w->id[was], w->mode[was], RB_MODE_OPEN);
        int known = was < w->n && compare(&w->id[was], &t->id) == 0;
        tell(m, d->time, &t->id, known ? w->mode[was] : RB_MODE_OPEN, t->mode);
        was += known;
    }
    for (; was < w->n; was++) tell(m, d->time, &w->id[was], w->mode[was], RB_MODE_OPEN);
    keep(w, d);
}

void watch_free(watch *w)
{
    free(w->id);
    free(w->mode);
    *w = (watch){ 0 };
}
