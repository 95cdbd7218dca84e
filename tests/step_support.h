/* Scenes of the tests of stepping: MJCF in memory or from scenes/, steps with checks. */
#ifndef RB_TESTS_STEP_SUPPORT_H
#define RB_TESTS_STEP_SUPPORT_H

#include "rattleback/load.h"
#include "rattleback/step.h"
#include "test.h"

typedef struct scene {
    rb_model *m;
    rb_data *d;
    rb_step_opts o;
    rb_step_info info, worst; /* last step; largest numbers of all */
} scene;

static inline scene scene_of(rb_spec *spec, const rb_error *err)
{
    rb_error why = { 0 };
    scene s = { .o = rb_step_opts_default() };
    if (!spec) test_fail(__FILE__, __LINE__, "%s:%d: %s", err->file, err->line, err->text);
    s.m = rb_spec_compile(spec, NULL, &why);
    if (!s.m) test_fail(__FILE__, __LINE__, "%s:%d: %s", why.file, why.line, why.text);
    rb_spec_free(spec);
    s.d = rb_data_new(s.m, NULL);
    CHECK(s.d != NULL);
    return s;
}

static inline scene scene_text(const char *mjcf)
{
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    return scene_of(rb_spec_read_memory(mjcf, strlen(mjcf), NULL, &o, NULL, &err), &err);
}

/* The same, with the hulls of its meshes. */
static inline scene scene_hulls(const char *mjcf)
{
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    rb_spec *spec = rb_spec_read_memory(mjcf, strlen(mjcf), NULL, &o, NULL, &err);
    if (!spec) test_fail(__FILE__, __LINE__, "%d: %s", err.line, err.text);
    CHECK_INT(rb_spec_hulls(spec, &err), RB_OK);
    return scene_of(spec, &err);
}

/* scenes/NAME, at its first keyframe where it has one */
static inline scene scene_file(const char *name)
{
    char path[512];
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    snprintf(path, sizeof path, "%s/%s", RB_SCENES_DIR, name);
    scene s = scene_of(rb_spec_read(path, &o, NULL, &err), &err);
    if (s.m->nkey > 0) CHECK_INT(rb_data_reset_key(s.m, s.d, 0), RB_OK);
    return s;
}

/* Overlap that steps may make of a body of the size of the model [m]. */
static inline double scene_deep(const scene *s)
{
    return rb_accuracy_overlap(s->o.accuracy) * s->m->extent;
}

static inline void scene_free(scene *s)
{
    rb_data_free(s->d);
    rb_model_free(s->m, NULL);
}

static inline void scene_step(scene *s)
{
    rb_error err = { 0 };
    rb_status status = rb_step(s->m, s->d, &s->o, &s->info, &err);
    if (status == RB_FULL) {
        CHECK_INT(rb_data_reserve(s->m, &s->d, 2 * s->info.contacts), RB_OK);
        status = rb_step(s->m, s->d, &s->o, &s->info, &err);
    }
    if (status != RB_OK)
        test_fail(__FILE__, __LINE__, "t = %g: %s: %s", s->d->time, rb_status_text(status),
                  err.text);
    s->worst.residual = fmax(s->worst.residual, s->info.residual);
    s->worst.penetration = fmax(s->worst.penetration, s->info.penetration);
    s->worst.energy_created = fmax(s->worst.energy_created, s->info.energy_created);
    s->worst.loop_error = fmax(s->worst.loop_error, s->info.loop_error);
}

static inline void scene_run(scene *s, double time)
{
    double h = s->o.h > 0.0 ? s->o.h : s->m->option.timestep, end = s->d->time + time - 0.5 * h;
    while (s->d->time < end) scene_step(s);
}

/* Steps of h by the node rule. */
static inline scene scene_node(const char *mjcf, double h)
{
    scene s = scene_text(mjcf);
    s.o.scheme = RB_SCHEME_NODE;
    s.o.h = h;
    return s;
}

static inline double scene_energy(const scene *s)
{
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_frames(s->m, s->d);
    return rb_energy_kinetic(s->m, s->d) + rb_energy_potential(s->m, s->d);
}

#endif
