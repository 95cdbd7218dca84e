/* Options of steps by name and text, and those of the rb.* entries of a model. */
#include "rattleback/front.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/xml.h"

static rb_status refuse(rb_error *err, const char *format, ...)
{
    if (!err) return RB_BAD_INPUT;
    va_list list;
    va_start(list, format);
    *err = (rb_error){ .status = RB_BAD_INPUT };
    vsnprintf(err->text, sizeof err->text, format, list);
    va_end(list);
    return RB_BAD_INPUT;
}

/* Independent of the locale; "none" and "inf" are no bound. */
static int number(const char *text, double *x)
{
    const char *end = text + strlen(text);
    *x = INFINITY;
    if (strcmp(text, "none") == 0 || strcmp(text, "inf") == 0) return 1;
    return rb_xml_scan_number(&text, end, x) && text == end;
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

typedef struct entry {
    const char *name;
    size_t at;
    int whole;    /* 1: an int */
    int in_model; /* 1: also as rb.NAME in a file */
    double lo, hi;
    const char *expected;
} entry;

#define AT(field) offsetof(rb_step_opts, field)

static const entry entries[] = {
    { "h", AT(h), 0, 0, 0.0, 1e6, "seconds from 1e-12 to 1e6, for example 0.001" },
    { "step", AT(h), 0, 1, 1e-12, 1e6, "seconds from 1e-12 to 1e6, for example 0.001" },
    { "directions", AT(directions), 1, 1, 4, 1024, "an even number from 4 to 1024" },
    { "restitution", AT(restitution), 0, 0, 0.0, 1.0, "a number from 0 to 1" },
    { "friction", AT(friction), 0, 0, 0.0, 1e30, "a number from 0 to 1e30" },
    { "project", AT(project), 0, 1, 0.0, 1.0, "a share from 0 to 1" },
    { "keep_errors", AT(keep_errors), 1, 1, 0, 1, "0 or 1" },
    { "energy_safe", AT(energy_safe), 1, 1, 0, 1, "0 or 1" },
    { "tol", AT(tol), 0, 0, 1e-300, 1.0, "a number > 0 and at most 1, for example 1e-9" },
    { "loose", AT(loose), 0, 0, 0.0, 1.0, "a number from 0 (never) to 1, for example 0.03" },
    { "regularise", AT(regularise), 0, 1, 0.0, 1.0, "a number from 0 to 1" },
    { "stick_speed", AT(stick_speed), 0, 1, 0.0, 1e6, "metres per second >= 0" },
    { "phantom_share", AT(phantom_share), 0, 1, 0.0, 1e6, "a number >= 0" },
    { "phantom_directions", AT(phantom_directions), 1, 1, 2, 512, "an integer from 2 to 512" },
    { "shell", AT(shell), 0, 1, 0.0, 1e6, "metres >= 0; 0: a share of the size" },
    { "lateral", AT(lateral), 1, 1, 0, 2, "0, 1 or 2" },
    { "cold", AT(cold), 1, 0, 0, 1, "0 or 1" },
    { "max_repair", AT(max_repair), 1, 0, 0, 1000, "an integer from 0 to 1000" },
    { "max_split", AT(max_split), 1, 0, 0, 60, "an integer from 0 to 60" },
    { "budget", AT(budget), 0, 0, 1e-3, INFINITY, "a number > 0, or none" },
};

static rb_status set_number(rb_step_opts *o, const entry *e, const char *text, rb_error *err)
{
    double x;
    int good = number(text, &x) && x >= e->lo && x <= e->hi && (!e->whole || x == floor(x));
    if (strcmp(e->name, "directions") == 0) good = good && fmod(x, 2.0) == 0.0;
    if (!good) return refuse(err, "%s %s: expected %s", e->name, text, e->expected);
    int count = (int)(e->whole ? x : 0.0);
    if (e->whole)
        memcpy((char *)o + e->at, &count, sizeof count);
    else
        memcpy((char *)o + e->at, &x, sizeof x);
    return RB_OK;
}

/* ---- words -------------------------------------------------------------------------------------
 */

static rb_status set_formulation(rb_step_opts *o, const char *text, rb_error *err)
{
    char all[256] = "";
    const rb_formulation *found = rb_formulation_find(text);
    if (found) o->formulation = found;
    if (found) return RB_OK;
    for (const rb_formulation *const *f = rb_formulations; *f; f++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s %s", used ? "," : "", rb_formulation_name(*f));
    }
    return refuse(err, "formulation %s: expected%s", text, all);
}

static rb_status set_solver(rb_step_opts *o, const char *text, rb_error *err)
{
    char all[256] = "";
    const rb_solver *found = rb_solver_find(text);
    if (found) o->solver = found;
    if (found) return RB_OK;
    for (const rb_solver *const *s = rb_solvers; *s; s++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s %s", used ? "," : "", (*s)->name);
    }
    return refuse(err, "solver %s: expected%s", text, all);
}

static rb_status set_stepper(rb_step_opts *o, const char *text, rb_error *err)
{
    if (rb_stepper_find(text, &o->stepper)) return RB_OK;
    return refuse(err, "stepper %s: expected fixed, located, impulse or hybrid", text);
}

static rb_status set_accuracy(rb_step_opts *o, const char *text, rb_error *err)
{
    if (rb_accuracy_find(text, &o->accuracy)) return RB_OK;
    return refuse(err, "accuracy %s: expected standard, strict or fast", text);
}

/* Words for 0, 1, 2, .. of an enum; NULL ends them. */
static int find_word(const char *const *list, const char *text)
{
    for (int k = 0; list[k]; k++)
        if (strcmp(list[k], text) == 0) return k;
    return -1;
}

static rb_status set_law(rb_step_opts *o, const char *text, rb_error *err)
{
    static const char *const laws[] = { "poisson", "newton", "stronge", NULL };
    int k = find_word(laws, text);
    if (k < 0) return refuse(err, "restitution_law %s: expected newton, poisson or stronge", text);
    o->law = (rb_restitution_law)k;
    return RB_OK;
}

static rb_status set_scheme(rb_step_opts *o, const char *text, rb_error *err)
{
    static const char *const schemes[] = { "node", "semi-implicit", "moreau-jean", NULL };
    int k = find_word(schemes, text), old = strcmp(text, "midpoint") == 0;
    if (k < 0)
        return refuse(err, "scheme %s: expected node, semi-implicit or moreau-jean%s", text,
                      old ? "; node, the default, has taken its place" : "");
    o->scheme = (rb_scheme)k;
    return RB_OK;
}

static const struct {
    const char *name;
    int in_model;
    rb_status (*set)(rb_step_opts *o, const char *text, rb_error *err);
} words[] = { { "formulation", 1, set_formulation }, { "solver", 1, set_solver },
              { "stepper", 1, set_stepper },         { "accuracy", 1, set_accuracy },
              { "restitution_law", 1, set_law },     { "scheme", 1, set_scheme } };

enum { NENTRY = sizeof entries / sizeof *entries, NWORD = sizeof words / sizeof *words };

int rb_option_count(void)
{
    return NWORD + NENTRY;
}

const char *rb_option_name(int k)
{
    return k < NWORD ? words[k].name : entries[k - NWORD].name;
}

int rb_option_is_of_models(int k)
{
    return k < NWORD ? words[k].in_model : entries[k - NWORD].in_model;
}

rb_status rb_option_set(rb_step_opts *opts, const char *name, const char *text, rb_error *err)
{
    char all[400] = "";
    for (int k = 0; k < NWORD; k++)
        if (strcmp(words[k].name, name) == 0) return words[k].set(opts, text, err);
    for (int k = 0; k < NENTRY; k++)
        if (strcmp(entries[k].name, name) == 0) return set_number(opts, &entries[k], text, err);
    for (int k = 0; k < rb_option_count(); k++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s %s", used ? "," : "", rb_option_name(k));
    }
    return refuse(err, "%s: no such option of a step; expected%s", name, all);
}

/* ---- options of a model ------------------------------------------------------------------------
 */

const char *rb_model_entry(const rb_model *m, const char *name, char *buffer, size_t size)
{
    snprintf(buffer, size, "rb.%s", name);
    int at = rb_model_find(m, RB_KIND_CUSTOM, buffer);
    if (at < 0) return NULL;
    if (m->custom_text[at] >= 0) return m->names + m->custom_text[at];
    if (m->custom_num[at] < 1) return NULL;
    snprintf(buffer, size, "%.17g", m->custom_data[m->custom_adr[at]]);
    char *comma = strchr(buffer, ','); /* a locale may have set the decimal point */
    if (comma) *comma = '.';
    return buffer;
}

static int is_among(const char *const *list, const char *name)
{
    while (list && *list)
        if (strcmp(*list++, name) == 0) return 1;
    return 0;
}

rb_status rb_options_from_model(const rb_model *m, const char *const *given, rb_step_opts *opts,
                                rb_error *err)
{
    char buffer[64];
    int law = is_among(given, "restitution_law");
    for (int k = 0; k < rb_option_count(); k++) {
        const char *name = rb_option_name(k);
        if (!rb_option_is_of_models(k) || is_among(given, name)) continue;
        const char *text = rb_model_entry(m, name, buffer, sizeof buffer);
        rb_status status = text ? rb_option_set(opts, name, text, err) : RB_OK;
        if (status != RB_OK) return status;
        law |= text && strcmp(name, "restitution_law") == 0;
    }
    int events = opts->stepper == RB_STEPPER_IMPULSE || opts->stepper == RB_STEPPER_HYBRID;
    if (!law && events) opts->law = RB_POISSON;
    return RB_OK;
}
