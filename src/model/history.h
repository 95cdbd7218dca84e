/* Samples of the past, with their times: controls and sensors that are delayed. */
#ifndef RB_MODEL_HISTORY_H
#define RB_MODEL_HISTORY_H

/* The oldest sample first. */
typedef struct rb_history {
    double *time;  /* (n)       */
    double *value; /* (n x dim) */
    int n, dim;
} rb_history;

/* A sample at t, in place of the oldest; at the time of the last one, in place of that. */
void rb_history_put(const rb_history *x, double t, const double *value);

/* What was there at t: 0 the sample before, 1 linear between two, 2 by cubics (Catmull-Rom); beyond
 * the first and the last these. What is a sample up to `close` is that sample. */
void rb_history_read(const rb_history *x, double t, double close, int interpolate, double *out);

#endif
