/* A fixed number of threads that wait for work: the `parallel` of the library. */
#ifndef RATTLEBACK_CLI_POOL_H
#define RATTLEBACK_CLI_POOL_H

#include "rattleback/step.h"

typedef struct pool pool;

/* NULL: out of memory or threads. The calling thread is one of them. */
pool *pool_new(int threads);
void pool_free(pool *p);
const rb_parallel *pool_parallel(const pool *p);

#endif
