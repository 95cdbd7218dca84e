#include "collide/segment.h"

/* u1 x u2 as u1 x (u2 -+ u1): nearly parallel axes are subtracted first, which is exact, and m
 * keeps its digits however small it is. With w = c2 - c1: s = (w x u2).m / m.m,   t = foot of x1(s)
 * on line 2                                   (G.5) For nearly parallel lines s is uncertain by
 * eps/|m|, but the lines leave each other by |m| per metre only: the distance from the foot is not
 * uncertain. */
int rb_lines_cross(const rb_segment *a, const rb_segment *b, double m[3], double *s, double *t)
{
    double rest[3], w[3], k[3];
    rb_copy3(b->u, rest);
    rb_axpy3(rb_dot3(a->u, b->u) < 0.0 ? 1.0 : -1.0, a->u, rest);
    rb_cross3(a->u, rest, m);
    double mm = rb_dot3(m, m);
    if (!(mm > 0.0)) return 0;

    rb_sub3(b->c, a->c, w);
    rb_cross3(w, b->u, k);
    *s = rb_dot3(k, m) / mm;
    rb_scale3(*s, a->u, k);
    rb_sub3(k, w, k);
    *t = rb_dot3(k, b->u);
    return 1;
}

void rb_orthogonal(const double u[3], double n[3])
{
    int least = fabs(u[0]) <= fabs(u[1]) ? 0 : 1;
    if (fabs(u[2]) < fabs(u[least])) least = 2;
    double e[3] = { least == 0, least == 1, least == 2 };
    rb_cross3(u, e, n);
    rb_unit(n);
}

void rb_straighten(const double u[3], double n[3])
{
    rb_axpy3(-rb_dot3(u, n), u, n);
    double left = rb_unit(n);
    if (left < 0.5) rb_orthogonal(u, n);
}
