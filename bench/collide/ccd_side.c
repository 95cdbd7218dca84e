/* libccd: boolean GJK while apart (it has no distance), GJK with EPA or MPR where shapes overlap.
 */
#include <ccd/ccd.h>
#include <ccd/quat.h>
#include <math.h>
#include <stdlib.h>

#include "side.h"

typedef struct object {
    const path *p;
    int k, i;
} object;

typedef struct engine {
    const path *p;
    ccd_t ccd;
} engine;

static void support(const void *pointer, const ccd_vec3_t *dir, ccd_vec3_t *v)
{
    const object *o = pointer;
    const placed *at = &o->p->at[o->i][o->k];
    const double *size = o->p->size[o->k], *R = at->R;
    double d[3], y[3] = { 0.0, 0.0, 0.0 };
    for (int k = 0; k < 3; k++)
        d[k] = R[k] * dir->v[0] + R[3 + k] * dir->v[1] + R[6 + k] * dir->v[2];
    double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    double across = sqrt(d[0] * d[0] + d[1] * d[1]);
    switch (o->p->type[o->k]) {
    case RB_GEOM_SPHERE:
    case RB_GEOM_CAPSULE:
        for (int k = 0; k < 3; k++) y[k] = size[0] * d[k] / length;
        if (o->p->type[o->k] == RB_GEOM_CAPSULE) y[2] += d[2] > 0.0 ? size[1] : -size[1];
        break;
    case RB_GEOM_CYLINDER:
        if (across > 0.0) {
            y[0] = size[0] * d[0] / across;
            y[1] = size[0] * d[1] / across;
        }
        y[2] = d[2] > 0.0 ? size[1] : -size[1];
        break;
    case RB_GEOM_ELLIPSOID: {
        double a[3] = { size[0] * d[0], size[1] * d[1], size[2] * d[2] };
        double l = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        for (int k = 0; k < 3; k++) y[k] = size[k] * a[k] / l;
        break;
    }
    case RB_GEOM_BOX:
        for (int k = 0; k < 3; k++) y[k] = d[k] > 0.0 ? size[k] : -size[k];
        break;
    default: {
        double most = -INFINITY;
        for (int n = 0; n < o->p->nvert[o->k]; n++) {
            const double *x = o->p->vert[o->k][n];
            double here = x[0] * d[0] + x[1] * d[1] + x[2] * d[2];
            if (here <= most) continue;
            most = here;
            for (int k = 0; k < 3; k++) y[k] = x[k];
        }
    }
    }
    for (int k = 0; k < 3; k++) {
        v->v[k] = at->p[k] + R[3 * k] * y[0] + R[3 * k + 1] * y[1] + R[3 * k + 2] * y[2];
    }
}

static void centre(const void *pointer, ccd_vec3_t *v)
{
    const object *o = pointer;
    for (int k = 0; k < 3; k++) v->v[k] = o->p->at[o->i][o->k].p[k];
}

static void *make(const path *p)
{
    engine *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->p = p;
    CCD_INIT(&e->ccd);
    e->ccd.support1 = e->ccd.support2 = support;
    e->ccd.center1 = e->ccd.center2 = centre;
    e->ccd.max_iterations = 200;
    e->ccd.epa_tolerance = 1e-6;
    e->ccd.mpr_tolerance = 1e-6;
    return e;
}

static void *make_touching(const path *p)
{
    return p->touching ? make(p) : NULL;
}

static double query_gjk(void *handle, int i)
{
    engine *e = handle;
    object a = { e->p, 0, i }, b = { e->p, 1, i };
    ccd_real_t depth;
    ccd_vec3_t dir, pos;
    if (!e->p->touching) return ccdGJKIntersect(&a, &b, &e->ccd) ? -1.0 : NAN;
    return ccdGJKPenetration(&a, &b, &e->ccd, &depth, &dir, &pos) == 0 ? -depth : NAN;
}

static double query_mpr(void *handle, int i)
{
    engine *e = handle;
    object a = { e->p, 0, i }, b = { e->p, 1, i };
    ccd_real_t depth;
    ccd_vec3_t dir, pos;
    return ccdMPRPenetration(&a, &b, &e->ccd, &depth, &dir, &pos) == 0 ? -depth : NAN;
}

const side side_ccd_gjk = { "libccd GJK/EPA", { "yes or no", "depth" }, make, query_gjk, free };
const side side_ccd_mpr = { "libccd MPR", { "", "depth" }, make_touching, query_mpr, free };
