/* `rattleback bench dynamics`: forward dynamics by each way, and the compliance of four points, on
 * serial chains of 10 to 1000 links or on a model. */
#include "bench/bench.h"

#include "commands.h"
#include "dynamics_grade.h"
#include "model.h"
#include "robot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_BUDGET                                                                                 \
    3e5 /* [us] for one row of the table; every way runs at least ROUNDS_LEAST times */
enum { ROUNDS_LEAST = 3, MOST_SIDES = 8, MOST_LINKS = 100000, MOST_CALLS = 1000000 };

/* beyond this many dofs the mass matrix is left out: it is dense for a chain and grows as n^3 */
enum { MOST_DENSE = 200 };

static const char help[] =
    "usage: rattleback bench dynamics [--model FILE | --chain N] [--csv FILE] [--json]\n"
    "       rattleback bench dynamics --chain N --calls K\n"
    "\n"
    "Times forward dynamics (kinematics and velocities included) at random states: as the\n"
    "library chooses, by articulated bodies, by the mass matrix, and by articulated bodies with\n"
    "the compliance of four points. Serial chains of 10 to 1000 links, one of them, or a model.\n"
    "Residuals are found by inverse dynamics. The last line is the slope of log time over log\n"
    "links of the last way: 1 is linear.\n"
    "\n"
    "  --calls K   no times: exactly K forward dynamics with compliance, to count instructions\n"
    "              with a tool such as callgrind (bench/dynamics/instructions.py)\n"
    "\n"
    "Example: rattleback bench dynamics --model scenes/robots/quadruped.xml\n";

typedef struct options {
    const char *model, *chain, *calls, *csv;
    int json;
    FILE *out; /* of --csv, or NULL */
} options;

/* One row of the table. */
typedef struct row {
    int ns_count;
    double ns[MOST_SIDES], residual[MOST_SIDES];
} row;

static double time_states(const rb_side *side, void *engine)
{
    double begin = bench_now_us();
    for (int k = 0; k < RB_SIDE_STATES; k++) side->run(engine, k);
    return (bench_now_us() - begin) * 1e3 / RB_SIDE_STATES;
}

/* Smallest average over the states; NAN where a way is left out. 0: out of memory. */
static int measure(const rb_model *m, row *r)
{
    rb_grader g;
    if (!rb_grader_make(&g, m)) return 0;
    for (int i = 0; rb_ours_sides[i] && i < MOST_SIDES; i++) {
        const rb_side *side = rb_ours_sides[i];
        r->ns_count = i + 1;
        r->ns[i] = NAN;
        if (strstr(side->name, "crba") && m->nv > MOST_DENSE) continue;
        void *engine = rb_grader_try(&g, side, &r->residual[i]);
        double begin = bench_now_us();
        for (int k = 0; engine; k++) {
            if (k >= ROUNDS_LEAST && bench_now_us() - begin > ROW_BUDGET) break;
            r->ns[i] = fmin(isnan(r->ns[i]) ? INFINITY : r->ns[i], time_states(side, engine));
        }
        if (engine) side->release(engine);
    }
    rb_grader_free(&g);
    return 1;
}

/* ---- report ------------------------------------------------------------------------------------
 */

static void put_head(const options *o)
{
    if (o->out) fputs("model,links,nv,way,ns,ns_per_dof,residual\n", o->out);
    if (o->json) return;
    printf("%-24s %6s %6s", "model", "links", "nv");
    for (int i = 0; rb_ours_sides[i]; i++) printf(" %24s", rb_ours_sides[i]->name);
    printf("\n%-24s %6s %6s", "", "", "");
    for (int i = 0; rb_ours_sides[i]; i++) printf(" %24s", "us  ns/dof  residual");
    printf("\n");
}

static void put_row(const options *o, const char *name, const rb_model *m, const row *r)
{
    if (!o->json) printf("%-24.24s %6d %6d", name, m->nlink - 1, m->nv);
    for (int i = 0; i < r->ns_count; i++) {
        const char *way = rb_ours_sides[i]->name;
        char text[64] = "-";
        if (!isnan(r->ns[i])) {
            snprintf(text, sizeof text, "%.2f %7.0f   %.1e", 1e-3 * r->ns[i], r->ns[i] / m->nv,
                     r->residual[i]);
            if (o->out)
                fprintf(o->out, "%s,%d,%d,%s,%.1f,%.2f,%.2e\n", name, m->nlink - 1, m->nv, way,
                        r->ns[i], r->ns[i] / m->nv, r->residual[i]);
            if (o->json)
                printf("{\"model\":\"%s\",\"links\":%d,\"nv\":%d,\"way\":\"%s\",\"ns\":%.1f,"
                       "\"residual\":%.2e}\n",
                       name, m->nlink - 1, m->nv, way, r->ns[i], r->residual[i]);
        }
        if (!o->json) printf(" %24s", text);
    }
    if (!o->json) printf("\n");
    fflush(stdout);
}

/* ---- runs --------------------------------------------------------------------------------------
 */

static int run_model(const options *o, const char *name, rb_model *m, row *r)
{
    int done = m && measure(m, r);
    if (done) put_row(o, name, m, r);
    if (m) rb_model_free(m, NULL);
    if (done) return 1;
    fprintf(stderr, "rattleback bench dynamics: %s: out of memory\n", name);
    return 0;
}

static int run_chain(const options *o, int links, row *r)
{
    char name[32];
    rb_error err = { 0 };
    snprintf(name, sizeof name, "chain-%d", links);
    return run_model(o, name, rb_bench_chain(links, &err), r);
}

/* Least-squares slope of log y over log x. */
static double slope(const double *x, const double *y, int n)
{
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int i = 0; i < n; i++) {
        double a = log(x[i]), b = log(y[i]);
        sx += a;
        sy += b;
        sxx += a * a;
        sxy += a * b;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

static int run_chains(const options *o)
{
    static const int links[] = { 10, 20, 50, 100, 200, 500, 1000 };
    enum { COUNT = sizeof links / sizeof *links };
    double x[COUNT], y[COUNT];
    put_head(o);
    for (int k = 0; k < COUNT; k++) {
        row r = { 0 };
        if (!run_chain(o, links[k], &r)) return EXIT_BAD_INPUT;
        x[k] = links[k];
        y[k] = r.ns[r.ns_count - 1];
    }
    if (!o->json)
        printf("\nslope of forward dynamics with compliance, in time: %.3f\n", slope(x, y, COUNT));
    return EXIT_CERTIFIED;
}

/* The last method, K times, nothing else: for tools that count instructions. */
static int run_calls(int links, int calls)
{
    rb_error err = { 0 };
    rb_grader g;
    rb_model *m = rb_bench_chain(links, &err);
    const rb_side *side = NULL;
    for (int i = 0; rb_ours_sides[i]; i++) side = rb_ours_sides[i];
    if (!m || !rb_grader_make(&g, m)) {
        if (m) rb_model_free(m, NULL);
        fputs("rattleback bench dynamics: out of memory\n", stderr);
        return EXIT_BAD_INPUT;
    }
    void *engine = side->make(m);
    if (engine) {
        side->give(engine, 0, g.q, g.v, g.tau);
        for (int k = 0; k < calls; k++) side->run(engine, 0);
        side->release(engine);
    }
    rb_grader_free(&g);
    rb_model_free(m, NULL);
    return engine ? EXIT_CERTIFIED : EXIT_BAD_INPUT;
}

static int run_file(const options *o)
{
    row r = { 0 };
    model_options mo = model_options_default("bench dynamics");
    rb_model *m = model_load(&mo, o->model);
    if (!m) return EXIT_BAD_INPUT;
    if (m->nv == 0) {
        fprintf(stderr, "rattleback bench dynamics: %s has no degree of freedom\n", o->model);
        rb_model_free(m, NULL);
        return EXIT_BAD_INPUT;
    }
    put_head(o);
    const char *slash = strrchr(o->model, '/');
    return run_model(o, slash ? slash + 1 : o->model, m, &r) ? EXIT_CERTIFIED : EXIT_BAD_INPUT;
}

static int run(const options *o)
{
    unsigned long long links = 0, calls = 0;
    row r = { 0 };
    if (o->chain && !bench_number("--chain", o->chain, 1, MOST_LINKS, &links))
        return EXIT_BAD_INPUT;
    if (o->calls && !bench_number("--calls", o->calls, 1, MOST_CALLS, &calls))
        return EXIT_BAD_INPUT;
    if (calls && !links) {
        fputs("rattleback bench dynamics: --calls needs --chain\n", stderr);
        return EXIT_BAD_INPUT;
    }
    if (calls) return run_calls((int)links, (int)calls);
    if (o->model) return run_file(o);
    if (!links) return run_chains(o);
    put_head(o);
    return run_chain(o, (int)links, &r) ? EXIT_CERTIFIED : EXIT_BAD_INPUT;
}

int bench_dynamics(int argc, char **argv)
{
    options o = { 0 };
    int status = EXIT_BAD_INPUT;
    const bench_option table[] = {
        { "--model", &o.model, NULL }, { "--chain", &o.chain, NULL }, { "--calls", &o.calls, NULL },
        { "--csv", &o.csv, NULL },     { "--json", NULL, &o.json },   { NULL, NULL, NULL },
    };
    if (!bench_parse(argc, argv, table, help, &status)) return status;
    if (o.csv) {
        o.out = fopen(o.csv, "w");
        if (!o.out) {
            fprintf(stderr, "rattleback bench dynamics: %s cannot be written\n", o.csv);
            return EXIT_BAD_INPUT;
        }
    }
    status = run(&o);
    if (o.out && fclose(o.out) != 0) {
        fprintf(stderr, "rattleback bench dynamics: %s: write failed\n", o.csv);
        return EXIT_BAD_INPUT;
    }
    return status;
}
