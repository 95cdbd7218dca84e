/* How the rooms fill an rb_error. */
#ifndef RB_BASE_ERROR_H
#define RB_BASE_ERROR_H

#include "rattleback/base.h"

#if defined(__GNUC__)
#define RB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define RB_PRINTF(fmt, args)
#endif

/* Fills err (may be NULL) and returns status, so that `return rb_fail(err, ...)` reads well. */
rb_status rb_fail(rb_error *err, rb_status status, const char *format, ...) RB_PRINTF(3, 4);

#endif
