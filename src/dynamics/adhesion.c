#include "dynamics/adhesion.h"

#include <math.h>

#include "base/constants.h"
#include "dynamics/transmission.h"

/* Of the pair that names both, else of the geom of higher priority, else of both together [N]. */
static double adhesion_of(const rb_model *m, int g1, int g2)
{
    for (int i = m->npair - 1; i >= 0; i--) {
        int a = m->pair_geom1[i], b = m->pair_geom2[i];
        if (isnan(m->pair_adhesion[i]) || m->pair_only_material[i]) continue;
        if ((a == g1 && b == g2) || (a == g2 && b == g1)) return m->pair_adhesion[i];
    }
    if (m->geom_priority[g1] > m->geom_priority[g2]) return m->geom_adhesion[g1];
    if (m->geom_priority[g1] < m->geom_priority[g2]) return m->geom_adhesion[g2];
    return m->geom_adhesion[g1] + m->geom_adhesion[g2];
}

void rb_adhesion_force(const rb_model *m, const rb_data *d, double *out)
{
    for (int k = 0; k < d->ntouch; k++) {
        const rb_touch *touch = &d->touch[k];
        if (touch->id.kind != 0 || touch->gap > RB_ADHESION_REACH * m->extent) continue;
        double force = adhesion_of(m, touch->id.a, touch->id.b);
        rb_arm_visit pull = { .v = d->v, .out = out, .scale = 1.0 };
        if (force > 0.0) rb_transmission_touch(m, d, touch, force, &pull);
    }
}
