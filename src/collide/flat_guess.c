/* A cylinder against a face of a box, or a cap against a vertex of it. Of the normals of the box
 * and the axis u of the cylinder the one that separates most is the direction of the gap if the
 * other shape's extreme point lies over the face: apart, both are then as far from each other as
 * the separation says; where they overlap a ball inside the difference has to prove it (G.24). */
#include "base/constants.h"
#include "collide/convex.h"
#include "collide/inner.h"
#include "collide/segment.h"
#include "math/vec3.h"

/* The pair seen from the box. */
typedef struct seen {
    const double *h, *size; /* half sizes; radius and half length */
    double t[3], u[3];      /* centre of the box from that of the cylinder; axis */
} seen;

/* Separation along face k of the box; 3: along the axis. */
static double separation(const seen *p, int k)
{
    const double *u = p->u, *h = p->h;
    if (k == 3) {
        double width = h[0] * fabs(u[0]) + h[1] * fabs(u[1]) + h[2] * fabs(u[2]);
        return fabs(rb_dot3(p->t, u)) - p->size[1] - width;
    }
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double across = sqrt(u[i] * u[i] + u[j] * u[j]);
    return fabs(p->t[k]) - h[k] - (p->size[1] * fabs(u[k]) + p->size[0] * across);
}

/* The normal along which they separate most, faces first; -1: several are as good as rounding
 * leaves them, or nothing is. */
static int best_normal(const seen *p, double tie, double *most)
{
    int best = -1;
    *most = -INFINITY;
    for (int k = 0; k < 4; k++) {
        double s = separation(p, k);
        if (!(s > *most + tie)) continue;
        *most = s;
        best = k;
    }
    return best;
}

/* The point of the cylinder that is extreme along n, of a whole cap its centre. */
static void cylinder_point(const rb_core *cylinder, const double n[3], double x[3])
{
    double u[3], m[3];
    rb_core_axis(cylinder, 2, u);
    double along = rb_dot3(u, n);
    rb_copy3(n, m);
    rb_axpy3(-along, u, m);
    double across = rb_unit(m);
    rb_copy3(cylinder->c, x);
    rb_axpy3(along < 0.0 ? -cylinder->size[1] : cylinder->size[1], u, x);
    if (across > RB_KINK_SURE) rb_axpy3(cylinder->size[0], m, x);
}

/* Whether x lies over face k of the box. */
static int is_over_face(const rb_core *box, int k, const double x[3])
{
    double y[3];
    int i = (k + 1) % 3, j = (k + 2) % 3;
    rb_sub3(x, box->c, y);
    rb_rot_t(box->R, y, y);
    return fabs(y[i]) <= box->size[i] && fabs(y[j]) <= box->size[j];
}

static int is_over_cap(const rb_core *cylinder, const double x[3])
{
    double u[3], r[3];
    rb_core_axis(cylinder, 2, u);
    rb_sub3(x, cylinder->c, r);
    rb_axpy3(-rb_dot3(r, u), u, r);
    return rb_dot3(r, r) <= cylinder->size[0] * cylinder->size[0];
}

int rb_flat_guess(rb_couple *couple, rb_closest *out)
{
    rb_core *cylinder = &couple->core1, *box = &couple->core2;
    if (cylinder->kind != RB_CORE_CYLINDER || !rb_core_is_box(box)) return 0;
    seen p = { .h = box->size, .size = cylinder->size };
    double w[3], u[3], n[3], s, x2[3];
    rb_sub3(box->c, cylinder->c, w);
    rb_core_axis(cylinder, 2, u);
    rb_rot_t(box->R, w, p.t);
    rb_rot_t(box->R, u, p.u);
    int k = best_normal(&p, RB_GAP_TIE * couple->scale, &s);
    if (k < 0) return 0;
    if (k < 3)
        rb_core_axis(box, k, n);
    else
        rb_copy3(u, n);
    if (rb_dot3(n, w) < 0.0) rb_scale3(-1.0, n, n);
    if (k < 3) {
        cylinder_point(cylinder, n, out->x1);
        if (!is_over_face(box, k, out->x1)) return 0;
    } else {
        double back[3] = { -n[0], -n[1], -n[2] };
        rb_core_support(box, back, x2);
        if (!is_over_cap(cylinder, x2)) return 0;
        rb_copy3(x2, out->x1);
        rb_axpy3(-s, n, out->x1);
    }
    if (s < 0.0 && !rb_inner_flat(couple, n, s)) return 0;
    out->at = (rb_direction){ .s = s, .upper = s, .exact = 1 };
    rb_copy3(n, out->at.n);
    out->met = 1;
    out->error = 0.0;
    out->capped = out->steps = 0;
    return 1;
}
