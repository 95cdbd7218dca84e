/* Runs of `rattleback run` for the experiments: the command as a user would give it, in a process
 * of its own, its summary and record read back from their files. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "reproduce/reproduce.h"
#include "reproduce/text_file.h"

enum { MOST_WORDS = 64, PATH_SIZE = 4096 };

/* ---- a process --------------------------------------------------------------------------------
 */

static int redirect(int to, const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || dup2(file, to) < 0) return 0;
    return close(file) == 0;
}

/* Processor time of all processes that ended so far [s]. */
static double children_time(void)
{
    struct rusage used = { 0 };
    getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* trial_command, and the processor time it took [s] */
static int timed_command(int (*command)(int argc, char **argv), char **argv, const char *out,
                         const char *err, double *cpu)
{
    int argc = 0;
    while (argv[argc]) argc++;
    double before = children_time();
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
        int status = EXIT_BAD_INPUT;
        if (redirect(STDOUT_FILENO, out) && redirect(STDERR_FILENO, err))
            status = command(argc, argv);
        if (fflush(NULL) != 0) status = EXIT_BAD_INPUT;
        _exit(status);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    *cpu = children_time() - before;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int trial_command(int (*command)(int argc, char **argv), char **argv, const char *out,
                  const char *err)
{
    double cpu;
    return timed_command(command, argv, out, err, &cpu);
}

/* ---- the summary ------------------------------------------------------------------------------
 */

/* A number of the summary, an object that this program wrote. */
static double number(const char *summary, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(summary, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : 0.0;
}

static int read_summary(trial *t, const char *path)
{
    char *text = text_file_read(path);
    if (!text) return 0;
    t->steps = (int)number(text, "steps");
    t->contacts_max = (int)number(text, "contacts_max");
    t->rows_max = (int)number(text, "rows_max");
    t->failures = (int)number(text, "failures");
    t->impacts = (int)number(text, "impacts");
    t->events = (int)number(text, "events");
    t->resolved = (int)number(text, "resolved");
    t->shifts = (int)number(text, "shifts");
    t->micros = (int)number(text, "micro_collisions");
    t->time = number(text, "time");
    t->wall = number(text, "wall");
    t->contacts_mean = number(text, "contacts_mean");
    t->residual_max = number(text, "residual_max");
    t->penetration_max = number(text, "penetration_max");
    t->loop_error_max = number(text, "loop_error_max");
    t->energy_start = number(text, "energy_start");
    t->energy_end = number(text, "energy_end");
    t->energy_created_max = number(text, "energy_created_max");
    free(text);
    return 1;
}

/* ---- a run ------------------------------------------------------------------------------------
 */

static void report_failure(reproduce *r, char **argv, const char *err)
{
    r->failed = 1;
    fputs("reproduce: rattleback", stderr);
    for (; *argv; argv++) fprintf(stderr, " %s", *argv);
    fputs("\n", stderr);
    char *text = text_file_read(err);
    if (text) fputs(text, stderr);
    free(text);
}

/* A page of this run in the folder of pages, noted: its path, or NULL where none is wanted. */
static char *note_page(reproduce *r, const char *name, const char *scene, const char *options,
                       char *path, size_t size)
{
    if (!r->html || r->npage == REPRODUCE_PAGES) return NULL;
    const char *base = strrchr(scene, '/');
    char *file = r->page[r->npage].file;
    size_t room = sizeof r->page->file;
    snprintf(file, room, "%03d-%.60s.html", r->npage + 1, name ? name : base ? base + 1 : scene);
    for (char *c = file; *c; c++)
        if (*c == '/' || *c == ' ') *c = '-';
    snprintf(r->page[r->npage].title, sizeof r->page->title, "%s %s", scene, options);
    snprintf(path, size, "%s/%s", r->html, file);
    r->npage++;
    return path;
}

int trial_run(reproduce *r, trial *t, const char *name, const char *scene, const char *options, ...)
{
    char model[PATH_SIZE], record[PATH_SIZE], out[PATH_SIZE], err[PATH_SIZE], words[PATH_SIZE];
    char page[PATH_SIZE];
    char *argv[MOST_WORDS + 12] = { "run", model, "--json", "--accuracy", "strict" };
    char *kept[MOST_WORDS + 12];
    int argc = 5;
    *t = (trial){ 0 };
    snprintf(model, sizeof model, "%s/%s", r->scenes, scene);
    snprintf(record, sizeof record, "%s/%s.csv", r->out, name ? name : "");
    snprintf(out, sizeof out, "%s/run.json", r->out);
    snprintf(err, sizeof err, "%s/run.err", r->out);
    va_list list;
    va_start(list, options);
    vsnprintf(words, sizeof words, options, list);
    va_end(list);
    char *shown = note_page(r, name, scene, words, page, sizeof page);
    for (char *word = strtok(words, " "); word && argc < MOST_WORDS; word = strtok(NULL, " "))
        argv[argc++] = word;
    if (name) {
        argv[argc++] = "--record";
        argv[argc++] = record;
    }
    if (shown) {
        argv[argc++] = "--html";
        argv[argc++] = shown;
    }
    argv[argc] = NULL;

    /* the reader of the command line moves its words */
    memcpy(kept, argv, sizeof kept);
    int status = timed_command(cmd_run, argv, out, err, &t->cpu);
    if (status != EXIT_CERTIFIED || !read_summary(t, out) ||
        (name && !trajectory_read(&t->path, record))) {
        report_failure(r, kept, err);
        return 0;
    }
    return 1;
}

double trial_first_contact(const reproduce *r)
{
    char path[PATH_SIZE];
    double time = NAN;
    snprintf(path, sizeof path, "%s/run.err", r->out);
    char *text = text_file_read(path);
    const char *at = text ? strstr(text, "t = ") : NULL;
    if (at) time = strtod(at + 4, NULL);
    free(text);
    return time;
}

void trial_free(trial *t)
{
    trajectory_free(&t->path);
}
