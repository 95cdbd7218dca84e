/* Jacobians of points: against the velocities, differences, and by hand. */
#include "flow_support.h"

typedef struct probe {
    int body;
    double local[3]; /* in the link of the body [m] */
} probe;

/* Where the point is now, as part of its link. */
static void probe_point(const tree *t, const probe *p, double out[3])
{
    int k = t->m->body_link[p->body];
    for (int i = 0; i < 3; i++) {
        const double *row = t->d->link_R + 9 * k + 3 * i;
        out[i] = t->d->link_p[3 * k + i] + row[0] * p->local[0] + row[1] * p->local[1] +
                 row[2] * p->local[2];
    }
}

static void read_point(tree *t, void *context, double *out)
{
    probe_point(t, context, out);
}

static void read_point_velocity(tree *t, void *context, double *out)
{
    double point[3];
    probe_point(t, context, point);
    rb_point_velocity(t->m, t->d, ((probe *)context)->body, point, out);
}

static tree open_small(uint64_t seed)
{
    tree_options o = tree_any(seed);
    if (o.nlink > 12) o.nlink = 1 + o.nlink % 12;
    return tree_open(seed, o);
}

static probe draw_probe(tree *t)
{
    probe p = { .body = 1 + tree_below(&t->rng, t->m->nbody - 1) };
    tree_vector(&t->rng, 0.5, p.local);
    return p;
}

/* Column i is the derivative along dof i alone, also for the turns of balls and free joints. */
TEST(columns_are_derivatives_along_one_dof)
{
    for (uint64_t seed = 1; seed <= 150; seed++) {
        TEST_SEED(seed);
        tree t = open_small(seed);
        int nv = t.m->nv;
        probe p = draw_probe(&t);
        double *J = tree_numbers(&t.rng, 6 * nv, 1.0), point[3];
        rb_kinematics(t.m, t.d);
        probe_point(&t, &p, point);
        rb_jacobian(t.m, t.d, p.body, point, J);
        for (int i = 0; i < nv; i++) {
            for (int k = 0; k < nv; k++) t.d->v[k] = k == i;
            flow f = flow_open(&t, NULL);
            double slope[3];
            flow_derivative(&f, &t, read_point, &p, 3, slope);
            for (int row = 0; row < 3; row++) {
                CHECK_NEAR(slope[row], J[(3 + row) * nv + i], 2e-10 * (1.0 + fabs(slope[row])));
            }
            flow_close(&f);
        }
        free(J);
        tree_close(&t);
    }
}

TEST(velocity_is_jacobian_times_v)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        int nv = t.m->nv;
        probe p = draw_probe(&t);
        double *J = tree_numbers(&t.rng, 6 * nv, 1.0), point[3], velocity[6];
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        probe_point(&t, &p, point);
        rb_jacobian(t.m, t.d, p.body, point, J);
        rb_point_velocity(t.m, t.d, p.body, point, velocity);
        for (int row = 0; row < 6; row++) {
            double sum = 0.0, scale = 1.0;
            for (int i = 0; i < nv; i++) sum += J[row * nv + i] * t.d->v[i];
            for (int i = 0; i < nv; i++) scale += fabs(J[row * nv + i] * t.d->v[i]);
            CHECK_NEAR(velocity[row], sum, 1e-14 * scale);
        }
        free(J);
        tree_close(&t);
    }
}

TEST(bias_is_the_derivative_of_the_velocity_at_constant_v)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = open_small(seed);
        probe p = draw_probe(&t);
        flow f = flow_open(&t, NULL);
        double slope[6], bias[6], point[3], velocity[6], speed = 1.0;
        flow_derivative(&f, &t, read_point_velocity, &p, 6, slope);
        probe_point(&t, &p, point);
        rb_jacobian_bias(t.m, t.d, p.body, point, bias);
        rb_point_velocity(t.m, t.d, p.body, point, velocity);
        for (int k = 0; k < 3 * t.m->nlink; k++) speed = fmax(speed, fabs(t.d->link_w[k]));
        double size = 1.0;
        for (int i = 0; i < 6; i++) size = fmax(size, fabs(velocity[i]));
        for (int i = 0; i < 6; i++) CHECK_NEAR(slope[i], bias[i], 1e-9 * speed * speed * size);
        flow_close(&f);
        tree_close(&t);
    }
}

TEST(points_of_the_world_do_not_move)
{
    tree t = tree_open(3, tree_any(3));
    int nv = t.m->nv;
    const double point[3] = { 1.0, 2.0, 3.0 };
    double *J = tree_numbers(&t.rng, 6 * nv, 1.0), x[6];
    rb_kinematics(t.m, t.d);
    rb_velocity(t.m, t.d);
    rb_jacobian(t.m, t.d, 0, point, J);
    for (int i = 0; i < 6 * nv; i++) CHECK(J[i] == 0.0);
    rb_jacobian_bias(t.m, t.d, 0, point, x);
    for (int i = 0; i < 6; i++) CHECK(x[i] == 0.0);
    rb_point_velocity(t.m, t.d, 0, point, x);
    for (int i = 0; i < 6; i++) CHECK(x[i] == 0.0);
    free(J);
    tree_close(&t);
}

TEST_MAIN(RUN(columns_are_derivatives_along_one_dof), RUN(velocity_is_jacobian_times_v),
          RUN(bias_is_the_derivative_of_the_velocity_at_constant_v),
          RUN(points_of_the_world_do_not_move))
