/* The quantities of `rattleback compute`: one row of a table each. */
#ifndef RATTLEBACK_CLI_COMPUTE_H
#define RATTLEBACK_CLI_COMPUTE_H

#include "json.h"
#include "rattleback/dynamics.h"
#include "rattleback/io.h"
#include "rattleback/step.h"

/* One state of one model, kinematics and velocities done. */
typedef struct computation {
    const rb_model *m;
    rb_data *d;
    const rb_state_entry *state; /* NULL: the start itself                                */
    rb_point *points;            /* those of the state, in world coordinates  (npoint)    */
    int npoint;
    int factored; /* rb_aba_factor was called, with this status                           */
    rb_status factor_status;
    int bad_dof;    /* where it was RB_SINGULAR                                              */
    double horizon; /* of --what toi [s]                                                   */
    rb_error err;   /* why a quantity does not exist, where there is more to say than a status */
    json out;
} computation;

typedef struct quantity {
    const char *name, *summary;
    /* Writes the value under its name. RB_SINGULAR: nothing was written. */
    rb_status (*put)(computation *c, const char *name);
} quantity;

/* In files of their own. */
rb_status compute_put_toi(computation *c, const char *name);

extern const quantity compute_quantities[]; /* ends with a name of NULL */

const quantity *compute_find(const char *name, size_t length); /* NULL: none */

#endif
