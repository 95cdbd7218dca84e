/* MuJoCo on the same mechanism: one body per link, no geoms, no actuators, no limits; constraints
 * and contacts are disabled. Two times: mj_forward, and the functions of it without which there is
 * no acceleration. */
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "others.h"

typedef struct engine {
    mjModel *m;
    mjData *d;
    double *q, *v, *tau;
} engine;

const char *mujoco_version(void)
{
    return mj_versionString();
}

static void release(void *handle)
{
    engine *e = handle;
    mj_deleteData(e->d);
    mj_deleteModel(e->m);
    free(e->q);
    free(e->v);
    free(e->tau);
    free(e);
}

/* ---- the model ---------------------------------------------------------------------------------
 */

static void add_joints(mjsBody *body, const rb_model *m, int link)
{
    static const mjtJoint types[] = { mjJNT_FREE, mjJNT_BALL, mjJNT_SLIDE, mjJNT_HINGE };
    for (int j = m->link_jntadr[link]; j < m->link_jntadr[link] + m->link_jntnum[link]; j++) {
        mjsJoint *joint = mjs_addJoint(body, NULL);
        joint->type = types[m->jnt_type[j]];
        memcpy(joint->pos, m->jnt_pos + 3 * j, sizeof joint->pos);
        memcpy(joint->axis, m->jnt_axis + 3 * j, sizeof joint->axis);
        joint->ref = m->jnt_ref[j];
        joint->armature = m->dof_armature[m->jnt_dofadr[j]];
        joint->limited = mjLIMITED_FALSE;
    }
}

static void describe(mjsBody *body, const rb_model *m, int link)
{
    memcpy(body->pos, m->link_pos + 3 * link, sizeof body->pos);
    memcpy(body->quat, m->link_quat + 4 * link, sizeof body->quat);
    body->mass = m->link_mass[link];
    memcpy(body->ipos, m->link_com + 3 * link, sizeof body->ipos);
    memcpy(body->fullinertia, m->link_inertia + 6 * link, sizeof body->fullinertia);
    body->explicitinertial = 1;
    add_joints(body, m, link);
}

static mjModel *build(const rb_model *m)
{
    mjSpec *spec = mj_makeSpec();
    mjsBody **bodies = calloc((size_t)m->nlink, sizeof *bodies);
    mjModel *model = NULL;
    if (spec && bodies) {
        spec->compiler.degree = 0;
        spec->compiler.alignfree = 0;
        memcpy(spec->option.gravity, m->option.gravity, sizeof spec->option.gravity);
        bodies[0] = mjs_findBody(spec, "world");
        for (int k = 1; k < m->nlink; k++) {
            bodies[k] = mjs_addBody(bodies[m->link_parent[k]], NULL);
            describe(bodies[k], m, k);
        }
        model = mj_compile(spec, NULL);
        if (!model) fprintf(stderr, "MuJoCo: %s\n", mjs_getError(spec));
    }
    free(bodies);
    if (spec) mj_deleteSpec(spec);
    return model;
}

static void *make(const rb_model *m)
{
    engine *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->m = build(m);
    if (!e->m || e->m->nq != m->nq || e->m->nv != m->nv) {
        mj_deleteModel(e->m);
        free(e);
        return NULL;
    }
    e->m->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT;
    e->d = mj_makeData(e->m);
    e->q = calloc((size_t)(RB_SIDE_STATES * m->nq) + 1, sizeof *e->q);
    e->v = calloc((size_t)(RB_SIDE_STATES * m->nv) + 1, sizeof *e->v);
    e->tau = calloc((size_t)(RB_SIDE_STATES * m->nv) + 1, sizeof *e->tau);
    return e;
}

/* ---- runs --------------------------------------------------------------------------------------
 */

static void give(void *handle, int k, const double *q, const double *v, const double *tau)
{
    engine *e = handle;
    memcpy(e->q + k * e->m->nq, q, (size_t)e->m->nq * sizeof *q);
    memcpy(e->v + k * e->m->nv, v, (size_t)e->m->nv * sizeof *v);
    memcpy(e->tau + k * e->m->nv, tau, (size_t)e->m->nv * sizeof *tau);
}

static void set(engine *e, int k)
{
    mju_copy(e->d->qpos, e->q + k * e->m->nq, (int)e->m->nq);
    mju_copy(e->d->qvel, e->v + k * e->m->nv, (int)e->m->nv);
    mju_copy(e->d->qfrc_applied, e->tau + k * e->m->nv, (int)e->m->nv);
}

static void run_forward(void *handle, int k)
{
    engine *e = handle;
    set(e, k);
    mj_forward(e->m, e->d);
}

static void run_parts(void *handle, int k)
{
    engine *e = handle;
    mjData *d = e->d;
    set(e, k);
    mj_kinematics(e->m, d);
    mj_comPos(e->m, d);
    mj_makeM(e->m, d);
    mj_factorM(e->m, d);
    mj_comVel(e->m, d);
    mj_rne(e->m, d, 0, d->qfrc_bias);
    mju_sub(d->qfrc_smooth, d->qfrc_applied, d->qfrc_bias, (int)e->m->nv);
    mj_solveM(e->m, d, d->qacc_smooth, d->qfrc_smooth, 1);
}

static void take(void *handle, int k, double *qdd)
{
    engine *e = handle;
    (void)k;
    memcpy(qdd, e->d->qacc_smooth, (size_t)e->m->nv * sizeof *qdd);
}

static const rb_side forward_side = { "mj_forward", make, give, run_forward, take, release };
static const rb_side parts_side = { "mujoco parts", make, give, run_parts, take, release };
const rb_side *const mujoco_sides[] = { &forward_side, &parts_side, NULL };
