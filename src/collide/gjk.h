/* Distance of two convex cores [Gilbert 1988]. */
#ifndef RB_COLLIDE_GJK_H
#define RB_COLLIDE_GJK_H

#include "collide/extreme.h"

/* A point of the difference of the cores, w = x2 - x1, and what it is made of. */
typedef struct rb_corner {
    double w[3], x1[3], x2[3];
    int id1, id2;
} rb_corner;

/* What a pair of cores needs while its gap is sought. */
typedef struct rb_couple {
    rb_core core1, core2;
    double scale;  /* larger of both extents and the distance of the centres [m] */
    int curved;    /* one of them has a curved surface                           */
    double enough; /* separation that is enough to end the search [m]; INFINITY: none */

    /* where both are extreme along n, cached; seen = 0: not yet */
    int seen;
    double n[3];
    rb_extreme extreme[2];
} rb_couple;

typedef struct rb_gjk {
    int n; /* corners of the simplex next to the origin           */
    rb_corner p[4];
    double share[4];  /* barycentric coordinates of v in it                  */
    double v[3];      /* its closest point                                   */
    double distance;  /* |v|: no pair of points is known that is closer [m]  */
    double lower;     /* largest separation seen: the gap is not below [m]   */
    double normal[3]; /* its direction, from 1 to 2                          */
    int overlap;      /* the simplex contains the origin, to rounding        */
    int steps;
} rb_gjk;

/* The corner that is extreme along -n: n.w is the separation along n. */
void rb_couple_corner(rb_couple *couple, const double n[3], rb_corner *corner);

/* Separation of the cores along the unit vector n, (G.1). */
double rb_couple_separation(rb_couple *couple, const double n[3]);

/* Where core 1 is extreme along n, and core 2 along -n. Code that moves a core sets `seen` to 0. */
const rb_extreme *rb_couple_extremes(rb_couple *couple, const double n[3]);

/* The corner that is extreme against the unit vector n (NULL: from centre to centre). */
void rb_gjk_begin(rb_couple *couple, const double *n, rb_gjk *out);

/* The simplex of the corners that out->p holds, n of them, 1 to 3. */
void rb_gjk_begin_at(int n, rb_gjk *out);

/* Continues until lower and distance agree to `tol` [m], lower is enough, the simplex repeats
 * itself, the origin is inside, or g->steps reaches `steps`. */
void rb_gjk_run(rb_couple *couple, double tol, int steps, rb_gjk *g);

#endif
