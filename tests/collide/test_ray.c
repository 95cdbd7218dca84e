/* Rays: numbers by hand, random rays against a slow march and against every triangle, no gaps at
 * seams, what is seen and what is not. */
#include "math/quat.h"
#include "math/vec3.h"
#include "step_support.h"

static rb_ray_hit shoot(const scene *s, const double from[3], const double direction[3],
                        const rb_ray_opts *opts)
{
    rb_ray_hit hit;
    rb_kinematics(s->m, s->d);
    rb_frames(s->m, s->d);
    CHECK_INT(rb_ray(s->m, s->d, from, direction, opts, &hit), RB_OK);
    return hit;
}

static rb_ray_hit shoot_at(const scene *s, double x, double y, double z, double dx, double dy,
                           double dz)
{
    return shoot(s, (double[]){ x, y, z }, (double[]){ dx, dy, dz }, NULL);
}

static void check_hit(const rb_ray_hit *hit, int geom, double distance, double nx, double ny,
                      double nz)
{
    double n[3] = { nx, ny, nz };
    CHECK_INT(hit->geom, geom);
    CHECK_NEAR(hit->distance, distance, 1e-14 * (1.0 + distance));
    for (int i = 0; i < 3; i++) CHECK_NEAR(hit->normal[i], n[i], 1e-14);
}

/* ---- by hand ----------------------------------------------------------------------------------
 */

static const char row_of_shapes[] = "<mujoco><worldbody>"
                                    "<geom type='plane' size='50 2 1'/>"
                                    "<geom type='sphere' size='0.5' pos='0 0 1'/>"
                                    "<geom type='capsule' size='0.25 0.5' pos='4 0 1'/>"
                                    "<geom type='ellipsoid' size='0.5 0.25 0.75' pos='8 0 1'/>"
                                    "<geom type='cylinder' size='0.25 0.5' pos='12 0 1'/>"
                                    "<geom type='box' size='0.5 0.25 0.75' pos='16 0 1'/>"
                                    "</worldbody></mujoco>";

TEST(numbers_by_hand)
{
    scene s = scene_text(row_of_shapes);
    rb_ray_hit hit = shoot_at(&s, 2, 0, 3, 0, 0, -2); /* the direction has length 2 */
    check_hit(&hit, 0, 3.0, 0, 0, 1);
    CHECK_NEAR(hit.point[2], 0.0, 1e-15);
    hit = shoot_at(&s, 0, 0, 5, 0, 0, -1);
    check_hit(&hit, 1, 3.5, 0, 0, 1);
    hit = shoot_at(&s, 0, 0, 1, 0, 1, 0); /* from inside */
    check_hit(&hit, 1, 0.5, 0, 1, 0);
    hit = shoot_at(&s, 4, 0, 5, 0, 0, -1); /* top of the capsule: 1 + 0.5 + 0.25 */
    check_hit(&hit, 2, 3.25, 0, 0, 1);
    hit = shoot_at(&s, 4, 3, 1.2, 0, -1, 0); /* its side */
    check_hit(&hit, 2, 2.75, 0, 1, 0);
    hit = shoot_at(&s, 8, 3, 1, 0, -1, 0);
    check_hit(&hit, 3, 2.75, 0, 1, 0);
    hit = shoot_at(&s, 12.1, 0, 5, 0, 0, -1);
    check_hit(&hit, 4, 3.5, 0, 0, 1);
    hit = shoot_at(&s, 12, 0, 1, 0, 0, -1); /* from inside */
    check_hit(&hit, 4, 0.5, 0, 0, -1);
    hit = shoot_at(&s, 20, 0.1, 1.2, -1, 0, 0);
    check_hit(&hit, 5, 3.5, 1, 0, 0);
    hit = shoot_at(&s, -1, 0, 1, 1, 0, 0); /* the first of the whole row */
    check_hit(&hit, 1, 0.5, -1, 0, 0);
    scene_free(&s);
}

TEST(planes_are_seen_from_above_where_they_are_drawn)
{
    scene s = scene_text(row_of_shapes);
    CHECK_INT(shoot_at(&s, 2, 0, -1, 0, 0, 1).geom, -1);
    CHECK_INT(shoot_at(&s, 2, 1.9, 1, 0, 0, -1).geom, 0);
    CHECK_INT(shoot_at(&s, 2, 2.1, 1, 0, 0, -1).geom, -1);
    CHECK(isinf(shoot_at(&s, 2, 2.1, 1, 0, 0, -1).distance));
    scene_free(&s);
    s = scene_text("<mujoco><worldbody><geom type='plane' size='0 0 1'/></worldbody></mujoco>");
    CHECK_INT(shoot_at(&s, 1e6, 1e6, 1, 0, 0, -1).geom, 0);
    scene_free(&s);
}

/* ---- what is seen -----------------------------------------------------------------------------
 */

TEST(filters)
{
    scene s = scene_text("<mujoco><worldbody><geom type='plane' size='0 0 1' group='1'/>"
                         "<body name='a' pos='0 0 2'><freejoint/>"
                         "<geom size='0.1' group='2'/><geom size='0.1' pos='0 0 -1' group='3' "
                         "contype='0' conaffinity='0'/></body></worldbody></mujoco>");
    double from[3] = { 0, 0, 5 }, down[3] = { 0, 0, -1 };
    rb_ray_opts o = rb_ray_opts_default();
    CHECK_INT(shoot(&s, from, down, &o).geom, 1);
    o.groups = 1u << 1 | 1u << 3;
    CHECK_INT(shoot(&s, from, down, &o).geom, 2); /* whether or not it collides */
    o.groups = ~0u;
    o.exclude_body = 1;
    CHECK_INT(shoot(&s, from, down, &o).geom, 0);
    o.exclude_static = 1;
    CHECK_INT(shoot(&s, from, down, &o).geom, -1);
    o = rb_ray_opts_default();
    o.reach = 2.9; /* the sphere begins at exactly that */
    CHECK_INT(shoot(&s, from, down, &o).geom, 1);
    o.reach = 2.89;
    CHECK_INT(shoot(&s, from, down, &o).geom, -1);
    scene_free(&s);
}

/* By the material, or where there is none by the colour of the geom, as in MuJoCo. */
TEST(what_is_drawn_transparent_is_not_seen)
{
    static const struct {
        const char *looks;
        int geom;
    } cases[] = { { "rgba='1 1 1 0'", 0 },
                  { "material='clear'", 0 },
                  { "material='clear' rgba='1 1 1 1'", 0 },
                  { "material='solid' rgba='1 1 1 0'", 1 },
                  { "rgba='1 1 1 0.1'", 1 } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[600];
        rb_ray_opts all = rb_ray_opts_default();
        snprintf(text, sizeof text,
                 "<mujoco><asset><material name='clear' rgba='1 1 1 0'/><material name='solid'/>"
                 "</asset><worldbody><geom type='plane' size='0 0 1'/><geom size='0.5' pos='0 0 2' "
                 "%s/></worldbody></mujoco>",
                 cases[k].looks);
        scene s = scene_text(text);
        CHECK_INT(shoot_at(&s, 0, 0, 5, 0, 0, -1).geom, cases[k].geom);
        all.invisible = 1;
        CHECK_INT(shoot(&s, (double[]){ 0, 0, 5 }, (double[]){ 0, 0, -1 }, &all).geom, 1);
        scene_free(&s);
    }
}

TEST(bad_rays_are_refused)
{
    scene s = scene_text(row_of_shapes);
    rb_ray_hit hit;
    double from[3] = { 0, 0, 5 }, down[3] = { 0, 0, -1 }, none[3] = { 0, 0, 0 };
    double bad[3] = { 0, NAN, 0 }, far[3] = { INFINITY, 0, 0 };
    CHECK_INT(rb_ray(s.m, s.d, from, none, NULL, &hit), RB_BAD_INPUT);
    CHECK_INT(rb_ray(s.m, s.d, from, bad, NULL, &hit), RB_BAD_INPUT);
    CHECK_INT(rb_ray(s.m, s.d, far, down, NULL, &hit), RB_BAD_INPUT);
    CHECK_INT(hit.geom, -1);
    scene_free(&s);
}

/* ---- random rays against a march --------------------------------------------------------------
 */

/* < 0 inside, > 0 outside, with a slope of about 1 at the surface. */
static double level(int type, const double *size, const double x[3])
{
    double r = sqrt(x[0] * x[0] + x[1] * x[1]), z = fabs(x[2]), sum = 0.0;
    switch (type) {
    case RB_GEOM_SPHERE:
        return rb_norm3(x) - size[0];
    case RB_GEOM_CAPSULE:
        return sqrt(r * r + pow(fmax(0.0, z - size[1]), 2.0)) - size[0];
    case RB_GEOM_ELLIPSOID:
        for (int i = 0; i < 3; i++) sum += x[i] * x[i] / (size[i] * size[i]);
        return (sqrt(sum) - 1.0) * size[0];
    case RB_GEOM_CYLINDER:
        return fmax(r - size[0], z - size[1]);
    default:
        return fmax(fmax(fabs(x[0]) - size[0], fabs(x[1]) - size[1]), z - size[2]);
    }
}

static double level_at(const rb_shape *shape, const double from[3], const double u[3], double t)
{
    double x[3];
    rb_copy3(from, x);
    rb_axpy3(t, u, x);
    rb_sub3(x, shape->p, x);
    rb_rot_t(shape->R, x, x);
    return level(shape->type, shape->size, x);
}

/* The sign does not change before the hit, it does there, and the normal is the gradient. */
static void check_march(const rb_shape *shape, const double from[3], const double u[3],
                        const rb_ray_hit *hit)
{
    enum { STEPS = 400 };
    double start = level_at(shape, from, u, 0.0);
    double end = isinf(hit->distance) ? 6.0 : hit->distance;
    for (int i = 1; i < STEPS; i++) {
        double f = level_at(shape, from, u, end * i / STEPS);
        if (start > 0.0) CHECK(f > -1e-12);
        if (start < 0.0) CHECK(f < 1e-12);
    }
    if (isinf(hit->distance)) return;
    CHECK_NEAR(level_at(shape, from, u, hit->distance), 0.0, 1e-13);
    double past = level_at(shape, from, u, hit->distance + 1e-6);
    double slope = rb_dot3(hit->normal, u);
    if (fabs(slope) > 1e-2) CHECK(start > 0.0 ? past < 0.0 && slope < 0.0 : past > 0.0);
    CHECK_NEAR(rb_norm3(hit->normal), 1.0, 1e-14);
}

TEST(random_rays_agree_with_a_march)
{
    static const int types[] = { RB_GEOM_SPHERE, RB_GEOM_CAPSULE, RB_GEOM_ELLIPSOID,
                                 RB_GEOM_CYLINDER, RB_GEOM_BOX };
    rb_rng rng = rb_rng_make(7);
    int hits = 0;
    for (int k = 0; k < 4000; k++) {
        double size[3], p[3], q[4], R[9], from[3], u[3];
        for (int i = 0; i < 3; i++) {
            size[i] = rb_rng_uniform(&rng, 0.2, 1.0);
            p[i] = rb_rng_uniform(&rng, -0.5, 0.5);
            from[i] = rb_rng_uniform(&rng, -2.0, 2.0) * (k % 4 ? 1.0 : 0.2);
            u[i] = -from[i] + rb_rng_uniform(&rng, -1.0, 1.0);
        }
        for (int i = 0; i < 4; i++) q[i] = rb_rng_uniform(&rng, -1.0, 1.0);
        rb_quat_normalize(q);
        rb_quat_to_rot(q, R);
        rb_normalize3(u);
        rb_shape shape = { .type = types[k % 5], .size = size, .p = p, .R = R, .asset = -1 };
        rb_ray_hit hit;
        CHECK_INT(rb_ray_shape(&shape, from, u, &hit), RB_OK);
        check_march(&shape, from, u, &hit);
        hits += !isinf(hit.distance);
    }
    CHECK(hits > 1500 && hits < 4000);
}

/* Far starts lose no digits but those of the distance itself. */
TEST(far_away)
{
    scene s = scene_text(row_of_shapes);
    rb_ray_hit hit = shoot_at(&s, 1e8, 0.0, 1.0, -1, 0, 0); /* x = 16.5 is a face of the box */
    CHECK_INT(hit.geom, 5);
    CHECK_NEAR(hit.point[0], 16.5, 3e-8);
    hit = shoot_at(&s, 0.3, 0.0, 1e8, 0, 0, -1); /* sphere: 1 + sqrt(0.25 - 0.09) */
    CHECK_INT(hit.geom, 1);
    CHECK_NEAR(hit.point[2], 1.4, 3e-8);
    scene_free(&s);
}

/* ---- triangles --------------------------------------------------------------------------------
 */

/* An L: not convex. Its hull is hit where its surface is not. */
static const char bracket[] =
    "<mujoco><asset><mesh name='l' inertia='exact' vertex='0 0 0 2 0 0 2 1 0 1 1 0 1 2 0 0 2 0 "
    "0 0 1 2 0 1 2 1 1 1 1 1 1 2 1 0 2 1' face='0 2 1 0 3 2 0 5 3 3 5 4 6 7 8 6 8 9 6 9 11 9 10 "
    "11 0 1 7 0 7 6 1 2 8 1 8 7 2 3 9 2 9 8 3 4 10 3 10 9 4 5 11 4 11 10 5 0 6 5 6 11'/></asset>"
    "<worldbody><body><freejoint/><geom type='mesh' mesh='l'/></body></worldbody></mujoco>";

TEST(meshes_by_triangles_or_by_hull)
{
    scene s = scene_hulls(bracket);
    rb_ray_opts hulls = rb_ray_opts_default();
    rb_kinematics(s.m, s.d);
    rb_frames(s.m, s.d);

    double from[3], down[3] = { 0, 0, -1 };
    hulls.hulls = 1;
    from[0] = 1.4, from[1] = 1.4, from[2] = 5.0; /* in the notch, under the hull */
    CHECK_INT(shoot(&s, from, down, NULL).geom, -1);
    rb_ray_hit hit = shoot(&s, from, down, &hulls);
    CHECK_INT(hit.geom, 0);
    CHECK_NEAR(hit.distance, 4.0, 1e-6); /* the vertices went through the principal axes */
    from[0] = 0.5;
    hit = shoot(&s, from, down, NULL);
    CHECK_INT(hit.geom, 0);
    CHECK_NEAR(hit.distance, 4.0, 1e-6);
    CHECK_NEAR(hit.normal[2], 1.0, 1e-6);
    from[2] = 0.5; /* from inside */
    hit = shoot(&s, from, down, NULL);
    CHECK_NEAR(hit.distance, 0.5, 1e-6);
    CHECK_NEAR(hit.normal[2], -1.0, 1e-6);
    scene_free(&s);
}

/* Distance to a triangle in long double, by areas of projections; < 0: none. */
static double slow_triangle(const double *const x[3], const double o[3], const double u[3])
{
    long double e[3], f[3], n[3], h[3];
    for (int i = 0; i < 3; i++) {
        e[i] = (long double)x[1][i] - x[0][i];
        f[i] = (long double)x[2][i] - x[0][i];
        h[i] = (long double)o[i] - x[0][i];
    }
    for (int i = 0; i < 3; i++)
        n[i] = e[(i + 1) % 3] * f[(i + 2) % 3] - e[(i + 2) % 3] * f[(i + 1) % 3];
    long double rate = n[0] * u[0] + n[1] * u[1] + n[2] * u[2];
    if (rate == 0.0L) return -1.0;
    long double t = -(n[0] * h[0] + n[1] * h[1] + n[2] * h[2]) / rate, y[3];
    for (int i = 0; i < 3; i++) y[i] = h[i] + t * u[i];
    long double ee = 0, ef = 0, ff = 0, ye = 0, yf = 0;
    for (int i = 0; i < 3; i++) {
        ee += e[i] * e[i];
        ef += e[i] * f[i];
        ff += f[i] * f[i];
        ye += y[i] * e[i];
        yf += y[i] * f[i];
    }
    long double det = ee * ff - ef * ef, a = (ye * ff - yf * ef) / det,
                b = (yf * ee - ye * ef) / det;
    return a >= 0 && b >= 0 && a + b <= 1 && t >= 0 ? (double)t : -1.0;
}

static double slow_mesh(const rb_model *m, const double o[3], const double u[3])
{
    double best = INFINITY;
    for (int f = 0; f < m->nmeshface; f++) {
        const double *x[3];
        for (int i = 0; i < 3; i++) x[i] = m->mesh_vert + 3 * m->mesh_face[3 * f + i];
        double t = slow_triangle(x, o, u);
        if (t >= 0.0 && t < best) best = t;
    }
    return best;
}

TEST(the_tree_of_a_mesh_forgets_no_triangle)
{
    scene s = scene_text(bracket);
    double zero[3] = { 0 }, R[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, size[3] = { 0 };
    rb_shape shape = { RB_GEOM_MESH, size, zero, R, s.m, 0, 1 };
    rb_rng rng = rb_rng_make(3);
    int hits = 0;
    for (int k = 0; k < 3000; k++) {
        double o[3], u[3];
        for (int i = 0; i < 3; i++) {
            o[i] = rb_rng_uniform(&rng, -2.0, 2.0);
            u[i] = -o[i] + rb_rng_uniform(&rng, -1.0, 1.0);
        }
        rb_normalize3(u);
        rb_ray_hit hit;
        CHECK_INT(rb_ray_shape(&shape, o, u, &hit), RB_OK);
        double slow = slow_mesh(s.m, o, u);
        hits += !isinf(slow);
        if (isinf(slow))
            CHECK(isinf(hit.distance));
        else
            CHECK_NEAR(hit.distance, slow, 1e-12);
    }
    CHECK(hits > 1000);
    scene_free(&s);
}

/* Through corners and along seams, from inside: nothing slips out. */
TEST(closed_meshes_have_no_gaps)
{
    scene s = scene_text(bracket);
    double zero[3] = { 0 }, R[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, size[3] = { 0 };
    rb_shape shape = { RB_GEOM_MESH, size, zero, R, s.m, 0, 1 };
    for (int i = 0; i < s.m->nmeshvert; i++) {
        for (int j = 0; j < s.m->nmeshvert; j++) {
            for (int w = 0; w <= 8; w++) {
                double to[3];
                const double *a = s.m->mesh_vert + 3 * i, *b = s.m->mesh_vert + 3 * j;
                for (int k = 0; k < 3; k++) to[k] = a[k] + w / 8.0 * (b[k] - a[k]);
                rb_ray_hit hit;
                if (!(rb_norm3(to) > 1e-3)) continue;
                CHECK_INT(rb_ray_shape(&shape, zero, to, &hit), RB_OK);
                CHECK(!isinf(hit.distance));
            }
        }
    }
    scene_free(&s);
}

/* ---- height fields ----------------------------------------------------------------------------
 */

static const char field[] =
    "<mujoco><asset><hfield name='h' nrow='3' ncol='4' size='1.5 1 0.5 0.2' elevation='0 .1 .2 .3 "
    ".9 .5 .2 1 0 0 .4 .6'/></asset><worldbody><geom type='hfield' hfield='h' pos='0 0 3'/>"
    "</worldbody></mujoco>";

TEST(height_fields_by_hand)
{
    scene s = scene_text(field);
    rb_ray_hit hit = shoot_at(&s, 0.1, 0.1, 1, 0, 0, 1); /* the bottom, 0.2 below */
    check_hit(&hit, 0, 1.8, 0, 0, -1);
    hit = shoot_at(&s, -3, 0.1, 3.05, 1, 0, 0); /* a wall */
    check_hit(&hit, 0, 1.5, -1, 0, 0);
    hit = shoot_at(&s, -3, 0.1, 2.79, 1, 0, 0); /* below it */
    CHECK_INT(hit.geom, -1);
    hit = shoot_at(&s, 1.5, 0.0, 5, 0, 0, -1); /* the highest corner: elevation 1 */
    CHECK_INT(hit.geom, 0);
    CHECK_NEAR(hit.distance, 1.5, 1e-12);
    hit = shoot_at(&s, 0.1, 0.1, 2.9, 0, 0, -1); /* from inside */
    check_hit(&hit, 0, 0.1, 0, 0, -1);
    scene_free(&s);
}

/* Along a vertical ray the height is that of the grid, linear in each half of a cell. */
TEST(heights_between_grid_points)
{
    scene s = scene_text(field);
    static const double at[2][3] = { { -0.5, 0.0, 0.5 }, { 0.5, -1.0, 0.4 } };
    for (int k = 0; k < 2; k++) {
        rb_ray_hit hit = shoot_at(&s, at[k][0], at[k][1], 5, 0, 0, -1);
        CHECK_NEAR(5.0 - hit.distance, 3.0 + 0.5 * at[k][2], 1e-12);
    }

    /* the middle of a cell is the middle of its diagonal from (0, 0) to (1, 1): 0 and 0.5 */
    rb_ray_hit hit = shoot_at(&s, -1.0, -0.5, 5, 0, 0, -1);
    CHECK_NEAR(5.0 - hit.distance, 3.0 + 0.5 * 0.25, 1e-12);
    scene_free(&s);
}

/* ---- distances --------------------------------------------------------------------------------
 */

TEST(distances_whatever_the_filter_says)
{
    scene s = scene_text("<mujoco><worldbody><geom type='plane' size='0 0 1' contype='0' "
                         "conaffinity='0'/><body name='a' pos='0 0 2'><freejoint/>"
                         "<geom size='0.1'/><geom size='0.1' pos='0 0 -1'/></body>"
                         "<body name='b' pos='3 0 2'><geom size='0.5'/></body>"
                         "</worldbody></mujoco>");
    rb_distance x;
    rb_kinematics(s.m, s.d);
    rb_frames(s.m, s.d);
    CHECK_INT(rb_geom_distance(s.m, s.d, 0, 1, INFINITY, &x), RB_OK);
    CHECK_NEAR(x.at.gap, 1.9, 1e-14);
    CHECK_INT(rb_geom_distance(s.m, s.d, 1, 2, INFINITY, &x), RB_OK); /* of one body */
    CHECK_NEAR(x.at.gap, 0.8, 1e-14);
    CHECK_INT(rb_geom_distance(s.m, s.d, 1, 2, 0.5, &x), RB_OK);
    CHECK_INT(x.geom1, -1);
    CHECK_INT(rb_body_distance(s.m, s.d, 0, 1, INFINITY, &x), RB_OK);
    CHECK_NEAR(x.at.gap, 0.9, 1e-14);
    CHECK_INT(x.geom2, 2);
    CHECK_INT(rb_body_distance(s.m, s.d, 2, 1, INFINITY, &x), RB_OK);
    CHECK_NEAR(x.at.gap, 3.0 - 0.6, 1e-14);
    CHECK_NEAR(x.at.normal[0], -1.0, 1e-14);
    CHECK_INT(rb_geom_distance(s.m, s.d, 0, 99, 1.0, &x), RB_BAD_INPUT);
    CHECK_INT(rb_body_distance(s.m, s.d, -1, 0, 1.0, &x), RB_BAD_INPUT);
    scene_free(&s);
}

TEST_MAIN(RUN(numbers_by_hand), RUN(planes_are_seen_from_above_where_they_are_drawn), RUN(filters),
          RUN(what_is_drawn_transparent_is_not_seen), RUN(bad_rays_are_refused),
          RUN(random_rays_agree_with_a_march), RUN(far_away), RUN(meshes_by_triangles_or_by_hull),
          RUN(the_tree_of_a_mesh_forgets_no_triangle), RUN(closed_meshes_have_no_gaps),
          RUN(height_fields_by_hand), RUN(heights_between_grid_points),
          RUN(distances_whatever_the_filter_says))
