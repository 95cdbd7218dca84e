/* Each island is written by the formulation, solved, certified, read back. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "step/stage.h"

/* What the island starts from: free velocities, and the answer of the step before. */
static void fill(const rb_stage *s, rb_island *island)
{
    for (int i = 0; i < island->n; i++) {
        const rb_constraint *c = island->c[i];
        int row = island->row[i];
        size_t bytes = (size_t)c->nrow * sizeof *island->u;
        memcpy(island->u + row, s->u + c->row, bytes);
        memcpy(island->bias + row, s->bias + c->row, bytes);
        memcpy(island->u_before + row, s->u_before + c->row, bytes);
        const rb_touch *touch = s->o->cold ? NULL : rb_touch_find(s->d, &c->id);
        if (!touch || touch->nrow != c->nrow) continue;
        memcpy(island->p_prev + row, touch->p, bytes);
        island->mode_prev[i] = (unsigned char)touch->mode;
    }
}

static double island_mass(const rb_stage *s, int index)
{
    double mass = 0.0;
    for (int k = 1; k < s->m->nlink; k++) {
        int tree = s->m->link_tree[k];
        if (tree >= 0 && s->set.tree_island[tree] == index) mass += s->m->link_mass[k];
    }
    return mass;
}

static void take(rb_stage *s, const rb_island *island)
{
    for (int i = 0; i < island->n; i++) {
        const rb_constraint *c = island->c[i];
        memcpy(s->p + c->row, island->p + island->row[i], (size_t)c->nrow * sizeof *s->p);
        s->mode[c - s->set.c] = island->mode[i];
    }
}

static void note(rb_stage *s, const rb_info *solved, int rows)
{
    rb_step_info *info = s->info;
    info->solves++;
    info->rows += rows;
    info->fallbacks += solved->outcome == RB_SOLVED && strchr(solved->path, '>') != NULL;
    for (int k = 0; k < RB_RUNG_COUNT; k++) info->rungs[k] += solved->rungs[k];
    info->velocity_residual = fmax(info->velocity_residual, solved->cert.velocity);
    if (solved->cert.relative < info->residual) return;
    info->residual = solved->cert.relative;
    memcpy(info->path, solved->path, sizeof info->path);
}

static rb_status solve_problem(rb_stage *s, rb_written *written)
{
    rb_solve_opts opts = rb_solve_opts_default();
    opts.solver = s->o->solver;
    opts.tol = s->o->tol;
    opts.warm = !s->o->cold;
    opts.arena = s->d->arena;
    rb_info solved = { .mode = written->mode };
    rb_status status = rb_solve(&written->problem, &opts, written->z, &solved);
    if (status != RB_OK) return status;
    note(s, &solved, written->problem.n);
    if (solved.outcome == RB_SOLVED) return RB_OK;
    return rb_fail(s->err, RB_UNSOLVED, "%d rows, residual %.1e after %s", written->problem.n,
                   solved.cert.relative, solved.path);
}

static rb_status solve_island(rb_stage *s, int index)
{
    rb_island island;
    rb_written written;
    rb_arena *arena = s->d->arena;
    rb_status status = rb_island_open(s->m, s->d, &s->set, index, s->h, arena, &island);
    if (status != RB_OK) return status;
    fill(s, &island);
    island.weight = s->h * s->gravity * island_mass(s, index);
    status = s->o->formulation->write(&island, s->o, arena, &written);
    if (status != RB_OK) return status;
    if (s->o->sink.take && written.problem.n > 0) {
        char name[64];
        rb_stage_name(s, index, name, sizeof name);
        if (s->o->sink.take(s->o->sink.ctx, name, &written.problem) != 0) return RB_FILE;
    }
    if (written.problem.n > 0) status = solve_problem(s, &written);
    if (status != RB_OK) return status;
    s->o->formulation->read(&written, &island);
    take(s, &island);
    return RB_OK;
}

rb_status rb_stage_solve(rb_stage *s)
{
    rb_arena *arena = s->d->arena;
    s->info->islands = s->set.nisland;
    for (int i = 0; i < s->set.nisland; i++) {
        rb_mark mark = rb_arena_mark(arena);
        rb_status status = solve_island(s, i);
        rb_arena_reset(arena, mark);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}
