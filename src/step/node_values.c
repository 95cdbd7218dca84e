/* What rows have come to at the end of the step: values(q+) of the node rule (S.102).
 *
 *     contacts   normal: (gap(q+) - goal) / h;  tangents: displacement of the two material points
 *                that touched at the node, over h;  torsion, rolling: turn of the bodies, over h
 *     limits     (gap(q+) - goal) / h
 *     loops      (error(q+) - goal) / h
 *     friction   displacement of the joint, over h
 *
 * A normal whose contact is not seen at the end has the gap of its material points. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "dynamics/placed.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "step/node.h"

/* ---- the end ----------------------------------------------------------------------------------
 */

/* d at the end of the step, where it stands still: contacts are those within the margin. */
static rb_status find_contacts(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_data *d = s->d;
    memcpy(d->q, s->q_new, (size_t)m->nq * sizeof *d->q);
    memset(d->v, 0, (size_t)m->nv * sizeof *d->v);
    rb_stage_led_pose(s, s->h);
    rb_placed_frames(m, d);
    rb_velocity(m, d);
    rb_status status = rb_collide(m, d, s->h, x->slack, d->touch_max, x->end, &x->nend, s->err);
    if (status == RB_FULL) s->info->contacts = x->nend;
    return status;
}

static rb_touch_id id_of(const rb_contact *c)
{
    return (rb_touch_id){ RB_CONSTRAINT_CONTACT, c->geom1, c->geom2, c->at.feature };
}

/* gap: both lists are sorted. */
static void match(rb_node *x)
{
    const rb_constraints *set = &x->s->set;
    for (int i = 0, k = 0; i < set->ncontact; i++) {
        x->gap[i] = NAN;
        while (k < x->nend) {
            rb_touch_id id = id_of(&x->end[k]);
            int order = rb_touch_order(&id, &set->c[i].id);
            if (order == 0) x->gap[i] = x->end[k].at.gap - set->c[i].floor;
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
    double D[3]; /* displacement of that [m]                                                     */
    double w[3]; /* turn: the antisymmetric part of R - 1, times its axis [rad]                  */
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

/* Turn of link k since the node: R - R' over 2. */
static void turn(const rb_node *x, int k, double out[3])
{
    const double *A = x->R0 + 9 * (ptrdiff_t)k, *B = x->s->d->link_R + 9 * (ptrdiff_t)k;
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        out[i] = 0.5 * (rb_dot3(B + 3 * b, A + 3 * a) - rb_dot3(B + 3 * a, A + 3 * b));
    }
}

/* Motion of the links of contacts i to end - 1, at the middle of these on each of them. */
static void face_motion(const rb_node *x, int i, int end, motion of[2])
{
    const rb_stage *s = x->s;
    const int geom[2] = { s->set.c[i].id.a, s->set.c[i].id.b };
    for (int side = 0; side < 2; side++) {
        int link = s->m->geom_link[geom[side]];
        double *c = of[side].c;
        c[0] = c[1] = c[2] = 0.0;
        for (int k = i; k < end; k++)
            rb_axpy3(1.0 / (end - i), s->set.acts + 6 * (ptrdiff_t)s->set.c[k].object + 3 * side,
                     c);
        displace(x, link, c, of[side].D);
        turn(x, link, of[side].w);
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

/* Velocity of a belt on geom g, within the plane of the contact. */
static void add_belt(const rb_node *x, int g, double sign, double D[3])
{
    const double *own = x->s->m->geom_surface + 3 * (ptrdiff_t)g;
    double run[3];
    if (own[0] == 0.0 && own[1] == 0.0 && own[2] == 0.0) return;
    rb_rot(x->s->d->geom_R + 9 * (ptrdiff_t)g, own, run);
    rb_axpy3(sign * x->s->h, run, D);
}

/* Tangents of the contacts between two links have the values of one rigid motion, d + w x r: points
 * of a face that turns would be asked to stretch by the square of its angle otherwise. */
static void contact_values(rb_node *x, int i, const motion of[2])
{
    rb_stage *s = x->s;
    const rb_constraint *c = &s->set.c[i];
    const double *frame = s->set.frame + 9 * (ptrdiff_t)c->object;
    const double *at = s->set.acts + 6 * (ptrdiff_t)c->object;
    double *u = x->value + c->row, D1[3], D[3];
    point_motion(&of[0], at, D1);
    point_motion(&of[1], at + 3, D);
    rb_sub3(D, D1, D);
    double gap = isnan(x->gap[i]) ? c->gap + rb_dot3(frame, D) : x->gap[i];
    u[0] = (gap - x->goal[i]) / s->h;
    if (c->nrow == 1) return;
    add_belt(x, c->id.a, -1.0, D);
    add_belt(x, c->id.b, 1.0, D);
    u[1] = rb_dot3(frame + 3, D) / s->h;
    u[2] = rb_dot3(frame + 6, D) / s->h;
    rb_sub3(of[1].w, of[0].w, D);
    for (int k = 3; k < c->nrow; k++) u[k] = rb_dot3(frame + 3 * (k - 3), D) / s->h;
}

/* Contacts between the same two links stand together. */
static void all_contact_values(rb_node *x)
{
    const rb_constraints *set = &x->s->set;
    const int *link = x->s->m->geom_link;
    for (int i = 0; i < set->ncontact;) {
        motion of[2];
        int end = i + 1;
        while (end < set->ncontact && link[set->c[end].id.a] == link[set->c[i].id.a] &&
               link[set->c[end].id.b] == link[set->c[i].id.b])
            end++;
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
            int repeated = rb_stage_is_repeated(s, c->id.a, i - first);
            x->value[c->row + i - first] = repeated ? 0.0 : (rows.error[i] - goal) / s->h;
        }
    }
    rb_rows_release(s->d, &rows);
    return RB_OK;
}

rb_status rb_node_look(rb_node *x)
{
    rb_stage *s = x->s;
    rb_status status = find_contacts(x);
    if (status != RB_OK) return status;
    match(x);
    rb_difference(s->m, s->q0, s->q_new, x->v_mean);
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

/* Velocity by which the rows of constraint i miss what p asks for: u = s->u + Wp was foretold. */
static double missed_by(const rb_node *x, int i, double *normal)
{
    const rb_stage *s = x->s;
    const rb_constraint *c = &s->set.c[i];
    const double *p = s->p + c->row, *u = x->value + c->row;
    double foretold[6];
    *normal = 0.0;
    for (int r = 0; r < c->nrow; r++) foretold[r] = s->u[c->row + r] + x->Wp[c->row + r];
    if (c->kind == RB_CONSTRAINT_EQUALITY) return distance(u, foretold, c->nrow);
    if (c->kind == RB_CONSTRAINT_DRY) {
        if (fabs(p[0]) < c->bound) return fabs(u[0]);
        return u[0] * p[0] > 0.0 ? fabs(u[0]) : 0.0;
    }
    if (c->kind == RB_CONSTRAINT_CONTACT && x->bounces[i]) {
        *normal = fmax(0.0, -u[0]);
        return 0.0;
    }
    *normal = p[0] > 0.0 ? fabs(u[0]) : fmax(0.0, -u[0]);
    if (p[0] == 0.0) return 0.0;
    return c->nrow > 1 ? distance(u + 1, foretold + 1, c->nrow - 1) : 0.0;
}

void rb_node_find_speed(rb_node *x)
{
    const rb_stage *s = x->s;
    x->speed = s->gravity * s->h;
    for (int r = 0; r < s->set.nrow; r++)
        x->speed = fmax(x->speed, fmax(fabs(x->u0[r]), fabs(x->value[r])));
}

/* More than rounding of positions. */
double rb_node_allowed(const rb_node *x)
{
    return fmax(x->s->tol * x->speed, 64.0 * RB_EPS * x->s->size / x->s->h);
}

double rb_node_missed(const rb_node *x)
{
    const rb_stage *s = x->s;
    double worst = 0.0, allowed = rb_node_allowed(x);
    for (int i = 0; i < s->set.n; i++) {
        double normal, other = missed_by(x, i, &normal);
        double deep = 0.25 * rb_stage_deep(s, &s->set.c[i].id) / s->h;
        worst = fmax(worst, fmax(other / allowed, normal / fmax(allowed, deep)));
    }
    return worst;
}
