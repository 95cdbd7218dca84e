/* The poses of a part as a table, as JSON, as a figure. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "plot.h"
#include "poses/poses.h"

static double share(const poses_tally *t, int k)
{
    return t->drops > 0 ? (double)t->count[k] / t->drops : NAN;
}

/* ---- for people ---------------------------------------------------------------------------------
 */

static void say_how(const poses_options *o, const rb_part *p, const poses_tally *t)
{
    const rb_drop_opts *s = &o->drop;
    printf("\n%d drops (seed %llu, %s, step %.3g s, from %.4g m)", t->drops,
           (unsigned long long)s->seed, o->stepper, s->step.h, s->height);
    printf(", %.3g kg, size %.4g m\n", p->mass, p->size);
    if (t->drops == 0) return;
    printf("%.3f s simulated a drop, %.2f ms of processor time\n", t->time / t->drops,
           1e3 * t->cpu / t->drops);
    if (t->retries > 0.0)
        printf("%.0f tries of %.0f steps had no answer and were repeated, shorter or fixed\n",
               t->retries, t->steps);
    if (t->outcome[RB_DROP_ROLLING])
        printf("%d of them rolled on; they count where they roll\n", t->outcome[RB_DROP_ROLLING]);
    if (t->outcome[RB_DROP_UNSETTLED])
        printf("%d did not settle within %g s: no pose\n", t->outcome[RB_DROP_UNSETTLED], s->time);
    if (t->outcome[RB_DROP_FAILED])
        printf("%d ended with a step that could not be certified: no pose\n",
               t->outcome[RB_DROP_FAILED]);
    if (t->interrupted) printf("interrupted; --resume FILE keeps what was done\n");
}

void poses_report_text(const poses_options *o, const rb_part *p, const poses_tally *t)
{
    printf("%4s %-22s %9s %10s %10s %8s %11s %17s %12s\n", "pose", "down", "area [m2]",
           "height [m]", "climb [m]", "drops", "probability", "95 % interval", "quasi-static");
    for (int k = 0; k < p->npose; k++) {
        const rb_rest_pose *a = &p->pose[k];
        const double *n = p->face[a->facet].n;
        char down[64], range[64] = "", probability[32] = "";
        double low, high;
        rb_wilson(t->count[k], t->drops, &low, &high);
        snprintf(down, sizeof down, "%6.3f %6.3f %6.3f%s", n[0] + 0.0, n[1] + 0.0, n[2] + 0.0,
                 a->rolling ? " r" : "");
        if (t->drops > 0) {
            snprintf(range, sizeof range, "%.4f .. %.4f", low, high);
            snprintf(probability, sizeof probability, "%.4f", share(t, k));
        }
        printf("%4d %-22s %9.3g %10.5g %10.3g %8d %11s %17s %12.5f\n", k, down, a->area, a->height,
               a->barrier - a->height, t->count[k], probability, range, a->quasi_static);
    }
    say_how(o, p, t);
}

/* ---- for programs -------------------------------------------------------------------------------
 */

static void json_pose(json *j, const rb_part *p, const poses_tally *t, int k)
{
    const rb_rest_pose *a = &p->pose[k];
    double low, high;
    rb_wilson(t->count[k], t->drops, &low, &high);
    json_begin(j, NULL);
    json_int(j, "pose", k);
    json_vector(j, "down", p->face[a->facet].n, 3);
    json_number(j, "area", a->area);
    json_number(j, "height", a->height);
    json_number(j, "barrier", a->barrier);
    json_int(j, "facets", a->nfacet);
    json_int(j, "rolling", a->rolling);
    json_int(j, "count", t->count[k]);
    json_number(j, "probability", share(t, k));
    json_number(j, "low", low);
    json_number(j, "high", high);
    json_number(j, "quasi_static", a->quasi_static);
    json_end(j);
}

void poses_report_json(const poses_options *o, const rb_part *p, const poses_tally *t)
{
    const rb_drop_opts *s = &o->drop;
    json j = { .out = stdout };
    json_begin(&j, NULL);
    json_text(&j, "file", o->file);
    json_number(&j, "mass", p->mass);
    json_number(&j, "size", p->size);
    json_vector(&j, "com", p->com, 3);
    json_int(&j, "drops", t->drops);
    json_number(&j, "seed", (double)s->seed);
    json_text(&j, "stepper", o->stepper);
    json_number(&j, "step", s->step.h);
    json_number(&j, "height", s->height);
    json_number(&j, "spin", s->spin);
    json_begin_list(&j, "poses");
    for (int k = 0; k < p->npose; k++) json_pose(&j, p, t, k);
    json_end_list(&j);
    for (int k = 0; k < RB_DROP_OUTCOMES; k++)
        json_int(&j, rb_drop_word((rb_drop_outcome)k), t->outcome[k]);
    json_int(&j, "interrupted", t->interrupted);
    json_number(&j, "simulated", t->time);
    json_number(&j, "steps", t->steps);
    json_number(&j, "retries", t->retries);
    json_number(&j, "cpu", t->cpu);
    json_number(&j, "wall", t->wall);
    json_end(&j);
}

/* ---- a figure -----------------------------------------------------------------------------------
 */

static void draw_pose(plot *q, const rb_part *p, const poses_tally *t, int k)
{
    double low, high, zero = plot_y(q, 0.0);
    double left = plot_x(q, k - 0.3), right = plot_x(q, k + 0.3), middle = plot_x(q, k);
    rb_wilson(t->count[k], t->drops, &low, &high);
    if (t->drops > 0) {
        double top = plot_y(q, share(t, k));
        svg_rect(q->s, left, top, right - left, zero - top, "fill=\"#9dbfe3\"");
        svg_line(q->s, middle, plot_y(q, low), middle, plot_y(q, high),
                 "stroke=\"#1f5fa8\" stroke-width=\"1.6\"");
        for (int end = 0; end < 2; end++) {
            double y = plot_y(q, end ? high : low);
            svg_line(q->s, middle - 4.0, y, middle + 4.0, y,
                     "stroke=\"#1f5fa8\" stroke-width=\"1.6\"");
        }
    }
    double y = plot_y(q, p->pose[k].quasi_static);
    svg_line(q->s, left, y, right, y, "stroke=\"#c8401f\" stroke-width=\"2\"");
}

int poses_report_svg(const poses_options *o, const rb_part *p, const poses_tally *t)
{
    svg s;
    double most = 0.0, width = fmin(1200.0, fmax(240.0, 70.0 * p->npose));
    char title[160];
    for (int k = 0; k < p->npose; k++) {
        double low, high;
        rb_wilson(t->count[k], t->drops, &low, &high);
        most = fmax(most, fmax(p->pose[k].quasi_static, t->drops > 0 ? high : 0.0));
    }
    if (!svg_open(&s, o->svg, width + 90.0, 360.0, "Stable poses")) return 0;
    const double box[4] = { 60.0, 40.0, width, 260.0 };
    plot q = plot_open(&s, box,
                       (plot_axis){ .label = "pose, the lowest first",
                                    .lo = -0.5,
                                    .hi = p->npose - 0.5,
                                    .whole = 1 },
                       (plot_axis){ .label = "probability", .hi = fmin(1.0, 1.3 * most) });
    snprintf(title, sizeof title, "%d drops, %s", t->drops, o->stepper);
    plot_title(&q, title);
    for (int k = 0; k < p->npose; k++) draw_pose(&q, p, t, k);
    plot_legend(&q, "#1f5fa8", "simulated, 95 % interval");
    plot_legend(&q, "#c8401f", "quasi-static");
    return svg_close(&s);
}
