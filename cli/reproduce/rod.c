/* The falling rod [Stewart & Trinkle 2000, 4.1]: events and end against the solution of small
 * steps, for every formulation, in the plane and in space; snapshots and convergence as figures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "reproduce/reproduce.h"

#define PLANAR  "contact/rod.xml"
#define SPATIAL "papers/rod_3d.xml"
#define FINE    0.0000390625 /* step of the reference [s] */
#define MU      0.6
#define PI      3.14159265358979323846

enum { NSTEP = 5, NEVENT = 5 };
static const double steps[NSTEP] = { 0.01, 0.005, 0.0025, 0.00125, 0.000625 };

/* times [s], then the end of x [m] */
enum { IMPACT, SLIDING, SLAP, REST, END };
static const char *const event_names[NEVENT] = { "impact", "slides left", "slap-down", "rest",
                                                 "x at the end" };

typedef struct formulation {
    const char *word;
    int coupled; /* the bound of friction is a share of the unknown normal impulse */
} formulation;

static const formulation formulations[] = {
    { "cone", 1 },
    { "stewart-trinkle", 1 },
    { "stewart-trinkle-nonlinear", 1 },
    { "anitescu-potra", 1 },
    { "dart", 1 },
    { "jain", 1 },
    { "phantom", 1 },
    { "box", 0 },
    { "hybrid-friction", 0 },
};
enum { NFORMULATION = sizeof formulations / sizeof *formulations };

/* ---- the motion in the plane, whichever scene it comes from ------------------------------------
 */

enum { T, X, Z, ANGLE, VX, VZ, OMEGA, FX, FZ, NSTATE };
enum { RECORDED = FX };

typedef struct motion {
    int n;
    double *s; /* (n x NSTATE) */
} motion;

static double value(const motion *m, int row, int k)
{
    return m->s[row * NSTATE + k];
}

static int read_motion(const trajectory *t, int spatial, motion *m)
{
    int fx = trajectory_column(t, "contact:rod:x"), fz = trajectory_column(t, "contact:rod:z");
    if (fx < 0 || fz < 0) return 0;
    *m = (motion){ .n = t->nrow, .s = malloc((size_t)t->nrow * NSTATE * sizeof(double)) };
    for (int i = 0; m->s && i < t->nrow; i++) {
        const double *row = t->x + (long)i * t->ncol;
        double *s = m->s + i * NSTATE;
        s[FX] = row[fx];
        s[FZ] = row[fz];
        if (!spatial) {
            memcpy(s, row, RECORDED * sizeof *s);
            continue;
        }
        /* time, position, quaternion, velocity, angular velocity; the rod rotates about -y */
        double angle = 2.0 * atan2(-row[6], row[4]);
        const double plane[RECORDED] = { row[0],  row[1],
                                         row[3],  angle < 0.0 ? angle + 2.0 * PI : angle,
                                         row[8],  row[10],
                                         -row[12] };
        memcpy(s, plane, sizeof plane);
    }
    return m->s != NULL;
}

/* The rod slides left where friction, at its bound, pushes right: from where that lasts until it
 * lies flat. That is stamped where the impulse acts, at the start of its step. */
static void find_events(const motion *m, double event[NEVENT])
{
    for (int k = 0; k < NEVENT; k++) event[k] = NAN;
    for (int i = 1; i < m->n; i++) {
        double t = value(m, i, T), h = t - value(m, i - 1, T);
        double p_x = h * value(m, i, FX), p_z = h * value(m, i, FZ);
        int pushes = p_z > 1e-9, slides = p_x >= MU * p_z * (1.0 - 1e-6);
        if (pushes && isnan(event[IMPACT])) event[IMPACT] = t;
        if (pushes && isnan(event[SLAP])) {
            if (!slides)
                event[SLIDING] = NAN;
            else if (isnan(event[SLIDING]))
                event[SLIDING] = t - h;
        }
        if (isnan(event[SLAP]) && fabs(value(m, i, ANGLE) - PI) < 1e-6) event[SLAP] = t;
        if (fabs(value(m, i, X) - value(m, i - 1, X)) > 1e-9 * h) event[REST] = t;
    }
    event[END] = value(m, m->n - 1, X);
}

/* One run and its events; the motion is kept where the caller wants it. */
static int run(reproduce *r, int spatial, const char *word, double h, double event[NEVENT],
               motion *kept)
{
    trial t;
    motion m = { 0 };
    char name[96];
    snprintf(name, sizeof name, "rod%s-%s-%g", spatial ? "-3d" : "", word, h);
    int ok = trial_run(r, &t, name, spatial ? SPATIAL : PLANAR,
                       "--key start --time 0.7 --columns q,v,contact --step %.10g --formulation %s "
                       "--scheme %s",
                       h, word, "node") &&
             read_motion(&t.path, spatial, &m);
    if (ok) find_events(&m, event);
    trial_free(&t);
    if (ok && kept)
        *kept = m;
    else
        free(m.s);
    return ok;
}

/* ---- tables ------------------------------------------------------------------------------------
 */

typedef struct rod {
    reproduce *r;
    double reference[NEVENT];
    double error[NFORMULATION][NSTEP]; /* of x at the end [m] */
    motion shown[NSTEP];               /* of cone, for the figures */
    motion paper;                      /* the paper's method and step */
} rod;

/* Within two steps, the beginning of the slide by the node rule within 2.1. */
static void check_events(rod *o, const formulation *f, const char *where, double h,
                         const double event[NEVENT])
{
    for (int k = 0; k < NEVENT && f->coupled; k++) {
        double steps_off = k == SLIDING ? 2.1 : 2.0;
        reproduce_near(o->r, event[k], o->reference[k], steps_off * h, "%s %s h=%g %s", where,
                       f->word, h, event_names[k]);
    }
}

static void table_of_steps(rod *o)
{
    reproduce *r = o->r;
    reproduce_say(r,
                  "Events [s] and end [m] of the exact cone; errors in units of h after them.\n"
                  "%-10s",
                  "h [s]");
    for (int k = 0; k < NEVENT; k++) reproduce_say(r, " %17s", event_names[k]);
    reproduce_say(r, "\n");
    for (int i = 0; i < NSTEP; i++) {
        double event[NEVENT];
        if (!run(r, 0, "cone", steps[i], event, &o->shown[i])) return;
        reproduce_say(r, "%-10g", steps[i]);
        for (int k = 0; k < NEVENT; k++)
            reproduce_say(r, " %9.5f (%+5.2f)", event[k], (event[k] - o->reference[k]) / steps[i]);
        reproduce_say(r, "\n");
    }
    reproduce_say(r, "%-10g", FINE);
    for (int k = 0; k < NEVENT; k++) reproduce_say(r, " %9.5f        ", o->reference[k]);
    reproduce_say(r, "\n%-10s %9s %17s %17s %17s   (h = 0.0025, slides for 0.02 s)\n\n", "paper",
                  "0.383", "-", "0.548", "0.568");
}

/* NAN is kept, which fmax would drop. */
static double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : fmax(a, b);
}

static void row_of_formulation(rod *o, int f, int spatial)
{
    reproduce *r = o->r;
    const formulation *form = &formulations[f];
    const char *where = spatial ? "space" : "plane";
    double worst[NEVENT] = { 0.0 }, event[NEVENT];
    for (int i = 0; i < NSTEP; i++) {
        int paper =
            !spatial && steps[i] == 0.0025 && strcmp(form->word, "stewart-trinkle-nonlinear") == 0;
        if (r->brief && i == NSTEP - 1) continue;
        if (!run(r, spatial, form->word, steps[i], event, paper ? &o->paper : NULL)) return;
        check_events(o, form, where, steps[i], event);
        for (int k = 0; k < NEVENT; k++)
            worst[k] = larger(worst[k], fabs(event[k] - o->reference[k]) / steps[i]);
        if (!spatial) o->error[f][i] = fabs(event[END] - o->reference[END]);
    }
    reproduce_say(r, "%-26s %-6s", form->word, where);
    for (int k = 0; k < NEVENT; k++) {
        if (isnan(worst[k]))
            reproduce_say(r, " %12s", "never");
        else
            reproduce_say(r, " %12.2f", worst[k]);
    }
    reproduce_say(r, "%s\n", form->coupled ? "" : "   lags: bound from the step before");
}

/* Slope of log error over log h. */
static double order(const double error[NSTEP], int n)
{
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int i = 0; i < n; i++) {
        double x = log(steps[i]), y = log(error[i]);
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

static void table_of_formulations(rod *o)
{
    reproduce *r = o->r;
    int n = r->brief ? NSTEP - 1 : NSTEP;
    reproduce_say(r, "Largest errors over all h, in units of h:\n%-26s %-6s", "formulation", "");
    for (int k = 0; k < NEVENT; k++) reproduce_say(r, " %12s", event_names[k]);
    reproduce_say(r, "\n");
    for (int f = 0; f < NFORMULATION && !r->failed; f++) {
        row_of_formulation(o, f, 0);
        if (!r->brief || f == 0) row_of_formulation(o, f, 1);
    }
    if (r->failed) return;
    reproduce_say(r,
                  "box and hybrid-friction bound friction by the normal impulse of the step before;"
                  " it is not there yet\nin the impact: too little friction then, and what follows"
                  " is another motion.\n\nOrder of convergence of the end:");
    for (int f = 0; f < NFORMULATION; f++) {
        if (!formulations[f].coupled) continue;
        double p = order(o->error[f], n);
        reproduce_near(r, p, 1.0, 0.3, "plane %s order", formulations[f].word);
        reproduce_say(r, " %s %.2f", formulations[f].word, p);
    }
    reproduce_say(r, "\n");
}

/* ---- figures ----------------------------------------------------------------------------------
 */

static void draw_rod(plot *p, const motion *m, int row, const char *colour)
{
    char style[160], text[32];
    double x = value(m, row, X), z = value(m, row, Z), a = value(m, row, ANGLE);
    double dx = 0.25 * cos(a), dz = 0.25 * sin(a);
    snprintf(style, sizeof style,
             "stroke=\"%s\" stroke-width=\"%.1f\" stroke-linecap=\"round\" opacity=\"0.22\"",
             colour, fabs(plot_x(p, 0.1) - plot_x(p, 0.0)));
    svg_line(p->s, plot_x(p, x - dx), plot_y(p, z - dz), plot_x(p, x + dx), plot_y(p, z + dz),
             style);
    snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"1\"", colour);
    svg_line(p->s, plot_x(p, x - dx), plot_y(p, z - dz), plot_x(p, x + dx), plot_y(p, z + dz),
             style);
    snprintf(text, sizeof text, "%.4g", value(m, row, T));
    snprintf(style, sizeof style, "fill=\"%s\" font-size=\"10\"", colour);
    svg_text(p->s, plot_x(p, x + 1.3 * dx), plot_y(p, z + 1.3 * dz), SVG_MIDDLE, style, text);
}

static void draw_snapshots(rod *o)
{
    static const double times[] = { 0.0,  0.1,  0.2,   0.27,  0.33,  0.3875,
                                    0.42, 0.46, 0.495, 0.525, 0.5475 };
    char path[4096];
    svg s;
    reproduce_figure(o->r, "rod_snapshots.svg", path, sizeof path);
    if (!svg_open(&s, path, 640.0, 760.0, "Falling rod, h = 0.0025")) {
        o->r->failed = 1;
        return;
    }
    const double box[4] = { 60.0, 40.0, 560.0, 670.0 };
    plot p = plot_open_equal(&s, box, (plot_axis){ .label = "x [m]", .lo = -0.6, .hi = 0.5 },
                             (plot_axis){ .label = "height [m]", .lo = 0.0 });
    plot_title(&p, "Falling rod, stewart-trinkle-nonlinear, h = 0.0025; time [s] at one end");
    for (int k = 0; k < (int)(sizeof times / sizeof *times); k++) {
        int row = (int)(times[k] / 0.0025 + 0.5);
        if (row < o->paper.n) draw_rod(&p, &o->paper, row, plot_colour(k));
    }
    if (!svg_close(&s)) o->r->failed = 1;
}

static void draw_panel(rod *o, svg *s, const double box[4], int quantity, plot_axis y)
{
    plot p = plot_open(s, box, (plot_axis){ .label = "time [s]", .lo = 0.36, .hi = 0.6 }, y);
    if (quantity != OMEGA) p.legend_x = 270.0;
    for (int i = 0; i < NSTEP; i++) {
        const motion *m = &o->shown[i];
        char label[32];
        snprintf(label, sizeof label, "h = %g", steps[i]);
        if (m->s) plot_curve(&p, m->s + T, m->s + quantity, m->n, NSTATE, plot_colour(i), label);
    }
}

static void draw_convergence(rod *o)
{
    char path[4096];
    svg s;
    reproduce_figure(o->r, "rod_convergence.svg", path, sizeof path);
    if (!svg_open(&s, path, 940.0, 720.0, "Falling rod, convergence")) {
        o->r->failed = 1;
        return;
    }
    const double box[4][4] = { { 70.0, 30.0, 380.0, 270.0 },
                               { 540.0, 30.0, 380.0, 270.0 },
                               { 70.0, 390.0, 380.0, 270.0 },
                               { 540.0, 390.0, 380.0, 270.0 } };
    draw_panel(o, &s, box[0], OMEGA,
               (plot_axis){ .label = "angular velocity [rad/s]", .lo = -1.0, .hi = 9.0 });
    draw_panel(o, &s, box[1], X, (plot_axis){ .label = "x [m]", .lo = -0.25, .hi = 0.05 });
    draw_panel(o, &s, box[2], Z, (plot_axis){ .label = "height [m]", .lo = 0.0, .hi = 0.4 });
    plot p = plot_open(&s, box[3],
                       (plot_axis){ .label = "h [s]", .lo = 5e-4, .hi = 2e-2, .logarithmic = 1 },
                       (plot_axis){ .label = "error of x at the end [m]",
                                    .lo = 5e-6,
                                    .hi = 0.5,
                                    .logarithmic = 1 });
    int n = o->r->brief ? NSTEP - 1 : NSTEP;
    p.legend_x = 190.0;
    p.legend_y = 130.0;
    for (int f = 0; f < NFORMULATION; f++)
        plot_marks(&p, steps, o->error[f], n, plot_colour(f), formulations[f].word);
    if (!svg_close(&s)) o->r->failed = 1;
}

void reproduce_rod(reproduce *r)
{
    rod o = { .r = r };
    if (run(r, 0, "cone", FINE, o.reference, NULL)) {
        /* refinement by other code, to its digits */
        static const double known[NEVENT] = { 0.386, 0.419, 0.5475, 0.567, -0.228 };
        for (int k = 0; k < NEVENT; k++)
            reproduce_near(r, o.reference[k], known[k], 1e-3, "limit of small h, %s",
                           event_names[k]);
        table_of_steps(&o);
        table_of_formulations(&o);
    }
    if (!r->failed) draw_snapshots(&o);
    if (!r->failed) draw_convergence(&o);
    for (int i = 0; i < NSTEP; i++) free(o.shown[i].s);
    free(o.paper.s);
}
