/* Impacts of a square: found in the measured drops, and modelled twice. */
#include "square.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"

enum { LINE = 512, MOST_DROPS = 100000, MOST_FRAMES = 10000 };

/* A velocity that changes by more than this from frame to frame [m/s] was hit: noise is 0.03 in z,
 * and 0.08 in theta times the radius of gyration; the weakest first impacts change it by 0.5. */
#define JUMP 0.25

/* Frames that a velocity is averaged over, and that must be calm. */
enum { CALM = 4, AWAY = 2 };

double rb_square_distance(const double v[3], const double w[3])
{
    double x = v[0] - w[0], z = v[1] - w[1], turn = RB_SQUARE_GYRATION * (v[2] - w[2]);
    return sqrt(x * x + z * z + turn * turn);
}

/* ---- the first impact of a drop -----------------------------------------------------------------
 */

/* A drop, frame by frame: x, z, theta, and their velocities as differences from the frame before.
 */
typedef struct film {
    int drop, n;
    double (*frame)[6];
} film;

/* Whether something but gravity acted between frames k - 1 and k. */
static int jumps(const film *f, int k)
{
    double expected[3];
    memcpy(expected, f->frame[k - 1] + 3, sizeof expected);
    expected[1] -= RB_SQUARE_GRAVITY * RB_SQUARE_FRAME;
    return rb_square_distance(f->frame[k] + 3, expected) > JUMP;
}

/* The state at frame k, its velocity from the calm frames first .. first + CALM - 1: differences
 * are velocities half a frame earlier. */
static rb_square_state state_at(const film *f, int k, int first)
{
    rb_square_state s = { .v = { 0.0 } };
    memcpy(s.x, f->frame[k], sizeof s.x);
    s.x[2] += RB_SQUARE_TURN;
    for (int i = first; i < first + CALM; i++) {
        double late = (k - (i - 0.5)) * RB_SQUARE_FRAME;
        for (int a = 0; a < 3; a++) s.v[a] += f->frame[i][3 + a] / CALM;
        s.v[1] -= RB_SQUARE_GRAVITY * late / CALM;
    }
    return s;
}

/* 1: found, with calm frames on both sides. */
static int find_impact(const film *f, rb_square_impact *out)
{
    int hit = 1, calm = 0;
    while (hit < f->n && !jumps(f, hit)) hit++;
    if (hit < AWAY + CALM) return 0;
    int last = hit;
    for (int k = hit + 1; k < f->n && calm < AWAY + CALM - 1; k++) {
        calm = jumps(f, k) ? 0 : calm + 1;
        if (calm == 0) last = k;
    }
    if (calm < AWAY + CALM - 1) return 0;
    int from = hit - AWAY, to = last + AWAY;
    *out = (rb_square_impact){ .drop = f->drop,
                               .before = state_at(f, from, from - CALM + 1),
                               .after = state_at(f, to, to),
                               .frames = to - from };
    return 1;
}

/* ---- reading ------------------------------------------------------------------------------------
 */

static int end_drop(const film *f, rb_squares *out)
{
    rb_square_impact found;
    if (f->n == 0) return 1;
    out->drops++;
    if (!find_impact(f, &found)) return 1;
    rb_square_impact *grown = realloc(out->impact, ((size_t)out->n + 1) * sizeof *grown);
    if (!grown) return 0;
    out->impact = grown;
    grown[out->n++] = found;
    return 1;
}

static int read_film(FILE *in, const char *path, film *f, rb_squares *out, rb_error *err)
{
    char line[LINE];
    double x[8];
    if (!fgets(line, sizeof line, in)) return rb_csv_fail(err, path, 1, "the file is empty");
    for (int at = 2; fgets(line, sizeof line, in); at++) {
        if (!rb_csv_numbers(line, x, 8))
            return rb_csv_fail(err, path, at, "expected drop,frame,x,z,theta,vx,vz,vtheta");
        if (x[1] == 0.0) {
            if (!end_drop(f, out)) return rb_csv_fail(err, path, at, "out of memory");
            f->n = 0;
            f->drop = (int)fmin(x[0], 1e9);
        }
        if (x[1] != f->n || f->n >= MOST_FRAMES || out->drops >= MOST_DROPS)
            return rb_csv_fail(err, path, at, "frames are not in order");
        x[2] = -x[2]; /* theta of the file turns from -x to z: see docs/design/square.md */
        x[5] = -x[5];
        memcpy(f->frame[f->n++], x + 2, sizeof *f->frame);
    }
    return end_drop(f, out) ? 1 : rb_csv_fail(err, path, 0, "out of memory");
}

int rb_squares_read(const char *path, rb_squares *out, rb_error *err)
{
    *out = (rb_squares){ 0 };
    FILE *in = fopen(path, "r");
    if (!in) return rb_csv_fail(err, path, 0, strerror(errno));
    film f = { .frame = calloc(MOST_FRAMES, sizeof *f.frame) };
    int ok =
        f.frame ? read_film(in, path, &f, out, err) : rb_csv_fail(err, path, 0, "out of memory");
    free(f.frame);
    fclose(in);
    if (ok && out->n == 0) ok = rb_csv_fail(err, path, 0, "there is no impact in it");
    if (!ok) rb_squares_free(out);
    return ok;
}

void rb_squares_free(rb_squares *s)
{
    free(s->impact);
    *s = (rb_squares){ 0 };
}

/* ---- one point ----------------------------------------------------------------------------------
 */

static double pick(double x)
{
    return x < 0.0 ? RB_SQUARE_HALF : -RB_SQUARE_HALF;
}

/* The lowest corner of the square turned by theta, from its centre. */
static void lowest(double theta, double r[2])
{
    double c = cos(theta), s = sin(theta), a = pick(s), b = pick(c);
    r[0] = a * c - b * s;
    r[1] = a * s + b * c;
}

/* Height of the lowest corner a time t after the state. */
static double height(const rb_square_state *s, double t)
{
    double r[2];
    lowest(s->x[2] + t * s->v[2], r);
    return s->x[1] + t * (s->v[1] - 0.5 * RB_SQUARE_GRAVITY * t) + r[1];
}

/* When the corner reaches the ground within the time given: looked for in small steps, then by
 * bisection. */
static double first_touch(const rb_square_state *s, double time)
{
    enum { LOOKS = 400, HALVINGS = 50 };
    double lo = 0.0, hi = -1.0;
    if (height(s, 0.0) <= 0.0) return 0.0;
    for (int k = 1; k <= LOOKS && hi < 0.0; k++) {
        double t = time * k / LOOKS;
        if (height(s, t) <= 0.0)
            hi = t;
        else
            lo = t;
    }
    for (int k = 0; k < HALVINGS && hi >= 0.0; k++) {
        double middle = 0.5 * (lo + hi);
        *(height(s, middle) <= 0.0 ? &hi : &lo) = middle;
    }
    return hi;
}

double rb_square_tilt(const rb_square_impact *s)
{
    double t = fmax(0.0, first_touch(&s->before, s->frames * RB_SQUARE_FRAME));
    double c = cos(4.0 * (s->before.x[2] + t * s->before.v[2]));
    return acos(fmax(-1.0, fmin(1.0, c))) / 4.0;
}

/* u+ = u + K p per unit of mass: sticking where the cone allows it, else sliding on as before. */
static void jump(double v[3], const double r[2], double mu, double e)
{
    double rho2 = RB_SQUARE_GYRATION * RB_SQUARE_GYRATION;
    double Kxx = 1.0 + r[1] * r[1] / rho2, Kzz = 1.0 + r[0] * r[0] / rho2;
    double Kxz = -r[0] * r[1] / rho2, u[2] = { v[0] - v[2] * r[1], v[1] + v[2] * r[0] };
    if (u[1] >= 0.0) return;
    double target = -(1.0 + e) * u[1], det = Kxx * Kzz - Kxz * Kxz;
    double pz = (Kxx * target + Kxz * u[0]) / det, px = (-Kzz * u[0] - Kxz * target) / det;
    if (fabs(px) > mu * pz) {
        double side = u[0] > 0.0 ? -mu : mu;
        pz = target / fmax(Kzz + side * Kxz, 1e-3 * Kzz); /* jamming has no answer here */
        px = side * pz;
    }
    v[0] += px;
    v[1] += pz;
    v[2] += (r[0] * pz - r[1] * px) / rho2;
}

void rb_square_point(const rb_square_impact *s, double mu, double e, double v[3])
{
    double time = s->frames * RB_SQUARE_FRAME, t = first_touch(&s->before, time), r[2];
    memcpy(v, s->before.v, 3 * sizeof *v);
    if (t >= 0.0) {
        v[1] -= RB_SQUARE_GRAVITY * t;
        lowest(s->before.x[2] + t * v[2], r);
        jump(v, r, mu, e);
    }
    v[1] -= RB_SQUARE_GRAVITY * (time - fmax(t, 0.0));
}

/* ---- a simulation -------------------------------------------------------------------------------
 */

/* The plane is y = 0 of the world; theta turns about -y. */
static void start(const rb_model *m, const rb_square_state *s, rb_data *d)
{
    rb_data_reset(m, d);
    const double q[7] = {
        s->x[0], 0.0, s->x[1], cos(0.5 * s->x[2]), 0.0, -sin(0.5 * s->x[2]), 0.0
    };
    const double v[6] = { s->v[0], 0.0, s->v[1], 0.0, -s->v[2], 0.0 };
    memcpy(d->q, q, sizeof q);
    memcpy(d->v, v, sizeof v);
}

rb_status rb_square_simulate(const rb_model *m, const rb_step_opts *opts, int substeps,
                             const rb_square_impact *s, rb_data **d, double v[3], rb_error *err)
{
    rb_step_opts o = *opts;
    o.h = RB_SQUARE_FRAME / substeps;
    start(m, &s->before, *d);
    for (int k = 0; k < s->frames * substeps; k++) {
        rb_step_info info;
        rb_status status = rb_step(m, *d, &o, &info, err);
        if (status == RB_FULL) {
            status = rb_data_reserve(m, d, 2 * info.contacts + 16);
            if (status == RB_OK) status = rb_step(m, *d, &o, &info, err);
        }
        if (status != RB_OK) return status;
    }
    v[0] = (*d)->v[0];
    v[1] = (*d)->v[2];
    v[2] = -(*d)->v[4];
    return RB_OK;
}
