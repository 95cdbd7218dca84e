/* Jams: what the caller moves squeezes what cannot yield. The step says so, names the contacts, and
 * changes nothing; the self-stress it tells of is checked by hand: forces and moments balance. */
#include "step_support.h"

#define JAWS(mu, left, right)                                                                      \
    "<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody>"                                \
    "<body name='left' mocap='true' " left "><geom name='jaw_left' type='box' "                    \
    "size='0.05 0.3 0.1' friction='" mu "'/></body>"                                               \
    "<body name='right' mocap='true' " right "><geom name='jaw_right' type='box' "                 \
    "size='0.05 0.3 0.1' friction='" mu "'/></body>"

#define CLOSING                                                                                    \
    "</worldbody><custom><numeric name='rb.motion/left' data='0.1 0 0 0 0 0'/>"                    \
    "<numeric name='rb.motion/right' data='-0.1 0 0 0 0 0'/></custom></mujoco>"

#define FLAT_JAWS  JAWS("0.5", "pos='-0.2003 0 0'", "pos='0.2 0 0'")
#define WEDGE(mu)  JAWS(mu, "pos='-0.2 0 0' euler='0 0 10'", "pos='0.2 0 0' euler='0 0 -10'")
#define PART(geom) "<body name='part'><freejoint/><geom name='part' " geom "/></body>"
#define BALL(mu)   PART("type='sphere' size='0.1' friction='" mu "'")

/* Steps until one fails, at most for `time`; the status. What fails leaves no trace. */
static rb_status run_until_stuck(scene *s, double time, rb_error *err)
{
    while (s->d->time < time) {
        uint64_t before = rb_data_hash(s->d);
        rb_status status = rb_step(s->m, s->d, &s->o, &s->info, err);
        if (status == RB_OK) continue;
        CHECK(rb_data_hash(s->d) == before);
        return status;
    }
    return RB_OK;
}

/* Force and moment that the self-stress puts on the body of this geom. */
static void resultant(const scene *s, int geom, double F[6])
{
    memset(F, 0, 6 * sizeof *F);
    for (int i = 0; i < s->info.njam; i++) {
        const rb_jam_part *part = &s->info.jam[i];
        if (part->id.kind != 0 || (part->id.a != geom && part->id.b != geom)) continue;
        double sign = part->id.b == geom ? 1.0 : -1.0, f[3];
        for (int a = 0; a < 3; a++) {
            f[a] = 0.0;
            for (int r = 0; r < 3 && r < part->nrow; r++)
                f[a] += sign * part->p[r] * part->frame[3 * r + a];
            F[a] += f[a];
        }
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            F[3 + a] += part->pos[b] * f[c] - part->pos[c] * f[b];
        }
    }
}

static void check_balance(const scene *s, const char *name, double tol)
{
    double F[6];
    CHECK(s->info.njam > 0 && s->info.njam <= RB_JAM_MAX);
    CHECK(s->info.jam_speed > 0.0);
    resultant(s, rb_model_find(s->m, RB_KIND_GEOM, name), F);
    for (int i = 0; i < 6; i++) CHECK_NEAR(F[i], 0.0, tol);
}

TEST(two_jaws_on_a_box)
{
    for (const rb_formulation *const *f = rb_formulations; *f; f++) {
        scene s = scene_text(FLAT_JAWS PART("type='box' size='0.1 0.08 0.1'") CLOSING);
        rb_error err = { 0 };
        s.o.formulation = *f;
        rb_status status = run_until_stuck(&s, 2.0, &err);
        if (strcmp(rb_formulation_name(*f), "phantom") ==
            0) { /* its problems have answers always */
            CHECK(status == RB_UNSOLVED || status == RB_JAMMED);
            scene_free(&s);
            continue;
        }
        CHECK_INT(status, RB_JAMMED);
        CHECK_INT(err.status, RB_JAMMED);
        CHECK_CONTAINS(err.text, "jaw_left and part");
        CHECK_CONTAINS(err.text, "jaw_right and part");
        CHECK(strstr(err.text, "friction") == NULL);
        check_balance(&s, "part", 1e-7);
        CHECK_NEAR(s.info.jam_speed, 0.1, 0.1); /* two at 0.1 m/s, less what is still open */

        /* 0.1003 m between the jaws and the box is closed after that at 0.2 m/s */
        CHECK_NEAR(s.d->time, 0.1003 / 0.2, 0.002);
        scene_free(&s);
    }
}

/* Located, with restitution: the jaws hit, the box flies to and fro between them until they meet.
 */
TEST(two_jaws_that_hit)
{
    scene s = scene_text(FLAT_JAWS PART("type='box' size='0.1 0.08 0.1'") CLOSING);
    rb_error err = { 0 };
    s.o.stepper = RB_STEPPER_LOCATED;
    s.o.restitution = 0.5;
    CHECK_INT(run_until_stuck(&s, 2.0, &err), RB_JAMMED);
    CHECK_CONTAINS(err.text, "jaw_left and part; jaw_right and part");
    CHECK_NEAR(s.d->time, 0.1003 / 0.2, 0.01);
    scene_free(&s);
}

/* At 120 degrees: none of the three can be left out, and all press alike. */
TEST(three_jaws_on_a_ball)
{
    scene s = scene_text(
        "<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody>"
        "<body name='a' mocap='true' pos='0.2 0 0'><geom name='a' type='sphere' "
        "size='0.05' friction='0'/></body>"
        "<body name='b' mocap='true' pos='-0.1 0.17320508075688773 0'>"
        "<geom name='b' type='sphere' size='0.05' friction='0'/></body>"
        "<body name='c' mocap='true' pos='-0.1 -0.17320508075688773 0'>"
        "<geom name='c' type='sphere' size='0.05' friction='0'/></body>"
        "<body><freejoint/><geom name='ball' type='sphere' size='0.1' friction='0'/></body>"
        "</worldbody></mujoco>");
    const double v[3][2] = { { -0.1, 0.0 },
                             { 0.05, -0.086602540378443865 },
                             { 0.05, 0.086602540378443865 } };
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) s.d->mocap_v[6 * i + k] = v[i][k];
    }
    rb_error err = { 0 };
    CHECK_INT(run_until_stuck(&s, 2.0, &err), RB_JAMMED);
    CHECK_CONTAINS(err.text, "a and ball; b and ball; c and ball");
    CHECK_INT(s.info.njam, 3);
    for (int i = 0; i < 3; i++) CHECK_NEAR(s.info.jam[i].p[0], 1.0, 1e-6);
    check_balance(&s, "ball", 1e-7);

    /* one of them withdrawn, the ball is pushed on by the other two */
    s.d->mocap_v[0] = 0.2;
    CHECK_INT(run_until_stuck(&s, s.d->time + 0.3, &err), RB_OK);
    CHECK(s.d->v[0] > 0.0);
    scene_free(&s);
}

/* Between jaws of 10 degrees a ball slips out where mu < tan(10 deg) = 0.176, and not above. */
TEST(a_wedge_jams_by_friction_alone)
{
    const char *const slips[] = { WEDGE("0.17") BALL("0.17") CLOSING,
                                  WEDGE("0") BALL("0") CLOSING };
    for (int k = 0; k < 2; k++) {
        scene s = scene_text(slips[k]);
        rb_error err = { 0 };
        CHECK_INT(run_until_stuck(&s, 0.7, &err), RB_OK);
        CHECK(fabs(s.d->q[1]) > 0.05);
        scene_free(&s);
    }
    scene s = scene_text(WEDGE("0.19") BALL("0.19") CLOSING);
    rb_error err = { 0 };
    CHECK_INT(run_until_stuck(&s, 0.7, &err), RB_JAMMED);
    CHECK_CONTAINS(err.text, "by friction");
    CHECK_INT(s.info.njam, 2);
    check_balance(&s, "part", 1e-7);
    for (int i = 0; i < 2; i++) {
        const double *p = s.info.jam[i].p;
        CHECK(hypot(p[1], p[2]) <= 0.19 * p[0] * (1.0 + 1e-9));
        CHECK_NEAR(hypot(p[1], p[2]), 0.17633 * p[0], 1e-4); /* tan(10 deg): forces in one line */
    }
    scene_free(&s);
}

/* A door pushed on beyond its stop: the limit of a joint is a part of the self-stress. */
TEST(a_door_at_its_stop)
{
    scene s = scene_text("<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody>"
                         "<body name='hand' mocap='true' pos='0.5 -0.3 0'><geom name='hand' "
                         "type='sphere' size='0.05'/></body><body name='door'>"
                         "<joint name='pin' axis='0 0 1' limited='true' range='-90 20'/>"
                         "<geom name='door' type='box' size='0.5 0.01 0.5' pos='0.5 0 0'/></body>"
                         "</worldbody><custom><numeric name='rb.motion/hand' "
                         "data='0 0.3 0 0 0 0'/></custom></mujoco>");
    rb_error err = { 0 };
    CHECK_INT(run_until_stuck(&s, 3.0, &err), RB_JAMMED);
    CHECK_CONTAINS(err.text, "hand and door");
    CHECK_CONTAINS(err.text, "the limit of pin");
    CHECK_INT(s.info.njam, 2);
    CHECK_NEAR(s.d->q[0], 20.0 * 3.141592653589793 / 180.0, 0.002);

    /* the other way it is free */
    s.d->mocap_v[1] = -0.6;
    CHECK_INT(run_until_stuck(&s, s.d->time + 0.5, &err), RB_OK);
    scene_free(&s);
}

/* Jaws that stand squeeze nothing: what is pinched rests. */
TEST(jaws_that_stand_are_no_jam)
{
    scene s = scene_text(JAWS("0.5", "pos='-0.15 0 0'", "pos='0.15 0 0'")
                             PART("type='box' size='0.1 0.08 0.1'") "</worldbody></mujoco>");
    rb_error err = { 0 };
    CHECK_INT(run_until_stuck(&s, 0.2, &err), RB_OK);
    for (int j = 0; j < 6; j++) CHECK(s.d->v[j] == 0.0);

    /* and they carry it where they go together */
    s.d->mocap_v[1] = s.d->mocap_v[7] = 0.2;
    CHECK_INT(run_until_stuck(&s, 0.3, &err), RB_OK);
    scene_free(&s);
}

TEST_MAIN(RUN(two_jaws_on_a_box), RUN(two_jaws_that_hit), RUN(three_jaws_on_a_ball),
          RUN(a_wedge_jams_by_friction_alone), RUN(a_door_at_its_stop),
          RUN(jaws_that_stand_are_no_jam))
