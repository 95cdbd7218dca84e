/* Forces of a surrounding fluid at rest or in the wind, per body: on the box of the same inertia
 * (D.25), or, for geoms with fluid_ellipsoid, on the ellipsoid of each of them (D.26). The meaning
 * of every term is MuJoCo's. */
#include "dynamics/fluid.h"

#include <math.h>

#include "base/constants.h"
#include "dynamics/wrench.h"
#include "math/quat.h"
#include "math/vec3.h"

#define PI 3.14159265358979323846

/* Motion of a point through the fluid and what it meets there, in axes of the box or ellipsoid. */
typedef struct stream {
    double density, viscosity;
    double w[3], v[3]; /* angular and linear velocity against the fluid */
    double torque[3], force[3];
} stream;

static double square(double x)
{
    return x * x;
}

static double fourth(double x)
{
    return square(square(x));
}

static double largest(const double a[3])
{
    return fmax(fmax(a[0], a[1]), a[2]);
}

/* ---- the box ----------------------------------------------------------------------------------
 */

static void box_force(const double box[3], stream *s)
{
    double size = (box[0] + box[1] + box[2]) / 3.0;
    double turning = PI * size * size * size * s->viscosity,
           moving = 3.0 * PI * size * s->viscosity;
    for (int i = 0; i < 3; i++) {
        double b = box[(i + 1) % 3], c = box[(i + 2) % 3];
        double drag = 0.5 * s->density * b * c * fabs(s->v[i]);
        double spin = s->density * box[i] * (fourth(b) + fourth(c)) * fabs(s->w[i]) / 64.0;
        s->force[i] = -(moving + drag) * s->v[i];
        s->torque[i] = -(turning + spin) * s->w[i];
    }
}

/* ---- the ellipsoid ----------------------------------------------------------------------------
 */

/* Momentum of the fluid that is carried along. */
static void carried(const rb_fluid_shape *f, stream *s)
{
    double p[3], L[3], x[3];
    for (int i = 0; i < 3; i++) {
        p[i] = s->density * f->mass[i] * s->v[i];
        L[i] = s->density * f->moment[i] * s->w[i];
    }
    rb_cross3(p, s->w, s->force);
    rb_cross3(p, s->v, s->torque);
    rb_cross3(L, s->w, x);
    rb_add3(s->torque, x, s->torque);
}

/* Lift by spin, and by the circulation about a body at an angle; returns the area that is seen
 * along the velocity. */
static double lift(const rb_fluid_shape *f, stream *s)
{
    const double *a = f->axes, *v = s->v;
    double volume = 4.0 / 3.0 * PI * a[0] * a[1] * a[2], spin[3], normal[3], turn[3], up[3];
    double across = 0.0, along = 0.0;
    for (int i = 0; i < 3; i++) {
        double bc = a[(i + 1) % 3] * a[(i + 2) % 3];
        normal[i] = bc * bc * v[i];
        across += square(normal[i]);
        along += square(bc * v[i]);
    }
    /* No bound below by a number with units: a wing of 1 cm by 0.1 mm has across near 1e-18. */
    if (!(across > 0.0)) return 0.0;
    double area = PI * sqrt(across / along), cosine = along / (rb_norm3(v) * across);
    rb_cross3(s->w, v, spin);
    rb_axpy3(f->coef[RB_FLUID_MAGNUS] * s->density * volume, spin, s->force);
    rb_cross3(normal, v, turn);
    rb_cross3(turn, v, up);
    rb_axpy3(f->coef[RB_FLUID_KUTTA] * s->density * cosine * area, up, s->force);
    return area;
}

static void drag(const rb_fluid_shape *f, double area, stream *s)
{
    const double *a = f->axes, *c = f->coef;
    double most = largest(a), least = fmin(fmin(a[0], a[1]), a[2]);
    double middle = a[0] + a[1] + a[2] - most - least, mean = 2.0 / 3.0 * (a[0] + a[1] + a[2]);
    double I_most = 8.0 / 15.0 * PI * middle * fourth(most), moment[3];
    for (int i = 0; i < 3; i++) {
        double side = fmax(a[(i + 1) % 3], a[(i + 2) % 3]);
        double I = 8.0 / 15.0 * PI * a[i] * fourth(side);
        moment[i] = s->w[i] * (c[RB_FLUID_ANGULAR] * I + c[RB_FLUID_SLENDER] * (I_most - I));
    }
    double seen = area * c[RB_FLUID_BLUNT] + c[RB_FLUID_SLENDER] * (PI * most * middle - area);
    double linear = 3.0 * PI * mean * s->viscosity + s->density * rb_norm3(s->v) * seen;
    double angular = PI * mean * mean * mean * s->viscosity + s->density * rb_norm3(moment);
    rb_axpy3(-linear, s->v, s->force);
    rb_axpy3(-angular, s->w, s->torque);
}

/* ---- all of them ------------------------------------------------------------------------------
 */

/* Velocities of a point x (from O of its link, world axes) in axes R. */
static stream enter(const rb_model *m, const rb_data *d, int link, const double x[3],
                    const double R[9])
{
    stream s = { .density = m->option.density, .viscosity = m->option.viscosity };
    double v[3];
    rb_cross3(d->link_w + 3 * link, x, v);
    rb_add3(v, d->link_v + 3 * link, v);
    rb_sub3(v, m->option.wind, v);
    rb_rot_t(R, v, s.v);
    rb_rot_t(R, d->link_w + 3 * link, s.w);
    return s;
}

/* The wrench of a stream at x from O, onto the dofs: its body feels it at its centre of mass. */
static void leave(const rb_model *m, const rb_data *d, int body, const double x[3],
                  const double R[9], const stream *s, double *out)
{
    double force[3], torque[3], com[3], moment[3];
    rb_rot(R, s->force, force);
    rb_rot(R, s->torque, torque);
    rb_rot(m->body_link_rot + 9 * body, m->body_com + 3 * body, com);
    rb_add3(com, m->body_link_pos + 3 * body, com);
    rb_rot(d->link_R + 9 * m->body_link[body], com, com);
    rb_sub3(x, com, com);
    rb_cross3(com, force, moment);
    rb_add3(torque, moment, torque);
    rb_push_body(m, d, body, force, torque, out);
}

/* A frame of the body, as place from O and axes in the world. */
static void place(const rb_model *m, const rb_data *d, int body, const double pos[3],
                  const double rot[9], double x[3], double R[9])
{
    const double *R_link = d->link_R + 9 * m->body_link[body];
    rb_rot(m->body_link_rot + 9 * body, pos, x);
    rb_add3(x, m->body_link_pos + 3 * body, x);
    rb_rot(R_link, x, x);
    rb_mul33(m->body_link_rot + 9 * body, rot, R);
    rb_mul33(R_link, R, R);
}

/* 1: some geom of the body is an ellipsoid to the fluid. */
static int ellipsoids(const rb_model *m, const rb_data *d, int body, double *out)
{
    int some = 0;
    for (int g = m->body_geomadr[body]; g < m->body_geomadr[body] + m->body_geomnum[body]; g++) {
        const rb_fluid_shape *f = m->geom_fluid + g;
        double x[3], R[9];
        if (!f->on) continue;
        some = 1;
        place(m, d, body, f->pos, f->rot, x, R);
        stream s = enter(m, d, m->body_link[body], x, R);
        carried(f, &s);
        drag(f, lift(f, &s), &s);
        leave(m, d, body, x, R, &s, out);
    }
    return some;
}

void rb_fluid_force(const rb_model *m, const rb_data *d, double *out)
{
    for (int b = 1; b < m->nbody; b++) {
        double x[3], R[9];
        if (m->body_link[b] == 0 || m->body_mass[b] < RB_FLUID_MIN) continue;
        if (ellipsoids(m, d, b, out)) continue;
        place(m, d, b, m->body_com + 3 * b, m->fluid_rot + 9 * b, x, R);
        stream s = enter(m, d, m->body_link[b], x, R);
        box_force(m->fluid_box + 3 * b, &s);
        leave(m, d, b, x, R, &s, out);
    }
}
