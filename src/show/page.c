/* Data in the place of one line of a page. */
#include <string.h>

#include "rattleback/show.h"

static const char place[] = "<!--rattleback:data-->";

/* Where the line is; NULL: nowhere. The page may hold any bytes. */
static const char *find(const char *page, size_t size)
{
    size_t n = sizeof place - 1;
    for (const char *at = page; size >= n && at <= page + size - n; at++) {
        at = memchr(at, place[0], (size_t)(page + size - at));
        if (!at || at > page + size - n) return NULL;
        if (memcmp(at, place, n) == 0) return at;
    }
    return NULL;
}

rb_status rb_page_write(FILE *out, const char *page, size_t size, const char *id,
                        rb_status (*write)(FILE *out, void *ctx), void *ctx, const void *wasm,
                        size_t wasm_size)
{
    const char *at = find(page, size);
    if (!at) return RB_BAD_INPUT;
    fwrite(page, 1, (size_t)(at - page), out);
    fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
    rb_status status = write(out, ctx);
    fputs("</script>\n", out);
    if (wasm) {
        fputs("<script type=\"text/plain\" id=\"rb-wasm\">", out);
        rb_put_base64(out, wasm, wasm_size);
        fputs("</script>\n", out);
    }
    at += sizeof place - 1;
    fwrite(at, 1, (size_t)(page + size - at), out);
    return status == RB_OK && ferror(out) ? RB_FILE : status;
}
