/* The maximal form against the minimal one: same masses, same accelerations of every link. */
#include "tree_support.h"

/* Accelerations (angular; of O) of all links of the tree for given qdd, by (D.4). */
static void link_accelerations(const rb_model *m, const rb_data *d, const double *qdd,
                               double *alpha)
{
    for (int i = 0; i < 6; i++) alpha[i] = 0.0;
    for (int k = 1; k < m->nlink; k++) {
        const double *up = alpha + 6 * m->link_parent[k], *l = d->link_l + 3 * k;
        double *a = alpha + 6 * k;
        for (int i = 0; i < 3; i++) {
            int x = (i + 1) % 3, y = (i + 2) % 3;
            a[i] = up[i] + d->link_a[6 * k + i];
            a[3 + i] = up[3 + i] + up[x] * l[y] - up[y] * l[x] + d->link_a[6 * k + 3 + i];
        }
        for (int n = 0; n < m->link_dofnum[k]; n++) {
            int dof = m->link_dofadr[k] + n;
            for (int i = 0; i < 6; i++) a[i] += d->dof_S[6 * dof + i] * qdd[dof];
        }
    }
}

/* qdd of a model with its active equalities; d->tau is applied. */
static rb_loop_info accelerate(const rb_model *m, rb_data *d, double *qdd)
{
    rb_loop_info info = { 0 };
    rb_kinematics(m, d);
    rb_velocity(m, d);
    CHECK_INT(rb_aba_factor(m, d, NULL, NULL), RB_OK);
    CHECK_INT(rb_forward_loops(m, d, d->tau, qdd, NULL, &info), RB_OK);
    return info;
}

typedef struct pair {
    rb_spec *spec;
    rb_model *m;
    rb_data *d;
} pair;

static pair maximal_of(const rb_spec *spec, const rb_model *m, const rb_data *d)
{
    pair p = { 0 };
    rb_error err = { 0 };
    p.spec = rb_spec_maximal(spec, NULL, &err);
    if (!p.spec) test_fail(__FILE__, __LINE__, "maximal: %s", err.text);
    p.m = rb_spec_compile(p.spec, NULL, &err);
    if (!p.m) test_fail(__FILE__, __LINE__, "compile: %s", err.text);
    p.d = rb_data_new(p.m, NULL);
    CHECK(p.d != NULL);
    CHECK_INT(rb_maximal_state(m, d, p.m, p.d), RB_OK);
    return p;
}

static void pair_close(pair *p)
{
    rb_data_free(p->d);
    rb_model_free(p->m, NULL);
    rb_spec_free(p->spec);
}

/* Both forms, same state: rows are satisfied and all links accelerate alike. */
static double compare(const rb_spec *spec, const rb_model *m, rb_data *d, double *row_error)
{
    double *qdd = malloc(sizeof(double) * (size_t)(m->nv + 1));
    double *alpha = malloc(sizeof(double) * 6 * (size_t)m->nlink);
    CHECK(qdd && alpha);
    accelerate(m, d, qdd);
    link_accelerations(m, d, qdd, alpha);

    pair p = maximal_of(spec, m, d);
    double *qdd_max = malloc(sizeof(double) * (size_t)(p.m->nv + 1));
    double *alpha_max = malloc(sizeof(double) * 6 * (size_t)p.m->nlink);
    CHECK(qdd_max && alpha_max);
    accelerate(p.m, p.d, qdd_max);
    link_accelerations(p.m, p.d, qdd_max, alpha_max);

    rb_rows rows;
    CHECK_INT(rb_loop_rows(p.m, p.d, &rows), RB_OK);
    *row_error = 0.0;
    for (int i = 0; i < rows.n; i++) {
        double velocity = 0.0;
        for (int n = rows.start[i]; n < rows.start[i + 1]; n++) {
            velocity += rows.J[n] * p.d->v[rows.dof[n]];
        }
        *row_error = fmax(*row_error, fmax(fabs(rows.error[i]), fabs(velocity)));
    }
    rb_rows_release(p.d, &rows);

    double worst = 0.0, size = 1.0;
    for (int k = 1; k < m->nlink; k++) {
        int k_max = p.m->body_link[m->link_body[k]];
        for (int i = 0; i < 6; i++) {
            size = fmax(size, fabs(alpha[6 * k + i]));
            worst = fmax(worst, fabs(alpha[6 * k + i] - alpha_max[6 * k_max + i]));
        }
    }
    free(qdd);
    free(alpha);
    free(qdd_max);
    free(alpha_max);
    pair_close(&p);
    return worst / size;
}

/* ---- all kinds of trees -----------------------------------------------------------------------
 */

/* Accelerations agree to this, relative to the largest [1]; rows hold to the rounding of positions
 * and velocities of some metres and metres per second. */
#define SAME     1e-9
#define ROUNDING 1e-10

static void check_same(const rb_spec *spec, const rb_model *m, rb_data *d)
{
    double row_error, difference = compare(spec, m, d, &row_error);
    CHECK_NEAR(difference, 0.0, SAME);
    CHECK_NEAR(row_error, 0.0, ROUNDING);
}

TEST(random_trees_accelerate_alike)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        TEST_SEED(seed);
        tree_options o = tree_any(seed);
        o.nlink = 1 + (int)(seed % 12);
        o.several = 40;
        tree t = tree_open(seed, o);
        check_same(t.spec, t.m, t.d);
        tree_close(&t);
    }
}

TEST(long_trees_accelerate_alike)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        TEST_SEED(seed);
        tree_options o = tree_any(seed);
        o.nlink = 10 * (int)seed;
        tree t = tree_open(seed, o);
        check_same(t.spec, t.m, t.d);
        tree_close(&t);
    }
}

static rb_model *compile(const rb_spec *spec)
{
    rb_error err = { 0 };
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    if (!m) test_fail(__FILE__, __LINE__, "compile: %s", err.text);
    return m;
}

/* Model and data of a tree whose spec was changed. */
static void tree_compile_again(tree *t)
{
    rb_data_free(t->d);
    rb_model_free(t->m, NULL);
    t->m = compile(t->spec);
    t->d = rb_data_new(t->m, NULL);
    CHECK(t->d != NULL);
    tree_shake(t->m, t->d, &t->rng);
}

/* Loops between bodies chosen at random: the state need not satisfy them, the rows of both forms
 * say the same about accelerations. */
TEST(random_loops_accelerate_alike)
{
    static const rb_equality_type types[] = { RB_EQ_CONNECT, RB_EQ_WELD, RB_EQ_HINGE, RB_EQ_SLIDE };
    int compared = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        TEST_SEED(seed);
        tree_options o = tree_any(seed);
        o.nlink = 6 + (int)(seed % 8);
        tree t = tree_open(seed, o);
        int nbody = rb_spec_count(t.spec, RB_KIND_BODY);
        rb_equality_def loop = rb_equality_default();
        loop.type = types[seed % 4];
        loop.obj1 = nbody - 1;
        loop.obj2 = tree_below(&t.rng, nbody - 1);
        tree_vector(&t.rng, 0.3, loop.pose1.pos);
        tree_quaternion(&t.rng, loop.pose1.quat);
        CHECK(rb_spec_add_equality(t.spec, &loop, NULL) >= 0);
        tree_compile_again(&t);

        /* a loop that its chain cannot follow is over-determined: nothing to compare */
        double *qdd = tree_numbers(&t.rng, t.m->nv, 1.0), row_error;
        rb_loop_info info = accelerate(t.m, t.d, qdd);
        if (info.rows > 0 && info.rank == info.rows && info.residual < 1e-11) {
            CHECK_NEAR(compare(t.spec, t.m, t.d, &row_error), 0.0, SAME);
            compared++;
        }
        free(qdd);
        tree_close(&t);
    }
    CHECK(compared > 100);
}

/* ---- what acts on joints ----------------------------------------------------------------------
 */

/* Every joint gets springs, a motor; a tendon and a coupling join some. `bare` of a hundred have no
 * armature; of the turns of a body at most two, since three are known up to a flip. */
static void equip(tree *t, int bare)
{
    rb_rng *rng = &t->rng;
    int scalar[64], n = 0, turns = 0;
    for (int i = 0; i < rb_spec_count(t->spec, RB_KIND_JOINT); i++) {
        rb_joint_def *joint = rb_spec_joint(t->spec, i);
        if (joint->type == RB_JOINT_FREE) continue;
        if (i > 0 && rb_spec_joint(t->spec, i - 1)->body != joint->body) turns = 0;
        turns += joint->type == RB_JOINT_HINGE ? 1 : joint->type == RB_JOINT_BALL ? 2 : 0;
        int has_rotor = turns > 2 || tree_below(rng, 100) >= bare;
        if (turns > 2) turns = 2;
        joint->armature = has_rotor ? rb_rng_uniform(rng, 0.05, 0.5) : 0.0;
        joint->stiffness = rb_rng_uniform(rng, 0.0, 10.0);
        joint->damping = rb_rng_uniform(rng, 0.0, 1.0);
        if (joint->type == RB_JOINT_BALL) continue;
        joint->springref = rb_rng_uniform(rng, -0.5, 0.5);
        if (n < 64) scalar[n++] = i;
    }
    if (n < 2) return;
    rb_actuator_def servo = rb_actuator_default();
    servo.target = scalar[0];
    servo.bias[1] = -3.0;
    CHECK(rb_spec_add_actuator(t->spec, &servo, NULL) >= 0);
    double coef[2] = { 1.5, -0.5 };
    rb_tendon_def tendon = rb_tendon_default();
    tendon.njoint = 2;
    tendon.joint = scalar + n - 2;
    tendon.coef = coef;
    tendon.stiffness = 4.0;
    tendon.damping = 0.3;
    CHECK(rb_spec_add_tendon(t->spec, &tendon, NULL) >= 0);
    rb_equality_def couple = rb_equality_default();
    couple.type = RB_EQ_JOINT;
    couple.obj1 = scalar[0];
    couple.obj2 = scalar[n - 1];
    couple.poly[2] = 0.2;
    CHECK(rb_spec_add_equality(t->spec, &couple, NULL) >= 0);
}

static void push(const rb_model *m, rb_data *d)
{
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_passive(m, d);
    rb_actuation(m, d);
    for (int i = 0; i < m->nv; i++) d->tau[i] += d->passive[i] + d->actuation[i];
}

/* Springs, dampers, servos, tendons and couplings act through the rotors as they did. */
TEST(forces_of_joints_act_on_rotors)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        tree_options o = tree_any(seed);
        o.nlink = 3 + (int)(seed % 8);
        tree t = tree_open(seed, o);
        equip(&t, 0);
        tree_compile_again(&t);
        for (int u = 0; u < t.m->nu; u++) t.d->ctrl[u] = 2.0;
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        pair p = maximal_of(t.spec, t.m, t.d);
        push(t.m, t.d);
        push(p.m, p.d);

        double *qdd = tree_numbers(&t.rng, t.m->nv, 1.0),
               *qdd_max = tree_numbers(&t.rng, p.m->nv, 1.0);
        accelerate(t.m, t.d, qdd);
        accelerate(p.m, p.d, qdd_max);
        double size = 1.0;
        for (int i = 0; i < t.m->nv; i++) size = fmax(size, fabs(qdd[i]));

        /* rotors stand behind the bodies, in the order of the joints */
        int rotor = t.m->nbody;
        for (int j = 0; j < t.m->njnt; j++) {
            if (t.m->jnt_type[j] == RB_JOINT_FREE) continue;
            int own = p.m->body_jntadr[rotor++], nv = t.m->jnt_type[j] == RB_JOINT_BALL ? 3 : 1;
            for (int i = 0; i < nv; i++) {
                CHECK_NEAR(qdd_max[p.m->jnt_dofadr[own] + i], qdd[t.m->jnt_dofadr[j] + i],
                           SAME * size);
            }
        }
        free(qdd);
        free(qdd_max);
        pair_close(&p);
        tree_close(&t);
    }
}

/* What joints without rotor have: their coordinates and rates are those of the tree. */
static void check_gauges(const rb_model *m, const rb_data *d, const pair *p)
{
    char name[128], other[128];
    for (int j = p->m->njnt; j < p->m->njnt_all; j++) {
        const char *called = rb_model_name(p->m, RB_KIND_JOINT, j, name, sizeof name);
        int own = -1;
        for (int k = 0; k < m->njnt; k++)
            if (!strcmp(rb_model_name(m, RB_KIND_JOINT, k, other, sizeof other), called)) own = k;
        CHECK(own >= 0);
        const double *q = p->d->q + p->m->jnt_qadr[j], *q_tree = d->q + m->jnt_qadr[own];
        if (m->jnt_type[own] == RB_JOINT_BALL) {
            double same = q[0] * q_tree[0] + q[1] * q_tree[1] + q[2] * q_tree[2] + q[3] * q_tree[3];
            CHECK_NEAR(fabs(same), 1.0, 1e-12);
        } else {
            CHECK_NEAR(remainder(q[0] - q_tree[0], 2.0 * acos(-1.0)), 0.0, 1e-11);
        }
        for (int i = 0; i < (m->jnt_type[own] == RB_JOINT_BALL ? 3 : 1); i++) {
            int dof = p->m->jnt_dofadr[j] + i, row = dof - p->m->nv;
            double rate = 0.0;
            for (int n = 0; n < p->m->gauge_rownum[row]; n++) {
                int at = p->m->gauge_rowadr[row] + n;
                rate += p->d->gauge_J[at] * p->d->v[p->m->gauge_entry[at]];
            }
            CHECK_NEAR(p->d->v[dof], d->v[m->jnt_dofadr[own] + i], 1e-10);
            CHECK_NEAR(rate, p->d->v[dof], 1e-10);
        }
    }
}

/* Angles as a gauge measures them, within half a turn of the rest of the spring. */
static void wind_back(const rb_model *m, rb_data *d)
{
    double turn = 2.0 * acos(-1.0);
    for (int j = 0; j < m->njnt; j++) {
        double *q = d->q + m->jnt_qadr[j];
        if (m->jnt_type[j] != RB_JOINT_HINGE) continue;
        q[0] = m->jnt_springref[j] + remainder(q[0] - m->jnt_springref[j], turn);
    }
}

/* The same with and without armature: a joint without it is measured between its bodies. */
TEST(forces_of_joints_act_between_bodies)
{
    int gauges = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        tree_options o = tree_any(seed);
        o.nlink = 1 + (int)(seed % 12);
        o.several = 40;
        tree t = tree_open(seed, o);
        equip(&t, seed % 3 == 0 ? 100 : 50);
        tree_compile_again(&t);
        wind_back(t.m, t.d);
        for (int u = 0; u < t.m->nu; u++) t.d->ctrl[u] = 2.0;
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        pair p = maximal_of(t.spec, t.m, t.d);
        push(t.m, t.d);
        push(p.m, p.d);
        check_gauges(t.m, t.d, &p);
        gauges += p.m->ngauge;

        double *qdd = tree_numbers(&t.rng, t.m->nv, 1.0),
               *qdd_max = tree_numbers(&t.rng, p.m->nv, 1.0);
        double *alpha = malloc(sizeof(double) * 6 * (size_t)t.m->nlink);
        double *alpha_max = malloc(sizeof(double) * 6 * (size_t)p.m->nlink), size = 1.0;
        CHECK(alpha && alpha_max);
        accelerate(t.m, t.d, qdd);
        accelerate(p.m, p.d, qdd_max);
        link_accelerations(t.m, t.d, qdd, alpha);
        link_accelerations(p.m, p.d, qdd_max, alpha_max);
        for (int i = 0; i < 6 * t.m->nlink; i++) size = fmax(size, fabs(alpha[i]));
        for (int k = 1; k < t.m->nlink; k++) {
            int own = p.m->body_link[t.m->link_body[k]];
            for (int i = 0; i < 6; i++)
                CHECK_NEAR(alpha_max[6 * own + i], alpha[6 * k + i], SAME * size);
        }
        CHECK_NEAR(rb_energy_potential(p.m, p.d), rb_energy_potential(t.m, t.d),
                   1e-10 * (1.0 + fabs(rb_energy_potential(t.m, t.d))));
        free(qdd);
        free(qdd_max);
        free(alpha);
        free(alpha_max);
        pair_close(&p);
        tree_close(&t);
    }
    CHECK(gauges > 500);
}

/* ---- by hand ----------------------------------------------------------------------------------
 */

static int add_body(rb_spec *spec, const char *name, int parent)
{
    rb_body_def def = rb_body_default();
    def.name = name;
    def.parent = parent;
    def.pose.pos[0] = 1.0;
    int i = rb_spec_add_body(spec, &def, NULL);
    rb_geom_def geom = rb_geom_default();
    geom.body = i;
    geom.size[0] = 0.1;
    CHECK(i > 0 && rb_spec_add_geom(spec, &geom, NULL) >= 0);
    return i;
}

static int add_joint(rb_spec *spec, const char *name, int body, rb_joint_type type, double armature)
{
    rb_joint_def def = rb_joint_default();
    def.name = name;
    def.body = body;
    def.type = type;
    def.armature = armature;
    int i = rb_spec_add_joint(spec, &def, NULL);
    CHECK(i >= 0);
    return i;
}

/* A hinge, a ball, a slide, a hinge with armature, one after the other. */
static rb_spec *chain_spec(void)
{
    rb_spec *spec = rb_spec_new(NULL);
    int a = add_body(spec, "a", 0), b = add_body(spec, "b", a), c = add_body(spec, "c", b),
        e = add_body(spec, "e", c);
    add_joint(spec, "a", a, RB_JOINT_HINGE, 0.0);
    add_joint(spec, "b", b, RB_JOINT_BALL, 0.0);
    add_joint(spec, "c", c, RB_JOINT_SLIDE, 0.0);
    add_joint(spec, NULL, e, RB_JOINT_HINGE, 0.5);
    return spec;
}

TEST(each_joint_becomes_its_equality)
{
    rb_spec *spec = chain_spec(), *max = rb_spec_maximal(spec, NULL, NULL);
    CHECK(max != NULL);
    rb_model *m = compile(max);
    static const int types[] = { RB_EQ_HINGE, RB_EQ_CONNECT, RB_EQ_SLIDE, RB_EQ_CHAIN };
    CHECK_INT(m->neq, 4);
    for (int e = 0; e < 4; e++) {
        CHECK_INT(m->eq_type[e], types[e]);
        CHECK_INT(m->eq_obj1[e], e + 1);
        CHECK_INT(m->eq_obj2[e], e);
    }
    CHECK_INT(m->nv, 4 * 6 + 1);
    CHECK_INT(m->ntree, 5);
    CHECK_INT(rb_model_find(m, RB_KIND_BODY, "c"), 3);
    CHECK_NEAR(m->body_pos[3 * 3], 3.0, 1e-15); /* where it was in the world */

    /* the rotor has the name its joint was called by, and no mass */
    int rotor = rb_model_find(m, RB_KIND_JOINT, "e.0");
    CHECK_INT(m->jnt_body[rotor], 5);
    CHECK_INT(m->chain_jnt[0], rotor);
    CHECK_NEAR(m->dof_armature[m->jnt_dofadr[rotor]], 0.5, 0.0);
    CHECK_NEAR(m->body_mass[5], 0.0, 0.0);

    /* parents and children still do not collide: a-b, b-c, c-e */
    CHECK_INT(m->nexclude, 3);
    CHECK_INT(m->exclude_body1[2], 3);
    CHECK_INT(m->exclude_body2[2], 4);
    rb_model_free(m, NULL);
    rb_spec_free(max);
    rb_spec_free(spec);
}

TEST(a_tendon_of_one_joint_makes_a_rotor_too)
{
    rb_spec *spec = chain_spec();
    static const int joints[1] = { 0 };
    static const double coef[1] = { 2.0 };
    rb_tendon_def tendon = rb_tendon_default();
    tendon.njoint = 1;
    tendon.joint = joints;
    tendon.coef = coef;
    tendon.armature = 0.1;
    CHECK_INT(rb_spec_add_tendon(spec, &tendon, NULL), 0);
    rb_model *m = compile(spec);
    rb_data *d = rb_data_new(m, NULL);
    rb_rng rng = rb_rng_make(4);
    tree_shake(m, d, &rng);
    check_same(spec, m, d);
    rb_data_free(d);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

static void check_refused(rb_spec *spec, const char *words)
{
    rb_error err = { 0 };
    CHECK(rb_spec_maximal(spec, NULL, &err) == NULL);
    CHECK_INT(err.status, RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, words);
    rb_spec_free(spec);
}

TEST(what_no_free_body_can_be_is_refused)
{
    rb_spec *spec = chain_spec();
    rb_spec_geom(spec, 1)->mass = 0.0;
    check_refused(spec, "body 'b': has no mass or inertia of its own");

    spec = chain_spec();
    for (int n = 0; n < 6; n++) add_joint(spec, NULL, 4, RB_JOINT_HINGE, 1.0);
    check_refused(spec, "body 'e': has 7 joints");
}

/* A joint that is measured needs one chain, and no inertia. */
TEST(measured_joints_are_checked)
{
    rb_spec *spec = chain_spec();
    rb_error err = { 0 };
    rb_spec_joint(spec, 0)->measured = 1;
    CHECK(rb_spec_compile(spec, NULL, &err) == NULL);
    CHECK_CONTAINS(err.text, "joint 'a': is measured and in 0 chains");
    rb_spec_joint(spec, 0)->armature = 1.0;
    CHECK(rb_spec_compile(spec, NULL, &err) == NULL);
    CHECK_CONTAINS(err.text, "is measured and has armature");
    rb_spec_free(spec);
}

TEST(keyframes_are_dropped_with_a_warning)
{
    rb_spec *spec = chain_spec();
    rb_joint_def *joint = rb_spec_joint(spec, 0);
    joint->limited = 1;
    joint->range[1] = 7.0;
    rb_spec_joint(spec, 2)->limited = 1;
    rb_spec_joint(spec, 2)->range[1] = 7.0;
    rb_spec_joint(spec, 3)->limited = 1;
    rb_spec_joint(spec, 3)->range[1] = 1.0;
    rb_key_def key = rb_key_default();
    CHECK_INT(rb_spec_add_key(spec, &key, NULL), 0);
    rb_spec *max = rb_spec_maximal(spec, NULL, NULL);
    CHECK(max != NULL);
    CHECK_INT(rb_spec_warning_count(max), 1);
    CHECK_CONTAINS(rb_spec_warning(max, 0)->text, "keyframes");
    CHECK_INT(rb_spec_warning(max, 0)->physics, 0);
    CHECK_INT(rb_spec_count(max, RB_KIND_KEY), 0);
    int rotor = rb_spec_find(max, RB_KIND_JOINT, "e.0"),
        slide = rb_spec_find(max, RB_KIND_JOINT, "c");
    CHECK(rb_spec_joint(max, rotor)->limited && !rb_spec_joint(max, rotor)->measured);
    CHECK(rb_spec_joint(max, slide)->limited && rb_spec_joint(max, slide)->measured);
    rb_spec_free(max);
    rb_spec_free(spec);
}

/* The links of both trees at the same places: coordinates of joints that turn about one axis are
 * not unique, places are. */
static void check_places(const rb_model *m, const rb_data *x, const rb_data *y, double tol)
{
    for (int k = 1; k < m->nlink; k++) {
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(x->link_p[3 * k + i], y->link_p[3 * k + i], tol);
            CHECK_NEAR(x->link_v[3 * k + i], y->link_v[3 * k + i], tol);
            CHECK_NEAR(x->link_w[3 * k + i], y->link_w[3 * k + i], tol);
        }
        for (int i = 0; i < 9; i++) CHECK_NEAR(x->link_R[9 * k + i], y->link_R[9 * k + i], tol);
    }
}

TEST(the_way_back_leads_to_the_same_state)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        tree_options o = tree_any(seed);
        o.nlink = 2 + (int)(seed % 10);
        tree t = tree_open(seed, o);
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        pair p = maximal_of(t.spec, t.m, t.d);
        rb_kinematics(p.m, p.d);
        rb_velocity(p.m, p.d);

        /* from coordinates a little off, velocities unknown */
        rb_data *back = rb_data_new(t.m, NULL);
        CHECK(back != NULL);
        double *off = calloc((size_t)t.m->nv + 1, sizeof *off);
        CHECK(off != NULL);
        for (int j = 0; j < t.m->nv; j++) off[j] = rb_rng_uniform(&t.rng, -0.05, 0.05);
        rb_integrate(t.m, t.d->q, off, 1.0, back->q);
        CHECK_INT(rb_minimal_state(p.m, p.d, t.m, back), RB_OK);
        rb_kinematics(t.m, back);
        rb_velocity(t.m, back);
        check_places(t.m, t.d, back, 1e-8);
        free(off);
        rb_data_free(back);
        pair_close(&p);
        tree_close(&t);
    }
}

TEST(states_of_other_models_are_refused)
{
    tree t = tree_open(1, tree_any(4)), other = tree_open(2, tree_any(5));
    CHECK_INT(rb_maximal_state(t.m, t.d, other.m, other.d), RB_BAD_INPUT);
    tree_close(&t);
    tree_close(&other);
}

TEST(every_allocation_may_fail)
{
    rb_spec *spec = chain_spec();
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_error err = { 0 };
        rb_spec *max = rb_spec_maximal(spec, &alloc, &err);
        if (!max) CHECK_INT(err.status, RB_NOMEM);
        rb_spec_free(max);
        CHECK_INT(memory.live, 0);
        if (memory.requests < k) break;
    }
    rb_spec_free(spec);
}

TEST_MAIN(RUN(random_trees_accelerate_alike), RUN(long_trees_accelerate_alike),
          RUN(random_loops_accelerate_alike), RUN(forces_of_joints_act_on_rotors),
          RUN(forces_of_joints_act_between_bodies), RUN(measured_joints_are_checked),
          RUN(each_joint_becomes_its_equality), RUN(a_tendon_of_one_joint_makes_a_rotor_too),
          RUN(what_no_free_body_can_be_is_refused), RUN(keyframes_are_dropped_with_a_warning),
          RUN(the_way_back_leads_to_the_same_state), RUN(states_of_other_models_are_refused),
          RUN(every_allocation_may_fail))
