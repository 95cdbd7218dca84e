/* Problem files: complementarity problems, friction problems and impacts as JSON lines, one object
 * per line. States of models, as JSON objects. Models themselves: rattleback/load.h.
 *
 * A separate library, rattleback_io, so that the core needs nothing but libm. Files are read line
 * by line; a bad line is reported with file, line and field, and reading continues after it.
 * Formats: docs/manual/problem-files.md, docs/manual/compute.md.
 *
 * Memory of readers and entries comes from the rb_alloc given. Jansson, which parses a line, has
 * one allocator per process; it is left as the process set it. */
#ifndef RATTLEBACK_IO_H
#define RATTLEBACK_IO_H

#include <stdio.h>

#include "rattleback/base.h"
#include "rattleback/impact.h"
#include "rattleback/model.h"
#include "rattleback/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- budgets -------------------------------------------------------------------------------- */

/* A line over one of these is refused before anything of its declared size is allocated. */
#define RB_IO_MAX_LINE       ((size_t)64 << 20)  /* bytes of one line                           */
#define RB_IO_MAX_SKIP       ((size_t)512 << 20) /* bytes of a longer line that are skipped     */
#define RB_IO_MAX_DEPTH      64                  /* nested brackets                             */
#define RB_IO_MAX_VALUES     ((size_t)8 << 20)   /* numbers, strings, ... of one line           */
#define RB_IO_MAX_CONTAINERS ((size_t)1 << 18)   /* arrays and objects of one line              */
#define RB_IO_MAX_MEMBERS    ((size_t)1 << 16)   /* "key": value pairs of one line              */
#define RB_IO_MAX_MASS_BLOCK 2048                /* dofs that M of a global problem couples     */
#define RB_IO_MAX_MASS       ((size_t)8 << 20)   /* entries of all blocks of its inverse        */

/* ---- reading -------------------------------------------------------------------------------- */

typedef enum rb_problem_format {
    RB_FORMAT_LCP = 0, /* M, q, optional lo, hi or is_comp: kind RB_LCP or RB_BOX               */
    RB_FORMAT_FRICTION /* W, q, mu, or M, H, f, w, mu: kind RB_CONE                             */
} rb_problem_format;

/* One line of a file. It owns what `problem` points to. */
typedef struct rb_problem_entry {
    const char *name;     /* from the file, or "line-7"                                         */
    const char *expected; /* what the file says about the problem: "solvable", "infeasible"
                             (proven by a Farkas vector), "nosolution", or "" = it says nothing  */
    int line;             /* 1-based                                                            */
    rb_problem problem;
} rb_problem_entry;

typedef struct rb_problem_reader rb_problem_reader;

/* Opens a file, or standard input where path is "-". NULL: see err. */
rb_problem_reader *rb_problem_open(const char *path, rb_problem_format format,
                                   const rb_alloc *alloc, rb_error *err);

/* The next problem, or RB_OK and *entry = NULL at the end. Any other status describes one bad line
 * (RB_BAD_INPUT, RB_TOO_LARGE, RB_NOMEM): call again for the line after it. After RB_FILE comes
 * the end. */
rb_status rb_problem_next(rb_problem_reader *reader, rb_problem_entry **entry, rb_error *err);

/* Share of the file that was read, 0 .. 1; negative where its size is not known (a pipe). */
double rb_problem_progress(const rb_problem_reader *reader);

void rb_problem_close(rb_problem_reader *reader); /* NULL is fine */

/* One line that is in memory already; `line` is its number for messages and default names. */
rb_status rb_problem_parse(rb_problem_format format, const char *bytes, size_t size, int line,
                           const rb_alloc *alloc, rb_problem_entry **entry, rb_error *err);

void rb_problem_entry_free(rb_problem_entry *entry); /* NULL is fine */

/* ---- impacts ------------------------------------------------------------------------------- */

/* One line of a file of impacts. Signs as in the file: n points from body 2 to body 1, the impulse
 * acts on body 1. What is given to rb_impact_bodies as its second body is therefore body[0]. */
typedef struct rb_impact_entry {
    char name[256]; /* from the file, or "line-7"                                               */
    int line;       /* 1-based                                                                  */
    rb_impact_body body[2];
    double n[3]; /* unit normal, from body 2 to body 1                                          */
    double mu, e;
    int law;           /* rb_restitution_law, -1: the file does not say                         */
    int has_answer;    /* 1: the file knows the impulse                                         */
    double impulse[3]; /* on body 1, world axes [N s]                                           */
} rb_impact_entry;

typedef struct rb_impact_reader rb_impact_reader;

/* As the rb_problem_* functions above; rb_impact_next sets *more to 0 at the end. */
rb_impact_reader *rb_impact_open(const char *path, const rb_alloc *alloc, rb_error *err);
rb_status rb_impact_next(rb_impact_reader *reader, rb_impact_entry *entry, int *more,
                         rb_error *err);
double rb_impact_progress(const rb_impact_reader *reader);
void rb_impact_close(rb_impact_reader *reader); /* NULL is fine */
rb_status rb_impact_parse(const char *bytes, size_t size, int line, const rb_alloc *alloc,
                          rb_impact_entry *entry, rb_error *err);

/* ---- states -------------------------------------------------------------------------------- */

/* A point fixed to a body. */
typedef struct rb_state_point {
    int body;
    double pos[3]; /* in the body frame [m]                                                      */
} rb_state_point;

/* State of a step beside coordinates and controls: with it a run continues bit for bit. Fields as
 * in rb_data. */
typedef struct rb_state_resume {
    rb_rng rng;
    double push_time, slope_time, touch_h, correct_end, correct_from;
    const double *wrench, *mocap_v, *mocap_a, *mocap_was, *gauge_at, *push, *slope, *slope_h, *kick,
        *servo, *sensor_past, *ctrl_past;
    int ntouch;
    const rb_touch *touch; /*                                                    (ntouch)        */
} rb_state_resume;

/* One state of a model: what the file does not say is NULL. Lengths are those of the model,
 * numbers finite, quaternions of unit length. */
typedef struct rb_state_entry {
    const char *name;    /* from the file, or ""                                                 */
    const char *unknown; /* first key that means nothing in a state, or NULL                     */
    int line;            /* on which it begins, 1-based                                          */
    double time;         /* [s]                                                                  */
    const double *qpos;  /* coordinates                                          (nq)            */
    const double *qvel;  /* velocities                                           (nv)            */
    const double *act;   /* activations                                          (na)            */
    const double *ctrl;  /* controls                                             (nu)            */
    const double *mocap; /* positions and quaternions                            (nmocap x 7)    */
    const double *tau;   /* applied generalised forces                           (nv)            */
    const double *qacc;  /* accelerations, for inverse dynamics                  (nv)            */
    const rb_state_resume *resume; /* NULL: the file does not come from rb_state_write           */
    int npoint;
    const rb_state_point *points; /*                                             (npoint)        */
} rb_state_entry;

typedef struct rb_state_reader rb_state_reader;

/* A file of states, or standard input where path is "-": JSON objects one after the other, each on
 * one line or on several. Otherwise as the rb_problem_* functions. The model must outlive the
 * reader. */
rb_state_reader *rb_state_open(const char *path, const rb_model *m, const rb_alloc *alloc,
                               rb_error *err);
rb_status rb_state_next(rb_state_reader *reader, rb_state_entry **entry, rb_error *err);
void rb_state_close(rb_state_reader *reader); /* NULL is fine */

/* One state that is in memory already; `line` is that of its first byte, for messages. */
rb_status rb_state_parse(const rb_model *m, const char *bytes, size_t size, int line,
                         const rb_alloc *alloc, rb_state_entry **entry, rb_error *err);
void rb_state_entry_free(rb_state_entry *entry); /* NULL is fine */

/* Copies what the entry has to the state and the inputs of d; the rest of d is unchanged. RB_FULL,
 * with d unchanged, where d has no room for entry->resume->ntouch constraints: rb_data_reserve. */
rb_status rb_state_apply(const rb_model *m, const rb_state_entry *entry, rb_data *d);

/* Writes the state and the inputs of d, warm start included, as one line that rb_state_next reads
 * back to the same bits. Write errors are left to ferror(out). */
void rb_state_write(FILE *out, const rb_model *m, const rb_data *d);

/* ---- tables over time ------------------------------------------------------------------------ */

/* Numbers over time: controls, targets. */
typedef struct rb_table {
    int nrow, ncol;
    const char *const *name; /* of the columns, time not among them             (ncol)            */
    const double *time;      /* never less than in the row before [s]           (nrow)            */
    const double *x;         /* row by row; all finite                          (nrow x ncol)     */
    const int *line;         /* of the file, 1-based                            (nrow)            */
} rb_table;

/* CSV with a header `time,NAME,..`, or JSON lines {"time": t, "NAME": x, ..} with the keys of the
 * first line; "-" is standard input. An empty cell, or a missing key, has the value of the row
 * before. NULL: see err, which names line and column. */
rb_table *rb_table_read(const char *path, const rb_alloc *alloc, rb_error *err);
void rb_table_free(rb_table *table); /* NULL is fine */

/* The row that is valid at time t: the last one whose time is at most t; -1: all are later. */
int rb_table_row(const rb_table *table, double t);

/* ---- writing -------------------------------------------------------------------------------- */

/* Writes one line that the reader reads back to the same bits. W given as an operator is written
 * as "H" and "Minv" for cones; for other kinds it is multiplied out, column by column. */
rb_status rb_problem_write_json(FILE *out, const char *name, const rb_problem *p,
                                const rb_alloc *alloc, rb_error *err);

/* A number with 17 digits, null where it is not finite; a quoted, escaped string. Both are JSON
 * in any locale. Write errors are left to ferror(out). */
void rb_json_put_number(FILE *out, double x);
void rb_json_put_string(FILE *out, const char *text);

#ifdef __cplusplus
}
#endif

#endif
