/* The nearest velocity at which loops stay closed (S.38). */
#include "correct/displace.h"
#include "rattleback/dynamics.h"
#include "step_support.h"

/* Largest rate at which a loop opens. */
static double opening(const scene *s)
{
    rb_rows rows;
    double most = 0.0;
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    CHECK_INT(rb_loop_rows(s->m, s->d, &rows), RB_OK);
    for (int i = 0; i < rows.n; i++) {
        double rate = rows.drive[i];
        for (int k = rows.start[i]; k < rows.start[i + 1]; k++)
            rate += rows.J[k] * s->d->v[rows.dof[k]];
        most = fmax(most, fabs(rate));
    }
    rb_rows_release(s->d, &rows);
    return most;
}

static double product(const scene *s, const double *x, const double *y)
{
    double Mx[64], sum = 0.0;
    rb_mass(s->m, s->d);
    rb_mass_multiply(s->m, s->d, x, Mx);
    for (int j = 0; j < s->m->nv; j++) sum += Mx[j] * y[j];
    return sum;
}

/* What is taken off has no part along any velocity that is possible. */
TEST(the_nearest_velocity_closes_loops)
{
    scene s = scene_file("robots/four_bar.xml");
    rb_rng rng = rb_rng_make(7);
    int nv = s.m->nv;
    double given[64], nearest[64], off[64];
    CHECK(nv <= 64 && s.m->neq > 0);
    for (int seed = 0; seed < 20; seed++) {
        for (int j = 0; j < nv; j++) s.d->v[j] = given[j] = rb_rng_normal(&rng);
        CHECK(opening(&s) > 1e-3);
        CHECK_INT(rb_loop_velocity(s.m, s.d), RB_OK);
        CHECK(opening(&s) < 1e-12);
        memcpy(nearest, s.d->v, (size_t)nv * sizeof *nearest);
        for (int j = 0; j < nv; j++) off[j] = given[j] - nearest[j];
        CHECK(product(&s, nearest, nearest) <= product(&s, given, given));
        for (int j = 0; j < nv; j++) s.d->v[j] = rb_rng_normal(&rng);
        CHECK_INT(rb_loop_velocity(s.m, s.d), RB_OK);
        CHECK_NEAR(product(&s, off, s.d->v), 0.0, 1e-12);
    }
    scene_free(&s);
}

TEST_MAIN(RUN(the_nearest_velocity_closes_loops))
