/* Lengths that a muscle can have, where the file does not give them: the shortest and the longest
 * one within the limits of the joints, by descent and ascent from the reference configuration.
 * MuJoCo finds the same by pulling and pushing in a damped simulation with soft limits, contacts
 * left out; so are they here. */
#include "io/mjcf.h"
#include "rattleback/dynamics.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 1000 };

/* A search that gets this far beyond the size of the model has no end [1], and one that moves no
 * coordinate by more than this is at its end [rad], [m]. */
static const double FAR = 1e3, NEAR = 1e-7;

typedef struct search {
    const rb_model *m;
    rb_data *d;
    int actuator;
    double sign;       /* 1: to the longest length */
    double *g, *p, *q; /* gradient, direction (nv), where it began (nq) */
} search;

/* ---- what joints may do ------------------------------------------------------------------------
 */

static int is_scalar(const rb_model *m, int j)
{
    return m->jnt_type[j] == RB_JOINT_HINGE || m->jnt_type[j] == RB_JOINT_SLIDE;
}

static int couples_joints(const rb_model *m, int e)
{
    return m->eq_active[e] && m->eq_type[e] == RB_EQ_JOINT;
}

/* Value and slope of the polynomial of an equality at the second joint. */
static double polynomial(const search *s, int e, double *slope)
{
    const double *c = s->m->eq_poly + 5 * (ptrdiff_t)e;
    int j = s->m->eq_obj2[e];
    double x = j >= 0 ? s->d->q[s->m->jnt_qadr[j]] - s->m->jnt_ref[j] : 0.0;
    *slope = c[1] + x * (2.0 * c[2] + x * (3.0 * c[3] + x * 4.0 * c[4]));
    return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
}

/* Within the limits, and with coupled joints where the others put them. */
static void keep_to_limits(search *s)
{
    const rb_model *m = s->m;
    for (int j = 0; j < m->njnt; j++) {
        double *q = s->d->q + m->jnt_qadr[j];
        const double *range = m->jnt_range + 2 * (ptrdiff_t)j;
        if (m->jnt_limited[j] && is_scalar(m, j)) *q = fmin(fmax(*q, range[0]), range[1]);
    }
    for (int e = 0; e < m->neq; e++) {
        if (!couples_joints(m, e)) continue;
        double slope, *q = s->d->q + m->jnt_qadr[m->eq_obj1[e]];
        *q = m->jnt_ref[m->eq_obj1[e]] + polynomial(s, e, &slope);
    }
}

/* Gradients of coupled joints are added to those of the joints that drive them. */
static void couple(search *s)
{
    const rb_model *m = s->m;
    for (int e = m->neq - 1; e >= 0; e--) {
        if (!couples_joints(m, e)) continue;
        double slope, *own = s->g + m->jnt_dofadr[m->eq_obj1[e]];
        polynomial(s, e, &slope);
        if (m->eq_obj2[e] >= 0) s->g[m->jnt_dofadr[m->eq_obj2[e]]] += slope * *own;
        *own = 0.0;
    }
}

/* ---- the search --------------------------------------------------------------------------------
 */

static double length_now(search *s)
{
    double rate;
    rb_kinematics(s->m, s->d);
    return s->sign * rb_actuator_length(s->m, s->d, s->actuator, &rate);
}

/* Ascent in the metric of the inertia of each dof; joints at their limits do not move. Returns the
 * largest entry. */
static double find_direction(search *s)
{
    const rb_model *m = s->m;
    double most = 0.0;
    rb_actuator_row(m, s->d, s->actuator, s->g);
    couple(s);
    for (int i = 0; i < m->nv; i++)
        s->p[i] = s->sign * s->g[i] / fmax(1e-9, s->d->M[m->dof_Madr[i]]);
    for (int j = 0; j < m->njnt; j++) {
        const double *range = m->jnt_range + 2 * (ptrdiff_t)j;
        double q = s->d->q[m->jnt_qadr[j]], *p = s->p + m->jnt_dofadr[j];
        if (!m->jnt_limited[j] || !is_scalar(m, j)) continue;
        if ((q <= range[0] && *p < 0.0) || (q >= range[1] && *p > 0.0)) *p = 0.0;
    }
    for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(s->p[i]));
    return most;
}

/* The longest length times sign; NAN: it has no end. */
static double climb(search *s)
{
    const rb_model *m = s->m;
    double step = 0.2, gain = 0.0;
    memcpy(s->d->q, m->qpos0, (size_t)m->nq * sizeof *s->d->q);
    keep_to_limits(s);
    double length = length_now(s);
    for (int i = 0; i < MOST_STEPS && step > NEAR; i++) {
        double most = find_direction(s), next;
        if (!(most > 0.0)) break;
        memcpy(s->q, s->d->q, (size_t)m->nq * sizeof *s->q);
        for (;; step *= 0.5) {
            rb_integrate(m, s->q, s->p, step / most, s->d->q);
            keep_to_limits(s);
            next = length_now(s);
            if (next > length || step <= NEAR) break;
        }
        if (!(next > length)) break;
        if (!(fabs(next) < FAR * fmax(1.0, m->extent))) return NAN;
        gain = next - length;
        length = next;
        step = fmin(0.5, 1.6 * step);
        if (gain < 1e-12 * fmax(1.0, fabs(next))) return length;
        if (i == MOST_STEPS - 1 && gain > 1e-3) return NAN; /* it has no end */
    }
    return length;
}

/* A tendon is no longer and no shorter than its own limits; where nothing was found, these. */
static void keep_to_tendon(const rb_mjcf *r, const rb_actuator_def *def, double range[2])
{
    if (def->transmission != RB_TRN_TENDON) return;
    const rb_tendon_def *tendon = rb_spec_tendon(r->spec, def->target);
    if (!tendon->limited) return;
    double a = def->gear[0] * tendon->range[0], b = def->gear[0] * tendon->range[1];
    double low = fmin(a, b), high = fmax(a, b);
    range[0] = fmin(fmax(range[0], low), high); /* NAN: low */
    range[1] = isnan(range[1]) ? high : fmax(fmin(range[1], high), low);
    if (range[0] < range[1]) return;
    range[0] = low;
    range[1] = high;
}

rb_status rb_mjcf_length_range(rb_mjcf *r, const rb_xml_node *root, const rb_model *m, rb_data *d,
                               int actuator)
{
    size_t nv = (size_t)m->nv_all + 1, nq = (size_t)m->nq + 1;
    double *room = rb_xml_take(r->doc, 2 * nv + nq, sizeof *room);
    if (!room) return rb_mjcf_nomem(r, root);
    search s = { m, d, actuator, -1.0, room, room + nv, room + 2 * nv };
    double range[2] = { -climb(&s), 0.0 };
    s.sign = 1.0;
    range[1] = climb(&s);
    memcpy(d->q, m->qpos0, (size_t)m->nq * sizeof *d->q);
    rb_kinematics(m, d);

    rb_actuator_def *def = rb_spec_actuator(r->spec, actuator);
    keep_to_tendon(r, def, range);
    if (!(range[1] - range[0] > 1e-9 * fmax(1.0, m->extent)))
        return rb_io_error_set(
            r->err, RB_BAD_INPUT, def->where.file, def->where.line,
            "muscle \"%.80s\": its length has no bounds, or does not change; give "
            "the joints limits, or the muscle lengthrange=\"shortest longest\"",
            def->name ? def->name : "");
    memcpy(def->length_range, range, sizeof range);
    return RB_OK;
}
