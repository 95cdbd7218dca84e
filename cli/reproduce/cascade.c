/* The cascade of impulses through the line of balls, in one step [Stewart & Trinkle 2000, figure
 * 6].
 *
 * The step of the collision is run again from the record, with its complementarity problems on
 * file. The first has all seven contacts; the last, taken where the step ends, those that are left.
 * `rattleback lcp` solves it, and the impulses in its answer must explain the change of momentum of
 * each ball in the record:
 *
 *     m (v+ - v) = m g h + sum over its contacts of +-(c_n n + D beta) */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "plot.h"
#include "reproduce/balls.h"
#include "reproduce/text_file.h"

#define STEP    0.00125
#define GRAVITY 9.81
#define RADIUS  0.1
#define PI      3.14159265358979323846

enum { NCONTACT = 7, NDIRECTION = 8, PATH_SIZE = 4096 };

/* first and second body of each contact in the order of the problem; 0 is the table */
static const int pairs[NCONTACT][2] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 0, 4 },
                                        { 1, 2 }, { 2, 3 }, { 3, 4 } };

typedef struct cascade {
    double q[NBALL][3];          /* at the end of the step                              */
    double dv[NBALL][3];         /* change of velocity in it                            */
    double normal[NCONTACT][3];  /* impulse on the second body along the normal         */
    double tangent[NCONTACT][3]; /* and along the surface                               */
    double at[NCONTACT][3];      /* where                                               */
    int rows;                    /* of the complementarity problem                      */
    double time;
} cascade;

/* ---- the step again ---------------------------------------------------------------------------
 */

/* The first row in which the last ball moves. */
static int collision_row(const trajectory *t)
{
    int column = trajectory_column(t, "v:ball4:0");
    for (int i = 0; i < t->nrow && column >= 0; i++)
        if (trajectory_at(t, i, column) > 1e-9) return i;
    return -1;
}

static int write_state(const reproduce *r, const double *row, char *path, size_t size)
{
    snprintf(path, size, "%s/balls-before.json", r->out);
    FILE *out = fopen(path, "w");
    if (!out) {
        fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
        return 0;
    }
    fputs("{\"qpos\":[", out);
    for (int i = 0; i < 7 * NBALL; i++) fprintf(out, "%s%.17g", i ? "," : "", row[i]);
    fputs("],\"qvel\":[", out);
    for (int i = 0; i < 6 * NBALL; i++) fprintf(out, "%s%.17g", i ? "," : "", row[7 * NBALL + i]);
    fputs("]}\n", out);
    return fclose(out) == 0;
}

/* Round of a file of problems: "lcp-t0-0.jsonl" is 0, "lcp-t0-r2-0.jsonl" is 2; -1 is none. */
static int round_of(const char *name)
{
    int round = 0;
    if (strncmp(name, "lcp-", 4) != 0) return -1;
    const char *r = strstr(name, "-r");
    if (r && sscanf(r, "-r%d", &round) != 1) return -1;
    return round;
}

/* The file of the last problem, whose answer the step took. */
static int last_problem(const char *folder, char *path, size_t size)
{
    DIR *dir = opendir(folder);
    int best = -1;
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        int round = round_of(entry->d_name);
        if (round <= best) continue;
        best = round;
        snprintf(path, size, "%s/%s", folder, entry->d_name);
    }
    if (dir) closedir(dir);
    return best >= 0;
}

static void remove_problems(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        char path[PATH_SIZE];
        if (round_of(entry->d_name) < 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        remove(path);
    }
    if (dir) closedir(dir);
}

/* ---- impulses ---------------------------------------------------------------------------------
 */

/* z of the answer of `rattleback lcp --json`; how many numbers. */
static int read_answer(const char *path, double *z, int most)
{
    char *text = text_file_read(path);
    const char *at = text ? strstr(text, "\"z\":[") : NULL;
    int n = 0;
    for (at = at ? at + 5 : NULL; at && n < most; at++) {
        char *end;
        z[n] = strtod(at, &end);
        if (end == at) break;
        n++;
        at = end;
        if (*at != ',') break;
    }
    free(text);
    return n;
}

/* Axes of a contact: n from the first body to the second, t1 along x, or y where n is close to x.
 */
static void axes(const cascade *c, int k, double frame[3][3])
{
    double *n = frame[0], *t1 = frame[1], *t2 = frame[2], length = 0.0;
    const double *to = c->q[pairs[k][1] - 1];
    for (int a = 0; a < 3; a++)
        n[a] = pairs[k][0] ? to[a] - c->q[pairs[k][0] - 1][a] : (a == 2 ? 1.0 : 0.0);
    length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int a = 0; a < 3; a++) n[a] /= length;
    int along = fabs(n[0]) >= 0.9;
    for (int a = 0; a < 3; a++) t1[a] = (a == along ? 1.0 : 0.0) - n[along] * n[a];
    length = sqrt(t1[0] * t1[0] + t1[1] * t1[1] + t1[2] * t1[2]);
    for (int a = 0; a < 3; a++) t1[a] /= length;
    for (int a = 0; a < 3; a++)
        t2[a] = n[(a + 1) % 3] * t1[(a + 2) % 3] - n[(a + 2) % 3] * t1[(a + 1) % 3];
}

/* z = (c_n, beta, lambda), contact by contact within each. */
static void take_impulses(cascade *c, const double *z)
{
    for (int k = 0; k < NCONTACT; k++) {
        double frame[3][3], along[2] = { 0.0 };
        const double *beta = z + NCONTACT + k * NDIRECTION;
        axes(c, k, frame);
        for (int j = 0; j < NDIRECTION; j++) {
            along[0] += beta[j] * cos(2.0 * PI * j / NDIRECTION);
            along[1] += beta[j] * sin(2.0 * PI * j / NDIRECTION);
        }
        for (int a = 0; a < 3; a++) {
            c->normal[k][a] = z[k] * frame[0][a];
            c->tangent[k][a] = along[0] * frame[1][a] + along[1] * frame[2][a];
            c->at[k][a] = c->q[pairs[k][1] - 1][a] - RADIUS * frame[0][a];
        }
    }
}

/* Largest part of a change of momentum that weight and impulses do not explain [N s]. */
static double unexplained(const cascade *c)
{
    double worst = 0.0;
    for (int b = 0; b < NBALL; b++) {
        for (int a = 0; a < 3; a++) {
            double rest = c->dv[b][a] + (a == 2 ? GRAVITY * STEP : 0.0);
            for (int k = 0; k < NCONTACT; k++) {
                double p = c->normal[k][a] + c->tangent[k][a];
                if (pairs[k][1] == b + 1) rest -= p;
                if (pairs[k][0] == b + 1) rest += p;
            }
            worst = fmax(worst, fabs(rest));
        }
    }
    return worst;
}

/* ---- table and figure -------------------------------------------------------------------------
 */

static double length(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static const char *body_name(int k)
{
    static const char *const names[] = { "table", "ball 1", "ball 2", "ball 3", "ball 4" };
    return names[k];
}

static void print(reproduce *r, const cascade *c)
{
    reproduce_say(r,
                  "Impulses in the step to t = %.5f s, h = %g [N s]: LCP of %d x %d\n"
                  "%-16s %10s %10s %10s\n",
                  c->time, STEP, c->rows, c->rows, "contact", "normal", "friction", "ratio");
    for (int k = 0; k < NCONTACT; k++) {
        double n = length(c->normal[k]), t = length(c->tangent[k]);
        reproduce_say(r, "%-7s %-8s %10.5f %10.5f %10.4f\n", body_name(pairs[k][0]),
                      body_name(pairs[k][1]), n, t, n > 0.0 ? t / n : 0.0);
    }
    reproduce_say(r, "\n");
}

static void draw(reproduce *r, const cascade *c)
{
    char path[PATH_SIZE], title[128];
    svg s;
    reproduce_figure(r, "balls_cascade.svg", path, sizeof path);
    if (!svg_open(&s, path, 900.0, 420.0, "Four balls, impulse cascade")) {
        r->failed = 1;
        return;
    }
    const double box[4] = { 60.0, 40.0, 800.0, 320.0 };
    plot p = plot_open_equal(&s, box, (plot_axis){ .label = "x [m]", .lo = 0.65, .hi = 1.55 },
                             (plot_axis){ .label = "z [m]", .lo = -0.06 });
    snprintf(title, sizeof title,
             "Impulses on the right or upper body in the step to t = %.5f s; LCP of %d x %d",
             c->time, c->rows, c->rows);
    plot_title(&p, title);
    svg_line(&s, plot_x(&p, 0.65), plot_y(&p, 0.0), plot_x(&p, 1.55), plot_y(&p, 0.0),
             "stroke=\"#777\"");
    double radius = plot_x(&p, RADIUS) - plot_x(&p, 0.0), largest = 0.0;
    for (int b = 0; b < NBALL; b++)
        svg_circle(&s, plot_x(&p, c->q[b][0]), plot_y(&p, c->q[b][2]), radius,
                   "fill=\"#eee\" stroke=\"#999\"");
    for (int k = 0; k < NCONTACT; k++) largest = fmax(largest, length(c->normal[k]));
    for (int k = 0; k < NCONTACT; k++) {
        const double *at = c->at[k], *n = c->normal[k], *t = c->tangent[k];
        double scale = 0.15 / largest;
        plot_arrow(&p, at[0], at[2], scale * n[0], scale * n[2], plot_colour(0));
        plot_arrow(&p, at[0], at[2], scale * t[0], scale * t[2], plot_colour(1));
    }
    plot_legend(&p, plot_colour(0), "normal");
    plot_legend(&p, plot_colour(1), "friction");
    if (!svg_close(&s)) r->failed = 1;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

/* The step from the row before the collision, its problem solved alone. */
static int repeat_step(reproduce *r, const trajectory *t, int row, const char *options, cascade *c)
{
    enum { ROWS = NCONTACT * (NDIRECTION + 2) };
    char state[PATH_SIZE], folder[PATH_SIZE - 256], problem[PATH_SIZE], out[PATH_SIZE];
    double z[ROWS + 1];
    trial again;
    snprintf(folder, sizeof folder, "%s/balls-problems", r->out);
    snprintf(out, sizeof out, "%s/balls-answer.json", r->out);
    remove_problems(folder);
    if (!write_state(r, t->x + (long)(row - 1) * t->ncol + 1, state, sizeof state)) return 0;
    if (!trial_run(r, &again, NULL, BALLS_SCENE,
                   "--state %s --step %g --time %g --dump-problems %s %s", state, STEP, STEP,
                   folder, options))
        return 0;
    char *argv[] = { "lcp", "--json", problem, NULL };
    if (!last_problem(folder, problem, sizeof problem) ||
        trial_command(cmd_lcp, argv, out, "/dev/null") != EXIT_CERTIFIED)
        return 0;
    c->rows = read_answer(out, z, ROWS + 1);
    reproduce_near(r, c->rows, ROWS, 0.0, "rows of the LCP of the collision");
    if (c->rows == ROWS) take_impulses(c, z);
    return c->rows == ROWS;
}

void reproduce_cascade(reproduce *r, const char *options)
{
    trial t;
    cascade c = { 0 };
    if (!trial_run(r, &t, "balls-collision", BALLS_SCENE, "--key start --time 0.62 --step %g %s",
                   STEP, options))
        return;
    int row = collision_row(&t.path);
    if (row > 0) {
        const double *x = t.path.x + (long)row * t.path.ncol, *before = x - t.path.ncol;
        c.time = x[0];
        for (int b = 0; b < NBALL; b++) {
            for (int a = 0; a < 3; a++) {
                int v = 1 + 7 * NBALL + 6 * b + a;
                c.q[b][a] = x[1 + 7 * b + a];
                c.dv[b][a] = x[v] - before[v];
            }
        }
    }
    if (row <= 0 || !repeat_step(r, &t.path, row, options, &c)) {
        fputs("reproduce: the step of the collision was not found or not solved again\n", stderr);
        r->failed = 1;
    } else {
        reproduce_near(r, unexplained(&c), 0.0, 1e-6,
                       "momentum that impulses do not explain [N s]");
        print(r, &c);
        draw(r, &c);
    }
    trial_free(&t);
}
