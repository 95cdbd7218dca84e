/* Pairs of boxes by a grid. Cells are as large as the largest ordinary box, so that two ordinary
 * boxes that meet have their centres in the same cell or in neighbouring ones. Boxes are sorted by
 * cell, x first: the thirteen neighbours after a cell are one cell and four rows of three, each a
 * run of boxes. The few boxes that are larger are compared with all. O(n + cells). */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "collide/broad.h"
#include "math/vector.h"

enum {
    FEWEST = 64,     /* boxes below which a tree is as quick             */
    CELLS_EACH = 8,  /* cells per box beyond which the grid is too empty */
    MOST_LARGE = 16, /* boxes that are larger than the others            */
    BLOCK = 8,       /* boxes that are compared at once                  */
    RUNS = 5         /* of boxes after a box; RUNS * BLOCK <= 64         */
};

/* Times the mean extent of all boxes that an ordinary one may have [1]. Larger: more boxes per
 * cell. Smaller: boxes of mixed sizes count as large, and the tree is taken. */
static const double ordinary = 2.5;

typedef struct grid {
    int n, nsmall, nlarge, dim[3];
    const rb_aabb *box;
    double lo[3], width; /* corner and width of the cells [m]                        */
    double per_metre;    /* 1 / width                                                */
    int large[MOST_LARGE];
    int *start; /* of each cell in `order`                      (cells + 1)     */
    int *order; /* boxes by cell                                (nsmall)        */
    int *cell;  /* of each of these                             (nsmall)        */
    /* The same boxes in units of cells, in single precision, rounded outwards: what these do not
     * meet is not met by the boxes. Upper corners, and lower ones times -1 (nsmall + BLOCK). */
    float *far[3], *near[3];
} grid;

static double extent_of(const rb_aabb *b)
{
    double x = b->hi[0] - b->lo[0], y = b->hi[1] - b->lo[1], z = b->hi[2] - b->lo[2];
    double most = x > y ? x : y;
    return most > z ? most : z;
}

static double centre_of(const rb_aabb *b, int k)
{
    return 0.5 * b->lo[k] + 0.5 * b->hi[k];
}

/* Sizes of the grid. 0: boxes are too different, or too far from each other. */
static int measure(grid *g)
{
    double hi[3] = { -INFINITY, -INFINITY, -INFINITY }, sum = 0.0;
    for (int k = 0; k < 3; k++) g->lo[k] = INFINITY;
    for (int i = 0; i < g->n; i++) sum += extent_of(&g->box[i]);
    double most = ordinary * sum / g->n;
    for (int i = 0; i < g->n; i++) {
        double extent = extent_of(&g->box[i]);
        if (extent > most) {
            if (g->nlarge == MOST_LARGE) return 0;
            g->large[g->nlarge++] = i;
            continue;
        }
        if (extent > g->width) g->width = extent;
        for (int k = 0; k < 3; k++) {
            double c = centre_of(&g->box[i], k);
            if (c < g->lo[k]) g->lo[k] = c;
            if (c > hi[k]) hi[k] = c;
        }
    }
    g->nsmall = g->n - g->nlarge;
    g->width *= 1.0 + 1e-9; /* rounding of the centres */
    g->per_metre = 1.0 / g->width;
    if (!(g->width > 0.0) || !(g->per_metre > 0.0 && g->per_metre < INFINITY)) return 0;
    double cells = 1.0;
    for (int k = 0; k < 3; k++) {
        double count = floor((hi[k] - g->lo[k]) * g->per_metre) + 1.0;
        if (!(count <= (double)CELLS_EACH * g->n)) return 0;
        g->dim[k] = (int)count;
        cells *= count;
    }
    return cells <= (double)CELLS_EACH * g->n;
}

static int cell_of(const grid *g, const rb_aabb *b)
{
    int at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = (int)((centre_of(b, k) - g->lo[k]) * g->per_metre);
        if (at[k] >= g->dim[k]) at[k] = g->dim[k] - 1;
    }
    return (at[2] * g->dim[1] + at[1]) * g->dim[0] + at[0];
}

/* Not below x: single precision is coarser than this by half at most. */
static inline float upwards(double x)
{
    return (float)(x + 1.2e-7 * fabs(x) + 1e-30);
}

/* Sorts the boxes by cell, those of one cell by index. */
static void sort_boxes(grid *g, int *cell)
{
    int cells = g->dim[0] * g->dim[1] * g->dim[2], next = 0;
    for (int c = 0; c <= cells + 1; c++) g->start[c] = 0;
    for (int i = 0; i < g->n; i++) {
        cell[i] = -1;
        if (next < g->nlarge && g->large[next] == i) {
            next++;
            continue;
        }
        cell[i] = cell_of(g, &g->box[i]);
        g->start[cell[i] + 2]++;
    }
    for (int c = 2; c <= cells + 1; c++) g->start[c] += g->start[c - 1];
    for (int i = 0; i < g->n; i++) {
        if (cell[i] < 0) continue;
        int at = g->start[cell[i] + 1]++;
        g->order[at] = i;
        g->cell[at] = cell[i];
    }
}

static void fill(grid *g)
{
    for (int at = 0; at < g->nsmall; at++) {
        const rb_aabb *b = &g->box[g->order[at]];
        for (int k = 0; k < 3; k++) {
            g->far[k][at] = upwards((b->hi[k] - g->lo[k]) * g->per_metre);
            g->near[k][at] = upwards((g->lo[k] - b->lo[k]) * g->per_metre);
        }
    }
    for (int k = 0; k < 3; k++) {
        memset(g->far[k] + g->nsmall, 0, BLOCK * sizeof(float));
        memset(g->near[k] + g->nsmall, 0, BLOCK * sizeof(float));
    }
}

/* ---- pairs ------------------------------------------------------------------------------------
 */

#ifdef RB_VECTORS

typedef int numbers __attribute__((vector_size(4 * BLOCK)));
typedef float floats __attribute__((vector_size(4 * BLOCK)));
typedef float loose __attribute__((vector_size(4 * BLOCK), aligned(4), may_alias));

/* A bit for each number, all of which are 0 or -1. */
RB_INLINE unsigned bits_of(const numbers *truth)
{
    unsigned bits = 0;
#ifdef __SSE2__
    typedef float four __attribute__((vector_size(16)));
    four half[2];
    memcpy(half, truth, sizeof half);
    bits = (unsigned)__builtin_ia32_movmskps(half[0]);
    bits |= (unsigned)__builtin_ia32_movmskps(half[1]) << 4;
#else
    for (int k = 0; k < BLOCK; k++) bits |= (unsigned)((*truth)[k] & 1) << k;
#endif
    return bits;
}

/* A box in every number of a vector. */
typedef struct probe {
    floats lower[3], upper[3];
} probe;

RB_INLINE void probe_make(const grid *g, int a, probe *p)
{
    const floats zero = { 0.0f };
    for (int k = 0; k < 3; k++) {
        p->lower[k] = zero - g->near[k][a];
        p->upper[k] = zero - g->far[k][a];
    }
}

/* Which boxes of a block may be met, a bit each, none from `end` on. */
RB_INLINE unsigned meet_block(const grid *g, const probe *p, int begin, int end)
{
    numbers meets = p->lower[0] <= *(const loose *)(g->far[0] + begin);
    meets &= p->upper[0] <= *(const loose *)(g->near[0] + begin);
    for (int k = 1; k < 3; k++) {
        meets &= p->lower[k] <= *(const loose *)(g->far[k] + begin);
        meets &= p->upper[k] <= *(const loose *)(g->near[k] + begin);
    }
    int count = end - begin < BLOCK ? end - begin : BLOCK;
    return bits_of(&meets) & ((1u << count) - 1);
}

#else

/* A box, as its bounds in every direction. */
typedef struct probe {
    float lower[3], upper[3];
} probe;

RB_INLINE void probe_make(const grid *g, int a, probe *p)
{
    for (int k = 0; k < 3; k++) {
        p->lower[k] = 0.0f - g->near[k][a];
        p->upper[k] = 0.0f - g->far[k][a];
    }
}

/* Which boxes of a block may be met, a bit each, none from `end` on. */
RB_INLINE unsigned meet_block(const grid *g, const probe *p, int begin, int end)
{
    unsigned met = 0;
    for (int i = begin; i < end && i < begin + BLOCK; i++) {
        unsigned meets = 1;
        for (int k = 0; k < 3; k++)
            meets &= p->lower[k] <= g->far[k][i] && p->upper[k] <= g->near[k][i];
        met |= meets << (i - begin);
    }
    return met;
}

#endif

static inline void look_at(const grid *g, int a, int b, rb_pair_list *list)
{
    int i = g->order[a], j = g->order[b];
    if (rb_aabb_meets(&g->box[i], &g->box[j])) rb_pair_list_add(list, i, j);
}

/* Box a against boxes begin..end after the first block of a run. */
RB_INLINE void meet_rest(const grid *g, int a, const probe *p, int begin, int end,
                         rb_pair_list *list)
{
    for (; begin < end; begin += BLOCK) {
        unsigned met = meet_block(g, p, begin, end);
        for (; met; met &= met - 1) look_at(g, a, begin + rb_lowest_bit(met), list);
    }
}

/* One row of cells. After a box come the rest of its cell with the next one, and three cells of
 * each of four other rows, each a run of boxes. A run has four boxes on average, and their number
 * cannot be predicted: a block of eight without a branch is quicker than a loop that stops in time.
 * Nor is there a branch between the runs; the bits of five blocks are tested together. */
RB_SHORT static void meet_row(const grid *g, int y, int z, rb_pair_list *list)
{
    static const int rows[4][2] = { { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 } };
    const int *dim = g->dim;
    int row = (z * dim[1] + y) * dim[0], behind[RUNS] = { row }, nrun = 1;
    for (int k = 0; k < 4; k++) {
        int y2 = y + rows[k][0], z2 = z + rows[k][1];
        if (y2 < 0 || y2 >= dim[1] || z2 >= dim[2]) continue;
        behind[nrun++] = (z2 * dim[1] + y2) * dim[0];
    }
    for (int a = g->start[row], to = g->start[row + dim[0]]; a < to; a++) {
        probe p;
        probe_make(g, a, &p);
        int x = g->cell[a] - row, begin[RUNS];
        int left = x > 0 ? x - 1 : 0, right = x + 1 < dim[0] ? x + 2 : x + 1;
        uint64_t met = 0;
        for (int k = 0; k < nrun; k++) {
            int end = g->start[behind[k] + right];
            begin[k] = k ? g->start[behind[k] + left] : a + 1;
            met |= (uint64_t)meet_block(g, &p, begin[k], end) << (BLOCK * k);
            if (end - begin[k] > BLOCK) meet_rest(g, a, &p, begin[k] + BLOCK, end, list);
        }
        for (; met; met &= met - 1) {
            int bit = rb_lowest_bit(met);
            look_at(g, a, begin[bit / BLOCK] + bit % BLOCK, list);
        }
    }
}

static void find_by_grid(const void *ctx, rb_pair_list *list)
{
    const grid *g = ctx;
    for (int z = 0; z < g->dim[2]; z++) {
        for (int y = 0; y < g->dim[1]; y++) meet_row(g, y, z, list);
    }
    for (int k = 0; k < g->nlarge; k++) {
        int i = g->large[k];
        for (int l = k + 1; l < g->nlarge; l++) {
            int j = g->large[l];
            if (rb_aabb_meets(&g->box[i], &g->box[j])) rb_pair_list_add(list, i, j);
        }
        for (int b = 0; b < g->nsmall; b++) {
            int j = g->order[b];
            if (rb_aabb_meets(&g->box[i], &g->box[j])) rb_pair_list_add(list, i, j);
        }
    }
}

int rb_grid_pairs(int n, const rb_aabb *box, rb_arena *arena, int **first, int **partner, int *done)
{
    grid g = { .n = n, .box = box };
    *done = 0;
    if (n < FEWEST || !measure(&g)) return 1;
    int cells = g.dim[0] * g.dim[1] * g.dim[2];
    g.start = rb_push(arena, int, cells + 2);
    g.order = rb_push(arena, int, n);
    float *corners = rb_push(arena, float, 6 * (size_t)(g.nsmall + BLOCK));
    g.cell = rb_push(arena, int, g.nsmall);
    rb_mark mark = rb_arena_mark(arena);
    int *cell = rb_push(arena, int, n);
    if (!g.start || !g.order || !corners || !g.cell || !cell) return 0;
    for (int k = 0; k < 3; k++) {
        g.far[k] = corners + (ptrdiff_t)(2 * k) * (g.nsmall + BLOCK);
        g.near[k] = g.far[k] + g.nsmall + BLOCK;
    }
    sort_boxes(&g, cell);
    rb_arena_reset(arena, mark);
    fill(&g);
    *done = 1;
    return rb_pair_list_make(n, find_by_grid, &g, arena, first, partner);
}
