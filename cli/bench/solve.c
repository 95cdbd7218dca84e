/* `rattleback bench solve`: every solver on generated problems of growing size, time beside
 * residual. The same problem is solved cold, and warm after a change of one percent. */
#include "bench/bench.h"

#include "commands.h"
#include "corpus.h"
#include "corpus_grade.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERTURB     0.01 /* relative change before the warm solve                 */
#define CELL_BUDGET 2e6  /* [us] a solver may spend on one row of the table       */
#define TOL_LCP     1e-9
#define TOL_CONE    1e-8
#define MAX_ITER    20000 /* an iteration that needs more has failed here          */
#define FIRST_SEED  1000

static const char help[] =
    "usage: rattleback bench solve [options]\n"
    "\n"
    "Times every solver on generated problems. A time is the smallest of the repeats; the table\n"
    "shows the median over the problems, the share certified and the worst residual.\n"
    "\n"
    "  --problems N   problems per row (20)\n"
    "  --repeats N    repeats of each solve (3)\n"
    "  --solver NAME  one solver only (all)\n"
    "  --form F       one form only (st4-v, box, cone)\n"
    "  --plain        any answer, not the one of uniform compliance\n"
    "  --json         JSON lines\n"
    "  --csv FILE     the table as CSV\n"
    "\n"
    "Example: rattleback bench solve --form st4-v --solver auto\n";

static const int sizes[] = { 4, 8, 16, 32, 64 };
enum { SIZES = sizeof sizes / sizeof sizes[0] };

typedef struct bench {
    int problems, repeats, json, plain;
    const rb_solver *solver; /* NULL: all */
    int form;                /* -1: the three below */
    FILE *csv;
    rb_arena *arena;
    double *cold_us, *warm_us;
} bench;

typedef struct row {
    int form, contacts, n;
    const rb_solver *solver;
    int tried, cold_solved, warm_solved;
    double worst, cold_us, warm_us;
    long rungs[RB_RUNG_COUNT]; /* cold */
} row;

/* Smallest time of the repeats, each from the same start. z and info hold the last answer. */
static rb_status time_solve(const bench *b, const rb_problem *p, const rb_solve_opts *opts,
                            const double *z0, const unsigned char *mode0, double *z, rb_info *info,
                            double *best_us)
{
    *best_us = INFINITY;
    for (int k = 0; k < b->repeats; k++) {
        memcpy(z, z0, (size_t)p->n * sizeof *z);
        memcpy(info->mode, mode0, (size_t)p->n);
        double start = bench_now_us();
        rb_status status = rb_solve(p, opts, z, info);
        *best_us = fmin(*best_us, bench_now_us() - start);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

/* One problem, cold and warm, added to the row. */
static rb_status bench_problem(bench *b, row *r, const rb_corpus_problem *p,
                               const rb_corpus_problem *changed)
{
    size_t n = (size_t)p->problem.n;
    double *z = calloc(3 * n, sizeof *z), *cold = z + n, *zero = z + 2 * n;
    unsigned char *mode = calloc(3, n), *cold_mode = mode + n, *zero_mode = mode + 2 * n;
    rb_info info = { .mode = mode };
    rb_solve_opts opts = rb_solve_opts_default();
    rb_status status = z && mode ? RB_OK : RB_NOMEM;
    opts.solver = r->solver;
    opts.tol = p->problem.kind == RB_CONE ? TOL_CONE : TOL_LCP;
    opts.max_iter = MAX_ITER;
    opts.unique = !b->plain;
    opts.arena = b->arena;

    if (status == RB_OK)
        status =
            time_solve(b, &p->problem, &opts, zero, zero_mode, z, &info, &b->cold_us[r->tried]);
    if (status == RB_OK) {
        double grade = rb_grade(&p->problem, z);
        int ok = info.outcome == RB_SOLVED && grade <= opts.tol;
        r->cold_solved += ok;
        if (ok) r->worst = fmax(r->worst, grade);
        for (int k = 0; k < RB_RUNG_COUNT; k++) r->rungs[k] += info.rungs[k];
        memcpy(cold, z, n * sizeof *z);
        memcpy(cold_mode, mode, n);
        opts.warm = 1;
        status = time_solve(b, &changed->problem, &opts, cold, cold_mode, z, &info,
                            &b->warm_us[r->tried]);
    }
    if (status == RB_OK) {
        r->warm_solved += info.outcome == RB_SOLVED && rb_grade(&changed->problem, z) <= opts.tol;
        r->tried++;
    }
    free(z);
    free(mode);
    return status;
}

static void print_row(const bench *b, const row *r)
{
    const char *form = rb_corpus_form_name(r->form);
    if (b->json)
        printf("{\"form\":\"%s\",\"contacts\":%d,\"n\":%d,\"solver\":\"%s\",\"problems\":%d,"
               "\"cold_solved\":%d,\"warm_solved\":%d,\"worst\":%.3e,\"cold_us\":%.2f,"
               "\"warm_us\":%.2f}\n",
               form, r->contacts, r->n, r->solver->name, r->tried, r->cold_solved, r->warm_solved,
               r->worst, r->cold_us, r->warm_us);
    else
        printf("%-6s %8d %5d  %-13s %4d/%-4d %4d/%-4d %9.1e %12.1f %12.1f\n", form, r->contacts,
               r->n, r->solver->name, r->cold_solved, r->tried, r->warm_solved, r->tried, r->worst,
               r->cold_us, r->warm_us);
    if (b->csv)
        fprintf(b->csv, "%s,%d,%d,%s,%d,%d,%d,%.3e,%.3f,%.3f\n", form, r->contacts, r->n,
                r->solver->name, r->tried, r->cold_solved, r->warm_solved, r->worst, r->cold_us,
                r->warm_us);
}

static void print_rungs(const bench *b, const row *r)
{
    long islands = 0;
    for (int k = 0; k < RB_RUNG_COUNT; k++) islands += r->rungs[k];
    if (b->json || islands == 0) return;
    printf("%35s rungs:", "");
    for (int k = 0; k < RB_RUNG_COUNT; k++)
        if (r->rungs[k])
            printf(" %s %.0f %%", rb_rung_name(k), 100.0 * (double)r->rungs[k] / (double)islands);
    printf("\n");
}

static rb_status bench_row(bench *b, int form, int contacts, const rb_solver *solver)
{
    row r = { .form = form, .contacts = contacts, .solver = solver };
    rb_corpus_opts opts = rb_corpus_opts_default();
    opts.form = form;
    opts.contacts = contacts;
    double start = bench_now_us();
    rb_status status = RB_OK;
    for (int k = 0; k < b->problems && status == RB_OK; k++) {
        rb_corpus_problem p = { 0 }, changed = { 0 };
        opts.family = k % RB_CORPUS_FAMILIES;
        status = rb_corpus_make(FIRST_SEED + (uint64_t)k, &opts, &p);
        if (status == RB_OK) status = rb_corpus_perturb(&p, PERTURB, &changed);
        r.n = status == RB_OK ? p.problem.n : 0;
        int fits = status == RB_OK && (solver->accepts & p.problem.kind);
        if (fits) status = bench_problem(b, &r, &p, &changed);
        rb_corpus_free(&p);
        rb_corpus_free(&changed);
        if (!fits || bench_now_us() - start > CELL_BUDGET) break;
    }
    if (status != RB_OK || r.tried == 0) return status;
    r.cold_us = bench_median(b->cold_us, (size_t)r.tried);
    r.warm_us = bench_median(b->warm_us, (size_t)r.tried);
    print_row(b, &r);
    print_rungs(b, &r);
    fflush(stdout);
    return RB_OK;
}

static rb_status bench_all(bench *b)
{
    static const int forms[] = { RB_CORPUS_ST4_V, RB_CORPUS_BOX, RB_CORPUS_CONE };
    if (b->csv)
        fprintf(b->csv, "form,contacts,n,solver,problems,cold_solved,warm_solved,worst_residual,"
                        "cold_us,warm_us\n");
    if (!b->json)
        printf("%-6s %8s %5s  %-13s %9s %9s %9s %12s %12s\n", "form", "contacts", "n", "solver",
               "cold ok", "warm ok", "worst", "cold [us]", "warm [us]");
    for (int f = 0; f < 3; f++) {
        int form = b->form >= 0 ? b->form : forms[f];
        for (int s = 0; s < SIZES; s++)
            for (const rb_solver *const *solver = rb_solvers; *solver; solver++) {
                if (b->solver && *solver != b->solver) continue;
                rb_status status = bench_row(b, form, sizes[s], *solver);
                if (status != RB_OK) return status;
            }
        if (b->form >= 0) break;
    }
    return RB_OK;
}

static int parse(bench *b, int argc, char **argv, int *exit_status)
{
    const char *problems = "20", *repeats = "3", *solver = NULL, *form = NULL, *csv = NULL;
    const bench_option options[] = {
        { "--problems", &problems, NULL }, { "--repeats", &repeats, NULL },
        { "--solver", &solver, NULL },     { "--form", &form, NULL },
        { "--csv", &csv, NULL },           { "--json", NULL, &b->json },
        { "--plain", NULL, &b->plain },    { NULL, NULL, NULL },
    };
    unsigned long long count, again;
    if (!bench_parse(argc, argv, options, help, exit_status)) return 0;
    *exit_status = EXIT_BAD_INPUT;
    if (!bench_number("--problems", problems, 1, 100000, &count) ||
        !bench_number("--repeats", repeats, 1, 1000, &again))
        return 0;
    b->problems = (int)count;
    b->repeats = (int)again;
    b->solver = solver ? rb_solver_find(solver) : NULL;
    b->form = form ? rb_corpus_form_find(form) : -1;
    if ((solver && !b->solver) || (form && b->form < 0)) {
        fprintf(stderr, "rattleback bench solve: there is no %s \"%s\"\n",
                solver && !b->solver ? "solver" : "form", solver && !b->solver ? solver : form);
        return 0;
    }
    if (csv && !(b->csv = fopen(csv, "w"))) {
        fprintf(stderr, "rattleback bench solve: cannot write %s\n", csv);
        return 0;
    }
    return 1;
}

int bench_solve(int argc, char **argv)
{
    bench b = { 0 };
    int exit_status = EXIT_BAD_INPUT;
    if (!parse(&b, argc, argv, &exit_status)) return exit_status;
    b.arena = rb_arena_new(NULL, 0);
    b.cold_us = calloc((size_t)b.problems, sizeof *b.cold_us);
    b.warm_us = calloc((size_t)b.problems, sizeof *b.warm_us);
    rb_status status = b.arena && b.cold_us && b.warm_us ? bench_all(&b) : RB_NOMEM;
    if (status != RB_OK) fprintf(stderr, "rattleback bench solve: %s\n", rb_status_text(status));
    if (b.csv && fclose(b.csv) != 0) status = RB_FILE;
    rb_arena_free(b.arena);
    free(b.cold_us);
    free(b.warm_us);
    return status == RB_OK ? EXIT_CERTIFIED : EXIT_BAD_INPUT;
}
