/* Steps that change nothing but the time are told again (S.34): the same bits and the same
 * certificate as if they had been computed, and the first bit that differs is seen. */
#include "model/cache.h"
#include "step_support.h"

static void compute_step(scene *s)
{
    s->d->cache->rest_known = 0;
    scene_step(s);
}

/* Everything that is told, jams and padding left out. */
static void check_same_told(const rb_step_info *x, const rb_step_info *y)
{
    CHECK_INT(x->contacts, y->contacts);
    CHECK_INT(x->active, y->active);
    CHECK_INT(x->rows, y->rows);
    CHECK_INT(x->islands, y->islands);
    CHECK_INT(x->solves, y->solves);
    CHECK_INT(x->parts, y->parts);
    CHECK_INT(x->resting, y->resting);
    CHECK(x->residual == y->residual && x->penetration == y->penetration);
    CHECK(x->energy_created == y->energy_created && x->loop_error == y->loop_error);
    CHECK(strcmp(x->path, y->path) == 0);
}

static int agree(const char *name, rb_stepper stepper, double time)
{
    scene a = scene_file(name), b = scene_file(name);
    int still = 0;
    a.o.stepper = b.o.stepper = stepper;
    while (a.d->time < time) {
        scene_step(&a);
        compute_step(&b);
        check_same_told(&a.info, &b.info);
        CHECK(rb_data_hash(a.d) == rb_data_hash(b.d));
        still += a.d->cache->rest_known;
    }
    scene_free(&a);
    scene_free(&b);
    return still;
}

TEST(steps_that_are_told_again_have_the_bits_of_computed_ones)
{
    CHECK(agree("peers/quadruped.xml", RB_STEPPER_FIXED, 1.6) > 100);
    CHECK(agree("peers/stack_100.xml", RB_STEPPER_FIXED, 0.3) > 20);
    CHECK(agree("peers/stack_1.xml", RB_STEPPER_LOCATED, 0.3) > 20);
}

TEST(what_moves_is_never_still)
{
    CHECK_INT(agree("peers/four_balls.xml", RB_STEPPER_FIXED, 0.3), 0);
    CHECK_INT(agree("peers/pendulum_12_5.xml", RB_STEPPER_FIXED, 0.05), 0);
}

/* ---- what wakes -------------------------------------------------------------------------------
 */

#define CART                                                                                       \
    "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='5 5 1'/>"               \
    "<body name='base' pos='0 0 0.1'><freejoint/><geom type='box' size='0.3 0.2 0.1'/>"            \
    "<body pos='0 0 0.15'><joint name='arm' axis='0 1 0' damping='1'/>"                            \
    "<geom type='capsule' fromto='0 0 0 0 0 0.2' size='0.02'/></body></body></worldbody>"          \
    "<actuator><position joint='arm' kp='200'/></actuator></mujoco>"

typedef void change(scene *s);

static void turn_servo(scene *s)
{
    s->d->ctrl[0] = 0.3;
}

static void pull_joint(scene *s)
{
    s->d->tau[6] = 2.0;
}

static void pull_body(scene *s)
{
    s->d->wrench[6] = 40.0;
}

static void lift(scene *s)
{
    s->d->q[2] += 1e-6;
}

static void throw_up(scene *s)
{
    s->d->v[2] = 1.0;
}

static void lean(scene *s)
{
    s->m->option.gravity[0] = 9.0;
}

static void smooth_floor(scene *s)
{
    s->o.friction = 0.0;
    s->d->wrench[6] = 0.01;
}

static void longer_step(scene *s)
{
    s->o.h = 0.004;
}

static void forget_contacts(scene *s)
{
    s->d->ntouch = 0;
}

TEST(the_first_bit_that_differs_is_seen)
{
    change *const changes[] = { turn_servo, pull_joint,   pull_body,   lift,           throw_up,
                                lean,       smooth_floor, longer_step, forget_contacts };
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        scene a = scene_text(CART), b = scene_text(CART);
        for (int i = 0; i < 500; i++) {
            scene_step(&a);
            scene_step(&b);
        }
        CHECK_INT(a.d->cache->rest_known, 1);
        changes[k](&a);
        changes[k](&b);
        for (int i = 0; i < 20; i++) {
            scene_step(&a);
            compute_step(&b);
            CHECK(rb_data_hash(a.d) == rb_data_hash(b.d));
        }
        scene_free(&a);
        scene_free(&b);
    }
}

TEST(a_copy_goes_on_with_the_same_bits)
{
    scene a = scene_text(CART), b = scene_text(CART);
    for (int i = 0; i < 500; i++) scene_step(&a);
    throw_up(&b);
    for (int i = 0; i < 50; i++) scene_step(&b);
    CHECK_INT(rb_data_copy(a.m, b.d, a.d), RB_OK);
    for (int i = 0; i < 20; i++) {
        scene_step(&a);
        scene_step(&b);
        CHECK(rb_data_hash(a.d) == rb_data_hash(b.d));
    }
    scene_free(&a);
    scene_free(&b);
}

TEST_MAIN(RUN(steps_that_are_told_again_have_the_bits_of_computed_ones),
          RUN(what_moves_is_never_still), RUN(the_first_bit_that_differs_is_seen),
          RUN(a_copy_goes_on_with_the_same_bits))
