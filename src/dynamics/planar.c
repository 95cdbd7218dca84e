/* Links that rotate about one axis e. In the plane across it, with angles t and a prime for a
 * quarter turn, (x, y)' = (-y, x), the anchor of link k on p is r away from that of p and
 * accelerates by
 *
 *     b_k = b_p + alpha_p r' - w_p^2 r,    alpha_k = alpha_p + s qdd,    b_0 = -g           (D.40)
 *
 * and link and all that it carries need the moment and force
 *
 *     N = J alpha + U.b + n,    F = U alpha + M b + f
 *
 * at its anchor; of the link alone U = m c', M = m 1, n = 0, f = -w^2 m c. Its hinge, with the
 * inertia E of its own, gives s N = tau - E qdd. So, with D = J + E and e = E / D,
 *
 *     qdd = (tau - s (J alpha_p + U.b + n)) / D
 *     J* = e J,   U* = e U,   M* = M - U U'/D,   n* = e n + (1 - e) s tau,   f* = f + U (s tau - n)
 * / D
 *
 * are the reactions to (alpha_p, b_k), and the parent gets                                  (D.41)
 *
 *     J* + 2 U*.r' + r'.M*r',   U* + M*r',   M*,   n* - w_p^2 U*.r + r'.F,   F = f* - w_p^2 M*r
 *
 * A hinge without inertia of its own transmits a force alone. */
#include "dynamics/planar.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/constants.h"
#include "dynamics/tendon_inertia.h"
#include "math/trig.h"
#include "math/vec3.h"

enum { WHOLE = 8 }; /* sines at a time */

int rb_plane_takes(const rb_model *m, const rb_data *d)
{
    if (!m->plane || rb_tendon_inertia_any(m)) return 0;
    uint64_t any = 0;
    for (int i = 0; i < 6 * m->nbody; i++) {
        uint64_t bits;
        memcpy(&bits, d->wrench + i, sizeof bits);
        any |= bits << 1; /* without the sign of zero */
    }
    return any == 0;
}

static int padded(const rb_model *m)
{
    return (m->nlink + WHOLE - 1) / WHOLE * WHOLE;
}

int rb_plane_push(const rb_model *m, rb_arena *arena, rb_plane *x)
{
    size_t n = (size_t)padded(m);
    x->turn = rb_push(arena, double, 3 * n);
    x->body = rb_push(arena, rb_plane_body, m->nlink);
    if (!x->turn || !x->body) return 0;
    x->sine = x->turn + n;
    x->cosine = x->sine + n;
    for (size_t k = (size_t)m->nlink; k < n; k++) x->turn[k] = 0.0;
    x->turn[0] = 0.0;
    x->body[0] = (rb_plane_body){ .w = 0.0 };
    return 1;
}

void rb_plane_place(const rb_model *m, const rb_data *d, rb_plane *x)
{
    for (int k = 1; k < m->nlink; k++) {
        int p = m->link_parent[k];
        double sign = m->plane_link[k].sign;
        x->turn[k] = x->turn[p] + sign * (d->q[k - 1] - m->jnt_ref[k - 1]);
        x->body[k].w = x->body[p].w + sign * d->v[k - 1];
    }
    rb_sincos_n(padded(m), x->turn, x->sine, x->cosine);
    for (int k = 1; k < m->nlink; k++) {
        const rb_plane_link *of = &m->plane_link[k];
        int p = m->link_parent[k];
        double s = x->sine[k], c = x->cosine[k], s_p = x->sine[p], c_p = x->cosine[p];
        rb_plane_body *b = &x->body[k];
        b->r[0] = c_p * of->a[0] - s_p * of->a[1];
        b->r[1] = s_p * of->a[0] + c_p * of->a[1];
        b->u[0] = -(s * of->c[0] + c * of->c[1]);
        b->u[1] = c * of->c[0] - s * of->c[1];
    }
}

/* Each link alone. */
static void start(const rb_model *m, const double *K, const double *couple, rb_plane *x)
{
    for (int k = 1; k < m->nlink; k++) {
        const rb_plane_link *of = &m->plane_link[k];
        rb_plane_body *b = &x->body[k];
        double square = b->w * b->w;
        b->J = K ? of->J + K[k] : of->J;
        b->U[0] = b->u[0];
        b->U[1] = b->u[1];
        b->M[0] = b->M[1] = of->mass;
        b->M[2] = 0.0;
        b->most = 2.0 * of->trace;
        b->n = couple ? -couple[k] : 0.0;
        b->f[0] = -square * b->u[1];
        b->f[1] = square * b->u[0];
    }
}

/* (D.41) */
static void pass_to_parent(const rb_plane_body *b, double E, double torque, rb_plane_body *to)
{
    double share = E * b->D_inv, e = (torque - b->n) * b->D_inv, square = to->w * to->w;
    double U[2] = { b->U[0] * b->D_inv, b->U[1] * b->D_inv }, r0 = b->r[0], r1 = b->r[1];
    double Mxx = b->M[0] - U[0] * b->U[0], Myy = b->M[1] - U[1] * b->U[1];
    double Mxy = b->M[2] - U[0] * b->U[1];
    double u0 = share * b->U[0], u1 = share * b->U[1];
    double y0 = u0 + (Mxy * r0 - Mxx * r1), y1 = u1 + (Myy * r0 - Mxy * r1);
    double f0 = b->f[0] + e * b->U[0] - square * (Mxx * r0 + Mxy * r1);
    double f1 = b->f[1] + e * b->U[1] - square * (Mxy * r0 + Myy * r1);
    double turned = r0 * u1 - r1 * u0;
    to->J += share * b->J + turned + (r0 * y1 - r1 * y0);
    to->most += share * b->J + (b->M[0] + b->M[1]) * (r0 * r0 + r1 * r1);
    to->U[0] += y0;
    to->U[1] += y1;
    to->M[0] += Mxx;
    to->M[1] += Myy;
    to->M[2] += Mxy;
    to->f[0] += f0;
    to->f[1] += f1;
    to->n += share * b->n + (1.0 - share) * torque - square * (u0 * r0 + u1 * r1);
    to->n += r0 * f1 - r1 * f0;
}

/* (D.40) of link k. */
static void carry(const rb_plane_body *p, rb_plane_body *b)
{
    double square = p->w * p->w;
    b->b[0] = p->b[0] - p->alpha * b->r[1] - square * b->r[0];
    b->b[1] = p->b[1] + p->alpha * b->r[0] - square * b->r[1];
}

static void start_world(const rb_model *m, rb_plane *x)
{
    const double *g = m->option.gravity;
    x->body[0].alpha = 0.0;
    x->body[0].b[0] = -rb_dot3(m->plane_axes, g);
    x->body[0].b[1] = -rb_dot3(m->plane_axes + 3, g);
}

rb_status rb_plane_solve(const rb_model *m, rb_data *d, const double *E, const double *K,
                         const double *couple, const double *tau, double *qdd, rb_plane *x)
{
    start(m, K, couple, x);
    for (int k = m->nlink - 1; k > 0; k--) {
        int p = m->link_parent[k];
        rb_plane_body *b = &x->body[k];
        double added = m->dof_armature[k - 1] + (E ? E[k - 1] : 0.0), D = b->J + added;
        d->dof_D[k - 1] = D;
        if (!(D > RB_NO_INERTIA * (b->most + added))) return RB_SINGULAR;
        b->D_inv = 1.0 / D;
        if (p > 0) pass_to_parent(b, added, m->plane_link[k].sign * tau[k - 1], &x->body[p]);
    }
    start_world(m, x);
    for (int k = 1; k < m->nlink; k++) {
        const rb_plane_body *p = &x->body[m->link_parent[k]];
        rb_plane_body *b = &x->body[k];
        double sign = m->plane_link[k].sign;
        carry(p, b);
        double needed = b->J * p->alpha + (b->U[0] * b->b[0] + b->U[1] * b->b[1]) + b->n;
        qdd[k - 1] = (tau[k - 1] - sign * needed) * b->D_inv;
        b->alpha = p->alpha + sign * qdd[k - 1];
    }
    return RB_OK;
}

void rb_plane_accelerate(const rb_model *m, const double *qdd, rb_plane *x)
{
    start_world(m, x);
    for (int k = 1; k < m->nlink; k++) {
        const rb_plane_body *p = &x->body[m->link_parent[k]];
        carry(p, &x->body[k]);
        x->body[k].alpha = p->alpha + m->plane_link[k].sign * qdd[k - 1];
    }
}

double rb_plane_spin(const rb_model *m, const rb_plane *x)
{
    double fastest = 0.0;
    for (int k = 1; k < m->nlink; k++) {
        double w = fabs(x->body[k].w);
        if (!(w <= fastest)) fastest = w;
    }
    return fastest;
}

/* Velocities in the place of accelerations: angular; of the anchor. */
static void move(const rb_model *m, const double *v, const rb_plane *x)
{
    rb_plane_body *body = x->body;
    body[0].alpha = body[0].b[0] = body[0].b[1] = 0.0;
    for (int k = 1; k < m->nlink; k++) {
        const rb_plane_body *p = &body[m->link_parent[k]];
        rb_plane_body *b = &body[k];
        b->alpha = p->alpha + m->plane_link[k].sign * v[k - 1];
        b->b[0] = p->b[0] - p->alpha * b->r[1];
        b->b[1] = p->b[1] + p->alpha * b->r[0];
    }
}

double rb_plane_kinetic(const rb_model *m, const double *v, const rb_plane *x)
{
    double twice = 0.0;
    move(m, v, x);
    for (int k = 1; k < m->nlink; k++) {
        const rb_plane_body *b = &x->body[k];
        double own = m->plane_link[k].J * b->alpha;
        own += 2.0 * (b->u[0] * b->b[0] + b->u[1] * b->b[1]);
        twice += m->plane_link[k].mass * (b->b[0] * b->b[0] + b->b[1] * b->b[1]) + own * b->alpha;
        twice += m->dof_armature[k - 1] * (v[k - 1] * v[k - 1]);
    }
    return 0.5 * twice;
}

double rb_plane_weight_power(const rb_model *m, const double *v, const rb_plane *x)
{
    const double *g = m->option.gravity;
    double gx = rb_dot3(m->plane_axes, g), gy = rb_dot3(m->plane_axes + 3, g), power = 0.0;
    move(m, v, x);
    for (int k = 1; k < m->nlink; k++) {
        const rb_plane_body *b = &x->body[k];
        double mass = m->plane_link[k].mass;
        power += gx * (mass * b->b[0] + b->alpha * b->u[0]);
        power += gy * (mass * b->b[1] + b->alpha * b->u[1]);
    }
    return power;
}
