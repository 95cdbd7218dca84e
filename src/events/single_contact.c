/* Impacts at one point follow their slip (S.46). Where an island has a single contact, the
 * velocity is integrated over the normal impulse (I.3), so that friction turns with the slip,
 * stops it or reverses it within the impact. The problem of two stages knows the slip at the ends
 * of its stages only. Its answer differs where the slip changes its direction. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "events/events.h"
#include "rattleback/impact.h"

/* Coulomb's law with one coefficient: what single impacts know. */
static int is_plain(const rb_constraint *c)
{
    const rb_material *a = &c->material;
    if (c->kind != RB_CONSTRAINT_CONTACT || c->nrow != 3 || c->polygon) return 0;
    if (!isnan(a->friction_static) && a->friction_static != a->friction) return 0;
    return isnan(a->friction_across) && isnan(a->friction_viscous) && isnan(a->stribeck_speed) &&
           isnan(a->relax_stiffness) && isnan(a->relax_damping);
}

/* K = J M^-1 J' of the rows of c, column by column. f (nv) and x (nrow), both zero, stay zero. */
static void find_matrix(const rb_stage *s, const rb_constraint *c, double *f, double *x,
                        double K[9])
{
    for (int k = 0; k < 3; k++) {
        memset(f, 0, (size_t)s->m->nv * sizeof *f);
        memset(x, 0, (size_t)s->set.nrow * sizeof *x);
        x[c->row + k] = 1.0;
        rb_constraints_force(&s->set, x, f);
        rb_mass_solve(s->m, s->d, f);
        rb_constraints_velocity(&s->set, f, x);
        for (int i = 0; i < 3; i++) K[3 * i + k] = x[c->row + i] - s->set.drive[c->row + i];
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++)
            K[3 * i + k] = K[3 * k + i] = 0.5 * (K[3 * i + k] + K[3 * k + i]);
}

/* 1: the impulse of constraint i is there, certified. */
static int resolve(rb_stage *s, int i, double *f, double *x)
{
    const rb_constraint *c = &s->set.c[i];
    rb_impact in = { .mu = c->material.friction, .e = s->problem.e[i], .law = s->o->law };
    rb_impact_result out;
    rb_impact_certificate cert;
    find_matrix(s, c, f, x, in.K);
    memcpy(in.u, s->problem.u_before + c->row, sizeof in.u);
    if (rb_impact_solve(&in, &out) != RB_OK || !rb_impact_certify(&in, &out, &cert)) return 0;
    memcpy(s->answer.p + c->row, out.p, sizeof out.p);
    s->answer.mode[i] = out.u[1] == 0.0 && out.u[2] == 0.0 ? RB_MODE_STICK : RB_MODE_SLIDE;
    s->info->solves++;
    s->info->residual = fmax(s->info->residual, fmax(cert.cone, fmax(cert.approach, cert.law)));
    return 1;
}

rb_status rb_stage_single(rb_stage *s, unsigned char *skip)
{
    int newton_safe = s->o->law == RB_NEWTON && s->o->energy_safe;
    if (rb_formulation_kind(s->o->formulation) != RB_CONE || newton_safe) return RB_OK;
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *f = rb_push(s->d->arena, double, s->m->nv);
    double *x = rb_push(s->d->arena, double, s->set.nrow);
    int *count = rb_push(s->d->arena, int, s->set.nisland);
    if (!f || !x || !count) return RB_NOMEM;
    memset(count, 0, (size_t)s->set.nisland * sizeof *count);
    for (int i = 0; i < s->set.n; i++)
        if (s->set.c[i].island >= 0) count[s->set.c[i].island]++;
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->island < 0 || count[c->island] != 1 || !is_plain(c) || !resolve(s, i, f, x))
            continue;
        skip[c->island] = 1;
        s->problem.e[i] = 0.0; /* restitution has been */
        s->problem.u[c->row] -= s->problem.bias[c->row];
        s->problem.bias[c->row] = 0.0;
    }
    rb_arena_reset(s->d->arena, mark);
    return RB_OK;
}
