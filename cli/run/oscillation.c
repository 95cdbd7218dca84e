#include "run/oscillation.h"

#include <math.h>
#include <stdlib.h>

/* Of the last WINDOW steps so many may reverse, and so many one after the other. Smooth motion that
 * the step resolves has one or two; samples of a motion that is faster than the step reverse in two
 * of three. */
enum { WINDOW = 16, MOST_TURNS = 9, MOST_IN_A_ROW = 5 };

/* Motion below which a reversal is rounding of a joint at rest [m or rad]. */
static const double LEAST = 1e-5;

int oscillation_start(oscillation *o, const rb_model *m, const rb_data *d)
{
    size_t n = (size_t)m->njnt + 1;
    *o = (oscillation){ .q = calloc(n, sizeof *o->q),
                        .dq = calloc(n, sizeof *o->dq),
                        .turns = calloc(n, sizeof *o->turns),
                        .joint = -1 };
    if (!o->q || !o->dq || !o->turns) return 0;
    for (int j = 0; j < m->njnt; j++) o->q[j] = d->q[m->jnt_qadr[j]];
    return 1;
}

void oscillation_free(oscillation *o)
{
    free(o->q);
    free(o->dq);
    free(o->turns);
    *o = (oscillation){ .joint = -1 };
}

static int count_bits(unsigned x)
{
    int n = 0;
    for (; x; x &= x - 1) n++;
    return n;
}

int oscillation_step(oscillation *o, const rb_model *m, const rb_data *d)
{
    for (int j = 0; j < m->njnt && o->joint < 0; j++) {
        if (m->jnt_type[j] != RB_JOINT_HINGE && m->jnt_type[j] != RB_JOINT_SLIDE) continue;
        double q = d->q[m->jnt_qadr[j]], dq = q - o->q[j];
        unsigned reversed = dq * o->dq[j] < 0.0 && fabs(dq) > LEAST && fabs(o->dq[j]) > LEAST;
        o->turns[j] = ((o->turns[j] << 1) | reversed) & ((1u << WINDOW) - 1);
        o->q[j] = q;
        o->dq[j] = dq;
        unsigned row = (1u << MOST_IN_A_ROW) - 1;
        if (count_bits(o->turns[j]) < MOST_TURNS && (o->turns[j] & row) != row) continue;
        o->joint = j;
        return 1;
    }
    return 0;
}
