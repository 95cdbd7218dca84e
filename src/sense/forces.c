/* What sensors of accelerations and forces need: the forces of the constraints of the last step,
 * the accelerations under them, and what bodies exert on each other.
 *
 * A step ends with a velocity, not with an acceleration. Sensors give the acceleration at the
 * state, with the mean constraint forces of the last step:
 *
 *     M qdd + c = tau + passive + actuation + J' p / h                                    (N.1)
 *
 * f_b, the wrench that its parent exerts on body b, is what makes b and all below it move so:
 *
 *     f_b = I_b (a_b - g) + bias - external_b + sum over children f                       (N.2)
 *
 * External are rb_data.wrench, contacts, the equalities between bodies and spatial tendons, whose
 * ends pull at bodies; what acts through joint coordinates (actuators, springs, fixed tendons) is
 * part of f. As in MuJoCo, but for the armature of spatial tendons, which is left in f. */
#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "dynamics/forward.h"
#include "dynamics/passive.h"
#include "dynamics/place.h"
#include "dynamics/tendon.h"
#include "math/quat.h"
#include "math/spatial.h"
#include "math/vec3.h"
#include "model/path.h"
#include "sense/sense.h"

/* Distance within which a point of a tendon's path is that of a site, in units of the extent of the
 * model [1]: rounding. Larger: of two sites side by side the wrong body may be pulled. */
#define PATH_POINT 1e-12

enum { CONTACT = 0, LIMIT, DRY, EQUALITY }; /* rb_touch_id.kind */

static double per_step(const rb_data *d)
{
    return d->touch_h > 0.0 ? 1.0 / d->touch_h : 0.0;
}

/* ---- forces on bodies -------------------------------------------------------------------------
 */

/* Adds -F at p, -T to the wrench of the parent: what is exerted from outside it need not exert. */
static void add_external(rb_sense *s, int body, const double p[3], const double F[3],
                         const double T[3], double sign)
{
    double arm[3], moment[3], *f = s->wrench + 6 * body;
    rb_sub3(p, s->d->body_p + 3 * body, arm);
    rb_cross3(arm, F, moment);
    rb_axpy3(-sign, F, f);
    rb_axpy3(-sign, moment, f + 3);
    rb_axpy3(-sign, T, f + 3);
}

static void add_contact(rb_sense *s, const rb_touch *t, double scale)
{
    double F[3], T[3];
    rb_rot_t(t->frame, t->p, F);
    rb_rot_t(t->frame, t->p + 3, T);
    add_external(s, s->m->geom_body[t->id.b], t->pos, F, T, scale);
    add_external(s, s->m->geom_body[t->id.a], t->pos, F, T, -scale);
}

/* Connect and weld: rows are the world axes of the point, then of the rotation (D.19). */
static void add_loop(rb_sense *s, const rb_touch *t, double scale)
{
    const rb_model *m = s->m;
    int e = t->id.a, weld = m->eq_type[e] == RB_EQ_WELD;
    static const double none[3] = { 0.0, 0.0, 0.0 };
    double p[3], R[9];
    if (m->eq_type[e] != RB_EQ_CONNECT && !weld) return;
    const double *T = weld ? t->p + 3 : none;
    rb_place(m, s->d, m->eq_obj1[e], m->eq_pos1 + 3 * e, m->eq_quat1 + 4 * e, p, R);
    add_external(s, m->eq_obj1[e], p, t->p, T, scale);
    rb_place(m, s->d, m->eq_obj2[e], m->eq_pos2 + 3 * e, m->eq_quat2 + 4 * e, p, R);
    add_external(s, m->eq_obj2[e], p, t->p, T, -scale);
}

static void add_wrenches(rb_sense *s)
{
    const double *w = s->d->wrench;
    for (int b = 0; b < s->m->nbody; b++, w += 6) {
        double com[3];
        rb_rot(s->d->body_R + 9 * b, s->m->body_com + 3 * b, com);
        rb_add3(com, s->d->body_p + 3 * b, com);
        add_external(s, b, com, w, w + 3, 1.0);
    }
}

/* The body that carries a point of a path: that of the site there, or the first of the link. */
static int body_at(const rb_sense *s, int link, const double x[3])
{
    const rb_model *m = s->m;
    double near = PATH_POINT * m->extent;
    int body = 0;
    while (body < m->nbody - 1 && m->body_link[body] != link) body++;
    for (int i = 0; i < m->nsite; i++) {
        double way[3];
        if (m->body_link[m->site_body[i]] != link) continue;
        rb_sub3(s->d->site_p + 3 * i, x, way);
        if (rb_norm3(way) <= near) return m->site_body[i];
    }
    return body;
}

typedef struct tension {
    rb_sense *s;
    double force;
} tension;

static void add_piece(void *ctx, const rb_path_piece *piece)
{
    static const double none[3] = { 0.0, 0.0, 0.0 };
    const tension *x = ctx;
    double u[3];
    rb_sub3(piece->b, piece->a, u);
    double length = rb_norm3(u);
    if (!(length > 0.0)) return;
    rb_scale3(x->force / (length * piece->divisor), u, u);
    int body_a = body_at(x->s, piece->link_a, piece->a);
    int body_b = body_at(x->s, piece->link_b, piece->b);
    if (body_b > 0) add_external(x->s, body_b, piece->b, u, none, 1.0);
    if (body_a > 0) add_external(x->s, body_a, piece->a, u, none, -1.0);
}

/* A force along the length of a spatial tendon acts at both ends of its straight pieces. */
static void add_tension(rb_sense *s, int tendon, double force)
{
    tension x = { s, force };
    if (s->m->tendon_pathnum[tendon] == 0 || force == 0.0) return;
    rb_path_walk(s->m, tendon, s->d->link_p, s->d->link_R, add_piece, &x);
}

/* Springs, dampers and actuators of spatial tendons. */
static void add_tendons(rb_sense *s)
{
    const rb_model *m = s->m;
    for (int t = 0; t < m->ntendon; t++) {
        if (m->tendon_pathnum[t] > 0) add_tension(s, t, rb_tendon_spring(m, s->d, t));
    }
    for (int u = 0; u < m->nu; u++) {
        if (m->act_transmission[u] != RB_TRN_TENDON) continue;
        double force = m->act_gear[6 * (ptrdiff_t)u] * s->d->act_force[m->act_outadr[u]];
        add_tension(s, m->act_target[u], force);
    }
}

/* ---- forces on dofs ---------------------------------------------------------------------------
 */

/* J'F of a wrench at a point of a link. */
static void project(rb_sense *s, int link, const double p[3], const double F[3], const double T[3],
                    double scale)
{
    const rb_model *m = s->m;
    double arm[3], f[6];
    rb_sub3(p, s->d->link_p + 3 * link, arm);
    rb_cross3(arm, F, f);
    rb_add3(f, T, f);
    rb_copy3(F, f + 3);
    for (int k = link; k > 0; k = m->link_parent[k]) {
        int end = m->link_dofadr[k] + m->link_dofnum[k];
        for (int j = m->link_dofadr[k]; j < end; j++)
            s->force[j] += scale * rb_dot6(s->d->dof_S + 6 * j, f);
        rb_shift_wrench(s->d->link_l + 3 * k, f, f);
    }
}

static void push_contact(rb_sense *s, const rb_touch *t, double scale)
{
    double F[3], T[3];
    rb_rot_t(t->frame, t->p, F);
    rb_rot_t(t->frame, t->p + 3, T);
    project(s, s->m->geom_link[t->id.b], t->pos, F, T, scale);
    project(s, s->m->geom_link[t->id.a], t->pos, F, T, -scale);
}

/* On a dof, or on the dofs that the rate of a measured one depends on. */
static void push_dof(rb_sense *s, int dof, double force)
{
    const rb_model *m = s->m;
    if (dof < m->nv) {
        s->force[dof] += force;
        return;
    }
    int begin = m->gauge_rowadr[dof - m->nv], n = m->gauge_rownum[dof - m->nv];
    for (int i = begin; i < begin + n; i++) s->force[m->gauge_entry[i]] += force * s->d->gauge_J[i];
}

static void push_tendon(rb_sense *s, int tendon, double force)
{
    rb_tendon_row row = rb_tendon_row_of(s->m, s->d, tendon);
    for (int i = 0; i < row.n; i++) push_dof(s, row.dof[i], force * row.J[i]);
    add_tension(s, tendon, force);
}

static void push_limit(rb_sense *s, const rb_touch *t, double scale)
{
    const rb_model *m = s->m;
    int j = t->id.a;
    double force = (t->id.b == 0 ? 1.0 : -1.0) * scale * t->p[0], turn[3], quat[4];
    if (j >= m->njnt_all) {
        push_tendon(s, j - m->njnt_all, force);
    } else if (m->jnt_type[j] == RB_JOINT_BALL) {
        memcpy(quat, s->d->q + m->jnt_qadr[j], sizeof quat);
        rb_quat_normalize(quat);
        rb_quat_log(quat, turn);
        rb_normalize3(turn);
        for (int i = 0; i < 3; i++) push_dof(s, m->jnt_dofadr[j] + i, -force * turn[i]);
    } else {
        push_dof(s, m->jnt_dofadr[j], force);
    }
}

/* Rows of all active equalities, each with its impulses of the last step. */
static rb_status push_loops(rb_sense *s, int first, double scale)
{
    rb_data *d = s->d;
    rb_rows rows;
    rb_status status = rb_loop_rows(s->m, d, &rows);
    if (status != RB_OK) return status;
    int row = 0;
    for (int t = first; t < d->ntouch; t++) {
        while (row < rows.n && rows.eq[row] < d->touch[t].id.a) row++;
        for (int k = 0; k < d->touch[t].nrow && row < rows.n; k++, row++) {
            if (rows.eq[row] != d->touch[t].id.a) break;
            for (int i = rows.start[row]; i < rows.start[row + 1]; i++)
                s->force[rows.dof[i]] += scale * rows.J[i] * d->touch[t].p[k];
        }
    }
    rb_rows_release(d, &rows);
    return RB_OK;
}

static rb_status gather(rb_sense *s)
{
    const rb_data *d = s->d;
    double scale = per_step(d);
    memset(s->force, 0, (size_t)s->m->nv_all * sizeof *s->force);
    memset(s->wrench, 0, 6 * (size_t)s->m->nbody * sizeof *s->wrench);
    add_wrenches(s);
    int i = 0;
    for (; i < d->ntouch && d->touch[i].id.kind < EQUALITY; i++) {
        const rb_touch *t = &d->touch[i];
        if (t->id.kind == CONTACT) {
            add_contact(s, t, scale);
            push_contact(s, t, scale);
        } else if (t->id.kind == LIMIT) {
            push_limit(s, t, scale);
        } else if (t->id.a < s->m->nv_all) {
            push_dof(s, t->id.a, scale * t->p[0]);
        } else {
            push_tendon(s, t->id.a - s->m->nv_all, scale * t->p[0]);
        }
    }
    if (i == d->ntouch) return RB_OK;
    for (int k = i; k < d->ntouch; k++) add_loop(s, &d->touch[k], scale);
    return push_loops(s, i, scale);
}

/* ---- accelerations ----------------------------------------------------------------------------
 */

/* (D.6) from the root to the tips. */
static void accelerate(rb_sense *s)
{
    const rb_model *m = s->m;
    const rb_data *d = s->d;
    memset(s->alpha, 0, 6 * sizeof *s->alpha);
    for (int k = 1; k < m->nlink; k++) {
        double *a = s->alpha + 6 * k;
        rb_shift_motion(d->link_l + 3 * k, s->alpha + 6 * m->link_parent[k], a);
        rb_axpy6(1.0, d->link_a + 6 * k, a);
        int end = m->link_dofadr[k] + m->link_dofnum[k];
        for (int j = m->link_dofadr[k]; j < end; j++) rb_axpy6(s->qdd[j], d->dof_S + 6 * j, a);
    }
}

void rb_felt_acceleration(const rb_sense *s, int body, const double p[3], double a[6])
{
    int k = s->m->body_link[body];
    const double *alpha = s->alpha + 6 * k, *w = s->d->link_w + 3 * k;
    double r[3], turn[3];
    rb_sub3(p, s->d->link_p + 3 * k, r);
    rb_copy3(alpha, a);
    rb_cross3(alpha, r, a + 3);
    rb_cross3(w, r, turn);
    rb_cross3(w, turn, turn);
    rb_add3(a + 3, turn, a + 3);
    rb_add3(a + 3, alpha + 3, a + 3);
    rb_sub3(a + 3, s->m->option.gravity, a + 3);
}

/* R I R' x, I: xx yy zz xy xz yz */
static void inertia_times(const double *R, const double *I, const double x[3], double out[3])
{
    double a[3], b[3];
    rb_rot_t(R, x, a);
    b[0] = I[0] * a[0] + I[3] * a[1] + I[4] * a[2];
    b[1] = I[3] * a[0] + I[1] * a[1] + I[5] * a[2];
    b[2] = I[4] * a[0] + I[5] * a[1] + I[2] * a[2];
    rb_rot(R, b, out);
}

/* (N.2), from the tips to the root. */
static void balance(rb_sense *s)
{
    const rb_model *m = s->m;
    const rb_data *d = s->d;
    for (int b = m->nbody - 1; b > 0; b--) {
        const double *R = d->body_R + 9 * b, *I = m->body_inertia + 6 * b;
        const double *w = d->link_w + 3 * m->body_link[b];
        double arm[3], com[3], a[6], moment[3], L[3], *f = s->wrench + 6 * b;
        rb_rot(R, m->body_com + 3 * b, arm);
        rb_add3(arm, d->body_p + 3 * b, com);
        rb_felt_acceleration(s, b, com, a);
        rb_scale3(m->body_mass[b], a + 3, a + 3);
        rb_cross3(arm, a + 3, moment);
        rb_add3(f, a + 3, f);
        rb_add3(f + 3, moment, f + 3);
        inertia_times(R, I, a, moment);
        inertia_times(R, I, w, L);
        rb_cross3(w, L, L);
        rb_add3(f + 3, moment, f + 3);
        rb_add3(f + 3, L, f + 3);

        double *parent = s->wrench + 6 * m->body_parent[b];
        rb_sub3(d->body_p + 3 * b, d->body_p + 3 * m->body_parent[b], arm);
        rb_cross3(arm, f, moment);
        rb_add3(parent, f, parent);
        rb_add3(parent + 3, f + 3, parent + 3);
        rb_add3(parent + 3, moment, parent + 3);
    }
}

rb_status rb_sense_dynamics(rb_sense *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_status status = gather(s);
    if (status != RB_OK) return status;
    add_tendons(s);
    rb_passive(m, d);
    for (int j = 0; j < m->nv; j++) s->force[j] += d->tau[j] + d->passive[j] + d->actuation[j];
    rb_wrench_force(m, d, s->force);
    status = rb_forward_solve(m, d, NULL, s->force, s->qdd);
    if (status != RB_OK) return status;
    accelerate(s);
    balance(s);
    return RB_OK;
}

/* ---- limits -----------------------------------------------------------------------------------
 */

/* Impulse of the last step at a limit of joint (njnt_all + tendon) `a`. */
static double limit_force(const rb_data *d, int a)
{
    double sum = 0.0;
    for (int i = 0; i < d->ntouch; i++) {
        const rb_touch_id *id = &d->touch[i].id;
        if (id->kind == LIMIT && id->a == a) sum += d->touch[i].p[0];
    }
    return sum * per_step(d);
}

/* Distance to the nearer limit, and its rate. */
typedef struct margin {
    double gap, rate;
} margin;

static margin scalar_margin(const double range[2], double x, double rate)
{
    margin lo = { x - range[0], rate }, hi = { range[1] - x, -rate };
    return lo.gap <= hi.gap ? lo : hi;
}

static margin joint_margin(const rb_sense *s, int j)
{
    const rb_model *m = s->m;
    const double *q = s->d->q + m->jnt_qadr[j], *v = s->d->v + m->jnt_dofadr[j];
    double quat[4], turn[3];
    if (m->jnt_type[j] != RB_JOINT_BALL) return scalar_margin(m->jnt_range + 2 * j, q[0], v[0]);
    memcpy(quat, q, sizeof quat);
    rb_quat_normalize(quat);
    rb_quat_log(quat, turn);
    double angle = rb_norm3(turn);
    double rate = angle > 0.0 ? -rb_dot3(turn, v) / angle : 0.0;
    return (margin){ m->jnt_range[2 * j + 1] - angle, rate };
}

/* A limit that neither is reached nor pushes reads zero. */
void rb_sense_limit(const rb_sense *s, int i, double *out)
{
    const rb_model *m = s->m;
    int type = m->sensor_type[i], k = m->sensor_index[i];
    int tendon = type >= RB_SENSOR_TENDONLIMITPOS;
    int limited = tendon ? m->tendon_limited[k] : m->jnt_limited[k];
    double force = limit_force(s->d, tendon ? m->njnt_all + k : k);
    *out = 0.0;
    if (!limited) return;
    margin x = tendon ? scalar_margin(m->tendon_range + 2 * k, rb_tendon_length(m, s->d, k),
                                      rb_tendon_rate(m, s->d, k))
                      : joint_margin(s, k);
    if (type == RB_SENSOR_JOINTLIMITFRC || type == RB_SENSOR_TENDONLIMITFRC)
        *out = force;
    else if (x.gap < 0.0 || force > 0.0)
        *out = type == RB_SENSOR_JOINTLIMITPOS || type == RB_SENSOR_TENDONLIMITPOS ? x.gap : x.rate;
}
