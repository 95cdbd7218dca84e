/* What a constraint can hold without sliding: cones and bounds of static friction (F.4, F.17, F.19,
 * F.20). */
#include <math.h>

#include "base/constants.h"
#include "contact/contact.h"

/* x^2 / a^2 + y^2 / b^2 <= n^2; a coefficient of zero holds nothing. */
static int within(double x, double a, double y, double b, double n)
{
    double edge = n * (1.0 + RB_CONE_EDGE), bx = a * edge, by = b * edge;
    if (a == b) return x * x + y * y <= bx * bx;
    if ((bx == 0.0 && x != 0.0) || (by == 0.0 && y != 0.0)) return 0;
    double sx = x != 0.0 ? x / bx : 0.0, sy = y != 0.0 ? y / by : 0.0;
    return sx * sx + sy * sy <= 1.0;
}

static int contact_holds(const rb_constraint *c, const double *p)
{
    const rb_material *material = &c->material;
    double along = material->friction_static, across = along;
    if (!isnan(material->friction_across))
        across = material->friction > 0.0 ? along * material->friction_across / material->friction
                                          : material->friction_across;
    if (p[0] < 0.0) return 0;
    if (c->nrow >= 3 && !within(p[1], along, p[2], across, p[0])) return 0;
    if (c->nrow >= 4 && fabs(p[3]) > material->friction_torsion * p[0] * (1.0 + RB_CONE_EDGE))
        return 0;
    double roll = material->friction_roll;
    return c->nrow < 6 || within(p[4], roll, p[5], roll, p[0]);
}

int rb_constraint_holds(const rb_constraint *c, const double *p)
{
    switch (c->kind) {
    case RB_CONSTRAINT_CONTACT:
        return contact_holds(c, p);
    case RB_CONSTRAINT_LIMIT:
        return p[0] >= 0.0;
    case RB_CONSTRAINT_DRY:
        return fabs(p[0]) <= c->bound * (1.0 + RB_CONE_EDGE);
    default:
        return 1;
    }
}
