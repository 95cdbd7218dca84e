/* Gaps of convex shapes that have no closed form, against slow methods, on random configurations:
 * thin, large and long shapes, nearly parallel faces, exact touch, deep overlap. RATTLEBACK_PAIRS
 * sets how many per family, RATTLEBACK_SEED after which seed they begin. */
#include "convex_support.h"

#include "base/constants.h"
#include "collide/convex.h"

static rb_model *hulls;

/* Part of the larger of both extents and the distance to which a gap is right. */
static const double gap_tol = 1e-9;

/* The same for points on a surface: a gap is flat about its maximum, the place is not. */
static const double place_tol = 1e-7;

enum { SLOWLY_EVERY = 10 }; /* configurations that a second method looks at */

static int count_of_pairs(void)
{
    return test_count(1000);
}

typedef struct tally {
    int overlaps, touches, apart;
    double worst; /* relative */
} tally;

/* Of the points that count as closest the one whose normal separates best. */
static const rb_manifold_point *leader_of(const solid *a, const solid *b, const rb_manifold *m,
                                          double tie, double *separation)
{
    const rb_manifold_point *best = NULL;
    double least = closest_of(m)->gap;
    for (int i = 0; i < m->n; i++) {
        const rb_manifold_point *p = &m->point[i];
        if (p->gap > least + tie) continue;
        real n[3] = { p->normal[0], p->normal[1], p->normal[2] }, w[3];
        double s = (double)slow_separation(a, b, n, w);
        if (best && !(s > *separation)) continue;
        best = p;
        *separation = s;
    }
    return best;
}

/* Points of a contact lie on both shapes while these are apart. */
static void check_points(const solid *a, const solid *b, const rb_manifold *m, double scale)
{
    double place = place_tol * scale + 4e-15 * fmax(rb_norm3(a->b.p), rb_norm3(b->b.p));
    for (int i = 0; i < m->n; i++) {
        const rb_manifold_point *p = &m->point[i];
        CHECK_NEAR(rb_norm3(p->normal), 1.0, 1e-14);
        CHECK(i == 0 || p->feature > m->point[i - 1].feature);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(p->pos2[k], p->pos1[k] + p->gap * p->normal[k], place);
        }
        if (p->gap <= place_tol * scale) continue;
        CHECK(outside_of(a, p->pos1) <= place && outside_of(b, p->pos2) <= place);
    }
}

static void check_closest(const solid *a, const solid *b, double scale)
{
    rb_shape s1 = shape_of_solid(a), s2 = shape_of_solid(b);
    rb_manifold m = { .n = 0 };
    CHECK_INT(rb_pair_closest(&s1, &s2, INFINITY, &m.point[0], &m.n), RB_OK);
    CHECK_INT(m.n, 1);
    check_points(a, b, &m, scale);
}

/* While apart, the direction bounds the gap from below and the two points from above: that alone is
 * a proof. Otherwise directions found by a sweep must not be better. */
static void check_gap(const solid *a, const solid *b, tally *t, int slowly)
{
    rb_manifold m = collide_solids(a, b, INFINITY);
    CHECK(m.n >= 1 && m.n <= RB_MANIFOLD_KEEP);
    double scale = scale_of_solids(a, b), tol = gap_tol * scale, lower = -INFINITY;
    double gap = closest_of(&m)->gap;
    leader_of(a, b, &m, tol, &lower);
    CHECK_NEAR(gap, lower, tol);
    t->worst = fmax(t->worst, fabs(gap - lower) / scale);
    check_points(a, b, &m, scale);
    check_closest(a, b, scale);
    t->apart += gap > tol;
    t->overlaps += gap < -tol;
    t->touches += fabs(gap) <= tol;
    if (gap > tol) CHECK_INT(collide_solids(a, b, gap - tol).n, 0);
    if (!slowly) return;
    double slow = (double)(gap > tol ? slow_distance(a, b) : slow_depth(a, b, 900, 6));
    CHECK(slow <= gap + tol);
    if (gap > tol) CHECK_NEAR(slow, gap, tol);
    t->worst = fmax(t->worst, (slow - gap) / scale);
    rb_manifold swapped = collide_solids(b, a, INFINITY);
    CHECK_NEAR(closest_of(&swapped)->gap, gap, tol);
}

/* Configurations that were wrong once: nearly parallel lines whose crossing was beyond their ends,
 * rims of cylinders that look past the end of the other, a face that is as good as a direction next
 * to it, a simplex that stalled, a large face whose corners left no room for the closest point, a
 * needle that stands on a long cylinder, an edge of a plate that a coarse polytope did not name, a
 * vertex at the end of a cylinder, a narrow face that looks past the closest point by rounding,
 * a small sphere at a long edge. */
TEST(found_before)
{
    static const int found[][3] = {
        { RB_GEOM_CAPSULE, RB_GEOM_CYLINDER, 17026 },
        { RB_GEOM_CAPSULE, RB_GEOM_CYLINDER, 29813 },
        { RB_GEOM_ELLIPSOID, RB_GEOM_BOX, 56610 },
        { RB_GEOM_CYLINDER, RB_GEOM_BOX, 9165 },
        { RB_GEOM_CYLINDER, RB_GEOM_BOX, 22573 },
        { RB_GEOM_CYLINDER, RB_GEOM_BOX, 27544 },
        { RB_GEOM_CYLINDER, RB_GEOM_BOX, 96387 },
        { RB_GEOM_CYLINDER, RB_GEOM_CYLINDER, 20116 },
        { RB_GEOM_CYLINDER, RB_GEOM_CYLINDER, 43008 },
        { RB_GEOM_CYLINDER, RB_GEOM_CYLINDER, 45368 },
        { RB_GEOM_CYLINDER, RB_GEOM_CYLINDER, 81700 },
        { RB_GEOM_CYLINDER, RB_GEOM_CYLINDER, 40056913 },
        { RB_GEOM_CYLINDER, RB_GEOM_MESH, 3016847 },
        { RB_GEOM_CYLINDER, RB_GEOM_MESH, 3018570 },
        { RB_GEOM_MESH, RB_GEOM_MESH, 3177 },
        { RB_GEOM_ELLIPSOID, RB_GEOM_CYLINDER, 20097000 },
        { RB_GEOM_ELLIPSOID, RB_GEOM_MESH, 60068260 },
        { RB_GEOM_CYLINDER, RB_GEOM_MESH, 60093790 },
        { RB_GEOM_ELLIPSOID, RB_GEOM_BOX, 99004231 },
        { RB_GEOM_SPHERE, RB_GEOM_MESH, 120059138 },
    };
    tally t = { 0 };
    if (!hulls) hulls = hull_model();
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        TEST_SEED(found[i][2]);
        rb_rng rng = rb_rng_make((uint64_t)found[i][2]);
        solid a, b;
        random_solids(&rng, hulls, found[i][0], found[i][1], &a, &b);
        check_gap(&a, &b, &t, 1);
    }
}

static void check_family(int type1, int type2)
{
    tally t = { 0 };
    if (!hulls) hulls = hull_model();
    for (int i = 0; i < count_of_pairs(); i++) {
        int seed = test_first_seed() + i;
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make((uint64_t)seed);
        solid a, b;
        random_solids(&rng, hulls, type1, type2, &a, &b);
        check_gap(&a, &b, &t, seed % SLOWLY_EVERY == 0);
    }
    printf("    types %d and %d: %d apart, %d touch, %d overlap; worst error %.1e\n", type1, type2,
           t.apart, t.touches, t.overlaps, t.worst);
    CHECK(t.overlaps > count_of_pairs() / 50 && t.touches > count_of_pairs() / 50);
}

#define FAMILY(name, type1, type2)                                                                 \
    TEST(name)                                                                                     \
    {                                                                                              \
        check_family(RB_GEOM_##type1, RB_GEOM_##type2);                                            \
    }

FAMILY(sphere_ellipsoid, SPHERE, ELLIPSOID)
FAMILY(sphere_cylinder, SPHERE, CYLINDER)
FAMILY(sphere_hull, SPHERE, MESH)
FAMILY(capsule_ellipsoid, CAPSULE, ELLIPSOID)
FAMILY(capsule_cylinder, CAPSULE, CYLINDER)
FAMILY(capsule_hull, CAPSULE, MESH)
FAMILY(ellipsoid_ellipsoid, ELLIPSOID, ELLIPSOID)
FAMILY(ellipsoid_cylinder, ELLIPSOID, CYLINDER)
FAMILY(ellipsoid_box, ELLIPSOID, BOX)
FAMILY(ellipsoid_hull, ELLIPSOID, MESH)
FAMILY(cylinder_cylinder, CYLINDER, CYLINDER)
FAMILY(cylinder_box, CYLINDER, BOX)
FAMILY(cylinder_hull, CYLINDER, MESH)
FAMILY(box_hull, BOX, MESH)
FAMILY(hull_hull, MESH, MESH)

/* The general method on shapes that have a closed form. Returns the difference, relative. */
static double compare_with_closed_form(int seed)
{
    static const int types[] = { RB_GEOM_SPHERE, RB_GEOM_CAPSULE, RB_GEOM_BOX };
    TEST_SEED(seed);
    rb_rng rng = rb_rng_make((uint64_t)seed);
    body a, b;
    random_pair(&rng, types[seed % 3], RB_GEOM_BOX, &a, &b);
    rb_shape s1 = shape_of(&a), s2 = shape_of(&b);
    rb_couple couple;
    rb_closest closest;
    CHECK(rb_couple_make(&s1, &s2, &couple));
    rb_closest_find(&couple, NULL, &closest);
    double gap = closest.at.s - couple.core1.radius - couple.core2.radius;
    rb_manifold m = collide_bodies(&a, &b, INFINITY);
    double error = fabs(gap - closest_of(&m)->gap) / scale_of(&a, &b);
    int touches = fabs(gap) <= RB_DEPTH_NONE * scale_of(&a, &b);
    CHECK_NEAR(error, 0.0, touches ? RB_DEPTH_NONE : 1e-12);
    return error;
}

TEST(agrees_with_closed_forms)
{
    /* GJK stalls on a plate of 1 um; the nearest face of a polytope is not; it has no digits; 1e-11
     * of the size apart */
    static const int found[] = { 20026577, 50197019, 80099372, 100076198 };
    double worst = 0.0;
    for (int i = 0; i < 4; i++) worst = fmax(worst, compare_with_closed_form(found[i]));
    for (int i = 0; i < 4 * count_of_pairs(); i++)
        worst = fmax(worst, compare_with_closed_form(test_first_seed() + i));
    printf("    worst difference %.1e\n", worst);
}

/* A cylinder and a box that overlap need no search, and what is found at once is the depth. */
TEST(cylinder_in_box_at_once)
{
    int overlaps = 0, direct = 0;
    for (int i = 0; i < 2 * count_of_pairs(); i++) {
        int seed = test_first_seed() + 500000 + i;
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make((uint64_t)seed);
        solid a, b;
        random_solids(&rng, NULL, RB_GEOM_CYLINDER, RB_GEOM_BOX, &a, &b);
        rb_shape s1 = shape_of_solid(&a), s2 = shape_of_solid(&b);
        rb_couple couple;
        rb_closest closest;
        CHECK(rb_couple_make(&s1, &s2, &couple));
        int found = rb_cylinder_box(&couple, &closest);
        double scale = scale_of_solids(&a, &b), tol = gap_tol * scale;
        if (!found || closest.at.s > -tol) {
            rb_closest_find(&couple, NULL, &closest);
            overlaps += closest.at.s < -tol;
            continue;
        }
        overlaps++;
        direct++;
        if (direct % 3 == 0) CHECK(slow_depth(&a, &b, 900, 6) <= closest.at.s + tol);
        const double *n = closest.at.n;
        real m[3] = { n[0], n[1], n[2] }, w[3];
        CHECK_NEAR((double)slow_separation(&a, &b, m, w), closest.at.s, 1e-13 * scale);
        CHECK_NEAR(rb_norm3(n), 1.0, 1e-14);
    }
    printf("    %d of %d depths at once\n", direct, overlaps);
    CHECK(6 * direct >= 5 * overlaps && overlaps > count_of_pairs() / 4);
}

static int is_same(const rb_manifold *x, const rb_manifold *y)
{
    int same = x->n == y->n && x->error == y->error;
    for (int i = 0; same && i < x->n; i++) {
        const rb_manifold_point *p = &x->point[i], *q = &y->point[i];
        same = p->gap == q->gap && p->feature == q->feature;
        for (int k = 0; k < 3; k++) {
            same = same && p->normal[k] == q->normal[k] && p->pos1[k] == q->pos1[k] &&
                   p->pos2[k] == q->pos2[k];
        }
    }
    return same;
}

/* Along paths of close poses: calls `look` for every pose, returns the paths of which it said that
 * some poses are other ones. */
typedef int (*pose_fn)(const rb_shape *s1, const rb_shape *s2, double scale, rb_warm *warm);

enum { PATHS = 500, POSES = 12 };

static int paths_of(const int types[][2], int ntypes, pose_fn look)
{
    int others = 0, paths = 0;
    if (!hulls) hulls = hull_model();
    for (int i = 0; i < ntypes * PATHS; i++) {
        TEST_SEED(test_first_seed() + i);
        rb_rng rng = rb_rng_make((uint64_t)(test_first_seed() + i));
        solid a, b;
        rb_warm warm = { .ncorner = 0 };
        random_solids(&rng, hulls, types[i % ntypes][0], types[i % ntypes][1], &a, &b);
        double scale = scale_of_solids(&a, &b), turn[3], shift[3], fast = i % 2 ? 1e-3 : 1e-9;
        for (int k = 0; k < 3; k++) {
            turn[k] = fast * rb_rng_normal(&rng);
            shift[k] = fast * scale * rb_rng_normal(&rng);
        }
        int before = others;
        for (int pose = 0; pose < POSES; pose++) {
            rb_shape s1 = shape_of_solid(&a), s2 = shape_of_solid(&b);
            others += look(&s1, &s2, scale, &warm);
            move_body(&b.b, turn, shift);
        }
        paths += others > before;
    }
    printf("    %d of %d poses are other ones\n", others, ntypes * PATHS * POSES);
    return paths;
}

static int manifold_differs(const rb_shape *s1, const rb_shape *s2, double scale, rb_warm *warm)
{
    rb_manifold x, y;
    CHECK_INT(rb_pair_manifold(s1, s2, 0.1 * scale, &x), RB_OK);
    CHECK_INT(rb_pair_manifold_warm(s1, s2, 0.1 * scale, warm, &y), RB_OK);
    CHECK_INT(x.n > 0, y.n > 0);
    if (x.n > 0) CHECK_NEAR(closest_of(&x)->gap, closest_of(&y)->gap, gap_tol * scale);
    return !is_same(&x, &y);
}

static int closest_differs(const rb_shape *s1, const rb_shape *s2, double scale, rb_warm *warm)
{
    rb_manifold x = { .n = 1 }, y = { .n = 1 };
    int found, again;
    CHECK_INT(rb_pair_closest(s1, s2, INFINITY, &x.point[0], &found), RB_OK);
    CHECK_INT(rb_pair_closest_warm(s1, s2, INFINITY, warm, &y.point[0], &again), RB_OK);
    CHECK(found && again);
    CHECK_NEAR(x.point[0].gap, y.point[0].gap, gap_tol * scale);
    return !is_same(&x, &y);
}

static const int polyhedra[][2] = { { RB_GEOM_CAPSULE, RB_GEOM_MESH },
                                    { RB_GEOM_BOX, RB_GEOM_MESH },
                                    { RB_GEOM_MESH, RB_GEOM_BOX },
                                    { RB_GEOM_MESH, RB_GEOM_MESH } };

/* The last normal and simplex change how long it takes, not what is found: to the bit, but for
 * lines and faces that are parallel to rounding, of which several directions are as good. */
TEST(warm_is_cold)
{
    CHECK(paths_of(polyhedra, 4, manifold_differs) <= 8);
    CHECK(paths_of(polyhedra, 4, closest_differs) <= 8);
}

/* Curved shapes give the same gap. */
TEST(warm_newton)
{
    static const int curved[][2] = {
        { RB_GEOM_CAPSULE, RB_GEOM_CYLINDER },   { RB_GEOM_ELLIPSOID, RB_GEOM_CYLINDER },
        { RB_GEOM_CYLINDER, RB_GEOM_ELLIPSOID }, { RB_GEOM_CYLINDER, RB_GEOM_BOX },
        { RB_GEOM_ELLIPSOID, RB_GEOM_MESH },     { RB_GEOM_CYLINDER, RB_GEOM_CYLINDER }
    };
    paths_of(curved, 6, manifold_differs);
    paths_of(curved, 6, closest_differs);
}

/* A start from the answer of other shapes, or from no answer at all. */
static int start_anywhere(const rb_shape *s1, const rb_shape *s2, double scale, rb_warm *last)
{
    rb_rng rng = rb_rng_make((uint64_t)(last->ncorner + 1e6 * fabs(s2->p[0])));
    rb_warm warm = { .ncorner = (int)(rb_rng_next(&rng) % 6) - 1 };
    for (int k = 0; k < 3; k++) {
        warm.n[k] = rb_rng_normal(&rng);
        warm.corner[k][0] = (int)(rb_rng_next(&rng) % 40) - 4;
        warm.corner[k][1] = (int)(rb_rng_next(&rng) % 40) - 4;
    }
    if ((int)(rb_rng_next(&rng) % 8) == 0) warm.n[0] = NAN;
    if ((int)(rb_rng_next(&rng) % 2)) rb_normalize3(warm.n);
    *last = warm;
    return closest_differs(s1, s2, scale, &warm) + manifold_differs(s1, s2, scale, &warm);
}

TEST(warm_from_anywhere)
{
    CHECK(paths_of(polyhedra, 4, start_anywhere) <= 20);
}

TEST_MAIN(RUN(warm_is_cold), RUN(warm_newton), RUN(warm_from_anywhere),
          RUN(agrees_with_closed_forms), RUN(cylinder_in_box_at_once), RUN(found_before),
          RUN(sphere_ellipsoid), RUN(sphere_cylinder), RUN(sphere_hull), RUN(capsule_ellipsoid),
          RUN(capsule_cylinder), RUN(capsule_hull), RUN(ellipsoid_ellipsoid),
          RUN(ellipsoid_cylinder), RUN(ellipsoid_box), RUN(ellipsoid_hull), RUN(cylinder_cylinder),
          RUN(cylinder_box), RUN(cylinder_hull), RUN(box_hull), RUN(hull_hull))
