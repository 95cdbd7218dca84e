/* The sliding and spinning cube [Peiret 2017]: where it goes under each friction model, with steps
 * of 10 and 1 ms; the phantom inertia does not matter; variants whose answer does not depend on how
 * the load is shared. Figure 4 of the paper is lost: our runs are shown beside those of other code.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "reproduce/reproduce.h"

#define CUBE "contact/sliding_cube.xml"
#define LEGS "papers/three_legs.xml"

enum { NTIME = 7, NMODEL = 5 };
static const double times[NTIME] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8 };
static const double steps[2] = { 0.001, 0.01 };

/* Coulomb's law integrated with steps of 1e-5 s, loads from balance and equal compliance */
static const double coulomb[NTIME][2] = {
    { 0.024, 0.467 }, { 0.085, 0.856 }, { 0.162, 1.167 },   { 0.259, 1.391 },
    { 0.359, 1.524 }, { 0.427, 1.582 }, { 0.4406, 1.5840 },
};

/* Positions by other code, and how far ours may be. The loads of the four vertices are not unique
 * there, and which of them it took is not known: with friction bounds that do not follow the load
 * (box) or a square cone (anitescu-potra) that moves the cube by centimetres. */
typedef struct model {
    const char *word;
    double bound[2];           /* [m], at 1 and 10 ms    */
    double known[2][NTIME][2]; /* at 1 and 10 ms [m]     */
} model;

static const model models[NMODEL] = {
    { "phantom",
      { 1e-3, 1e-3 },
      { { { .024, .466 },
          { .085, .855 },
          { .163, 1.166 },
          { .260, 1.389 },
          { .360, 1.522 },
          { .427, 1.579 },
          { .4404, 1.5813 } },
        { { .026, .463 },
          { .088, .848 },
          { .166, 1.154 },
          { .263, 1.373 },
          { .362, 1.501 },
          { .427, 1.555 },
          { .4385, 1.5566 } } } },
    { "hybrid-friction",
      { 1e-3, 1e-3 },
      { { { .024, .466 },
          { .085, .855 },
          { .161, 1.166 },
          { .257, 1.389 },
          { .357, 1.522 },
          { .424, 1.580 },
          { .4381, 1.5823 } },
        { { .022, .461 },
          { .079, .845 },
          { .151, 1.152 },
          { .241, 1.373 },
          { .338, 1.505 },
          { .402, 1.564 },
          { .4157, 1.5673 } } } },
    { "anitescu-potra",
      { 0.03, 0.04 },
      { { { .017, .474 },
          { .037, .859 },
          { .051, 1.171 },
          { .064, 1.403 },
          { .077, 1.550 },
          { .087, 1.613 },
          { .088, 1.616 } },
        { { .019, .472 },
          { .040, .854 },
          { .056, 1.162 },
          { .070, 1.390 },
          { .083, 1.533 },
          { .095, 1.592 },
          { .096, 1.594 } } } },
    { "box",
      { 0.03, 0.06 },
      { { { .055, .448 },
          { .173, .813 },
          { .352, 1.075 },
          { .552, 1.278 },
          { .702, 1.367 },
          { .808, 1.369 },
          { .830, 1.350 } },
        { { .049, .443 },
          { .161, .804 },
          { .330, 1.065 },
          { .529, 1.259 },
          { .670, 1.353 },
          { .775, 1.360 },
          { .810, 1.337 } } } },
    { "cone", { 3e-3, 3e-2 }, { { { 0.0 } } } }, /* against Coulomb's law itself */
};

typedef struct cube {
    reproduce *r;
    trial run[NMODEL][2];
} cube;

static int start(reproduce *r, trial *t, const char *name, const char *scene, const char *word,
                 double h, const char *more)
{
    return trial_run(r, t, name, scene,
                     "--key start --formulation %s --scheme %s --step %g --directions 4 --time %s",
                     word, strcmp(word, "cone") == 0 ? "node" : "semi-implicit", h, more);
}

/* ---- friction models --------------------------------------------------------------------------
 */

static const double *place(const trial *t, double h, double time)
{
    int row = (int)(time / h + 0.5);
    if (row >= t->path.nrow) row = t->path.nrow - 1;
    return t->path.x + (long)row * t->path.ncol + 1;
}

static void table_of_models(cube *o, int k)
{
    reproduce *r = o->r;
    reproduce_say(r, "Centre (x, y) [m] at h = %g ms; after / what other code found.\n%-6s%15s",
                  1e3 * steps[k], "t [s]", "Coulomb");
    for (int m = 0; m < NMODEL; m++)
        reproduce_say(r, m == NMODEL - 1 ? " %14s" : " %28s", models[m].word);
    reproduce_say(r, "\n");
    for (int i = 0; i < NTIME; i++) {
        char time[16];
        snprintf(time, sizeof time, "%.1f", times[i]);
        reproduce_say(r, "%-6s  %6.4f %6.4f", i == NTIME - 1 ? "end" : time, coulomb[i][0],
                      coulomb[i][1]);
        for (int m = 0; m < NMODEL; m++) {
            const double *x = place(&o->run[m][k], steps[k], times[i]), *y = models[m].known[k][i];
            int exact = m == NMODEL - 1;
            if (exact) y = coulomb[i];
            reproduce_say(r, "  %6.4f %6.4f", x[0], x[1]);
            if (!exact) reproduce_say(r, " / %5.3f %5.3f", y[0], y[1]);
            for (int a = 0; a < 2; a++)
                reproduce_near(r, x[a], y[a], models[m].bound[k], "%s h=%g t=%.1f %c",
                               models[m].word, steps[k], times[i], "xy"[a]);
        }
        reproduce_say(r, "\n");
    }
    reproduce_say(r, "\n");
}

static int run_models(cube *o)
{
    for (int m = 0; m < NMODEL; m++) {
        for (int k = 0; k < 2; k++) {
            char name[64];
            snprintf(name, sizeof name, "cube-%s-%g", models[m].word, steps[k]);
            if (!start(o->r, &o->run[m][k], name, CUBE, models[m].word, steps[k], "0.8")) return 0;
        }
    }
    return 1;
}

/* ---- what must not matter ---------------------------------------------------------------------
 */

static double distance(const double *x, const double *y)
{
    return hypot(x[0] - y[0], x[1] - y[1]);
}

/* The end for other phantom inertias, as a share of the inertia of the direction. */
static void table_of_shares(cube *o)
{
    static const double shares[] = { 1e-9, 1e-3, 0.1, 0.5, 1.0, 1.5 };
    reproduce *r = o->r;
    reproduce_say(r,
                  "phantom: distance of the end from that with rho = 1e-6 T_jj [m]\n"
                  "%-10s %10s %10s\n",
                  "rho / T_jj", "1 ms", "10 ms");
    for (int i = 0; i < (int)(sizeof shares / sizeof *shares); i++) {
        reproduce_say(r, "%-10g", shares[i]);
        for (int k = 0; k < 2; k++) {
            trial t;
            char more[64];
            if (r->brief && k == 0) continue;
            snprintf(more, sizeof more, "0.8 --set rb.phantom_share=%g", shares[i]);
            if (!start(r, &t, "cube-share", CUBE, "phantom", steps[k], more)) return;
            double d = distance(place(&t, steps[k], 0.8), place(&o->run[0][k], steps[k], 0.8));
            reproduce_near(r, d, 0.0, 1e-6, "rho=%g T h=%g", shares[i], steps[k]);
            reproduce_say(r, " %10.1e", d);
            trial_free(&t);
        }
        reproduce_say(r, "\n");
    }
    trial t;
    if (!start(r, &t, "cube-plain", CUBE, "phantom", 0.001, "0.8 --set rb.lateral=0")) return;
    const double *x = place(&t, 0.001, 0.8);
    reproduce_say(r, "without any force across the slip (rb.lateral=0) it ends at (%.4f, %.4f)\n\n",
                  x[0], x[1]);
    trial_free(&t);
}

/* ---- where the load cannot be shared in another way -------------------------------------------
 */

static void table_of_variants(cube *o)
{
    static const struct {
        const char *name, *scene;
        double end[2]; /* Coulomb's law, Runge-Kutta with 2e-5 s: tests/cli/sliding.py */
    } variants[] = { { "mu = 0.5", CUBE, { 0.319401, 2.951530 } },
                     { "three legs", LEGS, { 0.309816, 2.942508 } } };
    reproduce *r = o->r;
    reproduce_say(r, "Distance of the end from Coulomb's [mm], mu = 0.5\n%-12s %-16s %8s %8s\n", "",
                  "", "1 ms", "10 ms");
    for (int v = 0; v < 2; v++) {
        for (int m = 0; m < NMODEL; m++) {
            int round =
                strcmp(models[m].word, "box") != 0 && strcmp(models[m].word, "anitescu-potra") != 0;
            reproduce_say(r, "%-12s %-16s", variants[v].name, models[m].word);
            for (int k = 0; k < 2; k++) {
                trial t;
                if (!start(r, &t, "cube-variant", variants[v].scene, models[m].word, steps[k],
                           "1.5 --friction 0.5"))
                    return;
                double d = distance(place(&t, steps[k], 1.5), variants[v].end);
                if (round)
                    reproduce_near(r, d, 0.0, 3.0 * steps[k], "%s %s h=%g", variants[v].name,
                                   models[m].word, steps[k]);
                reproduce_say(r, " %8.2f", 1e3 * d);
                trial_free(&t);
            }
            reproduce_say(r, "%s\n", round ? "" : "   its cone is square");
        }
    }
}

/* ---- figure -----------------------------------------------------------------------------------
 */

static void draw(cube *o)
{
    char path[4096];
    svg s;
    reproduce_figure(o->r, "cube_trajectories.svg", path, sizeof path);
    if (!svg_open(&s, path, 860.0, 760.0, "Sliding cube, trajectories of its centre")) {
        o->r->failed = 1;
        return;
    }
    for (int k = 0; k < 2; k++) {
        const double box[4] = { 60.0 + 410.0 * k, 40.0, 350.0, 650.0 };
        plot p = plot_open_equal(&s, box, (plot_axis){ .label = "x [m]", .lo = -0.05, .hi = 0.95 },
                                 (plot_axis){ .label = "y [m]", .lo = -0.05 });
        p.legend_x = 150.0;
        p.legend_y = 450.0;
        plot_title(&p, k ? "h = 10 ms" : "h = 1 ms");
        for (int m = 0; m < NMODEL; m++) {
            const trajectory *t = &o->run[m][k].path;
            plot_curve(&p, t->x + 1, t->x + 2, t->nrow, t->ncol, plot_colour(m), models[m].word);
        }
        for (int i = 0; i < NTIME; i++)
            svg_circle(&s, plot_x(&p, coulomb[i][0]), plot_y(&p, coulomb[i][1]), 3.0,
                       "fill=\"none\" stroke=\"#000\"");
        plot_legend(&p, "#000", "Coulomb's law (circles)");
    }
    if (!svg_close(&s)) o->r->failed = 1;
}

void reproduce_cube(reproduce *r)
{
    cube o = { .r = r };
    if (run_models(&o)) {
        for (int k = 0; k < 2; k++) table_of_models(&o, k);
        table_of_shares(&o);
        if (!r->failed) table_of_variants(&o);
        if (!r->failed) draw(&o);
    }
    for (int m = 0; m < NMODEL; m++)
        for (int k = 0; k < 2; k++) trial_free(&o.run[m][k]);
}
