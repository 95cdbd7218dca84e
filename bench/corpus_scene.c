/* Scenes out of a seed: what all families share. Sizes are of the order of 0.1 m, masses around
 * 1 kg, so that q is a plausible velocity and a relative residual means what it means in a
 * simulation. Only + - * / and sqrt, so that the bits do not depend on a libm. */
#include "corpus_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MU_MAX      1.2
#define MASS_BITS   20   /* 2^20: mass ratios up to one million          */
#define GAP_MAX     0.01 /* [m]: a step of 10 ms at 1 m/s closes it      */
#define MIN_CONTACT 4    /* first capacity of the contact array          */
#define SPEED_QUIET 0.01 /* [m/s]                                        */
#define SPEED_WILD  2.0  /* [m/s]                                        */

int scene_pick(scene *s, int lo, int hi)
{
    int i = lo + (int)rb_rng_uniform(&s->rng, 0.0, (double)(hi - lo + 1));
    return i > hi ? hi : i;
}

int scene_chance(scene *s, double probability)
{
    return rb_rng_uniform(&s->rng, 0.0, 1.0) < probability;
}

double scene_range(scene *s, double lo, double hi)
{
    return rb_rng_uniform(&s->rng, lo, hi);
}

void scene_direction(scene *s, double out[3])
{
    double length2 = 0.0;
    do {
        for (int k = 0; k < 3; k++) out[k] = rb_rng_uniform(&s->rng, -1.0, 1.0);
        length2 = out[0] * out[0] + out[1] * out[1] + out[2] * out[2];
    } while (length2 > 1.0 || length2 < 0.01);
    double length = sqrt(length2);
    for (int k = 0; k < 3; k++) out[k] /= length;
}

/* Row major rotation from a random unit quaternion. */
static void random_rotation(scene *s, double R[9])
{
    double q[4], length2 = 0.0;
    do {
        length2 = 0.0;
        for (int k = 0; k < 4; k++) {
            q[k] = rb_rng_uniform(&s->rng, -1.0, 1.0);
            length2 += q[k] * q[k];
        }
    } while (length2 > 1.0 || length2 < 0.01);
    double f = 2.0 / length2, w = q[0], x = q[1], y = q[2], z = q[3];
    double rows[9] = { 1.0 - f * (y * y + z * z), f * (x * y - w * z),
                       f * (x * z + w * y),       f * (x * y + w * z),
                       1.0 - f * (x * x + z * z), f * (y * z - w * x),
                       f * (x * z - w * y),       f * (y * z + w * x),
                       1.0 - f * (x * x + y * y) };
    memcpy(R, rows, sizeof rows);
}

static void rotate(const double R[9], double x[3])
{
    double y[3];
    for (int i = 0; i < 3; i++) y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
    memcpy(x, y, sizeof y);
}

/* S <- R S R' for a symmetric S. */
static void rotate_tensor(const double R[9], double S[9])
{
    double RS[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            RS[3 * i + j] = 0.0;
            for (int k = 0; k < 3; k++) RS[3 * i + j] += R[3 * i + k] * S[3 * k + j];
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++) sum += RS[3 * i + k] * R[3 * j + k];
            S[3 * i + j] = S[3 * j + i] = sum;
        }
}

void scene_frame(const double n[3], double t1[3], double t2[3])
{
    /* the x axis projected on the tangent plane, the y axis where the normal is close to x */
    int axis = fabs(n[0]) < 0.9 ? 0 : 1;
    double length2 = 0.0;
    for (int k = 0; k < 3; k++) {
        t1[k] = (k == axis ? 1.0 : 0.0) - n[axis] * n[k];
        length2 += t1[k] * t1[k];
    }
    double length = sqrt(length2);
    for (int k = 0; k < 3; k++) t1[k] /= length;
    t2[0] = n[1] * t1[2] - n[2] * t1[1];
    t2[1] = n[2] * t1[0] - n[0] * t1[2];
    t2[2] = n[0] * t1[1] - n[1] * t1[0];
}

/* Room for one more element; NULL (and s->failed) when out of memory. */
static void *grow(scene *s, void *array, int count, int *cap, size_t size)
{
    if (count < *cap) return array;
    int next = *cap ? 2 * *cap : MIN_CONTACT;
    void *bigger = realloc(array, (size_t)next * size);
    if (!bigger) {
        s->failed = 1;
        return NULL;
    }
    *cap = next;
    return bigger;
}

int scene_add_body(scene *s, const double com[3], const double half[3], int round)
{
    scene_body *grown = grow(s, s->body, s->nbody, &s->body_cap, sizeof *s->body);
    if (!grown) return -1;
    s->body = grown;
    scene_body *b = &s->body[s->nbody];
    memset(b, 0, sizeof *b);

    /* a mass anywhere in 2^(-bits/2) .. 2^(bits/2) kg */
    int bits = s->mass_bits;
    double mantissa = scene_range(s, 1.0, 2.0); /* drawn first: arguments have no order in C */
    int exponent = scene_pick(s, 0, bits) - bits / 2;
    b->mass = bits ? ldexp(mantissa, exponent) : 1.0;
    b->radius = fmin(half[0], fmin(half[1], half[2]));
    memcpy(b->com, com, sizeof b->com);

    for (int k = 0; k < 3; k++) {
        double side = half[(k + 1) % 3], other = half[(k + 2) % 3];
        double inertia = round ? 0.4 * b->mass * half[0] * half[0]
                               : b->mass * (side * side + other * other) / 3.0;
        b->inv_I[4 * k] = 1.0 / inertia;
    }
    return s->nbody++;
}

void scene_add_contact(scene *s, int a, int b, const double point[3], const double normal[3])
{
    if (s->ncon >= s->want) return;
    scene_contact *grown = grow(s, s->contact, s->ncon, &s->con_cap, sizeof *s->contact);
    if (!grown) return;
    s->contact = grown;
    scene_contact *c = &s->contact[s->ncon++];
    memset(c, 0, sizeof *c);
    c->a = a;
    c->b = b;
    memcpy(c->point, point, sizeof c->point);
    memcpy(c->normal, normal, sizeof c->normal);

    c->mu = scene_range(s, 0.0, MU_MAX);
    if (scene_chance(s, 0.05)) c->mu = 0.0;
    if (s->mu_common >= 0.0) c->mu = s->mu_common;
    c->gap = scene_chance(s, 0.5) ? scene_range(s, 0.0, s->gap_max) : 0.0;

    /* what a previous step would have left: the static share of the weight, a little slip */
    double mass = b >= 0 ? s->body[b].mass : s->body[a].mass;
    c->normal_prev = scene_range(s, 0.0, 1.0) * mass * GRAVITY * s->h;
    for (int k = 0; k < 2; k++) {
        c->slip_prev[k] = scene_range(s, -1e-3, 1e-3);
        c->friction_prev[k] = scene_range(s, -0.3, 0.3) * c->mu * mass * GRAVITY;
    }
}

void scene_add_patch(scene *s, int a, int b, const double point[3], const double normal[3],
                     double half, int k)
{
    static const double corner[5][4][2] = { { { 0, 0 } },
                                            { { 0, 0 } },
                                            { { 1, 0 }, { -1, 0 } },
                                            { { 1, 1 }, { -1, 1 }, { 0, -1 } },
                                            { { 1, 1 }, { -1, 1 }, { -1, -1 }, { 1, -1 } } };
    double t1[3], t2[3];
    scene_frame(normal, t1, t2);
    for (int i = 0; i < k; i++) {
        double at[3];
        for (int d = 0; d < 3; d++)
            at[d] = point[d] + half * (corner[k][i][0] * t1[d] + corner[k][i][1] * t2[d]);
        scene_add_contact(s, a, b, at, normal);
    }
}

/* Random motion plus the velocity that gravity gives in the step. A grasp has set its own. */
static void add_motion(scene *s)
{
    double speed = 0.0;
    int kind = scene_pick(s, 0, 3);
    if (kind == 1) speed = SPEED_QUIET;
    if (kind >= 2) speed = SPEED_WILD * scene_range(s, 0.05, 1.0);

    /* the ground may be an incline: gravity then has a tangential part */
    double g[3] = { 0.0, 0.0, -GRAVITY };
    if (scene_chance(s, 0.5)) {
        double tilt = scene_range(s, -0.5, 0.5);
        g[0] = -GRAVITY * tilt;
    }
    for (int b = 0; b < s->nbody; b++) {
        double *v = s->body[b].velocity;
        for (int k = 0; k < 3; k++) {
            v[k] += speed * scene_range(s, -1.0, 1.0) / s->body[b].radius * 0.5;
            v[3 + k] += speed * scene_range(s, -1.0, 1.0) + s->h * g[k];
        }
    }
}

/* Turns the whole scene, so that no normal is along an axis. */
static void turn(scene *s)
{
    double R[9];
    random_rotation(s, R);
    for (int b = 0; b < s->nbody; b++) {
        rotate(R, s->body[b].com);
        rotate(R, s->body[b].velocity);
        rotate(R, s->body[b].velocity + 3);
        rotate_tensor(R, s->body[b].inv_I);
    }
    for (int c = 0; c < s->ncon; c++) {
        rotate(R, s->contact[c].point);
        rotate(R, s->contact[c].normal);
    }
}

static void add_joint(scene *s, int a, int b, const double point[3])
{
    scene_joint *grown = grow(s, s->joint, s->njoint, &s->joint_cap, sizeof *s->joint);
    if (!grown) return;
    s->joint = grown;
    scene_joint *j = &s->joint[s->njoint++];
    j->a = a;
    j->b = b;
    memcpy(j->point, point, sizeof j->point);
}

/* Ball joints between bodies that follow each other. Two on a pair make a hinge and one redundant
 * row, three a weld and three redundant rows: consistent, because every row is J v. */
static void add_joints(scene *s)
{
    int want = scene_pick(s, 1, 1 + s->nbody / 3);
    for (int i = 0; i < want; i++) {
        int b = scene_pick(s, 0, s->nbody - 1), a = b - 1;
        int points = scene_chance(s, 0.6) ? 1 : scene_pick(s, 2, 3);
        for (int k = 0; k < points; k++) {
            double at[3];
            for (int d = 0; d < 3; d++) {
                double other = a >= 0 ? s->body[a].com[d] : 0.0;
                at[d] = 0.5 * (s->body[b].com[d] + other) + scene_range(s, -0.05, 0.05);
            }
            add_joint(s, a, b, at);
        }
    }
}

/* What differs from scene to scene: half of the plain ones have no spread at all, and so are as
 * degenerate as a scene can be. */
static void draw_character(scene *s)
{
    static const int bits[5] = { 0, 0, 7, 13, MASS_BITS };
    s->h = scene_chance(s, 0.5) ? 1e-3 : 1e-2;
    s->mass_bits = bits[scene_pick(s, 0, 4)];
    s->jitter = scene_chance(s, 0.5) ? scene_range(s, 0.05, 0.3) : 0.0;
    s->mu_common = scene_chance(s, 0.5) ? scene_range(s, 0.0, MU_MAX) : -1.0;
    if (scene_chance(s, 0.05)) s->mu_common = 0.0;
    s->gap_max = GAP_MAX;
}

rb_status scene_make(scene *s, uint64_t seed, int family, int contacts, int joints)
{
    static void (*const families[RB_CORPUS_FAMILIES])(
        scene *) = { scene_stack, scene_wedge, scene_grasp, scene_pile, scene_chain };
    memset(s, 0, sizeof *s);
    uint64_t key[2] = { seed, (uint64_t)family };
    s->rng = rb_rng_make(rb_hash(RB_HASH_INIT, key, sizeof key));
    s->want = contacts;
    draw_character(s);

    families[family](s);
    if (s->failed) return RB_NOMEM;
    add_motion(s);
    if (scene_chance(s, 0.5)) turn(s);
    if (joints) add_joints(s);
    return s->failed ? RB_NOMEM : RB_OK;
}

void scene_free(scene *s)
{
    free(s->body);
    free(s->contact);
    free(s->joint);
    memset(s, 0, sizeof *s);
}

void scene_permute(scene *s, uint64_t seed, int *order)
{
    for (int c = 0; c < s->ncon; c++) order[c] = c;
    if (seed == 0) return;
    rb_rng rng = rb_rng_make(seed);
    for (int c = s->ncon - 1; c > 0; c--) {
        int other = (int)(rb_rng_next(&rng) % (uint32_t)(c + 1));
        scene_contact contact = s->contact[c];
        s->contact[c] = s->contact[other];
        s->contact[other] = contact;
        int index = order[c];
        order[c] = order[other];
        order[other] = index;
    }
}

void scene_perturb(scene *s, double relative)
{
    for (int b = 0; b < s->nbody; b++)
        for (int k = 0; k < 6; k++)
            s->body[b].velocity[k] *= 1.0 + relative * scene_range(s, -1.0, 1.0);
}
