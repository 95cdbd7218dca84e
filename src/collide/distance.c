/* Distances between given geoms and bodies, whether or not they may collide. */
#include <math.h>

#include "collide/shape.h"

static int is_geom(const rb_model *m, int g)
{
    return g >= 0 && g < m->ngeom;
}

rb_status rb_geom_distance(const rb_model *m, const rb_data *d, int geom1, int geom2, double reach,
                           rb_distance *out)
{
    int found = 0;
    *out = (rb_distance){ .geom1 = -1, .geom2 = -1 };
    if (!is_geom(m, geom1) || !is_geom(m, geom2) || !(reach >= 0.0)) return RB_BAD_INPUT;
    rb_shape shape1 = rb_geom_shape(m, d, geom1), shape2 = rb_geom_shape(m, d, geom2);
    rb_status status = rb_pair_closest(&shape1, &shape2, reach, &out->at, &found);
    if (status != RB_OK || !found || out->at.gap > reach) return status;
    out->geom1 = geom1;
    out->geom2 = geom2;
    return RB_OK;
}

rb_status rb_body_distance(const rb_model *m, const rb_data *d, int body1, int body2, double reach,
                           rb_distance *out)
{
    *out = (rb_distance){ .geom1 = -1, .geom2 = -1 };
    if (body1 < 0 || body1 >= m->nbody || body2 < 0 || body2 >= m->nbody || !(reach >= 0.0))
        return RB_BAD_INPUT;
    for (int i = 0; i < m->body_geomnum[body1]; i++) {
        for (int j = 0; j < m->body_geomnum[body2]; j++) {
            rb_distance one;
            double least = out->geom1 >= 0 ? fmin(reach, fmax(0.0, out->at.gap)) : reach;
            rb_status status = rb_geom_distance(m, d, m->body_geomadr[body1] + i,
                                                m->body_geomadr[body2] + j, least, &one);
            if (status == RB_UNSUPPORTED) continue;
            if (status != RB_OK) return status;
            if (one.geom1 >= 0 && (out->geom1 < 0 || one.at.gap < out->at.gap)) *out = one;
        }
    }
    return RB_OK;
}
