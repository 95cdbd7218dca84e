/* Robots from URDF: what each element becomes, every sentence of refusal with its line, warnings,
 * memory failures, and the published robots against independent counts. */
#include "test.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rattleback/dynamics.h"
#include "rattleback/load.h"
#include "rattleback/model.h"

/* ---- helpers ---- */

#define INERTIAL            "<inertial><mass value=\"2\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial>"
#define LINK(name)          "<link name=\"" name "\">" INERTIAL "</link>\n"
#define ENDS(parent, child) "<parent link=\"" parent "\"/><child link=\"" child "\"/>"
#define JOINT(name, type, parent, child, rest)                                                     \
    "<joint name=\"" name "\" type=\"" type "\">" ENDS(parent, child) rest "</joint>\n"
#define ROBOT(content) "<robot name=\"r\">\n" content "</robot>\n"

static rb_spec *read_with(const char *text, const rb_load_opts *opts, rb_error *err)
{
    *err = (rb_error){ 0 };
    return rb_spec_read_memory(text, strlen(text), "r.urdf", opts, NULL, err);
}

static rb_spec *read_robot(const char *text)
{
    rb_error err;
    rb_spec *spec = read_with(text, NULL, &err);
    if (!spec) test_fail(__FILE__, __LINE__, "refused: line %d: %s", err.line, err.text);
    return spec;
}

static rb_joint_def *joint_named(rb_spec *spec, const char *name)
{
    int i = rb_spec_find(spec, RB_KIND_JOINT, name);
    CHECK(i >= 0);
    return rb_spec_joint(spec, i);
}

static rb_body_def *body_named(rb_spec *spec, const char *name)
{
    int i = rb_spec_find(spec, RB_KIND_BODY, name);
    CHECK(i >= 0);
    return rb_spec_body(spec, i);
}

static void check_vector(const double *x, double a, double b, double c)
{
    CHECK_NEAR(x[0], a, 1e-15);
    CHECK_NEAR(x[1], b, 1e-15);
    CHECK_NEAR(x[2], c, 1e-15);
}

/* ---- links and joints ---- */

TEST(a_joint_and_its_numbers)
{
    rb_spec *spec = read_robot(ROBOT(LINK("base") LINK(
        "arm") JOINT("elbow", "revolute", "base", "arm",
                     "<origin xyz=\"1 2 3\" rpy=\"0 0 1.5707963267948966\"/><axis xyz=\"0 3 4\"/>"
                     "<limit lower=\"-1\" upper=\"2\" effort=\"5\" velocity=\"7\"/>"
                     "<dynamics damping=\"0.1\" friction=\"0.2\"/>")));
    CHECK_INT(rb_spec_count(spec, RB_KIND_BODY), 3);
    CHECK_INT(rb_spec_count(spec, RB_KIND_JOINT), 1);
    const rb_body_def *arm = body_named(spec, "arm");
    CHECK_INT(arm->parent, rb_spec_find(spec, RB_KIND_BODY, "base"));
    check_vector(arm->pose.pos, 1, 2, 3);
    CHECK_NEAR(arm->pose.quat[0], sqrt(0.5), 1e-15);
    CHECK_NEAR(arm->pose.quat[3], sqrt(0.5), 1e-15);
    CHECK_INT(arm->where.line, 3);
    CHECK_STR(arm->where.file, "r.urdf");

    const rb_joint_def *elbow = joint_named(spec, "elbow");
    CHECK_INT(elbow->type, RB_JOINT_HINGE);
    check_vector(elbow->axis, 0, 0.6, 0.8);
    CHECK_INT(elbow->limited, 1);
    CHECK(elbow->range[0] == -1.0 && elbow->range[1] == 2.0);
    CHECK_INT(elbow->force_limited, 1);
    CHECK(elbow->force_range[0] == -5.0 && elbow->force_range[1] == 5.0);
    CHECK(elbow->max_velocity == 7.0 && elbow->damping == 0.1 && elbow->frictionloss == 0.2);
    CHECK_INT(elbow->where.line, 4);
    CHECK_INT(rb_spec_option(spec)->filter_parent, 1);
    CHECK_INT(rb_spec_warning_count(spec), 0);
    rb_spec_free(spec);
}

/* Roll, pitch and yaw about fixed axes: R = Rz Ry Rx. */
TEST(angles_of_an_origin)
{
    rb_spec *spec = read_robot(
        ROBOT(LINK("a") LINK("b") JOINT("j", "fixed", "a", "b", "<origin rpy=\"0.3 -0.7 1.1\"/>")));
    const double *q = body_named(spec, "b")->pose.quat;
    double x[4] = { cos(0.15), sin(0.15), 0, 0 }, y[4] = { cos(0.35), 0, -sin(0.35), 0 },
           z[4] = { cos(0.55), 0, 0, sin(0.55) };
    double yx[4] = { y[0] * x[0], y[0] * x[1], y[2] * x[0], -y[2] * x[1] };
    CHECK_NEAR(q[0], z[0] * yx[0] - z[3] * yx[3], 1e-15);
    CHECK_NEAR(q[1], z[0] * yx[1] - z[3] * yx[2], 1e-15);
    CHECK_NEAR(q[2], z[0] * yx[2] + z[3] * yx[1], 1e-15);
    CHECK_NEAR(q[3], z[0] * yx[3] + z[3] * yx[0], 1e-15);
    rb_spec_free(spec);
}

TEST(types_of_joints)
{
    rb_spec *spec = read_robot(ROBOT(
        LINK("a") LINK("b") LINK("c") LINK("d") LINK("e") LINK("f") LINK("g") LINK(
            "h") JOINT("free", "floating", "a", "b", "") JOINT("cont", "continuous", "b", "c", "")
            JOINT("slide", "prismatic", "c", "d", "<limit lower=\"0\" upper=\"1\"/>")
                JOINT("plane", "planar", "d", "e", "<axis xyz=\"0 0 2\"/>")
                    JOINT("weld", "fixed", "e", "f", "") JOINT("ball", "spherical", "f", "g", "")
                        JOINT("loose", "floating", "g", "h", "")));
    CHECK_INT(rb_spec_count(spec, RB_KIND_JOINT), 1 + 1 + 1 + 3 + 1 + 4);
    CHECK_INT(joint_named(spec, "free")->type, RB_JOINT_FREE);
    CHECK_INT(body_named(spec, "b")->parent, 0);
    CHECK_INT(joint_named(spec, "cont")->type, RB_JOINT_HINGE);
    CHECK_INT(joint_named(spec, "cont")->limited, 0);
    check_vector(joint_named(spec, "cont")->axis, 1, 0, 0);
    CHECK_INT(joint_named(spec, "slide")->type, RB_JOINT_SLIDE);
    CHECK_INT(joint_named(spec, "slide")->limited, 1);
    CHECK_INT(joint_named(spec, "plane.x")->type, RB_JOINT_SLIDE);
    check_vector(joint_named(spec, "plane.x")->axis, 1, 0, 0);
    check_vector(joint_named(spec, "plane.y")->axis, 0, 1, 0);
    CHECK_INT(joint_named(spec, "plane")->type, RB_JOINT_HINGE);
    check_vector(joint_named(spec, "plane")->axis, 0, 0, 1);
    CHECK_INT(rb_spec_find(spec, RB_KIND_JOINT, "weld"), -1);
    CHECK_INT(joint_named(spec, "ball")->type, RB_JOINT_BALL);
    CHECK_INT(joint_named(spec, "loose")->type, RB_JOINT_BALL);
    check_vector(joint_named(spec, "loose.y")->axis, 0, 1, 0);

    rb_error err = { 0 };
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    CHECK_INT(m->nq, 7 + 1 + 1 + 3 + 4 + 7);
    CHECK_INT(m->nv, 6 + 1 + 1 + 3 + 3 + 6);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* Directions across any axis: a right-handed frame whose last direction is the axis. */
TEST(planar_joints_span_the_plane)
{
    const double axes[][3] = { { 1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 }, { 1, 2, -2 }, { 3, 0, 4 } };
    for (int i = 0; i < 5; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 ROBOT(LINK("a") LINK("b")
                           JOINT("p", "planar", "a", "b", "<axis xyz=\"%g %g %g\"/>")),
                 axes[i][0], axes[i][1], axes[i][2]);
        rb_spec *spec = read_robot(text);
        const double *u = joint_named(spec, "p.x")->axis, *v = joint_named(spec, "p.y")->axis,
                     *n = joint_named(spec, "p")->axis;
        CHECK_NEAR(u[0] * u[0] + u[1] * u[1] + u[2] * u[2], 1.0, 1e-15);
        check_vector(v, n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2],
                     n[0] * u[1] - n[1] * u[0]);
        CHECK_NEAR(u[0] * n[0] + u[1] * n[1] + u[2] * n[2], 0.0, 1e-15);
        rb_spec_free(spec);
    }
}

/* The first joint of the file whose parent is placed comes next. */
TEST(order_of_the_file_made_topological)
{
    rb_spec *spec = read_robot(ROBOT(
        LINK("e") LINK("d") LINK("c") LINK("b") LINK("a") JOINT("1", "continuous", "d", "e", "")
            JOINT("2", "continuous", "a", "b", "") JOINT("3", "continuous", "a", "c", "")
                JOINT("4", "continuous", "b", "d", "")));
    const char *joints[] = { "2", "3", "4", "1" }, *bodies[] = { "a", "b", "c", "d", "e" };
    for (int i = 0; i < 4; i++) CHECK_STR(rb_spec_joint(spec, i)->name, joints[i]);
    for (int i = 0; i < 5; i++) CHECK_STR(rb_spec_body(spec, i + 1)->name, bodies[i]);
    rb_spec_free(spec);
}

TEST(floating_base)
{
    rb_error err;
    rb_load_opts opts = rb_load_opts_default();
    opts.floating_base = 1;
    rb_spec *spec = read_with(ROBOT(LINK("a")), &opts, &err);
    CHECK_INT(joint_named(spec, "floating_base")->type, RB_JOINT_FREE);
    rb_spec_free(spec);

    /* a joint of the file keeps its name; a floating joint is then no free one */
    spec = read_with(ROBOT(LINK("a") LINK("b") JOINT("floating_base", "floating", "a", "b", "")),
                     &opts, &err);
    CHECK_INT(rb_spec_joint(spec, 0)->type, RB_JOINT_FREE);
    CHECK_STR(rb_spec_joint(spec, 0)->name, "");
    CHECK_INT(joint_named(spec, "floating_base")->type, RB_JOINT_BALL);
    rb_spec_free(spec);

    /* a root that is but a name for the world has nothing that could move */
    spec = read_with(ROBOT("<link name=\"world\"/>" LINK("b")
                               JOINT("j", "floating", "world", "b", "")),
                     &opts, &err);
    CHECK_INT(rb_spec_count(spec, RB_KIND_JOINT), 1);
    CHECK_INT(joint_named(spec, "j")->type, RB_JOINT_FREE);
    CHECK_INT(body_named(spec, "b")->parent, 0);
    rb_spec_free(spec);
}

TEST(links_called_world)
{
    rb_spec *spec =
        read_robot(ROBOT("<link name=\"world\"/>" LINK("a") JOINT("j", "fixed", "world", "a", "")));
    CHECK_INT(rb_spec_count(spec, RB_KIND_BODY), 3);
    CHECK_INT(body_named(spec, "a")->parent, rb_spec_find(spec, RB_KIND_BODY, "world_link"));
    CHECK_CONTAINS(rb_spec_warning(spec, 0)->text, "\"world_link\"");
    rb_spec_free(spec);

    /* a world that is not declared */
    spec = read_robot(ROBOT(LINK("a") JOINT("j", "continuous", "world", "a", "")));
    CHECK_INT(rb_spec_count(spec, RB_KIND_BODY), 3);
    CHECK_INT(rb_spec_count(spec, RB_KIND_JOINT), 1);
    rb_spec_free(spec);
}

TEST(limits_without_room_are_none)
{
    const char *limits[] = { "", "<limit effort=\"1\" velocity=\"1\"/>",
                             "<limit lower=\"0\" upper=\"0\"/>",
                             "<limit lower=\"1\" upper=\"-1\"/>" };
    for (int i = 0; i < 4; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 ROBOT(LINK("a") LINK("b") JOINT("j", "revolute", "a", "b", "%s")), limits[i]);
        rb_spec *spec = read_robot(text);
        CHECK_INT(joint_named(spec, "j")->limited, 0);
        CHECK_INT(rb_spec_warning_count(spec), 1);
        CHECK_INT(rb_spec_warning(spec, 0)->where.line, 4);
        CHECK_INT(rb_spec_warning(spec, 0)->physics, 0);
        rb_spec_free(spec);
    }
}

TEST(mimic_joints_are_couplings)
{
    rb_spec *spec = read_robot(
        ROBOT(LINK("a") LINK("b") LINK("c") LINK("d") LINK("e")
                  JOINT("j", "continuous", "a", "b",
                        "<mimic joint=\"k\" multiplier=\"-2\" offset=\"0.5\"/>")
                      JOINT("k", "prismatic", "b", "c",
                            "<limit lower=\"0\" upper=\"1\"/><mimic joint=\"f\" offset=\"0.25\"/>")
                          JOINT("f", "fixed", "c", "d", "<mimic joint=\"j\"/>")
                              JOINT("l", "continuous", "d", "e", "<mimic joint=\"nobody\"/>")));
    CHECK_INT(rb_spec_count(spec, RB_KIND_EQUALITY), 2);
    const rb_equality_def *eq = rb_spec_equality(spec, 0);
    CHECK_INT(eq->type, RB_EQ_JOINT);
    CHECK_INT(eq->obj1, rb_spec_find(spec, RB_KIND_JOINT, "j"));
    CHECK_INT(eq->obj2, rb_spec_find(spec, RB_KIND_JOINT, "k"));
    CHECK(eq->poly[0] == 0.5 && eq->poly[1] == -2.0 && eq->poly[2] == 0.0);

    /* a joint that mimics one that cannot move stays where that one is */
    eq = rb_spec_equality(spec, 1);
    CHECK_INT(eq->obj2, -1);
    CHECK(eq->poly[0] == 0.25);
    CHECK_INT(rb_spec_warning_count(spec), 2);
    CHECK_INT(rb_spec_warning(spec, 0)->physics, 0);
    CHECK_CONTAINS(rb_spec_warning(spec, 1)->text, "there is no joint of this name");
    CHECK_INT(rb_spec_warning(spec, 1)->physics, 1);
    rb_spec_free(spec);
}

/* ---- masses ---- */

/* diag(1, 2, 3) - but A + B >= C wants (1, 2, 2.5) - turned by 90 degrees about z: x and y swap. */
TEST(inertia_is_turned_into_the_link)
{
    rb_spec *spec = read_robot(
        ROBOT("<link name=\"a\"><inertial><origin xyz=\"1 2 3\" rpy=\"0 0 1.5707963267948966\"/>"
              "<mass value=\"4\"/><inertia ixx=\"1\" iyy=\"2\" izz=\"2.5\" ixy=\"0.1\" ixz=\"0.2\" "
              "iyz=\"0.3\"/></inertial></link>"));
    const rb_body_def *a = body_named(spec, "a");
    CHECK(a->mass == 4.0);
    check_vector(a->com, 1, 2, 3);
    check_vector(a->inertia, 2, 1, 2.5);
    check_vector(a->inertia + 3, -0.1, -0.3, 0.2);
    CHECK_INT(a->inertia_source, RB_INERTIA_GIVEN);
    CHECK_INT(rb_spec_warning_count(spec), 0);
    rb_spec_free(spec);
}

TEST(inertia_that_no_body_has_is_named)
{
    rb_spec *spec =
        read_robot(ROBOT("<link name=\"bad one\"><inertial><mass value=\"1\"/>\n"
                         "<inertia ixx=\"1\" iyy=\"2\" izz=\"3.5\"/></inertial></link>"));
    CHECK_INT(rb_spec_warning_count(spec), 1);
    const rb_warning *w = rb_spec_warning(spec, 0);
    CHECK_CONTAINS(w->text, "\"bad one\" has the principal moments 1, 2, 3.5");
    CHECK_INT(w->where.line, 3);
    check_vector(rb_spec_body(spec, 1)->inertia, 1, 2, 3.5);
    rb_model *m = rb_spec_compile(spec, NULL, NULL);
    CHECK(m != NULL);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* A negative moment is refused, unless what the link is welded to outweighs it or it never moves.
 */
TEST(negative_inertia)
{
    const char *bad = "<inertial><mass value=\"1\"/><inertia ixx=\"-0.5\" iyy=\"1\" izz=\"1\"/>"
                      "</inertial>";
    char text[2048];
    rb_error err;
    snprintf(text, sizeof text,
             ROBOT(LINK("a") "<link name=\"b\">\n%s</link>" JOINT("j", "continuous", "a", "b", "")),
             bad);
    CHECK(read_with(text, NULL, &err) == NULL);
    CHECK_INT(err.status, RB_BAD_INPUT);
    CHECK_INT(err.line, 4);
    CHECK_CONTAINS(err.text, "link \"b\" and what is fixed to it have the principal moments -0.5");

    snprintf(text, sizeof text,
             ROBOT(LINK("a")
                       LINK("b") "<link name=\"c\">%s</link>" JOINT("j", "continuous", "a", "b", "")
                           JOINT("k", "fixed", "b", "c", "")),
             bad);
    rb_spec *spec = read_robot(text);
    CHECK_CONTAINS(rb_spec_warning(spec, 0)->text, "no body has a negative one");
    rb_spec_free(spec);

    snprintf(text, sizeof text, ROBOT("<link name=\"a\">%s</link>"), bad);
    spec = read_robot(text);
    rb_spec_free(spec);
}

TEST(joints_that_move_nothing_are_named)
{
    const char *nothing[] = {
        "<link name=\"b\"/>",
        "<link name=\"b\"><inertial><mass value=\"1\"/></inertial></link>",
        ("<link name=\"b\"><inertial><origin xyz=\"1 0 0\"/><mass value=\"1\"/>"
         "<inertia ixx=\"0\" iyy=\"0\" izz=\"0\"/></inertial></link>"),
    };
    for (int i = 0; i < 3; i++) {
        char text[1024];
        snprintf(text, sizeof text, ROBOT(LINK("a") "%s\n" JOINT("j", "continuous", "a", "b", "")),
                 nothing[i]);
        rb_spec *spec = read_robot(text);
        CHECK_INT(rb_spec_warning_count(spec), 1);
        CHECK_CONTAINS(rb_spec_warning(spec, 0)->text, "forward dynamics is singular");
        CHECK_INT(rb_spec_warning(spec, 0)->where.line, 4);
        CHECK_INT(rb_spec_warning(spec, 0)->physics, 1);
        rb_model *m = rb_spec_compile(spec, NULL, NULL);
        CHECK(m != NULL);
        rb_model_free(m, NULL);
        rb_spec_free(spec);
    }

    /* a massless link between two with mass is fine */
    rb_spec *spec = read_robot(
        ROBOT(LINK("a") "<link name=\"b\"/>" LINK("c") JOINT("j", "continuous", "a", "b", "")
                  JOINT("k", "continuous", "b", "c", "<axis xyz=\"0 1 0\"/>")));
    CHECK_INT(rb_spec_warning_count(spec), 0);
    rb_spec_free(spec);
}

/* ---- geometry ---- */

#define COLLISION(shape) "<collision><geometry>" shape "</geometry></collision>\n"

TEST(shapes)
{
    rb_spec *spec = read_robot(ROBOT(
        "<link name=\"a\"><collision name=\"hit\"><origin xyz=\"1 2 3\"/><geometry><box "
        "size=\"2 4 6\"/></geometry></collision>" COLLISION("<sphere radius=\"3\"/>") COLLISION(
            "<cylinder radius=\"1\" length=\"4\"/>")
            COLLISION("<capsule radius=\"1\" length=\"6\"/>") COLLISION(
                "<drake:ellipsoid a=\"1\" b=\"2\" c=\"3\"/>") COLLISION("<plane normal=\"0 1 0\"/>")
                COLLISION("<sphere radius=\"0\"/>") "<collision name=\"hit\"><geometry><plane "
                                                    "normal=\"0 0 -1\"/></geometry></collision>"
                                                    "<visual><geometry><box size=\"1 1 "
                                                    "1\"/></geometry></visual></link>"));
    const rb_geom_type types[] = { RB_GEOM_BOX,     RB_GEOM_SPHERE,    RB_GEOM_CYLINDER,
                                   RB_GEOM_CAPSULE, RB_GEOM_ELLIPSOID, RB_GEOM_PLANE,
                                   RB_GEOM_SPHERE,  RB_GEOM_PLANE };
    CHECK_INT(rb_spec_count(spec, RB_KIND_GEOM), 8);
    for (int i = 0; i < 8; i++) CHECK_INT(rb_spec_geom(spec, i)->type, types[i]);
    check_vector(rb_spec_geom(spec, 0)->size, 1, 2, 3);
    check_vector(rb_spec_geom(spec, 0)->pose.pos, 1, 2, 3);
    CHECK_STR(rb_spec_geom(spec, 0)->name, "hit");
    CHECK(rb_spec_geom(spec, 1)->size[0] == 3.0);
    CHECK(rb_spec_geom(spec, 2)->size[0] == 1.0 && rb_spec_geom(spec, 2)->size[1] == 2.0);
    CHECK(rb_spec_geom(spec, 3)->size[0] == 1.0 && rb_spec_geom(spec, 3)->size[1] == 3.0);
    check_vector(rb_spec_geom(spec, 4)->size, 1, 2, 3);

    /* the second of two equal names has none; z is turned onto the normal */
    CHECK_STR(rb_spec_geom(spec, 7)->name, "");
    const double *q = rb_spec_geom(spec, 5)->pose.quat;
    check_vector((double[]){ 2 * (q[1] * q[3] + q[0] * q[2]), 2 * (q[2] * q[3] - q[0] * q[1]),
                             1 - 2 * (q[1] * q[1] + q[2] * q[2]) },
                 0, 1, 0);
    q = rb_spec_geom(spec, 7)->pose.quat;
    CHECK_NEAR(1 - 2 * (q[1] * q[1] + q[2] * q[2]), -1.0, 1e-15);
    CHECK(rb_spec_geom(spec, 0)->material.friction == 0.5);
    rb_spec_free(spec);
}

TEST(visuals_and_friction_are_options)
{
    rb_error err;
    rb_load_opts opts = rb_load_opts_default();
    opts.visuals = 1;
    opts.friction = 0.25;
    rb_spec *spec = read_with(
        ROBOT("<link name=\"a\">" COLLISION(
            "<box size=\"1 1 1\"/>") "<visual><geometry><box "
                                     "size=\"1 1 1\"/></geometry></visual><visual><geometry><mesh "
                                     "filename=\"no.gltf\"/>"
                                     "</geometry></visual></link>"),
        &opts, &err);
    CHECK_INT(rb_spec_count(spec, RB_KIND_GEOM), 2);
    CHECK(rb_spec_geom(spec, 0)->material.friction == 0.25);
    CHECK(rb_spec_geom(spec, 0)->contype == 1);
    CHECK(rb_spec_geom(spec, 1)->contype == 0 && rb_spec_geom(spec, 1)->conaffinity == 0);
    CHECK_INT(rb_spec_warning_count(spec), 1);
    CHECK_CONTAINS(rb_spec_warning(spec, 0)->text, "left out: file \"no.gltf\"");
    rb_spec_free(spec);
}

/* A collision in a format that is not read is left out, and that changes the motion. */
TEST(collisions_in_other_formats_are_reported)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_read(RB_DATA_DIR "/urdf/other_format.urdf", NULL, NULL, &err);
    if (!spec) test_fail(__FILE__, __LINE__, "refused: line %d: %s", err.line, err.text);
    CHECK_INT(rb_spec_count(spec, RB_KIND_GEOM), 1);
    CHECK_INT(rb_spec_warning_count(spec), 1);
    CHECK_INT(rb_spec_warning(spec, 0)->physics, 1);
    CHECK_INT(rb_spec_warning(spec, 0)->where.line, 5);
    CHECK_CONTAINS(rb_spec_warning(spec, 0)->text, "convert it to STL");
    rb_spec_free(spec);
}

/* Links that share a joint do not touch: the filter of parents does not hold beside the world. */
TEST(neighbours_of_the_world_are_excluded)
{
#define SOLID(name) "<link name=\"" name "\">" INERTIAL COLLISION("<box size=\"1 1 1\"/>") "</link>"
    const char *text = ROBOT(
        SOLID("a") SOLID("b") SOLID("c") SOLID("d") LINK("e") JOINT("j", "fixed", "a", "b", "")
            JOINT("k", "continuous", "b", "c", "") JOINT("l", "continuous", "c", "d", "")
                JOINT("m", "continuous", "a", "e", ""));
    rb_spec *spec = read_robot(text);
    CHECK_INT(rb_spec_count(spec, RB_KIND_EXCLUDE), 1);
    CHECK_INT(rb_spec_exclude(spec, 0)->body1, rb_spec_find(spec, RB_KIND_BODY, "b"));
    CHECK_INT(rb_spec_exclude(spec, 0)->body2, rb_spec_find(spec, RB_KIND_BODY, "c"));
    rb_spec_free(spec);

    rb_error err;
    rb_load_opts opts = rb_load_opts_default();
    opts.floating_base = 1;
    spec = read_with(text, &opts, &err);
    CHECK_INT(rb_spec_count(spec, RB_KIND_EXCLUDE), 0);
    rb_spec_free(spec);
}

/* Drake's groups: members of `wrist` ignore each other, `hand` ignores `wrist`; c cannot touch. */
TEST(groups_that_do_not_touch)
{
#define GROUP(name, content)                                                                       \
    "<drake:collision_filter_group name=\"" name "\">" content "</drake:collision_filter_group>"
#define MEMBER(name)  "<drake:member link=\"" name "\"/>"
#define IGNORED(name) "<drake:ignored_collision_filter_group name=\"" name "\"/>"
    const char *tree =
        SOLID("a") SOLID("b") LINK("c") SOLID("d") JOINT("j", "continuous", "a", "b", "")
            JOINT("k", "continuous", "b", "c", "") JOINT("l", "continuous", "c", "d", "");
    const char *groups = GROUP("wrist", MEMBER("a") MEMBER("b") MEMBER("c") IGNORED("wrist"))
        GROUP("hand", MEMBER("d") IGNORED("wrist"));
    char text[8192];
    rb_error err;
    rb_load_opts opts = rb_load_opts_default();
    opts.floating_base = 1;
    snprintf(text, sizeof text, "<robot name=\"r\">%s%s</robot>", tree, groups);
    rb_spec *spec = read_with(text, &opts, &err);
    CHECK(spec != NULL);
    CHECK_INT(rb_spec_count(spec, RB_KIND_EXCLUDE), 3);
    const char *pairs[3][2] = { { "a", "b" }, { "d", "a" }, { "d", "b" } };
    for (int i = 0; i < 3; i++) {
        const rb_exclude_def *def = rb_spec_exclude(spec, i);
        CHECK_INT(def->body1, rb_spec_find(spec, RB_KIND_BODY, pairs[i][0]));
        CHECK_INT(def->body2, rb_spec_find(spec, RB_KIND_BODY, pairs[i][1]));
    }
    CHECK_INT(rb_spec_warning_count(spec), 0);
    rb_spec_free(spec);

    snprintf(text, sizeof text, "<robot name=\"r\">%s\n%s</robot>", tree, GROUP("g", MEMBER("x")));
    CHECK(read_with(text, NULL, &err) == NULL);
    CHECK_CONTAINS(err.text, "there is no link \"x\"");
    snprintf(text, sizeof text, "<robot name=\"r\">%s\n%s</robot>", tree, GROUP("g", IGNORED("x")));
    CHECK(read_with(text, NULL, &err) == NULL);
    CHECK_CONTAINS(err.text, "there is no <drake:collision_filter_group name=\"x\">");
}

/* ---- meshes ---- */

static char folder[] = "/tmp/rattleback-urdf-XXXXXX";

/* A folder with a tetrahedron as m.obj; path of a file in it. */
static const char *in_folder(const char *name)
{
    static char path[256];
    if (strstr(folder, "XXXXXX")) {
        CHECK(mkdtemp(folder) != NULL);
        FILE *file = fopen(in_folder("m.obj"), "wb");
        CHECK(file && fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n"
                            "f 1 4 3\n",
                            file) >= 0);
        fclose(file);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *const mesh_robot =
    ROBOT("<link name=\"a\">" INERTIAL COLLISION("<mesh filename=\"m.obj\"/>")
              COLLISION("<mesh filename=\"m.obj\" scale=\"1 1 1\"/>")
                  COLLISION("<mesh filename=\"package://p/m.obj\" scale=\"2 3 "
                            "-4\"/>") "<visual><geometry><mesh filename=\"m.obj\" "
                                      "scale=\"2\"/></geometry></visual></link>");

/* The same file with the same scale is one asset. */
TEST(meshes_are_shared)
{
    rb_error err = { 0 };
    rb_load_opts opts = rb_load_opts_default();
    opts.visuals = 1;
    opts.floating_base = 1;
    rb_spec *spec =
        rb_spec_read_memory(mesh_robot, strlen(mesh_robot), in_folder("r.urdf"), &opts, NULL, &err);
    if (!spec) test_fail(__FILE__, __LINE__, "%s:%d: %s", err.file, err.line, err.text);
    CHECK_INT(rb_spec_count(spec, RB_KIND_GEOM), 4);
    CHECK_INT(rb_spec_count(spec, RB_KIND_MESH), 3);
    CHECK_INT(rb_spec_geom(spec, 0)->asset, rb_spec_geom(spec, 1)->asset);
    CHECK_STR(rb_spec_mesh(spec, 0)->name, "m.obj");
    CHECK_INT(rb_spec_mesh(spec, 0)->where.line, 2);

    /* mirrored along z: scaled, and still outside out */
    const rb_mesh_def *mesh = rb_spec_mesh(spec, rb_spec_geom(spec, 2)->asset);
    check_vector(mesh->vert + 3, 2, 0, 0);
    check_vector(mesh->vert + 6, 0, 3, 0);
    check_vector(mesh->vert + 9, 0, 0, -4);
    CHECK(memcmp(mesh->face, (int[]){ 0, 1, 2 }, 3 * sizeof(int)) == 0);
    check_vector(rb_spec_mesh(spec, rb_spec_geom(spec, 3)->asset)->vert + 9, 0, 0, 2);

    /* the visual needs no hull */
    CHECK_INT(rb_spec_hulls(spec, &err), RB_OK);
    CHECK_INT(rb_spec_mesh(spec, 0)->hull.nvert, 4);
    CHECK_INT(rb_spec_mesh(spec, 2)->hull.nvert, 0);
    CHECK_INT(rb_spec_warning_count(spec), 0);
    rb_spec_free(spec);
}

TEST(skipped_meshes_are_left_out)
{
    rb_error err = { 0 };
    rb_load_opts opts = rb_load_opts_default();
    opts.skip_meshes = 1;
    rb_spec *spec = rb_spec_read_memory(mesh_robot, strlen(mesh_robot), NULL, &opts, NULL, &err);
    CHECK(spec != NULL);
    CHECK_INT(rb_spec_count(spec, RB_KIND_GEOM), 0);
    CHECK_INT(rb_spec_warning_count(spec), 1);
    CHECK_INT(rb_spec_warning(spec, 0)->physics, 1);
    rb_spec_free(spec);
}

TEST(every_allocation_of_a_mesh_may_fail)
{
    char path[256];
    snprintf(path, sizeof path, "%s", in_folder("r.urdf"));
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_error err = { 0 };
        rb_load_opts opts = rb_load_opts_default();
        opts.visuals = 1;
        rb_spec *spec =
            rb_spec_read_memory(mesh_robot, strlen(mesh_robot), path, &opts, &alloc, &err);
        int done = spec != NULL;
        rb_spec_free(spec);
        CHECK_INT(memory.live, 0);
        if (done) {
            CHECK(memory.requests < k && k > 10);
            break;
        }
        CHECK_INT(err.status, RB_NOMEM);
    }
    remove(in_folder("m.obj"));
    remove(folder);
}

/* ---- refusals and warnings ---- */

/* What xacro makes of a file of macros; MuJoCo loads it, too. */
TEST(a_robot_without_links_is_empty)
{
    rb_error err = { 0 };
    rb_spec *spec = read_with(ROBOT(""), NULL, &err);
    CHECK(spec != NULL);
    CHECK_INT(rb_spec_warning_count(spec), 1);
    CHECK_CONTAINS(rb_spec_warning(spec, 0)->text, "the model is empty");
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m && m->nbody == 1);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

TEST(refusals)
{
    const struct {
        const char *text;
        int line;
        const char *says;
    } cases[] = {
        { ROBOT("<joint name='j' type='fixed'/>"), 1, "expected a <link>" },
        { ROBOT("<link/>"), 2, "name" },
        { ROBOT(LINK("a") LINK("a")), 3, "the link of line 2 has the same name" },
        { ROBOT(LINK("a") LINK("b")), 3, "expected one root" },
        { ROBOT(LINK("a") LINK("b") LINK("c") JOINT("j", "fixed", "b", "c", "")
                    JOINT("k", "fixed", "c", "b", "")),
          3, "form a loop" },
        { ROBOT(LINK("b") LINK("c") JOINT("j", "fixed", "b", "c", "")
                    JOINT("k", "fixed", "c", "b", "")),
          2, "form a loop" },
        { ROBOT(LINK("a") LINK("b") LINK("c") JOINT("j", "fixed", "a", "b", "")
                    JOINT("k", "fixed", "c", "b", "")),
          6, "is the child of joint \"j\" (line 5) already" },
        { ROBOT(LINK("a") JOINT("j", "fixed", "a", "a", "")), 3, "the same link" },
        { ROBOT(LINK("a") JOINT("j", "fixed", "a", "x", "")), 3, "there is no link \"x\"" },
        { ROBOT(LINK("a") "<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/></joint>"), 3,
          "expected <child link=" },
        { ROBOT(LINK("a") LINK("b") JOINT("j", "screw", "a", "b", "")), 4, "revolute continuous" },
        { ROBOT(LINK("a") LINK("b") "<joint name=\"j\">" ENDS("a", "b") "</joint>"), 4,
          "expected a type" },
        { ROBOT(LINK("a") LINK("b") LINK("c") JOINT("j", "fixed", "a", "b", "")
                    JOINT("j", "fixed", "a", "c", "")),
          6, "the joint of line 5 has the same name" },
        { ROBOT(LINK("a") LINK("b") JOINT("j", "revolute", "a", "b", "<axis xyz=\"0 0 0\"/>")), 4,
          "an axis that has a length" },
        { ROBOT(LINK("a") LINK("b") JOINT("j", "revolute", "a", "b", "<axis xyz=\"0 0\"/>")), 4,
          "xyz" },
        { ROBOT(LINK("a") LINK("b")
                    JOINT("j", "continuous", "a", "b", "<origin xyz=\"0 nan 0\"/>")),
          4, "finite" },
        { ROBOT(LINK("a") LINK("b")
                    JOINT("j", "continuous", "a", "b", "<dynamics damping=\"-1\"/>")),
          4, "damping" },
        { ROBOT(LINK("a") LINK("b") JOINT("j", "continuous", "a", "b", "<mimic joint=\"j\"/>")), 4,
          "mimics itself" },
        { ROBOT(LINK("a") LINK("b") JOINT("j", "continuous", "a", "b", "<mimic/>")), 4, "joint" },
        { ROBOT("<link name=\"a\"><inertial/></link>"), 2, "expected <mass" },
        { ROBOT("<link name=\"a\"><inertial><mass/></inertial></link>"), 2, "value" },
        { ROBOT("<link name=\"a\"><inertial><mass value=\"-1\"/></inertial></link>"), 2,
          "expected a mass >= 0" },
        { ROBOT("<link name=\"a\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\"/>"
                "</inertial></link>"),
          2, "izz" },
        { ROBOT("<link name=\"a\"><collision/></link>"), 2, "expected a <geometry>" },
        { ROBOT("<link name=\"a\">" COLLISION("") "</link>"), 2, "empty: expected one of box" },
        { ROBOT("<link name=\"a\">" COLLISION("<cone/>") "</link>"), 2, "<cone>: expected one of" },
        { ROBOT("<link name=\"a\">" COLLISION("<box size=\"1 1\"/>") "</link>"), 2, "size" },
        { ROBOT("<link name=\"a\">" COLLISION("<box size=\"1 1 0\"/>") "</link>"), 2, "> 0" },
        { ROBOT("<link name=\"a\">" COLLISION("<sphere radius=\"-1\"/>") "</link>"), 2, ">= 0" },
        { ROBOT("<link name=\"a\">" COLLISION("<cylinder radius=\"1\"/>") "</link>"), 2, "length" },
        { ROBOT("<link name=\"a\">" COLLISION("<plane normal=\"0 0 0\"/>") "</link>"), 2,
          "normal" },
        { ROBOT("<link name=\"a\">" COLLISION("<mesh/>") "</link>"), 2, "filename" },
        { ROBOT("<link name=\"a\">" COLLISION(
              "<mesh filename=\"m.stl\" scale=\"1 0 1\"/>") "</link>"),
          2, "other than 0" },
        { ROBOT("<link name=\"a\">" COLLISION("<mesh filename=\"nothing.stl\"/>") "</link>"), 2,
          "\"nothing.stl\": no such file" },
        { ROBOT("<link name=\"a\">" COLLISION("<mesh filename=\"../../x.stl\"/>") "</link>"), 2,
          "outside of the model's folder" },
        { ROBOT("<xacro:macro/>"), 2, "expand it first" },
        { ROBOT("<link name=\"a\"><xacro:inertia/></link>"), 2, "expand it first" },
        { ROBOT(LINK("a") "<deformable/>"), 3, "cannot be simulated" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rb_error err;
        rb_spec *spec = read_with(cases[i].text, NULL, &err);
        if (spec) test_fail(__FILE__, __LINE__, "accepted: %s", cases[i].text);
        CHECK_CONTAINS(err.text, cases[i].says);
        CHECK_INT(err.line, cases[i].line);
        CHECK_STR(err.file, "r.urdf");
        CHECK(err.status == RB_BAD_INPUT || err.status == RB_FILE || err.status == RB_UNSUPPORTED);
    }
}

TEST(what_has_no_effect_is_reported_once)
{
    rb_spec *spec = read_robot(
        ROBOT("<gazebo/><gazebo/><transmission/><material name=\"m\"/><mujoco/><loop_joint/>\n"
              "<link name=\"a\">" INERTIAL "<contact/><visual/></link>\n<link name=\"b\">" INERTIAL
              "<contact/></link>" JOINT("j", "continuous", "a", "b",
                                        "<safety_controller/><calibration/>")));
    const char *elements[] = { "gazebo",           "transmission", "mujoco",
                               "loop_joint",       "link/contact", "joint/safety_controller",
                               "joint/calibration" };
    const int lines[] = { 2, 2, 2, 2, 3, 4, 4 };
    CHECK_INT(rb_spec_warning_count(spec), 7);
    for (int i = 0; i < 7; i++) {
        CHECK_STR(rb_spec_warning(spec, i)->element, elements[i]);
        CHECK_INT(rb_spec_warning(spec, i)->where.line, lines[i]);
        CHECK_INT(rb_spec_warning(spec, i)->physics, 0);
    }
    rb_spec_free(spec);
}

/* A thousand kinds of unknown elements are not a thousand warnings. */
TEST(warnings_are_bounded)
{
    static char text[40000];
    size_t used = (size_t)snprintf(text, sizeof text, "<robot name=\"r\">" LINK("a"));
    for (int i = 0; i < 1000; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "<x%d/>", i);
    snprintf(text + used, sizeof text - used, "</robot>");
    rb_spec *spec = read_robot(text);
    CHECK(rb_spec_warning_count(spec) == 64);
    CHECK_STR(rb_spec_warning(spec, 63)->element, "more elements");
    rb_spec_free(spec);
}

/* ---- size and memory ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A chain whose joints are given from the tip to the base, the worst order there is. */
TEST(long_chains_are_read_in_no_time)
{
    enum { LINKS = 50000 };
    size_t room = (size_t)LINKS * 200 + 100, used = 0;
    char *text = malloc(room);
    used += (size_t)snprintf(text, room, "<robot name=\"r\">\n");
    for (int i = 0; i < LINKS; i++)
        used += (size_t)snprintf(text + used, room - used, "<link name=\"l%d\"/>\n", i);
    for (int i = LINKS - 1; i > 0; i--)
        used += (size_t)snprintf(text + used, room - used,
                                 "<joint name=\"j%d\" type=\"fixed\"><parent link=\"l%d\"/><child "
                                 "link=\"l%d\"/></joint>\n",
                                 i, i - 1, i);
    snprintf(text + used, room - used, "</robot>\n");
    double start = seconds();
    rb_spec *spec = read_robot(text);
    CHECK_INT(rb_spec_count(spec, RB_KIND_BODY), LINKS + 1);
    CHECK(seconds() - start < 10.0);
    rb_spec_free(spec);
    free(text);
}

TEST(every_allocation_may_fail)
{
    const char *text = ROBOT("<gazebo/>" LINK("a") "<link name=\"b\">" INERTIAL COLLISION(
        "<box size=\"1 1 1\"/>") "</link>"
                                 "<link name=\"c\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" "
                                 "iyy=\"1\" izz=\"9\"/>"
                                 "</inertial></link>" JOINT("j", "planar", "a", "b", "")
                                     JOINT("k", "continuous", "b", "c", "<mimic joint=\"j.x\"/>"));
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_error err = { 0 };
        rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, NULL, &alloc, &err);
        int done = spec != NULL;
        rb_spec_free(spec);
        CHECK_INT(memory.live, 0);
        if (done) {
            CHECK(memory.requests < k && k > 3);
            break;
        }
        CHECK_INT(err.status, RB_NOMEM);
    }
}

/* ---- published robots ---- */

TEST(published_robots)
{
    const struct {
        const char *file;
        int bodies, joints, nv, geoms;
        double mass, com[3];
    } robots[] = {
        { "solo12_urdf/robots/solo_description/robots/solo12.urdf",
          17,
          12,
          12,
          17,
          2.50000279,
          { 0, 0, -0.034497623 } },
        { "iiwa14_primitive_urdf/iiwa_description/urdf/iiwa14_primitive_collision.urdf",
          11,
          7,
          7,
          8,
          30.61,
          { -0.0164082, 0.000232604, 0.565446913 } },
        { "atlas_urdf/atlas/atlas_minimal_contact.urdf",
          60,
          30,
          30,
          16,
          175.117964,
          { 0.001338843, 0.00104911, 0.290873882 } },
        { "minitaur_urdf/data/quadruped/minitaur.urdf",
          27,
          16,
          16,
          30,
          6.0,
          { -1e-09, 0, 0.011317134 } },
        { "r2d2_urdf/data/r2d2.urdf", 16, 8, 8, 16, 65.25, { 2.8e-08, 0.003201533, -0.096070498 } },
        { "double_pendulum_urdf/robots/double_pendulum_description/urdf/double_pendulum.urdf",
          3,
          2,
          2,
          3,
          0.701,
          { 0.01745383, 8.28e-07, 0.143113309 } },
    };
    for (size_t i = 0; i < sizeof robots / sizeof *robots; i++) {
        char name[256];
        rb_error err = { 0 };
        snprintf(name, sizeof name, "data/robots/%s", robots[i].file);
        rb_spec *spec = rb_spec_read(test_shared(name), NULL, NULL, &err);
        if (!spec) test_fail(__FILE__, __LINE__, "%s:%d: %s", err.file, err.line, err.text);
        CHECK_INT(rb_spec_hulls(spec, &err), RB_OK);
        rb_model *m = rb_spec_compile(spec, NULL, &err);
        rb_data *d = rb_data_new(m, NULL);
        double com[3];
        rb_kinematics(m, d);
        rb_center_of_mass(m, d, com);
        CHECK_INT(m->nbody - 1, robots[i].bodies);
        CHECK_INT(m->njnt, robots[i].joints);
        CHECK_INT(m->nv, robots[i].nv);
        CHECK_INT(m->ngeom, robots[i].geoms);
        CHECK_NEAR(m->mass, robots[i].mass, 1e-8);
        for (int k = 0; k < 3; k++) CHECK_NEAR(com[k], robots[i].com[k], 1e-9);
        rb_data_free(d);
        rb_model_free(m, NULL);
        rb_spec_free(spec);
    }
}

TEST_MAIN(RUN(a_joint_and_its_numbers), RUN(angles_of_an_origin), RUN(types_of_joints),
          RUN(planar_joints_span_the_plane), RUN(order_of_the_file_made_topological),
          RUN(floating_base), RUN(links_called_world), RUN(limits_without_room_are_none),
          RUN(mimic_joints_are_couplings), RUN(inertia_is_turned_into_the_link),
          RUN(inertia_that_no_body_has_is_named), RUN(negative_inertia),
          RUN(joints_that_move_nothing_are_named), RUN(shapes),
          RUN(visuals_and_friction_are_options), RUN(collisions_in_other_formats_are_reported),
          RUN(neighbours_of_the_world_are_excluded), RUN(groups_that_do_not_touch),
          RUN(meshes_are_shared), RUN(skipped_meshes_are_left_out),
          RUN(every_allocation_of_a_mesh_may_fail), RUN(a_robot_without_links_is_empty),
          RUN(refusals), RUN(what_has_no_effect_is_reported_once), RUN(warnings_are_bounded),
          RUN(long_chains_are_read_in_no_time), RUN(every_allocation_may_fail),
          RUN(published_robots))
