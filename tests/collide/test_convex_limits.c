/* What general convex shapes, hulls and surfaces do with numbers that are none, without a size, or
 * too hard: a status or an outcome, never a crash, a NaN or an endless loop. And gradients: the gap
 * of the closest points changes as the normal says. */
#include "convex_support.h"

static const int families[][2] = {
    { RB_GEOM_SPHERE, RB_GEOM_ELLIPSOID },    { RB_GEOM_SPHERE, RB_GEOM_CYLINDER },
    { RB_GEOM_SPHERE, RB_GEOM_MESH },         { RB_GEOM_CAPSULE, RB_GEOM_ELLIPSOID },
    { RB_GEOM_CAPSULE, RB_GEOM_CYLINDER },    { RB_GEOM_CAPSULE, RB_GEOM_MESH },
    { RB_GEOM_ELLIPSOID, RB_GEOM_ELLIPSOID }, { RB_GEOM_ELLIPSOID, RB_GEOM_CYLINDER },
    { RB_GEOM_ELLIPSOID, RB_GEOM_BOX },       { RB_GEOM_ELLIPSOID, RB_GEOM_MESH },
    { RB_GEOM_CYLINDER, RB_GEOM_CYLINDER },   { RB_GEOM_CYLINDER, RB_GEOM_BOX },
    { RB_GEOM_CYLINDER, RB_GEOM_MESH },       { RB_GEOM_BOX, RB_GEOM_MESH },
    { RB_GEOM_MESH, RB_GEOM_MESH },           { RB_GEOM_PLANE, RB_GEOM_CYLINDER },
    { RB_GEOM_PLANE, RB_GEOM_ELLIPSOID },     { RB_GEOM_PLANE, RB_GEOM_MESH },
};
enum { NFAMILY = sizeof families / sizeof families[0] };

static rb_model *hulls;

static solid solid_at(int type, double size, double z)
{
    solid s = { .b = { .type = type, .size = { size, size, size }, .q = { 1.0 } }, .mesh = -1 };
    double p[3] = { 0.0, 0.0, z };
    if (!hulls) hulls = hull_model();
    s.m = hulls;
    if (type == RB_GEOM_MESH) s.mesh = 3;
    pose_body(&s.b, p, s.b.q);
    return s;
}

static int is_sound(const rb_manifold *m)
{
    int ok = m->n >= 0 && m->n <= RB_MANIFOLD_MAX && m->error >= 0.0;
    for (int i = 0; i < m->n; i++) {
        const rb_manifold_point *p = &m->point[i];
        ok = ok && isfinite(p->gap) && fabs(rb_norm3(p->normal) - 1.0) < 1e-12;
        for (int k = 0; k < 3; k++) ok = ok && isfinite(p->pos1[k]) && isfinite(p->pos2[k]);
    }
    return ok;
}

TEST(bad_numbers_are_refused)
{
    static const double bad[3] = { NAN, INFINITY, -INFINITY };
    for (int f = 0; f < NFAMILY; f++) {
        for (int i = 0; i < 15 * 3; i++) {
            int where = i / 3;
            solid a = solid_at(families[f][0], 0.1, 0.0), b = solid_at(families[f][1], 0.1, 2.0);
            double *at = where < 3    ? &b.b.p[where]
                         : where < 12 ? &b.b.R[where - 3]
                                      : &b.b.size[where - 12];
            *at = bad[i % 3];
            rb_shape s1 = shape_of_solid(&a), s2 = shape_of_solid(&b);
            rb_manifold m = { .n = 7 };
            CHECK_INT(rb_pair_manifold(&s1, &s2, 1.0, &m), RB_BAD_INPUT);
            CHECK_INT(m.n, 0);
            CHECK_INT(rb_pair_manifold(&s2, &s1, 1.0, &m), RB_BAD_INPUT);
        }
    }
}

/* Numbers, but their squares are none: nothing measures such a distance. */
TEST(too_far_away_is_refused)
{
    for (int f = 0; f < NFAMILY; f++) {
        solid a = solid_at(families[f][0], 0.1, -1e300), b = solid_at(families[f][1], 0.1, 1e300);
        rb_shape s1 = shape_of_solid(&a), s2 = shape_of_solid(&b);
        rb_manifold m = { .n = 7 };
        rb_manifold_point point;
        int found = 7;
        CHECK_INT(rb_pair_manifold(&s1, &s2, INFINITY, &m), RB_BAD_INPUT);
        CHECK_INT(m.n, 0);
        CHECK_INT(rb_pair_closest(&s1, &s2, INFINITY, &point, &found), RB_BAD_INPUT);
        CHECK_INT(found, 0);
    }
}

/* Points, lines and plates: every size zero in turn, apart, touching, and in the same place. */
TEST(shapes_without_a_size)
{
    for (int f = 0; f < NFAMILY; f++) {
        for (int zero = 1; zero < 64; zero++) {
            for (int place = 0; place < 3; place++) {
                solid a = solid_at(families[f][0], 0.5, 0.0);
                solid b = solid_at(families[f][1], 0.5, place == 0 ? 0.0 : place == 1 ? 1.0 : 3.0);
                for (int k = 0; k < 3; k++) {
                    if (zero >> k & 1) a.b.size[k] = 0.0;
                    if (zero >> (3 + k) & 1) b.b.size[k] = 0.0;
                }
                TEST_SEED(1000 * f + 10 * zero + place);
                rb_manifold m = collide_solids(&a, &b, INFINITY);
                CHECK(m.n >= 1 && is_sound(&m));
                if (place == 2) CHECK(closest_of(&m)->gap > 0.0);
                if (families[f][0] == RB_GEOM_PLANE) continue;
                double slow = (double)slow_distance(&a, &b);
                if (place == 2) CHECK_NEAR(closest_of(&m)->gap, slow, 1e-9);
            }
        }
    }
}

/* Enormous and tiny numbers that are still numbers. */
TEST(extreme_numbers_stay_numbers)
{
    static const double factor[] = { 1e-150, 1e-30, 1e-12, 1e12, 1e30, 1e150 };
    for (int f = 0; f < NFAMILY; f++) {
        if (families[f][0] == RB_GEOM_MESH || families[f][1] == RB_GEOM_MESH) continue;
        for (int i = 0; i < 6; i++) {
            TEST_SEED(100 * f + i);
            solid a = solid_at(families[f][0], 0.5 * factor[i], 0.0);
            solid b = solid_at(families[f][1], 0.3 * factor[i], 2.0 * factor[i]);
            rb_manifold m = collide_solids(&a, &b, INFINITY);
            CHECK(m.n >= 1 && is_sound(&m));
            b = solid_at(families[f][1], 0.3 * factor[5 - i], 0.1 * factor[i]);
            m = collide_solids(&a, &b, INFINITY);
            CHECK(is_sound(&m));
        }
    }
}

/* Deep inside each other curved shapes may need more corners than there is room for. The outcome
 * says so, the gap is not too large, and too small by no more than it says. */
TEST(searches_that_reach_their_cap_say_so)
{
    int capped = 0;
    if (!hulls) hulls = hull_model();
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        const int *family = families[seed % 15];
        solid a, b;
        random_solids(&rng, hulls, family[0], family[1], &a, &b);
        rb_manifold m = collide_solids(&a, &b, INFINITY);
        CHECK(m.error >= 0.0 && m.error <= 0.1 * scale_of_solids(&a, &b));
        if (m.error == 0.0) continue;
        double gap = closest_of(&m)->gap, tol = 1e-9 * scale_of_solids(&a, &b);
        double slow = (double)(gap > tol ? slow_distance(&a, &b) : slow_depth(&a, &b, 900, 6));
        CHECK(slow <= gap + m.error + tol);
        capped++;
    }
    printf("    %d of 4000 reached a cap\n", capped);
    CHECK(capped > 0);
}

/* ---- gradients --------------------------------------------------------------------------------
 */

static void ordinary_solid(rb_rng *rng, int type, solid *s)
{
    double p[3], q[4];
    *s = (solid){ .b = { .type = type }, .m = hulls, .mesh = -1 };
    for (int k = 0; k < 3; k++) {
        s->b.size[k] = rb_rng_uniform(rng, 0.2, 1.0);
        p[k] = rb_rng_uniform(rng, -1.0, 1.0);
    }
    if (type == RB_GEOM_MESH) s->mesh = (int)(rb_rng_next(rng) % NHULL);
    random_quat(rng, q);
    pose_body(&s->b, p, q);
}

/* d gap = n . (v + w x (pos2 - p2)) for a motion of shape 2, by central differences. Where the
 * normal turns fast, close to a change of features, the difference is no derivative. */
static int check_gradient(rb_rng *rng, const solid *a, const solid *b)
{
    const double step = 1e-6;
    double w[3], v[3], arm[3], u[3], gap[2], normal[2][3];
    double extent = fmin(extent_of_solid(a), extent_of_solid(b)), scale = scale_of_solids(a, b);
    if (extent < 0.05 || scale > 10.0) return 0;
    random_unit(rng, w);
    random_unit(rng, v);
    rb_manifold here = collide_solids(a, b, INFINITY);
    for (int side = 0; side < 2; side++) {
        double turn[3], shift[3];
        solid moved = *b;
        rb_scale3(side ? step : -step, w, turn);
        rb_scale3(side ? step : -step, v, shift);
        move_body(&moved.b, turn, shift);
        rb_manifold there = collide_solids(a, &moved, INFINITY);
        gap[side] = closest_of(&there)->gap;
        rb_copy3(closest_of(&there)->normal, normal[side]);
    }
    const rb_manifold_point *p = closest_of(&here);
    if (rb_dot3(normal[0], normal[1]) < 1.0 - 1e-9) return 0;
    if (rb_dot3(normal[0], p->normal) < 1.0 - 1e-9) return 0;
    rb_sub3(p->pos2, b->b.p, arm);
    rb_cross3(w, arm, u);
    rb_add3(u, v, u);
    CHECK_NEAR((gap[1] - gap[0]) / (2.0 * step), rb_dot3(p->normal, u), 3e-8);
    return 1;
}

TEST(gaps_change_as_their_normals_say)
{
    int checked[NFAMILY] = { 0 }, tried[NFAMILY] = { 0 };
    if (!hulls) hulls = hull_model();
    for (int seed = 1; seed <= 300 * NFAMILY; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make((uint64_t)seed);
        int f = seed % NFAMILY;
        solid a, b;
        ordinary_solid(&rng, families[f][0], &a);
        ordinary_solid(&rng, families[f][1], &b);
        if (families[f][0] == RB_GEOM_PLANE) a.b.size[0] = a.b.size[1] = a.b.size[2] = 0.0;
        double n[3], reach = extent_of_solid(&a) + extent_of_solid(&b);
        random_unit(&rng, n);
        rb_copy3(a.b.p, b.b.p);
        rb_axpy3(rb_rng_uniform(&rng, 0.3, 1.4) * reach, n, b.b.p);
        int ordinary = extent_of_solid(&b) > 0.05 && extent_of_solid(&b) < 5.0;
        tried[f] += ordinary;
        if (families[f][0] == RB_GEOM_PLANE) a.b.size[0] = a.b.size[1] = a.b.size[2] = 1.0;
        checked[f] += check_gradient(&rng, &a, &b);
    }
    for (int f = 0; f < NFAMILY; f++) {
        TEST_SEED(f);
        CHECK(checked[f] > tried[f] / 2);
    }
}

TEST_MAIN(RUN(bad_numbers_are_refused), RUN(too_far_away_is_refused), RUN(shapes_without_a_size),
          RUN(extreme_numbers_stay_numbers), RUN(searches_that_reach_their_cap_say_so),
          RUN(gaps_change_as_their_normals_say))
