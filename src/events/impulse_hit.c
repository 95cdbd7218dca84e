/* What happens at one instant.
 *
 * Points within the shell that approach fast collide: a single one is integrated over its impulse
 * (I.3), several at once are a problem of compression and restitution. Bodies that a shock reaches
 * take part in the next round, so that it runs through a line of balls one by one. Then points
 * that approach slowly and would be too close at the next tick are resolved together with all
 * contacts of the same bodies (impulse_group.c). An approach is slow by (S.44), where its train of
 * bounces ends before the next tick; a contact of the last tick may come with the speed of its
 * hop, too. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "dynamics/kinematic.h"
#include "math/vec3.h"
#include "events/impulse.h"
#include "step/motion.h"

/* Of impacts at one instant: a light body between heavy ones is hit alternately, and each hit
 * takes off a share of their masses. After half of these rounds all contacts that touch are solved
 * together. */
enum { ROUNDS = 64, ROUNDS_PER_POINT = 16 };

enum { SEARCH = 40 }; /* halvings back to where a pair met */

/* ---- who takes part ----------------------------------------------------------------------------
 */

static int can_move(const rb_events *x, int link)
{
    return x->flyer[link].kind == RB_FLYER_FREE || x->flyer[link].kind == RB_FLYER_DRIVEN;
}

static void activate_one(rb_events *x, int link)
{
    for (int i = 0; i < x->nactive; i++)
        if (x->active[i] == link) return;
    x->active[x->nactive++] = link;
}

/* A mechanism as a whole. */
static void activate(rb_events *x, int link)
{
    if (!can_move(x, link)) return;
    activate_one(x, link);
    if (x->flyer[link].kind == RB_FLYER_FREE) return;
    for (int k = 1; k < x->s->m->nlink; k++)
        if (x->flyer[k].tree == x->flyer[link].tree) activate_one(x, k);
}

/* Points of all active links that were not collected yet. */
static rb_status collect(rb_events *x, double t)
{
    for (; x->ncollected < x->nactive; x->ncollected++) {
        int link = x->active[x->ncollected];
        for (int i = x->flyer[link].first, next; i >= 0; i = next) {
            const rb_meeting *m = &x->meeting[i];
            next = m->next[m->link[0] == link ? 0 : 1];
            if (m->seen == x->event || (!m->in_shell && m->key > x->tick)) continue;
            rb_status status = rb_meeting_points(x, i, t, rb_impulse_reach(x));
            if (status != RB_OK) return status;
        }
    }
    return RB_OK;
}

static void measure_speeds(rb_events *x)
{
    for (int i = 0; i < x->npoint; i++) {
        rb_shell_point *p = &x->point[i];
        double v1[3], v2[3];
        const int *link = x->meeting[p->meeting].link;
        rb_flyer_point(&x->flyer[link[0]], p->contact.at.pos1, v1);
        rb_flyer_point(&x->flyer[link[1]], p->contact.at.pos2, v2);
        rb_sub3(v2, v1, v2);
        p->speed = rb_dot3(p->contact.at.normal, v2);
    }
}

static double slow_of(const rb_events *x, const rb_shell_point *p)
{
    return rb_flight_slow(x->s, x->tau, x->meeting[p->meeting].e);
}

/* What a contact of the last tick comes down with: its weight, and its rolling [m/s^2]. */
static double hop_rate(const rb_events *x, const rb_shell_point *p)
{
    const rb_meeting *m = &x->meeting[p->meeting];
    double rate = x->s->given->gravity;
    for (int k = 0; k < 2; k++) {
        const rb_flyer *f = &x->flyer[m->link[k]];
        double bend = rb_flight_bend(x->s->m, m->geom[k], x->rider[m->geom[k]].far);
        if (f->kind != RB_FLYER_FIXED)
            rate += rb_flight_roll(f->w_world, p->contact.at.normal, bend);
    }
    return rate;
}

static int is_fast(const rb_events *x, const rb_shell_point *p)
{
    if (p->contact.at.gap > 1.1 * x->shell) return 0;
    double hop = x->meeting[p->meeting].held ? 0.75 * hop_rate(x, p) * x->tau : 0.0;
    return p->speed < -slow_of(x, p) - hop;
}

/* It leaves faster than the slowest bounce: it will fall back and collide, and is no part of rest.
 */
static int bounced(const rb_events *x, const rb_shell_point *p)
{
    return !x->meeting[p->meeting].held && p->speed > slow_of(x, p);
}

/* Contacts by geoms and features, as all that follows expects them. */
static int comes_before(const rb_contact *a, const rb_contact *b)
{
    if (a->geom1 != b->geom1) return a->geom1 < b->geom1;
    if (a->geom2 != b->geom2) return a->geom2 < b->geom2;
    return a->at.feature < b->at.feature;
}

static void add_contact(rb_stage *s, const rb_contact *c)
{
    int k = s->problem.ncontact++;
    for (; k > 0 && comes_before(c, &s->problem.contacts[k - 1]); k--)
        s->problem.contacts[k] = s->problem.contacts[k - 1];
    s->problem.contacts[k] = *c;
}

/* ---- one impact --------------------------------------------------------------------------------
 */

/* count 0: a hop. */
static void report(rb_events *x, double t, const rb_contact *c, const double impulse[3],
                   double speed, const rb_impact_result *out, int count)
{
    rb_stage *s = x->s;
    const rb_event_sink *sink = &s->o->events;
    int micro = count == 0;
    s->info->impacts += !micro;
    s->info->micros += micro;
    s->info->events++;
    x->budget--;
    if (!sink->take) return;
    rb_event event = { .kind = micro ? RB_EVENT_MICRO : RB_EVENT_IMPACT,
                       .time = s->start.time + t,
                       .geom1 = c->geom1,
                       .geom2 = c->geom2,
                       .speed = speed,
                       .count = micro ? 1 : count };
    for (int i = 0; i < 3; i++) event.pos[i] = 0.5 * (c->at.pos1[i] + c->at.pos2[i]);
    rb_copy3(c->at.normal, event.normal);
    rb_copy3(impulse, event.impulse);
    if (out) {
        event.energy = out->energy;
        event.nphase = out->nphase;
        memcpy(event.phase, out->phase, sizeof event.phase);
    }
    sink->take(sink->ctx, &event);
}

static void body_of(const rb_events *x, int link, const double at[3], rb_impact_body *b)
{
    const rb_flyer *f = &x->flyer[link];
    *b = (rb_impact_body){ .im = f->im };
    rb_sub3(at, f->x, b->r);
    rb_copy3(f->u, b->v);
    rb_copy3(f->w_world, b->w);
    if (f->kind != RB_FLYER_FREE) return;
    double I[6];
    rb_sym3_rotate(f->R, f->top.iJ, I);
    const int place[9] = { 0, 3, 4, 3, 1, 5, 4, 5, 2 };
    for (int i = 0; i < 9; i++) b->iI[i] = I[place[i]];
}

/* Surfaces that run, along the tangents t1, t2 only. */
static void add_belts(const rb_events *x, const rb_contact *c, const double R[9], double u[3])
{
    const int geoms[2] = { c->geom1, c->geom2 };
    for (int k = 0; k < 2; k++) {
        const double *at = k ? c->at.pos2 : c->at.pos1;
        double V[6];
        if (!rb_belt_velocity(x->s->m, geoms[k], x->rider[geoms[k]].R, x->rider[geoms[k]].p, at, V))
            continue;
        for (int i = 1; i < 3; i++) u[i] += (k ? 1.0 : -1.0) * rb_dot3(R + 3 * i, V + 3);
    }
}

/* Notes what the answer is worth; RB_UNSOLVED: it is not certified. */
static rb_status certify(rb_events *x, const rb_impact *in, const rb_impact_result *out)
{
    rb_impact_certificate cert;
    int good = rb_impact_certify(in, out, &cert);
    if (!good) return RB_UNSOLVED;
    rb_step_info *info = x->s->info;
    info->residual = fmax(info->residual, fmax(cert.cone, fmax(cert.approach, cert.law)));
    info->energy_created += out->energy;
    return RB_OK;
}

/* Two bodies that fly or are kinematic. */
static rb_status strike_bodies(rb_events *x, double t, const rb_shell_point *p)
{
    const rb_contact *c = &p->contact;
    const rb_meeting *m = &x->meeting[p->meeting];
    rb_impact_body b[2];
    rb_impact in = { .mu = m->mu, .e = m->e, .law = x->s->o->law };
    rb_impact_result out;
    double R[9], push[3], back[3];
    body_of(x, m->link[0], c->at.pos1, &b[0]);
    body_of(x, m->link[1], c->at.pos2, &b[1]);
    rb_impact_frame(c->at.normal, R);
    rb_impact_bodies(&b[0], &b[1], R, &in);
    add_belts(x, c, R, in.u);
    rb_status status = rb_impact_solve(&in, &out);
    if (status == RB_OK) status = certify(x, &in, &out);
    if (status != RB_OK) return status;
    rb_rot_t(R, out.p, push);
    rb_scale3(-1.0, push, back);
    rb_impact_push(&b[0], back);
    rb_impact_push(&b[1], push);
    for (int k = 0; k < 2; k++)
        if (can_move(x, m->link[k])) rb_flyer_kick(x, m->link[k], b[k].v, b[k].w);
    report(x, t, c, push, p->speed, &out, 1);
    x->s->info->resolved++;
    return RB_OK;
}

/* A micro-collision: plastic, and then the speed that brings the point back to where contacts are
 * kept at the next tick: restitution raised as a slow approach needs it (B.9). */
static rb_status hop(rb_events *x, double t, const rb_shell_point *p)
{
    const rb_contact *c = &p->contact;
    const rb_meeting *m = &x->meeting[p->meeting];
    double ahead = x->tick - t, gap = c->at.gap, R[9], push[3], back[3];
    double pull = 2.0 * (rb_meeting_ahead(x, p->meeting, &c->at, 0.0, ahead) - gap) / ahead;
    double up = fmax(0.0, (0.5 * x->rest - gap) / ahead - 0.5 * pull);
    rb_impact_body b[2];
    rb_impact in = { .mu = m->mu, .law = x->s->o->law };
    rb_impact_result out;
    body_of(x, m->link[0], c->at.pos1, &b[0]);
    body_of(x, m->link[1], c->at.pos2, &b[1]);
    rb_impact_frame(c->at.normal, R);
    rb_impact_bodies(&b[0], &b[1], R, &in);
    add_belts(x, c, R, in.u);
    rb_status status = rb_impact_solve(&in, &out);
    if (status == RB_OK) status = certify(x, &in, &out);
    if (status != RB_OK) return status;
    double more = fmin(up, 2.0 * x->s->given->gravity * x->tau) / in.K[0];
    double gift = more * (out.u[0] + 0.5 * in.K[0] * more);
    x->s->info->energy_created += gift;
    out.energy += gift;
    out.p[0] += more;
    rb_rot_t(R, out.p, push);
    rb_scale3(-1.0, push, back);
    rb_impact_push(&b[0], back);
    rb_impact_push(&b[1], push);
    for (int k = 0; k < 2; k++)
        if (can_move(x, m->link[k])) rb_flyer_kick(x, m->link[k], b[k].v, b[k].w);
    report(x, t, c, push, p->speed, &out, 0);
    x->s->info->resolved++;
    return RB_OK;
}

static void take_links(rb_events *x, double t, const double *v)
{
    for (int i = 0; i < x->nactive; i++) rb_impulse_take(x, x->active[i], t, v);
    x->q_now = NAN;
    for (int i = 0; i < x->nactive; i++) rb_flyer_go(x, x->active[i], t);
}

/* rb_data at time t, for all active links. */
static rb_status gather(rb_events *x, double t)
{
    rb_stage *s = x->s;
    rb_status status = x->ndriven > 0 ? rb_impulse_drive(x, t) : RB_OK;
    for (int i = 0; i < x->nactive && status == RB_OK; i++)
        status = rb_impulse_sync(x, x->active[i], t);
    if (status != RB_OK) return status;
    memcpy(x->v_minus, s->d->v, (size_t)s->m->nv * sizeof *x->v_minus);
    rb_stage_kinematic_pose(s, t);
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_frames(s->m, s->d);
    return RB_OK;
}

/* Cone and approach after an impact of a mechanism, from its impulse and the velocities v of all
 * dofs; d is left at v. */
static rb_status certify_model(rb_events *x, const rb_impact_site *site, const double p[3],
                               const double *v)
{
    rb_stage *s = x->s;
    double v1[6], v2[6], u[3], size = rb_norm3(p), tangent = sqrt(p[1] * p[1] + p[2] * p[2]);
    memcpy(s->d->v, v, (size_t)s->m->nv * sizeof *v);
    rb_velocity(s->m, s->d);
    rb_point_velocity(s->m, s->d, site->body1, site->pos, v1);
    rb_point_velocity(s->m, s->d, site->body2, site->pos, v2);
    rb_sub3(v2 + 3, v1 + 3, u);
    double speed = rb_norm3(v1 + 3) + rb_norm3(v2 + 3), u_n = rb_dot3(site->n, u);
    double cone = size > 0.0 ? fmax(0.0, tangent - site->mu * p[0]) / size : 0.0;
    double approach = speed > 0.0 ? fmax(0.0, -u_n) / speed : 0.0;
    if (fmax(cone, approach) > RB_IMPACT_TOL) return RB_UNSOLVED;
    s->info->residual = fmax(s->info->residual, fmax(cone, approach));
    return RB_OK;
}

/* A link of a mechanism takes part: the whole of it changes its velocity. */
static rb_status strike_model(rb_events *x, double t, const rb_shell_point *p)
{
    rb_stage *s = x->s;
    const rb_contact *c = &p->contact;
    const rb_meeting *m = &x->meeting[p->meeting];
    rb_impact_site site = { .body1 = s->m->geom_body[c->geom1],
                            .body2 = s->m->geom_body[c->geom2],
                            .mu = m->mu,
                            .e = m->e,
                            .law = s->o->law };
    rb_impact_result out;
    double R[9], push[3];
    for (int i = 0; i < 3; i++) site.pos[i] = 0.5 * (c->at.pos1[i] + c->at.pos2[i]);
    rb_copy3(c->at.normal, site.n);
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *dv = rb_push(s->d->arena, double, s->m->nv);
    rb_status status = dv ? gather(x, t) : RB_NOMEM;
    if (status == RB_OK) status = rb_aba_factor(s->m, s->d, NULL, NULL);
    if (status != RB_OK) return status;
    rb_upsilon(s->m, s->d);
    status = rb_impact_model(s->m, s->d, &site, &out, dv);
    for (int j = 0; j < s->m->nv && status == RB_OK; j++) dv[j] += x->v_minus[j];
    if (status == RB_OK) status = certify_model(x, &site, out.p, dv);
    if (status == RB_OK) {
        s->info->energy_created += out.energy;
        rb_impact_frame(site.n, R);
        rb_rot_t(R, out.p, push);
        report(x, t, c, push, p->speed, &out, 1);
        s->info->resolved++;
        take_links(x, t, dv);
    }
    x->q_now = NAN;
    rb_arena_reset(s->d->arena, mark);
    return status;
}

/* ---- several at once ---------------------------------------------------------------------------
 */

static void report_all(rb_events *x, double t)
{
    rb_stage *s = x->s;
    for (int i = 0; i < s->set.ncontact; i++) {
        const rb_constraint *c = &s->set.c[i];
        const double *p = s->answer.p + c->row, *frame = s->set.frame + 9 * c->object;
        double push[3] = { 0.0, 0.0, 0.0 };
        if (!(p[0] > 0.0)) continue;
        for (int r = 0; r < c->nrow && r < 3; r++) rb_axpy3(p[r], frame + 3 * r, push);
        report(x, t, &s->problem.contacts[c->object], push, s->problem.u_before[c->row], NULL,
               s->set.ncontact);
    }
    s->info->resolved++;
}

/* The contacts of s->contacts. */
static rb_status strike_many(rb_events *x, double t)
{
    rb_stage *s = x->s;
    rb_mark mark = rb_arena_mark(s->d->arena);
    rb_status status = gather(x, t);
    if (status == RB_OK) {
        memcpy(s->start.q, s->d->q, (size_t)s->m->nq * sizeof *s->start.q);
        memcpy(s->start.v, s->d->v, (size_t)s->m->nv * sizeof *s->start.v);
        s->h = x->tau;
        status = rb_stage_strike(s, x->tau);
        s->h = x->h;
    }
    if (status == RB_OK) {
        report_all(x, t);
        take_links(x, t, s->start.v);
    }
    x->q_now = NAN;
    rb_arena_reset(s->d->arena, mark);
    return status;
}

static int is_driven(const rb_events *x, const rb_shell_point *p)
{
    const int *link = x->meeting[p->meeting].link;
    return x->flyer[link[0]].kind == RB_FLYER_DRIVEN || x->flyer[link[1]].kind == RB_FLYER_DRIVEN;
}

static int has_free(const rb_events *x, const rb_shell_point *p)
{
    const int *link = x->meeting[p->meeting].link;
    return x->flyer[link[0]].kind == RB_FLYER_FREE || x->flyer[link[1]].kind == RB_FLYER_FREE;
}

static rb_status strike_one(rb_events *x, double t, const rb_shell_point *p)
{
    rb_status status = is_driven(x, p) ? strike_model(x, t, p) : strike_bodies(x, t, p);

    /* held between joints and friction, or out of steps: the general problem decides */
    if (status == RB_SINGULAR || status == RB_UNSOLVED) status = strike_many(x, t);
    return status;
}

/* ---- the instant -------------------------------------------------------------------------------
 */

static rb_status refuse_crowd(const rb_events *x, const rb_contact *c)
{
    char name1[160], name2[160];
    const rb_model *m = x->s->m;
    return rb_fail(x->s->err, RB_CROWDED,
                   "impacts do not end, the last between %s and %s: a smaller "
                   "restitution, or the stepper located, may help",
                   rb_geom_title(m, c->geom1, name1, sizeof name1),
                   rb_geom_title(m, c->geom2, name2, sizeof name2));
}

/* Rounds of impacts, until no point approaches fast. */
static rb_status collide(rb_events *x, double t)
{
    rb_stage *s = x->s;
    for (int round = 0;; round++) {
        rb_status status = collect(x, t);
        if (status != RB_OK) return status;
        measure_speeds(x);
        const rb_shell_point *last = NULL;
        int most = ROUNDS + ROUNDS_PER_POINT * x->npoint, all = 2 * round >= most;
        s->problem.ncontact = 0;
        for (int i = 0; i < x->npoint; i++) {
            const rb_shell_point *p = &x->point[i];
            int fast = is_fast(x, p);
            if (!fast && !(all && p->contact.at.gap <= 1.1 * x->shell)) continue;
            if (fast) last = p;
            add_contact(s, &p->contact);
            activate(x, x->meeting[p->meeting].link[0]);
            activate(x, x->meeting[p->meeting].link[1]);
        }
        if (!last) return RB_OK;
        if (round >= most || x->budget < 0) return refuse_crowd(x, &last->contact);
        rb_shell_point one = *last;
        for (int i = 0; i < x->npoint; i++)
            if (is_fast(x, &x->point[i])) x->meeting[x->point[i].meeting].held = 0;
        status = s->problem.ncontact == 1 ? strike_one(x, t, &one) : strike_many(x, t);
        if (status != RB_OK) return status;
    }
}

/* The points of a group: not those that are far and come fast, which are to collide. */
static void take_group(rb_events *x)
{
    rb_stage *s = x->s;
    s->problem.ncontact = 0;
    for (int i = 0; i < x->npoint; i++) {
        const rb_shell_point *p = &x->point[i];
        int far = p->contact.at.gap > 1.1 * x->shell;
        if (far && p->speed < -slow_of(x, p) - s->given->gravity * x->tau) continue;
        if (far && is_driven(x, p) && !has_free(x, p)) continue;
        if (bounced(x, p)) continue;
        add_contact(s, &p->contact);
    }
    memset(x->lead, 0, 4 * (size_t)s->problem.ncontact * sizeof *x->lead);
}

void rb_impulse_leads(rb_events *x)
{
    const rb_stage *s = x->s;
    for (int i = 0; i < x->npoint; i++) {
        const rb_shell_point *p = &x->point[i];
        int lo = 0, hi = s->problem.ncontact;
        while (lo < hi) {
            int middle = lo + (hi - lo) / 2;
            if (comes_before(&s->problem.contacts[middle], &p->contact))
                lo = middle + 1;
            else
                hi = middle;
        }
        if (lo == s->problem.ncontact || comes_before(&p->contact, &s->problem.contacts[lo]))
            continue;
        rb_copy3(p->lead, x->lead + 4 * (ptrdiff_t)lo);
        x->lead[4 * (ptrdiff_t)lo + 3] = p->lead_n;
    }
}

/* Points within the shell that did not bounce come to the next tick with the speed of their hop. */
static void hold(rb_events *x)
{
    for (int i = 0; i < x->npoint; i++) {
        const rb_shell_point *p = &x->point[i];
        if (p->contact.at.gap <= 1.1 * x->shell && !bounced(x, p)) x->meeting[p->meeting].held = 1;
    }
}

/* Driven links are supported by a push, which is computed again where something changed. */
static int needs_new_push(const rb_events *x, const rb_shell_point *p)
{
    const rb_meeting *m = &x->meeting[p->meeting];
    int changed = 0;
    for (int k = 0; k < 2; k++) {
        const rb_flyer *f = &x->flyer[m->link[k]];
        changed |= f->kind == RB_FLYER_DRIVEN && f->moved == x->event;
    }
    return changed || !m->held;
}

/* A point that would be too close at the next tick; *count of them. */
static const rb_shell_point *find_sinking(rb_events *x, double t, int *count)
{
    const rb_shell_point *found = NULL;
    measure_speeds(x);
    *count = 0;
    for (int i = 0; i < x->npoint; i++) {
        const rb_shell_point *p = &x->point[i];
        if (p->contact.at.gap > 1.1 * x->shell || bounced(x, p)) continue;
        double gap = rb_meeting_ahead(x, p->meeting, &p->contact.at, p->speed, x->tick - t);
        int held = is_driven(x, p) ? !needs_new_push(x, p) : !(gap < x->floor);
        if (held) continue;
        found = p;
        ++*count;
    }
    return found;
}

/* Bodies that touch those of the points, and bodies that touch them. */
static rb_status expand(rb_events *x, double t)
{
    rb_status status = RB_OK;
    for (int from = 0; from < x->npoint && status == RB_OK; from++) {
        const int *link = x->meeting[x->point[from].meeting].link;
        activate(x, link[0]);
        activate(x, link[1]);
        status = collect(x, t);
    }
    return status;
}

/* Slow points between ticks. One alone hops until the tick; several, or links of mechanisms, are a
 * group of the bodies at hand. At the start of the step, where nothing is known of what was before,
 * all that is connected is one. */
static rb_status settle(rb_events *x, double t)
{
    enum { HOPS = 3 };
    int count = 0;
    for (int k = 0; k <= HOPS; k++) {
        const rb_shell_point *p = find_sinking(x, t, &count);
        if (!p) return RB_OK;
        if (count > 1 || k == HOPS || t == 0.0 || is_driven(x, p)) break;
        x->meeting[p->meeting].held = 1; /* it comes to the tick with the speed of its hop */
        rb_status status = hop(x, t, p);
        if (status != RB_OK) return status;
    }
    rb_status status = t == 0.0 ? expand(x, t) : RB_OK;
    if (status != RB_OK) return status;
    take_group(x);
    hold(x);
    x->budget--;
    return rb_impulse_group(x, t, x->tick - t, 0);
}

/* New keys of all that moved. */
static rb_status look_ahead(rb_events *x, double t)
{
    for (int k = 1; k < x->s->m->nlink; k++) {
        if (x->flyer[k].moved != x->event) continue;
        rb_status status = rb_flyer_go(x, k, t);
        if (status == RB_OK) status = rb_impulse_spread(x, k, t);
        for (int i = x->flyer[k].first; i >= 0 && status == RB_OK;
             i = x->meeting[i].next[x->meeting[i].link[0] == k ? 0 : 1]) {
            status = rb_meeting_look(x, i, t);
            if (status == RB_OK) rb_meeting_key(x, i, t);
        }
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

static void begin(rb_events *x)
{
    x->event++;
    x->nactive = x->ncollected = x->npoint = 0;
}

/* ---- meetings that were not predicted
 * --------------------------------------------------------------------- */

static int has_driven(const rb_events *x, const rb_meeting *m)
{
    return x->flyer[m->link[0]].kind == RB_FLYER_DRIVEN ||
           x->flyer[m->link[1]].kind == RB_FLYER_DRIVEN;
}

/* The flight of driven links is known from their last event on. */
static rb_status recover(rb_events *x, int i, double from, double *t)
{
    double a = fmax(from, x->q_t), b = *t;
    for (int k = 0; k < SEARCH && b - a > 1e-9 * x->tau; k++) {
        double middle = 0.5 * (a + b);
        rb_status status = rb_meeting_look(x, i, middle);
        if (status != RB_OK) return status;
        double gap = x->meeting[i].closest.gap;
        *t = middle;
        if (gap > 0.0 && gap <= x->shell) return RB_OK;
        if (gap > 0.0)
            a = middle;
        else
            b = middle;
    }
    return RB_OK;
}

/* Looks at a pair; *t becomes earlier where it has met before. */
static rb_status look_back(rb_events *x, int i, double *t)
{
    const rb_meeting *m = &x->meeting[i];
    double from = m->at, before = m->closest.gap, deepest = x->s->info->penetration;
    rb_status status = rb_meeting_look(x, i, *t);
    if (status != RB_OK || !has_driven(x, m) || m->closest.gap >= x->floor) return status;
    if (!(before > 0.0) || !(from < *t) || m->held) return RB_OK;
    status = recover(x, i, from, t);
    x->s->info->penetration =
        fmax(deepest, -m->closest.gap); /* what was looked at did not happen */
    return status;
}

rb_status rb_impulse_overlooked(rb_events *x, double t)
{
    for (int i = 0; i < x->n; i++) {
        const rb_meeting *m = &x->meeting[i];
        double met = t;
        if (!has_driven(x, m) || m->at == t) continue;
        rb_status status = look_back(x, i, &met);
        if (status != RB_OK) return status;
        if (met < t)
            rb_heap_move(x, i, met);
        else if (!m->in_shell)
            rb_meeting_key(x, i, t);
    }
    return RB_OK;
}

rb_status rb_impulse_event(rb_events *x, int i, double t)
{
    rb_status status = look_back(x, i, &t);
    if (status != RB_OK) return status;
    x->meeting[i].level = x->meeting[i].closest.gap;
    if (x->meeting[i].in_shell) {
        begin(x);
        activate(x, x->meeting[i].link[0]);
        activate(x, x->meeting[i].link[1]);
        status = collide(x, t);
        if (status == RB_OK) status = settle(x, t);
        if (status == RB_OK) status = look_ahead(x, t);
        if (status != RB_OK) return status;
    }
    if (x->budget < 0) {
        const rb_contact c = { .geom1 = x->meeting[i].geom[0], .geom2 = x->meeting[i].geom[1] };
        return refuse_crowd(x, &c);
    }
    status = rb_meeting_look(x, i, t);
    if (status == RB_OK) rb_meeting_key(x, i, t);
    return status;
}

/* All points within reach of all that moves; then as in an event, with a flight of a whole tick. */
rb_status rb_impulse_tick(rb_events *x)
{
    rb_stage *s = x->s;
    double t = x->tick;
    rb_status status = RB_OK;
    begin(x);
    for (int i = 0; i < x->n && status == RB_OK; i++) {
        rb_meeting *m = &x->meeting[i];
        if (!m->in_shell && m->key > t + x->tau) continue;
        status = rb_meeting_points(x, i, t, rb_impulse_reach(x));
        m->level = m->closest.gap;
        activate(x, m->link[0]);
        activate(x, m->link[1]);
    }
    x->ncollected = x->nactive;
    if (status == RB_OK) status = collide(x, t);
    if (status != RB_OK) return status;
    take_group(x);
    s->info->contacts = s->problem.ncontact;
    x->turns = 0;
    if (s->problem.ncontact > 0) rb_impulse_middle(x, t, NULL);
    if (x->turns) rb_impulse_leads(x);
    for (int i = 0; i < x->n; i++) x->meeting[i].held = 0;
    hold(x);
    if (s->problem.ncontact == 0) s->d->ntouch = 0;
    if (status == RB_OK && (s->problem.ncontact > 0 || x->ndriven > 0))
        status = rb_impulse_group(x, t, x->tau, 1);
    return status == RB_OK ? look_ahead(x, t) : status;
}
