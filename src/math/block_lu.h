/* Sparse LU of a square matrix of small dense blocks with a symmetric pattern, for contact graphs.
 *
 *     P G P' = L D U      L, U unit block triangular (U scaled by D), D block diagonal
 *
 * The order is chosen once per pattern by minimum degree on groups of indistinguishable blocks; the
 * values can then be factored again and again. No pivoting between blocks: for systems that are
 * close to positive (semi)definite with a little compliance added.
 *
 * Large ones are ordered so that subtrees of the elimination tree come first, one after the other,
 * and what separates them last. Subtrees do not know of each other: the members of a team take
 * ranges of them. Each row is one sum in one order, by any member. */
#ifndef RB_MATH_BLOCK_LU_H
#define RB_MATH_BLOCK_LU_H

#include "base/arena.h"
#include "base/team.h"

enum { RB_BLOCK_LU_MAX = 6 }; /* largest bs */

typedef struct rb_block_lu {
    int nb, bs;
    const int *ptr, *col; /* the pattern given, symmetric, with diagonal      (nb+1), (nblk)   */
    int *order, *place;   /* order[k] = block eliminated k-th; place = inverse   (nb) each     */
    int *uptr, *ucol;     /* row k of U: columns > k, ascending, in eliminated order           */
    int *lptr, *lcol;     /* row k of L: columns < k, ascending                                */
    double *uval;        /* rows of U: bs scalar rows, the columns of all its blocks side by side */
    double *lval;        /* blocks of L, by columns                                           */
    double *ubycol;      /* blocks of U, by columns: what solutions read                      */
    double *dinv, *dcol; /* inverse diagonal blocks, by rows and by columns  (nb x bs x bs)  */
    double *row;         /* one dense block row for each member, scratch     (bs x nb bs)     */
    int top;             /* first row that separates subtrees; nb: there is none               */
    int cut[RB_TEAM_MOST + 1]; /* ranges of rows below it that members take                   */
    const rb_team *team;
    double *dense; /* rows on top while a team is at them: side by side; NULL: none               */
    int perturbed; /* diagonal blocks lifted in the last factorisation                    */
    double pivot_ratio; /* least / largest pivot of the last factorisation                     */
} rb_block_lu;

/* Chooses the order and takes all memory. RB_TOO_LARGE if L or U would exceed max_blocks. */
rb_status rb_block_lu_analyse(rb_block_lu *f, int nb, int bs, const int *ptr, const int *col,
                              size_t max_blocks, rb_arena *scratch);

/* Thousands of multiplications of a factorisation. */
double rb_block_lu_work(const rb_block_lu *f);

/* val: blocks in the order of ptr, col. */
void rb_block_lu_factor(rb_block_lu *f, const double *val);

/* x: right side in, solution out; work has nb * bs entries. */
void rb_block_lu_solve(const rb_block_lu *f, double *x, double *work);

#endif
