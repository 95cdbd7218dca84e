/* rb_spec_compile: small models worked out by hand, every refusal, memory that runs out, garbage.
 */
#include "test.h"

#include "rattleback/model.h"

/* ---- helpers ----------------------------------------------------------------------------------
 */

static int add_body(rb_spec *spec, const char *name, int parent, double x, double y, double z)
{
    rb_body_def def = rb_body_default();
    def.where = (rb_where){ "m.xml", 10 + rb_spec_count(spec, RB_KIND_BODY) };
    def.name = name;
    def.parent = parent;
    def.pose.pos[0] = x;
    def.pose.pos[1] = y;
    def.pose.pos[2] = z;
    int i = rb_spec_add_body(spec, &def, NULL);
    CHECK(i > 0);
    return i;
}

static int add_joint(rb_spec *spec, int body, rb_joint_type type)
{
    rb_joint_def def = rb_joint_default();
    def.where = (rb_where){ "m.xml", 20 + rb_spec_count(spec, RB_KIND_JOINT) };
    def.body = body;
    def.type = type;
    int i = rb_spec_add_joint(spec, &def, NULL);
    CHECK(i >= 0);
    return i;
}

static int add_sphere(rb_spec *spec, int body, double radius, double mass)
{
    rb_geom_def def = rb_geom_default();
    def.where = (rb_where){ "m.xml", 30 + rb_spec_count(spec, RB_KIND_GEOM) };
    def.body = body;
    def.size[0] = radius;
    def.mass = mass;
    int i = rb_spec_add_geom(spec, &def, NULL);
    CHECK(i >= 0);
    return i;
}

static rb_model *compile(const rb_spec *spec)
{
    rb_error err = { 0 };
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    if (!m) test_fail(__FILE__, __LINE__, "%s:%d: %s", err.file, err.line, err.text);
    return m;
}

/* A free body with an arm of two hinges, a plate fixed to the arm, and a slider on the world. */
static rb_spec *robot(void)
{
    rb_spec *spec = rb_spec_new(NULL);
    int base = add_body(spec, "base", 0, 0.0, 0.0, 1.0);
    int upper = add_body(spec, "upper", base, 0.5, 0.0, 0.0);
    int plate = add_body(spec, "plate", upper, 0.0, 0.0, 0.25);
    int lower = add_body(spec, "lower", plate, 0.0, 0.0, 0.25);
    int slider = add_body(spec, "slider", 0, 0.0, 3.0, 0.0);
    add_joint(spec, base, RB_JOINT_FREE);
    add_joint(spec, upper, RB_JOINT_HINGE);
    add_joint(spec, lower, RB_JOINT_BALL);
    add_joint(spec, slider, RB_JOINT_SLIDE);
    add_sphere(spec, base, 0.1, 4.0);
    add_sphere(spec, upper, 0.1, 2.0);
    add_sphere(spec, plate, 0.1, 1.0);
    add_sphere(spec, lower, 0.1, 0.5);
    add_sphere(spec, slider, 0.1, 3.0);
    return spec;
}

/* ---- by hand ----------------------------------------------------------------------------------
 */

TEST(bodies_fixed_to_each_other_are_one_link)
{
    rb_spec *spec = robot();
    rb_model *m = compile(spec);
    static const int body_link[] = { 0, 1, 2, 2, 3, 4 }, link_parent[] = { -1, 0, 1, 2, 0 };
    static const int link_body[] = { 0, 1, 2, 4, 5 }, link_tree[] = { -1, 0, 0, 0, 1 };
    static const int dofadr[] = { -1, 0, 6, 7, 10 }, dofnum[] = { 0, 6, 1, 3, 1 };
    CHECK_INT(m->nlink, 5);
    CHECK_INT(m->ntree, 2);
    CHECK_INT(m->nq, 7 + 1 + 4 + 1);
    CHECK_INT(m->nv, 6 + 1 + 3 + 1);
    for (int k = 0; k < m->nlink; k++) {
        CHECK_INT(m->link_parent[k], link_parent[k]);
        CHECK_INT(m->link_body[k], link_body[k]);
        CHECK_INT(m->link_tree[k], link_tree[k]);
        CHECK_INT(m->link_dofadr[k], dofadr[k]);
        CHECK_INT(m->link_dofnum[k], dofnum[k]);
    }
    for (int b = 0; b < m->nbody; b++) CHECK_INT(m->body_link[b], body_link[b]);

    /* upper 2 kg at its origin, plate 1 kg 0.25 above: com at 1/12, spheres 2/5 m r^2 plus
     * (2 * 1 / 3) 0.25^2 across */
    CHECK_NEAR(m->link_mass[2], 3.0, 1e-15);
    CHECK_NEAR(m->link_com[6 + 2], 0.25 / 3.0, 1e-16);
    double spin = 0.4 * 3.0 * 0.01, across = spin + 2.0 / 3.0 * 0.0625;
    CHECK_NEAR(m->link_inertia[12], across, 1e-16);
    CHECK_NEAR(m->link_inertia[14], spin, 1e-16);

    /* lower hangs on the plate: 0.5 above the frame of its parent link */
    CHECK_NEAR(m->link_pos[9 + 2], 0.5, 0.0);
    CHECK_NEAR(m->body_link_pos[9 + 2], 0.25, 0.0);
    CHECK_NEAR(m->mass, 10.5, 1e-15);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

TEST(dofs_know_their_parents)
{
    rb_spec *spec = robot();
    rb_model *m = compile(spec);
    static const int parent[] = { -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, -1 };
    int address = 0, length[11];
    for (int i = 0; i < m->nv; i++) {
        CHECK_INT(m->dof_parent[i], parent[i]);
        CHECK_INT(m->dof_Madr[i], address);
        length[i] = 1 + (parent[i] < 0 ? 0 : length[parent[i]]);
        address += length[i];
    }
    CHECK_INT(m->nM, address);
    CHECK_INT(m->nM, 10 * 11 / 2 + 1);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* The same dof tree when a link without joints of its own, mocap, is in between. */
TEST(a_tree_may_hang_on_a_mocap_body)
{
    rb_spec *spec = rb_spec_new(NULL);
    int hook = add_body(spec, "hook", 0, 1.0, 2.0, 3.0);
    rb_spec_body(spec, hook)->mocap = 1;
    int bob = add_body(spec, "bob", hook, 0.0, 0.0, -1.0);
    add_joint(spec, bob, RB_JOINT_HINGE);
    add_sphere(spec, bob, 0.1, 1.0);
    rb_model *m = compile(spec);
    CHECK_INT(m->nmocap, 1);
    CHECK_INT(m->nlink, 3);
    CHECK_INT(m->body_mocap[hook], 0);
    CHECK_INT(m->link_tree[1], -1);
    CHECK_INT(m->link_tree[2], 0);
    CHECK_INT(m->dof_parent[0], -1);
    CHECK_INT(m->link_dofadr[1], -1);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* Joints and geoms given in any order come out grouped by body; what refers to them follows. */
TEST(joints_and_geoms_are_grouped_by_body)
{
    rb_spec *spec = rb_spec_new(NULL);
    int a = add_body(spec, "a", 0, 0.0, 0.0, 0.0), b = add_body(spec, "b", a, 1.0, 0.0, 0.0);
    static const char *names[] = { "b_hinge", "a_slide", "b_slide", "a_hinge" };
    const int bodies[] = { b, a, b, a };
    for (int i = 0; i < 4; i++) {
        rb_joint_def def = rb_joint_default();
        def.name = names[i];
        def.body = bodies[i];
        def.type = names[i][2] == 's' ? RB_JOINT_SLIDE : RB_JOINT_HINGE;
        def.ref = i;
        CHECK_INT(rb_spec_add_joint(spec, &def, NULL), i);
    }
    add_sphere(spec, b, 0.2, 1.0);
    add_sphere(spec, a, 0.1, 1.0);
    add_sphere(spec, 0, 0.3, 1.0);
    rb_actuator_def motor = rb_actuator_default();
    motor.target = 0;
    CHECK_INT(rb_spec_add_actuator(spec, &motor, NULL), 0);
    rb_equality_def couple = rb_equality_default();
    couple.type = RB_EQ_JOINT;
    couple.obj1 = 2;
    couple.obj2 = 3;
    CHECK_INT(rb_spec_add_equality(spec, &couple, NULL), 0);
    static const int joints[2] = { 0, 2 };
    static const double coef[2] = { 2.0, 3.0 };
    rb_tendon_def tendon = rb_tendon_default();
    tendon.njoint = 2;
    tendon.joint = joints;
    tendon.coef = coef;
    CHECK_INT(rb_spec_add_tendon(spec, &tendon, NULL), 0);
    rb_pair_def pair = rb_pair_default();
    pair.geom1 = 0;
    pair.geom2 = 2;
    CHECK_INT(rb_spec_add_pair(spec, &pair, NULL), 0);

    rb_model *m = compile(spec);
    static const char *expected[] = { "a_slide", "a_hinge", "b_hinge", "b_slide" };
    static const double ref[] = { 1.0, 3.0, 0.0, 2.0 };
    for (int j = 0; j < 4; j++) {
        CHECK_STR(rb_model_name(m, RB_KIND_JOINT, j, NULL, 0), expected[j]);
        CHECK_NEAR(m->qpos0[m->jnt_qadr[j]], ref[j], 0.0);
        CHECK_INT(rb_model_find(m, RB_KIND_JOINT, expected[j]), j);
    }
    CHECK_INT(m->body_jntadr[b], 2);
    CHECK_INT(m->body_jntnum[b], 2);
    CHECK_INT(m->act_target[0], 2);
    CHECK_INT(m->eq_obj1[0], 3);
    CHECK_INT(m->eq_obj2[0], 1);
    CHECK_INT(m->wrap_jnt[0], 2);
    CHECK_INT(m->wrap_jnt[1], 3);
    CHECK_NEAR(m->tendon_length0[0], 2.0 * 0.0 + 3.0 * 2.0, 0.0);
    CHECK_NEAR(m->tendon_spring[1], 6.0, 0.0);
    CHECK_NEAR(m->geom_size[0], 0.3, 0.0);
    CHECK_NEAR(m->geom_size[6], 0.2, 0.0);
    CHECK_INT(m->pair_geom1[0], 2);
    CHECK_INT(m->pair_geom2[0], 0);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* Frame 2 of a weld is found such that it holds at the reference configuration. */
TEST(frames_of_equalities_are_derived)
{
    rb_spec *spec = rb_spec_new(NULL);
    int a = add_body(spec, "a", 0, 1.0, 0.0, 0.0), b = add_body(spec, "b", 0, 0.0, 2.0, 0.0);
    double half = sqrt(0.5);
    rb_spec_body(spec, b)->pose.quat[0] = half; /* a quarter turn about z */
    rb_spec_body(spec, b)->pose.quat[3] = half;
    add_joint(spec, a, RB_JOINT_FREE);
    add_joint(spec, b, RB_JOINT_FREE);
    add_sphere(spec, a, 0.1, 1.0);
    add_sphere(spec, b, 0.1, 1.0);
    rb_equality_def weld = rb_equality_default();
    weld.type = RB_EQ_WELD;
    weld.obj1 = a;
    weld.obj2 = b;
    weld.pose1.pos[2] = 5.0;
    CHECK_INT(rb_spec_add_equality(spec, &weld, NULL), 0);
    rb_model *m = compile(spec);

    /* world (1, 0, 5) seen from b at (0, 2, 0): (1, -2, 5), turned back: (-2, -1, 5) */
    CHECK_NEAR(m->eq_pos2[0], -2.0, 1e-15);
    CHECK_NEAR(m->eq_pos2[1], -1.0, 1e-15);
    CHECK_NEAR(m->eq_pos2[2], 5.0, 1e-15);
    CHECK_NEAR(m->eq_quat2[0], half, 1e-15);
    CHECK_NEAR(m->eq_quat2[3], -half, 1e-15);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* Bodies that are fixed to each other need no equality and get none. */
TEST(equalities_within_a_link_are_idle)
{
    rb_spec *spec = robot();
    rb_equality_def weld = rb_equality_default();
    weld.type = RB_EQ_WELD;
    weld.obj1 = 2;
    weld.obj2 = 3;
    CHECK_INT(rb_spec_add_equality(spec, &weld, NULL), 0);
    weld.obj2 = 4;
    CHECK_INT(rb_spec_add_equality(spec, &weld, NULL), 1);
    rb_model *m = compile(spec);
    CHECK_INT(m->eq_active[0], 0);
    CHECK_INT(m->eq_active[1], 1);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

TEST(inertia_comes_from_where_the_body_says)
{
    rb_spec *spec = rb_spec_new(NULL);
    int a = add_body(spec, "a", 0, 0.0, 0.0, 0.0);
    add_joint(spec, a, RB_JOINT_FREE);
    add_sphere(spec, a, 0.1, 2.0);
    rb_body_def *def = rb_spec_body(spec, a);
    def->mass = 5.0;
    def->inertia[0] = def->inertia[1] = def->inertia[2] = 1.0;
    static const struct {
        rb_inertia_source source;
        double mass;
    } cases[] = { { RB_INERTIA_AUTO, 5.0 },
                  { RB_INERTIA_GIVEN, 5.0 },
                  { RB_INERTIA_FROM_GEOMS, 2.0 } };
    for (int i = 0; i < 3; i++) {
        def->inertia_source = cases[i].source;
        rb_model *m = compile(spec);
        CHECK_NEAR(m->body_mass[a], cases[i].mass, 0.0);
        rb_model_free(m, NULL);
    }
    def->inertia_source = RB_INERTIA_AUTO;
    def->mass = 0.0;
    memset(def->inertia, 0, sizeof def->inertia);
    rb_model *m = compile(spec);
    CHECK_NEAR(m->body_mass[a], 2.0, 0.0);
    CHECK_NEAR(m->geom_mass[0], 2.0, 0.0);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

TEST(masses_are_bounded_balanced_and_scaled)
{
    rb_spec *spec = rb_spec_new(NULL);
    int a = add_body(spec, "a", 0, 0.0, 0.0, 0.0), b = add_body(spec, "b", 0, 0.0, 0.0, 0.0);
    add_joint(spec, a, RB_JOINT_FREE);
    add_joint(spec, b, RB_JOINT_FREE);
    rb_spec_body(spec, a)->mass = 3.0;
    static const double thin[6] = { 1.0, 2.0, 6.0, 0.0, 0.0, 0.0 };
    memcpy(rb_spec_body(spec, a)->inertia, thin, sizeof thin);
    rb_option *option = rb_spec_option(spec);
    option->bound_mass = 1.0;
    option->bound_inertia = 0.5;
    option->balance_inertia = 1;
    option->total_mass = 8.0;
    rb_model *m = compile(spec);
    CHECK_NEAR(m->body_mass[a], 6.0, 1e-15);
    CHECK_NEAR(m->body_mass[b], 2.0, 1e-15);
    CHECK_NEAR(m->mass, 8.0, 0.0);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(m->body_inertia[6 * a + i], 2.0 * 3.0, 1e-14);
        CHECK_NEAR(m->body_inertia[6 * b + i], 2.0 * 0.5, 1e-14);
    }
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

TEST(the_extent_is_half_the_diagonal_of_a_box)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_model *m = compile(spec);
    CHECK_NEAR(m->extent, 1.0, 0.0); /* nothing there */
    rb_model_free(m, NULL);
    add_sphere(spec, 0, 2.0, 1.0);
    rb_geom_def plane = rb_geom_default();
    plane.type = RB_GEOM_PLANE;
    plane.size[0] = plane.size[1] = 1e6;
    CHECK_INT(rb_spec_add_geom(spec, &plane, NULL), 1);
    m = compile(spec);
    CHECK_NEAR(m->extent, sqrt(12.0), 1e-15);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

TEST(keyframes_fill_what_they_leave_out)
{
    rb_spec *spec = robot();
    double qpos[13] = { 1.0, 2.0, 3.0, 2.0, 0.0, 0.0, 0.0, 0.5, 0.0, 3.0, 0.0, 0.0, 0.7 };
    rb_key_def full = rb_key_default(), empty = rb_key_default();
    full.name = "home";
    full.qpos = qpos;
    full.nqpos = 13;
    full.time = 4.0;
    CHECK_INT(rb_spec_add_key(spec, &empty, NULL), 0);
    CHECK_INT(rb_spec_add_key(spec, &full, NULL), 1);
    rb_model *m = compile(spec);
    CHECK_NEAR(m->key_qpos[2], 1.0, 0.0); /* the base at its reference height */
    CHECK_NEAR(m->key_qpos[3], 1.0, 0.0);
    CHECK_NEAR(m->key_qpos[13 + 3], 1.0, 0.0); /* quaternions at unit length */
    CHECK_NEAR(m->key_qpos[13 + 9], 1.0, 0.0);
    CHECK_NEAR(m->key_qpos[13 + 12], 0.7, 0.0);
    CHECK_NEAR(m->key_time[1], 4.0, 0.0);
    CHECK_INT(rb_model_find(m, RB_KIND_KEY, "home"), 1);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

TEST(warnings_and_customs_reach_the_model)
{
    rb_spec *spec = robot();
    rb_warning warning = { { "m.xml", 44 }, "tendon/spatial", "has no effect", 1 };
    static const double data[2] = { 0.25, 0.5 };
    rb_custom_def numbers = rb_custom_default(), text = rb_custom_default();
    numbers.name = "rb.restitution";
    numbers.ndata = 2;
    numbers.data = data;
    text.name = "rb.formulation";
    text.text = "cone";
    CHECK_INT(rb_spec_warn(spec, &warning), RB_OK);
    CHECK_INT(rb_spec_warn(spec, &warning), RB_OK);
    CHECK_INT(rb_spec_add_custom(spec, &text, NULL), 0);
    CHECK_INT(rb_spec_add_custom(spec, &numbers, NULL), 1);
    rb_model *m = compile(spec);
    CHECK_INT(m->nwarning, 2);
    for (int i = 0; i < 2; i++) {
        CHECK_STR(m->names + m->warning_file[i], "m.xml");
        CHECK_STR(m->names + m->warning_element[i], "tendon/spatial");
        CHECK_STR(m->names + m->warning_text[i], "has no effect");
        CHECK_INT(m->warning_line[i], 44);
        CHECK_INT(m->warning_physics[i], 1);
    }
    CHECK_STR(m->names + m->custom_text[0], "cone");
    CHECK_INT(m->custom_text[1], -1);
    CHECK_NEAR(m->custom_data[m->custom_adr[1] + 1], 0.5, 0.0);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

/* The robot with one thing wrong. */
typedef struct fault {
    const char *words;
    const char *place; /* what begins the sentence: which element */
    void (*spoil)(rb_spec *spec);
} fault;

#define FAULT(name, ...)                                                                           \
    static void name(rb_spec *spec)                                                                \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }

FAULT(nan_position, rb_spec_body(spec, 2)->pose.pos[1] = NAN)
FAULT(no_quaternion, memset(rb_spec_body(spec, 2)->pose.quat, 0, 4 * sizeof(double)))
FAULT(infinite_gravcomp, rb_spec_body(spec, 2)->gravcomp = INFINITY)
FAULT(negative_mass, rb_spec_body(spec, 2)->mass = -1.0)
FAULT(bad_source, rb_spec_body(spec, 2)->inertia_source = (rb_inertia_source)5)
FAULT(later_parent, rb_spec_body(spec, 2)->parent = 4)
FAULT(mocap_below, rb_spec_body(spec, 3)->mocap = 1)
FAULT(mocap_with_joint, rb_spec_body(spec, 5)->mocap = 1)
FAULT(negative_moment, rb_body_def *b = rb_spec_body(spec, 2); b->mass = 1.0; b->inertia[0] = 1.0;
      b->inertia[1] = 1.0; b->inertia[2] = -0.5)
FAULT(impossible_moments, rb_body_def *b = rb_spec_body(spec, 2); b->mass = 1.0;
      b->inertia[0] = 1.0; b->inertia[1] = 1.0; b->inertia[2] = 2.5)
FAULT(no_axis, memset(rb_spec_joint(spec, 1)->axis, 0, 3 * sizeof(double)))
FAULT(turned_range, rb_joint_def *j = rb_spec_joint(spec, 1); j->limited = 1; j->range[0] = 1.0)
FAULT(nan_range, rb_joint_def *j = rb_spec_joint(spec, 1); j->limited = 1; j->range[1] = NAN)
FAULT(ball_range, rb_joint_def *j = rb_spec_joint(spec, 2); j->limited = 1; j->range[0] = 0.1;
      j->range[1] = 1.0)
FAULT(limited_free, rb_joint_def *j = rb_spec_joint(spec, 0); j->limited = 1; j->range[1] = 1.0)
FAULT(free_below, rb_spec_joint(spec, 1)->type = RB_JOINT_FREE)
FAULT(free_with_hinge, add_joint(spec, 1, RB_JOINT_HINGE))
FAULT(negative_armature, rb_spec_joint(spec, 1)->armature = -1e-3)
FAULT(negative_radius, rb_spec_geom(spec, 1)->size[0] = -0.1)
FAULT(no_length, rb_spec_geom(spec, 1)->type = RB_GEOM_CAPSULE)
FAULT(nan_friction_ok_negative_not, rb_spec_geom(spec, 1)->material.friction = -0.1)
FAULT(bouncy, rb_spec_geom(spec, 1)->material.restitution = 1.5)
FAULT(bad_condim, rb_spec_geom(spec, 1)->condim = 2)
FAULT(tiny_geom, rb_spec_geom(spec, 3)->size[0] = 1e-29)
FAULT(bad_step, rb_spec_option(spec)->timestep = 0.0)
FAULT(bad_gravity, rb_spec_option(spec)->gravity[1] = NAN)
FAULT(bad_bound, rb_spec_option(spec)->bound_mass = -1.0)
FAULT(massless_slider, rb_spec_geom(spec, 4)->mass = 0.0)
FAULT(point_on_axis, rb_body_def *b = rb_spec_body(spec, 4); b->inertia_source = RB_INERTIA_GIVEN;
      b->mass = 1.0)
FAULT(self_weld, rb_equality_def e = rb_equality_default(); e.obj1 = e.obj2 = 1;
      rb_spec_add_equality(spec, &e, NULL))
FAULT(coupled_ball, rb_equality_def e = rb_equality_default(); e.type = RB_EQ_JOINT; e.obj1 = 1;
      e.obj2 = 2; rb_spec_add_equality(spec, &e, NULL))
FAULT(tendon_over_ball, static const int joints[1] = { 2 }; static const double one[1] = { 1.0 };
      rb_tendon_def t = rb_tendon_default(); t.njoint = 1; t.joint = joints; t.coef = one;
      rb_spec_add_tendon(spec, &t, NULL))
FAULT(long_key, static const double qpos[14] = { 0.0 }; rb_key_def k = rb_key_default();
      k.qpos = qpos; k.nqpos = 14; rb_spec_add_key(spec, &k, NULL))
FAULT(flat_key, static const double qpos[13] = { 0.0 }; rb_key_def k = rb_key_default();
      k.qpos = qpos; k.nqpos = 13; rb_spec_add_key(spec, &k, NULL))
FAULT(slow_filter, rb_actuator_def a = rb_actuator_default(); a.target = 1;
      a.activation = RB_ACT_FILTER; a.time_constant = NAN; rb_spec_add_actuator(spec, &a, NULL))
FAULT(nan_gain, rb_actuator_def a = rb_actuator_default(); a.target = 1; a.gain[1] = NAN;
      rb_spec_add_actuator(spec, &a, NULL))
FAULT(self_pair, rb_pair_def p = rb_pair_default(); rb_spec_add_pair(spec, &p, NULL))
FAULT(low_field, static const double elev[4] = { 0.0, 1.0, 1.1, 0.0 };
      rb_hfield_def h = rb_hfield_default(); h.nrow = h.ncol = 2; h.elev = elev;
      rb_spec_add_hfield(spec, &h, NULL))
FAULT(narrow_field, rb_hfield_def h = rb_hfield_default(); rb_spec_add_hfield(spec, &h, NULL))
FAULT(open_chain,
      static const rb_chain_joint four[4] = { { RB_JOINT_HINGE, -1, { 0 }, { 1.0 }, 0 },
                                              { RB_JOINT_HINGE, -1, { 0 }, { 1.0 }, 0 },
                                              { RB_JOINT_HINGE, -1, { 0 }, { 1.0 }, 0 },
                                              { RB_JOINT_HINGE, -1, { 0 }, { 1.0 }, 0 } };
      rb_equality_def e = rb_equality_default(); e.type = RB_EQ_CHAIN; e.obj1 = 1; e.nchain = 4;
      e.chain = four; rb_spec_add_equality(spec, &e, NULL))

static const fault faults[] = {
    { "pos[1] = nan: expected a number", "body 'upper': ", nan_position },
    { "quat has no length", "body 'upper': ", no_quaternion },
    { "gravcomp = inf", "body 'upper': ", infinite_gravcomp },
    { "mass = -1: expected a number >= 0", "body 'upper': ", negative_mass },
    { "no rb_inertia_source", "body 'upper': ", bad_source },
    { "parent = 4: expected a body that was added before", "body 'upper': ", later_parent },
    { "is mocap: expected a child of the world", "body 'plate': ", mocap_below },
    { "on a mocap body", "joint 3: ", mocap_with_joint },
    { "negative principal moment -0.5", "body 'upper': ", negative_moment },
    { "1, 1, 2.5: no body has A + B < C", "body 'upper': ", impossible_moments },
    { "axis has no length", "joint 1: ", no_axis },
    { "range is 1 to 0: expected the lower end below", "joint 1: ", turned_range },
    { "range is 0 to", "joint 1: ", nan_range },
    { "ball with range from 0.1: expected 0", "joint 2: ", ball_range },
    { "free and limited", "joint 0: ", limited_free },
    { "is free: expected on a child of the world", "joint 1: ", free_below },
    { "free and shares its body", "joint 0: ", free_with_hinge },
    { "armature = -0.001", "joint 1: ", negative_armature },
    { "size = -0.1: expected a number >= 0", "geom 1: ", negative_radius },
    { "size[1] = 0: expected a number > 0", "geom 1: ", no_length },
    { "friction = -0.1: expected a number from 0", "geom 1: ", nan_friction_ok_negative_not },
    { "restitution = 1.5: expected a number from 0 to 1", "geom 1: ", bouncy },
    { "condim = 2: expected 1, 3, 4 or 6", "geom 1: ", bad_condim },
    { "too small to carry a mass", "geom 3: ", tiny_geom },
    { "timestep = 0: expected a number > 0", "timestep", bad_step },
    { "gravity[1] = nan", "gravity", bad_gravity },
    { "bound_mass = -1", "bound_mass", bad_bound },
    { "moves body 5 'slider' and what hangs on it, which has no mass",
      "joint 3: ", massless_slider },
    { "moves body 4 'lower' and what hangs on it, which has no inertia",
      "joint 2: ", point_on_axis },
    { "couples 1 with itself", "equality 0: ", self_weld },
    { "couples a ball or free joint", "equality 0: ", coupled_ball },
    { "is a ball or free joint: expected hinges and slides", "tendon 0: ", tendon_over_ball },
    { "qpos has 14 numbers: expected 13", "key 0: ", long_key },
    { "qpos 3 to 6 are a quaternion without length", "key 0: ", flat_key },
    { "time_constant", "actuator 0: ", slow_filter },
    { "gain[1] = nan", "actuator 0: ", nan_gain },
    { "pairs geom 0 with itself", "pair 0: ", self_pair },
    { "elevation 2 is 1.1: expected 0 to 1", "hfield 0: ", low_field },
    { "has 0 rows, 0 columns", "hfield 0: ", narrow_field },
    { "leaves 4 hinges, 0 balls, 0 slides", "equality 0: ", open_chain },
};

TEST(what_cannot_be_is_refused_with_its_place)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        TEST_SEED(i);
        rb_spec *spec = robot();
        faults[i].spoil(spec);
        rb_error err = { 0 };
        CHECK(rb_spec_compile(spec, NULL, &err) == NULL);
        CHECK_INT(err.status, RB_BAD_INPUT);
        CHECK_CONTAINS(err.text, faults[i].words);
        CHECK(strncmp(err.text, faults[i].place, strlen(faults[i].place)) == 0);
        CHECK(rb_spec_compile(spec, NULL, NULL) == NULL);
        rb_spec_free(spec);
    }
}

TEST(refusals_name_file_and_line)
{
    rb_spec *spec = robot();
    negative_armature(spec);
    rb_error err = { 0 };
    CHECK(rb_spec_compile(spec, NULL, &err) == NULL);
    CHECK_STR(err.file, "m.xml");
    CHECK_INT(err.line, 21);
    rb_spec_free(spec);
}

/* A point mass on a hinge through it is refused, beside it is not; armature helps. */
TEST(what_moves_has_inertia)
{
    rb_spec *spec = rb_spec_new(NULL);
    int a = add_body(spec, "a", 0, 0.0, 0.0, 0.0);
    int j = add_joint(spec, a, RB_JOINT_HINGE);
    rb_spec_body(spec, a)->inertia_source = RB_INERTIA_GIVEN;
    rb_spec_body(spec, a)->mass = 1.0;
    CHECK(rb_spec_compile(spec, NULL, NULL) == NULL);

    /* keeping odd moments is no leave to have none */
    rb_spec_option(spec)->keep_inertia = 1;
    CHECK(rb_spec_compile(spec, NULL, NULL) == NULL);
    rb_spec_option(spec)->keep_inertia = 0;
    rb_spec_option(spec)->keep_massless = 1;
    rb_model_free(compile(spec), NULL);
    rb_spec_option(spec)->keep_massless = 0;
    rb_spec_joint(spec, j)->armature = 1e-6;
    rb_model_free(compile(spec), NULL);
    rb_spec_joint(spec, j)->armature = 0.0;
    rb_spec_body(spec, a)->com[0] = 1e-3;
    rb_model_free(compile(spec), NULL);

    /* an empty body is carried by what hangs on it */
    rb_spec_body(spec, a)->mass = 0.0;
    int b = add_body(spec, "b", a, 1.0, 0.0, 0.0);
    add_joint(spec, b, RB_JOINT_SLIDE);
    add_sphere(spec, b, 0.1, 1.0);
    rb_model_free(compile(spec), NULL);
    rb_spec_free(spec);
}

/* ---- memory and garbage -----------------------------------------------------------------------
 */

TEST(every_allocation_may_fail)
{
    rb_spec *spec = robot();
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_error err = { 0 };
        rb_model *m = rb_spec_compile(spec, &alloc, &err);
        if (!m) CHECK_INT(err.status, RB_NOMEM);
        rb_model_free(m, &alloc);
        CHECK_INT(memory.live, 0);
        if (memory.requests < k) break;
    }
    rb_spec_free(spec);
}

/* Chains so long that the mass matrix does not fit an int: a message, not an overflow. */
TEST(models_over_the_budget_are_refused)
{
    rb_spec *spec = rb_spec_new(NULL);
    enum { N = 70000 };
    for (int i = 0; i < N; i++) {
        rb_body_def body = rb_body_default();
        body.parent = i;
        body.mass = 1.0;
        body.inertia[0] = body.inertia[1] = body.inertia[2] = 1.0;
        CHECK_INT(rb_spec_add_body(spec, &body, NULL), i + 1);
        rb_joint_def joint = rb_joint_default();
        joint.body = i + 1;
        CHECK_INT(rb_spec_add_joint(spec, &joint, NULL), i);
    }
    rb_error err = { 0 };
    CHECK(rb_spec_compile(spec, NULL, &err) == NULL);
    CHECK_INT(err.status, RB_TOO_LARGE);
    CHECK_CONTAINS(err.text, "mass matrix");
    rb_spec_free(spec);
}

static double wild(rb_rng *rng)
{
    static const double odd[] = { 0.0, -0.0,     1.0,  -1.0,  1e-300, 1e300,     -1e300, NAN,
                                  0.1, INFINITY, 1e30, 1e-30, 2.0,    -INFINITY, 1e15,   3.0 };
    uint32_t pick = rb_rng_next(rng);
    return pick % 4 ? rb_rng_uniform(rng, -1.0, 1.0) : odd[(pick / 4) % 16];
}

static int wild_int(rb_rng *rng)
{
    uint32_t pick = rb_rng_next(rng);
    return pick % 8 ? (int)(pick / 8 % 7) - 1 : (int)pick;
}

/* One random number of one random element. */
static void disturb(rb_spec *spec, rb_rng *rng)
{
    rb_body_def *body = rb_spec_body(spec, 1 + (int)(rb_rng_next(rng) % 5));
    rb_joint_def *joint = rb_spec_joint(spec, (int)(rb_rng_next(rng) % 4));
    rb_geom_def *geom = rb_spec_geom(spec, (int)(rb_rng_next(rng) % 5));
    switch (rb_rng_next(rng) % 16) {
    case 0:
        body->pose.pos[0] = wild(rng);
        break;
    case 1:
        body->pose.quat[rb_rng_next(rng) % 4] = wild(rng);
        break;
    case 2:
        body->mass = wild(rng);
        break;
    case 3:
        body->inertia[rb_rng_next(rng) % 6] = wild(rng);
        break;
    case 4:
        body->com[1] = wild(rng);
        break;
    case 5:
        body->parent = wild_int(rng);
        break;
    case 6:
        body->mocap = wild_int(rng);
        break;
    case 7:
        joint->axis[rb_rng_next(rng) % 3] = wild(rng);
        break;
    case 8:
        joint->type = (rb_joint_type)wild_int(rng);
        break;
    case 9:
        joint->body = wild_int(rng);
        break;
    case 10:
        joint->ref = wild(rng);
        break;
    case 11:
        geom->size[rb_rng_next(rng) % 3] = wild(rng);
        break;
    case 12:
        geom->type = (rb_geom_type)wild_int(rng);
        break;
    case 13:
        geom->mass = wild(rng);
        break;
    case 14:
        geom->body = wild_int(rng);
        break;
    default:
        geom->density = wild(rng);
        break;
    }
}

/* What compiles has finite numbers; what does not has a reason. Nothing crashes. */
TEST(garbage_is_refused_or_harmless)
{
    int compiled = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        rb_spec *spec = robot();
        for (int n = 1 + (int)(rb_rng_next(&rng) % 3); n > 0; n--) disturb(spec, &rng);
        rb_error err = { 0 };
        rb_model *m = rb_spec_compile(spec, NULL, &err);
        if (!m) {
            CHECK(err.text[0] != '\0');
        } else {
            compiled++;
            CHECK(isfinite(m->mass) && isfinite(m->extent));
            for (int i = 0; i < 6 * m->nlink; i++) CHECK(isfinite(m->link_inertia[i]));
            for (int i = 0; i < 3 * m->nlink; i++) CHECK(isfinite(m->link_com[i]));
            for (int i = 0; i < 4 * m->nlink; i++) CHECK(isfinite(m->link_quat[i]));
        }
        rb_model_free(m, NULL);
        rb_spec_free(spec);
    }
    CHECK(compiled > 500 && compiled < 3500);
}

TEST_MAIN(RUN(bodies_fixed_to_each_other_are_one_link), RUN(dofs_know_their_parents),
          RUN(a_tree_may_hang_on_a_mocap_body), RUN(joints_and_geoms_are_grouped_by_body),
          RUN(frames_of_equalities_are_derived), RUN(equalities_within_a_link_are_idle),
          RUN(inertia_comes_from_where_the_body_says), RUN(masses_are_bounded_balanced_and_scaled),
          RUN(the_extent_is_half_the_diagonal_of_a_box), RUN(keyframes_fill_what_they_leave_out),
          RUN(warnings_and_customs_reach_the_model), RUN(what_cannot_be_is_refused_with_its_place),
          RUN(refusals_name_file_and_line), RUN(what_moves_has_inertia),
          RUN(every_allocation_may_fail), RUN(models_over_the_budget_are_refused),
          RUN(garbage_is_refused_or_harmless))
