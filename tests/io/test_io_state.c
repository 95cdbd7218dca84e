/* States of models as JSON: what is read, what is refused, and with which sentence. */
#include "io_support.h"

#include <unistd.h>

#include "rattleback/model.h"

/* A free body with a ball joint and a hinge below it, and one motor on the hinge. */
static rb_model *small_model(void)
{
    static const rb_joint_type types[3] = { RB_JOINT_FREE, RB_JOINT_BALL, RB_JOINT_HINGE };
    static const char *const names[3] = { "trunk", "arm", NULL };
    rb_spec *spec = rb_spec_new(NULL);
    for (int k = 0; k < 3; k++) {
        rb_body_def body = rb_body_default();
        body.parent = k;
        body.name = names[k];
        rb_joint_def joint = rb_joint_default();
        joint.body = rb_spec_add_body(spec, &body, NULL);
        joint.type = types[k];
        rb_geom_def geom = rb_geom_default();
        geom.body = joint.body;
        geom.size[0] = 0.1;
        CHECK(rb_spec_add_joint(spec, &joint, NULL) >= 0);
        CHECK(rb_spec_add_geom(spec, &geom, NULL) >= 0);
    }
    rb_actuator_def motor = rb_actuator_default();
    motor.target = 2;
    CHECK(rb_spec_add_actuator(spec, &motor, NULL) >= 0);
    rb_error err = { 0 };
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    if (!m) test_fail(__FILE__, __LINE__, "%s", err.text);
    rb_spec_free(spec);
    return m;
}

static const char full[] =
    "{\"name\":\"a\",\"time\":2.5,\"qpos\":[1,2,3,0,0,0,2,3,0,4,0,0.5],"
    "\"qvel\":[1,2,3,4,5,6,7,8,9,10],\"tau\":[0,0,0,0,0,0,0,0,0,-1],\"qacc\":[9,8,7,6,5,4,3,2,1,0],"
    "\"ctrl\":[0.25],\"act\":[],\"mocap\":[],"
    "\"points\":[{\"body\":\"arm\",\"pos\":[1,2,3]},{\"body\":\"body3\",\"pos\":[0,0,-1]},"
    "{\"body\":\"world\",\"pos\":[0,0,0]}]}";

static void read_state(const rb_model *m, const char *text, rb_state_entry **entry)
{
    rb_error err = { 0 };
    if (rb_state_parse(m, text, strlen(text), 4, NULL, entry, &err) != RB_OK)
        test_fail(__FILE__, __LINE__, "%s", err.text);
}

TEST(a_full_state_is_read)
{
    rb_model *m = small_model();
    rb_state_entry *e;
    read_state(m, full, &e);
    CHECK_STR(e->name, "a");
    CHECK_INT(e->line, 4);
    CHECK(e->unknown == NULL);
    CHECK_NEAR(e->time, 2.5, 0.0);
    CHECK_NEAR(e->qpos[6], 1.0, 0.0); /* quaternions 0 0 0 2 and 3 0 4 0 have unit length now */
    CHECK_NEAR(e->qpos[7], 0.6, 1e-16);
    CHECK_NEAR(e->qpos[9], 0.8, 1e-16);
    CHECK_NEAR(e->qpos[11], 0.5, 0.0);
    CHECK_NEAR(e->qvel[9], 10.0, 0.0);
    CHECK_NEAR(e->tau[9], -1.0, 0.0);
    CHECK_NEAR(e->qacc[0], 9.0, 0.0);
    CHECK_INT(e->npoint, 3);
    CHECK_INT(e->points[0].body, 2);
    CHECK_INT(e->points[1].body, 3);
    CHECK_INT(e->points[2].body, 0);
    CHECK_NEAR(e->points[1].pos[2], -1.0, 0.0);
    rb_state_entry_free(e);
    rb_model_free(m, NULL);
}

TEST(a_state_changes_only_what_it_says)
{
    rb_model *m = small_model();
    rb_data *d = rb_data_new(m, NULL);
    rb_state_entry *e;
    d->v[3] = 7.0;
    d->q[11] = 0.25;
    read_state(m, "{\"tau\":[1,1,1,1,1,1,1,1,1,1],\"ctrl\":[3]}", &e);
    CHECK(e->qpos == NULL && e->qvel == NULL && e->points == NULL && e->npoint == 0);
    CHECK_STR(e->name, "");
    rb_state_apply(m, e, d);
    CHECK_NEAR(d->v[3], 7.0, 0.0);
    CHECK_NEAR(d->q[11], 0.25, 0.0);
    CHECK_NEAR(d->tau[9], 1.0, 0.0);
    CHECK_NEAR(d->ctrl[0], 3.0, 0.0);
    rb_state_entry_free(e);
    read_state(m, full, &e);
    rb_state_apply(m, e, d);
    CHECK_NEAR(d->v[3], 4.0, 0.0);
    CHECK_NEAR(d->q[11], 0.5, 0.0);
    CHECK_NEAR(d->time, 2.5, 0.0);
    rb_state_entry_free(e);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

TEST(huge_and_tiny_quaternions_have_a_direction)
{
    rb_model *m = small_model();
    static const char *const scales[2] = { "1e200", "1e-200" };
    for (int k = 0; k < 2; k++) {
        char text[256];
        rb_state_entry *e;
        snprintf(text, sizeof text, "{\"qpos\":[0,0,0,%s,0,0,%s,1,0,0,0,0]}", scales[k], scales[k]);
        read_state(m, text, &e);
        CHECK_NEAR(e->qpos[3], sqrt(0.5), 1e-15);
        CHECK_NEAR(e->qpos[6], sqrt(0.5), 1e-15);
        rb_state_entry_free(e);
    }
    rb_model_free(m, NULL);
}

TEST(unknown_keys_are_named)
{
    rb_model *m = small_model();
    rb_state_entry *e;
    read_state(m, "{\"ctrl\":[1],\"qvels\":3}", &e);
    CHECK_STR(e->unknown, "qvels");
    rb_state_entry_free(e);
    rb_model_free(m, NULL);
}

static const struct {
    const char *text, *sentence;
} bad[] = {
    { "{\"qpos\":[1,2]}", "qpos: 2 numbers; expected 12, one per coordinate (nq)" },
    { "{\"qvel\":[1,2]}", "qvel: 2 numbers; expected 10, one per degree of freedom (nv)" },
    { "{\"act\":[1]}", "act: 1 numbers; expected 0, one per activation (na)" },
    { "{\"ctrl\":[]}", "ctrl: 0 numbers; expected 1, one per actuator (nu)" },
    { "{\"mocap\":[1]}", "mocap: 1 numbers; expected 0, one per coordinate of mocap bodies" },
    { "{\"qpos\":[0,0,0,0,0,0,0,1,0,0,0,0]}", "qpos[3]: a quaternion of four zeros" },
    { "{\"qpos\":[0,0,0,1,0,0,0,0,0,0,0,0]}", "qpos[7]: a quaternion of four zeros" },
    { "{\"qpos\":{}}", "qpos: an object; expected an array of numbers" },
    { "{\"tau\":[true]}", "tau[0]: true; expected a number" },
    { "{\"points\":{}}", "points: an object; expected an array of points" },
    { "{\"points\":[[]]}", "points[0]: an array; expected {\"body\": name" },
    { "{\"points\":[{\"body\":3}]}", "points[0].body: expected the name of a body" },
    { "{\"points\":[{\"body\":\"leg\"}]}", "points[0].body: \"leg\" is no body of the model" },
    { "{\"points\":[{\"body\":\"arm\"}]}", "points[0].pos: expected three numbers" },
    { "{\"points\":[{\"body\":\"arm\",\"pos\":[1,2,null]}]}", "points[0].pos[2]: null" },
    { "{\"time\":null}", "time: null; expected a number" },
    { "{\"name\":[]}", "name: an array; expected a string" },
    { "{\"qpos\":\n[1,\nNaN]}", "not JSON" },
    { "3", "line: " },
    { "", "line: " },
};

TEST(bad_states_are_refused)
{
    rb_model *m = small_model();
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        test_memory memory = { 0 };
        rb_alloc alloc = test_alloc(&memory);
        rb_state_entry *e = NULL;
        rb_error err = { 0 };
        rb_status status = rb_state_parse(m, bad[k].text, strlen(bad[k].text), 4, &alloc, &e, &err);
        CHECK_INT(status, RB_BAD_INPUT);
        CHECK(e == NULL);
        CHECK_CONTAINS(err.text, bad[k].sentence);
        CHECK_INT(err.line, strstr(bad[k].text, "NaN") ? 6 : 4);
        CHECK_INT(memory.live, 0);
        CHECK_INT(rb_state_parse(m, bad[k].text, strlen(bad[k].text), 4, NULL, &e, NULL), status);
    }
    rb_model_free(m, NULL);
}

TEST(values_may_span_lines)
{
    rb_model *m = small_model();
    const char text[] = "\n{\"name\":\"x\",\n \"ctrl\":\n[1\n]}\n{}\n\n{\"name\":\"a{[b\\\"\"}  ";
    const char *path = write_file(text, strlen(text));
    rb_error err = { 0 };
    rb_state_reader *reader = rb_state_open(path, m, NULL, &err);
    static const int lines[3] = { 2, 6, 8 };
    static const char *const names[3] = { "x", "", "a{[b\"" };
    CHECK(reader != NULL);
    for (int k = 0; k < 4; k++) {
        rb_state_entry *e;
        CHECK_INT(rb_state_next(reader, &e, &err), RB_OK);
        CHECK((e != NULL) == (k < 3));
        if (!e) break;
        CHECK_INT(e->line, lines[k]);
        CHECK_STR(e->name, names[k]);
        rb_state_entry_free(e);
    }
    rb_state_close(reader);
    unlink(path);
    rb_model_free(m, NULL);
}

TEST(every_allocation_may_fail)
{
    rb_model *m = small_model();
    const char *path = write_file(full, strlen(full));
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_error err = { 0 };
        rb_state_entry *e = NULL;
        rb_state_reader *reader = rb_state_open(path, m, &alloc, &err);
        rb_status status = reader ? rb_state_next(reader, &e, &err) : err.status;
        CHECK_INT(status, memory.requests < k ? RB_OK : RB_NOMEM);
        if (status != RB_OK) CHECK_CONTAINS(err.text, "out of memory");
        rb_state_entry_free(e);
        rb_state_close(reader);
        CHECK_INT(memory.live, 0);
        if (status == RB_OK) break;
    }
    unlink(path);
    rb_model_free(m, NULL);
}

TEST_MAIN(RUN(a_full_state_is_read), RUN(a_state_changes_only_what_it_says),
          RUN(huge_and_tiny_quaternions_have_a_direction), RUN(unknown_keys_are_named),
          RUN(bad_states_are_refused), RUN(values_may_span_lines), RUN(every_allocation_may_fail))
