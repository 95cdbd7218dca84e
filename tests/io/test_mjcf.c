/* The MJCF reader: every feature on a small file of its own. Numbers worked out by hand; all files
 * agree with MuJoCo 4 (tests/oracle compares the same files where it is installed). */
#include "mjcf_support.h"

#define PI  3.14159265358979323846
#define TOL 1e-12

/* ---- defaults, orientations, frames ---------------------------------------------------------- */

TEST(classes_inherit)
{
    rb_model *m = compile(read_file("defaults.xml"));
    int plain = index_of(m, RB_KIND_GEOM, "plain"), upper = index_of(m, RB_KIND_GEOM, "upper");
    int lower = index_of(m, RB_KIND_GEOM, "lower"), tip = index_of(m, RB_KIND_GEOM, "tip");
    int other = index_of(m, RB_KIND_GEOM, "other");

    CHECK_INT(m->geom_type[plain], RB_GEOM_CAPSULE);
    CHECK_VECTOR(m->geom_size + 3 * plain, 0.0, 0.1, 0.2);
    CHECK_NEAR(m->geom_material[plain].friction, 0.7, 0.0);
    CHECK_INT(m->geom_type[upper], RB_GEOM_BOX);
    CHECK_VECTOR(m->geom_size + 3 * upper, 0.0, 0.1, 0.2, 0.3);

    /* one number replaces the first, the others stay those of the class around */
    CHECK_VECTOR(m->geom_size + 3 * lower, 0.0, 0.05, 0.2, 0.3);
    CHECK_VECTOR(m->geom_size + 3 * tip, 0.0, 0.05, 0.2, 0.3);
    CHECK_NEAR(m->geom_material[tip].friction, 0.9, 0.0);
    CHECK_NEAR(m->geom_material[tip].friction_torsion, 0.01, 0.0);
    CHECK_NEAR(m->geom_material[tip].friction_roll, 0.002, 0.0);
    CHECK_INT(m->geom_type[other], RB_GEOM_CAPSULE);
    CHECK_NEAR(m->geom_mass[upper], 500.0 * 8 * 0.1 * 0.2 * 0.3, TOL);

    int shoulder = index_of(m, RB_KIND_JOINT, "shoulder"),
        elbow = index_of(m, RB_KIND_JOINT, "elbow");
    CHECK_VECTOR(m->jnt_axis + 3 * shoulder, 0.0, 0, 1, 0);
    CHECK_VECTOR(m->jnt_axis + 3 * elbow, 0.0, 1, 0, 0);
    CHECK_NEAR(m->dof_armature[elbow], 0.1, 0.0);
    CHECK_NEAR(m->dof_damping[shoulder], 0.0, 0.0);
    CHECK_NEAR(m->dof_damping[elbow], 0.5, 0.0);
    CHECK_INT(m->jnt_limited[elbow], 1);
    CHECK_VECTOR(m->jnt_range + 2 * elbow, 0.0, -1, 1);

    /* all actuators share one default: the motor keeps what a motor does not set */
    int servo = index_of(m, RB_KIND_ACTUATOR, "servo"),
        motor = index_of(m, RB_KIND_ACTUATOR, "motor");
    CHECK_VECTOR(m->act_gain + 3 * servo, 0.0, 7, 0, 0);
    CHECK_VECTOR(m->act_bias + 3 * servo, 0.0, 0, -7, -2);
    CHECK_VECTOR(m->act_gain + 3 * motor, 0.0, 1, 0, 0);
    CHECK_VECTOR(m->act_bias + 3 * motor, 0.0, 0, 0, 0);
    CHECK_NEAR(m->act_gear[6 * motor], 3.0, 0.0);
    rb_model_free(m, NULL);
}

/* Those of the tables of fields, as in MuJoCo; a robot of Menagerie has rgba="". */
TEST(numbers_that_are_empty_are_not_there)
{
    rb_model *m = compile(read_text("<mujoco><worldbody><body><freejoint/><geom type='sphere' "
                                    "size='0.1' rgba='' density=' '/></body></worldbody>"
                                    "</mujoco>"));
    CHECK_VECTOR(m->geom_size, 0.0, 0.1);
    CHECK_NEAR(m->geom_mass[0], 1000.0 * 4.1887902047863905e-3, 1e-12);
    CHECK_INT(m->geom_invisible[0], 0);
    CHECK_INT(m->nwarning, 1);
    rb_model_free(m, NULL);

    m = compile(read_text(
        "<mujoco><option density='' wind=''/><worldbody><body euler=''><joint name='j' damping=''/>"
        "<geom size='0.1'/><site name='s' pos='' quat=' '/></body></worldbody><actuator>"
        "<motor joint='j' gear=''/><motor site='s' refsite=''/></actuator></mujoco>"));
    CHECK_VECTOR(m->site_pos, 0.0, 0, 0, 0);
    CHECK_NEAR(m->option.density, 0.0, 0.0);
    CHECK_NEAR(m->act_gear[0], 1.0, 0.0);
    CHECK_INT(m->nwarning, 1);
    rb_model_free(m, NULL);
}

/* The colour of a geom outweighs that of its material, unless it is grey; as in MuJoCo. */
TEST(colours)
{
    rb_model *m = compile(read_text(
        "<mujoco><asset><material name='m' rgba='0 1 0 0.5'/></asset><worldbody><geom size='1'/>"
        "<geom size='1' rgba='1 0 0 1'/><geom size='1' material='m'/>"
        "<geom size='1' material='m' rgba='0 0 1 1'/></worldbody></mujoco>"));
    CHECK_VECTOR(m->geom_rgba, 0.0, 0.5, 0.5, 0.5, 1);
    CHECK_VECTOR(m->geom_rgba + 4, 0.0, 1, 0, 0, 1);
    CHECK_VECTOR(m->geom_rgba + 8, 0.0, 0, 1, 0, 0.5);
    CHECK_VECTOR(m->geom_rgba + 12, 0.0, 0, 0, 1, 1);
    rb_model_free(m, NULL);
}

TEST(orientations_in_every_spelling)
{
    static const char *const same[] = { "quat", "axisangle", "xyaxes", "zaxis", "euler" };
    rb_model *m = compile(read_file("orientation.xml"));
    double h = sqrt(0.5);
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        int site = index_of(m, RB_KIND_SITE, same[k]);
        CHECK_VECTOR(m->site_quat + 4 * site, TOL, h, 0, h, 0);
    }
    int down = index_of(m, RB_KIND_SITE, "down");
    CHECK_VECTOR(m->site_quat + 4 * down, TOL, 0, 1, 0, 0);

    /* zYx: about z, then about the fixed y, then about the turned x: Ry(40) Rz(30) Rx(50) */
    double a = PI / 9.0, b = PI / 12.0, c = 5.0 * PI / 36.0; /* halves of 40, 30, 50 degrees */
    double yz[4] = { cos(a) * cos(b), sin(a) * sin(b), sin(a) * cos(b), cos(a) * sin(b) };
    int mixed = index_of(m, RB_KIND_SITE, "mixed");
    CHECK_VECTOR(m->site_quat + 4 * mixed, TOL, yz[0] * cos(c) - yz[1] * sin(c),
                 yz[0] * sin(c) + yz[1] * cos(c), yz[2] * cos(c) + yz[3] * sin(c),
                 yz[3] * cos(c) - yz[2] * sin(c));

    /* from the end to the beginning is z: (-0.6, 0, -0.8) */
    int segment = index_of(m, RB_KIND_GEOM, "segment"), plate = index_of(m, RB_KIND_GEOM, "plate");
    CHECK_VECTOR(m->geom_pos + 3 * segment, TOL, 0.3, 0, 0.4);
    CHECK_VECTOR(m->geom_size + 3 * segment, TOL, 0.1, 0.5);
    CHECK_VECTOR(m->geom_quat + 4 * segment, TOL, sqrt(0.1), 0, -sqrt(0.9), 0);
    CHECK_VECTOR(m->geom_size + 3 * plate, TOL, 0.1, 0.1, 1.0);
    CHECK_VECTOR(m->geom_pos + 3 * plate, TOL, 0, 0, 2);
    rb_model_free(m, NULL);
}

TEST(frames_move_what_is_inside)
{
    rb_model *m = compile(read_file("frames.xml"));
    int inner = index_of(m, RB_KIND_GEOM, "inner"), body = index_of(m, RB_KIND_BODY, "turned");
    int ball = index_of(m, RB_KIND_GEOM, "ball"), hinge = index_of(m, RB_KIND_JOINT, "hinge");
    double h = sqrt(0.5);
    CHECK_VECTOR(m->geom_pos + 3 * inner, TOL, 0, 1, 0);
    CHECK_NEAR(m->geom_size[3 * inner], 0.25, 0.0);
    CHECK_VECTOR(m->body_pos + 3 * body, TOL, 1, 2, 0);
    CHECK_VECTOR(m->body_quat + 4 * body, TOL, h, 0, 0, h);
    CHECK_VECTOR(m->geom_pos + 3 * ball, TOL, 0, 0, 1);
    CHECK_VECTOR(m->jnt_axis + 3 * hinge, TOL, 0, -1, 0);
    CHECK_VECTOR(m->jnt_pos + 3 * hinge, TOL, 0, 0, 2);

    /* MuJoCo does not move <inertial> with a frame; outside of one it stays anyway */
    CHECK_NEAR(m->body_mass[body], 2.0, 0.0);
    CHECK_VECTOR(m->body_com + 3 * body, TOL, 0, 0, 0.5);
    rb_model_free(m, NULL);
}

/* ---- replicate and include ------------------------------------------------------------------- */

static void check_names(const rb_model *m, rb_kind kind, const char *const *names, int count)
{
    char buf[128];
    CHECK_INT(rb_model_count(m, kind), count);
    for (int k = 0; k < count; k++) CHECK_STR(rb_model_name(m, kind, k, buf, sizeof buf), names[k]);
}

/* Order and names are MuJoCo's: suffixes of the innermost replicate first; what refers to replicas
 * comes behind the rest, replica by replica. */
TEST(replicas_and_what_refers_to_them)
{
    static const char *const bodies[] = { "world",  "first",  "arm-00", "arm-10", "arm-20",
                                          "arm-01", "arm-11", "arm-21", "tail" };
    static const char *const actuators[] = { "push",    "turn-00", "pull-00", "turn-10", "pull-10",
                                             "turn-20", "pull-20", "turn-01", "pull-01", "turn-11",
                                             "pull-11", "turn-21", "pull-21" };
    rb_model *m = compile(read_file("replicate.xml"));
    check_names(m, RB_KIND_BODY, bodies, 9);
    check_names(m, RB_KIND_ACTUATOR, actuators, 13);
    CHECK_INT(m->ntendon, 6);
    CHECK_INT(m->nexclude, 6);
    CHECK_INT(m->exclude_body1[3], 1);
    CHECK_INT(m->exclude_body2[3], index_of(m, RB_KIND_BODY, "arm-01"));

    /* the second replica of the outer one is turned by 90 degrees and moved by (0, 1, 0) */
    int arm = index_of(m, RB_KIND_BODY, "arm-21");
    double h = sqrt(0.5);
    CHECK_VECTOR(m->body_pos + 3 * arm, TOL, 0, 3, 0);
    CHECK_VECTOR(m->body_quat + 4 * arm, TOL, h, 0, 0, h);
    int pull = index_of(m, RB_KIND_ACTUATOR, "pull-11");
    CHECK_INT(m->act_target[pull], index_of(m, RB_KIND_TENDON, "sum-11"));
    CHECK_INT(m->wrap_jnt[m->tendon_adr[m->act_target[pull]]],
              index_of(m, RB_KIND_JOINT, "hinge-11"));
    rb_model_free(m, NULL);
}

TEST(sensors_of_replicas_are_replicated)
{
    static const char *const sensors[] = { "t",      "where0", "f0", "p0", "h0",
                                           "where1", "f1",     "p1", "h1" };
    rb_model *m = compile(read_text(
        "<mujoco><worldbody><site name='home'/><replicate count='2' offset='1 0 0'><body "
        "name='arm'><joint name='j'/><geom name='g' size='.1' pos='.3 0 0'/><site name='tip'/>"
        "</body></replicate></worldbody><actuator><motor name='m' joint='j'/></actuator><sensor>"
        "<framepos name='where' objtype='site' objname='tip' reftype='xbody' refname='arm'/>"
        "<clock name='t'/><actuatorfrc name='f' actuator='m'/><jointpos name='p' joint='j'/>"
        "<framepos name='h' objtype='site' objname='home' reftype='geom' refname='g'/></sensor>"
        "</mujoco>"));
    check_names(m, RB_KIND_SENSOR, sensors, 9);
    int where = index_of(m, RB_KIND_SENSOR, "where1");
    CHECK_INT(m->sensor_index[where], index_of(m, RB_KIND_SITE, "tip1"));
    CHECK_INT(m->sensor_reference_index[where], index_of(m, RB_KIND_BODY, "arm1"));
    int force = index_of(m, RB_KIND_SENSOR, "f1");
    CHECK_INT(m->sensor_index[force], index_of(m, RB_KIND_ACTUATOR, "m1"));
    rb_model_free(m, NULL);
}

TEST(include_splices_files)
{
    static const char *const bodies[] = { "world", "before", "one", "two", "after" };
    rb_model *m = compile(read_file("include.xml"));
    check_names(m, RB_KIND_BODY, bodies, 5);

    /* half of a cube of side 2, density 100 */
    CHECK_NEAR(m->body_mass[2], 400.0, 1e-9);
    CHECK_VECTOR(m->body_com + 6, TOL, 2.0 / 3.0, 2.0 / 3.0, 1.0);
    CHECK_NEAR(m->body_mass[3], 100.0 * 4.0 / 3.0 * PI * 1e-3, TOL);
    rb_model_free(m, NULL);
}

/* A part of a file, and a whole one: own settings and classes, names with a prefix. */
TEST(attached_models)
{
    static const char *const bodies[] = { "world", "L_upper-0", "L_upper-1", "cart", "T/bit" };
    static const char *const actuators[] = { "drive", "extra", "L_turn-0", "L_turn-1" };
    rb_model *m = compile(read_file("attach.xml"));
    check_names(m, RB_KIND_BODY, bodies, 5);
    check_names(m, RB_KIND_ACTUATOR, actuators, 4);
    CHECK_INT(m->nexclude, 0);
    CHECK_INT(m->nmesh, 1);

    /* (1, 0, 0) in a frame turned by 90 degrees; the pose of its own parent does not count */
    CHECK_VECTOR(m->body_pos + 3, TOL, 0, 1, 1);
    CHECK_VECTOR(m->body_quat + 4, TOL, 0, 0, 0, 1);
    CHECK_VECTOR(m->body_pos + 6, TOL, 3, 1, 1);
    int shoulder = index_of(m, RB_KIND_JOINT, "L_shoulder-1");
    CHECK_VECTOR(m->jnt_range + 2 * shoulder, 0.0, -0.5, 0.5);
    CHECK_NEAR(m->dof_armature[m->jnt_dofadr[shoulder]], 0.25, 0.0);
    CHECK_NEAR(m->geom_size[3 * index_of(m, RB_KIND_GEOM, "L_upper-0")], 0.05, 0.0);

    /* what stood in the world of the tool stands in the cart; option is that of the main file */
    int plate = index_of(m, RB_KIND_GEOM, "T/plate");
    CHECK_INT(m->geom_body[plate], index_of(m, RB_KIND_BODY, "cart"));
    CHECK_NEAR(m->option.timestep, 0.002, 0.0);
    CHECK_NEAR(m->option.gravity[2], -9.81, 0.0);
    rb_model_free(m, NULL);
}

/* An empty prefix leaves the names as they are. */
TEST(an_attached_model_may_keep_its_names)
{
    rb_model *m = compile(read_file("attach_plain.xml"));
    CHECK(index_of(m, RB_KIND_BODY, "upper") > 0);
    CHECK(index_of(m, RB_KIND_JOINT, "shoulder") >= 0);
    rb_model_free(m, NULL);
}

/* A part for <include>: MuJoCo reads it as an empty world. */
TEST(bodies_outside_of_the_world_are_passed_over)
{
    rb_spec *spec =
        read_text("<mujoco><body name='b'><freejoint/><geom size='1'/></body></mujoco>");
    CHECK_INT(rb_spec_warning_count(spec), 1);
    rb_model *m = compile(spec);
    CHECK_INT(m->nbody, 1);
    rb_model_free(m, NULL);
}

/* A frame of the same file once more, with what hangs on it; text behind the end is passed over. */
TEST(parts_of_the_same_model)
{
    static const char *const bodies[] = { "world", "arm", "two_arm" };
    static const char *const actuators[] = { "turn", "two_turn" };
    rb_model *m = compile(read_text(
        "<mujoco><worldbody><frame name='f' pos='1 0 0'><body name='arm'><joint name='j'/>"
        "<geom size='0.1'/></body></frame><frame pos='0 2 0'><attach frame='f' "
        "prefix='two_'/></frame>"
        "</worldbody><actuator><motor name='turn' joint='j'/></actuator></mujoco>\n</mujoco>\n"));
    check_names(m, RB_KIND_BODY, bodies, 3);
    check_names(m, RB_KIND_ACTUATOR, actuators, 2);
    CHECK_VECTOR(m->body_pos + 6, TOL, 1, 2, 0);
    CHECK_INT(m->nwarning, 1);
    rb_model_free(m, NULL);
}

/* ---- inertia and meshes ---------------------------------------------------------------------- */

TEST(inertia_given_and_from_geoms)
{
    rb_model *m = compile(read_file("inertia.xml"));
    CHECK_VECTOR(m->body_mass, TOL, 0, 2, 1, 4, 2 * PI * 1.0, 0);
    CHECK_VECTOR(m->body_com + 3, TOL, 1, 2, 3);
    CHECK_VECTOR(m->body_inertia + 6, TOL, 3, 4, 5, 0.1, 0.2, 0.3);
    CHECK_VECTOR(m->body_inertia + 12, TOL, 2, 1, 3, 0, 0, 0);

    /* cube 3 kg at 0, sphere 1 kg at z = 2: com at 0.5; group 3 is outside of inertiagrouprange */
    double cube = 3.0 / 6.0, ball = 0.4, offset = 3 * 0.25 + 1 * 2.25;
    CHECK_VECTOR(m->body_com + 9, TOL, 0, 0, 0.5);
    CHECK_VECTOR(m->body_inertia + 18, TOL, cube + ball + offset, cube + ball + offset, cube + ball,
                 0, 0, 0);
    CHECK_NEAR(m->body_inertia[24], 2 * PI * 0.25 * 2.0 / 3.0, TOL);
    rb_model_free(m, NULL);
}

TEST(inertia_from_geom_settings)
{
    static const char *const text =
        "<mujoco><compiler inertiafromgeom='%s'/><worldbody><body>"
        "<inertial pos='0 0 0' mass='7' diaginertia='1 1 1'/><geom size='1' mass='3'/></body>"
        "<body><geom size='1' mass='5'/></body></worldbody></mujoco>";
    static const struct {
        const char *word;
        double first, second;
    } cases[] = { { "auto", 7.0, 5.0 }, { "true", 3.0, 5.0 }, { "false", 7.0, 0.0 } };
    for (int k = 0; k < 3; k++) {
        char file[512];
        snprintf(file, sizeof file, text, cases[k].word);
        rb_model *m = compile(read_text(file));
        CHECK_NEAR(m->body_mass[1], cases[k].first, TOL);
        CHECK_NEAR(m->body_mass[2], cases[k].second, TOL);
        rb_model_free(m, NULL);
    }
}

TEST(bounds_balance_and_springdamper)
{
    rb_model *m = compile(read_file("bounds.xml"));

    /* masses 0.5 (bound) and 3, scaled to 20; moments 1 1 4 are no body's: their mean is taken */
    double scale = 20.0 / 3.5;
    CHECK_VECTOR(m->body_mass, 1e-12, 0, 0.5 * scale, 3 * scale);
    CHECK_NEAR(m->body_inertia[6], 0.01 * scale, 1e-12);
    CHECK_VECTOR(m->body_inertia + 12, 1e-12, 2 * scale, 2 * scale, 2 * scale, 0, 0, 0);

    /* 0.5 s and ratio 1 about an axis 1 m away */
    double inertia = (0.5 + 0.01) * scale;
    CHECK_NEAR(m->jnt_stiffness[0], inertia / 0.25, 1e-11);
    CHECK_NEAR(m->dof_damping[0], 2.0 * inertia / 0.5, 1e-11);
    rb_model_free(m, NULL);
}

TEST(meshes_written_in_the_file)
{
    rb_model *m = compile(read_file("mesh.xml"));
    int corner = index_of(m, RB_KIND_BODY, "corner"), cloud = index_of(m, RB_KIND_BODY, "cloud");
    int moved = index_of(m, RB_KIND_BODY, "moved"), hollow = index_of(m, RB_KIND_BODY, "hollow");
    int hull = index_of(m, RB_KIND_BODY, "hull");
    CHECK_NEAR(m->body_mass[corner], 1.0, TOL);
    CHECK_VECTOR(m->body_com + 3 * corner, TOL, 0.25, 0.25, 0.25);

    /* points without faces are their hull: the box 2 x 4 x 6 with 12 kg */
    CHECK_VECTOR(m->body_com + 3 * cloud, TOL, 0, 0, 1);
    CHECK_VECTOR(m->body_inertia + 6 * cloud, 1e-11, 52, 40, 20, 0, 0, 0);
    int asset = index_of(m, RB_KIND_MESH, "cloud");
    CHECK_INT(m->mesh_vertnum[asset], 8);
    CHECK_INT(m->mesh_facenum[asset], 12);

    /* moved by -1 along x, turned by -90 degrees about z, mirrored in z, twice as wide in y */
    CHECK_NEAR(m->body_mass[moved], 2.0, TOL);
    CHECK_VECTOR(m->body_com + 3 * moved, TOL, 0.25, -0.5, -0.25);

    /* the inertia of a hollow cube of mass m and side s is 5/18 m s^2 */
    CHECK_NEAR(m->body_inertia[6 * hollow], 24.0 * 4.0 * 5.0 / 18.0, 1e-11);
    CHECK_NEAR(m->body_mass[hull], 1.0, TOL);
    rb_model_free(m, NULL);
}

/* Primitives that take their size from the box 2 x 4 x 6: half extents 1, 2, 3. */
TEST(primitives_fitted_to_a_mesh)
{
    rb_model *m = compile(read_file("mesh.xml"));
    int box = index_of(m, RB_KIND_GEOM, "box"), cylinder = index_of(m, RB_KIND_GEOM, "cylinder");
    int capsule = index_of(m, RB_KIND_GEOM, "capsule"),
        sphere = index_of(m, RB_KIND_GEOM, "sphere");
    int ellipsoid = index_of(m, RB_KIND_GEOM, "ellipsoid");
    CHECK_VECTOR(m->geom_size + 3 * box, 1e-11, 1, 2, 3);
    CHECK_VECTOR(m->geom_pos + 3 * box, 1e-12, 1, 0, 0);
    CHECK_VECTOR(m->geom_size + 3 * ellipsoid, 1e-11, 0.5, 1, 1.5);
    CHECK_VECTOR(m->geom_size + 3 * cylinder, 1e-11, 1.5, 3);
    CHECK_VECTOR(m->geom_size + 3 * capsule, 1e-11, 1.5, 2.25);
    CHECK_NEAR(m->geom_size[3 * sphere], 2.0, 1e-11);
    rb_model_free(m, NULL);
}

TEST(height_fields)
{
    rb_model *m = compile(read_file("hfield.xml"));
    CHECK_INT(m->nhfield, 2);
    CHECK_INT(m->hfield_ncol[0], 3);
    CHECK_VECTOR(m->hfield_size, 0.0, 3, 2, 0.5, 0.1);

    /* the last row of the text is the first one here, and heights become 0 .. 1 */
    CHECK_VECTOR(m->hfield_elev, TOL, 0, 0.2, 0.4, 0.6, 0.8, 1.0);
    CHECK_VECTOR(m->hfield_elev + m->hfield_adr[1], TOL, 0, 0, 0, 0);
    rb_model_free(m, NULL);
}

/* ---- couplings, tendons, actuators ----------------------------------------------------------- */

TEST(equalities)
{
    rb_model *m = compile(read_file("equality.xml"));
    int a = index_of(m, RB_KIND_BODY, "a"), b = index_of(m, RB_KIND_BODY, "b");
    static const int types[] = { RB_EQ_CONNECT, RB_EQ_CONNECT, RB_EQ_WELD,  RB_EQ_WELD,
                                 RB_EQ_WELD,    RB_EQ_JOINT,   RB_EQ_JOINT, RB_EQ_TENDON };
    CHECK_INT(m->neq, 8);
    for (int k = 0; k < 8; k++) CHECK_INT(m->eq_type[k], types[k]);
    for (int k = 0; k < 8; k++) CHECK_INT(m->eq_active[k], k == 0 || k == 2);

    /* the anchor of body a seen from the world at the reference configuration */
    CHECK_INT(m->eq_obj1[0], a);
    CHECK_INT(m->eq_obj2[0], 0);
    CHECK_VECTOR(m->eq_pos1, TOL, 0, 0, 0.25);
    CHECK_VECTOR(m->eq_pos2, TOL, 0, 0, 1.25);
    CHECK_VECTOR(m->eq_pos1 + 3, TOL, 1, 2, 3);
    CHECK_VECTOR(m->eq_pos2 + 3, TOL, 0, 0, 0.5);

    /* the anchor of a weld is a point of body 2 */
    CHECK_INT(m->eq_obj1[2], b);
    CHECK_INT(m->eq_obj2[2], a);
    CHECK_VECTOR(m->eq_pos1 + 6, TOL, 0.5, 0, 0);
    CHECK_VECTOR(m->eq_pos2 + 6, TOL, 0.5, 0, 1);
    CHECK_INT(m->eq_obj1[3], a);
    CHECK_VECTOR(m->eq_pos1 + 9, TOL, 0.5, 0, 0);
    CHECK_VECTOR(m->eq_quat1 + 12, TOL, 0, 0, 0, 1);
    CHECK_VECTOR(m->eq_pos2 + 9, TOL, 0.5, 0, 0);
    CHECK_VECTOR(m->eq_quat2 + 16, TOL, 0, 1, 0, 0);

    CHECK_VECTOR(m->eq_poly + 25, 0.0, 0.5, 2, 0, 0, 0);
    CHECK_INT(m->eq_obj2[6], -1);
    CHECK_VECTOR(m->eq_poly + 35, 0.0, 0.1, 1, 0, 0, 0);
    rb_model_free(m, NULL);
}

TEST(joints_and_tendons)
{
    rb_model *m = compile(read_file("drive.xml"));
    int hinge = index_of(m, RB_KIND_JOINT, "hinge"), ball = index_of(m, RB_KIND_JOINT, "ball");
    CHECK_VECTOR(m->jnt_range + 2 * hinge, TOL, -PI / 2, PI / 2);
    CHECK_NEAR(m->jnt_springref[hinge], PI / 4, TOL);
    CHECK_NEAR(m->qpos0[0], PI / 6, TOL);
    CHECK_INT(m->jnt_force_limited[hinge], 1);
    CHECK_VECTOR(m->jnt_force_range + 2 * hinge, 0.0, -5, 5);
    CHECK_VECTOR(m->jnt_range + 2 * ball, TOL, 0, PI / 3);

    /* at rest where the springs of the joints are: 2 pi / 4 - 0.2 */
    CHECK_VECTOR(m->tendon_spring, TOL, PI / 2 - 0.2, PI / 2 - 0.2, 0.5, 0.5);
    CHECK_INT(m->tendon_limited[0], 1);
    CHECK_INT(m->tendon_limited[1], 0);
    CHECK_VECTOR(m->wrap_coef, 0.0, 2, -1, 4);
    rb_model_free(m, NULL);
}

static void check_actuator(const rb_model *m, const char *name, const double gain[3],
                           const double bias[3], int dynamics)
{
    int k = index_of(m, RB_KIND_ACTUATOR, name);
    check_vector(m->act_gain + 3 * k, 3, gain, 1e-12);
    check_vector(m->act_bias + 3 * k, 3, bias, 1e-12);
    CHECK_INT(m->act_dynamics[k], dynamics);
}

#define V3(a, b, c) ((const double[]){ a, b, c })

TEST(actuators)
{
    rb_model *m = compile(read_file("drive.xml"));
    check_actuator(m, "motor", V3(1, 0, 0), V3(0, 0, 0), RB_ACT_NONE);
    check_actuator(m, "position", V3(50, 0, 0), V3(0, -50, -4), RB_ACT_FILTER_EXACT);
    check_actuator(m, "velocity", V3(6, 0, 0), V3(0, 0, -6), RB_ACT_NONE);
    check_actuator(m, "intvelocity", V3(2, 0, 0), V3(0, -2, 0), RB_ACT_INTEGRATOR);
    check_actuator(m, "damper", V3(0, 0, -8), V3(0, 0, 0), RB_ACT_NONE);
    check_actuator(m, "cylinder", V3(PI, 0, 0), V3(1, 2, 3), RB_ACT_FILTER);
    check_actuator(m, "general", V3(1, 2, 3), V3(4, 5, 6), RB_ACT_FILTER);

    int general = index_of(m, RB_KIND_ACTUATOR, "general");
    CHECK_NEAR(m->act_time_constant[general], 0.2, 0.0);
    CHECK_VECTOR(m->act_force_range + 2 * general, 0.0, -7, 7);
    CHECK_INT(m->act_ctrl_limited[general], 1);
    int tendon = index_of(m, RB_KIND_ACTUATOR, "tendon"),
        site = index_of(m, RB_KIND_ACTUATOR, "site");
    CHECK_INT(m->act_ctrl_limited[tendon], 0);
    CHECK_INT(m->act_transmission[tendon], RB_TRN_TENDON);
    CHECK_INT(m->act_transmission[site], RB_TRN_SITE);
    CHECK_INT(m->act_reference[site], index_of(m, RB_KIND_SITE, "other"));
    CHECK_VECTOR(m->act_gear + 6 * site, 0.0, 0, 0, 1, 0, 0, 2);
    int parent = index_of(m, RB_KIND_ACTUATOR, "parent");
    CHECK_INT(m->act_transmission[parent], RB_TRN_JOINT_IN_PARENT);

    /* half of the joint's range about its middle */
    int heir = index_of(m, RB_KIND_ACTUATOR, "heir");
    CHECK_VECTOR(m->act_ctrl_range + 2 * heir, TOL, -PI / 4, PI / 4);

    /* armature and damping of an actuator reach the joint times gear^2 */
    int slide = m->jnt_dofadr[index_of(m, RB_KIND_JOINT, "slide")];
    CHECK_NEAR(m->dof_armature[slide], 4 * 0.5, TOL);
    CHECK_NEAR(m->dof_damping[slide], 4 * 2.0, TOL);
    rb_model_free(m, NULL);
}

/* kv = 2 ratio sqrt(kp / (J M^-1 J')), with the mass matrix of the model. */
/* A range in the class and inheritrange in the element, and the other way round. */
TEST(of_a_range_and_inheritrange_the_nearer_one_counts)
{
    static const struct {
        const char *of_class, *of_element;
        double range;
    } cases[] = { { "inheritrange='1'", "ctrlrange='-5 5'", 5.0 },
                  { "ctrlrange='-5 5'", "inheritrange='1'", 1.5 },
                  { "", "inheritrange='1' ctrlrange='-4 4'", 4.0 },
                  { "ctrlrange='-4 4' inheritrange='1'", "", 4.0 },
                  { "ctrlrange='-5 5'", "inheritrange='0'", 5.0 } };
    for (int i = 0; i < 5; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "<mujoco><compiler angle='radian'/><default><default class='c'><position %s/>"
                 "</default></default><worldbody><body><joint name='j' range='-1.5 1.5'/><geom "
                 "size='0.1'/></body></worldbody><actuator><position class='c' joint='j' %s/>"
                 "</actuator></mujoco>",
                 cases[i].of_class, cases[i].of_element);
        rb_spec *spec = read_text(text);
        CHECK_NEAR(rb_spec_actuator(spec, 0)->ctrl_range[1], cases[i].range, 1e-15);
        CHECK_INT(rb_spec_actuator(spec, 0)->ctrl_limited, 1);
        CHECK_INT(rb_spec_warning_count(spec), i < 4);
        rb_spec_free(spec);
    }
}

TEST(a_range_the_wrong_way_round_is_told)
{
    rb_spec *spec = read_text("<mujoco><worldbody><body><joint range='90 -90'/><geom size='0.1'/>"
                              "</body></worldbody></mujoco>");
    CHECK_INT(rb_spec_joint(spec, 0)->limited, 0);
    CHECK_INT(rb_spec_warning_count(spec), 1);
    CHECK_INT(rb_spec_warning(spec, 0)->physics, 2);
    rb_spec_free(spec);
}

TEST(damping_ratio)
{
    rb_model *m = compile(read_file("drive.xml"));
    rb_data *d = rb_data_new(m, NULL);
    double x[8] = { 0.0 };
    rb_kinematics(m, d);
    rb_mass(m, d);
    CHECK_INT(rb_mass_factor(m, d), RB_OK);
    x[0] = 2.0;
    rb_mass_solve(m, d, x);
    int ratio = index_of(m, RB_KIND_ACTUATOR, "ratio");
    CHECK_NEAR(m->act_bias[3 * ratio + 2], -2 * 0.5 * sqrt(50.0 / (2.0 * x[0])), 1e-11);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* ---- contacts, keyframes, custom, options ---------------------------------------------------- */

TEST(contacts_and_options)
{
    rb_model *m = compile(read_file("contact.xml"));
    CHECK_NEAR(m->option.timestep, 0.005, 0.0);
    CHECK_VECTOR(m->option.gravity, 0.0, 0, 0, -1.5);
    CHECK_INT(m->option.contact, 0);
    CHECK_INT(m->option.filter_parent, 0);
    int floor = index_of(m, RB_KIND_GEOM, "floor");
    CHECK_INT(m->geom_contype[floor], 3);
    CHECK_INT(m->geom_conaffinity[floor], 4);
    CHECK_INT(m->geom_priority[floor], 2);
    CHECK_INT(m->geom_condim[floor], 4);
    CHECK_NEAR(m->body_gravcomp[index_of(m, RB_KIND_BODY, "box")], 0.5, 0.0);

    CHECK_INT(m->npair, 3);
    CHECK_INT(m->pair_only_material[0] + m->pair_only_material[1], 0);
    CHECK_INT(m->pair_only_material[2], 1);
    CHECK_NEAR(m->pair_material[2].friction_static, 0.8, 0.0);
    CHECK(isnan(m->pair_material[2].friction));
    CHECK_INT(m->pair_condim[0], 6);
    CHECK_NEAR(m->pair_material[0].friction, 0.6, 0.0);
    CHECK_NEAR(m->pair_material[0].friction_across, 0.4, 0.0);
    CHECK_NEAR(m->pair_material[0].friction_torsion, 0.02, 0.0);
    CHECK_NEAR(m->pair_material[0].friction_roll, 0.003, 0.0);
    CHECK_NEAR(m->pair_material[1].friction, 0.5, 0.0);
    CHECK_INT(m->nexclude, 1);
    rb_model_free(m, NULL);
}

TEST(keyframes_and_mocap)
{
    rb_model *m = compile(read_file("contact.xml"));
    CHECK_INT(m->nkey, 3);
    CHECK_INT(m->nmocap, 1);
    CHECK_NEAR(m->key_time[0], 2.0, 0.0);
    CHECK_VECTOR(m->key_qvel, 0.0, 1, 2, 3, 4, 5, 6);

    /* what is not said of a mocap body is as it stands in the file; zeros are no rotation */
    CHECK_VECTOR(m->key_mocap, TOL, 4, 5, 6, 0, 0, 0, 1);
    CHECK_VECTOR(m->key_mocap + 7, TOL, 1, 2, 3, 1, 0, 0, 0);
    CHECK_VECTOR(m->key_qpos + 7, TOL, 0, 0, 1, 1, 0, 0, 0);
    CHECK_VECTOR(m->key_qpos + 14, TOL, 0, 0, 0, 1, 0, 0, 0);
    rb_model_free(m, NULL);
}

TEST(custom_entries_for_us)
{
    rb_model *m = compile(read_file("contact.xml"));
    int floor = index_of(m, RB_KIND_GEOM, "floor"), box = index_of(m, RB_KIND_GEOM, "box");

    /* one geom outweighs all geoms, wherever it stands */
    CHECK_NEAR(m->geom_material[floor].restitution, 0.5, 0.0);
    CHECK_NEAR(m->geom_material[box].restitution, 0.25, 0.0);
    CHECK_NEAR(m->geom_material[floor].friction_static, 0.9, 0.0);
    CHECK(isnan(m->geom_material[box].friction_static));
    CHECK_INT(m->ncustom, 5);
    int text = index_of(m, RB_KIND_CUSTOM, "rb.formulation");
    CHECK_STR(m->names + m->custom_text[text], "cone");
    int pair = index_of(m, RB_KIND_CUSTOM, "rb.friction_static/floor/box");
    CHECK_NEAR(m->custom_data[m->custom_adr[pair]], 0.8, 0.0);
    rb_model_free(m, NULL);
}

TEST(flags_switch_off)
{
    rb_model *m = compile(read_text(
        "<mujoco><option><flag gravity='disable' limit='disable' frictionloss='disable' "
        "spring='disable' damper='disable' equality='disable' clampctrl='disable'/></option>"
        "<worldbody><body><joint name='j' range='-1 1' frictionloss='2' stiffness='3' damping='4'/>"
        "<geom size='1'/></body></worldbody><equality><joint joint1='j'/></equality>"
        "<actuator><motor joint='j' ctrlrange='-1 1'/></actuator></mujoco>"));
    CHECK_VECTOR(m->option.gravity, 0.0, 0, 0, 0);
    CHECK_INT(m->jnt_limited[0], 0);
    CHECK_NEAR(m->dof_frictionloss[0] + m->jnt_stiffness[0] + m->dof_damping[0], 0.0, 0.0);
    CHECK_INT(m->eq_active[0], 0);
    CHECK_INT(m->act_ctrl_limited[0], 0);
    rb_model_free(m, NULL);

    m = compile(read_text("<mujoco><option actuatorgroupdisable='2'/><worldbody><body>"
                          "<joint name='j'/><geom size='1'/></body></worldbody><actuator>"
                          "<motor joint='j'/><motor joint='j' group='2'/></actuator></mujoco>"));
    CHECK_NEAR(m->act_gain[0], 1.0, 0.0);
    CHECK_NEAR(m->act_gain[3], 0.0, 0.0);
    rb_model_free(m, NULL);
}

/* ---- what has no effect ---------------------------------------------------------------------- */

static const rb_warning *find_warning(const rb_spec *spec, const char *element)
{
    for (int k = 0; k < rb_spec_warning_count(spec); k++)
        if (strcmp(rb_spec_warning(spec, k)->element, element) == 0)
            return rb_spec_warning(spec, k);
    print_error("no warning about %s\n", element);
    return NULL;
}

static void check_warning(const rb_spec *spec, const char *element, int line, int physics)
{
    const rb_warning *warning = find_warning(spec, element);
    CHECK(warning != NULL);
    CHECK_INT(warning->where.line, line);
    CHECK_INT(warning->physics, physics);
    CHECK(warning->text[0] != '\0');
    CHECK_CONTAINS(warning->where.file, "unsupported.xml");
}

/* Counted and named as in MuJoCo, reported once with the first line, without force. */
TEST(unsupported_parts_are_reported_once)
{
    rb_spec *spec = read_file("unsupported.xml");
    check_warning(spec, "option", 2, 0);
    check_warning(spec, "solref", 14, 0);
    check_warning(spec, "actuator/general", 40, 1);
    CHECK_INT(rb_spec_warning_count(spec), 3);

    rb_model *m = compile(spec);
    CHECK_INT(m->ntendon, 2);
    CHECK_INT(m->nu, 5);
    CHECK_INT(m->na, 1);
    CHECK_INT(m->eq_active[0], 1);
    CHECK_VECTOR(m->act_gain + 3 * 3, 0.0, 0, 0, 0);
    CHECK_VECTOR(m->key_ctrl, 0.0, 1, 2, 3, 4, 5);

    /* no force of the law that is not there, whatever its control */
    rb_data *d = rb_data_new(m, NULL);
    CHECK_INT(rb_data_reset_key(m, d, 0), RB_OK);
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_frames(m, d);
    rb_actuation(m, d);
    CHECK_NEAR(d->act_force[3], 0.0, 0.0);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

TEST(skip_meshes_leaves_their_geoms_out)
{
    rb_load_opts opts = rb_load_opts_default();
    rb_error err = { 0 };
    const char *text = "<mujoco><asset><mesh name='m' file='none.stl'/></asset><worldbody>"
                       "<geom type='mesh' mesh='m'/><geom size='1'/></worldbody></mujoco>";
    opts.skip_meshes = 1;
    rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, &opts, NULL, &err);
    CHECK(spec != NULL);
    CHECK_INT(rb_spec_count(spec, RB_KIND_GEOM), 1);
    rb_spec_free(spec);
}

/* Numbers of MuJoCo 4.0.0 for the same text. */
TEST(visual_geoms_are_discarded_but_weigh)
{
    rb_spec *spec = read_file("visual.xml");
    static const char *const names[] = { "g1", "ref", "sens", "wrap", "glued", "h" };
    rb_model *m = compile(spec);
    check_names(m, RB_KIND_GEOM, names, 6);
    CHECK_NEAR(m->body_mass[1], 9198.7455457373198, 1e-8);
    CHECK_NEAR(m->body_mass[2], 1.0, 0.0);
    CHECK_INT(m->pair_geom1[0], 1);
    CHECK_INT(m->pair_geom2[0], 5);
    rb_model_free(m, NULL);
}

/* Vertices, faces and masses that MuJoCo 4.0 has of them. */
TEST(builtin_meshes)
{
    static const struct {
        const char *text;
        int nvert, nface;
        double mass; /* density 1000; 0: refused */
    } cases[] = {
        { "builtin='sphere' params='0'", 12, 20, 2536.1504726624075 },
        { "builtin='sphere' params='1'", 42, 80, 3658.712126251761 },
        { "builtin='sphere' params='4'", 2562, 5120, 4179.738957796405 },
        { "builtin='hemisphere' params='1'", 14, 24, 1471.4044623592551 },
        { "builtin='hemisphere' params='10'", 266, 528, 2068.308741012736 },
        { "builtin='cone' params='8 0'", 9, 14, 1885.618050893148 },
        { "builtin='cone' params='8 0.5'", 16, 28, 3299.8315890630092 },
        { "builtin='supersphere' params='8 1 1'", 58, 112, 3627.701948850009 },
        { "builtin='supersphere' params='16 0.5 1.5'", 242, 480, 3451.7619731178806 },
        { "builtin='supertorus' params='8 0.3 1 1'", 64, 128, 2436.565104441674 },
        { "builtin='supertorus' params='16 0.3 0.5 1.2'", 256, 512, 2823.392743647243 },
        { "builtin='wedge' params='3 4 30 45 0'", 12, 20, 84.4020351836165 },
        { "builtin='wedge' params='4 4 60 30 1'", 16, 28, 47.38816030944024 },
        { "builtin='wedge' params='25 25 180 90 0'", 625, 1246, 4128.497933513773 },
        { "builtin='wedge' params='3 4 30 45'", 0, 0, 0.0 },
        { "builtin='wedge' params='3 4 200 45 0'", 0, 0, 0.0 },
        { "builtin='sphere' params='5'", 0, 0, 0.0 },
        { "builtin='cone' params='8'", 0, 0, 0.0 },
        { "builtin='cone' params='2 0'", 0, 0, 0.0 },
        { "builtin='supertorus' params='8 0 1 1'", 0, 0, 0.0 },
        { "builtin='sphere'", 0, 0, 0.0 },
        { "builtin='ball' params='1'", 0, 0, 0.0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        rb_error err = { 0 };
        TEST_SEED(i);
        snprintf(text, sizeof text,
                 "<mujoco><asset><mesh name='a' %s/></asset><worldbody><body><freejoint/><geom "
                 "type='mesh' mesh='a'/></body></worldbody></mujoco>",
                 cases[i].text);
        rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, NULL, NULL, &err);
        CHECK_INT(spec != NULL, cases[i].nvert > 0);
        if (!spec) continue;
        rb_model *m = compile(spec);
        CHECK_INT(m->mesh_vertnum[0], cases[i].nvert);
        CHECK_INT(m->mesh_facenum[0], cases[i].nface);
        CHECK_NEAR(m->body_mass[1], cases[i].mass, 1e-3);
        rb_model_free(m, NULL);
    }
}

/* What is left out with an asset that is not read: a warning in `info`, an error in `run` where it
 * touches or weighs. */
TEST(assets_that_are_not_read_are_left_out)
{
    static const struct {
        const char *asset, *geom;
        int physics; /* of the geom; -1: no warning */
    } cases[] = {
        { "<mesh name='a' builtin='plate' params='4 4'/>", "type='mesh' mesh='a'", 1 },
        { "<mesh name='a' builtin='plate' params='4 4'/>",
          "type='mesh' mesh='a' contype='0' conaffinity='0'", 1 },
        { "<mesh name='a' builtin='plate' params='4 4'/>",
          "type='box' mesh='a' contype='0' conaffinity='0' mass='0'", -1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        rb_error err = { 0 };
        snprintf(text, sizeof text,
                 "<mujoco><asset>%s</asset><worldbody><body><freejoint/><geom size='1'/><geom "
                 "%s/></body></worldbody></mujoco>",
                 cases[i].asset, cases[i].geom);
        rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, NULL, NULL, &err);
        if (!spec) say_error(&err);
        CHECK(spec != NULL);
        CHECK_INT(rb_spec_count(spec, RB_KIND_GEOM), 1);
        CHECK_INT(rb_spec_warning_count(spec), cases[i].physics < 0 ? 1 : 2);
        CHECK_INT(rb_spec_warning(spec, 0)->physics, 0);
        CHECK_CONTAINS(rb_spec_warning(spec, 0)->text, "left out, with the geoms");
        if (cases[i].physics >= 0) CHECK_INT(rb_spec_warning(spec, 1)->physics, cases[i].physics);
        rb_spec_free(spec);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void check_allocations(const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", mjcf_path(file));
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_error err = { 0 };
        rb_spec *spec = rb_spec_read(path, NULL, &alloc, &err);
        int done = memory.requests < k;
        if (!spec && err.status != RB_NOMEM) say_error(&err);
        CHECK(spec || err.status == RB_NOMEM);
        rb_spec_free(spec);
        CHECK_INT(memory.live, 0);
        if (!done) continue;
        CHECK(spec != NULL);
        return;
    }
}

/* Numbers and lists that MuJoCo takes in silence are read as it reads them, with a warning. */
TEST(what_mujoco_takes_in_silence_is_a_warning)
{
    rb_spec *spec = read_text(
        "\\\n<mujoco><option density='-1' viscosity='-1'/><worldbody>"
        "<replicate count='0'><geom size='1'/></replicate>"
        "<geom type='plane' size='1 1 1' friction='-1'/>"
        "<body name='m' mocap='true' pos='7 8 9'/><body name='n' mocap='true' pos='1 1 1'/>"
        "<body pos='1 2 3'><freejoint/><geom size='.1'/></body>"
        "<body pos='0 0 5'><joint type='ball' limited='true'/><geom size='.1' pos='1 0 0'/></body>"
        "<body pos='9 9 9'><joint name='j' ref='90' stiffness='-2' damping='-.5' "
        "frictionloss='-1'/>"
        "<geom size='.1' pos='1 0 0'/></body></worldbody>"
        "<actuator><general joint='j' dyntype='filterexact' dynprm='0'/></actuator>"
        "<keyframe><key qpos='4 5' qvel='6' mpos='0 0 1'/></keyframe></mujoco>");
    const char *elements[] = { "xml",
                               "option/density",
                               "option/viscosity",
                               "replicate",
                               "geom/friction",
                               "joint/range",
                               "joint/frictionloss",
                               "joint/stiffness",
                               "joint/damping",
                               "actuator/timeconst",
                               "key",
                               "key/mocap" };
    CHECK_INT(rb_spec_warning_count(spec), 12);
    for (int i = 0; i < 12; i++) {
        CHECK_STR(rb_spec_warning(spec, i)->element, elements[i]);
        CHECK_INT(rb_spec_warning(spec, i)->physics, 0);
    }
    rb_model *m = compile(spec);
    CHECK_INT(m->ngeom, 4);
    CHECK(m->option.density == 0.0 && m->option.viscosity == 0.0);
    CHECK(m->geom_material[0].friction == 0.0);
    CHECK_INT(m->jnt_limited[1], 1);
    CHECK_NEAR(m->jnt_range[3], 1e-3, 1e-15);
    CHECK(m->jnt_stiffness[2] == -2.0 && m->dof_damping[9] == -0.5 &&
          m->dof_frictionloss[9] == 0.0);
    CHECK(m->key_qpos[0] == 4.0 && m->key_qpos[1] == 5.0 && m->key_qpos[2] == 3.0);
    CHECK(m->key_qpos[3] == 1.0 && m->key_qpos[11] == m->qpos0[11]);
    CHECK(m->key_qvel[0] == 6.0 && m->key_qvel[1] == 0.0);
    CHECK(m->key_mocap[2] == 1.0 && m->key_mocap[7] == 1.0);
    rb_model_free(m, NULL);
}

TEST(every_allocation_may_fail)
{
    static const char *const files[] = { "defaults.xml", "replicate.xml", "include.xml",
                                         "mesh.xml",     "hfield.xml",    "drive.xml",
                                         "contact.xml",  "bounds.xml",    "unsupported.xml",
                                         "visual.xml" };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) check_allocations(files[k]);
}

TEST_MAIN(RUN(visual_geoms_are_discarded_but_weigh), RUN(assets_that_are_not_read_are_left_out),
          RUN(classes_inherit), RUN(numbers_that_are_empty_are_not_there), RUN(colours),
          RUN(orientations_in_every_spelling), RUN(frames_move_what_is_inside),
          RUN(replicas_and_what_refers_to_them), RUN(sensors_of_replicas_are_replicated),
          RUN(include_splices_files), RUN(attached_models),
          RUN(an_attached_model_may_keep_its_names), RUN(parts_of_the_same_model),
          RUN(bodies_outside_of_the_world_are_passed_over), RUN(inertia_given_and_from_geoms),
          RUN(inertia_from_geom_settings), RUN(bounds_balance_and_springdamper),
          RUN(meshes_written_in_the_file), RUN(primitives_fitted_to_a_mesh), RUN(height_fields),
          RUN(equalities), RUN(joints_and_tendons), RUN(actuators), RUN(damping_ratio),
          RUN(of_a_range_and_inheritrange_the_nearer_one_counts),
          RUN(a_range_the_wrong_way_round_is_told), RUN(contacts_and_options),
          RUN(keyframes_and_mocap), RUN(custom_entries_for_us), RUN(flags_switch_off),
          RUN(unsupported_parts_are_reported_once), RUN(builtin_meshes),
          RUN(skip_meshes_leaves_their_geoms_out), RUN(what_mujoco_takes_in_silence_is_a_warning),
          RUN(every_allocation_may_fail))
