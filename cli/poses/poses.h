/* What the files of `rattleback poses` share: the options, the tally, the record. The part, its
 * poses and single drops are the library's: rattleback/poses.h. Manual: docs/manual/poses.md.
 * Equations (Q.*): docs/theory/poses.md. */
#ifndef RATTLEBACK_CLI_POSES_H
#define RATTLEBACK_CLI_POSES_H

#include <stdio.h>

#include "model.h"
#include "rattleback/poses.h"

/* ---- many of them -------------------------------------------------------------------------------
 */

typedef struct poses_options {
    model_options model; /* first: the setters of model.h write to it */
    const char *file;    /* the model, or the mesh                    */
    int is_mesh;
    double density, scale;
    const char *inertia, *stepper;
    int drops, threads;
    double precision; /* half-width of all intervals at which to stop; 0: all drops */
    double merge;     /* share of the radius                                        */
    const char *csv, *svg, *record;
    rb_drop_opts drop;
    double friction, restitution; /* NAN: the model's */
} poses_options;

typedef struct poses_tally {
    int drops;
    const int *count; /* drops that ended in each pose    (npose)    */
    int outcome[RB_DROP_OUTCOMES];
    double time; /* sum of the simulated times [s]                   */
    double steps, retries;
    double cpu, wall; /* [s] */
    int interrupted;
} poses_tally;

/* 1, or 0 after a sentence. */
int poses_options_parse(poses_options *o, int argc, char **argv);
void poses_help(FILE *out);

/* The model that o names; NULL after a sentence. */
rb_model *poses_load(poses_options *o);

void poses_report_text(const poses_options *o, const rb_part *p, const poses_tally *t);
void poses_report_json(const poses_options *o, const rb_part *p, const poses_tally *t);
int poses_report_svg(const poses_options *o, const rb_part *p, const poses_tally *t);

/* The record of a run: append only, written in blocks in the order of the drops, so that it can be
 * continued after a kill. */
typedef struct poses_record {
    FILE *file;
    const char *path;
    int written; /* drops in it */
} poses_record;

/* What is in the file, drops 0 .. *n - 1, at most `room` of them; opens it for more. A last line
 * that was cut off is removed. 0 after a sentence: another program's file, other settings. */
int poses_record_open(poses_record *r, const char *path, uint64_t settings, int npose,
                      rb_drop *drops, int room, int *n);
int poses_record_append(poses_record *r, const rb_drop *drops, int upto);
int poses_record_close(poses_record *r);
int poses_write_csv(const char *path, const rb_drop *drops, int n);

#endif
