/* Bristles and slip: theory of seeds 10.4 and 10.5 (F.27), (F.28), (F.29). */
#include "contact/slip.h"

#include <math.h>

#include "contact/law.h"

/* Force below which the lateral law of a sliding contact would divide by nothing [N]. */
#define LEAST_NORMAL_FORCE 1e-6

double rb_relaxation(double stiffness, double damping, double h, double share, double W_ii)
{
    double k = isnan(stiffness) ? 0.0 : stiffness, b = isnan(damping) ? 0.0 : damping;
    double inverse = k * h * h + b * h;
    if (inverse > 0.0) return 1.0 / inverse;
    return W_ii > 0.0 ? share * W_ii : 1.0;
}

/* Of an operator whose Minv is the identity (rb_island_open_crowd): a product of two rows. */
static double entry_of(const rb_operator *op, int i, int j)
{
    double sum = 0.0;
    for (int a = op->jptr[i], b = op->jptr[j]; a < op->jptr[i + 1] && b < op->jptr[j + 1];) {
        int less = op->jcol[a] < op->jcol[b], same = op->jcol[a] == op->jcol[b];
        if (same) sum += op->jval[a] * op->jval[b];
        a += less || same;
        b += !less;
    }
    return sum;
}

double rb_island_entry(const rb_island *is, int i, int j)
{
    if (is->W.form == RB_DENSE) return is->W.dense[(ptrdiff_t)i * is->nrow + j];
    if (is->W.form == RB_OPERATOR) return entry_of(is->W.op, i, j);
    for (int k = is->W.ptr[i / 3]; k < is->W.ptr[i / 3 + 1]; k++) {
        if (is->W.col[k] == j / 3) return is->W.val[9 * (ptrdiff_t)k + 3 * (i % 3) + j % 3];
    }
    return 0.0;
}

double rb_normal_before(const rb_island *is, int i)
{
    /* an answer may be below zero by rounding, and a bound must not be */
    if (is->mode_prev[i] != RB_MODE_UNKNOWN) return fmax(0.0, is->p_prev[is->row[i]]);
    int contacts = 0;
    for (int k = 0; k < is->n; k++) contacts += is->c[k]->kind == RB_CONSTRAINT_CONTACT;
    return is->weight / contacts;
}

rb_status rb_slip_accepts(const rb_island *is)
{
    for (int i = 0; i < is->n; i++) {
        int contact = is->c[i]->kind == RB_CONSTRAINT_CONTACT;
        if (contact && !isnan(is->c[i]->material.friction_across)) return RB_UNSUPPORTED;
    }
    return rb_refuse_polygons(is);
}

/* Compliance and request of the bristle along e (42): d = -eps (p + h b u), both one step before.
 */
static void bristle(const rb_island *is, int i, const double e[2], double *eps, double *d)
{
    const rb_material *m = &is->c[i]->material;
    int t = is->row[i] + 1;
    double W_ii = e[0] * e[0] * rb_island_entry(is, t, t) +
                  2.0 * e[0] * e[1] * rb_island_entry(is, t, t + 1) +
                  e[1] * e[1] * rb_island_entry(is, t + 1, t + 1);
    double p = e[0] * is->p_prev[t] + e[1] * is->p_prev[t + 1];
    double u = e[0] * is->u_before[t] + e[1] * is->u_before[t + 1];
    *eps = rb_relaxation(m->bristle_stiffness, m->bristle_damping, is->h, RB_HARD_TANGENT, W_ii);

    /* a hard contact has no bristle that remembers */
    int hard = isnan(m->bristle_stiffness) && isnan(m->bristle_damping);
    double b = isnan(m->bristle_damping) ? 0.0 : m->bristle_damping;
    *d = hard ? 0.0 : -*eps * (p + is->h * b * u);
}

void rb_slip_find(const rb_island *is, const rb_step_opts *o, int i, double p_n, rb_slip *out)
{
    const rb_material *m = &is->c[i]->material;
    const double *u = is->u_before + is->row[i] + 1;
    double speed = sqrt(u[0] * u[0] + u[1] * u[1]);
    *out = (rb_slip){ .e = { { 1.0, 0.0 }, { 0.0, 1.0 } } };
    out->sliding = speed >= o->stick_speed;
    if (!out->sliding) {
        for (int k = 0; k < 2; k++) {
            out->mu[k] = rb_friction_at(m, speed, 0);
            bristle(is, i, out->e[k], &out->eps[k], &out->d[k]);
        }
        return;
    }
    out->e[0][0] = out->e[1][1] = u[0] / speed;
    out->e[0][1] = u[1] / speed;
    out->e[1][0] = -u[1] / speed;
    out->mu[0] = rb_friction_at(m, speed, 1);
    out->mu[1] = o->lateral ? out->mu[0] : 0.0;
    bristle(is, i, out->e[0], &out->eps[0], &out->d[0]);
    bristle(is, i, out->e[1], &out->eps[1], &out->d[1]);
    if (o->lateral != 1 || !(out->mu[0] > 0.0)) return;

    /* Coulomb's lateral component as a linear law (43) */
    double least = LEAST_NORMAL_FORCE * is->h;
    out->eps[1] = speed / (out->mu[0] * fmax(p_n, least));
    out->d[1] = 0.0;
}
