/* Balls that prove a depth lie inside the difference of the cores: looked at from many directions,
 * no plane that separates the difference cuts them. */
#include "convex_support.h"

#include "collide/convex.h"
#include "collide/inner.h"

enum { PAIRS = 300, DIRECTIONS = 300 };

static rb_model *hulls;

/* That the ball of this radius, touching D at w from inside along n, is not cut. */
static void check_ball(const solid *a, const solid *b, const double w[3], const double n[3],
                       double radius, rb_rng *rng)
{
    double scale = scale_of_solids(a, b), x[3];
    for (int i = 0; i < DIRECTIONS; i++) {
        /* every second direction close to n: that is where a ball is cut first */
        random_unit(rng, x);
        double near = i % 2 ? random_power(rng, -6.0, 0.0) : 1.0;
        for (int k = 0; k < 3 && i % 2; k++) x[k] = n[k] + near * x[k];
        rb_normalize3(x);
        real m[3] = { x[0], x[1], x[2] }, at[3];
        double bound = (double)slow_separation(a, b, m, at), side = 0.0;
        for (int k = 0; k < 3; k++) side += x[k] * (w[k] + radius * n[k]);
        CHECK(bound <= side - radius + 1e-12 * scale);
    }
}

static void couple_of(const solid *a, const solid *b, rb_shape shape[2], rb_couple *couple)
{
    shape[0] = shape_of_solid(a);
    shape[1] = shape_of_solid(b);
    CHECK(rb_couple_make(&shape[0], &shape[1], couple));
}

/* Ellipsoids, and two rims. */
TEST(curved_parts)
{
    static const int types[][2] = { { RB_GEOM_ELLIPSOID, RB_GEOM_ELLIPSOID },
                                    { RB_GEOM_ELLIPSOID, RB_GEOM_BOX },
                                    { RB_GEOM_ELLIPSOID, RB_GEOM_CYLINDER },
                                    { RB_GEOM_CYLINDER, RB_GEOM_CYLINDER } };
    int found = 0;
    if (!hulls) hulls = hull_model();
    for (int seed = 1; seed <= PAIRS; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make((uint64_t)seed);
        solid a, b;
        rb_shape shape[2];
        rb_couple couple;
        rb_corner corner;
        double n[3];
        random_solids(&rng, hulls, types[seed % 4][0], types[seed % 4][1], &a, &b);
        couple_of(&a, &b, shape, &couple);
        random_unit(&rng, n);
        rb_couple_corner(&couple, n, &corner);
        double radius = rb_inner_curved(&couple, n, NULL);
        found += radius > 1e-3 * couple.scale;
        check_ball(&a, &b, corner.w, n, radius, &rng);
    }
    CHECK(found > PAIRS / 2);
}

/* A point on an edge of shape 1, which is a box or the side of a cylinder, against a rim. */
TEST(edges)
{
    static const int types[] = { RB_GEOM_BOX, RB_GEOM_CYLINDER };
    int found = 0;
    if (!hulls) hulls = hull_model();
    for (int seed = 1; seed <= PAIRS; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make((uint64_t)seed);
        solid a, b;
        rb_shape shape[2];
        rb_couple couple;
        rb_corner corner;
        double n[3], u[3];
        random_solids(&rng, hulls, types[seed % 2], RB_GEOM_CYLINDER, &a, &b);
        couple_of(&a, &b, shape, &couple);
        rb_core_axis(&couple.core1, 2, u);
        random_unit(&rng, n);
        rb_axpy3(-rb_dot3(n, u), u, n);
        rb_normalize3(n);
        rb_couple_corner(&couple, n, &corner);

        /* from wherever on the edge the corner is to a place between its ends */
        double half = a.b.size[seed % 2 ? 1 : 2], to = rb_rng_uniform(&rng, -half, half);
        rb_axpy3(rb_dot3(corner.x1, u) - to, u, corner.w);
        rb_inner_edge edge = { .u = u, .room = half - fabs(to), .second = 0 };
        double radius = rb_inner_curved(&couple, n, &edge);
        found += radius > 1e-3 * couple.scale;
        check_ball(&a, &b, corner.w, n, radius, &rng);
    }
    CHECK(found > PAIRS / 2);
}

/* x1 (from the place of a) is a point of a, and s before it there is one of b. */
static void check_place(const solid *a, const solid *b, const double n[3], double s,
                        const double x1[3], double tol)
{
    double p1[3], p2[3];
    rb_add3(x1, a->b.p, p1);
    rb_copy3(p1, p2);
    rb_axpy3(s, n, p2);
    CHECK(outside_of(a, p1) <= tol && outside_of(b, p2) <= tol);
}

/* Gaps and depths that are attained on a face or a pair of edges. */
TEST(flat_parts)
{
    static const int types[][2] = { { RB_GEOM_BOX, RB_GEOM_MESH },
                                    { RB_GEOM_MESH, RB_GEOM_MESH },
                                    { RB_GEOM_CYLINDER, RB_GEOM_BOX },
                                    { RB_GEOM_CYLINDER, RB_GEOM_MESH } };
    int found = 0;
    if (!hulls) hulls = hull_model();
    for (int seed = 1; seed <= 10 * PAIRS; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make((uint64_t)seed);
        solid a, b;
        rb_shape shape[2];
        rb_couple couple;
        rb_closest closest;
        random_solids(&rng, hulls, types[seed % 4][0], types[seed % 4][1], &a, &b);
        couple_of(&a, &b, shape, &couple);
        rb_closest_find(&couple, NULL, &closest);
        double w[3], x1[3];
        if (!closest.at.exact) continue;
        if (!rb_inner_flat(&couple, closest.at.n, closest.at.s, x1)) continue;
        check_place(&a, &b, closest.at.n, closest.at.s, x1, 1e-9 * couple.scale);
        if (!(closest.at.s < 0.0)) continue;
        found++;
        rb_scale3(closest.at.s, closest.at.n, w);
        check_ball(&a, &b, w, closest.at.n, -closest.at.s, &rng);
    }
    CHECK(found > PAIRS / 2);
}

TEST_MAIN(RUN(curved_parts), RUN(edges), RUN(flat_parts))
