/* Polynomial springs and dampers of joints (D.23), beyond their linear terms:
 *
 *     spring   -x (s0 r + s1 r^2),   r = x; of balls and free joints r = |x|, x a vector
 *     damper   -v (d0 |v| + d1 v^2)
 */
#include "dynamics/polynomial.h"

#include <math.h>

#include "math/quat.h"
#include "math/vec3.h"

/* Displacement from rest: one number, or vectors of three; returns how many vectors. */
static int displacement(const rb_model *m, const rb_data *d, int j, double x[6])
{
    const double *q = d->q + m->jnt_qadr[j], *rest = m->qpos0 + m->jnt_qadr[j];
    int type = m->jnt_type[j], count = 0;
    if (type == RB_JOINT_HINGE || type == RB_JOINT_SLIDE) {
        x[0] = q[0] - m->jnt_springref[j];
        return 0;
    }
    if (type == RB_JOINT_FREE) {
        rb_sub3(q, rest, x);
        q += 3;
        rest += 3;
        count++;
    }
    double now[4] = { q[0], q[1], q[2], q[3] }, turn[4];
    rb_quat_normalize(now);
    rb_quat_conj(rest, turn);
    rb_quat_mul(turn, now, turn);
    rb_quat_log(turn, x + 3 * count);
    return count + 1;
}

static int is_linear(const double more[2])
{
    return more[0] == 0.0 && more[1] == 0.0;
}

static void spring_force(const rb_model *m, const rb_data *d, int j, double *out)
{
    const double *s = m->jnt_stiffness_poly + 2 * j;
    double x[6], *f = out + m->jnt_dofadr[j];
    int vectors = displacement(m, d, j, x);
    if (vectors == 0) f[0] -= x[0] * x[0] * (s[0] + s[1] * x[0]);
    for (int k = 0; k < vectors; k++) {
        double r = rb_norm3(x + 3 * k);
        rb_axpy3(-r * (s[0] + s[1] * r), x + 3 * k, f + 3 * k);
    }
}

void rb_poly_force(const rb_model *m, const rb_data *d, double *out)
{
    for (int j = 0; j < m->njnt_all; j++)
        if (!is_linear(m->jnt_stiffness_poly + 2 * j)) spring_force(m, d, j, out);
    for (int i = 0; i < m->nv_all; i++) {
        const double *b = m->dof_damping_poly + 2 * i;
        double v = d->v[i], speed = fabs(v);
        out[i] -= v * speed * (b[0] + b[1] * speed);
    }
}

double rb_poly_energy(const rb_model *m, const rb_data *d)
{
    double V = 0.0;
    for (int j = 0; j < m->njnt_all; j++) {
        const double *s = m->jnt_stiffness_poly + 2 * j;
        double x[6];
        if (is_linear(s)) continue;
        int vectors = displacement(m, d, j, x);
        if (vectors == 0) V += x[0] * x[0] * x[0] * (s[0] / 3.0 + 0.25 * s[1] * x[0]);
        for (int k = 0; k < vectors; k++) {
            double r = rb_norm3(x + 3 * k);
            V += r * r * r * (s[0] / 3.0 + 0.25 * s[1] * r);
        }
    }
    return V;
}

void rb_poly_stiffness(const rb_model *m, const rb_data *d, double *k, double *b)
{
    for (int j = 0; j < m->njnt_all; j++) {
        const double *s = m->jnt_stiffness_poly + 2 * j;
        double x[6];
        if (is_linear(s)) continue;
        int vectors = displacement(m, d, j, x), dof = m->jnt_dofadr[j];
        if (vectors == 0) k[dof] += fmax(0.0, x[0] * (2.0 * s[0] + 3.0 * s[1] * x[0]));
        for (int i = 0; i < 3 * vectors; i++) {
            double r = rb_norm3(x + 3 * (i / 3));
            k[dof + i] += fmax(0.0, r * (2.0 * s[0] + 3.0 * s[1] * r));
        }
    }
    for (int i = 0; i < m->nv_all; i++) {
        double speed = fabs(d->v[i]), *more = m->dof_damping_poly + 2 * i;
        b[i] += fmax(0.0, speed * (2.0 * more[0] + 3.0 * more[1] * speed));
    }
}
