/* Defaults of a step, for users who have read nothing, and what is refused. */
#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/error.h"
#include "rattleback/step.h"
#include "solve/internal.h"
#include "options/options.h"

/* Largest residual at which a step that missed its accuracy advances, and is counted [1]. Larger:
 * friction has visible errors. Smaller: steps are refused where one digit is missing. */
#define TOL_LOOSE 1e-3

static const char *const stepper_names[] = { [RB_STEPPER_FIXED] = "fixed",
                                             [RB_STEPPER_LOCATED] = "located",
                                             [RB_STEPPER_IMPULSE] = "impulse",
                                             [RB_STEPPER_HYBRID] = "hybrid" };

enum { STEPPERS = sizeof stepper_names / sizeof *stepper_names };

int rb_stepper_find(const char *name, rb_stepper *out)
{
    for (int k = 0; k < STEPPERS; k++) {
        if (strcmp(name, stepper_names[k]) != 0) continue;
        *out = (rb_stepper)k;
        return 1;
    }
    return 0;
}

const char *rb_stepper_name(rb_stepper stepper)
{
    return (int)stepper >= 0 && (int)stepper < STEPPERS ? stepper_names[stepper] : "unknown";
}

rb_step_opts rb_step_opts_default(void)
{
    return (rb_step_opts){
        .formulation = rb_formulation_find("cone"),
        .solver = &rb_solver_auto,
        .law = RB_STRONGE,
        .directions = 8,
        .loose = TOL_LOOSE,
        .friction = NAN,
        .restitution = NAN,
        .max_repair = 8,
        .max_split = 10,
        .stick_speed = 1e-3,
        .phantom_share = 1e-6,
        .phantom_directions = 2,
        .lateral = 1,
    };
}

rb_status rb_step_opts_check(const rb_step_opts *o, double h, rb_error *err)
{
    if (!o->formulation || !o->solver)
        return rb_fail(err, RB_BAD_INPUT, "options do not come from rb_step_opts_default");
    if (!(o->shell >= 0.0) || isinf(o->shell))
        return rb_fail(err, RB_BAD_INPUT, "shell must be finite and not negative");
    if (!(h > 0.0) || isinf(h)) return rb_fail(err, RB_BAD_INPUT, "the step must be positive");
    if (!(o->control.every >= 0.0) || isinf(o->control.every))
        return rb_fail(err, RB_BAD_INPUT, "control.every must be finite and not negative");
    if (!(o->tol >= 0.0)) return rb_fail(err, RB_BAD_INPUT, "tol must not be negative");
    if ((int)o->accuracy < RB_ACCURACY_STANDARD || (int)o->accuracy > RB_ACCURACY_FAST)
        return rb_fail(err, RB_BAD_INPUT, "accuracy must be one of rb_accuracy");
    if (isnan(o->budget)) return rb_fail(err, RB_BAD_INPUT, "budget must be a number");
    if (!(o->loose >= 0.0)) return rb_fail(err, RB_BAD_INPUT, "loose must not be negative");
    if (o->directions < 4 || o->directions % 2 != 0)
        return rb_fail(err, RB_BAD_INPUT, "directions must be even and at least 4");
    if (o->lateral < 0 || o->lateral > 2)
        return rb_fail(err, RB_BAD_INPUT, "lateral must be 0, 1 or 2");
    if (o->phantom_directions < 2)
        return rb_fail(err, RB_BAD_INPUT, "phantom_directions must be at least 2");
    if (!(o->phantom_share >= 0.0) || !(o->stick_speed >= 0.0) || !(o->regularise >= 0.0))
        return rb_fail(err, RB_BAD_INPUT,
                       "phantom_share, stick_speed and regularise must not be negative");
    if (!(o->project >= 0.0 && o->project <= 1.0))
        return rb_fail(err, RB_BAD_INPUT, "project must be between 0 and 1");
    if (o->max_repair < 0) return rb_fail(err, RB_BAD_INPUT, "max_repair must not be negative");
    if (o->max_split < 0 || o->max_split > 30)
        return rb_fail(err, RB_BAD_INPUT, "max_split must be 0 to 30");
    if (o->friction < 0.0 || isinf(o->friction))
        return rb_fail(err, RB_BAD_INPUT, "friction must be finite and not negative");
    if (o->restitution < 0.0 || o->restitution > 1.0)
        return rb_fail(err, RB_BAD_INPUT, "restitution must be between 0 and 1");
    if ((int)o->scheme < RB_SCHEME_NODE || (int)o->scheme > RB_SCHEME_MOREAU_JEAN)
        return rb_fail(err, RB_BAD_INPUT, "scheme must be one of rb_scheme");
    if (o->stepper == RB_STEPPER_IMPULSE && o->scheme != RB_SCHEME_NODE)
        return rb_fail(err, RB_UNSUPPORTED,
                       "the stepper impulse has flights instead of a scheme: take no scheme, or "
                       "another stepper");
    if (!(o->solver->accepts & rb_formulation_kind(o->formulation)))
        return rb_fail(err, RB_UNSUPPORTED, "the solver %s does not take the problems of %s",
                       o->solver->name, rb_formulation_name(o->formulation));
    return RB_OK;
}
