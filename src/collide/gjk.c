/* The algorithm of Gilbert, Johnson and Keerthi: the point v of a simplex in the difference
 * D = {x2 - x1} that is closest to the origin, and the corner of D that is extreme along -v:
 *
 *     lower = n.w,   n = v/|v|          no direction is trusted without its bound     (G.1)
 *     |v|                               the distance of two points of the cores
 *
 * Both bound the gap. The simplex with the new corner is reduced by signs of volumes
 * [Montanari 2017], which keeps its digits on flat simplices. */
#include "collide/gjk.h"

#include "base/constants.h"
#include "math/vec3.h"

void rb_couple_corner(rb_couple *couple, const double n[3], rb_corner *corner)
{
    double back[3] = { -n[0], -n[1], -n[2] };
    corner->id1 = rb_core_support(&couple->core1, n, corner->x1);
    corner->id2 = rb_core_support(&couple->core2, back, corner->x2);
    rb_sub3(corner->x2, corner->x1, corner->w);
}

double rb_couple_separation(rb_couple *couple, const double n[3])
{
    rb_corner corner;
    rb_couple_corner(couple, n, &corner);
    return rb_dot3(n, corner.w);
}

const rb_extreme *rb_couple_extremes(rb_couple *couple, const double n[3])
{
    double *of = couple->n, back[3] = { -n[0], -n[1], -n[2] };
    if (couple->seen && of[0] == n[0] && of[1] == n[1] && of[2] == n[2]) return couple->extreme;
    rb_extreme_make(&couple->core1, n, &couple->extreme[0]);
    rb_extreme_make(&couple->core2, back, &couple->extreme[1]);
    rb_copy3(n, of);
    couple->seen = 1;
    return couple->extreme;
}

/* ---- the closest point of a simplex -----------------------------------------------------------
 */

/* A face of the simplex: corners, and the closest point of it. */
typedef struct part {
    int n, at[4];
    double share[4], v[3], square;
} part;

static void settle(const rb_gjk *g, part *f)
{
    rb_zero3(f->v);
    for (int i = 0; i < f->n; i++) rb_axpy3(f->share[i], g->p[f->at[i]].w, f->v);
    f->square = rb_dot3(f->v, f->v);
}

static part part_point(const rb_gjk *g, int a)
{
    part f = { .n = 1, .at = { a }, .share = { 1.0 } };
    settle(g, &f);
    return f;
}

static part part_segment(const rb_gjk *g, int a, int b)
{
    double u[3];
    rb_sub3(g->p[b].w, g->p[a].w, u);
    double along_a = rb_dot3(g->p[a].w, u), along_b = rb_dot3(g->p[b].w, u);
    if (!(along_a < 0.0)) return part_point(g, a);
    if (!(along_b > 0.0)) return part_point(g, b);
    double whole = along_b - along_a;
    part f = { .n = 2, .at = { a, b }, .share = { along_b / whole, -along_a / whole } };
    settle(g, &f);
    return f;
}

static part nearer(part x, part y)
{
    return y.square < x.square ? y : x;
}

/* Areas seen along the largest component of the normal; the origin's foot replaces one corner. */
static part part_triangle(const rb_gjk *g, int a, int b, int c)
{
    const double *A = g->p[a].w, *B = g->p[b].w, *C = g->p[c].w;
    double ab[3], ac[3], m[3], foot[3];
    rb_sub3(B, A, ab);
    rb_sub3(C, A, ac);
    rb_cross3(ab, ac, m);
    double mm = rb_dot3(m, m);
    if (mm > 0.0) {
        int k = fabs(m[1]) > fabs(m[0]) ? 1 : 0;
        if (fabs(m[2]) > fabs(m[k])) k = 2;
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double lift = (rb_dot3(A, m) + rb_dot3(B, m) + rb_dot3(C, m)) / (3.0 * mm);
        rb_scale3(lift, m, foot);
        double area_a = (B[i] - foot[i]) * (C[j] - foot[j]) - (B[j] - foot[j]) * (C[i] - foot[i]);
        double area_b = (C[i] - foot[i]) * (A[j] - foot[j]) - (C[j] - foot[j]) * (A[i] - foot[i]);
        double area_c = (A[i] - foot[i]) * (B[j] - foot[j]) - (A[j] - foot[j]) * (B[i] - foot[i]);
        double whole = area_a + area_b + area_c;
        if (area_a * whole > 0.0 && area_b * whole > 0.0 && area_c * whole > 0.0) {
            part f = { .n = 3,
                       .at = { a, b, c },
                       .share = { area_a / whole, area_b / whole, area_c / whole } };
            settle(g, &f);
            return f;
        }
    }
    part best = nearer(part_segment(g, a, b), part_segment(g, b, c));
    return nearer(best, part_segment(g, a, c));
}

static double volume(const double a[3], const double b[3], const double c[3])
{
    double m[3];
    rb_cross3(b, c, m);
    return rb_dot3(a, m);
}

/* n = 4 in the answer: the origin is inside. */
static part part_tetrahedron(const rb_gjk *g)
{
    const double *A = g->p[0].w, *B = g->p[1].w, *C = g->p[2].w, *D = g->p[3].w;
    double share[4] = { volume(B, C, D), -volume(A, C, D), volume(A, B, D), -volume(A, B, C) };
    double whole = share[0] + share[1] + share[2] + share[3], size = 0.0;
    for (int i = 0; i < 4; i++) size += fabs(share[i]);
    int inside = whole != 0.0;
    for (int i = 0; i < 4; i++) inside = inside && share[i] * whole > 0.0;
    if (inside && fabs(whole) > 0.0) {
        part f = { .n = 4, .at = { 0, 1, 2, 3 } };
        for (int i = 0; i < 4; i++) f.share[i] = share[i] / whole;
        settle(g, &f);
        return f;
    }

    /* faces that the origin is outside of; on flat simplices, where signs mean little, all */
    static const int face[4][3] = { { 1, 2, 3 }, { 0, 2, 3 }, { 0, 1, 3 }, { 0, 1, 2 } };
    part best = { .square = INFINITY };
    int flat = !(fabs(whole) > 64.0 * RB_EPS * size);
    for (int i = 0; i < 4; i++) {
        if (!flat && share[i] * whole > 0.0) continue;
        best = nearer(best, part_triangle(g, face[i][0], face[i][1], face[i][2]));
    }
    return best;
}

static part closest_part(const rb_gjk *g)
{
    if (g->n == 1) return part_point(g, 0);
    if (g->n == 2) return part_segment(g, 0, 1);
    if (g->n == 3) return part_triangle(g, 0, 1, 2);
    return part_tetrahedron(g);
}

static void keep_part(rb_gjk *g, const part *f)
{
    for (int i = 0; i < f->n; i++) {
        if (f->at[i] != i) g->p[i] = g->p[f->at[i]]; /* in ascending order: at[i] > i */
        g->share[i] = f->share[i];
    }
    g->n = f->n;
    rb_copy3(f->v, g->v);
    g->distance = sqrt(f->square);
}

/* ---- the loop ---------------------------------------------------------------------------------
 */

static int is_known(const rb_gjk *g, const rb_corner *corner)
{
    for (int i = 0; i < g->n; i++) {
        const double *w = g->p[i].w;
        if (w[0] == corner->w[0] && w[1] == corner->w[1] && w[2] == corner->w[2]) return 1;
    }
    return 0;
}

void rb_gjk_begin(rb_couple *couple, const double *start, rb_gjk *g)
{
    double n[3];
    if (start) {
        rb_copy3(start, n);
    } else {
        rb_sub3(couple->core2.c, couple->core1.c, n);
        if (!(rb_normalize3(n) > 0.0)) n[0] = 1.0, n[1] = n[2] = 0.0;
        double back[3] = { -n[0], -n[1], -n[2] };
        rb_core_aim(&couple->core1, n);
        rb_core_aim(&couple->core2, back);
    }
    rb_couple_corner(couple, n, &g->p[0]);
    g->n = 1;
    g->steps = 1;
    g->overlap = 0;
    g->lower = rb_dot3(n, g->p[0].w);
    rb_copy3(n, g->normal);
    part f = part_point(g, 0);
    keep_part(g, &f);
}

void rb_gjk_begin_at(int n, rb_gjk *g)
{
    g->n = n;
    g->steps = 0;
    g->overlap = 0;
    g->lower = -INFINITY;
    part f = closest_part(g);
    keep_part(g, &f);
}

void rb_gjk_run(rb_couple *couple, double tol, int steps, rb_gjk *g)
{
    double rounding = 16.0 * RB_EPS * couple->scale;
    while (g->steps < steps) {
        if (g->distance <= rounding) {
            g->overlap = 1;
            return;
        }
        double n[3];
        rb_copy3(g->v, n);
        rb_normalize3(n);
        rb_corner corner;
        rb_couple_corner(couple, n, &corner);
        g->steps++;
        double separation = rb_dot3(n, corner.w);
        if (separation > g->lower) {
            g->lower = separation;
            rb_copy3(n, g->normal);
        }
        if (g->distance - g->lower <= tol || g->lower > couple->enough || is_known(g, &corner))
            return;

        g->p[g->n++] = corner;
        part f = closest_part(g);
        if (f.n == 4) {
            keep_part(g, &f);
            g->overlap = 1;
            return;
        }
        if (!(f.square < g->distance * g->distance)) {
            g->n--;
            return;
        }
        keep_part(g, &f);
    }
}
