/* One simulation behind a handle, and what the batch needs of it. */
#ifndef RB_FLAT_SIM_H
#define RB_FLAT_SIM_H

#include <stdatomic.h>
#include <time.h>

#include "pool.h"
#include "rattleback/flat.h"
#include "rattleback/show.h"

/* Cancelling: the host is called by the calling thread some times a second; a flag is shared by all
 * threads of a batch. */
typedef struct flat_wait {
    rb_host *host;
    struct timespec last;
    atomic_int *stop; /* NULL: none */
    int asks;         /* 1: the calling thread may check */
    unsigned steps;   /* counted over calls                */
} flat_wait;

/* What every step touches lies together at the front: a thousand worlds do not fit the caches. */
struct rb_sim {
    const rb_model *m;
    rb_data *d;
    flat_wait wait;
    rb_replay *replay; /* that is recorded, not owned; NULL: none */
    pool *pool;        /* for the islands of a step, NULL: one thread */
    rb_step_opts opts;
    rb_step_info info;
    rb_error err;  /* its text is empty where its status is RB_OK */
    rb_model *own; /* a changed copy, or NULL */
    void *first;   /* memory of the first block: its arrays are used also when the data moves */
    void **home;   /* where the arrays of the data are, NULL: no array  (rb_flat_data_count) */
};

/* Field k of rb_data, and whether it is an array whose length is that of the model. */
const rb_field *flat_data_field(int k);
int flat_is_steady(int k);

/* Room for n constraints; arrays keep their addresses. */
rb_status flat_sim_reserve(rb_sim *s, int n);

/* A simulation at the reference configuration, not settled. */
rb_sim *flat_sim_new(const rb_model *m, const rb_step_opts *opts);

/* Array k of rb_data moves to `to`, with its contents. */
void flat_sim_place(rb_sim *s, int k, void *to);

#endif
