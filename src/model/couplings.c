/* Equalities: what ties joints and bodies together beside the tree. */
#include "model/build.h"

#include "math/quat.h"

/* Frame 2 in body 2 such that it coincides with frame 1 of body 1 at the reference configuration.
 */
static void derive_frame2(rb_build *b, int e)
{
    rb_model *m = b->m;
    const double *p1 = b->body_p + 3 * m->eq_obj1[e], *R1 = b->body_R + 9 * m->eq_obj1[e];
    const double *p2 = b->body_p + 3 * m->eq_obj2[e], *R2 = b->body_R + 9 * m->eq_obj2[e];
    double x[3], frame[9];
    rb_rot(R1, m->eq_pos1 + 3 * e, x);
    rb_add3(x, p1, x);
    rb_sub3(x, p2, x);
    rb_rot_t(R2, x, m->eq_pos2 + 3 * e);
    rb_quat_to_rot(m->eq_quat1 + 4 * e, frame);
    rb_mul33(R1, frame, frame);
    rb_mul33_t(R2, frame, frame);
    rb_quat_from_rot(frame, m->eq_quat2 + 4 * e);
}

static void fill_chain(rb_build *b, int e, int adr, const rb_equality_def *def)
{
    rb_model *m = b->m;
    m->eq_chainadr[e] = adr;
    m->eq_chainnum[e] = def->nchain;
    for (int i = 0; i < def->nchain; i++, adr++) {
        const rb_chain_joint *joint = &def->chain[i];
        m->chain_type[adr] = (int)joint->type;
        m->chain_jnt[adr] = joint->joint < 0 ? -1 : b->joints.at[joint->joint];
        m->chain_ref[adr] = joint->ref;
        rb_copy3(joint->pos, m->chain_pos + 3 * adr);
        rb_copy3(joint->axis, m->chain_axis + 3 * adr);
        rb_normalize3(m->chain_axis + 3 * adr);
    }
}

/* Between bodies that are fixed to each other there is nothing to hold: the rows would be rounding.
 */
static int is_within_link(const rb_build *b, const rb_equality_def *def)
{
    if (def->type == RB_EQ_JOINT || def->type == RB_EQ_TENDON) return 0;
    return b->body_link[def->obj1] == b->body_link[def->obj2];
}

void rb_fill_equalities(rb_build *b)
{
    rb_model *m = b->m;
    int chain = 0;
    for (int e = 0; e < m->neq; e++) {
        const rb_equality_def *def = RB_DEFS(b, equality, EQUALITY) + e;
        m->eq_type[e] = (int)def->type;
        m->eq_obj1[e] = def->obj1;
        m->eq_obj2[e] = def->obj2;
        m->eq_active[e] = def->active != 0 && !is_within_link(b, def);
        memcpy(m->eq_poly + 5 * e, def->poly, sizeof def->poly);
        rb_fill_pose(&def->pose1, m->eq_pos1 + 3 * e, m->eq_quat1 + 4 * e);
        rb_fill_pose(&def->pose2, m->eq_pos2 + 3 * e, m->eq_quat2 + 4 * e);
        fill_chain(b, e, chain, def);
        chain += def->nchain;
        if (def->type == RB_EQ_JOINT) {
            m->eq_obj1[e] = b->joints.at[def->obj1];
            if (def->obj2 >= 0) m->eq_obj2[e] = b->joints.at[def->obj2];
        } else if (def->type != RB_EQ_TENDON && def->derive2) {
            derive_frame2(b, e);
        }
    }
}
