/* rb_spec: what goes in comes out, copied; what cannot be is refused with a sentence. */
#include "test.h"

#include "rattleback/spec.h"

static rb_where at(const char *file, int line)
{
    return (rb_where){ file, line };
}

static int add_body(rb_spec *spec, const char *name, int parent)
{
    rb_body_def def = rb_body_default();
    def.name = name;
    def.parent = parent;
    return rb_spec_add_body(spec, &def, NULL);
}

/* A spec with two bodies, a hinge, a slide, a geom, a site, a mesh and a tendon, to refer to. */
static rb_spec *small_spec(const rb_alloc *alloc)
{
    static const double vert[12] = { 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 };
    static const int face[12] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
    rb_spec *spec = rb_spec_new(alloc);
    if (!spec) return NULL;
    int ok = add_body(spec, "arm", 0) == 1 && add_body(spec, "hand", 1) == 2;
    rb_joint_def hinge = rb_joint_default(), slide = rb_joint_default();
    hinge.body = 1;
    hinge.name = "shoulder";
    slide.body = 2;
    slide.type = RB_JOINT_SLIDE;
    ok = ok && rb_spec_add_joint(spec, &hinge, NULL) == 0;
    ok = ok && rb_spec_add_joint(spec, &slide, NULL) == 1;
    rb_geom_def geom = rb_geom_default();
    geom.body = 1;
    geom.size[0] = 0.1;
    ok = ok && rb_spec_add_geom(spec, &geom, NULL) == 0;
    rb_site_def site = rb_site_default();
    site.body = 2;
    ok = ok && rb_spec_add_site(spec, &site, NULL) == 0;
    rb_mesh_def mesh = rb_mesh_default();
    mesh.name = "tetra";
    mesh.nvert = 4;
    mesh.nface = 4;
    mesh.vert = vert;
    mesh.face = face;
    ok = ok && rb_spec_add_mesh(spec, &mesh, NULL) == 0;
    static const int joints[2] = { 0, 1 };
    static const double coef[2] = { 1.0, -2.0 };
    rb_tendon_def tendon = rb_tendon_default();
    tendon.njoint = 2;
    tendon.joint = joints;
    tendon.coef = coef;
    ok = ok && rb_spec_add_tendon(spec, &tendon, NULL) == 0;
    rb_custom_def custom = rb_custom_default();
    custom.name = "rb.note";
    custom.text = "hello";
    ok = ok && rb_spec_add_custom(spec, &custom, NULL) == 0;
    if (ok) return spec;
    rb_spec_free(spec);
    return NULL;
}

/* ---- what goes in comes out -------------------------------------------------------------------
 */

TEST(a_new_spec_has_the_world_and_nothing_else)
{
    rb_spec *spec = rb_spec_new(NULL);
    CHECK(spec != NULL);
    CHECK_INT(rb_spec_count(spec, RB_KIND_BODY), 1);
    for (int kind = 1; kind < RB_NKIND; kind++) CHECK_INT(rb_spec_count(spec, (rb_kind)kind), 0);
    CHECK_INT(rb_spec_find(spec, RB_KIND_BODY, "world"), 0);
    CHECK_NEAR(rb_spec_option(spec)->gravity[2], -9.81, 0.0);
    CHECK(rb_spec_body(spec, 0) != NULL);
    CHECK(rb_spec_body(spec, 1) == NULL && rb_spec_body(spec, -1) == NULL);
    rb_spec_free(spec);
    rb_spec_free(NULL);
}

TEST(strings_and_arrays_are_copied)
{
    char name[] = "key frame", file[] = "a.xml";
    double qpos[3] = { 1.0, 2.0, 3.0 };
    rb_spec *spec = rb_spec_new(NULL);
    rb_key_def def = rb_key_default();
    def.where = at(file, 7);
    def.name = name;
    def.qpos = qpos;
    def.nqpos = 3;
    CHECK_INT(rb_spec_add_key(spec, &def, NULL), 0);
    memset(name, 'x', sizeof name - 1);
    memset(file, 'x', sizeof file - 1);
    memset(qpos, 0, sizeof qpos);

    const rb_key_def *kept = rb_spec_key(spec, 0);
    CHECK_STR(kept->name, "key frame");
    CHECK_STR(kept->where.file, "a.xml");
    CHECK_INT(kept->where.line, 7);
    CHECK_NEAR(kept->qpos[2], 3.0, 0.0);
    CHECK(kept->qvel == NULL);
    CHECK_INT(rb_spec_find(spec, RB_KIND_KEY, "key frame"), 0);
    rb_spec_free(spec);
}

TEST(stored_numbers_can_be_edited)
{
    rb_spec *spec = small_spec(NULL);
    rb_spec_body(spec, 1)->pose.pos[2] = 4.0;
    rb_spec_joint(spec, 0)->damping = 0.5;
    CHECK_NEAR(rb_spec_body(spec, 1)->pose.pos[2], 4.0, 0.0);
    CHECK_NEAR(rb_spec_joint(spec, 0)->damping, 0.5, 0.0);
    CHECK_STR(rb_spec_custom(spec, 0)->text, "hello");
    CHECK_STR(rb_spec_geom(spec, 0)->name, "");
    rb_spec_free(spec);
}

TEST(thousands_of_names_are_found)
{
    rb_spec *spec = rb_spec_new(NULL);
    char name[32];
    enum { N = 3000 };
    for (int i = 1; i <= N; i++) {
        snprintf(name, sizeof name, "b%d", i);
        CHECK_INT(add_body(spec, name, i - 1), i);
        snprintf(name, sizeof name, "b%d", N + 1 - i); /* other kinds have names of their own */
        rb_joint_def joint = rb_joint_default();
        joint.body = i;
        joint.name = name;
        CHECK_INT(rb_spec_add_joint(spec, &joint, NULL), i - 1);
    }
    for (int i = 1; i <= N; i++) {
        snprintf(name, sizeof name, "b%d", i);
        CHECK_INT(rb_spec_find(spec, RB_KIND_BODY, name), i);
        CHECK_INT(rb_spec_find(spec, RB_KIND_JOINT, name), N - i);
        CHECK_INT(rb_spec_find(spec, RB_KIND_GEOM, name), -1);
    }
    CHECK_INT(rb_spec_find(spec, RB_KIND_BODY, "b0"), -1);
    CHECK_INT(rb_spec_find(spec, RB_KIND_BODY, ""), -1);
    CHECK_INT(rb_spec_find(spec, RB_KIND_BODY, NULL), -1);
    rb_spec_free(spec);
}

TEST(warnings_are_kept_in_order)
{
    rb_spec *spec = rb_spec_new(NULL);
    char text[] = "has no effect";
    rb_warning warning = { at("a.xml", 3), "geom", text, 0 };
    CHECK_INT(rb_spec_warn(spec, &warning), RB_OK);
    text[0] = 'X';
    warning = (rb_warning){ at(NULL, 0), NULL, NULL, 1 };
    CHECK_INT(rb_spec_warn(spec, &warning), RB_OK);
    CHECK_INT(rb_spec_warning_count(spec), 2);
    CHECK_STR(rb_spec_warning(spec, 0)->text, "has no effect");
    CHECK_STR(rb_spec_warning(spec, 0)->where.file, "a.xml");
    CHECK_STR(rb_spec_warning(spec, 1)->element, "");
    CHECK_INT(rb_spec_warning(spec, 1)->physics, 1);
    CHECK(rb_spec_warning(spec, 2) == NULL && rb_spec_warning(spec, -1) == NULL);
    rb_spec_free(spec);
}

TEST(a_hull_is_replaced_by_a_copy)
{
    rb_spec *spec = small_spec(NULL);
    double vert[12] = { 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0 };
    int start[5] = { 0, 3, 6, 9, 12 }, loop[12] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
    rb_hull_def hull = { 4, 4, 12, vert, start, loop };
    CHECK_INT(rb_spec_set_hull(spec, 0, &hull), RB_OK);
    vert[3] = 9.0;
    loop[0] = 9;
    CHECK_NEAR(rb_spec_mesh(spec, 0)->hull.vert[3], 2.0, 0.0);
    CHECK_INT(rb_spec_mesh(spec, 0)->hull.loop[0], 0);
    CHECK_INT(rb_spec_mesh(spec, 0)->hull.start[4], 12);
    CHECK_INT(rb_spec_set_hull(spec, 1, &hull), RB_BAD_INPUT);
    hull.vert = NULL;
    CHECK_INT(rb_spec_set_hull(spec, 0, &hull), RB_BAD_INPUT);
    CHECK_INT(rb_spec_mesh(spec, 0)->hull.nvert, 4);
    rb_spec_free(spec);
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

/* The call was refused with these words at this place, and nothing was added. */
static void check_refused(int index, const rb_error *err, const char *words)
{
    CHECK_INT(index, -1);
    CHECK_INT(err->status, RB_BAD_INPUT);
    CHECK_CONTAINS(err->text, words);
    CHECK_STR(err->file, "robot.xml");
    CHECK_INT(err->line, 12);
}

TEST(a_name_is_given_once)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    rb_body_def def = rb_body_default();
    def.where = at("first.xml", 5);
    def.name = "x";
    CHECK_INT(rb_spec_add_body(spec, &def, &err), 1);
    def.where = at("robot.xml", 12);
    check_refused(rb_spec_add_body(spec, &def, &err), &err,
                  "body 'x': was already named at first.xml:5");
    def.name = "world";
    check_refused(rb_spec_add_body(spec, &def, &err), &err, "already given to body 0");
    CHECK_INT(rb_spec_count(spec, RB_KIND_BODY), 2);
    rb_spec_free(spec);
}

#define REFUSE(name, words, ...)                                                                   \
    do {                                                                                           \
        rb_##name##_def def = rb_##name##_default();                                               \
        rb_error err = { 0 };                                                                      \
        def.where = at("robot.xml", 12);                                                           \
        __VA_ARGS__;                                                                               \
        check_refused(rb_spec_add_##name(spec, &def, &err), &err, words);                          \
        CHECK_INT(rb_spec_add_##name(spec, &def, NULL), -1);                                       \
    } while (0)

TEST(indices_that_lead_nowhere_are_refused)
{
    static const int far_joint[1] = { 2 }, bad_face[3] = { 0, 1, 4 };
    static const double coef[1] = { 1.0 }, vert[12] = { 0.0 };
    rb_spec *spec = small_spec(NULL);
    int before[RB_NKIND];
    for (int kind = 0; kind < RB_NKIND; kind++) before[kind] = rb_spec_count(spec, (rb_kind)kind);

    REFUSE(body, "parent = 3: expected a body that was added before", def.parent = 3);
    REFUSE(body, "parent = -1", def.parent = -1);
    REFUSE(joint, "body = 0 is no body: expected an index from 1 to 2", def.body = 0);
    REFUSE(joint, "body = 3 is no body", def.body = 3);
    REFUSE(joint, "no rb_joint_type", def.body = 1; def.type = (rb_joint_type)9);
    REFUSE(geom, "body = 7 is no body", def.body = 7);
    REFUSE(geom, "no rb_geom_type", def.type = (rb_geom_type)77);
    REFUSE(geom, "asset = 1 is no mesh", def.type = RB_GEOM_MESH; def.asset = 1);
    REFUSE(geom, "asset = -1 is no hfield", def.type = RB_GEOM_HFIELD);
    REFUSE(site, "body = -2 is no body", def.body = -2);
    REFUSE(mesh, "face 0 names vertex 4", def.nvert = 4; def.vert = vert; def.nface = 1;
           def.face = bad_face);
    REFUSE(mesh, "no rb_mesh_inertia", def.inertia = (rb_mesh_inertia)4);
    REFUSE(equality, "obj1 = 3 is no body", def.obj1 = 3);
    REFUSE(equality, "obj2 = -1 is no body", def.obj1 = 1; def.obj2 = -1);
    REFUSE(equality, "obj1 = 2 is no joint", def.type = RB_EQ_JOINT; def.obj1 = 2);
    REFUSE(equality, "obj2 = 1 is no tendon", def.type = RB_EQ_TENDON; def.obj2 = 1);
    REFUSE(equality, "no rb_equality_type", def.type = (rb_equality_type)-1);
    REFUSE(tendon, "joint = 2 is no joint", def.njoint = 1; def.joint = far_joint; def.coef = coef);
    REFUSE(actuator, "target = 2 is no joint", def.target = 2);
    REFUSE(actuator, "target = 1 is no tendon", def.transmission = RB_TRN_TENDON; def.target = 1);
    REFUSE(actuator, "target = -1 is no site", def.transmission = RB_TRN_SITE; def.target = -1);
    REFUSE(actuator, "reference = 1 is no site", def.transmission = RB_TRN_SITE; def.reference = 1);
    REFUSE(actuator, "no rb_transmission", def.transmission = (rb_transmission)77);
    REFUSE(actuator, "no rb_activation", def.activation = (rb_activation)-1);
    REFUSE(exclude, "body2 = 3 is no body", def.body2 = 3);
    REFUSE(pair, "geom1 = 1 is no geom", def.geom1 = 1);
    for (int kind = 0; kind < RB_NKIND; kind++) {
        CHECK_INT(rb_spec_count(spec, (rb_kind)kind), before[kind]);
    }
    rb_spec_free(spec);
}

TEST(chains_refer_to_joints_of_their_own_type)
{
    rb_spec *spec = small_spec(NULL);
    rb_chain_joint chain[1] = { { .type = RB_JOINT_HINGE, .joint = 2, .axis = { 1.0 } } };
    REFUSE(equality, "chain joint = 2 is no joint", def.type = RB_EQ_CHAIN; def.nchain = 1;
           def.chain = chain);
    chain[0].joint = 1;
    REFUSE(equality, "joint of another type", def.type = RB_EQ_CHAIN; def.nchain = 1;
           def.chain = chain);
    chain[0].type = RB_JOINT_FREE;
    REFUSE(equality, "neither ball, slide nor hinge", def.type = RB_EQ_CHAIN; def.nchain = 1;
           def.chain = chain);
    rb_spec_free(spec);
}

TEST(arrays_have_the_length_they_claim)
{
    rb_spec *spec = small_spec(NULL);
    REFUSE(mesh, "array length is out of range", def.nvert = -1);
    REFUSE(mesh, "array of 30 entries is missing", def.nvert = 10);
    REFUSE(hfield, "array length is out of range", def.nrow = 1 << 20; def.ncol = 1 << 20);
    REFUSE(hfield, "array of 6 entries is missing", def.nrow = 2; def.ncol = 3);
    REFUSE(key, "array of 4 entries is missing", def.nqpos = 4);
    REFUSE(custom, "array of 2 entries is missing", def.ndata = 2);
    REFUSE(tendon, "array of 1 entries is missing", def.njoint = 1);
    rb_spec_free(spec);
}

TEST(kinds_have_words)
{
    CHECK_STR(rb_kind_text(RB_KIND_BODY), "body");
    CHECK_STR(rb_kind_text(RB_KIND_CUSTOM), "custom");
    CHECK_STR(rb_kind_text((rb_kind)99), "element");
}

/* ---- memory -----------------------------------------------------------------------------------
 */

/* Every allocation fails in turn: nothing leaks, and an element that could not be added is not
 * there. */
TEST(every_allocation_may_fail)
{
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_spec *spec = small_spec(&alloc);
        if (spec) {
            char name[16];
            int added = 0;
            rb_error err = { 0 };
            for (int i = 0; i < 200; i++) {
                snprintf(name, sizeof name, "geom%d", i);
                rb_geom_def def = rb_geom_default();
                def.name = name;
                def.where = at(i % 2 ? "a.xml" : "b.xml", i);
                int index = rb_spec_add_geom(spec, &def, &err);
                if (index < 0) CHECK_INT(err.status, RB_NOMEM);
                added += index >= 0;
                CHECK_INT(rb_spec_find(spec, RB_KIND_GEOM, name), index);
            }
            CHECK_INT(rb_spec_count(spec, RB_KIND_GEOM), 1 + added);
            rb_warning warning = { at("c.xml", 1), "x", "y", 0 };
            rb_spec_warn(spec, &warning);
        }
        rb_spec_free(spec);
        CHECK_INT(memory.live, 0);
        if (memory.requests < k) break;
    }
}

TEST_MAIN(RUN(a_new_spec_has_the_world_and_nothing_else), RUN(strings_and_arrays_are_copied),
          RUN(stored_numbers_can_be_edited), RUN(thousands_of_names_are_found),
          RUN(warnings_are_kept_in_order), RUN(a_hull_is_replaced_by_a_copy),
          RUN(a_name_is_given_once), RUN(indices_that_lead_nowhere_are_refused),
          RUN(chains_refer_to_joints_of_their_own_type), RUN(arrays_have_the_length_they_claim),
          RUN(kinds_have_words), RUN(every_allocation_may_fail))
