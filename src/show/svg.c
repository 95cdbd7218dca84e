/* Snapshots of a run side by side, as SVG: each geom is the outline of its shadow along the view,
 * the convex hull of its points, the farthest drawn first. Parallel projection, one scale. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/replay.h"
#include "show/scene.h"
#include "show/shape.h"

/* Size of a picture and what is between two [points]. */
enum { WIDTH = 240, MOST_HEIGHT = 320, GAP = 8, CAPTION = 18 };

/* A motion within this share of the widest extent is planar, and seen from across the plane [1]. */
#define FLAT 0.02

typedef struct outline {
    double depth;
    double fill[4];
    int ground; /* 1: a plane */
    double *at; /* (n x 2) */
    int n;
} outline;

typedef struct strip {
    const rb_replay *r;
    scene s;
    shape *shape;                       /* (ngeom) */
    double right[3], up[3], forward[3]; /* of the view */
    double lo[2], hi[2];                /* what is seen [m] */
    double scale;                       /* points for a metre */
    double *pose;                       /* of all bodies at a frame (nbody x 7) */
} strip;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void rotate(const double q[4], const double x[3], double out[3])
{
    double t[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        t[i] = 2.0 * (q[1 + j] * x[k] - q[1 + k] * x[j]);
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = x[i] + q[0] * t[i] + q[1 + j] * t[k] - q[1 + k] * t[j];
    }
}

static void place(const double pose[7], const double x[3], double out[3])
{
    rotate(pose + 3, x, out);
    for (int i = 0; i < 3; i++) out[i] += pose[i];
}

/* ---- the view -----------------------------------------------------------------------------------
 */

/* How far the bodies go along each axis. */
static void extents(const rb_replay *r, double size[3])
{
    const double *pose = r->pose.at;
    for (int k = 0; k < 3; k++) {
        double lo = INFINITY, hi = -INFINITY;
        for (size_t i = 0; i < r->pose.n; i++) {
            lo = fmin(lo, pose[7 * i + (size_t)k]);
            hi = fmax(hi, pose[7 * i + (size_t)k]);
        }
        size[k] = r->pose.n > 0 ? hi - lo : 0.0;
    }
}

static void look(strip *st, double azimuth, double elevation)
{
    static const double degree = 3.14159265358979323846 / 180.0;
    double size[3];
    extents(st->r, size);
    double most = fmax(size[0], fmax(size[1], size[2]));
    int in_xz = size[1] <= FLAT * most, in_yz = size[0] <= FLAT * most;
    if (isnan(azimuth)) azimuth = in_xz ? -90.0 : in_yz ? 0.0 : -60.0;
    if (isnan(elevation)) elevation = in_xz || in_yz ? 4.0 : 18.0;
    double a = azimuth * degree, e = elevation * degree;
    const double forward[3] = { -cos(e) * cos(a), -cos(e) * sin(a), -sin(e) };
    const double right[3] = { -sin(a), cos(a), 0.0 };
    const double up[3] = { -sin(e) * cos(a), -sin(e) * sin(a), cos(e) };
    memcpy(st->forward, forward, sizeof forward);
    memcpy(st->right, right, sizeof right);
    memcpy(st->up, up, sizeof up);
}

static void place_bodies(strip *st, size_t frame)
{
    const rb_replay *r = st->r;
    const double *pose = (const double *)r->pose.at + 7 * frame * (size_t)r->nmoving;
    memcpy(st->pose, st->s.pose, 7 * (size_t)r->m->nbody * sizeof *st->pose);
    for (int i = 0; i < r->nmoving; i++)
        memcpy(st->pose + 7 * r->moving[i], pose + 7 * i, 7 * sizeof *pose);
}

/* A point of a geom in the picture: right and up [m], and how far away. */
static void project(const strip *st, int geom, const double x[3], double out[3])
{
    const scene_geom *g = &st->s.geom[geom];
    double local[7], body[3], world[3];
    memcpy(local, g->m->geom_pos + 3 * g->geom, 3 * sizeof *local);
    memcpy(local + 3, g->m->geom_quat + 4 * g->geom, 4 * sizeof *local);
    place(local, x, body);
    place(st->pose + 7 * g->m->geom_body[g->geom], body, world);
    out[0] = dot(st->right, world);
    out[1] = dot(st->up, world);
    out[2] = dot(st->forward, world);
}

static int is_plane(const strip *st, int geom)
{
    return st->s.geom[geom].m->geom_type[st->s.geom[geom].geom] == RB_GEOM_PLANE;
}

static int moves(const strip *st, int geom)
{
    const scene_geom *g = &st->s.geom[geom];
    return g->m->body_link[g->m->geom_body[g->geom]] != 0;
}

static int is_seen(const strip *st, int geom)
{
    const scene_geom *g = &st->s.geom[geom];
    if (g->m->geom_invisible[g->geom]) return 0;
    if (geom >= st->s.m->ngeom || !rb_show_scene_collides(g->m, g->geom)) return 1;
    for (int i = 0; i < st->s.ngeom; i++) {
        const scene_geom *o = &st->s.geom[i];
        int seen_only = i >= st->s.m->ngeom || !rb_show_scene_collides(o->m, o->geom);
        if (seen_only && o->m->geom_body[o->geom] == g->m->geom_body[g->geom]) return 0;
    }
    return 1;
}

/* Bounds of what moves in all pictures, with a margin. Without anything that moves: of all. */
static void bound(strip *st, int count, const size_t *frame)
{
    int some = st->r->nmoving > 0;
    st->lo[0] = st->lo[1] = INFINITY;
    st->hi[0] = st->hi[1] = -INFINITY;
    for (int f = 0; f < count; f++) {
        place_bodies(st, frame[f]);
        for (int g = 0; g < st->s.ngeom; g++) {
            if (is_plane(st, g) || (some && !moves(st, g))) continue;
            for (size_t i = 0; i < st->shape[g].point.n; i++) {
                double x[3];
                project(st, g, (const double *)st->shape[g].point.at + 3 * i, x);
                for (int k = 0; k < 2; k++) {
                    st->lo[k] = fmin(st->lo[k], x[k]);
                    st->hi[k] = fmax(st->hi[k], x[k]);
                }
            }
        }
    }
    for (int k = 0; k < 2; k++) {
        if (!(st->lo[k] <= st->hi[k])) st->lo[k] = -1.0, st->hi[k] = 1.0;
        double margin = 0.08 * fmax(st->hi[0] - st->lo[0], st->hi[1] - st->lo[1]) + 1e-9;
        st->lo[k] -= margin;
        st->hi[k] += margin;
    }
    st->scale = fmin(WIDTH / (st->hi[0] - st->lo[0]), MOST_HEIGHT / (st->hi[1] - st->lo[1]));
}

/* ---- outlines -----------------------------------------------------------------------------------
 */

static int by_place(const void *left, const void *right)
{
    const double *a = left, *b = right;
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    return (a[1] > b[1]) - (a[1] < b[1]);
}

static double turn(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Convex hull of n points (n x 2), which are sorted; out has room for n + 1. Their number. */
static int hull(double *x, int n, double *out)
{
    int k = 0;
    qsort(x, (size_t)n, 2 * sizeof *x, by_place);
    for (int pass = 0; pass < 2; pass++) {
        int base = k;
        for (int i = 0; i < n; i++) {
            const double *p = x + 2 * (pass ? n - 1 - i : i);
            while (k >= base + 2 && turn(out + 2 * (k - 2), out + 2 * (k - 1), p) <= 0.0) k--;
            memcpy(out + 2 * k++, p, 2 * sizeof *out);
        }
        k--; /* the last is the first of the other side */
    }
    return k;
}

static rb_status draw(const strip *st, int geom, outline *out)
{
    const scene_geom *g = &st->s.geom[geom];
    int n = (int)st->shape[geom].point.n;
    double *flat = malloc((2 * (size_t)n + 2) * sizeof *flat), depth = 0.0;
    out->at = malloc((2 * (size_t)n + 4) * sizeof *out->at);
    if (!flat || !out->at) {
        free(flat);
        return RB_NOMEM;
    }
    for (int i = 0; i < n; i++) {
        double x[3];
        project(st, geom, (const double *)st->shape[geom].point.at + 3 * i, x);
        memcpy(flat + 2 * i, x, 2 * sizeof *flat);
        depth += x[2] / n;
    }
    out->n = n > 2 ? hull(flat, n, out->at) : 0;
    out->depth = depth;
    out->ground = is_plane(st, geom);
    memcpy(out->fill, g->m->geom_rgba + 4 * g->geom, sizeof out->fill);
    free(flat);
    return RB_OK;
}

static int by_depth(const void *left, const void *right)
{
    const outline *a = left, *b = right;
    if (a->ground != b->ground) return b->ground - a->ground;
    return (a->depth < b->depth) - (a->depth > b->depth);
}

static void put_outline(FILE *out, const strip *st, const outline *o, double x, double height)
{
    static const double pale[4] = { 0.92, 0.92, 0.92, 1.0 };
    const double *fill = o->ground ? pale : o->fill;
    if (o->n < 2) return;
    fputs("<path d=\"", out);
    for (int i = 0; i < o->n; i++)
        fprintf(out, "%s%.2f %.2f", i ? "L" : "M", x + st->scale * (o->at[2 * i] - st->lo[0]),
                height - st->scale * (o->at[2 * i + 1] - st->lo[1]));
    fprintf(
        out,
        "Z\" fill=\"rgb(%.0f,%.0f,%.0f)\" fill-opacity=\"%.3g\" stroke=\"rgb(%.0f,%.0f,%.0f)\"/>\n",
        255.0 * fill[0], 255.0 * fill[1], 255.0 * fill[2], fill[3], 140.0 * fill[0],
        140.0 * fill[1], 140.0 * fill[2]);
}

/* ---- the file -----------------------------------------------------------------------------------
 */

static rb_status put_picture(FILE *out, strip *st, size_t frame, int index)
{
    const double *time = st->r->time.at;
    double width = st->scale * (st->hi[0] - st->lo[0]),
           height = st->scale * (st->hi[1] - st->lo[1]);
    double x = index * (width + GAP);
    outline *all = calloc((size_t)st->s.ngeom + 1, sizeof *all);
    rb_status status = all ? RB_OK : RB_NOMEM;
    int n = 0;
    place_bodies(st, frame);
    for (int g = 0; g < st->s.ngeom && status == RB_OK; g++)
        if (is_seen(st, g)) status = draw(st, g, &all[n++]);
    if (status == RB_OK) {
        qsort(all, (size_t)n, sizeof *all, by_depth);
        fprintf(out,
                "<svg x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"%.2f\" overflow=\"hidden\">\n", x,
                width, height);
        for (int i = 0; i < n; i++) put_outline(out, st, &all[i], 0.0, height);
        fprintf(out, "</svg>\n<text x=\"%.2f\" y=\"%.2f\">t = %.3g s</text>\n", x + 0.5 * width,
                height + CAPTION - 5.0, time[frame]);
    }
    for (int i = 0; all && i < n; i++) free(all[i].at);
    free(all);
    return status;
}

static rb_status put_strip(FILE *out, strip *st, int count, size_t *frame)
{
    const double *time = st->r->time.at;
    size_t n = st->r->time.n, at = 0;
    double span = time[n - 1] - time[0];
    for (int k = 0; k < count; k++) { /* equal times, the nearest frame */
        double wanted = time[0] + (count > 1 ? span * k / (count - 1) : 0.0);
        while (at + 1 < n && fabs(time[at + 1] - wanted) <= fabs(time[at] - wanted)) at++;
        frame[k] = at;
    }
    bound(st, count, frame);
    double width = st->scale * (st->hi[0] - st->lo[0]),
           height = st->scale * (st->hi[1] - st->lo[1]);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.2f %.2f\" width=\"%.2f\" "
            "height=\"%.2f\" font-family=\"sans-serif\" font-size=\"12\" text-anchor=\"middle\" "
            "stroke-width=\"0.6\" stroke-linejoin=\"round\">\n",
            count * (width + GAP) - GAP, height + CAPTION, count * (width + GAP) - GAP,
            height + CAPTION);
    rb_status status = RB_OK;
    for (int k = 0; k < count && status == RB_OK; k++) status = put_picture(out, st, frame[k], k);
    fputs("</svg>\n", out);
    return status == RB_OK && ferror(out) ? RB_FILE : status;
}

static rb_status make_shapes(strip *st)
{
    double endless = fmax(10.0, 10.0 * st->r->m->extent);
    for (int g = 0; g < st->s.ngeom; g++) {
        rb_status status = rb_show_shape_make(&st->s, g, endless, &st->shape[g]);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

rb_status rb_replay_write_svg(FILE *out, const rb_replay *r, const rb_model *shown, int count,
                              double azimuth, double elevation)
{
    strip st = { .r = r };
    if (r->time.n == 0 || count < 1) return RB_BAD_INPUT;
    rb_status status = rb_show_scene_make(&st.s, r->m, shown);
    if (status != RB_OK) return status;
    size_t *frame = malloc((size_t)count * sizeof *frame);
    st.shape = calloc((size_t)st.s.ngeom + 1, sizeof *st.shape);
    st.pose = malloc(7 * (size_t)r->m->nbody * sizeof *st.pose);
    status = frame && st.shape && st.pose ? make_shapes(&st) : RB_NOMEM;
    look(&st, azimuth, elevation);
    if (status == RB_OK) status = put_strip(out, &st, count, frame);
    for (int g = 0; st.shape && g < st.s.ngeom; g++) rb_show_shape_free(&st.shape[g]);
    free(st.shape);
    free(st.pose);
    free(frame);
    rb_show_scene_free(&st.s);
    return status;
}
