/* Faces that lie on each other, against a search of all faces and pairs of edges: tilted by 1e-12
 * to 1e-3, shifted beyond each other's edges, a little apart or a little inside each other. */
#include "convex_support.h"

#include "base/constants.h"
#include "collide/flats.h"

static rb_model *hulls;

typedef struct laid {
    solid a, b;
    double n[3]; /* normal of the face of a */
} laid;

static int random_mesh(rb_rng *rng)
{
    return (int)(rb_rng_next(rng) % (uint32_t)hulls->nmesh);
}

/* The middle and the outward normal of a face, in the frame of the hull; its radius. */
static double middle_of(int mesh, int face, double middle[3], double normal[3])
{
    int at = hulls->mesh_hullfaceadr[mesh] + face, adr = hulls->hull_loopadr[at];
    const double *vert = hulls->hull_vert + 3 * (ptrdiff_t)hulls->mesh_hullvertadr[mesh];
    double radius = INFINITY;
    rb_copy3(hulls->hull_plane + 4 * (ptrdiff_t)at, normal);
    rb_zero3(middle);
    for (int i = 0; i < hulls->hull_loopnum[at]; i++)
        rb_axpy3(1.0 / hulls->hull_loopnum[at], vert + 3 * (ptrdiff_t)hulls->hull_loop[adr + i],
                 middle);
    for (int i = 0; i < hulls->hull_loopnum[at]; i++) {
        double r[3];
        rb_sub3(vert + 3 * (ptrdiff_t)hulls->hull_loop[adr + i], middle, r);
        radius = fmin(radius, rb_norm3(r));
    }
    return radius;
}

static void random_solid(rb_rng *rng, solid *s, int *face)
{
    *s = (solid){ .m = hulls, .mesh = random_mesh(rng) };
    s->b.type = RB_GEOM_MESH;
    s->b.q[0] = 1.0;
    rb_quat_to_rot(s->b.q, s->b.R);
    *face = (int)(rb_rng_next(rng) % (uint32_t)hulls->mesh_hullfacenum[s->mesh]);
}

/* b with its face on that of a. */
static void lay(rb_rng *rng, laid *x)
{
    int face_a, face_b;
    double ma[3], mb[3], nb[3], back[3], turn[4], spin[4], tilt[4], q[4], p[3], u[3], v[3],
        moved[3];
    random_solid(rng, &x->a, &face_a);
    random_solid(rng, &x->b, &face_b);
    double radius = middle_of(x->a.mesh, face_a, ma, x->n);
    radius = fmin(radius, middle_of(x->b.mesh, face_b, mb, nb));
    rb_scale3(-1.0, x->n, back);
    rb_cross3(nb, back, u);
    double angle = atan2(rb_norm3(u), rb_dot3(nb, back));
    if (!(rb_normalize3(u) > 0.0)) rb_orthogonal(nb, u);
    rb_quat_axis_angle(u, angle, turn);
    rb_quat_axis_angle(x->n, rb_rng_uniform(rng, -3.2, 3.2), spin);
    rb_orthogonal(x->n, u);
    rb_quat_axis_angle(u, random_power(rng, -12.0, -3.0), tilt);
    rb_quat_mul(spin, turn, q);
    rb_quat_mul(tilt, q, q);
    rb_cross3(x->n, u, v);
    rb_quat_to_rot(q, x->b.b.R);
    rb_rot(x->b.b.R, mb, moved);
    rb_sub3(ma, moved, p);
    rb_axpy3(radius * rb_rng_uniform(rng, -0.7, 0.7), u, p);
    rb_axpy3(radius * rb_rng_uniform(rng, -0.7, 0.7), v, p);
    double gap = radius * random_power(rng, -13.0, -4.0);
    rb_axpy3(rb_rng_next(rng) % 3 ? -gap : gap, x->n, p);
    pose_body(&x->b.b, p, q);
}

TEST(faces_on_each_other_are_as_far_as_a_full_search_says)
{
    int proved = 0, all = test_count(4000);
    hulls = hull_model();
    for (int i = 0; i < all; i++) {
        rb_rng rng = rb_rng_make((uint64_t)i + 77000);
        TEST_SEED((uint64_t)i + 77000);
        laid x;
        lay(&rng, &x);
        rb_shape s1 = shape_of_solid(&x.a), s2 = shape_of_solid(&x.b);
        rb_couple couple, again;
        CHECK(rb_couple_make(&s1, &s2, &couple) && rb_couple_make(&s1, &s2, &again));
        rb_closest found;
        if (!rb_flats_meet(&couple, x.n, &found)) continue;
        proved++;
        rb_direction best = { .s = -INFINITY, .upper = INFINITY };
        CHECK(rb_direction_all(&again, RB_PAIRS_MANY, &best));
        double tie = 4.0 * RB_GAP_TIE * couple.scale;
        if (best.s <= 0.0) CHECK_NEAR(found.at.s, best.s, tie);
        /* apart, a vertex or an edge may be nearest: then by less than the square of the tilt */
        CHECK(found.at.s >= best.s - tie);
        CHECK_NEAR(rb_norm3(found.at.n), 1.0, 1e-15);
    }
    rb_model_free(hulls, NULL);
    CHECK(proved > all / 4);
}

TEST_MAIN(RUN(faces_on_each_other_are_as_far_as_a_full_search_says))
