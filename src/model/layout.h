/* One table per block says where each array is: the size of a block, its pointers and the check of
 * foreign bytes all come from it. Arrays begin at multiples of 64 bytes, so that a block at such an
 * address can be copied to any other one. */
#ifndef RB_MODEL_LAYOUT_H
#define RB_MODEL_LAYOUT_H

#include <stddef.h>

#include "rattleback/model.h"

enum { RB_BLOCK_ALIGN = 64 };

/* Bytes of a block whose counts are set; 0: a count is negative or the budget is exceeded. */
size_t rb_model_layout(const rb_model *m);
size_t rb_data_layout(const rb_data *d);

/* Points the arrays into the memory after the struct. */
void rb_model_bind(rb_model *m);
void rb_data_bind(rb_data *d);

/* Aligned memory of `bytes`, cleared; *memory is what has to be released. NULL: out of memory. */
void *rb_block_new(const rb_alloc *alloc, size_t bytes, void **memory);

/* The sizes of `m` in the struct of its data. */
void rb_data_sizes(const rb_model *m, rb_data *d);

/* Delayed sensors begin with zeros (sensors.c). */
void rb_sensor_past_reset(const rb_model *m, rb_data *d);

/* Controls of the past (actuators.c): zeros at first; those of a step that began at t are kept;
 * those that actuator u, which has a delay, feels. */
void rb_control_past_reset(const rb_model *m, rb_data *d);
void rb_control_remember(const rb_model *m, rb_data *d, double t);
void rb_control_delayed(const rb_model *m, const rb_data *d, int u, double *out);

#endif
