/* Linearised forces of tendons, muscles and servos that move several dofs. A force f of the length
 * l and the rate l' = J v changes within a step, with the velocity of its middle, by
 *
 *     C = sum of g J'J,     g = h/2 (-df/dl') + h^2/4 (-df/dl) >= 0                        (D.55)
 *
 * which stands beside the diagonal E of (D.37) in M + E + C. A diagonal that bounds C has the sums
 * of magnitudes |J_i| sum |J|: it holds each joint as if all others stood still, and the iteration
 * contracts by the ratio of the two. C has places in M (src/model/coupled.c). */
#include "dynamics/coupling.h"

#include <math.h>
#include <string.h>

#include "base/pieces.h"
#include "dynamics/tendon.h"

/* The force of the actuator depends on how its transmission moves. */
static int yields(const rb_model *m, int i)
{
    const double *gain = m->act_gain + 3 * i, *bias = m->act_bias + 3 * i;
    if (m->act_gain_law[i] != RB_LAW_AFFINE || m->act_bias_law[i] != RB_LAW_AFFINE) return 1;
    return gain[1] != 0.0 || gain[2] != 0.0 || bias[1] != 0.0 || bias[2] != 0.0;
}

static int couples(const rb_model *m, int i)
{
    if (m->act_plain[i] || m->act_gain_law[i] == RB_LAW_ORIENTATION || !yields(m, i)) return 0;
    if (m->act_transmission[i] == RB_TRN_TENDON) return m->tendon_rownum[m->act_target[i]] > 1;
    return m->act_transmission[i] == RB_TRN_SITE || m->act_transmission[i] == RB_TRN_SLIDER_CRANK;
}

int rb_coupling_any(const rb_model *m)
{
    if (m->ngauge > 0) return 0;
    for (int t = 0; t < m->ntendon; t++) {
        if (m->tendon_rownum[t] > 1 && rb_tendon_is_elastic(m, t)) return 1;
    }
    for (int i = 0; i < m->nu; i++) {
        if (couples(m, i)) return 1;
    }
    return 0;
}

int rb_coupling_push(const rb_model *m, rb_arena *arena, rb_coupling *c)
{
    double **of_dof[] = { &c->k, &c->b, &c->row };
    c->C = rb_push(arena, double, m->nM);
    c->dof = rb_push(arena, int, m->nv_all);
    if (!c->C || !c->dof || !rb_push_rows(arena, of_dof, 3, m->nv_all)) return 0;
    memset(c->row, 0, (size_t)m->nv_all * sizeof *c->row);
    return 1;
}

void rb_coupling_begin(const rb_model *m, double h, rb_coupling *c)
{
    c->h = h;
    memset(c->C, 0, (size_t)m->nM * sizeof *c->C);
    memset(c->k, 0, (size_t)m->nv_all * sizeof *c->k);
    memset(c->b, 0, (size_t)m->nv_all * sizeof *c->b);
}

rb_status rb_mass_factor_with(const rb_model *m, rb_data *d, const double *E, const double *C)
{
    if (!C) {
        for (int j = 0; j < m->nv; j++) d->M[m->dof_Madr[j]] += E[j];
        rb_status status = rb_mass_factor(m, d);
        for (int j = 0; j < m->nv; j++) d->M[m->dof_Madr[j]] -= E[j];
        return status;
    }
    rb_mark mark = rb_arena_mark(d->arena);
    double *M = d->M, *sum = rb_push(d->arena, double, m->nM);
    if (!sum) return RB_NOMEM;
    for (int i = 0; i < m->nM; i++) sum[i] = M[i] + C[i];
    for (int j = 0; j < m->nv; j++) sum[m->dof_Madr[j]] += E[j];
    d->M = sum;
    rb_status status = rb_mass_factor(m, d);
    d->M = M;
    rb_arena_reset(d->arena, mark);
    return status;
}

/* Entries of row i of M. */
static int length_of(const rb_model *m, int i)
{
    return (i + 1 < m->nv ? m->dof_Madr[i + 1] : m->nM) - m->dof_Madr[i];
}

/* Each of the dofs, descending, is above the one before it. */
static int are_chain(const rb_model *m, const int *dof, int n)
{
    int j = n > 0 ? dof[0] : -1;
    for (int i = 1; i < n; i++) {
        while (j > dof[i]) j = m->dof_parent[j];
        if (j != dof[i]) return 0;
    }
    return n == 0 || dof[0] < m->nv;
}

/* The term in c->row, of the n dofs c->dof, descending. The place of a dof in the row of another
 * one that is below it is the difference of their depths. */
static int add(const rb_model *m, int n, double hold, double brake, rb_coupling *c)
{
    double g = 0.5 * c->h * (brake + 0.5 * c->h * hold), sum = 0.0;
    if (!are_chain(m, c->dof, n)) return 0;
    for (int a = 0; a < n; a++) {
        int i = c->dof[a], depth = length_of(m, i);
        double J = c->row[i], *row = c->C + m->dof_Madr[i];
        sum += fabs(J);
        for (int k = a; k < n; k++) {
            int j = c->dof[k];
            row[depth - length_of(m, j)] += g * J * c->row[j];
        }
    }
    for (int a = 0; a < n; a++) {
        double weight = fabs(c->row[c->dof[a]]) * sum;
        c->k[c->dof[a]] += weight * hold;
        c->b[c->dof[a]] += weight * brake;
    }
    return 1;
}

static void clear(int n, rb_coupling *c)
{
    for (int a = 0; a < n; a++) c->row[c->dof[a]] = 0.0;
}

int rb_coupling_add(const rb_model *m, int n, const int *dof, const double *J, double scale,
                    double hold, double brake, rb_coupling *c)
{
    int count = 0;
    for (int a = 0; a < n; a++) {
        int at = count;
        while (at > 0 && c->dof[at - 1] < dof[a]) at--;
        if (at == 0 || c->dof[at - 1] != dof[a]) {
            memmove(c->dof + at + 1, c->dof + at, (size_t)(count - at) * sizeof *c->dof);
            c->dof[at] = dof[a];
            count++;
        }
        c->row[dof[a]] += scale * J[a];
    }
    int added = add(m, count, hold, brake, c);
    clear(count, c);
    return added;
}

int rb_coupling_add_row(const rb_model *m, double hold, double brake, rb_coupling *c)
{
    int count = 0;
    for (int j = m->nv_all - 1; j >= 0; j--) {
        if (c->row[j] != 0.0) c->dof[count++] = j;
    }
    int added = add(m, count, hold, brake, c);
    clear(count, c);
    return added;
}
