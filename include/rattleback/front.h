/* What the command and the flat interface share before a step: options by their words, models
 * as `rattleback run` reads and compiles them. Part of rattleback_io. Words and limits:
 * docs/manual/run.md. */
#ifndef RATTLEBACK_FRONT_H
#define RATTLEBACK_FRONT_H

#include "rattleback/base.h"
#include "rattleback/step.h"
#include "rattleback/load.h"
#include "rattleback/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- options of steps --------------------------------------------------------------------------
 */

/* Sets an option by its name and a text: "accuracy" "strict", "tol" "1e-9", .. RB_BAD_INPUT: err
 * says "NAME TEXT: expected ..", or which names there are; opts are unchanged. */
rb_status rb_option_set(rb_step_opts *opts, const char *name, const char *text, rb_error *err);

/* Their names, in the order of the messages, and whether a model may have one as rb.NAME:
 * coefficients in a file belong to its geoms; tol and similar options belong to the caller. */
int rb_option_count(void);
const char *rb_option_name(int k);
int rb_option_is_of_models(int k);

/* Applies the rb.* entries of a model, except those named in `given` (NULL-terminated, or NULL).
 * The restitution law of `impulse` and `hybrid` is Poisson's unless the model or `given` sets it.
 */
rb_status rb_options_from_model(const rb_model *m, const char *const *given, rb_step_opts *opts,
                                rb_error *err);

/* The text of an entry rb.NAME, in `buffer` where it is a number; NULL: the model has none. */
const char *rb_model_entry(const rb_model *m, const char *name, char *buffer, size_t size);

/* ---- models ------------------------------------------------------------------------------------
 */

/* Start from rb_read_opts_default(). */
typedef struct rb_read_opts {
    rb_load_opts load; /* floating_base also frees what an MJCF file fixes to the world */
    int has_ground;    /* 1: a plane z = ground is added to the world; its friction is 0, and
                          the larger of two counts: that of the body on it                  */
    double ground;     /* [m] */
} rb_read_opts;

rb_read_opts rb_read_opts_default(void);

/* Reads a file, or `text` (size bytes) in its place, which path then names; hulls are made. NULL:
 * see err, whose file is never empty where there is a path. */
rb_spec *rb_front_read(const char *path, const char *text, size_t size, const rb_read_opts *opts,
                       rb_error *err);

/* Compiles. Geoms that overlap at all positions of their joints are excluded from contact
 * (rb_spec_leave_out) unless keep_overlap or rb.keep_errors of the spec is set. */
rb_model *rb_front_compile(rb_spec *spec, int keep_overlap, rb_error *err);

#ifdef __cplusplus
}
#endif

#endif
