/* The pendulum of n spheres that hangs from a pin: 1 kg each, 6 m in all, thrown from the
 * horizontal with -1 rad/s, 1 ms, 5 s. Nothing touches it, nothing brakes it: its energy is the
 * error of the integrator. With explicit velocity products 30 links make 232 % and 60 blow up. */
#include "test.h"

#include "rattleback/dynamics.h"

static rb_model *chain(int n)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_new(NULL);
    rb_spec_option(spec)->gravity[2] = -9.8;
    double spacing = 6.0 / n, radius = 3.0 / n;
    int parent = 0;
    for (int i = 0; i < n; i++) {
        rb_body_def body = rb_body_default();
        body.parent = parent;
        body.pose.pos[2] = i == 0 ? 10.0 : -spacing;
        body.inertia_source = RB_INERTIA_GIVEN;
        body.mass = 1.0;
        body.com[2] = -0.5 * spacing;
        for (int a = 0; a < 3; a++) body.inertia[a] = 0.4 * radius * radius;
        rb_joint_def joint = rb_joint_default();
        joint.body = parent = rb_spec_add_body(spec, &body, &err);
        joint.axis[1] = 1.0;
        joint.axis[2] = 0.0;
        CHECK(parent > 0 && rb_spec_add_joint(spec, &joint, &err) >= 0);
    }
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    rb_spec_free(spec);
    return m;
}

/* Energy made and lost at any time, as shares of the largest kinetic energy of the run. */
static void swing(int n)
{
    rb_model *m = chain(n);
    rb_data *d = rb_data_new(m, NULL);
    d->q[0] = acos(0.0);
    d->v[0] = -1.0;
    rb_kinematics(m, d);
    rb_velocity(m, d);
    double start = rb_energy_kinetic(m, d) + rb_energy_potential(m, d);
    double made = 0.0, lost = 0.0, largest = 0.0;
    long iterations = 0;
    for (int i = 0; i < 5000; i++) {
        rb_smooth_info info;
        CHECK_INT(rb_smooth_step(m, d, 1e-3, &info), RB_OK);
        CHECK(info.converged);
        iterations += info.iterations;
        rb_kinematics(m, d);
        rb_velocity(m, d);
        double kinetic = rb_energy_kinetic(m, d);
        double error = kinetic + rb_energy_potential(m, d) - start;
        largest = fmax(largest, kinetic);
        made = fmax(made, error);
        lost = fmax(lost, -error);
    }
    printf("n = %3d: made %.4f %%, lost %.4f %% of the largest kinetic energy, %.1f iterations\n",
           n, 100.0 * made / largest, 100.0 * lost / largest, (double)iterations / 5000.0);
    CHECK(largest > 100.0); /* it did swing */
    CHECK(made < 0.005 * largest);
    CHECK(lost < 0.02 * largest);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

TEST(six_links_keep_their_energy)
{
    swing(6);
}

TEST(fifteen_links_keep_their_energy)
{
    swing(15);
}

TEST(thirty_links_keep_their_energy)
{
    swing(30);
}

TEST(sixty_links_keep_their_energy)
{
    swing(60);
}

TEST(a_hundred_and_twenty_links_keep_their_energy)
{
    swing(120);
}

TEST(two_hundred_and_forty_links_keep_their_energy)
{
    swing(240);
}

/* ---- rounds -----------------------------------------------------------------------------------
 */

/* Mean rounds of a step in the first half second. */
static double rounds(int n)
{
    rb_model *m = chain(n);
    rb_data *d = rb_data_new(m, NULL);
    long iterations = 0;
    d->q[0] = acos(0.0);
    d->v[0] = -1.0;
    for (int i = 0; i < 500; i++) {
        rb_smooth_info info;
        CHECK_INT(rb_smooth_step(m, d, 1e-3, &info), RB_OK);
        CHECK(info.converged && info.change <= 1e-12);
        iterations += info.iterations;
    }
    rb_data_free(d);
    rb_model_free(m, NULL);
    return (double)iterations / 500.0;
}

/* With nothing but joint springs in the matrix (D.37) they are 4.2, 7.1 and 22.9. */
TEST(rounds_do_not_grow_with_the_tension_of_long_chains)
{
    double few = rounds(30), more = rounds(120), many = rounds(480);
    printf("rounds of 30, 120, 480 links: %.2f %.2f %.2f\n", few, more, many);
    CHECK(more <= 1.2 * few);
    CHECK(many <= 1.5 * few);
}

/* A load of 1 t on ten links of 100 g: tension, not their number, makes rounds many: 9.5
 * without (D.39). */
TEST(rounds_do_not_grow_with_a_load)
{
    rb_model *m = chain(10);
    for (int k = 1; k < 10; k++) {
        m->link_mass[k] *= 0.1;
        for (int a = 0; a < 6; a++) m->link_inertia_O[6 * k + a] *= 0.1;
    }
    m->link_mass[10] *= 1000.0;
    for (int a = 0; a < 6; a++) m->link_inertia_O[60 + a] *= 1000.0;
    rb_data *d = rb_data_new(m, NULL);
    long iterations = 0;
    d->q[0] = 1.0;
    for (int i = 0; i < 500; i++) {
        rb_smooth_info info;
        CHECK_INT(rb_smooth_step(m, d, 1e-3, &info), RB_OK);
        CHECK(info.converged);
        iterations += info.iterations;
    }
    printf("rounds with a load: %.2f\n", (double)iterations / 500.0);
    CHECK(iterations <= 500 * 7);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

TEST_MAIN(RUN(six_links_keep_their_energy), RUN(fifteen_links_keep_their_energy),
          RUN(thirty_links_keep_their_energy), RUN(sixty_links_keep_their_energy),
          RUN(a_hundred_and_twenty_links_keep_their_energy),
          RUN(two_hundred_and_forty_links_keep_their_energy),
          RUN(rounds_do_not_grow_with_the_tension_of_long_chains),
          RUN(rounds_do_not_grow_with_a_load))
