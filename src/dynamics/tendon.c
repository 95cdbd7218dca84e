/* Tendons (D.27): sums of joint coordinates, or strings over sites, spheres and cylinders. The
 * length of a string changes at its straight pieces only: with u the direction of one from a to b,
 *
 *     l' = sum u.(v_b - v_a) / divisor
 *
 * since the part on a surface is as short as it can be. A piece is a pair of opposite forces in
 * one line, so that links which carry both ends do not feel it. */
#include "dynamics/tendon.h"

#include <string.h>

#include "math/spatial.h"
#include "math/vec3.h"
#include "model/path.h"

/* The row that is being written. */
typedef struct writer {
    const rb_model *m;
    const rb_data *d;
    const int *dof;
    double *J;
    int n;
} writer;

/* The force f at x, as a wrench at O of a link. */
static void wrench_at(const rb_data *d, int link, const double x[3], const double f[3], double F[6])
{
    double arm[3];
    rb_sub3(x, d->link_p + 3 * link, arm);
    rb_cross3(arm, f, F);
    rb_copy3(f, F + 3);
}

/* J += S.F of the dofs on both sides, up to the link that carries both. Dofs come in descending
 * order, as the row has them from its end. */
static void add_piece(void *ctx, const rb_path_piece *piece)
{
    writer *w = ctx;
    const rb_model *m = w->m;
    if (piece->link_a == piece->link_b) return; /* its length does not change */
    double u[3], back[3], F_a[6], F_b[6];
    rb_sub3(piece->b, piece->a, u);
    double length = rb_norm3(u);
    if (!(length > 0.0)) return; /* no direction, as in MuJoCo's sum but for its choice of one */
    rb_scale3(1.0 / (length * piece->divisor), u, u);
    rb_scale3(-1.0, u, back);
    wrench_at(w->d, piece->link_a, piece->a, back, F_a);
    wrench_at(w->d, piece->link_b, piece->b, u, F_b);
    int k_a = piece->link_a, k_b = piece->link_b, at = w->n - 1;
    while (k_a != k_b) {
        int *k = k_a > k_b ? &k_a : &k_b;
        double *F = k_a > k_b ? F_a : F_b;
        for (int i = m->link_dofadr[*k] + m->link_dofnum[*k] - 1; i >= m->link_dofadr[*k]; i--) {
            if (m->link_dofnum[*k] == 0) break;
            while (w->dof[at] > i) at--;
            w->J[at] += rb_dot6(w->d->dof_S + 6 * i, F);
        }
        rb_shift_wrench(w->d->link_l + 3 * *k, F, F);
        *k = m->link_parent[*k];
    }
}

void rb_tendons(const rb_model *m, rb_data *d)
{
    rb_tendons_of(m, d, NULL);
}

void rb_tendons_felt(const rb_model *m, unsigned char *marks)
{
    for (int t = 0; t < m->ntendon; t++)
        marks[t] = rb_tendon_is_elastic(m, t) || m->tendon_armature[t] != 0.0;
    for (int i = 0; i < m->nu; i++) {
        if (m->act_transmission[i] == RB_TRN_TENDON) marks[m->act_target[i]] = 1;
    }
}

void rb_tendons_of(const rb_model *m, rb_data *d, const unsigned char *marks)
{
    for (int t = 0; t < m->ntendon; t++) {
        if (m->tendon_pathnum[t] == 0 || (marks && !marks[t])) continue;
        int at = m->tendon_rowadr[t], n = m->tendon_rownum[t];
        writer w = { m, d, m->tendon_dof + at, d->ten_J + at, n };
        memset(w.J, 0, (size_t)n * sizeof *w.J);
        d->ten_length[t] = rb_path_walk(m, t, d->link_p, d->link_R, add_piece, &w);
    }
}

/* Points that were passed so far. */
typedef struct trail {
    int n, capacity;
    double *point;
    int *branch;
    int last_branch;
    double last_point[3];
} trail;

static void add_point(trail *t, const double x[3], int branch)
{
    int again =
        t->n > 0 && t->last_branch == branch && memcmp(t->last_point, x, sizeof t->last_point) == 0;
    if (again) return;
    if (t->n < t->capacity) {
        rb_copy3(x, t->point + 3 * t->n);
        t->branch[t->n] = branch;
    }
    rb_copy3(x, t->last_point);
    t->last_branch = branch;
    t->n++;
}

static void pass_piece(void *ctx, const rb_path_piece *piece)
{
    add_point(ctx, piece->a, piece->branch);
    add_point(ctx, piece->b, piece->branch);
}

int rb_tendon_path(const rb_model *m, const rb_data *d, int t, int capacity, double *point,
                   int *branch)
{
    trail passed = { .capacity = capacity, .point = point, .branch = branch };
    if (m->tendon_pathnum[t] > 0) rb_path_walk(m, t, d->link_p, d->link_R, pass_piece, &passed);
    return passed.n;
}

double rb_tendon_length(const rb_model *m, const rb_data *d, int t)
{
    if (m->tendon_pathnum[t] > 0) return d->ten_length[t];
    double length = 0.0;
    for (int i = m->tendon_adr[t]; i < m->tendon_adr[t] + m->tendon_num[t]; i++)
        length += m->wrap_coef[i] * d->q[m->jnt_qadr[m->wrap_jnt[i]]];
    return length;
}

double rb_tendon_rate(const rb_model *m, const rb_data *d, int t)
{
    rb_tendon_row row = rb_tendon_row_of(m, d, t);
    double rate = 0.0;
    for (int i = 0; i < row.n; i++) rate += row.J[i] * d->v[row.dof[i]];
    return rate;
}
