/* Loops are closed without energy: joints of maximal coordinates in the scheme of Moreau and Jean
 * (S.60), and loops that a model begins with open, in parts of steps (S.56). What chains in contact
 * make under the formulations of Stewart and Trinkle is bounded. */
#include "step_support.h"

typedef struct maximal {
    rb_model *minimal;
    rb_data *at;
    scene s;
} maximal;

/* Links that swing down onto the floor and against a wall, every joint an equality. */
static maximal swinging_chain(int links, unsigned seed)
{
    char text[4096];
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    rb_rng rng = rb_rng_make(seed);
    int at = snprintf(text, sizeof text,
                      "<mujoco><compiler angle='radian'/><worldbody><geom type='plane' "
                      "size='5 5 1' pos='0 0 %g'/><geom type='box' size='0.05 1 1' pos='%g 0 0'/>",
                      -0.15 * links, 0.1 + 0.31 * links);
    double length = 0.0;
    for (int i = 0; i < links; i++) {
        double next = rb_rng_uniform(&rng, 0.15, 0.3);
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "<body pos='%g 0 0'><joint type='hinge' axis='0 1 0'/><geom type='capsule' "
                       "fromto='0 0 0 %g 0 0' size='0.02'/>",
                       length, next);
        length = next;
    }
    for (int i = 0; i < links; i++) at += snprintf(text + at, sizeof text - (size_t)at, "</body>");
    snprintf(text + at, sizeof text - (size_t)at, "</worldbody></mujoco>");

    maximal x;
    rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, &o, NULL, &err);
    if (!spec) test_fail(__FILE__, __LINE__, "%s", err.text);
    x.minimal = rb_spec_compile(spec, NULL, &err);
    x.at = rb_data_new(x.minimal, NULL);
    for (int i = 0; i < links; i++) {
        x.at->q[i] = rb_rng_uniform(&rng, -0.5, 0.5);
        x.at->v[i] = rb_rng_uniform(&rng, -3.0, 3.0);
    }
    rb_kinematics(x.minimal, x.at);
    rb_velocity(x.minimal, x.at);
    x.s = scene_of(rb_spec_maximal(spec, NULL, &err), &err);
    CHECK_INT(rb_maximal_state(x.minimal, x.at, x.s.m, x.s.d), RB_OK);
    rb_spec_free(spec);
    return x;
}

static void maximal_free(maximal *x)
{
    scene_free(&x->s);
    rb_data_free(x->at);
    rb_model_free(x->minimal, NULL);
}

/* About 1 J swings. Rows that pulled joints together by their velocity made 0.01 J in a step of
 * `located`, 1 J in one of `hybrid`. */
static void swing(rb_stepper stepper, const char *formulation)
{
    static const rb_restitution_law laws[] = { RB_POISSON, RB_STRONGE };
    for (unsigned seed = 1; seed <= 4; seed++) {
        maximal x = swinging_chain(2 + (int)seed % 3, seed);
        x.s.o.h = 0.002;
        x.s.o.scheme = RB_SCHEME_MOREAU_JEAN;
        x.s.o.stepper = stepper;
        x.s.o.law = laws[seed % 2];
        x.s.o.restitution = 0.2 + 0.15 * seed;
        x.s.o.formulation = rb_formulation_find(formulation);
        int touched = 0;
        for (int i = 0; i < 300; i++) {
            scene_step(&x.s);
            touched |= x.s.info.contacts > 0 && x.s.info.energy_created < 0.0;
            if (!(x.s.info.energy_created <= 1e-11) || !(x.s.info.loop_error <= 1e-6))
                test_fail(__FILE__, __LINE__, "seed %u, t = %g: %g J created, loops open by %g",
                          seed, x.s.d->time, x.s.info.energy_created, x.s.info.loop_error);
        }
        CHECK(touched);
        maximal_free(&x);
    }
}

TEST(joints_of_fixed_steps_make_no_energy)
{
    swing(RB_STEPPER_FIXED, "cone");
    swing(RB_STEPPER_FIXED, "stewart-trinkle");
}

TEST(joints_of_located_steps_make_no_energy)
{
    swing(RB_STEPPER_LOCATED, "cone");
    swing(RB_STEPPER_LOCATED, "stewart-trinkle");
}

TEST(joints_of_hybrid_steps_make_no_energy)
{
    swing(RB_STEPPER_HYBRID, "cone");
    swing(RB_STEPPER_HYBRID, "stewart-trinkle");
}

/* Largest energy that contact of a swinging chain makes in a step [J]; impacts make none. */
static double made_by_chain(unsigned seed, const char *formulation, rb_scheme scheme)
{
    maximal x = swinging_chain(2 + (int)seed % 3, seed);
    scene s = { .m = x.minimal, .d = x.at, .o = rb_step_opts_default() };
    s.o.h = 0.002;
    s.o.restitution = 0.3;
    s.o.scheme = scheme;
    s.o.formulation = rb_formulation_find(formulation);
    while (s.d->time < 1.0) {
        scene_step(&s);
        CHECK(s.info.energy_impacts <= 1e-12);
    }
    x.at = s.d;
    maximal_free(&x);
    return s.worst.energy_created;
}

/* In joint coordinates, of about 1 J. At 4, 2, 1 ms `cone` makes 4.3e-5, 5.3e-5, 2.2e-7 J at most
 * in a step: slip may miss 1e-5 of the speed. Pyramids of friction make 1.0e-4, 3.4e-5, 2.6e-5 J.
 */
TEST(chains_in_contact_make_little_energy)
{
    for (unsigned seed = 1; seed <= 12; seed++) {
        CHECK(made_by_chain(seed, "cone", RB_SCHEME_NODE) <= 1e-4);
        CHECK(made_by_chain(seed, "stewart-trinkle", RB_SCHEME_NODE) <= 1.5e-4);
        CHECK(made_by_chain(seed, "cone", RB_SCHEME_SEMI_IMPLICIT) <= 1e-12);
        CHECK(made_by_chain(seed, "stewart-trinkle", RB_SCHEME_SEMI_IMPLICIT) <= 1e-11);
        CHECK(made_by_chain(seed, "stewart-trinkle-nonlinear", RB_SCHEME_SEMI_IMPLICIT) <= 1e-11);
    }
}

/* A linkage of three rods, 1.2 kg, begins open by 6 cm and closes a fifth of it in each step: at
 * 6 m/s, 20 J at most. Where each part of a step took off a fifth, ever shorter ones made 1e5 J. */
TEST(parts_close_loops_at_the_pace_of_steps)
{
    static const rb_stepper steppers[] = { RB_STEPPER_FIXED, RB_STEPPER_LOCATED,
                                           RB_STEPPER_HYBRID };
    for (int k = 0; k < 3; k++) {
        scene s = scene_text(
            "<mujoco><worldbody><geom type='plane' size='5 5 1' pos='0 0 -0.55'/><body name='a'>"
            "<joint type='hinge' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0.3 0 0' "
            "size='0.02'/><body name='b' pos='0.3 0 0'><joint type='hinge' axis='0 1 0'/>"
            "<geom type='capsule' fromto='0 0 0 0 0 -0.3' size='0.02'/></body></body><body "
            "name='c' "
            "pos='0.5 0 0'><joint type='hinge' axis='0 1 0'/><geom type='capsule' "
            "fromto='0 0 0 0 0 -0.3' size='0.02'/></body></worldbody><equality><connect "
            "body1='b' body2='c' anchor='0.1 0 -0.3'/></equality></mujoco>");
        s.o.h = 0.002;
        s.o.stepper = steppers[k];
        s.o.restitution = 0.5;
        s.d->q[0] = 0.1;
        s.d->q[1] = 0.05;
        s.d->q[2] = -0.05;
        s.d->v[2] = 2.0;
        scene_run(&s, 0.5);
        CHECK(s.worst.energy_created <= 20.0);
        CHECK(s.info.loop_error <= 1e-9);
        scene_free(&s);
    }
}

TEST_MAIN(RUN(joints_of_fixed_steps_make_no_energy), RUN(joints_of_located_steps_make_no_energy),
          RUN(joints_of_hybrid_steps_make_no_energy), RUN(chains_in_contact_make_little_energy),
          RUN(parts_close_loops_at_the_pace_of_steps))
