#include "dynamics/aba_link.h"
#include "rattleback/dynamics.h"

rb_status rb_forward(const rb_model *m, rb_data *d, const double *tau, double *qdd)
{
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_status status = rb_aba_factor(m, d, NULL, NULL);
    if (status != RB_OK) return status;
    rb_aba_solve(m, d, tau, qdd);
    return RB_OK;
}
