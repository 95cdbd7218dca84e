/* GJK ends with one of many simplices: any three corners of the face of the difference D that is
 * nearest, in any order. What they name is unique, two vertices, a vertex and an edge, two edges,
 * or a vertex and a face, and has a direction of its own:
 *
 *     n ~ x2 - x1,   (1 - u u')(x2 - x1),   u1 x u2,   +- the normal of the face          (G.11)
 *
 * A search that begins with the simplex of the pose before ends soon, and gives the bits of one
 * that begins anywhere. */
#include "collide/simplex.h"

#include "base/constants.h"
#include "math/vec3.h"

/* Sine of the angle of two edges whose cross product is as sharp as their difference [1]. */
#define CROSSES 0.1

/* The different names on one side of a simplex, ascending. */
typedef struct names {
    int n, id[3];
} names;

/* ---- from pose to pose ------------------------------------------------------------------------
 */

static int corner_of(rb_couple *couple, const int id[2], rb_corner *corner)
{
    corner->id1 = id[0];
    corner->id2 = id[1];
    if (!rb_core_corner(&couple->core1, id[0], corner->x1)) return 0;
    if (!rb_core_corner(&couple->core2, id[1], corner->x2)) return 0;
    rb_sub3(corner->x2, corner->x1, corner->w);
    return 1;
}

static int resume_along(rb_couple *couple, const double n[3], rb_gjk *out)
{
    double back[3] = { -n[0], -n[1], -n[2] };
    if (!rb_is_unit3(n)) return 0;
    rb_core_aim(&couple->core1, n);
    rb_core_aim(&couple->core2, back);
    rb_gjk_begin(couple, n, out);
    return out->lower > RB_FAR * couple->scale;
}

int rb_simplex_resume(rb_couple *couple, const rb_warm *warm, rb_gjk *out)
{
    int n = warm->ncorner;
    if (couple->curved || n < 0 || n > 3) return 0;
    if (n == 0) return resume_along(couple, warm->n, out);
    for (int i = 0; i < n; i++) {
        if (!corner_of(couple, warm->corner[i], &out->p[i])) return 0;
    }
    couple->core1.hint = warm->corner[0][0];
    couple->core2.hint = warm->corner[0][1];
    rb_gjk_begin_at(n, out);
    return out->distance > RB_FAR * couple->scale;
}

void rb_simplex_keep(const rb_couple *couple, const rb_gjk *gjk, rb_warm *warm)
{
    warm->ncorner = gjk->n < 4 && !couple->curved ? gjk->n : 0;
    for (int i = 0; i < warm->ncorner; i++) {
        warm->corner[i][0] = gjk->p[i].id1;
        warm->corner[i][1] = gjk->p[i].id2;
    }
}

/* ---- what it names ----------------------------------------------------------------------------
 */

static names names_of(const rb_gjk *gjk, int second)
{
    names s = { 0 };
    for (int i = 0; i < gjk->n; i++) {
        int id = second ? gjk->p[i].id2 : gjk->p[i].id1, at = s.n, known = 0;
        for (int j = 0; j < s.n; j++) known |= s.id[j] == id;
        if (known) continue;
        for (; at > 0 && s.id[at - 1] > id; at--) s.id[at] = s.id[at - 1];
        s.id[at] = id;
        s.n++;
    }
    return s;
}

static int has_vertex(const rb_poly *p, int face, int vertex)
{
    const int *loop = p->loop + p->loopadr[face];
    for (int i = 0; i < p->loopnum[face]; i++) {
        if (loop[i] == vertex) return 1;
    }
    return 0;
}

/* The face of a polyhedron that has these three vertices. -1: none. */
static int face_of(const rb_poly *p, const names *s)
{
    int first = p->leave[s->id[0]], entry = first;
    do {
        int face = p->owner[entry];
        if (has_vertex(p, face, s->id[1]) && has_vertex(p, face, s->id[2])) return face;
        entry = rb_poly_turn(p, entry);
    } while (entry != first);
    return -1;
}

/* Any vertices of a face identify it; its first one is used. */
static int along_face(const rb_core *core, names *s, double n[3])
{
    const rb_poly *p = &core->poly;
    int face = face_of(p, s);
    if (face < 0) return 0;
    s->id[0] = p->loop[p->loopadr[face]];
    rb_rot(core->R, p->plane + 4 * (ptrdiff_t)face, n);
    return 1;
}

double rb_separation_from(rb_couple *couple, int id1, int id2, const double n[3])
{
    couple->core1.hint = id1;
    couple->core2.hint = id2;
    couple->seen = 0;
    return rb_couple_separation(couple, n);
}

static void edge_of(const rb_core *core, const names *s, double u[3])
{
    double x[3];
    if (core->kind == RB_CORE_SEGMENT) {
        rb_core_axis(core, 2, u);
        return;
    }
    rb_core_vertex(core, s->id[0], x);
    rb_core_vertex(core, s->id[1], u);
    rb_sub3(u, x, u);
    rb_unit(u);
}

/* Nearly parallel ones are subtracted first, as in (G.5). */
double rb_edges_across(const double u1[3], const double u2[3], double n[3])
{
    double rest[3];
    rb_copy3(u1, rest);
    rb_axpy3(rb_dot3(u1, u2) < 0.0 ? 1.0 : -1.0, u2, rest);
    rb_cross3(u2, rest, n);
    return rb_unit(n);
}

static int across_edges(const rb_couple *couple, const names *s1, const names *s2, double n[3])
{
    double u1[3], u2[3];
    edge_of(&couple->core1, s1, u1);
    edge_of(&couple->core2, s2, u2);
    return rb_edges_across(u1, u2, n) > CROSSES;
}

/* From the difference of two vertices, without its part along the edge of either core. */
static int across_one(const rb_couple *couple, const names *s1, const names *s2, double n[3])
{
    double x[3], u[3];
    rb_core_corner(&couple->core1, s1->id[0], x);
    rb_core_corner(&couple->core2, s2->id[0], n);
    rb_sub3(n, x, n);
    if (s1->n + s2->n == 3) {
        if (s1->n == 2)
            edge_of(&couple->core1, s1, u);
        else
            edge_of(&couple->core2, s2, u);
        rb_axpy3(-rb_dot3(n, u), u, n);
        rb_axpy3(-rb_dot3(n, u), u, n); /* what rounding left */
    }
    return rb_unit(n) > 0.0;
}

int rb_simplex_direction(rb_couple *couple, const rb_gjk *gjk, double n[3], double *s)
{
    names s1 = names_of(gjk, 0), s2 = names_of(gjk, 1);
    int known = 0;
    if (s1.n + s2.n <= 3)
        known = across_one(couple, &s1, &s2, n);
    else if (s1.n == 2 && s2.n == 2 && gjk->n == 3)
        known = across_edges(couple, &s1, &s2, n);
    else if (s1.n == 3 && s2.n == 1)
        known = along_face(&couple->core1, &s1, n);
    else if (s1.n == 1 && s2.n == 3)
        known = along_face(&couple->core2, &s2, n);
    if (!known) return 0;
    rb_scale3(rb_dot3(n, gjk->v) < 0.0 ? -1.0 : 1.0, n, n);
    for (int k = 0; k < 3; k++) n[k] += 0.0; /* one zero, not two */
    *s = rb_separation_from(couple, s1.id[0], s2.id[0], n);
    return *s >= gjk->distance - RB_GAP_SHARP * couple->scale;
}
