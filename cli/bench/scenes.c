/* `rattleback bench scenes`: random scenes, every step checked from outside. */
#include "bench/bench.h"

#include "commands.h"
#include "rattleback/front.h"
#include "steps_campaign.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_REPORTED 20 /* findings described on standard error; all are counted and kept */

static const char help[] =
    "usage: rattleback bench scenes [options]\n"
    "\n"
    "Simulates random scenes (stacks, wedges, slopes, piles, chains, creatures, loops) and looks\n"
    "at every step: is it certified, finite, without overlap, without energy from nothing, and\n"
    "is the state unchanged where a step is refused? Exit status 0: no finding.\n"
    "\n"
    "  --count N            scenes (100)\n"
    "  --steps N            of each (200)\n"
    "  --seed S             first seed (1)\n"
    "  --family F           stack, wedge, slope, pile, chain, creature, loop, or\n"
    "                       tangle: creatures whose limbs overlap (all but tangle)\n"
    "  --formulation WORD   (cone)\n"
    "  --stepper WORD       fixed, located, impulse or hybrid (fixed)\n"
    "  --scheme WORD        node, semi-implicit or moreau-jean (node)\n"
    "  --accuracy WORD      standard, strict or fast (standard)\n"
    "  --restitution E      replaces the scenes' own\n"
    "  --threads K          (1); the counts do not depend on it\n"
    "  --keep DIR           write the scene of every finding, for rattleback run\n"
    "  --json               result as one JSON object\n"
    "\n"
    "Example: rattleback bench scenes --count 1000 --threads 2\n";

typedef struct run {
    steps_campaign c;
    const char *keep;
    int json, told, write_failed;
} run;

static void keep_scene(run *r, uint64_t seed, int family, int finding)
{
    char path[4096];
    char *text = malloc(STEPS_SCENE_MAX);
    snprintf(path, sizeof path, "%s/%s-%" PRIu64 "-%s.xml", r->keep, steps_family_name(family),
             seed, steps_finding_name(finding));
    FILE *file = text ? fopen(path, "w") : NULL;
    if (!file || steps_scene_write(seed, r->c.family, text, STEPS_SCENE_MAX) < 0 ||
        fputs(text, file) < 0)
        r->write_failed = 1;
    if (file && fclose(file) != 0) r->write_failed = 1;
    free(text);
}

static void found(void *ctx, const steps_found *x)
{
    run *r = ctx;
    if (r->told++ < MAX_REPORTED) {
        bench_progress_end();
        fprintf(stderr, "%s, seed %" PRIu64 ", step %d: %s, %.3g%s%.160s\n",
                steps_family_name(x->family), x->seed, x->step, steps_finding_name(x->finding),
                x->number, x->text[0] ? ": " : "", x->text);
    }
    if (r->keep) keep_scene(r, x->seed, x->family, x->finding);
}

static void progress(void *ctx, uint64_t done)
{
    run *r = ctx;
    bench_progress("steps", (double)done / (double)r->c.count);
}

static void print_row(const char *name, const steps_tally *t)
{
    printf("%-9s %7" PRIu64 " %9" PRIu64, name, t->scenes, t->steps);
    for (int k = 0; k < STEPS_FINDINGS; k++) printf(" %*" PRIu64, k == 0 ? 9 : 8, t->found[k]);
    printf("  %8.1e %8.1e %8.1e %8" PRIu64 " %8" PRIu64 "\n", t->residual, t->penetration,
           t->energy, t->repairs, t->fallbacks);
}

static void print_table(const run *r)
{
    steps_tally t;
    printf("%-9s %7s %9s %9s %8s %8s %8s %8s %8s %8s  %8s %8s %8s %8s %8s\n", "family", "scenes",
           "steps", "unsolved", "changed", "infinite", "uncert", "deep", "energy", "refused",
           "residual", "overlap", "created", "repairs", "later");
    for (int f = 0; f < STEPS_FAMILIES; f++) {
        steps_campaign_sum(&r->c, f, &t);
        if (t.scenes) print_row(steps_family_name(f), &t);
    }
    steps_campaign_sum(&r->c, -1, &t);
    print_row("all", &t);
    printf(
        "\nfindings are scenes; overlap beyond the start in units of the size, energy in units of "
        "the scene's\n");
}

static void print_json(const run *r)
{
    steps_tally t;
    steps_campaign_sum(&r->c, -1, &t);
    printf("{\"scenes\":%" PRIu64 ",\"steps\":%" PRIu64, t.scenes, t.steps);
    for (int k = 0; k < STEPS_FINDINGS; k++)
        printf(",\"%s\":%" PRIu64, steps_finding_name(k), t.found[k]);
    printf(",\"residual_max\":%.3e,\"penetration_max\":%.3e,\"energy_created_max\":%.3e}\n",
           t.residual, t.penetration, t.energy);
}

static int choose_scheme(run *r, const char *scheme)
{
    rb_error err = { 0 };
    if (!scheme || rb_option_set(&r->c.step, "scheme", scheme, &err) == RB_OK) return 1;
    fprintf(stderr, "rattleback bench scenes: %s\n", err.text);
    return 0;
}

static int choose(run *r, const char *family, const char *formulation, const char *stepper,
                  const char *restitution)
{
    if (family && (r->c.family = steps_family_find(family)) < 0) {
        fprintf(stderr, "rattleback bench scenes: there is no family \"%s\"; see --help\n", family);
        return 0;
    }
    if (formulation && !(r->c.step.formulation = rb_formulation_find(formulation))) {
        fprintf(stderr, "rattleback bench scenes: there is no formulation \"%s\"\n", formulation);
        return 0;
    }
    if (stepper && !rb_stepper_find(stepper, &r->c.step.stepper)) {
        fprintf(stderr, "rattleback bench scenes: there is no stepper \"%s\"\n", stepper);
        return 0;
    }
    if (restitution) {
        char *end;
        r->c.step.restitution = strtod(restitution, &end);
        if (*end || end == restitution || !(r->c.step.restitution >= 0.0) ||
            r->c.step.restitution > 1.0) {
            fprintf(stderr, "rattleback bench scenes: --restitution expects 0 to 1\n");
            return 0;
        }
    }
    if (r->keep) mkdir(r->keep, 0777); /* it may exist; errors show when writing */
    return 1;
}

static int parse(run *r, int argc, char **argv, int *status)
{
    const char *count = "100", *steps = "200", *seed = "1", *threads = "1";
    const char *family = NULL, *formulation = NULL, *stepper = NULL, *restitution = NULL;
    const char *accuracy = NULL, *scheme = NULL;
    const bench_option options[] = {
        { "--count", &count, NULL },
        { "--steps", &steps, NULL },
        { "--seed", &seed, NULL },
        { "--family", &family, NULL },
        { "--keep", &r->keep, NULL },
        { "--formulation", &formulation, NULL },
        { "--json", NULL, &r->json },
        { "--restitution", &restitution, NULL },
        { "--threads", &threads, NULL },
        { "--stepper", &stepper, NULL },
        { "--accuracy", &accuracy, NULL },
        { "--scheme", &scheme, NULL },
        { NULL, NULL, NULL },
    };
    unsigned long long n[4];
    if (!bench_parse(argc, argv, options, help, status)) return 0;
    *status = EXIT_BAD_INPUT;
    if (!bench_number("--count", count, 1, 1000000000ULL, &n[0]) ||
        !bench_number("--steps", steps, 1, 1000000000ULL, &n[1]) ||
        !bench_number("--seed", seed, 0, 1ULL << 62, &n[2]) ||
        !bench_number("--threads", threads, 1, 64, &n[3]) ||
        !bench_accuracy(accuracy, &r->c.step.accuracy) || !choose_scheme(r, scheme))
        return 0;
    r->c.count = n[0];
    r->c.steps = (int)n[1];
    r->c.first = n[2];
    r->c.threads = (int)n[3];
    return choose(r, family, formulation, stepper, restitution);
}

int bench_scenes(int argc, char **argv)
{
    int status = EXIT_BAD_INPUT;
    run r = { .c = steps_campaign_default() };
    r.c.ctx = &r;
    r.c.found = found;
    r.c.progress = progress;
    if (!parse(&r, argc, argv, &status)) return status;
    rb_status ran = steps_campaign_run(&r.c);
    bench_progress_end();
    if (ran != RB_OK || r.write_failed) {
        fprintf(stderr, "rattleback bench scenes: %s\n",
                r.write_failed ? "a file could not be written" : rb_status_text(ran));
        return EXIT_BAD_INPUT;
    }
    if (r.told > MAX_REPORTED) fprintf(stderr, "... and %d more\n", r.told - MAX_REPORTED);
    if (r.json)
        print_json(&r);
    else
        print_table(&r);
    return r.told ? EXIT_UNCERTIFIED : EXIT_CERTIFIED;
}
