/* Measurements in files of comma separated numbers. */
#ifndef RATTLEBACK_BENCH_CSV_H
#define RATTLEBACK_BENCH_CSV_H

#include "rattleback/base.h"

/* n numbers of a line; 0 where there are fewer or more, or one is not finite. */
int rb_csv_numbers(const char *line, double *out, int n);

/* Says what is wrong where, and returns 0. */
int rb_csv_fail(rb_error *err, const char *file, int line, const char *text);

#endif
