#include "impact_cases.h"

#include <math.h>
#include <string.h>

enum { FREE, FIXED, ROD, PLANAR, SPHERE, GRAZE, STUCK, EXTREME, HELD, NFAMILY };

const char *impact_family_name(int family)
{
    static const char *const names[NFAMILY] = { "free",  "fixed", "rod",     "planar", "sphere",
                                                "graze", "stuck", "extreme", "held" };
    return family >= 0 && family < NFAMILY ? names[family] : NULL;
}

static double uniform(rb_rng *rng, double lo, double hi)
{
    return rb_rng_uniform(rng, lo, hi);
}

/* 10^x for x uniform in lo .. hi */
static double decades(rb_rng *rng, double lo, double hi)
{
    return pow(10.0, uniform(rng, lo, hi));
}

static void unit(rb_rng *rng, double out[3])
{
    double length;
    do {
        for (int i = 0; i < 3; i++) out[i] = uniform(rng, -1.0, 1.0);
        length = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    } while (length < 0.1 || length > 1.0);
    for (int i = 0; i < 3; i++) out[i] /= length;
}

/* A box with half sizes `half`, turned at random, hit at a point of its surface. */
static void box(rb_rng *rng, const double half[3], double mass, rb_impact_body *b)
{
    double axis[3], R[9], point[3];
    unit(rng, axis);
    rb_impact_frame(axis, R);
    memset(b, 0, sizeof *b);
    b->im = 1.0 / mass;
    for (int i = 0; i < 3; i++) {
        double y = half[(i + 1) % 3], z = half[(i + 2) % 3],
               inverse = 3.0 / (mass * (y * y + z * z));
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) b->iI[3 * r + c] += R[3 * i + r] * inverse * R[3 * i + c];
        point[i] = uniform(rng, -half[i], half[i]);
    }
    int face = (int)uniform(rng, 0.0, 3.0);
    point[face] = half[face];
    for (int i = 0; i < 3; i++)
        b->r[i] = point[0] * R[i] + point[1] * R[3 + i] + point[2] * R[6 + i];
    for (int i = 0; i < 3; i++) {
        b->v[i] = uniform(rng, -2.0, 2.0);
        b->w[i] = uniform(rng, -10.0, 10.0);
    }
}

static void random_bodies(int family, rb_rng *rng, rb_impact_body b[2])
{
    for (int k = 0; k < 2; k++) {
        double half[3], mass = decades(rng, -1.0, 1.0);
        for (int i = 0; i < 3; i++) half[i] = uniform(rng, 0.02, 0.3);
        if (family == ROD) half[0] = half[1] = decades(rng, -5.0, -2.0);
        if (family == EXTREME) {
            mass = decades(rng, -9.0, 9.0);
            for (int i = 0; i < 3; i++) half[i] = decades(rng, -4.0, 1.0);
        }
        if (family == SPHERE) half[0] = half[1] = half[2];
        box(rng, half, mass, &b[k]);
        if (family == SPHERE) { /* the contact lies below the centre */
            double radius = half[0];
            memset(b[k].r, 0, sizeof b[k].r);
            b[k].r[0] = k ? -radius : radius;
        }
    }
    if (family == FIXED || family == ROD || family == GRAZE || family == STUCK)
        memset(&b[0], 0, sizeof b[0]);
}

/* Removes what leads out of the plane (n, t1). */
static void flatten(rb_impact *in)
{
    in->u[2] = 0.0;
    in->K[2] = in->K[6] = in->K[5] = in->K[7] = 0.0;
}

/* A point that joints hold: K of rank one or two, velocity within its range. */
static void hold(rb_rng *rng, rb_impact *in)
{
    int rank = 1 + (int)uniform(rng, 0.0, 2.0);
    memset(in->K, 0, sizeof in->K);
    memset(in->u, 0, sizeof in->u);
    for (int k = 0; k < rank; k++) {
        double axis[3], size = decades(rng, -2.0, 2.0), speed = uniform(rng, -2.0, 2.0);
        unit(rng, axis);
        for (int i = 0; i < 3; i++) {
            in->u[i] += speed * axis[i];
            for (int j = 0; j < 3; j++) in->K[3 * i + j] += size * axis[i] * axis[j];
        }
    }
}

void impact_case(int family, uint64_t seed, rb_impact *in)
{
    rb_rng rng = rb_rng_make(seed * NFAMILY + (uint64_t)family);
    rb_impact_body b[2];
    double n[3] = { 1.0, 0.0, 0.0 }, R[9];
    memset(in, 0, sizeof *in);
    random_bodies(family, &rng, b);
    if (family != SPHERE) unit(&rng, n);
    rb_impact_frame(n, R);
    rb_impact_bodies(&b[0], &b[1], R, in);
    in->mu = seed % 7 == 0 ? 0.0 : decades(&rng, -2.0, 0.5);
    in->e = seed % 5 == 0 ? 0.0 : seed % 5 == 1 ? 1.0 : uniform(&rng, 0.0, 1.0);
    if (family == PLANAR) flatten(in);
    if (family == GRAZE) in->u[0] *= decades(&rng, -12.0, -1.0);
    if (family == STUCK)
        for (int i = 1; i < 3; i++) in->u[i] *= seed % 2 ? 0.0 : decades(&rng, -16.0, -3.0);
    if (family == EXTREME) in->mu = decades(&rng, -12.0, 12.0);
    if (family == HELD) hold(&rng, in);
    if (in->u[0] > 0.0)
        for (int i = 0; i < 3; i++) in->u[i] = -in->u[i];
}
