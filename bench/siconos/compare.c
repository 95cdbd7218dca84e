/* compare FOLDER [FRICTION_FILE] [PROBLEMS] [LIMIT]: rattleback beside Siconos numerics, on the
 * same problems, in one run, on one core. Writes the CSV files and FOLDER/siconos.md. */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* OpenBLAS reads its number of threads when it is loaded: set it and start again. */
static void want_one_thread(char **argv)
{
    if (getenv("OPENBLAS_NUM_THREADS")) return;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: compare FOLDER [FRICTION_FILE|-] [PROBLEMS] [LIMIT_SECONDS]\n");
        return 2;
    }
    want_one_thread(argv);
    const char *friction = argc > 2 && strcmp(argv[2], "-") != 0 ? argv[2] : NULL;
    int problems = argc > 3 ? atoi(argv[3]) : 100;
    double limit_s = argc > 4 ? atof(argv[4]) : 20.0;

    char path[4096];
    snprintf(path, sizeof path, "%s/siconos.md", argv[1]);
    FILE *report = fopen(path, "w");
    if (!report) {
        fprintf(stderr, "compare: cannot write %s\n", path);
        return 2;
    }
    int core = trial_pin();
    fprintf(report,
            "# rattleback %s beside Siconos numerics\n\nOne run, pinned to core %d, "
            "smallest of the repeats, problems set up outside the timed part.\n\n",
            RB_VERSION, core);
    int failed = problems > 0 ? compare_lcp(argv[1], report, problems) : 0;
    if (!failed && friction) failed = compare_friction(argv[1], report, friction, limit_s);
    if (!friction) fprintf(report, "\nFriction problems: no file given, skipped.\n");
    if (fclose(report) != 0) failed = 1;
    return failed;
}
