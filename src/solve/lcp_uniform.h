/* The choice among several answers, island by island, as `auto` makes it on its way. */
#ifndef RB_SOLVE_LCP_UNIFORM_H
#define RB_SOLVE_LCP_UNIFORM_H

#include "solve/partition.h"

/* Replaces a certified answer by the limit of uniform compliance; *unique says what became of it.
 */
rb_status rb_uniform_island(const rb_boxed *b, const rb_solve_opts *o, rb_arena *scratch, double *z,
                            unsigned char *mode, rb_info *info, rb_unique *unique);

/* The limit again from the modes of the last one: a few exchanges at the least compliance, then the
 * limit on that partition. *found = 0: the modes have changed too much, z and mode are as before.
 */
rb_status rb_uniform_again(const rb_boxed *b, const rb_solve_opts *o, rb_arena *scratch, double *z,
                           unsigned char *mode, rb_info *info, int *found);

/* Where the limit was not found: the answer, limit or not, that a cold solve finds with the
 * rows in canonical order. z and mode are unchanged where it finds none (lcp_auto.c). */
rb_status rb_lcp_canonical(const rb_boxed *b, const rb_solve_opts *o, rb_arena *scratch, double *z,
                           unsigned char *mode, rb_info *info);

#endif
