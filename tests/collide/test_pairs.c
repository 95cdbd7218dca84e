/* Pairs of shapes against the slow second method of collide_support.h, on random configurations:
 * thin, large and long shapes, nearly parallel faces, exact touch, deep overlap. RATTLEBACK_PAIRS
 * sets how many per family. */
#include "collide_support.h"

enum { SWEEP_EVERY = 40 }; /* configurations that the direction sweep checks as well */

/* Part of the larger of both extents and the distance to which a gap is right. */
static const double gap_tol = 1e-12;

/* The least separation error of the points that count as closest: their normal separates the shapes
 * by their gap. */
static double normal_error(const body *a, const body *b, const rb_manifold *m, double least,
                           double tol)
{
    zonotope z = difference_of(a, b);
    double best = INFINITY;
    for (int i = 0; i < m->n; i++) {
        const rb_manifold_point *p = &m->point[i];
        real n[3] = { p->normal[0], p->normal[1], p->normal[2] };
        if (p->gap > least + tol) continue;
        best = fmin(best, fabs((double)(separation(&z, n) - z.radius) - p->gap));
    }
    return best;
}

static void check_points(const body *a, const body *b, const rb_manifold *m, double least,
                         double scale)
{
    double tol = gap_tol * scale, place = fmax(rb_norm3(a->p), rb_norm3(b->p)) * 1e-15 + tol;
    CHECK(m->n >= 1 && m->n <= RB_MANIFOLD_KEEP);
    for (int i = 0; i < m->n; i++) {
        const rb_manifold_point *p = &m->point[i];
        CHECK(i == 0 || p->feature > m->point[i - 1].feature);
        CHECK_NEAR(rb_norm3(p->normal), 1.0, 1e-14);
        CHECK(p->gap >= least - tol);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(p->pos2[k], p->pos1[k] + p->gap * p->normal[k], place);
        }

        /* the closest is on both surfaces; the sphere at the end of a capsule that leans away has
         * its own lowest point inside */
        if (p->gap <= tol) continue;
        double off1 = (double)off_surface(a, p->pos1), off2 = (double)off_surface(b, p->pos2);
        CHECK(off1 <= place && off2 <= place);
        if (p->gap <= least + tol) CHECK(off1 >= -place && off2 >= -place);
    }
}

typedef struct tally {
    int overlaps, touches;
} tally;

static void check_pair(int type1, int type2, int seed, tally *t)
{
    TEST_SEED(seed);
    rb_rng rng = rb_rng_make((uint64_t)seed);
    body a, b;
    random_pair(&rng, type1, type2, &a, &b);
    double scale = scale_of(&a, &b), tol = gap_tol * scale;
    rb_manifold m = collide_bodies(&a, &b, INFINITY);
    slow_gap slow = slow_gap_of(&a, &b);
    double gap = closest_of(&m)->gap, core = fabs((double)slow.core);
    CHECK_NEAR(gap, (double)slow.gap, tol);
    check_points(&a, &b, &m, (double)slow.gap, scale);
    t->overlaps += gap < -tol;
    t->touches += fabs(gap) <= tol;

    /* a direction is as certain as the distance is long */
    double certain = tol * (1.0 + scale / fmax(core, 1e-5 * scale));
    CHECK_NEAR(normal_error(&a, &b, &m, gap, tol), 0.0, certain);
    if (seed % SWEEP_EVERY == 0 && !slow.apart) {
        zonotope z = difference_of(&a, &b);
        CHECK((double)(sweep(&z, 400, 4) - z.radius) <= gap + tol);
    }

    /* a reach that ends before the shapes leaves nothing */
    if (gap > tol) CHECK_INT(collide_bodies(&a, &b, gap - tol).n, 0);
    rb_manifold swapped = collide_bodies(&b, &a, INFINITY);
    CHECK_NEAR(closest_of(&swapped)->gap, gap, tol);
}

/* Boxes that touch with a vertex next to the border of a face, nearly parallel to one of its own:
 * the normal of that face does not separate them. */
TEST(found_before)
{
    static const int found[] = { 20011156, 20031467, 20098835, 21025656, 22034653 };
    tally t = { 0 };
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++)
        check_pair(RB_GEOM_BOX, RB_GEOM_BOX, found[i], &t);
    CHECK_INT(t.touches, 5);
}

static void check_family(int type1, int type2)
{
    tally t = { 0 };
    for (int pair = 0; pair < pair_count(); pair++)
        check_pair(type1, type2, test_first_seed() + pair, &t);
    CHECK(t.overlaps > pair_count() / 50 && t.touches > pair_count() / 50);
}

TEST(sphere_sphere)
{
    check_family(RB_GEOM_SPHERE, RB_GEOM_SPHERE);
}

TEST(sphere_capsule)
{
    check_family(RB_GEOM_SPHERE, RB_GEOM_CAPSULE);
}

TEST(sphere_box)
{
    check_family(RB_GEOM_SPHERE, RB_GEOM_BOX);
}

TEST(capsule_capsule)
{
    check_family(RB_GEOM_CAPSULE, RB_GEOM_CAPSULE);
}

TEST(capsule_box)
{
    check_family(RB_GEOM_CAPSULE, RB_GEOM_BOX);
}

TEST(box_box)
{
    check_family(RB_GEOM_BOX, RB_GEOM_BOX);
}

/* Width of a shape along a unit vector of the world, about its centre. */
static real width_along(const body *b, const real n[3])
{
    zonotope z = { .n = 0, .radius = 0.0L };
    real d[3] = { 0.0L, 0.0L, 0.0L };
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) d[k] += (real)b->R[3 * i + k] * n[i];
    }
    if (b->type == RB_GEOM_CYLINDER) {
        return b->size[0] * sqrtl(d[0] * d[0] + d[1] * d[1]) + b->size[1] * fabsl(d[2]);
    }
    if (b->type == RB_GEOM_ELLIPSOID) {
        for (int k = 0; k < 3; k++) d[k] *= b->size[k];
        return sqrtl(dot_of(d, d));
    }
    add_generators(&z, b);
    return z.radius - separation(&z, n);
}

TEST(plane_against_all)
{
    static const int types[] = { RB_GEOM_SPHERE, RB_GEOM_CAPSULE, RB_GEOM_ELLIPSOID,
                                 RB_GEOM_CYLINDER, RB_GEOM_BOX };
    for (int pair = 0; pair < pair_count(); pair++) {
        int seed = test_first_seed() + pair;
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make((uint64_t)seed);
        body plane, b;
        random_pair(&rng, RB_GEOM_PLANE, types[seed % 5], &plane, &b);
        double scale = scale_of(&plane, &b), tol = gap_tol * scale;
        real n[3] = { plane.R[2], plane.R[5], plane.R[8] }, w[3];
        for (int k = 0; k < 3; k++) w[k] = (real)b.p[k] - (real)plane.p[k];
        double gap = (double)(dot_of(n, w) - width_along(&b, n));

        rb_manifold m = collide_bodies(&plane, &b, INFINITY);
        CHECK(m.n >= 1 && m.n <= RB_MANIFOLD_KEEP);
        CHECK_NEAR(closest_of(&m)->gap, gap, tol);
        for (int i = 0; i < m.n; i++) {
            const rb_manifold_point *p = &m.point[i];
            CHECK(p->gap >= gap - tol);
            for (int k = 0; k < 3; k++) {
                CHECK_NEAR(p->normal[k], (double)n[k], 0.0);
                CHECK_NEAR(p->pos2[k], p->pos1[k] + p->gap * p->normal[k], 4.0 * tol);
                w[k] = (real)p->pos1[k] - (real)plane.p[k];
            }
            CHECK_NEAR((double)dot_of(n, w), 0.0, 4.0 * tol);
            if (b.type != RB_GEOM_ELLIPSOID && b.type != RB_GEOM_CYLINDER) {
                CHECK((double)off_surface(&b, p->pos2) <= 4.0 * tol);
            }
        }
        rb_manifold swapped = collide_bodies(&b, &plane, INFINITY);
        CHECK_INT(swapped.n, m.n);
        CHECK_NEAR(closest_of(&swapped)->gap, closest_of(&m)->gap, 0.0);
        CHECK_NEAR(closest_of(&swapped)->normal[0], -(double)n[0], 0.0);
    }
}

TEST_MAIN(RUN(found_before), RUN(sphere_sphere), RUN(sphere_capsule), RUN(sphere_box),
          RUN(capsule_capsule), RUN(capsule_box), RUN(box_box), RUN(plane_against_all))
