/* Inertia of shapes: numbers worked out by hand, MuJoCo's numbers, and pieces that must add up. */
#include "test.h"

#include "math/quat.h"
#include "model/inertia.h"
#include "model/principal.h"
#include "model/solids.h"

/* ---- against MuJoCo 3.x, density 700 ----------------------------------------------------------
 */

typedef struct reference {
    rb_geom_type type;
    int shell;
    double size[3];
    double mass, I[3];
} reference;

/* body_mass and the inertia in body axes that MuJoCo computes for one geom of density 700 */
static const reference references[] = {
    { RB_GEOM_SPHERE,
      0,
      { 0.3 },
      79.168134870462794,
      { 2.8500528553366604, 2.8500528553366604, 2.8500528553366604 } },
    { RB_GEOM_CAPSULE,
      0,
      { 0.2, 0.35 },
      85.032441157163746,
      { 7.6104034835661576, 7.6104034835661576, 1.60681992255606 } },
    { RB_GEOM_ELLIPSOID,
      0,
      { 0.2, 0.3, 0.45 },
      79.168134870462794,
      { 4.6313358899220729, 3.8396545412174463, 2.0583715066320325 } },
    { RB_GEOM_CYLINDER,
      0,
      { 0.25, 0.4 },
      109.95574287564276,
      { 7.5823647691328659, 7.5823647691328659, 3.4361169648638361 } },
    { RB_GEOM_BOX,
      0,
      { 0.1, 0.25, 0.4 },
      56.000000000000014,
      { 4.1533333333333351, 3.1733333333333351, 1.3533333333333337 } },
    { RB_GEOM_SPHERE,
      1,
      { 0.3 },
      791.68134870462791,
      { 47.500880922277673, 47.500880922277673, 47.500880922277673 } },
    { RB_GEOM_CAPSULE,
      1,
      { 0.2, 0.35 },
      967.61053730565629,
      { 114.57388407641974, 114.57388407641974, 34.012976462865495 } },
    { RB_GEOM_ELLIPSOID,
      1,
      { 0.2, 0.3, 0.45 },
      862.04804241420015,
      { 74.930332880467176, 63.043120491318405, 38.746941591147333 } },
    { RB_GEOM_CYLINDER,
      1,
      { 0.25, 0.4 },
      1154.535300194249,
      { 122.68082936885517, 122.68082936885517, 63.568163849980969 } },
    { RB_GEOM_BOX,
      1,
      { 0.1, 0.25, 0.4 },
      924.0,
      { 92.796666666666681, 71.026666666666685, 35.396666666666668 } },
};

TEST(primitives_are_mujocos)
{
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        TEST_SEED(i);
        const reference *r = &references[i];
        rb_inertia body = rb_solid(r->type, r->size, r->shell);
        CHECK_NEAR(700.0 * body.mass, r->mass, 1e-12 * r->mass);

        /* MuJoCo's hollow ellipsoid is a difference of two full ones: ten digits */
        double tol = r->type == RB_GEOM_ELLIPSOID && r->shell ? 1e-9 : 1e-12;
        for (int k = 0; k < 3; k++) CHECK_NEAR(700.0 * body.I[k], r->I[k], tol * r->I[k]);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(body.com[k], 0.0, 0.0);
            CHECK_NEAR(body.I[3 + k], 0.0, 0.0);
        }
    }
}

TEST(planes_and_height_fields_have_no_mass)
{
    static const double size[3] = { 1.0, 1.0, 1.0 };
    CHECK_NEAR(rb_solid(RB_GEOM_PLANE, size, 0).mass, 0.0, 0.0);
    CHECK_NEAR(rb_solid(RB_GEOM_HFIELD, size, 0).mass, 0.0, 0.0);
}

/* ---- sums over small cubes: a second method for the full shapes -------------------------------
 */

static int is_inside(rb_geom_type type, const double s[3], double x, double y, double z)
{
    double r2 = x * x + y * y, cap = fmax(fabs(z) - s[1], 0.0);
    switch (type) {
    case RB_GEOM_SPHERE:
        return r2 + z * z <= s[0] * s[0];
    case RB_GEOM_CAPSULE:
        return r2 + cap * cap <= s[0] * s[0];
    case RB_GEOM_ELLIPSOID:
        return x * x / (s[0] * s[0]) + y * y / (s[1] * s[1]) + z * z / (s[2] * s[2]) <= 1.0;
    case RB_GEOM_CYLINDER:
        return r2 <= s[0] * s[0] && fabs(z) <= s[1];
    default:
        return fabs(x) <= s[0] && fabs(y) <= s[1] && fabs(z) <= s[2];
    }
}

TEST(full_shapes_are_sums_over_cubes)
{
    for (int i = 0; i < 5; i++) {
        const reference *r = &references[i];
        enum { N = 120 };
        double reach = 0.6, h = 2.0 * reach / N, volume = 0.0, I[3] = { 0.0 };
        for (int c = 0; c < N * N * N; c++) {
            double x = -reach + h * (c % N + 0.5), y = -reach + h * (c / N % N + 0.5),
                   z = -reach + h * (c / N / N + 0.5);
            if (!is_inside(r->type, r->size, x, y, z)) continue;
            volume += h * h * h;
            I[0] += h * h * h * (y * y + z * z);
            I[1] += h * h * h * (x * x + z * z);
            I[2] += h * h * h * (x * x + y * y);
        }
        rb_inertia body = rb_solid(r->type, r->size, 0);
        CHECK_NEAR(body.mass, volume, 0.02 * volume);
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(body.I[k] / body.mass, I[k] / volume, 0.02 * I[k] / volume);
    }
}

/* ---- meshes -----------------------------------------------------------------------------------
 */

/* A tetrahedron with a dent, as MuJoCo keeps it: vertices rounded to float. */
static const double dent_vert[15] = { 0.0, 0.0, 0.0, 1.0, 0.0,  0.0,  0.0,         1.5,
                                      0.0, 0.0, 0.0, 2.0, 0.25, 0.25, (double)0.3f };
static const int dent_face[18] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 4, 3, 1, 2, 4, 2, 3, 4 };
static const int hull_start[5] = { 0, 3, 6, 9, 12 };
static const int hull_loop[12] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };

static rb_mesh_def dented(void)
{
    rb_mesh_def mesh = rb_mesh_default();
    mesh.nvert = 5;
    mesh.nface = 6;
    mesh.vert = dent_vert;
    mesh.face = dent_face;
    mesh.hull = (rb_hull_def){ 4, 4, 12, dent_vert, hull_start, hull_loop };
    return mesh;
}

TEST(meshes_are_mujocos)
{
    /* mass, com, inertia xx yy zz xy xz yz of the body with the mesh at pos 0.1 0.2 0.3, quat
     * 0.5 0.1 0.2 0.3 */
    static const struct {
        rb_mesh_inertia how;
        double mass, com[3], I[6];
    } expected[] = {
        { RB_MESH_LEGACY,
          300.92841688911614,
          { 0.25471071356747255, 0.61253154709249147, 0.74908892211055633 },
          { 38.612656809706721, 72.039204919389363, 49.988273924817925, 9.0511187763534906,
            -10.043833304892889, 6.5704727769033351 } },
        { RB_MESH_EXACT,
          198.33333541949585,
          { 0.24436274412009681, 0.55838989595040689, 0.74113876277610768 },
          { 26.211242448985193, 48.549395348705453, 32.734056904717363, 5.9298255918032181,
            -6.8889691204000778, 3.7729646647485255 } },
        { RB_MESH_CONVEX,
          350.0,
          { 0.26666666666666672, 0.62628205128205128, 0.79358974358974366 },
          { 46.54513890786842, 85.046433269961142, 58.720927822169813, 10.283119704533652,
            -12.040598299161591, 6.7149489728006033 } },
        { RB_MESH_SHELL,
          3848.4704861621531,
          { 0.28470393711607866, 0.59935292015183461, 0.85221866175178707 },
          { 798.75317261622831, 1532.1096739612749, 1042.6044932092095, 193.6167965299849,
            -212.48318007595014, 134.44706975117043 } },
    };
    static const double pos[3] = { 0.1, 0.2, 0.3 };
    double quat[4] = { 0.5, 0.1, 0.2, 0.3 }, R[9];
    rb_quat_normalize(quat);
    rb_quat_to_rot(quat, R);
    rb_mesh_def mesh = dented();
    for (int i = 0; i < 4; i++) {
        rb_inertia body;
        CHECK_STR(rb_mesh_solid(&mesh, expected[i].how, &body), NULL);
        rb_inertia_rough(body.I);
        rb_inertia_move(pos, R, &body);
        CHECK_NEAR(700.0 * body.mass, expected[i].mass, 1e-12 * expected[i].mass);
        for (int k = 0; k < 3; k++) CHECK_NEAR(body.com[k], expected[i].com[k], 1e-12);
        for (int k = 0; k < 6; k++) {
            CHECK_NEAR(700.0 * body.I[k], expected[i].I[k], 1e-13 * expected[i].I[1]);
        }
    }
}

/* A box of triangles is a box, wherever it stands, for every way to measure it. */
TEST(mesh_of_a_box_is_a_box)
{
    static const int face[36] = { 0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                  2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5 };
    static const int start[7] = { 0, 4, 8, 12, 16, 20, 24 };
    static const int loop[24] = { 0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4,
                                  2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5 };
    static const double size[3] = { 0.1, 0.25, 0.4 }, at[3] = { 3.0, -2.0, 5.0 };
    double vert[24];
    for (int i = 0; i < 8; i++) {
        vert[3 * i] = at[0] + (i & 1 ? size[0] : -size[0]);
        vert[3 * i + 1] = at[1] + (i & 2 ? size[1] : -size[1]);
        vert[3 * i + 2] = at[2] + (i & 4 ? size[2] : -size[2]);
    }
    rb_mesh_def mesh = rb_mesh_default();
    mesh.nvert = 8;
    mesh.nface = 12;
    mesh.vert = vert;
    mesh.face = face;
    mesh.hull = (rb_hull_def){ 8, 6, 24, vert, start, loop };
    for (int how = RB_MESH_LEGACY; how <= RB_MESH_SHELL; how++) {
        rb_inertia box = rb_solid(RB_GEOM_BOX, size, how == RB_MESH_SHELL), body;
        CHECK_STR(rb_mesh_solid(&mesh, (rb_mesh_inertia)how, &body), NULL);
        CHECK_NEAR(body.mass, box.mass, 1e-14);
        for (int k = 0; k < 3; k++) CHECK_NEAR(body.com[k], at[k], 1e-14);
        for (int k = 0; k < 6; k++) CHECK_NEAR(body.I[k], box.I[k], 1e-14);
    }
}

TEST(meshes_without_inertia_say_why)
{
    rb_inertia body;
    rb_mesh_def mesh = dented();
    int inwards[18];
    for (int i = 0; i < 18; i += 3) {
        inwards[i] = dent_face[i];
        inwards[i + 1] = dent_face[i + 2];
        inwards[i + 2] = dent_face[i + 1];
    }
    mesh.face = inwards;
    CHECK_CONTAINS(rb_mesh_solid(&mesh, RB_MESH_EXACT, &body), "look inwards");
    CHECK_STR(rb_mesh_solid(&mesh, RB_MESH_LEGACY, &body), NULL);
    mesh = dented();
    mesh.nface = 1;
    CHECK_CONTAINS(rb_mesh_solid(&mesh, RB_MESH_LEGACY, &body), "no volume");
    CHECK_STR(rb_mesh_solid(&mesh, RB_MESH_SHELL, &body), NULL);
    mesh.nface = 0;
    CHECK_CONTAINS(rb_mesh_solid(&mesh, RB_MESH_LEGACY, &body), "no faces");
    mesh = dented();
    mesh.hull.nvert = 0;
    CHECK_CONTAINS(rb_mesh_solid(&mesh, RB_MESH_CONVEX, &body), "no hull");
    static const int flat[3] = { 0, 0, 0 };
    mesh.face = flat;
    mesh.nface = 1;
    CHECK_CONTAINS(rb_mesh_solid(&mesh, RB_MESH_SHELL, &body), "no surface");
}

/* ---- sums and moves ---------------------------------------------------------------------------
 */

TEST(a_box_is_the_sum_of_its_halves)
{
    static const double whole_size[3] = { 0.3, 0.2, 0.1 }, half_size[3] = { 0.15, 0.2, 0.1 };
    static const double left[3] = { -0.15, 0.0, 0.0 }, right[3] = { 0.15, 0.0, 0.0 };
    static const double identity[9] = { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 };
    rb_inertia whole = rb_solid(RB_GEOM_BOX, whole_size, 0), sum = { 0 };
    rb_inertia a = rb_solid(RB_GEOM_BOX, half_size, 0), b = a;
    rb_inertia_move(left, identity, &a);
    rb_inertia_move(right, identity, &b);
    rb_inertia_add(&sum, &a);
    rb_inertia_add(&sum, &b);
    CHECK_NEAR(sum.mass, whole.mass, 1e-16);
    for (int k = 0; k < 3; k++) CHECK_NEAR(sum.com[k], 0.0, 1e-16);
    for (int k = 0; k < 6; k++) CHECK_NEAR(sum.I[k], whole.I[k], 1e-16);
}

/* Massless bodies add their inertia and leave the com alone. */
TEST(adding_nothing_changes_nothing)
{
    rb_inertia body = { 2.0, { 1.0, 2.0, 3.0 }, { 4.0, 5.0, 6.0, 0.1, 0.2, 0.3 } }, sum = body;
    rb_inertia nothing = { 0 };
    rb_inertia_add(&sum, &nothing);
    CHECK(memcmp(&sum, &body, sizeof sum) == 0);
    rb_inertia_add(&nothing, &body);
    CHECK(memcmp(&nothing, &body, sizeof sum) == 0);
}

/* Moment of a rod about its end: m L^2 / 3; far away m d^2 dominates without spoiling digits. */
TEST(moment_about_an_axis)
{
    static const double size[3] = { 0.5, 1e-9, 1e-9 }, end[3] = { -0.5, 0.0, 0.0 };
    static const double z[3] = { 0.0, 0.0, 1.0 }, origin[3] = { 0.0, 0.0, 0.0 };
    rb_inertia rod = rb_solid(RB_GEOM_BOX, size, 0);
    CHECK_NEAR(rb_inertia_about(&rod, end, z) / rod.mass, 1.0 / 3.0, 1e-15);
    CHECK_NEAR(rb_inertia_about(&rod, origin, z) / rod.mass, 1.0 / 12.0, 1e-15);
}

TEST_MAIN(RUN(primitives_are_mujocos), RUN(planes_and_height_fields_have_no_mass),
          RUN(full_shapes_are_sums_over_cubes), RUN(meshes_are_mujocos),
          RUN(mesh_of_a_box_is_a_box), RUN(meshes_without_inertia_say_why),
          RUN(a_box_is_the_sum_of_its_halves), RUN(adding_nothing_changes_nothing),
          RUN(moment_about_an_axis))
