/* Rows of the contact Jacobian and the compliance W = J Minv J' of rigid bodies.
 *
 * For a direction d at a point r from the centre of mass, d . (v + w x r) has the coefficients
 * (r x d, d) on (w, v); the contact's impulse acts on b, its opposite on a. */
#include "corpus_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct block {
    struct block *next;
    double data[]; /* aligned for anything we store */
} block;

void *corpus_take(void **blocks, size_t count, size_t size)
{
    block *b = calloc(1, sizeof(block) + (count ? count : 1) * size);
    if (!b) return NULL;
    b->next = *blocks;
    *blocks = b;
    return b->data;
}

void rb_corpus_free(rb_corpus_problem *p)
{
    if (!p) return;
    if (p->rows) scene_free(&p->rows->s);
    for (block *b = p->blocks; b;) {
        block *next = b->next;
        free(b);
        b = next;
    }
    memset(p, 0, sizeof *p);
}

/* One side of a row: sign * d at the point, on body b. */
static void fill_side(const scene *s, corpus_row *row, int side, int body, double sign,
                      const double point[3], const double d[3])
{
    row->body[side] = body;
    if (body < 0) return;
    const scene_body *b = &s->body[body];
    double r[3];
    for (int k = 0; k < 3; k++) r[k] = point[k] - b->com[k];
    double *J = row->coef[side], *MJ = row->mass[side];
    for (int k = 0; k < 3; k++) {
        int x = (k + 1) % 3, y = (k + 2) % 3;
        J[k] = sign * (r[x] * d[y] - r[y] * d[x]);
        J[3 + k] = sign * d[k];
    }
    for (int k = 0; k < 3; k++) {
        MJ[k] = b->inv_I[3 * k] * J[0] + b->inv_I[3 * k + 1] * J[1] + b->inv_I[3 * k + 2] * J[2];
        MJ[3 + k] = J[3 + k] / b->mass;
    }
}

static void fill_row(const scene *s, corpus_row *row, int a, int b, const double point[3],
                     const double d[3])
{
    int first = a <= b ? 0 : 1;
    fill_side(s, row, first, a, -1.0, point, d);
    fill_side(s, row, 1 - first, b, 1.0, point, d);
}

rb_status rows_make(rb_corpus_rows *r, const int *order, void **blocks)
{
    const scene *s = &r->s;
    r->ncon = s->ncon;
    r->nrow = 3 * s->ncon + 3 * s->njoint;
    r->row = corpus_take(blocks, (size_t)r->nrow, sizeof *r->row);
    r->q = corpus_take(blocks, (size_t)r->nrow, sizeof *r->q);
    if (!r->row || !r->q) return RB_NOMEM;

    for (int c = 0; c < s->ncon; c++) {
        const scene_contact *k = &s->contact[c];
        double t1[3], t2[3];
        scene_frame(k->normal, t1, t2);
        fill_row(s, &r->row[3 * c], k->a, k->b, k->point, k->normal);
        fill_row(s, &r->row[3 * c + 1], k->a, k->b, k->point, t1);
        fill_row(s, &r->row[3 * c + 2], k->a, k->b, k->point, t2);
    }
    for (int j = 0; j < s->njoint; j++)
        for (int axis = 0; axis < 3; axis++) {
            double d[3] = { axis == 0, axis == 1, axis == 2 };
            const scene_joint *k = &s->joint[j];
            fill_row(s, &r->row[3 * s->ncon + 3 * j + axis], k->a, k->b, k->point, d);
        }
    for (int i = 0; i < r->nrow; i++)
        r->row[i].rank = i < 3 * r->ncon ? 3 * order[i / 3] + i % 3 : i;
    for (int i = 0; i < r->nrow; i++)
        for (int side = 0; side < 2; side++)
            if (r->row[i].body[side] >= 0)
                for (int k = 0; k < 6; k++)
                    r->q[i] += r->row[i].coef[side][k] * s->body[r->row[i].body[side]].velocity[k];
    return RB_OK;
}

double rows_compliance(const rb_corpus_rows *r, int i, int j)
{
    int swap = r->row[i].rank < r->row[j].rank;
    const corpus_row *a = &r->row[swap ? j : i], *b = &r->row[swap ? i : j];
    double sum = 0.0;
    for (int p = 0; p < 2; p++)
        for (int q = 0; q < 2; q++)
            if (a->body[p] >= 0 && a->body[p] == b->body[q])
                for (int k = 0; k < 6; k++) sum += a->coef[p][k] * b->mass[q][k];
    return sum;
}

void rows_dense(const rb_corpus_rows *r, int n, double *W)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double w = rows_compliance(r, i, j);
            W[(size_t)i * (size_t)n + (size_t)j] = w;
            W[(size_t)j * (size_t)n + (size_t)i] = w;
        }
}

void rows_velocity(const rb_corpus_rows *r, const double *impulse, int n, double *velocity,
                   double *u)
{
    for (int b = 0; b < r->s.nbody; b++)
        memcpy(velocity + 6 * b, r->s.body[b].velocity, 6 * sizeof *velocity);
    for (int i = 0; i < r->nrow; i++)
        for (int side = 0; side < 2; side++)
            if (r->row[i].body[side] >= 0)
                for (int k = 0; k < 6; k++)
                    velocity[6 * r->row[i].body[side] + k] += r->row[i].mass[side][k] * impulse[i];
    for (int i = 0; i < n; i++) {
        u[i] = 0.0;
        for (int side = 0; side < 2; side++)
            if (r->row[i].body[side] >= 0)
                for (int k = 0; k < 6; k++)
                    u[i] += r->row[i].coef[side][k] * velocity[6 * r->row[i].body[side] + k];
    }
}
