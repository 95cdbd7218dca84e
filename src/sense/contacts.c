/* Contacts of the last step, as users read them: rb_data.touch with names, signs and forces. */
#include <string.h>

#include "math/vec3.h"
#include "rattleback/sensor.h"

enum { CONTACT = 0 }; /* rb_touch_id.kind */

/* 1 / h of the step that left the impulses, 0: there was none. */
static double per_step(const rb_data *d)
{
    return d->touch_h > 0.0 ? 1.0 / d->touch_h : 0.0;
}

static void describe(const rb_model *m, const rb_data *d, const rb_touch *t, rb_contact_force *out)
{
    *out = (rb_contact_force){ .geom1 = t->id.a, .geom2 = t->id.b, .mode = t->mode, .gap = t->gap };
    out->body1 = m->geom_body[t->id.a];
    out->body2 = m->geom_body[t->id.b];
    memcpy(out->pos, t->pos, sizeof out->pos);
    memcpy(out->frame, t->frame, sizeof out->frame);
    for (int i = 0; i < t->nrow; i++) {
        out->impulse[i] = t->p[i];
        out->force[i] = t->p[i] * per_step(d);
    }
    for (int i = 1; i < 3 && i < t->nrow; i++) out->slip[i - 1] = t->u[i];
}

int rb_contact_forces(const rb_model *m, const rb_data *d, int capacity, rb_contact_force *out)
{
    int n = 0;
    for (int i = 0; i < d->ntouch && d->touch[i].id.kind == CONTACT; i++, n++)
        if (n < capacity) describe(m, d, &d->touch[i], &out[n]);
    return n;
}

void rb_contact_on_body(const rb_model *m, const rb_data *d, int body, double force[3],
                        double torque[3])
{
    double com[3];
    rb_zero3(force);
    rb_zero3(torque);
    rb_rot(d->body_R + 9 * body, m->body_com + 3 * body, com);
    rb_add3(com, d->body_p + 3 * body, com);
    for (int i = 0; i < d->ntouch && d->touch[i].id.kind == CONTACT; i++) {
        const rb_touch *t = &d->touch[i];
        int first = m->geom_body[t->id.a] == body, second = m->geom_body[t->id.b] == body;
        double sign = ((second ? 1.0 : 0.0) - (first ? 1.0 : 0.0)) * per_step(d);
        double F[3], T[3], arm[3], moment[3];
        if (sign == 0.0) continue;
        rb_rot_t(t->frame, t->p, F);
        rb_rot_t(t->frame, t->p + 3, T);
        rb_sub3(t->pos, com, arm);
        rb_cross3(arm, F, moment);
        rb_axpy3(sign, F, force);
        rb_axpy3(sign, moment, torque);
        rb_axpy3(sign, T, torque);
    }
}

double rb_contact_between(const rb_model *m, const rb_data *d, int body1, int body2)
{
    double sum = 0.0;
    for (int i = 0; i < d->ntouch && d->touch[i].id.kind == CONTACT; i++) {
        const rb_touch *t = &d->touch[i];
        int a = m->geom_body[t->id.a], b = m->geom_body[t->id.b];
        int other = a == body1 ? b : b == body1 ? a : -1;
        if (other >= 0 && (body2 < 0 || other == body2)) sum += t->p[0];
    }
    return sum * per_step(d);
}
