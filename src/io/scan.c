/* One pass over a line before it is parsed. A parsed value costs up to a hundred times the bytes of
 * its text ("{}," is three bytes, an empty object some three hundred), so that a limit on bytes
 * does not limit memory: brackets, commas and colons are counted and limited one by one. */
#include "io/fields.h"

typedef struct tally {
    int depth, deepest, in_string;
    size_t containers, commas, members;
} tally;

static tally count(const char *bytes, size_t size)
{
    tally t = { 0 };
    for (size_t k = 0; k < size; k++) {
        char c = bytes[k];
        if (t.in_string) {
            if (c == '\\')
                k++;
            else if (c == '"')
                t.in_string = 0;
            continue;
        }
        switch (c) {
        case '"':
            t.in_string = 1;
            break;
        case '[':
        case '{':
            t.containers++;
            t.depth++;
            if (t.depth > t.deepest) t.deepest = t.depth;
            break;
        case ']':
        case '}':
            t.depth--;
            break;
        case ',':
            t.commas++;
            break;
        case ':':
            t.members++;
            break;
        default:
            break;
        }
    }
    return t;
}

rb_status rb_io_scan(rb_io_context *ctx, const char *bytes, size_t size)
{
    if (size > RB_IO_MAX_LINE)
        return rb_io_refuse(ctx, RB_TOO_LARGE, "line",
                            "over the limit of %zu MiB; give the matrix "
                            "as triplets or split the problem",
                            RB_IO_MAX_LINE >> 20);
    tally t = count(bytes, size);
    if (t.deepest > RB_IO_MAX_DEPTH)
        return rb_io_refuse(ctx, RB_TOO_LARGE, "line", "brackets nested %d deep, the limit is %d",
                            t.deepest, RB_IO_MAX_DEPTH);
    if (t.containers > RB_IO_MAX_CONTAINERS)
        return rb_io_refuse(ctx, RB_TOO_LARGE, "line", "%zu arrays and objects, the limit is %zu",
                            t.containers, RB_IO_MAX_CONTAINERS);
    if (t.members > RB_IO_MAX_MEMBERS)
        return rb_io_refuse(ctx, RB_TOO_LARGE, "line", "%zu keys, the limit is %zu", t.members,
                            RB_IO_MAX_MEMBERS);
    if (t.commas + t.containers > RB_IO_MAX_VALUES)
        return rb_io_refuse(ctx, RB_TOO_LARGE, "line",
                            "more than %zu values; give the matrix as "
                            "triplets or split the problem",
                            RB_IO_MAX_VALUES);
    if (t.depth > 0 || t.in_string)
        return rb_io_refuse(ctx, RB_BAD_INPUT, "line",
                            "ends inside a value; expected one whole "
                            "JSON object on one line (is the file truncated?)");
    return RB_OK;
}
