/* `rattleback bench corpus`: the campaign over generated problems. */
#include "bench/bench.h"

#include "commands.h"
#include "corpus_campaign.h"
#include "rattleback/io.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_REPORTED 10 /* findings described on standard error; all are counted and kept */

static const char help[] =
    "usage: rattleback bench corpus [options]\n"
    "\n"
    "Solves generated contact problems cold, and warm after a change of one percent, and grades\n"
    "every answer with code of its own. Exit status 0: every problem solved, none wrongly.\n"
    "\n"
    "  --count N        problems (1000)\n"
    "  --seed S         first seed (1)\n"
    "  --family F       stack, wedge, grasp, pile or chain (all)\n"
    "  --form F         cone, cone-bsr, cone-op, cone-2d, st4-v, st8-v, st4-p, st8-p, phantom,\n"
    "                   box, mixed-st or mixed-box (all)\n"
    "  --contacts N     contacts of every problem (drawn from the seed, 1 to 64)\n"
    "  --solver NAME    (auto)\n"
    "  --threads K      (1); the counts do not depend on it\n"
    "  --sample N       compare velocities on every N-th seed, 0 = never (16)\n"
    "  --unique N       ask for the unique answer on every N-th seed (1 = always)\n"
    "  --resume FILE    keep the state there, and continue from it\n"
    "  --keep DIR       write every problem that was not solved, as JSON lines\n"
    "  --json           result as one JSON object\n"
    "  --csv FILE       result as a table\n"
    "\n"
    "Example: rattleback bench corpus --count 10000 --threads 2\n";

typedef struct run {
    campaign_opts o;
    const char *resume, *keep, *csv;
    int json, told;
    int write_failed;
    campaign_result result;
} run;

/* Each finding gets a file of its own name, so that threads and resumed runs do not mix. */
static void keep_problem(run *r, const rb_corpus_problem *p, campaign_finding what)
{
    char path[4096];
    const char *colon = strchr(p->name, ':');
    int stem = (int)(colon - p->name);
    snprintf(path, sizeof path, "%s/%.*s-%s-%s-%s.jsonl", r->keep, stem, p->name, colon + 1,
             p->opts.perturb > 0.0 ? "warm" : "cold", campaign_finding_name(what));
    FILE *file = fopen(path, "w");
    rb_error err = { 0 };
    if (!file || rb_problem_write_json(file, p->name, &p->problem, NULL, &err) != RB_OK)
        r->write_failed = 1;
    if (file && fclose(file) != 0) r->write_failed = 1;
}

static void found(void *ctx, const rb_corpus_problem *p, campaign_finding what, double number)
{
    run *r = ctx;
    if (r->told++ < MAX_REPORTED) {
        bench_progress_end();
        fprintf(stderr, "%s (%s, %d contacts): %s, %.3g\n", p->name,
                p->opts.perturb > 0.0 ? "warm" : "cold", p->nc, campaign_finding_name(what),
                number);
    }
    if (r->keep) keep_problem(r, p, what);
}

/* The state goes to a new file that then takes the place of the old one. */
static int save_state(run *r, const campaign_result *result)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.new", r->resume);
    FILE *file = fopen(path, "w");
    if (!file) return 0;
    int ok = campaign_save(&r->o, result, file) == RB_OK;
    ok = fclose(file) == 0 && ok;
    return ok && rename(path, r->resume) == 0;
}

static int progress(void *ctx, const campaign_result *result)
{
    run *r = ctx;
    bench_progress("campaign", (double)result->done / (double)r->o.count);
    if (r->resume && !save_state(r, result)) r->write_failed = 1;
    return r->write_failed;
}

static void print_row(FILE *out, const char *format, const char *family, const char *form,
                      const campaign_tally *t)
{
    fprintf(out, format, family, form, t->problems, t->solved[0], t->solved[1],
            t->wrong[0] + t->wrong[1], t->uncertified[0] + t->uncertified[1], t->worst[0],
            t->worst[1], campaign_quantile(t, 0, 0.5), campaign_quantile(t, 0, 0.99),
            campaign_quantile(t, 1, 0.5), campaign_quantile(t, 1, 0.99));
}

#define COUNTS "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64

static const char text_row[] = "%-6s %-10s %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %6" PRIu64
                               " %6" PRIu64 "  %8.1e %8.1e %9.1f %9.1f %9.1f %9.1f\n";
static const char csv_row[] = "%s,%s," COUNTS ",%.3e,%.3e,%.2f,%.2f,%.2f,%.2f\n";

/* All rows of the table through one format: per form, per family, and the sum. */
static void print_rows(FILE *out, const char *format, const campaign_result *result, int single)
{
    campaign_tally t;
    for (int f = 0; single && f < RB_CORPUS_FAMILIES; f++)
        for (int k = 0; k < RB_CORPUS_FORMS; k++) {
            campaign_sum(result, f, k, &t);
            if (t.problems)
                print_row(out, format, rb_corpus_family_name(f), rb_corpus_form_name(k), &t);
        }
    for (int k = 0; k < RB_CORPUS_FORMS; k++) {
        campaign_sum(result, -1, k, &t);
        if (t.problems) print_row(out, format, "all", rb_corpus_form_name(k), &t);
    }
    for (int f = 0; f < RB_CORPUS_FAMILIES; f++) {
        campaign_sum(result, f, -1, &t);
        if (t.problems) print_row(out, format, rb_corpus_family_name(f), "all", &t);
    }
    campaign_sum(result, -1, -1, &t);
    print_row(out, format, "all", "all", &t);
}

static const char *const comparison[CAMPAIGN_COMPARISONS] = { "warm/cold", "permuted",
                                                              "other solver" };

static void print_table(const run *r)
{
    campaign_tally t;
    campaign_sum(&r->result, -1, -1, &t);
    printf("solver %s, seeds %" PRIu64 " .. %" PRIu64 ", perturbation %.3g\n\n", r->o.solver->name,
           r->o.first, r->o.first + r->result.done - 1, r->o.perturb);
    printf("%-6s %-10s %9s %9s %9s %6s %6s  %8s %8s %9s %9s %9s %9s\n", "family", "form",
           "problems", "cold ok", "warm ok", "wrong", "uncert", "worst", "warm", "cold p50",
           "cold p99", "warm p50", "warm p99");
    print_rows(stdout, text_row, &r->result, 0);
    printf("\ntimes in us; worst = largest relative residual of an answer called solved\n\n");

    for (int start = 0; start < CAMPAIGN_STARTS; start++) {
        uint64_t islands = 0;
        for (int k = 0; k < RB_RUNG_COUNT; k++) islands += t.rungs[start][k];
        printf("rungs %s:", start ? "warm" : "cold");
        for (int k = 0; k < RB_RUNG_COUNT && islands; k++)
            if (t.rungs[start][k])
                printf("  %s %.2f %%", rb_rung_name(k),
                       100.0 * (double)t.rungs[start][k] / (double)islands);
        printf("\n");
    }
    for (int k = 0; k < CAMPAIGN_COMPARISONS; k++)
        printf("velocities, %-13s %" PRIu64 " of %" PRIu64 " differ by more than 1e-8\n",
               comparison[k], t.differ[k], t.compared[k]);
}

static void print_json(const run *r)
{
    campaign_tally t;
    campaign_sum(&r->result, -1, -1, &t);
    printf("{\"solver\":\"%s\",\"first\":%" PRIu64 ",\"problems\":%" PRIu64
           ",\"solved_cold\":%" PRIu64 ",\"solved_warm\":%" PRIu64 ",\"wrong\":%" PRIu64
           ",\"uncertified\":%" PRIu64 ",\"worst_cold\":%.3e,\"worst_warm\":%.3e",
           r->o.solver->name, r->o.first, t.problems, t.solved[0], t.solved[1],
           t.wrong[0] + t.wrong[1], t.uncertified[0] + t.uncertified[1], t.worst[0], t.worst[1]);
    for (int start = 0; start < CAMPAIGN_STARTS; start++) {
        const char *name = start ? "warm" : "cold";
        printf(",\"%s_us\":{\"p50\":%.2f,\"p90\":%.2f,\"p99\":%.2f},\"rungs_%s\":{", name,
               campaign_quantile(&t, start, 0.5), campaign_quantile(&t, start, 0.9),
               campaign_quantile(&t, start, 0.99), name);
        for (int k = 0; k < RB_RUNG_COUNT; k++)
            printf("%s\"%s\":%" PRIu64, k ? "," : "", rb_rung_name(k), t.rungs[start][k]);
        printf("}");
    }
    printf(",\"compared\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "],\"differ\":[%" PRIu64 ",%" PRIu64
           ",%" PRIu64 "]}\n",
           t.compared[0], t.compared[1], t.compared[2], t.differ[0], t.differ[1], t.differ[2]);
}

static int write_csv(const run *r)
{
    FILE *file = fopen(r->csv, "w");
    if (!file) return 0;
    fprintf(file, "family,form,problems,cold_solved,warm_solved,wrong,uncertified,worst_cold,"
                  "worst_warm,cold_p50_us,cold_p99_us,warm_p50_us,warm_p99_us\n");
    print_rows(file, csv_row, &r->result, 1);
    int ok = !ferror(file);
    return fclose(file) == 0 && ok;
}

/* Words into options; 0 and a sentence where one is not understood. */
static int choose(run *r, const char *family, const char *form, const char *solver)
{
    campaign_opts *o = &r->o;
    if (family && (o->corpus.family = rb_corpus_family_find(family)) < 0) {
        fprintf(stderr, "rattleback bench corpus: there is no family \"%s\"; see --help\n", family);
        return 0;
    }
    if (form && (o->corpus.form = rb_corpus_form_find(form)) < 0) {
        fprintf(stderr, "rattleback bench corpus: there is no form \"%s\"; see --help\n", form);
        return 0;
    }
    o->solver = rb_solver_find(solver);
    if (!o->solver) {
        fprintf(stderr, "rattleback bench corpus: there is no solver \"%s\"\n", solver);
        return 0;
    }
    if (r->keep) {
        mkdir(r->keep, 0777); /* it may exist; errors show when writing */
        struct stat info;
        if (stat(r->keep, &info) != 0 || !S_ISDIR(info.st_mode)) {
            fprintf(stderr, "rattleback bench corpus: cannot make the folder %s\n", r->keep);
            return 0;
        }
    }
    return 1;
}

static int parse(run *r, int argc, char **argv, int *status)
{
    const char *count = "1000", *seed = "1", *threads = "1", *sample = "16", *contacts = "0",
               *unique = "1";
    const char *family = NULL, *form = NULL, *solver = "auto";
    const bench_option options[] = {
        { "--count", &count, NULL },      { "--seed", &seed, NULL },
        { "--family", &family, NULL },    { "--form", &form, NULL },
        { "--solver", &solver, NULL },    { "--threads", &threads, NULL },
        { "--sample", &sample, NULL },    { "--contacts", &contacts, NULL },
        { "--resume", &r->resume, NULL }, { "--keep", &r->keep, NULL },
        { "--unique", &unique, NULL },    { "--csv", &r->csv, NULL },
        { "--json", NULL, &r->json },     { NULL, NULL, NULL },
    };
    if (!bench_parse(argc, argv, options, help, status)) return 0;
    unsigned long long n[6];
    *status = EXIT_BAD_INPUT;
    if (!bench_number("--count", count, 1, 1000000000ULL, &n[0]) ||
        !bench_number("--seed", seed, 0, 1ULL << 62, &n[1]) ||
        !bench_number("--threads", threads, 1, 64, &n[2]) ||
        !bench_number("--sample", sample, 0, 1000000, &n[3]) ||
        !bench_number("--contacts", contacts, 0, 512, &n[4]) ||
        !bench_number("--unique", unique, 1, 1000000, &n[5]))
        return 0;
    r->o.count = n[0];
    r->o.first = n[1];
    r->o.threads = (int)n[2];
    r->o.sample = (int)n[3];
    r->o.corpus.contacts = (int)n[4];
    r->o.unique_every = (int)n[5];
    return choose(r, family, form, solver);
}

/* Continues from the state file where there is one. */
static int load_state(run *r)
{
    FILE *file = r->resume ? fopen(r->resume, "r") : NULL;
    if (!file) return 1;
    rb_status status = campaign_load(&r->o, &r->result, file);
    fclose(file);
    if (status == RB_OK) return 1;
    fprintf(stderr, "rattleback bench corpus: %s is not the state of a run with these options\n",
            r->resume);
    return 0;
}

int bench_corpus(int argc, char **argv)
{
    run *r = calloc(1, sizeof *r);
    if (!r) return EXIT_BAD_INPUT;
    r->o = campaign_opts_default();
    r->o.ctx = r;
    r->o.found = found;
    r->o.progress = progress;
    int status = EXIT_BAD_INPUT;
    if (!parse(r, argc, argv, &status)) goto done;
    if (!load_state(r)) goto done;

    rb_status ran = campaign_run(&r->o, &r->result);
    bench_progress_end();
    if (ran != RB_OK) {
        fprintf(stderr, "rattleback bench corpus: %s\n", rb_status_text(ran));
        goto done;
    }
    if (r->told > MAX_REPORTED) fprintf(stderr, "... and %d more\n", r->told - MAX_REPORTED);
    if (r->json)
        print_json(r);
    else
        print_table(r);
    if (r->csv && !write_csv(r)) r->write_failed = 1;
    if (r->write_failed) {
        fprintf(stderr, "rattleback bench corpus: a file could not be written\n");
        goto done;
    }
    campaign_tally t;
    campaign_sum(&r->result, -1, -1, &t);
    status = t.wrong[0] + t.wrong[1] + t.uncertified[0] + t.uncertified[1] ? EXIT_UNCERTIFIED
                                                                           : EXIT_CERTIFIED;
done:
    free(r);
    return status;
}
