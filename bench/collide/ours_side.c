/* rattleback: the public calls. rb_pair_closest while apart, as the others tell a distance there;
 * rb_pair_manifold, the whole manifold, where shapes touch. */
#include <math.h>
#include <stdlib.h>

#include "paths.h"

typedef struct engine {
    const path *p;
    rb_vclip cache;
    rb_warm warm;
} engine;

static void *make(const path *p)
{
    engine *e = calloc(1, sizeof *e);
    if (e) e->p = p;
    return e;
}

static void *make_vclip(const path *p)
{
    int poly = p->type[0] >= RB_GEOM_BOX && p->type[1] >= RB_GEOM_BOX;
    return poly && !p->touching ? make(p) : NULL;
}

static double query(void *handle, int i)
{
    engine *e = handle;
    rb_shape a = shape_at(e->p, 0, i), b = shape_at(e->p, 1, i);
    rb_manifold m;
    double gap = INFINITY;
    if (!e->p->touching) {
        int found;
        rb_pair_closest(&a, &b, INFINITY, &m.point[0], &found);
        return m.point[0].gap;
    }
    rb_pair_manifold(&a, &b, 1e-3, &m);
    for (int k = 0; k < m.n; k++) gap = fmin(gap, m.point[k].gap);
    return gap;
}

/* Pairs that are sought, and not by a closed form. */
static void *make_warm(const path *p)
{
    int curved = p->type[0] >= RB_GEOM_CAPSULE && p->type[1] >= RB_GEOM_ELLIPSOID;
    int poly = p->type[1] == RB_GEOM_MESH && p->type[0] >= RB_GEOM_BOX;
    return poly || (curved && p->type[1] <= RB_GEOM_CYLINDER) ? make(p) : NULL;
}

static double query_warm(void *handle, int i)
{
    engine *e = handle;
    rb_shape a = shape_at(e->p, 0, i), b = shape_at(e->p, 1, i);
    rb_manifold m;
    double gap = INFINITY;
    if (!e->p->touching) {
        int found;
        rb_pair_closest_warm(&a, &b, INFINITY, &e->warm, &m.point[0], &found);
        return m.point[0].gap;
    }
    rb_pair_manifold_warm(&a, &b, 1e-3, &e->warm, &m);
    for (int k = 0; k < m.n; k++) gap = fmin(gap, m.point[k].gap);
    return gap;
}

static double query_vclip(void *handle, int i)
{
    engine *e = handle;
    rb_shape a = shape_at(e->p, 0, i), b = shape_at(e->p, 1, i);
    rb_vclip_result r;
    rb_vclip_query(&a, &b, &e->cache, &r);
    return r.overlap ? NAN : r.distance;
}

const side side_ours = { "rattleback", { "distance", "manifold" }, make, query, free };
const side side_ours_vclip = {
    "rattleback V-Clip", { "distance", "" }, make_vclip, query_vclip, free
};
const side side_ours_warm = {
    "rattleback warm", { "distance", "manifold" }, make_warm, query_warm, free
};
