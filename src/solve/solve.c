/* One solve: check the problem, run the solver, choose among several answers, certify. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/meter.h"
#include "solve/internal.h"

rb_solve_opts rb_solve_opts_default(void)
{
    return (
        rb_solve_opts){ .solver = &rb_solver_auto, .tol = 1e-9, .max_iter = 100000, .unique = 1 };
}

void rb_path_add(rb_info *info, const char *word)
{
    const char *parts[2] = { info->path[0] ? " > " : "", word };
    size_t used = strlen(info->path), room = sizeof info->path - 1;
    for (int k = 0; k < 2; k++) {
        for (const char *c = parts[k]; *c && used < room; c++) info->path[used++] = *c;
    }
    info->path[used] = '\0';
    info->tried++;
}

const char *rb_rung_name(int rung)
{
    static const char *const names[RB_RUNG_COUNT] = {
        "trivial",  "warm",      "exchange", "lemke-warm", "lemke", "lemke-twofold",
        "homotopy", "enumerate", "sweep",    "newton",     "path",  "path-twofold",
        "interior", "leaps",     "pyramid",  "admm",       "nsgs"
    };
    return rung >= 0 && rung < RB_RUNG_COUNT ? names[rung] : "?";
}

static void start_info(rb_info *info)
{
    unsigned char *mode = info->mode;
    double *ray = info->ray;
    *info = (rb_info){ .mode = mode, .ray = ray, .islands = 1, .bad_row = -1 };
}

/* The caller's guess if it is one, else zero moved into the box. */
static void start_guess(const rb_problem *p, int warm, double *z)
{
    for (int i = 0; i < p->n; i++) {
        if (!warm || !isfinite(z[i])) z[i] = 0.0;
        if (p->kind == RB_BOX) z[i] = fmin(fmax(z[i], p->lo[i]), p->hi[i]);
    }
}

/* Runs the choice among several answers on a copy, and keeps it only if it is certified. */
static rb_status choose(const rb_problem *p, const rb_solve_opts *o, rb_arena *arena, double *z,
                        rb_info *info)
{
    size_t modes = (size_t)(p->kind == RB_CONE ? p->nc : p->n);
    double *chosen = rb_push(arena, double, p->n);
    unsigned char *mode = rb_push(arena, unsigned char, modes);
    if (!chosen || !mode) return RB_NOMEM;
    memcpy(chosen, z, (size_t)p->n * sizeof *z);
    memcpy(mode, info->mode, modes);
    rb_status status = p->kind == RB_CONE ? rb_cone_uniform(p, o, arena, chosen, info)
                                          : rb_lcp_uniform(p, o, arena, chosen, info);
    int changed = info->unique != RB_UNIQUE_PLAIN || p->kind == RB_CONE;
    rb_certificate cert = { .relative = INFINITY };
    if (status == RB_OK && changed) status = rb_residual(p, chosen, arena, &cert);
    if (status != RB_OK) return status;
    if (cert.relative <= o->tol) {
        memcpy(z, chosen, (size_t)p->n * sizeof *z);
        info->cert = cert;
        return RB_OK;
    }
    if (changed) info->unique = RB_UNIQUE_NOT;
    memcpy(info->mode, mode, modes);
    return RB_OK;
}

static rb_status run(const rb_problem *p, const rb_solve_opts *o, rb_arena *arena, double *z,
                     rb_info *info)
{
    start_info(info);
    start_guess(p, o->warm, z);
    rb_status status = o->solver->solve(p, o, arena, z, info);
    if (status == RB_OK) status = rb_residual(p, z, arena, &info->cert);
    if (status != RB_OK) return status;

    /* no solver grades its own work */
    int is_ray = info->outcome == RB_RAY && info->ray && rb_ray_check(p, info->ray) > 0;
    info->outcome = info->cert.relative <= o->tol ? RB_SOLVED : is_ray ? RB_RAY : RB_FAILED;
    int open = info->unique == RB_UNIQUE_OFF;
    if (info->outcome == RB_SOLVED && o->unique && open) return choose(p, o, arena, z, info);
    return RB_OK;
}

rb_status rb_solve(const rb_problem *p, const rb_solve_opts *o, double *z, rb_info *info)
{
    rb_solve_opts usual;
    if (!o) usual = rb_solve_opts_default();
    if (!o) o = &usual;
    if (!o->solver || !(o->tol > 0.0) || o->max_iter < 1) return RB_BAD_INPUT;
    rb_status status = rb_problem_check(p, NULL);
    if (status != RB_OK) return status;
    if (!(o->solver->accepts & p->kind)) return RB_UNSUPPORTED;
    rb_arena *arena = o->arena ? o->arena : rb_arena_new(o->alloc, 0);
    if (!arena) return RB_NOMEM;
    rb_mark mark = rb_arena_mark(arena);

    /* a ray needs memory even where the caller does not want it */
    double *ray = info->ray;
    if (!ray) info->ray = rb_push(arena, double, p->n);
    unsigned char *mode = info->mode;
    if (!mode) {
        info->mode = rb_push(arena, unsigned char, p->n);
        if (info->mode) memset(info->mode, RB_MODE_UNKNOWN, (size_t)p->n);
    }
    status = info->ray && info->mode ? run(p, o, arena, z, info) : RB_NOMEM;
    info->ray = ray;
    info->mode = mode;
    if (rb_meter_stopped(arena->meter)) status = arena->meter->stopped;

    rb_arena_reset(arena, mark);
    if (!o->arena) rb_arena_free(arena);
    return status;
}

rb_status rb_lcp_solve(const rb_problem *p, const rb_solve_opts *o, double *z, rb_info *info)
{
    return p->kind == RB_CONE ? RB_UNSUPPORTED : rb_solve(p, o, z, info);
}

rb_status rb_cone_solve(const rb_problem *p, const rb_solve_opts *o, double *r, rb_info *info)
{
    return p->kind == RB_CONE ? rb_solve(p, o, r, info) : RB_UNSUPPORTED;
}
