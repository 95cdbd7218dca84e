/* Formulations: how contact becomes a complementarity problem, and what materials say of it.
 *
 * Theory: docs/theory/contact.md, equations (F.*). Which one to take: docs/manual/run.md. */
#ifndef RATTLEBACK_CONTACT_H
#define RATTLEBACK_CONTACT_H

#include "rattleback/base.h"
#include "rattleback/model.h"
#include "rattleback/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rb_step_opts rb_step_opts; /* rattleback/step.h */

/* How contact becomes a complementarity problem; files in src/contact/formulations. */
typedef struct rb_formulation rb_formulation;
extern const rb_formulation *const rb_formulations[];        /* NULL terminated */
const rb_formulation *rb_formulation_find(const char *name); /* NULL: none                        */
unsigned rb_formulation_kind(const rb_formulation *f);       /* RB_LCP, RB_BOX or RB_CONE */
const char *rb_formulation_name(const rb_formulation *f);
const char *rb_formulation_summary(const rb_formulation *f);

/* When an impact ends (I.8); used by single impacts and by steps that end at impacts. */
typedef enum rb_restitution_law {
    RB_POISSON = 0, /* normal impulse of restitution = e times that of compression               */
    RB_NEWTON,      /* speed of separation = e times the speed of approach; may create energy    */
    RB_STRONGE      /* normal work of restitution = e^2 times that of compression                */
} rb_restitution_law;

/* Sliding coefficient of friction between two geoms (F.1) under these options; NULL: the
 * defaults. */
double rb_pair_friction(const rb_model *m, int geom1, int geom2, const rb_step_opts *opts);

/* Finds geoms of one mechanism, up to three links from each other, that overlap at all positions of
 * the joints between them (F.10): parts of a joint that are drawn too large. It adds a pair to the
 * spec that excludes them from contact, and a warning that names them. Explicit pairs are kept. `m`
 * is the compiled spec, with hulls; *count is the number found: if it is not 0, compile again.
 * Deterministic. RB_NOMEM, RB_BAD_INPUT. */
rb_status rb_spec_leave_out(rb_spec *spec, const rb_model *m, const rb_alloc *alloc, int *count,
                            rb_error *err);

#ifdef __cplusplus
}
#endif

#endif
