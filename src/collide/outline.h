/* A face of many corners, seen along a direction: a circle inside it and one around it, which
 * decide most questions about it without a look at its sides. */
#ifndef RB_COLLIDE_OUTLINE_H
#define RB_COLLIDE_OUTLINE_H

#include "collide/patch.h"

enum { RB_OUTLINE_LEAST = 8 }; /* corners from which on it is worth its making */

typedef struct rb_outline {
    int n;                     /* corners; 0: there is no outline                      */
    double o[3], u[3], v[3];   /* origin and axes of the plane across the direction    */
    double centre[2];          /* mean of the corners                                  */
    double in, out;            /* radii of the circles about the centre [m]            */
    double x[RB_PATCH_MAX][2]; /* corners                                              */
} rb_outline;

/* The outline of a face along the unit vector n; n = 0 of other patches. */
void rb_outline_make(const rb_patch *patch, const double n[3], rb_outline *out);

/* 1: x is over the face, 0: it is not, each by more than `margin` [m]; -1: not decided. */
int rb_outline_has(const rb_outline *o, const double x[3], double margin);

/* A part of a line between two points, seen on an outline. */
typedef struct rb_outline_side {
    double lo[2], hi[2];
    int apart; /* it is all inside or all outside, by more than the margin */
} rb_outline_side;

rb_outline_side rb_outline_look(const rb_outline *o, const double a[3], const double b[3],
                                double margin);

/* The side from corner j on is farther from it than the margin of the test. */
int rb_outline_misses(const rb_outline *o, const rb_outline_side *s, int j);

#endif
