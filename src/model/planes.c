/* Planar mechanisms: each link has one hinge, and all hinges are parallel to one axis e. Links then
 * rotate about e alone, and only their parts in the plane count: the vector from the anchor of the
 * parent to their own, their centre of mass as seen from there, and the moment of inertia about
 * their hinge, all in the reference configuration. */
#include "model/build.h"

#include <math.h>

#include "base/constants.h"
#include "math/quat.h"
#include "math/vec3.h"

/* Difference of two unit axes that counts as rounding: hinges are parallel [1]. Larger: mechanisms
 * that are almost flat move as if they were. Smaller: rotations of a file make them spatial. */
#define PARALLEL 1e-14

/* Where a link is at the references of all joints. */
typedef struct stand {
    double R[9], O[3];
    double A[3]; /* anchor of its hinge */
} stand;

/* Nothing acts on it that needs frames, and joint k - 1 is that of link k. */
static int is_plain(const rb_model *m)
{
    if (m->nlink < 2 || m->njnt != m->nlink - 1 || m->nv != m->njnt) return 0;
    if (m->nmocap > 0 || m->ngauge > 0 || m->nspatial > 0 || m->fluid || m->nsticky > 0) return 0;
    for (int k = 1; k < m->nlink; k++) {
        int j = k - 1;
        if (m->link_jntnum[k] != 1 || m->link_jntadr[k] != j || m->jnt_dofadr[j] != j) return 0;
        if (m->jnt_type[j] != RB_JOINT_HINGE || m->jnt_qadr[j] != j) return 0;
    }
    for (int b = 0; b < m->nbody; b++) {
        if (m->body_gravcomp[b] != 0.0) return 0;
    }
    for (int i = 0; i < m->nu; i++) {
        int transmission = m->act_transmission[i];
        if (transmission == RB_TRN_SITE || transmission == RB_TRN_SLIDER_CRANK ||
            transmission == RB_TRN_BODY)
            return 0;
    }
    return 1;
}

static void place(const rb_model *m, int k, const stand *p, stand *x)
{
    const double *T0 = m->link_turn + 27 * (ptrdiff_t)k, *T1 = T0 + 9;
    double turn[9], arm[3];
    for (int i = 0; i < 9; i++) turn[i] = T0[i] + T1[i];
    rb_mul33(p->R, turn, x->R);
    rb_rot(p->R, m->link_pos + 3 * (ptrdiff_t)k, x->O);
    rb_add3(p->O, x->O, x->O);
    rb_rot(x->R, m->jnt_pos + 3 * (ptrdiff_t)(k - 1), arm);
    rb_add3(x->O, arm, x->A);
}

/* 1 or -1: the hinge of link k is parallel to e, 0: it is not. */
static int sign_of(const rb_model *m, int k, const stand *x, const double e[3])
{
    double axis[3], plus = 0.0, minus = 0.0;
    rb_rot(x->R, m->jnt_axis + 3 * (ptrdiff_t)(k - 1), axis);
    for (int i = 0; i < 3; i++) {
        plus = fmax(plus, fabs(axis[i] - e[i]));
        minus = fmax(minus, fabs(axis[i] + e[i]));
    }
    return plus <= PARALLEL ? 1 : minus <= PARALLEL ? -1 : 0;
}

/* Two axes of the plane, and e. */
static void find_axes(const double e[3], double axes[9])
{
    int least = fabs(e[0]) <= fabs(e[1]) && fabs(e[0]) <= fabs(e[2]) ? 0 : 2;
    if (least == 2 && fabs(e[1]) < fabs(e[2])) least = 1;
    double other[3] = { least == 0, least == 1, least == 2 };
    rb_cross3(e, other, axes);
    rb_normalize3(axes);
    rb_cross3(e, axes, axes + 3);
    rb_copy3(e, axes + 6);
}

static void measure(const rb_model *m, int k, const stand *p, const stand *x, rb_plane_link *link)
{
    const double *axes = m->plane_axes, *I = m->link_inertia_O + 6 * (ptrdiff_t)k;
    double way[3], com[3], e[3], Ie[3];
    rb_sub3(x->A, p->A, way);
    rb_rot(x->R, m->link_com + 3 * (ptrdiff_t)k, com);
    rb_add3(x->O, com, com);
    rb_sub3(com, x->A, com);
    link->mass = m->link_mass[k];
    for (int i = 0; i < 2; i++) {
        link->a[i] = rb_dot3(axes + 3 * (ptrdiff_t)i, way);
        link->c[i] = rb_dot3(axes + 3 * (ptrdiff_t)i, com);
    }
    rb_rot_t(x->R, axes + 6, e);
    rb_sym3_mul(m->link_inertia + 6 * (ptrdiff_t)k, e, Ie);
    link->J = rb_dot3(e, Ie) + link->mass * (link->c[0] * link->c[0] + link->c[1] * link->c[1]);
    for (int i = 0; i < 2; i++) link->c[i] *= link->mass;
    link->trace = I[0] + I[1] + I[2];
}

rb_status rb_fill_plane(rb_build *b)
{
    rb_model *m = b->m;
    m->plane = 0;
    if (!is_plain(m)) return RB_OK;
    stand *x = rb_push(b->scratch, stand, m->nlink);
    if (!x) return rb_build_nomem(b);
    x[0] = (stand){ .R = { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 } };
    for (int k = 1; k < m->nlink; k++) {
        const stand *p = &x[m->link_parent[k]];
        double e[3];
        place(m, k, p, &x[k]);
        rb_rot(x[k].R, m->jnt_axis + 3 * (ptrdiff_t)(k - 1), e);
        if (k == 1) find_axes(e, m->plane_axes);
        int sign = sign_of(m, k, &x[k], m->plane_axes + 6);
        if (sign == 0) return RB_OK;
        m->plane_link[k].sign = sign;
        measure(m, k, p, &x[k], &m->plane_link[k]);
    }
    m->plane = 1;
    return RB_OK;
}
