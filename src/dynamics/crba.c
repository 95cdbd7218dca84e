/* The mass matrix by composite rigid bodies, and its factor.
 *
 * The composite of link k is everything it carries, frozen: mass, first moment and inertia about
 * O_k, ten numbers (D.7). Dof i needs the wrench F = (composite) S_i; what the dofs above it feel
 * of it is their entry,
 *
 *     M_ij = S_j' phi(j, i) F                                                            (D.8)
 *
 * Dofs on different branches have none: row i holds i and its ancestors only, from i to the root.
 * M = L' D L without fill-in on these places (D.9) [Featherstone 2008, 6.5]: elimination starts at
 * the tips. Costs O(n depth) and O(n depth^2). Where tendons couple branches, rows have places for
 * these dofs as well, and for what their factor fills (src/model/coupled.c). */
#include <string.h>

#include "base/constants.h"
#include "dynamics/tendon_inertia.h"
#include "math/dense.h"
#include "math/lanes.h"
#include "math/spatial.h"
#include "rattleback/dynamics.h"

enum {
    SHORT_RUN = 8, /* ancestors one after the other from which on a kernel pays; measured   */
    FOURS = 3      /* the same for four rows to be eliminated at once                       */
};

/* ---- composites -------------------------------------------------------------------------------
 */

enum { COMPOSITE = 12 }; /* numbers a link: m, h = m c, I about O, two unused */

static void start_composites(const rb_model *m, rb_data *d)
{
    for (int k = 0; k < m->nlink; k++) {
        double *C = d->link_work + COMPOSITE * k;
        C[0] = m->link_mass[k];
        rb_scale3(C[0], d->link_c + 3 * k, C + 1);
        memcpy(C + 4, d->link_I + 6 * k, 6 * sizeof *C);
    }
}

/* C_p += C seen from l further down: I + 2 (l.h) 1 - (l h' + h l') + m (l.l 1 - l l'). */
static void add_composite(const double l[3], const double C[10], double C_p[10])
{
    double m = C[0], trace, u[3];
    const double *h = C + 1, *I = C + 4;
    double *I_p = C_p + 4;

    /* with u := h + m l / 2 the two terms are one: 2 (l.u) 1 - (l u' + u l') */
    for (int i = 0; i < 3; i++) u[i] = h[i] + 0.5 * m * l[i];
    trace = 2.0 * rb_dot3(l, u);
    for (int i = 0; i < 3; i++) I_p[i] += I[i] + (trace - 2.0 * l[i] * u[i]);
    I_p[3] += I[3] - (l[0] * u[1] + l[1] * u[0]);
    I_p[4] += I[4] - (l[0] * u[2] + l[2] * u[0]);
    I_p[5] += I[5] - (l[1] * u[2] + l[2] * u[1]);
    for (int i = 0; i < 3; i++) C_p[1 + i] += h[i] + m * l[i];
    C_p[0] += m;
}

static void composite_wrench(const double C[10], const double S[6], double F[6])
{
    double x[3];
    rb_sym3_mul(C + 4, S, F);
    rb_cross3(C + 1, S + 3, x);
    rb_add3(F, x, F);
    rb_cross3(S, C + 1, x);
    for (int i = 0; i < 3; i++) F[3 + i] = C[0] * S[3 + i] + x[i];
}

/* F, at link k, seen at the link of dof j, which carries it. */
RB_INLINE int bring_down(const rb_model *m, const rb_data *d, int k, int j, double F[6])
{
    for (; k != m->dof_link[j]; k = m->link_parent[k]) rb_shift_wrench(d->link_l + 3 * k, F, F);
    return k;
}

/* Row of dof i, its first `count` entries: the wrench goes up the tree and meets the dofs on its
 * way. It is left in F, where the last of them is. */
RB_INLINE void fill_row(const rb_model *m, rb_data *d, int i, int count, double F[6])
{
    int k = m->dof_link[i];
    double *row = d->M + m->dof_Madr[i];
    composite_wrench(d->link_work + COMPOSITE * k, d->dof_S + 6 * i, F);
    row[0] = rb_dot6(d->dof_S + 6 * i, F) + m->dof_armature[i];
    int j = m->dof_parent[i];
    for (int at = 1; at < count && j >= 0; at++, j = m->dof_parent[j]) {
        k = bring_down(m, d, k, j, F);
        row[at] = rb_dot6(d->dof_S + 6 * j, F);
    }
}

/* Wrenches of four dofs, number by number. */
typedef struct wrenches {
    rb_lanes at[6];
} wrenches;

/* t := a x - b y, the products rounded */
RB_INLINE void cross(double a, const rb_lanes *x, double b, const rb_lanes *y, rb_lanes *t)
{
    rb_lanes_times(a, x, t);
    rb_lanes_less(t, b, y);
}

/* rb_shift_wrench */
RB_INLINE void shift_four(const double l[3], wrenches *w)
{
    rb_lanes *F = w->at, x, y, z;
    cross(l[1], &F[5], l[2], &F[4], &x);
    cross(l[2], &F[3], l[0], &F[5], &y);
    cross(l[0], &F[4], l[1], &F[3], &z);
    rb_lanes_plus(&F[0], &x);
    rb_lanes_plus(&F[1], &y);
    rb_lanes_plus(&F[2], &z);
}

/* rb_dot6 */
RB_INLINE void dot_four(const double S[6], const wrenches *w, double out[4])
{
    rb_lanes a, b;
    rb_lanes_times(S[0], &w->at[0], &a);
    rb_lanes_more(&a, S[1], &w->at[1]);
    rb_lanes_more(&a, S[2], &w->at[2]);
    rb_lanes_times(S[3], &w->at[3], &b);
    rb_lanes_more(&b, S[4], &w->at[4]);
    rb_lanes_more(&b, S[5], &w->at[5]);
    rb_lanes_plus(&a, &b);
    rb_lanes_store(&a, out);
}

/* Rows of the dofs i, i-1, i-2, i-3, each on the next: below the last of them all four meet the
 * same dofs. */
RB_INLINE void fill_four(const rb_model *m, rb_data *d, int i)
{
    double F[4][6], side[6][4], out[4], *row[4];
    wrenches w;
    for (int c = 0; c < 4; c++) {
        fill_row(m, d, i - c, 4 - c, F[c]);
        row[c] = d->M + m->dof_Madr[i - c] + 4 - c;
        for (int a = 0; a < 6; a++) side[a][c] = F[c][a];
    }
    for (int a = 0; a < 6; a++) rb_lanes_load(side[a], &w.at[a]);
    int k = m->dof_link[i - 3];
    for (int j = m->dof_parent[i - 3]; j >= 0; j = m->dof_parent[j]) {
        for (; k != m->dof_link[j]; k = m->link_parent[k]) shift_four(d->link_l + 3 * k, &w);
        dot_four(d->dof_S + 6 * j, &w, out);
        for (int c = 0; c < 4; c++) *row[c]++ = out[c];
    }
}

/* The same where rows have places for dofs of other branches, which M leaves at zero. */
static void fill_coupled(const rb_model *m, rb_data *d, int i)
{
    int k = m->dof_link[i];
    double F[6], *row = d->M + m->dof_Madr[i];
    composite_wrench(d->link_work + COMPOSITE * k, d->dof_S + 6 * i, F);
    *row++ = rb_dot6(d->dof_S + 6 * i, F) + m->dof_armature[i];
    for (int j = m->dof_parent[i]; j >= 0; j = m->dof_parent[j], row++) {
        for (; k > m->dof_link[j]; k = m->link_parent[k]) rb_shift_wrench(d->link_l + 3 * k, F, F);
        *row = k == m->dof_link[j] ? rb_dot6(d->dof_S + 6 * j, F) : 0.0;
    }
}

RB_VECTOR static void fill_rows(const rb_model *m, rb_data *d)
{
    for (int i = 0; i < m->nv && m->ncoupled > 0; i++) fill_coupled(m, d, i);
    if (m->ncoupled > 0) return;
    for (int i = m->nv - 1; i >= 0;) {
        int four = m->dof_run[i] >= FOURS + FOURS;
        double F[6];
        if (four)
            fill_four(m, d, i);
        else
            fill_row(m, d, i, m->nv, F);
        i -= four ? 4 : 1;
    }
}

void rb_mass(const rb_model *m, rb_data *d)
{
    start_composites(m, d);
    for (int k = m->nlink - 1; k > 0; k--) {
        int p = m->link_parent[k];
        if (m->link_tree[p] < 0) continue;
        add_composite(d->link_l + 3 * k, d->link_work + COMPOSITE * k,
                      d->link_work + COMPOSITE * p);
    }
    fill_rows(m, d);
    if (rb_tendon_inertia_any(m)) rb_tendon_inertia_add(m, d);
}

/* ---- L' D L -----------------------------------------------------------------------------------
 */

/* Entries of row i: i itself and its ancestors. */
static int row_length(const rb_model *m, int i)
{
    return (i + 1 < m->nv ? m->dof_Madr[i + 1] : m->nM) - m->dof_Madr[i];
}

/* Ancestor i of row k loses L_ki D L_kj for every ancestor j of its own; the first `count` of them.
 */
RB_INLINE void eliminate(const rb_model *m, double *L, int k, int count)
{
    double *row = L + m->dof_Madr[k], D = row[0];
    int n = row_length(m, k), at = 1;
    for (int i = m->dof_parent[k]; i >= 0 && at <= count; i = m->dof_parent[i], at++) {
        double L_ki = row[at] / D;
        rb_lanes_subtract(L_ki, row + at, L + m->dof_Madr[i], n - at);
        row[at] = L_ki;
    }
}

/* Rows k, k-1, k-2, k-3, each on the next and done as far as they are on each other: what is below
 * them loses all four in one pass, in the order of the rows. */
RB_INLINE void eliminate_four(const rb_model *m, double *L, int k)
{
    double *row[4], D[4];
    for (int c = 0; c < 4; c++) {
        row[c] = L + m->dof_Madr[k - c];
        D[c] = row[c][0];
        row[c] += 4 - c;
    }
    int n = row_length(m, k) - 4;
    for (int i = m->dof_parent[k - 3]; i >= 0; i = m->dof_parent[i], n--) {
        rb_four f;
        for (int c = 0; c < 4; c++) {
            f.a[c] = row[c][0] / D[c];
            f.b[c] = row[c];
        }
        rb_four_subtract(&f, L + m->dof_Madr[i], n);
        for (int c = 0; c < 4; c++) *row[c]++ = f.a[c];
    }
}

static int is_regular(const rb_model *m, const rb_data *d, int k)
{
    return d->L[m->dof_Madr[k]] > RB_NO_INERTIA * d->M[m->dof_Madr[k]];
}

RB_VECTOR static rb_status factor(const rb_model *m, rb_data *d)
{
    for (int k = m->nv - 1; k >= 0;) {
        int four = m->dof_run[k] >= FOURS;
        for (int c = 0; c < (four ? 4 : 1); c++) {
            if (!is_regular(m, d, k - c)) return RB_SINGULAR;
            eliminate(m, d->L, k - c, four ? 3 - c : m->nv);
        }
        if (four) eliminate_four(m, d->L, k);
        k -= four ? 4 : 1;
    }
    return RB_OK;
}

rb_status rb_mass_factor(const rb_model *m, rb_data *d)
{
    if (m->nM > 0) memcpy(d->L, d->M, (size_t)m->nM * sizeof *d->L);
    return factor(m, d);
}

/* x_i += a row_i over the ancestors of k, which are consecutive in runs */
RB_INLINE void spread(const rb_model *m, int k, const double *row, double a, double *x)
{
    for (int i = m->dof_parent[k], n; i >= 0; i = m->dof_parent[i - n + 1], row += n) {
        n = m->dof_run[i] + 1;
        if (n > SHORT_RUN)
            rb_axpy_back(a, row, x + i, n);
        else
            for (int c = 0; c < n; c++) x[i - c] += a * row[c];
    }
}

/* sum + sign times row times x over the ancestors of k, one after the other but in long runs */
RB_INLINE double gather(const rb_model *m, int k, const double *row, const double *x, double sign,
                        double sum)
{
    for (int i = m->dof_parent[k], n; i >= 0; i = m->dof_parent[i - n + 1], row += n) {
        n = m->dof_run[i] + 1;
        if (n > SHORT_RUN)
            sum += sign * rb_dot_back(row, x + i, n);
        else
            for (int c = 0; c < n; c++) sum += sign * (row[c] * x[i - c]);
    }
    return sum;
}

RB_SCALAR void rb_mass_solve(const rb_model *m, const rb_data *d, double *x)
{
    /* L' y = x from the tips, D, then L x = y from the roots */
    for (int k = m->nv - 1; k >= 0; k--) {
        if (x[k] != 0.0) spread(m, k, d->L + m->dof_Madr[k] + 1, -x[k], x);
    }
    for (int k = 0; k < m->nv; k++) {
        const double *row = d->L + m->dof_Madr[k];
        x[k] = gather(m, k, row + 1, x, -1.0, x[k] / row[0]);
    }
}

/* ---- other uses of the rows -------------------------------------------------------------------
 */

RB_SCALAR void rb_mass_multiply(const rb_model *m, const rb_data *d, const double *x, double *y)
{
    for (int k = 0; k < m->nv; k++) y[k] = 0.0;
    for (int k = 0; k < m->nv; k++) {
        const double *row = d->M + m->dof_Madr[k];
        y[k] = gather(m, k, row + 1, x, 1.0, y[k] + row[0] * x[k]);
        spread(m, k, row + 1, x[k], y);
    }
}

void rb_mass_dense(const rb_model *m, const rb_data *d, double *M)
{
    ptrdiff_t nv = m->nv;
    for (ptrdiff_t i = 0; i < nv * nv; i++) M[i] = 0.0;
    for (int k = 0; k < m->nv; k++) {
        const double *row = d->M + m->dof_Madr[k];
        for (int i = k; i >= 0; i = m->dof_parent[i]) M[i * nv + k] = M[k * nv + i] = *row++;
    }
}
