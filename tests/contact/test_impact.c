/* Single impacts: closed forms, printed test vectors, the stored reference impulses, a slow second
 * method that steps through the impulse, symmetries, laws, models. */
#include "rattleback/impact.h"

#include "impact_cases.h"
#include "rattleback/io.h"
#include "tree_support.h"

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

static rb_impact_result solve(const rb_impact *in)
{
    rb_impact_result out;
    rb_impact_certificate cert;
    CHECK_INT(rb_impact_solve(in, &out), RB_OK);
    CHECK(rb_impact_certify(in, &out, &cert));
    return out;
}

static double apart(const double *a, const double *b)
{
    double most = 0.0;
    for (int i = 0; i < 3; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static double size_of(const double *a)
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* ---- by hand ---------------------------------------------------------------------------------
 */

/* Sphere of 1 kg on a plane: K = diag(1, 7/2, 7/2). */
static rb_impact sphere(double slip, double approach, double mu, double e)
{
    return (rb_impact){
        .K = { 1, 0, 0, 0, 3.5, 0, 0, 0, 3.5 }, .u = { -approach, slip, 0 }, .mu = mu, .e = e
    };
}

TEST(sphere_slides_or_sticks)
{
    rb_impact in = sphere(1.0, 1.0, 0.1, 0.5);
    rb_impact_result out = solve(&in);
    CHECK_NEAR(out.p[0], 1.5, 1e-15);
    CHECK_NEAR(out.p[1], -0.15, 1e-15);
    CHECK_NEAR(out.u[1], 0.475, 1e-15);
    CHECK_INT(out.phase[0], RB_PHASE_SLIDE_COMPRESSION);
    CHECK_INT(out.phase[1], RB_PHASE_SLIDE_RESTITUTION);

    in = sphere(0.3, 1.0, 0.4, 0.5); /* |u_t| < 7/2 mu (1 + e) |u_n| */
    out = solve(&in);
    CHECK_NEAR(out.p[0], 1.5, 1e-15);
    CHECK_NEAR(out.p[1], -0.3 * 2.0 / 7.0, 1e-15);
    CHECK_NEAR(out.u[1], 0.0, 1e-15);
    CHECK_INT(out.steps, 0);
}

TEST(bodies_that_separate_get_nothing)
{
    rb_impact in = sphere(1.0, -0.5, 0.4, 0.5);
    rb_impact_result out = solve(&in);
    CHECK_NEAR(size_of(out.p), 0.0, 0.0);
    CHECK_INT(out.nphase, 1);
    CHECK_STR(rb_impact_phase_name(out.phase[0]), "separating");
    in.u[0] = 0.0;
    out = solve(&in);
    CHECK_NEAR(size_of(out.p), 0.0, 0.0);
}

/* The box of theory 5.8, axes (x, y, z) there are (t1, t2, n) here. */
static rb_impact corner(double mu, rb_restitution_law law)
{
    return (rb_impact){ .K = { 5.62777495, 0.99461127, 0.94038080, 0.99461127, 5.15810739,
                               0.50349487, 0.94038080, 0.50349487, 1.21411766 },
                        .u = { -1.0, 0.4, -0.2 },
                        .mu = mu,
                        .e = 0.5,
                        .law = law };
}

TEST(corner_of_a_box)
{
    static const struct {
        double mu;
        rb_restitution_law law;
        double u[3], p[3]; /* t1, t2, n */
    } rows[] = {
        { 0.1, RB_POISSON, { 0.535204, 0.046059, 0.497424 }, { -0.026281, 0.004455, 0.269978 } },
        { 0.1, RB_STRONGE, { 0.535276, 0.046191, 0.498258 }, { -0.026296, 0.004454, 0.270129 } },
        { 0.3, RB_POISSON, { 0.269286, 0.038616, 0.490824 }, { -0.080178, 0.015656, 0.276459 } },
        { 0.3, RB_STRONGE, { 0.268963, 0.039043, 0.493885 }, { -0.080350, 0.015631, 0.277037 } },
        { 0.6, RB_POISSON, { 0.002986, 0.013604, 0.471373 }, { -0.132677, 0.011821, 0.282922 } },
        { 0.6, RB_STRONGE, { 0.003068, 0.013975, 0.482575 }, { -0.132968, 0.010495, 0.285185 } },
        { 1.0, RB_POISSON, { 0, 0, 0.452045 }, { -0.131910, 0.001761, 0.281033 } },
        { 1.0, RB_STRONGE, { 0, 0, 0.475286 }, { -0.132498, -0.001725, 0.285849 } },
    };
    const double digits = 1.2e-6; /* six printed digits, K with eight */
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        rb_impact in = corner(rows[k].mu, rows[k].law);
        rb_impact_result out = solve(&in);
        CHECK_NEAR(out.u[0], rows[k].u[2], digits);
        CHECK_NEAR(out.u[1], rows[k].u[0], digits);
        CHECK_NEAR(out.u[2], rows[k].u[1], digits);
        CHECK_NEAR(out.p[0], rows[k].p[2], digits);
        CHECK_NEAR(out.p[1], rows[k].p[0], digits);
        CHECK_NEAR(out.p[2], rows[k].p[1], digits);
    }
    static const double compressed[4][3] = { { 0.1, 0.179985, -0.089869 },
                                             { 0.3, 0.184306, -0.091795 },
                                             { 0.6, 0.188614, -0.093953 },
                                             { 1.0, 0.187355, -0.093625 } };
    for (int k = 0; k < 4; k++) {
        rb_impact in = corner(compressed[k][0], RB_STRONGE);
        rb_impact_result out = solve(&in);
        CHECK_NEAR(out.pn_c, compressed[k][1], digits);
        CHECK_NEAR(out.W_c, compressed[k][2], digits);
    }
}

/* mu = 0.734113 is where sticking begins to last. */
TEST(corner_sticks_from_a_coefficient_on)
{
    rb_impact in = corner(0.73411, RB_POISSON);
    in.u[1] = in.u[2] = 0.0;
    CHECK_INT(solve(&in).phase[0], RB_PHASE_RESLIDE_COMPRESSION);
    in.mu = 0.73412;
    CHECK_INT(solve(&in).phase[0], RB_PHASE_STICK_COMPRESSION);
}

/* ---- reference impulses ------------------------------------------------------------------------
 */

TEST(stored_impulses)
{
    rb_error err = { 0 };
    rb_impact_reader *reader =
        rb_impact_open(test_shared("data/impacts/impacts.jsonl"), NULL, &err);
    CHECK(reader != NULL);
    int count = 0;
    for (;;) {
        rb_impact_entry entry;
        int more;
        CHECK_INT(rb_impact_next(reader, &entry, &more, &err), RB_OK);
        if (!more) break;
        double R[9], p[3];
        rb_impact in = { .mu = entry.mu, .e = entry.e };
        rb_impact_frame(entry.n, R);
        rb_impact_bodies(&entry.body[1], &entry.body[0], R, &in);
        rb_impact_result out = solve(&in);
        for (int i = 0; i < 3; i++)
            p[i] = R[i] * out.p[0] + R[3 + i] * out.p[1] + R[6 + i] * out.p[2];
        CHECK(entry.has_answer);
        CHECK_NEAR(apart(p, entry.impulse), 0.0, 1e-10 * size_of(entry.impulse));
        count++;
    }
    CHECK(count > 100);
    rb_impact_close(reader);
}

/* ---- a second method ---------------------------------------------------------------------------
 *
 * Steps of du/dp_n = K xi with the classical Runge-Kutta rule, each so short that the slip changes
 * by a small share of itself; the last one is halved until it ends at the goal. */

typedef struct walker {
    const rb_impact *in;
    double u[3], p[3], W;
    int rests; /* slip is zero: sticks, or leaves along `ray` */
    double ray[2];
} walker;

static void rates(const walker *w, const double u[3], double du[3], double dp[3])
{
    const double *K = w->in->K, mu = w->in->mu;
    double x = u[1], y = u[2], length = sqrt(x * x + y * y);
    if (w->rests) {
        x = w->ray[0];
        y = w->ray[1];
        length = 1.0;
    }
    dp[0] = 1.0;
    dp[1] = w->rests || length > 0.0 ? -mu * x / length : 0.0;
    dp[2] = w->rests || length > 0.0 ? -mu * y / length : 0.0;
    for (int i = 0; i < 3; i++)
        du[i] = K[3 * i] * dp[0] + K[3 * i + 1] * dp[1] + K[3 * i + 2] * dp[2];
}

static void walk(walker *w, double h)
{
    double k[4][3], t[4][3], at[3];
    static const double share[4] = { 0.0, 0.5, 0.5, 1.0 }, weight[4] = { 1, 2, 2, 1 };
    double slope = 0.0;
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 3; i++) at[i] = w->u[i] + (s ? share[s] * h * k[s - 1][i] : 0.0);
        rates(w, at, k[s], t[s]);
        slope += weight[s] * at[0] / 6.0;
    }
    w->W += h * slope;
    for (int i = 0; i < 3; i++)
        for (int s = 0; s < 4; s++) {
            w->u[i] += h * weight[s] * k[s][i] / 6.0;
            w->p[i] += h * weight[s] * t[s][i] / 6.0;
        }
}

/* What leads away from zero slip: sticking (ray of length < 1), or the direction that grows, found
 * by a scan over the circle. */
static void rest(walker *w)
{
    const double *K = w->in->K, mu = w->in->mu;
    double det = K[4] * K[8] - K[5] * K[5];
    double tx = -(K[8] * K[1] - K[5] * K[2]) / det, ty = -(K[4] * K[2] - K[5] * K[1]) / det;
    w->rests = 1;
    w->u[1] = w->u[2] = 0.0;
    if (sqrt(tx * tx + ty * ty) <= mu) {
        w->ray[0] = -tx / mu;
        w->ray[1] = -ty / mu;
        return;
    }
    enum { STEPS = 20000 };
    double before = 0.0;
    for (int k = 0; k <= STEPS; k++) {
        double a = 6.283185307179586 * k / STEPS, c = cos(a), s = sin(a);
        double wx = K[1] - mu * (K[4] * c + K[5] * s), wy = K[2] - mu * (K[5] * c + K[8] * s);
        double g = c * wy - s * wx, f = c * wx + s * wy;
        if (k && f > 0.0 && before > 0.0 && g <= 0.0) {
            double lo = 6.283185307179586 * (k - 1) / STEPS, hi = a;
            for (int i = 0; i < 60; i++) {
                double mid = 0.5 * (lo + hi);
                c = cos(mid);
                s = sin(mid);
                wx = K[1] - mu * (K[4] * c + K[5] * s);
                wy = K[2] - mu * (K[5] * c + K[8] * s);
                if (c * wy - s * wx > 0.0)
                    lo = mid;
                else
                    hi = mid;
            }
            w->ray[0] = c;
            w->ray[1] = s;
            return;
        }
        before = g;
    }
    CHECK(0);
}

/* 1: at or behind the goal (0: z >= value, 1: p_n >= value, 2: W >= value). */
static int behind(const walker *w, int kind, double value)
{
    return (kind == 0 ? w->u[0] : kind == 1 ? w->p[0] : w->W) >= value;
}

static void walk_to(walker *w, int kind, double value)
{
    const rb_impact *in = w->in;
    double rate = in->K[0] + in->K[4] + in->K[8], first = size_of(in->u);
    for (long n = 0; n < 2000000; n++) {
        double slip = sqrt(w->u[1] * w->u[1] + w->u[2] * w->u[2]);
        if (!w->rests && slip <= 1e-11 * first) {
            rest(w);
            continue;
        }
        /* straight pieces in halves of what is left, arcs by the slip */
        double h = w->rests ? 1e-2 * first / rate : 5e-3 * slip / (rate * (1.0 + in->mu));
        walker next = *w;
        walk(&next, h);
        if (!behind(&next, kind, value)) {
            *w = next;
            continue;
        }
        double lo = 0.0, hi = h;
        for (int i = 0; i < 60; i++) {
            double mid = 0.5 * (lo + hi);
            next = *w;
            walk(&next, mid);
            if (behind(&next, kind, value))
                hi = mid;
            else
                lo = mid;
        }
        walk(w, hi);
        return;
    }
    CHECK(0);
}

static void slow_impact(const rb_impact *in, double p[3])
{
    walker w = { .in = in };
    copy(w.u, in->u, 3);
    if (w.u[1] == 0.0 && w.u[2] == 0.0) rest(&w);
    walk_to(&w, 0, 0.0);
    if (in->e > 0.0) {
        if (in->law == RB_NEWTON)
            walk_to(&w, 0, -in->e * in->u[0]);
        else if (in->law == RB_POISSON)
            walk_to(&w, 1, (1.0 + in->e) * w.p[0]);
        else
            walk_to(&w, 2, (1.0 - in->e * in->e) * w.W);
    }
    copy(p, w.p, 3);
}

TEST(a_slow_walk_through_the_impulse_agrees)
{
    int turned = 0, stopped = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        TEST_SEED(seed);
        for (int family = 0; family < 2; family++) {
            rb_impact in;
            impact_case(family, 7 * seed + 1, &in); /* not the multiples of 7: these have mu = 0 */
            in.law = (rb_restitution_law)(seed % 3);
            rb_impact_result out = solve(&in);
            if (out.rounds > 1) continue;
            double p[3];
            slow_impact(&in, p);
            CHECK_NEAR(apart(p, out.p), 0.0, 1e-7 * size_of(p));
            turned += out.steps > 0;
            stopped += out.nphase > 2;
        }
    }
    CHECK(turned > 50 && stopped > 20);
}

/* ---- symmetries and laws -----------------------------------------------------------------------
 */

TEST(turned_tangents_turn_the_impulse)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        rb_impact in, turned;
        impact_case((int)(seed % 3), seed, &in);
        turned = in;
        double c = cos(0.1 * (double)seed), s = sin(0.1 * (double)seed);
        double T[9] = { 1, 0, 0, 0, c, s, 0, -s, c }, KT[9] = { 0 };
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++) KT[3 * i + j] += in.K[3 * i + k] * T[3 * j + k];
        for (int i = 0; i < 3; i++) {
            turned.u[i] = 0.0;
            for (int k = 0; k < 3; k++) turned.u[i] += T[3 * i + k] * in.u[k];
            for (int j = 0; j < 3; j++) {
                turned.K[3 * i + j] = 0.0;
                for (int k = 0; k < 3; k++) turned.K[3 * i + j] += T[3 * i + k] * KT[3 * k + j];
            }
        }
        rb_impact_result a = solve(&in), b = solve(&turned);
        double p[3] = { b.p[0], c * b.p[1] - s * b.p[2], s * b.p[1] + c * b.p[2] };
        CHECK_NEAR(apart(p, a.p), 0.0, 1e-11 * size_of(a.p));
    }
}

TEST(units_do_not_matter)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        rb_impact in, scaled;
        impact_case((int)(seed % 3), seed, &in);
        in.law = (rb_restitution_law)(seed % 3);
        scaled = in;
        for (int i = 0; i < 9; i++) scaled.K[i] *= 1e-12;
        for (int i = 0; i < 3; i++) scaled.u[i] *= 1e7;
        rb_impact_result a = solve(&in), b = solve(&scaled);
        for (int i = 0; i < 3; i++) b.p[i] *= 1e-19;
        CHECK_NEAR(apart(a.p, b.p), 0.0, 1e-12 * size_of(a.p));
    }
}

/* Bodies swapped, normal turned round: the opposite impulse. */
TEST(swapped_bodies_get_the_opposite)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        rb_impact_body b[2] = { { 0 } };
        for (int k = 0; k < 2; k++) {
            b[k].im = rb_rng_uniform(&rng, 0.1, 3.0);
            for (int i = 0; i < 3; i++) {
                b[k].iI[4 * i] = rb_rng_uniform(&rng, 1.0, 9.0);
                b[k].r[i] = rb_rng_uniform(&rng, -0.5, 0.5);
                b[k].v[i] = rb_rng_uniform(&rng, -2.0, 2.0);
                b[k].w[i] = rb_rng_uniform(&rng, -2.0, 2.0);
            }
        }
        double n[3] = { 0.6, 0.0, 0.8 }, back[3] = { -0.6, 0.0, -0.8 }, R[9], S[9], p[3], q[3];
        rb_impact one = { .mu = 0.4, .e = 0.6 }, two = one;
        rb_impact_frame(n, R);
        rb_impact_frame(back, S);
        rb_impact_bodies(&b[0], &b[1], R, &one);
        rb_impact_bodies(&b[1], &b[0], S, &two);
        rb_impact_result a = solve(&one), c = solve(&two);
        for (int i = 0; i < 3; i++) {
            p[i] = R[i] * a.p[0] + R[3 + i] * a.p[1] + R[6 + i] * a.p[2];
            q[i] = -(S[i] * c.p[0] + S[3 + i] * c.p[1] + S[6 + i] * c.p[2]);
        }
        CHECK_NEAR(apart(p, q), 0.0, 1e-12 * (1.0 + size_of(p)));

        /* and momentum is what the bodies then have */
        rb_impact_body after = b[1];
        rb_impact_push(&after, p);
        for (int i = 0; i < 3; i++)
            CHECK_NEAR((after.v[i] - b[1].v[i]) / b[1].im, p[i], 1e-13 * (1.0 + size_of(p)));
    }
}

/* Without coupling of slip and approach the three laws are one. */
TEST(laws_agree_without_coupling)
{
    for (int k = 0; k < 20; k++) {
        rb_impact in = sphere(0.1 * k, 1.0, 0.3, 0.05 * k);
        in.K[4] = 2.0;
        in.u[2] = 0.2;
        rb_impact_result a = solve(&in);
        in.law = RB_NEWTON;
        rb_impact_result b = solve(&in);
        in.law = RB_STRONGE;
        rb_impact_result c = solve(&in);
        CHECK_NEAR(apart(a.p, b.p), 0.0, 1e-12);
        CHECK_NEAR(apart(a.p, c.p), 0.0, 1e-12);
    }
}

/* Every family and law: certified, and Newton's law makes energy somewhere. */
TEST(random_impacts_are_certified)
{
    int created = 0, again = 0, held = 0;
    for (int family = 0; impact_family_name(family); family++)
        for (uint64_t seed = 1; seed <= 3000; seed++) {
            TEST_SEED(seed);
            rb_impact in;
            impact_case(family, seed, &in);
            for (int law = 0; law < 3; law++) {
                in.law = (rb_restitution_law)law;
                rb_impact_result out = solve(&in);
                CHECK(isfinite(size_of(out.p)));
                created += law == RB_NEWTON && out.energy > 0.0;
                again += out.rounds > 1;
                held += out.held;
            }
        }
    CHECK(created > 0 && again > 0 && held > 0);
}

/* The certificate is no formality: wrong impulses fail it. */
TEST(certificate_sees_wrong_impulses)
{
    rb_impact in = corner(0.3, RB_POISSON);
    rb_impact_certificate cert;
    rb_impact_result right = solve(&in), out = right;
    out.p[0] *= 0.6;
    CHECK(!rb_impact_certify(&in, &out, &cert)); /* approaches still, and the cone is left */
    CHECK(cert.cone > 0.0 || cert.approach > 0.0);
    out = right;
    out.p[1] *= 1.3;
    CHECK(!rb_impact_certify(&in, &out, &cert));
    CHECK(cert.cone > 0.0);
    out = right;
    for (int i = 0; i < 3; i++) out.p[i] *= 1.4;
    CHECK(!rb_impact_certify(&in, &out, &cert));
    CHECK(cert.law > 0.1);
    memset(&out, 0, sizeof out);
    CHECK(!rb_impact_certify(&in, &out, &cert));
}

/* ---- models ------------------------------------------------------------------------------------
 */

/* K and dv by the mass matrix: nothing of the recursion over links is in it. */
static void check_model_impact(tree *t, const rb_impact_site *site)
{
    int nv = t->m->nv;
    double *J = calloc((size_t)(12 * nv), sizeof *J),
           *rows = calloc((size_t)(3 * nv), sizeof *rows);
    double *x = calloc((size_t)nv, sizeof *x), *dv = calloc((size_t)nv, sizeof *dv), R[9];
    rb_impact in = { .mu = site->mu, .e = site->e, .law = site->law };
    rb_impact_frame(site->n, R);
    rb_jacobian(t->m, t->d, site->body1, site->pos, J);
    rb_jacobian(t->m, t->d, site->body2, site->pos, J + 6 * nv);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < nv; j++)
                rows[i * nv + j] += R[3 * i + k] * (J[(9 + k) * nv + j] - J[(3 + k) * nv + j]);
    double scale = 0.0;
    for (int i = 0; i < 3; i++) {
        copy(x, rows + i * nv, nv);
        rb_mass_solve(t->m, t->d, x);
        for (int j = 0; j < nv; j++) in.u[i] += rows[i * nv + j] * t->d->v[j];
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < nv; j++) in.K[3 * k + i] += rows[k * nv + j] * x[j];
    }
    for (int i = 0; i < 3; i++) scale = fmax(scale, in.K[4 * i]);
    const double *K = in.K;
    double det = K[0] * (K[4] * K[8] - K[5] * K[7]) - K[1] * (K[3] * K[8] - K[5] * K[6]) +
                 K[2] * (K[3] * K[7] - K[4] * K[6]);

    rb_impact_result out;
    rb_status status = rb_impact_model(t->m, t->d, site, &out, dv);
    if (det > 1e-8 * scale * scale * scale && in.u[0] < -1e-6) { /* else it may be held */
        CHECK_INT(status, RB_OK);
        rb_impact_result dense = solve(&in);
        CHECK_NEAR(apart(out.p, dense.p), 0.0, 1e-7 * size_of(dense.p));
        memset(x, 0, (size_t)nv * sizeof *x);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < nv; j++) x[j] += rows[i * nv + j] * dense.p[i];
        rb_mass_solve(t->m, t->d, x);
        double size = 0.0;
        for (int j = 0; j < nv; j++) size = fmax(size, fabs(x[j]));
        for (int j = 0; j < nv; j++) CHECK_NEAR(dv[j], x[j], 1e-6 * size);
    }
    free(J);
    free(rows);
    free(x);
    free(dv);
}

/* Random trees: a link against the world, against another one, two links of one mechanism. */
TEST(links_of_mechanisms)
{
    for (uint64_t seed = 1; seed <= 150; seed++) {
        TEST_SEED(seed);
        tree_options o = tree_any(seed);
        o.nlink = 1 + (int)(seed % 12);
        tree t = tree_open(seed, o);
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        rb_mass(t.m, t.d);
        CHECK_INT(rb_mass_factor(t.m, t.d), RB_OK);
        CHECK_INT(rb_aba_factor(t.m, t.d, NULL, NULL), RB_OK);
        rb_upsilon(t.m, t.d);
        rb_frames(t.m, t.d);
        for (int k = 0; k < 4; k++) {
            rb_impact_site site = { .body1 = k == 0 ? 0 : tree_below(&t.rng, t.m->nbody),
                                    .body2 = tree_below(&t.rng, t.m->nbody),
                                    .mu = 0.2 + 0.1 * k,
                                    .e = 0.25 * k,
                                    .law = (rb_restitution_law)(k % 3) };
            tree_vector(&t.rng, 0.5, site.pos);
            tree_direction(&t.rng, site.n);
            if (site.body1 != site.body2) check_model_impact(&t, &site);
        }
        tree_close(&t);
    }
}

/* ---- refused -----------------------------------------------------------------------------------
 */

TEST(bad_impacts_are_named)
{
    const rb_impact good = corner(0.3, RB_POISSON);
    rb_impact_result out;
    rb_error err = { 0 };
    rb_impact in = good;
    in.K[4] = NAN;
    CHECK_INT(rb_impact_check(&in, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "K");
    CHECK_INT(rb_impact_solve(&in, &out), RB_BAD_INPUT);
    in = good;
    in.K[1] += 0.5;
    CHECK_INT(rb_impact_check(&in, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "symmetric");
    in = good;
    in.K[1] = in.K[3] = 50.0;
    CHECK_INT(rb_impact_check(&in, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "negative eigenvalue");
    in = good;
    in.u[2] = INFINITY;
    CHECK_INT(rb_impact_check(&in, &err), RB_BAD_INPUT);
    in = good;
    in.mu = -0.1;
    CHECK_INT(rb_impact_check(&in, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "mu");
    in = good;
    in.e = 1.01;
    CHECK_INT(rb_impact_check(&in, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "e:");
    in = good;
    memset(in.K, 0, sizeof in.K); /* two fixed bodies */
    CHECK_INT(rb_impact_solve(&in, &out), RB_SINGULAR);
}

static rb_status parse(const char *text, rb_impact_entry *entry, rb_error *err)
{
    return rb_impact_parse(text, strlen(text), 3, NULL, entry, err);
}

#define BODY(n)                                                                                    \
    "\"im" n "\":1,\"iI" n "\":[[1,0,0],[0,1,0],[0,0,1]],\"r" n "\":[0,0,0],"                      \
    "\"v" n "\":[0,0,0],\"w" n "\":[0,0,0],"

TEST(lines_of_files)
{
    rb_impact_entry entry;
    rb_error err = { 0 };
    CHECK_INT(parse("{" BODY("1") BODY("2") "\"n\":[0,0,1],\"mu\":0.5,\"e\":0.25,"
                                            "\"law\":\"stronge\"}",
                    &entry, &err),
              RB_OK);
    CHECK_STR(entry.name, "line-3");
    CHECK_INT(entry.law, RB_STRONGE);
    CHECK_INT(entry.has_answer, 0);

    static const char *const bad[][2] = {
        { "{" BODY("1") "\"n\":[0,0,1],\"mu\":0.5,\"e\":0}", "im2: missing" },
        { "{" BODY("1") BODY("2") "\"n\":[0,0,2],\"mu\":0.5,\"e\":0}", "unit vector" },
        { "{" BODY("1") BODY("2") "\"n\":[0,1],\"mu\":0.5,\"e\":0}", "2 numbers; expected 3" },
        { "{" BODY("1") BODY("2") "\"n\":[0,0,1],\"mu\":-0.5,\"e\":0}", "mu: -0.5; expected" },
        { "{" BODY("1") BODY("2") "\"n\":[0,0,1],\"mu\":0.5,\"e\":1.5}", "e: 1.5; expected" },
        { "{" BODY("1") BODY("2") "\"n\":[0,0,1],\"mu\":0.5,\"e\":1,\"law\":\"x\"}", "law" },
        { "{" BODY("1") BODY("2") "\"n\":[0,0,1],\"mu\":\"a\",\"e\":1}", "a string" },
        { "{\"im1\":1,\"iI1\":[[1,2,0],[0,1,0],[0,0,1]]}", "symmetric" },
        { "{\"im1\":1,\"iI1\":[[1,2,0],[2,1,0],[0,0,1]]}", "negative eigenvalue" },
        { "{\"im1\":1,\"iI1\":[[1,0],[0,1]]}", "three rows of three" },
        { "{\"im1\":-1}", "im1: -1; expected" },
        { "[1]", "expected one JSON object" },
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CHECK(parse(bad[k][0], &entry, &err) != RB_OK);
        CHECK_CONTAINS(err.text, bad[k][1]);
        CHECK_INT(err.line, 3);
    }
}

TEST(every_allocation_of_the_reader_may_fail)
{
    const char *line = "{" BODY("1") BODY("2") "\"n\":[0,0,1],\"mu\":0.5,\"e\":0.25}";
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_impact_entry entry;
        rb_status status = rb_impact_parse(line, strlen(line), 1, &alloc, &entry, NULL);
        CHECK_INT(memory.live, 0);
        if (memory.requests < k) {
            CHECK_INT(status, RB_OK);
            break;
        }
        CHECK_INT(status, RB_NOMEM);
    }
}

TEST_MAIN(RUN(sphere_slides_or_sticks), RUN(bodies_that_separate_get_nothing), RUN(corner_of_a_box),
          RUN(corner_sticks_from_a_coefficient_on), RUN(stored_impulses),
          RUN(a_slow_walk_through_the_impulse_agrees), RUN(turned_tangents_turn_the_impulse),
          RUN(units_do_not_matter), RUN(swapped_bodies_get_the_opposite),
          RUN(laws_agree_without_coupling), RUN(random_impacts_are_certified),
          RUN(certificate_sees_wrong_impulses), RUN(links_of_mechanisms),
          RUN(bad_impacts_are_named), RUN(lines_of_files),
          RUN(every_allocation_of_the_reader_may_fail))
