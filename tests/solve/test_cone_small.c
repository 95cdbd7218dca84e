/* Few contacts with a guess: rows that nothing moves, and rows that hardly move. */
#include "cone_support.h"

/* u = W r + q of one contact, W with nothing across the plane of tangent t. */
typedef struct planar {
    double W[9], q[3], mu;
    rb_problem problem;
} planar;

static void make_planar(int t, const double q[2], planar *x)
{
    *x = (planar){ .mu = 0.5, .W = { 2.0 } };
    x->W[t] = x->W[3 * t] = 0.5;
    x->W[4 * t] = 3.0;
    x->q[0] = q[0];
    x->q[t] = q[1];
    x->problem = (rb_problem){ .kind = RB_CONE,
                               .n = 3,
                               .nc = 1,
                               .dim = 3,
                               .mu = &x->mu,
                               .q = x->q,
                               .W = { .form = RB_DENSE, .dense = x->W } };
}

/* Stick: W r = -q in the plane, det 5.75. Slide: r_n (2 + mu s / 2) = -q_n with s = -1, against the
 * slip. Across the plane least impulses are none. */
TEST(a_contact_in_a_plane_has_no_impulse_across)
{
    static const double q[2][2] = { { -1.0, 0.2 }, { -1.0, 2.0 } };
    static const double want[2][2] = { { 3.1 / 5.75, -0.9 / 5.75 }, { 1.0 / 1.75, -0.5 / 1.75 } };
    static const int modes[2] = { RB_MODE_STICK, RB_MODE_SLIDE };
    for (int t = 1; t <= 2; t++) {
        for (int k = 0; k < 2; k++) {
            planar x;
            unsigned char mode[1];
            double r[3] = { 0.0 };
            rb_info info = { .mode = mode };
            rb_solve_opts opts = support_opts("auto");
            make_planar(t, q[k], &x);
            CHECK_INT(rb_solve(&x.problem, &opts, r, &info), RB_OK);
            CHECK_INT(info.outcome, RB_SOLVED);
            CHECK_INT(mode[0], modes[k]);
            CHECK_NEAR(r[0], want[k][0], 1e-15);
            CHECK_NEAR(r[t], want[k][1], 1e-15);
            CHECK(r[3 - t] == 0.0);
        }
    }
}

TEST(a_contact_that_moves_along_its_normal_alone)
{
    planar x;
    double r[3] = { 0.0, 0.3, 0.1 };
    rb_info info = { 0 };
    rb_solve_opts opts = support_opts("auto");
    make_planar(1, (const double[2]){ -1.0, 0.0 }, &x);
    x.W[1] = x.W[3] = x.W[4] = 0.0;
    opts.warm = 1;
    CHECK_INT(rb_solve(&x.problem, &opts, r, &info), RB_OK);
    CHECK_INT(info.outcome, RB_SOLVED);
    CHECK(r[0] == 0.5 && r[1] == 0.0 && r[2] == 0.0);
}

/* A chain of 15 links whose spheres lie on two others and on a link that is all but stretched: the
 * third normal has 1e-7 of the compliance of the others. Two contacts slide. */
/* clang-format off */
static const double stiff_W[81] = {
    /* n1 */
    1.1040845230273773, 0.0, -0.24733008694502601,
    0.72998916826571292, 0.0, 0.32775086522431041,
    -0.00023960490492895689, -0.81843299184133378, 0.0,
    /* across */
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    /* t1 */
    -0.24733008694502601, 0.0, 2.4916962437103911,
    0.14309592539238858, 0.0, 1.8915034866266751,
    0.00060311976223919727, 0.85417071349826323, 0.0,
    /* n2 */
    0.72998916826571292, 0.0, 0.14309592539238858,
    1.2721015792907382, 0.0, -0.69027147681023882,
    0.00024993718862220275, 1.1860162248683404, 0.0,
    /* across */
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    /* t2 */
    0.32775086522431041, 0.0, 1.8915034866266751,
    -0.69027147681023882, 0.0, 3.4564602089777288,
    -0.00014943952083496139, -2.2271862736575883, 0.0,
    /* n3 */
    -0.00023960490492895689, 0.0, 0.00060311976223919727,
    0.00024993718862220275, 0.0, -0.00014943952083496139,
    4.6033048184055637e-07, 0.0010710075737419959, 0.0,
    /* t3 */
    -0.81843299184133378, 0.0, 0.85417071349826323,
    1.1860162248683404, 0.0, -2.2271862736575883,
    0.0010710075737419959, 4.3852680717889401, 0.0,
    /* across */
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
};
static const double stiff_q[9] = {
    -0.01901535990595779, 0.0, -0.97888210170737788,
    -0.020122218253411796, 0.0, -0.97458150818407363,
    -7.7449643366966327e-06, -0.0061270419360981753, 0.0,
};
/* clang-format on */

static int has_mode(const unsigned char *mode, int n, int wanted)
{
    int any = 0;
    for (int i = 0; i < n; i++) any |= mode[i] == wanted;
    return any;
}

/* From the answer of a moment before, Newton's method alone, to a tenth of the tolerance. */
TEST(a_stiff_normal_is_not_redundant)
{
    static const double mu[3] = { 0.5, 0.5, 0.5 };
    unsigned char mode[3];
    double q[9], r[9] = { 0.0 };
    rb_info info = { .mode = mode };
    rb_solve_opts opts = support_opts("auto");
    rb_problem p = { .kind = RB_CONE,
                     .n = 9,
                     .nc = 3,
                     .dim = 3,
                     .mu = mu,
                     .q = q,
                     .W = { .form = RB_DENSE, .dense = stiff_W } };
    opts.tol = 1e-9;
    for (int i = 0; i < 9; i++) q[i] = 0.999 * stiff_q[i];
    CHECK_INT(rb_solve(&p, &opts, r, &info), RB_OK);
    CHECK_INT(info.outcome, RB_SOLVED);

    memcpy(q, stiff_q, sizeof q);
    opts.warm = 1;
    CHECK_INT(rb_solve(&p, &opts, r, &info), RB_OK);
    CHECK_INT(info.outcome, RB_SOLVED);
    CHECK(has_mode(mode, 3, RB_MODE_SLIDE));
    CHECK(r[6] > 0.0);
    CHECK_INT(info.rungs[RB_RUNG_NEWTON], 1);
    CHECK_INT(info.rungs[RB_RUNG_PATH], 0);
    CHECK(info.cert.relative <= 1e-10);
}

TEST_MAIN(RUN(a_contact_in_a_plane_has_no_impulse_across),
          RUN(a_contact_that_moves_along_its_normal_alone), RUN(a_stiff_normal_is_not_redundant))
