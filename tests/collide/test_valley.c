/* Valleys, ridges and peaks of surfaces of triangles: shapes that come from outside and overlap a
 * little (G.24), (G.25), and bodies that fall into them. */
#include "collide/core.h"
#include "collide/shape.h"
#include "math/vec3.h"
#include "rattleback/base.h"
#include "step_support.h"

#define GROOVE                                                                                     \
    "<mesh name='groove' vertex='-1 -1 -0.5 1 -1 -0.5 1 -1 0.3 0 -1 -0.3 -1 -1 0.3 -1 1 -0.5 "     \
    "1 1 -0.5 1 1 0.3 0 1 -0.3 -1 1 0.3' face='0 1 2 0 2 3 0 3 4 5 7 6 5 8 7 5 9 8 0 6 1 0 5 6 "   \
    "1 7 2 1 6 7 2 8 3 2 7 8 3 9 4 3 8 9 4 5 0 4 9 5'/>"
#define WAVES                                                                                      \
    "<hfield name='waves' nrow='7' ncol='7' size='0.46875 0.46875 0.28125 0.1' elevation='"        \
    "9 4 8 3 8 4 9  4 1 5 0 4 2 5  8 5 9 4 7 3 8  3 0 4 1 6 0 4  8 6 7 5 9 4 8  4 2 3 0 4 1 5  "   \
    "9 5 8 4 8 5 9'/>"
enum { SIDE = 7 };
static const char waves[SIDE][SIDE + 1] = { "9584859", "4230415", "8675948", "3041604",
                                            "8594738", "4150425", "9483849" }; /* row 0 first */
#define HULL                                                                                       \
    "<mesh name='hull' vertex='0 0 0.09 0.08 0 0.02 -0.05 0.06 0 -0.04 -0.07 0.01 0.01 0.02 -0.1 " \
    "0.05 0.06 -0.03'/>"

static const char *const bodies[] = {
    "type='box' size='0.08 0.06 0.05'",       "type='mesh' mesh='hull'",
    "type='cylinder' size='0.06 0.08'",       "type='capsule' size='0.05 0.06'",
    "type='ellipsoid' size='0.08 0.06 0.04'", "type='sphere' size='0.07'"
};
static const char *const surfaces[] = { "type='mesh' mesh='groove'", "type='hfield' hfield='waves'",
                                        "type='mesh' mesh='sheet'" };

static const int cut[2][3][2] = { { { 0, 0 }, { 1, 1 }, { 1, 0 } },
                                  { { 0, 0 }, { 0, 1 }, { 1, 1 } } };

/* The waves as a mesh, cut along the same diagonals; all numbers are those of 32 bits. */
static void write_sheet(char *text)
{
    text += sprintf(text, "<mesh name='sheet' inertia='shell' vertex='");
    for (int i = 0; i < SIDE * SIDE; i++)
        text += sprintf(text, "%.9g %.9g %.9g ", 0.15625 * (i % SIDE) - 0.46875,
                        0.15625 * (i / SIDE) - 0.46875, (waves[i / SIDE][i % SIDE] - '0') / 32.0);
    text += sprintf(text, "' face='");
    for (int i = 0; i < 2 * (SIDE - 1) * (SIDE - 1); i++) {
        int at = i / 2 / (SIDE - 1) * SIDE + i / 2 % (SIDE - 1);
        for (int j = 0; j < 3; j++)
            text += sprintf(text, "%d ", at + SIDE * cut[i % 2][j][0] + cut[i % 2][j][1]);
    }
    sprintf(text, "'/>");
}

static scene valley_scene(const char *body, const char *surface)
{
    char text[8192], sheet[4096];
    write_sheet(sheet);
    snprintf(text, sizeof text,
             "<mujoco><asset>" HULL GROOVE WAVES
             "%s</asset><custom><numeric name='rb.surface/ground' data='1'/></custom>"
             "<worldbody><geom name='ground' %s/><body><freejoint/>"
             "<geom %s mass='0.5'/></body></worldbody></mujoco>",
             sheet, surface, body);
    return scene_hulls(text);
}

static void drop_at_random(scene *s, unsigned seed)
{
    double *q = s->d->q, norm = 0.0;
    rb_rng rng = rb_rng_make(seed);
    for (int k = 0; k < 2; k++) q[k] = rb_rng_uniform(&rng, -0.2, 0.2);
    q[2] = 0.55;
    for (int k = 3; k < 7; k++) q[k] = rb_rng_normal(&rng);
    for (int k = 3; k < 7; k++) norm += q[k] * q[k];
    for (int k = 3; k < 7; k++) q[k] /= sqrt(norm);
    for (int k = 0; k < 6; k++) s->d->v[k] = rb_rng_uniform(&rng, -1.0, 1.0);
}

/* Steps that were refused; the run ends with the first. */
static int refused(scene *s, unsigned seed)
{
    rb_error err = { 0 };
    drop_at_random(s, seed);
    s->o.h = 0.002;
    for (int i = 0; i < 600; i++) {
        rb_status status = rb_step(s->m, s->d, &s->o, &s->info, &err);
        if (status == RB_FULL) {
            CHECK_INT(rb_data_reserve(s->m, &s->d, 2 * s->info.contacts), RB_OK);
            status = rb_step(s->m, s->d, &s->o, &s->info, &err);
        }
        if (status != RB_OK) return 1;
        /* (S.17), and 1e-11 m more in each step; a body that spins about the line between two
         * points in which it is jammed gains 5e-10 m in each: 1.4e-8 m in one of 800 drops */
        CHECK(s->info.penetration <= 1e-7 + scene_deep(s));
    }
    return 0;
}

/* How far x is outside of some plane of a polyhedron; 0 for others. */
static double outside(const rb_shape *shape, const double x[3])
{
    rb_core core;
    double r[3], most = 0.0;
    CHECK(rb_core_make(shape, shape->p, &core));
    if (core.kind != RB_CORE_POLY) return 0.0;
    rb_sub3(x, shape->p, r);
    rb_sub3(r, core.c, r);
    rb_rot_t(core.R, r, r);
    for (int f = 0; f < core.poly.nface; f++) {
        const double *plane = core.poly.plane + 4 * (ptrdiff_t)f;
        most = fmax(most, rb_dot3(plane, r) - plane[3]);
    }
    return most;
}

/* The least gap and its normal at the present pose, INFINITY: none. */
static double least_gap(const scene *s, double normal[3])
{
    rb_shape shape[2];
    rb_manifold m;
    rb_kinematics(s->m, s->d);
    rb_frames(s->m, s->d);
    for (int g = 0; g < 2; g++) shape[g] = rb_geom_shape(s->m, s->d, g);
    CHECK_INT(rb_pair_manifold(&shape[0], &shape[1], 1.0, &m), RB_OK);
    double least = INFINITY;
    for (int i = 0; i < m.n; i++) {
        if (shape[0].type == RB_GEOM_HFIELD) CHECK(m.point[i].normal[2] > -1e-6);
        CHECK(outside(&shape[1], m.point[i].pos2) <= 9.0 * fmax(0.0, -m.point[i].gap) + 1e-9);
        if (m.point[i].gap >= least) continue;
        least = m.point[i].gap;
        for (int k = 0; k < 3; k++) normal[k] = m.point[i].normal[k];
    }
    return least;
}

/* From high above, as far as it is free. */
static void come_down(scene *s, int times)
{
    double n[3];
    s->d->q[2] = 0.8;
    for (int i = 0; i < times; i++) s->d->q[2] -= fmin(0.1, least_gap(s, n));
}

enum { MOST_CORNERS = 16 }; /* of a triangle cut by a hull of up to 13 faces */

/* What the planes of a polyhedron, moved outward by `grow`, leave of a polygon: its corners. */
static int clip(const rb_core *core, double grow, double x[MOST_CORNERS][3], int n)
{
    for (int f = 0; f < core->poly.nface && n > 0; f++) {
        const double *plane = core->poly.plane + 4 * (ptrdiff_t)f;
        double kept[MOST_CORNERS][3], normal[3];
        int count = 0;
        rb_rot(core->R, plane, normal);
        double offset = plane[3] + rb_dot3(normal, core->c) + grow;
        for (int i = 0; i < n; i++) {
            const double *a = x[i], *b = x[(i + 1) % n];
            double ha = rb_dot3(normal, a) - offset, hb = rb_dot3(normal, b) - offset;
            if (ha <= 0.0) rb_copy3(a, kept[count++]);
            if ((ha < 0.0) == (hb < 0.0)) continue;
            rb_sub3(b, a, kept[count]);
            rb_scale3(ha / (ha - hb), kept[count], kept[count]);
            rb_add3(a, kept[count], kept[count]);
            count++;
        }
        n = count;
        memcpy(x, kept, sizeof kept);
    }
    return n;
}

/* Whether some triangle of the waves meets the polyhedron with planes moved by `grow`. */
static int waves_meet(const rb_core *core, double grow)
{
    for (int i = 0; i < 2 * (SIDE - 1) * (SIDE - 1); i++) {
        double x[MOST_CORNERS][3];
        for (int j = 0; j < 3; j++) {
            int r = i / 2 / (SIDE - 1) + cut[i % 2][j][0],
                c = i / 2 % (SIDE - 1) + cut[i % 2][j][1];
            x[j][0] = 0.15625 * c - 0.46875;
            x[j][1] = 0.15625 * r - 0.46875;
            x[j][2] = (waves[r][c] - '0') / 32.0;
        }
        if (clip(core, grow, x, 3) > 0) return 1;
    }
    return 0;
}

/* Moved along the normal by gap + depth, a shape overlaps, by `depth` at most. A vertex that meets
 * a peak may pass beside it: of polyhedra on the waves triangles tell whether they do. */
static int is_wrong(scene *s, int on_waves, double depth)
{
    static const double origin[3] = { 0.0 }, doubt = 1e-11;
    double n[3], after[3], gap = least_gap(s, n);
    if (!(gap > 0.0 && gap < INFINITY)) return 0;
    for (int k = 0; k < 3; k++) s->d->q[k] -= (gap + depth) * n[k];
    double now = least_gap(s, after), most = 1e-12;
    rb_core core;
    rb_shape shape = rb_geom_shape(s->m, s->d, 1);
    CHECK(rb_core_make(&shape, origin, &core));
    if (on_waves && core.kind == RB_CORE_POLY) {
        if (!waves_meet(&core, doubt)) return !(now >= -1e-12);
        if (!waves_meet(&core, -doubt)) most = 2.0 * doubt;
    }
    return !(now <= most && now >= -depth - most);
}

TEST(what_comes_from_outside_overlaps)
{
    int bad = 0, poses = test_count(200);
    for (int b = 0; b < 18; b++) {
        int wrong = 0;
        scene s = valley_scene(bodies[b % 6], surfaces[b / 6]);
        for (int i = 0; i < poses; i++) {
            unsigned seed = (unsigned)(test_first_seed() + poses * b + i);
            TEST_SEED(seed);
            rb_rng rng = rb_rng_make(seed);
            drop_at_random(&s, seed);
            come_down(&s, (int)(rb_rng_next(&rng) % 6));
            wrong += is_wrong(&s, b >= 6, pow(10.0, rb_rng_uniform(&rng, -9.0, -3.0)));
        }
        printf("    %s on %s: %d of %d\n", bodies[b % 6], surfaces[b / 6], wrong, poses);
        bad += wrong;
        scene_free(&s);
    }
    CHECK_INT(bad, 0);
}

TEST(bodies_come_to_the_bottom)
{
    int count = 0, drops = test_count(120);
    for (int i = 0; i < drops; i++) {
        unsigned seed = (unsigned)(test_first_seed() + i);
        TEST_SEED(seed);
        scene s = valley_scene(bodies[seed % 2], surfaces[seed / 2 % 3]);
        count += refused(&s, seed);
        scene_free(&s);
    }
    CHECK_INT(count, 0);
}

TEST_MAIN(RUN(what_comes_from_outside_overlaps), RUN(bodies_come_to_the_bottom))
