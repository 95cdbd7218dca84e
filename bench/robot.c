#include "robot.h"

#include <math.h>
#include <stddef.h>

/* ---- chains ------------------------------------------------------------------------------------
 */

#define CHAIN_SEED   UINT64_C(77)
#define CHAIN_LENGTH 0.3  /* [m] of a link      */
#define CHAIN_RADIUS 0.03 /* [m]               */

static void random_direction(rb_rng *rng, double x[3])
{
    double norm = 0.0;
    for (int i = 0; i < 3; i++) {
        x[i] = rb_rng_normal(rng);
        norm += x[i] * x[i];
    }
    norm = sqrt(norm);
    for (int i = 0; i < 3; i++) x[i] = norm > 0.0 ? x[i] / norm : (i == 2);
}

static int add_link(rb_spec *spec, rb_rng *rng, int parent, rb_error *err)
{
    double length = CHAIN_LENGTH * rb_rng_uniform(rng, 0.5, 1.5);
    rb_body_def body = rb_body_default();
    body.parent = parent;
    body.pose.pos[2] = parent > 0 ? length : 0.0;
    int b = rb_spec_add_body(spec, &body, err);

    rb_joint_def joint = rb_joint_default();
    joint.body = b;
    random_direction(rng, joint.axis);
    rb_geom_def geom = rb_geom_default();
    geom.body = b;
    geom.type = RB_GEOM_CAPSULE;
    geom.size[0] = CHAIN_RADIUS;
    geom.size[1] = 0.5 * CHAIN_LENGTH * rb_rng_uniform(rng, 0.5, 1.5);
    geom.pose.pos[2] = geom.size[1];
    if (b < 0 || rb_spec_add_joint(spec, &joint, err) < 0) return -1;
    return rb_spec_add_geom(spec, &geom, err) < 0 ? -1 : b;
}

rb_model *rb_bench_chain(int links, rb_error *err)
{
    rb_rng rng = rb_rng_make(CHAIN_SEED);
    rb_spec *spec = rb_spec_new(NULL);
    if (!spec) return NULL;
    int tip = 0;
    for (int k = 0; k < links && tip >= 0; k++) tip = add_link(spec, &rng, tip, err);
    rb_model *m = tip >= 0 ? rb_spec_compile(spec, NULL, err) : NULL;
    rb_spec_free(spec);
    return m;
}

/* ---- states ------------------------------------------------------------------------------------
 */

#define REACH_HINGE 3.0 /* [rad] either way where there is no limit */
#define REACH_SLIDE 0.3 /* [m]                                      */

static void random_quaternion(rb_rng *rng, double q[4])
{
    double norm = 0.0;
    for (int i = 0; i < 4; i++) {
        q[i] = rb_rng_normal(rng);
        norm += q[i] * q[i];
    }
    norm = sqrt(norm);
    for (int i = 0; i < 4; i++) q[i] /= norm; /* zero only if four normal draws are */
}

void rb_bench_state(const rb_model *m, rb_rng *rng, double *q, double *v, double *tau)
{
    for (int j = 0; j < m->njnt; j++) {
        double *x = q + m->jnt_qadr[j];
        double reach = m->jnt_type[j] == RB_JOINT_HINGE ? REACH_HINGE : REACH_SLIDE;
        int limited = m->jnt_limited[j];
        switch (m->jnt_type[j]) {
        case RB_JOINT_FREE:
            for (int i = 0; i < 3; i++) x[i] = rb_rng_normal(rng);
            random_quaternion(rng, x + 3);
            break;
        case RB_JOINT_BALL:
            random_quaternion(rng, x);
            break;
        default:
            x[0] = rb_rng_uniform(rng, limited ? m->jnt_range[2 * j] : -reach,
                                  limited ? m->jnt_range[2 * j + 1] : reach);
        }
    }
    for (int i = 0; i < m->nv; i++) v[i] = rb_rng_normal(rng);
    for (int i = 0; i < m->nv; i++) tau[i] = rb_rng_normal(rng);
}
