/* Substeps by energy. The midpoint rule keeps energy to third order in the rotation of a step;
 * where the end of a chain cracks like a whip that is not enough. Between start and end
 *
 *     T1 - T0 = sum over substeps  h v_m.F(q_m, v_m)                                       (D.45)
 *
 * with all forces in F and T the kinetic energy. What is missing or too much is an error of the
 * rule, of second order in the length of substeps: their number follows from it. */
#include "dynamics/smooth_energy.h"

#include <math.h>

#include "base/constants.h"
#include "dynamics/forward.h"
#include "dynamics/placed.h"
#include "math/vec3.h"
#include "rattleback/dynamics.h"

/* Factor by which substeps may grow at a time [1]: the error of long ones says little. */
#define MOST_GROWTH 4.0

/* Of links that are placed. */
static double kinetic(const rb_model *m, const rb_data *d, const rb_plane *flat)
{
    return flat ? rb_plane_kinetic(m, d->v, flat) : rb_energy_kinetic(m, d);
}

static void place(const rb_model *m, rb_data *d, rb_plane *flat)
{
    if (flat)
        rb_plane_place(m, d, flat);
    else
        rb_forward_place(m, d);
}

void rb_smooth_energy_start(const rb_model *m, rb_data *d, rb_plane *flat, int placed,
                            rb_smooth_energy *e)
{
    e->watched = m->nmocap == 0;
    if (e->watched && !placed && flat) rb_plane_place(m, d, flat);
    if (e->watched && !placed && !flat) rb_placed_links(m, d);
    e->before = e->watched ? kinetic(m, d, flat) : 0.0;
    e->made = INFINITY;
}

double rb_smooth_weight_power(const rb_model *m, const rb_data *d)
{
    double power = 0.0;
    for (int k = 1; k < m->nlink; k++) {
        double v[3];
        rb_cross3(d->link_w + 3 * (ptrdiff_t)k, d->link_c + 3 * (ptrdiff_t)k, v);
        rb_add3(d->link_v + 3 * (ptrdiff_t)k, v, v);
        power += m->link_mass[k] * rb_dot3(m->option.gravity, v);
    }
    return power;
}

double rb_smooth_energy_made(const rb_model *m, rb_data *d, rb_plane *flat,
                             const rb_smooth_energy *e)
{
    if (!e->watched) return 0.0;
    place(m, d, flat);
    return kinetic(m, d, flat) - e->before - e->work;
}

int rb_smooth_energy_substeps(const rb_model *m, rb_data *d, rb_plane *flat, rb_smooth_energy *e,
                              int count)
{
    if (!e->watched) return count;
    double last = fabs(e->made);
    e->made = rb_smooth_energy_made(m, d, flat, e);
    double after = e->made + e->before + e->work;
    double allowed = RB_SMOOTH_ENERGY * fmax(after, e->before);
    double error = fabs(e->made);
    if (error <= allowed || error > 0.5 * last) return count; /* more of them do not help */
    double growth = fmin(MOST_GROWTH, 1.1 * sqrt(error / allowed));
    return (int)ceil(growth * count);
}
