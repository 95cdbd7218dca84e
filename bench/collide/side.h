/* One pair of shapes on a path of close poses, and what an engine does with it. */
#ifndef RB_BENCH_COLLIDE_SIDE_H
#define RB_BENCH_COLLIDE_SIDE_H

#include "rattleback/collide.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { POSES = 256, MOST_VERT = 100 };

typedef struct placed {
    double p[3], R[9];
} placed;

/* Shape k of the pair: type[k] of rb_geom_type, sizes as in rb_geom_def; hulls have vert[k]. */
typedef struct path {
    const char *name;
    int touching; /* 1: every pose overlaps a little; 0: every pose is apart */
    int type[2], nvert[2];
    double size[2][3], vert[2][MOST_VERT][3];
    const rb_model *hulls; /* meshes 0 and 1 */
    placed at[POSES][2];
} path;

/* An engine. `query` answers pose i with the gap [m], or NAN where it tells no distance. */
typedef struct side {
    const char *name;
    const char *does[2];          /* for poses that are apart and that touch */
    void *(*make)(const path *p); /* NULL: it has no such pair */
    double (*query)(void *handle, int i);
    void (*release)(void *handle);
} side;

extern const side side_ours, side_ours_vclip, side_ours_warm;
extern const side side_ccd_gjk, side_ccd_mpr, side_bullet, side_mujoco;

#ifdef __cplusplus
}
#endif

#endif
