/* Sensors: statics that are known where contact matters, the motion of a step, delays, what a file
 * may and may not say. Beside MuJoCo at random states: tests/oracle/sensors.py. */
#include "math/vec3.h"
#include "rattleback/sensor.h"
#include "step_support.h"

static const double *value(const scene *s, const char *name)
{
    int i = rb_model_find(s->m, RB_KIND_SENSOR, name);
    if (i < 0) test_fail(__FILE__, __LINE__, "no sensor %s", name);
    return s->d->sensor + s->m->sensor_adr[i];
}

static void take_steps(scene *s, int n)
{
    for (int k = 0; k < n; k++) CHECK_INT(rb_step(s->m, s->d, &s->o, &s->info, NULL), RB_OK);
}

static void check_vector(const double *x, double a, double b, double c, double tol)
{
    CHECK_NEAR(x[0], a, tol);
    CHECK_NEAR(x[1], b, tol);
    CHECK_NEAR(x[2], c, tol);
}

/* ---- statics ----------------------------------------------------------------------------------
 */

/* A leg of 100 N (40 N of trunk, 60 N of foot) on the ground, welded in the middle. */
static const char leg[] =
    "<mujoco><option timestep='0.002' gravity='0 0 -10'/><worldbody>"
    "<geom name='ground' type='plane' size='0 0 1'/>"
    "<body name='foot' pos='0 0 0.1'><freejoint/>"
    "<geom name='sole' type='box' size='0.2 0.1 0.1' mass='6'/>"
    "<site name='sole' pos='0 0 -0.1' type='box' size='0.21 0.11 0.01'/>"
    "<site name='heel' pos='-0.2 0 -0.1' type='box' size='0.01 0.2 0.01'/>"
    "<site name='far' pos='0 0 3' size='0.1'/>"
    "<body name='trunk' pos='0 0 0.3'><geom type='box' size='0.1 0.1 0.1' mass='4'/>"
    "<site name='ankle' pos='0 0 -0.1'/>"
    "<site name='aside' pos='0.5 0 0' euler='0 0 90'/></body></body></worldbody>"
    "<sensor><touch name='touch' site='sole'/><touch name='heel' site='heel'/>"
    "<touch name='far' site='far'/><force name='force' site='ankle'/>"
    "<torque name='torque' site='ankle'/><torque name='aside' site='aside'/>"
    "<accelerometer name='acc' site='ankle'/>"
    "<framelinacc name='linacc' objtype='body' objname='trunk'/>"
    "<contact name='net' body1='ground0' reduce='netforce' data='found force pos'/>"
    "<contact name='net2' body1='foot' reduce='netforce' data='force'/>"
    "<contact name='four' geom1='sole' num='6' data='found force normal'/>"
    "<contact name='max' geom1='ground' geom2='sole' num='1' reduce='maxforce' data='force dist'/>"
    "<contact name='zone' site='heel' num='4' data='found pos'/>"
    "<contact name='none' geom1='sole' body2='trunk'/>"
    "<force name='base' site='sole'/></sensor></mujoco>";

static scene stand(void)
{
    char text[sizeof leg];
    snprintf(text, sizeof text, "%s", leg);
    char *at = strstr(text, "ground0");
    memcpy(at, "world  ", 7); /* the ground belongs to the world */
    memmove(at + 5, at + 7, strlen(at + 7) + 1);
    scene s = scene_text(text);
    take_steps(&s, 20);
    return s;
}

TEST(a_foot_that_carries_100_newtons_says_so)
{
    scene s = stand();
    CHECK_NEAR(value(&s, "touch")[0], 100.0, 1e-6);
    CHECK_NEAR(value(&s, "heel")[0], 50.0, 1e-5);
    CHECK(value(&s, "far")[0] == 0.0);
    scene_free(&s);
}

/* The foot holds the trunk with 40 N; about a site 0.5 m away that is a torque. */
TEST(what_bodies_exert_on_each_other)
{
    scene s = stand();
    check_vector(value(&s, "force"), 0, 0, 40.0, 1e-6);
    check_vector(value(&s, "torque"), 0, 0, 0, 1e-6);

    /* r x F = (-0.5, 0, 0) x (0, 0, 40) = (0, 20, 0), in axes turned by 90 degrees about z */
    check_vector(value(&s, "aside"), 20.0, 0, 0, 1e-6);

    /* a free body is held by contacts, not by the world */
    check_vector(value(&s, "base"), 0, 0, 0, 1e-5);
    scene_free(&s);
}

TEST(at_rest_gravity_is_felt)
{
    scene s = stand();
    check_vector(value(&s, "acc"), 0, 0, 10.0, 1e-6);
    check_vector(value(&s, "linacc"), 0, 0, 10.0, 1e-6);
    scene_free(&s);
}

TEST(contacts_by_what_was_asked)
{
    scene s = stand();
    const double *x = value(&s, "net");
    CHECK_NEAR(x[0], 4.0, 0);
    check_vector(x + 1, 0, 0, 100.0, 1e-6); /* on the second, the foot */
    check_vector(x + 4, 0, 0, 0, 1e-6);
    check_vector(value(&s, "net2"), 0, 0, -100.0, 1e-6); /* on the second, the ground */
    x = value(&s, "four");
    double sum = 0.0;
    for (int k = 0; k < 4; k++) {
        CHECK_NEAR(x[7 * k], 4.0, 0);
        sum += x[7 * k + 1];
        check_vector(x + 7 * k + 4, 0, 0, -1.0, 1e-12); /* from the sole to the ground */
    }
    CHECK_NEAR(sum, 100.0, 1e-6);
    for (int k = 28; k < 42; k++) CHECK(x[k] == 0.0); /* slots without a contact */
    CHECK_NEAR(value(&s, "max")[0], 25.0, 1e-5);
    x = value(&s, "zone");
    CHECK_NEAR(x[0], 2.0, 0);
    CHECK_NEAR(x[1], -0.2, 1e-9);
    CHECK_NEAR(x[5], -0.2, 1e-9);
    CHECK(x[8] == 0.0 && value(&s, "none")[0] == 0.0);
    scene_free(&s);
}

/* A pendulum that lies on its stop: weight 10 N at 1 m, the limit carries 10 N m. */
TEST(limits_say_what_they_carry)
{
    scene s =
        scene_text("<mujoco><compiler angle='radian'/><option gravity='0 0 -10' "
                   "timestep='0.002'/><worldbody><body><joint name='j' axis='0 1 0' "
                   "range='-1 0' limited='true'/><geom size='0.1' pos='1 0 0' mass='1'/>"
                   "</body></worldbody><sensor><jointlimitfrc name='f' joint='j'/>"
                   "<jointlimitpos name='p' joint='j'/><jointlimitvel name='v' joint='j'/>"
                   "<framelinacc name='a' objtype='body' objname='world'/></sensor></mujoco>");
    take_steps(&s, 10);
    CHECK_NEAR(value(&s, "f")[0], 10.0, 1e-6);
    CHECK_NEAR(value(&s, "p")[0], 0.0, 1e-9);
    CHECK_NEAR(value(&s, "v")[0], 0.0, 1e-9);
    scene_free(&s);
}

/* A bar on a hinge, its end held by a connect: half of its weight each. */
TEST(loops_are_forces_from_outside)
{
    scene s = scene_text(
        "<mujoco><option gravity='0 0 -10' timestep='0.002'/><worldbody>"
        "<body name='bar'><joint axis='0 1 0'/><geom type='capsule' size='0.05 1' pos='1 0 0' "
        "euler='0 90 0' mass='2'/><site name='hinge'/></body></worldbody><equality>"
        "<connect body1='bar' anchor='2 0 0'/></equality>"
        "<sensor><force name='f' site='hinge'/><accelerometer name='a' site='hinge'/></sensor>"
        "</mujoco>");
    take_steps(&s, 10);
    check_vector(value(&s, "f"), 0, 0, 10.0, 1e-5);
    check_vector(value(&s, "a"), 0, 0, 10.0, 1e-5);
    scene_free(&s);
}

/* 1 kg on a rail under a string of 1 m: what the string carries the rail need not. */
TEST(tendons_are_forces_from_outside)
{
    static const char *const by[] = { "stiffness='10' springlength='0.5'", "",
                                      "limited='true' range='0 1'" };
    const double carried[] = { 5.0, 3.0, 0.0 };
    for (int k = 0; k < 3; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "<mujoco><option gravity='0 0 -10' timestep='0.002'/><worldbody>"
                 "<site name='top' pos='0 0 1'/><body name='plate'><joint type='slide' axis='%s'/>"
                 "<geom size='0.1' mass='0.25'/><body name='cup' pos='0.5 0 0'><geom size='0.1'"
                 " mass='0.75'/><site name='s' pos='-0.5 0 0'/></body></body></worldbody>"
                 "<tendon><spatial name='t' %s><site site='top'/><site site='s'/></spatial>"
                 "</tendon><actuator><motor tendon='t'/></actuator>"
                 "<sensor><force name='f' site='s'/></sensor></mujoco>",
                 k == 2 ? "0 0 1" : "1 0 0", by[k]);
        scene s = scene_text(text);
        s.d->ctrl[0] = k == 1 ? -3.0 : 0.0;
        take_steps(&s, 5);
        /* of the cup: its weight less what the string carries; on the limit that carries both */
        double expected = k == 2 ? 7.5 - 10.0 : 7.5 - carried[k];
        check_vector(value(&s, "f"), 0, 0, expected, 1e-5);
        scene_free(&s);
    }
}

/* ---- motion -----------------------------------------------------------------------------------
 */

/* Free flight: nothing is felt; on a wheel w^2 r inwards. */
TEST(what_is_felt_in_motion)
{
    scene s = scene_text(
        "<mujoco><option gravity='0 0 -10' timestep='0.001'/><worldbody>"
        "<body pos='0 0 9'><freejoint/><geom size='0.1'/><site name='falls'/></body>"
        "<body><joint name='j' axis='0 0 1'/><geom type='cylinder' size='1 0.1' mass='1' "
        "contype='0'/><site name='rim' pos='0.5 0 0'/></body></worldbody>"
        "<sensor><accelerometer name='falls' site='falls'/><accelerometer name='rim' site='rim'/>"
        "<velocimeter name='v' site='rim'/><gyro name='w' site='rim'/><clock name='t'/></sensor>"
        "</mujoco>");
    s.d->v[6] = 3.0;
    take_steps(&s, 7);
    check_vector(value(&s, "falls"), 0, 0, 0, 1e-12);
    check_vector(value(&s, "rim"), -9.0 * 0.5, 0, 10.0, 1e-9);
    check_vector(value(&s, "v"), 0, 1.5, 0, 1e-9);
    check_vector(value(&s, "w"), 0, 0, 3.0, 1e-9);
    CHECK_NEAR(value(&s, "t")[0], 0.007, 1e-15);
    scene_free(&s);
}

/* Sensors look at a run, they do not change it. */
TEST(a_run_with_sensors_has_the_same_bits)
{
    scene a = stand();
    char text[sizeof leg];
    snprintf(text, sizeof text, "%s", leg);
    snprintf(strstr(text, "<sensor>"), 16, "</mujoco>");
    scene b = scene_text(text);
    a.d->v[0] = b.d->v[0] = 0.0;
    take_steps(&b, 20);
    CHECK(a.m->nsensor > 0 && b.m->nsensor == 0 && b.m->nsensordata == 0);
    CHECK(rb_data_hash(a.d) == rb_data_hash(b.d));
    for (int k = 0; k < 50; k++) {
        a.d->tau[0] = b.d->tau[0] = 3.0 * k;
        take_steps(&a, 1);
        take_steps(&b, 1);
        CHECK(rb_data_hash(a.d) == rb_data_hash(b.d));
    }
    scene_free(&a);
    scene_free(&b);
}

/* ---- cutoff and delay -------------------------------------------------------------------------
 */

/* A slide at 1 m/s: its position is the time. */
static const char train[] =
    "<mujoco><option gravity='0 0 0' timestep='0.01'/><worldbody><body><joint name='j' "
    "type='slide' axis='1 0 0'/><geom size='0.1'/></body></worldbody><sensor>"
    "<jointpos name='now' joint='j'/><jointpos name='cut' joint='j' cutoff='0.05'/>"
    "<jointpos name='late' joint='j' delay='0.025' nsample='4'/>"
    "<jointpos name='linear' joint='j' delay='0.025' nsample='4' interp='linear'/>"
    "<jointpos name='cubic' joint='j' delay='0.025' nsample='4' interp='cubic'/>"
    "<jointpos name='slow' joint='j' interval='0.03'/>"
    "<jointpos name='phase' joint='j' interval='0.03 -0.01'/>"
    "<jointpos name='both' joint='j' interval='0.03' delay='0.02' nsample='4'/>"
    "</sensor></mujoco>";

TEST(delays_look_back)
{
    scene s = scene_text(train);
    s.d->v[0] = 1.0;
    CHECK_INT(rb_sensors(s.m, s.d), RB_OK); /* the sample at time 0 */
    take_steps(&s, 2);
    CHECK_NEAR(value(&s, "late")[0], 0.0, 0); /* zeros before the start */
    CHECK_NEAR(value(&s, "phase")[0], 0.02, 1e-12);
    take_steps(&s, 1);
    CHECK_NEAR(value(&s, "late")[0], 0.0, 1e-12); /* what was at 0.005: the sample at 0 */
    CHECK_NEAR(value(&s, "linear")[0], 0.005, 1e-12);
    CHECK_NEAR(value(&s, "cubic")[0], 0.004375, 1e-12); /* the slope at 0 sees the zeros before */
    CHECK_NEAR(value(&s, "slow")[0], 0.03, 1e-12);
    take_steps(&s, 4);
    CHECK_NEAR(value(&s, "now")[0], 0.07, 1e-12);
    CHECK_NEAR(value(&s, "cut")[0], 0.05, 0);
    CHECK_NEAR(value(&s, "late")[0], 0.04, 1e-12);
    CHECK_NEAR(value(&s, "linear")[0], 0.045, 1e-12);
    CHECK_NEAR(value(&s, "cubic")[0], 0.045, 1e-12);
    CHECK_NEAR(value(&s, "slow")[0], 0.06, 1e-12);
    CHECK_NEAR(value(&s, "both")[0], 0.03, 1e-12);
    scene_free(&s);
}

/* Samples are state: a copy goes on as the original does. */
TEST(copies_remember)
{
    scene s = scene_text(train);
    s.d->v[0] = 1.0;
    take_steps(&s, 7);
    rb_data *copy = rb_data_new(s.m, NULL);
    CHECK(copy != NULL);
    CHECK_INT(rb_data_copy(s.m, copy, s.d), RB_OK);
    take_steps(&s, 5);
    for (int k = 0; k < 5; k++) CHECK_INT(rb_step(s.m, copy, &s.o, NULL, NULL), RB_OK);
    CHECK(memcmp(copy->sensor, s.d->sensor, (size_t)s.m->nsensordata * sizeof(double)) == 0);
    rb_data_reset(s.m, s.d);
    CHECK(value(&s, "late")[0] == 0.0);
    rb_data_free(copy);
    scene_free(&s);
}

TEST(noise_is_added_on_request)
{
    scene s = scene_text("<mujoco><worldbody><body><joint name='j'/><geom size='0.1'/></body>"
                         "</worldbody><sensor><jointpos name='a' joint='j' noise='0.5'/>"
                         "<jointpos name='b' joint='j'/></sensor></mujoco>");
    rb_rng rng = rb_rng_make(1);
    double sum = 0.0, square = 0.0;
    take_steps(&s, 1);
    CHECK(value(&s, "a")[0] == value(&s, "b")[0]);
    for (int k = 0; k < 20000; k++) {
        double x[2] = { 0.0, 0.0 };
        rb_sensor_noise(s.m, &rng, x);
        CHECK(x[1] == 0.0);
        sum += x[0];
        square += x[0] * x[0];
    }
    CHECK_NEAR(sum / 20000, 0.0, 0.02);
    CHECK_NEAR(sqrt(square / 20000), 0.5, 0.01);
    scene_free(&s);
}

/* ---- names and files --------------------------------------------------------------------------
 */

TEST(titles)
{
    scene s = scene_text("<mujoco><worldbody><site name='s'/></worldbody><sensor><clock/>"
                         "<gyro name='g' site='s'/><clock name='c'/></sensor></mujoco>");
    char buf[64];
    CHECK_INT(s.m->nsensordata, 5);
    CHECK(strcmp(rb_sensor_title(s.m, 0, buf, sizeof buf), "clock.0") == 0);
    CHECK(strcmp(rb_sensor_title(s.m, 1, buf, sizeof buf), "g:0") == 0);
    CHECK(strcmp(rb_sensor_title(s.m, 3, buf, sizeof buf), "g:2") == 0);
    CHECK(strcmp(rb_sensor_title(s.m, 4, buf, sizeof buf), "c") == 0);
    CHECK(strcmp(rb_sensor_title(s.m, 5, buf, sizeof buf), "") == 0);
    scene_free(&s);
}

#define WORLD                                                                                      \
    "<mujoco><worldbody>\n<body name='b'><joint name='j'/><geom name='g' size='.1'/>"              \
    "<site name='s'/></body></worldbody>\n<sensor>\n"

static void refuse(const char *sensor, const char *word)
{
    char text[1024];
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    snprintf(text, sizeof text, WORLD "%s</sensor></mujoco>", sensor);
    rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, &o, NULL, &err);
    if (spec) test_fail(__FILE__, __LINE__, "accepted: %s", sensor);
    if (!strstr(err.text, word) || err.line != 4)
        test_fail(__FILE__, __LINE__, "%s: line %d: %s", sensor, err.line, err.text);
}

TEST(what_is_not_there_is_an_error_with_its_line)
{
    refuse("<touch site='missing'/>", "missing");
    refuse("<touch/>", "site");
    refuse("<jointpos joint='nobody'/>", "nobody");
    refuse("<framepos objtype='site' objname='x'/>", "x");
    refuse("<framepos objname='s'/>", "objtype");
    refuse("<framepos objtype='joint' objname='j'/>", "objtype");
    refuse("<ballquat joint='j'/>", "ball");
    refuse("<jointlimitpos joint='j'/>", "limits");
    refuse("<gyro site='s' cutoff='-1'/>", "cutoff");
    refuse("<gyro site='s' noise='-1'/>", "noise");
    refuse("<jointpos joint='j' delay='0.1'/>", "nsample");
    refuse("<contact geom1='g' body1='b'/>", "geom1");
    refuse("<contact num='0'/>", "num");
    refuse("<contact data='force found'/>", "order");
    refuse("<distance geom1='g'/>", "geom2");
    refuse("<framexaxis objtype='site' objname='s' cutoff='1'/>", "cutoff");
    refuse("<plugin plugin='a.b' objtype='site' objname='s'/>", "a.b");
    refuse("<user/>", "dim");
}

TEST(supported_ones_make_no_warning)
{
    scene s = scene_text(WORLD "<touch site='s'/><gyro site='s' noise='0.1' cutoff='3'/>"
                               "<rangefinder site='s'/></sensor></mujoco>");
    CHECK_INT(s.m->nwarning, 0);
    CHECK_INT(s.m->nsensor, 3);
    scene_free(&s);
    s = scene_text(WORLD "<user dim='2'/><camprojection site='s' camera='c'/></sensor></mujoco>");
    CHECK_INT(s.m->nwarning, 2);
    CHECK_INT(s.m->nsensordata, 2);
    s.d->sensor[0] = 7.0; /* what the caller writes stays */
    take_steps(&s, 1);
    CHECK(s.d->sensor[0] == 7.0 && s.d->sensor[1] == 0.0);
    scene_free(&s);
}

TEST(specs_are_checked)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    rb_sensor_def def = rb_sensor_default();
    def.type = RB_SENSOR_GYRO;
    CHECK_INT(rb_spec_add_sensor(spec, &def, &err), -1); /* attached to nothing */
    def.object = RB_OBJECT_SITE;
    def.index = 0;
    CHECK_INT(rb_spec_add_sensor(spec, &def, &err), -1); /* there is no site */
    def = rb_sensor_default();
    def.nsample = -1;
    CHECK_INT(rb_spec_add_sensor(spec, &def, &err), -1);
    def = rb_sensor_default();
    CHECK_INT(rb_spec_add_sensor(spec, &def, &err), 0);
    rb_spec_sensor(spec, 0)->cutoff = NAN;
    CHECK(rb_spec_compile(spec, NULL, &err) == NULL);
    CHECK(strstr(err.text, "cutoff") != NULL);
    rb_spec_free(spec);
}

TEST_MAIN(RUN(a_foot_that_carries_100_newtons_says_so), RUN(what_bodies_exert_on_each_other),
          RUN(at_rest_gravity_is_felt), RUN(contacts_by_what_was_asked),
          RUN(limits_say_what_they_carry), RUN(loops_are_forces_from_outside),
          RUN(tendons_are_forces_from_outside), RUN(what_is_felt_in_motion),
          RUN(a_run_with_sensors_has_the_same_bits), RUN(delays_look_back), RUN(copies_remember),
          RUN(noise_is_added_on_request), RUN(titles),
          RUN(what_is_not_there_is_an_error_with_its_line), RUN(supported_ones_make_no_warning),
          RUN(specs_are_checked))
