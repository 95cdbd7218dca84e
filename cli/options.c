#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static int set_solver(options *o, const char *text)
{
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

static int set_tol(options *o, const char *text)
{
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

static int set_max_iter(options *o, const char *text)
{
    return set_count(o, "--max-iter", text, &o->max_iter);
}

static int set_repeat(options *o, const char *text)
{
    return set_count(o, "--repeat", text, &o->repeat);
}

static int set_json(options *o, const char *text)
{
    (void)text;
    return o->json = 1;
}

static int set_no_unique(options *o, const char *text)
{
    (void)text;
    o->unique = 0;
    return 1;
}

static int set_help(options *o, const char *text)
{
    (void)text;
    return o->help = 1;
}

/* ---- the command line --------------------------------------------------------------------------
 */

typedef struct option {
    const char *name;
    int takes_value;
    int (*set)(options *o, const char *text);
} option;

static const option table[] = {
    { "--solver", 1, set_solver },     { "--tol", 1, set_tol },
    { "--max-iter", 1, set_max_iter }, { "--no-unique", 0, set_no_unique },
    { "--json", 0, set_json },         { "--repeat", 1, set_repeat },
    { "--help", 0, set_help },         { "-h", 0, set_help },
};
enum { NOPTION = sizeof table / sizeof *table };

/* The option that argument names, up to its "=". */
static const option *find(const char *argument, size_t length)
{
    for (int k = 0; k < NOPTION; k++)
        if (strlen(table[k].name) == length && memcmp(table[k].name, argument, length) == 0)
            return &table[k];
    return NULL;
}

static int refuse_unknown(const options *o, const char *argument)
{
    fprintf(stderr, "rattleback %s: unknown option %s; expected ", o->command, argument);
    for (int k = 0; k < NOPTION; k++) fprintf(stderr, "%s%s", k ? ", " : "", table[k].name);
    fputc('\n', stderr);
    return 0;
}

/* One option at argv[*k], with its value behind "=" or in the next argument. */
static int take_option(int argc, char **argv, int *k, options *o)
{
    const char *argument = argv[*k];
    size_t length = strcspn(argument, "=");
    const option *found = find(argument, length);
    if (!found) return refuse_unknown(o, argument);

    const char *value = argument[length] ? argument + length + 1 : NULL;
    if (!found->takes_value && value) {
        fprintf(stderr, "rattleback %s: %s takes no value\n", o->command, found->name);
        return 0;
    }
    if (found->takes_value && !value) {
        if (*k + 1 >= argc) {
            fprintf(stderr, "rattleback %s: %s: expected a value behind it\n", o->command,
                    found->name);
            return 0;
        }
        value = argv[++*k];
    }
    return found->set(o, value);
}

int options_parse(int argc, char **argv, options *o)
{
    int only_files = 0;
    o->files = argv;
    o->nfile = 0;
    for (int k = 1; k < argc; k++) {
        const char *argument = argv[k];
        if (!only_files && strcmp(argument, "--") == 0)
            only_files = 1;
        else if (only_files || argument[0] != '-' || strcmp(argument, "-") == 0)
            argv[o->nfile++] = argv[k];
        else if (!take_option(argc, argv, &k, o))
            return 0;
    }
    if (o->nfile || o->help) return 1;
    fprintf(stderr,
            "rattleback %s: expected a file, or - for standard input; see rattleback %s "
            "--help\n",
            o->command, o->command);
    return 0;
}
