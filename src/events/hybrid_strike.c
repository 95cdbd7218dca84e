/* Impacts of `hybrid`. A single contact, of a flying body, a mechanism or a group at rest, is
 * integrated over its impulse (I.3), with the compliance of everything it can move. Several
 * contacts at once are a problem of compression and restitution, as in `located`. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "math/vec3.h"
#include "rattleback/impact.h"
#include "events/hybrid.h"

/* Friction that the integral knows: one coefficient, or none. */
static int is_plain(const rb_constraint *c)
{
    if (c->nrow != 1 && c->nrow != 3) return 0;
    double across = c->material.friction_across;
    return c->material.polygon < 0 && (isnan(across) || across == c->material.friction);
}

/* J M^-1 J' of the only constraint. */
static rb_status compliance(rb_stage *s, double K[9])
{
    const rb_model *m = s->m;
    int n = s->set.nrow;
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *f = rb_push(s->d->arena, double, m->nv);
    if (!f) return RB_NOMEM;
    for (int k = 0; k < n; k++) {
        double p[3] = { 0.0, 0.0, 0.0 }, u[3];
        p[k] = 1.0;
        memset(f, 0, (size_t)m->nv * sizeof *f);
        rb_constraints_force(&s->set, p, f);
        rb_mass_solve(m, s->d, f);
        rb_constraints_velocity(&s->set, f, u);
        for (int r = 0; r < n; r++) K[3 * r + k] = u[r] - s->set.drive[r];
    }
    for (int r = 0; r < n; r++)
        for (int k = 0; k < r; k++)
            K[3 * r + k] = K[3 * k + r] = 0.5 * (K[3 * r + k] + K[3 * k + r]);
    rb_arena_reset(s->d->arena, mark);
    return RB_OK;
}

/* A contact without friction has no tangents: any will do. */
static void fill_tangents(double K[9])
{
    K[1] = K[2] = K[3] = K[5] = K[6] = K[7] = 0.0;
    K[4] = K[8] = K[0];
}

rb_status rb_paradigms_strike(rb_stage *s)
{
    const rb_constraint *c = &s->set.c[0];
    rb_impact in = { .mu = c->nrow == 3 ? c->material.friction : 0.0,
                     .e = s->problem.e[0],
                     .law = s->o->law };
    rb_impact_certificate cert;
    rb_impact_result out;
    if (!is_plain(c)) return RB_UNSUPPORTED;
    rb_status status = compliance(s, in.K);
    if (status != RB_OK) return status;
    if (c->nrow == 1) fill_tangents(in.K);
    for (int r = 0; r < c->nrow; r++) in.u[r] = s->problem.u_before[r];
    status = rb_impact_solve(&in, &out);
    if (status != RB_OK || !rb_impact_certify(&in, &out, &cert)) return RB_UNSUPPORTED;
    for (int r = 0; r < c->nrow; r++) s->answer.p[r] = out.p[r];
    s->info->residual = fmax(s->info->residual, fmax(cert.cone, fmax(cert.approach, cert.law)));
    s->events.single_impact = out;
    return RB_OK;
}

void rb_paradigms_report(rb_stage *s)
{
    const rb_event_sink *sink = &s->o->events;
    s->info->resolved++;
    for (int i = 0; i < s->set.ncontact; i++) {
        const rb_constraint *c = &s->set.c[i];
        const double *p = s->answer.p + c->row, *frame = s->set.frame + 9 * c->object;
        if (!(p[0] > 0.0)) continue;
        s->info->impacts++;
        s->info->events++;
        if (!sink->take) continue;
        rb_event event = { .kind = RB_EVENT_IMPACT,
                           .time = s->start.time,
                           .geom1 = c->id.a,
                           .geom2 = c->id.b,
                           .speed = s->problem.u_before[c->row],
                           .energy = s->events.single_impact.energy,
                           .count = s->set.ncontact,
                           .nphase = s->events.single_impact.nphase };
        memcpy(event.phase, s->events.single_impact.phase, sizeof s->events.single_impact.phase);
        rb_copy3(s->set.point + 3 * c->object, event.pos);
        rb_copy3(frame, event.normal);
        for (int r = 0; r < c->nrow && r < 3; r++) rb_axpy3(p[r], frame + 3 * r, event.impulse);
        sink->take(sink->ctx, &event);
    }
}
