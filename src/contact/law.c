/* The coefficient of a contact as a function of its speed before the step,
 *
 *     mu(v) = mu_k + (mu_s - mu_k) exp(-(v/v_s)^2) + c v                                  (F.13)
 *
 * Taken one step late it is a number, and the problem keeps its form: Coulomb's law reverses no
 * motion, however large mu is, so that the lag costs accuracy of first order and never
 * stability. */
#include "contact/law.h"

#include <math.h>

#include "base/constants.h"
#include "math/trig.h"

double rb_friction_at(const rb_material *m, double speed, int slides)
{
    double mu = slides ? m->friction : m->friction_static;
    if (!isnan(m->stribeck_speed)) {
        double x = speed / m->stribeck_speed;
        mu = m->friction + (m->friction_static - m->friction) * rb_exp(-x * x);
    }
    return isnan(m->friction_viscous) ? mu : mu + m->friction_viscous * speed;
}

/* Of the points of a face that rests, the impulses of some may lie on the border of their cones:
 * their mode is that of sliding, and nothing slides. */
double rb_friction_now(const rb_island *is, int i)
{
    const double *u = is->u_before + is->row[i] + 1;
    double speed = sqrt(u[0] * u[0] + u[1] * u[1]);
    int slides = is->mode_prev[i] == RB_MODE_SLIDE && speed > RB_SLIP_RATE * is->h;
    return rb_friction_at(&is->c[i]->material, speed, slides);
}

rb_status rb_refuse_polygons(const rb_island *is)
{
    for (int i = 0; i < is->n; i++) {
        if (is->c[i]->polygon) return RB_UNSUPPORTED;
    }
    return RB_OK;
}
