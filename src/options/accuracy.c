/* The accuracies of a step by name, and what each of them promises (S.17). */
#include <string.h>

#include "base/constants.h"
#include "rattleback/step.h"

/* Overlap made by steps that is repaired, by their accuracy, in units of the extent of the smaller
 * moving body of the pair [1]. Larger: curved surfaces may overlap by this much. Smaller: more
 * repairs without visible effect. */
#define DEEP_STANDARD 1e-6
#define DEEP_STRICT   1e-9
#define DEEP_FAST     1e-4

typedef struct promise {
    const char *name;
    double tol;     /* relative residual [1]                                */
    double overlap; /* per extent of the smaller moving body of a pair [1]  */
} promise;

static const promise promises[] = {
    [RB_ACCURACY_STANDARD] = { "standard", RB_TOL_STANDARD, DEEP_STANDARD },
    [RB_ACCURACY_STRICT] = { "strict", RB_TOL_STRICT, DEEP_STRICT },
    [RB_ACCURACY_FAST] = { "fast", RB_TOL_FAST, DEEP_FAST },
};

enum { PROMISES = sizeof promises / sizeof *promises };

/* What is none of them counts as the default. */
static const promise *of(rb_accuracy accuracy)
{
    return &promises[(int)accuracy >= 0 && (int)accuracy < PROMISES ? accuracy : 0];
}

int rb_accuracy_find(const char *name, rb_accuracy *out)
{
    for (int k = 0; k < PROMISES; k++) {
        if (strcmp(name, promises[k].name) != 0) continue;
        *out = (rb_accuracy)k;
        return 1;
    }
    return 0;
}

const char *rb_accuracy_name(rb_accuracy accuracy)
{
    return of(accuracy)->name;
}

double rb_accuracy_tol(rb_accuracy accuracy)
{
    return of(accuracy)->tol;
}

double rb_accuracy_overlap(rb_accuracy accuracy)
{
    return of(accuracy)->overlap;
}

double rb_step_opts_tol(const rb_step_opts *o)
{
    if (!o) return rb_accuracy_tol(rb_step_opts_default().accuracy);
    return o->tol > 0.0 ? o->tol : rb_accuracy_tol(o->accuracy);
}
