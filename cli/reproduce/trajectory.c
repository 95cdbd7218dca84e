#include "reproduce/trajectory.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/text_file.h"

/* The line of names, cut at its commas. */
static int read_head(trajectory *t, const char *text)
{
    size_t length = strcspn(text, "\n");
    t->head = malloc(length + 1);
    if (!t->head) return 0;
    memcpy(t->head, text, length);
    t->head[length] = '\0';
    t->ncol = 1;
    for (size_t i = 0; i < length; i++) {
        if (t->head[i] != ',') continue;
        t->head[i] = '\0';
        t->ncol++;
    }
    return 1;
}

/* Numbers up to the end of the text; -1 where a line is no row of them. */
static int read_rows(trajectory *t, const char *text)
{
    int row = 0;
    for (; *text; row++) {
        for (int column = 0; column < t->ncol; column++) {
            char *end;
            double value = strtod(text, &end);
            if (end == text && strncmp(text, "null", 4) == 0) {
                value = NAN;
                end += 4;
            }
            char expected = column + 1 < t->ncol ? ',' : '\n';
            if (end == text || *end != expected) return -1;
            t->x[(long)row * t->ncol + column] = value;
            text = end + 1;
        }
    }
    return row;
}

int trajectory_read(trajectory *t, const char *path)
{
    *t = (trajectory){ 0 };
    char *text = text_file_read(path);
    if (!text) return 0;
    size_t lines = 0;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    int ok = read_head(t, text);
    if (ok) t->x = malloc((lines + 1) * (size_t)t->ncol * sizeof *t->x);
    if (!ok || !t->x) {
        fprintf(stderr, "%s: out of memory\n", path);
    } else {
        const char *first = strchr(text, '\n');
        t->nrow = first ? read_rows(t, first + 1) : 0;
        if (t->nrow < 1) fprintf(stderr, "%s: no rows of numbers\n", path);
    }
    free(text);
    if (t->nrow > 0) return 1;
    trajectory_free(t);
    return 0;
}

void trajectory_free(trajectory *t)
{
    free(t->x);
    free(t->head);
    *t = (trajectory){ 0 };
}

int trajectory_column(const trajectory *t, const char *name)
{
    const char *at = t->head;
    for (int column = 0; column < t->ncol; column++, at += strlen(at) + 1)
        if (strcmp(at, name) == 0) return column;
    return -1;
}
