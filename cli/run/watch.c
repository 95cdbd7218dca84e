#include "run/watch.h"

#include <stdio.h>
#include <stdlib.h>

static const char *mode_word(int mode)
{
    static const char *const words[] = { "unknown", "open", "stick", "slide", "upper" };
    return mode >= 0 && mode < 5 ? words[mode] : "?";
}

/* Joints after those of the model are tendons. */
static const char *joint_or_tendon(const rb_model *m, int k, char *text, size_t size)
{
    if (k >= m->njnt_all) return rb_model_name(m, RB_KIND_TENDON, k - m->njnt_all, text, size);
    return k < m->njnt ? rb_model_name(m, RB_KIND_JOINT, k, text, size) : "(measured)";
}

static int joint_of_dof(const rb_model *m, int dof)
{
    int joint = 0;
    if (dof >= m->nv_all) return m->njnt_all + dof - m->nv_all;
    for (int j = 0; j < m->njnt; j++)
        if (m->jnt_dofadr[j] <= dof) joint = j;
    return joint;
}

static void name_touch(const rb_model *m, const watched *x, char *text, size_t size)
{
    char a[128], b[128];
    const rb_touch_id *id = &x->id;
    if (id->kind == 0)
        snprintf(text, size, "contact %s %s at (%.4g, %.4g, %.4g)",
                 rb_geom_title(m, id->a, a, sizeof a), rb_geom_title(m, id->b, b, sizeof b),
                 x->pos[0] + 0.0, x->pos[1] + 0.0, x->pos[2] + 0.0);
    else if (id->kind == 1)
        snprintf(text, size, "%s limit of %s", id->b ? "upper" : "lower",
                 joint_or_tendon(m, id->a, a, sizeof a));
    else if (id->kind == 2)
        snprintf(text, size, "dry friction of %s",
                 joint_or_tendon(m, joint_of_dof(m, id->a), a, sizeof a));
    else if (*rb_model_name(m, RB_KIND_EQUALITY, id->a, a, sizeof a))
        snprintf(text, size, "equality %s", rb_model_name(m, RB_KIND_EQUALITY, id->a, a, sizeof a));
    else
        snprintf(text, size, "equality %d", id->a);
}

/* The order of a state's touches. */
static int compare(const rb_touch_id *x, const rb_touch_id *y)
{
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    if (x->b != y->b) return x->b < y->b ? -1 : 1;
    return (x->c > y->c) - (x->c < y->c);
}

static watched of_touch(const rb_touch *t)
{
    return (watched){ t->id, t->mode, { t->pos[0], t->pos[1], t->pos[2] } };
}

static void tell(const rb_model *m, double time, const watched *x, int was, int is)
{
    char name[400];
    if (was == is) return;
    name_touch(m, x, name, sizeof name);
    fprintf(stderr, "t = %.6f  %s: %s -> %s\n", time, name, mode_word(was), mode_word(is));
}

static void keep(watch *w, const rb_data *d)
{
    watched *touch = realloc(w->touch, ((size_t)d->ntouch + 1) * sizeof *touch);
    if (touch) w->touch = touch;
    w->n = touch ? d->ntouch : 0;
    for (int i = 0; i < w->n; i++) w->touch[i] = of_touch(&d->touch[i]);
}

void watch_step(watch *w, const rb_model *m, const rb_data *d)
{
    int was = 0;
    for (int i = 0; i < d->ntouch; i++) {
        watched t = of_touch(&d->touch[i]);
        for (; was < w->n && compare(&w->touch[was].id, &t.id) < 0; was++)
            tell(m, d->time, &w->touch[was], w->touch[was].mode, RB_MODE_OPEN);
        int known = was < w->n && compare(&w->touch[was].id, &t.id) == 0;
        tell(m, d->time, &t, known ? w->touch[was].mode : RB_MODE_OPEN, t.mode);
        was += known;
    }
    for (; was < w->n; was++) tell(m, d->time, &w->touch[was], w->touch[was].mode, RB_MODE_OPEN);
    keep(w, d);
}

void watch_free(watch *w)
{
    free(w->touch);
    *w = (watch){ 0 };
}
