/* Bodies, joints and dofs: parents, the link that each belongs to, where each joint has
 * its coordinates and each dof its row of the mass matrix. */
#include "model/build.h"

#include <limits.h>

#include "math/quat.h"

static const rb_pose identity = { { 0.0, 0.0, 0.0 }, { 1.0, 0.0, 0.0, 0.0 } };
enum { NOBODY = -1 };
static const int joint_nq[] = { [RB_JOINT_FREE] = 7, [RB_JOINT_BALL] = 4, 1, 1 };
static const int joint_nv[] = { [RB_JOINT_FREE] = 6, [RB_JOINT_BALL] = 3, 1, 1 };

/* ---- sizes ------------------------------------------------------------------------------------
 */

/* Counting sort by body: linear, and stable. `body_of` reads the body of a def; elements without
 * a body have NOBODY and come last. */
static int group_by_body(rb_build *b, rb_kind kind, int (*body_of)(const void *def), rb_group *g)
{
    int n = b->spec->list[kind].count, nbody = b->spec->list[RB_KIND_BODY].count;
    g->order = rb_push(b->scratch, int, n);
    g->at = rb_push(b->scratch, int, n);
    g->start = rb_push(b->scratch, int, nbody + 1);
    int *next = rb_push(b->scratch, int, nbody + 2);
    if (!g->order || !g->at || !g->start || !next) return 0;

    memset(next, 0, sizeof(int) * ((size_t)nbody + 2));
    for (int i = 0; i < n; i++) {
        int body = body_of(rb_spec_item(b->spec, kind, i));
        next[(body == NOBODY ? nbody : body) + 1]++;
    }
    for (int k = 0; k <= nbody; k++) next[k + 1] += next[k];
    memcpy(g->start, next, sizeof(int) * ((size_t)nbody + 1));
    for (int i = 0; i < n; i++) {
        int body = body_of(rb_spec_item(b->spec, kind, i));
        int place = next[body == NOBODY ? nbody : body]++;
        g->order[place] = i;
        g->at[i] = place;
    }
    return 1;
}

static int body_of_joint(const void *def)
{
    const rb_joint_def *joint = def;
    return joint->measured ? NOBODY : joint->body;
}

static int body_of_geom(const void *def)
{
    return ((const rb_geom_def *)def)->body;
}

static rb_status check_free_joints(rb_build *b)
{
    const rb_joint_def *joints = RB_DEFS(b, joint, JOINT);
    for (int place = 0; place < b->m->njnt; place++) {
        int j = b->joints.order[place], body = joints[j].body;
        if (joints[j].type != RB_JOINT_FREE) continue;
        if (b->joints.start[body + 1] - b->joints.start[body] == 1) continue;
        return rb_refuse(&joints[j], RB_KIND_JOINT, j, b->err,
                         "is free and shares its body with another joint: expected it alone");
    }
    return RB_OK;
}

/* A body with joints, or a mocap body, begins a link. */
static int begins_link(const rb_build *b, int body)
{
    const rb_body_def *def = RB_DEFS(b, body, BODY) + body;
    return body == 0 || def->mocap || b->joints.start[body + 1] > b->joints.start[body];
}

/* Velocities on the path from each link to the root, and their sum over dofs: the entries of M. */
static rb_status count_mass_entries(rb_build *b)
{
    rb_model *m = b->m;
    const rb_body_def *bodies = RB_DEFS(b, body, BODY);
    const rb_joint_def *joints = RB_DEFS(b, joint, JOINT);
    int *depth = rb_push(b->scratch, int, m->nbody);
    if (!depth) return rb_build_nomem(b);
    depth[0] = 0;
    long long entries = 0;
    for (int k = 1; k < m->nbody; k++) {
        depth[k] = depth[bodies[k].parent];
        for (int j = b->joints.start[k]; j < b->joints.start[k + 1]; j++) {
            int nv = joint_nv[joints[b->joints.order[j]].type];
            for (int i = 0; i < nv; i++) entries += ++depth[k];
        }
        if (entries > INT_MAX) {
            return rb_fail(b->err, RB_TOO_LARGE,
                           "the mass matrix has more than %d entries: the chains of joints are too "
                           "long",
                           INT_MAX);
        }
    }
    m->nM = (int)entries;
    return RB_OK;
}

rb_status rb_size_tree(rb_build *b)
{
    rb_model *m = b->m;
    const rb_body_def *bodies = RB_DEFS(b, body, BODY);
    const rb_joint_def *joints = RB_DEFS(b, joint, JOINT);
    m->nbody = b->spec->list[RB_KIND_BODY].count;
    m->njnt_all = b->spec->list[RB_KIND_JOINT].count;
    m->ngeom = b->spec->list[RB_KIND_GEOM].count;
    if (!group_by_body(b, RB_KIND_JOINT, body_of_joint, &b->joints)) return rb_build_nomem(b);
    if (!group_by_body(b, RB_KIND_GEOM, body_of_geom, &b->geoms)) return rb_build_nomem(b);
    m->njnt = b->joints.start[m->nbody];
    rb_status status = check_free_joints(b);
    if (status != RB_OK) return status;
    b->body_link = rb_push(b->scratch, int, m->nbody);
    b->body_solid = rb_push(b->scratch, rb_inertia, m->nbody);
    b->body_p = rb_push(b->scratch, double, 3 * (size_t)m->nbody);
    b->body_R = rb_push(b->scratch, double, 9 * (size_t)m->nbody);
    if (!b->body_link || !b->body_solid || !b->body_p || !b->body_R) return rb_build_nomem(b);

    for (int k = 0; k < m->nbody; k++) {
        b->body_link[k] = begins_link(b, k) ? m->nlink++ : b->body_link[bodies[k].parent];
        if (bodies[k].mocap) m->nmocap++;
    }
    for (int j = 0; j < m->njnt_all; j++) {
        m->nq_all += joint_nq[joints[j].type];
        m->nv_all += joint_nv[joints[j].type];
        if (joints[j].measured) continue;
        m->nq += joint_nq[joints[j].type];
        m->nv += joint_nv[joints[j].type];
    }
    return count_mass_entries(b);
}

/* ---- arrays -----------------------------------------------------------------------------------
 */

void rb_fill_pose(const rb_pose *pose, double *pos, double *quat)
{
    rb_copy3(pose->pos, pos);
    memcpy(quat, pose->quat, 4 * sizeof *quat);
    rb_quat_normalize(quat);
}

/* The frame of body k, which is at p, R in the frame that carries it, continued from its parent. */
static void append_frame(const rb_model *m, int k, double *p, double *R)
{
    double own[9];
    int parent = m->body_parent[k];
    rb_quat_to_rot(m->body_quat + 4 * k, own);
    rb_rot(R + 9 * parent, m->body_pos + 3 * k, p + 3 * k);
    rb_add3(p + 3 * k, p + 3 * parent, p + 3 * k);
    rb_mul33(R + 9 * parent, own, R + 9 * k);
}

static void start_frame(int k, double *p, double *R)
{
    rb_zero3(p + 3 * k);
    for (int i = 0; i < 9; i++) R[9 * k + i] = i % 4 == 0;
}

void rb_fill_bodies(rb_build *b)
{
    rb_model *m = b->m;
    int nmocap = 0, nlink = 0;
    for (int k = 0; k < m->nbody; k++) {
        const rb_body_def *def = RB_DEFS(b, body, BODY) + k;
        m->body_parent[k] = k == 0 ? 0 : def->parent;
        m->body_link[k] = b->body_link[k];
        if (b->body_link[k] == nlink) m->link_body[nlink++] = k;
        m->body_mocap[k] = def->mocap ? nmocap++ : -1;
        if (def->mocap) m->mocap_motion[m->body_mocap[k]] = def->motion;
        m->body_gravcomp[k] = def->gravcomp;
        rb_fill_pose(k == 0 ? &identity : &def->pose, m->body_pos + 3 * k, m->body_quat + 4 * k);

        m->body_jntnum[k] = b->joints.start[k + 1] - b->joints.start[k];
        m->body_jntadr[k] = m->body_jntnum[k] ? b->joints.start[k] : -1;
        m->body_geomnum[k] = b->geoms.start[k + 1] - b->geoms.start[k];
        m->body_geomadr[k] = m->body_geomnum[k] ? b->geoms.start[k] : -1;
        if (m->link_body[m->body_link[k]] == k)
            start_frame(k, m->body_link_pos, m->body_link_rot);
        else
            append_frame(m, k, m->body_link_pos, m->body_link_rot);
        if (k == 0)
            start_frame(k, b->body_p, b->body_R);
        else
            append_frame(m, k, b->body_p, b->body_R);
    }
}

/* A free joint has the pose of its body as reference, a ball the identity. */
static void fill_qpos0(rb_model *m, int j)
{
    double *q = m->qpos0 + m->jnt_qadr[j];
    int body = m->jnt_body[j];
    switch (m->jnt_type[j]) {
    case RB_JOINT_FREE:
        rb_copy3(m->body_pos + 3 * body, q);
        memcpy(q + 3, m->body_quat + 4 * body, 4 * sizeof *q);
        break;
    case RB_JOINT_BALL:
        q[0] = 1.0;
        break;
    default:
        q[0] = m->jnt_ref[j];
    }
}

void rb_fill_joints(rb_build *b)
{
    rb_model *m = b->m;
    int nq = 0, nv = 0;
    for (int j = 0; j < m->njnt_all; j++) {
        const rb_joint_def *def = RB_DEFS(b, joint, JOINT) + b->joints.order[j];
        m->jnt_type[j] = (int)def->type;
        m->jnt_body[j] = def->body;
        m->jnt_link[j] = b->body_link[def->body];
        m->jnt_qadr[j] = nq;
        m->jnt_dofadr[j] = nv;
        if (def->type != RB_JOINT_FREE) rb_copy3(def->pos, m->jnt_pos + 3 * j);
        rb_copy3(def->axis, m->jnt_axis + 3 * j);
        rb_normalize3(m->jnt_axis + 3 * j);
        m->jnt_ref[j] = def->ref;
        m->jnt_springref[j] = def->springref;
        m->jnt_stiffness[j] = def->stiffness;
        memcpy(m->jnt_stiffness_poly + 2 * j, def->stiffness_poly, sizeof def->stiffness_poly);
        m->npoly += def->stiffness_poly[0] != 0.0 || def->stiffness_poly[1] != 0.0 ||
                    def->damping_poly[0] != 0.0 || def->damping_poly[1] != 0.0;
        m->jnt_limited[j] = def->limited != 0;
        m->jnt_driven_gravcomp[j] = def->driven_gravcomp;
        m->jnt_force_limited[j] = def->force_limited != 0;
        for (int i = 0; i < 2; i++) {
            m->jnt_range[2 * j + i] = def->range[i];
            m->jnt_force_range[2 * j + i] = def->force_range[i];
        }
        for (int i = nv; i < nv + joint_nv[def->type]; i++) {
            m->dof_jnt[i] = j;
            m->dof_link[i] = m->jnt_link[j];
            m->dof_armature[i] = def->armature;
            m->dof_damping[i] = def->damping;
            m->dof_frictionloss[i] = def->frictionloss;
            memcpy(m->dof_damping_poly + 2 * i, def->damping_poly, sizeof def->damping_poly);
        }
        fill_qpos0(m, j);
        nq += joint_nq[def->type];
        nv += joint_nv[def->type];
    }
}

/* A dof hangs on the one before it in its link, the first on the last one of the nearest link
 * above that has any; where tendons couple branches, as coupled.c found. */
void rb_fill_dofs(rb_build *b)
{
    rb_model *m = b->m;
    int address = 0;
    int *length = m->dof_Madr; /* entries of a row, until the addresses are known */
    for (int i = 0; i < m->nv; i++) {
        int k = m->dof_link[i];
        if (i > m->link_dofadr[k]) {
            m->dof_parent[i] = i - 1;
        } else {
            do k = m->link_parent[k];
            while (k > 0 && m->link_dofnum[k] == 0);
            m->dof_parent[i] = k > 0 ? m->link_dofadr[k] + m->link_dofnum[k] - 1 : -1;
        }
        if (b->dof_above) m->dof_parent[i] = b->dof_above[i];
        int next = i > 0 && m->dof_parent[i] == i - 1;
        m->dof_run[i] = next ? 1 + m->dof_run[i - 1] : 0;
        length[i] = 1 + (m->dof_parent[i] < 0 ? 0 : length[m->dof_parent[i]]);
    }
    for (int i = 0; i < m->nv; i++) {
        int row = length[i];
        m->dof_Madr[i] = address;
        address += row;
    }
}
