/* What calls remember of each other beside the state. Nothing in it changes a bit of a result: with
 * all flags cleared the same numbers are computed again. It lies in the block of rb_data; counts
 * that are not here are those of rb_data. */
#ifndef RB_MODEL_CACHE_H
#define RB_MODEL_CACHE_H

#include "rattleback/model.h"

/* What is known of a pair of geoms since its last query (G.33). */
typedef struct rb_kept_pair {
    double limit; /* lower bound of the gap plus the motion of both so far; -INFINITY: unknown */
    double n[3];  /* separating direction from geom[0] to geom[1], axes of the link of geom[0] */
    int hint[2]; /* vertices of hulls that are extreme along it                                   */
    signed char kind;  /* how it is measured: src/collide/kept.c  */
    signed char rides; /* 1: motion relative to the first link of their tree; 0: to the world */
    signed char near; /* 1: the last query found points                                           */
} rb_kept_pair;

/* Consecutive pairs of one geom with the geoms of a link. */
typedef struct rb_kept_row {
    int first, end; /* pairs                     */
    int group;      /* that of both of the links */
    int next;       /* row of that group; -1: none */
} rb_kept_row;

/* All pairs of two links. low: lower bound of their gaps plus the motion of both links so far, due:
 * the same plus twice kept_far [m]. */
typedef struct rb_kept_group {
    int link[2];
    int row;          /* the first of its rows                 */
    int rides;        /* as in rb_kept_pair                    */
    int convex;       /* 1: no surface of triangles, no height field */
    int open;         /* 1: this call examines its pairs        */
    double low, next; /* next: low after this call      */
    double due;
} rb_kept_group;

struct rb_cache {
    /* poses of links where rb_data.placed is set, or posed, and frames; src/dynamics/placed.c */
    int posed;                /* 1: placed_pose and placed_S have them                            */
    int strung;               /* 1: where rb_data.placed is set, tendons are there too            */
    uint64_t placed_revision; /* of the model                                                     */
    double *placed_q;         /* configuration that they belong to                  (nq)          */
    double *placed_pose;      /* copy of link_p to link_I                           (nlink x 24)  */
    double *placed_S;         /* copy of dof_S                                      (nv x 6)      */

    /* rb_smooth_step: 1: a link rotated fast in the last one */
    int spins;

    /* rb_step: the last step, where it changed only the time; src/step/rest/rest_cache.c */
    int rest_known, rest_ntouch;
    double rest_report[128]; /* options and report of the step  */
    double *rest_x;       /* state and inputs it began with                        (nrest)      */
    rb_touch *rest_touch; /*                                                       (touch_max)   */

    /* rb_collide: pairs, and how far links have moved since: which pairs need no query;
       src/collide/kept.c */
    const struct rb_model *kept_of; /* model of the last call; NULL: none                         */
    int kept_nrow, kept_ngroup;     /*                                                            */
    unsigned kept_calls;            /* number of updates of the poses                             */
    int kept_parent;                /* option.filter_parent then                                  */
    double kept_left[2];            /* least of all gaps, and twice kept_far [m]                  */
    double kept_far[2];             /* sum of the largest motions of geoms [m]                    */
    double *kept_pose;     /* links at the last call: origin, rotation              (nlink x 12)  */
    double *kept_way;      /* path of the origin and rotation: in the world, and relative to the
                              first link of the tree [m], [1]                       (nlink x 4)   */
    double *kept_out;      /* largest distance of a geom from its link origin [m]   (ngeom)       */
    double *kept_link_out; /* most of its geoms [m]                                 (nlink)       */
    double *kept_thin;     /* radius of the ball in the thinnest of them [m]        (nlink)       */
    int *kept_root; /* first link of its tree, where that is free to move, else 0   (nlink)       */
    rb_kept_row *kept_row; /*                                                       (nmeet)       */
    rb_kept_group *kept_group; /*                                                   (nmeet)       */
    rb_kept_pair *kept; /*                                                       (nmeet)       */
};

#endif
