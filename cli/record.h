/* A trajectory on file: CSV, or JSON lines where the name ends in .jsonl. */
#ifndef RATTLEBACK_CLI_RECORD_H
#define RATTLEBACK_CLI_RECORD_H

#include "rattleback/step.h"

typedef struct record record;

/* NULL after a sentence on stderr. Writes the header. */
record *record_open(const char *path, const rb_model *m);

/* One row; written in blocks of whole rows, so that a killed run keeps all but the last one. */
void record_row(record *r, const rb_data *d, const rb_step_info *info, double energy);

/* 1, or 0 after a sentence: not everything could be written. */
int record_close(record *r);

#endif
