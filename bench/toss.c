/* Tosses of a cube: read, simulate, compare. */
#include "toss.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"

enum { FRAME = 7, LINE = 1024, MOST_TOSSES = 100000, MOST_FRAMES = 100000 };

/* ---- reading -----------------------------------------------------------------------------------
 */

static int read_initial(FILE *in, const char *path, rb_tosses *out, rb_error *err)
{
    char line[LINE];
    double x[3 + 13];
    if (!fgets(line, sizeof line, in)) return rb_csv_fail(err, path, 1, "the file is empty");
    for (int at = 2; fgets(line, sizeof line, in); at++) {
        if (!rb_csv_numbers(line, x, 16)) return rb_csv_fail(err, path, at, "expected 16 numbers");
        int start = (int)x[1], all = (int)x[2];
        if (start < 0 || all <= start || all > MOST_FRAMES || out->n >= MOST_TOSSES)
            return rb_csv_fail(err, path, at, "start_frame and n_frames do not go together");
        rb_toss *grown = realloc(out->toss, ((size_t)out->n + 1) * sizeof *grown);
        if (!grown) return rb_csv_fail(err, path, at, "out of memory");
        out->toss = grown;
        rb_toss *t = &grown[out->n++];
        *t = (rb_toss){ .id = (int)x[0], .start = start, .nframe = all - start };
        memcpy(t->q, x + 3, sizeof t->q);
        memcpy(t->v, x + 10, sizeof t->v);
        t->frame = calloc((size_t)t->nframe * FRAME, sizeof *t->frame);
        if (!t->frame) return rb_csv_fail(err, path, at, "out of memory");
    }
    return 1;
}

/* Frames come toss by toss, in the order of initial.csv, none left out. */
static int read_frames(FILE *in, const char *path, rb_tosses *out, rb_error *err)
{
    char line[LINE];
    double x[2 + 13];
    int k = 0, next = 0;
    if (!fgets(line, sizeof line, in)) return rb_csv_fail(err, path, 1, "the file is empty");
    for (int at = 2; fgets(line, sizeof line, in); at++) {
        if (!rb_csv_numbers(line, x, 15)) return rb_csv_fail(err, path, at, "expected 15 numbers");
        rb_toss *t = k < out->n ? &out->toss[k] : NULL;
        if (!t || (int)x[0] != t->id || (int)x[1] != next)
            return rb_csv_fail(err, path, at, "not the frame that comes next by initial.csv");
        if (next >= t->start)
            memcpy(t->frame + FRAME * (next - t->start), x + 2, FRAME * sizeof *t->frame);
        if (++next == t->start + t->nframe) k++, next = 0;
    }
    if (k < out->n) return rb_csv_fail(err, path, 0, "the last tosses are missing");
    return 1;
}

static int read_file(const char *folder, const char *name,
                     int (*read)(FILE *, const char *, rb_tosses *, rb_error *), rb_tosses *out,
                     rb_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "r");
    if (!in) return rb_csv_fail(err, path, 0, strerror(errno));
    int ok = read(in, path, out, err);
    fclose(in);
    return ok;
}

int rb_tosses_read(const char *folder, rb_tosses *out, rb_error *err)
{
    *out = (rb_tosses){ 0 };
    if (read_file(folder, "initial.csv", read_initial, out, err) &&
        read_file(folder, "tosses.csv", read_frames, out, err))
        return 1;
    rb_tosses_free(out);
    return 0;
}

void rb_tosses_free(rb_tosses *t)
{
    for (int k = 0; k < t->n; k++) free(t->toss[k].frame);
    free(t->toss);
    *t = (rb_tosses){ 0 };
}

/* ---- simulation --------------------------------------------------------------------------------
 */

/* Angle between two orientations [rad]; quaternions of any length and sign. */
static double angle_between(const double *a, const double *b)
{
    double w = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double x = a[0] * b[1] - a[1] * b[0] - a[2] * b[3] + a[3] * b[2];
    double y = a[0] * b[2] - a[2] * b[0] - a[3] * b[1] + a[1] * b[3];
    double z = a[0] * b[3] - a[3] * b[0] - a[1] * b[2] + a[2] * b[1];
    return 2.0 * atan2(sqrt(x * x + y * y + z * z), fabs(w));
}

static void compare(const double *q, const double *frame, rb_toss_error *sum)
{
    double dx = q[0] - frame[0], dy = q[1] - frame[1], dz = q[2] - frame[2];
    double square = dx * dx + dy * dy + dz * dz, angle = angle_between(q + 3, frame + 3);
    sum->loss += square / RB_TOSS_HALF + angle * angle;
    sum->position += sqrt(square) / RB_TOSS_WIDTH;
    sum->angle += angle;
}

static rb_status advance(const rb_model *m, const rb_step_opts *opts, rb_data **d, rb_error *err)
{
    for (;;) {
        rb_step_info info;
        rb_status status = rb_step(m, *d, opts, &info, err);
        if (status != RB_FULL) return status;
        status = rb_data_reserve(m, d, 2 * info.contacts + 16);
        if (status != RB_OK) return status;
    }
}

rb_status rb_toss_run(const rb_model *m, const rb_step_opts *opts, int substeps, const rb_toss *t,
                      rb_data **d, rb_toss_error *out, rb_error *err)
{
    rb_step_opts o = *opts;
    o.h = 1.0 / (RB_TOSS_RATE * substeps);
    rb_data_reset(m, *d);
    memcpy((*d)->q, t->q, sizeof t->q);
    memcpy((*d)->v, t->v, sizeof t->v);
    rb_normalize(m, (*d)->q);
    rb_toss_error sum = { 0 };
    for (int k = 0; k < t->nframe; k++) {
        for (int i = 0; k > 0 && i < substeps; i++) {
            rb_status status = advance(m, &o, d, err);
            if (status != RB_OK) return status;
        }
        compare((*d)->q, t->frame + FRAME * k, &sum);
    }
    *out = (rb_toss_error){ sum.loss / t->nframe, sum.position / t->nframe, sum.angle / t->nframe };
    return RB_OK;
}
