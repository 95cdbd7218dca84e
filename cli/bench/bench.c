/* `rattleback bench`: the campaign, the micro benchmarks and the demonstration. */
#include "bench/bench.h"

#include "clock.h"
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAR_WIDTH 40

/* One kind of bench a line: the help and the messages follow. */
static const struct bench {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} benches[] = {
    { "corpus", "solve a range of generated problems cold and warm, grade and count",
      bench_corpus },
    { "solve", "time every solver on generated problems of 4 to 64 contacts", bench_solve },
    { "dynamics", "time forward dynamics and compliance on chains or a model", bench_dynamics },
    { "step", "time steps of scenes, beside residual and penetration", bench_step },
    { "scenes", "simulate random scenes and look at every step", bench_scenes },
    { "impacts", "resolve random impacts under every law, grade and count", bench_impacts },
    { "vclip", "closest features of hulls, coherent and cold", bench_vclip },
    { "toss", "real tosses of a cube beside simulated ones; fit friction, restitution",
      bench_toss },
    { "square", "measured impacts of a square beside two models; fit and judge", bench_square },
    { "toi", "times of impact of random pairs against dense sampling", bench_toi },
    { "demo", "every solver on stored and generated problems; robots from files", bench_demo },
};
enum { NBENCH = sizeof benches / sizeof *benches };

static void help(void)
{
    printf("usage: rattleback bench ");
    for (int k = 0; k < NBENCH; k++) printf("%s%s", k ? "|" : "", benches[k].name);
    printf(" [options]\n\n");
    for (int k = 0; k < NBENCH; k++) printf("  %-8s %s\n", benches[k].name, benches[k].summary);
    printf("\nEach explains itself with --help. Example: rattleback bench corpus --count 1000\n");
}

int cmd_bench(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "--help";
    for (int k = 0; k < NBENCH; k++)
        if (strcmp(what, benches[k].name) == 0) return benches[k].run(argc - 1, argv + 1);
    if (strcmp(what, "--help") == 0 || strcmp(what, "-h") == 0) {
        help();
        return EXIT_CERTIFIED;
    }
    fprintf(stderr, "rattleback bench: there is no \"%s\"; try ", what);
    for (int k = 0; k < NBENCH; k++)
        fprintf(stderr, "%s%s", k == 0 ? "" : k + 1 < NBENCH ? ", " : " or ", benches[k].name);
    fputc('\n', stderr);
    return EXIT_BAD_INPUT;
}

static const bench_option *find_option(const bench_option *options, const char *name)
{
    for (; options->name; options++)
        if (strcmp(options->name, name) == 0) return options;
    return NULL;
}

int bench_parse(int argc, char **argv, const bench_option *options, const char *text, int *status)
{
    *status = EXIT_BAD_INPUT;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(text, stdout);
            *status = EXIT_CERTIFIED;
            return 0;
        }
        const bench_option *o = find_option(options, argv[i]);
        if (!o) {
            fprintf(stderr, "rattleback bench %s: unknown option \"%s\"; see --help\n", argv[0],
                    argv[i]);
            return 0;
        }
        if (o->flag) {
            *o->flag = 1;
        } else if (i + 1 < argc) {
            *o->text = argv[++i];
        } else {
            fprintf(stderr, "rattleback bench %s: %s needs a value\n", argv[0], argv[i]);
            return 0;
        }
    }
    return 1;
}

int bench_number(const char *option, const char *text, unsigned long long lo, unsigned long long hi,
                 unsigned long long *value)
{
    char *end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    int ok = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
    if (ok && *value >= lo && *value <= hi) return 1;
    fprintf(stderr, "rattleback bench: %s \"%s\" is not a whole number in %llu .. %llu\n", option,
            text, lo, hi);
    return 0;
}

int bench_accuracy(const char *text, rb_accuracy *out)
{
    if (!text || rb_accuracy_find(text, out)) return 1;
    fprintf(stderr, "rattleback bench: --accuracy \"%s\": expected standard, strict or fast\n",
            text);
    return 0;
}

int bench_find_shared(const char *file, char *path, size_t size)
{
    const char *shared = getenv("RATTLEBACK_SHARED");
    const char *roots[] = { shared, "../shared", "../../shared", "shared" };
    for (size_t k = 0; k < sizeof roots / sizeof roots[0]; k++) {
        if (!roots[k] || !*roots[k]) continue;
        static const char *const forms[] = { "%s/data/%s", "%s/%s" };
        for (int f = 0; f < 2; f++) {
            snprintf(path, size, f == 0 ? forms[0] : forms[1], roots[k], file);
            FILE *there = fopen(path, "r");
            if (!there) continue;
            fclose(there);
            return 1;
        }
    }
    return 0;
}

double bench_now_us(void)
{
    return 1e6 * wall_seconds();
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *times, size_t count)
{
    if (count == 0) return 0.0;
    qsort(times, count, sizeof *times, by_size);
    return times[count / 2];
}

void bench_progress(const char *what, double share)
{
    if (!isatty(STDERR_FILENO)) return;
    int full = (int)(share * BAR_WIDTH);
    fprintf(stderr, "\r%-24.24s [", what);
    for (int k = 0; k < BAR_WIDTH; k++) fputc(k < full ? '#' : ' ', stderr);
    fprintf(stderr, "] %5.1f %%", 100.0 * share);
    fflush(stderr);
}

void bench_progress_end(void)
{
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r%*s\r", BAR_WIDTH + 40, "");
}
