/* `rattleback bench demo`: what `make run` shows (its robots are in robot.c). Sets of
 * problems, generated ones and the stored reference data where it is available, against every
 * solver; one table per kind of problem. */
#include "bench/bench.h"

#include "commands.h"
#include "corpus.h"
#include "corpus_grade.h"
#include "rattleback/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GENERATED   24 /* problems in a generated set                                  */
#define FIRST_SEED  500
#define MAX_ITER    20000
#define CELL_BUDGET 2.5e6 /* [us] a solver may spend on one set; auto may take all it needs */
#define TOL_LCP     1e-9
#define TOL_CONE    1e-8
#define MAX_SOLVERS 32

static const char help[] =
    "usage: rattleback bench demo [--robots] [--json]\n"
    "\n"
    "Solves generated contact problems and, where the reference data is found (in the folder\n"
    "RATTLEBACK_SHARED, or ../shared/data), the stored ones, with every solver; prints how many\n"
    "were solved, each certified by code that is not the solver's, and how long it took. Then\n"
    "robots from files swing and fall, with the error of their energy; --robots: only they.\n"
    "\n"
    "Example: rattleback bench demo\n";

/* A set of problems: generated, or the lines of a file. */
typedef struct set {
    char name[32];
    int count;
    const rb_problem *problem[512];
    int unsolvable[512]; /* 1: proven to have no solution; solved would be a lie */
    rb_corpus_problem *made;
    rb_problem_entry **entries;
    int owned;
} set;

typedef struct cell {
    int tried, solved, wrong, solvable;
    double worst, median_us;
} cell;

typedef struct demo {
    rb_arena *arena;
    int json;
    unsigned kinds; /* of this table */
    int nsolver;
    const rb_solver *solver[MAX_SOLVERS];
    double worst[MAX_SOLVERS];
    int wrong;
} demo;

static void set_free(set *s)
{
    for (int i = 0; i < s->owned; i++) {
        if (s->made) rb_corpus_free(&s->made[i]);
        if (s->entries) rb_problem_entry_free(s->entries[i]);
    }
    free(s->made);
    free(s->entries);
    memset(s, 0, sizeof *s);
}

/* A family in one form. */
static rb_status set_generate(set *s, int family, int form)
{
    rb_corpus_opts opts = rb_corpus_opts_default();
    opts.family = family;
    opts.form = form;
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s-%s", rb_corpus_family_name(family),
             rb_corpus_form_name(form));
    s->made = calloc(GENERATED, sizeof *s->made);
    if (!s->made) return RB_NOMEM;
    for (int i = 0; i < GENERATED; i++) {
        rb_status status = rb_corpus_make(FIRST_SEED + (uint64_t)i, &opts, &s->made[i]);
        if (status != RB_OK) return status;
        s->problem[s->count++] = &s->made[i].problem;
        s->owned++;
    }
    return RB_OK;
}

/* The lines of a reference file; lines that are refused are left out. */
static rb_status set_read(set *s, const char *name, const char *path, rb_problem_format format)
{
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s", name);
    size_t capacity = sizeof s->problem / sizeof s->problem[0];
    s->entries = calloc(capacity, sizeof *s->entries);
    if (!s->entries) return RB_NOMEM;
    rb_error err = { 0 };
    rb_problem_reader *reader = rb_problem_open(path, format, NULL, &err);
    if (!reader) return err.status;
    while (s->owned < (int)capacity) {
        rb_problem_entry *entry = NULL;
        rb_status status = rb_problem_next(reader, &entry, &err);
        if (status == RB_FILE || (status == RB_OK && !entry)) break;
        if (status != RB_OK) continue;
        s->entries[s->owned] = entry;
        s->unsolvable[s->owned] = strcmp(entry->expected, "infeasible") == 0 ||
                                  strcmp(entry->expected, "nosolution") == 0;
        s->problem[s->owned++] = &entry->problem;
    }
    s->count = s->owned;
    rb_problem_close(reader);
    return RB_OK;
}

/* One solver on one set. */
static rb_status run_cell(demo *d, const set *s, const rb_solver *solver, cell *c)
{
    double *times = calloc((size_t)s->count + 1, sizeof *times);
    rb_status status = times ? RB_OK : RB_NOMEM;
    rb_solve_opts opts = rb_solve_opts_default();
    opts.solver = solver;
    opts.max_iter = MAX_ITER;
    opts.arena = d->arena;
    int is_auto = strcmp(solver->name, "auto") == 0;
    double start = bench_now_us();
    for (int i = 0; i < s->count && status == RB_OK; i++) {
        const rb_problem *p = s->problem[i];
        if (!(solver->accepts & p->kind)) continue;
        if (!is_auto && bench_now_us() - start > CELL_BUDGET) break;
        double *z = calloc((size_t)p->n, sizeof *z);
        rb_info info = { 0 };
        opts.tol = p->kind == RB_CONE ? TOL_CONE : TOL_LCP;
        double before = bench_now_us();
        status = z ? rb_solve(p, &opts, z, &info) : RB_NOMEM;
        times[c->tried] = bench_now_us() - before;
        if (status == RB_OK) {
            double grade = rb_grade(p, z);
            int certified = info.outcome == RB_SOLVED, right = grade <= opts.tol;
            c->tried++;
            c->solvable += !s->unsolvable[i];
            c->solved += certified && right && !s->unsolvable[i];
            c->wrong += certified && (!right || s->unsolvable[i]);
            if (certified && right) c->worst = fmax(c->worst, grade);
        }
        if (status == RB_UNSUPPORTED || status == RB_TOO_LARGE) status = RB_OK;
        free(z);
    }
    c->median_us = times ? bench_median(times, (size_t)c->tried) : 0.0;
    free(times);
    return status;
}

/* "24/24 35us": solved out of those not proven unsolvable, and the median time. */
static void print_cell(const cell *c)
{
    char text[32], unit = 'u';
    double time = c->median_us;
    if (time >= 1e3) {
        time *= 1e-3;
        unit = 'm';
    }
    if (time >= 1e3) {
        time *= 1e-3;
        unit = ' ';
    }
    if (c->tried == 0)
        snprintf(text, sizeof text, "-");
    else
        snprintf(text, sizeof text, "%d/%d %.3g%cs", c->solved, c->solvable, time, unit);
    printf(" %15s", text);
}

static rb_status run_set(demo *d, const set *s)
{
    if (!d->json) {
        printf("%-18s", s->name);
        fflush(stdout);
    }
    for (int k = 0; k < d->nsolver; k++) {
        cell c = { 0 };
        rb_status status = run_cell(d, s, d->solver[k], &c);
        if (status != RB_OK) return status;
        d->worst[k] = fmax(d->worst[k], c.worst);
        d->wrong += c.wrong;
        if (d->json && c.tried)
            printf("{\"set\":\"%s\",\"solver\":\"%s\",\"solved\":%d,\"solvable\":%d,\"tried\":%d,"
                   "\"wrong\":%d,\"worst\":%.3e,\"median_us\":%.2f}\n",
                   s->name, d->solver[k]->name, c.solved, c.solvable, c.tried, c.wrong, c.worst,
                   c.median_us);
        if (!d->json) print_cell(&c);
        fflush(stdout);
    }
    if (!d->json) printf("\n");
    return RB_OK;
}

static void start_table(demo *d, unsigned kinds, const char *title)
{
    d->kinds = kinds;
    d->nsolver = 0;
    for (const rb_solver *const *s = rb_solvers; *s && d->nsolver < MAX_SOLVERS; s++)
        if ((*s)->accepts & kinds) {
            d->worst[d->nsolver] = 0.0;
            d->solver[d->nsolver++] = *s;
        }
    if (d->json) return;
    printf("\n%s\n%-18s", title, "problems");
    for (int k = 0; k < d->nsolver; k++) printf(" %15s", d->solver[k]->name);
    printf("\n");
}

static void end_table(const demo *d)
{
    if (d->json) return;
    printf("%-18s", "worst residual");
    for (int k = 0; k < d->nsolver; k++) printf(" %15.1e", d->worst[k]);
    printf("\n");
}

/* Generated sets of a table: each family in the given forms. */
static rb_status run_generated(demo *d, const int *forms, int nform)
{
    for (int f = 0; f < nform; f++)
        for (int family = 0; family < RB_CORPUS_FAMILIES; family++) {
            set s;
            rb_status status = set_generate(&s, family, forms[f]);
            if (status == RB_OK) status = run_set(d, &s);
            set_free(&s);
            if (status != RB_OK) return status;
        }
    return RB_OK;
}

static rb_status run_stored(demo *d, const char *file, rb_problem_format format)
{
    char path[4096];
    if (!bench_find_shared(file, path, sizeof path)) {
        if (!d->json)
            printf("%-18s skipped: no such file under ../shared/data or RATTLEBACK_SHARED\n", file);
        return RB_OK;
    }
    const char *slash = strrchr(file, '/');
    set s;
    rb_status status = set_read(&s, slash ? slash + 1 : file, path, format);
    if (status == RB_OK) status = run_set(d, &s);
    set_free(&s);
    return status;
}

static rb_status run_lcp_table(demo *d)
{
    static const int forms[] = { RB_CORPUS_ST4_V, RB_CORPUS_BOX };
    start_table(d, RB_LCP | RB_BOX,
                "Linear complementarity: solved/tried and median time per solver");
    rb_status status = run_generated(d, forms, 2);
    if (status == RB_OK) status = run_stored(d, "lcp/lcp.jsonl", RB_FORMAT_LCP);
    if (status == RB_OK) status = run_stored(d, "lcp/mlcp.jsonl", RB_FORMAT_LCP);
    if (status == RB_OK) status = run_stored(d, "lcp/generated.jsonl", RB_FORMAT_LCP);
    if (status == RB_OK) end_table(d);
    return status;
}

static rb_status run_cone_table(demo *d)
{
    static const int forms[] = { RB_CORPUS_CONE };
    start_table(d, RB_CONE, "Exact Coulomb friction: solved/tried and median time per solver");
    rb_status status = run_generated(d, forms, 1);
    if (status == RB_OK)
        status = run_stored(d, "friction_contact/problems.jsonl", RB_FORMAT_FRICTION);
    if (status == RB_OK) end_table(d);
    return status;
}

static void put_verdict(const demo *d)
{
    printf("\n%d answers were wrongly called solved. Each count is graded by code of its own:\n"
           "relative residual <= 1e-9 (linear), 1e-8 (cones). A cell that ran out of its\n"
           "time shows what it had tried; - : the solver does not take these problems. Problems\n"
           "proven to have no solution are not in the counts: solving one would be wrong.\n",
           d->wrong);
}

static rb_status run_tables(demo *d)
{
    d->arena = rb_arena_new(NULL, 0);
    rb_status status = d->arena ? run_lcp_table(d) : RB_NOMEM;
    if (status == RB_OK) status = run_cone_table(d);
    rb_arena_free(d->arena);
    if (status == RB_OK && !d->json) put_verdict(d);
    return status;
}

int bench_demo(int argc, char **argv)
{
    demo d = { 0 };
    int exit_status = EXIT_BAD_INPUT, only_robots = 0;
    const bench_option options[] = { { "--json", NULL, &d.json },
                                     { "--robots", NULL, &only_robots },
                                     { NULL, NULL, NULL } };
    if (!bench_parse(argc, argv, options, help, &exit_status)) return exit_status;
    rb_status status = only_robots ? RB_OK : run_tables(&d);
    if (status != RB_OK) {
        fprintf(stderr, "rattleback bench demo: %s\n", rb_status_text(status));
        return EXIT_BAD_INPUT;
    }
    int moved = bench_robots(d.json);
    return d.wrong || !moved ? EXIT_UNCERTIFIED : EXIT_CERTIFIED;
}
