/* Mass, com and inertia of each body: as given, or the sum of its geoms; then the bounds, the
 * balance and the total mass that a file may ask for; then the check that a body can have them. */
#include "model/build.h"

#include "base/constants.h"
#include "math/quat.h"
#include "model/principal.h"
#include "model/solids.h"

/* Inertia of a geom in its body. A given mass scales what density 1 gives. */
static rb_status add_geom(rb_build *b, int g, rb_inertia *body)
{
    rb_model *m = b->m;
    int i = b->geoms.order[g];
    const rb_geom_def *def = RB_DEFS(b, geom, GEOM) + i;
    if (def->type == RB_GEOM_PLANE || def->type == RB_GEOM_HFIELD) return RB_OK;
    if (def->mass == 0.0 || (isnan(def->mass) && def->density == 0.0)) return RB_OK;

    rb_inertia solid;
    if (def->type == RB_GEOM_MESH) {
        const rb_mesh_def *mesh = RB_DEFS(b, mesh, MESH) + def->asset;
        rb_mesh_inertia how = def->shell ? RB_MESH_SHELL : mesh->inertia;
        const char *reason = rb_mesh_solid(mesh, how, &solid);
        if (reason) {
            return rb_refuse(mesh, RB_KIND_MESH, def->asset, b->err,
                             "gives mass to a body but %s; set the inertia of the body, or make "
                             "the mesh a shell",
                             reason);
        }
        if (b->spec->option.rough_axes) rb_inertia_rough(solid.I);
    } else {
        solid = rb_solid(def->type, def->size, def->shell);
    }
    double density = isnan(def->mass) ? def->density : def->mass / solid.mass;
    if (!(solid.mass > 0.0) || !(density <= RB_MAX_NUMBER)) {
        return rb_refuse(def, RB_KIND_GEOM, i, b->err,
                         "is too small to carry a mass: make it larger or give it mass 0");
    }
    solid.mass *= density;
    for (int k = 0; k < 6; k++) solid.I[k] *= density;
    m->geom_mass[g] = solid.mass;

    double R[9];
    rb_quat_to_rot(m->geom_quat + 4 * g, R);
    rb_inertia_move(m->geom_pos + 3 * g, R, &solid);
    rb_inertia_add(body, &solid);
    return RB_OK;
}

static int uses_geoms(const rb_body_def *def)
{
    if (def->inertia_source != RB_INERTIA_AUTO) return def->inertia_source == RB_INERTIA_FROM_GEOMS;
    if (def->mass != 0.0) return 0;
    for (int i = 0; i < 6; i++) {
        if (def->inertia[i] != 0.0) return 0;
    }
    return 1;
}

/* ---- physics ----------------------------------------------------------------------------------
 */

/* Back from principal moments and axes (columns of V). */
static void set_moments(const double w[3], const double V[9], rb_inertia *body)
{
    const double diagonal[6] = { w[0], w[1], w[2], 0.0, 0.0, 0.0 };
    rb_sym3_rotate(V, diagonal, body->I);
}

/* Moments of a real body are not negative and none exceeds the sum of the other two. Files round
 * their numbers, hence the tolerance. */
static rb_status check_moments(rb_build *b, int k, rb_inertia *body)
{
    const rb_option *option = &b->spec->option;
    const rb_body_def *def = RB_DEFS(b, body, BODY) + k;
    double w[3], V[9];
    if (option->keep_inertia) return RB_OK;
    rb_sym3_eigen(body->I, w, V);
    if (option->bound_inertia > 0.0 && w[0] < option->bound_inertia) {
        for (int i = 0; i < 3; i++) w[i] = fmax(w[i], option->bound_inertia);
        set_moments(w, V, body);
    }
    double slack = RB_INERTIA_SLACK * fabs(w[2]);
    if (w[0] < -slack) {
        return rb_refuse(def, RB_KIND_BODY, k, b->err,
                         "inertia has the negative principal moment %g: expected a positive "
                         "(semi)definite matrix about the centre of mass",
                         w[0]);
    }
    if (w[0] + w[1] >= w[2] - slack) return RB_OK;
    if (!option->balance_inertia) {
        return rb_refuse(def, RB_KIND_BODY, k, b->err,
                         "inertia has the principal moments %g, %g, %g: no body has A + B < C; "
                         "correct it or balance the inertia",
                         w[0], w[1], w[2]);
    }
    double mean = (w[0] + w[1] + w[2]) / 3.0;
    for (int i = 0; i < 6; i++) body->I[i] = i < 3 ? mean : 0.0;
    return RB_OK;
}

static rb_status body_inertia(rb_build *b, int k)
{
    const rb_body_def *def = RB_DEFS(b, body, BODY) + k;
    rb_inertia *body = &b->body_solid[k];
    *body = (rb_inertia){ 0 };
    if (uses_geoms(def)) {
        for (int g = b->geoms.start[k]; g < b->geoms.start[k + 1]; g++) {
            rb_status status = add_geom(b, g, body);
            if (status != RB_OK) return status;
        }
    } else {
        body->mass = def->mass;
        rb_copy3(def->com, body->com);
        memcpy(body->I, def->inertia, sizeof body->I);
    }
    body->mass = fmax(body->mass, b->spec->option.bound_mass);
    return check_moments(b, k, body);
}

/* Principal axes as MuJoCo has them: those that are given, those of the only geom with a mass, else
 * found. */
static void fill_axes(rb_build *b, int k)
{
    rb_model *m = b->m;
    const rb_body_def *def = RB_DEFS(b, body, BODY) + k;
    double *quat = m->body_iquat + 4 * k;
    const double *given = uses_geoms(def) ? NULL : def->axes;
    int count = 0, only = -1;
    for (int g = b->geoms.start[k]; uses_geoms(def) && g < b->geoms.start[k + 1]; g++) {
        if (m->geom_mass[g] == 0.0) continue;
        count++;
        only = g;
    }
    if (count == 1) given = m->geom_quat + 4 * only;
    if (given && rb_dot3(given, given) + given[3] * given[3] > 0.0) {
        memcpy(quat, given, 4 * sizeof *quat);
        rb_quat_normalize(quat);
    } else {
        rb_inertia_axes(m->body_inertia + 6 * k, quat);
    }
}

/* The world has neither mass nor a say. */
rb_status rb_fill_masses(rb_build *b)
{
    rb_model *m = b->m;
    b->body_solid[0] = (rb_inertia){ 0 };
    m->mass = 0.0;
    for (int k = 1; k < m->nbody; k++) {
        rb_status status = body_inertia(b, k);
        if (status != RB_OK) return status;
        m->mass += b->body_solid[k].mass;
    }

    double scale = 1.0;
    if (b->spec->option.total_mass > 0.0 && m->mass > 0.0) {
        scale = b->spec->option.total_mass / m->mass;
        m->mass = b->spec->option.total_mass;
    }
    for (int k = 0; k < m->nbody; k++) {
        rb_inertia *body = &b->body_solid[k];
        body->mass *= scale;
        for (int i = 0; i < 6; i++) body->I[i] *= scale;
        m->body_mass[k] = body->mass;
        rb_copy3(body->com, m->body_com + 3 * k);
        memcpy(m->body_inertia + 6 * k, body->I, sizeof body->I);
        fill_axes(b, k);
    }
    return RB_OK;
}
