/* The stored friction problems: our cone solvers and auto beside the solvers of Siconos, each at
 * the loosest of its tolerances that reaches the target in the common grade. */
#include "harness.h"

#include "rattleback/io.h"

#include <siconos/numerics/Friction_cst.h>
#include <siconos/numerics/NumericsMatrix.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TARGET       1e-8
#define REPEATS      5
#define BUDGET_S     1.0
#define LEAST_S      1.0  /* every solver gets at least this much time                          */
#define PATIENCE     20.0 /* a rival slower than this many times the best so far is not awaited */
#define MAX_PROBLEMS 256

typedef struct rival {
    const char *name;
    int dim, solver, local, storage;
} rival;

static const rival rivals[] = {
    { "nsgs/sbm", 3, SICONOS_FRICTION_3D_NSGS, 0, NM_SPARSE_BLOCK },
    { "nsgs/dense", 3, SICONOS_FRICTION_3D_NSGS, 0, NM_DENSE },
    { "nsgs-quartic/sbm", 3, SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC,
      NM_SPARSE_BLOCK },
    { "nsn-ac/dense", 3, SICONOS_FRICTION_3D_NSN_AC, 0, NM_DENSE },
    { "nsn-ac/sparse", 3, SICONOS_FRICTION_3D_NSN_AC, 0, NM_SPARSE },
    { "nsn-ac-test/dense", 3, SICONOS_FRICTION_3D_NSN_AC_TEST, 0, NM_DENSE },
    { "nsn-ac-test/sparse", 3, SICONOS_FRICTION_3D_NSN_AC_TEST, 0, NM_SPARSE },
    { "nsn-fb/dense", 3, SICONOS_FRICTION_3D_NSN_FB, 0, NM_DENSE },
    { "nsn-fb/sparse", 3, SICONOS_FRICTION_3D_NSN_FB, 0, NM_SPARSE },
    { "nsn-nm/dense", 3, SICONOS_FRICTION_3D_NSN_NM, 0, NM_DENSE },
    { "admm/sparse", 3, SICONOS_FRICTION_3D_ADMM, 0, NM_SPARSE },
    { "prox/dense", 3, SICONOS_FRICTION_3D_PROX, 0, NM_DENSE },
    { "2d-nsgs/dense", 2, SICONOS_FRICTION_2D_NSGS, 0, NM_DENSE },
    { "2d-nsgs/sbm", 2, SICONOS_FRICTION_2D_NSGS, 0, NM_SPARSE_BLOCK },
    { "2d-lemke/dense", 2, SICONOS_FRICTION_2D_LEMKE, 0, NM_DENSE },
    { "2d-cpg/dense", 2, SICONOS_FRICTION_2D_CPG, 0, NM_DENSE },
};
enum { RIVALS = sizeof rivals / sizeof rivals[0] };

/* The first two are auto: the answer as it comes, which is what Siconos gives, and the choice of
 * the uniform-compliance answer on top, which is our default. */
typedef struct our_way {
    const char *label, *solver;
    int unique;
} our_way;

static const our_way our_ways[] = { { "auto", "auto", 0 },
                                    { "auto-unique", "auto", 1 },
                                    { "newton", "newton", 0 },
                                    { "nsgs", "nsgs", 0 },
                                    { "admm", "admm", 0 } };
enum { PLAIN = 0, UNIQUE, SINGLE, OURS = sizeof our_ways / sizeof our_ways[0] };

/* Better: reaches the target sooner, or comes closer where neither does. */
static int better(const trial *a, const trial *b, double target)
{
    int a_hit = a->grade <= target, b_hit = b->grade <= target;
    if (a_hit != b_hit) return a_hit;
    return a_hit ? a->us < b->us : a->grade < b->grade;
}

static double limit_after(const trial *best, double limit_s)
{
    if (!(best->grade <= TARGET)) return limit_s;
    return fmin(limit_s, fmax(LEAST_S, PATIENCE * 1e-6 * best->us));
}

static double *make_dense(const rb_problem *p, rb_arena *arena)
{
    size_t n = (size_t)p->n;
    double *W = calloc(n * n + 2 * n, sizeof *W);
    if (!W) return NULL;
    double *unit = W + n * n, *column = unit + n;
    for (size_t j = 0; j < n; j++) {
        unit[j] = 1.0;
        if (rb_problem_apply(p, unit, arena, column) != RB_OK) {
            free(W);
            return NULL;
        }
        unit[j] = 0.0;
        for (size_t i = 0; i < n; i++) W[i * n + j] = column[i];
    }
    return W;
}

/* Both sides get the condensed W of a global problem, set up outside the timed part: Siconos its
 * storages, ours the blocks of each pair of contacts that are not zero. */
typedef struct condensed {
    rb_problem problem;
    int *ptr, *col;
    double *val;
} condensed;

static int block_is_zero(const double *dense, int n, int dim, int i, int j)
{
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++)
            if (dense[(ptrdiff_t)(i * dim + r) * n + j * dim + c] != 0.0) return 0;
    return 1;
}

static int condense(const rb_problem *p, const double *dense, condensed *out)
{
    int dim = p->dim, nc = p->nc, used = 0;
    size_t most = (size_t)nc * (size_t)nc;
    *out = (condensed){ .problem = *p,
                        .ptr = calloc((size_t)nc + 1, sizeof(int)),
                        .col = calloc(most, sizeof(int)),
                        .val = calloc(most * (size_t)(dim * dim), sizeof(double)) };
    if (!out->ptr || !out->col || !out->val) return 0;
    for (int i = 0; i < nc; i++) {
        for (int j = 0; j < nc; j++) {
            if (block_is_zero(dense, p->n, dim, i, j)) continue;
            for (int e = 0; e < dim * dim; e++)
                out->val[(ptrdiff_t)used * dim * dim + e] =
                    dense[(ptrdiff_t)(i * dim + e / dim) * p->n + j * dim + e % dim];
            out->col[used++] = j;
        }
        out->ptr[i + 1] = used;
    }
    out->problem.W =
        (rb_matrix){ .form = RB_BSR, .bs = dim, .ptr = out->ptr, .col = out->col, .val = out->val };
    return 1;
}

static void condensed_free(condensed *c)
{
    free(c->ptr);
    free(c->col);
    free(c->val);
}

static void write_line(FILE *csv, const char *problem, int nc, const char *side, const char *name,
                       double tol, const trial *t)
{
    fprintf(csv, "%s,%d,%s,%s,%.0e,%s,%.3e,%.3f\n", problem, nc, side, name, tol,
            trial_name(t->state), t->grade, t->us);
    fflush(csv);
}

static trial run_ours(const our_way *way, const rb_problem *p, rb_arena *arena, double limit_s,
                      double *z)
{
    static unsigned char scratch[RB_MAX_ROWS];
    ours o = { .problem = p, .mode = scratch };
    o.opts = rb_solve_opts_default();
    o.opts.solver = rb_solver_find(way->solver);
    o.opts.unique = way->unique;
    o.opts.tol = TARGET;
    o.opts.arena = arena;
    trial_limits limits = { REPEATS, BUDGET_S, limit_s };
    return trial_run(ours_solve, &o, p, limits, z);
}

/* A Siconos solver, its tolerance tightened until the common grade is met. */
static trial run_rival(const rival *r, const rb_problem *p, const double *dense, double limit_s,
                       double *z, double *tol)
{
    trial best = { TRIAL_CRASHED, INFINITY, INFINITY, 0 };
    static const double tolerances[] = { 1e-8, 1e-10, 1e-12, 1e-14 };
    for (size_t k = 0; k < sizeof tolerances / sizeof tolerances[0]; k++) {
        siconos_friction s = { p, dense, r->solver, r->local, r->storage, tolerances[k], 1000000 };
        trial_limits limits = { REPEATS, BUDGET_S, limit_s };
        trial t = trial_run(siconos_friction_solve, &s, p, limits, z);
        if (k == 0 || better(&t, &best, TARGET)) {
            best = t;
            *tol = tolerances[k];
        }
        if (t.state != TRIAL_RAN || t.grade <= TARGET) break;
    }
    return best;
}

typedef struct tally {
    int problems, solved, above_1e6, rivals_solved;
    int ahead[2]; /* auto plain, auto unique */
} tally;

/* One problem by every way of ours; best: the best single solver. */
static void run_all_ours(const rb_problem_entry *e, const rb_problem *p, FILE *csv, rb_arena *arena,
                         double limit_s, double *z, trial *t, int *best)
{
    *best = SINGLE;
    for (int k = 0; k < OURS; k++) {
        double limit = k == 0 ? limit_s : limit_after(&t[PLAIN], limit_s);
        t[k] = run_ours(&our_ways[k], p, arena, limit, z);
        write_line(csv, e->name, e->problem.nc, "rattleback", our_ways[k].label, TARGET, &t[k]);
        if (k > SINGLE && better(&t[k], &t[*best], TARGET)) *best = k;
    }
}

/* And by every Siconos solver that takes it; returns the best. */
static trial run_all_rivals(const rb_problem_entry *e, FILE *csv, const double *dense,
                            double limit_s, double *z, const char **name)
{
    trial best = { TRIAL_CRASHED, INFINITY, INFINITY, 0 };
    *name = "none";
    for (int k = 0; k < RIVALS; k++) {
        if (rivals[k].dim != e->problem.dim) continue;
        double tol = TARGET, limit = limit_after(&best, limit_s);
        trial t = run_rival(&rivals[k], &e->problem, dense, limit, z, &tol);
        write_line(csv, e->name, e->problem.nc, "siconos", rivals[k].name, tol, &t);
        if (better(&t, &best, TARGET)) {
            best = t;
            *name = rivals[k].name;
        }
    }
    return best;
}

static int compare_problem(const rb_problem_entry *e, FILE *csv, FILE *report, rb_arena *arena,
                           double limit_s, tally *sum)
{
    const rb_problem *p = &e->problem;
    trial t[OURS];
    int single = SINGLE;
    const char *rival_name = NULL;
    double *z = calloc((size_t)p->n, sizeof *z), *dense = make_dense(p, arena);
    condensed c = { 0 };
    if (!z || !dense || !condense(p, dense, &c)) return 0;
    run_all_ours(e, &c.problem, csv, arena, limit_s, z, t, &single);
    trial best = run_all_rivals(e, csv, dense, limit_after(&t[PLAIN], limit_s), z, &rival_name);

    /* at equal residual: the target, or the better of the two where one misses it */
    int ahead = better(&t[PLAIN], &best, TARGET);
    sum->problems++;
    sum->solved += t[UNIQUE].grade <= TARGET;
    sum->above_1e6 += !(t[UNIQUE].grade <= 1e-6);
    sum->rivals_solved += best.grade <= TARGET;
    sum->ahead[0] += ahead;
    sum->ahead[1] += better(&t[UNIQUE], &best, TARGET);
    fprintf(report,
            "| %s | %d | %d | %.1e | %.1f | %.1e | %.1f | %s %.1e %.1f | %s | %.1e | %.1f | %.2f "
            "| %s |\n",
            e->name, p->dim, p->nc, t[PLAIN].grade, t[PLAIN].us, t[UNIQUE].grade, t[UNIQUE].us,
            our_ways[single].label, t[single].grade, t[single].us, rival_name, best.grade, best.us,
            best.us / t[PLAIN].us, ahead ? "yes" : "no");
    fflush(report);
    free(z);
    free(dense);
    condensed_free(&c);
    return 1;
}

int compare_friction(const char *folder, FILE *report, const char *file, double limit_s)
{
    char path[4096];
    rb_error err = { 0 };
    tally sum = { 0 };
    snprintf(path, sizeof path, "%s/friction.csv", folder);
    FILE *csv = fopen(path, "w");
    rb_arena *arena = rb_arena_new(NULL, (size_t)1 << 22);
    rb_problem_reader *reader = rb_problem_open(file, RB_FORMAT_FRICTION, NULL, &err);
    if (!csv || !arena || !reader) {
        fprintf(stderr, "compare: %s\n", reader ? "cannot write" : err.text);
        return 1;
    }
    fprintf(csv, "problem,contacts,side,solver,tol,state,residual,us\n");
    fprintf(
        report,
        "\n## Friction problems, residual in the measure of their README\n\n"
        "Target %.0e; times in us; Siconos: the best of its solvers, each with the "
        "loosest tolerance that meets the target in the common grade. A rival slower "
        "than %.0f times the best so far was not awaited. Global problems are condensed to W for "
        "both sides before the clock starts.\n\n"
        "| problem | dim | contacts | auto residual | auto us | unique residual | unique us | "
        "our best single solver "
        "| best Siconos | residual | us | Siconos / auto | auto ahead |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        TARGET, PATIENCE);
    for (int k = 0; k < MAX_PROBLEMS; k++) {
        rb_problem_entry *entry = NULL;
        rb_status status = rb_problem_next(reader, &entry, &err);
        if (status == RB_OK && !entry) break;
        if (status != RB_OK) {
            fprintf(stderr, "compare: %s:%d: %s\n", err.file, err.line, err.text);
            continue;
        }
        fprintf(stderr, "%s\n", entry->name);
        if (!compare_problem(entry, csv, report, arena, limit_s, &sum)) return 1;
        rb_problem_entry_free(entry);
    }
    fprintf(report,
            "\n%d problems: auto reaches the target on %d (above 1e-6: %d), Siconos' best on %d. "
            "auto is ahead on %d, with the choice of the unique answer on %d.\n",
            sum.problems, sum.solved, sum.above_1e6, sum.rivals_solved, sum.ahead[0], sum.ahead[1]);
    rb_problem_close(reader);
    rb_arena_free(arena);
    return fclose(csv) != 0;
}
