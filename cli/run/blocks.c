#include "run/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum { BLOCK = 1 << 16 };       /* [bytes] */
static const double WAIT = 1.0; /* [s] */

int blocks_open(blocks *b, const char *path)
{
    *b = (blocks){ .path = path, .written = wall_seconds() };
    b->out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!b->out) {
        fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
        return 0;
    }
    /* a buffer of its own would cut blocks in the middle of a line */
    if (b->out != stdout) setvbuf(b->out, NULL, _IONBF, 0);
    b->text = open_memstream(&b->bytes, &b->size);
    if (b->text) return 1;
    fprintf(stderr, "%s: out of memory\n", path);
    if (b->out != stdout) fclose(b->out);
    return 0;
}

static void put_block(blocks *b)
{
    if (fflush(b->text) != 0 || fwrite(b->bytes, 1, b->size, b->out) != b->size ||
        fflush(b->out) != 0)
        b->failed = 1;
    rewind(b->text);
    b->written = wall_seconds();
}

void blocks_line(blocks *b)
{
    if (ftell(b->text) >= BLOCK || wall_seconds() - b->written > WAIT) put_block(b);
}

int blocks_close(blocks *b)
{
    put_block(b);
    if (fclose(b->text) != 0 || ferror(b->out)) b->failed = 1;
    if (b->out != stdout && fclose(b->out) != 0) b->failed = 1;
    if (b->failed) fprintf(stderr, "%s: not everything could be written\n", b->path);
    free(b->bytes);
    return !b->failed;
}
