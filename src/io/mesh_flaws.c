#include "io/mesh_flaws.h"

#include <stdio.h>
#include <stdlib.h>

/* An edge as lower vertex, upper vertex, and whether it is run along downwards. */
static uint64_t edge_key(int a, int b)
{
    uint64_t lo = (uint64_t)(a < b ? a : b), hi = (uint64_t)(a < b ? b : a);
    return lo << 32 | hi << 1 | (uint64_t)(a > b);
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void count(const uint64_t *key, size_t n, rb_io_flaws *out)
{
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && key[j] >> 1 == key[i] >> 1;) j++;
        if (j - i == 1) out->open++;
        if (j - i == 2 && key[i] == key[i + 1]) out->turned++;
        if (j - i > 2) out->crowded++;
    }
}

rb_status rb_io_mesh_flaws(const rb_mesh_def *mesh, const rb_alloc *alloc, rb_io_flaws *out)
{
    size_t n = 3 * (size_t)mesh->nface;
    *out = (rb_io_flaws){ 0 };
    if (n == 0) return RB_OK;
    uint64_t *key = alloc->alloc(alloc->ctx, n * sizeof *key);
    if (!key) return RB_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const int *face = mesh->face + i / 3 * 3;
        key[i] = edge_key(face[i % 3], face[(i + 1) % 3]);
    }
    qsort(key, n, sizeof *key, compare);
    count(key, n, out);
    alloc->release(alloc->ctx, key);
    return RB_OK;
}

void rb_io_flaws_text(const rb_io_flaws *flaws, char *text, size_t size)
{
    const int number[3] = { flaws->open, flaws->crowded, flaws->turned };
    static const char *const before[3] = { "open ", "", "" };
    static const char *const behind[3] = { "", " of more than two triangles",
                                           " between triangles that look to different sides" };
    size_t used = 0;
    if (size > 0) text[0] = '\0';
    for (int k = 0; k < 3; k++) {
        if (number[k] == 0 || used >= size) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%d %sedge%s%s", used ? ", " : "",
                                 number[k], before[k], number[k] == 1 ? "" : "s", behind[k]);
    }
}
