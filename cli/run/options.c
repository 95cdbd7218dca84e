#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rattleback/front.h"
#include "run/record.h"
#include "run/run.h"

/* ---- values ------------------------------------------------------------------------------------
 */

static int number(const char *name, const char *text, double lo, double hi, const char *expected,
                  double *out)
{
    return argument_number("run", name, text, lo, hi, expected, out);
}

static int count(const char *name, const char *text, int lo, int hi, const char *expected, int *out)
{
    return argument_whole("run", name, text, lo, hi, expected, out);
}

static int set_time(run_options *o, const char *text)
{
    return number("--time", text, 0.0, 1e12, "seconds >= 0, for example 2.5", &o->time);
}

/* ---- choices that a model can make too --------------------------------------------------------
 */

/* Of formulations: --set has them, there is no option of their own. */
static int has_no_option(const char *name)
{
    static const char *const rare[] = { "regularise",         "stick_speed", "phantom_share",
                                        "phantom_directions", "shell",       "lateral" };
    for (size_t k = 0; k < sizeof rare / sizeof *rare; k++)
        if (strcmp(rare[k], name) == 0) return 1;
    return 0;
}

/* The message of rb_option_set begins with the name, which the command writes as it was typed. */
static int say(const char *name, const rb_error *err)
{
    size_t length = strlen(name);
    int rare = has_no_option(name);
    fprintf(stderr, "rattleback run: %s", rare ? "rb." : "--");
    for (const char *c = name; *c; c++) putc(*c == '_' && !rare ? '-' : *c, stderr);
    fprintf(stderr, "%s\n", strncmp(err->text, name, length) == 0 ? err->text + length : err->text);
    return 0;
}

static int set_option(run_options *o, const char *name, const char *text)
{
    rb_error err = { 0 };
    return rb_option_set(&o->step, name, text, &err) == RB_OK ? 1 : say(name, &err);
}

/* Notes that the command line sets an option, which then overrides the model. */
static void note(run_options *o, const char *name)
{
    int k = 0;
    while (o->given[k] && strcmp(o->given[k], name) != 0) k++;
    if (k < RUN_MOST_CHOICES) o->given[k] = name;
}

static int choose(void *to, const char *name, const char *text)
{
    run_options *o = to;
    note(o, name);
    return strcmp(name, "time") == 0 ? set_time(o, text) : set_option(o, name, text);
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
CHOICE(scheme)
CHOICE(tol)
CHOICE(budget)

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

static int choose_loose(void *to, const char *text)
{
    ((run_options *)to)->loose = 1;
    return choose(to, "loose", text);
}

static int set_time_limit(void *to, const char *text)
{
    run_options *o = to;
    return number("--time-limit", text, 0.0, 1e12, "seconds >= 0, for example 60", &o->time_limit);
}

/* Choice k of --set, NULL after the last: options of models, and coefficients. */
static const char *entry_name(int k)
{
    for (int i = 0; i < rb_option_count(); i++) {
        const char *name = rb_option_name(i);
        int coefficient = strcmp(name, "friction") == 0 || strcmp(name, "restitution") == 0;
        if (!rb_option_is_of_models(i) && !coefficient) continue;
        if (k-- == 0) return name;
    }
    return k == 0 ? "time" : NULL;
}

/* --set rb.NAME=VALUE */
static int set_entry(void *to, const char *text)
{
    const char *equals = strchr(text, '='), *name;
    if (strncmp(text, "rb.", 3) == 0 && equals) {
        size_t length = (size_t)(equals - text) - 3;
        for (int k = 0; (name = entry_name(k)); k++) {
            if (strlen(name) == length && strncmp(name, text + 3, length) == 0)
                return choose(to, name, equals + 1);
        }
    }
    fprintf(stderr, "rattleback run: --set %s: expected rb.NAME=VALUE, NAME one of", text);
    for (int k = 0; (name = entry_name(k)); k++) fprintf(stderr, "%s %s", k ? "," : "", name);
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

static int set_html(void *to, const char *text)
{
    ((run_options *)to)->show.html = text;
    return 1;
}

static int set_gltf(void *to, const char *text)
{
    ((run_options *)to)->show.gltf = text;
    return 1;
}

static int set_svg(void *to, const char *text)
{
    ((run_options *)to)->show.svg = text;
    return 1;
}

static int set_fps(void *to, const char *text)
{
    return number("--fps", text, 0.0, 1e6, "frames for a second, or 0 for every step",
                  &((run_options *)to)->show.fps);
}

static int set_snapshots(void *to, const char *text)
{
    return count("--snapshots", text, 1, 100, "an integer from 1 to 100",
                 &((run_options *)to)->show.snapshots);
}

static int set_camera(void *to, const char *text)
{
    return show_camera("run", text, ((run_options *)to)->show.camera);
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
    { "--budget", 1, choose_budget },
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
    { "--html", 1, set_html },
    { "--gltf", 1, set_gltf },
    { "--svg", 1, set_svg },
    { "--fps", 1, set_fps },
    { "--snapshots", 1, set_snapshots },
    { "--camera", 1, set_camera },
    MODEL_ARGUMENTS,
    { NULL, 0, NULL },
};

run_options run_options_default(void)
{
    return (run_options){ .model = model_options_default("run"),
                          .step = rb_step_opts_default(),
                          .control = control_options_default(),
                          .show = show_options_default(),
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
    if (!o->columns || o->record) return 1;
    fputs("rattleback run: --columns: there is no --record that has columns\n", stderr);
    return 0;
}

int run_options_from_model(run_options *o, const rb_model *m)
{
    char buffer[64];
    rb_error err = { 0 };
    if (rb_options_from_model(m, o->given, &o->step, &err) != RB_OK) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(err.text, " "), err.text);
        return say(name, &err);
    }
    for (int k = 0; o->given[k]; k++)
        if (strcmp(o->given[k], "time") == 0) return 1;
    const char *text = rb_model_entry(m, "time", buffer, sizeof buffer);
    return text ? set_time(o, text) : 1;
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
        "  --stepper WORD         fixed; located: steps end at impacts; impulse: event driven;\n"
        "                         hybrid: impulse and constraints (fixed)\n"
        "  --scheme WORD          node, or as printed in the papers semi-implicit, moreau-jean:\n"
        "                         how positions follow velocities (node)\n"
        "  --directions N         directions of polyhedral friction cones; even (8)\n"
        "  --friction MU          replaces every sliding coefficient; URDF without it: 0.5\n"
        "  --restitution E        replaces every coefficient of restitution\n"
        "  --restitution-law WORD newton, poisson or stronge (stronge; impulse, hybrid: poisson)\n"
        "  --energy-safe          limit Newton's law where it would create energy\n"
        "  --keep-errors          keep joints beyond their limits, overlap and open loops of the\n"
        "                         start; without it loops are closed before the first step\n"
        "                         and the rest is corrected within 0.2 s\n"
        "  --project S            share of overlap that each step corrects instead (0)\n"
        "  --accuracy WORD        standard: residual and overlap 1e-6; strict: 1e-9; fast: 1e-3\n"
        "                         and 1e-4 (standard)\n"
        "  --tol R                relative residual every step must reach (by --accuracy)\n"
        "  --loose R              accept steps up to this residual, exit status 0; 0: refuse them\n"
        "                         (without it: up to 1e-3, exit status 1)\n"
        "  --budget N             limit of work per step, in thousands of operations, or none\n"
        "                         (4e6, one to four seconds; more beyond 100 dofs)\n"
        "  --time-limit S         end the run after S seconds of wall clock, exit status 1\n"
        "  --set rb.NAME=VALUE    set an option that a model file may set: step, time, ...\n"
        "  --threads K            threads that share the islands; the result is the same (1)\n"
        "  --record FILE          trajectory: CSV (.csv) or JSON lines (.jsonl); - for CSV on\n"
        "                         standard output\n"
        "  --columns WORD,..      columns after time: q, v, ctrl, contact, sensor, body, energy\n"
        "                         (q, v, contacts, residual, penetration, energy)\n"
        "  --every N              record every N-th step (1)\n"
        "  --events FILE          events of the steppers impulse and hybrid, CSV or JSON lines\n"
        "                         (.jsonl)\n"
        "  --html FILE            a page that replays the run in a browser (.html)\n"
        "  --gltf FILE            the run as an animation, binary glTF (.glb)\n"
        "  --svg FILE             snapshots side by side (.svg)\n"
        "  --fps N                frames per second of --html, --gltf; 0: each step (60)\n"
        "  --snapshots N          number of snapshots of --svg (6)\n"
        "  --camera AZ,EL         view of --svg: azimuth and elevation in degrees\n"
        "  --save FILE            write the end state; --state continues from it bit for bit\n"
        "  --sensor-noise SEED    add the noise of the sensors to their recorded values\n"
        "  --start-height Z       z of the floating base at the start [m]\n"
        "  --state FILE           start from a state (see rattleback compute --help)\n"
        "  --ctrl FILE            inputs over time: CSV with a header time,NAME,.. or JSON lines;\n"
        "                         names of actuators, of joints (torques), of mocap bodies with\n"
        "                         :x :y :z :qw :qx :qy :qz\n"
        "  --pd FILE              targets of joints over time: time,JOINT,..,kp,kd; torques\n"
        "                         kp (target - q) - kd v\n"
        "  --interpolate WORD     between the rows of --ctrl and --pd: hold or linear (hold)\n"
        "  --ctrl-every H         seconds between control instants (every step)\n"
        "  --ctrl-random SEED[,HOLD]  random controls in their ranges (+-1 where they have none),\n"
        "                         new ones every HOLD seconds (0.1); the same for the same seed\n"
        "  --dump-problems DIR    every complementarity problem as a file for rattleback\n"
        "                         lcp or friction\n"
        "  --watch                print contact modes as they change\n"
        "  --cold                 no warm start\n"
        "  --check-step           run again with half the step, report how the end differs\n"
        "%s"
        "  --lenient              run also where the file asks for unsupported physics\n"
        "  --json                 the summary as one JSON object\n"
        "\nexit status: 0 done, 1 a step not certified or a limit reached, 2 bad usage or input\n"
        "\nexample: rattleback run scenes/contact/rod.xml --key start --time 0.7\n"
        "         rattleback run scenes/robots/quadruped.xml --html run.html\n",
        model_options_help);
}
