#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"

/* ---- values ------------------------------------------------------------------------------------
 */

void options_list_solvers(FILE *out, unsigned kinds)
{
    const char *separator = "";
    for (const rb_solver *const *s = rb_solvers; *s; s++) {
        if (!((*s)->accepts & kinds)) continue;
        fprintf(out, "%s%s", separator, (*s)->name);
        separator = ", ";
    }
}

static int set_solver(void *to, const char *text)
{
    options *o = to;
    const rb_solver *solver = rb_solver_find(text);
    if (strcmp(text, "all") == 0 || (solver && solver->accepts & o->kinds)) {
        o->solver = solver;
        return 1;
    }
    fprintf(stderr, "rattleback %s: --solver %s: ", o->command, text);
    fputs(solver ? "does not take these problems; expected " : "no such solver; expected ", stderr);
    options_list_solvers(stderr, o->kinds);
    fputs(" or all\n", stderr);
    return 0;
}

static int set_tol(void *to, const char *text)
{
    options *o = to;
    char *end;
    o->tol = strtod(text, &end);
    if (end != text && *end == '\0' && o->tol > 0.0 && isfinite(o->tol)) return 1;
    fprintf(stderr, "rattleback %s: --tol %s: expected a number > 0, for example 1e-9\n",
            o->command, text);
    return 0;
}

static int set_count(const options *o, const char *option, const char *text, int *out)
{
    enum { MOST = 1000000000 };
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && value >= 1 && value <= MOST) {
        *out = (int)value;
        return 1;
    }
    fprintf(stderr, "rattleback %s: %s %s: expected an integer 1 .. %d\n", o->command, option, text,
            MOST);
    return 0;
}

static int set_max_iter(void *to, const char *text)
{
    options *o = to;
    return set_count(o, "--max-iter", text, &o->max_iter);
}

static int set_repeat(void *to, const char *text)
{
    options *o = to;
    return set_count(o, "--repeat", text, &o->repeat);
}

static int set_json(void *to, const char *text)
{
    options *o = to;
    (void)text;
    return o->json = 1;
}

static int set_no_unique(void *to, const char *text)
{
    options *o = to;
    (void)text;
    o->unique = 0;
    return 1;
}

static int set_help(void *to, const char *text)
{
    options *o = to;
    (void)text;
    return o->help = 1;
}

/* ---- the command line --------------------------------------------------------------------------
 */

static const argument table[] = {
    { "--solver", 1, set_solver },
    { "--tol", 1, set_tol },
    { "--max-iter", 1, set_max_iter },
    { "--no-unique", 0, set_no_unique },
    { "--json", 0, set_json },
    { "--repeat", 1, set_repeat },
    { "--help", 0, set_help },
    { "-h", 0, set_help },
    { NULL, 0, NULL },
};

int options_parse(int argc, char **argv, options *o)
{
    arguments a = { .command = o->command, .table = table, .options = o };
    if (!arguments_parse(&a, argc, argv)) return 0;
    o->files = argv;
    o->nfile = a.nfile;
    if (o->nfile || o->help) return 1;
    fprintf(stderr,
            "rattleback %s: expected a file, or - for standard input; see rattleback %s "
            "--help\n",
            o->command, o->command);
    return 0;
}
