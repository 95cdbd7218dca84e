/* libpng leaves by longjmp: between setjmp and its end nothing is owned but what `work` holds. */
#include "io/png.h"

#include <setjmp.h>
#include <string.h>

#include <png.h>

typedef struct work {
    const unsigned char *at, *end;
    size_t most;
    rb_io_image *out;
    unsigned char *row; /* of all channels */
    rb_status status;
    const char *reason;
} work;

static void take_bytes(png_structp png, png_bytep to, png_size_t count)
{
    work *w = png_get_io_ptr(png);
    if (count > (size_t)(w->end - w->at)) png_error(png, "cut");
    memcpy(to, w->at, count);
    w->at += count;
}

static void leave(png_structp png, png_const_charp text)
{
    (void)text;
    longjmp(png_jmpbuf(png), 1);
}

static void ignore(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

/* Leaves with a status of our own. */
static void give_up(png_structp png, work *w, rb_status status, const char *reason)
{
    w->status = status;
    w->reason = reason;
    longjmp(png_jmpbuf(png), 1);
}

static void prepare(png_structp png, png_infop info, work *w)
{
    png_uint_32 width = 0, height = 0;
    int depth, colour;
    png_read_info(png, info);
    png_get_IHDR(png, info, &width, &height, &depth, &colour, NULL, NULL, NULL);
    if (width == 0 || height == 0 || height > w->most / width)
        give_up(png, w, RB_TOO_LARGE, "the image has too many points");
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    w->out->nrow = (int)height;
    w->out->ncol = (int)width;
}

static void read_rows(png_structp png, png_infop info, work *w)
{
    rb_alloc *a = &w->out->alloc;
    size_t nrow = (size_t)w->out->nrow, ncol = (size_t)w->out->ncol;
    size_t bytes = png_get_rowbytes(png, info), channels = png_get_channels(png, info);
    int passes = png_set_interlace_handling(png);
    w->out->gray = a->alloc(a->ctx, nrow * ncol);
    w->row = a->alloc(a->ctx, passes > 1 ? nrow * bytes : bytes);
    if (!w->out->gray || !w->row) give_up(png, w, RB_NOMEM, "out of memory for the image");

    /* an interlaced image is whole only after its last pass */
    for (int pass = 0; pass < passes; pass++) {
        for (size_t r = 0; r < nrow; r++) {
            unsigned char *row = passes > 1 ? w->row + r * bytes : w->row;
            png_read_row(png, row, NULL);
            for (size_t c = 0; c < ncol; c++) w->out->gray[r * ncol + c] = row[c * channels];
        }
    }
}

/* 0: libpng gave up. */
static int run(png_structp png, png_infop info, work *w)
{
    if (setjmp(png_jmpbuf(png)) != 0) return 0;
    png_set_read_fn(png, w, take_bytes);
    prepare(png, info, w);
    read_rows(png, info, w);
    return 1;
}

rb_status rb_io_png_read(const char *bytes, size_t size, size_t most, const rb_alloc *alloc,
                         rb_io_image *out, const char **reason)
{
    *out = (rb_io_image){ .alloc = alloc ? *alloc : rb_alloc_default() };
    work w = { .at = (const unsigned char *)bytes,
               .end = (const unsigned char *)bytes + size,
               .most = most,
               .out = out,
               .status = RB_BAD_INPUT,
               .reason = "the file is no PNG image, or a broken one" };
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, leave, ignore);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    int done = info && run(png, info, &w);
    if (!info) w.status = RB_NOMEM, w.reason = "out of memory for the image";
    png_destroy_read_struct(png ? &png : NULL, info ? &info : NULL, NULL);
    if (w.row) out->alloc.release(out->alloc.ctx, w.row);
    *reason = done ? "" : w.reason;
    if (done) return RB_OK;
    rb_io_image_free(out);
    return w.status;
}

void rb_io_image_free(rb_io_image *image)
{
    if (image->gray) image->alloc.release(image->alloc.ctx, image->gray);
    image->gray = NULL;
    image->nrow = image->ncol = 0;
}
