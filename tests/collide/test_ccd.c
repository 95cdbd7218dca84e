/* Depths beside libccd, where its header is installed. Its GJK with EPA measures a polytope inside
 * the difference of the shapes and ends early: its depth is a lower bound, by up to a decimetre on
 * curved shapes of half a metre, the direction it finds an upper one, and our depth lies between.
 * Where its yes or no is not ours, as of two spheres of 100,000 pairs, the slow method decides. */
#include "convex_support.h"

#if __has_include(<ccd/ccd.h>)

#include <ccd/ccd.h>

/* Gaps at which its yes or no may be either, and rounding of its depth [m]. */
static const double touch_known = 1e-6;

static void support_ccd(const void *object, const ccd_vec3_t *dir, ccd_vec3_t *v)
{
    real n[3] = { dir->v[0], dir->v[1], dir->v[2] }, x[3];
    const double origin[3] = { 0.0, 0.0, 0.0 };
    support_of(object, n, origin, x);
    for (int k = 0; k < 3; k++) v->v[k] = (ccd_real_t)x[k];
}

static ccd_t make_ccd(void)
{
    ccd_t ccd;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = support_ccd;
    ccd.max_iterations = 500;
    ccd.epa_tolerance = 1e-6;
    return ccd;
}

static void ordinary(rb_rng *rng, const rb_model *m, int type, double reach, solid *s)
{
    double p[3], q[4];
    *s = (solid){ .b = { .type = type }, .m = m, .mesh = -1 };
    for (int k = 0; k < 3; k++) {
        s->b.size[k] = rb_rng_uniform(rng, 0.2, 0.5);
        p[k] = rb_rng_uniform(rng, -reach, reach);
    }
    if (type == RB_GEOM_MESH) s->mesh = (int)(rb_rng_next(rng) % NHULL);
    random_quat(rng, q);
    pose_body(&s->b, p, q);
}

TEST(agrees_with_libccd)
{
    static const int types[] = { RB_GEOM_SPHERE,   RB_GEOM_CAPSULE, RB_GEOM_ELLIPSOID,
                                 RB_GEOM_CYLINDER, RB_GEOM_BOX,     RB_GEOM_MESH };
    rb_model *m = hull_model();
    ccd_t ccd = make_ccd();
    int overlaps = 0, apart = 0, refused = 0, others = 0;
    double worst[2] = { 0.0, 0.0 };
    for (int i = 0; i < test_count(6000); i++) {
        int seed = test_first_seed() + i;
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make((uint64_t)seed);
        solid a, b;
        ordinary(&rng, m, types[seed % 6], 0.4, &a);
        ordinary(&rng, m, types[seed / 6 % 6], 0.4, &b);
        if (extent_of_solid(&a) > 3.0 || extent_of_solid(&b) > 3.0) continue;
        if (extent_of_solid(&a) < 0.1 || extent_of_solid(&b) < 0.1) continue;
        rb_manifold found = collide_solids(&a, &b, INFINITY);
        double gap = closest_of(&found)->gap;
        if (fabs(gap) < touch_known) continue;
        if (ccdGJKIntersect(&a, &b, &ccd) != (gap < 0.0)) {
            double slow = (double)(gap > 0.0 ? slow_distance(&a, &b) : slow_depth(&a, &b, 900, 6));
            CHECK_NEAR(slow, gap, 1e-9);
            others++;
            continue;
        }
        apart += gap > 0.0;
        if (gap > 0.0) continue;
        ccd_real_t depth;
        ccd_vec3_t dir, pos;
        if (ccdGJKPenetration(&a, &b, &ccd, &depth, &dir, &pos) != 0) {
            refused++;
            continue;
        }
        real n[3] = { dir.v[0], dir.v[1], dir.v[2] }, w[3];
        CHECK((double)slow_separation(&a, &b, n, w) <= gap + 1e-9);
        CHECK(depth <= -gap + touch_known);
        int flat = a.b.type >= RB_GEOM_BOX && b.b.type >= RB_GEOM_BOX;
        worst[flat] = fmax(worst[flat], fabs(depth + gap));
        overlaps++;
    }
    rb_model_free(m, NULL);
    printf("    %d apart, %d overlap, %d without an answer; libccd below by %.1e, polyhedra %.1e\n",
           apart, overlaps, refused, worst[0], worst[1]);
    printf("    %d times its yes or no was wrong\n", others);
    CHECK(apart > 500 && overlaps > 500 && others <= test_count(6000) / 6000);
}

TEST_MAIN(RUN(agrees_with_libccd))

#else

TEST(agrees_with_libccd)
{
    SKIP("libccd is not installed (libccd-dev)");
}

TEST_MAIN(RUN(agrees_with_libccd))

#endif
