#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

const char *rb_status_text(rb_status status)
{
    switch (status) {
    case RB_OK:
        return "ok";
    case RB_NOMEM:
        return "out of memory";
    case RB_BAD_INPUT:
        return "bad input";
    case RB_UNSUPPORTED:
        return "not supported by this solver";
    case RB_TOO_LARGE:
        return "too large";
    case RB_FILE:
        return "file error";
    case RB_SINGULAR:
        return "singular inertia";
    case RB_FULL:
        return "no room for all contacts";
    case RB_UNSOLVED:
        return "no certified answer";
    case RB_CROWDED:
        return "more events than the budget of a step";
    case RB_JAMMED:
        return "jammed";
    case RB_BUDGET:
        return "more work than the budget of a step";
    case RB_CANCELLED:
        return "cancelled";
    }
    return "unknown status";
}

rb_status rb_fail(rb_error *err, rb_status status, const char *format, ...)
{
    if (!err) return status;
    err->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}
