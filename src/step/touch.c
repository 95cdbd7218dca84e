/* Stores the constraints of a step for the next one, sorted by identity and found by bisection. */
#include <string.h>

#include "step/touch.h"

const rb_touch *rb_touch_find(const rb_data *d, const rb_touch_id *id)
{
    int lo = 0, hi = d->ntouch;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        int order = rb_touch_order(&d->touch[middle].id, id);
        if (order == 0) return &d->touch[middle];
        if (order < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return NULL;
}

void rb_stage_store(rb_stage *s)
{
    rb_data *d = s->d;
    d->ntouch = s->set.n;
    d->touch_h = s->h;
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        rb_touch *touch = &d->touch[i];
        memset(touch, 0, sizeof *touch);
        touch->id = c->id;
        touch->mode = s->answer.mode[i];
        touch->nrow = c->nrow < 6 ? c->nrow : 6;
        touch->gap = c->gap + c->floor;
        touch->floor = c->floor;
        memcpy(touch->p, s->answer.p + c->row, (size_t)touch->nrow * sizeof *touch->p);
        memcpy(touch->u, s->problem.u + c->row, (size_t)touch->nrow * sizeof *touch->u);
        int holds = c->kind == RB_CONSTRAINT_EQUALITY || c->kind == RB_CONSTRAINT_LIMIT;
        if (s->answer.half && holds)
            memcpy(touch->frame, s->answer.half + c->row,
                   (size_t)touch->nrow * sizeof *touch->frame);
        if (c->kind != RB_CONSTRAINT_CONTACT) continue;
        memcpy(touch->pos, s->set.point + 3 * c->object, sizeof touch->pos);
        memcpy(touch->frame, s->set.frame + 9 * c->object, sizeof touch->frame);
    }
}
