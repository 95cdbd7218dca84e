/* A trajectory on file: CSV where the name ends in .csv, JSON lines where it ends in .jsonl. */
#ifndef RATTLEBACK_CLI_RECORD_H
#define RATTLEBACK_CLI_RECORD_H

#include "run/record_columns.h"

typedef struct record record;

/* 1, or 0 after a sentence: a name with another ending, or columns that do not exist. "-" is CSV on
 * standard output. */
int record_check(const char *path, const char *columns);

/* NULL after a sentence on stderr. Writes the header. `columns`: NULL for the usual ones. */
record *record_open(const char *path, const char *columns, const record_state *s);

/* One row; written in blocks of whole rows, so that a killed run keeps all but the last one. */
void record_row(record *r, const record_state *s);

/* 1, or 0 after a sentence: not everything could be written. */
int record_close(record *r);

#endif
