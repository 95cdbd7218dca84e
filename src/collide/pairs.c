/* The pair table. A new pair is one function and one line here. */
#include "collide/pairs.h"

#include "base/constants.h"
#include "collide/manifold.h"
#include "collide/surface.h"
#include "math/vec3.h"
#include "math/vector.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { NTYPE = RB_GEOM_MESH + 1 };

/* `one`: the closest point; all there is of a sphere, which then has no `many`. */
typedef struct entry {
    rb_pair_fn many;
    rb_point_fn one;
} entry;

/* clang-format off */
static const entry table[NTYPE][NTYPE] = {
    [RB_GEOM_PLANE] = {
        [RB_GEOM_SPHERE]    = { rb_plane_sphere, NULL },
        [RB_GEOM_CAPSULE]   = { rb_plane_capsule, NULL },
        [RB_GEOM_ELLIPSOID] = { rb_plane_ellipsoid, NULL },
        [RB_GEOM_CYLINDER]  = { rb_plane_cylinder, NULL },
        [RB_GEOM_BOX]       = { rb_plane_box, NULL },
        [RB_GEOM_MESH]      = { rb_plane_hull, NULL },
    },
    [RB_GEOM_SPHERE] = {
        [RB_GEOM_SPHERE]    = { NULL, rb_sphere_sphere },
        [RB_GEOM_CAPSULE]   = { NULL, rb_sphere_capsule },
        [RB_GEOM_ELLIPSOID] = { rb_sphere_ellipsoid, NULL },
        [RB_GEOM_CYLINDER]  = { NULL, rb_sphere_cylinder },
        [RB_GEOM_BOX]       = { NULL, rb_sphere_box },
        [RB_GEOM_MESH]      = { rb_sphere_hull, NULL },
    },
    [RB_GEOM_CAPSULE] = {
        [RB_GEOM_CAPSULE]   = { rb_capsule_capsule, rb_capsule_capsule_closest },
        [RB_GEOM_ELLIPSOID] = { rb_convex_pair, NULL },
        [RB_GEOM_CYLINDER]  = { rb_convex_pair, NULL },
        [RB_GEOM_BOX]       = { rb_capsule_box, NULL },
        [RB_GEOM_MESH]      = { rb_convex_pair, NULL },
    },
    [RB_GEOM_ELLIPSOID] = {
        [RB_GEOM_ELLIPSOID] = { rb_convex_pair, NULL },
        [RB_GEOM_CYLINDER]  = { rb_convex_pair, NULL },
        [RB_GEOM_BOX]       = { rb_convex_pair, NULL },
        [RB_GEOM_MESH]      = { rb_convex_pair, NULL },
    },
    [RB_GEOM_CYLINDER] = {
        [RB_GEOM_CYLINDER]  = { rb_convex_pair, NULL },
        [RB_GEOM_BOX]       = { rb_convex_pair, NULL },
        [RB_GEOM_MESH]      = { rb_convex_pair, NULL },
    },
    [RB_GEOM_BOX] = {
        [RB_GEOM_BOX]       = { rb_box_box, NULL },
        [RB_GEOM_MESH]      = { rb_convex_pair, NULL },
    },
    [RB_GEOM_MESH] = {
        [RB_GEOM_MESH]      = { rb_convex_pair, NULL },
    },
};
/* clang-format on */

static const entry none = { NULL, NULL };

/* *swap: call it with the shapes exchanged, then exchange the points. */
RB_INLINE const entry *entry_of(const rb_shape *shape1, const rb_shape *shape2, int *swap)
{
    unsigned type1 = (unsigned)shape1->type, type2 = (unsigned)shape2->type;
    *swap = type1 > type2;
    if (type1 >= NTYPE || type2 >= NTYPE) return &none;
    return *swap ? &table[type2][type1] : &table[type1][type2];
}

/* Meshes collide by their hulls. */
static inline int is_whole(const rb_shape *s)
{
    if (s->type != RB_GEOM_MESH) return 1;
    return s->model && s->asset >= 0 && s->model->mesh_hullvertnum[s->asset] > 0;
}

RB_INLINE int call_one(const entry *pair, int swap, const rb_shape *shape1, const rb_shape *shape2,
                       double reach, rb_manifold_point *out)
{
    int found = pair->one(swap ? shape2 : shape1, swap ? shape1 : shape2, reach, out);
    if (swap && found) rb_point_swap(out);
    return found;
}

RB_INLINE void call_many(const entry *pair, int swap, const rb_shape *shape1,
                         const rb_shape *shape2, double reach, rb_manifold *out)
{
    pair->many(swap ? shape2 : shape1, swap ? shape1 : shape2, reach, out);
    if (swap) rb_manifold_swap(out);
}

int rb_pair_call(const rb_shape *shape1, const rb_shape *shape2, double reach, rb_manifold *out)
{
    int swap;
    const entry *pair = entry_of(shape1, shape2, &swap);
    out->n = 0;
    out->error = 0.0;
    if (!pair->one && (!pair->many || !is_whole(shape1) || !is_whole(shape2))) return 0;
    if (pair->one && (!pair->many || out->most == 1))
        out->n = call_one(pair, swap, shape1, shape2, reach, &out->point[0]);
    else
        call_many(pair, swap, shape1, shape2, reach, out);
    return 1;
}

int rb_pair_is_known(const rb_shape *shape1, const rb_shape *shape2)
{
    int swap;
    const entry *pair = entry_of(shape1, shape2, &swap);
    return pair->one || (pair->many && is_whole(shape1) && is_whole(shape2));
}

int rb_pair_is_sought(const rb_shape *shape1, const rb_shape *shape2)
{
    int swap, curved = 0;
    for (int i = 0; i < 2; i++) {
        int type = (i ? shape2 : shape1)->type;
        curved |= type == RB_GEOM_CYLINDER || type == RB_GEOM_ELLIPSOID;
    }
    return !curved && entry_of(shape1, shape2, &swap)->many == rb_convex_pair;
}

static void swap_warm(rb_warm *warm)
{
    rb_scale3(-1.0, warm->n, warm->n);
    for (int i = 0; i < 3; i++) {
        int id = warm->corner[i][0];
        warm->corner[i][0] = warm->corner[i][1];
        warm->corner[i][1] = id;
    }
}

int rb_pair_call_warm(const rb_shape *shape1, const rb_shape *shape2, double reach, rb_warm *warm,
                      rb_manifold *out)
{
    int swap;
    const entry *pair = entry_of(shape1, shape2, &swap);
    if (!warm || pair->many != rb_convex_pair || !is_whole(shape1) || !is_whole(shape2))
        return rb_pair_call(shape1, shape2, reach, out);
    out->n = 0;
    out->error = 0.0;
    if (swap) swap_warm(warm);
    rb_convex_pair_warm(swap ? shape2 : shape1, swap ? shape1 : shape2, reach, warm, out);
    if (!swap) return 1;
    swap_warm(warm);
    rb_manifold_swap(out);
    return 1;
}

/* ---- numbers that are none --------------------------------------------------------------------
 */

/* x * 0 is 0 where x is finite, else NaN; a position whose square is not finite is too far away
 * to be measured. */
static int is_right(const rb_shape *s)
{
    double sum = 0.0;
    for (int k = 0; k < 9; k++) sum += s->R[k] * 0.0;
    for (int k = 0; k < 3; k++) sum += s->p[k] * s->p[k] * 0.0 + s->size[k] * 0.0;
    return sum == 0.0 && s->size[0] >= 0.0 && s->size[1] >= 0.0 && s->size[2] >= 0.0;
}

RB_NOINLINE static int are_right(const rb_shape *shape1, const rb_shape *shape2, double reach)
{
    return is_right(shape1) && is_right(shape2) && reach >= 0.0;
}

#ifdef RB_VECTORS

/* Numbers that the processor adds at once. */
typedef double two __attribute__((vector_size(16)));

RB_INLINE two two_at(const double *x)
{
    two some;
    memcpy(&some, x, sizeof some);
    return some;
}

/* Negative where a size has a sign. */
RB_INLINE int64_t sign_of(const double size[3])
{
    int64_t x, y, z;
    memcpy(&x, size, sizeof x);
    memcpy(&y, size + 1, sizeof y);
    memcpy(&z, size + 2, sizeof z);
    return x | y | z;
}

RB_INLINE two sum_of(const rb_shape *s)
{
    two R = two_at(s->R) + two_at(s->R + 2) + (two_at(s->R + 4) + two_at(s->R + 6));
    two p = two_at(s->p), q = two_at(s->p + 1), size = two_at(s->size) + two_at(s->size + 1);
    return R + two_at(s->R + 7) + ((p * p + q * q) + size);
}

/* Finite numbers, sizes and a reach that are not negative. A sum that is finite has only finite
 * terms; one that is not, and sizes of -0, are checked again. */
RB_INLINE int is_sound(const rb_shape *a, const rb_shape *b, double reach)
{
    two sums = sum_of(a) + sum_of(b);
    double sum = sums[0] + sums[1];
    if (sum - sum == 0.0 && (sign_of(a->size) | sign_of(b->size)) >= 0 && reach >= 0.0) return 1;
    return are_right(a, b, reach);
}

#else

RB_INLINE int is_sound(const rb_shape *a, const rb_shape *b, double reach)
{
    return are_right(a, b, reach);
}

#endif

/* Of the points of a surface those that are closest. */
RB_NOINLINE static rb_status surface_manifold(const rb_shape *shape1, const rb_shape *shape2,
                                              double reach, rb_manifold *out)
{
    enum { ROOM = 64 };
    int swap = !rb_is_surface(shape1), ngroup;
    rb_surface_group groups[ROOM];
    const rb_shape *surface = swap ? shape2 : shape1, *convex = swap ? shape1 : shape2;
    rb_status status = rb_surface_points(surface, convex, reach, NULL, ROOM, groups, &ngroup);
    if (status != RB_OK) return status;
    for (int i = 0; i < ngroup; i++) {
        for (int j = 0; j < groups[i].n; j++) {
            int at = out->n < RB_MANIFOLD_MAX ? out->n++ : RB_MANIFOLD_MAX;
            for (int k = 0; at == RB_MANIFOLD_MAX && k < RB_MANIFOLD_MAX; k++) {
                int worst = 1;
                for (int l = 0; l < RB_MANIFOLD_MAX; l++) {
                    worst &= out->point[k].gap >= out->point[l].gap;
                }
                if (worst && out->point[k].gap > groups[i].at[j].gap) at = k;
            }
            if (at < RB_MANIFOLD_MAX) out->point[at] = groups[i].at[j];
        }
    }
    rb_manifold_swap(out);
    if (!swap) rb_manifold_swap(out);
    return RB_OK;
}

RB_NOINLINE static rb_status manifold_of(const rb_shape *shape1, const rb_shape *shape2,
                                         double reach, rb_manifold *out)
{
    out->n = 0;
    out->error = 0.0;
    if (!is_sound(shape1, shape2, reach)) return RB_BAD_INPUT;
    if (rb_is_surface(shape1) || rb_is_surface(shape2)) {
        return surface_manifold(shape1, shape2, reach, out);
    }
    return rb_pair_call(shape1, shape2, reach, out) ? RB_OK : RB_UNSUPPORTED;
}

rb_status rb_pair_manifold(const rb_shape *shape1, const rb_shape *shape2, double reach,
                           rb_manifold *out)
{
    int swap;
    const entry *pair = entry_of(shape1, shape2, &swap);
    out->most = RB_MANIFOLD_KEEP;
    out->error = 0.0;
    if (pair->one && !pair->many && is_sound(shape1, shape2, reach)) { /* a sphere */
        out->n = call_one(pair, swap, shape1, shape2, reach, &out->point[0]);
        return RB_OK;
    }
    int mesh = shape1->type == RB_GEOM_MESH || shape2->type == RB_GEOM_MESH;
    if (mesh || !pair->many || !is_sound(shape1, shape2, reach))
        return manifold_of(shape1, shape2, reach, out);
    out->n = 0;
    call_many(pair, swap, shape1, shape2, reach, out);
    return RB_OK;
}

/* Out of line: its manifold is large. */
RB_NOINLINE static rb_status closest_of_many(const rb_shape *shape1, const rb_shape *shape2,
                                             double reach, rb_manifold_point *out, int *found)
{
    int best = 0;
    rb_manifold m;
    m.most = 1;
    rb_status status = manifold_of(shape1, shape2, reach, &m);
    for (int i = 1; i < m.n; i++) {
        if (m.point[i].gap < m.point[best].gap) best = i;
    }
    *found = m.n > 0;
    if (m.n > 0) *out = m.point[best];
    return status;
}

rb_status rb_pair_closest(const rb_shape *shape1, const rb_shape *shape2, double reach,
                          rb_manifold_point *out, int *found)
{
    int swap;
    const entry *pair = entry_of(shape1, shape2, &swap);
    if (!pair->one || !is_sound(shape1, shape2, reach))
        return closest_of_many(shape1, shape2, reach, out, found);
    *found = call_one(pair, swap, shape1, shape2, reach, out);
    return RB_OK;
}

/* Finite numbers, and a pair of convex shapes. */
static int is_usual(const rb_shape *shape1, const rb_shape *shape2, double reach)
{
    return is_sound(shape1, shape2, reach) && !rb_is_surface(shape1) && !rb_is_surface(shape2);
}

/* The normal of the closest point; zero where there is none. */
static void remember(const rb_manifold *m, rb_warm *warm)
{
    int best = 0;
    rb_zero3(warm->n);
    for (int i = 1; i < m->n; i++) {
        if (m->point[i].gap < m->point[best].gap) best = i;
    }
    if (m->n > 0) rb_copy3(m->point[best].normal, warm->n);
}

rb_status rb_pair_manifold_warm(const rb_shape *shape1, const rb_shape *shape2, double reach,
                                rb_warm *warm, rb_manifold *out)
{
    rb_status status = RB_OK;
    out->most = RB_MANIFOLD_KEEP;
    if (!is_usual(shape1, shape2, reach) || !rb_pair_call_warm(shape1, shape2, reach, warm, out))
        status = rb_pair_manifold(shape1, shape2, reach, out);
    remember(out, warm);
    return status;
}

rb_status rb_pair_closest_warm(const rb_shape *shape1, const rb_shape *shape2, double reach,
                               rb_warm *warm, rb_manifold_point *out, int *found)
{
    rb_manifold m;
    m.most = 1;
    *found = 0;
    if (!is_usual(shape1, shape2, reach) || !rb_pair_call_warm(shape1, shape2, reach, warm, &m))
        return rb_pair_closest(shape1, shape2, reach, out, found);
    remember(&m, warm);
    *found = m.n > 0;
    if (*found) *out = m.point[0];
    return RB_OK;
}
