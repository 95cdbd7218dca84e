/* What impulses at points do to the velocities of the whole tree (D.18): the wrenches go up from
 * the links that were hit, the velocity changes come down through the trees that were touched. */
#include <string.h>

#include "base/arena.h"
#include "math/spatial.h"
#include "rattleback/dynamics.h"

typedef struct sweep {
    double *f;  /* wrench at O that the dofs below could not take     (nlink x 6) */
    double *dV; /* velocity change of the link                        (nlink x 6) */
    char *hit;  /* a wrench came here                                 (nlink)     */
    char *move; /* the velocity of the link changes                   (nlink)     */
} sweep;

/* (r x p ; p) of every impulse, summed on its link. */
static void collect(const rb_model *m, const rb_data *d, int n, const rb_point *points,
                    const double *p, sweep *s)
{
    for (int i = 0; i < n; i++) {
        int k = m->body_link[points[i].body];
        double r[3], torque[3];
        rb_sub3(points[i].pos, d->link_p + 3 * k, r);
        rb_cross3(r, p + 3 * i, torque);
        rb_add3(s->f + 6 * k, torque, s->f + 6 * k);
        rb_add3(s->f + 6 * k + 3, p + 3 * i, s->f + 6 * k + 3);
        s->hit[k] = 1;
    }
}

/* tips to base; dv keeps e_j until the way down */
static void up(const rb_model *m, const rb_data *d, sweep *s, double *dv)
{
    for (int k = m->nlink - 1; k > 0; k--) {
        if (!s->hit[k]) continue;
        double *f = s->f + 6 * k;
        for (int j = m->link_dofadr[k] + m->link_dofnum[k] - 1; j >= m->link_dofadr[k]; j--) {
            dv[j] = rb_dot6(d->dof_S + 6 * j, f);
            rb_axpy6(-dv[j] / d->dof_D[j], d->dof_U + 6 * j, f);
        }

        int parent = m->link_parent[k];
        double at_parent[6];
        rb_shift_wrench(d->link_l + 3 * k, f, at_parent);
        rb_axpy6(1.0, at_parent, s->f + 6 * parent);
        s->hit[parent] = 1;
    }
}

static void down(const rb_model *m, const rb_data *d, sweep *s, double *dv)
{
    for (int k = 1; k < m->nlink; k++) {
        int parent = m->link_parent[k];
        s->move[k] = m->link_tree[k] >= 0 && (s->hit[k] || s->move[parent]);
        if (!s->move[k]) continue;

        double *dV = s->dV + 6 * k;
        rb_shift_motion(d->link_l + 3 * k, s->dV + 6 * parent, dV);
        int end = m->link_dofadr[k] + m->link_dofnum[k];
        for (int j = m->link_dofadr[k]; j < end; j++) {
            dv[j] = (dv[j] - rb_dot6(d->dof_U + 6 * j, dV)) / d->dof_D[j];
            rb_axpy6(dv[j], d->dof_S + 6 * j, dV);
        }
    }
}

rb_status rb_impulse(const rb_model *m, rb_data *d, int n, const rb_point *points, const double *p,
                     double *dv)
{
    rb_mark mark = rb_arena_mark(d->arena);
    size_t nlink = (size_t)m->nlink;
    sweep s = {
        .f = rb_push(d->arena, double, 6 * nlink),
        .dV = rb_push(d->arena, double, 6 * nlink),
        .hit = rb_push(d->arena, char, nlink),
        .move = rb_push(d->arena, char, nlink),
    };
    rb_status status = RB_NOMEM;
    if (s.f && s.dV && s.hit && s.move) {
        memset(s.f, 0, 6 * nlink * sizeof *s.f);
        memset(s.dV, 0, 6 * sizeof *s.dV);
        memset(s.hit, 0, nlink);
        s.move[0] = 0;
        for (int j = 0; j < m->nv; j++) dv[j] = 0.0;
        collect(m, d, n, points, p, &s);
        up(m, d, &s, dv);
        down(m, d, &s, dv);
        status = RB_OK;
    }
    rb_arena_reset(d->arena, mark);
    return status;
}
