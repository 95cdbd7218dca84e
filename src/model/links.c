/* Links: bodies that move as one. Their frames at the reference configuration, their inertia, and
 * the check that all moving links have some. */
#include "model/build.h"

#include "base/constants.h"
#include "math/quat.h"

/* The frame of a link in its parent link: that of its first body, seen through the bodies fixed
 * between the two. */
static void fill_frame(rb_model *m, int k)
{
    int body = m->link_body[k], parent = m->body_parent[body];
    double q[4];
    m->link_parent[k] = k == 0 ? -1 : m->body_link[parent];
    if (k == 0) {
        m->link_quat[0] = 1.0;
        return;
    }
    rb_rot(m->body_link_rot + 9 * parent, m->body_pos + 3 * body, m->link_pos + 3 * k);
    rb_add3(m->link_pos + 3 * k, m->body_link_pos + 3 * parent, m->link_pos + 3 * k);
    if (m->link_body[m->body_link[parent]] == parent) {
        memcpy(m->link_quat + 4 * k, m->body_quat + 4 * body, 4 * sizeof *q);
        return;
    }
    rb_quat_from_rot(m->body_link_rot + 9 * parent, q);
    rb_quat_mul(q, m->body_quat + 4 * body, m->link_quat + 4 * k);
    rb_quat_normalize(m->link_quat + 4 * k);
}

/* A tree begins where something moves on something that does not. */
static void fill_joints_and_tree(rb_model *m, int k)
{
    int body = m->link_body[k];
    m->link_jntadr[k] = m->body_jntadr[body];
    m->link_jntnum[k] = m->body_jntnum[body];
    m->link_dofadr[k] = -1;
    for (int j = m->link_jntadr[k]; j >= 0 && j < m->link_jntadr[k] + m->link_jntnum[k]; j++) {
        int next = j + 1 < m->njnt ? m->jnt_dofadr[j + 1] : m->nv;
        if (m->link_dofadr[k] < 0) m->link_dofadr[k] = m->jnt_dofadr[j];
        m->link_dofnum[k] += next - m->jnt_dofadr[j];
    }
    int above = k == 0 ? -1 : m->link_tree[m->link_parent[k]];
    m->link_tree[k] = above >= 0 || m->link_dofnum[k] == 0 ? above : m->ntree++;
}

/* ---- inertia ----------------------------------------------------------------------------------
 */

/* Sums over the bodies of each link, in its frame. */
static void add_bodies(rb_build *b, rb_inertia *link)
{
    rb_model *m = b->m;
    for (int i = 0; i < m->nbody; i++) {
        int k = m->body_link[i];
        rb_inertia body = b->body_solid[i];
        rb_inertia_move(m->body_link_pos + 3 * i, m->body_link_rot + 9 * i, &body);
        rb_inertia_add(&link[k], &body);
    }
    for (int k = 0; k < m->nlink; k++) {
        m->link_mass[k] = link[k].mass;
        rb_copy3(link[k].com, m->link_com + 3 * k);
        memcpy(m->link_inertia + 6 * k, link[k].I, sizeof link[k].I);
    }
}

/* The inertia that a dof moves when nothing else does: the mass for a translation, the moment about
 * the axis for a rotation. `below` is everything the link carries, in its frame. */
static double moved_inertia(const rb_model *m, int dof, const rb_inertia *below)
{
    static const double axes[9] = { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 };
    int j = m->dof_jnt[dof], i = dof - m->jnt_dofadr[j];
    const double *anchor = m->jnt_pos + 3 * j;
    switch (m->jnt_type[j]) {
    case RB_JOINT_FREE:
        return i < 3 ? below->mass : rb_inertia_about(below, anchor, axes + 3 * (i - 3));
    case RB_JOINT_BALL:
        return rb_inertia_about(below, anchor, axes + 3 * i);
    case RB_JOINT_SLIDE:
        return below->mass;
    default:
        return rb_inertia_about(below, anchor, m->jnt_axis + 3 * j);
    }
}

/* A dof that moves no mass has no acceleration, nor has one with a point mass on its axis;
 * RB_NO_ARM of the size of the model separates it from rounding. */
static rb_status check_dofs(rb_build *b, int k, const rb_inertia *below)
{
    rb_model *m = b->m;
    double arm = RB_NO_ARM * m->extent, least = below->mass * arm * arm;
    for (int i = m->link_dofadr[k]; i >= 0 && i < m->link_dofadr[k] + m->link_dofnum[k]; i++) {
        if (m->dof_armature[i] > 0.0) continue;
        double moved = moved_inertia(m, i, below);
        if (moved > 0.0 && moved >= least) continue;
        int j = b->joints.order[m->dof_jnt[i]], body = m->link_body[k];
        const rb_joint_def *joint = RB_DEFS(b, joint, JOINT) + j;
        const char *name = RB_DEFS(b, body, BODY)[body].name;
        return rb_refuse(joint, RB_KIND_JOINT, j, b->err,
                         "moves body %d%s%.80s%s and what hangs on it, which has no %s there: give "
                         "it mass and inertia, or the joint armature",
                         body, *name ? " '" : "", name, *name ? "'" : "",
                         below->mass > 0.0 ? "inertia" : "mass");
    }
    return RB_OK;
}

/* Composite inertia from the leaves to the root, at the reference configuration. */
static rb_status check_moving_parts(rb_build *b, rb_inertia *link)
{
    rb_model *m = b->m;
    for (int k = m->nlink - 1; k > 0; k--) {
        rb_status status = check_dofs(b, k, &link[k]);
        if (status != RB_OK) return status;
        rb_inertia moved = link[k];
        double R[9];
        rb_quat_to_rot(m->link_quat + 4 * k, R);
        rb_inertia_move(m->link_pos + 3 * k, R, &moved);
        rb_inertia_add(&link[m->link_parent[k]], &moved);
    }
    return RB_OK;
}

rb_status rb_fill_links(rb_build *b)
{
    rb_model *m = b->m;
    rb_inertia *link = rb_push(b->scratch, rb_inertia, m->nlink);
    if (!link) return rb_build_nomem(b);
    memset(link, 0, (size_t)m->nlink * sizeof *link);
    for (int k = 0; k < m->nlink; k++) {
        fill_frame(m, k);
        fill_joints_and_tree(m, k);
    }
    rb_fill_dofs(b);
    rb_status status = rb_fill_extent(b);
    if (status != RB_OK) return status;
    add_bodies(b, link);
    return b->spec->option.keep_massless ? RB_OK : check_moving_parts(b, link);
}
