/* Pairs of shapes on paths of close poses. */
#ifndef RB_BENCH_COLLIDE_PATHS_H
#define RB_BENCH_COLLIDE_PATHS_H

#include "side.h"

typedef struct family {
    const char *name;
    int type[2], nvert;
    int aligned; /* 1: faces stay parallel, as of boxes in a stack */
} family;

extern const family families[];
extern const int nfamily;

/* `motion` 1: 1 ms between poses at some metres and radians per second; 0: all poses are the same.
 * Ends the program where a hull cannot be made. */
void make_path(const family *f, int touching, double motion, uint64_t seed, path *p);
void free_path(path *p);

/* Processor time [s]. */
double seconds(void);

/* Shape k at its pose i; what is timed calls it. */
static inline rb_shape shape_at(const path *p, int k, int i)
{
    return (rb_shape){ .type = p->type[k],
                       .size = p->size[k],
                       .p = p->at[i][k].p,
                       .R = p->at[i][k].R,
                       .model = p->hulls,
                       .asset = p->type[k] == RB_GEOM_MESH ? k : -1 };
}

#endif
