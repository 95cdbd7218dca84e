#include "collide/segment.h"

void rb_orthogonal(const double u[3], double n[3])
{
    int least = fabs(u[0]) <= fabs(u[1]) ? 0 : 1;
    if (fabs(u[2]) < fabs(u[least])) least = 2;
    double e[3] = { least == 0, least == 1, least == 2 };
    rb_cross3(u, e, n);
    rb_unit(n);
}

void rb_straighten_far(const double u[3], double n[3])
{
    double left = rb_unit(n);
    if (left < 0.5) rb_orthogonal(u, n);
}
