/* What the readers share: where they are, where memory comes from, how they refuse. */
#ifndef RATTLEBACK_SRC_IO_CONTEXT_H
#define RATTLEBACK_SRC_IO_CONTEXT_H

#include <jansson.h>

#include "rattleback/io.h"

/* Pieces from one allocator that are all given back together. */
typedef struct rb_io_pool {
    rb_alloc alloc;
    struct rb_io_pool_block *head;
} rb_io_pool;

rb_io_pool rb_io_pool_make(const rb_alloc *alloc); /* NULL: libc */
void rb_io_pool_free(rb_io_pool *pool);

/* count * size bytes, zeroed; NULL where the product overflows or the allocator refuses. A count
 * of 0 gives a valid pointer. */
void *rb_io_pool_take(rb_io_pool *pool, size_t count, size_t size);

/* One line on its way to a problem. */
typedef struct rb_io_context {
    rb_io_pool keep;    /* becomes the entry's memory                                             */
    rb_io_pool scratch; /* given back when the line is done                                       */
    int line;
    rb_error *err; /* may be NULL                                                             */
} rb_io_context;

/* Fills ctx->err with "field: sentence" and returns `status`. */
rb_status rb_io_refuse(rb_io_context *ctx, rb_status status, const char *field, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

/* The same without a context, for files and writers. */
rb_status rb_io_error_set(rb_error *err, rb_status status, const char *file, int line,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Memory, or RB_NOMEM said in ctx->err. */
void *rb_io_take_kept(rb_io_context *ctx, size_t count, size_t size);
void *rb_io_take_scratch(rb_io_context *ctx, size_t count, size_t size);

#endif
