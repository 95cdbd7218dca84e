/* An order of rows or contacts that depends on their numbers alone, not on how they are listed: for
 * problems with several answers, where rounding, and so the order, would choose. */
#ifndef RB_SOLVE_CANONICAL_H
#define RB_SOLVE_CANONICAL_H

#include "solve/cone.h"
#include "solve/partition.h"

/* order (n): the rows of b. */
rb_status rb_canonical_rows(const rb_boxed *b, rb_arena *scratch, int *order);

/* member (count): contacts of k, all that W couples with each other; sorted in place. */
rb_status rb_canonical_contacts(const rb_cones *k, rb_arena *scratch, int count, int *member);

#endif
