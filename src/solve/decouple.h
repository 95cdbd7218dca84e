/* Independent parts of a boxed problem, each as a problem of its own. */
#ifndef RB_SOLVE_DECOUPLE_H
#define RB_SOLVE_DECOUPLE_H

#include "solve/partition.h"

/* label[i] = island of row i, numbered by first row; returns their number, -1 when out of memory.
 * Rows are in one island where W couples them in either direction. */
int rb_islands_find(const rb_boxed *b, rb_arena *scratch, int *label);

typedef struct rb_island {
    rb_boxed b;
    int *row;            /* row of the whole problem                  (b.n) */
    double *z, *ray;     /*                                           (b.n) */
    unsigned char *mode; /*                                           (b.n) */
} rb_island;

rb_status rb_island_extract(const rb_boxed *all, const int *label, int which, rb_arena *scratch,
                            rb_island *out);

/* The rows in the order given, m of them; `row` belongs to the caller. */
rb_status rb_island_of_rows(const rb_boxed *all, int m, int *row, rb_arena *scratch,
                            rb_island *out);

/* z and mode of the whole problem into the island, and back. */
void rb_island_gather(const rb_island *s, const double *z, const unsigned char *mode);
void rb_island_scatter(const rb_island *s, double *z, unsigned char *mode);

#endif
