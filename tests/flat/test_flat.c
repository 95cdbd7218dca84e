/* The flat interface from C: its table against the compiler, arrays that stay, states, batches. */
#include "rattleback/flat.h"

#include "rattleback/rattleback.h"
#include "test.h"

static const char scene[] =
    "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/>"
    "<body name='a' pos='0 0 0.2'><freejoint/><geom name='a' type='box' size='.1 .1 .1'/></body>"
    "<body name='b' pos='0.5 0 0.3'><joint name='hinge' axis='0 1 0'/>"
    "<geom name='b' type='capsule' fromto='0 0 0 .2 0 0' size='.02'/></body></worldbody>"
    "<actuator><motor joint='hinge'/></actuator>"
    "<sensor><jointpos joint='hinge'/></sensor></mujoco>";

static rb_model *load(void)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_flat_read(NULL, scene, sizeof scene - 1, NULL, NULL, 0, NAN, NAN, &err);
    assert_non_null(spec);
    rb_model *m = rb_flat_compile(spec, 0, &err);
    assert_non_null(m);
    rb_spec_free(spec);
    return m;
}

static const rb_field *find(const char *owner, const char *name)
{
    for (int i = 0; i < rb_flat_field_count(); i++) {
        const rb_field *f = rb_flat_field(i);
        if (strcmp(f->owner, owner) == 0 && strcmp(f->name, name) == 0) return f;
    }
    return NULL;
}

TEST(table)
{
    assert_int_equal(rb_flat_abi(), RB_FLAT_ABI);
    assert_int_equal(rb_flat_size("rb_model"), sizeof(rb_model));
    assert_int_equal(rb_flat_size("rb_data"), sizeof(rb_data));
    assert_int_equal(rb_flat_size("rb_step_info"), sizeof(rb_step_info));
    assert_int_equal(rb_flat_size("nothing"), 0);
    assert_null(rb_flat_field(-1));
    assert_null(rb_flat_field(rb_flat_field_count()));

    const rb_field *f = find("rb_model", "jnt_range");
    assert_non_null(f);
    assert_int_equal(f->offset, offsetof(rb_model, jnt_range));
    assert_int_equal(f->type, RB_FIELD_DOUBLE);
    assert_int_equal(f->ndim, 2);
    rb_model *m = load();
    size_t length[2];
    rb_flat_shape(f, m, length);
    assert_int_equal(length[0], m->njnt);
    assert_int_equal(length[1], 2);

    /* two names of one declaration have their own second lengths */
    assert_int_equal(find("rb_model", "site_quat")->length[1].factor, 4);
    assert_int_equal(find("rb_step_info", "residual")->offset, offsetof(rb_step_info, residual));
    assert_int_equal(find("rb_contact_force", "frame")->length[0].factor, 9);
    rb_model_free(m, NULL);
}

/* Every field lies in its struct, and pointers of a model lead to its block. */
TEST(every_field)
{
    rb_model *m = load();
    const char *block = (const char *)m;
    int pointers = 0;
    for (int i = 0; i < rb_flat_field_count(); i++) {
        const rb_field *f = rb_flat_field(i);
        assert_true(f->offset < rb_flat_size(f->owner));
        if (strcmp(f->owner, "rb_model") != 0 || !f->pointer) continue;
        size_t length[2];
        const char *at;
        rb_flat_shape(f, m, length);
        memcpy(&at, block + f->offset, sizeof at);
        size_t bytes = f->size * length[0] * (f->ndim > 1 ? length[1] : 1);
        if (bytes == 0) continue;
        assert_true(at > block && at + bytes <= block + m->bytes);
        pointers++;
    }
    assert_true(pointers > 60);
    rb_model_free(m, NULL);
}

TEST(defaults_and_options)
{
    rb_geom_def geom, expected = rb_geom_default();
    assert_true(rb_flat_default("rb_geom_def", &geom));
    assert_memory_equal(&geom.size, &expected.size, sizeof geom.size);
    assert_false(rb_flat_default("rb_model", &geom));

    rb_error err = { 0 };
    rb_step_opts opts = rb_step_opts_default();
    assert_int_equal(rb_option_set(&opts, "accuracy", "strict", &err), RB_OK);
    assert_int_equal(opts.accuracy, RB_ACCURACY_STRICT);
    assert_int_equal(rb_option_set(&opts, "restitution", "0.5", &err), RB_OK);
    assert_true(opts.restitution == 0.5);
    assert_int_equal(rb_option_set(&opts, "directions", "7", &err), RB_BAD_INPUT);
    assert_non_null(strstr(err.text, "directions"));
    assert_int_equal(rb_option_set(&opts, "nonsense", "7", &err), RB_BAD_INPUT);
    assert_non_null(strstr(err.text, "stepper"));
    assert_int_equal(rb_option_set(&opts, "h", "nan", &err), RB_BAD_INPUT);
}

/* A simulation by hand, as the command runs one. */
static uint64_t by_hand(const rb_model *m, int n)
{
    rb_data *d = rb_data_new(m, NULL);
    rb_sensors(m, d);
    for (int k = 0; k < n; k++) assert_int_equal(rb_step(m, d, NULL, NULL, NULL), RB_OK);
    uint64_t hash = rb_data_hash(d);
    rb_data_free(d);
    return hash;
}

TEST(sim)
{
    rb_error err = { 0 };
    rb_model *m = load();
    rb_sim *s = rb_sim_new(m, &err);
    assert_non_null(s);
    const rb_data *before = rb_sim_data(s);
    const double *q = before->q;
    long done;
    assert_int_equal(rb_sim_step(s, 100, NULL, &done), RB_OK);
    assert_int_equal(done, 100);
    size_t size = rb_sim_save_size(s);
    char *saved = malloc(size);
    assert_int_equal(rb_sim_save(s, saved, size - 1), 0);
    assert_int_equal(rb_sim_save(s, saved, size), size);
    assert_int_equal(rb_sim_step(s, 100, NULL, NULL), RB_OK);
    assert_true(rb_data_hash(rb_sim_data(s)) == by_hand(m, 200));
    assert_true(rb_sim_data(s)->q == q);

    assert_int_equal(rb_sim_restore(s, saved, size), RB_OK);
    assert_true(rb_data_hash(rb_sim_data(s)) == by_hand(m, 100));
    assert_int_equal(rb_sim_restore(s, saved, size - 8), RB_BAD_INPUT);
    rb_sim *twin = rb_sim_copy(s);
    assert_true(rb_data_hash(rb_sim_data(twin)) == rb_data_hash(rb_sim_data(s)));

    rb_sim_data(s)->ctrl[0] = NAN;
    assert_int_equal(rb_sim_step(s, 3, NULL, &done), RB_BAD_INPUT);
    assert_int_equal(done, 0);
    assert_non_null(strstr(rb_sim_error(s)->text, "ctrl[0]"));
    free(saved);
    rb_sim_free(twin);
    rb_sim_free(s);
    rb_model_free(m, NULL);
}

TEST(batch)
{
    enum { N = 5 };
    rb_error err = { 0 };
    rb_model *m = load();
    for (int threads = 1; threads <= 3; threads++) {
        rb_batch *b = rb_batch_new(m, N, threads, &err);
        int length, status[N];
        long done[N];
        double *ctrl = rb_batch_array(b, "ctrl", &length), *q = rb_batch_array(b, "q", &length);
        assert_int_equal(length, m->nq);
        assert_null(rb_batch_array(b, "nothing", &length));
        assert_int_equal(rb_batch_step(b, 50, NULL, status, done), RB_OK);
        for (int i = 0; i < N; i++) {
            assert_true(rb_sim_data(rb_batch_sim(b, i))->q == q + i * m->nq);
            assert_true(rb_data_hash(rb_sim_data(rb_batch_sim(b, i))) == by_hand(m, 50));
        }
        ctrl[3] = NAN;
        assert_int_equal(rb_batch_step(b, 2, NULL, status, done), RB_BAD_INPUT);
        for (int i = 0; i < N; i++) assert_int_equal(done[i], i == 3 ? 0 : 2);
        const int one = 3;
        assert_int_equal(rb_batch_reset(b, &one, 1, -1), RB_OK);
        assert_int_equal(rb_batch_step(b, 2, NULL, NULL, NULL), RB_OK);
        rb_batch_free(b);
    }
    rb_model_free(m, NULL);
}

TEST(parameters)
{
    rb_error err = { 0 };
    rb_model *m = load();
    rb_batch *b = rb_batch_new(m, 2, 1, &err);
    const double gravity[6] = { NAN, NAN, NAN, 0, 0, -1 };
    double now[6];
    assert_int_equal(rb_batch_set(b, RB_PARAMETER_GRAVITY, gravity, NULL, 2, &err), RB_OK);
    rb_batch_get(b, RB_PARAMETER_GRAVITY, now);
    assert_true(now[2] == m->option.gravity[2] && now[5] == -1.0);
    assert_true(rb_sim_model(rb_batch_sim(b, 0)) == m && rb_sim_model(rb_batch_sim(b, 1)) != m);
    double *gain = calloc(6 * (size_t)m->nu, sizeof *gain);
    rb_batch_get(b, RB_PARAMETER_GAIN, gain);
    assert_true(m->nu > 0 && gain[0] == m->act_gain[0] && gain[3 * m->nu] == m->act_gain[0]);
    gain[0] *= 2.0;
    assert_int_equal(rb_batch_set(b, RB_PARAMETER_GAIN, gain, NULL, 2, &err), RB_OK);
    assert_true(rb_sim_model(rb_batch_sim(b, 0))->act_gain[0] == 2.0 * m->act_gain[0]);
    assert_true(rb_sim_model(rb_batch_sim(b, 1))->act_gain[0] == m->act_gain[0]);
    free(gain);
    double *mass = calloc((size_t)m->nbody, sizeof *mass);
    mass[1] = -1.0;
    const int one = 0;
    assert_int_equal(rb_batch_set(b, RB_PARAMETER_MASS, mass, &one, 1, &err), RB_BAD_INPUT);
    free(mass);
    rb_batch_free(b);
    rb_model_free(m, NULL);
}

TEST(threads_of_a_sim)
{
    rb_error err = { 0 };
    rb_model *m = load();
    rb_sim *s = rb_sim_new(m, &err);
    assert_int_equal(rb_sim_threads(s, 3), RB_OK);
    assert_int_equal(rb_sim_step(s, 100, NULL, NULL), RB_OK);
    rb_sim *twin = rb_sim_copy(s); /* has none */
    assert_int_equal(rb_sim_threads(s, 1), RB_OK);
    assert_int_equal(rb_sim_step(s, 100, NULL, NULL), RB_OK);
    assert_int_equal(rb_sim_step(twin, 100, NULL, NULL), RB_OK);
    assert_true(rb_data_hash(rb_sim_data(s)) == by_hand(m, 200));
    assert_true(rb_data_hash(rb_sim_data(twin)) == by_hand(m, 200));
    rb_sim_free(twin);
    rb_sim_free(s);
    rb_model_free(m, NULL);
}

/* A box at rest: its mass and inertia, no velocity, and the floor carries it. */
TEST(bodies)
{
    enum { N = 2, NBODY = 3 };
    rb_error err = { 0 };
    rb_model *m = load();
    rb_batch *b = rb_batch_new(m, N, 1, &err);
    double inertia[N][NBODY][10], velocity[N][NBODY][6], contact[N][NBODY][6], com[N][3];
    double actuation[N][7];
    assert_int_equal(m->nbody, NBODY);
    assert_int_equal(m->nv, 7);
    assert_int_equal(rb_batch_step(b, 500, NULL, NULL, NULL), RB_OK);
    int length;
    rb_batch_array(b, "ctrl", &length)[1] = 2.0;
    assert_int_equal(rb_batch_bodies(b, RB_BODY_INERTIA, &inertia[0][0][0]), RB_OK);
    assert_int_equal(rb_batch_bodies(b, RB_BODY_VELOCITY, &velocity[0][0][0]), RB_OK);
    assert_int_equal(rb_batch_bodies(b, RB_BODY_CONTACT, &contact[0][0][0]), RB_OK);
    rb_batch_actuation(b, &actuation[0][0]);
    rb_batch_center_of_mass(b, &com[0][0]);
    double mass = 8.0, moment = mass * 0.02 / 3.0; /* a cube of 0.2 m, 1000 kg/m^3 */
    for (int k = 0; k < 3; k++) assert_true(fabs(inertia[1][1][k] - moment) < 1e-12);
    for (int k = 3; k < 9; k++) assert_true(fabs(inertia[1][1][k]) < 1e-12);
    assert_true(fabs(inertia[1][1][9] - mass) < 1e-12);
    for (int k = 0; k < 6; k++) {
        assert_true(fabs(velocity[1][1][k]) < 1e-9);
        assert_true(fabs(contact[1][1][k] - (k == 5 ? 9.81 * mass : 0.0)) < 1e-6);
        assert_true(fabs(contact[1][2][k]) < 1e-12);
    }
    assert_true(actuation[0][6] == 0.0 && actuation[1][6] == 2.0);
    assert_true(com[0][0] > 0.0 && com[0][2] == com[1][2]);
    rb_batch_free(b);
    rb_model_free(m, NULL);
}

/* Drops depend on their number and the seed alone. */
TEST(drops)
{
    static const char part[] =
        "<mujoco><worldbody><geom type='plane' size='0 0 1'/><body><freejoint/>"
        "<geom type='box' size='.01 .02 .03'/></body></worldbody></mujoco>";
    enum { N = 12 };
    rb_error err = { 0 };
    rb_spec *spec = rb_flat_read(NULL, part, sizeof part - 1, NULL, NULL, 0, NAN, NAN, &err);
    rb_model *m = rb_flat_compile(spec, 0, &err), *other = load();
    rb_part p;
    rb_drop one[N], two[N];
    rb_drop_opts o = rb_drop_opts_default();
    assert_int_equal(rb_part_read(&p, m, 0.005, &err), RB_OK);
    assert_int_equal(p.npose, 6);
    assert_int_equal(rb_drop_opts_finish(&o, &p, INFINITY, &err), RB_OK);
    assert_true(fabs(o.height - 10.0 * p.size) < 1e-12 && o.step.h > 0.0);
    assert_int_equal(rb_flat_drops(&p, m, &o, 0, N, 1, one, &err), RB_OK);
    assert_int_equal(rb_flat_drops(&p, m, &o, 0, N / 2, 3, two, &err), RB_OK);
    assert_int_equal(rb_flat_drops(&p, m, &o, N / 2, N / 2, 2, two + N / 2, &err), RB_OK);
    for (int k = 0; k < N; k++) {
        assert_true(one[k].pose >= 0 && one[k].pose == two[k].pose);
        assert_true(one[k].time == two[k].time && one[k].steps == two[k].steps);
    }
    assert_int_equal(rb_flat_drops(&p, m, &o, 0, N, 0, one, &err), RB_BAD_INPUT);
    o.height = 0.5 * p.radius;
    assert_int_equal(rb_drop_opts_finish(&o, &p, INFINITY, &err), RB_BAD_INPUT);
    rb_part_free(&p);
    assert_int_equal(rb_part_read(&p, other, 0.005, &err), RB_BAD_INPUT);
    assert_non_null(strstr(err.text, "several bodies move"));
    rb_part_free(&p);
    rb_spec_free(spec);
    rb_model_free(other, NULL);
    rb_model_free(m, NULL);
}

TEST(json)
{
    rb_model *m = load();
    char *json = rb_flat_json("rb_model", m);
    assert_non_null(json);
    assert_non_null(strstr(json, "\"nq\":8"));
    assert_non_null(strstr(json, "\"option\":{\"timestep\":0.002"));
    assert_null(rb_flat_json("nothing", m));
    rb_flat_free(json);

    size_t bytes = m->bytes;
    rb_model *again = rb_flat_model_from(m, bytes);
    assert_non_null(again);
    assert_int_equal(again->nq, m->nq);
    assert_null(rb_flat_model_from(m, 100));
    rb_model_free(again, NULL);
    rb_model_free(m, NULL);
}

TEST(solve)
{
    const double W[] = { 2, 1, 1, 2 }, q[] = { -5, -6 };
    const rb_flat_problem p = { .kind = RB_LCP, .n = 2, .dense = W, .q = q };
    double z[2] = { 0 }, w[2], ray[2];
    unsigned char mode[2] = { 0 };
    rb_info info;
    rb_error err = { 0 };
    assert_int_equal(rb_flat_solve(&p, NULL, 1e-9, 0, 0, 1, z, w, mode, ray, &info, &err), RB_OK);
    assert_int_equal(info.outcome, RB_SOLVED);
    assert_true(fabs(z[0] - 4.0 / 3.0) < 1e-12 && fabs(w[0]) < 1e-12);
    assert_int_equal(rb_flat_solve(&p, "magic", 1e-9, 0, 0, 1, z, w, mode, ray, &info, &err),
                     RB_BAD_INPUT);
    assert_non_null(strstr(err.text, "lemke"));
}

TEST_MAIN(RUN(table), RUN(every_field), RUN(defaults_and_options), RUN(sim), RUN(batch),
          RUN(parameters), RUN(threads_of_a_sim), RUN(bodies), RUN(drops), RUN(json), RUN(solve))
