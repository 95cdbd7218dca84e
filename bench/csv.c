#include "csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int rb_csv_numbers(const char *line, double *out, int n)
{
    for (int i = 0; i < n; i++) {
        char *end;
        out[i] = strtod(line, &end);
        if (end == line || !isfinite(out[i])) return 0;
        line = end;
        if (i + 1 < n && *line++ != ',') return 0;
    }
    return *line == '\n' || *line == '\r' || *line == '\0';
}

int rb_csv_fail(rb_error *err, const char *file, int line, const char *text)
{
    if (err) {
        err->status = RB_BAD_INPUT;
        err->line = line;
        snprintf(err->file, sizeof err->file, "%s", file);
        snprintf(err->text, sizeof err->text, "%s", text);
    }
    return 0;
}
