/* Springs, dampers and servos that act on several dofs at once, in the inertia of a step (D.55). */
#ifndef RB_DYNAMICS_COUPLING_H
#define RB_DYNAMICS_COUPLING_H

#include "base/arena.h"
#include "rattleback/model.h"

/* What the terms of a step add up to. */
typedef struct rb_coupling {
    double h;    /* length of the step [s]                                                       */
    double *C;   /* sum of g J'J, rows as those of M                                    (nM)     */
    double *k;   /* stiffness and damping by sums of magnitudes, of the same terms      (nv_all) */
    double *b;   /*                                                                     (nv_all) */
    double *row; /* scratch: one term, zero when it is not used                         (nv_all) */
    int *dof;    /* scratch: its dofs, descending                                       (nv_all) */
} rb_coupling;

/* Whether anything on several dofs may push by how it is stretched. Gauges keep the diagonal. */
int rb_coupling_any(const rb_model *m);

/* Arrays from the arena; 0: out of memory. */
int rb_coupling_push(const rb_model *m, rb_arena *arena, rb_coupling *c);

void rb_coupling_begin(const rb_model *m, double h, rb_coupling *c);

/* d->L := factor of M + diag(E) + C; C (nM) may be NULL. */
rb_status rb_mass_factor_with(const rb_model *m, rb_data *d, const double *E, const double *C);

/* A term with the row J (n entries, dofs in any order, maybe repeated), whose force falls by `hold`
 * a length and by `brake` a rate. 0: M has no room for it, and nothing was added. */
int rb_coupling_add(const rb_model *m, int n, const int *dof, const double *J, double scale,
                    double hold, double brake, rb_coupling *c);

/* The same, of a row that has been written to c->row, which is cleared. */
int rb_coupling_add_row(const rb_model *m, double hold, double brake, rb_coupling *c);

#endif
