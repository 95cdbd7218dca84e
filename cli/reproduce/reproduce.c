/* `rattleback reproduce`: lists the experiments of the papers and runs them. */
#include "clock.h"
#include "reproduce/reproduce.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arguments.h"
#include "commands.h"
#include "json.h"

typedef struct experiment {
    const char *name, *summary;
    void (*run)(reproduce *r);
} experiment;

static const experiment experiments[] = {
    { "rod", "falling rod, Painleve's paradox [Stewart & Trinkle 2000]", reproduce_rod },
    { "balls", "four balls, Table 1, impulse cascade [Stewart & Trinkle 2000]", reproduce_balls },
    { "pendulum", "n-link pendulum, Table I, Figure 2 [Jain 2012]", reproduce_pendulum },
    { "cube", "sliding cube, five friction models [Peiret 2017]", reproduce_cube },
    { "impulse", "nine simulations by impulses, Table 1 [Mirtich 1995]", reproduce_impulse },
};
enum { NEXPERIMENT = sizeof experiments / sizeof *experiments };

/* ---- what experiments use ---------------------------------------------------------------------
 */

void reproduce_say(const reproduce *r, const char *format, ...)
{
    if (r->json) return;
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}

static int holds(const reproduce_check *c)
{
    return fabs(c->value - c->expected) <= c->bound;
}

int reproduce_near(reproduce *r, double value, double expected, double bound, const char *name, ...)
{
    reproduce_check c = { .value = value, .expected = expected, .bound = bound };
    va_list list;
    va_start(list, name);
    vsnprintf(c.name, sizeof c.name, name, list);
    va_end(list);
    if (r->ncheck < REPRODUCE_CHECKS) r->check[r->ncheck++] = c;
    return holds(&c);
}

const char *reproduce_figure(reproduce *r, const char *name, char *path, size_t size)
{
    if (r->nfigure < REPRODUCE_FIGURES)
        snprintf(r->figure[r->nfigure++], sizeof *r->figure, "%s", name);
    snprintf(path, size, "%s/%s", r->out, name);
    return path;
}

/* ---- reports ----------------------------------------------------------------------------------
 */

static int missed(const reproduce *r)
{
    int count = 0;
    for (int k = 0; k < r->ncheck; k++) count += !holds(&r->check[k]);
    return count;
}

static void report_json(const reproduce *r, const experiment *e, double seconds)
{
    json j = { .out = stdout };
    json_begin(&j, NULL);
    json_text(&j, "name", e->name);
    json_number(&j, "seconds", seconds);
    json_int(&j, "failed", r->failed);
    json_int(&j, "missed", missed(r));
    json_begin_list(&j, "figures");
    for (int k = 0; k < r->nfigure; k++) json_text(&j, NULL, r->figure[k]);
    json_end_list(&j);
    json_begin_list(&j, "checks");
    for (int k = 0; k < r->ncheck; k++) {
        const reproduce_check *c = &r->check[k];
        json_begin(&j, NULL);
        json_text(&j, "name", c->name);
        json_number(&j, "value", c->value);
        json_number(&j, "expected", c->expected);
        json_number(&j, "bound", c->bound);
        json_int(&j, "holds", holds(c));
        json_end(&j);
    }
    json_end_list(&j);
    json_end(&j);
}

static void report_text(const reproduce *r, double seconds)
{
    printf("\n%d checks, %d missed%s; %.1f s\n", r->ncheck, missed(r),
           r->failed ? ", and a run failed" : "", seconds);
    for (int k = 0; k < r->ncheck; k++) {
        const reproduce_check *c = &r->check[k];
        if (!holds(c))
            printf("  missed: %s: %.6g, expected %.6g within %.3g\n", c->name, c->value,
                   c->expected, c->bound);
    }
    for (int k = 0; k < r->nfigure; k++) printf("  %s/%s\n", r->out, r->figure[k]);
    putchar('\n');
}

static int run_experiment(reproduce *r, const experiment *e)
{
    double start = wall_seconds();
    r->failed = r->ncheck = r->nfigure = 0;
    reproduce_say(r, "== %s: %s\n\n", e->name, e->summary);
    e->run(r);
    if (r->json)
        report_json(r, e, wall_seconds() - start);
    else
        report_text(r, wall_seconds() - start);
    fflush(stdout);
    return r->failed || missed(r) ? EXIT_UNCERTIFIED : EXIT_CERTIFIED;
}

/* ---- the command ------------------------------------------------------------------------------
 */

typedef struct options {
    const char *out, *scenes, *html;
    int json, brief, help;
} options;

static int set_out(void *to, const char *text)
{
    ((options *)to)->out = text;
    return 1;
}

static int set_scenes(void *to, const char *text)
{
    ((options *)to)->scenes = text;
    return 1;
}

static int set_html(void *to, const char *text)
{
    ((options *)to)->html = text;
    return 1;
}

static int set_json(void *to, const char *text)
{
    (void)text;
    return ((options *)to)->json = 1;
}

static int set_brief(void *to, const char *text)
{
    (void)text;
    return ((options *)to)->brief = 1;
}

static int set_help(void *to, const char *text)
{
    (void)text;
    return ((options *)to)->help = 1;
}

static const argument table[] = {
    { "--html", 1, set_html }, { "--out", 1, set_out },     { "--scenes", 1, set_scenes },
    { "--json", 0, set_json }, { "--brief", 0, set_brief }, { "--help", 0, set_help },
    { "-h", 0, set_help },     { NULL, 0, NULL },
};

static void list_experiments(FILE *out)
{
    for (int k = 0; k < NEXPERIMENT; k++)
        fprintf(out, "  %-10s %s\n", experiments[k].name, experiments[k].summary);
}

static void help(void)
{
    printf(
        "usage: rattleback reproduce [options] NAME...|all\n\n"
        "Runs experiments of the papers, scene by scene through `rattleback run`, prints\n"
        "their tables beside the papers' and draws their figures. Without a name: the list.\n\n");
    list_experiments(stdout);
    printf("\n  --out DIR       for records and figures (reproduced)\n"
           "  --html DIR      a page for each run, to be opened in a browser, and a list of them;\n"
           "                  times then contain the recording\n"
           "  --scenes DIR    where the scenes are (scenes)\n"
           "  --brief         fewer and shorter runs\n"
           "  --json          one object per experiment: its checks, its figures\n"
           "\nexit status: 0 all within bounds, 1 something is not, 2 bad usage or input\n"
           "\nexample: rattleback reproduce rod --brief\n");
}

static const experiment *find(const char *name)
{
    for (int k = 0; k < NEXPERIMENT; k++)
        if (strcmp(experiments[k].name, name) == 0) return &experiments[k];
    return NULL;
}

/* The folders; 1, or 0 after a sentence. */
static int prepare(const options *o)
{
    char file[4096];
    snprintf(file, sizeof file, "%s/contact/rod.xml", o->scenes);
    if (access(file, R_OK) != 0) {
        fprintf(stderr, "rattleback reproduce: %s: %s; run it in a checkout, or say --scenes DIR\n",
                file, strerror(errno));
        return 0;
    }
    if (strpbrk(o->out, " \t\n")) {
        fprintf(stderr, "rattleback reproduce: --out %s: expected a folder without blanks\n",
                o->out);
        return 0;
    }
    if (mkdir(o->out, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "rattleback reproduce: --out %s: %s\n", o->out, strerror(errno));
        return 0;
    }
    if (o->html && mkdir(o->html, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "rattleback reproduce: --html %s: %s\n", o->html, strerror(errno));
        return 0;
    }
    return 1;
}

static void put_html(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<' || *text == '>' || *text == '&')
            fprintf(out, "&#%d;", *text);
        else
            putc(*text, out);
    }
}

/* The list of pages: 1, or 0 after a sentence. */
static int write_index(const reproduce *r)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/index.html", r->html);
    FILE *out = fopen(path, "w");
    if (out) {
        fputs("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>rattleback "
              "reproduce</title>\n<h1>Experiments of the papers</h1>\n<ul>\n",
              out);
        for (int k = 0; k < r->npage; k++) {
            fprintf(out, "<li><a href=\"%s\">", r->page[k].file);
            put_html(out, r->page[k].title);
            fputs("</a></li>\n", out);
        }
        fputs("</ul></html>\n", out);
    }
    if (out && fclose(out) == 0) {
        reproduce_say(r, "%s: %d pages\n", path, r->npage);
        return 1;
    }
    fprintf(stderr, "rattleback reproduce: %s: %s\n", path, strerror(errno));
    return 0;
}

int cmd_reproduce(int argc, char **argv)
{
    options o = { .out = "reproduced", .scenes = "scenes" };
    arguments a = { .command = "reproduce", .table = table, .options = &o };
    if (!arguments_parse(&a, argc, argv)) return EXIT_BAD_INPUT;
    if (o.help) {
        help();
        return EXIT_CERTIFIED;
    }
    if (a.nfile == 0) {
        list_experiments(stdout);
        return EXIT_CERTIFIED;
    }
    int all = a.nfile == 1 && strcmp(argv[0], "all") == 0, count = all ? NEXPERIMENT : a.nfile;
    for (int k = 0; k < count && !all; k++) {
        if (find(argv[k])) continue;
        fprintf(stderr, "rattleback reproduce: no experiment %s; expected all or some of\n",
                argv[k]);
        list_experiments(stderr);
        return EXIT_BAD_INPUT;
    }
    reproduce *r = prepare(&o) ? calloc(1, sizeof *r) : NULL;
    if (!r) return EXIT_BAD_INPUT;
    *r = (reproduce){
        .out = o.out, .scenes = o.scenes, .json = o.json, .brief = o.brief, .html = o.html
    };
    int status = EXIT_CERTIFIED;
    for (int k = 0; k < count; k++) {
        int one = run_experiment(r, all ? &experiments[k] : find(argv[k]));
        if (one > status) status = one;
    }
    if (r->html && !write_index(r)) status = EXIT_BAD_INPUT;
    free(r);
    return status;
}
