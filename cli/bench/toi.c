/* `rattleback bench toi`: times of impact of random moving pairs against dense looking. */
#include "bench/bench.h"

#include "clock.h"
#include "commands.h"
#include "toi_cases.h"

#include <math.h>
#include <stdio.h>

static const char help[] =
    "usage: rattleback bench toi [--count N] [--seed S] [--samples K] [--json]\n"
    "\n"
    "N pairs of random convex shapes (spheres, capsules, boxes, cylinders, ellipsoids, hulls,\n"
    "planes) fly past or into each other for 1 s, turning, some at 100 m/s, some 1 um thin. The\n"
    "time of impact is compared with that found by looking at K times and bisection.\n"
    "\n"
    "  --count N     pairs (100000)\n"
    "  --seed S      first seed (1)\n"
    "  --samples K   times that are looked at (100)\n"
    "  --json        one JSON object\n"
    "\n"
    "exit status: 0 no time was late or more than 1 ns early, 1 some was\n"
    "\n"
    "Example: rattleback bench toi --count 2000\n";

#define HORIZON 1.0 /* [s] */

/* Rounding of the times that are compared, and of the gap of a hit [s], [m]. */
#define TIME_ROUNDING 1e-11
#define GAP_ROUNDING  1e-11

typedef struct score {
    long hits, misses, overlaps, grazes, late, early, wrong, unseen;
    double steps, us, worst;
} score;

static void one(const rb_model *hulls, uint64_t seed, int samples, score *s)
{
    toi_case c;
    rb_toi toi;
    toi_case_make(hulls, seed, &c);
    double begin = 1e6 * processor_seconds();
    rb_status status =
        rb_toi_shapes(&c.shape[0], &c.flight[0], &c.shape[1], &c.flight[1], HORIZON, &toi);
    s->us += 1e6 * processor_seconds() - begin;
    if (status != RB_OK) {
        s->wrong++;
        return;
    }
    s->steps += toi.steps;
    if (toi.outcome == RB_TOI_OVERLAP) {
        s->overlaps++;
        s->wrong += toi_case_gap(&c, 0.0) > GAP_ROUNDING;
        return;
    }
    double slow = toi_case_slow(&c, HORIZON, samples);
    s->late += toi.time > slow + TIME_ROUNDING;
    s->grazes += toi.outcome == RB_TOI_GRAZES;
    s->misses += toi.outcome == RB_TOI_NONE;
    if (toi.outcome != RB_TOI_HIT) return;
    s->hits++;
    s->wrong += toi_case_gap(&c, toi.late) > GAP_ROUNDING; /* they do touch within the nanosecond */
    if (isinf(slow) || slow > toi.late + TIME_ROUNDING) {
        s->unseen++; /* in and out again between two samples */
        return;
    }
    s->worst = fmax(s->worst, slow - toi.time);
    s->early += slow - toi.time > RB_TOI_PRECISION + TIME_ROUNDING;
}

int bench_toi(int argc, char **argv)
{
    const char *count_text = "100000", *seed_text = "1", *samples_text = "100";
    int json = 0, status;
    unsigned long long count, seed, samples;
    const bench_option options[] = { { "--count", &count_text, NULL },
                                     { "--seed", &seed_text, NULL },
                                     { "--samples", &samples_text, NULL },
                                     { "--json", NULL, &json },
                                     { NULL, NULL, NULL } };
    if (!bench_parse(argc, argv, options, help, &status)) return status;
    if (!bench_number("--count", count_text, 1, 1000000000ULL, &count) ||
        !bench_number("--seed", seed_text, 0, 1ULL << 40, &seed) ||
        !bench_number("--samples", samples_text, 1, 1000000ULL, &samples))
        return EXIT_BAD_INPUT;
    rb_model *hulls = toi_hulls();
    if (!hulls) {
        fputs("rattleback bench toi: out of memory\n", stderr);
        return EXIT_BAD_INPUT;
    }
    score s = { 0 };
    for (unsigned long long k = 0; k < count; k++) {
        one(hulls, seed + k, (int)samples, &s);
        if (k % 256 == 0) bench_progress("time of impact", (double)k / (double)count);
    }
    bench_progress_end();
    rb_model_free(hulls, NULL);
    double n = (double)count;
    if (json)
        printf("{\"pairs\":%llu,\"hits\":%ld,\"misses\":%ld,\"overlaps\":%ld,\"grazes\":%ld,"
               "\"late\":%ld,\"early\":%ld,\"wrong\":%ld,\"unseen\":%ld,\"worst_early\":%.3g,"
               "\"steps\":%.2f,\"time_us\":%.2f}\n",
               count, s.hits, s.misses, s.overlaps, s.grazes, s.late, s.early, s.wrong, s.unseen,
               s.worst, s.steps / n, s.us / n);
    else
        printf("%llu pairs: %ld hits, %ld misses, %ld overlap at the start, %ld graze\n"
               "%ld late, %ld more than 1 ns early (worst %.2g s), %ld wrong; %ld hits lay between "
               "two looks of the slow method\n"
               "%.1f gaps and %.1f us each\n",
               count, s.hits, s.misses, s.overlaps, s.grazes, s.late, s.early, s.worst, s.wrong,
               s.unseen, s.steps / n, s.us / n);
    return s.late || s.early || s.wrong ? EXIT_UNCERTIFIED : EXIT_CERTIFIED;
}
