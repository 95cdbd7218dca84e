/* Within src/contact: the builder that constraints.c, joints.c and find_islands.c share. */
#ifndef RB_CONTACT_BUILD_H
#define RB_CONTACT_BUILD_H

#include "contact/contact.h"

/* Sine of the angle between normal and grain below which the grain has no direction in the tangent
 * plane [1]. Larger: surfaces nearly across the grain lose their anisotropy. Smaller: the direction
 * is rounding. */
#define RB_GRAIN_IN_PLANE 1e-6

typedef struct rb_builder {
    const rb_model *m;
    rb_data *d;
    const rb_step_opts *o;
    double h, dv_max;
    const rb_contact *contacts;
    int ncontact;
    const rb_constraints *start; /* NULL: the contacts are those of the start */
    rb_rows loops;
    rb_constraints *out;
    int ndof;         /* written so far */
    ptrdiff_t nentry; /* written so far */
    int *wrap_dof;    /* one tendon: scratch                          (ntendonrow)  */
    double *wrap_J;   /*                                              (ntendonrow)  */
    int *row_dof;     /* one row, gauges in terms of dofs: scratch    (rb_row_room) */
    double *row_J;    /*                                              (rb_row_room) */
} rb_builder;

/* Most that the arrays of a set can need. */
typedef struct rb_room {
    size_t constraints, rows, dofs, entries;
} rb_room;

void rb_room_add(rb_room *room, size_t constraints, int rows, int dofs);

/* Entries of a row of limits or dry friction, at most. */
int rb_row_room(const rb_model *m);

/* Appends a constraint whose pattern is at out->dof + b->ndof already; J, drive, error zero. */
rb_constraint *rb_builder_add(rb_builder *b, const rb_constraint *c, int nrow, int ndof);

/* joints.c: limits, dry friction, equalities. */
void rb_joint_room(const rb_builder *b, rb_room *room);
void rb_joint_constraints(rb_builder *b);

/* find_islands.c */
rb_status rb_constraint_islands(const rb_model *m, rb_arena *arena, rb_constraints *set);

#endif
