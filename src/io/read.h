/* A parsed line -> a problem; one reader per format. */
#ifndef RATTLEBACK_SRC_IO_READ_H
#define RATTLEBACK_SRC_IO_READ_H

#include "io/context.h"

rb_status rb_io_read_lcp(rb_io_context *ctx, const json_t *object, rb_problem *p);
rb_status rb_io_read_friction(rb_io_context *ctx, const json_t *object, rb_problem *p);

#endif
