/* Gauges: joints without a degree of freedom, whose coordinate is that of one joint of an
 * RB_EQ_CHAIN. Here: which chain, and which dofs the rate depends on, in the order in which
 * src/dynamics/gauge.c finds the entries: both bodies up to where their paths meet, the later link
 * first, the dofs of a link from the last; then the rotors of the chain. */
#include "model/build.h"

#include <limits.h>

static const int joint_nv[] = { [RB_JOINT_FREE] = 6, [RB_JOINT_BALL] = 3, 1, 1 };

static rb_status check_gauge(rb_build *b, int i, int uses)
{
    const rb_joint_def *def = RB_DEFS(b, joint, JOINT) + i;
    if (def->type == RB_JOINT_FREE)
        return rb_refuse(def, RB_KIND_JOINT, i, b->err,
                         "is free and measured: expected a hinge, "
                         "a slide or a ball");
    if (def->armature != 0.0)
        return rb_refuse(def, RB_KIND_JOINT, i, b->err,
                         "is measured and has armature: expected 0, it has no inertia");
    if (uses != 1)
        return rb_refuse(def, RB_KIND_JOINT, i, b->err,
                         "is measured and in %d chains: expected it in one RB_EQ_CHAIN", uses);
    return RB_OK;
}

/* Dofs from a body up to the world. */
static int path_length(const rb_build *b, int body)
{
    const rb_body_def *bodies = RB_DEFS(b, body, BODY);
    const rb_joint_def *joints = RB_DEFS(b, joint, JOINT);
    int count = 0;
    for (; body > 0; body = bodies[body].parent) {
        for (int j = b->joints.start[body]; j < b->joints.start[body + 1]; j++)
            count += joint_nv[joints[b->joints.order[j]].type];
    }
    return count;
}

static int rotor_dofs(const rb_build *b, const rb_equality_def *eq)
{
    const rb_joint_def *joints = RB_DEFS(b, joint, JOINT);
    int count = 0;
    for (int k = 0; k < eq->nchain; k++) {
        int j = eq->chain[k].joint;
        if (j >= 0 && !joints[j].measured) count += joint_nv[joints[j].type];
    }
    return count;
}

/* Entries of all rows of the gauges of a chain, at most. Counts the dofs used. */
static long long chain_entries(const rb_build *b, const rb_equality_def *eq, int *uses)
{
    const rb_joint_def *joints = RB_DEFS(b, joint, JOINT);
    long long each = path_length(b, eq->obj1) + path_length(b, eq->obj2) + rotor_dofs(b, eq);
    long long sum = 0;
    for (int k = 0; k < eq->nchain; k++) {
        int j = eq->chain[k].joint;
        if (j < 0 || !joints[j].measured) continue;
        uses[j]++;
        sum += each * joint_nv[joints[j].type];
    }
    return sum;
}

rb_status rb_size_gauges(rb_build *b)
{
    rb_model *m = b->m;
    m->ngauge = m->njnt_all - m->njnt;
    m->ngauge_dof = m->nv_all - m->nv;
    if (m->ngauge == 0) return RB_OK;
    int *uses = rb_push(b->scratch, int, m->njnt_all);
    if (!uses) return rb_build_nomem(b);
    memset(uses, 0, (size_t)m->njnt_all * sizeof *uses);
    long long entries = 0;
    for (int e = 0; e < m->neq; e++) {
        const rb_equality_def *eq = RB_DEFS(b, equality, EQUALITY) + e;
        if (eq->type == RB_EQ_CHAIN) entries += chain_entries(b, eq, uses);
        if (entries > INT_MAX)
            return rb_fail(b->err, RB_TOO_LARGE, "too many chains for one model");
    }
    m->ngauge_entry = (int)entries;
    for (int place = m->njnt; place < m->njnt_all; place++) {
        int i = b->joints.order[place];
        rb_status status = check_gauge(b, i, uses[i]);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

/* ---- arrays -----------------------------------------------------------------------------------
 */

/* The dofs of one row; returns how many. */
static int write_pattern(const rb_model *m, int e, int *out)
{
    int k1 = m->body_link[m->eq_obj1[e]], k2 = m->body_link[m->eq_obj2[e]], count = 0;
    while (k1 != k2) {
        int *k = k1 > k2 ? &k1 : &k2;
        for (int n = m->link_dofnum[*k] - 1; n >= 0; n--) out[count++] = m->link_dofadr[*k] + n;
        *k = m->link_parent[*k];
    }
    for (int i = m->eq_chainadr[e]; i < m->eq_chainadr[e] + m->eq_chainnum[e]; i++) {
        int j = m->chain_jnt[i];
        if (j < 0 || j >= m->njnt) continue;
        for (int n = 0; n < joint_nv[m->jnt_type[j]]; n++) out[count++] = m->jnt_dofadr[j] + n;
    }
    return count;
}

void rb_fill_gauges(rb_build *b)
{
    rb_model *m = b->m;
    int at = 0;
    for (int e = 0; e < m->neq && m->ngauge > 0; e++) {
        for (int i = m->eq_chainadr[e]; i < m->eq_chainadr[e] + m->eq_chainnum[e]; i++) {
            int j = m->chain_jnt[i];
            if (j < m->njnt) continue;
            m->gauge_eq[j - m->njnt] = e;
            m->gauge_chain[j - m->njnt] = i;
            for (int n = 0; n < joint_nv[m->jnt_type[j]]; n++) {
                int row = m->jnt_dofadr[j] + n - m->nv;
                m->gauge_rowadr[row] = at;
                m->gauge_rownum[row] = write_pattern(m, e, m->gauge_entry + at);
                at += m->gauge_rownum[row];
            }
        }
    }
}
