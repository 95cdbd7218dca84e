/* The outline of a face answers as a look at all its sides does. */
#include "collide/outline.h"
#include "math/vec3.h"
#include "test.h"

static const double margin = 1e-6;

/* n corners on an ellipse in the plane z = 0, at random angles in order, turned into the world. */
static rb_patch polygon(rb_rng *rng, int n)
{
    rb_patch p = { .n = n };
    for (int i = 0; i < n; i++) {
        double angle = 6.28 * (i + rb_rng_uniform(rng, 0.0, 0.9)) / n;
        p.x[i][0] = 3.0 + 0.8 * cos(angle);
        p.x[i][1] = -2.0 + 0.5 * sin(angle);
        p.x[i][2] = 0.1 * p.x[i][0];
    }
    return p;
}

/* Least distance of x from the lines of the sides, seen along z; negative outside. */
static double room(const rb_patch *p, const double x[3])
{
    double least = INFINITY;
    for (int i = 0; i < p->n; i++) {
        const double *a = p->x[i], *b = p->x[(i + 1) % p->n];
        double u = b[0] - a[0], v = b[1] - a[1];
        least = fmin(least, (u * (x[1] - a[1]) - v * (x[0] - a[0])) / sqrt(u * u + v * v));
    }
    return least;
}

static int cross(const double *a, const double *b, const double *c, const double *d)
{
    double whole = (b[0] - a[0]) * (d[1] - c[1]) - (b[1] - a[1]) * (d[0] - c[0]);
    double s = ((c[0] - a[0]) * (d[1] - c[1]) - (c[1] - a[1]) * (d[0] - c[0])) / whole;
    double t = ((c[0] - a[0]) * (b[1] - a[1]) - (c[1] - a[1]) * (b[0] - a[0])) / whole;
    return s >= 0.0 && s <= 1.0 && t >= 0.0 && t <= 1.0;
}

TEST(points_are_inside_or_outside_as_sides_say)
{
    const double n[3] = { 0.0, 0.0, 1.0 };
    rb_rng rng = rb_rng_make(1);
    int decided = 0;
    for (int k = 0; k < 2000; k++) {
        rb_patch p = polygon(&rng, 8 + k % 50);
        rb_outline o;
        rb_outline_make(&p, n, &o);
        double x[3] = { rb_rng_uniform(&rng, 1.5, 4.5), rb_rng_uniform(&rng, -3.0, -1.0), 7.0 };
        int has = rb_outline_has(&o, x, margin);
        double inside = room(&p, x);
        if (has == 1) CHECK(inside > margin);
        if (has == 0) CHECK(inside < -margin);
        decided += has >= 0;
    }
    CHECK(decided > 1000);
}

TEST(sides_that_cross_are_never_missed)
{
    const double n[3] = { 0.0, 0.0, 1.0 };
    rb_rng rng = rb_rng_make(2);
    int missed = 0, met = 0;
    for (int k = 0; k < 500; k++) {
        rb_patch p = polygon(&rng, 8 + k % 50);
        rb_outline o;
        rb_outline_make(&p, n, &o);
        double a[3] = { rb_rng_uniform(&rng, 1.5, 4.5), rb_rng_uniform(&rng, -3.0, -1.0), 1.0 };
        double b[3] = { rb_rng_uniform(&rng, 1.5, 4.5), rb_rng_uniform(&rng, -3.0, -1.0), 1.0 };
        rb_outline_side s = rb_outline_look(&o, a, b, margin);
        for (int j = 0; j < p.n; j++) {
            int misses = s.apart || rb_outline_misses(&o, &s, j);
            int crosses = cross(a, b, p.x[j], p.x[(j + 1) % p.n]);
            CHECK(!(misses && crosses));
            missed += misses;
            met += crosses;
        }
    }
    CHECK(missed > 5000 && met > 200);
}

TEST_MAIN(RUN(points_are_inside_or_outside_as_sides_say), RUN(sides_that_cross_are_never_missed))
