/* The generated corpus: the generator itself, then ten thousand of its problems through auto, cold
 * and warm, every answer graded by bench/corpus_grade.c. */
#include "test.h"

#include "corpus.h"
#include "corpus_campaign.h"
#include "corpus_grade.h"

#include <unistd.h>

/* The campaign of CI; RB_CORPUS_COUNT in the environment makes it longer or shorter. */
#ifdef RB_SANITIZED
enum { CAMPAIGN_COUNT = 300, SCAN_COUNT = 200 };
#else
enum { CAMPAIGN_COUNT = 10000, SCAN_COUNT = 1000 };
#endif

/* FNV-1a over q and mu of the seeds 1 .. 240, every form and family twice over; moves only when
 * the generator does, and then every recorded campaign is void. */
static const uint64_t golden = UINT64_C(0xe557cb90bc3cfd4a);

static rb_corpus_problem make(uint64_t seed, int family, int form, int contacts)
{
    rb_corpus_opts opts = rb_corpus_opts_default();
    rb_corpus_problem p;
    opts.family = family;
    opts.form = form;
    opts.contacts = contacts;
    CHECK_INT(rb_corpus_make(seed, &opts, &p), RB_OK);
    return p;
}

/* Solves with auto, or ends the test. */
static void solve(const rb_corpus_problem *p, double tol, double *z)
{
    rb_solve_opts opts = rb_solve_opts_default();
    rb_info info = { 0 };
    opts.tol = tol;
    memset(z, 0, (size_t)p->problem.n * sizeof *z);
    CHECK_INT(rb_solve(&p->problem, &opts, z, &info), RB_OK);
    CHECK_INT(info.outcome, RB_SOLVED);
}

TEST(same_seed_same_bits)
{
    uint64_t hash = RB_HASH_INIT;
    for (uint64_t seed = 1; seed <= 240; seed++) {
        TEST_SEED(seed);
        int family = (int)(seed % RB_CORPUS_FAMILIES), form = (int)(seed % RB_CORPUS_FORMS);
        rb_corpus_problem p = make(seed, family, form, 0), again = make(seed, family, form, 0);
        size_t n = (size_t)p.problem.n;
        CHECK_STR(p.name, again.name);
        CHECK_INT(p.problem.n, again.problem.n);
        CHECK(memcmp(p.problem.q, again.problem.q, n * sizeof(double)) == 0);
        if (p.problem.W.form == RB_DENSE)
            CHECK(memcmp(p.problem.W.dense, again.problem.W.dense, n * n * sizeof(double)) == 0);
        hash = rb_hash(hash, p.problem.q, n * sizeof(double));
        hash = rb_hash(hash, p.mu, (size_t)p.nc * sizeof(double));
        rb_corpus_free(&p);
        rb_corpus_free(&again);
    }
    if (hash != golden) print_error("observed hash 0x%016" PRIx64 "\n", hash);
    CHECK(hash == golden);
}

TEST(problems_are_well_formed)
{
    int seen[RB_CORPUS_FAMILIES][RB_CORPUS_FORMS] = { { 0 } }, least = 64, most = 1;
    for (uint64_t seed = 1; seed <= SCAN_COUNT; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = make(seed, -1, -1, 0);
        rb_error err = { 0 };
        CHECK_INT(rb_problem_check(&p.problem, &err), RB_OK);
        CHECK(p.solvable);
        CHECK_INT(rb_corpus_form_find(rb_corpus_form_name(p.opts.form)), p.opts.form);
        for (int c = 0; c < p.nc; c++) CHECK(p.mu[c] >= 0.0 && p.mu[c] <= 1.2);
        seen[p.opts.family][p.opts.form]++;
        least = p.nc < least ? p.nc : least;
        most = p.nc > most ? p.nc : most;
        rb_corpus_free(&p);
    }
    CHECK_INT(least, 1);
    CHECK(most >= 60 && most <= 64);
    for (int f = 0; f < RB_CORPUS_FAMILIES; f++)
        for (int k = 0; k < RB_CORPUS_FORMS; k++) CHECK(seen[f][k] > 0 || SCAN_COUNT < 1000);
}

TEST(bad_options_are_refused)
{
    rb_corpus_problem p;
    rb_corpus_opts opts = rb_corpus_opts_default();
    opts.contacts = -1;
    CHECK_INT(rb_corpus_make(1, &opts, &p), RB_BAD_INPUT);
    opts = rb_corpus_opts_default();
    opts.form = RB_CORPUS_ST4_V;
    opts.directions = 5;
    CHECK_INT(rb_corpus_make(1, &opts, &p), RB_BAD_INPUT);
    opts = rb_corpus_opts_default();
    opts.family = RB_CORPUS_FAMILIES;
    CHECK_INT(rb_corpus_make(1, &opts, &p), RB_BAD_INPUT);
    CHECK(rb_corpus_family_find("castle") == -1);
    CHECK(rb_corpus_form_name(RB_CORPUS_FORMS) == NULL);
}

/* Cholesky with a zero pivot where the remainder is rounding: 1 while no pivot is negative. */
static int is_psd(int n, const double *W, double *L)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, W[i * n + i]);
    const double rounding = 1e-10 * most; /* n eps |W| with room for the growth of n = 192 */
    memcpy(L, W, (size_t)(n * n) * sizeof *L);
    for (int j = 0; j < n; j++) {
        double d = L[j * n + j];
        if (d < -rounding) return 0;
        if (d <= rounding) continue;
        for (int i = j + 1; i < n; i++) {
            double f = L[i * n + j] / d;
            for (int k = j + 1; k < n; k++) L[i * n + k] -= f * L[j * n + k];
        }
    }
    return 1;
}

TEST(compliance_is_symmetric_and_semidefinite)
{
    static double L[192 * 192];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = make(seed, -1, RB_CORPUS_CONE, 0);
        int n = p.problem.n;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++) CHECK(p.W[i * n + j] == p.W[j * n + i]);
        CHECK(is_psd(n, p.W, L));
        rb_corpus_free(&p);
    }

    /* the test of semidefiniteness can fail */
    const double indefinite[4] = { 1.0, 2.0, 2.0, 1.0 };
    CHECK(!is_psd(2, indefinite, L));
}

/* W applied through the three forms of the cone problem, and through the bodies. */
TEST(forms_of_the_cone_agree)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem form[3];
        double y[3][192], r[192], u[192];
        rb_rng rng = rb_rng_make(seed);
        for (int k = 0; k < 3; k++) form[k] = make(seed, -1, RB_CORPUS_CONE + k, 0);
        int n = form[0].problem.n;
        for (int i = 0; i < n; i++) r[i] = rb_rng_uniform(&rng, -1.0, 1.0);
        double scale = 1.0;
        for (int k = 0; k < 3; k++) {
            CHECK_INT(form[k].problem.n, n);
            CHECK_INT(rb_problem_apply(&form[k].problem, r, NULL, y[k]), RB_OK);
        }
        for (int i = 0; i < n; i++) scale = fmax(scale, fabs(y[0][i]));
        CHECK_INT(rb_corpus_velocities(&form[0], r, u), RB_OK);
        for (int i = 0; i < n; i++) {
            CHECK_NEAR(y[1][i], y[0][i], 1e-12 * scale);
            CHECK_NEAR(y[2][i], y[0][i], 1e-12 * scale);
            CHECK_NEAR(u[i], y[0][i] + form[0].problem.q[i], 1e-12 * scale);
        }
        for (int k = 0; k < 3; k++) rb_corpus_free(&form[k]);
    }
}

enum { MAX_ROWS = 1200 }; /* 64 contacts, 8 directions, joints */

/* w = W z + q and u, the contact velocities through the bodies, for a random z >= 0. */
static void random_point(const rb_corpus_problem *p, uint64_t seed, double *z, double *w, double *u)
{
    rb_rng rng = rb_rng_make(seed);
    int n = p->problem.n;
    CHECK(n <= MAX_ROWS);
    for (int i = 0; i < n; i++) z[i] = rb_rng_uniform(&rng, 0.0, 1.0);
    CHECK_INT(rb_problem_apply(&p->problem, z, NULL, w), RB_OK);
    for (int i = 0; i < n; i++) w[i] += p->problem.q[i];
    CHECK_INT(rb_corpus_velocities(p, z, u), RB_OK);
}

static double largest(const double *x, int n)
{
    double most = 1.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* Row by row from the theory: w_n = u_n (+ gap / h), w_beta = d . u_t + lambda, and
 * w_lambda = mu c_n - sum beta. */
TEST(stewart_trinkle_rows_are_what_they_say)
{
    static double z[MAX_ROWS], w[MAX_ROWS], u[192];
    static const int forms[] = { RB_CORPUS_ST4_V, RB_CORPUS_ST8_V, RB_CORPUS_ST8_P,
                                 RB_CORPUS_MIXED_ST };
    for (uint64_t seed = 1; seed <= 80; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = make(seed, -1, forms[seed % 4], 0);
        int nc = p.nc, nd = p.opts.directions, lambda = nc * (nd + 1);
        random_point(&p, seed, z, w, u);
        double tol = 1e-11 * largest(w, p.problem.n);
        for (int c = 0; c < nc; c++) {
            double sum = 0.0, gap = w[c] - u[3 * c];
            if (p.velocity_level) CHECK_NEAR(gap, 0.0, tol);
            CHECK(gap >= -tol && gap <= 10.0 + tol); /* at most 1 cm in 1 ms */
            for (int d = 0; d < nd; d++) {
                double angle = 2.0 * 3.14159265358979323846 * d / nd;
                double along = cos(angle) * u[3 * c + 1] + sin(angle) * u[3 * c + 2];
                CHECK_NEAR(w[nc + c * nd + d], along + z[lambda + c], tol);
                sum += z[nc + c * nd + d];
            }
            CHECK_NEAR(w[lambda + c], p.mu[c] * z[c] - sum, tol);
        }
        rb_corpus_free(&p);
    }
}

TEST(box_rows_are_velocities)
{
    static double z[MAX_ROWS], w[MAX_ROWS], u[192];
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = make(seed, -1, seed % 2 ? RB_CORPUS_BOX : RB_CORPUS_MIXED_BOX, 0);
        random_point(&p, seed, z, w, u);
        double tol = 1e-11 * largest(w, p.problem.n);
        for (int i = 0; i < 3 * p.nc; i++) CHECK_NEAR(w[i], u[i], tol);
        for (int i = 3 * p.nc; i < p.problem.n; i++)
            CHECK(p.problem.lo[i] == -INFINITY && p.problem.hi[i] == INFINITY);
        rb_corpus_free(&p);
    }
}

/* The eliminated friction satisfies its own equations: with two points z and y,
 *     d(u_t) + eps_t d(l_t) = d(w_up) - d(w_lo),   s_lo - s_up = 2 l_t + rho (w_lo - w_up),
 * and eps_t = 1 / (k h^2 + b h) for one of the two time steps. */
TEST(phantom_elimination_is_right)
{
    static double z[MAX_ROWS], y[MAX_ROWS], w[MAX_ROWS], w_y[MAX_ROWS];
    double u[192], u_y[192], r[192], r_y[192];
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = make(seed, -1, RB_CORPUS_PHANTOM, 0);
        int nc = p.nc;
        random_point(&p, seed, z, w, u);
        random_point(&p, seed + 1000, y, w_y, u_y);
        CHECK_INT(rb_corpus_impulses(&p, z, r), RB_OK);
        CHECK_INT(rb_corpus_impulses(&p, y, r_y), RB_OK);
        double W_most = largest(p.W, 9 * nc * nc);
        double tol_r = 1e-9 * fmax(largest(r, 3 * nc), largest(r_y, 3 * nc));
        const double eps[2] = { 1.0 / (1e8 * 1e-6 + 1e5 * 1e-3), 1.0 / (1e8 * 1e-4 + 1e5 * 1e-2) };
        int fits[2] = { 1, 1 };
        for (int i = 0; i < 2 * nc; i++) {
            int at = 3 * (i / 2) + 1 + i % 2, up = nc + i, lo = 3 * nc + i;
            double slip = (z[up] - z[lo]) - (y[up] - y[lo]);
            double rho = 1e-6 * p.T[(size_t)i * (size_t)(2 * nc) + (size_t)i];
            for (int k = 0; k < 2; k++) {
                /* a few roundings of slips up to W, grown by the condition W / eps of T */
                double tol_u = 2e-15 * W_most * fmax(1.0, W_most / eps[k]);
                fits[k] &= fabs(u[at] - u_y[at] + eps[k] * (r[at] - r_y[at]) - slip) <= tol_u;
            }
            CHECK_NEAR(w[up] - w[lo], 2.0 * r[at] + rho * (z[lo] - z[up]), tol_r);
            CHECK_NEAR(w[up] + w[lo], 2.0 * p.mu[i / 2] * z[i / 2] + rho * (z[lo] + z[up]), tol_r);
        }
        CHECK(fits[0] || fits[1]);
        for (int c = 0; c < nc; c++) /* u_n, the relaxation and the gap */
            CHECK(w[c] - u[3 * c] >= -1e-6 * W_most && w[c] - u[3 * c] <= 20.0);
        rb_corpus_free(&p);
    }
}

/* A permuted problem is the same problem: an answer carried over has the same grade. */
TEST(permutation_only_reorders)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = make(seed, -1, RB_CORPUS_CONE, 0), other;
        double r[192], moved[192], u[192], u_moved[192];
        rb_rng rng = rb_rng_make(seed);
        CHECK_INT(rb_corpus_permute(&p, seed, &other), RB_OK);
        for (int i = 0; i < 3 * p.nc; i++) r[i] = rb_rng_uniform(&rng, 0.0, 1.0);
        for (int c = 0; c < p.nc; c++)
            for (int k = 0; k < 3; k++) moved[3 * c + k] = r[3 * other.order[c] + k];
        double grade = rb_grade(&p.problem, r);
        CHECK_NEAR(rb_grade(&other.problem, moved), grade, 1e-12 * fmax(1.0, grade));
        CHECK_INT(rb_corpus_velocities(&p, r, u), RB_OK);
        CHECK_INT(rb_corpus_velocities(&other, moved, u_moved), RB_OK);
        double scale = 1.0;
        for (int i = 0; i < 3 * p.nc; i++) scale = fmax(scale, fabs(u[i]));
        for (int i = 0; i < 3 * p.nc; i++) CHECK_NEAR(u[i], u_moved[i], 1e-12 * scale);
        rb_corpus_free(&p);
        rb_corpus_free(&other);
    }
}

/* One percent of each velocity component is a few percent of the speed at a contact, not more and
 * not nothing; W stays. */
TEST(perturbation_is_small)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = make(seed, -1, RB_CORPUS_CONE, 0), other;
        CHECK_INT(rb_corpus_perturb(&p, 0.01, &other), RB_OK);
        size_t n = (size_t)p.problem.n;
        CHECK(memcmp(p.W, other.W, n * n * sizeof(double)) == 0);
        double most = 0.0;
        for (size_t i = 0; i < n; i++) most = fmax(most, fabs(p.problem.q[i] - other.problem.q[i]));
        CHECK(most > 1e-5 * rb_corpus_speed(&p));
        CHECK(most < 0.05 * rb_corpus_speed(&p));
        rb_corpus_free(&p);
        rb_corpus_free(&other);
    }
}

/* One contact by hand: the grade of r = 0 is the distance to the cone problem's solution set. */
TEST(grade_by_hand)
{
    const double W[9] = { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 };
    const double q[3] = { -1.0, 0.0, 0.0 }, mu[1] = { 0.5 };
    rb_problem p = { .kind = RB_CONE, .n = 3, .q = q, .nc = 1, .dim = 3, .mu = mu };
    p.W.dense = W;
    const double none[3] = { 0.0, 0.0, 0.0 }, right[3] = { 1.0, 0.0, 0.0 };
    const double nan_answer[3] = { NAN, 0.0, 0.0 };
    CHECK_NEAR(rb_grade(&p, right), 0.0, 0.0);
    CHECK_NEAR(rb_grade(&p, none), 1.0, 1e-15); /* P_K((1, 0, 0)) is itself */
    CHECK(rb_grade(&p, nan_answer) == INFINITY);

    /* sliding: u_t = 1 with r = (2, -1, 0) on the cone of mu = 1/2 */
    const double sliding[3] = { -2.0, 2.0, 0.0 }, r[3] = { 2.0, -1.0, 0.0 };
    p.q = sliding;
    CHECK_NEAR(rb_grade(&p, r), 0.0, 1e-15);

    /* frictionless and separating: no impulse is right, though 0 <= mu x_n holds for x_n < 0 */
    const double apart[3] = { 1.0, 0.0, 0.0 }, smooth[1] = { 0.0 };
    p.q = apart;
    p.mu = smooth;
    CHECK_NEAR(rb_grade(&p, none), 0.0, 0.0);

    /* the boxed problem: z = 1 leaves w = 0; z = 0 misses by min(1, ..) over the scale 1 */
    const double one[1] = { 1.0 }, minus[1] = { -1.0 }, zero[1] = { 0.0 };
    rb_problem lcp = { .kind = RB_LCP, .n = 1, .q = minus };
    lcp.W.dense = one;
    CHECK_NEAR(rb_grade(&lcp, one), 0.0, 0.0);
    CHECK_NEAR(rb_grade(&lcp, zero), 1.0, 0.0);
}

/* The polyhedral answer of one contact tends to the exact one as directions are added. */
TEST(many_directions_approach_the_cone)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem cone = make(seed, RB_CORPUS_PILE, RB_CORPUS_CONE, 1), st;
        rb_corpus_opts opts = cone.opts;
        double z[66], u[3], u_st[3];
        solve(&cone, 1e-9, z);
        CHECK_INT(rb_corpus_velocities(&cone, z, u), RB_OK);
        double speed = rb_corpus_speed(&cone), apart[2];
        for (int k = 0; k < 2; k++) {
            opts.form = RB_CORPUS_ST4_V;
            opts.directions = k ? 64 : 4;
            CHECK_INT(rb_corpus_make(seed, &opts, &st), RB_OK);
            solve(&st, 1e-9, z);
            CHECK_INT(rb_corpus_velocities(&st, z, u_st), RB_OK);
            apart[k] = 0.0;
            for (int i = 0; i < 3; i++) apart[k] = fmax(apart[k], fabs(u_st[i] - u[i]) / speed);
            rb_corpus_free(&st);
        }

        /* 64 directions miss a direction of slip by 2.8 degrees, 0.049 rad, at most; the friction
         * impulse, and with it the velocity, by about as much of the speed */
        CHECK(apart[1] <= 0.1);
        CHECK(apart[1] <= apart[0] + 1e-7);
        rb_corpus_free(&cone);
    }
}

static void print_finding(void *ctx, const rb_corpus_problem *p, campaign_finding what,
                          double number)
{
    (void)ctx;
    if (what == CAMPAIGN_DIFFERS) return;
    print_error("%s (%s, %d contacts): %s %.3g\n", p->name, p->opts.perturb > 0.0 ? "warm" : "cold",
                p->nc, campaign_finding_name(what), number);
}

static uint64_t campaign_count(void)
{
    const char *text = getenv("RB_CORPUS_COUNT");
    return text && *text ? strtoull(text, NULL, 10) : CAMPAIGN_COUNT;
}

TEST(campaign_is_certified)
{
    static campaign_result result;
    campaign_opts opts = campaign_opts_default();
    campaign_tally t;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    opts.first = 1;
    opts.count = campaign_count();
    opts.threads = cores > 8 ? 8 : cores < 1 ? 1 : (int)cores;
    opts.unique_every = 8; /* half of them in the sample: the answer of least norm takes longest */
    opts.found = print_finding;
    CHECK_INT(campaign_run(&opts, &result), RB_OK);
    campaign_sum(&result, -1, -1, &t);
    CHECK_INT((long long)t.problems, (long long)opts.count);
    for (int start = 0; start < CAMPAIGN_STARTS; start++) {
        CHECK_INT((long long)t.wrong[start], 0);
        CHECK_INT((long long)t.uncertified[start], 0);
    }
}

/* The counts are the same for any number of threads and through an interruption. */
TEST(threads_and_resuming_change_nothing)
{
    static campaign_result one, three, resumed;
    campaign_opts opts = campaign_opts_default();
    opts.first = 77;
    opts.count = 90;
    CHECK_INT(campaign_run(&opts, &one), RB_OK);
    opts.threads = 3;
    CHECK_INT(campaign_run(&opts, &three), RB_OK);

    FILE *file = tmpfile();
    CHECK(file != NULL);
    opts.count = 40;
    CHECK_INT(campaign_run(&opts, &resumed), RB_OK);
    CHECK_INT(campaign_save(&opts, &resumed, file), RB_OK);
    rewind(file);
    opts.count = 90;
    CHECK_INT(campaign_load(&opts, &resumed, file), RB_OK);
    CHECK_INT((long long)resumed.done, 40);
    CHECK_INT(campaign_run(&opts, &resumed), RB_OK);

    /* another seed is another campaign */
    opts.first = 78;
    rewind(file);
    campaign_result *other = &three;
    campaign_tally a, b, c;
    campaign_sum(&one, -1, -1, &a);
    campaign_sum(&three, -1, -1, &b);
    campaign_sum(&resumed, -1, -1, &c);
    CHECK_INT(campaign_load(&opts, other, file), RB_BAD_INPUT);
    fclose(file);

    for (int s = 0; s < CAMPAIGN_STARTS; s++) {
        memset(a.time[s], 0, sizeof a.time[s]); /* the clock is the one thing that may differ */
        memset(b.time[s], 0, sizeof b.time[s]);
        memset(c.time[s], 0, sizeof c.time[s]);
    }
    CHECK_INT((long long)a.problems, 90);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    CHECK(memcmp(&a, &c, sizeof a) == 0);
}

TEST_MAIN(RUN(same_seed_same_bits), RUN(problems_are_well_formed), RUN(bad_options_are_refused),
          RUN(compliance_is_symmetric_and_semidefinite),
          RUN(stewart_trinkle_rows_are_what_they_say), RUN(box_rows_are_velocities),
          RUN(phantom_elimination_is_right), RUN(forms_of_the_cone_agree),
          RUN(permutation_only_reorders), RUN(perturbation_is_small), RUN(grade_by_hand),
          RUN(many_directions_approach_the_cone), RUN(campaign_is_certified),
          RUN(threads_and_resuming_change_nothing))
