/* The path of a spatial tendon. */
#ifndef RB_MODEL_PATH_H
#define RB_MODEL_PATH_H

#include "rattleback/model.h"

/* A straight piece from a, fixed to link_a, to b, fixed to link_b, world [m]. */
typedef struct rb_path_piece {
    int link_a, link_b;
    const double *a, *b;
    double divisor;
    int branch; /* pulleys before it */
} rb_path_piece;

/* Length of the path of tendon t where the links have these frames [m]. `piece`, unless NULL, is
 * called for each straight piece, also for those within a link. */
double rb_path_walk(const rb_model *m, int t, const double *link_p, const double *link_R,
                    void (*piece)(void *ctx, const rb_path_piece *), void *ctx);

#endif
