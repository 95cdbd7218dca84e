/* What the midpoint rule makes of energy in a step. */
#ifndef RB_DYNAMICS_SMOOTH_ENERGY_H
#define RB_DYNAMICS_SMOOTH_ENERGY_H

#include "dynamics/planar.h"
#include "rattleback/model.h"

typedef struct rb_smooth_energy {
    int watched;   /* 0: the step is too slow to make or lose any                               */
    double before; /* kinetic energy at the start [J]                                           */
    double work;   /* of all forces in the step [J]                                             */
    double made;   /* beside that work, in the try before [J]; INFINITY: there was none         */
} rb_smooth_energy;

/* d at the start, its links placed or not. Does nothing where mocap bodies do work. flat: of
 * mechanisms in a plane; NULL: by poses, here and below. */
void rb_smooth_energy_start(const rb_model *m, rb_data *d, rb_plane *flat, int placed,
                            rb_smooth_energy *e);

/* Power of gravity [W]. Needs velocity. */
double rb_smooth_weight_power(const rb_model *m, const rb_data *d);

/* What the rule made [J], d at the end of the step. */
double rb_smooth_energy_made(const rb_model *m, rb_data *d, rb_plane *flat,
                             const rb_smooth_energy *e);

/* Substeps to try next, d at the end of a step of `count`; `count`: it is good enough. */
int rb_smooth_energy_substeps(const rb_model *m, rb_data *d, rb_plane *flat, rb_smooth_energy *e,
                              int count);

#endif
