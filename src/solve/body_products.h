/* Products with Y of newton_bodies.h where many of them are needed: rows padded to vectors,
 * numbers of contacts by component (x[0][c], x[1][c], x[2][c] of contact c). */
#ifndef RB_SOLVE_BODY_PRODUCTS_H
#define RB_SOLVE_BODY_PRODUCTS_H

#include "base/team.h"
#include "solve/newton_bodies.h"

typedef struct rb_products {
    rb_bodies *b;
    double *row;    /* Y of an entry: 3 rows of 8, two zeros at their ends  (entries x 24) */
    double *col;    /* the same: 6 columns of 4, a zero at their ends       (entries x 24) */
    double *blocks; /* of K, that the contacts of one pair add to                          */
    int *run;       /* contacts of the same blocks in a row: first of each  (nrun + 1)     */
    int nrun;
    int *of, *part; /* runs that touch block b are part[of[b]] .. part[of[b + 1] - 1], two numbers
                       each: the run, and which of its entries the block is        (nb + 1), ..  */
    const rb_team *team;
    int members;                    /* 1: there is too little to share out                       */
    int runs[RB_TEAM_MOST + 1];     /* those of member k are runs[k] .. runs[k + 1] - 1          */
    int contacts[RB_TEAM_MOST + 1]; /* their contacts                                            */
    int bodies[RB_TEAM_MOST + 1];   /* blocks of a member                                        */
} rb_products;

/* D of a contact, [ d[0] 0 0; d[1] d[3] d[4]; d[2] d[4] d[5] ], by component. */
typedef struct rb_friction_blocks {
    double *d[6]; /* (nc) each */
} rb_friction_blocks;

/* The team of the arena is the one that computes products, where there are enough of them. */
rb_status rb_products_make(rb_bodies *b, rb_arena *scratch, rb_products *out);

/* u = Y v, for the contacts of member k. */
void rb_products_to_contacts(const rb_products *y, const double *v, double *const u[3], int k);

/* v = Y' r */
void rb_products_to_bodies(const rb_products *y, double *const r[3], double *v);

/* Factors I + Y' D Y. */
void rb_products_factor(const rb_products *y, const rb_friction_blocks *D);

#endif
