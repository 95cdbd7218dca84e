#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "run.h"

/* ---- values ------------------------------------------------------------------------------------
 */

static int refuse(const char *name, const char *text, const char *expected)
{
    return argument_refuse("run", name, text, expected);
}

static int number(const char *name, const char *text, double lo, double hi, const char *expected,
                  double *out)
{
    return argument_number("run", name, text, lo, hi, expected, out);
}

static int count(const char *name, const char *text, int lo, int hi, const char *expected, int *out)
{
    return argument_whole("run", name, text, lo, hi, expected, out);
}

static int set_step(run_options *o, const char *text)
{
    return number("--step", text, 1e-12, 1e6, "seconds from 1e-12 to 1e6, for example 0.001",
                  &o->step.h);
}

static int set_time(run_options *o, const char *text)
{
    return number("--time", text, 0.0, 1e12, "seconds >= 0, for example 2.5", &o->time);
}

static int set_directions(run_options *o, const char *text)
{
    const char *expected = "an even number from 4 to 1024";
    if (!count("--directions", text, 4, 1024, expected, &o->step.directions)) return 0;
    return o->step.directions % 2 == 0 ? 1 : refuse("--directions", text, expected);
}

static int set_restitution(run_options *o, const char *text)
{
    return number("--restitution", text, 0.0, 1.0, "a number from 0 to 1", &o->step.restitution);
}

static int set_friction(run_options *o, const char *text)
{
    return number("--friction", text, 0.0, 1e30, "a number from 0 to 1e30", &o->step.friction);
}

static int set_formulation(run_options *o, const char *text)
{
    o->step.formulation = rb_formulation_find(text);
    if (o->step.formulation) return 1;
    fprintf(stderr, "rattleback run: --formulation %s: expected", text);
    for (const rb_formulation *const *f = rb_formulations; *f; f++)
        fprintf(stderr, "%s %s", f == rb_formulations ? "" : ",", rb_formulation_name(*f));
    putc('\n', stderr);
    return 0;
}

static int set_solver(run_options *o, const char *text)
{
    o->step.solver = rb_solver_find(text);
    if (o->step.solver) return 1;
    fprintf(stderr, "rattleback run: --solver %s: expected", text);
    for (const rb_solver *const *s = rb_solvers; *s; s++)
        fprintf(stderr, "%s %s", s == rb_solvers ? "" : ",", (*s)->name);
    putc('\n', stderr);
    return 0;
}

static int set_stepper(run_options *o, const char *text)
{
    if (rb_stepper_find(text, &o->step.stepper)) return 1;
    return refuse("--stepper", text, "fixed, located, impulse or hybrid");
}

static int set_accuracy(run_options *o, const char *text)
{
    if (rb_accuracy_find(text, &o->step.accuracy)) return 1;
    return refuse("--accuracy", text, "standard, strict or fast");
}

static int set_law(run_options *o, const char *text)
{
    static const struct {
        const char *word;
        rb_restitution_law law;
    } laws[] = { { "newton", RB_NEWTON }, { "poisson", RB_POISSON }, { "stronge", RB_STRONGE } };
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
        if (strcmp(text, laws[k].word) != 0) continue;
        o->step.law = laws[k].law;
        return 1;
    }
    return refuse("--restitution-law", text, "newton, poisson or stronge");
}

static int set_project(run_options *o, const char *text)
{
    return number("--project", text, 0.0, 1.0, "a share from 0 to 1", &o->step.project);
}

static int set_keep_errors(run_options *o, const char *text)
{
    return count("--keep-errors", text, 0, 1, "0 or 1", &o->step.keep_errors);
}

static int set_energy_safe(run_options *o, const char *text)
{
    return count("--energy-safe", text, 0, 1, "0 or 1", &o->step.energy_safe);
}

static int set_scheme(run_options *o, const char *text)
{
    if (strcmp(text, "midpoint") == 0)
        o->step.scheme = RB_SCHEME_MIDPOINT;
    else if (strcmp(text, "semi-implicit") == 0)
        o->step.scheme = RB_SCHEME_SEMI_IMPLICIT;
    else if (strcmp(text, "moreau-jean") == 0)
        o->step.scheme = RB_SCHEME_MOREAU_JEAN;
    else if (strcmp(text, "node") == 0)
        o->step.scheme = RB_SCHEME_NODE;
    else
        return refuse("--scheme", text, "midpoint, node, semi-implicit or moreau-jean");
    return 1;
}

static int set_tol(run_options *o, const char *text)
{
    return number("--tol", text, 1e-300, 1.0, "a number > 0 and at most 1, for example 1e-9",
                  &o->step.tol);
}

/* Of formulations; --set has them, no option of their own. */
static int set_regularise(run_options *o, const char *text)
{
    return number("rb.regularise", text, 0.0, 1.0, "a number from 0 to 1", &o->step.regularise);
}

static int set_stick_speed(run_options *o, const char *text)
{
    return number("rb.stick_speed", text, 0.0, 1e6, "metres per second >= 0", &o->step.stick_speed);
}

static int set_phantom_share(run_options *o, const char *text)
{
    return number("rb.phantom_share", text, 0.0, 1e6, "a number >= 0", &o->step.phantom_share);
}

static int set_phantom_directions(run_options *o, const char *text)
{
    return count("rb.phantom_directions", text, 2, 512, "an integer from 2 to 512",
                 &o->step.phantom_directions);
}

static int set_shell(run_options *o, const char *text)
{
    return number("rb.shell", text, 0.0, 1e6, "metres >= 0; 0: a share of the size",
                  &o->step.shell);
}

static int set_lateral(run_options *o, const char *text)
{
    return count("rb.lateral", text, 0, 2, "0, 1 or 2", &o->step.lateral);
}

/* ---- choices that a model can make too --------------------------------------------------------
 */

typedef struct choice {
    const char *name; /* behind "--" and behind "rb.", with _ for - */
    int (*set)(run_options *o, const char *text);
    int in_model; /* 1: also as rb.NAME in a file. Coefficients there belong to the geoms. */
} choice;

static const choice choices[] = {
    { "step", set_step, 1 },
    { "time", set_time, 1 },
    { "directions", set_directions, 1 },
    { "formulation", set_formulation, 1 },
    { "solver", set_solver, 1 },
    { "stepper", set_stepper, 1 },
    { "accuracy", set_accuracy, 1 },
    { "restitution_law", set_law, 1 },
    { "energy_safe", set_energy_safe, 1 },
    { "regularise", set_regularise, 1 },
    { "stick_speed", set_stick_speed, 1 },
    { "phantom_share", set_phantom_share, 1 },
    { "phantom_directions", set_phantom_directions, 1 },
    { "lateral", set_lateral, 1 },
    { "project", set_project, 1 },
    { "keep_errors", set_keep_errors, 1 },
    { "shell", set_shell, 1 },
    { "friction", set_friction, 0 },
    { "restitution", set_restitution, 0 },
};
enum { NCHOICE = sizeof choices / sizeof *choices };

static int choose(void *to, const char *name, const char *text)
{
    run_options *o = to;
    for (int k = 0; k < NCHOICE; k++) {
        if (strcmp(choices[k].name, name) != 0) continue;
        o->given |= 1u << k;
        return choices[k].set(o, text);
    }
    return 0;
}

#define CHOICE(word)                                                                               \
    static int choose_##word(void *to, const char *text)                                           \
    {                                                                                              \
        return choose(to, #word, text);                                                            \
    }

CHOICE(step)
CHOICE(time)
CHOICE(directions)
CHOICE(formulation)
CHOICE(solver)
CHOICE(stepper)
CHOICE(accuracy)
CHOICE(restitution)
CHOICE(restitution_law)
CHOICE(project)

static int choose_energy_safe(void *to, const char *text)
{
    (void)text;
    return choose(to, "energy_safe", "1");
}

static int choose_keep_errors(void *to, const char *text)
{
    (void)text;
    ((run_options *)to)->model.keep_overlap = 1;
    return choose(to, "keep_errors", "1");
}

/* URDF geoms have no coefficient of their own: there the reader takes it as well. */
static int choose_friction(void *to, const char *text)
{
    return choose(to, "friction", text) && model_set_friction(to, text);
}

static int choose_scheme(void *to, const char *text)
{
    return set_scheme(to, text);
}

static int choose_tol(void *to, const char *text)
{
    return set_tol(to, text);
}

static int choose_loose(void *to, const char *text)
{
    run_options *o = to;
    o->loose = 1;
    return number("--loose", text, 0.0, 1.0, "a number from 0 (never) to 1, for example 0.03",
                  &o->step.loose);
}

static int set_budget(void *to, const char *text)
{
    run_options *o = to;
    if (strcmp(text, "none") == 0) {
        o->step.budget = INFINITY;
        return 1;
    }
    return number("--budget", text, 1e-3, 1e30, "a number > 0, or none", &o->step.budget);
}

static int set_time_limit(void *to, const char *text)
{
    run_options *o = to;
    return number("--time-limit", text, 0.0, 1e12, "seconds >= 0, for example 60", &o->time_limit);
}

/* --set rb.NAME=VALUE */
static int set_entry(void *to, const char *text)
{
    const char *equals = strchr(text, '=');
    if (strncmp(text, "rb.", 3) == 0 && equals) {
        size_t length = (size_t)(equals - text) - 3;
        for (int k = 0; k < NCHOICE; k++) {
            if (strlen(choices[k].name) != length) continue;
            if (strncmp(choices[k].name, text + 3, length) == 0)
                return choose(to, choices[k].name, equals + 1);
        }
    }
    fprintf(stderr, "rattleback run: --set %s: expected rb.NAME=VALUE, NAME one of", text);
    for (int k = 0; k < NCHOICE; k++) fprintf(stderr, "%s %s", k ? "," : "", choices[k].name);
    putc('\n', stderr);
    return 0;
}

/* ---- the rest ----------------------------------------------------------------------------------
 */

static int set_threads(void *options, const char *text)
{
    run_options *o = options;
    return count("--threads", text, 1, 64, "a whole number from 1 to 64", &o->threads);
}

static int set_every(void *to, const char *text)
{
    run_options *o = to;
    return count("--every", text, 1, 1000000000, "an integer >= 1", &o->every);
}

static int set_record(void *to, const char *text)
{
    ((run_options *)to)->record = text;
    return record_check(text, NULL);
}

static int set_events(void *to, const char *text)
{
    ((run_options *)to)->events = text;
    return 1;
}

static int set_state(void *to, const char *text)
{
    ((run_options *)to)->state = text;
    return 1;
}

static int set_ctrl_random(void *to, const char *text)
{
    return control_set_random(&((run_options *)to)->control, text);
}

static int set_ctrl(void *to, const char *text)
{
    ((run_options *)to)->control.file = text;
    return 1;
}

static int set_pd(void *to, const char *text)
{
    ((run_options *)to)->control.pd = text;
    return 1;
}

static int set_interpolate(void *to, const char *text)
{
    return control_set_interpolate(&((run_options *)to)->control, text);
}

static int set_ctrl_every(void *to, const char *text)
{
    return control_set_every(&((run_options *)to)->control, text);
}

static int set_columns(void *to, const char *text)
{
    const record_group *group[RECORD_MOST_GROUPS];
    ((run_options *)to)->columns = text;
    return record_groups_find(text, group) >= 0;
}

static int set_save(void *to, const char *text)
{
    ((run_options *)to)->save = text;
    return 1;
}

static int set_noise(void *to, const char *text)
{
    run_options *o = to;
    o->has_noise = 1;
    return number("--sensor-noise", text, 0.0, 9007199254740992.0, "a seed", &o->noise_seed);
}

static int set_height(void *to, const char *text)
{
    run_options *o = to;
    o->has_height = 1;
    return number("--start-height", text, -1e6, 1e6, "metres", &o->height);
}

static int set_dump(void *to, const char *text)
{
    ((run_options *)to)->dump = text;
    return 1;
}

static int set_watch(void *to, const char *text)
{
    (void)text;
    return ((run_options *)to)->watch = 1;
}

static int set_check_step(void *to, const char *text)
{
    (void)text;
    return ((run_options *)to)->check_step = 1;
}

static int set_cold(void *to, const char *text)
{
    (void)text;
    return ((run_options *)to)->step.cold = 1;
}

/* the first entry of a name counts: --friction here is more than that of the reader */
static const argument table[] = {
    { "--time", 1, choose_time },
    { "--step", 1, choose_step },
    { "--formulation", 1, choose_formulation },
    { "--solver", 1, choose_solver },
    { "--stepper", 1, choose_stepper },
    { "--scheme", 1, choose_scheme },
    { "--directions", 1, choose_directions },
    { "--friction", 1, choose_friction },
    { "--restitution", 1, choose_restitution },
    { "--project", 1, choose_project },
    { "--keep-errors", 0, choose_keep_errors },
    { "--restitution-law", 1, choose_restitution_law },
    { "--energy-safe", 0, choose_energy_safe },
    { "--accuracy", 1, choose_accuracy },
    { "--tol", 1, choose_tol },
    { "--loose", 1, choose_loose },
    { "--budget", 1, set_budget },
    { "--time-limit", 1, set_time_limit },
    { "--set", 1, set_entry },
    { "--threads", 1, set_threads },
    { "--every", 1, set_every },
    { "--record", 1, set_record },
    { "--events", 1, set_events },
    { "--columns", 1, set_columns },
    { "--state", 1, set_state },
    { "--save", 1, set_save },
    { "--start-height", 1, set_height },
    { "--sensor-noise", 1, set_noise },
    { "--ctrl", 1, set_ctrl },
    { "--pd", 1, set_pd },
    { "--interpolate", 1, set_interpolate },
    { "--ctrl-every", 1, set_ctrl_every },
    { "--ctrl-random", 1, set_ctrl_random },
    { "--dump-problems", 1, set_dump },
    { "--watch", 0, set_watch },
    { "--cold", 0, set_cold },
    { "--check-step", 0, set_check_step },
    MODEL_ARGUMENTS,
    { NULL, 0, NULL },
};

run_options run_options_default(void)
{
    return (run_options){ .model = model_options_default("run"),
                          .step = rb_step_opts_default(),
                          .control = control_options_default(),
                          .time = 1.0,
                          .threads = 1,
                          .every = 1,
                          .time_limit = INFINITY };
}

int run_options_parse(run_options *o, int argc, char **argv, int *nfile)
{
    arguments a = { .command = "run", .table = table, .options = o };
    if (!arguments_parse(&a, argc, argv)) return 0;
    *nfile = a.nfile;
    return 1;
}

/* Impacts of `impulse` and `hybrid` end as Poisson says, unless somebody asks for another law. */
static void choose_law(run_options *o)
{
    for (int k = 0; k < NCHOICE; k++)
        if (strcmp(choices[k].name, "restitution_law") == 0 && o->given & (1u << k)) return;
    int events = o->step.stepper == RB_STEPPER_IMPULSE || o->step.stepper == RB_STEPPER_HYBRID;
    if (events) o->step.law = RB_POISSON;
}

int run_options_from_model(run_options *o, const rb_model *m)
{
    char buffer[64];
    for (int k = 0; k < NCHOICE; k++) {
        if (!choices[k].in_model || o->given & (1u << k)) continue;
        snprintf(buffer, sizeof buffer, "rb.%s", choices[k].name);
        int at = rb_model_find(m, RB_KIND_CUSTOM, buffer);
        if (at < 0) continue;
        const char *text = buffer;
        if (m->custom_text[at] >= 0)
            text = m->names + m->custom_text[at];
        else if (m->custom_num[at] < 1)
            continue;
        else
            snprintf(buffer, sizeof buffer, "%.17g", m->custom_data[m->custom_adr[at]]);
        if (!choices[k].set(o, text)) return 0;
        o->given |= 1u << k;
    }
    choose_law(o);
    return 1;
}

void run_help(void)
{
    printf("usage: rattleback run [options] MODEL\n\n"
           "Simulates a model (MJCF or URDF) with hard contact; every step is certified.\n\n"
           "  --time T               seconds to simulate (1)\n"
           "  --step H               step in seconds (the timestep of the model)\n"
           "  --formulation WORD     how contact becomes a complementarity problem (cone)\n");
    for (const rb_formulation *const *f = rb_formulations; *f; f++)
        printf("      %-26s %s\n", rb_formulation_name(*f), rb_formulation_summary(*f));
    printf(
        "  --solver WORD          see rattleback lcp --help, rattleback friction --help (auto)\n"
        "  --stepper WORD         fixed; located: steps are divided at impacts; impulse: bodies\n"
        "                         fly from event to event; hybrid (fixed)\n"
        "  --scheme WORD          midpoint, node, semi-implicit or moreau-jean: how positions\n"
        "                         follow velocities (midpoint)\n"
        "  --directions N         of polyhedral friction cones, even (8)\n"
        "  --friction MU          replaces every sliding coefficient; URDF without it: 0.5\n"
        "  --restitution E        replaces every coefficient of restitution\n"
        "  --restitution-law WORD newton, poisson or stronge (stronge; impulse, hybrid: poisson)\n"
        "  --energy-safe          limit Newton's law where it would create energy\n"
        "  --keep-errors          leave the start as it is: joints beyond their limits, overlap\n"
        "                         and open loops; without it they are taken off positions\n"
        "                         within 0.2 s, and loops are closed before the first step\n"
        "  --project S            share of overlap that each step takes off instead (0)\n"
        "  --accuracy WORD        standard: residual and overlap 1e-6; strict: 1e-9; fast: 1e-3\n"
        "                         and 1e-4 (standard)\n"
        "  --tol R                relative residual to certify (that of the accuracy)\n"
        "  --loose R              residual at which steps may miss it with exit status 0; 0: such\n"
        "                         steps are refused (1e-3, with exit status 1)\n"
        "  --budget N             work that a step may take, in thousands of operations, or none\n"
        "                         (4e6, a second or some)\n"
        "  --time-limit S         end the run after S seconds of the clock, with exit status 1\n"
        "  --set rb.NAME=VALUE    as if the file said so: step, time, directions, ...\n"
        "  --threads K            over which islands are shared out; the answer is the same (1)\n"
        "  --record FILE          trajectory: CSV (.csv) or JSON lines (.jsonl); - for CSV on\n"
        "                         standard output\n"
        "  --columns WORD,..      of it, behind time: q, v, ctrl, contact, sensor, body, energy\n"
        "                         (q, v, contacts, residual, penetration, energy)\n"
        "  --every N              a row of it each N steps (1)\n"
        "  --events FILE          impacts and groups of impulse and hybrid as CSV, or JSON lines\n"
        "                         (.jsonl)\n"
        "  --save FILE            the state at the end, from which --state goes on bit for bit\n"
        "  --sensor-noise SEED    add the noise that sensors have to their recorded values\n"
        "  --start-height Z       z of the floating base at the start [m]\n"
        "  --state FILE           start from a state, as rattleback compute takes it\n"
        "  --ctrl FILE            inputs over time: CSV with a header time,NAME,.. or JSON lines;\n"
        "                         names of actuators, of joints (torques), of mocap bodies with\n"
        "                         :x :y :z :qw :qx :qy :qz\n"
        "  --pd FILE              targets of joints over time: time,JOINT,..,kp,kd; torques\n"
        "                         kp (target - q) - kd v\n"
        "  --interpolate WORD     between the rows of these files: hold, or linear (hold)\n"
        "  --ctrl-every H         seconds between control instants (every step)\n"
        "  --ctrl-random SEED[,HOLD]  random controls in their ranges (+-1 where they have none),\n"
        "                         new ones every HOLD seconds (0.1); the same for the same seed\n"
        "  --dump-problems DIR    every complementarity problem as a file for rattleback\n"
        "                         lcp or friction\n"
        "  --watch                contact modes as they change\n"
        "  --cold                 no warm start\n"
        "  --check-step           run once more with half the step and say how far the end moves\n"
        "%s"
        "  --lenient              run also where the file asks for physics that is not there\n"
        "  --json                 the summary as one JSON object\n"
        "\nexit status: 0 done, 1 a step could not be certified, 2 bad usage or input\n"
        "\nexample: rattleback run scenes/contact/rod.xml --key start --time 0.7\n",
        model_options_help);
}
