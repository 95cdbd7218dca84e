/* Forward dynamics in three sweeps over the links:
 *
 *     root to tips    pose, velocity, inertia, bias wrench        (D.1) to (D.5)
 *     tips to root    P and z                                     (D.10) to (D.12)
 *     root to tips    accelerations                               (D.13)
 *
 * Articulated bodies at every size: see docs/design/dynamics.md for the measurements. */
#include "dynamics/forward.h"

#include "dynamics/kinematics_link.h"
#include "rattleback/dynamics.h"

#ifdef RB_HAS_V4

rb_status rb_forward(const rb_model *m, rb_data *d, const double *tau, double *qdd)
{
    rb_place_world(m, d);
    rb_stop_world(d);
    rb_hinge_sines(m, d);
    rb_forward_out_v4(m, d);
    if (!rb_forward_in_v4(m, d, tau, qdd)) return RB_SINGULAR;
    rb_forward_accelerations_v4(m, d, qdd);
    return RB_OK;
}

#else

rb_status rb_forward(const rb_model *m, rb_data *d, const double *tau, double *qdd)
{
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_status status = rb_aba_factor(m, d, NULL, NULL);
    if (status == RB_OK) rb_aba_solve(m, d, tau, qdd);
    return status;
}

#endif
