/* States of a model: JSON objects with qpos, qvel, tau, qacc, ..., each optional, each checked
 * against the model. */
#include <math.h>
#include <string.h>

#include "io/fields.h"
#include "io/lines.h"
#include "io/state_csv.h"
#include "io/state_resume.h"

/* What rb_state_entry points into: the first member is what the caller sees. */
typedef struct owned_state {
    rb_state_entry entry;
    rb_io_pool pool;
} owned_state;

struct rb_state_reader {
    rb_alloc alloc;
    const rb_model *m;
    rb_io_lines lines; /* JSON lines, or                  */
    rb_table *table;   /* a CSV record, NULL: it is none   */
    int *place;        /* of its columns                   */
    const char *unknown, *path;
    int row;
};

/* ---- vectors -----------------------------------------------------------------------------------
 */

/* One vector of a state: its length is a size of the model. */
typedef struct vector_field {
    const char *key, *each;
    const double **out;
    int size;
} vector_field;

enum { NVECTOR = 7 };

static void list_vectors(const rb_model *m, rb_state_entry *e, vector_field out[NVECTOR])
{
    const vector_field fields[NVECTOR] = {
        { "qpos", "coordinate (nq)", &e->qpos, m->nq },
        { "qvel", "degree of freedom (nv)", &e->qvel, m->nv },
        { "act", "activation (na)", &e->act, m->na },
        { "ctrl", "actuator (nu)", &e->ctrl, m->nctrl },
        { "mocap", "coordinate of mocap bodies (7 each)", &e->mocap, 7 * m->nmocap },
        { "tau", "degree of freedom (nv)", &e->tau, m->nv },
        { "qacc", "degree of freedom (nv)", &e->qacc, m->nv },
    };
    memcpy(out, fields, sizeof fields);
}

static rb_status read_vectors(rb_io_context *ctx, const json_t *object, const rb_model *m,
                              rb_state_entry *e)
{
    vector_field fields[NVECTOR];
    list_vectors(m, e, fields);
    for (int k = 0; k < NVECTOR; k++) {
        if (!json_object_get(object, fields[k].key)) continue;
        double *x = NULL;
        int size = 0;
        rb_status status = rb_io_get_vector(ctx, object, fields[k].key, &x, &size);
        if (status == RB_OK)
            status = rb_io_need_size(ctx, fields[k].key, size, fields[k].size, fields[k].each);
        if (status != RB_OK) return status;
        *fields[k].out = x;
    }
    return RB_OK;
}

/* Error of the square of a length that is rounding. */
static const double UNIT = 1e-14;

/* Brings the quaternion at q[at] to unit length; one that is zero has no direction. */
static rb_status normalize_at(rb_io_context *ctx, const char *key, double *q, int at)
{
    double *x = q + at, scale = 0.0, sum = 0.0;
    for (int i = 0; i < 4; i++) scale = fmax(scale, fabs(x[i]));
    if (scale == 0.0) {
        char field[64];
        snprintf(field, sizeof field, "%s[%d]", key, at);
        return rb_io_refuse(ctx, RB_BAD_INPUT, field,
                            "a quaternion of four zeros; expected w x y z of a rotation, for "
                            "example 1 0 0 0");
    }
    for (int i = 0; i < 4; i++) sum += x[i] * x[i];
    if (fabs(sum - 1.0) <= UNIT) return RB_OK; /* as a step leaves it: not a bit is changed */
    sum = 0.0;
    for (int i = 0; i < 4; i++) sum += (x[i] / scale) * (x[i] / scale);
    double norm = sqrt(sum);
    for (int i = 0; i < 4; i++) x[i] = x[i] / scale / norm;
    return RB_OK;
}

static rb_status normalize_state(rb_io_context *ctx, const rb_model *m, rb_state_entry *e)
{
    rb_status status = RB_OK;
    for (int j = 0; j < m->njnt && e->qpos && status == RB_OK; j++) {
        double *q = (double *)e->qpos; /* ours: from the pool of the entry */
        if (m->jnt_type[j] == RB_JOINT_FREE)
            status = normalize_at(ctx, "qpos", q, m->jnt_qadr[j] + 3);
        else if (m->jnt_type[j] == RB_JOINT_BALL)
            status = normalize_at(ctx, "qpos", q, m->jnt_qadr[j]);
    }
    for (int k = 0; k < m->nmocap && e->mocap && status == RB_OK; k++)
        status = normalize_at(ctx, "mocap", (double *)e->mocap, 7 * k + 3);
    return status;
}

/* ---- points ------------------------------------------------------------------------------------
 */

/* A body by its name, or by the one `info` prints where it has none. */
static int find_body(const rb_model *m, const char *name)
{
    int found = rb_model_find(m, RB_KIND_BODY, name);
    for (int b = 0; b < m->nbody && found < 0; b++) {
        char buffer[64];
        if (strcmp(rb_model_name(m, RB_KIND_BODY, b, buffer, sizeof buffer), name) == 0) found = b;
    }
    return found;
}

static rb_status read_point(rb_io_context *ctx, const json_t *object, const rb_model *m, int index,
                            rb_state_point *point)
{
    char key[32], field[64];
    snprintf(key, sizeof key, "points[%d]", index);
    if (!json_is_object(object))
        return rb_io_refuse(ctx, RB_BAD_INPUT, key,
                            "%s; expected {\"body\": name, \"pos\": [x, y, z]}",
                            rb_io_kind_of(object));

    const char *name = json_string_value(json_object_get(object, "body"));
    snprintf(field, sizeof field, "%s.body", key);
    if (!name) return rb_io_refuse(ctx, RB_BAD_INPUT, field, "expected the name of a body");
    point->body = find_body(m, name);
    if (point->body < 0)
        return rb_io_refuse(ctx, RB_BAD_INPUT, field,
                            "\"%.80s\" is no body of the model; `rattleback info` lists them",
                            name);

    const json_t *pos = json_object_get(object, "pos");
    snprintf(field, sizeof field, "%s.pos", key);
    if (!json_is_array(pos) || json_array_size(pos) != 3)
        return rb_io_refuse(ctx, RB_BAD_INPUT, field,
                            "expected three numbers, in the frame of the body");
    rb_status status = RB_OK;
    for (int i = 0; i < 3 && status == RB_OK; i++)
        status = rb_io_number_at(ctx, pos, field, i, &point->pos[i]);
    return status;
}

static rb_status read_points(rb_io_context *ctx, const json_t *object, const rb_model *m,
                             rb_state_entry *e)
{
    const json_t *array = json_object_get(object, "points");
    if (!array) return RB_OK;
    if (!json_is_array(array))
        return rb_io_refuse(ctx, RB_BAD_INPUT, "points", "%s; expected an array of points",
                            rb_io_kind_of(array));
    e->npoint = (int)json_array_size(array); /* the scan allows some hundred thousand objects */
    rb_state_point *points = rb_io_take_kept(ctx, (size_t)e->npoint, sizeof *points);
    if (!points) return RB_NOMEM;
    e->points = points;
    rb_status status = RB_OK;
    for (int k = 0; k < e->npoint && status == RB_OK; k++)
        status = read_point(ctx, json_array_get(array, (size_t)k), m, k, &points[k]);
    return status;
}

/* ---- one state ---------------------------------------------------------------------------------
 */

static const char *copy_text(rb_io_context *ctx, const char *text)
{
    size_t size = strlen(text);
    char *copy = rb_io_take_kept(ctx, size + 1, 1);
    if (copy) memcpy(copy, text, size);
    return copy;
}

/* What a row of a record has beside its state (rattleback run --columns). */
static int is_recorded(const char *key)
{
    static const char *const words[] = { "contacts", "residual", "penetration",    "energy",
                                         "contact",  "sensor",   "contact_bodies", "body" };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(key, words[k]) == 0) return 1;
    return 0;
}

/* A typing error in a key would otherwise be a default in silence. */
static rb_status read_unknown(rb_io_context *ctx, const json_t *object, const rb_model *m,
                              rb_state_entry *e)
{
    vector_field fields[NVECTOR];
    list_vectors(m, e, fields);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        int known = strcmp(key, "name") == 0 || strcmp(key, "time") == 0 ||
                    strcmp(key, "points") == 0 || strcmp(key, "resume") == 0;
        known |= is_recorded(key);
        for (int k = 0; k < NVECTOR; k++) known |= strcmp(key, fields[k].key) == 0;
        if (known) continue;
        e->unknown = copy_text(ctx, key);
        return e->unknown ? RB_OK : RB_NOMEM;
    }
    return RB_OK;
}

static rb_status read_scalars(rb_io_context *ctx, const json_t *object, rb_state_entry *e)
{
    const char *name = "";
    rb_status status = rb_io_get_string(ctx, object, "name", &name);
    if (status != RB_OK) return status;
    e->name = copy_text(ctx, name);
    if (!e->name) return RB_NOMEM;
    const json_t *time = json_object_get(object, "time");
    if (time && !json_is_number(time))
        return rb_io_refuse(ctx, RB_BAD_INPUT, "time", "%s; expected a number",
                            rb_io_kind_of(time));
    e->time = json_number_value(time);
    return RB_OK;
}

static rb_status read_state(rb_io_context *ctx, const json_t *object, const rb_model *m,
                            owned_state **out)
{
    owned_state *owned = rb_io_take_kept(ctx, 1, sizeof *owned);
    if (!owned) return RB_NOMEM;
    *out = owned;
    rb_state_entry *e = &owned->entry;
    e->line = ctx->line;
    rb_status status = read_scalars(ctx, object, e);
    if (status == RB_OK) status = read_vectors(ctx, object, m, e);
    if (status == RB_OK) status = normalize_state(ctx, m, e);
    if (status == RB_OK) status = read_points(ctx, object, m, e);
    if (status == RB_OK) status = rb_io_state_resume(ctx, object, m, &e->resume);
    if (status == RB_OK) status = read_unknown(ctx, object, m, e);
    return status;
}

rb_status rb_state_parse(const rb_model *m, const char *bytes, size_t size, int line,
                         const rb_alloc *alloc, rb_state_entry **entry, rb_error *err)
{
    rb_io_context ctx = {
        .keep = rb_io_pool_make(alloc), .scratch = rb_io_pool_make(alloc), .line = line, .err = err
    };
    owned_state *owned = NULL;
    json_t *object = NULL;
    *entry = NULL;
    rb_status status = rb_io_parse_object(&ctx, bytes, size, &object);
    if (status == RB_OK) status = read_state(&ctx, object, m, &owned);
    json_decref(object);
    rb_io_pool_free(&ctx.scratch);
    if (status != RB_OK) {
        rb_io_pool_free(&ctx.keep);
        return status;
    }
    owned->pool = ctx.keep;
    *entry = &owned->entry;
    return RB_OK;
}

void rb_state_entry_free(rb_state_entry *entry)
{
    if (!entry) return;
    rb_io_pool pool = ((owned_state *)entry)->pool; /* a copy: the original lies in the pool */
    rb_io_pool_free(&pool);
}

static void copy_vector(double *to, const double *from, int n)
{
    if (from && n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

/* What a step remembers. */
static void resume(const rb_model *m, const rb_state_resume *r, rb_data *d)
{
    d->rng = r->rng;
    d->push_time = r->push_time;
    d->slope_time = r->slope_time;
    d->touch_h = r->touch_h;
    d->correct_end = r->correct_end;
    d->correct_from = r->correct_from;
    copy_vector(d->wrench, r->wrench, 6 * m->nbody);
    copy_vector(d->mocap_v, r->mocap_v, 6 * m->nmocap);
    copy_vector(d->mocap_a, r->mocap_a, 6 * m->nmocap);
    copy_vector(d->mocap_was, r->mocap_was, 6 * m->nmocap);
    copy_vector(d->gauge_at, r->gauge_at, m->ngauge_dof);
    copy_vector(d->push, r->push, 2 * m->nv);
    copy_vector(d->slope, r->slope, RB_SLOPES * m->nv);
    copy_vector(d->slope_h, r->slope_h, RB_SLOPES);
    copy_vector(d->kick, r->kick, 2 * m->nv);
    copy_vector(d->servo, r->servo, m->nu);
    copy_vector(d->sensor_past, r->sensor_past, m->nsensorpast);
    copy_vector(d->ctrl_past, r->ctrl_past, m->nctrlpast);
    d->ntouch = r->ntouch;
    if (r->ntouch > 0) memcpy(d->touch, r->touch, (size_t)r->ntouch * sizeof *d->touch);
}

rb_status rb_state_apply(const rb_model *m, const rb_state_entry *e, rb_data *d)
{
    if (e->resume && e->resume->ntouch > d->touch_max) return RB_FULL;
    d->time = e->time;
    copy_vector(d->q, e->qpos, m->nq);
    copy_vector(d->v, e->qvel, m->nv);
    copy_vector(d->act, e->act, m->na);
    copy_vector(d->ctrl, e->ctrl, m->nctrl);
    copy_vector(d->mocap, e->mocap, 7 * m->nmocap);
    copy_vector(d->tau, e->tau, m->nv);
    if (e->resume) resume(m, e->resume, d);
    return RB_OK;
}

/* ---- files -------------------------------------------------------------------------------------
 */

static int ends_in_csv(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".csv") == 0;
}

static rb_status open_record(rb_state_reader *r, const char *path, rb_error *err)
{
    char gap[512];
    r->path = path;
    r->table = rb_table_read(path, &r->alloc, err);
    if (!r->table) return err ? err->status : RB_BAD_INPUT;
    r->place = rb_io_record_places(r->table, r->m, &r->alloc, &r->unknown);
    if (!r->place) return rb_io_error_set(err, RB_NOMEM, path, 0, "out of memory for a record");
    const char *missing = rb_io_record_gap(r->table, r->m, r->place, gap, sizeof gap);
    if (!missing) return RB_OK;
    return rb_io_error_set(err, RB_BAD_INPUT, path, 1,
                           "%s: there is no such column, but others of its kind; is this a record "
                           "of the model?",
                           missing);
}

rb_state_reader *rb_state_open(const char *path, const rb_model *m, const rb_alloc *alloc,
                               rb_error *err)
{
    rb_alloc memory = alloc ? *alloc : rb_alloc_default();
    rb_state_reader *r = memory.alloc(memory.ctx, sizeof *r);
    if (!r) {
        rb_io_error_set(err, RB_NOMEM, path, 0, "out of memory for a reader");
        return NULL;
    }
    *r = (rb_state_reader){ .alloc = memory, .m = m };
    if (ends_in_csv(path)) {
        if (open_record(r, path, err) == RB_OK) return r;
        rb_state_close(r);
        return NULL;
    }
    if (rb_io_lines_open(&r->lines, path, &memory, err) == RB_OK) return r;
    memory.release(memory.ctx, r);
    return NULL;
}

void rb_state_close(rb_state_reader *r)
{
    if (!r) return;
    if (r->path) {
        rb_table_free(r->table);
        if (r->place) r->alloc.release(r->alloc.ctx, r->place);
    } else {
        rb_io_lines_close(&r->lines);
    }
    r->alloc.release(r->alloc.ctx, r);
}

static rb_status next_of_record(rb_state_reader *r, rb_state_entry **entry, rb_error *err)
{
    if (r->row == r->table->nrow) return RB_OK;
    rb_io_context ctx = { .keep = rb_io_pool_make(&r->alloc),
                          .scratch = rb_io_pool_make(&r->alloc),
                          .line = r->table->line[r->row],
                          .err = err };
    owned_state *owned = rb_io_take_kept(&ctx, 1, sizeof *owned);
    rb_status status = owned ? RB_OK : RB_NOMEM;
    if (owned) {
        rb_state_entry *e = &owned->entry;
        e->line = ctx.line;
        e->name = "";
        e->unknown = r->unknown;
        status = rb_io_record_row(&ctx, r->table, r->m, r->place, r->row++, e);
        if (status == RB_OK) status = normalize_state(&ctx, r->m, e);
    }
    if (status != RB_OK) {
        rb_io_pool_free(&ctx.keep);
        if (err) snprintf(err->file, sizeof err->file, "%s", r->path);
        return status;
    }
    owned->pool = ctx.keep;
    *entry = &owned->entry;
    return RB_OK;
}

rb_status rb_state_next(rb_state_reader *r, rb_state_entry **entry, rb_error *err)
{
    const char *text;
    size_t size;
    *entry = NULL;
    if (r->table) return next_of_record(r, entry, err);
    rb_status status = rb_io_lines_next_value(&r->lines, &text, &size, err);
    if (status != RB_OK || !text) return status;
    status = rb_state_parse(r->m, text, size, r->lines.first, &r->alloc, entry, err);
    if (status != RB_OK && err) snprintf(err->file, sizeof err->file, "%s", r->lines.path);
    return status;
}
