/* Replays into files, by the format that their names end in. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "rattleback/show.h"

typedef struct job {
    const rb_replay *r;
    const rb_model *shown;
    const char *name;
    rb_replay_info *info;
} job;

static rb_status write_json(FILE *out, void *ctx)
{
    const job *j = ctx;
    return rb_replay_write(out, j->r, j->shown, j->name, j->info);
}

static int ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

static rb_status write(FILE *out, const char *path, job *j, const rb_save_opts *o)
{
    if (ends_with(path, ".html"))
        return rb_page_write(out, o->page, o->page_size, "rb-replay", write_json, j, NULL, 0);
    if (ends_with(path, ".json")) return write_json(out, j);
    if (ends_with(path, ".glb")) return rb_replay_write_gltf(out, j->r, j->shown, j->name);
    return rb_replay_write_svg(out, j->r, j->shown, o->snapshots, o->azimuth, o->elevation);
}

static rb_status refuse(rb_error *err, rb_status status, const char *path, const char *text)
{
    *err = (rb_error){ .status = status };
    snprintf(err->file, sizeof err->file, "%s", path);
    snprintf(err->text, sizeof err->text, "%s", text);
    return status;
}

rb_save_opts rb_save_opts_default(void)
{
    return (rb_save_opts){ .snapshots = 6, .azimuth = NAN, .elevation = NAN };
}

rb_status rb_replay_save(const char *path, const rb_replay *r, const rb_model *shown,
                         const char *name, const rb_save_opts *opts, rb_replay_info *info,
                         rb_error *err)
{
    rb_save_opts o = opts ? *opts : rb_save_opts_default();
    job j = { r, shown, name, info };
    int known = ends_with(path, ".html") || ends_with(path, ".json") || ends_with(path, ".glb") ||
                ends_with(path, ".svg");
    if (info) *info = (rb_replay_info){ .frames = rb_replay_frames(r) };
    if (!known)
        return refuse(err, RB_BAD_INPUT, path,
                      "expected a name that ends in .html, .json, .glb or .svg");
    if (ends_with(path, ".html") && !o.page)
        return refuse(err, RB_BAD_INPUT, path, "there is no page to put the replay in");
    FILE *out = fopen(path, "wb");
    if (!out) return refuse(err, RB_FILE, path, strerror(errno));
    rb_status status = write(out, path, &j, &o);
    if (fclose(out) != 0 && status == RB_OK) status = RB_FILE;
    if (status == RB_FILE) return refuse(err, status, path, strerror(errno));
    if (status != RB_OK) return refuse(err, status, path, rb_status_text(status));
    return RB_OK;
}
