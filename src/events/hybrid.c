/* The rules by which pairs shift between impulses and constraints (H.3) to (H.6).
 *
 * To constraints: a contact is a candidate if it touches, does not approach faster than v_s and
 * does not leave. It gets a row, and the pair shifts if the solution of the part presses on it.
 * The criterion is support, not slowness. A row without impulse has no effect, so that a candidate
 * that is not pressed changes nothing.
 *
 * To impulses: no point of the pair has an impulse, and the pair leaves faster than 2 v_s or is
 * farther away than that speed carries it in a step; or an impact made it leave. An approach
 * beyond 2 v_s of a pair in constraints is an impact. */
#include "events/hybrid.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "math/vec3.h"
#include "step/steppers.h"

/* `hybrid`: a pair leaves the constraints at this multiple of the speed at which it came to them
 * [1]. Larger: what a shock shakes loose is caught again without a bounce. 1: pairs at the limit
 * shift in every step. */
#define SHIFT_RATIO 2.0

/* ---- the table ---------------------------------------------------------------------------------
 */

static int order(const rb_constraint_pair *pair, int geom1, int geom2)
{
    if (pair->geom1 != geom1) return pair->geom1 < geom1 ? -1 : 1;
    return pair->geom2 < geom2 ? -1 : pair->geom2 > geom2;
}

/* The first pair that is not before this one. */
static int lower_bound(const rb_paradigms *x, int geom1, int geom2)
{
    int lo = 0, hi = x->n;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (order(&x->pairs[middle], geom1, geom2) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static rb_constraint_pair *find(const rb_paradigms *x, int geom1, int geom2)
{
    int at = lower_bound(x, geom1, geom2);
    return at < x->n && order(&x->pairs[at], geom1, geom2) == 0 ? &x->pairs[at] : NULL;
}

static void insert(rb_paradigms *x, int geom1, int geom2)
{
    int at = lower_bound(x, geom1, geom2);
    memmove(x->pairs + at + 1, x->pairs + at, (size_t)(x->n - at) * sizeof *x->pairs);
    x->pairs[at] = (rb_constraint_pair){ .geom1 = geom1, .geom2 = geom2, .active = 1, .near = 1 };
    x->n++;
}

rb_status rb_paradigms_start(rb_stage *s, rb_paradigms *out)
{
    const rb_data *d = s->d;
    *out = (rb_paradigms){ .h = s->h, .room = 2 * d->touch_max };
    out->pairs = rb_push(d->arena, rb_constraint_pair, out->room);
    if (!out->pairs) return RB_NOMEM;
    for (int i = 0; i < d->ntouch; i++) {
        const rb_touch *t = &d->touch[i];
        if (t->id.kind != RB_CONSTRAINT_CONTACT || !t->held) continue;
        if (!find(out, t->id.a, t->id.b)) insert(out, t->id.a, t->id.b);
    }
    return RB_OK;
}

/* ---- speeds ------------------------------------------------------------------------------------
 */

/* Largest acceleration of a point of a body that moves by itself [m/s^2]. */
static double kinematic_acceleration(const rb_stage *s, int geom)
{
    const rb_model *m = s->m;
    int mocap = m->body_mocap[m->link_body[m->geom_link[geom]]];
    if (m->geom_link[geom] == 0 || mocap < 0) return 0.0;
    const rb_led_motion *motion = &m->mocap_motion[mocap];
    double shift = 0.0, turn = 0.0;
    for (int i = 0; i < 3; i++) {
        double rate = 2.0 * RB_PI * motion->frequency[i],
               rate_t = 2.0 * RB_PI * motion->frequency[i + 3];
        shift += fabs(motion->amplitude[i]) * rate * rate;
        turn += fabs(motion->amplitude[i + 3]) * rate_t * rate_t;
        turn += motion->velocity[i + 3] * motion->velocity[i + 3];
    }
    return shift + turn * s->given->size;
}

/* v_s (H.1): weight and shaking of one step, less for what bounces well. */
static double slow_speed(const rb_stage *s, int geom1, int geom2, double e)
{
    double weight = rb_flight_slow(s, s->events.paradigms->h, e);
    double shaking = kinematic_acceleration(s, geom1) + kinematic_acceleration(s, geom2);
    return weight + shaking * s->events.paradigms->h;
}

static rb_paradigm by_material(const rb_material *material)
{
    return isnan(material->paradigm) ? RB_PARADIGM_SHIFT : (rb_paradigm)material->paradigm;
}

/* What a body that rolls comes down with in a step, beside its weight (B.11) [m/s]. */
static double rolling(const rb_stage *s, const int geoms[2], const double normal[3])
{
    double rate = 0.0;
    for (int k = 0; k < 2; k++) {
        int link = s->m->geom_link[geoms[k]];
        double r[3];
        if (link == 0) continue;
        rb_sub3(s->d->geom_p + 3 * (ptrdiff_t)geoms[k], s->d->link_p + 3 * (ptrdiff_t)link, r);
        rb_sub3(r, s->d->link_c + 3 * (ptrdiff_t)link, r);
        rate += rb_flight_roll(s->d->link_w + 3 * (ptrdiff_t)link, normal,
                               rb_flight_bend(s->m, geoms[k], rb_norm3(r)));
    }
    return rate * s->events.paradigms->h;
}

double rb_paradigms_slow(const rb_stage *s, const int geoms[2], const double normal[3],
                         const rb_material *material)
{
    if (by_material(material) == RB_PARADIGM_CONSTRAINT) return INFINITY;
    double slow = slow_speed(s, geoms[0], geoms[1], material->restitution);
    if (!find(s->events.paradigms, geoms[0], geoms[1])) return slow;
    return SHIFT_RATIO * slow + rolling(s, geoms, normal);
}

/* ---- who is a row ------------------------------------------------------------------------------
 */

/* A pair in constraints lets go of points that come as an impact, or are far, or leave. */
static rb_flies constrained_pair_flies(const rb_stage *s, const rb_contact *c, double before,
                                       double slow)
{
    double out = SHIFT_RATIO * slow;
    if (c->at.gap <= RB_TOUCH * s->given->size)
        return before > fmax(s->events.least_speed, out) ? RB_FLIES : RB_FLIES_NOT;
    if (-before > out + s->given->gravity * s->h) return RB_FLIES_FAST;
    return c->at.gap > out * s->events.paradigms->h ? RB_FLIES : RB_FLIES_NOT;
}

rb_flies rb_paradigms_flies(const rb_stage *s, const rb_contact *c, double near, double before,
                            double after)
{
    int grain;
    rb_material material;
    rb_pair_material(s->m, c->geom1, c->geom2, s->o, &material, &grain);
    if (by_material(&material) == RB_PARADIGM_CONSTRAINT) return RB_FLIES_NOT;
    double e = material.restitution, slow = slow_speed(s, c->geom1, c->geom2, e);
    if (find(s->events.paradigms, c->geom1, c->geom2))
        return constrained_pair_flies(s, c, before, slow);
    if (c->at.gap <= RB_TOUCH * s->given->size)
        return before > fmax(s->events.least_speed, e > 0.0 ? e * slow : slow) ? RB_FLIES
                                                                               : RB_FLIES_NOT;
    if (fmax(-before, -after) > slow) return RB_FLIES_FAST;
    return c->at.gap > near * slow * s->events.paradigms->h ? RB_FLIES : RB_FLIES_NOT;
}

/* ---- shifts ------------------------------------------------------------------------------------
 */

static void report(const rb_stage *s, int geom1, int geom2, const rb_constraint *c, const char *why)
{
    const rb_event_sink *sink = &s->o->events;
    s->info->shifts++;
    s->info->events++;
    s->info->resolved++;
    if (!sink->take) return;
    rb_event event = {
        .kind = RB_EVENT_SHIFT, .time = s->d->time, .geom1 = geom1, .geom2 = geom2, .text = why
    };
    if (c) {
        rb_copy3(s->set.point + 3 * c->object, event.pos);
        rb_copy3(s->set.frame + 9 * c->object, event.normal);
        event.speed = s->problem.u[c->row];
    }
    sink->take(sink->ctx, &event);
}

/* A pair of candidates that is pressed; micro-collisions where it is not to shift. */
static void take_candidate(rb_stage *s, const rb_constraint *c)
{
    rb_paradigms *x = s->events.paradigms;
    if (!(s->answer.p[c->row] > 0.0)) return;
    rb_paradigm wanted = by_material(&c->material);
    if (wanted == RB_PARADIGM_IMPULSE) {
        s->info->micros++;
        s->info->events++;
        s->info->resolved++;
        return;
    }
    if (x->n == x->room) return;
    insert(x, c->id.a, c->id.b);
    if (wanted == RB_PARADIGM_SHIFT)
        report(s, c->id.a, c->id.b, c, "impulse to constraint: pressed");
}

static void look_at_constraint(rb_stage *s, const rb_constraint *c)
{
    rb_constraint_pair *pair = find(s->events.paradigms, c->id.a, c->id.b);
    if (!pair) {
        take_candidate(s, c);
        return;
    }
    double u = s->problem.u[c->row], e = c->material.restitution;
    double out = SHIFT_RATIO * slow_speed(s, c->id.a, c->id.b, e);
    pair->active |= s->answer.p[c->row] > 0.0;
    pair->near |= u <= out && c->gap + s->h * u <= out * s->events.paradigms->h;
}

void rb_paradigms_shift(rb_stage *s)
{
    rb_paradigms *x = s->events.paradigms;
    int n = 0;
    for (int i = 0; i < x->n; i++) x->pairs[i].active = x->pairs[i].near = 0;
    for (int i = 0; i < s->set.ncontact; i++) look_at_constraint(s, &s->set.c[i]);
    for (int i = 0; i < x->n; i++) {
        rb_constraint_pair *pair = &x->pairs[i];
        if (pair->active || pair->near)
            x->pairs[n++] = *pair;
        else
            report(s, pair->geom1, pair->geom2, NULL, "constraint to impulse: left");
    }
    x->n = n;
    for (int i = 0; i < s->d->ntouch; i++) {
        rb_touch *t = &s->d->touch[i];
        if (t->id.kind == RB_CONSTRAINT_CONTACT) t->held = find(x, t->id.a, t->id.b) != NULL;
    }
}

/* ---- the step ----------------------------------------------------------------------------------
 */

rb_status rb_stage_hybrid(rb_stage *s)
{
    rb_paradigms paradigms;
    rb_status status = rb_paradigms_start(s, &paradigms);
    if (status != RB_OK) return status;
    s->events.paradigms = &paradigms;
    status = rb_stage_located(s);
    s->events.paradigms = NULL;
    return status;
}
