/* Collision matrices (I.1), (I.2) and velocity changes: of two rigid bodies, and of two points of a
 * model through the recursions over its links. */
#include <math.h>

#include "base/constants.h"
#include "contact/impact_path.h"
#include "math/vec3.h"
#include "rattleback/dynamics.h"

void rb_impact_frame(const double n[3], double R[9])
{
    int least = 0;
    rb_copy3(n, R);
    rb_normalize3(R);
    for (int i = 1; i < 3; i++)
        if (fabs(R[i]) < fabs(R[least])) least = i;
    double axis[3] = { 0.0, 0.0, 0.0 };
    axis[least] = 1.0;
    rb_cross3(R, axis, R + 6);
    rb_normalize3(R + 6);
    rb_cross3(R + 6, R, R + 3);
}

/* K of contact axes R from K of world axes. */
static void to_frame(const double R[9], const double K_w[9], double K[9])
{
    double KR[9]; /* columns K_w R' */
    for (int i = 0; i < 3; i++) {
        double column[3];
        rb_rot(K_w, R + 3 * i, column);
        for (int j = 0; j < 3; j++) KR[3 * j + i] = column[j];
    }
    rb_mul33(R, KR, K);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            K[3 * i + j] = K[3 * j + i] = 0.5 * (K[3 * i + j] + K[3 * j + i]);
}

/* u of contact axes. `size` is what its terms are of: what rounding leaves of slip is none. */
static void velocity_in_frame(const double R[9], const double u_w[3], double size, double u[3])
{
    rb_rot(R, u_w, u);
    double noise = 8.0 * RB_EPS * size;
    if (sqrt(u[1] * u[1] + u[2] * u[2]) <= noise) u[1] = u[2] = 0.0;
}

/* ---- two bodies --------------------------------------------------------------------------------
 */

/* im I - [r] iI [r], added to K; column j is e_j im + (iI (r x e_j)) x r. */
static void add_body(const rb_impact_body *b, double K[9])
{
    for (int j = 0; j < 3; j++) {
        double axis[3] = { 0.0, 0.0, 0.0 }, turn[3], dw[3], du[3];
        axis[j] = 1.0;
        rb_cross3(b->r, axis, turn);
        rb_rot(b->iI, turn, dw);
        rb_cross3(dw, b->r, du);
        du[j] += b->im;
        for (int i = 0; i < 3; i++) K[3 * i + j] += du[i];
    }
}

static double add_velocity(const rb_impact_body *b, double sign, double u[3])
{
    double turn[3];
    rb_cross3(b->w, b->r, turn);
    for (int i = 0; i < 3; i++) u[i] += sign * (b->v[i] + turn[i]);
    return rb_norm3(b->v) + rb_norm3(b->w) * rb_norm3(b->r);
}

void rb_impact_bodies(const rb_impact_body *b1, const rb_impact_body *b2, const double R[9],
                      rb_impact *in)
{
    double K[9] = { 0.0 }, u[3] = { 0.0, 0.0, 0.0 };
    add_body(b1, K);
    add_body(b2, K);
    to_frame(R, K, in->K);
    double size = add_velocity(b1, -1.0, u) + add_velocity(b2, 1.0, u);
    velocity_in_frame(R, u, size, in->u);
}

void rb_impact_push(rb_impact_body *b, const double p[3])
{
    double turn[3], dw[3];
    rb_cross3(b->r, p, turn);
    rb_rot(b->iI, turn, dw);
    rb_axpy3(b->im, p, b->v);
    rb_add3(b->w, dw, b->w);
}

/* ---- a model -----------------------------------------------------------------------------------
 */

static int has_loops(const rb_model *m)
{
    for (int i = 0; i < m->neq; i++)
        if (m->eq_active[i]) return 1;
    return 0;
}

/* K = W_22 - W_21 - W_12 + W_11 of the velocities of the two points: the cross terms are those of
 * one mechanism that hits itself. */
static rb_status model_matrix(const rb_model *m, rb_data *d, const rb_point at[2],
                              const double R[9], double K[9])
{
    double W[36], K_w[9];
    rb_status status = rb_compliance(m, d, 2, at, W);
    if (status != RB_OK) return status;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            K_w[3 * i + j] =
                W[6 * i + j] + W[6 * (i + 3) + j + 3] - W[6 * i + j + 3] - W[6 * (i + 3) + j];
    to_frame(R, K_w, K);
    return RB_OK;
}

rb_status rb_impact_model(const rb_model *m, rb_data *d, const rb_impact_site *site,
                          rb_impact_result *out, double *dv)
{
    if (site->body1 < 0 || site->body1 >= m->nbody || site->body2 < 0 || site->body2 >= m->nbody)
        return RB_BAD_INPUT;
    if (has_loops(m)) return RB_UNSUPPORTED;
    rb_point at[2] = { { .body = site->body1 }, { .body = site->body2 } };
    double R[9], v1[6], v2[6], u[3];
    for (int k = 0; k < 2; k++) rb_copy3(site->pos, at[k].pos);
    rb_impact_frame(site->n, R);
    rb_impact in = { .mu = site->mu, .e = site->e, .law = site->law };
    rb_status status = model_matrix(m, d, at, R, in.K);
    if (status != RB_OK) return status;

    rb_point_velocity(m, d, site->body1, site->pos, v1);
    rb_point_velocity(m, d, site->body2, site->pos, v2);
    rb_sub3(v2 + 3, v1 + 3, u);
    velocity_in_frame(R, u, rb_norm3(v1 + 3) + rb_norm3(v2 + 3), in.u);
    status = rb_impact_solve(&in, out);
    if (status != RB_OK) return status;

    double p[6];
    rb_rot_t(R, out->p, p + 3);
    rb_scale3(-1.0, p + 3, p);
    return rb_impulse(m, d, 2, at, p, dv);
}
