/* A spatial hash at several resolutions: which moving boxes are close [Mirtich 1996].
 *
 * Every body has a level, chosen once from its size: the edge of the cells of a level is a power of
 * two, at least the size. A box is entered in the cells that it touches at its level and at all
 * coarser ones; two bodies are close where they share a cell at the coarser of their levels. Made
 * for boxes that move one at a time, as the bodies of an event-driven simulation do: entering again
 * costs nothing while the cells are the same. */
#ifndef RB_COLLIDE_HASH_GRID_H
#define RB_COLLIDE_HASH_GRID_H

#include "collide/broad.h"
#include "rattleback/base.h"

typedef struct rb_hash_grid rb_hash_grid;

/* For n bodies whose boxes are about size[i] wide [m]; a box may be wider for a while. INFINITY or
 * 0: compared with all. NULL: out of memory. Nothing else allocates. */
rb_hash_grid *rb_hash_grid_new(int n, const double *size, const rb_alloc *alloc);
void rb_hash_grid_free(rb_hash_grid *grid); /* NULL is fine */

/* Puts body i where `box` says, which may be infinite. Returns 1 where its cells have changed. */
int rb_hash_grid_move(rb_hash_grid *grid, int i, const rb_aabb *box);

/* Bodies whose boxes meet that of body i, ascending, without i; only those > i where `above` is 1.
 * found has room for n. The answer does not depend on the order of the moves. */
int rb_hash_grid_near(const rb_hash_grid *grid, int i, int above, int *found);

/* Cells that body i is entered in, and how often a body was entered anew: for measurements. */
int rb_hash_grid_cells(const rb_hash_grid *grid, int i);
long rb_hash_grid_entered(const rb_hash_grid *grid);

#endif
