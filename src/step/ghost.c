/* Leaves out contacts that have a row although the bodies would not meet.
 *
 * A row holds a body on one side of a plane, the one between the closest points at the start of
 * the step. Far from there the plane is not the body. A body that passes beside an edge, by less
 * than the search allows for changes of velocity, would be stopped by it. So the time of impact in
 * free motion is computed for a pair whose row pushes over a gap:
 *
 *     x(t) = x + v t + (v_f - v) t^2 / (2 h),     0 <= t <= h                                 (S.6)
 *
 * The row is left out where the pair stays apart, unless only the bend of the paths keeps it
 * apart: then the plane is right, and a body that slides keeps its row. The motion found without
 * the row is checked in the same way. Where the pair does meet on it, the row comes back. Free and
 * fixed bodies only. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "collide/bounds.h"
#include "collide/shape.h"
#include "math/vec3.h"
#include "step/stage.h"

/* Gap over which a row that pushes is asked, and by which turning may differ from (S.6), in units
 * of the size [1]. Larger: what passes closer by is stopped. Smaller: piles at rest are asked. */
#define GHOST_GAP 1e-6

/* ---- how bodies move --------------------------------------------------------------------------
 */

typedef struct motions {
    double *v, *w;         /* of the centre of mass of each link, and turning, at the start       */
    double *v_end, *w_end; /* and at the end of the way                             (nlink x 3)   */
} motions;

static int take_memory(rb_stage *s, motions *x)
{
    double **all[] = { &x->v, &x->w, &x->v_end, &x->w_end };
    int ok = 1;
    for (int k = 0; k < 4; k++)
        ok = ok && (*all[k] = rb_push(s->d->arena, double, 3 * (size_t)s->m->nlink));
    return ok;
}

/* Velocities of links at the configuration of d. */
static void velocities(rb_stage *s, const double *from, double *v, double *w)
{
    rb_data *d = s->d;
    memcpy(d->v, from, (size_t)s->m->nv * sizeof *from);
    rb_velocity(s->m, d);
    memcpy(w, d->link_w, 3 * (size_t)s->m->nlink * sizeof *w);
    for (int k = 0; k < s->m->nlink; k++) {
        ptrdiff_t at = 3 * (ptrdiff_t)k;
        rb_cross3(w + at, d->link_c + at, v + at);
        rb_add3(v + at, d->link_v + at, v + at);
    }
}

/* A body by itself that is free to move, or a fixed one. */
static int is_plain(const rb_model *m, int link)
{
    if (link == 0) return 1;
    if (m->link_tree[link] < 0 || !rb_stage_is_single(m, link)) return 0;
    return m->link_jntnum[link] == 1 && m->jnt_type[m->link_jntadr[link]] == RB_JOINT_FREE;
}

/* The way of geom g, added to *bend what its points leave the straight line by. 0: it turns less
 * steadily than (S.6) says. */
static int path_of(const rb_stage *s, const motions *x, int g, rb_ballistic *out, double *bend)
{
    int link = s->m->geom_link[g];
    ptrdiff_t at = 3 * (ptrdiff_t)link;
    *out = (rb_ballistic){ .c = { 0.0, 0.0, 0.0 } };
    if (link == 0) return 1;
    double change[3], arm[3];
    rb_shape shape = rb_geom_shape(s->m, s->d, g);
    rb_add3(s->d->link_p + at, s->d->link_c + at, out->c);
    rb_copy3(x->v + at, out->v);
    for (int k = 0; k < 3; k++) {
        out->a[k] = (x->v_end[at + k] - x->v[at + k]) / s->h;
        out->w[k] = 0.5 * (x->w[at + k] + x->w_end[at + k]);
    }
    rb_sub3(x->w_end + at, x->w + at, change);
    rb_sub3(shape.p, out->c, arm);
    double far = rb_norm3(arm) + rb_bounds_arm(&shape);
    *bend += 0.5 * s->h * s->h * (rb_norm3(out->a) + rb_dot3(out->w, out->w) * far);
    return s->h * rb_norm3(change) * far <= GHOST_GAP * s->size;
}

/* 1: the pair certainly stays apart, though a straight way would end by `depth` within the plane
 * and ways do not bend that much. */
static int stays_apart(const rb_stage *s, const motions *x, int geom1, int geom2, double depth)
{
    rb_ballistic way[2];
    rb_toi toi;
    double bend = 0.0;
    if (!path_of(s, x, geom1, &way[0], &bend) || !path_of(s, x, geom2, &way[1], &bend)) return 0;
    if (depth <= bend) return 0;
    rb_shape shape1 = rb_geom_shape(s->m, s->d, geom1);
    rb_shape shape2 = rb_geom_shape(s->m, s->d, geom2);
    if (rb_is_surface(&shape1) || rb_is_surface(&shape2)) return 0;
    rb_status status = rb_toi_shapes(&shape1, &way[0], &shape2, &way[1], s->h, &toi);
    return status == RB_OK && toi.outcome == RB_TOI_NONE;
}

/* ---- who is left out --------------------------------------------------------------------------
 */

static int may_be_ghost(const rb_stage *s, const rb_constraint *c)
{
    return c->kind == RB_CONSTRAINT_CONTACT && s->p[c->row] > 0.0 && c->gap > GHOST_GAP * s->size &&
           is_plain(s->m, s->m->geom_link[c->id.a]) && is_plain(s->m, s->m->geom_link[c->id.b]);
}

int rb_stage_is_ghost(const rb_stage *s, const rb_contact *c)
{
    for (int i = 0; i < s->nghost; i++) {
        if (s->ghost[2 * i] == c->geom1 && s->ghost[2 * i + 1] == c->geom2) return 1;
    }
    return 0;
}

static int count_candidates(const rb_stage *s)
{
    int n = 0;
    for (int i = 0; i < s->set.n; i++) n += may_be_ghost(s, &s->set.c[i]);
    return n;
}

rb_status rb_stage_find_ghosts(rb_stage *s)
{
    motions x;
    int last[2] = { -1, -1 }, most = count_candidates(s);
    s->nghost = 0;
    if (most == 0) return RB_OK;
    s->ghost = rb_push(s->d->arena, int, 2 * (size_t)most);
    rb_mark mark = rb_arena_mark(s->d->arena);
    if (!s->ghost || !take_memory(s, &x)) return RB_NOMEM;
    velocities(s, s->v0, x.v, x.w);
    velocities(s, s->v_free, x.v_end, x.w_end);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (!may_be_ghost(s, c) || (c->id.a == last[0] && c->id.b == last[1])) continue;
        last[0] = c->id.a, last[1] = c->id.b;
        double depth = s->h * (s->bias[c->row] - s->u[c->row]) - c->gap;
        if (!stays_apart(s, &x, last[0], last[1], depth)) continue;
        memcpy(s->ghost + 2 * (ptrdiff_t)s->nghost++, last, sizeof last);
    }
    rb_arena_reset(s->d->arena, mark);
    return RB_OK;
}

rb_status rb_stage_ghosts_meet(rb_stage *s, int *meet)
{
    motions x;
    const rb_model *m = s->m;
    rb_mark mark = rb_arena_mark(s->d->arena);
    if (!take_memory(s, &x)) return RB_NOMEM;
    memcpy(s->d->q, s->q0, (size_t)m->nq * sizeof *s->q0);
    rb_kinematics(m, s->d);
    velocities(s, s->v0, x.v, x.w);
    velocities(s, s->v_new, x.v_end, x.w_end);
    rb_frames(m, s->d);
    for (int k = 1; k < m->nlink; k++) {
        int tree = m->link_tree[k];
        ptrdiff_t at = 3 * (ptrdiff_t)k;
        if (tree < 0 || (!s->pushed[tree] && !s->follows_rows[tree])) continue;
        rb_copy3(x.v_end + at, x.v + at); /* q+ = q (+) h v+ */
        rb_copy3(x.w_end + at, x.w + at);
    }
    *meet = 0;
    for (int i = 0; i < s->nghost && !*meet; i++) {
        *meet = !stays_apart(s, &x, s->ghost[2 * i], s->ghost[2 * i + 1], INFINITY);
    }
    rb_arena_reset(s->d->arena, mark);
    return RB_OK;
}
