/* Jacobian rows of a scene: three per contact (n, t1, t2), then three per ball joint. Internal. */
#ifndef RB_BENCH_ROWS_H
#define RB_BENCH_ROWS_H

#include "corpus_scene.h"

/* u_i = sum over the two bodies of coef . velocity(body); body -1 = none. Ascending bodies. */
typedef struct corpus_row {
    int body[2];
    double coef[2][6]; /* J, (angular, linear)            */
    double mass[2][6]; /* Minv J': what an impulse does   */
    int rank;          /* place in the scene, whatever the order of its contacts */
} corpus_row;

typedef struct rb_corpus_rows {
    scene s;
    int ncon, nrow; /* nrow = 3 ncon + 3 njoint */
    corpus_row *row;
    double *q; /* J vf [m/s]                (nrow) */
} rb_corpus_rows;

/* Memory that lives as long as the problem: a list of blocks. */
void *corpus_take(void **blocks, size_t count, size_t size);

/* Takes the scene over and computes its rows; contact c was contact order[c] of the scene. */
rb_status rows_make(rb_corpus_rows *r, const int *order, void **blocks);

/* W_ij = J_i Minv J_j', with the factors in the order of the scene: symmetric to the bit, and the
 * same bits in every order of the contacts. */
double rows_compliance(const rb_corpus_rows *r, int i, int j);

/* Dense W of the first n rows, exactly symmetric. */
void rows_dense(const rb_corpus_rows *r, int n, double *W);

/* u = J (vf + Minv J' impulse) for the first n rows of u and all rows of impulse; `velocity` is
 * scratch, 6 per body. */
void rows_velocity(const rb_corpus_rows *r, const double *impulse, int n, double *velocity,
                   double *u);

/* The forms; each fills out->problem from out->rows. */
rb_status form_cone(rb_corpus_problem *out);
rb_status form_cone_bsr(rb_corpus_problem *out);
rb_status form_cone_operator(rb_corpus_problem *out);
rb_status form_cone_2d(rb_corpus_problem *out);
rb_status form_stewart_trinkle(rb_corpus_problem *out);
rb_status form_phantom(rb_corpus_problem *out);
rb_status form_box(rb_corpus_problem *out);

/* Unit vectors of nd directions, the second half the exact negative of the first (nd x 2). */
void directions(int nd, double *dir);

/* What form_phantom eliminated: the tangential impulses of z, at 3 c + 1 and 3 c + 2 (3 nc). */
void phantom_friction(const rb_corpus_problem *p, const double *z, double *friction);

#endif
