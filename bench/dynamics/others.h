/* The other engines. */
#ifndef RB_BENCH_DYNAMICS_OTHERS_H
#define RB_BENCH_DYNAMICS_OTHERS_H

#include "dynamics_side.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each list ends with a NULL. */
extern const rb_side *const mujoco_sides[];
const char *mujoco_version(void);

/* The entry of the modules with Pinocchio, found by dlsym in compare.c. */
const rb_side *const *pinocchio_sides(void);

#ifdef __cplusplus
}
#endif

#endif
