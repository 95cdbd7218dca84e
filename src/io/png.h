/* Images as heights: the first channel of a PNG file, in 8 bits. */
#ifndef RATTLEBACK_SRC_IO_PNG_H
#define RATTLEBACK_SRC_IO_PNG_H

#include "rattleback/base.h"

typedef struct rb_io_image {
    rb_alloc alloc;
    int nrow, ncol;
    unsigned char *gray; /* row major, the upper row first  (nrow x ncol) */
} rb_io_image;

/* Gray, or the red of coloured images, as MuJoCo takes it; the upper 8 of 16 bits; no alpha, no
 * gamma. At most `most` points. RB_BAD_INPUT: no PNG file, or a broken one; `reason` says why (it
 * lives as long as the program). On refusal `out` is empty. */
rb_status rb_io_png_read(const char *bytes, size_t size, size_t most, const rb_alloc *alloc,
                         rb_io_image *out, const char **reason);

void rb_io_image_free(rb_io_image *image);

#endif
