/* Minimum degree on the quotient graph [George, Liu 1989]: an eliminated node becomes an element,
 * the list of nodes it joined into a clique; a node's degree is the weight of the union of its
 * elements and its remaining neighbours. Elements contained in a new element are absorbed.
 *
 * Groups: contacts between the same bodies have the same closed neighbourhood and would be
 * eliminated one after the other anyway; they are merged first, which shrinks stacks by four. */
#include "math/order.h"

#include <string.h>

typedef struct graph {
    int n;          /* groups                                                      */
    int *ptr, *col; /* adjacency of groups                                         */
    int *weight;    /* nodes in the group                              (n)         */
    int *rep;       /* group of each node                              (nodes)     */
} graph;

typedef struct quotient {
    const graph *g;
    int *state;             /* 0 = node, 1 = eliminated (element), 2 = absorbed     (n) */
    int *degree;            /* external degree, by weight                           (n) */
    int **element;          /* nodes of element e                                   (n) */
    int *size;              /* their number                                         (n) */
    int **member;           /* elements that node i belongs to                      (n) */
    int *nmember, *rmember; /* number and room                                     (n) */
    int *mark, stamp;       /* mark[i] == stamp: seen                               (n) */
    int *heap, *at, nheap;  /* nodes, the next one first; place of each             (n) */
    rb_arena *arena;
} quotient;

/* ---- groups of indistinguishable nodes ----------------------------------------------------------
 */

static int same_closed_row(const int *ptr, const int *col, int a, int b, const int *mark, int stamp)
{
    if (ptr[a + 1] - ptr[a] != ptr[b + 1] - ptr[b]) return 0;
    for (int e = ptr[b]; e < ptr[b + 1]; e++) {
        if (mark[col[e]] != stamp) return 0;
    }
    return 1;
}

/* rep[i] = group of node i, groups numbered by first node. The pattern holds its diagonal. */
static int find_groups(int n, const int *ptr, const int *col, int *mark, int *rep)
{
    int groups = 0;
    for (int i = 0; i < n; i++) rep[i] = mark[i] = -1;
    for (int i = 0; i < n; i++) {
        if (rep[i] >= 0) continue;
        rep[i] = groups++;
        for (int e = ptr[i]; e < ptr[i + 1]; e++) mark[col[e]] = i;
        for (int e = ptr[i]; e < ptr[i + 1]; e++) {
            int j = col[e];
            if (j > i && rep[j] < 0 && same_closed_row(ptr, col, i, j, mark, i)) rep[j] = rep[i];
        }
    }
    return groups;
}

static rb_status make_graph(int n, const int *ptr, const int *col, rb_arena *arena, graph *g)
{
    int *mark = rb_push(arena, int, n);
    g->rep = rb_push(arena, int, n);
    if (!mark || !g->rep) return RB_NOMEM;
    g->n = find_groups(n, ptr, col, mark, g->rep);
    g->ptr = rb_push(arena, int, g->n + 1);
    g->col = rb_push(arena, int, ptr[n]);
    g->weight = rb_push(arena, int, g->n);
    if (!g->ptr || !g->col || !g->weight) return RB_NOMEM;
    memset(g->weight, 0, (size_t)g->n * sizeof *g->weight);
    for (int i = 0; i < n; i++) mark[i] = -1;
    int used = 0, next = 0;
    for (int i = 0; i < n; i++) {
        int me = g->rep[i];
        if (g->weight[me]++ > 0) continue;
        g->ptr[next++] = used;
        for (int e = ptr[i]; e < ptr[i + 1]; e++) {
            int other = g->rep[col[e]];
            if (other == me || mark[other] == me) continue;
            mark[other] = me;
            g->col[used++] = other;
        }
    }
    g->ptr[next] = used;
    return RB_OK;
}

/* ---- elimination
 * ---------------------------------------------------------------------------------- */

/* Appends e to the elements of node i, dropping absorbed ones; room doubles. */
static int add_member(quotient *Q, int i, int e)
{
    int kept = 0;
    for (int k = 0; k < Q->nmember[i]; k++) {
        if (Q->state[Q->member[i][k]] == 1) Q->member[i][kept++] = Q->member[i][k];
    }
    if (kept == Q->rmember[i]) {
        int room = 2 * kept + 4;
        int *list = rb_push(Q->arena, int, room);
        if (!list) return 0;
        if (kept) memcpy(list, Q->member[i], (size_t)kept * sizeof *list);
        Q->member[i] = list;
        Q->rmember[i] = room;
    }
    Q->member[i][kept++] = e;
    Q->nmember[i] = kept;
    return 1;
}

/* Visits the nodes reachable from i, each once: writes them to out (may be NULL), returns their
 * weight. */
static int reach(quotient *Q, int i, int *out, int *count)
{
    int weight = 0, n = 0;
    int stamp = ++Q->stamp;
    Q->mark[i] = stamp;
    for (int k = 0; k < Q->nmember[i]; k++) {
        int e = Q->member[i][k];
        if (Q->state[e] != 1) continue;
        for (int l = 0; l < Q->size[e]; l++) {
            int j = Q->element[e][l];
            if (Q->state[j] != 0 || Q->mark[j] == stamp) continue;
            Q->mark[j] = stamp;
            weight += Q->g->weight[j];
            if (out) out[n++] = j;
        }
    }
    for (int e = Q->g->ptr[i]; e < Q->g->ptr[i + 1]; e++) {
        int j = Q->g->col[e];
        if (Q->state[j] != 0 || Q->mark[j] == stamp) continue;
        Q->mark[j] = stamp;
        weight += Q->g->weight[j];
        if (out) out[n++] = j;
    }
    if (count) *count = n;
    return weight;
}

/* ---- the next node ------------------------------------------------------------------------------
 */

/* Least degree first, then the least number. */
static int is_before(const quotient *Q, int a, int b)
{
    return Q->degree[a] != Q->degree[b] ? Q->degree[a] < Q->degree[b] : a < b;
}

static void put(quotient *Q, int k, int i)
{
    Q->heap[k] = i;
    Q->at[i] = k;
}

/* Node i, whose degree has changed, moves to its place. */
static void settle(quotient *Q, int i)
{
    int k = Q->at[i];
    for (int up = (k - 1) / 2; k > 0 && is_before(Q, i, Q->heap[up]); up = (k - 1) / 2) {
        put(Q, k, Q->heap[up]);
        k = up;
    }
    for (int down = 2 * k + 1; down < Q->nheap; down = 2 * k + 1) {
        if (down + 1 < Q->nheap && is_before(Q, Q->heap[down + 1], Q->heap[down])) down++;
        if (!is_before(Q, Q->heap[down], i)) break;
        put(Q, k, Q->heap[down]);
        k = down;
    }
    put(Q, k, i);
}

static int take_first(quotient *Q)
{
    int first = Q->heap[0], last = Q->heap[--Q->nheap];
    if (Q->nheap > 0) {
        put(Q, 0, last);
        settle(Q, last);
    }
    return first;
}

/* Node p becomes an element: its reach; the elements it was in are absorbed. */
static rb_status eliminate(quotient *Q, int p, int *list)
{
    int count = 0;
    reach(Q, p, list, &count);
    int *nodes = rb_push(Q->arena, int, count);
    if (!nodes) return RB_NOMEM;
    memcpy(nodes, list, (size_t)count * sizeof *nodes);
    for (int k = 0; k < Q->nmember[p]; k++) Q->state[Q->member[p][k]] = 2;
    Q->state[p] = 1;
    Q->element[p] = nodes;
    Q->size[p] = count;
    for (int k = 0; k < count; k++) {
        if (!add_member(Q, nodes[k], p)) return RB_NOMEM;
    }
    for (int k = 0; k < count; k++) {
        Q->degree[nodes[k]] = reach(Q, nodes[k], NULL, NULL);
        settle(Q, nodes[k]);
    }
    return RB_OK;
}

static rb_status start_quotient(quotient *Q, const graph *g, rb_arena *arena)
{
    *Q = (quotient){ .g = g, .arena = arena, .stamp = 0 };
    int n = g->n;
    Q->state = rb_push(arena, int, n);
    Q->degree = rb_push(arena, int, n);
    Q->element = rb_push(arena, int *, n);
    Q->size = rb_push(arena, int, n);
    Q->member = rb_push(arena, int *, n);
    Q->nmember = rb_push(arena, int, n);
    Q->rmember = rb_push(arena, int, n);
    Q->mark = rb_push(arena, int, n);
    Q->heap = rb_push(arena, int, n);
    Q->at = rb_push(arena, int, n);
    if (!Q->state || !Q->degree || !Q->element || !Q->size || !Q->member || !Q->nmember ||
        !Q->rmember || !Q->mark || !Q->heap || !Q->at) {
        return RB_NOMEM;
    }
    memset(Q->state, 0, (size_t)n * sizeof(int));
    memset(Q->nmember, 0, (size_t)n * sizeof(int));
    memset(Q->rmember, 0, (size_t)n * sizeof(int));
    memset(Q->mark, 0, (size_t)n * sizeof(int));
    for (int i = 0; i < n; i++) Q->degree[i] = reach(Q, i, NULL, NULL);
    for (int i = 0; i < n; i++) {
        put(Q, Q->nheap++, i);
        settle(Q, i);
    }
    return RB_OK;
}

/* Groups in order of elimination -> nodes in order of elimination. */
static rb_status expand_groups(const graph *g, int n, const int *group_order, rb_arena *arena,
                               int *order)
{
    int *first = rb_push(arena, int, g->n);
    if (!first) return RB_NOMEM;
    int at = 0;
    for (int k = 0; k < g->n; k++) {
        first[group_order[k]] = at;
        at += g->weight[group_order[k]];
    }
    for (int i = 0; i < n; i++) order[first[g->rep[i]]++] = i;
    return RB_OK;
}

rb_status rb_minimum_degree(int n, const int *ptr, const int *col, rb_arena *scratch, int *order)
{
    rb_mark mark = rb_arena_mark(scratch);
    graph g;
    quotient Q;
    rb_status status = make_graph(n, ptr, col, scratch, &g);
    if (status == RB_OK) status = start_quotient(&Q, &g, scratch);
    int *list = rb_push(scratch, int, n), *group_order = rb_push(scratch, int, n);
    if (!list || !group_order) status = RB_NOMEM;
    for (int k = 0; status == RB_OK && k < g.n; k++) {
        group_order[k] = take_first(&Q);
        status = eliminate(&Q, group_order[k], list);
    }
    if (status == RB_OK) status = expand_groups(&g, n, group_order, scratch, order);
    rb_arena_reset(scratch, mark);
    return status;
}
