/* Changes of a model between steps. A model is shared and const; to change friction, mass or
 * gain, copy it and change the copy, one copy for each simulation that differs.
 *
 * The revision is a hash of all changes since the model was compiled: what rb_data caches of a
 * model is valid as long as its revision is the same. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/quat.h"
#include "model/build.h"
#include "model/inertia.h"
#include "model/layout.h"

rb_model *rb_model_copy(const rb_model *m, const rb_alloc *alloc)
{
    rb_alloc a = alloc ? *alloc : rb_alloc_default();
    void *memory;
    rb_model *copy = rb_block_new(&a, m->bytes, &memory);
    if (!copy) return NULL;
    memcpy(copy, m, m->bytes);
    rb_model_bind(copy);
    copy->memory = memory;
    return copy;
}

enum { FRICTION, RESTITUTION, MASS, GRAVITY, GAIN, PAIR };

static void note(rb_model *m, int what, int index, const double *x, int n)
{
    const int head[2] = { what, index };
    m->revision = rb_hash(m->revision ? m->revision : RB_HASH_INIT, head, sizeof head);
    m->revision = rb_hash(m->revision, x, (size_t)n * sizeof *x);
}

static rb_status check_index(const char *what, int index, int count, rb_error *err)
{
    if (index >= 0 && index < count) return RB_OK;
    return rb_fail(err, RB_BAD_INPUT, "%s %d: the model has %d", what, index, count);
}

rb_status rb_model_set_friction(rb_model *m, int geom, double mu, rb_error *err)
{
    rb_status status = check_index("geom", geom, m->ngeom, err);
    if (status != RB_OK) return status;
    if (!(mu >= 0.0) || isinf(mu))
        return rb_fail(err, RB_BAD_INPUT, "friction must be finite and not negative");
    rb_material *material = &m->geom_material[geom];
    material->friction = mu;
    material->friction_static = material->friction_across = NAN;
    note(m, FRICTION, geom, &mu, 1);
    return RB_OK;
}

rb_status rb_model_set_restitution(rb_model *m, int geom, double e, rb_error *err)
{
    rb_status status = check_index("geom", geom, m->ngeom, err);
    if (status != RB_OK) return status;
    if (!(e >= 0.0 && e <= 1.0))
        return rb_fail(err, RB_BAD_INPUT, "restitution must be between 0 and 1");
    m->geom_material[geom].restitution = e;
    note(m, RESTITUTION, geom, &e, 1);
    return RB_OK;
}

rb_status rb_model_set_pair(rb_model *m, int pair, double mu, double e, rb_error *err)
{
    rb_status status = check_index("pair", pair, m->npair, err);
    if (status != RB_OK) return status;
    if (mu < 0.0 || isinf(mu))
        return rb_fail(err, RB_BAD_INPUT, "friction must be finite and not negative");
    if (e < 0.0 || e > 1.0)
        return rb_fail(err, RB_BAD_INPUT, "restitution must be between 0 and 1");
    rb_material *material = &m->pair_material[pair];
    const double both[2] = { mu, e };
    if (!isnan(mu)) {
        material->friction = mu;
        material->friction_static = material->friction_across = NAN;
    }
    if (!isnan(e)) material->restitution = e;
    note(m, PAIR, pair, both, 2);
    return RB_OK;
}

/* The sums of rb_fill_links and rb_fill_turns for one link. */
static void add_up(rb_model *m, int link)
{
    rb_inertia sum = { 0 };
    for (int i = 0; i < m->nbody; i++) {
        if (m->body_link[i] != link) continue;
        rb_inertia body = { .mass = m->body_mass[i] };
        rb_copy3(m->body_com + 3 * (ptrdiff_t)i, body.com);
        memcpy(body.I, m->body_inertia + 6 * (ptrdiff_t)i, sizeof body.I);
        rb_inertia_move(m->body_link_pos + 3 * (ptrdiff_t)i, m->body_link_rot + 9 * (ptrdiff_t)i,
                        &body);
        rb_inertia_add(&sum, &body);
    }
    double *I = m->link_inertia_O + 6 * (ptrdiff_t)link;
    m->link_mass[link] = sum.mass;
    rb_copy3(sum.com, m->link_com + 3 * (ptrdiff_t)link);
    memcpy(m->link_inertia + 6 * (ptrdiff_t)link, sum.I, sizeof sum.I);
    memcpy(I, sum.I, sizeof sum.I);
    rb_sym3_steiner(sum.mass, sum.com, I);
}

rb_status rb_model_set_mass(rb_model *m, int body, double mass, rb_error *err)
{
    rb_status status = check_index("body", body, m->nbody, err);
    if (status != RB_OK) return status;
    double ratio = mass / m->body_mass[body];
    if (body == 0 || !(mass > 0.0) || isinf(mass) || !(m->body_mass[body] > 0.0) || isinf(ratio))
        return rb_fail(err, RB_BAD_INPUT,
                       "body %d: the mass of a body that has one becomes another one > 0", body);
    m->mass += mass - m->body_mass[body];
    m->body_mass[body] = mass;
    for (int i = 0; i < 6; i++) m->body_inertia[6 * (ptrdiff_t)body + i] *= ratio;
    add_up(m, m->body_link[body]);
    m->plane = 0; /* its links were measured with the mass they had */
    note(m, MASS, body, &mass, 1);
    return RB_OK;
}

rb_status rb_model_set_gravity(rb_model *m, const double gravity[3], rb_error *err)
{
    for (int i = 0; i < 3; i++)
        if (!isfinite(gravity[i])) return rb_fail(err, RB_BAD_INPUT, "gravity must be finite");
    memcpy(m->option.gravity, gravity, sizeof m->option.gravity);
    note(m, GRAVITY, 0, gravity, 3);
    return RB_OK;
}

static int has_gains(const rb_model *m, int actuator)
{
    const int law[2] = { m->act_gain_law[actuator], m->act_bias_law[actuator] };
    for (int i = 0; i < 2; i++)
        if (law[i] == RB_LAW_MUSCLE || law[i] == RB_LAW_DCMOTOR) return 0;
    return 1;
}

rb_status rb_model_set_gain(rb_model *m, int actuator, const double gain[3], const double bias[3],
                            rb_error *err)
{
    rb_status status = check_index("actuator", actuator, m->nu, err);
    if (status != RB_OK) return status;
    if (!has_gains(m, actuator))
        return rb_fail(err, RB_BAD_INPUT,
                       "actuator %d is a muscle or a dcmotor: its force does not follow from gain "
                       "and bias",
                       actuator);
    for (int i = 0; i < 3; i++)
        if (!isfinite(gain[i]) || !isfinite(bias[i]))
            return rb_fail(err, RB_BAD_INPUT, "gain and bias must be finite");
    memcpy(m->act_gain + 3 * (ptrdiff_t)actuator, gain, 3 * sizeof *gain);
    memcpy(m->act_bias + 3 * (ptrdiff_t)actuator, bias, 3 * sizeof *bias);
    note(m, GAIN, actuator, gain, 3);
    note(m, GAIN, actuator, bias, 3);
    return RB_OK;
}
