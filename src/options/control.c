/* Control instants are t = k every. A step from t to t + h calls the controller where one of them
 * lies after t - h, the beginning of the step before, and not after t. Times are sums of steps and
 * may miss an instant by rounding; a slack allows for that. */
#include <math.h>

#include "base/constants.h"
#include "options/options.h"

/* Share of a step by which a sum of steps may miss a control instant [1]. Larger: controls come a
 * step early. Smaller: the rounding of long runs makes them come a step late. */
#define INSTANT_SLACK 1e-6

int rb_control_is_due(const rb_control *control, double time, double h)
{
    if (!(control->every > 0.0)) return 1;
    double now = time + INSTANT_SLACK * h;
    return floor(now / control->every) > floor((now - h) / control->every);
}

rb_status rb_step_control(const rb_model *m, rb_data *d, const rb_step_opts *o, double h,
                          rb_error *err)
{
    const rb_control *control = &o->control;
    if (!control->set || !rb_control_is_due(control, d->time, h)) return RB_OK;
    return control->set(control->ctx, m, d, h, err);
}
