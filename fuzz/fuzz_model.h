/* What holds for every model file that a reader accepts, and for every one it refuses. */
#ifndef RATTLEBACK_FUZZ_MODEL_H
#define RATTLEBACK_FUZZ_MODEL_H

#include <stdint.h>

#include "rattleback/dynamics.h"
#include "rattleback/load.h"
#include "rattleback/model.h"

/* Larger models are compiled but not moved, larger meshes get no hull: a fuzzer lives on many
 * runs. */
enum { FUZZ_MOST_DOFS = 64, FUZZ_MOST_VERTICES = 256 };

static inline void model_require(int promise)
{
    if (!promise) __builtin_trap();
}

static inline void model_require_reason(const rb_error *err)
{
    model_require(err->status != RB_OK && err->text[0] != '\0');
}

/* Polyhedra are closed, V - E + F = 2, and their loops name vertices that exist. */
static inline void model_check_hull(const rb_hull_def *hull)
{
    model_require(hull->nvert >= 4 && hull->nface >= 4 && hull->nloop % 2 == 0);
    model_require(hull->nvert - hull->nloop / 2 + hull->nface == 2);
    model_require(hull->start[0] == 0 && hull->start[hull->nface] == hull->nloop);
    for (int i = 0; i < hull->nloop; i++)
        model_require(hull->loop[i] >= 0 && hull->loop[i] < hull->nvert);
}

/* Face entries exist, coordinates are finite, equal vertices were joined. */
static inline void model_check_mesh(const rb_mesh_def *mesh)
{
    for (int i = 0; i < 3 * mesh->nface; i++)
        model_require(mesh->face[i] >= 0 && mesh->face[i] < mesh->nvert);
    for (int i = 0; i < 3 * mesh->nvert; i++) model_require(mesh->vert[i] - mesh->vert[i] == 0.0);
    if (mesh->hull.nvert > 0) model_check_hull(&mesh->hull);
}

static inline int model_meshes_are_small(rb_spec *spec)
{
    for (int i = 0; i < rb_spec_count(spec, RB_KIND_MESH); i++)
        if (rb_spec_mesh(spec, i)->nvert > FUZZ_MOST_VERTICES) return 0;
    return 1;
}

/* Kinematics, mass matrix and forward dynamics run; what comes out is the business of tests. */
static inline void model_move(const rb_model *m)
{
    rb_data *d = rb_data_new(m, NULL);
    model_require(d != NULL);
    double tau[FUZZ_MOST_DOFS] = { 0 }, qdd[FUZZ_MOST_DOFS];
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_frames(m, d);
    rb_mass(m, d);
    rb_bias(m, d);
    rb_forward(m, d, tau, qdd);
    rb_data_free(d);
}

/* Hulls, compilation, one evaluation; refusals have a reason. Takes the spec. */
static inline void model_use(rb_spec *spec)
{
    rb_error err = { 0 };
    int hulls_made = model_meshes_are_small(spec) && rb_spec_hulls(spec, &err) == RB_OK;
    if (!hulls_made && err.status != RB_OK) model_require_reason(&err);
    for (int i = 0; i < rb_spec_count(spec, RB_KIND_MESH); i++)
        model_check_mesh(rb_spec_mesh(spec, i));

    err = (rb_error){ 0 };
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    if (!m) model_require_reason(&err);
    if (m && m->nv <= FUZZ_MOST_DOFS) model_move(m);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

#endif
