/* rb_data: reset, keyframes, copies, views, the hash of the state, memory that runs out. */
#include "tree_support.h"

/* A free body, a mocap body, an actuator with a filter, a keyframe. */
static rb_spec *small_spec(void)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_body_def body = rb_body_default();
    body.mass = 1.0;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 1.0;
    body.pose.pos[2] = 2.0;
    CHECK_INT(rb_spec_add_body(spec, &body, NULL), 1);
    body.mocap = 1;
    body.pose.pos[0] = 5.0;
    CHECK_INT(rb_spec_add_body(spec, &body, NULL), 2);
    body.mocap = 0;
    CHECK_INT(rb_spec_add_body(spec, &body, NULL), 3);
    rb_joint_def joint = rb_joint_default();
    joint.body = 1;
    joint.type = RB_JOINT_FREE;
    CHECK_INT(rb_spec_add_joint(spec, &joint, NULL), 0);
    joint.body = 3;
    joint.type = RB_JOINT_SLIDE;
    joint.ref = 0.25;
    CHECK_INT(rb_spec_add_joint(spec, &joint, NULL), 1);
    rb_actuator_def act = rb_actuator_default();
    act.target = 1;
    act.activation = RB_ACT_FILTER;
    CHECK_INT(rb_spec_add_actuator(spec, &act, NULL), 0);
    static const double qvel[7] = { 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0 }, one[1] = { 0.5 };
    static const double mocap[7] = { 9.0, 8.0, 7.0, 0.0, 2.0, 0.0, 0.0 };
    rb_key_def key = rb_key_default();
    key.time = 3.5;
    key.qvel = qvel;
    key.nqvel = 7;
    key.act = key.ctrl = one;
    key.nact = key.nctrl = 1;
    key.mocap = mocap;
    key.nmocap = 7;
    CHECK_INT(rb_spec_add_key(spec, &key, NULL), 0);
    return spec;
}

static rb_model *small_model(void)
{
    rb_spec *spec = small_spec();
    rb_error err = { 0 };
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    if (!m) test_fail(__FILE__, __LINE__, "%s", err.text);
    rb_spec_free(spec);
    return m;
}

TEST(a_new_state_is_the_reference_at_rest)
{
    rb_model *m = small_model();
    rb_data *d = rb_data_new(m, NULL);
    CHECK(d != NULL);
    CHECK_NEAR(d->time, 0.0, 0.0);
    CHECK_NEAR(d->q[2], 2.0, 0.0);
    CHECK_NEAR(d->q[3], 1.0, 0.0);
    CHECK_NEAR(d->q[7], 0.25, 0.0);
    CHECK_NEAR(d->mocap[0], 5.0, 0.0);
    CHECK_NEAR(d->mocap[3], 1.0, 0.0);
    for (int i = 0; i < m->nv; i++) CHECK_NEAR(d->v[i], 0.0, 0.0);
    rb_data_free(d);
    rb_data_free(NULL);
    rb_model_free(m, NULL);
}

TEST(reset_goes_back_to_where_it_began)
{
    rb_model *m = small_model();
    rb_data *d = rb_data_new(m, NULL);
    uint64_t before = rb_data_hash(d);
    rb_rng rng = rb_rng_make(1);
    tree_shake(m, d, &rng);
    d->time = 7.0;
    d->act[0] = d->ctrl[0] = d->wrench[3] = d->mocap[2] = 3.0;
    rb_rng_next(&d->rng);
    CHECK(rb_data_hash(d) != before);
    rb_data_reset(m, d);
    CHECK(rb_data_hash(d) == before);
    CHECK_NEAR(d->ctrl[0], 0.0, 0.0);
    CHECK_NEAR(d->wrench[3], 0.0, 0.0);
    CHECK_NEAR(d->tau[0], 0.0, 0.0);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

TEST(keyframes_set_state_and_controls)
{
    rb_model *m = small_model();
    rb_data *d = rb_data_new(m, NULL);
    CHECK_INT(rb_data_reset_key(m, d, 0), RB_OK);
    CHECK_NEAR(d->time, 3.5, 0.0);
    CHECK_NEAR(d->q[7], 0.25, 0.0);
    CHECK_NEAR(d->v[6], 7.0, 0.0);
    CHECK_NEAR(d->act[0], 0.5, 0.0);
    CHECK_NEAR(d->ctrl[0], 0.5, 0.0);
    CHECK_NEAR(d->mocap[1], 8.0, 0.0);
    CHECK_NEAR(d->mocap[4], 1.0, 0.0); /* at unit length */
    uint64_t hash = rb_data_hash(d);
    CHECK_INT(rb_data_reset_key(m, d, 1), RB_BAD_INPUT);
    CHECK_INT(rb_data_reset_key(m, d, -1), RB_BAD_INPUT);
    CHECK(rb_data_hash(d) == hash);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* Each part of the state, one bit at a time, and nothing else. */
TEST(the_hash_sees_the_state_and_only_it)
{
    rb_model *m = small_model();
    rb_data *d = rb_data_new(m, NULL);
    uint64_t before = rb_data_hash(d);
    double *parts[] = { &d->time, &d->q[0], &d->q[7], &d->v[6], &d->act[0], &d->mocap[6] };
    for (int i = 0; i < 6; i++) {
        double kept = *parts[i];
        *parts[i] = nextafter(kept, 100.0);
        CHECK(rb_data_hash(d) != before);
        *parts[i] = kept;
        CHECK(rb_data_hash(d) == before);
    }
    d->rng.state ^= 1;
    CHECK(rb_data_hash(d) != before);
    d->rng.state ^= 1;
    d->ctrl[0] = d->tau[0] = d->wrench[0] = d->c[0] = d->link_p[0] = 1.0;
    CHECK(rb_data_hash(d) == before);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

TEST(a_copy_continues_bit_for_bit)
{
    tree t = tree_open(11, tree_any(11));
    rb_data *d = rb_data_new(t.m, NULL);
    rb_smooth_info info;
    for (int n = 0; n < 3; n++) CHECK_INT(rb_smooth_step(t.m, t.d, 1e-3, &info), RB_OK);
    CHECK_INT(rb_data_copy(t.m, d, t.d), RB_OK);
    CHECK(rb_data_hash(d) == rb_data_hash(t.d));
    for (int n = 0; n < 3; n++) {
        CHECK_INT(rb_smooth_step(t.m, t.d, 1e-3, &info), RB_OK);
        CHECK_INT(rb_smooth_step(t.m, d, 1e-3, &info), RB_OK);
        CHECK(rb_data_hash(d) == rb_data_hash(t.d));
    }
    rb_data_free(d);
    tree_close(&t);
}

TEST(data_of_another_model_is_refused)
{
    rb_model *m = small_model();
    tree t = tree_open(2, tree_any(6));
    rb_data *d = rb_data_new(m, NULL);
    CHECK(rb_data_view(m, d, d->bytes - 1, d->arena) == NULL);
    CHECK(rb_data_view(m, (char *)d + 8, d->bytes - 8, d->arena) == NULL);
    CHECK(rb_data_view(m, NULL, 0, d->arena) == NULL);
    CHECK(rb_data_view(t.m, d, d->bytes, d->arena) == NULL);
    d->magic ^= 1;
    CHECK(rb_data_view(m, d, d->bytes, d->arena) == NULL);
    d->magic ^= 1;
    d->nv++;
    CHECK(rb_data_view(m, d, d->bytes, d->arena) == NULL);
    d->nv--;
    rb_data_free(d);
    tree_close(&t);
    rb_model_free(m, NULL);
}

TEST(every_allocation_may_fail)
{
    rb_model *m = small_model();
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_data *d = rb_data_new(m, &alloc);
        CHECK((d == NULL) == (memory.requests >= k));
        rb_data_free(d);
        CHECK_INT(memory.live, 0);
        if (memory.requests < k) break;
    }
    rb_model_free(m, NULL);
}

TEST_MAIN(RUN(a_new_state_is_the_reference_at_rest), RUN(reset_goes_back_to_where_it_began),
          RUN(keyframes_set_state_and_controls), RUN(the_hash_sees_the_state_and_only_it),
          RUN(a_copy_continues_bit_for_bit), RUN(data_of_another_model_is_refused),
          RUN(every_allocation_may_fail))
