#include <stdlib.h>

#include "rattleback/base.h"

static void *libc_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void *libc_resize(void *ctx, void *block, size_t size)
{
    (void)ctx;
    return realloc(block, size);
}

static void libc_release(void *ctx, void *block)
{
    (void)ctx;
    free(block);
}

rb_alloc rb_alloc_default(void)
{
    return (rb_alloc){ libc_alloc, libc_resize, libc_release, NULL };
}
