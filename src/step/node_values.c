/* What rows have come to at the end of the step: values(q+) of the node rule (S.2).
 *
 *     contacts   normal: (gap(q+) - goal) / h;  tangents: displacement of the two material points
 *                that touched at the node, over h;  torsion, rolling: turn of the bodies, over h
 *     limits     (gap(q+) - goal) / h
 *     loops      (error(q+) - goal) / h
 *     friction   displacement of the joint, over h
 *
 * A normal whose contact is not seen at the end has the gap of its material points, and what it
 * differed from that by when it was seen: else rounds would jump where it opens. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "dynamics/kinematic.h"
#include "dynamics/placed.h"
#include "math/trig.h"
#include "math/vec3.h"
#include "step/node.h"
#include "step/contacts.h"
#include "step/gaps.h"
#include "step/motion.h"
#include "step/rows.h"
#include "step/touch.h"

/* Sine of the angle between a normal and the side of a cylinder, below which it lies on its side
 * [1]: the rim has other normals. */
#define UPRIGHT 1e-3

/* Share of what rows may miss that loops may [1]: one more answer, whose end is not checked, takes
 * most of it off. */
#define LOOPS_LEFT 0.01

/* Share of the closure error that steps may make which is always left [1]: slow mechanisms would
 * ask for rounding. */
#define LOOPS_OPEN 2e-4

/* Rounds that may take contacts along. */
enum { MOST_ALONG = 3 };

/* ---- the end ----------------------------------------------------------------------------------
 */

/* d at the end of the step, where it stands still: contacts are those within the margin. Pairs that
 * were not near at the node, and could not come near by the way that was gone, are not looked at.
 */
static void go_to_end(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_data *d = s->d;
    memcpy(d->q, s->answer.q, (size_t)m->nq * sizeof *d->q);
    memset(d->v, 0, (size_t)m->nv * sizeof *d->v);
    rb_stage_kinematic_pose(s, s->h);
    rb_placed_frames(m, d);
    rb_velocity(m, d);
    memcpy(s->answer.q + m->nq, d->q + m->nq, (size_t)(m->nq_all - m->nq) * sizeof *d->q);
}

static void keep_poses(rb_node *x)
{
    size_t n = (size_t)x->s->m->nlink;
    memcpy(x->p_seen, x->s->d->link_p, 3 * n * sizeof *x->p_seen);
    memcpy(x->R_seen, x->s->d->link_R, 9 * n * sizeof *x->R_seen);
}

static void carry_point(const rb_node_poses *from, const rb_node_poses *to, int k, double at[3])
{
    double r[3], own[3];
    rb_sub3(at, from->p + 3 * (ptrdiff_t)k, r);
    rb_rot_t(from->R + 9 * (ptrdiff_t)k, r, own);
    rb_rot(to->R + 9 * (ptrdiff_t)k, own, at);
    rb_add3(at, to->p + 3 * (ptrdiff_t)k, at);
}

void rb_node_carry(const rb_model *m, const rb_node_poses *from, const rb_node_poses *to,
                   rb_contact *c)
{
    int k = m->geom_link[c->geom1];
    double own[3], r[3];
    carry_point(from, to, k, c->at.pos1);
    carry_point(from, to, m->geom_link[c->geom2], c->at.pos2);
    rb_rot_t(from->R + 9 * (ptrdiff_t)k, c->at.normal, own);
    rb_rot(to->R + 9 * (ptrdiff_t)k, own, c->at.normal);
    rb_sub3(c->at.pos2, c->at.pos1, r);
    c->at.gap = rb_dot3(c->at.normal, r);
}

/* Contacts that were seen go with their links: what that misses of the gaps is of second order in
 * what the last problem changed. A round that seems to be the last looks again. */
static void take_contacts_along(rb_node *x)
{
    const rb_data *d = x->s->d;
    const rb_node_poses seen = { x->p_seen, x->R_seen }, now = { d->link_p, d->link_R };
    x->looked = 0;
    for (int i = 0; i < x->nend; i++) rb_node_carry(x->s->m, &seen, &now, &x->end[i]);
}

/* The last problem changed velocities by less than rows were looked for with. Bodies by themselves
 * are looked at for less than their rows cost, and end with more digits. */
static int may_take_along(const rb_node *x)
{
    const rb_stage *s = x->s;
    int chains = s->m->nlink - 1 > s->m->ntree;
    int early = x->solved > 0 && x->solved <= MOST_ALONG;
    return chains && early && s->set.ncontact > 0 && x->closing <= x->slack;
}

static rb_status find_contacts(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_data *d = s->d;
    if (may_take_along(x)) {
        go_to_end(x);
        take_contacts_along(x);
        keep_poses(x);
        return RB_OK;
    }
    s->near.complete = rb_stage_near_holds(s);
    /* rows would see other gaps where this is known of fewer pairs, as after a restored state */
    s->near.nothing_touches =
        !s->events.seen && rb_stage_nothing_touches(s) && s->set.ncontact == 0;
    go_to_end(x);
    x->nend = 0;
    x->looked = 1;
    if (s->near.nothing_touches) return RB_OK;
    keep_poses(x);
    rb_status status =
        s->near.complete ? rb_collide_near(m, d, s->h, x->slack, &s->near.pairs, d->touch_max,
                                           x->end, &x->nend, s->err)
                         : rb_collide(m, d, s->h, x->slack, d->touch_max, x->end, &x->nend, s->err);
    if (status == RB_FULL) s->info->contacts = x->nend;
    return status;
}

static rb_touch_id id_of(const rb_contact *c)
{
    return (rb_touch_id){ RB_CONSTRAINT_CONTACT, c->geom1, c->geom2, c->at.feature };
}

/* gap, at: both lists are sorted. */
static void match(rb_node *x)
{
    const rb_constraints *set = &x->s->set;
    for (int i = 0, k = 0; i < set->ncontact; i++) {
        x->gap[i] = NAN;
        x->at[i] = -1;
        while (k < x->nend) {
            rb_touch_id id = id_of(&x->end[k]);
            int order = rb_touch_order(&id, &set->c[i].id);
            if (order == 0) x->gap[i] = x->end[k].at.gap - set->c[i].floor;
            if (order == 0) x->at[i] = k;
            if (order >= 0) break;
            k++;
        }
    }
}

/* ---- contacts ---------------------------------------------------------------------------------
 */

/* How a link has moved since the node. */
typedef struct motion {
    double c[3]; /* middle of its contacts with another one [m]                                  */
    double D[3]; /* displacement of the contacts there [m]                                       */
    double w[3]; /* turn [rad]                                                                   */
} motion;

/* Displacement of the point x of link k since the node. */
static void displace(const rb_node *x, int k, const double at[3], double out[3])
{
    const rb_data *d = x->s->d;
    const double *R0 = x->R0 + 9 * (ptrdiff_t)k, *p0 = x->p0 + 3 * (ptrdiff_t)k;
    const double *R = d->link_R + 9 * (ptrdiff_t)k, *p = d->link_p + 3 * (ptrdiff_t)k;
    double r[3], own[3];
    rb_sub3(at, p0, r);
    rb_rot_t(R0, r, own);
    rb_rot(R, own, out);
    for (int i = 0; i < 3; i++) out[i] += p[i] - at[i];
}

/* Displacement since the node of the point of link k that is at x now. */
static void displaced(const rb_node *x, int k, const double at[3], double out[3])
{
    const rb_data *d = x->s->d;
    const double *R0 = x->R0 + 9 * (ptrdiff_t)k, *p0 = x->p0 + 3 * (ptrdiff_t)k;
    const double *R = d->link_R + 9 * (ptrdiff_t)k, *p = d->link_p + 3 * (ptrdiff_t)k;
    double r[3], own[3], was[3];
    rb_sub3(at, p, r);
    rb_rot_t(R, r, own);
    rb_rot(R0, own, was);
    rb_add3(was, p0, was);
    rb_sub3(at, was, out);
}

static int turns_freely(const rb_model *m, int k)
{
    if (k == 0 || m->link_jntnum[k] != 1 || m->link_parent[k] != 0) return 0;
    int type = m->jnt_type[m->link_jntadr[k]];
    return type == RB_JOINT_FREE || type == RB_JOINT_BALL;
}

/* Turn of link k since the node, as smooth motion takes it: a body by itself turns by Cayley's map,
 * 2 tan(angle / 2) = h |w|, others by the angles of their joints. */
static void turn(const rb_node *x, int k, double out[3])
{
    const double *A = x->R0 + 9 * (ptrdiff_t)k, *B = x->s->d->link_R + 9 * (ptrdiff_t)k;
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        out[i] = 0.5 * (rb_dot3(B + 3 * b, A + 3 * a) - rb_dot3(B + 3 * a, A + 3 * b));
    }
    double sine = rb_norm3(out);
    double cosine = 0.5 * (rb_dot3(A, B) + rb_dot3(A + 3, B + 3) + rb_dot3(A + 6, B + 6) - 1.0);
    if (sine == 0.0) return;
    int single = turns_freely(x->s->m, k);
    double angle = rb_atan2(sine, cosine), whole = single ? 2.0 * sine / (1.0 + cosine) : angle;
    rb_scale3(whole / sine, out, out);
}

/* Radius of what rolls on a contact with the normal n, about a point or an axis that is fixed in
 * the geom [m]; 0: corners, edges and faces, and what has no such centre. */
static double roundness(const rb_node *x, int geom, const double n[3])
{
    const rb_model *m = x->s->m;
    const double *size = m->geom_size + 3 * (ptrdiff_t)geom;
    const double *R = x->s->d->geom_R + 9 * (ptrdiff_t)geom;
    switch ((rb_geom_type)m->geom_type[geom]) {
    case RB_GEOM_SPHERE:
    case RB_GEOM_CAPSULE:
        return size[0];
    case RB_GEOM_CYLINDER: {
        double axis[3] = { R[2], R[5], R[8] };
        return fabs(rb_dot3(axis, n)) < UPRIGHT ? size[0] : 0.0;
    }
    default:
        return 0.0;
    }
}

/* Points of one side of the contacts i to end - 1: their middle, and that of the centres they roll
 * about. Then the same at the end, 0: not all of them are there. */
static void middle_at_node(const rb_node *x, int i, int end, int side, double c[3], double C[3])
{
    const rb_constraints *set = &x->s->set;
    rb_zero3(c);
    rb_zero3(C);
    for (int k = i; k < end; k++) {
        const double *n = set->frame + 9 * (ptrdiff_t)set->c[k].object;
        int geom = side ? set->c[k].id.b : set->c[k].id.a;
        double r = roundness(x, geom, n) / (end - i);
        rb_axpy3(1.0 / (end - i), set->acts + 6 * (ptrdiff_t)set->c[k].object + 3 * side, c);
        rb_axpy3(side ? r : -r, n, C);
    }
    rb_add3(c, C, C);
}

static int middle_at_end(const rb_node *x, int i, int end, int side, double c[3], double C[3])
{
    rb_zero3(c);
    rb_zero3(C);
    for (int k = i; k < end; k++) {
        if (x->at[k] < 0) return 0;
        const rb_contact *e = &x->end[x->at[k]];
        double r = roundness(x, side ? e->geom2 : e->geom1, e->at.normal) / (end - i);
        rb_axpy3(1.0 / (end - i), side ? e->at.pos2 : e->at.pos1, c);
        rb_axpy3(side ? r : -r, e->at.normal, C);
    }
    rb_add3(c, C, C);
    return 1;
}

/* Motion of the links of contacts i to end - 1, at the middle of these on each of them (S.7): the
 * mean of where points that touch at the node go, and where those come from that touch at the end.
 * What is round goes with its centre and turns about it. */
static void face_motion(const rb_node *x, int i, int end, motion of[2])
{
    const rb_stage *s = x->s;
    const int geom[2] = { s->set.c[i].id.a, s->set.c[i].id.b };
    for (int side = 0; side < 2; side++) {
        int link = s->m->geom_link[geom[side]];
        const double *w = of[side].w;
        double C[3], c1[3], C1[3], r[3], D[3];
        turn(x, link, of[side].w);
        middle_at_node(x, i, end, side, of[side].c, C);
        rb_sub3(of[side].c, C, r);
        displace(x, link, C, of[side].D);
        rb_cross3(w, r, D);
        rb_add3(of[side].D, D, of[side].D);
        if (!middle_at_end(x, i, end, side, c1, C1)) continue;
        rb_sub3(c1, C1, r);
        displaced(x, link, C1, c1);
        rb_cross3(w, r, D);
        rb_add3(c1, D, D);
        for (int k = 0; k < 3; k++) of[side].D[k] = 0.5 * (of[side].D[k] + D[k]);
    }
}

/* Displacement of a point of the link. */
static void point_motion(const motion *of, const double at[3], double out[3])
{
    double r[3];
    rb_sub3(at, of->c, r);
    rb_cross3(of->w, r, out);
    rb_add3(out, of->D, out);
}

/* What a belt on geom g runs by at the point, within the plane of the contact; turn: about it. */
static void add_belt(const rb_node *x, int g, const double at[3], double sign, double D[3],
                     double turn[3])
{
    const rb_data *d = x->s->d;
    double V[6];
    if (!rb_belt_velocity(x->s->m, g, d->geom_R + 9 * (ptrdiff_t)g, d->geom_p + 3 * (ptrdiff_t)g,
                          at, V))
        return;
    rb_axpy3(sign * x->s->h, V, turn);
    rb_axpy3(sign * x->s->h, V + 3, D);
}

/* Least gap of the pair at the end; INFINITY: it is not seen there. */
static double pair_gap(const rb_node *x, const rb_constraint *c)
{
    int lo = 0, hi = x->nend;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        const rb_contact *e = &x->end[middle];
        if (e->geom1 < c->id.a || (e->geom1 == c->id.a && e->geom2 < c->id.b))
            lo = middle + 1;
        else
            hi = middle;
    }
    double least = INFINITY;
    for (; lo < x->nend && x->end[lo].geom1 == c->id.a && x->end[lo].geom2 == c->id.b; lo++)
        least = fmin(least, x->end[lo].at.gap);
    return least - c->floor;
}

/* Contact i is not seen at the end of a motion without it, where its material points would be far
 * within each other, and its pair overlaps neither there nor on the way: the bodies have gone past
 * each other. For the rounds of this motion it is open. */
static int goes_by(rb_node *x, int i, double straight)
{
    rb_stage *s = x->s;
    const rb_constraint *c = &s->set.c[i];
    if (!isnan(x->gap[i]) || s->events.flight || s->answer.p[c->row] > 0.0) return 0;
    double least = x->goal[i] - rb_stage_deep(s, &c->id);
    if (!(straight < least) || pair_gap(x, c) < least) return 0;
    rb_node_find_way(x, s->answer.v_way);
    return !rb_stage_meets(s, c->id.a, c->id.b);
}

/* Tangents of the contacts between two links have the values of one rigid motion, d + w x r: points
 * of a face that turns would be asked to stretch by the square of its angle otherwise. */
static void contact_values(rb_node *x, int i, const motion of[2])
{
    rb_stage *s = x->s;
    const rb_constraint *c = &s->set.c[i];
    const double *frame = s->set.frame + 9 * (ptrdiff_t)c->object;
    const double *at = s->set.acts + 6 * (ptrdiff_t)c->object;
    double *u = x->value + c->row, D1[3], D[3], run[3] = { 0.0 };
    point_motion(&of[0], at, D1);
    point_motion(&of[1], at + 3, D);
    rb_sub3(D, D1, D);
    double straight = c->gap + rb_dot3(frame, D);
    double gap = isnan(x->gap[i]) ? straight + x->bend[i] : x->gap[i];
    if (x->solved == 0) x->gone[i] = (unsigned char)goes_by(x, i, straight);
    if (x->gone[i]) gap = fmax(gap, x->goal[i] + s->h * x->slack);
    x->bend[i] = gap - straight;
    u[0] = (gap - x->goal[i]) / s->h;
    if (c->nrow == 1) return;
    add_belt(x, c->id.a, at, -1.0, D, run);
    add_belt(x, c->id.b, at + 3, 1.0, D, run);
    u[1] = rb_dot3(frame + 3, D) / s->h;
    u[2] = rb_dot3(frame + 6, D) / s->h;
    if (c->nrow == 3) return;
    rb_sub3(of[1].w, of[0].w, D);
    for (int k = 3; k < c->nrow; k++) u[k] = rb_dot3(frame + 3 * (k - 3), D) / s->h;
    u[3] += rb_dot3(frame, run) / s->h;
}

/* Contacts i to end - 1 are between the same two links. */
static int face_end(const rb_node *x, int i)
{
    const rb_constraints *set = &x->s->set;
    const int *link = x->s->m->geom_link;
    int end = i + 1;
    while (end < set->ncontact && link[set->c[end].id.a] == link[set->c[i].id.a] &&
           link[set->c[end].id.b] == link[set->c[i].id.b])
        end++;
    return end;
}

static void all_contact_values(rb_node *x)
{
    const rb_constraints *set = &x->s->set;
    for (int i = 0; i < set->ncontact;) {
        motion of[2];
        int end = face_end(x, i);
        face_motion(x, i, end, of);
        for (; i < end; i++) contact_values(x, i, of);
    }
}

/* ---- joints and loops -------------------------------------------------------------------------
 */

/* J v_mean of a row: exact where it is linear in the joints. */
static double mean_of(const rb_node *x, const rb_constraint *c, int r)
{
    const rb_constraints *set = &x->s->set;
    const int *dof = set->dof + c->dof;
    const double *J = set->J + c->block + (ptrdiff_t)r * c->ndof;
    double sum = 0.0;
    for (int k = 0; k < c->ndof; k++) sum += J[k] * x->v_mean[dof[k]];
    return sum + set->drive[c->row + r];
}

static double limit_gap(const rb_node *x, const rb_constraint *c)
{
    const rb_stage *s = x->s;
    const rb_model *m = s->m;
    int j = c->object;
    if (j >= m->njnt_all) {
        double length = rb_tendon_length(m, s->d, j - m->njnt_all);
        const double *range = m->tendon_range + 2 * (j - m->njnt_all);
        return c->id.b == 0 ? length - range[0] : range[1] - length;
    }
    const double *q = s->d->q + m->jnt_qadr[j], *range = m->jnt_range + 2 * (ptrdiff_t)j;
    if (m->jnt_type[j] == RB_JOINT_BALL) return range[1] - rb_stage_ball_angle(q);
    return c->id.b == 0 ? q[0] - range[0] : range[1] - q[0];
}

static rb_status loop_values(rb_node *x)
{
    rb_stage *s = x->s;
    rb_rows rows;
    if (s->m->neq == 0) return RB_OK;
    rb_status status = rb_loop_rows(s->m, s->d, &rows);
    if (status != RB_OK) return status;
    s->info->loop_error = 0.0;
    const rb_constraint *c = s->set.c, *end = c + s->set.n;
    for (int i = 0; i < rows.n;) {
        while (c < end && (c->kind != RB_CONSTRAINT_EQUALITY || c->id.a != rows.eq[i])) c++;
        int first = i;
        for (; i < rows.n && rows.eq[i] == rows.eq[first]; i++) {
            s->info->loop_error = fmax(s->info->loop_error, fabs(rows.error[i]));
            if (c == end) continue;
            double goal = (1.0 - rb_stage_loop_share(s)) * s->set.error[c->row + i - first];
            int repeated = rb_stage_is_redundant(s, c->id.a, i - first);
            x->value[c->row + i - first] = repeated ? 0.0 : (rows.error[i] - goal) / s->h;
        }
    }
    rb_rows_release(s->d, &rows);
    return RB_OK;
}

void rb_node_foresee_loops(rb_node *x)
{
    rb_stage *s = x->s;
    double worst = 0.0;
    for (int i = s->set.ncontact; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind != RB_CONSTRAINT_EQUALITY) continue;
        for (int r = c->row; r < c->row + c->nrow; r++) {
            double goal = (1.0 - rb_stage_loop_share(s)) * s->set.error[r];
            worst = fmax(worst, fabs(goal + s->h * (s->problem.u[r] + x->Wp[r])));
        }
    }
    s->info->loop_error = worst;
}

rb_status rb_node_look(rb_node *x)
{
    rb_stage *s = x->s;
    rb_status status = find_contacts(x);
    if (status != RB_OK) return status;
    match(x);
    rb_difference(s->m, s->start.q, s->answer.q, x->v_mean);
    for (int j = 0; j < s->m->nv; j++) x->v_mean[j] /= s->h;
    all_contact_values(x);
    for (int i = s->set.ncontact; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind == RB_CONSTRAINT_LIMIT)
            x->value[c->row] = (limit_gap(x, c) - x->goal[i]) / s->h;
        if (c->kind == RB_CONSTRAINT_DRY) x->value[c->row] = mean_of(x, c, 0);
    }
    return loop_values(x);
}

/* ---- how far it is ----------------------------------------------------------------------------
 */

static double distance(const double *x, const double *y, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

/* Velocity by which the rows of constraint i miss what their problem predicted, u = s->u + Wp: that
 * is what rounds take off. How far the answer itself is from one its certificate shows. Rows that
 * do not push may be anywhere on their side. normal: the part of it that closes a gap. */
static double missed_by(const rb_node *x, int i, double *normal)
{
    const rb_stage *s = x->s;
    const rb_constraint *c = &s->set.c[i];
    const double *p = s->answer.p + c->row, *u = x->value + c->row;
    double foretold[6];
    *normal = 0.0;
    for (int r = 0; r < c->nrow; r++) foretold[r] = s->problem.u[c->row + r] + x->Wp[c->row + r];
    if (c->kind == RB_CONSTRAINT_EQUALITY)
        return distance(u, foretold, c->nrow) / rb_node_loops_share(x);
    if (c->kind == RB_CONSTRAINT_DRY) {
        if (fabs(p[0]) < (1.0 - RB_TOL_STRICT) * c->bound) return fabs(u[0] - foretold[0]);
        return u[0] * p[0] > 0.0 ? fmin(fabs(u[0]), fabs(u[0] - foretold[0])) : 0.0;
    }
    if (c->kind == RB_CONSTRAINT_CONTACT && x->bounces[i]) {
        *normal = fmax(0.0, -u[0]);
        return 0.0;
    }
    *normal = fmax(0.0, fmin(0.0, foretold[0]) - u[0]);
    if (p[0] == 0.0) return 0.0;
    return fmax(u[0] - foretold[0], distance(u + 1, foretold + 1, c->nrow - 1));
}

void rb_node_find_speed(rb_node *x)
{
    const rb_stage *s = x->s;
    x->speed = s->given->gravity * s->h;
    for (int r = 0; r < s->set.nrow; r++)
        x->speed = fmax(x->speed, fmax(fabs(x->u0[r]), fabs(x->value[r])));
}

/* More than rounding of positions. */
double rb_node_allowed(const rb_node *x)
{
    return fmax(x->s->attempt.tol * x->speed, 64.0 * RB_EPS * x->s->given->size / x->s->h);
}

double rb_node_loops_share(const rb_node *x)
{
    const rb_stage *s = x->s;
    return fmax(LOOPS_LEFT, LOOPS_OPEN * s->given->open_most / s->h / rb_node_allowed(x));
}
/* Work of a problem from which on its island counts as large, in units of meter.h [1]: some tens of
 * milliseconds. Grams below tons need as many digits as there are, and their answers have few. */
#define COSTLY 1e5

/* Share of the speed that rows other than gaps may miss what was predicted by [1]: how they bend
 * within the step is of second order, and known no better. Not at `strict`. Larger: robots on
 * servos do not come to rest. Smaller: one more round. */
#define MISSED 1e-5

/* Share of the speeds of its rows that a large island may miss what was predicted by, in the mean
 * and except for gaps [1]: it is of second order, and one more problem costs as much as the step.
 * Smaller: walls and piles are solved twice. */
#define LARGE_MISSED 1e-2

int rb_node_is_large(const rb_stage *s, int island)
{
    const int *start = s->set.island_start;
    if (island < 0) return 0;
    int many = start[island + 1] - start[island] > RB_UNIQUE_CONTACTS;
    return many || (s->answer.work && s->answer.work[island] > COSTLY);
}

double rb_node_may_sink(const rb_node *x, int i)
{
    const rb_stage *s = x->s;
    double deep = rb_stage_deep(s, &s->set.c[i].id);
    double left = s->set.c[i].kind > RB_CONSTRAINT_LIMIT ? 0.0 : RB_NODE_HALF * deep + x->goal[i];
    return fmax(fmax(RB_NODE_SINKS * deep, left), 64.0 * RB_EPS * s->given->size) / s->h;
}

/* Largest share of it by which gaps have sunk, of islands that a displacement can lift: those of
 * loops would open. */
static void find_low(rb_node *x)
{
    const rb_stage *s = x->s;
    x->low = 0.0;
    for (int i = 0; i < s->set.n && !x->lifted_not; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind > RB_CONSTRAINT_LIMIT || !rb_node_may_lift(x, c->island)) continue;
        x->low = fmax(x->low, -x->value[c->row] / rb_node_may_sink(x, i));
    }
}

int rb_node_may_lift(const rb_node *x, int island)
{
    const rb_stage *s = x->s;
    if (island < 0 || s->answer.still[island]) return 0;
    int last = s->set.island_order[s->set.island_start[island + 1] - 1];
    return s->set.c[last].kind != RB_CONSTRAINT_EQUALITY;
}

/* Motion of islands in units of what comes to rest, 0 to 1 and more [1]. */
static void find_motion(rb_node *x)
{
    const rb_stage *s = x->s;
    const rb_model *m = s->m;
    double unit = fmin(1.0, s->given->size) / (RB_NODE_HARDLY * s->given->gravity * s->h);
    memset(x->motion, 0, (size_t)s->set.nisland * sizeof *x->motion);
    for (int j = 0; j < m->nv; j++) {
        int island = s->set.tree_island[m->link_tree[m->dof_link[j]]];
        if (island >= 0) x->motion[island] = fmax(x->motion[island], unit * fabs(x->v_mean[j]));
    }
    for (int k = 0; k < s->set.nisland; k++) {
        if (s->answer.still[k]) x->motion[k] = 1.0;
    }
}

/* Rows that were first seen at the end of an answer are shallow: a large island whose new rows are
 * below what weight falls by in a step is lifted out of them, and they take part from the next step
 * on. A further problem would cost as much as the step. */
static int keeps_answer(rb_node *x, int island)
{
    rb_stage *s = x->s;
    if (!rb_node_is_large(s, island) || !rb_node_may_lift(x, island) || x->lifted_not) return 0;
    int begin = s->set.island_start[island], end = s->set.island_start[island + 1];
    for (int k = begin; k < end; k++) {
        int i = s->set.island_order[k];
        if (x->is_new[i] && x->value[s->set.c[i].row] < -s->given->gravity * s->h) return 0;
    }
    for (int k = begin; k < end; k++) {
        const rb_constraint *c = &s->set.c[s->set.island_order[k]];
        if (!x->is_new[s->set.island_order[k]]) continue;
        for (int r = c->row; r < c->row + c->nrow; r++) s->problem.u[r] = x->value[r] - x->Wp[r];
    }
    return 1;
}

void rb_node_keep_answers(rb_node *x)
{
    for (int k = 0; k < x->s->set.nisland; k++) {
        if (x->answered[k] == RB_NODE_ADDED) x->answered[k] = (unsigned char)keeps_answer(x, k);
    }
}

/* How far constraint i misses its answer, in units of what it may [1]; sunk: its gap alone; off:
 * the same where what sinks and what opens have one unit. */
static double share_missed(const rb_node *x, int i, double allowed, double *sunk, double *off)
{
    const rb_stage *s = x->s;
    const rb_constraint *c = &s->set.c[i];
    double normal, other = missed_by(x, i, &normal);
    double least = RB_NODE_LEFT * RB_NODE_LEFT * rb_stage_deep(s, &c->id) / s->h;
    double share = s->attempt.tol > RB_TOL_STRICT ? MISSED : 0.0;
    double moves = c->island >= 0 ? x->motion[c->island] : 1.0;
    double unit = fmax(fmax(allowed, share * x->speed), least);
    if (moves < 1.0) unit = fmax(moves * unit, 64.0 * RB_EPS * s->given->size / s->h);
    *sunk = normal / rb_node_may_sink(x, i);
    if (c->kind == RB_CONSTRAINT_EQUALITY) return *off = other / allowed;
    *off = fmax(other, normal) / unit;
    return fmax(moves < 1.0 ? *off : other / unit, *sunk);
}

/* What rows of a large island may miss in the mean [m/s]. */
static double large_allowed(const rb_node *x, int island, double allowed)
{
    const rb_stage *s = x->s;
    double sum = 0.0;
    int begin = s->set.island_start[island], end = s->set.island_start[island + 1];
    for (int k = begin; k < end; k++) {
        const rb_constraint *c = &s->set.c[s->set.island_order[k]];
        for (int r = c->row; r < c->row + c->nrow; r++) sum += x->u0[r] * x->u0[r];
    }
    return fmax(allowed, LARGE_MISSED * fmax(s->given->gravity * s->h, sqrt(sum / (end - begin))));
}

/* How far a large island, whose gaps are lifted, misses its answer: in the mean of its rows, loops
 * each. */
static double large_missed(const rb_node *x, int island, double allowed)
{
    const rb_stage *s = x->s;
    double loops = 0.0, missed = 0.0;
    int begin = s->set.island_start[island], end = s->set.island_start[island + 1];
    for (int k = begin; k < end; k++) {
        int i = s->set.island_order[k];
        double normal, other = missed_by(x, i, &normal);
        if (s->set.c[i].kind == RB_CONSTRAINT_EQUALITY)
            loops = fmax(loops, other / allowed);
        else
            missed += fmax(other, normal) * fmax(other, normal);
    }
    return fmax(loops, sqrt(missed / (end - begin)) / large_allowed(x, island, allowed));
}

/* How far island k misses its answer; in x->sunk, x->off, what share_missed says of it. */
static double island_missed(rb_node *x, int k, double allowed)
{
    const rb_stage *s = x->s;
    double worst = 0.0, sunk, off;
    if (s->answer.still[k]) return 0.0;
    if (!x->answered[k]) return x->off = INFINITY;
    if (!x->lifted_not && rb_node_is_large(s, k)) {
        worst = large_missed(x, k, allowed);
        x->off = fmax(x->off, worst);
        return worst;
    }
    for (int i = s->set.island_start[k]; i < s->set.island_start[k + 1]; i++) {
        worst = fmax(worst, share_missed(x, s->set.island_order[i], allowed, &sunk, &off));
        x->sunk = fmax(x->sunk, sunk);
        x->off = fmax(x->off, off);
    }
    return worst;
}

double rb_node_missed(rb_node *x)
{
    const rb_stage *s = x->s;
    double worst = 0.0, allowed = rb_node_allowed(x);
    x->sunk = x->off = 0.0;
    find_low(x);
    find_motion(x);
    for (int k = 0; k < s->set.nisland; k++) {
        double share = island_missed(x, k, allowed);
        x->settled[k] = share <= 1.0;
        worst = fmax(worst, share);
    }
    return worst;
}
