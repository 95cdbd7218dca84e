/* Mechanisms in a plane: what (D.41) finds is what articulated bodies in space find. */
#include "dynamics/forward.h"
#include "dynamics/planar.h"
#include "dynamics/smooth_energy.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "test.h"
#include "tree_support.h"

/* ---- models -----------------------------------------------------------------------------------
 */

enum { ANYWHERE, CHAIN }; /* what links hang on: any link before them, or the last */

/* Hinges along e or against it, in bodies with frames of any orientation; anchors, references,
 * centres of mass and inertias as they come. `tilt` turns the axis of the last hinge. */
static rb_model *flat_model(uint64_t seed, int n, int shape, double tilt)
{
    rb_rng rng = rb_rng_make(seed);
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_new(NULL);
    double e[3], at[64][4] = { { 1.0, 0.0, 0.0, 0.0 } };
    CHECK(n < 64);
    tree_direction(&rng, e);
    tree_vector(&rng, 9.8, rb_spec_option(spec)->gravity);
    for (int i = 1; i <= n; i++) {
        int parent = shape == CHAIN ? i - 1 : tree_below(&rng, i);
        rb_body_def body = rb_body_default();
        body.parent = parent;
        tree_vector(&rng, 0.5, body.pose.pos);
        tree_vector(&rng, 1.0, body.pose.quat + 1);
        rb_quat_normalize(body.pose.quat);
        rb_quat_mul(at[parent], body.pose.quat, at[i]);
        body.inertia_source = RB_INERTIA_GIVEN;
        body.mass = rb_rng_uniform(&rng, 0.1, 2.0);
        tree_vector(&rng, 0.5, body.com);
        for (int k = 0; k < 3; k++) body.inertia[k] = rb_rng_uniform(&rng, 0.02, 0.03);
        rb_joint_def joint = rb_joint_default();
        double back[4], axis[3], turned[3];
        joint.body = rb_spec_add_body(spec, &body, &err);
        CHECK_INT(joint.body, i);
        rb_quat_conj(at[i], back);
        rb_scale3(tree_percent(&rng, 50) ? 1.0 : -1.0, e, axis);
        rb_quat_rotate(back, axis, turned);
        if (i == n) turned[0] += tilt;
        rb_copy3(turned, joint.axis);
        if (tree_percent(&rng, 50)) tree_vector(&rng, 0.2, joint.pos);
        if (tree_percent(&rng, 50)) joint.armature = rb_rng_uniform(&rng, 0.0, 0.1);
        joint.ref = rb_rng_uniform(&rng, -1.0, 1.0);
        CHECK(rb_spec_add_joint(spec, &joint, &err) >= 0);
    }
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    if (!m) test_fail(__FILE__, __LINE__, "%s", err.text);
    rb_spec_free(spec);
    return m;
}

static rb_data *any_state(const rb_model *m, uint64_t seed)
{
    rb_rng rng = rb_rng_make(seed ^ 77);
    rb_data *d = rb_data_new(m, NULL);
    for (int j = 0; j < m->nv; j++) d->q[j] = rb_rng_uniform(&rng, -4.0, 4.0);
    for (int j = 0; j < m->nv; j++) d->v[j] = rb_rng_uniform(&rng, -3.0, 3.0);
    for (int j = 0; j < m->nv; j++) d->tau[j] = rb_rng_uniform(&rng, -2.0, 2.0);
    return d;
}

static double largest(const double *x, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* ---- one evaluation ---------------------------------------------------------------------------
 */

/* Accelerations, the inertia that each dof meets and angular velocities of both ways. */
static void compare(const rb_model *m, rb_data *d, const double *E)
{
    double in_space[64], in_plane[64], D[64];
    rb_forward_extra extra = { E, NULL };
    rb_plane x;
    CHECK(rb_plane_takes(m, d) && rb_plane_push(m, d->arena, &x));
    rb_forward_place(m, d);
    CHECK_INT(rb_forward_solve(m, d, &extra, d->tau, in_space), RB_OK);
    memcpy(D, d->dof_D, (size_t)m->nv * sizeof *D);
    rb_plane_place(m, d, &x);
    CHECK_INT(rb_plane_solve(m, d, E, NULL, NULL, d->tau, in_plane, &x), RB_OK);
    double size = largest(in_space, m->nv), fastest = 0.0;
    for (int j = 0; j < m->nv; j++) {
        CHECK_NEAR(in_plane[j], in_space[j], 1e-11 * size);
        CHECK_NEAR(d->dof_D[j], D[j], 1e-12 * D[j]);
    }
    for (int k = 1; k < m->nlink; k++)
        fastest = fmax(fastest, rb_norm3(d->link_w + 3 * (ptrdiff_t)k));
    CHECK_NEAR(rb_plane_spin(m, &x), fastest, 1e-13 * fastest);
}

TEST(accelerations_are_those_of_space)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        int n = 1 + (int)(seed % 20);
        rb_model *m = flat_model(seed, n, seed % 3 ? ANYWHERE : CHAIN, 0.0);
        CHECK_INT(m->plane, 1);
        rb_data *d = any_state(m, seed);
        double E[64];
        for (int j = 0; j < m->nv; j++) E[j] = j % 3 ? 0.0 : 0.05 * j;
        compare(m, d, E);
        rb_data_free(d);
        rb_model_free(m, NULL);
    }
}

/* Kinetic energy, and power of weight, of both ways. */
TEST(energy_and_power_are_the_same)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        TEST_SEED(seed);
        rb_model *m = flat_model(seed, 8, ANYWHERE, 0.0);
        rb_data *d = any_state(m, seed);
        rb_plane x;
        CHECK(rb_plane_push(m, d->arena, &x));
        rb_plane_place(m, d, &x);
        rb_forward_place(m, d);
        double power = rb_smooth_weight_power(m, d), size = 0.0;
        for (int k = 1; k < m->nlink; k++)
            size +=
                m->link_mass[k] * rb_norm3(m->option.gravity) * largest(d->link_v, 3 * m->nlink);
        CHECK_NEAR(rb_plane_weight_power(m, d->v, &x), power, 1e-13 * size);
        double energy = rb_energy_kinetic(m, d);
        CHECK_NEAR(rb_plane_kinetic(m, d->v, &x), energy, 1e-12 * energy);
        rb_data_free(d);
        rb_model_free(m, NULL);
    }
}

/* ---- whole steps ------------------------------------------------------------------------------
 */

/* A wrench too small to be felt makes the same model one in space. */
static void step_both(const rb_model *m, uint64_t seed, double h, int steps)
{
    rb_data *flat = any_state(m, seed), *space = any_state(m, seed);
    space->wrench[6] = 1e-300;
    CHECK(rb_plane_takes(m, flat) && !rb_plane_takes(m, space));
    for (int i = 0; i < steps; i++) {
        rb_smooth_info a, b;
        CHECK_INT(rb_smooth_step(m, flat, h, &a), RB_OK);
        CHECK_INT(rb_smooth_step(m, space, h, &b), RB_OK);
        CHECK(a.converged && b.converged);
        CHECK_INT(a.substeps, b.substeps);
    }
    double size = largest(space->v, m->nv);
    for (int j = 0; j < m->nv; j++) {
        CHECK_NEAR(flat->v[j], space->v[j], 1e-9 * size);
        CHECK_NEAR(flat->q[j], space->q[j], 1e-9);
    }
    rb_data_free(flat);
    rb_data_free(space);
}

TEST(steps_are_those_of_space)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_model *m = flat_model(seed, 1 + (int)(seed % 7), ANYWHERE, 0.0);
        step_both(m, seed, seed % 2 ? 1e-3 : 1e-2, 10);
        rb_model_free(m, NULL);
    }
}

/* Long chains have their tension in the inertia (D.39). */
TEST(steps_of_long_chains_are_those_of_space)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        TEST_SEED(seed);
        rb_model *m = flat_model(seed, 50, CHAIN, 0.0);
        step_both(m, seed, 1e-4, 3);
        rb_model_free(m, NULL);
    }
}

/* ---- what is not in a plane -------------------------------------------------------------------
 */

TEST(a_tilted_hinge_is_not_in_the_plane)
{
    rb_model *m = flat_model(5, 6, CHAIN, 1e-9);
    CHECK_INT(m->plane, 0);
    rb_model_free(m, NULL);
}

static int plane_of(void (*change)(rb_spec *spec))
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_new(NULL);
    int parent = 0;
    for (int i = 0; i < 2; i++) {
        rb_body_def body = rb_body_default();
        body.parent = parent;
        body.inertia_source = RB_INERTIA_GIVEN;
        body.mass = 1.0;
        for (int k = 0; k < 3; k++) body.inertia[k] = 0.1;
        rb_joint_def joint = rb_joint_default();
        joint.body = parent = rb_spec_add_body(spec, &body, &err);
        CHECK(rb_spec_add_joint(spec, &joint, &err) >= 0);
    }
    change(spec);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    if (!m) test_fail(__FILE__, __LINE__, "%s", err.text);
    int plane = m->plane;
    rb_spec_free(spec);
    rb_model_free(m, NULL);
    return plane;
}

static void leave(rb_spec *spec)
{
    (void)spec;
}

static void add_slide(rb_spec *spec)
{
    rb_error err = { 0 };
    rb_joint_def joint = rb_joint_default();
    joint.body = 2;
    joint.type = RB_JOINT_SLIDE;
    CHECK(rb_spec_add_joint(spec, &joint, &err) >= 0);
}

static void compensate(rb_spec *spec)
{
    rb_spec_body(spec, 2)->gravcomp = 1.0;
}

TEST(what_asks_for_frames_is_not_in_the_plane)
{
    CHECK_INT(plane_of(leave), 1);
    CHECK_INT(plane_of(add_slide), 0);
    CHECK_INT(plane_of(compensate), 0);
}

TEST_MAIN(RUN(accelerations_are_those_of_space), RUN(energy_and_power_are_the_same),
          RUN(steps_are_those_of_space), RUN(steps_of_long_chains_are_those_of_space),
          RUN(a_tilted_hinge_is_not_in_the_plane), RUN(what_asks_for_frames_is_not_in_the_plane))
