/* A file as a sequence of lines. A line is gathered from fixed chunks into a buffer that grows up
 * to RB_IO_MAX_LINE; behind that the rest of the line is passed over without being kept, and behind
 * RB_IO_MAX_SKIP the file is given up: it may have no end. */
#include <errno.h>
#include <string.h>

#include "io/context.h"

enum { CHUNK = 1 << 16, FIRST_ROOM = 1 << 12 };

struct rb_problem_reader {
    rb_alloc alloc;
    rb_problem_format format;
    FILE *file;
    char path[256]; /* for messages; "stdin" where the path is "-"          */
    double size;    /* bytes in the file, < 0 = not known                   */
    double taken;   /* bytes handed to lines so far                         */
    int line;       /* number of the line read last                         */
    int ended;

    char chunk[CHUNK];
    size_t begin, end; /* unread part of the chunk                          */
    size_t skipped;    /* bytes of the current line that were not kept      */

    char *text; /* the current line                                         */
    size_t length, room;
};

/* ---- open and close ----------------------------------------------------------------------------
 */

/* The size of a plain file; a pipe cannot be sought. */
static double file_size(FILE *file)
{
    if (fseek(file, 0, SEEK_END) != 0) return -1.0;
    long size = ftell(file);
    rewind(file);
    return (double)size;
}

rb_problem_reader *rb_problem_open(const char *path, rb_problem_format format,
                                   const rb_alloc *alloc, rb_error *err)
{
    int standard = strcmp(path, "-") == 0;
    rb_alloc memory = alloc ? *alloc : rb_alloc_default();
    rb_problem_reader *r = memory.alloc(memory.ctx, sizeof *r);
    if (!r) {
        rb_io_error_set(err, RB_NOMEM, path, 0, "out of memory for a reader");
        return NULL;
    }
    memset(r, 0, sizeof *r);
    r->alloc = memory;
    r->format = format;
    snprintf(r->path, sizeof r->path, "%s", standard ? "stdin" : path);
    errno = 0;
    r->file = standard ? stdin : fopen(path, "rb");
    if (!r->file) {
        rb_io_error_set(err, RB_FILE, path, 0, "cannot be opened: %s", strerror(errno));
        memory.release(memory.ctx, r);
        return NULL;
    }
    r->size = standard ? -1.0 : file_size(r->file);
    return r;
}

void rb_problem_close(rb_problem_reader *r)
{
    if (!r) return;
    if (r->file != stdin) fclose(r->file);
    if (r->text) r->alloc.release(r->alloc.ctx, r->text);
    r->alloc.release(r->alloc.ctx, r);
}

double rb_problem_progress(const rb_problem_reader *r)
{
    if (r->size < 0.0) return -1.0;
    return r->size > 0.0 && r->taken < r->size ? r->taken / r->size : 1.0;
}

/* ---- lines -------------------------------------------------------------------------------------
 */

/* Room for `length` bytes, doubled each time. 0: out of memory. */
static int grow(rb_problem_reader *r, size_t length)
{
    size_t room = r->room ? r->room : FIRST_ROOM;
    while (room < length) room *= 2;
    if (room == r->room) return 1;
    char *text =
        r->text ? r->alloc.resize(r->alloc.ctx, r->text, room) : r->alloc.alloc(r->alloc.ctx, room);
    if (!text) return 0;
    r->text = text;
    r->room = room;
    return 1;
}

/* Gathers the next line without its end. *found = 0 at the end of the file. What is wrong with a
 * line is said after it has been passed, so that the next call begins behind it. */
static rb_status next_line(rb_problem_reader *r, int *found)
{
    rb_status status = RB_OK;
    r->length = r->skipped = 0;
    *found = 0;
    while (r->skipped < RB_IO_MAX_SKIP) {
        if (r->begin == r->end) {
            r->begin = 0;
            r->end = fread(r->chunk, 1, CHUNK, r->file);
            if (r->end == 0) break;
        }
        if (!*found) r->line++;
        *found = 1;

        const char *from = r->chunk + r->begin;
        const char *newline = memchr(from, '\n', r->end - r->begin);
        size_t count = newline ? (size_t)(newline - from) : r->end - r->begin;
        r->begin += count + (newline != NULL);
        r->taken += (double)(count + (newline != NULL));
        if (status == RB_OK && r->length + count > RB_IO_MAX_LINE) status = RB_TOO_LARGE;
        if (status == RB_OK && !grow(r, r->length + count)) status = RB_NOMEM;
        if (status == RB_OK) {
            memcpy(r->text + r->length, from, count);
            r->length += count;
        } else {
            r->skipped += count;
        }
        if (newline) return status;
    }
    if (ferror(r->file)) return RB_FILE;
    return status;
}

/* Drops a byte order mark before the first line and white space around any line. */
static const char *trim(const rb_problem_reader *r, size_t *size)
{
    static const char mark[3] = { '\xEF', '\xBB', '\xBF' };
    const char *from = r->text;
    const char *to = r->text + r->length;
    if (r->line == 1 && r->length >= sizeof mark && memcmp(from, mark, sizeof mark) == 0)
        from += sizeof mark;
    while (from < to && strchr(" \t\r", *from) && *from) from++;
    while (to > from && strchr(" \t\r", to[-1]) && to[-1]) to--;
    *size = (size_t)(to - from);
    return from;
}

static rb_status say_line(rb_problem_reader *r, rb_status status, rb_error *err)
{
    if (status == RB_FILE) {
        r->ended = 1;
        return rb_io_error_set(err, status, r->path, 0, "cannot be read: %s", strerror(errno));
    }
    if (r->skipped >= RB_IO_MAX_SKIP) {
        r->ended = 1;
        return rb_io_error_set(err, RB_TOO_LARGE, r->path, r->line,
                               "line: no end within %zu MiB; the rest of the file was not read",
                               RB_IO_MAX_SKIP >> 20);
    }
    if (status == RB_TOO_LARGE)
        return rb_io_error_set(err, status, r->path, r->line,
                               "line: over the limit of %zu MiB; "
                               "give the matrix as triplets or split the problem",
                               RB_IO_MAX_LINE >> 20);
    return rb_io_error_set(err, status, r->path, r->line, "line: out of memory for its text");
}

rb_status rb_problem_next(rb_problem_reader *r, rb_problem_entry **entry, rb_error *err)
{
    *entry = NULL;
    while (!r->ended) {
        int found;
        errno = 0;
        rb_status status = next_line(r, &found);
        if (status != RB_OK) return say_line(r, status, err);
        if (!found) break;

        size_t size;
        const char *text = trim(r, &size);
        if (size == 0) continue;
        status = rb_problem_parse(r->format, text, size, r->line, &r->alloc, entry, err);
        if (status != RB_OK && err) snprintf(err->file, sizeof err->file, "%s", r->path);
        return status;
    }
    r->ended = 1;
    return RB_OK;
}
