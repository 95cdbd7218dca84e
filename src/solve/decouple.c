#include "solve/decouple.h"

#include <string.h>

/* Breadth first: a row is compared only with rows that no island has yet, so that a connected
 * problem costs a few rows, not all of W. */
int rb_islands_find(const rb_boxed *b, rb_arena *scratch, int *label)
{
    int n = b->n, count = 0, left = n;
    rb_mark mark = rb_arena_mark(scratch);
    int *queue = rb_push(scratch, int, n);
    int *open = rb_push(scratch, int, n); /* rows without an island, ascending */
    if (!queue || !open) return -1;
    for (int i = 0; i < n; i++) open[i] = i;
    while (left > 0) {
        int head = 0, tail = 1;
        queue[0] = open[0];
        label[open[0]] = count;
        memmove(open, open + 1, (size_t)--left * sizeof *open);
        while (head < tail && left > 0) {
            int i = queue[head++], kept = 0;
            const double *W_i = b->W + (ptrdiff_t)i * n;
            for (int k = 0; k < left; k++) {
                int j = open[k];
                if (W_i[j] != 0.0 || b->W[(ptrdiff_t)j * n + i] != 0.0) {
                    label[j] = count;
                    queue[tail++] = j;
                } else {
                    open[kept++] = j;
                }
            }
            left = kept;
        }
        count++;
    }
    rb_arena_reset(scratch, mark);
    return count;
}

rb_status rb_island_extract(const rb_boxed *all, const int *label, int which, rb_arena *scratch,
                            rb_island *out)
{
    int n = all->n, m = 0;
    for (int i = 0; i < n; i++) m += label[i] == which;
    int *row = rb_push(scratch, int, m);
    if (!row) return RB_NOMEM;
    m = 0;
    for (int i = 0; i < n; i++) {
        if (label[i] == which) row[m++] = i;
    }
    return rb_island_of_rows(all, m, row, scratch, out);
}

rb_status rb_island_of_rows(const rb_boxed *all, int m, int *row, rb_arena *scratch, rb_island *out)
{
    int n = all->n;
    double *W = rb_push(scratch, double, (size_t)m *(size_t)m);
    double *v = rb_push(scratch, double, 5 * (size_t)m);
    out->row = row;
    out->mode = rb_push(scratch, unsigned char, m);
    if (!W || !v || !out->mode) return RB_NOMEM;
    double *q = v, *lo = v + m, *hi = v + 2 * m;
    out->z = v + 3 * m;
    out->ray = v + 4 * m;
    for (int i = 0; i < m; i++) {
        const double *W_i = all->W + (ptrdiff_t)out->row[i] * n;
        for (int j = 0; j < m; j++) W[(ptrdiff_t)i * m + j] = W_i[out->row[j]];
        q[i] = all->q[out->row[i]];
        lo[i] = all->lo[out->row[i]];
        hi[i] = all->hi[out->row[i]];
    }
    out->b = (rb_boxed){ .n = m, .W = W, .q = q, .lo = lo, .hi = hi };
    return rb_boxed_prepare(&out->b, scratch);
}

void rb_island_gather(const rb_island *s, const double *z, const unsigned char *mode)
{
    for (int i = 0; i < s->b.n; i++) {
        s->z[i] = z[s->row[i]];
        s->mode[i] = mode[s->row[i]];
    }
}

void rb_island_scatter(const rb_island *s, double *z, unsigned char *mode)
{
    for (int i = 0; i < s->b.n; i++) {
        z[s->row[i]] = s->z[i];
        mode[s->row[i]] = s->mode[i];
    }
}
