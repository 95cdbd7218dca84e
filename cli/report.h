/* What the solving commands print: answer lines, a table, a summary, a progress bar. */
#ifndef RATTLEBACK_CLI_REPORT_H
#define RATTLEBACK_CLI_REPORT_H

#include "rattleback/io.h"

/* One problem, solved once by one solver. */
typedef struct answer {
    const rb_problem_entry *entry;
    const rb_solver *solver;
    rb_status status; /* other than RB_OK: refused, and only `error` below means something */
    rb_error error;
    rb_info info;
    const double *z; /* impulses                                    (n)   */
    const double *u; /* cone: velocities                            (n)   */
    double seconds;  /* shortest of the repeats                           */
} answer;

/* "solved", "ray" or "failed". */
const char *outcome_name(rb_outcome outcome);

/* One JSON line. */
void report_json(FILE *out, const answer *a);

/* A name cut or padded to a column; control characters and parts of UTF-8 do not reach the
 * terminal. Widths are in code points. */
void report_name(FILE *out, const char *name, int width);

/* Head of the table, and one line of it. */
void report_head(FILE *out, const char *size_name);
void report_row(FILE *out, const answer *a);

/* Counts per solver, in the order of rb_solvers[]. */
enum { REPORT_MAX_SOLVERS = 32 };
typedef struct tally {
    int count, solved, ray, failed;
    int solvable, solvable_solved;     /* where the file knows the problem has a solution */
    int unsolvable, unsolvable_solved; /* where it knows that there is none               */
    double worst;                      /* largest relative residual called solved         */
    double seconds;
} tally;

void tally_add(tally *t, const answer *a);
void report_summary(FILE *out, const tally tallies[REPORT_MAX_SOLVERS]);

/* A bar on stderr where that is a terminal; `share` < 0: size not known. */
void progress_show(double share, int count);
void progress_clear(void);

/* file:line: text on stderr, the bar out of the way. */
void report_error(const rb_error *err);

#endif
