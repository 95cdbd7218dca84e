/* `rattleback bench impacts`: random impacts of every family under the three laws, certified. */
#include "bench/bench.h"

#include "clock.h"
#include "commands.h"
#include "impact_cases.h"

#include <math.h>
#include <stdio.h>

static const char help[] =
    "usage: rattleback bench impacts [--count N] [--seed S] [--json]\n"
    "\n"
    "Resolves N random impacts, spread over the families (free bodies, rods, planar, spheres,\n"
    "grazing, without slip, extreme numbers, points that joints hold) and the three laws of\n"
    "restitution. Each answer is graded from its impulse alone: friction cone, no approach, no\n"
    "energy created (Poisson, Stronge), the law kept. With e = 0 the laws must agree.\n"
    "\n"
    "  --count N   impacts (1000000)\n"
    "  --seed S    first seed (1)\n"
    "  --json      one JSON object\n"
    "\n"
    "exit status: 0 every answer is certified, 1 some is not\n"
    "\n"
    "Example: rattleback bench impacts --count 100000\n";

static const char *const laws[3] = { "poisson", "newton", "stronge" };

typedef struct grade {
    long count, uncertified, refused, created, again;
    int steps; /* most */
    double cone, approach, law, energy;
    double us; /* processor time of all solves */
} grade;

static void grade_one(const rb_impact *in, rb_status status, const rb_impact_result *out, grade *g)
{
    rb_impact_certificate cert;
    g->count++;
    if (status != RB_OK) {
        g->refused++;
        return;
    }
    g->uncertified += !rb_impact_certify(in, out, &cert);
    g->created += cert.energy > RB_IMPACT_TOL;
    g->again += out->rounds > 1;
    if (out->steps > g->steps) g->steps = out->steps;
    g->cone = fmax(g->cone, cert.cone);
    g->approach = fmax(g->approach, cert.approach);
    g->law = fmax(g->law, cert.law);
    g->energy = fmax(g->energy, cert.energy);
}

/* Largest difference of the impulses, relative. */
static double apart(const rb_impact_result *a, const rb_impact_result *b)
{
    double most = 0.0, size = 0.0;
    for (int i = 0; i < 3; i++) {
        most = fmax(most, fabs(a->p[i] - b->p[i]));
        size = fmax(size, fabs(a->p[i]));
    }
    return size > 0.0 ? most / size : most;
}

/* A batch: solved under one law and timed, then graded. */
enum { BATCH = 1024 };

typedef struct batch {
    int count;
    rb_impact in[BATCH];
    rb_impact_result out[3][BATCH];
    rb_status status[BATCH];
} batch;

static void run_law(batch *b, int law, grade *g)
{
    for (int i = 0; i < b->count; i++) b->in[i].law = (rb_restitution_law)law;
    double begin = 1e6 * processor_seconds();
    for (int i = 0; i < b->count; i++) b->status[i] = rb_impact_solve(&b->in[i], &b->out[law][i]);
    g->us += 1e6 * processor_seconds() - begin;
    for (int i = 0; i < b->count; i++) grade_one(&b->in[i], b->status[i], &b->out[law][i], g);
}

/* Without restitution the laws are one. */
static double difference_of_laws(const batch *b)
{
    double most = 0.0;
    for (int i = 0; i < b->count; i++)
        if (b->in[i].e == 0.0 && b->out[0][i].rounds)
            most = fmax(most, fmax(apart(&b->out[0][i], &b->out[1][i]),
                                   apart(&b->out[0][i], &b->out[2][i])));
    return most;
}

static void print(int family, int law, const grade *g, int json, int first)
{
    if (json) {
        printf("%s{\"family\":\"%s\",\"law\":\"%s\",\"count\":%ld,\"uncertified\":%ld,"
               "\"refused\":%ld,\"energy_created\":%ld,\"again\":%ld,\"steps_max\":%d,"
               "\"cone\":%.3g,\"approach\":%.3g,\"law_error\":%.3g,\"energy_max\":%.3g,"
               "\"time_us\":%.3f}",
               first ? "" : ",", impact_family_name(family), laws[law], g->count, g->uncertified,
               g->refused, g->created, g->again, g->steps, g->cone, g->approach, g->law, g->energy,
               g->us / (double)g->count);
        return;
    }
    if (first)
        printf("%-8s %-8s %9s %9s %8s %8s %6s %6s %8s %8s %8s %9s %7s\n", "family", "law", "count",
               "uncertif.", "refused", "created", "again", "steps", "cone", "approach", "law",
               "energy", "us");
    printf("%-8s %-8s %9ld %9ld %8ld %8ld %6ld %6d %8.1e %8.1e %8.1e %9.1e %7.2f\n",
           impact_family_name(family), laws[law], g->count, g->uncertified, g->refused, g->created,
           g->again, g->steps, g->cone, g->approach, g->law, g->energy, g->us / (double)g->count);
}

int bench_impacts(int argc, char **argv)
{
    const char *count_text = "1000000", *seed_text = "1";
    int json = 0, status, nfamily = 0;
    unsigned long long count, seed;
    const bench_option options[] = { { "--count", &count_text, NULL },
                                     { "--seed", &seed_text, NULL },
                                     { "--json", NULL, &json },
                                     { NULL, NULL, NULL } };
    if (!bench_parse(argc, argv, options, help, &status)) return status;
    if (!bench_number("--count", count_text, 1, 1000000000ULL, &count) ||
        !bench_number("--seed", seed_text, 0, 1ULL << 40, &seed))
        return EXIT_BAD_INPUT;
    while (impact_family_name(nfamily)) nfamily++;

    long failures = 0;
    double differ = 0.0, us = 0.0;
    static batch b;
    unsigned long long each = (count + 3ULL * (unsigned)nfamily - 1) / (3ULL * (unsigned)nfamily);
    if (json) printf("{\"families\":[");
    for (int family = 0; family < nfamily; family++) {
        grade g[3] = { { 0 } };
        for (unsigned long long k = 0; k < each; k += BATCH) {
            b.count = (int)(each - k < BATCH ? each - k : BATCH);
            for (int i = 0; i < b.count; i++) impact_case(family, seed + k + (unsigned)i, &b.in[i]);
            for (int law = 0; law < 3; law++) run_law(&b, law, &g[law]);
            differ = fmax(differ, difference_of_laws(&b));
        }
        for (int law = 0; law < 3; law++) {
            print(family, law, &g[law], json, family == 0 && law == 0);
            failures += g[law].uncertified + g[law].refused;
            us += g[law].us;
        }
        bench_progress("impacts", (double)(family + 1) / nfamily);
    }
    bench_progress_end();
    double mean = us / (double)(3 * each * (unsigned)nfamily);
    int ok = failures == 0 && differ <= RB_IMPACT_TOL;
    if (json)
        printf("],\"impacts\":%llu,\"failures\":%ld,\"laws_differ_at_e0\":%.3g,\"time_us\":%.3f}\n",
               3 * each * (unsigned)nfamily, failures, differ, mean);
    else
        printf("%llu impacts, %ld failures, %.2f us each; e = 0: the laws agree to %.1e\n",
               3 * each * (unsigned)nfamily, failures, mean, differ);
    return ok ? EXIT_CERTIFIED : EXIT_UNCERTIFIED;
}
