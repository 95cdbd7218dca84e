/* Friction, restitution, mass, gravity and gains of single worlds of a batch. */
#include <math.h>
#include <string.h>

#include "flat/sim.h"

static int columns(const rb_model *m, rb_parameter what)
{
    if (what == RB_PARAMETER_GRAVITY) return 3;
    if (what >= RB_PARAMETER_GAIN) return 3 * m->nu;
    return what == RB_PARAMETER_MASS ? m->nbody : m->ngeom;
}

static double value(const rb_model *m, rb_parameter what, int k)
{
    if (what == RB_PARAMETER_GRAVITY) return m->option.gravity[k];
    if (what == RB_PARAMETER_MASS) return m->body_mass[k];
    if (what == RB_PARAMETER_GAIN) return m->act_gain[k];
    if (what == RB_PARAMETER_BIAS) return m->act_bias[k];
    const rb_material *material = &m->geom_material[k];
    return what == RB_PARAMETER_FRICTION ? material->friction : material->restitution;
}

/* One of the three numbers of an actuator. */
static rb_status set_gain(rb_model *m, rb_parameter what, int k, double x, rb_error *err)
{
    double both[2][3];
    int actuator = k / 3;
    memcpy(both[0], m->act_gain + 3 * (ptrdiff_t)actuator, sizeof both[0]);
    memcpy(both[1], m->act_bias + 3 * (ptrdiff_t)actuator, sizeof both[1]);
    both[what == RB_PARAMETER_BIAS][k % 3] = x;
    return rb_model_set_gain(m, actuator, both[0], both[1], err);
}

static rb_status set_one(rb_model *m, rb_parameter what, int k, double x, rb_error *err)
{
    if (what >= RB_PARAMETER_GAIN) return set_gain(m, what, k, x, err);
    if (what == RB_PARAMETER_FRICTION) return rb_model_set_friction(m, k, x, err);
    if (what == RB_PARAMETER_RESTITUTION) return rb_model_set_restitution(m, k, x, err);
    return rb_model_set_mass(m, k, x, err);
}

static rb_status set_gravity(rb_model *m, const double *x, rb_error *err)
{
    double g[3];
    for (int k = 0; k < 3; k++) g[k] = isnan(x[k]) ? m->option.gravity[k] : x[k];
    return rb_model_set_gravity(m, g, err);
}

static int is_new(const rb_model *m, rb_parameter what, int k, double x)
{
    return !isnan(x) && x != value(m, what, k);
}

static rb_status set_world(rb_batch *b, int i, rb_parameter what, const double *x, rb_error *err)
{
    const rb_sim *s = rb_batch_sim(b, i);
    int n = columns(s->m, what), different = 0;
    for (int k = 0; k < n; k++) different |= is_new(s->m, what, k, x[k]);
    if (!different) return RB_OK;
    rb_model *m = rb_batch_own_model(b, i);
    if (!m) return RB_NOMEM;
    if (what == RB_PARAMETER_GRAVITY) return set_gravity(m, x, err);
    rb_status status = RB_OK;
    for (int k = 0; k < n && status == RB_OK; k++)
        if (is_new(m, what, k, x[k])) status = set_one(m, what, k, x[k], err);
    return status;
}

rb_status rb_batch_set(rb_batch *b, rb_parameter what, const double *x, const int *ids, int n,
                       rb_error *err)
{
    rb_status status = RB_OK;
    int width = columns(rb_batch_sim(b, 0)->m, what);
    *err = (rb_error){ 0 };
    for (int j = 0; j < n && status == RB_OK; j++)
        status = set_world(b, ids ? ids[j] : j, what, x + (size_t)j * (size_t)width, err);
    return status;
}

void rb_batch_get(const rb_batch *b, rb_parameter what, double *x)
{
    const rb_sim *s;
    for (int i = 0; (s = rb_batch_sim(b, i)) != NULL; i++)
        for (int k = 0, n = columns(s->m, what); k < n; k++) *x++ = value(s->m, what, k);
}
