/* What a step by the node rule tells: velocity, energy, overlap.
 *
 * The state has the velocity before the impulses of its instant, which for a body at rest is
 * -g h / 2. Reported is the one between before and after: with the share of the impulses that
 * contact is expected to repeat at the end,
 *
 *     v = v+ + M^-1 J'(f p),      f = n.v_a / (n.v_a - n.v), within 0 and 1                (S.104)
 *
 * 1/2 for what lasts, 1 where it begins with v itself, nearly 0 for an impact. */
#include <math.h>
#include <string.h>

#include "dynamics/placed.h"
#include "math/vec3.h"
#include "step/node.h"

static double row_velocity(const rb_constraints *set, const rb_constraint *c, int r,
                           const double *v)
{
    const int *dof = set->dof + c->dof;
    const double *J = set->J + c->block + (ptrdiff_t)r * c->ndof;
    double sum = 0.0;
    for (int k = 0; k < c->ndof; k++) sum += J[k] * v[dof[k]];
    return sum + set->drive[c->row + r];
}

int rb_node_is_fresh(const rb_node *x, const rb_constraint *c)
{
    const rb_model *m = x->s->m;
    return c->ndof > 0 && x->fresh[m->link_tree[m->dof_link[x->s->set.dof[c->dof]]]];
}

/* f of (S.104). */
static double share_of(const rb_node *x, const rb_constraint *c)
{
    const rb_stage *s = x->s;
    int rows = c->kind == RB_CONSTRAINT_CONTACT ? 1 : c->nrow;
    double along = 0.0, square = 0.0;
    if (c->kind == RB_CONSTRAINT_DRY && s->mode[c - s->set.c] == RB_MODE_SLIDE)
        return rb_node_is_fresh(x, c) ? 1.0 : 0.5;
    for (int r = 0; r < rows; r++) {
        double before = x->u0[c->row + r];
        double after = row_velocity(&s->set, c, r, x->v_a);
        along += after * (after - before);
        square += (after - before) * (after - before);
    }
    return square > 0.0 ? fmin(1.0, fmax(0.0, along / square)) : 0.0;
}

/* v_new, kick. */
static void report_velocity(rb_node *x, double *force)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    double *kick = s->d->kick, *of = kick + m->nv;
    memset(x->f, 0, (size_t)m->nv * sizeof *x->f);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        const int *dof = s->set.dof + c->dof;
        const double *J = s->set.J + c->block, *p = s->p + c->row;
        double f = share_of(x, c);
        for (int r = 0; r < c->nrow; r++, J += c->ndof) {
            for (int k = 0; k < c->ndof; k++) x->f[dof[k]] += J[k] * f * p[r];
        }
    }
    memcpy(force, x->f, (size_t)m->nv * sizeof *force);
    if (s->set.nrow > 0) rb_node_mass_solve(x, x->f);
    for (int j = 0; j < m->nv; j++) {
        int rests = s->resting[m->link_tree[m->dof_link[j]]];
        s->v_new[j] = rests ? 0.0 : x->v_end[j] + x->f[j];
        of[j] = s->v_new[j];
        kick[j] = rests ? 0.0 : -x->f[j];
    }
}

/* Energy that impulses made, from the velocity that was reported before to the one that is now:
 *
 *     1/2 (v + v_a).M (v_a - v)  +  1/2 (v+ + v_new).J'(f p),     less what is led gave (S.106)
 *
 * f: J'(f p). */
static double made_by(rb_node *x, const double *f)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    double sum = 0.0;
    if (s->set.nrow == 0) return 0.0;
    for (int j = 0; j < m->nv; j++) x->v_mean[j] = x->v_a[j] - x->v_given[j];
    rb_mass_multiply(m, s->d, x->v_mean, x->f);
    for (int j = 0; j < m->nv; j++) {
        if (s->resting[m->link_tree[m->dof_link[j]]]) continue;
        sum += 0.5 * x->f[j] * (x->v_a[j] + x->v_given[j]);
        sum += 0.5 * f[j] * (x->v_end[j] + s->v_new[j]);
    }
    for (int r = 0; r < s->set.nrow; r++) sum += s->p[r] * s->set.drive[r];
    return sum;
}

static void look_deep(rb_node *x)
{
    rb_stage *s = x->s;
    s->info->penetration = s->info->penetration_made = 0.0;
    for (int i = 0; i < x->nend; i++) {
        const rb_contact *c = &x->end[i];
        if (!rb_flight_holds(s->flight, c->geom1, c->geom2, c->at.feature)) continue;
        rb_touch_id id = { RB_CONSTRAINT_CONTACT, c->geom1, c->geom2, c->at.feature };
        double start = rb_stage_start_gap(s, &id);
        double made = (start < -rb_stage_error_least(s) ? start : 0.0) - c->at.gap;
        s->info->penetration = fmax(s->info->penetration, -c->at.gap);
        s->info->penetration_made = fmax(s->info->penetration_made, made);
        s->info->gap_error = fmax(s->info->gap_error, c->error);
    }
}

void rb_node_report(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    s->made = s->made_free;
    s->gain = 0.0;
    report_velocity(x, x->force);
    s->energy = made_by(x, x->force);
    for (int r = 0; r < s->set.nrow; r++) s->p[r] += x->struck[r];
    look_deep(x);
    rb_stage_find_pushed(s);
    memcpy(s->q_free, s->q_new, (size_t)m->nq * sizeof *s->q_free);
    for (int j = 0; j < m->nv; j++) s->v_led[j] = s->v0[j] + x->dv[j];
}
