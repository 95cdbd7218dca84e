#include "show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle.h"

struct show {
    const show_options *o;
    rb_replay *replay;
    rb_event_sink kept, other;
    int lost; /* 1: out of memory */
};

show_options show_options_default(void)
{
    return (show_options){ .fps = 60.0, .snapshots = 6, .camera = { NAN, NAN } };
}

int show_is_asked(const show_options *o)
{
    return o->html || o->gltf || o->svg;
}

int show_camera(const char *command, const char *text, double camera[2])
{
    char *end;
    camera[0] = strtod(text, &end);
    int good = end != text && *end == ',';
    if (good) {
        const char *second = end + 1;
        camera[1] = strtod(second, &end);
        good = end != second && *end == '\0' && fabs(camera[0]) <= 360.0 && fabs(camera[1]) <= 90.0;
    }
    return good ? 1
                : argument_refuse(command, "--camera", text,
                                  "azimuth and elevation in degrees, for example -60,20");
}

/* ---- recording ----------------------------------------------------------------------------------
 */

static void take(void *ctx, const rb_event *event)
{
    const show *s = ctx;
    s->kept.take(s->kept.ctx, event);
    if (s->other.take) s->other.take(s->other.ctx, event);
}

show *show_new(const show_options *o, const rb_model *m, rb_event_sink other)
{
    rb_replay_opts opts = rb_replay_opts_default();
    opts.fps = o->fps;
    show *s = calloc(1, sizeof *s);
    rb_replay *replay = s ? rb_replay_new(m, &opts) : NULL;
    if (!replay) {
        fputs("rattleback: out of memory for what is shown\n", stderr);
        free(s);
        return NULL;
    }
    *s = (show){ .o = o, .replay = replay, .kept = rb_replay_events(replay), .other = other };
    return s;
}

rb_event_sink show_sink(show *s)
{
    return (rb_event_sink){ take, s };
}

void show_start(show *s, rb_data *d, const rb_step_opts *opts)
{
    s->lost |= rb_replay_start(s->replay, d, opts) != RB_OK;
}

void show_step(show *s, rb_data *d, const rb_step_opts *opts, const rb_step_info *info,
               rb_status status, const rb_error *err)
{
    s->lost |= rb_replay_step(s->replay, d, opts, info, status, err) != RB_OK;
}

void show_free(show *s)
{
    if (!s) return;
    rb_replay_free(s->replay);
    free(s);
}

/* ---- files --------------------------------------------------------------------------------------
 */

rb_model *show_visuals(const model_options *model, const char *path)
{
    rb_error ignored = { 0 };
    rb_load_opts load = model->load;
    size_t n = strlen(path);
    if (n < 5 || strcmp(path + n - 5, ".urdf") != 0) return NULL;
    load.visuals = 1;
    rb_spec *spec = rb_spec_read(path, &load, NULL, &ignored);
    rb_model *m = spec ? rb_spec_compile(spec, NULL, &ignored) : NULL;
    rb_spec_free(spec);
    return m;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The page apart from what the model makes large. */
static void report_page(FILE *to, const char *path, const rb_replay_info *i, size_t viewer)
{
    fprintf(to,
            "%s: %d frames, %.3f MB of motion, %.3f MB of meshes, %.3f MB of viewer; rounded by at "
            "most "
            "%.1e m, %.1e rad\n",
            path, i->frames, 1e-6 * (double)(i->bytes - i->scene.mesh_bytes),
            1e-6 * (double)i->scene.mesh_bytes, 1e-6 * (double)viewer,
            fmax(i->lost_position, fmax(i->lost_contact, i->scene.lost_mesh)),
            fmax(i->lost_angle, i->lost_normal));
}

static int save_one(const show *s, const char *file, const rb_model *shown, const char *path,
                    FILE *to)
{
    rb_error err = { 0 };
    rb_replay_info info = { 0 };
    rb_save_opts o = rb_save_opts_default();
    o.page = bundle_page(&o.page_size);
    o.snapshots = s->o->snapshots;
    o.azimuth = s->o->camera[0];
    o.elevation = s->o->camera[1];
    if (rb_replay_save(file, s->replay, shown, base_name(path), &o, &info, &err) != RB_OK) {
        model_say(&err);
        return 0;
    }
    if (file == s->o->html)
        report_page(to, file, &info, o.page_size);
    else
        fprintf(to, "%s: %d frames\n", file, info.frames);
    return 1;
}

int show_save(show *s, rb_data *d, const rb_step_opts *opts, model_options *model, const char *path,
              int quiet)
{
    const char *files[] = { s->o->html, s->o->gltf, s->o->svg };
    int good = !s->lost && rb_replay_end(s->replay, d, opts) == RB_OK;
    if (!good) {
        fputs("rattleback: out of memory for what is shown\n", stderr);
        return 0;
    }
    rb_model *shown = show_visuals(model, path);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        if (files[k]) good = save_one(s, files[k], shown, path, quiet ? stderr : stdout) && good;
    if (shown) rb_model_free(shown, NULL);
    return good;
}
