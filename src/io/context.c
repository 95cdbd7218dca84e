#include "io/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The header of a piece; its alignment is that of the piece after it. */
struct rb_io_pool_block {
    struct rb_io_pool_block *next;
    max_align_t piece[];
};

rb_io_pool rb_io_pool_make(const rb_alloc *alloc)
{
    return (rb_io_pool){ .alloc = alloc ? *alloc : rb_alloc_default(), .head = NULL };
}

void rb_io_pool_free(rb_io_pool *pool)
{
    while (pool->head) {
        struct rb_io_pool_block *next = pool->head->next;
        pool->alloc.release(pool->alloc.ctx, pool->head);
        pool->head = next;
    }
}

void *rb_io_pool_take(rb_io_pool *pool, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX - sizeof(struct rb_io_pool_block)) / size) return NULL;
    size_t bytes = sizeof(struct rb_io_pool_block) + count * size;
    struct rb_io_pool_block *block = pool->alloc.alloc(pool->alloc.ctx, bytes);
    if (!block) return NULL;

    memset(block, 0, bytes);
    block->next = pool->head;
    pool->head = block;
    return block->piece;
}

static void fill(rb_error *err, rb_status status, int line, const char *field, const char *format,
                 va_list args)
{
    err->status = status;
    err->file[0] = '\0';
    err->line = line;
    int at = field ? snprintf(err->text, sizeof err->text, "%s: ", field) : 0;
    if (at < 0 || (size_t)at >= sizeof err->text) at = 0;
    vsnprintf(err->text + at, sizeof err->text - (size_t)at, format, args);

    /* parts of the file are quoted: nothing of it may reach a terminal as a control sequence */
    for (char *c = err->text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
}

rb_status rb_io_refuse(rb_io_context *ctx, rb_status status, const char *field, const char *format,
                       ...)
{
    if (!ctx->err) return status;
    va_list args;
    va_start(args, format);
    fill(ctx->err, status, ctx->line, field, format, args);
    va_end(args);
    return status;
}

rb_status rb_io_error_set(rb_error *err, rb_status status, const char *file, int line,
                          const char *format, ...)
{
    if (!err) return status;
    va_list args;
    va_start(args, format);
    fill(err, status, line, NULL, format, args);
    va_end(args);
    if (file) snprintf(err->file, sizeof err->file, "%s", file);
    return status;
}

static void *take(rb_io_context *ctx, rb_io_pool *pool, size_t count, size_t size)
{
    void *piece = rb_io_pool_take(pool, count, size);
    if (!piece)
        rb_io_refuse(ctx, RB_NOMEM, NULL, "out of memory for %zu items of %zu bytes", count, size);
    return piece;
}

void *rb_io_take_kept(rb_io_context *ctx, size_t count, size_t size)
{
    return take(ctx, &ctx->keep, count, size);
}

void *rb_io_take_scratch(rb_io_context *ctx, size_t count, size_t size)
{
    return take(ctx, &ctx->scratch, count, size);
}
