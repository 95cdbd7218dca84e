/* Child processes, pinning and time. */
#define _GNU_SOURCE
#include "harness.h"

#include "corpus_grade.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the child leaves behind; z follows. */
typedef struct shared {
    int repeats; /* complete solves */
    double us;
    double z[];
} shared;

double trial_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

const char *trial_name(trial_state state)
{
    static const char *const names[] = { "ran", "timeout", "crashed" };
    return names[state];
}

int trial_pin(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return -1;
    size_t core = 0;
    for (size_t k = 0; k < CPU_SETSIZE; k++)
        if (CPU_ISSET(k, &set)) core = k;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0 ? (int)core : -1;
}

/* Siconos prints; nobody shall read it. */
static void be_silent(void)
{
    int null = open("/dev/null", O_WRONLY);
    if (null < 0) return;
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(null);
}

static void run_child(trial_solve solve, void *ctx, int n, trial_limits limits, shared *out)
{
    be_silent();
    struct itimerval timer = { 0 };
    timer.it_value.tv_sec = (time_t)limits.limit_s;
    timer.it_value.tv_usec = (suseconds_t)(1e6 * (limits.limit_s - floor(limits.limit_s)));
    signal(SIGALRM, SIG_DFL);
    setitimer(ITIMER_REAL, &timer, NULL);

    /* one process for all repeats: caches and arenas are warm from the second on */
    double start = trial_now_us();
    for (int k = 0; k < limits.repeats; k++) {
        if (k > 0 && trial_now_us() - start > 1e6 * limits.budget_s) break;
        double us = 0.0;
        static double *z = NULL;
        if (!z)
            z = mmap(NULL, (size_t)n * sizeof *z, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (z == MAP_FAILED) _exit(3);
        memset(z, 0, (size_t)n * sizeof *z);
        solve(ctx, z, &us);
        if (k == 0) memcpy(out->z, z, (size_t)n * sizeof *z);
        out->us = k == 0 ? us : fmin(out->us, us);
        out->repeats = k + 1;
    }
    _exit(0);
}

trial trial_run(trial_solve solve, void *ctx, const rb_problem *graded, trial_limits limits,
                double *z)
{
    trial t = { TRIAL_CRASHED, INFINITY, INFINITY, 0 };
    size_t bytes = sizeof(shared) + (size_t)graded->n * sizeof(double);
    shared *out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (out == MAP_FAILED) return t;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) run_child(solve, ctx, graded->n, limits, out);
    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) == child) {
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) t.state = TRIAL_TIMEOUT;
        t.repeats = out->repeats;
        if (out->repeats > 0) {
            t.state = TRIAL_RAN;
            t.us = out->us;
            memcpy(z, out->z, (size_t)graded->n * sizeof *z);
            t.grade = rb_grade(graded, z);
        }
    }
    munmap(out, bytes);
    return t;
}
