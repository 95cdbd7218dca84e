/* Four balls [Stewart & Trinkle 2000, 4.2]: Table 1, the rolling state, and, beyond the paper, the
 * convergence of the exact cone. The cascade of impulses is in cascade.c. */
#include "reproduce/balls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

#define PAPER "--formulation stewart-trinkle-nonlinear --scheme semi-implicit --directions 8"

enum { NSTEP = 5, N = 6 * NBALL };
static const double steps[NSTEP] = { 0.02, 0.01, 0.005, 0.0025, 0.00125 };

/* ---- the measures of Table 1 ------------------------------------------------------------------
 */

/* Positions and the integral of the angular velocity; velocities and angular velocities, world. */
typedef struct motion {
    int n;
    double h;
    double *q, *v; /* (n x N) */
} motion;

static void free_motion(motion *m)
{
    free(m->q);
    free(m->v);
    *m = (motion){ 0 };
}

/* w from the frame of the body to the world */
static void turn(const double quat[4], const double w[3], double out[3])
{
    const double *u = quat + 1;
    double a[3] = { u[1] * w[2] - u[2] * w[1] + quat[0] * w[0],
                    u[2] * w[0] - u[0] * w[2] + quat[0] * w[1],
                    u[0] * w[1] - u[1] * w[0] + quat[0] * w[2] };
    out[0] = w[0] + 2.0 * (u[1] * a[2] - u[2] * a[1]);
    out[1] = w[1] + 2.0 * (u[2] * a[0] - u[0] * a[2]);
    out[2] = w[2] + 2.0 * (u[0] * a[1] - u[1] * a[0]);
}

static int read_motion(const trajectory *t, double h, motion *m)
{
    size_t bytes = (size_t)t->nrow * N * sizeof(double);
    *m = (motion){ .n = t->nrow, .h = h, .q = malloc(bytes), .v = malloc(bytes) };
    if (!m->q || !m->v) {
        free_motion(m);
        return 0;
    }
    for (int i = 0; i < t->nrow; i++) {
        const double *row = t->x + (long)i * t->ncol + 1;
        for (int b = 0; b < NBALL; b++) {
            double *q = m->q + i * N + 6 * b, *v = m->v + i * N + 6 * b;
            memcpy(q, row + 7 * b, 3 * sizeof *q);
            memcpy(v, row + 7 * NBALL + 6 * b, 3 * sizeof *v);
            turn(row + 7 * b + 3, row + 7 * NBALL + 6 * b + 3, v + 3);
            for (int a = 3; a < 6; a++) q[a] = i > 0 ? q[a - N] + h * v[a] : 0.0;
        }
    }
    return 1;
}

static double largest(const double *x, const double *y)
{
    double d = 0.0;
    for (int j = 0; j < N; j++) d = fmax(d, fabs(x[j] - y[j]));
    return d;
}

/* Integral of the distance of the velocities, both constant over their steps. */
static double velocity_error(const motion *m, const motion *reference)
{
    int each = (int)(m->h / reference->h + 0.5);
    double sum = 0.0;
    for (int i = 1; i < reference->n; i++) {
        int row = (i + each - 1) / each;
        if (row < m->n) sum += reference->h * largest(m->v + row * N, reference->v + i * N);
    }
    return sum;
}

static double position_error(const motion *m, const motion *reference)
{
    int each = (int)(m->h / reference->h + 0.5);
    double worst = 0.0;
    for (int i = 0; i < m->n && i * each < reference->n; i++)
        worst = fmax(worst, largest(m->q + i * N, reference->q + i * each * N));
    return worst;
}

/* Largest total variation of a component. */
static double variation(const motion *m)
{
    double worst = 0.0;
    for (int j = 0; j < N; j++) {
        double sum = 0.0;
        for (int i = 1; i < m->n; i++) sum += fabs(m->v[i * N + j] - m->v[(i - 1) * N + j]);
        worst = fmax(worst, sum);
    }
    return worst;
}

/* ---- Table 1 ----------------------------------------------------------------------------------
 */

/* As printed; the step 0.00125 is the reference of the errors. */
static const double printed[NSTEP][3] = { { 0.5050, 0.2505, 19.4046 },
                                          { 0.3523, 0.2015, 19.1728 },
                                          { 0.1657, 0.0838, 19.1702 },
                                          { 0.0700, 0.0298, 19.0862 },
                                          { 0.0, 0.0, 19.0690 } };

static int run_steps(reproduce *r, const char *scene, const char *options, const char *name,
                     motion m[NSTEP])
{
    for (int i = 0; i < NSTEP; i++) {
        trial t;
        char record[64];
        snprintf(record, sizeof record, "balls-%s-%g", name, steps[i]);
        int ok = trial_run(r, &t, record, scene, "--key start --time 1 --step %g %s", steps[i],
                           options) &&
                 read_motion(&t.path, steps[i], &m[i]);
        trial_free(&t);
        if (!ok) return 0;
    }
    return 1;
}

static void check_table(reproduce *r, int i, const double ours[3])
{
    static const char *const names[3] = { "velocity error", "position error", "variation" };
    for (int k = 0; k < 3; k++) {
        double share = k == 2 ? 0.01 : 0.12;
        if (printed[i][k] > 0.0)
            reproduce_near(r, ours[k], printed[i][k], share * printed[i][k], "Table 1 h=%g %s",
                           steps[i], names[k]);
    }
}

static void table_1(reproduce *r)
{
    motion fits[NSTEP] = { { 0 } }, usual[NSTEP] = { { 0 } };
    if (run_steps(r, "papers/four_balls_table.xml", PAPER, "table", fits) &&
        run_steps(r, BALLS_SCENE, PAPER, "paper", usual)) {
        reproduce_say(r,
                      "Table 1 (gravity is not in the text: 9.82 fits it, 9.81 beside)\n"
                      "%-9s %27s %27s %30s\n%-9s",
                      "", "velocity error", "position error", "variation", "h [s]");
        for (int k = 0; k < 3; k++)
            reproduce_say(r, k == 2 ? " %10s%10s%10s" : " %9s%9s%9s", "paper", "9.82", "9.81");
        reproduce_say(r, "\n");
        for (int i = 0; i < NSTEP; i++) {
            const motion *last[2] = { &fits[NSTEP - 1], &usual[NSTEP - 1] };
            const motion *m[2] = { &fits[i], &usual[i] };
            double x[2][3];
            for (int g = 0; g < 2; g++) {
                x[g][0] = velocity_error(m[g], last[g]);
                x[g][1] = position_error(m[g], last[g]);
                x[g][2] = variation(m[g]);
            }
            check_table(r, i, x[0]);
            reproduce_say(r, "%-9g", steps[i]);
            for (int k = 0; k < 3; k++)
                reproduce_say(r, k == 2 ? " %10.4f%10.4f%10.4f" : " %9.4f%9.4f%9.4f", printed[i][k],
                              x[0][k], x[1][k]);
            reproduce_say(r, "\n");
        }
        reproduce_say(r, "\n");
    }
    for (int i = 0; i < NSTEP; i++) {
        free_motion(&fits[i]);
        free_motion(&usual[i]);
    }
}

/* ---- rolling ----------------------------------------------------------------------------------
 */

/* The ball that landed rolls with 5/7 of its speed, at 0.5 s. */
static void table_of_rolling(reproduce *r, const motion cone[NSTEP])
{
    const double exact[3] = { 5.0 / 7.0 * 1.5, 5.0 / 7.0 * 0.1, 5.0 / 7.0 * 15.0 };
    reproduce_say(r,
                  "Rolling state of the thrown ball at 0.5 s, exact cone\n"
                  "%-9s %16s %16s %16s\n",
                  "h [s]", "v_x [m/s]", "v_y [m/s]", "w_y [rad/s]");
    for (int i = 0; i < NSTEP; i++) {
        const double *v = cone[i].v + (int)(0.5 / steps[i] + 0.5) * N;
        const double ours[3] = { v[0], v[1], v[4] };
        for (int k = 0; k < 3; k++)
            reproduce_near(r, ours[k], exact[k], 1e-9, "rolling h=%g component %d", steps[i], k);
        reproduce_say(r, "%-9g %16.12f %16.12f %16.12f\n", steps[i], v[0], v[1], v[4]);
    }
    reproduce_say(r, "%-9s %16.12f %16.12f %16.12f\n\n", "exact", exact[0], exact[1], exact[2]);
}

/* ---- convergence ------------------------------------------------------------------------------
 */

static int end_of(reproduce *r, const char *options, double h, double end[3 * NBALL])
{
    trial t;
    int rows = (int)(1.0 / h + 0.5);
    if (!trial_run(r, &t, "balls-end", BALLS_SCENE,
                   "--key start --time 1 --step %.12g --every %d %s", h, rows, options))
        return 0;
    const double *row = t.path.x + (long)(t.path.nrow - 1) * t.path.ncol + 1;
    for (int b = 0; b < NBALL; b++) memcpy(end + 3 * b, row + 7 * b, 3 * sizeof *end);
    trial_free(&t);
    return 1;
}

static double worst_ball(const double *x, const double *y)
{
    double worst = 0.0;
    for (int b = 0; b < NBALL; b++) {
        double d = hypot(hypot(x[3 * b] - y[3 * b], x[3 * b + 1] - y[3 * b + 1]),
                         x[3 * b + 2] - y[3 * b + 2]);
        worst = fmax(worst, d);
    }
    return worst;
}

enum { MOST_STEPS = 10 };

/* Distance of the worst ball at 1 s from the limit, by step. */
typedef struct study {
    int n, nlocated;
    double h[MOST_STEPS], fixed[MOST_STEPS], located[MOST_STEPS];
} study;

static void draw_convergence(reproduce *r, const study *s)
{
    char path[4096];
    svg drawing;
    reproduce_figure(r, "balls_convergence.svg", path, sizeof path);
    if (!svg_open(&drawing, path, 520.0, 400.0, "Four balls, convergence")) {
        r->failed = 1;
        return;
    }
    const double box[4] = { 70.0, 30.0, 420.0, 310.0 };
    plot p = plot_open(
        &drawing, box, (plot_axis){ .label = "h [s]", .lo = 5e-5, .hi = 3e-2, .logarithmic = 1 },
        (plot_axis){ .label = "worst ball at 1 s [m]", .lo = 5e-5, .hi = 1e-1, .logarithmic = 1 });
    const double line_h[2] = { 1e-4, 2e-2 }, line_e[2] = { 2e-4, 4e-2 };
    plot_marks(&p, s->h, s->fixed, s->n, plot_colour(0), "exact cone, fixed");
    plot_marks(&p, s->h, s->located, s->nlocated, plot_colour(1), "exact cone, located");
    plot_curve(&p, line_h, line_e, 2, 1, "#999", "2 h");
    if (!svg_close(&drawing)) r->failed = 1;
}

static double order(const double *h, const double *error, int n)
{
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int i = 0; i < n; i++) {
        double x = log(h[i]), y = log(error[i]);
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/* Beyond the paper: the end against that of small steps, and what locating the impacts gains. */
static void table_of_convergence(reproduce *r)
{
    double limit[3 * NBALL], end[3 * NBALL];
    study s = { .n = r->brief ? 5 : MOST_STEPS - 1, .nlocated = 6 };
    if (s.nlocated > s.n) s.nlocated = s.n;
    if (!end_of(r, "", 0.02 / (double)(1 << s.n), limit)) return;
    reproduce_say(r,
                  "Exact cone, distance of the worst ball at 1 s from that of h = %g [mm]\n"
                  "%-12s %8s %8s\n",
                  0.02 / (double)(1 << s.n), "h [s]", "fixed", "located");
    for (int i = 0; i < s.n; i++) {
        s.h[i] = 0.02 / (double)(1 << i);
        if (!end_of(r, "", s.h[i], end)) return;
        s.fixed[i] = worst_ball(end, limit);
        reproduce_say(r, "%-12g %8.3f", s.h[i], 1e3 * s.fixed[i]);
        if (i < s.nlocated) {
            if (!end_of(r, "--stepper located", s.h[i], end)) return;
            s.located[i] = worst_ball(end, limit);
            reproduce_say(r, " %8.3f", 1e3 * s.located[i]);
            if (s.h[i] == 0.00125)
                reproduce_near(r, s.located[i], 0.0, 2e-3, "worst ball at 1.25 ms, located");
        }
        reproduce_say(r, "\n");
    }
    double slope = order(s.h, s.fixed, s.n);
    reproduce_near(r, slope, 1.0, 0.25, "order of convergence, cone");
    reproduce_say(r, "order %.2f\n\n", slope);
    draw_convergence(r, &s);
}

/* ---- plan and elevation -----------------------------------------------------------------------
 */

static void draw_views(reproduce *r, const motion *m)
{
    char path[4096];
    svg s;
    reproduce_figure(r, "balls_views.svg", path, sizeof path);
    if (!svg_open(&s, path, 900.0, 800.0, "Four balls, elevation and plan")) {
        r->failed = 1;
        return;
    }
    const double box[2][4] = { { 60.0, 40.0, 800.0, 460.0 }, { 60.0, 570.0, 800.0, 180.0 } };
    for (int view = 0; view < 2; view++) {
        plot p =
            plot_open_equal(&s, box[view], (plot_axis){ .label = "x [m]", .lo = -0.15, .hi = 1.85 },
                            (plot_axis){ .label = view ? "y [m]" : "z [m]",
                                         .lo = view ? -0.2 : 0.0 });
        p.legend_x = 720.0;
        plot_title(&p, view ? "plan" : "elevation: the first second, h = 0.00125");
        for (int b = 0; b < NBALL; b++) {
            const double *q = m->q + 6 * b;
            char style[96], label[32];
            int last = (m->n - 1) * N;
            snprintf(label, sizeof label, "ball %d", b + 1);
            plot_curve(&p, q, q + (view ? 1 : 2), m->n, N, plot_colour(b), label);
            snprintf(style, sizeof style, "fill=\"%s\" fill-opacity=\"0.15\" stroke=\"%s\"",
                     plot_colour(b), plot_colour(b));
            double radius = plot_x(&p, 0.1) - plot_x(&p, 0.0);
            svg_circle(&s, plot_x(&p, q[0]), plot_y(&p, q[view ? 1 : 2]), radius,
                       "fill=\"none\" stroke=\"#bbb\"");
            svg_circle(&s, plot_x(&p, q[last]), plot_y(&p, q[last + (view ? 1 : 2)]), radius,
                       style);
        }
    }
    if (!svg_close(&s)) r->failed = 1;
}

void reproduce_balls(reproduce *r)
{
    motion cone[NSTEP] = { { 0 } };
    table_1(r);
    if (!r->failed && run_steps(r, BALLS_SCENE, "", "cone", cone)) {
        table_of_rolling(r, cone);
        draw_views(r, &cone[NSTEP - 1]);
    }
    if (!r->failed) table_of_convergence(r);
    if (!r->failed) reproduce_cascade(r, PAPER);
    for (int i = 0; i < NSTEP; i++) free_motion(&cone[i]);
}
