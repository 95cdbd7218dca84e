/* Values of a table over time, and what is done with them. */
#ifndef RATTLEBACK_CLI_CONTROL_TABLE_H
#define RATTLEBACK_CLI_CONTROL_TABLE_H

#include "run/control_columns.h"

/* A column at time t: of the row that holds, or on the line to the next one. Some row must hold. */
double control_value(const rb_table *table, int column, double t, int linear);

/* tau = kp (target - q) + kd (velocity - v), of every joint with a target. */
void control_pd_set(const rb_table *targets, const control_pd *pd, int n, double t, int linear,
                    rb_data *d);

/* Mocap bodies at the poses of time t; or velocities that bring them there within h. */
void control_place(const rb_table *table, const control_channel *channel, double t, int linear,
                   const rb_model *m, rb_data *d);
void control_lead(const rb_table *table, const control_channel *channel, double t, int linear,
                  double h, const rb_model *m, rb_data *d);

#endif
