/* The n-link pendulum [Jain 2012]: base heights with floor and wall, minimal against maximal
 * coordinates (Figure 2), Table I, and how the cost of a step grows with the links. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "reproduce/reproduce.h"

#define FOLDER  "papers/pendulum"
#define STEP    0.001
#define LENGTH  6.0 /* of the chain [m] */
#define GRAVITY 9.8

enum { NPAPER = 6, NHEIGHT = 3 };
static const int links[NPAPER] = { 3, 6, 12, 15, 24, 30 };
static const char *const heights[NHEIGHT] = { "10", "5.9", "5" };

/* A run of the scene KIND_N.xml from its keyframe. */
static int swing(reproduce *r, trial *t, const char *record, const char *kind, int n,
                 const char *options)
{
    char scene[96];
    snprintf(scene, sizeof scene, FOLDER "/%s_%d.xml", kind, n);
    return trial_run(r, t, record, scene, "--key start %s", options);
}

/* ---- where the links are ----------------------------------------------------------------------
 */

/* Angles of the links from hanging down: those of the hinges add up. Records have the coordinates
 * of the file whichever the engine uses. */
static void link_angles(const double *row, int n, double *angle)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) angle[k] = sum += row[1 + k];
}

/* Height of the centre of the last link over the base. */
static double last_height(const double *row, int n)
{
    double angle[30], z = 0.0;
    link_angles(row, n, angle);
    for (int k = 0; k < n; k++) z -= (k == n - 1 ? 0.5 : 1.0) * LENGTH / n * cos(angle[k]);
    return z;
}

/* ---- base heights -----------------------------------------------------------------------------
 */

/* Energies are compared with that of a fall by half the length. Where links hit each other it is
 * spent. */
static void free_swing(reproduce *r, int n, double time)
{
    trial t;
    char options[64];
    snprintf(options, sizeof options, "--time %g", time);
    if (!swing(r, &t, NULL, "chain", n, options)) return;
    double gained = (t.energy_end - t.energy_start) / (n * GRAVITY * 0.5 * LENGTH);
    reproduce_say(r, " %10.1e%s", gained, t.contacts_max ? " (links hit each other)" : "");
    if (t.contacts_max)
        reproduce_near(r, fmax(gained, 0.0), 0.0, 0.005, "n=%d energy made without walls", n);
    else
        reproduce_near(r, gained, 0.0, 0.005, "n=%d energy made or lost without contact", n);
    trial_free(&t);
}

static void table_of_heights(reproduce *r)
{
    double time = r->brief ? 1.2 : 5.0;
    reproduce_say(r,
                  "First contact [s] / most contacts / deepest overlap [m] in %g s, exact cone;\n"
                  "energy made without floor and wall, of n m g 3 m\n%-4s",
                  time, "n");
    for (int k = 0; k < NHEIGHT; k++) reproduce_say(r, "    base at %3s m      ", heights[k]);
    reproduce_say(r, " %10s\n", "free");
    for (int i = 0; i < NPAPER; i++) {
        reproduce_say(r, "%-4d", links[i]);
        for (int k = 0; k < NHEIGHT; k++) {
            trial t;
            char kind[32], options[64];
            snprintf(kind, sizeof kind, "height_%s", heights[k]);
            snprintf(options, sizeof options, "--time %g --watch", time);
            if (!swing(r, &t, NULL, kind, links[i], options)) return;
            double first = trial_first_contact(r);
            reproduce_say(r, "  %6.3f / %2d / %.1e", first, t.contacts_max, t.penetration_max);
            if (k == 0) reproduce_near(r, first, 1.09, 0.01, "n=%d hits the wall", links[i]);
            reproduce_near(r, t.penetration_max, 0.0, 1e-6 * LENGTH, "n=%d base at %s m overlap",
                           links[i], heights[k]);
            reproduce_near(r, t.energy_created_max, 0.0, 0.005 * links[i] * GRAVITY * 0.5 * LENGTH,
                           "n=%d base at %s m energy made", links[i], heights[k]);
            trial_free(&t);
        }
        free_swing(r, links[i], time);
        reproduce_say(r, "\n");
    }
    reproduce_say(
        r, "From 10 m, as printed, 6 m of chain reach the wall only; 5.9 and 5 m let it drag "
           "along the floor.\n\n");
}

/* ---- minimal against maximal ------------------------------------------------------------------
 */

/* Largest difference of the height of the last link up to 1 s, before anything is hit. */
static int difference(reproduce *r, int n, double h, double *worst)
{
    trial t[2];
    for (int maximal = 0; maximal < 2; maximal++) {
        char options[96];
        const char *word = maximal ? "maximal" : "minimal";
        snprintf(options, sizeof options, "--time 1 --step %g --coordinates %s", h, word);
        if (swing(r, &t[maximal], maximal ? "pendulum-maximal" : "pendulum-minimal", "chain", n,
                  options))
            continue;
        if (maximal) trial_free(&t[0]);
        return 0;
    }
    *worst = 0.0;
    for (int i = 0; i < t[0].path.nrow && i < t[1].path.nrow; i++) {
        const double *a = t[0].path.x + (long)i * t[0].path.ncol;
        const double *b = t[1].path.x + (long)i * t[1].path.ncol;
        *worst = fmax(*worst, fabs(last_height(a, n) - last_height(b, n)));
    }
    trial_free(&t[0]);
    trial_free(&t[1]);
    return 1;
}

static void table_of_coordinates(reproduce *r)
{
    static const double steps[] = { 0.004, 0.002, 0.001, 0.0005 };
    reproduce_say(
        r,
        "Minimal against maximal coordinates: largest difference of the height of the last "
        "link up to 1 s\n%-8s %10s %10s\n",
        "h [s]", "n = 3", "n = 6");
    double before[2] = { 0.0 };
    for (int i = 0; i < 4; i++) {
        reproduce_say(r, "%-8g", steps[i]);
        for (int k = 0; k < 2; k++) {
            double worst;
            if (!difference(r, links[k], steps[i], &worst)) return;
            reproduce_say(r, " %7.2f um", 1e6 * worst);
            if (i > 0)
                reproduce_near(r, log2(before[k] / worst), 2.0, 0.1, "n=%d order at h=%g", links[k],
                               steps[i]);
            before[k] = worst;
        }
        reproduce_say(r, "\n");
    }
    reproduce_say(r, "\n");
}

static void draw_height(reproduce *r)
{
    char path[4096];
    svg s;
    trial t[2];
    double time = r->brief ? 1.5 : 5.0;
    for (int maximal = 0; maximal < 2; maximal++) {
        char options[96];
        snprintf(options, sizeof options, "--time %g --formulation jain --coordinates %s", time,
                 maximal ? "maximal" : "minimal");
        if (swing(r, &t[maximal], maximal ? "pendulum-3-maximal" : "pendulum-3-minimal",
                  "height_10", 3, options))
            continue;
        if (maximal) trial_free(&t[0]);
        return;
    }
    reproduce_figure(r, "pendulum_height.svg", path, sizeof path);
    if (svg_open(&s, path, 640.0, 400.0, "Height of the last of three links")) {
        const double box[4] = { 60.0, 30.0, 550.0, 310.0 };
        plot p =
            plot_open(&s, box, (plot_axis){ .label = "time [s]", .lo = 0.0, .hi = time },
                      (plot_axis){ .label = "height of the last link [m]", .lo = 4.0, .hi = 12.0 });
        p.legend_x = 330.0;
        for (int maximal = 0; maximal < 2; maximal++) {
            const trajectory *x = &t[maximal].path;
            double *z = malloc((size_t)x->nrow * sizeof *z);
            for (int i = 0; z && i < x->nrow; i++)
                z[i] = 10.0 + last_height(x->x + (long)i * x->ncol, 3);
            for (int i = 0; z && i < x->nrow; i++) x->x[(long)i * x->ncol + 1] = z[i];
            plot_curve(&p, x->x, x->x + 1, x->nrow, x->ncol, plot_colour(maximal),
                       maximal ? "maximal (fully augmented)" : "minimal (tree augmented)");
            free(z);
        }
        if (!svg_close(&s)) r->failed = 1;
    } else {
        r->failed = 1;
    }
    trial_free(&t[0]);
    trial_free(&t[1]);
}

/* ---- cost --------------------------------------------------------------------------------------
 */

/* Processor time of a step [us]: reading the model is taken off, the least of some repeats counts.
 */
static int step_cost(reproduce *r, const char *kind, int n, const char *options, int repeats,
                     double *us, trial *last)
{
    trial none;
    char unmoved[128];
    *us = INFINITY;
    snprintf(unmoved, sizeof unmoved, "%s --time 0", options);
    if (!swing(r, &none, NULL, kind, n, unmoved)) return 0;
    for (int i = 0; i < repeats; i++) {
        if (!swing(r, last, NULL, kind, n, options)) return 0;
        *us = fmin(*us, 1e6 * (last->cpu - none.cpu) / last->steps);
    }
    return 1;
}

static void table_1(reproduce *r)
{
    /* tree augmented, fully augmented [s] for 5,000 steps */
    static const double printed[NPAPER][2] = { { 1.326214, 5.035574 },   { 1.572062, 7.585271 },
                                               { 3.231113, 21.002845 },  { 2.930593, 40.110204 },
                                               { 5.989333, 117.906592 }, { 4.766953, 212.037019 } };
    reproduce_say(
        r,
        "Table I: processor time of a step [us], to 1.2 s, base at 10 m; rows of the largest "
        "LCP\n%-4s %10s %10s %7s   %10s %6s %10s %6s %7s\n",
        "n", "paper TA", "paper FA", "ratio", "minimal", "rows", "maximal", "rows", "ratio");
    int n = r->brief ? 2 : NPAPER;
    for (int i = 0; i < n; i++) {
        double us[2];
        trial t[2];
        if (!step_cost(r, "height_10", links[i], "--formulation jain --time 1.2", 1, &us[0],
                       &t[0]) ||
            !step_cost(r, "height_10", links[i],
                       "--formulation jain --time 1.2 --coordinates maximal", 1, &us[1], &t[1]))
            return;
        reproduce_say(r, "%-4d %10.1f %10.1f %7.1f   %10.1f %6d %10.1f %6d %7.1f\n", links[i],
                      200.0 * printed[i][0], 200.0 * printed[i][1], printed[i][1] / printed[i][0],
                      us[0], t[0].rows_max, us[1], t[1].rows_max, us[1] / us[0]);
        reproduce_near(r, t[1].rows_max - t[0].rows_max, 5 * links[i], 10.0,
                       "n=%d rows of the hinges in the LCP", links[i]);
        reproduce_near(r, t[1].loop_error_max, 0.0, 1e-6, "n=%d hinges open", links[i]);
    }
    reproduce_say(r, "\n");
}

static double slope(const double *x, const double *y, int n)
{
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int i = 0; i < n; i++) {
        double a = log(x[i]), b = log(y[i]);
        sx += a, sy += b, sxx += a * a, sxy += a * b;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/* Without contact for all lengths, at the paper's step and at a tenth of it; on the floor for those
 * whose whip is not yet too wild. The midpoint rule is iterated, and the waves along a chain under
 * its own tension become faster with the links, omega h ~ n: at 1 ms it takes more rounds for 480
 * links than for 30. At 0.1 ms all take the same, and what is left is the cost of a round. Times
 * are too noisy for a check: bench/step/growth.py counts instructions. */
static void table_of_growth(reproduce *r)
{
    enum { NLONG = 5, NFLOOR = 3 };
    static const double n[NLONG] = { 30, 60, 120, 240, 480 };
    double us[NLONG], short_us[NLONG], floor_us[NFLOOR];
    int repeats = r->brief ? 1 : 3;
    trial t;
    reproduce_say(r, "Processor time of a step [us] in minimal coordinates\n%-6s %12s %12s %12s\n",
                  "n", "free, 1 ms", "free, 0.1 ms", "floor, 1 ms");
    for (int i = 0; i < NLONG; i++) {
        if (!step_cost(r, "chain", (int)n[i], "--time 0.1", repeats, &us[i], &t)) return;
        if (!step_cost(r, "chain", (int)n[i], "--time 0.01 --step 0.0001", repeats, &short_us[i],
                       &t))
            return;
        reproduce_say(r, "%-6d %12.1f %12.1f", (int)n[i], us[i], short_us[i]);
        if (i < NFLOOR && !r->brief) {
            if (!step_cost(r, "height_5", (int)n[i], "--time 1", 1, &floor_us[i], &t)) return;
            reproduce_say(r, " %12.1f  (to 1 s, %.1f contacts on average)", floor_us[i],
                          t.contacts_mean);
        }
        reproduce_say(r, "\n");
    }
    double grows = slope(n, short_us, NLONG), later = slope(n + 1, short_us + 1, NLONG - 1);
    reproduce_say(r, "slope  %12.2f %12.2f", slope(n, us, NLONG), grows);
    if (!r->brief) reproduce_say(r, " %12.2f", slope(n, floor_us, NFLOOR));
    reproduce_say(r, "\nfrom 60 to 480, free at 0.1 ms: %.2f (few bodies have a shorter way)\n",
                  later);
}

/* ---- snapshots --------------------------------------------------------------------------------
 */

static void draw_chain(plot *p, const double *row, int n, const char *colour)
{
    double angle[30], x = 0.0, z = 5.0, l = LENGTH / n;
    char style[96];
    link_angles(row, n, angle);
    snprintf(style, sizeof style, "fill=\"%s\" fill-opacity=\"0.25\" stroke=\"%s\"", colour,
             colour);
    for (int k = 0; k < n; k++) {
        double dx = -l * sin(angle[k]), dz = -l * cos(angle[k]);
        svg_circle(p->s, plot_x(p, x + 0.5 * dx), plot_y(p, z + 0.5 * dz),
                   plot_x(p, 0.5 * l) - plot_x(p, 0.0), style);
        x += dx;
        z += dz;
    }
}

static void draw_snapshots(reproduce *r)
{
    static const double times[] = { 0.0, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0 };
    char path[4096];
    svg s;
    trial t;
    if (!swing(r, &t, "pendulum-15", "height_5", 15, "--time 2")) return;
    reproduce_figure(r, "pendulum_snapshots.svg", path, sizeof path);
    if (svg_open(&s, path, 900.0, 560.0, "Pendulum of 15 links")) {
        const double box[4] = { 60.0, 40.0, 800.0, 460.0 };
        plot p = plot_open_equal(&s, box, (plot_axis){ .label = "x [m]", .lo = -6.5, .hi = 4.5 },
                                 (plot_axis){ .label = "z [m]", .lo = 0.0 });
        p.legend_x = 560.0;
        plot_title(&p, "15 links, base at 5 m");
        svg_rect(&s, plot_x(&p, -6.5), plot_y(&p, 0.1), plot_x(&p, 4.5) - plot_x(&p, -6.5),
                 plot_y(&p, 0.0) - plot_y(&p, 0.1), "fill=\"#ccc\"");
        svg_rect(&s, plot_x(&p, 3.9), box[1], plot_x(&p, 4.1) - plot_x(&p, 3.9), box[3],
                 "fill=\"#ccc\"");
        for (int k = 0; k < (int)(sizeof times / sizeof *times); k++) {
            int row = (int)(times[k] / STEP + 0.5);
            char label[32];
            snprintf(label, sizeof label, "%.1f s", times[k]);
            if (row >= t.path.nrow) break;
            draw_chain(&p, t.path.x + (long)row * t.path.ncol, 15, plot_colour(k));
            plot_legend(&p, plot_colour(k), label);
        }
        if (!svg_close(&s)) r->failed = 1;
    } else {
        r->failed = 1;
    }
    trial_free(&t);
}

void reproduce_pendulum(reproduce *r)
{
    table_of_heights(r);
    if (!r->failed) table_of_coordinates(r);
    if (!r->failed) table_1(r);
    if (!r->failed) table_of_growth(r);
    if (!r->failed) draw_height(r);
    if (!r->failed) draw_snapshots(r);
}
