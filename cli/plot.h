/* Axes with ticks and curves in them, drawn into an SVG file. */
#ifndef RATTLEBACK_CLI_PLOT_H
#define RATTLEBACK_CLI_PLOT_H

#include "svg.h"

typedef struct plot_axis {
    const char *label;
    double lo, hi;
    int logarithmic; /* lo > 0 */
    int whole;       /* 1: ticks at whole numbers alone */
} plot_axis;

typedef struct plot {
    svg *s;
    double left, top, width, height; /* of the axes in the drawing */
    plot_axis x, y;
    double legend_x, legend_y; /* where the legend begins, from the upper left corner of the axes */
    int id;                    /* of its clip              */
    int legend;                /* entries written so far   */
} plot;

/* Axes with the same scale in both directions where equal is set: y.hi moves to where it must be.
 */
plot plot_open(svg *s, const double box[4], plot_axis x, plot_axis y);

/* The same scale in both directions: y.hi is what it must be for that. */
plot plot_open_equal(svg *s, const double box[4], plot_axis x, plot_axis y);

double plot_x(const plot *p, double x);
double plot_y(const plot *p, double y);

/* Distinct colours, repeated. */
const char *plot_colour(int k);

/* n points, `stride` numbers apart; label NULL: not in the legend. */
void plot_curve(plot *p, const double *x, const double *y, int n, int stride, const char *colour,
                const char *label);
void plot_marks(plot *p, const double *x, const double *y, int n, const char *colour,
                const char *label);

/* Points that no line joins. */
void plot_dots(plot *p, const double *x, const double *y, int n, const char *colour,
               const char *label);

/* Entry of the legend alone. */
void plot_legend(plot *p, const char *colour, const char *label);

/* An arrow from (x, y) by (dx, dy), all in the units of the axes. */
void plot_arrow(plot *p, double x, double y, double dx, double dy, const char *colour);

/* A title above the axes. */
void plot_title(plot *p, const char *text);

#endif
