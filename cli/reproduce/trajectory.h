/* What `rattleback run --record FILE.csv` wrote, as a table. */
#ifndef RATTLEBACK_CLI_TRAJECTORY_H
#define RATTLEBACK_CLI_TRAJECTORY_H

typedef struct trajectory {
    int nrow, ncol;
    double *x;  /* row by row; what is not finite in the run is NAN   (nrow x ncol) */
    char *head; /* names of the columns, one after the other, each with its end      */
} trajectory;

/* 1, or 0 after a sentence on stderr. */
int trajectory_read(trajectory *t, const char *path);
void trajectory_free(trajectory *t);

/* -1: no such column */
int trajectory_column(const trajectory *t, const char *name);

/* The number in a row and column. */
static inline double trajectory_at(const trajectory *t, int row, int column)
{
    return t->x[(long)row * t->ncol + column];
}

#endif
