/* Convex hulls: polygons of known bodies, properties on random points, degenerate input, and which
 * meshes of a model get one. */
#include "test.h"

#include "io/hull.h"
#include "rattleback/load.h"

/* ---- what must hold for every hull ---- */

static const double *corner_of(const rb_hull_def *h, int f, int i)
{
    return h->vert + 3 * h->loop[h->start[f] + i];
}

static int corners_of(const rb_hull_def *h, int f)
{
    return h->start[f + 1] - h->start[f];
}

/* Newell's normal, written anew: twice the area. */
static void area_vector(const rb_hull_def *h, int f, double n[3])
{
    n[0] = n[1] = n[2] = 0.0;
    int count = corners_of(h, f);
    for (int i = 0; i < count; i++) {
        const double *a = corner_of(h, f, i), *b = corner_of(h, f, (i + 1) % count);
        n[0] += (a[1] - b[1]) * (a[2] + b[2]);
        n[1] += (a[2] - b[2]) * (a[0] + b[0]);
        n[2] += (a[0] - b[0]) * (a[1] + b[1]);
    }
}

/* Largest distance of the points above the faces; faces without area by rounding say nothing. */
static double excess(const rb_hull_def *h, int npoint, const double *point, double size)
{
    double worst = 0.0;
    for (int f = 0; f < h->nface; f++) {
        double n[3];
        area_vector(h, f, n);
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        if (length < 1e-6 * size * size) continue;
        const double *o = corner_of(h, f, 0);
        for (int p = 0; p < npoint; p++) {
            double d = 0.0;
            for (int k = 0; k < 3; k++) d += n[k] / length * (point[3 * p + k] - o[k]);
            worst = fmax(worst, d);
        }
    }
    return worst;
}

static int has_edge(const rb_hull_def *h, int a, int b)
{
    for (int f = 0; f < h->nface; f++) {
        int count = corners_of(h, f);
        for (int i = 0; i < count; i++)
            if (h->loop[h->start[f] + i] == a && h->loop[h->start[f] + (i + 1) % count] == b)
                return 1;
    }
    return 0;
}

/* Closed, outside out, Euler's formula, vertices among the points in their order. */
static void check_hull(const rb_hull_def *h, int npoint, const double *point, double size,
                       double tol)
{
    CHECK_INT(h->start[0], 0);
    CHECK_INT(h->start[h->nface], h->nloop);
    CHECK_INT(h->nloop % 2, 0);
    CHECK_INT(h->nvert - h->nloop / 2 + h->nface, 2);
    for (int f = 0; f < h->nface; f++) {
        int count = corners_of(h, f);
        CHECK(count >= 3);
        for (int i = 0; i < count && h->nloop < 2000; i++)
            CHECK(has_edge(h, h->loop[h->start[f] + (i + 1) % count], h->loop[h->start[f] + i]));
    }
    CHECK(rb_io_hull_volume(h) > 0.0);
    CHECK(excess(h, npoint, point, size) <= tol * size);

    int p = 0;
    for (int v = 0; v < h->nvert; v++, p++) {
        while (p < npoint && memcmp(point + 3 * p, h->vert + 3 * v, 3 * sizeof *point) != 0) p++;
        CHECK(p < npoint);
    }
}

static rb_io_hull build(int npoint, const double *point, double size)
{
    rb_io_hull hull;
    rb_error err = { 0 };
    if (rb_io_hull_build(npoint, point, NULL, &hull, &err) != RB_OK)
        test_fail(__FILE__, __LINE__, "refused: %s", err.text);
    check_hull(&hull.def, npoint, point, size, 1e-12);
    return hull;
}

/* ---- known bodies ---- */

/* A grid of 5^3 points of a box: corners, points inside edges, inside faces, inside the body. */
TEST(a_box_of_many_points_has_six_faces)
{
    double point[125 * 3];
    for (int i = 0; i < 125; i++) {
        point[3 * i] = 0.25 * (i % 5) - 3.0;
        point[3 * i + 1] = 0.3 * (i / 5 % 5);
        point[3 * i + 2] = 0.7 * (i / 25) + 1.0 / 3.0;
    }
    rb_io_hull hull = build(125, point, 3.0);
    CHECK_INT(hull.def.nvert, 8);
    CHECK_INT(hull.def.nface, 6);
    CHECK_INT(hull.def.nloop, 24);
    CHECK_NEAR(rb_io_hull_volume(&hull.def), 1.0 * 1.2 * 2.8, 1e-14);
    CHECK_INT(rb_io_hull_triangle_count(&hull.def), 12);
    rb_io_hull_free(&hull);
}

/* The same box, turned: its faces are flat to rounding only. */
TEST(a_turned_box_keeps_its_six_faces)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        double q[4], n = 0.0, point[125 * 3];
        for (int i = 0; i < 4; i++) q[i] = rb_rng_normal(&rng), n += q[i] * q[i];
        for (int i = 0; i < 4; i++) q[i] /= sqrt(n);
        double R[9] = { 1 - 2 * (q[2] * q[2] + q[3] * q[3]), 2 * (q[1] * q[2] - q[0] * q[3]),
                        2 * (q[1] * q[3] + q[0] * q[2]),     2 * (q[1] * q[2] + q[0] * q[3]),
                        1 - 2 * (q[1] * q[1] + q[3] * q[3]), 2 * (q[2] * q[3] - q[0] * q[1]),
                        2 * (q[1] * q[3] - q[0] * q[2]),     2 * (q[2] * q[3] + q[0] * q[1]),
                        1 - 2 * (q[1] * q[1] + q[2] * q[2]) };
        for (int i = 0; i < 125; i++) {
            double p[3] = { 0.25 * (i % 5), 0.3 * (i / 5 % 5), 0.7 * (i / 25) };
            for (int k = 0; k < 3; k++)
                point[3 * i + k] = R[3 * k] * p[0] + R[3 * k + 1] * p[1] + R[3 * k + 2] * p[2];
        }
        rb_io_hull hull = build(125, point, 3.0);
        CHECK_INT(hull.def.nvert, 8);
        CHECK_INT(hull.def.nface, 6);
        rb_io_hull_free(&hull);
    }
}

TEST(a_prism_has_two_polygons_and_a_belt)
{
    enum { SIDES = 100 };
    double point[2 * SIDES * 3];
    for (int i = 0; i < 2 * SIDES; i++) {
        double angle = 2.0 * acos(-1.0) * (i / 2) / SIDES;
        point[3 * i] = cos(angle);
        point[3 * i + 1] = sin(angle);
        point[3 * i + 2] = i % 2;
    }
    rb_io_hull hull = build(2 * SIDES, point, 2.0);
    CHECK_INT(hull.def.nvert, 2 * SIDES);
    CHECK_INT(hull.def.nface, SIDES + 2);
    int polygons = 0;
    for (int f = 0; f < hull.def.nface; f++) polygons += corners_of(&hull.def, f) == SIDES;
    CHECK_INT(polygons, 2);

    /* fans fill the same volume */
    int *face = malloc(3 * (size_t)rb_io_hull_triangle_count(&hull.def) * sizeof *face);
    rb_io_hull_triangles(&hull.def, face);
    double sum = 0.0;
    for (int f = 0; f < rb_io_hull_triangle_count(&hull.def); f++) {
        const double *a = hull.vert + 3 * face[3 * f], *b = hull.vert + 3 * face[3 * f + 1],
                     *c = hull.vert + 3 * face[3 * f + 2];
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    CHECK_NEAR(sum / 6.0, rb_io_hull_volume(&hull.def), 1e-13);
    free(face);
    rb_io_hull_free(&hull);
}

/* ---- random points ---- */

static void make_points(uint64_t seed, int n, double size, double offset, double *point)
{
    rb_rng rng = rb_rng_make(seed);
    for (int i = 0; i < 3 * n; i++) point[i] = offset + size * rb_rng_uniform(&rng, -0.5, 0.5);
}

TEST(clouds_of_points)
{
    double point[300 * 3];
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        int n = 4 + (int)(seed % 297);
        make_points(seed, n, 1.0, 0.0, point);
        rb_io_hull hull = build(n, point, 1.0);
        rb_io_hull_free(&hull);
    }
}

/* Lattice points tie everywhere: many points in a plane, many planes through a point. */
TEST(lattice_points)
{
    double point[60 * 3];
    for (uint64_t seed = 1; seed <= 500; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        for (int i = 0; i < 60; i++)
            for (int k = 0; k < 3; k++) point[3 * i + k] = (double)(rb_rng_next(&rng) % 4) / 3.0;
        rb_io_hull hull = build(60, point, 1.0);
        CHECK(hull.def.nvert <= 60);
        rb_io_hull_free(&hull);
    }
}

/* Pairs of points on a sphere that differ by rounding or a little more: some of these have no exact
 * facets that fit, and Qhull is asked again with joggled input. */
TEST(pairs_of_nearly_equal_points)
{
    double point[320 * 3];
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int n = 20 + (int)(seed % 300);
        double noise = pow(10.0, -(8.0 + (double)(seed % 9)));
        for (int i = 0; i < n; i++) {
            double u[3], length = 0.0;
            for (int k = 0; k < 3; k++) u[k] = rb_rng_normal(&rng), length += u[k] * u[k];
            for (int k = 0; k < 3; k++)
                point[3 * i + k] =
                    i % 2 ? point[3 * i - 3 + k] * (1.0 + noise * u[k]) : u[k] / sqrt(length);
        }
        rb_io_hull hull;
        CHECK_INT(rb_io_hull_build(n, point, NULL, &hull, NULL), RB_OK);
        check_hull(&hull.def, n, point, 2.0, 1e-9);
        rb_io_hull_free(&hull);
    }
}

/* Size and place do not matter, the polygons are the same. */
TEST(scaled_and_moved_points_have_the_same_faces)
{
    double point[80 * 3], moved[80 * 3];
    const double scale[] = { 0x1p-40, 0x1p40, 0x1p-600 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        TEST_SEED(seed);
        make_points(seed, 80, 1.0, 0.0, point);
        rb_io_hull hull = build(80, point, 1.0);
        for (int s = 0; s < 3; s++) {
            for (int i = 0; i < 240; i++) moved[i] = scale[s] * point[i];
            rb_io_hull other;
            CHECK_INT(rb_io_hull_build(80, moved, NULL, &other, NULL), RB_OK);
            CHECK_INT(other.def.nvert, hull.def.nvert);
            CHECK_INT(other.def.nloop, hull.def.nloop);
            CHECK(memcmp(other.loop, hull.loop, (size_t)hull.def.nloop * sizeof(int)) == 0);
            rb_io_hull_free(&other);
        }
        rb_io_hull_free(&hull);
    }
}

/* ---- flat and worse ---- */

static void check_refused(int n, const double *point, const char *says)
{
    rb_io_hull hull;
    rb_error err = { 0 };
    CHECK_INT(rb_io_hull_build(n, point, NULL, &hull, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, says);
    CHECK(hull.vert == NULL && hull.def.nvert == 0);
    rb_io_hull_free(&hull);
}

TEST(points_without_volume_are_refused)
{
    double point[100 * 3] = { 0 };
    check_refused(0, point, "four or more");
    check_refused(3, point, "four or more");
    check_refused(100, point, "no extent");

    /* on a line, in a plane, in a turned plane with coordinates rounded to float */
    for (int i = 0; i < 100; i++) point[3 * i] = i;
    check_refused(100, point, "in a plane");
    for (int i = 0; i < 100; i++) point[3 * i + 1] = i * i % 17;
    check_refused(100, point, "in a plane");
    for (int i = 0; i < 100; i++)
        point[3 * i + 2] = (double)(float)(0.3 * point[3 * i] + 0.7 * point[3 * i + 1]);
    check_refused(100, point, "in a plane");

    /* a line with noise: volume and surface are rounding alone */
    rb_rng rng = rb_rng_make(23);
    for (int i = 0; i < 300; i++) point[i] = i / 3 % 5 * 0.25 + 1e-13 * rb_rng_normal(&rng);
    check_refused(100, point, "in a plane");

    double huge[12] = { -1e308, 0, 0, 1e308, 0, 0, 0, 1, 0, 0, 0, 1 };
    check_refused(4, huge, "not finite");
}

TEST(thin_bodies_are_bodies)
{
    for (int needle = 0; needle < 2; needle++) {
        double point[8 * 3], thin = 1e-5;
        for (int i = 0; i < 8; i++) {
            point[3 * i] = i & 1;
            point[3 * i + 1] = (i >> 1 & 1) * (needle ? thin : 1.0);
            point[3 * i + 2] = (i >> 2 & 1) * thin;
        }
        rb_io_hull hull = build(8, point, 1.0);
        CHECK_INT(hull.def.nvert, 8);
        CHECK_INT(hull.def.nface, 6);
        rb_io_hull_free(&hull);
    }
}

/* Our own memory fails in turn; Qhull takes its from libc and answers for it itself. */
TEST(every_allocation_may_fail)
{
    double point[50 * 3];
    make_points(7, 50, 1.0, 0.0, point);
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_io_hull hull;
        rb_error err = { 0 };
        rb_status status = rb_io_hull_build(50, point, &alloc, &hull, &err);
        rb_io_hull_free(&hull);
        CHECK_INT(memory.live, 0);
        if (memory.requests < k) {
            CHECK_INT(status, RB_OK);
            CHECK(k > 5);
            break;
        }
        CHECK_INT(status, RB_NOMEM);
        CHECK_INT(err.status, RB_NOMEM);
    }
}

/* ---- meshes of a model ---- */

/* A cube of side 1 with a pyramid of depth `dent` cut into its top. */
static int add_cube(rb_spec *spec, const char *name, double dent)
{
    double vert[9 * 3];
    static const int face[] = { 0, 2, 1, 1, 2, 3, 0, 1, 4, 1, 5, 4, 1, 3, 5, 3, 7, 5, 3, 2, 7,
                                2, 6, 7, 2, 0, 6, 0, 4, 6, 4, 5, 8, 5, 7, 8, 7, 6, 8, 6, 4, 8 };
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) vert[3 * i + k] = i >> k & 1;
    vert[24] = vert[25] = 0.5;
    vert[26] = 1.0 - dent;
    rb_mesh_def mesh = rb_mesh_default();
    mesh.where = (rb_where){ "cube.xml", 12 };
    mesh.name = name;
    mesh.nvert = 9;
    mesh.nface = 14;
    mesh.vert = vert;
    mesh.face = face;
    return rb_spec_add_mesh(spec, &mesh, NULL);
}

static int add_plane(rb_spec *spec)
{
    static const double vert[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0 };
    static const int face[] = { 0, 1, 2, 1, 3, 2 };
    rb_mesh_def mesh = rb_mesh_default();
    mesh.where = (rb_where){ "ground.xml", 34 };
    mesh.name = "ground";
    mesh.nvert = 4;
    mesh.nface = 2;
    mesh.vert = vert;
    mesh.face = face;
    return rb_spec_add_mesh(spec, &mesh, NULL);
}

/* A body below `parent`, with a hinge where it moves; returns its index. */
static int add_body(rb_spec *spec, int parent, int moves)
{
    rb_body_def body = rb_body_default();
    body.parent = parent;
    int index = rb_spec_add_body(spec, &body, NULL);
    rb_joint_def joint = rb_joint_default();
    joint.body = index;
    if (moves) rb_spec_add_joint(spec, &joint, NULL);
    return index;
}

static int add_geom(rb_spec *spec, int body, int mesh, int touches)
{
    rb_geom_def geom = rb_geom_default();
    geom.type = RB_GEOM_MESH;
    geom.body = body;
    geom.asset = mesh;
    geom.contype = geom.conaffinity = touches;
    return rb_spec_add_geom(spec, &geom, NULL);
}

static int hull_size(rb_spec *spec, int mesh)
{
    return rb_spec_mesh(spec, mesh)->hull.nvert;
}

TEST(meshes_that_touch_get_hulls)
{
    rb_spec *spec = rb_spec_new(NULL);
    int unused = add_cube(spec, "unused", 0.0), shown = add_cube(spec, "shown", 0.5);
    int moving = add_cube(spec, "moving", 0.0), fixed = add_cube(spec, "fixed", 0.5);
    int paired = add_cube(spec, "paired", 0.0), massive = add_cube(spec, "massive", 0.0);
    int ground = add_plane(spec);
    int arm = add_body(spec, 0, 1), hand = add_body(spec, arm, 0), base = add_body(spec, 0, 0);
    rb_spec_mesh(spec, massive)->inertia = RB_MESH_CONVEX;
    add_geom(spec, hand, shown, 0);
    add_geom(spec, hand, moving, 1);
    add_geom(spec, base, fixed, 1);
    add_geom(spec, base, ground, 1);
    add_geom(spec, hand, massive, 0);
    rb_pair_def pair = rb_pair_default();
    pair.geom1 = add_geom(spec, hand, paired, 0);
    pair.geom2 = 1;
    rb_spec_add_pair(spec, &pair, NULL);

    CHECK_INT(rb_spec_hulls(spec, NULL), RB_OK);
    CHECK_INT(hull_size(spec, unused), 0);
    CHECK_INT(hull_size(spec, shown), 0);
    CHECK_INT(hull_size(spec, moving), 8);
    CHECK_INT(hull_size(spec, fixed), 8);
    CHECK_INT(hull_size(spec, paired), 8);
    CHECK_INT(hull_size(spec, massive), 8);
    CHECK_INT(hull_size(spec, ground), 0);
    CHECK_INT(rb_spec_warning_count(spec), 1); /* the fixed one is dented */
    CHECK_CONTAINS(rb_spec_warning(spec, 0)->text, "\"fixed\" is not convex");

    /* those that are there stay */
    const double *before = rb_spec_mesh(spec, moving)->hull.vert;
    CHECK_INT(rb_spec_hulls(spec, NULL), RB_OK);
    CHECK(rb_spec_mesh(spec, moving)->hull.vert == before);
    rb_spec_free(spec);
}

TEST(a_moving_mesh_that_is_not_convex_is_named)
{
    rb_spec *spec = rb_spec_new(NULL);
    int dented = add_cube(spec, "dented", 0.5);
    add_geom(spec, add_body(spec, 0, 1), dented, 1);
    CHECK_INT(rb_spec_hulls(spec, NULL), RB_OK);
    CHECK_INT(hull_size(spec, dented), 8);
    CHECK_INT(rb_spec_warning_count(spec), 1);
    const rb_warning *warning = rb_spec_warning(spec, 0);
    CHECK_CONTAINS(warning->text, "\"dented\" is not convex (83.3 %");
    CHECK_STR(warning->where.file, "cube.xml");
    CHECK_INT(warning->where.line, 12);
    CHECK_INT(warning->physics, 2);
    rb_spec_free(spec);

    /* a groove below one percent passes */
    spec = rb_spec_new(NULL);
    add_geom(spec, add_body(spec, 0, 1), add_cube(spec, "scratched", 0.02), 1);
    CHECK_INT(rb_spec_hulls(spec, NULL), RB_OK);
    CHECK_INT(rb_spec_warning_count(spec), 0);
    rb_spec_free(spec);
}

TEST(a_moving_mesh_without_volume_is_refused)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    add_geom(spec, add_body(spec, 0, 1), add_plane(spec), 1);
    CHECK_INT(rb_spec_hulls(spec, &err), RB_BAD_INPUT);
    CHECK_STR(err.file, "ground.xml");
    CHECK_INT(err.line, 34);
    CHECK_CONTAINS(err.text, "mesh \"ground\": the points lie in a plane");
    rb_spec_free(spec);
}

TEST(every_allocation_of_a_model_may_fail)
{
    for (long k = 1;; k++) {
        test_memory memory = { 0 };
        rb_alloc alloc = test_alloc(&memory);
        rb_spec *spec = rb_spec_new(&alloc);
        add_geom(spec, add_body(spec, 0, 1), add_cube(spec, "dented", 0.5), 1);
        long before = memory.requests;
        memory.fail_at = before + k;
        rb_error err = { 0 };
        rb_status status = rb_spec_hulls(spec, &err);
        long asked = memory.requests - before;
        rb_spec_free(spec);
        CHECK_INT(memory.live, 0);
        if (asked < k) {
            CHECK_INT(status, RB_OK);
            break;
        }
        CHECK_INT(status, RB_NOMEM);
        CHECK_INT(err.status, RB_NOMEM);
    }
}

TEST_MAIN(RUN(a_box_of_many_points_has_six_faces), RUN(a_turned_box_keeps_its_six_faces),
          RUN(a_prism_has_two_polygons_and_a_belt), RUN(clouds_of_points), RUN(lattice_points),
          RUN(pairs_of_nearly_equal_points), RUN(scaled_and_moved_points_have_the_same_faces),
          RUN(points_without_volume_are_refused), RUN(thin_bodies_are_bodies),
          RUN(every_allocation_may_fail), RUN(meshes_that_touch_get_hulls),
          RUN(a_moving_mesh_that_is_not_convex_is_named),
          RUN(a_moving_mesh_without_volume_is_refused), RUN(every_allocation_of_a_model_may_fail))
