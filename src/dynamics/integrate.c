/* Motion on the manifold of configurations (D.48): coordinates of hinges and slides add up,
 * quaternions are multiplied by the exponential of the angular velocity, which is in the frame of
 * the body, from the right. */
#include "dynamics/branch.h"
#include "math/quat.h"
#include "rattleback/dynamics.h"

static void turn(const double q[4], const double w[3], double h, double out[4])
{
    double r[3], step[4];
    rb_scale3(h, w, r);
    rb_quat_exp(r, step);
    rb_quat_mul(q, step, out);
    rb_quat_normalize(out);
}

void rb_integrate_joint(const rb_model *m, int j, const double *q, const double *v, double h,
                        double *out)
{
    int a = m->jnt_qadr[j], i = m->jnt_dofadr[j];
    switch ((rb_joint_type)m->jnt_type[j]) {
    case RB_JOINT_FREE:
        for (int n = 0; n < 3; n++) out[a + n] = q[a + n] + h * v[i + n];
        turn(q + a + 3, v + i + 3, h, out + a + 3);
        break;
    case RB_JOINT_BALL:
        turn(q + a, v + i, h, out + a);
        break;
    case RB_JOINT_SLIDE:
    case RB_JOINT_HINGE:
        out[a] = q[a] + h * v[i];
        break;
    }
}

void rb_integrate(const rb_model *m, const double *q, const double *v, double h, double *out)
{
    for (int j = 0; j < m->njnt; j++) rb_integrate_joint(m, j, q, v, h, out);
}

static void turn_between(const double q0[4], const double q1[4], double w[3])
{
    double back[4];
    rb_quat_conj(q0, back);
    rb_quat_mul(back, q1, back);
    rb_quat_log(back, w);
}

void rb_difference(const rb_model *m, const double *q0, const double *q1, double *v)
{
    for (int j = 0; j < m->njnt; j++) {
        int a = m->jnt_qadr[j], i = m->jnt_dofadr[j];
        switch ((rb_joint_type)m->jnt_type[j]) {
        case RB_JOINT_FREE:
            for (int n = 0; n < 3; n++) v[i + n] = q1[a + n] - q0[a + n];
            turn_between(q0 + a + 3, q1 + a + 3, v + i + 3);
            break;
        case RB_JOINT_BALL:
            turn_between(q0 + a, q1 + a, v + i);
            break;
        case RB_JOINT_SLIDE:
        case RB_JOINT_HINGE:
            v[i] = q1[a] - q0[a];
            break;
        }
    }
}

void rb_normalize(const rb_model *m, double *q)
{
    for (int j = 0; j < m->njnt; j++) {
        if (m->jnt_type[j] == RB_JOINT_FREE) rb_quat_normalize(q + m->jnt_qadr[j] + 3);
        if (m->jnt_type[j] == RB_JOINT_BALL) rb_quat_normalize(q + m->jnt_qadr[j]);
    }
}
