/* Pairs of a search within slightly more than its reach. As long as no geom leaves the box that the
 * search gave it, no other pair can touch, and no new search is needed. */
#ifndef RB_COLLIDE_NEAR_H
#define RB_COLLIDE_NEAR_H

#include "base/arena.h"
#include "rattleback/collide.h"

typedef struct rb_near {
    int known; /* 0: no search was made, or there were too many pairs                      */
    int n;
    int capacity;
    int (*pair)[3]; /* geoms g1 < g2 and their explicit pair, -1: none      (capacity)          */
    double *room;   /* how far its surface may be from where h v takes it [m]  (ngeom)          */
    double *way;    /* how far its points go with h v, and beside it, at most [m]  (ngeom)      */
    double *far;    /* its centre from the origin of its link [m]           (ngeom)             */
    double *arm;    /* rb_bounds_arm [m]                                    (ngeom)             */
} rb_near;

/* The arrays come from the arena. 0: out of memory. */
int rb_near_push(const rb_model *m, rb_arena *arena, rb_near *near);

/* rb_collide, and the pairs that it saw. */
rb_status rb_collide_noting(const rb_model *m, rb_data *d, double h, double dv_max, int capacity,
                            rb_contact *contacts, int *n, rb_near *near, rb_error *err);

/* rb_collide among those pairs only. */
rb_status rb_collide_near(const rb_model *m, rb_data *d, double h, double dv_max,
                          const rb_near *near, int capacity, rb_contact *contacts, int *n,
                          rb_error *err);

#endif
