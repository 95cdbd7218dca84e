/* The sweeps of forward.c with four numbers at a time, for processors that have AVX2. Links hung on
 * one hinge through their origin, as most are, never leave the registers' format; what is special
 * about others is done by the plain functions. Operations and their order are those of the plain
 * calls, so the bits are theirs too, which the tests check. */
#include "dynamics/forward.h"

#ifdef RB_FORWARD_AVX2

/* everything from here on, headers included, is compiled for these instructions */
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,tune=haswell")
#endif

#include "dynamics/aba_link.h"
#include "math/spatial_v4.h"

/* What the sweeps hand on from link to link. */
typedef struct hot {
    rb_v4 R[3];             /* columns of the rotation                              */
    rb_v4 w, l;             /* angular velocity; O - O of the parent                */
    rb_v4 a[2];             /* velocity-dependent acceleration: angular, linear     */
    rb_v4 z[2];             /* wrench on the way in, acceleration on the way out    */
    rb_v4 A[3], B[3], C[3]; /* rows of P = [[A, B], [B', C]]                     */
} hot;

_Static_assert(sizeof(hot) == RB_LINK_WORK * sizeof(double), "link_work of rb_data has this size");

static inline hot *hot_of(rb_data *d, int k)
{
    return (hot *)(void *)d->link_work + k;
}

/* ---- outwards: pose, velocity, inertia, bias --------------------------------------------------
 */

/* Row-major R of public data from columns. */
RB_INLINE void store_rotation(const rb_v4 R[3], double *out)
{
    rb_v4 row[3];
    rb_v4_transpose(R, row);
    for (int i = 0; i < 3; i++) rb_v4_store3(row[i], out + 3 * i);
}

RB_INLINE void load_rotation(const double *R, rb_v4 out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (rb_v4){ R[i], R[3 + i], R[6 + i], 0.0 };
}

/* R I R' of (D.1) with the upper triangle written twice. */
RB_INLINE void rotate_inertia(const rb_v4 R[3], const double *R_row, const double *I, rb_v4 out[3])
{
    const double col0[3] = { I[0], I[3], I[4] }, col1[3] = { I[3], I[1], I[5] };
    const double col2[3] = { I[4], I[5], I[2] };
    rb_v4 T[3] = { rb_v4_mix(R, col0), rb_v4_mix(R, col1), rb_v4_mix(R, col2) };
    rb_v4 x = rb_v4_mix(T, R_row), y = rb_v4_mix(T, R_row + 3), z = rb_v4_mix(T, R_row + 6);
    rb_v4 xy = __builtin_shufflevector(x, y, 0, 4, 3, 7); /* the last number of each is 0 */
    out[0] = __builtin_shufflevector(xy, z, 0, 1, 4, 7);
    out[1] = __builtin_shufflevector(y, z, 0, 1, 5, 7);
    out[2] = z;
}

/* (D.1), (D.2) of rb_place_link for a hinge through O. */
RB_INLINE void place_hinge(const rb_model *m, rb_data *d, int k, hot *h)
{
    int p = m->link_parent[k], j = m->link_jntadr[k];
    const hot *parent = hot_of(d, p);
    const double *T0 = m->link_turn + 27 * k, *T1 = T0 + 9, *T2 = T0 + 18;
    double *S = d->dof_S + 6 * m->jnt_dofadr[j], turn[9];
    double sine = S[0], cosine = S[1];
    for (int i = 0; i < 9; i++) turn[i] = T0[i] + cosine * T1[i] + sine * T2[i];

    for (int i = 0; i < 3; i++) {
        const double column[3] = { turn[i], turn[3 + i], turn[6 + i] };
        h->R[i] = rb_v4_mix(parent->R, column);
    }
    h->l = rb_v4_mix(parent->R, m->link_pos + 3 * k);
    rb_v4_store3(h->l, d->link_l + 3 * k);
    rb_v4_store3(rb_v4_load3(d->link_p + 3 * p) + h->l, d->link_p + 3 * k);
    rb_v4_store3(rb_v4_mix(h->R, m->jnt_axis + 3 * j), S);
    rb_zero3(S + 3);
    store_rotation(h->R, d->link_R + 9 * k);
}

/* (D.3), (D.4) of rb_move_link for a hinge through O. */
RB_INLINE void move_hinge(const rb_model *m, rb_data *d, int k, hot *h)
{
    int p = m->link_parent[k], j = m->link_dofadr[k];
    rb_v4 w_p = hot_of(d, p)->w;
    rb_v4 turn = rb_v4_all(d->v[j]) * rb_v4_load3(d->dof_S + 6 * j);
    rb_v4 carried = rb_v4_cross(w_p, h->l);
    h->w = w_p + turn;
    h->a[0] = rb_v4_cross(w_p, turn);
    h->a[1] = rb_v4_cross(w_p, carried);
    rb_v4_store3(h->w, d->link_w + 3 * k);
    rb_v4_store3(rb_v4_load3(d->link_v + 3 * p) + carried, d->link_v + 3 * k);
    rb_v4_store3(h->a[0], d->link_a + 6 * k);
    rb_v4_store3(h->a[1], d->link_a + 6 * k + 3);
}

/* The same of a link on one slide. */
RB_INLINE void place_slide(const rb_model *m, rb_data *d, int k, hot *h)
{
    int p = m->link_parent[k], j = m->link_jntadr[k];
    const hot *parent = hot_of(d, p);
    const double *T0 = m->link_turn + 27 * k;
    double *S = d->dof_S + 6 * m->jnt_dofadr[j];
    for (int i = 0; i < 3; i++) {
        const double column[3] = { T0[i], T0[3 + i], T0[6 + i] };
        h->R[i] = rb_v4_mix(parent->R, column);
    }
    rb_v4 axis = rb_v4_mix(h->R, m->jnt_axis + 3 * j);
    h->l = rb_v4_mix(parent->R, m->link_pos + 3 * k);
    h->l += rb_v4_all(d->q[m->jnt_qadr[j]] - m->jnt_ref[j]) * axis;
    rb_v4_store3(h->l, d->link_l + 3 * k);
    rb_v4_store3(rb_v4_load3(d->link_p + 3 * p) + h->l, d->link_p + 3 * k);
    rb_zero3(S);
    rb_v4_store3(axis, S + 3);
    store_rotation(h->R, d->link_R + 9 * k);
}

RB_INLINE void move_slide(const rb_model *m, rb_data *d, int k, hot *h)
{
    const rb_v4 zero = rb_v4_all(0.0);
    int p = m->link_parent[k], j = m->link_dofadr[k];
    rb_v4 w = hot_of(d, p)->w, carried = rb_v4_cross(w, h->l);
    rb_v4 slip = rb_v4_all(d->v[j]) * rb_v4_load3(d->dof_S + 6 * j + 3);
    h->w = w;
    h->a[0] = zero;
    h->a[1] = zero + rb_v4_all(2.0) * rb_v4_cross(w, slip);
    h->a[1] = (h->a[1] + rb_v4_cross(w, carried)) + rb_v4_cross(zero, h->l);
    rb_v4_store3(w, d->link_w + 3 * k);
    rb_v4_store3((rb_v4_load3(d->link_v + 3 * p) + carried) + slip, d->link_v + 3 * k);
    rb_v4_store3(h->a[0], d->link_a + 6 * k);
    rb_v4_store3(h->a[1], d->link_a + 6 * k + 3);
}

static void load_hot(const rb_data *d, int k, hot *h)
{
    load_rotation(d->link_R + 9 * k, h->R);
    h->l = rb_v4_load3(d->link_l + 3 * k);
    h->w = rb_v4_load3(d->link_w + 3 * k);
    h->a[0] = rb_v4_load3(d->link_a + 6 * k);
    h->a[1] = rb_v4_load3(d->link_a + 6 * k + 3);
}

/* Com, which is returned, and inertia about O, which is left in A too. */
RB_INLINE rb_v4 place_inertia(const rb_model *m, rb_data *d, int k, const rb_v4 R[3], rb_v4 A[3])
{
    double *I = d->link_I + 6 * k;
    rb_v4 c = rb_v4_mix(R, m->link_com + 3 * k);
    rotate_inertia(R, d->link_R + 9 * k, m->link_inertia_O + 6 * k, A);
    rb_v4_store3(c, d->link_c + 3 * k);
    I[0] = A[0][0];
    I[1] = A[1][1];
    I[2] = A[2][2];
    I[3] = A[0][1];
    I[4] = A[0][2];
    I[5] = A[1][2];
    return c;
}

/* Com, inertia about O, P before anything is added to it, and the bias wrench (D.5). */
RB_INLINE void start_link(const rb_model *m, rb_data *d, int k, hot *h)
{
    double mass = m->link_mass[k];
    rb_v4 c = place_inertia(m, d, k, h->R, h->A), weight = rb_v4_load3(m->option.gravity);
    rb_v4 mc = rb_v4_all(mass) * c;
    const rb_v4 zero = rb_v4_all(0.0);
    rb_v4 all = rb_v4_all(mass);
    h->B[0] = __builtin_shufflevector(mc, -mc, 3, 6, 1, 3); /* m c~, the last number of mc is 0 */
    h->B[1] = __builtin_shufflevector(mc, -mc, 2, 3, 4, 3);
    h->B[2] = __builtin_shufflevector(mc, -mc, 5, 0, 3, 3);
    h->C[0] = __builtin_shufflevector(all, zero, 0, 5, 6, 7);
    h->C[1] = __builtin_shufflevector(all, zero, 4, 1, 6, 7);
    h->C[2] = __builtin_shufflevector(all, zero, 4, 5, 2, 7);

    const double *w = d->link_w + 3 * k;
    weight = rb_v4_all(mass) * weight;
    rb_v4 spin = rb_v4_cross(h->w, rb_v4_mix(h->A, w));
    rb_v4 inwards = rb_v4_cross(h->w, rb_v4_cross(h->w, c));
    h->z[0] = spin - rb_v4_cross(c, weight);
    h->z[1] = rb_v4_all(mass) * inwards - weight;
}

typedef enum how { GENERAL, HINGE, SLIDE } how;

static how how_of(const rb_model *m, int k)
{
    int j = m->link_jntadr[k];
    if (m->link_jntnum[k] != 1) return GENERAL;
    if (m->jnt_type[j] == RB_JOINT_SLIDE) return SLIDE;
    if (m->jnt_type[j] != RB_JOINT_HINGE) return GENERAL;
    return rb_is_zero3(m->jnt_pos + 3 * j) ? HINGE : GENERAL;
}

void rb_forward_poses_avx2(const rb_model *m, rb_data *d)
{
    load_rotation(d->link_R, hot_of(d, 0)->R);
    for (int k = 1; k < m->nlink; k++) {
        hot *h = hot_of(d, k);
        how what = how_of(m, k);
        if (what == GENERAL) {
            rb_place_link(m, d, k);
            load_rotation(d->link_R + 9 * k, h->R);
            continue;
        }
        if (what == HINGE)
            place_hinge(m, d, k, h);
        else
            place_slide(m, d, k, h);
        place_inertia(m, d, k, h->R, h->A);
    }
}

void rb_forward_out_avx2(const rb_model *m, rb_data *d)
{
    load_hot(d, 0, hot_of(d, 0));
    for (int k = 1; k < m->nlink; k++) {
        hot *h = hot_of(d, k);
        how what = how_of(m, k);
        if (what == HINGE) {
            place_hinge(m, d, k, h);
            move_hinge(m, d, k, h);
        } else if (what == SLIDE) {
            place_slide(m, d, k, h);
            move_slide(m, d, k, h);
        } else {
            rb_place_link(m, d, k);
            rb_move_link(m, d, k);
            load_hot(d, k, h);
        }
        start_link(m, d, k, h);
    }
}

void rb_forward_restart_avx2(const rb_model *m, rb_data *d)
{
    for (int k = 1; k < m->nlink; k++) start_link(m, d, k, hot_of(d, k));
}

/* ---- inwards: P and z -------------------------------------------------------------------------
 */

/* (U; returns S' P S) of rb_stage_U. */
RB_INLINE double stage_U(const hot *h, const double *S, rb_v4 U[2])
{
    rb_v4 columns[3];
    if (rb_is_zero3(S + 3)) {
        U[0] = rb_v4_mix(h->A, S);
        U[1] = rb_v4_mix(h->B, S);
        return rb_v4_dot(rb_v4_load3(S), U[0]);
    }
    rb_v4_transpose(h->B, columns);
    if (rb_is_zero3(S)) {
        U[0] = rb_v4_mix(columns, S + 3);
        U[1] = rb_v4_mix(h->C, S + 3);
        return rb_v4_dot(rb_v4_load3(S + 3), U[1]);
    }
    U[0] = rb_v4_mix(h->A, S) + rb_v4_mix(columns, S + 3);
    U[1] = rb_v4_mix(h->B, S) + rb_v4_mix(h->C, S + 3);
    return rb_v4_dot(rb_v4_load3(S), U[0]) + rb_v4_dot(rb_v4_load3(S + 3), U[1]);
}

/* Is D an inertia or rounding noise? The test of rb_stage_dof. */
RB_INLINE int has_inertia(const hot *h, const double *S, double added, double D)
{
    double scale = rb_noise_scale(S, h->A[0][0] + h->A[1][1] + h->A[2][2],
                                  h->C[0][0] + h->C[1][1] + h->C[2][2]);
    return D > RB_NO_INERTIA * (scale + added);
}

/* U, D and e of dof j, (D.10) and (D.12), with `added` inertia; 0: it meets none. */
RB_INLINE int stage_dof(rb_data *d, int j, double added, const double *tau, double *qdd,
                        const hot *h, rb_v4 U[2])
{
    const double *S = d->dof_S + 6 * j;
    d->dof_D[j] = stage_U(h, S, U) + added;
    rb_v4_store3(U[0], d->dof_U + 6 * j);
    rb_v4_store3(U[1], d->dof_U + 6 * j + 3);
    qdd[j] = tau[j] - (rb_v4_dot(rb_v4_load3(S), h->z[0]) + rb_v4_dot(rb_v4_load3(S + 3), h->z[1]));
    return has_inertia(h, S, added, d->dof_D[j]);
}

/* [[A, B], [B', C]] += s U U' */
RB_INLINE void add_rank1(rb_v4 s, const rb_v4 U[2], rb_v4 A[3], rb_v4 B[3], rb_v4 C[3])
{
    for (int i = 0; i < 3; i++) {
        rb_v4 u = rb_v4_all(U[0][i]), v = rb_v4_all(U[1][i]);
        A[i] += s * (u * U[0]);
        B[i] += s * (u * U[1]);
        C[i] += s * (v * U[1]);
    }
}

/* phi P phi' of rb_sym6_shift: X = l~ C, and Z' has the rows l x (B + X/2). */
RB_INLINE void shift_inertia(const double *l, const hot *h, rb_v4 A[3], rb_v4 B[3], rb_v4 C[3])
{
    rb_v4 x = rb_v4_all(l[0]), y = rb_v4_all(l[1]), z = rb_v4_all(l[2]), half = rb_v4_all(0.5);
    rb_v4 X[3], T[3], Z[3];
    X[0] = y * h->C[2] - z * h->C[1];
    X[1] = z * h->C[0] - x * h->C[2];
    X[2] = x * h->C[1] - y * h->C[0];
    for (int i = 0; i < 3; i++) T[i] = rb_v4_cross(h->l, h->B[i] + half * X[i]);
    rb_v4_transpose(T, Z);
    for (int i = 0; i < 3; i++) {
        A[i] = h->A[i] + (T[i] + Z[i]);
        B[i] = h->B[i] + X[i];
        C[i] = h->C[i];
    }
}

/* P and z of link k without its first dof j, seen from the parent (D.11), (D.12). */
RB_INLINE void pass_to_parent(const rb_data *d, int k, int j, double e, const rb_v4 U[2],
                              const hot *h, hot *to)
{
    const double *a = d->link_a + 6 * k;
    double D_inv = 1.0 / d->dof_D[j];
    rb_v4 A[3], B[3], C[3];

    /* z + P a + U (e - U'a) / D, then the moment of its force */
    rb_v4_transpose(h->B, B);
    rb_v4 nu = rb_v4_all((e - (rb_v4_dot(U[0], h->a[0]) + rb_v4_dot(U[1], h->a[1]))) * D_inv);
    rb_v4 moment = h->z[0] + (rb_v4_mix(h->A, a) + rb_v4_mix(B, a + 3)) + nu * U[0];
    rb_v4 force = h->z[1] + (rb_v4_mix(h->B, a) + rb_v4_mix(h->C, a + 3)) + nu * U[1];
    to->z[0] += moment + rb_v4_cross(h->l, force);
    to->z[1] += force;

    const rb_v4 moved_U[2] = { U[0] + rb_v4_cross(h->l, U[1]), U[1] };
    shift_inertia(d->link_l + 3 * k, h, A, B, C);
    add_rank1(rb_v4_all(-D_inv), moved_U, A, B, C);
    for (int i = 0; i < 3; i++) {
        to->A[i] += A[i];
        to->B[i] += B[i];
        to->C[i] += C[i];
    }
}

void rb_forward_add_avx2(const rb_model *m, rb_data *d, const double *link)
{
    for (int k = 1; k < m->nlink; k++) {
        const double *K = link + 6 * (ptrdiff_t)k;
        hot *h = hot_of(d, k);
        h->A[0] += (rb_v4){ K[0], K[3], K[4], 0.0 };
        h->A[1] += (rb_v4){ K[3], K[1], K[5], 0.0 };
        h->A[2] += (rb_v4){ K[4], K[5], K[2], 0.0 };
    }
}

int rb_forward_in_avx2(const rb_model *m, rb_data *d, const double *extra, const double *tau,
                       double *qdd)
{
    for (int k = m->nlink - 1; k > 0; k--) {
        hot *h = hot_of(d, k);
        int p = m->link_parent[k], first = m->link_dofadr[k];
        rb_v4 U[2];
        if (m->link_dofnum[k] == 0) continue;
        for (int j = first + m->link_dofnum[k] - 1; j > first; j--) {
            double added = m->dof_armature[j] + (extra ? extra[j] : 0.0);
            if (!stage_dof(d, j, added, tau, qdd, h, U)) return 0;
            double D_inv = 1.0 / d->dof_D[j];
            add_rank1(rb_v4_all(-D_inv), U, h->A, h->B, h->C);
            h->z[0] += rb_v4_all(qdd[j] * D_inv) * U[0];
            h->z[1] += rb_v4_all(qdd[j] * D_inv) * U[1];
        }
        double added = m->dof_armature[first] + (extra ? extra[first] : 0.0);
        if (!stage_dof(d, first, added, tau, qdd, h, U)) return 0;
        if (m->link_tree[p] >= 0) pass_to_parent(d, k, first, qdd[first], U, h, hot_of(d, p));
    }
    return 1;
}

/* ---- outwards: accelerations ------------------------------------------------------------------
 */

void rb_forward_accelerations_avx2(const rb_model *m, rb_data *d, double *qdd)
{
    const rb_v4 zero = { 0.0, 0.0, 0.0, 0.0 };
    hot_of(d, 0)->z[0] = hot_of(d, 0)->z[1] = zero;
    for (int k = 1; k < m->nlink; k++) {
        hot *h = hot_of(d, k);
        const hot *parent = hot_of(d, m->link_parent[k]);
        rb_v4 turn = parent->z[0] + h->a[0];
        rb_v4 shift = (parent->z[1] + rb_v4_cross(parent->z[0], h->l)) + h->a[1];
        int first = m->link_dofadr[k], end = first + m->link_dofnum[k];
        for (int j = first; j < end; j++) {
            const double *S = d->dof_S + 6 * j, *U = d->dof_U + 6 * j;
            double D_inv = 1.0 / d->dof_D[j]; /* ready before the acceleration is */
            double along = rb_v4_dot(rb_v4_load3(U), turn) + rb_v4_dot(rb_v4_load3(U + 3), shift);
            qdd[j] = (qdd[j] - along) * D_inv;
            turn += rb_v4_all(qdd[j]) * rb_v4_load3(S);
            shift += rb_v4_all(qdd[j]) * rb_v4_load3(S + 3);
        }
        h->z[0] = turn;
        h->z[1] = shift;
    }
}

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
