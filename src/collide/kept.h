/* Pairs that are kept from call to call, and which of them have to be examined (G.33). */
#ifndef RB_COLLIDE_KEPT_H
#define RB_COLLIDE_KEPT_H

#include "rattleback/collide.h"

/* How a pair is measured. */
typedef enum rb_kept_kind {
    RB_KEPT_NEVER,   /* parent and child, where these do not meet            */
    RB_KEPT_ALWAYS,  /* nothing is known of it: a plane that moves, shapes without an entry */
    RB_KEPT_PLANE1,  /* geom[0] is a plane                                   */
    RB_KEPT_PLANE2,  /* geom[1] is                                           */
    RB_KEPT_CONVEX,  /* both are convex                                      */
    RB_KEPT_SURFACE, /* triangles of a mesh, within their hull               */
    RB_KEPT_FIELD    /* a height field, within its box                       */
} rb_kept_kind;

/* A walk over the pairs of a call. */
typedef struct rb_keeper {
    const rb_model *m;
    rb_data *d;
    double slack;      /* rounding of gaps and paths [m]                             */
    double *reach;     /* how far geoms of a link go within h, at most [m] (nlink)   */
    double reach_most; /* of all links                                               */
    double least[2];   /* of the groups that are not open: due [m]                   */
    int *group, *rows; /* that are open; rows ascending         (kept_ngroup, kept_nrow) */
    int ngroup, nrow;
    int row, at; /* where it is: in rows, and the pair                         */
    int asked;   /* pair that was handed out, -1: none                         */
} rb_keeper;

/* 1: d keeps pairs, and rb_kept_next lists those that could touch within h. 0: the model has too
 * many, or numbers are not finite. -1: out of memory. Arrays come from the arena. */
int rb_kept_begin(const rb_model *m, rb_data *d, double h, double dv_max, rb_keeper *k);

/* 1: rb_kept_begin would serve the model. */
static inline int rb_kept_serves(const rb_model *m)
{
    return m->nmeet >= 0;
}

/* Paths up to the poses of d. 0: nothing is known. The second: a lower bound of the gap of a pair
 * [m]. */
int rb_kept_follow(const rb_model *m, rb_data *d);
double rb_kept_left(const rb_model *m, const rb_data *d, int pair);

/* Pairs that may touch while geoms of link k move by no more than way[k] [m], from the poses of the
 * last call on, and all those with triangles or height fields; ascending, to pairs (nmeet). Returns
 * how many; -1: out of memory. */
int rb_kept_within(const rb_model *m, rb_data *d, const double *way, double slack, int *pairs);

/* Whether no pair can touch while geoms of link k move by no more than way[2 k] in the world and
 * way[2 k + 1] on the first link of their tree [m], from the poses of the last call on. */
int rb_kept_stays(const rb_model *m, rb_data *d, const double *way, double slack);

/* The next pair that is not certainly apart, sorted by geoms; -1: there are no more. */
int rb_kept_next(rb_keeper *k);

/* How far its geoms may go within h together, and rounding [m]. */
double rb_kept_reach(const rb_keeper *k, int pair);

/* The gap is at least what is returned; n: the direction along which it is, from geom[0] to
 * geom[1]. Along the direction of the last look: */
double rb_kept_measure(rb_keeper *k, int pair, double n[3]);

/* ... and along a better one, sought until the gap is more than reach [m] or known to a quarter. */
double rb_kept_search(rb_keeper *k, int pair, double reach, double n[3]);

/* After a look: the gap is at least this [m]; n may be NULL. near: points were found. */
void rb_kept_note(rb_keeper *k, int pair, double gap, const double *n, int near);

#endif
