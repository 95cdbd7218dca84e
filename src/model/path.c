/* The path of a spatial tendon (D.27): from site to site, over the sphere or cylinder between two,
 * each length divided by the last pulley. */
#include "model/path.h"

#include "math/vec3.h"
#include "math/wrap.h"

typedef struct walk {
    const double *link_p, *link_R;
    void (*piece)(void *ctx, const rb_path_piece *);
    void *ctx;
    double divisor, length;
    int branch;
} walk;

static void place(const walk *w, int link, const double pos[3], double out[3])
{
    rb_rot(w->link_R + 9 * link, pos, out);
    rb_add3(out, w->link_p + 3 * link, out);
}

static void straight(walk *w, int link_a, const double a[3], int link_b, const double b[3])
{
    double way[3];
    rb_sub3(b, a, way);
    w->length += rb_norm3(way) / w->divisor;
    if (!w->piece) return;
    rb_path_piece piece = { link_a, link_b, a, b, w->divisor, w->branch };
    w->piece(w->ctx, &piece);
}

/* From a to b over `solid`, if that is in the way. */
static void over(walk *w, const rb_path *from, const double a[3], const rb_path *solid,
                 const rb_path *to, const double b[3])
{
    double p[3], R[9], side[3], points[6];
    rb_wrap_solid s = { .cylinder = solid->cylinder, .radius = solid->radius, .p = p, .R = R };
    place(w, solid->link, solid->pos, p);
    rb_mul33(w->link_R + 9 * solid->link, solid->rot, R);
    if (solid->side_link >= 0) {
        place(w, solid->side_link, solid->side, side);
        s.side = side;
    }
    double arc = rb_wrap(&s, a, b, points);
    if (arc < 0.0) {
        straight(w, from->link, a, to->link, b);
        return;
    }
    straight(w, from->link, a, solid->link, points);
    w->length += arc / w->divisor;
    straight(w, solid->link, points + 3, to->link, b);
}

double rb_path_walk(const rb_model *m, int t, const double *link_p, const double *link_R,
                    void (*piece)(void *ctx, const rb_path_piece *), void *ctx)
{
    walk w = { link_p, link_R, piece, ctx, 1.0, 0.0, 0 };
    const rb_path *at = m->path + m->tendon_pathadr[t], *end = at + m->tendon_pathnum[t];
    const rb_path *last = NULL, *solid = NULL;
    double a[3], b[3];
    for (; at < end; at++) {
        if (at->type == RB_WRAP_PULLEY) {
            w.divisor = at->divisor;
            w.branch++;
            last = NULL;
        } else if (at->type == RB_WRAP_GEOM) {
            solid = at;
        } else {
            place(&w, at->link, at->pos, b);
            if (last && solid)
                over(&w, last, a, solid, at, b);
            else if (last)
                straight(&w, last->link, a, at->link, b);
            rb_copy3(b, a);
            last = at;
            solid = NULL;
        }
    }
    return w.length;
}
