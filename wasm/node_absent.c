/* The node rule is on trial and not part of the engine of the browser, whose size is bounded. */
#include "base/error.h"
#include "step/node.h"

rb_status rb_stage_node(rb_stage *s)
{
    return rb_fail(s->err, RB_UNSUPPORTED, "the scheme node is not in this build: take midpoint");
}
