/* The part of `rattleback bench demo` with robots: one model's tree, then models from files that
 * swing and fall for two seconds without contact. What the integrator adds to or takes from the
 * energy is the error; dampers, which would hide it, are taken off first. */
#include "bench/bench.h"

#include "commands.h"
#include "info.h"
#include "rattleback/dynamics.h"
#include "rattleback/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DURATION 2.0  /* [s] */
#define STEP     1e-3 /* [s] */
#define SPEED    2.0  /* [rad/s, m/s] largest of the random initial velocities */
#define SEED     UINT64_C(5)
#define SHOWN    "scenes/robots/quadruped.xml"

typedef struct robot {
    const char *name, *path; /* path below the reference data where shared is set */
    int shared, floating;
} robot;

static const robot robots[] = {
    { "double pendulum", "scenes/robots/double_pendulum.xml", 0, 0 },
    { "quadruped", SHOWN, 0, 0 },
    { "tumbler", "scenes/robots/tumbler.xml", 0, 0 },
    { "humanoid", "mujoco_models/humanoid/humanoid/humanoid.xml", 1, 0 },
    { "iiwa14",
      "robots/iiwa14_primitive_urdf/iiwa_description/urdf/iiwa14_primitive_collision.urdf", 1, 0 },
    { "solo12", "robots/solo12_urdf/robots/solo_description/robots/solo12.urdf", 1, 1 },
    { "atlas", "robots/atlas_urdf/atlas/atlas_minimal_contact.urdf", 1, 1 },
};
enum { NROBOT = sizeof robots / sizeof *robots };

typedef struct motion {
    double start, gained, lost; /* energy [J] at the start, and largest change either way       */
    double kinetic;             /* largest kinetic energy [J]                                   */
    double us_per_step;
    int steps, failed;
} motion;

/* ---- models ------------------------------------------------------------------------------------
 */

static rb_model *load(const char *path, int floating, int damped, rb_error *err)
{
    rb_load_opts opts = rb_load_opts_default();
    opts.floating_base = floating;
    rb_spec *spec = rb_spec_read(path, &opts, NULL, err);
    for (int j = 0; spec && !damped && j < rb_spec_count(spec, RB_KIND_JOINT); j++)
        rb_spec_joint(spec, j)->damping = 0.0;
    for (int t = 0; spec && !damped && t < rb_spec_count(spec, RB_KIND_TENDON); t++)
        rb_spec_tendon(spec, t)->damping = 0.0;
    rb_model *m = spec ? rb_spec_compile(spec, NULL, err) : NULL;
    rb_spec_free(spec);
    return m;
}

static void show_tree(void)
{
    rb_error err = { 0 };
    rb_model *m = load(SHOWN, 0, 1, &err);
    rb_data *d = m ? rb_data_new(m, NULL) : NULL;
    info in = { .path = SHOWN, .m = m };
    if (d) {
        printf("\nA robot from a file: rattleback info %s\n", SHOWN);
        rb_kinematics(m, d);
        rb_center_of_mass(m, d, in.com);
        info_text(stdout, &in);
    } else if (err.text[0]) {
        printf("\nA robot from a file: left out, %s:%d: %s\n", err.file, err.line, err.text);
    }
    rb_data_free(d);
    if (m) rb_model_free(m, NULL);
}

/* ---- motion ------------------------------------------------------------------------------------
 */

static double energy(const rb_model *m, rb_data *d, motion *out)
{
    rb_kinematics(m, d);
    rb_velocity(m, d);
    double kinetic = rb_energy_kinetic(m, d);
    out->kinetic = fmax(out->kinetic, kinetic);
    return kinetic + rb_energy_potential(m, d);
}

static void move(const rb_model *m, rb_data *d, motion *out)
{
    rb_rng rng = rb_rng_make(SEED);
    for (int i = 0; i < m->nv; i++) d->v[i] = rb_rng_uniform(&rng, -SPEED, SPEED);
    out->start = energy(m, d, out);
    double spent = 0.0;
    int steps = (int)(DURATION / STEP + 0.5);
    for (out->steps = 0; out->steps < steps && !out->failed; out->steps++) {
        rb_smooth_info step = { 0 };
        double begin = bench_now_us();
        rb_status status = rb_smooth_step(m, d, STEP, &step);
        spent += bench_now_us() - begin;
        out->failed = status != RB_OK || !step.converged;
        double change = energy(m, d, out) - out->start;
        out->gained = fmax(out->gained, change);
        out->lost = fmax(out->lost, -change);
    }
    out->us_per_step = out->steps ? spent / out->steps : 0.0;
}

static void put_motion(const robot *r, const rb_model *m, const motion *out, int json)
{
    double scale = out->kinetic > 0.0 ? out->kinetic : 1.0;
    if (json) {
        printf("{\"robot\":\"%s\",\"nv\":%d,\"steps\":%d,\"kinetic\":%.6g,\"gained\":%.3e,"
               "\"lost\":%.3e,\"us_per_step\":%.2f,\"failed\":%d}\n",
               r->name, m->nv, out->steps, out->kinetic, out->gained / scale, out->lost / scale,
               out->us_per_step, out->failed);
        return;
    }
    printf("%-18s %4d %14.5g %13.1e %13.1e %12.1f%s\n", r->name, m->nv, out->kinetic,
           out->gained / scale, out->lost / scale, out->us_per_step,
           out->failed ? "  did not converge" : "");
}

/* 1: moved, or left out because its file is missing. */
static int run_robot(const robot *r, int json)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", r->path);
    if (r->shared && !bench_find_shared(r->path, path, sizeof path)) return 1;
    rb_error err = { 0 };
    motion out = { 0 };
    rb_model *m = load(path, r->floating, 0, &err);
    rb_data *d = m ? rb_data_new(m, NULL) : NULL;
    if (d) {
        move(m, d, &out);
        put_motion(r, m, &out, json);
    } else {
        printf("%-18s left out, %s:%d: %s\n", r->name, err.file, err.line,
               err.text[0] ? err.text : "out of memory");
    }
    rb_data_free(d);
    if (m) rb_model_free(m, NULL);
    return d && !out.failed;
}

int bench_robots(int json)
{
    int ok = 1;
    if (!json) {
        show_tree();
        printf(
            "\nFree motion for %g s, step %g s, implicit midpoint: energy error over the largest\n"
            "kinetic energy\n"
            "%-18s %4s %14s %13s %13s %12s\n",
            DURATION, STEP, "robot", "nv", "kinetic [J]", "gained", "lost", "us per step");
    }
    for (int k = 0; k < NROBOT; k++) ok &= run_robot(&robots[k], json);
    return ok;
}
