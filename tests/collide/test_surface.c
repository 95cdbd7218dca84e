/* Surfaces of triangles: a sphere against every triangle, floors without seams, bowls, ridges. */
#include "collide_support.h"

#include "rattleback/load.h"

enum { SIDE = 17, NPOINT = SIDE * SIDE, NFACE = 2 * (SIDE - 1) * (SIDE - 1) };

typedef double (*height_fn)(double x, double y);

static double flat(double x, double y)
{
    (void)x;
    (void)y;
    return 0.5;
}

static double bowl(double x, double y)
{
    return 0.25 * (x * x + y * y);
}

static double ridge(double x, double y)
{
    (void)y;
    return 0.5 - 0.3 * fabs(x - 0.25);
}

static double waves(double x, double y)
{
    return 0.5 + 0.2 * sin(5.0 * x) * cos(4.0 * y);
}

/* The same surface over -1 .. 1 twice: as height field 0 and as mesh 0, cut along the same
 * diagonals. */
static rb_model *surface_model(height_fn height)
{
    double elev[NPOINT], vert[NPOINT][3];
    int face[NFACE][3], n = 0;
    for (int r = 0; r < SIDE; r++) {
        for (int c = 0; c < SIDE; c++) {
            double x = 2.0 * c / (SIDE - 1) - 1.0, y = 2.0 * r / (SIDE - 1) - 1.0;
            int at = r * SIDE + c;
            elev[at] = height(x, y);
            vert[at][0] = x;
            vert[at][1] = y;
            vert[at][2] = elev[at];
            if (r + 1 == SIDE || c + 1 == SIDE) continue;
            int corner[2][3] = { { at, at + SIDE + 1, at + SIDE }, { at, at + 1, at + SIDE + 1 } };
            memcpy(face[n], corner, sizeof corner);
            n += 2;
        }
    }
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    rb_mesh_def mesh = rb_mesh_default();
    mesh.nvert = NPOINT;
    mesh.nface = NFACE;
    mesh.vert = &vert[0][0];
    mesh.face = &face[0][0];
    CHECK_INT(rb_spec_add_mesh(spec, &mesh, &err), 0);
    rb_hfield_def field = rb_hfield_default();
    field.nrow = field.ncol = SIDE;
    field.size[0] = field.size[1] = field.size[2] = 1.0;
    field.size[3] = 0.1;
    field.elev = elev;
    CHECK_INT(rb_spec_add_hfield(spec, &field, &err), 0);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK_STR(err.text, "");
    CHECK(m != NULL);
    rb_spec_free(spec);
    return m;
}

static const double origin[3] = { 0.0, 0.0, 0.0 };
static const double unit[9] = { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 };

static rb_shape surface_shape(const rb_model *m, int field)
{
    return (rb_shape){ .type = field ? RB_GEOM_HFIELD : RB_GEOM_MESH,
                       .size = origin,
                       .p = origin,
                       .R = unit,
                       .model = m,
                       .asset = 0,
                       .surface = !field };
}

static rb_manifold meet(const rb_model *m, int field, const body *b, double reach)
{
    rb_shape s1 = surface_shape(m, field), s2 = shape_of(b);
    rb_manifold out = { .n = 0 };
    CHECK_INT(rb_pair_manifold(&s1, &s2, reach, &out), RB_OK);
    return out;
}

/* ---- the slow method --------------------------------------------------------------------------
 */

/* Distance of a point from a segment, from a triangle: every feature in turn. */
static double to_segment(const double x[3], const double a[3], const double b[3])
{
    double u[3], r[3];
    rb_sub3(b, a, u);
    rb_sub3(x, a, r);
    double t = fmin(1.0, fmax(0.0, rb_dot3(r, u) / rb_dot3(u, u)));
    rb_axpy3(-t, u, r);
    return rb_norm3(r);
}

static double to_triangle(const double x[3], const double *a, const double *b, const double *c)
{
    double ab[3], ac[3], n[3], r[3], k[3];
    rb_sub3(b, a, ab);
    rb_sub3(c, a, ac);
    rb_cross3(ab, ac, n);
    rb_normalize3(n);
    rb_sub3(x, a, r);
    double best = fmin(to_segment(x, a, b), fmin(to_segment(x, b, c), to_segment(x, c, a)));
    const double *corner[4] = { a, b, c, a };
    int inside = 1;
    for (int i = 0; i < 3; i++) {
        double u[3], w[3];
        rb_sub3(corner[i + 1], corner[i], u);
        rb_sub3(x, corner[i], w);
        rb_cross3(u, w, k);
        inside = inside && rb_dot3(k, n) >= 0.0;
    }
    return inside ? fmin(best, fabs(rb_dot3(r, n))) : best;
}

static double to_surface(const rb_model *m, const double *x)
{
    double best = INFINITY;
    for (int f = 0; f < m->mesh_facenum[0]; f++) {
        const int *v = m->mesh_face + 3 * f;
        best = fmin(best, to_triangle(x, m->mesh_vert + 3 * v[0], m->mesh_vert + 3 * v[1],
                                      m->mesh_vert + 3 * v[2]));
    }
    return best;
}

static const height_fn surfaces[] = { flat, bowl, ridge, waves };

TEST(a_sphere_is_as_far_as_the_nearest_triangle)
{
    for (int s = 0; s < 4; s++) {
        rb_model *m = surface_model(surfaces[s]);
        for (int seed = 1; seed <= 500; seed++) {
            TEST_SEED(seed);
            rb_rng rng = rb_rng_make((uint64_t)seed);
            body b = { .type = RB_GEOM_SPHERE, .size = { 0.05, 0.0, 0.0 } };
            double x = rb_rng_uniform(&rng, -1.0, 1.0), y = rb_rng_uniform(&rng, -1.0, 1.0);
            double z = surfaces[s](x, y) + rb_rng_uniform(&rng, 0.06, 0.5);
            pose_body(&b, (double[3]){ x, y, z }, (double[4]){ 1.0, 0.0, 0.0, 0.0 });
            double slow = to_surface(m, b.p) - b.size[0];
            for (int field = 0; field < 2; field++) {
                rb_manifold found = meet(m, field, &b, 1.0);
                CHECK(found.n >= 1);
                CHECK_NEAR(closest_of(&found)->gap, slow, 1e-12);
                for (int i = 0; i < found.n; i++) {
                    CHECK_NEAR(to_surface(m, found.point[i].pos1), 0.0, 1e-12);
                }
                if (slow > 1e-3) CHECK_INT(meet(m, field, &b, slow - 1e-3).n, 0);
            }
        }
        rb_model_free(m, NULL);
    }
}

/* A closed channel: a U of walls of 0.2, extruded over y = -0.5 .. 0.5. */
static rb_model *channel(void)
{
    enum { CORNERS = 8 };
    static const double outline[CORNERS][2] = { { -1, 0 },   { 1, 0 },     { 1, 1 },
                                                { 0.8, 1 },  { 0.8, 0.2 }, { -0.8, 0.2 },
                                                { -0.8, 1 }, { -1, 1 } };
    static const int end[6][3] = { { 0, 1, 4 }, { 0, 4, 5 }, { 1, 2, 3 },
                                   { 1, 3, 4 }, { 0, 5, 6 }, { 0, 6, 7 } };
    double vert[2 * CORNERS][3];
    int face[12 + 2 * CORNERS][3], n = 0;
    for (int i = 0; i < 2 * CORNERS; i++) {
        vert[i][0] = outline[i % CORNERS][0];
        vert[i][1] = i < CORNERS ? -0.5 : 0.5;
        vert[i][2] = outline[i % CORNERS][1];
    }
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 3; k++) {
            face[n][k] = end[i][k];
            face[n + 1][k] = CORNERS + end[i][2 - k];
        }
        n += 2;
    }
    for (int i = 0; i < CORNERS; i++) {
        int j = (i + 1) % CORNERS, a = CORNERS + i, b = CORNERS + j;
        int corner[2][3] = { { i, a, b }, { i, b, j } };
        memcpy(face[n], corner, sizeof corner);
        n += 2;
    }
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    rb_mesh_def mesh = rb_mesh_default();
    mesh.nvert = 2 * CORNERS;
    mesh.nface = n;
    mesh.vert = &vert[0][0];
    mesh.face = &face[0][0];
    CHECK_INT(rb_spec_add_mesh(spec, &mesh, &err), 0);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    rb_spec_free(spec);
    return m;
}

static int is_in_wall(const double x[3])
{
    if (!(fabs(x[1]) < 0.5)) return 0;
    int floor = fabs(x[0]) < 1.0 && x[2] > 0.0 && x[2] < 0.2;
    return floor || (fabs(x[0]) > 0.8 && fabs(x[0]) < 1.0 && x[2] > 0.0 && x[2] < 1.0);
}

/* In front of a wall, or behind all of its triangles (G.26); below a sheet, which has
 * no inside, there is nothing. */
TEST(what_is_inside_a_closed_mesh_overlaps)
{
    rb_model *m = channel();
    int buried = 0;
    for (int seed = 1; seed <= 2000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make((uint64_t)seed);
        body b = { .type = RB_GEOM_SPHERE, .size = { seed % 2 ? 0.02 : 0.15, 0.0, 0.0 } };
        double x = rb_rng_uniform(&rng, -1.2, 1.2), y = rb_rng_uniform(&rng, -0.7, 0.7);
        double z = rb_rng_uniform(&rng, -0.2, 1.2);
        if (seed % 7 == 0) x = 0.8, z = 0.5 * z; /* over an edge */
        pose_body(&b, (double[3]){ x, y, z }, (double[4]){ 1.0, 0.0, 0.0, 0.0 });
        double d = to_surface(m, b.p);
        if (d < b.size[0] && is_in_wall(b.p)) continue; /* at a concave edge there are two depths */
        rb_manifold found = meet(m, 0, &b, 2.0);
        CHECK(found.n >= 1);
        CHECK_NEAR(closest_of(&found)->gap, (is_in_wall(b.p) ? -d : d) - b.size[0], 1e-12);
        buried += is_in_wall(b.p) && d > b.size[0];
    }
    CHECK(buried > 100);
    rb_model_free(m, NULL);
    m = surface_model(flat);
    body below = { .type = RB_GEOM_SPHERE, .size = { 0.05, 0.0, 0.0 } };
    pose_body(&below, (double[3]){ 0.1, 0.2, 0.3 }, (double[4]){ 1.0, 0.0, 0.0, 0.0 });
    CHECK_INT(meet(m, 0, &below, 1.0).n, 0);
    rb_model_free(m, NULL);
}

/* Any shape over a floor of triangles meets what it would meet over one plane: same gap, and all
 * normals are those of the floor. */
/* A height field is solid down to its base, which is 0.1 below its frame: a ball inside leaves
 * along the normal of the slope above it, a ball beneath the base meets nothing; the mesh is a
 * sheet. */
TEST(what_is_inside_a_height_field_overlaps)
{
    rb_model *m = surface_model(ridge);
    body b = { .type = RB_GEOM_SPHERE, .size = { 0.02 } };
    memcpy(b.R, unit, sizeof unit);
    double slope = sqrt(1.0 + 0.3 * 0.3);
    for (int k = 0; k < 20; k++) {
        double x = -0.9 + 0.09 * k;
        b.p[0] = x;
        b.p[1] = 0.31;
        b.p[2] = 0.5 - 0.3 * fabs(x - 0.25) - 0.05 - 0.01 * k;
        rb_manifold out = meet(m, 1, &b, 0.0);
        CHECK_INT(out.n, 1);
        double deep = (0.05 + 0.01 * k) / slope + 0.02, side = x < 0.25 ? -1.0 : 1.0;
        CHECK_NEAR(out.point[0].gap, -deep, 1e-12);
        CHECK_NEAR(out.point[0].normal[0], side * 0.3 / slope, 1e-12);
        CHECK_NEAR(out.point[0].normal[2], 1.0 / slope, 1e-12);
        CHECK_INT(meet(m, 0, &b, 0.0).n, 0);
    }
    b.p[2] = -0.11;
    CHECK_INT(meet(m, 1, &b, 0.0).n, 0);
    b.p[0] = 1.1;
    b.p[2] = 0.0;
    CHECK_INT(meet(m, 1, &b, 0.0).n, 0);
    rb_model_free(m, NULL);
}

TEST(a_flat_floor_has_no_seams)
{
    static const int types[] = { RB_GEOM_SPHERE, RB_GEOM_CAPSULE, RB_GEOM_CYLINDER,
                                 RB_GEOM_ELLIPSOID, RB_GEOM_BOX };
    rb_model *m = surface_model(flat);
    body plane = { .type = RB_GEOM_PLANE };
    pose_body(&plane, (double[3]){ 0.0, 0.0, 0.5 }, (double[4]){ 1.0, 0.0, 0.0, 0.0 });
    for (int seed = 1; seed <= 1500; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make((uint64_t)seed);
        body b = { .type = types[seed % 5] };
        double q[4] = { 1.0, 0.0, 0.0, 0.0 };
        for (int k = 0; k < 3; k++) b.size[k] = rb_rng_uniform(&rng, 0.05, 0.2);
        if (seed % 3) random_quat(&rng, q);
        pose_body(&b,
                  (double[3]){ rb_rng_uniform(&rng, -0.4, 0.4), rb_rng_uniform(&rng, -0.4, 0.4),
                               2.0 },
                  q);
        rb_manifold over = collide_bodies(&plane, &b, INFINITY);
        double goal = seed % 4 == 0 ? 0.0 : rb_rng_uniform(&rng, -1e-6, 0.01);
        b.p[2] += goal - closest_of(&over)->gap;
        over = collide_bodies(&plane, &b, INFINITY);
        for (int field = 0; field < 2; field++) {
            rb_manifold found = meet(m, field, &b, 0.02);
            CHECK(found.n >= 1);
            CHECK_NEAR(closest_of(&found)->gap, closest_of(&over)->gap, 1e-12);
            for (int i = 0; i < found.n; i++) CHECK_NEAR(found.point[i].normal[2], 1.0, 1e-12);
        }
    }
    rb_model_free(m, NULL);
}

TEST(a_box_stands_on_four_points_of_many_triangles)
{
    rb_model *m = surface_model(flat);
    body b = { .type = RB_GEOM_BOX, .size = { 0.4, 0.3, 0.1 } };
    pose_body(&b, (double[3]){ 0.03, 0.02, 0.6 }, (double[4]){ 1.0, 0.0, 0.0, 0.0 });
    for (int field = 0; field < 2; field++) {
        rb_manifold found = meet(m, field, &b, 0.01);
        CHECK_INT(found.n, 4);
        double area[2] = { INFINITY, -INFINITY };
        for (int i = 0; i < 4; i++) {
            CHECK_NEAR(found.point[i].gap, 0.0, 1e-15);
            area[0] = fmin(area[0], found.point[i].pos1[0]);
            area[1] = fmax(area[1], found.point[i].pos1[0]);
        }
        CHECK_NEAR(area[1] - area[0], 0.8, 1e-12);
    }
    rb_model_free(m, NULL);
}

/* On a ridge the normal may lean to both sides; in a bowl a long box rests on its ends. */
TEST(ridges_and_bowls)
{
    rb_model *m = surface_model(ridge);
    body b = { .type = RB_GEOM_BOX, .size = { 0.2, 0.2, 0.1 } };
    pose_body(&b, (double[3]){ 0.25, 0.0, 0.6 }, (double[4]){ 1.0, 0.0, 0.0, 0.0 });
    rb_manifold found = meet(m, 0, &b, 0.001);
    CHECK(found.n >= 2);
    for (int i = 0; i < found.n; i++) {
        CHECK_NEAR(found.point[i].gap, 0.0, 1e-12);
        CHECK_NEAR(found.point[i].pos1[0], 0.25, 1e-9);
        CHECK_NEAR(found.point[i].normal[2], 1.0, 1e-12);
    }
    rb_model_free(m, NULL);
    m = surface_model(bowl);
    pose_body(&b, (double[3]){ 0.0, 0.0, 0.4 }, (double[4]){ 1.0, 0.0, 0.0, 0.0 });
    b.size[0] = 0.8;
    b.size[1] = 0.01;
    for (int field = 0; field < 2; field++) {
        found = meet(m, field, &b, 0.3);
        CHECK(fabs(closest_of(&found)->pos1[0]) > 0.7);
        CHECK(closest_of(&found)->normal[0] * closest_of(&found)->pos1[0] < 0.0);
    }
    rb_model_free(m, NULL);
}

TEST(what_is_not_convex_is_refused)
{
    rb_model *m = surface_model(flat);
    rb_shape a = surface_shape(m, 0), b = surface_shape(m, 1);
    rb_manifold out;
    CHECK_INT(rb_pair_manifold(&a, &b, 1.0, &out), RB_UNSUPPORTED);
    body plane = { .type = RB_GEOM_PLANE };
    pose_body(&plane, origin, (double[4]){ 1.0, 0.0, 0.0, 0.0 });
    b = shape_of(&plane);
    CHECK_INT(rb_pair_manifold(&a, &b, 1.0, &out), RB_UNSUPPORTED);
    CHECK_INT(rb_pair_manifold(&b, &a, 1.0, &out), RB_UNSUPPORTED);
    rb_model_free(m, NULL);
}

/* ---- gradients and bad numbers ----------------------------------------------------------------
 */

/* d gap = n . (v + w x (pos2 - p2)) for a motion of the shape over the waves, as in
 * test_convex_limits.c. */
static int check_gradient(const rb_model *m, int field, const body *b, rb_rng *rng)
{
    const double step = 1e-6;
    double w[3], v[3], arm[3], u[3], gap[2], normal[2][3];
    random_unit(rng, w);
    random_unit(rng, v);
    rb_manifold here = meet(m, field, b, 0.5);
    if (here.n == 0) return 0;
    const rb_manifold_point *p = closest_of(&here);
    for (int side = 0; side < 2; side++) {
        double turn[3], shift[3];
        body moved = *b;
        rb_scale3(side ? step : -step, w, turn);
        rb_scale3(side ? step : -step, v, shift);
        move_body(&moved, turn, shift);
        rb_manifold there = meet(m, field, &moved, 0.5);
        if (there.n == 0) return 0;
        gap[side] = closest_of(&there)->gap;
        rb_copy3(closest_of(&there)->normal, normal[side]);
    }
    if (rb_dot3(normal[0], normal[1]) < 1.0 - 1e-9) return 0;
    if (rb_dot3(normal[0], p->normal) < 1.0 - 1e-9) return 0;
    rb_sub3(p->pos2, b->p, arm);
    rb_cross3(w, arm, u);
    rb_add3(u, v, u);
    CHECK_NEAR((gap[1] - gap[0]) / (2.0 * step), rb_dot3(p->normal, u), 3e-8);
    return 1;
}

TEST(gaps_change_as_their_normals_say)
{
    static const int types[] = { RB_GEOM_SPHERE, RB_GEOM_CAPSULE, RB_GEOM_BOX, RB_GEOM_ELLIPSOID,
                                 RB_GEOM_CYLINDER };
    rb_model *m = surface_model(waves);
    int checked[2] = { 0, 0 };
    for (int seed = 1; seed <= 1000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make((uint64_t)seed);
        body b = { .type = types[seed % 5] };
        double q[4], p[3];
        for (int k = 0; k < 3; k++) b.size[k] = rb_rng_uniform(&rng, 0.03, 0.1);
        for (int k = 0; k < 2; k++) p[k] = rb_rng_uniform(&rng, -0.7, 0.7);
        p[2] = rb_rng_uniform(&rng, 0.8, 1.1);
        random_quat(&rng, q);
        pose_body(&b, p, q);
        for (int field = 0; field < 2; field++)
            checked[field] += check_gradient(m, field, &b, &rng);
    }
    rb_model_free(m, NULL);
    CHECK(checked[0] > 700 && checked[1] > 700);
}

TEST(bad_numbers_are_refused)
{
    static const double bad[3] = { NAN, INFINITY, -INFINITY };
    rb_model *m = surface_model(waves);
    for (int i = 0; i < 2 * 15 * 3; i++) {
        int field = i % 2, where = i / 2 / 3;
        body b = { .type = RB_GEOM_CYLINDER, .size = { 0.1, 0.1, 0.1 } };
        double p[3] = { 0.0, 0.0, 0.6 }, q[4] = { 1.0, 0.0, 0.0, 0.0 };
        pose_body(&b, p, q);
        double *at = where < 3 ? &b.p[where] : where < 12 ? &b.R[where - 3] : &b.size[where - 12];
        *at = bad[i / 2 % 3];
        rb_shape s1 = surface_shape(m, field), s2 = shape_of(&b);
        rb_manifold out = { .n = 7 };
        CHECK_INT(rb_pair_manifold(&s1, &s2, 1.0, &out), RB_BAD_INPUT);
        CHECK_INT(out.n, 0);
        CHECK_INT(rb_pair_manifold(&s2, &s1, 1.0, &out), RB_BAD_INPUT);
    }
    rb_model_free(m, NULL);
}

TEST_MAIN(RUN(gaps_change_as_their_normals_say), RUN(bad_numbers_are_refused),
          RUN(a_sphere_is_as_far_as_the_nearest_triangle), RUN(a_flat_floor_has_no_seams),
          RUN(a_box_stands_on_four_points_of_many_triangles), RUN(ridges_and_bowls),
          RUN(what_is_not_convex_is_refused), RUN(what_is_inside_a_closed_mesh_overlaps),
          RUN(what_is_inside_a_height_field_overlaps))
