/* Springs, dampers, servos and muscles that act on several dofs (D.55): the places that M has for
 * them, their matrix, and steps with it. */
#include "mjcf_support.h"

#include <math.h>

#include "dynamics/coupling.h"
#include "dynamics/passive.h"
#include "base/arena.h"
#include "base/constants.h"
#include "dynamics/actuation.h"
#include "dynamics/smooth_push.h"
#include "rattleback/step.h"

enum { MOST = 12 }; /* dofs */

/* A palm with three fingers of two joints; `extra` are tendons and actuators. */
static rb_model *hand(const char *extra)
{
    char text[4096];
    const char *finger = "<body name='%s' pos='%g 0 0.1'><joint name='%s1' axis='0 1 0'/>"
                         "<geom type='capsule' fromto='0 0 0 0 0 0.1' size='0.01'/>"
                         "<site name='%sm' pos='0.02 0 0.05'/><body pos='0 0 0.1'>"
                         "<joint name='%s2' axis='0 1 0'/>"
                         "<geom type='capsule' fromto='0 0 0 0 0 0.1' size='0.01'/>"
                         "<site name='%st' pos='0.02 0 0.05'/></body></body>";
    int at = snprintf(
        text, sizeof text,
        "<mujoco><option gravity='0 0 -9.81'/><default><joint armature='0.02'/><geom contype='0' "
        "conaffinity='0'/></default><worldbody><body><joint name='w' axis='0 1 0'/>"
        "<geom type='box' size='0.1 0.03 0.1'/><site name='p' pos='0 0.05 0'/>");
    static const char *const name[3] = { "a", "b", "c" };
    for (int k = 0; k < 3; k++) {
        const char *n = name[k];
        at += snprintf(text + at, sizeof text - (size_t)at, finger, n, 0.06 * (k - 1), n, n, n, n);
    }
    snprintf(text + at, sizeof text - (size_t)at, "</body></worldbody>%s</mujoco>", extra);
    return compile(read_text(text));
}

static const char *const across =
    "<tendon><fixed stiffness='300000' damping='4'><joint joint='a1' coef='1'/>"
    "<joint joint='c2' coef='-0.7'/></fixed><fixed name='t'><joint joint='b1' coef='0.5'/>"
    "<joint joint='a2' coef='1'/><joint joint='b1' coef='0.25'/></fixed>"
    "<spatial stiffness='2000' damping='30'><site site='at'/><site site='p'/><site site='bt'/>"
    "</spatial></tendon>"
    "<actuator><position tendon='t' kp='200' kv='3'/></actuator>";

/* The same tendons, none of which yields. */
static const char *const idle =
    "<tendon><fixed range='-1 1' limited='true'><joint joint='a1' coef='1'/>"
    "<joint joint='c2' coef='-0.7'/></fixed><fixed name='t'><joint joint='b1' coef='0.5'/>"
    "<joint joint='a2' coef='1'/></fixed></tendon><actuator><motor tendon='t'/></actuator>";

static void shake(const rb_model *m, rb_data *d, uint64_t seed, double speed)
{
    rb_rng rng = rb_rng_make(seed);
    for (int i = 0; i < m->nv; i++) {
        d->q[i] = rb_rng_uniform(&rng, -0.5, 0.5);
        d->v[i] = rb_rng_uniform(&rng, -speed, speed);
    }
    for (int i = 0; i < m->nu; i++) d->ctrl[i] = rb_rng_uniform(&rng, 0.0, 1.0);
    rb_kinematics(m, d);
    rb_velocity(m, d);
}

static int is_above(const rb_model *m, int i, int j)
{
    while (i > j) i = m->dof_parent[i];
    return i == j;
}

TEST(rows_of_M_have_places_where_tendons_yield)
{
    rb_model *m = hand(across), *plain = hand(idle);
    CHECK_INT(plain->ncoupled, 0);
    CHECK(m->ncoupled > 0 && m->nM > plain->nM);
    CHECK(!is_above(plain, 6, 1) && is_above(m, 6, 1)); /* a1, c2 */
    CHECK(is_above(m, 3, 2));                           /* a2, b1 */
    rb_data *d = rb_data_new(m, NULL), *other = rb_data_new(plain, NULL);
    double M[MOST * MOST], N[MOST * MOST];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        shake(m, d, seed, 1.0);
        shake(plain, other, seed, 1.0);
        rb_mass(m, d);
        rb_mass(plain, other);
        rb_mass_dense(m, d, M);
        rb_mass_dense(plain, other, N);
        for (int i = 0; i < m->nv * m->nv; i++) CHECK_NEAR(M[i], N[i], 0.0);
        double x[MOST], y[MOST];
        for (int j = 0; j < m->nv; j++) x[j] = d->v[j];
        rb_mass_multiply(m, d, x, y);
        CHECK_INT(rb_mass_factor(m, d), RB_OK);
        rb_mass_solve(m, d, y);
        for (int j = 0; j < m->nv; j++) CHECK_NEAR(y[j], x[j], 1e-10);
    }
    rb_data_free(d);
    rb_data_free(other);
    rb_model_free(m, NULL);
    rb_model_free(plain, NULL);
}

/* C x by the rows of tendons, one after the other. */
static void multiply_terms(const rb_model *m, const rb_data *d, double h, const double *x,
                           double *y)
{
    static const double hold[3] = { 3e5, 200.0, 2000.0 }, brake[3] = { 4.0, 3.0, 30.0 };
    double row[MOST] = { 0.0 };
    for (int t = 0; t < 3; t++) {
        double g = 0.5 * h * (brake[t] + 0.5 * h * hold[t]), rate = 0.0;
        for (int j = 0; j < m->nv; j++) row[j] = 0.0;
        for (int i = 0; i < m->tendon_rownum[t]; i++) {
            int at = m->tendon_rowadr[t] + i;
            row[m->tendon_dof[at]] += m->tendon_pathnum[t] > 0 ? d->ten_J[at] : m->tendon_coef[at];
        }
        for (int j = 0; j < m->nv; j++) rate += row[j] * x[j];
        for (int j = 0; j < m->nv; j++) y[j] += g * row[j] * rate;
    }
}

TEST(the_matrix_is_the_sum_of_the_terms)
{
    static const double h = 2e-3;
    rb_model *m = hand(across);
    rb_data *d = rb_data_new(m, NULL);
    rb_arena *arena = rb_arena_new(NULL, 0);
    rb_coupling c;
    CHECK(rb_coupling_any(m) && rb_coupling_push(m, arena, &c));
    for (uint64_t seed = 1; seed <= 20; seed++) {
        double k[MOST] = { 0.0 }, b[MOST] = { 0.0 }, E[MOST], y[MOST], z[MOST];
        shake(m, d, seed, 1.0);
        rb_mass(m, d);
        rb_coupling_begin(m, h, &c);
        rb_passive_stiffness_apart(m, d, k, b, &c);
        rb_actuation_stiffness_of(m, d, NULL, k, b, &c);
        for (int j = 0; j < m->nv; j++) E[j] = 0.5 * h * (b[j] + 0.5 * h * k[j]);
        for (int j = 0; j < m->nv; j++) CHECK_NEAR(E[j], 0.0, 0.0); /* all of it is apart */
        rb_mass_multiply(m, d, d->v, y);
        multiply_terms(m, d, h, d->v, y);
        CHECK_INT(rb_mass_factor_with(m, d, E, c.C), RB_OK);
        rb_mass_solve(m, d, y);
        for (int j = 0; j < m->nv; j++) CHECK_NEAR(y[j], d->v[j], 1e-10);

        /* the diagonal is a bound */
        double sum = 0.0, most = 0.0;
        for (int j = 0; j < m->nv; j++) z[j] = 0.0;
        multiply_terms(m, d, h, d->v, z);
        for (int j = 0; j < m->nv; j++) sum += d->v[j] * z[j];
        for (int j = 0; j < m->nv; j++)
            most += 0.5 * h * (c.b[j] + 0.5 * h * c.k[j]) * d->v[j] * d->v[j];
        CHECK(sum <= most);
    }
    rb_arena_free(arena);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* What is missing from M (v+ - v) = h F at the midpoint, by CRBA and RNEA, relative to the forces.
 */
static double residual(const rb_model *m, const rb_data *before, const rb_data *after, double h)
{
    rb_data *mid = rb_data_new(m, NULL);
    double dv[MOST], Mdv[MOST], worst = 0.0, size = 0.0;
    rb_data_copy(m, mid, before);
    for (int j = 0; j < m->nv; j++) {
        dv[j] = after->v[j] - before->v[j];
        mid->v[j] = 0.5 * (before->v[j] + after->v[j]);
        mid->q[j] = before->q[j] + 0.5 * h * mid->v[j];
    }
    for (int a = 0; a < m->na; a++) mid->act[a] = 0.5 * (before->act[a] + after->act[a]);
    rb_kinematics(m, mid);
    rb_velocity(m, mid);
    rb_mass(m, mid);
    rb_bias(m, mid);
    rb_passive(m, mid);
    rb_actuation(m, mid);
    rb_mass_multiply(m, mid, dv, Mdv);
    for (int j = 0; j < m->nv; j++) {
        double force = mid->passive[j] + mid->actuation[j] - mid->c[j];
        worst = fmax(worst, fabs(h * force - Mdv[j]));
        size = fmax(size, h * (fabs(mid->passive[j]) + fabs(mid->actuation[j])));
    }
    rb_data_free(mid);
    return worst / size;
}

/* The bounds take 7.9 evaluations. */
TEST(steps_solve_the_midpoint_rule_in_few_evaluations)
{
    rb_model *m = hand(across);
    rb_data *d = rb_data_new(m, NULL), *before = rb_data_new(m, NULL);
    int evaluations = 0, steps = 0;
    shake(m, d, 3, 2.0);
    for (int k = 0; k < 200; k++) {
        rb_smooth_info info;
        rb_data_copy(m, before, d);
        CHECK_INT(rb_smooth_step(m, d, 1e-3, &info), RB_OK);
        CHECK(info.converged);
        if (info.substeps == 1) CHECK(residual(m, before, d, 1e-3) < 1e-8);
        evaluations += info.iterations;
        steps += info.substeps;
    }
    printf("%g evaluations a substep\n", (double)evaluations / steps);
    CHECK(evaluations <= 5 * steps);
    rb_data_free(before);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* The answer does not depend on where the iteration begins, also where joints creep by the dampings
 * of muscles, which change with the velocity. */
TEST(creeping_joints_go_by_the_start)
{
    static const char *const muscles =
        "<tendon><spatial name='s'><site site='at'/><site site='p'/><site site='bt'/></spatial>"
        "<spatial name='r'><site site='bm'/><site site='p'/></spatial></tendon><actuator>"
        "<muscle tendon='s' lengthrange='0.1 0.6' force='60000'/>"
        "<muscle tendon='r' lengthrange='0.05 0.4' force='60000'/></actuator>";
    rb_model *m = hand(muscles);
    rb_data *a = rb_data_new(m, NULL), *b = rb_data_new(m, NULL);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rb_smooth_info info;
        double guess[MOST];
        const rb_smooth_from from = { .dv = guess, .tol = RB_SMOOTH_TOL };
        shake(m, a, seed, 5.0);
        for (int i = 0; i < m->na; i++) a->act[i] = 0.5;
        rb_data_copy(m, b, a);
        for (int j = 0; j < m->nv; j++) guess[j] = 10.0 * cos((double)seed + 3.0 * j);
        CHECK_INT(rb_smooth_step(m, a, 2e-3, &info), RB_OK);
        CHECK(info.converged);
        CHECK_INT(rb_smooth_step_from(m, b, 2e-3, &from, &info), RB_OK);
        CHECK(info.converged);
        for (int j = 0; j < m->nv; j++) CHECK_NEAR(a->v[j], b->v[j], 1e-6 * (1.0 + fabs(a->v[j])));
    }
    rb_data_free(a);
    rb_data_free(b);
    rb_model_free(m, NULL);
}

TEST_MAIN(RUN(rows_of_M_have_places_where_tendons_yield), RUN(the_matrix_is_the_sum_of_the_terms),
          RUN(steps_solve_the_midpoint_rule_in_few_evaluations),
          RUN(creeping_joints_go_by_the_start))
