/* `rattleback reproduce`: the experiments of the papers.
 *
 * An experiment is a list of runs of files in scenes/, each through `rattleback run`, and what is
 * read off their records: tables beside the paper's, figures, and checks. A check has an expected
 * value and a bound; an experiment whose checks hold ends with status 0. */
#ifndef RATTLEBACK_CLI_REPRODUCE_H
#define RATTLEBACK_CLI_REPRODUCE_H

#include <stddef.h>

#include "reproduce/trajectory.h"

enum { REPRODUCE_CHECKS = 512, REPRODUCE_FIGURES = 16, REPRODUCE_PAGES = 256 };

typedef struct reproduce_check {
    char name[96];
    double value, expected, bound; /* |value - expected| <= bound */
} reproduce_check;

typedef struct reproduce {
    const char *out;    /* folder of records and figures          */
    const char *scenes; /* folder of the scenes                   */
    int json;           /* 1: no tables, one JSON object at the end */
    int brief;          /* 1: fewer and shorter runs, for tests   */
    int failed;         /* a run or a file failed                 */

    int ncheck, nfigure;
    reproduce_check check[REPRODUCE_CHECKS];
    char figure[REPRODUCE_FIGURES][64];

    const char *html; /* folder of pages that show the runs; NULL: none */
    int npage;        /* of all experiments so far */
    struct {
        char file[96], title[160];
    } page[REPRODUCE_PAGES];
} reproduce;

/* Text for people: nothing with --json. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void reproduce_say(const reproduce *r, const char *format, ...);

/* Notes |value - expected| <= bound and returns whether it holds; the name is a format. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
int reproduce_near(reproduce *r, double value, double expected, double bound, const char *name,
                   ...);

/* Path of a figure in the folder, noted. */
const char *reproduce_figure(reproduce *r, const char *name, char *path, size_t size);

/* ---- runs --------------------------------------------------------------------------------------
 */

typedef struct trial {
    trajectory path; /* empty where nothing was recorded */
    int steps, contacts_max, rows_max, failures;
    int impacts, events, resolved, shifts, micros; /* `impulse`, `hybrid` */
    double time, wall, cpu, contacts_mean, residual_max, penetration_max, loop_error_max;
    double energy_start, energy_end, energy_created_max;
} trial;

/* `rattleback run SCENE` with the options, a format, split at blanks; name: of the record, or NULL
 * for none. 1; 0 after a sentence where it did not run to its end (r->failed is set). */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
int trial_run(reproduce *r, trial *t, const char *name, const char *scene, const char *options,
              ...);
void trial_free(trial *t);

/* Time at which something touched first in the last run, which had --watch; NAN: never. */
double trial_first_contact(const reproduce *r);

/* A command of this program with its arguments, NULL after them, in a process of its own; what it
 * prints goes to files. Its exit status, -1 where it had none. */
int trial_command(int (*command)(int argc, char **argv), char **argv, const char *out,
                  const char *err);

/* ---- experiments -------------------------------------------------------------------------------
 */

void reproduce_rod(reproduce *r);
void reproduce_balls(reproduce *r);
void reproduce_cube(reproduce *r);
void reproduce_impulse(reproduce *r);
void reproduce_pendulum(reproduce *r);

#endif
