/* Directions in cells: each face of a cube around the origin has RB_AIM_SIDE x RB_AIM_SIDE. */
#ifndef RB_MATH_AIM_H
#define RB_MATH_AIM_H

#include <math.h>

#include "math/vector.h"

enum { RB_AIM_SIDE = 8, RB_AIMS = 6 * RB_AIM_SIDE * RB_AIM_SIDE };

/* The place of x in -1 .. 1 among the cells of a side. */
RB_INLINE int rb_aim_place(double x)
{
    int i = (int)(0.5 * RB_AIM_SIDE * (x + 1.0));
    return i < 0 ? 0 : i < RB_AIM_SIDE ? i : RB_AIM_SIDE - 1;
}

/* The cell of the direction d; any cell where it is not finite or zero. */
RB_INLINE int rb_aim_of(const double d[3])
{
    int k = fabs(d[1]) > fabs(d[0]) ? 1 : 0;
    if (fabs(d[2]) > fabs(d[k])) k = 2;
    double most = fabs(d[k]);
    if (!(most > 0.0 && most < INFINITY)) return 0;
    double over = 1.0 / most;
    int face = 2 * k + (d[k] < 0.0);
    int i = rb_aim_place(over * d[k == 0 ? 1 : 0]), j = rb_aim_place(over * d[k == 2 ? 1 : 2]);
    return (face * RB_AIM_SIDE + i) * RB_AIM_SIDE + j;
}

/* A direction in the middle of a cell, not of unit length. */
RB_INLINE void rb_aim_middle(int cell, double d[3])
{
    int face = cell / (RB_AIM_SIDE * RB_AIM_SIDE), k = face / 2;
    int i = cell / RB_AIM_SIDE % RB_AIM_SIDE, j = cell % RB_AIM_SIDE;
    d[k] = face % 2 ? -1.0 : 1.0;
    d[k == 0 ? 1 : 0] = (2.0 * i + 1.0) / RB_AIM_SIDE - 1.0;
    d[k == 2 ? 1 : 2] = (2.0 * j + 1.0) / RB_AIM_SIDE - 1.0;
}

#endif
