/* Triplets -> block rows, and block diagonal mass matrices -> their inverses. */
#ifndef RATTLEBACK_SRC_IO_SPARSE_H
#define RATTLEBACK_SRC_IO_SPARSE_H

#include "io/fields.h"

/* Rows of bs x bs blocks as in rb_matrix; bs = 1 is plain compressed rows. */
typedef struct rb_io_blocks {
    int *ptr, *col; /* (rows/bs + 1), (ptr[rows/bs])   */
    double *val;    /* blocks, row major               */
} rb_io_blocks;

/* Duplicates are added in file order. rows and cols are multiples of bs. `key` is for messages. */
rb_status rb_io_blocks_build(rb_io_context *ctx, const char *key, const rb_io_triplets *t, int bs,
                             rb_io_blocks *out);

/* M in the order in which its coupled degrees of freedom lie side by side. */
typedef struct rb_io_mass {
    int m;        /* degrees of freedom                                                      */
    int nblock;   /* groups of coupled ones                                                  */
    int *start;   /* group b covers new positions start[b] .. start[b+1]-1       (nblock+1)  */
    int *place;   /* old dof -> new position                                     (m)         */
    double *minv; /* inverse of each diagonal block, row major, one after the other          */
} rb_io_mass;

/* Groups the dofs by the pattern of the square matrix M and inverts every block. Where
 * `inverted` is set the entries are those of the inverse already. */
rb_status rb_io_mass_build(rb_io_context *ctx, const char *key, const rb_io_triplets *M,
                           int inverted, rb_io_mass *out);

#endif
