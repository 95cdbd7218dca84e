/* Hulls, copied to their arrays with what walking on their surface needs: the twin of each edge,
 * the face it borders, one edge that leaves each vertex, and the planes of the faces. */
#include "model/build.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "math/aim.h"
#include "math/vec3.h"

/* The entry of the loop after entry i, in the same face. */
static int next_entry(const rb_model *m, int face, int i)
{
    int adr = m->hull_loopadr[face];
    return i + 1 < adr + m->hull_loopnum[face] ? i + 1 : adr;
}

/* A hull in the arrays: first vertex, face and entry, and how many. */
typedef struct range {
    int vert, face, loop;
    int nvert, nface, nloop;
} range;

/* Links the edges that leave a vertex: the first one in hull_leave, the next in chain. */
static void chain_edges(rb_model *m, const range *r, int *chain)
{
    int *leave = m->hull_leave + r->vert;
    for (int v = 0; v < r->nvert; v++) leave[v] = -1;
    for (int f = 0; f < r->nface; f++) {
        int adr = m->hull_loopadr[r->face + f];
        for (int i = adr; i < adr + m->hull_loopnum[r->face + f]; i++) {
            m->hull_owner[i] = f;
            chain[i - r->loop] = leave[m->hull_loop[i]];
            leave[m->hull_loop[i]] = i;
        }
    }
}

/* Entry from b to a; -1: none. */
static int find_twin(const rb_model *m, const range *r, const int *chain, int a, int b)
{
    for (int i = m->hull_leave[r->vert + b]; i >= 0; i = chain[i - r->loop]) {
        if (m->hull_loop[next_entry(m, r->face + m->hull_owner[i], i)] == a) return i;
    }
    return -1;
}

/* 0: the surface is not closed. */
static int pair_edges(rb_model *m, const range *r, const int *chain)
{
    for (int i = r->loop; i < r->loop + r->nloop; i++) {
        int a = m->hull_loop[i], b = m->hull_loop[next_entry(m, r->face + m->hull_owner[i], i)];
        m->hull_twin[i] = find_twin(m, r, chain, a, b);
        if (m->hull_twin[i] < 0 || a == b) return 0;
    }
    for (int i = r->loop; i < r->loop + r->nloop; i++) {
        int twin = m->hull_twin[i];
        if (m->hull_twin[twin] != i) return 0;
        m->hull_turn[i] = next_entry(m, r->face + m->hull_owner[twin], twin);
    }
    for (int v = 0; v < r->nvert; v++) {
        if (m->hull_leave[r->vert + v] < 0) return 0;
    }
    return 1;
}

/* Newell's normal about the first corner, and the farthest corner along it: no corner is outside.
 */
static void fill_plane(rb_model *m, const range *r, int f)
{
    const double *vert = m->hull_vert + 3 * (ptrdiff_t)r->vert;
    const int *loop = m->hull_loop + m->hull_loopadr[r->face + f];
    double *plane = m->hull_plane + 4 * (ptrdiff_t)(r->face + f), n[3] = { 0.0, 0.0, 0.0 };
    const double *origin = vert + 3 * (ptrdiff_t)loop[0];
    int count = m->hull_loopnum[r->face + f];
    for (int i = 1; i + 1 < count; i++) {
        double a[3], b[3], c[3];
        rb_sub3(vert + 3 * (ptrdiff_t)loop[i], origin, a);
        rb_sub3(vert + 3 * (ptrdiff_t)loop[i + 1], origin, b);
        rb_cross3(a, b, c);
        rb_add3(n, c, n);
    }
    rb_normalize3(n);
    rb_copy3(n, plane);
    plane[3] = rb_dot3(n, origin);
    for (int i = 1; i < count; i++) {
        plane[3] = fmax(plane[3], rb_dot3(n, vert + 3 * (ptrdiff_t)loop[i]));
    }
}

/* Distance of the nearest face from x, which goes to *nearest. */
static double depth_at(const rb_model *m, const range *r, const double x[3], int *nearest)
{
    double least = INFINITY;
    for (int f = r->face; f < r->face + r->nface; f++) {
        const double *plane = m->hull_plane + 4 * (ptrdiff_t)f;
        double depth = plane[3] - rb_dot3(plane, x);
        if (depth >= least) continue;
        least = depth;
        *nearest = f;
    }
    return least;
}

/* Steps towards the middle of the largest ball inside [1]: it is found to a few per cent. Fewer: a
 * geom counts as thinner than it is, and motion through it is looked at more often. */
enum { BALL_STEPS = 64 };

/* Radius of a ball inside, about the largest one: from the mean of the corners away from the
 * nearest face, by shorter and shorter steps. The origin of the frame may be outside. */
static double inner_of(const rb_model *m, const range *r)
{
    double x[3] = { 0.0, 0.0, 0.0 }, most;
    int nearest = r->face;
    if (r->nface == 0) return 0.0;
    for (int v = r->vert; v < r->vert + r->nvert; v++)
        rb_axpy3(1.0 / r->nvert, m->hull_vert + 3 * (ptrdiff_t)v, x);
    double reach = most = depth_at(m, r, x, &nearest);
    for (int k = 1; k <= BALL_STEPS; k++) {
        rb_axpy3(-reach / k, m->hull_plane + 4 * (ptrdiff_t)nearest, x);
        most = rb_larger(most, depth_at(m, r, x, &nearest));
    }
    return rb_larger(0.0, most);
}

static void fill_stars(rb_model *m, const range *r)
{
    int at = r->loop;
    for (int v = r->vert; v < r->vert + r->nvert; v++) {
        int first = m->hull_leave[v], entry = first;
        m->hull_star[2 * (ptrdiff_t)v] = at;
        do {
            m->hull_next[at++] = m->hull_loop[m->hull_twin[entry]];
            entry = m->hull_turn[entry];
        } while (entry != first);
        m->hull_star[2 * (ptrdiff_t)v + 1] = at;
    }
}

/* From neighbour to neighbour while it rises. */
static int climb(const rb_model *m, const range *r, const double d[3], int from)
{
    const double *vert = m->hull_vert + 3 * (ptrdiff_t)r->vert;
    double most = rb_dot3(d, vert + 3 * (ptrdiff_t)from);
    for (int left = r->nvert, at = -1; left > 0 && at != from; left--) {
        const int *star = m->hull_star + 2 * (ptrdiff_t)(r->vert + from);
        at = from;
        for (int i = star[0]; i < star[1]; i++) {
            double here = rb_dot3(d, vert + 3 * (ptrdiff_t)m->hull_next[i]);
            if (here <= most) continue;
            most = here;
            from = m->hull_next[i];
        }
    }
    return from;
}

static void fill_aims(rb_model *m, const range *r, int *aim)
{
    for (int cell = 0, at = 0; cell < RB_AIMS; cell++) {
        double d[3];
        rb_aim_middle(cell, d);
        aim[cell] = at = climb(m, r, d, at);
    }
}

rb_status rb_fill_hull(rb_build *b, int mesh, int loop)
{
    rb_model *m = b->m;
    range r = { .vert = m->mesh_hullvertadr[mesh],
                .face = m->mesh_hullfaceadr[mesh],
                .loop = loop,
                .nvert = m->mesh_hullvertnum[mesh],
                .nface = m->mesh_hullfacenum[mesh] };
    if (r.nvert == 0) return RB_OK;
    for (int f = 0; f < r.nface; f++) r.nloop += m->hull_loopnum[r.face + f];

    rb_mark mark = rb_arena_mark(b->scratch);
    int *chain = rb_push(b->scratch, int, r.nloop);
    if (!chain) return rb_build_nomem(b);
    chain_edges(m, &r, chain);
    int closed = pair_edges(m, &r, chain);
    rb_arena_reset(b->scratch, mark);
    if (!closed) {
        const rb_mesh_def *def = RB_DEFS(b, mesh, MESH) + mesh;
        return rb_fail(b->err, RB_BAD_INPUT,
                       "mesh %d (%.100s): its hull is no closed surface: expected every edge once "
                       "in each direction",
                       mesh, def->name ? def->name : "");
    }
    for (int f = 0; f < r.nface; f++) fill_plane(m, &r, f);
    m->mesh_inner[mesh] = inner_of(m, &r);
    fill_stars(m, &r);
    fill_aims(m, &r, m->hull_aim + (ptrdiff_t)RB_AIMS * mesh);
    return RB_OK;
}
