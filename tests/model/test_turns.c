/* Maximal coordinates: hinges that are measured between two bodies count their turns (D.53), and
 * what acts on them makes no energy (S.2). The same files in minimal coordinates are the oracle.
 */
#include "rattleback/dynamics.h"
#include "step_support.h"

typedef struct both {
    scene tree, maximal;
} both;

static both open_both(const char *mjcf)
{
    both x;
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    rb_spec *spec = rb_spec_read_memory(mjcf, strlen(mjcf), NULL, &o, NULL, &err);
    if (!spec) test_fail(__FILE__, __LINE__, "%s", err.text);
    x.maximal = scene_of(rb_spec_maximal(spec, NULL, &err), &err);
    x.tree = scene_of(spec, &err);
    if (x.tree.m->nkey > 0) CHECK_INT(rb_data_reset_key(x.tree.m, x.tree.d, 0), RB_OK);
    rb_kinematics(x.tree.m, x.tree.d);
    rb_velocity(x.tree.m, x.tree.d);
    CHECK_INT(rb_maximal_state(x.tree.m, x.tree.d, x.maximal.m, x.maximal.d), RB_OK);
    return x;
}

static void free_both(both *x)
{
    scene_free(&x->tree);
    scene_free(&x->maximal);
}

static double energy(scene *s)
{
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    return rb_energy_kinetic(s->m, s->d) + rb_energy_potential(s->m, s->d);
}

/* Angle and rate of the gauge i against joint i of the tree. */
static void check_joint(const both *x, int i, double tol)
{
    const rb_model *m = x->maximal.m;
    int j = m->njnt + i;
    CHECK_NEAR(x->maximal.d->q[m->jnt_qadr[j]], x->tree.d->q[i], tol);
    CHECK_NEAR(x->maximal.d->v[m->jnt_dofadr[j]], x->tree.d->v[i], tol);
}

/* ---- turns --------------------------------------------------------------------------------------
 */

static const char *const servo =
    "<mujoco><compiler angle='radian'/><option timestep='0.002' gravity='0 0 0'/><worldbody>"
    "<body><joint name='j' axis='0 1 0' damping='0.5'/><geom type='box' size='0.1 0.1 0.1' "
    "mass='10'/></body></worldbody><actuator><position joint='j' kp='5'/></actuator>"
    "<keyframe><key ctrl='5'/></keyframe></mujoco>";

TEST(a_servo_goes_to_a_target_beyond_half_a_turn)
{
    both x = open_both(servo);
    scene_run(&x.tree, 6.0);
    scene_run(&x.maximal, 6.0);
    CHECK_NEAR(x.tree.d->q[0], 5.0, 1e-3);
    check_joint(&x, 0, 1e-4);
    free_both(&x);
}

static const char *const spring =
    "<mujoco><compiler angle='radian'/><option timestep='0.001' gravity='0 0 0'/><worldbody>"
    "<body><joint axis='0 1 0' stiffness='1'/><geom type='box' size='0.1 0.1 0.1' mass='10'/>"
    "</body></worldbody><keyframe><key qvel='30'/></keyframe></mujoco>";

TEST(a_spring_is_wound_up_by_turns)
{
    both x = open_both(spring);
    double most = 0.0, start = energy(&x.maximal);
    for (int i = 0; i < 1000; i++) {
        scene_step(&x.tree);
        scene_step(&x.maximal);
        most = fmax(most, x.tree.d->q[0]);
        check_joint(&x, 0, 5e-3);
    }
    CHECK(most > 7.0);
    CHECK_NEAR(energy(&x.maximal), start, 1e-4 * start);
    free_both(&x);
}

static const char *const gears =
    "<mujoco><compiler angle='radian'/><option timestep='0.001'/><worldbody>"
    "<body pos='0 0 1'><joint name='a' axis='0 0 1'/><geom type='sphere' size='0.1' mass='2'/>"
    "</body><body pos='1 0 1'><joint name='b' axis='0 0 1'/><geom type='sphere' size='0.2' "
    "mass='3'/></body></worldbody><equality><joint joint1='b' joint2='a' polycoef='0 -2.5 0 0 0'/>"
    "</equality><actuator><motor joint='a'/></actuator><keyframe><key ctrl='0.3'/></keyframe>"
    "</mujoco>";

TEST(gears_turn_on_past_half_a_turn)
{
    both x = open_both(gears);
    scene_run(&x.tree, 3.0);
    scene_run(&x.maximal, 3.0);
    CHECK(fabs(x.tree.d->q[1]) > 7.0);
    check_joint(&x, 0, 1e-3);
    check_joint(&x, 1, 1e-3);
    free_both(&x);
}

static const char *const stop =
    "<mujoco><compiler angle='radian'/><option timestep='0.002' gravity='0 0 0'/><worldbody>"
    "<body><joint axis='0 1 0' limited='true' range='-1 9'/><geom type='box' size='0.1 0.1 0.1'/>"
    "</body></worldbody><keyframe><key qpos='0' qvel='5'/></keyframe></mujoco>";

TEST(a_range_of_more_than_a_turn_has_its_ends)
{
    both x = open_both(stop);
    scene_run(&x.maximal, 1.7);
    CHECK_NEAR(x.maximal.d->v[x.maximal.m->nv], 5.0, 1e-6);
    scene_run(&x.maximal, 1.0);
    /* passed by 8e-8 within a step, of which a fifth is taken off in the next, by a velocity */
    CHECK_NEAR(x.maximal.d->q[x.maximal.m->nq], 9.0, 1e-5);
    CHECK_NEAR(x.maximal.d->v[x.maximal.m->nv], 0.0, 1e-5);
    free_both(&x);
}

/* Turns are state: a copy and a start beyond a turn go on from there. */
TEST(turns_are_in_the_state)
{
    both x = open_both(spring);
    const rb_model *m = x.maximal.m;
    scene_run(&x.maximal, 0.3);
    CHECK(x.maximal.d->q[m->nq] > 6.5);
    rb_data *copy = rb_data_new(m, NULL), *kept = x.maximal.d;
    CHECK(copy && rb_data_copy(m, copy, kept) == RB_OK);
    CHECK(rb_data_hash(copy) == rb_data_hash(kept));
    scene_run(&x.maximal, 0.1);
    x.maximal.d = copy;
    scene_run(&x.maximal, 0.1);
    CHECK(rb_data_hash(copy) == rb_data_hash(kept));
    rb_data_free(kept);

    x.tree.d->q[0] = 20.0;
    rb_kinematics(x.tree.m, x.tree.d);
    rb_velocity(x.tree.m, x.tree.d);
    CHECK_INT(rb_maximal_state(x.tree.m, x.tree.d, m, copy), RB_OK);
    CHECK_NEAR(energy(&x.maximal), energy(&x.tree), 1e-9);
    CHECK_NEAR(copy->q[m->nq], 20.0, 1e-12);
    free_both(&x);
}

/* ---- energy -------------------------------------------------------------------------------------
 */

/* A hinge at the origin of its body has rows of one velocity each, which the impulses take away:
 * they were taken for rows that move, and the loop was left to rows that made 3 J in 10 s. */
TEST(what_acts_on_a_hinge_makes_no_energy)
{
    static const char *const acts[] = { "damping='1e-9'", "limited='true' range='-3 3'",
                                        "stiffness='1'" };
    for (int i = 0; i < 3; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "<mujoco><compiler angle='radian'/><option timestep='0.004'/><worldbody>"
                 "<body pos='0 0 2'><joint axis='0 1 0' %s/><geom type='sphere' size='0.05' "
                 "pos='0 0 -0.7' mass='2'/></body></worldbody><keyframe><key qpos='1.2'/>"
                 "</keyframe></mujoco>",
                 acts[i]);
        both x = open_both(text);
        double start = energy(&x.maximal);
        scene_run(&x.maximal, 10.0);
        CHECK_NEAR(energy(&x.maximal), start, 1e-4 * start);
        free_both(&x);
    }
}

TEST_MAIN(RUN(a_servo_goes_to_a_target_beyond_half_a_turn), RUN(a_spring_is_wound_up_by_turns),
          RUN(gears_turn_on_past_half_a_turn), RUN(a_range_of_more_than_a_turn_has_its_ends),
          RUN(turns_are_in_the_state), RUN(what_acts_on_a_hinge_makes_no_energy))
