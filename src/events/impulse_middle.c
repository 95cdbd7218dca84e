/* Contacts of a tick at the middle of the next flight. The rows of (B.7) are taken there, first
 * with the mean velocity of the flight before, then with the one that this gives. So a body that
 * rolls or rocks follows its path to second order. Gaps are those of the tick. Bodies at rest stay
 * where they are. */
#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "events/impulse.h"

/* Of the flight that ends at the tick t, without the hop; kinematic bodies move on as they did. */
static void take_mean(rb_events *x, int link, double t)
{
    rb_flyer *f = &x->flyer[link];
    double rate[3];
    if (f->kind == RB_FLYER_KINEMATIC) {
        rb_copy3(f->v, f->mean_u);
        rb_copy3(f->w, f->mean_w);
    }
    if (f->kind != RB_FLYER_FREE) return;
    double back = 0.5 * rb_flyer_flown(x, link, t), least = 0.0;
    rb_top_rate(&f->top, f->w_now, rate);
    for (int i = 0; i < 3; i++) {
        double u = f->u[i] - back * f->a[i];
        least = fmax(least, fabs(back * f->a[i]));
        f->mean_u[i] = fabs(u) <= RB_HOP_ROUNDING * least ? 0.0 : u;
        f->mean_w[i] = f->w_now[i] - back * rate[i];
    }
}

/* Of the flight to come, from the velocities v of all dofs. */
static void take_next(rb_events *x, int link, const double *v)
{
    rb_flyer *f = &x->flyer[link];
    const double *own = v + x->s->m->link_dofadr[link];
    double r[3], w[3];
    if (f->kind != RB_FLYER_FREE) return;
    rb_copy3(own + 3, f->mean_w);
    rb_rot(f->R, f->mean_w, w);
    rb_rot(f->R, f->com, r);
    rb_cross3(w, r, f->mean_u);
    rb_add3(f->mean_u, own, f->mean_u);
}

/* Half a flight ahead. */
static void shift(rb_events *x, int link)
{
    rb_flyer *f = &x->flyer[link];
    double half = 0.5 * x->tau, r[3], turn[4];
    if (f->shifted || (f->kind != RB_FLYER_FREE && f->kind != RB_FLYER_KINEMATIC)) return;
    memcpy(f->R_tick, f->R, sizeof f->R);
    memcpy(f->q_tick, f->q_now, sizeof f->q_now);
    rb_copy3(f->x, f->x_tick);
    rb_axpy3(half, f->mean_u, f->x);
    rb_scale3(half, f->mean_w, r);
    rb_quat_exp(r, turn);
    if (f->kind == RB_FLYER_FREE)
        rb_quat_mul(f->q_now, turn, f->q_now);
    else
        rb_quat_mul(turn, f->q_now, f->q_now);
    f->shifted = 1;
    rb_quat_normalize(f->q_now);
    rb_quat_to_rot(f->q_now, f->R);
    for (int i = x->geom_from[link]; i < x->geom_from[link + 1]; i++)
        x->rider[x->geom_of[i]].now = NAN;
}

/* A link stays at the tick where nothing of it moves: bits of a body at rest are kept. */
static int moves(const rb_events *x, int link, double t)
{
    const rb_flyer *f = &x->flyer[link];
    if (f->kind == RB_FLYER_KINEMATIC) return f->spin > 0.0 || rb_norm3(f->v) > 0.0;
    if (f->kind != RB_FLYER_FREE) return 0;
    double back = 0.5 * rb_flyer_flown(x, link, t);
    for (int i = 0; i < 3; i++) {
        double gain = back * f->a[i];
        if (f->w_now[i] != 0.0) return 1;
        if (fabs(f->u[i] - gain) > RB_HOP_ROUNDING * fabs(gain)) return 1;
    }
    return 0;
}

static void shift_back(rb_events *x)
{
    for (int k = 1; k < x->s->m->nlink; k++) {
        rb_flyer *f = &x->flyer[k];
        if (!f->shifted) continue;
        f->shifted = 0;
        memcpy(f->R, f->R_tick, sizeof f->R);
        memcpy(f->q_now, f->q_tick, sizeof f->q_now);
        rb_copy3(f->x_tick, f->x);
        for (int i = x->geom_from[k]; i < x->geom_from[k + 1]; i++)
            x->rider[x->geom_of[i]].now = NAN;
    }
}

/* Relative velocity of the two witnesses by the mean velocities; links turn with their angular
 * velocity where they are now. */
static void slip(const rb_events *x, const rb_meeting *m, const rb_manifold_point *at,
                 double out[3])
{
    const double *pos[2] = { at->pos1, at->pos2 };
    rb_zero3(out);
    for (int k = 0; k < 2; k++) {
        rb_flyer f = x->flyer[m->link[k]];
        double v[3];
        if (f.kind == RB_FLYER_FREE) {
            rb_rot(f.R, f.mean_w, f.w_world);
            rb_copy3(f.mean_u, f.u);
        }
        rb_flyer_point(&f, pos[k], v);
        rb_axpy3(k ? 1.0 : -1.0, v, out);
    }
}

/* The point that this one has become: the only one, or that of the same features. */
static const rb_manifold_point *later(const rb_shell_point *now, const rb_manifold *then, int n)
{
    if (n == 1 && then->n == 1) return &then->point[0];
    for (int k = 0; k < then->n; k++)
        if (then->point[k].feature == now->contact.at.feature) return &then->point[k];
    return NULL;
}

/* lead of the n points of a meeting; the flyers are shifted. */
static void take_lead(rb_events *x, rb_shell_point *p, int n, double t)
{
    const rb_meeting *m = &x->meeting[p->meeting];
    rb_manifold then = { .most = RB_MANIFOLD_KEEP };
    rb_meeting_manifold(x, p->meeting, t, 2.0 * rb_impulse_reach(x) + x->shell, &then);
    for (int k = 0; k < n; k++) {
        const rb_manifold_point *at = later(&p[k], &then, n);
        double v[3];
        if (!at) continue;
        slip(x, m, at, v);
        p[k].lead_n += rb_dot3(at->normal, v);
        rb_add3(p[k].lead, v, p[k].lead);
    }
}

void rb_impulse_middle(rb_events *x, double t, const double *v)
{
    x->turns = 0;
    for (int k = 1; k < x->s->m->nlink; k++) {
        take_mean(x, k, t);
        if (v) take_next(x, k, v);
    }
    for (int i = 0; i < x->npoint; i++) {
        rb_shell_point *p = &x->point[i];
        const rb_meeting *m = &x->meeting[p->meeting];
        rb_zero3(p->lead);
        p->lead_n = 0.0;
        p->turns = !m->point && (moves(x, m->link[0], t) || moves(x, m->link[1], t));
        x->turns |= p->turns;
        if (!p->turns) continue;
        slip(x, m, &p->contact.at, p->lead);
        p->lead_n = -rb_dot3(p->contact.at.normal, p->lead);
        rb_scale3(-1.0, p->lead, p->lead);
    }
    if (!x->turns) return;
    for (int i = 0; i < x->npoint; i++) {
        const rb_meeting *m = &x->meeting[x->point[i].meeting];
        for (int k = 0; k < 2 && x->point[i].turns; k++)
            if (moves(x, m->link[k], t)) shift(x, m->link[k]);
    }
    for (int from = 0, to; from < x->npoint; from = to) {
        for (to = from + 1; to < x->npoint && x->point[to].meeting == x->point[from].meeting;) to++;
        if (x->point[from].turns) take_lead(x, x->point + from, to - from, t);
    }
    shift_back(x);
}
