/* Collision: which geoms are near each other, how far apart, where, and along which normal.
 *
 * Conventions (docs/theory/conventions.md): the normal points from geom 1 to geom 2, gap > 0 means
 * apart, gap < 0 is the depth of the overlap. There is no margin: a gap is the true distance.
 * Design: docs/design/collide.md. */
#ifndef RATTLEBACK_COLLIDE_H
#define RATTLEBACK_COLLIDE_H

#include "rattleback/base.h"
#include "rattleback/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- one pair of shapes -----------------------------------------------------------------------
 */

/* A geom placed in the world. */
typedef struct rb_shape {
    int type;              /* rb_geom_type                                                       */
    const double *size;    /* as in rb_geom_def                                         (3)      */
    const double *p;       /* centre, world [m]                                         (3)      */
    const double *R;       /* rotation to the world, row major                          (9)      */
    const rb_model *model; /* for meshes and height fields, else NULL                           */
    int asset;             /* mesh or height field, -1: none                                     */
    int surface; /* mesh: 1 its triangles, seen from outside; 0 its hull                         */
} rb_shape;

#define RB_MANIFOLD_MAX  8 /* points of one pair before reduction to RB_MANIFOLD_KEEP */
#define RB_MANIFOLD_KEEP 4

typedef struct rb_manifold_point {
    double gap;       /* [m]                                                                    */
    double pos1[3];   /* witness on shape 1, world [m]                                          */
    double pos2[3];   /* witness on shape 2: pos2 = pos1 + gap normal                           */
    double normal[3]; /* unit, from 1 to 2                                                      */
    uint32_t feature; /* which features touch; the same from step to step while they do         */
} rb_manifold_point;

typedef struct rb_manifold {
    int n;
    int most; /* most points wanted: RB_MANIFOLD_KEEP (default), RB_MANIFOLD_MAX or 1 */
    rb_manifold_point point[RB_MANIFOLD_MAX];
    double error; /* 0: the search for the least gap ended. > 0: it reached its cap, and the least
                     gap may be too small by this much, never too large [m]                     */
} rb_manifold;

/* Points of the pair with gap <= reach (reach >= 0, may be INFINITY: then at least the closest
 * point). RB_UNSUPPORTED where the pair table has no entry. Symmetric: swapping the shapes swaps
 * the witnesses and negates the normal. Of a surface of triangles the RB_MANIFOLD_MAX closest
 * points come; RB_TOO_LARGE where it is met in too many planes. */
rb_status rb_pair_manifold(const rb_shape *shape1, const rb_shape *shape2, double reach,
                           rb_manifold *out);

/* The closest point alone, at less cost than the manifold. Where several points are equally close,
 * one of them; its gap is that of the manifold. Otherwise as rb_pair_manifold. */
rb_status rb_pair_closest(const rb_shape *shape1, const rb_shape *shape2, double reach,
                          rb_manifold_point *out, int *found);

/* Where the next search begins: the normal of the last answer, and of polyhedra the simplex with
 * which GJK ended. All zero: no start is known. A start from other shapes is allowed: it costs time
 * and does not change the answer. */
typedef struct rb_warm {
    double n[3];      /* from 1 to 2, world                                   */
    int ncorner;      /* 0 to 3                                               */
    int corner[3][2]; /* vertices of shapes 1 and 2 of which each is made     */
} rb_warm;

/* rb_pair_manifold for poses that follow each other: the same answer, sooner. Polyhedra that touch
 * begin with the last normal, those apart with the last simplex, and give the same bits as well,
 * unless several directions are equal to rounding; curved shapes begin Newton's method with the
 * last normal, and agree to rounding. */
rb_status rb_pair_manifold_warm(const rb_shape *shape1, const rb_shape *shape2, double reach,
                                rb_warm *warm, rb_manifold *out);

/* rb_pair_closest with a warm start. */
rb_status rb_pair_closest_warm(const rb_shape *shape1, const rb_shape *shape2, double reach,
                               rb_warm *warm, rb_manifold_point *out, int *found);

/* ---- closest features of polyhedra ------------------------------------------------------------
 */

/* Where the next search begins: features of the two polyhedra, as the last one left them. All zero,
 * and features of other shapes, are valid starts. */
typedef struct rb_vclip {
    int feature[2]; /* 4 * index + kind: 0 vertex, 1 edge (an entry of its loop), 2 face          */
} rb_vclip;

typedef struct rb_vclip_result {
    int overlap; /* 1: the shapes overlap: there is no distance, and the rest is not set        */
    double distance;  /* [m]                                                                      */
    double pos1[3];   /* closest points, world [m]                                               */
    double pos2[3];   /*                                                                         */
    double normal[3]; /* unit, from 1 to 2                                                       */
    int steps;        /* pairs of features visited                                               */
    int escaped;      /* 1: rounding made it cycle, another method found the answer              */
} rb_vclip_result;

/* Closest points of two boxes or hulls by walking over their features (V.1): near-constant time
 * where the cache is from a pose close by. It finds whether they overlap, not how deep: that is
 * for rb_pair_manifold. RB_UNSUPPORTED: a shape is no polyhedron. RB_BAD_INPUT: a pose that is
 * not finite. */
rb_status rb_vclip_query(const rb_shape *shape1, const rb_shape *shape2, rb_vclip *cache,
                         rb_vclip_result *out);

/* ---- time of impact ---------------------------------------------------------------------------
 */

/* How a rigid body moves: its point c follows a parabola, and it rotates about c with a constant
 * angular velocity. World axes. */
typedef struct rb_ballistic {
    double c[3]; /* at time 0 [m]                                                                */
    double v[3]; /* its velocity at time 0 [m/s]                                                 */
    double a[3]; /* its acceleration [m/s^2]                                                     */
    double w[3]; /* angular velocity [rad/s]                                                     */
} rb_ballistic;

typedef enum rb_toi_outcome {
    RB_TOI_NONE = 0,  /* apart up to the horizon                                                  */
    RB_TOI_HIT,       /* they meet: not before `time`, not after `late`                           */
    RB_TOI_OVERLAP,   /* they touch or overlap at time 0                                          */
    RB_TOI_GRAZES,    /* they come so close that rounding decides: apart up to `time`             */
    RB_TOI_UNFINISHED /* 1000 gaps were not enough (fast spins): apart up to `time`      */
} rb_toi_outcome;

typedef struct rb_toi {
    rb_toi_outcome outcome;
    double time;          /* apart for all times before it [s]; INFINITY with RB_TOI_NONE, also
                             where they meet after the horizon                                    */
    double late;          /* RB_TOI_HIT: they touch or overlap here, late - time <= precision [s] */
    rb_manifold_point at; /* closest points at `time`; not set where outcome = RB_TOI_NONE        */
    int steps;            /* gaps that were computed                                              */
} rb_toi;

/* Precision of the time of an impact [s]. */
#define RB_TOI_PRECISION 1e-9

/* When two shapes, given at time 0, first touch within 0 .. horizon [s], horizon finite. Never
 * later than the true time, for RB_TOI_HIT at most RB_TOI_PRECISION before it (T.1).
 * RB_UNSUPPORTED: no entry in the pair table, a rotating plane, or shapes that are not convex.
 * RB_BAD_INPUT: a number is not finite. */
rb_status rb_toi_shapes(const rb_shape *shape1, const rb_ballistic *flight1, const rb_shape *shape2,
                        const rb_ballistic *flight2, double horizon, rb_toi *out);

/* ---- a whole model ----------------------------------------------------------------------------
 */

typedef struct rb_contact {
    int geom1, geom2; /* geom1 < geom2                                                          */
    int pair;         /* explicit pair of the model that it comes from, -1: none                */
    rb_manifold_point at;
    double error; /* of the least gap of its pair, as in rb_manifold [m]                        */
} rb_contact;

/* All contacts that could close within h seconds [s] while every link moves with its present
 * velocity, changed by at most dv_max [m/s] at each of its points, sorted by (geom1, geom2,
 * feature). Of two shapes that could touch, all points that could close are listed. h = 0: what
 * touches or overlaps now; dv_max = INFINITY: every pair that the filter accepts.
 *
 * Filtering as MJCF: contype/conaffinity, exclude, parent and child; an explicit pair overrides
 * these. Geoms of one link, or of links that no dof moves, never meet.
 *
 * Needs rb_frames and rb_velocity. *n is the number found; RB_FULL where it exceeds capacity (then
 * the first `capacity` are written), RB_UNSUPPORTED where shapes that could touch have no entry in
 * the pair table, RB_BAD_INPUT where a pose or velocity is not finite (names in err), RB_NOMEM. */
rb_status rb_collide(const rb_model *m, rb_data *d, double h, double dv_max, int capacity,
                     rb_contact *contacts, int *n, rb_error *err);

/* The same with up to RB_MANIFOLD_MAX points of a pair of convex shapes. A reduction to
 * RB_MANIFOLD_KEEP points may choose others after a tiny rotation; this list does not. */
rb_status rb_collide_full(const rb_model *m, rb_data *d, double h, double dv_max, int capacity,
                          rb_contact *contacts, int *n, rb_error *err);

/* ---- rays -------------------------------------------------------------------------------------
 */

typedef struct rb_ray_hit {
    int geom;         /* that is hit first; -1: none                                            */
    double distance;  /* from the start of the ray [m]; INFINITY: nothing is hit                */
    double point[3];  /* world [m]                                                              */
    double normal[3]; /* of the surface, outward, unit, world                                   */
} rb_ray_hit;

typedef struct rb_ray_opts {
    int exclude_body;   /* its own geoms are not seen, those of bodies fixed to it are; -1: none */
    int exclude_static; /* 1: what is fixed to the world is not seen                            */
    int invisible;      /* 1: geoms that are drawn fully transparent are seen as well            */
    int hulls;          /* 1: meshes by the shape they collide with; 0: by their triangles       */
    unsigned groups;    /* bit k: geoms of group k are seen                                     */
    double reach;       /* what is farther away is not seen [m]                                  */
} rb_ray_opts;

/* Everything is seen that is not drawn fully transparent, meshes by their triangles, without reach.
 * A struct of zeros sees nothing. */
rb_ray_opts rb_ray_opts_default(void);

/* The nearest geom that the ray from + t direction, t >= 0, meets, whether or not geoms collide.
 * `direction` need not have unit length. Solids are hit from inside as well; a plane from above
 * alone, and only where it is drawn (size), as in mj_ray. Of two at the same distance the one with
 * the smaller index counts.
 *
 * opts may be NULL: the default. Needs rb_frames. RB_BAD_INPUT: a number is not finite, or the
 * direction has no length. */
rb_status rb_ray(const rb_model *m, const rb_data *d, const double from[3],
                 const double direction[3], const rb_ray_opts *opts, rb_ray_hit *hit);

/* The same for one shape; hit->geom is -1 always, the distance says whether it is hit. */
rb_status rb_ray_shape(const rb_shape *shape, const double from[3], const double direction[3],
                       rb_ray_hit *hit);

/* ---- distances --------------------------------------------------------------------------------
 */

typedef struct rb_distance {
    int geom1, geom2;     /* between which it is; -1: none within reach                          */
    rb_manifold_point at; /* gap < 0 is the depth of their overlap                               */
} rb_distance;

/* How far two geoms of a model are from each other, whether or not they may collide, up to `reach`
 * [m] (> 0, may be INFINITY). Meshes count by the shape they collide with. Needs rb_frames.
 * RB_UNSUPPORTED: no entry in the pair table, as for two planes. */
rb_status rb_geom_distance(const rb_model *m, const rb_data *d, int geom1, int geom2, double reach,
                           rb_distance *out);

/* The least of all pairs of geoms of two bodies, leaving out pairs that have no entry. */
rb_status rb_body_distance(const rb_model *m, const rb_data *d, int body1, int body2, double reach,
                           rb_distance *out);

#ifdef __cplusplus
}
#endif

#endif
