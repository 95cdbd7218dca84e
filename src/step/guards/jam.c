/* Finds out why a step has no answer: a jam.
 *
 * Rows u = J v + c ask for u in the dual cones K*. No motion does that if, and only if, there are
 * impulses p in the cones K that balance each other while the rows they press come closer
 * [Farkas]:
 *
 *     J'p = 0,   p in K,   p.c < 0          then   p.u = p.c < 0   for every v               (S.41)
 *
 * Such a self-stress is looked for among the generators g_k of the cones, p = sum z_k g_k. First
 * with normals alone: this proves that the bodies cannot come apart whatever friction does. Then
 * with edges of the friction cones: this shows that friction keeps the bodies from moving apart.
 * The self-stress is the limit of the impulses, per compliance, for a trace eps of compliance,
 *
 *     0 <= z  _|_  (G'WG + eps) z + G'u - eps z_before >= 0,    z - z_before -> ray          (S.42)
 *
 * repeated until the change balances. What is left of W shrinks by eps / (eps + its eigenvalue)
 * each time. The answer of the solver is checked by J'p itself. With friction a ray is only a
 * necessary sign, since slip may help (S.43). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "contact/slip.h"
#include "math/trig.h"
#include "step/problems.h"

enum {
    EDGES = 16,       /* of a friction cone                                                       */
    MAX_EDGES = 1200, /* generators of one island; above that it is not asked for friction        */
    ROUNDS = 8        /* of (S.42)                                                                */
};

/* eps as a share of the largest diagonal of G'WG [1]. */
#define JAM_TRACE 1e-6

/* Length of J'p in the metric of M^-1 against that of its parts below which p balances [1]. A body
 * that yields by a millionth of the squeeze has 1e-6. */
#define JAM_BALANCE 1e-9

/* Closing speed of the self-stress against the largest speed of its rows below which it closes
 * nothing [1]. */
#define JAM_CLOSING 1e-9

/* Share of the largest impulse below which a constraint has no part in the self-stress [1]. */
#define JAM_PART 1e-6

typedef struct edge {
    int constraint;
    int row[3]; /* of the island, -1: none */
    double along[3];
} edge;

typedef struct search {
    const rb_stage *s;
    const rb_island *is;
    rb_arena *arena;
    int n;
    edge *g;    /*                                                                  (n)      */
    double *A;  /* G'WG + eps                                                       (n x n)  */
    double *q;  /*                                                                  (n)      */
    double *z;  /* of this round and the one before                                 (n)      */
    double *z0; /*                                                                  (n)      */
    double *p;  /* the ray: impulses of the rows                                    (nrow)   */
} search;

/* ---- generators -------------------------------------------------------------------------------
 */

/* Vertex j of the friction of a contact, per normal impulse. */
static void friction_edge(const rb_constraint *c, int j, double t[2])
{
    if (c->polygon) {
        t[0] = c->polygon_side * c->polygon[2 * j];
        t[1] = c->polygon[2 * j + 1];
        return;
    }
    double mu = fmax(c->material.friction, c->material.friction_static), across = mu;
    if (!isnan(c->material.friction_across)) across = c->material.friction_across;
    rb_sincos((2.0 * RB_PI) * j / EDGES, &t[1], &t[0]);
    t[0] *= mu;
    t[1] *= across;
}

/* Generators of constraint i, appended to g; NULL: only counted. Bounded friction of joints is no
 * cone: it cannot hold against what grows. */
static int edges_of(const rb_island *is, int i, int friction, edge *g)
{
    const rb_constraint *c = is->c[i];
    int row = is->row[i], n = 0;
    if (c->kind == RB_CONSTRAINT_EQUALITY) {
        for (int r = 0; r < 2 * c->nrow; r++, n++) {
            double sign = r % 2 ? -1.0 : 1.0;
            if (g) g[n] = (edge){ i, { row + r / 2, -1, -1 }, { sign, 0.0, 0.0 } };
        }
    } else if (c->kind != RB_CONSTRAINT_DRY) {
        int count = !friction || c->kind != RB_CONSTRAINT_CONTACT || c->nrow < 3 ? 1
                    : c->polygon                                                 ? c->npolygon
                                                                                 : EDGES;
        for (int j = 0; j < count; j++, n++) {
            if (!g) continue;
            double t[2] = { 0.0, 0.0 };
            if (count > 1) friction_edge(c, j, t);
            g[n] = (edge){ i, { row, count > 1 ? row + 1 : -1, row + 2 }, { 1.0, t[0], t[1] } };
        }
    }
    return n;
}

static double product(const search *x, const edge *a, const edge *b)
{
    double sum = 0.0;
    for (int i = 0; i < 3 && a->row[i] >= 0; i++) {
        for (int j = 0; j < 3 && b->row[j] >= 0; j++) {
            sum += a->along[i] * rb_island_entry(x->is, a->row[i], b->row[j]) * b->along[j];
        }
    }
    return sum;
}

static rb_status list_edges(search *x, int friction)
{
    x->n = 0;
    for (int i = 0; i < x->is->n; i++) x->n += edges_of(x->is, i, friction, NULL);
    size_t n = (size_t)x->n;
    if (x->n > MAX_EDGES) return RB_TOO_LARGE;
    x->g = rb_push(x->arena, edge, n);
    x->A = rb_push(x->arena, double, n *n);
    x->q = rb_push(x->arena, double, n);
    x->z = rb_push(x->arena, double, n);
    x->z0 = rb_push(x->arena, double, n);
    x->p = rb_push(x->arena, double, x->is->nrow);
    if (!x->g || !x->A || !x->q || !x->z || !x->z0 || !x->p) return RB_NOMEM;
    int at = 0;
    for (int i = 0; i < x->is->n; i++) at += edges_of(x->is, i, friction, x->g + at);
    return RB_OK;
}

/* ---- the ray ----------------------------------------------------------------------------------
 */

/* p = G (z - z0), what is negative by rounding left out. */
static void take_ray(search *x)
{
    memset(x->p, 0, (size_t)x->is->nrow * sizeof *x->p);
    for (int k = 0; k < x->n; k++) {
        double more = fmax(0.0, x->z[k] - x->z0[k]);
        for (int i = 0; i < 3 && x->g[k].row[i] >= 0; i++)
            x->p[x->g[k].row[i]] += x->g[k].along[i] * more;
    }
}

/* p'Wp against the same of its parts, and p.u against its parts: is it a self-stress? */
static int balances(const search *x, double *closing)
{
    double length = 0.0, parts = 0.0, speed = 0.0, size = 0.0, sum = 0.0;
    for (int i = 0; i < x->is->nrow; i++) {
        if (x->p[i] == 0.0) continue;
        for (int j = 0; j < x->is->nrow; j++)
            length += x->p[i] * rb_island_entry(x->is, i, j) * x->p[j];
        parts += fabs(x->p[i]) * sqrt(rb_island_entry(x->is, i, i));
        sum += x->p[i] * x->is->u[i];
        speed = fmax(speed, fabs(x->is->u[i]));
        size += fabs(x->p[i]);
    }
    *closing = size > 0.0 ? -sum / size : 0.0;
    if (!(parts > 0.0)) return 0;
    return sqrt(fmax(0.0, length)) <= JAM_BALANCE * parts && *closing > JAM_CLOSING * speed;
}

/* 1: x->p is a self-stress that closes. */
static int find_ray(search *x, int friction, double *closing)
{
    if (list_edges(x, friction) != RB_OK || x->n == 0) return 0;
    ptrdiff_t n = x->n;
    double largest = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t j = 0; j < n; j++) x->A[i * n + j] = product(x, &x->g[i], &x->g[j]);
        largest = fmax(largest, x->A[i * n + i]);
        x->z0[i] = 0.0;
    }
    double eps = JAM_TRACE * largest;
    if (!(eps > 0.0)) return 0;
    for (ptrdiff_t i = 0; i < n; i++) x->A[i * n + i] += eps;

    rb_solve_opts opts = rb_solve_opts_default();
    opts.arena = x->arena;
    for (int round = 0; round < ROUNDS; round++) {
        rb_info info = { 0 };
        rb_problem p = {
            .kind = RB_LCP, .n = x->n, .q = x->q, .W = { .form = RB_DENSE, .dense = x->A }
        };
        for (int k = 0; k < x->n; k++) {
            x->q[k] = -eps * x->z0[k];
            for (int i = 0; i < 3 && x->g[k].row[i] >= 0; i++)
                x->q[k] += x->g[k].along[i] * x->is->u[x->g[k].row[i]];
            x->z[k] = x->z0[k];
        }
        if (rb_solve(&p, &opts, x->z, &info) != RB_OK || info.outcome != RB_SOLVED) return 0;
        take_ray(x);
        if (balances(x, closing)) return 1;
        memcpy(x->z0, x->z, (size_t)x->n * sizeof *x->z);
    }
    return 0;
}

/* ---- the message ------------------------------------------------------------------------------
 */

/* "left and box", "limit of joint elbow", ... */
static void name_part(const rb_model *m, const rb_touch_id *id, char *text, size_t size)
{
    char a[160], b[160];
    int joint = id->a < m->njnt;
    switch (id->kind) {
    case RB_CONSTRAINT_CONTACT:
        snprintf(text, size, "%s and %s", rb_geom_title(m, id->a, a, sizeof a),
                 rb_geom_title(m, id->b, b, sizeof b));
        return;
    case RB_CONSTRAINT_LIMIT:
        snprintf(text, size, "the limit of %.100s",
                 joint ? rb_model_name(m, RB_KIND_JOINT, id->a, a, sizeof a)
                       : rb_model_name(m, RB_KIND_TENDON, id->a - m->njnt, a, sizeof a));
        return;
    default:
        snprintf(text, size, "equality %d (%.100s)", id->a,
                 rb_model_name(m, RB_KIND_EQUALITY, id->a, a, sizeof a));
    }
}

static double part_size(const search *x, int i)
{
    const rb_constraint *c = x->is->c[i];
    double most = 0.0;
    for (int r = 0; r < c->nrow; r++) most = fmax(most, fabs(x->p[x->is->row[i] + r]));
    return most;
}

/* Parts of the self-stress, scaled so that the largest impulse is 1. */
static void fill_info(search *x, double largest, double closing)
{
    const rb_stage *s = x->s;
    rb_step_info *info = s->info;
    info->njam = 0;
    info->jam_speed = closing;
    for (int i = 0; i < x->is->n; i++) {
        const rb_constraint *c = x->is->c[i];
        if (part_size(x, i) < JAM_PART * largest) continue;
        if (info->njam++ >= RB_JAM_MAX) continue;
        rb_jam_part *part = &info->jam[info->njam - 1];
        *part = (rb_jam_part){ .id = c->id, .nrow = c->nrow < 6 ? c->nrow : 6 };
        for (int r = 0; r < part->nrow; r++) part->p[r] = x->p[x->is->row[i] + r] / largest;
        if (c->kind != RB_CONSTRAINT_CONTACT) continue;
        memcpy(part->pos, s->set.point + 3 * c->object, sizeof part->pos);
        memcpy(part->frame, s->set.frame + 9 * c->object, sizeof part->frame);
    }
}

/* The pairs by name, each once: points of one pair follow each other. */
static void write_text(const rb_stage *s, int friction)
{
    const rb_step_info *info = s->info;
    char text[400] = "", name[340];
    size_t at = 0;
    int kept = info->njam < RB_JAM_MAX ? info->njam : RB_JAM_MAX;
    for (int i = 0; i < kept; i++) {
        const rb_touch_id *id = &info->jam[i].id, *before = i > 0 ? &info->jam[i - 1].id : NULL;
        if (before && before->kind == id->kind && before->a == id->a && before->b == id->b)
            continue;
        name_part(s->m, id, name, sizeof name);
        int wrote = snprintf(text + at, sizeof text - at, "%s%s", at ? "; " : "", name);
        if (wrote < 0 || (size_t)wrote >= sizeof text - at) {
            text[at] = '\0';
            break;
        }
        at += (size_t)wrote;
    }
    rb_fail(s->err, RB_JAMMED, "%s hold each other%s, closing at %.3g m/s", text,
            friction ? " by friction" : "", info->jam_speed);
}

/* Contacts of the self-stress that are still open: a part of the step may be done. */
static int is_closed(const search *x, double largest)
{
    for (int i = 0; i < x->is->n; i++) {
        const rb_constraint *c = x->is->c[i];
        int one_sided = c->kind <= RB_CONSTRAINT_LIMIT;
        if (one_sided && c->gap > RB_GAP_ZERO * x->s->given->size &&
            part_size(x, i) >= JAM_PART * largest)
            return 0;
    }
    return 1;
}

static rb_status jam_of_island(rb_stage *s, int index)
{
    rb_island island;
    rb_arena *arena = s->d->arena;
    rb_status status = rb_island_open(s->m, s->d, &s->set, index, s->h, arena, &island);
    if (status != RB_OK) return status;
    for (int i = 0; i < island.n; i++) {
        const rb_constraint *c = island.c[i];
        memcpy(island.u + island.row[i], s->problem.u + c->row, (size_t)c->nrow * sizeof *island.u);
    }
    for (int friction = 0; friction < 2; friction++) {
        search x = { .s = s, .is = &island, .arena = arena };
        double closing = 0.0, largest = 0.0;
        if (!find_ray(&x, friction, &closing)) continue;
        for (int i = 0; i < island.n; i++) largest = fmax(largest, part_size(&x, i));
        if (!s->attempt.final && !is_closed(&x, largest)) return RB_UNSOLVED;
        fill_info(&x, largest, closing);
        write_text(s, friction);
        return RB_JAMMED;
    }
    return RB_UNSOLVED;
}

rb_status rb_stage_jam(rb_stage *s)
{
    rb_arena *arena = s->d->arena;
    for (int i = 0; i < s->set.nisland; i++) {
        rb_mark mark = rb_arena_mark(arena);
        rb_status status = jam_of_island(s, i);
        rb_arena_reset(arena, mark);
        if (status != RB_UNSOLVED) return status;
    }
    return RB_UNSOLVED;
}
