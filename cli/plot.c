#include "plot.h"

#include <math.h>

enum { TICKS = 6, LEGEND_LINE = 15 };

#define GRID "stroke=\"#e4e4e4\" stroke-width=\"0.7\""
#define INK  "fill=\"#333\""

/* ---- scales ------------------------------------------------------------------------------------
 */

static double share(const plot_axis *a, double value)
{
    if (!a->logarithmic) return (value - a->lo) / (a->hi - a->lo);
    return log10(value / a->lo) / log10(a->hi / a->lo);
}

double plot_x(const plot *p, double x)
{
    return p->left + p->width * share(&p->x, x);
}

double plot_y(const plot *p, double y)
{
    return p->top + p->height * (1.0 - share(&p->y, y));
}

const char *plot_colour(int k)
{
    static const char *const colours[] = { "#1f5fa8", "#c8401f", "#2e8b57", "#8a4fbf", "#d08b00",
                                           "#0f9aa8", "#b03a7a", "#5b5b5b", "#7fae3a", "#e0719a" };
    return colours[k % (int)(sizeof colours / sizeof *colours)];
}

/* ---- ticks -------------------------------------------------------------------------------------
 */

/* 1, 2 or 5 times a power of ten: about TICKS of them in the range. */
static double tick_step(double range)
{
    double rough = range / TICKS, power = pow(10.0, floor(log10(rough)));
    double digits = rough / power;
    return power * (digits < 1.5 ? 1.0 : digits < 3.5 ? 2.0 : digits < 7.5 ? 5.0 : 10.0);
}

static void tick(plot *p, int vertical, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", fabs(value) < 1e-12 ? 0.0 : value);
    if (vertical) {
        double at = plot_y(p, value);
        svg_line(p->s, p->left, at, p->left + p->width, at, GRID);
        svg_text(p->s, p->left - 5.0, at + 4.0, SVG_END, INK, text);
    } else {
        double at = plot_x(p, value);
        svg_line(p->s, at, p->top, at, p->top + p->height, GRID);
        svg_text(p->s, at, p->top + p->height + 15.0, SVG_MIDDLE, INK, text);
    }
}

static void ticks(plot *p, int vertical)
{
    const plot_axis *a = vertical ? &p->y : &p->x;
    if (a->logarithmic) {
        for (double decade = pow(10.0, floor(log10(a->lo))); decade <= a->hi; decade *= 10.0)
            for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3)
                if (decade * digit >= a->lo * (1.0 - 1e-9) &&
                    decade * digit <= a->hi * (1.0 + 1e-9))
                    tick(p, vertical, decade * digit);
        return;
    }
    double step = tick_step(a->hi - a->lo);
    if (a->whole && step < 1.0) step = 1.0;
    for (int k = (int)ceil(a->lo / step - 1e-9); k * step <= a->hi + 1e-9 * step; k++)
        tick(p, vertical, k * step);
}

plot plot_open(svg *s, const double box[4], plot_axis x, plot_axis y)
{
    plot p = { .s = s,
               .left = box[0],
               .top = box[1],
               .width = box[2],
               .height = box[3],
               .x = x,
               .y = y,
               .legend_x = 10.0,
               .legend_y = 12.0,
               .id = (int)(1000.0 * box[0] + box[1]) };
    ticks(&p, 0);
    ticks(&p, 1);
    svg_rect(s, p.left, p.top, p.width, p.height, "fill=\"none\" stroke=\"#777\"");
    svg_text(s, p.left + 0.5 * p.width, p.top + p.height + 32.0, SVG_MIDDLE, INK, x.label);
    char turned[96];
    double at_x = p.left - 42.0, at_y = p.top + 0.5 * p.height;
    snprintf(turned, sizeof turned, INK " transform=\"rotate(-90 %.2f %.2f)\"", at_x, at_y);
    svg_text(s, at_x, at_y, SVG_MIDDLE, turned, y.label);
    return p;
}

plot plot_open_equal(svg *s, const double box[4], plot_axis x, plot_axis y)
{
    y.hi = y.lo + (x.hi - x.lo) * box[3] / box[2];
    return plot_open(s, box, x, y);
}

/* ---- what is in them ---------------------------------------------------------------------------
 */

void plot_title(plot *p, const char *text)
{
    svg_text(p->s, p->left, p->top - 8.0, SVG_START, INK " font-weight=\"bold\"", text);
}

void plot_legend(plot *p, const char *colour, const char *label)
{
    char style[96];
    double x = p->left + p->legend_x, y = p->top + p->legend_y + LEGEND_LINE * p->legend++;
    snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"2\"", colour);
    svg_line(p->s, x, y, x + 18.0, y, style);
    svg_text(p->s, x + 23.0, y + 4.0, SVG_START, INK, label);
}

static int shown(const plot *p, double x, double y)
{
    return isfinite(x) && isfinite(y) && (!p->x.logarithmic || x > 0.0) &&
           (!p->y.logarithmic || y > 0.0);
}

void plot_curve(plot *p, const double *x, const double *y, int n, int stride, const char *colour,
                const char *label)
{
    enum { MOST_POINTS = 800 };
    char style[96];
    int every = n > MOST_POINTS ? (n + MOST_POINTS - 1) / MOST_POINTS : 1;
    snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"1.4\"", colour);
    svg_begin_clip(p->s, p->id++, p->left, p->top, p->width, p->height);
    svg_begin_line(p->s, style);
    for (int i = 0; i < n; i++) {
        double x_i = x[(size_t)i * (size_t)stride], y_i = y[(size_t)i * (size_t)stride];
        if ((i % every == 0 || i == n - 1) && shown(p, x_i, y_i))
            svg_point(p->s, plot_x(p, x_i), plot_y(p, y_i));
    }
    svg_end_line(p->s);
    svg_end_clip(p->s);
    if (label) plot_legend(p, colour, label);
}

static void circles(plot *p, const double *x, const double *y, int n, const char *colour)
{
    char style[64];
    snprintf(style, sizeof style, "fill=\"%s\"", colour);
    for (int i = 0; i < n; i++)
        if (shown(p, x[i], y[i])) svg_circle(p->s, plot_x(p, x[i]), plot_y(p, y[i]), 3.0, style);
}

void plot_marks(plot *p, const double *x, const double *y, int n, const char *colour,
                const char *label)
{
    circles(p, x, y, n, colour);
    plot_curve(p, x, y, n, 1, colour, label);
}

void plot_dots(plot *p, const double *x, const double *y, int n, const char *colour,
               const char *label)
{
    circles(p, x, y, n, colour);
    if (label) plot_legend(p, colour, label);
}

void plot_arrow(plot *p, double x, double y, double dx, double dy, const char *colour)
{
    char style[96];
    double x1 = plot_x(p, x), y1 = plot_y(p, y), x2 = plot_x(p, x + dx), y2 = plot_y(p, y + dy);
    double length = hypot(x2 - x1, y2 - y1);
    if (length < 0.5) return;
    snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"1.6\"", colour);
    svg_line(p->s, x1, y1, x2, y2, style);
    double head = fmin(6.0, 0.6 * length), ux = (x2 - x1) / length, uy = (y2 - y1) / length;
    svg_line(p->s, x2, y2, x2 - head * (ux + 0.5 * uy), y2 - head * (uy - 0.5 * ux), style);
    svg_line(p->s, x2, y2, x2 - head * (ux - 0.5 * uy), y2 - head * (uy + 0.5 * ux), style);
}
