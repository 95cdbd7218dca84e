#include "run/control_table.h"

#include <math.h>
#include <string.h>

double control_value(const rb_table *table, int column, double t, int linear)
{
    int row = rb_table_row(table, t);
    const double *x = table->x + (ptrdiff_t)row * table->ncol + column;
    if (!linear || row + 1 == table->nrow) return x[0];
    double from = table->time[row], to = table->time[row + 1]; /* from <= t < to */
    return x[0] + (t - from) / (to - from) * (x[table->ncol] - x[0]);
}

void control_pd_set(const rb_table *targets, const control_pd *pd, int n, double t, int linear,
                    rb_data *d)
{
    for (int k = 0; k < n; k++) {
        const control_pd *j = &pd[k];
        double q = control_value(targets, j->q, t, linear);
        double v = j->v >= 0 ? control_value(targets, j->v, t, linear) : 0.0;
        double kp = control_value(targets, j->kp, t, linear);
        double kd = control_value(targets, j->kd, t, linear);
        d->tau[j->dof] = kp * (q - d->q[j->qadr]) + kd * (v - d->v[j->dof]);
    }
}

/* ---- mocap bodies ------------------------------------------------------------------------------
 */

/* What the columns ask of a body in a row; the rest is as it is. */
static void pose_of_row(const rb_table *table, const control_channel *channel, int row, int mocap,
                        double pose[7])
{
    const double *x = table->x + (ptrdiff_t)row * table->ncol;
    double sum = 0.0;
    for (int k = 0; k < table->ncol; k++)
        if (channel[k].kind == CONTROL_MOCAP && channel[k].at == mocap)
            pose[channel[k].component] = x[k];
    for (int i = 3; i < 7; i++) sum += pose[i] * pose[i];
    for (int i = 3; i < 7; i++) pose[i] = sum > 0.0 ? pose[i] / sqrt(sum) : i == 3;
}

/* The pose that the columns ask of a body at time t. Both signs of a quaternion are the same
 * rotation: the way between two of them is the short one. */
static void wanted(const rb_table *table, const control_channel *channel, double t, int linear,
                   int mocap, double pose[7])
{
    int row = rb_table_row(table, t);
    double next[7], dot = 0.0, sum = 0.0;
    memcpy(next, pose, sizeof next);
    pose_of_row(table, channel, row, mocap, pose);
    if (!linear || row + 1 == table->nrow) return;
    pose_of_row(table, channel, row + 1, mocap, next);
    double from = table->time[row], to = table->time[row + 1]; /* from <= t < to */
    double share = (t - from) / (to - from);
    for (int i = 3; i < 7; i++) dot += pose[i] * next[i];
    for (int i = 0; i < 7; i++) {
        double end = i > 2 && dot < 0.0 ? -next[i] : next[i];
        pose[i] += share * (end - pose[i]);
    }
    for (int i = 3; i < 7; i++) sum += pose[i] * pose[i]; /* at least 1/2 */
    for (int i = 3; i < 7; i++) pose[i] /= sqrt(sum);
}

void control_place(const rb_table *table, const control_channel *channel, double t, int linear,
                   const rb_model *m, rb_data *d)
{
    for (int k = 0; k < m->nmocap; k++)
        wanted(table, channel, t, linear, k, d->mocap + 7 * (ptrdiff_t)k);
}

/* Rotation vector from p to q, world axes: the log of q p*, the shorter rotation. */
static void turn_between(const double p[4], const double q[4], double r[3])
{
    double w = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3];
    double x = -q[0] * p[1] + q[1] * p[0] - q[2] * p[3] + q[3] * p[2];
    double y = -q[0] * p[2] + q[1] * p[3] + q[2] * p[0] - q[3] * p[1];
    double z = -q[0] * p[3] - q[1] * p[2] + q[2] * p[1] + q[3] * p[0];
    double s = sqrt(x * x + y * y + z * z);
    double factor = s > 0.0 ? 2.0 * atan2(w < 0.0 ? -s : s, fabs(w)) / s : 0.0;
    r[0] = factor * x, r[1] = factor * y, r[2] = factor * z;
}

void control_lead(const rb_table *table, const control_channel *channel, double t, int linear,
                  double h, const rb_model *m, rb_data *d)
{
    for (int k = 0; k < m->nmocap; k++) {
        double pose[7], r[3], *v = d->mocap_v + 6 * (ptrdiff_t)k;
        const double *now = d->mocap + 7 * (ptrdiff_t)k;
        unsigned asked = 0;
        for (int i = 0; i < table->ncol; i++)
            if (channel[i].kind == CONTROL_MOCAP && channel[i].at == k)
                asked |= 1u << channel[i].component;
        memcpy(pose, now, sizeof pose);
        if (asked) wanted(table, channel, t, linear, k, pose);
        for (int i = 0; i < 3; i++)
            if (asked & (1u << i)) v[i] = (pose[i] - now[i]) / h;
        if (!(asked >> 3)) continue;
        turn_between(now + 3, pose + 3, r);
        for (int i = 0; i < 3; i++) v[3 + i] = r[i] / h;
    }
}
