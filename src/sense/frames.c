/* Frames of what sensors are attached to, and what is measured of them: positions, velocities, and
 * the same of whole subtrees. */
#include <string.h>

#include "math/quat.h"
#include "math/vec3.h"
#include "sense/sense.h"

static void com_of(const rb_sense *s, int body, double out[3])
{
    rb_rot(s->d->body_R + 9 * body, s->m->body_com + 3 * body, out);
    rb_add3(out, s->d->body_p + 3 * body, out);
}

static void set(rb_frame *f, const double *p, const double *R)
{
    memcpy(f->p, p, sizeof f->p);
    memcpy(f->R, R, sizeof f->R);
}

rb_frame rb_frame_of(const rb_sense *s, int object, int index)
{
    const rb_model *m = s->m;
    const rb_data *d = s->d;
    rb_frame f = { .body = index };
    double axes[9];
    switch (object) {
    case RB_OBJECT_SITE:
        f.body = m->site_body[index];
        set(&f, d->site_p + 3 * index, d->site_R + 9 * index);
        break;
    case RB_OBJECT_GEOM:
        f.body = m->geom_body[index];
        set(&f, d->geom_p + 3 * index, d->geom_R + 9 * index);
        break;
    case RB_OBJECT_BODY:
        com_of(s, index, f.p);
        rb_quat_to_rot(m->body_iquat + 4 * index, axes);
        rb_mul33(d->body_R + 9 * index, axes, f.R);
        break;
    default:
        set(&f, d->body_p + 3 * index, d->body_R + 9 * index);
        break;
    }
    return f;
}

/* ---- one frame, seen from another -------------------------------------------------------------
 */

static void sense_place(int type, const rb_frame *f, const rb_frame *ref, double *out)
{
    double R[9];
    rb_mul33_t(ref->R, f->R, R);
    switch (type) {
    case RB_SENSOR_FRAMEPOS:
        rb_sub3(f->p, ref->p, out);
        rb_rot_t(ref->R, out, out);
        break;
    case RB_SENSOR_FRAMEQUAT:
        rb_quat_from_rot(R, out);
        if (out[0] < 0.0)
            for (int k = 0; k < 4; k++) out[k] = -out[k];
        break;
    default:
        for (int k = 0; k < 3; k++) out[k] = R[3 * k + type - RB_SENSOR_FRAMEXAXIS];
        break;
    }
}

/* What the reference frame sees: its own motion is taken off, with that of the point where the
 * object is. */
static void sense_motion(const rb_sense *s, int type, const rb_frame *f, const rb_frame *ref,
                         double *out)
{
    double V[6], V_ref[6] = { 0.0 };
    rb_point_velocity(s->m, s->d, f->body, f->p, V);
    if (ref->body >= 0) rb_point_velocity(s->m, s->d, ref->body, f->p, V_ref);
    int first = type == RB_SENSOR_FRAMELINVEL ? 3 : 0;
    rb_sub3(V + first, V_ref + first, out);
    rb_rot_t(ref->R, out, out);
}

void rb_sense_frame(const rb_sense *s, int i, double *out)
{
    const rb_model *m = s->m;
    int type = m->sensor_type[i];
    rb_frame f = rb_frame_of(s, m->sensor_object[i], m->sensor_index[i]);
    rb_frame ref = { .body = -1, .R = { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 } };
    if (m->sensor_reference_index[i] >= 0)
        ref = rb_frame_of(s, m->sensor_reference[i], m->sensor_reference_index[i]);
    if (type == RB_SENSOR_FRAMELINVEL || type == RB_SENSOR_FRAMEANGVEL)
        sense_motion(s, type, &f, &ref, out);
    else
        sense_place(type, &f, &ref, out);
}

/* Where a site is in the picture; also for sites behind the camera, as in MuJoCo. */
void rb_sense_picture(const rb_sense *s, int i, double out[2])
{
    const rb_model *m = s->m;
    const double *x = m->sensor_picture + 4 * (ptrdiff_t)i;
    rb_frame f = rb_frame_of(s, m->sensor_object[i], m->sensor_index[i]);
    rb_frame ref = rb_frame_of(s, m->sensor_reference[i], m->sensor_reference_index[i]);
    double p[3];
    rb_sub3(f.p, ref.p, p);
    rb_rot_t(ref.R, p, p);
    out[0] = x[2] - x[0] * p[0] / p[2];
    out[1] = x[3] + x[1] * p[1] / p[2];
}

/* ---- subtrees ---------------------------------------------------------------------------------
 */

static int is_below(const rb_model *m, int body, int root)
{
    while (body > root) body = m->body_parent[body];
    return body == root;
}

/* R I R' w, I: xx yy zz xy xz yz */
static void turn_momentum(const double *R, const double *I, const double w[3], double out[3])
{
    double local[3], L[3];
    rb_rot_t(R, w, local);
    L[0] = I[0] * local[0] + I[3] * local[1] + I[4] * local[2];
    L[1] = I[3] * local[0] + I[1] * local[1] + I[5] * local[2];
    L[2] = I[4] * local[0] + I[5] * local[1] + I[2] * local[2];
    rb_rot(R, L, out);
}

typedef struct subtree {
    double mass, com[3], velocity[3];
} subtree;

static subtree gather(const rb_sense *s, int root)
{
    subtree x = { 0 };
    for (int b = root; b < s->m->nbody; b++) {
        double c[3], V[6], mass = s->m->body_mass[b];
        if (mass == 0.0 || !is_below(s->m, b, root)) continue;
        com_of(s, b, c);
        rb_point_velocity(s->m, s->d, b, c, V);
        x.mass += mass;
        rb_axpy3(mass, c, x.com);
        rb_axpy3(mass, V + 3, x.velocity);
    }
    if (x.mass > 0.0) {
        rb_scale3(1.0 / x.mass, x.com, x.com);
        rb_scale3(1.0 / x.mass, x.velocity, x.velocity);
    } else {
        com_of(s, root, x.com);
    }
    return x;
}

static void angular_momentum(const rb_sense *s, int root, const subtree *x, double out[3])
{
    rb_zero3(out);
    for (int b = root; b < s->m->nbody; b++) {
        double c[3], V[6], own[3], orbit[3];
        if (!is_below(s->m, b, root)) continue;
        com_of(s, b, c);
        rb_point_velocity(s->m, s->d, b, c, V);
        turn_momentum(s->d->body_R + 9 * b, s->m->body_inertia + 6 * b, V, own);
        rb_sub3(c, x->com, c);
        rb_sub3(V + 3, x->velocity, V + 3);
        rb_cross3(c, V + 3, orbit);
        rb_add3(out, own, out);
        rb_axpy3(s->m->body_mass[b], orbit, out);
    }
}

void rb_sense_subtree(const rb_sense *s, int i, double *out)
{
    int root = s->m->sensor_index[i];
    subtree x = gather(s, root);
    if (s->m->sensor_type[i] == RB_SENSOR_SUBTREECOM)
        rb_copy3(x.com, out);
    else if (s->m->sensor_type[i] == RB_SENSOR_SUBTREELINVEL)
        rb_copy3(x.velocity, out);
    else
        angular_momentum(s, root, &x, out);
}
