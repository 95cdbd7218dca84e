/* Links whose geoms are many (pads of a finger, soles made of boxes) meet in dozens of points of
 * one plane. Contacts of the same two links with the same normal n and the same material have gaps
 * whose rates are affine in the place y across n,
 *
 *     d gap(y) / dt = n.(v_2 - v_1) + (w_2 - w_1).(y x n),   y = sum a_i y_i, a_i >= 0, sum a_i = 1
 *     gap(y) >= sum a_i gap_i   at the start   =>   at the end                              (G.36)
 *
 * so that a point within the hull of others that are as low needs no row of its own. Of the lowest
 * ones the corners of their convex hull are kept, of the others those outside of it. Which these
 * are depends on the shapes and not on the motion, and lasts from step to step. Pairs of geoms that
 * overlap keep their deepest point: the step compares with it. */
#include "collide/thin.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "collide/segment.h"
#include "math/vec3.h"

enum { FEW = 12 }; /* contacts of one plane that are left as they are */

/* Sine of the angle of two normals that are one, gaps and places that are the same, in extents of
 * the model [1]. Larger: gaps are wrong by this. Smaller: rounding separates equal contacts. */
static const double same = 1e-10;

/* Distance of places along the normal, in the same unit [1]. Larger: friction has other levers. */
static const double flat = 1e-4;

/* Overlap of a pair from which on it keeps a point of its own, in the same unit [1]. */
static const double overlap = 1e-9;

typedef struct plane {
    const rb_model *m;
    rb_contact *contacts;
    int *member; /* contacts of the plane, ascending                     (n)     */
    int n;
    double least;   /* gap [m]                                                */
    double (*x)[2]; /* places across the normal, by member            (n)     */
    int *corner;    /* members that are corners of the hull, in turn  (n + 1) */
    int ncorner;
    unsigned char *go; /* contacts that are taken out                    (all)   */
    int nlist;         /* lists by the hash of the two links, a power of two     */
    int *head, *next;  /* first contact of a list, next one; -1: none    (nlist) (all) */
} plane;

/* ---- groups -----------------------------------------------------------------------------------
 */

static int same_surface(const rb_model *m, int a, int b)
{
    if (a == b) return 1;
    if (m->geom_condim[a] != m->geom_condim[b] || m->geom_priority[a] != m->geom_priority[b])
        return 0;
    return memcmp(&m->geom_material[a], &m->geom_material[b], sizeof *m->geom_material) == 0;
}

/* It has no direction of its own, nor a velocity. */
static int is_even(const rb_model *m, int g)
{
    const rb_material *x = &m->geom_material[g];
    for (int k = 0; k < 6; k++)
        if (m->geom_surface[6 * (ptrdiff_t)g + k] != 0.0) return 0;
    return x->polygon < 0 && isnan(x->friction_across);
}

static int may_join(const rb_model *m, const rb_contact *c)
{
    return c->pair < 0 && is_even(m, c->geom1) && is_even(m, c->geom2);
}

static int belongs(const rb_model *m, const rb_contact *a, const rb_contact *b)
{
    double r[3];
    if (m->geom_link[a->geom1] != m->geom_link[b->geom1]) return 0;
    if (m->geom_link[a->geom2] != m->geom_link[b->geom2]) return 0;
    rb_sub3(a->at.normal, b->at.normal, r);
    if (!(rb_dot3(r, r) <= same * same)) return 0;
    rb_sub3(a->at.pos1, b->at.pos1, r);
    if (!(fabs(rb_dot3(r, a->at.normal)) <= flat * m->extent)) return 0;
    return same_surface(m, a->geom1, b->geom1) && same_surface(m, a->geom2, b->geom2);
}

/* ---- the hull ---------------------------------------------------------------------------------
 */

static double side(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* c is not to the left of the way from a to b by more than `width`. */
static int is_right(const double a[2], const double b[2], const double c[2], double width)
{
    double x = b[0] - a[0], y = b[1] - a[1];
    return side(a, b, c) <= width * sqrt(x * x + y * y);
}

static int is_low(const plane *p, int i, double width)
{
    return p->contacts[p->member[i]].at.gap <= p->least + width;
}

/* Places of the lowest points, sorted; then the first of equal ones comes first. */
static int comes_before(const plane *p, int a, int b, double width)
{
    const double *x = p->x[a], *y = p->x[b];
    if (fabs(x[0] - y[0]) > width) return x[0] < y[0];
    if (fabs(x[1] - y[1]) > width) return x[1] < y[1];
    return a < b;
}

static int sort_low(const plane *p, double width, int *list)
{
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        if (!is_low(p, i, width)) continue;
        int at = n++;
        for (; at > 0 && comes_before(p, i, list[at - 1], width); at--) list[at] = list[at - 1];
        list[at] = i;
    }
    return n;
}

/* Andrew's chains, from left to right below and back above; what is on a line goes. */
static void find_hull(plane *p, int n, const int *list, double width)
{
    int k = 0;
    for (int i = 0; i < n; i++) {
        while (k > 1 &&
               is_right(p->x[p->corner[k - 2]], p->x[p->corner[k - 1]], p->x[list[i]], width))
            k--;
        p->corner[k++] = list[i];
    }
    for (int i = n - 2, lower = k; i >= 0; i--) {
        while (k > lower &&
               is_right(p->x[p->corner[k - 2]], p->x[p->corner[k - 1]], p->x[list[i]], width))
            k--;
        p->corner[k++] = list[i];
    }
    p->ncorner = k > 1 ? k - 1 : k;
}

/* Within the hull, or not farther outside of it than `width`. */
static int is_inside(const plane *p, int i, double width)
{
    if (p->ncorner < 3) return 0;
    for (int k = 0; k < p->ncorner; k++) {
        const double *a = p->x[p->corner[k]], *b = p->x[p->corner[(k + 1) % p->ncorner]];
        double x = b[0] - a[0], y = b[1] - a[1];
        if (side(a, b, p->x[i]) < -width * sqrt(x * x + y * y)) return 0;
    }
    return 1;
}

/* ---- a plane ----------------------------------------------------------------------------------
 */

static void spread_out(plane *p)
{
    const rb_contact *first = &p->contacts[p->member[0]];
    double u[3], v[3], r[3];
    rb_orthogonal(first->at.normal, u);
    rb_cross3(first->at.normal, u, v);
    p->least = INFINITY;
    for (int i = 0; i < p->n; i++) {
        const rb_contact *c = &p->contacts[p->member[i]];
        for (int k = 0; k < 3; k++) {
            r[k] = 0.5 * (c->at.pos1[k] - first->at.pos1[k]) +
                   0.5 * (c->at.pos2[k] - first->at.pos2[k]);
        }
        p->x[i][0] = rb_dot3(r, u);
        p->x[i][1] = rb_dot3(r, v);
        p->least = rb_smaller(p->least, c->at.gap);
    }
}

/* The deepest point of its pair of geoms, which are all members or none. */
static int leads_overlap(const plane *p, int i)
{
    const rb_contact *c = &p->contacts[p->member[i]];
    if (c->at.gap >= -overlap * p->m->extent) return 0;
    for (int k = 0; k < p->n; k++) {
        const rb_contact *o = &p->contacts[p->member[k]];
        if (o->geom1 != c->geom1 || o->geom2 != c->geom2) continue;
        if (o->at.gap < c->at.gap || (o->at.gap == c->at.gap && k < i)) return 0;
    }
    return 1;
}

static void thin_plane(plane *p, int *list)
{
    double width = same * p->m->extent;
    spread_out(p);
    find_hull(p, sort_low(p, width, list), list, width);
    if (p->ncorner < 3) return;
    for (int i = 0; i < p->n; i++) {
        if (is_inside(p, i, width) && !leads_overlap(p, i)) p->go[p->member[i]] = 1;
    }
    for (int k = 0; k < p->ncorner; k++) p->go[p->member[p->corner[k]]] = 0;
}

static int list_of(const plane *p, const rb_contact *c)
{
    unsigned a = (unsigned)p->m->geom_link[c->geom1], b = (unsigned)p->m->geom_link[c->geom2];
    return (int)((a * 2654435761u + b * 40503u) & (unsigned)(p->nlist - 1));
}

/* Contacts that may join others, listed by the hash of their links, ascending; 0: no list is long
 * enough. */
static int list_contacts(plane *p, int n)
{
    int longest = 0, *count = p->member;
    for (int i = 0; i < p->nlist; i++) p->head[i] = -1;
    for (int i = 0; i < n; i++) count[i] = 0;
    for (int i = n - 1; i >= 0; i--) {
        if (!may_join(p->m, &p->contacts[i])) continue;
        int list = list_of(p, &p->contacts[i]);
        p->next[i] = p->head[list];
        count[i] = p->next[i] >= 0 ? count[p->next[i]] + 1 : 1;
        p->head[list] = i;
        if (count[i] > longest) longest = count[i];
    }
    return longest > FEW;
}

static int collect(plane *p, int first, unsigned char *seen)
{
    p->n = 0;
    for (int i = first; i >= 0; i = p->next[i]) {
        if (seen[i] || !belongs(p->m, &p->contacts[first], &p->contacts[i])) continue;
        seen[i] = 1;
        p->member[p->n++] = i;
    }
    return p->n > FEW;
}

static int take_memory(plane *p, rb_arena *arena, int n)
{
    for (p->nlist = 1; p->nlist < n;) p->nlist *= 2;
    p->member = rb_push(arena, int, 3 * (size_t)n + 2);
    p->x = (double(*)[2])rb_push(arena, double, 2 * (size_t)n);
    p->go = rb_push(arena, unsigned char, 2 * (size_t)n);
    p->head = rb_push(arena, int, p->nlist);
    p->next = rb_push(arena, int, n);
    return p->member && p->x && p->go && p->head && p->next;
}

int rb_contacts_thin(const rb_model *m, rb_arena *arena, int n, rb_contact *contacts)
{
    if (n <= FEW) return n;
    rb_mark mark = rb_arena_mark(arena);
    plane p = { .m = m, .contacts = contacts };
    int left = n;
    if (take_memory(&p, arena, n) && list_contacts(&p, n)) {
        int *list = p.member + n;
        unsigned char *seen = p.go + n;
        p.corner = list + n;
        memset(p.go, 0, 2 * (size_t)n);
        for (int i = 0; i < n; i++) {
            if (seen[i] || !may_join(m, &contacts[i])) continue;
            if (collect(&p, i, seen)) thin_plane(&p, list);
        }
        left = 0;
        for (int i = 0; i < n; i++) {
            if (!p.go[i]) contacts[left++] = contacts[i];
        }
    }
    rb_arena_reset(arena, mark);
    return left;
}
