/* What happened, from poses and velocities alone. Depths are signed: negative is a distance, exact
 * for the pairs that the scenes have. */
#include "peer.h"

#include <math.h>
#include <string.h>

#define NEAR     0.02 /* [m] engines with forecast contacts act before touching              */
#define TOUCH    1e-4 /* [m] counts as the first contact                                     */
#define LOST     1e4  /* [m] a body this far away is gone                                    */
#define OVERHANG 0.01 /* [m] of a corner beyond the face below it                            */
#define FAR      (-1e9)

typedef struct placed {
    const peer_geom *g;
    double p[3], q[4]; /* of the shape, world */
} placed;

static placed place(const peer_scene *s, const peer_state *x, int k)
{
    placed a = { .g = &s->geom[k] };
    if (a.g->body < 0) {
        memcpy(a.p, a.g->pos, sizeof a.p);
        memcpy(a.q, a.g->quat, sizeof a.q);
        return a;
    }
    const peer_state *b = &x[a.g->body];
    peer_turn(b->q, a.g->pos, a.p);
    for (int i = 0; i < 3; i++) a.p[i] += b->p[i];
    peer_quat_multiply(b->q, a.g->quat, a.q);
    return a;
}

/* ---- depths ------------------------------------------------------------------------------------
 */

static double plane_depth(const placed *plane, const placed *a)
{
    static const double up[3] = { 0.0, 0.0, 1.0 };
    double n[3], l[3], e[3];
    peer_turn(plane->q, up, n);
    peer_turn_back(a->q, n, l);
    for (int i = 0; i < 3; i++) e[i] = a->p[i] - plane->p[i];
    double height = peer_dot(n, e);
    const double *size = a->g->size;
    if (a->g->shape == PEER_SPHERE) return size[0] - height;
    if (a->g->shape == PEER_CAPSULE) return size[0] + size[1] * fabs(l[2]) - height;
    return size[0] * fabs(l[0]) + size[1] * fabs(l[1]) + size[2] * fabs(l[2]) - height;
}

static double sphere_sphere(const placed *a, const placed *b)
{
    double e[3];
    for (int i = 0; i < 3; i++) e[i] = a->p[i] - b->p[i];
    return a->g->size[0] + b->g->size[0] - sqrt(peer_dot(e, e));
}

static double sphere_box(const placed *ball, const placed *box)
{
    double e[3], l[3], out = 0.0, in = FAR;
    for (int i = 0; i < 3; i++) e[i] = ball->p[i] - box->p[i];
    peer_turn_back(box->q, e, l);
    for (int i = 0; i < 3; i++) {
        double beyond = fabs(l[i]) - box->g->size[i];
        in = fmax(in, beyond);
        if (beyond > 0.0) out += beyond * beyond;
    }
    return ball->g->size[0] - (in > 0.0 ? sqrt(out) : in);
}

/* Corners of b below the face of a that looks at b: for boxes that lie on each other. */
static double corners_depth(const placed *a, const placed *b)
{
    double e[3], l[3], depth = FAR;
    for (int i = 0; i < 3; i++) e[i] = b->p[i] - a->p[i];
    peer_turn_back(a->q, e, l);
    int axis = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(l[i]) - a->g->size[i] > fabs(l[axis]) - a->g->size[axis]) axis = i;
    double side = copysign(1.0, l[axis]);
    for (int k = 0; k < 8; k++) {
        double c[3], w[3];
        for (int i = 0; i < 3; i++) c[i] = (k >> i & 1 ? 1.0 : -1.0) * b->g->size[i];
        peer_turn(b->q, c, w);
        for (int i = 0; i < 3; i++) w[i] += e[i];
        peer_turn_back(a->q, w, c);
        int above = 1;
        for (int i = 0; i < 3; i++)
            if (i != axis && fabs(c[i]) > a->g->size[i] + OVERHANG) above = 0;
        if (above) depth = fmax(depth, a->g->size[axis] - side * c[axis]);
    }
    return depth;
}

static double depth_of(const placed *a, const placed *b)
{
    peer_shape s = a->g->shape, t = b->g->shape;
    if (s == PEER_PLANE) return plane_depth(a, b);
    if (t == PEER_PLANE) return plane_depth(b, a);
    if (s == PEER_SPHERE && t == PEER_SPHERE) return sphere_sphere(a, b);
    if (s == PEER_SPHERE && t == PEER_BOX) return sphere_box(a, b);
    if (s == PEER_BOX && t == PEER_SPHERE) return sphere_box(b, a);
    if (s == PEER_BOX && t == PEER_BOX) return fmax(corners_depth(a, b), corners_depth(b, a));
    return FAR;
}

static int may_touch(const peer_scene *s, const peer_geom *a, const peer_geom *b)
{
    if (a->body == b->body) return 0;
    if (a->body < 0 || b->body < 0) {
        /* a link on a fixed hinge never touches what the hinge is fixed to in another engine's
         * eyes, but in these scenes it may: the world is no parent */
        return 1;
    }
    return s->self_collide && s->body[a->body].parent != b->body &&
           s->body[b->body].parent != a->body;
}

/* The deepest overlap; *square gets the sum of squares of all. */
static double deepest(const peer_scene *s, const peer_state *x, double *square)
{
    double depth = FAR;
    *square = 0.0;
    for (int i = 0; i < s->ngeom; i++) {
        placed a = place(s, x, i);
        for (int j = i + 1; j < s->ngeom; j++) {
            if (!may_touch(s, a.g, &s->geom[j])) continue;
            placed b = place(s, x, j);
            double own = depth_of(&a, &b);
            depth = fmax(depth, own);
            if (own > 0.0) *square += own * own;
        }
    }
    return depth;
}

/* ---- energy, joints ----------------------------------------------------------------------------
 */

static double energy(const peer_scene *s, const peer_state *x)
{
    double E = 0.0;
    for (int i = 0; i < s->nbody; i++) {
        const peer_body *b = &s->body[i];
        double w[3];
        peer_turn_back(x[i].q, x[i].w, w);
        E += 0.5 * b->mass * peer_dot(x[i].v, x[i].v) - b->mass * peer_dot(s->gravity, x[i].p);
        for (int k = 0; k < 3; k++) E += 0.5 * b->inertia[k] * w[k] * w[k];
    }
    return E;
}

/* Where the anchor of hinge i is, as seen by body b. */
static void anchor_at(const peer_scene *s, const peer_state *x, int i, int b, double *out)
{
    double e[3], l[3];
    const double *anchor = s->body[i].anchor;
    if (b < 0) {
        memcpy(out, anchor, 3 * sizeof *out);
        return;
    }
    for (int k = 0; k < 3; k++) e[k] = anchor[k] - s->body[b].pos[k];
    peer_turn_back(s->body[b].quat, e, l);
    peer_turn(x[b].q, l, out);
    for (int k = 0; k < 3; k++) out[k] += x[b].p[k];
}

static double joint_opening(const peer_scene *s, const peer_state *x)
{
    double worst = 0.0;
    for (int i = 0; i < s->nbody; i++) {
        double a[3], b[3];
        if (s->body[i].joint != PEER_HINGE) continue;
        anchor_at(s, x, i, i, a);
        anchor_at(s, x, i, s->body[i].parent, b);
        for (int k = 0; k < 3; k++) a[k] -= b[k];
        worst = fmax(worst, sqrt(peer_dot(a, a)));
    }
    return worst;
}

static int gone(const peer_scene *s, const peer_state *x)
{
    for (int i = 0; i < s->nbody; i++)
        for (int k = 0; k < 3; k++)
            if (!(fabs(x[i].p[k]) < LOST)) return 1;
    return 0;
}

void peer_measure(const peer_scene *s, const peer_state *x, double t, peer_metrics *k)
{
    if (gone(s, x)) {
        k->lost = 1;
        return;
    }
    double square, E = energy(s, x), depth = deepest(s, x, &square), step[3];
    if (k->samples == 0) {
        k->E_start = k->E_low = E;
        k->touched = -1.0;
        memcpy(k->last, x[0].p, sizeof k->last);
    }
    k->E_end = E;
    k->E_square += (E - k->E_start) * (E - k->E_start);
    k->pen_square += square;
    k->E_low = fmin(k->E_low, E);
    k->E_made = fmax(k->E_made, E - k->E_low);
    if (depth > -NEAR) k->near = 1;
    if (!k->near) {
        k->E_dev_free = fmax(k->E_dev_free, fabs(E - k->E_start));
        k->E_lost_free = fmax(k->E_lost_free, k->E_start - E);
    }
    if (k->touched < 0.0 && t > 0.0 && depth > -TOUCH) k->touched = t;
    k->pen_end = fmax(0.0, depth);
    k->pen_max = fmax(k->pen_max, depth);
    k->pen_sum += k->pen_end;
    k->joint_max = fmax(k->joint_max, joint_opening(s, x));
    for (int i = 0; i < 3; i++) step[i] = x[0].p[i] - k->last[i];
    k->path += sqrt(peer_dot(step, step));
    memcpy(k->last, x[0].p, sizeof k->last);
    k->speed_end = 0.0;
    for (int i = 0; i < s->nbody; i++)
        k->speed_end = fmax(k->speed_end, sqrt(peer_dot(x[i].v, x[i].v)));
    k->samples++;
}
