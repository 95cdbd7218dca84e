/* The engine of the viewer: the flat calls behind a few exports that JavaScript can call. Texts go
 * in and out as pointers into memory; files are those that the page has put into memory
 * (engine.js). One error at a time is kept, as the sentence that the command would print. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flat/sim.h"
#include "rattleback/dynamics.h"
#include "rattleback/io.h"
#include "rattleback/load.h"
#include "rattleback/show.h"
#include "show/quantise.h"
#include "show/replay.h"

#define EXPORT(name) __attribute__((export_name(#name)))

/* A spring between a point of a body and a point of the world. */
typedef struct pull {
    int body; /* -1: none */
    double at[3], to[3], stiffness, damping;
} pull;

typedef struct engine {
    rb_sim *sim;
    rb_model *m, *shown; /* shown: with what is only seen, or NULL */
    pull pull;
    rb_replay *replay; /* what is recorded, or NULL */
    rb_replay *watch;  /* of events since the last call */
    double *pose;      /* (nbody x 7)  */
    double *contact;   /* (room x 14)  */
    int room, ncontact;
    double certificate[16];
    char name[256];
} engine;

enum { CONTACT = 14 };

/* Frames a second of the one that keeps marks only [1/s]. */
#define NO_FRAMES 1e-9

static char sentence[1024];

/* ---- memory, errors, text -----------------------------------------------------------------------
 */

EXPORT(rbw_alloc) void *rbw_alloc(size_t size)
{
    return malloc(size ? size : 1);
}

EXPORT(rbw_release) void rbw_release(void *block)
{
    free(block);
}

EXPORT(rbw_error) const char *rbw_error(void)
{
    return sentence;
}

EXPORT(rbw_version) const char *rbw_version(void)
{
    return rb_flat_version();
}

/* As the command prints them: FILE:LINE: TEXT. */
static void say(const rb_error *err)
{
    char line[24] = "";
    if (err->line > 0) snprintf(line, sizeof line, ":%d", err->line);
    snprintf(sentence, sizeof sentence, "%s%s%s%s", err->file, line, err->file[0] ? ": " : "",
             err->text[0] ? err->text : rb_status_text(err->status));
}

/* ---- load ---------------------------------------------------------------------------------------
 */

EXPORT(rbw_free) void rbw_free(engine *e)
{
    if (!e) return;
    rb_sim_free(e->sim);
    rb_model_free(e->shown, NULL);
    rb_model_free(e->m, NULL);
    rb_replay_free(e->replay);
    rb_replay_free(e->watch);
    free(e->pose);
    free(e->contact);
    free(e);
}

/* A URDF says beside what touches what is seen; a reading that fails shows what touches. */
static rb_model *read_visuals(const char *path, const char *const *packages, int floating_base)
{
    rb_error ignored = { 0 };
    rb_load_opts o = rb_load_opts_default();
    o.packages = packages;
    o.floating_base = floating_base;
    o.visuals = 1;
    rb_spec *spec = rb_spec_read(path, &o, NULL, &ignored);
    rb_model *m = spec ? rb_spec_compile(spec, NULL, &ignored) : NULL;
    rb_spec_free(spec);
    return m;
}

static int begin(engine *e, rb_error *err)
{
    rb_replay_opts few = rb_replay_opts_default();
    few.contacts = few.most_plots = 0;
    few.fps = NO_FRAMES;
    e->sim = rb_sim_new(e->m, err);
    e->watch = rb_replay_new(e->m, &few);
    e->pose = malloc(7 * (size_t)e->m->nbody * sizeof *e->pose);
    if (!e->sim || !e->watch || !e->pose) return 0;
    rb_sim_opts(e->sim)->events = rb_replay_events(e->watch);
    return rb_replay_start(e->watch, rb_sim_data(e->sim), rb_sim_opts(e->sim)) == RB_OK;
}

/* packages: text of NAME=DIR entries, one for each line. ground: NAN: none. */
EXPORT(rbw_load)
engine *rbw_load(const char *path, char *packages, int floating_base, double friction,
                 double ground)
{
    enum { MOST = 64 };
    const char *list[MOST + 1] = { NULL };
    rb_error err = { 0 };
    int n = 0;
    for (char *at = strtok(packages, "\n"); at && n < MOST; at = strtok(NULL, "\n")) list[n++] = at;
    sentence[0] = '\0';
    engine *e = calloc(1, sizeof *e);
    rb_spec *spec =
        e ? rb_flat_read(path, NULL, 0, list, NULL, floating_base, friction, ground, &err) : NULL;
    if (spec) e->m = rb_flat_compile(spec, 0, &err);
    rb_spec_free(spec);
    if (!e || !e->m || !begin(e, &err)) {
        if (!err.text[0] && !err.status) err.status = RB_NOMEM;
        say(&err);
        rbw_free(e);
        return NULL;
    }
    e->pull.body = -1;
    const char *name = strrchr(path, '/');
    snprintf(e->name, sizeof e->name, "%s", name ? name + 1 : path);
    size_t length = strlen(path);
    if (length > 5 && strcmp(path + length - 5, ".urdf") == 0)
        e->shown = read_visuals(path, list, floating_base);
    return e;
}

/* ---- text that is made --------------------------------------------------------------------------
 */

/* What `write` writes as one text, to be released. */
static char *as_text(rb_status (*write)(FILE *out, void *ctx), void *ctx)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    rb_status status = out ? write(out, ctx) : RB_NOMEM;
    if (out && fclose(out) != 0) status = RB_NOMEM;
    if (status == RB_OK) return text;
    snprintf(sentence, sizeof sentence, "%s", rb_status_text(status));
    free(text);
    return NULL;
}

static rb_status write_scene(FILE *out, void *ctx)
{
    engine *e = ctx;
    return rb_scene_write(out, e->m, e->shown, e->name, NULL);
}

EXPORT(rbw_scene) char *rbw_scene(engine *e)
{
    return as_text(write_scene, e);
}

static rb_status write_state(FILE *out, void *ctx)
{
    engine *e = ctx;
    rb_state_write(out, rb_sim_model(e->sim), rb_sim_data(e->sim));
    return ferror(out) ? RB_NOMEM : RB_OK;
}

EXPORT(rbw_save) char *rbw_save(engine *e)
{
    return as_text(write_state, e);
}

EXPORT(rbw_info) char *rbw_info(engine *e)
{
    return rb_flat_json("rb_step_info", rb_sim_info(e->sim));
}

EXPORT(rbw_hash) char *rbw_hash(engine *e)
{
    char *text = malloc(24);
    if (text) snprintf(text, 24, "%016llx", (unsigned long long)rb_data_hash(rb_sim_data(e->sim)));
    return text;
}

/* ---- state --------------------------------------------------------------------------------------
 */

/* A state as `run --save` writes it, or with the keys of `run --state`, in a file of the page. */
EXPORT(rbw_restore) int rbw_restore(engine *e, const char *path)
{
    rb_error err = { 0 };
    const rb_model *m = rb_sim_model(e->sim);
    rb_state_entry *state = NULL;
    rb_state_reader *reader = rb_state_open(path, m, NULL, &err);
    rb_status status = reader ? rb_state_next(reader, &state, &err) : RB_FILE;
    if (status == RB_OK && !state) status = err.status = RB_BAD_INPUT;
    if (status == RB_OK) {
        rb_sim_reset(e->sim, -1);
        flat_sim_reserve(e->sim, state->resume ? state->resume->ntouch : 0);
        status = rb_state_apply(m, state, rb_sim_data(e->sim));
    }
    rb_state_entry_free(state);
    rb_state_close(reader);
    if (status != RB_OK) {
        if (!err.status) err.status = status;
        say(&err);
    }
    return status == RB_OK;
}

EXPORT(rbw_reset) int rbw_reset(engine *e, int key)
{
    rb_status status = rb_sim_reset(e->sim, key);
    if (status != RB_OK) say(rb_sim_error(e->sim));
    return status == RB_OK;
}

/* ---- steps --------------------------------------------------------------------------------------
 */

/* Force of the spring, as a wrench at the centre of mass of the body. */
static void apply_pull(engine *e)
{
    rb_data *d = rb_sim_data(e->sim);
    const rb_model *m = rb_sim_model(e->sim);
    const pull *p = &e->pull;
    if (p->body < 0) return;
    const double *R = d->body_R + 9 * p->body, *x = d->body_p + 3 * p->body;
    const double *c = m->body_com + 3 * p->body;
    double arm[3], at[3], force[3], v[6];
    for (int i = 0; i < 3; i++) {
        double point = R[3 * i] * p->at[0] + R[3 * i + 1] * p->at[1] + R[3 * i + 2] * p->at[2];
        double com = R[3 * i] * c[0] + R[3 * i + 1] * c[1] + R[3 * i + 2] * c[2];
        at[i] = x[i] + point;
        arm[i] = point - com;
    }
    rb_point_velocity(m, d, p->body, at, v);
    for (int i = 0; i < 3; i++)
        force[i] = p->stiffness * (p->to[i] - at[i]) - p->damping * v[3 + i];
    double *w = d->wrench + 6 * p->body;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        w[i] = force[i];
        w[3 + i] = arm[j] * force[k] - arm[k] * force[j];
    }
}

/* stiffness and damping [N/m], [N s/m]. body -1: let go. */
EXPORT(rbw_pull)
void rbw_pull(engine *e, int body, double ax, double ay, double az, double tx, double ty, double tz,
              double stiffness, double damping)
{
    rb_data *d = rb_sim_data(e->sim);
    if (e->pull.body >= 0) memset(d->wrench + 6 * e->pull.body, 0, 6 * sizeof(double));
    e->pull = (pull){ body, { ax, ay, az }, { tx, ty, tz }, stiffness, damping };
}

/* Only these tell events; a sink would keep steps at rest from being repeated for nothing. */
static void listen(engine *e)
{
    rb_step_opts *o = rb_sim_opts(e->sim);
    int tells = o->stepper == RB_STEPPER_IMPULSE || o->stepper == RB_STEPPER_HYBRID;
    o->events = tells ? rb_replay_events(e->watch) : (rb_event_sink){ 0 };
}

static rb_status step_once(engine *e)
{
    rb_sim *s = e->sim;
    listen(e);
    if (e->pull.body >= 0) {
        rb_sim_update(s);
        apply_pull(e);
    }
    rb_status status = rb_sim_step_one(s);
    rb_data *d = rb_sim_data(s);
    rb_replay_step(e->watch, d, rb_sim_opts(s), rb_sim_info(s), status, rb_sim_error(s));
    if (e->replay)
        rb_replay_step(e->replay, d, rb_sim_opts(s), rb_sim_info(s), status, rb_sim_error(s));
    return status;
}

/* n steps; how many were taken. Fewer: rbw_error says why, rbw_status which kind. */
static int last_status;

EXPORT(rbw_step) int rbw_step(engine *e, int n)
{
    int done = 0;
    rb_status status = RB_OK;
    sentence[0] = '\0';
    while (done < n && (status = step_once(e)) == RB_OK) done++;
    last_status = (int)status;
    if (status != RB_OK) {
        const rb_error *err = rb_sim_error(e->sim);
        snprintf(sentence, sizeof sentence, "%s%s%s", rb_status_text(status),
                 err->text[0] ? ": " : "", err->text);
    }
    return done;
}

EXPORT(rbw_status) int rbw_status(void)
{
    return last_status;
}

/* ---- options ------------------------------------------------------------------------------------
 */

EXPORT(rbw_option) int rbw_option(engine *e, const char *name, const char *text)
{
    rb_error err = { 0 };
    rb_status status = rb_option_set(rb_sim_opts(e->sim), name, text, &err);
    if (status != RB_OK) say(&err);
    return status == RB_OK;
}

/* A model of its own for this simulation, to be changed. */
static rb_model *own_model(rb_sim *s)
{
    if (s->own) return s->own;
    s->own = rb_model_copy(s->m, NULL);
    if (s->own) s->m = s->own;
    return s->own;
}

EXPORT(rbw_gravity) int rbw_gravity(engine *e, double x, double y, double z)
{
    rb_error err = { 0 };
    rb_model *m = own_model(e->sim);
    const double g[3] = { x, y, z };
    rb_status status = m ? rb_model_set_gravity(m, g, &err) : RB_NOMEM;
    if (!err.status) err.status = status;
    if (status != RB_OK) say(&err);
    return status == RB_OK;
}

static rb_status write_words(FILE *out, void *ctx)
{
    (void)ctx;
    fputs("{\"formulation\":[", out);
    for (const rb_formulation *const *f = rb_formulations; *f; f++)
        fprintf(out, "%s\"%s\"", f == rb_formulations ? "" : ",", rb_formulation_name(*f));
    fputs("],\"solver\":[", out);
    for (const rb_solver *const *s = rb_solvers; *s; s++)
        fprintf(out, "%s\"%s\"", s == rb_solvers ? "" : ",", (*s)->name);
    fputs("],\"stepper\":[\"fixed\",\"located\",\"impulse\",\"hybrid\"],"
          "\"accuracy\":[\"standard\",\"strict\",\"fast\"],"
          "\"scheme\":[\"node\",\"semi-implicit\",\"moreau-jean\"],"
          "\"restitution_law\":[\"newton\",\"poisson\",\"stronge\"]}",
          out);
    return RB_OK;
}

/* Words that options take. */
EXPORT(rbw_words) char *rbw_words(void)
{
    return as_text(write_words, NULL);
}

static void put_option(FILE *out, const char *name, double x)
{
    if (isnan(x))
        fprintf(out, ",\"%s\":\"\"", name);
    else
        fprintf(out, ",\"%s\":\"%.9g\"", name, x);
}

static rb_status write_options(FILE *out, void *ctx)
{
    engine *e = ctx;
    const rb_model *m = rb_sim_model(e->sim);
    const rb_step_opts *o = rb_sim_opts(e->sim);
    const double *g = m->option.gravity;
    fprintf(out, "{\"formulation\":\"%s\",\"solver\":\"%s\",\"stepper\":\"%s\",\"accuracy\":\"%s\"",
            rb_formulation_name(o->formulation), o->solver->name, rb_stepper_name(o->stepper),
            rb_accuracy_name(o->accuracy));
    put_option(out, "h", o->h > 0.0 ? o->h : m->option.timestep);
    put_option(out, "mu", o->friction);
    put_option(out, "e", o->restitution);
    fprintf(out, ",\"gravity\":\"%.9g %.9g %.9g\"}", g[0], g[1], g[2]);
    return RB_OK;
}

/* What holds now; mu and e empty: those of the materials. */
EXPORT(rbw_options) char *rbw_options(engine *e)
{
    return as_text(write_options, e);
}

/* Who wrote q or v calls this: what was remembered of the last step goes, frames are new. */
EXPORT(rbw_update) void rbw_update(engine *e)
{
    rb_data *d = rb_sim_data(e->sim);
    rb_normalize(rb_sim_model(e->sim), d->q);
    d->ntouch = 0;
    rb_sim_update(e->sim);
}

/* ---- what is seen -------------------------------------------------------------------------------
 */

EXPORT(rbw_count) int rbw_count(engine *e, const char *what)
{
    const rb_model *m = rb_sim_model(e->sim);
    const struct {
        const char *name;
        int value;
    } counts[] = { { "nbody", m->nbody },     { "nq", m->nq },
                   { "nv", m->nv },           { "nctrl", m->nctrl },
                   { "ngeom", m->ngeom },     { "nkey", m->nkey },
                   { "ntendon", m->ntendon }, { "contacts", e->ncontact } };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        if (strcmp(counts[k].name, what) == 0) return counts[k].value;
    return -1;
}

EXPORT(rbw_q) double *rbw_q(engine *e)
{
    return rb_sim_data(e->sim)->q;
}

EXPORT(rbw_v) double *rbw_v(engine *e)
{
    return rb_sim_data(e->sim)->v;
}

EXPORT(rbw_ctrl) double *rbw_ctrl(engine *e)
{
    return rb_sim_data(e->sim)->ctrl;
}

EXPORT(rbw_time) double rbw_time(engine *e)
{
    return rb_sim_data(e->sim)->time;
}

EXPORT(rbw_energy) double rbw_energy(engine *e)
{
    return rb_sim_energy(e->sim, NULL, NULL);
}

/* Position and quaternion of each body. */
EXPORT(rbw_poses) double *rbw_poses(engine *e)
{
    const rb_data *d = rb_sim_data(e->sim);
    rb_sim_update(e->sim);
    for (int b = 0; b < d->nbody; b++) {
        memcpy(e->pose + 7 * b, d->body_p + 3 * b, 3 * sizeof(double));
        rb_show_quantise_quat(d->body_R + 9 * b, e->pose + 7 * b + 3);
    }
    return e->pose;
}

static double shown_mode(int mode)
{
    if (mode == RB_MODE_STICK) return 1.0;
    return mode == RB_MODE_SLIDE || mode == RB_MODE_UPPER ? 2.0 : 0.0;
}

/* geom1, geom2, mode, gap, mu, pos, normal, force on geom 2: 14 numbers for each contact. */
EXPORT(rbw_contacts) double *rbw_contacts(engine *e)
{
    const rb_model *m = rb_sim_model(e->sim);
    const rb_data *d = rb_sim_data(e->sim);
    int n = rb_contact_forces(m, d, 0, NULL);
    rb_contact_force *all = malloc(((size_t)n + 1) * sizeof *all);
    if (n > e->room) {
        free(e->contact);
        e->room = 2 * n;
        e->contact = malloc((size_t)e->room * CONTACT * sizeof *e->contact);
    }
    e->ncontact = all && (e->contact || n == 0) ? n : 0;
    if (all) rb_contact_forces(m, d, e->ncontact, all);
    for (int i = 0; i < e->ncontact; i++) {
        const rb_contact_force *c = &all[i];
        double *to = e->contact + CONTACT * i;
        to[0] = c->geom1;
        to[1] = c->geom2;
        to[2] = shown_mode(c->mode);
        to[3] = c->gap;
        to[4] = rb_pair_friction(m, c->geom1, c->geom2, rb_sim_opts(e->sim));
        for (int k = 0; k < 3; k++) {
            to[5 + k] = c->pos[k];
            to[8 + k] = c->frame[k];
            to[11 + k] = c->frame[k] * c->force[0] + c->frame[3 + k] * c->force[1] +
                         c->frame[6 + k] * c->force[2];
        }
    }
    free(all);
    return e->contact;
}

/* Names in engine.js. */
EXPORT(rbw_certificate) double *rbw_certificate(engine *e)
{
    const rb_step_info *i = rb_sim_info(e->sim);
    const double numbers[16] = {
        i->residual,   i->velocity_residual, i->penetration, i->penetration_made,
        i->loop_error, i->energy_created,    i->contacts,    i->active,
        i->rows,       i->islands,           i->parts,       i->impacts,
        i->shifts,     i->below_accuracy,    i->fallbacks,   i->work
    };
    memcpy(e->certificate, numbers, sizeof numbers);
    return e->certificate;
}

static rb_status write_tendons(FILE *out, void *ctx)
{
    enum { MOST = 256 };
    engine *e = ctx;
    const rb_model *m = rb_sim_model(e->sim);
    const rb_data *d = rb_sim_data(e->sim);
    double point[3 * MOST];
    int branch[MOST], some = 0;
    putc('[', out);
    for (int t = 0; t < m->ntendon; t++) {
        int n = rb_tendon_path(m, d, t, MOST, point, branch);
        if (n > MOST) n = MOST;
        for (int i = 0; i < n; i++) {
            int first = i == 0 || branch[i] != branch[i - 1];
            if (first) fprintf(out, "%s{\"tendon\":%d,\"points\":[", some++ ? "]}," : "", t);
            if (!first) putc(',', out);
            fprintf(out, "[%.7g,%.7g,%.7g]", point[3 * i], point[3 * i + 1], point[3 * i + 2]);
        }
    }
    fputs(some ? "]}]" : "]", out);
    return RB_OK;
}

EXPORT(rbw_tendons) char *rbw_tendons(engine *e)
{
    rb_sim_update(e->sim);
    return as_text(write_tendons, e);
}

/* ---- what happened ------------------------------------------------------------------------------
 */

static rb_status write_marks(FILE *out, void *ctx)
{
    engine *e = ctx;
    return rb_show_replay_take_marks(out, e->watch);
}

/* Marks since the last call, as in a replay. */
EXPORT(rbw_events) char *rbw_events(engine *e)
{
    return as_text(write_marks, e);
}

/* Records from now on. */
EXPORT(rbw_record) int rbw_record(engine *e, double fps)
{
    rb_replay_opts o = rb_replay_opts_default();
    o.fps = fps;
    rb_replay_free(e->replay);
    e->replay = rb_replay_new(e->m, &o);
    if (!e->replay) return 0;
    return rb_replay_start(e->replay, rb_sim_data(e->sim), rb_sim_opts(e->sim)) == RB_OK;
}

static rb_status write_replay(FILE *out, void *ctx)
{
    engine *e = ctx;
    if (!e->replay) return RB_BAD_INPUT;
    rb_replay_end(e->replay, rb_sim_data(e->sim), rb_sim_opts(e->sim));
    return rb_replay_write(out, e->replay, e->shown, e->name, NULL);
}

EXPORT(rbw_replay) char *rbw_replay(engine *e)
{
    return as_text(write_replay, e);
}
