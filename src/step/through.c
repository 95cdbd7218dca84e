/* Bodies that are on the other side at the end of a step.
 *
 * Rows hold bodies apart to first order, and the gaps at the new position tell what is left of it:
 * an overlap. A body that moves by more than its own thickness may leave no overlap behind. It hit
 * something hard with a corner and turns by many radians, or a bounce threw it at what no row was
 * taken of. So where the centre of a free body's geom moves by more than the radius of the ball
 * about it that fits into the geom, its way, straight from the old place to the new one, must not
 * cut another geom:
 *
 *     x(t) = x0 + (x+ - x0) t / h   outside of all others that the step could reach        (S.56)
 *
 * A shorter way cannot lead through anything without an overlap at one of its ends. What fails is
 * halved as other steps are (S.16), and refused in the end. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "collide/bounds.h"
#include "collide/shape.h"
#include "math/vec3.h"
#include "step/stage.h"

/* Radius of what stands for the centre, as a share of that of the inner ball [1]. */
#define POINT 1e-3

/* Triangles are seen from outside: the inner ball is looked at in places that are not farther apart
 * than this share of its radius, and is through where it overlaps by as much [1]. */
#define LOOK 0.5

enum { LOOKS = 10000 };

/* ---- who goes far -----------------------------------------------------------------------------
 */

static int is_free(const rb_model *m, int link)
{
    if (link == 0 || m->link_tree[link] < 0 || !rb_stage_is_single(m, link)) return 0;
    return m->link_jntnum[link] == 1 && m->jnt_type[m->link_jntadr[link]] == RB_JOINT_FREE;
}

/* Distance of the centre of geom g from the origin of its link, at most [m]. */
static double arm_of(const rb_model *m, int g)
{
    return rb_norm3(m->body_link_pos + 3 * (ptrdiff_t)m->geom_body[g]) +
           rb_norm3(m->geom_pos + 3 * (ptrdiff_t)g);
}

/* The most that the centre of geom g moves with the velocities given [m]. */
static double travel(const rb_stage *s, int g, const double *v)
{
    v += s->m->link_dofadr[s->m->geom_link[g]];
    return s->h * rb_norm3(v) + fmin(s->h * rb_norm3(v + 3), 2.0) * arm_of(s->m, g);
}

/* It could be behind something that it is outside of now. The radius of a hull costs a look at all
 * its faces, and few bodies move by as much as half of their extent. */
static int goes_far(const rb_stage *s, int g)
{
    const rb_model *m = s->m;
    if (!is_free(m, m->geom_link[g])) return 0;
    double way = fmax(travel(s, g, s->v0), travel(s, g, s->v_new));
    rb_shape shape = { .type = m->geom_type[g],
                       .size = m->geom_size + 3 * (ptrdiff_t)g,
                       .model = m,
                       .asset = m->geom_asset[g] };
    if (shape.type == RB_GEOM_MESH) {
        const double *half = m->mesh_half + 3 * (ptrdiff_t)shape.asset;
        if (way < 0.1 * fmin(half[0], fmin(half[1], half[2]))) return 0;
    }
    double inner = rb_bounds_inner(&shape);
    return inner > 0.0 && way >= inner;
}

/* ---- its way ----------------------------------------------------------------------------------
 */

typedef struct ends {
    double *from, *to; /* centres of all geoms at q0 and at q_new [m]              (ngeom x 3) */
} ends;

static void go_to(rb_stage *s, const double *q, double t, double *p)
{
    rb_data *d = s->d;
    memcpy(d->q, q, (size_t)s->m->nq * sizeof *q);
    rb_stage_led_pose(s, t);
    rb_kinematics(s->m, d);
    rb_frames(s->m, d);
    memcpy(p, d->geom_p, 3 * (size_t)s->m->ngeom * sizeof *p);
}

static rb_ballistic way_of(const rb_stage *s, const ends *x, int g)
{
    rb_ballistic way = { .c = { 0.0, 0.0, 0.0 } };
    ptrdiff_t at = 3 * (ptrdiff_t)g;
    rb_copy3(x->from + at, way.c);
    for (int k = 0; k < 3; k++) way.v[k] = (x->to[at + k] - x->from[at + k]) / s->h;
    return way;
}

/* The inner ball of a geom goes through the triangles of the surface; d is at q0. */
static int cuts_surface(const rb_stage *s, const rb_shape *ball, const rb_ballistic *way,
                        const rb_shape *surface)
{
    double p[3], speed = rb_norm3(way->v), inner = ball->size[0], t = 0.0;
    rb_shape now = *ball;
    now.p = p;
    for (int i = 0; i < LOOKS && t <= s->h; i++) {
        rb_manifold found = { .n = 0 };
        for (int k = 0; k < 3; k++) p[k] = way->c[k] + t * way->v[k];
        if (rb_pair_manifold(surface, &now, speed * (s->h - t) + inner, &found) != RB_OK) return 0;
        double gap = found.n > 0 ? INFINITY : 0.0;
        for (int k = 0; k < found.n; k++) gap = fmin(gap, found.point[k].gap);
        if (gap < -LOOK * inner) return 1;
        t += fmax(gap, LOOK * inner) / speed;
    }
    return 0;
}

/* The centre of geom g goes through geom other; d is at q0. */
static int cuts(const rb_stage *s, const ends *x, int g, int other)
{
    rb_shape shape = rb_geom_shape(s->m, s->d, g), wall = rb_geom_shape(s->m, s->d, other);
    rb_ballistic way = way_of(s, x, g), its = way_of(s, x, other);
    double inner = rb_bounds_inner(&shape), radius[3] = { inner, inner, inner };
    rb_shape ball = {
        .type = RB_GEOM_SPHERE, .size = radius, .p = shape.p, .R = shape.R, .asset = -1
    };
    rb_toi toi;
    rb_sub3(way.v, its.v, way.v); /* as the other one sees it */
    if (s->h * rb_norm3(way.v) < inner) return 0;
    if (rb_is_surface(&wall)) return cuts_surface(s, &ball, &way, &wall);
    radius[0] = POINT * inner;
    rb_zero3(its.v);
    rb_status status = rb_toi_shapes(&ball, &way, &wall, &its, s->h, &toi);
    return status == RB_OK && toi.outcome == RB_TOI_HIT;
}

/* ---- the step ---------------------------------------------------------------------------------
 */

/* Some point of the pair is not held by rows: it is watched by its gap. */
static int flies(const rb_stage *s, const rb_contact *c)
{
    return !rb_flight_holds(s->flight, c->geom1, c->geom2, c->at.feature);
}

static rb_status refuse(const rb_stage *s, const rb_contact *c)
{
    char first[64], second[64];
    return rb_fail(s->err, RB_UNSOLVED, "%s and %s would pass through each other: shorten the step",
                   rb_model_name(s->m, RB_KIND_GEOM, c->geom1, first, sizeof first),
                   rb_model_name(s->m, RB_KIND_GEOM, c->geom2, second, sizeof second));
}

/* By how much the velocity of a point of what goes far may change within the step, as it turns, at
 * most [m/s]. */
static double slack_of(const rb_stage *s, const unsigned char *far)
{
    const rb_model *m = s->m;
    double most = 0.0;
    for (int g = 0; g < m->ngeom; g++) {
        if (!far[g]) continue;
        rb_shape shape = rb_geom_shape(m, s->d, g);
        double w = rb_norm3(s->v_new + m->link_dofadr[m->geom_link[g]] + 3);
        most = fmax(most, 2.0 * w * (arm_of(m, g) + rb_bounds_arm(&shape)));
    }
    return most + s->gravity * s->h;
}

static rb_status look_at(rb_stage *s, const unsigned char *far)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    size_t room = 3 * (size_t)m->ngeom;
    ends x = { rb_push(d->arena, double, room), rb_push(d->arena, double, room) };
    rb_contact *found = rb_push(d->arena, rb_contact, d->touch_max);
    if (!x.from || !x.to || !found) return RB_NOMEM;
    go_to(s, s->q_new, s->h, x.to);
    go_to(s, s->q0, 0.0, x.from);
    rb_stage_way(s, d->v);
    rb_velocity(m, d);
    int n = 0;
    rb_status status = rb_collide(m, d, s->h, slack_of(s, far), d->touch_max, found, &n, s->err);
    if (status == RB_FULL) s->info->contacts = n;
    for (int i = 0; i < n && status == RB_OK; i++) {
        const rb_contact *c = &found[i];
        int first = i == 0 || found[i - 1].geom1 != c->geom1 || found[i - 1].geom2 != c->geom2;
        if (!first || flies(s, c)) continue;
        if ((far[c->geom1] && cuts(s, &x, c->geom1, c->geom2)) ||
            (far[c->geom2] && cuts(s, &x, c->geom2, c->geom1)))
            status = refuse(s, c);
    }
    return status;
}

rb_status rb_stage_through(rb_stage *s)
{
    const rb_model *m = s->m;
    int any = 0;
    rb_mark mark = rb_arena_mark(s->d->arena);
    unsigned char *far = rb_push(s->d->arena, unsigned char, m->ngeom);
    if (!far) return RB_NOMEM;
    for (int g = 0; g < m->ngeom; g++) any |= far[g] = (unsigned char)goes_far(s, g);
    rb_status status = any ? look_at(s, far) : RB_OK;
    rb_arena_reset(s->d->arena, mark);
    return status;
}
