/* Runs one scene on the engine this program is linked with and prints a line of JSON.
 *
 *   peer_ENGINE SCENE.xml [--setting S] [--step H] [--time T] [--repeats N] [--limit SECONDS]
 *               [--every N] [--speeds FILE]
 *   peer_ENGINE --settings
 *
 * Only the step is timed, servo torques included. The runs are deterministic, so a step is worth
 * the smallest time any repeat took for it; what is printed is the sum, or the processor time of a
 * whole repeat where that is less (on a busy machine). What a library prints to standard output is
 * thrown away. */
#define _POSIX_C_SOURCE 200809L
#include "peer.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SAMPLE_MANY 10 /* steps between measurements where there are many bodies */
enum { MANY = 300, SHOWN = 4 };

typedef struct run {
    const peer_scene *scene;
    const char *setting;
    int repeats;
    int every;    /* steps between measurements             */
    FILE *speeds; /* velocities of the first two bodies, or NULL */
    double limit; /* [s] of stepping                        */
    double *best; /* smallest time of each step [s] (steps) */
    double cpu;   /* smallest processor time of a repeat that did nothing but step [s] */
    long steps, done;
    double contacts;
    int gave_up, cut, repeated;
    peer_metrics k;
    peer_state *x;
    char why[256];
} run;

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

static void put_speeds(const run *r, double t)
{
    if (!r->speeds) return;
    fprintf(r->speeds, "%.17g", t);
    for (int i = 0; i < 2 && i < r->scene->nbody; i++)
        for (int k = 0; k < 3; k++) fprintf(r->speeds, ",%.17g", r->x[i].v[k]);
    fputc('\n', r->speeds);
}

/* One run from the start; the first one measures. 0: the engine refused. */
static int run_once(run *r, int first)
{
    const peer_engine *e = &peer_engine_here;
    const peer_scene *s = r->scene;
    void *sim = e->make(s, r->setting, r->why, sizeof r->why);
    if (!sim) return 0;
    int every = r->every ? r->every : s->nbody > MANY ? SAMPLE_MANY : 1;
    long last = first ? r->steps : r->done, k = 0;
    double total = 0.0, cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
    if (first) {
        e->read(sim, r->x);
        peer_measure(s, r->x, 0.0, &r->k);
    }
    while (k < last && !r->k.lost) {
        double begin = now();
        int ok = e->step(sim);
        double spent = now() - begin;
        if (!ok) {
            r->gave_up = 1;
            break;
        }
        total += spent;
        if (first || spent < r->best[k]) r->best[k] = spent;
        k++;
        if (!first) continue;
        r->contacts += e->contacts(sim);
        if (total > r->limit) r->cut = 1;
        if (k % every == 0 || k == last || r->cut) {
            e->read(sim, r->x);
            peer_measure(s, r->x, (double)k * s->h, &r->k);
            put_speeds(r, (double)k * s->h);
        }
        if (r->cut) break;
    }
    cpu = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
    if (first) r->done = k;
    if (!first) r->cpu = r->repeated == 1 ? cpu : fmin(r->cpu, cpu);
    r->repeated++;
    e->release(sim);
    return 1;
}

static void run_all(run *r)
{
    double begin = now();
    if (!run_once(r, 1)) return;
    double once = now() - begin;
    for (int k = 1; k < r->repeats && !r->cut && !r->gave_up && !r->k.lost; k++) {
        if (once * (k + 1) > r->limit) break;
        if (!run_once(r, 0)) break;
    }
}

static double time_per_step(const run *r)
{
    double sum = 0.0;
    for (long k = 0; k < r->done; k++) sum += r->best[k];
    if (r->repeated > 1) sum = fmin(sum, r->cpu);
    return r->done ? 1e6 * sum / (double)r->done : 0.0;
}

static void put_body(FILE *out, const char *before, const peer_state *x)
{
    fprintf(out, "%s[%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g]", before, x->p[0], x->p[1], x->p[2],
            x->q[0], x->q[1], x->q[2], x->q[3]);
}

/* Of the last body: how far it is from where it began [m], and how much it leans [rad]. */
static void put_drift(FILE *out, const run *r)
{
    int i = r->scene->nbody - 1;
    double d[3], up[3] = { 0.0, 0.0, 1.0 }, z[3];
    for (int k = 0; k < 3; k++) d[k] = r->x[i].p[k] - r->scene->body[i].pos[k];
    peer_turn(r->x[i].q, up, z);
    fprintf(out, ",\"drift\":%.4g,\"tilt\":%.4g", sqrt(peer_dot(d, d)), hypot(z[0], z[1]));
}

static void print(const run *r, FILE *out)
{
    const peer_engine *e = &peer_engine_here;
    const peer_metrics *k = &r->k;
    fprintf(out, "{\"engine\":\"%s\",\"version\":\"%s\",\"setting\":\"%s\",\"scene\":\"%s\"",
            e->name, e->version(), r->setting, r->scene->name);
    fprintf(out, ",\"h\":%.9g", r->scene->h);
    if (!r->repeated) {
        fprintf(out, ",\"refused\":\"%s\"}\n", r->why);
        return;
    }
    fprintf(out, ",\"time\":%.9g,\"steps\":%ld,\"repeats\":%d,\"us\":%.4g,\"contacts\":%.4g",
            (double)r->done * r->scene->h, r->done, r->repeated, time_per_step(r),
            r->done ? r->contacts / (double)r->done : 0.0);
    fprintf(out, ",\"cut\":%d,\"gave_up\":%d,\"lost\":%d", r->cut, r->gave_up, k->lost);
    fprintf(out, ",\"pen_max\":%.4g,\"pen_mean\":%.4g,\"pen_end\":%.4g,\"touched\":%.6g",
            fmax(0.0, k->pen_max), k->pen_sum / (double)k->samples, k->pen_end, k->touched);
    fprintf(out, ",\"E_start\":%.9g,\"E_end\":%.9g,\"E_made\":%.4g,\"E_lost_free\":%.4g",
            k->E_start, k->E_end, k->E_made, k->E_lost_free);
    fprintf(out, ",\"E_dev_free\":%.4g,\"joint_max\":%.4g,\"path\":%.7g,\"speed_end\":%.4g",
            k->E_dev_free, k->joint_max, k->path, k->speed_end);
    fprintf(out, ",\"E_square\":%.4g,\"pen_square\":%.4g", k->E_square / (double)k->samples,
            k->pen_square / (double)k->samples);
    put_drift(out, r);
    for (int i = 0; i < r->scene->nbody && i < SHOWN; i++)
        put_body(out, i ? "," : ",\"bodies\":[", &r->x[i]);
    fputs("]}\n", out);
}

static FILE *silence_stdout(void)
{
    FILE *out = fdopen(dup(STDOUT_FILENO), "w");
    int nowhere = open("/dev/null", O_WRONLY);
    if (!out || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0) return stdout;
    close(nowhere);
    return out;
}

static int run_scene(peer_scene *s, run *r)
{
    FILE *out = silence_stdout();
    r->scene = s;
    r->steps = lround(s->T / s->h);
    r->best = calloc((size_t)r->steps + 1, sizeof *r->best);
    r->x = calloc((size_t)s->nbody + 1, sizeof *r->x);
    int ok = r->best && r->x;
    if (ok) {
        run_all(r);
        print(r, out);
        fflush(out);
    }
    free(r->best);
    free(r->x);
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--settings") == 0) {
        for (const char *const *s = peer_engine_here.settings; *s; s++) puts(*s);
        return 0;
    }
    run r = { .setting = peer_engine_here.settings[0], .repeats = 3, .limit = 10.0 };
    peer_scene *s = argc > 1 ? peer_scene_read(argv[1]) : NULL;
    if (!s) return 2;
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--setting") == 0) r.setting = argv[i + 1];
        if (strcmp(argv[i], "--step") == 0) s->h = atof(argv[i + 1]);
        if (strcmp(argv[i], "--time") == 0) s->T = atof(argv[i + 1]);
        if (strcmp(argv[i], "--repeats") == 0) r.repeats = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--limit") == 0) r.limit = atof(argv[i + 1]);
        if (strcmp(argv[i], "--every") == 0) r.every = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--speeds") == 0) r.speeds = fopen(argv[i + 1], "w");
    }
    int status = run_scene(s, &r);
    if (r.speeds) fclose(r.speeds);
    peer_scene_free(s);
    return status;
}
