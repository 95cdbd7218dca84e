#include "record.h"

#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "rattleback/io.h"

struct record {
    blocks file;
    const rb_model *m;
    int json;
};

/* ---- columns -----------------------------------------------------------------------------------
 */

static int coordinates(int type)
{
    return type == RB_JOINT_FREE ? 7 : type == RB_JOINT_BALL ? 4 : 1;
}

static int velocities(int type)
{
    return type == RB_JOINT_FREE ? 6 : type == RB_JOINT_BALL ? 3 : 1;
}

/* "q:JOINT", or "q:JOINT:0", .. where there are several; names with commas or quotes are quoted. */
static void put_name(FILE *out, char letter, const char *joint, int k, int count)
{
    int quote = strpbrk(joint, ",\"\n") != NULL;
    if (quote) putc('"', out);
    fprintf(out, "%c:", letter);
    for (const char *c = joint; *c; c++) {
        if (*c == '"') putc('"', out);
        putc(*c, out);
    }
    if (count > 1) fprintf(out, ":%d", k);
    if (quote) putc('"', out);
}

static void put_header(const record *r)
{
    const rb_model *m = r->m;
    char buffer[512];
    FILE *out = r->file.text;
    fputs("time", out);
    for (int part = 0; part < 2; part++) {
        for (int j = 0; j < m->njnt; j++) {
            const char *name = rb_model_name(m, RB_KIND_JOINT, j, buffer, sizeof buffer);
            int type = m->jnt_type[j], count = part ? velocities(type) : coordinates(type);
            for (int k = 0; k < count; k++) {
                putc(',', out);
                put_name(out, part ? 'v' : 'q', name, k, count);
            }
        }
    }
    fputs(",contacts,residual,penetration,energy\n", out);
}

/* ---- rows --------------------------------------------------------------------------------------
 */

static void put_numbers(FILE *out, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (i > 0) putc(',', out);
        rb_json_put_number(out, x[i]);
    }
}

static void put_json(const record *r, const rb_data *d, const rb_step_info *info, double energy)
{
    FILE *out = r->file.text;
    fputs("{\"time\":", out);
    rb_json_put_number(out, d->time);
    fputs(",\"qpos\":[", out);
    put_numbers(out, d->q, r->m->nq);
    fputs("],\"qvel\":[", out);
    put_numbers(out, d->v, r->m->nv);
    fprintf(out, "],\"contacts\":%d,\"residual\":", info->contacts);
    rb_json_put_number(out, info->residual);
    fputs(",\"penetration\":", out);
    rb_json_put_number(out, info->penetration);
    fputs(",\"energy\":", out);
    rb_json_put_number(out, energy);
    fputs("}\n", out);
}

static void put_csv(const record *r, const rb_data *d, const rb_step_info *info, double energy)
{
    FILE *out = r->file.text;
    rb_json_put_number(out, d->time);
    if (r->m->nq > 0) putc(',', out);
    put_numbers(out, d->q, r->m->nq);
    if (r->m->nv > 0) putc(',', out);
    put_numbers(out, d->v, r->m->nv);
    fprintf(out, ",%d,", info->contacts);
    const double rest[3] = { info->residual, info->penetration, energy };
    put_numbers(out, rest, 3);
    putc('\n', out);
}

void record_row(record *r, const rb_data *d, const rb_step_info *info, double energy)
{
    if (r->json)
        put_json(r, d, info, energy);
    else
        put_csv(r, d, info, energy);
    blocks_line(&r->file);
}

/* ---- the file ----------------------------------------------------------------------------------
 */

record *record_open(const char *path, const rb_model *m)
{
    record *r = calloc(1, sizeof *r);
    if (!r) {
        fputs("rattleback run: out of memory\n", stderr);
        return NULL;
    }
    size_t length = strlen(path);
    r->json = length >= 6 && strcmp(path + length - 6, ".jsonl") == 0;
    r->m = m;
    if (!blocks_open(&r->file, path)) {
        free(r);
        return NULL;
    }
    if (!r->json) put_header(r);
    return r;
}

int record_close(record *r)
{
    if (!r) return 1;
    int good = blocks_close(&r->file);
    free(r);
    return good;
}
