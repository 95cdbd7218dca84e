/* One engine in the comparison: it is given states, runs forward dynamics at one of them (this is
 * what is timed), and gives the accelerations back. Conversions of order and axes happen in give
 * and take, outside the timed part. */
#ifndef RB_BENCH_DYNAMICS_SIDE_H
#define RB_BENCH_DYNAMICS_SIDE_H

#include "rattleback/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RB_SIDE_STATES = 32 }; /* random states of a model */

typedef struct rb_side {
    const char *name;
    void *(*make)(const rb_model *m); /* NULL: this engine does not take the model            */
    void (*give)(void *engine, int k, const double *q, const double *v, const double *tau);
    void (*run)(void *engine, int k);
    void (*take)(void *engine, int k, double *qdd); /* of the state that was run last         */
    void (*release)(void *engine);
} rb_side;

/* rattleback by its different ways; ends with a NULL. */
extern const rb_side *const rb_ours_sides[];

#ifdef __cplusplus
}
#endif

#endif
