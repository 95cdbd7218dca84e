#include "pool.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct member {
    pool *p;
    int k;
    pthread_t thread;
} member;

struct pool {
    rb_parallel parallel;
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    void (*task)(void *work, int k);
    void *work;
    unsigned round; /* of work, counted                 */
    int busy;       /* members that have not finished   */
    int started;    /* members with a thread            */
    int closing;
    member *members; /*                       (workers) */
};

static void *wait_for_work(void *argument)
{
    member *self = argument;
    pool *p = self->p;
    unsigned seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->round == seen && !p->closing) pthread_cond_wait(&p->begun, &p->lock);
        if (p->closing) break;
        seen = p->round;
        pthread_mutex_unlock(&p->lock);
        p->task(p->work, self->k);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0) pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void run(void *ctx, void (*task)(void *work, int k), void *work)
{
    pool *p = ctx;
    pthread_mutex_lock(&p->lock);
    p->task = task;
    p->work = work;
    p->busy = p->started;
    p->round++;
    pthread_cond_broadcast(&p->begun);
    pthread_mutex_unlock(&p->lock);
    task(work, 0);
    pthread_mutex_lock(&p->lock);
    while (p->busy > 0) pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

pool *pool_new(int threads)
{
    pool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->begun, NULL);
    pthread_cond_init(&p->done, NULL);
    p->members = calloc((size_t)threads, sizeof *p->members);
    p->parallel.arena = calloc((size_t)threads, sizeof(rb_arena *));
    int ok = p->members && p->parallel.arena;
    for (int k = 0; k < threads && ok; k++) {
        p->members[k] = (member){ .p = p, .k = k };
        ok = (p->parallel.arena[k] = rb_arena_new(NULL, 0)) != NULL;
        p->parallel.workers = k + 1;
        if (k == 0 || !ok) continue;
        ok = pthread_create(&p->members[k].thread, NULL, wait_for_work, &p->members[k]) == 0;
        p->started += ok;
    }
    p->parallel.run = run;
    p->parallel.ctx = p;
    if (ok) return p;
    pool_free(p);
    return NULL;
}

void pool_free(pool *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->closing = 1;
    pthread_cond_broadcast(&p->begun);
    pthread_mutex_unlock(&p->lock);
    for (int k = 1; k <= p->started; k++) pthread_join(p->members[k].thread, NULL);
    for (int k = 0; k < p->parallel.workers; k++) rb_arena_free(p->parallel.arena[k]);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->begun);
    pthread_mutex_destroy(&p->lock);
    free(p->parallel.arena);
    free(p->members);
    free(p);
}

const rb_parallel *pool_parallel(const pool *p)
{
    return &p->parallel;
}
