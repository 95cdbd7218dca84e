/* W = J M^-1 J' of points, by carrying unit wrenches up the tree and never through M.
 *
 * A tip is a link that has points. It carries six unit wrenches, or the three of its only point, up
 * to where the paths of two tips meet; there Upsilon gives the block between them (D.15) to (D.17).
 * All points of a link share the block of their tip. Tips go up in step, the one on the deepest
 * link first, so that every link of every path is visited once; tips that have met remain joined,
 * and a tree whose tips have all met is done.
 *
 * Cost: O(n_tips path) for the carrying, O(n_tips^2) blocks. Blocks between trees and rows of
 * points that are fixed to the world are exactly zero; W is symmetric to the bit. */
#include <string.h>

#include "base/arena.h"
#include "math/spatial.h"
#include "rattleback/dynamics.h"

typedef struct tip {
    int link;         /* where its points are                                              */
    int at;           /* where its wrenches have been carried to; 0: no further            */
    int group;        /* tips that have met share the number                               */
    int first, count; /* its points in `order`                                             */
    int ncol;         /* 3: wrenches of its only point, 6: unit wrenches at O              */
    double F[36];     /* wrenches at O of link `at`, one after the other         (ncol x 6) */
} tip;

typedef struct work {
    const rb_model *m;
    const rb_data *d;
    const rb_point *points;
    int n;
    int *order; /* points that can move, by link                                      (n)     */
    tip *tips;  /*                                                                    (ntip)  */
    int *apart; /* groups of each tree that have not met yet                          (ntree) */
    int ntip;
    double *W;
} work;

/* ---- which links ---------------------------------------------------------------------------- */

static int link_of(const work *w, int point)
{
    return w->m->body_link[w->points[point].body];
}

/* Points by link and then by index: Shell's sort, in place and always the same. */
static int sort_points(work *w)
{
    int count = 0;
    for (int i = 0; i < w->n; i++) {
        if (w->m->link_tree[link_of(w, i)] >= 0) w->order[count++] = i;
    }
    int gap = 1;
    while (gap < count / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (int i = gap; i < count; i++) {
            int point = w->order[i], link = link_of(w, point), k = i;
            for (; k >= gap; k -= gap) {
                int before = w->order[k - gap], before_link = link_of(w, before);
                if (before_link < link || (before_link == link && before < point)) break;
                w->order[k] = before;
            }
            w->order[k] = point;
        }
    }
    return count;
}

static void offset(const work *w, int point, double r[3])
{
    rb_sub3(w->points[point].pos, w->d->link_p + 3 * link_of(w, point), r);
}

/* Wrenches (r x e_i ; e_i) of the only point, or the six unit wrenches. */
static void start_wrenches(const work *w, tip *t)
{
    memset(t->F, 0, sizeof t->F);
    if (t->ncol == 6) {
        for (int i = 0; i < 6; i++) t->F[7 * i] = 1.0;
        return;
    }
    double r[3];
    offset(w, w->order[t->first], r);
    for (int i = 0; i < 3; i++) {
        double *f = t->F + 6 * i;
        f[3 + i] = 1.0;
        rb_cross3(r, f + 3, f);
    }
}

static void make_tips(work *w, int count)
{
    memset(w->apart, 0, (size_t)w->m->ntree * sizeof *w->apart);
    w->ntip = 0;
    for (int i = 0; i < count;) {
        tip *t = &w->tips[w->ntip];
        t->link = t->at = link_of(w, w->order[i]);
        t->group = w->ntip++;
        t->first = i;
        while (i < count && link_of(w, w->order[i]) == t->link) i++;
        t->count = i - t->first;
        t->ncol = t->count == 1 ? 3 : 6;
        start_wrenches(w, t);
        w->apart[w->m->link_tree[t->link]]++;
    }
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* G = F_a' Y F_b at the link where both are; rows and columns as the tips have them, stride 6 */
static void meet(const double Y[RB_SYM6], const tip *a, const tip *b, double G[36])
{
    for (int j = 0; j < b->ncol; j++) {
        double y[6];
        rb_sym6_mul(Y, b->F + 6 * j, y);
        for (int i = 0; i < a->ncol; i++) G[6 * i + j] = rb_dot6(a->F + 6 * i, y);
    }
}

/* From six rows to the three of a point at r, and the same for columns: (D.17). */
static void point_rows(double G[36], int ncol, const double r[3])
{
    for (int j = 0; j < ncol; j++) {
        double angular[3] = { G[j], G[6 + j], G[12 + j] }, turned[3];
        rb_cross3(angular, r, turned);
        for (int i = 0; i < 3; i++) G[6 * i + j] = G[6 * (3 + i) + j] + turned[i];
    }
}

static void point_columns(double G[36], int nrow, const double r[3])
{
    for (int i = 0; i < nrow; i++) {
        double turned[3];
        rb_cross3(G + 6 * i, r, turned);
        for (int j = 0; j < 3; j++) G[6 * i + j] = G[6 * i + 3 + j] + turned[j];
    }
}

/* Block of points i and j and its mirror image; on the diagonal the upper triangle counts. */
static void write_block(const work *w, int i, int j, const double G[36])
{
    ptrdiff_t ld = 3 * (ptrdiff_t)w->n;
    for (int a = 0; a < 3; a++) {
        for (int b = i == j ? a : 0; b < 3; b++) {
            w->W[(3 * i + a) * ld + 3 * j + b] = G[6 * a + b];
            w->W[(3 * j + b) * ld + 3 * i + a] = G[6 * a + b];
        }
    }
}

/* All pairs of points of two tips, or of one. */
static void write_pair(const work *w, const tip *a, const tip *b, const double G[36])
{
    if (a->ncol == 3 && b->ncol == 3) {
        write_block(w, w->order[a->first], w->order[b->first], G);
        return;
    }
    for (int s = 0; s < a->count; s++) {
        int i = w->order[a->first + s];
        double r[3], rows[36];
        memcpy(rows, G, sizeof rows);
        offset(w, i, r);
        if (a->ncol == 6) point_rows(rows, b->ncol, r);

        for (int t = a == b ? s : 0; t < b->count; t++) {
            int j = w->order[b->first + t];
            double block[36];
            memcpy(block, rows, sizeof block);
            offset(w, j, r);
            if (b->ncol == 6) point_columns(block, 3, r);
            write_block(w, i, j, block);
        }
    }
}

/* ---- the way up ----------------------------------------------------------------------------- */

/* What the dofs of the link leave of the wrenches, seen from the parent (D.15). */
static void carry(const rb_model *m, const rb_data *d, tip *t)
{
    int k = t->at, parent = m->link_parent[k];
    for (int j = m->link_dofadr[k] + m->link_dofnum[k] - 1; j >= m->link_dofadr[k]; j--) {
        const double *S = d->dof_S + 6 * j, *U = d->dof_U + 6 * j;
        double D_inv = 1.0 / d->dof_D[j];
        for (int c = 0; c < t->ncol; c++) {
            double *f = t->F + 6 * c;
            rb_axpy6(-rb_dot6(S, f) * D_inv, U, f);
        }
    }
    for (int c = 0; c < t->ncol; c++) {
        rb_shift_wrench(d->link_l + 3 * k, t->F + 6 * c, t->F + 6 * c);
    }
    t->at = m->link_tree[parent] >= 0 ? parent : 0;
}

/* Groups at this link. A group is named after its lowest tip, which is therefore named like
 * itself. */
static int groups_at(const work *w, int link)
{
    int groups = 0;
    for (int b = 0; b < w->ntip; b++) groups += w->tips[b].at == link && w->tips[b].group == b;
    return groups;
}

/* Blocks of the tips that meet at this link; from now on they are one group. */
static void join(work *w, int link)
{
    const double *Y = w->d->Y + (size_t)RB_SYM6 * (size_t)link;
    int lowest = -1;
    for (int b = 0; b < w->ntip; b++) {
        if (w->tips[b].at != link) continue;
        if (lowest < 0) lowest = b;
        for (int a = lowest; a < b; a++) {
            if (w->tips[a].at != link || w->tips[a].group == w->tips[b].group) continue;
            double G[36];
            meet(Y, &w->tips[a], &w->tips[b], G);
            write_pair(w, &w->tips[a], &w->tips[b], G);
        }
    }

    /* a second loop: the first one needs the old groups */
    for (int b = lowest; b < w->ntip; b++) {
        if (w->tips[b].at == link) w->tips[b].group = lowest;
    }
}

/* A tree whose tips have all met needs nothing more. */
static void retire(work *w)
{
    for (int b = 0; b < w->ntip; b++) {
        if (w->apart[w->m->link_tree[w->tips[b].link]] == 1) w->tips[b].at = 0;
    }
}

static void sweep(work *w)
{
    retire(w);
    for (;;) {
        int link = 0;
        for (int b = 0; b < w->ntip; b++) {
            if (w->tips[b].at > link) link = w->tips[b].at;
        }
        if (link == 0) return;

        int groups = groups_at(w, link);
        if (groups > 1) {
            join(w, link);
            w->apart[w->m->link_tree[link]] -= groups - 1;
            retire(w);
        }
        for (int b = 0; b < w->ntip; b++) {
            if (w->tips[b].at == link) carry(w->m, w->d, &w->tips[b]);
        }
    }
}

rb_status rb_compliance(const rb_model *m, rb_data *d, int n, const rb_point *points, double *W)
{
    rb_mark mark = rb_arena_mark(d->arena);
    work w = { .m = m, .d = d, .points = points, .n = n, .W = W };
    w.order = rb_push(d->arena, int, n);
    w.tips = rb_push(d->arena, tip, n);
    w.apart = rb_push(d->arena, int, m->ntree);
    rb_status status = RB_NOMEM;
    if (w.order && w.tips && w.apart) {
        memset(W, 0, 9 * (size_t)n * (size_t)n * sizeof *W);
        make_tips(&w, sort_points(&w));
        for (int b = 0; b < w.ntip; b++) {
            double G[36];
            const tip *t = &w.tips[b];
            meet(d->Y + (size_t)RB_SYM6 * (size_t)t->link, t, t, G);
            write_pair(&w, t, t, G);
        }
        sweep(&w);
        status = RB_OK;
    }
    rb_arena_reset(d->arena, mark);
    return status;
}
