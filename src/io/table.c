/* Tables of numbers over time: CSV with a header line, or JSON lines.
 *
 * The first line decides which it is and names the columns. What is wrong is said with line and
 * column: an unknown or repeated column, a row without its time, times that go back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/fields.h"
#include "io/lines.h"
#include "io/xml.h"

enum { MOST_COLUMNS = 4096, FIRST_ROWS = 64 };

/* What rb_table points into: the first member is what the caller sees. */
typedef struct owned_table {
    rb_table table;
    rb_io_pool pool;   /* this struct and the names */
    const char **name; /* time among them           */
    int ncell;         /* names                     */
    int time_at;       /* of time among the cells   */
    int room;          /* rows that fit             */
    double *cells;     /* of the present row        */
    double *time, *x;
    int *line;
} owned_table;

/* ---- growing -----------------------------------------------------------------------------------
 */

static int regrow(const rb_alloc *alloc, void **block, size_t bytes)
{
    void *grown =
        *block ? alloc->resize(alloc->ctx, *block, bytes) : alloc->alloc(alloc->ctx, bytes);
    if (grown) *block = grown;
    return grown != NULL;
}

static rb_status room_for_row(rb_io_context *ctx, owned_table *t)
{
    if (t->table.nrow < t->room) return RB_OK;
    const rb_alloc *alloc = &ctx->keep.alloc;
    size_t rows = t->room ? 2 * (size_t)t->room : FIRST_ROWS, ncol = (size_t)t->table.ncol + 1;
    if (rows > INT32_MAX / ncol)
        return rb_io_refuse(ctx, RB_TOO_LARGE, NULL, "more numbers than a table may have");
    void *time = t->time, *x = t->x, *line = t->line;
    int ok = regrow(alloc, &time, rows * sizeof *t->time);
    t->time = time;
    ok = ok && regrow(alloc, &x, rows * ncol * sizeof *t->x);
    t->x = x;
    ok = ok && regrow(alloc, &line, rows * sizeof *t->line);
    t->line = line;
    if (!ok) return rb_io_refuse(ctx, RB_NOMEM, NULL, "out of memory for %zu rows", rows);
    t->room = (int)rows;
    return RB_OK;
}

/* Appends the cells of a complete row. */
static rb_status add_row(rb_io_context *ctx, owned_table *t)
{
    rb_status status = room_for_row(ctx, t);
    if (status != RB_OK) return status;
    int row = t->table.nrow, column = 0;
    double time = t->cells[t->time_at];
    if (row > 0 && time < t->time[row - 1])
        return rb_io_refuse(ctx, RB_BAD_INPUT, "time",
                            "%.9g is before %.9g of the row before; times must not go back", time,
                            t->time[row - 1]);
    for (int k = 0; k < t->ncell; k++) {
        if (k == t->time_at) continue;
        if (isnan(t->cells[k]))
            return rb_io_refuse(ctx, RB_BAD_INPUT, t->name[k],
                                "no number, and no row before to take it from");
        t->x[(ptrdiff_t)row * t->table.ncol + column++] = t->cells[k];
    }
    t->time[row] = time;
    t->line[row] = ctx->line;
    t->table.nrow++;
    return RB_OK;
}

/* ---- columns -----------------------------------------------------------------------------------
 */

static int find_column(const owned_table *t, const char *name, size_t size)
{
    for (int k = 0; k < t->ncell; k++)
        if (strlen(t->name[k]) == size && memcmp(t->name[k], name, size) == 0) return k;
    return -1;
}

static rb_status add_column(rb_io_context *ctx, owned_table *t, const char *name, size_t size)
{
    char *copy = rb_io_take_kept(ctx, size + 1, 1);
    if (!copy) return RB_NOMEM;
    memcpy(copy, name, size);
    if (size == 0)
        return rb_io_refuse(ctx, RB_BAD_INPUT, NULL, "column %d has no name", t->ncell + 1);
    if (find_column(t, name, size) >= 0)
        return rb_io_refuse(ctx, RB_BAD_INPUT, copy, "a second column of this name");
    t->name[t->ncell++] = copy;
    return RB_OK;
}

/* When all names are known. */
static rb_status finish_columns(rb_io_context *ctx, owned_table *t)
{
    t->time_at = find_column(t, "time", 4);
    if (t->time_at < 0)
        return rb_io_refuse(ctx, RB_BAD_INPUT, "time",
                            "there is no such column; expected time,NAME,.. in the first line, or "
                            "{\"time\": t, \"NAME\": x, ..}");
    const char **names = rb_io_take_kept(ctx, (size_t)t->ncell, sizeof *names);
    t->cells = rb_io_take_kept(ctx, (size_t)t->ncell, sizeof *t->cells);
    if (!names || !t->cells) return RB_NOMEM;
    for (int k = 0; k < t->ncell; k++) {
        t->cells[k] = NAN;
        if (k != t->time_at) names[t->table.ncol++] = t->name[k];
    }
    t->table.name = names;
    return RB_OK;
}

/* ---- CSV ---------------------------------------------------------------------------------------
 */

/* The next cell of a line, advanced past its comma; quotes around it are removed, doubled ones
 * become one, in place. 0: there is none. */
static int next_cell(char **at, char *end, char **cell, size_t *size)
{
    char *c = *at;
    if (!c) return 0;
    while (c < end && (*c == ' ' || *c == '\t')) c++;
    char *to = *cell = c;
    if (c < end && *c == '"') {
        for (c++; c < end && (*c != '"' || (c + 1 < end && c[1] == '"')); c++) {
            if (*c == '"') c++;
            *to++ = *c;
        }
        while (c < end && *c != ',') c++;
    } else {
        while (c < end && *c != ',') c++;
        for (to = c; to > *cell && (to[-1] == ' ' || to[-1] == '\t');) to--;
    }
    *size = (size_t)(to - *cell);
    *at = c < end ? c + 1 : NULL;
    return 1;
}

static rb_status csv_header(rb_io_context *ctx, owned_table *t, char *text, size_t size)
{
    size_t most = 1;
    for (size_t k = 0; k < size; k++) most += text[k] == ',';
    if (most > MOST_COLUMNS)
        return rb_io_refuse(ctx, RB_TOO_LARGE, NULL, "%zu columns; at most %d", most, MOST_COLUMNS);
    t->name = rb_io_take_kept(ctx, most, sizeof *t->name);
    rb_status status = t->name ? RB_OK : RB_NOMEM;
    char *at = text, *end = text + size, *cell;
    while (status == RB_OK && next_cell(&at, end, &cell, &size))
        status = add_column(ctx, t, cell, size);
    return status == RB_OK ? finish_columns(ctx, t) : status;
}

static rb_status csv_row(rb_io_context *ctx, owned_table *t, char *text, size_t size)
{
    char *at = text, *end = text + size, *cell;
    int k = 0;
    t->cells[t->time_at] = NAN;
    for (; next_cell(&at, end, &cell, &size); k++) {
        if (k == t->ncell)
            return rb_io_refuse(ctx, RB_BAD_INPUT, NULL, "more cells than the %d of the header",
                                t->ncell);
        if (size == 0) continue;
        const char *number = cell;
        double x;
        if (!rb_xml_scan_number(&number, cell + size, &x) || number != cell + size || !isfinite(x))
            return rb_io_refuse(ctx, RB_BAD_INPUT, t->name[k], "\"%.*s\" is no finite number",
                                (int)(size < 40 ? size : 40), cell);
        t->cells[k] = x;
    }
    if (k < t->ncell)
        return rb_io_refuse(ctx, RB_BAD_INPUT, NULL, "%d cells; expected %d as in the header", k,
                            t->ncell);
    if (isnan(t->cells[t->time_at]))
        return rb_io_refuse(ctx, RB_BAD_INPUT, "time", "this row has none");
    return add_row(ctx, t);
}

/* ---- JSON lines --------------------------------------------------------------------------------
 */

static rb_status json_header(rb_io_context *ctx, owned_table *t, json_t *object)
{
    const char *key;
    json_t *value;
    size_t most = json_object_size(object);
    if (most > MOST_COLUMNS)
        return rb_io_refuse(ctx, RB_TOO_LARGE, NULL, "%zu keys; at most %d", most, MOST_COLUMNS);
    t->name = rb_io_take_kept(ctx, most + 1, sizeof *t->name);
    rb_status status = t->name ? RB_OK : RB_NOMEM;
    json_object_foreach(object, key, value)
    {
        if (status == RB_OK) status = add_column(ctx, t, key, strlen(key));
    }
    return status == RB_OK ? finish_columns(ctx, t) : status;
}

static rb_status json_row(rb_io_context *ctx, owned_table *t, const char *text, size_t size)
{
    const char *key;
    json_t *object = NULL, *value;
    rb_status status = rb_io_parse_object(ctx, text, size, &object);
    if (status == RB_OK && !t->name) status = json_header(ctx, t, object);
    if (status == RB_OK && !json_object_get(object, "time"))
        status = rb_io_refuse(ctx, RB_BAD_INPUT, "time", "this line has none");
    if (status == RB_OK) json_object_foreach(object, key, value)
        {
            int k = find_column(t, key, strlen(key));
            if (k < 0)
                status = rb_io_refuse(ctx, RB_BAD_INPUT, key,
                                      "the first line has no such key; name all of them there");
            else if (!json_is_number(value) || !isfinite(json_number_value(value)))
                status = rb_io_refuse(ctx, RB_BAD_INPUT, key, "%s; expected a finite number",
                                      rb_io_kind_of(value));
            else
                t->cells[k] = json_number_value(value);
            if (status != RB_OK) break;
        }
    if (status == RB_OK) status = add_row(ctx, t);
    json_decref(object);
    return status;
}

/* ---- the file ----------------------------------------------------------------------------------
 */

static rb_status read_lines(rb_io_context *ctx, rb_io_lines *lines, owned_table *t)
{
    int json = -1;
    for (;;) {
        const char *text;
        size_t size;
        rb_status status = rb_io_lines_next(lines, &text, &size, ctx->err);
        if (status != RB_OK || !text) return status;
        ctx->line = lines->first;
        if (json < 0) json = text[0] == '{';
        char *own = lines->text + (text - lines->text); /* cells are unquoted in place */
        if (json)
            status = json_row(ctx, t, text, size);
        else
            status = t->name ? csv_row(ctx, t, own, size) : csv_header(ctx, t, own, size);
        rb_io_pool_free(&ctx->scratch);
        if (status == RB_OK) continue;
        if (ctx->err) snprintf(ctx->err->file, sizeof ctx->err->file, "%s", lines->path);
        return status;
    }
}

void rb_table_free(rb_table *table)
{
    if (!table) return;
    owned_table *t = (owned_table *)table;
    rb_io_pool pool = t->pool; /* a copy: the original lies in the pool */
    void *const blocks[] = { t->time, t->x, t->line };
    for (int k = 0; k < 3; k++)
        if (blocks[k]) pool.alloc.release(pool.alloc.ctx, blocks[k]);
    rb_io_pool_free(&pool);
}

rb_table *rb_table_read(const char *path, const rb_alloc *alloc, rb_error *err)
{
    rb_io_lines *lines = NULL;
    rb_io_context ctx = { .keep = rb_io_pool_make(alloc),
                          .scratch = rb_io_pool_make(alloc),
                          .err = err };
    owned_table *t = rb_io_take_kept(&ctx, 1, sizeof *t);
    rb_status status = t ? RB_OK : RB_NOMEM;
    if (t) lines = rb_io_pool_take(&ctx.keep, 1, sizeof *lines);
    if (t && !lines) status = RB_NOMEM;
    if (status == RB_OK) status = rb_io_lines_open(lines, path, &ctx.keep.alloc, err);
    if (status == RB_OK) {
        status = read_lines(&ctx, lines, t);
        rb_io_lines_close(lines);
    }
    if (status == RB_OK && t->table.nrow == 0)
        status = rb_io_error_set(err, RB_BAD_INPUT, path, 0, "no rows of numbers");
    if (!t) return NULL;
    t->pool = ctx.keep;
    t->table.time = t->time;
    t->table.x = t->x;
    t->table.line = t->line;
    if (status == RB_OK) return &t->table;
    rb_table_free(&t->table);
    return NULL;
}

int rb_table_row(const rb_table *table, double t)
{
    int from = -1, to = table->nrow; /* times[from] <= t < times[to] */
    while (to - from > 1) {
        int middle = from + (to - from) / 2;
        if (table->time[middle] <= t)
            from = middle;
        else
            to = middle;
    }
    return from;
}
