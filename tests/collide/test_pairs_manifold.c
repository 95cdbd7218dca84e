/* Manifolds: numbers by hand, gradients, continuity, features, symmetries. */
#include "collide_support.h"

static const int families[][2] = {
    { RB_GEOM_PLANE, RB_GEOM_SPHERE },    { RB_GEOM_PLANE, RB_GEOM_CAPSULE },
    { RB_GEOM_PLANE, RB_GEOM_ELLIPSOID }, { RB_GEOM_PLANE, RB_GEOM_CYLINDER },
    { RB_GEOM_PLANE, RB_GEOM_BOX },       { RB_GEOM_SPHERE, RB_GEOM_SPHERE },
    { RB_GEOM_SPHERE, RB_GEOM_CAPSULE },  { RB_GEOM_SPHERE, RB_GEOM_BOX },
    { RB_GEOM_CAPSULE, RB_GEOM_CAPSULE }, { RB_GEOM_CAPSULE, RB_GEOM_BOX },
    { RB_GEOM_BOX, RB_GEOM_BOX }
};
enum { NFAMILY = sizeof families / sizeof families[0] };

static body body_at(int type, double a, double b, double c, double x, double y, double z)
{
    body out = { .type = type, .size = { a, b, c } };
    pose_body(&out, (double[3]){ x, y, z }, (double[4]){ 1.0, 0.0, 0.0, 0.0 });
    return out;
}

static void turn_body(body *b, double x, double y, double z)
{
    move_body(b, (double[3]){ x, y, z }, (double[3]){ 0.0, 0.0, 0.0 });
}

static const rb_manifold_point *point_near(const rb_manifold *m, double x, double y)
{
    for (int i = 0; i < m->n; i++) {
        const double *p = m->point[i].pos1;
        if (fabs(p[0] - x) < 1e-9 && fabs(p[1] - y) < 1e-9) return &m->point[i];
    }
    return NULL;
}

/* ---- by hand ----------------------------------------------------------------------------------
 */

TEST(box_over_box_has_four_corners)
{
    body a = body_at(RB_GEOM_BOX, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0);
    body b = body_at(RB_GEOM_BOX, 0.5, 0.5, 0.5, 0.8, 0.0, 1.25);
    rb_manifold m = collide_bodies(&a, &b, INFINITY);

    /* b spans 0.3 .. 1.3 in x, a ends at 1; the corners over a and the crossings of its edge */
    CHECK_INT(m.n, 4);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(m.point[i].gap, 0.25, 1e-15);
        CHECK_NEAR(m.point[i].normal[2], 1.0, 0.0);
        CHECK_NEAR(m.point[i].pos1[2], 0.5, 1e-15);
        CHECK_NEAR(m.point[i].pos2[2], 0.75, 1e-15);
    }
    CHECK(point_near(&m, 0.3, -0.5) && point_near(&m, 0.3, 0.5));
    CHECK(point_near(&m, 1.0, -0.5) && point_near(&m, 1.0, 0.5));
}

TEST(eight_corners_become_four)
{
    /* the same square turned by 45 degrees: an octagon */
    body a = body_at(RB_GEOM_BOX, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0);
    body b = body_at(RB_GEOM_BOX, 1.0, 1.0, 0.5, 0.0, 0.0, 0.9);
    turn_body(&b, 0.0, 0.0, 0.78539816339744831);
    rb_manifold m = collide_bodies(&a, &b, 0.0);
    CHECK_INT(m.n, 4);
    double mean[2] = { 0.0, 0.0 }, radius = sqrt(1.0 + (sqrt(2.0) - 1.0) * (sqrt(2.0) - 1.0));
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(m.point[i].gap, -0.1, 1e-15);
        CHECK_NEAR(hypot(m.point[i].pos1[0], m.point[i].pos1[1]), radius, 1e-14);
        mean[0] += 0.25 * m.point[i].pos1[0];
        mean[1] += 0.25 * m.point[i].pos1[1];
    }

    /* they surround the centre */
    CHECK(hypot(mean[0], mean[1]) < 0.5 * radius);
}

TEST(boxes_edge_to_edge_and_corner_to_corner)
{
    /* parallel edges 0.3 and 0.4 apart: two points, distance 0.5 */
    body a = body_at(RB_GEOM_BOX, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0);
    body b = body_at(RB_GEOM_BOX, 1.0, 0.5, 1.0, 2.3, 0.2, 2.4);
    rb_manifold m = collide_bodies(&a, &b, 0.6);
    CHECK_INT(m.n, 2);
    for (int i = 0; i < 2; i++) {
        CHECK_NEAR(m.point[i].gap, 0.5, 1e-15);
        CHECK_NEAR(m.point[i].normal[0], 0.6, 1e-15);
        CHECK_NEAR(m.point[i].normal[2], 0.8, 1e-15);
        CHECK_NEAR(m.point[i].pos1[1], i == 0 ? -0.3 : 0.7, 1e-15);
    }

    /* corners: sqrt(0.1^2 + 0.2^2 + 0.2^2) = 0.3 */
    b = body_at(RB_GEOM_BOX, 1.0, 1.0, 1.0, 2.1, 2.2, 2.2);
    m = collide_bodies(&a, &b, INFINITY);
    CHECK_INT(m.n, 1);
    CHECK_NEAR(m.point[0].gap, 0.3, 1e-15);
    CHECK_NEAR(m.point[0].pos1[0], 1.0, 0.0);
    CHECK_NEAR(m.point[0].pos2[2], 1.2, 1e-15);
}

TEST(deep_overlap_leaves_the_short_way)
{
    body a = body_at(RB_GEOM_BOX, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0);
    body b = body_at(RB_GEOM_BOX, 0.2, 0.2, 0.2, 0.7, 0.0, 0.0);
    rb_manifold m = collide_bodies(&a, &b, 0.0);
    CHECK_NEAR(closest_of(&m)->gap, -0.5, 1e-15);
    CHECK_NEAR(closest_of(&m)->normal[0], 1.0, 0.0);

    /* a sphere whose centre is inside, 0.1 below the top */
    body s = body_at(RB_GEOM_SPHERE, 0.3, 0.0, 0.0, 0.0, 0.0, 2.9);
    m = collide_bodies(&s, &a, 0.0);
    CHECK_INT(m.n, 1);
    CHECK_NEAR(m.point[0].gap, -0.4, 1e-15);
    CHECK_NEAR(m.point[0].normal[2], -1.0, 0.0);
}

TEST(capsules_lie_on_two_points)
{
    /* parallel, one half beside the other: the common part is 0 .. 1 in x */
    double half_turn = 1.5707963267948966;
    body a = body_at(RB_GEOM_CAPSULE, 0.1, 1.0, 0.0, 0.0, 0.0, 0.0);
    body b = body_at(RB_GEOM_CAPSULE, 0.2, 1.0, 0.0, 1.0, 0.0, 0.5);
    turn_body(&a, 0.0, half_turn, 0.0);
    turn_body(&b, 0.0, half_turn, 0.0);
    rb_manifold m = collide_bodies(&a, &b, 1.0);
    CHECK_INT(m.n, 2);
    CHECK_NEAR(m.point[0].gap, 0.2, 1e-15);
    CHECK_NEAR(m.point[1].gap, 0.2, 1e-15);
    CHECK(point_near(&m, 0.0, 0.0) && point_near(&m, 1.0, 0.0));

    /* on a box, hanging over its end at x = 0.5 */
    body box = body_at(RB_GEOM_BOX, 0.5, 0.5, 0.5, 0.0, 0.0, -0.6);
    m = collide_bodies(&a, &box, 0.01);
    CHECK_INT(m.n, 2);
    CHECK_NEAR(m.point[0].gap, 0.0, 1e-15);
    CHECK_NEAR(m.point[1].gap, 0.0, 1e-15);
    CHECK(point_near(&m, -0.5, 0.0) && point_near(&m, 0.5, 0.0));

    /* on a plane, one end 0.02 higher */
    body plane = body_at(RB_GEOM_PLANE, 0.0, 0.0, 0.0, 0.0, 0.0, -0.2);
    turn_body(&a, 0.0, asin(0.01), 0.0);
    m = collide_bodies(&plane, &a, INFINITY);
    CHECK_INT(m.n, 2);
    CHECK_NEAR(fabs(m.point[0].gap - m.point[1].gap), 0.02, 1e-15);
    CHECK_NEAR(closest_of(&m)->gap, 0.09, 1e-15);
}

TEST(a_cylinder_stands_on_four_points_and_rolls_on_two)
{
    body plane = body_at(RB_GEOM_PLANE, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    body c = body_at(RB_GEOM_CYLINDER, 0.3, 0.5, 0.0, 0.0, 0.0, 0.5);
    rb_manifold m = collide_bodies(&plane, &c, 0.01);
    CHECK_INT(m.n, 4);
    for (int i = 0; i < 4; i++) CHECK_NEAR(m.point[i].gap, 0.0, 0.0);
    turn_body(&c, 1.5707963267948966, 0.0, 0.0);
    m = collide_bodies(&plane, &c, INFINITY);
    CHECK_INT(m.n, 2);
    CHECK_NEAR(m.point[0].gap, 0.2, 1e-15);
    CHECK_NEAR(m.point[1].gap, 0.2, 1e-15);
}

TEST(a_box_on_a_plane_keeps_its_lowest_vertices)
{
    body plane = body_at(RB_GEOM_PLANE, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        double q[4], height[8];
        body b = body_at(RB_GEOM_BOX, rb_rng_uniform(&rng, 0.1, 1.0),
                         rb_rng_uniform(&rng, 0.1, 1.0), rb_rng_uniform(&rng, 0.1, 1.0), 0, 0, 0);
        random_quat(&rng, q);
        pose_body(&b, b.p, q);
        for (int v = 0; v < 8; v++) {
            double x[3] = { v & 1 ? b.size[0] : -b.size[0], v & 2 ? b.size[1] : -b.size[1],
                            v & 4 ? b.size[2] : -b.size[2] };
            rb_rot(b.R, x, x);
            height[v] = x[2];
        }
        rb_manifold m = collide_bodies(&plane, &b, INFINITY);
        CHECK_INT(m.n, 4);
        double highest = -INFINITY;
        for (int i = 0; i < 4; i++) highest = fmax(highest, m.point[i].gap);
        int lower = 0;
        for (int v = 0; v < 8; v++) lower += height[v] < highest - 1e-12;
        CHECK_INT(lower, 3);
    }
}

/* ---- coincident centres, points, refusals -----------------------------------------------------
 */

TEST(degenerate_shapes_have_gaps)
{
    body a = body_at(RB_GEOM_SPHERE, 0.5, 0.0, 0.0, 1.0, 1.0, 1.0);
    body b = body_at(RB_GEOM_SPHERE, 0.25, 0.0, 0.0, 1.0, 1.0, 1.0);
    rb_manifold m = collide_bodies(&a, &b, 0.0);
    CHECK_NEAR(m.point[0].gap, -0.75, 0.0);
    CHECK_NEAR(rb_norm3(m.point[0].normal), 1.0, 1e-15);

    /* a sphere on the axis of a capsule is pushed out sideways */
    body c = body_at(RB_GEOM_CAPSULE, 0.1, 2.0, 0.0, 1.0, 1.0, 1.5);
    m = collide_bodies(&b, &c, 0.0);
    CHECK_NEAR(m.point[0].gap, -0.35, 0.0);
    CHECK_NEAR(m.point[0].normal[2], 0.0, 1e-15);

    /* two capsules on one axis, two boxes in the same place, shapes without size */
    body d = c;
    m = collide_bodies(&c, &d, 0.0);
    CHECK_NEAR(closest_of(&m)->gap, -0.2, 1e-15);
    CHECK_NEAR(closest_of(&m)->normal[2], 0.0, 1e-15);
    body box = body_at(RB_GEOM_BOX, 0.3, 0.2, 0.4, 1.0, 1.0, 1.0), twin = box;
    m = collide_bodies(&box, &twin, 0.0);
    CHECK_NEAR(closest_of(&m)->gap, -0.4, 1e-15);
    CHECK_NEAR(fabs(closest_of(&m)->normal[1]), 1.0, 0.0);
    body none = body_at(RB_GEOM_BOX, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0);
    m = collide_bodies(&box, &none, 1.0);
    CHECK_INT(m.n, 1);
    CHECK_NEAR(m.point[0].gap, 0.6, 1e-15);
}

TEST(bad_numbers_are_refused)
{
    for (int f = 0; f < NFAMILY; f++) {
        for (int where = 0; where < 15; where++) {
            for (int kind = 0; kind < 3; kind++) {
                static const double bad[3] = { NAN, INFINITY, -INFINITY };
                body a = body_at(families[f][0], 0.1, 0.1, 0.1, 0.0, 0.0, 0.0);
                body b = body_at(families[f][1], 0.1, 0.1, 0.1, 0.0, 0.0, 0.5);
                double *at = where < 3    ? &b.p[where]
                             : where < 12 ? &b.R[where - 3]
                                          : &b.size[where - 12];
                *at = bad[kind];
                rb_shape s1 = shape_of(&a), s2 = shape_of(&b);
                rb_manifold m = { .n = 7 };
                CHECK_INT(rb_pair_manifold(&s1, &s2, 1.0, &m), RB_BAD_INPUT);
                CHECK_INT(m.n, 0);
                CHECK_INT(rb_pair_manifold(&s2, &s1, 1.0, &m), RB_BAD_INPUT);
            }
        }
    }
    body a = body_at(RB_GEOM_SPHERE, 0.1, 0.1, 0.1, 0.0, 0.0, 0.0), b = a;
    rb_shape s1 = shape_of(&a), s2 = shape_of(&b);
    rb_manifold m;
    CHECK_INT(rb_pair_manifold(&s1, &s2, -1.0, &m), RB_BAD_INPUT);
    CHECK_INT(rb_pair_manifold(&s1, &s2, NAN, &m), RB_BAD_INPUT);
    s2.type = RB_GEOM_MESH;
    CHECK_INT(rb_pair_manifold(&s1, &s2, 1.0, &m), RB_UNSUPPORTED);
    CHECK_INT(rb_pair_manifold(&s2, &s1, 1.0, &m), RB_UNSUPPORTED);
}

/* ---- gradients --------------------------------------------------------------------------------
 */

static const rb_manifold_point *same_feature(const rb_manifold *m, uint32_t feature)
{
    for (int i = 0; i < m->n; i++) {
        if (m->point[i].feature == feature) return &m->point[i];
    }
    return NULL;
}

/* Which points are pairs of features fixed to the bodies: the closest, and others but crossings of
 * edges, which wander, and vertices behind a face, which are measured along the normal of all. */
static int is_fixed(const rb_manifold *m, int i)
{
    uint32_t kind1 = m->point[i].feature >> 30, kind2 = m->point[i].feature >> 14 & 3;
    if (&m->point[i] == closest_of(m)) return 1;
    return m->point[i].gap > 0.0 && kind1 != 1 && kind2 != 1 && kind1 != kind2;
}

/* d gap = n . (v + w x (pos2 - p2)) for a motion of shape 2, by central differences. */
TEST(gaps_change_as_their_normals_say)
{
    const double step = 1e-6;
    int checked = 0, further = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        const int *family = families[seed % NFAMILY];
        body a, b;
        double w[3], v[3], arm[3], u[3];
        generic_pair(&rng, family[0], family[1], &a, &b);
        random_unit(&rng, w);
        random_unit(&rng, v);
        rb_manifold here = collide_bodies(&a, &b, INFINITY), there[2] = { here, here };
        for (int side = 0; side < 2; side++) {
            double turn[3], shift[3];
            body moved = b;
            rb_scale3(side ? step : -step, w, turn);
            rb_scale3(side ? step : -step, v, shift);
            move_body(&moved, turn, shift);
            there[side] = collide_bodies(&a, &moved, INFINITY);
        }
        for (int i = 0; i < here.n; i++) {
            const rb_manifold_point *p = &here.point[i];
            const rb_manifold_point *before = same_feature(&there[0], p->feature);
            const rb_manifold_point *after = same_feature(&there[1], p->feature);
            if (!before || !after || !is_fixed(&here, i)) continue;

            /* in the corner where features change, or bend within the step, the gap has a kink */
            if (rb_dot3(before->normal, after->normal) < 1.0 - 1e-9) continue;
            rb_sub3(p->pos2, b.p, arm);
            rb_cross3(w, arm, u);
            rb_add3(u, v, u);
            CHECK_NEAR((after->gap - before->gap) / (2.0 * step), rb_dot3(p->normal, u), 2e-8);
            checked += p == closest_of(&here);
            further += p != closest_of(&here);
        }
    }
    CHECK(checked > 3800 && further > 800);
}

/* ---- continuity -------------------------------------------------------------------------------
 */

/* Small motions: the gap moves no farther than the bodies, and the points stay. */
TEST(small_motions_move_points_a_little)
{
    const double step = 1e-9;
    int same = 0, total = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        const int *family = families[seed % NFAMILY];
        body a, b;
        double turn[3], shift[3];
        generic_pair(&rng, family[0], family[1], &a, &b);
        rb_manifold before = collide_bodies(&a, &b, INFINITY);
        random_unit(&rng, turn);
        random_unit(&rng, shift);
        rb_scale3(step, turn, turn);
        rb_scale3(step, shift, shift);
        double most = step * (1.0 + extent_of(&b)) + 1e-14;
        move_body(&b, turn, shift);
        rb_manifold after = collide_bodies(&a, &b, INFINITY);
        CHECK_NEAR(closest_of(&after)->gap, closest_of(&before)->gap, most);
        for (int i = 0; i < before.n; i++) {
            const rb_manifold_point *p = &before.point[i];
            const rb_manifold_point *q = same_feature(&after, p->feature);
            total++;
            if (!q) continue;
            same++;
            double r[3];
            rb_sub3(p->pos1, q->pos1, r);
            CHECK(rb_norm3(r) < 1e4 * step);
        }
    }
    CHECK_INT(same, total);
}

/* A box slides off another, 0.1 above it and a little tilted: distance and normal follow without a
 * jump through face, edge and corner. */
TEST(sliding_off_an_edge_is_continuous)
{
    static const double tilts[] = { 0.0, 1e-12, 1e-6, 1e-2 };
    for (int k = 0; k < 4; k++) {
        body a = body_at(RB_GEOM_BOX, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0);
        body b = body_at(RB_GEOM_BOX, 0.5, 0.4, 0.5, 0.3, 0.35, 1.6);
        turn_body(&b, tilts[k], 0.7 * tilts[k], 0.3 * tilts[k]);
        const double step = 1e-3;
        rb_manifold last = collide_bodies(&a, &b, INFINITY);
        for (int i = 0; i < 2000; i++) {
            move_body(&b, (double[3]){ 0.0, 0.0, 0.0 }, (double[3]){ step, 0.3 * step, 0.0 });
            rb_manifold m = collide_bodies(&a, &b, INFINITY);
            const rb_manifold_point *p = closest_of(&m), *q = closest_of(&last);
            double r[3];
            CHECK(fabs(p->gap - q->gap) <= 1.05 * step);
            rb_sub3(p->normal, q->normal, r);
            CHECK(rb_norm3(r) <= 2.0 * step / p->gap);
            last = m;
        }
        CHECK(closest_of(&last)->gap > 0.8);
    }
}

/* ---- features ---------------------------------------------------------------------------------
 */

/* Boxes of the same size on each other, every corner on a corner: rounding does not choose. */
TEST(features_of_aligned_boxes_do_not_flicker)
{
    body a = body_at(RB_GEOM_BOX, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0);
    body b = body_at(RB_GEOM_BOX, 0.5, 0.5, 0.5, 0.0, 0.0, 1.0);
    rb_manifold first = collide_bodies(&a, &b, 0.1);
    CHECK_INT(first.n, 4);
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        double turn[3], shift[3];
        random_unit(&rng, turn);
        random_unit(&rng, shift);
        rb_scale3(1e-15, turn, turn);
        rb_scale3(1e-15, shift, shift);
        body c = b;
        move_body(&c, turn, shift);
        rb_manifold m = collide_bodies(&a, &c, 0.1);
        CHECK_INT(m.n, 4);
        for (int i = 0; i < 4; i++) CHECK_INT(m.point[i].feature, first.point[i].feature);
    }
}

/* A box that creeps over another keeps its four features while the corners stay over the face. */
TEST(features_stay_while_they_touch)
{
    body a = body_at(RB_GEOM_BOX, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0);
    body b = body_at(RB_GEOM_BOX, 0.3, 0.2, 0.4, -0.6, -0.7, 0.9);
    rb_manifold first = collide_bodies(&a, &b, 0.01);
    CHECK_INT(first.n, 4);
    for (int i = 0; i < 100; i++) {
        move_body(&b, (double[3]){ 1e-12, -2e-12, 0.004 }, (double[3]){ 0.012, 0.012, 0.0 });
        rb_manifold m = collide_bodies(&a, &b, 0.01);
        CHECK_INT(m.n, 4);
        for (int k = 0; k < 4; k++) CHECK_INT(m.point[k].feature, first.point[k].feature);
    }
}

/* ---- symmetries -------------------------------------------------------------------------------
 */

static uint32_t swapped_feature(uint32_t feature)
{
    return feature >> 16 | feature << 16;
}

static void check_swapped(const rb_manifold *m, const rb_manifold *w, double tol)
{
    CHECK_INT(m->n, w->n);
    for (int i = 0; i < m->n; i++) {
        const rb_manifold_point *p = &m->point[i];
        const rb_manifold_point *q = same_feature(w, swapped_feature(p->feature));
        CHECK(q != NULL);
        CHECK_NEAR(p->gap, q->gap, tol);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(p->normal[k], -q->normal[k], 1e3 * tol);
            CHECK_NEAR(p->pos1[k], q->pos2[k], 1e3 * tol);
        }
    }
}

TEST(swapping_the_shapes_turns_the_manifold)
{
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        const int *family = families[seed % NFAMILY];
        body a, b;
        generic_pair(&rng, family[0], family[1], &a, &b);
        rb_manifold m = collide_bodies(&a, &b, INFINITY), w = collide_bodies(&b, &a, INFINITY);
        check_swapped(&m, &w, 1e-14);
    }
}

TEST(a_rigid_motion_of_both_changes_nothing)
{
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        const int *family = families[seed % NFAMILY];
        body a, b;
        double q[4], far[3], R[9];
        generic_pair(&rng, family[0], family[1], &a, &b);
        rb_manifold m = collide_bodies(&a, &b, INFINITY);
        random_quat(&rng, q);
        rb_quat_to_rot(q, R);
        for (int k = 0; k < 3; k++) far[k] = rb_rng_uniform(&rng, -10.0, 10.0);
        for (int side = 0; side < 2; side++) {
            body *x = side ? &b : &a;
            double p[3], turned[4];
            rb_rot(R, x->p, p);
            rb_add3(p, far, p);
            rb_quat_mul(q, x->q, turned);
            pose_body(x, p, turned);
        }
        rb_manifold w = collide_bodies(&a, &b, INFINITY);
        CHECK_INT(m.n, w.n);
        for (int i = 0; i < m.n; i++) {
            const rb_manifold_point *p = &m.point[i], *t = &w.point[i];
            double x[3];
            CHECK_INT(p->feature, t->feature);
            CHECK_NEAR(p->gap, t->gap, 2e-14);
            rb_rot(R, p->pos1, x);
            rb_add3(x, far, x);
            for (int k = 0; k < 3; k++) CHECK_NEAR(x[k], t->pos1[k], 2e-11);
        }
    }
}

TEST_MAIN(RUN(box_over_box_has_four_corners), RUN(eight_corners_become_four),
          RUN(boxes_edge_to_edge_and_corner_to_corner), RUN(deep_overlap_leaves_the_short_way),
          RUN(capsules_lie_on_two_points), RUN(a_cylinder_stands_on_four_points_and_rolls_on_two),
          RUN(a_box_on_a_plane_keeps_its_lowest_vertices), RUN(degenerate_shapes_have_gaps),
          RUN(bad_numbers_are_refused), RUN(gaps_change_as_their_normals_say),
          RUN(small_motions_move_points_a_little), RUN(sliding_off_an_edge_is_continuous),
          RUN(features_of_aligned_boxes_do_not_flicker), RUN(features_stay_while_they_touch),
          RUN(swapping_the_shapes_turns_the_manifold), RUN(a_rigid_motion_of_both_changes_nothing))
