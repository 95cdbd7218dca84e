/* What the parts of `rattleback bench` share. */
#ifndef RATTLEBACK_CLI_BENCH_H
#define RATTLEBACK_CLI_BENCH_H

#include <stddef.h>

#include "rattleback/step.h"
#include "rattleback/solve.h"

int bench_corpus(int argc, char **argv);
int bench_solve(int argc, char **argv);
int bench_scenes(int argc, char **argv);
int bench_dynamics(int argc, char **argv);
int bench_step(int argc, char **argv);
int bench_impacts(int argc, char **argv);
int bench_vclip(int argc, char **argv);
int bench_toss(int argc, char **argv);
int bench_square(int argc, char **argv);
int bench_toi(int argc, char **argv);
int bench_demo(int argc, char **argv);

/* The robots of the demonstration: 1 where all of them moved. */
int bench_robots(int json);

/* Where a file of the reference data is: RATTLEBACK_SHARED names the folder that holds data/, or
 * data itself; else ../shared. 0: not there. */
int bench_find_shared(const char *file, char *path, size_t size);

/* One "--name VALUE" pair or flag of a command line; `text` gets the value. */
typedef struct bench_option {
    const char *name;  /* "--count"                              */
    const char **text; /* NULL: a flag without value             */
    int *flag;
} bench_option;

/* 1: understood. 0: a sentence was printed (or the help), *status is the exit status. */
int bench_parse(int argc, char **argv, const bench_option *options, const char *help, int *status);

/* A whole number in lo .. hi out of an option's text; 0 and a sentence where it is none. */
int bench_number(const char *option, const char *text, unsigned long long lo, unsigned long long hi,
                 unsigned long long *value);

/* An accuracy by its word; NULL leaves *out alone. 0 and a sentence where it is none. */
int bench_accuracy(const char *text, rb_accuracy *out);

/* Monotonic time [us]; reported, never used for decisions. */
double bench_now_us(void);

/* Median and smallest of `count` times; sorts them in place. */
double bench_median(double *times, size_t count);

/* A bar on the terminal's last line; nothing where standard error is no terminal. */
void bench_progress(const char *what, double share);
void bench_progress_end(void);

#endif
