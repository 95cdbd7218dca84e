/* Entries: one line of bytes to one problem with its memory. */
#include <string.h>

#include "io/fields.h"
#include "io/read.h"

/* What rb_problem_entry points into: the first member is what the caller sees. */
typedef struct owned_entry {
    rb_problem_entry entry;
    rb_io_pool pool;
} owned_entry;

/* A copy of at most 255 bytes that ends on a whole UTF-8 character. */
static char *copy_name(rb_io_context *ctx, const char *name)
{
    enum { LONGEST = 255 };
    size_t size = strlen(name);
    if (size > LONGEST) {
        size = LONGEST;
        while (size > 0 && ((unsigned char)name[size] & 0xC0) == 0x80) size--;
    }
    char *copy = rb_io_take_kept(ctx, size + 1, 1);
    if (copy) memcpy(copy, name, size);
    return copy;
}

static rb_status read_name(rb_io_context *ctx, const json_t *object, rb_problem_entry *entry)
{
    char by_line[32];
    snprintf(by_line, sizeof by_line, "line-%d", ctx->line);
    const char *name = by_line;
    rb_status status = rb_io_get_string(ctx, object, "name", &name);
    if (status != RB_OK) return status;
    entry->name = copy_name(ctx, name);
    return entry->name ? RB_OK : RB_NOMEM;
}

/* The corpora say "status": a word, or "solvable": true, false or null. Anything else is no
 * verdict. */
static const char *read_expected(const json_t *object)
{
    static const char *const words[] = { "solvable", "infeasible", "nosolution" };
    const char *status = json_string_value(json_object_get(object, "status"));
    for (size_t k = 0; status && k < sizeof words / sizeof *words; k++)
        if (strcmp(status, words[k]) == 0) return words[k];
    const json_t *solvable = json_object_get(object, "solvable");
    if (json_is_true(solvable)) return "solvable";
    return json_is_false(solvable) ? "nosolution" : "";
}

static rb_status read_entry(rb_io_context *ctx, rb_problem_format format, const json_t *object,
                            owned_entry **out)
{
    owned_entry *owned = rb_io_take_kept(ctx, 1, sizeof *owned);
    if (!owned) return RB_NOMEM;
    owned->entry.line = ctx->line;
    owned->entry.expected = read_expected(object);
    rb_status status = read_name(ctx, object, &owned->entry);
    if (status != RB_OK) return status;
    *out = owned;
    return format == RB_FORMAT_LCP ? rb_io_read_lcp(ctx, object, &owned->entry.problem)
                                   : rb_io_read_friction(ctx, object, &owned->entry.problem);
}

rb_status rb_problem_parse(rb_problem_format format, const char *bytes, size_t size, int line,
                           const rb_alloc *alloc, rb_problem_entry **entry, rb_error *err)
{
    rb_io_context ctx = {
        .keep = rb_io_pool_make(alloc), .scratch = rb_io_pool_make(alloc), .line = line, .err = err
    };
    owned_entry *owned = NULL;
    json_t *object = NULL;
    *entry = NULL;
    rb_status status = rb_io_parse_object(&ctx, bytes, size, &object);
    if (status == RB_OK) status = read_entry(&ctx, format, object, &owned);
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

void rb_problem_entry_free(rb_problem_entry *entry)
{
    if (!entry) return;
    rb_io_pool pool = ((owned_entry *)entry)->pool; /* a copy: the original lies in the pool */
    rb_io_pool_free(&pool);
}
