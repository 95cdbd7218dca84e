/* Pairs of boxes by a grid. Cells are as large as the largest ordinary box, so that two ordinary
 * boxes that meet have their centres in the same cell or in neighbouring ones. Boxes are sorted by
 * cell, x first: the thirteen neighbours behind a cell are one cell and four rows of three, each a
 * run of boxes. The few boxes that are larger are compared with all. O(n + cells). */
#include <math.h>
#include <string.h>

#include "collide/broad.h"

enum {
    FEWEST = 64,    /* boxes below which a tree is as quick            */
    CELLS_EACH = 8, /* cells per box beyond which the grid is too empty */
    MOST_LARGE = 16 /* boxes that are larger than the others            */
};

/* Times the mean extent of all boxes that an ordinary one may have [1]. Larger: more boxes per
 * cell. Smaller: boxes of mixed sizes count as large, and the tree is taken. */
static const double ordinary = 2.5;

/* A box in units of cells, in single precision, rounded outwards: what it does not meet is not met
 * by the box. Two comparisons of four numbers, the last of which is 0. */
typedef float four __attribute__((vector_size(16)));

typedef struct bound {
    four far, near; /* upper corner; lower corner times -1 */
} bound;

typedef struct grid {
    int n, nsmall, nlarge, dim[3];
    const rb_aabb *box;
    double lo[3], cell; /* corner and width of the cells [m]                         */
    double per_metre;   /* 1 / cell                                                  */
    int large[MOST_LARGE];
    int *start;    /* of each cell in `sorted`                     (cells + 1)     */
    int *order;    /* boxes by cell                                (nsmall)        */
    bound *sorted; /* the same boxes                               (nsmall)        */
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
        if (extent > g->cell) g->cell = extent;
        for (int k = 0; k < 3; k++) {
            double c = centre_of(&g->box[i], k);
            if (c < g->lo[k]) g->lo[k] = c;
            if (c > hi[k]) hi[k] = c;
        }
    }
    g->nsmall = g->n - g->nlarge;
    g->cell *= 1.0 + 1e-9; /* rounding of the centres */
    g->per_metre = 1.0 / g->cell;
    if (!(g->cell > 0.0) || !(g->per_metre > 0.0 && g->per_metre < INFINITY)) return 0;
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

static inline bound bound_of(const grid *g, const rb_aabb *b)
{
    float far[4] = { 0.0f }, near[4] = { 0.0f };
    for (int k = 0; k < 3; k++) {
        far[k] = upwards((b->hi[k] - g->lo[k]) * g->per_metre);
        near[k] = upwards((g->lo[k] - b->lo[k]) * g->per_metre);
    }
    bound out;
    memcpy(&out.far, far, sizeof far);
    memcpy(&out.near, near, sizeof near);
    return out;
}

/* Whether a may meet b, `lower` and `upper` being -near and -far of a. */
static inline int may_meet(four lower, four upper, const bound *b)
{
    typedef long long two __attribute__((vector_size(16)));
    two truth = (two)((lower <= b->far) & (upper <= b->near));
    return (truth[0] & truth[1]) == -1;
}

static void fill(grid *g, int *cell)
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
        g->sorted[at] = bound_of(g, &g->box[i]);
    }
}

/* Runs of boxes behind a cell: the rest of it with the next one, and four rows of three. */
typedef struct runs {
    int n, begin[5], end[5];
} runs;

static void add_run(runs *r, int begin, int end)
{
    r->begin[r->n] = begin;
    r->end[r->n] = end;
    r->n += begin < end;
}

static int look_at(const grid *g, int a, int n, const int *near, rb_pair_list *list)
{
    int i = g->order[a];
    for (int k = 0; k < n; k++) {
        int j = g->order[near[k]];
        if (rb_aabb_meets(&g->box[i], &g->box[j])) rb_pair_list_add(list, i, j);
    }
    return 0;
}

/* Box a against the runs. Those that may meet it are written down without a branch, which nobody
 * could foretell, and looked at afterwards. */
static void meet_runs(const grid *g, int a, const runs *r, rb_pair_list *list)
{
    enum { ROOM = 64 };
    int near[ROOM + 1], n = 0;
    four lower = -g->sorted[a].near, upper = -g->sorted[a].far;
    for (int k = 0; k < r->n; k++) {
        for (int b = r->begin[k]; b < r->end[k]; b++) {
            near[n] = b;
            n += may_meet(lower, upper, &g->sorted[b]);
            if (n == ROOM) n = look_at(g, a, n, near, list);
        }
    }
    look_at(g, a, n, near, list);
}

static void meet_cell(const grid *g, int x, int y, int z, rb_pair_list *list)
{
    static const int rows[4][2] = { { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 } };
    const int *dim = g->dim;
    int cell = (z * dim[1] + y) * dim[0] + x, from = g->start[cell], to = g->start[cell + 1];
    if (from == to) return;
    runs r = { .n = 1 };
    r.end[0] = x + 1 < dim[0] ? g->start[cell + 2] : to;
    int left = x > 0 ? x - 1 : 0, right = x + 1 < dim[0] ? x + 1 : x;
    for (int k = 0; k < 4; k++) {
        int y2 = y + rows[k][0], z2 = z + rows[k][1];
        if (y2 < 0 || y2 >= dim[1] || z2 >= dim[2]) continue;
        int row = (z2 * dim[1] + y2) * dim[0];
        add_run(&r, g->start[row + left], g->start[row + right + 1]);
    }
    for (int a = from; a < to; a++) {
        r.begin[0] = a + 1;
        meet_runs(g, a, &r, list);
    }
}

static void find_by_grid(const void *ctx, rb_pair_list *list)
{
    const grid *g = ctx;
    for (int z = 0; z < g->dim[2]; z++) {
        for (int y = 0; y < g->dim[1]; y++) {
            for (int x = 0; x < g->dim[0]; x++) meet_cell(g, x, y, z, list);
        }
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
    g.sorted = rb_push(arena, bound, n);
    rb_mark mark = rb_arena_mark(arena);
    int *cell = rb_push(arena, int, n);
    if (!g.start || !g.order || !g.sorted || !cell) return 0;
    fill(&g, cell);
    rb_arena_reset(arena, mark);
    *done = 1;
    return rb_pair_list_make(n, find_by_grid, &g, arena, first, partner);
}
