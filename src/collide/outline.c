#include "collide/outline.h"

#include "collide/segment.h"
#include "math/vec3.h"

static void project(const rb_outline *o, const double x[3], double out[2])
{
    double r[3];
    rb_sub3(x, o->o, r);
    out[0] = rb_dot3(r, o->u);
    out[1] = rb_dot3(r, o->v);
}

static double distance(const double x[2], const double y[2])
{
    double a = x[0] - y[0], b = x[1] - y[1];
    return sqrt(a * a + b * b);
}

/* Distance of the centre from the line of side i; the other corners are all on its side. */
static double room_of(const rb_outline *o, int i)
{
    const double *a = o->x[i], *b = o->x[i + 1 == o->n ? 0 : i + 1];
    double x = b[0] - a[0], y = b[1] - a[1], length = sqrt(x * x + y * y);
    if (!(length > 0.0)) return INFINITY;
    return fabs(x * (o->centre[1] - a[1]) - y * (o->centre[0] - a[0])) / length;
}

void rb_outline_make(const rb_patch *patch, const double n[3], rb_outline *out)
{
    out->n = 0;
    if (patch->n < 3 || patch->disc > 0.0 || patch->tube > 0.0) return;
    out->n = patch->n;
    rb_copy3(patch->x[0], out->o);
    rb_orthogonal(n, out->u);
    rb_cross3(n, out->u, out->v);
    out->centre[0] = out->centre[1] = 0.0;
    for (int i = 0; i < out->n; i++) {
        project(out, patch->x[i], out->x[i]);
        for (int k = 0; k < 2; k++) out->centre[k] += out->x[i][k] / out->n;
    }
    out->in = INFINITY;
    out->out = 0.0;
    for (int i = 0; i < out->n; i++) {
        out->in = rb_smaller(out->in, room_of(out, i));
        out->out = rb_larger(out->out, distance(out->x[i], out->centre));
    }
}

int rb_outline_has(const rb_outline *o, const double x[3], double margin)
{
    double y[2];
    project(o, x, y);
    double far = distance(y, o->centre);
    if (far < o->in - margin) return 1;
    return far > o->out + margin ? 0 : -1;
}

/* Distance of the point c from the segment a b. */
static double segment_distance(const double a[2], const double b[2], const double c[2])
{
    double u[2] = { b[0] - a[0], b[1] - a[1] }, r[2] = { c[0] - a[0], c[1] - a[1] };
    double uu = u[0] * u[0] + u[1] * u[1], t = r[0] * u[0] + r[1] * u[1];
    t = uu > 0.0 ? rb_smaller(1.0, rb_larger(0.0, t / uu)) : 0.0;
    double foot[2] = { a[0] + t * u[0], a[1] + t * u[1] };
    return distance(foot, c);
}

rb_outline_side rb_outline_look(const rb_outline *o, const double a[3], const double b[3],
                                double margin)
{
    rb_outline_side s;
    double x[2], y[2];
    project(o, a, x);
    project(o, b, y);
    for (int k = 0; k < 2; k++) {
        s.lo[k] = rb_smaller(x[k], y[k]) - margin;
        s.hi[k] = rb_larger(x[k], y[k]) + margin;
    }
    double far = rb_larger(distance(x, o->centre), distance(y, o->centre));
    s.apart = far < o->in - margin || segment_distance(x, y, o->centre) > o->out + margin;
    return s;
}

int rb_outline_misses(const rb_outline *o, const rb_outline_side *s, int j)
{
    const double *x = o->x[j], *y = o->x[j + 1 == o->n ? 0 : j + 1];
    return (x[0] < s->lo[0] && y[0] < s->lo[0]) || (x[0] > s->hi[0] && y[0] > s->hi[0]) ||
           (x[1] < s->lo[1] && y[1] < s->lo[1]) || (x[1] > s->hi[1] && y[1] > s->hi[1]);
}
