/* `rattleback compute`: dynamics of a model at given states. */
#include "compute.h"

#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "model.h"

enum { MOST_WORDS = 32, MOST_MESSAGES = 20 };

#define MOST_HORIZON 1e6 /* [s] */

typedef struct options {
    model_options model; /* first: the setters of model.h write to it */
    const char *state;   /* file, "-", or NULL: the start              */
    const quantity *what[MOST_WORDS];
    int nwhat;
    int table;
    double horizon; /* of --what toi [s]                           */
    queries asked;
} options;

typedef struct run {
    const options *o;
    const rb_model *m;
    rb_data *start, *d;
    int exit_status, bad, states;
} run;

/* ---- options -----------------------------------------------------------------------------------
 */

static int refuse_word(const char *word, int length)
{
    fprintf(stderr, "rattleback compute: --what %.*s: expected", length, word);
    for (const quantity *q = compute_quantities; q->name; q++)
        fprintf(stderr, "%s %s", q == compute_quantities ? "" : ",", q->name);
    fputc('\n', stderr);
    return 0;
}

static int set_what(void *to, const char *text)
{
    options *o = to;
    o->nwhat = 0;
    for (const char *word = text;; word++) { /* after each comma */
        size_t length = strcspn(word, ",");
        const quantity *found = compute_find(word, length);
        if (!found || o->nwhat == MOST_WORDS) return refuse_word(word, (int)length);
        int twice = 0;
        for (int k = 0; k < o->nwhat; k++) twice |= o->what[k] == found;
        if (!twice) o->what[o->nwhat++] = found;
        word += length;
        if (!*word) return 1;
    }
}

/* Whether an answer depends on the shapes. */
static int asks_contacts(const options *o)
{
    static const char *const words[] = { "gaps", "toi", "acceleration", "contacts" };
    int asks = 0;
    for (int k = 0; k < o->nwhat; k++) {
        for (int i = 0; i < 4; i++) asks |= strcmp(o->what[k]->name, words[i]) == 0;
    }
    return asks;
}

static int set_state(void *to, const char *text)
{
    options *o = to;
    o->state = text;
    return 1;
}

static int set_table(void *to, const char *text)
{
    options *o = to;
    (void)text;
    return o->table = 1;
}

static int set_horizon(void *to, const char *text)
{
    options *o = to;
    char *end;
    o->horizon = strtod(text, &end);
    if (end != text && *end == '\0' && o->horizon > 0.0 && o->horizon <= MOST_HORIZON) return 1;
    fprintf(stderr, "rattleback compute: --horizon %s: expected seconds, 0 < T <= %g\n", text,
            MOST_HORIZON);
    return 0;
}

static int set_ray(void *to, const char *text)
{
    return queries_ray(&((options *)to)->asked, text);
}

static int set_between(void *to, const char *text)
{
    return queries_between(&((options *)to)->asked, text);
}

static int set_exclude(void *to, const char *text)
{
    ((options *)to)->asked.exclude = text;
    return 1;
}

static int set_groups(void *to, const char *text)
{
    return queries_groups(&((options *)to)->asked, text);
}

static int set_hulls(void *to, const char *text)
{
    (void)text;
    return ((options *)to)->asked.hulls = 1;
}

static const argument table[] = {
    { "--horizon", 1, set_horizon },
    { "--what", 1, set_what },
    { "--state", 1, set_state },
    { "--table", 0, set_table },
    { "--ray", 1, set_ray },
    { "--between", 1, set_between },
    { "--exclude-body", 1, set_exclude },
    { "--groups", 1, set_groups },
    { "--hulls", 0, set_hulls },
    MODEL_ARGUMENTS,
    { NULL, 0, NULL },
};

static void help(void)
{
    printf("usage: rattleback compute [options] MODEL\n\n"
           "Dynamics of a model (MJCF or URDF) at given states, a line of JSON per state.\n\n"
           "  --what WORD,WORD..     (mass,bias,fd,energy,frames)\n");
    for (const quantity *q = compute_quantities; q->name; q++)
        printf("      %-12s %s\n", q->name, q->summary);
    printf("  --state FILE           states as JSON objects, - for standard input; keys, each\n"
           "                         optional: qpos qvel tau qacc ctrl act mocap time name,\n"
           "                         points: [{\"body\": name, \"pos\": [x, y, z]}, ..] in body "
           "frames\n"
           "  --horizon T            how far ahead toi looks [s] (1)\n"
           "  --ray 'X Y Z DX DY DZ' rays: start and direction, world axes; may be repeated\n"
           "  --exclude-body NAME    rays: the geoms of this body are not seen\n"
           "  --groups 0,2,..        rays: only geoms of these groups are seen\n"
           "  --hulls                rays: meshes by the hulls they collide with, not triangles\n"
           "  --between A,B          distance: two geoms or bodies by name; may be repeated\n"
           "  --table                readable matrices\n"
           "  --friction MU          URDF: sliding coefficient of all geoms (0.5)\n"
           "%s"
           "  --lenient              no warnings about what the file asks for without effect\n"
           "\nexit status: 0 done, 1 some answer does not exist, 2 bad usage or input\n"
           "\nexample: rattleback compute scenes/robots/double_pendulum.xml --what mass,fd "
           "--key raised --table\n"
           "         rattleback compute scenes/contact/sliding_cube.xml --what rays --ray '0 0 9 0 "
           "0 -1'\n",
           model_options_help);
}

/* ---- one state ---------------------------------------------------------------------------------
 */

static void worsen(run *r, int exit_status)
{
    if (exit_status > r->exit_status) r->exit_status = exit_status;
}

static const char *shown_name(const run *r)
{
    if (!r->o->state) return "the start";
    return strcmp(r->o->state, "-") == 0 ? "stdin" : r->o->state;
}

static void say(run *r, int line, const char *what, const char *sentence)
{
    fprintf(stderr, "%s:", shown_name(r));
    if (line > 0) fprintf(stderr, "%d:", line);
    fprintf(stderr, " %s: %s\n", what, sentence);
}

/* The points of the state in world coordinates. 0: out of memory. */
static int place_points(computation *c)
{
    c->npoint = c->state ? c->state->npoint : 0;
    c->points = calloc((size_t)c->npoint + 1, sizeof *c->points);
    if (!c->points) return 0;
    for (int k = 0; k < c->npoint; k++) {
        const rb_state_point *p = &c->state->points[k];
        const double *R = c->d->body_R + 9 * p->body, *o = c->d->body_p + 3 * p->body;
        c->points[k].body = p->body;
        for (int i = 0; i < 3; i++)
            c->points[k].pos[i] =
                o[i] + R[3 * i] * p->pos[0] + R[3 * i + 1] * p->pos[1] + R[3 * i + 2] * p->pos[2];
    }
    return 1;
}

static void put_quantities(run *r, computation *c)
{
    int line = c->state ? c->state->line : 0;
    for (int k = 0; k < r->o->nwhat; k++) {
        const quantity *q = r->o->what[k];
        c->err = (rb_error){ 0 };
        rb_status status = q->put(c, q->name);
        if (status == RB_OK) continue;
        json_null(&c->out, q->name);
        worsen(r, status == RB_SINGULAR ? EXIT_UNCERTIFIED : EXIT_BAD_INPUT);
        say(r, line, q->name, c->err.text[0] ? c->err.text : rb_status_text(status));
    }
}

static void compute_state(run *r, const rb_state_entry *state)
{
    computation c = { .m = r->m,
                      .d = r->d,
                      .state = state,
                      .bad_dof = -1,
                      .horizon = r->o->horizon,
                      .asked = &r->o->asked };
    c.out = (json){ .out = stdout, .table = r->o->table };
    rb_data_copy(r->m, r->d, r->start);
    if (state) rb_state_apply(r->m, state, r->d);
    if (state && state->unknown)
        say(r, state->line, state->unknown,
            "unknown key, without effect; known are qpos, qvel, tau, qacc, ctrl, act, mocap, time, "
            "name, points");
    rb_kinematics(r->m, r->d);
    rb_velocity(r->m, r->d);
    rb_frames(r->m, r->d);
    if (!place_points(&c)) {
        say(r, state ? state->line : 0, "points", "out of memory");
        worsen(r, EXIT_BAD_INPUT);
        return;
    }
    r->states++;
    json_begin(&c.out, NULL);
    if (state && *state->name) json_text(&c.out, "name", state->name);
    put_quantities(r, &c);
    json_end(&c.out);
    free(c.points);
}

/* ---- files -------------------------------------------------------------------------------------
 */

static void compute_file(run *r)
{
    rb_error err = { 0 };
    rb_state_reader *reader = rb_state_open(r->o->state, r->m, NULL, &err);
    if (!reader) {
        model_say(&err);
        worsen(r, EXIT_BAD_INPUT);
        return;
    }
    while (!ferror(stdout)) {
        rb_state_entry *state;
        rb_status status = rb_state_next(reader, &state, &err);
        if (status != RB_OK) {
            if (r->bad++ < MOST_MESSAGES) model_say(&err);
            worsen(r, EXIT_BAD_INPUT);
            continue;
        }
        if (!state) break;
        compute_state(r, state);
        rb_state_entry_free(state);
    }
    rb_state_close(reader);
    if (r->bad > MOST_MESSAGES)
        fprintf(stderr, "%s: %d more bad states\n", shown_name(r), r->bad - MOST_MESSAGES);
    if (r->bad || r->states) return;
    fprintf(stderr, "%s: no state in it; expected a JSON object, {} for the start\n",
            shown_name(r));
    worsen(r, EXIT_BAD_INPUT);
}

static int compute(const options *o, const rb_model *m)
{
    run r = { .o = o, .m = m, .start = model_start(&o->model, m) };
    if (!r.start) return EXIT_BAD_INPUT;
    r.d = rb_data_new(m, NULL);
    if (!r.d) {
        fputs("rattleback compute: out of memory for the state\n", stderr);
        worsen(&r, EXIT_BAD_INPUT);
    } else if (o->state) {
        compute_file(&r);
    } else {
        compute_state(&r, NULL);
    }
    rb_data_free(r.start);
    rb_data_free(r.d);
    return r.exit_status;
}

int cmd_compute(int argc, char **argv)
{
    options o = { .model = model_options_default("compute"), .horizon = 1.0, .asked.groups = ~0u };
    arguments a = { .command = "compute", .table = table, .options = &o };
    set_what(&o, "mass,bias,fd,energy,frames");
    if (!arguments_parse(&a, argc, argv)) return EXIT_BAD_INPUT;
    if (o.model.help) {
        help();
        return EXIT_CERTIFIED;
    }
    if (!model_one_file(&o.model, a.nfile)) return EXIT_BAD_INPUT;
    rb_model *m = model_load(&o.model, argv[0]);
    if (!m) return EXIT_BAD_INPUT;
    if (!o.model.lenient) model_warn_physics(m);
    if (!o.model.lenient && asks_contacts(&o)) model_warn_shapes(m);
    int status = queries_known(&o.asked, m) ? compute(&o, m) : EXIT_BAD_INPUT;
    model_free(&o.model, m);
    return status;
}
