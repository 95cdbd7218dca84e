/* `rattleback run`: simulates a model and reports what happened. */
#include "clock.h"
#include "pool.h"
#include "run/run.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/check_step.h"
#include "commands.h"
#include "run/events.h"
#include "run/jam.h"
#include "json.h"
#include "run/oscillation.h"
#include "run/overlap.h"
#include "rattleback/io.h"
#include "rattleback/sensor.h"
#include "run/record.h"
#include "run/state.h"
#include "sensor_json.h"
#include "run/watch.h"

typedef struct run {
    run_options *o;
    const rb_model *m;
    rb_data *d;
    const rb_model *written; /* as the file has it: minimal coordinates */
    rb_data *minimal;        /* the state in these coordinates; NULL: d is */
    record *record;
    double
        *noisy; /* exact values while noisy ones are recorded; NULL: --sensor-noise is not given */
    rb_rng noise;
    events *events;     /* NULL: not given */
    show *show;         /* --html, --gltf, --svg; NULL: not given */
    const char *path;   /* of the model */
    controls *controls; /* NULL: no controls */
    double energy;      /* [J] */

    /* summary */
    int steps, failures, unsupported, contacts_max, rows_max, fallbacks, repairs, solves;
    int below_accuracy; /* steps with a problem that missed the accuracy */
    int parts, impacts, unlocated;
    long happened, resolved, micros, groups, shifts, looks; /* `impulse`, `hybrid` */
    double contacts_sum, residual_max, penetration_max, energy_start, energy_created_max;
    double energy_smooth_max;
    double project_energy;  /* of all steps [J] */
    double overlap_end;     /* deepest at the end [m] */
    rb_settle_info settled; /* loops of the start */
    double loop_error_max, wall, cpu, work, work_max;
    double deadline;         /* of the clock, when the run is to end [s] */
    int late;                /* it has passed */
    rb_step_info jam;        /* of the step that jammed; njam 0: none */
    int overlaps;            /* pairs that overlap before the first step */
    watch watch;             /* --watch */
    double time_start;       /* [s] */
    oscillation oscillation; /* joints that reverse in every step */
    rb_data *begin;          /* --check-step: a copy of the start; NULL: not given */
    check_step check;
} run;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* opts.cancel: Ctrl-C, SIGTERM and --time-limit end a long step. */
static int is_over(void *ctx)
{
    run *r = ctx;
    r->late |= r->deadline < INFINITY && wall_seconds() >= r->deadline;
    return interrupted || r->late;
}

static double energy(const run *r)
{
    rb_kinematics(r->m, r->d);
    rb_velocity(r->m, r->d);
    return rb_energy_kinetic(r->m, r->d) + rb_energy_potential(r->m, r->d);
}

/* The state in the coordinates of the file. */
static const rb_data *as_written(const run *r)
{
    if (!r->minimal) return r->d;
    rb_kinematics(r->m, r->d);
    rb_velocity(r->m, r->d);
    rb_minimal_state(r->m, r->d, r->written, r->minimal);
    return r->minimal;
}

static record_state recorded(const run *r, const rb_step_info *info, double joules)
{
    return (record_state){ .written = r->written,
                           .q = as_written(r),
                           .m = r->m,
                           .d = r->d,
                           .info = info,
                           .energy = joules };
}

static void put_row(run *r, const rb_step_info *info, double joules)
{
    if (!r->record) return;
    const record_state s = recorded(r, info, joules);
    rb_frames(r->m, r->d);
    if (r->noisy) {
        size_t bytes = (size_t)r->m->nsensordata * sizeof *r->noisy;
        memcpy(r->noisy, r->d->sensor, bytes);
        rb_sensor_noise(r->m, &r->noise, r->d->sensor);
        record_row(r->record, &s);
        memcpy(r->d->sensor, r->noisy, bytes); /* the simulation knows exact values */
        return;
    }
    record_row(r->record, &s);
}

/* ---- problems on file ---------------------------------------------------------------------------
 */

static int dump_problem(void *ctx, const char *name, const rb_problem *problem)
{
    const run *r = ctx;
    char path[4096];
    rb_error err = { 0 };
    snprintf(path, sizeof path, "%s/%s-%s.jsonl", r->o->dump,
             problem->kind == RB_CONE ? "friction" : "lcp", name);
    FILE *out = fopen(path, "w");
    if (!out) {
        fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
        return 1;
    }
    rb_status status = rb_problem_write_json(out, name, problem, NULL, &err);
    if (fclose(out) != 0) status = RB_FILE;
    if (status != RB_OK) fprintf(stderr, "%s: %s\n", path, rb_status_text(status));
    return status != RB_OK;
}

/* ---- the loop -----------------------------------------------------------------------------------
 */

static void show_progress(const run *r, double start, const rb_step_info *info)
{
    enum { WIDTH = 24 };
    double done = r->d->time - r->time_start, total = r->o->time, spent = wall_seconds() - start;
    int full = total > 0.0 ? (int)(WIDTH * fmin(1.0, done / total)) : WIDTH;
    double left = done > 0.0 ? fmax(0.0, spent * (total / done - 1.0)) : 0.0;
    fprintf(stderr,
            "\r\033[K[%.*s%*s] %.3f s of %.3f s  %.1fx real time  %.0f s left  %d contacts  "
            "residual %.0e",
            full, "########################", WIDTH - full, "", done, total,
            spent > 0.0 ? done / spent : 0.0, left, info->contacts, r->residual_max);
    fflush(stderr);
}

static void add(run *r, const rb_step_info *info)
{
    r->steps++;
    r->contacts_sum += info->contacts;
    if (info->contacts > r->contacts_max) r->contacts_max = info->contacts;
    if (info->rows_max > r->rows_max) r->rows_max = info->rows_max;
    r->residual_max = fmax(r->residual_max, info->residual);
    r->penetration_max = fmax(r->penetration_max, info->penetration_made);
    r->work += info->work;
    r->work_max = fmax(r->work_max, info->work);
    r->energy_created_max = fmax(r->energy_created_max, info->energy_created);
    r->energy_smooth_max = fmax(r->energy_smooth_max, info->energy_smooth);
    r->overlap_end = info->penetration;
    r->project_energy += info->project_energy;
    r->loop_error_max = fmax(r->loop_error_max, info->loop_error);
    r->fallbacks += info->fallbacks;
    r->below_accuracy += info->below_accuracy > 0;
    r->repairs += info->repairs;
    r->solves += info->solves;
    r->parts += info->parts;
    r->impacts += info->impacts;
    r->unlocated += info->unlocated;
    r->happened += info->events;
    r->resolved += info->resolved;
    r->micros += info->micros;
    r->groups += info->groups;
    r->shifts += info->shifts;
    r->looks += info->looks;
}

static double step_length(const run *r)
{
    return r->o->step.h > 0.0 ? r->o->step.h : r->m->option.timestep;
}

/* One step; room for contacts grows by itself. */
static rb_status step(run *r, rb_step_info *info, rb_error *err)
{
    for (;;) {
        rb_status status = rb_step(r->m, r->d, &r->o->step, info, err);
        if (r->events) events_step(r->events, status == RB_OK);
        if (r->show) show_step(r->show, r->d, &r->o->step, info, status, err);
        if (status != RB_FULL) return status;
        status = rb_data_reserve(r->m, &r->d, 2 * info->contacts + 16);
        if (status != RB_OK) return status;
    }
}

/* Choices that do not go together are reported as such: neither a step nor a solver failed. */
static void say_why(const run *r, rb_status status, const rb_error *err)
{
    if (status == RB_UNSUPPORTED && err->text[0] && r->steps == 0)
        fprintf(stderr, "rattleback run: %s\n", err->text);
    else
        fprintf(stderr, "t = %.9g: step %d: %s%s%s; the state is that before the step\n",
                r->d->time, r->steps + 1, rb_status_text(status), err->text[0] ? ": " : "",
                err->text);
}

/* Once: a step may be certified and still far too long. */
static void warn_of_reversals(run *r, double h, int bar)
{
    char name[128];
    if (!oscillation_step(&r->oscillation, r->m, r->d)) return;
    if (bar) fputs("\r\033[K", stderr);
    fprintf(stderr,
            "t = %.9g: joint %s reverses from step to step; the step of %g s is probably too long "
            "for its servo or spring: try a shorter --step, or --check-step\n",
            r->d->time, rb_model_name(r->m, RB_KIND_JOINT, r->oscillation.joint, name, sizeof name),
            h);
}

static int simulate(run *r)
{
    double h = step_length(r);
    double start = wall_seconds(), shown = start, processor = processor_seconds();
    double end = r->d->time + r->o->time - 0.5 * h;
    r->time_start = r->d->time;
    int bar = isatty(STDERR_FILENO) && !r->o->watch;
    rb_step_info info = { 0 };
    put_row(r, &info, r->energy_start);
    if (r->show) show_start(r->show, r->d, &r->o->step);
    r->deadline = start + r->o->time_limit;
    r->o->step.cancel = is_over;
    r->o->step.cancel_ctx = r;
    while (r->d->time < end && !is_over(r)) {
        rb_error err = { 0 };
        rb_status status = step(r, &info, &err);
        if (status == RB_CANCELLED) break;
        if (status != RB_OK) {
            r->failures++;
            r->unsupported = status == RB_UNSUPPORTED;
            if (status == RB_JAMMED) r->jam = info;
            if (bar) fputs("\r\033[K", stderr);
            say_why(r, status, &err);
            break;
        }
        add(r, &info);
        warn_of_reversals(r, h, bar);
        as_written(r); /* each step: joints continue from the turn they were in */
        if (r->o->watch) watch_step(&r->watch, r->m, r->d);
        if (r->record && r->steps % r->o->every == 0) put_row(r, &info, energy(r));
        if (bar && wall_seconds() - shown > 0.1) {
            shown = wall_seconds();
            show_progress(r, start, &info);
        }
    }
    if (r->jam.njam > 0) jam_print(stderr, r->m, &r->jam);
    if (bar) fputs("\r\033[K", stderr);
    if (r->late)
        fprintf(stderr, "rattleback run: --time-limit %g: ended at t = %.9g of %.9g s\n",
                r->o->time_limit, r->d->time, r->o->time);
    r->wall = wall_seconds() - start;
    r->cpu = processor_seconds() - processor;
    r->energy = energy(r);
    if (r->unsupported) return EXIT_BAD_INPUT; /* choices that do not go together */
    int missed = r->failures > 0 || r->late || (r->below_accuracy > 0 && !r->o->loose);
    return missed ? EXIT_UNCERTIFIED : EXIT_CERTIFIED;
}

/* ---- summary ------------------------------------------------------------------------------------
 */

static int by_events(const run *r)
{
    return r->o->step.stepper == RB_STEPPER_IMPULSE || r->o->step.stepper == RB_STEPPER_HYBRID;
}

static void check_json(json *j, const run *r)
{
    char name[128];
    const check_step *c = &r->check;
    json_begin(j, "check_step");
    json_int(j, "done", c->done);
    json_number(j, "distance", c->distance);
    json_text(j, "body", rb_model_name(r->m, RB_KIND_BODY, c->body, name, sizeof name));
    json_number(j, "turn", c->turn);
    json_text(j, "turned", rb_model_name(r->m, RB_KIND_BODY, c->turned, name, sizeof name));
    json_end(j);
}

static void check_text(const run *r)
{
    char name[128];
    const check_step *c = &r->check;
    printf("%-22s ", "check of the step");
    if (!c->done) {
        puts("the run with half the step failed");
        return;
    }
    printf("half of it moves the end by %.2e m", c->distance);
    if (c->distance > 0.0)
        printf(" (body %s)", rb_model_name(r->m, RB_KIND_BODY, c->body, name, sizeof name));
    printf(", %.2e rad", c->turn);
    if (c->turn > 0.0)
        printf(" (body %s)", rb_model_name(r->m, RB_KIND_BODY, c->turned, name, sizeof name));
    putchar('\n');
}

static void summary_json(const run *r)
{
    json j = { .out = stdout };
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)rb_data_hash(r->d));
    json_begin(&j, NULL);
    json_int(&j, "steps", r->steps);
    json_number(&j, "time", r->d->time);
    json_number(&j, "wall", r->wall);
    json_number(&j, "cpu", r->cpu);
    json_number(&j, "contacts_mean", r->steps ? r->contacts_sum / r->steps : 0.0);
    json_int(&j, "contacts_max", r->contacts_max);
    json_int(&j, "rows_max", r->rows_max);
    json_number(&j, "residual_max", r->residual_max);
    json_number(&j, "penetration_max", r->penetration_max);
    json_number(&j, "energy_start", r->energy_start);
    json_number(&j, "energy_end", r->energy);
    json_number(&j, "energy_created_max", r->energy_created_max);
    json_number(&j, "energy_smooth_max", r->energy_smooth_max);
    json_number(&j, "overlap_end", r->overlap_end);
    json_number(&j, "loops_open_start", r->settled.open_before);
    json_number(&j, "project_energy", r->project_energy);
    json_number(&j, "loop_error_max", r->loop_error_max);
    json_int(&j, "fallbacks", r->fallbacks);
    json_text(&j, "accuracy", rb_accuracy_name(r->o->step.accuracy));
    json_number(&j, "tolerance", rb_step_opts_tol(&r->o->step));
    json_int(&j, "below_accuracy", r->below_accuracy);
    json_number(&j, "work", r->work);
    json_number(&j, "work_max", r->work_max);
    json_int(&j, "time_limit_reached", r->late);
    json_int(&j, "repairs", r->repairs);
    json_int(&j, "solves", r->solves);
    json_int(&j, "parts", r->parts);
    json_int(&j, "impacts", r->impacts);
    json_int(&j, "unlocated", r->unlocated);
    if (by_events(r)) {
        json_number(&j, "events", (double)r->happened);
        json_number(&j, "resolved", (double)r->resolved);
        json_number(&j, "micro_collisions", (double)r->micros);
        json_number(&j, "groups", (double)r->groups);
        json_number(&j, "shifts", (double)r->shifts);
        json_number(&j, "looks", (double)r->looks);
        json_number(&j, "impacts_per_second", r->wall > 0.0 ? r->impacts / r->wall : 0.0);
        double elapsed = r->d->time - r->time_start;
        json_number(&j, "slowdown", elapsed > 0.0 ? r->wall / elapsed : 0.0);
    }
    json_int(&j, "failures", r->failures);
    json_int(&j, "overlaps_start", r->overlaps);
    if (r->jam.njam > 0) jam_json(&j, r->m, &r->jam);
    if (r->begin) check_json(&j, r);
    json_text(&j, "formulation", rb_formulation_name(r->o->step.formulation));
    json_text(&j, "solver", r->o->step.solver->name);
    const rb_data *end = as_written(r);
    json_text(&j, "coordinates", r->written == r->m ? "minimal" : "maximal");
    json_vector(&j, "qpos", end->q, r->written->nq);
    json_vector(&j, "qvel", end->v, r->written->nv);
    if (r->m->nsensor > 0) sensor_json(&j, "sensor", r->m, r->d);
    json_text(&j, "hash", hash);
    json_end(&j);
}

static void summary_text(const run *r)
{
    double us = r->steps ? 1e6 * r->wall / r->steps : 0.0;
    printf("%d steps to t = %.6g s in %.3f s (%.1f us each, %.1fx real time)\n", r->steps,
           r->d->time, r->wall, us, r->wall > 0.0 ? (r->d->time - r->time_start) / r->wall : 0.0);
    printf("%-22s %s, solver %s\n", "formulation", rb_formulation_name(r->o->step.formulation),
           r->o->step.solver->name);
    printf("%-22s %.2f mean, %d max; %d problems, %d repairs, %d fallbacks\n", "contacts",
           r->steps ? r->contacts_sum / r->steps : 0.0, r->contacts_max, r->solves, r->repairs,
           r->fallbacks);
    if (by_events(r))
        printf("%-22s %ld: %d impacts, %ld micro-collisions, %ld shifts; %ld with all of one "
               "problem as one\n%-22s %.0f impacts/s, %ld looks\n",
               "events", r->happened, r->impacts, r->micros, r->shifts, r->resolved, "",
               r->wall > 0.0 ? r->impacts / r->wall : 0.0, r->looks);
    else if (r->parts != r->steps || r->impacts > 0)
        printf("%-22s %d in %d parts of steps; %d steps had too many\n", "impacts", r->impacts,
               r->parts, r->unlocated);
    printf("%-22s %.2e\n", "worst residual", r->residual_max);
    if (r->below_accuracy > 0)
        printf("%-22s %d of %d steps: a residual above %g, at most %g, or overlap that repairs did "
               "not "
               "end%s\n",
               "below accuracy", r->below_accuracy, r->steps, rb_step_opts_tol(&r->o->step),
               r->o->step.loose,
               r->o->loose ? "" : "; --loose R accepts them, a shorter step may avoid them");
    printf("%-22s %.2e m\n", "deepest penetration", r->penetration_max);
    if (r->m->neq > 0) printf("%-22s %.2e\n", "worst closure error", r->loop_error_max);
    printf("%-22s %.9g J -> %.9g J; contact made at most %.2e J in a step, smooth motion %.2e J\n",
           "energy", r->energy_start, r->energy, r->energy_created_max, r->energy_smooth_max);
    if (r->project_energy != 0.0)
        printf("%-22s %.3g J from positions that were corrected\n", "", r->project_energy);
    if (r->begin) check_text(r);
    printf("%-22s %016llx\n", "hash of the state", (unsigned long long)rb_data_hash(r->d));
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int refuse_physics(const run_options *o, const rb_model *m)
{
    int count = 0;
    for (int k = 0; k < m->nwarning; k++) count += m->warning_physics[k] == 1;
    if (!o->model.lenient) model_warn_shapes(m);
    if (count == 0 || o->model.lenient) return 0;
    model_warn_physics(m);
    fputs("rattleback run: the file asks for physics that is not supported; --lenient runs without "
          "it\n",
          stderr);
    return 1;
}

/* Joints that became loops. */
static int refuse_maximal(const run *r)
{
    if (r->o->step.stepper != RB_STEPPER_IMPULSE || r->m->neq == r->written->neq) return 0;
    fputs("rattleback run: --coordinates maximal makes a loop of every joint, and the stepper "
          "impulse takes none: take minimal, or another stepper\n",
          stderr);
    return 1;
}

static int open_dump(run *r)
{
    struct stat found;
    const char *folder = r->o->dump;
    int made = mkdir(folder, 0777) == 0, old = !made && errno == EEXIST;
    if (old && stat(folder, &found) == 0 && !S_ISDIR(found.st_mode)) errno = ENOTDIR, old = 0;
    if (!made && (!old || access(folder, W_OK | X_OK) != 0)) {
        fprintf(stderr, "rattleback run: --dump-problems %s: %s\n", folder, strerror(errno));
        return 0;
    }
    r->o->step.sink = (rb_problem_sink){ dump_problem, r };
    return 1;
}

static int open_events(run *r)
{
    if (!by_events(r)) {
        fprintf(stderr,
                "rattleback run: --events %s: the stepper %s has none; expected --stepper impulse "
                "or hybrid\n",
                r->o->events, rb_stepper_name(r->o->step.stepper));
        return 0;
    }
    r->events = events_open(r->o->events, r->m);
    if (r->events) r->o->step.events = events_sink(r->events);
    return r->events != NULL;
}

/* Names say what is in a file. */
static int has_ending(const char *option, const char *file, const char *ending)
{
    size_t n = file ? strlen(file) : 0, k = strlen(ending);
    if (!file || (n > k && strcmp(file + n - k, ending) == 0)) return 1;
    fprintf(stderr, "rattleback run: %s %s: expected a name that ends in %s\n", option, file,
            ending);
    return 0;
}

static int open_show(run *r)
{
    const show_options *o = &r->o->show;
    if (!has_ending("--html", o->html, ".html") || !has_ending("--gltf", o->gltf, ".glb") ||
        !has_ending("--svg", o->svg, ".svg"))
        return 0;
    if (!show_is_asked(o)) return 1;
    r->show = show_new(o, r->m, r->o->step.events);
    if (r->show) r->o->step.events = show_sink(r->show);
    return r->show != NULL;
}

static int open_record(run *r)
{
    if (!r->o->record) return 1;
    const record_state s = recorded(r, NULL, 0.0);
    if (r->o->has_noise) {
        r->noise = rb_rng_make((uint64_t)r->o->noise_seed);
        r->noisy = malloc(((size_t)r->m->nsensordata + 1) * sizeof *r->noisy);
        if (!r->noisy) return 0;
    }
    r->record = record_open(r->o->record, r->o->columns, &s);
    return r->record != NULL;
}

/* States are in the coordinates of the file: what maximal ones remember does not fit. */
static int refuse_save(const run *r)
{
    if (!r->o->save || r->written == r->m) return 0;
    fputs("rattleback run: --save: not with --coordinates maximal; take minimal\n", stderr);
    return 1;
}

/* --check-step: where the run begins, for a second one. */
static int keep_begin(run *r)
{
    if (!r->o->check_step) return 1;
    r->begin = rb_data_new(r->m, NULL);
    if (!r->begin || rb_data_reserve(r->m, &r->begin, r->d->touch_max) != RB_OK) return 0;
    return rb_data_copy(r->m, r->begin, r->d) == RB_OK;
}

/* Loops that the start leaves open are closed, unless errors are kept. */
static int settle(run *r)
{
    rb_error err = { 0 };
    if (r->o->step.keep_errors) return 1;
    rb_status status = rb_data_settle(r->m, r->d, &r->settled, &err);
    if (status == RB_FULL && (rb_data_reserve(r->m, &r->d, 2 * r->settled.contacts + 16) == RB_OK))
        status = rb_data_settle(r->m, r->d, &r->settled, &err);
    if (status != RB_OK) {
        fprintf(stderr, "rattleback run: loops of the start: %s\n",
                err.text[0] ? err.text : rb_status_text(status));
        return status != RB_NOMEM && status != RB_BAD_INPUT; /* the first step says more */
    }
    if (r->settled.open != r->settled.open_before)
        fprintf(stderr,
                "loops were open by %.3g at the start and are closed to %.1e; --keep-errors leaves "
                "them\n",
                r->settled.open_before, r->settled.open);
    r->project_energy += r->settled.energy;
    return 1;
}

static int run_model(run *r)
{
    r->written = r->o->model.minimal ? r->o->model.minimal : r->m;
    if (refuse_maximal(r) || refuse_save(r)) return EXIT_BAD_INPUT;
    r->d = model_start_written(&r->o->model, r->m);
    if (!r->d) return EXIT_BAD_INPUT;
    int goes_on = 0;
    if (r->o->state && !run_state_apply(r->o->state, r->written, &r->d, &goes_on))
        return EXIT_BAD_INPUT;
    if (r->o->has_height && !run_state_height(r->written, r->d, r->o->height))
        return EXIT_BAD_INPUT;
    if (r->written != r->m) {
        r->minimal = r->d;
        r->d = model_maximal(&r->o->model, r->minimal, r->m);
        if (!r->d) return EXIT_BAD_INPUT;
    }
    if (r->o->dump && !open_dump(r)) return EXIT_BAD_INPUT;
    if (r->o->events && !open_events(r)) return EXIT_BAD_INPUT;
    if (!open_show(r)) return EXIT_BAD_INPUT;
    if (!open_record(r)) return EXIT_BAD_INPUT;
    if (!controls_open(&r->o->control, r->m, r->written != r->m, &r->controls))
        return EXIT_BAD_INPUT;
    r->o->step.control = controls_callback(r->controls);
    controls_start(r->controls, r->m, r->d, goes_on);
    if (!goes_on && !settle(r)) return EXIT_BAD_INPUT;
    r->overlaps = overlap_say(r->m, r->d, &r->o->step);
    rb_sensors(r->m, r->d); /* what they read before the first step */
    r->energy_start = energy(r);
    if (!oscillation_start(&r->oscillation, r->m, r->d) || !keep_begin(r)) {
        fputs("rattleback run: out of memory\n", stderr);
        return EXIT_BAD_INPUT;
    }
    int status = simulate(r);
    if (r->begin && r->failures == 0 && !interrupted) {
        rb_step_opts quiet = r->o->step;
        quiet.sink = (rb_problem_sink){ 0 };
        quiet.events = (rb_event_sink){ 0 };
        controls_start(r->controls, r->m, r->begin, goes_on);
        r->check = check_step_run(r->m, &r->begin, r->d, &quiet);
    }
    if (!record_close(r->record)) status = EXIT_BAD_INPUT;
    free(r->noisy);
    if (r->o->save && !run_state_save(r->o->save, r->m, r->d)) status = EXIT_BAD_INPUT;
    if (!events_close(r->events)) status = EXIT_BAD_INPUT;
    int to_stdout = r->o->model.json || (r->o->record && strcmp(r->o->record, "-") == 0);
    if (r->show && !show_save(r->show, r->d, &r->o->step, &r->o->model, r->path, to_stdout))
        status = EXIT_BAD_INPUT;
    if (r->o->model.json)
        summary_json(r);
    else if (!r->o->record || strcmp(r->o->record, "-") != 0)
        summary_text(r);
    return status;
}

int cmd_run(int argc, char **argv)
{
    run_options o = run_options_default();
    int nfile = 0;
    if (!run_options_parse(&o, argc, argv, &nfile)) return EXIT_BAD_INPUT;
    if (o.model.help) {
        run_help();
        return EXIT_CERTIFIED;
    }
    if (!model_one_file(&o.model, nfile)) return EXIT_BAD_INPUT;
    rb_model *m = model_load(&o.model, argv[0]);
    if (!m) return EXIT_BAD_INPUT;

    int status = EXIT_BAD_INPUT;
    pool *threads = o.threads > 1 ? pool_new(o.threads) : NULL;
    if (threads) o.step.parallel = pool_parallel(threads);
    if (o.threads > 1 && !threads) {
        fprintf(stderr, "rattleback run: --threads %d: so many cannot be started\n", o.threads);
    } else if (!refuse_physics(&o, m) && run_options_from_model(&o, m)) {
        run r = { .o = &o, .m = m, .path = argv[0] };
        signal(SIGINT, on_interrupt);
        signal(SIGTERM, on_interrupt);
        status = run_model(&r);
        rb_data_free(r.d);
        rb_data_free(r.minimal);
        rb_data_free(r.begin);
        oscillation_free(&r.oscillation);
        watch_free(&r.watch);
        show_free(r.show);
        controls_free(r.controls);
    }
    pool_free(threads);
    model_free(&o.model, m);
    return status;
}
