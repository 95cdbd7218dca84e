/* The expanding polytope algorithm [van den Bergen 2001]. A polyhedron P inside the difference
 * D = {x2 - x1} contains the origin; m is the outward normal of its nearest face, at distance d:
 *
 *     d  <=  depth  <=  max over D of m.w                                                  (G.12)
 *
 * While both differ, P grows by the corner that attains the maximum. On polyhedra this ends with a
 * face of D; on curved cores the difference shrinks by a constant factor in a few steps. */
#include "collide/depth.h"

#include "base/constants.h"
#include "collide/segment.h"
#include "math/vec3.h"

enum { MAX_CORNERS = RB_DEPTH_STEPS + 4, MAX_FACES = 3 * MAX_CORNERS, MAX_RIM = 48 };

typedef struct face {
    int v[3], next[3]; /* corners; face beyond the side from v[k] to v[k + 1]       */
    double m[3], d;    /* outward unit normal, distance of its plane from the origin */
    int gone;
} face;

typedef struct polytope {
    int ncorner, nface, nfree;
    rb_corner corner[MAX_CORNERS];
    face face[MAX_FACES];
    int free[MAX_FACES]; /* free places of removed faces */
    double scale;
} polytope;

/* Corner of D that is extreme along m. */
static void farthest(rb_couple *couple, const double m[3], rb_corner *corner)
{
    double n[3] = { -m[0], -m[1], -m[2] };
    rb_couple_corner(couple, n, corner);
}

/* ---- the first tetrahedron --------------------------------------------------------------------
 */

/* Adds the corner that is farthest from the plane (or line) through those there are, along m and
 * -m. 0: D has no extent there. */
static int extend(rb_couple *couple, polytope *p, const double m[3])
{
    double most = 0.0, back[3] = { -m[0], -m[1], -m[2] };
    rb_corner best, corner;
    best = p->corner[0];
    for (int side = 0; side < 2; side++) {
        double r[3];
        farthest(couple, side ? back : m, &corner);
        rb_sub3(corner.w, p->corner[0].w, r);
        double far = fabs(rb_dot3(r, m));
        if (far <= most) continue;
        most = far;
        best = corner;
    }
    if (!(most > 64.0 * RB_EPS * p->scale)) return 0;
    p->corner[p->ncorner++] = best;
    return 1;
}

/* -1: no room, or no area. */
static int add_face(polytope *p, int a, int b, int c)
{
    if (p->nfree == 0 && p->nface == MAX_FACES) return -1;
    int at = p->nfree > 0 ? p->free[p->nfree - 1] : p->nface;
    face *f = &p->face[at];
    const double *A = p->corner[a].w;
    double ab[3], ac[3];
    rb_sub3(p->corner[b].w, A, ab);
    rb_sub3(p->corner[c].w, A, ac);
    rb_cross3(ab, ac, f->m);
    if (!(rb_unit(f->m) > 0.0)) return -1;
    f->v[0] = a;
    f->v[1] = b;
    f->v[2] = c;
    f->d = rb_dot3(f->m, A);
    f->gone = 0;
    if (p->nfree > 0)
        p->nfree--;
    else
        p->nface++;
    return at;
}

/* Faces of the tetrahedron, each looking away from the fourth corner, and their neighbours. */
static int close_tetrahedron(polytope *p)
{
    static const int up[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 1, 2, 3 }, { 2, 0, 3 } };
    static const int down[4][3] = { { 0, 1, 2 }, { 0, 3, 1 }, { 1, 3, 2 }, { 2, 3, 0 } };
    static const int up_next[4][3] = { { 3, 2, 1 }, { 0, 2, 3 }, { 0, 3, 1 }, { 0, 1, 2 } };
    static const int down_next[4][3] = { { 1, 2, 3 }, { 3, 2, 0 }, { 1, 3, 0 }, { 2, 1, 0 } };
    const double *w0 = p->corner[0].w;
    double a[3], b[3], c[3], m[3];
    rb_sub3(p->corner[1].w, w0, a);
    rb_sub3(p->corner[2].w, w0, b);
    rb_sub3(p->corner[3].w, w0, c);
    rb_cross3(a, b, m);
    int above = rb_dot3(m, c) > 0.0; /* corner 3 is above the face 0 1 2: that one looks down */
    for (int i = 0; i < 4; i++) {
        const int *v = above ? up[i] : down[i], *next = above ? up_next[i] : down_next[i];
        if (add_face(p, v[0], v[1], v[2]) < 0) return 0;
        for (int k = 0; k < 3; k++) p->face[i].next[k] = next[k];
    }
    return 1;
}

/* Corners of the simplex of GJK that are not repeated, then points that complete a tetrahedron. */
static int begin(rb_couple *couple, const rb_gjk *gjk, polytope *p)
{
    p->ncorner = p->nface = p->nfree = 0;
    p->scale = couple->scale;
    for (int i = 0; i < gjk->n; i++) p->corner[p->ncorner++] = gjk->p[i];
    double u[3], m[3] = { 1.0, 0.0, 0.0 };
    for (int k = 0; p->ncorner == 1 && k < 3; k++) {
        double e[3] = { k == 0, k == 1, k == 2 };
        extend(couple, p, e);
    }
    if (p->ncorner == 2) {
        rb_sub3(p->corner[1].w, p->corner[0].w, u);
        rb_unit(u);
        rb_orthogonal(u, m);
        if (!extend(couple, p, m)) {
            rb_cross3(u, m, m);
            extend(couple, p, m);
        }
    }
    if (p->ncorner == 3) {
        double v[3];
        rb_sub3(p->corner[1].w, p->corner[0].w, u);
        rb_sub3(p->corner[2].w, p->corner[0].w, v);
        rb_cross3(u, v, m);
        if (!(rb_unit(m) > 0.0)) return 0;
        extend(couple, p, m);
    }
    if (p->ncorner < 4) return 0;

    return close_tetrahedron(p);
}

/* ---- growth -----------------------------------------------------------------------------------
 */

/* -1: none is left. */
static int nearest_face(const polytope *p)
{
    int best = -1;
    for (int i = 0; i < p->nface; i++) {
        if (p->face[i].gone) continue;
        if (best < 0 || p->face[i].d < p->face[best].d) best = i;
    }
    return best;
}

/* The border of what a new corner sees: sides of the faces that are kept, in order. */
typedef struct rim {
    int n, face[MAX_RIM], side[MAX_RIM];
    double slack;
} rim;

static void remove_face(polytope *p, int at)
{
    p->face[at].gone = 1;
    p->free[p->nfree++] = at;
}

/* From a face that goes over its side to the next one: that goes as well, or borders. Only what
 * hangs together goes: a face in the plane of the corner elsewhere is no matter of rounding. */
static int spread(polytope *p, const double w[3], int from, int side, rim *r)
{
    int at = p->face[from].next[side], back = 0;
    face *f = &p->face[at];
    if (f->gone) return 1;
    while (back < 2 && f->next[back] != from) back++;
    if (!(rb_dot3(f->m, w) - f->d > r->slack)) {
        if (r->n == MAX_RIM) return 0;
        r->face[r->n] = at;
        r->side[r->n++] = back;
        return 1;
    }
    remove_face(p, at);
    return spread(p, w, at, (back + 1) % 3, r) && spread(p, w, at, (back + 2) % 3, r);
}

/* Replaces the faces that see the new corner by faces to it. 0: no room, a border that is no ring,
 * or faces without area; then the polytope is of no more use. */
static int grow(polytope *p, const rb_corner *corner, int seen)
{
    rim r = { .n = 0, .slack = 4.0 * RB_EPS * p->scale };
    if (p->ncorner == MAX_CORNERS) return 0;
    remove_face(p, seen);
    for (int k = 0; k < 3; k++) {
        if (!spread(p, corner->w, seen, k, &r)) return 0;
    }
    if (r.n < 3) return 0;
    int at = p->ncorner++, made[MAX_RIM];
    p->corner[at] = *corner;
    for (int i = 0; i < r.n; i++) {
        const face *f = &p->face[r.face[i]];
        int a = f->v[(r.side[i] + 1) % 3], b = f->v[r.side[i]]; /* seen from the new face */
        made[i] = add_face(p, a, b, at);
        if (made[i] < 0) return 0;
    }
    for (int i = 0; i < r.n; i++) {
        int after = made[(i + 1) % r.n], before = made[(i + r.n - 1) % r.n];
        face *f = &p->face[made[i]];
        if (f->v[1] != p->face[after].v[0]) return 0;
        f->next[0] = r.face[i];
        f->next[1] = after;
        f->next[2] = before;
        p->face[r.face[i]].next[r.side[i]] = made[i];
    }
    return 1;
}

/* ---- the answer -------------------------------------------------------------------------------
 */

static void report(const polytope *p, rb_depth *out)
{
    int order[RB_DEPTH_STARTS];
    out->n = 0;
    for (int i = 0; i < p->nface; i++) {
        if (p->face[i].gone) continue;
        int k = out->n < RB_DEPTH_STARTS ? out->n++ : RB_DEPTH_STARTS;
        if (k == RB_DEPTH_STARTS) {
            if (p->face[i].d >= p->face[order[k - 1]].d) continue;
            k--;
        }
        for (; k > 0 && p->face[order[k - 1]].d > p->face[i].d; k--) order[k] = order[k - 1];
        order[k] = i;
    }
    for (int i = 0; i < out->n; i++) {
        const face *f = &p->face[order[i]];
        rb_scale3(-1.0, f->m, out->normal[i]);
        out->distance[i] = f->d;
        for (int k = 0; k < 3; k++) out->face[i][k] = p->corner[f->v[k]];
    }
}

void rb_depth_run(rb_couple *couple, const rb_gjk *gjk, double tol, rb_depth *out)
{
    polytope p;
    *out = (rb_depth){ .n = 0 };
    if (!begin(couple, gjk, &p)) return;
    while (out->steps < RB_DEPTH_STEPS) {
        int seen = nearest_face(&p);
        if (seen < 0) break;
        const face *f = &p.face[seen];
        rb_corner corner;
        farthest(couple, f->m, &corner);
        out->steps++;
        out->lower = rb_larger(out->lower, f->d);
        if (rb_dot3(f->m, corner.w) - f->d <= tol) {
            out->complete = 1;
            break;
        }
        if (!grow(&p, &corner, seen)) {
            p.face[seen].gone = 0;
            break;
        }
    }
    report(&p, out);
}
