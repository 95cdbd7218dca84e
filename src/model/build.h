/* The compiler: rb_spec -> rb_model in a list of steps, one concept per file. First the sizes are
 * known, then the block is made, then each step fills its arrays. */
#ifndef RB_MODEL_BUILD_H
#define RB_MODEL_BUILD_H

#include "model/inertia.h"
#include "model/spec.h"
#include "rattleback/model.h"

/* Elements grouped by the body they are on, otherwise in the order of the spec. */
typedef struct rb_group {
    int *order; /* model index -> spec index  */
    int *at;    /* spec index  -> model index */
    int *start; /* first one of each body, one more at the end (nbody + 1) */
} rb_group;

typedef struct rb_build {
    const rb_spec *spec;
    rb_arena *scratch; /* given back when the model is done      */
    rb_error *err;
    rb_model *m; /* at first its sizes only, then the block */
    rb_group joints, geoms;
    int *body_link;          /* link of each body                      */
    rb_inertia *body_solid;  /* mass, com, inertia of each body, body frame */
    int *carried;            /* of one spatial tendon: tendons.c           (nbody) */
    int *dof_above;          /* rb_model.dof_parent; NULL: as the tree has it  (nv) */
    double *body_p, *body_R; /* world frames of the bodies at the reference configuration */
} rb_build;

/* The defs of a kind. */
#define RB_DEFS(build, name, KIND)                                                                 \
    ((const rb_##name##_def *)(build)->spec->list[RB_KIND_##KIND].items)

/* before the block is made */
rb_status rb_check_numbers(const rb_spec *spec, rb_error *err);
rb_status rb_size_tree(rb_build *b);
rb_status rb_size_assets(rb_build *b);
rb_status rb_size_rest(rb_build *b);
rb_status rb_size_actuators(rb_build *b);
rb_status rb_size_gauges(rb_build *b);
rb_status rb_size_tendons(rb_build *b);
rb_status rb_size_coupled(rb_build *b); /* after rb_size_tendons */

/* Dofs that the length of a spatial tendon depends on, ascending. first: dof of each joint (njnt);
 * out may be NULL, and first with it; carried: scratch (nbody). */
int rb_tendon_moving_dofs(const rb_build *b, const rb_tendon_def *def, int *carried,
                          const int *first, int *out);

/* filling it */
void rb_fill_bodies(rb_build *b);
void rb_fill_joints(rb_build *b);
void rb_fill_dofs(rb_build *b);
void rb_fill_geoms(rb_build *b);
rb_status rb_fill_assets(rb_build *b);

/* Neighbours of the triangles of a mesh, and their tree. */
rb_status rb_fill_surface(rb_build *b, int mesh);

/* Which meshes collide by their triangles. */
rb_status rb_choose_surfaces(rb_build *b);

/* Adjacency and planes of the hull of a mesh, whose loops begin at `loop`. */
rb_status rb_fill_hull(rb_build *b, int mesh, int loop);

rb_status rb_fill_masses(rb_build *b);
rb_status rb_fill_links(rb_build *b);
void rb_fill_turns(rb_build *b);
rb_status rb_fill_plane(rb_build *b);
void rb_fill_equalities(rb_build *b);
void rb_fill_gauges(rb_build *b);
void rb_fill_tendons(rb_build *b);
rb_status rb_fill_paths(rb_build *b); /* after rb_fill_links */
void rb_fill_actuators(rb_build *b);
rb_status rb_size_sensors(rb_build *b);
void rb_fill_sensors(rb_build *b);
void rb_fill_filters(rb_build *b);
rb_status rb_fill_meets(rb_build *b);
rb_status rb_fill_keys(rb_build *b);
void rb_fill_fluid(rb_build *b); /* after rb_fill_masses */
void rb_fill_names(rb_build *b);
rb_status rb_fill_extent(rb_build *b);

/* "out of memory while compiling" */
rb_status rb_build_nomem(rb_build *b);

/* A pose with its quaternion at unit length. */
void rb_fill_pose(const rb_pose *pose, double *pos, double *quat);

#endif
