/* One drop: a random orientation from its own numbers, steps, and when the pose is decided.
 *
 * Nothing creates energy. While the part touches or flies its centre of mass is at h(d) of (Q.1) or
 * above, so that with
 *     E / (m g) = z + (kinetic energy) / (m g)                                         (Q.7)
 * below the lowest saddle of its valley, no motion can leave it: the pose is decided, long before
 * rest. Rolling does not end where nothing brakes it; there the energy without that of the rolling
 * must be below the saddle for some time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rattleback/poses.h"

/* Share of the depth of a valley that the energy may use [1]: the rest is for the 1e-9 that
 * certified steps may create, and for shapes cut into facets (5e-4). Larger: nothing is won. */
#define SHARE_OF_DEPTH 0.99

/* Rest where no certificate says so: slower than this [m/s] for this long [s], as the measured
 * drops were judged. */
#define REST_SPEED 1e-3
#define REST_TIME  0.2

/* Rolling: this long in one pose, in times that a part of that size takes to tip [1]. */
#define ROLLING_TIMES 5.0

/* Squared length of four random numbers below which their direction is coarse [1]. */
#define TOO_SHORT 1e-4

/* The simulation begins at this many radii above the floor [1]: nothing touches yet. */
#define CLEAR 1.001

/* Size of a part in seconds: a fiftieth of it resolves tipping. */
#define STEPS_TO_TIP 50.0

/* Largest dimensions of a part between the floor and the start, as in the drops of the paper. */
#define SIZES_HIGH 10.0

/* Times that a step without an answer is halved. */
enum { HALVINGS = 6 };

const char *rb_drop_word(rb_drop_outcome outcome)
{
    static const char *const words[] = { "decided", "rest", "rolling", "unsettled", "failed" };
    return outcome >= 0 && outcome < RB_DROP_OUTCOMES ? words[outcome] : "?";
}

rb_drop_opts rb_drop_opts_default(void)
{
    rb_drop_opts o = { .seed = 1, .time = 10.0, .step = rb_step_opts_default() };
    o.step.stepper = RB_STEPPER_IMPULSE;
    return o;
}

rb_status rb_drop_opts_finish(rb_drop_opts *o, const rb_part *p, double longest, rb_error *err)
{
    if (o->height == 0.0) o->height = SIZES_HIGH * p->size;
    if (o->step.h == 0.0) o->step.h = fmin(sqrt(p->radius / p->gravity) / STEPS_TO_TIP, longest);
    if (o->height >= p->radius) return RB_OK;
    *err = (rb_error){ .status = RB_BAD_INPUT };
    snprintf(err->text, sizeof err->text,
             "height %g: expected the centre of mass at %g m or more, where no orientation touches "
             "the floor",
             o->height, p->radius);
    return RB_BAD_INPUT;
}

void rb_wilson(int k, int n, double *low, double *high)
{
    const double z = 1.959963984540054; /* 97.5 % quantile of the normal distribution */
    *low = 0.0;
    *high = 1.0;
    if (n <= 0) return;
    double share = (double)k / n, z2 = z * z / n;
    double centre = (share + 0.5 * z2) / (1.0 + z2);
    double half = z / (1.0 + z2) * sqrt(share * (1.0 - share) / n + 0.25 * z2 / n);
    if (k > 0) *low = centre - half;
    if (k < n) *high = centre + half;
}

typedef struct motion {
    double R[9];   /* rotation to the world                                                   */
    double d[3];   /* down, axes of the part                                                  */
    double z;      /* of the centre of mass above the floor [m]                               */
    double v[3];   /* of the centre of mass, world [m/s]                                      */
    double w[3];   /* angular velocity, axes of the part [rad/s]                              */
    double energy; /* E / (m g) [m]                                                           */
} motion;

/* Rows of the rotation of a quaternion, to the world. */
static void rotation(const double q[4], double R[9])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double rows[9] = { 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z),
                             2.0 * (x * z + w * y),       2.0 * (x * y + w * z),
                             1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
                             2.0 * (x * z - w * y),       2.0 * (y * z + w * x),
                             1.0 - 2.0 * (x * x + y * y) };
    memcpy(R, rows, sizeof rows);
}

static void turn(const double R[9], const double x[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

/* w'Iw / 2 [J]. */
static double turning_energy(const rb_part *p, const double w[3])
{
    const double *I = p->inertia;
    return 0.5 * (I[0] * w[0] * w[0] + I[1] * w[1] * w[1] + I[2] * w[2] * w[2]) +
           I[3] * w[0] * w[1] + I[4] * w[0] * w[2] + I[5] * w[1] * w[2];
}

static motion look(const rb_part *p, const rb_data *d)
{
    motion at;
    double c[3], u[3];
    const double *com = p->com, *w = d->v + 3;
    rotation(d->q + 3, at.R);
    turn(at.R, com, c);
    at.z = d->q[2] + c[2] - p->ground;
    const double lever[3] = { w[1] * com[2] - w[2] * com[1], w[2] * com[0] - w[0] * com[2],
                              w[0] * com[1] - w[1] * com[0] };
    turn(at.R, lever, u);
    for (int i = 0; i < 3; i++) {
        at.v[i] = d->v[i] + u[i];
        at.w[i] = w[i];
        at.d[i] = -at.R[6 + i];
    }
    double speed2 = at.v[0] * at.v[0] + at.v[1] * at.v[1] + at.v[2] * at.v[2];
    double weight = p->mass * p->gravity;
    at.energy = at.z + 0.5 * speed2 / p->gravity + turning_energy(p, w) / weight;
    return at;
}

/* E / (m g) without what rolling about the axis of a pose takes: spin about it, and travel on the
 * floor at right angles to it [m]. */
static double without_rolling(const rb_part *p, const rb_rest_pose *in, const motion *at)
{
    double w[3], along[3], spin = 0.0, travel = 0.0, speed2 = at->v[2] * at->v[2];
    int ball = in->axis[0] == 0.0 && in->axis[1] == 0.0 && in->axis[2] == 0.0;
    if (ball) return at->z;
    for (int i = 0; i < 3; i++) spin += at->w[i] * in->axis[i];
    for (int i = 0; i < 3; i++) w[i] = at->w[i] - spin * in->axis[i];
    turn(at->R, in->axis, along);
    for (int i = 0; i < 2; i++) travel += at->v[i] * along[i];
    speed2 += travel * travel;
    return at->z + 0.5 * speed2 / p->gravity + turning_energy(p, w) / (p->mass * p->gravity);
}

/* ---- start --------------------------------------------------------------------------------------
 */

static void start(const rb_part *p, const rb_drop_opts *s, int k, const rb_model *m, rb_data *d)
{
    const uint64_t who[2] = { s->seed, (uint64_t)k };
    rb_rng rng = rb_rng_make(rb_hash(RB_HASH_INIT, who, sizeof who));
    double q[4], R[9], c[3], length = 0.0;
    rb_data_reset(m, d);
    d->ntouch = 0;
    do { /* uniform in the ball of four dimensions: uniform orientations */
        length = 0.0;
        for (int i = 0; i < 4; i++) {
            q[i] = rb_rng_uniform(&rng, -1.0, 1.0);
            length += q[i] * q[i];
        }
    } while (length > 1.0 || length < TOO_SHORT);
    for (int i = 0; i < 4; i++) d->q[3 + i] = q[i] / sqrt(length);
    for (int i = 0; i < 3; i++) d->v[3 + i] = s->spin * rb_rng_normal(&rng);

    /* without spin nothing happens before the ball about the part comes down to the floor */
    double fallen = s->spin > 0.0 ? 0.0 : s->height - fmin(s->height, CLEAR * p->radius);
    double z = s->height - fallen;
    rotation(d->q + 3, R);
    turn(R, p->com, c);
    for (int i = 0; i < 3; i++) d->q[i] = (i == 2 ? p->ground + z : 0.0) - c[i];

    /* velocity of the origin of the body: that of the centre of mass, and what spin adds */
    const double *com = p->com, *w = d->v + 3;
    const double lever[3] = { w[1] * com[2] - w[2] * com[1], w[2] * com[0] - w[0] * com[2],
                              w[0] * com[1] - w[1] * com[0] };
    turn(R, lever, c);
    for (int i = 0; i < 3; i++) d->v[i] = (i == 2 ? -sqrt(2.0 * p->gravity * fallen) : 0.0) - c[i];
    d->time = sqrt(2.0 * fallen / p->gravity);
}

/* ---- the end ------------------------------------------------------------------------------------
 */

typedef struct watch {
    double still; /* since when it is slow [s]                              */
    double since; /* since when it rolls in one pose [s]                    */
    int rolling;  /* that pose, -1: none                                    */
} watch;

static int finish(rb_drop *out, rb_drop_outcome outcome, int in)
{
    out->outcome = outcome;
    out->pose = in;
    return 1;
}

static double speed(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Whether the drop has ended, and how. */
static int ended(const rb_part *p, const rb_drop_opts *s, const rb_data *d, int resting, watch *w,
                 rb_drop *out)
{
    motion at = look(p, d);
    double slow = fmax(speed(at.v), p->radius * speed(at.w));
    if (slow >= REST_SPEED) w->still = d->time;
    int rests = (resting && slow == 0.0) || d->time - w->still >= REST_TIME;
    if (!rests && at.z >= p->barrier_max) return 0;

    int in = rb_part_descend(p, at.d);
    const rb_rest_pose *k = &p->pose[in];
    if (rests) return finish(out, RB_DROP_REST, in);
    if (!s->full && at.energy < k->height + SHARE_OF_DEPTH * (k->barrier - k->height))
        return finish(out, RB_DROP_DECIDED, in);
    int rolls = k->rolling && without_rolling(p, k, &at) < k->barrier;
    if (!rolls || in != w->rolling) w->since = d->time;
    w->rolling = rolls ? in : -1;
    if (rolls && d->time - w->since >= ROLLING_TIMES * sqrt(p->radius / p->gravity))
        return finish(out, RB_DROP_ROLLING, in);
    return 0;
}

static int unanswered(rb_status status)
{
    return status == RB_UNSOLVED || status == RB_JAMMED || status == RB_BUDGET;
}

/* A step; one without an answer is tried in shorter ones, at last as a fixed step. *d may move. */
static rb_status step(const rb_model *m, const rb_drop_opts *s, rb_data **d, rb_drop *out,
                      int *resting, rb_error *err)
{
    rb_step_opts opts = s->step;
    rb_step_info info = { 0 };
    rb_status status = RB_UNSOLVED;
    for (int k = 0; k <= HALVINGS + 1 && unanswered(status); k++) {
        if (k == HALVINGS + 1) {
            opts = s->step;
            opts.stepper = RB_STEPPER_FIXED;
        }
        status = rb_step(m, *d, &opts, &info, err);
        while (status == RB_FULL && rb_data_reserve(m, d, 2 * info.contacts + 16) == RB_OK)
            status = rb_step(m, *d, &opts, &info, err);
        opts.h *= 0.5;
        out->retries += unanswered(status);
    }
    out->steps++;
    *resting = info.resting > 0;
    return status;
}

rb_status rb_drop_run(const rb_part *p, const rb_model *m, const rb_drop_opts *s, int k,
                      rb_data **data, rb_drop *out, rb_error *err)
{
    int resting = 0;
    *out = (rb_drop){ .pose = -1, .outcome = RB_DROP_UNSETTLED };
    start(p, s, k, m, *data);
    watch w = { .still = (*data)->time, .since = (*data)->time, .rolling = -1 };
    int over = ended(p, s, *data, 0, &w, out);
    while (!over && (*data)->time < s->time) {
        rb_status status = step(m, s, data, out, &resting, err);
        if (unanswered(status)) {
            out->outcome = RB_DROP_FAILED;
            break;
        }
        if (status != RB_OK) return status;
        out->outcome = RB_DROP_UNSETTLED;
        over = ended(p, s, *data, resting, &w, out);
    }
    out->time = (*data)->time;
    if (!over) out->pose = -1;
    return RB_OK;
}
