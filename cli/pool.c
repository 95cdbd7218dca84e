#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* How often a member looks for work before it sleeps, and how often who waits for the others does:
 * some ten microseconds. Fewer: shares of that length wait longer for a thread than they take. */
enum { LOOKS = 500 };

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
    atomic_uint round; /* of work, counted                 */
    atomic_int busy;   /* members that have not finished   */
    int started;       /* members with a thread            */
    atomic_int closing;
    member *members; /*                       (workers) */
};

static void pause_briefly(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#endif
}

/* Until there is another round than the one seen, or the pool closes. */
static void wait_for_round(pool *p, unsigned seen)
{
    for (int i = 0; i < LOOKS; i++) {
        if (atomic_load(&p->round) != seen || atomic_load(&p->closing)) return;
        pause_briefly();
    }
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->round) == seen && !atomic_load(&p->closing))
        pthread_cond_wait(&p->begun, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void *wait_for_work(void *argument)
{
    member *self = argument;
    pool *p = self->p;
    for (unsigned seen = 0;;) {
        wait_for_round(p, seen);
        if (atomic_load(&p->closing)) return NULL;
        seen = atomic_load(&p->round);
        p->task(p->work, self->k);
        if (atomic_fetch_sub(&p->busy, 1) > 1) continue;
        pthread_mutex_lock(&p->lock);
        pthread_cond_signal(&p->done);
        pthread_mutex_unlock(&p->lock);
    }
}

static void wait_for_members(pool *p)
{
    for (int i = 0; i < LOOKS && atomic_load(&p->busy) > 0; i++) pause_briefly();
    if (atomic_load(&p->busy) == 0) return;
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->busy) > 0) pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void run(void *ctx, void (*task)(void *work, int k), void *work)
{
    pool *p = ctx;
    p->task = task;
    p->work = work;
    atomic_store(&p->busy, p->started);
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->round, 1);
    pthread_cond_broadcast(&p->begun);
    pthread_mutex_unlock(&p->lock);
    task(work, 0);
    wait_for_members(p);
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
    atomic_store(&p->closing, 1);
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
