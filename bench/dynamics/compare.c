/* Forward dynamics of rattleback beside MuJoCo and Pinocchio: one process, one pinned core, the
 * same mechanism and the same random states for all. A time is the smallest average over the states
 * of many rounds, in which the engines take turns. Every answer is graded, see dynamics_grade.h.
 *
 * usage: compare_dynamics OUT MODULES MODEL...
 *     MODEL: name=file, +name=file with a floating base (URDF), or chain=links */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rattleback/dynamics.h"
#include "rattleback/load.h"
#include "dynamics_grade.h"
#include "others.h"
#include "robot.h"

enum { MOST_SIDES = 16, ROUNDS_LEAST = 12, ROUNDS_MOST = 400 };
#define MODEL_SECONDS 3.0 /* all engines together; more rounds where one is short */

typedef struct contest {
    int nside;
    const rb_side *sides[MOST_SIDES];
    FILE *csv, *table;
} contest;

typedef struct result {
    void *engine;
    double ns;       /* per call, smallest average */
    double residual; /* largest over the states    */
} result;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- timing ------------------------------------------------------------------------------------
 */

/* Average nanoseconds per call over all states, once. */
static double time_round(const rb_side *s, void *engine)
{
    double begin = now();
    for (int k = 0; k < RB_SIDE_STATES; k++) s->run(engine, k);
    return (now() - begin) * 1e9 / RB_SIDE_STATES;
}

static void measure(const contest *c, rb_grader *g, result *results)
{
    for (int i = 0; i < c->nside; i++) {
        result *r = &results[i];
        r->ns = INFINITY;
        r->engine = rb_grader_try(g, c->sides[i], &r->residual);
    }
    double begin = now();
    for (int round = 0; round < ROUNDS_MOST; round++) {
        if (round >= ROUNDS_LEAST && now() - begin > MODEL_SECONDS) break;
        for (int i = 0; i < c->nside; i++)
            if (results[i].engine)
                results[i].ns = fmin(results[i].ns, time_round(c->sides[i], results[i].engine));
    }
}

/* ---- report ------------------------------------------------------------------------------------
 */

static void put_heads(const contest *c)
{
    fputs("model,links,nv,engine,ns,ns_per_dof,residual\n", c->csv);
    fputs("| model | links | nv |", c->table);
    for (int i = 0; i < c->nside; i++) fprintf(c->table, " %s |", c->sides[i]->name);
    fputs("\n|---|---|---|", c->table);
    for (int i = 0; i < c->nside; i++) fputs("---|", c->table);
    fputc('\n', c->table);
}

static void put_row(const contest *c, const char *name, const rb_model *m, const result *results)
{
    fprintf(c->table, "| %s | %d | %d |", name, m->nlink - 1, m->nv);
    for (int i = 0; i < c->nside; i++) {
        if (!results[i].engine) {
            fputs(" - |", c->table);
            continue;
        }
        fprintf(c->table, " %.2f, %.0e |", 1e-3 * results[i].ns, results[i].residual);
        fprintf(c->csv, "%s,%d,%d,%s,%.1f,%.2f,%.2e\n", name, m->nlink - 1, m->nv,
                c->sides[i]->name, results[i].ns, results[i].ns / m->nv, results[i].residual);
    }
    fputc('\n', c->table);
    fflush(c->table);
}

/* ---- models ------------------------------------------------------------------------------------
 */

static rb_model *load(const char *path, int floating)
{
    rb_error err = { 0 };
    rb_load_opts opts = rb_load_opts_default();
    opts.skip_meshes = strstr(path, ".urdf") != NULL; /* only inertias count, and URDF gives them */
    opts.floating_base = floating;
    rb_spec *spec = rb_spec_read(path, &opts, NULL, &err);
    rb_model *m = spec ? rb_spec_compile(spec, NULL, &err) : NULL;
    rb_spec_free(spec);
    if (!m) fprintf(stderr, "%s:%d: %s\n", err.file, err.line, err.text);
    return m;
}

static int run_model(const contest *c, char *argument)
{
    char *value = strchr(argument, '=');
    if (!value) return 0;
    *value++ = '\0';
    int chain = strcmp(argument, "chain") == 0, floating = argument[0] == '+';
    rb_error err = { 0 };
    rb_model *m = chain ? rb_bench_chain(atoi(value), &err) : load(value, floating);
    if (!m) return 0;
    char name[64];
    snprintf(name, sizeof name, chain ? "%s %s" : "%s", argument + floating, value);
    fprintf(stderr, "%s\n", name);
    rb_grader g;
    if (!rb_grader_make(&g, m)) {
        rb_model_free(m, NULL);
        return 0;
    }
    result results[MOST_SIDES] = { 0 };
    measure(c, &g, results);
    put_row(c, name, m, results);
    for (int i = 0; i < c->nside; i++)
        if (results[i].engine) c->sides[i]->release(results[i].engine);
    rb_grader_free(&g);
    rb_model_free(m, NULL);
    return 1;
}

static void add_sides(contest *c, const rb_side *const *sides)
{
    for (; sides && *sides && c->nside < MOST_SIDES; sides++) c->sides[c->nside++] = *sides;
}

/* The modules of Pinocchio, separated by ':'; each was compiled with flags of its own and lives in
 * a namespace of its own: templates of one must never be run with the alignment of the other. */
static void add_modules(contest *c, char *list)
{
    for (char *path = strtok(list, ":"); path; path = strtok(NULL, ":")) {
        void *module = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
        const rb_side *const *(*sides)(void) = NULL;
        if (module) *(void **)&sides = dlsym(module, "pinocchio_sides");
        if (sides)
            add_sides(c, sides());
        else
            fprintf(stderr, "left out: %s\n", dlerror());
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fputs("usage: compare_dynamics OUT MODULES NAME=FILE|chain=LINKS...\n", stderr);
        return 2;
    }
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(0, &core);
    sched_setaffinity(0, sizeof core, &core);

    char path[4096];
    contest c = { 0 };
    add_sides(&c, rb_ours_sides);
    add_sides(&c, mujoco_sides);
    add_modules(&c, argv[2]);
    snprintf(path, sizeof path, "%s/dynamics.csv", argv[1]);
    c.csv = fopen(path, "w");
    snprintf(path, sizeof path, "%s/dynamics.md", argv[1]);
    c.table = fopen(path, "w");
    if (!c.csv || !c.table) {
        fprintf(stderr, "%s: cannot be written\n", path);
        return 2;
    }
    fprintf(c.table,
            "Microseconds per forward dynamics and largest residual; MuJoCo %s.\n"
            "Smallest average of at least %d rounds over %d random states, one core.\n\n",
            mujoco_version(), ROUNDS_LEAST, RB_SIDE_STATES);
    put_heads(&c);
    int failed = 0;
    for (int k = 3; k < argc; k++) failed += !run_model(&c, argv[k]);
    fclose(c.csv);
    fclose(c.table);
    return failed ? 1 : 0;
}
