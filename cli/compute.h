/* The quantities of `rattleback compute`: one row of a table each. */
#ifndef RATTLEBACK_CLI_COMPUTE_H
#define RATTLEBACK_CLI_COMPUTE_H

#include "json.h"
#include "rattleback/dynamics.h"
#include "rattleback/io.h"
#include "rattleback/step.h"

/* Options beside the state: --ray, --between. */
enum { MOST_QUERIES = 256 };

typedef struct queries {
    double ray[MOST_QUERIES][6]; /* start, direction                                       */
    const char *between[MOST_QUERIES];
    int nray, nbetween;
    const char *exclude; /* body whose geoms rays do not see, NULL: none                   */
    unsigned groups;     /* bit k: geoms of group k are seen                               */
    int hulls;           /* meshes by their hulls                                          */
} queries;

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
    const queries *asked; /* of --what rays, distance                                      */
    rb_error err; /* why a quantity does not exist, where there is more to say than a status */
    json out;
} computation;

typedef struct quantity {
    const char *name, *summary;
    /* Writes the value under its name. RB_SINGULAR: nothing was written. */
    rb_status (*put)(computation *c, const char *name);
} quantity;

/* In files of their own. */
rb_status compute_put_toi(computation *c, const char *name);
rb_status compute_put_rays(computation *c, const char *name);
rb_status compute_put_distance(computation *c, const char *name);
rb_status compute_put_contacts(computation *c, const char *name);
rb_status compute_put_sensors(computation *c, const char *name);

/* Setters of the queries; 0: refused, and a sentence was printed. */
int queries_ray(queries *q, const char *text);
int queries_between(queries *q, const char *text);
int queries_groups(queries *q, const char *text);
int queries_known(const queries *q, const rb_model *m); /* whether all names are in the model */

extern const quantity compute_quantities[]; /* ends with a name of NULL */

const quantity *compute_find(const char *name, size_t length); /* NULL: none */

#endif
