#include "run/overlap.h"

#include <stdio.h>
#include <stdlib.h>

#include "rattleback/dynamics.h"

/* Pairs that are named; overlap that is, in units of the extent of the model [1]: the steps
 * themselves promise 1e-9. */
enum { MOST_LINES = 8 };
#define REPORTED 1e-8

static int deeper(const void *a, const void *b)
{
    const rb_contact *x = a, *y = b;
    if (x->at.gap != y->at.gap) return x->at.gap < y->at.gap ? -1 : 1;
    if (x->geom1 != y->geom1) return x->geom1 - y->geom1;
    return x->geom2 - y->geom2;
}

/* The deepest point of each pair is kept, in its order. */
static int one_per_pair(rb_contact *c, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (kept > 0 && c[kept - 1].geom1 == c[i].geom1 && c[kept - 1].geom2 == c[i].geom2) {
            if (c[i].at.gap < c[kept - 1].at.gap) c[kept - 1] = c[i];
        } else {
            c[kept++] = c[i];
        }
    }
    return kept;
}

int overlap_say(const rb_model *m, rb_data *d, const rb_step_opts *opts)
{
    int n = 0, reported = 0;
    char a[160], b[160];
    rb_contact none;
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_frames(m, d);
    rb_status status = rb_collide(m, d, 0.0, 0.0, 0, &none, &n, NULL);
    rb_contact *found = status == RB_FULL ? malloc((size_t)n * sizeof *found) : NULL;
    if (!found || rb_collide(m, d, 0.0, 0.0, n, found, &n, NULL) != RB_OK) n = 0;
    n = one_per_pair(found, n);
    if (n > 1) qsort(found, (size_t)n, sizeof *found, deeper);
    while (reported < n && -found[reported].at.gap > REPORTED * m->extent) reported++;
    for (int i = 0; i < reported && i < MOST_LINES; i++) {
        fprintf(stderr, "%s and %s overlap by %.3g m at the start\n",
                rb_geom_title(m, found[i].geom1, a, sizeof a),
                rb_geom_title(m, found[i].geom2, b, sizeof b), -found[i].at.gap);
    }
    if (reported > MOST_LINES) fprintf(stderr, "and %d pairs more\n", reported - MOST_LINES);
    if (reported > 0 && opts->keep_errors)
        fputs("they are kept from sinking deeper, and without friction where both belong to one "
              "mechanism\n",
              stderr);
    else if (reported > 0 && opts->project == 0.0)
        fputs("they are moved apart within 0.2 s without getting velocity; --keep-errors leaves "
              "them\n",
              stderr);
    free(found);
    return reported;
}
