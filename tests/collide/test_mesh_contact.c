/* What a mesh is for contacts: its hull, also on a body that does not move; its triangles where
 * that is asked for or where it has no volume; maxhullvert. */
#include "collide/shape.h"
#include "math/vec3.h"
#include "rattleback/dynamics.h"
#include "rattleback/load.h"
#include "step_support.h"

/* A groove whose flanks meet at z = -0.3; its hull ends at z = 0.3. */
#define CORNERS                                                                                    \
    "vertex='-1 -1 -0.5 1 -1 -0.5 1 -1 0.3 0 -1 -0.3 -1 -1 0.3 -1 1 -0.5 "                         \
    "1 1 -0.5 1 1 0.3 0 1 -0.3 -1 1 0.3' face='0 1 2 0 2 3 0 3 4 5 7 6 5 8 7 5 9 8 0 6 1 0 5 6 "   \
    "1 7 2 1 6 7 2 8 3 2 7 8 3 9 4 3 8 9 4 5 0 4 9 5'/>"
#define GROOVE "<mesh name='groove' " CORNERS "<mesh name='coarse' maxhullvert='4' " CORNERS
#define SHEET                                                                                      \
    "<mesh name='sheet' inertia='shell' vertex='-1 -1 0 1 -1 0 1 1 0 -1 1 0.0' face='0 1 2 0 2 "   \
    "3'/>"

#define ASK "<custom><numeric name='rb.surface/ground' data='1'/></custom>"

/* A ball of radius 0.1 at z = 0.15 above the ground. */
static rb_spec *read_ground(const char *ground, const char *custom, const char *joint)
{
    char text[4096];
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    snprintf(text, sizeof text,
             "<mujoco><asset>" GROOVE SHEET "</asset>%s<worldbody><body name='base'>%s<geom "
             "name='ground' %s mass='1'/></body><body pos='0 0 0.15'><freejoint/>"
             "<geom size='0.1'/></body></worldbody></mujoco>",
             custom, joint, ground);
    rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, &o, NULL, &err);
    if (!spec) test_fail(__FILE__, __LINE__, "%d: %s", err.line, err.text);
    CHECK_INT(rb_spec_hulls(spec, &err), RB_OK);
    return spec;
}

/* Gap of ground and ball, and whether the ground is its triangles. */
static double gap_of(const char *ground, const char *custom, int *triangles)
{
    rb_error err = { 0 };
    scene s = scene_of(read_ground(ground, custom, ""), &err);
    rb_kinematics(s.m, s.d);
    rb_frames(s.m, s.d);
    rb_shape a = rb_geom_shape(s.m, s.d, 0), b = rb_geom_shape(s.m, s.d, 1);
    rb_manifold out = { .most = 1 };
    CHECK_INT(rb_pair_manifold(&a, &b, 1.0, &out), RB_OK);
    CHECK(out.n > 0);
    double gap = out.point[0].gap;
    for (int i = 1; i < out.n; i++) gap = fmin(gap, out.point[i].gap);
    *triangles = s.m->geom_triangles[0];
    scene_free(&s);
    return gap;
}

TEST(a_mesh_that_does_not_move_is_its_hull)
{
    int triangles;
    CHECK_NEAR(gap_of("type='mesh' mesh='groove'", "", &triangles), 0.15 - 0.1 - 0.3, 1e-6);
    CHECK_INT(triangles, 0);
    const char *off = "<custom><numeric name='rb.surface/ground' data='0'/></custom>";
    CHECK_NEAR(gap_of("type='mesh' mesh='groove'", off, &triangles), 0.15 - 0.1 - 0.3, 1e-6);
    CHECK_INT(triangles, 0);
}

TEST(its_surface_is_asked_for_by_name)
{
    int triangles;
    double flank =
        0.45 / sqrt(1.36); /* distance of the centre from the flanks, which rise by 0.6 */
    CHECK_NEAR(gap_of("type='mesh' mesh='groove'", ASK, &triangles), flank - 0.1, 1e-6);
    CHECK_INT(triangles, 1);
}

/* The hull that maxhullvert ended does not enclose the mesh: what is far of it may touch. */
TEST(a_coarse_hull_hides_no_triangle)
{
    int triangles;
    double fine = gap_of("type='mesh' mesh='groove'", ASK, &triangles);
    CHECK_NEAR(gap_of("type='mesh' mesh='coarse'", ASK, &triangles), fine, 0.0);
    CHECK_INT(triangles, 1);
}

TEST(a_mesh_without_volume_is_its_triangles)
{
    int triangles;
    CHECK_NEAR(gap_of("type='mesh' mesh='sheet'", "", &triangles), 0.05, 1e-12);
    CHECK_INT(triangles, 1);
}

static void check_refused(const char *ground, const char *joint, const char *part)
{
    rb_error err = { 0 };
    rb_spec *spec = read_ground(ground, ASK, joint);
    CHECK(rb_spec_compile(spec, NULL, &err) == NULL);
    CHECK_INT(err.status, RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, part);
    CHECK_CONTAINS(err.text, "ground");
    rb_spec_free(spec);
}

TEST(surfaces_that_cannot_be_are_refused)
{
    check_refused("type='mesh' mesh='groove'", "<joint/>", "its body moves");
    check_refused("type='box' size='1 1 1'", "", "expected a mesh");
}

TEST(a_static_mesh_that_is_not_convex_is_named)
{
    const char *custom[] = { "", ASK };
    for (int k = 0; k < 2; k++) {
        rb_spec *spec = read_ground("type='mesh' mesh='groove'", custom[k], "");
        int named = 0;
        for (int i = 0; i < rb_spec_warning_count(spec); i++)
            named += strstr(rb_spec_warning(spec, i)->text, "rb.surface/GEOM") != NULL;
        CHECK_INT(named, k == 0);
        rb_spec_free(spec);
    }
}

/* Two cubes as meshes, the upper one falls on the lower one. */
#define CUBE "vertex='-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 1 1 1'"
static const char cubes[] =
    "<mujoco><asset><mesh name='cube' " CUBE "/></asset><worldbody><geom type='mesh' mesh='cube'/>"
    "<body pos='0 0 2.001'><freejoint/><geom type='mesh' mesh='cube'/></body></worldbody></mujoco>";

TEST(hulls_are_made_when_a_model_is_compiled)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_read_memory(cubes, strlen(cubes), NULL, NULL, NULL, &err);
    CHECK(spec != NULL);
    CHECK_INT(rb_spec_mesh(spec, 0)->hull.nvert, 0);
    scene s = scene_of(spec, &err);
    CHECK_INT(s.m->mesh_hullvertnum[0], 8);
    for (int i = 0; i < 100; i++) CHECK_INT(rb_step(s.m, s.d, &s.o, &s.info, &err), RB_OK);
    CHECK_NEAR(s.d->q[2], 2.0, 1e-6);
    scene_free(&s);
}

TEST(a_spec_made_by_hand_is_told_what_to_call)
{
    static const double vert[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    static const int face[] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_new(NULL);
    rb_mesh_def mesh = rb_mesh_default();
    mesh.nvert = mesh.nface = 4;
    mesh.vert = vert;
    mesh.face = face;
    CHECK_INT(rb_spec_add_mesh(spec, &mesh, &err), 0);
    for (int b = 1; b <= 2; b++) {
        rb_body_def body = rb_body_default();
        rb_joint_def joint = rb_joint_default();
        rb_geom_def geom = rb_geom_default();
        CHECK_INT(rb_spec_add_body(spec, &body, &err), b);
        joint.type = RB_JOINT_FREE;
        joint.body = geom.body = b;
        geom.type = RB_GEOM_MESH;
        geom.asset = 0;
        CHECK(rb_spec_add_joint(spec, &joint, &err) >= 0);
        CHECK(rb_spec_add_geom(spec, &geom, &err) >= 0);
    }
    scene s = scene_of(spec, &err);
    CHECK_INT(rb_step(s.m, s.d, &s.o, &s.info, &err), RB_UNSUPPORTED);
    CHECK_CONTAINS(err.text, "rb_spec_hulls(spec, &err)");
    scene_free(&s);
}

/* Points on a sphere; how many corners their hull has with this maxhullvert, 0: refused. */
static int hull_corners(const char *maxhullvert, double *volume)
{
    static char text[1 << 16];
    char *at = text;
    rb_rng rng = rb_rng_make(3);
    rb_error err = { 0 };
    at += sprintf(at, "<mujoco><asset><mesh name='ball' %s vertex='", maxhullvert);
    for (int i = 0; i < 300; i++) {
        double x[3], norm = 0.0;
        for (int k = 0; k < 3; k++) x[k] = rb_rng_normal(&rng), norm += x[k] * x[k];
        for (int k = 0; k < 3; k++) at += sprintf(at, "%.6f ", x[k] / sqrt(norm));
    }
    sprintf(at, "'/></asset><worldbody><body><freejoint/><geom type='mesh' mesh='ball'/></body>"
                "</worldbody></mujoco>");
    rb_load_opts o = rb_load_opts_default();
    rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, &o, NULL, &err);
    int count = 0;
    *volume = 0.0;
    if (!spec) return 0;
    if (rb_spec_hulls(spec, &err) == RB_OK) {
        rb_model *m = rb_spec_compile(spec, NULL, &err);
        CHECK(m != NULL);
        count = m->mesh_hullvertnum[0];
        for (int f = 0; f < m->mesh_hullfacenum[0]; f++) {
            const int *loop = m->hull_loop + m->hull_loopadr[f];
            for (int i = 1; i + 1 < m->hull_loopnum[f]; i++) {
                double n[3];
                rb_cross3(m->hull_vert + 3 * loop[i], m->hull_vert + 3 * loop[i + 1], n);
                *volume += rb_dot3(m->hull_vert + 3 * loop[0], n) / 6.0;
            }
        }
        rb_model_free(m, NULL);
    }
    rb_spec_free(spec);
    return count;
}

TEST(maxhullvert_ends_the_hull)
{
    double all, some, few, none;
    CHECK_INT(hull_corners("", &all), 300);
    CHECK_INT(hull_corners("maxhullvert='-1'", &some), 300);
    CHECK_INT(hull_corners("maxhullvert='64'", &some), 64);
    CHECK_INT(hull_corners("maxhullvert='4'", &few), 4);
    CHECK(0.0 < few && few < some && some < all);
    CHECK(some > 0.8 * all);
    CHECK_INT(hull_corners("maxhullvert='3'", &none), 0);
    CHECK_INT(hull_corners("maxhullvert='0'", &none), 0);
}

TEST_MAIN(RUN(a_mesh_that_does_not_move_is_its_hull), RUN(its_surface_is_asked_for_by_name),
          RUN(a_coarse_hull_hides_no_triangle), RUN(a_mesh_without_volume_is_its_triangles),
          RUN(surfaces_that_cannot_be_are_refused), RUN(a_static_mesh_that_is_not_convex_is_named),
          RUN(maxhullvert_ends_the_hull), RUN(hulls_are_made_when_a_model_is_compiled),
          RUN(a_spec_made_by_hand_is_told_what_to_call))
