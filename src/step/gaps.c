/* The gaps at the new position: what the step promised is looked at (S.7). */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "step/stage.h"

/* First constraint of the starting set that is not before the id, by bisection. */
static int lower_bound(const rb_constraints *set, const rb_touch_id *id)
{
    int lo = 0, hi = set->n;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (rb_touch_order(&set->c[middle].id, id) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

double rb_stage_start_gap(const rb_stage *s, const rb_touch_id *id)
{
    const rb_constraints *set = &s->first;
    int contact = id->kind == RB_CONSTRAINT_CONTACT;
    rb_touch_id from = { id->kind, id->a, id->b, contact ? 0 : id->c };
    double gap = INFINITY;
    for (int i = lower_bound(set, &from); i < set->n; i++) {
        const rb_touch_id *at = &set->c[i].id;
        if (at->kind != id->kind || at->a != id->a || at->b != id->b) break;
        gap = fmin(gap, set->c[i].gap);
    }
    return gap < INFINITY ? gap : 0.0;
}

/* How much deeper a contact is than before the step; overlap that was there is not the step's. */
static double deepened(const rb_stage *s, const rb_contact *contact)
{
    rb_touch_id id = { RB_CONSTRAINT_CONTACT, contact->geom1, contact->geom2, contact->at.feature };
    return contact->at.gap - fmin(0.0, rb_stage_start_gap(s, &id));
}

static double limit_gap(const rb_model *m, const double *q, int j)
{
    if (!m->jnt_limited[j] || m->jnt_type[j] < RB_JOINT_SLIDE) return 0.0;
    const double *range = m->jnt_range + 2 * j;
    double x = q[m->jnt_qadr[j]];
    return fmin(0.0, fmin(x - range[0], range[1] - x));
}

rb_status rb_stage_check(rb_stage *s, double *worst)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_mark mark = rb_arena_mark(d->arena);
    rb_contact *found = rb_push(d->arena, rb_contact, d->touch_max);
    if (!found) return RB_NOMEM;
    memcpy(d->q, s->q_new, (size_t)m->nq * sizeof *d->q);
    rb_kinematics(m, d);
    rb_frames(m, d);
    int n = 0;
    rb_status status = rb_collide(m, d, 0.0, 0.0, d->touch_max, found, &n, s->err);
    if (status == RB_FULL) s->info->contacts = n;
    if (status == RB_OK) {
        *worst = 0.0;
        s->info->penetration = 0.0;
        for (int i = 0; i < n; i++) {
            s->info->penetration = fmax(s->info->penetration, -found[i].at.gap);
            *worst = fmin(*worst, deepened(s, &found[i]));
        }
        for (int j = 0; j < m->njnt; j++) *worst = fmin(*worst, limit_gap(m, s->q_new, j));
    }
    rb_arena_reset(d->arena, mark);
    return status;
}
