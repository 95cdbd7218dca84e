/* The options that `lcp` and `friction` share. */
#ifndef RATTLEBACK_CLI_OPTIONS_H
#define RATTLEBACK_CLI_OPTIONS_H

#include "rattleback/io.h"

typedef struct options {
    const char *command;     /* "lcp" or "friction"                              */
    unsigned kinds;          /* kinds of problems its files hold                 */
    const rb_solver *solver; /* NULL: every solver that takes the problem        */
    double tol;              /* relative residual to certify                     */
    int max_iter;            /* 0: the library's default                         */
    int repeat;              /* solves per problem; the shortest time counts     */
    int unique;              /* 1: uniform-compliance answer where several exist */
    int json;
    int help;
    char **files;
    int nfile;
} options;

/* 1, or 0 after a sentence on stderr. opts holds the defaults. argv is reordered: files point
 * into it. */
int options_parse(int argc, char **argv, options *opts);

/* "auto, lemke, ...": the solvers for these kinds, on `out`. */
void options_list_solvers(FILE *out, unsigned kinds);

#endif
