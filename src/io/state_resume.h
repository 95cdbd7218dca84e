/* The part of a saved state that a step remembers. */
#ifndef RATTLEBACK_SRC_IO_STATE_RESUME_H
#define RATTLEBACK_SRC_IO_STATE_RESUME_H

#include "io/context.h"

/* The member "resume" of a state, or NULL where there is none; kept memory. */
rb_status rb_io_state_resume(rb_io_context *ctx, const json_t *object, const rb_model *m,
                             const rb_state_resume **out);

#endif
