/* Within src/step: the loops of a model at one configuration as rows that nothing else acts beside.
 */
#ifndef RB_STEP_CLOSURE_H
#define RB_STEP_CLOSURE_H

#include "step/stage.h"

/* Equalities of an island and joints that stick, W = J M^-1 J' of them factored. */
typedef struct rb_closed {
    int n, rank; /* n = 0: they are not closed                                               */
    int *row;    /* in the set                                                     (n)       */
    double *A;   /* L D L' of W scaled to unit diagonal                            (n x n)   */
    int *perm;   /*                                                                (n)       */
    double *scale, *x, *work; /*                                                    (n)       */
} rb_closed;

typedef struct rb_closure {
    rb_constraints set;
    const unsigned char *sticks; /* dry friction holds; NULL: none                  (set.n)       */
    rb_closed *of;               /*                                                 (set.nisland) */
    const unsigned char
        *last; /* rows that are taken after others that will do; NULL: none (set.nrow) */
} rb_closure;

/* Rows at the pose and velocity of d; no island is closed. All arrays from the arena. */
rb_status rb_closure_open(rb_stage *s, rb_closure *x);

/* Rows of an island that are equalities, or of joints that stick. */
int rb_closure_row_count(const rb_closure *x, int island);

/* Closes an island, if it has such rows; those with pivots up to tol times their number repeat
 * others. Needs a factor of M, or of M and what is stiff. */
rb_status rb_closure_factor(rb_stage *s, rb_closure *x, int island, double tol);

/* A tree of the island. */
int rb_closure_tree(const rb_stage *s, const rb_closure *x, int island);

int rb_closure_is_closed(const rb_closure *x, const rb_constraint *c);

/* z = -W^-1 y on closed rows, zero on others                                          (set.nrow) */
void rb_closure_solve(const rb_closure *x, const double *y, double *z);

/* 1/2 y' W^-1 y of an island: the kinetic energy of velocities y that its rows do not allow. */
double rb_closure_energy(const rb_closure *x, int island, const double *y);

/* v += M^-1 J' p; needs the factor of M. f, scratch (nv) */
void rb_closure_push(const rb_stage *s, const rb_closure *x, const double *p, double *f, double *v);

/* Work of p on an island whose rows went from u to u_new. */
double rb_closure_work(const rb_closure *x, int island, const double *p, const double *u,
                       const double *u_new);

/* Largest of the velocities u_new that impulses leave to closed rows, beside those that the rows of
 * its island are made of, before them, v, and after, v_new [1]: a row may be one velocity that they
 * take away. */
double rb_closure_residual(const rb_closure *x, const double *v, const double *v_new,
                           const double *u_new);

#endif
