/* `rattleback lcp` and `rattleback friction`: read problems, solve each, print what is certified.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "commands.h"
#include "options.h"
#include "report.h"

/* After this many bad lines of a file, the rest is only counted. */
enum { MOST_MESSAGES = 20 };

typedef struct run {
    const options *o;
    rb_problem_format format;
    rb_arena *arena; /* kept between solves: after the first ones nothing is allocated */
    int problems, bad_lines;
    int exit_status; /* the worst so far */
    tally tallies[REPORT_MAX_SOLVERS];
} run;

static void worsen(run *r, int exit_status)
{
    if (exit_status > r->exit_status) r->exit_status = exit_status;
}

/* ---- one problem -------------------------------------------------------------------------------
 */

/* The arrays of one answer. */
typedef struct space {
    double *z, *u, *ray;
    unsigned char *mode;
} space;

static void space_free(space *s)
{
    free(s->z);
    free(s->u);
    free(s->ray);
    free(s->mode);
}

static int space_make(space *s, int n)
{
    s->z = calloc((size_t)n, sizeof *s->z);
    s->u = calloc((size_t)n, sizeof *s->u);
    s->ray = calloc((size_t)n, sizeof *s->ray);
    s->mode = calloc((size_t)n, sizeof *s->mode);
    return s->z && s->u && s->ray && s->mode;
}

/* Solves cold `repeat` times and keeps the shortest time; every repeat gives the same bits. */
static void solve(const run *r, const rb_solver *solver, space *s, answer *a)
{
    const rb_problem *p = &a->entry->problem;
    rb_solve_opts opts = rb_solve_opts_default();
    opts.solver = solver;
    opts.tol = r->o->tol;
    opts.unique = r->o->unique;
    opts.arena = r->arena;
    if (r->o->max_iter) opts.max_iter = r->o->max_iter;

    for (int k = 0; k < r->o->repeat; k++) {
        memset(s->z, 0, (size_t)p->n * sizeof *s->z);
        memset(s->mode, 0, (size_t)p->n);
        a->info = (rb_info){ .mode = s->mode, .ray = s->ray };
        double begin = wall_seconds();
        a->status = rb_solve(p, &opts, s->z, &a->info);
        double seconds = wall_seconds() - begin;
        if (k == 0 || seconds < a->seconds) a->seconds = seconds;
        if (a->status != RB_OK) break;
    }
    if (a->status == RB_OK && p->kind == RB_CONE) {
        a->status = rb_problem_apply(p, s->z, r->arena, s->u);
        for (int i = 0; i < p->n; i++) s->u[i] += p->q[i];
    }
}

/* Why the library refused: the problem's fault if the check finds one, else the status. */
static void explain(answer *a)
{
    if (a->status == RB_BAD_INPUT && rb_problem_check(&a->entry->problem, &a->error) != RB_OK)
        return;
    if (a->status == RB_UNSUPPORTED)
        snprintf(a->error.text, sizeof a->error.text,
                 "solver %s does not take this kind of problem; expected --solver auto or all",
                 a->solver->name);
    else
        snprintf(a->error.text, sizeof a->error.text, "%s", rb_status_text(a->status));
}

static void solve_and_report(run *r, const char *file, const rb_problem_entry *entry, int index,
                             space *s)
{
    answer a = { .entry = entry, .solver = rb_solvers[index], .z = s->z, .u = s->u };
    solve(r, a.solver, s, &a);
    if (a.status != RB_OK) {
        explain(&a);
        snprintf(a.error.file, sizeof a.error.file, "%s", file);
        a.error.line = entry->line;
        report_error(&a.error);
        worsen(r, EXIT_BAD_INPUT);
    } else if (a.info.outcome != RB_SOLVED) {
        worsen(r, EXIT_UNCERTIFIED);
    }

    progress_clear();
    if (r->o->json)
        report_json(stdout, &a);
    else
        report_row(stdout, &a);
    if (index < REPORT_MAX_SOLVERS) tally_add(&r->tallies[index], &a);
}

static void solve_entry(run *r, const char *file, const rb_problem_entry *entry)
{
    space s = { 0 };
    if (r->problems++ == 0 && !r->o->json)
        report_head(stdout, r->format == RB_FORMAT_LCP ? "n" : "contacts");
    if (!space_make(&s, entry->problem.n)) {
        fprintf(stderr, "%s:%d: out of memory for the answer\n", file, entry->line);
        worsen(r, EXIT_BAD_INPUT);
    } else {
        for (int k = 0; rb_solvers[k]; k++) {
            int wanted = r->o->solver ? rb_solvers[k] == r->o->solver
                                      : (rb_solvers[k]->accepts & entry->problem.kind) != 0;
            if (wanted) solve_and_report(r, file, entry, k, &s);
        }
    }
    space_free(&s);
}

/* ---- files -------------------------------------------------------------------------------------
 */

static void solve_file(run *r, const char *path)
{
    rb_error err = { 0 };
    rb_problem_reader *reader = rb_problem_open(path, r->format, NULL, &err);
    if (!reader) {
        report_error(&err);
        worsen(r, EXIT_BAD_INPUT);
        return;
    }

    const char *shown = strcmp(path, "-") == 0 ? "stdin" : path;
    int bad = 0, before = r->problems;
    while (!ferror(stdout)) {
        rb_problem_entry *entry;
        rb_status status = rb_problem_next(reader, &entry, &err);
        if (status != RB_OK) {
            if (bad++ < MOST_MESSAGES) report_error(&err);
            worsen(r, EXIT_BAD_INPUT);
            continue;
        }
        if (!entry) break;
        solve_entry(r, shown, entry);
        rb_problem_entry_free(entry);
        progress_show(rb_problem_progress(reader), r->problems);
    }
    r->bad_lines += bad;
    progress_clear();
    if (bad > MOST_MESSAGES) fprintf(stderr, "%s: %d more bad lines\n", shown, bad - MOST_MESSAGES);
    if (!bad && r->problems == before) {
        fprintf(stderr, "%s: no problem in it; expected one JSON object per line\n", shown);
        worsen(r, EXIT_BAD_INPUT);
    }
    rb_problem_close(reader);
}

static int run_files(const options *o, rb_problem_format format)
{
    run r = { .o = o, .format = format, .arena = rb_arena_new(NULL, 0) };
    if (!r.arena) {
        fprintf(stderr, "rattleback %s: out of memory\n", o->command);
        return EXIT_BAD_INPUT;
    }
    for (int k = 0; k < o->nfile && !ferror(stdout); k++) solve_file(&r, o->files[k]);
    if (r.problems && !o->json) {
        report_summary(stdout, r.tallies);
        if (r.bad_lines) printf("%d bad lines were left out: see the messages\n", r.bad_lines);
    }
    rb_arena_free(r.arena);
    return r.exit_status;
}

/* ---- commands ----------------------------------------------------------------------------------
 */

static void help(const options *o, const char *intro)
{
    printf("usage: rattleback %s [options] FILE...\n\n%s\n", o->command, intro);
    printf("  -               as FILE: standard input\n"
           "  --solver NAME   the solver, or all for a line per problem and solver (auto)\n"
           "  --tol X         relative residual to certify (%g)\n"
           "  --max-iter N    cap on pivots, sweeps or steps\n"
           "  --no-unique     any answer where impulses are not unique\n"
           "  --repeat N      solve N times, report the shortest time (1)\n"
           "  --json          one JSON object per answer\n\nsolvers:\n",
           o->tol);
    for (const rb_solver *const *s = rb_solvers; *s; s++)
        if ((*s)->accepts & o->kinds) printf("  %-15s %s\n", (*s)->name, (*s)->summary);
    printf(
        "\nexit status: 0 every answer is certified, 1 some answer is not, 2 bad usage or input\n"
        "\nexample: rattleback %s scenes/problems/%s.jsonl\n",
        o->command, o->command);
}

static int solve_command(int argc, char **argv, options *o, rb_problem_format format,
                         const char *intro)
{
    o->solver = rb_solver_find("auto");
    o->unique = 1;
    o->repeat = 1;
    if (!options_parse(argc, argv, o)) return EXIT_BAD_INPUT;
    if (o->help) {
        help(o, intro);
        return EXIT_CERTIFIED;
    }
    return run_files(o, format);
}

int cmd_lcp(int argc, char **argv)
{
    options o = { .command = "lcp", .kinds = RB_LCP | RB_BOX, .tol = 1e-9 };
    return solve_command(
        argc, argv, &o, RB_FORMAT_LCP,
        "Solves linear complementarity problems given as JSON lines:\n"
        "  {\"name\":\"a\",\"M\":[[2,1],[1,2]],\"q\":[-5,-6]}      w = M z + q, "
        "z >= 0, w >= 0, z.w = 0\n"
        "  \"lo\", \"hi\": bounds of z, null = unbounded; or \"is_comp\": 0 = a free "
        "z with w = 0\n"
        "  M may be {\"rows\",\"cols\",\"i\",\"j\",\"v\"}, zero-based triplets\n");
}

int cmd_friction(int argc, char **argv)
{
    options o = { .command = "friction", .kinds = RB_CONE, .tol = 1e-8 };
    return solve_command(
        argc, argv, &o, RB_FORMAT_FRICTION,
        "Solves frictional contact problems (exact Coulomb cones) given as JSON "
        "lines:\n"
        "  {\"name\",\"W\",\"q\",\"mu\"}            u = W r + q, contacts (n, t1, t2); "
        "\"dim\":2 for (n, t)\n"
        "  {\"name\",\"M\",\"H\",\"f\",\"w\",\"mu\"}    M v = H r + f, u = H'v + w\n"
        "  matrices are lists of rows or {\"rows\",\"cols\",\"i\",\"j\",\"v\"}\n");
}
