/* A file as a sequence of lines, or of JSON values that may span several. */
#ifndef RATTLEBACK_SRC_IO_LINES_H
#define RATTLEBACK_SRC_IO_LINES_H

#include "io/context.h"

enum { RB_IO_CHUNK = 1 << 16 };

typedef struct rb_io_lines {
    rb_alloc alloc;
    FILE *file;
    char path[256]; /* for messages; "stdin" where the path is "-"          */
    double size;    /* bytes in the file, < 0 = not known                   */
    double taken;   /* bytes handed to lines so far                         */
    int line;       /* number of the line read last                         */
    int first;      /* number of the line on which the text begins          */
    int ended;

    char chunk[RB_IO_CHUNK];
    size_t begin, end; /* unread part of the chunk                          */
    size_t skipped;    /* bytes of the current line that were not kept      */

    char *text; /* the current line or value                                */
    size_t length, room;
} rb_io_lines;

/* Opens a file, or standard input where path is "-". Nothing is left open where it fails. */
rb_status rb_io_lines_open(rb_io_lines *l, const char *path, const rb_alloc *alloc, rb_error *err);
void rb_io_lines_close(rb_io_lines *l);

/* Share of the file that was read, 0 .. 1; negative where its size is not known. */
double rb_io_lines_progress(const rb_io_lines *l);

/* The next line that is not blank, without white space around it; *text = NULL at the end. Any
 * status other than RB_OK describes one line: call again for the next one. The text is valid
 * until the next call. */
rb_status rb_io_lines_next(rb_io_lines *l, const char **text, size_t *size, rb_error *err);

/* The same for a JSON value: lines are joined until its brackets are closed. After a line over the
 * budget the rest of the file is not read: the start of the next value is not known. */
rb_status rb_io_lines_next_value(rb_io_lines *l, const char **text, size_t *size, rb_error *err);

#endif
