/* A line is gathered from fixed chunks into a buffer that grows up to RB_IO_MAX_LINE; after
 * that the rest of the line is skipped, and after RB_IO_MAX_SKIP bytes reading ends: the file may
 * have no end. */
#include "io/lines.h"
#include "io/path.h"

#include <errno.h>
#include <string.h>

enum { FIRST_ROOM = 1 << 12 };

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

rb_status rb_io_lines_open(rb_io_lines *l, const char *path, const rb_alloc *alloc, rb_error *err)
{
    int standard = strcmp(path, "-") == 0;
    memset(l, 0, sizeof *l);
    l->alloc = alloc ? *alloc : rb_alloc_default();
    snprintf(l->path, sizeof l->path, "%s", standard ? "stdin" : path);
    errno = 0;
    l->file = standard ? stdin : fopen(path, "rb");
    if (!l->file) {
        char place[RB_IO_PATH_MAX + 16];
        return rb_io_error_set(err, RB_FILE, path, 0, "cannot be opened: %s%s", strerror(errno),
                               rb_io_path_looked(path, place));
    }
    l->size = standard ? -1.0 : file_size(l->file);
    return RB_OK;
}

void rb_io_lines_close(rb_io_lines *l)
{
    if (l->file != stdin) fclose(l->file);
    if (l->text) l->alloc.release(l->alloc.ctx, l->text);
}

double rb_io_lines_progress(const rb_io_lines *l)
{
    if (l->size < 0.0) return -1.0;
    return l->size > 0.0 && l->taken < l->size ? l->taken / l->size : 1.0;
}

/* ---- one line ----------------------------------------------------------------------------------
 */

/* Room for `length` bytes, doubled each time. 0: out of memory. */
static int grow(rb_io_lines *l, size_t length)
{
    size_t room = l->room ? l->room : FIRST_ROOM;
    while (room < length) room *= 2;
    if (room == l->room) return 1;
    char *text =
        l->text ? l->alloc.resize(l->alloc.ctx, l->text, room) : l->alloc.alloc(l->alloc.ctx, room);
    if (!text) return 0;
    l->text = text;
    l->room = room;
    return 1;
}

/* Appends the next line without its end. *found = 0 at the end of the file. An error of
 * a line is returned after it has been read, so that the next call begins after it. */
static rb_status append_line(rb_io_lines *l, int *found)
{
    rb_status status = RB_OK;
    l->skipped = 0;
    *found = 0;
    while (l->skipped < RB_IO_MAX_SKIP) {
        if (l->begin == l->end) {
            l->begin = 0;
            l->end = fread(l->chunk, 1, RB_IO_CHUNK, l->file);
            if (l->end == 0) break;
        }
        if (!*found) l->line++;
        *found = 1;

        const char *from = l->chunk + l->begin;
        const char *newline = memchr(from, '\n', l->end - l->begin);
        size_t count = newline ? (size_t)(newline - from) : l->end - l->begin;
        l->begin += count + (newline != NULL);
        l->taken += (double)(count + (newline != NULL));
        if (status == RB_OK && l->length + count > RB_IO_MAX_LINE) status = RB_TOO_LARGE;
        if (status == RB_OK && !grow(l, l->length + count)) status = RB_NOMEM;
        if (status == RB_OK) {
            memcpy(l->text + l->length, from, count);
            l->length += count;
        } else {
            l->skipped += count;
        }
        if (newline) return status;
    }
    if (ferror(l->file)) return RB_FILE;
    return status;
}

/* Drops a byte order mark before the first line and white space around any text. */
static const char *trim(const rb_io_lines *l, size_t *size)
{
    static const char mark[3] = { '\xEF', '\xBB', '\xBF' };
    const char *from = l->text;
    const char *to = l->text + l->length;
    if (l->first == 1 && l->length >= sizeof mark && memcmp(from, mark, sizeof mark) == 0)
        from += sizeof mark;
    while (from < to && strchr(" \t\r\n", *from) && *from) from++;
    while (to > from && strchr(" \t\r\n", to[-1]) && to[-1]) to--;
    *size = (size_t)(to - from);
    return from;
}

static rb_status say_line(rb_io_lines *l, rb_status status, rb_error *err)
{
    if (status == RB_FILE) {
        l->ended = 1;
        return rb_io_error_set(err, status, l->path, 0, "cannot be read: %s", strerror(errno));
    }
    if (l->skipped >= RB_IO_MAX_SKIP) {
        l->ended = 1;
        return rb_io_error_set(err, RB_TOO_LARGE, l->path, l->line,
                               "line: no end within %zu MiB; the rest of the file was not read",
                               RB_IO_MAX_SKIP >> 20);
    }
    if (status == RB_TOO_LARGE)
        return rb_io_error_set(err, status, l->path, l->first,
                               "line: over the limit of %zu MiB; "
                               "give the matrix as triplets or split the problem",
                               RB_IO_MAX_LINE >> 20);
    return rb_io_error_set(err, status, l->path, l->first, "line: out of memory for its text");
}

rb_status rb_io_lines_next(rb_io_lines *l, const char **text, size_t *size, rb_error *err)
{
    *text = NULL;
    while (!l->ended) {
        int found;
        errno = 0;
        l->length = 0;
        rb_status status = append_line(l, &found);
        l->first = l->line;
        if (status != RB_OK) return say_line(l, status, err);
        if (!found) break;
        const char *trimmed = trim(l, size);
        if (*size == 0) continue;
        *text = trimmed;
        return RB_OK;
    }
    l->ended = 1;
    return RB_OK;
}

/* ---- one value ---------------------------------------------------------------------------------
 */

/* Brackets opened minus brackets closed; strings of JSON end on their line. */
static long bracket_balance(const char *text, size_t size)
{
    long depth = 0;
    int in_string = 0;
    for (size_t k = 0; k < size; k++) {
        char c = text[k];
        if (in_string && c == '\\')
            k++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string)
            depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    }
    return depth;
}

rb_status rb_io_lines_next_value(rb_io_lines *l, const char **text, size_t *size, rb_error *err)
{
    long depth = 0;
    rb_status status = rb_io_lines_next(l, text, size, err);
    if (status != RB_OK) l->ended = 1;
    if (status != RB_OK || !*text) return status;
    depth = bracket_balance(l->text, l->length);
    while (depth > 0) {
        int found;
        size_t before = l->length + 1;
        if (!grow(l, before)) status = RB_NOMEM;
        if (status == RB_OK) {
            l->text[l->length++] = '\n';
            status = append_line(l, &found);
        }
        if (status != RB_OK) {
            *text = NULL;
            say_line(l, status, err);
            l->ended = 1;
            return status;
        }
        if (!found) break;
        depth += bracket_balance(l->text + before, l->length - before);
    }
    *text = trim(l, size);
    return RB_OK;
}
