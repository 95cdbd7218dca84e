/* Friction LCPs of the corpus: our Lemke, with and without the choice of the uniform-compliance
 * answer, against the Lemke of Siconos; and our warm re-solve against our cold solve. */
#include "harness.h"

#include "corpus.h"
#include "corpus_grade.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOL        1e-9 /* relative natural residual of a certified answer */
#define PERTURB    0.01
#define FIRST_SEED 20000
#define REPEATS    7
#define BUDGET_S   0.5
#define LIMIT_S    20.0

/* Warm and cold on the changed problem come in pairs. */
enum {
    LEMKE = 0,
    LEMKE_UNIQUE,
    SICONOS,
    SICONOS_PIVOT,
    COLD,
    WARM,
    PAIRS = 3,
    WAYS = COLD + 2 * PAIRS
};

static const char *const way_name[WAYS] = { "lemke",           "lemke-unique", "siconos-lemke",
                                            "siconos-pivot",   "cold-lemke",   "warm-lemke",
                                            "cold-auto",       "warm-auto",    "cold-auto-unique",
                                            "warm-auto-unique" };

static const struct pair {
    const char *solver;
    int unique;
} pairs[PAIRS] = { { "lemke", 0 }, { "auto", 0 }, { "auto", 1 } };

static const int sizes[] = { 4, 8, 16, 32 };

static int certified(const trial *t)
{
    return t->state == TRIAL_RAN && t->grade <= TOL;
}

/* Ours, by name; start NULL = cold. */
static trial run_ours(const char *name, int unique, const rb_problem *p, rb_arena *arena,
                      const double *start, const unsigned char *mode, double *z)
{
    static unsigned char scratch[8192];
    ours o = { .problem = p, .start = start, .start_mode = mode, .mode = scratch };
    o.opts = rb_solve_opts_default();
    o.opts.solver = rb_solver_find(name);
    o.opts.tol = TOL;
    o.opts.unique = unique;
    o.opts.arena = arena;
    o.opts.warm = start != NULL;
    trial_limits limits = { REPEATS, BUDGET_S, LIMIT_S };
    return trial_run(ours_solve, &o, p, limits, z);
}

static trial run_siconos(const rb_problem *p, int pivot_code, double *z)
{
    size_t n = (size_t)p->n;
    siconos_lcp s = { p, malloc(n * n * sizeof(double)), pivot_code };
    if (!s.column_major) return (trial){ TRIAL_CRASHED, INFINITY, INFINITY, 0 };
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) s.column_major[j * n + i] = p->W.dense[i * n + j];
    trial_limits limits = { REPEATS, BUDGET_S, LIMIT_S };
    trial t = trial_run(siconos_lcp_solve, &s, p, limits, z);
    free(s.column_major);
    return t;
}

/* An answer and its modes to start from; 0 where there is none. */
static int prepare_start(const struct pair *way, const rb_problem *p, rb_arena *arena, double *z,
                         unsigned char *mode)
{
    rb_solve_opts opts = rb_solve_opts_default();
    rb_info info = { .mode = mode };
    opts.solver = rb_solver_find(way->solver);
    opts.unique = way->unique;
    opts.tol = TOL;
    opts.arena = arena;
    memset(z, 0, (size_t)p->n * sizeof *z);
    memset(mode, 0, (size_t)p->n);
    return rb_solve(p, &opts, z, &info) == RB_OK && info.outcome == RB_SOLVED;
}

/* All ways of one problem. */
static int run_problem(uint64_t seed, int contacts, rb_arena *arena, trial *t, int *n, char *name)
{
    rb_corpus_opts opts = rb_corpus_opts_default();
    rb_corpus_problem p = { 0 }, changed = { 0 };
    opts.family = (int)(seed % RB_CORPUS_FAMILIES);
    opts.form = RB_CORPUS_ST4_V;
    opts.contacts = contacts;
    if (rb_corpus_make(seed, &opts, &p) != RB_OK) return 0;
    if (rb_corpus_perturb(&p, PERTURB, &changed) != RB_OK) {
        rb_corpus_free(&p);
        return 0;
    }
    *n = p.problem.n;
    memcpy(name, p.name, sizeof p.name);
    double *z = calloc(2 * (size_t)*n, sizeof *z), *start = z + *n;
    unsigned char *mode = calloc((size_t)*n, 1);
    int ok = z && mode;
    if (ok) {
        t[LEMKE] = run_ours("lemke", 0, &p.problem, arena, NULL, NULL, z);
        t[LEMKE_UNIQUE] = run_ours("lemke", 1, &p.problem, arena, NULL, NULL, z);
        t[SICONOS] = run_siconos(&p.problem, 0, z);
        t[SICONOS_PIVOT] = run_siconos(&p.problem, 1, z);
        for (int k = 0; k < PAIRS; k++) {
            const rb_problem *q = &changed.problem;
            const struct pair *way = &pairs[k];
            trial *cold = &t[COLD + 2 * k], *warm = &t[WARM + 2 * k];
            *cold = run_ours(way->solver, way->unique, q, arena, NULL, NULL, z);
            *warm = (trial){ TRIAL_CRASHED, INFINITY, INFINITY, 0 };
            if (prepare_start(way, &p.problem, arena, start, mode))
                *warm = run_ours(way->solver, way->unique, q, arena, start, mode, z);
        }
    }
    free(z);
    free(mode);
    rb_corpus_free(&p);
    rb_corpus_free(&changed);
    return ok;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int count)
{
    if (count == 0) return NAN;
    qsort(x, (size_t)count, sizeof *x, by_size);
    return x[count / 2];
}

/* Median over the problems that both ways certified: the times and their ratio. */
static int pair_medians(trial (*all)[WAYS], int problems, int a, int b, double out[3])
{
    double *x = calloc((size_t)problems * 3 + 1, sizeof *x);
    int count = 0;
    for (int i = 0; x && i < problems; i++)
        if (certified(&all[i][a]) && certified(&all[i][b])) {
            x[count] = all[i][a].us;
            x[problems + count] = all[i][b].us;
            x[2 * problems + count++] = all[i][b].us / all[i][a].us;
        }
    for (int k = 0; x && k < 3; k++) out[k] = median(x + k * problems, count);
    free(x);
    return count;
}

static void report_cold(FILE *report, int contacts, int n, trial (*all)[WAYS], int problems)
{
    int missed[4] = { 0 };
    for (int i = 0; i < problems; i++)
        for (int k = 0; k < 4; k++) missed[k] += !certified(&all[i][k]);
    double off[3], on[3], pivot[3];
    int both = pair_medians(all, problems, LEMKE, SICONOS, off);
    int both_pivot = pair_medians(all, problems, LEMKE, SICONOS_PIVOT, pivot);
    pair_medians(all, problems, LEMKE_UNIQUE, SICONOS, on);
    fprintf(report,
            "| %d | %d | %d | %d / %d / %d / %d | %d | %.1f | %.1f | %.1f | %.2f | %.2f | %d | "
            "%.1f | %.2f |\n",
            contacts, n, problems, missed[LEMKE], missed[LEMKE_UNIQUE], missed[SICONOS],
            missed[SICONOS_PIVOT], both, off[0], on[0], off[1], off[2], on[2], both_pivot, pivot[1],
            pivot[2]);
}

static void report_warm(FILE *report, int contacts, int n, trial (*all)[WAYS], int problems)
{
    fprintf(report, "| %d | %d |", contacts, n);
    for (int k = 0; k < PAIRS; k++) {
        double us[3];
        int both = pair_medians(all, problems, WARM + 2 * k, COLD + 2 * k, us);
        fprintf(report, " %d | %.1f | %.1f | %.2f |", both, us[1], us[0], us[2]);
    }
    for (int k = 1; k < PAIRS; k++) {
        double us[3];
        pair_medians(all, problems, WARM + 2 * k, COLD, us);
        fprintf(report, " %.2f |", us[2]);
    }
    fprintf(report, "\n");
}

int compare_lcp(const char *folder, FILE *report, int problems)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lcp.csv", folder);
    FILE *csv = fopen(path, "w");
    trial(*all)[WAYS] = calloc((size_t)problems * 4, sizeof *all);
    rb_arena *arena = rb_arena_new(NULL, (size_t)1 << 22);
    if (!csv || !all || !arena) return 1;
    int n[4] = { 0 };
    fprintf(csv, "contacts,n,problem,way,state,residual,us\n");
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < problems; i++) {
            char name[64] = "";
            trial *t = all[s * problems + i];
            uint64_t seed = FIRST_SEED + (uint64_t)(1000 * s + i);
            if (!run_problem(seed, sizes[s], arena, t, &n[s], name)) return 1;
            for (int k = 0; k < WAYS; k++)
                fprintf(csv, "%d,%d,%s,%s,%s,%.3e,%.3f\n", sizes[s], n[s], name, way_name[k],
                        trial_name(t[k].state), t[k].grade, t[k].us);
        }

    fprintf(report,
            "## Cold Lemke on friction LCPs (4 directions, velocity level)\n\n"
            "Certified: relative natural residual <= %.0e, graded by one program. Times "
            "are medians in us over the problems that both certified; ratio = median of "
            "Siconos / ours. Siconos has two: lexicographic Lemke, and the Lemke rule of "
            "its pivoting code.\n\n"
            "| contacts | n | problems | not certified: ours / ours unique / siconos / "
            "siconos pivot | both | ours | ours unique | siconos | ratio | ratio unique | "
            "both (pivot) | siconos pivot | ratio |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
            TOL);
    for (int s = 0; s < 4; s++) report_cold(report, sizes[s], n[s], all + s * problems, problems);
    fprintf(report, "\n## Warm certified re-solve after a change of 1 %%\n\n"
                    "Ratio = median of cold / warm, both on the changed problem; the last two are "
                    "cold lemke / warm auto and cold lemke / warm auto unique.\n\n"
                    "| contacts | n | lemke: both | cold | warm | ratio | auto: both | cold | warm "
                    "| ratio | auto unique: both | cold | warm | ratio | to auto | to unique |\n"
                    "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int s = 0; s < 4; s++) report_warm(report, sizes[s], n[s], all + s * problems, problems);
    rb_arena_free(arena);
    free(all);
    return fclose(csv) != 0;
}
