/* Random pairs of moving shapes, by seed: shared by tests and `rattleback bench toi`. */
#ifndef RATTLEBACK_BENCH_TOI_CASES_H
#define RATTLEBACK_BENCH_TOI_CASES_H

#include "rattleback/collide.h"

typedef struct toi_case {
    rb_shape shape[2];
    rb_ballistic flight[2];
    double size[2][3], p[2][3], R[2][9];
} toi_case;

/* A model with some hulls for toi_case_make; NULL: out of memory. */
rb_model *toi_hulls(void);

/* Two shapes some metres apart that fly towards each other, turning; some as large or thin as 1 um
 * beside 1 m, some as fast as 100 m/s, some with gravity on one of them. */
void toi_case_make(const rb_model *hulls, uint64_t seed, toi_case *out);

/* Gap of the two at time t, by placing the shapes there. */
double toi_case_gap(const toi_case *c, double t);

/* Time of the first impact found by looking at `samples` times and bisection; INFINITY: none. */
double toi_case_slow(const toi_case *c, double horizon, int samples);

#endif
