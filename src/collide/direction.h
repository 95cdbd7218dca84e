/* The direction along which two convex cores are farthest apart, or overlap least. */
#ifndef RB_COLLIDE_DIRECTION_H
#define RB_COLLIDE_DIRECTION_H

#include "collide/gjk.h"

typedef struct rb_direction {
    double n[3];  /* unit, from 1 to 2                  */
    double s;     /* separation of the cores along it [m] */
    double upper; /* least distance of two points that is known: the gap is not above it [m] */
    double x1[3]; /* point of core 1 of those two, where it proved the gap */
    int exact;    /* n is that of a face or of a pair of edges                              */
    int placed;   /* x1 holds                                                            */
} rb_direction;

/* How hard to try: faces, pairs of edges and n0 itself; Newton's method as well; Newton's method
 * with help where it sees no maximum. */
typedef enum rb_effort { RB_TRY_EXACT, RB_TRY_NEWTON, RB_TRY_ALL } rb_effort;

/* Begins with what `best` holds and tries every kind of contact near n0: faces, pairs of edges,
 * edges and curved parts, until s and upper agree. The corners show which vertices take part. */
void rb_direction_improve(rb_couple *couple, const double n0[3], const rb_corner *corner,
                          int ncorner, rb_effort effort, rb_direction *best);

/* Pairs of edges that are examined: 20 ms at most; some microseconds, as of boxes. */
enum { RB_PAIRS_MANY = 1 << 20, RB_PAIRS_FEW = 1 << 10 };

/* Every face of both cores and every pair of their edges, for where the search above began at the
 * wrong place. 0: there are more than `pairs` of them. */
int rb_direction_all(rb_couple *couple, int pairs, rb_direction *best);

#endif
