#include "arguments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The option that an argument names, up to its "=". */
static const argument *find(const argument *table, const char *text, size_t length)
{
    for (; table->name; table++)
        if (strlen(table->name) == length && memcmp(table->name, text, length) == 0) return table;
    return NULL;
}

/* Letters to insert, remove or change so that one word becomes the other [Levenshtein 1966]; long
 * ones are cut. */
static int distance(const char *a, size_t n, const char *b, size_t m)
{
    enum { LONGEST = 64 };
    int row[LONGEST + 1];
    if (n > LONGEST) n = LONGEST;
    if (m > LONGEST) m = LONGEST;
    for (size_t j = 0; j <= m; j++) row[j] = (int)j;
    for (size_t i = 0; i < n; i++) {
        int corner = row[0];
        row[0] = (int)i + 1;
        for (size_t j = 0; j < m; j++) {
            int change = corner + (a[i] != b[j]);
            corner = row[j + 1];
            int less = row[j] < corner ? row[j] + 1 : corner + 1;
            row[j + 1] = change < less ? change : less;
        }
    }
    return row[m];
}

void nearest_word(const char *word, nearest *best, const char *text)
{
    size_t length = strcspn(text, "=");
    int most = best->word ? best->distance : (int)length / 3 + 2;
    int d = distance(text, length, word, strlen(word));
    if (d < most) *best = (nearest){ word, d };
}

/* The option that is spelled most like it; NULL: none is close. */
static const char *nearest_option(const argument *table, const char *text)
{
    nearest best = { 0 };
    for (; table->name; table++) nearest_word(table->name, &best, text);
    return best.word;
}

static int refuse_unknown(const arguments *a, const char *text)
{
    const char *meant = nearest_option(a->table, text);
    fprintf(stderr, "rattleback %s: unknown option %s; ", a->command, text);
    if (meant) fprintf(stderr, "did you mean %s? ", meant);
    fputs("expected ", stderr);
    for (int k = 0; a->table[k].name; k++) {
        const char *name = a->table[k].name;
        if (find(a->table, name, strlen(name)) != &a->table[k])
            continue; /* an earlier one counts */
        fprintf(stderr, "%s%s", k ? ", " : "", name);
    }
    fputc('\n', stderr);
    return 0;
}

/* One option at argv[*k], with its value after "=" or in the next argument. */
static int take_option(const arguments *a, int argc, char **argv, int *k)
{
    const char *text = argv[*k];
    size_t length = strcspn(text, "=");
    const argument *found = find(a->table, text, length);
    if (!found) return refuse_unknown(a, text);

    const char *value = text[length] ? text + length + 1 : NULL;
    if (!found->takes_value && value) {
        fprintf(stderr, "rattleback %s: %s takes no value\n", a->command, found->name);
        return 0;
    }
    if (found->takes_value && !value) {
        if (*k + 1 >= argc) {
            fprintf(stderr, "rattleback %s: %s: expected a value after it\n", a->command,
                    found->name);
            return 0;
        }
        value = argv[++*k];
    }
    return found->set(a->options, value);
}

int arguments_parse(arguments *a, int argc, char **argv)
{
    int only_files = 0;
    a->nfile = 0;
    for (int k = 1; k < argc; k++) {
        const char *text = argv[k];
        if (!only_files && strcmp(text, "--") == 0)
            only_files = 1;
        else if (only_files || text[0] != '-' || strcmp(text, "-") == 0)
            argv[a->nfile++] = argv[k];
        else if (!take_option(a, argc, argv, &k))
            return 0;
    }
    return 1;
}

int argument_refuse(const char *command, const char *name, const char *text, const char *expected)
{
    fprintf(stderr, "rattleback %s: %s %s: expected %s\n", command, name, text, expected);
    return 0;
}

int argument_number(const char *command, const char *name, const char *text, double lo, double hi,
                    const char *expected, double *out)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end != '\0' || !(x >= lo) || !(x <= hi))
        return argument_refuse(command, name, text, expected);
    *out = x;
    return 1;
}

int argument_whole(const char *command, const char *name, const char *text, int lo, int hi,
                   const char *expected, int *out)
{
    double x = 0.0;
    if (!argument_number(command, name, text, lo, hi, expected, &x)) return 0;
    if (x != floor(x)) return argument_refuse(command, name, text, expected);
    *out = (int)x;
    return 1;
}
