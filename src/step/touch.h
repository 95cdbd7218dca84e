/* Within src/step: the table of constraints that touched, by name. */
#ifndef RB_STEP_TOUCH_H
#define RB_STEP_TOUCH_H

#include "step/stage.h"

/* Order of constraints in sets and in the table of touching ones. < 0: x comes first. */
RB_INLINE int rb_touch_order(const rb_touch_id *x, const rb_touch_id *y)
{
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    if (x->b != y->b) return x->b < y->b ? -1 : 1;
    return x->c < y->c ? -1 : x->c > y->c;
}

/* touch.c */
const rb_touch *rb_touch_find(const rb_data *d, const rb_touch_id *id);
void rb_stage_store(rb_stage *s);

#endif
