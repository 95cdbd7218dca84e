/* Contacts that fly: they approach their impact or leave one, and have no rows in a part of a
 * located step. Slow ones keep their rows, as in a fixed step. An approach is slow where the train
 * of bounces it begins would end within the step,
 *
 *     2 e v / (g (1 - e)) <= h,  or v <= g h,                                                (S.44)
 *
 * whichever is less, but in any case where a hundred bounces would not fill the step. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "math/vec3.h"
#include "events/hybrid.h"
#include "step/motion.h"
#include "step/steppers.h"

/* Least speed of a bounce in units of g h [1]: 100 of them fill a step. Larger: elastic bodies stop
 * earlier. Smaller: more impacts in a step. */
#define LEAST_BOUNCE 0.005

/* Without weight: what is rounding beside the fastest coordinate. */
void rb_flight_floor(rb_stage *s)
{
    double fastest = 0.0;
    for (int j = 0; j < s->m->nv; j++) fastest = fmax(fastest, fabs(s->start.v[j]));
    s->events.least_speed = RB_IMPACT_ROUNDING * fastest * fmax(1.0, s->given->size);
}

double rb_flight_slow(const rb_stage *s, double h_full, double e)
{
    double tail = e > 0.0 ? (1.0 - e) / (2.0 * e) : 1.0;
    double slow = fmin(1.0, fmax(LEAST_BOUNCE, tail)) * s->given->gravity * h_full;
    return fmax(slow, s->events.least_speed);
}

double rb_flight_bend(const rb_model *m, int geom, double far)
{
    const double *size = m->geom_size + 3 * (ptrdiff_t)geom;
    double least = fmin(size[0], fmin(size[1], size[2])), most = fmax(size[0], size[1]);
    switch (m->geom_type[geom]) {
    case RB_GEOM_SPHERE:
        return far;
    case RB_GEOM_CAPSULE:
    case RB_GEOM_CYLINDER:
        return far + size[1];
    case RB_GEOM_ELLIPSOID:
        most = fmax(most, size[2]);
        return far + most * most / least;
    default:
        return 0.0;
    }
}

double rb_flight_roll(const double w[3], const double normal[3], double bend)
{
    double across[3];
    rb_cross3(w, normal, across);
    return rb_dot3(across, across) * bend;
}

static void point_velocity(const rb_data *d, int link, const double x[3], double v[3])
{
    double r[3];
    rb_sub3(x, d->link_p + 3 * (ptrdiff_t)link, r);
    rb_cross3(d->link_w + 3 * (ptrdiff_t)link, r, v);
    rb_add3(v, d->link_v + 3 * (ptrdiff_t)link, v);
}

double rb_contact_rate(const rb_model *m, const rb_data *d, const rb_contact *contact)
{
    double v1[3] = { 0.0, 0.0, 0.0 }, v2[3] = { 0.0, 0.0, 0.0 };
    int link1 = m->geom_link[contact->geom1], link2 = m->geom_link[contact->geom2];
    if (link1 > 0) point_velocity(d, link1, contact->at.pos1, v1);
    if (link2 > 0) point_velocity(d, link2, contact->at.pos2, v2);
    rb_sub3(v2, v1, v2);
    return rb_dot3(contact->at.normal, v2);
}

static int same_pair(const rb_contact *c, int geom1, int geom2)
{
    return c->geom1 == geom1 && c->geom2 == geom2;
}

/* First contact that is not before the pair. */
static int lower_bound(const rb_flight *flight, int geom1, int geom2)
{
    int lo = 0, hi = flight->n;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        const rb_contact *c = &flight->contacts[middle];
        if (c->geom1 < geom1 || (c->geom1 == geom1 && c->geom2 < geom2))
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* A point that was not there at the start belongs to the rows where its pair has some; in `hybrid`
 * it is watched where others of the pair come to collide: it may be one of them by another name.
 * What comes slowly does not collide: two names for one place would divide the step without end. */
int rb_flight_holds(const rb_flight *flight, int geom1, int geom2, uint32_t feature)
{
    int held = 0, comes = 0;
    if (!flight) return 1;
    for (int i = lower_bound(flight, geom1, geom2); i < flight->n; i++) {
        const rb_contact *c = &flight->contacts[i];
        if (!same_pair(c, geom1, geom2)) break;
        if (c->at.feature == feature) return !flight->flies[i];
        held |= !flight->flies[i];
        comes |= flight->flies[i] == RB_FLIES_FAST;
    }
    return held && !(comes && flight->watches_new);
}

/* Least gap of the pair at the start, or zero: what overlapped then leaves from there. */
double rb_flight_overlap(const rb_flight *flight, int geom1, int geom2)
{
    double least = 0.0;
    for (int i = lower_bound(flight, geom1, geom2); i < flight->n; i++) {
        if (!same_pair(&flight->contacts[i], geom1, geom2)) break;
        least = fmin(least, flight->contacts[i].at.gap);
    }
    return least;
}

/* Speed at which a gap closes whose rate falls steadily from `before` to `after` in the time h: at
 * its end, or where v^2 = before^2 + 2 a gap. A small gap closes before the fall matters. */
static double closing_speed(double gap, double before, double after, double h)
{
    double fastest = fmax(-before, -after), fall = fmax(0.0, before - after) / h;
    return fmin(fastest, sqrt(before * before + 2.0 * fall * gap));
}

/* Flies: away after an impact, or towards one. `near`: gap up to which a slow contact keeps its
 * row, as a share of its way in a step. `before`, `after`: rates of the gap at both ends of the
 * free motion. */
static rb_flies flies(const rb_stage *s, double h_full, double near, const rb_contact *c,
                      double before, double after)
{
    if (s->events.paradigms) return rb_paradigms_flies(s, c, near, before, after);
    int grain;
    rb_material material;
    rb_pair_material(s->m, c->geom1, c->geom2, s->o, &material, &grain);
    double e = material.restitution, slow = rb_flight_slow(s, h_full, e);
    if (c->at.gap > RB_TOUCH * s->given->size) {
        double speed = closing_speed(c->at.gap, before, after, s->h);
        return speed > slow || c->at.gap > near * slow * h_full ? RB_FLIES : RB_FLIES_NOT;
    }

    /* the slowest bounce leaves with e times the slowest approach */
    double bounce = fmax(s->events.least_speed, e > 0.0 ? e * slow : slow);
    return before > bounce ? RB_FLIES : RB_FLIES_NOT;
}

static void go_to(rb_stage *s, const double *v)
{
    memcpy(s->d->q, s->start.q, (size_t)s->m->nq * sizeof *s->start.q);
    memcpy(s->d->v, v, (size_t)s->m->nv * sizeof *v);
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_frames(s->m, s->d);
}

/* Velocity at the end of the free motion. */
static rb_status free_velocity(rb_stage *s)
{
    memcpy(s->d->act, s->start.act, (size_t)s->m->na * sizeof *s->start.act);
    s->d->time = s->start.time;
    return rb_stage_free_motion(s);
}

rb_status rb_flight_find(rb_stage *s, rb_flight *out)
{
    rb_data *d = s->d;
    double slack = 2.0 * s->given->gravity * s->h; /* rows meet them with the velocity of the end */
    *out = (rb_flight){ .contacts = rb_push(d->arena, rb_contact, d->touch_max),
                        .watches_new = s->events.paradigms != NULL };
    if (!out->contacts) return RB_NOMEM;
    rb_flight_floor(s);
    go_to(s, s->start.v);
    rb_status status =
        rb_collide(s->m, d, s->h, slack, d->touch_max, out->contacts, &out->n, s->err);
    s->info->contacts = out->n;
    if (status != RB_OK || out->n == 0) return status;
    out->flies = rb_push(d->arena, unsigned char, out->n);
    out->speed = rb_push(d->arena, double, out->n);
    if (!out->flies || !out->speed) return RB_NOMEM;
    for (int i = 0; i < out->n; i++) {
        out->speed[i] = rb_contact_rate(s->m, d, &out->contacts[i]);
    }
    return RB_OK;
}

rb_status rb_flight_start(rb_stage *s, double h_full, double near, rb_flight *out)
{
    rb_data *d = s->d;
    rb_status status = out->n > 0 ? free_velocity(s) : RB_OK;
    if (status != RB_OK || out->n == 0) return status;
    go_to(s, s->smooth.v);
    for (int i = 0; i < out->n; i++) {
        const rb_contact *c = &out->contacts[i];
        double after = rb_contact_rate(s->m, d, c);
        out->flies[i] = (unsigned char)flies(s, h_full, near, c, out->speed[i], after);
    }
    return RB_OK;
}
