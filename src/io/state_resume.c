/* A saved state: what rb_data_copy copies, as JSON.
 *
 *     {"time": t, "qpos": [..], "qvel": [..], .., "resume": {"rng": [..], "touch": [[..], ..], ..}}
 *
 * Numbers have 17 digits and come back to the bit; null is NaN, which means "none yet" there. */
#include "io/state_resume.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/fields.h"

/* ---- what there is ---------------------------------------------------------------------------
 */

/* One array: where it is in a state that was read, and in data that are written. */
typedef struct remembered {
    const char *key;
    const double **read;
    const double *write;
    int n;
} remembered;

enum { NARRAY = 12, NSCALAR = 5, NTOUCH = 33 };

static void list_arrays(const rb_model *m, const rb_data *d, rb_state_resume *r,
                        remembered out[NARRAY])
{
    const remembered list[NARRAY] = {
        { "wrench", &r->wrench, d ? d->wrench : NULL, 6 * m->nbody },
        { "mocap_v", &r->mocap_v, d ? d->mocap_v : NULL, 6 * m->nmocap },
        { "mocap_a", &r->mocap_a, d ? d->mocap_a : NULL, 6 * m->nmocap },
        { "mocap_was", &r->mocap_was, d ? d->mocap_was : NULL, 6 * m->nmocap },
        { "gauge_at", &r->gauge_at, d ? d->gauge_at : NULL, m->ngauge_dof },
        { "push", &r->push, d ? d->push : NULL, 2 * m->nv },
        { "slope", &r->slope, d ? d->slope : NULL, RB_SLOPES * m->nv },
        { "slope_h", &r->slope_h, d ? d->slope_h : NULL, RB_SLOPES },
        { "kick", &r->kick, d ? d->kick : NULL, 2 * m->nv },
        { "servo", &r->servo, d ? d->servo : NULL, m->nu },
        { "sensor_past", &r->sensor_past, d ? d->sensor_past : NULL, m->nsensorpast },
        { "ctrl_past", &r->ctrl_past, d ? d->ctrl_past : NULL, m->nctrlpast },
    };
    memcpy(out, list, sizeof list);
}

static const char *const scalars[NSCALAR] = { "push_time", "slope_time", "touch_h", "correct_end",
                                              "correct_from" };

static double *scalar_of(rb_state_resume *r, int k)
{
    double *const places[NSCALAR] = { &r->push_time, &r->slope_time, &r->touch_h, &r->correct_end,
                                      &r->correct_from };
    return places[k];
}

/* ---- reading ---------------------------------------------------------------------------------
 */

/* A number, or null for NaN. */
static rb_status take_number(rb_io_context *ctx, const json_t *value, const char *key, double *out)
{
    if (!json_is_number(value) && !json_is_null(value))
        return rb_io_refuse(ctx, RB_BAD_INPUT, key, "%s; expected a number or null",
                            value ? rb_io_kind_of(value) : "it is missing");
    *out = json_is_null(value) ? NAN : json_number_value(value);
    return RB_OK;
}

static rb_status take_numbers(rb_io_context *ctx, const json_t *array, const char *key, int n,
                              double *out)
{
    if (!json_is_array(array) || json_array_size(array) != (size_t)n)
        return rb_io_refuse(ctx, RB_BAD_INPUT, key,
                            "expected %d numbers; is this the model that "
                            "the state was saved with?",
                            n);
    rb_status status = RB_OK;
    for (int i = 0; i < n && status == RB_OK; i++)
        status = take_number(ctx, json_array_get(array, (size_t)i), key, &out[i]);
    return status;
}

static rb_status take_rng(rb_io_context *ctx, const json_t *array, rb_rng *rng)
{
    uint64_t *const words[2] = { &rng->state, &rng->stream };
    for (int k = 0; k < 2; k++) {
        const char *text = json_string_value(json_array_get(array, (size_t)k));
        char *end = NULL;
        if (text) *words[k] = strtoull(text, &end, 16);
        if (!text || end == text || *end)
            return rb_io_refuse(ctx, RB_BAD_INPUT, "rng", "expected two hexadecimal words");
    }
    return RB_OK;
}

/* Whether the elements that a constraint names are there. */
static int is_of_model(const rb_model *m, const rb_touch_id *id)
{
    const int most[4] = { m->ngeom, m->njnt_all + m->ntendon, m->nv_all + m->ntendon, m->neq };
    if (id->kind < 0 || id->kind > 3 || id->a < 0 || id->a >= most[id->kind] || id->b < 0) return 0;
    return id->kind == 0 ? id->b < m->ngeom : id->kind != 1 || id->b <= 1;
}

static rb_status take_touch(rb_io_context *ctx, const json_t *array, const rb_model *m, rb_touch *t)
{
    double x[NTOUCH];
    rb_status status = take_numbers(ctx, array, "touch", NTOUCH, x);
    if (status != RB_OK) return status;
    for (int i = 0; i < NTOUCH; i++)
        if (!isfinite(x[i]) || (i < 7 && (fabs(x[i]) > 4294967295.0 || x[i] != floor(x[i]))))
            return rb_io_refuse(ctx, RB_BAD_INPUT, "touch", "entry %d is out of range", i);
    t->id = (rb_touch_id){ .kind = (int)fmin(x[0], 1e9),
                           .a = (int)fmin(x[1], 1e9),
                           .b = (int)fmin(x[2], 1e9),
                           .c = (uint32_t)fmax(x[3], 0.0) };
    t->mode = (int)fmin(x[4], 1e9);
    t->nrow = (int)fmin(x[5], 1e9);
    t->held = x[6] != 0.0;
    t->gap = x[7];
    t->floor = x[8];
    memcpy(t->pos, x + 9, sizeof t->pos);
    memcpy(t->frame, x + 12, sizeof t->frame);
    memcpy(t->p, x + 21, sizeof t->p);
    memcpy(t->u, x + 27, sizeof t->u);
    if (!is_of_model(m, &t->id) || t->nrow < 0 || t->nrow > 6 || t->mode < 0 || t->mode > 255)
        return rb_io_refuse(ctx, RB_BAD_INPUT, "touch",
                            "names what the model does not have; is this the model that the state "
                            "was saved with?");
    return RB_OK;
}

static rb_status take_touches(rb_io_context *ctx, const json_t *array, const rb_model *m,
                              rb_state_resume *r)
{
    if (!json_is_array(array)) return rb_io_refuse(ctx, RB_BAD_INPUT, "touch", "expected an array");
    r->ntouch = (int)json_array_size(array);
    rb_touch *touch = rb_io_take_kept(ctx, (size_t)r->ntouch, sizeof *touch);
    if (!touch) return RB_NOMEM;
    r->touch = touch;
    rb_status status = RB_OK;
    for (int k = 0; k < r->ntouch && status == RB_OK; k++)
        status = take_touch(ctx, json_array_get(array, (size_t)k), m, &touch[k]);
    return status;
}

static rb_status take_arrays(rb_io_context *ctx, const json_t *object, const rb_model *m,
                             rb_state_resume *r)
{
    remembered list[NARRAY];
    list_arrays(m, NULL, r, list);
    rb_status status = RB_OK;
    for (int k = 0; k < NARRAY && status == RB_OK; k++) {
        double *x = rb_io_take_kept(ctx, (size_t)list[k].n, sizeof *x);
        if (!x) return RB_NOMEM;
        *list[k].read = x;
        status = take_numbers(ctx, json_object_get(object, list[k].key), list[k].key, list[k].n, x);
    }
    return status;
}

rb_status rb_io_state_resume(rb_io_context *ctx, const json_t *object, const rb_model *m,
                             const rb_state_resume **out)
{
    const json_t *from = json_object_get(object, "resume");
    *out = NULL;
    if (!from) return RB_OK;
    if (!json_is_object(from) || json_object_size(from) != NARRAY + NSCALAR + 2)
        return rb_io_refuse(ctx, RB_BAD_INPUT, "resume",
                            "expected the object that rattleback run --save writes");
    rb_state_resume *r = rb_io_take_kept(ctx, 1, sizeof *r);
    if (!r) return RB_NOMEM;
    *out = r;
    rb_status status = take_arrays(ctx, from, m, r);
    for (int k = 0; k < NSCALAR && status == RB_OK; k++)
        status = take_number(ctx, json_object_get(from, scalars[k]), scalars[k], scalar_of(r, k));
    if (status == RB_OK) status = take_rng(ctx, json_object_get(from, "rng"), &r->rng);
    return status == RB_OK ? take_touches(ctx, json_object_get(from, "touch"), m, r) : status;
}

/* ---- writing ---------------------------------------------------------------------------------
 */

/* -0 would come back as the integer 0. */
static void put_number(FILE *out, double x)
{
    if (x == 0.0 && signbit(x))
        fputs("-0.0", out);
    else
        rb_json_put_number(out, x);
}

static void put_array(FILE *out, const char *key, const double *x, int n)
{
    fprintf(out, ",\"%s\":[", key);
    for (int i = 0; i < n; i++) {
        if (i > 0) putc(',', out);
        put_number(out, x[i]);
    }
    putc(']', out);
}

static void put_touch(FILE *out, const rb_touch *t)
{
    fprintf(out, "[%d,%d,%d,%" PRIu32 ",%d,%d,%d", t->id.kind, t->id.a, t->id.b, t->id.c, t->mode,
            t->nrow, t->held);
    const double *const parts[] = { &t->gap, &t->floor, t->pos, t->frame, t->p, t->u };
    const int sizes[] = { 1, 1, 3, 9, 6, 6 };
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < sizes[k]; i++) {
            putc(',', out);
            put_number(out, isfinite(parts[k][i]) ? parts[k][i] : 0.0);
        }
    }
    putc(']', out);
}

void rb_state_write(FILE *out, const rb_model *m, const rb_data *d)
{
    rb_state_resume none = { 0 };
    remembered list[NARRAY];
    list_arrays(m, d, &none, list);
    fputs("{\"time\":", out);
    put_number(out, d->time);
    put_array(out, "qpos", d->q, m->nq);
    put_array(out, "qvel", d->v, m->nv);
    put_array(out, "act", d->act, m->na);
    put_array(out, "ctrl", d->ctrl, m->nctrl);
    put_array(out, "mocap", d->mocap, 7 * m->nmocap);
    put_array(out, "tau", d->tau, m->nv);
    fprintf(out, ",\"resume\":{\"rng\":[\"%016" PRIx64 "\",\"%016" PRIx64 "\"]", d->rng.state,
            d->rng.stream);
    none.push_time = d->push_time, none.slope_time = d->slope_time, none.touch_h = d->touch_h;
    none.correct_end = d->correct_end, none.correct_from = d->correct_from;
    for (int k = 0; k < NSCALAR; k++) {
        fprintf(out, ",\"%s\":", scalars[k]);
        put_number(out, *scalar_of(&none, k));
    }
    for (int k = 0; k < NARRAY; k++) put_array(out, list[k].key, list[k].write, list[k].n);
    fputs(",\"touch\":[", out);
    for (int k = 0; k < d->ntouch; k++) {
        if (k > 0) putc(',', out);
        put_touch(out, &d->touch[k]);
    }
    fputs("]}}\n", out);
}
