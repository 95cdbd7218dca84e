/* `rattleback bench step`: time of a step beside what it achieves, scene by scene. */
#include "bench/bench.h"

#include "commands.h"
#include "model.h"
#include "rattleback/step.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_REPEATS = 1000, MOST_STEPS = 10000000, MOST_FILES = 256 };

static const char help[] =
    "usage: rattleback bench step [options] MODEL...\n"
    "\n"
    "Runs each model from its first keyframe (or its reference) and reports the time of a step: "
    "each\n"
    "step counts with its smallest time of all repeats, which are the same to the bit (us/step), "
    "or\n"
    "the processor time of the quickest run is divided by its steps (cpu). Beside it\n"
    "are contacts, the worst residual, the deepest penetration, repairs and where the solver "
    "ended.\n"
    "\n"
    "  --repeats R   runs of each scene (5)\n"
    "  --time T      simulated seconds (what the model says)\n"
    "  --accuracy W  standard, strict or fast (what the model says)\n"
    "  --csv FILE    the table as CSV\n"
    "\n"
    "Example: rattleback bench step scenes/contact/rod.xml scenes/contact/four_balls.xml\n";

typedef struct options {
    int repeats;
    double time;          /* [s]; NAN: of the model */
    const char *accuracy; /* NULL: of the model */
    FILE *csv;
} options;

typedef struct result {
    double *us; /* smallest time of each step        (nstep) */
    double cpu; /* processor time of the quickest run over its steps [us] */
    int nstep, done;
    double contacts, residual, penetration;
    int repairs, fallbacks, solves, resting;
    int rungs[RB_RUNG_COUNT];
    uint64_t hash;
} result;

static void add(result *r, const rb_step_info *info)
{
    r->contacts += info->contacts;
    r->residual = fmax(r->residual, info->residual);
    r->penetration = fmax(r->penetration, info->penetration);
    r->repairs += info->repairs;
    r->fallbacks += info->fallbacks;
    r->solves += info->solves;
    r->resting += info->resting > 0;
    for (int k = 0; k < RB_RUNG_COUNT; k++) r->rungs[k] += info->rungs[k];
}

/* ---- one scene ----------------------------------------------------------------------------------
 */

static rb_status timed_step(const rb_model *m, rb_data **d, const rb_step_opts *o,
                            rb_step_info *info, double *us)
{
    for (;;) {
        rb_error err = { 0 };
        double begin = bench_now_us();
        rb_status status = rb_step(m, *d, o, info, &err);
        *us = bench_now_us() - begin;
        if (status != RB_FULL) return status;
        status = rb_data_reserve(m, d, 2 * info->contacts + 16);
        if (status != RB_OK) return status;
    }
}

/* One run; a failed step ends it. */
static rb_status run_once(const rb_model *m, const run_options *o, int first, result *r)
{
    rb_data *d = model_start(&o->model, m);
    rb_status status = d ? RB_OK : RB_NOMEM;
    clock_t begin = clock();
    for (r->done = 0; r->done < r->nstep && status == RB_OK; r->done++) {
        rb_step_info info;
        double us;
        status = timed_step(m, &d, &o->step, &info, &us);
        if (status != RB_OK) break;
        r->us[r->done] = first ? us : fmin(us, r->us[r->done]);
        if (first) add(r, &info);
    }
    double cpu = 1e6 * (double)(clock() - begin) / CLOCKS_PER_SEC / (r->done ? r->done : 1);
    r->cpu = first ? cpu : fmin(cpu, r->cpu);
    if (d) r->hash = rb_data_hash(d);
    rb_data_free(d);
    return status;
}

static double mean(const result *r)
{
    double sum = 0.0;
    for (int i = 0; i < r->done; i++) sum += r->us[i];
    return r->done ? sum / r->done : NAN;
}

static void report(const options *o, const char *path, const rb_model *m, result *r)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    double us = mean(r), median = r->done ? bench_median(r->us, (size_t)r->done) : NAN;
    double contacts = r->done ? r->contacts / r->done : 0.0;
    printf("%-20.20s %5d %7d %9.2f %9.2f %9.2f %8.2f %7d %9.1e %9.1e ", name, m->nv, r->done, us,
           r->cpu, median, contacts, r->repairs, r->residual, r->penetration);
    for (int k = 0; k < RB_RUNG_COUNT; k++) {
        if (r->rungs[k]) printf(" %s %d", rb_rung_name(k), r->rungs[k]);
    }
    printf("\n");
    fflush(stdout);
    if (o->csv)
        fprintf(o->csv, "%s,%d,%d,%.3f,%.3f,%.3f,%.3f,%d,%d,%.2e,%.2e,%016llx\n", name, m->nv,
                r->done, us, r->cpu, median, contacts, r->repairs, r->fallbacks, r->residual,
                r->penetration, (unsigned long long)r->hash);
}

static int bench_model(const options *o, char *path)
{
    run_options run = run_options_default();
    rb_model *m = model_load(&run.model, path);
    if (!m) return EXIT_BAD_INPUT;
    if (m->nkey > 0) run.model.key = "0";
    int ok = run_options_from_model(&run, m);
    bench_accuracy(o->accuracy, &run.step.accuracy);
    double h = run.step.h > 0.0 ? run.step.h : m->option.timestep;
    double T = isnan(o->time) ? run.time : o->time;
    result r = { .nstep = (int)fmin(MOST_STEPS, floor(T / h + 0.5)) };
    r.us = calloc((size_t)r.nstep + 1, sizeof *r.us);
    rb_status status = ok && r.us ? RB_OK : RB_NOMEM;
    for (int k = 0; k < o->repeats && status == RB_OK; k++) {
        status = run_once(m, &run, k == 0, &r);
    }
    if (ok && r.us) report(o, path, m, &r);
    if (status != RB_OK)
        fprintf(stderr, "rattleback bench step: %s: step %d: %s\n", path, r.done + 1,
                rb_status_text(status));
    free(r.us);
    model_free(&run.model, m);
    return status == RB_OK ? EXIT_CERTIFIED : EXIT_UNCERTIFIED;
}

/* ---- the command --------------------------------------------------------------------------------
 */

/* Splits off the files: what does not begin with -- and is no value of an option. */
static int take_files(int argc, char **argv, char **files, int *rest_count, char **rest)
{
    int nfile = 0, n = 0;
    for (int i = 0; i < argc; i++) {
        int option = i > 0 && strncmp(argv[i], "--", 2) == 0;
        int valued = option && strcmp(argv[i], "--help") != 0;
        if (i == 0 || option) {
            rest[n++] = argv[i];
            if (valued && i + 1 < argc) rest[n++] = argv[++i];
        } else {
            files[nfile++] = argv[i];
        }
    }
    *rest_count = n;
    return nfile;
}

static int run_files(options *o, char **files, int nfile)
{
    int status = EXIT_CERTIFIED;
    printf("%-20s %5s %7s %9s %9s %9s %8s %7s %9s %9s  %s\n", "model", "nv", "steps", "us/step",
           "cpu", "median", "contacts", "repairs", "residual", "depth [m]", "ended on");
    if (o->csv)
        fputs("model,nv,steps,us,cpu,median,contacts,repairs,fallbacks,residual,penetration,hash\n",
              o->csv);
    for (int i = 0; i < nfile; i++) {
        int one = bench_model(o, files[i]);
        if (one > status) status = one;
    }
    return status;
}

int bench_step(int argc, char **argv)
{
    char *files[MOST_FILES], *rest[MOST_FILES];
    const char *repeats = "5", *span = NULL, *csv = NULL, *accuracy = NULL;
    const bench_option known[] = { { "--repeats", &repeats, NULL },
                                   { "--time", &span, NULL },
                                   { "--accuracy", &accuracy, NULL },
                                   { "--csv", &csv, NULL },
                                   { 0 } };
    int status = EXIT_BAD_INPUT, count;
    if (argc >= MOST_FILES) {
        fprintf(stderr, "rattleback bench step: at most %d words\n", MOST_FILES);
        return EXIT_BAD_INPUT;
    }
    int nfile = take_files(argc, argv, files, &count, rest);
    if (!bench_parse(count, rest, known, help, &status)) return status;
    unsigned long long n;
    if (!bench_number("--repeats", repeats, 1, MOST_REPEATS, &n)) return EXIT_BAD_INPUT;
    options o = { .repeats = (int)n, .time = NAN, .accuracy = accuracy };
    rb_accuracy checked;
    if (!bench_accuracy(accuracy, &checked)) return EXIT_BAD_INPUT;
    char *end = NULL;
    if (span) o.time = strtod(span, &end);
    if (span && (*end || end == span || !(o.time >= 0.0) || isinf(o.time))) {
        fprintf(stderr, "rattleback bench step: --time \"%s\" is no number of seconds\n", span);
        return EXIT_BAD_INPUT;
    }
    if (nfile == 0) {
        fputs("rattleback bench step: no model given; see --help\n", stderr);
        return EXIT_BAD_INPUT;
    }
    if (csv && !(o.csv = fopen(csv, "w"))) {
        fprintf(stderr, "rattleback bench step: %s cannot be written\n", csv);
        return EXIT_BAD_INPUT;
    }
    status = run_files(&o, files, nfile);
    if (o.csv && fclose(o.csv) != 0) status = EXIT_BAD_INPUT;
    return status;
}
