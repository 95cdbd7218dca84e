/* Links of one mechanism whose overlap belongs to the model: it exists at all positions of the
 * joints between them. Such geoms are parts of a joint that are drawn too large; no motion opens
 * the overlap, so that a contact there has no meaning.
 *
 *     gap(q_k) < -1e-5 size    for all samples q_k of the joints between the two links      (F.10)
 *
 * Samples of one joint are even and have both ends of its range; of several, the corners of the box
 * of their ranges and points of Halton's sequence in it. Links are examined with at most
 * MOST_LINKS links between them, and only geoms that overlap at the reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "collide/near.h"
#include "contact/contact.h"
#include "math/quat.h"

enum {
    MOST_LINKS = 3, /* that move between two links                                             */
    MOST_DOFS = 12, /* of their joints                                                         */
    EVEN = 33,      /* samples of one joint                                                    */
    CORNERS = 5,    /* dofs whose corners are sampled                                          */
    SCATTERED = 96, /* samples of several                                                      */
    MOST_LOOKS = 1000000 /* at pairs, in all                                                     */
};

#define HALF_TURN 3.14159265358979324 /* [rad] */

/* A coordinate of a joint between the links. */
typedef struct slot {
    int joint, axis; /* axis of the rotation vector of a ball                                    */
    double lo, hi;
} slot;

typedef struct search {
    const rb_model *m;
    rb_data *d;
    rb_contact *found, *seen; /*                                             (touch_max)         */
    int nfound, looks;
    double deep; /* gap below which two overlap [m]                                              */
    rb_error *err;
    slot at[MOST_DOFS];
    int n;
} search;

/* ---- the joints between two links --------------------------------------------------------------
 */

/* The links on the way from a to b, without the one that carries both; -1: too many. */
static int list_path(const rb_model *m, int a, int b, int path[MOST_LINKS])
{
    int n = 0;
    while (a != b) {
        int *deeper = a > b ? &a : &b;
        if (n == MOST_LINKS) return -1;
        path[n++] = *deeper;
        *deeper = m->link_parent[*deeper];
    }
    return n;
}

static void range_of(const rb_model *m, int j, double *lo, double *hi)
{
    int hinge = m->jnt_type[j] == RB_JOINT_HINGE;
    double half = hinge ? HALF_TURN : m->extent, middle = m->qpos0[m->jnt_qadr[j]];
    *lo = m->jnt_limited[j] ? m->jnt_range[2 * j] : middle - half;
    *hi = m->jnt_limited[j] ? m->jnt_range[2 * j + 1] : middle + half;
}

/* 0: one of them is free, or there are too many. */
static int add_joint(search *x, int j)
{
    const rb_model *m = x->m;
    int ball = m->jnt_type[j] == RB_JOINT_BALL;
    if (m->jnt_type[j] == RB_JOINT_FREE || x->n + (ball ? 3 : 1) > MOST_DOFS) return 0;
    if (!ball) {
        slot *s = &x->at[x->n++];
        s->joint = j;
        range_of(m, j, &s->lo, &s->hi);
        return 1;
    }
    double most = m->jnt_limited[j] ? m->jnt_range[2 * j + 1] : HALF_TURN;
    for (int k = 0; k < 3; k++) {
        double half = most / sqrt(3.0);
        x->at[x->n++] = (slot){ .joint = j, .axis = k, .lo = -half, .hi = half };
    }
    return 1;
}

/* 0: the links are too far from each other, or one is free of the other. */
static int list_joints(search *x, int link1, int link2)
{
    const rb_model *m = x->m;
    int path[MOST_LINKS], n = list_path(m, link1, link2, path);
    x->n = 0;
    for (int i = 0; i < n; i++) {
        if (m->link_jntnum[path[i]] == 0) return 0; /* moved by the caller */
        for (int k = 0; k < m->link_jntnum[path[i]]; k++) {
            if (!add_joint(x, m->link_jntadr[path[i]] + k)) return 0;
        }
    }
    return n > 0 && x->n > 0;
}

/* ---- samples -----------------------------------------------------------------------------------
 */

/* Digits of k in that base after the point, from the last one on. */
static double halton(int k, int base)
{
    double share = 1.0, sum = 0.0;
    for (; k > 0; k /= base) {
        share /= base;
        sum += share * (k % base);
    }
    return sum;
}

static int corners_of(const search *x)
{
    return 1 << (x->n < CORNERS ? x->n : CORNERS);
}

static int sample_count(const search *x)
{
    return x->n == 1 ? EVEN : corners_of(x) + SCATTERED;
}

/* Place of coordinate i in its range at sample k, 0 to 1. */
static double place_of(const search *x, int k, int i)
{
    static const int prime[MOST_DOFS] = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37 };
    if (x->n == 1) return (double)k / (EVEN - 1);
    if (k >= corners_of(x)) return halton(k - corners_of(x) + 1, prime[i]);
    return i < CORNERS ? (double)(k >> i & 1) : 0.5;
}

static void go_to(search *x, int k)
{
    const rb_model *m = x->m;
    double turn[3];
    for (int i = 0; i < x->n; i++) {
        const slot *s = &x->at[i];
        double value = s->lo + place_of(x, k, i) * (s->hi - s->lo);
        double *q = x->d->q + m->jnt_qadr[s->joint];
        if (m->jnt_type[s->joint] != RB_JOINT_BALL) {
            *q = value;
            continue;
        }
        turn[s->axis] = value;
        if (s->axis == 2) rb_quat_exp(turn, q);
    }
}

static void look(search *x)
{
    rb_kinematics(x->m, x->d);
    rb_velocity(x->m, x->d);
    rb_frames(x->m, x->d);
}

/* At the reference, within the ranges of the joints. */
static void restore_pose(search *x)
{
    const rb_model *m = x->m;
    memcpy(x->d->q, m->qpos0, (size_t)m->nq * sizeof *x->d->q);
    for (int j = 0; j < m->njnt; j++) {
        double *q = x->d->q + m->jnt_qadr[j];
        int scalar = m->jnt_type[j] == RB_JOINT_HINGE || m->jnt_type[j] == RB_JOINT_SLIDE;
        if (!scalar || !m->jnt_limited[j]) continue;
        *q = fmin(fmax(*q, m->jnt_range[2 * j]), m->jnt_range[2 * j + 1]);
    }
}

/* ---- pairs -------------------------------------------------------------------------------------
 */

/* Deeper than the least anywhere: the deepest point of the pair. */
static rb_status overlaps(search *x, int g1, int g2, int *yes)
{
    int pair[1][3] = { { g1, g2, -1 } }, n = 0;
    rb_near near = { .known = 1, .n = 1, .capacity = 1, .pair = pair };
    *yes = 0;
    look(x);
    rb_status status =
        rb_collide_near(x->m, x->d, 0.0, 0.0, &near, x->d->touch_max, x->seen, &n, x->err);
    if (status == RB_FULL) {
        n = x->d->touch_max;
        status = RB_OK;
    }
    for (int i = 0; i < n && status == RB_OK; i++) *yes |= x->seen[i].at.gap < -x->deep;
    return status;
}

/* (F.10) of the pair; d is at the reference before and after. */
static rb_status lasts(search *x, int g1, int g2, int *yes)
{
    const rb_model *m = x->m;
    rb_status status = RB_OK;
    *yes = list_joints(x, m->geom_link[g1], m->geom_link[g2]);
    for (int k = 0; *yes && k < sample_count(x) && status == RB_OK; k++) {
        if (++x->looks > MOST_LOOKS / (1 + m->nlink)) {
            *yes = 0;
            break;
        }
        go_to(x, k);
        status = overlaps(x, g1, g2, yes);
    }
    restore_pose(x);
    return status;
}

static rb_status find_overlaps(search *x)
{
    restore_pose(x);
    look(x);
    rb_status status =
        rb_collide(x->m, x->d, 0.0, 0.0, x->d->touch_max, x->found, &x->nfound, x->err);
    if (status == RB_FULL) {
        x->nfound = x->d->touch_max;
        status = RB_OK;
    }
    return status;
}

/* ---- the spec ----------------------------------------------------------------------------------
 */

/* Geoms of a model are those of its spec, by bodies. */
static void number_geoms(rb_spec *spec, const rb_model *m, int *in_spec)
{
    int *next = in_spec + m->ngeom;
    for (int b = 0, at = 0; b < m->nbody; b++) {
        next[b] = at;
        at += m->body_geomnum[b];
    }
    for (int g = 0; g < m->ngeom; g++) in_spec[next[rb_spec_geom(spec, g)->body]++] = g;
}

static rb_status leave_out(rb_spec *spec, const search *x, const int *in_spec, int g1, int g2)
{
    const rb_model *m = x->m;
    char a[120], b[120], text[400];
    rb_pair_def def = rb_pair_default();
    def.geom1 = in_spec[g1];
    def.geom2 = in_spec[g2];
    def.where = rb_spec_geom(spec, def.geom2)->where;
    def.never = 1;
    snprintf(text, sizeof text,
             "%s and %s overlap at every position of the joints between them: they are left out of "
             "contact; an explicit <pair> keeps them",
             rb_geom_title(m, g1, a, sizeof a), rb_geom_title(m, g2, b, sizeof b));
    rb_warning warning = { .where = def.where, .element = "geom", .text = text, .physics = 2 };
    if (rb_spec_add_pair(spec, &def, x->err) < 0) return x->err ? x->err->status : RB_BAD_INPUT;
    return rb_spec_warn(spec, &warning);
}

static rb_status run(rb_spec *spec, search *x, int *in_spec, int *count)
{
    number_geoms(spec, x->m, in_spec);
    rb_status status = find_overlaps(x);
    for (int i = 0; i < x->nfound && status == RB_OK; i++) {
        const rb_contact *c = &x->found[i];
        int yes = 0, again = i > 0 && c[-1].geom1 == c->geom1 && c[-1].geom2 == c->geom2;
        if (c->pair >= 0 || again) continue;
        status = lasts(x, c->geom1, c->geom2, &yes);
        if (status == RB_OK && yes) {
            status = leave_out(spec, x, in_spec, c->geom1, c->geom2);
            ++*count;
        }
    }
    return status;
}

rb_status rb_spec_leave_out(rb_spec *spec, const rb_model *m, const rb_alloc *alloc, int *count,
                            rb_error *err)
{
    enum { ROOM = 4096 };
    *count = 0;
    if (m->ngeom != rb_spec_count(spec, RB_KIND_GEOM) || m->nlink < 2) return RB_OK;
    rb_data *d = rb_data_new(m, alloc);
    rb_status status = d ? rb_data_reserve(m, &d, ROOM) : RB_NOMEM;
    if (status == RB_OK) {
        search x = { .m = m, .d = d, .deep = RB_GAP_INNER * m->extent, .err = err };
        int *in_spec = rb_push(d->arena, int, (size_t)m->ngeom + (size_t)m->nbody);
        x.found = rb_push(d->arena, rb_contact, d->touch_max);
        x.seen = rb_push(d->arena, rb_contact, d->touch_max);
        status = in_spec && x.found && x.seen ? run(spec, &x, in_spec, count) : RB_NOMEM;
    }
    rb_data_free(d);
    if (status == RB_UNSUPPORTED) return RB_OK; /* the step will say so, where they meet */
    return status;
}
