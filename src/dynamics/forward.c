/* Forward dynamics by articulated bodies, which is the quickest way at every size we measured: see
 * docs/design/dynamics.md. Three sweeps over the links:
 *
 *     root to tips    pose, velocity, inertia, bias wrench        (D.1) to (D.5)
 *     tips to root    P and z                                     (D.10) to (D.12)
 *     root to tips    accelerations                               (D.13)
 */
#include "dynamics/forward.h"

#include "dynamics/gauge.h"
#include "dynamics/kinematics_link.h"
#include "rattleback/dynamics.h"

#ifdef RB_FORWARD_AVX2
static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#endif

void rb_forward_place(const rb_model *m, rb_data *d)
{
#ifdef RB_FORWARD_AVX2
    if (has_avx2()) {
        rb_place_world(m, d);
        rb_stop_world(d);
        rb_hinge_sines(m, d);
        rb_forward_out_avx2(m, d);
        rb_gauges(m, d);
        return;
    }
#endif
    rb_kinematics(m, d);
    rb_velocity(m, d);
}

rb_status rb_forward_solve(const rb_model *m, rb_data *d, const double *extra, const double *tau,
                           double *qdd)
{
#ifdef RB_FORWARD_AVX2
    if (has_avx2()) {
        if (!rb_forward_in_avx2(m, d, extra, tau, qdd)) return RB_SINGULAR;
        rb_forward_accelerations_avx2(m, d, qdd);
        return RB_OK;
    }
#endif
    rb_status status = rb_aba_factor(m, d, extra, NULL);
    if (status == RB_OK) rb_aba_solve(m, d, tau, qdd);
    return status;
}

rb_status rb_forward(const rb_model *m, rb_data *d, const double *tau, double *qdd)
{
    rb_forward_place(m, d);
    return rb_forward_solve(m, d, NULL, tau, qdd);
}
