/* A file of problems: one JSON object per line. */
#include <string.h>

#include "io/lines.h"

struct rb_problem_reader {
    rb_alloc alloc;
    rb_problem_format format;
    rb_io_lines lines;
};

rb_problem_reader *rb_problem_open(const char *path, rb_problem_format format,
                                   const rb_alloc *alloc, rb_error *err)
{
    rb_alloc memory = alloc ? *alloc : rb_alloc_default();
    rb_problem_reader *r = memory.alloc(memory.ctx, sizeof *r);
    if (!r) {
        rb_io_error_set(err, RB_NOMEM, path, 0, "out of memory for a reader");
        return NULL;
    }
    r->alloc = memory;
    r->format = format;
    if (rb_io_lines_open(&r->lines, path, &memory, err) == RB_OK) return r;
    memory.release(memory.ctx, r);
    return NULL;
}

void rb_problem_close(rb_problem_reader *r)
{
    if (!r) return;
    rb_io_lines_close(&r->lines);
    r->alloc.release(r->alloc.ctx, r);
}

double rb_problem_progress(const rb_problem_reader *r)
{
    return rb_io_lines_progress(&r->lines);
}

rb_status rb_problem_next(rb_problem_reader *r, rb_problem_entry **entry, rb_error *err)
{
    const char *text;
    size_t size;
    *entry = NULL;
    rb_status status = rb_io_lines_next(&r->lines, &text, &size, err);
    if (status != RB_OK || !text) return status;
    status = rb_problem_parse(r->format, text, size, r->lines.line, &r->alloc, entry, err);
    if (status != RB_OK && err) snprintf(err->file, sizeof err->file, "%s", r->lines.path);
    return status;
}
