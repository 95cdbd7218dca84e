#include "model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rattleback/dynamics.h"
#include "rattleback/front.h"

/* ---- options -----------------------------------------------------------------------------------
 */

const char model_options_help[] =
    "  --key NAME|INDEX       begin at a keyframe of the file, not at the reference configuration\n"
    "  --floating-base        bodies that are fixed to the world are free: the root of a URDF\n"
    "  --ground Z             add the plane z = Z to the world\n"
    "  --package NAME=DIR     where package://NAME/ is; may be repeated\n"
    "  --sandbox DIR          open no file outside of DIR, links resolved\n"
    "  --snap-angles          turn frames that miss a right angle by rounding to it\n"
    "  --coordinates WORD     minimal (joint coordinates), or maximal: every body free, every\n"
    "                         joint a bilateral constraint\n";

model_options model_options_default(const char *command)
{
    return (model_options){ .command = command, .load = rb_load_opts_default() };
}

int model_set_key(void *to, const char *text)
{
    model_options *o = to;
    o->key = text;
    return 1;
}

int model_set_friction(void *to, const char *text)
{
    model_options *o = to;
    char *end;
    o->load.friction = strtod(text, &end);
    if (end != text && *end == '\0' && o->load.friction >= 0.0 && isfinite(o->load.friction))
        return 1;
    fprintf(stderr, "rattleback %s: --friction %s: expected a number >= 0\n", o->command, text);
    return 0;
}

int model_set_ground(void *to, const char *text)
{
    model_options *o = to;
    char *end;
    o->ground = strtod(text, &end);
    o->has_ground = end != text && *end == '\0' && isfinite(o->ground);
    if (o->has_ground) return 1;
    fprintf(stderr, "rattleback %s: --ground %s: expected a height in metres\n", o->command, text);
    return 0;
}

int model_set_floating_base(void *to, const char *text)
{
    model_options *o = to;
    (void)text;
    return o->load.floating_base = 1;
}

/* NAME=FOLDER, or a folder that has packages in it or is one. */
int model_set_package(void *to, const char *text)
{
    model_options *o = to;
    struct stat found;
    int folder = !strchr(text, '=') && stat(text, &found) == 0 && S_ISDIR(found.st_mode);
    if (*text == '=' || (!strchr(text, '=') && !folder)) {
        fprintf(stderr, "rattleback %s: --package %s: expected NAME=FOLDER%s\n", o->command, text,
                *text && *text != '=' ? ", and there is no folder of this name" : "");
        return 0;
    }
    if (o->npackage >= MODEL_MOST_PACKAGES) {
        fprintf(stderr, "rattleback %s: --package: more than %d\n", o->command,
                MODEL_MOST_PACKAGES);
        return 0;
    }
    o->packages[o->npackage++] = text;
    return 1;
}

int model_set_sandbox(void *to, const char *text)
{
    model_options *o = to;
    struct stat found;
    o->load.sandbox = text;
    if (stat(text, &found) == 0 && S_ISDIR(found.st_mode)) return 1;
    fprintf(stderr, "rattleback %s: --sandbox %s: expected a folder\n", o->command, text);
    return 0;
}

int model_set_snap_angles(void *to, const char *text)
{
    model_options *o = to;
    (void)text;
    return o->load.snap_angles = 1;
}

int model_set_coordinates(void *to, const char *text)
{
    model_options *o = to;
    o->coordinates_said = 1;
    o->maximal = strcmp(text, "maximal") == 0;
    if (o->maximal || strcmp(text, "minimal") == 0) return 1;
    fprintf(stderr, "rattleback %s: --coordinates %s: expected minimal or maximal\n", o->command,
            text);
    return 0;
}

int model_set_lenient(void *to, const char *text)
{
    model_options *o = to;
    (void)text;
    return o->lenient = 1;
}

int model_set_json(void *to, const char *text)
{
    model_options *o = to;
    (void)text;
    return o->json = 1;
}

int model_set_help(void *to, const char *text)
{
    model_options *o = to;
    (void)text;
    return o->help = 1;
}

int model_one_file(const model_options *o, int nfile)
{
    if (nfile == 1) return 1;
    fprintf(stderr,
            "rattleback %s: %s; expected one model file (MJCF or URDF); see rattleback %s --help\n",
            o->command, nfile ? "more than one file" : "no file", o->command);
    return 0;
}

/* ---- messages ----------------------------------------------------------------------------------
 */

/* Files are quoted in messages: nothing of them may reach a terminal as a control sequence. */
static void put_plain(const char *text)
{
    for (; *text; text++) putc((unsigned char)*text < 0x20 || *text == 0x7F ? '?' : *text, stderr);
}

void model_say(const rb_error *err)
{
    put_plain(err->file[0] ? err->file : "rattleback");
    if (err->line) fprintf(stderr, ":%d", err->line);
    fputs(": ", stderr);
    put_plain(err->text[0] ? err->text : rb_status_text(err->status));
    putc('\n', stderr);
}

static void put_warning(const rb_model *m, int k)
{
    put_plain(m->names + m->warning_file[k]);
    fprintf(stderr, ":%d: warning: ", m->warning_line[k]);
    put_plain(m->names + m->warning_element[k]);
    fputs(": ", stderr);
    put_plain(m->names + m->warning_text[k]);
    putc('\n', stderr);
}

void model_warn_physics(const rb_model *m)
{
    for (int k = 0; k < m->nwarning; k++) {
        if (m->warning_physics[k] == 1) put_warning(m, k);
    }
}

void model_warn_shapes(const rb_model *m)
{
    enum { FEW = 4 };
    int count = 0;
    for (int k = 0; k < m->nwarning; k++) {
        if (m->warning_physics[k] != 2) continue;
        if (count++ < FEW) put_warning(m, k);
    }
    if (count > FEW)
        fprintf(stderr, "and %d more of these; rattleback info lists them\n", count - FEW);
}

/* ---- the model and its start -------------------------------------------------------------------
 */

/* <text name="rb.coordinates" data="maximal"/> */
static int asks_maximal(rb_spec *spec)
{
    for (int k = 0; k < rb_spec_count(spec, RB_KIND_CUSTOM); k++) {
        const rb_custom_def *custom = rb_spec_custom(spec, k);
        if (custom->name && custom->text && strcmp(custom->name, "rb.coordinates") == 0)
            return strcmp(custom->text, "maximal") == 0;
    }
    return 0;
}

/* The spec in the wanted coordinates; takes ownership of the one given. */
static rb_spec *choose_coordinates(model_options *o, rb_spec *spec, rb_error *err)
{
    if (!o->coordinates_said && strcmp(o->command, "run") == 0) o->maximal = asks_maximal(spec);
    if (!o->maximal) return spec;
    o->minimal = rb_front_compile(spec, o->keep_overlap, err);
    rb_spec *maximal = o->minimal ? rb_spec_maximal(spec, NULL, err) : NULL;
    rb_spec_free(spec);
    return maximal;
}

/* The folders of a variable like PATH, each with the ending given, after those of --package. Those
 * that do not fit are left out with a sentence. */
static void add_environment(model_options *o, const char *variable, const char *ending,
                            size_t *used)
{
    const char *text = getenv(variable);
    while (text && *text) {
        size_t length = strcspn(text, ":"), room = sizeof o->environment - *used;
        if (length > 0 &&
            (length + strlen(ending) + 1 > room || o->npackage == MODEL_MOST_PACKAGES)) {
            fprintf(stderr, "rattleback %s: %s is too long, the rest of it is not used\n",
                    o->command, variable);
            return;
        }
        if (length > 0) {
            char *folder = o->environment + *used;
            *used += (size_t)snprintf(folder, room, "%.*s%s", (int)length, text, ending) + 1;
            o->packages[o->npackage++] = folder;
        }
        text += length + (text[length] == ':');
    }
}

rb_model *model_load(model_options *o, const char *path)
{
    size_t used = 0;
    add_environment(o, "ROS_PACKAGE_PATH", "", &used);
    add_environment(o, "AMENT_PREFIX_PATH", "/share", &used);
    rb_error err = { 0 };
    rb_model *m = NULL;
    o->load.packages = o->npackage ? o->packages : NULL;
    const rb_read_opts read = { .load = o->load, .has_ground = o->has_ground, .ground = o->ground };
    rb_spec *spec = rb_front_read(path, NULL, 0, &read, &err);
    if (spec) spec = choose_coordinates(o, spec, &err);
    if (spec)
        m = o->maximal ? rb_spec_compile(spec, NULL, &err)
                       : rb_front_compile(spec, o->keep_overlap, &err);
    rb_spec_free(spec);
    if (m) return m;
    if (!err.file[0]) snprintf(err.file, sizeof err.file, "%s", path);
    model_say(&err);
    model_free(o, NULL);
    return NULL;
}

void model_free(model_options *o, rb_model *m)
{
    if (o->minimal) rb_model_free(o->minimal, NULL);
    if (m) rb_model_free(m, NULL);
    o->minimal = NULL;
}

/* The keyframe of that name, else of that number; -1: none. */
static int find_key(const rb_model *m, const char *text)
{
    int key = rb_model_find(m, RB_KIND_KEY, text);
    if (key >= 0) return key;
    char *end;
    errno = 0;
    long index = strtol(text, &end, 10);
    int whole = end != text && *end == '\0' && errno == 0;
    return whole && index >= 0 && index < m->nkey ? (int)index : -1;
}

rb_data *model_maximal(const model_options *o, rb_data *d, const rb_model *m)
{
    rb_data *max = rb_data_new(m, NULL);
    rb_kinematics(o->minimal, d);
    rb_velocity(o->minimal, d);
    if (max && rb_maximal_state(o->minimal, d, m, max) != RB_OK) {
        fprintf(stderr, "rattleback %s: the start has no maximal form\n", o->command);
        rb_data_free(max);
        return NULL;
    }
    if (!max) fprintf(stderr, "rattleback %s: out of memory for the state\n", o->command);
    return max;
}

rb_data *model_start_written(const model_options *o, const rb_model *m)
{
    const rb_model *written = o->minimal ? o->minimal : m;
    int key = o->key ? find_key(written, o->key) : -1;
    if (o->key && key < 0) {
        fprintf(stderr, "rattleback %s: --key %s: no such keyframe; the model has %d", o->command,
                o->key, written->nkey);
        char buffer[64];
        for (int k = 0; k < written->nkey; k++) {
            fputs(k ? ", " : ": ", stderr);
            put_plain(rb_model_name(written, RB_KIND_KEY, k, buffer, sizeof buffer));
        }
        putc('\n', stderr);
        return NULL;
    }
    rb_data *d = rb_data_new(written, NULL);
    if (!d)
        fprintf(stderr, "rattleback %s: out of memory for the state\n", o->command);
    else if (key >= 0)
        rb_data_reset_key(written, d, key);
    return d;
}

rb_data *model_start(const model_options *o, const rb_model *m)
{
    rb_data *d = model_start_written(o, m);
    if (!d || !o->minimal) return d;
    rb_data *max = model_maximal(o, d, m);
    rb_data_free(d);
    return max;
}
