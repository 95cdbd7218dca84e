/* Impacts at the node: contacts that come fast and would close within the step bounce there, by the
 * law of restitution (S.12) to (S.14), (S.15), (S.16), on velocities alone,
 *
 *     n.v_a = -e n.v                                                                        (S.11)
 *
 * for Newton's law. The rule goes on from the velocity after them. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "step/node.h"
#include "step/problems.h"

/* Rate of the row's velocity by smooth motion [m/s^2]. */
static double smooth_rate(const rb_node *x, const rb_constraint *c)
{
    const rb_constraints *set = &x->s->set;
    const double *J = set->J + c->block;
    double sum = 0.0;
    for (int k = 0; k < c->ndof; k++) sum += J[k] * x->dv[set->dof[c->dof + k]];
    return sum / x->s->h;
}

/* Restitution of constraint i where it bounces in this step, else 0. */
static double bounce_of(const rb_node *x, int i)
{
    const rb_stage *s = x->s;
    const rb_constraint *c = &s->set.c[i];
    double e = c->material.restitution, u = x->u0[c->row];
    if (s->events.inelastic || c->inner || !(e > 0.0) || x->bounces[i]) return 0.0;
    if (-u <= RB_BOUNCE_STEPS * s->given->gravity * s->h) return 0.0;
    if (!(x->value[c->row] < 0.0 || s->answer.p[c->row] > 0.0)) return 0.0;

    /* it would meet with u* after its gap, and be back here with less than e u* */
    double fall = fmax(0.0, c->gap) * -2.0 * smooth_rate(x, c);
    return sqrt(fmax(0.0, e * e * (u * u + fall) - fall)) / -u;
}

/* s->e, and the islands that are left alone; how many bounce. */
static int find_bounces(rb_node *x, unsigned char *skip)
{
    rb_stage *s = x->s;
    int n = 0;
    memset(skip, 1, (size_t)s->set.nisland);
    memset(s->problem.e, 0, (size_t)s->set.n * sizeof *s->problem.e);
    for (int i = 0; i < s->set.ncontact; i++) {
        int island = s->set.c[i].island;
        if (island < 0 || !((s->problem.e[i] = bounce_of(x, i)) > 0.0)) continue;
        skip[island] = 0;
        x->bounces[i] = 1;
        n++;
    }
    return n;
}

/* Velocities before the impact, and what each row has room for. */
static void fill_velocities(rb_node *x, double *bias)
{
    rb_stage *s = x->s;
    memcpy(bias, s->problem.bias, (size_t)s->set.nrow * sizeof *bias);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        double u = x->u0[c->row];
        if (s->problem.e[i] > 0.0)
            s->problem.bias[c->row] = s->o->law == RB_NEWTON ? s->problem.e[i] * u : 0.0;
        s->problem.room[i] = bias[c->row];
        for (int r = 0; r < c->nrow; r++)
            s->problem.u[c->row + r] = x->u0[c->row + r] + s->problem.bias[c->row + r];
    }
}

/* The velocity after the impulses, and their work. */
static void take(rb_node *x, const unsigned char *skip)
{
    rb_stage *s = x->s;
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->island >= 0 && !skip[c->island]) continue;
        memset(s->answer.p + c->row, 0, (size_t)c->nrow * sizeof *s->answer.p);
    }
    memset(x->f, 0, (size_t)s->m->nv * sizeof *x->f);
    rb_constraints_force(&s->set, s->answer.p, x->f);
    rb_node_mass_solve(x, x->f);
    for (int j = 0; j < s->m->nv; j++) {
        s->start.v[j] += x->f[j];
        x->v_mean[j] = 2.0 * x->v_from[j] + x->f[j]; /* before and after, as it is reported */
        x->v_from[j] += x->f[j];
    }
    rb_constraints_velocity(&s->set, s->start.v, x->value);
    rb_constraints_velocity(&s->set, x->v_mean, x->b);
    for (int r = 0; r < s->set.nrow; r++) {
        x->lost += 0.5 * s->answer.p[r] * (x->u0[r] + x->value[r]);
        x->lost_told += 0.5 * s->answer.p[r] * (x->b[r] + s->set.drive[r]);
        x->u0[r] = s->problem.u_before[r] = x->value[r];
    }
}

/* Impulses of the impact, s->p: dampers and springs have no part in it, nor has a W with them. */
static rb_status solve_impact(rb_node *x, const unsigned char *skip)
{
    rb_stage *s = x->s;
    double *L = s->d->L;
    rb_kept *kept = s->problem.kept;
    s->d->L = x->L;
    s->problem.kept = NULL;
    rb_status status = rb_stage_solve_others(s, skip);
    if (status == RB_OK) status = rb_stage_restitute(s);
    s->d->L = L;
    s->problem.kept = kept;
    return status;
}

rb_status rb_node_impact(rb_node *x, int *any)
{
    rb_stage *s = x->s;
    rb_arena *arena = s->d->arena;
    rb_mark mark = rb_arena_mark(arena);
    unsigned char *skip = rb_push(arena, unsigned char, s->set.nisland);
    double *bias = rb_push(arena, double, s->set.nrow), *p = rb_push(arena, double, s->set.nrow);
    *any = 0;
    if (!skip || !bias || !p) return RB_NOMEM;
    *any = find_bounces(x, skip) > 0;
    if (!*any) rb_arena_reset(arena, mark);
    if (!*any) return RB_OK;
    memcpy(p, s->answer.p, (size_t)s->set.nrow * sizeof *p);
    fill_velocities(x, bias);
    rb_status status = solve_impact(x, skip);
    if (status == RB_OK) take(x, skip);
    for (int k = 0; k < s->set.nisland; k++) x->answered[k] &= skip[k];
    for (int i = 0; i < s->set.n && status == RB_OK; i++) {
        const rb_constraint *c = &s->set.c[i];
        int struck = c->island >= 0 && !skip[c->island];
        for (int r = c->row; r < c->row + c->nrow; r++) {
            x->struck[r] += s->answer.p[r];
            s->answer.p[r] = struck ? 0.0 : p[r];
        }
    }
    memcpy(s->problem.bias, bias, (size_t)s->set.nrow * sizeof *bias);
    memset(s->problem.e, 0, (size_t)s->set.n * sizeof *s->problem.e);
    rb_arena_reset(arena, mark);
    return status;
}
