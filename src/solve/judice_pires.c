/* Block principal pivoting [Judice & Pires 1994] on boxed and mixed problems, eqs. (P.6), (P.7).
 *
 *     solve the partition; H = rows with a wrong sign
 *     H empty: done.  Fewer than ever, or patience left: exchange all of H.  Else only min(H).
 *
 * For P-matrices the single exchanges (Murty's least-index rule) make it finite. Contact problems
 * are not P: a singular block loses its dependent rows, a partition that comes back ends it. Cold
 * it needs many factorisations; warm, one or two. */
#include "solve/judice_pires.h"

#include <string.h>

#include "solve/internal.h"

/* A sign is wrong beyond this [1], in scaled units, eq. (P.6). */
#define SIGN_TOL 1e-12

/* Block exchanges without progress before single ones; 3 to 10 are customary. */
enum { PATIENCE = 5 };

static void exchange(rb_partition *t, const unsigned char *wrong, int only_first)
{
    for (int i = 0; i < t->n; i++) {
        if (!wrong[i]) continue;
        t->set[i] = wrong[i];
        if (only_first) return;
    }
}

/* Brent's cycle detection over the partitions of the single exchanges. */
typedef struct memory {
    uint64_t saved;
    int seen, next;
} memory;

static int seen_before(memory *m, uint64_t state)
{
    if (m->seen > 0 && state == m->saved) return 1;
    if (++m->seen >= m->next) {
        m->saved = state;
        m->next *= 2;
    }
    return 0;
}

rb_status rb_exchange_run(rb_exchange_job *job, rb_arena *scratch)
{
    const rb_boxed *b = job->b;
    rb_partition *t = job->t;
    rb_mark mark = rb_arena_mark(scratch);
    unsigned char *wrong = rb_push(scratch, unsigned char, b->n);
    if (!wrong) return RB_NOMEM;
    memory seen = { .next = 1 };
    int patience = job->blocks;
    double tol = job->sign_tol > 0.0 ? job->sign_tol : SIGN_TOL;
    job->wrong = b->n + 1;
    job->end = RB_EXCHANGE_LIMIT;
    for (job->steps = 0; job->steps < job->max_steps;) {
        job->steps += 1 + rb_partition_solve_dropping(b, job->shift, t);
        int count = rb_partition_wrong(b, t, tol, wrong);
        if (count < job->wrong) {
            job->wrong = count;
            patience = job->blocks;
            seen = (memory){ .next = 1 };
            if (job->best_set) memcpy(job->best_set, t->set, (size_t)b->n);
        } else {
            patience--;
        }
        if (count == 0) {
            job->end = RB_EXCHANGE_SOLVED;
            break;
        }
        int single = patience <= 0;
        if (single && (!job->single || seen_before(&seen, rb_partition_hash(t->set, b->n)))) {
            job->end = RB_EXCHANGE_CYCLE;
            break;
        }
        exchange(t, wrong, single);
    }
    rb_arena_reset(scratch, mark);
    return RB_OK;
}

rb_status rb_exchange_solve(const rb_problem *p, const rb_solve_opts *o, int blocks,
                            rb_arena *scratch, double *z, rb_info *info)
{
    rb_boxed b;
    rb_partition t;
    rb_status status = rb_boxed_view(p, scratch, &b);
    if (status == RB_OK) status = rb_partition_make(p->n, scratch, &t);
    unsigned char *best = rb_push(scratch, unsigned char, p->n);
    if (status != RB_OK || !best) return status != RB_OK ? status : RB_NOMEM;

    rb_partition_guess(&b, o->warm ? info->mode : NULL, o->warm ? z : NULL, t.set);
    rb_exchange_job job = {
        .b = &b, .t = &t, .best_set = best, .max_steps = o->max_iter, .blocks = blocks, .single = 1
    };
    status = rb_exchange_run(&job, scratch);
    if (status != RB_OK) return status;

    /* the partition that was right, or the least wrong one */
    memcpy(t.set, best, (size_t)p->n);
    rb_partition_solve_dropping(&b, NULL, &t);
    rb_measure m = rb_partition_polish(&b, &t);
    rb_partition_rcond(&b, &t);
    info->rcond = t.rcond;
    info->iterations = job.steps;
    info->factorisations = job.steps + 1;
    rb_boxed_finish(&b, o->tol, m, t.z, info);
    rb_path_add(info, job.end == RB_EXCHANGE_SOLVED  ? "exchanges"
                      : job.end == RB_EXCHANGE_CYCLE ? "exchanges cycle"
                                                     : "exchange limit");
    memcpy(z, t.z, (size_t)p->n * sizeof *z);
    if (info->mode) memcpy(info->mode, t.set, (size_t)p->n);
    return RB_OK;
}

static rb_status solve_judice_pires(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch,
                                    double *z, rb_info *info)
{
    return rb_exchange_solve(p, o, PATIENCE, scratch, z, info);
}

const rb_solver rb_solver_judice_pires = { "judice-pires",
                                           "block principal pivoting, least-index fallback; "
                                           "P-matrices, boxed and mixed",
                                           RB_LCP | RB_BOX, solve_judice_pires };
