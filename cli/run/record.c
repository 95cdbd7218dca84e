#include "run/record.h"

#include <stdlib.h>
#include <string.h>

#include "run/blocks.h"
#include "rattleback/io.h"

struct record {
    blocks file;
    int json, ngroup;
    const record_group *group[RECORD_MOST_GROUPS];
};

static int ends_with(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

int record_check(const char *path, const char *columns)
{
    const record_group *group[RECORD_MOST_GROUPS];
    if (strcmp(path, "-") != 0 && !ends_with(path, ".csv") && !ends_with(path, ".jsonl")) {
        fprintf(stderr,
                "rattleback run: --record %s: expected a name that ends in .csv or .jsonl, or - "
                "for CSV on standard output\n",
                path);
        return 0;
    }
    return record_groups_find(columns, group) >= 0;
}

static void put_json(record *r, const record_state *s)
{
    json j = { .out = r->file.text };
    json_begin(&j, NULL);
    json_number(&j, "time", s->d->time);
    for (int k = 0; k < r->ngroup; k++) r->group[k]->members(&j, s);
    json_end(&j);
}

static void put_csv(record *r, const record_state *s)
{
    rb_json_put_number(r->file.text, s->d->time);
    for (int k = 0; k < r->ngroup; k++) r->group[k]->row(r->file.text, s);
    putc('\n', r->file.text);
}

void record_row(record *r, const record_state *s)
{
    if (r->json)
        put_json(r, s);
    else
        put_csv(r, s);
    blocks_line(&r->file);
}

static void put_header(const record *r, const record_state *s)
{
    fputs("time", r->file.text);
    for (int k = 0; k < r->ngroup; k++) r->group[k]->head(r->file.text, s);
    putc('\n', r->file.text);
}

record *record_open(const char *path, const char *columns, const record_state *s)
{
    record *r = calloc(1, sizeof *r);
    if (!r) fputs("rattleback run: out of memory\n", stderr);
    if (!r) return NULL;
    r->json = ends_with(path, ".jsonl");
    r->ngroup = record_groups_find(columns, r->group);
    if (r->ngroup < 0 || !blocks_open(&r->file, path)) {
        free(r);
        return NULL;
    }
    if (!r->json) put_header(r, s);
    return r;
}

int record_close(record *r)
{
    if (!r) return 1;
    int good = blocks_close(&r->file);
    free(r);
    return good;
}
