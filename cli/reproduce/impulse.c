/* The simulations of Mirtich and Canny's Table 1, and the two scenes for which they wanted a
 * hybrid: virtual time, processor time, slowdown, impacts; the shifts of the ball on the ramp. The
 * digits of the paper's table are lost: what is left of it is that none ran in real time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "reproduce/reproduce.h"
#include "reproduce/text_file.h"

/* Rolling on curved bodies by constraints wants short steps and the rule of second order. */
typedef struct scene {
    const char *name, *title, *impulse, *hybrid;
    double brief; /* time in tests [s], 0: not there */
    int of_table; /* 1: to be faster than real time  */
} scene;

static const scene scenes[] = {
    { "dominos", "dominos", "", "", 0.0, 1 },
    { "chain", "chain of balls", "", "", 0.3, 1 },
    { "coins", "coins", "", "", 0.0, 1 },
    { "pool", "pool break", "", "", 0.2, 1 },
    { "bowling", "bowling a strike", "", "", 0.0, 1 },
    { "platter", "ball on platter", "", "", 1.0, 1 },
    { "dish", "balls in dish", "", "", 0.0, 1 },
    { "rattleback", "rattleback tops", "", "--step 1e-4 --scheme moreau-jean", 0.1, 1 },
    { "feeding", "part feeding", "", "", 0.2, 1 },
    { "ramp", "ball on a ramp, Figure 1", "", "", 1.5, 0 },
    { "singulator", "singulator, Figure 2", "", "", 0.2, 0 },
};
enum { NSCENE = sizeof scenes / sizeof *scenes };

/* ---- the table --------------------------------------------------------------------------------
 */

static void row(reproduce *r, const scene *s, const char *stepper, const char *options)
{
    trial t;
    char file[64], shorter[64] = "";
    snprintf(file, sizeof file, "impulse/%s.xml", s->name);
    if (r->brief) snprintf(shorter, sizeof shorter, "--time %g", s->brief);
    if (!trial_run(r, &t, NULL, file, "--key start --stepper %s %s %s", stepper, options, shorter))
        return;
    /* a speed is the machine's as well: it is reported, and decides nothing */
    double slowdown = t.cpu / t.time;
    reproduce_say(r, "%-26s %-8s %8.2f %9.3f %9.3f %8d %10.0f %7d%s\n", s->title, stepper, t.time,
                  t.cpu, slowdown, t.impacts, t.impacts / t.cpu, t.shifts,
                  s->of_table && slowdown > 1.0 ? "  slower than real time" : "");
    reproduce_near(r, t.residual_max, 0.0, 1e-9, "%s, %s: residual", s->name, stepper);
    trial_free(&t);
}

static void table(reproduce *r)
{
    reproduce_say(r, "%-26s %-8s %8s %9s %9s %8s %10s %7s\n", "simulation", "stepper", "virtual",
                  "real", "slowdown", "impacts", "per real", "shifts");
    reproduce_say(r, "%-26s %-8s %8s %9s %9s %8s %10s %7s\n", "", "", "[s]", "[s]", "", "",
                  "second", "");
    for (int k = 0; k < NSCENE; k++) {
        if (r->brief && scenes[k].brief == 0.0) continue;
        row(r, &scenes[k], "impulse", scenes[k].impulse);
        row(r, &scenes[k], "hybrid", scenes[k].hybrid);
    }
    reproduce_say(r, "real: processor time of one core, reading the model included\n\n");
}

/* ---- the strike -------------------------------------------------------------------------------
 */

/* Pins that lean by more than 30 degrees at the end. */
static int fallen(const trajectory *t)
{
    int count = 0;
    for (int pin = 1; pin <= 10; pin++) {
        char name[32];
        snprintf(name, sizeof name, "q:pin%d:4", pin);
        int x = trajectory_column(t, name), last = t->nrow - 1;
        double a = trajectory_at(t, last, x), b = trajectory_at(t, last, x + 1);
        count += 1.0 - 2.0 * (a * a + b * b) < 0.8660254037844386;
    }
    return count;
}

static void strike(reproduce *r)
{
    static const char *const steppers[] = { "impulse", "hybrid" };
    for (int k = 0; k < 2; k++) {
        trial t;
        if (!trial_run(r, &t, "bowling", "impulse/bowling.xml",
                       "--key start --stepper %s --every 100", steppers[k]))
            return;
        int count = fallen(&t.path);
        reproduce_say(r, "bowling, %s: %d of 10 pins fell\n", steppers[k], count);
        reproduce_near(r, count, 10.0, 0.0, "bowling, %s: pins that fell", steppers[k]);
        trial_free(&t);
    }
}

/* ---- rest -------------------------------------------------------------------------------------
 */

/* A block on a slope within the cone of friction: how far it creeps, at how many events. */
static void block(reproduce *r)
{
    static const char *const steppers[] = { "impulse", "hybrid" };
    double time = r->brief ? 2.0 : 60.0;
    for (int k = 0; k < 2; k++) {
        trial t;
        char name[32];
        snprintf(name, sizeof name, "slope_%s", steppers[k]);
        if (!trial_run(r, &t, name, "impulse/slope.xml",
                       "--key start --stepper %s --time %g --every 100", steppers[k], time))
            return;
        int x = trajectory_column(&t.path, "q:block:0"), last = t.path.nrow - 1;
        double way = 0.0;
        for (int i = 0; i < 3; i++) {
            double d = trajectory_at(&t.path, last, x + i) - trajectory_at(&t.path, 0, x + i);
            way = hypot(way, d);
        }
        reproduce_say(r, "block on a slope, %-8s creeps %.2e m in %g s; %.0f events per second\n",
                      steppers[k], way, t.time, t.events / t.time);
        reproduce_near(r, way, 0.0, k == 0 ? 1e-4 : 0.0, "block, %s: creep [m]", steppers[k]);
        reproduce_near(r, t.events / t.time, 0.0, 1e4, "block, %s: events per second", steppers[k]);
        trial_free(&t);
    }
}

/* A heap that comes to rest: events, and with all that was solved together as one. */
static void heap(reproduce *r)
{
    trial by_impulses, by_both;
    const char *options = "--key start --stepper %s";
    if (!trial_run(r, &by_impulses, NULL, "impulse/pile.xml", options, "impulse")) return;
    if (!trial_run(r, &by_both, NULL, "impulse/pile.xml", options, "hybrid")) return;
    int many = by_impulses.events, few = by_both.events;
    reproduce_say(
        r,
        "heap, impulse: %d events: %d impacts, %d micro-collisions; resolved %d times\n"
        "heap, hybrid: %d events: %d impacts, %d shifts; resolved %d times\n"
        "%.0f times fewer events, %.1f times fewer where all of one problem count as one\n",
        many, by_impulses.impacts, by_impulses.micros, by_impulses.resolved, few, by_both.impacts,
        by_both.shifts, by_both.resolved, (double)many / few,
        (double)by_impulses.resolved / by_both.resolved);
    reproduce_near(r, (double)few / many, 0.0, 0.1, "heap: events, share");
}

/* ---- the ramp ---------------------------------------------------------------------------------
 */

/* Times of the shifts of a log of events. */
static int shifts(const char *path, double *time, int room)
{
    char *text = text_file_read(path);
    int n = 0;
    for (char *line = text; line && *line && n < room;) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        if (strstr(line, ",shift,")) time[n++] = strtod(line, NULL);
        line = end ? end + 1 : NULL;
    }
    free(text);
    return n;
}

/* Where the ball is at a time. */
static void place(const trajectory *t, double time, double *x, double *z)
{
    int column = trajectory_column(t, "q:ball:0"), row = 0;
    while (row + 1 < t->nrow && trajectory_at(t, row, 0) < time) row++;
    *x = trajectory_at(t, row, column);
    *z = trajectory_at(t, row, column + 2);
}

static void ramp(reproduce *r)
{
    enum { ROOM = 32 };
    char path[4096], log[4096];
    double time[ROOM], x[ROOM], z[ROOM];
    trial t;
    snprintf(log, sizeof log, "%s/ramp_events.csv", r->out);
    if (!trial_run(r, &t, "ramp", "impulse/ramp.xml",
                   "--key start --stepper hybrid --time 2 --events %s", log))
        return;
    int n = shifts(log, time, ROOM), column = trajectory_column(&t.path, "q:ball:0");
    for (int k = 0; k < n; k++) {
        place(&t.path, time[k], &x[k], &z[k]);
        reproduce_say(r, "ball on a ramp: shift at t = %.4f s, x = %.3f m\n", time[k], x[k]);
    }
    reproduce_near(r, n, 5.0, 0.0, "ramp: shifts");
    svg s;
    if (svg_open(&s, reproduce_figure(r, "impulse_ramp.svg", path, sizeof path), 900.0, 300.0,
                 "Ball on a ramp")) {
        const double box[4] = { 60, 40, 810, 200 };
        plot p = plot_open_equal(&s, box, (plot_axis){ .label = "x [m]", .lo = -0.6, .hi = 4.4 },
                                 (plot_axis){ .label = "height [m]", .lo = 0.0 });
        plot_title(&p, "Ball on a ramp, hybrid: path of its centre");
        plot_curve(&p, t.path.x + column, t.path.x + column + 2, t.path.nrow, t.path.ncol,
                   plot_colour(0), "path");
        plot_dots(&p, x, z, n, plot_colour(1), "shift");
        if (!svg_close(&s)) r->failed = 1;
    } else {
        r->failed = 1;
    }
    trial_free(&t);
}

void reproduce_impulse(reproduce *r)
{
    table(r);
    if (!r->brief) strike(r);
    block(r);
    if (!r->brief) heap(r);
    ramp(r);
}
