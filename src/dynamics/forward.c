/* Forward dynamics by articulated bodies, which is the quickest way at every size we measured: see
 * docs/design/dynamics.md. Three sweeps over the links:
 *
 *     root to tips    pose, velocity, inertia, bias wrench        (D.1) to (D.5)
 *     tips to root    P and z                                     (D.10) to (D.12)
 *     root to tips    accelerations                               (D.13)
 */
#include "dynamics/forward.h"

#include "dynamics/kinematics_link.h"
#include "rattleback/dynamics.h"

#ifdef RB_FORWARD_AVX2
static rb_status forward_avx2(const rb_model *m, rb_data *d, const double *tau, double *qdd)
{
    rb_place_world(m, d);
    rb_stop_world(d);
    rb_hinge_sines(m, d);
    rb_forward_out_avx2(m, d);
    if (!rb_forward_in_avx2(m, d, tau, qdd)) return RB_SINGULAR;
    rb_forward_accelerations_avx2(m, d, qdd);
    return RB_OK;
}
#endif

rb_status rb_forward(const rb_model *m, rb_data *d, const double *tau, double *qdd)
{
#ifdef RB_FORWARD_AVX2
    if (__builtin_cpu_supports("avx2")) return forward_avx2(m, d, tau, qdd);
#endif
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_status status = rb_aba_factor(m, d, NULL, NULL);
    if (status == RB_OK) rb_aba_solve(m, d, tau, qdd);
    return status;
}
