/* Inertias, velocities and contact forces of all bodies of a batch, about the centre of mass of the
 * tree that each is part of, world axes: what MuJoCo calls cinert, cvel and cfrc_ext. */
#include <stdlib.h>
#include <string.h>

#include "flat/sim.h"
#include "rattleback/dynamics.h"

enum { X, Y, Z };

static void cross(const double a[3], const double b[3], double out[3])
{
    out[X] = a[Y] * b[Z] - a[Z] * b[Y];
    out[Y] = a[Z] * b[X] - a[X] * b[Z];
    out[Z] = a[X] * b[Y] - a[Y] * b[X];
}

/* Centre of mass of a body, world. */
static void center(const rb_model *m, const rb_data *d, int b, double out[3])
{
    const double *R = d->body_R + 9 * (size_t)b, *c = m->body_com + 3 * (size_t)b;
    for (int i = 0; i < 3; i++)
        out[i] = d->body_p[3 * b + i] + R[3 * i] * c[X] + R[3 * i + 1] * c[Y] + R[3 * i + 2] * c[Z];
}

/* The body above all others of its tree; the world is one of its own. */
static int root_of(const rb_model *m, int b)
{
    while (m->body_parent[b] > 0) b = m->body_parent[b];
    return b;
}

/* Centre of mass of the tree of each root, at its place in c (nbody x 3); of the world: of all. */
static void tree_centers(const rb_model *m, const rb_data *d, double *mass, double *c)
{
    memset(mass, 0, (size_t)m->nbody * sizeof *mass);
    memset(c, 0, 3 * (size_t)m->nbody * sizeof *c);
    for (int b = 1; b < m->nbody; b++) {
        double x[3];
        int to[2] = { root_of(m, b), 0 };
        center(m, d, b, x);
        for (int k = 0; k < 2; k++) {
            mass[to[k]] += m->body_mass[b];
            for (int i = 0; i < 3; i++) c[3 * to[k] + i] += m->body_mass[b] * x[i];
        }
    }
    for (int b = 0; b < m->nbody; b++)
        for (int i = 0; i < 3; i++)
            c[3 * b + i] = mass[b] > 0.0 ? c[3 * b + i] / mass[b] : d->body_p[3 * b + i];
}

/* xx yy zz xy xz yz about the point c, then mass times the way from there, and the mass. */
static void put_inertia(const rb_model *m, const rb_data *d, int b, const double c[3], double *out)
{
    static const int row[6] = { X, Y, Z, X, X, Y }, column[6] = { X, Y, Z, Y, Z, Z };
    const double *R = d->body_R + 9 * (size_t)b, *I = m->body_inertia + 6 * (size_t)b;
    const double full[9] = { I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2] };
    double r[3], mass = m->body_mass[b];
    center(m, d, b, r);
    for (int i = 0; i < 3; i++) r[i] -= c[i];
    double r2 = r[X] * r[X] + r[Y] * r[Y] + r[Z] * r[Z];
    for (int k = 0; k < 6; k++) {
        double sum = mass * ((row[k] == column[k] ? r2 : 0.0) - r[row[k]] * r[column[k]]);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                sum += R[3 * row[k] + i] * full[3 * i + j] * R[3 * column[k] + j];
        out[k] = sum;
    }
    for (int i = 0; i < 3; i++) out[6 + i] = mass * r[i];
    out[9] = mass;
}

/* Torque about c, then force. */
static void put_contact(const rb_model *m, const rb_data *d, int b, const double c[3], double *out)
{
    double r[3], lever[3];
    rb_contact_on_body(m, d, b, out + 3, out);
    center(m, d, b, r);
    for (int i = 0; i < 3; i++) r[i] -= c[i];
    cross(r, out + 3, lever);
    for (int i = 0; i < 3; i++) out[i] += lever[i];
}

static void put_world(rb_sim *s, rb_body_quantity what, double *mass, double *c, double *out)
{
    const rb_model *m = s->m;
    int width = what == RB_BODY_INERTIA ? 10 : 6;
    rb_sim_update(s);
    tree_centers(m, s->d, mass, c);
    for (int b = 0; b < m->nbody; b++, out += width) {
        const double *at = c + 3 * (size_t)root_of(m, b);
        if (what == RB_BODY_INERTIA)
            put_inertia(m, s->d, b, at, out);
        else if (what == RB_BODY_VELOCITY)
            rb_point_velocity(m, s->d, b, at, out);
        else
            put_contact(m, s->d, b, at, out);
    }
}

rb_status rb_batch_bodies(const rb_batch *b, rb_body_quantity what, double *out)
{
    rb_sim *s = rb_batch_sim(b, 0);
    size_t nbody = (size_t)s->m->nbody, width = what == RB_BODY_INERTIA ? 10 : 6;
    double *room = malloc(4 * nbody * sizeof *room);
    if (!room) return RB_NOMEM;
    for (int i = 0; (s = rb_batch_sim(b, i)) != NULL; i++)
        put_world(s, what, room, room + nbody, out + (size_t)i * nbody * width);
    free(room);
    return RB_OK;
}

void rb_batch_actuation(const rb_batch *b, double *out)
{
    rb_sim *s;
    for (int i = 0; (s = rb_batch_sim(b, i)) != NULL; i++, out += s->m->nv) {
        rb_kinematics(s->m, s->d);
        rb_velocity(s->m, s->d);
        rb_actuation(s->m, s->d);
        if (s->m->nv > 0) memcpy(out, s->d->actuation, (size_t)s->m->nv * sizeof *out);
    }
}

void rb_batch_center_of_mass(const rb_batch *b, double *out)
{
    rb_sim *s;
    for (int i = 0; (s = rb_batch_sim(b, i)) != NULL; i++) {
        rb_kinematics(s->m, s->d);
        rb_center_of_mass(s->m, s->d, out + 3 * (size_t)i);
    }
}
