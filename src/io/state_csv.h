/* Rows of a CSV record (rattleback run --record) as states. */
#ifndef RATTLEBACK_SRC_IO_STATE_CSV_H
#define RATTLEBACK_SRC_IO_STATE_CSV_H

#include "io/context.h"

/* Where each column goes: its place among qpos, qvel and ctrl, one after the other; -1: it is
 * recorded but no part of a state. NULL: out of memory. *unknown: a column that no record has, or
 * NULL. */
int *rb_io_record_places(const rb_table *table, const rb_model *m, const rb_alloc *alloc,
                         const char **unknown);

/* The first coordinate or velocity that has no column, or NULL where all or none of them have one.
 */
const char *rb_io_record_gap(const rb_table *table, const rb_model *m, const int *place, char *buf,
                             size_t size);

/* The row as qpos, qvel and ctrl of an entry; those without columns are NULL. */
rb_status rb_io_record_row(rb_io_context *ctx, const rb_table *table, const rb_model *m,
                           const int *place, int row, rb_state_entry *e);

#endif
