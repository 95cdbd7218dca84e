/* MuJoCo on the same mechanism: one body per link, no geoms, no actuators, no limits; constraints
 * and contacts are disabled. Two times: mj_forward, and the functions of it without which there is
 * no acceleration. */
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "others.h"

typedef struct engine {
    const rb_model *ours;
    mjModel *m;
    mjData *d;
    int *joint; /* MuJoCo orders joints depth first; its joint of each of ours (njnt)       */
    double *q, *v, *tau; /* of all states, in MuJoCo's order */
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
    free(e->joint);
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
        char name[32];
        mjsJoint *joint = mjs_addJoint(body, NULL);
        snprintf(name, sizeof name, "j%d", j);
        mjs_setName(joint->element, name);
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

static int find_joints(engine *e)
{
    for (int j = 0; j < e->ours->njnt; j++) {
        char name[32];
        snprintf(name, sizeof name, "j%d", j);
        e->joint[j] = mj_name2id(e->m, mjOBJ_JOINT, name);
        if (e->joint[j] < 0) return 0;
    }
    return 1;
}

static void *make(const rb_model *m)
{
    engine *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->ours = m;
    e->m = build(m);
    e->joint = calloc((size_t)m->njnt + 1, sizeof *e->joint);
    e->q = calloc((size_t)(RB_SIDE_STATES * m->nq) + 1, sizeof *e->q);
    e->v = calloc((size_t)(RB_SIDE_STATES * m->nv) + 1, sizeof *e->v);
    e->tau = calloc((size_t)(RB_SIDE_STATES * m->nv) + 1, sizeof *e->tau);
    int ok = e->m && e->joint && e->q && e->v && e->tau;
    if (!ok || e->m->nq != m->nq || e->m->nv != m->nv || !find_joints(e)) {
        release(e);
        return NULL;
    }
    e->m->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT;
    e->d = mj_makeData(e->m);
    return e;
}

/* ---- runs --------------------------------------------------------------------------------------
 */

/* Copies numbers of joint j: between our address and MuJoCo's. */
static void copy_joint(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

static int coordinates(int type)
{
    return type == RB_JOINT_FREE ? 7 : type == RB_JOINT_BALL ? 4 : 1;
}

static int dofs(int type)
{
    return type == RB_JOINT_FREE ? 6 : type == RB_JOINT_BALL ? 3 : 1;
}

static void give(void *handle, int k, const double *q, const double *v, const double *tau)
{
    engine *e = handle;
    for (int j = 0; j < e->ours->njnt; j++) {
        int type = e->ours->jnt_type[j], dof = e->ours->jnt_dofadr[j];
        int to_q = k * e->ours->nq + (int)e->m->jnt_qposadr[e->joint[j]];
        int to_v = k * e->ours->nv + (int)e->m->jnt_dofadr[e->joint[j]];
        copy_joint(e->q + to_q, q + e->ours->jnt_qadr[j], coordinates(type));
        copy_joint(e->v + to_v, v + dof, dofs(type));
        copy_joint(e->tau + to_v, tau + dof, dofs(type));
    }
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
    for (int j = 0; j < e->ours->njnt; j++)
        copy_joint(qdd + e->ours->jnt_dofadr[j], e->d->qacc_smooth + e->m->jnt_dofadr[e->joint[j]],
                   dofs(e->ours->jnt_type[j]));
}

static const rb_side forward_side = { "mj_forward", make, give, run_forward, take, release };
static const rb_side parts_side = { "mujoco parts", make, give, run_parts, take, release };
const rb_side *const mujoco_sides[] = { &forward_side, &parts_side, NULL };
