/* Loops of a start are closed before the first step, and make no energy; links whose overlap
 * belongs to the model are left out of contact. */
#include "rattleback/collide.h"
#include "rattleback/step.h"
#include "rattleback/dynamics.h"
#include "step_support.h"

#define FOUR_BAR                                                                                   \
    "<mujoco><compiler angle='radian'/><option timestep='0.001'/><worldbody>"                      \
    "<body name='crank'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 0.1' "         \
    "size='0.01' mass='0.3' contype='0'/><body name='rod' pos='0 0 0.1'><joint axis='0 1 0'/>"     \
    "<geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.01' mass='0.5' contype='0'/></body>"      \
    "</body><body name='rocker' pos='0.3 0 0'><joint axis='0 1 0'/><geom type='capsule' "          \
    "fromto='0 0 0 0 0 0.1' size='0.01' mass='0.3' contype='0'/></body></worldbody><equality>"     \
    "<connect body1='rod' body2='rocker' anchor='0.3 0 0'/></equality></mujoco>"

static double closure_error(scene *s)
{
    rb_rows rows;
    double worst = 0.0;
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    CHECK_INT(rb_loop_rows(s->m, s->d, &rows), RB_OK);
    for (int i = 0; i < rows.n; i++) worst = fmax(worst, fabs(rows.error[i]));
    rb_rows_release(s->d, &rows);
    return worst;
}

static double energy_of(scene *s)
{
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    return rb_energy_kinetic(s->m, s->d) + rb_energy_potential(s->m, s->d);
}

/* A crank that is turned by 0.2 alone opens the loop by 2 cm. */
TEST(an_open_four_bar_is_closed_without_energy)
{
    for (int moves = 0; moves < 2; moves++) {
        scene s = scene_text(FOUR_BAR);
        rb_settle_info info;
        s.d->q[0] = 0.2;
        s.d->v[0] = moves ? 1.0 : 0.0;
        CHECK(closure_error(&s) > 0.01);
        double kinetic = moves ? energy_of(&s) : 0.0;
        CHECK_INT(rb_data_settle(s.m, s.d, &info, NULL), RB_OK);
        CHECK(info.open_before > 0.01 && info.open <= 1e-12);
        CHECK(closure_error(&s) <= 1e-12);
        double before = energy_of(&s);
        if (!moves) CHECK(s.d->v[0] == 0.0 && s.d->v[1] == 0.0 && s.d->v[2] == 0.0);
        (void)kinetic;
        for (int i = 0; i < 50; i++) scene_step(&s);
        CHECK_NEAR(energy_of(&s), before, 1e-4);
        CHECK(s.worst.loop_error <= 1e-9);
        scene_free(&s);
    }
}

TEST(closed_loops_are_left_as_they_are)
{
    scene s = scene_text(FOUR_BAR);
    rb_settle_info info;
    double q[3];
    memcpy(q, s.d->q, sizeof q);
    CHECK_INT(rb_data_settle(s.m, s.d, &info, NULL), RB_OK);
    CHECK(memcmp(q, s.d->q, sizeof q) == 0 && info.energy == 0.0);
    scene_free(&s);
}

/* A box about a post: its middle link has no geoms, and the box is in the post wherever its hinge
 * stands. The ball on the end of the arm is in it at the reference only. */
#define POST(contact)                                                                              \
    "<mujoco><compiler angle='radian'/><option timestep='0.002'/><worldbody><body name='post'>"    \
    "<freejoint/><geom name='post' type='box' size='0.05 0.05 0.2' mass='5'/>"                     \
    "<body pos='0 0 0.2'><joint axis='0 0 1'/><geom size='0.01' mass='0.1' contype='0' "           \
    "conaffinity='0'/><body name='hub' pos='0 0 0'><joint axis='0 0 1' limited='true' "            \
    "range='-1 1'/><geom name='hub' type='box' size='0.03 0.03 0.03' mass='0.5'/></body></body>"   \
    "<body pos='0.1 0 0'><joint axis='0 0 1'/><geom size='0.01' mass='0.1' contype='0' "           \
    "conaffinity='0'/><body name='arm'><joint type='slide' axis='1 0 0' limited='true' "           \
    "range='0 0.1'/><geom name='tip' size='0.06' "                                                 \
    "mass='0.2'/></body></body></body></worldbody>" contact "</mujoco>"

static scene left_out(const char *text, int *count)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, NULL, NULL, &err);
    CHECK(spec);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m);
    CHECK_INT(rb_spec_leave_out(spec, m, NULL, count, &err), RB_OK);
    rb_model_free(m, NULL);
    return scene_of(spec, &err);
}

static int touching(scene *s, const char *a, const char *b)
{
    rb_contact found[64];
    int n = 0, g1 = rb_model_find(s->m, RB_KIND_GEOM, a), g2 = rb_model_find(s->m, RB_KIND_GEOM, b);
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_frames(s->m, s->d);
    CHECK_INT(rb_collide(s->m, s->d, 0.0, 0.0, 64, found, &n, NULL), RB_OK);
    for (int i = 0; i < n; i++) {
        if (found[i].geom1 == g1 && found[i].geom2 == g2) return 1;
        if (found[i].geom1 == g2 && found[i].geom2 == g1) return 1;
    }
    return 0;
}

TEST(overlap_over_the_whole_range_is_left_out_by_name)
{
    int count = 0;
    scene s = left_out(POST(""), &count);
    CHECK_INT(count, 1);
    CHECK(!touching(&s, "post", "hub"));
    CHECK(touching(&s, "post", "tip"));
    int named = 0;
    for (int k = 0; k < s.m->nwarning; k++) {
        const char *text = s.m->names + s.m->warning_text[k];
        named |= strstr(text, "hub") && strstr(text, "post") && strstr(text, "left out");
    }
    CHECK(named);
    scene_free(&s);

    /* an explicit pair stays */
    s = left_out(POST("<contact><pair geom1='post' geom2='hub'/></contact>"), &count);
    CHECK_INT(count, 0);
    CHECK(touching(&s, "post", "hub"));
    scene_free(&s);
}

TEST_MAIN(RUN(an_open_four_bar_is_closed_without_energy), RUN(closed_loops_are_left_as_they_are),
          RUN(overlap_over_the_whole_range_is_left_out_by_name))
