/* Which geoms may touch at all. */
#ifndef RB_MODEL_FILTER_H
#define RB_MODEL_FILTER_H

#include "base/arena.h"
#include "rattleback/model.h"

typedef struct rb_filter {
    const rb_model *m;
    uint64_t *exclude; /* sorted pairs of bodies                       (nexclude) */
    uint64_t *pair;    /* sorted explicit pairs of geoms, g1 < g2      (npair)    */
    int *pair_index;   /* their indices in the model                   (npair)    */
    int npair;         /* without those that are about materials only             */
    uint64_t *never;   /* sorted pairs of geoms that never touch       (nnever)   */
    int nnever;
} rb_filter;

/* The arrays come from the arena. RB_NOMEM only. */
rb_status rb_filter_make(const rb_model *m, rb_arena *arena, rb_filter *filter);

/* Whether geoms g1 < g2 may touch, those of parent and child included: see rb_meet. */
int rb_filter_meets(const rb_filter *filter, int g1, int g2, rb_meet *meet);

/* Whether geoms g1 < g2 may touch; *pair is the explicit pair, -1: none. */
int rb_filter_pass(const rb_filter *filter, int g1, int g2, int *pair);

/* It is only to be seen: no pair has it. */
static inline int rb_geom_is_visual(const rb_model *m, int g)
{
    return m->npair == 0 && m->geom_contype[g] == 0 && m->geom_conaffinity[g] == 0;
}

#endif
