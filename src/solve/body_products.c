#include "solve/body_products.h"

#include <string.h>

#include "math/eight.h"
#include "math/lanes.h"
#include "math/vector.h"

enum { WIDE = 8, HIGH = 4, ENTRY = 24, BLOCK = 6 * WIDE };

/* Contacts from which on products are shared out. Fewer: pauses take longer. */
enum { SHARED = 800 };

/* Contacts of the same blocks in a row, from c on. */
static int run_of(const rb_bodies *b, int c)
{
    int end = c + 1, n = b->first[c + 1] - b->first[c];
    while (end < b->nc && b->first[end + 1] - b->first[end] == n &&
           memcmp(b->block + b->first[end], b->block + b->first[c], (size_t)n * sizeof(int)) == 0)
        end++;
    return end - c;
}

static int entries_of(const rb_products *y, int run)
{
    const int *first = y->b->first + y->run[run];
    return first[1] - first[0];
}

/* Runs, and which of them touch a block. */
static rb_status list_runs(rb_products *y, rb_arena *scratch)
{
    const rb_bodies *b = y->b;
    int parts = 0;
    y->run = rb_push(scratch, int, b->nc + 1);
    y->of = rb_push(scratch, int, b->nb + 2);
    if (!y->run || !y->of) return RB_NOMEM;
    for (int c = 0; c < b->nc; c += run_of(b, c)) y->run[y->nrun++] = c;
    y->run[y->nrun] = b->nc;
    memset(y->of, 0, ((size_t)b->nb + 2) * sizeof *y->of);
    for (int k = 0; k < y->nrun; k++) {
        int e = b->first[y->run[k]], n = entries_of(y, k);
        for (int i = 0; i < n; i++) y->of[b->block[e + i] + 2]++;
        parts += n;
    }
    for (int i = 0; i < b->nb; i++) y->of[i + 2] += y->of[i + 1];
    y->part = rb_push(scratch, int, 2 * (size_t)parts);
    if (!y->part) return RB_NOMEM;
    for (int k = 0; k < y->nrun; k++) {
        int e = b->first[y->run[k]], n = entries_of(y, k);
        for (int i = 0; i < n; i++) {
            int *part = y->part + 2 * (ptrdiff_t)y->of[b->block[e + i] + 1]++;
            part[0] = k;
            part[1] = i;
        }
    }
    return RB_OK;
}

static void share_out(rb_products *y, const rb_team *team)
{
    const rb_bodies *b = y->b;
    int n = b->nc >= SHARED ? rb_team_size(team) : 1, run = 0, body = 0;
    y->team = n > 1 ? team : NULL;
    y->members = n;
    for (int k = 0; k <= n; k++) {
        while (run < y->nrun && y->run[run] < (double)b->nc * k / n) run++;
        while (body < b->nb && y->of[body] < (double)y->of[b->nb] * k / n) body++;
        y->runs[k] = run;
        y->contacts[k] = y->run[run];
        y->bodies[k] = body;
    }
}

rb_status rb_products_make(rb_bodies *b, rb_arena *scratch, rb_products *out)
{
    size_t entries = (size_t)b->first[b->nc];
    *out = (rb_products){ .b = b };
    out->row = rb_push(scratch, double, ENTRY *entries);
    out->col = rb_push(scratch, double, ENTRY *entries);
    size_t most = 0;
    for (int c = 0; c < b->nc; c++) {
        size_t n = (size_t)(b->first[c + 1] - b->first[c]);
        if (n > most) most = n;
    }
    out->blocks = rb_push(scratch, double, BLOCK *most *most);
    if (!out->row || !out->col || !out->blocks) return RB_NOMEM;
    rb_status status = list_runs(out, scratch);
    if (status != RB_OK) return status;
    share_out(out, scratch->team);
    memset(out->row, 0, ENTRY * entries * sizeof *out->row);
    memset(out->col, 0, ENTRY * entries * sizeof *out->col);
    for (size_t e = 0; e < entries; e++) {
        for (size_t i = 0; i < 3; i++) {
            for (size_t l = 0; l < 6; l++) {
                double y = b->Y[18 * e + 6 * i + l];
                out->row[ENTRY * e + WIDE * i + l] = y;
                out->col[ENTRY * e + HIGH * l + i] = y;
            }
        }
    }
    return RB_OK;
}

/* ---- products ---------------------------------------------------------------------------------
 */

/* Most entries that are taken along a run: two free bodies. */
enum { FEW = 2 };

/* Contacts begin .. end - 1 of the same n entries. */
RB_INLINE void run_to_contacts(const rb_products *y, int begin, int end, const double *v,
                               double *const u[3], int n)
{
    const rb_bodies *b = y->b;
    double of[6 * FEW], sums[HIGH];
    for (int i = 0; i < n; i++)
        memcpy(of + 6 * i, v + 6 * (ptrdiff_t)b->block[b->first[begin] + i], 6 * sizeof *v);
    const double *col = y->col + ENTRY * (ptrdiff_t)b->first[begin];
    for (int c = begin; c < end; c++, col += ENTRY * n) {
        rb_lanes sum, x;
        rb_lanes_load(col, &x);
        rb_lanes_times(of[0], &x, &sum);
        for (int l = 1; l < 6 * n; l++) {
            rb_lanes_load(col + HIGH * l, &x);
            rb_lanes_more(&sum, of[l], &x);
        }
        rb_lanes_store(&sum, sums);
        for (int i = 0; i < 3; i++) u[i][c] = sums[i];
    }
}

RB_INLINE void to_contact(const rb_products *y, int c, const double *v, double *const u[3])
{
    const rb_bodies *b = y->b;
    double sum[HIGH] = { 0.0 };
    for (int e = b->first[c]; e < b->first[c + 1]; e++) {
        const double *col = y->col + ENTRY * (ptrdiff_t)e;
        const double *v_e = v + 6 * (ptrdiff_t)b->block[e];
        for (int l = 0; l < 6; l++) {
            for (int i = 0; i < HIGH; i++) sum[i] += col[HIGH * l + i] * v_e[l];
        }
    }
    for (int i = 0; i < 3; i++) u[i][c] = sum[i];
}

RB_VECTOR static void runs_to_contacts(const rb_products *y, int from, int to, const double *v,
                                       double *const u[3])
{
    for (int k = from; k < to; k++) {
        int begin = y->run[k], end = y->run[k + 1];
        int n = y->b->first[begin + 1] - y->b->first[begin];
        if (n == 1)
            run_to_contacts(y, begin, end, v, u, 1);
        else if (n == 2)
            run_to_contacts(y, begin, end, v, u, 2);
        else
            for (int c = begin; c < end; c++) to_contact(y, c, v, u);
    }
}

void rb_products_to_contacts(const rb_products *y, const double *v, double *const u[3], int k)
{
    runs_to_contacts(y, y->runs[k], y->runs[k + 1], v, u);
}

/* What the contacts of a run add to its block i. */
RB_INLINE void run_to_block(const rb_products *y, int run, int i, double *const r[3], rb_eight *sum)
{
    int begin = y->run[run], end = y->run[run + 1], n = entries_of(y, run);
    const double *row = y->row + ENTRY * (ptrdiff_t)(y->b->first[begin] + i);
    for (int c = begin; c < end; c++, row += (ptrdiff_t)ENTRY * n) {
        double r_c[3] = { r[0][c], r[1][c], r[2][c] };
        rb_eight part, x[3];
        for (int k = 0; k < 3; k++) rb_eight_load(row + WIDE * k, &x[k]);
        rb_eight_combine(r_c, x, &part, 3);
        rb_eight_more(sum, &part);
    }
}

RB_VECTOR static void gather_blocks(const rb_products *y, int from, int to, double *const r[3],
                                    double *v)
{
    for (int b = from; b < to; b++) {
        double sums[WIDE] = { 0.0 };
        rb_eight sum;
        rb_eight_load(sums, &sum);
        for (int i = y->of[b]; i < y->of[b + 1]; i++)
            run_to_block(y, y->part[2 * i], y->part[2 * i + 1], r, &sum);
        rb_eight_store(&sum, sums);
        memcpy(v + 6 * (ptrdiff_t)b, sums, 6 * sizeof *v);
    }
}

typedef struct gathering {
    const rb_products *y;
    double *const *r;
    double *v;
} gathering;

static void gather_share(void *work, int k)
{
    const gathering *g = work;
    if (k < g->y->members) gather_blocks(g->y, g->y->bodies[k], g->y->bodies[k + 1], g->r, g->v);
}

void rb_products_to_bodies(const rb_products *y, double *const r[3], double *v)
{
    gathering g = { y, r, v };
    rb_team_run(y->team, gather_share, &g);
}

/* ---- the matrix -------------------------------------------------------------------------------
 */

/* to += Y_i' P for one pair of entries, P = D Y_j. */
RB_INLINE void add_pair(const double *col, const double P[ENTRY], double *restrict to)
{
    for (int r = 0; r < 6; r++) {
        double a = col[HIGH * r], b = col[HIGH * r + 1], c = col[HIGH * r + 2];
        for (int l = 0; l < WIDE; l++)
            to[WIDE * r + l] += a * P[l] + b * P[WIDE + l] + c * P[2 * WIDE + l];
    }
}

RB_INLINE void times_D(const rb_friction_blocks *D, int c, const double *row, double P[ENTRY])
{
    double d0 = D->d[0][c], d1 = D->d[1][c], d2 = D->d[2][c];
    double d3 = D->d[3][c], d4 = D->d[4][c], d5 = D->d[5][c];
    for (int l = 0; l < WIDE; l++) {
        double n = row[l], s = row[WIDE + l], t = row[2 * WIDE + l];
        P[l] = d0 * n;
        P[WIDE + l] = d1 * n + d3 * s + d4 * t;
        P[2 * WIDE + l] = d2 * n + d4 * s + d5 * t;
    }
}

/* All pairs of entries of contact c into blocks side by side. */
RB_VECTOR static void add_contact(const rb_products *y, const rb_friction_blocks *D, int c,
                                  double *blocks)
{
    const rb_bodies *b = y->b;
    int first = b->first[c], n = b->first[c + 1] - first;
    for (int j = 0; j < n; j++) {
        double P[ENTRY];
        times_D(D, c, y->row + ENTRY * (ptrdiff_t)(first + j), P);
        for (int i = 0; i < n; i++)
            add_pair(y->col + ENTRY * (ptrdiff_t)(first + i), P, blocks + BLOCK * (i * n + j));
    }
}

static void add_blocks(rb_bodies *b, int c, const double *blocks)
{
    int n = b->first[c + 1] - b->first[c];
    for (int k = 0; k < n * n; k++) {
        double *K = b->K + 36 * (ptrdiff_t)b->at[b->pair[c] + k];
        for (int r = 0; r < 6; r++) {
            for (int l = 0; l < 6; l++) K[6 * r + l] += blocks[BLOCK * k + WIDE * r + l];
        }
    }
}

static void add_diagonal(rb_bodies *b)
{
    for (int k = 0; k < b->nb; k++) {
        int e = b->ptr[k];
        while (b->col[e] != k) e++;
        for (int i = 0; i < 6; i++) b->K[36 * (ptrdiff_t)e + 7 * i] = 1.0;
    }
}

void rb_products_factor(const rb_products *y, const rb_friction_blocks *D)
{
    rb_bodies *b = y->b;
    memset(b->K, 0, 36 * (size_t)b->ptr[b->nb] * sizeof *b->K);
    add_diagonal(b);
    for (int k = 0; k < y->nrun; k++) {
        int begin = y->run[k], n = b->first[begin + 1] - b->first[begin];
        memset(y->blocks, 0, (size_t)(n * n) * BLOCK * sizeof *y->blocks);
        for (int c = begin; c < y->run[k + 1]; c++) add_contact(y, D, c, y->blocks);
        add_blocks(b, begin, y->blocks);
    }
    rb_block_lu_factor(&b->lu, b->K);
}
